//! Dry friction at rest. A law that jumps where its own flow is zero takes
//! any value between both sides of the jump there, so that the element holds
//! its flow at zero as long as the force that this needs is between them: it
//! sticks. The dual, a flow that jumps where the effort is zero, is the same.

use std::collections::BTreeMap;

use paynter_algebra::{Expr, Func, Node, Pool, Symbol, decimal};
use paynter_base::number::significant;
use paynter_base::{Diagnostic, code};
use paynter_equations::Equations;
use paynter_graph::{BondGraph, Class, ElementId, Law, Port, Power, Variable};

use super::OperatingPoint;
use crate::tolerance::{JUMP_SHARE, JUMP_SIDES, ROUNDED_REST, STEEPER, WITHIN_LIMITS};

/// A resistor whose law jumps where its own flow, or effort, is zero.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stiction {
    /// The resistor.
    pub element: ElementId,
    /// What is zero while it sticks.
    pub held: Power,
    /// What the law gives, over the local variable that is held.
    law: Expr,
    at: Symbol,
    port: Port,
}

/// What an element that sticks gives, and the sides of the jump between which that must be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Holding {
    /// Its effort; its flow where the effort is held.
    pub value: f64,
    /// The sides of the jump.
    pub limits: [f64; 2],
    /// Whether the law does not jump, but has an infinite derivative: read the other way round it holds zero.
    pub is_steep: bool,
}

impl Holding {
    /// Whether the element can hold what it has to.
    pub fn is_possible(&self) -> bool {
        let [low, high] = self.limits;
        let margin = WITHIN_LIMITS * (high - low);
        (low - margin..=high + margin).contains(&self.value)
    }
}

/// Lists the resistors that may stick: one-ports with a law e = … that reads the sign of f, or compares it.
pub fn stictions(pool: &Pool, graph: &BondGraph) -> Vec<Stiction> {
    let symbol = |e: Expr| match pool.node(e) {
        Node::Symbol(symbol) => Some(symbol),
        _ => None,
    };
    let of = |id: ElementId| {
        let element = graph.element(id);
        let (Class::Resistor, [port], Law::Equations(laws)) =
            (element.class(), &element.ports[..], &element.law)
        else {
            return None;
        };
        let [law] = &laws[..] else { return None };
        let [e, f, ..] = graph.locals.port(1, 0);
        let sides = [(law.left, law.right), (law.right, law.left)];
        sides.into_iter().find_map(|(given, law)| {
            let (own, at, held) = match symbol(given)? {
                own if own == e => (e, f, Power::Flow),
                own if own == f => (f, e, Power::Effort),
                _ => return None,
            };
            let jumps = may_jump(pool, law, at) && !pool.depends_on(law, own);
            jumps.then_some(Stiction { element: id, held, law, at, port: *port })
        })
    };
    graph.element_ids().filter_map(of).collect()
}

/// Whether an expression chooses by the sign of a symbol.
fn may_jump(pool: &Pool, e: Expr, symbol: Symbol) -> bool {
    pool.reachable(&[e]).into_iter().any(|node| match pool.node(node) {
        Node::Call(Func::Sign, list) => pool.depends_on(list[0], symbol),
        Node::Compare(_, a, b) => pool.depends_on(a, symbol) || pool.depends_on(b, symbol),
        _ => false,
    })
}

impl Stiction {
    /// The graph in which it sticks.
    pub fn sticking(&self, pool: &mut Pool, graph: &BondGraph) -> BondGraph {
        let zero = pool.zero();
        graph.with_source(self.element, self.held, zero)
    }

    /// The graph in which it slips to a side, with the branch of its law there.
    pub fn slipping(&self, pool: &mut Pool, graph: &BondGraph, side: f64) -> BondGraph {
        let mut graph = graph.clone();
        let beside = |symbol: Symbol| (symbol == self.at).then_some(side);
        let branch = pool.decide_choices(&[self.law], &beside)[0];
        let law = self.law;
        graph.elements[self.element.index()].law.rewrite(&mut |e| if e == law { branch } else { e });
        graph
    }

    /// How fast it slips at a point: what it would hold, counted into the element.
    pub fn slip(
        &self,
        pool: &mut Pool,
        graph: &BondGraph,
        equations: &Equations,
        values: &BTreeMap<Symbol, f64>,
    ) -> Option<f64> {
        let found = equations.variable_values(pool, graph, &[self.variable(self.held)])?[0];
        let found = pool.eval(found, &|symbol| values.get(&symbol).copied()).ok()?;
        Some(if self.held == Power::Flow && !self.port.into { -found } else { found })
    }

    /// The graph in which it gives what it can at most, on one side of the jump.
    pub fn at_limit(&self, pool: &mut Pool, graph: &BondGraph, limit: f64) -> BondGraph {
        let (power, sign) = match self.held {
            Power::Flow => (Power::Effort, 1.0),
            Power::Effort => (Power::Flow, if self.port.into { 1.0 } else { -1.0 }),
        };
        let value = number(pool, sign * limit);
        graph.with_source(self.element, power, value)
    }

    /// Whether what it would hold is zero at a point of a graph, within rounding.
    pub fn rests(
        &self,
        pool: &mut Pool,
        graph: &BondGraph,
        equations: &Equations,
        (values_at, sizes): (&BTreeMap<Symbol, f64>, &BTreeMap<Symbol, f64>),
    ) -> bool {
        let Some(values) = equations.variable_values(pool, graph, &[self.variable(self.held)]) else {
            return true;
        };
        let at = |share: f64| {
            let value = |symbol: Symbol| {
                let size = sizes.get(&symbol).copied().unwrap_or(0.0);
                values_at.get(&symbol).map(|x| x + share * size.max(x.abs()))
            };
            pool.eval(values[0], &value).ok()
        };
        match (at(0.0), at(ROUNDED_REST)) {
            (Some(here), Some(moved)) => here.abs() <= (moved - here).abs().max(f64::MIN_POSITIVE),
            _ => true,
        }
    }

