//! Lower bounds of the structured singular value at one frequency where all blocks are real: the smallest
//! parameters at which I − M(jω)Δ is singular, so that the model has a pole at jω.
//!
//! det(I − MΔ) = 0 is one complex equation, two real ones in as many unknowns as there are parameters. Its
//! solutions are found by Newton's method within a trust region; among the steps that solve the linearised
//! equations each takes the one that leaves the largest parameter as small as possible, so that solutions
//! once found go down along the surface of solutions.

use num_complex::Complex64;
use paynter_base::CancellationToken;

use crate::basis::Block;
use crate::destabilise::size;
use crate::matrix::Matrix;
use crate::system::Interconnection;
use crate::tolerance::{
    ALONG_THE_WAY, FARTHEST_PARAMETERS, SINGULAR, SINGULAR_IMPROVED, SINGULAR_STEPS, VERIFIED_POLE,
};

type Complex = Matrix<Complex64>;

/// M at one frequency, between real blocks.
pub(crate) struct Singular {
    m: Complex,
    /// The parameter of each channel.
    owner: Vec<usize>,
    parameters: usize,
}

/// Directions to the vertices of a box: all of a small one, some of a large one.
pub(crate) fn some_vertices(count: usize) -> impl Iterator<Item = impl Iterator<Item = f64>> {
    let all = 1u64 << count.min(3);
    let sign = move |vertex: u64, i: usize| if (vertex >> (i % 3)) & 1 == 0 { 1.0 } else { -1.0 };
    (0..all).map(move |vertex| (0..count).map(move |i| sign(vertex, i)))
}

/// Whether the model has a pole at jω with these parameters; no solution at infinity.
pub(crate) fn has_pole_at(system: &Interconnection, delta: &[f64], omega: f64) -> bool {
    if omega.is_infinite() {
        let beyond: Vec<f64> = delta.iter().map(|x| x * (1.0 + VERIFIED_POLE)).collect();
        let before: Vec<f64> = delta.iter().map(|x| x * (1.0 - VERIFIED_POLE)).collect();
        return system.is_well_posed(&beyond) != system.is_well_posed(&before);
    }
    let slowest = system.close_poles().iter().fold(f64::INFINITY, |least, z| least.min(z.norm()));
    let moved = system.around(delta, &[]).map(|moved| moved.close_poles()).unwrap_or_default();
    let near = VERIFIED_POLE * omega.max(slowest);
    moved.iter().any(|z| (z - Complex64::new(0.0, omega)).norm() <= near)
}

/// det(I − MΔ) with its derivatives by the parameters.
struct Determinant {
    value: Complex64,
    derivatives: Vec<Complex64>,
}

impl Singular {
    /// The question at a frequency; nothing at a pole of the model.
    pub fn new(system: &Interconnection, omega: f64) -> Option<Singular> {
        let owner = |(k, block): (usize, &Block)| std::iter::repeat_n(k, block.size());
        let owner: Vec<usize> = system.blocks.iter().enumerate().flat_map(owner).collect();
        let m = system.at(omega).filter(|m| m.entries().iter().all(|x| x.is_finite()))?;
        Some(Singular { m, owner, parameters: system.blocks.len() })
    }

    /// The smallest parameters found at which the model has a pole at this frequency, from several starts.
    pub fn smallest(&self, starts: &[Vec<f64>], token: &CancellationToken) -> Option<Vec<f64>> {
        let mut best: Option<Vec<f64>> = None;
        for start in starts {
            if token.check().is_err() || token.is_spent() {
                break;
            }
            if let Some(found) = self.solve(start, token).map(|found| self.improve(found, token))
                && best.as_ref().is_none_or(|best| size(&found) < size(best))
            {
                best = Some(found);
            }
        }
        best
    }

    /// About how many operations a determinant with its derivatives takes, and the step that follows.
    fn operations(&self) -> u64 {
        let (m, count) = (self.owner.len() as u64, self.parameters as u64);
        12 * m * m * m + 2_000 * count + 1
    }

    fn determinant(&self, delta: &[f64]) -> Option<Determinant> {
        let n = self.owner.len();
        let matrix = Matrix::from_fn(n, n, |i, j| {
            let unit = if i == j { Complex64::ONE } else { Complex64::ZERO };
            unit - self.m[(i, j)] * delta[self.owner[j]]
        });
        let (solved, value) = matrix.solve_with_determinant(&self.m)?;
        // ∂ det/∂δ_k = −det tr((I − MΔ)⁻¹ M E_k).
        let mut derivatives = vec![Complex64::ZERO; self.parameters];
        for (channel, owner) in self.owner.iter().enumerate() {
            derivatives[*owner] -= value * solved[(channel, channel)];
        }
        Some(Determinant { value, derivatives })
    }

    /// Whether parameters solve the equation but for rounding: a relative change of them this small does it.
    fn is_solved(&self, delta: &[f64], found: &Determinant) -> bool {
        let moved: f64 = found.derivatives.iter().zip(delta).map(|(d, x)| d.norm() * x.abs()).sum();
        found.value.norm() <= SINGULAR * moved
    }

