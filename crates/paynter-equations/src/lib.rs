//! From a causal bond graph to its equations.
//!
//! Every effort and flow is computed by one element; following the causal
//! paths in order expresses all of them by states and inputs. Algebraic loops
//! are solved on the way where they are linear and kept as implicit unknowns
//! where not; dependent storages are eliminated by differentiation.

mod bounded;
mod circuits;
mod dependent;
mod derive;
mod divisors;
mod energy;
mod flow;
mod initial;
mod junction;
mod laws;
mod linear;
mod linearise;
mod mason;
mod mass;
mod model;
mod modular;
mod numbers;
mod paths;
mod rank;
mod readable;
mod resting;
mod sensitivity;
mod sort;
mod sound;
mod space;
mod steps;
mod structure;
mod tear;
mod tolerance;
mod transfer;
mod values;
mod zeros;

pub use bounded::{Bounded, bounded};
pub use derive::{Reading, Readings, derive, derive_with};
pub use energy::{Account, Role, StoredEnergy};
pub use flow::{NodeKind, SignalEdge, SignalFlow, SignalNode, signal_flow};
pub use junction::{Field, JunctionPort, JunctionStructure, junction_structure};
pub use laws::residuals as law_residuals;
pub use linear::{Pivots, System};
pub use mason::{ForwardPath, LoopBudget, Mason, Route, mason};
pub use mass::{Mass, MassForm, Reduction};
pub use model::*;
pub use paths::{CausalPaths, causal_paths};
pub use paynter_base::QueryError;
pub use sensitivity::{
    Increments, Parameter, Place, Products, Ratio, Sensitivities, Sensitivity, SensitivityRequest,
    increments, operating_shift, products, sensitivities, shared_sensitivities,
};
pub use sound::contradiction;
pub use steps::{Derivation, Line, Side, derivations};
pub use structure::{Nominal, RelativeDegree, Structure, Verdict, structure};
pub use transfer::{Entry, Transfer, characteristic, readable_characteristic, transfer};
pub use zeros::{ZeroDynamics, is_hurwitz, zero_dynamics};
