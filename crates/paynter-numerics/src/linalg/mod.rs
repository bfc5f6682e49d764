//! Linear algebra: the matrices of linear models in floating point and in
//! exact numbers, characteristic polynomials and their roots, eigenvalues of
//! dense matrices, and sparse complex systems solved at many frequencies.

mod big;
mod characteristic;
mod eigen;
mod exact;
mod matrices;
mod modular;
mod roots;
mod schedule;

pub use characteristic::{Integers, Polynomials, characteristic};
pub use eigen::{eigenvalues, transmission_zeros};
pub use exact::exact_values;
pub use matrices::{Matrices, Sparse};
pub use roots::{Root, roots, sort_conjugate};
pub(crate) use roots::{integers, poly};
pub use schedule::{LANES, Lanes, Schedule, Singular, Workspace};

pub use num_complex::Complex64;
