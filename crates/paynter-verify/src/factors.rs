//! The factors of the equations of small changes at a number s: what does not
//! depend on s is eliminated once for all numbers.

use crate::tolerance::{EQUILIBRATION_SWEEPS, PIVOT};
use num_complex::Complex64;
use paynter_algebra::elimination::{Arithmetic, Elimination, Row, eliminate};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::convert::Infallible;

/// Complex numbers, with what right-hand sides have to follow.
#[derive(Default)]
struct Complex {
    /// Multiples of rows that were subtracted: from which, of which, the factor.
    subtracted: Vec<(usize, usize, Complex64)>,
}

impl Arithmetic for Complex {
    type Scalar = Complex64;

    fn divisor(&mut self, pivot: &Complex64) -> Complex64 {
        pivot.inv()
    }

    fn quotient(&mut self, entry: &Complex64, divisor: &Complex64) -> Complex64 {
        entry * divisor
    }

    fn difference(
        &mut self,
        old: Option<&Complex64>,
        factor: &Complex64,
        value: &Complex64,
    ) -> Option<Complex64> {
        let new = old.copied().unwrap_or_default() - factor * value;
        (new != Complex64::ZERO).then_some(new)
    }

    fn subtracted(&mut self, from: usize, pivot: usize, factor: &Complex64) {
        self.subtracted.push((from, pivot, *factor));
    }
}

/// A sparse row as a list: what is only read is read faster than from a tree.
pub(crate) type Entries = Vec<(usize, Complex64)>;

/// A row and a column with their pivot, and the other entries of the row.
#[derive(Debug, Clone)]
struct Pivot {
    row: usize,
    column: usize,
    entry: Complex64,
    others: Entries,
}

/// A sparse matrix, eliminated with some pivots or with all.
#[derive(Debug, Clone)]
struct Eliminated {
    pivots: Vec<Pivot>,
    /// The rows without pivot.
    rest: Vec<(usize, Row<Complex64>)>,
    subtracted: Vec<(usize, usize, Complex64)>,
    row_scales: Vec<f64>,
    column_scales: Vec<f64>,
}

impl Eliminated {
    /// Eliminates with the pivots that `choose` finds.
    fn new(
        mut rows: Vec<Entries>,
        mut choose: impl FnMut(&Complex, &Elimination<Complex64>) -> Option<(usize, usize)>,
    ) -> Eliminated {
        let n = rows.len();
        let (row_scales, column_scales) = equilibrate(&mut rows);
        let rows: Vec<Row<Complex64>> = rows.into_iter().map(|row| row.into_iter().collect()).collect();
        let mut arithmetic = Complex::default();
        let choose = |arithmetic: &mut Complex, state: &Elimination<Complex64>| {
            Ok::<_, Infallible>(choose(arithmetic, state))
        };
        let Ok(mut echelon) = eliminate(&mut arithmetic, rows, n, choose);
        let mut rest: BTreeMap<usize, Row<Complex64>> =
            (0..n).zip(std::mem::take(&mut echelon.rows)).collect();
        let pivot = |(row, column)| {
            let mut others = rest.remove(&row)?;
            let entry = others.remove(&column)?;
            Some(Pivot { row, column, entry, others: others.into_iter().collect() })
        };
        let pivots = echelon.pivots.into_iter().filter_map(pivot).collect();
        let rest = rest.into_iter().collect();
        Eliminated { pivots, rest, subtracted: arithmetic.subtracted, row_scales, column_scales }
    }

    /// What becomes of a right-hand side.
    fn forward(&self, side: &[Complex64]) -> Vec<Complex64> {
        let scaled = side.iter().zip(&self.row_scales).map(|(b, scale)| b * scale);
        let mut side: Vec<Complex64> = scaled.collect();
        for (from, pivot, factor) in &self.subtracted {
            if side[*pivot] != Complex64::ZERO {
                let change = factor * side[*pivot];
                side[*from] -= change;
            }
        }
        side
    }

    /// Completes a solution that has the unknowns without pivot already.
    fn backward(&self, side: &[Complex64], mut x: Vec<Complex64>) -> Vec<Complex64> {
        for pivot in self.pivots.iter().rev() {
            let known: Complex64 = pivot.others.iter().map(|(column, entry)| entry * x[*column]).sum();
            x[pivot.column] = (side[pivot.row] - known) / pivot.entry;
        }
        x.iter_mut().zip(&self.column_scales).for_each(|(x, scale)| *x *= scale);
        x
    }

