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
#[derive(Debug, Clone)]
pub struct Account {
    /// The element.
    pub element: ElementId,
    /// What it does with energy.
    pub role: Role,
    /// The power into it.
    pub power: Expr,
    /// The energy of a storage by its states. Absent where it must be counted by what flows in.
    pub stored: Option<StoredEnergy>,
}

/// The energy of a storage by its states.
#[derive(Debug, Clone)]
pub enum StoredEnergy {
    /// Half the sum of state times effort or flow: the law is linear, and an empty storage holds nothing.
    Quadratic(Expr),
    /// What laws of its own states make of it: the integral of Σ e dq, or f dp.
    Law {
        /// Its states.
        states: Vec<Symbol>,
        /// The efforts of a C, the flows of an I, over these states and parameters.
        laws: Vec<Expr>,
        /// The integral of a law of one state, where the algebra has it.
        antiderivative: Option<Expr>,
    },
    /// What a law in the other direction makes of it, state = law(y) for the effort y of a C or the flow y of an I:
    /// y·law(y) less the integral of the law.
    Inverse {
        /// The effort or flow.
        value: Expr,
        /// What stands for it in the law.
        symbol: Symbol,
        /// The state, over that and parameters.
        law: Expr,
        /// The integral of the law, where the algebra has it.
        antiderivative: Option<Expr>,
    },
}

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

    /// The effort and flow of every bond, over states, inputs, unknowns and parameters.
    pub fn bond_values(&self, pool: &mut Pool, graph: &BondGraph) -> Vec<[Expr; 2]> {
        let values: FxHashMap<Symbol, Expr> = self.assignments.iter().map(|a| (a.symbol, a.value)).collect();
        let both = |bond| [Variable::Effort(bond), Variable::Flow(bond)];
        graph
            .bond_ids()
            .map(|bond| both(bond).map(|variable| value(pool, graph, &values, variable)))
            .collect()
    }

    /// The energy of a storage by its state.
    fn stored(
        &self,
        pool: &mut Pool,
        graph: &BondGraph,
        values: &FxHashMap<Symbol, Expr>,
        id: ElementId,
    ) -> Option<StoredEnergy> {
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
                Some(StoredEnergy::Quadratic(pool.div(sum, two)))
            }
            Law::Equations(_) => {
                self.own_law(pool, graph, id).or_else(|| inverse_law(pool, graph, values, id))
            }
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

    /// The law of a storage, where it reads the element's own states only. A reciprocal field has the same
    /// energy on every way.
    fn own_law(&self, pool: &mut Pool, graph: &BondGraph, id: ElementId) -> Option<StoredEnergy> {
        let element = graph.element(id);
        let mut states = Vec::new();
        for port in 0..element.ports.len() {
            let symbol = graph.variables.symbol(Variable::State(id, port as u32))?;
            states.push(self.states.iter().find(|state| state.symbol == symbol)?.symbol);
        }
        let definitions: FxHashMap<Symbol, Expr> =
            self.assignments.iter().map(|a| (a.symbol, a.definition)).collect();
        let parameter = |symbol: Symbol| graph.parameters.iter().any(|p| p.symbol == symbol);
        let mut laws = Vec::new();
        for port in &element.ports {
            let law = conjugate(pool, graph, &definitions, element.stored(), port);
            let known = |s: Symbol| parameter(s) || states.contains(&s);
            if !pool.symbols(law).into_iter().all(known) || reads_table(pool, law) {
                return None;
            }
            laws.push(law);
        }
        let antiderivative = match (states.as_slice(), laws.as_slice()) {
            ([state], [law]) => pool.antiderivative(*law, *state),
            _ => None,
        };
        Some(StoredEnergy::Law { states, laws, antiderivative })
    }
}

/// The law of a storage with one port that gives its state by effort or flow and parameters alone.
fn inverse_law(
    pool: &mut Pool,
    graph: &BondGraph,
    values: &FxHashMap<Symbol, Expr>,
    id: ElementId,
) -> Option<StoredEnergy> {
    let element = graph.element(id);
    let ([port], Law::Equations(list)) = (element.ports.as_slice(), &element.law) else { return None };
    let [equation] = list.as_slice() else { return None };
    let (state, symbol) = element.class().pair(graph.locals.port(1, 0));
    let residual = pool.sub(equation.left, equation.right);
    let derivative = pool.diff(residual, state);
    if derivative == pool.zero() {
        return None;
    }
    let empty: FxHashMap<Symbol, Expr> = [(state, pool.zero())].into_iter().collect();
    let rest = pool.substitute(residual, &empty);
    let law = pool.div(rest, derivative);
    let law = pool.neg(law);
    let parameter = |s: &Symbol| graph.parameters.iter().any(|p| p.symbol == *s);
    let readable = pool.symbols(law).iter().all(|s| *s == symbol || parameter(s));
    if !readable || !pool.symbols(derivative).iter().all(parameter) || reads_table(pool, law) {
        return None;
    }
    let value = conjugate(pool, graph, values, element.stored(), port);
    let antiderivative = pool.antiderivative(law, symbol);
    Some(StoredEnergy::Inverse { value, symbol, law, antiderivative })
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

/// Whether an expression reads a table.
fn reads_table(pool: &Pool, e: Expr) -> bool {
    pool.reachable(&[e]).iter().any(|node| matches!(pool.node(*node), Node::Call(Func::Table(_), _)))
}
