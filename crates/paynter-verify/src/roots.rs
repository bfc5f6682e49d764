//! Derivatives of simple poles and zeros by parameters, of equations whose entries do not change with the point: the
//! left and right vectors of the singular system at a pole, u and v, give dλ = −u·∂M·v/(u·M₁·v), and a zero moves with
//! dz = −∂H/∂p/(∂H/∂s).

use crate::factors::Condensed;
use crate::pencil::{Mixed, Pencil};
use crate::tolerance::{
    DERIVATIVE_FLOOR, DERIVATIVE_ROUNDING, ENTRY_CHANGE, ROOT_DERIVATIVE, ROUNDING_CHANGES,
};
use num_complex::Complex64;
use paynter_algebra::Pool;
use paynter_base::random::Random;

/// How often the vectors of a pole are sought beside it: each time leaves of the other modes the part that the pole's
/// rounding is of their distance.
const INVERSE_ITERATIONS: usize = 2;

/// What the equations give for each parameter, with the size that it could have.
type Derivatives = Vec<(Complex64, f64)>;

/// The derivatives of a root by parameters, those that are known.
pub type RootDerivatives = Vec<Option<Complex64>>;

/// A pole, or a zero with the places of its output and input in the graph.
#[derive(Debug, Clone, Copy)]
pub struct Root {
    /// Where it lies.
    pub value: Complex64,
    /// Whose zero it is; none for a pole.
    pub entry: Option<(usize, usize)>,
}

impl Pencil<'_> {
    /// The derivatives of simple poles and zeros by parameters, given by place in the graph: none that entries changed by
    /// rounding decide. Nothing of a root at which the equations cannot be solved beside it, as of a zero that is a pole
    /// as well, nor where entries change with the point.
    pub fn root_derivatives(
        &self,
        pool: &mut Pool,
        roots: &[Root],
        parameters: &[usize],
    ) -> Option<Vec<Option<RootDerivatives>>> {
        if !self.is_linear() {
            return None;
        }
        let (own, changed) = (self.condensed(None), self.condensed(Some((1, ENTRY_CHANGE))));
        let mut derive = |matrix: &Condensed, root: &Root| match root.entry {
            None => self.pole_derivatives(pool, matrix, root.value, parameters),
            Some(entry) => self.zero_derivatives(pool, matrix, root.value, entry, parameters),
        };
        let known = |((value, size), (other, _)): (&(Complex64, f64), &(Complex64, f64))| {
            let apart = (value - other).norm();
            if !(value.is_finite() && apart.is_finite()) {
                return None;
            }
            if value.norm() > 0.0 && apart <= ROOT_DERIVATIVE * value.norm() {
                return Some(*value);
            }
            let cancels = value.norm() <= ROUNDING_CHANGES * apart && value.norm() <= DERIVATIVE_FLOOR * size;
            let is_rounding = value.norm().max(other.norm()) <= DERIVATIVE_ROUNDING * size;
            (cancels || is_rounding).then_some(Complex64::ZERO)
        };
        let of = |root: &Root| {
            let (found, changed) = (derive(&own, root)?, derive(&changed, root)?);
            Some(found.iter().zip(&changed).map(known).collect())
        };
        Some(roots.iter().map(of).collect())
    }

    fn pole_derivatives(
        &self,
        pool: &mut Pool,
        matrix: &Condensed,
        pole: Complex64,
        parameters: &[usize],
    ) -> Option<Derivatives> {
        // Exactly at a pole nothing can be solved; a step of rounding away it can.
        let factors = matrix.at(pole).or_else(|| matrix.at(pole * (1.0 + f64::EPSILON)))?;
        let vector = |seed: u64, solve: &dyn Fn(&[Complex64]) -> Vec<Complex64>, rates: &[(usize, usize)]| {
            let mut random = Random::new(seed);
            let mut vector: Vec<Complex64> =
                (0..self.system.width).map(|_| Complex64::from(0.5 + random.unit())).collect();
            for k in 0..INVERSE_ITERATIONS {
                if k > 0 {
                    let mut side = vec![Complex64::ZERO; vector.len()];
                    rates.iter().for_each(|(to, from)| side[*to] += vector[*from]);
                    vector = side;
                }
                vector = solve(&vector);
                let size = largest(&vector);
                vector.iter_mut().for_each(|x| *x /= size);
            }
            vector
        };
        let rates: Vec<(usize, usize)> = self.rates().collect();
        let transposed: Vec<(usize, usize)> = rates.iter().map(|(i, state)| (*state, *i)).collect();
        let v = vector(11, &|side| factors.solve(side), &rates);
        let u = vector(12, &|side| factors.solve_transposed(side), &transposed);
        let below: Complex64 = rates.iter().map(|(i, state)| u[*i] * v[*state]).sum();
        let by = |parameter: &usize| {
            let moved = self.moved(pool, *parameter);
            let terms = moved.rows.iter().flat_map(|(row, mixed)| terms(mixed, &v, None, u[*row]));
            quotient(terms, largest(&v), below)
        };
        Some(parameters.iter().map(by).collect())
    }

    fn zero_derivatives(
        &self,
        pool: &mut Pool,
        matrix: &Condensed,
        zero: Complex64,
        (output, input): (usize, usize),
        parameters: &[usize],
    ) -> Option<Derivatives> {
        let factors = matrix.at(zero)?;
        let z = factors.solve(&self.driven_by(input));
        let mut read = vec![Complex64::ZERO; self.system.width];
        self.outputs[output][0].iter().for_each(|(at, c)| read[*at] += Complex64::from(*c));
        let w = factors.solve_transposed(&read);
        let below: Complex64 = self.rates().map(|(i, state)| w[i] * z[state]).sum();
        let by = |parameter: &usize| {
            let moved = self.moved(pool, *parameter);
            let inner = moved.rows.iter().flat_map(|(row, mixed)| terms(mixed, &z, Some(input), w[*row]));
            let own = terms(&moved.outputs[output], &z, Some(input), Complex64::ONE);
            quotient(inner.chain(own), largest(&z), below)
        };
        Some(parameters.iter().map(by).collect())
    }
}

/// The size of the largest variable.
fn largest(z: &[Complex64]) -> f64 {
    z.iter().fold(0.0f64, |most, z| most.max(z.norm()))
}

/// The terms of what small changes and a unit of an input make of a sum, times a factor: the factor of each, and what
/// it stands before.
fn terms<'a>(
    [variables, through]: &'a Mixed,
    z: &'a [Complex64],
    unit: Option<usize>,
    factor: Complex64,
) -> impl Iterator<Item = (Complex64, Complex64)> + 'a {
    let own = variables.iter().map(move |(at, c)| (factor * *c, z[*at]));
    let through = through.iter().filter(move |(k, _)| Some(*k) == unit);
    own.chain(through.map(move |(_, c)| (factor * *c, Complex64::ONE)))
}

/// A sum over a divisor, with the size it could have if all variables were as large as the largest: what vanishes by
/// symmetry leaves the rounding of that.
fn quotient(
    terms: impl Iterator<Item = (Complex64, Complex64)>,
    largest: f64,
    below: Complex64,
) -> (Complex64, f64) {
    let (sum, size) = terms.fold((Complex64::ZERO, 0.0), |(sum, size), (factor, value)| {
        (sum + factor * value, size + factor.norm() * largest)
    });
    (sum / below, size / below.norm())
}
