//! Questions about sensitivities: S(s) in symbols.

use crate::{Linear, Model, NoAnswer};
use paynter_algebra::Pool;
use paynter_algebra::poly::Budget;
use paynter_base::{Diagnostic, Diagnostics, Ticket, closest, code};
use paynter_equations::{Parameter, Sensitivities, Wish, increments, products, sensitivities};
use paynter_graph::{BondGraph, Element, Kind, flat_name};
use paynter_view::json::{self, Naming, SensitivityParts};

/// What writing all sensitivities out may cost.
const BUDGET: Budget = Budget { terms: 200_000, steps: 100_000_000 };

/// What the product form may cost.
const PRODUCTS: Budget = Budget { terms: 20_000, steps: 20_000_000 };

/// Which sensitivities are asked for, and how.
#[derive(Debug, Clone, Default)]
pub struct SensitivityOptions {
    /// Only these parameters; all where empty.
    pub only: Vec<String>,
    /// Relative ones, (p/H)·∂H/∂p.
    pub normalized: bool,
    /// B̃ and D̃ of the incremental model as well.
    pub matrices: bool,
}

impl Model {
    /// Tells the sensitivities of the transfer matrix, in symbols.
    pub fn sensitivity(
        &mut self,
        options: &SensitivityOptions,
        naming: Naming,
        ticket: &Ticket,
    ) -> Result<json::Sensitivity, NoAnswer> {
        let Linear { equations, space, point, .. } = self.linear(ticket)?;
        let Some(graph) = &self.graph else { return Err(NoAnswer::Wrong(self.diagnostics.clone())) };
        let chosen = chosen(graph, &options.only).map_err(|found| self.refused(*found))?;
        if let Some(missing) = without_paths(graph) {
            return Err(self.refused(missing));
        }
        let parameters: Vec<Parameter> = chosen
            .iter()
            .map(|k| Parameter { symbol: graph.parameters[*k].symbol, carried: Vec::new() })
            .collect();
        let wish = Wish { normalized: options.normalized, budget: BUDGET };
        let found = sensitivities(&mut self.pool, &equations, &space, &parameters, wish, ticket)?;
        let places = match (&found.shared, &point) {
            (None, None) => products(&mut self.pool, graph, &equations, &parameters, PRODUCTS, ticket)?,
            _ => None,
        };
        let columns = options.matrices.then(|| increments(&mut self.pool, &equations, &parameters, ticket));
        let idle = idle(&mut self.pool, &found, chosen.len());
        let names = |list: &[usize]| -> Vec<String> {
            list.iter().map(|k| naming.name(&graph.parameters[*k].name)).collect()
        };
        let idle: Vec<usize> = idle.into_iter().map(|k| chosen[k]).collect();
        for k in &idle {
            self.diagnostics.push(without_effect(graph, *k));
        }
        self.diagnostics.sort();
        let parts = SensitivityParts {
            equations: &equations,
            parameters: names(&chosen),
            normalized: options.normalized,
            found: &found,
            products: places.as_ref(),
            increments: columns.as_ref(),
            without_effect: names(&idle),
        };
        let diagnostics = json::Diagnostic::list(&self.diagnostics, &self.sources);
        Ok(json::Sensitivity::new(&mut self.pool, graph, parts, naming, diagnostics))
    }

    /// All findings and one more that ends the work.
    fn refused(&self, diagnostic: Diagnostic) -> NoAnswer {
        let mut diagnostics: Diagnostics = self.diagnostics.clone();
        diagnostics.push(diagnostic);
        NoAnswer::Wrong(diagnostics)
    }
}

/// The places of the parameters that are asked for, in text order.
pub(crate) fn chosen(graph: &BondGraph, only: &[String]) -> Result<Vec<usize>, Box<Diagnostic>> {
    if only.is_empty() {
        return Ok((0..graph.parameters.len()).collect());
    }
    let mut places = Vec::new();
    for name in only {
        let same = |known: &str| known == name || flat_name(known) == *name;
        match graph.parameters.iter().position(|parameter| same(&parameter.name)) {
            Some(place) => places.push(place),
            None => return Err(Box::new(unknown(graph, name))),
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
            .help("the sensitivity to an input is the transfer function: `paynter tf`");
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

/// Says that there is no transfer function to differentiate.
fn without_paths(graph: &BondGraph) -> Option<Diagnostic> {
    let (what, how) = if graph.inputs.is_empty() {
        ("inputs", "write `input NAME = value` and let a source have that value, as in `Se supply = u`")
    } else if graph.outputs.is_empty() {
        ("outputs", "write `output NAME = ELEMENT.f` or any other expression of the model's variables")
    } else {
        return None;
    };
    let message =
        format!("the model has no {what}, so it has no transfer functions whose sensitivities to find");
    let source = |e: &&Element| matches!(e.kind, Kind::Se | Kind::Sf);
    let place = graph.elements.iter().find(source).or(graph.elements.first());
    let diagnostic = Diagnostic::new(code::NO_RESPONSE, message).help(how);
    Some(match place {
        Some(element) => diagnostic.at(element.span),
        None => diagnostic,
    })
}

/// Parameters, by place among those asked for, whose sensitivities are all zero.
fn idle(pool: &mut Pool, found: &Sensitivities, count: usize) -> Vec<usize> {
    let mut moves = vec![false; count];
    let zero = pool.zero();
    for entry in &found.entries {
        if !moves[entry.parameter] && entry.num != zero {
            moves[entry.parameter] = found.shared.is_none() || !pool.is_zero(entry.num);
        }
    }
    let entries = !found.entries.is_empty();
    (0..count).filter(|&k| entries && !moves[k]).collect()
}

fn without_effect(graph: &BondGraph, place: usize) -> Diagnostic {
    let parameter = &graph.parameters[place];
    let message = format!(
        "no transfer function depends on `{}`: its sensitivities are identically zero",
        parameter.name
    );
    Diagnostic::new(code::NO_EFFECT, message).at(parameter.span)
}
