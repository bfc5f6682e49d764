//! Models with mistakes, one file each in `tests/bad`. The first lines say
//! what must be found: `//! BG0401 at 7:5: words` means a finding with this
//! code at this line and column whose message or help holds these words.
//! Errors that are not announced fail the test, so that one mistake gives one
//! error; warnings and notes may stay unannounced.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod common;

use serde_json::Value;
use std::path::Path;

/// What a model file announces.
struct Expected {
    code: String,
    line: u64,
    column: u64,
    words: String,
}

fn expectations(text: &str) -> Vec<Expected> {
    let lines = text.lines().map_while(|line| line.strip_prefix("//!"));
    lines
        .map(|line| expectation(line.trim()).unwrap_or_else(|| panic!("unreadable expectation `{line}`")))
        .collect()
}

fn expectation(line: &str) -> Option<Expected> {
    let (head, words) = line.split_once(": ").unwrap_or((line, ""));
    let (code, place) = head.split_once(" at ")?;
    let (line, column) = place.split_once(':')?;
    Some(Expected {
        code: code.to_owned(),
        line: line.parse().ok()?,
        column: column.parse().ok()?,
        words: words.to_owned(),
    })
}

/// Whether a finding is the one that was announced.
fn matches(expected: &Expected, found: &Value) -> bool {
    found["code"] == expected.code.as_str()
        && found["line"] == expected.line
        && found["column"] == expected.column
        && (found["message"].as_str().unwrap().contains(&expected.words)
            || found["help"].as_str().unwrap().contains(&expected.words))
}

/// A finding in the form of an expectation.
fn shown(found: &Value) -> String {
    let text = |key: &str| found[key].as_str().unwrap_or("?").to_owned();
    let (line, column) = (&found["line"], &found["column"]);
    format!("{} at {line}:{column}: {} | {}", text("code"), text("message"), text("help"))
}

#[test]
fn every_bad_model_gets_its_diagnostics() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bad");
    let mut names: Vec<String> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with(".bg"))
        .collect();
    names.sort();
    assert!(names.len() > 30, "only {} bad models", names.len());
    let mut complaints = Vec::new();
    for name in names {
        let text = std::fs::read_to_string(folder.join(&name)).unwrap();
        let expected = expectations(&text);
        assert!(!expected.is_empty(), "{name} announces nothing");
        let run = common::paynter(&folder, &["check", "--json", &name]);
        let document = run.json();
        common::schema::assert_fits("check", &document);
        assert!(run.stderr.is_empty(), "{name}: {}", run.stderr);
        let found = document["diagnostics"].as_array().unwrap();
        let errors = expected.iter().any(|e| found.iter().any(|f| matches(e, f) && f["severity"] == "error"));
        if run.code != Some(i32::from(errors)) || document["ok"] == errors {
            complaints.push(format!("{name}: exit code {:?}, ok {}", run.code, document["ok"]));
        }
        for e in expected.iter().filter(|e| !found.iter().any(|f| matches(e, f))) {
            complaints.push(format!("{name}: missing {} at {}:{}: {}", e.code, e.line, e.column, e.words));
        }
        for f in found.iter().filter(|f| f["severity"] == "error" && !expected.iter().any(|e| matches(e, f)))
        {
            complaints.push(format!("{name}: unannounced {}", shown(f)));
        }
        for f in found {
            if f["help"].as_str().is_none_or(str::is_empty) {
                complaints.push(format!("{name}: no help with {}", shown(f)));
            }
        }
    }
    assert!(complaints.is_empty(), "\n{}\n", complaints.join("\n"));
}
