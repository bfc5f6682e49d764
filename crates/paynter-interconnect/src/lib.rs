//! The standard interconnection model (El Feki, Marquis-Favre, Krähenbühl & Thomasset 2010): the nominal model
//! in feedback with the relative uncertainties of its parameters,
//!
//! x' = A x + B1 w + B2 u, z = C1 x + D11 w + D12 u, y = C2 x + D21 w + D22 u, w = Δ z,
//!
//! with Δ = diag(δ_i I_{n_i}). Closing w = Δ z gives the model at the perturbed parameters exactly.
//!
//! Every effort and flow stands as its own element computes it (`rows.rs`); where a coefficient depends on an
//! uncertain parameter, an auxiliary output z and an auxiliary input w are put there (`realise.rs`); the nominal
//! system is then solved along the causal paths (`solve.rs`). Where storages are dependent, the paths that
//! determine them stand twice, for the variables and for their derivatives, so that no auxiliary input is ever
//! differentiated.

mod bound;
mod delta;
mod fewest;
mod findings;
mod form;
mod interconnect;
mod limits;
mod model;
mod posed;
mod quantity;
mod realise;
mod reduce;
mod rows;
mod solve;
mod split;

pub use findings::{
    Conditions, held_by_the_point, in_tolerances, only_move_the_point, reaching_zero, uncertain_parameters,
};
pub use interconnect::interconnect;
pub use model::{
    Block, Channel, Interconnection, Matrices, Numbers, Procedure, Quantity, Request, Uncertainty,
};
pub use posed::{Posed, Singular};
pub use quantity::UncertainQuantity;
