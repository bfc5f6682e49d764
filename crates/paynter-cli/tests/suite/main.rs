//! The command as people run it. Each file is a subject; `cargo xtask test` runs the files beside each other.

#[path = "../common/mod.rs"]
mod common;

mod bad_files;
mod commands;
mod fmt;
mod handbook;
mod hostile;
mod report;
mod simulate;
mod sizes;
mod trials;
mod units;
mod wrong_models;
