//! The method of centres (Nesterov and Nemirovskii) for scalings at one matrix: for a bound t = β², D and G go to the
//! analytic centre of what proves it, by Newton's method, and then along the path of centres to a smaller t.

use num_complex::Complex64;
use paynter_base::CancellationToken;

use crate::basis::{Element, Structure};
use crate::matrix::Matrix;
use crate::tolerance::{
    CENTRED, FARTHEST_TOWARDS_BOUNDARY, LAST_SHARE, NEGLIGIBLE_BOUND, NEWTON_STEPS, NO_ADVANCE,
    PART_TOLERANCE, REDUCTION, RIDGE, RIDGE_OF_G, SHORTER, SLACK_WEIGHT, WHOLE_NEWTON_STEP,
};
use crate::upper::{Goal, slack_of, upper};

type Complex = Matrix<Complex64>;

/// A step to the centre, along basis elements.
struct Newton {
    step: Vec<f64>,
    /// The factors of the Hessian.
    hessian: Matrix,
    /// The length of the step in the measure of the barrier.
    decrement: f64,
    /// M S⁻¹.
    k: Complex,
    /// D S⁻¹, with D where blocks grow only.
    growing: Complex,
}

impl Newton {
    /// By how much the present scalings allow t to fall, and about how far the best is away.
    fn room(&self) -> (f64, f64) {
        let n = self.growing.rows();
        let (mut square, mut trace) = (0.0, 0.0);
        for i in 0..n {
            trace += self.growing[(i, i)].re;
            for j in 0..n {
                square += (self.growing[(i, j)] * self.growing[(j, i)]).re;
            }
        }
        // The Frobenius norm bounds the largest eigenvalue.
        (1.0 / square.sqrt(), n as f64 / trace)
    }
}

/// Scalings along a straight line on which t falls by the length gone: whether it is inside costs factorisations only.
struct Path {
    /// The slack by power of the length.
    slack: [Complex; 3],
    d: [Complex; 2],
    g: [Complex; 2],
}

impl Path {
    fn scalings(&self, length: f64) -> (Complex, Complex) {
        let at = |[start, rate]: &[Complex; 2]| start.zip(rate, |start, rate| start + rate * length);
        (at(&self.d), at(&self.g))
    }

    /// Whether the scalings at a length prove their bound.
    fn inside(&self, length: f64) -> bool {
        let [start, rate, square] = &self.slack;
        let slack = start.zip(&rate.zip(square, |a, b| a + b * length), |a, b| a + b * length);
        slack.cholesky().is_some() && self.scalings(length).0.cholesky().is_some()
    }

    /// About how far the line stays inside, at most so far; nothing where it does not.
    fn reach(&self, guess: f64, furthest: f64, least: f64) -> Option<f64> {
        let mut length = guess;
        if self.inside(length) {
            while length < furthest {
                let next = (length / SHORTER).min(furthest);
                if !self.inside(next) {
                    break;
                }
                length = next;
            }
            return Some(length);
        }
        while length > least {
            length *= SHORTER;
            if self.inside(length) {
                return Some(length);
            }
        }
        None
    }
}

/// The method of centres at one matrix.
pub(crate) struct Centre<'a> {
    structure: &'a Structure,
    m: Complex,
    adjoint: Complex,
    /// By element of the basis: the derivative of tr (S/t) where blocks do not grow, and t times that where they do.
    pull: Vec<[f64; 2]>,
    /// The scalings at the present point.
    pub d: Complex,
    pub g: Complex,
    /// The bound squared that they prove.
    pub t: f64,
    /// The inverse of the slack at the present point.
    w: Complex,
    /// The inverse of D.
    inverse: Complex,
    /// The value of the barrier.
    value: f64,
}

