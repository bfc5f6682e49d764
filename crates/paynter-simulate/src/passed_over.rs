//! Jumps that exported programs pass over.

use crate::switches;
use paynter_algebra::{Expr, Pool, Symbol};
use paynter_base::{Diagnostic, Diagnostics, Remedy, code};
use paynter_equations::Equations;
use paynter_graph::BondGraph;

/// The jumps that a program passes over: those of inputs whose rates storages read, and in a simulator
/// all of them.
pub fn passed_over(pool: &Pool, graph: &BondGraph, equations: &Equations, simulator: bool) -> Diagnostics {
    let mut found = Diagnostics::new();
    let fixed: Vec<Symbol> = graph.parameters.iter().map(|parameter| parameter.symbol).collect();
    for (input, declared) in equations.inputs.iter().zip(&graph.inputs) {
        if input.symbols.len() > 1 && !switches(pool, &[input.value], &fixed).is_empty() {
            let message = format!(
                "the input `{}` jumps straight into a storage, whose state does not jump in the program",
                input.name
            );
            found.push(Diagnostic::new(code::PASSED_OVER, message).at(declared.span));
        }
    }
    let mut roots: Vec<Expr> = equations.rates.clone();
    roots.extend(equations.constraints.iter().map(|constraint| constraint.residual));
    roots.extend(equations.inputs.iter().map(|input| input.value));
    let all = if simulator { switches(pool, &roots, &fixed) } else { Vec::new() };
    if let Some(first) = all.first() {
        let (first, others) = (pool.display(*first), all.len() - 1);
        let others = if others == 0 { String::new() } else { format!(" and {others} more") };
        let message =
            format!("the program steps over the switching of `{first}`{others} as if nothing were there");
        let help = Remedy::marked(
            "take short steps, and sensitivities from {ask simulate}, which finds the times of switching: where \
             these move with a parameter, those of the program lack a jump",
        );
        found.push(Diagnostic::new(code::PASSED_OVER, message).help(help));
    }
    found
}
