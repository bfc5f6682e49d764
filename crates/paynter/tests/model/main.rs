//! One immutable model: questions in any order, other values, derived graphs, programs, the handbook. Each file is a subject; `cargo xtask test` runs the files beside each other.

#[path = "../common/mod.rs"]
mod common;

mod derived;
mod exports;
mod forms;
mod guards;
mod handbook;
mod programs;
mod questions;
mod random_values;
mod replay;
mod trials_language;
mod with;
