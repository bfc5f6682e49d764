//! Sparse matrices over the prime field: ranks, kernels and Krylov spaces, exact up
//! to an error of about one in 2^60.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use paynter_algebra::field::FIELD;
use paynter_base::{CancellationToken, Cancelled, random as generator};

/// A matrix by rows; entries are not zero and ordered by column.
#[derive(Debug, Clone)]
pub(crate) struct Modular {
    pub columns: usize,
    pub rows: Vec<Vec<(usize, u64)>>,
}

impl Modular {
    pub fn new(rows: usize, columns: usize) -> Modular {
        Modular { columns, rows: vec![Vec::new(); rows] }
    }

    pub fn times(&self, vector: &[u64]) -> Vec<u64> {
        self.rows.iter().map(|row| dot(row, vector)).collect()
    }

    pub fn transpose(&self) -> Modular {
        let mut out = Modular::new(self.columns, self.rows.len());
        for (i, row) in self.rows.iter().enumerate() {
            for (j, value) in row {
                out.rows[*j].push((i, *value));
            }
        }
        out
    }

    /// Eliminates in the order of least fill-in.
    pub fn eliminate(&self, token: &CancellationToken) -> Result<Eliminated, Cancelled> {
        let mut rows: Vec<BTreeMap<usize, u64>> =
            self.rows.iter().map(|row| row.iter().copied().collect()).collect();
        let mut columns: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); self.columns];
        for (i, row) in rows.iter().enumerate() {
            row.keys().for_each(|j| {
                columns[*j].insert(i);
            });
        }
        let mut open: BTreeSet<(usize, usize)> = rows
            .iter()
            .enumerate()
            .filter(|(_, row)| !row.is_empty())
            .map(|(i, row)| (row.len(), i))
            .collect();
        let mut pivots = Vec::new();
        while let Some((_, i)) = open.pop_first() {
            token.check()?;
            let row = std::mem::take(&mut rows[i]);
            row.keys().for_each(|j| {
                columns[*j].remove(&i);
            });
            let Some((&j, &pivot)) = row.iter().min_by_key(|(j, _)| (columns[**j].len(), **j)) else {
                continue;
            };
            let inverse = FIELD.inv(pivot);
            let row: Vec<(usize, u64)> =
                row.into_iter().map(|(column, value)| (column, FIELD.mul(value, inverse))).collect();
            for r in std::mem::take(&mut columns[j]) {
                open.remove(&(rows[r].len(), r));
                let Some(factor) = rows[r].remove(&j) else { continue };
                for &(column, value) in row.iter().filter(|(column, _)| *column != j) {
                    let old = rows[r].get(&column).copied().unwrap_or(0);
                    let new = FIELD.sub(old, FIELD.mul(factor, value));
                    if new == 0 {
                        rows[r].remove(&column);
                        columns[column].remove(&r);
                    } else {
                        rows[r].insert(column, new);
                        columns[column].insert(r);
                    }
                }
                if !rows[r].is_empty() {
                    open.insert((rows[r].len(), r));
                }
            }
            pivots.push((j, row));
        }
        Ok(Eliminated { columns: self.columns, pivots })
    }
}

/// A matrix after elimination.
pub(crate) struct Eliminated {
    columns: usize,
    /// Pivot columns in order with their rows, the pivots being one.
    pivots: Vec<(usize, Vec<(usize, u64)>)>,
}

impl Eliminated {
    pub fn rank(&self) -> usize {
        self.pivots.len()
    }

    /// A basis of the solutions of M x = 0; each vector is one at a place where the others are zero.
    pub fn kernel(&self) -> Vec<Vec<u64>> {
        let mut bound = vec![false; self.columns];
        self.pivots.iter().for_each(|(j, _)| bound[*j] = true);
        let free = (0..self.columns).filter(|j| !bound[*j]);
        free.map(|j| {
            let mut x = vec![0; self.columns];
            x[j] = FIELD.one();
            // A row holds its own pivot and columns whose pivots came later, or that are free.
            for (column, row) in self.pivots.iter().rev() {
                x[*column] = 0;
                x[*column] = FIELD.sub(0, dot(row, &x));
            }
            x
        })
        .collect()
    }
}

fn dot(row: &[(usize, u64)], vector: &[u64]) -> u64 {
    row.iter().fold(0, |sum, (j, value)| FIELD.add(sum, FIELD.mul(*value, vector[*j])))
}

/// Random residues.
pub(crate) fn random(size: usize, seed: u64) -> Vec<u64> {
    let seed = generator::bits(0, seed);
    (0..size as u64).map(|i| FIELD.random(seed, i)).collect()
}

