//! Smaller models from a failing one: each drops one element.

use super::draft::Draft;
use crate::expr::Expr;
use crate::rng::Rng;
use crate::structure::{Law, Structure};
use crate::text;

/// Writes a structure as a model without submodels; its names must be plain (see [`plain`]).
pub fn write(structure: &Structure) -> String {
    let draft = Draft { structure: structure.clone(), ..Draft::default() };
    text::file(&draft, &mut Rng::new(0))
}

/// Joins dotted names by `_`, so that a model can be written without submodels.
#[must_use]
pub fn plain(structure: &Structure) -> Structure {
    let flat = |name: &str| name.replace(['.', '['], "_").replace(']', "");
    let mut structure = structure.clone();
    let prefixes: Vec<(String, String)> = structure
        .elements
        .iter()
        .map(|element| element.name.clone())
        .chain(structure.params.iter().map(|param| param.name.clone()))
        .filter(|name| name.contains('.'))
        .map(|name| (name.clone(), flat(&name)))
        .collect();
    let rename = |name: &str| {
        let fits = |(old, _): &&(String, String)| {
            name.strip_prefix(old.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        prefixes.iter().find(fits).map(|(old, new)| Expr::name(format!("{new}{}", &name[old.len()..])))
    };
    for param in &mut structure.params {
        param.name = flat(&param.name);
        param.value = param.value.replace(&rename);
    }
    for element in &mut structure.elements {
        element.name = flat(&element.name);
        element.law = element.law.replace(&rename);
    }
    for signal in &mut structure.signals {
        signal.value = signal.value.replace(&rename);
    }
    for (_, value) in &mut structure.outputs {
        *value = value.replace(&rename);
    }
    structure
}

/// Lists the structures with one element less: one-ports dropped, two-ports
/// of which a neighbour is a junction dropped with their bonds.
pub fn shrink(structure: &Structure) -> Vec<Structure> {
    let mut smaller = Vec::new();
    for index in 0..structure.elements.len() {
        let mut next = structure.clone();
        let dropped = next.elements.remove(index);
        next.bonds.retain(|bond| bond.from.element != index && bond.to.element != index);
        for bond in &mut next.bonds {
            for end in [&mut bond.from, &mut bond.to] {
                end.element -= usize::from(end.element > index);
            }
        }
        let gone = format!("{}.", dropped.name);
        let usable = |next: &Structure, value: &Expr| {
            let known = next.names();
            let mut all = true;
            value.names(&mut |name| {
                all &= !name.starts_with(&gone) && (known.contains_key(name) || name == "t")
            });
            all
        };
        loop {
            let count = next.signals.len();
            let before = next.clone();
            next.signals.retain(|signal| usable(&before, &signal.value));
            if next.signals.len() == count {
                break;
            }
        }
        let before = next.clone();
        next.outputs.retain(|(_, value)| usable(&before, value));
        // Laws in braces have names of their own and read no other element's.
        let sources = next.elements.iter().all(|element| match &element.law {
            Law::Value(value) => usable(&before, value),
            _ => true,
        });
        if sources && next.is_complete() {
            smaller.push(next);
        }
    }
    smaller
}
