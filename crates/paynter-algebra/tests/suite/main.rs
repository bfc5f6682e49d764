//! Expressions, polynomials and printers. Each file is a subject; `cargo xtask test` runs the files beside each other.

#[path = "../common/mod.rs"]
mod common;

mod collect;
mod kernel;
mod laws;
mod many_derivatives;
mod poly_arithmetic;
mod poly_convert;
mod poly_gcd;
mod poly_matrix;
mod print;
mod range;
mod solve;
mod zero;
