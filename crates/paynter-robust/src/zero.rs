//! Whether a model is lost where the scaling of its box ends because a parameter is zero there: as long as the
//! equations have a solution, a pole on the imaginary axis counts there as elsewhere.

use crate::poles::Side;
use crate::stability::Worst;
use crate::system::Interconnection;
use crate::tolerance::{END_OF_SCALING, FARTHEST_AT_ZERO};

/// The parameter that is zero at the limit where a pole crosses the axis with it, the others being nominal; nothing
/// where none does, or where it crosses through infinity.
pub(crate) fn lost_at_zero(system: &Interconnection, limit: f64) -> Option<Worst> {
    let poles = system.a.eigenvalues()?;
    let fastest = poles.iter().fold(0.0f64, |most, z| most.max(z.norm()));
    let count = system.parameters();
    let at = |place: usize, value: f64| {
        let mut delta = vec![0.0; count];
        delta[place] = value;
        delta
    };
    let sides = (0..count).flat_map(|place| [-limit, limit].map(|value| (place, value)));
    sides.into_iter().find_map(|(place, value)| {
        let beyond = system.poles_at(&at(place, value * (1.0 + END_OF_SCALING)))?;
        let (pole, side) = beyond.rightmost()?;
        // Just beyond it is where it was on the axis, but for the little that it went on.
        let is_lost = side == Side::Right && pole.re <= FARTHEST_AT_ZERO * fastest;
        let omega = pole.im.abs();
        is_lost.then(|| Worst { delta: at(place, value), omega, pole: Some(pole), complex: None })
    })
}
