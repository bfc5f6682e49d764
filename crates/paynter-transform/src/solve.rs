//! Small dense linear systems in symbols.

use paynter_algebra::{Expr, Pool};

/// Solves A x = b for several right-hand sides, each a column of `b` given row by row.
/// None where the matrix is singular.
pub(crate) fn solve(pool: &mut Pool, a: &[Vec<Expr>], b: &[Vec<Expr>]) -> Option<Vec<Vec<Expr>>> {
    let n = a.len();
    let zero = pool.zero();
    let mut rows: Vec<Vec<Expr>> =
        a.iter().zip(b).map(|(left, right)| [left.as_slice(), right.as_slice()].concat()).collect();
    let mut done = vec![false; n];
    let mut place = vec![0; n];
    for column in 0..n {
        let pivot = pivot(pool, &rows, &done, column)?;
        done[pivot] = true;
        place[column] = pivot;
        let lead = rows[pivot][column];
        for entry in &mut rows[pivot] {
            if *entry != zero {
                *entry = pool.div(*entry, lead);
            }
        }
        let chosen = rows[pivot].clone();
        for (i, row) in rows.iter_mut().enumerate() {
            let factor = row[column];
            if i == pivot || factor == zero {
                continue;
            }
            for (entry, above) in row.iter_mut().zip(&chosen) {
                if *above != zero {
                    let part = pool.mul(factor, *above);
                    *entry = pool.sub(*entry, part);
                }
            }
            row[column] = zero;
        }
    }
    Some(place.into_iter().map(|row| rows[row][n..].to_vec()).collect())
}

/// The row to eliminate with: a number where there is one, else anything that is not zero.
fn pivot(pool: &mut Pool, rows: &[Vec<Expr>], done: &[bool], column: usize) -> Option<usize> {
    let zero = pool.zero();
    let open: Vec<usize> = (0..rows.len()).filter(|&i| !done[i] && rows[i][column] != zero).collect();
    if let Some(row) = open.iter().find(|&&i| pool.as_rational(rows[i][column]).is_some()) {
        return Some(*row);
    }
    open.into_iter().find(|&i| !pool.is_zero(rows[i][column]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_is_inverted() {
        let mut pool = Pool::new();
        let [l1, l2, m] = ["L1", "L2", "M"].map(|name| {
            let symbol = pool.symbol(name);
            pool.var(symbol)
        });
        let (zero, one) = (pool.zero(), pool.one());
        let a = vec![vec![l1, m], vec![m, l2]];
        let identity = vec![vec![one, zero], vec![zero, one]];
        let inverse = solve(&mut pool, &a, &identity).unwrap_or_default();
        for (i, row) in a.iter().enumerate() {
            for j in 0..2 {
                let terms = [pool.mul(row[0], inverse[0][j]), pool.mul(row[1], inverse[1][j])];
                let sum = pool.sum(&terms);
                assert!(pool.equal(sum, identity[i][j]));
            }
        }
        assert!(solve(&mut pool, &[vec![l1, l1], vec![l1, l1]], &identity).is_none());
    }
}
