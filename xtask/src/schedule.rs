//! Steps beside each other: each begins when those it waits for have ended, in a process of its own, whose output is
//! shown in one piece when it ends.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;
use std::process::Command;
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Instant;

/// One thing that must pass.
pub struct Step {
    /// Its name.
    pub name: &'static str,
    /// Those of the steps run with it that end before it begins, passed or not.
    pub after: &'static [&'static str],
    /// The work.
    pub work: fn() -> Result<(), String>,
}

/// What is known of the steps that have ended: whether they passed.
type Ended = BTreeMap<&'static str, bool>;

/// Runs steps by `xtask test NAME`; returns the names of those that failed. None is skipped when another fails.
pub fn run(steps: &[Step]) -> Result<Vec<&'static str>, String> {
    let (ended, changed) = (Mutex::new(Ended::new()), Condvar::new());
    let begin = Instant::now();
    // One of the steps may build this program anew: its place is known before.
    let program = std::env::current_exe().map_err(|error| format!("the place of this program: {error}"))?;
    std::thread::scope(|scope| {
        for step in steps {
            let (ended, changed, program) = (&ended, &changed, &program);
            scope.spawn(move || {
                let waits = |ended: &mut Ended| {
                    let runs = |name: &str| steps.iter().any(|step| step.name == name);
                    step.after.iter().any(|name| runs(name) && !ended.contains_key(name))
                };
                let guard = ended.lock().unwrap_or_else(PoisonError::into_inner);
                let guard = changed.wait_while(guard, waits).unwrap_or_else(PoisonError::into_inner);
                println!("--- {} begins", step.name);
                drop(guard);
                let start = Instant::now();
                let (passed, printed) = alone(program, step);
                let mut ended = ended.lock().unwrap_or_else(PoisonError::into_inner);
                let verdict = if passed { "passed" } else { "FAILED" };
                let [took, since] = [start, begin].map(|from| from.elapsed().as_secs());
                print!("\n{printed}");
                println!("=== {}: {verdict} in {took} s, {since} s since the beginning", step.name);
                ended.insert(step.name, passed);
                changed.notify_all();
            });
        }
    });
    let ended = ended.into_inner().unwrap_or_else(PoisonError::into_inner);
    Ok(steps.iter().map(|step| step.name).filter(|name| ended.get(name) != Some(&true)).collect())
}

/// Runs one step in a process of its own; tells whether it passed, and all that it printed.
fn alone(program: &Path, step: &Step) -> (bool, String) {
    let run = || {
        let (mut reader, writer) = std::io::pipe()?;
        let mut command = Command::new(program);
        command.args(["test", step.name]).stderr(writer.try_clone()?).stdout(writer);
        let mut child = command.spawn()?;
        // The pipe ends when nobody can write into it any more.
        drop(command);
        let mut printed = Vec::new();
        reader.read_to_end(&mut printed)?;
        Ok((child.wait()?.success(), String::from_utf8_lossy(&printed).into_owned()))
    };
    run().unwrap_or_else(|error: std::io::Error| (false, format!("{}: {error}\n", step.name)))
}
