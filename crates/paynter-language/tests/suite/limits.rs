//! Deep, long and strange texts: nothing overflows, nothing is lost.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]

use paynter_base::FileId;
use paynter_language::parse;
use proptest::prelude::*;

/// Parses on the stack of a main thread and returns the codes of the diagnostics.
fn codes(text: String) -> Vec<&'static str> {
    let work = move || {
        let parse = parse(&text, FileId(0));
        assert!(parse.tree().to_string() == text);
        parse.diagnostics.iter().map(|d| d.code.id()).collect()
    };
    std::thread::Builder::new().stack_size(8 << 20).spawn(work).unwrap().join().unwrap()
}

const TOO_DEEP: &str = "BG0105";

#[test]
fn twenty_thousand_levels_are_refused_once() {
    let n = 20_000;
    let value = |text: String| format!("model m {{\nsignal x = {text}\nR last = 1\n}}\n");
    for text in [
        value(format!("{}1{}", "(".repeat(n), ")".repeat(n))),
        value(format!("{}1{}", "(\n".repeat(n), ")\n".repeat(n))),
        value(format!("{}x", "-".repeat(n))),
        value(format!("{}x", "not ".repeat(n))),
        value(format!("x{}", "^x".repeat(n))),
        value(format!("{}1{}", "sin(".repeat(n), ")".repeat(n))),
        value(format!("{}1{}", "a[".repeat(n), "].b".repeat(n))),
        value(format!("1 [{}m{}]", "(".repeat(n), ")".repeat(n))),
        value("(".repeat(n)),
        format!("model m {{\n{}{}}}\n", "for i in 1..2 {\n".repeat(n), "}\n".repeat(n)),
        format!("model m {{\n{}", "for i in 1..2 {\n".repeat(n)),
    ] {
        assert_eq!(codes(text.clone()), [TOO_DEEP], "{}", &text[..60]);
    }
    // Braces that belong to nothing are wrong, but not deep.
    assert_eq!(codes(format!("{}{}", "{".repeat(n), "}".repeat(n))).len(), 1);
    assert!(codes(format!("model m {{ R x {} }}", "{".repeat(n))).len() <= 2);
}

#[test]
fn the_limit_is_256() {
    let text = |n: usize| format!("model m {{\nsignal x = {}1{}\n}}\n", "(".repeat(n), ")".repeat(n));
    assert!(codes(text(255)).is_empty());
    assert_eq!(codes(text(256)), [TOO_DEEP]);
}

#[test]
fn mistakes_after_a_deep_statement_are_still_found() {
    let deep = format!("{}1{}", "(".repeat(300), ")".repeat(300));
    assert_eq!(codes(format!("model m {{\nsignal x = {deep}\nR y =\n}}\n")), [TOO_DEEP, "BG0101"]);
}

#[test]
fn high_expressions_are_refused_and_long_ones_are_not() {
    // Each level adds a product and a sum.
    let mut high = "x".to_owned();
    for _ in 0..250 {
        high = format!("(1 + 2*3/4*5/6*{high})");
    }
    assert_eq!(codes(format!("model m {{ signal x = {high} }}")), [TOO_DEEP]);
    assert!(codes(format!("model m {{ signal x = 1{} }}", " + x*y".repeat(50_000))).is_empty());
    assert!(codes(format!("model m {{ a -> b{} }}", ", c".repeat(50_000))).is_empty());
}

#[test]
fn rubbish_gives_a_limited_number_of_mistakes() {
    assert!(codes("@ $ ".repeat(10_000)).len() <= 1001);
    assert!(codes("R x =\n".repeat(10_000)).len() <= 1001);
}

#[test]
fn a_text_over_the_limit_is_refused() {
    let parse = parse(&" ".repeat(16_000_001), FileId(0));
    let codes: Vec<_> = parse.diagnostics.iter().map(|d| d.code.id()).collect();
    assert_eq!(codes, ["BG0106"]);
}

fn any_text() -> impl Strategy<Value = String> {
    prop_oneof![
        proptest::collection::vec(any::<u8>(), 0..200)
            .prop_map(|bytes| String::from_utf8_lossy(&bytes).into_owned()),
        ".{0,100}",
        proptest::collection::vec(proptest::sample::select(SOUP), 0..120).prop_map(|words| words.concat()),
        proptest::collection::vec(proptest::sample::select(SOUP), 0..60)
            .prop_map(|words| format!("model m {{\n{}\n}}\n", words.join(" "))),
    ]
}

const SOUP: &[&str] = &[
    "model",
    "import",
    "param",
    "input",
    "output",
    "signal",
    "init",
    "port",
    "use",
    "for",
    "prefer",
    "causality",
    "integral",
    "effort_into",
    "in",
    "as",
    "when",
    "and",
    "or",
    "not",
    "R",
    "C",
    "TF",
    "Se",
    "Sw",
    "0",
    "1",
    "x",
    "a",
    "b.f",
    "c[1].p",
    "2",
    "1e9",
    "1e999",
    "0.5",
    ".",
    "..",
    "+",
    "-",
    "*",
    "/",
    "^",
    "=",
    "==",
    "!=",
    "<",
    "<=",
    ">",
    ">=",
    "->",
    ",",
    ";",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "±",
    "+-",
    "%",
    "²",
    "⁻¹",
    "\"doc\"",
    "\"",
    "\n",
    "\r\n",
    "\r",
    " ",
    "\t",
    "// comment\n",
    "//",
    "#",
    "@",
    "−",
    "→",
    "“",
    "”",
    "\u{A0}",
    "\u{2028}",
    "ω",
    "'",
    "/*",
    "*/",
    "R x = 2\n",
    "a -> b\n",
    "param k = 2 [N/m] ±10% in [1, 3] \"k\"\n",
    "R h[2] { f1 = e1; f2 = e2 }\n",
    "{\n",
    "}\n",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_is_lost(text in any_text()) {
        let with_tree = parse(&text, FileId(0));
        prop_assert_eq!(with_tree.tree().to_string(), text.as_str());
        let (file, diagnostics) = paynter_language::parse_syntax(&text, FileId(0));
        prop_assert_eq!(&file, &with_tree.file);
        prop_assert_eq!(&diagnostics, &with_tree.diagnostics);
        for diagnostic in with_tree.diagnostics.iter() {
            let span = diagnostic.span.unwrap();
            prop_assert!(text.get(span.start as usize..span.end as usize).is_some(), "{:?}", diagnostic);
        }
    }
}

#[test]
fn the_deepest_legal_texts_are_laid_out() {
    let n = 255;
    let value = |text: String| format!("model m {{\n    signal x = {text}\n}}\n");
    for text in [
        value(format!("{}1{}", "(".repeat(n), ")".repeat(n))),
        value(format!("{}1{}", "f(a + b*".repeat(n), ")".repeat(n))),
        value(format!("{}1", "-".repeat(n))),
        format!("model m {{ {}{} }}\n", "for i in 1..2 { ".repeat(n - 1), "}".repeat(n - 1)),
        format!("model m {{\n{}{}}}\n", "for i in 1..2 {\n".repeat(n - 1), "}\n".repeat(n - 1)),
    ] {
        let work = move || {
            let formatted = paynter_language::format(&text);
            assert!(formatted.is_ok(), "{formatted:?}");
        };
        std::thread::Builder::new().stack_size(4 << 20).spawn(work).unwrap().join().unwrap();
    }
}
