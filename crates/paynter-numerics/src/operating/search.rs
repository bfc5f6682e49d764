//! The search for steady states: from the initial state, and from other
//! points around in order to see whether there are several.

use paynter_base::random::Random;
use paynter_base::{CancellationToken, Cancelled};

use super::conserved::Combination;
use super::flow::integrate;
use super::newton::{Kept, Task, follow, homotopy, newton};
use super::problem::Problem;
use super::rounding;
use crate::tolerance::{
    DISTINCT_POINTS, FAINT_STATE, FOLLOWED_STATES, INTEGRATED_STATES, MIXED_SEEDS, REST_STEPS, REST_WORK,
    ROUNDED_POINTS, ROUNDED_SEED, SEED_DISTANCES, SIZES_OF_ZERO, UNKNOWN_GUESSES,
};

/// What the search found.
pub(super) struct Found {
    /// The steady state nearest to the initial state.
    pub point: Option<Vec<f64>>,
    /// Others.
    pub others: Vec<Vec<f64>>,
    /// How large what makes up each part of that point is.
    pub sizes: Vec<f64>,
    /// How much further from the initial state than the nearest the next one is.
    pub lead: f64,
    /// Where a search without success ended.
    pub end: Vec<f64>,
    /// Whether steady states lie side by side, and the motion from the initial state reaches none of them.
    pub undecided: bool,
}

/// Searches from the initial states in `start`; states that are not `active` stay as they are.
pub(super) fn search(
    problem: &Problem,
    start: &[f64],
    active: &[bool],
    conserved: &[Combination],
    token: &CancellationToken,
) -> Result<Found, Cancelled> {
    let start = consistent(problem, start, token)?;
    let mut task = task(problem, &start, active, conserved);
    let from = task.part(&start);
    let Nearest { point, direct, end } = nearest(&mut task, &from, token)?;
    let mut list = Points {
        found: point.into_iter().collect(),
        made_of: Vec::new(),
        // Beside the initial state so little is zero.
        faint: from.iter().map(|x| FAINT_STATE * x).collect(),
    };
    list.made_of = list.found.first().map_or_else(|| vec![0.0; from.len()], |v| rounding::sizes(&task, v));
    let mut undecided = false;
    let free = list.found.first().and_then(|v| task.free(v)).unwrap_or_default();
    if !free.is_empty() && !problem.linear {
        // Where steady states lie side by side, the dynamics decide between them.
        let steps = REST_STEPS.max(REST_WORK / from.len().max(1));
        let settled = integrate(&task, &from, steps, token)?;
        let polished = settled.map(|settled| newton(&task, &settled, token)).transpose()?.flatten();
        undecided = polished.is_none() && list.found.first().is_some_and(|v| *v != from);
        list.found = polished.map_or(list.found, |polished| vec![polished]);
    } else if !problem.linear {
        list.search_around(problem, &mut task, &from, direct, token)?;
    }
    if list.found.len() > 1
        && from.len() <= INTEGRATED_STATES
        && let Some(settled) = integrate(&task, &from, REST_STEPS.max(REST_WORK / from.len()), token)?
        && let Some(reached) = newton(&task, &settled, token)?
        && list.found.iter().all(|known| list.are_apart(known, &reached))
    {
        list.found.push(reached);
    }
    let mut found = list.found;
    let sizes = sizes(found.iter().map(Vec::as_slice).chain([from.as_slice()]));
    found.sort_by(|a, b| distance(a, &from, &sizes).total_cmp(&distance(b, &from, &sizes)));
    let lead = match &found[..] {
        [first, second, ..] => distance(second, &from, &sizes) / distance(first, &from, &sizes),
        _ => f64::INFINITY,
    };
    let mut sizes: Vec<f64> = start.iter().map(|x| x.abs()).collect();
    if let Some(first) = found.first() {
        task.columns.iter().zip(rounding::sizes(&task, first)).for_each(|(&j, size)| sizes[j] = size);
    }
    let mut points = found.into_iter().map(|v| task.full(&v));
    let point = points.next();
    Ok(Found { point, others: points.collect(), sizes, lead, end, undecided })
}

/// The first steady state that is found.
struct Nearest {
    point: Option<Vec<f64>>,
    /// Whether Newton's method found it at once.
    direct: bool,
    /// Where a search without success ended.
    end: Vec<f64>,
}

