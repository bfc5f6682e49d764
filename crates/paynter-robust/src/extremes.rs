//! The smallest value of a figure over a box of parameters, |δ| ≤ 1: found, not proved.

use paynter_base::{CancellationToken, Cancelled};

use crate::tolerance::{BETTER, EXTREME_STEPS, ROUNDED_DERIVATIVE, STEP_FIGURE_DIFFERENCE, TRIED_VERTICES};

/// A value that a figure has in the box, and where.
#[derive(Debug, Clone, PartialEq)]
pub struct Extreme {
    /// The value.
    pub value: f64,
    /// The parameters, one for each side of the box.
    pub delta: Vec<f64>,
}

/// A figure of a model at parameters; none where it has none there.
pub type Figure<'a> = dyn Fn(&[f64]) -> Option<f64> + 'a;

/// Looks for the smallest value of a figure: along its gradient from the nominal parameters, to the
/// vertices that it points to, and at all vertices where they are few.
pub fn smallest(
    figure: &Figure<'_>,
    count: usize,
    token: &CancellationToken,
) -> Result<Option<Extreme>, Cancelled> {
    let Some(nominal) = figure(&vec![0.0; count]) else { return Ok(None) };
    let mut best = Extreme { value: nominal, delta: vec![0.0; count] };
    descend(figure, &mut best, token)?;
    if count <= TRIED_VERTICES {
        let mut vertices = best.clone();
        for vertex in 0..1usize << count {
            token.check()?;
            let delta: Vec<f64> = (0..count).map(|i| if vertex >> i & 1 == 0 { -1.0 } else { 1.0 }).collect();
            try_out(figure, delta, &mut vertices);
        }
        if vertices.value < best.value {
            best = vertices;
            descend(figure, &mut best, token)?;
        }
    }
    Ok(Some(best))
}

/// The largest value, likewise.
pub fn largest(
    figure: &Figure<'_>,
    count: usize,
    token: &CancellationToken,
) -> Result<Option<Extreme>, Cancelled> {
    let found = smallest(&|delta| figure(delta).map(|value| -value), count, token)?;
    Ok(found.map(|found| Extreme { value: -found.value, ..found }))
}

/// The derivatives of a figure by the parameters at the middle of the box, by central differences.
pub fn derivatives(figure: &Figure<'_>, count: usize) -> Vec<Option<f64>> {
    let at = |place: usize, value: f64| {
        let mut delta = vec![0.0; count];
        delta[place] = value;
        figure(&delta)
    };
    // Two steps and Richardson's extrapolation.
    let difference = |place: usize, step: f64| Some((at(place, step)? - at(place, -step)?) / (2.0 * step));
    let nominal = figure(&vec![0.0; count]).unwrap_or(0.0);
    (0..count)
        .map(|place| {
            let (whole, half) = (
                difference(place, 2.0 * STEP_FIGURE_DIFFERENCE)?,
                difference(place, STEP_FIGURE_DIFFERENCE)?,
            );
            let derivative = (4.0 * half - whole) / 3.0;
            Some(if derivative.abs() <= ROUNDED_DERIVATIVE * nominal.abs() { 0.0 } else { derivative })
        })
        .collect()
}

/// Takes parameters whose figure is smaller than the best.
pub(crate) fn try_out(figure: &Figure<'_>, delta: Vec<f64>, best: &mut Extreme) -> bool {
    match figure(&delta) {
        Some(value) if value < best.value - BETTER * best.value.abs() => {
            *best = Extreme { value, delta };
            true
        }
        _ => false,
    }
}

/// Descends along the gradient inside the box; whole steps go to the vertex that it points to.
pub(crate) fn descend(
    figure: &Figure<'_>,
    best: &mut Extreme,
    token: &CancellationToken,
) -> Result<(), Cancelled> {
    for _ in 0..EXTREME_STEPS {
        token.check()?;
        let gradient: Vec<f64> = (0..best.delta.len())
            .map(|i| {
                let step = if best.delta[i] > 0.0 { -STEP_FIGURE_DIFFERENCE } else { STEP_FIGURE_DIFFERENCE };
                let mut beside = best.delta.clone();
                beside[i] += step;
                // Where the figure ends there is no direction.
                figure(&beside).map_or(0.0, |value| (value - best.value) / step)
            })
            .map(|derivative| if derivative.is_finite() { derivative } else { 0.0 })
            .collect();
        let steepest = gradient.iter().fold(0.0f64, |most, g| most.max(g.abs()));
        if steepest == 0.0 || !steepest.is_finite() {
            return Ok(());
        }
        let vertex: Vec<f64> = gradient
            .iter()
            .zip(&best.delta)
            .map(|(g, x)| if g.abs() > BETTER * steepest { -g.signum() } else { *x })
            .collect();
        let along = |length: f64| -> Vec<f64> {
            let moved = best.delta.iter().zip(&gradient).map(|(x, g)| x - length * g / steepest);
            moved.map(|x| x.clamp(-1.0, 1.0)).collect()
        };
        let mut candidates = vec![vertex];
        candidates.extend((0..10).map(|k| along(2.0 * 0.4f64.powi(k))));
        let mut found = best.clone();
        if !candidates.into_iter().any(|delta| try_out(figure, delta, &mut found)) {
            return Ok(());
        }
        *best = found;
    }
    Ok(())
}
