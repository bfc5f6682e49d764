//! `paynter estimate`: parameters and initial states from measured data.

use crate::answer::{Answer, Exit, output};
use crate::args::{EstimateArgs, EstimateFigure, Global, Validation};
use crate::spelling::CommandLine;
use crate::table::{aligned, columns};
use crate::tolerance::{ROUNDED_COST, SAME_COST};
use crate::{input, picture};
use paynter::estimate::{Estimate, EstimateOptions, Estimation, Logarithmic, Part, Plan, PlanOptions};
use paynter::json::EstimationPlan;
use paynter::number::{plain, significant};
use paynter::{Diagnostic, Diagnostics, Model, code, figures};

/// Estimates from measured data.
pub fn run(arguments: &EstimateArgs, global: &Global) -> Answer {
    estimate(arguments, global).unwrap_or_else(|refusal| refusal)
}

fn options(arguments: &EstimateArgs, global: &Global) -> Result<EstimateOptions, Answer> {
    let read = |path: &std::path::PathBuf| input::data(path, global);
    let validation = arguments.validate.iter().filter_map(|validation| match validation {
        Validation::File(path) => Some(read(path)),
        Validation::Share(_) => None,
    });
    let share = arguments.validate.iter().find_map(|validation| match validation {
        Validation::Share(share) => Some(*share),
        Validation::File(_) => None,
    });
    let logarithmic = match arguments.log.as_slice() {
        [] => Logarithmic::None,
        [word] if word == "all" => Logarithmic::All,
        names => Logarithmic::Names(names.to_vec()),
    };
    Ok(EstimateOptions {
        data: arguments.data.iter().map(read).collect::<Result<_, _>>()?,
        validation: validation.collect::<Result<_, _>>()?,
        validation_share: share.unwrap_or(0.0),
        map: arguments.map.clone(),
        validation_map: arguments.validate_map.clone(),
        sample_time: arguments.sample_time.first().copied().filter(|_| !arguments.plan),
        hold: arguments.hold.into(),
        decimate: arguments.decimate as usize,
        fit: arguments.fit.clone(),
        local: arguments.local.clone(),
        start: arguments.start.iter().flat_map(|list| list.0.clone()).collect(),
        bounds: arguments.bounds.iter().flat_map(|list| list.0.clone()).collect(),
        weights: arguments.weight.clone(),
        loss: arguments.loss,
        prior: arguments.prior,
        method: arguments.method,
        logarithmic,
        iterations: arguments.iterations,
        starts: arguments.starts as usize,
        seed: arguments.seed,
        shots: arguments.shots as usize,
        level: arguments.confidence,
        profiles: arguments.profile.clone(),
        curves: arguments.plot.is_some(),
        rtol: arguments.solver.rtol,
        atol: arguments.solver.atol,
        solver: arguments.solver.solver.clone(),
        step: arguments.solver.step,
        ..EstimateOptions::default()
    })
}

/// The answer, or why there is none.
fn estimate(arguments: &EstimateArgs, global: &Global) -> Result<Answer, Answer> {
    if let Some(diagnostic) = arguments.plot.as_deref().and_then(picture::unknown_format) {
        return Err(Answer::refusal(global, diagnostic, Exit::Usage));
    }
    if arguments.sample_time.len() > 1 && !arguments.plan {
        let diagnostic = Diagnostic::new(code::BAD_COMMAND_LINE, "a record has one sample time".to_owned());
        let diagnostic = diagnostic.help("several are compared with `--plan`");
        return Err(Answer::refusal(global, diagnostic, Exit::Usage));
    }
    let options = options(arguments, global)?;
    let model = input::load(&arguments.file, global)?;
    if arguments.plan {
        return plan(arguments, &options, &model, global);
    }
    let answer = model.estimate(&options, global.token()).map_err(|reason| {
        let sources = model.sources_with(options.data.iter().chain(&options.validation));
        Answer::unanswered(global, &sources, reason)
    })?;
    let mut more = Diagnostics::new();
    if let Some(file) = &arguments.plot {
        let figure = match arguments.figure {
            EstimateFigure::Fit => figures::estimation::fit(&answer),
            EstimateFigure::Parameters => figures::estimation::parameters(&answer),
            EstimateFigure::Residuals => figures::estimation::residuals(&answer),
        };
        if let Err(diagnostic) = picture::plot(&figure, file, arguments.theme.into()) {
            more.push(*diagnostic);
        }
    }
    let written = arguments.write.as_ref().map(|file| {
        let (text, unwritten) = model.written(&answer, arguments.tolerance);
        more.extend(unwritten);
        if !picture::is_stdout(file)
            && let Err(diagnostic) = picture::write_text(&text, file)
        {
            more.push(*diagnostic);
        }
        text
    });
    let printed = arguments.write.as_deref().is_some_and(picture::is_stdout);
    let mut diagnostics = answer.findings.clone();
    diagnostics.extend(more);
    let mut document = answer.document(&CommandLine);
    document.diagnostics = paynter::json::Diagnostic::list(&diagnostics, &answer.sources, &CommandLine);
    document.ok = !diagnostics.has_errors();
    document.written = written;
    let output = output(global, document, |document| match &document.written {
        Some(written) if printed => written.clone(),
        _ => text(&answer),
    });
    Ok(Answer::told(output, diagnostics, answer.sources))
}

