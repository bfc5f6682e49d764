//! Complete programs for elsewhere.

use crate::Model;
use crate::answer::Asked;
use paynter_base::{CancellationToken, Diagnostics};
use paynter_export::{self as export, Exported, Target};
use paynter_simulate::passed_over;

impl Model {
    /// Writes the model as a complete program; what the program cannot do is among the findings.
    pub fn export(&self, target: &dyn Target, token: &CancellationToken) -> Asked<String> {
        let samples = self.samples()?;
        let view = self.readable(token)?;
        let (graph, equations, mut pool) = (&view.graph, &view.equations, view.overlay());
        let findings = match target.is_typeset() {
            true => Diagnostics::new(),
            false => passed_over(&pool, graph, equations, target.integrates()),
        };
        let model = Exported { graph, equations, space: view.space.as_deref(), tables: samples };
        let text = export::export(&mut pool, &model, target);
        view.answer(pool, Ok(text), findings)
    }
}
