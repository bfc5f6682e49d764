//! MathML: formulas inside one `div`, for web pages.

use super::formulas::{Entry, Formulas, Left};
use paynter_algebra::{Expr, Pool, Symbol, Target, mathml_name};

const OPEN: &str = "<math xmlns=\"http://www.w3.org/1998/Math/MathML\" display=\"block\">";

/// The equations as a table of formulas under each title, then the matrices.
pub(super) fn formulas(pool: &Pool, formulas: &Formulas) -> String {
    let mut out = format!("<div class=\"equations\">\n<h2>{}</h2>\n", escaped(&formulas.title));
    for section in &formulas.sections {
        let rows: Vec<(String, String)> =
            section.lines.iter().map(|(left, value)| (side(pool, left), math(pool, *value))).collect();
        out += &format!("<h3>{}</h3>\n{}\n", section.title, table(&rows));
    }
    if !formulas.matrices.is_empty() {
        out += "<h3>Matrices</h3>\n";
    }
    for (name, list) in formulas.vectors.iter().filter(|(_, list)| !list.is_empty()) {
        let rows: Vec<Vec<String>> = list.iter().map(|name| vec![mathml_name(name)]).collect();
        out += &format!("{OPEN}<mi>{name}</mi><mo>=</mo>{}</math>\n", matrix(&rows));
    }
    for m in &formulas.matrices {
        let rows: Vec<Vec<String>> =
            m.rows.iter().map(|row| row.iter().map(|e| math(pool, *e)).collect()).collect();
        out += &format!("{OPEN}{}<mo>=</mo>{}</math>\n", mathml_name(&m.name), matrix(&rows));
    }
    out + "</div>\n"
}

/// The transfer functions, one formula each.
pub(super) fn transfer(
    pool: &Pool,
    title: &str,
    definitions: &[(Symbol, Expr)],
    denominator: Option<Expr>,
    entries: &[Entry],
) -> String {
    let mut out = format!("<div class=\"equations\">\n<h2>{}</h2>\n", escaped(title));
    let of_s = "<mo>\u{2061}</mo><mrow><mo>(</mo><mi>s</mi><mo>)</mo></mrow>";
    let mut rows: Vec<(String, String)> = definitions
        .iter()
        .map(|(symbol, value)| (mathml_name(pool.name(*symbol)), math(pool, *value)))
        .collect();
    rows.extend(denominator.map(|e| (format!("<mi>\u{394}</mi>{of_s}"), math(pool, e))));
    for entry in entries {
        let names = format!("{}<mo>,</mo>{}", mathml_name(&entry.output), mathml_name(&entry.input));
        let value = match pool.one() == entry.den {
            true => math(pool, entry.num),
            false => format!(
                "<mfrac><mrow>{}</mrow><mrow>{}</mrow></mfrac>",
                math(pool, entry.num),
                math(pool, entry.den)
            ),
        };
        rows.push((format!("<msub><mi>H</mi><mrow>{names}</mrow></msub>{of_s}"), value));
    }
    out += &table(&rows);
    out + "\n</div>\n"
}

fn side(pool: &Pool, left: &Left) -> String {
    match left {
        Left::Rate(name) => mathml_name(&format!("der({name})")),
        Left::Name(name) => mathml_name(name),
        Left::Defined(symbol) => mathml_name(pool.name(*symbol)),
        Left::Zero(_) => "<mn>0</mn>".to_owned(),
    }
}

fn math(pool: &Pool, e: Expr) -> String {
    pool.print(e, Target::MathMl).to_string()
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
