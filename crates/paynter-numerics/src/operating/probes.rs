//! Whether derivatives at a point can be believed. A point is known to rounding
//! errors; derivatives that are not the same there and at points within a little
//! more than these errors are infinite in truth, or have lost their digits.

use std::collections::BTreeMap;

use paynter_algebra::{Expr, Pool, Symbol};
use paynter_base::random::Random;
use paynter_equations::Equations;

use crate::program::{Program, Tables};
use crate::tolerance::{
    INFINITE_GROWTH, LOSS_OF_SIGNIFICANCE, PROBE_DISTANCES, PROBE_POINTS, TOTAL_LOSS_OF_SIGNIFICANCE,
};

/// How accurate a derivative at a point is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Accuracy {
    /// It is what it seems.
    Good,
    /// Rounding errors change it: it loses significant digits.
    Reduced,
    /// Rounding errors leave nothing of it.
    Lost,
    /// It is infinite.
    Infinite,
}

/// A point, and points around it. No table has a value there: where a model has a steady state, its inputs are constant.
#[derive(Debug)]
pub struct Probes {
    /// The value of every symbol at the point.
    pub base: BTreeMap<Symbol, f64>,
    tiny: Vec<BTreeMap<Symbol, f64>>,
    near: Vec<BTreeMap<Symbol, f64>>,
    far: Vec<BTreeMap<Symbol, f64>>,
}

impl Probes {
    /// Takes a point, with the sizes of what makes it up, and finds all that is computed from it.
    pub fn new(
        pool: &Pool,
        equations: &Equations,
        values: &BTreeMap<Symbol, f64>,
        sizes: &BTreeMap<Symbol, f64>,
    ) -> Probes {
        let symbols: Vec<Symbol> = values.keys().copied().collect();
        let known = |e: Expr| pool.symbols(e).iter().all(|symbol| values.contains_key(symbol));
        let (computed, roots): (Vec<Symbol>, Vec<Expr>) =
            equations.assignments.iter().filter(|a| known(a.value)).map(|a| (a.symbol, a.value)).unzip();
        let program = Program::compile(pool, &roots, &symbols).ok();
        let with_computed = |mut values: BTreeMap<Symbol, f64>| {
            let arguments: Vec<f64> = values.values().copied().collect();
            let mut out = vec![f64::NAN; roots.len()];
            if let Some(program) = &program {
                program.run(&arguments, &mut Vec::new(), &mut out);
            }
            values.extend(computed.iter().copied().zip(out).filter(|(_, x)| x.is_finite()));
            values
        };
        let mut random = Random::new(43);
        let mut around = |distance: f64| -> Vec<BTreeMap<Symbol, f64>> {
            let mut moved = |(symbol, x): (&Symbol, &f64)| {
                let size = sizes.get(symbol).copied().unwrap_or(0.0);
                let share = random.unit() - 0.5;
                (*symbol, x + distance * size * (share + 0.5f64.copysign(share)))
            };
            (0..PROBE_POINTS).map(|_| with_computed(values.iter().map(&mut moved).collect())).collect()
        };
        let [tiny, near, far] = PROBE_DISTANCES.map(&mut around);
        Probes { tiny, near, far, base: with_computed(values.clone()) }
    }

    /// How large what makes up a quantity is.
    pub fn size(&self, symbol: Symbol) -> f64 {
        let at = |values: &BTreeMap<Symbol, f64>| values.get(&symbol).copied();
        let Some(here) = at(&self.base) else { return 0.0 };
        let around =
            self.near.iter().filter_map(|values| at(values).map(|x| (x - here).abs() / PROBE_DISTANCES[1]));
        around.fold(here.abs(), f64::max)
    }

    /// Judges expressions over what has a value.
    pub fn judge(&self, pool: &Pool, list: &[Expr]) -> Vec<Accuracy> {
        self.judge_sums(pool, list, &(0..list.len()).map(|k| vec![(k, 1.0)]).collect::<Vec<_>>())
    }

    /// Judges sums of expressions, each a list of places and factors.
    pub fn judge_sums(&self, pool: &Pool, list: &[Expr], sums: &[Vec<(usize, f64)>]) -> Vec<Accuracy> {
        let mut symbols: Vec<Symbol> = list.iter().flat_map(|e| pool.symbols(*e)).collect();
        symbols.sort_unstable();
        symbols.dedup();
        let Ok(program) = Program::compile(pool, list, &symbols) else {
            return vec![Accuracy::Good; sums.len()];
        };
        let at = |values: &BTreeMap<Symbol, f64>, rounded: bool| -> Vec<f64> {
            let arguments: Vec<f64> =
                symbols.iter().map(|symbol| values.get(symbol).copied().unwrap_or(f64::NAN)).collect();
            let mut out = vec![f64::NAN; list.len()];
            match rounded {
                true => out = program.run_rounded(&arguments, &Tables::default()),
                false => program.run(&arguments, &mut Vec::new(), &mut out),
            }
            let sum = |parts: &Vec<(usize, f64)>| parts.iter().map(|(k, factor)| out[*k] * factor).sum();
            sums.iter().map(sum).collect()
        };
        let base = at(&self.base, false);
        let tiny: Vec<Vec<f64>> = self.tiny.iter().map(|values| at(values, true)).collect();
        let [near, far] = [&self.near, &self.far]
            .map(|list| list.iter().map(|values| at(values, false)).collect::<Vec<_>>());
        (0..sums.len())
            .map(|k| {
                let here = base[k];
                if !here.is_finite() {
                    return Accuracy::Infinite;
                }
                let sizes = |list: &[Vec<f64>]| -> Vec<f64> {
                    list.iter().map(|values| values[k].abs()).filter(|x| x.is_finite()).collect()
                };
                let around = sizes(&near);
                if !around.is_empty() && around.iter().all(|x| here.abs() > INFINITE_GROWTH * x) {
                    return Accuracy::Infinite;
                }
                let typical = sizes(&far).into_iter().fold(here.abs(), f64::max);
                let change = tiny.iter().map(|values| (values[k] - here).abs()).fold(0.0, f64::max);
                match change / typical {
                    part if part > TOTAL_LOSS_OF_SIGNIFICANCE => Accuracy::Lost,
                    part if part > LOSS_OF_SIGNIFICANCE => Accuracy::Reduced,
                    _ => Accuracy::Good,
                }
            })
            .collect()
    }
}
