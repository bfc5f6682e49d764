//! A disturbance injected into a loop: what reads a signal, or receives the effort of a bond, gets a new
//! input added to it. The loop stays closed and its operating point what it was; the loop gain follows
//! from how what is injected comes back.

use paynter_algebra::{Expr, Pool};
use paynter_base::{Diagnostic, Span, closest, code};
use paynter_graph::{
    BondGraph, BondId, Causality, End, Input, Origin, Output, Override, Variable, flat_name,
};
use rustc_hash::FxHashMap;

use crate::build::Builder;

/// A graph with a disturbance. Its last input is the disturbance, its last output what comes back.
#[derive(Debug, Clone)]
pub struct Injection {
    /// The graph.
    pub graph: BondGraph,
    /// What was opened, by its name.
    pub place: String,
}

/// The names at which a loop can be opened, in text order: signals, then bonds.
fn loop_places(graph: &BondGraph) -> Vec<String> {
    let signals = graph.signals.iter().map(|signal| flat_name(&signal.name));
    let integrators = graph.integrators.iter().map(|integrator| flat_name(&integrator.name));
    signals.chain(integrators).chain(graph.bonds.iter().map(|bond| flat_name(&bond.name))).collect()
}

/// Injects a disturbance at a signal or a bond; fails where the name is neither. A bond may be named by its
/// effort or its flow too: they belong to one loop.
pub fn inject(
    pool: &mut Pool,
    graph: &BondGraph,
    causality: &Causality,
    name: &str,
) -> Result<Injection, Box<Diagnostic>> {
    let same = |known: &str| flat_name(known) == flat_name(name);
    let signal = graph.signals.iter().position(|signal| same(&signal.name));
    let signal = signal.map(|k| Variable::Signal(k as u32)).or_else(|| {
        let place = graph.integrators.iter().position(|integrator| same(&integrator.name));
        place.map(|k| Variable::Integrator(k as u32))
    });
    match (signal, bond_named(graph, &flat_name(name))) {
        (Some(variable), _) => Ok(at_signal(pool, graph, variable)),
        (None, Some(bond)) => Ok(at_bond(pool, graph, causality, bond)),
        (None, None) => Err(Box::new(no_such_loop(graph, name))),
    }
}

fn no_such_loop(graph: &BondGraph, name: &str) -> Diagnostic {
    let known = loop_places(graph);
    let message = format!("the model has no signal and no bond `{name}`");
    let diagnostic = Diagnostic::new(code::NO_SUCH_LOOP, message);
    match closest(&flat_name(name), known.iter().map(String::as_str)) {
        Some(near) => diagnostic.help(format!("did you mean `{near}`?")),
        None => diagnostic.help(format!("it can be opened at {}", known.join(", "))),
    }
}

/// The bond that a name means: its own, that of its effort or flow, or that of a one-port.
fn bond_named(graph: &BondGraph, name: &str) -> Option<BondId> {
    let own = |bond: &BondId| {
        let bare = flat_name(&graph.bond(*bond).name);
        let variables = ['e', 'f'].map(|letter| format!("{bare}.{letter}"));
        let shown = ['e', 'f'].map(|letter| graph.bond_variable_name(*bond, letter));
        bare == name || variables.iter().chain(&shown).any(|known| known == name)
    };
    graph.bond_ids().find(own).or_else(|| {
        let element = graph.elements.iter().find(|element| flat_name(&element.name) == name)?;
        match element.ports.as_slice() {
            [port] => Some(port.bond),
            _ => None,
        }
    })
}

