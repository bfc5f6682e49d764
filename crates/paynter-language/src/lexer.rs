//! Text to tokens. Every byte belongs to a token; look-alikes of plain
//! characters become what they look like, with a diagnostic.

use logos::Logos;
use paynter_base::{Diagnostic, FileId, Span, code, is_hidden};
use unicode_normalization::UnicodeNormalization;

use crate::SyntaxKind;
use crate::lookalike;
use crate::mistakes::Mistakes;

/// A token; it ends where the next one starts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Token {
    pub(crate) kind: SyntaxKind,
    pub(crate) start: u32,
}

/// Cuts a text into tokens, the last of which is [`SyntaxKind::Eof`].
pub(crate) fn lex(text: &str, file: FileId, mistakes: &mut Mistakes) -> Vec<Token> {
    let mut tokens = Vec::with_capacity(text.len() / 3 + 1);
    let mut lexer = SyntaxKind::lexer(text);
    let mut last_bad = None;
    let mut block_comments_end = true;
    while let Some(kind) = lexer.next() {
        let mut kind = kind.unwrap_or(SyntaxKind::Unknown);
        let start = lexer.span().start;
        if kind == SyntaxKind::Unknown {
            let first = lexer.slice().chars().next().unwrap_or('\0');
            lexer.bump(unknown_length(first, lexer.remainder()));
            let span = Span::new(file, start as u32, lexer.span().end as u32);
            // A run of the same wrong character is one mistake.
            let repeats = last_bad == Some((first, start));
            last_bad = Some((first, lexer.span().end));
            kind = meaning(first, lexer.slice());
            if !repeats && !mistakes.is_full() {
                report_unknown(first, lexer.slice(), span, mistakes);
            }
        } else if kind == SyntaxKind::Ident && !lexer.slice().is_ascii() {
            let span = Span::new(file, start as u32, lexer.span().end as u32);
            check_letters(lexer.slice(), span, mistakes);
        } else if kind == SyntaxKind::Slash && lexer.remainder().starts_with('*') {
            // A block comment of another language, to its end or to the end of the line.
            let rest = lexer.remainder();
            let end = if block_comments_end { rest.find("*/") } else { None };
            block_comments_end = end.is_some();
            lexer.bump(end.map_or_else(|| line_length(rest), |end| end + 2));
            kind = SyntaxKind::Comment;
            let span = Span::new(file, start as u32, start as u32 + 2);
            mistakes.push(
                Diagnostic::new(code::UNEXPECTED, "comments are not written `/* … */` here")
                    .at(span)
                    .help("start each line of the comment with `//`"),
            );
        }
        tokens.push(Token { kind, start: start as u32 });
    }
    tokens.push(Token { kind: SyntaxKind::Eof, start: text.len() as u32 });
    tokens
}

fn line_length(rest: &str) -> usize {
    rest.find(['\r', '\n']).unwrap_or(rest.len())
}

/// How many bytes after the first character belong to the same mistake.
fn unknown_length(first: char, rest: &str) -> usize {
    let line = || &rest[..line_length(rest)];
    match first {
        '#' | '"' => line().len(),
        '\'' => line().find('\'').map_or(0, |end| end + 1),
        c if lookalike::is_quote(c) => {
            let end = line().char_indices().find(|(_, c)| *c == '"' || lookalike::is_quote(*c));
            end.map_or(line().len(), |(at, c)| at + c.len_utf8())
        }
        '０'..='９' => rest.find(|c| !matches!(c, '０'..='９')).unwrap_or(rest.len()),
        '&' | '|' if rest.starts_with(first) => 1,
        ':' if rest.starts_with('=') => 1,
        _ => 0,
    }
}

