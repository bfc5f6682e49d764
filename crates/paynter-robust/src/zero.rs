//! Whether a model is lost where the scaling of its box ends because a parameter is zero there: as long as the
//! equations have a solution, a pole on the imaginary axis counts there as elsewhere.

use crate::poles::Side;
use crate::stability::Worst;
use crate::system::Interconnection;
use crate::tolerance::{CLOSER_TO_ZERO, END_OF_SCALING};

/// The parameter that is zero at the limit where a pole crosses the axis with it, the others being nominal; nothing
/// where none does, or where it crosses through infinity.
pub(crate) fn lost_at_zero(system: &Interconnection, limit: f64) -> Option<Worst> {
    let count = system.parameters();
    let at = |place: usize, value: f64| {
        let mut delta = vec![0.0; count];
        delta[place] = value;
        delta
    };
    let sides = (0..count).flat_map(|place| [-limit, limit].map(|value| (place, value)));
    sides.into_iter().find_map(|(place, value)| {
        let beyond = |share: f64| {
            let (pole, side) =
                system.poles_at(&at(place, value * (1.0 + share * END_OF_SCALING)))?.rightmost()?;
            (side == Side::Right).then_some(pole)
        };
        let pole = beyond(1.0)?;
        // The nearer to zero, the nearer it is to the axis; one that comes from infinity is the farther.
        let is_lost = beyond(CLOSER_TO_ZERO).is_none_or(|closer| closer.re < 0.5 * pole.re);
        let omega = pole.im.abs();
        is_lost.then(|| Worst { delta: at(place, value), omega, pole: Some(pole), complex: None })
    })
}
