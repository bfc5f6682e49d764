//! Sparse elimination as a schedule: the order of pivots and every operation
//! on entries are decided once, at one frequency, and replayed at all others,
//! several frequencies at a time.
//!
//! Pivots are chosen after Markowitz, among entries that are not small in
//! their column at that frequency. Whether the order serves at another
//! frequency is judged by the residual of what it solves, not here.

use num_complex::Complex64;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

use crate::tolerance::{PIVOT_THRESHOLD, SEARCHED_PIVOTS};

/// Frequencies that are computed together.
pub const LANES: usize = 8;

/// One complex number at each of several frequencies.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Lanes {
    /// Real parts.
    pub re: [f64; LANES],
    /// Imaginary parts.
    pub im: [f64; LANES],
}

impl Lanes {
    /// Zero at each frequency.
    pub const ZERO: Lanes = Lanes { re: [0.0; LANES], im: [0.0; LANES] };

    /// The number at one frequency.
    pub fn lane(&self, k: usize) -> Complex64 {
        Complex64::new(self.re[k], self.im[k])
    }

    /// Subtracts a product.
    #[inline(always)]
    pub fn subtract(&mut self, a: &Lanes, b: &Lanes) {
        for k in 0..LANES {
            self.re[k] -= a.re[k] * b.re[k] - a.im[k] * b.im[k];
            self.im[k] -= a.re[k] * b.im[k] + a.im[k] * b.re[k];
        }
    }

    /// Adds a product.
    #[inline(always)]
    pub fn add_product(&mut self, a: &Lanes, b: &Lanes) {
        for k in 0..LANES {
            self.re[k] += a.re[k] * b.re[k] - a.im[k] * b.im[k];
            self.im[k] += a.re[k] * b.im[k] + a.im[k] * b.re[k];
        }
    }

    /// Adds a real multiple.
    #[inline(always)]
    pub fn add_multiple(&mut self, factor: f64, a: &Lanes) {
        for k in 0..LANES {
            self.re[k] += factor * a.re[k];
            self.im[k] += factor * a.im[k];
        }
    }

    #[inline(always)]
    fn times(&self, b: &Lanes) -> Lanes {
        let mut product = Lanes::ZERO;
        product.add_product(self, b);
        product
    }

    #[inline(always)]
    fn inverse(&self) -> Lanes {
        let mut result = Lanes::ZERO;
        for k in 0..LANES {
            let size = self.re[k] * self.re[k] + self.im[k] * self.im[k];
            result.re[k] = self.re[k] / size;
            result.im[k] = -self.im[k] / size;
        }
        result
    }
}

/// There is no pivot to divide by: the matrix is singular.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Singular;

/// The elimination of one row and column.
#[derive(Debug, Clone)]
struct Step {
    row: u32,
    column: u32,
    /// Slot of the pivot.
    pivot: u32,
    /// Ends in the lists of the schedule.
    lower: u32,
    upper: u32,
    targets: u32,
}

/// The order of elimination of a sparse pattern.
#[derive(Debug, Clone)]
pub struct Schedule {
    size: usize,
    /// Entries of the matrix, fill-in included.
    slots: usize,
    steps: Vec<Step>,
    /// Row and slot of each multiplier.
    lower: Vec<(u32, u32)>,
    /// Column and slot of each entry right of a pivot.
    upper: Vec<(u32, u32)>,
    /// Slots that products of multipliers and upper entries are subtracted from.
    targets: Vec<u32>,
}

/// The numbers of one replay.
#[derive(Debug, Clone, Default)]
pub struct Workspace {
    /// By slot; the first ones are the entries of the pattern.
    pub values: Vec<Lanes>,
}

/// The entries of a row by column, or of a column by row, with their slots.
type Line = Vec<(u32, u32)>;

/// The matrix while pivots are chosen.
struct Search {
    values: Vec<Complex64>,
    rows: Vec<Line>,
    columns: Vec<Line>,
    slots: FxHashMap<(u32, u32), u32>,
    /// Rows and columns that are left, shortest first.
    short_rows: BTreeSet<(usize, u32)>,
    short_columns: BTreeSet<(usize, u32)>,
}

impl Search {
    fn new(size: usize, pattern: &[(u32, u32)], values: &[Complex64]) -> Search {
        let mut search = Search {
            values: values.to_vec(),
            rows: vec![Vec::new(); size],
            columns: vec![Vec::new(); size],
            slots: FxHashMap::default(),
            short_rows: BTreeSet::new(),
            short_columns: BTreeSet::new(),
        };
        for (slot, &(i, j)) in pattern.iter().enumerate() {
            search.rows[i as usize].push((j, slot as u32));
            search.columns[j as usize].push((i, slot as u32));
            search.slots.insert((i, j), slot as u32);
        }
        search.short_rows = (0..size).map(|i| (search.rows[i].len(), i as u32)).collect();
        search.short_columns = (0..size).map(|j| (search.columns[j].len(), j as u32)).collect();
        search
    }

    fn size(&self, slot: u32) -> f64 {
        let z = self.values[slot as usize];
        z.re.abs() + z.im.abs()
    }

