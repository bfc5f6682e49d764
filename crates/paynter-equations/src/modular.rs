//! Sparse matrices over the prime field: ranks, kernels and Krylov spaces, exact up
//! to an error of about one in 2^60.

use std::collections::VecDeque;

use paynter_algebra::elimination::{Echelon, eliminate};
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
        let rows = self.rows.iter().map(|row| row.iter().copied().collect()).collect();
        let mut field = FIELD;
        let echelon = eliminate(&mut field, rows, self.columns, |_, state| {
            token.check()?;
            Ok(state.least_fill_in(|_, _| true))
        })?;
        Ok(Eliminated { columns: self.columns, echelon })
    }
}

/// A matrix after elimination.
pub(crate) struct Eliminated {
    columns: usize,
    echelon: Echelon<u64>,
}

impl Eliminated {
    pub fn rank(&self) -> usize {
        self.echelon.pivots.len()
    }

    /// A basis of the solutions of M x = 0; each vector is one at a place where the others are zero.
    pub fn kernel(&self) -> Vec<Vec<u64>> {
        let mut bound = vec![false; self.columns];
        // The rows of pivots, in units of them with the sign turned.
        let mut rows: Vec<(usize, Vec<(usize, u64)>)> = Vec::with_capacity(self.rank());
        for &(i, j) in &self.echelon.pivots {
            bound[j] = true;
            let row = &self.echelon.rows[i];
            let factor = FIELD.neg(FIELD.inv(row[&j]));
            let others = row.iter().filter(|(column, _)| **column != j);
            rows.push((j, others.map(|(column, value)| (*column, FIELD.mul(*value, factor))).collect()));
        }
        let free = (0..self.columns).filter(|j| !bound[*j]);
        free.map(|j| {
            let mut x = vec![0; self.columns];
            x[j] = FIELD.one();
            for (column, row) in rows.iter().rev() {
                x[*column] = dot(row, &x);
            }
            x
        })
        .collect()
    }
}

fn dot(row: &[(usize, u64)], vector: &[u64]) -> u64 {
    FIELD.dot(row.iter().map(|(j, value)| (*value, vector[*j])))
}

/// Random residues.
pub(crate) fn random(size: usize, seed: u64) -> Vec<u64> {
    let seed = generator::bits(0, seed);
    (0..size as u64).map(|i| FIELD.random(seed, i)).collect()
}

/// The dimension of the space that b, A b, A² b … span: the degree of b's minimal polynomial, by Wiedemann's method.
/// Takes products with A for twice that dimension and few more.
pub(crate) fn krylov_dimension(
    a: &Modular,
    b: &[u64],
    token: &CancellationToken,
) -> Result<usize, Cancelled> {
    minimal_order(a, b, &random(b.len(), 77), token)
}

/// The order of c (sI − A)⁻¹ b: the length of the recurrence of c b, c A b, c A² b …
pub(crate) fn minimal_order(
    a: &Modular,
    b: &[u64],
    c: &[u64],
    token: &CancellationToken,
) -> Result<usize, Cancelled> {
    let packed = Packed::new(a);
    let mut recurrence = Recurrence::new();
    let (mut x, mut next) = (b.to_vec(), vec![0; b.len()]);
    for _ in 0..2 * b.len() {
        token.check()?;
        recurrence.extend(FIELD.dot(x.iter().copied().zip(c.iter().copied())));
        if recurrence.is_settled() {
            break;
        }
        packed.times(&x, &mut next);
        std::mem::swap(&mut x, &mut next);
    }
    Ok(recurrence.length)
}

/// A matrix for many products: its entries stand side by side.
struct Packed {
    /// Where each row ends.
    ends: Vec<usize>,
    columns: Vec<u32>,
    values: Vec<u64>,
}

