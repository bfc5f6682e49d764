//! Says why a run ended early, and what else is worth knowing about it.

use super::Simulation;
use crate::{Failure, Note, Outcome};
use paynter_algebra::{EvalError, Expr, Func, Node, Pool, Symbol};
use paynter_base::{Code, Diagnostic, Diagnostics, Remedy, Span, code};
use paynter_equations::{Constraint, State, contradiction};
use paynter_graph::{ElementId, Variable};
use std::collections::BTreeMap;

impl Simulation {
    /// Says why a run with some parameters ended early, and what else is worth knowing about it. The pool is
    /// that with which the simulation was compiled.
    pub fn explain(&self, pool: &Pool, parameters: &[f64], outcome: &Outcome) -> Diagnostics {
        Explanation { pool, simulation: self, parameters }.run(outcome)
    }
}

/// A simulation whose run is explained.
struct Explanation<'a> {
    pool: &'a Pool,
    simulation: &'a Simulation,
    parameters: &'a [f64],
}

impl<'a> Explanation<'a> {
    fn run(&self, outcome: &Outcome) -> Diagnostics {
        let simulation = self.simulation;
        let mut diagnostics = Diagnostics::new();
        let mut gone = Vec::new();
        for note in &outcome.notes {
            diagnostics.push(match note {
                // What has gone for good is said once.
                Note::Undefined { lane: Some(lane), .. } if gone.contains(lane) => continue,
                Note::Grazing { t, event } => {
                    let event = &simulation.compiled.events[*event];
                    let message = format!(
                        "at t = {} `{event}` only touches zero, so sensitivities may jump",
                        short(*t)
                    );
                    Diagnostic::new(code::GRAZING, message)
                }
                Note::Impulse { t, output } => {
                    let name = &simulation.outputs[*output].name;
                    let message = format!(
                        "at t = {} the output `{name}` contains an impulse, which its values do not show",
                        short(*t)
                    );
                    let diagnostic = Diagnostic::new(code::IMPULSE, message);
                    match simulation.graph.outputs.get(*output) {
                        Some(output) => diagnostic.at(output.span),
                        None => diagnostic,
                    }
                }
                Note::Zeno { t, event } => {
                    let event = &simulation.compiled.events[*event];
                    let what = "has switched ever faster, and is brought to rest at zero";
                    let message = format!("at t = {} `{event}` {what}", short(*t));
                    Diagnostic::new(code::RATTLING, message)
                }
                Note::InfiniteDerivative { t, lane, state } => {
                    gone.push(*lane);
                    let by = &simulation.wanted[*lane];
                    let state = state.map(|state| &simulation.equations.states[state]);
                    let with = state.map_or_else(|| "it".to_owned(), |s| format!("`{}`, which it moves", s.name));
                    let message = format!(
                        "from t = {} on there are no derivatives by `{by}`: a rate changes infinitely fast with {with}",
                        short(*t)
                    );
                    let help = "look for a root at zero; begin beside it, or take a law with a finite slope there";
                    let diagnostic = Diagnostic::new(code::UNDEFINED_OUTPUT, message).help(help);
                    let span = state.and_then(|state| simulation.graph.state_span(state.variable));
                    match span {
                        Some(span) => diagnostic.at(span),
                        None => diagnostic,
                    }
                }
                Note::UndefinedInitialDerivative { lane, state } => {
                    gone.push(*lane);
                    let (by, state) = (&simulation.wanted[*lane], &simulation.equations.states[*state]);
                    let message = format!(
                        "there are no derivatives by `{by}`: where the run begins, `{}` changes infinitely fast with it",
                        state.name
                    );
                    let help = "look for a modulus, a divisor or a root that is zero there, and begin beside it";
                    let diagnostic = Diagnostic::new(code::UNDEFINED_OUTPUT, message).help(help);
                    let span = simulation.graph.state_span(state.variable);
                    span.into_iter().fold(diagnostic, Diagnostic::at)
                }
                Note::BelowAbsoluteZero { t, temperature, value } => {
                    let Some(thermometer) = &simulation.thermometer else { continue };
                    let when = format!("at t = {}", short(*t));
                    thermometer.temperatures[*temperature].too_cold(&simulation.graph, &when, *value)
                }
                Note::Undefined { t, output, lane } => {
                    let name = &simulation.outputs[*output].name;
                    let what = match lane.and_then(|lane| simulation.wanted.get(lane)) {
                        Some(by) => format!("the derivative of `{name}` by `{by}`"),
                        None => format!("the output `{name}`"),
                    };
                    let message = format!("at t = {} {what} has no finite value", short(*t));
                    let diagnostic = Diagnostic::new(code::UNDEFINED_OUTPUT, message);
                    match simulation.graph.outputs.get(*output) {
                        Some(output) => diagnostic.at(output.span),
                        None => diagnostic,
                    }
                }
            });
        }
        if let Some(failure) = outcome.failure {
            diagnostics.push(self.failure(outcome, failure));
        }
        diagnostics
    }

