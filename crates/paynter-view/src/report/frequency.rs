//! The sections on poles, zeros and the frequency response.

use super::{Cell, Section};
use crate::json;
use paynter_base::Remedy;
use paynter_draw::plot::{self, plain};

/// A figure holds so many curves.
const RESPONSE_CURVES: usize = 6;
/// A report holds so many figures of a kind.
const FIGURES: usize = 8;
/// More zeros or poles than this are counted only.
const LISTED_ROOTS: usize = 12;

/// A complex number as people write it.
fn complex([re, im]: [f64; 2]) -> String {
    match (re, im) {
        (re, 0.0) => plain(re, 6),
        (0.0, im) => format!("{} j", plain(im, 6)),
        (re, im) if im < 0.0 => format!("{} − {} j", plain(re, 6), plain(-im, 6)),
        (re, im) => format!("{} + {} j", plain(re, 6), plain(im, 6)),
    }
}

/// Pairs of conjugates as one, with a sign for both.
pub(super) fn listed(values: &[[f64; 2]]) -> String {
    if values.len() > LISTED_ROOTS {
        return format!("{} in all", values.len());
    }
    let mut rest: Vec<[f64; 2]> = values.to_vec();
    let mut out = Vec::new();
    while let Some([re, im]) = rest.first().copied() {
        rest.remove(0);
        match rest.iter().position(|other| im != 0.0 && *other == [re, -im]) {
            Some(place) => {
                rest.remove(place);
                let real = if re == 0.0 { String::new() } else { format!("{} ", plain(re, 6)) };
                out.push(format!("{real}± {} j", plain(im.abs(), 6)));
            }
            None => out.push(complex([re, im])),
        }
    }
    if out.is_empty() { "none".to_owned() } else { out.join(", ") }
}

fn number(value: Option<f64>) -> Cell {
    Cell::Number(value.map_or_else(|| "–".to_owned(), |value| plain(value, 6)))
}

/// Poles with damping, zeros, estimates, and their map.
pub fn poles(found: &json::Poles) -> Section {
    let mut section = Section::new("poles", "Poles and zeros");
    if found.poles.is_empty() {
        section.text("The model has no states, so it has no poles.");
    } else {
        section.text(match (found.stable, found.poles.iter().any(|[re, _]| *re > 0.0)) {
            (true, _) => "All poles lie left of the imaginary axis: the model is asymptotically stable.",
            (false, true) => "A pole lies right of the imaginary axis: the model is unstable.",
            (false, false) => "A pole lies on the imaginary axis: the model is not asymptotically stable.",
        });
        let rows = found.modes.iter().filter(|mode| mode.pole[1] >= 0.0).map(|mode| {
            let [re, im] = mode.pole;
            let pair = if im == 0.0 { vec![[re, im]] } else { vec![[re, im], [re, -im]] };
            let times = if mode.multiplicity > 1 { mode.multiplicity.to_string() } else { String::new() };
            vec![
                Cell::Number(listed(&pair)),
                Cell::Text(times),
                number(mode.damping),
                number(Some(mode.natural_frequency)),
                number(mode.time_constant),
            ]
        });
        let head = [
            "Pole in 1/s",
            "Multiplicity",
            "Damping ratio",
            "Natural frequency in rad/s",
            "Time constant in s",
        ];
        section.table("Poles", &head, rows.collect(), "poles");
        let zeros: Vec<(f64, f64)> = match found.zeros.as_slice() {
            [only] => only.zeros.iter().map(|[re, im]| (*re, *im)).collect(),
            _ => Vec::new(),
        };
        let points: Vec<(f64, f64)> = found.poles.iter().map(|[re, im]| (*re, *im)).collect();
        let figure = plot::poles("Poles in the complex plane", &points, &zeros);
        section.plot(&figure, "The pole map. What decays lies left of the upright axis.");
    }
    if !found.zeros.is_empty() {
        let rows = found.zeros.iter().map(|entry| {
            vec![
                Cell::Name(format!("{} / {}", entry.output, entry.input)),
                Cell::Text(listed(&entry.zeros)),
                Cell::Text(listed(&entry.poles)),
                number(Some(entry.gain)),
                number(entry.dc_gain),
            ]
        });
        let head = ["Transfer function", "Zeros", "Poles left", "Gain factor", "Value at s = 0"];
        section.table("Zeros and poles of the transfer functions", &head, rows.collect(), "poles");
    }
    if !found.estimates.is_empty() {
        let rows = found.estimates.iter().map(|estimate| {
            let kind = estimate.kind.word();
            let error =
                estimate.error.map_or_else(|| "–".to_owned(), |e| format!("{} %", plain(100.0 * e, 3)));
            vec![
                Cell::Name(estimate.elements.join(", ")),
                Cell::Text(kind.to_owned()),
                Cell::Number(listed(&estimate.values)),
                Cell::Number(listed(&estimate.poles)),
                Cell::Number(error),
            ]
        });
        section.table(
            "Quick estimates from groups of elements, as if these were loosely coupled",
            &["Group", "Resembles", "Estimate", "True poles", "Error"],
            rows.collect(),
            "poles",
        );
    }
    section
}

/// Bode diagrams, one for each input.
pub fn bode(found: &json::Bode) -> Section {
    let mut section = Section::new("bode", "Frequency response");
    let mut inputs: Vec<&str> = Vec::new();
    for entry in &found.entries {
        if !inputs.contains(&entry.input.as_str()) {
            inputs.push(&entry.input);
        }
    }
    if inputs.is_empty() {
        section.text("The model has no pair of an input and an output.");
    }
    let (mut shown, mut left_out) = (0, 0);
    for input in inputs {
        let responses = found.responses(Some(input));
        for part in responses.chunks(RESPONSE_CURVES) {
            if shown == FIGURES {
                left_out += part.len();
                continue;
            }
            shown += 1;
            let names: Vec<&str> = part.iter().map(|response| response.name.as_str()).collect();
            let figure = plot::bode(&format!("Response to {input}"), &found.omega, part);
            section.plot(&figure, &format!("Magnitude and phase of {}.", names.join(", ")));
        }
    }
    if left_out > 0 {
        section.text(
            Remedy::from(format!("{left_out} more are left out; "))
                .and(Remedy::marked("{ask bode} lists them.")),
        );
    }
    section
}
