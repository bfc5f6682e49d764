//! Plots of what was simulated.

use crate::simulate::{Column, Response, Simulation};
use paynter_view::plot::{Figure, Trace, time};

/// More curves than this in one panel cannot be told apart.
const CURVES: usize = 14;

/// Values in the unit that people read.
fn trace(column: &Column, values: &[f64]) -> Trace {
    Trace {
        name: column.name.clone(),
        unit: column.unit.clone().unwrap_or_default(),
        values: values.iter().map(|value| value / column.factor).collect(),
        dashed: false,
    }
}

impl Simulation {
    /// Outputs over time, or states where there are no outputs; below them what
    /// each parameter does to each output, as p·∂y/∂p in the output's own unit.
    pub fn figure(&self, response: &Response) -> Figure {
        let (columns, lists) = match self.outputs.is_empty() {
            true => (&self.states, &response.states),
            false => (&self.outputs, &response.outputs),
        };
        let traces: Vec<Trace> =
            columns.iter().zip(lists).take(CURVES).map(|(column, list)| trace(column, list)).collect();
        let mut figure = time(&format!("{}: response over time", self.model), &response.t, &traces);
        for (column, lists) in self.outputs.iter().zip(&response.sensitivities) {
            let traces: Vec<Trace> = self
                .wanted
                .iter()
                .zip(&self.nominal)
                .zip(lists)
                .take(CURVES)
                .map(|((name, nominal), list)| {
                    // A parameter of zero has no relative change.
                    let (scale, name) = match *nominal {
                        0.0 => (1.0, format!("∂{}/∂{name}", column.name)),
                        value => (value, format!("{name}·∂{}/∂{name}", column.name)),
                    };
                    let scaled: Vec<f64> = list.iter().map(|value| scale * value).collect();
                    Trace { name, ..trace(column, &scaled) }
                })
                .collect();
            let mut panels = time("", &response.t, &traces).panels;
            for panel in &mut panels {
                panel.y.label = format!("p·∂{}/∂p", column.name);
                panel.height = 200.0;
            }
            figure.panels.append(&mut panels);
        }
        figure
    }
}
