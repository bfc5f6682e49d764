//! Numeric answers, put into the acausal equations of the graph: every law,
//! every junction.
//!
//! The crate knows the graph and the algebra only. It shares neither the
//! causality, nor the equations, nor the compiled programs with the passes
//! whose answers it checks: the equations are written down anew, one for each
//! port and junction ([`Acausal`]), and solved where an answer does not bring
//! the values of all bonds with it. What is claimed is agreement with the
//! graph's equations, not more.

mod acausal;
mod factors;
mod moves;
mod pencil;
mod point;
mod poles;
mod response;
mod roots;
mod tolerance;
mod transfer;

pub use acausal::{Acausal, Point};
pub use moves::Beside;
pub use pencil::Pencil;
pub use response::{Reconciled, Responses, a_few};
pub use roots::Root;
pub use transfer::Given;

use paynter_base::{Diagnostic, code};

/// One comparison of an answer with the graph's equations.
#[derive(Debug, Clone, PartialEq)]
pub struct Check {
    /// What was compared.
    pub what: String,
    /// By how much it misses the equations, beside its size.
    pub residual: f64,
}

/// An answer that does not fulfil the graph's equations.
#[derive(Debug, Clone, PartialEq)]
pub struct Contradiction {
    /// What was compared.
    pub what: String,
    /// By how much it misses the equations, beside its size.
    pub residual: f64,
    /// The equation that is missed most.
    pub equation: String,
    /// Whether it is the derivative of a response by a parameter that misses.
    pub of_sensitivity: bool,
}

impl Contradiction {
    /// Says why the answer is withheld.
    pub fn diagnostic(&self) -> Diagnostic {
        let missed = match self.residual {
            f64::INFINITY => "has no value there".to_owned(),
            residual => format!("is missed by {residual:.1e} of its size"),
        };
        let message = format!(
            "{} does not fulfil the model's own equations: {} {missed}; the answer is withheld",
            self.what, self.equation
        );
        Diagnostic::new(code::CONTRADICTION, message)
    }
}

/// The checks of an answer; the first one that it fails ends them.
pub type Checked = Result<Vec<Check>, Contradiction>;
