//! `paynter bode`: the frequency response.

use crate::answer::{Answer, Exit, output};
use crate::args::{BodeArgs, Global};
use crate::spelling::CommandLine;
use crate::table::columns;
use crate::{input, picture};
use paynter::BodeOptions;
use paynter::json::{Bode, BodeEntry};
use paynter::number::significant;

/// Tables for people have at most this many rows.
const TABLE_ROWS: usize = 40;

/// Shows the frequency response of a model.
pub fn run(arguments: &BodeArgs, global: &Global) -> Answer {
    if let Some(diagnostic) = arguments.plot.as_deref().and_then(picture::unknown_format) {
        return Answer::refusal(global, diagnostic, Exit::Usage);
    }
    let model = match input::load(&arguments.file, global) {
        Ok(model) => model,
        Err(answer) => return answer,
    };
    let options = BodeOptions {
        omega: arguments.omega.map(|omega| global.angular(omega)),
        outputs: arguments.output.clone(),
        inputs: arguments.input.clone(),
        ..BodeOptions::default()
    };
    match model.bode(&options, global.token()) {
        Ok(mut answer) => {
            let mut bode = answer.document(&CommandLine);
            let figure = || Ok(bode.figure());
            if let Some(wrong) = picture::asked(arguments.plot.as_deref(), arguments.theme, global, figure) {
                answer.findings.push(wrong);
                (bode.ok, bode.diagnostics) = (false, answer.diagnostics(&CommandLine));
            }
            bode.written = arguments.form.notation().map(|notation| answer.written(&bode, notation));
            let output = output(global, bode, |bode| {
                bode.written.clone().unwrap_or_else(|| text(bode, arguments.omega.is_some(), global))
            });
            Answer::told(output, answer.findings, answer.sources)
        }
        Err(reason) => Answer::unanswered(global, model.sources(), reason),
    }
}

fn text(bode: &Bode, chosen: bool, global: &Global) -> String {
    let mut text = format!("{}: frequency response\n", bode.model);
    for entry in &bode.entries {
        let (decibel, phase) = (entry.decibel(), entry.phase());
        text.push_str(&format!("\n{} / {}{}\n", entry.output, entry.input, entry.shown.brackets()));
        if let Some(peak) = peak(bode, entry, global) {
            text.push_str(&peak);
        }
        let number = |list: &[Option<f64>], k: usize| list[k].map_or("–".to_owned(), significant);
        // A grid that the user chose is shown whole.
        let shown = if chosen { (0..bode.omega.len()).collect() } else { thinned(bode.omega.len()) };
        let rows: Vec<[String; 3]> = shown
            .into_iter()
            .map(|k| [significant(global.frequency(bode.omega[k])), number(&decibel, k), number(&phase, k)])
            .collect();
        text.push_str(&columns([global.frequency_heading(), "MAGNITUDE (dB)", "PHASE (°)"], &rows));
    }
    if !chosen && bode.omega.len() > TABLE_ROWS {
        text.push_str(&format!("\n  {} frequencies in all; `--json` lists them\n", bode.omega.len()));
    }
    text
}

/// Where the magnitude is largest, unless that is at an end.
fn peak(bode: &Bode, entry: &BodeEntry, global: &Global) -> Option<String> {
    let decibel = entry.decibel();
    let height = |k: &usize| decibel[*k].unwrap_or(f64::NEG_INFINITY);
    let top = (0..bode.omega.len()).max_by(|a, b| height(a).total_cmp(&height(b)))?;
    let inside = top > 0 && top + 1 < bode.omega.len() && decibel[top].is_some();
    inside.then(|| {
        let (height, omega) = (significant(height(&top)), significant(global.frequency(bode.omega[top])));
        format!("  largest: {height} dB at {omega} {}\n", global.frequency_unit())
    })
}

/// Places of rows spread evenly over a long table, the ends among them.
fn thinned(count: usize) -> Vec<usize> {
    if count <= TABLE_ROWS {
        return (0..count).collect();
    }
    (0..TABLE_ROWS).map(|row| row * (count - 1) / (TABLE_ROWS - 1)).collect()
}
