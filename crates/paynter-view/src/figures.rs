//! Plots of what was simulated, and of estimations.

pub mod estimation;

use crate::tolerance::INVISIBLE;
use paynter_draw::plot::{
    self, Axis, EnergyPart, Family, Figure, Layer, Panel, Scale, Style, Trace, family, time, time_axis,
};
use paynter_equations::Role;
use paynter_simulate::experiment::{Column, Energy, Perturbation, Response, Run, Simulation};

/// More curves than this in one panel cannot be told apart.
const PANEL_CURVES: usize = 14;
/// Of more sensitivities the largest are shown.
const SENSITIVITIES: usize = 10;
/// More runs than this lie on one another.
const RUNS: usize = 200;

/// More parts of the energy than this cannot be told apart.
const PARTS: usize = 6;

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
pub fn runs(model: &str, runs: &[(Run, Response)], ordered: bool) -> Figure {
    // Of very many runs some are drawn, evenly chosen.
    let step = runs.len().div_ceil(RUNS).max(1);
    let runs: Vec<&(Run, Response)> = runs.iter().step_by(step).collect();
    let Some((first, _)) = runs.first() else { return Figure::default() };
    let families = first.simulation.outputs.iter().take(PANEL_CURVES).map(|column| Family {
        name: column.name.clone(),
        unit: column.unit.clone().unwrap_or_default(),
        runs: runs.iter().map(|(run, response)| curve(&run.simulation, &column.name, response)).collect(),
    });
    let names: Vec<String> = runs.iter().map(|(run, _)| run.name.clone()).collect();
    let title = format!("{model}: response over time{}", cut(first.simulation.outputs.len(), PANEL_CURVES));
    family(&title, &names, ordered, &families.collect::<Vec<_>>())
}

/// An output over time, in its own unit; empty where there is none of that name.
fn curve(simulation: &Simulation, name: &str, response: &Response) -> (Vec<f64>, Vec<f64>) {
    let found = simulation.outputs.iter().zip(&response.outputs).find(|(column, _)| column.name == name);
    let values = found.map(|(column, list)| list.iter().map(|value| value / column.factor).collect());
    (response.t.clone(), values.unwrap_or_default())
}

/// Each output without and with finite changes, by the incremental model and exactly, with the
/// difference of the two below.
pub fn perturbation(simulation: &Simulation, found: &Perturbation) -> Figure {
    let words: Vec<&str> = found.changes.iter().map(|change| change.words.as_str()).collect();
    let t = &found.nominal.t;
    let mut panels = Vec::new();
    for (place, column) in simulation.outputs.iter().enumerate().take(PANEL_CURVES / 2) {
        let line = |name: &str, style: Style, values: &[f64]| Layer::Line {
            name: name.to_owned(),
            style,
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
            equal: false,
        };
        let curves = vec![
            line("y", Style { colour: 6, dash: 0 }, &found.nominal.outputs[place]),
            line("exact", Style { colour: 0, dash: 0 }, &found.exact.outputs[place]),
            line("y + Δy, incremental model", Style { colour: 1, dash: 1 }, &found.incremental(place)),
        ];
        panels.push(panel(&column.name, curves, 210.0));
        let difference = line("y + Δy minus exact", Style { colour: 3, dash: 0 }, &found.difference(place));
        panels.push(panel("difference", vec![difference], 120.0));
    }
    let title = format!(
        "{}: {}{}",
        simulation.model,
        words.join(", "),
        cut(simulation.outputs.len(), PANEL_CURVES / 2)
    );
    Figure { title, panels }
}

/// Outputs over time; below them the sensitivities.
pub fn response(simulation: &Simulation, response: &Response) -> Figure {
    let shown = simulation.outputs.iter().zip(&response.outputs);
    let traces: Vec<Trace> = shown.take(PANEL_CURVES).map(|(column, list)| trace(column, list)).collect();
    let title =
        format!("{}: response over time{}", simulation.model, cut(simulation.outputs.len(), PANEL_CURVES));
    let mut figure = time(&title, &response.t, &traces);
    figure.panels.append(&mut sensitivities(simulation, response).panels);
    figure
}

/// What each parameter does to each output over time, as p·∂y/∂p in the output's own unit; of many
/// parameters those that do most.
pub fn sensitivities(simulation: &Simulation, response: &Response) -> Figure {
    let mut panels = Vec::new();
    for (column, lists) in simulation.outputs.iter().zip(&response.sensitivities) {
        let mut traces: Vec<Trace> = Vec::new();
        let wanted = simulation.wanted.iter().zip(&simulation.nominal).zip(&simulation.wanted_columns);
        for (((name, nominal), own), list) in wanted.zip(lists) {
            // A parameter of zero has no relative change, and neither has a direction.
            let (scale, name) = match nominal {
                None | Some(0.0) => (own.factor, format!("∂{}/∂{name}", column.name)),
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
        let nothing = INVISIBLE * sizes.first().copied().unwrap_or(0.0);
        traces.retain(|trace| size(trace) >= least && size(trace) > nothing);
        traces.truncate(SENSITIVITIES);
        for mut panel in time("", &response.t, &traces).panels {
            panel.y.label = format!("p·∂{}/∂p", column.name);
            panel.height = 200.0;
            panels.push(panel);
        }
    }
    Figure { title: format!("{}: sensitivities over time", simulation.model), panels }
}

/// The parts that matter most, in their order, and all others as one.
fn largest(parts: Vec<EnergyPart>) -> Vec<EnergyPart> {
    if parts.len() <= PARTS {
        return parts;
    }
    let size = |part: &EnergyPart| part.values.iter().fold(0.0_f64, |most, value| most.max(value.abs()));
    let mut order: Vec<usize> = (0..parts.len()).collect();
    order.sort_by(|a, b| size(&parts[*b]).total_cmp(&size(&parts[*a])).then(a.cmp(b)));
    let kept = &order[..PARTS - 1];
    let name = format!("{} others", parts.len() - kept.len());
    let mut rest = EnergyPart { name, values: vec![0.0; parts[0].values.len()] };
    let mut shown = Vec::new();
    for (place, part) in parts.into_iter().enumerate() {
        if kept.contains(&place) {
            shown.push(part);
        } else {
            rest.values.iter_mut().zip(&part.values).for_each(|(sum, value)| *sum += value);
        }
    }
    shown.push(rest);
    shown
}

/// What is stored and dissipated, one on the other, against what was there and has been supplied.
pub fn energy(model: &str, energy: &Energy) -> Figure {
    let mut parts = Vec::new();
    let mut supplied = vec![0.0; energy.t.len()];
    for (entry, values) in &energy.accounts {
        let offset = match entry.role {
            Role::Supply => {
                supplied.iter_mut().zip(values).for_each(|(sum, value)| *sum += value);
                continue;
            }
            Role::Storage => values.first().copied().unwrap_or(0.0),
            Role::Loss => 0.0,
        };
        supplied.iter_mut().for_each(|sum| *sum += offset);
        parts.push(EnergyPart { name: entry.element.clone(), values: values.clone() });
    }
    let parts = largest(parts);
    plot::energy(&format!("{model}: energy"), &energy.t, &parts, &supplied)
}
