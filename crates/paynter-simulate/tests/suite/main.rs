//! Simulation over time. Each file is a subject; `cargo xtask test` runs the files beside each other.

#[path = "../zoo/mod.rs"]
mod zoo;

mod adjoints;
mod angles;
mod assumptions;
mod events;
mod integrators;
mod random;
