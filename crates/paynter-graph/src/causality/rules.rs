//! What each port of each element asks of causality: what is mandatory, what
//! would divide by something that can vanish, and what is preferred.
//!
//! The question is always the same: does effort enter the element here? With
//! effort in, an R gives its flow (conductance), an I integrates, a C
//! differentiates.

use paynter_algebra::{Expr, Interval, Pool, Solution, SolveError, Symbol};
use rustc_hash::FxHashMap;
use std::cell::RefCell;

use crate::guard::{Guard, Vanishing};
use crate::kind::{Asked, Class, Stored, kind_of};
use crate::model::{BondGraph, Element, ElementId, Law, Variable};

/// How strongly a port asks for its causality; earlier is stronger.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Strength {
    /// A storage that the model prefers by hand.
    ByHand,
    /// A storage in integral causality whose law is flat where its state is zero: the other way round it is
    /// infinitely steep there.
    Flat,
    /// A storage in integral causality.
    Storage,
    /// A law in the direction it is written in, because it cannot be inverted.
    OneWay,
    /// A resistor in the direction it is written in, for want of anything else.
    Free,
}

/// What one port asks. All answers say whether effort enters the element.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PortRule {
    /// It must be so.
    pub mandatory: Option<bool>,
    /// The other way divides by something that can vanish.
    pub safe: Option<bool>,
    /// What is safe comes before storages: a two-port's modulus that can vanish, any value that is zero.
    pub insists: bool,
    /// It should be so.
    pub preferred: Option<(bool, Strength)>,
}

impl PortRule {
    /// A causality that must be.
    pub fn must(effort_in: bool) -> PortRule {
        PortRule { mandatory: Some(effort_in), ..PortRule::default() }
    }

    /// A causality that should be.
    pub fn likes(effort_in: bool, strength: Strength) -> PortRule {
        PortRule { preferred: Some((effort_in, strength)), ..PortRule::default() }
    }

    /// A causality that divides by nothing that can vanish, before storages get theirs.
    pub fn insists(effort_in: bool) -> PortRule {
        PortRule { safe: Some(effort_in), insists: true, ..PortRule::default() }
    }

    /// A causality that divides by something that can vanish, where the other is no better and nothing is
    /// asked for.
    pub fn unsafe_with(effort_in: bool) -> PortRule {
        PortRule { safe: Some(!effort_in), ..PortRule::default() }
    }
}

/// The rules of a whole graph.
#[derive(Debug, Clone)]
pub struct Rules {
    /// By element, by port. Junctions have none: their rule is the junction's own.
    pub ports: Vec<Vec<PortRule>>,
    /// Ports whose law cannot be turned round, with the direction it is written in.
    pub one_way: Vec<(ElementId, usize, bool)>,
    /// What they take for granted about the values of parameters.
    pub guards: Vec<Guard>,
}

/// Finds the rules of every element.
pub fn rules(pool: &mut Pool, graph: &BondGraph) -> Rules {
    let ranges = Ranges::new(graph);
    let mut ports = Vec::with_capacity(graph.elements.len());
    let mut one_way = Vec::new();
    for id in graph.element_ids() {
        let asked = &mut Asked { pool, graph, id, ranges: &ranges, one_way: &mut one_way };
        ports.push(kind_of(graph.element(id).kind).rules(asked));
    }
    Rules { ports, one_way, guards: ranges.guards() }
}

/// Nominal ranges of symbols: parameters within their tolerance, time from zero on, everything else
/// unknown. What is decided by them becomes a guard.
pub struct Ranges {
    parameters: FxHashMap<Symbol, Interval>,
    time: Option<Symbol>,
    guards: RefCell<Vec<Guard>>,
}

impl Ranges {
    /// Reads the ranges of a graph's parameters.
    pub fn new(graph: &BondGraph) -> Ranges {
        let parameters = graph.parameters.iter().map(|parameter| (parameter.symbol, parameter.range()));
        Ranges {
            parameters: parameters.collect(),
            time: graph.variables.symbol(Variable::Time),
            guards: RefCell::default(),
        }
    }

    /// The range of one symbol.
    fn of(&self, symbol: Symbol) -> Interval {
        if let Some(range) = self.parameters.get(&symbol) {
            return *range;
        }
        if Some(symbol) == self.time {
            return Interval::closed(0.0, f64::INFINITY);
        }
        Interval::ALL
    }

    /// Whether an expression can be zero, or is always.
    pub fn vanishing(&self, pool: &Pool, expr: Expr) -> Vanishing {
        let range = match pool.as_symbol(expr) {
            Some(symbol) => self.of(symbol),
            None => pool.range(expr, &|symbol| self.of(symbol)),
        };
        let vanishing = Vanishing::of(&range);
        self.guards.borrow_mut().push(Guard::Vanishing(expr, vanishing));
        vanishing
    }

    /// Whether an expression can be zero.
    pub fn can_vanish(&self, pool: &Pool, expr: Expr) -> bool {
        self.vanishing(pool, expr) != Vanishing::Never
    }

    /// Solves `residual = 0` for a symbol within the ranges of the others.
    pub fn solve_for(
        &self,
        pool: &mut Pool,
        residual: Expr,
        unknown: Symbol,
    ) -> Result<Solution, SolveError> {
        let found = pool.solve_for(residual, unknown, &|symbol| self.of(symbol));
        self.guards.borrow_mut().push(Guard::Solution { residual, unknown, found: found.clone() });
        found
    }

    /// Notes that something hangs on the default of an input.
    pub fn read_signal(&self, input: Symbol) {
        self.guards.borrow_mut().push(Guard::Signal(input));
    }

    /// What has been decided so far.
    pub fn guards(self) -> Vec<Guard> {
        self.guards.into_inner()
    }
}

