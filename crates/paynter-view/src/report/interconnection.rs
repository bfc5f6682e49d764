//! The section on the standard interconnection model: the uncertain bond graph, Δ, the matrices.

use super::equations::{READABLE_MATRIX, REPORTED_NODES};
use super::model::page_style;
use super::{Cell, Section, math};
use paynter_algebra::{Expr, Pool};
use paynter_base::Remedy;
use paynter_draw::draw::{Diagram, DrawOptions, draw, svg};
use paynter_interconnect::Interconnection;

/// The uncertain bond graph where there is one, the block structure, and the matrices.
pub fn interconnection(pool: &Pool, found: &Interconnection, diagram: Option<&Diagram>) -> Section {
    let mut section = Section::new("interconnection", "Standard interconnection model");
    section.text(
        "The nominal model in feedback with the uncertainties of its parameters, w = Δ z; closing the loop gives the perturbed model exactly.",
    );
    if let Some(diagram) = diagram {
        let drawing = draw(diagram, &DrawOptions::default());
        let caption = "The uncertain bond graph; the sources of the auxiliary inputs w are in colour.";
        section.picture(svg(&drawing, &page_style()), drawing.frame.width(), caption);
    }
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
    let named = found.symbols.named();
    let entries: Vec<Expr> =
        named.iter().flat_map(|(_, matrix)| matrix.entries.iter().map(|(_, _, entry)| *entry)).collect();
    let largest = named.iter().map(|(_, matrix)| matrix.rows.max(matrix.columns)).max().unwrap_or(0);
    if largest > READABLE_MATRIX || pool.written_size(&entries) > REPORTED_NODES {
        section
            .text(Remedy::marked("The matrices are too large to be read here; {ask lft json} writes them."));
        return section;
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
    section
}

/// The name of a matrix with its numbers below the line.
fn letter(name: &str) -> String {
    match name.split_at(1) {
        (letter, "") => format!("<mi>{letter}</mi>"),
        (letter, number) => format!("<msub><mi>{letter}</mi><mn>{number}</mn></msub>"),
    }
}
