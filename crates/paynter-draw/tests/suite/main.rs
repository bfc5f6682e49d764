//! Drawings and plots. Each file is a subject; `cargo xtask test` runs the files beside each other.

#[path = "../gallery/mod.rs"]
mod gallery;

mod drawing;
mod models;
mod plots;
