//! Bounds over the whole frequency axis, from zero to infinity: found at frequencies, proved between them.

use paynter_base::{CancellationToken, Cancelled};

use crate::basis::Structure;
use crate::interval::valid_interval;
use crate::regular::{Regularised, Verdict};
use crate::system::Interconnection;
use crate::tolerance::{
    AXIS_POINTS_PER_DECADE, BEYOND_POLES, BOUND_SLACK, CERTIFICATES, CLOSE_SHARE, END_WIDTH, LOOSER_BOUNDS,
    NARROW_INTERVAL, NEIGHBOURING_INTERVAL, REGULARISED_INTERVAL, ROUNDED_ROOT, SWEEP_SHARE, UPPER_TOLERANCE,
};
use crate::upper::{Goal, Upper, upper};
use std::cell::OnceCell;

/// The bound at one frequency.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// Angular frequency in rad/s; may be infinite.
    pub omega: f64,
    /// The bound; infinite where there is none.
    pub upper: f64,
}

/// A bound for all frequencies.
#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    /// Proved for all frequencies but the unresolved ones; infinite where there is none.
    pub bound: f64,
    /// Where the largest bound was found.
    pub peak: Point,
    /// The bounds at the frequencies that were asked for.
    pub points: Vec<Point>,
    /// Intervals of frequency on which the bound is not proved.
    pub unresolved: Vec<(f64, f64)>,
}

/// Angular frequencies that show what a model does: about its poles, with zero and infinity.
pub fn frequencies(system: &Interconnection) -> Vec<f64> {
    let poles = system.close_poles();
    let sizes: Vec<f64> = poles.iter().map(|z| z.norm()).filter(|x| x.is_finite()).collect();
    let fastest = sizes.iter().copied().fold(0.0, f64::max);
    let moving = sizes.iter().copied().filter(|x| *x > ROUNDED_ROOT * fastest);
    let (low, high) = (moving.fold(f64::INFINITY, f64::min) / 10.0, fastest * 10.0);
    let mut list = vec![0.0];
    if high > 0.0 {
        list.extend(logarithmic(low, high, AXIS_POINTS_PER_DECADE));
        list.extend(poles.iter().filter(|z| z.im > 0.0).map(|z| z.norm()));
    }
    list.sort_by(f64::total_cmp);
    list.dedup();
    list.push(f64::INFINITY);
    list
}

/// Frequencies between two in logarithmic steps.
pub(crate) fn logarithmic(low: f64, high: f64, per_decade: f64) -> Vec<f64> {
    let steps = ((high / low).log10() * per_decade).ceil().max(1.0);
    (0..=steps as usize).map(|k| low * (high / low).powf(k as f64 / steps)).collect()
}

/// Finds bounds at frequencies, one after the other, each starting from its neighbour's. Where the budget of work does
/// not reach for all of them, evenly chosen ones are left out.
pub fn sweep(
    system: &Interconnection,
    structure: &Structure,
    omega: &[f64],
    tolerance: f64,
    token: &CancellationToken,
) -> Result<Vec<Point>, Cancelled> {
    let mut last: Option<Upper> = None;
    let mut points = Vec::with_capacity(omega.len());
    let (mut place, mut step) = (0, 1);
    while let Some(&at) = omega.get(place) {
        token.check()?;
        let before = token.left();
        token.spend(system.response_operations());
        let found =
            system.at(at).and_then(|m| upper(&m, structure, last.as_ref(), Goal::Best(tolerance), token));
        // A bound that ends with the budget is no least one.
        if token.is_spent() && !points.is_empty() {
            break;
        }
        points.push(Point { omega: at, upper: found.as_ref().map_or(f64::INFINITY, |found| found.beta) });
        last = found.or(last);
        token.advance(step as u64);
        // As many more as what is left pays for, if each costs as much as this one.
        if let Some((before, left)) = before.zip(token.left()) {
            let affordable = left / (before - left).max(1);
            let open = (omega.len() - place - 1) as u64;
            step = match affordable {
                0 => break,
                _ => step.max(open.div_ceil(affordable).max(1) as usize),
            };
        }
        place += step;
    }
    Ok(points)
}

