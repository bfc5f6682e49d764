//! Random bond graphs with everything the model language knows, and oracles
//! that judge them by routes of their own: an exhaustive search of causality
//! and the acausal equations, exact where the model is linear.
//!
//! Used by tests, benches and fuzz targets only; independent of the crates
//! it tests, but for `read`, which runs them.

pub mod causality;
mod census;
pub mod clock;
pub mod elimination;
pub mod expr;
mod generate;
pub mod linear;
mod mutate;
pub mod nonlinear;
pub mod number;
pub mod property;
pub mod python;
pub mod read;
pub mod residual;
pub mod rng;
pub mod scalable;
pub mod structure;
mod text;
pub mod wrong;

pub use census::Census;
pub use generate::{Options, Sample, generate, plain, shrink, switching, write};
pub use mutate::{fuzzed, mutate};
