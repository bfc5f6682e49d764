//! Derivatives of poles, zeros and static gains by parameters.
//!
//! The sum of the roots of det P(s, p) inside a closed curve has the
//! derivative −1/(2πj) ∮ tr(P⁻¹ ∂P/∂p) ds. On a circle round one root this is
//! the formula with left and right eigenvectors; round a repeated one, which
//! has no derivative itself, it is that of the cluster, whose mean has one.
//! The trapezoidal rule on a circle converges geometrically.

pub use crate::tolerance::DIFFERENTIATED_STATES;
use faer::Mat;
use num_complex::Complex64;
use paynter_base::{CancellationToken, Cancelled};

use crate::linalg::dense::inverse;
use crate::linalg::elimination::{Elimination, Rows, transposed};
use crate::linalg::{Matrices, Sparse};
use crate::parallel;
use crate::tolerance::{
    AGREEING_DERIVATIVE, BESIDE_POLE, CANCELLED_GAIN, CONSERVED_SUM, CONTOUR_POINTS, CONTOUR_RADIUS,
    CONTOUR_ROUNDING, NEGLIGIBLE_PIVOT, SINGULAR_CONDITION, SMALLEST_CONTOUR, STATE_SCALING_SWEEPS,
};

/// A root with the derivatives of its value, or of the mean of its cluster.
#[derive(Debug, Clone, PartialEq)]
pub struct Mode {
    /// The root.
    pub value: Complex64,
    /// Its multiplicity.
    pub multiplicity: usize,
    /// By parameter; not a number where the root cannot be told from others.
    pub derivatives: Vec<Complex64>,
}

impl Mode {
    /// Takes the derivatives that the graph's own equations give where those found differ from them, and withholds
    /// what those do not know. Says by how much those that are kept differ.
    pub(crate) fn reconcile(&mut self, own: &[Option<Complex64>]) -> f64 {
        let mut most = 0.0f64;
        for (derivative, own) in self.derivatives.iter_mut().zip(own) {
            match own {
                Some(own) if own == derivative => {}
                Some(own) if (own - *derivative).norm() <= AGREEING_DERIVATIVE * own.norm() => {
                    most = most.max((own - *derivative).norm() / own.norm());
                }
                Some(own) if self.value.im == 0.0 => *derivative = Complex64::from(own.re),
                Some(own) => *derivative = *own,
                None => *derivative = Complex64::new(f64::NAN, f64::NAN),
            }
        }
        most
    }

    /// The places of parameters of which the graph's own equations tell another derivative, or none.
    pub(crate) fn contested(&self, own: &[Option<Complex64>]) -> Vec<usize> {
        let differs = |(found, own): (&Complex64, &Option<Complex64>)| {
            own.is_none_or(|own| (own - *found).norm() > AGREEING_DERIVATIVE * own.norm())
        };
        let pairs = self.derivatives.iter().zip(own).enumerate();
        pairs.filter(|(_, pair)| differs(*pair)).map(|(k, _)| k).collect()
    }

    /// Takes a derivative that exact polynomials tell.
    pub(crate) fn settle(&mut self, k: usize, exact: Option<Complex64>) {
        if let Some(exact) = exact {
            self.derivatives[k] = if self.value.im == 0.0 { Complex64::from(exact.re) } else { exact };
        }
    }

    /// Withholds the derivatives but those that are zero.
    pub(crate) fn withhold(&mut self) {
        let nonzero = self.derivatives.iter_mut().filter(|derivative| **derivative != Complex64::ZERO);
        nonzero.for_each(|derivative| *derivative = Complex64::new(f64::NAN, f64::NAN));
    }

    /// Whether a derivative is not known.
    pub(crate) fn is_withheld(&self) -> bool {
        self.derivatives.iter().any(|derivative| !derivative.is_finite())
    }
}

/// Groups equal roots.
pub fn clusters(roots: &[Complex64]) -> Vec<(Complex64, usize)> {
    let mut groups: Vec<(Complex64, usize)> = Vec::new();
    for root in roots {
        match groups.iter_mut().find(|(known, _)| known == root) {
            Some((_, count)) => *count += 1,
            None => groups.push((*root, 1)),
        }
    }
    groups
}

