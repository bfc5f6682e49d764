//! Complex numbers for people.

use paynter::number::significant;

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conjugates_stand_together() {
        let list = [[0.0, 0.0], [-0.5, 2.0], [-0.5, -2.0], [0.0, 3.0], [0.0, -3.0], [1.0, -1.0]];
        assert_eq!(complex_list(&list), ["0", "-0.5 ± 2j", "± 3j", "1 - 1j"]);
    }
}
