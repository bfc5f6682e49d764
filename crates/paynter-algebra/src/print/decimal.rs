//! Numbers as people write them: decimals where these are no longer than the exact fraction.

use crate::Rational;
use crate::limits::{DECIMAL_DIGITS, PLAIN_DIGITS};
use crate::number;
use crate::pool::Pool;
use dashu_base::UnsignedAbs;
use dashu_int::{IBig, UBig};
use paynter_base::number::shortest;

/// A positive decimal number: its digits with a point, and a power of ten where it is large or small.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Decimal {
    pub digits: String,
    pub exponent: i64,
}

impl Decimal {
    /// How a quotient of whole numbers is written as a decimal, before other factors or alone; nothing where the
    /// quotient itself is what people would write.
    pub fn of(pool: &Pool, above: &UBig, below: &UBig, has_factors: bool) -> Option<Decimal> {
        let (p, q) = (above.to_string().len(), below.to_string().len());
        let is_whole = *below == UBig::ONE;
        let value = Rational::from_parts(IBig::from(above.clone()), below.clone());
        if pool.writes_fraction(&value) {
            return None;
        }
        if let Some(digits) = pool.style().digits {
            return if is_whole && p <= digits {
                None
            } else {
                Decimal::read(&format!("{:.*e}", digits - 1, number::to_f64(&value)))
            };
        }
        let exact = terminating(above, below).filter(|(digits, _)| digits.len() <= DECIMAL_DIGITS);
        let (digits, exponent) = exact?;
        let decimal = Decimal::from_digits(&digits, exponent);
        // What the exact form adds to the other factors: 3*x/2 against 1.5*x, and x/2 against 0.5*x.
        let quotient = match (is_whole, has_factors) {
            (true, _) => p + usize::from(has_factors),
            (false, true) => q + 1 + if *above == UBig::ONE { 0 } else { p + 1 },
            (false, false) => p + 1 + q,
        };
        let own = decimal.length() + usize::from(has_factors);
        let is_shorter = if is_whole { own < quotient && p > PLAIN_DIGITS } else { own <= quotient };
        is_shorter.then_some(decimal)
    }

    /// The decimal that a quotient of long numbers divides by, where it ends.
    pub fn divisor(pool: &Pool, above: &UBig, below: &UBig) -> Option<Decimal> {
        let is_plain = *above == UBig::ONE || *below == UBig::ONE || !pool.has_decimals();
        let (digits, exponent) = terminating(below, above).filter(|_| !is_plain)?;
        let decimal = Decimal::from_digits(&digits, exponent);
        let quotient = above.to_string().len() + 1 + below.to_string().len();
        (digits.len() <= DECIMAL_DIGITS && decimal.length() < quotient).then_some(decimal)
    }

    /// A quotient of long numbers that stem from decimals, rounded.
    pub fn rounded_quotient(pool: &Pool, above: &UBig, below: &UBig) -> Option<Decimal> {
        let value = Rational::from_parts(IBig::from(above.clone()), below.clone());
        let digits = above.to_string().len().max(below.to_string().len());
        let limit = if *below == UBig::ONE { DECIMAL_DIGITS } else { PLAIN_DIGITS };
        let may = pool.has_decimals() && digits > limit && !pool.writes_fraction(&value);
        Decimal::rounded(&value).filter(|_| may)
    }

    /// The number nearest to a value that reads back as the same double.
    fn rounded(value: &Rational) -> Option<Decimal> {
        let nearest = number::to_f64(value);
        Decimal::read(&shortest(nearest)).filter(|_| nearest.is_normal())
    }

    fn read(text: &str) -> Option<Decimal> {
        let exact = number::decimal(text)?;
        let (digits, exponent) =
            terminating(&exact.numerator().clone().try_into().ok()?, exact.denominator())?;
        Some(Decimal::from_digits(&digits, exponent))
    }

    /// Places the point: within the digits where that is short, before a power of ten otherwise.
    fn from_digits(digits: &str, exponent: i64) -> Decimal {
        let count = digits.len() as i64;
        let plain = match exponent {
            0.. => format!("{digits}{}", "0".repeat(usize::try_from(exponent).unwrap_or(0).min(400))),
            _ if count + exponent > 0 => {
                let (whole, rest) = digits.split_at((count + exponent) as usize);
                format!("{whole}.{rest}")
            }
            _ => {
                format!("0.{}{digits}", "0".repeat(usize::try_from(-exponent - count).unwrap_or(0).min(400)))
            }
        };
        let (first, rest) = digits.split_at(1);
        let point = if rest.is_empty() { "" } else { "." };
        let scientific = Decimal { digits: format!("{first}{point}{rest}"), exponent: exponent + count - 1 };
        let plain = Decimal { digits: plain, exponent: 0 };
        let is_plain = (-4..PLAIN_DIGITS as i64).contains(&scientific.exponent);
        if is_plain || plain.length() <= scientific.length() { plain } else { scientific }
    }

