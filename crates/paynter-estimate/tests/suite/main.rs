//! Estimation from measured data. Each file is a subject; `cargo xtask test` runs the files beside each other.

#[path = "../common/mod.rs"]
mod common;

mod gawthrop;
mod options;
mod statistics;