/// What an unknown piece of text is taken for.
fn meaning(first: char, piece: &str) -> SyntaxKind {
    match first {
        '"' => SyntaxKind::String,
        '#' => SyntaxKind::Comment,
        '０'..='９' => SyntaxKind::Number,
        ':' if piece == ":=" => SyntaxKind::Eq,
        c if lookalike::is_quote(c) => SyntaxKind::String,
        c => lookalike::plain(c).map_or(SyntaxKind::Unknown, |(kind, _)| kind),
    }
}

/// Says what is wrong with an unknown piece of text.
fn report_unknown(first: char, piece: &str, span: Span, mistakes: &mut Mistakes) {
    let name = described(first);
    let (message, help) = match (first, lookalike::plain(first)) {
        // A byte order mark may stand before the text.
        ('\u{FEFF}', _) if span.start == 0 => return,
        ('"', _) => {
            let message = "this text has no closing quotation mark";
            let help = "close it with `\"` on the same line";
            mistakes.push(Diagnostic::new(code::UNCLOSED, message).at(span).help(help));
            return;
        }
        ('#', _) => ("comments do not start with `#`".to_owned(), "start the comment with `//`".to_owned()),
        ('０'..='９', _) => {
            (format!("`{piece}` has full-width digits"), format!("write `{}`", normalised(piece)))
        }
        (':', _) if piece == ":=" => ("`:=` is not known here".to_owned(), "write `=`".to_owned()),
        (c, _) if lookalike::is_quote(c) => {
            let help = "write the plain quotation mark `\"` on both sides";
            (format!("{name} is not a plain quotation mark"), help.to_owned())
        }
        (_, Some((_, ""))) => (format!("invisible character {name}"), "delete it".to_owned()),
        (_, Some((_, " "))) => (format!("{name} is not a plain space"), "write a plain space".to_owned()),
        (_, Some((_, "\n"))) => (format!("{name} is not a plain line end"), "start a new line".to_owned()),
        (_, Some((_, plain))) => (format!("{name} is not the plain `{plain}`"), format!("write `{plain}`")),
        (_, None) => (format!("{name} has no meaning here"), lookalike::advice(first).to_owned()),
    };
    mistakes.push(Diagnostic::new(code::BAD_CHARACTER, message).at(span).help(help));
}

/// A character for people: itself where it can be seen, always with its number where it is not plain.
fn described(c: char) -> String {
    let number = c as u32;
    if c.is_ascii_graphic() {
        format!("`{c}`")
    } else if is_hidden(c) || matches!(lookalike::plain(c), Some((_, " " | "" | "\n"))) {
        format!("U+{number:04X}")
    } else {
        format!("`{c}` (U+{number:04X})")
    }
}

fn check_letters(word: &str, span: Span, mistakes: &mut Mistakes) {
    if let Some(hidden) = word.chars().find(|c| is_hidden(*c)) {
        let seen: String = word.chars().filter(|c| !is_hidden(*c)).collect();
        let message = format!("invisible character {} in the name `{seen}`", described(hidden));
        mistakes.push(Diagnostic::new(code::BAD_CHARACTER, message).at(span).help("delete it"));
        return;
    }
    if let Some((strange, plain)) = lookalike::hidden_letter(word) {
        let message = format!("in `{word}` the letter {} looks like the Latin `{plain}`", described(strange));
        mistakes.push(
            Diagnostic::new(code::BAD_CHARACTER, message)
                .at(span)
                .help(format!("write `{}` with Latin letters", lookalike::latinised(word))),
        );
    }
}

/// Normalises a piece of text, so that letters that are the same to people are the same.
pub(crate) fn normalised(text: &str) -> String {
    if text.is_ascii() { text.to_owned() } else { text.nfkc().collect() }
}

/// Lexes for a test of the tokens alone.
#[cfg(test)]
fn kinds(text: &str) -> (Vec<(SyntaxKind, &str)>, paynter_base::Diagnostics) {
    let mut mistakes = Mistakes::default();
    let tokens = lex(text, FileId(0), &mut mistakes);
    let pieces = tokens
        .windows(2)
        .map(|pair| (pair[0].kind, &text[pair[0].start as usize..pair[1].start as usize]))
        .collect();
    (pieces, mistakes.finish())
}

