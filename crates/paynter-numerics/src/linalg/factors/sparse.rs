//! Sparse factorisation with pivots on the diagonal, in an order of least degree.

use super::{Form, Pattern, Singular};

/// A factorisation in an order that keeps it sparse.
#[derive(Debug, Clone)]
pub struct SparseFactors {
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

impl SparseFactors {
    /// Finds an order of elimination by least degree, and the pattern of the factors.
    pub(super) fn analyse(pattern: &Pattern) -> SparseFactors {
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
        SparseFactors {
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

    pub(super) fn factorise(
        &mut self,
        pattern: &Pattern,
        values: &[f64],
        form: Form,
    ) -> Result<(), Singular> {
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

    pub(super) fn solve(&mut self, b: &mut [f64]) {
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

    pub(super) fn solve_transposed(&self, b: &mut [f64]) {
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
    pub(super) fn solve_lanes<const W: usize>(&self, b: &mut [f64]) {
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
