//! What the parameters of a model attain themselves, where its interconnection has values that are uncertain as a
//! whole: these count as independent of the parameters in them, so what is attained with them may be out of reach.

use num_complex::Complex64;
use paynter_base::{CancellationToken, Cancelled};

use crate::axis::frequencies;
use crate::extremes::Extreme;
use crate::gain::{Climb, Measure};
use crate::modes::moved_part;
use crate::pieces::smallest_piece;
use crate::system::Interconnection;
use crate::tolerance::GAIN_FREQUENCIES;
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
        let system = channel(delta).filter(|system| rightmost(system).is_none_or(|pole| pole.re < 0.0))?;
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

/// The pole that is farthest to the right.
fn rightmost(system: &Interconnection) -> Option<Complex64> {
    system.a.eigenvalues()?.into_iter().max_by(|x, y| x.re.total_cmp(&y.re))
}
