//! Plots of what was simulated.

use crate::simulate::{Column, Perturbation, Response, Run, Simulation};
use paynter_draw::plot::{Axis, Family, Figure, Layer, Look, Panel, Scale, Trace, family, time, time_axis};

/// More curves than this in one panel cannot be told apart.
const CURVES: usize = 14;
/// Of more sensitivities the largest are shown.
const SENSITIVITIES: usize = 10;
/// More runs than this lie on one another.
const RUNS: usize = 200;

/// Words on how many of several are shown.
fn cut(count: usize, shown: usize) -> String {
    if count > shown { format!(" (the first {shown} of {count} outputs)") } else { String::new() }
}

/// Values in the unit that people read.
fn trace(column: &Column, values: &[f64]) -> Trace {
    Trace {
        name: column.name.clone(),
        unit: column.unit.clone().unwrap_or_default(),
        values: values.iter().map(|value| value / column.factor).collect(),
        dashed: false,
    }
}

/// Several runs over time, one panel for each output.
pub fn runs_figure(model: &str, runs: &[(&Run<'_>, Response)], ordered: bool) -> Figure {
    // Of very many runs some are drawn, evenly chosen.
    let step = runs.len().div_ceil(RUNS).max(1);
    let runs: Vec<&(&Run<'_>, Response)> = runs.iter().step_by(step).collect();
    let Some((first, _)) = runs.first() else { return Figure::default() };
    let families = first.simulation.outputs.iter().take(CURVES).map(|column| Family {
        name: column.name.clone(),
        unit: column.unit.clone().unwrap_or_default(),
        runs: runs.iter().map(|(run, response)| run.simulation.curve(&column.name, response)).collect(),
    });
    let names: Vec<String> = runs.iter().map(|(run, _)| run.name.clone()).collect();
    let title = format!("{model}: response over time{}", cut(first.simulation.outputs.len(), CURVES));
    family(&title, &names, ordered, &families.collect::<Vec<_>>())
}

impl Simulation {
    /// An output over time, in its own unit; empty where there is none of that name.
    fn curve(&self, name: &str, response: &Response) -> (Vec<f64>, Vec<f64>) {
        let found = self.outputs.iter().zip(&response.outputs).find(|(column, _)| column.name == name);
        let values = found.map(|(column, list)| list.iter().map(|value| value / column.factor).collect());
        (response.t.clone(), values.unwrap_or_default())
    }

    /// Each output without and with finite changes, by the incremental model and exactly, with the
    /// difference of the two below.
    pub fn perturbation_figure(&self, found: &Perturbation) -> Figure {
        let words: Vec<&str> = found.changes.iter().map(|change| change.words.as_str()).collect();
        let t = &found.nominal.t;
        let mut panels = Vec::new();
        for (place, column) in self.outputs.iter().enumerate().take(CURVES / 2) {
            let line = |name: &str, look: Look, values: &[f64]| Layer::Line {
                name: name.to_owned(),
                look,
                x: t.clone(),
                y: values.iter().map(|value| value / column.factor).collect(),
            };
            let unit = column.unit.clone().unwrap_or_default();
            let panel = |label: &str, layers: Vec<Layer>, height: f64| Panel {
                x: time_axis(t),
                y: Axis::new(label, &unit, Scale::Linear),
                layers,
                height,
                origin: false,
            };
            let curves = vec![
                line("y", Look { colour: 6, dash: 0 }, &found.nominal.outputs[place]),
                line("exact", Look { colour: 0, dash: 0 }, &found.exact.outputs[place]),
                line("y + Δy, incremental model", Look { colour: 1, dash: 1 }, &found.incremental(place)),
            ];
            panels.push(panel(&column.name, curves, 210.0));
            let difference =
                line("y + Δy minus exact", Look { colour: 3, dash: 0 }, &found.difference(place));
            panels.push(panel("difference", vec![difference], 120.0));
        }
        let title = format!("{}: {}{}", self.model, words.join(", "), cut(self.outputs.len(), CURVES / 2));
        Figure { title, panels }
    }

    /// Outputs over time; below them the sensitivities.
    pub fn figure(&self, response: &Response) -> Figure {
        let shown = self.outputs.iter().zip(&response.outputs);
        let traces: Vec<Trace> = shown.take(CURVES).map(|(column, list)| trace(column, list)).collect();
        let title = format!("{}: response over time{}", self.model, cut(self.outputs.len(), CURVES));
        let mut figure = time(&title, &response.t, &traces);
        figure.panels.append(&mut self.sensitivity_figure(response).panels);
        figure
    }

    /// What each parameter does to each output over time, as p·∂y/∂p in the output's own unit; of many
    /// parameters those that do most.
    pub fn sensitivity_figure(&self, response: &Response) -> Figure {
        let mut panels = Vec::new();
        for (column, lists) in self.outputs.iter().zip(&response.sensitivities) {
            let mut traces: Vec<Trace> = Vec::new();
            for ((name, nominal), list) in self.wanted.iter().zip(&self.nominal).zip(lists) {
                // A parameter of zero has no relative change, and neither has a direction.
                let (scale, name) = match nominal {
                    None | Some(0.0) => (1.0, format!("∂{}/∂{name}", column.name)),
                    Some(value) => (*value, format!("{name}·∂{}/∂{name}", column.name)),
                };
                let scaled: Vec<f64> = list.iter().map(|value| scale * value).collect();
                traces.push(Trace { name, ..trace(column, &scaled) });
            }
            let size = |trace: &Trace| trace.values.iter().fold(0.0_f64, |most, value| most.max(value.abs()));
            let mut sizes: Vec<f64> = traces.iter().map(size).collect();
            sizes.sort_by(|a, b| b.total_cmp(a));
            let least = sizes.get(SENSITIVITIES - 1).copied().unwrap_or(0.0);
            // What has no effect would only fill the legend.
            let nothing = 1e-9 * sizes.first().copied().unwrap_or(0.0);
            traces.retain(|trace| size(trace) >= least && size(trace) > nothing);
            traces.truncate(SENSITIVITIES);
            for mut panel in time("", &response.t, &traces).panels {
                panel.y.label = format!("p·∂{}/∂p", column.name);
                panel.height = 200.0;
                panels.push(panel);
            }
        }
        Figure { title: format!("{}: sensitivities over time", self.model), panels }
    }
}
