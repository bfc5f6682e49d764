//! The energy of a storage with a law of its own: by its antiderivative where there is one, else by adaptive
//! quadrature whose panels are accepted only where interval arithmetic agrees that nothing hides in them.

use super::energy::Reference;
use crate::tolerance::{
    ENERGY_PANEL_ERROR, ENERGY_PANEL_WIDTH, ENERGY_PANELS, LEAST_LAW_VALUE, RELAXED_REACH, RELAXED_SEARCH,
    RELAXED_WIDTH,
};
use paynter_algebra::{Expr, Pool, Symbol};
use paynter_numerics::program::{CompileError, Enclosure, Program, Range, Scalar, Tables};

/// Nodes and weights of Gauss and Legendre's quadrature on [0, 1], sixteen points: the first eight, the
/// others lie opposite.
const GAUSS: [(f64, f64); 8] = [
    (0.005_299_532_504_175_031, 0.013_576_229_705_877_047),
    (0.027_712_488_463_383_7, 0.031_126_761_969_323_946),
    (0.067_184_398_806_084_12, 0.047_579_255_841_246_39),
    (0.122_297_795_822_498_45, 0.062_314_485_627_767_04),
    (0.191_061_877_798_678_12, 0.074_797_994_408_288_37),
    (0.270_991_611_171_386_3, 0.084_578_259_697_501_27),
    (0.359_198_224_610_370_54, 0.091_301_707_522_461_79),
    (0.452_493_745_081_181_3, 0.094_725_305_227_534_25),
];

/// The laws of a storage over its own states.
#[derive(Debug, PartialEq)]
pub(super) struct StorageLaw {
    ports: usize,
    laws: Program,
    antiderivative: Option<Program>,
}

impl StorageLaw {
    pub fn compile(
        pool: &Pool,
        parameters: &[Symbol],
        states: &[Symbol],
        laws: &[Expr],
        antiderivative: Option<Expr>,
    ) -> Result<StorageLaw, CompileError> {
        let arguments: Vec<Symbol> = parameters.iter().chain(states).copied().collect();
        let compile = |list: &[Expr]| Program::compile(pool, list, &arguments);
        let antiderivative = antiderivative.map(|e| compile(&[e])).transpose()?;
        Ok(StorageLaw { ports: states.len(), laws: compile(laws)?, antiderivative })
    }

    pub fn ports(&self) -> usize {
        self.ports
    }

    /// The energies at samples of the states, one list each, counted from the relaxed state nearest to where
    /// they are zero, or from the first sample where there is none.
    pub fn energies(&self, parameters: &[f64], states: &[&[f64]]) -> (Vec<f64>, Reference) {
        if states.first().is_none_or(|list| list.is_empty()) {
            return (Vec::new(), Reference::Start);
        }
        let law = self.at(parameters);
        let reference = law.relaxed(states);
        let from = match reference {
            Reference::Empty => vec![0.0; self.ports],
            Reference::Relaxed(q) => vec![q],
            Reference::Start => states.iter().map(|list| list[0]).collect(),
        };
        (law.integrals(from, states), reference)
    }

    /// The energies at samples of the effort or flow y, where the law gives the state by it: y·law(y) − ∫ law dy,
    /// counted from the relaxed state, where y is zero, or from the first sample where the law has no value there.
    pub fn energies_by_inverse(&self, parameters: &[f64], values: &[f64]) -> (Vec<f64>, Reference) {
        let Some(first) = values.first() else { return (Vec::new(), Reference::Start) };
        let law = self.at(parameters);
        let state = |y: f64| {
            let mut out = [0.0];
            law.run(&self.laws, &[y], &mut out);
            out[0]
        };
        let (from, reference) = match state(0.0) {
            0.0 => (0.0, Reference::Empty),
            relaxed if relaxed.is_finite() => (0.0, Reference::Relaxed(relaxed)),
            _ => (*first, Reference::Start),
        };
        let product = |y: f64| if y == 0.0 { 0.0 } else { y * state(y) };
        let integrals = law.integrals(vec![from], &[values]);
        let energy = |(y, integral): (&f64, f64)| product(*y) - product(from) - integral;
        (values.iter().zip(integrals).map(energy).collect(), reference)
    }

