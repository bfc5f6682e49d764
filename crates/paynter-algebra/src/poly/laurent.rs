//! Laurent polynomials in symbols: what most entries of matrices are.
//!
//! The lowest terms of a Laurent polynomial are known without a greatest common divisor: the
//! denominator is the monomial of its most negative exponents. How long they are when written is bounded
//! from below by the names in them, which is much cheaper than to make and write them.

use super::{Basis, Fraction, Integer, Poly, PolyError};
use crate::Pool;
use crate::limits::{EXPANDED_POWER, EXPANDED_TERMS, EXPANDED_VISITS};
use crate::node::{Expr, Node, Symbol};
use smallvec::SmallVec;

/// Symbols with their exponents, in the order of the symbols.
type Powers = SmallVec<[(Symbol, i32); 6]>;

/// An integer coefficient and the exponents of symbols.
#[derive(Clone)]
struct Term {
    coefficient: i64,
    powers: Powers,
}

/// A Laurent polynomial in symbols with small integer coefficients.
pub(super) struct Laurent {
    terms: Vec<Term>,
    /// The least exponent of each symbol among the terms.
    least: Powers,
}

impl Laurent {
    /// Expands an expression; nothing where it is no such polynomial, or a long one.
    pub fn of(pool: &Pool, e: Expr) -> Option<Laurent> {
        let terms = expand(pool, e, &mut 0)?;
        let mut least = Powers::new();
        for symbol in terms.iter().flat_map(|term| term.powers.iter().map(|(symbol, _)| *symbol)) {
            if let Err(place) = least.binary_search_by_key(&symbol, |(known, _)| *known) {
                let exponents = terms.iter().map(|term| exponent(&term.powers, symbol));
                least.insert(place, (symbol, exponents.min().unwrap_or(0)));
            }
        }
        Some(Laurent { terms, least })
    }

    /// A number of characters that its lowest terms are not written with fewer of.
    pub fn least_length(&self, pool: &Pool) -> usize {
        let name = |symbol: Symbol| pool.name(symbol).len();
        // What all terms share stands once, in front of the sum or below it.
        let shared: usize = self.least.iter().filter(|(_, k)| *k != 0).map(|(symbol, _)| name(*symbol)).sum();
        let own = |term: &Term| {
            let others = self.least.iter().filter(|(symbol, k)| exponent(&term.powers, *symbol) != *k);
            others.fold((0, 0), |(count, length), (symbol, _)| (count + 1, length + name(*symbol)))
        };
        let written = self.terms.iter().map(|term| {
            let (count, length): (usize, usize) = own(term);
            length + count.saturating_sub(1)
        });
        shared + written.sum::<usize>() + " + ".len() * self.terms.len().saturating_sub(1)
    }

    /// Its lowest terms, as [`normal`](super::normal) gives them.
    pub fn lowest_terms(&self, pool: &mut Pool) -> Result<Expr, PolyError> {
        let mut symbols: Vec<(Expr, Symbol)> =
            self.least.iter().map(|(symbol, _)| (pool.var(*symbol), *symbol)).collect();
        symbols.sort_unstable();
        let mut basis = Basis::default();
        // The variable of each symbol, and its exponent in the denominator.
        let variables: Vec<(Symbol, usize, u32)> = symbols
            .iter()
            .map(|(_, symbol)| {
                let below = exponent(&self.least, *symbol).min(0).unsigned_abs();
                (*symbol, basis.symbol(pool, *symbol), below)
            })
            .collect();
        let numerator = self.terms.iter().map(|term| {
            let powers = variables.iter().filter_map(|(symbol, variable, below)| {
                let exponent = exponent(&term.powers, *symbol).checked_add_unsigned(*below)?;
                u32::try_from(exponent).ok().filter(|exponent| *exponent > 0).map(|k| (*variable, k))
            });
            (powers.collect(), Integer::from(term.coefficient))
        });
        let numerator = Poly::from_powers(numerator.collect())?;
        let below: Vec<(usize, u32)> =
            variables.iter().filter(|(.., below)| *below > 0).map(|(_, v, below)| (*v, *below)).collect();
        let fraction = Fraction::reduced(numerator, Poly::monomial(Integer::ONE, &below)?);
        Ok(basis.expression(pool, &fraction))
    }
}

fn exponent(powers: &[(Symbol, i32)], symbol: Symbol) -> i32 {
    powers.binary_search_by_key(&symbol, |(known, _)| *known).map_or(0, |place| powers[place].1)
}

fn expand(pool: &Pool, e: Expr, visits: &mut usize) -> Option<Vec<Term>> {
    *visits += 1;
    if *visits > EXPANDED_VISITS {
        return None;
    }
    let number = |coefficient: i64| vec![Term { coefficient, powers: Powers::new() }];
    match pool.node(e) {
        Node::Number(_) => pool.as_int(e).map(number),
        Node::Symbol(symbol) => {
            Some(vec![Term { coefficient: 1, powers: std::iter::once((symbol, 1)).collect() }])
        }
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
            let (first, others) = parts.split_first()?;
            let mut product = expand(pool, *first, visits)?;
            for part in others {
                product = multiply(&product, &expand(pool, *part, visits)?)?;
            }
            Some(product)
        }
        Node::Power(base, exponent) => {
            let exponent = pool.as_int(exponent).filter(|k| k.abs() <= EXPANDED_POWER)?;
            let exponent = i32::try_from(exponent).ok()?;
            let mut base = expand(pool, base, visits)?;
            if let [Term { coefficient: 1, powers }] = base.as_mut_slice() {
                for (_, k) in powers {
                    *k = k.checked_mul(exponent)?;
                }
                return Some(base);
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
fn joined(a: &Powers, b: &Powers) -> Powers {
    let mut powers = a.clone();
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

    /// The lowest terms of sums of random monomials are those that are found by greatest common divisors, and no
    /// shorter than the bound.
    #[test]
    fn lowest_terms_are_found_without_divisors() {
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
            let Some(laurent) = Laurent::of(&pool, e) else { continue };
            let (bound, lowest) = (laurent.least_length(&pool), laurent.lowest_terms(&mut pool).unwrap());
            let normal = normal(&mut pool, e, &Work::default()).unwrap();
            assert_eq!(lowest, normal, "{} and {}", pool.display(lowest), pool.display(normal));
            let length = pool.display(normal).to_string().len();
            assert!(bound <= length, "{}: {bound} > {length}", pool.display(normal));
            judged += 1;
        }
        assert!(judged > 300, "{judged}");
    }
}
