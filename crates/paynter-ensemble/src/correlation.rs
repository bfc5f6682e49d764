//! Correlated quantities, by a Gaussian copula: normal numbers with the
//! correlations asked for become values of the quantities' own distributions.

use crate::normal;
use crate::tolerance::CORRELATION_ROUNDING;

/// Correlations of the normal numbers behind quantities.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Correlation {
    /// The rows of the Cholesky factor; none where nothing is correlated.
    factor: Vec<Vec<f64>>,
}

impl Correlation {
    /// Quantities that know nothing of each other.
    pub fn none() -> Correlation {
        Correlation::default()
    }

    /// Correlations of pairs of some quantities; nothing where no normal numbers have them all.
    pub fn new(count: usize, pairs: &[(usize, usize, f64)]) -> Option<Correlation> {
        let mut matrix = vec![vec![0.0; count]; count];
        (0..count).for_each(|k| matrix[k][k] = 1.0);
        for &(a, b, correlation) in pairs {
            if a == b || !(-1.0..=1.0).contains(&correlation) {
                return None;
            }
            (matrix[a][b], matrix[b][a]) = (correlation, correlation);
        }
        let mut factor = vec![vec![0.0; count]; count];
        for i in 0..count {
            for j in 0..=i {
                let known: f64 = (0..j).map(|k| factor[i][k] * factor[j][k]).sum();
                let left: f64 = matrix[i][j] - known;
                factor[i][j] = match i == j {
                    true if left < -CORRELATION_ROUNDING => return None,
                    true => left.max(0.0).sqrt(),
                    false if factor[j][j] > CORRELATION_ROUNDING => left / factor[j][j],
                    false if left.abs() > CORRELATION_ROUNDING => return None,
                    false => 0.0,
                };
            }
        }
        Some(Correlation { factor })
    }

    /// The correlated normal numbers of a point, where quantities are correlated.
    pub(crate) fn correlated(&self, units: &[f64]) -> Vec<Option<f64>> {
        if self.factor.is_empty() {
            return vec![None; units.len()];
        }
        let normal: Vec<f64> = units.iter().map(|unit| normal::quantile(*unit)).collect();
        let row = |row: &Vec<f64>| Some(row.iter().zip(&normal).map(|(l, z)| l * z).sum());
        self.factor.iter().map(row).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn correlations_that_contradict_each_other_are_refused() {
        assert!(Correlation::new(3, &[(0, 1, 0.9), (1, 2, 0.9), (0, 2, -0.9)]).is_none());
        assert!(Correlation::new(3, &[(0, 1, 0.9), (1, 2, 0.9), (0, 2, 0.7)]).is_some());
        assert!(Correlation::new(2, &[(0, 1, 1.0)]).is_some());
        assert!(Correlation::new(2, &[(0, 1, 1.1)]).is_none());
    }
}
