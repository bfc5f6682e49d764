//! Upper bounds of the structured singular value by scalings D and G (Fan, Tits and Doyle 1991):
//! μ(M) ≤ β where M*DM + j(GM − M*G) − β²D is negative definite.
//!
//! The least β is sought by the method of centres (`centre.rs`). Every bound on the way is one, whatever rounding
//! does to the centre, because the definiteness is checked by a Cholesky factorisation.

use num_complex::Complex64;
use paynter_base::CancellationToken;

use crate::basis::Element;
pub use crate::basis::Structure;
use crate::centre::Centre;
use crate::matrix::Matrix;
use crate::parts::{Part, joined, strong_parts};
use crate::tolerance::{BALANCED, BALANCING_SWEEPS, WARM_STARTS};

type Complex = Matrix<Complex64>;

/// The matrices of a bound.
#[derive(Debug, Clone, PartialEq)]
pub struct Scaling {
    /// Positive definite, commutes with Δ.
    pub d: Complex,
    /// Hermitian, beside real blocks.
    pub g: Complex,
}

/// An upper bound with its proof.
#[derive(Debug, Clone, PartialEq)]
pub struct Upper {
    /// The bound.
    pub beta: f64,
    /// What proves it.
    pub scaling: Scaling,
}

/// How far a bound is to be brought down.
#[derive(Debug, Clone, Copy)]
pub enum Goal {
    /// To the best that scalings can prove, but for this relative distance.
    Best(f64),
    /// Below this number, and then the centre of what proves that number; to the best but for the
    /// relative distance where that is not possible.
    Below(f64, f64),
}

/// Finds an upper bound. A scaling found for a neighbouring matrix is a good start. Where some blocks do
/// not grow there is none if they alone are too large.
///
/// Channels that act on others without being acted upon by them have no part in each other's bound: the
/// scalings of each part, far enough apart, prove the largest bound of a part for the whole.
///
/// Where the work is cancelled the bound is a worse one.
pub fn upper(
    m: &Complex,
    structure: &Structure,
    start: Option<&Upper>,
    goal: Goal,
    token: &CancellationToken,
) -> Option<Upper> {
    if m.entries().iter().any(|x| !x.is_finite()) {
        return None;
    }
    if structure.channels() == 0 {
        return Some(Upper {
            beta: 0.0,
            scaling: Scaling { d: Matrix::zeros(0, 0), g: Matrix::zeros(0, 0) },
        });
    }
    let balance = balancing(m, structure);
    let parts = strong_parts(m, structure, &balance);
    if parts.len() == 1 {
        return connected(m, structure, &balance, start, goal, token);
    }
    let (tolerance, end) = match goal {
        Goal::Best(tolerance) => (tolerance, None),
        Goal::Below(beta, tolerance) => (tolerance, Some(beta)),
    };
    let mut beta = 0.0f64;
    let mut found = Vec::with_capacity(parts.len());
    for channels in parts {
        let mut own = structure.restricted(&channels);
        let grows = own.grows.contains(&true);
        if !grows {
            own.grows.fill(true);
        }
        let matrix = m.part(&channels, &channels);
        let part = |scaling: &Complex| scaling.part(&channels, &channels);
        let start = start.map(|start| Upper {
            beta: start.beta,
            scaling: Scaling { d: part(&start.scaling.d), g: part(&start.scaling.g) },
        });
        // Parts only have to stay below the largest of them.
        let below = end.unwrap_or(beta) * (1.0 - tolerance);
        let goal = match (grows, below > 0.0) {
            (false, _) => Goal::Below(1.0 - tolerance, tolerance),
            (true, true) => Goal::Below(below, tolerance),
            (true, false) => Goal::Best(tolerance),
        };
        let factors = balancing(&matrix, &own);
        let one = connected(&matrix, &own, &factors, start.as_ref(), goal, token)?;
        if grows {
            beta = beta.max(one.beta);
        } else if one.beta >= 1.0 {
            return None;
        }
        found.push(Part { channels, scaling: one.scaling });
    }
    let level = end.filter(|end| beta < *end).unwrap_or(beta * (1.0 + tolerance));
    let whole = joined(m, structure, &found, level);
    whole.map_or_else(
        || connected(m, structure, &balance, start, goal, token),
        |scaling| Some(Upper { beta: level, scaling }),
    )
}

