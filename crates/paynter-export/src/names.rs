//! Names of the model as a target can spell them: dots become underscores,
//! letters the target does not know are written out, and what is reserved or
//! taken gets a mark at its end.

use paynter_algebra::{Pool, Symbol, greek_name};
use std::collections::{BTreeMap, BTreeSet};

/// What a target allows in names.
#[derive(Debug)]
pub struct Identifiers {
    /// Words of the language and of its library, with spaces between.
    pub reserved: &'static str,
    /// Words of the program around the formulas.
    pub own: &'static str,
    /// Whether letters of any alphabet may stand in names.
    pub unicode: bool,
    /// The most characters that count.
    pub longest: usize,
}

/// The identifiers of every symbol, without two alike.
#[derive(Clone)]
pub(crate) struct Names {
    identifiers: &'static Identifiers,
    table: BTreeMap<Symbol, String>,
    taken: BTreeSet<String>,
}

impl Names {
    /// Starts with what a formula by itself reserves: words of the language, time and s.
    pub fn new(identifiers: &'static Identifiers) -> Names {
        let words = ["t", "s"].into_iter().chain(identifiers.reserved.split(' '));
        Names { identifiers, table: BTreeMap::new(), taken: words.map(str::to_owned).collect() }
    }

    /// Starts with what a whole program reserves.
    pub fn of_program(identifiers: &'static Identifiers) -> Names {
        let mut names = Names::new(identifiers);
        names.taken.extend(identifiers.own.split(' ').map(str::to_owned));
        names
    }

    /// Gives a symbol a name of its own, close to the one it has.
    pub fn add(&mut self, pool: &Pool, symbol: Symbol) -> String {
        if let Some(name) = self.table.get(&symbol) {
            return name.clone();
        }
        let name = self.unique(pool.name(symbol));
        self.table.insert(symbol, name.clone());
        name
    }

    /// Makes a name that nothing else has.
    pub fn unique(&mut self, name: &str) -> String {
        let plain = spelled(name, self.identifiers);
        let mut candidate = plain.clone();
        let mut number = 1;
        while self.taken.contains(&candidate) || is_table(&candidate) {
            candidate = match number {
                1 => format!("{plain}_"),
                _ => format!("{plain}_{number}"),
            };
            number += 1;
        }
        self.taken.insert(candidate.clone());
        candidate
    }

    /// The identifiers of a symbol; one that was not added is spelled alone.
    pub fn of(&self, pool: &Pool, symbol: Symbol) -> String {
        self.table.get(&symbol).cloned().unwrap_or_else(|| spelled(pool.name(symbol), self.identifiers))
    }
}

/// The printers call the functions of measured samples `table0`, `table1` …
fn is_table(name: &str) -> bool {
    name.strip_prefix("table")
        .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit()))
}

/// A name in the characters of a target: `rotor.p` is `rotor_p`, `der(u)` is `der_u`.
fn spelled(name: &str, identifiers: &Identifiers) -> String {
    let mut out = String::with_capacity(name.len());
    for c in name.chars() {
        match c {
            c if c.is_ascii_alphanumeric() => out.push(c),
            ')' => {}
            '₀'..='₉' => out.push(char::from(b'0' + (c as u32 - '₀' as u32) as u8)),
            c if c.is_ascii() => out.push('_'),
            c if identifiers.unicode && c.is_alphanumeric() => out.push(c),
            c => match greek_name(c) {
                Some(word) => out.push_str(word),
                None => out.push_str(&format!("u{:x}", c as u32)),
            },
        }
    }
    if !out.starts_with(|c: char| c.is_alphabetic()) {
        out.insert(0, 'x');
    }
    // Room is left for a mark.
    if out.chars().count() > identifiers.longest {
        out = out.chars().take(identifiers.longest).collect();
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    static PLAIN: Identifiers = Identifiers { reserved: "lambda", own: "f", unicode: false, longest: 12 };

    #[test]
    fn names_are_legal_and_distinct() {
        let mut names = Names::new(&PLAIN);
        for (name, expected) in [
            ("rotor.p", "rotor_p"),
            ("rotor_p", "rotor_p_"),
            ("rotor(p", "rotor_p_2"),
            ("lambda", "lambda_"),
            ("λ", "lambda_2"),
            ("der(ω_m)", "der_omega_m"),
            ("x₁", "x1"),
            ("_", "x_"),
            ("é", "ue9"),
            ("a_very_long_name", "a_very_long_"),
            ("a_very_long_one", "a_very_long__"),
        ] {
            assert_eq!(names.unique(name), expected, "{name}");
        }
    }
}
