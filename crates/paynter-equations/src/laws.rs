//! Constitutive laws in the direction that causality asks for.
//!
//! Every R, C and I becomes a list of residuals over its local variables. With
//! the causality of its ports it is known which of them are given (what comes
//! in, and the states) and which are wanted (what goes out, and the states of
//! dependent ports).

use paynter_algebra::{Expr, Pool, Symbol};
use paynter_graph::{BondGraph, Causality, Element, ElementId, Law, Ranges};

use crate::linear;

/// A law solved for what is wanted.
#[derive(Debug, Clone)]
pub(crate) struct Solved {
    /// Wanted local variables with their values over the given ones.
    pub values: Vec<(Symbol, Expr)>,
    /// Wanted variables that are kept implicit, with one residual each.
    pub implicit: Vec<(Symbol, Expr)>,
}

/// What a port wants of its law: local symbols e, f, q, p; which of them is the wanted one.
pub(crate) fn wanted(graph: &BondGraph, causality: &Causality, id: ElementId, port: usize) -> Symbol {
    let element = graph.element(id);
    let locals = graph.locals.port(element.ports.len(), port);
    element.class().wanted(locals, causality.effort_in(graph, id, port))
}

/// Solves the law of an R, C, I or switch for what causality wants.
pub(crate) fn solve(
    pool: &mut Pool,
    graph: &BondGraph,
    causality: &Causality,
    id: ElementId,
    ranges: &Ranges,
) -> Solved {
    let Asked { unknowns, residuals, written } = asked(pool, graph, causality, id);
    if let Some(values) = written {
        return Solved { values, implicit: Vec::new() };
    }
    if let Some(values) = linear::solve_residuals(pool, &residuals, &unknowns, ranges) {
        return Solved { values: unknowns.into_iter().zip(values).collect(), implicit: Vec::new() };
    }
    sequential(pool, residuals, unknowns, ranges)
}

/// Leaves the law of an R, C, I or switch implicit in what causality wants: as it is written,
/// or, where it is written in the wanted direction, solved for what is given.
pub(crate) fn turn(
    pool: &mut Pool,
    graph: &BondGraph,
    causality: &Causality,
    id: ElementId,
    ranges: &Ranges,
) -> Solved {
    let Asked { unknowns, residuals: mut implicit, written } = asked(pool, graph, causality, id);
    if let Some(values) = written {
        let n = unknowns.len();
        let locals: Vec<Symbol> = (0..n).flat_map(|port| graph.locals.port(n, port)).collect();
        for (residual, (wanted, value)) in implicit.iter_mut().zip(values) {
            let inside = pool.symbols(value);
            let mut given = locals.iter().copied().filter(|symbol| inside.contains(symbol));
            let (Some(given), None) = (given.next(), given.next()) else { continue };
            let solution = ranges.solve_for(pool, *residual, given);
            if let Ok(solution) = solution
                && solution.is_global()
                && pool.depends_on(solution.value, wanted)
            {
                let variable = pool.var(given);
                *residual = pool.sub(variable, solution.value);
            }
        }
    }
    Solved { values: Vec::new(), implicit: unknowns.into_iter().zip(implicit).collect() }
}

/// What causality asks of an element.
struct Asked {
    /// By port.
    unknowns: Vec<Symbol>,
    /// The law, each equation zero.
    residuals: Vec<Expr>,
    /// The law where it is written in the wanted direction already.
    written: Option<Vec<(Symbol, Expr)>>,
}

fn asked(pool: &mut Pool, graph: &BondGraph, causality: &Causality, id: ElementId) -> Asked {
    let element = graph.element(id);
    let ports = 0..element.ports.len();
    let unknowns: Vec<Symbol> = ports.map(|port| wanted(graph, causality, id, port)).collect();
    let written = explicit(pool, element, &unknowns);
    Asked { residuals: residuals(pool, graph, element), unknowns, written }
}

/// Laws that are written in the wanted direction already.
fn explicit(pool: &Pool, element: &Element, unknowns: &[Symbol]) -> Option<Vec<(Symbol, Expr)>> {
    let Law::Equations(equations) = &element.law else { return None };
    let mut values = Vec::with_capacity(unknowns.len());
    for equation in equations {
        let symbol = equation.solved_for.filter(|s| unknowns.contains(s))?;
        if values.iter().any(|(known, _)| *known == symbol) {
            return None;
        }
        let value =
            if pool.as_symbol(equation.left) == Some(symbol) { equation.right } else { equation.left };
        // The value may read other wanted variables; then the laws are solved together.
        if unknowns.iter().any(|other| pool.depends_on(value, *other)) {
            return None;
        }
        values.push((symbol, value));
    }
    (values.len() == unknowns.len()).then_some(values)
}

/// The law of an element as left minus right, over its local variables.
pub fn residuals(pool: &mut Pool, graph: &BondGraph, element: &Element) -> Vec<Expr> {
    let n = element.ports.len();
    // x = M y: e = R f, q = C e, p = L f.
    let pair = |port: usize| element.class().pair(graph.locals.port(n, port));
    match &element.law {
        Law::Value(value) => {
            let (x, y) = pair(0);
            let (x, y) = (pool.var(x), pool.var(y));
            let right = pool.mul(*value, y);
            vec![pool.sub(x, right)]
        }
        Law::Matrix(rows) => rows
            .iter()
            .enumerate()
            .map(|(i, row)| {
                let x = pool.var(pair(i).0);
                let terms: Vec<Expr> = row
                    .iter()
                    .enumerate()
                    .map(|(j, entry)| {
                        let y = pool.var(pair(j).1);
                        pool.mul(*entry, y)
                    })
                    .collect();
                let right = pool.sum(&terms);
                pool.sub(x, right)
            })
            .collect(),
        Law::Equations(equations) => equations.iter().map(|eq| pool.sub(eq.left, eq.right)).collect(),
        Law::Switch { condition, on, off } => {
            // f = (if condition then 1/on else off)·e
            let [e, f, ..] = graph.locals.port(1, 0);
            let one = pool.one();
            let closed = pool.div(one, *on);
            let conductance = pool.select(*condition, closed, *off);
            let (e, f) = (pool.var(e), pool.var(f));
            let right = pool.mul(conductance, e);
            vec![pool.sub(f, right)]
        }
        Law::Structure => Vec::new(),
    }
}

/// Solves residuals one after the other by inversion; what resists stays implicit.
fn sequential(
    pool: &mut Pool,
    mut residuals: Vec<Expr>,
    mut unknowns: Vec<Symbol>,
    ranges: &Ranges,
) -> Solved {
    let mut values: Vec<(Symbol, Expr)> = Vec::new();
    let mut progress = true;
    while progress && !unknowns.is_empty() {
        progress = false;
        for r in 0..residuals.len() {
            let inside: Vec<usize> =
                (0..unknowns.len()).filter(|&u| pool.depends_on(residuals[r], unknowns[u])).collect();
            let [u] = inside[..] else { continue };
            let Ok(solution) = ranges.solve_for(pool, residuals[r], unknowns[u]) else {
                continue;
            };
            if !solution.is_global() {
                continue;
            }
            let symbol = unknowns.remove(u);
            residuals.remove(r);
            let map = [(symbol, solution.value)].into_iter().collect();
            residuals = pool.substitute_all(&residuals, &map);
            values.push((symbol, solution.value));
            progress = true;
            break;
        }
    }
    Solved { values, implicit: unknowns.into_iter().zip(residuals).collect() }
}
