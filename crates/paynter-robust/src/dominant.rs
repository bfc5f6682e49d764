//! Lower bounds for complex blocks: a Δ of norm one that makes the spectral radius of MΔ large, by the
//! power iteration of Packard, Fan and Doyle.

use num_complex::Complex64;

use crate::basis::Block;
use crate::matrix::Matrix;

type Complex = Matrix<Complex64>;

/// A lower bound of the structured singular value for complex blocks, and Δ of norm one that attains it.
pub(crate) fn dominant(m: &Complex, blocks: &[Block]) -> (f64, Complex) {
    let n = m.rows();
    if n == 0 {
        return (0.0, Matrix::zeros(0, 0));
    }
    if let [Block::Full(_)] = blocks {
        let Some((size, left, right)) = m.norm() else { return (0.0, Matrix::zeros(n, n)) };
        return (size, Matrix::from_fn(n, n, |i, j| right[i] * left[j].conj()));
    }
    let unit = |v: Complex| {
        let size = v.entries().iter().map(Complex64::norm_sqr).sum::<f64>().sqrt();
        if size > 0.0 { v.map(|x| x / size) } else { v }
    };
    let start = m.norm().map_or_else(|| vec![Complex64::ONE; n], |(_, _, right)| right);
    let mut b = Matrix::from_fn(n, 1, |i, _| start[i]);
    let mut w = b.clone();
    let adjoint = m.adjoint();
    let mut best = (0.0, Matrix::identity(n));
    for step in 0..60 {
        let a = unit(m.times(&b));
        let z = align(&a, &w, blocks, false);
        w = unit(adjoint.times(&z));
        b = unit(align(&a, &w, blocks, true));
        if step % 12 == 11 {
            let delta = perturbation(&a, &b, blocks);
            let radius = m
                .times(&delta)
                .eigenvalues()
                .map_or(0.0, |values| values.iter().fold(0.0, |most: f64, z| most.max(z.norm())));
            if radius > best.0 {
                best = (radius, delta);
            }
        }
    }
    best
}

/// One half of the power iteration, block by block: vectors aligned with a (back = false: from a towards
/// w's size; back = true: from w towards a's size).
fn align(a: &Complex, w: &Complex, blocks: &[Block], back: bool) -> Complex {
    let mut out = Matrix::zeros(a.rows(), 1);
    let mut first = 0;
    for block in blocks {
        let range = first..first + block.size();
        let size = |v: &Complex| range.clone().map(|i| v[(i, 0)].norm_sqr()).sum::<f64>().sqrt();
        match block {
            Block::Full(_) => {
                let (source, other) = if back { (w, a) } else { (a, w) };
                let length = size(source);
                let factor = if length > 0.0 { size(other) / length } else { 0.0 };
                range.clone().for_each(|i| out[(i, 0)] = source[(i, 0)] * factor);
            }
            Block::Real(_) | Block::Repeated(_) => {
                let dot: Complex64 = range.clone().map(|i| w[(i, 0)].conj() * a[(i, 0)]).sum();
                let turn = if dot.norm() > 0.0 { dot / dot.norm() } else { Complex64::ONE };
                match back {
                    true => range.clone().for_each(|i| out[(i, 0)] = a[(i, 0)] * turn.conj()),
                    false => range.clone().for_each(|i| out[(i, 0)] = w[(i, 0)] * turn),
                }
            }
        }
        first += block.size();
    }
    out
}

/// Δ of norm one that takes a to b, block by block.
fn perturbation(a: &Complex, b: &Complex, blocks: &[Block]) -> Complex {
    let n = a.rows();
    let mut delta = Matrix::zeros(n, n);
    let mut first = 0;
    for block in blocks {
        let range = first..first + block.size();
        match block {
            Block::Full(_) => {
                let size = |v: &Complex| range.clone().map(|i| v[(i, 0)].norm_sqr()).sum::<f64>().sqrt();
                let product = size(a) * size(b);
                if product > 0.0 {
                    for i in range.clone() {
                        range.clone().for_each(|j| delta[(i, j)] = b[(i, 0)] * a[(j, 0)].conj() / product);
                    }
                }
            }
            Block::Real(_) | Block::Repeated(_) => {
                let dot: Complex64 = range.clone().map(|i| a[(i, 0)].conj() * b[(i, 0)]).sum();
                let turn = if dot.norm() > 0.0 { dot / dot.norm() } else { Complex64::ONE };
                range.clone().for_each(|i| delta[(i, i)] = turn);
            }
        }
        first += block.size();
    }
    delta
}
