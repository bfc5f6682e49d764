//! The section on the frequency response.

use super::Section;
use super::model::page_style;
use crate::plot::{self, Response, plot_svg};

/// A figure holds so many curves.
const CURVES: usize = 6;
/// A report holds so many figures of a kind.
const FIGURES: usize = 8;

/// Bode diagrams, one for each input.
pub fn bode(omega: &[f64], inputs: &[(String, Vec<Response>)]) -> Section {
    let mut section = Section::new("bode", "Frequency response");
    let mut left_out = 0;
    let mut shown = 0;
    for (input, responses) in inputs {
        for part in responses.chunks(CURVES) {
            if shown == FIGURES {
                left_out += part.len();
                continue;
            }
            shown += 1;
            let names: Vec<&str> = part.iter().map(|response| response.name.as_str()).collect();
            let figure = plot::bode(&format!("Response to {input}"), omega, part);
            section.picture(
                plot_svg(&figure, &page_style()),
                &format!("Magnitude and phase of {}.", names.join(", ")),
            );
        }
    }
    if left_out > 0 {
        section.text(format!("{left_out} more are left out; `paynter bode` lists them."));
    }
    section
}
