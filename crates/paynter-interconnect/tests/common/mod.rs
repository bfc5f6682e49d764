//! Models read, derived and interconnected, for the tests of this crate.

#![allow(dead_code, clippy::unwrap_used, reason = "each test file uses its part")]

use paynter_algebra::{Pool, Residues};
use paynter_base::CancellationToken;
use paynter_equations::{Equations, QueryError, Sparse, StateSpace, derive};
use paynter_graph::{BondGraph, Causality, Tolerance};
use paynter_interconnect::{Interconnection, Procedure, Request, interconnect};
use paynter_testkit::read::{Causal, causal};

pub type Dense = Vec<Vec<u64>>;

pub struct Loaded {
    pub pool: Pool,
    pub graph: BondGraph,
    pub causality: Causality,
    pub equations: Equations,
}

/// Reads a model and derives its equations; nothing where it has none.
pub fn loaded(text: &str) -> Option<Loaded> {
    let Causal { mut pool, mut graph, causality } = causal(text).ok()?;
    let equations = derive(&mut pool, &mut graph, &causality, &CancellationToken::new()).ok()?;
    Some(Loaded { pool, graph, causality, equations })
}

impl Loaded {
    pub fn space(&mut self) -> Option<StateSpace> {
        self.equations.state_space(&mut self.pool, &self.graph)
    }

    pub fn interconnection(
        &mut self,
        procedure: Procedure,
        normalized: bool,
    ) -> Result<Interconnection, String> {
        let parameters = (0..self.graph.parameters.len()).collect();
        let request = Request { procedure, normalized, parameters, may_stand_alone: false };
        let Loaded { pool, graph, causality, equations } = self;
        interconnect(pool, graph, causality, equations, &request, &CancellationToken::new()).map_err(
            |failure| match failure {
                QueryError::Cancelled => "cancelled".to_owned(),
                QueryError::Wrong(list) => {
                    list.iter().map(|d| d.message.clone()).collect::<Vec<_>>().join("; ")
                }
            },
        )
    }
}

impl Loaded {
    /// Gives every parameter a tolerance.
    pub fn with_tolerances(mut self) -> Loaded {
        for parameter in self.graph.parameters.iter_mut() {
            parameter.declaration.tolerance = Some(match parameter.number == 0.0 {
                true => Tolerance::Absolute(0.5),
                false => Tolerance::Relative(0.25),
            });
        }
        self
    }
}

/// A matrix at a point modulo a prime; nothing where an entry has no value there.
pub fn residues(pool: &Pool, point: &mut Residues, matrix: &Sparse) -> Option<Dense> {
    let mut rows = vec![vec![0; matrix.columns]; matrix.rows];
    for (i, j, entry) in &matrix.entries {
        rows[*i][*j] = point.value(pool, *entry)?;
    }
    Some(rows)
}
