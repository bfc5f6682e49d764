//! From syntax to a graph with causality. Each file is a subject; `cargo xtask test` runs the files beside each other.

#[path = "../common/mod.rs"]
mod common;

#[path = "../meaning/mod.rs"]
mod meaning;

mod causality_rules;
mod diagnostics;
mod flattening;
mod lecture;
mod random_causality;
mod robustness;
