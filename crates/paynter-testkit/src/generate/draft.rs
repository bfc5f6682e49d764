//! A model in the making: its meaning as a flat structure, and what of it the
//! text says through submodels.

use crate::expr::Expr;
use crate::structure::{Bond, Element, End, Kind, Law, Param, Structure};
use std::collections::{BTreeMap, BTreeSet};

/// A model in the making.
#[derive(Debug, Clone, Default)]
pub(crate) struct Draft {
    /// What it means.
    pub(crate) structure: Structure,
    /// Elements that a submodel's text declares.
    pub(crate) hidden_elements: BTreeSet<usize>,
    /// Bonds that a submodel's text or a `for` makes.
    pub(crate) hidden_bonds: BTreeSet<usize>,
    /// Parameters that a submodel's text declares.
    pub(crate) hidden_params: BTreeSet<usize>,
    /// Ends that are written as a submodel's port: (bond, whether it is the arrow's head).
    pub(crate) spelled: BTreeMap<(usize, bool), String>,
    /// `use` and `for` statements.
    pub(crate) statements: Vec<String>,
    /// The text of each submodel.
    pub(crate) templates: Vec<String>,
}

impl Draft {
    /// Adds an element.
    pub(crate) fn element(&mut self, name: String, kind: Kind, ports: usize, law: Law) -> usize {
        let ports = if kind.is_junction() { 0 } else { ports };
        let element = Element { name, kind, ports, law, initial: BTreeMap::new(), may_vanish: false };
        self.structure.elements.push(element);
        self.structure.elements.len() - 1
    }

    /// Adds a bond.
    pub(crate) fn bond(&mut self, from: End, to: End) -> usize {
        self.structure.bonds.push(Bond { name: None, from, to });
        self.structure.bonds.len() - 1
    }

    /// Adds a parameter.
    pub(crate) fn param(&mut self, name: String, value: Expr) {
        self.structure.params.push(Param { name, value });
    }

    /// Counts the bonds at an element.
    pub(crate) fn degree(&self, element: usize) -> usize {
        let ends = self.structure.bonds.iter().flat_map(|bond| [bond.from, bond.to]);
        ends.filter(|end| end.element == element).count()
    }
}
