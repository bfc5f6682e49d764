//! Checks that the facade stays a facade: what it does beyond loading,
//! remembering stages and calling passes belongs to the crate that owns the
//! subject, so its lines of code are counted and limited.

use std::path::Path;

/// The most lines of code in `crates/paynter/src`. A change that needs more
/// has an analysis in it that wants another crate; lower this when code leaves.
/// Loops, robustness, interconnection, estimation and ensembles are asked through it too, the last with units of their
/// answers and what tells one ensemble from another. Robustness asks twice where values are uncertain as a whole: of the
/// interconnection, and of the parameters themselves.
const LIMIT: usize = 3370;

/// Says by how much the facade is too long.
pub fn violations(source: &Path) -> Result<Vec<String>, String> {
    let lines = count(source)?;
    println!("{lines} lines of code in the facade, of at most {LIMIT}");
    Ok(if lines <= LIMIT {
        Vec::new()
    } else {
        vec![format!(
            "the facade has {lines} lines of code, more than {LIMIT}: move the analysis to the crate that owns it"
        )]
    })
}

/// The lines of code of all Rust files below a folder.
fn count(folder: &Path) -> Result<usize, String> {
    let entries = std::fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let mut lines = 0;
    for entry in entries {
        let path = entry.map_err(|error| error.to_string())?.path();
        if path.is_dir() {
            lines += count(&path)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
            lines += code(&text);
        }
    }
    Ok(lines)
}

/// The lines that are neither blank nor comments, up to the tests at the end of a file.
fn code(text: &str) -> usize {
    let lines = text.lines().map(str::trim).take_while(|line| *line != "#[cfg(test)]");
    lines.filter(|line| !line.is_empty() && !line.starts_with("//")).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_blank_lines_and_tests_do_not_count() {
        let text = "//! Header.\n\nfn a() {\n    // Why.\n    b();\n}\n\n#[cfg(test)]\nmod tests {\n    fn c() {}\n}\n";
        assert_eq!(code(text), 3);
    }

    #[test]
    fn the_facade_is_counted() {
        let source = crate::run::root().join("crates/paynter/src");
        assert!(count(&source).unwrap() > 500);
        assert_eq!(violations(&source).unwrap(), Vec::<String>::new());
    }
}
