//! LaTeX with amsmath: formulas for a paper, and a document of its own.

use super::formulas::{Entry, Formulas, Left};
use super::plan::{Plan, Quantity};
use paynter_algebra::{Expr, Pool, Symbol, Target, latex_name};

/// The equations as aligned formulas under each title, then the matrices.
pub(super) fn formulas(pool: &Pool, formulas: &Formulas) -> String {
    let mut out = format!("% {}\n", formulas.title);
    for section in &formulas.sections {
        let rows: Vec<(String, String)> =
            section.lines.iter().map(|(left, value)| (side(pool, left), math(pool, *value))).collect();
        out += &format!("\n% {}\n{}", section.title.to_lowercase(), aligned(&rows));
    }
    if let Some(law) = &formulas.law {
        out += "\n% matrices\n";
        let widest = formulas.matrices.iter().filter_map(|m| m.rows.first()).map(Vec::len).max().unwrap_or(0);
        // bmatrix knows ten columns unless it is told otherwise.
        if widest > 10 {
            out += &format!("\\setcounter{{MaxMatrixCols}}{{{widest}}}\n");
        }
        let has = |name: &str| formulas.matrices.iter().any(|m| m.name == name);
        let side = |first: &str, inputs: &str, constant: &str| {
            let mut terms = Vec::new();
            if has(first) {
                terms.push(format!("{first} \\, x"));
            }
            if has(inputs) {
                terms.push(format!("{inputs} \\, u"));
            }
            for k in 1..=law.derivatives {
                let name = latex_name(&format!("{inputs}_{k}"));
                let input = (0..k).fold("u".to_owned(), |name, _| format!("der({name})"));
                terms.push(format!("{name} \\, {}", latex_name(&input)));
            }
            if law.offset {
                terms.push(constant.to_owned());
            }
            terms.join(" + ")
        };
        let mut rows = vec![("\\dot{x}".to_owned(), side("A", "B", "a"))];
        if has("C") || has("D") {
            rows.push(("y".to_owned(), side("C", "D", "c")));
        }
        out += &aligned(&rows);
        let mut shown: Vec<String> = Vec::new();
        for (name, list) in formulas.vectors.iter().filter(|(_, list)| !list.is_empty()) {
            let rows: Vec<Vec<String>> = list.iter().map(|name| vec![latex_name(name)]).collect();
            shown.push(format!("{name} = {}", matrix(&rows)));
        }
        out += &format!("\\[\n  {}\n\\]\n", shown.join(", \\quad\n  "));
        for m in &formulas.matrices {
            let rows: Vec<Vec<String>> =
                m.rows.iter().map(|row| row.iter().map(|e| math(pool, *e)).collect()).collect();
            out += &format!("\\[\n  {} = {}\n\\]\n", latex_name(&m.name), matrix(&rows));
        }
    }
    out
}

/// The transfer functions, one formula each.
pub(super) fn transfer(
    pool: &Pool,
    title: &str,
    definitions: &[(Symbol, Expr)],
    denominator: Option<Expr>,
    entries: &[Entry],
) -> String {
    let mut rows: Vec<(String, String)> = definitions
        .iter()
        .map(|(symbol, value)| (latex_name(pool.name(*symbol)), math(pool, *value)))
        .collect();
    rows.extend(denominator.map(|e| ("\\Delta(s)".to_owned(), math(pool, e))));
    for entry in entries {
        let left = format!("H_{{{},{}}}(s)", latex_name(&entry.output), latex_name(&entry.input));
        let value = match pool.one() == entry.den {
            true => math(pool, entry.num),
            false => format!("\\frac{{{}}}{{{}}}", math(pool, entry.num), math(pool, entry.den)),
        };
        rows.push((left, value));
    }
    format!("% {title}\n{}", aligned(&rows))
}

fn side(pool: &Pool, left: &Left) -> String {
    match left {
        Left::Rate(name) => latex_name(&format!("der({name})")),
        Left::Name(name) => latex_name(name),
        Left::Defined(symbol) => latex_name(pool.name(*symbol)),
        Left::Zero(_) => "0".to_owned(),
    }
}