    /// Says why a run ended early.
    fn failure(&self, outcome: &Outcome, failure: Failure) -> Diagnostic {
        let (simulation, graph) = (self.simulation, &self.simulation.graph);
        let states = &simulation.equations.states;
        let at = |diagnostic: Diagnostic, state: usize| {
            let span = states.get(state).and_then(|state| graph.state_span(state.variable));
            span.into_iter().fold(diagnostic, Diagnostic::at)
        };
        let new = |code: Code, message: String| Diagnostic::new(code, message);
        match failure {
            Failure::Cancelled => new(code::CANNOT_SIMULATE, "the simulation was stopped".to_owned()),
            Failure::BadInitial { state } => {
                let message = format!("the initial value of `{}` is not finite", states[state].name);
                let diagnostic = at(new(code::CANNOT_SIMULATE, message), state);
                let given = match states[state].variable {
                    Variable::State(element, port) => {
                        let initial = &graph.element(element).initial;
                        initial.iter().find(|(p, _, _)| *p == port as usize).map(|(_, _, span)| *span)
                    }
                    _ => None,
                };
                let diagnostic = given.into_iter().fold(diagnostic, Diagnostic::at);
                diagnostic.help("give an initial state with a finite value")
            }
            Failure::NotFinite { t, state } => {
                let name = &states[state].name;
                let message = format!("at t = {} the rate of `{name}` is infinite or undefined", short(t));
                let (tried, x) = outcome.tried.clone().unwrap_or((t, outcome.states.clone()));
                match self.culprit(tried, &x) {
                    Some((law, help)) => law.map_or_else(
                        || at(new(code::CANNOT_SIMULATE, message.clone()), state),
                        |span| new(code::CANNOT_SIMULATE, message.clone()).at(span),
                    ).help(help),
                    None => at(new(code::CANNOT_SIMULATE, message), state)
                        .help("look for a division by zero, or a root or logarithm of a negative number, at this state"),
                }
            }
            Failure::InconsistentInitial { dependent } => {
                contradiction(graph, &simulation.equations.dependent[dependent])
            }
            Failure::NoJump { t, state } => {
                let name = &states[state].name;
                let message = format!("at t = {} the jump of `{name}` cannot be calculated", short(t));
                at(new(code::CANNOT_SIMULATE, message), state).help(
                    "its size and the state after it determine each other, or it comes of an impulse in a law that is not linear; put a small resistance between the source and the storage",
                )
            }
            Failure::NoSolution { t, unknown } => {
                let constraint = &simulation.equations.constraints[unknown];
                let values = self.values_at(t, &outcome.states);
                if let Some((constraint, state)) = values.ok().and_then(|values| self.undecided(&values)) {
                    let name = &constraint.name;
                    let message = format!("at t = {} no equation decides the value of `{name}`", short(t));
                    let help = format!(
                        "while `{}` is zero every value will do, or none: begin elsewhere, or put a small resistance next to the storage",
                        state.name
                    );
                    let diagnostic = new(code::CANNOT_SIMULATE, message).help(help);
                    let span = constraint.elements.first().map(|element| graph.element(*element).span);
                    return span.into_iter().fold(diagnostic, Diagnostic::at);
                }
                let any_more = if t > 0.0 { " any more" } else { "" };
                let message = format!(
                    "at t = {} no value of `{}` satisfies its law{any_more}",
                    short(t),
                    constraint.name
                );
                let diagnostic = new(code::CANNOT_SIMULATE, message);
                // What the unknown depends on may have no value itself.
                let (tried, x) = outcome.tried.clone().unwrap_or((t, outcome.states.clone()));
                if let Some((Some(law), help)) = self.culprit(tried, &x) {
                    return diagnostic.at(law).help(help);
                }
                let diagnostic = match constraint.elements.first() {
                    Some(element) => diagnostic.at(graph.element(*element).span),
                    None => diagnostic,
                };
                diagnostic.help("check that the law can be met by the effort or flow it receives; a small storage next to the element breaks the loop")
            }
            Failure::StepTooSmall { t, state } => {
                let message = format!(
                    "at t = {} steps become too small to go on; `{}` changes fastest",
                    short(t),
                    states[state].name
                );
                at(new(code::CANNOT_SIMULATE, message), state).help(Remedy::marked(
                    "the solution may run to infinity here; try {option solver=stiff}, or larger tolerances",
                ))
            }
            Failure::TooManySteps { t } => {
                let message = format!(
                    "at t = {} the limit of {} steps is reached",
                    short(t),
                    simulation.options.max_steps
                );
                new(code::CANNOT_SIMULATE, message).help(Remedy::marked(
                    "try {option solver=stiff}, larger tolerances, or an earlier {option t_end}",
                ))
            }
            Failure::Chattering { t, event } => {
                let event = simulation.compiled.events.get(event).map_or("", String::as_str);
                let message =
                    format!("at t = {} `{event}` switches back and forth without time going on", short(t));
                let elements = self.switching(event);
                let mut spans = elements.iter().map(|element| graph.element(*element).span);
                let diagnostic =
                    spans.next().into_iter().fold(new(code::CHATTERING, message), Diagnostic::at);
                spans
                    .take(3)
                    .fold(diagnostic, |diagnostic, span| diagnostic.label(span, "this law switches too"))
            }
        }
    }

