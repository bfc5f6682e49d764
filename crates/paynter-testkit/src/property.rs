//! Properties of random models: which seeds are run, and how a failing model
//! is made small enough for a person to read.

use crate::structure::Structure;
use crate::{Options, Sample, generate, plain, shrink, write};
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// How many failing models one message shows.
const SHOWN: usize = 3;

/// The seeds to run: the first few, `PAYNTER_RANDOM_TIMES=K` times as many, or
/// `PAYNTER_RANDOM=N` of them; from `PAYNTER_RANDOM_FROM=SEED` on.
pub fn seeds(count: u64) -> Range<u64> {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let from = number("PAYNTER_RANDOM_FROM").unwrap_or(0);
    let count =
        number("PAYNTER_RANDOM").unwrap_or_else(|| number("PAYNTER_RANDOM_TIMES").unwrap_or(1) * count);
    from..from + count
}

/// Runs a test on each of its seeds, and fails where it failed on any of them.
///
/// # Panics
///
/// Where the test does: the message names all seeds.
pub fn each(count: u64, test: impl Fn(u64)) {
    let fails = |seed: &u64| catch_unwind(AssertUnwindSafe(|| test(*seed))).is_err();
    let failed: Vec<u64> = seeds(count).filter(fails).collect();
    assert!(failed.is_empty(), "fails on the seeds {failed:?}");
}

/// Asserts that a test on random models has met its subject often enough: at
/// least `number` times on its own first `count` seeds, and in proportion on
/// other seeds, less what chance may take. One seed alone demands nothing.
#[track_caller]
pub fn demand(what: &str, found: usize, number: usize, count: u64) {
    let least = least(number, count, &seeds(count));
    assert!(found >= least, "only {found} {what}, not {least}");
}

/// Asserts that a test on random models has seldom met what it cannot judge:
/// at most `number` times on its own first `count` seeds, and in proportion
/// on other seeds, with what chance may add.
#[track_caller]
pub fn tolerate(what: &str, found: usize, number: usize, count: u64) {
    let most = most(number, count, &seeds(count));
    assert!(found <= most, "{found} {what}, more than {most}");
}

/// How many of something these seeds must give where the first `count` give `number`.
fn least(number: usize, count: u64, seeds: &Range<u64>) -> usize {
    if *seeds == (0..count) {
        return number;
    }
    // Twice the root are four standard deviations of a coin's tosses.
    let run = (seeds.end - seeds.start) as f64;
    (number as f64 * (run - 2.0 * run.sqrt()).max(0.0) / count as f64) as usize
}

/// What a property found out about a model that it does not contradict.
pub trait Verdict {
    /// Whether the model could be judged.
    fn judged(&self) -> bool;
}

impl Verdict for () {
    fn judged(&self) -> bool {
        true
    }
}

impl Verdict for bool {
    fn judged(&self) -> bool {
        *self
    }
}

/// Runs a property on many samples and returns how many it could judge.
/// A failing one is made smaller as long as it still fails.
///
/// # Panics
///
/// Where the property fails: the message shows the models.
pub fn check<V: Verdict>(
    count: u64,
    options: &Options,
    property: impl Fn(&str, &Structure) -> Result<V, String>,
) -> usize {
    let mut judged = 0;
    let mut failures = Vec::new();
    for seed in seeds(count) {
        let sample = generate(seed, options);
        match property(&sample.text, &sample.structure) {
            Ok(verdict) => judged += usize::from(verdict.judged()),
            Err(message) => failures.push(smallest(&sample, message, &property)),
        }
        if failures.len() == SHOWN {
            break;
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
    judged
}

/// The smallest model that still fails, with what it fails by.
fn smallest<V>(
    sample: &Sample,
    mut message: String,
    property: &impl Fn(&str, &Structure) -> Result<V, String>,
) -> String {
    let mut structure = plain(&sample.structure);
    let mut text = sample.text.clone();
    let fails = |candidate: Structure| {
        let text = write(&candidate);
        property(&text, &candidate).err().map(|message| (candidate, text, message))
    };
    // The flat form may hide a failure of flattening; then the sample itself is shown.
    let mut next = fails(structure);
    while let Some(found) = next {
        (structure, text, message) = found;
        next = shrink(&structure).into_iter().find_map(fails);
    }
    format!("seed {}: {message}\n{text}", sample.seed)
}

/// How many of something these seeds may give where the first `count` give `number`.
fn most(number: usize, count: u64, seeds: &Range<u64>) -> usize {
    if *seeds == (0..count) {
        return number;
    }
    let run = (seeds.end - seeds.start) as f64;
    (number as f64 * run / count as f64 + 2.0 * run.sqrt()) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn guards_scale_with_the_seeds_that_are_run() {
        assert_eq!(least(80, 100, &(0..100)), 80);
        assert_eq!(least(80, 100, &(0..10_000)), 7840);
        assert_eq!(least(80, 100, &(5000..5100)), 64);
        assert_eq!(least(80, 100, &(17..18)), 0);
        assert_eq!(least(1000, 100, &(17..20)), 0);
        assert_eq!(most(3, 100, &(0..100)), 3);
        assert_eq!(most(3, 100, &(0..10_000)), 500);
        assert_eq!(most(0, 100, &(17..18)), 2);
    }
}
