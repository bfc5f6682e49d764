//! The commands, one file each.

mod bode;
mod causality;
mod check;
mod completions;
mod draw;
mod ensemble;
mod equations;
mod estimate;
mod examples;
mod explain;
mod export;
mod fmt;
mod incremental;
mod lft;
mod loops;
mod operating_point;
mod poles;
mod report;
mod robust;
mod sensitivity;
mod simulate;
mod structure;
mod tf;

use crate::answer::Answer;
use crate::args::{Command, Global};

/// Runs a command to its answer.
pub fn run(command: &Command, global: &Global) -> Answer {
    match command {
        Command::Check { file } => check::run(file, global),
        Command::Fmt { files, check } => fmt::run(files, *check, global),
        Command::Causality { file } => causality::run(file, global),
        Command::Draw(arguments) => draw::run(arguments, global),
        Command::OperatingPoint { file, form, sensitivity } => {
            operating_point::run(file, *form, sensitivity, global)
        }
        Command::Simulate(arguments) => simulate::run(arguments, global),
        Command::Ensemble(arguments) => ensemble::run(arguments, global),
        Command::Estimate(arguments) => estimate::run(arguments, global),
        Command::Poles { file, form } => poles::run(file, *form, global),
        Command::Bode(arguments) => bode::run(arguments, global),
        Command::Loop(arguments) => loops::run(arguments, global),
        Command::Robust(arguments) => robust::run(arguments, global),
        Command::Report(arguments) => report::run(arguments, global),
        Command::Sensitivity(arguments) => sensitivity::run(arguments, global),
        Command::Equations { file, form, steps, mass, values } => {
            equations::run(file, *form, *steps, *mass, *values, global)
        }
        Command::Tf { file, method, form, terms, values } => {
            tf::run(file, *method, *form, *terms, *values, global)
        }
        Command::Structure { file, junction_matrix, form } => {
            structure::run(file, *junction_matrix, *form, global)
        }
        Command::Lft(arguments) => lft::run(arguments, global),
        Command::Incremental(arguments) => incremental::run(arguments, global),
        Command::Export { file, to, simulate, output } => {
            export::run(file, *to, *simulate, output.as_deref(), global)
        }
        Command::Examples { name, write, force } => {
            examples::run(name.as_deref(), write.as_deref(), *force, global)
        }
        Command::Explain { code } => explain::run(code.as_deref(), global),
        Command::Completions { shell } => completions::run(*shell, global),
    }
}