    fn at<'a>(&'a self, parameters: &'a [f64]) -> Law<'a> {
        Law { own: self, parameters: &parameters[..parameters.len().min(self.laws.arguments() - self.ports)] }
    }
}

/// The laws at given parameters.
struct Law<'a> {
    own: &'a StorageLaw,
    parameters: &'a [f64],
}

impl Law<'_> {
    fn run(&self, program: &Program, states: &[f64], out: &mut [f64]) {
        let arguments: Vec<f64> = self.parameters.iter().chain(states).copied().collect();
        program.run(&arguments, &mut Vec::new(), out);
    }

    /// The integrals of the laws from a place to each sample.
    fn integrals(&self, from: Vec<f64>, samples: &[&[f64]]) -> Vec<f64> {
        if let Some(integrals) = self.by_antiderivative(from[0], samples[0]) {
            return integrals;
        }
        let (mut before, mut integral) = (from, 0.0);
        let mut integrals = Vec::with_capacity(samples[0].len());
        for k in 0..samples[0].len() {
            let place: Vec<f64> = samples.iter().map(|list| list[k]).collect();
            integral += self.between(&before, &place);
            integrals.push(integral);
            before = place;
        }
        integrals
    }

    /// Σ law·way at a part of the way.
    fn power(&self, from: &[f64], way: &[f64], part: f64) -> f64 {
        let states: Vec<f64> = from.iter().zip(way).map(|(from, way)| from + part * way).collect();
        let mut values = vec![0.0; self.own.ports];
        self.run(&self.own.laws, &states, &mut values);
        values.iter().zip(way).map(|(value, way)| value * way).sum()
    }

    fn enclosed(&self, from: &[f64], way: &[f64], low: f64, high: f64) -> Range {
        let mut arguments: Vec<Enclosure> = self.parameters.iter().map(|x| Enclosure::constant(*x)).collect();
        arguments.extend(from.iter().zip(way).map(|(from, way)| {
            let (a, b) = (from + low * way, from + high * way);
            Enclosure { value: Range::new(a.min(b), a.max(b)), derivative: Range::point(*way) }
        }));
        let found = self.own.laws.enclose(&arguments, &Tables::default());
        let terms = found.iter().zip(way).map(|(found, way)| found.value.times(Range::point(*way)));
        terms.fold(Range::ZERO, Range::plus)
    }

    /// The energy that enters on the straight way between two states.
    fn between(&self, from: &[f64], to: &[f64]) -> f64 {
        let way: Vec<f64> = from.iter().zip(to).map(|(from, to)| to - from).collect();
        if way.iter().all(|way| *way == 0.0) {
            return 0.0;
        }
        let (whole, seen) = self.gauss(from, &way, 0.0, 1.0);
        let bound = self.enclosed(from, &way, 0.0, 1.0);
        let scale = if bound.is_bounded() { bound.magnitude() } else { seen.magnitude() };
        self.panel(from, &way, ((0.0, 1.0), whole), scale, &mut { ENERGY_PANELS })
    }

    /// The energies by the antiderivative, where there is one and it has values.
    fn by_antiderivative(&self, from: f64, states: &[f64]) -> Option<Vec<f64>> {
        let antiderivative = self.own.antiderivative.as_ref()?;
        let first = self.limit(antiderivative, from);
        let energies: Vec<f64> = states.iter().map(|q| self.limit(antiderivative, *q) - first).collect();
        energies.iter().all(|energy| energy.is_finite()).then_some(energies)
    }

    /// A value, or the limit where it has none just there: q·ln q at zero.
    fn limit(&self, program: &Program, q: f64) -> f64 {
        let mut out = [0.0];
        self.run(program, &[q], &mut out);
        if !out[0].is_finite() {
            self.run(program, &[q + f64::MIN_POSITIVE.max(f64::EPSILON * q.abs())], &mut out);
        }
        out[0]
    }

    /// The integral over a part of the way, and between which values the law was seen.
    fn gauss(&self, from: &[f64], way: &[f64], low: f64, high: f64) -> (f64, Range) {
        let mut sum = 0.0;
        let mut seen = Range { lo: f64::INFINITY, hi: f64::NEG_INFINITY };
        for (node, weight) in GAUSS {
            for node in [node, 1.0 - node] {
                let value = self.power(from, way, low + node * (high - low));
                sum += weight * value;
                seen = Range { lo: seen.lo.min(value), hi: seen.hi.max(value) };
            }
        }
        (sum * (high - low), seen)
    }

    /// Refines a panel until two halves agree with it, and the law cannot leave what was seen of it by much;
    /// both beside the largest power on the way.
    fn panel(
        &self,
        from: &[f64],
        way: &[f64],
        ((low, high), whole): ((f64, f64), f64),
        scale: f64,
        left: &mut u32,
    ) -> f64 {
        let middle = 0.5 * (low + high);
        let (before, seen_before) = self.gauss(from, way, low, middle);
        let (after, seen_after) = self.gauss(from, way, middle, high);
        let (seen, sum) = (seen_before.hull(seen_after), before + after);
        *left = left.saturating_sub(1);
        if *left == 0 || high - low <= ENERGY_PANEL_WIDTH {
            return sum;
        }
        if (sum - whole).abs() <= ENERGY_PANEL_ERROR * scale * (high - low) {
            let slack = seen.width() + ENERGY_PANEL_ERROR * scale;
            let allowed = Range { lo: seen.lo - slack, hi: seen.hi + slack };
            if allowed.covers(self.enclosed(from, way, low, high)) {
                return sum;
            }
        }
        self.panel(from, way, ((low, middle), before), scale, left)
            + self.panel(from, way, ((middle, high), after), scale, left)
    }

    /// The relaxed state nearest to where the states are zero.
    fn relaxed(&self, states: &[&[f64]]) -> Reference {
        let zero = vec![0.0; self.own.ports];
        let mut values = vec![0.0; self.own.ports];
        self.run(&self.own.laws, &zero, &mut values);
        if values.iter().all(|value| *value == 0.0) {
            return Reference::Empty;
        }
        let [list] = states else { return Reference::Start };
        let reach = RELAXED_REACH * list.iter().fold(0.0f64, |most, q| most.max(q.abs()));
        let found = [reach, -reach].map(|end| self.first_root(end));
        let nearest = found.into_iter().flatten().min_by(|a, b| a.abs().total_cmp(&b.abs()));
        nearest.map_or(Reference::Start, Reference::Relaxed)
    }

    /// The first root of the law from zero towards an end.
    fn first_root(&self, end: f64) -> Option<f64> {
        let value = |q: f64| {
            let mut out = [0.0];
            self.run(&self.own.laws, &[q], &mut out);
            out[0]
        };
        let mut stack = vec![(0.0, end)];
        for _ in 0..RELAXED_SEARCH {
            let (a, b) = stack.pop()?;
            let bound = self.enclosed(&[a], &[b - a], 0.0, 1.0);
            if !bound.contains(0.0) {
                continue;
            }
            let (fa, fb) = (value(a), value(b));
            if fb == 0.0 && fa != 0.0 && !underflows(&value, a, b) {
                return Some(b);
            }
            let narrow = (b - a).abs() <= RELAXED_WIDTH * end.abs();
            if narrow {
                if fa * fb < 0.0 {
                    return Some(bisected(&value, a, b));
                }
                continue;
            }
            let middle = 0.5 * (a + b);
            stack.push((middle, b));
            stack.push((a, middle));
        }
        None
    }
}

/// Whether a law that is zero at `b` and not at `a` has only become too small to be told from zero.
fn underflows(value: &impl Fn(f64) -> f64, mut a: f64, mut b: f64) -> bool {
    let flat = value(b + (b - a)) == 0.0;
    while 0.5 * (a + b) != a && 0.5 * (a + b) != b {
        let middle = 0.5 * (a + b);
        if value(middle) == 0.0 { b = middle } else { a = middle }
    }
    flat && value(a).abs() < LEAST_LAW_VALUE
}

/// A root between two places with values of different signs.
fn bisected(value: &impl Fn(f64) -> f64, mut a: f64, mut b: f64) -> f64 {
    let sign = value(a);
    for _ in 0..200 {
        let middle = 0.5 * (a + b);
        if middle == a || middle == b {
            break;
        }
        if value(middle) * sign > 0.0 { a = middle } else { b = middle }
    }
    b
}