/// A new input with a name that the graph does not use.
fn disturbance(pool: &mut Pool, graph: &mut BondGraph, span: Span) -> Expr {
    let mut names = graph.parameters.iter().map(|p| p.name.as_str()).collect::<Vec<_>>();
    names.extend(graph.inputs.iter().map(|i| i.name.as_str()));
    names.extend(graph.signals.iter().map(|s| s.name.as_str()));
    names.extend(graph.integrators.iter().map(|i| i.name.as_str()));
    names.extend(graph.derived.iter().map(|d| d.name.as_str()));
    let name = std::iter::once("injected".to_owned())
        .chain((2..).map(|k| format!("injected_{k}")))
        .find(|name| !names.contains(&name.as_str()))
        .unwrap_or_default();
    let symbol = pool.fresh(&name);
    let place = Variable::Input(graph.inputs.len() as u32);
    graph.variables.insert(place, symbol);
    let value = pool.zero();
    graph.inputs.push(Input { name, symbol, value, given: true, unit: None, doc: None, span });
    pool.var(symbol)
}

/// Adds what comes back as an output.
fn returned(graph: &mut BondGraph, value: Expr, span: Span) {
    let taken = |name: &str| graph.outputs.iter().any(|output| output.name == name);
    let name = std::iter::once("returned".to_owned())
        .chain((2..).map(|k| format!("returned_{k}")))
        .find(|name| !taken(name))
        .unwrap_or_default();
    graph.outputs.push(Output { name, value, unit: None, doc: None, span });
}

/// What reads the signal reads the sum with the disturbance; its own definition does not.
fn at_signal(pool: &mut Pool, graph: &BondGraph, variable: Variable) -> Injection {
    let mut graph = graph.clone();
    let (name, symbol, span) = match variable {
        Variable::Integrator(k) => {
            let integrator = &graph.integrators[k as usize];
            (integrator.name.clone(), integrator.symbol, integrator.span)
        }
        Variable::Signal(k) => {
            let signal = &graph.signals[k as usize];
            (signal.name.clone(), signal.symbol, signal.span)
        }
        _ => return Injection { graph, place: String::new() },
    };
    let added = disturbance(pool, &mut graph, span);
    let own = pool.var(symbol);
    let sum = pool.add(own, added);
    let map = FxHashMap::from_iter([(symbol, sum)]);
    let mut read = |expr: Expr| pool.substitute(expr, &map);
    graph.elements.iter_mut().for_each(|element| element.law.rewrite(&mut read));
    for (k, signal) in graph.signals.iter_mut().enumerate() {
        if variable != Variable::Signal(k as u32) {
            signal.value = read(signal.value);
        }
    }
    for (k, integrator) in graph.integrators.iter_mut().enumerate() {
        if variable != Variable::Integrator(k as u32) {
            integrator.rate = read(integrator.rate);
        }
    }
    graph.outputs.iter_mut().for_each(|output| output.value = read(output.value));
    returned(&mut graph, own, span);
    Injection { graph, place: flat_name(&name) }
}

/// A source of effort in series with the bond, beside the end that receives its effort.
fn at_bond(pool: &mut Pool, graph: &BondGraph, causality: &Causality, bond: BondId) -> Injection {
    let mut builder = Builder::new(graph.clone());
    let (name, span) = (graph.bond(bond).name.clone(), graph.bond(bond).span);
    let receiver = causality.effort_into(graph, bond);
    let End { element, port } =
        if graph.bond(bond).to.element == receiver { graph.bond(bond).to } else { graph.bond(bond).from };
    let added = disturbance(pool, &mut builder.graph, span);
    let points_into = builder.points_into(element, port as usize);
    let of = graph.element(element).original().to_owned();
    let junction = builder.junction(element, &name, port as usize, false);
    // The source takes power from the junction: e beyond is e before minus its own along the arrow.
    let value = if points_into { pool.neg(added) } else { added };
    builder.sink(junction, format!("injection_{name}"), false, value, Origin::Junction { of });
    builder.graph.overrides.retain(|given| !matches!(given, Override::Stroke { bond: b, .. } if *b == bond));
    builder.finish();
    let mut graph = builder.graph;
    let effort = graph.symbol(pool, Variable::Effort(bond));
    let effort = pool.var(effort);
    returned(&mut graph, effort, span);
    Injection { graph, place: flat_name(&name) }
}
