//! `paynter sensitivity`: how transfer functions change with the parameters.

use super::equations::grid;
use super::operating_point;
use crate::answer::{Answer, Exit, output, read, too_long};
use crate::args::{Form, Global, SensitivityArgs, SensitivityFigure};
use crate::fraction::{Denominators, broken};
use crate::number::complex;
use crate::spelling::CommandLine;
use crate::table::columns;
use crate::{input, picture};
use paynter::json::{Matrix, Naming, Sensitivity, SensitivityEntry, SensitivityResponse, ToleranceBand};
use paynter::number::significant;
use paynter::plot::Figure;
use paynter::units::Shown;
use paynter::{Diagnostic, Model, ResponseOptions, SensitivityOptions, code};

/// Shows the sensitivities of a model.
pub fn run(arguments: &SensitivityArgs, global: &Global) -> Answer {
    if let Some(diagnostic) = arguments.plot.as_deref().and_then(picture::unknown_format) {
        return Answer::refusal(global, diagnostic, Exit::Usage);
    }
    let model = match input::load(&arguments.file, global) {
        Ok(model) => model,
        Err(answer) => return answer,
    };
    let which = SensitivityOptions {
        only: arguments.only.clone(),
        normalized: arguments.normalized,
        matrices: arguments.matrices,
        frozen: arguments.frozen,
        terms: arguments.terms,
    };
    if arguments.omega.is_some() || arguments.verify > 0 || arguments.plot.is_some() {
        return in_numbers(&model, which, arguments, "", global);
    }
    // A model that nothing drives has no transfer functions; what its parameters move is its steady state.
    if model.graph().is_some_and(|graph| graph.inputs.is_empty() && !graph.parameters.is_empty()) {
        return operating_point::shown(&model, Form::TEXT, Some(&arguments.only), global);
    }
    match model.sensitivity(&which, global.token()) {
        Ok(answer) => {
            let answer = read(global, answer);
            let document = answer.document(Naming::Flat, &CommandLine);
            let symbols = if global.json { String::new() } else { text(&document) };
            let shown = match too_long(&symbols).filter(|_| !arguments.symbolic) {
                None => symbols,
                Some(why) => match modes(&document) {
                    modes if !modes.is_empty() => {
                        format!("{}: sensitivities in numbers\n{modes}{why}", document.model)
                    }
                    // Of so large a model the modes are not differentiated.
                    _ => return in_numbers(&model, which, arguments, &why, global),
                },
            };
            Answer::told(output(global, document, |_| shown), answer.findings, answer.sources)
        }
        Err(reason) => Answer::unanswered(global, model.sources(), reason),
    }
}

/// Shows the sensitivities over frequency, with what tolerances do, and why it is these where others were asked for.
fn in_numbers(
    model: &Model,
    which: SensitivityOptions,
    arguments: &SensitivityArgs,
    why: &str,
    global: &Global,
) -> Answer {
    let omega = arguments.omega.map(|omega| global.angular(omega));
    let options = ResponseOptions {
        which,
        omega,
        verify: arguments.verify,
        seed: arguments.seed,
        ..ResponseOptions::default()
    };
    let mut answer = match model.sensitivity_response(&options, global.token()) {
        Ok(answer) => answer,
        Err(reason) => return Answer::unanswered(global, model.sources(), reason),
    };
    let mut document = answer.document(&CommandLine);
    let figure = || figure(&document, arguments);
    if let Some(wrong) = picture::asked(arguments.plot.as_deref(), arguments.theme, global, figure) {
        answer.findings.push(wrong);
        (document.ok, document.diagnostics) = (false, answer.diagnostics(&CommandLine));
    }
    Answer::told(
        output(global, document, |document| response_text(document, global) + why),
        answer.findings,
        answer.sources,
    )
}

