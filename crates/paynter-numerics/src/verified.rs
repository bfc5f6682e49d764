//! Answers in numbers, put into the graph's own equations before they are given: operating points, poles,
//! frequency responses and their sensitivities. One that contradicts them is refused.

use crate::linear::{above_borders, refused};
use crate::parametric::modes::{Gain, Mode};
use crate::parametric::{Moved, ResponseSensitivity, RootSensitivities};
use crate::program::Program;
use crate::response::FrequencyResponse;
use crate::sensitivity::FrequencySensitivity;
use crate::tolerance::{CHECKED_DIFFERENCE, MOVED_SHARE, SMALL_CHANGE};
use crate::{LinearModel, OperatingPoint, Tables};
use num_complex::Complex64;
use paynter_algebra::{Pool, Symbol};
use paynter_base::random::Random;
use paynter_base::{CancellationToken, Diagnostics, QueryError};
use paynter_equations::Equations;
use paynter_graph::{BondGraph, Variable};
use paynter_verify::{Acausal, Beside, Check, Contradiction, Given, Pencil, Point, Responses, Root, a_few};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;

/// Models with more variables than this are not checked: it would cost more than their answers.
const CHECKED_VARIABLES: usize = 100_000;

/// So many poles are checked at least and at most, and together with the states no more than this, so that it takes
/// a small part of finding them.
const CHECKED_POLES: [usize; 2] = [2, 8];
const CHECKED_POLES_OF_STATES: usize = 160;

/// The response is checked with its derivatives by so many parameters.
const CHECKED_PARAMETERS: usize = 3;

/// Of a linear model it is one for so many frequencies: a solution for each takes a tenth of those for so many.
const FREQUENCIES_PER_PARAMETER: usize = 20;

/// The places of those among so many parameters by which derivatives are checked.
pub(crate) fn places_to_check(count: usize) -> Vec<usize> {
    a_few(CHECKED_PARAMETERS, count)
}

/// How all that moves with a parameter does, of some of these parameters: by them the point is checked.
pub(crate) fn some_moves(parameters: &[usize], moved: &[Moved]) -> Vec<(usize, Moved)> {
    places_to_check(parameters.len()).into_iter().map(|k| (parameters[k], moved[k].clone())).collect()
}

/// What a check says: an answer that contradicts the graph is refused.
fn agreed<T>(found: Result<T, Contradiction>) -> Result<T, QueryError> {
    found.map_err(|contradiction| refused(contradiction.diagnostic()))
}

/// A linear model with the graph and the equations that it was made of.
#[derive(Debug, Clone, Copy)]
pub struct Linearised<'a> {
    /// The graph.
    pub graph: &'a BondGraph,
    /// The equations, linear or not.
    pub equations: &'a Equations,
    /// The linear model.
    pub linear: &'a LinearModel,
}

/// The values of all variables, made of those of symbols.
struct Values<'a> {
    graph: &'a BondGraph,
    symbols: Vec<Symbol>,
    program: Program,
}

