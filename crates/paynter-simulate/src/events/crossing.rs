//! Zero-crossing detection: the first crossing of any event function within a step.
//!
//! The functions are enclosed over the whole step, by interval arithmetic with derivatives: first along the
//! cubic through both ends, then, where that does not exclude a zero, along the dense output in ever
//! smaller parts of the step, until each function has a sign in a part, or falls throughout it and crosses.
//! What is promised holds for the dense output: the solution itself is known to the tolerance only.

use super::{Crossing, Place, ZeroCrossingDetector, record_largest, sign};
use crate::method::{Solver, Stages, Tolerance};
use crate::system::{EvaluationError, System};
use crate::tolerance::{
    CUBIC_ERROR, ENCLOSURE_PARTS, ENCLOSURE_UNBOUNDED_PARTS, FORM_RESOLUTION, NARROWEST_PART,
    SIMULTANEOUS_STEP_SHARE,
};
use paynter_numerics::program::{Enclosure, Range};

/// An interval of a step in which an event function crosses zero.
#[derive(Debug, Clone, Copy)]
struct Bracket {
    function: usize,
    low: f64,
    high: f64,
}

/// What is known of an event function from the start of a step on.
#[derive(Debug, Clone, Default)]
struct Watched {
    /// From where on it has been below zero by no more than the event tolerance.
    shallow: Option<f64>,
    /// Where it touched zero, from and to.
    touches: Vec<(f64, f64)>,
}

impl Watched {
    /// Records that the function touches zero in the next part.
    fn touch(&mut self, low: f64, high: f64) {
        match self.touches.last_mut() {
            Some(last) if last.1 == low => last.1 = high,
            _ => self.touches.push((low, high)),
        }
    }
}

/// What a part of a step shows of an event function.
enum Verdict {
    /// It does not leave the side of its mode.
    Clear,
    /// It is within the event tolerance of zero.
    Touching,
    /// It falls throughout, and is below zero at the end.
    Crosses,
    /// Neither can be said.
    Open,
}

impl ZeroCrossingDetector {
    /// Finds the first zero crossing in the step that the stages hold.
    pub fn first_crossing(
        &mut self,
        system: &mut System<'_>,
        solver: &mut dyn Solver,
        tolerance: &Tolerance,
    ) -> Result<Option<Crossing>, EvaluationError> {
        self.grazing.clear();
        let mut watched = self.watched(system);
        if watched.is_empty() {
            return Ok(None);
        }
        self.sample_end(system, solver.stages())?;
        self.tried.clone_from(&self.now);
        record_largest(&mut self.largest, &self.now);
        // What relaxes is where it is in the end; dense output says nothing of it.
        let relaxing: Vec<usize> = watched.extract_if(.., |k| self.relaxes(*k)).collect();
        let crossed = |k: &usize| sign(self.now[*k]) * system.mode(*k) < 0.0;
        let behind: Vec<usize> = relaxing.into_iter().filter(crossed).collect();
        if let Some(first) = behind.first() {
            let mean_rate = (self.now[*first] / solver.stages().h).abs();
            return Ok(Some(Crossing { theta: 1.0, events: behind, mean_rate }));
        }
        self.choose_forms(system, solver.stages(), &watched);
        let crossed = watched.iter().any(|k| sign(self.now[*k]) * system.mode(*k) < 0.0);
        if !crossed && self.is_clear(system, solver.stages(), &watched) {
            self.release_margins(system);
            return Ok(None);
        }
        solver.extend(system, tolerance)?;
        let path = Path::new(solver.stages(), system, &self.formed);
        let found = self.search(system, solver.stages(), &path, &watched, tolerance)?;
        if found.is_empty() {
            self.release_margins(system);
            return Ok(None);
        }
        self.locate_first(system, solver.stages(), &path, found)
    }

    /// Takes the linear forms of functions that these tell better than the event tolerance.
    fn choose_forms(&mut self, system: &mut System<'_>, stages: &Stages, watched: &[usize]) {
        system.prepare_forms();
        let mut formed = std::mem::take(&mut self.formed);
        formed.clear();
        formed.resize(system.model.events.len(), None);
        let size = |i: usize| stages.start[i].abs() + stages.end[i].abs();
        for k in watched {
            let row = system.form_row(*k);
            formed[*k] = row.filter(|row| system.form_rounding(*row, size) <= self.touch(system, *k));
        }
        self.formed = formed;
    }

