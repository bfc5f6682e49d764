//! Reading a model file and everything it imports, each file once.

use paynter_base::{
    Diagnostic, Diagnostics, FileId, Source, SourceMap, Span, World, WorldError, code, resolve_path,
};

use crate::{MAX_FILE_SIZE, ast, parse_syntax};

/// A model file with its imports.
#[derive(Debug, Clone, Default)]
pub struct Loaded {
    /// All texts that could be read, the root first.
    pub sources: SourceMap,
    /// Their syntax, the root first, then the imports in the order in which they are met.
    pub files: Vec<(FileId, ast::File)>,
    /// What is wrong with texts and imports.
    pub diagnostics: Diagnostics,
}

/// A file that is being read or has been.
struct Visited {
    path: String,
    /// The imports that are still to be followed, last first.
    pending: Vec<ast::Import>,
    file: FileId,
}

/// Reads the model file at `path` and all it imports.
pub fn load(world: &dyn World, path: &str) -> Loaded {
    let mut loaded = Loaded::default();
    let mut visited: Vec<Visited> = Vec::new();
    // The chain of imports that leads to the file at hand, as indices into `visited`.
    let mut chain: Vec<usize> = Vec::new();
    if let Some(root) = read(world, path, None, &mut loaded) {
        if loaded.files.first().is_some_and(|(_, file)| file.models.is_empty())
            && !loaded.diagnostics.has_errors()
        {
            let message = format!("`{path}` contains no model");
            loaded.diagnostics.push(Diagnostic::new(code::EMPTY, message).at(Span::new(root.file, 0, 0)));
        }
        visited.push(root);
        chain.push(0);
    }
    while let Some(&current) = chain.last() {
        let Some(import) = visited[current].pending.pop() else {
            chain.pop();
            continue;
        };
        let target = match resolve_path(&visited[current].path, &import.path) {
            Ok(target) => target,
            Err(error) => {
                loaded.diagnostics.push(failed_import(&import, error));
                continue;
            }
        };
        match visited.iter().position(|file| file.path == target) {
            Some(known) => {
                if let Some(start) = chain.iter().position(|&index| index == known) {
                    let cycle: Vec<&str> =
                        chain[start..].iter().map(|&index| visited[index].path.as_str()).collect();
                    loaded.diagnostics.push(cyclic(&import, &cycle, &target));
                }
            }
            None => {
                if let Some(file) = read(world, &target, Some(&import), &mut loaded) {
                    chain.push(visited.len());
                    visited.push(file);
                }
            }
        }
    }
    loaded.diagnostics.sort();
    loaded
}

/// Reads one file into the sources and parses it.
fn read(world: &dyn World, path: &str, import: Option<&ast::Import>, loaded: &mut Loaded) -> Option<Visited> {
    let bytes = match world.read(path, MAX_FILE_SIZE) {
        Ok(bytes) => bytes,
        Err(error) => {
            loaded.diagnostics.push(match import {
                Some(import) => failed_import(import, error),
                None => failed_root(path, error),
            });
            return None;
        }
    };
    let file = match add_text(&mut loaded.sources, path, bytes) {
        Ok(file) => file,
        Err(diagnostic) => {
            loaded.diagnostics.push(match import {
                Some(import) => diagnostic.label(import.span, "imported here"),
                None => *diagnostic,
            });
            return None;
        }
    };
    let text = loaded.sources.get(file).map_or("", |source| source.text.as_str());
    let (syntax, diagnostics) = parse_syntax(text, file);
    let mut pending = syntax.imports.clone();
    pending.reverse();
    loaded.diagnostics.extend(diagnostics);
    loaded.files.push((file, syntax));
    Some(Visited { path: path.to_owned(), pending, file })
}

