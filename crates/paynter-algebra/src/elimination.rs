//! Sparse Gaussian elimination, the one routine for every arithmetic: prime
//! fields, floating point, expressions. Who calls it chooses the pivots.

use std::collections::{BTreeMap, BTreeSet};

/// A sparse row by column.
pub type Row<S> = BTreeMap<usize, S>;

/// The arithmetic that a matrix is eliminated in.
pub trait Arithmetic {
    /// An entry.
    type Scalar: Clone;

    /// What entries are divided by: prepared once for a pivot.
    fn divisor(&mut self, pivot: &Self::Scalar) -> Self::Scalar;

    /// An entry divided by a pivot.
    fn quotient(&mut self, entry: &Self::Scalar, divisor: &Self::Scalar) -> Self::Scalar;

    /// old − factor·value; nothing where that is zero.
    fn difference(
        &mut self,
        old: Option<&Self::Scalar>,
        factor: &Self::Scalar,
        value: &Self::Scalar,
    ) -> Option<Self::Scalar>;

    /// Notes that a multiple of the row of a pivot was subtracted from another, as right-hand sides want it.
    fn subtracted(&mut self, _from: usize, _pivot: usize, _factor: &Self::Scalar) {}
}

/// A matrix while it is eliminated.
#[derive(Debug, Clone)]
pub struct Elimination<S> {
    rows: Vec<Row<S>>,
    /// The rows without a pivot that have an entry in a column.
    columns: Vec<BTreeSet<usize>>,
    /// Rows without a pivot that are not empty, by length.
    open: BTreeSet<(usize, usize)>,
}

/// A matrix in echelon form, but for the order of its rows.
#[derive(Debug, Clone)]
pub struct Echelon<S> {
    /// The rows: those of pivots hold, beside their own, columns without pivot or whose pivots come later.
    pub rows: Vec<Row<S>>,
    /// Rows and columns of the pivots, in order.
    pub pivots: Vec<(usize, usize)>,
}

impl<S: Clone> Elimination<S> {
    /// The row of an index.
    pub fn row(&self, i: usize) -> &Row<S> {
        &self.rows[i]
    }

    /// How many rows without a pivot have an entry in a column.
    pub fn count(&self, column: usize) -> usize {
        self.columns[column].len()
    }

    /// The lengths and indices of the rows that are neither empty nor have a pivot, short ones first.
    pub fn open(&self) -> &BTreeSet<(usize, usize)> {
        &self.open
    }

    /// The entry of the shortest row, among those accepted, whose column has the fewest entries.
    pub fn least_fill_in(&self, accepted: impl Fn(&Row<S>, &S) -> bool) -> Option<(usize, usize)> {
        let (_, i) = self.open.first()?;
        let row = &self.rows[*i];
        let entries = row.iter().filter(|(_, entry)| accepted(row, entry));
        entries.map(|(j, _)| *j).min_by_key(|j| self.columns[*j].len()).map(|j| (*i, j))
    }

    fn clear_below(&mut self, (i, j): (usize, usize), arithmetic: &mut impl Arithmetic<Scalar = S>) {
        let pivot_row = std::mem::take(&mut self.rows[i]);
        self.open.remove(&(pivot_row.len(), i));
        for column in pivot_row.keys() {
            self.columns[*column].remove(&i);
        }
        let divisor = arithmetic.divisor(&pivot_row[&j]);
        for r in std::mem::take(&mut self.columns[j]) {
            self.open.remove(&(self.rows[r].len(), r));
            let Some(entry) = self.rows[r].remove(&j) else { continue };
            let factor = arithmetic.quotient(&entry, &divisor);
            for (&column, value) in pivot_row.iter().filter(|(column, _)| **column != j) {
                match arithmetic.difference(self.rows[r].get(&column), &factor, value) {
                    Some(new) => {
                        if self.rows[r].insert(column, new).is_none() {
                            self.columns[column].insert(r);
                        }
                    }
                    None => {
                        if self.rows[r].remove(&column).is_some() {
                            self.columns[column].remove(&r);
                        }
                    }
                }
            }
            arithmetic.subtracted(r, i, &factor);
            if !self.rows[r].is_empty() {
                self.open.insert((self.rows[r].len(), r));
            }
        }
        self.rows[i] = pivot_row;
    }
}

/// Eliminates with the pivots that `choose` finds, until there is none left.
pub fn eliminate<A: Arithmetic, E>(
    arithmetic: &mut A,
    rows: Vec<Row<A::Scalar>>,
    width: usize,
    mut choose: impl FnMut(&mut A, &Elimination<A::Scalar>) -> Result<Option<(usize, usize)>, E>,
) -> Result<Echelon<A::Scalar>, E> {
    let mut columns = vec![BTreeSet::new(); width];
    for (i, row) in rows.iter().enumerate() {
        for &j in row.keys() {
            columns[j].insert(i);
        }
    }
    let lengths = rows.iter().enumerate().map(|(i, row)| (row.len(), i));
    let open = lengths.filter(|(length, _)| *length > 0).collect();
    let mut state = Elimination { rows, columns, open };
    let mut pivots = Vec::new();
    while let Some(pivot) = choose(arithmetic, &state)? {
        state.clear_below(pivot, arithmetic);
        pivots.push(pivot);
    }
    Ok(Echelon { rows: state.rows, pivots })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::field::{FIELD, PrimeField};
    use paynter_base::random;

    #[test]
    fn a_rank_is_found_whatever_the_order_of_rows() {
        // A band with one row that is the sum of two others, as a ring of storages makes it.
        let n = 200;
        let entry = |i: usize| FIELD.random(0, i as u64);
        let mut rows: Vec<Row<u64>> =
            (0..n).map(|i| [(i, entry(i)), ((i + 1) % n, FIELD.one())].into_iter().collect()).collect();
        let rank = |rows: &[Row<u64>]| {
            let choose = |_: &mut PrimeField, state: &Elimination<u64>| {
                Ok::<_, std::convert::Infallible>(state.least_fill_in(|_, _| true))
            };
            let Ok(found) = eliminate(&mut FIELD.clone(), rows.to_vec(), n, choose);
            found.pivots.len()
        };
        assert_eq!(rank(&rows), n);
        let mut sum = rows[3].clone();
        sum.extend(rows[150].clone());
        rows[77] = sum;
        assert_eq!(rank(&rows), n - 1);
        rows.reverse();
        rows[9].clear();
        assert_eq!(rank(&rows), n - 2);
    }

    #[test]
    fn a_column_that_cancels_and_fills_in_again_is_eliminated_once() {
        // Random small matrices of few values, in which entries cancel often: the rank by rows and by columns.
        for seed in 0..300 {
            let n = 6;
            let mut rows: Vec<Row<u64>> = vec![Row::new(); n];
            let mut columns = rows.clone();
            for place in 0..n * n {
                let value = random::bits(seed, place as u64) % 3;
                if value > 0 {
                    rows[place / n].insert(place % n, FIELD.enter(value));
                    columns[place % n].insert(place / n, FIELD.enter(value));
                }
            }
            let ranks = [rows, columns].map(|rows| {
                let choose = |_: &mut PrimeField, state: &Elimination<u64>| {
                    Ok::<_, std::convert::Infallible>(state.least_fill_in(|_, _| true))
                };
                let Ok(found) = eliminate(&mut FIELD.clone(), rows, n, choose);
                found.pivots.len()
            });
            assert_eq!(ranks[0], ranks[1], "{seed}");
        }
    }
}