    fn largest(&self, column: u32) -> f64 {
        self.columns[column as usize].iter().map(|(_, slot)| self.size(*slot)).fold(0.0, f64::max)
    }

    /// Row, column and slot of the next pivot.
    fn pivot(&self) -> Option<(u32, u32, u32)> {
        let mut best: Option<(usize, u32, u32, u32)> = None;
        let consider = |i: u32, j: u32, slot: u32, best: &mut Option<(usize, u32, u32, u32)>| {
            let cost = (self.rows[i as usize].len() - 1) * (self.columns[j as usize].len() - 1);
            if best.is_some_and(|(least, ..)| least <= cost) {
                return;
            }
            let size = self.size(slot);
            if size > 0.0 && size.is_finite() && size >= PIVOT_THRESHOLD * self.largest(j) {
                *best = Some((cost, i, j, slot));
            }
        };
        for (searched, &(length, i)) in self.short_rows.iter().enumerate() {
            if searched >= SEARCHED_PIVOTS && best.is_some() {
                break;
            }
            if best.is_some_and(|(cost, ..)| cost <= (length.max(1) - 1).pow(2)) {
                break;
            }
            self.rows[i as usize].iter().for_each(|&(j, slot)| consider(i, j, slot, &mut best));
        }
        for &(length, j) in self.short_columns.iter().take(SEARCHED_PIVOTS) {
            if best.is_some_and(|(cost, ..)| cost <= (length.max(1) - 1).pow(2)) {
                break;
            }
            self.columns[j as usize].iter().for_each(|&(i, slot)| consider(i, j, slot, &mut best));
        }
        best.map(|(_, i, j, slot)| (i, j, slot))
    }

    fn slot(&mut self, i: u32, j: u32) -> u32 {
        if let Some(&slot) = self.slots.get(&(i, j)) {
            return slot;
        }
        let slot = self.values.len() as u32;
        self.values.push(Complex64::ZERO);
        self.slots.insert((i, j), slot);
        self.short_rows.remove(&(self.rows[i as usize].len(), i));
        self.short_columns.remove(&(self.columns[j as usize].len(), j));
        self.rows[i as usize].push((j, slot));
        self.columns[j as usize].push((i, slot));
        self.short_rows.insert((self.rows[i as usize].len(), i));
        self.short_columns.insert((self.columns[j as usize].len(), j));
        slot
    }

    /// Takes a row and a column out; returns what was in them besides the pivot.
    fn take(&mut self, row: u32, column: u32) -> (Line, Line) {
        let mut upper = std::mem::take(&mut self.rows[row as usize]);
        let mut lower = std::mem::take(&mut self.columns[column as usize]);
        self.short_rows.remove(&(upper.len(), row));
        self.short_columns.remove(&(lower.len(), column));
        upper.retain(|(j, _)| *j != column);
        lower.retain(|(i, _)| *i != row);
        for &(j, _) in &upper {
            let list = &mut self.columns[j as usize];
            self.short_columns.remove(&(list.len(), j));
            list.retain(|(i, _)| *i != row);
            self.short_columns.insert((list.len(), j));
        }
        for &(i, _) in &lower {
            let list = &mut self.rows[i as usize];
            self.short_rows.remove(&(list.len(), i));
            list.retain(|(j, _)| *j != column);
            self.short_rows.insert((list.len(), i));
        }
        (lower, upper)
    }
}

impl Schedule {
    /// Chooses pivots for a square pattern without repeated entries, by its values at one frequency.
    pub fn new(size: usize, pattern: &[(u32, u32)], values: &[Complex64]) -> Result<Schedule, Singular> {
        let mut search = Search::new(size, pattern, values);
        let mut schedule = Schedule {
            size,
            slots: 0,
            steps: Vec::with_capacity(size),
            lower: Vec::new(),
            upper: Vec::new(),
            targets: Vec::new(),
        };
        for _ in 0..size {
            let (row, column, pivot) = search.pivot().ok_or(Singular)?;
            let (lower, upper) = search.take(row, column);
            let value = search.values[pivot as usize];
            for &(i, multiplier) in &lower {
                let factor = search.values[multiplier as usize] / value;
                for &(j, right) in &upper {
                    let target = search.slot(i, j);
                    let product = factor * search.values[right as usize];
                    search.values[target as usize] -= product;
                    schedule.targets.push(target);
                }
            }
            schedule.lower.extend(lower);
            schedule.upper.extend(upper);
            schedule.steps.push(Step {
                row,
                column,
                pivot,
                lower: schedule.lower.len() as u32,
                upper: schedule.upper.len() as u32,
                targets: schedule.targets.len() as u32,
            });
        }
        schedule.slots = search.values.len();
        Ok(schedule)
    }

    /// The number of multiplications of one elimination, a measure of fill-in.
    pub fn operations(&self) -> usize {
        self.targets.len() + self.lower.len() + self.steps.len()
    }

