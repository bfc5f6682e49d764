//! The robust stability margin: by which factor the box of parameters may grow before the model can be
//! unstable.

use num_complex::Complex64;
use paynter_base::number::significant;
use paynter_base::{CancellationToken, Cancelled, Diagnostic, QueryError, code};

use crate::axis::{Axis, Point, bound, decide};
use crate::basis::Structure;
use crate::branch::{Limits, branch_margin};
use crate::destabilise::{Destabiliser, destabilise, size};
use crate::gain::mixed_lower;
use crate::matrix::Matrix;
use crate::modes::{FixedMode, moved_part};
use crate::own::own_destabiliser;
use crate::poles::Side;
use crate::regular::Regularised;
use crate::singular::{Singular, has_pole_at, some_vertices};
use crate::system::Interconnection;
use crate::tolerance::{CLOSING, CONTRADICTION, END_OF_SCALING, FIRST_SHARE, FREQUENCY_BOUND_SHARE};
use crate::tolerances::Family;
use crate::zero::lost_at_zero;

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
    /// The rounding of the nominal model's numbers moves this pole across the imaginary axis.
    Undecided(Complex64),
    /// The work was cancelled.
    Cancelled,
}

impl From<NoMargin> for QueryError {
    fn from(reason: NoMargin) -> QueryError {
        let place = |pole: Complex64| match pole.im {
            0.0 => significant(pole.re),
            im => format!("{} ± {}j", significant(pole.re), significant(im.abs())),
        };
        let message = match reason {
            NoMargin::Unstable(pole) => {
                format!("the nominal model is unstable: it has a pole at {}", place(pole))
            }
            NoMargin::Undecided(pole) => format!(
                "whether the nominal model is stable is not decided: sixteen digits of its matrices do not determine on which side of the imaginary axis a pole near {} lies",
                place(pole)
            ),
            NoMargin::Cancelled => return QueryError::Cancelled,
        };
        QueryError::from(Diagnostic::new(code::UNSTABLE_NOMINAL, message))
    }
}

impl From<Cancelled> for NoMargin {
    fn from(_: Cancelled) -> NoMargin {
        NoMargin::Cancelled
    }
}

/// The pole of a list that is nearest to one of another calculation, conjugate pairs counting as one.
pub fn nearest_pole(poles: &[Complex64], pole: Complex64) -> Option<Complex64> {
    let distance = |z: &Complex64| (z.re - pole.re).hypot(z.im.abs() - pole.im.abs());
    poles.iter().copied().min_by(|x, y| distance(x).total_cmp(&distance(y)))
}

/// Bounds the margin of a model without inputs and outputs. The frequencies are those at which bounds are
/// wanted; the scaling ends at the limit. Parameters that are known to leave no solution are starts of the search.
pub fn stability(
    system: &Interconnection,
    omega: &[f64],
    (limit, known): (f64, &[Vec<f64>]),
    limits: Option<Limits>,
    token: &CancellationToken,
) -> Result<Stability, NoMargin> {
    let (system, fixed) = moved_part(system);
    let own: Vec<(Complex64, Side)> = system.poles().sides().collect();
    let outside = fixed.iter().filter(|mode| mode.value.norm() > 0.0).map(|mode| (mode.value, mode.side));
    let poles: Vec<(Complex64, Side)> = own.into_iter().chain(outside).collect();
    let on = |wanted: Side| poles.iter().find(|(_, side)| *side == wanted).map(|(pole, _)| *pole);
    if let Some(pole) = on(Side::Right) {
        return Err(NoMargin::Unstable(pole));
    }
    if let Some(pole) = on(Side::On) {
        return Ok(Stability::none(system.parameters(), limit, pole, fixed));
    }
    if let Some(pole) = on(Side::Undecided) {
        return Err(NoMargin::Undecided(pole));
    }
    let structure = Structure::new(&system.blocks);
    let inside = limit * (1.0 - END_OF_SCALING);
    let axis = bound(&system, &structure, omega, &token.with_share(FREQUENCY_BOUND_SHARE))?;
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
    if all_real {
        let mut starts = found.attain(&system, &token.with_share(FIRST_SHARE))?;
        starts.extend(known.iter().cloned());
        let destabiliser = destabilise(&system, inside, &starts, &token.with_share(FIRST_SHARE))?;
        found.close(&system, destabiliser, limits, token)?;
        found.show_worst(&system, &structure, token);
    } else {
        found.take(destabilise(&system, inside, known, &token.with_share(FIRST_SHARE))?);
        found.mix(&system, token)?;
    }
    if all_real
        && found.upper.is_none()
        && limit.is_finite()
        && let Some(worst) = lost_at_zero(&system, limit)
    {
        (found.upper, found.worst) = (Some(limit), Some(worst));
    }
    found.agree();
    Ok(found)
}

impl Stability {
    /// No margin at all: the nominal model has a pole on the imaginary axis.
    pub(crate) fn none(parameters: usize, limit: f64, pole: Complex64, fixed: Vec<FixedMode>) -> Stability {
        let omega = pole.im.abs();
        let peak = Point { omega, upper: f64::INFINITY };
        let axis = Axis { bound: f64::INFINITY, peak, points: Vec::new(), unresolved: Vec::new() };
        let worst = Worst { delta: vec![0.0; parameters], omega, pole: Some(pole), complex: None };
        Stability {
            lower: 0.0,
            upper: Some(0.0),
            limit,
            axis,
            attained: Vec::new(),
            worst: Some(worst),
            fixed,
            nodes: None,
        }
    }

