//! Any model, and random bond graphs with slips in their text: flattening and
//! causality never panic, and every answer can be given.

#![no_main]

use paynter::json::Naming;
use paynter::{LoadOptions, MemoryWorld, Model};

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let world = MemoryWorld::new().with("model.bg", paynter_testkit::fuzzed(data));
    let model = Model::load(&world, "model.bg", &LoadOptions::default());
    let check = model.check();
    assert_eq!(check.ok, !model.diagnostics.has_errors());
    // What is accepted has a causality.
    assert!(model.causality(Naming::Flat).is_some() || !check.ok);
});
