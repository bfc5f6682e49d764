//! Laws that jump together: where several hold a motion at zero, how they share the force is not determined.

use super::freeze::Freezer;
use paynter_algebra::{Expr, Func, Node, Pool, Symbol};
use paynter_equations::Equations;
use paynter_graph::ElementId;
use rustc_hash::FxHashMap;

/// The elements whose laws jump with each relation.
pub(super) fn jumping_elements(
    pool: &mut Pool,
    equations: &Equations,
    signals: &FxHashMap<Symbol, Expr>,
    freezer: &Freezer,
) -> Vec<Vec<ElementId>> {
    let mut freezer = freezer.clone();
    let known = freezer.relations.len();
    let mut elements = vec![Vec::new(); known];
    let mut values = signals.clone();
    values.extend(equations.assignments.iter().map(|assignment| (assignment.symbol, assignment.value)));
    for assignment in &equations.assignments {
        let Some(element) = assignment.element else { continue };
        for node in pool.reachable(&[assignment.definition]) {
            let function = match pool.node(node) {
                Node::Call(Func::Sign, list) => list[0],
                Node::Compare(_, left, right) => pool.sub(left, right),
                _ => continue,
            };
            let function = pool.substitute_all(&[function], &values);
            let function = freezer.freeze(pool, &function)[0];
            let mode = freezer.mode(pool, function, true);
            let symbols = pool.symbols(mode);
            let own = (0..known).filter(|k| symbols.contains(&freezer.relations[*k].mode));
            own.for_each(|k| elements[k].push(element));
        }
    }
    for list in &mut elements {
        list.sort_unstable();
        list.dedup();
    }
    elements
}
