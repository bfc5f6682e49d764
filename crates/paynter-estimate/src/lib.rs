//! Parameters and initial states from measured data (Gawthrop 2000, sections 3 and 4).
//!
//! [`estimate`] reads the records of experiments, compiles the model once with what is estimated as inputs of its
//! runs, and searches for the smallest cost ([`Method`]). A run gives residuals and sensitivities row by row, which
//! are taken into a triangle; singular values are those of the triangle, so that long records are never held.

mod assemble;
mod coloured;
mod confidence;
mod distribution;
mod estimation;
mod findings;
mod fit;
mod identifiability;
mod loss;
mod naming;
mod plan;
mod problem;
mod profile;
mod question;
mod records;
mod residuals;
mod reweighting;
mod search;
mod shooting;
mod solution;
mod starts;
mod tolerance;
mod unknown;
mod words;
mod write;

pub use confidence::Confidence;
pub use estimation::{Acting, Estimate, Estimation, ExperimentSummary, Prepared, Rest, estimate, prepare};
pub use fit::{Curve, Fit, Part};
pub use identifiability::{Identifiability, Undetermined};
pub use loss::Loss;
pub use plan::{Plan, PlanOptions, Prediction, plan};
pub use problem::{Experiment, FittedOutput, Problem, Rejection, Validity, Weights};
pub use profile::Profile;
pub use question::{Asked, EstimateOptions, Logarithmic, Weight};
pub use residuals::Whiteness;
pub use search::{Iteration, Method, Stop};
pub use shooting::Shooting;
pub use starts::Start;
pub use unknown::{Quantity, Scaling, Unknown};
pub use write::write;
