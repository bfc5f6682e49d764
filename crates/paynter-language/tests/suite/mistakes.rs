//! One mistake, one diagnostic: a table of files with a single mistake each,
//! with the code and the place of the only diagnostic.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]

use paynter_base::{FileId, Source};
use paynter_language::parse;

/// Checks the only diagnostic of a model with one wrong line, which is the
/// second; the lines around it must survive.
#[track_caller]
fn check_line(line: &str, code: &str, column: u32) {
    check(&format!("model m {{\n{line}\nR last = 1\n}}\n"), code, 2, column, Some("last"));
}

#[track_caller]
fn check(text: &str, code: &str, line: u32, column: u32, survivor: Option<&str>) {
    let parse = parse(text, FileId(0));
    let source = Source::new("m.bg", text);
    let found: Vec<_> = parse
        .diagnostics
        .iter()
        .map(|d| {
            let place = source.line_column(d.span.unwrap().start);
            (d.code.id(), place.line, place.column, d.message.as_str())
        })
        .collect();
    assert_eq!(found.len(), 1, "{text}\n{found:#?}");
    assert_eq!((found[0].0, found[0].1, found[0].2), (code, line, column), "{text}\n{found:#?}");
    assert_eq!(parse.tree().to_string(), text);
    if let Some(name) = survivor {
        assert!(
            format!("{:?}", parse.file).contains(&format!("text: \"{name}\"")),
            "{text}\n{:#?}",
            parse.file
        );
    }
}

const UNEXPECTED: &str = "BG0101";
const UNCLOSED: &str = "BG0102";
const BAD_CHARACTER: &str = "BG0103";
const BAD_NUMBER: &str = "BG0104";
const UNKNOWN_KIND: &str = "BG0108";
const MISPLACED: &str = "BG0215";

#[test]
fn statements() {
    for (line, code, column) in [
        ("param = 3", UNEXPECTED, 7),
        ("param x 3", UNEXPECTED, 9),
        ("param x", UNEXPECTED, 8),
        ("param x =", UNEXPECTED, 10),
        ("param x == 3", UNEXPECTED, 9),
        ("param x = 3 3", UNEXPECTED, 13),
        ("param x = 3 ±10% [V]", UNEXPECTED, 18),
        ("param x = 3 \"doc\" [V]", UNEXPECTED, 19),
        ("param x = 3 in 1, 2", UNEXPECTED, 16),
        ("param x = 3 in [1 2]", UNEXPECTED, 19),
        ("param x = \"doc\"", UNEXPECTED, 11),
        ("param and = 3", UNEXPECTED, 7),
        ("param 2x = 3", UNEXPECTED, 7),
        ("x = 3", UNEXPECTED, 1),
        ("output rotor.f", UNEXPECTED, 13),
        ("output y", UNEXPECTED, 9),
        ("input u = 3 ±10%", UNEXPECTED, 13),
        ("init x.q 3", UNEXPECTED, 10),
        ("init x.q = 3 [C]", UNEXPECTED, 14),
        ("x.q = 3", UNEXPECTED, 5),
        ("port left electrical", UNEXPECTED, 11),
        ("port left []", UNEXPECTED, 12),
        ("use cell", UNEXPECTED, 9),
        ("use cell c(3)", UNEXPECTED, 12),
        ("use cell c[3]", UNEXPECTED, 13),
        ("use cell c(k = 3 [m])", UNEXPECTED, 18),
        ("for i = 1..3 { a[i].x -> b }", UNEXPECTED, 7),
        ("for i in 1 { a[i].x -> b }", UNEXPECTED, 12),
        ("for i in 1..3 { a[i].x b }", UNEXPECTED, 24),
        ("prefer x", UNEXPECTED, 8),
        ("causality x y", UNEXPECTED, 13),
        ("lonely", UNEXPECTED, 1),
        (")", UNEXPECTED, 1),
        ("R a = 1, R b = 2", UNEXPECTED, 8),
        ("R a = 1 R b = 2", UNEXPECTED, 9),
        ("import \"x.bg\"", MISPLACED, 1),
        ("{ R a = 1 }", UNEXPECTED, 1),
    ] {
        check_line(line, code, column);
    }
}

#[test]
fn bonds() {
    for (line, column) in [
        ("a - b", 3),
        ("a - > b", 3),
        ("a => b", 3),
        ("a --> b", 3),
        ("a <- b", 3),
        ("a ->", 5),
        ("a -> b,", 7),
        ("a -> , b", 6),
        ("a -> b as", 10),
        ("a -> b as x, c", 12),
        ("-> b", 1),
        ("a -> 3", 6),
        ("a.1.2 -> b", 3),
        ("c[1][2].p -> b", 5),
        ("a. -> b", 4),
    ] {
        check_line(line, UNEXPECTED, column);
    }
}

