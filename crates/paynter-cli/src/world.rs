//! Files on disk, seen from the model's folder: the one place where the
//! command line reads models and what they import.

use crate::replace;
use paynter::{MAX_FILE_SIZE, World, WorldError};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// A model file with the folder tree below it. The model itself was named by
/// the user and may be anything readable; what it imports must lie in the tree.
pub struct FileWorld {
    /// The folder of the model file, as the user wrote it.
    folder: PathBuf,
    /// The name of the model file in that folder.
    main: String,
    /// Its content, or why there is none.
    content: Result<Vec<u8>, WorldError>,
}

impl FileWorld {
    /// Opens a model file, or standard input for `-`.
    pub fn open(path: &Path) -> FileWorld {
        if path.as_os_str() == "-" {
            let content = read_limited(std::io::stdin().lock(), MAX_FILE_SIZE);
            return FileWorld { folder: PathBuf::new(), main: "<stdin>".to_owned(), content };
        }
        let folder = path.parent().map(Path::to_owned).unwrap_or_default();
        let main = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
        FileWorld { folder, main, content: read_file(path, MAX_FILE_SIZE) }
    }

    /// The name of the model file, as the loader asks for it.
    pub fn main(&self) -> &str {
        &self.main
    }

    /// The folder of the model file; the current one where its path names none.
    fn folder(&self) -> &Path {
        if self.folder.as_os_str().is_empty() { Path::new(".") } else { &self.folder }
    }

    /// The names of the files next to the model, in order, for suggestions.
    pub fn neighbours(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.folder()).into_iter().flatten().flatten();
        let mut names: Vec<String> = entries
            .filter(|entry| entry.path().is_file())
            .filter_map(|entry| entry.file_name().into_string().ok())
            .collect();
        names.sort();
        names
    }
}

impl World for FileWorld {
    fn shown(&self, path: &str) -> String {
        if path == "<stdin>" { path.to_owned() } else { self.folder.join(path).display().to_string() }
    }

    fn read(&self, path: &str, limit: u64) -> Result<Vec<u8>, WorldError> {
        if path == self.main {
            return match &self.content {
                Ok(content) if content.len() as u64 > limit => {
                    Err(WorldError::TooLarge(content.len() as u64))
                }
                content => content.clone(),
            };
        }
        let root = self.folder().canonicalize().map_err(refused)?;
        let full = self.folder().join(path).canonicalize().map_err(refused)?;
        // A link inside the tree may lead out of it.
        if !full.starts_with(&root) {
            return Err(WorldError::Outside);
        }
        read_file(&full, limit)
    }
}

/// Reads a regular file. Folders, pipes and devices are refused before they
/// are opened, since a pipe may never answer and a device may never end.
pub fn read_file(path: &Path, limit: u64) -> Result<Vec<u8>, WorldError> {
    let metadata = std::fs::metadata(path).map_err(refused)?;
    if metadata.is_dir() {
        return Err(WorldError::Other("it is a folder".to_owned()));
    }
    if !metadata.is_file() {
        return Err(WorldError::Other("it is a pipe or a device".to_owned()));
    }
    if metadata.len() > limit {
        return Err(WorldError::TooLarge(metadata.len()));
    }
    replace::protect(path);
    read_limited(File::open(path).map_err(refused)?, limit)
}

/// Reads all there is, but not more than one byte over the limit.
fn read_limited(reader: impl Read, limit: u64) -> Result<Vec<u8>, WorldError> {
    let mut content = Vec::new();
    reader.take(limit + 1).read_to_end(&mut content).map_err(refused)?;
    if content.len() as u64 > limit {
        return Err(WorldError::TooLarge(content.len() as u64));
    }
    Ok(content)
}

/// The system's refusal in the world's words.
fn refused(error: std::io::Error) -> WorldError {
    match error.kind() {
        std::io::ErrorKind::NotFound => WorldError::NotFound,
        std::io::ErrorKind::PermissionDenied => WorldError::Other("you may not read it".to_owned()),
        _ => WorldError::Other(error.to_string()),
    }
}
