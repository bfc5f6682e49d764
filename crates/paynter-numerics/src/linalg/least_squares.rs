//! Linear least squares for tall matrices that are never held: rows are taken in one by one and reduced to a
//! triangle by Householder's transformations, block by block (TSQR), and the singular values are those of the
//! triangle, so that no number is squared on the way.

/// Rows that are gathered before they are reduced, beside those of the triangle.
const BLOCK: usize = 64;

/// Sweeps of Jacobi's rotations after which no singular value moves any more; three to six are usual.
const MOST_SWEEPS: usize = 60;

/// Numbers that are summed beside each other.
const LANES: usize = 8;

/// The triangle R of a matrix whose rows come one after the other: RᵀR is AᵀA.
#[derive(Debug, Clone)]
pub struct Triangle {
    columns: usize,
    /// The triangle, row by row.
    rows: Vec<f64>,
    /// Rows that wait, column by column; zeros where there are none.
    block: Vec<f64>,
    waiting: usize,
    /// Rows that were taken in.
    taken: usize,
}

impl Triangle {
    /// No rows yet, of so many columns.
    pub fn new(columns: usize) -> Triangle {
        let (rows, block) = (vec![0.0; columns * columns], vec![0.0; BLOCK * columns]);
        Triangle { columns, rows, block, waiting: 0, taken: 0 }
    }

    /// Forgets all rows.
    pub fn clear(&mut self) {
        self.rows.fill(0.0);
        self.block.fill(0.0);
        (self.waiting, self.taken) = (0, 0);
    }

    /// Takes in a row.
    pub fn push(&mut self, row: &[f64]) {
        for (column, entry) in self.block.chunks_exact_mut(BLOCK).zip(row) {
            column[self.waiting] = *entry;
        }
        self.waiting += 1;
        self.taken += 1;
        if self.waiting == BLOCK {
            self.reduce();
        }
    }

    /// The number of rows that were taken in.
    pub fn taken(&self) -> usize {
        self.taken
    }

    /// The triangle, row by row.
    pub fn rows(&mut self) -> &[f64] {
        if self.waiting > 0 {
            self.reduce();
        }
        &self.rows
    }

    /// Reduces the waiting rows into the triangle.
    fn reduce(&mut self) {
        let n = self.columns;
        for k in 0..n {
            let (done, rest) = self.block.split_at_mut((k + 1) * BLOCK);
            let below = &mut done[k * BLOCK..];
            let tail = product(below, below);
            if tail == 0.0 {
                continue;
            }
            let row = &mut self.rows[k * n + k..(k + 1) * n];
            let pivot = row[0];
            let norm = pivot.hypot(tail.sqrt());
            let alpha = if pivot > 0.0 { -norm } else { norm };
            let head = pivot - alpha;
            let scale = 2.0 / (head * head + tail);
            row[0] = alpha;
            for (entry, column) in row[1..].iter_mut().zip(rest.chunks_exact_mut(BLOCK)) {
                let factor = scale * (head * *entry + product(below, column));
                *entry -= factor * head;
                column.iter_mut().zip(&*below).for_each(|(entry, v)| *entry -= factor * v);
            }
            below.fill(0.0);
        }
        self.waiting = 0;
    }
}

/// The scalar product of two columns of a block.
fn product(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; LANES];
    for (a, b) in a.as_chunks::<LANES>().0.iter().zip(b.as_chunks::<LANES>().0) {
        for l in 0..LANES {
            sums[l] += a[l] * b[l];
        }
    }
    sums.iter().sum()
}

/// Solves R x = b for an upper triangle of `n` columns that stands in rows of `stride` numbers; nothing where a
/// diagonal entry is zero.
pub fn solve_triangle(rows: &[f64], stride: usize, n: usize, b: &[f64]) -> Option<Vec<f64>> {
    let mut x = vec![0.0; n];
    for i in (0..n).rev() {
        let known: f64 = (i + 1..n).map(|j| rows[i * stride + j] * x[j]).sum();
        let diagonal = rows[i * stride + i];
        if diagonal == 0.0 || !diagonal.is_finite() {
            return None;
        }
        x[i] = (b[i] - known) / diagonal;
    }
    Some(x)
}

/// The singular value decomposition A = U Σ Vᵀ of a square matrix.
#[derive(Debug, Clone, PartialEq)]
pub struct SingularValues {
    n: usize,
    /// The singular values, the largest first.
    pub values: Vec<f64>,
    /// The left singular vectors, one after the other, in the order of the values.
    pub left: Vec<Vec<f64>>,
    /// The right singular vectors.
    pub right: Vec<Vec<f64>>,
}

impl SingularValues {
    /// Decomposes a square matrix that is given row by row, by one-sided rotations of Jacobi, which find small
    /// values of badly scaled columns as accurately as large ones; nothing where an entry is not finite.
    pub fn new(n: usize, rows: &[f64]) -> Option<SingularValues> {
        if rows.iter().any(|entry| !entry.is_finite()) {
            return None;
        }
        let mut columns: Vec<Vec<f64>> = (0..n).map(|j| (0..n).map(|i| rows[i * n + j]).collect()).collect();
        let mut right: Vec<Vec<f64>> =
            (0..n).map(|j| (0..n).map(|i| if i == j { 1.0 } else { 0.0 }).collect()).collect();
        for _ in 0..MOST_SWEEPS {
            let mut turned = false;
            for p in 0..n {
                for q in p + 1..n {
                    turned |= rotate(&mut columns, &mut right, p, q);
                }
            }
            if !turned {
                break;
            }
        }
        let norms: Vec<f64> = columns.iter().map(|column| norm(column)).collect();
        let mut order: Vec<usize> = (0..n).collect();
        order.sort_by(|a, b| norms[*b].total_cmp(&norms[*a]).then(a.cmp(b)));
        let unit = |k: &usize| match norms[*k] {
            0.0 => vec![0.0; n],
            size => columns[*k].iter().map(|entry| entry / size).collect(),
        };
        Some(SingularValues {
            n,
            values: order.iter().map(|k| norms[*k]).collect(),
            left: order.iter().map(unit).collect(),
            right: order.iter().map(|k| right[*k].clone()).collect(),
        })
    }