    /// A proof that what is attained contradicts is none: rounding must have hidden a crossing from it.
    fn agree(&mut self) {
        let Some((upper, worst)) = self.upper.zip(self.worst.as_ref()) else { return };
        if self.lower > upper * (1.0 + CONTRADICTION) {
            self.axis.unresolved.push((worst.omega, worst.omega));
            (self.lower, self.axis.bound) = (0.0, f64::INFINITY);
        }
        self.lower = self.lower.min(upper);
    }

    /// Looks for parameters themselves that make the model unstable, each up to where it reaches zero, and puts them in
    /// the place of values that count as independent of them, whose range is only that of the parameters at a scaling of
    /// one. Tells whether there are any.
    pub fn search_own(
        &mut self,
        family: &Family<'_>,
        reach: &[f64],
        token: &CancellationToken,
    ) -> Result<bool, Cancelled> {
        let limit = reach.iter().copied().fold(self.limit, f64::min);
        let found = own_destabiliser(family, (reach.len(), limit), &self.fixed, token)?;
        let Some(found) = found else { return Ok(false) };
        if self.lower < 1.0 || found.size >= 1.0 {
            self.lower = self.lower.min(found.size);
        }
        self.take(Some(found));
        self.agree();
        Ok(true)
    }

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
        // The bound of all frequencies has some slack; often the gap is closed without it.
        let level = 1.0 / (end * (1.0 - CLOSING * limits.gap));
        let first = destabiliser.as_ref().and_then(|found| found.pole).map_or(omega, |pole| pole.im.abs());
        if decide(system, &Structure::new(&system.blocks), level, first, token)?.is_ok() {
            (self.lower, self.axis.bound) = (1.0 / level, self.axis.bound.min(level));
            self.take(destabiliser);
            return Ok(());
        }
        let branched = branch_margin(
            system,
            self.lower,
            destabiliser,
            self.limit * (1.0 - END_OF_SCALING),
            omega,
            limits,
            token,
        )?;
        self.lower = branched.lower;
        self.nodes = Some(branched.nodes);
        self.take(branched.destabiliser);
        Ok(())
    }

    /// Bounds from below at frequencies where all blocks are real, and the parameters of the largest.
    fn attain(
        &mut self,
        system: &Interconnection,
        token: &CancellationToken,
    ) -> Result<Vec<Vec<f64>>, Cancelled> {
        let count = system.parameters();
        let mut places: Vec<(f64, f64)> = self.axis.points.iter().map(|p| (p.omega, p.upper)).collect();
        places.push((self.axis.peak.omega, self.axis.peak.upper));
        let mut found: Vec<Option<Vec<f64>>> = vec![None; places.len()];
        // Along the axis and back, each from the solution of its neighbour.
        let there = (0..places.len()).map(|k| (k, k.checked_sub(1)));
        let back = (0..places.len().saturating_sub(1)).rev().map(|k| (k, Some(k + 1)));
        for (k, neighbour) in there.chain(back) {
            token.check()?;
            if token.is_spent() {
                break;
            }
            let (omega, upper) = places[k];
            token.spend(system.response_operations() + system.poles_operations());
            let Some(at) = Singular::new(system, omega).filter(|_| upper > 0.0) else { continue };
            let mut starts: Vec<Vec<f64>> = neighbour.and_then(|k| found[k].clone()).into_iter().collect();
            if neighbour.is_none_or(|neighbour| neighbour < k) {
                starts.push(vec![0.0; count]);
                starts.extend(some_vertices(count).map(|vertex| vertex.map(|x| x / upper).collect()));
            }
            if let Some(better) = at.smallest(&starts, token)
                && found[k].as_ref().is_none_or(|known| size(&better) < size(known))
                && has_pole_at(system, &better, omega)
            {
                found[k] = Some(better);
            }
        }
        for ((attained, point), found) in self.attained.iter_mut().zip(&self.axis.points).zip(&found) {
            // Rounding of both bounds where they meet.
            *attained = found.as_ref().map_or(0.0, |delta| (1.0 / size(delta)).min(point.upper));
        }
        let best = found.into_iter().flatten().min_by(|x, y| size(x).total_cmp(&size(y)));
        Ok(best.into_iter().collect())
    }

    /// Adds the frequency of the worst parameters to those of the bounds: they may lie on a peak between others.
    fn show_worst(&mut self, system: &Interconnection, structure: &Structure, token: &CancellationToken) {
        let Some((worst, size)) = self.worst.as_ref().zip(self.upper) else { return };
        let (omega, lower) = (worst.omega, 1.0 / size);
        let points = &mut self.axis.points;
        let place = points.partition_point(|point| point.omega < omega);
        if points.get(place).is_none_or(|point| point.omega != omega) {
            let upper = Regularised::new(system, structure).at(omega, token).min(self.axis.bound).max(lower);
            points.insert(place, Point { omega, upper });
            self.attained.insert(place, lower);
        }
    }

    /// Bounds from below at frequencies where some blocks are complex.
    fn mix(&mut self, system: &Interconnection, token: &CancellationToken) -> Result<(), Cancelled> {
        let mut places: Vec<(usize, f64, f64)> =
            self.axis.points.iter().enumerate().map(|(k, p)| (k, p.omega, p.upper)).collect();
        let peak = self.axis.peak;
        places.push((usize::MAX, peak.omega, peak.upper));
        for (place, omega, upper) in places {
            token.check()?;
            if token.is_spent() {
                break;
            }
            if !upper.is_finite() || upper == 0.0 {
                continue;
            }
            let Some((lower, delta, complex)) = mixed_lower(system, omega, upper, token) else { continue };
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
