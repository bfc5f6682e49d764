//! Rational functions as expressions that a person would write.

use std::collections::BTreeMap;

use super::convert::Basis;
use super::layout::Field;
use super::{Fraction, Integer, Poly, PolyError, Work};
use crate::node::{Expr, Node};
use crate::number;
use crate::{Pool, Rational};

/// Powers up to this one are listed in advance.
const LISTED_POWERS: u32 = 1000;

impl Basis {
    /// Returns a rational function as an expression: common factors of the
    /// numerator and of the denominator stand in front of their sums.
    pub fn expression(&self, pool: &mut Pool, fraction: &Fraction) -> Expr {
        let mut factors = self.factors(pool, fraction.numerator());
        let minus_one = pool.int(-1);
        for factor in self.factors(pool, fraction.denominator()) {
            factors.push(pool.pow(factor, minus_one));
        }
        pool.product(&factors)
    }

    /// Returns a polynomial as an expression, a common factor in front.
    pub fn poly_expression(&self, pool: &mut Pool, poly: &Poly) -> Expr {
        let factors = self.factors(pool, poly);
        pool.product(&factors)
    }

    /// Returns the coefficients by one variable as expressions, by descending
    /// exponent.
    pub fn coefficient_expressions(&self, pool: &mut Pool, poly: &Poly, variable: usize) -> Vec<(u32, Expr)> {
        poly.coefficients(variable).into_iter().map(|(e, c)| (e, self.poly_expression(pool, &c))).collect()
    }

    /// Returns a polynomial as a sum of powers of one variable, each with its
    /// whole coefficient.
    pub fn collected(&self, pool: &mut Pool, poly: &Poly, variable: usize) -> Expr {
        let mut terms = Vec::new();
        for (exponent, coefficient) in self.coefficient_expressions(pool, poly, variable) {
            let power = self.monomial(pool, &Integer::ONE, &[(variable, exponent)]);
            let power = pool.product(&power);
            terms.push(pool.mul(coefficient, power));
        }
        pool.sum(&terms)
    }

    /// Splits off the content and the common powers of the terms.
    fn factors(&self, pool: &mut Pool, poly: &Poly) -> Vec<Expr> {
        if poly.is_zero() {
            return vec![pool.zero()];
        }
        let common = poly.monomial_content();
        if common.is_empty() && poly.len() > 1 {
            // A number alone is not put in front of a sum.
            return vec![self.sum(pool, poly, false).1];
        }
        let content = if poly.is_negative() { -&poly.content() } else { poly.content() };
        let rest = poly.primitive_part().div_monomial(&common);
        let (negative, sum) = self.sum(pool, &rest, true);
        let mut factors = self.monomial(pool, &if negative { -&content } else { content }, &common);
        factors.push(sum);
        factors
    }

    /// Returns the terms of a polynomial as a sum; a primitive one as a sum that may be a factor as it
    /// is, and whether its sign was changed to that end.
    fn sum(&self, pool: &mut Pool, poly: &Poly, primitive: bool) -> (bool, Expr) {
        let Some(powers) = self.powers(pool, poly) else {
            let mut terms = Vec::with_capacity(poly.len());
            for (powers, coefficient) in poly.powers() {
                let term = self.monomial(pool, coefficient, &powers);
                terms.push(pool.product(&term));
            }
            return (false, pool.sum(&terms));
        };
        let mut terms = Vec::with_capacity(poly.len());
        let mut factors = Vec::new();
        for (monomial, coefficient) in poly.monomials().zip(&poly.coefficients) {
            factors.clear();
            for (field, list) in &powers {
                let exponent = field.read(monomial) as usize;
                if exponent > 0 {
                    factors.push(list[exponent - 1]);
                }
            }
            let coefficient = number_of(pool, coefficient);
            terms.push((coefficient, pool.ordered_product(&factors)));
        }
        pool.sum_of_unlike(terms, primitive)
    }

