//! Numbers for people: six significant digits.

/// Writes a number with six significant digits, without trailing zeros.
pub fn significant(value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    if !value.is_finite() {
        return if value.is_nan() {
            "–"
        } else if value > 0.0 {
            "∞"
        } else {
            "-∞"
        }
        .to_owned();
    }
    let scientific = format!("{value:.5e}");
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if (-4..6).contains(&exponent) {
        let text = format!("{value:.*}", (5 - exponent).max(0) as usize);
        return if text.contains('.') { trimmed(&text).to_owned() } else { text };
    }
    format!("{}e{exponent}", trimmed(mantissa))
}

/// Writes a complex number: `-0.5 + 0.866025j`.
pub fn complex([re, im]: [f64; 2]) -> String {
    if im == 0.0 {
        return significant(re);
    }
    let imaginary = format!("{}j", significant(im.abs()));
    let sign = if im < 0.0 { "-" } else { "+" };
    match (re == 0.0, im < 0.0) {
        (true, true) => format!("-{imaginary}"),
        (true, false) => imaginary,
        _ => format!("{} {sign} {imaginary}", significant(re)),
    }
}

/// Writes complex numbers, conjugates that stand side by side as one: `-0.5 ± 0.866025j`.
pub fn complex_list(list: &[[f64; 2]]) -> Vec<String> {
    let mut words = Vec::new();
    let mut at = 0;
    while let Some([re, im]) = list.get(at) {
        let pair = *im > 0.0 && list.get(at + 1) == Some(&[*re, -im]);
        if pair {
            let real = if *re == 0.0 { String::new() } else { format!("{} ", significant(*re)) };
            words.push(format!("{real}± {}j", significant(*im)));
        } else {
            words.push(complex([*re, *im]));
        }
        at += if pair { 2 } else { 1 };
    }
    words
}

fn trimmed(text: &str) -> &str {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn six_digits_are_shown() {
        let cases = [
            (0.0, "0"),
            (1.0, "1"),
            (-2.002_500_781_7, "-2.0025"),
            (123_456.7, "123457"),
            (1_234_567.0, "1.23457e6"),
            (0.000_123_456_78, "0.000123457"),
            (1e-5, "1e-5"),
            (999_999.9, "1e6"),
            (100.0, "100"),
        ];
        for (value, text) in cases {
            assert_eq!(significant(value), text);
        }
    }

    #[test]
    fn conjugates_stand_together() {
        let list = [[0.0, 0.0], [-0.5, 2.0], [-0.5, -2.0], [0.0, 3.0], [0.0, -3.0], [1.0, -1.0]];
        assert_eq!(complex_list(&list), ["0", "-0.5 ± 2j", "± 3j", "1 - 1j"]);
    }
}
