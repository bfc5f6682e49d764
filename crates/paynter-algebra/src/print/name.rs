//! Typeset names: Greek letters, subscripts from underscores, digits and dots.

/// The parts of a name as it is typeset.
struct Parts {
    letter: String,
    /// Subscripts, in order.
    below: Vec<String>,
    /// How many dots stand above the letter: 1 for `der(u)`.
    dots: usize,
}

/// Greek letters by name, with their Unicode character.
const GREEK: [(&str, char); 34] = [
    ("alpha", 'α'),
    ("beta", 'β'),
    ("gamma", 'γ'),
    ("delta", 'δ'),
    ("epsilon", 'ε'),
    ("zeta", 'ζ'),
    ("eta", 'η'),
    ("theta", 'θ'),
    ("iota", 'ι'),
    ("kappa", 'κ'),
    ("lambda", 'λ'),
    ("mu", 'μ'),
    ("nu", 'ν'),
    ("xi", 'ξ'),
    ("pi", 'π'),
    ("rho", 'ρ'),
    ("sigma", 'σ'),
    ("tau", 'τ'),
    ("upsilon", 'υ'),
    ("phi", 'φ'),
    ("chi", 'χ'),
    ("psi", 'ψ'),
    ("omega", 'ω'),
    ("Gamma", 'Γ'),
    ("Delta", 'Δ'),
    ("Theta", 'Θ'),
    ("Lambda", 'Λ'),
    ("Xi", 'Ξ'),
    ("Pi", 'Π'),
    ("Sigma", 'Σ'),
    ("Upsilon", 'Υ'),
    ("Phi", 'Φ'),
    ("Psi", 'Ψ'),
    ("Omega", 'Ω'),
];

/// Splits `rotor.p` into p with subscript rotor, `omega_m` into omega with subscript m, `x1` into x with 1;
/// `der(u)` has a dot, `init(tank.q)` the subscript 0.
fn parts(name: &str) -> Parts {
    let mut name = name;
    let mut dots = 0;
    while let Some(inside) = name.strip_prefix("der(").and_then(|rest| rest.strip_suffix(')')) {
        name = inside;
        dots += 1;
    }
    let initial = name.strip_prefix("init(").and_then(|rest| rest.strip_suffix(')'));
    let name = initial.unwrap_or(name);
    let (path, last) = match name.rsplit_once('.') {
        Some((path, last)) => (Some(path), last),
        None => (None, name),
    };
    let mut below: Vec<String> = Vec::new();
    let letter = if last.split('_').any(str::is_empty) {
        // `u_` beside `u` keeps the line that tells them apart.
        last.to_owned()
    } else {
        let mut pieces = last.split('_');
        let (letter, own) = split_head(pieces.next().unwrap_or(last));
        below.extend(own.into_iter().chain(pieces.map(str::to_owned)));
        letter
    };
    if let Some(path) = path {
        below.extend(path.split(['.', '_']).filter(|piece| !piece.is_empty()).map(str::to_owned));
    }
    if initial.is_some() {
        below.push("0".to_owned());
    }
    Parts { letter, below, dots }
}

/// Splits digits off the end of a name, and a short index off a capital or before one: Rm, kT, x1.
fn split_head(head: &str) -> (String, Option<String>) {
    let letters = head.trim_end_matches(|c: char| c.is_ascii_digit());
    if !letters.is_empty() && letters.len() < head.len() {
        return (letters.to_owned(), Some(head[letters.len()..].to_owned()));
    }
    let chars: Vec<char> = head.chars().collect();
    let rest = chars.get(1..).unwrap_or_default();
    let lower = rest.iter().all(|c| c.is_ascii_lowercase());
    let upper = rest.iter().all(|c| c.is_ascii_uppercase());
    let indexed = match chars.first() {
        Some(first) if first.is_ascii_uppercase() => lower && rest.len() <= 3,
        Some(first) if first.is_ascii_lowercase() => upper && rest.len() <= 2,
        _ => false,
    };
    let greek = GREEK.iter().any(|(name, _)| *name == head);
    if indexed && !rest.is_empty() && !greek {
        return (chars[..1].iter().collect(), Some(rest.iter().collect()));
    }
    (head.to_owned(), None)
}

