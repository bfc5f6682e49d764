//! The command `paynter`: reads the command line, lets the library answer,
//! prints the answer. All knowledge of bond graphs lies in the library.

mod answer;
mod args;
mod commands;
mod fraction;
mod input;
mod interrupt;
mod number;
mod picture;
mod progress;
mod render;
mod replace;
mod spelling;
mod table;
mod tolerance;
mod world;

use answer::{Answer, Exit};
use args::{Cli, Color, Global};
use clap::Parser;
use paynter::{CancellationToken, Diagnostic, code};
use progress::Progress;
use std::process::ExitCode;

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return misused(&error),
    };
    paynter::simulate::settle_threads();
    let token = cli.global.token();
    interrupt::listen(token);
    let bar = Progress::watch(token);
    let answer = commands::run(&cli.command, &cli.global);
    drop(bar);
    if token.is_cancelled() {
        interrupt::stop();
    }
    ExitCode::from(answer.print(&cli.global) as u8)
}

/// Shows help and the version, or says what is wrong with the command line.
fn misused(error: &clap::Error) -> ExitCode {
    let _ = error.print();
    if !error.use_stderr() {
        return ExitCode::SUCCESS;
    }
    // The options could not be read, so that `--json` is looked for by hand.
    if std::env::args_os().skip(1).take_while(|word| word != "--").any(|word| word == "--json") {
        let global = Global {
            hz: false,
            json: true,
            set: Vec::new(),
            model: None,
            quiet: false,
            color: Color::Auto,
            token: CancellationToken::new(),
        };
        let text = error.to_string();
        let first = text.lines().next().unwrap_or_default().trim_start_matches("error: ");
        Answer::refusal(&global, Diagnostic::new(code::BAD_COMMAND_LINE, first), Exit::Usage).print(&global);
    }
    ExitCode::from(Exit::Usage as u8)
}
