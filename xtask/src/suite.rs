//! The test suite in its two tiers: what every change must pass, and what
//! runs on demand.

use crate::metadata::Metadata;
use crate::run::{cargo, installed, root, run};
use crate::schedule::{self, Step};
use crate::{chores, facade, handbook, layers, licences, package, pages, python, testing};

/// What every change must pass. Cargo builds for one step at a time: first what tests run, so that they run while lints
/// and documentation are compiled. The tests against Python oracles find their environment below target/.
const ALWAYS: &[Step] = &[
    Step { name: "format", after: &[], work: || run(cargo().args(["fmt", "--all", "--check"])) },
    Step { name: "build", after: &[], work: testing::build },
    Step { name: "python", after: &[], work: python::environments },
    Step { name: "tests", after: &["build", "python"], work: || testing::run(&[]) },
    Step { name: "package", after: &["build", "python"], work: package::test },
    Step {
        name: "lints",
        after: &["build"],
        work: || {
            let clippy = ["clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"];
            run(cargo().args(clippy))
        },
    },
    Step {
        name: "docs",
        after: &["lints"],
        work: || {
            let mut doc = cargo();
            doc.args(["doc", "--workspace", "--no-deps", "--locked", "--quiet"]);
            run(doc.env("RUSTDOCFLAGS", "-D warnings"))?;
            run(cargo().args(["test", "--workspace", "--locked", "--quiet", "--doc"]))
        },
    },
    Step { name: "pages", after: &[], work: || report(pages::violations(&root().join("docs/src"))?) },
    Step { name: "layers", after: &[], work: || report(layers::violations(&Metadata::read()?)) },
    Step {
        name: "facade",
        after: &[],
        work: || report(facade::violations(&root().join("crates/paynter/src"))?),
    },
    Step {
        name: "licences",
        after: &[],
        work: || {
            let deny =
                std::fs::read_to_string(root().join("deny.toml")).map_err(|e| format!("deny.toml: {e}"))?;
            report(licences::violations(&Metadata::read()?, &deny))
        },
    },
];

/// How many times as many random models the second tier takes.
const LARGE: &str = "10";

/// How many seconds the second tier gives to each fuzz target.
const FUZZ_SECONDS: &str = "60";

/// What runs on demand, by `--all` or by its name: one after the other, because some of it measures time.
const ON_DEMAND: &[Step] = &[
    Step { name: "wheel", after: &[], work: || package::fresh(&[]) },
    Step { name: "large", after: &[], work: || testing::run(&[("PAYNTER_RANDOM_TIMES", LARGE)]) },
    Step {
        name: "features",
        after: &[],
        work: || {
            // What machine code and threads are left out of.
            let crates = ["-p", "paynter-numerics", "-p", "paynter-simulate", "-p", "paynter"];
            run(cargo().args(["test", "--locked", "--no-default-features"]).args(crates))
        },
    },
    Step {
        name: "octave",
        after: &[],
        work: || {
            if installed("octave") {
                return chores::octave(&[]);
            }
            println!("octave is not installed; the exported MATLAB programs are not run");
            Ok(())
        },
    },
    Step {
        name: "fuzz",
        after: &[],
        work: || {
            let seconds = FUZZ_SECONDS.to_owned();
            chores::targets()?.into_iter().try_for_each(|target| chores::fuzz(&[target, seconds.clone()]))
        },
    },
    Step { name: "handbook", after: &[], work: || handbook::docs(&["--screenshots".to_owned()]) },
    Step { name: "rivals", after: &[], work: || chores::bench(&["rivals".to_owned()]) },
];

/// Runs the steps of every change, with `--all` those on demand as well, or the steps named. None is skipped
/// when another fails, so that one round shows all that is wrong.
pub fn test(arguments: &[String]) -> Result<(), String> {
    let every = || ALWAYS.iter().chain(ON_DEMAND);
    let named = |name: &String| {
        every().find(|step| step.name == name).ok_or_else(|| {
            let names: Vec<&str> = every().map(|step| step.name).collect();
            format!("there is no step `{name}`; the steps are {}", names.join(", "))
        })
    };
    let (mut count, mut failed) = (ALWAYS.len(), Vec::new());
    match arguments {
        [] => failed.extend(schedule::run(ALWAYS)?),
        [all] if all == "--all" => {
            failed.extend(schedule::run(ALWAYS)?);
            count += ON_DEMAND.len();
            for step in ON_DEMAND {
                failed.extend(schedule::run(std::slice::from_ref(step))?);
            }
        }
        [name] => return (named(name)?.work)(),
        names => {
            let steps = names.iter().map(named).collect::<Result<Vec<_>, _>>()?;
            count = steps.len();
            for step in steps {
                println!("\n=== {}", step.name);
                if let Err(message) = (step.work)() {
                    println!("=== {}: FAILED: {message}", step.name);
                    failed.push(step.name);
                }
            }
        }
    }
    println!();
    if failed.is_empty() {
        println!("All {count} steps passed.");
        return Ok(());
    }
    Err(format!("{} of {count} steps failed: {}", failed.len(), failed.join(", ")))
}

/// Fails with all violations, or passes where there are none.
fn report(violations: Vec<String>) -> Result<(), String> {
    for violation in &violations {
        println!("{violation}");
    }
    if violations.is_empty() { Ok(()) } else { Err(format!("{} violations", violations.len())) }
}