#[test]
fn elements() {
    for (line, code, column) in [
        ("Re foo = 3", UNKNOWN_KIND, 1),
        ("resistor x = 2", UNKNOWN_KIND, 1),
        ("tf x = 2", UNKNOWN_KIND, 1),
        ("gy x { e1 = 2*f2; e2 = 2*f1 }", UNKNOWN_KIND, 1),
        ("flywheel x = 2", UNKNOWN_KIND, 1),
        ("flywheel x", UNKNOWN_KIND, 1),
        ("flywheel x { e = 2*f\n f = 3*e\n}", UNKNOWN_KIND, 1),
        ("parm x = 2 [V] ±10%", UNKNOWN_KIND, 1),
        ("fro i in 1..3 { a[i].x -> b }", UNKNOWN_KIND, 1),
        ("С x = 2", UNKNOWN_KIND, 1),
        ("R x 3", UNEXPECTED, 5),
        ("1 x, y", UNEXPECTED, 4),
        ("R = 3", UNEXPECTED, 3),
        ("R", UNEXPECTED, 2),
        ("R x = ", UNEXPECTED, 6),
        ("R x = ;", UNEXPECTED, 7),
        ("R x = 2 [ohm]", UNEXPECTED, 9),
        ("R x = 2 { init q = 3 }", UNEXPECTED, 9),
        ("R[2] x = 3", UNEXPECTED, 2),
        ("R x[] = 3", UNEXPECTED, 5),
        ("R x[2] = [a, b]", UNEXPECTED, 11),
        ("R x[2] = [[a, b] [c, d]]", UNEXPECTED, 18),
        ("R x { e 3 }", UNEXPECTED, 9),
        ("R x { e == 3*f }", UNEXPECTED, 7),
        ("R x { e = 3*f, f = 2 }", UNEXPECTED, 14),
        ("R x { e = 3*f; 4 }", UNEXPECTED, 18),
        ("C x { e = q; init x.q = 4 }", UNEXPECTED, 20),
        ("R x { e = 3*f [V] }", UNEXPECTED, 15),
        ("R x { e = (3*f }", UNCLOSED, 11),
        ("R x { e = 3*f", UNCLOSED, 5),
        ("Sw s when { Ron = 1 }", UNEXPECTED, 11),
        ("Sw s when (x > 0 { Ron = 1 }", UNCLOSED, 11),
    ] {
        check_line(line, code, column);
    }
}

#[test]
fn expressions() {
    for (line, code, column) in [
        ("param x = .5", BAD_NUMBER, 11),
        ("param x = 5.", BAD_NUMBER, 11),
        ("param x = 5.e3", BAD_NUMBER, 11),
        ("param x = 1.5.2", BAD_NUMBER, 11),
        ("param x = 1e", BAD_NUMBER, 11),
        ("param x = 1e+", BAD_NUMBER, 11),
        ("param x = 1e999", BAD_NUMBER, 11),
        ("param x = 1e-999", BAD_NUMBER, 11),
        ("param x = 1_000", BAD_NUMBER, 11),
        ("param x = 0x1F", BAD_NUMBER, 11),
        ("param x = 5mm", UNEXPECTED, 11),
        ("param x = 2 +", UNEXPECTED, 14),
        ("param x = 2 + * 3", UNEXPECTED, 15),
        ("param x = 2 ** 3", UNEXPECTED, 14),
        ("param x = +3", UNEXPECTED, 11),
        ("param x = (1 + 2", UNCLOSED, 11),
        ("param x = 1 + 2)", UNEXPECTED, 16),
        ("param x = sin(1", UNCLOSED, 14),
        ("param x = sin(1 2)", UNEXPECTED, 17),
        ("param x = sin(1,", UNEXPECTED, 17),
        ("param x = (1 + 2]", UNEXPECTED, 17),
        ("param x = [1, 2]", UNEXPECTED, 11),
        ("param x = a b", UNEXPECTED, 13),
        ("param x = 3 V", UNEXPECTED, 13),
        ("R x = 3 ohm", UNEXPECTED, 9),
        ("param x = 0,5", UNEXPECTED, 12),
        ("signal x = if a > 0 then 1 else 2", UNEXPECTED, 15),
        ("param x = a < b < c", UNEXPECTED, 17),
        ("param x = if(a = b, 1, 2)", UNEXPECTED, 16),
        ("param x = (3 +-0.2)", UNEXPECTED, 14),
        ("param x = 2 − 3", BAD_CHARACTER, 13),
        ("param x = 2 × 3", BAD_CHARACTER, 13),
        ("param x = 2 \u{A0}+ 3", BAD_CHARACTER, 13),
        ("param x = 2 “doc”", BAD_CHARACTER, 13),
        ("param x = 2 @ 3", BAD_CHARACTER, 13),
        ("param x = 2 # three", BAD_CHARACTER, 13),
        ("param x = 2 /* three */", UNEXPECTED, 13),
        ("param x = a && b", BAD_CHARACTER, 13),
        ("param x = 2 \"doc", UNCLOSED, 13),
        ("param x := 2", BAD_CHARACTER, 9),
        ("a → b", BAD_CHARACTER, 3),
        ("param Rа = 2", BAD_CHARACTER, 7),
        ("R x ＝ 3", BAD_CHARACTER, 5),
    ] {
        check_line(line, code, column);
    }
}

