//! One loop, opened: L = C(sI − A)⁻¹B + D from where it was opened back to the same place, closed by negative
//! feedback. Margins of gain, phase and delay, the disk margin, crossover and bandwidth.

use num_complex::Complex64;

use crate::axis::logarithmic;
use crate::golden::golden;
use crate::matrix::Matrix;
use crate::modes::{FixedMode, set_aside};
use crate::poles::{Poles, Side};
use crate::system::Interconnection;
use crate::tolerance::{
    BISECTIONS, CROSSING_DISTANCE, FARTHEST_FACTOR, LOOP_POINTS_PER_DECADE, LOOP_ROUNDING, NEAR_AXIS,
    PENCIL_SHIFT, PROJECTED_ROUNDING, REAL_LOOP_GAIN, ROUNDED_ROOT, SAME_LOOP_FREQUENCY,
};

/// A loop that has been opened.
#[derive(Debug, Clone, PartialEq)]
pub struct OpenLoop {
    a: Matrix,
    b: Matrix,
    c: Matrix,
    d: f64,
    /// Poles of the model that take no part in the loop.
    hidden: Vec<FixedMode>,
    /// Whether the states are others than the model's.
    is_projected: bool,
}

/// A number with the frequency it belongs to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct At {
    /// The number.
    pub value: f64,
    /// Angular frequency in rad/s; may be infinite.
    pub omega: f64,
}

/// What a loop tolerates before it is unstable.
#[derive(Debug, Clone, PartialEq)]
pub struct Margins {
    /// Whether the closed loop is stable. One that is not has nothing to lose: its margins of gain are the factors that
    /// would make it stable, and it has no others.
    pub stable: bool,
    /// The factor above one by which the gain may grow; none where it may grow without bound.
    pub gain: Option<At>,
    /// The factor below one to which it may fall; none where it may fall to zero.
    pub least_gain: Option<At>,
    /// The phase that may be lost, in degrees; none where the gain never crosses one.
    pub phase: Option<At>,
    /// The delay that may be added, in seconds.
    pub delay: Option<At>,
    /// The disk margin α: gain and phase may change together by (1 + δ/2)/(1 − δ/2) for all complex |δ| < α.
    pub disk: Option<At>,
    /// Of a loop that is not stable: the open intervals of factors of its gain with which it would be.
    pub stabilising: Vec<(f64, f64)>,
    /// Where |L| is one, rising.
    pub crossovers: Vec<f64>,
    /// Where |T| falls below its value at frequency zero by √2 for the first time.
    pub bandwidth: Option<f64>,
    /// The largest |S|.
    pub sensitivity: At,
    /// The largest |T|.
    pub complementary: At,
}

/// L at frequencies.
struct Sampled {
    omega: Vec<f64>,
    l: Vec<Complex64>,
}

impl OpenLoop {
    /// Opens the loop of a model that is closed: d is added to what the readers of y read, y' is y as a
    /// function of that sum. Nothing where no finite loop gain exists.
    pub fn from_injection(a: &Matrix, b: &Matrix, c: &Matrix, d: f64) -> Option<OpenLoop> {
        // v = y + d, y = Cx + D(v − y), L = −y/v.
        let scale = 1.0 / (1.0 + d);
        if !scale.is_finite() || scale.abs() > FARTHEST_FACTOR {
            return None;
        }
        let n = a.rows();
        // What the loop alone has made of an entry is taken out of it whole: rounding would turn a double integrator into
        // poles beside zero, and give the loop a path that it does not have.
        let without = |i: usize, j: usize| {
            let (whole, fed) = (a[(i, j)], b[(i, 0)] * scale * c[(0, j)]);
            let rest = whole - fed;
            if rest.abs() <= LOOP_ROUNDING * (whole.abs() + fed.abs()) { 0.0 } else { rest }
        };
        let a = Matrix::from_fn(n, n, without);
        let (b, c) = (b.map(|x| x * scale), c.map(|x| -x * scale));
        let d = -d * scale;
        // Modes that the loop does not see are no part of its poles.
        let whole = Interconnection {
            a,
            b,
            c,
            d: Matrix::from_fn(1, 1, |_, _| d),
            blocks: Vec::new(),
            is_projected: false,
        };
        let (own, hidden) = set_aside(&whole.balanced());
        Some(OpenLoop { a: own.a, b: own.b, c: own.c, d, hidden, is_projected: own.is_projected })
    }

