//! Compares a flattened graph with what the generator meant: names, kinds,
//! ports and arrows exactly, expressions by their values at a random point.

use paynter_algebra::{Expr, Pool, Symbol};
use paynter_graph::{BondGraph, ElementId, Law, Variable, flat_name};
use paynter_testkit::expr::Expr as Meant;
use paynter_testkit::structure::{Law as MeantLaw, Meaning, Structure};
use std::collections::BTreeMap;

/// Which element and bond of the graph is which of the structure.
pub struct Matched {
    /// By the structure's element: the graph's.
    pub elements: Vec<usize>,
    /// By the structure's bond: the graph's.
    pub bonds: Vec<usize>,
}

impl Matched {
    /// Finds the counterparts, by name and by ends.
    pub fn new(structure: &Structure, graph: &BondGraph) -> Result<Matched, String> {
        let by_name: BTreeMap<&str, usize> = graph
            .elements
            .iter()
            .enumerate()
            .map(|(index, element)| (element.name.as_str(), index))
            .collect();
        if by_name.len() != structure.elements.len() {
            return Err(format!("{} elements instead of {}", by_name.len(), structure.elements.len()));
        }
        let mut elements = Vec::new();
        for element in &structure.elements {
            let found =
                *by_name.get(element.name.as_str()).ok_or(format!("no element `{}`", element.name))?;
            if graph.elements[found].kind.word() != element.kind.word() {
                return Err(format!("`{}` has another kind", element.name));
            }
            elements.push(found);
        }
        // Bonds between the same ports of two junctions are alike; they are taken in order.
        let mut open: BTreeMap<[usize; 4], Vec<usize>> = BTreeMap::new();
        for (index, bond) in graph.bonds.iter().enumerate().rev() {
            let port = |end: paynter_graph::End| {
                let junction = paynter_graph::is_junction(graph.element(end.element).kind);
                if junction { 0 } else { end.port as usize + 1 }
            };
            let key = [bond.from.element.index(), port(bond.from), bond.to.element.index(), port(bond.to)];
            open.entry(key).or_default().push(index);
        }
        if graph.bonds.len() != structure.bonds.len() {
            return Err(format!("{} bonds instead of {}", graph.bonds.len(), structure.bonds.len()));
        }
        let mut bonds = Vec::new();
        // Named bonds first, so that a name finds its own among bonds that are alike.
        let mut order: Vec<usize> = (0..structure.bonds.len()).collect();
        order.sort_by_key(|index| structure.bonds[*index].name.is_none());
        let mut found = vec![0; structure.bonds.len()];
        for index in order {
            let bond = &structure.bonds[index];
            let (from, to) = (elements[bond.from.element], elements[bond.to.element]);
            let list = open.get_mut(&[from, bond.from.port, to, bond.to.port]);
            let names = [bond.from, bond.to].map(|end| structure.elements[end.element].name.as_str());
            let missing = || format!("no bond {} -> {}", names[0], names[1]);
            let list = list.ok_or_else(missing)?;
            let slot = match &bond.name {
                Some(name) => list.iter().position(|candidate| graph.bonds[*candidate].name == *name),
                None => list.len().checked_sub(1),
            };
            found[index] = list.remove(slot.ok_or_else(missing)?);
        }
        bonds.append(&mut found);
        Ok(Matched { elements, bonds })
    }
}

/// A number that belongs to a name, the same on both sides.
fn number(key: &str) -> f64 {
    let mut hash: u64 = 0xCBF2_9CE4_8422_2325;
    for byte in key.bytes() {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3);
    }
    hash ^= hash >> 29;
    0.5 + (hash.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 11) as f64 / (1u64 << 53) as f64
}

/// The values on both sides.
struct Values<'a> {
    structure: &'a Structure,
    graph: &'a BondGraph,
    pool: &'a Pool,
    names: BTreeMap<String, Meaning>,
    states: Vec<String>,
    /// The structure's bond of each of the graph's.
    bond_of: Vec<usize>,
    params: BTreeMap<String, f64>,
}

