//! Numbers from equations: expressions compiled to fast code, linear algebra,
//! poles, frequency response and operating points.

pub mod estimate;
pub mod grid;
pub mod linalg;
mod operating;
pub mod parametric;
pub mod poles;
pub mod program;
pub mod sensitivity;
pub mod sweep;

pub use linalg::Matrices;
pub use operating::{
    OperatingPoint, Probes, Slope, Trust, doubtful_laws, operating_point, rough_laws, rough_slopes,
};
pub use program::{CompileError, Program, Tables};
