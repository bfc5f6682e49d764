//! The smallest real parameters that make a model unstable: poles are moved to the imaginary axis along
//! their derivatives (after Magni and Döll), the vertices of the box are tried, and what is found is
//! improved along the boundary of stability.

use num_complex::Complex64;
use paynter_base::{CancellationToken, Cancelled};

use crate::matrix::Matrix;
use crate::modes::eigenvector;
use crate::poles::Side;
use crate::system::Interconnection;
use crate::tolerance::{
    FARTHEST_SCALE, NO_GAIN, PAST_THE_AXIS, REAL_POLE, SEARCH_STEPS, SEARCH_TOLERANCE, SHORTEST_STEP,
    SMALLER_PARAMETERS, SMALLEST_SCALE, VERTEX_PARAMETERS, WITHOUT_EFFECT,
};

/// Parameters at which a model is not stable.
#[derive(Debug, Clone, PartialEq)]
pub struct Destabiliser {
    /// The values of δ, one for each real block.
    pub delta: Vec<f64>,
    /// The largest of them in magnitude.
    pub size: f64,
    /// The pole on the imaginary axis or beyond; none where the equations have no solution there.
    pub pole: Option<Complex64>,
}

/// Looks for the smallest destabilising parameters within a multiple of the box; finds some, not
/// necessarily the smallest.
pub fn destabilise(
    system: &Interconnection,
    limit: f64,
    starts: &[Vec<f64>],
    token: &CancellationToken,
) -> Result<Option<Destabiliser>, Cancelled> {
    let count = system.parameters();
    if count == 0 {
        return Ok(None);
    }
    let operations = system.decision_operations();
    let judged = |delta: &[f64]| {
        token.spend(operations);
        judge(system, delta)
    };
    let gradient = |delta: &[f64], pole: Complex64| pole_derivatives(&system.around(delta, &[]).ok()?, pole);
    let mut search = Search { judge: &judged, gradient: &gradient, limit, best: None };
    for start in starts {
        search.keep(start.clone());
    }
    let nominal = system.close_poles();
    let mut poles: Vec<Complex64> = nominal.into_iter().filter(|z| z.im >= 0.0).collect();
    poles.sort_by(|x, y| (-x.re / x.norm()).total_cmp(&(-y.re / y.norm())));
    for pole in poles.into_iter().take(16) {
        token.check()?;
        if token.is_spent() {
            break;
        }
        if let Some(delta) = move_pole(system, limit, pole, token) {
            search.keep(delta);
        }
    }
    if count <= VERTEX_PARAMETERS {
        for vertex in 0..1usize << count {
            token.check()?;
            if token.is_spent() {
                break;
            }
            let sign = |i: usize| if vertex >> i & 1 == 0 { -1.0 } else { 1.0 };
            let direction: Vec<f64> = (0..count).map(sign).collect();
            if let Some(scale) = search.along(&direction) {
                search.keep(direction.iter().map(|x| x * scale).collect());
            }
        }
    }
    if let Some(best) = search.best.clone() {
        let better = search.improve(best.delta, token)?;
        search.keep(better);
    }
    Ok(search.best)
}

/// The largest magnitude in a list.
pub(crate) fn size(delta: &[f64]) -> f64 {
    delta.iter().fold(0.0, |most, x| most.max(x.abs()))
}

/// Whether the model is unstable or ill-posed at parameters, with the pole that is furthest to the right. What rounding
/// leaves open counts as stable: nothing is attained there.
pub(crate) fn judge(system: &Interconnection, delta: &[f64]) -> (bool, Option<Complex64>) {
    if !system.is_well_posed(delta) {
        return (true, None);
    }
    let Some(poles) = system.poles_at(delta) else { return (true, None) };
    let is_unstable = poles.sides().any(|(_, side)| side == Side::Right);
    (is_unstable, poles.rightmost().map(|(pole, _)| pole))
}

/// Whether a model is unstable at parameters, with the pole that is furthest to the right.
pub(crate) type Judge<'a> = dyn Fn(&[f64]) -> (bool, Option<Complex64>) + 'a;

/// The derivatives of a pole's real part by the parameters.
pub(crate) type PoleGradient<'a> = dyn Fn(&[f64], Complex64) -> Option<Vec<f64>> + 'a;