impl<'a> Values<'a> {
    /// Compiles them; nothing where one of them is not known.
    fn new(
        pool: &mut Pool,
        graph: &'a BondGraph,
        equations: &Equations,
        symbols: Vec<Symbol>,
    ) -> Option<Values<'a>> {
        let variables = equations.variable_values(pool, graph, &graph.all_variables())?;
        let program = Program::compile(pool, &variables, &symbols).ok()?;
        Some(Values { graph, symbols, program })
    }

    fn run(&self, numbers: &[f64]) -> Vec<f64> {
        let mut found = vec![0.0; self.program.results()];
        self.program.run_with(numbers, &Tables::default(), &mut Vec::new(), &mut found);
        found
    }

    /// The point where the symbols have these values; nothing where a variable has none. `scales` tells how large
    /// what makes up each variable is.
    fn point(&self, numbers: &[f64], scales: Vec<f64>) -> Option<Point> {
        let variables = self.run(numbers);
        let of: FxHashMap<Symbol, f64> = self.symbols.iter().copied().zip(numbers.iter().copied()).collect();
        let inputs = self.graph.inputs.iter().map(|input| of.get(&input.symbol).copied().unwrap_or(0.0));
        let finite = variables.iter().all(|value| value.is_finite());
        finite.then(|| Point {
            time: 0.0,
            parameters: self.graph.parameters.iter().map(|parameter| parameter.number).collect(),
            inputs: inputs.collect(),
            variables,
            scales,
            beside: Vec::new(),
            tolerance: 0.0,
        })
    }

    /// What each variable is made of, which shows when all that it is made from changes a little.
    fn scales(&self, numbers: &[f64], sizes: &BTreeMap<Symbol, f64>) -> Vec<f64> {
        let mut random = Random::new(1);
        let size = |symbol: &Symbol, x: f64| sizes.get(symbol).map_or(x.abs(), |size| size.max(x.abs()));
        let moved = self.symbols.iter().zip(numbers);
        let moved: Vec<f64> =
            moved.map(|(symbol, x)| x + SMALL_CHANGE * size(symbol, *x) * (random.unit() - 0.5)).collect();
        let (found, moved) = (self.run(numbers), self.run(&moved));
        found.iter().zip(&moved).map(|(found, moved)| (moved - found).abs() / SMALL_CHANGE).collect()
    }

    /// The points to which a parameter, given by place, leads that is a little less and a little more.
    fn beside(
        &self,
        numbers: &[f64],
        sizes: &BTreeMap<Symbol, f64>,
        parameter: usize,
        moved: &Moved,
    ) -> Option<Beside> {
        let nominal = self.graph.parameters[parameter].number;
        let step = CHECKED_DIFFERENCE * if nominal == 0.0 { 1.0 } else { nominal.abs() };
        let moved: BTreeMap<Symbol, f64> = moved.iter().copied().collect();
        let along = |step: f64, change: f64| -> Vec<f64> {
            let mut random = Random::new(2);
            let mut moves = |(symbol, x): (&Symbol, &f64)| {
                let share = 1.0 + change * (random.unit() - 0.5);
                x + step * share * moved.get(symbol).unwrap_or(&0.0)
            };
            self.symbols.iter().zip(numbers).map(&mut moves).collect()
        };
        let side = |step: f64| {
            let numbers = along(step, 0.0);
            let mut point = self.point(&numbers, self.scales(&numbers, sizes))?;
            point.parameters[parameter] += step;
            Some(point)
        };
        let points = [side(-step)?, side(step)?];
        let others = self.run(&along(step, MOVED_SHARE));
        let apart = others.iter().zip(&points[1].variables);
        let sizes = apart.map(|(a, b)| (a - b).abs() / (MOVED_SHARE * step)).collect();
        // Quotients over half the step tell how far both are from derivatives.
        let nearer = [side(-0.5 * step)?, side(0.5 * step)?];
        let quotient = |[below, above]: &[Point; 2], step: f64, k: usize| {
            (above.variables[k] - below.variables[k]) / (2.0 * step)
        };
        let error = |k| 2.0 * (quotient(&points, step, k) - quotient(&nearer, 0.5 * step, k)).abs();
        let errors = (0..points[0].variables.len()).map(error).collect();
        Some(Beside { parameter, step, points, sizes, errors })
    }
}

/// The point where symbols have the values of a steady state, made of parts of some sizes, and those to which
/// parameters, given by place, lead; nothing where a variable has no value there.
fn located(
    pool: &mut Pool,
    graph: &BondGraph,
    equations: &Equations,
    (values, sizes): (&BTreeMap<Symbol, f64>, &BTreeMap<Symbol, f64>),
    moves: &[(usize, Moved)],
) -> Option<(Point, Vec<Beside>)> {
    let (symbols, numbers): (Vec<Symbol>, Vec<f64>) = values.iter().unzip();
    let of = Values::new(pool, graph, equations, symbols)?;
    let scales = of.scales(&numbers, sizes);
    let beside =
        moves.iter().filter_map(|(place, moved)| of.beside(&numbers, sizes, *place, moved)).collect();
    let mut point = of.point(&numbers, scales)?;
    point.beside = of.run(&above_borders(equations, &of.symbols, &numbers));
    Some((point, beside))
}

/// The places of variables whose states do not rest, in rising order.
fn drifting(pool: &mut Pool, graph: &BondGraph, equations: &Equations) -> Vec<usize> {
    let active = equations.resting(pool);
    let states = equations.states.iter().zip(&active);
    let drifting = states.filter(|(_, active)| !**active).map(|(state, _)| state.variable);
    // What only follows from states that drift drifts as well.
    let dependent = equations.dependent.iter();
    let dependent = dependent.map(|d| Variable::State(d.element, d.port as u32));
    let loose: FxHashSet<Variable> = dependent.chain(drifting).collect();
    let variables = graph.all_variables();
    let places = variables.iter().enumerate().filter(|(_, variable)| loose.contains(variable));
    places.map(|(place, _)| place).collect()
}

