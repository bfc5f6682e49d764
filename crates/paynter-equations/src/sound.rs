//! Whether equations can be used at the nominal values of the parameters: divisors that are zero, implicit
//! equations that determine nothing, initial states that contradict each other.

use paynter_algebra::{Expr, Pool, Symbol};
use paynter_base::number::short;
use paynter_base::{Diagnostic, Diagnostics, code};
use paynter_graph::{BondGraph, Guard, Guards, Variable, is_regular};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::tolerance::INITIAL_STATE_AGREEMENT;
use crate::{Dependent, Equations, LinearLoop, State};

/// A message names so many elements and parameters.
const NAMED: usize = 8;

impl Equations {
    /// Finds what makes the equations useless at the nominal values, and what this hangs on.
    pub fn soundness(&self, pool: &mut Pool, graph: &BondGraph) -> (Diagnostics, Guards) {
        let mut guards = Vec::new();
        let mut findings = self.vanishing_divisors(pool, graph, &mut guards);
        findings.extend(self.unsolvable_constraints(pool, graph));
        for closed in &self.loops {
            let regular = is_regular(pool, graph, &closed.rows);
            // Where something is divided by zero, that has been told.
            if !regular && !findings.has_errors() {
                findings.push(singular_at_nominal(pool, graph, closed));
            }
            guards.push(Guard::Regular(closed.rows.clone(), regular));
        }
        let states: FxHashMap<Symbol, &State> =
            self.states.iter().map(|state| (state.symbol, state)).collect();
        for dependent in &self.dependent {
            let Some((follows, given)) = twice_initial(pool, graph, &states, dependent) else { continue };
            let number = |pool: &Pool, expr: Expr| pool.eval(expr, &|symbol| graph.number(symbol));
            if let (Ok(follows), Ok(given)) = (number(pool, follows), number(pool, given))
                && (follows - given).abs() > INITIAL_STATE_AGREEMENT * follows.abs().max(given.abs())
            {
                findings.push(contradiction(graph, dependent));
            }
            guards.extend([follows, given].map(|expr| {
                let value = number(pool, expr).unwrap_or(f64::NAN);
                Guard::Value(expr, value)
            }));
        }
        (findings, Guards::new(pool, graph, guards))
    }
}

/// Says that a loop which can be solved for almost all values of parameters cannot at those that they have.
fn singular_at_nominal(
    pool: &Pool,
    graph: &BondGraph,
    LinearLoop { what, rows, elements }: &LinearLoop,
) -> Diagnostic {
    let read: FxHashSet<Symbol> = rows.iter().flatten().flat_map(|(_, entry)| pool.symbols(*entry)).collect();
    let parameters: Vec<_> =
        graph.parameters.iter().filter(|parameter| read.contains(&parameter.symbol)).collect();
    let values: Vec<String> = (parameters.iter().take(NAMED))
        .map(|parameter| format!("{} = {}", parameter.name, short(parameter.number)))
        .collect();
    let names: Vec<String> =
        elements.iter().take(NAMED).map(|id| format!("`{}`", graph.element(*id).name)).collect();
    let message = format!(
        "{what} of {} has no solution, or more than one, at {}: its equations are singular there",
        names.join(", "),
        values.join(", ")
    );
    let diagnostic = Diagnostic::new(code::SINGULAR_STRUCTURE, message)
        .help("give other values to these parameters, or break the loop: remove one of its bonds, or add an R or a C where something can circulate or float");
    let place = elements.first().map(|id| graph.element(*id).span);
    match parameters.first().map(|parameter| parameter.span).or(place) {
        Some(span) => diagnostic.at(span),
        None => diagnostic,
    }
}

/// The initial state of a dependent storage as the states that it depends on have it, and as it is given
/// itself. Where one of those has none of its own, the dependent one may determine it.
fn twice_initial(
    pool: &mut Pool,
    graph: &BondGraph,
    states: &FxHashMap<Symbol, &State>,
    dependent: &Dependent,
) -> Option<(Expr, Expr)> {
    let given = dependent.initial?;
    let read: Vec<&State> =
        pool.symbols(dependent.value).iter().filter_map(|symbol| states.get(symbol).copied()).collect();
    let own = |variable: Variable| match variable {
        Variable::State(id, port) => graph.element(id).initial.iter().any(|(p, _, _)| *p == port as usize),
        _ => true,
    };
    if read.is_empty() || !read.iter().all(|state| own(state.variable)) {
        return None;
    }
    let initial: FxHashMap<Symbol, Expr> = read.iter().map(|state| (state.symbol, state.initial)).collect();
    Some((pool.substitute(dependent.value, &initial), given))
}

/// Says that a dependent storage is given an initial state that the states it depends on contradict.
pub fn contradiction(graph: &BondGraph, dependent: &Dependent) -> Diagnostic {
    let element = graph.element(dependent.element);
    let message =
        format!("the initial state of `{}` contradicts those of the storages it depends on", element.name);
    let given = element.initial.iter().find(|(port, _, _)| *port == dependent.port);
    Diagnostic::new(code::BAD_INITIAL, message)
        .at(given.map_or(element.span, |(_, _, span)| *span))
        .help("delete one of the initial states, or give values that agree")
}
