//! Whether a model is a well-formed bond graph, and its causality.

use crate::Model;
use crate::answer::{Answer, Asked, QueryError};
use paynter_base::{CancellationToken, Diagnostic};
use paynter_graph::Causality;
use std::sync::Arc;

/// What a check finds beside its findings.
#[derive(Debug, Clone)]
pub struct Checked {
    /// Whether there are no errors.
    pub ok: bool,
    /// Whether there is a graph at all.
    pub has_graph: bool,
    /// The causality, where it could be assigned.
    pub causality: Option<Arc<Causality>>,
}

impl Model {
    /// Tells whether it is a well-formed bond graph: syntax, names, ports, units, causality, equations, and
    /// whether its tables have the data that it reads.
    pub fn check(&self, token: &CancellationToken) -> Asked<Checked> {
        let mut answer = self.checked(token)?;
        for found in self.0.origin.tables.iter().filter_map(|(_, column)| column.as_ref().err()) {
            answer.findings.push(Diagnostic::clone(found));
        }
        answer.findings.sort();
        answer.result.ok = !answer.findings.has_errors();
        Ok(answer)
    }

    fn checked(&self, token: &CancellationToken) -> Asked<Checked> {
        let findings = self.findings(token)?;
        let causality = self.causality_as_known(token)?;
        let (pool, graph, has_graph) = match self.graph_stage() {
            Some((pool, graph)) => (pool, graph, true),
            None => (self.0.origin.pool.clone(), Default::default(), false),
        };
        let result = Checked { ok: !findings.has_errors(), has_graph, causality };
        Ok(Answer { result, findings, sources: self.sources().clone(), pool, graph: Arc::new(graph) })
    }

    /// Tells the causality of every bond, where it could be assigned.
    pub fn causality(&self, token: &CancellationToken) -> Asked<Arc<Causality>> {
        let answer = self.checked(token)?;
        match answer.causality.clone() {
            Some(causality) => Ok(answer.map(|_| causality)),
            None => Err(QueryError::Wrong(answer.findings)),
        }
    }

    /// The causality: with order and rank of the equations where there are any, else as it was assigned.
    pub(crate) fn causality_as_known(
        &self,
        token: &CancellationToken,
    ) -> Result<Option<Arc<Causality>>, QueryError> {
        match self.equations_stage(token) {
            Ok(stage) => {
                let rank = *self.0.derivation.rank.get_or_init(|| {
                    let mut pool = paynter_algebra::Pool::over(&stage.pool);
                    stage.equations.generic_rank(&mut pool).unwrap_or(stage.causality.rank)
                });
                Ok(Some(Arc::new(Causality { rank, ..Causality::clone(&stage.causality) })))
            }
            Err(QueryError::Cancelled) => Err(QueryError::Cancelled),
            Err(QueryError::Wrong(_)) => {
                Ok(self.causality_stage().ok().and_then(|stage| stage.causality.clone()))
            }
        }
    }
}
