//! Sparse matrices of numbers with a fixed pattern, and their factorisation
//! on a schedule that is made once.

use crate::small::{SMALL, Small};
use crate::tolerance::{LOOP_PIVOT, STAGE_PIVOT};

/// Where the entries of a sparse matrix stand, row by row.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Pattern {
    pub columns: usize,
    /// Where each row starts among the entries; one more than there are rows.
    pub starts: Vec<u32>,
    /// The column of each entry, rising within a row.
    pub at: Vec<u32>,
}

impl Pattern {
    /// Makes the pattern of places (row, column), which are sorted and distinct.
    pub fn new(rows: usize, columns: usize, places: &[(usize, usize)]) -> Pattern {
        let mut starts = vec![0u32; rows + 1];
        for (row, _) in places {
            starts[row + 1] += 1;
        }
        for row in 0..rows {
            starts[row + 1] += starts[row];
        }
        Pattern { columns, starts, at: places.iter().map(|(_, c)| *c as u32).collect() }
    }

    pub fn rows(&self) -> usize {
        self.starts.len() - 1
    }

    /// Whether there is an entry everywhere.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.at.len() == self.rows() * self.columns
    }

    pub fn row(&self, row: usize) -> std::ops::Range<usize> {
        self.starts[row] as usize..self.starts[row + 1] as usize
    }
}

/// The matrix unit·1 + scale·J that is factorised.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Form {
    pub unit: f64,
    pub scale: f64,
    /// Pivots must be larger than this part of the largest entry of their row.
    pub least: f64,
}

impl Form {
    /// 1 − k·J, for an implicit stage.
    pub fn stage(k: f64) -> Form {
        Form { unit: 1.0, scale: -k, least: STAGE_PIVOT }
    }

    /// J itself.
    pub fn plain() -> Form {
        Form { unit: 0.0, scale: 1.0, least: LOOP_PIVOT }
    }
}

/// A factorisation with pivots on the diagonal.
#[derive(Debug, Clone)]
pub(crate) enum Factors {
    /// Of few rows.
    Small(Small),
    /// Of many rows.
    Sparse(Sparse),
}

impl Factors {
    /// Prepares for matrices of a pattern.
    pub fn analyse(pattern: &Pattern) -> Factors {
        match pattern.rows() {
            rows @ 0..=SMALL => Factors::Small(Small::new(rows)),
            _ => Factors::Sparse(Sparse::analyse(pattern)),
        }
    }

    /// Factorises a matrix made from J.
    pub fn factorise(&mut self, pattern: &Pattern, values: &[f64], form: Form) -> Result<(), Singular> {
        match self {
            Factors::Small(small) => small.factorise(pattern, values, form),
            Factors::Sparse(sparse) => sparse.factorise(pattern, values, form),
        }
    }

    /// Solves for one right-hand side, in place.
    pub fn solve(&mut self, b: &mut [f64]) {
        match self {
            Factors::Small(small) => small.solve(b),
            Factors::Sparse(sparse) => sparse.solve(b),
        }
    }

    /// Solves with the transposed matrix, in place.
    pub fn solve_transposed(&self, b: &mut [f64]) {
        match self {
            Factors::Small(small) => small.solve_transposed(b),
            Factors::Sparse(sparse) => sparse.solve_transposed(b),
        }
    }

    /// Solves for W right-hand sides at once, row by row in `b`; in place.
    #[inline(always)]
    pub fn solve_lanes<const W: usize>(&self, b: &mut [f64]) {
        match self {
            Factors::Small(small) => small.solve_lanes::<W>(b),
            Factors::Sparse(sparse) => sparse.solve_lanes::<W>(b),
        }
    }
}

/// A factorisation in an order that keeps it sparse.
#[derive(Debug, Clone)]
pub(crate) struct Sparse {
    /// The row that is eliminated k-th.
    order: Vec<u32>,
    /// For each step, the steps whose row is subtracted from it.
    lower_starts: Vec<u32>,
    lower_at: Vec<u32>,
    lower: Vec<f64>,
    /// For each step, the later steps its row reaches.
    upper_starts: Vec<u32>,
    upper_at: Vec<u32>,
    upper: Vec<f64>,
    /// Reciprocals of the pivots.
    pivots: Vec<f64>,
    /// The place of each column in the order.
    place: Vec<u32>,
    work: Vec<f64>,
}