/// Derivatives of the poles; `derivatives` are those of the matrices by each parameter.
pub fn poles(
    matrices: &Matrices,
    derivatives: &[Matrices],
    roots: &[(Complex64, usize)],
    token: &CancellationToken,
) -> Result<Vec<Mode>, Cancelled> {
    let others: Vec<Complex64> = roots.iter().map(|(root, _)| *root).collect();
    let bare = |m: &Matrices| Matrices {
        a: m.a.clone(),
        b: vec![Sparse::new(m.a.rows, 0)],
        c: Sparse::new(0, m.a.rows),
        d: vec![Sparse::new(0, 0)],
    };
    let list: Vec<Matrices> = derivatives.iter().map(bare).collect();
    modes(&bare(matrices), &list, roots, &others, token)
}

/// Derivatives of the zeros of one transfer function; `others` are further
/// places where the system matrix may be singular: modes that cancel.
pub fn zeros(
    matrices: &Matrices,
    derivatives: &[Matrices],
    (output, input): (usize, usize),
    roots: &[(Complex64, usize)],
    others: &[Complex64],
    token: &CancellationToken,
) -> Result<Vec<Mode>, Cancelled> {
    let one = |m: &Matrices| m.select(&[output], &[input]);
    let list: Vec<Matrices> = derivatives.iter().map(one).collect();
    let mut all: Vec<Complex64> = roots.iter().map(|(root, _)| *root).collect();
    all.extend_from_slice(others);
    modes(&one(matrices), &list, roots, &all, token)
}

fn modes(
    matrices: &Matrices,
    derivatives: &[Matrices],
    roots: &[(Complex64, usize)],
    others: &[Complex64],
    token: &CancellationToken,
) -> Result<Vec<Mode>, Cancelled> {
    let all: Vec<Mode> = parallel::map(roots.len(), |place| {
        let (value, multiplicity) = roots[place];
        let nothing = Complex64::new(f64::NAN, f64::NAN);
        let found = match token.check() {
            Ok(()) if value.im >= 0.0 => around(matrices, derivatives, value, others)
                .map(|sums| sums.iter().map(|sum| sum / multiplicity as f64).collect()),
            _ => None,
        };
        let found = found.unwrap_or_else(|| vec![nothing; derivatives.len()]);
        Mode { value, multiplicity, derivatives: found }
    });
    token.check()?;
    // Conjugate roots have conjugate derivatives.
    let mirrored = all.iter().map(|mode| {
        let twin = all.iter().find(|twin| mode.value.im < 0.0 && twin.value == mode.value.conj());
        match twin {
            Some(twin) => {
                Mode { derivatives: twin.derivatives.iter().map(Complex64::conj).collect(), ..mode.clone() }
            }
            None => mode.clone(),
        }
    });
    Ok(mirrored.collect())
}

