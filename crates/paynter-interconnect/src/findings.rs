//! What is said beside the model: which parameters are uncertain, what the nominal model has to fulfil, and what
//! is worth knowing of the result.

use std::collections::BTreeSet;

use paynter_base::number::{significant, unit as spelled};
use paynter_base::{Diagnostic, Diagnostics, Remedy, Severity, code};
use paynter_equations::{Equations, QueryError, Structure, Verdict};
use paynter_graph::BondGraph;

use crate::interconnect::refused;
use crate::limits::SCALING_TOLERANCE;
use crate::model::{Block, Interconnection, Quantity};
use crate::posed::{Posed, Singular};
use crate::quantity::UncertainQuantity;

/// What the paper asks of the nominal model before it is made uncertain.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Conditions {
    /// Whether every unstable part can be moved by an input; none where it could not be judged.
    pub stabilisable: Option<bool>,
    /// Whether every unstable part can be seen in an output.
    pub detectable: Option<bool>,
    /// Whether every state can be moved, for almost all values of the parameters.
    pub controllable: bool,
    /// Whether every state can be seen, for almost all values of the parameters.
    pub observable: bool,
    /// The states in parts that no input moves.
    pub unmoved: Vec<usize>,
    /// The states in parts that no output shows.
    pub unseen: Vec<usize>,
}

impl Conditions {
    /// Reads them off the structure, with the real parts of the eigenvalues that are out of reach.
    pub fn new(structure: &Structure, uncontrollable: &[f64], unobservable: &[f64]) -> Conditions {
        let stable = |verdict: &Verdict, eigenvalues: &[f64]| {
            verdict.nominal.as_ref().map(|_| eigenvalues.iter().all(|real| *real < 0.0))
        };
        let (inward, outward) = (&structure.controllability, &structure.observability);
        Conditions {
            stabilisable: stable(inward, uncontrollable),
            detectable: stable(outward, unobservable),
            controllable: inward.structural,
            observable: outward.structural,
            unmoved: out_of_reach(inward),
            unseen: out_of_reach(outward),
        }
    }

    /// Says which elements make the model neither stabilisable nor detectable.
    pub fn findings(&self, graph: &BondGraph, equations: &Equations) -> Diagnostics {
        let mut found = Diagnostics::new();
        let cases = [
            (
                self.stabilisable,
                &self.unmoved,
                code::NOT_STABILISABLE,
                "no input moves an unstable part of the model",
            ),
            (
                self.detectable,
                &self.unseen,
                code::NOT_DETECTABLE,
                "no output shows an unstable part of the model",
            ),
        ];
        for (holds, states, code, what) in cases {
            if holds != Some(false) {
                continue;
            }
            let names: Vec<String> =
                states.iter().map(|k| format!("`{}`", equations.states[*k].name)).collect();
            let message = format!("{what}, which the states {} are in", names.join(", "));
            let mut diagnostic = Diagnostic::new(code, message);
            let span = states.first().and_then(|k| graph.state_span(equations.states[*k].variable));
            if let Some(span) = span {
                diagnostic = diagnostic.at(span);
            }
            found.push(diagnostic);
        }
        found
    }
}

/// The states that take part in what is out of reach.
fn out_of_reach(verdict: &Verdict) -> Vec<usize> {
    let mut states: BTreeSet<usize> = verdict.unreached.iter().chain(&verdict.stuck).copied().collect();
    if let Some(nominal) = &verdict.nominal {
        states.extend(nominal.hidden.iter().flatten().map(|(state, _)| *state));
    }
    states.into_iter().collect()
}

/// The parameters that are uncertain, out of those that are asked for: with tolerances those that have one, else all,
/// or none where the model may be certain.
pub fn uncertain_parameters(
    graph: &BondGraph,
    places: Vec<usize>,
    named: bool,
    normalized: bool,
    may_be_certain: bool,
) -> Result<Vec<usize>, QueryError> {
    let has_tolerance = |place: &usize| graph.parameters[*place].tolerance.is_some();
    if named {
        let without = places.iter().find(|place| !has_tolerance(place)).filter(|_| normalized);
        return match without {
            Some(place) => {
                let parameter = &graph.parameters[*place];
                let message =
                    format!("`{}` has no tolerance by which its δ could be normalised", parameter.name);
                Err(refused(Diagnostic::new(code::NO_TOLERANCE, message).at(parameter.span)))
            }
            None => Ok(places),
        };
    }
    let with: Vec<usize> = places.iter().copied().filter(has_tolerance).collect();
    match (with.is_empty(), normalized) {
        (false, _) => Ok(with),
        (true, _) if may_be_certain => Ok(Vec::new()),
        (true, false) => Ok(places),
        (true, true) => {
            let message = "no parameter has a tolerance by which its δ could be normalised";
            Err(refused(Diagnostic::new(code::NO_TOLERANCE, message)))
        }
    }
}

