//! How simple poles and zeros move with a parameter, by characteristic polynomials in exact numbers: dz = −∂Δ/∂p/(∂Δ/∂s)
//! loses nothing where entries cancel, in the matrices or in the graph.

use dashu_int::IBig;
use num_complex::Complex64;
use paynter_algebra::{Pool, Rational};
use paynter_base::CancellationToken;
use paynter_equations::QueryError;
use paynter_graph::BondGraph;

use super::LinearModel;
use crate::linalg::{Integers, Matrices, Polynomials, characteristic};
use crate::tolerance::{CANCELLED_MOVE, EXACT_MOVES};

/// By the 2^so much-th part of its size a parameter is changed: exact numbers leave but the curvature, of that part.
const EXACT_STEP: usize = 44;

/// A polynomial with the coefficients, lowest power first, of which the highest is one.
fn monic(polynomial: &Integers) -> Option<Vec<Rational>> {
    let leading = Rational::from(polynomial.last()?.clone());
    Some(polynomial.iter().map(|c: &IBig| Rational::from(c.clone()) / &leading).collect())
}

/// The derivative of a root; none where terms cancel in it, or nothing is left to divide by.
fn derivative(own: &[Rational], moved: &[Rational], step: &Rational, root: Complex64) -> Option<Complex64> {
    if own.len() != moved.len() {
        return None;
    }
    let (mut change, mut size) = (Complex64::ZERO, 0.0);
    let (mut below, mut power, mut before) = (Complex64::ZERO, Complex64::ONE, Complex64::ZERO);
    for (k, (own, moved)) in own.iter().zip(moved).enumerate() {
        let by = ((moved - own) / step).to_f64().value();
        change += by * power;
        size += by.abs() * power.norm();
        below += k as f64 * own.to_f64().value() * before;
        (before, power) = (power, power * root);
    }
    if size == 0.0 {
        return Some(Complex64::ZERO);
    }
    let found = -change / below;
    (change.norm() > CANCELLED_MOVE * size && found.is_finite()).then_some(found)
}

impl LinearModel {
    /// The derivatives of simple poles, and of zeros between an output and an input, by a parameter, given by place;
    /// none of a nonlinear or large model.
    pub(crate) fn exact_root_moves(
        &self,
        pool: &Pool,
        graph: &BondGraph,
        parameter: usize,
        roots: &[(Option<(usize, usize)>, Complex64)],
        token: &CancellationToken,
    ) -> Result<Vec<Option<Complex64>>, QueryError> {
        let nothing = vec![None; roots.len()];
        if self.point.is_some() || self.equations.states.len() > EXACT_MOVES {
            return Ok(nothing);
        }
        let Some(mut values) = self.exact_values(pool, graph) else { return Ok(nothing) };
        let mut wanted: Vec<(usize, usize)> = roots.iter().filter_map(|(entry, _)| *entry).collect();
        wanted.sort_unstable();
        wanted.dedup();
        let polynomials =
            |values: &std::collections::BTreeMap<_, Rational>| -> Result<Option<Polynomials>, QueryError> {
                let matrices = Matrices::exact(pool, &self.space, &|symbol| values.get(&symbol).cloned());
                matrices.ok().map(|matrices| Ok(characteristic(&matrices, &wanted, token)?)).transpose()
            };
        let own = polynomials(&values)?;
        let symbol = graph.parameters[parameter].symbol;
        let Some(value) = values.get(&symbol).cloned() else { return Ok(nothing) };
        let size = if value.is_zero() { Rational::ONE } else { value.clone() };
        let step = size / Rational::from(IBig::ONE << EXACT_STEP);
        values.insert(symbol, value + &step);
        let (Some(own), Some(moved)) = (own, polynomials(&values)?) else { return Ok(nothing) };
        let of = |found: &Polynomials, entry: Option<(usize, usize)>| match entry {
            None => monic(&found.denominator),
            Some(place) => {
                let mut all = found.numerators.iter();
                all.find(|(output, input, ..)| (*output, *input) == place).and_then(|(.., top)| monic(top))
            }
        };
        let find = |(entry, root): &(Option<(usize, usize)>, Complex64)| {
            derivative(&of(&own, *entry)?, &of(&moved, *entry)?, &step, *root)
        };
        Ok(roots.iter().map(find).collect())
    }
}