/// The derivative of the sum of the roots near one, by parameter.
fn around(
    matrices: &Matrices,
    derivatives: &[Matrices],
    root: Complex64,
    others: &[Complex64],
) -> Option<Vec<Complex64>> {
    let distance = others
        .iter()
        .map(|other| (other - root).norm())
        .filter(|distance| *distance > 0.0)
        .fold(f64::INFINITY, f64::min);
    // A wide circle round a small root loses its digits: all other roots stand in the integrand.
    let alone = if root.norm() > 0.0 { root.norm() } else { f64::INFINITY };
    let nearest = distance.min(alone);
    let radius = CONTOUR_RADIUS * if nearest.is_finite() { nearest } else { 1.0 };
    if radius < SMALLEST_CONTOUR * root.norm() {
        return None;
    }
    let mut sums = vec![Complex64::new(0.0, 0.0); derivatives.len()];
    let mut sizes = vec![0.0; derivatives.len()];
    for k in 0..CONTOUR_POINTS {
        let angle = std::f64::consts::TAU * (k as f64 + 0.5) / CONTOUR_POINTS as f64;
        let step = Complex64::from_polar(radius, angle);
        let s = root + step;
        let inverse = inverse(&system(matrices, s, true))?;
        for ((sum, size), derivative) in sums.iter_mut().zip(&mut sizes).zip(derivatives) {
            // ds/(2πj) = step/CONTOUR_POINTS
            let term = trace(&inverse, derivative, s) * step / CONTOUR_POINTS as f64;
            *sum -= term;
            *size += term.norm();
        }
    }
    // What is left of terms that cancel is rounding: a zero fixed at the origin does not move.
    for (sum, size) in sums.iter_mut().zip(&sizes) {
        let kept = |x: f64| if x.abs() > CONTOUR_ROUNDING * size { x } else { 0.0 };
        *sum = Complex64::new(kept(sum.re), kept(sum.im));
    }
    if root.im == 0.0 {
        // A real root, or the mean of a real cluster, stays real.
        sums.iter_mut().for_each(|sum| sum.im = 0.0);
    }
    sums.iter().all(|sum| sum.is_finite()).then_some(sums)
}

/// The system matrix [[sI − A, −B], [C, D]] at one s.
pub(super) fn system(matrices: &Matrices, s: Complex64, dynamic: bool) -> Vec<Vec<Complex64>> {
    let n = matrices.a.rows;
    let size = n + matrices.c.rows;
    let mut rows = vec![vec![Complex64::new(0.0, 0.0); size]; size];
    entries(matrices, s, |i, j, value| rows[i][j] += value);
    if dynamic {
        (0..n).for_each(|i| rows[i][i] += s);
    }
    rows
}

/// tr(P⁻¹ ∂P/∂p) by the entries of ∂P/∂p.
fn trace(inverse: &Mat<Complex64>, derivative: &Matrices, s: Complex64) -> Complex64 {
    let mut sum = Complex64::new(0.0, 0.0);
    entries(derivative, s, |i, j, value| sum += inverse[(j, i)] * value);
    sum
}

/// The entries of [[−A, −B(s)], [C, D(s)]].
fn entries(matrices: &Matrices, s: Complex64, mut visit: impl FnMut(usize, usize, Complex64)) {
    let n = matrices.a.rows;
    for (i, j, value) in &matrices.a.entries {
        visit(*i, *j, Complex64::new(-value, 0.0));
    }
    for (i, j, value) in &matrices.c.entries {
        visit(n + i, *j, Complex64::new(*value, 0.0));
    }
    for (order, matrix) in matrices.b.iter().enumerate() {
        let power = s.powu(order as u32);
        for (i, j, value) in &matrix.entries {
            visit(*i, n + j, -power * value);
        }
    }
    for (order, matrix) in matrices.d.iter().enumerate() {
        let power = s.powu(order as u32);
        for (i, j, value) in &matrix.entries {
            visit(n + i, n + j, power * value);
        }
    }
}

/// Finds the state that takes part most in what goes on by itself at a frequency, where a pole lies:
/// the largest on the diagonal of the resolvent beside it.
pub fn participating_state(matrices: &Matrices, omega: f64) -> Option<usize> {
    let n = matrices.a.rows;
    if n > DIFFERENTIATED_STATES {
        return None;
    }
    let beside = Complex64::new(0.0, if omega == 0.0 { BESIDE_POLE } else { omega * (1.0 + BESIDE_POLE) });
    let states = Matrices { a: matrices.a.clone(), b: Vec::new(), c: Sparse::new(0, n), d: Vec::new() };
    let solved = inverse(&system(&states, beside, true))?;
    (0..n).max_by(|&i, &j| solved[(i, i)].norm().total_cmp(&solved[(j, j)].norm()).then(j.cmp(&i)))
}

/// A static gain H(0) with its derivatives.
#[derive(Debug, Clone, PartialEq)]
pub struct Gain {
    /// Place among the outputs.
    pub output: usize,
    /// Place among the inputs.
    pub input: usize,
    /// H(0).
    pub value: f64,
    /// By parameter.
    pub derivatives: Vec<f64>,
    /// Whether it holds within amounts that are conserved.
    pub is_within_conserved: bool,
}

