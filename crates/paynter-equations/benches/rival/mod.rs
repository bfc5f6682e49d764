//! FLINT, the rival of these benchmarks, by the script of the polynomials' own.

use std::process::Command;

/// The seconds of FLINT for `transfer` or `sensitivities` of a model, from its matrix on:
/// as the polynomials come, and in lowest terms, which ours are. Nothing where there is no
/// Python environment; `cargo xtask python` makes it.
pub fn flint(question: &str, model: &str, size: usize) -> Option<(f64, f64)> {
    let python = paynter_testkit::python::python(env!("CARGO_TARGET_TMPDIR")).ok()?;
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../paynter-algebra/benches/poly_flint.py");
    let output = Command::new(python).args([script, question, model, &size.to_string()]).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let (bare, lowest) = text.trim().split_once(' ')?;
    Some((bare.parse().ok()?, lowest.parse().ok()?))
}
