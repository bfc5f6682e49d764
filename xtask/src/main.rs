//! The project's chores, started by `cargo xtask VERB`. This file is the list
//! of verbs; each check has a file of its own.

mod chores;
#[cfg(test)]
mod constants;
mod facade;
mod handbook;
#[cfg(test)]
mod kinds;
mod layers;
mod licences;
#[cfg(test)]
mod map;
mod metadata;
#[cfg(test)]
mod outside;
mod package;
mod pages;
mod python;
mod random;
mod rivals;
mod run;
mod schedule;
mod solvers;
#[cfg(test)]
mod sources;
mod suite;
mod testing;
#[cfg(test)]
mod texts;

use std::process::ExitCode;

/// One verb: its name, its arguments as shown, what it does, and the work.
struct Verb {
    name: &'static str,
    arguments: &'static str,
    about: &'static str,
    work: fn(&[String]) -> Result<(), String>,
}

const VERBS: &[Verb] = &[
    Verb {
        name: "test",
        arguments: "[--all | STEP…]",
        about: "all that must pass; --all: also large random sets, fuzzing, rivals and more",
        work: suite::test,
    },
    Verb { name: "demo", arguments: "", about: "make the report on the built-in motor", work: chores::demo },
    Verb {
        name: "bench",
        arguments: "[rivals [simulate [CASE | zoo]] | FILTER]",
        about: "run the benchmarks, or Paynter beside its rivals",
        work: chores::bench,
    },
    Verb {
        name: "fuzz",
        arguments: "TARGET SECONDS",
        about: "run a fuzz target for a while",
        work: chores::fuzz,
    },
    Verb {
        name: "random",
        arguments: "SEED [COUNT]",
        about: "run the tests of random models on one seed, or on many from it on",
        work: random::random,
    },
    Verb {
        name: "python",
        arguments: "",
        about: "make the Python environment of the tests, target/python",
        work: chores::python,
    },
    Verb {
        name: "wheel",
        arguments: "",
        about: "build the Python package into target/wheels",
        work: package::wheel,
    },
    Verb {
        name: "octave",
        arguments: "",
        about: "run the exported MATLAB programs in Octave (needs octave)",
        work: chores::octave,
    },
    Verb {
        name: "docs",
        arguments: "[--screenshots]",
        about: "build the handbook into target/handbook, or also pictures of its pages",
        work: handbook::docs,
    },
    Verb {
        name: "schemas",
        arguments: "",
        about: "rewrite the JSON schemas in docs/schemas",
        work: chores::schemas,
    },
    Verb {
        name: "update",
        arguments: "",
        about: "rewrite every reference output the tests compare with",
        work: chores::update,
    },
    Verb {
        name: "deny",
        arguments: "",
        about: "run cargo-deny on licences, bans and sources",
        work: chores::deny,
    },
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some((name, rest)) = arguments.split_first() else {
        print!("{}", usage());
        return ExitCode::SUCCESS;
    };
    let Some(verb) = VERBS.iter().find(|verb| verb.name == name) else {
        eprint!("there is no chore `{name}`\n\n{}", usage());
        return ExitCode::from(2);
    };
    match (verb.work)(rest) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("\nxtask {name}: {message}");
            ExitCode::FAILURE
        }
    }
}

/// The list of verbs for people.
fn usage() -> String {
    let mut text = String::from("usage: cargo xtask VERB\n\n");
    for verb in VERBS {
        let head = format!("{} {}", verb.name, verb.arguments);
        text.push_str(&format!("  {head:<24}{}\n", verb.about));
    }
    text
}