/// The inverse of −A; none where a pole lies at zero. States may have any sizes: rows and columns are brought to one
/// size first, by powers of two.
fn static_inverse(a: &Sparse) -> Option<Mat<Complex64>> {
    let n = a.rows;
    let (mut rows, mut columns) = (vec![1.0f64; n], vec![1.0f64; n]);
    let power = |largest: f64| if largest > 0.0 { (-0.5 * largest.log2()).round().exp2() } else { 1.0 };
    for _ in 0..STATE_SCALING_SWEEPS {
        let (mut by_row, mut by_column) = (vec![0.0f64; n], vec![0.0f64; n]);
        for (i, j, value) in &a.entries {
            let size = (rows[*i] * value * columns[*j]).abs();
            by_row[*i] = by_row[*i].max(size);
            by_column[*j] = by_column[*j].max(size);
        }
        rows.iter_mut().zip(&by_row).for_each(|(factor, largest)| *factor *= power(*largest));
        columns.iter_mut().zip(&by_column).for_each(|(factor, largest)| *factor *= power(*largest));
    }
    let entries = a.entries.iter().map(|(i, j, value)| (*i, *j, rows[*i] * value * columns[*j])).collect();
    let scaled = Sparse { entries, ..a.clone() };
    let states = Matrices { a: scaled, b: Vec::new(), c: Sparse::new(0, n), d: Vec::new() };
    let mut solved = inverse(&system(&states, Complex64::ZERO, false))?;
    let places = || (0..n).flat_map(|i| (0..n).map(move |j| (i, j)));
    let largest = places().fold(0.0f64, |most, at| most.max(solved[at].norm()));
    let size = states.a.entries.iter().fold(0.0f64, |most, (_, _, value)| most.max(value.abs()));
    let is_regular = (largest * size).is_finite() && largest * size <= SINGULAR_CONDITION * n as f64;
    places().for_each(|(i, j)| solved[(i, j)] *= columns[i] * rows[j]);
    is_regular.then_some(solved)
}

/// The combinations of states that A leaves alone, ℓ A = 0, the directions r in which it does not, A r = 0, and A made
/// regular by what changes nothing where the combinations are zero: A − size Σ r ℓ.
struct Conserved {
    left: Vec<Vec<f64>>,
    right: Vec<Vec<f64>>,
    size: f64,
    regular: Sparse,
}

impl Conserved {
    /// Finds them; none where there are no such, or a pole at zero is more than they are.
    fn of(a: &Sparse) -> Option<Conserved> {
        let mut rows: Rows = vec![Vec::new(); a.rows];
        a.entries.iter().filter(|(_, _, x)| *x != 0.0).for_each(|(i, j, x)| rows[*i].push((*j, *x)));
        let null = |rows: &Rows| -> Vec<Vec<f64>> {
            let mut basis = Elimination::new(rows, a.columns, NEGLIGIBLE_PIVOT).null_space(0.0);
            for vector in &mut basis {
                let largest = vector.iter().fold(0.0f64, |a, x| a.max(x.abs()));
                vector.iter_mut().for_each(|x| *x /= largest);
            }
            basis
        };
        let (left, right) = (null(&transposed(&rows, a.columns)), null(&rows));
        if left.is_empty() || left.len() != right.len() {
            return None;
        }
        let size = a.entries.iter().fold(0.0f64, |a, (_, _, value)| a.max(value.abs()));
        let mut regular = a.clone();
        for (l, r) in left.iter().zip(&right) {
            for (i, r) in r.iter().enumerate().filter(|(_, r)| **r != 0.0) {
                let moves = l.iter().enumerate().filter(|(_, l)| **l != 0.0);
                regular.entries.extend(moves.map(|(j, l)| (i, j, -size * r * l)));
            }
        }
        Some(Conserved { left, right, size, regular })
    }

