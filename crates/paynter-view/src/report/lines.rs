//! Long formulas on several lines: browsers break no MathML, and paper has an edge. Sums are broken before their
//! signs, inside fractions and parentheses as well.

/// Letters and signs that fit on a line of the page.
const FORMULA_LINE: f64 = 84.0;
/// Formulas nested deeper than this are left as they are.
const DEEPEST: usize = 200;

/// A piece of MathML: an element with what stands in it, or text.
enum Piece<'a> {
    Element { open: &'a str, name: &'a str, inner: Vec<Piece<'a>> },
    Text(&'a str),
}

/// MathML with its long sums on several lines.
pub fn broken(math: &str) -> String {
    let mut rest = math;
    match read(&mut rest, 0) {
        Some(pieces) if rest.is_empty() => pieces.iter().map(|piece| piece.written()).collect(),
        _ => math.to_owned(),
    }
}

/// Reads pieces up to the end of the element around them; none where it is nested too deep or is no MathML of ours.
fn read<'a>(rest: &mut &'a str, depth: usize) -> Option<Vec<Piece<'a>>> {
    let mut pieces = Vec::new();
    while !rest.is_empty() && !rest.starts_with("</") {
        let Some(tag) = rest.strip_prefix('<') else {
            let end = rest.find('<').unwrap_or(rest.len());
            pieces.push(Piece::Text(&rest[..end]));
            *rest = &rest[end..];
            continue;
        };
        let end = tag.find('>')? + 2;
        let open = &rest[..end];
        let name = tag.split(['>', ' ', '/']).next()?;
        *rest = &rest[end..];
        if open.ends_with("/>") {
            pieces.push(Piece::Text(open));
            continue;
        }
        let inner = if depth < DEEPEST { read(rest, depth + 1)? } else { return None };
        *rest = rest.strip_prefix("</")?.strip_prefix(name)?.strip_prefix('>')?;
        pieces.push(Piece::Element { open, name, inner });
    }
    Some(pieces)
}

impl Piece<'_> {
    /// About how many letters wide it is.
    fn width(&self) -> f64 {
        let sum = |inner: &[Piece<'_>]| inner.iter().map(Piece::width).sum::<f64>();
        let widest = |inner: &[Piece<'_>]| inner.iter().map(Piece::width).fold(0.0, f64::max);
        match self {
            Piece::Text(text) if text.starts_with('<') => 1.0,
            Piece::Text(text) => text.split('&').enumerate().map(|(k, part)| entity(k, part)).sum(),
            Piece::Element { name, inner, .. } => match *name {
                "mfrac" | "mtable" => widest(inner),
                "mo" => sum(inner) + 0.6,
                "msub" | "msup" | "msubsup" => {
                    inner.first().map_or(0.0, Piece::width)
                        + 0.7 * inner.iter().skip(1).map(Piece::width).sum::<f64>()
                }
                _ => sum(inner),
            },
        }
    }

    /// Whether it is a sign between two terms.
    fn is_sign(&self) -> bool {
        matches!(self, Piece::Element { open: "<mo>", inner, .. } if matches!(inner[..], [Piece::Text("+" | "−")]))
    }

    fn written(&self) -> String {
        match self {
            Piece::Text(text) => (*text).to_owned(),
            Piece::Element { open, name, inner } => {
                let lines = if *name == "mrow" { lines(inner) } else { Vec::new() };
                let body = match lines.len() {
                    0 | 1 => inner.iter().map(Piece::written).collect(),
                    _ => table(&lines),
                };
                format!("{open}{body}</{name}>")
            }
        }
    }
}

/// The letters of a text after its first `&`: an entity is one of them.
fn entity(place: usize, part: &str) -> f64 {
    match (place, part.split_once(';')) {
        (0, _) => part.chars().filter(|c| *c != '\n').count() as f64,
        (_, Some((_, after))) => 1.0 + after.chars().count() as f64,
        (_, None) => 0.0,
    }
}

/// The pieces of a sum by lines, each begun by a sign but for the first; one line where all fits.
fn lines<'a, 'b>(pieces: &'b [Piece<'a>]) -> Vec<&'b [Piece<'a>]> {
    let mut lines = Vec::new();
    let (mut start, mut width, mut sign) = (0, 0.0, None);
    let mut since = 0.0;
    for (at, piece) in pieces.iter().enumerate() {
        if piece.is_sign() && at > start {
            (sign, since) = (Some(at), 0.0);
        }
        width += piece.width();
        since += piece.width();
        if width > FORMULA_LINE
            && let Some(sign) = sign.take()
        {
            lines.push(&pieces[start..sign]);
            (start, width) = (sign, since);
        }
    }
    lines.push(&pieces[start..]);
    lines
}

fn table(lines: &[&[Piece<'_>]]) -> String {
    let row = |line: &&[Piece<'_>]| {
        let line: String = line.iter().map(Piece::written).collect();
        format!("<mtr><mtd style=\"text-align:left\"><mrow>{line}</mrow></mtd></mtr>")
    };
    format!(
        "<mtable class=\"lines\" displaystyle=\"true\">{}</mtable>",
        lines.iter().map(row).collect::<String>()
    )
}

#[cfg(test)]
mod tests {
    use super::broken;

    fn sum(terms: usize) -> String {
        let terms: Vec<String> = (0..terms).map(|k| format!("<mi>term</mi><mn>{}</mn>", k % 10)).collect();
        format!("<mrow>{}</mrow>", terms.join("<mo>+</mo>"))
    }

    #[test]
    fn short_formulas_stay_as_they_are() {
        let short = format!("<mfrac>{}<mrow><mi>a</mi><mspace width=\"1em\"/></mrow></mfrac>", sum(3));
        assert_eq!(broken(&short), short);
        assert_eq!(broken("no <b math"), "no <b math");
    }

    #[test]
    fn long_sums_are_broken_before_signs_and_lose_nothing() {
        for whole in [sum(60), format!("<mfrac>{}<mrow><mi>a</mi></mrow></mfrac>", sum(60))] {
            let lines = broken(&whole);
            assert!(lines.matches("<mtr>").count() >= 4, "{lines}");
            assert_eq!(lines.matches("<mi>").count(), whole.matches("<mi>").count());
            assert_eq!(lines.matches("<mo>+</mo>").count(), 59);
            // Every line but the first begins with its sign.
            let begun = lines.matches("<mtd style=\"text-align:left\"><mrow><mo>+</mo>").count();
            assert_eq!(begun + 1, lines.matches("<mtr>").count());
        }
    }
}
