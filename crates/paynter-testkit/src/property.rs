//! Properties of random models: which seeds are run, and how a failing model
//! is made small enough for a person to read.

use crate::structure::Structure;
use crate::{Options, Sample, generate, plain, shrink, write};
use std::ops::Range;

/// How many failing models one message shows.
const SHOWN: usize = 3;

/// The seeds to run: the first few, or `PAYNTER_RANDOM=N` of them, from
/// `PAYNTER_RANDOM_FROM=K` on.
pub fn seeds(default: u64) -> Range<u64> {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let from = number("PAYNTER_RANDOM_FROM").unwrap_or(0);
    from..from + number("PAYNTER_RANDOM").unwrap_or(default)
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
