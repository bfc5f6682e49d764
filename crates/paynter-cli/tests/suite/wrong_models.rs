//! Every wrong model of `tests/wrong` through `paynter check`: exactly the
//! announced findings, each with a help, and the exit code of their severity.
//! `UPDATE=1` announces what is found; read the difference before it is committed.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use crate::common;

use paynter_testkit::wrong::{self, Finding};
use serde_json::Value;

/// A finding of the JSON document.
fn finding(found: &Value) -> Finding {
    let text = |key: &str| found[key].as_str().unwrap_or_default().to_owned();
    let number = |key: &str| found[key].as_u64().unwrap_or_default() as usize;
    Finding {
        code: text("code"),
        line: number("line"),
        column: number("column"),
        message: text("message"),
        help: text("help"),
    }
}

#[test]
fn every_wrong_model_gets_its_findings() {
    let folder = wrong::folder();
    let mut complaints = Vec::new();
    for model in wrong::models().unwrap() {
        let name = &model.name;
        let run = common::paynter(&folder, &["check", "--json", name]);
        let document = run.json();
        common::schema::assert_fits("check", &document);
        assert!(run.stderr.is_empty(), "{name}: {}", run.stderr);
        let diagnostics = document["diagnostics"].as_array().unwrap();
        let errors = diagnostics.iter().any(|found| found["severity"] == "error");
        if run.code != Some(i32::from(errors)) || document["ok"] == errors {
            complaints.push(format!("{name}: exit code {:?}, ok {}", run.code, document["ok"]));
        }
        let found: Vec<Finding> = diagnostics.iter().map(finding).collect();
        complaints.extend(found.iter().filter(|it| it.help.is_empty()).map(|it| format!("no help: {it}")));
        if !found.iter().any(|it| it.code == model.code()) {
            complaints.push(format!("{name}: nothing is found with the code in its name"));
        }
        if std::env::var_os("UPDATE").is_some() {
            std::fs::write(folder.join(name), model.announcing(&found)).unwrap();
        } else {
            complaints.extend(model.missing(&found, |_| true));
            complaints.extend(model.unannounced(&found));
            assert!(!complaints.is_empty() || found == model.announced, "{name}: another order");
        }
    }
    assert!(complaints.is_empty(), "\n{}\n", complaints.join("\n"));
}