    /// What it holds at a point of a graph in which it sticks, or rests; nothing where its law does not jump
    /// there, or pushes away from zero.
    pub fn holding(
        &self,
        pool: &mut Pool,
        graph: &BondGraph,
        equations: &Equations,
        point: &OperatingPoint,
    ) -> Option<Holding> {
        let other = if self.held == Power::Flow { Power::Effort } else { Power::Flow };
        let given = equations.variable_values(pool, graph, &[self.variable(other)])?[0];
        let of = |symbol: Symbol| point.values.get(&symbol).copied();
        let given = pool.eval(given, &of).ok()?;
        let value = if other == Power::Flow && !self.port.into { -given } else { given };
        let mut known = Vec::new();
        for symbol in pool.symbols(self.law).into_iter().filter(|symbol| *symbol != self.at) {
            let number = match of(symbol) {
                Some(number) => number,
                None => {
                    let variable = graph.variables.meaning(symbol)?;
                    let value = equations.variable_values(pool, graph, &[variable])?[0];
                    pool.eval(value, &of).ok()?
                }
            };
            known.push((symbol, number));
        }
        let sides = |beside: f64| {
            [-beside, beside].map(|side| {
                let at = |symbol: Symbol| match symbol == self.at {
                    true => Some(side),
                    false => known.iter().find(|(known, _)| *known == symbol).map(|(_, x)| *x),
                };
                pool.eval(self.law, &at).unwrap_or(f64::NAN)
            })
        };
        let [low, high] = sides(JUMP_SIDES[0]);
        let [nearer_low, nearer_high] = sides(JUMP_SIDES[1]);
        // What a continuous law gives beside zero vanishes with the distance from it.
        let rises = high - low > WITHIN_LIMITS * (high.abs() + low.abs());
        let jumps = rises && nearer_high - nearer_low > JUMP_SHARE * (high - low);
        let steepness = [(high - low) / JUMP_SIDES[0], (nearer_high - nearer_low) / JUMP_SIDES[1]];
        let is_steep = rises && !jumps && steepness[1] > STEEPER * steepness[0];
        (jumps || is_steep).then_some(Holding { value, limits: [low, high], is_steep })
    }

    fn variable(&self, power: Power) -> Variable {
        match power {
            Power::Effort => Variable::Effort(self.port.bond),
            Power::Flow => Variable::Flow(self.port.bond),
        }
    }

    /// Says that it sticks, and between which rests the point lies where these are known.
    pub fn diagnostic(
        &self,
        graph: &BondGraph,
        holding: &Holding,
        rests: Option<&[(String, f64, f64)]>,
    ) -> Diagnostic {
        let element = graph.element(self.element);
        let (what, zero) = match self.held {
            Power::Flow => ("effort", "flow"),
            Power::Effort => ("flow", "effort"),
        };
        if holding.is_steep {
            let message = format!(
                "the law of `{}` is infinitely steep at the operating point: the linear model is that in which its {zero} stays zero",
                element.name
            );
            return Diagnostic::new(code::STICKING, message).at(element.span);
        }
        let [low, high] = holding.limits.map(significant);
        let mut message = format!(
            "`{}` sticks at the operating point: its {what} is {} there and may be anything from {low} to {high}; the linear model is that of sticking, in which its {zero} stays zero",
            element.name,
            significant(holding.value + 0.0),
        );
        let range = |(name, low, high): &(String, f64, f64)| {
            format!("`{name}` from {} to {}", significant(*low), significant(*high))
        };
        if let Some([first, more @ ..]) = rests {
            let shown = more.iter().take(2).fold(range(first), |text, next| text + ", " + &range(next));
            message.push_str(&format!("; rests lie side by side, {shown}"));
        }
        Diagnostic::new(code::STICKING, message).at(element.span)
    }
}

/// The graph with these initial states instead of its own.
pub fn starting_at(
    pool: &mut Pool,
    graph: &BondGraph,
    equations: &Equations,
    point: &OperatingPoint,
) -> BondGraph {
    let mut graph = graph.clone();
    graph.elements.iter_mut().for_each(|element| element.initial.clear());
    for (state, value) in equations.states.iter().zip(&point.states) {
        let value = number(pool, *value);
        match state.variable {
            Variable::State(id, port) => {
                let element = &mut graph.elements[id.index()];
                element.initial.push((port as usize, value, element.span));
            }
            Variable::Integrator(k) => graph.integrators[k as usize].initial = value,
            _ => {}
        }
    }
    graph
}

/// The states that differ between two rests, with both values.
pub fn between(
    equations: &Equations,
    low: &OperatingPoint,
    high: &OperatingPoint,
) -> Vec<(String, f64, f64)> {
    let states = equations.states.iter().zip(low.states.iter().zip(&high.states));
    let differing = states.filter(|(_, (a, b))| (*a - *b).abs() > WITHIN_LIMITS * (a.abs() + b.abs()));
    differing.map(|(state, (a, b))| (state.name.clone(), a.min(*b), a.max(*b))).collect()
}

/// An expression of a number.
fn number(pool: &mut Pool, value: f64) -> Expr {
    match decimal(&format!("{value:e}")) {
        Some(exact) => pool.number(exact),
        None => pool.zero(),
    }
}
