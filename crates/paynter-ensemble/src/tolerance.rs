//! The tolerances of this crate, each with what it bounds and why.

/// What a sum of products of correlations, which are at most one, is off by rounding.
pub(crate) const CORRELATION_ROUNDING: f64 = 1e-12;
