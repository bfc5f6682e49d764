//! The section on an estimation from measured data.

use super::{Cell, Section, capital};
use crate::figures::estimation as figures;
use paynter_base::number::unit;
use paynter_draw::plot::plain;
use paynter_estimate::{Estimation, Part};

/// Estimates with their intervals, how well the model fits, what the data determine, and the way there.
pub fn estimation(found: &Estimation) -> Section {
    let mut section = Section::new("estimation", "Estimation");
    section.text(format!("{}.", capital(&found.ended())));
    let shown = |value: f64, factor: f64| plain(value / factor, 6);
    let rows = found.estimates.iter().map(|estimate| {
        let factor = estimate.factor;
        let number = |value: Option<f64>| value.map_or_else(String::new, |value| shown(value, factor));
        vec![
            Cell::Name(estimate.name.clone()),
            Cell::Number(shown(estimate.value, factor)),
            Cell::Text(estimate.unit.as_deref().map(unit).unwrap_or_default()),
            Cell::Number(estimate.standard_error.map_or("none".to_owned(), |error| plain(error / factor, 3))),
            Cell::Number(number(estimate.interval.map(|(low, _)| low))),
            Cell::Number(number(estimate.interval.map(|(_, high)| high))),
            Cell::Number(shown(estimate.start, factor)),
        ]
    });
    let caption = format!("Estimates with intervals of {} % confidence", plain(100.0 * found.level, 4));
    let head = ["name", "value", "unit", "standard error", "from", "to", "start"];
    section.table(&caption, &head, rows.collect(), "estimate");
    let fits = found.fits.iter().map(|fit| {
        let column = &found.outputs[fit.output].column;
        let part = match fit.part {
            Part::Estimation => "fitted",
            Part::Validation => "kept to validate",
        };
        vec![
            Cell::Name(column.name.clone()),
            Cell::Text(found.experiments[fit.experiment].name.clone()),
            Cell::Text(part.to_owned()),
            Cell::Number(fit.samples.to_string()),
            Cell::Number(plain(fit.rms / column.factor, 5)),
            Cell::Text(column.unit.as_deref().map(unit).unwrap_or_default()),
            Cell::Number(if fit.share.is_finite() {
                format!("{} %", plain(100.0 * fit.share, 4))
            } else {
                String::new()
            }),
        ]
    });
    let head = ["output", "file", "samples", "number", "residual RMS", "unit", "fit"];
    section.table("How well each output is reproduced", &head, fits.collect(), "estimate");
    for line in found.sources() {
        section.text(format!("{}.", capital(&line)));
    }
    section.plot(&figures::fit(found), "What was measured, and the model on its way to the estimates.");
    section.heading("What the data determine");
    for line in found.determined() {
        section.text(format!("{}.", capital(&line)));
    }
    for direction in &found.after.undetermined {
        section.text(format!("{}.", capital(&direction.words)));
    }
    let names = |place: usize| Cell::Name(found.estimates[place].name.clone());
    let pairs = (0..found.estimates.len()).flat_map(|i| (0..i).map(move |j| (j, i)));
    let rows = pairs.filter_map(|(j, i)| {
        let value = found.confidence.correlation[j][i]?;
        Some(vec![names(j), names(i), Cell::Number(format!("{value:.3}"))])
    });
    let rows: Vec<Vec<Cell>> = rows.collect();
    if !rows.is_empty() {
        section.table("Correlations of estimates", &["name", "with", "correlation"], rows, "estimate");
    }
    section.heading("The search and what it leaves");
    section.plot(&figures::parameters(found), "The estimates by iteration.");
    section.plot(
        &figures::residuals(found),
        "The residuals, and their autocorrelation with the band in which that of white ones lies.",
    );
    section
}
