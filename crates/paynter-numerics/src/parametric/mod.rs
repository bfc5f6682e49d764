//! What parameters do to a linear model: what they carry along at an operating
//! point ([`moved()`]), the derivatives of its matrices ([`slopes()`]), of its
//! poles, zeros and static gains ([`modes`]), of its transfer functions in
//! symbols ([`transfer_sensitivity`]) and over frequency, with what tolerances
//! make of it ([`response_sensitivity`], [`bands`], [`samples`]).

pub mod bands;
mod choice;
pub mod modes;
mod moves;
mod response;
pub mod samples;
pub mod shift;
mod slopes;
mod symbolic;

pub use choice::chosen_parameters;
pub use moves::moved;
pub use response::{ResponseRequest, ResponseSensitivity, response_sensitivity};
pub use slopes::{Moved, slopes, steep};
pub use symbolic::{RootSensitivities, SymbolicRequest, TransferSensitivity, transfer_sensitivity};
