//! What formulas and programs can be written for: one file a target, all
//! behind one trait, and the registry of them.

use crate::names::Identifiers;
use crate::page::Page;
use crate::{c, formulas, julia, latex, mathml, matlab, python, steps};
use paynter_algebra::Pool;
use paynter_equations::{Derivation, Equations, StateSpace};
use paynter_graph::{BondGraph, Samples};

/// A language or notation that equations are written in.
pub trait Target: std::fmt::Debug + Sync {
    /// The name it is asked for by.
    fn name(&self) -> &'static str;

    /// What its formulas are written in, in a few words.
    fn about(&self) -> &'static str;

    /// What a complete program is, in a few words; none where there are no programs.
    fn program_about(&self) -> Option<&'static str> {
        None
    }

    /// The usual extension of its files.
    fn extension(&self) -> &'static str;

    /// The names it allows and the words it reserves; none where names are typeset.
    fn identifiers(&self) -> Option<&'static Identifiers>;

    /// Writes formulas and numbers.
    fn page(&self, pool: &Pool, page: &Page) -> String;

    /// Writes derivations; plain text for programming languages, where there is nothing to run.
    fn derivation(&self, pool: &Pool, model: &str, derivations: &[Derivation]) -> String {
        steps::text(pool, model, derivations)
    }

    /// Writes a model as a complete program, where [`Target::program_about`] says what that is.
    fn program(&self, _pool: &mut Pool, _model: &Exported<'_>) -> Option<String> {
        None
    }

    /// The variant whose programs simulate the model as well.
    fn simulator(&self) -> Option<&'static dyn Target> {
        None
    }

    /// Whether its programs integrate by themselves, with steps that locate no events.
    fn integrates(&self) -> bool {
        false
    }

    /// Whether it is for the eye: polynomials are written in s, where programs list coefficients.
    fn is_typeset(&self) -> bool {
        self.identifiers().is_none()
    }
}

/// A model to be written as a program.
#[derive(Debug, Clone)]
pub struct Exported<'a> {
    /// Its graph.
    pub graph: &'a BondGraph,
    /// Its equations.
    pub equations: &'a Equations,
    /// Its matrices, where it is linear.
    pub space: Option<&'a StateSpace>,
    /// The tables that it reads.
    pub tables: Vec<Samples>,
}

/// Python with NumPy.
pub const PYTHON: &dyn Target = &python::Python;
/// MATLAB and Octave.
pub const MATLAB: &dyn Target = &matlab::Matlab;
/// C99.
pub const C: &dyn Target = &c::C { simulates: false };
/// C99 with integrators and sensitivities, the simulator of [`C`].
pub const C_SIMULATOR: &dyn Target = &c::C { simulates: true };
/// Julia.
pub const JULIA: &dyn Target = &julia::Julia;
/// LaTeX with amsmath.
pub const LATEX: &dyn Target = &latex::Latex;
/// MathML inside one `div`.
pub const MATHML: &dyn Target = &mathml::MathMl;

/// Every target by its name. A new one is a file of its own and a line here.
pub const TARGETS: &[&dyn Target] = &[PYTHON, MATLAB, C, JULIA, LATEX, MATHML];

/// Finds a target by its name.
pub fn target(name: &str) -> Option<&'static dyn Target> {
    TARGETS.iter().copied().find(|target| target.name() == name)
}

/// Writes a model as a complete program, or its equations where the target has no programs.
pub fn export(pool: &mut Pool, model: &Exported<'_>, target: &dyn Target) -> String {
    let program = target.program(pool, model);
    program
        .unwrap_or_else(|| formulas::equations(pool, model.graph, model.equations, None, model.space, target))
}

/// The targets of complete programs.
pub fn programs() -> impl Iterator<Item = &'static dyn Target> {
    TARGETS.iter().copied().filter(|target| target.program_about().is_some())
}

/// The notations of formulas, those for the eye first.
pub fn notations() -> impl Iterator<Item = &'static dyn Target> {
    let typeset = |wanted: bool| TARGETS.iter().copied().filter(move |target| target.is_typeset() == wanted);
    typeset(true).chain(typeset(false))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_found_by_names_of_their_own() {
        for wanted in TARGETS {
            assert_eq!(target(wanted.name()).map(Target::extension), Some(wanted.extension()));
            let same = TARGETS.iter().filter(|other| other.name() == wanted.name()).count();
            assert_eq!(same, 1, "{}", wanted.name());
        }
        assert!(target("cobol").is_none());
        assert!(
            programs().any(|target| target.name() == "c")
                && programs().all(|target| target.name() != "mathml")
        );
        assert_eq!(notations().count(), TARGETS.len());
    }

    #[test]
    fn a_simulator_goes_by_the_name_of_its_language() {
        for target in TARGETS.iter().filter(|target| target.simulator().is_some()) {
            let simulator = target.simulator().map(|simulator| (simulator.name(), simulator.integrates()));
            assert_eq!(simulator, Some((target.name(), true)));
            assert!(!target.integrates());
        }
    }
}
