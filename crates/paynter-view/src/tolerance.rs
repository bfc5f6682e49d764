//! From which numbers on something is said or shown, each with what it bounds and why.

/// A pole of the model itself is left of the imaginary axis from this part of the largest pole on; boundaries of
/// stability at multiple poles are found with half of the digits.
pub(crate) const LEFT_OF_AXIS: f64 = 1e-6;

/// Bounds of a margin that are closer than this, relative, say the same to whoever reads them.
pub(crate) const PROVED_GAP: f64 = 1e-2;

/// A sample outside a tolerance band by no more than this share is rounded.
pub(crate) const BAND_ROUNDING: f64 = 1e-12;

/// A curve below this share of the largest would only fill the legend.
pub(crate) const INVISIBLE: f64 = 1e-9;
