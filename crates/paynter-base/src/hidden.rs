//! Characters that nobody sees or that command a terminal.

/// Tells whether a character is a control character (C0, C1), turns the direction of writing, or is
/// ignorable by default (Unicode, `Default_Ignorable_Code_Point`).
pub fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{AD}' | '\u{34F}' | '\u{61C}' | '\u{115F}' | '\u{1160}' | '\u{17B4}' | '\u{17B5}'
            | '\u{180B}'..='\u{180F}' | '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}'
            | '\u{2060}'..='\u{206F}' | '\u{3164}' | '\u{FE00}'..='\u{FE0F}' | '\u{FEFF}' | '\u{FFA0}'
            | '\u{FFF0}'..='\u{FFFB}' | '\u{1BCA0}'..='\u{1BCA3}' | '\u{1D173}'..='\u{1D17A}'
            | '\u{E0000}'..='\u{E0FFF}')
}

/// A text for people, in which hidden characters stand as their numbers, `<U+001B>`; line ends and tabs stay.
pub fn printable(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            // The invisible operators of MathML are part of its formulas and command nothing.
            '\n' | '\t' | '\u{2061}'..='\u{2064}' => out.push(c),
            c if is_hidden(c) => out.push_str(&format!("<U+{:04X}>", c as u32)),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_commands_the_terminal() {
        assert_eq!(
            printable("a\u{1b}[31m\u{9b}b\u{202e}c\u{200b}\r\n\td"),
            "a<U+001B>[31m<U+009B>b<U+202E>c<U+200B><U+000D>\n\td"
        );
        assert_eq!(printable("ω_m ± 5 µm – “x̂”"), "ω_m ± 5 µm – “x̂”");
    }
}