    /// The functions whose crossings are to be found in steps.
    pub fn watched(&self, system: &System<'_>) -> Vec<usize> {
        let is_watched = |k: &usize| {
            !system.model.timed[*k]
                && !system.is_sliding(*k)
                && !system.is_passed(*k)
                && system.mode(*k) != 0.0
        };
        (0..system.model.events.len()).filter(is_watched).collect()
    }

    /// By how much corrections change functions, beside their size at these places and at the end of the step;
    /// changes within the event tolerance count for nothing. Right after an event (`first`), where what relaxes fast is
    /// led past, so do changes that tolerances of states allow, unless they lead across zero. None where a function
    /// has no value.
    pub fn largest_change(
        &mut self,
        system: &mut System<'_>,
        stages: &Stages,
        places: &[Place],
        watched: &[usize],
        first: bool,
    ) -> Option<f64> {
        self.sample_end(system, stages).ok()?;
        let mut sizes: Vec<f64> = self.now.iter().map(|value| value.abs()).collect();
        let mut changes = vec![0.0f64; sizes.len()];
        let mut crosses = vec![false; sizes.len()];
        for place in places {
            system.predict_unknowns(place.theta);
            self.evaluate(system, place.at, &place.x).ok()?;
            let along = self.now.clone();
            self.evaluate(system, place.at, &place.corrected).ok()?;
            for (k, (along, now)) in along.iter().zip(&self.now).enumerate() {
                sizes[k] = sizes[k].max(along.abs()).max(now.abs());
                changes[k] = changes[k].max((along - now).abs());
                crosses[k] |= now * system.mode(k) < 0.0;
            }
        }
        let share = |k: &usize| {
            if self.relaxes(*k) {
                return 0.0;
            }
            let resolved = if first && !crosses[*k] { self.resolved[*k] } else { 0.0 };
            let negligible = match self.followed(*k) {
                Some(followed) => (self.event_tolerance * followed.size).max(followed.rounding),
                None => self.event_tolerance * self.visited_size(system, *k).max(resolved),
            };
            if changes[*k] <= negligible { 0.0 } else { changes[*k] / sizes[*k] }
        };
        Some(watched.iter().map(share).fold(0.0, f64::max))
    }

    /// Within what a function counts as zero in the step that is tried.
    fn touch(&self, system: &System<'_>, k: usize) -> f64 {
        self.event_tolerance * self.magnitude(system, k).max(self.tried[k].abs())
    }

    /// A function that has left its zero for good needs no hysteresis.
    fn release_margins(&mut self, system: &System<'_>) {
        for k in 0..self.now.len() {
            if self.margin[k] > 0.0 && self.now[k] * system.mode(k) > self.margin[k] + self.rounding[k] {
                self.margin[k] = 0.0;
            }
        }
    }

    /// Evaluates the functions at the end of the step.
    pub(super) fn sample_end(
        &mut self,
        system: &mut System<'_>,
        stages: &Stages,
    ) -> Result<(), EvaluationError> {
        let at = stages.t + stages.h;
        if let Some(values) = stages.last() {
            system.cache_relations(at, &stages.end, values);
        }
        self.evaluate(system, at, &stages.end)
    }

    /// By how much hysteresis moves each function away from zero.
    fn shifts(&self, system: &System<'_>) -> Vec<f64> {
        let mut shifts = vec![0.0; self.now.len()];
        system.apply_hysteresis(&mut shifts);
        for (k, shift) in shifts.iter_mut().enumerate() {
            *shift += system.mode(k) * self.margin[k];
        }
        shifts
    }

