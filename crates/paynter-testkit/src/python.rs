//! The Python interpreter of the tests, with NumPy, SciPy, SymPy and
//! python-flint in the versions of tests/oracles/requirements.txt.

use std::path::{Path, PathBuf};

/// Finds the interpreter: `PAYNTER_PYTHON`, or the environment that
/// `cargo xtask test` makes in the target folder. A test passes its
/// `env!("CARGO_TARGET_TMPDIR")` and fails with the message.
pub fn python(target_tmp: &str) -> Result<PathBuf, String> {
    let path = match std::env::var_os("PAYNTER_PYTHON") {
        Some(path) => PathBuf::from(path),
        None => {
            let target = Path::new(target_tmp).parent().unwrap_or(Path::new("target"));
            target.join("python").join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" })
        }
    };
    if path.exists() {
        return Ok(path);
    }
    Err(format!(
        "there is no Python environment for the tests at {}; `cargo xtask python` (or `cargo xtask test`) makes it",
        path.display()
    ))
}
