//! Any bytes: loading never panics, printing the tree gives the text back,
//! places lie in the text, and the layout is stable and keeps the meaning.

#![no_main]

use paynter_base::FileId;
use paynter_language::{parse, parse_syntax};

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    if let Ok(text) = std::str::from_utf8(data) {
        check_tree(text);
    }
    let once = paynter::format("model.bg", data);
    if once.diagnostics.has_errors() {
        return;
    }
    let twice = paynter::format("model.bg", once.text.as_bytes());
    assert!(!twice.diagnostics.has_errors(), "the formatter broke the text");
    assert_eq!(once.text, twice.text, "the formatter is not idempotent");
    if let Ok(text) = std::str::from_utf8(data) {
        assert_eq!(meaning(text), meaning(&once.text), "the formatter changed the meaning");
    }
});

fn check_tree(text: &str) {
    let parsed = parse(text, FileId(0));
    assert_eq!(parsed.tree().to_string(), text);
    let (file, diagnostics) = parse_syntax(text, FileId(0));
    assert_eq!(file, parsed.file);
    assert_eq!(diagnostics, parsed.diagnostics);
    for diagnostic in parsed.diagnostics.iter() {
        let span = diagnostic.span.expect("every mistake in a text has a place");
        assert!(text.get(span.start as usize..span.end as usize).is_some(), "{diagnostic:?}");
        assert!(!diagnostic.message.is_empty() && !diagnostic.help.to_string().is_empty());
    }
}

/// The syntax without its places.
fn meaning(text: &str) -> String {
    let debug = format!("{:?}", parse_syntax(text, FileId(0)).0);
    let mut plain = String::new();
    let mut rest = debug.as_str();
    while let Some(start) = rest.find("Span {") {
        plain.push_str(&rest[..start]);
        rest = &rest[start..];
        rest = rest.find('}').map_or("", |end| &rest[end + 1..]);
    }
    plain + rest
}
