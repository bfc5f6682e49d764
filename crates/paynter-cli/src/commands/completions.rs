//! `paynter completions`: scripts that let a shell complete the commands.

use crate::answer::Answer;
use crate::args::{Cli, Global};
use clap::CommandFactory;
use clap_complete::{Shell, generate};
use paynter::json::Completions;

/// Makes the script for a shell.
pub fn run(shell: Shell, global: &Global) -> Answer {
    let mut script = Vec::new();
    generate(shell, &mut Cli::command(), "paynter", &mut script);
    let script = String::from_utf8_lossy(&script).into_owned();
    let document = Completions { shell: shell.to_string(), script };
    Answer::plain(global, document, |document| document.script.clone())
}
