//! Poles with what rounding leaves open of them. A pole that is slow beside the fastest, or hardly damped, is lost in
//! the rounding of an eigenvalue iteration although the entries of the matrix determine it: such poles are found with
//! twice the digits, and whether the entries do determine them is seen by rounding these otherwise.

use faer::traits::fx128;
use num_complex::Complex64;
use paynter_base::random::Random;

use crate::matrix::Matrix;
use crate::system::Interconnection;
use crate::tolerance::{
    ENTRY_ROUNDING, ON_THE_AXIS, OPERATIONS_OF_TWICE, PROJECTED_ROUNDING, ROUNDED_OTHERWISE, STATES_OF_TWICE,
    TWICE_THE_DIGITS,
};

/// On which side of the imaginary axis a pole lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    /// It decays.
    Left,
    /// The entries put it on the axis, but for the last of twice the digits.
    On,
    /// It grows.
    Right,
    /// The rounding of the entries moves it from one side to the other.
    Undecided,
}

/// The poles of a model, each with how far rounding may have moved it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Poles {
    /// The poles.
    pub values: Vec<Complex64>,
    /// How far rounding moves the real part of each, and it as a whole.
    errors: Vec<[f64; 2]>,
    /// A real part up to this is none.
    floor: f64,
}

impl Interconnection {
    /// The poles with real parameters in their places, the other blocks left out; nothing where the equations have no
    /// solution.
    pub(crate) fn poles_at(&self, delta: &[f64]) -> Option<Poles> {
        let moved = self.around(delta, &[]).ok()?;
        // What A was added up from: rounding is a share of that, not of what is left.
        let sizes = || {
            let channels: Vec<usize> = (0..self.channels()).collect();
            let states: Vec<usize> = (0..self.states()).collect();
            let fed = self.values(delta).times(&moved.c.part(&channels, &states)).map(f64::abs);
            self.a.map(f64::abs).plus(&self.b.part(&states, &channels).map(f64::abs).times(&fed))
        };
        Poles::rounded(&moved.a, self.rounding(), sizes)
    }

    /// The poles of the nominal model.
    pub(crate) fn poles(&self) -> Poles {
        Poles::rounded(&self.a, self.rounding(), || self.a.map(f64::abs)).unwrap_or_default()
    }

    /// The poles of the nominal model with the digits that its entries have, where it is not asked how many these are.
    pub(crate) fn close_poles(&self) -> Vec<Complex64> {
        let found = self.a.eigenvalues().unwrap_or_default();
        if self.has_near_axis(&found) { close_eigenvalues(&self.a).unwrap_or(found) } else { found }
    }

    /// Whether some of its poles are so near the axis, beside the fastest, that they are found with more digits.
    fn has_near_axis(&self, poles: &[Complex64]) -> bool {
        let scale = poles.iter().fold(self.a.largest(), |most, z| most.max(z.norm()));
        poles.iter().any(|z| z.re.abs() <= ON_THE_AXIS * scale)
    }

    /// About how many operations it takes to find the poles with what rounding leaves open of them: where some of the
    /// nominal ones are near the axis, all searches work with more digits.
    pub(crate) fn decision_operations(&self) -> u64 {
        let nominal = self.a.eigenvalues().unwrap_or_default();
        let factor =
            if self.has_near_axis(&nominal) { OPERATIONS_OF_TWICE * (ROUNDED_OTHERWISE + 1) } else { 1 };
        factor * self.poles_operations()
    }

    /// How far any entry of A may be off.
    fn rounding(&self) -> f64 {
        if self.is_projected { PROJECTED_ROUNDING * self.a.largest() } else { 0.0 }
    }
}

