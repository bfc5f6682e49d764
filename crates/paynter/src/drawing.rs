//! Drawings of a model: the bond graph, its causal paths, its signal-flow graph.

use crate::Model;
use crate::answer::{QueryError, refused};
use paynter_base::{CancellationToken, Diagnostic, closest, code};
use paynter_draw::draw::{BlockDiagram, Diagram, causal_path};
use paynter_graph::{BondGraph, ElementId};

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
        let (start, end) = (element(&graph, from)?, element(&graph, to)?);
        let Some((bonds, elements)) = causal_path(&graph, &causality, start, end) else {
            let message = format!("no causal path leads from `{from}` to `{to}`");
            return Err(refused(Diagnostic::new(code::NO_CAUSAL_PATH, message)));
        };
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

/// Finds an element by its name.
fn element(graph: &BondGraph, name: &str) -> Result<ElementId, QueryError> {
    let names = || graph.elements.iter().map(|element| element.name.as_str());
    if let Some(index) = names().position(|other| other == name || paynter_graph::flat_name(other) == name) {
        return Ok(ElementId(index as u32));
    }
    let diagnostic = Diagnostic::new(code::UNKNOWN_NAME, format!("there is no element `{name}`"));
    Err(refused(match closest(name, names()) {
        Some(near) => diagnostic.help(format!("did you mean `{near}`?")),
        None => diagnostic.help("name an element of the model"),
    }))
}
