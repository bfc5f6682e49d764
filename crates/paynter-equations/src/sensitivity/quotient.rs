//! Rational functions whose denominators are kept as products of powers: the
//! denominator of a sensitivity is the square of the characteristic
//! polynomial, which is far shorter as a square.

use paynter_algebra::poly::{Basis, Fraction, Integer, Poly, PolyError, Work};
use paynter_algebra::{Expr, Pool};

/// A rational function in lowest terms: a numerator over a product of powers.
#[derive(Debug, Clone)]
pub(super) struct Quotient {
    num: Poly,
    /// Factors with their exponents, leading coefficients positive.
    den: Vec<(Poly, u32)>,
}

impl Quotient {
    /// Divides a product by powers of factors and cancels what they have in common.
    pub(super) fn new(num: &[Poly], factors: &[(Poly, u32)], work: &Work) -> Result<Quotient, PolyError> {
        if factors.iter().any(|(factor, _)| factor.is_zero()) {
            return Err(PolyError::DivisionByZero);
        }
        let mut quotient = Quotient { num: Poly::zero(), den: Vec::new() };
        if num.iter().any(Poly::is_zero) {
            return Ok(quotient);
        }
        let mut num = num.to_vec();
        for (factor, exponent) in factors {
            quotient.divide(&mut num, factor, *exponent, work)?;
        }
        quotient.num = Poly::product(&num, work)?;
        Ok(quotient)
    }

    /// Divides by a power of one factor: cancels what it shares with the factors of the numerator and
    /// keeps the rest.
    fn divide(
        &mut self,
        num: &mut [Poly],
        factor: &Poly,
        exponent: u32,
        work: &Work,
    ) -> Result<(), PolyError> {
        let mut sign_and_content = factor.content();
        if factor.is_negative() {
            sign_and_content = -&sign_and_content;
        }
        let monomial = factor.monomial_content();
        let rest = factor.primitive_part().div_monomial(&monomial);
        let mut open: Vec<(Poly, u32)> = vec![(Poly::constant(sign_and_content), exponent)];
        for (variable, power) in monomial {
            open.push((Poly::variable(variable)?, exponent * power));
        }
        open.push((rest, exponent));
        while let Some((factor, exponent)) = open.pop() {
            if exponent == 0 || factor.is_one() {
                continue;
            }
            if factor.as_constant().is_some_and(|value| value == Integer::from(-1)) {
                negate(num, exponent);
                continue;
            }
            let mut shared = None;
            for above in num.iter_mut() {
                let common = above.gcd(&factor, work)?;
                if !common.is_one() {
                    shared = Some((above, common));
                    break;
                }
            }
            match shared {
                None => self.keep(num, factor, exponent),
                Some((above, common)) if common == factor => {
                    *above = exact(above, &factor, work)?;
                    open.push((factor, exponent - 1));
                }
                Some((_, common)) => {
                    open.push((exact(&factor, &common, work)?, exponent));
                    open.push((common, exponent));
                }
            }
        }
        Ok(())
    }

    fn keep(&mut self, num: &mut [Poly], factor: Poly, exponent: u32) {
        let (factor, negative) = if factor.is_negative() { (factor.neg(), true) } else { (factor, false) };
        if negative {
            negate(num, exponent);
        }
        match self.den.iter_mut().find(|(other, _)| *other == factor) {
            Some((_, known)) => *known += exponent,
            None => self.den.push((factor, exponent)),
        }
    }

    /// Multiplies by a polynomial, cancelling whole factors first.
    pub(super) fn times(&self, factor: &Poly, work: &Work) -> Result<Quotient, PolyError> {
        let mut den = self.den.clone();
        if let Some((_, exponent)) = den.iter_mut().find(|(other, _)| other == factor) {
            *exponent -= 1;
            den.retain(|(_, exponent)| *exponent > 0);
            return Ok(Quotient { num: self.num.clone(), den });
        }
        Quotient::new(&[self.num.clone(), factor.clone()], &den, work)
    }

    /// Divides by a polynomial.
    pub(super) fn over(&self, factor: &Poly, work: &Work) -> Result<Quotient, PolyError> {
        if factor.is_zero() {
            return Err(PolyError::DivisionByZero);
        }
        let mut quotient = self.clone();
        if !quotient.num.is_zero() {
            let mut num = [self.num.clone()];
            quotient.divide(&mut num, factor, 1, work)?;
            [quotient.num] = num;
        }
        Ok(quotient)
    }

    /// The number of terms that writing it takes.
    pub(super) fn len(&self) -> usize {
        self.num.len() + self.den.iter().map(|(factor, _)| factor.len()).sum::<usize>()
    }

    /// Cancels what roots and the like cancel beyond what polynomials know: the numerator with one factor of
    /// the denominator after another, so that no power is expanded, wherever that halves the two.
    fn related(&self, basis: &Basis, work: &Work) -> Result<Quotient, PolyError> {
        let mut quotient = Quotient { num: self.num.clone(), den: Vec::new() };
        let alone = (Poly::one(), 1);
        for (factor, exponent) in std::iter::once(&alone).chain(&self.den) {
            let mut left = *exponent;
            while left > 0 {
                let fraction = Fraction::new(quotient.num.clone(), factor.clone(), work)?;
                let fraction = basis.simplest(&fraction, work)?;
                let (num, den) = (fraction.numerator(), fraction.denominator());
                if 2 * (num.len() + den.len()) > quotient.num.len() + factor.len() {
                    break;
                }
                let mut above = [num.clone()];
                quotient.divide(&mut above, den, 1, work)?;
                [quotient.num] = above;
                left -= 1;
            }
            if left > 0 && !factor.is_one() {
                quotient.keep(&mut [], factor.clone(), left);
            }
        }
        Ok(if quotient.num.is_zero() { Quotient { num: Poly::zero(), den: Vec::new() } } else { quotient })
    }

    /// Numerator and denominator as expressions.
    pub(super) fn expressions(
        &self,
        pool: &mut Pool,
        basis: &Basis,
        work: &Work,
    ) -> Result<(Expr, Expr), PolyError> {
        let related = if basis.has_relations() { Some(self.related(basis, work)?) } else { None };
        let Quotient { num, den } = related.as_ref().unwrap_or(self);
        let num = basis.poly_expression(pool, num);
        let mut factors = Vec::with_capacity(den.len());
        for (factor, exponent) in den {
            let base = basis.poly_expression(pool, factor);
            let exponent = pool.int(i64::from(*exponent));
            factors.push(pool.pow(base, exponent));
        }
        Ok((num, pool.product(&factors)))
    }
}

/// Multiplies a product by a power of −1.
fn negate(factors: &mut [Poly], exponent: u32) {
    if let Some(first) = factors.first_mut().filter(|_| exponent % 2 == 1) {
        *first = first.neg();
    }
}

/// Divides where divisibility is known.
pub(super) fn exact(dividend: &Poly, divisor: &Poly, work: &Work) -> Result<Poly, PolyError> {
    dividend.div_exact(divisor, work)?.ok_or(PolyError::DivisionByZero)
}
