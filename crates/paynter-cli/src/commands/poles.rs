//! `paynter poles`: eigenvalues, zeros and quick estimates.

use crate::answer::{Answer, output, read};
use crate::args::{Form, Global};
use crate::input;
use crate::number::complex_list;
use crate::spelling::CommandLine;
use crate::table::columns;
use paynter::json::{Estimate, Mode, Naming, Poles, Zeros};
use paynter::number::significant;
use std::path::Path;

/// Polynomials longer than this are left to `--json`.
const LONGEST_POLYNOMIAL: usize = 400;

/// Shows the poles of a model.
pub fn run(file: &Path, form: Form, global: &Global) -> Answer {
    let model = match input::load(file, global) {
        Ok(model) => model,
        Err(answer) => return answer,
    };
    let naming = if global.json { Naming::Flat } else { Naming::Shown };
    match model.poles(global.token()) {
        Ok(answer) => {
            let answer = read(global, answer);
            let mut poles = answer.document(naming, &CommandLine);
            poles.written = form.notation().map(|notation| answer.written(&poles, notation));
            let output = output(global, poles, |p| p.written.clone().unwrap_or_else(|| text(p, global)));
            Answer::told(output, answer.findings, answer.sources)
        }
        Err(reason) => Answer::unanswered(global, model.sources(), reason),
    }
}

fn text(poles: &Poles, global: &Global) -> String {
    let mut text = format!("{}: poles\n\n", poles.model);
    if poles.modes.is_empty() {
        text.push_str("  none: the model has no states\n");
    } else {
        // Of a conjugate pair the upper one stands for both.
        let shown = |mode: &&Mode| mode.pole[1] >= 0.0;
        let rows: Vec<[String; 5]> = poles.modes.iter().filter(shown).map(|m| mode(m, global)).collect();
        let natural = format!("NATURAL FREQUENCY [{}]", global.frequency_unit());
        let headings = ["POLE [1/s]", "TIMES", "DAMPING", natural.as_str(), "TIME CONSTANT [s]"];
        text.push_str(&columns(headings, &rows));
        let count = poles.poles.len();
        let last = poles.poles.iter().map(|pole| pole[0]).fold(f64::NEG_INFINITY, f64::max);
        let others = poles.poles.iter().filter(|pole| **pole != [0.0, 0.0]);
        let zeros = count - others.clone().count();
        let within = poles.conserved == Some(zeros) && others.into_iter().all(|pole| pole[0] < 0.0);
        let stability = match (poles.stable, last > 0.0) {
            (true, _) => "stable",
            (false, _) if within => "stable within its conserved amounts",
            (false, true) => "unstable",
            (false, false) => "neither stable nor unstable: poles lie on the imaginary axis",
        };
        let number = if count == 1 { "one pole".to_owned() } else { format!("{count} poles") };
        text.push_str(&format!("\n  {number}, {stability}\n"));
    }
    if let Some(polynomial) =
        poles.characteristic.as_ref().filter(|p| p.chars().count() <= LONGEST_POLYNOMIAL)
    {
        text.push_str(&format!("\nCharacteristic polynomial\n  {polynomial}\n"));
    }
    if !poles.zeros.is_empty() {
        text.push_str("\nZeros\n");
        let rows: Vec<[String; 5]> = poles.zeros.iter().map(|zeros| entry(zeros, poles)).collect();
        text.push_str(&columns(["OUTPUT / INPUT", "GAIN", "AT s = 0", "ZEROS", "POLES LEFT"], &rows));
    }
    if !poles.estimates.is_empty() {
        text.push_str("\nEstimates from groups of elements, as if these were loosely coupled\n");
        let rows: Vec<[String; 6]> = poles.estimates.iter().map(estimate).collect();
        text.push_str(&columns(["GROUP", "KIND", "ROOTS OF", "ESTIMATE", "TRUE", "ERROR"], &rows));
    }
    text
}

fn mode(mode: &Mode, global: &Global) -> [String; 5] {
    let [re, im] = mode.pole;
    let pair = [[re, im], [re, -im]];
    let pole = complex_list(if im > 0.0 { &pair } else { &pair[..1] }).concat();
    let optional = |value: Option<f64>| value.map_or("–".to_owned(), significant);
    [
        pole,
        mode.multiplicity.to_string(),
        optional(mode.damping),
        significant(global.frequency(mode.natural_frequency)),
        optional(mode.time_constant),
    ]
}

fn entry(zeros: &Zeros, poles: &Poles) -> [String; 5] {
    let listed = |list: &[[f64; 2]]| match complex_list(list) {
        words if words.is_empty() => "none".to_owned(),
        words => words.join(", "),
    };
    let left = if zeros.poles.len() == poles.poles.len() { "all".to_owned() } else { listed(&zeros.poles) };
    [
        format!("{} / {}{}", zeros.output, zeros.input, zeros.shown.brackets()),
        significant(zeros.shown.of(zeros.gain)),
        zeros.dc_gain.map_or("∞".to_owned(), |value| significant(zeros.shown.of(value))),
        listed(&zeros.zeros),
        left,
    ]
}

fn estimate(estimate: &Estimate) -> [String; 6] {
    let error = estimate.error.map_or("–".to_owned(), |error| format!("{} %", rounded(100.0 * error)));
    [
        estimate.elements.join(", "),
        estimate.kind.word().to_owned(),
        estimate.polynomial.clone().unwrap_or_else(|| "–".to_owned()),
        complex_list(&estimate.values).join(", "),
        complex_list(&estimate.poles).join(", "),
        error,
    ]
}

/// An error needs few digits.
fn rounded(value: f64) -> String {
    if value >= 100.0 {
        paynter::number::rounded(value, 0)
    } else {
        significant((value * 100.0).round() / 100.0)
    }
}
