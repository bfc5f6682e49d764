//! Upper bounds of the structured singular value by scalings D and G (Fan, Tits and Doyle 1991):
//! μ(M) ≤ β where M*DM + j(GM − M*G) − β²D is negative definite.
//!
//! The least β is sought by the method of centres (Nesterov and Nemirovskii): for a bound t = β², D and
//! G go to the analytic centre of what proves it, by Newton's method, and then along the path of centres
//! to a smaller t. Every t on the way is a bound, whatever rounding does to the centre, because the
//! definiteness is checked by a Cholesky factorisation.

use num_complex::Complex64;
use paynter_base::CancellationToken;

use crate::basis::Element;
pub use crate::basis::Structure;
use crate::matrix::Matrix;
use crate::parts::{Part, joined, strong_parts};
use crate::tolerance::{
    BALANCED, BALANCING_SWEEPS, CENTRED, FARTHEST_TOWARDS_BOUNDARY, LAST_SHARE, NEGLIGIBLE_BOUND,
    NEWTON_STEPS, NO_ADVANCE, PART_TOLERANCE, REDUCTION, RIDGE, RIDGE_OF_G, SHORTER, SLACK_WEIGHT,
    WARM_STARTS, WHOLE_NEWTON_STEP,
};

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
    let n = structure.channels();
    let (dm, gm) = (d.times(m), g.times(m));
    let mdm = m.adjoint().times(&dm);
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

/// A step to the centre, along basis elements.
struct Newton {
    step: Vec<f64>,
    /// The factors of the Hessian.
    hessian: Matrix,
    /// The length of the step in the measure of the barrier.
    decrement: f64,
}

/// The method of centres at one matrix.
struct Centre<'a> {
    structure: &'a Structure,
    m: Complex,
    d: Complex,
    g: Complex,
    t: f64,
    /// The inverse of the slack at the present point.
    w: Complex,
    /// The inverse of D.
    inverse: Complex,
    /// The value of the barrier.
    value: f64,
}

