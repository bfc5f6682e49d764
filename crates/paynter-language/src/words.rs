//! The words that start statements, and what a misspelt or foreign one was
//! probably meant to be.

use paynter_base::closest;

use crate::ast::{KINDS, Kind};
use crate::lookalike;

/// Words that start the statements of a model's body, elements aside.
pub(crate) const STATEMENTS: &[&str] =
    &["param", "input", "output", "signal", "init", "port", "use", "for", "prefer", "causality"];

/// Words that start what stands outside models.
pub(crate) const TOP: &[&str] = &["model", "import"];

/// Words that are operators and can be no names.
pub(crate) const OPERATORS: &[&str] = &["and", "or", "not"];

/// Words that stand between parts of a statement, never at its start.
pub(crate) const INFIX: &[&str] = &["and", "or", "in", "as", "effort_into"];

/// Words of the trade and of other languages, in lower case, and what they are here.
const TRADE: &[(&str, &str)] = &[
    ("resistor", "R"),
    ("resistance", "R"),
    ("damper", "R"),
    ("dashpot", "R"),
    ("friction", "R"),
    ("bearing", "R"),
    ("dissipator", "R"),
    ("orifice", "R"),
    ("valve", "R"),
    ("pipe", "R"),
    ("b", "R"),
    ("d", "R"),
    ("capacitor", "C"),
    ("capacitance", "C"),
    ("compliance", "C"),
    ("spring", "C"),
    ("tank", "C"),
    ("k", "C"),
    ("inertia", "I"),
    ("inertance", "I"),
    ("inductor", "I"),
    ("inductance", "I"),
    ("coil", "I"),
    ("mass", "I"),
    ("rotor", "I"),
    ("l", "I"),
    ("m", "I"),
    ("j", "I"),
    ("transformer", "TF"),
    ("lever", "TF"),
    ("gear", "TF"),
    ("gyrator", "GY"),
    ("motor", "GY"),
    ("source", "Se"),
    ("effort_source", "Se"),
    ("effort", "Se"),
    ("voltage", "Se"),
    ("battery", "Se"),
    ("force", "Se"),
    ("torque", "Se"),
    ("pressure", "Se"),
    ("v", "Se"),
    ("flow_source", "Sf"),
    ("flow", "Sf"),
    ("current", "Sf"),
    ("velocity", "Sf"),
    ("pump", "Sf"),
    ("switch", "Sw"),
    ("diode", "Sw"),
    ("relay", "Sw"),
    ("sensor", "De"),
    ("voltmeter", "De"),
    ("ammeter", "Df"),
    ("detector", "De"),
    ("zero", "0"),
    ("o", "0"),
    ("parallel", "0"),
    ("j0", "0"),
    ("one", "1"),
    ("series", "1"),
    ("j1", "1"),
    ("junction", "1"),
    ("parameter", "param"),
    ("parameters", "param"),
    ("par", "param"),
    ("const", "param"),
    ("constant", "param"),
    ("let", "param"),
    ("var", "signal"),
    ("variable", "signal"),
    ("initial", "init"),
    ("start", "init"),
    ("in", "input"),
    ("inputs", "input"),
    ("out", "output"),
    ("outputs", "output"),
    ("instance", "use"),
    ("new", "use"),
    ("include", "import"),
    ("loop", "for"),
    ("foreach", "for"),
];

/// What starts a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Word {
    Statement(&'static str),
    Element(Kind),
}

impl Word {
    /// Recognises a word exactly.
    pub(crate) fn parse(text: &str) -> Option<Word> {
        if let Some(word) = STATEMENTS.iter().find(|word| **word == text) {
            return Some(Word::Statement(word));
        }
        Kind::parse(text).map(Word::Element)
    }
}

/// Finds the word that `wrong` was meant to be, as it must be written.
pub(crate) fn meant(wrong: &str) -> Option<&'static str> {
    let all =
        || KINDS.iter().map(|(word, _)| *word).chain(STATEMENTS.iter().copied()).chain(TOP.iter().copied());
    let latin = lookalike::latinised(wrong);
    if let Some(word) = all().find(|word| *word == latin) {
        return Some(word);
    }
    if let Some(word) = all().find(|word| word.eq_ignore_ascii_case(wrong)) {
        return Some(word);
    }
    let lower = wrong.to_lowercase();
    if let Some((_, word)) = TRADE.iter().find(|(trade, _)| *trade == lower) {
        return Some(word);
    }
    // One strange letter resembles every other.
    let mut letters = lower.chars();
    let first = letters.next()?;
    letters.next()?;
    // Typing mistakes rarely change the first letter, so words that share it come first.
    let shares = |word: &&str| word.to_lowercase().starts_with(first);
    let candidates = all().filter(|word| shares(word)).chain(all().filter(|word| !shares(word)));
    closest(wrong, candidates)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn misspelt_and_foreign_words_are_understood() {
        for (wrong, word) in [
            ("Re", "R"),
            ("tf", "TF"),
            ("se", "Se"),
            ("gy", "GY"),
            ("SE", "Se"),
            ("resistor", "R"),
            ("Mass", "I"),
            ("spring", "C"),
            ("parma", "param"),
            ("ouput", "output"),
            ("singal", "signal"),
            ("modle", "model"),
            ("L", "I"),
            ("С", "C"),
            ("Τ\u{0046}", "TF"),
        ] {
            assert_eq!(meant(wrong), Some(word), "{wrong}");
        }
        assert_eq!(meant("Z"), None);
        assert_eq!(meant("flywheel"), None);
    }
}
