//! From which numbers on something is printed otherwise, each with what it bounds and why.

/// A pole whose real part is this part of its size is printed on the imaginary axis: boundaries of stability at
/// multiple poles are found with half of the digits.
pub const ON_AXIS: f64 = 1e-7;

/// Searches that end within this part of the least cost have reached it: they end where steps change no more of it.
pub const SAME_COST: f64 = 1e-6;

/// Costs of nothing differ by rounding, which is this part of the cost at the start.
pub const ROUNDED_COST: f64 = 1e-9;
