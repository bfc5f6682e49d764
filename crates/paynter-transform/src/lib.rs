//! Bond graphs made from bond graphs. A derived graph is again a graph and
//! runs through the same passes as one that a person wrote.

mod build;
mod differential;
mod elements;
mod group;
mod heading;
mod incremental;
mod injection;
mod laws;
mod limits;
mod names;
mod numbers;
mod pseudo;
mod solve;
mod spelling;
mod standalone;
mod storage;
mod strokes;
mod text;
mod uncertain;
mod weightless;

pub use heading::{incremental_comments, sensitivity_comments, vanishing_moduli, without_effect};
pub use incremental::{Begins, Derived, Form, Request, Start, incremental};
pub use injection::{Injection, inject};
pub use numbers::in_numbers;
pub use pseudo::{Sensitivity, pseudo};
pub use standalone::standalone;
pub use text::{TextOptions, printed, to_text};
pub use uncertain::{
    Addition, Auxiliary, AuxiliaryElements, Place, Reading, Split, auxiliary_elements, uncertain,
    uncertain_comments,
};
pub use weightless::{Weightless, divided, weightless};
