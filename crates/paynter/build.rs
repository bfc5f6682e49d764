//! Lists the example models, their data and the pages on diagnostics, so that the
//! library carries them: `examples/`, `examples/data/` and `docs/src/diagnostics/`
//! at the root of the repository, in order of their names.

use std::fmt::Write as _;
use std::path::Path;

fn main() -> std::io::Result<()> {
    let root = Path::new(&std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default()).join("../..");
    let mut code = String::new();
    let lists = [
        ("EXAMPLES", "examples", "bg"),
        ("DATA", "examples/data", "csv"),
        ("PAGES", "docs/src/diagnostics", "md"),
    ];
    for (name, folder, extension) in lists {
        list(&mut code, name, &root.join(folder), extension)?;
    }
    let target = std::env::var_os("OUT_DIR").unwrap_or_default();
    std::fs::write(Path::new(&target).join("embedded.rs"), code)
}

/// Writes a constant with the stem and the text of each file of a folder.
fn list(code: &mut String, name: &str, folder: &Path, extension: &str) -> std::io::Result<()> {
    println!("cargo:rerun-if-changed={}", folder.display());
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|e| e == extension) {
            files.push(path.canonicalize()?);
        }
    }
    files.sort();
    let _ = writeln!(code, "pub(crate) const {name}: &[(&str, &str)] = &[");
    for path in files {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        let _ = writeln!(code, "    ({stem:?}, include_str!({:?})),", path.to_string_lossy());
    }
    code.push_str("];\n");
    Ok(())
}
