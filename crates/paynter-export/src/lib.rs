//! Equations for elsewhere: complete programs, and formulas in a notation.
//! One file a target, with the words it reserves, behind the trait [`Target`];
//! `plan` holds what programs have in common, `page` what formulas have.

mod c;
mod formulas;
mod inputs;
mod interconnection;
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
mod target;

pub use formulas::{bode, equations, operating_point, poles, structure, transfer};
pub use inputs::{
    Factors, FrequencyResponse, Mode, PolesAndZeros, RelativeDegree, ResponseEntry, SteadyState,
    StructuralNumbers, Values,
};
pub use interconnection::interconnection;
pub use paynter_graph::Samples;
pub use steps::{side_text, steps, why_text};
pub use target::{
    C, C_SIMULATOR, Exported, JULIA, LATEX, MATHML, MATLAB, PYTHON, TARGETS, Target, export, notations,
    programs, target,
};