impl Values<'_> {
    /// A meant expression's value; `element` gives the braces it stands in.
    fn meant(&self, expression: &Meant, element: Option<usize>) -> Option<f64> {
        expression.evaluate(&|name: &str| {
            if name == "t" {
                return Some(number("t"));
            }
            let local = element.filter(|index| {
                let ports = self.structure.elements[*index].ports;
                let mut letters = name.chars();
                let letter = letters.next().is_some_and(|letter| "efqp".contains(letter));
                let digits = letters.as_str();
                letter && if ports == 1 { digits.is_empty() } else { digits.parse::<usize>().is_ok() }
            });
            if local.is_some() {
                return Some(number(&format!("local {name}")));
            }
            Some(match self.names.get(name)? {
                Meaning::Param(index) => self.params[&self.structure.params[*index].name],
                Meaning::Effort(bond) => number(&format!("effort {bond}")),
                Meaning::Flow(bond) => number(&format!("flow {bond}")),
                Meaning::State(index) => number(&format!("state {}", flat_name(&self.states[*index]))),
                Meaning::Input(index) => number(&format!("input {}", self.structure.inputs[*index].0)),
                Meaning::Signal(index) => number(&format!("signal {}", self.structure.signals[*index].name)),
            })
        })
    }

    fn symbol(&self, symbol: Symbol) -> Option<f64> {
        let locals = &self.graph.locals;
        for (letter, list) in [("e", &locals.e), ("f", &locals.f), ("q", &locals.q), ("p", &locals.p)] {
            if let Some(place) = list.iter().position(|other| *other == symbol) {
                let digits = if place == 0 { String::new() } else { place.to_string() };
                return Some(number(&format!("local {letter}{digits}")));
            }
        }
        Some(match self.graph.variables.meaning(symbol)? {
            Variable::Effort(bond) => number(&format!("effort {}", self.bond_of[bond.index()])),
            Variable::Flow(bond) => number(&format!("flow {}", self.bond_of[bond.index()])),
            Variable::State(element, port) => {
                number(&format!("state {}", self.graph.state_name(element, port as usize)))
            }
            Variable::Parameter(index) => self.params[&self.graph.parameters[index as usize].name],
            Variable::Input(index) => number(&format!("input {}", self.graph.inputs[index as usize].name)),
            Variable::Signal(index) => number(&format!("signal {}", self.graph.signals[index as usize].name)),
            Variable::Integrator(index) => {
                number(&format!("state {}", flat_name(&self.graph.integrators[index as usize].name)))
            }
            Variable::Time => number("t"),
        })
    }

    fn same(&self, what: &str, meant: &Meant, element: Option<usize>, found: Expr) -> Result<(), String> {
        let meant_value = self.meant(meant, element).ok_or(format!("{what}: `{meant}` has no value"))?;
        let value = self.pool.eval(found, &|symbol| self.symbol(symbol));
        match value {
            Ok(value) if (value - meant_value).abs() <= 1e-9 * (1.0 + meant_value.abs()) => Ok(()),
            Ok(value) => Err(format!("{what}: {value} instead of {meant_value} for `{meant}`")),
            Err(error) => Err(format!("{what}: `{meant}` cannot be evaluated: {error:?}")),
        }
    }
}

/// Compares everything.
pub fn compare(structure: &Structure, graph: &BondGraph, pool: &Pool) -> Result<(), String> {
    let matched = Matched::new(structure, graph)?;
    let mut bond_of = vec![0; graph.bonds.len()];
    for (meant, found) in matched.bonds.iter().enumerate() {
        bond_of[*found] = meant;
    }
    let params = parameters(structure, graph)?;
    let states = structure.states().into_iter().map(|(name, _)| name).collect();
    let values = Values { structure, graph, pool, names: structure.names(), states, bond_of, params };
    for (index, element) in structure.elements.iter().enumerate() {
        let found = graph.element(ElementId(matched.elements[index] as u32));
        law(&values, index, &found.law)?;
        for (port, initial) in &element.initial {
            let entry = found.initial.iter().find(|entry| entry.0 + 1 == *port);
            let entry = entry.ok_or(format!("`{}` lost an initial state", element.name))?;
            values.same(&format!("initial state of `{}`", element.name), initial, None, entry.1)?;
        }
    }
    quantities(&values)
}