/// The figure that is asked for.
fn figure(document: &SensitivityResponse, arguments: &SensitivityArgs) -> Result<Figure, Box<Diagnostic>> {
    let wanted = |band: &&ToleranceBand| {
        arguments.output.as_ref().is_none_or(|name| band.output == *name)
            && arguments.input.as_ref().is_none_or(|name| band.input == *name)
    };
    let missing = || {
        let message = "the model has no such output and input".to_owned();
        Box::new(Diagnostic::new(code::UNKNOWN_NAME, message))
    };
    let band = document.bands.iter().find(wanted).ok_or_else(missing)?;
    let (output, input) = (&band.output, &band.input);
    let figure = match arguments.figure {
        SensitivityFigure::Band => document.band_figure(output, input),
        SensitivityFigure::Bode => Some(document.bode_figure(output, input)),
        SensitivityFigure::Tornado => Some(document.tornado_figure(output, input)),
    };
    figure.ok_or_else(missing)
}

/// The ranking of the parameters and the bands, for people.
fn response_text(document: &SensitivityResponse, global: &Global) -> String {
    let (first, last) = (document.omega.first(), document.omega.last());
    let ends = |x: Option<&f64>| x.map_or_else(String::new, |x| significant(global.frequency(*x)));
    let unit = global.frequency_unit();
    let mut text =
        format!("{}: sensitivities from {} to {} {unit}\n", document.model, ends(first), ends(last));
    if document.assumed_tolerances {
        text.push_str("\nno parameter has a tolerance, so that 1 % is taken for each\n");
    }
    for band in &document.bands {
        text.push_str(&format!("\n{} / {}{}\n", band.output, band.input, band.shown.brackets()));
        let own = document.ranking.iter().filter(|r| r.output == band.output && r.input == band.input);
        let (toleranced, exact): (Vec<_>, Vec<_>) = own.partition(|rank| rank.tolerance != 0.0);
        let rows: Vec<[String; 6]> = toleranced
            .iter()
            .map(|rank| {
                [
                    rank.parameter.clone(),
                    format!("±{}{}", significant(rank.shown.of(rank.tolerance)), rank.shown.brackets()),
                    percent(rank.effect),
                    significant(global.frequency(rank.omega)),
                    percent(rank.magnitude),
                    rank.phase.map_or_else(|| "–".to_owned(), significant),
                ]
            })
            .collect();
        let place = format!("AT {}", global.frequency_heading());
        let headings = ["PARAMETER", "TOLERANCE", "LARGEST |ΔH/H|", place.as_str(), "Δ|H|/|H|", "PHASE (°)"];
        text.push_str(&columns(headings, &rows));
        if !exact.is_empty() {
            let names: Vec<&str> = exact.iter().map(|rank| rank.parameter.as_str()).collect();
            text.push_str(&format!("  without a tolerance: {}\n", names.join(", ")));
        }
        if let Some(rank) = toleranced.iter().find(|rank| rank.effect.is_none()) {
            text.push_str(&format!(
                "  H is 0 at {} {}: beside it no change is small; `{}` makes |H| {}{} there\n",
                significant(global.frequency(rank.omega)),
                global.frequency_unit(),
                rank.parameter,
                significant(band.shown.of(rank.change)),
                band.shown.brackets(),
            ));
        }
        if let Some(line) = widest(document, band, global) {
            text.push_str(&line);
        }
        if document.verification.is_some() {
            text.push_str(&compared(band, global));
        }
    }
    if let Some(verification) = &document.verification {
        text.push_str(&format!("\n{} samples within the tolerances", verification.samples));
        if verification.failed > 0 {
            text.push_str(&format!(", {} of them without an answer", verification.failed));
        }
        let frequencies = document.omega.len();
        text.push_str(&format!(
            ": their |H| is compared with the worst-case band of first order at {frequencies} frequencies\n"
        ));
    }
    text
}

/// A relative change in a table: infinite beside what is zero.
fn percent(change: Option<f64>) -> String {
    change.map_or_else(|| "∞".to_owned(), |change| format!("{} %", significant(100.0 * change)))
}

/// What samples said about the worst-case band of the magnitude.
fn compared(band: &ToleranceBand, global: &Global) -> String {
    let unit = global.frequency_unit();
    let shown = |omega: f64| significant(global.frequency(omega));
    let Some(excess) = band.excess else {
        return "  |H| of all samples stays within the worst-case band\n".to_owned();
    };
    let range = match (band.outside.first(), band.outside.last()) {
        (Some(low), Some(high)) => {
            format!("; it is wrong between {} and {} {unit}", shown(*low), shown(*high))
        }
        _ => String::new(),
    };
    format!(
        "  |H| of samples leaves the worst-case band by up to {} % of its width, at {} {unit}{range}\n",
        significant(100.0 * excess.of_width),
        shown(excess.omega)
    )
}

