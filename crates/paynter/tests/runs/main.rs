//! Simulation of whole models. Each file is a subject; `cargo xtask test` runs the files beside each other.

#[path = "../common/mod.rs"]
mod common;

mod changes;
mod circuits;
mod energy;
mod islands;
mod kicks;
mod kinds;
mod limits;
mod pendulums;
mod simulate;
mod simulators;
mod sticking;
mod trajectories;
mod trials;
mod verify;
