//! Every diagnostic of this stage as a user reads it: one small wrong model a
//! file in `tests/wrong`, named after the code it is about, and one table of
//! what is said about them.

#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use std::collections::BTreeSet;
use std::fmt::Write as _;

use common::check;
use paynter_base::code;

/// The wrong models by name.
fn models() -> Vec<(String, String)> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/wrong");
    let paths = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut models: Vec<(String, String)> = paths
        .map(|path| {
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            (name, std::fs::read_to_string(path).unwrap())
        })
        .collect();
    models.sort();
    models
}

#[test]
fn each_mistake_is_told_with_its_place_and_remedy() {
    let mut table = String::new();
    for (name, text) in models() {
        let found = check(&text);
        writeln!(table, "{name}").unwrap();
        for diagnostic in found.diagnostics.iter() {
            let span = diagnostic.span.unwrap();
            let place = found.sources.get(span.file).unwrap().line_column(span.start);
            let code = diagnostic.code.id();
            writeln!(table, "  {code} {}:{} {}", place.line, place.column, diagnostic.message).unwrap();
            writeln!(table, "         {}", diagnostic.help).unwrap();
        }
        let about = format!("BG{}", name.split('_').next().unwrap());
        assert!(found.codes().contains(&about.as_str()), "{name}: {:#?}", found.findings());
    }
    insta::assert_snapshot!(table);
}

#[test]
fn every_code_of_this_stage_has_a_wrong_model() {
    let shown: BTreeSet<String> =
        models().iter().map(|(name, _)| format!("BG{}", name.split('_').next().unwrap())).collect();
    // Imports fail where files are read; a path is asked for when a graph is drawn.
    let elsewhere = ["BG0208", "BG0209", "BG0510"];
    for code in code::ALL.iter().map(|code| code.id()) {
        let here = ("BG0201".."BG0600").contains(&code) && !elsewhere.contains(&code);
        assert!(!here || shown.contains(code), "{code} has no model in tests/wrong");
    }
}
