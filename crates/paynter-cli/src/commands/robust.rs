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

/// So many intervals of frequency without a proof are printed.
const UNRESOLVED: usize = 6;

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
        gain: arguments.gain,
        dynamics: arguments.dynamics.clone(),
        gap: arguments.gap,
        nodes: arguments.nodes,
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
    let lower = significant(found.margin.lower);
    let all = if found.parameters.is_empty() { "radii of neglected dynamics" } else { "tolerances" };
    match (found.margin.upper, found.limit) {
        (Some(upper), _) => {
            text.push_str(&format!(
                "  margin: {lower} (proved) to {} ({}) times the {all}\n",
                significant(upper),
                if found.attained { "attained" } else { "found" }
            ));
        }
        (None, Some(limit)) if found.margin.lower >= limit => {
            text.push_str(&format!(
                "  stable up to {lower} times the {all}, where a parameter reaches zero\n"
            ));
        }
        (None, _) => text.push_str(&format!("  margin: at least {lower} times the {all} (proved)\n")),
    }
    let inside = found.margin.lower >= 1.0;
    let outside = found.margin.upper.is_some_and(|upper| upper < 1.0) && (found.attained || found.linearised);
    let what = if found.linearised { "the linearisation, its point held, is " } else { "" };
    text.push_str(&match (inside, outside) {
        (true, _) => format!("  {what}stable within all {all}\n"),
        (_, true) => format!("  {what}not stable within all {all}\n"),
        _ => format!("  whether it is stable within all {all} is not decided\n"),
    });
    if let Some(worst) = &found.worst {
        let place = frequency(worst.omega, global);
        let what = if found.parameters.is_empty() { "dynamics" } else { "parameters" };
        text.push_str(&format!("\nWorst {what} found, with a pole on the imaginary axis at {place}\n"));
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
    let count = found.unresolved.len();
    if count == 0 {
        return String::new();
    }
    let end = |omega: Option<f64>| omega.map_or("∞".to_owned(), |w| significant(global.frequency(w)));
    let shown = found.unresolved.iter().take(UNRESOLVED).map(|[low, high]| match low == high {
        true => end(*low),
        false => format!("{} … {}", end(*low), end(*high)),
    });
    let (shown, unit) = (shown.collect::<Vec<_>>().join(", "), global.frequency_unit());
    let more = match count > UNRESOLVED {
        true => format!(" and {} more; `--json` lists them", count - UNRESOLVED),
        false => String::new(),
    };
    format!("\n  no bound of μ is proved at frequencies of {shown} {unit}{more}\n")
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
    let rows: Vec<[String; 4]> = values
        .iter()
        .map(|(name, value)| {
            let (nominal, delta) = match found.parameters.get(name) {
                Some(range) => {
                    let half = 0.5 * (range.high - range.low);
                    (significant(range.nominal), significant((value - range.nominal) / half))
                }
                None => (String::new(), String::new()),
            };
            [name.clone(), nominal, significant(*value), delta]
        })
        .collect();
    columns(["PARAMETER", "NOMINAL", "HERE", "OF ITS TOLERANCE"], &rows)
}

fn gain_text(found: &Robust, gain: &RobustGain, global: &Global) -> String {
    let upper = gain
        .upper
        .map_or("no bound is proved".to_owned(), |upper| format!("{} (proved)", significant(upper)));
    let mut text = format!(
        "\nWorst-case gain {} / {}\n  {} (attained) to {upper}, nominal {}\n  attained at {}{}\n",
        gain.output,
        gain.input,
        significant(gain.lower),
        significant(gain.nominal),
        frequency(gain.omega, global),
        if gain.parameters.is_empty() { "" } else { " with" }
    );
    text.push_str(&parameters(found, &gain.parameters));
    if let Some(performance) = gain.performance {
        let verdict = if performance.lower >= 1.0 {
            "holds within the tolerances"
        } else {
            "is not proved within the tolerances"
        };
        let upper =
            performance.upper.map_or(String::new(), |upper| format!(" to {} (attained)", significant(upper)));
        text.push_str(&format!(
            "  robust performance {verdict}: margin {} (proved){upper}\n",
            significant(performance.lower)
        ));
    }
    text
}
