//! What is zero at the operating point: entries of the matrices, and Markov
//! parameters that only rounding tells from zero.

use std::collections::BTreeMap;

use paynter_algebra::{Expr, Pool, Symbol};
use paynter_base::random;
use paynter_equations::StateSpace;
use paynter_graph::BondGraph;
use rustc_hash::FxHashSet;

use super::LinearModel;
use crate::linalg::{Matrices, Sparse};
use crate::parametric::shift::Steady;
use crate::tolerance::{MOVED_REST, ZERO_BESIDE_REST, ZERO_MARKOV_PARAMETER};

impl LinearModel {
    /// The matrices without the entries that are zero at the operating point.
    pub fn space_at_point(&self) -> StateSpace {
        without(&self.space, &self.vanishing)
    }

    /// The matrices without the entries that are zero at every rest near the operating point, as what a
    /// velocity is a factor of.
    pub fn space_at_rests(&self, pool: &mut Pool, graph: &BondGraph) -> StateSpace {
        let mut zeros = self.vanishing.clone();
        if zeros.is_empty() {
            return self.space.clone();
        }
        // Where no rest is found beside it, as of a linkage whose start has to close, the point itself tells.
        let Some(beside) = self.rest_beside(pool, graph) else { return without(&self.space, &zeros) };
        let size = |symbol: Symbol| {
            let own = self.point.as_ref().and_then(|point| point.sizes.get(&symbol)).copied();
            own.unwrap_or(0.0).max(beside.get(&symbol).copied().unwrap_or(0.0).abs())
        };
        zeros.retain(|entry| {
            let Ok(number) = pool.eval(*entry, &|symbol| beside.get(&symbol).copied()) else { return false };
            let mut scale = 0.0;
            for symbol in pool.symbols(*entry) {
                let derivative = pool.diff(*entry, symbol);
                let derivative = pool.eval(derivative, &|symbol| beside.get(&symbol).copied());
                scale += (derivative.unwrap_or(0.0) * size(symbol)).abs();
            }
            number.abs() <= ZERO_BESIDE_REST * scale
        });
        without(&self.space, &zeros)
    }

    /// All values at a rest where parameters and inputs are a little different.
    fn rest_beside(&self, pool: &mut Pool, graph: &BondGraph) -> Option<BTreeMap<Symbol, f64>> {
        let part = |k: usize| MOVED_REST * (1.0 + random::unit(k as u64, 1));
        let moved = |k: usize, x: f64| if x == 0.0 { part(k) } else { x * (1.0 + part(k)) };
        let mut values = self.values.clone();
        for (k, input) in self.equations.inputs.iter().enumerate() {
            if let Some(value) = input.symbols.first().and_then(|symbol| values.get_mut(symbol)) {
                *value = moved(k, *value);
            }
        }
        let parameters = graph.parameters.iter().enumerate();
        let parameters: Vec<f64> = parameters.map(|(k, p)| p.number * (1.0 + part(k))).collect();
        let steady = Steady::new(pool, graph, &self.equations, &[], &values).ok()?;
        values.extend(steady.beside(&parameters)?);
        values.extend(graph.parameters.iter().map(|parameter| parameter.symbol).zip(parameters));
        Some(values)
    }
}

/// Matrices without some entries.
fn without(space: &StateSpace, zeros: &FxHashSet<Expr>) -> StateSpace {
    let mut space = space.clone();
    let matrices = [&mut space.a, &mut space.c].into_iter().chain(&mut space.b).chain(&mut space.d);
    matrices.for_each(|matrix| matrix.entries.retain(|(_, _, entry)| !zeros.contains(entry)));
    space
}

/// By input, then output: the place of the first Markov parameter that rounding does not explain,
/// H(s) = Σ h_j s^−j.
pub fn rounded_degrees(matrices: &Matrices) -> Vec<Vec<Option<i64>>> {
    let (n, inputs) = (matrices.states(), matrices.inputs());
    let highest = matrices.b.len().max(matrices.d.len()).saturating_sub(1) as i64;
    let column = |matrix: &Sparse, input: usize, size: usize| {
        let mut out = vec![0.0; size];
        matrix.entries.iter().filter(|(_, j, _)| *j == input).for_each(|(i, _, x)| out[*i] += x);
        out
    };
    let mut out = vec![vec![None; matrices.outputs()]; inputs];
    for (input, found) in out.iter_mut().enumerate() {
        // Each number with the sum of the sizes of what it is the sum of.
        let mut x = vec![(0.0, 0.0); n];
        for j in -highest..=n as i64 {
            if j > -highest {
                x = times(&matrices.a, &x);
            }
            if let Some(b) = usize::try_from(1 - j).ok().and_then(|k| matrices.b.get(k)) {
                let entries = column(b, input, n);
                x.iter_mut().zip(entries).for_each(|(x, b)| *x = (x.0 + b, x.1 + b.abs()));
            }
            let mut h = times(&matrices.c, &x);
            if let Some(d) = usize::try_from(-j).ok().and_then(|k| matrices.d.get(k)) {
                let entries = column(d, input, h.len());
                h.iter_mut().zip(entries).for_each(|(h, d)| *h = (h.0 + d, h.1 + d.abs()));
            }
            for (degree, (value, size)) in found.iter_mut().zip(h).filter(|(degree, _)| degree.is_none()) {
                if value.abs() > ZERO_MARKOV_PARAMETER * size {
                    *degree = Some(j);
                }
            }
            // Powers of A neither overflow nor vanish.
            let largest = x.iter().fold(0.0f64, |most, (_, size)| most.max(*size));
            if found.iter().all(Option::is_some) || (j > 1 && largest == 0.0) {
                break;
            }
            if largest > 0.0 && j >= 1 {
                x.iter_mut().for_each(|x| *x = (x.0 / largest, x.1 / largest));
            }
        }
    }
    out
}

/// A product with numbers that carry the sums of the sizes of their terms.
fn times(matrix: &Sparse, x: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let mut out = vec![(0.0, 0.0); matrix.rows];
    for (i, j, value) in &matrix.entries {
        out[*i].0 += value * x[*j].0;
        out[*i].1 += value.abs() * x[*j].1;
    }
    out
}
