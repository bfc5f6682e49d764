//! The McMillan degree of the model in each uncertain quantity, the others held at random values: what no
//! realisation can do with fewer channels. Ranks modulo a prime are never above the true ones, so the bound holds.

use std::convert::Infallible;
use std::ops::Range;

use paynter_algebra::elimination::{Row, eliminate};
use paynter_algebra::field::FIELD;
use paynter_algebra::{Pool, Residues};
use paynter_base::{CancellationToken, Cancelled, QueryError, random};
use paynter_equations::Sparse;

use crate::limits::MODULAR_POINTS;
use crate::model::Matrices;

/// The first of the points at which other quantities are held.
const SEED: u64 = 41;

/// By block: the least number of channels.
pub(crate) fn degrees(
    pool: &Pool,
    matrices: &Matrices<Sparse>,
    blocks: &[Range<usize>],
    token: &CancellationToken,
) -> Result<Vec<usize>, QueryError> {
    let residues = |point: &mut Residues, matrix: &Sparse| -> Option<Vec<Row<u64>>> {
        let mut rows = vec![Row::new(); matrix.rows];
        for (i, j, entry) in &matrix.entries {
            rows[*i].insert(*j, point.value(pool, *entry)?);
        }
        Some(rows)
    };
    let all = (SEED..SEED + MODULAR_POINTS).find_map(|seed| {
        let mut point = Residues::new(seed);
        matrices.map(|matrix| residues(&mut point, matrix).ok_or(())).ok()
    });
    let Some(Matrices { c1, d12, d11, b1, d21, .. }) = all else { return Ok(vec![0; blocks.len()]) };
    let m = d11.len();
    let mut delta = vec![0; m];
    for (k, block) in blocks.iter().enumerate() {
        delta[block.clone()].fill(FIELD.random(random::bits(0, SEED), k as u64));
    }
    // z = (I - D11 Δ)⁻¹ (C1 x + D12 u + D11 w~) with w = Δ z + w~; columns: z, then w~, then x and u.
    let (states, width) = (matrices.c1.columns, matrices.c1.columns + matrices.d12.columns);
    let mut rows: Vec<Row<u64>> = vec![Row::new(); m];
    for (i, row) in rows.iter_mut().enumerate() {
        row.insert(i, FIELD.one());
        for (j, entry) in &d11[i] {
            let old = row.get(j).copied().unwrap_or(0);
            row.insert(*j, FIELD.sub(old, FIELD.mul(*entry, delta[*j])));
            row.insert(m + j, *entry);
        }
        row.extend(c1[i].iter().map(|(j, entry)| (2 * m + j, *entry)));
        row.extend(d12[i].iter().map(|(j, entry)| (2 * m + states + j, *entry)));
        row.retain(|_, entry| *entry != 0);
    }
    let Some(z) = solved(rows, m, 2 * m + width, token)? else { return Ok(vec![0; blocks.len()]) };
    // Rates and outputs by w~: B1 (I + Δ z_w~).
    let ends: Vec<Row<u64>> = b1
        .iter()
        .chain(&d21)
        .map(|row| {
            let mut out = row.clone();
            for (k, entry) in row {
                let factor = FIELD.mul(*entry, delta[*k]);
                for (j, value) in z[*k].range(m..2 * m) {
                    let old = out.get(&(j - m)).copied().unwrap_or(0);
                    out.insert(j - m, FIELD.add(old, FIELD.mul(factor, *value)));
                }
            }
            out
        })
        .collect();
    let mut out = Vec::with_capacity(blocks.len());
    for block in blocks {
        token.check()?;
        let entries = |row: &Row<u64>, from: usize| -> Vec<u64> {
            block.clone().map(|j| row.get(&(from + j)).copied().unwrap_or(0)).collect()
        };
        let a: Dense = block.clone().map(|i| entries(&z[i], m)).collect();
        let b: Dense = (0..width)
            .map(|c| block.clone().map(|i| z[i].get(&(2 * m + c)).copied().unwrap_or(0)).collect())
            .filter(|column: &Vec<u64>| column.iter().any(|x| *x != 0))
            .collect();
        let reaching = ends.iter().filter(|row| row.range(block.clone()).next().is_some());
        let c: Dense = reaching.map(|row| entries(row, 0)).collect();
        out.push(degree(&a, &b, &c));
    }
    Ok(out)
}

