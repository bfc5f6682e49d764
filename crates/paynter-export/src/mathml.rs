//! MathML: formulas inside one `div`, for web pages.

use crate::names::Identifiers;
use crate::page::{Cell, Left, Page, Ratio};
use crate::steps::why_text;
use crate::target::Target;
use paynter_algebra::{Expr, Pool, Target as Notation, mathml_name};
use paynter_base::number::significant;
use paynter_equations::{Derivation, Side};

const OPEN: &str = "<math xmlns=\"http://www.w3.org/1998/Math/MathML\" display=\"block\">";

/// MathML inside one `div`.
#[derive(Debug)]
pub(crate) struct MathMl;

impl Target for MathMl {
    fn name(&self) -> &'static str {
        "mathml"
    }

    fn about(&self) -> &'static str {
        "MathML for web pages"
    }

    fn extension(&self) -> &'static str {
        "html"
    }

    fn identifiers(&self) -> Option<&'static Identifiers> {
        None
    }

    fn page(&self, pool: &Pool, content: &Page) -> String {
        page(pool, content)
    }

    fn derivation(&self, pool: &Pool, model: &str, derivations: &[Derivation]) -> String {
        derivation(pool, model, derivations)
    }
}

/// A table of formulas under each title, then the matrices, then the tables.
fn page(pool: &Pool, page: &Page) -> String {
    let mut out = format!("<div class=\"equations\">\n<h2>{}</h2>\n", escaped(&page.title));
    for section in &page.sections {
        let rows: Vec<(String, String)> =
            section.lines.iter().map(|(left, value)| (side(pool, left), cell(pool, value))).collect();
        out += &format!("<h3>{}</h3>\n{}\n", section.title, table(&rows));
    }
    if !page.matrices.is_empty() {
        out += "<h3>Matrices</h3>\n";
    }
    for (name, list) in page.vectors.iter().filter(|(_, list)| !list.is_empty()) {
        let rows: Vec<Vec<String>> = list.iter().map(|name| vec![mathml_name(name)]).collect();
        out += &format!("{OPEN}<mi>{name}</mi><mo>=</mo>{}</math>\n", matrix(&rows));
    }
    for m in &page.matrices {
        let rows: Vec<Vec<String>> =
            m.rows.iter().map(|row| row.iter().map(|value| cell(pool, value)).collect()).collect();
        out += &format!("{OPEN}{}<mo>=</mo>{}</math>\n", mathml_name(&m.name), matrix(&rows));
    }
    for table in &page.tables {
        let count = table.columns.iter().map(|(_, cells)| cells.len()).max().unwrap_or(0);
        let row = |cells: Vec<String>| {
            let cells: String = cells.iter().map(|cell| format!("<mtd>{cell}</mtd>")).collect();
            format!("<mtr>{cells}</mtr>\n")
        };
        let head = row(table.columns.iter().map(|(name, _)| mathml_name(name)).collect());
        let place = |i: usize| {
            row(table
                .columns
                .iter()
                .map(|(_, list)| list.get(i).map_or(String::new(), |value| cell(pool, value)))
                .collect())
        };
        let rows: String = (0..count).map(place).collect();
        let title = escaped(&table.title);
        out += &format!("<h3>{title}</h3>\n{OPEN}<mtable>\n{head}{rows}</mtable></math>\n");
    }
    out + "</div>\n"
}

fn side(pool: &Pool, left: &Left) -> String {
    let of_s = "<mo>\u{2061}</mo><mrow><mo>(</mo><mi>s</mi><mo>)</mo></mrow>";
    match left {
        Left::Rate(name) => mathml_name(&format!("der({name})")),
        Left::Row(terms) => {
            let term = |(factor, name): &(Expr, String)| {
                let rate = mathml_name(&format!("der({name})"));
                match *factor == pool.one() {
                    true => rate,
                    false => format!(
                        "<mrow><mo>(</mo>{}<mo>)</mo></mrow><mo>\u{2062}</mo>{rate}",
                        math(pool, *factor)
                    ),
                }
            };
            terms.iter().map(term).collect::<Vec<_>>().join("<mo>+</mo>")
        }
        Left::Name(name) => mathml_name(name),
        Left::OfS(letter, Some((output, input))) => {
            let names = format!("{}<mo>,</mo>{}", mathml_name(output), mathml_name(input));
            format!("<msub>{}<mrow>{names}</mrow></msub>{of_s}", mathml_name(letter))
        }
        Left::OfS(letter, None) => format!("{}{of_s}", mathml_name(letter)),
        Left::Defined(symbol) => mathml_name(pool.name(*symbol)),
        Left::Zero(_) => "<mn>0</mn>".to_owned(),
    }
}

