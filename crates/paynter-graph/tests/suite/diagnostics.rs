//! Every wrong model of `tests/wrong` through this stage: what is found is
//! announced, and what is announced with a code of this stage is found.

#![allow(clippy::unwrap_used, clippy::panic)]

use crate::common;

use common::check_world;
use paynter_base::{MemoryWorld, code};
use paynter_testkit::wrong::{self, findings};
use std::collections::BTreeSet;

/// What other mistakes may cause: a bond or a name that could not be read is missing elsewhere. Such findings
/// are left out before anybody reads them, so they are not announced.
const CONSEQUENCES: &[&str] = &["BG0206", "BG0214", "BG0401", "BG0402", "BG0405"];

/// Models that only their equations give away.
const SOUND_GRAPHS: &[&str] = &[
    "0411_contradictory_initial_states.bg",
    "0508_contradictory_laws.bg",
    "0508_dependent_storages_cancel.bg",
    "0508_field_not_invertible.bg",
];

#[test]
fn each_mistake_is_told_with_its_place_and_remedy() {
    let models = wrong::models().unwrap();
    let world = || models.iter().fold(MemoryWorld::new(), |world, it| world.with(&it.name, it.text.clone()));
    let mut complaints = Vec::new();
    for model in models.iter().filter(|it| !SOUND_GRAPHS.contains(&it.name.as_str())) {
        let found = check_world(world(), &model.name, &[]);
        let mut found = findings(&found.diagnostics, &found.sources);
        complaints.extend(model.missing(&found, |code| code < "BG0600"));
        // A text that cannot be read in full leaves nothing certain.
        if !model.announced.iter().any(|it| it.code.as_str() < "BG0200") {
            found.retain(|it| !CONSEQUENCES.contains(&it.code.as_str()));
            complaints.extend(model.unannounced(&found));
        }
    }
    assert!(complaints.is_empty(), "\n{}\n", complaints.join("\n"));
}

#[test]
fn every_code_of_this_stage_has_a_wrong_model() {
    let shown: BTreeSet<String> = wrong::models().unwrap().iter().map(wrong::WrongModel::code).collect();
    // A path is asked for when a graph is drawn.
    let elsewhere = ["BG0510"];
    for code in code::ALL.iter().map(|code| code.id()) {
        let here = ("BG0201".."BG0600").contains(&code) && !elsewhere.contains(&code);
        assert!(!here || shown.contains(code), "{code} has no model in tests/wrong");
    }
}
