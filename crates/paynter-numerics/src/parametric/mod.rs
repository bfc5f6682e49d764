//! What parameters do to a linear model: what they carry along at an operating
//! point ([`moved()`]), the derivatives of its matrices ([`matrix_derivatives`]), of its
//! poles, zeros and static gains ([`modes`]), of its transfer functions in
//! symbols ([`transfer_sensitivity`]) and over frequency, with what tolerances
//! make of it ([`response_sensitivity`], [`bands`], [`samples`]).

pub mod bands;
mod cancelling;
mod choice;
mod derivatives;
pub mod modes;
mod moves;
mod response;
pub mod samples;
pub mod shift;
mod steady;
mod symbolic;
mod varied;

pub use choice::chosen_parameters;
pub use derivatives::{Moved, infinite_derivatives, matrix_derivatives};
pub use moves::moved;
pub use response::{ResponseRequest, ResponseSensitivity, response_sensitivity};
pub use steady::{SteadySensitivity, steady_sensitivity};
pub use symbolic::{RootSensitivities, SymbolicRequest, TransferSensitivity, transfer_sensitivity};
pub use varied::{Varied, declared_tolerances};
