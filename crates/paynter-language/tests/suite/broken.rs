//! Every wrong model of `tests/wrong` through the parser, and every text that
//! once crashed the parser or the layout.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use paynter_base::{FileId, Source, SourceMap};
use paynter_language::{format, parse};
use paynter_testkit::wrong::{self, findings};

#[test]
fn wrong_models_keep_their_text_and_get_their_findings() {
    let mut complaints = Vec::new();
    for model in wrong::models().unwrap() {
        let mut sources = SourceMap::default();
        let file = sources.add(Source::new(&model.name, &model.text));
        let parsed = parse(&model.text, file);
        assert_eq!(parsed.tree().to_string(), model.text, "{}", model.name);
        let found = findings(&parsed.diagnostics, &sources);
        complaints.extend(model.unannounced(&found));
        complaints.extend(model.missing(&found, |code| code < "BG0105"));
    }
    assert!(complaints.is_empty(), "\n{}\n", complaints.join("\n"));
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
