//! How far along the frequency axis a proof holds: the scalings of one frequency prove the bound on the
//! interval around it on which a Hamiltonian matrix has no eigenvalue on the imaginary axis (Ferreres;
//! Roos and Biannic).

use num_complex::Complex64;

use crate::basis::Structure;
use crate::matrix::Matrix;
use crate::system::Interconnection;
use crate::tolerance::{AXIS_OF_MAGNITUDE, AXIS_OF_MATRIX, DRAWN_IN};
use crate::upper::{Scaling, proves, slack};

/// The interval around a frequency on which scalings prove the bound; nothing where they do not prove it
/// at the frequency, or where that cannot be told. The model has no inputs and outputs left.
pub(crate) fn valid_interval(
    system: &Interconnection,
    structure: &Structure,
    scaling: &Scaling,
    beta: f64,
    omega: f64,
) -> Option<(f64, f64)> {
    let proved = |omega: f64| system.at(omega).is_some_and(|m| proves(&m, structure, scaling, beta));
    if !proved(omega) {
        return None;
    }
    let crossings = crossings(system, structure, scaling, beta)?;
    let below = crossings.iter().copied().filter(|w| *w < omega).fold(0.0, f64::max);
    let above = crossings.iter().copied().filter(|w| *w > omega).fold(f64::INFINITY, f64::min);
    if crossings.contains(&omega) {
        return None;
    }
    let low = if below == 0.0 { 0.0 } else { (below * (1.0 + DRAWN_IN)).min(omega) };
    let high = if above.is_infinite() { above } else { (above * (1.0 - DRAWN_IN)).max(omega) };
    // Points inside guard against eigenvalues that rounding has taken off the axis.
    let inside = |share: f64| match (low, high) {
        (0.0, high) if high.is_infinite() => omega.clamp(1e-300, 1e300) * 10f64.powf(share * 8.0 - 4.0),
        (low, high) if high.is_infinite() => low * 10f64.powf(share * 4.0),
        (0.0, high) => high * share,
        (low, high) => low * (high / low).powf(share),
    };
    let holds = (low > 0.0 || proved(0.0)) && (high.is_finite() || proved(f64::INFINITY));
    (holds && [0.02, 0.35, 0.65, 0.98].into_iter().all(|share| proved(inside(share)))).then_some((low, high))
}

/// The frequencies at which M*DM + j(GM − M*G) − β²D is singular.
fn crossings(
    system: &Interconnection,
    structure: &Structure,
    scaling: &Scaling,
    beta: f64,
) -> Option<Vec<f64>> {
    let n = system.states();
    let (b, c, direct) = (system.b.complex(), system.c.complex(), system.d.complex());
    let r = slack(&direct, structure, &scaling.d, &scaling.g, beta * beta).map(|x| -x);
    let j = Complex64::I;
    let s = c.adjoint().times(&scaling.d.times(&direct).minus(&scaling.g.map(|x| x * j)));
    let q = c.adjoint().times(&scaling.d.times(&c));
    let solved = r.solve(&hstack(&s.adjoint(), &b.adjoint()))?;
    let m = system.channels();
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
    let size = hamiltonian.largest();
    let values = hamiltonian.eigenvalues()?;
    let near = |z: &&Complex64| z.re.abs() <= AXIS_OF_MAGNITUDE * z.norm() + AXIS_OF_MATRIX * size;
    // M(−jω) is the conjugate of M(jω), but the scalings are those of positive frequencies.
    Some(values.iter().filter(near).map(|z| z.im).filter(|w| *w >= 0.0).collect())
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