/// The matrix cannot be factorised with these pivots.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Singular;

impl Sparse {
    /// Finds an order of elimination by least degree, and the pattern of the factors.
    fn analyse(pattern: &Pattern) -> Sparse {
        let n = pattern.rows();
        let mut near: Vec<std::collections::BTreeSet<u32>> = vec![Default::default(); n];
        for row in 0..n {
            for e in pattern.row(row) {
                let column = pattern.at[e] as usize;
                if column != row {
                    near[row].insert(column as u32);
                    near[column].insert(row as u32);
                }
            }
        }
        let mut queue: std::collections::BTreeSet<(usize, u32)> =
            (0..n).map(|i| (near[i].len(), i as u32)).collect();
        let mut order = Vec::with_capacity(n);
        let mut place = vec![0u32; n];
        let mut reach: Vec<Vec<u32>> = Vec::with_capacity(n);
        while let Some((_, row)) = queue.pop_first() {
            let neighbours: Vec<u32> = near[row as usize].iter().copied().collect();
            for a in &neighbours {
                queue.remove(&(near[*a as usize].len(), *a));
                near[*a as usize].remove(&row);
                near[*a as usize].extend(neighbours.iter().filter(|b| *b != a));
                queue.insert((near[*a as usize].len(), *a));
            }
            near[row as usize].clear();
            place[row as usize] = order.len() as u32;
            order.push(row);
            reach.push(neighbours);
        }
        let mut lower_rows: Vec<Vec<u32>> = vec![Vec::new(); n];
        let (mut upper_starts, mut upper_at) = (vec![0u32], Vec::new());
        for (k, list) in reach.iter().enumerate() {
            let mut steps: Vec<u32> = list.iter().map(|row| place[*row as usize]).collect();
            steps.sort_unstable();
            for step in &steps {
                lower_rows[*step as usize].push(k as u32);
            }
            upper_at.extend(steps);
            upper_starts.push(upper_at.len() as u32);
        }
        let (mut lower_starts, mut lower_at) = (vec![0u32], Vec::new());
        for list in lower_rows {
            lower_at.extend(list);
            lower_starts.push(lower_at.len() as u32);
        }
        Sparse {
            lower: vec![0.0; lower_at.len()],
            upper: vec![0.0; upper_at.len()],
            pivots: vec![0.0; n],
            work: vec![0.0; n],
            order,
            lower_starts,
            lower_at,
            upper_starts,
            upper_at,
            place,
        }
    }

    fn lower_row(&self, k: usize) -> std::ops::Range<usize> {
        self.lower_starts[k] as usize..self.lower_starts[k + 1] as usize
    }

    fn upper_row(&self, k: usize) -> std::ops::Range<usize> {
        self.upper_starts[k] as usize..self.upper_starts[k + 1] as usize
    }

    fn factorise(&mut self, pattern: &Pattern, values: &[f64], form: Form) -> Result<(), Singular> {
        for i in 0..self.order.len() {
            let row = self.order[i] as usize;
            let mut size = form.unit;
            self.work[i] = form.unit;
            for e in pattern.row(row) {
                let entry = form.scale * values[e];
                size = size.max(entry.abs());
                self.work[self.place[pattern.at[e] as usize] as usize] += entry;
            }
            for e in self.lower_row(i) {
                let k = self.lower_at[e] as usize;
                let factor = self.work[k] * self.pivots[k];
                self.work[k] = 0.0;
                self.lower[e] = factor;
                if factor != 0.0 {
                    for u in self.upper_row(k) {
                        self.work[self.upper_at[u] as usize] -= factor * self.upper[u];
                    }
                }
            }
            let pivot = self.work[i];
            self.work[i] = 0.0;
            for u in self.upper_row(i) {
                let j = self.upper_at[u] as usize;
                self.upper[u] = self.work[j];
                self.work[j] = 0.0;
            }
            if pivot.abs() <= form.least * size || !pivot.is_finite() {
                self.work.fill(0.0);
                return Err(Singular);
            }
            self.pivots[i] = 1.0 / pivot;
        }
        Ok(())
    }

