//! The smallest value over a box of a figure that is the least of several smooth ones, as a margin is that of the
//! crossings of a loop. A gradient mixes the pieces where two of them are equal, and a piece ends where its crossing
//! does; a step along one parameter to either side still goes down.

use paynter_base::random::Random;
use paynter_base::{CancellationToken, Cancelled};

use crate::extremes::{Extreme, Figure, descend, try_out};
use crate::tolerance::{
    ANOTHER_SWEEP, DRAWN_STEPS, DRAWN_VERTICES, EXTREME_STEPS, PIECE_SEARCHES, PIECE_STEPS, PIECE_VERTICES,
};

/// Looks for the smallest value of a figure from the nominal parameters, from others that are given and from vertices.
pub fn smallest_piece(
    figure: &Figure<'_>,
    count: usize,
    starts: &[Vec<f64>],
    token: &CancellationToken,
) -> Result<Option<Extreme>, Cancelled> {
    let nominal = vec![0.0; count];
    let Some(value) = figure(&nominal) else { return Ok(None) };
    let nominal = Extreme { value, delta: nominal };
    let mut tried = Vec::new();
    for delta in starts.iter().cloned().chain(vertices(count)) {
        token.check()?;
        tried.extend(figure(&delta).map(|value| Extreme { value, delta }));
    }
    tried.sort_by(|x, y| x.value.total_cmp(&y.value));
    let mut best = nominal.clone();
    for start in std::iter::once(nominal).chain(tried.into_iter().take(PIECE_SEARCHES)) {
        let found = improved(figure, start, token)?;
        if found.value < best.value {
            best = found;
        }
    }
    Ok(Some(best))
}

/// The vertices of the box, drawn where they are many.
fn vertices(count: usize) -> Vec<Vec<f64>> {
    if count <= PIECE_VERTICES {
        let sign = |vertex: usize, i: usize| if vertex >> i & 1 == 0 { -1.0 } else { 1.0 };
        return (0..1usize << count).map(|v| (0..count).map(|i| sign(v, i)).collect()).collect();
    }
    let mut random = Random::new(1);
    let mut sign = || if random.unit() < 0.5 { -1.0 } else { 1.0 };
    (0..DRAWN_VERTICES).map(|_| (0..count).map(|_| sign()).collect()).collect()
}

/// The end of a search: along the gradient, then along one parameter after the other and in drawn directions.
pub fn improved(
    figure: &Figure<'_>,
    mut best: Extreme,
    token: &CancellationToken,
) -> Result<Extreme, Cancelled> {
    for _ in 0..EXTREME_STEPS {
        let before = best.value;
        descend(figure, &mut best, token)?;
        sweep(figure, &mut best, token)?;
        if best.value >= before - ANOTHER_SWEEP * before.abs() {
            break;
        }
    }
    Ok(best)
}

/// One step along each parameter to both sides, to the ends of the box first; then some in drawn directions, for an
/// optimum at a bent end of the figure.
fn sweep(figure: &Figure<'_>, best: &mut Extreme, token: &CancellationToken) -> Result<(), Cancelled> {
    let count = best.delta.len();
    for place in 0..count {
        token.check()?;
        for step in PIECE_STEPS.into_iter().flat_map(|step| [-step, step]) {
            let mut delta = best.delta.clone();
            delta[place] = (delta[place] + step).clamp(-1.0, 1.0);
            try_out(figure, delta, best);
        }
    }
    let mut random = Random::new(2);
    let mut length = PIECE_STEPS[1];
    for _ in 0..DRAWN_STEPS {
        token.check()?;
        let mut drawn = || length * random.symmetric();
        let delta = best.delta.iter().map(|x| (x + drawn()).clamp(-1.0, 1.0)).collect();
        if !try_out(figure, delta, best) {
            length *= 0.8;
        }
    }
    Ok(())
}