    /// Eliminates; the first entries of the workspace are those of the pattern, the others are made.
    #[inline(always)]
    pub fn factor(&self, work: &mut Workspace, entries: usize) {
        let values = &mut work.values;
        values.truncate(entries);
        values.resize(self.slots, Lanes::ZERO);
        let (mut l, mut u, mut t) = (0, 0, 0);
        for step in &self.steps {
            let (lower, upper) = (&self.lower[l..step.lower as usize], &self.upper[u..step.upper as usize]);
            let inverse = values[step.pivot as usize].inverse();
            values[step.pivot as usize] = inverse;
            let mut targets = self.targets[t..step.targets as usize].iter();
            for &(_, slot) in lower {
                let factor = values[slot as usize].times(&inverse);
                values[slot as usize] = factor;
                for (&(_, right), &target) in upper.iter().zip(targets.by_ref()) {
                    let right = values[right as usize];
                    values[target as usize].subtract(&factor, &right);
                }
            }
            (l, u, t) = (step.lower as usize, step.upper as usize, step.targets as usize);
        }
    }

    /// Solves M x = b in place, after [`Schedule::factor`]; `spare` is a list of the same length.
    #[inline(always)]
    pub fn solve(&self, work: &Workspace, x: &mut [Lanes], spare: &mut [Lanes]) {
        let mut l = 0;
        for step in &self.steps {
            let known = x[step.row as usize];
            for &(i, slot) in &self.lower[l..step.lower as usize] {
                x[i as usize].subtract(&work.values[slot as usize], &known);
            }
            l = step.lower as usize;
        }
        for (k, step) in self.steps.iter().enumerate().rev() {
            let start = if k == 0 { 0 } else { self.steps[k - 1].upper as usize };
            let mut sum = x[step.row as usize];
            for &(j, slot) in &self.upper[start..step.upper as usize] {
                sum.subtract(&work.values[slot as usize], &spare[j as usize]);
            }
            spare[step.column as usize] = sum.times(&work.values[step.pivot as usize]);
        }
        x.copy_from_slice(spare);
    }

    /// Solves Mᵀ x = c in place, after [`Schedule::factor`]; `spare` is a list of the same length.
    #[inline(always)]
    pub fn solve_transposed(&self, work: &Workspace, x: &mut [Lanes], spare: &mut [Lanes]) {
        let mut u = 0;
        for step in &self.steps {
            let known = x[step.column as usize].times(&work.values[step.pivot as usize]);
            for &(j, slot) in &self.upper[u..step.upper as usize] {
                x[j as usize].subtract(&work.values[slot as usize], &known);
            }
            spare[step.row as usize] = known;
            u = step.upper as usize;
        }
        for (k, step) in self.steps.iter().enumerate().rev() {
            let start = if k == 0 { 0 } else { self.steps[k - 1].lower as usize };
            let mut sum = spare[step.row as usize];
            for &(i, slot) in &self.lower[start..step.lower as usize] {
                let known = spare[i as usize];
                sum.subtract(&work.values[slot as usize], &known);
            }
            spare[step.row as usize] = sum;
        }
        x.copy_from_slice(spare);
    }

    /// The number of unknowns.
    pub fn size(&self) -> usize {
        self.size
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn solutions_satisfy_their_equations() {
        // A pattern with a zero diagonal, so that pivots must be sought.
        let pattern: Vec<(u32, u32)> =
            vec![(0, 1), (0, 2), (1, 0), (1, 3), (2, 0), (2, 2), (3, 1), (3, 3), (2, 3)];
        let values: Vec<Complex64> =
            (0..pattern.len()).map(|k| Complex64::new(1.0 + k as f64, 2.0 - k as f64 * 0.7)).collect();
        let schedule = Schedule::new(4, &pattern, &values).unwrap();
        let lanes = |z: Complex64| Lanes { re: [z.re; LANES], im: [z.im; LANES] };
        let mut work = Workspace { values: values.iter().map(|z| lanes(*z)).collect() };
        schedule.factor(&mut work, pattern.len());
        let right: Vec<Complex64> = (0..4).map(|k| Complex64::new(1.0, f64::from(k))).collect();
        for transposed in [false, true] {
            let mut x: Vec<Lanes> = right.iter().map(|z| lanes(*z)).collect();
            let mut spare = x.clone();
            if transposed {
                schedule.solve_transposed(&work, &mut x, &mut spare);
            } else {
                schedule.solve(&work, &mut x, &mut spare);
            }
            let mut residual = right.clone();
            for (&(i, j), value) in pattern.iter().zip(&values) {
                let (i, j) = if transposed { (j, i) } else { (i, j) };
                residual[i as usize] -= value * x[j as usize].lane(3);
            }
            assert!(residual.iter().all(|r| r.norm() < 1e-12), "{residual:?}");
        }
    }

    #[test]
    fn a_singular_matrix_has_no_schedule() {
        let pattern = [(0, 0), (0, 1), (1, 0), (1, 1)];
        let values = [1.0, 2.0, 2.0, 4.0].map(|x| Complex64::new(x, 0.0));
        assert_eq!(Schedule::new(2, &pattern, &values).err(), Some(Singular));
    }
}