    /// What becomes of a right-hand side of the transposed system, and the unknowns of rows with pivots.
    fn forward_transposed(&self, side: &[Complex64]) -> (Vec<Complex64>, Vec<Complex64>) {
        let scaled = side.iter().zip(&self.column_scales).map(|(b, scale)| b * scale);
        let mut side: Vec<Complex64> = scaled.collect();
        let mut x = vec![Complex64::ZERO; side.len()];
        for pivot in &self.pivots {
            let value = side[pivot.column] / pivot.entry;
            pivot.others.iter().for_each(|(column, entry)| side[*column] -= entry * value);
            x[pivot.row] = value;
        }
        (side, x)
    }

    /// Completes a solution of the transposed system.
    fn backward_transposed(&self, mut x: Vec<Complex64>) -> Vec<Complex64> {
        for (from, pivot, factor) in self.subtracted.iter().rev() {
            let change = factor * x[*from];
            x[*pivot] -= change;
        }
        x.iter_mut().zip(&self.row_scales).for_each(|(x, scale)| *x *= scale);
        x
    }
}

/// The column of a row's pivot: large enough, and with the fewest entries among those allowed.
fn pivot_column(
    state: &Elimination<Complex64>,
    row: usize,
    allowed: impl Fn(usize) -> bool,
) -> Option<usize> {
    let entries = state.row(row);
    let least = PIVOT * entries.values().fold(0.0f64, |most, x| most.max(x.l1_norm()));
    let large = entries.iter().filter(|(j, x)| x.l1_norm() >= least && allowed(**j));
    large.map(|(j, _)| *j).min_by_key(|j| state.count(*j))
}

/// A square matrix M₀ + s·M₁, where M₁ has a one in some rows, with what does not depend on s eliminated as far as
/// nothing fills in. Variables that are one by the structure of the graph share a column.
#[derive(Debug, Clone)]
pub(crate) struct Condensed {
    /// The rows that are no equality of two variables.
    equations: Vec<usize>,
    /// The column of each variable.
    places: Vec<usize>,
    outer: Eliminated,
    /// What is left by the outer elimination: columns, and where s stands among them, with its factor.
    columns: Vec<usize>,
    rates: Vec<(usize, usize, f64)>,
    /// The entries left, in places of these.
    entries: Vec<Entries>,
}

/// Columns of variables, of which these pairs are equal.
fn columns(width: usize, equal: &[(usize, usize)]) -> Vec<usize> {
    let mut parents: Vec<usize> = (0..width).collect();
    let root = |parents: &mut [usize], mut at: usize| {
        while parents[at] != at {
            parents[at] = parents[parents[at]];
            at = parents[at];
        }
        at
    };
    for (a, b) in equal {
        let (a, b) = (root(&mut parents, *a), root(&mut parents, *b));
        parents[a.max(b)] = a.min(b);
    }
    // A root comes before what it stands for.
    let (mut places, mut count) = (vec![0; width], 0);
    for at in 0..width {
        let root = root(&mut parents, at);
        places[at] = if root == at { count } else { places[root] };
        count += usize::from(root == at);
    }
    places
}

