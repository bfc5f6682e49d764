//! The sections on equations, matrices and transfer functions.

use super::Section;
use super::math::{aligned, column, dotted, expression, fraction, of_s, sparse};
use paynter_algebra::{Expr, Pool, mathml_name};
use paynter_base::Remedy;
use paynter_equations::{Equations, Sparse, StateSpace, Transfer};

/// More than this is not read but computed with.
pub(super) const REPORTED_NODES: u64 = 6_000;
/// More equations than this are not read one after the other.
const READABLE_LINES: usize = 60;
/// Larger matrices do not fit a page.
pub(super) const READABLE_MATRIX: usize = 12;

fn size(pool: &Pool, list: impl Iterator<Item = Expr>) -> u64 {
    pool.written_size(&list.collect::<Vec<_>>())
}

/// The state equations.
pub fn equations(pool: &Pool, found: &Equations) -> Section {
    let mut section = Section::new("equations", "Equations");
    let lines = found.rates.len() + found.outputs.len() + found.constraints.len();
    let roots = found.rates.iter().copied().chain(found.outputs.iter().map(|output| output.value));
    let nodes = size(pool, roots.chain(found.constraints.iter().map(|c| c.residual)));
    if lines > READABLE_LINES || nodes > REPORTED_NODES {
        let long = format!(
            "The model has {} states and {} outputs; their equations are too long to be read here. ",
            found.states.len(),
            found.outputs.len()
        );
        section.text(Remedy::from(long).and(Remedy::marked("{ask equations} writes them.")));
        return section;
    }
    let mut put = |title: &str, rows: Vec<(String, String)>| {
        if !rows.is_empty() {
            section.heading(title);
            section.formula(aligned(&rows));
        }
    };
    let rates = found.states.iter().zip(&found.rates);
    put(
        "States",
        rates.map(|(s, e)| (mathml_name(&format!("der({})", s.name)), expression(pool, *e))).collect(),
    );
    put(
        "Equations for unknowns that are given only implicitly",
        found.constraints.iter().map(|c| ("<mn>0</mn>".to_owned(), expression(pool, c.residual))).collect(),
    );
    put(
        "States of dependent storages",
        found.dependent.iter().map(|d| (mathml_name(&d.name), expression(pool, d.value))).collect(),
    );
    put("Outputs", found.outputs.iter().map(|o| (mathml_name(&o.name), expression(pool, o.value))).collect());
    if found.states.is_empty() {
        section.text("The model has no states.");
    }
    section
}

/// The matrices of a linear model, or of a nonlinear one near its operating point.
pub fn matrices(pool: &Pool, found: &Equations, space: &StateSpace, linearised: bool) -> Section {
    let mut section = Section::new("matrices", "Matrices");
    let all = || {
        let inputs = space.b.iter().chain(&space.d);
        [&space.a, &space.c].into_iter().chain(inputs)
    };
    let nodes = size(pool, all().flat_map(|m| m.entries.iter().map(|(_, _, e)| *e)));
    let large = |m: &Sparse| m.rows.max(m.columns) > READABLE_MATRIX;
    if all().any(large) || nodes > REPORTED_NODES {
        let large = format!(
            "The matrices of {} states, {} inputs and {} outputs are too large to be read here. ",
            found.states.len(),
            found.inputs.len(),
            found.outputs.len()
        );
        section.text(Remedy::from(large).and(Remedy::marked("{ask equations json} writes them.")));
        return section;
    }
    if linearised {
        section.text(
            "Of the model linearised at its operating point, whose values states and inputs stand for.",
        );
    }
    let zero = pool.zero();
    let constant = |list: &[Expr]| list.iter().any(|e| *e != zero);
    let offsets = (constant(&space.offset.0) && !linearised, constant(&space.offset.1) && !linearised);
    let mut rows = Vec::new();
    if !found.states.is_empty() {
        rows.push((dotted('x'), sum(found, "A", &space.b, "B", offsets.0)));
    }
    if !found.outputs.is_empty() {
        rows.push(("<mi>y</mi>".to_owned(), sum(found, "C", &space.d, "D", offsets.1)));
    }
    if rows.is_empty() {
        section.text("The model has neither states nor outputs.");
        return section;
    }
    section.formula(aligned(&rows));
    let named = |name: &str, value: String| format!("<mrow><mi>{name}</mi><mo>=</mo>{value}</mrow>");
    let mut vectors = Vec::new();
    if !found.states.is_empty() {
        vectors.push(named("x", column(found.states.iter().map(|s| s.name.as_str()))));
    }
    if !found.inputs.is_empty() {
        vectors.push(named("u", column(found.inputs.iter().map(|i| i.name.as_str()))));
    }
    if !found.outputs.is_empty() {
        vectors.push(named("y", column(found.outputs.iter().map(|o| o.name.as_str()))));
    }
    section.formula(vectors.join("<mo>,</mo><mspace width=\"1.5em\"/>"));
    let mut put = |left: String, m: &Sparse| {
        if m.rows > 0 && m.columns > 0 {
            section.formula(format!("<mrow>{left}<mo>=</mo>{}</mrow>", sparse(pool, m)));
        }
    };
    put("<mi>A</mi>".to_owned(), &space.a);
    for (order, m) in space.b.iter().enumerate() {
        put(ordered("B", order), m);
    }
    put("<mi>C</mi>".to_owned(), &space.c);
    for (order, m) in space.d.iter().enumerate() {
        put(ordered("D", order), m);
    }
    for (letter, list, there) in [("a", &space.offset.0, offsets.0), ("c", &space.offset.1, offsets.1)] {
        if there {
            let rows: Vec<Vec<String>> = list.iter().map(|e| vec![expression(pool, *e)]).collect();
            section.formula(named(letter, super::math::matrix(&rows)));
        }
    }
    section
}