    /// Whether no function can come to zero along the cubic through both ends of the step, with what it may
    /// be apart from the dense output.
    fn is_clear(&mut self, system: &mut System<'_>, stages: &Stages, watched: &[usize]) -> bool {
        let (n, h) = (stages.start.len(), stages.h);
        let (first, last) = (stages.rates(0), stages.rates(stages.tableau.stages - 1));
        let mut cubics = std::mem::take(&mut self.cubics);
        cubics.clear();
        cubics.extend(
            (0..n).map(|i| Cubic::new((stages.start[i], stages.end[i]), (h * first[i], h * last[i]))),
        );
        let time = Enclosure { value: Range::new(stages.t, stages.t + h), derivative: Range::point(h) };
        let middle = stages.t + 0.5 * h;
        let mut found = std::mem::take(&mut self.enclosures);
        found.clear();
        found.resize(system.model.events.len(), Enclosure::ALL);
        let mut bounded = true;
        if watched.iter().any(|k| self.formed[*k].is_none()) {
            let (mut fast, mut state) =
                (std::mem::take(&mut self.arguments), std::mem::take(&mut self.middle));
            fast.resize(1 + n + system.model.unknowns.len(), Enclosure::ALL);
            fast[0] = time;
            state.resize(n, 0.0);
            for (i, cubic) in cubics.iter().enumerate() {
                fast[1 + i] = cubic.enclose();
                state[i] = cubic.middle();
            }
            bounded = system.enclose_unknowns(&mut fast, (middle, &state), 0.5);
            if bounded {
                system.enclose_relations(&fast, &mut found);
            }
            (self.arguments, self.middle) = (fast, state);
        }
        system.enclose_form_rests(time, middle);
        for k in watched {
            let Some(row) = self.formed[*k] else { continue };
            let mut whole = Cubic::default();
            system.form(row).weights.iter().for_each(|(i, weight, _)| whole.add(*weight, &cubics[*i]));
            whole.apart += system.form_rounding(row, |i| cubics[i].size());
            let (along, rest) = (whole.enclose(), system.form_rest(row).0);
            found[*k] = Enclosure {
                value: along.value.plus(rest.value),
                derivative: along.derivative.plus(rest.derivative),
            };
        }
        self.cubics = cubics;
        let shifts = self.shifts(system);
        let clear = watched.iter().all(|k| {
            if !bounded && self.formed[*k].is_none() {
                return false;
            }
            let end = Range::point(self.now[*k]);
            // From the end back, which is known.
            let back = end.minus(found[*k].derivative.times(Range { lo: 0.0, hi: 1.0 }));
            let value = found[*k].value.plus(Range::point(shifts[*k])).intersection(back);
            let side = if system.mode(*k) > 0.0 { value } else { value.negative() };
            side.lo > 0.0
        });
        self.enclosures = found;
        clear
    }

    /// Looks for crossings from the start of the step on; those found lie in the first part that has any.
    fn search(
        &mut self,
        system: &mut System<'_>,
        stages: &Stages,
        path: &Path,
        watched: &[usize],
        tolerance: &Tolerance,
    ) -> Result<Vec<Bracket>, EvaluationError> {
        let formed = watched.iter().all(|k| self.formed[*k].is_some());
        let shifts = self.shifts(system);
        let end: Vec<f64> = watched.iter().map(|k| system.mode(*k) * self.now[*k]).collect();
        let mut known = vec![Watched::default(); watched.len()];
        let mut left = ENCLOSURE_PARTS;
        let mut unbounded = ENCLOSURE_UNBOUNDED_PARTS;
        let mut found = Vec::new();
        let mut stack = vec![(0.0, 1.0)];
        while let Some((low, high)) = stack.pop() {
            left -= 1;
            let bounded = self.enclose_part(system, stages, path, (watched, formed), (low, high));
            unbounded -= i32::from(!bounded);
            let narrow = high - low <= NARROWEST_PART || left <= 0 || unbounded <= 0;
            let sampled = self.evaluate_within(system, stages, high);
            let mut open = false;
            let mut verdicts = Vec::with_capacity(watched.len());
            for k in watched {
                let verdict = match (&sampled, bounded) {
                    (Ok(()), true) => self.judge(system, *k, shifts[*k]),
                    (Ok(()), false) if self.formed[*k].is_some() => self.judge(system, *k, shifts[*k]),
                    (Ok(()), false) => Verdict::Open,
                    // A place within the step may be outside the domain of the laws; the end may not.
                    (Err(_), _) => Verdict::Open,
                };
                open |= matches!(verdict, Verdict::Open);
                verdicts.push(verdict);
            }
            if open && !narrow {
                let middle = 0.5 * (low + high);
                stack.push((middle, high));
                stack.push((low, middle));
                continue;
            }
            if sampled.is_err() {
                continue;
            }
            if open && (left <= 0 || unbounded <= 0) {
                let at = stages.t + low * stages.h;
                let functions = watched.iter().zip(&verdicts).filter(|(_, v)| matches!(v, Verdict::Open));
                self.undecided.extend(functions.map(|(k, _)| (*k, at)));
            }
            for (place, (k, verdict)) in watched.iter().zip(&verdicts).enumerate() {
                let value = system.mode(*k) * self.now[*k];
                let touch = self.touch(system, *k);
                let watched = &mut known[place];
                if value < -touch || (value < 0.0 && high >= 1.0) {
                    let low = watched.shallow.unwrap_or(low);
                    found.push(Bracket { function: *k, low, high });
                } else if value < 0.0 {
                    watched.shallow.get_or_insert(low);
                    watched.touch(low, high);
                } else {
                    watched.shallow = None;
                    if matches!(verdict, Verdict::Touching) {
                        watched.touch(low, high);
                    }
                }
            }
            if !found.is_empty() {
                return Ok(found);
            }
        }
        // What touches zero between ends that are away from it crosses twice, or grazes.
        self.evaluate(system, stages.t, &stages.start)?;
        let start: Vec<f64> = watched.iter().map(|k| system.mode(*k) * self.now[*k]).collect();
        for (((k, known), start), end) in watched.iter().zip(&known).zip(start).zip(&end) {
            let touch = self.touch(system, *k);
            if start <= touch || *end <= touch {
                continue;
            }
            let mut grazes = None;
            for (low, high) in &known.touches {
                // A place within the step may be outside the domain of the laws.
                let Ok(lowest) = self.lowest(system, stages, *k, (*low, *high)) else { continue };
                if let Ok(true) = self.is_below_zero(system, stages, *k, lowest, tolerance) {
                    found.push(Bracket { function: *k, low: *low, high: lowest });
                    break;
                }
                grazes.get_or_insert(lowest);
            }
            if let Some(theta) = grazes {
                self.grazing.push((*k, theta));
            }
        }
        if !found.is_empty() {
            return Ok(found);
        }
        self.sample_end(system, stages)?;
        Ok(found)
    }