/// The bound of channels that all act on one another.
fn connected(
    m: &Complex,
    structure: &Structure,
    balance: &[f64],
    start: Option<&Upper>,
    goal: Goal,
    token: &CancellationToken,
) -> Option<Upper> {
    let n = structure.channels();
    let balanced = Matrix::from_fn(n, n, |i, j| m[(i, j)] * (balance[i] / balance[j]));
    let size = balanced.entries().iter().map(Complex64::norm_sqr).sum::<f64>();
    let mut centre = Centre::new(structure, balanced);
    let warm = start.is_some_and(|start| {
        let scaled = |matrix: &Complex, i: usize, j: usize| matrix[(i, j)] / (balance[i] * balance[j]);
        centre.d = Matrix::from_fn(n, n, |i, j| scaled(&start.scaling.d, i, j));
        centre.g = Matrix::from_fn(n, n, |i, j| scaled(&start.scaling.g, i, j));
        centre.normalise();
        WARM_STARTS.iter().any(|factor| centre.admit(factor * start.beta * start.beta))
    });
    let started = warm || centre.start(size, token);
    if !started {
        return None;
    }
    centre.descend(size, goal, token);
    let back = |matrix: &Complex| Matrix::from_fn(n, n, |i, j| matrix[(i, j)] * (balance[i] * balance[j]));
    Some(Upper { beta: centre.t.sqrt(), scaling: Scaling { d: back(&centre.d), g: back(&centre.g) } })
}

/// Whether a scaling proves a bound for a matrix.
pub fn proves(m: &Complex, structure: &Structure, scaling: &Scaling, beta: f64) -> bool {
    let square = beta * beta;
    slack(m, structure, &scaling.d, &scaling.g, square).cholesky().is_some() && scaling.d.cholesky().is_some()
}

/// tD − M*DM − j(GM − M*G), with one in place of t where blocks do not grow.
pub(crate) fn slack(m: &Complex, structure: &Structure, d: &Complex, g: &Complex, t: f64) -> Complex {
    slack_of(m, &m.adjoint(), structure, d, g, t)
}

/// The same with M* at hand.
pub(crate) fn slack_of(
    m: &Complex,
    adjoint: &Complex,
    structure: &Structure,
    d: &Complex,
    g: &Complex,
    t: f64,
) -> Complex {
    let n = structure.channels();
    let mdm = adjoint.hermitian_times(&d.times(m));
    let gm = g.times(m);
    let j = Complex64::I;
    Matrix::from_fn(n, n, |a, b| {
        let weight = if structure.grows[a] { t } else { 1.0 };
        d[(a, b)] * weight - mdm[(a, b)] - j * (gm[(a, b)] - gm[(b, a)].conj())
    })
}

/// Factors by channel that bring rows and columns to one size (Osborne).
fn balancing(m: &Complex, structure: &Structure) -> Vec<f64> {
    let n = structure.channels();
    let squares = m.map(|x| x.norm_sqr());
    let mut factors = vec![1.0f64; n];
    for _ in 0..BALANCING_SWEEPS {
        let (mut first, mut done) = (0, true);
        while first < n {
            let (from, count) = structure.group[first];
            let inside = from..from + count;
            let (mut row, mut column) = (0.0, 0.0);
            for i in inside.clone() {
                for k in (0..n).filter(|k| !inside.contains(k)) {
                    let ratio = factors[i] / factors[k];
                    row += squares[(i, k)] * ratio * ratio;
                    column += squares[(k, i)] / (ratio * ratio);
                }
            }
            let factor = (column / row).sqrt().sqrt();
            if factor.is_finite() && factor > 0.0 {
                inside.for_each(|i| factors[i] *= factor);
                done &= factor.ln().abs() <= BALANCED;
            }
            first += count;
        }
        if done {
            break;
        }
    }
    factors
}

impl Structure {
    /// The structure of some channels; a full block is in it as a whole or not at all.
    pub(crate) fn restricted(&self, channels: &[usize]) -> Structure {
        let place = |channel: usize| channels.iter().position(|kept| *kept == channel);
        let basis = self.basis.iter().filter_map(|element| {
            let entries: Option<Vec<_>> =
                element.entries.iter().map(|(i, j, value)| Some((place(*i)?, place(*j)?, *value))).collect();
            Some(Element { skew: element.skew, entries: entries? })
        });
        let group = channels.iter().filter_map(|c| Some((place(self.group[*c].0)?, self.group[*c].1)));
        let grows = channels.iter().map(|channel| self.grows[*channel]).collect();
        Structure { basis: basis.collect(), grows, group: group.collect() }
    }
}
