//! Questions about poles, zeros and quick estimates.

use crate::{Model, NoAnswer};
use paynter_algebra::{Expr, Symbol};
use paynter_base::{Diagnostics, Ticket};
use paynter_equations::readable_characteristic;
use paynter_numerics::estimate::estimates;
use paynter_numerics::poles::expanded;
use paynter_view::json::{self, Naming};

impl Model {
    /// Tells the eigenvalues with their damping, the zeros, and estimates read off the graph.
    pub fn poles(&mut self, naming: Naming, ticket: &Ticket) -> Result<json::Poles, NoAnswer> {
        let linear = self.numeric(ticket)?;
        let characteristic = self.characteristic(ticket)?.map(|(e, _)| e);
        let (pool, graph, _) = self.parts()?;
        let found = linear.matrices(pool).and_then(|matrices| {
            let spectrum = linear.spectrum(pool, graph, &matrices, &linear.all_entries(), ticket)?;
            let poles = expanded(&spectrum.poles);
            let estimates = estimates(pool, graph, &linear, &matrices, &poles, ticket);
            Ok((spectrum, estimates))
        });
        let (spectrum, estimates) = self.finding(found, Diagnostics::new())?;
        let diagnostics = json::Diagnostic::list(&self.diagnostics, &self.sources, self.spelling);
        let (pool, graph, _) = self.parts()?;
        Ok(json::Poles::new(pool, graph, &linear, &spectrum, &estimates, characteristic, naming, diagnostics))
    }

    /// The characteristic polynomial and its variable s, where it can be read.
    pub(crate) fn characteristic(&mut self, ticket: &Ticket) -> Result<Option<(Expr, Symbol)>, NoAnswer> {
        let linear = self.numeric(ticket)?;
        let found = readable_characteristic(&mut self.pool, &linear.equations, &linear.space, ticket);
        self.finding(found, Diagnostics::new())
    }
}