    /// Whether nothing is fed into a conserved amount, where it would stay for ever: a pole at zero.
    fn keep(&self, parts: &[(usize, f64)]) -> bool {
        self.left.iter().all(|l| is_nothing(parts.iter().map(|(i, v)| l[*i] * v)))
    }

    /// Whether as much is conserved after a small change of A.
    fn last(&self, change: &Sparse) -> bool {
        let product =
            |l: &Vec<f64>, r: &Vec<f64>| is_nothing(change.entries.iter().map(|(i, j, v)| l[*i] * v * r[*j]));
        self.left.iter().all(|l| self.right.iter().all(|r| product(l, r)))
    }

    /// The terms of c·z′ that are due to a change of what is conserved, ℓ′ = ℓ A′ (−A_r)⁻¹ with ℓ′ r = 0: where z is
    /// to have ℓ z = 0 still, ℓ z′ = −ℓ′ z. `adjoint` is c (−A_r)⁻¹, `solved` (−A_r)⁻¹ z.
    fn turned(&self, change: &Sparse, adjoint: &[f64], solved: &[f64]) -> Vec<f64> {
        let term = |(l, r): (&Vec<f64>, &Vec<f64>)| {
            let turned: f64 = change.entries.iter().map(|(i, j, v)| l[*i] * v * solved[*j]).sum();
            let seen: f64 = adjoint.iter().zip(r).map(|(adjoint, r)| adjoint * r).sum();
            -self.size * seen * turned
        };
        self.left.iter().zip(&self.right).map(term).collect()
    }
}

/// A solution of A z = −b without what is only rounding in it, as the speed at rest: by Skeel's bound of its errors,
/// ε·|A⁻¹|·|A|·|z|, after a step of refinement, which takes away what the inverse brought in. `solved` is −A⁻¹.
fn without_rounding(mut z: Vec<f64>, b: &[(usize, f64)], a: &Sparse, solved: &Mat<Complex64>) -> Vec<f64> {
    let mut residual = vec![0.0; z.len()];
    b.iter().for_each(|(i, v)| residual[*i] += v);
    a.entries.iter().for_each(|(i, j, v)| residual[*i] += v * z[*j]);
    for (i, z) in z.iter_mut().enumerate() {
        *z += residual.iter().enumerate().map(|(k, r)| solved[(i, k)].re * r).sum::<f64>();
    }
    let mut products = vec![0.0; z.len()];
    a.entries.iter().for_each(|(i, j, v)| products[*i] += (v * z[*j]).abs());
    for (i, z) in z.iter_mut().enumerate() {
        let size: f64 = products.iter().enumerate().map(|(k, product)| solved[(i, k)].norm() * product).sum();
        if z.abs() <= products.len() as f64 * f64::EPSILON * size {
            *z = 0.0;
        }
    }
    z
}

/// Whether a sum is rounding of its terms.
fn is_nothing(terms: impl Iterator<Item = f64>) -> bool {
    let (sum, size) = terms.fold((0.0, 0.0), |(sum, size), x: f64| (sum + x, size + x.abs()));
    sum.abs() <= CONSERVED_SUM * size
}

