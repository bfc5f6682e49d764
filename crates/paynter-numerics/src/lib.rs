//! Numbers from equations: expressions compiled to fast code, linear algebra,
//! poles, frequency response and operating points.

pub mod estimate;
pub mod grid;
pub mod linalg;
pub mod linear;
pub mod newton;
mod operating;
mod parallel;
pub mod parametric;
pub mod poles;
pub mod program;
pub mod rates;
pub mod response;
pub mod sensitivity;
mod settled;
pub mod structure;
pub mod sweep;
mod tolerance;
pub mod verified;

pub use linalg::Matrices;
pub use linear::LinearModel;
pub use operating::{
    Accuracy, Conserved, Nonsmooth, OperatingPoint, Original, Probes, Variant, conserved_quantities,
    inaccurate_laws, nominal_values, nonsmooth_derivatives, nonsmooth_laws, operating_point, stuck, turned,
    vanishing_divisors,
};
pub use program::{CompileError, Program, Tables};
