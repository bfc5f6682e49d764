//! Checks that no library reads a clock, a file or anything else of the machine it runs on: what comes from
//! outside comes through `World`, so that the same library runs in a browser and gives the same numbers everywhere.

use crate::sources::sources;

/// Crates that are the outside, or never ship.
const EXEMPT: &[&str] = &["paynter-cli", "paynter-python", "paynter-testkit"];

/// What reaches for the machine.
const OUTSIDE: &[&str] = &[
    "std::fs",
    "std::time",
    "std::env",
    "std::net",
    "std::process",
    "std::thread",
    "std::io::stdin",
    "std::io::stdout",
    "std::io::stderr",
    "Instant::now",
    "SystemTime",
    "File::open",
    "File::create",
    "RandomState",
    "println!",
    "dbg!",
];

/// What of that a file reaches for, outside its tests and comments, with the numbers of the lines.
fn reaches(text: &str) -> Vec<(usize, &'static str)> {
    let shipped = text.split("#[cfg(test)]\nmod").next().unwrap_or(text);
    let code = shipped.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with("//"));
    code.flat_map(|(number, line)| {
        let found = OUTSIDE.iter().filter(move |name| line.contains(**name));
        found.map(move |name| (number + 1, *name))
    })
    .collect()
}

#[test]
fn no_library_reads_a_clock_or_a_file() {
    let mut found = Vec::new();
    for file in sources(EXEMPT) {
        for (line, name) in reaches(&std::fs::read_to_string(&file).unwrap()) {
            found.push(format!("{}:{line}: {name}", file.display()));
        }
    }
    assert!(found.is_empty(), "let it come through `World`:\n{}", found.join("\n"));
}

#[test]
fn what_reaches_outside_is_recognised() {
    let text = "//! Not std::fs.\nuse std::{fmt, rc};\nlet t = std::time::Instant::now();\n\
                #[cfg(test)]\nmod tests {\n    use std::fs;\n}\n";
    assert_eq!(reaches(text), [(3, "std::time"), (3, "Instant::now")]);
}