/// A search for the smallest parameters that make a model unstable.
pub(crate) struct Search<'a> {
    pub judge: &'a Judge<'a>,
    pub gradient: &'a PoleGradient<'a>,
    pub limit: f64,
    pub best: Option<Destabiliser>,
}

impl Search<'_> {
    fn unstable(&self, delta: &[f64]) -> bool {
        (self.judge)(delta).0
    }

    /// The smallest size found so far, or where the search ends.
    pub fn bound(&self) -> f64 {
        self.best.as_ref().map_or(self.limit, |best| best.size)
    }

    /// Keeps parameters, brought to the boundary of stability, if they are smaller than any before.
    pub fn keep(&mut self, delta: Vec<f64>) {
        if !self.unstable(&delta) {
            return;
        }
        let delta = self.to_boundary(&delta);
        let size = size(&delta);
        if size <= self.limit && self.best.as_ref().is_none_or(|best| size < best.size) {
            let pole = (self.judge)(&delta).1;
            self.best = Some(Destabiliser { delta, size, pole });
        }
    }

    /// Shrinks destabilising parameters until they hardly destabilise.
    fn to_boundary(&self, delta: &[f64]) -> Vec<f64> {
        let scaled = |scale: f64| delta.iter().map(|x| x * scale).collect::<Vec<f64>>();
        let (mut low, mut high) = (0.0, 1.0);
        while high - low > SEARCH_TOLERANCE * high {
            let middle = 0.5 * (low + high);
            if self.unstable(&scaled(middle)) {
                high = middle;
            } else {
                low = middle;
            }
            if high < SMALLEST_SCALE {
                break;
            }
        }
        scaled(high)
    }

    /// The smallest multiple of a direction, of those looked at, that destabilises.
    pub fn along(&self, direction: &[f64]) -> Option<f64> {
        let bound = self.bound();
        let top = if bound.is_finite() { bound } else { FARTHEST_SCALE };
        (0..24).map(|k| top * 1.35f64.powi(k - 23)).find(|scale| {
            let delta: Vec<f64> = direction.iter().map(|x| x * scale).collect();
            self.unstable(&delta)
        })
    }

    /// Moves along the boundary of stability to smaller parameters.
    pub fn improve(&self, delta: Vec<f64>, token: &CancellationToken) -> Result<Vec<f64>, Cancelled> {
        let mut delta = self.to_boundary(&delta);
        let mut radius = 0.1 * size(&delta);
        for _ in 0..SEARCH_STEPS {
            token.check()?;
            let now = size(&delta);
            if radius < SEARCH_TOLERANCE * now || token.is_spent() {
                break;
            }
            let pole = (self.judge)(&delta).1;
            let gradient = pole.and_then(|pole| (self.gradient)(&delta, pole));
            let Some(gradient) = gradient else { break };
            let step = cheapest(&delta, &gradient, 0.0, radius);
            let next: Vec<f64> = delta.iter().zip(&step).map(|(x, s)| x + s).collect();
            let length = size(&next);
            // As large as now it must destabilise; then it is brought to the boundary.
            let blown: Vec<f64> = next.iter().map(|x| x * now / length).collect();
            let candidate = if self.unstable(&next) { Some(next) } else { Some(blown) };
            let better = candidate
                .filter(|candidate| length > 0.0 && self.unstable(candidate))
                .map(|candidate| self.to_boundary(&candidate))
                .filter(|candidate| size(candidate) < now * (1.0 - SMALLER_PARAMETERS));
            match better {
                Some(better) => {
                    delta = better;
                    radius *= 1.5;
                }
                None => radius *= 0.4,
            }
        }
        Ok(delta)
    }
}

/// The derivatives of a pole's real part by the parameters.
fn pole_derivatives(moved: &Interconnection, pole: Complex64) -> Option<Vec<f64>> {
    let a = moved.a.complex();
    let right = eigenvector(&a, pole)?;
    let left = eigenvector(&a.adjoint(), pole.conj())?;
    let scale = left.adjoint().times(&right)[(0, 0)];
    let reached = left.adjoint().times(&moved.b.complex());
    let read = moved.c.complex().times(&right);
    let mut list = Vec::new();
    let mut first = 0;
    for block in &moved.blocks {
        if block.is_real() {
            let channels = first..first + block.size();
            list.push(channels.map(|k| (reached[(0, k)] * read[(k, 0)] / scale).re).sum());
        }
        first += block.size();
    }
    list.iter().all(|x: &f64| x.is_finite()).then_some(list)
}

