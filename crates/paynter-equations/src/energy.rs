//! The energy ledger: the power into every element, and the energy of every
//! storage as a function of its state where that can be written down.
//!
//! Ports of pseudo domains carry no power and are left out.

use paynter_algebra::{Expr, Func, Node, Pool, Symbol};
use paynter_graph::{BondGraph, Class, ElementId, Law, Port, Stored, Variable};
use rustc_hash::FxHashMap;

use crate::Equations;

/// What an element does with the energy that enters it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// A source: what enters counts as supplied, with the other sign.
    Supply,
    /// A C or an I.
    Storage,
    /// An R, a switch, an RS: what enters is turned into heat, which an RS or a field may hand on.
    Loss,
}

/// One element's account.
#[derive(Debug, Clone, Copy)]
pub struct Account {
    /// The element.
    pub element: ElementId,
    /// What it does with energy.
    pub role: Role,
    /// The power into it.
    pub power: Expr,
    /// The energy of a storage by states, from zero state on where its law is linear, else from the
    /// initial state on. Absent where it must be counted by what flows in.
    pub stored: Option<Expr>,
}

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

impl Equations {
    /// Opens an account for every element through which energy enters, stays or leaves.
    pub fn accounts(&self, pool: &mut Pool, graph: &BondGraph) -> Vec<Account> {
        let values: FxHashMap<Symbol, Expr> = self.assignments.iter().map(|a| (a.symbol, a.value)).collect();
        let mut accounts = Vec::new();
        for id in graph.element_ids() {
            let element = graph.element(id);
            let role = match element.class() {
                Class::Source(_) => Role::Supply,
                Class::Storage(_) => Role::Storage,
                Class::Resistor | Class::EntropySource => Role::Loss,
                Class::Transformer | Class::Gyrator | Class::Junction(_) | Class::Detector(_) => continue,
            };
            let ports: Vec<&Port> = element.ports.iter().filter(|port| carries_power(port)).collect();
            if ports.is_empty() {
                continue;
            }
            let mut terms = Vec::new();
            for port in &ports {
                let effort = value(pool, graph, &values, Variable::Effort(port.bond));
                let flow = value(pool, graph, &values, Variable::Flow(port.bond));
                let power = pool.mul(effort, flow);
                terms.push(if port.into { power } else { pool.neg(power) });
            }
            let power = pool.sum(&terms);
            let whole = ports.len() == element.ports.len();
            let stored = match role {
                Role::Storage if whole => self.stored(pool, graph, &values, id),
                _ => None,
            };
            accounts.push(Account { element: id, role, power, stored });
        }
        accounts
    }

    /// The energy of a storage by its state.
    fn stored(
        &self,
        pool: &mut Pool,
        graph: &BondGraph,
        values: &FxHashMap<Symbol, Expr>,
        id: ElementId,
    ) -> Option<Expr> {
        let element = graph.element(id);
        match &element.law {
            // Half the sum of state times effort (C) or flow (I).
            Law::Value(_) | Law::Matrix(_) => {
                let mut terms = Vec::new();
                for (k, port) in element.ports.iter().enumerate() {
                    let state = self.state_value(pool, graph, id, k)?;
                    let other = conjugate(pool, graph, values, element.stored(), port);
                    terms.push(pool.mul(state, other));
                }
                let sum = pool.sum(&terms);
                let two = pool.int(2);
                Some(pool.div(sum, two))
            }
            Law::Equations(_) => self.line_integral(pool, graph, id),
            _ => None,
        }
    }

    /// The state of a storage's port: a state of the equations, or what a dependent one is by others.
    fn state_value(&self, pool: &mut Pool, graph: &BondGraph, id: ElementId, port: usize) -> Option<Expr> {
        let symbol = graph.variables.symbol(Variable::State(id, port as u32))?;
        if self.states.iter().any(|state| state.symbol == symbol) {
            return Some(pool.var(symbol));
        }
        self.dependent.iter().find(|d| d.symbol == symbol).map(|d| d.value)
    }

    /// ∫ Σ e dq (f dp) on the straight line from the initial state: the law must be smooth and read the
    /// element's own states only. A reciprocal field has the same energy on every way.
    fn line_integral(&self, pool: &mut Pool, graph: &BondGraph, id: ElementId) -> Option<Expr> {
        let element = graph.element(id);
        let mut own = Vec::new();
        for port in 0..element.ports.len() {
            let symbol = graph.variables.symbol(Variable::State(id, port as u32))?;
            own.push(self.states.iter().find(|state| state.symbol == symbol)?);
        }
        let definitions: FxHashMap<Symbol, Expr> =
            self.assignments.iter().map(|a| (a.symbol, a.definition)).collect();
        let parameter = |symbol: Symbol| graph.parameters.iter().any(|p| p.symbol == symbol);
        let mut laws = Vec::new();
        for port in &element.ports {
            let law = conjugate(pool, graph, &definitions, element.stored(), port);
            let known = |s: Symbol| parameter(s) || own.iter().any(|state| state.symbol == s);
            if !pool.symbols(law).into_iter().all(known) || !is_smooth(pool, law) {
                return None;
            }
            laws.push(law);
        }
        let mut ways = Vec::new();
        for state in &own {
            let end = pool.var(state.symbol);
            ways.push(pool.sub(end, state.initial));
        }
        let opposite = GAUSS.iter().map(|(node, weight)| (1.0 - node, *weight));
        let mut terms = Vec::new();
        for (node, weight) in GAUSS.into_iter().chain(opposite) {
            let (node, weight) = (constant(pool, node)?, constant(pool, weight)?);
            let mut place: FxHashMap<Symbol, Expr> = FxHashMap::default();
            for (state, way) in own.iter().zip(&ways) {
                let part = pool.mul(node, *way);
                place.insert(state.symbol, pool.add(state.initial, part));
            }
            for (law, way) in laws.iter().zip(&ways) {
                let there = pool.substitute(*law, &place);
                terms.push(pool.product(&[weight, there, *way]));
            }
        }
        Some(pool.sum(&terms))
    }
}

/// Whether effort times flow is a power there.
fn carries_power(port: &Port) -> bool {
    port.domain.is_none_or(|domain| domain.info().is_true)
}

/// What multiplies the rate of a storage's state to give power: effort of a C, flow into an I.
fn conjugate(
    pool: &mut Pool,
    graph: &BondGraph,
    values: &FxHashMap<Symbol, Expr>,
    stored: Option<Stored>,
    port: &Port,
) -> Expr {
    if stored == Some(Stored::Displacement) {
        return value(pool, graph, values, Variable::Effort(port.bond));
    }
    let flow = value(pool, graph, values, Variable::Flow(port.bond));
    if port.into { flow } else { pool.neg(flow) }
}

/// The value of a bond's variable; an implicit unknown stands for itself.
fn value(pool: &mut Pool, graph: &BondGraph, values: &FxHashMap<Symbol, Expr>, variable: Variable) -> Expr {
    match graph.variables.symbol(variable) {
        Some(symbol) => values.get(&symbol).copied().unwrap_or_else(|| pool.var(symbol)),
        None => pool.zero(),
    }
}

fn constant(pool: &mut Pool, value: f64) -> Option<Expr> {
    pool.decimal(&value.to_string())
}

/// Whether an expression has no corners and no jumps.
fn is_smooth(pool: &Pool, e: Expr) -> bool {
    !pool.reachable(&[e]).iter().any(|node| {
        matches!(
            pool.node(*node),
            Node::Select(..) | Node::Call(Func::Abs | Func::Sign | Func::Min | Func::Max | Func::Table(_), _)
        )
    })
}
