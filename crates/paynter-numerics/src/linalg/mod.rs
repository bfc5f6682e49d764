//! Linear algebra: the matrices of linear models in floating point and in
//! exact numbers, characteristic polynomials and their roots, eigenvalues of
//! dense matrices, sparse complex systems solved at many frequencies, and real
//! ones of a fixed pattern solved at every step of a simulation; least squares
//! of tall matrices and singular values.

mod big;
mod characteristic;
pub(crate) mod dense;
mod eigen;
pub(crate) mod elimination;
mod exact;
mod factors;
mod least_squares;
mod matrices;
mod modular;
mod roots;
mod schedule;

pub use characteristic::{Integers, Polynomials, characteristic};
pub use eigen::{eigenvalues, transmission_zeros};
pub use exact::exact_values;
pub use factors::{Factors, Form, Pattern, PivotedFactors};
pub use least_squares::{SingularValues, Triangle, solve_triangle};
pub use matrices::{Matrices, Sparse};
pub use roots::{Root, roots, sort_conjugate};
pub(crate) use roots::{integers, poly};
pub use schedule::{LANES, Lanes, Schedule, Singular, Workspace};

pub use num_complex::Complex64;
