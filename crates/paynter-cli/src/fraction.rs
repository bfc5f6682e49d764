//! Quotients for people: a numerator over its denominator, where a long
//! denominator that stands in many of them has a name and is written once.

/// A denominator longer than this gets a name.
const LONG_DENOMINATOR: usize = 48;
/// Lines are broken between terms near this width.
const WIDTH: usize = 100;

/// The long denominators of a listing with their names, Δ the first.
pub struct Denominators<'a> {
    named: Vec<(String, &'a str)>,
}

impl<'a> Denominators<'a> {
    /// Names the long ones of these, in order; powers and multiples of one count as that one. Texts beside
    /// them may read a parameter called Δ as well.
    pub fn of(
        all: impl Iterator<Item = &'a str> + Clone,
        beside: impl Iterator<Item = &'a str> + Clone,
    ) -> Self {
        let mut letter = "Δ".to_owned();
        while all.clone().chain(beside.clone()).any(|text| text.contains(letter.as_str())) {
            letter.push('\'');
        }
        let mut found = Denominators { named: Vec::new() };
        for text in all {
            if found.called(text).chars().count() > LONG_DENOMINATOR {
                let count = found.named.len();
                let name = if count == 0 { letter.clone() } else { format!("{letter}{count}") };
                found.named.push((name, base(text)));
            }
        }
        found
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
    fn called(&self, text: &str) -> String {
        let whole = self.named.iter().find(|(_, base)| *base == text);
        let parts = || {
            let named = self.named.iter();
            named.fold(text.to_owned(), |text, (name, base)| text.replace(&format!("({base})"), name))
        };
        whole.map_or_else(parts, |(name, _)| name.clone())
    }

    /// A numerator over its denominator, on lines of their own.
    pub fn stacked(&self, num: &str, den: &str) -> String {
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
    pub fn inline(&self, num: &str, den: &str) -> String {
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

/// What a power is taken of; anything else as it is.
fn base(text: &str) -> &str {
    let inner = text.rfind(")^").filter(|_| text.starts_with('(')).map(|end| &text[1..end]);
    inner.filter(|inner| depths(inner).iter().all(|depth| *depth >= 0)).unwrap_or(text)
}

/// How many parentheses are open after each character.
fn depths(text: &str) -> Vec<i32> {
    let mut depth = 0;
    let mut after = |c: char| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        depth
    };
    text.chars().map(&mut after).collect()
}

/// Indented lines of a long sum, broken before its signs; before those of a
/// factor only where that is too long for a line itself.
pub fn broken(text: &str) -> String {
    let characters: Vec<char> = text.chars().collect();
    let depths = depths(text);
    let mut in_long_factor = vec![false; depths.len()];
    let mut opened = 0;
    for at in (0..depths.len()).filter(|at| depths[*at] == 0) {
        in_long_factor[opened..at].fill(at - opened > WIDTH);
        opened = at + 1;
    }
    let mut lines = String::from("  ");
    let mut column = 0;
    for (at, c) in characters.iter().enumerate() {
        let is_sign = *c == ' ' && matches!(characters.get(at + 1), Some('+' | '-'));
        let is_place = is_sign && (depths[at] == 0 || depths[at] == 1 && in_long_factor[at]);
        // Only at a place to break: a product of a thousand factors has no blank.
        let next = || characters[at + 1..].iter().skip(2).take_while(|c| **c != ' ').count() + 3;
        if is_place && column + next() > WIDTH {
            lines.push_str("\n     ");
            column = 4;
        }
        lines.push(*c);
        column += 1;
    }
    lines.push('\n');
    lines
}

#[cfg(test)]
mod tests {
    use super::{Denominators, base, broken};

    #[test]
    fn a_long_denominator_has_a_name_and_keeps_its_power() {
        let long = ["a"; 30].join(" + ");
        let square = format!("({long})^2");
        let all = Denominators::of([long.as_str(), square.as_str(), "s + 1"].into_iter(), std::iter::empty());
        assert!(all.definitions(None).starts_with("  Δ = a + a"));
        assert_eq!(all.stacked("b", &square), "   b\n  ───\n  Δ^2\n");
        assert_eq!(all.inline("b + c", &long), "(b + c)/Δ");
        assert_eq!(all.inline("b", &format!("c*({long})")), "b/(c*Δ)");
        assert_eq!(all.inline("b", "s + 1"), "b/(s + 1)");
    }

    #[test]
    fn a_product_of_powers_is_no_power() {
        assert_eq!(base("(a + b)^2"), "a + b");
        assert_eq!(base("(a + b)^2*(c + d)^2"), "(a + b)^2*(c + d)^2");
    }

    #[test]
    fn lines_break_before_signs() {
        let text = broken(&["term"; 30].join(" + "));
        assert!(text.lines().all(|line| line.chars().count() < 110));
        assert!(text.lines().skip(1).all(|line| line.trim_start().starts_with("+ ")));
        let text = broken(&["a*(b + c)"; 30].join(" + "));
        assert!(text.lines().all(|line| line.ends_with("c)")));
    }
}
