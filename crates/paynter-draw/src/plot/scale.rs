//! The range of the data on an axis.

use super::figure::{Panel, Scale};
use super::ticks::LARGEST;

/// From the least to the largest value, where there is one.
pub type Range = Option<(f64, f64)>;

/// The range of a panel's x values and of its y values, of those that can be shown.
pub fn ranges(panel: &Panel) -> (Range, Range) {
    let (mut xs, mut ys) = (Vec::new(), Vec::new());
    for layer in &panel.layers {
        let (x, y) = layer.values();
        xs.extend(x);
        ys.extend(y);
    }
    (range(&panel.x.scale, xs), range(&panel.y.scale, ys))
}

fn range(scale: &Scale, mut values: Vec<f64>) -> Range {
    let shown = |value: &f64| value.abs() <= LARGEST && (*scale != Scale::Log || *value >= 1.0 / LARGEST);
    values.retain(shown);
    if *scale == Scale::Decibel {
        return central(values);
    }
    let mut found: Range = None;
    for value in values {
        let (low, high) = found.unwrap_or((value, value));
        found = Some((low.min(value), high.max(value)));
    }
    found
}

/// The range without single values far outside: a zero or a pole right on the
/// frequency grid has a level of hundreds of decibels that says nothing.
fn central(mut values: Vec<f64>) -> Range {
    values.sort_unstable_by(f64::total_cmp);
    let (least, most) = (*values.first()?, *values.last()?);
    let at = |share: f64| values[((values.len() - 1) as f64 * share).round() as usize];
    let (low, high) = (at(0.02), at(0.98));
    let margin = 0.6 * (high - low) + 40.0;
    Some((least.max(low - margin), most.min(high + margin)))
}
