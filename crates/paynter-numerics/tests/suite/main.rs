//! Numbers from equations. Each file is a subject; `cargo xtask test` runs the files beside each other.

#[path = "../common/mod.rs"]
mod common;

mod frequency;
mod operating;
mod program;