/// The parameters that a block's quantity depends on.
fn names_of(graph: &BondGraph, block: &Block) -> String {
    let names = block.changes.iter().map(|(_, place)| format!("`{}`", graph.parameters[*place].name));
    names.collect::<Vec<_>>().join(", ")
}

impl Interconnection {
    /// What is worth knowing of the model; refused where it is ill-posed, or nothing is uncertain although it may not
    /// be certain.
    pub fn findings(
        &self,
        graph: &BondGraph,
        asked: &[usize],
        (may_be_certain, may_be_ill_posed): (bool, bool),
    ) -> Result<Diagnostics, QueryError> {
        if self.blocks.is_empty() && !may_be_certain {
            let message = "no parameter is in the coefficients of the equations, so nothing is uncertain";
            return Err(refused(Diagnostic::new(code::NOTHING_UNCERTAIN, message)));
        }
        let unbounded = |block: &&Block| {
            let bounds = block.bounds;
            bounds.is_some_and(|(low, high)| !low.is_finite() || !high.is_finite())
        };
        if let Some(block) = self.blocks.iter().find(unbounded) {
            let message = format!(
                "the value of `{}` has no bound while {} are within their tolerances, so its δ cannot be normalised",
                block.name,
                names_of(graph, block)
            );
            let help = "make the tolerances of these parameters smaller";
            return Err(refused(Diagnostic::new(code::NO_TOLERANCE, message).help(help)));
        }
        let mut found = Diagnostics::new();
        if let Some(Posed::Ill(singular)) = &self.posed {
            let ill_posed = self.ill_posed(graph, singular);
            if !may_be_ill_posed {
                return Err(refused(ill_posed));
            }
            found.push(Diagnostic { severity: Severity::Warning, ..ill_posed });
        }
        for &place in asked {
            let parameter = &graph.parameters[place];
            let reads = |block: &Block| block.changes.iter().any(|(_, other)| *other == place);
            if !self.blocks.iter().any(reads) {
                let message =
                    format!("nothing in the model depends on `{}`, so it has no channel", parameter.name);
                found.push(Diagnostic::new(code::NO_EFFECT, message).at(parameter.span));
            }
        }
        for block in &self.blocks {
            if !block.is_minimal() {
                let (channels, degree) = (block.channels.len(), block.degree);
                let message = format!(
                    "`{}` has {channels} channels; the McMillan degree of the model in it, {degree}, is the least possible number",
                    block.name
                );
                found.push(Diagnostic::new(code::MORE_CHANNELS, message));
            }
            if let Quantity::Value { .. } = block.quantity {
                let message = format!(
                    "the value of `{}` depends on {} in a way that is not rational, so it is uncertain as a whole",
                    block.name,
                    names_of(graph, block)
                );
                found.push(Diagnostic::new(code::UNCERTAIN_VALUE, message));
            }
        }
        Ok(found)
    }

