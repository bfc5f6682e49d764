//! Questions about sensitivities in symbols: S(s) expanded, as products, with
//! what moves an operating point.

use crate::linear::decided;
use crate::{Linear, Model, NoAnswer, TERMS};
use paynter_algebra::poly::Budget;
use paynter_algebra::{Expr, Pool, Symbol};
use paynter_base::{Diagnostic, Diagnostics, Ticket, closest, code};
use paynter_equations::{
    Parameter, Sensitivities, Wish, increments, operating_shift, products, sensitivities,
};
use paynter_graph::{BondGraph, Element, Kind, flat_name};
use paynter_numerics::parametric::Moved;
use paynter_view::json::{self, Naming, SensitivityParts};

/// What the product form may cost.
const PRODUCTS: Budget = Budget { terms: 20_000, steps: 20_000_000 };

/// Which sensitivities are asked for, and how.
#[derive(Debug, Clone)]
pub struct SensitivityOptions {
    /// Only these parameters; all where empty.
    pub only: Vec<String>,
    /// Relative ones, (p/H)·∂H/∂p.
    pub normalized: bool,
    /// B̃ and D̃ of the incremental model as well.
    pub matrices: bool,
    /// Hold the operating point of a nonlinear model fixed.
    pub frozen: bool,
    /// Polynomials are written out up to so many terms.
    pub terms: usize,
}

impl Default for SensitivityOptions {
    fn default() -> SensitivityOptions {
        SensitivityOptions {
            only: Vec::new(),
            normalized: false,
            matrices: false,
            frozen: false,
            terms: TERMS,
        }
    }
}

impl Model {
    /// Tells the sensitivities of the transfer matrix, in symbols.
    pub fn sensitivity(
        &mut self,
        options: &SensitivityOptions,
        naming: Naming,
        ticket: &Ticket,
    ) -> Result<json::Sensitivity, NoAnswer> {
        let linear = self.linear_to_move(ticket)?;
        let Some(graph) = self.graph.clone() else { return Err(NoAnswer::Wrong(self.diagnostics.clone())) };
        let chosen = chosen(&graph, &options.only).map_err(|found| self.refused(*found))?;
        if let Some(missing) = without_paths(&graph) {
            return Err(self.refused(missing));
        }
        let moved = self.moved(&linear, &graph, &chosen, options.frozen)?;
        let parameters = self.parameters(&linear, &graph, &moved, options.frozen, ticket);
        let Linear { equations, space, point, .. } = &linear;
        let wish = Wish { normalized: options.normalized, budget: Budget::of_terms(options.terms) };
        let found = sensitivities(&mut self.pool, equations, space, &parameters, wish, ticket)?;
        if let Some(reason) = &found.shared {
            let terms = options.terms;
            let message = format!(
                "the sensitivities are not written out, because {reason}; the budget is {terms} terms"
            );
            self.diagnostics.push(Diagnostic::new(code::TOO_LONG, message));
        }
        let places = match (&found.shared, point) {
            (None, None) => products(&mut self.pool, &graph, equations, &parameters, PRODUCTS, ticket)?,
            _ => None,
        };
        let columns = options.matrices.then(|| increments(&mut self.pool, equations, &parameters, ticket));
        let idle = idle(&mut self.pool, &found, chosen.len());
        let names = |list: &[usize]| -> Vec<String> {
            list.iter().map(|k| naming.name(&graph.parameters[*k].name)).collect()
        };
        let idle: Vec<usize> = idle.into_iter().map(|k| chosen[k]).collect();
        for k in &idle {
            self.diagnostics.push(without_effect(&graph, *k));
        }
        self.diagnostics.sort();
        let parts = SensitivityParts {
            equations,
            parameters: names(&chosen),
            normalized: options.normalized,
            found: &found,
            products: places.as_ref(),
            increments: columns.as_ref(),
            without_effect: names(&idle),
        };
        let mut answer = json::Sensitivity::new(&mut self.pool, &graph, parts, naming, Vec::new());
        answer.operating_point = linear.named_point(&self.pool);
        answer.frozen = options.frozen;
        self.add_modes(&linear, &moved, &mut answer, ticket)?;
        self.diagnostics.sort();
        answer.diagnostics = json::Diagnostic::list(&self.diagnostics, &self.sources);
        Ok(answer)
    }

    /// What the parameters carry along, in symbols where these stay short, else in numbers.
    fn parameters(
        &mut self,
        linear: &Linear,
        graph: &BondGraph,
        moved: &[Moved],
        frozen: bool,
        ticket: &Ticket,
    ) -> Vec<Parameter> {
        let symbols: Vec<Symbol> = moved.iter().map(|list| list[0].0).collect();
        let in_symbols = (linear.point.is_some() && !frozen)
            .then(|| {
                let near = decided(&mut self.pool, &linear.equations, &linear.values);
                operating_shift(&mut self.pool, graph, &near, &symbols, ticket)
            })
            .flatten()
            .filter(|shifts| agree(&self.pool, linear, shifts, moved));
        if let Some(shifts) = in_symbols {
            let both = symbols.into_iter().zip(shifts);
            return both.map(|(symbol, carried)| Parameter { symbol, carried }).collect();
        }
        let pool = &mut self.pool;
        let number =
            |pool: &mut Pool, value: f64| pool.decimal(&format!("{value:e}")).unwrap_or_else(|| pool.zero());
        let parameter = |list: &Moved| Parameter {
            symbol: list[0].0,
            carried: list[1..].iter().map(|(symbol, slope)| (*symbol, number(pool, *slope))).collect(),
        };
        moved.iter().map(parameter).collect()
    }

    /// All findings and one more that ends the work.
    pub(crate) fn refused(&self, diagnostic: Diagnostic) -> NoAnswer {
        let mut diagnostics: Diagnostics = self.diagnostics.clone();
        diagnostics.push(diagnostic);
        NoAnswer::Wrong(diagnostics)
    }
}

/// Whether the derivatives in symbols have the values found in numbers.
fn agree(pool: &Pool, linear: &Linear, shifts: &[Vec<(Symbol, Expr)>], moved: &[Moved]) -> bool {
    let near = |a: f64, b: f64| (a - b).abs() <= 1e-6 * a.abs().max(b.abs()).max(1e-300);
    shifts.iter().zip(moved).all(|(shift, moved)| {
        moved[1..].iter().all(|(symbol, slope)| {
            let own = shift.iter().find(|(other, _)| other == symbol);
            let value = own.map_or(Ok(0.0), |(_, e)| pool.eval(*e, &|symbol| linear.value(symbol)));
            value.is_ok_and(|value| near(value, *slope))
        })
    })
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
pub(crate) fn without_paths(graph: &BondGraph) -> Option<Diagnostic> {
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