/// Where the worst-case band of the magnitude is widest, relative to the nominal one.
fn widest(document: &SensitivityResponse, band: &ToleranceBand, global: &Global) -> Option<String> {
    let curve = &band.magnitude;
    let width = |k: usize| {
        let nominal = curve.nominal[k].filter(|x| *x > 0.0)?;
        Some((100.0 * (curve.worst_upper[k]? / nominal - 1.0), 100.0 * (curve.rss_upper[k]? / nominal - 1.0)))
    };
    let all = (0..document.omega.len()).filter_map(|k| Some((width(k)?, k)));
    let ((worst, rss), k) = all.max_by(|((a, _), _), ((b, _), _)| a.total_cmp(b))?;
    Some(format!(
        "  |H|, all tolerances together: ±{} % at worst, ±{} % by the root of the sum of squares, at {} {}\n",
        significant(worst),
        significant(rss),
        significant(global.frequency(document.omega[k])),
        global.frequency_unit()
    ))
}

fn text(document: &Sensitivity) -> String {
    let kind = if document.normalized {
        "relative sensitivities (p/H)·∂H/∂p"
    } else {
        "sensitivities ∂H/∂p"
    };
    let mut text = format!("{}: {kind}\n", document.model);
    if let Some(reason) = &document.budget {
        text.push_str(&format!("\nnot written out, because {reason}; shared parts have names\n"));
    }
    if !document.definitions.is_empty() {
        text.push_str("\nWith\n");
        for definition in &document.definitions {
            text.push_str(&broken(&format!("{} = {}", definition.name, definition.value)));
        }
    }
    for (name, matrix) in [("B̃", &document.b_tilde), ("D̃", &document.d_tilde)] {
        if let Some(Matrix::Dense(rows)) = matrix {
            text.push_str(&format!("\n{name} by {}\n{}", document.parameters.join(", "), grid(rows)));
        }
    }
    let expanded = document.entries.iter().map(|entry| &entry.den);
    let ratios = document.products.iter().flat_map(|place| {
        place.from_sink.iter().map(|ratio| &ratio.den).chain(place.to_quantity.iter().map(|ratio| &ratio.den))
    });
    let beside = document.entries.iter().map(|entry| &entry.num).chain(&document.parameters);
    let beside = beside.chain(document.products.iter().flat_map(|place| {
        place.from_sink.iter().map(|ratio| &ratio.num).chain(place.to_quantity.iter().map(|ratio| &ratio.num))
    }));
    let denominators =
        Denominators::of(expanded.chain(ratios).map(String::as_str), beside.map(String::as_str));
    let named = denominators.definitions(None);
    if !named.is_empty() {
        text.push_str(&format!("\nDenominators\n{named}"));
    }
    for entry in &document.entries {
        let SensitivityEntry { output, input, parameter, .. } = entry;
        text.push_str(&format!("\n∂({output}/{input})/∂{parameter}\n"));
        if entry.num == "0" {
            text.push_str("  0\n");
            continue;
        }
        text.push_str(&denominators.stacked(&entry.num, &entry.den));
        if !document.normalized {
            products(&mut text, document, entry, &denominators);
        }
    }
    text.push_str(&modes(document));
    text
}

