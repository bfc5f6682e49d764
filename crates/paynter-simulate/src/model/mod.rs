//! A model compiled for simulation: rates, constraints, outputs and event
//! functions with their derivatives. Made once, used by any number of runs
//! and threads.

mod bends;
mod cuts;
pub(crate) mod dominators;
pub(crate) mod forms;
pub(crate) mod freeze;
pub(crate) mod jump;
pub(crate) mod linearised;
mod one_sided;
mod shared;
mod signs;
pub(crate) mod sliding;

use self::forms::{LinearForms, linear_forms};
use self::jump::{Jumps, Plan};
use self::sliding::{Frozen, Surface};
use crate::model::freeze::{Freezer, Piece, Regularisation, Relation};
use crate::model::linearised::{Arguments, Linearised};
use paynter_algebra::{Expr, Func, Node, Pool, Symbol};
use paynter_equations::Equations;
use paynter_graph::{BondGraph, ElementId, Guard, Variable};
use paynter_numerics::program::{CompileError, Program};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeMap, BTreeSet};

/// By what the solution is differentiated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Wanted {
    /// A parameter, by its place in the graph.
    Parameter(usize),
    /// The initial value of a state, by its place in the equations.
    Initial(usize),
}

/// An event function that reads time alone.
#[derive(Debug)]
pub(crate) struct TimeFunction {
    /// Which event function.
    pub relation: usize,
    /// The function, over what changes at events and time.
    pub program: Program,
    /// Whether it reads parameters and time only, so that no event changes it.
    pub fixed: bool,
}

/// An event function at whose zero the equations bend, and do not jump.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Kink {
    /// Which event function.
    pub relation: usize,
    /// Whether the equations read its mode; those of a power with its sign do not.
    pub branches: bool,
}

/// What is compiled.
pub struct Source<'a> {
    /// The model's graph.
    pub graph: &'a BondGraph,
    /// Its equations.
    pub equations: &'a Equations,
    /// What replaces the inputs' own signals, over time and parameters.
    pub inputs: Vec<Option<Expr>>,
    /// What the outputs are; those of the equations where left out.
    pub outputs: Option<Vec<Expr>>,
    /// The sensitivities that are wanted.
    pub wanted: &'a [Wanted],
}

/// A compiled model.
#[derive(Debug)]
pub struct Compiled {
    /// The sensitivities it knows, in the order of their lanes.
    pub wanted: Vec<Wanted>,
    /// The names of states.
    pub states: Vec<String>,
    /// The names of implicit unknowns.
    pub unknowns: Vec<String>,
    /// The event functions as people read them.
    pub events: Vec<String>,
    /// States that are measured alike (charges, momenta of one domain): the group of each.
    pub(crate) groups: Vec<usize>,
    pub(crate) outputs_count: usize,
    pub(crate) parameters: usize,
    pub(crate) pieces: Vec<Piece>,
    pub(crate) regularisations: Vec<Regularisation>,
    pub(crate) rates: Program,
    pub(crate) full: Linearised,
    /// r, then r_z.
    pub(crate) residuals: Program,
    pub(crate) residual_places: Vec<(usize, usize)>,
    pub(crate) outputs: Program,
    pub(crate) outputs_full: Linearised,
    pub(crate) relations: Program,
    /// The event functions with their derivatives; the last lane is time.
    pub(crate) relations_full: Linearised,
    /// Those that are linear in states and unknowns.
    pub(crate) forms: Option<LinearForms>,
    /// What makes states jump, if anything does.
    pub(crate) jumps: Option<Jumps>,
    /// Event functions of time alone.
    pub(crate) timed: Vec<bool>,
    /// Those functions.
    pub(crate) time_functions: Vec<TimeFunction>,
    /// What rates and residuals read of time alone, where it is not straight in time.
    pub(crate) time_signals: Program,
    /// Those of them that are terms of one sum.
    pub(crate) time_sums: Vec<Vec<usize>>,
    /// Initial states, then their derivatives.
    pub(crate) initial: Program,
    pub(crate) initial_places: Vec<(usize, usize)>,
    /// Dependent states that the model gives initial values: those, and what follows from the states.
    pub(crate) agreement: Program,
    pub(crate) agreeing: Vec<usize>,
    /// Whether the derivatives of rates and residuals by states and unknowns change between events only.
    pub(crate) linear: bool,
    /// The elements whose laws jump with each event function, where motion may slide.
    pub(crate) jumping: Vec<Vec<ElementId>>,
    /// Event functions of laws that bend without a jump, and read unknowns which they determine.
    pub(crate) bends_in_loops: Vec<usize>,
    /// The surfaces along which motion may slide.
    pub(crate) surfaces: Vec<Surface>,
    /// The model for sliding along any of them.
    pub(crate) sliding: Option<Box<Compiled>>,
    /// The number of flags that tell along which surfaces it slides.
    pub(crate) flags: usize,
    /// Event functions of states at whose zeros the equations bend, and do not jump.
    pub(crate) kinks: Vec<Kink>,
    /// What it takes for granted about values of parameters.
    pub(crate) guards: Vec<Guard>,
}

