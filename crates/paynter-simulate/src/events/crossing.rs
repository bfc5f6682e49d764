//! Zero-crossing detection: the first crossing of any event function within a
//! step, also of functions that cross twice between its ends, that graze zero,
//! or that change faster than the states.

use super::parabola::{is_far, parabola_minimum, range};
use super::{Crossing, ZeroCrossingDetector, record_largest, sign};
use crate::method::{Solver, Stages, Tolerance};
use crate::system::{EvaluationError, System};
use crate::tolerance::{
    GRAZING_RANGE, MINIMUM_ITERATIONS, MINIMUM_SEARCH_RANGE, SIGNAL_INTERVAL_SHARE, SIGNAL_PREDICTION_ERROR,
    SIGNAL_ROUNDING, SIMULTANEOUS_STEP_SHARE,
};

/// The event functions at the stage within the step that knows them, and where in it that is.
fn inside<'v>(system: &System<'_>, stages: &'v Stages) -> Option<(f64, &'v [f64])> {
    stages.middle().and_then(|(theta, values)| Some((theta, system.known_relations(values)?)))
}

/// An interval of a step in which an event function crosses zero.
#[derive(Debug, Clone, Copy)]
struct Bracket {
    function: usize,
    low: f64,
    high: f64,
}

fn is_bracketed(found: &[Bracket], k: usize) -> bool {
    found.iter().any(|bracket| bracket.function == k)
}

impl ZeroCrossingDetector {
    /// Finds the first zero crossing in the step that the stages hold.
    pub fn first_crossing(
        &mut self,
        system: &mut System<'_>,
        solver: &mut dyn Solver,
        tolerance: &Tolerance,
    ) -> Result<Option<Crossing>, EvaluationError> {
        let count = system.model.events.len();
        if count == 0 {
            return Ok(None);
        }
        self.grazing.clear();
        if self.stays_far(system, solver.stages()) {
            return Ok(None);
        }
        let middle = inside(system, solver.stages()).map_or(0.5, |(theta, _)| theta);
        let mut found = self.bracket_samples(system, (&mut *solver, tolerance), middle)?;
        self.bracket_minima(system, (&mut *solver, tolerance), middle, &mut found)?;
        for k in system.model.signals.iter().filter(|k| !system.is_sliding(**k)).copied().collect::<Vec<_>>()
        {
            if let Some((low, high)) = self.scan_signal(system, solver.stages(), k) {
                found.retain(|other| other.function != k);
                found.push(Bracket { function: k, low, high });
            }
        }
        if found.is_empty() {
            // A function that has left its zero for good needs no hysteresis.
            for k in 0..count {
                if self.margin[k] > 0.0 && self.now[k] * system.mode(k) > self.margin[k] {
                    self.margin[k] = 0.0;
                }
            }
            return Ok(None);
        }
        found.sort_by(|a, b| a.high.total_cmp(&b.high));
        solver.extend(system, tolerance)?;
        self.locate_first(system, solver.stages(), &found)
    }

    /// Samples the functions at both ends and about the middle of the step, and brackets those that change
    /// sign between samples.
    fn bracket_samples(
        &mut self,
        system: &mut System<'_>,
        (solver, tolerance): (&mut dyn Solver, &Tolerance),
        middle: f64,
    ) -> Result<Vec<Bracket>, EvaluationError> {
        let count = system.model.events.len();
        let mut found: Vec<Bracket> = Vec::new();
        let mut before = 0.0;
        for (i, theta) in [0.0, middle, 1.0].into_iter().enumerate() {
            self.samples[i].clear();
            let mut sampled = self.sample(system, solver.stages(), theta);
            // A crossing at a rough sample counts only if the dense output shows it too.
            if i == 1 && sampled.is_ok() && (0..count).any(|k| self.crosses(system, k)) {
                solver.extend(system, tolerance)?;
                sampled = self.evaluate_within(system, solver.stages(), theta);
            }
            // A place within the step may be outside the domain of the laws; the end may not.
            if sampled.is_ok() {
                self.samples[i].extend_from_slice(&self.now);
                record_largest(&mut self.largest, &self.now);
                for k in (0..count).filter(|_| theta > 0.0) {
                    if self.crosses(system, k) && !is_bracketed(&found, k) {
                        found.push(Bracket { function: k, low: before, high: theta });
                    }
                }
            }
            before = theta;
        }
        Ok(found)
    }