/// The steady state that Newton's method finds from the initial state, or else the motion from there, or else homotopy.
fn nearest(task: &mut Task<'_>, from: &[f64], token: &CancellationToken) -> Result<Nearest, Cancelled> {
    let mut end = task.full(from);
    let mut point = newton(task, from, token)?.filter(|v| rounding::balances(task, v));
    let direct = point.is_some();
    if point.is_none() {
        let settled = follow(task, from, token)?;
        end = task.full(&settled.end);
        point = settled.solution.filter(|v| rounding::balances(task, v));
    }
    if point.is_none() {
        point = homotopy(task, from, token)?.filter(|v| rounding::balances(task, v));
    }
    Ok(Nearest { point, direct, end })
}

/// The steady states found so far.
struct Points {
    found: Vec<Vec<f64>>,
    /// How large what makes up each part of the first is.
    made_of: Vec<f64>,
    /// What is zero beside the initial state.
    faint: Vec<f64>,
}

impl Points {
    /// Whether two points differ by more than searches leave.
    fn are_apart(&self, known: &[f64], other: &[f64]) -> bool {
        let sizes = sizes([known, other, &self.faint].into_iter());
        distance(known, other, &sizes) > DISTINCT_POINTS
    }

    /// Adds a point that balances and is another than those that are known. Newton's method leaves of where it came
    /// `from` what is rounding of it.
    fn add(&mut self, task: &Task<'_>, other: Vec<f64>, from: &[f64]) {
        let is_new = |known: &Vec<f64>| {
            let rounded = |j: usize| {
                let left = (ROUNDED_POINTS * self.made_of[j]).max(ROUNDED_SEED * from[j].abs());
                (known[j] - other[j]).abs() <= left
            };
            self.are_apart(known, &other) && !(0..self.made_of.len()).all(rounded)
        };
        if rounding::balances(task, &other)
            && !self.found.first().is_some_and(|known| rounding::is_pole(task, &other, known))
            && task.free(&other).is_some_and(|free| free.is_empty())
            && self.found.iter().all(is_new)
        {
            self.found.push(other);
        }
    }

    /// Searches for others: where the motion from the initial state leads, from places around, and from the nearest
    /// values of each part of what was found. `direct` tells that Newton's method found the first at once.
    fn search_around(
        &mut self,
        problem: &Problem,
        task: &mut Task<'_>,
        from: &[f64],
        direct: bool,
        token: &CancellationToken,
    ) -> Result<(), Cancelled> {
        let mut seeds = seeds(from, self.found.first().map(Vec::as_slice));
        let mut next = 0;
        let mut mixed = 0;
        // The motion from the initial state, and the rests for inputs that grow from what it takes to rest there, may
        // lead elsewhere than the steps of Newton's method.
        let mut led_to: Vec<Vec<f64>> = Vec::new();
        if from.len() <= FOLLOWED_STATES {
            led_to.extend(homotopy(task, from, token)?);
        }
        if direct && from.len() <= FOLLOWED_STATES {
            led_to.extend(follow(task, from, token)?.solution);
        }
        loop {
            token.check()?;
            let (other, came_from) = match led_to.pop() {
                Some(other) => (Some(other), from.to_vec()),
                None => {
                    let Some(seed) = seeds.get(next).cloned() else {
                        // Steady states of parts that hardly touch mix: the nearest values of each part are a
                        // guess.
                        let nearest = nearest_parts(&self.found, from);
                        if mixed == MIXED_SEEDS || self.found.is_empty() || seeds.contains(&nearest) {
                            return Ok(());
                        }
                        mixed += 1;
                        seeds.push(nearest);
                        continue;
                    };
                    next += 1;
                    let seed = settle_unknowns(problem, task, seed, token)?;
                    let found = match newton(task, &seed, token)? {
                        None if self.found.is_empty() => follow(task, &seed, token)?.solution,
                        other => other,
                    };
                    (found, seed)
                }
            };
            if let Some(other) = other {
                self.add(task, other, &came_from);
            }
        }
    }
}