/// The dimension of the space that b, A b, A² b … span: the degree of b's minimal polynomial.
pub(crate) fn krylov_dimension(
    a: &Modular,
    b: &[u64],
    token: &CancellationToken,
) -> Result<usize, Cancelled> {
    let n = b.len();
    let witness = random(n, 77);
    let mut sequence = Vec::with_capacity(2 * n);
    let mut x = b.to_vec();
    for _ in 0..2 * n {
        token.check()?;
        sequence.push(x.iter().zip(&witness).fold(0, |sum, (a, b)| FIELD.add(sum, FIELD.mul(*a, *b))));
        x = a.times(&x);
    }
    Ok(linear_complexity(&sequence))
}

/// The length of the shortest recurrence that makes a sequence, by Berlekamp and Massey.
fn linear_complexity(sequence: &[u64]) -> usize {
    let (mut current, mut before) = (vec![FIELD.one()], vec![FIELD.one()]);
    let (mut length, mut gap, mut last) = (0usize, 1usize, FIELD.one());
    for n in 0..sequence.len() {
        let mut discrepancy = sequence[n];
        for i in 1..=length.min(current.len() - 1) {
            discrepancy = FIELD.add(discrepancy, FIELD.mul(current[i], sequence[n - i]));
        }
        if discrepancy == 0 {
            gap += 1;
            continue;
        }
        let factor = FIELD.mul(discrepancy, FIELD.inv(last));
        let mut next = current.clone();
        next.resize(next.len().max(before.len() + gap), 0);
        for (i, value) in before.iter().enumerate() {
            next[i + gap] = FIELD.sub(next[i + gap], FIELD.mul(factor, *value));
        }
        if 2 * length <= n {
            before = std::mem::replace(&mut current, next);
            (length, last, gap) = (n + 1 - length, discrepancy, 1);
        } else {
            current = next;
            gap += 1;
        }
    }
    length
}

/// A basis of the space that all A^k b_j span, in echelon form.
pub(crate) fn krylov_basis(
    a: &Modular,
    starts: &[Vec<u64>],
    token: &CancellationToken,
) -> Result<Vec<Vec<u64>>, Cancelled> {
    let mut basis: Vec<(usize, Vec<u64>)> = Vec::new();
    let mut open: VecDeque<Vec<u64>> = starts.iter().cloned().collect();
    while let Some(mut vector) = open.pop_front() {
        token.check()?;
        for (pivot, other) in &basis {
            let factor = vector[*pivot];
            if factor != 0 {
                vector.iter_mut().zip(other).for_each(|(x, y)| *x = FIELD.sub(*x, FIELD.mul(factor, *y)));
            }
        }
        let Some(pivot) = vector.iter().position(|x| *x != 0) else { continue };
        let inverse = FIELD.inv(vector[pivot]);
        vector.iter_mut().for_each(|x| *x = FIELD.mul(*x, inverse));
        open.push_back(a.times(&vector));
        basis.push((pivot, vector));
    }
    Ok(basis.into_iter().map(|(_, vector)| vector).collect())
}

/// Vectors that annihilate all of a list, reduced so that each is one where the others are zero.
pub(crate) fn annihilators(
    vectors: &[Vec<u64>],
    size: usize,
    token: &CancellationToken,
) -> Result<Vec<Vec<u64>>, Cancelled> {
    let mut matrix = Modular::new(vectors.len(), size);
    for (row, vector) in matrix.rows.iter_mut().zip(vectors) {
        row.extend(vector.iter().copied().enumerate().filter(|(_, x)| *x != 0));
    }
    Ok(matrix.eliminate(token)?.kernel())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matrix(rows: &[&[u64]]) -> Modular {
        let sparse = |row: &&[u64]| row.iter().copied().enumerate().filter(|(_, x)| *x != 0).collect();
        Modular { columns: rows[0].len(), rows: rows.iter().map(sparse).collect() }
    }

    #[test]
    fn kernels_annihilate() {
        let m = matrix(&[&[1, 2, 3, 4], &[2, 4, 6, 8], &[0, 1, 0, 1]]);
        let found = m.eliminate(&CancellationToken::new()).unwrap();
        assert_eq!(found.rank(), 2);
        let kernel = found.kernel();
        assert_eq!(kernel.len(), 2);
        for x in kernel {
            assert!(m.times(&x).iter().all(|y| *y == 0));
        }
    }

    #[test]
    fn equal_eigenvalues_halve_the_krylov_space() {
        let a = matrix(&[&[5, 0], &[0, 5]]);
        let token = CancellationToken::new();
        assert_eq!(krylov_dimension(&a, &[1, 1], &token).unwrap(), 1);
        assert_eq!(krylov_basis(&a, &[vec![1, 1]], &token).unwrap().len(), 1);
        assert_eq!(krylov_basis(&a, &[vec![1, 1], vec![1, 2]], &token).unwrap().len(), 2);
        let b = matrix(&[&[5, 0], &[0, 6]]);
        assert_eq!(krylov_dimension(&b, &[1, 1], &token).unwrap(), 2);
    }
}
