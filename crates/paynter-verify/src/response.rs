//! Responses over frequency: checked at some frequencies, and calculated anew
//! where they have lost their digits.

use crate::pencil::Pencil;
use crate::transfer::Given;
use crate::{Check, Contradiction};
use num_complex::Complex64;
use paynter_algebra::Pool;
use paynter_base::{Diagnostic, Diagnostics, code};

/// A response is checked at so many frequencies: one for as many points as cost ten times as much.
const CHECKED_FREQUENCIES: usize = 3;
const FREQUENCIES_PER_CHECK: usize = 60;

/// A model with more variables is checked at one frequency.
const LARGE_WIDTH: usize = 1000;

/// A response of more entries, times variables, is not calculated anew but withheld.
const RECALCULATED_ENTRIES: usize = 100_000_000;

/// What is known of a response at some frequencies, with a name for it.
pub struct Responses<'a> {
    /// What it is.
    pub what: &'static str,
    /// Angular frequencies.
    pub omega: &'a [f64],
    /// The values at each of them that are checked.
    pub given: &'a dyn Fn(usize) -> Vec<Given>,
    /// All values at each of them.
    pub all: &'a dyn Fn(usize) -> Vec<Given>,
}

/// A response that was checked.
#[derive(Debug, Clone, Default)]
pub struct Reconciled {
    /// What was checked.
    pub checks: Vec<Check>,
    /// By frequency: the values that replace the given ones, where these have lost their digits.
    pub replaced: Vec<(usize, Vec<Option<Complex64>>)>,
}

impl Reconciled {
    /// Says that values were replaced, if there are any.
    pub fn note(&self, findings: &mut Diagnostics) {
        if !self.replaced.is_empty() {
            let message = "the state equations lose digits by cancellation; the response is calculated by the graph's own equations";
            findings.push(Diagnostic::new(code::BY_GRAPH, message));
        }
    }
}

/// The places of a few among many, the first and the last with them.
pub fn a_few(count: usize, among: usize) -> Vec<usize> {
    let count = count.min(among);
    (0..count).map(|k| if count == 1 { among / 2 } else { k * (among - 1) / (count - 1) }).collect()
}

impl Pencil<'_> {
    /// Checks a response at some frequencies. One that has lost its digits is calculated anew.
    pub fn reconcile(&self, pool: &mut Pool, responses: &Responses<'_>) -> Result<Reconciled, Contradiction> {
        let Responses { what, omega, given, all } = responses;
        let most = if self.width() > LARGE_WIDTH { 1 } else { CHECKED_FREQUENCIES };
        let count = (omega.len() / FREQUENCIES_PER_CHECK).clamp(1, most);
        let mut checks = Vec::new();
        let mut contradiction = None;
        for at in a_few(count, omega.len()) {
            match self.check_transfer(pool, what, Complex64::new(0.0, omega[at]), &given(at)) {
                Ok(found) => checks.extend(found),
                // What differences between rests contradict is not calculated anew by them.
                Err(found) if !self.linear && found.of_sensitivity => return Err(found),
                Err(found) => contradiction = contradiction.or(Some(found)),
            }
        }
        let Some(contradiction) = contradiction else {
            return Ok(Reconciled { checks, replaced: Vec::new() });
        };
        if all(0).len() * omega.len() * self.width() > RECALCULATED_ENTRIES {
            return Err(contradiction);
        }
        let (mut residual, mut replaced) = (0.0f64, Vec::new());
        for (at, omega) in omega.iter().enumerate() {
            let found = self.solve_transfer(pool, Complex64::new(0.0, *omega), &all(at));
            let Some(found) = found else { continue };
            residual = found.iter().flatten().fold(residual, |most, (_, change)| most.max(*change));
            replaced.push((at, found.into_iter().map(|found| found.map(|(value, _)| value)).collect()));
        }
        let what = format!("{what} by the graph's own equations, with entries changed by rounding");
        Ok(Reconciled { checks: vec![Check { what, residual }], replaced })
    }
}
