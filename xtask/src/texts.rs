//! Checks that no text of a library names an option or a command of the
//! command line: what to do is said as data (`Remedy`), which each edge spells.

use crate::sources::sources;

/// Crates whose texts belong to the command line, or never ship.
const EXEMPT: &[&str] = &["paynter-cli", "paynter-testkit"];

/// What a stretch of a Rust file is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Piece {
    Code,
    Comment,
    Literal,
}

/// The stretches of a Rust file, in order.
fn pieces(text: &str) -> Vec<(Piece, &str)> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        let (piece, length) = if rest.starts_with("//") {
            (Piece::Comment, rest.find('\n').unwrap_or(rest.len()))
        } else if rest.starts_with("/*") {
            (Piece::Comment, rest.find("*/").map_or(rest.len(), |end| end + 2))
        } else if let Some(length) = raw_string(rest) {
            (Piece::Literal, length)
        } else if rest.starts_with('"') {
            (Piece::Literal, quoted(rest))
        } else {
            (Piece::Code, character(rest).unwrap_or_else(|| rest.chars().next().map_or(1, char::len_utf8)))
        };
        found.push((piece, &rest[..length]));
        at += length;
    }
    found
}

/// The string literals of a Rust file, with the numbers of their lines.
fn literals(text: &str) -> Vec<(usize, String)> {
    let mut line = 1;
    let mut found = Vec::new();
    for (piece, own) in pieces(text) {
        if piece == Piece::Literal {
            found.push((line, own.to_owned()));
        }
        line += own.matches('\n').count();
    }
    found
}

/// A Rust file without its comments and the texts in it, line by line.
pub fn code(text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    for (piece, own) in pieces(text) {
        match piece {
            Piece::Code => code.push_str(own),
            Piece::Comment | Piece::Literal => code.extend(own.chars().filter(|c| *c == '\n')),
        }
    }
    code
}

/// The length of a raw string at the beginning.
fn raw_string(text: &str) -> Option<usize> {
    let after = text.strip_prefix('r')?;
    let marks = after.len() - after.trim_start_matches('#').len();
    let inside = after[marks..].strip_prefix('"')?;
    let close = format!("\"{}", "#".repeat(marks));
    Some(2 + marks + inside.find(&close)? + close.len())
}

/// The length of a quoted string at the beginning.
fn quoted(text: &str) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// The length of a character literal at the beginning; a lifetime is none.
fn character(text: &str) -> Option<usize> {
    let mut characters = text.strip_prefix('\'')?.char_indices();
    let (_, first) = characters.next()?;
    if first == '\\' {
        return Some(3 + text[3..].find('\'')?);
    }
    let (at, second) = characters.next()?;
    (second == '\'').then_some(at + 2)
}

/// Whether a literal names an option; variables of CSS begin alike.
fn names_option(literal: &str) -> bool {
    literal.match_indices("--").any(|(at, _)| {
        let name = &literal[at + 2..];
        let length =
            name.find(|c: char| !(c.is_ascii_alphanumeric() || "-{}_".contains(c))).unwrap_or(name.len());
        let variable = literal[..at].ends_with("var(") || name[length..].starts_with(':');
        name.starts_with(|c: char| c.is_ascii_lowercase()) && !literal[..at].ends_with('-') && !variable
    })
}

/// Whether a literal names a command: the program's name and a word after it.
fn names_command(literal: &str) -> bool {
    let commands = literal.match_indices("paynter ");
    commands.into_iter().any(|(at, name)| {
        literal[at + name.len()..].starts_with(|c: char| c.is_ascii_lowercase() || c == '{')
    })
}

#[test]
fn no_text_of_a_library_names_an_option_or_a_command() {
    let mut found = Vec::new();
    for file in sources(EXEMPT) {
        for (line, literal) in literals(&std::fs::read_to_string(&file).unwrap()) {
            if names_option(&literal) || names_command(&literal) {
                found.push(format!("{}:{line}: {literal}", file.display()));
            }
        }
    }
    assert!(found.is_empty(), "say it by a `Remedy`:\n{}", found.join("\n"));
}

#[test]
fn options_and_commands_are_recognised() {
    for text in ["`--set`", "ask with --frozen", "`--t-end 10`", "see `paynter help`", "`paynter {command}`"]
    {
        assert!(names_option(text) || names_command(text), "{text}");
    }
    for text in
        ["a -- b", "var(--ink)", "--plot-quiet:{quiet};", "--curve-{index}:", "-----", "Paynter, a", "→--"]
    {
        assert!(!names_option(text) && !names_command(text), "{text}");
    }
}

#[test]
fn literals_are_found_between_code_and_comments() {
    let text = "a('\"', '\\'', 'x') // \"no\"\n/* \"no\" */ f(\"o\\\"ne\", r#\"t\"wo\"#, &'static str, 'é')";
    let found: Vec<(usize, String)> = literals(text);
    assert_eq!(found, [(2, "\"o\\\"ne\"".to_owned()), (2, "r#\"t\"wo\"#".to_owned())]);
}