    /// A loop by its matrices.
    pub fn new(a: Matrix, b: Matrix, c: Matrix, d: f64) -> OpenLoop {
        OpenLoop { a, b, c, d, hidden: Vec::new(), is_projected: false }
    }

    /// L(jω); not finite at a pole.
    pub fn at(&self, omega: f64) -> Complex64 {
        if omega.is_infinite() {
            return Complex64::from(self.d);
        }
        let n = self.a.rows();
        let s = Complex64::new(0.0, omega);
        let shifted = Matrix::from_fn(n, n, |i, j| if i == j { s } else { Complex64::ZERO } - self.a[(i, j)]);
        match shifted.solve(&self.b.complex()) {
            Some(x) => self.c.complex().times(&x)[(0, 0)] + self.d,
            None => Complex64::new(f64::INFINITY, 0.0),
        }
    }

    /// Whether nothing comes back.
    pub fn is_zero(&self) -> bool {
        let touches = self.b.largest() > 0.0 && self.c.largest() > 0.0;
        self.d == 0.0 && (!touches || self.frequencies().iter().all(|w| self.at(*w).norm() <= f64::EPSILON))
    }

    /// The poles of L. An integrator that drives others only, or is driven by nothing, has its pole at zero exactly: of
    /// several in a row rounding would make poles far beside it.
    pub fn poles(&self) -> Vec<Complex64> {
        let mut rest: Vec<usize> = (0..self.a.rows()).collect();
        let is_zero = |i: usize, rest: &[usize]| {
            let none = |entry: &dyn Fn(usize) -> f64| rest.iter().all(|k| entry(*k) == 0.0);
            none(&|k| self.a[(k, i)]) || none(&|k| self.a[(i, k)])
        };
        while let Some(place) = rest.iter().position(|i| is_zero(*i, &rest)) {
            rest.remove(place);
        }
        let mut poles = vec![Complex64::ZERO; self.a.rows() - rest.len()];
        poles.extend(self.a.part(&rest, &rest).eigenvalues().unwrap_or_default());
        poles
    }

    /// The poles of the closed loop with the loop gain multiplied by a factor; nothing where the factor
    /// leaves no solution.
    pub fn closed_poles(&self, factor: f64) -> Option<Vec<Complex64>> {
        self.closed(factor).map(|poles| poles.values)
    }

    fn closed(&self, factor: f64) -> Option<Poles> {
        let scale = factor / (1.0 + factor * self.d);
        let n = self.a.rows();
        let fed = |i: usize, j: usize| self.b[(i, 0)] * scale * self.c[(0, j)];
        let closed = Matrix::from_fn(n, n, |i, j| self.a[(i, j)] - fed(i, j));
        let sizes = || Matrix::from_fn(n, n, |i, j| self.a[(i, j)].abs() + fed(i, j).abs());
        let rounding = if self.is_projected { PROJECTED_ROUNDING * self.a.largest() } else { 0.0 };
        Poles::rounded(&closed, rounding, sizes)
    }

    /// Frequencies that show what the loop does.
    pub fn frequencies(&self) -> Vec<f64> {
        let mut roots = self.poles();
        roots.extend(self.closed_poles(1.0).unwrap_or_default());
        let fastest = roots.iter().map(|z| z.norm()).filter(|x| x.is_finite()).fold(0.0, f64::max);
        let sizes =
            || roots.iter().map(|z| z.norm()).filter(|x| *x > ROUNDED_ROOT * fastest && x.is_finite());
        let low = sizes().fold(f64::INFINITY, f64::min);
        let high = sizes().fold(0.0, f64::max);
        let (low, high) = if high > 0.0 { (low / 100.0, high * 100.0) } else { (0.01, 100.0) };
        let mut list = logarithmic(low, high, LOOP_POINTS_PER_DECADE);
        for root in roots.iter().filter(|z| z.im > 0.0) {
            let (size, width) = (root.norm(), root.re.abs());
            // Around resonances in steps of their width.
            list.push(size);
            list.extend(
                (-6..=6).map(|k| root.im + f64::from(k) * width * 0.5).filter(|w| *w > low && *w < high),
            );
        }
        list.sort_by(f64::total_cmp);
        list.dedup_by(|next, kept| *next <= *kept * (1.0 + SAME_LOOP_FREQUENCY));
        list
    }

