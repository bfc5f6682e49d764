//! Numbers from equations: expressions compiled to fast code, linear algebra,
//! poles, frequency response, operating points and simulation.

pub mod program;

pub use program::{CompileError, Program, Tables};