impl Centre<'_> {
    fn new(structure: &Structure, m: Complex) -> Centre<'_> {
        let n = structure.channels();
        let zeros = Matrix::zeros(n, n);
        let d = Matrix::identity(n);
        Centre { structure, m, inverse: d.clone(), d, g: zeros.clone(), t: 0.0, w: zeros, value: 0.0 }
    }

    /// Scales D and G so that the trace of D is that of the identity.
    fn normalise(&mut self) {
        let n = self.structure.channels();
        let trace: f64 = (0..n).map(|i| self.d[(i, i)].re).sum();
        let factor = n as f64 / trace;
        self.d = self.d.map(|x| x * factor);
        self.g = self.g.map(|x| x * factor);
    }

    /// Takes a bound if the present scalings prove it.
    fn admit(&mut self, t: f64) -> bool {
        let found = self.evaluate(&self.d, &self.g, t);
        let Some((value, w, inverse)) = found else { return false };
        (self.t, self.value, self.w, self.inverse) = (t, value, w, inverse);
        true
    }

    /// The barrier −log det S − log det D + 2 tr D + κ tr (S/t) with the inverses of S and D; nothing outside.
    /// The first linear term takes the place of a normalisation of D. The second keeps S from growing without
    /// bound where G alone can make it large: there would be no centre, and a huge G proves nothing beside its
    /// own frequency.
    fn evaluate(&self, d: &Complex, g: &Complex, t: f64) -> Option<(f64, Complex, Complex)> {
        let slack = slack(&self.m, self.structure, d, g, t);
        let lower = slack.cholesky()?;
        let lower_d = d.cholesky()?;
        let n = self.structure.channels();
        let logarithms: f64 = (0..n).map(|i| lower[(i, i)].re.ln() + lower_d[(i, i)].re.ln()).sum();
        let trace: f64 = (0..n).map(|i| d[(i, i)].re).sum();
        let share: f64 = (0..n).map(|i| slack[(i, i)].re / self.weight(i, t)).sum();
        let value = 2.0 * (trace - logarithms) + SLACK_WEIGHT * share;
        Some((value, lower.inverse_of_square(), lower_d.inverse_of_square()))
    }

    /// What D is multiplied with at a channel: the bound where its block grows, one elsewhere.
    fn weight(&self, channel: usize, t: f64) -> f64 {
        if self.structure.grows[channel] { t } else { 1.0 }
    }

    /// Starts from the balanced matrix itself; where blocks do not grow, from a proof for them alone.
    fn start(&mut self, size: f64, token: &CancellationToken) -> bool {
        let n = self.structure.channels();
        self.d = Matrix::identity(n);
        self.g = Matrix::zeros(n, n);
        let size = size.max(f64::MIN_POSITIVE);
        if self.structure.grows.iter().all(|grows| *grows) {
            return self.admit(1.01 * size);
        }
        // A proof for the blocks that keep their size, then little weight on those that grow.
        let kept: Vec<usize> = (0..n).filter(|i| !self.structure.grows[*i]).collect();
        let mut alone = self.structure.restricted(&kept);
        alone.grows.fill(true);
        let part = self.m.part(&kept, &kept);
        let Some(proof) = upper(&part, &alone, None, Goal::Below(1.0, PART_TOLERANCE), token) else {
            return false;
        };
        if proof.beta > 1.0 {
            return false;
        }
        for (i, a) in kept.iter().enumerate() {
            for (j, b) in kept.iter().enumerate() {
                self.d[(*a, *b)] = proof.scaling.d[(i, j)];
                self.g[(*a, *b)] = proof.scaling.g[(i, j)];
            }
        }
        let trace = proof.scaling.d.entries().iter().step_by(kept.len() + 1).map(|x| x.re).sum::<f64>();
        for exponent in 0..40 {
            let weight = trace / kept.len() as f64 * 4f64.powi(-exponent);
            let growing = (0..n).filter(|i| self.structure.grows[*i]);
            growing.for_each(|i| self.d[(i, i)] = Complex64::from(weight));
            self.normalise();
            for step in 0..40 {
                if self.admit(1.01 * size * 4f64.powi(step)) {
                    return true;
                }
            }
        }
        false
    }

    /// Reduces the bound: Newton steps to a centre, then along the path of centres.
    fn descend(&mut self, size: f64, goal: Goal, token: &CancellationToken) {
        let (tolerance, enough) = match goal {
            Goal::Best(tolerance) => (tolerance, None),
            Goal::Below(beta, tolerance) => (tolerance, Some(beta * beta)),
        };
        let floor = size.max(f64::MIN_POSITIVE) * NEGLIGIBLE_BOUND * NEGLIGIBLE_BOUND;
        let end = enough.unwrap_or(floor).max(floor);
        for _ in 0..NEWTON_STEPS {
            if token.check().is_err() {
                return;
            }
            // A proof of less than what is asked for is a proof of that, and there it serves furthest.
            if self.t < end && !self.admit(end) {
                return;
            }
            let Some(newton) = self.newton() else { break };
            if newton.decrement >= CENTRED {
                let whole = newton.decrement < WHOLE_NEWTON_STEP && self.walk(&newton.step, 1.0);
                if !whole && !self.walk(&newton.step, 1.0 / (1.0 + newton.decrement)) {
                    break;
                }
                continue;
            }
            if self.t <= end || self.room().1 <= 2.0 * tolerance * self.t || !self.advance(&newton, end) {
                break;
            }
        }
        if self.t > end {
            let last = (self.t - LAST_SHARE * self.room().0).max(end);
            let _ = self.admit(last);
        }
    }

    /// Goes along the path of centres to a smaller bound, not below the end.
    fn advance(&mut self, newton: &Newton, end: f64) -> bool {
        let tangent = self.tangent(&newton.hessian);
        let mut length = (self.t - end).min(FARTHEST_TOWARDS_BOUNDARY * self.t);
        let mut inside = false;
        while length > NO_ADVANCE * self.t {
            let t = self.t - length;
            let combined: Vec<f64> =
                newton.step.iter().zip(&tangent).map(|(step, tangent)| step - tangent * length).collect();
            let (d, g) = self.moved(&combined, 1.0);
            if let Some((value, w, inverse)) = self.evaluate(&d, &g, t) {
                // Drawn back from the boundary once, unless the end itself is inside.
                if inside || t <= end {
                    (self.d, self.g, self.t) = (d, g, t);
                    (self.value, self.w, self.inverse) = (value, w, inverse);
                    return true;
                }
                inside = true;
            }
            length *= if inside { REDUCTION } else { SHORTER };
        }
        false
    }

    /// By how much the present scalings allow t to fall, and about how far the best is away.
    fn room(&self) -> (f64, f64) {
        let n = self.structure.channels();
        let product = self.w.times(&self.growing());
        let mut square = 0.0;
        let mut trace = 0.0;
        for i in 0..n {
            trace += product[(i, i)].re;
            for j in 0..n {
                square += (product[(i, j)] * product[(j, i)]).re;
            }
        }
        // The Frobenius norm bounds the largest eigenvalue.
        (1.0 / square.sqrt(), n as f64 / trace)
    }

    /// Goes along a step if that stays inside and lowers the barrier.
    fn walk(&mut self, step: &[f64], length: f64) -> bool {
        let (d, g) = self.moved(step, length);
        match self.evaluate(&d, &g, self.t) {
            Some((value, w, inverse)) if value <= self.value => {
                (self.d, self.g, self.value, self.w, self.inverse) = (d, g, value, w, inverse);
                true
            }
            _ => false,
        }
    }

    /// The scalings after a step.
    fn moved(&self, step: &[f64], length: f64) -> (Complex, Complex) {
        let (mut d, mut g) = (self.d.clone(), self.g.clone());
        for (element, x) in self.structure.basis.iter().zip(step) {
            let target = if element.skew { &mut g } else { &mut d };
            for (i, j, value) in &element.entries {
                target[(*i, *j)] += *value * (x * length);
            }
        }
        (d, g)
    }

    /// D where blocks grow, zero elsewhere.
    fn growing(&self) -> Complex {
        let n = self.structure.channels();
        let grows = |i: usize| if self.structure.grows[i] { 1.0 } else { 0.0 };
        Matrix::from_fn(n, n, |i, j| self.d[(i, j)] * grows(i))
    }

    /// The Newton step to the centre.
    fn newton(&self) -> Option<Newton> {
        let (w, basis) = (&self.w, &self.structure.basis);
        // The products in which gradient and Hessian are sums of few terms.
        let k = self.m.times(w);
        let p = k.times(&self.m.adjoint());
        let adjoint = k.adjoint();
        // κ tr (S/t) is linear: it is in the gradient alone, and takes a multiple of the identity off the inverse of S.
        let pull = self.pull();
        let pulled = self.m.times(&pull);
        let (both, back) = (pulled.times(&self.m.adjoint()), pulled.adjoint());
        let weight = |element: &Element| self.weight(element.entries[0].0, self.t);
        let gradient: Vec<f64> = basis
            .iter()
            .map(|element| {
                let entry = |(i, j, value): &(usize, usize, Complex64)| match element.skew {
                    true => (Complex64::I * value * (pulled[(*j, *i)] - back[(*j, *i)])).re,
                    false => {
                        let at = (*j, *i);
                        let unit = if i == j { 2.0 } else { 0.0 };
                        (value * (both[at] - pull[at] * weight(element) - self.inverse[at] + unit)).re
                    }
                };
                element.entries.iter().map(entry).sum()
            })
            .collect();
        let count = basis.len();
        let mut hessian = Matrix::zeros(count, count);
        for (row, e) in basis.iter().enumerate() {
            for (column, f) in basis.iter().enumerate().take(row + 1) {
                let entry = match (e.skew, f.skew) {
                    (false, false) => {
                        let (te, tf) = (weight(e), weight(f));
                        te * tf * form(w, w, e, f).re
                            - te * form(&k, &adjoint, e, f).re
                            - tf * form(&k, &adjoint, f, e).re
                            + form(&p, &p, e, f).re
                            + form(&self.inverse, &self.inverse, e, f).re
                    }
                    (true, true) => 2.0 * (form(w, &p, e, f).re - form(&k, &k, e, f).re),
                    (false, true) => self.mixed(w, &k, &p, e, f, weight(e)),
                    (true, false) => self.mixed(w, &k, &p, f, e, weight(f)),
                };
                hessian[(row, column)] = entry;
            }
        }
        // Some combinations of G may be without effect; the ridge leaves them where they are.
        let largest = (0..count).fold(0.0f64, |most, i| most.max(hessian[(i, i)]));
        for (i, element) in basis.iter().enumerate() {
            let mut more = RIDGE * hessian[(i, i)] + RIDGE * RIDGE * largest;
            if element.skew {
                // In the measure of G, which is that of D times the bound.
                more +=
                    RIDGE_OF_G * form(&self.inverse, &self.inverse, element, element).re / weight(element);
            }
            hessian[(i, i)] += more;
        }
        let lower = hessian.cholesky()?;
        let step = solve_factored(&lower, &gradient);
        let square: f64 = -gradient.iter().zip(&step).map(|(g, x)| g * x).sum::<f64>();
        Some(Newton { step, hessian: lower, decrement: square.max(0.0).sqrt() })
    }

    /// The inverse of S without the pull of κ tr (S/t).
    fn pull(&self) -> Complex {
        let mut pull = self.w.clone();
        for i in 0..self.structure.channels() {
            pull[(i, i)] -= SLACK_WEIGHT / self.weight(i, self.t);
        }
        pull
    }

    /// How centres move with the bound: the derivative of the gradient by t, solved with the factors of the Hessian.
    fn tangent(&self, hessian: &Matrix) -> Vec<f64> {
        let (w, basis, n) = (&self.w, &self.structure.basis, self.structure.channels());
        let (pull, weight) = (self.pull(), |element: &Element| self.weight(element.entries[0].0, self.t));
        let mut v = w.times(&self.growing()).times(w);
        let growing = (0..n).filter(|i| self.structure.grows[*i]);
        growing.for_each(|i| v[(i, i)] -= SLACK_WEIGHT / (self.t * self.t));
        let mv = self.m.times(&v);
        let mvm = mv.times(&self.m.adjoint());
        let drift: Vec<f64> = basis
            .iter()
            .map(|element| {
                let grows = self.structure.grows[element.entries[0].0];
                let entry = |(i, j, value): &(usize, usize, Complex64)| match element.skew {
                    true => (-Complex64::I * value * (mv[(*j, *i)] - mv[(*i, *j)].conj())).re,
                    false => {
                        let at = (*j, *i);
                        let own = if grows { pull[at] } else { Complex64::ZERO };
                        (value * (v[at] * weight(element) - mvm[at] - own)).re
                    }
                };
                element.entries.iter().map(entry).sum()
            })
            .collect();
        solve_factored(hessian, &drift)
    }

    /// The second derivative by an element of D and one of G.
    fn mixed(&self, w: &Complex, k: &Complex, p: &Complex, d: &Element, g: &Element, weight: f64) -> f64 {
        2.0 * (weight * form(k, w, d, g).im - form(p, k, d, g).im)
    }
}

