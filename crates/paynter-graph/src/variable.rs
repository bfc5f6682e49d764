//! What symbols stand for: the variables of the whole model, and those that a
//! law uses for its own element.

use paynter_algebra::{Pool, Symbol};
use rustc_hash::FxHashMap;

use crate::model::{BondId, ElementId};

/// The symbols that laws use for their own element's variables. They are
/// shared by all elements: a law is read together with its element.
#[derive(Debug, Clone, Default)]
pub struct Locals {
    /// e, e1, e2 …: index 0 is the plain letter of one-ports, index k port k.
    pub e: Vec<Symbol>,
    /// f, f1, f2 …
    pub f: Vec<Symbol>,
    /// q, q1, q2 …
    pub q: Vec<Symbol>,
    /// p, p1, p2 …
    pub p: Vec<Symbol>,
}

impl Locals {
    /// Makes sure that there are symbols for `ports` ports.
    pub fn reserve(&mut self, pool: &mut Pool, ports: usize) {
        for (letter, list) in [("e", &mut self.e), ("f", &mut self.f), ("q", &mut self.q), ("p", &mut self.p)]
        {
            while list.len() <= ports {
                let name =
                    if list.is_empty() { letter.to_owned() } else { format!("{letter}{}", list.len()) };
                list.push(pool.fresh(&name));
            }
        }
    }

    /// The symbols e, f, q, p of a port (from 0) of an element with `ports` ports.
    pub fn port(&self, ports: usize, port: usize) -> [Symbol; 4] {
        let i = if ports == 1 { 0 } else { port + 1 };
        [self.e[i], self.f[i], self.q[i], self.p[i]]
    }
}

/// What a symbol outside laws stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Variable {
    /// A bond's effort.
    Effort(BondId),
    /// A bond's flow along its arrow.
    Flow(BondId),
    /// The state of a storage's port: q of a C, p of an I.
    State(ElementId, u32),
    /// Place in [`crate::BondGraph::parameters`].
    Parameter(u32),
    /// Place in [`crate::BondGraph::inputs`].
    Input(u32),
    /// Place in [`crate::BondGraph::signals`].
    Signal(u32),
    /// Place in [`crate::BondGraph::integrators`].
    Integrator(u32),
    /// Time.
    Time,
}

/// Maps between symbols and what they stand for.
#[derive(Debug, Clone, Default)]
pub struct Variables {
    symbols: FxHashMap<Variable, Symbol>,
    meanings: FxHashMap<Symbol, Variable>,
}

impl Variables {
    /// Records what a symbol stands for.
    pub fn insert(&mut self, variable: Variable, symbol: Symbol) {
        self.symbols.insert(variable, symbol);
        self.meanings.insert(symbol, variable);
    }

    /// What a symbol stands for.
    pub fn meaning(&self, symbol: Symbol) -> Option<Variable> {
        self.meanings.get(&symbol).copied()
    }

    /// The symbol of a variable, if it has one yet.
    pub fn symbol(&self, variable: Variable) -> Option<Symbol> {
        self.symbols.get(&variable).copied()
    }
}
