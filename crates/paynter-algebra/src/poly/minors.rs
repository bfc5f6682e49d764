//! Expansion of determinants by minors that are computed once and kept.
//!
//! Columns are taken in order. After k columns, each live set of k rows has
//! its minor; taking the next column, each of its entries extends the sets
//! that lack its row. A row without further entries must be in the set, so
//! that with a good order few sets live at a time. The same from the other
//! end gives the complementary minors, and both together all cofactors.

use std::collections::BTreeMap;

use super::structure::finishing_rows;
use super::{Poly, PolyError, Work};

/// What an exceeded budget was needed for.
pub(super) const WHAT: &str = "a determinant";

/// A set of rows.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct RowSet {
    words: Vec<u64>,
}

impl RowSet {
    /// Makes an empty set of so many possible rows.
    pub(super) fn new(rows: usize) -> RowSet {
        RowSet { words: vec![0; rows.div_ceil(64)] }
    }

    #[inline]
    pub(super) fn contains(&self, row: usize) -> bool {
        self.words[row / 64] >> (row % 64) & 1 == 1
    }

    pub(super) fn insert(&mut self, row: usize) {
        self.words[row / 64] |= 1 << (row % 64);
    }

    pub(super) fn with(&self, row: usize) -> RowSet {
        let mut set = self.clone();
        set.insert(row);
        set
    }

    /// Returns the rows of this set that are not in the other.
    pub(super) fn missing_from(&self, other: &RowSet) -> RowSet {
        RowSet { words: self.words.iter().zip(&other.words).map(|(a, b)| a & !b).collect() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.words.iter().all(|&w| w == 0)
    }

    pub(super) fn len(&self) -> usize {
        self.words.iter().map(|w| w.count_ones() as usize).sum()
    }

    /// Returns how many members are above a row.
    fn above(&self, row: usize) -> usize {
        let (word, bit) = (row / 64, row % 64);
        let here = self.words[word] & (u64::MAX << bit << 1);
        let rest: u32 = self.words[word + 1..].iter().map(|w| w.count_ones()).sum();
        (here.count_ones() + rest) as usize
    }

    fn rows(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.words.len() * 64).filter(|&row| self.contains(row))
    }
}

/// The minors of the first columns, by their row sets.
pub(super) type Level = BTreeMap<RowSet, Poly>;

/// One column of the matrix: its entries by row.
pub(super) type Column<'a> = Vec<(usize, &'a Poly)>;

/// Expands by the columns in order. `holes` are rows of which one may be left
/// out for good. With `keep` all levels are returned, from that of no columns
/// on, else only the last.
pub(super) fn expand(
    rows: usize,
    columns: &[Column<'_>],
    holes: Option<&RowSet>,
    keep: bool,
    work: &Work,
) -> Result<Vec<Level>, PolyError> {
    let patterns: Vec<Vec<usize>> = columns.iter().map(|c| c.iter().map(|(row, _)| *row).collect()).collect();
    let finishing = finishing_rows(rows, patterns.iter().map(Vec::as_slice));
    let mut finished = RowSet::new(rows);
    let mut levels: Vec<Level> = vec![BTreeMap::from([(RowSet::new(rows), Poly::one())])];
    let mut kept = 0;
    for (column, finishing) in columns.iter().zip(&finishing) {
        finishing.iter().for_each(|&row| finished.insert(row));
        let live = levels.last().ok_or(PolyError::DivisionByZero)?;
        let mut products: BTreeMap<RowSet, Vec<(bool, &Poly, &Poly)>> = BTreeMap::new();
        for (set, minor) in live {
            for &(row, entry) in column {
                if set.contains(row) {
                    continue;
                }
                let larger = set.with(row);
                if may_live(&finished.missing_from(&larger), holes) {
                    let negate = set.above(row) % 2 == 1;
                    products.entry(larger).or_default().push((negate, entry, minor));
                }
            }
        }
        let mut next = BTreeMap::new();
        let mut terms = 0;
        for (set, pairs) in products {
            work.spend(WHAT, 1 + rows as u64 / 8)?;
            let minor = Poly::sum_of_products(&pairs, work)?;
            terms += minor.len();
            if terms + kept > work.budget().terms.saturating_mul(16) {
                return Err(PolyError::BudgetExceeded { what: WHAT, terms: (terms + kept) as u64 });
            }
            if !minor.is_zero() {
                next.insert(set, minor);
            }
        }
        if keep {
            kept += terms;
        } else {
            levels.clear();
        }
        levels.push(next);
    }
    Ok(levels)
}

fn may_live(missing: &RowSet, holes: Option<&RowSet>) -> bool {
    match holes {
        None => missing.is_empty(),
        Some(holes) => missing.len() <= 1 && missing.missing_from(holes).is_empty(),
    }
}

/// Returns the determinants of the matrix with each column in turn replaced by
/// a vector: the adjoint matrix times the vector. The columns are in the order
/// given; the vector is listed by row.
pub(super) fn replaced_columns(
    rows: usize,
    columns: &[Column<'_>],
    vector: &[(usize, &Poly)],
    work: &Work,
) -> Result<Vec<Poly>, PolyError> {
    let mut holes = RowSet::new(rows);
    vector.iter().for_each(|&(row, _)| holes.insert(row));
    let forward = expand(rows, columns, Some(&holes), true, work)?;
    let reversed: Vec<Column<'_>> = columns.iter().rev().cloned().collect();
    let backward = expand(rows, &reversed, Some(&holes), true, work)?;
    let mut all = RowSet::new(rows);
    (0..rows).for_each(|row| all.insert(row));
    let count = columns.len();
    let mut results = Vec::with_capacity(count);
    for (place, before) in forward.iter().enumerate().take(count) {
        let after = count - place - 1;
        // Minors from the end were made with their columns reversed.
        let reversed_sign = after * after.saturating_sub(1) / 2 % 2 == 1;
        let mut cofactors: Vec<(Poly, &Poly)> = Vec::new();
        for &(row, value) in vector {
            let mut pairs: Vec<(bool, &Poly, &Poly)> = Vec::new();
            for (set, minor) in before.iter().filter(|(set, _)| !set.contains(row)) {
                let rest = all.missing_from(&set.with(row));
                if let Some(other) = backward[after].get(&rest) {
                    let inversions: usize = set.above(row)
                        + rest.rows().map(|r| set.above(r) + usize::from(row > r)).sum::<usize>();
                    pairs.push(((inversions % 2 == 1) ^ reversed_sign, minor, other));
                }
            }
            let cofactor = Poly::sum_of_products(&pairs, work)?;
            if !cofactor.is_zero() {
                cofactors.push((cofactor, value));
            }
        }
        let pairs: Vec<(bool, &Poly, &Poly)> = cofactors.iter().map(|(c, v)| (false, *v, c)).collect();
        results.push(Poly::sum_of_products(&pairs, work)?);
    }
    Ok(results)
}
