//! Sums over all pairs of samples of a series, weighed by the autocovariance of an autoregressive model.

use crate::tolerance::MOST_DOUBLINGS;

/// Σ c(j − i) g_i g_jᵀ over rows g that come sample by sample, where c is the autocovariance of noise
/// e_k = Σ φ_i e_{k−i} + w_k. As c(τ) = σ² Σ ψ_k ψ_{k+τ} with the answer ψ of that filter to one pulse, it is
/// σ² Σ h_k h_kᵀ with h_k = Σ φ_i h_{k−i} + g_k: no pair is looked at.
pub(crate) struct ColouredSum<'a> {
    columns: usize,
    /// The coefficients φ.
    model: &'a [f64],
    /// The variance σ² of w.
    innovation: f64,
    /// As many last rows h as there are coefficients, one more for the next, and where the newest is.
    last: Vec<f64>,
    newest: usize,
    /// The sample that comes next.
    next: usize,
    /// Σ h hᵀ, of which the upper triangle counts.
    sum: Vec<f64>,
}

impl<'a> ColouredSum<'a> {
    /// No rows yet, of so many columns.
    pub fn new(columns: usize, model: &'a [f64], innovation: f64) -> ColouredSum<'a> {
        let last = vec![0.0; (model.len() + 1) * columns];
        ColouredSum {
            columns,
            model,
            innovation,
            last,
            newest: 0,
            next: 0,
            sum: vec![0.0; columns * columns],
        }
    }

    /// Takes in the row of a sample; samples come in order, and those that are missing have none.
    pub fn push(&mut self, sample: usize, row: &[f64]) {
        if !self.model.is_empty() {
            (self.next..sample).for_each(|_| self.advance(None));
        }
        self.advance(Some(row));
        self.next = sample + 1;
    }

    fn advance(&mut self, row: Option<&[f64]>) {
        let (m, count) = (self.columns, self.model.len() + 1);
        let at = (self.newest + 1) % count;
        for a in 0..m {
            let mut sum = row.map_or(0.0, |row| row[a]);
            for (i, factor) in self.model.iter().enumerate() {
                sum += factor * self.last[(at + count - 1 - i) % count * m + a];
            }
            self.last[at * m + a] = sum;
        }
        self.newest = at;
        let h = &self.last[at * m..(at + 1) * m];
        for (a, line) in self.sum.chunks_exact_mut(m.max(1)).enumerate() {
            for (sum, other) in line[a..].iter_mut().zip(&h[a..]) {
                *sum += h[a] * other;
            }
        }
    }

    /// The sum, row by row, with what the filter still answers after the last row.
    pub fn end(self) -> Vec<Vec<f64>> {
        let (m, p) = (self.columns, self.model.len());
        let rest = ringing(self.model);
        let row = |i: usize| &self.last[(self.newest + p + 1 - i) % (p + 1) * m..][..m];
        let mut made = vec![vec![0.0; m]; m];
        for a in 0..m {
            for b in a..m {
                let mut sum = self.sum[a * m + b];
                for i in 0..p {
                    let turned: f64 = (0..p).map(|j| rest[i * p + j] * row(j)[b]).sum();
                    sum += row(i)[a] * turned;
                }
                (made[a][b], made[b][a]) = (self.innovation * sum, self.innovation * sum);
            }
        }
        made
    }
}

/// The matrix P with sᵀ P s = Σ h² over all that follows the last values s of a filter, the newest first: the sum of
/// (Fᵏ)ᵀ f fᵀ Fᵏ, where f are the coefficients and F is the companion matrix, twice as many terms at a time (Smith 1968).
fn ringing(model: &[f64]) -> Vec<f64> {
    let p = model.len();
    let mut power = vec![0.0; p * p];
    power[..p].copy_from_slice(model);
    (1..p).for_each(|i| power[i * p + i - 1] = 1.0);
    let mut sum: Vec<f64> = model.iter().flat_map(|a| model.iter().map(move |b| a * b)).collect();
    let product = |a: &dyn Fn(usize, usize) -> f64, b: &[f64]| -> Vec<f64> {
        (0..p * p).map(|at| (0..p).map(|k| a(at / p, k) * b[k * p + at % p]).sum()).collect()
    };
    for _ in 0..MOST_DOUBLINGS {
        let right = product(&|i, k| sum[i * p + k], &power);
        let more = product(&|i, k| power[k * p + i], &right);
        let settled = (0..p).all(|i| more[i * p + i] <= f64::EPSILON * sum[i * p + i]);
        sum.iter_mut().zip(&more).for_each(|(sum, more)| *sum += more);
        if settled {
            break;
        }
        power = product(&|i, k| power[i * p + k], &power);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use paynter_base::random::Random;

    /// The autocovariance of a model by its answer to a pulse.
    fn autocovariance(model: &[f64], lags: usize) -> Vec<f64> {
        let mut answer = vec![1.0];
        for k in 1..20_000 {
            let terms = model.iter().enumerate().filter(|(i, _)| *i < k);
            answer.push(terms.map(|(i, a)| a * answer[k - 1 - i]).sum());
        }
        (0..lags).map(|lag| answer.iter().zip(&answer[lag..]).map(|(a, b)| a * b).sum()).collect()
    }

    #[test]
    fn all_pairs_count_by_their_covariance() {
        let mut random = Random::new(4);
        for model in [&[][..], &[0.7], &[-0.9], &[0.999], &[1.2, -0.5], &[0.3, 0.2, -0.4]] {
            // Some samples are missing.
            let rows: Vec<(usize, Vec<f64>)> = (0..60)
                .filter(|sample| sample % 7 != 3)
                .map(|sample| (sample, (0..3).map(|_| 1.0 + random.symmetric()).collect()))
                .collect();
            let mut sum = ColouredSum::new(3, model, 2.0);
            rows.iter().for_each(|(sample, row)| sum.push(*sample, row));
            let found = sum.end();
            let c = autocovariance(model, 60);
            for a in 0..3 {
                for b in 0..3 {
                    let pairs = rows.iter().flat_map(|left| rows.iter().map(move |right| (left, right)));
                    let wanted: f64 =
                        pairs.map(|((i, g), (j, h))| 2.0 * c[i.abs_diff(*j)] * g[a] * h[b]).sum();
                    assert!((found[a][b] / wanted - 1.0).abs() < 1e-6, "{model:?} {} {wanted}", found[a][b]);
                }
            }
        }
    }
}
