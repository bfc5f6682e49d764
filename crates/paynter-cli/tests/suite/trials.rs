//! Models on which the words of an answer misled.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use crate::common;

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

#[test]
fn the_nearest_steady_state_is_taken_and_bogus_ones_are_not_listed() {
    let text = printed(&["operating-point", "op25.bg"]);
    assert!(text.contains("c0.q  -1.06") && text.contains("c1.q  1.33"), "{text}");
    let run = paynter(
        &Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/trials"),
        &["operating-point", "crane.bg"],
    );
    assert!(!run.stderr.contains("th = 1.5708"), "{}", run.stderr);
}

#[test]
fn zeros_are_not_named_where_the_input_does_not_show() {
    let text = printed(&["structure", "sym3.bg"]);
    assert_eq!(text.matches("the input does not show at the nominal values").count(), 2, "{text}");
}

#[test]
fn conserved_totals_are_told() {
    let text = printed(&["structure", "cyc.bg"]);
    assert!(text.contains("E.s.q + ES.s.q + EP.s.q  =  0.22"), "{text}");
}

/// A cycle of an enzyme keeps its amount: its static gains are those within it, and what is fed into an amount that
/// nothing takes from has none, which is said.
#[test]
fn static_gains_are_given_or_their_lack_is_said() {
    let text = printed(&["sensitivity", "cyc.bg"]);
    assert!(text.contains("Static gains at nominal values") || text.contains("No static gain"), "{text}");
    assert!(text.lines().count() < 1000 && text.contains("`--symbolic` prints them"), "{text}");
    let run = paynter(
        &Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/trials"),
        &["sensitivity", "glyco.bg", "--only", "k_PK"],
    );
    assert!(
        !run.stderr.contains("has no derivative"),
        "poles of moieties stay where they are: {}",
        run.stderr
    );
    assert!(run.stdout.contains("tatic gain"), "{}", run.stdout);
}

/// What would be too long to be written out is named, by every command and at once.
#[test]
fn chains_of_definitions_are_short_everywhere() {
    for arguments in [
        &["check"][..],
        &["causality"],
        &["simulate", "--points", "3"],
        &["equations"],
        &["equations", "--form", "latex"],
        &["tf"],
        &["tf", "--method", "mason"],
        &["operating-point"],
        &["poles"],
        &["structure"],
        &["sensitivity"],
        &["incremental"],
        &["draw"],
        &["draw", "--sfg"],
        &["report"],
        &["export", "--to", "python"],
        &["export", "--to", "latex"],
    ] {
        let started = std::time::Instant::now();
        let all: Vec<&str> = arguments.iter().copied().chain(["fold30.bg"]).collect();
        let text = printed(&all);
        assert!(text.len() < 1_000_000, "{arguments:?}: {} bytes", text.len());
        assert!(started.elapsed().as_secs() < 10, "{arguments:?}: {:?}", started.elapsed());
    }
}