impl Condensed {
    /// Condenses a matrix: its entries by row, the rows and columns where M₁ has its ones, and the rows that only say
    /// that two variables are equal.
    pub fn new(
        rows: &[Entries],
        rates: &[(usize, usize)],
        equalities: &[(usize, (usize, usize))],
    ) -> Condensed {
        let equal: Vec<(usize, usize)> = equalities.iter().map(|(_, pair)| *pair).collect();
        let places = columns(rows.len(), &equal);
        let mut is_equality = vec![false; rows.len()];
        equalities.iter().for_each(|(row, _)| is_equality[*row] = true);
        let equations: Vec<usize> = (0..rows.len()).filter(|row| !is_equality[*row]).collect();
        let row_of: FxHashMap<usize, usize> =
            equations.iter().enumerate().map(|(i, row)| (*row, i)).collect();
        let rates: Vec<(usize, usize)> =
            rates.iter().filter_map(|(row, column)| Some((*row_of.get(row)?, places[*column]))).collect();
        let entries = equations.iter().map(|row| {
            let entries = rows[*row].iter().map(|(column, value)| (places[*column], *value));
            summed(entries.collect())
        });
        let entries: Vec<Entries> = entries.collect();

        let n = entries.len();
        let (mut kept_rows, mut kept_columns) = (vec![false; n], vec![false; n]);
        for (i, j) in &rates {
            (kept_rows[*i], kept_columns[*j]) = (true, true);
        }
        // Short rows come first.
        let mut open: Vec<usize> = (0..n).collect();
        open.sort_by_key(|i| std::cmp::Reverse(entries[*i].len()));
        let mut seen = 0;
        let choose = |done: &Complex, state: &Elimination<Complex64>| {
            // What was changed may have become short.
            open.extend(done.subtracted[seen..].iter().map(|(from, ..)| *from));
            seen = done.subtracted.len();
            while let Some(i) = open.pop() {
                if kept_rows[i] {
                    continue;
                }
                let Some(j) = pivot_column(state, i, |j| !kept_columns[j]) else { continue };
                let others = [state.row(i).len() - 1, state.count(j) - 1];
                if others[0] * others[1] <= others[0] + others[1] + 1 {
                    kept_rows[i] = true;
                    return Some((i, j));
                }
            }
            None
        };
        let outer = Eliminated::new(entries, choose);
        let mut left = vec![Some(0); n];
        outer.pivots.iter().for_each(|pivot| left[pivot.column] = None);
        let columns: Vec<usize> = (0..n).filter(|j| left[*j].is_some()).collect();
        columns.iter().enumerate().for_each(|(place, j)| left[*j] = Some(place));
        let row_of: FxHashMap<usize, usize> =
            outer.rest.iter().enumerate().map(|(place, (i, _))| (*i, place)).collect();
        let rate = |(i, j): &(usize, usize)| {
            Some((*row_of.get(i)?, left[*j]?, outer.row_scales[*i] * outer.column_scales[*j]))
        };
        let rates = rates.iter().filter_map(rate).collect();
        let entry = |(j, entry): (&usize, &Complex64)| Some((left[*j]?, *entry));
        let entries = outer.rest.iter().map(|(_, row)| row.iter().filter_map(entry).collect()).collect();
        Condensed { equations, places, outer, columns, rates, entries }
    }

    /// Factorises the matrix at a number; nothing where it is singular.
    pub fn at(&self, s: Complex64) -> Option<Factors<'_>> {
        let mut rows = self.entries.clone();
        for (i, j, factor) in &self.rates {
            rows[*i].push((*j, factor * s));
        }
        let rows: Vec<Entries> = rows.into_iter().map(summed).collect();
        let n = rows.len();
        let choose = |_: &Complex, state: &Elimination<Complex64>| {
            let (_, i) = state.open().first()?;
            pivot_column(state, *i, |_| true).map(|j| (*i, j))
        };
        let inner = Eliminated::new(rows, choose);
        (inner.pivots.len() == n).then_some(Factors { matrix: self, inner })
    }
}

/// A row in the order of columns, each of which stands once.
fn summed(mut row: Entries) -> Entries {
    row.sort_unstable_by_key(|(j, _)| *j);
    row.dedup_by(|(j, value), (first, sum)| {
        let same = j == first;
        if same {
            *sum += *value;
        }
        same
    });
    row.retain(|(_, value)| *value != Complex64::ZERO);
    row
}

/// The factors of a square sparse matrix.
pub(crate) struct Factors<'a> {
    matrix: &'a Condensed,
    inner: Eliminated,
}

impl Factors<'_> {
    /// Solves for a right-hand side.
    pub fn solve(&self, side: &[Complex64]) -> Vec<Complex64> {
        let Condensed { equations, places, outer, columns, .. } = self.matrix;
        let side: Vec<Complex64> = equations.iter().map(|row| side[*row]).collect();
        let side = outer.forward(&side);
        let inner: Vec<Complex64> = outer.rest.iter().map(|(i, _)| side[*i]).collect();
        let found = self.inner.backward(&self.inner.forward(&inner), vec![Complex64::ZERO; inner.len()]);
        let mut x = vec![Complex64::ZERO; side.len()];
        columns.iter().zip(found).for_each(|(j, value)| x[*j] = value);
        let x = outer.backward(&side, x);
        places.iter().map(|place| x[*place]).collect()
    }

    /// Solves the transposed system for a right-hand side.
    pub fn solve_transposed(&self, side: &[Complex64]) -> Vec<Complex64> {
        let Condensed { equations, places, outer, columns, .. } = self.matrix;
        let mut sums = vec![Complex64::ZERO; equations.len()];
        places.iter().zip(side).for_each(|(place, value)| sums[*place] += value);
        let (sums, mut x) = outer.forward_transposed(&sums);
        let inner: Vec<Complex64> = columns.iter().map(|j| sums[*j]).collect();
        let (_, found) = self.inner.forward_transposed(&inner);
        let found = self.inner.backward_transposed(found);
        outer.rest.iter().zip(found).for_each(|((i, _), value)| x[*i] = value);
        let x = outer.backward_transposed(x);
        let mut all = vec![Complex64::ZERO; side.len()];
        equations.iter().zip(x).for_each(|(row, value)| all[*row] = value);
        all
    }
}