/// The rules of an element whose law is a value, a matrix or laws in braces.
pub fn field_rules(asked: &mut Asked<'_>) -> Vec<PortRule> {
    let element = asked.element();
    let (n, class) = (element.ports.len(), element.class());
    match &element.law {
        Law::Value(value) => vec![value_rule(asked.pool, class, *value, asked.ranges); n],
        Law::Equations(_) => law_rules(asked),
        _ => vec![default_rule(class); n],
    }
}

/// The direction in which `= value` needs no division: e = R f, q = C e, p = L f.
fn explicit_direction(class: Class) -> bool {
    class == Class::Storage(Stored::Displacement)
}

/// The rule of `= value`. A resistance that can vanish is a law that cannot
/// be turned round; a storage is integral even so, because a division that is
/// only moved into a derivative is not avoided.
fn value_rule(pool: &mut Pool, class: Class, value: Expr, ranges: &Ranges) -> PortRule {
    let mut rule = default_rule(class);
    // Who divides by a/b divides by a; b may vanish.
    let (above, _) = pool.numerator_and_denominator(value);
    let vanishing = ranges.vanishing(pool, above);
    if vanishing != Vanishing::Never {
        let effort_in = explicit_direction(class);
        rule.safe = Some(effort_in);
        rule.insists = vanishing == Vanishing::Always;
        if class.stored().is_none() {
            rule.preferred = Some((effort_in, Strength::OneWay));
        }
    }
    rule
}

fn default_rule(class: Class) -> PortRule {
    match class.stored() {
        Some(stored) => PortRule::likes(stored.integral_effort_in(), Strength::Storage),
        None => PortRule::likes(false, Strength::Free),
    }
}

/// Rules of R, C and I given by laws: the algebra is asked whether each law
/// can be solved for what each causality needs.
fn law_rules(asked: &mut Asked<'_>) -> Vec<PortRule> {
    let Asked { pool, graph, id, ranges, one_way } = asked;
    let element = graph.element(*id);
    let (n, class) = (element.ports.len(), element.class());
    let mut out = Vec::with_capacity(n);
    for port in 0..n {
        let mut rule = default_rule(class);
        let direction = written_direction(graph, element, port);
        let [with_effort_in, with_effort_out] = solvable(pool, graph, element, port, ranges);
        let written = match (with_effort_in, with_effort_out, direction) {
            (true, true, _) => None,
            (true, false, _) => Some(true),
            (false, true, _) => Some(false),
            // Neither way is closed: as written, or free if it is implicit.
            (false, false, direction) => direction,
        };
        if let Some(effort_in) = written {
            one_way.push((*id, port, effort_in));
        }
        if let Some(stored) = class.stored() {
            let state = stored.state(graph.locals.port(n, port));
            let strength = if flat(pool, element, state) { Strength::Flat } else { Strength::Storage };
            rule.preferred = rule.preferred.map(|(effort_in, _)| (effort_in, strength));
        } else {
            rule.preferred = match (written, direction) {
                (Some(effort_in), _) => Some((effort_in, Strength::OneWay)),
                (None, Some(effort_in)) => Some((effort_in, Strength::Free)),
                (None, None) => rule.preferred,
            };
        }
        out.push(rule);
    }
    out
}

/// Whether the law of a storage's port is flat where its state is zero.
fn flat(pool: &mut Pool, element: &Element, state: Symbol) -> bool {
    let Law::Equations(equations) = &element.law else { return false };
    let zero = pool.zero();
    let at_rest: FxHashMap<Symbol, Expr> = [(state, zero)].into_iter().collect();
    equations.iter().any(|equation| {
        let residual = pool.sub(equation.left, equation.right);
        let derivative = pool.diff(residual, state);
        derivative != zero && pool.substitute(derivative, &at_rest) == zero
    })
}

/// Whether effort enters at a port in the direction a law is written in:
/// `f = …` and `q = …` take effort in, `e = …` gives it out, `p = …` takes flow in.
fn written_direction(graph: &BondGraph, element: &Element, port: usize) -> Option<bool> {
    let Law::Equations(equations) = &element.law else { return None };
    let [e, f, q, p] = graph.locals.port(element.ports.len(), port);
    equations.iter().filter_map(|equation| equation.solved_for).find_map(|symbol| match symbol {
        s if s == e => Some(false),
        s if s == f => Some(true),
        s if s == q => Some(true),
        s if s == p => Some(false),
        _ => None,
    })
}

/// Whether the law at a port can be solved with effort in, and with effort out.
fn solvable(
    pool: &mut Pool,
    graph: &BondGraph,
    element: &Element,
    port: usize,
    ranges: &Ranges,
) -> [bool; 2] {
    let Law::Equations(equations) = &element.law else { return [true, true] };
    let n = element.ports.len();
    let locals = graph.locals.port(n, port);
    // What the law must give with effort in, and with effort out.
    let unknowns = [true, false].map(|effort_in| element.class().wanted(locals, effort_in));
    unknowns.map(|unknown| {
        // One law of several ports is turned round only where it is solved for its port as it stands;
        // a joint inversion of several laws is left to the equations.
        let candidates: Vec<_> = equations
            .iter()
            .filter(|eq| n == 1 || eq.solved_for.is_some_and(|s| locals.contains(&s)))
            .collect();
        candidates.iter().any(|equation| {
            if equation.solved_for == Some(unknown) {
                return true;
            }
            let residual = pool.sub(equation.left, equation.right);
            if !pool.depends_on(residual, unknown) {
                return false;
            }
            match ranges.solve_for(pool, residual, unknown) {
                Ok(solution) => solution.is_global(),
                Err(_) => false,
            }
        })
    })
}