/// Checks that a steady state is one.
pub fn check_steady_state(
    pool: &mut Pool,
    graph: &BondGraph,
    equations: &Equations,
    steady: &OperatingPoint,
) -> Result<Vec<Check>, QueryError> {
    if graph.all_variables().len() > CHECKED_VARIABLES {
        return Ok(Vec::new());
    }
    let system = Acausal::new(pool, graph);
    let found = located(pool, graph, equations, (&steady.values, &steady.sizes), &[]);
    let Some((point, _)) = found else { return Ok(Vec::new()) };
    let places = drifting(pool, graph, equations);
    let what = "the operating point";
    agreed(system.check_point(pool, what, &point, &steady.outputs, Some(&places)))
}

/// Checks how a steady state moves with some parameters.
pub fn check_steady_moves(
    pool: &mut Pool,
    graph: &BondGraph,
    equations: &Equations,
    steady: &OperatingPoint,
    moves: &[(usize, Moved)],
) -> Result<Vec<Check>, QueryError> {
    if graph.all_variables().len() > CHECKED_VARIABLES {
        return Ok(Vec::new());
    }
    let found = located(pool, graph, equations, (&steady.values, &steady.sizes), moves);
    let Some((point, beside)) = found else { return Ok(Vec::new()) };
    let places = drifting(pool, graph, equations);
    let system = Acausal::new(pool, graph);
    let Some(pencil) = Pencil::new(pool, &system, &point) else { return Ok(Vec::new()) };
    agreed(pencil.check_beside(pool, &beside, &places))
}