impl Poles {
    /// The poles of a matrix whose entries are rounded by so much, and in the last places of what they were added up
    /// from.
    pub fn rounded(a: &Matrix, rounding: f64, sizes: impl Fn() -> Matrix) -> Option<Poles> {
        let even = balanced(a);
        let values = even.eigenvalues()?;
        let size = even.largest().max(rounding / ENTRY_ROUNDING);
        let scale = values.iter().fold(size, |most, z| most.max(z.norm()));
        let near = ON_THE_AXIS * scale;
        // Whatever is farther from the axis is where it is.
        if values.iter().all(|z| z.re.abs() > near) {
            // Sides are told apart at twice the error.
            let errors = vec![[0.5 * near; 2]; values.len()];
            return Some(Poles { values, errors, floor: 0.0 });
        }
        if a.rows() > STATES_OF_TWICE {
            // With the digits there are, poles so near the axis have no side.
            let errors = vec![[near; 2]; values.len()];
            return Some(Poles { values, errors, floor: 0.0 });
        }
        let values = close_eigenvalues(a)?;
        let floor = TWICE_THE_DIGITS * scale;
        let (sizes, mut errors) = (sizes(), vec![[floor; 2]; values.len()]);
        for sample in 0..ROUNDED_OTHERWISE {
            let mut random = Random::sample(1, sample);
            let mut rounded = |i: usize, j: usize| {
                a[(i, j)] + (ENTRY_ROUNDING * sizes[(i, j)] + rounding) * random.symmetric()
            };
            let moved = close_eigenvalues(&Matrix::from_fn(a.rows(), a.columns(), &mut rounded))?;
            for (value, error) in values.iter().zip(&mut errors) {
                let distance = |z: &Complex64| (z - value).norm();
                let nearest = moved.iter().min_by(|x, y| distance(x).total_cmp(&distance(y)));
                let Some(nearest) = nearest else { continue };
                *error = [error[0].max((nearest.re - value.re).abs()), error[1].max(distance(nearest))];
            }
        }
        Some(Poles { values, errors, floor })
    }

    /// On which side of the axis each of them lies.
    pub fn sides(&self) -> impl Iterator<Item = (Complex64, Side)> {
        self.values.iter().zip(&self.errors).map(|(value, [error, _])| {
            // Samples show the size of an error, not its end.
            let side = match value.re {
                re if re < -2.0 * error => Side::Left,
                re if re > 2.0 * error => Side::Right,
                _ if *error <= self.floor => Side::On,
                _ => Side::Undecided,
            };
            (*value, side)
        })
    }

    /// Poles of which only rounding is left.
    pub fn at_zero(&self) -> impl Iterator<Item = bool> {
        self.values.iter().zip(&self.errors).map(|(value, [_, error])| value.norm() <= 2.0 * error)
    }

    /// Whether all of them decay.
    pub fn are_stable(&self) -> bool {
        self.sides().all(|(_, side)| side == Side::Left)
    }

    /// The one that is farthest to the right, with its side.
    pub fn rightmost(&self) -> Option<(Complex64, Side)> {
        let order = |z: &Complex64, y: &Complex64| z.re.total_cmp(&y.re).then(z.im.total_cmp(&y.im));
        self.sides().max_by(|(x, _), (y, _)| order(x, y))
    }
}

/// A matrix with states of one size.
fn balanced(a: &Matrix) -> Matrix {
    let n = a.rows();
    let (b, c, d) = (Matrix::zeros(n, 0), Matrix::zeros(0, n), Matrix::zeros(0, 0));
    Interconnection { a: a.clone(), b, c, d, blocks: Vec::new(), is_projected: false }.balanced().a
}

/// The eigenvalues with twice the digits, of matrices of up to so many rows.
fn close_eigenvalues(a: &Matrix) -> Option<Vec<Complex64>> {
    let a = balanced(a);
    if a.rows() > STATES_OF_TWICE || a.entries().iter().any(|x| !x.is_finite()) {
        return None;
    }
    let scale = a.largest();
    if scale == 0.0 {
        return Some(vec![Complex64::ZERO; a.rows()]);
    }
    let values =
        faer::Mat::from_fn(a.rows(), a.rows(), |i, j| fx128::from_f64(a[(i, j)])).eigenvalues().ok()?;
    Some(values.into_iter().map(|z| Complex64::new(z.re.0, z.im.0)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Poles of models of any size are found, with more digits or without.
    #[test]
    fn matrices_of_any_size_have_poles() {
        for n in 1..=40 {
            let mut random = Random::sample(7, n as u64);
            // One pole lies so near the axis that more digits are asked for.
            let entry = |i: usize, j: usize| if i == 0 || j == 0 { 0.0 } else { random.symmetric() };
            let mut a = Matrix::from_fn(n, n, entry);
            a[(0, 0)] = -1e-13;
            let found = Poles::rounded(&a, 0.0, || a.map(f64::abs)).unwrap_or_default();
            assert_eq!(found.values.len(), n);
            let slow = found.sides().find(|(z, _)| z.norm() < 1e-9);
            let wanted = if n <= STATES_OF_TWICE { Side::Left } else { Side::Undecided };
            assert_eq!(slow.map(|(_, side)| side), Some(wanted), "{n}");
        }
    }
}
