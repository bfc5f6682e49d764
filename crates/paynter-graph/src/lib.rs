//! Bond graphs: elements, ports, bonds, units and domains; submodels
//! flattened; validation; causality with its reasons.
//!
//! This crate knows nothing of equations. It reads the plain syntax of
//! `paynter-language` and holds expressions of `paynter-algebra`.

mod amount;
pub mod cascade;
mod causality;
pub mod dimension;
pub mod domain;
mod flatten;
mod guard;
pub mod kind;
mod limits;
mod model;
mod quantity;
mod rational;
mod settings;
mod share;
mod variable;

pub use amount::Amount;
pub use causality::{Causality, Decision, Loop, LoopKind, Ranges, Reason, Storage, assign_causality};
pub use flatten::{FlattenOptions, MAX_ELEMENTS, Setting, flatten};
pub use guard::{Guard, Guards, Sign, Vanishing, is_regular};
pub use kind::{Class, Power, Stored, kind_of};
pub use model::*;
pub use rational::{RationalFunction, rational_function};
pub use settings::settings;
pub use share::CopyOnWrite;
