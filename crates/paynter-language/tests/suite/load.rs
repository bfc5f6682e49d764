//! Reading files: imports, cycles, paths, and bytes that are no text.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use paynter_base::MemoryWorld;
use paynter_language::{Loaded, load};

fn codes(loaded: &Loaded) -> Vec<&'static str> {
    loaded.diagnostics.iter().map(|d| d.code.id()).collect()
}

fn message(loaded: &Loaded) -> &str {
    &loaded.diagnostics.iter().next().unwrap().message
}

/// Loads one file of these bytes.
fn alone(bytes: &[u8]) -> Loaded {
    load(&MemoryWorld::new().with("m.bg", bytes), "m.bg")
}

const CELL: &str = "model cell { R r = 1 }\n";

#[test]
fn imports_are_read_once_and_in_order() {
    let world = MemoryWorld::new()
        .with("main.bg", "import \"lib/a.bg\"\nimport \"b.bg\"\nmodel m { R r = 1 }\n")
        .with("lib/a.bg", format!("import \"../b.bg\"\nimport \"c.bg\"\n{CELL}"))
        .with("lib/c.bg", CELL)
        .with("b.bg", CELL);
    let loaded = load(&world, "main.bg");
    assert!(loaded.diagnostics.is_empty(), "{:?}", loaded.diagnostics);
    let paths: Vec<_> = loaded.sources.iter().map(|(_, source)| source.path.as_str()).collect();
    assert_eq!(paths, ["main.bg", "lib/a.bg", "b.bg", "lib/c.bg"]);
    let files: Vec<_> = loaded.files.iter().map(|(id, _)| id.0).collect();
    assert_eq!(files, [0, 1, 2, 3]);
}

#[test]
fn cycles_are_named() {
    let world = MemoryWorld::new()
        .with("a.bg", format!("import \"b.bg\"\n{CELL}"))
        .with("b.bg", "import \"c.bg\"\n")
        .with("c.bg", "import \"b.bg\"\n");
    let loaded = load(&world, "a.bg");
    assert_eq!(codes(&loaded), ["BG0209"]);
    assert_eq!(message(&loaded), "imports in a cycle: b.bg -> c.bg -> b.bg");
    let loaded = alone(format!("import \"m.bg\"\n{CELL}").as_bytes());
    assert_eq!(codes(&loaded), ["BG0209"]);
    assert_eq!(message(&loaded), "`m.bg` imports itself");
}

#[test]
fn a_file_reached_twice_is_no_cycle() {
    let world = MemoryWorld::new()
        .with("a.bg", format!("import \"b.bg\"\nimport \"c.bg\"\n{CELL}"))
        .with("b.bg", "import \"d.bg\"\n")
        .with("c.bg", "import \"d.bg\"\n")
        .with("d.bg", CELL);
    assert!(load(&world, "a.bg").diagnostics.is_empty());
}

#[test]
fn imports_that_fail() {
    for (import, code) in [
        ("none.bg", "BG0208"),
        ("", "BG0208"),
        ("../up.bg", "BG0210"),
        ("/etc/passwd", "BG0210"),
        ("C:\\\\m.bg", "BG0210"),
    ] {
        let loaded = alone(format!("import \"{import}\"\n{CELL}").as_bytes());
        assert_eq!(codes(&loaded), [code], "{import}");
        let span = loaded.diagnostics.iter().next().unwrap().span.unwrap();
        assert_eq!(loaded.sources.snippet(span), format!("import \"{import}\""));
    }
}

#[test]
fn mistakes_in_imported_files_are_found_in_their_place() {
    let world = MemoryWorld::new()
        .with("a.bg", format!("import \"b.bg\"\n{CELL}"))
        .with("b.bg", "model b {\n R r =\n}\n");
    let loaded = load(&world, "a.bg");
    assert_eq!(codes(&loaded), ["BG0101"]);
    let span = loaded.diagnostics.iter().next().unwrap().span.unwrap();
    let source = loaded.sources.get(span.file).unwrap();
    assert_eq!((source.path.as_str(), source.line_column(span.start).line), ("b.bg", 2));
}

#[test]
fn files_that_are_no_text() {
    for (bytes, place, offset) in [
        (&b"\x7FELF\x02\x01\x01\0\0\0"[..], (1, 8), "offset 7"),
        (b"model m {\n R r = 1 \xB110%\n}\n", (2, 10), "offset 19"),
        (b"\xFF\xFEm\0o\0", (1, 1), "byte 0"),
        (b"a\0b", (1, 2), "offset 1"),
    ] {
        let loaded = alone(bytes);
        assert_eq!(codes(&loaded), ["BG0107"]);
        assert!(message(&loaded).contains(offset), "{}", message(&loaded));
        let span = loaded.diagnostics.iter().next().unwrap().span.unwrap();
        let found = loaded.sources.get(span.file).unwrap().line_column(span.start);
        assert_eq!((found.line, found.column), place);
    }
}

#[test]
fn files_without_a_model() {
    for text in ["", "\n\n", "// nothing\n", "\u{FEFF}"] {
        assert_eq!(codes(&alone(text.as_bytes())), ["BG0109"], "{text:?}");
    }
    // A mistake explains the missing model well enough.
    assert_eq!(codes(&alone(b"R r = 1\n")), ["BG0215"]);
}

#[test]
fn files_too_large_or_missing() {
    let loaded = alone(&vec![b' '; 16_000_001]);
    assert_eq!(codes(&loaded), ["BG0106"]);
    let loaded = load(&MemoryWorld::new(), "none.bg");
    assert_eq!(codes(&loaded), ["BG0901"]);
    let world = MemoryWorld::new()
        .with("a.bg", format!("import \"b.bg\"\n{CELL}"))
        .with("b.bg", vec![b' '; 16_000_001]);
    assert_eq!(codes(&load(&world, "a.bg")), ["BG0106"]);
}

#[test]
fn a_byte_order_mark_is_skipped() {
    let loaded = alone("\u{FEFF}model m { R r = 1 }".as_bytes());
    assert!(loaded.diagnostics.is_empty());
    assert_eq!(loaded.files[0].1.models[0].name.span.start, 6);
}
