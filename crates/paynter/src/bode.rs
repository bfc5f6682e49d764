//! Questions about the frequency response.

use crate::{Model, NoAnswer};
use paynter_base::{Diagnostics, Ticket};
use paynter_numerics::response::{ResponseChoice, frequency_response};
use paynter_view::json;

impl Model {
    /// Tells the frequency response, on a grid that shows its peaks where no other is asked for.
    pub fn bode(&mut self, choice: &ResponseChoice, ticket: &Ticket) -> Result<json::Bode, NoAnswer> {
        let linear = self.numeric(ticket)?;
        let (pool, graph, _) = self.parts()?;
        let found = frequency_response(pool, graph, &linear, choice, ticket);
        let found = self.finding(found, Diagnostics::new())?;
        let diagnostics = json::Diagnostic::list(&self.diagnostics, &self.sources, self.spelling);
        let (pool, graph, _) = self.parts()?;
        Ok(json::Bode::new(pool, graph, &linear, found, diagnostics))
    }
}