/// What planned experiments would determine.
fn plan(
    arguments: &EstimateArgs,
    options: &EstimateOptions,
    model: &Model,
    global: &Global,
) -> Result<Answer, Answer> {
    let planned = PlanOptions {
        noise: arguments.noise.iter().flat_map(|list| list.0.clone()).collect(),
        t_end: arguments.t_end,
        sample_times: arguments.sample_time.clone(),
    };
    let answer = model
        .plan(options, &planned, global.token())
        .map_err(|reason| Answer::unanswered(global, &model.sources_with(&options.data), reason))?;
    let output = output(global, answer.document(&CommandLine), |document| {
        let noise = document.plans.iter().map(|plan| noise(plan).join(", "));
        let texts = answer.iter().zip(noise).map(|(plan, noise)| planned_text(&document.model, plan, &noise));
        let texts = texts.collect::<Vec<_>>();
        format!("{}{}", texts.join("\n"), compared(&answer))
    });
    Ok(Answer::told(output, answer.findings.clone(), answer.sources.clone()))
}

/// Several plans beside each other: the standard errors that each promises.
fn compared(plans: &[Plan]) -> String {
    let Some(first) = plans.first().filter(|_| plans.len() > 1) else { return String::new() };
    let mut headings = vec!["EXPERIMENT", "EVERY", "SAMPLES"];
    headings.extend(first.predictions.iter().map(|found| found.name.as_str()));
    headings.push("INFORMATION");
    let rows = plans.iter().map(|plan| {
        let mut row =
            vec![plan.name.clone(), format!("{} s", significant(plan.sample_time)), plan.samples.to_string()];
        row.extend(plan.predictions.iter().map(|found| {
            found
                .standard_error
                .map_or("none".to_owned(), |error| format!("±{}", plain(error / found.factor, 3)))
        }));
        row.push(plan.information.map_or("none".to_owned(), |information| plain(information, 5)));
        row
    });
    let rows: Vec<Vec<String>> = rows.collect();
    format!("\n{}", aligned(&headings, &rows.iter().map(Vec::as_slice).collect::<Vec<_>>()))
}

/// The noise of each output, in declared units.
fn noise(plan: &EstimationPlan) -> Vec<String> {
    let one = |(name, noise): (&String, &f64)| {
        let shown = plan.noise_shown.get(name).cloned().unwrap_or_default();
        let unit = shown.unit.as_deref().map(paynter::number::unit);
        let unit = unit.map_or_else(String::new, |unit| format!(" {unit}"));
        format!("{name} {}{unit}", plain(shown.of(*noise), 3))
    };
    plan.noise.iter().map(one).collect()
}

fn planned_text(model: &str, plan: &Plan, noise: &str) -> String {
    let mut text = format!(
        "{model}: an experiment with {}, {} samples {}, noise of {noise}\n\n",
        plan.name,
        plan.samples,
        match plan.even {
            true => format!("every {} s", significant(plan.sample_time)),
            false => format!("{} s apart on average", significant(plan.sample_time)),
        },
    );
    let rows: Vec<[String; 5]> = plan
        .predictions
        .iter()
        .map(|found| {
            let share = found
                .standard_error
                .map(|error| format!("{} %", plain(100.0 * error / found.value.abs(), 3)));
            [
                found.name.clone(),
                significant(found.value / found.factor),
                found.unit.as_deref().map(paynter::number::unit).unwrap_or_default(),
                found
                    .standard_error
                    .map_or("not determined".to_owned(), |error| plain(error / found.factor, 3)),
                share.filter(|_| found.value != 0.0).unwrap_or_default(),
            ]
        })
        .collect();
    text.push_str(&columns(["NAME", "VALUE", "UNIT", "STD. ERROR", "OF THE VALUE"], &rows));
    for found in &plan.identifiability.undetermined {
        text.push_str(&format!("\n  {}\n", found.words));
    }
    if let Some(information) = plan.information {
        text.push_str(&format!(
            "\n  logarithm of the determinant of the Fisher information of relative changes: {}\n",
            plain(information, 5)
        ));
    }
    text
}

