//! The McMillan degree of the model in each uncertain quantity, the others held at random values: what no
//! realisation can do with fewer channels. Ranks modulo a prime are never above the true ones, so the bound holds.

use std::ops::Range;

use paynter_algebra::field::FIELD;
use paynter_algebra::{Pool, Residues};
use paynter_base::{CancellationToken, QueryError, random};
use paynter_equations::Sparse;

use crate::model::Matrices;

type Dense = Vec<Vec<u64>>;

/// The point at which other quantities are held.
const SEED: u64 = 41;

/// By block: the least number of channels.
pub(crate) fn degrees(
    pool: &Pool,
    matrices: &Matrices<Sparse>,
    blocks: &[Range<usize>],
    token: &CancellationToken,
) -> Result<Vec<usize>, QueryError> {
    let mut point = Residues::new(SEED);
    let mut residues = |matrix: &Sparse| -> Option<Dense> {
        let mut rows = vec![vec![0; matrix.columns]; matrix.rows];
        for (i, j, entry) in &matrix.entries {
            rows[*i][*j] = point.value(pool, *entry)?;
        }
        Some(rows)
    };
    let mut all = || -> Option<[Dense; 5]> {
        Some([
            residues(&matrices.c1)?,
            residues(&matrices.d12)?,
            residues(&matrices.d11)?,
            residues(&matrices.b1)?,
            residues(&matrices.d21)?,
        ])
    };
    let zeros = vec![0; blocks.len()];
    let Some([c1, d12, d11, b1, d21]) = all() else { return Ok(zeros) };
    let m = d11.len();
    let mut delta = vec![0; m];
    for (k, block) in blocks.iter().enumerate() {
        delta[block.clone()].fill(FIELD.random(random::bits(0, SEED), k as u64));
    }
    // z = (I - D11 Δ)⁻¹ (C1 x + D12 u + D11 w~) with w = Δ z + w~.
    let mut left = d11.clone();
    for (i, row) in left.iter_mut().enumerate() {
        for (j, entry) in row.iter_mut().enumerate() {
            *entry = FIELD.neg(FIELD.mul(*entry, delta[j]));
        }
        row[i] = FIELD.add(row[i], FIELD.one());
    }
    let right: Dense = (0..m).map(|i| [c1[i].as_slice(), &d12[i], &d11[i]].concat()).collect();
    let width = c1.first().map_or(0, Vec::len) + d12.first().map_or(0, Vec::len);
    let Some(z) = solved(left, right, token)? else { return Ok(zeros) };
    let mut out = Vec::with_capacity(blocks.len());
    for block in blocks {
        token.check()?;
        let a: Dense = block.clone().map(|i| z[i][width + block.start..width + block.end].to_vec()).collect();
        let b: Dense = block.clone().map(|i| z[i][..width].to_vec()).collect();
        // Rates and outputs by w~: B1 (I + Δ z_w~).
        let c: Dense = b1
            .iter()
            .chain(&d21)
            .map(|row| {
                block
                    .clone()
                    .map(|j| {
                        (0..m).fold(row[j], |sum, k| match row[k] {
                            0 => sum,
                            entry => FIELD.add(sum, FIELD.mul(entry, FIELD.mul(delta[k], z[k][width + j]))),
                        })
                    })
                    .collect()
            })
            .collect();
        out.push(degree(&a, &b, &c));
    }
    Ok(out)
}

/// The rank of the Hankel matrix of C (s - A)⁻¹ B: of observability times controllability.
fn degree(a: &Dense, b: &Dense, c: &Dense) -> usize {
    let n = a.len();
    let (mut reach, mut power) = (b.clone(), b.clone());
    for _ in 1..n {
        power = product(a, &power);
        reach.iter_mut().zip(&power).for_each(|(row, more)| row.extend(more));
    }
    let (mut observe, mut power) = (c.clone(), c.clone());
    for _ in 1..n {
        power = product(&power, a);
        observe.extend(power.clone());
    }
    rank(product(&observe, &reach))
}

fn product(left: &Dense, right: &Dense) -> Dense {
    let width = right.first().map_or(0, Vec::len);
    left.iter()
        .map(|row| {
            let mut out = vec![0; width];
            for (entry, other) in row.iter().zip(right).filter(|(entry, _)| **entry != 0) {
                out.iter_mut().zip(other).for_each(|(x, y)| *x = FIELD.add(*x, FIELD.mul(*entry, *y)));
            }
            out
        })
        .collect()
}

fn rank(mut rows: Dense) -> usize {
    let width = rows.first().map_or(0, Vec::len);
    let mut found = 0;
    for j in 0..width {
        let Some(pivot) = (found..rows.len()).find(|i| rows[*i][j] != 0) else { continue };
        rows.swap(found, pivot);
        let (above, below) = rows.split_at_mut(found + 1);
        clear(&above[found], below, j);
        found += 1;
    }
    found
}

/// Clears a column of rows by the row of a pivot.
fn clear(pivot: &[u64], rows: &mut [Vec<u64>], j: usize) {
    let inverse = FIELD.inv(pivot[j]);
    for row in rows.iter_mut().filter(|row| row[j] != 0) {
        let factor = FIELD.mul(row[j], inverse);
        row.iter_mut().zip(pivot).for_each(|(x, y)| *x = FIELD.sub(*x, FIELD.mul(factor, *y)));
    }
}

/// Solves left·X = right; nothing where left is singular.
fn solved(left: Dense, right: Dense, token: &CancellationToken) -> Result<Option<Dense>, QueryError> {
    let n = left.len();
    let mut rows: Dense = left.into_iter().zip(right).map(|(mut l, r)| {
        l.extend(r);
        l
    }).collect();
    for j in 0..n {
        token.check()?;
        let Some(pivot) = (j..n).find(|i| rows[*i][j] != 0) else { return Ok(None) };
        rows.swap(j, pivot);
        let (above, rest) = rows.split_at_mut(j);
        let Some((own, below)) = rest.split_first_mut() else { return Ok(None) };
        let inverse = FIELD.inv(own[j]);
        own.iter_mut().for_each(|x| *x = FIELD.mul(*x, inverse));
        clear(own, above, j);
        clear(own, below, j);
    }
    Ok(Some(rows.into_iter().map(|row| row[n..].to_vec()).collect()))
}
