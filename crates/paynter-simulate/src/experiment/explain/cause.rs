//! What causes a failure: the law without a value, the equation that decides
//! nothing, the laws that switch.

use super::Explanation;
use paynter_algebra::{EvalError, Expr, Func, Node, Symbol};
use paynter_base::Span;
use paynter_base::number::moment;
use paynter_equations::{Constraint, State};
use paynter_graph::{ElementId, Variable};
use std::collections::BTreeMap;

impl<'a> Explanation<'a> {
    /// The elements whose laws switch, first those that read this condition.
    pub(super) fn switching(&self, event: &str) -> Vec<ElementId> {
        /// Longer laws are not searched.
        const LONGEST_SEARCHED_LAW: u64 = 10_000;
        let switches = |node: &Expr| match self.pool.node(*node) {
            Node::Compare(..) => true,
            Node::Call(f, _) => matches!(f, Func::Sign | Func::Abs | Func::Min | Func::Max),
            _ => false,
        };
        let mut found: Vec<(bool, ElementId)> = Vec::new();
        for assignment in &self.simulation.program.equations.assignments {
            let Some(element) = assignment.element else { continue };
            if self.pool.reachable(&[assignment.definition]).iter().any(switches) {
                let short = self.pool.written_size(&[assignment.value]) < LONGEST_SEARCHED_LAW;
                let reads = short && self.pool.display(assignment.value).to_string().contains(event);
                found.push((!reads, element));
            }
        }
        found.sort_unstable();
        found.dedup_by_key(|(_, element)| *element);
        found.into_iter().map(|(_, element)| element).collect()
    }

    /// The first law without a value at a time and state: its place, and what is wrong with it.
    pub(super) fn culprit(&self, t: f64, x: &[f64]) -> Option<(Option<Span>, String)> {
        let (graph, equations) = (&self.simulation.graph, &self.simulation.program.equations);
        let values = match self.values_at(t, x) {
            Ok(values) => values,
            Err((span, help)) => return Some((Some(span), help)),
        };
        for assignment in &equations.assignments {
            if let Err(EvalError::NotFinite(part)) =
                self.pool.eval(assignment.value, &|s| values.get(&s).copied())
            {
                let span = assignment.element.map(|element| graph.element(element).span);
                let reads: Vec<String> = self
                    .pool
                    .symbols(part)
                    .into_iter()
                    .filter(|s| equations.states.iter().any(|state| state.symbol == *s))
                    .filter_map(|s| Some(format!("`{}` = {}", self.pool.name(s), moment(*values.get(&s)?))))
                    .collect();
                let with =
                    if reads.is_empty() { String::new() } else { format!(", with {}", reads.join(", ")) };
                let what = self.pool.display(part);
                let root = match self.pool.node(part) {
                    Node::Call(Func::Sqrt, _) => true,
                    Node::Power(_, exponent) => self.pool.as_int(exponent).is_none(),
                    _ => false,
                };
                let remedy = match root {
                    true => {
                        "mend the law (`sign(x)*sqrt(abs(x))` has a value on both sides) or the initial state"
                    }
                    false => "mend the law or the initial state",
                };
                return Some((span, format!("`{what}` has no finite value there{with}; {remedy}")));
            }
        }
        None
    }

    /// The values of parameters, states, time and inputs; or the place of an input that has none, and what is
    /// wrong with it.
    pub(super) fn values_at(&self, t: f64, x: &[f64]) -> Result<BTreeMap<Symbol, f64>, (Span, String)> {
        let (graph, equations) = (&self.simulation.graph, &self.simulation.program.equations);
        let mut values: BTreeMap<Symbol, f64> = BTreeMap::new();
        values.extend(self.simulation.symbols.iter().copied().zip(self.parameters.iter().copied()));
        values.extend(equations.states.iter().map(|s| s.symbol).zip(x.iter().copied()));
        values.extend(graph.variables.symbol(Variable::Time).map(|time| (time, t)));
        for (input, declared) in equations.inputs.iter().zip(&graph.inputs) {
            match (input.symbols.first(), self.pool.eval(input.value, &|s| values.get(&s).copied())) {
                (Some(symbol), Ok(value)) => {
                    values.insert(*symbol, value);
                }
                (Some(_), Err(EvalError::NotFinite(part))) => {
                    let what = self.pool.display(part);
                    let help = format!("`{what}` has no finite value there; mend the input `{}`", input.name);
                    return Err((declared.span, help));
                }
                _ => {}
            }
        }
        Ok(values)
    }

    /// An implicit equation that no unknown changes, whatever their values, because this state is zero.
    pub(super) fn undecided(&self, values: &BTreeMap<Symbol, f64>) -> Option<(&'a Constraint, &'a State)> {
        let equations = &self.simulation.program.equations;
        let unknown = |symbol: Symbol| equations.constraints.iter().position(|c| c.unknown == symbol);
        let decides = |constraint: &Constraint, values: &BTreeMap<Symbol, f64>| {
            let at = |scale: f64| {
                let value = |symbol: Symbol| match unknown(symbol) {
                    Some(place) => Some(scale / (place + 1) as f64),
                    None => values.get(&symbol).copied(),
                };
                self.pool.eval(constraint.residual, &value).ok()
            };
            [0.01, -0.37].into_iter().any(|scale| at(scale) != at(0.0))
        };
        let idle = equations.constraints.iter().filter(|constraint| !decides(constraint, values));
        let zero = |state: &&State| values.get(&state.symbol) == Some(&0.0);
        idle.flat_map(|constraint| equations.states.iter().filter(zero).map(move |state| (constraint, state)))
            .find(|(constraint, state)| {
                let mut moved = values.clone();
                moved.insert(state.symbol, 0.01);
                decides(constraint, &moved)
            })
    }
}
