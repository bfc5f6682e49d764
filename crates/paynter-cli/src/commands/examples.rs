//! `paynter examples`: the built-in models, listed, printed or written.

use crate::answer::{Answer, Exit};
use crate::args::Global;
use crate::replace;
use crate::table::columns;
use paynter::examples::Example;
use paynter::json::{self, Examples, Written};
use paynter::{Diagnostic, closest, code, examples};
use std::path::{Path, PathBuf};

/// Lists all examples, prints one, or writes one or all.
pub fn run(name: Option<&str>, folder: Option<&Path>, force: bool, global: &Global) -> Answer {
    let chosen = match name.map(|name| (name, examples::find(name.strip_suffix(".bg").unwrap_or(name)))) {
        Some((name, None)) => return unknown(name, global),
        Some((_, Some(example))) => Some(example),
        None => None,
    };
    match (chosen, folder) {
        (None, None) => Answer::plain(global, examples::list(), list),
        (Some(example), None) => {
            let document = json::Example { entry: example.entry(), text: example.text.to_owned() };
            Answer::plain(global, document, |document| document.text.clone())
        }
        (Some(example), Some(folder)) => write(&[example], folder, force, global),
        (None, Some(folder)) => write(&examples::all().collect::<Vec<_>>(), folder, force, global),
    }
}

fn unknown(name: &str, global: &Global) -> Answer {
    let diagnostic = Diagnostic::new(code::UNKNOWN_EXAMPLE, format!("there is no example `{name}`"));
    let diagnostic = match closest(name, examples::all().map(|example| example.name)) {
        Some(near) => diagnostic.help(format!("did you mean `{near}`? `paynter examples` lists them all")),
        None => diagnostic,
    };
    Answer::refusal(global, diagnostic, Exit::Usage)
}

fn list(document: &Examples) -> String {
    let rows: Vec<[String; 2]> =
        document.examples.iter().map(|entry| [entry.name.clone(), entry.title.clone()]).collect();
    columns(["NAME", "ABOUT"], &rows)
        + "\n`paynter examples NAME` prints one, `paynter examples NAME --write DIR` writes its file and its data.\n"
}

/// Writes files. All targets are looked at first, so that a refusal leaves nothing behind.
fn write(examples: &[Example], folder: &Path, force: bool, global: &Global) -> Answer {
    let refuse = |message: String, help: &str| {
        let diagnostic = Diagnostic::new(code::FILE_UNWRITABLE, message).help(help);
        Answer::refusal(global, diagnostic, Exit::Wrong)
    };
    let files = examples.iter().flat_map(|example| {
        let data = example.data.map(|data| (format!("{}.csv", example.name), data));
        [Some((format!("{}.bg", example.name), example.text)), data].into_iter().flatten()
    });
    let (targets, texts): (Vec<PathBuf>, Vec<&str>) =
        files.map(|(name, text)| (folder.join(name), text)).unzip();
    if let Some(there) = targets.iter().find(|target| !force && target.symlink_metadata().is_ok()) {
        let message = format!("`{}` exists already", there.display());
        return refuse(message, "choose another folder, or add `--force` to overwrite");
    }
    if let Err(error) = std::fs::create_dir_all(folder) {
        let message = format!("the folder `{}` cannot be made: {error}", folder.display());
        return refuse(message, "choose another folder");
    }
    for (text, target) in texts.iter().zip(&targets) {
        if let Err(error) = replace::create(target, text) {
            let message = format!("`{}` cannot be written: {error}", target.display());
            return refuse(message, "choose another folder, or check its permissions");
        }
    }
    let document = Written { written: targets.iter().map(|target| target.display().to_string()).collect() };
    Answer::plain(global, document, |document| {
        document.written.iter().map(|path| format!("wrote {path}\n")).collect()
    })
}