impl Compiled {
    /// Compiles a model.
    pub fn new(pool: &mut Pool, source: &Source<'_>) -> Result<Compiled, CompileError> {
        let (graph, equations) = (source.graph, source.equations);
        let time = graph.variables.symbol(Variable::Time).unwrap_or_else(|| pool.symbol("t"));
        let states: Vec<Symbol> = equations.states.iter().map(|state| state.symbol).collect();
        let unknowns: Vec<Symbol> = equations.constraints.iter().map(|c| c.unknown).collect();
        let mut freezer = Freezer::new(time, states.iter().chain(&unknowns).copied());

        // Inputs become signals over time; their derivatives follow from them.
        let mut signals: FxHashMap<Symbol, Expr> = FxHashMap::default();
        for (i, input) in equations.inputs.iter().enumerate() {
            let signal = source.inputs.get(i).copied().flatten().unwrap_or(input.value);
            let mut signal = freezer.freeze(pool, &[signal])[0];
            for symbol in &input.symbols {
                signals.insert(*symbol, signal);
                signal = pool.diff(signal, time);
            }
        }
        let given: Vec<Expr> = match &source.outputs {
            Some(outputs) => outputs.clone(),
            None => equations.outputs.iter().map(|output| output.value).collect(),
        };
        let mut compile = |pool: &mut Pool, list: &[Expr]| {
            let list = pool.substitute_all(list, &signals);
            freezer.freeze(pool, &list)
        };
        let rates = compile(pool, &equations.rates);
        let residuals: Vec<Expr> = equations.constraints.iter().map(|c| c.residual).collect();
        let residuals = compile(pool, &residuals);
        let outputs = compile(pool, &given);
        let plan = jump::plan(pool, equations, &signals, &mut freezer);
        let mut frozen = Frozen {
            time,
            states,
            unknowns,
            rates,
            residuals,
            outputs,
            jumps: plan.functions.clone(),
            relations: freezer.relations.iter().map(|r| r.function).collect(),
            modes: freezer.relations.iter().map(|r| r.mode).collect(),
            flags: Vec::new(),
            widths: freezer.relations.iter().filter_map(|r| r.width).collect(),
        };
        let lines = (freezer.pieces.as_slice(), freezer.regularisations());
        let moving = [time].iter().chain(&frozen.states).chain(&frozen.unknowns).copied().collect();
        let timed = of_time_alone(pool, &frozen.relations, time, &moving);
        let guards = bends::join_branches(pool, graph, &mut frozen, (&freezer.relations, &timed));
        let mut model = assemble(pool, source, &frozen, &lines, &plan)?;
        model.guards = guards;
        model.kinks = kinks(pool, &frozen, &freezer.relations, &model.timed);
        let jumps = bends::jumps(pool, &frozen, &freezer.relations, &model.timed);
        model.bends_in_loops = bends::in_loops(pool, &frozen, &jumps, &model.timed);
        if let Some((sliding, surfaces)) = sliding::equations(pool, &frozen, &jumps) {
            let mut other = assemble(pool, source, &sliding, &lines, &plan)?;
            // The function that a motion leaves goes by the name of the surface.
            for (k, surface) in surfaces.iter().enumerate() {
                other.events[frozen.relations.len() + k].clone_from(&model.events[surface.relation]);
            }
            model.jumping = shared::jumping_elements(pool, equations, &signals, &freezer);
            model.surfaces = surfaces;
            model.sliding = Some(Box::new(other));
        }
        Ok(model)
    }
}