    /// Brackets functions that cross zero twice between samples, by their minima.
    fn bracket_minima(
        &mut self,
        system: &mut System<'_>,
        (solver, tolerance): (&mut dyn Solver, &Tolerance),
        middle: f64,
        found: &mut Vec<Bracket>,
    ) -> Result<(), EvaluationError> {
        for k in 0..system.model.events.len() {
            let (mode, still) = (system.mode(k), system.model.timed[k] || system.is_sliding(k));
            if mode == 0.0 || still || is_bracketed(found, k) {
                continue;
            }
            let [Some(a), Some(b), Some(c)] = self.samples.each_ref().map(|sample| sample.get(k)) else {
                continue;
            };
            let values = [*a, *b, *c].map(|value| mode * value);
            let interval = self.minimum(system, (&mut *solver, tolerance), k, values, middle)?;
            found.extend(interval.map(|(low, high)| Bracket { function: k, low, high }));
        }
        Ok(())
    }

    /// Locates the first of the bracketed crossings, with those that are simultaneous.
    fn locate_first(
        &mut self,
        system: &mut System<'_>,
        stages: &Stages,
        found: &[Bracket],
    ) -> Result<Option<Crossing>, EvaluationError> {
        let mut first: Option<Crossing> = None;
        for Bracket { function: k, low, high } in found.iter().copied() {
            let limit = first.as_ref().map_or(1.0, |c| c.theta);
            if low > limit {
                continue;
            }
            let Some((theta, mean_rate)) = self.locate(system, stages, k, low, high)? else { continue };
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

    /// Evaluates the functions at an end of the step, or roughly within it: at the stage that knows them, or
    /// at a cubic interpolant of the state.
    fn sample(
        &mut self,
        system: &mut System<'_>,
        stages: &Stages,
        theta: f64,
    ) -> Result<(), EvaluationError> {
        let at = stages.t + theta * stages.h;
        if theta == 0.0 {
            return self.evaluate(system, at, &stages.start);
        }
        if theta == 1.0 {
            if let Some(values) = stages.last() {
                system.cache_relations(at, &stages.end, values);
            }
            return self.evaluate(system, at, &stages.end);
        }
        match inside(system, stages) {
            Some((_, known)) => {
                self.adopt(system, known);
                Ok(())
            }
            None => {
                stages.hermite(theta, &mut self.state);
                self.evaluate_scratch(system, at)
            }
        }
    }

    /// Whether a function, as evaluated last, has left the side of its mode.
    fn crosses(&self, system: &System<'_>, k: usize) -> bool {
        sign(self.now[k]) * system.mode(k) < 0.0 && !system.model.timed[k] && !system.is_sliding(k)
    }

    /// Whether all functions, as far as stages know them, stay far from zero over the whole step.
    fn stays_far(&mut self, system: &System<'_>, stages: &Stages) -> bool {
        let known = |values| system.known_relations(values);
        let ends = (stages.first().and_then(known), stages.last().and_then(known));
        let ((Some(start), Some(end)), Some((_, middle))) = (ends, inside(system, stages)) else {
            return false;
        };
        let far = |k: usize| {
            let values = [start[k], middle[k], end[k]].map(|value| system.mode(k) * value);
            system.model.timed[k] || system.is_sliding(k) || is_far(values)
        };
        let clear = system.model.signals.is_empty()
            && self.margin.iter().all(|margin| *margin == 0.0)
            && (0..end.len()).all(far);
        if clear {
            record_largest(&mut self.largest, end);
        }
        clear
    }

    /// Minimises a function that comes close to zero within the step and turns back, by successive parabolas:
    /// an interval in which it crosses, if it does; a function that only touches zero is grazing. `values` are those at both ends and about the middle, positive as
    /// long as the mode holds.
    fn minimum(
        &mut self,
        system: &mut System<'_>,
        (solver, tolerance): (&mut dyn Solver, &Tolerance),
        k: usize,
        values: [f64; 3],
        middle: f64,
    ) -> Result<Option<(f64, f64)>, EvaluationError> {
        if is_far(values) {
            return Ok(None);
        }
        let range = range(values);
        let mut points: [(f64, f64); 3] = [(0.0, values[0]), (middle, values[1]), (1.0, values[2])];
        let touch = (GRAZING_RANGE * range).max(self.event_tolerance * self.largest[k]);
        // What only leaves zero, or comes to it, does not turn back.
        let ends = values[0].min(values[2]);
        if ends <= GRAZING_RANGE * range {
            return Ok(None);
        }
        let mut lowest = (0.0, f64::INFINITY);
        for round in 0..MINIMUM_ITERATIONS {
            let Some((theta, least)) = parabola_minimum(points) else { break };
            if round == 0 && least > MINIMUM_SEARCH_RANGE * range {
                return Ok(None);
            }
            solver.extend(system, tolerance)?;
            let value = system.mode(k) * self.value_at(system, solver.stages(), k, theta)?;
            // Less than the event tolerance is no crossing.
            if value < -touch {
                let low = points.iter().map(|(place, _)| *place).filter(|place| *place < theta);
                return Ok(Some((low.fold(0.0, f64::max), theta)));
            }
            let converged = (lowest.1 - value).abs() <= GRAZING_RANGE * range;
            if value < lowest.1 {
                lowest = (theta, value);
            }
            if converged || value.is_nan() {
                break;
            }
            // The new place and its neighbours.
            let mut all = [points[0], points[1], points[2], (theta, value)];
            all.sort_by(|a, b| a.0.total_cmp(&b.0));
            let place = if all[1].1 <= all[2].1 { 0 } else { 1 };
            points = [all[place], all[place + 1], all[place + 2]];
        }
        if lowest.1 <= touch && ends > touch {
            self.grazing.push((k, lowest.0));
        }
        Ok(None)
    }

    /// Finds an interval with the first crossing of a function that may change faster than the states: the
    /// step is divided until a cubic through four values predicts a fifth.
    fn scan_signal(&mut self, system: &mut System<'_>, stages: &Stages, k: usize) -> Option<(f64, f64)> {
        // Uneven, so that a periodic signal does not look like a slow one.
        const PLACES: [f64; 5] = [0.0, 0.29, 0.53, 0.81, 1.0];
        let others = [0, 1, 3, 4];
        let weights = others.map(|i| {
            let factor = |j: usize| (PLACES[2] - PLACES[j]) / (PLACES[i] - PLACES[j]);
            others.iter().filter(|j| **j != i).map(|j| factor(*j)).product::<f64>()
        });
        let mode = system.mode(k);
        let mut stack = vec![(0.0, 1.0)];
        while let Some((low, high)) = stack.pop() {
            let mut values = [0.0; 5];
            for (value, place) in values.iter_mut().zip(PLACES) {
                let theta = low + place * (high - low);
                stages.hermite(theta, &mut self.state);
                self.evaluate_scratch(system, stages.t + theta * stages.h).ok()?;
                *value = self.now[k];
            }
            let predicted: f64 = others.iter().zip(weights).map(|(i, w)| w * values[*i]).sum();
            let highest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let lowest = values.iter().copied().fold(f64::INFINITY, f64::min);
            // A constant is predicted but for rounding.
            let rounding = SIGNAL_ROUNDING * highest.abs().max(lowest.abs());
            let missed = (predicted - values[2]).abs();
            if missed > (SIGNAL_PREDICTION_ERROR * (highest - lowest)).max(rounding)
                && high - low > SIGNAL_INTERVAL_SHARE
            {
                let middle = low + PLACES[2] * (high - low);
                stack.push((middle, high));
                stack.push((low, middle));
                continue;
            }
            if let Some(i) = (1..5).find(|i| sign(values[*i]) * mode < 0.0) {
                let at = |i: usize| low + PLACES[i] * (high - low);
                return Some((at(i - 1), at(i)));
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::method::explicit::Explicit;
    use crate::method::implicit::Implicit;
    use crate::method::tableau::Tableau;
    use crate::model::{Compiled, Source, Wanted};
    use paynter_base::CancellationToken;
    use paynter_numerics::program::Tables;
    use paynter_testkit::read::{Causal, causal};

    /// Solvers that know event functions at a stage within a step.
    fn solvers(system: &System<'_>) -> [Box<dyn Solver>; 4] {
        let explicit = |tableau| Box::new(Explicit::new(tableau, system, true));
        let stiff = Box::new(Implicit::new(system, true));
        [explicit(Tableau::rk4()), explicit(Tableau::tsit5()), explicit(Tableau::dop853()), stiff]
    }

    /// A state that rises as e^t from 1, and whether it is above a threshold.
    fn rising() -> Compiled {
        let text = "model rising { param h = 0; signal x = integral(x, 1)
            signal above = integral(if(x > h, 1, 0), 0); Se s = above; R r = 1; s -> r }";
        let Causal { mut pool, mut graph, causality } = causal(text).unwrap();
        let equations =
            paynter_equations::derive(&mut pool, &mut graph, &causality, &CancellationToken::new()).unwrap();
        let wanted = [Wanted::Parameter(0)];
        let source = Source {
            graph: &graph,
            equations: &equations,
            inputs: Vec::new(),
            outputs: None,
            wanted: &wanted,
        };
        Compiled::new(&mut pool, &source).unwrap()
    }

    /// Takes a step of each solver with this threshold, and judges it.
    fn steps(
        threshold: f64,
        h: f64,
        judge: impl Fn(&mut ZeroCrossingDetector, &mut System<'_>, &mut dyn Solver),
    ) {
        let (model, tables) = (rising(), Tables::default());
        let mut system = System::new(&model, &[threshold], &tables);
        let start: Vec<f64> = model.states.iter().map(|name| f64::from(u8::from(name == "x"))).collect();
        ZeroCrossingDetector::new(&system, 1e-10).initialise_modes(&mut system, 0.0, &start).unwrap();
        let tolerance = Tolerance { rtol: 1e-10, atol: vec![1e-10; start.len()] };
        for mut solver in solvers(&system) {
            solver.begin(&mut system, 0.0, &start).unwrap();
            solver.step(&mut system, 0.0, &start, h, &tolerance).unwrap();
            judge(&mut ZeroCrossingDetector::new(&system, tolerance.rtol), &mut system, &mut *solver);
        }
    }

    #[test]
    fn the_stage_within_a_step_knows_the_functions_there() {
        let h = 0.01;
        steps(0.5, h, |_, system, solver| {
            let stages = solver.stages();
            let (theta, values) = stages.middle().unwrap();
            let name = stages.tableau.name;
            assert!((0.25..=0.75).contains(&theta), "{name}: {theta}");
            let known = system.mode(0) * system.known_relations(values).unwrap()[0];
            let exact = (theta * h).exp() - 0.5;
            // Stages are rough, but no other place is as close.
            assert!((known - exact).abs() < 0.3 * h * h, "{name}: {known}, not {exact}");
        });
    }

    #[test]
    fn steps_far_from_zero_are_clear() {
        let h: f64 = 0.1;
        let range = h.exp() - 1.0;
        for (far, clear) in [(3.0, true), (1.0, false), (0.1, false)] {
            steps(1.0 - far * range, h, |detector, system, solver| {
                let stages = solver.stages();
                assert_eq!(detector.stays_far(system, stages), clear, "{} {far}", stages.tableau.name);
            });
        }
        // Nor are those that cross.
        steps(1.0 + 0.5 * range, h, |detector, system, solver| {
            assert!(!detector.stays_far(system, solver.stages()));
        });
    }

    /// What is not searched could not come close to zero: a parabola through the three values that are known
    /// does not, whatever they are and at whatever stage.
    #[test]
    fn what_lies_far_stays_far() {
        let model = rising();
        let tables = Tables::default();
        let levels = [0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 1.0];
        for mut solver in solvers(&System::new(&model, &[0.5], &tables)) {
            let (theta, _) = solver.stages().middle().unwrap();
            for (a, b, c) in
                levels.iter().flat_map(|a| levels.iter().flat_map(move |b| levels.map(|c| (*a, *b, c))))
            {
                for above in [0.0, 0.5, 1.0, 1.5, 2.0, 2.1, 4.0] {
                    let values = [a, b, c].map(|value| value + above);
                    let points = [(0.0, values[0]), (theta, values[1]), (1.0, values[2])];
                    if let (true, Some((_, least))) = (is_far(values), parabola_minimum(points)) {
                        assert!(
                            least > MINIMUM_SEARCH_RANGE * range(values),
                            "{values:?} at {theta}: {least}"
                        );
                    }
                }
            }
        }
        assert!(is_far([1.0, 1.2, 1.4]) && !is_far([1.0, 2.0, 1.5]) && !is_far([-3.0, -2.9, -2.8]));
    }
}
