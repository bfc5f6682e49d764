//! What a person reads about a badly broken file, and every text that once
//! crashed the parser or the layout.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fmt::Write;

use paynter_base::{FileId, Source};
use paynter_language::{format, parse};

/// The diagnostics as a list for people.
fn report(text: &str) -> String {
    let source = Source::new("broken.bg", text);
    let mut out = String::new();
    for diagnostic in parse(text, FileId(0)).diagnostics.iter() {
        let place = source.line_column(diagnostic.span.unwrap().start);
        let (code, message, help) = (diagnostic.code.id(), &diagnostic.message, &diagnostic.help);
        writeln!(out, "{}:{} {code} {message}\n    {help}", place.line, place.column).unwrap();
    }
    out
}

#[test]
fn a_badly_broken_file() {
    let text = include_str!("broken.bg");
    insta::assert_snapshot!(report(text));
    assert_eq!(parse(text, FileId(0)).tree().to_string(), text);
}

#[test]
fn crashes_are_mended() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/crashes");
    let mut count = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let bytes = std::fs::read(&path).unwrap();
        let text = String::from_utf8_lossy(&bytes);
        assert_eq!(parse(&text, FileId(0)).tree().to_string(), text, "{}", path.display());
        if let Ok(formatted) = format(&text) {
            assert_eq!(format(&formatted).as_ref(), Ok(&formatted), "{}", path.display());
        }
        count += 1;
    }
    assert!(count > 0);
}