    /// L at the frequencies that show what the loop does and beside candidates for crossings.
    fn sampled(&self) -> Sampled {
        let mut omega = self.frequencies();
        let candidates = self.phase_pencil().into_iter().chain(self.magnitude_pencil());
        for w in candidates.filter(|w| *w > 0.0 && w.is_finite()) {
            omega.extend([w * (1.0 - CROSSING_DISTANCE), w * (1.0 + CROSSING_DISTANCE)]);
        }
        omega.sort_by(f64::total_cmp);
        let l = omega.iter().map(|w| self.at(*w)).collect();
        Sampled { omega, l }
    }

    /// The frequencies at which a function of L changes sign, brought to the zero by bisection.
    fn crossings(&self, sampled: &Sampled, function: &dyn Fn(Complex64) -> f64) -> Vec<f64> {
        let values: Vec<f64> = sampled.l.iter().map(|l| function(*l)).collect();
        let mut found = Vec::new();
        // The last sample that has a sign: others may be zero to the last digit, as at round numbers.
        let mut last: Option<usize> = None;
        for (k, value) in values.iter().enumerate().filter(|(_, value)| **value != 0.0) {
            match last.filter(|last| values[*last] * value < 0.0) {
                Some(last) if last + 1 < k => found.push(sampled.omega[last + 1]),
                Some(last) => {
                    let (mut low, mut high) = (sampled.omega[last], sampled.omega[k]);
                    for _ in 0..BISECTIONS {
                        let middle = 0.5 * (low + high);
                        if function(self.at(middle)) * values[last] > 0.0 {
                            low = middle;
                        } else {
                            high = middle;
                        }
                    }
                    found.push(0.5 * (low + high));
                }
                None => {}
            }
            last = Some(k);
        }
        found
    }

    /// The imaginary-axis zeros of L(s)L(−s) − 1, where |L| is one.
    fn magnitude_pencil(&self) -> Vec<f64> {
        let n = self.a.rows();
        let size = 2 * n + 1;
        let (a, b, c, d) = (&self.a, &self.b, &self.c, self.d);
        let matrix = Matrix::from_fn(size, size, |i, j| match (i < n, i < 2 * n, j < n, j < 2 * n) {
            (true, _, true, _) => a[(i, j)],
            (true, _, false, true) => 0.0,
            (true, _, false, false) => b[(i, 0)],
            (false, true, true, _) => b[(i - n, 0)] * c[(0, j)],
            (false, true, false, true) => -a[(i - n, j - n)],
            (false, true, false, false) => b[(i - n, 0)] * d,
            (false, false, true, _) => d * c[(0, j)],
            (false, false, false, true) => -c[(0, j - n)],
            (false, false, false, false) => d * d - 1.0,
        });
        axis_zeros(&matrix, 2 * n)
    }

    /// The imaginary-axis zeros of L(s) − L(−s), where L is real.
    fn phase_pencil(&self) -> Vec<f64> {
        let n = self.a.rows();
        let size = 2 * n + 1;
        let (a, b, c) = (&self.a, &self.b, &self.c);
        let matrix = Matrix::from_fn(size, size, |i, j| match (i < n, i < 2 * n, j < n, j < 2 * n) {
            (true, _, true, _) => a[(i, j)],
            (false, true, false, true) => -a[(i - n, j - n)],
            (true, _, false, false) => b[(i, 0)],
            (false, true, false, false) => b[(i - n, 0)],
            (false, false, true, _) => c[(0, j)],
            (false, false, false, true) => c[(0, j - n)],
            _ => 0.0,
        });
        axis_zeros(&matrix, 2 * n)
    }