fn math(pool: &Pool, e: Expr) -> String {
    pool.print(e, Target::Latex).to_string()
}

/// Formulas aligned at their equals signs.
pub(super) fn aligned(rows: &[(String, String)]) -> String {
    let lines: Vec<String> = rows.iter().map(|(left, right)| format!("  {left} &= {right}")).collect();
    format!("\\begin{{align*}}\n{}\n\\end{{align*}}\n", lines.join(" \\\\\n"))
}

fn matrix(rows: &[Vec<String>]) -> String {
    let lines: Vec<String> = rows.iter().map(|row| row.join(" & ")).collect();
    format!("\\begin{{bmatrix}} {} \\end{{bmatrix}}", lines.join(" \\\\ "))
}

/// A document that typesets by itself: the model, its quantities, its formulas.
pub(super) fn document(plan: &Plan, body: &str) -> String {
    let title = match plan.doc.is_empty() {
        true => escaped(&plan.name),
        false => escaped(&plan.doc),
    };
    let mut out = format!(
        "% {}, written by Paynter from a bond graph\n\\documentclass[a4paper]{{article}}\n\
         \\usepackage[T1]{{fontenc}}\n\\usepackage[utf8]{{inputenc}}\n\\usepackage{{amsmath,amssymb,longtable}}\n\
         \\title{{{title}}}\n\\author{{}}\n\\date{{}}\n\\begin{{document}}\n\\maketitle\n",
        plan.name
    );
    let nominal: Vec<String> = plan.nominal.iter().map(|v| scientific(*v)).collect();
    for (heading, list, values) in [
        ("States", &plan.states, None),
        ("Inputs", &plan.inputs, None),
        ("Outputs", &plan.outputs, None),
        ("Implicit unknowns", &plan.unknowns, None),
        ("States of dependent storages", &plan.dependent, None),
        ("Parameters", &plan.parameters, Some(&nominal)),
    ] {
        if !list.is_empty() {
            out += &format!("\n\\section*{{{heading}}}\n{}", quantities(list, values));
        }
    }
    out += &format!("\n\\section*{{Equations}}\n{body}\n\\end{{document}}\n");
    out
}

fn quantities(list: &[Quantity], values: Option<&Vec<String>>) -> String {
    let mut out = "\\begin{longtable}[l]{llll}\n".to_owned();
    for (i, q) in list.iter().enumerate() {
        let value = values.and_then(|values| values.get(i)).map_or(String::new(), |v| format!("${v}$"));
        out += &format!(
            "  ${}$ & {value} & {} & {} \\\\\n",
            latex_name(&q.name),
            unit(&q.unit),
            escaped(&q.doc)
        );
    }
    out + "\\end{longtable}\n"
}

/// A unit upright, with raised powers: N\,m/A.
fn unit(text: &str) -> String {
    if text.is_empty() || text == "1" {
        return String::new();
    }
    let mut out = String::new();
    let mut raised = false;
    for c in text.chars() {
        match c {
            '*' => out.push_str(if raised { "}\\," } else { "\\," }),
            '/' if raised => out.push_str("}/"),
            '^' => {
                out.push_str("^{");
                raised = true;
                continue;
            }
            c => out.push(c),
        }
        if matches!(c, '*' | '/') {
            raised = false;
        }
    }
    if raised {
        out.push('}');
    }
    format!("$\\mathrm{{{}}}$", out.replace("ohm", "\\Omega "))
}

fn scientific(value: f64) -> String {
    let text = format!("{value:?}");
    match text.split_once('e') {
        Some((mantissa, exponent)) => format!("{mantissa} \\cdot 10^{{{exponent}}}"),
        None => text.trim_end_matches(".0").to_owned(),
    }
}

fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '#' | '$' | '%' | '&' | '_' | '{' | '}' => {
                out.push('\\');
                out.push(c);
            }
            '\\' => out.push_str("\\textbackslash{}"),
            '^' => out.push_str("\\textasciicircum{}"),
            '~' => out.push_str("\\textasciitilde{}"),
            c => match paynter_algebra::greek_name(c) {
                Some(name) => out.push_str(&format!("$\\{name}$")),
                None => out.push(c),
            },
        }
    }
    out
}
