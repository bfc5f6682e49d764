//! `paynter robust`: margins of stability and worst-case gains.

use crate::answer::{Answer, Exit, output};
use crate::args::{Global, RobustArgs, RobustFigure};
use crate::spelling::CommandLine;
use crate::table::columns;
use crate::tolerance::ON_AXIS;
use crate::{input, picture};
use paynter::json::{Robust, RobustGain};
use paynter::number::significant;
use paynter::plot::Figure;
use paynter::{Diagnostic, RobustOptions, code};
use std::collections::BTreeMap;

/// Shows how far parameters may drift.
pub fn run(arguments: &RobustArgs, global: &Global) -> Answer {
    if let Some(diagnostic) = arguments.plot.as_deref().and_then(picture::unknown_format) {
        return Answer::refusal(global, diagnostic, Exit::Usage);
    }
    let model = match input::load(&arguments.file, global) {
        Ok(model) => model,
        Err(answer) => return answer,
    };
    let options = RobustOptions {
        only: arguments.only.clone(),
        omega: arguments.omega.map(|omega| global.angular(omega)),
        pair: arguments.output.clone().zip(arguments.input.clone()),
        gain: arguments.gain.clone(),
        dynamics: arguments.dynamics.clone(),
        gap: arguments.gap,
        nodes: arguments.nodes,
        work: Some(arguments.work * 1_000_000),
    };
    match model.robust(&options, global.token()) {
        Ok(mut answer) => {
            let mut found = answer.document(&CommandLine);
            let figure = || figure(&found, arguments.figure);
            if let Some(wrong) = picture::asked(arguments.plot.as_deref(), arguments.theme, global, figure) {
                answer.findings.push(wrong);
                (found.ok, found.diagnostics) = (false, answer.diagnostics(&CommandLine));
            }
            let output = output(global, found, |found| text(found, global));
            Answer::told(output, answer.findings, answer.sources)
        }
        Err(reason) => Answer::unanswered(global, model.sources(), reason),
    }
}

fn figure(found: &Robust, which: RobustFigure) -> Result<Figure, Box<Diagnostic>> {
    match which {
        RobustFigure::Mu => Ok(found.bounds()),
        RobustFigure::Roots => Ok(found.roots()),
        RobustFigure::Gain => found.gains().ok_or_else(|| {
            let message = "no worst-case gain was asked for";
            Box::new(Diagnostic::new(code::BAD_COMMAND_LINE, message).help("name `--output` and `--input`"))
        }),
    }
}

fn text(found: &Robust, global: &Global) -> String {
    let mut text = format!("{}: robust stability\n\n", found.model);
    found.margin_words().iter().for_each(|line| text.push_str(&format!("  {line}\n")));
    if let Some(worst) = &found.worst {
        let place = frequency(worst.omega, global);
        let what = match worst.complex {
            _ if found.parameters.is_empty() => "dynamics",
            Some(_) => "parameters, with dynamics,",
            None => "parameters",
        };
        text.push_str(&match worst.omega {
            Some(_) => format!("\nWorst {what} found, with a pole on the imaginary axis at {place}\n"),
            None => format!("\nWorst {what} found, at which the equations have no solution\n"),
        });
        text.push_str(&parameters(found, &worst.parameters));
        if let Some([re, im]) = worst.verified_pole {
            // Beside its distance from the origin the rest of a real part is rounding.
            let on_axis = re.abs() <= ON_AXIS * re.hypot(im);
            let real = if on_axis { "0".to_owned() } else { significant(re) };
            let pole = format!("{real} ± {}j", significant(im.abs()));
            let point = if found.linearised { ", at its own operating point" } else { "" };
            text.push_str(&format!("  the model itself has the pole {pole} with these values{point}\n"));
        }
    }
    if let Some(bound) = found.mu_bound {
        let place = frequency(found.peak.omega, global);
        text.push_str(&format!("\n  μ ≤ {} at all frequencies, largest at {place}\n", significant(bound)));
    }
    text.push_str(&unresolved(found, global));
    if let Some(nodes) = found.nodes {
        text.push_str(&format!("  branch and bound looked at {nodes} parts of the box\n"));
    }
    if let Some(gain) = &found.gain {
        text.push_str(&gain_text(found, gain, global));
    }
    for (title, list) in [("Proved", &found.proved), ("Found, not proved", &found.estimated)] {
        if !list.is_empty() {
            text.push_str(&format!("\n{title}\n"));
            list.iter().for_each(|line| text.push_str(&format!("  {line}\n")));
        }
    }
    text
}

/// The intervals of frequency on which no bound is proved.
fn unresolved(found: &Robust, global: &Global) -> String {
    let words = found.unresolved_words(&|omega| global.frequency(omega), global.frequency_unit());
    words.map_or_else(String::new, |words| format!("\n  {words}; `--json` has them all\n"))
}

fn frequency(omega: Option<f64>, global: &Global) -> String {
    match omega {
        Some(omega) => format!("{} {}", significant(global.frequency(omega)), global.frequency_unit()),
        None => "infinite frequency".to_owned(),
    }
}

fn parameters(found: &Robust, values: &BTreeMap<String, f64>) -> String {
    if values.is_empty() {
        return String::new();
    }
    columns(["PARAMETER", "NOMINAL", "HERE", "OF ITS TOLERANCE"], &found.rows_of(values))
}

fn gain_text(found: &Robust, gain: &RobustGain, global: &Global) -> String {
    let number = |value: f64| significant(gain.shown.of(value));
    if found.margin.upper.is_some_and(|upper| upper < 1.0) {
        return format!(
            "\nWorst-case gain {} / {}{}\n  none: the model is not stable within all tolerances; nominal {}\n",
            gain.output,
            gain.input,
            gain.shown.brackets(),
            number(gain.nominal)
        );
    }
    let upper =
        gain.upper.map_or("no bound is proved".to_owned(), |upper| format!("{} (proved)", number(upper)));
    let mut text = format!(
        "\nWorst-case gain {} / {}{}\n  {} (attained) to {upper}, nominal {}\n  attained at {}{}\n",
        gain.output,
        gain.input,
        gain.shown.brackets(),
        number(gain.lower),
        number(gain.nominal),
        frequency(gain.omega, global),
        if gain.parameters.is_empty() && gain.dynamics.is_empty() { "" } else { " with" }
    );
    text.push_str(&parameters(found, &gain.parameters));
    if !found.wholes.is_empty() && gain.upper.is_some() {
        let names: Vec<String> = found.wholes.iter().map(|name| format!("`{name}`")).collect();
        text.push_str(&format!(
            "  the bound lets {} vary independently of the parameters in it\n",
            names.join(", ")
        ));
    }
    for dynamics in &gain.dynamics {
        let [re, im] = dynamics.share;
        let sign = if im < 0.0 { '−' } else { '+' };
        text.push_str(&format!(
            "  Δ at {} = ({} {sign} {}j) of its radius\n",
            dynamics.signal,
            significant(re),
            significant(im.abs())
        ));
    }
    if let Some((performance, allowed)) = gain.performance.zip(gain.allowed) {
        let verdict = match performance.upper {
            _ if performance.lower >= 1.0 => "holds within the tolerances",
            Some(upper) if upper < 1.0 => "fails within the tolerances",
            _ => "is not decided within the tolerances",
        };
        let upper =
            performance.upper.map_or(String::new(), |upper| format!(" to {} (attained)", significant(upper)));
        text.push_str(&format!(
            "  robust performance, a gain of {} at most, {verdict}: margin {} (proved){upper}\n",
            number(allowed),
            significant(performance.lower)
        ));
    }
    text
}
