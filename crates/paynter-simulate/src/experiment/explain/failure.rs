//! Why a run ended early.

use super::Explanation;
use crate::tolerance::{HARDLY_LEFT_ZERO, LONG_RUN_SHARE};
use crate::{Failure, Outcome};
use paynter_base::number::moment;
use paynter_base::{Diagnostic, Remedy, code};
use paynter_equations::contradiction;
use paynter_graph::Variable;

/// Says that a simulation cannot go on.
fn cannot(message: String) -> Diagnostic {
    Diagnostic::new(code::CANNOT_SIMULATE, message)
}

impl Explanation<'_> {
    /// Says why a run ended early.
    pub(super) fn failure(&self, outcome: &Outcome, failure: Failure) -> Diagnostic {
        let simulation = self.simulation;
        let states = &simulation.program.equations.states;
        match failure {
            Failure::Cancelled => cannot("the simulation was stopped".to_owned()),
            Failure::BadInitial { state } => self.bad_initial(state),
            Failure::NotFinite { t, state } => self.not_finite(outcome, t, state),
            Failure::InconsistentInitial { dependent } => {
                contradiction(&simulation.graph, &simulation.program.equations.dependent[dependent])
            }
            Failure::NoJump { t, state } => {
                let name = &states[state].name;
                let message = format!("at t = {} the jump of `{name}` cannot be calculated", moment(t));
                self.at_state(cannot(message), state).help(
                    "its size and the state after it determine each other, or it comes of an impulse in a law \
                     that is not linear; put a small resistance between the source and the storage",
                )
            }
            Failure::NoSolution { t, unknown } => self.no_solution(outcome, t, unknown),
            Failure::StepTooSmall { t, state } => {
                let name = &states[state].name;
                let end = simulation.options.t_end;
                // Far from the end it is the length of the run that limits the steps.
                let (why, remedy) = match t.abs() < LONG_RUN_SHARE * end {
                    true => (
                        format!(" in a run to {}", moment(end)),
                        "try an earlier {option t_end}, {option solver=stiff}, or larger tolerances; the solution may \
                         also run to infinity here",
                    ),
                    false => (
                        String::new(),
                        "the solution may run to infinity here; try {option solver=stiff}, or larger tolerances",
                    ),
                };
                let at = moment(t);
                let message =
                    format!("at t = {at} steps become too small to go on{why}; `{name}` changes fastest");
                self.at_state(cannot(message), state).help(Remedy::marked(remedy))
            }
            Failure::TooManySteps { t } => {
                let most = simulation.options.max_steps;
                cannot(format!("at t = {} the limit of {most} steps is reached", moment(t))).help(
                    Remedy::marked(
                        "try {option solver=stiff}, larger tolerances, or an earlier {option t_end}",
                    ),
                )
            }
            Failure::Chattering { t, event } => self.chattering(t, event),
        }
    }

    /// Puts a diagnostic where a state is declared.
    pub(super) fn at_state(&self, diagnostic: Diagnostic, state: usize) -> Diagnostic {
        let state = self.simulation.program.equations.states.get(state);
        let span = state.and_then(|state| self.simulation.graph.state_span(state.variable));
        span.into_iter().fold(diagnostic, Diagnostic::at)
    }

    fn bad_initial(&self, state: usize) -> Diagnostic {
        let declared = &self.simulation.program.equations.states[state];
        let message = format!("the initial value of `{}` is not finite", declared.name);
        let diagnostic = self.at_state(cannot(message), state);
        let given = match declared.variable {
            Variable::State(element, port) => {
                let initial = &self.simulation.graph.element(element).initial;
                initial.iter().find(|(p, _, _)| *p == port as usize).map(|(_, _, span)| *span)
            }
            _ => None,
        };
        let diagnostic = given.into_iter().fold(diagnostic, Diagnostic::at);
        diagnostic.help("give an initial state with a finite value")
    }

    fn not_finite(&self, outcome: &Outcome, t: f64, state: usize) -> Diagnostic {
        let name = &self.simulation.program.equations.states[state].name;
        let message = format!("at t = {} the rate of `{name}` is infinite or undefined", moment(t));
        let (tried, x) = outcome.tried.clone().unwrap_or((t, outcome.states.clone()));
        match self.culprit(tried, &x) {
            Some((Some(law), help)) => cannot(message).at(law).help(help),
            Some((None, help)) => self.at_state(cannot(message), state).help(help),
            None => self.at_state(cannot(message), state).help(
                "look for a division by zero, or a root or logarithm of a negative number, at this state",
            ),
        }
    }

    fn no_solution(&self, outcome: &Outcome, t: f64, unknown: usize) -> Diagnostic {
        let graph = &self.simulation.graph;
        let constraint = &self.simulation.program.equations.constraints[unknown];
        // What has hardly left its zero is zero.
        let largest = outcome.states.iter().fold(0.0f64, |most, x| most.max(x.abs()));
        let zeroed = |x: &f64| if x.abs() <= HARDLY_LEFT_ZERO * largest { 0.0 } else { *x };
        let states: Vec<f64> = outcome.states.iter().map(zeroed).collect();
        let values = self.values_at(t, &states);
        if let Some((constraint, state)) = values.ok().and_then(|values| self.undecided(&values)) {
            let name = &constraint.name;
            let message = format!("at t = {} no equation decides the value of `{name}`", moment(t));
            let help = format!(
                "while `{}` is zero every value will do, or none: begin elsewhere, or put a small resistance next \
                 to the storage",
                state.name
            );
            let span = constraint.elements.first().map(|element| graph.element(*element).span);
            return span.into_iter().fold(cannot(message).help(help), Diagnostic::at);
        }
        let any_more = if t > 0.0 { " any more" } else { "" };
        let name = &constraint.name;
        let diagnostic =
            cannot(format!("at t = {} no value of `{name}` satisfies its law{any_more}", moment(t)));
        // What the unknown depends on may have no value itself.
        let (tried, x) = outcome.tried.clone().unwrap_or((t, outcome.states.clone()));
        if let Some((Some(law), help)) = self.culprit(tried, &x) {
            return diagnostic.at(law).help(help);
        }
        let span = constraint.elements.first().map(|element| graph.element(*element).span);
        span.into_iter().fold(diagnostic, Diagnostic::at).help(
            "check that the law can be met by the effort or flow it receives; a small storage next to the \
             element breaks the loop",
        )
    }

    fn chattering(&self, t: f64, event: usize) -> Diagnostic {
        let event = self.simulation.program.compiled.events.get(event).map_or("", String::as_str);
        let message = format!(
            "at t = {} `{event}` switches back and forth without time going on (chattering)",
            moment(t)
        );
        let elements = self.switching(event);
        let mut spans = elements.iter().map(|element| self.simulation.graph.element(*element).span);
        let diagnostic = Diagnostic::new(code::CHATTERING, message);
        let diagnostic = spans.next().into_iter().fold(diagnostic, Diagnostic::at);
        spans.take(3).fold(diagnostic, |diagnostic, span| diagnostic.label(span, "this law switches too"))
    }
}