    /// Encloses the functions over a part of the step, those that are `watched`; tells whether the unknowns could be
    /// enclosed, or none were wanted because all functions have linear forms (`formed`).
    fn enclose_part(
        &mut self,
        system: &mut System<'_>,
        stages: &Stages,
        path: &Path,
        (watched, formed): (&[usize], bool),
        (low, high): (f64, f64),
    ) -> bool {
        let (middle, half) = (0.5 * (low + high), 0.5 * (high - low));
        let (t, h) = (stages.t, stages.h);
        let time = Enclosure { value: Range::new(t + low * h, t + high * h), derivative: Range::point(h) };
        let at = t + middle * h;
        let bounded =
            formed || self.enclose_along(system, path, (stages.start.len(), time), (at, middle, half));
        self.enclosures.resize(system.model.events.len(), Enclosure::ALL);
        system.enclose_form_rests(time, at);
        for k in watched {
            let Some((row, form)) = self.formed[*k].and_then(|row| Some((row, path.form(row)?))) else {
                continue;
            };
            let ((centre, along), (rest, beside)) = (path.enclose(form, middle, half), system.form_rest(row));
            let derivative = along.derivative.plus(rest.derivative);
            let centre = Range::about(centre, path.rounding(form)).plus(beside);
            let value = along.value.plus(rest.value);
            let value = value.intersection(centre.plus(derivative.times(Range::about(0.0, half))));
            self.enclosures[*k] = Enclosure { value, derivative };
        }
        bounded
    }

    /// Encloses the functions by enclosures of time, states and unknowns; tells whether the unknowns could be enclosed.
    fn enclose_along(
        &mut self,
        system: &mut System<'_>,
        path: &Path,
        (n, time): (usize, Enclosure),
        (at, middle, half): (f64, f64, f64),
    ) -> bool {
        let (mut fast, mut state) = (std::mem::take(&mut self.arguments), std::mem::take(&mut self.middle));
        fast.resize(1 + n + system.model.unknowns.len(), Enclosure::ALL);
        fast[0] = time;
        state.resize(n, 0.0);
        for (i, state) in state.iter_mut().enumerate() {
            (*state, fast[1 + i]) = path.enclose(i, middle, half);
        }
        system.predict_unknowns(middle);
        let mut found = std::mem::take(&mut self.enclosures);
        let bounded = system.enclose_unknowns(&mut fast, (at, &state), half);
        if bounded {
            system.enclose_relations(&fast, &mut found);
            // The mean-value form: the value in the middle, and the derivative to both sides.
            let mut centre = std::mem::take(&mut self.centre);
            centre.resize(system.model.events.len(), 0.0);
            if system.relations(at, &state, &mut centre).is_ok() {
                for (enclosure, centre) in found.iter_mut().zip(&centre) {
                    let spread = enclosure.derivative.times(Range::about(0.0, half));
                    let middle = Range::about(*centre, 4.0 * f64::EPSILON * centre.abs());
                    enclosure.value = enclosure.value.intersection(middle.plus(spread));
                }
            }
            self.centre = centre;
        }
        (self.enclosures, self.arguments, self.middle) = (found, fast, state);
        bounded
    }

