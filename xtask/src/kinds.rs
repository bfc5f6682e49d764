//! Checks that a kind of element stands in one place: no pass names a kind, it goes by what
//! `paynter-graph/src/kind` says. The syntax has the words, and the test kit's oracles know the kinds by
//! themselves on purpose. Junctions are structure, which every pass may name.

use crate::sources::{crates, sources};
use std::path::PathBuf;

/// Folders whose files name kinds.
const HOMES: &[&str] = &["paynter-graph/src/kind", "paynter-language/src", "paynter-testkit/src"];

/// The kinds that no pass names.
const KINDS: &[&str] = &["Se", "Sf", "R", "C", "I", "Tf", "Gy", "De", "Df", "Sw", "Rs"];

/// Whether a line names a kind.
fn names_kind(line: &str) -> bool {
    line.match_indices("Kind::").any(|(at, start)| {
        let before = line[..at].chars().next_back();
        let rest = &line[at + start.len()..];
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        KINDS.contains(&&rest[..end]) && !before.is_some_and(|c| c.is_alphanumeric() || c == '_')
    })
}

#[test]
fn no_pass_names_a_kind_of_element() {
    let homes: Vec<PathBuf> = HOMES.iter().map(|home| crates().join(home)).collect();
    let (at_home, passes): (Vec<PathBuf>, Vec<PathBuf>) =
        sources(&[]).into_iter().partition(|file| homes.iter().any(|home| file.starts_with(home)));
    let named = |file: &PathBuf| -> Vec<String> {
        let text = std::fs::read_to_string(file).unwrap();
        let lines = text.lines().enumerate().filter(|(_, line)| names_kind(line));
        lines.map(|(number, line)| format!("{}:{}: {}", file.display(), number + 1, line.trim())).collect()
    };
    assert!(at_home.iter().any(|file| !named(file).is_empty()), "no kind is found at home");
    let found: Vec<String> = passes.iter().flat_map(named).collect();
    assert!(found.is_empty(), "go by the class of the element or add to its kind:\n{}", found.join("\n"));
}

#[test]
fn kinds_are_told_from_other_names() {
    assert!(names_kind("if kind == Kind::Sw {") && names_kind("ast::Kind::R,"));
    assert!(
        !names_kind("Kind::Zero | Kind::One")
            && !names_kind("NodeKind::Signal")
            && !names_kind("SyntaxKind::R")
    );
}
