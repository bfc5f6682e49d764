//! Loads the model a command is about.

use crate::answer::{Answer, Exit};
use crate::args::Global;
use crate::world::{FileWorld, read_file};
use paynter::simulate::Data;
use paynter::{
    Diagnostic, Diagnostics, LoadOptions, MAX_DATA_SIZE, MAX_FILE_SIZE, Model, Source, SourceMap, Span,
    World, WorldError,
};
use paynter::{closest, code, examples};
use std::mem::ManuallyDrop;
use std::path::Path;
use std::sync::Arc;

/// Loads a model, or says why its file cannot be read.
///
/// The process ends with its answer: giving back a large model node by node would only delay that.
pub fn load(path: &Path, global: &Global) -> Result<ManuallyDrop<Model>, Answer> {
    Ok(ManuallyDrop::new(load_with(&open(path, global)?, global, &[])))
}

/// Opens the folder of a model whose file can be read.
pub fn open(path: &Path, global: &Global) -> Result<FileWorld, Answer> {
    let world = FileWorld::open(path);
    match world.read(world.main(), MAX_FILE_SIZE) {
        Ok(_) => Ok(world),
        Err(error) => {
            let (sources, diagnostics) = refusal(&world, &error);
            Err(Answer::failure(global, diagnostics, Arc::new(sources), Exit::Wrong))
        }
    }
}

/// Loads a model with settings on top of those for all.
pub fn load_with(world: &FileWorld, global: &Global, set: &[(String, String)]) -> Model {
    let set = global.set.iter().chain(set).cloned().collect();
    Model::load(world, world.main(), &LoadOptions { model: global.model.clone(), set })
}

/// Reads a file of measured data.
pub fn data(path: &Path, global: &Global) -> Result<Data, Answer> {
    let shown = path.display().to_string();
    read_file(path, MAX_DATA_SIZE).map(|content| Data { path: shown.clone(), content }).map_err(|error| {
        let reason = match error {
            WorldError::NotFound => format!("there is no file `{shown}`"),
            WorldError::TooLarge(_) => format!("`{shown}` is larger than {} MB", MAX_DATA_SIZE >> 20),
            WorldError::Outside => format!("`{shown}` leads outside the model's folder"),
            WorldError::Other(reason) => format!("`{shown}` cannot be read: {reason}"),
        };
        let diagnostic = Diagnostic::new(code::FILE_UNREADABLE, reason);
        Answer::refusal(global, diagnostic.help("name a CSV file that you may read"), Exit::Wrong)
    })
}

/// Reads the text of a file for the formatter.
pub fn read(path: &Path) -> Result<(String, Vec<u8>), (SourceMap, Diagnostics)> {
    let world = FileWorld::open(path);
    match world.read(world.main(), MAX_FILE_SIZE) {
        Ok(content) => Ok((world.shown(world.main()), content)),
        Err(error) => Err(refusal(&world, &error)),
    }
}

/// Why the model file cannot be read, with the likely remedy.
fn refusal(world: &FileWorld, error: &WorldError) -> (SourceMap, Diagnostics) {
    let shown = world.shown(world.main());
    let mut sources = SourceMap::new();
    let file = sources.add(Source::new(shown.clone(), ""));
    let diagnostic = match error {
        WorldError::NotFound => {
            let diagnostic = Diagnostic::new(code::FILE_UNREADABLE, format!("there is no file `{shown}`"));
            match suggestion(world) {
                Some(help) => diagnostic.help(help),
                None => diagnostic.help("check the path; `paynter examples` lists models to start from"),
            }
        }
        WorldError::TooLarge(_) => {
            let limit = MAX_FILE_SIZE / 1_000_000;
            Diagnostic::new(code::TOO_LARGE, format!("`{shown}` is larger than {limit} MB"))
        }
        WorldError::Outside => {
            Diagnostic::new(code::FILE_UNREADABLE, format!("`{shown}` leads outside the model's folder"))
        }
        WorldError::Other(reason) => {
            Diagnostic::new(code::FILE_UNREADABLE, format!("`{shown}` cannot be read: {reason}"))
                .help("name a model file that you may read, or `-` for standard input")
        }
    };
    let mut diagnostics = Diagnostics::new();
    diagnostics.push(diagnostic.at(Span::new(file, 0, 0)));
    (sources, diagnostics)
}

/// The file or example the user may have meant.
fn suggestion(world: &FileWorld) -> Option<String> {
    let name = world.main();
    let neighbours = world.neighbours();
    let with_extension = format!("{name}.bg");
    if neighbours.contains(&with_extension) {
        return Some(format!("did you mean `{}`?", world.shown(&with_extension)));
    }
    if let Some(example) = examples::find(name.strip_suffix(".bg").unwrap_or(name)) {
        let name = example.name;
        return Some(format!(
            "`{name}` is a built-in example: `paynter examples {name} --write .` writes it here"
        ));
    }
    let near = closest(name, neighbours.iter().map(String::as_str))?;
    Some(format!("did you mean `{}`?", world.shown(near)))
}
