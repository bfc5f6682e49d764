//! Derivations for reading: the lines of a lecturer's blackboard, in text,
//! LaTeX and the other notations.

use crate::formulas::Notation;
use paynter_algebra::{Expr, Pool, Symbol, Target, latex_name, mathml_name};
use paynter_equations::{Derivation, Line, Side};

/// Writes derivations in a notation; programming languages get plain text, for there is nothing to run.
pub fn steps(pool: &Pool, model: &str, derivations: &[Derivation], notation: Option<Notation>) -> String {
    match notation {
        Some(Notation::Latex) => latex(pool, model, derivations),
        Some(Notation::MathMl) => mathml(pool, model, derivations),
        _ => text(pool, model, derivations),
    }
}

/// The left side in plain text: `rotor.p'`.
pub fn side_text(pool: &Pool, side: &Side) -> String {
    match side {
        Side::Symbol(symbol) => pool.name(*symbol).to_owned(),
        Side::Rate(name) => format!("{name}'"),
        Side::Output(name) => name.clone(),
        Side::Zero => "0".to_owned(),
    }
}

/// Why a line holds, with the law in plain text.
pub fn why_text(pool: &Pool, line: &Line) -> String {
    match line.law {
        Some((symbol, value)) => format!("{}: {} = {}", line.why, pool.name(symbol), shown(pool, value)),
        None => line.why.clone(),
    }
}

fn shown(pool: &Pool, e: Expr) -> String {
    if pool.written_size(e) > 300 { "…".to_owned() } else { pool.display(e).to_string() }
}

fn text(pool: &Pool, model: &str, derivations: &[Derivation]) -> String {
    let mut out = format!("{model}: derivation\n");
    for derivation in derivations {
        out += &format!("\n{}\n", derivation.title);
        let rows: Vec<(String, String, String)> = derivation
            .lines
            .iter()
            .map(|line| {
                let left = line.left.as_ref().map_or_else(String::new, |side| side_text(pool, side));
                let right = line.right.map_or("…".to_owned(), |e| pool.display(e).to_string());
                (left, right, why_text(pool, line))
            })
            .collect();
        let left = rows.iter().map(|(left, _, _)| left.chars().count()).max().unwrap_or(0);
        // Long formulas do not push the reasons out of sight.
        let right =
            rows.iter().map(|(_, right, _)| right.chars().count()).filter(|n| *n <= 60).max().unwrap_or(0);
        for (start, value, why) in rows {
            let pad = " ".repeat(left - start.chars().count());
            let gap = " ".repeat(right.saturating_sub(value.chars().count()));
            out += format!("  {pad}{start} = {value}{gap}    ({why})\n").as_str();
        }
    }
    out
}

fn latex(pool: &Pool, model: &str, derivations: &[Derivation]) -> String {
    let mut out = format!("% {model}: derivation\n");
    let math = |e: Expr| pool.print(e, Target::Latex).to_string();
    let symbol = |s: Symbol| latex_name(pool.name(s));
    for derivation in derivations {
        out += &format!("\n\\paragraph{{{}}}\n\\begin{{align*}}\n", words(&derivation.title));
        let lines: Vec<String> = derivation
            .lines
            .iter()
            .map(|line| {
                let left = match &line.left {
                    Some(Side::Symbol(s)) => symbol(*s),
                    Some(Side::Rate(name)) => latex_name(&format!("der({name})")),
                    Some(Side::Output(name)) => latex_name(name),
                    Some(Side::Zero) => "0".to_owned(),
                    None => String::new(),
                };
                let right = line.right.map_or("\\dots".to_owned(), math);
                let law = match line.law {
                    Some((s, value)) if pool.written_size(value) <= 300 => {
                        format!(": $ {} = {}$", symbol(s), math(value))
                    }
                    _ => String::new(),
                };
                format!("  {left} &= {right} && \\text{{{}{law}}}", words(&line.why))
            })
            .collect();
        out += &format!("{}\n\\end{{align*}}\n", lines.join(" \\\\\n"));
    }
    out
}

/// Words between formulas, with what LaTeX reserves marked.
fn words(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        if matches!(c, '_' | '#' | '$' | '%' | '&' | '{' | '}') {
            out.push('\\');
        }
        match paynter_algebra::greek_name(c) {
            Some(name) => out.push_str(&format!("$\\{name}$")),
            None => out.push(c),
        }
    }
    out
}

fn mathml(pool: &Pool, model: &str, derivations: &[Derivation]) -> String {
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
                line.right.map_or("<mo>…</mo>".to_owned(), |e| pool.print(e, Target::MathMl).to_string());
            out += &format!(
                "<mtr><mtd>{left}</mtd><mtd><mo>=</mo>{right}</mtd><mtd><mtext>{}</mtext></mtd></mtr>\n",
                escaped(&why_text(pool, line))
            );
        }
        out += "</mtable></math>\n";
    }
    out + "</div>\n"
}