fn text(found: &Estimation) -> String {
    let mut text = format!("{}: estimates from measured data\n\n", found.model);
    let rows: Vec<[String; 6]> = found.estimates.iter().map(row).collect();
    let interval = format!("{} % INTERVAL", plain(100.0 * found.level, 4));
    text.push_str(&columns(["NAME", "VALUE", "UNIT", "STD. ERROR", &interval, "START"], &rows));
    text.push_str(&correlation(found));
    text.push('\n');
    for line in found.determined() {
        text.push_str(&format!("  {line}\n"));
    }
    text.push('\n');
    text.push_str(&fits(found));
    text.push('\n');
    text.push_str(&iterations(found));
    text.push_str(&format!("\n  {}\n", found.ended()));
    if let Some(told) = &found.shooting {
        text.push_str(&format!(
            "  before, {} pieces of the records were joined in {} iterations\n",
            told.pieces, told.iterations
        ));
    }
    if found.starts.len() > 1 {
        let first = found.history.first().map_or(0.0, |first| first.cost);
        let least = found.cost() * (1.0 + SAME_COST) + ROUNDED_COST * first;
        let near = found.starts.iter().filter(|start| start.cost <= least).count();
        text.push_str(&format!("  {near} of {} starts reach this cost\n", found.starts.len()));
    }
    for profile in &found.profiles {
        let estimate = found.estimates.iter().find(|e| e.name == profile.name);
        let unit = estimate.and_then(|e| e.unit.as_deref()).map(paynter::number::unit);
        let unit = unit.map_or_else(String::new, |unit| format!(" [{unit}]"));
        let words = profile.words(estimate.map_or(1.0, |e| e.factor));
        text.push_str(&format!("  profile likelihood of {}{unit}: {words}\n", profile.name));
    }
    for line in found.sources() {
        text.push_str(&format!("  {line}\n"));
    }
    text
}

/// The matrix of correlations, its lower triangle.
fn correlation(found: &Estimation) -> String {
    let known = |place: &usize| found.confidence.correlation[*place][*place].is_some();
    let places: Vec<usize> = (0..found.estimates.len()).filter(known).collect();
    if places.len() < 2 {
        return String::new();
    }
    let name = |place: &usize| found.estimates[*place].name.as_str();
    let headings: Vec<&str> = ["CORRELATION"].into_iter().chain(places.iter().map(name)).collect();
    let rows = places.iter().enumerate().map(|(number, i)| {
        let entry =
            |j: &usize| found.confidence.correlation[*i][*j].map_or(String::new(), |r| format!("{r:.3}"));
        let entries = places[..=number].iter().map(entry);
        [name(i).to_owned()].into_iter().chain(entries).collect::<Vec<String>>()
    });
    let rows: Vec<Vec<String>> = rows.collect();
    format!("\n{}", aligned(&headings, &rows.iter().map(Vec::as_slice).collect::<Vec<_>>()))
}

fn row(estimate: &Estimate) -> [String; 6] {
    let shown = |value: f64| significant(value / estimate.factor);
    [
        estimate.name.clone(),
        shown(estimate.value),
        estimate.unit.as_deref().map(paynter::number::unit).unwrap_or_default(),
        estimate.standard_error.map_or("none".to_owned(), |error| plain(error / estimate.factor, 3)),
        estimate.interval.map_or(String::new(), |(low, high)| format!("{} to {}", shown(low), shown(high))),
        shown(estimate.start),
    ]
}

/// How well every output is reproduced.
fn fits(found: &Estimation) -> String {
    let rows: Vec<[String; 6]> = found
        .fits
        .iter()
        .map(|fit| {
            let column = &found.outputs[fit.output].column;
            let share = if fit.share.is_finite() {
                format!("{} %", plain(100.0 * fit.share, 4))
            } else {
                String::new()
            };
            [
                column.name.clone(),
                match fit.part {
                    Part::Estimation => "fitted".to_owned(),
                    Part::Validation => "kept to validate".to_owned(),
                },
                fit.samples.to_string(),
                format!(
                    "{}{}",
                    plain(fit.rms / column.factor, 5),
                    column
                        .unit
                        .as_deref()
                        .map(|unit| format!(" {}", paynter::number::unit(unit)))
                        .unwrap_or_default()
                ),
                share,
                found.experiments[fit.experiment].name.clone(),
            ]
        })
        .collect();
    columns(["OUTPUT", "SAMPLES", "NUMBER", "RESIDUAL RMS", "FIT", "FILE"], &rows)
}

/// The iterations; of many the first and the last.
fn iterations(found: &Estimation) -> String {
    /// So many are shown at either end.
    const SHOWN: usize = 12;
    let mut headings = vec!["ITERATION", "COST"];
    headings.extend(found.estimates.iter().map(|estimate| estimate.name.as_str()));
    let count = found.history.len();
    let mut rows: Vec<Vec<String>> = Vec::new();
    for (number, iteration) in found.history.iter().enumerate() {
        if count > 2 * SHOWN && number == SHOWN {
            rows.push(vec!["…".to_owned()]);
        }
        if count > 2 * SHOWN && (SHOWN..count - SHOWN).contains(&number) {
            continue;
        }
        let mut row = vec![number.to_string(), plain(iteration.cost, 5)];
        let values = iteration.values.iter().zip(&found.estimates);
        row.extend(values.map(|(value, estimate)| significant(value / estimate.factor)));
        rows.push(row);
    }
    aligned(&headings, &rows.iter().map(Vec::as_slice).collect::<Vec<_>>())
}