/// A dense matrix by rows.
type Dense = Vec<Vec<u64>>;

/// Solves for the first `m` columns: each as a row over the others; nothing where they are singular.
fn solved(
    rows: Vec<Row<u64>>,
    m: usize,
    width: usize,
    token: &CancellationToken,
) -> Result<Option<Vec<Row<u64>>>, QueryError> {
    let mut field = FIELD;
    let echelon = eliminate(&mut field, rows, width, |_, state| {
        token.check()?;
        let pivot = |(_, i): &(usize, usize)| {
            let own = state.row(*i).range(..m).map(|(j, _)| *j);
            own.min_by_key(|j| state.count(*j)).map(|j| (*i, j))
        };
        Ok::<_, Cancelled>(state.open().iter().find_map(pivot))
    })?;
    if echelon.pivots.len() < m {
        return Ok(None);
    }
    let mut values: Vec<Row<u64>> = vec![Row::new(); m];
    for &(i, j) in echelon.pivots.iter().rev() {
        token.check()?;
        let row = &echelon.rows[i];
        // p z_j + Σ a_c z_c = right side
        let mut value: Row<u64> = row.range(m..).map(|(c, entry)| (*c, *entry)).collect();
        for (c, entry) in row.range(..m).filter(|(c, _)| **c != j) {
            for (k, other) in &values[*c] {
                let old = value.get(k).copied().unwrap_or(0);
                value.insert(*k, FIELD.sub(old, FIELD.mul(*entry, *other)));
            }
        }
        let inverse = FIELD.inv(row[&j]);
        value.retain(|_, entry| {
            *entry = FIELD.mul(*entry, inverse);
            *entry != 0
        });
        values[j] = value;
    }
    Ok(Some(values))
}

/// The rank of the Hankel matrix of C (s - A)⁻¹ B, of observability times controllability; B by columns.
fn degree(a: &Dense, b: &Dense, c: &Dense) -> usize {
    let n = a.len();
    let transposed: Dense = (0..n).map(|i| a.iter().map(|row| row[i]).collect()).collect();
    let reach = powers(b, &transposed);
    let observe = powers(c, a);
    let dot = |x: &[u64], y: &[u64]| x.iter().zip(y).fold(0, |sum, (x, y)| FIELD.add(sum, FIELD.mul(*x, *y)));
    rank(observe.iter().map(|row| reach.iter().map(|column| dot(row, column)).collect()).collect())
}

/// A basis of the rows of V, V A, V A² …
fn powers(rows: &Dense, a: &Dense) -> Dense {
    let mut basis: Vec<(usize, Vec<u64>)> = Vec::new();
    let mut open: Vec<Vec<u64>> = rows.clone();
    while let Some(mut row) = open.pop() {
        for (pivot, other) in &basis {
            let factor = row[*pivot];
            if factor != 0 {
                row.iter_mut().zip(other).for_each(|(x, y)| *x = FIELD.sub(*x, FIELD.mul(factor, *y)));
            }
        }
        let Some(pivot) = row.iter().position(|x| *x != 0) else { continue };
        let inverse = FIELD.inv(row[pivot]);
        row.iter_mut().for_each(|x| *x = FIELD.mul(*x, inverse));
        let entry = |j: usize| row.iter().zip(a).fold(0, |sum, (x, y)| FIELD.add(sum, FIELD.mul(*x, y[j])));
        open.push((0..row.len()).map(entry).collect());
        basis.push((pivot, row));
    }
    basis.into_iter().map(|(_, row)| row).collect()
}

fn rank(rows: Dense) -> usize {
    let width = rows.first().map_or(0, Vec::len);
    let sparse = |row: Vec<u64>| row.into_iter().enumerate().filter(|(_, entry)| *entry != 0).collect();
    let rows: Vec<Row<u64>> = rows.into_iter().map(sparse).collect();
    let mut field = FIELD;
    let Ok(echelon) =
        eliminate(&mut field, rows, width, |_, state| Ok::<_, Infallible>(state.least_fill_in(|_, _| true)));
    echelon.pivots.len()
}
