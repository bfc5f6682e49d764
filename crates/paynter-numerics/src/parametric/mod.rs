//! What parameters do to a linear model, in numbers: the derivatives of its
//! matrices ([`slopes()`]), of its poles, zeros and static gains ([`modes`]),
//! the shift of the operating point ([`shift`]), and what tolerances make of
//! the frequency response ([`bands`], [`samples`]).

pub mod bands;
mod dense;
pub mod modes;
pub mod samples;
pub mod shift;
mod slopes;

pub use slopes::{Moved, slopes, steep};