/// Brings rows and columns to one size, so that pivots can be compared; returns their scales.
fn equilibrate(rows: &mut [Entries]) -> (Vec<f64>, Vec<f64>) {
    let n = rows.len();
    let (mut row_scales, mut scales) = (vec![1.0; n], vec![1.0; n]);
    for _ in 0..EQUILIBRATION_SWEEPS {
        let mut largest = vec![0.0f64; n];
        for (row, scale) in rows.iter_mut().zip(&mut row_scales) {
            let most = row.iter().fold(0.0f64, |most, (_, x)| most.max(x.l1_norm()));
            if most > 0.0 {
                let factor = most.sqrt().recip();
                *scale *= factor;
                row.iter_mut().for_each(|(_, x)| *x *= factor);
            }
            row.iter().for_each(|(j, x)| largest[*j] = largest[*j].max(x.l1_norm()));
        }
        for (scale, most) in scales.iter_mut().zip(&mut largest) {
            *most = if *most > 0.0 { most.sqrt().recip() } else { 1.0 };
            *scale *= *most;
        }
        for row in rows.iter_mut() {
            row.iter_mut().for_each(|(j, x)| *x *= largest[*j]);
        }
    }
    (row_scales, scales)
}

#[cfg(test)]
mod tests {
    use super::*;
    use paynter_base::random::Random;

    /// Random matrices with equal variables and rates: both systems are solved, to rounding.
    #[test]
    fn solutions_fulfil_the_system_and_the_transposed_one() {
        let mut solved = 0;
        for seed in 0..200 {
            let mut random = Random::new(seed);
            let n = 12;
            let mut rows: Vec<Entries> = vec![Vec::new(); n];
            for row in 0..n {
                let count = 1 + (3.0 * random.unit()) as usize;
                rows[row].push((row, Complex64::from(1.0 + random.unit())));
                for _ in 0..count {
                    let column = (n as f64 * random.unit()) as usize;
                    rows[row].push((column, Complex64::from(random.unit() - 0.5)));
                }
            }
            let one = Complex64::ONE;
            let equalities = [(3, (3, 4)), (7, (7, 3)), (9, (9, 10))];
            for (row, (a, b)) in equalities {
                rows[row] = vec![(a, one), (b, -one)];
            }
            let rates = [(0, 1), (5, 2), (11, 8)];
            let s = Complex64::new(0.0, 2.0);
            let matrix = Condensed::new(&rows, &rates, &equalities);
            let Some(factors) = matrix.at(s) else { continue };
            solved += 1;
            let mut full = rows.clone();
            rates.iter().for_each(|(row, column)| full[*row].push((*column, s)));

            let is_equality = |row: usize| equalities.iter().any(|(other, _)| *other == row);
            let side: Vec<Complex64> = (0..n)
                .map(|row| if is_equality(row) { Complex64::ZERO } else { Complex64::from(random.unit()) })
                .collect();
            let x = factors.solve(&side);
            for (row, right) in full.iter().zip(&side) {
                let left: Complex64 = row.iter().map(|(column, entry)| entry * x[*column]).sum();
                assert!(
                    (left - right).norm() < 1e-10 * x.iter().map(|x| x.norm()).sum::<f64>().max(1.0),
                    "{seed}"
                );
            }
            // Where variables are equal, only the sum of their columns is known.
            let u = factors.solve_transposed(&side);
            let mut sums = vec![Complex64::ZERO; n];
            for (i, row) in full.iter().enumerate().filter(|(i, _)| !is_equality(*i)) {
                row.iter().for_each(|(column, entry)| sums[*column] += u[i] * entry);
            }
            sums.iter_mut().zip(&side).for_each(|(sum, right)| *sum -= right);
            let groups: [&[usize]; 8] = [&[0], &[1], &[2], &[3, 4, 7], &[5], &[9, 10], &[8], &[11]];
            for group in groups {
                let missed: Complex64 = group.iter().map(|place| sums[*place]).sum();
                assert!(missed.norm() < 1e-10 * u.iter().map(|u| u.norm()).sum::<f64>().max(1.0), "{seed}");
            }
        }
        assert!(solved > 150, "{solved}");
    }
}
