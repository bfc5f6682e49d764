//! Quotients for people: a numerator over its denominator, where a long
//! denominator that stands in many of them has a name and is written once.

/// A denominator longer than this gets a name.
const LONG: usize = 48;
/// Lines are broken between terms near this width.
const WIDTH: usize = 100;

/// The long denominators of a listing with their names, Δ the first.
pub struct Denominators<'a> {
    named: Vec<(String, &'a str)>,
}

impl<'a> Denominators<'a> {
    /// Names the long ones of these, in order; a power counts as its base.
    pub fn of(all: impl Iterator<Item = &'a str> + Clone) -> Self {
        // A user may have a parameter called Δ.
        let mut letter = "Δ".to_owned();
        while all.clone().any(|text| text.contains(letter.as_str())) {
            letter.push('\'');
        }
        let mut named: Vec<(String, &'a str)> = Vec::new();
        for base in all.map(|text| split_power(text).0).filter(|base| base.chars().count() > LONG) {
            if named.iter().all(|(_, known)| *known != base) {
                let name = if named.is_empty() { letter.clone() } else { format!("{letter}{}", named.len()) };
                named.push((name, base));
            }
        }
        Denominators { named }
    }

    /// What each name stands for, but for the one of `known`.
    pub fn definitions(&self, known: Option<&str>) -> String {
        let others = self.named.iter().filter(|(_, base)| Some(*base) != known);
        others.map(|(_, base)| self.definition(base)).collect()
    }

    /// A denominator, with its name before it where it has one.
    pub fn definition(&self, text: &str) -> String {
        let name = self.named.iter().find(|(_, base)| *base == text);
        broken(&name.map_or_else(|| text.to_owned(), |(name, base)| format!("{name} = {base}")))
    }

    /// A denominator, by its name where it has one.
    fn called(&self, text: &'a str) -> String {
        let (base, power) = split_power(text);
        let name = self.named.iter().find(|(_, known)| *known == base);
        name.map_or_else(|| text.to_owned(), |(name, _)| format!("{name}{power}"))
    }

    /// A numerator over its denominator, on lines of their own.
    pub fn stacked(&self, num: &str, den: &'a str) -> String {
        if den == "1" {
            return broken(num);
        }
        let den = self.called(den);
        let parts = [broken(num), broken(&den)];
        let width = |line: &str| line.trim().chars().count();
        let widest = parts.iter().flat_map(|part| part.lines()).map(width).max().unwrap_or(0);
        let centred = |part: &String| -> String {
            let line = |line: &str| format!("  {}{}\n", " ".repeat((widest - width(line)) / 2), line.trim());
            part.lines().map(line).collect()
        };
        format!("{}  {}\n{}", centred(&parts[0]), "─".repeat(widest), centred(&parts[1]))
    }

    /// A quotient on one line.
    pub fn inline(&self, num: &str, den: &'a str) -> String {
        let plain = |part: &str| !part.trim_start_matches('-').contains([' ', '+']);
        let atom = |part: &str| part.chars().all(|c| c.is_alphanumeric() || "_.^'".contains(c));
        match self.called(den).as_str() {
            "1" => num.to_owned(),
            den => {
                let above = if plain(num) { num.to_owned() } else { format!("({num})") };
                if atom(den) { format!("{above}/{den}") } else { format!("{above}/({den})") }
            }
        }
    }
}

/// `(base)^2` as its base and `^2`; anything else as it is.
fn split_power(text: &str) -> (&str, &str) {
    let power = text.rfind(")^").filter(|_| text.starts_with('(')).map(|at| (&text[1..at], &text[at + 1..]));
    power.filter(|(base, _)| is_balanced(base)).unwrap_or((text, ""))
}

/// Whether every parenthesis closes one that was opened before.
fn is_balanced(text: &str) -> bool {
    let mut depth = 0;
    let steps = text.chars().map(|c| i32::from(c == '(') - i32::from(c == ')'));
    steps.fold(true, |sound, step| {
        depth += step;
        sound && depth >= 0
    }) && depth == 0
}

/// Indented lines of a long sum, broken before its signs.
pub fn broken(text: &str) -> String {
    let mut lines = String::new();
    let mut column = 0;
    for (k, word) in text.split(' ').enumerate() {
        let width = word.chars().count() + 1;
        if k == 0 {
            lines.push_str("  ");
        } else if column + width > WIDTH && matches!(word, "+" | "-") {
            lines.push_str("\n      ");
            column = 4;
        } else {
            lines.push(' ');
        }
        lines.push_str(word);
        column += width;
    }
    lines.push('\n');
    lines
}

#[cfg(test)]
mod tests {
    use super::{Denominators, broken, split_power};

    #[test]
    fn a_long_denominator_has_a_name_and_keeps_its_power() {
        let long = ["a"; 30].join(" + ");
        let square = format!("({long})^2");
        let all = Denominators::of([long.as_str(), square.as_str(), "s + 1"].into_iter());
        assert!(all.definitions(None).starts_with("  Δ = a + a"));
        assert_eq!(all.stacked("b", &square), "   b\n  ───\n  Δ^2\n");
        assert_eq!(all.inline("b + c", &long), "(b + c)/Δ");
        assert_eq!(all.inline("b", "s + 1"), "b/(s + 1)");
    }

    #[test]
    fn a_product_of_powers_is_no_power() {
        assert_eq!(split_power("(a + b)^2"), ("a + b", "^2"));
        assert_eq!(split_power("(a + b)^2*(c + d)^2"), ("(a + b)^2*(c + d)^2", ""));
    }

    #[test]
    fn lines_break_before_signs() {
        let text = broken(&["term"; 30].join(" + "));
        assert!(text.lines().all(|line| line.chars().count() < 110));
        assert!(text.lines().skip(1).all(|line| line.trim_start().starts_with("+ ")));
    }
}