#[cfg(test)]
mod tests {
    use super::*;
    use SyntaxKind::*;

    #[test]
    fn points_belong_to_numbers_ranges_or_ports() {
        let kinds_of = |text| kinds(text).0.into_iter().map(|(kind, _)| kind).collect::<Vec<_>>();
        assert_eq!(kinds_of("1..N"), [Number, DotDot, Ident]);
        assert_eq!(kinds_of("tf.1"), [Ident, Dot, Number]);
        assert_eq!(kinds_of("c[3].1"), [Ident, LBracket, Number, RBracket, Dot, Number]);
        assert_eq!(kinds_of("0.5e-3"), [Number]);
        assert_eq!(kinds_of("5."), [Number, Dot]);
        assert_eq!(kinds_of("1e5.f"), [Number, Dot, Ident]);
        assert_eq!(kinds_of("2e"), [Number, Ident]);
    }

    #[test]
    fn names_are_letters_of_any_alphabet() {
        for name in ["ω_m", "R₁", "Ω", "Ω", "µ", "μ", "_x", "x̂", "質量", "𝛼"] {
            let (pieces, diagnostics) = kinds(name);
            assert_eq!(pieces, [(Ident, name)]);
            assert!(diagnostics.is_empty(), "{name}");
        }
        assert_eq!(normalised("Ω"), normalised("Ω"));
        assert_eq!(normalised("µ"), normalised("μ"));
        assert_eq!(kinds("m²").0, [(Ident, "m"), (Superscript, "²")]);
        assert_eq!(kinds("N·m").0, [(Ident, "N"), (Star, "·"), (Ident, "m")]);
    }

    #[test]
    fn lookalikes_become_what_they_look_like() {
        for (text, kind, plain) in [
            ("−", Minus, "`-`"),
            ("×", Star, "`*`"),
            ("→", Arrow, "`->`"),
            ("（", LParen, "`(`"),
            ("＝", Eq, "`=`"),
            ("\u{A0}", Whitespace, "plain space"),
            ("“doc”", String, "quotation mark"),
            ("≤", LessEq, "`<=`"),
            ("１２", Number, "`12`"),
        ] {
            let (pieces, diagnostics) = kinds(text);
            assert_eq!(pieces, [(kind, text)]);
            assert_eq!(diagnostics.len(), 1, "{text}");
            for diagnostic in diagnostics.iter() {
                assert_eq!(diagnostic.code, code::BAD_CHARACTER);
                let help = diagnostic.help.to_string();
                assert!(help.contains(plain), "{text}: {help}");
            }
        }
    }

    #[test]
    fn letters_of_another_alphabet_do_not_hide_in_a_word() {
        assert_eq!(kinds("Rа").1.len(), 1, "Cyrillic а");
        assert_eq!(kinds("R_а").1.len(), 0);
        assert_eq!(kinds("Δp").1.len(), 0);
        assert_eq!(kinds("момент").1.len(), 0);
    }

    #[test]
    fn nothing_hides_in_a_name() {
        for hidden in
            ["a\u{34f}b", "a\u{fe0f}", "\u{3164}", "a\u{e0100}", "a\u{200d}b", "a\u{202e}b", "a\u{9b}b"]
        {
            let found = kinds(hidden).1;
            assert_eq!(found.iter().map(|d| d.code).collect::<Vec<_>>(), [code::BAD_CHARACTER], "{hidden:?}");
        }
    }

    #[test]
    fn a_run_of_one_wrong_character_is_one_mistake() {
        assert_eq!(kinds("@@@@ x @@").1.len(), 2);
        assert_eq!(kinds("\"abc").0, [(String, "\"abc")]);
        assert_eq!(kinds("\"abc").1.len(), 1);
        assert_eq!(kinds("/* a\n b */ x").0[0], (Comment, "/* a\n b */"));
    }
}
