//! Legal names for flat models: `motor.rotor` and `c[3].m` become
//! `motor_rotor` and `c_3_m`, and a name that is taken gets a number.

use std::collections::BTreeSet;

/// Names in use in one of a model's two scopes: values (parameters, inputs,
/// signals) or parts (elements, bonds).
#[derive(Debug, Clone, Default)]
pub struct Names {
    taken: BTreeSet<String>,
    /// Whether they are read alone in expressions, where `s`, `t` and `pi` mean something else.
    values: bool,
}

impl Names {
    /// Makes the scope of values; that of parts is the default.
    pub fn values() -> Names {
        Names { values: true, ..Names::default() }
    }

    /// Makes a name like the wanted one that is legal and not taken, and takes it.
    pub fn take(&mut self, wanted: &str) -> String {
        let base = plain(wanted);
        let mut name = base.clone();
        let mut number = 1;
        while self.is_reserved(&name) || !self.taken.insert(name.clone()) {
            number += 1;
            name = format!("{base}_{number}");
        }
        name
    }

    /// Words that mean something else in expressions.
    fn is_reserved(&self, name: &str) -> bool {
        matches!(name, "and" | "or" | "not") || (self.values && matches!(name, "s" | "t" | "pi"))
    }
}

/// A flattened name as one word: `c[3].m` becomes `c_3_m`.
pub fn plain(name: &str) -> String {
    name.chars().filter(|&c| c != ']').map(|c| if matches!(c, '.' | '[') { '_' } else { c }).collect()
}

/// Tells whether laws in braces read a name as one of their own variables: `e`, `f2`, `q`, `p1`.
pub fn is_local(name: &str) -> bool {
    let mut characters = name.chars();
    matches!(characters.next(), Some('e' | 'f' | 'q' | 'p')) && characters.all(|c| c.is_ascii_digit())
}

/// Tells whether a bond's name is only its number.
pub fn is_number(name: &str) -> bool {
    name.strip_prefix('b').is_some_and(|digits| {
        !digits.is_empty() && !digits.starts_with('0') && digits.bytes().all(|b| b.is_ascii_digit())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_recognisable_and_apart() {
        let mut names = Names::default();
        assert_eq!(names.take("c[3].m"), "c_3_m");
        assert_eq!(names.take("c_3.m"), "c_3_m_2");
        assert_eq!(names.take("s"), "s");
        assert_eq!(Names::values().take("s"), "s_2");
        assert!(is_local("e") && is_local("p12") && !is_local("eta") && !is_local("r1"));
        assert!(is_number("b12") && !is_number("b") && !is_number("b01") && !is_number("bond"));
    }
}
