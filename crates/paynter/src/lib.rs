//! The facade of Paynter: [`Model::load`] and one method per question. The
//! command line, Python and the browser call this crate only.

mod bode;
mod cascade;
mod drawing;
mod equations;
mod explain;
mod format;
mod formulas;
mod incremental;
mod linear;
mod model;
mod page;
mod poles;
mod sensitivity;
mod settings;
mod structure;

pub mod examples;
pub mod simulate;

/// The energy of every element over a simulation.
pub mod energy {
    pub use paynter_equations::Role;
    pub use paynter_simulate::experiment::{Energy, Entry};
}

/// The texts that the library carries, listed by the build script.
mod embedded {
    include!(concat!(env!("OUT_DIR"), "/embedded.rs"));
}

pub use equations::{NoAnswer, TERMS};
pub use explain::{codes, explain};
pub use format::{Formatted, format};
pub use incremental::{DerivedForm, DerivedModel, IncrementalOptions};
pub use model::{LoadOptions, Model};
pub use paynter_base::{
    Argument, Cancelled, Code, Diagnostic, Diagnostics, FileId, Label, LineColumn, MemoryWorld, Part, Plain,
    Question, Remedy, Severity, Source, SourceMap, Span, Spelling, Ticket, World, WorldError, closest, code,
    number, resolve_path,
};
pub use paynter_draw::{draw, plot};
pub use paynter_export as export;
pub use paynter_language::MAX_FILE_SIZE;
pub use paynter_numerics::LinearModel;
pub use paynter_numerics::grid::Frequencies;
pub use paynter_numerics::response::ResponseChoice as BodeOptions;
pub use paynter_simulate::data::MAX_DATA_SIZE;
pub use paynter_view::{figures, json, report};
pub use sensitivity::{ResponseOptions, SensitivityOptions};
