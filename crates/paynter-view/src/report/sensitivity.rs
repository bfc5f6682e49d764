//! The section on sensitivities: which parameters matter, and what their tolerances do.

use super::{Cell, Section};
use crate::json::SensitivityResponse;
use paynter_base::Remedy;
use paynter_draw::plot::plain;

/// A report shows the figures of so many responses.
const RESPONSES: usize = 4;
/// A tornado or a diagram of more parameters is not read.
const PARAMETERS: usize = 20;

/// More curves than this in one diagram are not told apart.
const SENSITIVITY_CURVES: usize = 12;

/// A relative change in a table: infinite beside what is zero.
fn percent(change: Option<f64>) -> String {
    change.map_or_else(|| "∞".to_owned(), |change| format!("{} %", plain(100.0 * change, 4)))
}

/// Ranking, tornado and tolerance bands of each response.
pub fn sensitivity(found: &SensitivityResponse) -> Section {
    let mut section = Section::new("sensitivity", "Sensitivities and tolerances");
    if found.parameters.is_empty() {
        section.text("The model has no parameters.");
        return section;
    }
    section.text(if found.assumed_tolerances {
        "To first order. No parameter has a tolerance, so 1 % was taken for each."
    } else {
        "To first order, with the tolerances of the model; parameters without one are taken as exact."
    });
    let mut pairs: Vec<(&str, &str)> = Vec::new();
    for band in &found.bands {
        if !pairs.contains(&(&band.output, &band.input)) {
            pairs.push((&band.output, &band.input));
        }
    }
    // A parameter without a tolerance moves nothing.
    let rows = found.ranking.iter().filter(|rank| rank.tolerance > 0.0).map(|rank| {
        vec![
            Cell::Name(format!("{} / {}", rank.output, rank.input)),
            Cell::Name(rank.parameter.clone()),
            Cell::Number(percent(rank.effect)),
            Cell::Number(plain(rank.omega, 4)),
            Cell::Number(percent(rank.magnitude)),
            Cell::Number(rank.phase.map_or_else(|| "–".to_owned(), |phase| format!("{}°", plain(phase, 4)))),
        ]
    });
    section.table(
        "Parameters in the order of the largest relative change of the response over the band, at their upper ends",
        &["Response", "Parameter", "Largest change", "At ω in rad/s", "Magnitude there", "Phase there"],
        rows.collect(),
        "sensitivity omega",
    );
    for (output, input) in pairs.iter().take(RESPONSES) {
        section.heading(&format!("`{output}` / `{input}`"));
        let ranked = found
            .ranking
            .iter()
            .filter(|rank| (rank.output.as_str(), rank.input.as_str()) == (*output, *input));
        if (1..=PARAMETERS).contains(&ranked.count()) {
            section.plot(
                &found.tornado_figure(output, input),
                "What each parameter's tolerance does, the largest effect on top.",
            );
        }
        if let Some(figure) = found.band_figure(output, input) {
            section.plot(
                &figure,
                "The response with its tolerance bands: all parameters at their worst, and the root of the sum of squares.",
            );
        }
        if found.parameters.len() <= SENSITIVITY_CURVES {
            section.plot(
                &found.bode_figure(output, input),
                "The derivatives of the response by the parameters, in SI units.",
            );
        }
    }
    if pairs.len() > RESPONSES {
        let rest = pairs.len() - RESPONSES;
        section.text(
            Remedy::from(format!("Figures of {rest} more are left out; "))
                .and(Remedy::marked("{ask sensitivity plot} draws them.")),
        );
    }
    section
}
