//! Robustness in numbers. Each file is a subject; `cargo xtask test` runs the files beside each other.

mod attained;
mod gains;
mod loops;
mod margins;
mod proofs;
mod upper;
mod worst;
