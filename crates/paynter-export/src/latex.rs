//! LaTeX with amsmath: formulas for a paper, and a document of its own.

use crate::formulas;
use crate::names::Identifiers;
use crate::page::{Cell, Law, Left, Page, Ratio};
use crate::plan::{Plan, Quantity};
use crate::target::{Exported, Target};
use paynter_algebra::{Expr, Pool, Symbol, Target as Notation, greek_name, latex_name};
use paynter_base::number::significant;
use paynter_equations::{Derivation, Side};

/// LaTeX with amsmath.
#[derive(Debug)]
pub(crate) struct Latex;

impl Target for Latex {
    fn name(&self) -> &'static str {
        "latex"
    }

    fn about(&self) -> &'static str {
        "LaTeX with amsmath"
    }

    fn program_about(&self) -> Option<&'static str> {
        Some("A LaTeX document")
    }

    fn extension(&self) -> &'static str {
        "tex"
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

    fn program(&self, pool: &mut Pool, model: &Exported<'_>) -> Option<String> {
        let plan = Plan::new(pool, model);
        let body = formulas::equations(pool, model.graph, model.equations, None, model.space, self);
        Some(document(&plan, &body))
    }
}

/// Aligned formulas under each title, then the matrices, then the tables.
fn page(pool: &Pool, page: &Page) -> String {
    let mut out = format!("% {}\n", page.title);
    for section in &page.sections {
        let rows: Vec<(String, String)> =
            section.lines.iter().map(|(left, value)| (side(pool, left), cell(pool, value))).collect();
        out += &format!("\n% {}\n{}", section.title.to_lowercase(), aligned(&rows));
    }
    if !page.matrices.is_empty() {
        out += "\n% matrices\n";
        let widest = page.matrices.iter().filter_map(|m| m.rows.first()).map(Vec::len).max().unwrap_or(0);
        // bmatrix knows ten columns unless it is told otherwise.
        if widest > 10 {
            out += &format!("\\setcounter{{MaxMatrixCols}}{{{widest}}}\n");
        }
    }
    if let Some(law) = &page.law {
        out += &aligned(&sides(page, law));
    }
    let mut vectors: Vec<String> = Vec::new();
    for (name, list) in page.vectors.iter().filter(|(_, list)| !list.is_empty()) {
        let rows: Vec<Vec<String>> = list.iter().map(|name| vec![latex_name(name)]).collect();
        vectors.push(format!("{name} = {}", matrix(&rows)));
    }
    if !vectors.is_empty() {
        out += &format!("\\[\n  {}\n\\]\n", vectors.join(", \\quad\n  "));
    }
    for m in &page.matrices {
        let rows: Vec<Vec<String>> =
            m.rows.iter().map(|row| row.iter().map(|value| cell(pool, value)).collect()).collect();
        out += &format!("\\[\n  {} = {}\n\\]\n", latex_name(&m.name), matrix(&rows));
    }
    for table in &page.tables {
        let names: Vec<String> = table.columns.iter().map(|(name, _)| latex_name(name)).collect();
        let count = table.columns.iter().map(|(_, cells)| cells.len()).max().unwrap_or(0);
        let row = |i: usize| {
            let cells =
                table.columns.iter().map(|(_, list)| list.get(i).map_or(String::new(), |c| cell(pool, c)));
            cells.collect::<Vec<_>>().join(" & ")
        };
        out += &format!(
            "\n% {}\n\\[\n\\begin{{array}}{{{}}}\n  {} \\\\ \\hline\n  {}\n\\end{{array}}\n\\]\n",
            table.title,
            "r".repeat(names.len()),
            names.join(" & "),
            (0..count).map(row).collect::<Vec<_>>().join(" \\\\\n  ")
        );
    }
    out
}

