//! The units that people are shown: those that a model declares. Numbers in JSON are in SI.

use paynter_graph::dimension::Unit;
use paynter_graph::{BondGraph, Variable, flat_name};
use paynter_simulate::experiment::{CostGradient, CostKind, Simulation};

/// A declared unit and its size in SI; of what is declared in none, SI itself.
#[derive(Debug, Clone, PartialEq)]
pub struct Shown {
    /// As written in the model.
    pub unit: Option<String>,
    /// The value of one such unit in SI.
    pub factor: f64,
}

impl Default for Shown {
    fn default() -> Shown {
        Shown { unit: None, factor: 1.0 }
    }
}

impl Shown {
    /// That of a unit which may be declared.
    pub fn new(unit: Option<&Unit>) -> Shown {
        unit.map_or_else(Shown::default, |unit| Shown { unit: Some(unit.text.clone()), factor: unit.factor })
    }

    /// The unit of an output, by its place.
    pub fn output(graph: &BondGraph, place: usize) -> Shown {
        Shown::new(graph.outputs.get(place).and_then(|output| output.unit.as_ref()))
    }

    /// The unit of an input, by its place.
    pub fn input(graph: &BondGraph, place: usize) -> Shown {
        Shown::new(graph.inputs.get(place).and_then(|input| input.unit.as_ref()))
    }

    /// The unit of a parameter, by its place.
    pub fn parameter(graph: &BondGraph, place: usize) -> Shown {
        Shown::new(graph.parameters.get(place).and_then(|parameter| parameter.unit.as_ref()))
    }

    /// The unit of a parameter, or of one defined from others, by its name; parts of submodels have plain names in
    /// linearised models.
    pub fn named(graph: &BondGraph, wanted: &str) -> Shown {
        let same = |name: &str| {
            let name = flat_name(name);
            name == wanted || name.replace('.', "_") == wanted
        };
        if let Some(place) = graph.parameters.iter().position(|parameter| same(&parameter.name)) {
            return Shown::parameter(graph, place);
        }
        let derived = graph.derived.iter().find(|derived| same(&derived.name));
        Shown::new(derived.and_then(|derived| derived.unit.as_ref()))
    }

    /// The unit of a gain, from the names of its output and input; of changes it is that of what changes.
    pub fn gain(graph: &BondGraph, pair: Option<&(String, String)>) -> Shown {
        let Some((output, input)) = pair else { return Shown::default() };
        let same = |known: &str, name: &str| {
            let (known, name) = (flat_name(known), flat_name(name));
            known == name || name.strip_prefix("Delta_").is_some_and(|bare| known.replace('.', "_") == bare)
        };
        let output = graph.outputs.iter().position(|known| same(&known.name, output));
        let input = graph.inputs.iter().position(|known| same(&known.name, input));
        let shown = output.map(|place| Shown::output(graph, place)).unwrap_or_default();
        shown.per(&input.map(|place| Shown::input(graph, place)).unwrap_or_default())
    }

    /// The unit of a cost of a simulation.
    pub fn cost(simulation: &Simulation, found: &CostGradient) -> Shown {
        let column = simulation.outputs.iter().find(|column| column.name == found.cost.output);
        let unit = column.and_then(|column| column.unit.clone());
        let unit = match found.cost.kind {
            CostKind::Integral => Some(match unit {
                Some(unit) if unit.contains('/') => format!("({unit})*s"),
                Some(unit) => format!("{unit}*s"),
                None => "s".to_owned(),
            }),
            CostKind::Final => unit,
        };
        Shown { unit, factor: column.map_or(1.0, |column| column.factor) }
    }

    /// The unit of one quantity per one of another.
    pub fn per(&self, other: &Shown) -> Shown {
        Shown { unit: per(self.unit.as_deref(), other.unit.as_deref()), factor: self.factor / other.factor }
    }

    /// A value in this unit.
    pub fn of(&self, value: f64) -> f64 {
        value / self.factor
    }

    /// The unit in brackets behind a space, or nothing.
    pub fn brackets(&self) -> String {
        self.unit.as_ref().map_or_else(String::new, |unit| format!(" [{unit}]"))
    }
}

/// The unit of a quotient.
pub fn per(above: Option<&str>, below: Option<&str>) -> Option<String> {
    let Some(below) = below else { return above.map(str::to_owned) };
    let above = above.unwrap_or("1");
    Some(match below.contains(['*', '/']) {
        true => format!("{above}/({below})"),
        false => format!("{above}/{below}"),
    })
}

/// The SI unit of a storage's state, where its domain is known.
pub fn state_unit(graph: &BondGraph, variable: Variable) -> Option<String> {
    let Variable::State(id, port) = variable else { return None };
    let element = graph.element(id);
    let info = element.ports.get(port as usize)?.domain?.info();
    let (_, unit) = element.stored()?.quantity(info)?;
    Some(unit.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotients_of_units_are_read_as_such() {
        assert_eq!(per(Some("rpm"), Some("N*m")).as_deref(), Some("rpm/(N*m)"));
        assert_eq!(per(None, Some("ohm")).as_deref(), Some("1/ohm"));
        assert_eq!(per(Some("V"), None).as_deref(), Some("V"));
        assert_eq!(per(None, None), None);
    }
}