/// A row of the state equations: the matrix of states, those of the inputs and their derivatives, and a constant.
fn sum(found: &Equations, of_states: &str, by_inputs: &[Sparse], letter: &str, constant: bool) -> String {
    let term = |matrix: String, vector: String| format!("<mrow>{matrix}<mo>&#x2062;</mo>{vector}</mrow>");
    let mut terms = Vec::new();
    if !found.states.is_empty() {
        terms.push(term(format!("<mi>{of_states}</mi>"), "<mi>x</mi>".to_owned()));
    }
    if !found.inputs.is_empty() {
        terms.extend((0..by_inputs.len()).map(|order| term(ordered(letter, order), derivative(order))));
    }
    if constant {
        terms.push(format!("<mi>{}</mi>", of_states.to_lowercase()));
    }
    if terms.is_empty() { "<mn>0</mn>".to_owned() } else { terms.join("<mo>+</mo>") }
}

/// The matrix of the n-th derivative of the inputs.
fn ordered(letter: &str, order: usize) -> String {
    match order {
        0 => format!("<mi>{letter}</mi>"),
        _ => format!("<msub><mi>{letter}</mi><mn>{order}</mn></msub>"),
    }
}

/// The n-th derivative of the inputs.
fn derivative(order: usize) -> String {
    match order {
        0 => "<mi>u</mi>".to_owned(),
        1 => dotted('u'),
        _ => format!("<msup><mi>u</mi><mrow><mo>(</mo><mn>{order}</mn><mo>)</mo></mrow></msup>"),
    }
}

/// Says that transfer functions of a high order are not written here.
pub fn unwritten_transfer(order: usize) -> Section {
    let mut section = Section::new("transfer", "Transfer functions");
    let long = format!("Transfer functions of order {order} in symbols are too long to be read here. ");
    section.text(Remedy::from(long).and(Remedy::marked("{ask tf} writes them.")));
    section
}

/// The transfer functions.
pub fn transfer(pool: &mut Pool, found: &Equations, transfer: &Transfer) -> Section {
    let mut section = Section::new("transfer", "Transfer functions");
    let roots = transfer.entries.iter().flat_map(|entry| [entry.num, entry.den]);
    let nodes = size(pool, roots.chain(transfer.denominator));
    if let Some(reason) = transfer.shared.as_deref() {
        let why = format!("They are not written out, because {reason}. ");
        section.text(Remedy::from(why).and(Remedy::marked("{ask tf} writes them with named parts.")));
        return section;
    }
    if transfer.entries.len() > READABLE_LINES || nodes > REPORTED_NODES {
        let long =
            format!("The {} transfer functions are too long to be read here. ", transfer.entries.len());
        section.text(Remedy::from(long).and(Remedy::marked("{ask tf} writes them.")));
        return section;
    }
    if transfer.entries.is_empty() {
        section.text("The model has no pair of an input and an output.");
    }
    pool.order_by_powers_of(transfer.s);
    if let Some(denominator) = transfer.denominator {
        let denominator = pool.by_powers(denominator);
        section.text("The characteristic polynomial:");
        section.formula(format!(
            "<mrow>{}<mo>=</mo>{}</mrow>",
            of_s("<mi>Δ</mi>"),
            expression(pool, denominator)
        ));
    }
    let rows: Vec<(String, String)> = transfer
        .entries
        .iter()
        .map(|entry| {
            let output = mathml_name(&found.outputs[entry.output].name);
            let input = mathml_name(&found.inputs[entry.input].name);
            let left = format!("<mfrac>{}{}</mfrac>", of_s(&output), of_s(&input));
            let (num, den) = (pool.by_powers(entry.num), pool.by_powers(entry.den));
            (left, fraction(pool, num, den))
        })
        .collect();
    for row in rows {
        section.formula(aligned(&[row]));
    }
    section
}
