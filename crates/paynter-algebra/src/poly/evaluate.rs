//! Values of polynomials: modulo a prime, at rationals, doubles and complex
//! numbers.

use std::ops::{Add, Mul};

use dashu_ratio::RBig;

use super::{Integer, Poly};

impl Poly {
    /// Returns the value at a point of any commutative ring: `values[v]` for
    /// variable `v` (missing ones count as 0), `lift` for the coefficients.
    pub fn evaluate<T>(&self, values: &[T], lift: impl Fn(&Integer) -> T) -> T
    where
        T: Clone + Add<Output = T> + Mul<Output = T>,
    {
        let zero = || lift(&Integer::ZERO);
        let tables: Vec<(usize, Powers<T>)> = self
            .degrees()
            .into_iter()
            .map(|(v, degree)| (v, Powers::new(values.get(v).cloned().unwrap_or_else(zero), degree)))
            .collect();
        let mut sum = zero();
        for (monomial, coefficient) in self.monomials().zip(&self.coefficients) {
            let mut term = lift(coefficient);
            for (variable, table) in &tables {
                let exponent = self.layout.get(monomial, *variable);
                if exponent > 0 {
                    term = term * table.get(exponent);
                }
            }
            sum = sum + term;
        }
        sum
    }

    /// Returns the value at doubles.
    pub fn evaluate_f64(&self, values: &[f64]) -> f64 {
        self.evaluate(values, Integer::to_f64)
    }

    /// Returns the exact value at rationals.
    pub fn evaluate_rational(&self, values: &[RBig]) -> RBig {
        self.evaluate(values, |c| RBig::from(c.to_ibig()))
    }

    /// Returns the value modulo a prime below 2⁶³ at residues.
    pub fn evaluate_modulo(&self, prime: u64, values: &[u64]) -> u64 {
        let mut sum = 0u64;
        let product = |a: u64, b: u64| (u128::from(a) * u128::from(b) % u128::from(prime)) as u64;
        for (monomial, coefficient) in self.monomials().zip(&self.coefficients) {
            let mut term = coefficient.rem_u64(prime);
            for (variable, mut exponent) in self.layout.powers(monomial) {
                let mut square = values.get(variable).copied().unwrap_or(0) % prime;
                while exponent > 0 {
                    if exponent & 1 == 1 {
                        term = product(term, square);
                    }
                    square = product(square, square);
                    exponent >>= 1;
                }
            }
            sum = ((u128::from(sum) + u128::from(term)) % u128::from(prime)) as u64;
        }
        sum
    }
}

/// The powers of a value: all of them where they are few, the squares beyond.
struct Powers<T> {
    table: Vec<T>,
    squares: Vec<T>,
}

const TABLE: u32 = 64;

impl<T: Clone + Mul<Output = T>> Powers<T> {
    fn new(value: T, degree: u32) -> Powers<T> {
        let mut table = Vec::new();
        let mut squares = Vec::new();
        if degree <= TABLE {
            for _ in 0..degree {
                let next =
                    table.last().map_or_else(|| value.clone(), |last: &T| last.clone() * value.clone());
                table.push(next);
            }
        } else {
            squares.push(value);
            for bit in 1..32 - degree.leading_zeros() {
                let last = squares[bit as usize - 1].clone();
                squares.push(last.clone() * last);
            }
        }
        Powers { table, squares }
    }

    /// Returns a power with an exponent from 1 to the degree.
    fn get(&self, exponent: u32) -> T {
        if let Some(power) = self.table.get(exponent as usize - 1) {
            return power.clone();
        }
        let mut power: Option<T> = None;
        for (bit, square) in self.squares.iter().enumerate() {
            if exponent >> bit & 1 == 1 {
                power = Some(match power {
                    Some(power) => power * square.clone(),
                    None => square.clone(),
                });
            }
        }
        power.unwrap_or_else(|| self.squares[0].clone())
    }
}
