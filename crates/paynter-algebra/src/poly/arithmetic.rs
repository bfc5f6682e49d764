//! Sums, powers, contents, derivatives, coefficients by one variable and
//! substitution.

use std::cmp::Ordering;

use super::layout::with_words;
use super::polynomial::{Powers, layout_for, max_degrees, same_layout};
use super::{Integer, Poly, PolyError, Work};

impl Poly {
    /// Returns the sum.
    pub fn add(&self, other: &Poly, work: &Work) -> Result<Poly, PolyError> {
        self.merge(other, false, work)
    }

    /// Returns the difference.
    pub fn sub(&self, other: &Poly, work: &Work) -> Result<Poly, PolyError> {
        self.merge(other, true, work)
    }

    /// Returns the negative.
    pub fn neg(&self) -> Poly {
        Poly {
            layout: self.layout.clone(),
            exponents: self.exponents.clone(),
            coefficients: self.coefficients.iter().map(|c| -c).collect(),
        }
    }

    /// Returns the product with an integer.
    pub fn scale(&self, factor: &Integer) -> Poly {
        if factor.is_zero() {
            return Poly::zero();
        }
        Poly {
            layout: self.layout.clone(),
            exponents: self.exponents.clone(),
            coefficients: self.coefficients.iter().map(|c| c * factor).collect(),
        }
    }

    fn merge(&self, other: &Poly, negate: bool, work: &Work) -> Result<Poly, PolyError> {
        if other.is_zero() {
            return Ok(self.clone());
        }
        if self.is_zero() {
            return Ok(if negate { other.neg() } else { other.clone() });
        }
        work.spend("a sum", (self.len() + other.len()) as u64)?;
        let layout = if same_layout(&self.layout, &other.layout) {
            self.layout.clone()
        } else {
            layout_for(&[self, other], &max_degrees(&self.degrees(), &other.degrees()))?
        };
        let (a, b) = (self.packed(&layout), other.packed(&layout));
        let words = layout.words();
        let mut sum = Poly {
            layout,
            exponents: Vec::with_capacity(a.len() + b.len()),
            coefficients: Vec::with_capacity(self.len() + other.len()),
        };
        with_words!(words, W => merge_terms::<W>(
            (&a, &self.coefficients), (&b, &other.coefficients), negate, &mut sum));
        sum.within("a sum", work)
    }

    /// Returns the power with a natural exponent.
    pub fn pow(&self, exponent: u32, work: &Work) -> Result<Poly, PolyError> {
        if self.len() == 1 {
            return self.pow_term(exponent);
        }
        let mut power = Poly::one();
        // Multiplying by the base again and again is better than squaring for
        // sparse polynomials, whose powers are much larger than they are.
        for _ in 0..exponent {
            if power.is_zero() {
                break;
            }
            power = power.mul(self, work)?;
        }
        Ok(power)
    }

    fn pow_term(&self, exponent: u32) -> Result<Poly, PolyError> {
        let mut terms = Vec::new();
        for (powers, coefficient) in self.powers() {
            let raise = |(v, e): (usize, u32)| Some((v, e.checked_mul(exponent)?));
            let powers: Option<Powers> = powers.into_iter().map(raise).collect();
            let bits = coefficient.bits() as u64 * u64::from(exponent);
            if bits > 1 << 24 && coefficient.bits() > 1 {
                return Err(PolyError::ExponentTooLarge);
            }
            terms.push((powers.ok_or(PolyError::ExponentTooLarge)?, coefficient.pow(exponent)));
        }
        Poly::from_powers(terms)
    }

    /// Returns the greatest common divisor of the coefficients, positive
    /// (0 for the polynomial 0).
    pub fn content(&self) -> Integer {
        let mut content = Integer::ZERO;
        for coefficient in &self.coefficients {
            content = content.gcd(coefficient);
            if content.is_one() {
                break;
            }
        }
        content
    }

