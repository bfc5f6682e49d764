//! Numbers and units as people read them: in messages, and set with a real
//! minus and powers of ten with raised exponents.

/// Writes a number in a message, with four significant digits.
pub fn short(value: f64) -> String {
    let digits = format!("{value:.3e}");
    match digits.parse::<f64>() {
        Ok(rounded) if rounded == 0.0 || (1e-4..1e6).contains(&rounded.abs()) => format!("{rounded}"),
        Ok(rounded) => format!("{rounded:e}"),
        Err(_) => digits,
    }
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
    let trimmed = |text: String| {
        if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
    };
    if (-3..6).contains(&exponent) {
        let decimals = (digits as i32 - 1 - exponent).max(0) as usize;
        return trimmed(fixed(value, decimals));
    }
    let mantissa = trimmed(mantissa.replace('-', "−"));
    format!("{mantissa}·{}", power(exponent))
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
