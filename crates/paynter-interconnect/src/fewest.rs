//! Forms of a coefficient in which uncertain parameters stand as seldom as possible, because each place of one
//! takes a channel: a polynomial by Horner's scheme in the parameter that saves most, and factors of a quotient
//! moved into its divisor, as C m/(C + m) = 1/(1/C + 1/m).

use paynter_algebra::poly::readable;
use paynter_algebra::{Expr, Node, Pool, Symbol};
use paynter_base::CancellationToken;

use crate::delta::Deltas;
use crate::limits::SEARCHED_COEFFICIENT;

/// A polynomial by Horner's scheme: its coefficients in a parameter, the constant one first.
pub(crate) struct Scheme {
    pub symbol: Symbol,
    pub coefficients: Vec<Expr>,
}

/// The form of a coefficient with the fewest channels that was found.
pub(crate) fn fewest(pool: &mut Pool, deltas: &Deltas, c: Expr, token: &CancellationToken) -> Expr {
    let distinct = pool.symbols(c).iter().filter(|symbol| deltas.place.contains_key(symbol)).count();
    let mut best = (channels(pool, deltas, c), c);
    if best.0 <= distinct as u64 || pool.written_size(&[c]) > SEARCHED_COEFFICIENT {
        return c;
    }
    let lowest = readable(pool, c, token);
    for form in [c, lowest] {
        let form = rewritten(pool, deltas, form);
        let count = channels(pool, deltas, form);
        if count < best.0 {
            best = (count, form);
        }
    }
    best.1
}

/// How many channels a form takes, operation by operation.
fn channels(pool: &mut Pool, deltas: &Deltas, c: Expr) -> u64 {
    match pool.node(c) {
        Node::Symbol(symbol) => u64::from(deltas.place.contains_key(&symbol)),
        Node::Product(factors) => {
            let factors = factors.to_vec();
            factors.into_iter().map(|factor| channels(pool, deltas, factor)).sum()
        }
        Node::Power(base, exponent) => {
            let exponent = pool.as_int(exponent).map_or(1, i64::unsigned_abs);
            exponent.saturating_mul(channels(pool, deltas, base))
        }
        Node::Sum(_) => scheme_and_channels(pool, deltas, c).1,
        _ => 0,
    }
}

/// Horner's scheme by which a sum takes the fewest channels; none where its terms alone do.
pub(crate) fn scheme(pool: &mut Pool, deltas: &Deltas, sum: Expr) -> Option<Scheme> {
    scheme_and_channels(pool, deltas, sum).0
}

fn scheme_and_channels(pool: &mut Pool, deltas: &Deltas, sum: Expr) -> (Option<Scheme>, u64) {
    let Node::Sum(terms) = pool.node(sum) else { return (None, 0) };
    let terms = terms.to_vec();
    let mut best = (None, terms.iter().map(|term| channels(pool, deltas, *term)).sum());
    let long = pool.written_size(&[sum]) > SEARCHED_COEFFICIENT;
    let symbols: Vec<Symbol> =
        pool.symbols(sum).into_iter().filter(|symbol| deltas.place.contains_key(symbol)).collect();
    for symbol in symbols {
        let shared = terms.iter().filter(|term| pool.depends_on(**term, symbol)).count() > 1;
        let Some(coefficients) = pool.collect(sum, symbol).filter(|_| shared) else { continue };
        if long {
            return (Some(Scheme { symbol, coefficients }), best.1);
        }
        let parts: u64 = coefficients.iter().map(|part| channels(pool, deltas, *part)).sum();
        let count = parts + coefficients.len() as u64 - 1;
        if count < best.1 {
            best = (Some(Scheme { symbol, coefficients }), count);
        }
    }
    best
}

/// A form with the factors of its quotients moved into divisors where that saves channels.
fn rewritten(pool: &mut Pool, deltas: &Deltas, c: Expr) -> Expr {
    match pool.node(c) {
        Node::Sum(terms) => {
            let terms = terms.to_vec();
            let terms: Vec<Expr> = terms.into_iter().map(|term| rewritten(pool, deltas, term)).collect();
            pool.sum(&terms)
        }
        Node::Power(base, exponent) => {
            let base = rewritten(pool, deltas, base);
            pool.pow(base, exponent)
        }
        Node::Product(factors) => {
            let factors = factors.to_vec();
            let mut factors: Vec<Expr> =
                factors.into_iter().map(|factor| rewritten(pool, deltas, factor)).collect();
            while let Some(shorter) = moved(pool, deltas, &factors) {
                factors = shorter;
            }
            pool.product(&factors)
        }
        _ => c,
    }
}

/// Factors with a power of a parameter moved into a divisor, where that saves channels.
fn moved(pool: &mut Pool, deltas: &Deltas, factors: &[Expr]) -> Option<Vec<Expr>> {
    let power = |pool: &Pool, factor: Expr| match pool.node(factor) {
        Node::Power(base, exponent) => pool.as_int(exponent).map(|n| (base, n)),
        _ => Some((factor, 1)),
    };
    let before: u64 = factors.iter().map(|factor| channels(pool, deltas, *factor)).sum();
    for (i, divisor) in factors.iter().enumerate() {
        let Some((sum, k)) = power(pool, *divisor).filter(|(_, k)| *k < 0) else { continue };
        let Node::Sum(terms) = pool.node(sum) else { continue };
        let terms = terms.to_vec();
        for (j, factor) in factors.iter().enumerate() {
            let Some((parameter, n)) = power(pool, *factor) else { continue };
            if !pool.as_symbol(parameter).is_some_and(|symbol| deltas.never_vanishes(symbol))
                || n.unsigned_abs() < k.unsigned_abs()
            {
                continue;
            }
            // p^n S^k = p^(n ± k) (S/p)^k, or (S p)^k where p divides.
            let step = if n > 0 { -1 } else { 1 };
            let step_power = int_power(pool, parameter, step);
            let terms: Vec<Expr> = terms.iter().map(|term| pool.mul(*term, step_power)).collect();
            let inside = pool.sum(&terms);
            let mut list: Vec<Expr> = factors.to_vec();
            list[i] = int_power(pool, inside, k);
            list[j] = int_power(pool, parameter, n - step * k);
            let after: u64 = list.iter().map(|factor| channels(pool, deltas, *factor)).sum();
            if after < before {
                return Some(list);
            }
        }
    }
    None
}

fn int_power(pool: &mut Pool, base: Expr, exponent: i64) -> Expr {
    let exponent = pool.int(exponent);
    pool.pow(base, exponent)
}
