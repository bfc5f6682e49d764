//! Any model: flattening and causality never panic, and every answer can be given.

#![no_main]

use paynter::{LoadOptions, MemoryWorld, Model};

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let world = MemoryWorld::new().with("model.bg", data);
    let model = Model::load(&world, "model.bg", &LoadOptions::default());
    let check = model.check();
    assert_eq!(check.ok, !model.diagnostics.has_errors());
    if let Some(causality) = model.causality() {
        let decided = causality.bonds.iter().all(|bond| bond.effort_into.is_some());
        assert!(decided || !check.ok, "a sound model with an undecided bond");
    }
});