impl Linearised<'_> {
    /// Checks an answer about the linear model in the equations of small changes, and how its point moves.
    fn check<T: Default>(
        &self,
        pool: &mut Pool,
        moves: &[(usize, Moved)],
        ask: impl FnOnce(&mut Pool, &Pencil<'_>) -> Result<T, Contradiction>,
    ) -> Result<(Vec<Check>, T), QueryError> {
        let Linearised { graph, equations, linear } = *self;
        let system = Acausal::new(pool, graph);
        let width = graph.all_variables().len();
        if width > CHECKED_VARIABLES {
            return Ok(Default::default());
        }
        let found = match &linear.point {
            Some(steady) => located(pool, graph, equations, (&linear.values, &steady.sizes), moves),
            None => {
                let point = Point {
                    time: 0.0,
                    parameters: graph.parameters.iter().map(|parameter| parameter.number).collect(),
                    inputs: vec![0.0; graph.inputs.len()],
                    variables: vec![0.0; width],
                    scales: vec![0.0; width],
                    beside: Vec::new(),
                    tolerance: 0.0,
                };
                Some((point, Vec::new()))
            }
        };
        let Some((point, beside)) = found else { return Ok(Default::default()) };
        let Some(mut pencil) = Pencil::new(pool, &system, &point) else { return Ok(Default::default()) };
        // A law that is not linear needs the point that it is linearised about.
        if linear.point.is_none() && !pencil.is_linear() {
            return Ok(Default::default());
        }
        let mut checks = Vec::new();
        if !beside.is_empty() {
            let places = drifting(pool, graph, equations);
            checks = agreed(pencil.check_beside(pool, &beside, &places))?;
            pencil.set_beside(pool, &beside);
        }
        Ok((checks, agreed(ask(pool, &pencil))?))
    }

    /// Checks some poles as numbers at which the graph's equations are singular.
    pub fn check_poles(&self, pool: &mut Pool, poles: &[Complex64]) -> Result<Vec<Check>, QueryError> {
        let fastest = poles.iter().fold(0.0f64, |most, pole| most.max(pole.norm()));
        let [least, most] = CHECKED_POLES;
        let count = (CHECKED_POLES_OF_STATES / poles.len().max(1)).clamp(least, most);
        let some = Acausal::some_poles(poles, count);
        Ok(self.check(pool, &[], |_, pencil| pencil.check_poles("the pole", &some, fastest))?.1)
    }

    /// Takes derivatives of simple poles and zeros from the graph's own equations where the state equations have lost
    /// their digits, and withholds those that neither of them knows: not a number. `parameters` are places in the
    /// model. Of a nonlinear model those by the parameters in `verified` are compared with differences between rests, and
    /// all those of a root withheld that rounding decides. Tells by which parameters, by place in the list, derivatives
    /// were contested.
    pub fn reconcile_roots(
        &self,
        pool: &mut Pool,
        parameters: &[usize],
        verified: &[(usize, Moved)],
        roots: &mut RootSensitivities,
    ) -> Result<Vec<usize>, QueryError> {
        let is_moving = self.linear.point.is_some();
        if is_moving && verified.is_empty() {
            return Ok(Vec::new());
        }
        let poles = roots.poles.iter_mut().map(|mode| (None, mode));
        let zeros = roots.zeros.iter_mut().map(|(entry, mode)| (Some(*entry), mode));
        let mut simple: Vec<(Root, &mut Mode)> = (poles.chain(zeros))
            .filter(|(_, mode)| mode.multiplicity == 1)
            .map(|(entry, mode)| (Root { value: mode.value, entry }, mode))
            .collect();
        let moves = if is_moving { verified } else { &[] };
        let mut contested: Vec<usize> = Vec::new();
        let (_, checks) = self.check(pool, moves, |pool, pencil| {
            if is_moving {
                let derivatives = |mode: &Mode| {
                    parameters.iter().copied().zip(mode.derivatives.iter().copied()).collect::<Vec<_>>()
                };
                let given: Vec<_> = simple.iter().map(|(root, mode)| (*root, derivatives(mode))).collect();
                let (checks, settled) = pencil.check_root_derivatives(&given)?;
                let loose = simple.iter_mut().zip(settled).filter(|(_, is_settled)| !is_settled);
                loose.for_each(|((_, mode), _)| mode.withhold());
                return Ok(checks);
            }
            let asked: Vec<Root> = simple.iter().map(|(root, _)| *root).collect();
            let found = pencil.root_derivatives(pool, &asked, parameters).unwrap_or_default();
            let mut most: Option<f64> = None;
            for ((_, mode), own) in simple.iter_mut().zip(found) {
                if let Some(own) = own {
                    contested.extend(mode.contested(&own));
                    let residual = mode.reconcile(&own);
                    most = Some(most.map_or(residual, |most| most.max(residual)));
                }
            }
            let what = "the derivatives of poles and zeros".to_owned();
            Ok(most.map(|residual| Check { what, residual }).into_iter().collect())
        })?;
        roots.checks.extend::<Vec<Check>>(checks);
        contested.sort_unstable();
        contested.dedup();
        Ok(contested)
    }

    /// Takes the derivatives of simple poles and zeros by some of the parameters, given by place in the list, from exact
    /// polynomials, where these know them.
    pub fn settle_roots(
        &self,
        pool: &Pool,
        parameters: &[usize],
        contested: &[usize],
        roots: &mut RootSensitivities,
        token: &CancellationToken,
    ) -> Result<(), QueryError> {
        let poles = roots.poles.iter_mut().map(|mode| (None, mode));
        let zeros = roots.zeros.iter_mut().map(|(entry, mode)| (Some(*entry), mode));
        let mut simple: Vec<_> = poles.chain(zeros).filter(|(_, mode)| mode.multiplicity == 1).collect();
        let asked: Vec<_> = simple.iter().map(|(entry, mode)| (*entry, mode.value)).collect();
        for k in contested {
            let found = self.linear.exact_root_moves(pool, self.graph, parameters[*k], &asked, token)?;
            for ((_, mode), found) in simple.iter_mut().zip(found) {
                mode.settle(*k, found);
            }
        }
        Ok(())
    }

    /// Checks static gains, and their derivatives by those parameters whose moves are given, by place in the model, in
    /// the order of `parameters`; calculates all anew where they have lost their digits. What is little beside the
    /// response at a frequency is nothing. Gains within conserved amounts are not compared: the equations are singular
    /// there. Those of transfer functions in which poles at zero cancel are means on a circle `around` zero.
    pub fn check_gains(
        &self,
        pool: &mut Pool,
        gains: &mut [Gain],
        parameters: &[usize],
        verified: &[(usize, Moved)],
        (omega, around): (f64, Option<f64>),
    ) -> Result<(Vec<Check>, bool), QueryError> {
        if gains.iter().all(|gain| gain.is_within_conserved) {
            return Ok(Default::default());
        }
        let given = |gains: &[Gain], columns: &[(usize, usize)]| -> Vec<Given> {
            let of = |gain: &Gain| {
                let (output, input) = (gain.output, gain.input);
                let entry =
                    move |parameter, value| Given { output, input, parameter, value: Complex64::from(value) };
                let own = columns.iter().map(|(k, at)| entry(Some(*k), gain.derivatives[*at]));
                std::iter::once(entry(None, gain.value)).chain(own).collect::<Vec<_>>()
            };
            gains.iter().flat_map(of).collect()
        };
        let all: Vec<(usize, usize)> = parameters.iter().enumerate().map(|(at, k)| (*k, at)).collect();
        let is_verified = |k: usize| verified.iter().any(|(other, _)| *other == k);
        let some: Vec<(usize, usize)> = all.iter().filter(|(k, _)| is_verified(*k)).copied().collect();
        let (few, every) = (given(gains, &some), given(gains, &all));
        let moves = if self.linear.point.is_some() { verified } else { &[] };
        let (mut checks, (found, anew)) = self.check(pool, moves, |pool, pencil| {
            match pencil.check_static(pool, "the static gain", &few, (omega, around)) {
                Ok(found) => Ok((found, None)),
                Err(contradiction) if pencil.is_linear() => {
                    let anew = pencil.solve_static(pool, &every, (omega, around)).ok_or(contradiction)?;
                    Ok((Vec::new(), Some(anew)))
                }
                Err(contradiction) => Err(contradiction),
            }
        })?;
        checks.extend(found);
        let Some(anew) = anew else { return Ok((checks, false)) };
        for (gain, values) in gains.iter_mut().zip(anew.chunks(1 + all.len())) {
            gain.value = values[0];
            gain.derivatives.copy_from_slice(&values[1..]);
        }
        Ok((checks, true))
    }

    /// Checks a response, and calculates it anew where it has lost its digits.
    pub fn check_response(
        &self,
        pool: &mut Pool,
        found: &mut FrequencyResponse,
        findings: &mut Diagnostics,
    ) -> Result<Vec<Check>, QueryError> {
        let entry = |(place, value): (usize, &Complex64)| Given {
            output: found.outputs[place / found.inputs.len()],
            input: found.inputs[place % found.inputs.len()],
            parameter: None,
            value: *value,
        };
        let given = |at: usize| found.values[at].iter().enumerate().map(entry).collect();
        let responses = Responses { what: "the response", omega: &found.omega, given: &given, all: &given };
        let (_, reconciled) = self.check(pool, &[], |pool, pencil| pencil.reconcile(pool, &responses))?;
        reconciled.note(findings);
        for (at, values) in reconciled.replaced {
            let values = found.values[at].iter_mut().zip(values);
            values.filter_map(|(old, new)| Some((old, new?))).for_each(|(old, new)| *old = new);
        }
        Ok(reconciled.checks)
    }

    /// Checks the response and its derivatives by some parameters, unless these leave a point behind that moves
    /// with them, and calculates both anew where they have lost their digits.
    pub fn check_sensitivities(
        &self,
        pool: &mut Pool,
        frozen: bool,
        found: &mut ResponseSensitivity,
        findings: &mut Diagnostics,
    ) -> Result<Vec<Check>, QueryError> {
        let FrequencySensitivity { outputs, inputs, .. } = found.sensitivities;
        let pairs: Vec<(usize, usize)> =
            (0..outputs).flat_map(|output| (0..inputs).map(move |input| (output, input))).collect();
        let entries = |parameters: &[usize]| -> Vec<((usize, usize), Option<usize>)> {
            let own = pairs.iter().map(|pair| (*pair, None));
            own.chain(pairs.iter().flat_map(|pair| parameters.iter().map(|p| (*pair, Some(*p))))).collect()
        };
        let given = |entries: &[((usize, usize), Option<usize>)], at: usize| -> Vec<Given> {
            let entry = |((output, input), parameter): &((usize, usize), Option<usize>)| Given {
                output: *output,
                input: *input,
                parameter: parameter.map(|place| found.parameters[place]),
                value: match parameter {
                    None => found.sensitivities.transfer(*output, *input, at),
                    Some(place) => found.sensitivities.derivative(*output, *input, *place, at),
                },
            };
            entries.iter().map(entry).collect()
        };
        let count = if frozen && self.linear.point.is_some() { 0 } else { found.parameters.len() };
        // Differences between rests have been paid for.
        let most = match self.linear.point {
            None => (found.omega.len() / FREQUENCIES_PER_PARAMETER).clamp(1, CHECKED_PARAMETERS),
            Some(_) => CHECKED_PARAMETERS,
        };
        let some = entries(&a_few(most, count));
        let all = entries(&(0..count).collect::<Vec<_>>());
        let responses = Responses {
            what: "the response",
            omega: &found.omega,
            given: &|at| given(&some, at),
            all: &|at| given(&all, at),
        };
        let moves = if count == 0 { &[][..] } else { &found.some_moves };
        let (mut checks, reconciled) =
            self.check(pool, moves, |pool, pencil| pencil.reconcile(pool, &responses))?;
        reconciled.note(findings);
        if !reconciled.replaced.is_empty() {
            for (at, values) in reconciled.replaced {
                for ((pair, parameter), value) in all.iter().zip(values) {
                    if let Some(value) = value {
                        found.sensitivities.replace(*pair, *parameter, at, value);
                    }
                }
            }
            found.refresh();
        }
        checks.extend(reconciled.checks);
        Ok(checks)
    }
}