    /// Returns the product of a list, the shortest multiplied first; 1 for an empty one.
    pub fn product(factors: &[Poly], work: &Work) -> Result<Poly, PolyError> {
        let mut order: Vec<&Poly> = factors.iter().collect();
        order.sort_by_key(|factor| factor.len());
        let mut product = Poly::one();
        for factor in order {
            product = product.mul(factor, work)?;
        }
        Ok(product)
    }

    /// Returns the polynomial divided by its content, with positive leading
    /// coefficient.
    pub fn primitive_part(&self) -> Poly {
        let content = self.content();
        if content.is_zero() {
            return Poly::zero();
        }
        let divisor = if self.is_negative() { -&content } else { content };
        self.div_integer(&divisor).unwrap_or_else(|| self.clone())
    }

    /// Returns the quotient by an integer if it divides all coefficients.
    pub fn div_integer(&self, divisor: &Integer) -> Option<Poly> {
        if divisor.is_one() {
            return Some(self.clone());
        }
        let coefficients: Option<Vec<Integer>> =
            self.coefficients.iter().map(|c| c.div_exact(divisor)).collect();
        Some(Poly {
            layout: self.layout.clone(),
            exponents: self.exponents.clone(),
            coefficients: coefficients?,
        })
    }

    /// Returns the variables that divide every term, ascending, each with the
    /// largest exponent that does.
    pub fn monomial_content(&self) -> Vec<(usize, u32)> {
        let mut monomials = self.monomials();
        let Some(first) = monomials.next() else { return Vec::new() };
        let mut common: Powers = self.layout.powers(first).collect();
        for monomial in monomials {
            if common.is_empty() {
                break;
            }
            common.retain_mut(|(variable, exponent)| {
                *exponent = self.layout.get(monomial, *variable).min(*exponent);
                *exponent > 0
            });
        }
        common
    }

    /// Returns the polynomial divided by a monomial that divides every term
    /// (exponents are cut off at 0 otherwise).
    pub fn div_monomial(&self, powers: &[(usize, u32)]) -> Poly {
        let mut quotient = self.clone();
        if powers.is_empty() {
            return quotient;
        }
        let words = quotient.layout.words();
        for monomial in quotient.exponents.chunks_exact_mut(words) {
            for &(variable, exponent) in powers {
                let old = self.layout.get(monomial, variable);
                self.layout.set(monomial, variable, old.saturating_sub(exponent));
            }
        }
        quotient
    }

    /// Returns the derivative by a variable.
    pub fn derivative(&self, variable: usize) -> Poly {
        let words = self.layout.words();
        let mut derivative =
            Poly { layout: self.layout.clone(), exponents: Vec::new(), coefficients: Vec::new() };
        for (monomial, coefficient) in self.monomials().zip(&self.coefficients) {
            let exponent = self.layout.get(monomial, variable);
            if exponent > 0 {
                derivative.exponents.extend_from_slice(monomial);
                let start = derivative.exponents.len() - words;
                self.layout.set(&mut derivative.exponents[start..], variable, exponent - 1);
                derivative.coefficients.push(coefficient * &Integer::from(i64::from(exponent)));
            }
        }
        derivative
    }

    /// Returns the coefficients of the powers of one variable that occur, by
    /// descending exponent; they are free of the variable.
    pub fn coefficients(&self, variable: usize) -> Vec<(u32, Poly)> {
        let words = self.layout.words();
        let mut parts: std::collections::BTreeMap<u32, Poly> = std::collections::BTreeMap::new();
        for (monomial, coefficient) in self.monomials().zip(&self.coefficients) {
            let exponent = self.layout.get(monomial, variable);
            let part = parts.entry(exponent).or_insert_with(|| Poly {
                layout: self.layout.clone(),
                exponents: Vec::new(),
                coefficients: Vec::new(),
            });
            part.exponents.extend_from_slice(monomial);
            let start = part.exponents.len() - words;
            self.layout.set(&mut part.exponents[start..], variable, 0);
            part.coefficients.push(coefficient.clone());
        }
        parts.into_iter().rev().collect()
    }

    /// Returns the coefficient of the highest power of one variable.
    pub fn leading_coefficient_in(&self, variable: usize) -> Poly {
        self.coefficients(variable).into_iter().next().map_or_else(Poly::zero, |(_, c)| c)
    }

