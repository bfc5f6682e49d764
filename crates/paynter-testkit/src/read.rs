//! A model text brought to its causality by the crates under test, for tests
//! that begin there.

use paynter_algebra::Pool;
use paynter_base::{Diagnostics, FileId};
use paynter_graph::{BondGraph, Causality, FlattenOptions, assign_causality, flatten};

/// A model with its causality.
#[derive(Debug)]
pub struct Causal {
    /// Its expressions.
    pub pool: Pool,
    /// Its graph.
    pub graph: BondGraph,
    /// Its strokes.
    pub causality: Causality,
}

/// Reads a text; the messages of its errors where `check` would refuse it.
pub fn causal(text: &str) -> Result<Causal, String> {
    let (file, mut diagnostics) = paynter_language::parse_syntax(text, FileId(0));
    let mut pool = Pool::new();
    let (graph, found) = flatten(&mut pool, &[file], &FlattenOptions::default());
    diagnostics.extend(found);
    let graph = graph.filter(|_| !diagnostics.has_errors()).ok_or_else(|| messages(&diagnostics))?;
    let (causality, found) = assign_causality(&mut pool, &graph);
    let causality = causality.filter(|_| !found.has_errors()).ok_or_else(|| messages(&found))?;
    Ok(Causal { pool, graph, causality })
}

fn messages(list: &Diagnostics) -> String {
    list.iter().filter(|d| d.is_error()).map(|d| d.message.clone()).collect::<Vec<_>>().join("; ")
}
