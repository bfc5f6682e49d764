//! The one formatter of numbers, in the few styles that there are:
//!
//! | function | for | looks like |
//! | --- | --- | --- |
//! | [`short`] | messages, four significant digits | `0.3333`, `1.235e6` |
//! | [`significant`] | tables on a terminal, six significant digits | `0.333333`, `1.23457e6` |
//! | [`data`] | tables of data, twelve significant digits | `0.333333333333` |
//! | [`estimated`] | values written into models, ten significant digits | `0.3333333333`, `1.5e-7` |
//! | [`moment`] | times in messages, six decimals | `0.25`, `1.00000e-5` |
//! | [`rough`] | errors and tolerances in messages, two digits | `1.0e-8` |
//! | [`plain`] | pages, with a real minus and raised powers of ten | `−2.5`, `1.23·10⁹` |
//! | [`fixed`] | the ticks of an axis, so many decimals each | `−0.50` |
//! | [`rounded`] | coordinates, at most so many decimals | `12.5` |
//! | [`exact`], [`shortest`] | programs and models, read back as they were | `1.0`, `1` |
//!
//! Exact rational numbers in formulas are the business of the algebra.

/// Writes a number in a message, with four significant digits.
pub fn short(value: f64) -> String {
    scientific(value, 4, -4..6)
}

/// How many significant digits numbers in tables have: more than most parameters are known to.
pub const SIGNIFICANT_DIGITS: usize = 6;

/// Writes a number in a table, with six significant digits and without trailing zeros.
pub fn significant(value: f64) -> String {
    scientific(value, SIGNIFICANT_DIGITS, -4..6)
}

/// Writes a number in a table of data, with twelve significant digits in their shortest form.
pub fn data(value: f64) -> String {
    if value.is_finite() { scientific(value, 12, -5..12) } else { value.to_string() }
}

/// Writes a value into a model, with ten significant digits in their shortest form: more than an estimate has.
pub fn estimated(value: f64) -> String {
    scientific(value, 10, -4..7)
}

/// Magnitudes of times and states that six decimals show well.
const SIX_DECIMALS: std::ops::Range<f64> = 1e-3..1e6;

/// Writes a time or a state in a message on a run, with six decimals.
pub fn moment(value: f64) -> String {
    if value == 0.0 || SIX_DECIMALS.contains(&value.abs()) {
        trimmed(&format!("{value:.6}")).to_owned()
    } else {
        format!("{value:.5e}")
    }
}

/// Writes an error or a tolerance in a message, with two digits and an exponent.
pub fn rough(value: f64) -> String {
    format!("{value:.1e}")
}

/// Writes a number so that every programming language reads it back as it was: always with a point or
/// an exponent.
pub fn exact(value: f64) -> String {
    format!("{value:?}")
}

/// Writes the shortest decimal that is read back as it was.
pub fn shortest(value: f64) -> String {
    let text = exact(value);
    text.strip_suffix(".0").map(str::to_owned).unwrap_or(text)
}

/// Writes a number with at most so many decimals.
pub fn rounded(value: f64, decimals: i32) -> String {
    let scale = 10_f64.powi(decimals);
    let rounded = (value * scale).round() / scale;
    // Minus zero is zero.
    format!("{}", if rounded == 0.0 { 0.0 } else { rounded })
}

/// So many significant digits without trailing zeros; with an exponent unless it lies in the range.
fn scientific(value: f64, digits: usize, plain: std::ops::Range<i32>) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    if !value.is_finite() {
        let sign = if value < 0.0 { "-" } else { "" };
        return format!("{sign}{}", if value.is_nan() { "–" } else { "∞" });
    }
    // Rounding first: 999999.9 is 1e6 to six digits.
    let text = format!("{value:.*e}", digits - 1);
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let mantissa = trimmed(mantissa);
    if !plain.contains(&exponent) {
        return format!("{mantissa}e{exponent}");
    }
    // The same digits with the point moved.
    let mut out = String::with_capacity(digits + 8);
    let digits = mantissa.bytes().filter(u8::is_ascii_digit).map(char::from);
    if value < 0.0 {
        out.push('-');
    }
    if exponent < 0 {
        out.push_str("0.");
        out.extend((exponent + 1..0).map(|_| '0'));
        out.extend(digits);
        return out;
    }
    let mut whole = exponent + 1;
    for digit in digits {
        if whole == 0 {
            out.push('.');
        }
        out.push(digit);
        whole -= 1;
    }
    out.extend((0..whole).map(|_| '0'));
    out
}

/// Without zeros at the end of the decimals.
fn trimmed(text: &str) -> &str {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text }
}

/// Writes an integer raised.
pub fn raised(value: i32) -> String {
    value
        .to_string()
        .chars()
        .map(|digit| match digit {
            '-' => '⁻',
            '1' => '¹',
            '2' => '²',
            '3' => '³',
            other => char::from_u32(0x2070 + other.to_digit(10).unwrap_or(0)).unwrap_or(other),
        })
        .collect()
}

/// Writes a number with so many decimals and a real minus.
pub fn fixed(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    match text.strip_prefix('-') {
        // Minus zero is zero.
        Some(rest) if rest.chars().all(|c| matches!(c, '0' | '.')) => rest.to_owned(),
        Some(rest) => format!("−{rest}"),
        None => text,
    }
}

/// Writes a power of ten.
pub fn power(exponent: i32) -> String {
    format!("10{}", raised(exponent))
}