impl Compiled {
    /// An event function as people read it; one that detects the exit from a surface goes by the name of that.
    pub fn event_name(&self, event: usize) -> &str {
        let surface = || self.surfaces.get(event.checked_sub(self.events.len())?);
        let name = self.events.get(event).or_else(|| self.events.get(surface()?.relation));
        name.map_or("", String::as_str)
    }
}

/// Compiles equations with frozen branches.
fn assemble(
    pool: &mut Pool,
    source: &Source<'_>,
    frozen: &Frozen,
    (pieces, regularisations): &(&[Piece], Vec<Regularisation>),
    plan: &Plan,
) -> Result<Compiled, CompileError> {
    let (graph, equations) = (source.graph, source.equations);
    let Frozen { time, states, unknowns, rates, residuals, outputs, relations, .. } = frozen;
    let parameters: Vec<Symbol> = graph.parameters.iter().map(|p| p.symbol).collect();
    let slow = slow_arguments(&parameters, frozen, pieces, regularisations);
    let mut fast = vec![*time];
    fast.extend(states.iter().chain(unknowns));

    let lane = |wanted: &Wanted| match wanted {
        Wanted::Parameter(i) => parameters.get(*i).copied(),
        Wanted::Initial(_) => None,
    };
    let lanes: Vec<Option<Symbol>> = source.wanted.iter().map(lane).collect();
    let arguments =
        Arguments { slow: &slow, fast: &fast, states, unknowns, lanes: &lanes, residuals, beside: &[] };
    // The event functions mostly have their parts in common with the rates.
    let beside = if source.wanted.is_empty() { &[][..] } else { relations };
    let full = Linearised::new(pool, rates, &Arguments { beside, ..arguments })?;
    let outputs_full = Linearised::new(pool, outputs, &arguments)?;
    let mut timed_lanes = lanes.clone();
    timed_lanes.push(Some(*time));
    let timed_arguments = Arguments { lanes: &timed_lanes, ..arguments };
    let relations_full = Linearised::new(pool, relations, &timed_arguments)?;
    let jumps = match plan.count {
        0 => None,
        count => Some(Jumps {
            count,
            places: plan.places.clone(),
            bent: plan.bent.clone(),
            impulses: plan.impulses.clone(),
            full: Linearised::new(pool, &frozen.jumps, &timed_arguments)?,
        }),
    };

    let moving: BTreeSet<Symbol> = fast.iter().copied().collect();
    let timed = of_time_alone(pool, relations, *time, &moving);
    let of_states: Vec<bool> = timed.iter().map(|timed| !timed).collect();
    let forms = linear_forms(pool, (relations, &of_states), residuals, (states, unknowns), (&slow, *time))?;
    let time_functions = time_functions(pool, frozen, &timed, &parameters, &slow)?;
    let read: Vec<Expr> = rates.iter().chain(residuals).copied().collect();
    let (time_signals, time_sums) = time_signals(pool, &read, *time, &moving);
    let time_signals = Program::staged(pool, &time_signals, &slow, &[*time])?;
    let inner: Vec<Symbol> = states.iter().chain(unknowns).copied().collect();
    let linear = is_linear(pool, &read, &inner, &moving);
    let (newton, residual_places) = with_derivatives(pool, residuals, unknowns);
    let (starts, initial_places) = initial_values(pool, equations, &lanes);
    let (agreeing, agreement) = agreement(pool, source, *time);
    let unknowns_count = equations.constraints.len();
    let names = equations.constraints.iter().map(|c| c.name.clone());
    Ok(Compiled {
        wanted: source.wanted.to_vec(),
        states: equations.states.iter().map(|state| state.name.clone()).collect(),
        unknowns: names
            .chain(unknowns.iter().skip(unknowns_count).map(|z| pool.name(*z).to_owned()))
            .collect(),
        events: shown(pool, frozen),
        groups: groups(graph, equations),
        outputs_count: outputs.len(),
        parameters: parameters.len(),
        pieces: pieces.to_vec(),
        regularisations: regularisations.clone(),
        flags: frozen.flags.len(),
        rates: Program::staged(pool, rates, &slow, &fast)?,
        full,
        residuals: Program::staged(pool, &newton, &slow, &fast)?,
        residual_places,
        outputs: Program::staged(pool, outputs, &slow, &fast)?,
        outputs_full,
        relations: Program::staged(pool, relations, &slow, &fast)?,
        relations_full,
        forms,
        jumps,
        timed,
        time_functions,
        time_signals,
        time_sums,
        initial: Program::compile(pool, &starts, &parameters)?,
        initial_places,
        agreement: Program::compile(pool, &agreement, &[&parameters[..], &[*time]].concat())?,
        agreeing,
        linear,
        bends_in_loops: Vec::new(),
        surfaces: Vec::new(),
        jumping: Vec::new(),
        kinks: Vec::new(),
        guards: Vec::new(),
        sliding: None,
    })
}

