//! How far along the frequency axis a proof holds: the scalings of one frequency prove the bound on the
//! interval around it on which a Hamiltonian matrix has no eigenvalue on the imaginary axis (Ferreres;
//! Roos and Biannic).

use num_complex::Complex64;
use paynter_base::CancellationToken;

use crate::basis::Structure;
use crate::matrix::Matrix;
use crate::system::Interconnection;
use crate::tolerance::{
    AXIS_OF_MAGNITUDE, AXIS_OF_MATRIX, BESIDE_AXIS, CALM, DECADES_OUTWARD, DRAWN_IN, FINITE_FREQUENCIES,
    PLACES_INSIDE,
};
use crate::upper::{Scaling, proves, slack};

/// The interval around a frequency on which scalings prove the bound; nothing where they do not prove it
/// at the frequency, or where that cannot be told. The model has no inputs and outputs left.
pub(crate) fn valid_interval(
    system: &Interconnection,
    structure: &Structure,
    scaling: &Scaling,
    beta: f64,
    omega: f64,
    token: &CancellationToken,
) -> Option<(f64, f64)> {
    token.spend(system.interval_operations());
    let proved = |omega: f64| system.at(omega).is_some_and(|m| proves(&m, structure, scaling, beta));
    if !proved(omega) {
        return None;
    }
    let Hamiltonian { eigenvalues, size } = hamiltonian(system, structure, scaling, beta)?;
    let near = |z: &&Complex64| z.re.abs() <= AXIS_OF_MAGNITUDE * z.norm() + AXIS_OF_MATRIX * size;
    // M(−jω) is the conjugate of M(jω), but the scalings are those of positive frequencies.
    let mut crossings: Vec<f64> =
        eigenvalues.iter().filter(near).map(|z| z.im).filter(|w| *w >= 0.0).collect();
    // Far below all poles the model hardly changes, and what looks like a crossing there is rounding.
    let calm = calm(system);
    if crossings.iter().any(|w| *w < calm) && proved(0.0) && proved(calm) {
        crossings.retain(|w| *w >= calm);
    }
    if crossings.contains(&omega) {
        return None;
    }
    let below = crossings.iter().copied().filter(|w| *w < omega).fold(0.0, f64::max);
    let above = crossings.iter().copied().filter(|w| *w > omega).fold(f64::INFINITY, f64::min);
    let low = if below == 0.0 { 0.0 } else { (below * (1.0 + DRAWN_IN)).min(omega) };
    let high = if above.is_infinite() { above } else { (above * (1.0 - DRAWN_IN)).max(omega) };
    // Points inside guard against eigenvalues that rounding has taken off the axis: at the place of each that is
    // not far from it, between them, and at the ends.
    let beside = |z: &&Complex64| z.re.abs() <= BESIDE_AXIS * z.norm();
    let places = eigenvalues.iter().filter(beside).flat_map(|z| [z.im, z.norm()]);
    let mut inside: Vec<f64> = places.filter(|w| low < *w && *w < high).chain([low, high]).collect();
    inside.extend(PLACES_INSIDE.map(|share| within((low, high), omega, share)));
    inside.sort_by(f64::total_cmp);
    inside.dedup();
    let between: Vec<f64> = inside.windows(2).map(|pair| within((pair[0], pair[1]), omega, 0.5)).collect();
    inside.extend(between);
    inside.sort_by(f64::total_cmp);
    let at = inside.partition_point(|w| *w < omega);
    let down = inside[..at].iter().rev().take_while(|w| proved(**w)).last();
    let up = inside[at..].iter().take_while(|w| proved(**w)).last();
    let (low, high) = (down.copied().unwrap_or(omega), up.copied().unwrap_or(omega));
    (low < high).then_some((low, high))
}