    /// The number of singular values above a share of the largest.
    pub fn rank(&self, share: f64) -> usize {
        let largest = self.values.first().copied().unwrap_or(0.0);
        self.values.iter().take_while(|value| **value > share * largest).count()
    }

    /// The shortest x that brings A x nearest to b, by the pseudo-inverse of this rank.
    pub fn solve(&self, rank: usize, b: &[f64]) -> Vec<f64> {
        let mut x = vec![0.0; self.n];
        for k in 0..rank.min(self.n) {
            let along: f64 = self.left[k].iter().zip(b).map(|(u, b)| u * b).sum();
            let by = along / self.values[k];
            x.iter_mut().zip(&self.right[k]).for_each(|(x, v)| *x += by * v);
        }
        x
    }
}

fn norm(column: &[f64]) -> f64 {
    column.iter().fold(0.0_f64, |sum, entry| sum.hypot(*entry))
}

/// Turns two columns until they are orthogonal; tells whether they were not.
fn rotate(columns: &mut [Vec<f64>], right: &mut [Vec<f64>], p: usize, q: usize) -> bool {
    let (mut alpha, mut beta, mut gamma) = (0.0, 0.0, 0.0);
    for (a, b) in columns[p].iter().zip(&columns[q]) {
        alpha += a * a;
        beta += b * b;
        gamma += a * b;
    }
    if gamma == 0.0 || gamma.abs() <= f64::EPSILON * (alpha * beta).sqrt() {
        return false;
    }
    let zeta = (beta - alpha) / (2.0 * gamma);
    let t = zeta.signum() / (zeta.abs() + (1.0 + zeta * zeta).sqrt());
    let c = 1.0 / (1.0 + t * t).sqrt();
    let s = c * t;
    for list in [columns, right] {
        let (first, second) = list.split_at_mut(q);
        for (a, b) in first[p].iter_mut().zip(&mut second[0]) {
            (*a, *b) = (c * *a - s * *b, s * *a + c * *b);
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use paynter_base::random::Random;

    fn random_rows(count: usize, n: usize, seed: u64) -> Vec<Vec<f64>> {
        let mut random = Random::new(seed);
        (0..count).map(|_| (0..n).map(|j| random.symmetric() * 10f64.powi(-(j as i32))).collect()).collect()
    }

    #[test]
    fn a_triangle_has_the_products_of_its_rows() {
        for count in [3, 64, 65, 500] {
            let rows = random_rows(count, 5, 7);
            let mut triangle = Triangle::new(5);
            rows.iter().for_each(|row| triangle.push(row));
            assert_eq!(triangle.taken(), count);
            let r = triangle.rows().to_vec();
            for a in 0..5 {
                for b in 0..5 {
                    let wanted: f64 = rows.iter().map(|row| row[a] * row[b]).sum();
                    let found: f64 = (0..5).map(|k| r[k * 5 + a] * r[k * 5 + b]).sum();
                    let size: f64 = rows.iter().map(|row| (row[a] * row[b]).abs()).sum();
                    assert!((wanted - found).abs() <= 1e-13 * size, "{count}: {wanted} {found}");
                    assert!(b >= a || r[a * 5 + b] == 0.0);
                }
            }
        }
    }

    #[test]
    fn a_decomposition_multiplies_back_and_finds_what_is_missing() {
        let rows = random_rows(6, 6, 3);
        let flat: Vec<f64> = rows.concat();
        let found = SingularValues::new(6, &flat).unwrap();
        for i in 0..6 {
            for j in 0..6 {
                let sum: f64 = (0..6).map(|k| found.left[k][i] * found.values[k] * found.right[k][j]).sum();
                assert!((sum - flat[i * 6 + j]).abs() < 1e-14, "{i} {j}");
            }
        }
        assert!(found.values.is_sorted_by(|a, b| a >= b));
        // The third column is the sum of the others: the direction (1, 1, −1) has no effect.
        let flat = [1.0, 2.0, 3.0, 0.5, -1.0, -0.5, 4.0, 0.0, 4.0];
        let found = SingularValues::new(3, &flat).unwrap();
        assert_eq!(found.rank(1e-12), 2);
        let null = &found.right[2];
        assert!((null[0] - null[1]).abs() < 1e-12 && (null[0] + null[2]).abs() < 1e-12);
        let x = found.solve(2, &[1.0, 2.0, 3.0]);
        let across: f64 = x.iter().zip(null).map(|(a, b)| a * b).sum();
        assert!(across.abs() < 1e-12, "the pseudo-inverse leaves it where it is");
        assert!(SingularValues::new(1, &[f64::NAN]).is_none());
    }

    #[test]
    fn a_triangle_is_solved_from_below() {
        let x = solve_triangle(&[2.0, 1.0, 9.0, 0.0, 4.0, 9.0], 3, 2, &[4.0, 8.0]).unwrap();
        assert_eq!(x, [1.0, 2.0]);
        assert!(solve_triangle(&[0.0], 1, 1, &[1.0]).is_none());
    }
}
