//! A weight over frequency: a stable transfer function of one input and one output.

use paynter_base::number::significant;
use paynter_base::{Diagnostic, code};

use crate::matrix::Matrix;

/// A stable proper transfer function as states: x' = A x + B u, y = C x + D u.
#[derive(Debug, Clone, PartialEq)]
pub struct Weight {
    pub(crate) a: Matrix,
    pub(crate) b: Matrix,
    pub(crate) c: Matrix,
    pub(crate) d: f64,
}

impl From<f64> for Weight {
    fn from(gain: f64) -> Weight {
        Weight { a: Matrix::zeros(0, 0), b: Matrix::zeros(0, 1), c: Matrix::zeros(1, 0), d: gain }
    }
}

impl Weight {
    /// A weight by the coefficients of its numerator and denominator, of the zeroth power of s first; fails where
    /// it is zero, not proper or not stable.
    pub fn new(numerator: &[f64], denominator: &[f64]) -> Result<Weight, Box<Diagnostic>> {
        let trimmed = |list: &[f64]| {
            let degree = list.iter().rposition(|x| *x != 0.0);
            degree.map_or_else(Vec::new, |degree| list[..=degree].to_vec())
        };
        let (numerator, denominator) = (trimmed(numerator), trimmed(denominator));
        let wrong = |what: String| Err(Box::new(Diagnostic::new(code::BAD_RADIUS, what)));
        let finite = numerator.iter().chain(&denominator).all(|x| x.is_finite());
        let Some(leading) = denominator.last().filter(|_| finite && !numerator.is_empty()) else {
            return wrong("the radius of neglected dynamics is zero or not finite".to_owned());
        };
        if let ([value], [divisor]) = (&numerator[..], &denominator[..])
            && value / divisor < 0.0
        {
            return wrong("the radius of neglected dynamics is negative".to_owned());
        }
        if numerator.len() > denominator.len() {
            return wrong(
                "the radius of neglected dynamics grows without bound at high frequencies".to_owned(),
            );
        }
        // Companion form; the frequencies of its states are scaled where the model is balanced.
        let n = denominator.len() - 1;
        let divided = |list: &[f64], k: usize| list.get(k).map_or(0.0, |x| x / leading);
        let d = divided(&numerator, n);
        let a = Matrix::from_fn(n, n, |i, j| {
            if i + 1 == n { -divided(&denominator, j) } else { f64::from(u8::from(j == i + 1)) }
        });
        let poles = a.eigenvalues().unwrap_or_default();
        if let Some(pole) = poles.iter().find(|pole| pole.re >= 0.0) {
            let pole = significant(pole.re);
            return wrong(format!(
                "the radius of neglected dynamics is not stable: it has a pole with the real part {pole}"
            ));
        }
        let b = Matrix::from_fn(n, 1, |i, _| f64::from(u8::from(i + 1 == n)));
        let c = Matrix::from_fn(1, n, |_, j| divided(&numerator, j) - d * divided(&denominator, j));
        Ok(Weight { a, b, c, d })
    }
}
