//! Models on which the words of an answer misled.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod common;

use common::paynter;
use std::path::Path;

/// What a command prints about a model of the folder of trials.
fn printed(arguments: &[&str]) -> String {
    let run = paynter(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/trials"), arguments);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    run.stdout
}

#[test]
fn each_measure_of_a_tolerance_is_named() {
    let text = printed(&["sensitivity", "wind2.bg", "--omega", "0.1:10:20"]);
    for words in ["LARGEST |ΔH/H|", "Δ|H|/|H|", "|H|, all tolerances together: ±"] {
        assert!(text.contains(words), "{words}\n{text}");
    }
}

#[test]
fn verification_says_what_was_compared() {
    let text = printed(&["sensitivity", "e1.bg", "--omega", "0.1:10:3", "--verify", "100"]);
    assert!(text.contains("100 samples within the tolerances: their |H| is compared"), "{text}");
    assert!(text.contains("|H| of samples leaves the worst-case band by up to"), "{text}");
}
