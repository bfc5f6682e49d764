//! Plots of an estimation: the data with the model on its way (Gawthrop 2000, Fig. 8), the estimates against the
//! iteration (Fig. 7), the residuals and their autocorrelation.

use paynter_draw::plot::{Axis, Figure, Layer, Mark, Panel, Scale, Style, time_axis};
use paynter_estimate::{Curve, Estimation};

/// More points of data than this lie on one another.
const POINTS: usize = 800;

/// A time between samples so many times as long as the usual one around it is a gap: three samples at least are missing.
const GAP_STEPS: f64 = 3.5;

/// So many times between samples to either side tell the usual one.
const GAP_NEIGHBOURS: usize = 5;

/// More panels than this are no picture any more.
const PANELS: usize = 12;

fn unit(unit: Option<&String>) -> &str {
    unit.map_or("", String::as_str)
}

/// The experiment's name behind that of an output, where there are several.
fn title(found: &Estimation, curve: &Curve) -> String {
    let name = &found.outputs[curve.output].column.name;
    match found.experiments.len() {
        1 => name.clone(),
        _ => format!("{name}, {}", found.experiments[curve.experiment].name),
    }
}

/// A line over times, interrupted where samples are missing: where the time to the next one is much longer than around it
/// nothing was measured between.
fn with_gaps(t: &[f64], values: impl Iterator<Item = f64>) -> (Vec<f64>, Vec<f64>) {
    let steps: Vec<f64> = t.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let usual = |k: usize| {
        let mut around =
            steps[k.saturating_sub(GAP_NEIGHBOURS)..(k + GAP_NEIGHBOURS + 1).min(steps.len())].to_vec();
        around.sort_by(f64::total_cmp);
        around[around.len() / 2]
    };
    let (mut x, mut y) = (Vec::with_capacity(t.len()), Vec::with_capacity(t.len()));
    for (k, (time, value)) in t.iter().zip(values).enumerate() {
        if k > 0 && steps[k - 1] > GAP_STEPS * usual(k - 1) {
            x.push(0.5 * (t[k - 1] + time));
            y.push(f64::NAN);
        }
        x.push(*time);
        y.push(value);
    }
    (x, y)
}

/// The measured samples of every output with the model at the first iterations and the last.
pub fn fit(found: &Estimation) -> Figure {
    let mut panels = Vec::new();
    for curve in found.curves.iter().take(PANELS) {
        let column = &found.outputs[curve.output].column;
        let every = curve.t.len().div_ceil(POINTS).max(1);
        let points = curve.t.iter().zip(&curve.measured).step_by(every);
        let mut layers = vec![Layer::Marks {
            name: "measured".to_owned(),
            style: Style { colour: 6, dash: 0 },
            mark: Mark::Dot,
            points: points.map(|(t, value)| (*t, value / column.factor)).collect(),
        }];
        let last = curve.model.len().saturating_sub(1);
        for (place, (number, list)) in curve.model.iter().enumerate() {
            let count = list.len().min(curve.t.len());
            let (x, y) = with_gaps(&curve.t[..count], list.iter().map(|value| value / column.factor));
            layers.push(Layer::Line {
                name: format!("iteration {number}"),
                style: if place == last {
                    Style::nth(0)
                } else {
                    Style { colour: 1 + place, dash: 1 + place }
                },
                x,
                y,
            });
        }
        panels.push(Panel {
            x: time_axis(&curve.t),
            y: Axis::new(&title(found, curve), unit(column.unit.as_ref()), Scale::Linear),
            layers,
            height: 260.0,
            origin: false,
            equal: false,
        });
    }
    Figure { title: format!("{}: measured and estimated", found.model), panels }
}

