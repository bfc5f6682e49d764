//! Linear complementarity problems: w = q + M z with w ≥ 0, z ≥ 0 and w·z = 0.
//!
//! Lemke's algorithm with lexicographic pivoting, which cannot cycle, and ends with a solution wherever M belongs to
//! one of the classes that passive circuits and frictions lead to (P, copositive plus); for others it may end on a ray,
//! and then all complementary choices are enumerated.

use crate::tolerance::{DECIDED_TOGETHER, LCP_FEASIBLE, LCP_PIVOT, LCP_PIVOTS, LCP_SMALLEST_PIVOT};

/// A problem of some size.
#[derive(Debug, Clone)]
pub(super) struct Lcp {
    /// M, by rows.
    pub matrix: Vec<Vec<f64>>,
    pub offset: Vec<f64>,
}

/// A variable of the tableau: w or z of a row, or the artificial one.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Basic {
    Slack(usize),
    Own(usize),
    Artificial,
}

impl Lcp {
    /// A solution z, if one was found.
    pub fn solve(&self) -> Option<Vec<f64>> {
        let finite = self.matrix.iter().flatten().chain(&self.offset).all(|entry| entry.is_finite());
        if !finite {
            return None;
        }
        self.pivot().filter(|z| self.is_solved_by(z)).or_else(|| self.enumerate())
    }

    /// w for a z.
    pub fn slack(&self, z: &[f64]) -> Vec<f64> {
        let row = |(row, offset): (&Vec<f64>, &f64)| {
            offset + row.iter().zip(z).map(|(entry, z)| entry * z).sum::<f64>()
        };
        self.matrix.iter().zip(&self.offset).map(row).collect()
    }

    /// Whether neither w nor z is negative and their products vanish, rounding of their terms apart.
    fn is_solved_by(&self, z: &[f64]) -> bool {
        self.slack(z).iter().enumerate().all(|(i, w)| {
            let terms = self.matrix[i].iter().zip(z).map(|(entry, z)| (entry * z).abs());
            let rounding = LCP_FEASIBLE * (self.offset[i].abs() + terms.sum::<f64>());
            z[i] >= 0.0 && *w >= -rounding && (z[i] == 0.0 || w.abs() <= rounding)
        })
    }

    /// Lemke's algorithm.
    fn pivot(&self) -> Option<Vec<f64>> {
        let n = self.offset.len();
        // Columns: w, z, the artificial variable, the right-hand side.
        let (artificial, right) = (2 * n, 2 * n + 1);
        let mut rows: Vec<Vec<f64>> = (0..n)
            .map(|i| {
                let mut row = vec![0.0; 2 * n + 2];
                row[i] = 1.0;
                self.matrix[i].iter().enumerate().for_each(|(j, entry)| row[n + j] = -entry);
                let size =
                    self.matrix[i].iter().fold(self.offset[i].abs(), |most, entry| most.max(entry.abs()));
                // In units of its row, so that none is far beyond the others.
                row[artificial] = if size > 0.0 { -size } else { -1.0 };
                row[right] = self.offset[i];
                row
            })
            .collect();
        let mut basis: Vec<Basic> = (0..n).map(Basic::Slack).collect();
        if self.offset.iter().all(|q| *q >= 0.0) {
            return Some(vec![0.0; n]);
        }
        let mut entering = Basic::Artificial;
        for count in 0..LCP_PIVOTS {
            let column = match entering {
                Basic::Slack(i) => i,
                Basic::Own(i) => n + i,
                Basic::Artificial => artificial,
            };
            let leaving = match count {
                0 => least(&rows, (0..n).collect(), |row| -row[artificial], n),
                _ => {
                    let largest = rows.iter().fold(0.0f64, |most, row| most.max(row[column].abs()));
                    let open = |i: &usize| rows[*i][column] > LCP_SMALLEST_PIVOT * largest;
                    least(&rows, (0..n).filter(open).collect(), |row| row[column], n)
                }
            }?;
            eliminate(&mut rows, leaving, column);
            let left = std::mem::replace(&mut basis[leaving], entering);
            entering = match left {
                Basic::Slack(i) => Basic::Own(i),
                Basic::Own(i) => Basic::Slack(i),
                Basic::Artificial => {
                    let mut z = vec![0.0; n];
                    for (row, basic) in rows.iter().zip(&basis) {
                        if let Basic::Own(i) = basic {
                            z[*i] = row[right].max(0.0);
                        }
                    }
                    return Some(z);
                }
            };
        }
        None
    }

    /// Tries which of each pair is zero, where the choices are not too many.
    fn enumerate(&self) -> Option<Vec<f64>> {
        let n = self.offset.len();
        if n > DECIDED_TOGETHER {
            return None;
        }
        (0..1usize << n).find_map(|choice| {
            let own: Vec<usize> = (0..n).filter(|i| choice >> i & 1 == 1).collect();
            let rows = own.iter().map(|i| {
                let mut row: Vec<f64> = own.iter().map(|j| self.matrix[*i][*j]).collect();
                row.push(-self.offset[*i]);
                row
            });
            let found = solve_dense(rows.collect())?;
            let mut z = vec![0.0; n];
            own.iter().zip(found).for_each(|(i, value)| z[*i] = value);
            self.is_solved_by(&z).then_some(z)
        })
    }
}

