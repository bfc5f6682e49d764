//! Any model, and random bond graphs with slips in their text: flattening and
//! causality never panic, and every answer can be given.

#![no_main]

use paynter::json::Naming;
use paynter::{CancellationToken, LoadOptions, MemoryWorld, Model, Plain};

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let world = MemoryWorld::new().with("model.bg", paynter_testkit::fuzzed(data));
    let model = Model::load(&world, "model.bg", &LoadOptions::default());
    let token = CancellationToken::new();
    let check = model.check(&token).expect("nobody cancels").document(&Plain);
    let findings = model.findings(&token).expect("nobody cancels");
    assert_eq!(check.ok, !findings.has_errors());
    // What is accepted has a causality.
    let causality = model.causality(&token).map(|found| found.document(Naming::Flat, &Plain));
    assert!(causality.is_ok() || !check.ok);
});
