//! Sparse Gaussian elimination over an exact field, the sparsest row first.

use crate::number::Number;
use std::collections::BTreeMap;

/// A row: the entries that are not zero, by column. Columns from `size` on are
/// right-hand sides kept on the left of the equals sign.
pub type Row<N> = BTreeMap<usize, N>;

/// What elimination leaves.
#[derive(Debug, Clone)]
pub struct Eliminated<N> {
    /// The determinant of the square part.
    pub determinant: N,
    /// For each unknown its row of right-hand sides r: unknown + Σ r = 0.
    pub solution: Vec<Row<N>>,
}

/// Eliminates a square system; `None` when it is singular.
pub fn eliminate<N: Number>(mut rows: Vec<Row<N>>, size: usize) -> Option<Eliminated<N>> {
    if rows.len() != size {
        return None;
    }
    let mut open: Vec<usize> = (0..size).collect();
    let mut pivots: Vec<(usize, usize)> = Vec::with_capacity(size);
    let mut determinant = N::one();
    while !open.is_empty() {
        let (slot, column) = choose(&rows, &open, size)?;
        let pivot = open.swap_remove(slot);
        let head = rows[pivot].get(&column)?.clone();
        determinant = determinant.mul(&head)?;
        let pivot_row = rows[pivot].clone();
        for &other in &open {
            if let Some(entry) = rows[other].get(&column).cloned() {
                subtract(&mut rows[other], &pivot_row, &entry.div(&head)?)?;
                // Where a dual's value cancels, nothing may remain of the entry.
                rows[other].remove(&column);
            }
        }
        pivots.push((pivot, column));
    }
    if is_odd(&pivots) {
        determinant = determinant.neg();
    }
    let mut solution: Vec<Row<N>> = vec![Row::new(); size];
    for &(pivot, column) in pivots.iter().rev() {
        let head = rows[pivot].get(&column)?.clone();
        let mut result = Row::new();
        for (other, entry) in &rows[pivot] {
            if *other >= size {
                accumulate(&mut result, *other, &entry.div(&head)?);
            } else if *other != column {
                let factor = entry.div(&head)?;
                for (side, value) in &solution[*other] {
                    accumulate(&mut result, *side, &value.mul(&factor)?.neg());
                }
            }
        }
        solution[column] = result;
    }
    Some(Eliminated { determinant, solution })
}

/// Counts the independent rows.
pub fn rank<N: Number>(mut rows: Vec<Row<N>>, size: usize) -> usize {
    let mut open: Vec<usize> = (0..rows.len()).collect();
    let mut found = 0;
    loop {
        open.retain(|row| rows[*row].range(..size).next().is_some());
        let Some((slot, column)) = choose(&rows, &open, size) else { return found };
        let pivot = rows[open.swap_remove(slot)].clone();
        found += 1;
        for &other in &open {
            let factor = rows[other].get(&column).and_then(|entry| entry.div(pivot.get(&column)?));
            if let Some(factor) = factor {
                subtract(&mut rows[other], &pivot, &factor);
                rows[other].remove(&column);
            }
        }
    }
}

/// Picks the open row with the fewest entries and in it the emptiest column.
fn choose<N: Number>(rows: &[Row<N>], open: &[usize], size: usize) -> Option<(usize, usize)> {
    let length = |row: &Row<N>| row.range(..size).count();
    let mut order: Vec<usize> = (0..open.len()).collect();
    order.sort_by_key(|slot| (length(&rows[open[*slot]]), open[*slot]));
    for slot in order {
        let best = rows[open[slot]]
            .range(..size)
            .filter(|(_, value)| value.is_unit())
            .map(|(column, _)| (open.iter().filter(|row| rows[**row].contains_key(column)).count(), *column))
            .min();
        if let Some((_, column)) = best {
            return Some((slot, column));
        }
        // A row without a pivot stays zero on the left: the system is singular.
        if length(&rows[open[slot]]) == 0 {
            return None;
        }
    }
    None
}

fn subtract<N: Number>(row: &mut Row<N>, other: &Row<N>, factor: &N) -> Option<()> {
    for (column, value) in other {
        accumulate(row, *column, &value.mul(factor)?.neg());
    }
    Some(())
}

fn accumulate<N: Number>(row: &mut Row<N>, column: usize, value: &N) {
    let sum = row.get(&column).map_or_else(|| value.clone(), |old| old.add(value));
    if sum.is_zero() {
        row.remove(&column);
    } else {
        row.insert(column, sum);
    }
}

/// Tells whether the permutation from rows to columns is odd.
fn is_odd(pivots: &[(usize, usize)]) -> bool {
    let mut target = vec![0; pivots.len()];
    for &(row, column) in pivots {
        target[row] = column;
    }
    let mut odd = false;
    let mut seen = vec![false; pivots.len()];
    for start in 0..pivots.len() {
        let (mut at, mut length) = (start, 0);
        while !seen[at] {
            seen[at] = true;
            at = target[at];
            length += 1;
        }
        odd ^= length > 0 && length % 2 == 0;
    }
    odd
}
