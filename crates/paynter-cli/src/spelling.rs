//! Options and questions as the command line spells them.

use paynter::{Argument, Question, Spelling};

/// The spelling of the command line: `--terms N`, `paynter simulate --t-end 10`.
#[derive(Debug, Clone, Copy)]
pub struct CommandLine;

/// Arguments that stand without a name, by command.
const POSITIONAL: &[(&str, &str)] = &[("explain", "code"), ("help", "command")];

impl Spelling for CommandLine {
    fn option(&self, option: &Argument) -> String {
        format!("`{}`", spelled(option))
    }

    fn question(&self, question: &Question) -> String {
        let mut words = vec!["paynter".to_owned(), dashed(&question.name)];
        for argument in &question.arguments {
            let own = (question.name.as_str(), argument.name.as_str());
            words.push(match &argument.value {
                Some(value) if POSITIONAL.contains(&own) => shell_word(value),
                _ => spelled(argument),
            });
        }
        format!("`{}`", words.join(" "))
    }
}

fn spelled(argument: &Argument) -> String {
    let name = dashed(&argument.name);
    match &argument.value {
        Some(value) => format!("--{name} {}", shell_word(value)),
        None => format!("--{name}"),
    }
}

fn dashed(name: &str) -> String {
    name.replace('_', "-")
}

/// A value as a shell takes it for one word.
fn shell_word(value: &str) -> String {
    let special = |c: char| c.is_whitespace() || "[]{}()*?$&|;<>'\"\\`!#~".contains(c);
    match value.contains(special) {
        true => format!("'{}'", value.replace('\'', "'\\''")),
        false => value.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Cli;
    use clap::CommandFactory;
    use paynter::Remedy;
    use std::path::{Path, PathBuf};

    #[test]
    fn options_and_questions_are_spelled_as_they_are_typed() {
        let spelled = |text: &'static str| Remedy::marked(text).spelled(&CommandLine);
        assert_eq!(spelled("{option terms=N}"), "`--terms N`");
        assert_eq!(spelled("{option t_end}"), "`--t-end`");
        assert_eq!(spelled("{option set=Ra=2.5 [ohm]}"), "`--set 'Ra=2.5 [ohm]'`");
        assert_eq!(spelled("{ask operating_point json}"), "`paynter operating-point --json`");
        assert_eq!(spelled("{ask simulate t_end=10}"), "`paynter simulate --t-end 10`");
        assert_eq!(spelled("{ask explain code=BG0101}"), "`paynter explain BG0101`");
    }

    fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            match entry.is_dir() {
                true => sources(&entry, found),
                false if entry.extension().is_some_and(|e| e == "rs") => found.push(entry),
                false => {}
            }
        }
    }

    /// What libraries refer to as `{kind …}`, with the files.
    fn references(kind: &str) -> Vec<(PathBuf, String)> {
        let mut files = Vec::new();
        sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join(".."), &mut files);
        let mut found = Vec::new();
        // The reader of references and this file test with names of their own.
        for file in files.into_iter().filter(|f| !f.ends_with("remedy.rs") && !f.ends_with("spelling.rs")) {
            let text = std::fs::read_to_string(&file).unwrap();
            for rest in text.split(&format!("{{{kind} ")).skip(1) {
                found.push((file.clone(), rest.split('}').next().unwrap().to_owned()));
            }
        }
        assert!(found.len() > 10, "only {} references of {kind}", found.len());
        found
    }

    #[test]
    fn every_option_and_question_of_the_libraries_exists() {
        let mut cli = Cli::command();
        cli.build();
        let name_of = |text: &str| dashed(text.split(['=', ' ']).next().unwrap());
        let has = |command: &clap::Command, argument: &str| {
            command.get_arguments().any(|known| known.get_long() == Some(argument))
        };
        for (file, option) in references("option") {
            let name = name_of(&option);
            let known = has(&cli, &name) || cli.get_subcommands().any(|command| has(command, &name));
            assert!(known, "{}: no command has --{name}", file.display());
        }
        for (file, question) in references("ask") {
            let (name, arguments) = question.split_once(' ').unwrap_or((question.as_str(), ""));
            let command = cli.find_subcommand(dashed(name));
            let command = command.unwrap_or_else(|| panic!("{}: no command {name}", file.display()));
            for argument in arguments.split_whitespace().map(name_of) {
                let known = POSITIONAL.contains(&(name, &argument)) || has(command, &argument);
                assert!(known, "{}: {name} has no --{argument}", file.display());
            }
        }
    }
}
