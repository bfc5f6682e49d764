//! Units: `[kg*m^2/s]` as a product of powers.

use paynter_base::{Span, code};

use super::{Parsed, Parser};
use crate::SyntaxKind;
use crate::ast::{Unit, UnitFactor};
use crate::lexer::normalised;
use crate::limits::LARGEST_UNIT_POWER;

const UNIT: &str = "a unit is written like `[N*m/rad]`, `[m^2]` or `[1/s]`";

/// A power of a unit: numerator and positive denominator.
#[derive(Debug, Clone, Copy)]
struct Power {
    top: i64,
    bottom: i64,
}

impl Power {
    const ONE: Power = Power { top: 1, bottom: 1 };

    fn times(self, other: Power) -> Option<Power> {
        Power { top: self.top.checked_mul(other.top)?, bottom: self.bottom.checked_mul(other.bottom)? }
            .reduced()
    }

    /// Cancels, and refuses what no unit has.
    fn reduced(self) -> Option<Power> {
        let (mut a, mut b) = (self.top.unsigned_abs(), self.bottom.unsigned_abs());
        while b != 0 {
            (a, b) = (b, a % b);
        }
        let common = i64::try_from(a).ok().filter(|common| *common != 0)?;
        let power = Power { top: self.top / common, bottom: self.bottom / common };
        (power.top.abs() <= LARGEST_UNIT_POWER && (1..=LARGEST_UNIT_POWER).contains(&power.bottom))
            .then_some(power)
    }
}

impl Parser<'_> {
    /// Reads `[unit]` where one stands.
    pub(super) fn optional_unit(&mut self) -> Parsed<Option<Unit>> {
        if !self.at(SyntaxKind::LBracket) {
            return Some(None);
        }
        let start = self.start_offset();
        self.open(SyntaxKind::Unit);
        let opened = self.open_bracket()?;
        if self.at(SyntaxKind::RBracket) {
            return self.unexpected("a unit", "write `[1]` for a pure number, or leave the brackets out");
        }
        let mut factors = Vec::new();
        self.unit_product(Power::ONE, &mut factors)?;
        if matches!(self.kind(), SyntaxKind::Ident | SyntaxKind::Number | SyntaxKind::LParen) && !self.newline
        {
            return self.unexpected("`*`, `/` or `]`", "write products of units with `*`: `[N*m]`");
        }
        self.close_bracket(opened, SyntaxKind::RBracket, "`*`, `/`, `^` or `]`")?;
        self.close();
        let mut units = Vec::with_capacity(factors.len());
        for (symbol, power) in factors {
            let (Ok(top), Ok(bottom)) = (i32::try_from(power.top), i32::try_from(power.bottom)) else {
                continue;
            };
            units.push(UnitFactor { symbol, power: top, root: bottom });
        }
        Some(Some(Unit { factors: units, span: self.since(start) }))
    }

    /// Reads `a*b/c`, all of it raised to `outer`.
    fn unit_product(&mut self, outer: Power, factors: &mut Vec<(crate::ast::Name, Power)>) -> Parsed<()> {
        let mut sign = 1;
        loop {
            let first = factors.len();
            let place = self.here();
            self.unit_factor(factors)?;
            let power = self.unit_power()?;
            for (_, factor) in &mut factors[first..] {
                let raised = factor.times(power).and_then(|p| p.times(outer));
                match raised.and_then(|p| p.times(Power { top: sign, bottom: 1 })) {
                    Some(raised) => *factor = raised,
                    None => return self.bad_power(place),
                }
            }
            match self.kind() {
                SyntaxKind::Star => sign = 1,
                SyntaxKind::Slash => sign = -1,
                _ => return Some(()),
            }
            self.bump_joining();
        }
    }

    fn unit_factor(&mut self, factors: &mut Vec<(crate::ast::Name, Power)>) -> Parsed<()> {
        match self.kind() {
            SyntaxKind::Ident | SyntaxKind::Percent => factors.push((self.bump_name(), Power::ONE)),
            SyntaxKind::Number if normalised(self.next_text()) == "1" => self.bump(),
            SyntaxKind::Number => {
                return self
                    .unexpected("a unit", "a unit has no factor but 1, put the number into the value; after an index comes a point, `c[2].m`");
            }
            SyntaxKind::LParen => {
                self.open(SyntaxKind::Paren);
                let opened = self.open_bracket()?;
                self.unit_product(Power::ONE, factors)?;
                self.close_bracket(opened, SyntaxKind::RParen, "`*`, `/`, `^` or `)`")?;
                self.close();
            }
            _ => return self.unexpected("a unit", UNIT),
        }
        Some(())
    }

    /// Reads `^2`, `^-1`, `^(1/2)` or `²` where one stands.
    fn unit_power(&mut self) -> Parsed<Power> {
        let place = self.here();
        if self.at(SyntaxKind::Superscript) {
            let text = normalised(self.next_text()).replace('\u{2212}', "-");
            self.bump();
            let power = text.parse().ok().and_then(|top| Power { top, bottom: 1 }.reduced());
            return match power {
                Some(power) => Some(power),
                None => self.bad_power(place),
            };
        }
        if !self.at(SyntaxKind::Caret) {
            return Some(Power::ONE);
        }
        self.bump_joining();
        let place = self.here();
        if !self.at(SyntaxKind::LParen) {
            let power = self.signed_power()?;
            return match power.reduced() {
                Some(power) => Some(power),
                None => self.bad_power(place),
            };
        }
        self.open(SyntaxKind::Paren);
        let opened = self.open_bracket()?;
        let mut power = self.signed_power()?;
        if self.at(SyntaxKind::Slash) {
            self.bump_joining();
            let below = self.signed_power()?;
            // A divisor's sign moves to the numerator; zero is refused below.
            let turned = Power { top: below.bottom * below.top.signum(), bottom: below.top.abs() };
            power = match power.times(turned) {
                Some(power) => power,
                None => return self.bad_power(place),
            };
        }
        self.close_bracket(opened, SyntaxKind::RParen, "`/` or `)`")?;
        self.close();
        match power.reduced() {
            Some(power) => Some(power),
            None => self.bad_power(place),
        }
    }

    /// Reads `2`, `-1` or `0.5`.
    fn signed_power(&mut self) -> Parsed<Power> {
        let sign = if self.eat(SyntaxKind::Minus) { -1 } else { 1 };
        let place = self.here();
        if !self.at(SyntaxKind::Number) {
            return self.unexpected("a number", "the power of a unit is a number: `m^2`, `s^-1`, `m^(1/2)`");
        }
        let text = normalised(self.next_text());
        self.bump();
        let (whole, decimals) = text.split_once('.').unwrap_or((&text, ""));
        let top = format!("{whole}{decimals}").parse::<i64>().ok();
        let bottom = u32::try_from(decimals.len()).ok().and_then(|digits| 10i64.checked_pow(digits));
        match top.zip(bottom).filter(|_| decimals.len() < 9 && whole.len() < 9) {
            Some((top, bottom)) => Some(Power { top: sign * top, bottom }),
            None => self.bad_power(place),
        }
    }

    fn bad_power<T>(&mut self, place: Span) -> Parsed<T> {
        let message =
            format!("the power of a unit lies within ±{LARGEST_UNIT_POWER} and is a simple fraction");
        self.fail(code::BAD_NUMBER, place, message, "write a whole number or a fraction like `^(1/2)`")
    }
}
