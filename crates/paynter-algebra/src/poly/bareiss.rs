//! Fraction-free elimination (Bareiss), for matrices whose minors are too many
//! to keep.

use std::collections::BTreeMap;

use super::gcd::exact;
use super::minors::WHAT;
use super::{Matrix, Poly, PolyError, Work};

/// The determinant and, for each unknown, the adjoint matrix times the vector.
pub(super) struct Eliminated {
    pub(super) determinant: Poly,
    pub(super) solution: Vec<Poly>,
}

/// Eliminates in all rows (Jordan) if there is a right-hand side, else only
/// below the pivots. Pivots are chosen for few terms and little fill-in.
pub(super) fn eliminate(
    matrix: &Matrix,
    vector: &[(usize, &Poly)],
    work: &Work,
) -> Result<Eliminated, PolyError> {
    let size = matrix.rows();
    let mut rows: Vec<BTreeMap<usize, Poly>> = vec![BTreeMap::new(); size];
    for column in 0..size {
        for (row, value) in matrix.column(column) {
            rows[*row].insert(column, value.clone());
        }
    }
    for &(row, value) in vector {
        if !value.is_zero() {
            rows[row].insert(size, value.clone());
        }
    }
    let jordan = !vector.is_empty();
    let mut pivot_column = vec![usize::MAX; size];
    let mut last = Poly::one();
    for _ in 0..size {
        work.spend(WHAT, rows.iter().map(|row| row.len() as u64 / 4 + 1).sum())?;
        let Some((pivot, column)) = choose_pivot(&rows, &pivot_column, size) else {
            return Ok(Eliminated { determinant: Poly::zero(), solution: Vec::new() });
        };
        pivot_column[pivot] = column;
        let pivot_row = rows[pivot].clone();
        let head = &pivot_row[&column];
        for (index, row) in rows.iter_mut().enumerate() {
            if index == pivot || (!jordan && pivot_column[index] != usize::MAX) {
                continue;
            }
            let factor = row.remove(&column);
            let places: std::collections::BTreeSet<usize> = match &factor {
                Some(_) => row.keys().chain(pivot_row.keys()).copied().filter(|c| *c != column).collect(),
                None => row.keys().copied().collect(),
            };
            let mut next = BTreeMap::new();
            for place in places {
                work.spend(WHAT, 1)?;
                let mut pairs: Vec<(bool, &Poly, &Poly)> = Vec::new();
                if let Some(old) = row.get(&place) {
                    pairs.push((false, head, old));
                }
                if let (Some(factor), Some(other)) = (&factor, pivot_row.get(&place)) {
                    pairs.push((true, factor, other));
                }
                let value = exact(&Poly::sum_of_products(&pairs, work)?, &last, work)?;
                if !value.is_zero() {
                    next.insert(place, value);
                }
            }
            *row = next;
        }
        last = head.clone();
    }
    let odd = super::structure::is_odd(&pivot_column);
    // The common last pivot is the determinant up to the sign of the pivoting,
    // and every unknown times it stands on the right.
    let sign = |p: Poly| if odd { p.neg() } else { p };
    let mut solution = vec![Poly::zero(); if jordan { size } else { 0 }];
    if jordan {
        for (row, &column) in rows.iter_mut().zip(&pivot_column) {
            solution[column] = sign(row.remove(&size).unwrap_or_else(Poly::zero));
        }
    }
    Ok(Eliminated { determinant: sign(last), solution })
}

/// Returns row and column of the pivot with the least product of terms and
/// fill-in.
fn choose_pivot(
    rows: &[BTreeMap<usize, Poly>],
    pivot_column: &[usize],
    size: usize,
) -> Option<(usize, usize)> {
    let mut counts = vec![0usize; size + 1];
    let free: Vec<usize> = (0..size).filter(|&row| pivot_column[row] == usize::MAX).collect();
    for &row in &free {
        rows[row].keys().for_each(|&column| counts[column] += 1);
    }
    let mut best: Option<[usize; 3]> = None;
    for &row in &free {
        let width = rows[row].keys().filter(|c| **c < size).count();
        for (&column, value) in rows[row].iter().filter(|(c, _)| **c < size) {
            let fill = (width - 1) * (counts[column] - 1);
            let candidate = [(fill + 1) * value.len(), row, column];
            if best.is_none_or(|best| candidate < best) {
                best = Some(candidate);
            }
        }
    }
    best.map(|[_, row, column]| (row, column))
}

#[cfg(test)]
mod tests {
    use super::*;
    use paynter_base::random::Random;

    /// A matrix with few entries, some polynomials and some constants.
    fn random_matrix(size: usize, random: &mut Random) -> Matrix {
        let work = Work::default();
        let mut matrix = Matrix::new(size, size);
        for row in 0..size {
            for column in 0..size {
                if row == column || random.bits().is_multiple_of(3) {
                    let variable = Poly::variable((random.bits() % 4) as usize).unwrap();
                    let constant = Poly::constant((random.bits() % 7) as i64 - 3);
                    matrix.set(row, column, variable.add(&constant, &work).unwrap());
                }
            }
        }
        matrix
    }

    #[test]
    fn elimination_and_minors_agree() {
        let (work, mut random) = (Work::default(), Random::new(7));
        for size in 1..7 {
            for _ in 0..10 {
                let matrix = random_matrix(size, &mut random);
                let vector: Vec<Poly> = (0..size).map(|i| Poly::constant(i as i64 % 3)).collect();
                let listed: Vec<(usize, &Poly)> =
                    vector.iter().enumerate().filter(|(_, v)| !v.is_zero()).collect();
                let (determinant, solution) = matrix.adjoint_times(&vector, &work).unwrap();
                assert_eq!(eliminate(&matrix, &[], &work).unwrap().determinant, determinant);
                if !determinant.is_zero() && !listed.is_empty() {
                    assert_eq!(eliminate(&matrix, &listed, &work).unwrap().solution, solution);
                }
            }
        }
    }
}
