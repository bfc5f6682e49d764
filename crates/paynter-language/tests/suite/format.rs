//! The layout: fixed points, what it changes, and that it keeps the meaning.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]

use crate::generator;

use paynter_base::FileId;
use paynter_language::{format, parse};
use proptest::prelude::*;

/// The syntax without its places.
fn meaning(text: &str) -> String {
    let parse = parse(text, FileId(0));
    assert!(parse.diagnostics.is_empty(), "{text}\n{:#?}", parse.diagnostics);
    let debug = format!("{:?}", parse.file);
    let mut plain = String::new();
    let mut rest = debug.as_str();
    while let Some(start) = rest.find("Span {") {
        plain.push_str(&rest[..start]);
        rest = &rest[start..];
        rest = &rest[rest.find('}').unwrap() + 1..];
    }
    plain + rest
}

fn comments(text: &str) -> Vec<String> {
    let tree = parse(text, FileId(0)).tree();
    let tokens = tree.descendants_with_tokens().filter_map(|element| element.into_token());
    tokens
        .filter(|token| token.kind() == paynter_language::SyntaxKind::Comment)
        .map(|token| token.text().trim_end().to_owned())
        .collect()
}

#[track_caller]
fn check(text: &str, expected: &str) {
    let formatted = format(text).unwrap_or_else(|d| panic!("{text}\n{d:#?}"));
    assert_eq!(formatted, expected);
    assert_eq!(format(&formatted).unwrap(), formatted, "laid out again");
    assert_eq!(meaning(&formatted), meaning(text));
    assert_eq!(comments(&formatted), comments(text));
}

const MOTOR: &str = r#"// Borutzky & Granda 2002, Fig. 7
model dc_motor "Load positioned by a constant-excitation d.c. motor" {
    param Ra = 2    [ohm]        ±10%  "armature resistance"
    param La = 5e-3 [H]          ±10%
    param kT = 0.1  [N*m/A]      ±5%   "torque constant"
    param Rm = 1e-3 [N*m*s/rad]  ±20%
    param Jm = 1e-4 [kg*m^2]     ±10%

    input E     = 12 [V]
    input Mload = 0  [N*m]

    Se  supply   = E
    Se  load     = Mload
    1   armature
    1   shaft
    R   winding  = Ra
    I   coil     = La
    GY  motor    = kT
    R   bearing  = Rm
    I   rotor    = Jm

    supply   -> armature
    armature -> winding, coil, motor
    motor    -> shaft
    shaft    -> bearing, rotor
    load     -> shaft

    output ia = coil.f   [A]
    output w  = rotor.f  [rad/s]
}
"#;

#[test]
fn the_motor_is_well_laid_out() {
    check(MOTOR, MOTOR);
    // However it was typed.
    let squeezed: String =
        MOTOR.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ") + "\r\n").collect();
    check(&squeezed, MOTOR);
}

#[test]
fn blocks_on_one_line_stay_there() {
    check(
        "model cell( m=1 [kg],param k ){port left;port right[translation]}",
        "model cell(param m = 1 [kg], param k) { port left; port right [translation] }\n",
    );
    check(
        "model m {\nfor i in 1 .. N-1 {c[ i ].right->c[i+1] . left}\nfor i in 1..2 {\nR r = 1\n}\n}",
        "model m {\n    for i in 1..N-1 { c[i].right -> c[i+1].left }\n    for i in 1..2 {\n        R   r = 1\n    }\n}\n",
    );
    check("model m {  }", "model m {}\n");
    check("model m {\n\n\n}", "model m {\n}\n");
}

#[test]
fn laws() {
    check(
        "model m {\nR h[2] {f1=k*(e1-e2)/e1;f2 = -k * (e1-e2)/e2;}\nC tank[ 2 ] { // a field\ne1 = q1;e2 = q2\n\n\n// full\ninit q1=V0 // litres\n} \"tank\"\nMSe s=E\n}",
        "model m {
    R   h[2] { f1 = k*(e1-e2)/e1; f2 = -k * (e1-e2)/e2 }
    C   tank[2] {  // a field
        e1 = q1; e2 = q2

        // full
        init q1 = V0  // litres
    } \"tank\"
    MSe s = E
}
",
    );
    check(
        "model m {\nSw d when( d.e>0 and not(x)){Ron=1;Goff=0}\nSw dd when (1 < 2)\n}",
        "model m {\n    Sw  d  when (d.e > 0 and not (x)) { Ron = 1; Goff = 0 }\n    Sw  dd when (1 < 2)\n}\n",
    );
}

#[test]
fn comments_and_blank_lines() {
    check(
        "\n\n// one\nimport   \"a.bg\" // two\n\n\n\n// three\nmodel m { // four\n\nR a = 1 // five\nR bb = 2; R c = 3 // six\n   // seven\n\n} // eight\n\n",
        "// one
import \"a.bg\"  // two

// three
model m {  // four

    R   a = 1  // five
    R bb = 2; R c = 3  // six
    // seven
}  // eight
",
    );
    check("// only a comment", "// only a comment\n");
    check("", "");
    check("\u{FEFF}model m {}", "model m {}\n");
}

#[test]
fn broken_lines_stay_broken() {
    check(
        "model m {\nC gas[2] = [[a, b],\n [c,d]]\na -> b, // first\n c,\n d as x\nsignal s = a +\n (b\n *c)\nparam x=\n 3\n}",
        "model m {
    C   gas[2] = [[a, b],
        [c, d]]
    a -> b,  // first
        c,
        d as x
    signal s = a +
        (b
        * c)
    param x =
        3
}
",
    );
}

#[test]
fn operators_keep_the_authors_spaces() {
    check(
        "model m {\nsignal a = x+y * z- -w\nsignal b = x^ 2 + y²-f (x,y)\nsignal c = if(a<b,not a,- b)\nparam p = 3 +- 0.2 in [ 1,2 ]\nparam pp = 3+-5 %\n}",
        "model m {
    signal a = x+y * z - -w
    signal b = x^2 + y²-f(x, y)
    signal c = if(a < b, not a, -b)
    param p  = 3  +-0.2  in [1, 2]
    param pp = 3  +-5%
}
",
    );
}

#[test]
fn what_follows_a_brace_of_several_lines_begins_a_line() {
    check(
        "model m { for i in 1..2 { s[i] -> b[i] // c\n} }",
        "model m {
    for i in 1..2 {
        s[i] -> b[i]  // c
    }
}
",
    );
}

#[test]
fn a_file_with_mistakes_is_left_alone() {
    let diagnostics = format("model m {\n R a = \n}").unwrap_err();
    assert_eq!(diagnostics.len(), 1);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn layout_keeps_meaning_and_comments(choices in proptest::collection::vec(any::<u8>(), 0..400)) {
        let text = generator::model_file(&choices);
        let formatted = format(&text).map_err(|d| TestCaseError::fail(format!("{text}\n{d:#?}")))?;
        prop_assert_eq!(meaning(&formatted), meaning(&text), "{}\n{}", text, formatted);
        prop_assert_eq!(comments(&formatted), comments(&text));
        prop_assert_eq!(&format(&formatted).unwrap(), &formatted, "{}", text);
        prop_assert!(formatted.lines().all(|line| line == line.trim_end()), "{}", formatted);
        prop_assert!(!formatted.contains("\n\n\n"));
    }
}