    /// Newton's method from a start.
    fn solve(&self, start: &[f64], token: &CancellationToken) -> Option<Vec<f64>> {
        let mut delta = start.to_vec();
        let mut found = self.determinant(&delta)?;
        let mut radius = f64::INFINITY;
        for _ in 0..SINGULAR_STEPS {
            if self.is_solved(&delta, &found) {
                return Some(delta);
            }
            // Where the trust region is too small for a solution, a part of the way.
            let step = [1.0, 0.3, 0.1, 0.03]
                .into_iter()
                .find_map(|share| cheapest_solution(&delta, &found, share, radius))?;
            token.spend(self.operations());
            let length = size(&step);
            let next: Vec<f64> = delta.iter().zip(&step).map(|(x, s)| x + s).collect();
            match self.determinant(&next).filter(|next| next.value.norm() < found.value.norm()) {
                Some(better) if size(&next) < FARTHEST_PARAMETERS => {
                    (delta, found) = (next, better);
                    radius = radius.max(2.0 * length);
                }
                _ => radius = 0.4 * length,
            }
            if radius <= f64::EPSILON * size(&delta) {
                return None;
            }
        }
        None
    }

    /// Goes down along the surface of solutions.
    fn improve(&self, solution: Vec<f64>, token: &CancellationToken) -> Vec<f64> {
        let mut delta = solution;
        let mut radius = 0.3 * size(&delta);
        for _ in 0..SINGULAR_STEPS {
            let now = size(&delta);
            if radius <= SINGULAR_IMPROVED * now || token.check().is_err() || token.is_spent() {
                break;
            }
            let Some(found) = self.determinant(&delta) else { break };
            let next = cheapest_solution(&delta, &found, 1.0, radius).and_then(|step| {
                let moved: Vec<f64> = delta.iter().zip(&step).map(|(x, s)| x + s).collect();
                self.solve(&moved, token)
            });
            match next.filter(|next| size(next) < now * (1.0 - SINGULAR_IMPROVED)) {
                Some(next) => {
                    delta = next;
                    radius *= 1.5;
                }
                None => radius *= 0.3,
            }
        }
        delta
    }
}

/// The step within a radius that makes up for a share of the equation's value, linearised, and leaves the
/// largest parameter as small as possible; nothing where the radius is too small for it.
fn cheapest_solution(delta: &[f64], found: &Determinant, share: f64, radius: f64) -> Option<Vec<f64>> {
    let within = |k: f64| {
        let bounds: Vec<(f64, f64)> =
            delta.iter().map(|x| ((-k - x).clamp(-radius, radius), (k - x).clamp(-radius, radius))).collect();
        reach(&bounds, &found.derivatives, -found.value * share)
    };
    let largest = found.derivatives.iter().fold(0.0f64, |most, d| most.max(d.norm()));
    if largest == 0.0 {
        return None;
    }
    // Beyond this size nothing is gained.
    let mut high = size(delta) + (if radius.is_finite() { radius } else { found.value.norm() / largest });
    let mut solution = within(high);
    for _ in 0..40 {
        if solution.is_some() || radius.is_finite() {
            break;
        }
        high *= 4.0;
        solution = within(high);
    }
    let mut solution = solution?;
    let mut low = 0.0;
    for _ in 0..50 {
        let middle = 0.5 * (low + high);
        match within(middle) {
            Some(better) => (high, solution) = (middle, better),
            None => low = middle,
        }
    }
    Some(solution)
}

/// Numbers between bounds whose combination of complex generators is a target: the target lies in a zonotope of
/// the plane. Along the ray from the centre to the target the farthest point is found by a parametric sweep.
fn reach(bounds: &[(f64, f64)], generators: &[Complex64], target: Complex64) -> Option<Vec<f64>> {
    let centre: Vec<f64> = bounds.iter().map(|(low, high)| 0.5 * (low + high)).collect();
    let half: Vec<f64> = bounds.iter().map(|(low, high)| 0.5 * (high - low)).collect();
    let middle: Complex64 = centre.iter().zip(generators).map(|(c, g)| g * c).sum();
    let way = target - middle;
    let length = way.norm();
    if length == 0.0 {
        return Some(centre);
    }
    // Maximise Σ aᵢxᵢ where Σ aᵢyᵢ = 0 and |aᵢ| ≤ 1: aᵢ is the sign of xᵢ − λyᵢ.
    let turned: Vec<Complex64> =
        generators.iter().zip(&half).map(|(g, h)| g * h * way.conj() / length).collect();
    let across: f64 = turned.iter().map(|t| t.im.abs()).sum();
    let flat = |t: &Complex64| t.im.abs() <= ALONG_THE_WAY * across;
    let mut order: Vec<usize> = (0..turned.len()).filter(|i| !flat(&turned[*i])).collect();
    let multiplier = |i: usize| turned[i].re / turned[i].im;
    order.sort_by(|i, j| multiplier(*i).total_cmp(&multiplier(*j)));
    // At λ = −∞ aᵢ is the sign of yᵢ; each turns over as λ passes its xᵢ/yᵢ.
    let mut shares: Vec<f64> =
        turned.iter().map(|t| if flat(t) { t.re.signum() } else { t.im.signum() }).collect();
    let mut sum = across_of(&turned, &shares);
    for &i in &order {
        let change = 2.0 * shares[i] * turned[i].im;
        if sum - change <= 0.0 {
            shares[i] -= sum / turned[i].im;
            sum = 0.0;
            break;
        }
        shares[i] = -shares[i];
        sum -= change;
    }
    if sum > 0.0 {
        return None;
    }
    let far: f64 = turned.iter().zip(&shares).map(|(t, a)| t.re * a).sum();
    if far < length {
        return None;
    }
    let part = length / far;
    Some((0..centre.len()).map(|i| centre[i] + half[i] * shares[i] * part).collect())
}

fn across_of(turned: &[Complex64], shares: &[f64]) -> f64 {
    turned.iter().zip(shares).map(|(t, a)| t.im * a).sum()
}
