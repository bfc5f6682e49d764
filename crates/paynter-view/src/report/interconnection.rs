//! The section on the standard interconnection model, in the order of the paper: what is asked of the nominal
//! model, the uncertain bond graph, the matrices, the block structure of Δ.

use super::equations::{READABLE_MATRIX, REPORTED_NODES};
use super::model::page_style;
use super::{Cell, Section, math};
use crate::json::Conditions;
use paynter_algebra::{Expr, Pool};
use paynter_base::Remedy;
use paynter_draw::draw::{Diagram, DrawOptions, draw, svg};
use paynter_interconnect::Interconnection;

/// The conditions, the uncertain bond graph where there is one, the matrices, and the block structure.
pub fn interconnection(
    pool: &Pool,
    found: &Interconnection,
    conditions: &Conditions,
    diagram: Option<&Diagram>,
) -> Section {
    let mut section = Section::new("interconnection", "Standard interconnection model");
    section.text(
        "The nominal model in feedback with the uncertainties of its parameters, w = Δ z; closing the loop gives the perturbed linear model exactly. Of a nonlinear model that is the linearisation at its operating point, which is held fixed.",
    );
    asked_before(&mut section, conditions);
    if let Some(diagram) = diagram {
        let drawing = draw(diagram, &DrawOptions::default());
        let caption = "The uncertain bond graph; the sources of the auxiliary inputs w are in boxes.";
        section.picture(svg(&drawing, &page_style()), drawing.frame.width(), caption);
    }
    matrices(&mut section, pool, found);
    block_structure(&mut section, pool, found);
    section
}

/// What the paper asks of the nominal model before it is made uncertain.
fn asked_before(section: &mut Section, conditions: &Conditions) {
    let row = |what: &str, holds: Option<bool>, all: bool, reach: &str, states: &[String]| {
        let word = match holds {
            Some(true) => "yes",
            Some(false) => "no",
            None => "not judged",
        };
        let from_the_graph = match all {
            true => format!("every state is {reach}"),
            false => format!("not {reach}: {}", states.join(", ")),
        };
        [what, word, &from_the_graph].map(|text| Cell::Name(text.to_owned())).to_vec()
    };
    let c = conditions;
    let rows = vec![
        row("proper", Some(c.proper), true, "free of derivatives of inputs", &[]),
        row("stabilisable", c.stabilisable, c.controllable, "controllable", &c.unmoved),
        row("detectable", c.detectable, c.observable, "observable", &c.unseen),
    ];
    section.table("Asked of the nominal model", &["Condition", "In numbers", "From the graph"], rows, "lft");
}

/// The equations with their matrices, where they are not too large.
fn matrices(section: &mut Section, pool: &Pool, found: &Interconnection) {
    let named = found.symbols.named();
    let entries: Vec<Expr> =
        named.iter().flat_map(|(_, matrix)| matrix.entries.iter().map(|(_, _, entry)| *entry)).collect();
    let largest = named.iter().map(|(_, matrix)| matrix.rows.max(matrix.columns)).max().unwrap_or(0);
    if largest > READABLE_MATRIX || pool.written_size(&entries) > REPORTED_NODES {
        section
            .text(Remedy::marked("The matrices are too large to be read here; {ask lft json} writes them."));
        return;
    }
    let equations: Vec<(String, String)> = [
        (math::dotted('x'), "A", "B1", "B2"),
        ("<mi>z</mi>".to_owned(), "C1", "D11", "D12"),
        ("<mi>y</mi>".to_owned(), "C2", "D21", "D22"),
    ]
    .into_iter()
    .map(|(left, x, w, u)| {
        let term = |matrix: &str, vector: &str| format!("<mrow>{}<mi>{vector}</mi></mrow>", letter(matrix));
        (left, [term(x, "x"), term(w, "w"), term(u, "u")].join("<mo>+</mo>"))
    })
    .collect();
    section.formula(math::aligned(&equations));
    for (name, matrix) in named.iter().filter(|(_, matrix)| matrix.rows > 0 && matrix.columns > 0) {
        let value =
            if matrix.entries.is_empty() { "<mn>0</mn>".to_owned() } else { math::sparse(pool, matrix) };
        section.formula(format!("<mrow>{}<mo>=</mo>{value}</mrow>", letter(name)));
    }
}

/// The blocks of Δ, and whether they can be smaller.
fn block_structure(section: &mut Section, pool: &Pool, found: &Interconnection) {
    let rows = found.blocks.iter().map(|block| {
        let names =
            |name: &dyn Fn(usize) -> String| block.channels.clone().map(name).collect::<Vec<_>>().join(", ");
        vec![
            Cell::Name(block.name.clone()),
            Cell::Math(math::expression(pool, block.delta)),
            Cell::Number(block.channels.len().to_string()),
            Cell::Number(block.degree.to_string()),
            Cell::Name(names(&|k| found.w_name(k))),
            Cell::Name(names(&|k| found.z_name(k))),
        ]
    });
    section.table(
        "The blocks of Δ = diag(δ I), with the least possible number of channels",
        &["Parameter", "δ", "Channels", "At least", "Auxiliary inputs", "Auxiliary outputs"],
        rows.collect(),
        "lft",
    );
    section.text(match found.is_minimal() {
        true => "No realisation has fewer channels: each parameter has as many as the McMillan degree of the model in it.",
        false => "A realisation may exist in which parameters have fewer channels, but none has fewer than the McMillan degrees of the model.",
    });
}

/// The name of a matrix with its numbers below the line.
fn letter(name: &str) -> String {
    match name.split_at(1) {
        (letter, "") => format!("<mi>{letter}</mi>"),
        (letter, number) => format!("<msub><mi>{letter}</mi><mn>{number}</mn></msub>"),
    }
}
