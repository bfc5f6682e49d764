//! Branch and bound over a box of parameters: bounds on parts of it close the gap that one bound for the
//! whole leaves.

use paynter_base::{CancellationToken, Cancelled};

use crate::axis::decide;
use crate::basis::Structure;
use crate::destabilise::{Destabiliser, destabilise, judge, size};
use crate::gain::{AtFrequency, Climb, Measure, WorstGain, gain_structure};
use crate::system::Interconnection;

/// When branch and bound ends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limits {
    /// The relative gap between the bounds.
    pub gap: f64,
    /// The number of parts of the box that are looked at.
    pub nodes: usize,
}

/// What branch and bound has found out about a margin.
#[derive(Debug, Clone, PartialEq)]
pub struct BranchedMargin {
    /// Smaller parameters are proved not to destabilise.
    pub lower: f64,
    /// The smallest that were found to destabilise.
    pub destabiliser: Option<Destabiliser>,
    /// The number of parts looked at.
    pub nodes: usize,
}

#[derive(Debug, Clone)]
struct Part {
    centre: Vec<f64>,
    radius: Vec<f64>,
    /// Where a proof has failed last.
    omega: f64,
}

impl Part {
    fn between(low: &[f64], high: &[f64], omega: f64) -> Part {
        let both = || low.iter().zip(high);
        Part {
            centre: both().map(|(a, b)| 0.5 * (a + b)).collect(),
            radius: both().map(|(a, b)| 0.5 * (b - a)).collect(),
            omega,
        }
    }

    /// The size of its smallest parameters.
    fn nearest(&self) -> f64 {
        let both = self.centre.iter().zip(&self.radius);
        both.map(|(c, r)| (c.abs() - r).max(0.0)).fold(0.0, f64::max)
    }

    /// Two halves, across its longest side.
    fn halves(&self) -> [Part; 2] {
        let longest = |i: &usize, j: &usize| self.radius[*i].total_cmp(&self.radius[*j]);
        let side = (0..self.radius.len()).max_by(longest).unwrap_or(0);
        [-0.5, 0.5].map(|shift| {
            let mut half = self.clone();
            half.centre[side] += shift * self.radius[side];
            half.radius[side] *= 0.5;
            half
        })
    }
}

/// Closes the gap of a margin of a model whose blocks are all real: from the proved size on, parts of the
/// box are proved to be stable, found to hold unstable parameters, or cut.
pub fn branch_margin(
    system: &Interconnection,
    lower: f64,
    destabiliser: Option<Destabiliser>,
    limit: f64,
    omega: f64,
    limits: Limits,
    token: &CancellationToken,
) -> Result<BranchedMargin, Cancelled> {
    let count = system.parameters();
    let structure = Structure::new(&system.blocks);
    let mut best = destabiliser;
    let end = best.as_ref().map_or(limit, |best| best.size);
    let mut open: Vec<Part> = Vec::new();
    // The shell between the proved box and that of the parameters found, in slabs.
    for i in 0..count {
        for side in [-1.0, 1.0] {
            let (mut low, mut high) = (vec![-end; count], vec![end; count]);
            low[..i].fill(-lower);
            high[..i].fill(lower);
            (low[i], high[i]) = if side < 0.0 { (-end, -lower) } else { (lower, end) };
            open.push(Part::between(&low, &high, omega));
        }
    }
    let mut nodes = 0;
    loop {
        token.check()?;
        let end = best.as_ref().map_or(limit, |best| best.size);
        let next = (0..open.len()).min_by(|i, j| open[*i].nearest().total_cmp(&open[*j].nearest()));
        let Some(next) = next else {
            return Ok(BranchedMargin { lower: end, destabiliser: best, nodes });
        };
        let reached = open[next].nearest().max(lower);
        if reached >= end * (1.0 - limits.gap) || nodes >= limits.nodes || token.is_spent() {
            return Ok(BranchedMargin { lower: reached.min(end), destabiliser: best, nodes });
        }
        nodes += 1;
        token.spend(system.poles_operations());
        let mut part = open.swap_remove(next);
        let (unstable, _) = judge(system, &part.centre);
        if unstable {
            let near = size(&part.centre).min(end);
            if near < end || best.is_none() {
                best = destabilise(system, limit, &[part.centre.clone()], token)?
                    .filter(|found| found.size < end)
                    .or(best);
            }
        } else if let Ok(moved) = system.around(&part.centre, &part.radius) {
            match decide(&moved.balanced(), &structure, 1.0, part.omega, token)? {
                Ok(()) => continue,
                Err(omega) => part.omega = omega,
            }
        }
        open.extend(part.halves());
    }
}

/// Closes the gap of a worst-case gain. Returns it with the number of parts looked at; the bound from above
/// stays as it was where the limit of nodes comes first.
pub fn branch_gain(
    system: &Interconnection,
    mut worst: WorstGain,
    limits: Limits,
    token: &CancellationToken,
) -> Result<(WorstGain, usize), Cancelled> {
    let count = system.parameters();
    let structure = gain_structure(&system.blocks);
    let climb = Climb { system, measure: Measure::Performance, token };
    let whole = Part::between(&vec![-1.0; count], &vec![1.0; count], worst.axis.peak.omega);
    let mut open = std::collections::VecDeque::from([whole]);
    let mut nodes = 0;
    while let Some(mut part) = open.pop_front() {
        token.check()?;
        if nodes >= limits.nodes || token.is_spent() {
            return Ok((worst, nodes));
        }
        nodes += 1;
        let level = worst.lower * (1.0 + limits.gap);
        let unstable = judge(system, &part.centre).0;
        if unstable {
            // No gain is finite there; the bound says so already.
            return Ok((worst, nodes));
        }
        if let Ok(moved) = system.around(&part.centre, &part.radius) {
            match decide(&moved.balanced(), &structure, level, part.omega, token)? {
                Ok(()) => continue,
                Err(omega) => part.omega = omega,
            }
        }
        if let Some(at) = AtFrequency::new(system, part.omega) {
            let (value, delta) = climb.over_box(&at, &part.centre, 1.0, false);
            let (peak, omega) = climb.along(&delta, &[part.omega]);
            if peak.max(value) > worst.lower && value.is_finite() {
                let omega = if peak >= value { omega } else { part.omega };
                worst.dynamics = climb.dynamics(&delta, omega);
                (worst.lower, worst.delta, worst.omega) = (peak.max(value), delta, omega);
            }
        }
        open.extend(part.halves());
    }
    worst.axis.bound = worst.axis.bound.min(worst.lower * (1.0 + limits.gap));
    Ok((worst, nodes))
}