/// How poles, zeros and static gains move, at nominal values.
fn modes(document: &Sensitivity) -> String {
    let number = |x: Option<f64>| x.map_or_else(|| "–".to_owned(), significant);
    // Poles and zeros are in rad/s; their derivatives per unit of the parameter.
    let root = |re: Option<f64>, im: Option<f64>, unit: &Shown| {
        let scaled = re.zip(im).map(|(re, im)| complex([re * unit.factor, im * unit.factor]));
        scaled.unwrap_or_else(|| "–".to_owned())
    };
    let units = &document.parameters_shown;
    let mut text = String::new();
    let mut rows: Vec<[String; 5]> = Vec::new();
    for pole in document.poles.iter().filter(|pole| pole.im >= 0.0) {
        for (derivative, unit) in pole.sensitivities.iter().zip(units) {
            rows.push([
                complex([pole.re, pole.im]),
                format!("{}{}", derivative.parameter, unit.brackets()),
                root(derivative.re, derivative.im, unit),
                number(derivative.natural_frequency.map(|x| x * unit.factor)),
                number(derivative.damping.map(|x| x * unit.factor)),
            ]);
        }
    }
    if !rows.is_empty() {
        text.push_str("\nPoles at nominal values, in rad/s\n");
        let headings = ["POLE λ", "PARAMETER", "∂λ/∂p", "OF |λ|", "OF THE DAMPING"];
        text.push_str(&columns(headings, &rows));
    }
    let mut rows: Vec<[String; 4]> = Vec::new();
    for zero in document.zeros.iter().filter(|zero| zero.im >= 0.0) {
        for (derivative, unit) in zero.sensitivities.iter().zip(units) {
            let path = format!("{} / {}", zero.output, zero.input);
            let parameter = format!("{}{}", derivative.parameter, unit.brackets());
            rows.push([
                path,
                complex([zero.re, zero.im]),
                parameter,
                root(derivative.re, derivative.im, unit),
            ]);
        }
    }
    if !rows.is_empty() {
        text.push_str("\nZeros at nominal values, in rad/s\n");
        text.push_str(&columns(["OUTPUT / INPUT", "ZERO z", "PARAMETER", "∂z/∂p"], &rows));
    }
    let mut rows: Vec<[String; 4]> = Vec::new();
    for gain in &document.dc_gain {
        for (derivative, unit) in gain.sensitivities.iter().zip(units) {
            let path = format!("{} / {}{}", gain.output, gain.input, gain.shown.brackets());
            let parameter = format!("{}{}", derivative.parameter, unit.brackets());
            let by = derivative.value.map(|value| significant(gain.shown.per(unit).of(value)));
            let by = by.unwrap_or_else(|| "–".to_owned());
            rows.push([path, significant(gain.shown.of(gain.value)), parameter, by]);
        }
    }
    if !rows.is_empty() {
        text.push_str("\nStatic gains at nominal values\n");
        text.push_str(&columns(["OUTPUT / INPUT", "H(0)", "PARAMETER", "∂H(0)/∂p"], &rows));
    }
    let known = |entry: &&SensitivityEntry| {
        document.dc_gain.iter().any(|gain| gain.output == entry.output && gain.input == entry.input)
    };
    let mut without: Vec<String> = document
        .entries
        .iter()
        .filter(|entry| !known(entry) && !document.poles.is_empty())
        .map(|entry| format!("{} / {}", entry.output, entry.input))
        .collect();
    without.dedup();
    if !without.is_empty() {
        let list = without.join(", ");
        text.push_str(&format!("\nNo static gain, because a pole lies at zero: {list}\n"));
    }
    text
}

/// The product form of an entry: one line for each factor.
fn products<'a>(
    text: &mut String,
    document: &'a Sensitivity,
    entry: &SensitivityEntry,
    denominators: &Denominators<'a>,
) {
    let places = document.products.iter().filter(|place| place.parameter == entry.parameter);
    let mut sign = "=";
    for place in places {
        let from = place.from_sink.iter().find(|ratio| ratio.output == entry.output);
        let to = place.to_quantity.iter().find(|ratio| ratio.input == entry.input);
        let (Some(from), Some(to)) = (from, to) else { continue };
        if from.num == "0" || to.num == "0" {
            continue;
        }
        let rows = [
            (format!("{} → {}", place.sink, entry.output), denominators.inline(&from.num, &from.den)),
            (format!("{} → {}", entry.input, place.quantity), denominators.inline(&to.num, &to.den)),
        ];
        let width = rows.iter().map(|(left, _)| left.chars().count()).max().unwrap_or(0);
        for ((left, right), mark) in rows.iter().zip([sign, "×"]) {
            let pad = " ".repeat(width - left.chars().count());
            text.push_str(&format!("  {mark} ({left}){pad}  {right}\n"));
        }
        sign = "+";
    }
}
