//! Spoils a valid text a little: what a slip of the keyboard or an unlucky
//! edit would do. Fuzz targets and tests of robustness feed on it, since
//! random bytes alone hardly ever pass the parser.

use crate::generate::{Options, generate};

/// Words that a mutation may put anywhere.
const WORDS: &[&str] = &[
    "Se",
    "Sf",
    "R",
    "C",
    "I",
    "TF",
    "GY",
    "0",
    "1",
    "De",
    "Df",
    "Sw",
    "RS",
    "param",
    "input",
    "output",
    "signal",
    "init",
    "use",
    "port",
    "model",
    "for",
    "prefer",
    "causality",
    "when",
    "as",
    "in",
    "->",
    "=",
    "[",
    "]",
    "{",
    "}",
    "(",
    ")",
    ";",
    ",",
    "..",
    "-1",
    "0.0",
    "1e300",
    "1e-300",
    "2",
    "e",
    "f",
    "q",
    "p",
    "t",
    "pi",
    "integral",
    "if",
    "tanh",
    "sqrt",
    "ln",
    "^",
    "/",
    "±10%",
    "[V]",
    "[m^3/s]",
    ".1",
    ".2",
    ".e",
    ".f",
    "\"",
    "\n",
];

/// A text with more tokens than this is left as it is.
const MAX_TOKENS: usize = 20_000;

/// Applies one mutation for each three bytes: which one, where, and with what.
pub fn mutate(text: &str, bytes: &[u8]) -> String {
    let mut tokens = tokens(text);
    for triple in bytes.chunks_exact(3) {
        // Where no line ends any more, copying lines doubles the text each time.
        if tokens.is_empty() || tokens.len() > MAX_TOKENS {
            break;
        }
        let [what, place, with] = [triple[0], triple[1], triple[2]].map(usize::from);
        // Both ends of long texts are within reach of one byte.
        let count = tokens.len();
        let at = (place * count / 256 + what / 8) % count;
        let other = (with * count / 256 + place) % count;
        match what % 8 {
            0 => {
                tokens.remove(at);
            }
            1 => tokens.insert(at, tokens[at].clone()),
            2 => tokens.swap(at, other),
            3 => tokens[at] = tokens[other].clone(),
            4 => tokens[at] = WORDS[with % WORDS.len()].to_owned(),
            5 => tokens.insert(at, WORDS[with % WORDS.len()].to_owned()),
            6 => {
                let (start, end) = line(&tokens, at);
                tokens.drain(start..end);
            }
            _ => {
                let (start, end) = line(&tokens, at);
                let copy = tokens[start..end].to_vec();
                let (_, goal) = line(&tokens, other);
                tokens.splice(goal..goal, copy);
            }
        }
    }
    tokens.concat()
}

/// Reads a fuzzer's bytes as a model file. Bytes that begin with a zero name a
/// random model (two bytes of seed, one of options) and spoil it with the
/// rest; all others are the file itself.
pub fn fuzzed(data: &[u8]) -> Vec<u8> {
    let [0, high, low, kind, rest @ ..] = data else { return data.to_vec() };
    let options = if kind % 2 == 0 { Options::linear() } else { Options::nonlinear() };
    let options = if kind / 2 % 2 == 0 { options.small() } else { options.tiny() };
    let options = if kind / 4 % 2 == 0 { options } else { options.with_conflicts() };
    let sample = generate(u64::from(*high) << 8 | u64::from(*low), &options);
    mutate(&sample.text, rest).into_bytes()
}

/// The tokens of the line around a token.
fn line(tokens: &[String], at: usize) -> (usize, usize) {
    let start = tokens[..at].iter().rposition(|token| token.contains('\n')).map_or(0, |found| found + 1);
    let end = tokens[at..]
        .iter()
        .position(|token| token.contains('\n'))
        .map_or(tokens.len(), |found| at + found + 1);
    (start.min(at), end)
}

/// Splits into words, runs of blanks, arrows and single signs.
fn tokens(text: &str) -> Vec<String> {
    let class = |letter: char| match letter {
        letter if letter.is_alphanumeric() || letter == '_' => 0,
        '\n' => 1,
        letter if letter.is_whitespace() => 2,
        '-' | '>' => 3,
        _ => 4,
    };
    let mut tokens: Vec<String> = Vec::new();
    let mut last = None;
    for letter in text.chars() {
        let now = class(letter);
        match tokens.last_mut() {
            Some(token) if last == Some(now) && now != 4 && now != 1 => token.push(letter),
            _ => tokens.push(letter.to_string()),
        }
        last = Some(now);
    }
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_bytes_change_nothing_and_any_bytes_are_fine() {
        let text = "model m {\n    R r1 = 2\n    se -> r1\n}\n";
        assert_eq!(mutate(text, &[]), text);
        let mut rng = crate::rng::Rng::new(1);
        for _ in 0..2000 {
            let bytes: Vec<u8> = (0..30).map(|_| rng.bits() as u8).collect();
            mutate(text, &bytes);
        }
    }

    #[test]
    fn a_zero_byte_names_a_random_model() {
        assert_eq!(fuzzed(b"model m {}"), b"model m {}");
        let sample = generate(258, &Options::nonlinear().small());
        assert_eq!(fuzzed(&[0, 1, 2, 1]), sample.text.as_bytes());
    }
}