/// The row of some that is lexicographically least: right-hand side first, then the columns of w, each divided by
/// the entry of the row that counts.
fn least(rows: &[Vec<f64>], mut open: Vec<usize>, entry: impl Fn(&[f64]) -> f64, n: usize) -> Option<usize> {
    for column in std::iter::once(2 * n + 1).chain(0..n) {
        let ratio = |i: usize| rows[i][column] / entry(&rows[i]);
        let best = open.iter().map(|i| ratio(*i)).fold(f64::INFINITY, f64::min);
        open.retain(|i| ratio(*i) <= best + LCP_PIVOT * best.abs());
        if open.len() == 1 {
            break;
        }
    }
    open.first().copied()
}

/// Makes a column the unit vector of a row.
fn eliminate(rows: &mut [Vec<f64>], at: usize, column: usize) {
    let pivot = rows[at][column];
    rows[at].iter_mut().for_each(|entry| *entry /= pivot);
    let row = rows[at].clone();
    for (_, other) in rows.iter_mut().enumerate().filter(|(i, _)| *i != at) {
        let factor = other[column];
        if factor != 0.0 {
            other.iter_mut().zip(&row).for_each(|(entry, pivot)| *entry -= factor * pivot);
            other[column] = 0.0;
        }
    }
}

/// Solves linear equations, rows with their right-hand sides, by elimination; nothing where they are singular.
fn solve_dense(mut rows: Vec<Vec<f64>>) -> Option<Vec<f64>> {
    let n = rows.len();
    for k in 0..n {
        let best = (k..n).max_by(|a, b| rows[*a][k].abs().total_cmp(&rows[*b][k].abs()))?;
        if rows[best][k] == 0.0 {
            return None;
        }
        rows.swap(k, best);
        eliminate(&mut rows, k, k);
    }
    let solution: Vec<f64> = rows.iter().map(|row| row[n]).collect();
    solution.iter().all(|value| value.is_finite()).then_some(solution)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::Lcp;
    use paynter_base::random::Random;

    /// A problem with a known solution: M is a sum of squares and a skew part, as of a passive network.
    fn problem(random: &mut Random, n: usize, rank: usize, tied: bool) -> Lcp {
        let mut number = || 2.0 * random.unit() - 1.0;
        let factor: Vec<Vec<f64>> = (0..rank).map(|_| (0..n).map(|_| number()).collect()).collect();
        let mut matrix = vec![vec![0.0; n]; n];
        for i in 0..n {
            for j in 0..n {
                matrix[i][j] += factor.iter().map(|row| row[i] * row[j]).sum::<f64>();
            }
            for j in 0..i {
                let skew = number();
                matrix[i][j] += skew;
                matrix[j][i] -= skew;
            }
        }
        let mut offset = vec![0.0; n];
        let z: Vec<f64> = (0..n).map(|_| number().max(0.0)).collect();
        for i in 0..n {
            // Where z is zero w may be anything that is not negative, also zero.
            let slack = if z[i] > 0.0 || tied { 0.0 } else { number().abs() };
            offset[i] = slack - (0..n).map(|j| matrix[i][j] * z[j]).sum::<f64>();
        }
        Lcp { matrix, offset }
    }

    #[test]
    fn random_problems_are_solved() {
        let mut random = Random::new(7);
        for trial in 0..400usize {
            let n = 1 + trial % 12;
            let (rank, tied) = (if trial % 3 == 0 { n.div_ceil(2) } else { n }, trial % 5 == 0);
            let lcp = problem(&mut random, n, rank, tied);
            let z = lcp.solve().unwrap();
            let size = lcp.offset.iter().fold(1.0f64, |most, q| most.max(q.abs()));
            for (w, z) in lcp.slack(&z).iter().zip(&z) {
                assert!(
                    *z >= 0.0 && *w >= -1e-8 * size && w * z <= 1e-7 * size * size,
                    "trial {trial}: {w}, {z}"
                );
            }
        }
    }

    #[test]
    fn what_has_no_solution_is_refused() {
        // w = −1 − z cannot be above zero.
        let lcp = Lcp { matrix: vec![vec![-1.0]], offset: vec![-1.0] };
        assert_eq!(lcp.solve(), None);
    }

    #[test]
    fn what_ends_on_a_ray_is_enumerated() {
        // Only z = (0, 1) solves it, and M is not copositive.
        let lcp = Lcp { matrix: vec![vec![-1.0, 0.0], vec![0.0, 1.0]], offset: vec![1.0, -1.0] };
        let z = lcp.solve().unwrap();
        assert!(lcp.slack(&z).iter().zip(&z).all(|(w, z)| *w >= -1e-12 && w * z <= 1e-12));
    }
}