/// Returns the name of a Greek letter: `omega` for ω.
pub fn greek_name(letter: char) -> Option<&'static str> {
    GREEK.iter().find(|(_, known)| *known == letter).map(|(name, _)| *name)
}

/// Typesets a name in LaTeX: `omega_m` is `\omega_{m}`, `rotor.p` is `p_{\mathrm{rotor}}`.
pub fn latex_name(name: &str) -> String {
    let Parts { letter, below, dots } = parts(name);
    let mut out = latex_word(&letter);
    out = match dots {
        0 => out,
        // \dot, \ddot, \dddot and \ddddot exist; more are written as an order of differentiation.
        1..=4 => format!("\\{}ot{{{out}}}", "d".repeat(dots)),
        _ => format!("{{{out}}}^{{({dots})}}"),
    };
    if !below.is_empty() {
        let words: Vec<String> = below.iter().map(|word| latex_word(word)).collect();
        out += &format!("_{{{}}}", words.join(","));
    }
    out
}

fn latex_word(word: &str) -> String {
    let is_greek = |(name, letter): &&(&str, char)| is_greek_word(name, word) || is_letter(word, *letter);
    if let Some((name, _)) = GREEK.iter().find(is_greek) {
        return format!("\\{name}");
    }
    if word.chars().count() == 1 || word.chars().all(|c| c.is_ascii_digit()) {
        return escape_latex(word);
    }
    if word.chars().any(|c| GREEK.iter().any(|(_, letter)| *letter == c)) {
        let letters: Vec<String> = word.chars().map(|c| latex_word(&c.to_string())).collect();
        return letters.join(" ");
    }
    format!("\\mathrm{{{}}}", escape_latex(word))
}

/// Tells whether a word is set as the Greek letter of a name. `mu` stays a word: it stands for a coefficient of
/// friction or the unit prefix as often as for the letter, which can be written itself.
fn is_greek_word(name: &str, word: &str) -> bool {
    name == word && word != "mu"
}

fn is_letter(word: &str, letter: char) -> bool {
    let mut chars = word.chars();
    chars.next() == Some(letter) && chars.next().is_none()
}

fn escape_latex(word: &str) -> String {
    let mut out = String::new();
    for c in word.chars() {
        match c {
            '\\' => out += "\\backslash ",
            '#' | '$' | '%' | '&' | '_' | '{' | '}' => {
                out.push('\\');
                out.push(c);
            }
            '^' | '~' => out += &format!("\\text{{\\{c}{{}}}}"),
            _ => out.push(c),
        }
    }
    out
}

/// Typesets a name in MathML, with the same rules as [`latex_name`].
pub fn mathml_name(name: &str) -> String {
    let Parts { letter, below, dots } = parts(name);
    let mut base = mathml_word(&letter);
    if dots > 0 {
        base =
            format!("<mover accent=\"true\"><mrow>{base}</mrow><mo>{}</mo></mover>", "\u{2D9}".repeat(dots));
    }
    if below.is_empty() {
        return base;
    }
    let words: Vec<String> = below.iter().map(|word| mathml_word(word)).collect();
    format!("<msub>{base}<mrow>{}</mrow></msub>", words.join("<mo>,</mo>"))
}

fn mathml_word(word: &str) -> String {
    if word.chars().all(|c| c.is_ascii_digit()) {
        return format!("<mn>{word}</mn>");
    }
    match GREEK.iter().find(|(name, _)| is_greek_word(name, word)) {
        Some((_, letter)) => format!("<mi>{letter}</mi>"),
        None => format!("<mi>{}</mi>", escape_markup(word)),
    }
}

fn escape_markup(word: &str) -> String {
    word.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