fn cell(pool: &Pool, cell: &Cell) -> String {
    match cell {
        Cell::Formula(e) => math(pool, *e),
        Cell::Ratio(Ratio { num, den, .. }) if *den == pool.one() => math(pool, *num),
        Cell::Ratio(Ratio { num, den, .. }) => {
            let (num, den) = (math(pool, *num), math(pool, *den));
            format!("<mfrac><mrow>{num}</mrow><mrow>{den}</mrow></mfrac>")
        }
        Cell::Real(value) => real(*value),
        Cell::Complex([re, im]) if *im == 0.0 => real(*re),
        Cell::Complex([re, im]) => {
            let sign = if *im < 0.0 { "\u{2212}" } else { "+" };
            format!("{}<mo>{sign}</mo>{}<mo>\u{2062}</mo><mi>j</mi>", real(*re), real(im.abs()))
        }
    }
}

fn real(value: f64) -> String {
    if !value.is_finite() {
        return "<mtext>–</mtext>".to_owned();
    }
    let minus = if value < 0.0 { "<mo form=\"prefix\">\u{2212}</mo>" } else { "" };
    let text = significant(value.abs());
    match text.split_once('e') {
        Some((mantissa, exponent)) => {
            let sign = if exponent.starts_with('-') { "<mo form=\"prefix\">\u{2212}</mo>" } else { "" };
            let exponent = exponent.trim_start_matches('-');
            format!(
                "{minus}<mn>{mantissa}</mn><mo>\u{22C5}</mo><msup><mn>10</mn><mrow>{sign}<mn>{exponent}</mn></mrow></msup>"
            )
        }
        None => format!("{minus}<mn>{text}</mn>"),
    }
}

fn math(pool: &Pool, e: Expr) -> String {
    pool.print(e, Notation::MathMl).to_string()
}

/// Formulas aligned at their equals signs.
fn table(rows: &[(String, String)]) -> String {
    let mut out = format!("{OPEN}<mtable columnalign=\"right left\">\n");
    for (left, right) in rows {
        out += &format!("<mtr><mtd>{left}</mtd><mtd><mo>=</mo>{right}</mtd></mtr>\n");
    }
    out + "</mtable></math>"
}

fn matrix(rows: &[Vec<String>]) -> String {
    let mut out = "<mrow><mo>[</mo><mtable>".to_owned();
    for row in rows {
        let cells: String = row.iter().map(|cell| format!("<mtd>{cell}</mtd>")).collect();
        out += &format!("<mtr>{cells}</mtr>");
    }
    out + "</mtable><mo>]</mo></mrow>"
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// Derivations, a table of lines each.
fn derivation(pool: &Pool, model: &str, derivations: &[Derivation]) -> String {
    let escaped = |text: &str| text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let mut out = format!("<div class=\"derivation\">\n<h2>{}: derivation</h2>\n", escaped(model));
    for derivation in derivations {
        out += &format!(
            "<h3>{}</h3>\n<math xmlns=\"http://www.w3.org/1998/Math/MathML\" display=\"block\">\
             <mtable columnalign=\"right left left\">\n",
            escaped(&derivation.title)
        );
        for line in &derivation.lines {
            let left = match &line.left {
                Some(Side::Symbol(s)) => mathml_name(pool.name(*s)),
                Some(Side::Rate(name)) => mathml_name(&format!("der({name})")),
                Some(Side::Output(name)) => mathml_name(name),
                Some(Side::Zero) => "<mn>0</mn>".to_owned(),
                None => String::new(),
            };
            let right =
                line.right.map_or("<mo>…</mo>".to_owned(), |e| pool.print(e, Notation::MathMl).to_string());
            out += &format!(
                "<mtr><mtd>{left}</mtd><mtd><mo>=</mo>{right}</mtd><mtd><mtext>{}</mtext></mtd></mtr>\n",
                escaped(&why_text(pool, line))
            );
        }
        out += "</mtable></math>\n";
    }
    out + "</div>\n"
}