/// What x' and y are by the matrices.
fn sides(page: &Page, law: &Law) -> Vec<(String, String)> {
    let has = |name: &str| page.matrices.iter().any(|m| m.name == name);
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
    let rates = if law.mass { "E \\, \\dot{x}" } else { "\\dot{x}" };
    let mut rows = vec![(rates.to_owned(), side("A", "B", "a"))];
    if has("C") || has("D") {
        rows.push(("y".to_owned(), side("C", "D", "c")));
    }
    rows
}

fn side(pool: &Pool, left: &Left) -> String {
    match left {
        Left::Rate(name) => latex_name(&format!("der({name})")),
        Left::Row(terms) => {
            let term = |(factor, name): &(Expr, String)| {
                let rate = latex_name(&format!("der({name})"));
                match *factor == pool.one() {
                    true => rate,
                    false => format!("\\left({}\\right) {rate}", math(pool, *factor)),
                }
            };
            terms.iter().map(term).collect::<Vec<_>>().join(" + ")
        }
        Left::Name(name) => latex_name(name),
        Left::OfS(letter, of) => {
            let letter = latex_name(letter);
            match of {
                Some((output, input)) => {
                    format!("{letter}_{{{},{}}}(s)", latex_name(output), latex_name(input))
                }
                None => format!("{letter}(s)"),
            }
        }
        Left::Defined(symbol) => latex_name(pool.name(*symbol)),
        Left::Zero(_) => "0".to_owned(),
    }
}

fn cell(pool: &Pool, cell: &Cell) -> String {
    match cell {
        Cell::Formula(e) => math(pool, *e),
        Cell::Ratio(Ratio { num, den, .. }) if *den == pool.one() => math(pool, *num),
        Cell::Ratio(Ratio { num, den, .. }) => {
            format!("\\frac{{{}}}{{{}}}", math(pool, *num), math(pool, *den))
        }
        Cell::Real(value) => real(*value),
        Cell::Complex([re, im]) if *im == 0.0 => real(*re),
        Cell::Complex([re, im]) => {
            let sign = if *im < 0.0 { "-" } else { "+" };
            format!("{} {sign} {} \\, \\mathrm{{j}}", real(*re), real(im.abs()))
        }
    }
}

fn real(value: f64) -> String {
    match value.is_finite() {
        true => powered(&significant(value)),
        false => "\\text{--}".to_owned(),
    }
}

fn math(pool: &Pool, e: Expr) -> String {
    pool.print(e, Notation::Latex).to_string()
}

/// Formulas aligned at their equals signs.
fn aligned(rows: &[(String, String)]) -> String {
    let lines: Vec<String> = rows.iter().map(|(left, right)| format!("  {left} &= {right}")).collect();
    format!("\\begin{{align*}}\n{}\n\\end{{align*}}\n", lines.join(" \\\\\n"))
}

fn matrix(rows: &[Vec<String>]) -> String {
    let lines: Vec<String> = rows.iter().map(|row| row.join(" & ")).collect();
    format!("\\begin{{bmatrix}} {} \\end{{bmatrix}}", lines.join(" \\\\ "))
}

/// A document that typesets by itself: the model, its quantities, its formulas.
fn document(plan: &Plan, body: &str) -> String {
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
    powered(format!("{value:?}").trim_end_matches(".0"))
}

/// A number with its power of ten written out.
fn powered(text: &str) -> String {
    match text.split_once('e') {
        Some((mantissa, exponent)) => format!("{mantissa} \\cdot 10^{{{exponent}}}"),
        None => text.to_owned(),
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
            c => match greek_name(c) {
                Some(name) => out.push_str(&format!("$\\{name}$")),
                None => out.push(c),
            },
        }
    }
    out
}

/// Derivations, a paragraph of aligned lines each.
fn derivation(pool: &Pool, model: &str, derivations: &[Derivation]) -> String {
    let mut out = format!("% {model}: derivation\n");
    let math = |e: Expr| pool.print(e, Notation::Latex).to_string();
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
                    Some((s, value)) if pool.written_size(&[value]) <= 300 => {
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
        match greek_name(c) {
            Some(name) => out.push_str(&format!("$\\{name}$")),
            None => out.push(c),
        }
    }
    out
}
