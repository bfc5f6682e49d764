//! Parts of a matrix that act on one another in one direction only, and scalings of parts made scalings of the
//! whole.

use num_complex::Complex64;
use paynter_base::strong_components;

use crate::basis::Structure;
use crate::matrix::Matrix;
use crate::tolerance::{NO_COUPLING, SEPARATIONS};
use crate::upper::{Scaling, proves};

type Complex = Matrix<Complex64>;

/// Channels with the scalings that prove their bound.
pub(crate) struct Part {
    /// Their places.
    pub channels: Vec<usize>,
    /// D and G among them.
    pub scaling: Scaling,
}

/// The strongly connected parts of the channels, a channel joined to those it reads; each stands behind the parts
/// that it reads. Channels of one full block stay together. The factors bring the matrix to one size.
pub(crate) fn strong_parts(m: &Complex, structure: &Structure, balance: &[f64]) -> Vec<Vec<usize>> {
    let n = structure.channels();
    let entry = |i: usize, j: usize| m[(i, j)].norm() * (balance[i] / balance[j]);
    let largest =
        (0..n).flat_map(|i| (0..n).map(move |j| (i, j))).fold(0.0f64, |most, (i, j)| most.max(entry(i, j)));
    let reads: Vec<Vec<u32>> = (0..n)
        .map(|i| {
            let (from, count) = structure.group[i];
            let together = |j: usize| (from..from + count).contains(&j);
            let read = (0..n).filter(|j| together(*j) || entry(i, *j) > NO_COUPLING * largest);
            read.map(|j| j as u32).collect()
        })
        .collect();
    let parts = strong_components(n, |channel| reads[channel as usize].as_slice());
    parts.into_iter().map(|part| part.into_iter().map(|channel| channel as usize).collect()).collect()
}

/// Scalings of the whole that prove a bound which those of its parts prove: each part counts so little beside those
/// it reads that what it reads does not matter. Nothing where rounding does not allow it.
pub(crate) fn joined(m: &Complex, structure: &Structure, parts: &[Part], beta: f64) -> Option<Scaling> {
    let n = structure.channels();
    let weight = |channel: usize| if structure.grows[channel] { beta } else { 1.0 };
    for separation in SEPARATIONS {
        let mut factors = vec![1.0f64; n];
        for (place, part) in parts.iter().enumerate() {
            let mut factor = 1.0f64;
            for read in &parts[..place] {
                let mut squares = 0.0;
                for (a, i) in part.channels.iter().enumerate() {
                    for (b, j) in read.channels.iter().enumerate() {
                        let ratio = part.scaling.d[(a, a)].re / read.scaling.d[(b, b)].re;
                        squares += m[(*i, *j)].norm_sqr() * ratio / (weight(*j) * factors[*j]).powi(2);
                    }
                }
                factor = factor.min(separation / squares.sqrt());
            }
            part.channels.iter().for_each(|i| factors[*i] = factor);
        }
        let mut scaling = Scaling { d: Matrix::zeros(n, n), g: Matrix::zeros(n, n) };
        for part in parts {
            for (a, i) in part.channels.iter().enumerate() {
                for (b, j) in part.channels.iter().enumerate() {
                    let factor = factors[*i] * factors[*j];
                    scaling.d[(*i, *j)] = part.scaling.d[(a, b)] * factor;
                    scaling.g[(*i, *j)] = part.scaling.g[(a, b)] * factor;
                }
            }
        }
        if proves(m, structure, &scaling, beta) {
            return Some(scaling);
        }
    }
    None
}
