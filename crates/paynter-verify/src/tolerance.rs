//! How far an answer may miss the equations.

/// Laws and junctions at a point hold to this part of their terms: implicit unknowns are solved far better.
pub(crate) const POINT: f64 = 1e-6;
/// Terms below this part of what they are made from are not compared: of that, some units in the last place are lost.
pub(crate) const POINT_FLOOR: f64 = 1e-7;
/// Variables are moved by this at least to find the limit of a law that has no value at a point: smaller than what
/// any model measures, and its powers are numbers.
pub(crate) const LEAST_MOVE: f64 = 1e-60;
/// A law that grows by more than this factor where half of such a move remains has a pole there, or a root of one.
pub(crate) const POLE_GROWTH: f64 = 1.1;
/// At rest, efforts and flows below this part of the largest of either are rounding.
pub(crate) const REST_FLOOR: f64 = 1e-8;
/// Time, inputs and parameters are given, but what is made of them is rounded in one way or another.
pub(crate) const GIVEN_FLOOR: f64 = 1e-12;
/// Arguments of a switching law within this part of the largest value may be on either side of it, and roots there
/// are regularised.
pub(crate) const SWITCHING_WIDTH: f64 = 1e-2;
/// An expression of more choices is not looked at on every branch: there are two to the power of so many.
pub(crate) const MOST_CHOICES: u32 = 8;
/// A kink within this part of an operating point is at it: the side in force is that of the linear model.
pub(crate) const KINK_WIDTH: f64 = 1e-6;
/// Both sides of a border have one derivative if they agree to this part.
pub(crate) const AGREEING_SIDES: f64 = 1e-9;
/// Time and parameters within this part of their size may be on either side of it.
pub(crate) const SWITCHING_TIME: f64 = 1e-9;
/// Transfer values and their derivatives agree to this part: near poles both lose digits.
pub(crate) const TRANSFER: f64 = 1e-5;
/// Transfer values below this part of the terms that they are made from are rounding.
pub(crate) const TRANSFER_FLOOR: f64 = 1e-10;
/// Static gains below this part of the response, and derivatives that change them by less, are rounding.
pub(crate) const STATIC_FLOOR: f64 = 1e-11;
/// Poles agree to this part of their size.
pub(crate) const POLE: f64 = 1e-4;
/// Beside the fastest pole, slower ones are known to this part of it.
pub(crate) const POLE_FLOOR: f64 = 1e-13;
/// What misses by more is counted only if entries changed by this part do not explain it.
pub(crate) const ENTRY_CHANGE: f64 = 1e-12;
/// The part of a difference that such changes may explain.
pub(crate) const EXPLAINED: f64 = 1e-2;
/// Derivatives of poles and zeros are known if such changes move them by this part at most: rounding moves them by a
/// thousandth of that.
pub(crate) const ROOT_DERIVATIVE: f64 = 1e-4;
/// Those that are this part of what such changes make of them, or less, may be zero: rounding changes entries by far
/// less than such changes do,
pub(crate) const ROUNDING_CHANGES: f64 = 1e-2;
/// and are where they are this part, or less, of what they could be.
pub(crate) const DERIVATIVE_FLOOR: f64 = 1e-9;
/// Whatever such changes make of them, this part of what they could be is rounding.
pub(crate) const DERIVATIVE_ROUNDING: f64 = 1e-13;
/// Differences of entries between two sides are known to so many times what those to each side differ by: rounding may be
/// a few times as large in the one as in the other.
pub(crate) const DIFFERENCE_DOUBT: f64 = 4.0;
/// Derivatives of a root that differ by no more than such a change would move it by this part of its size are blurred:
/// beside another root both lose so many digits.
pub(crate) const BLURRED_MOVE: f64 = 1e-6;
/// A root that a change of a parameter by its own size moves by this part of its size does not move.
pub(crate) const UNSEEN_MOVE: f64 = 1e-11;
/// A pivot is at least this part of its row: enough for two or three further digits.
pub(crate) const PIVOT: f64 = 0.1;
/// Sweeps in which rows and columns are brought to one size.
pub(crate) const EQUILIBRATION_SWEEPS: usize = 2;
/// Changes of variables below this part of what makes these up are rounding of their values.
pub(crate) const MOVED_FLOOR: f64 = 1e-8;
/// So are those below this part of the largest effort or flow.
pub(crate) const MOVED_LEAST: f64 = 1e-15;
