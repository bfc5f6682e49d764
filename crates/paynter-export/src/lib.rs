//! Equations for elsewhere: complete programs (`paynter export`) and the
//! formulas in a notation (`--form`). One module a target, with the words it
//! reserves; `plan` holds what they have in common.

mod c;
mod formulas;
mod inputs;
mod julia;
mod latex;
mod lines;
mod mathml;
mod matlab;
mod names;
mod page;
mod plan;
mod python;
mod steps;

pub use formulas::{Notation, bode, equations, operating_point, poles, structure, transfer};
pub use inputs::{
    Factors, FrequencyResponse, Mode, PolesAndZeros, RelativeDegree, ResponseEntry, SteadyState,
    StructuralNumbers, Values,
};
pub use paynter_graph::Samples;
pub use steps::{side_text, steps, why_text};

use paynter_algebra::Pool;
use paynter_equations::{Equations, StateSpace};
use paynter_graph::BondGraph;
use plan::Plan;

/// What a program is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    /// A Python module with NumPy.
    Python,
    /// A function file for MATLAB and Octave.
    Matlab,
    /// A C99 file.
    C,
    /// A C99 file that simulates the model, with sensitivities.
    CSimulator,
    /// A Julia module.
    Julia,
    /// A LaTeX document.
    Latex,
}

/// Writes a model as a complete program.
pub fn export(
    pool: &mut Pool,
    graph: &BondGraph,
    equations: &Equations,
    space: Option<&StateSpace>,
    tables: Vec<Samples>,
    language: Language,
) -> String {
    let plan = Plan::new(pool, graph, equations, space, tables);
    match language {
        Language::Python => python::program(pool, &plan),
        Language::Matlab => matlab::program(pool, &plan),
        Language::C => c::program(pool, &plan, false),
        Language::CSimulator => c::program(pool, &plan, true),
        Language::Julia => julia::program(pool, &plan),
        Language::Latex => {
            let body = formulas::equations(pool, graph, equations, None, space, Notation::Latex);
            latex::document(&plan, &body)
        }
    }
}