/// The task of finding a steady state.
fn task<'a>(problem: &'a Problem<'a>, start: &[f64], active: &[bool], conserved: &[Combination]) -> Task<'a> {
    let columns: Vec<usize> = (0..problem.sought.len()).filter(|&j| active[j]).collect();
    let place = |i: usize| columns.binary_search(&i).ok();
    let conserved = conserved
        .iter()
        .map(|combination| {
            let (value, size) = combination.total(start);
            let parts = combination.parts.iter().filter_map(|(i, c)| Some((place(*i)?, *c))).collect();
            Kept { parts, value, size }
        })
        .collect();
    Task { problem, rows: columns.clone(), columns, conserved, base: start.to_vec(), shift: Vec::new() }
}

/// Initial states with implicit unknowns that fit them, as far as they can be found.
pub(super) fn consistent(
    problem: &Problem,
    states: &[f64],
    token: &CancellationToken,
) -> Result<Vec<f64>, Cancelled> {
    let unknowns: Vec<usize> = (problem.states..problem.sought.len()).collect();
    let mut base = states.to_vec();
    base.resize(problem.sought.len(), UNKNOWN_GUESSES[1]);
    if unknowns.is_empty() {
        return Ok(base);
    }
    let task = Task {
        problem,
        columns: unknowns.clone(),
        rows: unknowns.clone(),
        conserved: Vec::new(),
        base: base.clone(),
        shift: Vec::new(),
    };
    for guess in UNKNOWN_GUESSES {
        if let Some(v) = newton(&task, &vec![guess; unknowns.len()], token)? {
            return Ok(task.full(&v));
        }
    }
    Ok(base)
}

/// A seed with implicit unknowns that fit its states, as far as they can be found.
fn settle_unknowns(
    problem: &Problem,
    task: &Task,
    seed: Vec<f64>,
    token: &CancellationToken,
) -> Result<Vec<f64>, Cancelled> {
    if problem.states == problem.sought.len() {
        return Ok(seed);
    }
    let full = task.full(&seed);
    let fitted = consistent(problem, &full[..problem.states], token)?;
    Ok(task.part(&fitted))
}

/// Other places to start from: around the point that was found and around the initial state.
fn seeds(from: &[f64], found: Option<&[f64]>) -> Vec<Vec<f64>> {
    let count = match from.len() {
        0..=30 => 24,
        31..=100 => 8,
        101..=300 => 2,
        _ => 0,
    };
    let mut random = Random::new(91);
    let near = found.unwrap_or(from);
    let mut list = Vec::with_capacity(count);
    for k in 0..count {
        // Decades around the size of what is known; one where nothing is.
        let stretch = SEED_DISTANCES[k % 4];
        let center = if k % 2 == 0 { near } else { from };
        let seed = center
            .iter()
            .enumerate()
            .map(|(j, x)| {
                let size = near[j].abs().max(from[j].abs());
                let size = if size == 0.0 { SIZES_OF_ZERO[k / 4 % 3] } else { size };
                x + stretch * size * (4.0 * random.unit() - 2.0)
            })
            .collect();
        list.push(seed);
    }
    list
}

/// The value of each part that is nearest to a point, among several points.
fn nearest_parts(found: &[Vec<f64>], from: &[f64]) -> Vec<f64> {
    let nearest = |(j, x): (usize, &f64)| {
        let values = found.iter().map(|point| point[j]);
        values.min_by(|a, b| (a - x).abs().total_cmp(&(b - x).abs())).unwrap_or(*x)
    };
    from.iter().enumerate().map(nearest).collect()
}

/// How far two points are apart, beside the sizes of their parts.
fn distance(a: &[f64], b: &[f64], sizes: &[f64]) -> f64 {
    let part =
        |((a, b), size): ((&f64, &f64), &f64)| if *size == 0.0 { 0.0 } else { ((a - b) / size).powi(2) };
    a.iter().zip(b).zip(sizes).map(part).sum::<f64>().sqrt()
}

/// The largest magnitude of each part among several points.
fn sizes<'a>(points: impl Iterator<Item = &'a [f64]>) -> Vec<f64> {
    let mut sizes: Vec<f64> = Vec::new();
    for point in points {
        sizes.resize(point.len(), 0.0);
        sizes.iter_mut().zip(point).for_each(|(size, x)| *size = size.max(x.abs()));
    }
    sizes
}