    fn ill_posed(&self, graph: &BondGraph, singular: &Singular) -> Diagnostic {
        let value = |(block, delta): &(usize, f64)| {
            let block = &self.blocks[*block];
            let (low, high) = block.bounds.unwrap_or((block.nominal, block.nominal));
            let (middle, half) = (0.5 * (low + high), 0.5 * (high - low));
            let value = UncertainQuantity::new(block).at(*delta);
            // Rounding of the bounds, and of the scaling, is no value.
            let value =
                if value.abs() <= 2.0 * SCALING_TOLERANCE * middle.abs().max(half) { 0.0 } else { value };
            let unit = match block.quantity {
                Quantity::Parameter(place) => graph.parameters[place].unit.as_ref(),
                Quantity::Value { .. } => None,
            };
            let (factor, unit) =
                unit.map_or((1.0, String::new()), |u| (u.factor, format!(" {}", spelled(&u.text))));
            format!("`{}` = {}{unit}", block.name, significant(value / factor))
        };
        let values: Vec<String> = singular.deltas.iter().map(value).collect();
        let elements: BTreeSet<&str> = (self.channels.iter())
            .filter(|channel| singular.deltas.iter().any(|(block, _)| *block == channel.block))
            .filter_map(|channel| Some(graph.element(channel.element?).name.as_str()))
            .collect();
        let at: Vec<String> = elements.iter().map(|name| format!("`{name}`")).collect();
        let at = if at.is_empty() { String::new() } else { format!(" at {}", at.join(", ")) };
        let whole = (singular.deltas.iter().map(|(block, _)| &self.blocks[*block]))
            .find(|block| matches!(block.quantity, Quantity::Value { .. }));
        let (reason, help) = match whole {
            Some(block) => (
                format!("there `{}` counts as independent of {}", block.name, names_of(graph, block)),
                Some(
                    "make the tolerances smaller, or let fewer parameters be uncertain by {option only=NAME}: a value that is uncertain as a whole is independent of the parameters in it",
                ),
            ),
            None => ("there the model has no solution".to_owned(), None),
        };
        let message = format!(
            "I - D11 Δ is singular within the tolerances{at}, for {} at {} times them: {reason}; it is regular up to {} times the tolerances",
            values.join(", "),
            significant(singular.scale),
            significant(singular.regular)
        );
        let mut diagnostic = Diagnostic::new(code::ILL_POSED, message);
        if let Some(help) = help {
            diagnostic = diagnostic.help(Remedy::marked(help));
        }
        let first = singular.deltas.first().map(|(block, _)| &self.blocks[*block].quantity);
        match first {
            Some(Quantity::Parameter(place)) => diagnostic.at(graph.parameters[*place].span),
            _ => diagnostic,
        }
    }
}

/// Refuses parameters of which none is in the linearised equations.
pub fn only_move_the_point(graph: &BondGraph, places: &[usize]) -> Diagnostic {
    let names: Vec<String> =
        places.iter().map(|place| format!("`{}`", graph.parameters[*place].name)).collect();
    let (are, they) = if names.len() == 1 { ("is", "it") } else { ("are", "they") };
    let message = format!(
        "{} {are} in no coefficient of the linearisation: {they} can only move the operating point, which is held fixed, so nothing is uncertain",
        names.join(", ")
    );
    Diagnostic::new(code::NOTHING_UNCERTAIN, message)
        .help(Remedy::marked(
            "let parameters be uncertain that the linearisation reads, or look at what the point does by {option set}",
        ))
}

/// Says of parameters that are in no coefficient of the linearised equations that they have no channel.
pub fn held_by_the_point(graph: &BondGraph, places: &[usize]) -> Diagnostics {
    let mut found = Diagnostics::new();
    for place in places {
        let parameter = &graph.parameters[*place];
        let message = format!(
            "`{}` is in no coefficient of the linearisation: it can only move the operating point, which is held fixed, so it has no channel",
            parameter.name
        );
        let help = Remedy::marked("keep it: look at what the point does by {option set}");
        found.push(Diagnostic::new(code::NO_EFFECT, message).at(parameter.span).help(help));
    }
    found
}

/// Says which tolerances reach zero, where the scaling of the box ends.
pub fn reaching_zero(quantities: &[UncertainQuantity]) -> Diagnostics {
    let mut found = Diagnostics::new();
    let reaching = quantities.iter().filter(|quantity| quantity.is_parameter && quantity.reach() < 1.0);
    for quantity in reaching {
        let message = format!(
            "the tolerance of `{}` reaches zero at {} times its size and goes beyond: the box is followed up to there",
            quantity.name,
            significant(quantity.reach())
        );
        found.push(Diagnostic::new(code::TOLERANCE_BEYOND_ZERO, message));
    }
    found
}

/// A margin counts in tolerances: to do without them, as the interconnection model can, is no help there.
pub fn in_tolerances(reason: QueryError) -> QueryError {
    let QueryError::Wrong(found) = reason else { return reason };
    let told = found.iter().cloned().map(|finding| {
        match finding.code == code::NO_TOLERANCE && finding.help == code::NO_TOLERANCE.remedy() {
            true => {
                finding.help("give a tolerance to each parameter that is uncertain, as in `param R = 2 ±10%`")
            }
            false => finding,
        }
    });
    let mut findings = Diagnostics::new();
    told.for_each(|finding| findings.push(finding));
    QueryError::Wrong(findings)
}
