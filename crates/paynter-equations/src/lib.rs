//! From a causal bond graph to its equations.
//!
//! Every effort and flow is computed by one element; following the causal
//! paths in order expresses all of them by states and inputs. Algebraic loops
//! are solved on the way where they are linear and kept as implicit unknowns
//! where not; dependent storages are eliminated by differentiation.

mod dependent;
mod derive;
mod divisors;
mod laws;
mod linear;
mod linearise;
mod mass;
mod model;
mod rank;
mod readable;
mod sensitivity;
mod sort;
mod space;
mod steps;
mod tear;
mod transfer;

pub use derive::{Failure, derive};
pub use linear::System;
pub use mass::{Mass, Reduction};
pub use model::*;
pub use readable::readable;
pub use sensitivity::{
    Increments, Parameter, Place, Products, Ratio, Sensitivities, Sensitivity, Wish, increments, products,
    sensitivities, shared_sensitivities,
};
pub use steps::{Derivation, Line, Side, derivations};
pub use transfer::{Entry, Transfer, transfer};
