//! Questions about structure.

use crate::Model;
use crate::answer::{Asked, QueryError, after, optional};
use paynter_base::{CancellationToken, Diagnostics};
use paynter_equations::{JunctionStructure, junction_structure};
use paynter_numerics::program::Hold;
use paynter_numerics::structure::{StructureAnalysis, analyse_structure};
use paynter_numerics::{Conserved, LinearModel, conserved_quantities};
use std::sync::Arc;

/// What the structure of a model says.
#[derive(Debug, Clone)]
pub struct StructureReport {
    /// The linear model behind it.
    pub linear: Arc<LinearModel>,
    /// Order, rank, controllability, observability, relative degrees.
    pub structure: StructureAnalysis,
    /// The junction structure matrix, where it was asked for.
    pub junctions: Option<JunctionStructure>,
    /// Combinations of states that keep their values, of models of moderate order.
    pub conserved: Vec<Conserved>,
}

/// The conserved combinations of larger models are not sought: a null space has no sparse basis to be read.
const CONSERVED_STATES: usize = 1000;

impl Model {
    /// Tells what the structure says; the junction structure matrix on request. Structure can also be told
    /// where there is no operating point.
    pub fn structure(&self, junctions: bool, token: &CancellationToken) -> Asked<StructureReport> {
        let (view, before, mut pool, linear, has_point) = match self.linear(token) {
            Ok(stage) => {
                (stage.view.clone(), stage.findings.clone(), stage.overlay(), stage.result.clone(), true)
            }
            Err(QueryError::Cancelled) => return Err(QueryError::Cancelled),
            Err(QueryError::Wrong(_)) => {
                let view = self.readable(token)?;
                let mut pool = view.overlay();
                let linear =
                    LinearModel::without_point(&mut pool, &view.graph, view.equations.clone(), token);
                let linear = linear.map_err(|failure| after(&view.findings, failure))?;
                let before = view.findings.clone();
                (view, before, pool, Arc::new(linear), false)
            }
        };
        let (graph, causality) = (&view.graph, &view.causality);
        let found = analyse_structure(&mut pool, graph, causality, &linear, has_point, token);
        let found = found.and_then(|structure| {
            let junctions =
                junctions.then(|| junction_structure(&mut pool, graph, causality, token)).transpose()?;
            let conserved = match linear.equations.states.len() > CONSERVED_STATES {
                true => None,
                false => {
                    let tables = self.tables(Hold::default())?;
                    optional(conserved_quantities(&mut pool, graph, &linear.equations, &tables, token))?
                }
            };
            let conserved = conserved.unwrap_or_default();
            Ok(StructureReport { linear: linear.clone(), structure, junctions, conserved })
        });
        view.answer_after(&before, pool, found, Diagnostics::new())
    }
}
