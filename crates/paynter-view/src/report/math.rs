//! Formulas as MathML.

use super::lines::broken;
use paynter_algebra::{Expr, Pool, Target, mathml_name};
use paynter_equations::Sparse;

/// An expression, a long one on several lines.
pub fn expression(pool: &Pool, e: Expr) -> String {
    broken(&format!("<mrow>{}</mrow>", pool.print(e, Target::MathMl)))
}

/// A fraction; nothing is written below a one.
pub fn fraction(pool: &Pool, num: Expr, den: Expr) -> String {
    let above = expression(pool, num);
    if den == pool.one() { above } else { format!("<mfrac>{above}{}</mfrac>", expression(pool, den)) }
}

/// Equations below one another, aligned at their signs.
pub fn aligned(rows: &[(String, String)]) -> String {
    let rows: String = rows
        .iter()
        .map(|(left, right)| {
            format!(
                "<mtr><mtd style=\"text-align:right\">{left}</mtd>\
                 <mtd style=\"text-align:left\"><mrow><mo>=</mo>{right}</mrow></mtd></mtr>\n"
            )
        })
        .collect();
    format!("<mtable class=\"aligned\" columnalign=\"right left\" displaystyle=\"true\">\n{rows}</mtable>")
}

/// A matrix in brackets.
pub fn matrix(rows: &[Vec<String>]) -> String {
    // The page draws the brackets: a stretched one needs a font that not every machine has.
    // Fractions keep their size: those of a fraction inside an entry could not be read.
    let mut out = String::from("<mtable class=\"matrix\" displaystyle=\"true\">");
    for row in rows {
        let cells: String = row.iter().map(|cell| format!("<mtd>{cell}</mtd>")).collect();
        out.push_str(&format!("<mtr>{cells}</mtr>\n"));
    }
    out + "</mtable>"
}

/// A matrix of expressions in brackets.
pub fn sparse(pool: &Pool, m: &Sparse) -> String {
    let row = |i: usize| (0..m.columns).map(|j| expression(pool, m.get(pool, i, j))).collect();
    matrix(&(0..m.rows).map(row).collect::<Vec<_>>())
}

/// A column of names in brackets.
pub fn column<'a>(names: impl Iterator<Item = &'a str>) -> String {
    matrix(&names.map(|name| vec![mathml_name(name)]).collect::<Vec<_>>())
}

/// A letter with a dot above it.
pub fn dotted(letter: char) -> String {
    format!("<mover><mi>{letter}</mi><mo>˙</mo></mover>")
}

/// A variable of s: H(s).
pub fn of_s(letter: &str) -> String {
    format!("<mrow>{letter}<mo>&#x2061;</mo><mo>(</mo><mi>s</mi><mo>)</mo></mrow>")
}
