//! Divisors that are zero at the nominal values of the parameters: found once
//! for all questions, so that no answer holds a division by zero.

use paynter_algebra::{Expr, Node, Pool};
use paynter_base::{Diagnostic, Diagnostics, code};
use paynter_graph::{BondGraph, Element, Guard, Law, Sign};
use rustc_hash::FxHashSet;

use crate::Equations;

impl Equations {
    /// Says which divisors that depend on parameters alone are zero at nominal values; that they are or
    /// are not joins the guards. The branches of a choice are left out: only one of them counts.
    pub fn vanishing_divisors(&self, pool: &Pool, graph: &BondGraph, guards: &mut Vec<Guard>) -> Diagnostics {
        let mut diagnostics = Diagnostics::new();
        for divisor in self.divisors(pool) {
            if !pool.symbols(divisor).iter().all(|symbol| graph.number(*symbol).is_some()) {
                continue;
            }
            let number = pool.eval(divisor, &|symbol| graph.number(symbol)).unwrap_or(f64::NAN);
            if number == 0.0 {
                diagnostics.push(describe(pool, graph, divisor));
            }
            guards.push(Guard::Sign(divisor, Sign::of(number)));
        }
        diagnostics
    }

    /// What rates, outputs, implicit equations, and efforts and flows divide by, in order: where one of these has no
    /// value, the model has no solution or more than one, whatever is asked of it.
    fn divisors(&self, pool: &Pool) -> Vec<Expr> {
        let outputs = self.outputs.iter().map(|output| output.value);
        let residuals = self.constraints.iter().map(|constraint| constraint.residual);
        let values = self.assignments.iter().map(|assignment| assignment.value);
        let mut stack: Vec<Expr> =
            self.rates.iter().copied().chain(outputs).chain(residuals).chain(values).collect();
        let mut seen = FxHashSet::default();
        let mut found = Vec::new();
        while let Some(node) = stack.pop() {
            if !seen.insert(node) {
                continue;
            }
            match pool.node(node) {
                Node::Power(base, exponent) => {
                    if pool.eval(exponent, &|_| None).is_ok_and(|exponent| exponent < 0.0) {
                        found.push(base);
                    }
                    stack.extend([base, exponent]);
                }
                Node::Sum(parts) | Node::Product(parts) | Node::Call(_, parts) => stack.extend(parts),
                _ => {}
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }
}

/// Names the divisor, the parameters in it and the elements that use them.
fn describe(pool: &Pool, graph: &BondGraph, divisor: Expr) -> Diagnostic {
    let symbols = pool.symbols(divisor);
    let users: Vec<&Element> = graph
        .elements
        .iter()
        .filter(|element| {
            element.law.expressions().iter().any(|e| symbols.iter().any(|s| pool.depends_on(*e, *s)))
        })
        .collect();
    let names: Vec<String> = users.iter().take(4).map(|element| format!("`{}`", element.name)).collect();
    let whose = if names.is_empty() { String::new() } else { format!(" of {}", names.join(", ")) };
    let field = users.iter().find(|element| matches!(element.law, Law::Matrix(_)));
    let shown = pool.brief(divisor);
    let message = match field {
        Some(field) => format!(
            "the matrix of `{}` cannot be inverted, as its causality asks: `{shown}` is zero at the nominal values",
            field.name
        ),
        None => format!("`{shown}` is zero at the nominal values, and the equations{whose} divide by it"),
    };
    let mut diagnostic = Diagnostic::new(code::VANISHING_DIVISOR, message);
    let parameter = graph.parameters.iter().find(|parameter| symbols.contains(&parameter.symbol));
    if let Some(span) = parameter.map(|p| p.span).or_else(|| users.first().map(|element| element.span)) {
        diagnostic = diagnostic.at(span);
    }
    for element in users.iter().take(4) {
        diagnostic = diagnostic.label(element.span, "its equation divides by it");
    }
    match parameter.filter(|parameter| pool.as_symbol(divisor) == Some(parameter.symbol)) {
        Some(parameter) => diagnostic
            .help(format!("give `{}` a value other than zero, or leave the element out", parameter.name)),
        None if field.is_some() => diagnostic.help(
            "a field whose ports are perfectly coupled stores as one element does: write one storage and a transformer for its ratio",
        ),
        None => diagnostic,
    }
}
