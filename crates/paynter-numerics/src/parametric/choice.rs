//! Which parameters, of which transfer functions: what is asked for by name,
//! and what there is to say where it does not exist.

use paynter_base::{Diagnostic, Remedy, closest, code};
use paynter_equations::QueryError;
use paynter_graph::{BondGraph, Element, flat_name};

use crate::linear::refused;

/// The places of the parameters that are asked for, in text order; all where none is named.
pub fn chosen_parameters(graph: &BondGraph, only: &[String]) -> Result<Vec<usize>, QueryError> {
    if only.is_empty() {
        return Ok((0..graph.parameters.len()).collect());
    }
    let mut places = Vec::new();
    for name in only {
        let same = |known: &str| known == name || flat_name(known) == *name;
        match graph.parameters.iter().position(|parameter| same(&parameter.name)) {
            Some(place) => places.push(place),
            None => return Err(refused(unknown(graph, name))),
        }
    }
    places.sort_unstable();
    places.dedup();
    Ok(places)
}

/// Says that a name is no independent parameter, and what it is or may have meant.
fn unknown(graph: &BondGraph, name: &str) -> Diagnostic {
    let same = |known: &str| known == name || flat_name(known) == name;
    if let Some(derived) = graph.derived.iter().find(|derived| same(&derived.name)) {
        let message = format!(
            "`{name}` is defined from other parameters; its sensitivities go to the independent ones"
        );
        return Diagnostic::new(code::NOT_A_PARAMETER, message)
            .at(derived.span)
            .help("name the independent parameters that it is defined from");
    }
    if let Some(input) = graph.inputs.iter().find(|input| same(&input.name)) {
        let message = format!("`{name}` is an input, not a parameter");
        return Diagnostic::new(code::NOT_A_PARAMETER, message)
            .at(input.span)
            .help(Remedy::marked("the sensitivity to an input is the transfer function: {ask tf}"));
    }
    let diagnostic = Diagnostic::new(code::NOT_A_PARAMETER, format!("there is no parameter `{name}`"));
    match closest(name, graph.parameters.iter().map(|parameter| parameter.name.as_str())) {
        Some(near) => diagnostic.help(format!("did you mean `{near}`?")),
        None if graph.parameters.is_empty() => {
            diagnostic.help("the model has no parameters: write `param NAME = value` and use the name")
        }
        None => {
            let mut names: Vec<&str> = graph.parameters.iter().map(|p| p.name.as_str()).collect();
            names.truncate(12);
            diagnostic.help(format!("the parameters are {}", names.join(", ")))
        }
    }
}

/// Refuses a model that has no transfer function to differentiate.
pub(super) fn require_transfer(graph: &BondGraph) -> Result<(), QueryError> {
    let (what, how) = if graph.inputs.is_empty() {
        ("inputs", "write `input NAME = value` and let a source have that value, as in `Se supply = u`")
    } else if graph.outputs.is_empty() {
        ("outputs", "write `output NAME = ELEMENT.f` or any other expression of the model's variables")
    } else {
        return Ok(());
    };
    let message =
        format!("the model has no {what}, so it has no transfer functions whose sensitivities to find");
    let source = |e: &&Element| e.class().is_source();
    let place = graph.elements.iter().find(source).or(graph.elements.first());
    let diagnostic = Diagnostic::new(code::NO_RESPONSE, message).help(how);
    Err(refused(match place {
        Some(element) => diagnostic.at(element.span),
        None => diagnostic,
    }))
}
