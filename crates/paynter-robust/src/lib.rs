//! Robustness of linear models: how far parameters may move before a model is
//! unstable or its response too large.
//!
//! The model is an [`Interconnection`]: a nominal part whose auxiliary outputs
//! z are fed back to its auxiliary inputs w through an unknown Δ of known
//! structure ([`Block`]). Upper bounds of the structured singular value come
//! with scalings that prove them ([`upper`]), and the proof holds between the
//! frequencies it was found at ([`axis`]); lower bounds come with the
//! parameters that attain them ([`destabilise`], [`gain`]); between the two,
//! branch and bound ([`branch`]).

pub mod axis;
mod basis;
pub mod branch;
mod centre;
pub mod cloud;
mod conserved;
pub mod destabilise;
mod dominant;
pub mod extremes;
pub mod gain;
mod golden;
mod interval;
pub mod locus;
pub mod loop_analysis;
pub mod loops;
mod matrix;
mod modes;
pub mod own;
mod parts;
mod pieces;
mod poles;
mod regular;
pub mod robustness;
mod singular;
pub mod stability;
pub mod step;
mod system;
mod tolerance;
pub mod tolerances;
pub mod upper;
mod weight;
mod zero;

pub use basis::{Block, width};
pub use matrix::Matrix;
pub use modes::{FixedMode, set_aside};
pub use system::{IllPosed, Interconnection};
pub use weight::Weight;

pub use num_complex::Complex64;