impl Structure {
    /// The structure of some channels; a full block is in it as a whole or not at all.
    fn restricted(&self, channels: &[usize]) -> Structure {
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

/// tr(X E Y F).
fn form(x: &Complex, y: &Complex, e: &Element, f: &Element) -> Complex64 {
    if let ([(a, b, u)], [(c, d, v)]) = (&e.entries[..], &f.entries[..]) {
        return u * v * x[(*d, *a)] * y[(*b, *c)];
    }
    let mut sum = Complex64::ZERO;
    for (a, b, u) in &e.entries {
        for (c, d, v) in &f.entries {
            sum += u * v * x[(*d, *a)] * y[(*b, *c)];
        }
    }
    sum
}

/// Solves L Lᵀ x = −b.
fn solve_factored(lower: &Matrix, right: &[f64]) -> Vec<f64> {
    let n = right.len();
    let mut x: Vec<f64> = right.iter().map(|b| -b).collect();
    for i in 0..n {
        let sum: f64 = lower.row(i)[..i].iter().zip(&x).map(|(l, x)| l * x).sum();
        x[i] = (x[i] - sum) / lower[(i, i)];
    }
    for i in (0..n).rev() {
        x[i] /= lower[(i, i)];
        let value = x[i];
        for (entry, l) in x[..i].iter_mut().zip(lower.row(i)) {
            *entry -= l * value;
        }
    }
    x
}
