//! The algebraic relations of kernels and the forms they allow.

use super::convert::Basis;
use super::{Fraction, Matrix, Poly, PolyError, Work};
use crate::limits::CLEARED_TERMS;

/// A relation that the variables of a basis obey.
#[derive(Debug, Clone)]
pub(super) enum Relation {
    /// A power of a variable is a fraction of earlier variables; with `clear`
    /// the variable is moved out of denominators.
    Power { variable: usize, power: u32, value: Fraction, clear: bool },
    /// cos² = 1 − sin², or cosh² = 1 + sinh².
    Pythagoras { sine: usize, cosine: usize, hyperbolic: bool },
}

impl Relation {
    pub(super) fn involves(&self, v: usize) -> bool {
        match self {
            Relation::Power { variable, .. } => *variable == v,
            Relation::Pythagoras { sine, cosine, .. } => *sine == v || *cosine == v,
        }
    }
}

impl Basis {
    /// Returns whether some variables obey relations, so that a fraction in lowest terms may have a shorter form.
    pub fn has_relations(&self) -> bool {
        !self.relations.is_empty()
    }

    /// Lowers powers of roots and magnitudes; squares of sines stay.
    pub(super) fn reduced(&self, fraction: &Fraction, work: &Work) -> Result<Fraction, PolyError> {
        let mut fraction = fraction.clone();
        // A radicand has earlier roots only, so that one pass from the last to
        // the first lowers them all.
        for relation in self.relations.iter().rev() {
            if let Relation::Power { variable, power, value, .. } = relation {
                fraction = lower(&fraction, *variable, *power, value, work)?;
            }
        }
        Ok(fraction)
    }

    /// Brings a fraction to the form that the relations make shortest: roots
    /// lowered, and out of denominators where these stay short, squares of
    /// sines or of cosines replaced where that saves terms.
    pub fn simplest(&self, fraction: &Fraction, work: &Work) -> Result<Fraction, PolyError> {
        if self.relations.is_empty() {
            return Ok(fraction.clone());
        }
        let mut fraction = self.reduced(fraction, work)?;
        for relation in self.relations.iter().rev() {
            match relation {
                Relation::Power { variable, power, value, clear: true } => {
                    if fraction.denominator().len() > CLEARED_TERMS {
                        continue;
                    }
                    let alone = fraction.denominator().coefficients(*variable).len() <= 1;
                    let cleared = clear_denominator(&fraction, *variable, *power, value, work)?;
                    let cleared = self.reduced(&cleared, work)?;
                    // The conjugate of a sum may vanish where the sum does not, which would make a hole.
                    let whole = alone || cleared.denominator().degrees().is_empty();
                    if whole && size(&cleared) <= size(&fraction) {
                        fraction = cleared;
                    }
                }
                Relation::Power { .. } => {}
                Relation::Pythagoras { sine, cosine, hyperbolic } => {
                    let one = Fraction::one();
                    let square = |v: usize| Poly::monomial(1, &[(v, 2)]).map(Fraction::from);
                    let (sine2, cosine2) = (square(*sine)?, square(*cosine)?);
                    let for_cosine =
                        if *hyperbolic { one.add(&sine2, work)? } else { one.sub(&sine2, work)? };
                    let for_sine =
                        if *hyperbolic { cosine2.sub(&one, work)? } else { one.sub(&cosine2, work)? };
                    let squares = [(*cosine, for_cosine), (*sine, for_sine)];
                    for (variable, value) in &squares {
                        // A denominator that vanishes by the relation is for
                        // the caller to find, who divides by it.
                        let Ok(other) = lower(&fraction, *variable, 2, value, work) else { continue };
                        if size(&other) < size(&fraction) {
                            fraction = other;
                        }
                    }
                    let above = joined(fraction.numerator(), &squares, work)?;
                    let below = joined(fraction.denominator(), &squares, work)?;
                    if let Ok(other) = above.div(&below, work)
                        && size(&other) < size(&fraction)
                    {
                        fraction = other;
                    }
                }
            }
        }
        Ok(fraction)
    }
}

fn size(fraction: &Fraction) -> usize {
    fraction.numerator().len() + fraction.denominator().len()
}

/// A polynomial with the squares of one of two variables replaced beside its common factors, where that saves terms.
fn joined(poly: &Poly, squares: &[(usize, Fraction)], work: &Work) -> Result<Fraction, PolyError> {
    let common = poly.monomial_content();
    let rest = poly.div_monomial(&common);
    let mut best = Fraction::from(rest.clone());
    for (variable, value) in squares {
        let other = lower_poly(&rest, *variable, 2, value, work)?;
        if other.numerator().len() < best.numerator().len() {
            best = other;
        }
    }
    best.mul(&Poly::monomial(1, &common)?.into(), work)
}

/// Replaces a power of a variable wherever a higher one stands.
fn lower(
    fraction: &Fraction,
    variable: usize,
    power: u32,
    value: &Fraction,
    work: &Work,
) -> Result<Fraction, PolyError> {
    let high = |p: &Poly| p.degree(variable) >= power;
    if !high(fraction.numerator()) && !high(fraction.denominator()) {
        return Ok(fraction.clone());
    }
    let numerator = lower_poly(fraction.numerator(), variable, power, value, work)?;
    numerator.div(&lower_poly(fraction.denominator(), variable, power, value, work)?, work)
}

fn lower_poly(
    poly: &Poly,
    variable: usize,
    power: u32,
    value: &Fraction,
    work: &Work,
) -> Result<Fraction, PolyError> {
    let mut parts = Vec::new();
    for (exponent, coefficient) in poly.coefficients(variable) {
        let count = i32::try_from(exponent / power).map_err(|_| PolyError::ExponentTooLarge)?;
        let rest = Poly::monomial(1, &[(variable, exponent % power)])?.mul(&coefficient, work)?;
        parts.push(value.pow(count, work)?.mul(&rest.into(), work)?);
    }
    Fraction::sum(&parts, work)
}

/// Multiplies by what makes the denominator free of a root: its inverse modulo
/// the relation, found from the matrix of the multiplication by it.
fn clear_denominator(
    fraction: &Fraction,
    variable: usize,
    power: u32,
    value: &Fraction,
    work: &Work,
) -> Result<Fraction, PolyError> {
    if fraction.denominator().degree(variable) == 0 {
        return Ok(fraction.clone());
    }
    let size = power as usize;
    let (top, bottom) = (value.numerator(), value.denominator());
    let mut matrix = Matrix::new(size, size);
    for (exponent, coefficient) in fraction.denominator().coefficients(variable) {
        for column in 0..size {
            // r^(exponent + column) over the common denominator of the relation.
            let place = exponent as usize + column;
            let factor = if place >= size { top } else { bottom };
            matrix.add(place % size, column, &coefficient.mul(factor, work)?, work)?;
        }
    }
    let mut unit = vec![Poly::zero(); size];
    unit[0] = bottom.clone();
    let (determinant, inverse) = matrix.adjoint_times(&unit, work)?;
    if determinant.is_zero() {
        return Err(PolyError::DivisionByZero);
    }
    let list: Vec<(u32, Poly)> = inverse.into_iter().enumerate().map(|(i, p)| (i as u32, p)).collect();
    let inverse = Fraction::new(Poly::from_coefficients(variable, &list, work)?, determinant, work)?;
    let numerator: Fraction = fraction.numerator().clone().into();
    lower(&numerator.mul(&inverse, work)?, variable, power, value, work)
}