    /// Returns the coefficients as a polynomial in the variables of which
    /// `inner` says no: one polynomial in the inner variables for each
    /// monomial in the outer ones, in descending order.
    pub(super) fn split(&self, inner: impl Fn(usize) -> bool) -> Vec<Poly> {
        let words = self.layout.words();
        let mut mask = vec![0u64; words];
        for variable in self.layout.variables().filter(|&v| inner(v)) {
            self.layout.set(&mut mask, variable, u32::MAX);
        }
        let mut parts: std::collections::BTreeMap<Vec<u64>, Poly> = std::collections::BTreeMap::new();
        for (monomial, coefficient) in self.monomials().zip(&self.coefficients) {
            let outer: Vec<u64> = monomial.iter().zip(&mask).map(|(m, mask)| m & !mask).collect();
            let part = parts.entry(outer).or_insert_with(|| Poly {
                layout: self.layout.clone(),
                exponents: Vec::new(),
                coefficients: Vec::new(),
            });
            part.exponents.extend(monomial.iter().zip(&mask).map(|(m, mask)| m & mask));
            part.coefficients.push(coefficient.clone());
        }
        parts.into_values().rev().collect()
    }

    /// Returns the polynomial with a variable replaced by a polynomial.
    pub fn substitute(&self, variable: usize, value: &Poly, work: &Work) -> Result<Poly, PolyError> {
        // Horner's scheme over the powers that occur.
        let mut result = Poly::zero();
        let mut last = None;
        for (exponent, coefficient) in self.coefficients(variable) {
            if let Some(last) = last {
                let step: u32 = last - exponent;
                result = result.mul(&value.pow(step, work)?, work)?;
            }
            result = result.add(&coefficient, work)?;
            last = Some(exponent);
        }
        match last {
            Some(exponent) if exponent > 0 => result.mul(&value.pow(exponent, work)?, work),
            _ => Ok(result),
        }
    }

    /// Returns the sum of `coefficient·variable^exponent` over a list.
    pub fn from_coefficients(
        variable: usize,
        coefficients: &[(u32, Poly)],
        work: &Work,
    ) -> Result<Poly, PolyError> {
        let powers: Vec<Poly> = coefficients
            .iter()
            .map(|&(exponent, _)| Poly::monomial(Integer::ONE, &[(variable, exponent)]))
            .collect::<Result<_, _>>()?;
        let pairs: Vec<(bool, &Poly, &Poly)> =
            powers.iter().zip(coefficients).map(|(power, (_, c))| (false, power, c)).collect();
        Poly::sum_of_products(&pairs, work)
    }
}

/// Merges two descending lists of terms of the same layout.
fn merge_terms<const W: usize>(
    (a, x): (&[u64], &[Integer]),
    (b, y): (&[u64], &[Integer]),
    negate: bool,
    sum: &mut Poly,
) {
    let (a, b) = (a.as_chunks::<W>().0, b.as_chunks::<W>().0);
    let signed = |c: &Integer| if negate { -c } else { c.clone() };
    let (mut i, mut j) = (0, 0);
    while i < a.len() && j < b.len() {
        match a[i].cmp(&b[j]) {
            Ordering::Greater => {
                sum.exponents.extend_from_slice(&a[i]);
                sum.coefficients.push(x[i].clone());
                i += 1;
            }
            Ordering::Less => {
                sum.exponents.extend_from_slice(&b[j]);
                sum.coefficients.push(signed(&y[j]));
                j += 1;
            }
            Ordering::Equal => {
                let total = if negate { &x[i] - &y[j] } else { &x[i] + &y[j] };
                if !total.is_zero() {
                    sum.exponents.extend_from_slice(&a[i]);
                    sum.coefficients.push(total);
                }
                i += 1;
                j += 1;
            }
        }
    }
    sum.exponents.extend(a[i..].iter().flatten());
    sum.coefficients.extend(x[i..].iter().cloned());
    sum.exponents.extend(b[j..].iter().flatten());
    sum.coefficients.extend(y[j..].iter().map(signed));
}