    /// The elements whose laws switch, first those that read this condition.
    fn switching(&self, event: &str) -> Vec<ElementId> {
        /// Longer laws are not searched.
        const LONGEST: u64 = 10_000;
        let switches = |node: &Expr| match self.pool.node(*node) {
            Node::Compare(..) => true,
            Node::Call(f, _) => matches!(f, Func::Sign | Func::Abs | Func::Min | Func::Max),
            _ => false,
        };
        let mut found: Vec<(bool, ElementId)> = Vec::new();
        for assignment in &self.simulation.equations.assignments {
            let Some(element) = assignment.element else { continue };
            if self.pool.reachable(&[assignment.definition]).iter().any(switches) {
                let short = self.pool.written_size(assignment.value) < LONGEST;
                let reads = short && self.pool.display(assignment.value).to_string().contains(event);
                found.push((!reads, element));
            }
        }
        found.sort_unstable();
        found.dedup_by_key(|(_, element)| *element);
        found.into_iter().map(|(_, element)| element).collect()
    }

    /// The first law without a value at a time and state: its place, and what is wrong with it.
    fn culprit(&self, t: f64, x: &[f64]) -> Option<(Option<Span>, String)> {
        let (graph, equations) = (&self.simulation.graph, &self.simulation.equations);
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
                    .filter_map(|s| Some(format!("`{}` = {}", self.pool.name(s), short(*values.get(&s)?))))
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
    fn values_at(&self, t: f64, x: &[f64]) -> Result<BTreeMap<Symbol, f64>, (Span, String)> {
        let (graph, equations) = (&self.simulation.graph, &self.simulation.equations);
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
    fn undecided(&self, values: &BTreeMap<Symbol, f64>) -> Option<(&'a Constraint, &'a State)> {
        let equations = &self.simulation.equations;
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

/// A number as people read it.
fn short(value: f64) -> String {
    let text = format!("{value:.6}");
    if value == 0.0 || (value.abs() >= 1e-3 && value.abs() < 1e6) {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        format!("{value:.5e}")
    }
}