/// Proves a bound for the whole axis within a share of the best that scalings can prove. The frequencies
/// given are where it looks first.
pub fn bound(
    system: &Interconnection,
    structure: &Structure,
    omega: &[f64],
    token: &CancellationToken,
) -> Result<Axis, Cancelled> {
    let points = sweep(system, structure, omega, UPPER_TOLERANCE, &token.with_share(SWEEP_SHARE))?;
    let first = Point { omega: 0.0, upper: 0.0 };
    let peak = points.iter().fold(first, |most, point| if point.upper > most.upper { *point } else { most });
    let mut cover = Cover::new(system, structure, peak);
    let bound = cover.rising(token)?;
    Ok(Axis { bound, peak: cover.peak, points, unresolved: cover.unresolved })
}

/// Whether a number is proved to be a bound for the whole axis; looks at one frequency first, where it
/// would fail most likely. Where it is not, tells where.
pub fn decide(
    system: &Interconnection,
    structure: &Structure,
    beta: f64,
    first: f64,
    token: &CancellationToken,
) -> Result<Result<(), f64>, Cancelled> {
    let peak = Point { omega: first, upper: beta };
    let mut cover = Cover::new(system, structure, peak);
    let fails = cover.at_level(beta, &cover.order(first), token)?;
    Ok(match (fails, cover.unresolved.first()) {
        (Some(point), _) => Err(point.omega),
        (None, Some(interval)) => Err(between(*interval)),
        (None, None) => Ok(()),
    })
}

struct Cover<'a> {
    system: &'a Interconnection,
    structure: &'a Structure,
    regularised: OnceCell<Regularised>,
    peak: Point,
    /// Intervals that no certificate covers yet. What is proved for one bound is for a larger one.
    open: Vec<(f64, f64)>,
    /// Intervals on which all that was tried has failed.
    unresolved: Vec<(f64, f64)>,
}

