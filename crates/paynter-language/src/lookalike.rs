//! Characters that look like others: what a keyboard, a word processor or
//! another alphabet puts in the place of a plain character.

use crate::SyntaxKind;

/// Finds the plain character or token that `c` stands for.
pub(crate) fn plain(c: char) -> Option<(SyntaxKind, &'static str)> {
    use SyntaxKind::*;
    Some(match c {
        '−' | '–' | '—' | '‐' | '‑' | '‒' | '―' | '﹣' | '－' => (Minus, "-"),
        '＋' | '﹢' => (Plus, "+"),
        '×' | '·' | '⋅' | '∙' | '•' | '∗' | '＊' | '✕' | '⨯' | '\u{0387}' | '・' | '･' => {
            (Star, "*")
        }
        '÷' | '∕' | '⁄' | '／' => (Slash, "/"),
        '＾' => (Caret, "^"),
        '＝' | '꞊' => (Eq, "="),
        '≠' => (NotEq, "!="),
        '＜' | '‹' => (Less, "<"),
        '≤' | '⩽' => (LessEq, "<="),
        '＞' | '›' => (Greater, ">"),
        '≥' | '⩾' => (GreaterEq, ">="),
        '→' | '⟶' | '⇒' | '➔' | '➜' | '⇀' | '↦' | '⇾' => (Arrow, "->"),
        '，' | '、' | '‚' | '،' => (Comma, ","),
        '；' | '\u{037E}' => (Semicolon, ";"),
        '．' | '。' => (Dot, "."),
        '‥' => (DotDot, ".."),
        '（' => (LParen, "("),
        '）' => (RParen, ")"),
        '［' | '【' => (LBracket, "["),
        '］' | '】' => (RBracket, "]"),
        '｛' => (LBrace, "{"),
        '｝' => (RBrace, "}"),
        '％' => (Percent, "%"),
        // Spaces that are not the plain one, and characters nobody can see.
        '\u{A0}' | '\u{2000}'..='\u{200A}' | '\u{202F}' | '\u{205F}' | '\u{3000}' | '\u{1680}' => {
            (Whitespace, " ")
        }
        '\u{200B}'..='\u{200F}'
        | '\u{202A}'..='\u{202E}'
        | '\u{2060}'..='\u{2069}'
        | '\u{FEFF}'
        | '\u{AD}'
        | '\u{180E}' => (Whitespace, ""),
        '\u{85}' | '\u{2028}' | '\u{2029}' => (Newline, "\n"),
        _ => return None,
    })
}

/// Tells whether `c` is a quotation mark other than `"`.
pub(crate) fn is_quote(c: char) -> bool {
    matches!(c, '“' | '”' | '„' | '‟' | '«' | '»' | '＂' | '″')
}

/// The advice for a character that has no plain counterpart.
pub(crate) fn advice(c: char) -> &'static str {
    match c {
        '!' => "write `not`, or `!=` for different",
        '&' => "write `and`",
        '|' => "write `or`",
        '\'' | '‘' | '’' | '′' => {
            "write text in double quotes; derivatives are not written, `integral(x, x0)` is"
        }
        '`' => "write text in double quotes",
        ':' => "give a value by `=`",
        '°' => "write `deg` for an angle, or a temperature in `K`",
        '√' => "write `sqrt(x)`",
        '∞' => "give a finite number, or leave it out",
        '\\' | '@' | '$' | '?' | '~' => "delete it",
        _ => "delete it or write the plain character",
    }
}

/// The Latin letter that a Cyrillic or Greek one looks like.
fn latin(c: char) -> Option<char> {
    const PAIRS: &[(&str, &str)] =
        &[("АВСЕНІЈКМОРЅТХаеіјорсухѕ", "ABCEHIJKMOPSTXaeijopcyxs"), ("ΑΒΕΖΗΙΚΜΝΟΡΤΥΧο", "ABEZHIKMNOPTYXo")];
    PAIRS.iter().find_map(|(from, to)| {
        let place = from.chars().position(|x| x == c)?;
        to.chars().nth(place)
    })
}

/// Writes a word with the Latin letters it seems to have.
pub(crate) fn latinised(word: &str) -> String {
    word.chars().map(|c| latin(c).unwrap_or(c)).collect()
}

/// Finds a letter of another alphabet that hides among Latin ones: `Rа` with
/// a Cyrillic а. A part of its own (`R_а`, `Δ`) is no mistake.
pub(crate) fn hidden_letter(word: &str) -> Option<(char, char)> {
    word.split('_')
        .filter(|part| part.chars().any(|c| c.is_ascii_alphabetic()))
        .find_map(|part| part.chars().find_map(|c| latin(c).map(|plain| (c, plain))))
}
