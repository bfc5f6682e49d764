//! Runs the models in the handbook, the pages of `paynter explain` and the
//! built-in examples, so that what people copy works.
//!
//! A fenced block ` ```bg ` is a model without errors. On a diagnostic's page
//! it shows that diagnostic instead, and ` ```bg,mended ` is its remedy.
//! `fails=CODE` announces an error elsewhere, and `file=NAME` a file that the
//! block before it imports.
#![allow(clippy::panic, clippy::unwrap_used)]

use crate::common;

use common::findings;
use paynter::simulate::SimulateOptions;
use paynter::{
    CancellationToken, Code, LoadOptions, MemoryWorld, Model, Plain, code, examples, explain, format,
};
use std::path::{Path, PathBuf};

/// A model of a page, with the files it imports.
struct Block {
    /// The page and the line it begins on.
    place: String,
    mended: bool,
    fails: Option<String>,
    text: String,
    files: Vec<(String, String)>,
    /// The time until which the page simulates it first, in seconds.
    end: Option<f64>,
}

impl Block {
    fn load(&self) -> Model {
        let mut world = MemoryWorld::new().with("model.bg", self.text.as_str());
        for (name, text) in &self.files {
            world = world.with(name, text.as_str());
        }
        Model::load(&world, "model.bg", &LoadOptions::default())
    }
}

/// The models among the fenced blocks of a page.
fn blocks(page: &str, text: &str) -> Vec<Block> {
    let mut found: Vec<Block> = Vec::new();
    let mut lines = text.lines().enumerate();
    while let Some((number, line)) = lines.next() {
        let Some(info) = line.strip_prefix("```") else { continue };
        let body: String = lines
            .by_ref()
            .map(|(_, line)| line)
            .take_while(|line| !line.starts_with("```"))
            .flat_map(|line| [line, "\n"])
            .collect();
        let mut words = info.split(',');
        if words.next() != Some("bg") {
            if let (Some(block), Some((_, said))) = (found.last_mut(), body.split_once("--t-end ")) {
                let number = said.split_whitespace().next().unwrap();
                block.end = block.end.or(number.parse().ok());
            }
            continue;
        }
        let mut block = Block {
            place: format!("{page}:{}", number + 1),
            mended: false,
            fails: None,
            text: body,
            files: Vec::new(),
            end: None,
        };
        let mut file = None;
        for word in words {
            match word.split_once('=') {
                Some(("file", name)) => file = Some(name.to_owned()),
                Some(("fails", code)) => block.fails = Some(code.to_owned()),
                None if word == "mended" => block.mended = true,
                _ => panic!("{}: `{word}` means nothing here", block.place),
            }
        }
        match file {
            None => found.push(block),
            Some(name) => {
                let Some(owner) = found.last_mut() else { panic!("{}: no model before", block.place) };
                owner.files.push((name, block.text));
            }
        }
    }
    found
}

/// What a model's diagnostics say, one a line.
fn said(model: &Model) -> String {
    findings(model).iter().map(|d| format!("  {} {:?} {}\n", d.code.id(), d.severity, d.message)).collect()
}

fn assert_no_errors(model: &Model, place: &str) {
    assert!(!findings(model).has_errors(), "{place} has errors:\n{}", said(model));
}

fn assert_shows(model: &Model, code: Code, place: &str) {
    let found = findings(model);
    let shown = found.iter().any(|d| d.code == code);
    let alone = found.iter().all(|d| !d.is_error() || d.code == code);
    assert!(shown && alone, "{place} should show {} alone, but says:\n{}", code.id(), said(model));
}

fn handbook() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/src")
}

#[test]
fn every_model_in_the_handbook_runs() {
    let mut count = 0;
    let mut pages: Vec<PathBuf> =
        std::fs::read_dir(handbook()).unwrap().map(|entry| entry.unwrap().path()).collect();
    pages.retain(|path| path.extension().is_some_and(|extension| extension == "md"));
    pages.sort();
    for path in pages {
        let page = path.file_name().unwrap().to_string_lossy().into_owned();
        for block in blocks(&page, &std::fs::read_to_string(&path).unwrap()) {
            let model = block.load();
            match &block.fails {
                None => assert_no_errors(&model, &block.place),
                Some(id) => assert_shows(&model, Code::find(id).unwrap(), &block.place),
            }
            count += 1;
        }
    }
    assert!(count > 25, "only {count} models found");
}

