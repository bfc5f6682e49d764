//! Options and questions as Python spells them.

use paynter::{Argument, Question, Spelling};

/// The spelling of Python: `terms=N`, `model.simulate(t_end=10)`.
#[derive(Debug, Clone, Copy)]
pub struct Python;

/// Questions that the package answers, where no model is asked.
const OF_THE_PACKAGE: [&str; 1] = ["explain"];

/// Options of the command line that Python has no need of: every answer is data already, and draws itself.
const LEFT_OUT: [&str; 4] = ["json", "form", "plot", "figure"];

/// Keywords that are true or false; others have values.
const SWITCHES: [&str; 8] =
    ["energy", "frozen", "mass", "matrices", "normalized", "numeric", "pair", "states_only"];

impl Spelling for Python {
    fn option(&self, option: &Argument) -> String {
        match (option.name.as_str(), &option.value) {
            ("set", Some(setting)) => format!("`model.with_({})`", assigned(setting)),
            ("set", None) => "`model.with_(…)`".to_owned(),
            (name, None) if !SWITCHES.contains(&name) => format!("`{name}`"),
            _ => format!("`{}`", keyword(option)),
        }
    }

    fn question(&self, question: &Question) -> String {
        if question.name == "help" {
            let of = question.arguments.iter().find_map(|argument| argument.value.as_deref());
            return of.map_or("`help(paynter)`".to_owned(), |of| format!("`help(paynter.Model.{of})`"));
        }
        if question.name == "examples" {
            return "`paynter.examples`".to_owned();
        }
        let name = question.name.replace('-', "_");
        let owner = if OF_THE_PACKAGE.contains(&name.as_str()) { "paynter" } else { "model" };
        let arguments = question.arguments.iter().filter(|a| !LEFT_OUT.contains(&a.name.as_str()));
        let arguments: Vec<String> = arguments.map(keyword).collect();
        format!("`{owner}.{name}({})`", arguments.join(", "))
    }
}

/// An argument as a keyword with its value.
fn keyword(argument: &Argument) -> String {
    match &argument.value {
        None if SWITCHES.contains(&argument.name.as_str()) => format!("{}=True", argument.name),
        None => format!("{}=…", argument.name),
        Some(value) => format!("{}={}", argument.name, literal(value)),
    }
}

/// `NAME=VALUE` as a keyword.
fn assigned(setting: &str) -> String {
    match setting.split_once('=') {
        Some((name, value)) => format!("{name}={}", literal(value)),
        None => setting.to_owned(),
    }
}

/// A value as Python writes it: numbers and words that stand for values as they are, what belongs to a name in a
/// dictionary, other text in quotes.
fn literal(value: &str) -> String {
    if let Some((name, of)) = value.split_once('=') {
        return format!("{{\"{name}\": {}}}", literal(of));
    }
    let placeholder = !value.is_empty() && value.chars().all(|c| c.is_uppercase() || c == '_' || c == '…');
    match placeholder || value.parse::<f64>().is_ok() {
        true => value.to_owned(),
        false => format!("\"{}\"", value.replace('\\', "\\\\").replace('"', "\\\"")),
    }
}
