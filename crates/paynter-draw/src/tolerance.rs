//! The tolerances of pictures. Lengths are in pixels, of which nobody sees a
//! hundredth; each constant says what it bounds and why it has its value.

// Geometry.

/// Points nearer than this are one: they have no direction to each other.
pub(crate) const COINCIDENT_POINTS: f64 = 1e-9;

/// A segment whose component is below this runs along the other axis: rounding of coordinates up to ten thousand.
pub(crate) const AXIS_COMPONENT: f64 = 1e-12;

/// The part of a segment inside a figure below which it touches it only.
pub(crate) const TOUCHING_PART: f64 = 1e-9;

/// A component of a unit vector below this moves nothing along its axis.
pub(crate) const STANDING_COMPONENT: f64 = 1e-9;

/// A unit vector with a component below this is drawn along an axis.
pub(crate) const AXIS_DIRECTION: f64 = 1e-6;

/// Twice the area of three points on one line, in square pixels, rounding included.
pub(crate) const FLAT_AREA: f64 = 1e-6;

/// By this much a length may exceed its room: rounding of sums of lengths.
pub(crate) const LENGTH_ROUNDING: f64 = 1e-6;

/// A route must be cheaper than another by this: of equals the first is taken, on every machine.
pub(crate) const CHEAPER_ROUTE: f64 = 1e-9;

// Axes.

/// Rounding of numbers beside a step of an axis, or beside their own size: a tick at the end belongs to it.
pub(crate) const TICK_ROUNDING: f64 = 1e-9;

/// A step with so many decimals is whole within this part: fewer decimals would show two ticks alike.
pub(crate) const WHOLE_STEP: f64 = 1e-6;

// Curves.

/// Curves that differ by less than this part of their range lie on one another: a pixel or two …
pub(crate) const SAME_CURVE: f64 = 0.004;

/// … or by this part of their values, where they are constant but for rounding.
pub(crate) const SAME_CONSTANT: f64 = 1e-9;

/// Parts are stacked where none is more negative than this part of their sum: rounding of powers.
pub(crate) const NEGATIVE_PART: f64 = 1e-6;