/// What programs are prepared with: it changes between steps only.
fn slow_arguments(
    parameters: &[Symbol],
    frozen: &Frozen,
    pieces: &[Piece],
    regularisations: &[Regularisation],
) -> Vec<Symbol> {
    let mut slow = parameters.to_vec();
    slow.extend(&frozen.modes);
    slow.extend(pieces.iter().flat_map(|piece| [piece.value, piece.slope, piece.origin]));
    slow.extend(regularisations.iter().map(|regularisation| regularisation.width));
    slow.extend(&frozen.flags);
    slow
}

/// The event functions of time alone as programs of their own.
fn time_functions(
    pool: &mut Pool,
    Frozen { time, relations, .. }: &Frozen,
    timed: &[bool],
    parameters: &[Symbol],
    slow: &[Symbol],
) -> Result<Vec<TimeFunction>, CompileError> {
    let own: FxHashSet<Symbol> = parameters.iter().chain([time]).copied().collect();
    let mut functions = Vec::new();
    for (relation, function) in relations.iter().enumerate().filter(|(k, _)| timed[*k]) {
        let fixed = pool.symbols(*function).iter().all(|s| own.contains(s));
        let program = Program::staged(pool, &[*function], slow, &[*time])?;
        functions.push(TimeFunction { relation, program, fixed });
    }
    Ok(functions)
}

/// The event functions of states at whose zeros the equations bend.
fn kinks(pool: &Pool, frozen: &Frozen, relations: &[Relation], timed: &[bool]) -> Vec<Kink> {
    let all = [&frozen.rates, &frozen.residuals, &frozen.outputs, &frozen.jumps, &frozen.relations];
    let read: FxHashSet<Symbol> = all.into_iter().flatten().flat_map(|e| pool.symbols(*e)).collect();
    let bends = |k: &usize| !relations[*k].jumps && !timed[*k];
    let kink = |k: usize| Kink { relation: k, branches: read.contains(&relations[k].mode) };
    (0..relations.len()).filter(bends).map(kink).collect()
}

/// Which event functions are of time alone, so that their events are known ahead.
fn of_time_alone(pool: &Pool, relations: &[Expr], time: Symbol, moving: &BTreeSet<Symbol>) -> Vec<bool> {
    let alone = |h: &Expr| pool.symbols(*h).into_iter().filter(|s| moving.contains(s)).all(|s| s == time);
    relations.iter().map(alone).collect()
}

