//! Notations of formulas and languages of programs, as the library has them.

use clap::ValueEnum;
use clap::builder::PossibleValue;
use paynter::export::{Target, notations, programs};
use std::sync::OnceLock;

/// A notation of formulas, or plain text.
#[derive(Debug, Clone, Copy)]
pub struct Form(Option<&'static dyn Target>);

impl Form {
    /// Plain text.
    pub const TEXT: Form = Form(None);

    /// The notation, where it is not plain text.
    pub fn notation(self) -> Option<&'static dyn Target> {
        self.0
    }
}

impl ValueEnum for Form {
    fn value_variants<'a>() -> &'a [Form] {
        static ALL: OnceLock<Vec<Form>> = OnceLock::new();
        ALL.get_or_init(|| std::iter::once(Form(None)).chain(notations().map(|t| Form(Some(t)))).collect())
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(match self.0 {
            Some(target) => PossibleValue::new(target.name()).help(target.about()),
            None => PossibleValue::new("text").help("Plain text"),
        })
    }
}

/// The language of a program.
#[derive(Debug, Clone, Copy)]
pub struct Language(pub &'static dyn Target);

impl ValueEnum for Language {
    fn value_variants<'a>() -> &'a [Language] {
        static ALL: OnceLock<Vec<Language>> = OnceLock::new();
        ALL.get_or_init(|| programs().map(Language).collect())
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let value = PossibleValue::new(self.0.name());
        Some(self.0.program_about().into_iter().fold(value, PossibleValue::help))
    }
}

/// The help of an option that chooses a notation.
pub(super) fn notation_help() -> String {
    format!("The notation: {}", listed(std::iter::once("text").chain(notations().map(Target::name))))
}

/// The help of an option that chooses a language.
pub(super) fn language_help() -> String {
    format!("The language: {}", listed(programs().map(Target::name)))
}

/// Words with commas between them and an `or` before the last.
fn listed(words: impl Iterator<Item = &'static str>) -> String {
    let words: Vec<&str> = words.collect();
    match words.split_last() {
        Some((last, [])) => (*last).to_owned(),
        Some((last, others)) => format!("{} or {last}", others.join(", ")),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_help_lists_what_the_library_has() {
        assert_eq!(notation_help(), "The notation: text, latex, mathml, python, matlab, c or julia");
        assert_eq!(language_help(), "The language: python, matlab, c, julia or latex");
    }
}
