//! The robust stability margin: by which factor the box of parameters may grow before the model can be
//! unstable.

use num_complex::Complex64;
use paynter_base::{CancellationToken, Cancelled};

use crate::axis::{Axis, bound};
use crate::basis::Structure;
use crate::branch::{Limits, branch_margin};
use crate::destabilise::{Destabiliser, destabilise};
use crate::gain::mixed_lower;
use crate::matrix::Matrix;
use crate::modes::{FixedMode, set_aside};
use crate::system::Interconnection;
use crate::tolerance::ON_THE_AXIS;

/// What is found out about robust stability.
#[derive(Debug, Clone, PartialEq)]
pub struct Stability {
    /// A factor up to which the model is proved to be stable.
    pub lower: f64,
    /// A factor at which it was found not to be; none where there is none up to the end of the scaling.
    pub upper: Option<f64>,
    /// The factor at which the scaling of the box ends.
    pub limit: f64,
    /// Bounds of the structured singular value over frequency.
    pub axis: Axis,
    /// By frequency of `axis.points`: a bound from below that is attained there.
    pub attained: Vec<f64>,
    /// What destabilises at `upper`.
    pub worst: Option<Worst>,
    /// Poles that no parameter moves.
    pub fixed: Vec<FixedMode>,
    /// The parts of the box looked at by branch and bound; none where it did not run.
    pub nodes: Option<usize>,
}

/// A Δ at which the model is not stable.
#[derive(Debug, Clone, PartialEq)]
pub struct Worst {
    /// The values of δ.
    pub delta: Vec<f64>,
    /// The frequency at which a pole is on the imaginary axis; infinite where the equations have no solution.
    pub omega: f64,
    /// The pole of the model with real parameters alone.
    pub pole: Option<Complex64>,
    /// The complex blocks at that frequency, where there are any.
    pub complex: Option<Matrix<Complex64>>,
}

/// Why there is no margin.
#[derive(Debug, Clone, PartialEq)]
pub enum NoMargin {
    /// The nominal model has this pole to the right of the imaginary axis.
    Unstable(Complex64),
    /// The work was cancelled.
    Cancelled,
}

impl From<Cancelled> for NoMargin {
    fn from(_: Cancelled) -> NoMargin {
        NoMargin::Cancelled
    }
}

/// Bounds the margin of a model without inputs and outputs. The frequencies are those at which bounds are
/// wanted; the scaling ends at the limit.
pub fn stability(
    system: &Interconnection,
    omega: &[f64],
    limit: f64,
    limits: Option<Limits>,
    token: &CancellationToken,
) -> Result<Stability, NoMargin> {
    let (reduced, fixed) = set_aside(&system.balanced());
    let system = reduced.balanced();
    let poles = system.a.eigenvalues().unwrap_or_default();
    let scale = poles.iter().fold(0.0f64, |most, z| most.max(z.norm()));
    let right = |z: &&Complex64| z.re > ON_THE_AXIS * scale;
    let outside = fixed.iter().map(|mode| &mode.value).filter(|z| z.norm() > 0.0);
    if let Some(pole) = poles.iter().chain(outside.clone()).find(right) {
        return Err(NoMargin::Unstable(*pole));
    }
    let on_axis = |z: &&Complex64| z.re >= -ON_THE_AXIS * scale;
    if let Some(pole) = poles.iter().chain(outside).find(on_axis) {
        let axis = Axis {
            bound: f64::INFINITY,
            peak: crate::axis::Point { omega: pole.im.abs(), upper: f64::INFINITY },
            points: Vec::new(),
            unresolved: Vec::new(),
        };
        let delta = vec![0.0; system.parameters()];
        let worst = Worst { delta, omega: pole.im.abs(), pole: Some(*pole), complex: None };
        let (attained, nodes) = (Vec::new(), None);
        return Ok(Stability {
            lower: 0.0,
            upper: Some(0.0),
            limit,
            axis,
            attained,
            worst: Some(worst),
            fixed,
            nodes,
        });
    }
    let structure = Structure::new(&system.blocks);
    let axis = bound(&system, &structure, omega, token)?;
    let all_real = system.blocks.iter().all(|block| block.is_real());
    let proved = if axis.unresolved.is_empty() { (1.0 / axis.bound).min(limit) } else { 0.0 };
    let mut found = Stability {
        lower: proved,
        upper: None,
        limit,
        attained: vec![0.0; axis.points.len()],
        axis,
        worst: None,
        fixed,
        nodes: None,
    };
    let destabiliser = destabilise(&system, limit, &[], token)?;
    if all_real {
        found.close(&system, destabiliser, limits, token)?;
    } else {
        found.take(destabiliser);
        found.mix(&system, token)?;
    }
    Ok(found)
}

impl Stability {
    fn take(&mut self, destabiliser: Option<Destabiliser>) {
        let Some(found) = destabiliser else { return };
        let omega = found.pole.map_or(f64::INFINITY, |pole| pole.im.abs());
        self.upper = Some(found.size);
        self.worst = Some(Worst { delta: found.delta, omega, pole: found.pole, complex: None });
    }

    /// Branch and bound where it is asked for and there is a gap.
    fn close(
        &mut self,
        system: &Interconnection,
        destabiliser: Option<Destabiliser>,
        limits: Option<Limits>,
        token: &CancellationToken,
    ) -> Result<(), Cancelled> {
        let end = destabiliser.as_ref().map_or(self.limit, |found| found.size);
        let limits = limits.filter(|limits| end.is_finite() && self.lower < end * (1.0 - limits.gap));
        let Some(limits) = limits else {
            self.take(destabiliser);
            return Ok(());
        };
        let omega = self.axis.peak.omega;
        let branched = branch_margin(system, self.lower, destabiliser, self.limit, omega, limits, token)?;
        self.lower = branched.lower;
        self.nodes = Some(branched.nodes);
        self.take(branched.destabiliser);
        Ok(())
    }

    /// Bounds from below at frequencies where some blocks are complex.
    fn mix(&mut self, system: &Interconnection, token: &CancellationToken) -> Result<(), Cancelled> {
        let mut places: Vec<(usize, f64, f64)> =
            self.axis.points.iter().enumerate().map(|(k, p)| (k, p.omega, p.upper)).collect();
        let peak = self.axis.peak;
        places.push((usize::MAX, peak.omega, peak.upper));
        for (place, omega, upper) in places {
            token.check()?;
            if !upper.is_finite() || upper == 0.0 {
                continue;
            }
            let Some((lower, delta, complex)) = mixed_lower(system, omega, upper) else { continue };
            // Rounding of both bounds where they meet.
            let lower = lower.min(upper);
            if let Some(attained) = self.attained.get_mut(place) {
                *attained = lower;
            }
            if lower > 0.0 && self.upper.is_none_or(|upper| 1.0 / lower < upper) && 1.0 / lower <= self.limit
            {
                self.upper = Some(1.0 / lower);
                self.worst = Some(Worst { delta, omega, pole: None, complex: Some(complex) });
            }
        }
        Ok(())
    }
}
