//! Equations, sensitivities and structure. Each file is a subject; `cargo xtask test` runs the files beside each other.

mod elements;
mod random;
mod sensitivity;
mod structure;
