//! Tells mistakes of their own from consequences of others: where statements
//! could not be read, names seem unknown and elements seem unconnected.

use paynter_base::{Code, Diagnostic, Diagnostics, SourceMap, code};

/// Codes about a statement by itself, which other statements cannot cause.
const LOCAL: &[Code] = &[
    code::DUPLICATE_NAME,
    code::RESERVED_NAME,
    code::RECURSIVE_SUBMODEL,
    code::BAD_VALUE,
    code::BAD_TOLERANCE,
    code::DERIVED_TOLERANCE,
    code::WRONG_LAW,
    code::MISSING_VALUE,
    code::UNKNOWN_UNIT,
    code::UNIT_MISMATCH,
    code::UNKNOWN_MODEL,
];

/// Codes of mistakes that make bonds disappear.
const LOSES_BONDS: &[Code] = &[
    code::DUPLICATE_NAME,
    code::BAD_ARRAY,
    code::BAD_ARGUMENT,
    code::TOO_MANY_ELEMENTS,
    code::UNKNOWN_PORT,
    code::AMBIGUOUS_PORTS,
    code::BAD_BOND,
    code::ARROWS_DISAGREE,
];

/// Codes that missing bonds cause.
const FOR_LACK_OF_BONDS: &[Code] = &[code::PORT_COUNT, code::UNCONNECTED, code::DISCONNECTED];

/// Codes after which the rest of the text is not what its author sees.
const HOPELESS: &[Code] = &[
    code::UNCLOSED,
    code::TOO_DEEP,
    code::TOO_LARGE,
    code::NOT_TEXT,
    code::EMPTY,
    code::IMPORT_FAILED,
    code::IMPORT_CYCLE,
    code::IMPORT_OUTSIDE,
    code::FILE_UNREADABLE,
];

/// Tells whether the next stage has anything to say beside these mistakes.
pub fn worth_reading_on(text: &Diagnostics) -> bool {
    !text.iter().any(|d| HOPELESS.contains(&d.code))
}

/// Keeps what is a mistake of its own, given the mistakes in the text.
pub fn own_mistakes(found: Diagnostics, text: &Diagnostics, sources: &SourceMap) -> Diagnostics {
    let broken: Vec<&str> =
        text.iter().filter(|d| d.is_error()).filter_map(|d| line_of(d, sources)).collect();
    let bonds_missing = !broken.is_empty() || found.iter().any(|d| loses_bonds(d, sources));
    // A misspelt name is one that its declaration misses.
    let misspelt = !broken.is_empty() || found.iter().any(|d| d.code == code::UNKNOWN_NAME);
    let too_many = found.iter().any(|d| d.code == code::TOO_MANY_ELEMENTS);
    let mut kept = Diagnostics::new();
    for diagnostic in found {
        let consequence = (bonds_missing && FOR_LACK_OF_BONDS.contains(&diagnostic.code))
            || (misspelt && diagnostic.code == code::UNUSED_PARAMETER)
            || (too_many && diagnostic.code == code::BAD_ARRAY)
            || (!broken.is_empty() && !stands_alone(&diagnostic, &broken, sources));
        if !consequence {
            kept.push(diagnostic);
        }
    }
    kept
}

/// Tells whether a mistake makes bonds disappear.
fn loses_bonds(diagnostic: &Diagnostic, sources: &SourceMap) -> bool {
    let in_bonds =
        || line_of(diagnostic, sources).is_some_and(|line| line.contains("->") || line.contains("use "));
    LOSES_BONDS.contains(&diagnostic.code) || (diagnostic.code == code::UNKNOWN_NAME && in_bonds())
}

/// Tells whether a mistake remains when the broken lines are mended.
fn stands_alone(diagnostic: &Diagnostic, broken: &[&str], sources: &SourceMap) -> bool {
    let on_broken_line = line_of(diagnostic, sources).is_some_and(|line| broken.contains(&line));
    let name = diagnostic.span.map_or("", |span| sources.snippet(span));
    let unknown = diagnostic.code == code::UNKNOWN_NAME
        && !name.is_empty()
        && !broken.iter().any(|line| has_word(line, name));
    !on_broken_line && (unknown || LOCAL.contains(&diagnostic.code))
}

/// The line a mistake is on.
fn line_of<'a>(diagnostic: &Diagnostic, sources: &'a SourceMap) -> Option<&'a str> {
    let span = diagnostic.span?;
    let text = &sources.get(span.file)?.text;
    let (before, after) = text.split_at_checked(span.start as usize)?;
    let start = before.rfind('\n').map_or(0, |at| at + 1);
    let end = after.find('\n').map_or(text.len(), |at| before.len() + at);
    text.get(start..end)
}

/// Tells whether a name, or its first part, stands in a line as a whole word.
fn has_word(line: &str, name: &str) -> bool {
    let first = name.split(['.', '[']).next().unwrap_or(name);
    line.split(|c: char| !(c.is_alphanumeric() || c == '_')).any(|word| word == first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{FlattenOptions, flatten};
    use paynter_algebra::Pool;
    use paynter_base::MemoryWorld;
    use paynter_language::load;

    fn codes(text: &str) -> Vec<&'static str> {
        let world = MemoryWorld::new().with("m.bg", text);
        let loaded = load(&world, "m.bg");
        let mut findings = loaded.diagnostics;
        if worth_reading_on(&findings) {
            let files: Vec<_> = loaded.files.into_iter().map(|(_, file)| file).collect();
            let (_, found) = flatten(&mut Pool::new(), &files, &FlattenOptions::default());
            findings.extend(own_mistakes(found, &findings, &loaded.sources));
        }
        findings.sort();
        findings.iter().map(|d| d.code.id()).collect()
    }

    #[test]
    fn consequences_are_left_out() {
        // `supply` is declared, only with a misspelt kind.
        assert_eq!(codes("model m {\n SE supply = 1\n R load = 2\n supply -> load\n}\n"), ["BG0108"]);
        // A misspelt bond leaves the element it meant unconnected.
        assert_eq!(codes("model m {\n Se a = 1\n R load = 2\n a -> laod\n}\n"), ["BG0201"]);
        // A misspelt name leaves the parameter it meant unused.
        assert_eq!(codes("model m {\n param k1 = 1\n Se a = k\n R b = 2\n a -> b\n}\n"), ["BG0201"]);
        // What follows an unclosed brace is not what its author sees.
        assert_eq!(codes("model m {\n R r = 1\n Se a = b\n a -> r\n"), ["BG0102"]);
    }

    #[test]
    fn mistakes_of_their_own_are_kept() {
        assert_eq!(
            codes("model m {\n SE supply = 1\n R load = kk\n supply -> load\n}\n"),
            ["BG0108", "BG0201"]
        );
    }
}
