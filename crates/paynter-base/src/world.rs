//! The one door to the outside: model files and tables come through
//! [`World`], with one rule for paths, so that the command line, Python, the
//! browser and tests differ only here.

use std::collections::BTreeMap;

/// Reads files by their path relative to the model's folder tree.
pub trait World {
    /// Reads a whole file of at most `limit` bytes.
    ///
    /// `path` is normalised (see [`resolve_path`]): forward slashes, no `.` or `..`.
    fn read(&self, path: &str, limit: u64) -> Result<Vec<u8>, WorldError>;

    /// How people know the file: as they have written its path.
    fn shown(&self, path: &str) -> String {
        path.to_owned()
    }
}

/// Why a file could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WorldError {
    /// There is no such file.
    NotFound,
    /// It is larger than the limit, in bytes.
    TooLarge(u64),
    /// It leads outside the model's folder tree.
    Outside,
    /// The system said no, in its own words.
    Other(String),
}

/// Resolves `path` as written in the file `from`, both relative to the root of
/// the model's folder tree. Absolute paths, backslashes, drive letters and
/// paths that climb out of the tree are refused.
pub fn resolve_path(from: &str, path: &str) -> Result<String, WorldError> {
    if path.is_empty() {
        return Err(WorldError::NotFound);
    }
    if path.starts_with('/') || path.contains('\\') || path.contains(':') || path.contains('\0') {
        return Err(WorldError::Outside);
    }
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                if parts.pop().is_none() {
                    return Err(WorldError::Outside);
                }
            }
            name => parts.push(name),
        }
    }
    if parts.is_empty() {
        return Err(WorldError::NotFound);
    }
    Ok(parts.join("/"))
}

/// A world of texts held in memory: built-in examples, tests, the browser.
#[derive(Debug, Clone, Default)]
pub struct MemoryWorld {
    files: BTreeMap<String, Vec<u8>>,
}

impl MemoryWorld {
    /// Makes a world without files.
    pub fn new() -> MemoryWorld {
        MemoryWorld::default()
    }

    /// Adds a file.
    #[must_use]
    pub fn with(mut self, path: &str, content: impl Into<Vec<u8>>) -> MemoryWorld {
        self.files.insert(path.to_owned(), content.into());
        self
    }
}

impl World for MemoryWorld {
    fn read(&self, path: &str, limit: u64) -> Result<Vec<u8>, WorldError> {
        let content = self.files.get(path).ok_or(WorldError::NotFound)?;
        if content.len() as u64 > limit {
            return Err(WorldError::TooLarge(content.len() as u64));
        }
        Ok(content.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_stay_inside_the_tree() {
        assert_eq!(resolve_path("a/b.bg", "c.bg"), Ok("a/c.bg".into()));
        assert_eq!(resolve_path("a/b.bg", "../c.bg"), Ok("c.bg".into()));
        assert_eq!(resolve_path("b.bg", "./x/../c.bg"), Ok("c.bg".into()));
        for outside in ["../c.bg", "/etc/passwd", "x/../../c.bg", "C:\\x", "..\\c"] {
            assert_eq!(resolve_path("b.bg", outside), Err(WorldError::Outside), "{outside}");
        }
    }
}
