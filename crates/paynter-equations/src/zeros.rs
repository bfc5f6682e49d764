//! Zero dynamics: what still moves while an input holds an output at zero.
//! Its characteristic polynomial is that of the invariant zeros of the model
//! with this one input and output, det [sI − A, −b; c, d], which is the
//! numerator of the transfer function before anything cancels.

use paynter_algebra::poly::{Basis, Budget, Fraction, PolyError, Work};
use paynter_algebra::{Expr, Pool, Rational};
use paynter_base::CancellationToken;

use crate::{QueryError, Transfer};

/// The zero dynamics from one input to one output.
#[derive(Debug, Clone)]
pub struct ZeroDynamics {
    /// Place among the outputs.
    pub output: usize,
    /// Place among the inputs.
    pub input: usize,
    /// The polynomial of the invariant zeros in s, without factors free of s; zero where every s is one.
    pub polynomial: Expr,
    /// Its coefficients by falling power of s.
    pub coefficients: Vec<(u32, Expr)>,
}

/// Finds the zero dynamics of every entry of an expanded transfer matrix.
pub fn zero_dynamics(
    pool: &mut Pool,
    transfer: &Transfer,
    budget: Budget,
    token: &CancellationToken,
) -> Result<Option<Vec<ZeroDynamics>>, QueryError> {
    let Some(denominator) = transfer.denominator else { return Ok(None) };
    match expanded(pool, transfer, denominator, budget, token) {
        Ok(list) => Ok(Some(list)),
        Err(PolyError::Cancelled) => Err(QueryError::Cancelled),
        Err(_) => Ok(None),
    }
}

fn expanded(
    pool: &mut Pool,
    transfer: &Transfer,
    denominator: Expr,
    budget: Budget,
    token: &CancellationToken,
) -> Result<Vec<ZeroDynamics>, PolyError> {
    let work = Work::new(budget, token);
    let mut basis = Basis::new(pool, &[transfer.s]);
    let characteristic = basis.fraction(pool, denominator, &work)?;
    let mut list = Vec::with_capacity(transfer.entries.len());
    for entry in &transfer.entries {
        let num = basis.fraction(pool, entry.num, &work)?;
        let den = basis.fraction(pool, entry.den, &work)?;
        let whole: Fraction = num.mul(&characteristic, &work)?.div(&den, &work)?;
        let polynomial = whole.numerator();
        let content = polynomial.content_in(0, &work)?;
        let polynomial = match content.is_zero() {
            true => polynomial.clone(),
            false => polynomial.div_exact(&content, &work)?.unwrap_or_else(|| polynomial.clone()),
        };
        let polynomial = if polynomial.is_negative() { polynomial.neg() } else { polynomial };
        list.push(ZeroDynamics {
            output: entry.output,
            input: entry.input,
            polynomial: basis.poly_expression(pool, &polynomial),
            coefficients: basis.coefficient_expressions(pool, &polynomial, 0),
        });
    }
    Ok(list)
}

/// Whether all roots of a polynomial lie in the open left half plane, by Routh's array in exact
/// numbers; coefficients by falling power, the first not zero.
pub fn is_hurwitz(coefficients: &[Rational]) -> bool {
    let Some(first) = coefficients.first() else { return false };
    let flip = *first < Rational::ZERO;
    let all: Vec<Rational> = coefficients.iter().map(|c| if flip { -c.clone() } else { c.clone() }).collect();
    let row = |start: usize| -> Vec<Rational> { all.iter().skip(start).step_by(2).cloned().collect() };
    let (mut upper, mut lower) = (row(0), row(1));
    for _ in 1..all.len() {
        let (Some(a), Some(b)) = (upper.first(), lower.first()) else { return false };
        if *b <= Rational::ZERO {
            return false;
        }
        let factor = a / b;
        let next = (1..upper.len()).map(|k| match lower.get(k) {
            Some(other) => &upper[k] - &factor * other,
            None => upper[k].clone(),
        });
        let next: Vec<Rational> = next.collect();
        upper = std::mem::replace(&mut lower, next);
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Entry;

    #[test]
    fn rouths_array_decides_the_half_plane() {
        let poly = |list: &[i64]| list.iter().map(|c| Rational::from(*c)).collect::<Vec<_>>();
        for (coefficients, stable) in [
            (&[3][..], true),
            (&[1, 2], true),
            (&[-1, -2], true),
            (&[1, 0], false),
            (&[1, -1], false),
            (&[1, 0, 1], false),
            (&[1, 6, 11, 6], true),
            (&[1, 1, 1, 1], false),
            (&[1, 2, 3, 4, 5], false),
            (&[1, 4, 6, 4, 1], true),
        ] {
            assert_eq!(is_hurwitz(&poly(coefficients)), stable, "{coefficients:?}");
        }
    }

    #[test]
    fn cancelled_modes_stay_in_the_zero_dynamics() {
        // H = 1/(s + 1) of a model with poles −1 and −a: −a is a zero that is cancelled.
        let mut pool = Pool::new();
        let s = pool.symbol("s");
        let (x, a) = (pool.var(s), pool.symbol("a"));
        let a = pool.var(a);
        let one = pool.one();
        let (first, second) = (pool.add(x, one), pool.add(x, a));
        let denominator = Some(pool.mul(first, second));
        let entries = vec![Entry { output: 0, input: 0, num: one, den: first }];
        let transfer = Transfer { s, denominator, entries, shared: None };
        let found = zero_dynamics(&mut pool, &transfer, Budget::default(), &CancellationToken::new())
            .unwrap()
            .unwrap();
        assert!(pool.equal(found[0].polynomial, second));
        assert_eq!(found[0].coefficients.len(), 2);
    }
}
