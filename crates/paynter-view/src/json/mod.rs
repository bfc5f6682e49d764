//! One serde type per command's JSON, with its schema. The committed schemas
//! in `docs/schemas` are made from these types; keys are only ever added.

mod bode;
mod causality;
mod check;
mod checks;
mod completions;
mod diagnostic;
mod draw;
mod ensemble;
mod equations;
mod estimation;
mod examples;
mod explain;
mod export;
mod failure;
mod fmt;
mod incremental;
mod layout;
mod lft;
mod loops;
mod naming;
mod operating;
mod plan;
mod poles;
mod report;
mod response;
mod robust;
mod sensitivity;
mod simulation;
mod structure;
mod text;
mod transfer;

pub use bode::{Bode, BodeEntry};
pub use causality::{Bond, Causality, Storage, StorageCausality};
pub use check::{Check, Summary};
pub use checks::{Agreement, Checks};
pub use completions::Completions;
pub use diagnostic::{Diagnostic, Severity};
pub use draw::Draw;
pub use ensemble::{
    AnswerUnit, Drawn, Ensemble, EnsembleFacts, EnsemblePart, FailedSample, GatheredNode, Limit, SobolIndex,
    Statistics, Yield, read_ensemble,
};
pub use equations::{Constraint, Definition, Derivation, Equations, Form, Matrix, Offset, Step};
pub use estimation::{
    Estimated, Estimation, Experiment, Fit, Identifiabilities, Identifiability, Iteration, Profile,
    Residuals, Start, Undetermined,
};
pub use examples::{Example, ExampleEntry, Examples, Written};
pub use explain::{Code, Codes, Explanation};
pub use export::Export;
pub use failure::Failure;
pub use fmt::{Format, FormattedFile};
pub use incremental::{DerivedBond, DerivedElement, DerivedOutput, DerivedParameter, Incremental};
pub use layout::{read_layout, write_layout};
pub use lft::{AuxiliaryChannel, Conditions, DeltaBlock, Lft, NumericLft, NumericMatrix, WellPosed};
pub use loops::{
    DiskMargin, FigureRange, Locus, Loop as OpenLoop, LoopMargins, MarginAt, Step as StepFigures, WorstLoop,
};
pub use naming::Naming;
pub use operating::{
    BondValue, LinearModel, NumericModel, OperatingPoint, Point, Quantity, Role, SteadyDerivative,
};
pub use plan::{EstimationPlan, EstimationPlans, Predicted};
pub use poles::{Estimate, EstimateKind, Mode, Poles, Zeros};
pub use report::{Report, ReportSection};
pub use response::{
    BandCurve, Column, Ranking, ResponseEntry, SensitivityResponse, ToleranceBand, Verification,
};
pub use robust::{
    Bounds, DynamicsAt, FixedPole, Margin, Peak, Robust, RobustGain, RobustWorst, Uncertain, UncertainRange,
    Uncertainty,
};
pub use sensitivity::{
    DcSensitivity, FromSink, GainDerivative, PoleDerivative, PoleSensitivity, RootDerivative, Sensitivity,
    SensitivityEntry, SensitivityPlace, ToQuantity, ZeroSensitivity,
};
pub use simulation::{
    Deviation, ElementEnergy, Energy, EnergyRole, Gradient, NamedRun, Perturbation, PerturbedOutput,
    SecondOpinion, Simulation, SimulationRun, SimulationRuns, SimulationStats, Stopped,
};
pub use structure::{
    CausalPath, ConservedQuantity, Direction, JunctionField, JunctionPort, JunctionStructure, Reach,
    RelativeDegree, SignalEdge, SignalFlow, SignalKind, SignalNode, Structure, ZeroDynamics,
};
pub use text::{text, write};
pub use transfer::{Loop, Method, Path, Transfer, TransferEntry};

use paynter_numerics::linalg::Complex64;
use schemars::{JsonSchema, Schema, generate::SchemaSettings};

/// The schema of every document a command prints, by the name of its file in `docs/schemas`.
pub fn schemas() -> Vec<(&'static str, Schema)> {
    vec![
        ("bode", schema::<Bode>()),
        ("causality", schema::<Causality>()),
        ("check", schema::<Check>()),
        ("completions", schema::<Completions>()),
        ("draw", schema::<Draw>()),
        ("ensemble", schema::<Ensemble>()),
        ("equations", schema::<Equations>()),
        ("estimate", schema::<Estimation>()),
        ("estimate-plan", schema::<EstimationPlans>()),
        ("example", schema::<Example>()),
        ("examples", schema::<Examples>()),
        ("examples-written", schema::<Written>()),
        ("explain", schema::<Explanation>()),
        ("explain-list", schema::<Codes>()),
        ("export", schema::<Export>()),
        ("failure", schema::<Failure>()),
        ("fmt", schema::<Format>()),
        ("incremental", schema::<Incremental>()),
        ("lft", schema::<Lft>()),
        ("loop", schema::<OpenLoop>()),
        ("operating-point", schema::<OperatingPoint>()),
        ("poles", schema::<Poles>()),
        ("report", schema::<Report>()),
        ("robust", schema::<Robust>()),
        ("sensitivity", schema::<Sensitivity>()),
        ("sensitivity-response", schema::<SensitivityResponse>()),
        ("simulate", schema::<Simulation>()),
        ("simulate-runs", schema::<SimulationRuns>()),
        ("structure", schema::<Structure>()),
        ("tf", schema::<Transfer>()),
    ]
}

/// Real and imaginary parts.
fn pairs(list: &[Complex64]) -> Vec<[f64; 2]> {
    list.iter().map(|z| [z.re, z.im]).collect()
}

/// A number, where it is one.
fn finite(value: f64) -> Option<f64> {
    value.is_finite().then_some(value)
}

/// The schema of what is written, in which optional keys are there with `null`.
fn schema<T: JsonSchema>() -> Schema {
    SchemaSettings::draft2020_12().for_serialize().into_generator().into_root_schema_for::<T>()
}