impl Centre<'_> {
    /// Begins at a matrix without a bound.
    pub fn new(structure: &Structure, m: Complex) -> Centre<'_> {
        let n = structure.channels();
        let zeros = Matrix::zeros(n, n);
        let d = Matrix::identity(n);
        let adjoint = m.adjoint();
        let pull = structure.basis.iter().map(|element| {
            let mut pull = [0.0; 2];
            for (i, j, value) in &element.entries {
                if element.skew {
                    pull[usize::from(structure.grows[*i])] += 2.0 * (value * m[(*j, *i)]).im;
                    continue;
                }
                if i == j {
                    pull[0] += value.re;
                }
                for a in 0..n {
                    pull[usize::from(structure.grows[a])] -= (value * m[(*j, a)] * adjoint[(a, *i)]).re;
                }
            }
            pull
        });
        let pull = pull.collect();
        Centre {
            structure,
            m,
            adjoint,
            pull,
            inverse: d.clone(),
            d,
            g: zeros.clone(),
            t: 0.0,
            w: zeros,
            value: 0.0,
        }
    }

    /// Scales D and G so that the trace of D is that of the identity.
    pub fn normalise(&mut self) {
        let n = self.structure.channels();
        let trace: f64 = (0..n).map(|i| self.d[(i, i)].re).sum();
        let factor = n as f64 / trace;
        self.d = self.d.map(|x| x * factor);
        self.g = self.g.map(|x| x * factor);
    }

    /// Takes a bound if the present scalings prove it.
    pub fn admit(&mut self, t: f64) -> bool {
        let found = self.evaluate(&self.d, &self.g, t);
        let Some((value, w, inverse)) = found else { return false };
        (self.t, self.value, self.w, self.inverse) = (t, value, w, inverse);
        true
    }

    /// tD − M*DM − j(GM − M*G).
    fn slack(&self, d: &Complex, g: &Complex, t: f64) -> Complex {
        slack_of(&self.m, &self.adjoint, self.structure, d, g, t)
    }

    /// The barrier −log det S − log det D + 2 tr D + κ tr (S/t) with the inverses of S and D; nothing outside.
    /// The first linear term takes the place of a normalisation of D. The second keeps S from growing without
    /// bound where G alone can make it large: there would be no centre, and a huge G proves nothing beside its
    /// own frequency.
    fn evaluate(&self, d: &Complex, g: &Complex, t: f64) -> Option<(f64, Complex, Complex)> {
        let slack = self.slack(d, g, t);
        let lower = slack.cholesky()?;
        let lower_d = d.cholesky()?;
        let n = self.structure.channels();
        let logarithms: f64 = (0..n).map(|i| (lower[(i, i)].re * lower_d[(i, i)].re).ln()).sum();
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
    pub fn start(&mut self, size: f64, token: &CancellationToken) -> bool {
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
    pub fn descend(&mut self, size: f64, goal: Goal, token: &CancellationToken) {
        let (tolerance, enough) = match goal {
            Goal::Best(tolerance) => (tolerance, None),
            Goal::Below(beta, tolerance) => (tolerance, Some(beta * beta)),
        };
        let floor = size.max(f64::MIN_POSITIVE) * NEGLIGIBLE_BOUND * NEGLIGIBLE_BOUND;
        let end = enough.unwrap_or(floor).max(floor);
        let mut left = 0.0;
        for _ in 0..NEWTON_STEPS {
            if token.check().is_err() || token.is_spent() {
                return;
            }
            token.spend(self.operations());
            // A proof of less than what is asked for is a proof of that, and there it serves furthest.
            if self.t < end && !self.admit(end) {
                return;
            }
            let Some(newton) = self.newton() else { break };
            let room = newton.room();
            left = room.0;
            if newton.decrement >= CENTRED {
                let whole = newton.decrement < WHOLE_NEWTON_STEP && self.walk(&newton.step, 1.0);
                if !whole && !self.walk(&newton.step, 1.0 / (1.0 + newton.decrement)) {
                    break;
                }
                continue;
            }
            if self.t <= end || room.1 <= 2.0 * tolerance * self.t || !self.advance(&newton, end) {
                break;
            }
        }
        if self.t > end {
            let last = (self.t - LAST_SHARE * left).max(end);
            let _ = self.admit(last);
        }
    }

    /// About how many operations one Newton step takes, with the way that follows it.
    fn operations(&self) -> u64 {
        let (m, count) = (self.structure.channels() as u64, self.structure.basis.len() as u64);
        150 * m * m * m + 40 * count * count + count * count * count / 3
    }

    /// Goes along the path of centres to a smaller bound, not below the end.
    fn advance(&mut self, newton: &Newton, end: f64) -> bool {
        let furthest = (self.t - end).min(FARTHEST_TOWARDS_BOUNDARY * self.t);
        let path = self.path(newton);
        let guess = newton.room().1.min(furthest);
        let Some(length) = path.reach(guess, furthest, NO_ADVANCE * self.t) else { return false };
        // Drawn back from the boundary, unless the end itself is inside.
        let length = if length < self.t - end { REDUCTION * length } else { length };
        let (d, g) = path.scalings(length);
        let t = self.t - length;
        let Some((value, w, inverse)) = self.evaluate(&d, &g, t) else { return false };
        (self.d, self.g, self.t) = (d, g, t);
        (self.value, self.w, self.inverse) = (value, w, inverse);
        true
    }

    /// The path of centres by its tangent, from the centre that a Newton step leads to.
    fn path(&self, newton: &Newton) -> Path {
        let n = self.structure.channels();
        let mut d = [self.d.clone(), Matrix::zeros(n, n)];
        let mut g = [self.g.clone(), Matrix::zeros(n, n)];
        self.add(&newton.step, 1.0, &mut d[0], &mut g[0]);
        self.add(&self.tangent(newton), -1.0, &mut d[1], &mut g[1]);
        let growing = |matrix: &Complex| {
            Matrix::from_fn(
                n,
                n,
                |i, j| if self.structure.grows[i] { matrix[(i, j)] } else { Complex64::ZERO },
            )
        };
        let start = self.slack(&d[0], &g[0], self.t);
        let rate = self.slack(&d[1], &g[1], self.t).minus(&growing(&d[0]));
        Path { slack: [start, rate, growing(&d[1]).map(|x| -x)], d, g }
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
        self.add(step, length, &mut d, &mut g);
        (d, g)
    }

    /// Adds multiples of the elements of the basis to scalings.
    fn add(&self, step: &[f64], length: f64, d: &mut Complex, g: &mut Complex) {
        for (element, x) in self.structure.basis.iter().zip(step) {
            let target = if element.skew { &mut *g } else { &mut *d };
            for (i, j, value) in &element.entries {
                target[(*i, *j)] += *value * (x * length);
            }
        }
    }

    /// D where blocks grow, zero elsewhere.
    fn growing(&self) -> Complex {
        let n = self.structure.channels();
        Matrix::from_fn(n, n, |i, j| if self.structure.grows[i] { self.d[(i, j)] } else { Complex64::ZERO })
    }

    /// The Newton step to the centre.
    fn newton(&self) -> Option<Newton> {
        let (w, basis) = (&self.w, &self.structure.basis);
        // The products in which gradient and Hessian are sums of few terms.
        let k = self.m.times(w);
        let p = k.hermitian_times(&self.adjoint);
        let weights: Vec<f64> =
            basis.iter().map(|element| self.weight(element.entries[0].0, self.t)).collect();
        let gradient: Vec<f64> = (basis.iter().zip(&weights).zip(&self.pull))
            .map(|((element, weight), [kept, grown])| {
                let own = match element.skew {
                    true => -2.0 * trace(&k, element).im,
                    false => {
                        let unit: f64 =
                            element.entries.iter().filter(|(i, j, _)| i == j).map(|e| e.2.re).sum();
                        trace(&p, element).re
                            - weight * trace(w, element).re
                            - trace(&self.inverse, element).re
                            + 2.0 * unit
                    }
                };
                own + SLACK_WEIGHT * (kept + grown / self.t)
            })
            .collect();
        let adjoint = k.adjoint();
        let count = basis.len();
        let mut hessian = Matrix::zeros(count, count);
        for (row, e) in basis.iter().enumerate() {
            for (column, f) in basis.iter().enumerate().take(row + 1) {
                let entry = match (e.skew, f.skew) {
                    (false, false) => {
                        let (te, tf) = (weights[row], weights[column]);
                        te * tf * form(w, w, e, f).re
                            - te * form(&k, &adjoint, e, f).re
                            - tf * form(&k, &adjoint, f, e).re
                            + form(&p, &p, e, f).re
                            + form(&self.inverse, &self.inverse, e, f).re
                    }
                    (true, true) => 2.0 * (form(w, &p, e, f).re - form(&k, &k, e, f).re),
                    (false, true) => self.mixed(w, &k, &p, e, f, weights[row]),
                    (true, false) => self.mixed(w, &k, &p, f, e, weights[column]),
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
                more += RIDGE_OF_G * form(&self.inverse, &self.inverse, element, element).re / weights[i];
            }
            hessian[(i, i)] += more;
        }
        let lower = hessian.cholesky()?;
        let step = solve_factored(&lower, &gradient);
        let square: f64 = -gradient.iter().zip(&step).map(|(g, x)| g * x).sum::<f64>();
        let growing = self.growing().times(w);
        Some(Newton { step, hessian: lower, decrement: square.max(0.0).sqrt(), k, growing })
    }

    /// How centres move with the bound: the derivative of the gradient by t, solved with the factors of the Hessian.
    fn tangent(&self, newton: &Newton) -> Vec<f64> {
        let Newton { hessian, k, growing, .. } = newton;
        let v = self.w.times(growing);
        let kv = k.times(growing);
        let mvm = kv.times(&self.adjoint);
        let drift: Vec<f64> = (self.structure.basis.iter().zip(&self.pull))
            .map(|(element, [_, grown])| {
                let first = element.entries[0].0;
                let own = match element.skew {
                    true => 2.0 * trace(&kv, element).im,
                    false => {
                        let weight = self.weight(first, self.t);
                        let own = if self.structure.grows[first] { trace(&self.w, element).re } else { 0.0 };
                        weight * trace(&v, element).re - trace(&mvm, element).re - own
                    }
                };
                own - SLACK_WEIGHT * grown / (self.t * self.t)
            })
            .collect();
        solve_factored(hessian, &drift)
    }

    /// The second derivative by an element of D and one of G.
    fn mixed(&self, w: &Complex, k: &Complex, p: &Complex, d: &Element, g: &Element, weight: f64) -> f64 {
        2.0 * (weight * form(k, w, d, g).im - form(p, k, d, g).im)
    }
}

/// tr(X E).
fn trace(x: &Complex, e: &Element) -> Complex64 {
    e.entries.iter().map(|(i, j, value)| value * x[(*j, *i)]).sum()
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