/// Adds the bytes of a file as text to the sources, or says why they are no text.
pub fn add_text(sources: &mut SourceMap, path: &str, mut bytes: Vec<u8>) -> Result<FileId, Box<Diagnostic>> {
    if bytes.starts_with(b"\xEF\xBB\xBF") {
        bytes.drain(..3);
    }
    decode(bytes).map(|text| sources.add(Source::new(path, text))).map_err(|broken| {
        let end = broken.before.len() as u32;
        let file = sources.add(Source::new(path, broken.before));
        let message = format!("`{path}` is not a text file: {}", broken.reason);
        Box::new(Diagnostic::new(code::NOT_TEXT, message).at(Span::new(file, end, end)).help(broken.help))
    })
}

/// Why bytes are no text, with the text before the first wrong byte.
struct NotText {
    before: String,
    reason: String,
    help: &'static str,
}

fn decode(bytes: Vec<u8>) -> Result<String, NotText> {
    const PLAIN: &str = "save the model as UTF-8 text";
    if bytes.starts_with(b"\xFF\xFE") || bytes.starts_with(b"\xFE\xFF") {
        let reason = "it is UTF-16 text, from byte 0 on".to_owned();
        return Err(NotText { before: String::new(), reason, help: "save it again as UTF-8" });
    }
    let valid = match std::str::from_utf8(&bytes) {
        Ok(_) => bytes.len(),
        Err(error) => error.valid_up_to(),
    };
    let nul = bytes[..valid].iter().position(|byte| *byte == 0);
    let wrong = nul.unwrap_or(valid);
    if nul.is_none() && valid == bytes.len() {
        return String::from_utf8(bytes).map_err(|_| NotText {
            before: String::new(),
            reason: "it is not UTF-8".to_owned(),
            help: PLAIN,
        });
    }
    let byte = bytes.get(wrong).copied().unwrap_or(0);
    let before = String::from_utf8_lossy(&bytes[..wrong]).into_owned();
    let reason = format!("the byte 0x{byte:02X} at offset {wrong} belongs to no UTF-8 text");
    // One high byte among plain text is how older encodings write ±, µ or °.
    let latin = byte >= 0xA0 && !bytes.contains(&0);
    let help =
        if latin { "it seems to be in Latin-1 or Windows-1252; save it again as UTF-8" } else { PLAIN };
    Err(NotText { before, reason, help })
}

fn too_large(path: &str, size: u64) -> Diagnostic {
    Diagnostic::new(code::TOO_LARGE, format!("`{path}` has {size} bytes; {MAX_FILE_SIZE} are the limit"))
}

fn failed_root(path: &str, error: WorldError) -> Diagnostic {
    match error {
        WorldError::TooLarge(size) => too_large(path, size),
        WorldError::NotFound => Diagnostic::new(code::FILE_UNREADABLE, format!("there is no file `{path}`")),
        WorldError::Outside => {
            Diagnostic::new(code::FILE_UNREADABLE, format!("`{path}` lies outside the model's folder tree"))
        }
        WorldError::Other(reason) => {
            Diagnostic::new(code::FILE_UNREADABLE, format!("`{path}` cannot be read: {reason}"))
        }
    }
}

fn failed_import(import: &ast::Import, error: WorldError) -> Diagnostic {
    let path = &import.path;
    match error {
        WorldError::TooLarge(size) => too_large(path, size),
        WorldError::Outside => {
            let message = format!("`{path}` leads outside the model's folder tree");
            Diagnostic::new(code::IMPORT_OUTSIDE, message)
        }
        WorldError::NotFound => Diagnostic::new(code::IMPORT_FAILED, format!("there is no file `{path}`")),
        WorldError::Other(reason) => {
            Diagnostic::new(code::IMPORT_FAILED, format!("`{path}` cannot be read: {reason}"))
        }
    }
    .at(import.span)
}

fn cyclic(import: &ast::Import, cycle: &[&str], target: &str) -> Diagnostic {
    let message = if cycle.len() == 1 {
        format!("`{target}` imports itself")
    } else {
        format!("imports in a cycle: {} -> {target}", cycle.join(" -> "))
    };
    let diagnostic = Diagnostic::new(code::IMPORT_CYCLE, message).at(import.span);
    if cycle.len() == 1 { diagnostic.help("delete the import") } else { diagnostic }
}