impl Packed {
    fn new(matrix: &Modular) -> Packed {
        let mut packed = Packed { ends: Vec::new(), columns: Vec::new(), values: Vec::new() };
        for row in &matrix.rows {
            packed.columns.extend(row.iter().map(|(j, _)| *j as u32));
            packed.values.extend(row.iter().map(|(_, value)| *value));
            packed.ends.push(packed.values.len());
        }
        packed
    }

    fn times(&self, x: &[u64], out: &mut [u64]) {
        let mut from = 0;
        for (sum, end) in out.iter_mut().zip(&self.ends) {
            let columns = self.columns[from..*end].iter();
            *sum = FIELD.dot(self.values[from..*end].iter().zip(columns).map(|(v, j)| (*v, x[*j as usize])));
            from = *end;
        }
    }
}

/// Values in a row that a recurrence must foretell to be taken for that of the whole sequence. Seen through a random
/// witness, a sequence that needs a longer one contradicts a shorter at every second value: one that does not has a
/// chance of about one in 2^60.
const FORETOLD: usize = 8;

/// The shortest recurrence that makes a sequence, by Berlekamp and Massey, value by value.
struct Recurrence {
    /// The sequence, the last value first, and how much of the room is free.
    sequence: VecDeque<u64>,
    current: Vec<u64>,
    before: Vec<u64>,
    length: usize,
    /// Values since the recurrence last became longer.
    gap: usize,
    last: u64,
    /// Values in a row that it has foretold, beyond those that any recurrence of its length does.
    foretold: usize,
}

impl Recurrence {
    fn new() -> Recurrence {
        let one = vec![FIELD.one()];
        Recurrence {
            sequence: VecDeque::new(),
            current: one.clone(),
            before: one,
            length: 0,
            gap: 1,
            last: FIELD.one(),
            foretold: 0,
        }
    }

    /// Whether more values would not change it.
    fn is_settled(&self) -> bool {
        self.foretold >= FORETOLD
    }

    /// Takes the next value of the sequence.
    fn extend(&mut self, value: u64) {
        let n = self.sequence.len();
        self.sequence.push_front(value);
        let discrepancy = FIELD.dot(self.current.iter().copied().zip(self.sequence.iter().copied()));
        if discrepancy == 0 {
            self.gap += 1;
            self.foretold += usize::from(2 * self.length <= n);
            return;
        }
        self.foretold = 0;
        let factor = FIELD.mul(discrepancy, FIELD.inv(self.last));
        let longer = 2 * self.length <= n;
        let old = longer.then(|| self.current.clone());
        self.current.resize(self.current.len().max(self.before.len() + self.gap), 0);
        for (i, value) in self.before.iter().enumerate() {
            let place = &mut self.current[i + self.gap];
            *place = FIELD.sub(*place, FIELD.mul(factor, *value));
        }
        self.gap += 1;
        if let Some(old) = old {
            self.before = old;
            (self.length, self.last, self.gap) = (n + 1 - self.length, discrepancy, 1);
        }
    }
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

    /// Diagonal blocks with eigenvalues that recur, b random: the dimension is the number of different ones.
    #[test]
    fn krylov_spaces_have_the_dimension_of_the_minimal_polynomial() {
        let token = CancellationToken::new();
        for different in [1_usize, 2, 7, 30, 60] {
            let mut a = Modular::new(60, 60);
            for i in 0..60 {
                a.rows[i].push((i, FIELD.enter(1 + (i % different) as u64)));
            }
            assert_eq!(krylov_dimension(&a, &random(60, 5), &token).unwrap(), different);
        }
        // A chain, seen from its end: each product reaches one state further.
        let mut chain = Modular::new(40, 40);
        for i in 0..40 {
            chain.rows[i] = (i.saturating_sub(1)..(i + 2).min(40))
                .map(|j| (j, FIELD.enter(3 + (i * j) as u64)))
                .collect();
        }
        let mut start = vec![0; 40];
        start[0] = FIELD.one();
        assert_eq!(krylov_dimension(&chain, &start, &token).unwrap(), 40);
        assert_eq!(krylov_dimension(&chain, &[0; 40], &token).unwrap(), 0);
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
