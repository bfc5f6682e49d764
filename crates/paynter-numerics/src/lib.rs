//! Numbers from equations: expressions compiled to fast code, linear algebra,
//! poles, frequency response, operating points and simulation.

mod operating;
pub mod program;
pub mod simulate;
mod space;

pub use operating::{OperatingPoint, operating_point};
pub use program::{CompileError, Program, Tables};
pub use space::{NumericSpace, Triplets};
