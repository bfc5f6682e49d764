//! What every stage of Paynter shares: places in source text, diagnostics as
//! plain data, the one door to the outside world, cancellation and progress.
//!
//! This crate knows nothing of bond graphs and does no input or output itself.

mod components;
mod diagnostic;
mod hidden;
mod joined;
mod progress;
mod query;
mod remedy;
mod source;
mod suggest;
mod world;

pub mod code;
pub mod number;
pub mod random;

pub use code::Code;
pub use components::strong_components;
pub use diagnostic::{Diagnostic, Diagnostics, Label, Severity};
pub use hidden::{is_hidden, printable};
pub use joined::JoinedFindings;
pub use progress::{CancellationToken, Cancelled};
pub use query::QueryError;
pub use remedy::{Argument, Part, Plain, Question, Remedy, Spelling};
pub use source::{FileId, LineColumn, Source, SourceMap, Span};
pub use suggest::closest;
pub use world::{MemoryWorld, World, WorldError, resolve_path};