/// Finds the static gains D − C A⁻¹ B and their derivatives: within the amounts that are conserved, where there
/// are any, and none where a pole lies at zero.
pub fn gains(matrices: &Matrices, derivatives: &[Matrices]) -> Vec<Gain> {
    let n = matrices.a.rows;
    let (conserved, solved) = match static_inverse(&matrices.a) {
        Some(solved) => (None, Some(solved)),
        None => {
            let conserved = Conserved::of(&matrices.a);
            let solved = conserved.as_ref().and_then(|conserved| static_inverse(&conserved.regular));
            (conserved, solved)
        }
    };
    let Some(solved) = solved else { return Vec::new() };
    let regular = conserved.as_ref().map_or(&matrices.a, |conserved| &conserved.regular);
    let keeps = |parts: &[(usize, f64)]| conserved.as_ref().is_none_or(|conserved| conserved.keep(parts));
    if conserved.as_ref().is_some_and(|conserved| !derivatives.iter().all(|m| conserved.last(&m.a))) {
        return Vec::new();
    }
    let b = |m: &Matrices, j: usize| -> Vec<(usize, f64)> {
        m.b.first().map_or_else(Vec::new, |b| {
            b.entries.iter().filter(|(_, column, _)| *column == j).map(|(i, _, v)| (*i, *v)).collect()
        })
    };
    let c = |m: &Matrices, i: usize| -> Vec<(usize, f64)> {
        m.c.entries.iter().filter(|(row, _, _)| *row == i).map(|(_, j, v)| (*j, *v)).collect()
    };
    let d = |m: &Matrices, i: usize, j: usize| -> f64 {
        m.d.first().map_or(0.0, |d| {
            d.entries.iter().filter(|(row, column, _)| (*row, *column) == (i, j)).map(|(_, _, v)| v).sum()
        })
    };
    // A sum with the sizes of its terms: what is nothing beside them is zero.
    let settled = |terms: &mut dyn Iterator<Item = f64>| {
        let (sum, size) = terms.fold((0.0, 0.0), |(sum, size), x| (sum + x, size + x.abs()));
        if f64::abs(sum) <= CANCELLED_GAIN * size { 0.0 } else { sum }
    };
    let mut mirrored = Sparse::new(n, n);
    mirrored.entries = regular.entries.iter().map(|(i, j, v)| (*j, *i, *v)).collect();
    let transposed = Mat::from_fn(n, n, |i, j| solved[(j, i)]);
    let mut all = Vec::new();
    for output in 0..matrices.outputs() {
        let row = c(matrices, output);
        let adjoint: Vec<f64> =
            (0..n).map(|j| row.iter().map(|(k, v)| v * solved[(*k, j)].re).sum()).collect();
        let adjoint = without_rounding(adjoint, &row, &mirrored, &transposed);
        for input in 0..matrices.inputs() {
            let column = b(matrices, input);
            let z: Vec<f64> =
                (0..n).map(|i| column.iter().map(|(k, v)| solved[(i, *k)].re * v).sum()).collect();
            let z = without_rounding(z, &column, regular, &solved);
            let moved = |m: &Matrices| -> Vec<(usize, f64)> {
                let own = m.a.entries.iter().map(|(i, j, v)| (*i, v * z[*j]));
                own.chain(b(m, input)).collect()
            };
            if !keeps(&column) || !derivatives.iter().all(|m| keeps(&moved(m))) {
                continue;
            }
            let again: Vec<f64> = (0..n).map(|i| (0..n).map(|k| solved[(i, k)].re * z[k]).sum()).collect();
            let derivative = |m: &Matrices| {
                let turned = conserved.as_ref().map(|conserved| conserved.turned(&m.a, &adjoint, &again));
                let inner = m.a.entries.iter().map(|(i, j, v)| adjoint[*i] * v * z[*j]);
                let from_c = c(m, output).into_iter().map(|(k, v)| v * z[k]);
                let from_b = b(m, input).into_iter().map(|(k, v)| v * adjoint[k]);
                let own = inner.chain(from_c).chain(from_b).chain([d(m, output, input)]);
                settled(&mut own.chain(turned.into_iter().flatten()))
            };
            let through = row.iter().map(|(k, v)| v * z[*k]);
            all.push(Gain {
                output,
                input,
                value: settled(&mut through.chain([d(matrices, output, input)])),
                derivatives: derivatives.iter().map(derivative).collect(),
                is_within_conserved: conserved.is_some(),
            });
        }
    }
    all
}