/// The estimates against the number of the iteration.
pub fn parameters(found: &Estimation) -> Figure {
    let numbers: Vec<f64> = (0..found.history.len()).map(|number| number as f64).collect();
    let panel = |(place, estimate): (usize, &paynter_estimate::Estimate)| Panel {
        x: Axis::new("iteration", "", Scale::Linear),
        y: Axis::new(&estimate.name, unit(estimate.unit.as_ref()), Scale::Linear),
        layers: vec![Layer::Line {
            name: String::new(),
            style: Style::nth(place),
            x: numbers.clone(),
            y: found.history.iter().map(|iteration| iteration.values[place] / estimate.factor).collect(),
        }],
        height: 130.0,
        origin: false,
        equal: false,
    };
    let panels = found.estimates.iter().enumerate().take(PANELS).map(panel).collect();
    Figure { title: format!("{}: estimates by iteration", found.model), panels }
}

/// The residuals at the estimate over time, and their autocorrelation with the band in which 95 of 100 values of
/// white residuals lie.
pub fn residuals(found: &Estimation) -> Figure {
    let mut panels = Vec::new();
    for curve in found.curves.iter().take(PANELS / 2) {
        let column = &found.outputs[curve.output].column;
        let Some((_, model)) = curve.model.last() else { continue };
        let residual = model.iter().zip(&curve.measured).map(|(model, data)| (data - model) / column.factor);
        let (x, y) = with_gaps(&curve.t[..model.len().min(curve.t.len())], residual);
        panels.push(Panel {
            x: time_axis(&curve.t),
            y: Axis::new(
                &format!("residual of {}", title(found, curve)),
                unit(column.unit.as_ref()),
                Scale::Linear,
            ),
            layers: vec![Layer::Line { name: String::new(), style: Style::nth(0), x, y }],
            height: 180.0,
            origin: true,
            equal: false,
        });
        let own = |series: &&paynter_estimate::Whiteness| {
            (series.experiment, series.output) == (curve.experiment, curve.output)
        };
        let Some(series) = found.confidence.whiteness.iter().find(own) else { continue };
        let lags: Vec<f64> = (0..series.autocorrelation.len()).map(|lag| lag as f64).collect();
        let limit = 1.96 / (series.count as f64).sqrt();
        panels.push(Panel {
            x: Axis::new("lag", "", Scale::Linear),
            y: Axis::new("autocorrelation", "", Scale::Linear),
            layers: vec![
                Layer::Band {
                    name: "white".to_owned(),
                    style: Style { colour: 6, dash: 0 },
                    x: lags.clone(),
                    lower: vec![-limit; lags.len()],
                    upper: vec![limit; lags.len()],
                    opacity: 0.2,
                },
                Layer::Marks {
                    name: String::new(),
                    style: Style::nth(0),
                    mark: Mark::Dot,
                    points: lags.iter().copied().zip(series.autocorrelation.iter().copied()).collect(),
                },
            ],
            height: 150.0,
            origin: true,
            equal: false,
        });
    }
    Figure { title: format!("{}: residuals", found.model), panels }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_line_is_drawn_where_samples_are_missing() {
        let gaps = |t: &[f64]| {
            let (x, y) = with_gaps(t, t.iter().map(|t| 2.0 * t));
            assert_eq!(x.len(), y.len());
            x.iter().zip(&y).filter(|(_, y)| y.is_nan()).map(|(x, _)| *x).collect::<Vec<f64>>()
        };
        let even: Vec<f64> = (0..40).map(f64::from).collect();
        assert!(gaps(&even).is_empty() && gaps(&[]).is_empty() && gaps(&[1.0]).is_empty());
        let missing: Vec<f64> = even.iter().copied().filter(|t| !(10.0..20.0).contains(t)).collect();
        assert_eq!(gaps(&missing), [14.5]);
        // Two missing samples are bridged; times that spread out by themselves have no gap.
        let few: Vec<f64> = even.iter().copied().filter(|t| *t != 10.0 && *t != 11.0).collect();
        assert!(gaps(&few).is_empty());
        let spread: Vec<f64> = (0..30).map(|k| 1.3f64.powi(k)).collect();
        assert!(gaps(&spread).is_empty());
    }
}
