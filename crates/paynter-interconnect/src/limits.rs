//! What may be spent, each limit with its reason.

/// A determinant over a box is decided at its corners, 2^n of them, for so many channels in one loop.
pub(crate) const CORNER_CHANNELS: usize = 14;

/// Channels of a larger loop are drawn at random so often, to find values at which it is singular.
pub(crate) const CORNER_SAMPLES: u64 = 4000;

/// Random points tried until nothing is divided by zero and all roots exist: half of the points have that of a sum.
pub(crate) const MODULAR_POINTS: u64 = 64;

/// An exponent above this one is not realised by repeated multiplication.
pub(crate) const MOST_FACTORS: i64 = 64;

/// A coefficient that would be longer written out is not realised operation by operation, but gets a δ of its own:
/// its channels would be as many as its places.
pub(crate) const LONGEST_COEFFICIENT: u64 = 4000;

/// For coefficients that are longer written out, forms with fewer channels are not searched for: every scheme is
/// tried with every one inside it.
pub(crate) const SEARCHED_COEFFICIENT: u64 = 120;

/// Laws are differentiated at most so often: each time for a dependent storage that the rate of another one fills.
pub(crate) const MOST_DERIVATIVES: usize = 6;

/// Where the range of a value ends at the nominal value, or close to it, on one side, δ covers this share of the other
/// side there: p_n + a δ/(1 + b δ) has no end without a way to it.
pub(crate) const LEAST_SIDE: f64 = 0.05;

/// The relative width within which the scaling of a box is told at which it begins to hold singular values.
pub(crate) const SCALING_TOLERANCE: f64 = 1e-9;