/// A frequency in an interval: at a share of its way, by ratios.
fn within((low, high): (f64, f64), omega: f64, share: f64) -> f64 {
    match (low, high) {
        (0.0, high) if high.is_infinite() => {
            let middle = omega.clamp(FINITE_FREQUENCIES[0], FINITE_FREQUENCIES[1]);
            middle * 10f64.powf((2.0 * share - 1.0) * DECADES_OUTWARD)
        }
        (low, high) if high.is_infinite() => low * 10f64.powf(share * DECADES_OUTWARD),
        (0.0, high) => high * share,
        (low, high) => low * (high / low).powf(share),
    }
}

/// A frequency below which the model hardly changes: a small share of its slowest pole.
fn calm(system: &Interconnection) -> f64 {
    let poles = system.close_poles();
    let slowest = poles.iter().map(|z| z.norm()).fold(f64::INFINITY, f64::min);
    if slowest.is_finite() { CALM * slowest } else { 0.0 }
}

/// The eigenvalues of a Hamiltonian matrix, and its largest entry.
struct Hamiltonian {
    eigenvalues: Vec<Complex64>,
    size: f64,
}

/// Its imaginary eigenvalues are the frequencies at which M*DM + j(GM − M*G) − β²D is singular.
fn hamiltonian(
    system: &Interconnection,
    structure: &Structure,
    scaling: &Scaling,
    beta: f64,
) -> Option<Hamiltonian> {
    let (n, m) = (system.states(), system.channels());
    // Channels in the measure of D, which may differ by many powers of ten.
    let units: Vec<f64> = (0..m).map(|i| scaling.d[(i, i)].re.sqrt()).collect();
    let scaled =
        |matrix: &Matrix<Complex64>| Matrix::from_fn(m, m, |i, j| matrix[(i, j)] / (units[i] * units[j]));
    let (own_d, own_g) = (scaled(&scaling.d), scaled(&scaling.g));
    let b = Matrix::from_fn(n, m, |i, j| Complex64::from(system.b[(i, j)] / units[j]));
    let c = Matrix::from_fn(m, n, |i, j| Complex64::from(system.c[(i, j)] * units[i]));
    let direct = Matrix::from_fn(m, m, |i, j| Complex64::from(system.d[(i, j)] * units[i] / units[j]));
    let r = slack(&direct, structure, &own_d, &own_g, beta * beta).map(|x| -x);
    let j = Complex64::I;
    let s = c.adjoint().times(&own_d.times(&direct).minus(&own_g.map(|x| x * j)));
    let q = c.adjoint().times(&own_d.times(&c));
    let solved = r.solve(&hstack(&s.adjoint(), &b.adjoint()))?;
    let left: Vec<usize> = (0..n).collect();
    let right: Vec<usize> = (n..2 * n).collect();
    let channels: Vec<usize> = (0..m).collect();
    let (to_s, to_b) = (solved.part(&channels, &left), solved.part(&channels, &right));
    let a = system.a.complex();
    let upper_left = a.minus(&b.times(&to_s));
    let upper_right = b.times(&to_b).map(|x| -x);
    let lower_left = s.times(&to_s).minus(&q);
    let lower_right = s.times(&to_b).minus(&a.adjoint());
    // One factor between both halves brings the blocks beside the diagonal to one size.
    let (high, low) = (upper_right.largest(), lower_left.largest());
    let factor = if high > 0.0 && low > 0.0 { (low / high).sqrt() } else { 1.0 };
    let hamiltonian = Matrix::from_fn(2 * n, 2 * n, |i, k| match (i < n, k < n) {
        (true, true) => upper_left[(i, k)],
        (true, false) => upper_right[(i, k - n)] * factor,
        (false, true) => lower_left[(i - n, k)] / factor,
        (false, false) => lower_right[(i - n, k - n)],
    });
    Some(Hamiltonian { size: hamiltonian.largest(), eigenvalues: hamiltonian.eigenvalues()? })
}

fn hstack(left: &Matrix<Complex64>, right: &Matrix<Complex64>) -> Matrix<Complex64> {
    let n = left.columns();
    Matrix::from_fn(
        left.rows(),
        n + right.columns(),
        |i, j| {
            if j < n { left[(i, j)] } else { right[(i, j - n)] }
        },
    )
}
