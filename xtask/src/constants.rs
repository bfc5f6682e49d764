//! Checks that a name of a constant says one thing: no two constants of one
//! name have different values, in whatever crates. Tolerances and limits stand
//! in one table per crate, `tolerance.rs` or `limits.rs`, each with its reason.

use std::collections::BTreeMap;

use crate::sources::sources;

/// Types whose constants are compared.
const NUMBERS: &[&str] = &["f64", "usize", "u8", "u32", "u64", "i32", "i64"];

/// Tables in which every constant must have a sentence.
const TABLES: &[&str] = &["tolerance.rs", "limits.rs"];

/// The numeric constants of a file outside its tests: the line, the name, the value, and whether a sentence stands
/// before it.
fn constants(text: &str) -> Vec<(usize, String, String, bool)> {
    let shipped = text.split("#[cfg(test)]\nmod").next().unwrap_or(text);
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

#[test]
fn constants_are_found_outside_tests() {
    let text = "/// So much.\npub(crate) const A: f64 = 1e-3;\nconst B: usize = 4;\nconst C: &str = \"\";\n\
                #[cfg(test)]\nmod tests {\n    const A: f64 = 2.0;\n}\n";
    let found: Vec<(String, String, bool)> =
        constants(text).into_iter().map(|(_, name, value, said)| (name, value, said)).collect();
    let expected = [("A", "1e-3", true), ("B", "4", false)];
    assert_eq!(found, expected.map(|(name, value, said)| (name.to_owned(), value.to_owned(), said)));
}