    /// The largest value of a function of L over all frequencies, refined by golden section.
    fn peak(&self, sampled: &Sampled, function: &dyn Fn(Complex64) -> f64) -> At {
        let number = |value: f64| if value.is_nan() { f64::NEG_INFINITY } else { value };
        let value = |w: f64| number(function(self.at(w)));
        let values: Vec<f64> = sampled.l.iter().map(|l| number(function(*l))).collect();
        let ends = [0.0, f64::INFINITY].map(|omega| At { value: value(omega), omega });
        let inside =
            values.iter().zip(&sampled.omega).map(|(value, omega)| At { value: *value, omega: *omega });
        let start = At { value: f64::NEG_INFINITY, omega: 0.0 };
        let larger = |most: At, next: At| if next.value > most.value { next } else { most };
        let mut best = ends.into_iter().chain(inside).fold(start, larger);
        // Only peaks that may be the largest are worth refining.
        let near = |k: &usize| values[*k] >= 0.9 * best.value;
        let local = |k: &usize| values[*k] >= values[k - 1] && values[*k] >= values[k + 1];
        let places: Vec<usize> = (1..values.len().max(2) - 1).filter(|k| near(k) && local(k)).collect();
        for k in places {
            let (value, omega) = golden(&value, sampled.omega[k - 1], sampled.omega[k + 1]);
            best = larger(best, At { value, omega });
        }
        best
    }

    /// Whether the closed loop is stable with its gain multiplied by a factor.
    fn is_stable(&self, factor: f64) -> bool {
        self.closed(factor).is_some_and(|poles| poles.are_stable())
            && self.hidden.iter().all(|mode| mode.value == Complex64::ZERO || mode.side != Side::Right)
    }

    /// The intervals of factors of the gain with which the closed loop is stable, between those that put a pole on the
    /// imaginary axis.
    fn stabilising(&self, factors: &[At]) -> Vec<(f64, f64)> {
        let mut ends: Vec<f64> = factors.iter().map(|at| at.value).collect();
        ends.sort_by(f64::total_cmp);
        ends.dedup();
        let lows = std::iter::once(0.0).chain(ends.iter().copied());
        let highs = ends.iter().copied().chain(std::iter::once(f64::INFINITY));
        let inside = |(low, high): &(f64, f64)| match (*low, *high) {
            (low, high) if high.is_infinite() => {
                if low == 0.0 {
                    1.0
                } else {
                    2.0 * low
                }
            }
            (0.0, high) => 0.5 * high,
            (low, high) => (low * high).sqrt(),
        };
        lows.zip(highs).filter(|interval| self.is_stable(inside(interval))).collect()
    }

    /// Whether the closed loop is stable, by its exact poles: those at zero that take no part in it do not count.
    pub(crate) fn is_stable_by(&self, poles: &[Complex64]) -> bool {
        let hidden = self.hidden.iter().filter(|mode| mode.value == Complex64::ZERO).count();
        let at_zero = poles.iter().filter(|pole| **pole == Complex64::ZERO).count();
        at_zero <= hidden && poles.iter().all(|pole| pole.re < 0.0 || *pole == Complex64::ZERO)
    }

    /// Finds the margins.
    pub fn margins(&self) -> Margins {
        self.margins_where(self.is_stable(1.0))
    }