    /// Judges a function in the part of the step that was enclosed last, at whose end the functions were
    /// evaluated last.
    fn judge(&self, system: &System<'_>, k: usize, shift: f64) -> Verdict {
        let mode = system.mode(k);
        let side = |range: Range| if mode > 0.0 { range } else { range.negative() };
        let value = side(self.enclosures[k].value.plus(Range::point(shift)));
        let derivative = side(self.enclosures[k].derivative);
        let end = mode * self.now[k];
        let touch = self.touch(system, k);
        if value.lo > 0.0 {
            Verdict::Clear
        } else if derivative.lo > 0.0 && end >= 0.0 {
            // It rises: what started at its zero has left it.
            Verdict::Clear
        } else if derivative.hi < 0.0 {
            if end < 0.0 { Verdict::Crosses } else { Verdict::Clear }
        } else if value.lo >= -touch && value.hi <= touch {
            Verdict::Touching
        } else {
            Verdict::Open
        }
    }

    /// Locates the first of the bracketed crossings, with those that are simultaneous.
    fn locate_first(
        &mut self,
        system: &mut System<'_>,
        stages: &Stages,
        path: &Path,
        mut found: Vec<Bracket>,
    ) -> Result<Option<Crossing>, EvaluationError> {
        found.sort_by(|a, b| a.high.total_cmp(&b.high));
        let shifts = self.shifts(system);
        let mut first: Option<Crossing> = None;
        for Bracket { function: k, low, high } in found {
            let limit = first.as_ref().map_or(1.0, |c| c.theta);
            if low > limit {
                continue;
            }
            let form = self.formed[k].and_then(|row| Some((row, path.form(row)?)));
            let along = |system: &mut System<'_>, theta: f64| {
                let (row, form) = form?;
                let rest = system.form_rest_at(row, stages.t + theta * stages.h);
                let value = path.value(form, theta) + rest + shifts[k];
                (value.abs() > FORM_RESOLUTION * path.rounding(form)).then_some(value)
            };
            let located = self.locate(system, stages, k, (low, high), &along)?;
            let Some((theta, mean_rate)) = located else { continue };
            match &mut first {
                Some(crossing) if (theta - crossing.theta).abs() <= SIMULTANEOUS_STEP_SHARE => {
                    crossing.events.push(k)
                }
                Some(crossing) if theta > crossing.theta => {}
                _ => first = Some(Crossing { theta, events: vec![k], mean_rate }),
            }
        }
        Ok(first)
    }
}

/// A cubic in a step, and by how much the dense output may be apart from it.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Cubic {
    /// Its control points in Bernstein's form.
    points: [f64; 4],
    apart: f64,
}

impl Cubic {
    /// Through both ends of a step with the changes that the rates there make of it.
    fn new((a, d): (f64, f64), (first, last): (f64, f64)) -> Cubic {
        let (b, c) = (a + first / 3.0, d - last / 3.0);
        let chord = (d - a) / 3.0;
        let deviation = (b - a - chord).abs().max((c - d + chord).abs());
        Cubic { points: [a, b, c, d], apart: CUBIC_ERROR * deviation }
    }

    fn add(&mut self, weight: f64, other: &Cubic) {
        self.points.iter_mut().zip(other.points).for_each(|(sum, point)| *sum += weight * point);
        self.apart += weight.abs() * other.apart;
    }

    fn enclose(&self) -> Enclosure {
        let [a, b, c, d] = self.points;
        let value = Range::new(a.min(b).min(c).min(d) - self.apart, a.max(b).max(c).max(d) + self.apart);
        let derivatives = [b - a, c - b, d - c].map(|difference| 3.0 * difference);
        let derivative =
            derivatives.iter().fold(Range::point(derivatives[0]), |range, s| range.hull(Range::point(*s)));
        Enclosure { value, derivative: derivative.plus(Range::about(0.0, 6.0 * self.apart)) }
    }

