//! What was found on the way of a run.

use super::Explanation;
use crate::Note;
use paynter_base::number::moment;
use paynter_base::{Diagnostic, Remedy, code};

impl Explanation<'_> {
    /// Says what a note means; nothing where something else says it.
    pub(super) fn note(&self, note: &Note) -> Option<Diagnostic> {
        let simulation = self.simulation;
        Some(match note {
            Note::Grazing { t, event } => {
                let event = simulation.program.compiled.event_name(*event);
                let what = "touches zero without crossing it (grazing), so sensitivities may jump";
                Diagnostic::new(code::GRAZING, format!("at t = {} `{event}` {what}", moment(*t)))
            }
            Note::Undecided { t, event } => {
                let event = simulation.program.compiled.event_name(*event);
                let what =
                    "switches there could not be decided by interval arithmetic within its limit of work";
                let help = Remedy::marked("compare with a run at a finer {option rtol}");
                Diagnostic::new(code::GRAZING, format!("whether `{event}` after t = {} {what}", moment(*t)))
                    .help(help)
            }
            Note::Impulse { t, output } => {
                let name = &simulation.outputs[*output].name;
                let message = format!(
                    "at t = {} the output `{name}` contains an impulse, which its values do not show",
                    moment(*t)
                );
                self.at_output(Diagnostic::new(code::IMPULSE, message), *output)
            }
            Note::Jump { t } => {
                let accounts = simulation.has_accounts();
                return accounts.then(|| {
                    let message = format!(
                        "at t = {} states jump: the energy of that impulse is in the storages, but in no account of \
                         a source or resistor, and the balance misses it",
                        moment(*t)
                    );
                    Diagnostic::new(code::IMPULSE, message)
                });
            }
            Note::EquivalentControl { t, event } => {
                let event = simulation.program.compiled.event_name(*event);
                let what = "is held at zero by a value between the branches of its law (the equivalent control), \
                            which enters a rate otherwise than linearly";
                Diagnostic::new(
                    code::EQUIVALENT_CONTROL,
                    format!("from t = {} on `{event}` {what}", moment(*t)),
                )
            }
            Note::Zeno { t, event } => {
                let event = simulation.program.compiled.event_name(*event);
                let what = "switches ever faster (Zeno behaviour), and stays at zero from then on";
                Diagnostic::new(code::ZENO, format!("at t = {} `{event}` {what}", moment(*t)))
            }
            Note::NotUnique { t, event } => self.not_unique(*t, *event),
            Note::InfiniteDerivative { t, lane, state } => self.infinite_derivative(*t, *lane, *state),
            Note::UndefinedInitialDerivative { lane, state } => {
                let by = &simulation.wanted[*lane];
                let name = &simulation.program.equations.states[*state].name;
                let message = format!(
                    "there are no derivatives by `{by}`: where the run begins, `{name}` changes infinitely fast \
                     with it"
                );
                let help = "look for a modulus, a divisor or a root that is zero there, and begin beside it";
                self.at_state(Diagnostic::new(code::UNDEFINED_OUTPUT, message).help(help), *state)
            }
            Note::BelowBound { t, quantity, value } => {
                let bounds = simulation.program.bounds.as_ref()?;
                let when = format!("at t = {}", moment(*t));
                bounds.quantities[*quantity].below(self.pool, &simulation.graph, &when, *value)
            }
            Note::Undefined { t, output, lane } => {
                let name = &simulation.outputs[*output].name;
                let what = match lane.and_then(|lane| simulation.wanted.get(lane)) {
                    Some(by) => format!("the derivative of `{name}` by `{by}`"),
                    None => format!("the output `{name}`"),
                };
                let message = format!("at t = {} {what} has no finite value", moment(*t));
                self.at_output(Diagnostic::new(code::UNDEFINED_OUTPUT, message), *output)
            }
        })
    }

    /// Says which laws hold a motion together.
    fn not_unique(&self, t: f64, event: usize) -> Diagnostic {
        let (graph, compiled) = (&self.simulation.graph, &self.simulation.program.compiled);
        let elements = compiled.jumping.get(event).map_or(&[][..], Vec::as_slice);
        let names: Vec<String> =
            elements.iter().map(|element| format!("`{}`", graph.element(*element).name)).collect();
        let (when, function) = (moment(t), compiled.event_name(event));
        let message = match names.len() {
            0 | 1 => {
                let own = names.first().map_or_else(String::new, |name| format!(" by {name}"));
                format!(
                    "from t = {when} on other laws hold `{function}` at zero, so that the force{own} is not \
                     unique; the smallest is taken"
                )
            }
            _ => format!(
                "from t = {when} on {} hold `{function}` at zero together, and their forces are not unique; \
                 the smallest are taken, each the same part of its limit",
                names.join(", ")
            ),
        };
        let diagnostic = Diagnostic::new(code::SHARED_FORCE, message);
        elements.first().into_iter().fold(diagnostic, |d, element| d.at(graph.element(*element).span))
    }

    fn infinite_derivative(&self, t: f64, lane: usize, state: Option<usize>) -> Diagnostic {
        let by = &self.simulation.wanted[lane];
        let name = state.map(|state| &self.simulation.program.equations.states[state].name);
        let with = name.map_or_else(|| "it".to_owned(), |name| format!("`{name}`, which it moves"));
        let message = format!(
            "from t = {} on there are no derivatives by `{by}`: a rate changes infinitely fast with {with}",
            moment(t)
        );
        let help = "look for a root at zero; begin beside it, or take a law with a finite derivative there";
        let diagnostic = Diagnostic::new(code::UNDEFINED_OUTPUT, message).help(help);
        state.into_iter().fold(diagnostic, |diagnostic, state| self.at_state(diagnostic, state))
    }

    /// Puts a diagnostic where an output is declared.
    fn at_output(&self, diagnostic: Diagnostic, output: usize) -> Diagnostic {
        let declared = self.simulation.graph.outputs.get(output);
        declared.into_iter().fold(diagnostic, |diagnostic, output| diagnostic.at(output.span))
    }
}