#[test]
fn every_diagnostic_has_a_page_that_shows_it_and_its_remedy() {
    for code in code::ALL {
        let id = code.id();
        let page = explain(id, &Plain).unwrap().page;
        assert!(page.starts_with(&format!("# {id}: {}\n", code.title())), "{id} has no page of its title");
        assert!(page.contains("\n## Example\n") && page.contains("\n## Remedy\n"), "{id} lacks a part");
        // No model is known that leads to a contradiction.
        if *code == code::CONTRADICTION {
            continue;
        }
        let blocks = blocks(id, &page);
        if blocks.is_empty() {
            assert_eq!(page.matches("\n```sh\n").count(), 2, "{id} needs a shell example and its remedy");
            continue;
        }
        assert_eq!(blocks.iter().map(|block| block.mended).collect::<Vec<_>>(), [false, true], "{id}");
        assert_shows(&blocks[0].load(), *code, &blocks[0].place);
        let mended = blocks[1].load();
        assert_no_errors(&mended, &blocks[1].place);
        let still = findings(&mended).iter().any(|d| d.code == *code);
        assert!(!still, "{} still shows it:\n{}", blocks[1].place, said(&mended));
    }
}

/// What no page can hold: a text too deep, too large, or no text at all.
#[test]
fn files_that_are_no_models_are_refused() {
    let deep = format!("model m {{ param a = {}1{} }}", "(".repeat(300), ")".repeat(300));
    let cases: [(Code, Vec<u8>); 3] = [
        (code::TOO_DEEP, deep.into_bytes()),
        (code::TOO_LARGE, vec![b'/'; 20_000_000]),
        (code::NOT_TEXT, b"model \xff\xfe".to_vec()),
    ];
    for (code, content) in cases {
        let world = MemoryWorld::new().with("model.bg", content);
        assert_shows(&Model::load(&world, "model.bg", &LoadOptions::default()), code, code.title());
    }
}

#[test]
fn every_example_is_sound_and_laid_out() {
    for example in examples::all() {
        let model = common::load(example.text);
        assert_no_errors(&model, example.name);
        assert!(model.causality(&CancellationToken::new()).is_ok(), "{} has no causality", example.name);
        let laid_out = format("model.bg", example.text.as_bytes());
        assert_eq!(laid_out.text, example.text, "{} is not laid out", example.name);
    }
}

#[test]
fn lists_in_the_handbook_are_complete() {
    let gallery = std::fs::read_to_string(handbook().join("examples.md")).unwrap();
    for example in examples::all() {
        assert!(gallery.contains(&format!("`{}`", example.name)), "examples.md lacks {}", example.name);
    }
    let index = std::fs::read_to_string(handbook().join("diagnostics.md")).unwrap();
    for code in code::ALL {
        let severity = format!("{:?}", code.severity()).to_lowercase();
        let row = format!("| [{0}](diagnostics/{0}.md) | {severity} | {1} |", code.id(), code.title());
        assert!(index.contains(&row), "diagnostics.md lacks {row}");
    }
}

/// Every model of the pages and every example is simulated, as long as its page does or for ten seconds, and samples of
/// the run are put into the equations of the graph.
#[test]
fn every_model_that_people_copy_is_simulated() {
    let mut models: Vec<(String, Option<f64>, Model)> = Vec::new();
    for entry in std::fs::read_dir(handbook()).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "md") {
            let page = path.file_name().unwrap().to_string_lossy().into_owned();
            let found = blocks(&page, &std::fs::read_to_string(&path).unwrap());
            let sound = found.into_iter().filter(|block| block.fails.is_none());
            models.extend(sound.map(|block| (block.place.clone(), block.end, block.load())));
        }
    }
    models.extend(examples::all().map(|e| (e.name.to_owned(), None, common::load(e.text))));
    assert!(models.len() > 60, "only {} models", models.len());
    for (place, end, model) in models {
        let options = SimulateOptions { t_end: end.or(Some(10.0)), points: 4, ..SimulateOptions::default() };
        let simulation = model.simulation(&options, &CancellationToken::new());
        let simulation = simulation.unwrap_or_else(|error| panic!("{place}: {error:?}"));
        let (response, outcome) = simulation.respond(&simulation.parameters, &CancellationToken::new());
        assert_eq!(outcome.failure, None, "{place}");
        assert!(response.outputs.iter().flatten().all(|y| y.is_finite()), "{place}");
        let checked = simulation.check_run(&outcome);
        assert!(checked.is_ok(), "{place}: {checked:?}");
    }
}
