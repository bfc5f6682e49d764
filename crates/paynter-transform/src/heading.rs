//! What is said of a derived graph beside the graph: the comments above its
//! text, and the parameters that nothing depends on.

use std::collections::BTreeSet;

use paynter_algebra::{Pool, Symbol};
use paynter_base::{Diagnostic, Diagnostics, Remedy, code};
use paynter_graph::{BondGraph, Causality, ElementId, Variable};

use crate::incremental::{Begins, Form, Request, all_expressions};
use crate::pseudo::Sensitivity;

/// The comments above the text of an incremental or a linearised graph of `graph`.
pub fn incremental_comments(graph: &BondGraph, request: &Request, begins: &Begins) -> Vec<String> {
    let (what, names) = match (request.form, request.pair) {
        (Form::Linear, false) => (
            "linearised bond graph",
            "Delta_NAME: the change of an input or output. nom_NAME: a nominal variable.",
        ),
        (Form::Linear, true) => {
            ("bond graph and the linearised bond graph", "Delta_NAME: the change of NAME.")
        }
        (Form::Incremental, false) => (
            "incremental bond graph",
            "Delta_NAME: the change of a parameter or output. nom_NAME: a nominal variable. sink_NAME: what a change adds.",
        ),
        (Form::Incremental, true) => (
            "bond graph and the incremental bond graph",
            "Delta_NAME: the change of NAME. sink_NAME: what a change adds.",
        ),
    };
    let mut lines = vec![format!("The {what} of {}.", graph.name), names.to_owned()];
    lines.extend(initial_changes(graph, begins));
    lines
}

/// The comments above the text of a sensitivity bond graph of `graph`.
pub fn sensitivity_comments(graph: &BondGraph, sensitivity: Sensitivity) -> Vec<String> {
    let names = match sensitivity {
        Sensitivity::Weighted => {
            "lambda_NAME: the weight of a parameter in the sums lambda_OUTPUT of sensitivities; s_NAME: what carries them."
        }
        Sensitivity::Each => {
            "d_OUTPUT_d_NAME: the sensitivity of an output to a parameter; s_NAME_…: what carries it."
        }
    };
    vec![format!("The sensitivity bond graph of {}.", graph.name), names.to_owned()]
}

/// Warns of two-ports that causality makes divide by a modulus that changes over time and can vanish, which laws of
/// sensitivity graphs then do as well, and says it in comments.
pub fn vanishing_moduli(
    pool: &Pool,
    graph: &BondGraph,
    causality: &Causality,
    findings: &mut Diagnostics,
) -> Vec<String> {
    let constant = |symbol| matches!(graph.variables.meaning(symbol), Some(Variable::Parameter(_)));
    let mut comments = Vec::new();
    for element in causality.divides.iter().map(|id| graph.element(*id)) {
        let mut read = element.law.expressions().into_iter().flat_map(|e| pool.symbols(e));
        if !element.class().is_converter() || read.all(constant) {
            continue;
        }
        let name = &element.name;
        comments.push(format!("Not to be simulated to where the modulus of {name} is zero."));
        let message = format!(
            "the sensitivity bond graph divides by the modulus of `{name}`, which can vanish; a simulation of it that passes zero goes wrong there without a word"
        );
        let help = Remedy::marked(
            "simulate the pair of both graphs ({option pair}), or the model itself with its sensitivities: {ask simulate sensitivity=all}",
        );
        findings.push(Diagnostic::new(code::VANISHING_MODULUS, message).at(element.span).help(help));
    }
    comments
}

/// What is said of the initial changes that come from the start of the model.
fn initial_changes(graph: &BondGraph, begins: &Begins) -> Vec<String> {
    let list = |ids: &[ElementId]| {
        let ids: BTreeSet<ElementId> = ids.iter().copied().collect();
        let names = ids.into_iter().map(|id| graph.element(id).name.clone());
        names.collect::<Vec<_>>().join(", ")
    };
    let mut lines = Vec::new();
    if !begins.known.is_empty() {
        lines.push(format!(
            "Initial changes are derived from efforts and flows at t = 0, with inputs as they are here: {}.",
            list(&begins.known)
        ));
    }
    if !begins.unknown.is_empty() {
        lines.push(format!(
            "Initial changes are not known, because the model has no value at t = 0, and are left zero: {}.",
            list(&begins.unknown)
        ));
    }
    lines
}

/// Finds the parameters at these places that nothing depends on.
pub fn without_effect(pool: &Pool, graph: &BondGraph, parameters: &[usize], findings: &mut Diagnostics) {
    let mut read: BTreeSet<Symbol> = BTreeSet::new();
    for expr in all_expressions(graph) {
        read.extend(pool.symbols(expr));
    }
    for &place in parameters {
        let parameter = &graph.parameters[place];
        if !read.contains(&parameter.symbol) {
            let message =
                format!("nothing depends on `{}`, so its sensitivities are all zero", parameter.name);
            findings.push(Diagnostic::new(code::NO_EFFECT, message).at(parameter.span));
        }
    }
}
