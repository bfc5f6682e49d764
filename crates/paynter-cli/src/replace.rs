//! Writes files whole or not at all: to a temporary file in the same folder, which then takes the place of the
//! old one with its permissions and its owner. What is no regular file is written through.

use std::collections::hash_map::RandomState;
use std::fs::{File, Metadata, OpenOptions};
use std::hash::BuildHasher;
use std::io::{Error, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// The temporary file being written, which an interruption removes.
static PENDING: Mutex<Option<PathBuf>> = Mutex::new(None);

/// The files that have been read, in their real places.
static INPUTS: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Links in a row that are followed.
const MAX_LINKS: usize = 40;

/// Names tried for the temporary file, should one be taken.
const MAX_NAMES: usize = 16;

/// Remembers a file that has been read: no output takes its place.
pub fn protect(path: &Path) {
    if let Ok(path) = path.canonicalize() {
        INPUTS.lock().unwrap_or_else(PoisonError::into_inner).push(path);
    }
}

/// Replaces the content of a file that exists, as a formatter does with its input.
pub fn replace(path: &Path, content: impl AsRef<[u8]>) -> std::io::Result<()> {
    let path = path.canonicalize()?;
    let metadata = writable(&path)?;
    write(&path, content.as_ref(), Some(&metadata))
}

/// Writes a file, in place of one that may be there and is not one of the inputs.
pub fn create(path: &Path, content: impl AsRef<[u8]>) -> std::io::Result<()> {
    let content = content.as_ref();
    let target = real_target(path)?;
    let kind = match std::fs::metadata(&target) {
        Err(error) if error.kind() == ErrorKind::NotFound => return write(&target, content, None),
        found => found?.file_type(),
    };
    if kind.is_dir() {
        return Err(Error::other("it is a folder"));
    }
    if !kind.is_file() {
        return OpenOptions::new().write(true).open(&target)?.write_all(content);
    }
    let real = target.canonicalize()?;
    if INPUTS.lock().unwrap_or_else(PoisonError::into_inner).iter().any(|input| same(input, &real)) {
        return Err(Error::other("the answer is made from it, and it would be lost"));
    }
    let metadata = writable(&real)?;
    write(&real, content, Some(&metadata))
}

/// Removes the temporary file of an interrupted write.
pub fn abandon() {
    if let Some(path) = PENDING.lock().unwrap_or_else(PoisonError::into_inner).take() {
        let _ = std::fs::remove_file(path);
    }
}

/// What a path leads to, through links that may end at nothing.
fn real_target(path: &Path) -> std::io::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..MAX_LINKS {
        // A link of the system to what a process has open names no path.
        let Ok(next) = std::fs::read_link(&path) else { return Ok(path) };
        let next = path.parent().unwrap_or(Path::new("")).join(next);
        if next.symlink_metadata().is_err() && path.exists() {
            return Ok(path);
        }
        path = next;
    }
    Err(Error::other("its links lead in a circle"))
}

/// A file that may be changed: replacing it would need no permission to write to it.
fn writable(path: &Path) -> std::io::Result<Metadata> {
    let metadata = std::fs::metadata(path)?;
    if metadata.permissions().readonly() {
        return Err(Error::new(ErrorKind::PermissionDenied, "it is read-only"));
    }
    OpenOptions::new().write(true).open(path)?;
    Ok(metadata)
}

/// Whether two paths are one file.
#[cfg(unix)]
fn same(a: &Path, b: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let place = |path: &Path| std::fs::metadata(path).ok().map(|found| (found.dev(), found.ino()));
    a == b || place(a).is_some_and(|found| place(b) == Some(found))
}

/// Whether two paths are one file.
#[cfg(not(unix))]
fn same(a: &Path, b: &Path) -> bool {
    a == b
}

/// Gives a new file the owner of the one that it replaces.
#[cfg(unix)]
fn keep_owner(file: &File, old: &Metadata) -> std::io::Result<()> {
    use std::os::unix::fs::{MetadataExt, fchown};
    let new = file.metadata()?;
    if (new.uid(), new.gid()) == (old.uid(), old.gid()) {
        return Ok(());
    }
    fchown(file, Some(old.uid()), Some(old.gid()))
}

/// Gives a new file the owner of the one that it replaces, where files have owners.
#[cfg(not(unix))]
fn keep_owner(_: &File, _: &Metadata) -> std::io::Result<()> {
    Ok(())
}

fn write(path: &Path, content: &[u8], old: Option<&Metadata>) -> std::io::Result<()> {
    let (temporary, mut file) = temporary(path)?;
    *PENDING.lock().unwrap_or_else(PoisonError::into_inner) = Some(temporary.clone());
    if let Some(old) = old
        && keep_owner(&file, old).is_err()
    {
        // A file of somebody else stays theirs: its content changes where it is.
        abandon();
        return OpenOptions::new().write(true).truncate(true).open(path)?.write_all(content);
    }
    let result = (|| {
        if let Some(old) = old {
            file.set_permissions(old.permissions())?;
        }
        file.write_all(content)?;
        file.sync_all()?;
        std::fs::rename(&temporary, path)
    })();
    match result {
        Ok(()) => *PENDING.lock().unwrap_or_else(PoisonError::into_inner) = None,
        Err(_) => abandon(),
    }
    result
}

/// Makes a file next to the target under a name that nobody can foresee.
fn temporary(path: &Path) -> std::io::Result<(PathBuf, File)> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    // A file's name may have 255 bytes.
    let stem: String = name.chars().take(40).collect();
    for _ in 1..MAX_NAMES {
        let random = RandomState::new().hash_one(std::process::id());
        let temporary = path.with_file_name(format!(".{stem}.{random:016x}.tmp"));
        match OpenOptions::new().write(true).create_new(true).open(&temporary) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            made => return Ok((temporary, made?)),
        }
    }
    Err(Error::from(ErrorKind::AlreadyExists))
}