/// Checks names and nominal values, and gives each parameter its value at the point.
fn parameters(structure: &Structure, graph: &BondGraph) -> Result<BTreeMap<String, f64>, String> {
    let free = structure.independent();
    let mut values: BTreeMap<String, f64> = BTreeMap::new();
    for (index, param) in structure.params.iter().enumerate() {
        let nominal = graph.parameters.iter().find(|found| found.name == param.name);
        let value = if free.contains(&index) {
            let nominal = nominal.ok_or(format!("no independent parameter `{}`", param.name))?;
            let meant: f64 = param.value.evaluate(&|_| None).ok_or("no value")?;
            if (nominal.number - meant).abs() > 1e-12 * meant.abs() {
                return Err(format!("`{}` is {} instead of {meant}", param.name, nominal.number));
            }
            number(&format!("param {}", param.name))
        } else {
            if nominal.is_some() {
                return Err(format!("derived `{}` counts as independent", param.name));
            }
            param.value.evaluate(&|name: &str| values.get(name).copied()).ok_or("no value")?
        };
        values.insert(param.name.clone(), value);
    }
    if let Some(extra) = graph.parameters.iter().find(|param| !values.contains_key(&param.name)) {
        return Err(format!("an unexpected parameter `{}`", extra.name));
    }
    Ok(values)
}

fn law(values: &Values<'_>, index: usize, found: &Law) -> Result<(), String> {
    let element = &values.structure.elements[index];
    let what = format!("law of `{}`", element.name);
    match (&element.law, found) {
        (MeantLaw::None, Law::Structure) => Ok(()),
        (MeantLaw::Value(meant), Law::Value(found)) => values.same(&what, meant, None, *found),
        (MeantLaw::Matrix(meant), Law::Matrix(found)) => {
            for (meant, found) in meant.iter().flatten().zip(found.iter().flatten()) {
                values.same(&what, meant, None, *found)?;
            }
            Ok(())
        }
        (MeantLaw::Laws(meant), Law::Equations(found)) if meant.len() == found.len() => {
            for ((left, right), found) in meant.iter().zip(found) {
                values.same(&what, left, Some(index), found.left)?;
                values.same(&what, right, Some(index), found.right)?;
            }
            Ok(())
        }
        (MeantLaw::Switch { on, off, .. }, Law::Switch { on: found_on, off: found_off, .. }) => {
            values.same(&what, on, None, *found_on)?;
            values.same(&what, off.as_ref().unwrap_or(&Meant::from(0)), None, *found_off)
        }
        _ => Err(format!("{what} has another form")),
    }
}

fn quantities(values: &Values<'_>) -> Result<(), String> {
    let Values { structure, graph, .. } = values;
    for (name, meant) in &structure.outputs {
        let found =
            graph.outputs.iter().find(|output| output.name == *name).ok_or(format!("no output `{name}`"))?;
        values.same(&format!("output `{name}`"), meant, None, found.value)?;
    }
    for signal in &structure.signals {
        let what = format!("signal `{}`", signal.name);
        if let Some(initial) = &signal.integral {
            let found = graph.integrators.iter().find(|integrator| integrator.name == signal.name);
            let found = found.ok_or(format!("no {what}"))?;
            values.same(&what, &signal.value, None, found.rate)?;
            values.same(&what, initial, None, found.initial)?;
        } else {
            let found =
                graph.signals.iter().find(|found| found.name == signal.name).ok_or(format!("no {what}"))?;
            values.same(&what, &signal.value, None, found.value)?;
        }
    }
    let inputs: Vec<&str> = graph.inputs.iter().map(|input| input.name.as_str()).collect();
    let meant: Vec<&str> = structure.inputs.iter().map(|(name, _)| name.as_str()).collect();
    if inputs == meant { Ok(()) } else { Err(format!("inputs {inputs:?} instead of {meant:?}")) }
}
