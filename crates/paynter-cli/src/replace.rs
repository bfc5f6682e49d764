//! Writes files whole or not at all: to a temporary file in the same folder,
//! which then takes the place of the old one.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// The temporary file being written, which an interruption removes.
static PENDING: Mutex<Option<PathBuf>> = Mutex::new(None);

/// Replaces the content of a file that exists. Links are followed, and the
/// permissions stay as they are.
pub fn replace(path: &Path, content: impl AsRef<[u8]>) -> std::io::Result<()> {
    let path = path.canonicalize()?;
    // Replacing a file needs no permission to write to it; changing it does.
    let metadata = OpenOptions::new().write(true).open(&path)?.metadata()?;
    write(&path, content.as_ref(), |file| file.set_permissions(metadata.permissions()))
}

/// Writes a file, in place of one that may be there.
pub fn create(path: &Path, content: impl AsRef<[u8]>) -> std::io::Result<()> {
    write(path, content.as_ref(), |_| Ok(()))
}

/// Removes the temporary file of an interrupted write.
pub fn abandon() {
    if let Some(path) = PENDING.lock().unwrap_or_else(PoisonError::into_inner).take() {
        let _ = std::fs::remove_file(path);
    }
}

fn write(path: &Path, content: &[u8], prepare: impl Fn(&File) -> std::io::Result<()>) -> std::io::Result<()> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let temporary = path.with_file_name(format!(".{name}.{}.tmp", std::process::id()));
    *PENDING.lock().unwrap_or_else(PoisonError::into_inner) = Some(temporary.clone());
    let result = (|| {
        let mut file = OpenOptions::new().write(true).create_new(true).open(&temporary)?;
        prepare(&file)?;
        file.write_all(content)?;
        file.sync_all()?;
        std::fs::rename(&temporary, path)
    })();
    if result.is_err() {
        abandon();
    }
    *PENDING.lock().unwrap_or_else(PoisonError::into_inner) = None;
    result
}
