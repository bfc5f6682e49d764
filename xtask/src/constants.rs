//! Checks that a name of a constant says one thing: no two constants of one
//! name have different values, in whatever crates. Tolerances and limits stand
//! in one table per crate, `tolerance.rs` or `limits.rs`, each with its reason.

use std::collections::BTreeMap;

use crate::sources::sources;
use crate::texts::code;

/// Types whose constants are compared.
const NUMBERS: &[&str] = &["f64", "usize", "u8", "u32", "u64", "i32", "i64"];

/// Tables in which every constant must have a sentence.
const TABLES: &[&str] = &["tolerance.rs", "limits.rs"];

/// A file without the tests at its end.
fn shipped(text: &str) -> &str {
    let tests = text.match_indices("#[cfg(test)]\n").find(|(at, mark)| {
        let mut after = text[at + mark.len()..].lines().skip_while(|line| line.starts_with("#["));
        after.next().is_some_and(|line| line.starts_with("mod "))
    });
    tests.map_or(text, |(at, _)| &text[..at])
}

/// The numeric constants of a file outside its tests: the line, the name, the value, and whether a sentence stands
/// before it.
fn constants(text: &str) -> Vec<(usize, String, String, bool)> {
    let shipped = shipped(text);
    let mut found = Vec::new();
    let mut documented = false;
    for (number, line) in shipped.lines().enumerate() {
        let line = line.trim();
        if let Some((_, rest)) = line.split_once("const ")
            && let Some((name, rest)) = rest.split_once(": ")
            && let Some((kind, value)) = rest.split_once(" = ")
            && NUMBERS.contains(&kind)
            // A parameter of a macro is no name.
            && name.starts_with(|c: char| c.is_ascii_uppercase())
        {
            found.push((number + 1, name.to_owned(), value.trim_end_matches(';').to_owned(), documented));
        }
        documented = line.starts_with("///") || (documented && line.starts_with("#["));
    }
    found
}

#[test]
fn a_name_of_a_constant_has_one_value() {
    let mut known: BTreeMap<String, (String, String)> = BTreeMap::new();
    let mut violations = Vec::new();
    // The oracles of the test kit are their own on purpose.
    for file in sources(&["paynter-testkit"]) {
        let text = std::fs::read_to_string(&file).unwrap();
        let table = TABLES.iter().any(|table| file.ends_with(table));
        for (line, name, value, documented) in constants(&text) {
            let place = format!("{}:{line}", file.display());
            if table && !documented {
                violations.push(format!("{place}: {name} does not say what it bounds"));
            }
            if let Some((other, first)) = known.get(&name)
                && *other != value
            {
                violations.push(format!("{place}: {name} is {value}, but {other} at {first}"));
            }
            known.entry(name).or_insert((value, place));
        }
    }
    assert!(known.len() > 200, "only {} constants were found", known.len());
    assert!(violations.is_empty(), "{}", violations.join("\n"));
}

/// Files whose small numbers are no tolerances: coefficients of approximations, and formats of numbers.
const COEFFICIENTS: &[&str] =
    &["paynter-base/src/number.rs", "paynter-ensemble/src/normal.rs", "paynter-estimate/src/distribution.rs"];

/// The lines of a file, outside its tests, that have a number such as `1e-9` in them; defaults of options are told to
/// people.
fn small_numbers(text: &str) -> Vec<(usize, String)> {
    let code = code(text);
    let shipped = shipped(&code);
    let small = |line: &str| {
        line.match_indices("e-").any(|(at, _)| {
            line[..at].ends_with(|c: char| c.is_ascii_digit())
                && line[at + 2..].starts_with(|c: char| c.is_ascii_digit())
        })
    };
    let default = |line: &str| line.contains("default") || line.contains("signature");
    let lines = shipped.lines().enumerate().filter(|(_, line)| small(line) && !default(line));
    lines.map(|(number, line)| (number + 1, line.trim().to_owned())).collect()
}

#[test]
fn tolerances_stand_in_tables() {
    let mut violations = Vec::new();
    for file in sources(&["paynter-testkit"]) {
        let exempt = TABLES.iter().chain(COEFFICIENTS).any(|name| file.ends_with(name));
        let tests = file.file_name().is_some_and(|name| name == "tests.rs");
        if exempt || tests {
            continue;
        }
        for (line, text) in small_numbers(&std::fs::read_to_string(&file).unwrap()) {
            violations.push(format!("{}:{line}: {text}", file.display()));
        }
    }
    assert!(
        violations.is_empty(),
        "name these in the crate's tolerance.rs, and say what each bounds:\n{}",
        violations.join("\n")
    );
}

#[test]
fn small_numbers_are_found_in_code() {
    let text = "// 1e-3\nlet a = \"1e-4\";\nlet b = x < 2.5e-6;\n#[arg(default_value_t = 1e-8)]\nlet c = size-1;\n\
                #[cfg(test)]\n#[allow(x)]\nmod tests {\n    const A: f64 = 1e-9;\n}\n";
    assert_eq!(small_numbers(text), [(3, "let b = x < 2.5e-6;".to_owned())]);
}

#[test]
fn constants_are_found_outside_tests() {
    let text = "/// So much.\npub(crate) const A: f64 = 1e-3;\nconst B: usize = 4;\nconst C: &str = \"\";\n\
                #[cfg(test)]\nmod tests {\n    const A: f64 = 2.0;\n}\n";
    let found: Vec<(String, String, bool)> =
        constants(text).into_iter().map(|(_, name, value, said)| (name, value, said)).collect();
    let expected = [("A", "1e-3", true), ("B", "4", false)];
    assert_eq!(found, expected.map(|(name, value, said)| (name.to_owned(), value.to_owned(), said)));
}
