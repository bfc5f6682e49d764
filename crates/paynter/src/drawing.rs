//! Drawings of a model: the bond graph, its causal paths, its signal-flow graph.

use crate::Model;
use crate::answer::{QueryError, refused};
use paynter_base::{CancellationToken, Diagnostic, code};
use paynter_draw::draw::{BlockDiagram, Diagram, causal_path_between};

impl Model {
    /// The bond graph as plain data for drawing, as far as it is known.
    pub fn diagram(&self, token: &CancellationToken) -> Result<Option<Diagram>, QueryError> {
        let Some((pool, graph)) = self.graph_stage() else { return Ok(None) };
        let causality = self.causality_as_known(token)?;
        let findings = self.findings(token)?;
        Ok(Some(Diagram::from_graph(&pool, &graph, causality.as_deref(), self.sources(), &findings)))
    }

    /// The signal-flow graph, where causality is known.
    pub fn block_diagram(&self, token: &CancellationToken) -> Result<Option<BlockDiagram>, QueryError> {
        let Some((pool, graph)) = self.graph_stage() else { return Ok(None) };
        let causality = self.causality_as_known(token)?;
        Ok(causality.map(|causality| BlockDiagram::from_graph(&pool, &graph, &causality, self.sources())))
    }

    /// Highlights a shortest causal path from one element to another.
    pub fn highlight_path(
        &self,
        diagram: &mut Diagram,
        from: &str,
        to: &str,
        token: &CancellationToken,
    ) -> Result<(), QueryError> {
        let causality = self.causality_as_known(token)?;
        let (Some(graph), Some(causality)) = (self.graph(), causality) else {
            let message = "the model has no causality, so there are no causal paths";
            return Err(refused(
                Diagnostic::new(code::NO_CAUSAL_PATH, message).help("mend the errors first"),
            ));
        };
        let (bonds, elements) =
            causal_path_between(&graph, &causality, from, to).map_err(|found| refused(*found))?;
        diagram.highlight(&bonds, &elements);
        Ok(())
    }

    /// Highlights the closed causal paths without a state; returns their number.
    pub fn highlight_loops(
        &self,
        diagram: &mut Diagram,
        token: &CancellationToken,
    ) -> Result<usize, QueryError> {
        let causality = self.causality_as_known(token)?;
        Ok(match (self.graph(), causality) {
            (Some(graph), Some(causality)) => diagram.highlight_loops(&graph, &causality),
            _ => 0,
        })
    }
}