/// Natural frequency |λ| and damping −Re λ/|λ| of a pole with their derivatives;
/// nothing for a pole at zero.
pub fn oscillation(pole: Complex64, derivative: Complex64) -> Option<([f64; 2], [f64; 2])> {
    let omega = pole.norm();
    if omega == 0.0 {
        return None;
    }
    let change = (pole.conj() * derivative).re / omega;
    // A move along the circle leaves the frequency as it is.
    let change = if change.abs() <= CANCELLED_GAIN * derivative.norm() { 0.0 } else { change };
    let damping = -pole.re / omega;
    // A real pole stays real.
    let by_damping = if pole.im == 0.0 { 0.0 } else { (-derivative.re - damping * change) / omega };
    Some(([omega, damping], [change, by_damping]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sparse(rows: usize, columns: usize, entries: &[(usize, usize, f64)]) -> Sparse<f64> {
        Sparse { rows, columns, entries: entries.to_vec() }
    }

    fn model(a: &[(usize, usize, f64)], c: &[(usize, usize, f64)]) -> Matrices {
        Matrices {
            a: sparse(2, 2, a),
            b: vec![sparse(2, 1, &[(1, 0, 1.0)])],
            c: sparse(1, 2, c),
            d: vec![sparse(1, 1, &[])],
        }
    }

    #[test]
    fn an_oscillator_and_its_zero() {
        // s² + b s + k with b = 2, k = 5: λ = −1 ± 2j; output c0 + c1 s: zero −c0/c1.
        let (b, k) = (2.0, 5.0);
        let matrices = model(&[(0, 1, 1.0), (1, 0, -k), (1, 1, -b)], &[(0, 0, 3.0), (0, 1, 1.5)]);
        let empty = Matrices { b: vec![sparse(2, 1, &[])], ..model(&[], &[]) };
        let by_b = Matrices { a: sparse(2, 2, &[(1, 1, -1.0)]), ..empty.clone() };
        let by_k = Matrices { a: sparse(2, 2, &[(1, 0, -1.0)]), ..empty.clone() };
        let by_c = Matrices { c: sparse(1, 2, &[(0, 0, 1.0)]), ..empty };
        let roots = [(Complex64::new(-1.0, 2.0), 1), (Complex64::new(-1.0, -2.0), 1)];
        let found = poles(&matrices, &[by_b.clone(), by_k], &roots, &CancellationToken::new()).unwrap();
        // dλ/db = −λ/(2λ + b), dλ/dk = −1/(2λ + b)
        let root = roots[0].0;
        let below = 2.0 * root + b;
        assert!((found[0].derivatives[0] + root / below).norm() < 1e-13);
        assert!((found[0].derivatives[1] + below.inv()).norm() < 1e-13);
        assert_eq!(found[1].derivatives[0], found[0].derivatives[0].conj());
        let list = [(Complex64::new(-2.0, 0.0), 1)];
        let others = [roots[0].0, roots[1].0];
        let found =
            zeros(&matrices, &[by_b, by_c], (0, 0), &list, &others, &CancellationToken::new()).unwrap();
        assert!(found[0].derivatives[0].norm() < 1e-13);
        assert!((found[0].derivatives[1].re + 1.0 / 1.5).abs() < 1e-13);
    }

    #[test]
    fn the_mean_of_a_double_pole_has_a_derivative() {
        // (s + 1)² + p(s + 3): the sum of the roots moves by −p.
        let matrices = model(&[(0, 1, 1.0), (1, 0, -1.0), (1, 1, -2.0)], &[(0, 0, 1.0)]);
        let by_p = Matrices {
            a: sparse(2, 2, &[(1, 0, -3.0), (1, 1, -1.0)]),
            b: vec![sparse(2, 1, &[])],
            ..model(&[], &[])
        };
        let roots = [(Complex64::new(-1.0, 0.0), 2)];
        let found = poles(&matrices, &[by_p], &roots, &CancellationToken::new()).unwrap();
        assert!((found[0].derivatives[0] + 0.5).norm() < 1e-12, "{:?}", found[0]);
    }

    #[test]
    fn natural_frequency_and_damping_follow_the_pole() {
        let pole = Complex64::new(-1.0, 2.0);
        let derivative = Complex64::new(0.3, -0.2);
        let ([omega, damping], [by_omega, by_damping]) = oscillation(pole, derivative).unwrap();
        let h = 1e-6;
        let moved = pole + derivative * h;
        assert!(((moved.norm() - omega) / h - by_omega).abs() < 1e-6);
        assert!(((-moved.re / moved.norm() - damping) / h - by_damping).abs() < 1e-6);
    }
}