    /// Returns the powers of each variable that occurs, with its place in monomials, in the order in
    /// which a product has them; nothing where a variable stands for more than a symbol, whose powers
    /// may be of another form, or where the powers are many.
    fn powers(&self, pool: &mut Pool, poly: &Poly) -> Option<Vec<(Field, Vec<Expr>)>> {
        let mut degrees = poly.degrees();
        let is_symbol = |v: usize| self.meaning(v).is_some_and(|e| pool.as_symbol(e).is_some());
        if !degrees.iter().all(|(v, degree)| *degree <= LISTED_POWERS && is_symbol(*v)) {
            return None;
        }
        degrees.sort_by_key(|(variable, _)| self.meaning(*variable));
        let mut powers = Vec::with_capacity(degrees.len());
        for (variable, degree) in degrees {
            let base = self.meaning(variable)?;
            let mut list = Vec::with_capacity(degree as usize);
            for exponent in 1..=degree {
                let exponent = pool.int(i64::from(exponent));
                list.push(pool.pow(base, exponent));
            }
            powers.push((poly.layout.field(variable)?, list));
        }
        Some(powers)
    }

    fn monomial(&self, pool: &mut Pool, coefficient: &Integer, powers: &[(usize, u32)]) -> Vec<Expr> {
        let mut factors = vec![number_of(pool, coefficient)];
        for &(variable, exponent) in powers {
            if let Some(meaning) = self.meaning(variable) {
                let exponent = pool.int(i64::from(exponent));
                factors.push(pool.pow(meaning, exponent));
            }
        }
        factors
    }
}

fn number_of(pool: &mut Pool, value: &Integer) -> Expr {
    match value.as_i64() {
        Some(small) => pool.int(small),
        None => pool.number(Rational::from(value.to_ibig())),
    }
}

/// Returns an expression as one quotient in lowest terms, expanded but for
/// common factors.
pub fn normal(pool: &mut Pool, e: Expr, work: &Work) -> Result<Expr, PolyError> {
    let mut basis = Basis::default();
    let fraction = basis.fraction(pool, e, work)?;
    Ok(basis.expression(pool, &fraction))
}

/// Pulls the factors that all terms of a sum share out of it, without
/// expanding anything; other expressions stay as they are.
pub fn factor_common(pool: &mut Pool, e: Expr) -> Expr {
    let Node::Sum(terms) = pool.node(e) else { return e };
    let terms = terms.to_vec();
    let mut shared: Option<BTreeMap<Expr, Rational>> = None;
    for &term in &terms {
        let powers = numeric_powers(pool, term);
        shared = Some(match shared {
            None => powers,
            Some(mut shared) => {
                shared.retain(|base, exponent| match powers.get(base) {
                    Some(other) if number::is_negative(other) == number::is_negative(exponent) => {
                        let less =
                            if number::is_negative(other) { other > exponent } else { other < exponent };
                        if less {
                            *exponent = other.clone();
                        }
                        true
                    }
                    _ => false,
                });
                shared
            }
        });
    }
    let shared = shared.unwrap_or_default();
    if shared.is_empty() {
        return e;
    }
    let (mut common, mut inverse) = (Vec::new(), Vec::new());
    for (base, exponent) in shared {
        let (up, down) = (pool.number(exponent.clone()), pool.number(-exponent));
        common.push(pool.pow(base, up));
        inverse.push(pool.pow(base, down));
    }
    let mut rest = Vec::with_capacity(terms.len());
    for term in terms {
        let mut factors = vec![term];
        factors.extend_from_slice(&inverse);
        rest.push(pool.product(&factors));
    }
    common.push(pool.sum(&rest));
    pool.product(&common)
}

/// Returns the factors of a term with numeric exponents, numbers left out.
fn numeric_powers(pool: &Pool, term: Expr) -> BTreeMap<Expr, Rational> {
    let factors = match pool.node(term) {
        Node::Product(factors) => factors,
        Node::Number(_) => &[],
        _ => std::slice::from_ref(&term),
    };
    let mut powers = BTreeMap::new();
    for &factor in factors.iter().filter(|f| !pool.is_number(**f)) {
        match pool.node(factor) {
            Node::Power(base, exponent) => match pool.as_rational(exponent) {
                Some(exponent) => powers.insert(base, exponent.clone()),
                None => powers.insert(factor, Rational::ONE),
            },
            _ => powers.insert(factor, Rational::ONE),
        };
    }
    powers
}
