//! From text to syntax and back. Each file is a subject; `cargo xtask test` runs the files beside each other.

#[path = "../generator/mod.rs"]
mod generator;

mod broken;
mod format;
mod limits;
mod load;
mod mistakes;
mod syntax;
