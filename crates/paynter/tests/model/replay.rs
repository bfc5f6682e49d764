//! Replays every input that once broke a fuzz target: the files of
//! `fuzz/crashes`, and the seeds that fuzzing starts from.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use crate::common;
#[path = "../../../../fuzz/properties.rs"]
mod properties;

use paynter::{CancellationToken, LoadOptions, MemoryWorld, Model, Plain};
use paynter_testkit::rng::Rng;
use paynter_testkit::{mutate, property};
use std::path::Path;

#[test]
fn nothing_breaks_again() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for folder in ["fuzz/crashes", "examples", "tests/wrong"] {
        let mut paths: Vec<_> =
            std::fs::read_dir(root.join(folder)).unwrap().map(|e| e.unwrap().path()).collect();
        paths.retain(|path| path.is_file());
        paths.sort();
        for path in paths {
            let bytes = paynter_testkit::fuzzed(&std::fs::read(&path).unwrap());
            let world = MemoryWorld::new().with("model.bg", bytes.clone());
            let model = Model::load(&world, "model.bg", &LoadOptions::default());
            let check = model.check(&CancellationToken::new()).unwrap().document(&Plain);
            assert_eq!(check.ok, !common::findings(&model).has_errors(), "{}", path.display());
            if let Ok(found) = model.causality(&CancellationToken::new()) {
                found.document(paynter::json::Naming::Flat, &Plain);
            }
            let once = paynter::format("model.bg", &bytes);
            if !once.diagnostics.has_errors() {
                let twice = paynter::format("model.bg", once.text.as_bytes());
                assert_eq!(once.text, twice.text, "the formatter is not idempotent on {}", path.display());
            }
        }
    }
}

/// The properties behind the graph, on what broke one of them and on some models that they hold for.
#[test]
fn properties_hold_of_what_broke_them() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let crashes = std::fs::read_dir(root.join("fuzz/crashes")).unwrap().map(|entry| entry.unwrap().path());
    let examples = ["rc", "half_wave_rectifier", "duffing", "two_tanks"];
    let mut paths: Vec<_> = crashes.collect();
    paths.extend(examples.map(|name| root.join(format!("examples/{name}.bg"))));
    paths.push(root.join("tests/oracles/requirements.txt"));
    for path in paths {
        let bytes = std::fs::read(&path).unwrap();
        for (name, property) in properties::PROPERTIES {
            println!("{name}: {}", path.display());
            property(&bytes);
        }
    }
    properties::data(b"t,u\n0,1\n1,2\n");
}

/// The same on models with slips in their text, examples and random ones: a little of what fuzzing searches for longer.
#[test]
fn properties_hold_of_models_with_slips() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut texts: Vec<String> = paynter::examples::all().map(|example| example.text.to_owned()).collect();
    let mut wrong: Vec<_> =
        std::fs::read_dir(root.join("tests/wrong")).unwrap().map(|entry| entry.unwrap().path()).collect();
    wrong.sort();
    texts.extend(wrong.iter().filter_map(|path| std::fs::read_to_string(path).ok()));
    for seed in property::seeds(10) {
        let mut rng = Rng::new(seed);
        let slips: Vec<u8> = (0..rng.within(2, 12)).map(|_| rng.bits() as u8).collect();
        let random = [&[0, rng.bits() as u8, rng.bits() as u8, rng.bits() as u8], slips.as_slice()].concat();
        let spoiled = mutate(&texts[rng.below(texts.len())], &slips).into_bytes();
        for (bytes, what) in [(spoiled, "an example"), (random, "a random model")] {
            for (name, property) in properties::PROPERTIES {
                println!("{name}: {what} of seed {seed}");
                property(&bytes);
            }
        }
    }
}
