//! What the parameters of a model attain themselves, where its interconnection has values that are uncertain as a
//! whole: these count as independent of the parameters in them, so what is attained with them may be out of reach.

use num_complex::Complex64;
use paynter_base::{CancellationToken, Cancelled};

use crate::axis::frequencies;
use crate::destabilise::{Destabiliser, Search, size};
use crate::extremes::Extreme;
use crate::gain::{Climb, Measure};
use crate::modes::{FixedMode, moved_part};
use crate::pieces::smallest_piece;
use crate::poles::Side;
use crate::system::Interconnection;
use crate::tolerance::{END_OF_SCALING, GAIN_FREQUENCIES, OWN_VERTICES, STEP_FIGURE_DIFFERENCE};
use crate::tolerances::{Family, Remembered};

/// The largest gain that was found in the box of the parameters themselves.
#[derive(Debug, Clone, PartialEq)]
pub struct OwnGain {
    /// The gain.
    pub value: f64,
    /// The parameters.
    pub delta: Vec<f64>,
    /// The frequency, in rad/s; may be infinite.
    pub omega: f64,
    /// The gain there at frequencies that were asked for.
    pub response: Vec<f64>,
}

/// Looks for the largest gain from inputs to outputs over a box, with the gain there at frequencies.
pub fn own_gain(
    family: &Family<'_>,
    (outputs, inputs): (&[usize], &[usize]),
    count: usize,
    omega: &[f64],
    token: &CancellationToken,
) -> Result<Option<OwnGain>, Cancelled> {
    let channel = |delta: &[f64]| Some(moved_part(&family(delta)?.with_performance(outputs, inputs, 1.0)).0);
    let peak = |system: &Interconnection| {
        let climb = Climb { system, measure: Measure::Performance, token };
        climb.along(&[], &frequencies(system))
    };
    let calculate = |delta: &[f64]| {
        token.check().ok()?;
        if token.is_spent() && delta.iter().any(|x| *x != 0.0) {
            return None;
        }
        let system = channel(delta).filter(|system| system.poles().are_stable())?;
        token.spend(system.poles_operations() + GAIN_FREQUENCIES * system.response_operations());
        Some(peak(&system)).filter(|(gain, _)| gain.is_finite())
    };
    let known = Remembered::new(&calculate);
    let figure = |delta: &[f64]| known.at(delta).map(|(gain, _)| -gain);
    let found = smallest_piece(&figure, count, &[], token)?;
    let own = |Extreme { delta, .. }: Extreme| {
        let (value, place) = known.at(&delta)?;
        let system = channel(&delta)?;
        let climb = Climb { system: &system, measure: Measure::Performance, token };
        let response = omega.iter().map(|omega| climb.gain(&[], *omega)).collect();
        Some(OwnGain { value, delta, omega: place, response })
    };
    Ok(found.and_then(own))
}

/// Looks for the smallest parameters themselves that make a model unstable, within a multiple of their box: along the
/// derivatives of poles and to vertices, then along the boundary of stability. Poles that nothing moves are set aside.
pub fn own_destabiliser(
    family: &Family<'_>,
    (count, limit): (usize, f64),
    fixed: &[FixedMode],
    token: &CancellationToken,
) -> Result<Option<Destabiliser>, Cancelled> {
    let poles = |delta: &[f64]| {
        let system = family(delta)?;
        token.spend(system.poles_operations());
        let mut poles: Vec<(Complex64, Side)> = system.poles().sides().collect();
        for mode in fixed {
            let distance = |k: &usize| (poles[*k].0 - mode.value).norm();
            let nearest = (0..poles.len()).min_by(|i, j| distance(i).total_cmp(&distance(j)));
            nearest.map(|k| poles.swap_remove(k));
        }
        Some(poles)
    };
    // Where there is no model, nothing is known.
    let judge = |delta: &[f64]| {
        let poles = poles(delta).unwrap_or_default();
        let is_unstable = poles.iter().any(|(_, side)| *side == Side::Right);
        (is_unstable, poles.into_iter().map(|(pole, _)| pole).max_by(|x, y| x.re.total_cmp(&y.re)))
    };
    let gradient = |delta: &[f64], pole: Complex64| {
        let beside = |place: usize, step: f64| {
            let mut moved = delta.to_vec();
            moved[place] += step;
            let near = |x: &Complex64, y: &Complex64| (x - pole).norm().total_cmp(&(y - pole).norm());
            poles(&moved)?.into_iter().map(|(pole, _)| pole).min_by(near).map(|pole| pole.re)
        };
        let step = STEP_FIGURE_DIFFERENCE;
        (0..count).map(|i| Some((beside(i, step)? - beside(i, -step)?) / (2.0 * step))).collect()
    };
    let limit = limit * (1.0 - END_OF_SCALING);
    let mut search = Search { judge: &judge, gradient: &gradient, limit, best: None };
    let nominal = vec![0.0; count];
    let Some(list) = poles(&nominal) else { return Ok(None) };
    let mut list: Vec<Complex64> = list.into_iter().map(|(pole, _)| pole).collect();
    list.retain(|pole| pole.im >= 0.0);
    list.sort_by(|x, y| y.re.total_cmp(&x.re));
    for pole in list {
        token.check()?;
        let Some(slopes) = gradient(&nominal, pole).filter(|_| !token.is_spent()) else { break };
        let direction: Vec<f64> = slopes.iter().map(|slope| if *slope < 0.0 { -1.0 } else { 1.0 }).collect();
        if let Some(scale) = search.along(&direction) {
            search.keep(direction.iter().map(|x| x * scale).collect());
        }
    }
    for vertex in 0..if count <= OWN_VERTICES { 1usize << count } else { 0 } {
        token.check()?;
        if token.is_spent() {
            break;
        }
        let scale = search.bound();
        if scale.is_finite() {
            let sign = |i: usize| if vertex >> i & 1 == 0 { -scale } else { scale };
            search.keep((0..count).map(sign).collect());
        }
    }
    if let Some(best) = search.best.clone() {
        let better = search.improve(best.delta.clone(), token)?;
        // The search goes by the largest of them.
        if size(&better) < best.size {
            search.keep(better);
        }
    }
    Ok(search.best)
}