/// The largest parts of expressions that read time alone, term by term, without those straight in time; and which of
/// them are terms of one sum.
fn time_signals(
    pool: &mut Pool,
    read: &[Expr],
    time: Symbol,
    moving: &BTreeSet<Symbol>,
) -> (Vec<Expr>, Vec<Vec<usize>>) {
    let order = pool.reachable(read);
    // Whether each node reads time, and whether it reads anything else that moves.
    let mut reads: FxHashMap<Expr, (bool, bool)> = FxHashMap::default();
    for node in &order {
        let found = match pool.as_symbol(*node) {
            Some(s) => (s == time, s != time && moving.contains(&s)),
            None => pool.children(*node).iter().fold((false, false), |(timed, moves), child| {
                let (child_timed, child_moves) = reads.get(child).copied().unwrap_or_default();
                (timed || child_timed, moves || child_moves)
            }),
        };
        reads.insert(*node, found);
    }
    let alone = |node: &Expr| reads.get(node).is_some_and(|(timed, moves)| *timed && !moves);
    let mut signals: BTreeSet<Expr> = read.iter().copied().filter(alone).collect();
    for node in order.iter().filter(|node| !alone(node)) {
        signals.extend(pool.children(*node).iter().copied().filter(alone));
    }
    let (mut terms, mut sums) = (BTreeSet::new(), Vec::new());
    for signal in &signals {
        match pool.node(*signal) {
            Node::Sum(_) => sums.push(*signal),
            _ => {
                terms.insert(*signal);
            }
        }
    }
    // What the sums of others read is of one sum as well: sources of one loop that take turns.
    sums.extend(
        order.iter().copied().filter(|node| !alone(node) && matches!(pool.node(*node), Node::Sum(_))),
    );
    let sums: Vec<Vec<Expr>> =
        sums.into_iter().map(|sum| pool.children(sum).iter().copied().filter(alone).collect()).collect();
    terms.extend(sums.iter().flatten().filter(|term| !matches!(pool.node(**term), Node::Sum(_))));
    let mut bent: Vec<Expr> = Vec::new();
    for term in terms {
        let derivative = pool.diff(term, time);
        if pool.depends_on(derivative, time) {
            bent.push(term);
        }
    }
    let place: FxHashMap<Expr, usize> = bent.iter().enumerate().map(|(j, term)| (*term, j)).collect();
    let sums = sums.into_iter().map(|sum| sum.iter().filter_map(|term| place.get(term).copied()).collect());
    let sums: BTreeSet<Vec<usize>> = sums.filter(|sum: &Vec<usize>| sum.len() > 1).collect();
    (bent, sums.into_iter().collect())
}

/// Whether the derivatives of rates and residuals by states and unknowns change between events only.
fn is_linear(pool: &mut Pool, functions: &[Expr], inner: &[Symbol], moving: &BTreeSet<Symbol>) -> bool {
    let inner: BTreeSet<Symbol> = inner.iter().copied().collect();
    functions.iter().all(|function| {
        let mut read = pool.symbols(*function);
        read.retain(|symbol| inner.contains(symbol));
        let derivatives = pool.derivatives(*function, &read);
        derivatives
            .iter()
            .all(|derivative| pool.symbols(*derivative).iter().all(|symbol| !moving.contains(symbol)))
    })
}

/// Residuals, then their derivatives by the unknowns, with the rows and columns of the latter.
fn with_derivatives(
    pool: &mut Pool,
    residuals: &[Expr],
    unknowns: &[Symbol],
) -> (Vec<Expr>, Vec<(usize, usize)>) {
    let (mut functions, mut places) = (residuals.to_vec(), Vec::new());
    let column: BTreeMap<Symbol, usize> =
        unknowns.iter().enumerate().map(|(j, symbol)| (*symbol, j)).collect();
    for (row, residual) in residuals.iter().enumerate() {
        let mut read: Vec<usize> =
            pool.symbols(*residual).iter().filter_map(|symbol| column.get(symbol).copied()).collect();
        read.sort_unstable();
        let symbols: Vec<Symbol> = read.iter().map(|column| unknowns[*column]).collect();
        places.extend(read.iter().map(|column| (row, *column)));
        functions.extend(pool.derivatives(*residual, &symbols));
    }
    (functions, places)
}

