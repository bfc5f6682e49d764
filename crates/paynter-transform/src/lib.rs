//! Bond graphs made from bond graphs. A derived graph is again a graph and
//! runs through the same passes as one that a person wrote.

mod build;
mod elements;
mod group;
mod incremental;
mod laws;
mod names;
mod pseudo;
mod solve;
mod storage;
mod strokes;
mod text;
mod weightless;

pub use incremental::{Begins, Derived, Form, Request, Start, all_expressions as expressions, incremental};
pub use pseudo::{Sensitivity, pseudo};
pub use text::{TextOptions, to_text};
pub use weightless::{Weightless, divided, weightless};