    fn middle(&self) -> f64 {
        let [a, b, c, d] = self.points;
        0.125 * (a + 3.0 * (b + c) + d)
    }

    fn size(&self) -> f64 {
        self.points.iter().map(|point| point.abs()).sum()
    }
}

/// The dense output of a step as polynomials of the place θ in it, one for each state, and then one for each linear form
/// that is watched.
struct Path {
    degree: usize,
    /// Coefficients of 1, θ, θ², …, state by state.
    coefficients: Vec<f64>,
    /// The polynomial of each linear form, if it has one, and what rounding makes of these.
    forms: Vec<Option<usize>>,
    states: usize,
    roundings: Vec<f64>,
}

impl Path {
    fn new(stages: &Stages, system: &System<'_>, rows: &[Option<usize>]) -> Path {
        let powers = stages.tableau.powers();
        let (n, degree) = (stages.start.len(), powers.len());
        let width = degree + 1;
        let mut coefficients = vec![0.0; n * width];
        for (i, list) in coefficients.chunks_exact_mut(width).enumerate() {
            list[0] = stages.start[i];
            for (coefficient, terms) in list[1..].iter_mut().zip(powers) {
                *coefficient = stages.h * stages.weigh(terms, i);
            }
        }
        let (mut forms, mut roundings) = (vec![None; system.form_count()], Vec::new());
        for row in rows.iter().flatten().copied() {
            let start = coefficients.len();
            forms[row] = Some(start / width);
            coefficients.resize(start + width, 0.0);
            let (states, own) = coefficients.split_at_mut(start);
            for (i, weight, _) in &system.form(row).weights {
                let list = &states[i * width..(i + 1) * width];
                own.iter_mut().zip(list).for_each(|(sum, c)| *sum += weight * c);
            }
            let size = |i: usize| states[i * width..(i + 1) * width].iter().map(|c| c.abs()).sum();
            roundings.push(system.form_rounding(row, size));
        }
        Path { degree, coefficients, forms, states: n, roundings }
    }

    /// The number of the polynomial of a linear form.
    fn form(&self, row: usize) -> Option<usize> {
        self.forms.get(row).copied().flatten()
    }

    /// A polynomial at a place.
    fn value(&self, polynomial: usize, theta: f64) -> f64 {
        let width = self.degree + 1;
        let list = &self.coefficients[polynomial * width..(polynomial + 1) * width];
        list.iter().rev().fold(0.0, |sum, coefficient| sum * theta + coefficient)
    }

    /// What rounding of weights and coefficients makes of a polynomial.
    fn rounding(&self, polynomial: usize) -> f64 {
        polynomial.checked_sub(self.states).map_or(0.0, |form| self.roundings[form])
    }

    /// A state or linear form in the middle of a part of the step, and its values and derivatives over it.
    fn enclose(&self, state: usize, middle: f64, half: f64) -> (f64, Enclosure) {
        let width = self.degree + 1;
        let mut about = [0.0; Path::MOST_COEFFICIENTS];
        let about = &mut about[..width];
        about.copy_from_slice(&self.coefficients[state * width..(state + 1) * width]);
        let size: f64 = about.iter().map(|c| c.abs()).sum();
        // Taylor's shift: the coefficients about the middle.
        for i in 0..self.degree {
            for j in (i..self.degree).rev() {
                about[j] += middle * about[j + 1];
            }
        }
        let (mut spread, mut bend, mut power) = (0.0, 0.0, 1.0);
        for (k, c) in about.iter().enumerate().skip(2) {
            power *= half;
            bend += k as f64 * c.abs() * power;
            spread += c.abs() * power * half;
        }
        // What rounding makes of the coefficients.
        let rounding = 16.0 * f64::EPSILON * size + self.rounding(state);
        let radius = about.get(1).map_or(0.0, |c| c.abs()) * half + spread + rounding;
        let derivative = Range::about(about.get(1).copied().unwrap_or(0.0), bend + rounding);
        (about[0], Enclosure { value: Range::about(about[0], radius), derivative })
    }

    /// No dense output has more coefficients.
    const MOST_COEFFICIENTS: usize = 10;
}