/// Writes a number with up to so many significant digits: plainly where that is
/// short, with a power of ten otherwise.
pub fn plain(value: f64, digits: usize) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    if !value.is_finite() {
        let word = if value.is_nan() { "–" } else { "∞" };
        return if value < 0.0 { format!("−{word}") } else { word.to_owned() };
    }
    let digits = digits.max(1);
    // Rounding first: 999.9996 is 1000 to six digits.
    let scientific = format!("{value:.*e}", digits - 1);
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if (-3..6).contains(&exponent) {
        let decimals = (digits as i32 - 1 - exponent).max(0) as usize;
        return trimmed(&fixed(value, decimals)).to_owned();
    }
    format!("{}·{}", trimmed(&mantissa.replace('-', "−")), power(exponent))
}

/// Sets a unit as people write it: `N*s/m^2` becomes N·s/m².
pub fn unit(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut characters = text.trim().chars().peekable();
    let mut word = String::new();
    let flush = |word: &mut String, out: &mut String| {
        out.push_str(match word.as_str() {
            "ohm" => "Ω",
            "kohm" => "kΩ",
            "Mohm" => "MΩ",
            "degC" => "°C",
            "deg" => "°",
            other => other,
        });
        word.clear();
    };
    while let Some(character) = characters.next() {
        if character.is_alphabetic() {
            word.push(character);
            continue;
        }
        flush(&mut word, &mut out);
        match character {
            '*' => out.push('·'),
            '^' => {
                let mut exponent = String::new();
                while let Some(next) = characters.peek().copied().filter(|c| c.is_ascii_digit() || *c == '-')
                {
                    exponent.push(next);
                    characters.next();
                }
                match exponent.parse::<i32>() {
                    Ok(value) if characters.peek() != Some(&'/') || !exponent.is_empty() => {
                        out.push_str(&raised(value));
                    }
                    _ => {
                        out.push('^');
                        out.push_str(&exponent);
                    }
                }
            }
            ' ' => {}
            other => out.push(other),
        }
    }
    flush(&mut word, &mut out);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        for (value, expected) in [
            (0.0, "0"),
            (1.0, "1"),
            (-2.5, "−2.5"),
            (0.001, "0.001"),
            (1e-4, "1·10⁻⁴"),
            (123_456.0, "123456"),
            (-1.234_567_8e9, "−1.23457·10⁹"),
            (999_999.96, "1·10⁶"),
            (f64::NEG_INFINITY, "−∞"),
            (f64::NAN, "–"),
        ] {
            assert_eq!(plain(value, 6), expected, "{value}");
        }
        assert_eq!(fixed(-0.0004, 2), "0.00");
    }

    #[test]
    fn significant_digits_are_shown_without_trailing_zeros() {
        for (value, text) in [
            (0.0, "0"),
            (-0.0, "0"),
            (1.0, "1"),
            (-2.002_500_781_7, "-2.0025"),
            (123_456.7, "123457"),
            (1_234_567.0, "1.23457e6"),
            (0.000_123_456_78, "0.000123457"),
            (1e-5, "1e-5"),
            (999_999.9, "1e6"),
            (100.0, "100"),
            (f64::NEG_INFINITY, "-∞"),
            (f64::NAN, "–"),
        ] {
            assert_eq!(significant(value), text);
        }
        assert_eq!((short(1.0 / 3.0), short(-12_345.6)), ("0.3333".into(), "-12350".into()));
    }

    #[test]
    fn data_keep_twelve_digits() {
        for (value, text) in [
            (0.0, "0"),
            (-0.0, "0"),
            (0.1 + 0.2, "0.3"),
            (99.999_999_999_999, "100"),
            (-1.5e-7, "-1.5e-7"),
            (1e300, "1e300"),
            (123_456.789, "123456.789"),
            (-123_456_789_012.0, "-123456789012"),
            (1_234_567_890_123.4, "1.23456789012e12"),
            (1.0 / 3.0, "0.333333333333"),
            (2e-5 / 3.0, "6.66666666667e-6"),
            (2e-4 / 3.0, "0.0000666666666667"),
            (f64::NAN, "NaN"),
        ] {
            assert_eq!(data(value), text);
        }
    }

    #[test]
    fn programs_read_numbers_back() {
        for value in [0.1, 1.0, -2e300, 5e-324, 1e16, 123_456.789] {
            assert_eq!(exact(value).parse(), Ok(value));
            assert_eq!(shortest(value).parse(), Ok(value));
        }
        assert_eq!((exact(1.0), shortest(1.0), shortest(0.5)), ("1.0".into(), "1".into(), "0.5".into()));
    }

    #[test]
    fn coordinates_and_moments_are_short() {
        assert_eq!(
            (rounded(-0.01, 1), rounded(1.25, 1), rounded(3.0, 2)),
            ("0".into(), "1.3".into(), "3".into())
        );
        assert_eq!(
            (moment(0.25), moment(0.0), moment(1e-5)),
            ("0.25".into(), "0".into(), "1.00000e-5".into())
        );
    }

    #[test]
    fn units_read_well() {
        for (text, expected) in [
            ("N*s/m", "N·s/m"),
            ("m^2", "m²"),
            ("kg*m^2*s^-1", "kg·m²·s⁻¹"),
            ("ohm", "Ω"),
            ("rad/s", "rad/s"),
            ("1", "1"),
            ("", ""),
            ("m^(1/2)", "m^(1/2)"),
        ] {
            assert_eq!(unit(text), expected, "{text}");
        }
    }
}