/// Initial states, then their derivatives by parameters, with the rows and lanes of the latter.
fn initial_values(
    pool: &mut Pool,
    equations: &Equations,
    lanes: &[Option<Symbol>],
) -> (Vec<Expr>, Vec<(usize, usize)>) {
    let mut functions: Vec<Expr> = equations.states.iter().map(|state| state.initial).collect();
    let mut places = Vec::new();
    let zero = pool.zero();
    let mut lanes_of: BTreeMap<Symbol, Vec<usize>> = BTreeMap::new();
    for (lane, parameter) in lanes.iter().enumerate().filter_map(|(lane, p)| Some((lane, (*p)?))) {
        lanes_of.entry(parameter).or_default().push(lane);
    }
    for (row, state) in equations.states.iter().enumerate() {
        let mut read = pool.symbols(state.initial);
        read.retain(|symbol| lanes_of.contains_key(symbol));
        let derivatives = pool.derivatives(state.initial, &read);
        let mut of_row: Vec<(usize, Expr)> = read
            .iter()
            .zip(derivatives)
            .filter(|(_, derivative)| *derivative != zero)
            .flat_map(|(symbol, derivative)| lanes_of[symbol].iter().map(move |lane| (*lane, derivative)))
            .collect();
        of_row.sort_unstable_by_key(|(lane, _)| *lane);
        places.extend(of_row.iter().map(|(lane, _)| (row, *lane)));
        functions.extend(of_row.into_iter().map(|(_, derivative)| derivative));
    }
    (functions, places)
}

/// The event functions as people read them: without modes and widths, as long as that is short.
fn shown(pool: &mut Pool, frozen: &Frozen) -> Vec<String> {
    /// Longer ones would rather hide what they say.
    const LONGEST_EVENT_NAME: u64 = 200;
    let zero = pool.zero();
    let mut known: FxHashMap<Symbol, Expr> = frozen.widths.iter().map(|width| (*width, zero)).collect();
    let mut names = Vec::new();
    for (k, function) in frozen.relations.iter().enumerate() {
        let whole = pool.substitute(*function, &known);
        if let Some(mode) = frozen.modes.get(k) {
            known.insert(*mode, pool.call(Func::Sign, &[whole]));
        }
        let short = pool.written_size(&[whole]) <= LONGEST_EVENT_NAME;
        names.push(pool.display(if short { whole } else { *function }).to_string());
    }
    names
}

/// The dependent states whose initial values can be compared with what follows from the other states;
/// both, one after the other, over parameters and the time at the start.
fn agreement(pool: &mut Pool, source: &Source<'_>, time: Symbol) -> (Vec<usize>, Vec<Expr>) {
    let (graph, equations) = (source.graph, source.equations);
    let mut start: FxHashMap<Symbol, Expr> = FxHashMap::default();
    for (i, input) in equations.inputs.iter().enumerate() {
        let signal = source.inputs.get(i).copied().flatten().unwrap_or(input.value);
        start.extend(input.symbols.first().map(|symbol| (*symbol, signal)));
    }
    start.extend(equations.states.iter().map(|state| (state.symbol, state.initial)));
    let known: FxHashSet<Symbol> = graph.parameters.iter().map(|p| p.symbol).chain([time]).collect();
    let (mut places, mut pairs) = (Vec::new(), Vec::new());
    for (place, dependent) in equations.dependent.iter().enumerate() {
        let Some(given) = dependent.initial else { continue };
        let follows = pool.substitute(dependent.value, &start);
        if [given, follows].iter().all(|e| pool.symbols(*e).iter().all(|s| known.contains(s))) {
            places.push(place);
            pairs.extend([given, follows]);
        }
    }
    (places, pairs)
}

/// Groups states that are measured alike: of one kind of storage in one domain. Integrators stand alone.
fn groups(graph: &BondGraph, equations: &Equations) -> Vec<usize> {
    let mut known = Vec::new();
    let mut groups = Vec::new();
    for (i, state) in equations.states.iter().enumerate() {
        let key = match state.variable {
            Variable::State(element, port) => {
                let element = graph.element(element);
                (Some(element.kind), element.ports.get(port as usize).and_then(|port| port.domain), 0)
            }
            _ => (None, None, i),
        };
        let place = known.iter().position(|other| *other == key);
        groups.push(place.unwrap_or_else(|| {
            known.push(key);
            known.len() - 1
        }));
    }
    groups
}