    /// Finds them where it is known whether the closed loop is stable.
    pub(crate) fn margins_where(&self, stable: bool) -> Margins {
        let sampled = self.sampled();
        let mut factors: Vec<At> = self
            .crossings(&sampled, &|l| l.im)
            .into_iter()
            .map(|omega| (omega, self.at(omega)))
            // A change of sign at a pole is none.
            .filter(|(_, l)| l.re < 0.0 && l.im.abs() <= REAL_LOOP_GAIN * l.re.abs())
            .map(|(omega, l)| At { value: -1.0 / l.re, omega })
            .collect();
        for omega in [0.0, f64::INFINITY] {
            let l = self.at(omega);
            if l.re < 0.0 && l.norm().is_finite() {
                factors.push(At { value: -1.0 / l.re, omega });
            }
        }
        let crossovers = self.crossings(&sampled, &|l| l.norm_sqr() - 1.0);
        // The phase above −180° at each crossover: what may be lost, or is short of it.
        let phases: Vec<At> = crossovers
            .iter()
            .map(|&omega| At { value: turned((-self.at(omega)).arg().to_degrees()), omega })
            .collect();
        let delays = phases.iter().map(|at| {
            let lag = if at.value < 0.0 { at.value + 360.0 } else { at.value };
            At { value: lag.to_radians() / at.omega, omega: at.omega }
        });
        // Where the loop gain stays above one at infinite frequency, no delay is small enough (a neutral equation).
        let beyond =
            (self.at(f64::INFINITY).norm() >= 1.0).then_some(At { value: 0.0, omega: f64::INFINITY });
        // A loop gain that is not finite, or zero, but for rounding is no crossing.
        factors.retain(|at| (FARTHEST_FACTOR.recip()..FARTHEST_FACTOR).contains(&at.value));
        let least = |a: &At, b: &At| a.value.total_cmp(&b.value);
        // What puts a pole of an unstable loop on the axis need not make it stable.
        let stabilising = if stable { Vec::new() } else { self.stabilising(&factors) };
        if !stable {
            let is_end = |at: &At| match at.value >= 1.0 {
                true => stabilising.iter().any(|(low, _)| *low == at.value),
                false => stabilising.iter().any(|(_, high)| *high == at.value),
            };
            factors.retain(is_end);
        }
        let gain = factors.iter().copied().filter(|at| at.value >= 1.0).min_by(least);
        let least_gain = factors.iter().copied().filter(|at| at.value < 1.0).max_by(least);
        let phase = phases.iter().copied().min_by(|a, b| a.value.abs().total_cmp(&b.value.abs()));
        // α = 1/max |S − ½|.
        let half = Complex64::from(0.5);
        let disk = self.peak(&sampled, &|l| (inverse(l + 1.0) - half).norm());
        let sensitivity = self.peak(&sampled, &|l| inverse(l + 1.0).norm());
        let complementary = self.peak(&sampled, &|l| (Complex64::ONE - inverse(l + 1.0)).norm());
        Margins {
            stable,
            gain,
            least_gain,
            phase: phase.filter(|_| stable),
            delay: delays.chain(beyond).min_by(|a, b| a.value.total_cmp(&b.value)).filter(|_| stable),
            disk: stable.then_some(At { value: 1.0 / disk.value, omega: disk.omega }),
            stabilising,
            bandwidth: self.bandwidth(&sampled).filter(|_| stable),
            crossovers,
            sensitivity,
            complementary,
        }
    }

    fn bandwidth(&self, sampled: &Sampled) -> Option<f64> {
        let closed = |l: Complex64| (Complex64::ONE - inverse(l + 1.0)).norm();
        let level = closed(self.at(0.0)) * 0.5f64.sqrt();
        if !(level > 0.0 && level.is_finite()) {
            return None;
        }
        self.crossings(sampled, &|l| closed(l) - level).into_iter().next()
    }
}

/// 1/x, zero at infinity.
fn inverse(x: Complex64) -> Complex64 {
    if x.is_finite() { x.inv() } else { Complex64::ZERO }
}

/// An angle in (−180, 180].
fn turned(degrees: f64) -> f64 {
    let angle = degrees.rem_euclid(360.0);
    if angle > 180.0 { angle - 360.0 } else { angle }
}

/// The positive imaginary parts of the zeros near the imaginary axis of det(N − s E), E the identity of
/// some first rows: by the eigenvalues of (N − s₀E)⁻¹E.
fn axis_zeros(matrix: &Matrix, dynamic: usize) -> Vec<f64> {
    let size = matrix.rows();
    let scale = (0..dynamic)
        .fold(0.0f64, |most, i| most.max((0..dynamic).map(|j| matrix[(i, j)].abs()).fold(0.0, f64::max)));
    let shift = PENCIL_SHIFT * scale.max(f64::MIN_POSITIVE);
    let shifted = Matrix::from_fn(size, size, |i, j| {
        let own = if i == j && i < dynamic { shift } else { 0.0 };
        matrix[(i, j)] - own
    });
    let unit = Matrix::from_fn(size, dynamic, |i, j| if i == j { 1.0 } else { 0.0 });
    let Some(solved) = shifted.solve(&unit) else { return Vec::new() };
    let rows: Vec<usize> = (0..dynamic).collect();
    let values = solved.part(&rows, &rows).eigenvalues().unwrap_or_default();
    values
        .into_iter()
        .filter(|z| z.norm() > 0.0)
        .map(|z| z.inv() + shift)
        .filter(|z| z.im > 0.0 && z.re.abs() <= NEAR_AXIS * z.im)
        .map(|z| z.im)
        .collect()
}