    fn length(&self) -> usize {
        let power = if self.exponent == 0 { 0 } else { 1 + self.exponent.to_string().len() };
        self.digits.len() + power
    }
}

/// Tells whether a number is a decimal of at most so many digits.
pub(super) fn has_digits(r: &Rational, most: usize) -> bool {
    let size = r.numerator().clone().unsigned_abs();
    terminating(&size, r.denominator()).is_some_and(|(digits, _)| digits.len() <= most)
}

/// The digits of a quotient without zeros at the end, and the power of ten that they count; nothing where they
/// do not end.
fn terminating(above: &UBig, below: &UBig) -> Option<(String, i64)> {
    let (two, five, ten) = (UBig::from(2u8), UBig::from(5u8), UBig::from(10u8));
    let (mut digits, mut divisor, mut exponent) = (above.clone(), below.clone(), 0_i64);
    let is_multiple = |n: &UBig, of: &UBig| (n % of) == UBig::ZERO;
    while is_multiple(&divisor, &ten) {
        (divisor, exponent) = (divisor / &ten, exponent - 1);
    }
    for (factor, other) in [(&two, &five), (&five, &two)] {
        while is_multiple(&divisor, factor) {
            (divisor, digits, exponent) = (divisor / factor, digits * other, exponent - 1);
        }
    }
    if divisor != UBig::ONE {
        return None;
    }
    let text = digits.to_string();
    let trimmed = text.trim_end_matches('0');
    let zeros = (text.len() - trimmed.len()) as i64;
    (!trimmed.is_empty()).then(|| (trimmed.to_owned(), exponent + zeros))
}

#[cfg(test)]
mod tests {
    use crate::node::Expr;
    use crate::pool::Pool;
    use crate::print::Target;

    fn number(pool: &mut Pool, above: i64, below: i64) -> Expr {
        let (above, below) = (pool.int(above), pool.int(below));
        pool.div(above, below)
    }

    #[test]
    fn a_decimal_is_written_where_it_is_no_longer_than_the_fraction() {
        let mut pool = Pool::new();
        pool.write_for_people();
        let x = pool.symbol("x");
        let x = pool.var(x);
        for (above, below, alone, before) in [
            (1, 2, "0.5", "x/2"),
            (19, 20, "0.95", "0.95*x"),
            (3, 2, "1.5", "1.5*x"),
            (-3, 2, "-1.5", "-1.5*x"),
            (1, 3, "1/3", "x/3"),
            (1, 8, "1/8", "x/8"),
            (1, 20, "0.05", "x/20"),
            (1, 2_000_000, "5e-7", "5e-7*x"),
            (12_345, 1000, "12.345", "12.345*x"),
            (200_000, 1, "200000", "200000*x"),
            (30_000_000_000, 1, "3e10", "3e10*x"),
            (8_364_677_624_642_921, 20_000_000_000_000_000, "0.41823388123214605", "0.41823388123214605*x"),
        ] {
            let r = number(&mut pool, above, below);
            assert_eq!(pool.display(r).to_string(), alone);
            let product = pool.mul(r, x);
            assert_eq!(pool.display(product).to_string(), before);
        }
    }

    #[test]
    fn exact_text_and_fractions_of_the_model_stay() {
        let mut pool = Pool::new();
        let half = number(&mut pool, 1, 2);
        let part = number(&mut pool, 19, 20);
        assert_eq!(pool.display(part).to_string(), "19/20");
        pool.keep_fraction(half);
        pool.write_for_people();
        assert_eq!(pool.display(half).to_string(), "1/2");
        assert_eq!(pool.display(part).to_string(), "0.95");
        assert_eq!(pool.print(part, Target::Python).to_string(), "19/20");
    }

    #[test]
    fn products_of_decimals_are_rounded_and_whole_numbers_are_not() {
        let mut pool = Pool::new();
        pool.write_for_people();
        let (three, forty) = (pool.int(3), pool.int(40));
        let large = pool.pow(three, forty);
        assert_eq!(pool.display(large).to_string(), "12157665459056928801");
        let [a, b, c] = ["0.123456789", "1.0987654321", "3.3333333"].map(|text| pool.decimal(text).unwrap());
        let product = pool.product(&[a, b, c]);
        let rounded: f64 = pool.display(product).to_string().parse().unwrap();
        let exact = 0.123_456_789 * 1.098_765_432_1 * 3.333_333_3;
        assert!((rounded - exact).abs() < 1e-15 && pool.display(product).to_string().len() < 20);
        let small = pool.decimal("2.5e-7").unwrap();
        assert_eq!(pool.print(small, Target::Latex).to_string(), "2.5 \\cdot 10^{-7}");
    }
}
