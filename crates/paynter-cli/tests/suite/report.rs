//! The report of every example: complete, well-formed, and without a network.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use crate::common;

use common::schema::assert_fits;
use common::{folder, paynter};
use roxmltree::{Document, Node, ParsingOptions};

/// The anchors that every report has, in the order of reading.
const SECTIONS: &[&str] = &[
    "drawing",
    "model",
    "causality",
    "equations",
    "operating-point",
    "matrices",
    "transfer",
    "poles",
    "structure",
    "bode",
    "sensitivity",
    "interconnection",
    "robustness",
    "simulation",
    "time-sensitivity",
    "energy",
    "findings",
];

/// Reads a page; HTML that is well-formed XML is read the same by every program.
fn parsed(page: &str) -> Document<'_> {
    let options = ParsingOptions { allow_dtd: true, ..ParsingOptions::default() };
    Document::parse_with_options(page, options).unwrap_or_else(|error| panic!("{error}"))
}

fn check(name: &str, page: &str) {
    check_sections(name, page, SECTIONS);
}

fn check_sections(name: &str, page: &str, wanted: &[&str]) {
    let document = parsed(page);
    let all = || document.descendants().filter(Node::is_element);
    let sections: Vec<&str> = all()
        .filter(|node| node.has_tag_name("section") || node.tag_name().name() == "section")
        .filter_map(|node| node.attribute("id"))
        .collect();
    assert_eq!(sections, wanted, "{name}");
    let mut ids: Vec<&str> = all().filter_map(|node| node.attribute("id")).collect();
    let count = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), count, "{name}: an anchor twice");
    for node in all() {
        let tag = node.tag_name().name();
        assert!(!["script", "link", "iframe", "img"].contains(&tag), "{name}: {tag}");
        // Only anchors on the page itself, and no picture from elsewhere.
        let target = node.attribute("href").unwrap_or("#");
        assert!(target.starts_with('#') && ids.contains(&&target[1..]) || target == "#", "{name}: {target}");
        if tag == "svg" {
            let title = node.children().find(|child| child.tag_name().name() == "title");
            assert!(title.is_some_and(|title| title.text().is_some()), "{name}: a picture without words");
        }
        if tag == "section" {
            let blocks = node.children().filter(Node::is_element).count();
            assert!(blocks >= 2, "{name}: an empty section {:?}", node.attribute("id"));
        }
    }
    let outside = page.replace("http://www.w3.org/", "");
    assert!(!outside.contains("http://") && !outside.contains("https://"), "{name}: the page reaches out");
    assert!(!page.contains("NaN"), "{name}: a number that is none");
}

#[test]
fn every_example_has_a_report() {
    let folder = folder("reports");
    assert_eq!(paynter(&folder, &["examples", "--write", "."]).code, Some(0));
    let list = paynter(&folder, &["examples", "--json"]).json();
    for entry in list["examples"].as_array().unwrap() {
        let name = entry["name"].as_str().unwrap();
        let run = paynter(&folder, &["report", &format!("{name}.bg"), "-o", "report.html", "--json"]);
        assert_eq!(run.code, Some(0), "{name}: {}", run.stdout);
        assert_fits("report", &run.json());
        check(name, &std::fs::read_to_string(folder.join("report.html")).unwrap());
    }
}

/// Measured data have a section with the paper's Figs 7 and 8; data that cannot be fitted say why.
#[test]
fn measured_data_have_a_section() {
    let folder = folder("estimated-report");
    let model = paynter(&folder, &["examples", "conical_tanks"]);
    std::fs::write(folder.join("tanks.bg"), model.stdout).unwrap();
    let data = paynter(&folder, &["simulate", "tanks.bg", "--points", "101"]);
    std::fs::write(folder.join("data.csv"), data.stdout).unwrap();
    let mut wanted = SECTIONS.to_vec();
    wanted.insert(SECTIONS.len() - 1, "estimation");
    let report = ["report", "tanks.bg", "--data", "data.csv"];
    let start = ["--start", "V1=2,V2=1,alpha=1,beta=2", "--fit", "V1,V2,alpha,beta"];
    let run = paynter(&folder, &[&report[..], &start[..]].concat());
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    check_sections("tanks", &run.stdout, &wanted);
    for words in
        ["iteration 0", "estimates by iteration", "autocorrelation", "Correlations", "4 of 4 directions"]
    {
        assert!(run.stdout.contains(words), "{words}");
    }
    let run = paynter(&folder, &[&report[..], &["--map", "y=z"]].concat());
    check_sections("no column", &run.stdout, &wanted);
    assert!(run.stdout.contains("There is no column"), "{}", run.stdout);
}

#[test]
fn a_model_with_errors_has_a_report_too() {
    let folder = folder("bad-report");
    for (name, text) in [
        ("unknown", "model m { Se a = 1; R b = c; a -> b }\n"),
        ("broken", "model m { Se a = (1 }\n"),
        ("empty", ""),
        ("hostile", "model m \"<script>&\" { param p = 1 \"]]> <b>\"; Se a = p; R b = 1; a -> b }\n"),
        ("no states", "model m { Se a = 1; R b = 1; a -> b; output y = b.f }\n"),
        (
            "no outputs",
            "model m { param k = 1; input u = 1; Se a = u; R b = k; C c = 1; 1 j; a -> j; j -> b, c }\n",
        ),
    ] {
        std::fs::write(folder.join("m.bg"), text).unwrap();
        let run = paynter(&folder, &["report", "m.bg"]);
        let sound = ["hostile", "no states", "no outputs"].contains(&name);
        assert_eq!(run.code, Some(if sound { 0 } else { 1 }), "{name}: {}", run.stderr);
        check(name, &run.stdout);
        let json = paynter(&folder, &["report", "m.bg", "--json"]);
        assert_fits("report", &json.json());
    }
    let run = paynter(&folder, &["report", "m.bg", "-o", "missing/report.html"]);
    assert_eq!(run.code, Some(1));
    assert!(run.stderr.contains("BG0902"), "{}", run.stderr);
}
