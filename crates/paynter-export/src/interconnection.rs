//! The standard interconnection model in a notation: nominal values, matrices, Δ, and for programming languages
//! the loop w = Δ z as their libraries for robust control close it.

use crate::page::{Cell, Left, Matrix, Page, Section};
use crate::target::Target;
use paynter_algebra::Pool;
use paynter_graph::{BondGraph, flat_name};
use paynter_interconnect::Interconnection;
use std::collections::BTreeSet;

/// Δ, and how a language closes the loop with it.
pub struct Closing {
    /// By block of Δ: what its δ is called, its number of channels, and what it is.
    pub blocks: Vec<ClosingBlock>,
}

/// One block of Δ.
pub struct ClosingBlock {
    pub name: String,
    pub size: usize,
    /// δ over nominal values and changes of parameters.
    pub remark: String,
    /// The least and the largest δ; none where no tolerance gives them.
    pub range: Option<(f64, f64)>,
}

/// The names of the nine matrices, A to D22, as they are spelled.
pub type MatrixNames<'a> = [&'a str; 9];

/// How a language begins and ends a page with the model.
pub(crate) struct Loop {
    /// What stands before the matrices.
    pub before: &'static str,
    /// What closes the loop.
    pub after: fn(&Closing, MatrixNames) -> String,
}

/// Languages without a library for it.
pub(crate) const OPEN: Loop = Loop { before: "", after: |_, _| String::new() };

/// Writes the standard interconnection model of a model.
pub fn interconnection(
    pool: &mut Pool,
    graph: &BondGraph,
    found: &Interconnection,
    notation: &dyn Target,
) -> String {
    let mut page =
        Page { title: format!("{}: standard interconnection model", graph.name), ..Page::default() };
    let mut read: BTreeSet<_> = BTreeSet::new();
    for (name, matrix) in found.symbols.named() {
        for (_, _, entry) in &matrix.entries {
            read.extend(pool.symbols(*entry));
        }
        let row = |i: usize| (0..matrix.columns).map(|j| Cell::Formula(matrix.get(pool, i, j))).collect();
        page.matrices.push(Matrix { name: name.to_owned(), rows: (0..matrix.rows).map(row).collect() });
    }
    let used = graph.parameters.iter().filter(|parameter| read.contains(&parameter.symbol));
    let value = |p: &paynter_graph::Parameter| (Left::Name(flat_name(&p.name)), Cell::Real(p.number));
    page.sections.push(Section { title: "Nominal values", lines: used.map(value).collect() });
    let names = |name: &dyn Fn(usize) -> String| (0..found.channels.len()).map(name).collect::<Vec<_>>();
    page.vectors = vec![
        ("x", found.states.clone()),
        ("w", names(&|k| found.w_name(k))),
        ("u", found.inputs.clone()),
        ("z", names(&|k| found.z_name(k))),
        ("y", found.outputs.clone()),
    ];
    let whole = page.matrices.iter().all(|matrix| matrix.rows.iter().any(|row| !row.is_empty()));
    page.matrices.retain(|matrix| matrix.rows.iter().any(|row| !row.is_empty()));
    if notation.is_typeset() {
        let delta = |block: &paynter_interconnect::Block| {
            (Left::Name(format!("delta_{}", block.name)), Cell::Formula(block.delta))
        };
        let lines = found.blocks.iter().map(delta).collect();
        page.sections.push(Section { title: "Uncertainties", lines });
    } else if whole {
        let block = |block: &paynter_interconnect::Block| ClosingBlock {
            name: format!("delta_{}", block.name),
            size: block.channels.len(),
            remark: pool.display(block.delta).to_string(),
            range: block.range(graph),
        };
        page.closing = Some(Closing { blocks: found.blocks.iter().map(block).collect() });
    }
    page.sections.retain(|section| !section.lines.is_empty());
    notation.page(pool, &page)
}