impl<'a> Cover<'a> {
    fn new(system: &'a Interconnection, structure: &'a Structure, peak: Point) -> Cover<'a> {
        let (open, unresolved) = (vec![(0.0, f64::INFINITY)], Vec::new());
        Cover { system, structure, regularised: OnceCell::new(), peak, open, unresolved }
    }

    /// Where to look first: where a bound would fail most likely, then at the ends. A proof far beyond the poles
    /// mostly holds to infinity, and better than one that is made there.
    fn order(&self, first: f64) -> [f64; 4] {
        let poles = self.system.a.eigenvalues().unwrap_or_default();
        let fastest = poles.iter().map(|z| z.norm()).fold(0.0, f64::max);
        let beyond = if fastest > 0.0 { BEYOND_POLES * fastest } else { f64::INFINITY };
        [first, 0.0, beyond, f64::INFINITY]
    }

    /// Proves the largest bound found so far, with a little more, and goes on with the larger one wherever it turns out
    /// too small. Intervals that resist, or that no work was left for, are tried with larger bounds: these hold on wider
    /// intervals.
    fn rising(&mut self, token: &CancellationToken) -> Result<f64, Cancelled> {
        let mut level = f64::MIN_POSITIVE.sqrt();
        let close = token.with_share(CLOSE_SHARE);
        loop {
            if self.peak.upper.is_infinite() {
                return Ok(f64::INFINITY);
            }
            level = level.max(self.peak.upper * (1.0 + BOUND_SLACK));
            match self.at_level(level, &self.order(self.peak.omega), &close)? {
                None => break,
                Some(point) => self.peak = point,
            }
            self.open.append(&mut self.unresolved);
        }
        let least = level;
        for (k, factor) in LOOSER_BOUNDS.iter().enumerate() {
            if self.unresolved.is_empty() {
                break;
            }
            let resisting = joined(std::mem::take(&mut self.unresolved));
            let tried = least.max(self.peak.upper) * factor;
            self.open.clone_from(&resisting);
            let share = token.with_share(1.0 / (LOOSER_BOUNDS.len() - k) as f64);
            let above = self.at_level(tried, &[], &share)?;
            if let Some(point) = above {
                // What is left open at this bound is so at the next.
                self.unresolved.append(&mut self.open);
                self.peak = if point.upper > self.peak.upper { point } else { self.peak };
                if point.upper.is_infinite() {
                    return Ok(f64::INFINITY);
                }
                continue;
            }
            // A larger bound that proves nothing more is of no use.
            if width(&self.unresolved) < width(&resisting) {
                level = tried;
            }
        }
        self.unresolved = joined(std::mem::take(&mut self.unresolved));
        Ok(level)
    }

    /// Covers what is open with certificates of one bound; a frequency at which there is none, with its own bound.
    fn at_level(
        &mut self,
        level: f64,
        first: &[f64],
        token: &CancellationToken,
    ) -> Result<Option<Point>, Cancelled> {
        let mut start: Option<Upper> = None;
        let mut waiting: Vec<f64> = first.iter().rev().copied().collect();
        for _ in 0..CERTIFICATES {
            token.check()?;
            if token.is_spent() {
                break;
            }
            let open = &mut self.open;
            let (omega, place) = match waiting.pop() {
                Some(omega) => match open.iter().position(|(a, b)| *a <= omega && omega <= *b) {
                    Some(place) => (omega, place),
                    None => continue,
                },
                None => {
                    // The widest interval, by the ratio of its ends; one that reaches an end of the axis has its turn.
                    let width = |(a, b): &(f64, f64)| (b / a).min(END_WIDTH);
                    let widest = (0..open.len()).max_by(|i, j| width(&open[*i]).total_cmp(&width(&open[*j])));
                    let Some(place) = widest else { return Ok(None) };
                    let interval = open[place];
                    if interval.1 <= interval.0 * (1.0 + REGULARISED_INTERVAL) {
                        let regularised = || Regularised::new(self.system, self.structure);
                        match self.regularised.get_or_init(regularised).decide(interval, level, token) {
                            Verdict::Above(omega, upper) => return Ok(Some(Point { omega, upper })),
                            Verdict::Proved => {
                                open.swap_remove(place);
                                continue;
                            }
                            Verdict::Open => {}
                        }
                    }
                    (between(interval), place)
                }
            };
            let goal = Goal::Below(level, UPPER_TOLERANCE);
            token.spend(self.system.response_operations());
            let here = self.system.at(omega);
            let from = |start: Option<&Upper>| {
                here.as_ref().and_then(|m| upper(m, self.structure, start, goal, token))
            };
            let found = match from(start.as_ref()) {
                // The scalings of another frequency may lead nowhere.
                Some(found) if found.beta > level && start.is_some() => from(None).or(Some(found)),
                found => found,
            };
            // A bound that ends with the budget is no least one.
            if token.is_spent() && found.as_ref().is_none_or(|found| found.beta > level) {
                break;
            }
            let Some(found) = found else {
                return Ok(Some(Point { omega, upper: f64::INFINITY }));
            };
            if found.beta > level {
                return Ok(Some(Point { omega, upper: found.beta }));
            }
            let (a, b) = self.open.swap_remove(place);
            let covered = valid_interval(self.system, self.structure, &found.scaling, level, omega, token);
            start = Some(found);
            let parts = match covered {
                Some((low, high)) => [(a, low.min(b)), (high.max(a), b)],
                None => {
                    let middle = if a < omega && omega < b { omega } else { between((a, b)) };
                    [(a, middle), (middle, b)]
                }
            };
            for (a, b) in parts {
                let narrow = b <= a * (1.0 + NARROW_INTERVAL);
                match (a < b, narrow) {
                    (true, false) => self.open.push((a, b)),
                    (true, true) => self.unresolved.push((a, b)),
                    (false, _) => {}
                }
            }
        }
        self.unresolved.append(&mut self.open);
        self.unresolved.sort_by(|x, y| x.0.total_cmp(&y.0));
        Ok(None)
    }
}

/// Intervals in rising order, neighbours made one: between certificates that fail at their ends little is proved.
fn joined(mut intervals: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    intervals.sort_by(|x, y| x.0.total_cmp(&y.0));
    let mut list: Vec<(f64, f64)> = Vec::new();
    for (low, high) in intervals {
        match list.last_mut() {
            Some(last) if low <= last.1 * (1.0 + NEIGHBOURING_INTERVAL) => last.1 = last.1.max(high),
            _ => list.push((low, high)),
        }
    }
    list
}

/// How much of the axis intervals take, by the ratio of their ends; those that reach an end of the axis count as wide.
fn width(intervals: &[(f64, f64)]) -> f64 {
    intervals.iter().map(|(low, high)| (high / low).min(END_WIDTH).ln()).sum()
}

/// A frequency inside an interval.
fn between((low, high): (f64, f64)) -> f64 {
    match (low, high) {
        (0.0, high) if high.is_infinite() => 1.0,
        (0.0, high) => high / 10.0,
        (low, high) if high.is_infinite() => low * 10.0,
        (low, high) => (low * high).sqrt(),
    }
}
