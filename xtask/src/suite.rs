//! The test suite in its two tiers: what every change must pass, and what
//! runs on demand.

use crate::metadata::Metadata;
use crate::run::{cargo, installed, root, run};
use crate::{chores, facade, handbook, layers, licences, package, pages, python};

/// One thing that must pass: its name and the work.
type Step = (&'static str, fn() -> Result<(), String>);

/// What every change must pass. The tests against Python oracles find their
/// environment below target/, so it is made before them.
const ALWAYS: &[Step] = &[
    ("format", || run(cargo().args(["fmt", "--all", "--check"]))),
    ("lints", || {
        run(cargo().args(["clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"]))
    }),
    ("python", || chores::python(&[])),
    ("tests", || run(cargo().args(["test", "--workspace", "--locked", "--no-fail-fast"]))),
    ("package", package::test),
    ("docs", || {
        let mut doc = cargo();
        doc.args(["doc", "--workspace", "--no-deps", "--locked", "--quiet"]);
        run(doc.env("RUSTDOCFLAGS", "-D warnings"))
    }),
    ("pages", || report(pages::violations(&root().join("docs/src"))?)),
    ("layers", || report(layers::violations(&Metadata::read()?))),
    ("facade", || report(facade::violations(&root().join("crates/paynter/src"))?)),
    ("licences", || {
        let deny =
            std::fs::read_to_string(root().join("deny.toml")).map_err(|e| format!("deny.toml: {e}"))?;
        report(licences::violations(&Metadata::read()?, &deny))
    }),
];

/// How many times as many random models the second tier takes.
const LARGE: &str = "10";

/// How many seconds the second tier gives to each fuzz target.
const FUZZ_SECONDS: &str = "60";

/// What runs on demand, by `--all` or by its name.
const ON_DEMAND: &[Step] = &[
    ("wheel", || package::fresh(&[])),
    ("large", || {
        let mut command = cargo();
        command.args(["test", "--workspace", "--locked", "--no-fail-fast", "--tests"]);
        run(command.env("PAYNTER_RANDOM_TIMES", LARGE))
    }),
    ("features", || {
        // What machine code and threads are left out of.
        let crates = ["-p", "paynter-numerics", "-p", "paynter-simulate", "-p", "paynter"];
        run(cargo().args(["test", "--locked", "--no-default-features"]).args(crates))
    }),
    ("octave", || {
        if installed("octave") {
            return chores::octave(&[]);
        }
        println!("octave is not installed; the exported MATLAB programs are not run");
        Ok(())
    }),
    ("fuzz", || {
        let seconds = FUZZ_SECONDS.to_owned();
        chores::targets()?.into_iter().try_for_each(|target| chores::fuzz(&[target, seconds.clone()]))
    }),
    ("handbook", || handbook::docs(&["--screenshots".to_owned()])),
    ("rivals", || chores::bench(&["rivals".to_owned()])),
];

/// Runs the steps of every change, with `--all` those on demand as well, or the steps named. None is skipped
/// when another fails, so that one round shows all that is wrong.
pub fn test(arguments: &[String]) -> Result<(), String> {
    let every = || ALWAYS.iter().chain(ON_DEMAND);
    let steps: Vec<&Step> = match arguments {
        [] => ALWAYS.iter().collect(),
        [all] if all == "--all" => every().collect(),
        names => {
            if let Some(unknown) = names.iter().find(|name| !every().any(|(step, _)| step == name)) {
                let names: Vec<&str> = every().map(|(name, _)| *name).collect();
                return Err(format!("there is no step `{unknown}`; the steps are {}", names.join(", ")));
            }
            every().filter(|(step, _)| names.iter().any(|name| name == step)).collect()
        }
    };
    if steps.iter().any(|(name, _)| *name == "package") {
        python::begin();
    }
    let mut failed = Vec::new();
    for (name, step) in &steps {
        println!("\n=== {name}");
        match step() {
            Ok(()) => println!("=== {name}: passed"),
            Err(message) => {
                println!("=== {name}: FAILED: {message}");
                failed.push(*name);
            }
        }
    }
    println!();
    if failed.is_empty() {
        println!("All {} steps passed.", steps.len());
        return Ok(());
    }
    Err(format!("{} of {} steps failed: {}", failed.len(), steps.len(), failed.join(", ")))
}

/// Fails with all violations, or passes where there are none.
fn report(violations: Vec<String>) -> Result<(), String> {
    for violation in &violations {
        println!("{violation}");
    }
    if violations.is_empty() { Ok(()) } else { Err(format!("{} violations", violations.len())) }
}
