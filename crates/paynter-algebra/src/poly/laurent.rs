//! Laurent polynomials in symbols, expanded only to judge how long their lowest terms are.
//!
//! The lowest terms of a Laurent polynomial are known without a greatest common divisor: the
//! denominator is the monomial of its most negative exponents. How long they are when written is bounded
//! from below by the names in them, which is much cheaper than to make and write them.

use crate::Pool;
use crate::limits::{EXPANDED_POWER, EXPANDED_TERMS, EXPANDED_VISITS};
use crate::node::{Expr, Node, Symbol};

/// An integer coefficient and the exponents of symbols, in their order.
#[derive(Clone)]
struct Term {
    coefficient: i64,
    powers: Vec<(Symbol, i64)>,
}

/// A number of characters that no lowest terms of this expression are written with fewer of; nothing
/// where it is no Laurent polynomial in symbols with small integer coefficients.
pub(super) fn least_length(pool: &Pool, e: Expr) -> Option<usize> {
    let terms = expand(pool, e, &mut 0)?;
    let mut least: Vec<(Symbol, i64)> = Vec::new();
    for symbol in terms.iter().flat_map(|term| term.powers.iter().map(|(symbol, _)| *symbol)) {
        if let Err(place) = least.binary_search_by_key(&symbol, |(known, _)| *known) {
            let exponents = terms.iter().map(|term| exponent(&term.powers, symbol));
            least.insert(place, (symbol, exponents.min().unwrap_or(0)));
        }
    }
    let name = |symbol: Symbol| pool.name(symbol).len();
    // What all terms share stands once, in front of the sum or below it.
    let shared: usize = least.iter().filter(|(_, k)| *k != 0).map(|(symbol, _)| name(*symbol)).sum();
    let own = |term: &Term| {
        let others = least.iter().filter(|(symbol, k)| exponent(&term.powers, *symbol) != *k);
        others.fold((0, 0), |(count, length), (symbol, _)| (count + 1, length + name(*symbol)))
    };
    let written = terms.iter().map(|term| {
        let (count, length): (usize, usize) = own(term);
        length + count.saturating_sub(1)
    });
    Some(shared + written.sum::<usize>() + " + ".len() * terms.len().saturating_sub(1))
}

fn exponent(powers: &[(Symbol, i64)], symbol: Symbol) -> i64 {
    powers.binary_search_by_key(&symbol, |(known, _)| *known).map_or(0, |place| powers[place].1)
}

fn expand(pool: &Pool, e: Expr, visits: &mut usize) -> Option<Vec<Term>> {
    *visits += 1;
    if *visits > EXPANDED_VISITS {
        return None;
    }
    let number = |coefficient: i64| vec![Term { coefficient, powers: Vec::new() }];
    match pool.node(e) {
        Node::Number(_) => pool.as_int(e).map(number),
        Node::Symbol(symbol) => Some(vec![Term { coefficient: 1, powers: vec![(symbol, 1)] }]),
        Node::Sum(parts) => {
            let mut terms = Vec::with_capacity(parts.len());
            for part in parts {
                terms.extend(expand(pool, *part, visits)?);
                if terms.len() > EXPANDED_TERMS {
                    return None;
                }
            }
            combine(terms)
        }
        Node::Product(parts) => {
            let mut product = number(1);
            for part in parts {
                product = multiply(&product, &expand(pool, *part, visits)?)?;
            }
            Some(product)
        }
        Node::Power(base, exponent) => {
            let exponent = pool.as_int(exponent).filter(|k| k.abs() <= EXPANDED_POWER)?;
            let base = expand(pool, base, visits)?;
            if let [Term { coefficient: 1, powers }] = base.as_slice() {
                let powers = powers.iter().map(|(symbol, k)| (*symbol, k * exponent)).collect();
                return Some(vec![Term { coefficient: 1, powers }]);
            }
            let mut power = number(1);
            for _ in 0..u64::try_from(exponent).ok()? {
                power = multiply(&power, &base)?;
            }
            Some(power)
        }
        _ => None,
    }
}

fn multiply(a: &[Term], b: &[Term]) -> Option<Vec<Term>> {
    if a.len() * b.len() > EXPANDED_TERMS {
        return None;
    }
    let mut terms = Vec::with_capacity(a.len() * b.len());
    for left in a {
        for right in b {
            let coefficient = left.coefficient.checked_mul(right.coefficient)?;
            terms.push(Term { coefficient, powers: joined(&left.powers, &right.powers) });
        }
    }
    if a.len() > 1 && b.len() > 1 { combine(terms) } else { Some(terms) }
}

/// Adds the exponents of two monomials.
fn joined(a: &[(Symbol, i64)], b: &[(Symbol, i64)]) -> Vec<(Symbol, i64)> {
    let mut powers = a.to_vec();
    for (symbol, k) in b {
        match powers.binary_search_by_key(symbol, |(known, _)| *known) {
            Ok(place) => {
                powers[place].1 += k;
                if powers[place].1 == 0 {
                    powers.remove(place);
                }
            }
            Err(place) => powers.insert(place, (*symbol, *k)),
        }
    }
    powers
}

/// Adds like terms.
fn combine(mut terms: Vec<Term>) -> Option<Vec<Term>> {
    terms.sort_unstable_by(|a, b| a.powers.cmp(&b.powers));
    let mut sum: Vec<Term> = Vec::with_capacity(terms.len());
    for term in terms {
        match sum.last_mut() {
            Some(last) if last.powers == term.powers => {
                last.coefficient = last.coefficient.checked_add(term.coefficient)?;
            }
            _ => sum.push(term),
        }
    }
    sum.retain(|term| term.coefficient != 0);
    Some(sum)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::poly::{Work, normal};

    /// The bound holds for the lowest terms of sums of random monomials, and where nothing cancels it is near.
    #[test]
    fn no_lowest_terms_are_shorter() {
        let mut random = paynter_base::random::Random::new(7);
        let mut judged = 0;
        for _ in 0..400 {
            let mut pool = Pool::new();
            let names: Vec<Expr> = ["m", "k12", "b", "long_name", "x"]
                .map(|name| pool.symbol(name))
                .map(|symbol| pool.var(symbol))
                .to_vec();
            let mut below = |n: u64| random.bits() % n;
            let mut terms = Vec::new();
            for _ in 0..1 + below(4) {
                let mut factors = vec![pool.int(below(7).cast_signed() - 3)];
                for _ in 0..below(4) {
                    let exponent = pool.int(below(5).cast_signed() - 2);
                    let base = names[below(5) as usize];
                    factors.push(pool.pow(base, exponent));
                }
                if below(3) == 0 {
                    let sum = pool.add(names[below(5) as usize], names[below(5) as usize]);
                    factors.push(sum);
                }
                terms.push(pool.product(&factors));
            }
            let e = pool.sum(&terms);
            let Some(bound) = least_length(&pool, e) else { continue };
            let normal = normal(&mut pool, e, &Work::default()).unwrap();
            let length = pool.display(normal).to_string().len();
            assert!(bound <= length, "{}: {bound} > {length}", pool.display(normal));
            judged += 1;
        }
        assert!(judged > 300, "{judged}");
    }
}
