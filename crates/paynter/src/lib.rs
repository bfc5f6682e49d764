//! The facade of Paynter: [`Model::load`] and one method per question. The
//! command line, Python and the browser call this crate only.
//!
//! A [`Model`] is immutable, `Send + Sync` and cheap to clone. An [`Answer`] holds its result as data, with
//! the findings that belong to it; documents and formulas are made of it where an edge wants them.
//! [`Model::with`] gives the model at other values.
//!
//! ```
//! use paynter::{LoadOptions, Model, Plain, CancellationToken, examples};
//!
//! let text = examples::find("dc_motor").map(|example| example.text).unwrap_or_default();
//! let world = paynter::MemoryWorld::new().with("motor.bg", text);
//! let motor = Model::load(&world, "motor.bg", &LoadOptions::default());
//! let token = CancellationToken::new();
//! let slow = motor.with([("Jm", 1e-3)]).poles(&token).expect("the motor is linear");
//! let fast = motor.poles(&token).expect("the motor is linear");
//! assert!(slow.spectrum.poles.len() == fast.spectrum.poles.len());
//! let equations = motor.equations(&token).expect("the motor has equations");
//! let rate = equations.expression(equations.equations.rates[0]);
//! assert!(rate.names().contains(&"Ra"));
//! assert!(equations.document(&Plain).f.len() == 2);
//! ```

mod answer;
mod check;
mod derivation;
mod documents;
mod drawing;
mod equations;
mod explain;
mod format;
mod incremental;
mod lft;
mod linear;
mod loops;
mod model;
mod page;
mod program;
mod robust;
mod runs;
mod sensitivity;
mod stage;
mod structure;
mod with;

pub mod ensemble;
pub mod estimate;
pub mod examples;
pub mod simulate;

/// The energy of every element over a simulation.
pub mod energy {
    pub use paynter_equations::Role;
    pub use paynter_simulate::experiment::{Energy, Entry, Reference, balance_closes};
}

/// The texts that the library carries, listed by the build script.
mod embedded {
    include!(concat!(env!("OUT_DIR"), "/embedded.rs"));
}

pub use answer::{Answer, Asked, QueryError};
pub use check::Checked;
pub use equations::{NumericTransfer, StateEquations, TERMS, TransferMatrix};
pub use explain::{codes, explain};
pub use format::{Formatted, format};
pub use incremental::{DerivedForm, DerivedModel, IncrementalOptions};
pub use lft::{LftOptions, StandardInterconnection};
pub use linear::{Bode, Poles, SteadyMoves, SteadyState};
pub use loops::{LocusChoice, LoopOptions, LoopReport};
pub use model::{LoadOptions, Model};
pub use paynter_algebra::{Expr, Expression, Target};
pub use paynter_base::{
    Argument, CancellationToken, Cancelled, Code, Diagnostic, Diagnostics, FileId, JoinedFindings, Label,
    LineColumn, MemoryWorld, Part, Plain, Question, Remedy, Severity, Source, SourceMap, Span, Spelling,
    World, WorldError, closest, code, number, printable, resolve_path,
};
pub use paynter_draw::{draw, plot};
pub use paynter_export as export;
pub use paynter_graph::Amount;
pub use paynter_interconnect::{Interconnection, Procedure};
pub use paynter_language::MAX_FILE_SIZE;
pub use paynter_numerics::LinearModel;
pub use paynter_numerics::grid::Frequencies;
pub use paynter_numerics::rates::{By, RateError, RateFunction};
pub use paynter_numerics::response::ResponseChoice as BodeOptions;
pub use paynter_robust::locus::Span as LocusSpan;
pub use paynter_simulate::data::MAX_DATA_SIZE;
pub use paynter_verify::Check;
pub use paynter_view::{figures, json, report, units};
pub use robust::{RobustOptions, RobustReport, WORK};
pub use runs::{Runs, Scenario};
pub use sensitivity::{ResponseOptions, ResponseTolerance, SensitivityOptions, SymbolicSensitivity};
pub use structure::StructureReport;
pub use with::NewValue;
