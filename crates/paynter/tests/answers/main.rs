//! Linear answers of whole models, and what stands on them. Each file is a subject; `cargo xtask test` runs the files beside each other.

#[path = "../common/mod.rs"]
mod common;

mod estimation;
mod interconnection;
mod loops;
mod operating;
mod papers;
mod poles;
mod rests;
mod root_moves;
mod sensitivity;
mod stiff;
mod symmetry;
mod sympy;
mod trials_answers;