#[test]
fn units() {
    for (unit, code, column) in [
        ("[]", UNEXPECTED, 14),
        ("[N m]", UNEXPECTED, 16),
        ("[N*]", UNEXPECTED, 16),
        ("[2*m]", UNEXPECTED, 14),
        ("[m^]", UNEXPECTED, 16),
        ("[m^x]", UNEXPECTED, 16),
        ("[m^999]", BAD_NUMBER, 16),
        ("[m^(1/0)]", BAD_NUMBER, 16),
        ("[m", UNCLOSED, 13),
        ("[(m*s]", UNEXPECTED, 18),
        ("[N·m]", BAD_CHARACTER, 15),
        ("[°C]", BAD_CHARACTER, 14),
        ("[m/s", UNCLOSED, 13),
    ] {
        check_line(&format!("param x = 2 {unit}"), code, column);
    }
}

#[test]
fn structure() {
    check("model m {\nR x\n{ e = 3*f }\n}\n", UNEXPECTED, 3, 1, Some("x"));
    check("model m {\n R a = 1\n", UNCLOSED, 1, 9, Some("a"));
    check("model m {\n R a = 1\n\nmodel n {\n R b = 1\n}\n", UNCLOSED, 1, 9, Some("b"));
    check("model m {\n for i in 1..3 {\n  a[i].x -> b\n\n R c = 1\n}\n", UNCLOSED, 2, 16, Some("c"));
    check("model m {\n model n {\n  R b = 1\n }\n use n x\n}\n", MISPLACED, 2, 2, Some("b"));
    check("model m { model n { R b = 1 }; R c = 1 }\n", MISPLACED, 1, 11, Some("c"));
    check("model m {\n R a = 1\n}\n}\n", UNEXPECTED, 4, 1, Some("a"));
    check("model m {\n R a = 1\n}\n R b = 2\n a -> b\n}\n", MISPLACED, 4, 2, Some("a"));
    check("R b = 2\na -> b\n", MISPLACED, 1, 1, None);
    check("model {\n R a = 1\n}\n", UNEXPECTED, 1, 7, Some("a"));
    check("model m\n{\n R a = 1\n}\n", UNEXPECTED, 2, 1, Some("a"));
    check("model m\n R a = 1\n}\n", UNEXPECTED, 1, 8, Some("a"));
    check("modle m {\n R a = 1\n}\n", UNKNOWN_KIND, 1, 1, Some("a"));
    check("model m(param a = ) {\n R a = 1\n}\n", UNEXPECTED, 1, 19, Some("a"));
    check("model m(param a = 1\n param b) {\n R c = 1\n}\n", UNEXPECTED, 1, 20, Some("c"));
    check("model m(k = 1 {\n R c = 1\n}\n", UNCLOSED, 1, 8, Some("c"));
    check("import x.bg\nmodel m { R c = 1 }\n", UNEXPECTED, 1, 8, Some("c"));
    check("model m { R c = 1 } model n { R d = 1 }\n", UNEXPECTED, 1, 21, None);
    check("model m {\n for i in 1..3\n  a[i].x -> b\n }\n R c = 1\n}\n", UNEXPECTED, 2, 15, Some("c"));
    check("model m {\n R h[2] {\n  f1 = e1\n  f2 = e2\n a -> h.1\n R c = 1\n}\n", UNCLOSED, 2, 9, Some("c"));
    check("model m {\n R h[2] = [[1, 2],\n  [3, 4]\n R c = 1\n}\n", UNCLOSED, 2, 11, Some("c"));
}