/// Follows one pole to the imaginary axis by small steps, each as small as it can be.
fn move_pole(
    system: &Interconnection,
    limit: f64,
    pole: Complex64,
    token: &CancellationToken,
) -> Option<Vec<f64>> {
    let mut pole = pole;
    let mut delta = vec![0.0; system.parameters()];
    let mut moved = system.around(&delta, &[]).ok()?;
    let mut radius = f64::INFINITY;
    for _ in 0..SEARCH_STEPS {
        token.check().ok()?;
        if token.is_spent() {
            return None;
        }
        token.spend(2 * system.poles_operations());
        let gradient = pole_derivatives(&moved, pole)?;
        let total: f64 = gradient.iter().map(|x| x.abs()).sum();
        let need = -pole.re + PAST_THE_AXIS * pole.norm();
        if total == 0.0 {
            return None;
        }
        radius = radius.min(0.3 * need / total).max(SHORTEST_STEP * need / total);
        let (accepted, grew) = loop {
            let step = cheapest(&delta, &gradient, need, radius);
            let next: Vec<f64> = delta.iter().zip(&step).map(|(x, s)| (x + s).clamp(-limit, limit)).collect();
            let gain: f64 = gradient.iter().zip(next.iter().zip(&delta)).map(|(g, (a, b))| g * (a - b)).sum();
            if gain <= NO_GAIN * need || !system.is_well_posed(&next) {
                return None;
            }
            token.spend(system.poles_operations());
            let model = system.around(&next, &[]).ok()?;
            let values = model.a.eigenvalues()?;
            let near = |z: &Complex64| (z - pole).norm();
            // The pole that has moved to the right and is nearest.
            let found = values.into_iter().filter(|z| z.im >= -REAL_POLE * z.norm()).min_by(|x, y| {
                let miss = |z: &Complex64| near(z) + (z.re - pole.re - gain).abs();
                miss(x).total_cmp(&miss(y))
            })?;
            if (found.re - pole.re - gain).abs() <= 0.5 * gain {
                break ((next, model, found), (found.re - pole.re - gain).abs() <= 0.2 * gain);
            }
            radius *= 0.4;
            if radius < SHORTEST_STEP * need / total {
                return None;
            }
        };
        (delta, moved, pole) = accepted;
        if pole.re >= 0.0 {
            return Some(delta);
        }
        radius *= if grew { 2.0 } else { 1.0 };
    }
    None
}

/// The step within a radius that reaches a change along the gradient and leaves the largest parameter as
/// small as possible; where the change is out of reach, the step that comes closest.
fn cheapest(delta: &[f64], gradient: &[f64], need: f64, radius: f64) -> Vec<f64> {
    let largest = gradient.iter().fold(0.0f64, |most, x| most.max(x.abs()));
    let within = |k: f64| {
        delta
            .iter()
            .zip(gradient)
            .map(|(x, g)| {
                let (low, high) = ((-k - x).max(-radius).min(radius), (k - x).min(radius).max(-radius));
                // A parameter that hardly matters goes towards zero.
                if g.abs() <= WITHOUT_EFFECT * largest {
                    (-x).clamp(-radius, radius).clamp(low, high.max(low))
                } else if *g > 0.0 {
                    high
                } else {
                    low
                }
            })
            .collect::<Vec<f64>>()
    };
    let change = |step: &[f64]| gradient.iter().zip(step).map(|(g, s)| g * s).sum::<f64>();
    let (mut low, mut high) = (0.0, size(delta) + radius);
    if change(&within(high)) < need {
        return within(high);
    }
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if change(&within(middle)) >= need {
            high = middle;
        } else {
            low = middle;
        }
    }
    within(high)
}

/// The parameters in the order of the real blocks: the model's matrix A there, for checks by others.
pub fn state_matrix(system: &Interconnection, delta: &[f64]) -> Option<Matrix> {
    system.around(delta, &[]).ok().map(|moved| moved.a)
}