    fn solve(&mut self, b: &mut [f64]) {
        let n = self.order.len();
        let mut work = std::mem::take(&mut self.work);
        for i in 0..n {
            let mut value = b[self.order[i] as usize];
            for e in self.lower_row(i) {
                value -= self.lower[e] * work[self.lower_at[e] as usize];
            }
            work[i] = value;
        }
        for i in (0..n).rev() {
            let mut value = work[i];
            for u in self.upper_row(i) {
                value -= self.upper[u] * work[self.upper_at[u] as usize];
            }
            work[i] = value * self.pivots[i];
            b[self.order[i] as usize] = work[i];
        }
        work.fill(0.0);
        self.work = work;
    }

    fn solve_transposed(&self, b: &mut [f64]) {
        let n = self.order.len();
        let mut work: Vec<f64> = self.order.iter().map(|row| b[*row as usize]).collect();
        for i in 0..n {
            let value = work[i] * self.pivots[i];
            work[i] = value;
            for u in self.upper_row(i) {
                work[self.upper_at[u] as usize] -= self.upper[u] * value;
            }
        }
        for i in (0..n).rev() {
            let value = work[i];
            for e in self.lower_row(i) {
                work[self.lower_at[e] as usize] -= self.lower[e] * value;
            }
        }
        for (i, row) in self.order.iter().enumerate() {
            b[*row as usize] = work[i];
        }
    }

    #[inline(always)]
    fn solve_lanes<const W: usize>(&self, b: &mut [f64]) {
        let n = self.order.len();
        for i in 0..n {
            let row = self.order[i] as usize;
            let mut value: [f64; W] = std::array::from_fn(|l| b[row * W + l]);
            for e in self.lower_row(i) {
                let other = self.order[self.lower_at[e] as usize] as usize;
                let factor = self.lower[e];
                let source = &b[other * W..other * W + W];
                for l in 0..W {
                    value[l] -= factor * source[l];
                }
            }
            b[row * W..row * W + W].copy_from_slice(&value);
        }
        for i in (0..n).rev() {
            let row = self.order[i] as usize;
            let mut value: [f64; W] = std::array::from_fn(|l| b[row * W + l]);
            for u in self.upper_row(i) {
                let other = self.order[self.upper_at[u] as usize] as usize;
                let factor = self.upper[u];
                let source = &b[other * W..other * W + W];
                for l in 0..W {
                    value[l] -= factor * source[l];
                }
            }
            for l in 0..W {
                b[row * W + l] = value[l] * self.pivots[i];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn solves_what_it_factorised() {
        for n in [1, 2, 3, 5, 6, 7, 12] {
            solves(n);
        }
    }

    fn solves(n: usize) {
        // An arrow and a ring: fill-in on both.
        let mut places = Vec::new();
        for i in 0..n {
            for j in [0, i, (i + 1) % n, (i + n - 1) % n] {
                places.push((i, j));
            }
        }
        places.sort_unstable();
        places.dedup();
        let pattern = Pattern::new(n, n, &places);
        let values: Vec<f64> = (0..places.len()).map(|i| ((i * 37 % 11) as f64 - 5.0) / 3.0).collect();
        let mut factors = Factors::analyse(&pattern);
        factors.factorise(&pattern, &values, Form::stage(0.1)).unwrap();
        let x: Vec<f64> = (0..n).map(|i| i as f64 - 3.5).collect();
        let mut b: Vec<f64> = (0..n)
            .map(|i| x[i] - 0.1 * pattern.row(i).map(|e| values[e] * x[pattern.at[e] as usize]).sum::<f64>())
            .collect();
        // The transposed system, by bᵀ(M⁻¹c) = cᵀ(M⁻ᵀb).
        let (mut c, mut d): (Vec<f64>, Vec<f64>) = ((0..n).map(|i| (i * i + 1) as f64).collect(), b.clone());
        let (c0, d0) = (c.clone(), d.clone());
        factors.solve(&mut c);
        factors.solve_transposed(&mut d);
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        assert!((dot(&d0, &c) - dot(&c0, &d)).abs() < 1e-9 * dot(&d0, &c).abs());
        let mut lanes: Vec<f64> = b.iter().flat_map(|v| [*v, 2.0 * v, 0.0, -v]).collect();
        factors.solve(&mut b);
        factors.solve_lanes::<4>(&mut lanes);
        for i in 0..n {
            assert!((b[i] - x[i]).abs() < 1e-12, "row {i}");
            assert!((lanes[4 * i + 1] - 2.0 * x[i]).abs() < 1e-11 && lanes[4 * i + 2] == 0.0);
        }
    }
}
