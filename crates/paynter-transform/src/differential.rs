//! Total differentials of what an incremental graph reads beside its elements:
//! signals, integrators and outputs.

use std::collections::BTreeSet;

use paynter_algebra::{Expr, Symbol};
use paynter_graph::{BondId, ElementId, Integrator, Output, Signal, Variable};
use rustc_hash::FxHashMap;

use crate::incremental::Maker;
use crate::laws::Change;
use crate::names::plain;

impl Maker<'_> {
    /// Finds the signals and integrators that can change, and makes symbols for their increments.
    pub(crate) fn find_live(&mut self) {
        let mut live: BTreeSet<Variable> = BTreeSet::new();
        let lists: Vec<(Variable, Vec<Expr>)> = (self.old.signals.iter().enumerate())
            .map(|(k, signal)| (Variable::Signal(k as u32), vec![signal.value]))
            .chain(self.old.integrators.iter().enumerate().map(|(k, integrator)| {
                (Variable::Integrator(k as u32), vec![integrator.rate, integrator.initial])
            }))
            .collect();
        loop {
            let before = live.len();
            for (variable, expressions) in &lists {
                let moves = expressions.iter().any(|expr| {
                    self.pool.symbols(*expr).into_iter().any(|symbol| {
                        match self.old.variables.meaning(symbol) {
                            Some(Variable::Effort(_) | Variable::Flow(_) | Variable::State(..)) => true,
                            Some(Variable::Parameter(i)) => self.deltas.contains_key(&(i as usize)),
                            Some(Variable::Input(i)) => self.inputs.contains_key(&i),
                            Some(other) => live.contains(&other),
                            None => false,
                        }
                    })
                });
                if moves {
                    live.insert(*variable);
                }
            }
            if live.len() == before {
                break;
            }
        }
        for variable in live {
            let name = match variable {
                Variable::Signal(k) => &self.old.signals[k as usize].name,
                Variable::Integrator(k) => &self.old.integrators[k as usize].name,
                _ => continue,
            };
            let name = format!("Delta_{}", plain(name));
            let symbol = self.pool.fresh(&name);
            self.increments.insert(variable, symbol);
        }
    }

    /// The increment of a variable; none where it is zero.
    pub(crate) fn increment(&mut self, variable: Variable) -> Option<Expr> {
        let (elements, bonds) = self.first;
        let new = &self.build.graph.variables;
        let symbol = match variable {
            Variable::Effort(bond) => new.symbol(Variable::Effort(BondId(bond.0 + bonds))),
            Variable::Flow(bond) => new.symbol(Variable::Flow(BondId(bond.0 + bonds))),
            Variable::State(id, port) => new.symbol(Variable::State(ElementId(id.0 + elements), port)),
            Variable::Input(k) => self.inputs.get(&k).copied(),
            other => self.increments.get(&other).copied(),
        };
        symbol.map(|symbol| self.pool.var(symbol))
    }

    /// The total differential of an expression, its local variables left aside.
    pub(crate) fn change(&mut self, expr: Expr) -> Change {
        let mut change = Change::default();
        let zero = self.pool.zero();
        let mut moving: Vec<(Symbol, Variable, Option<Expr>)> = Vec::new();
        for symbol in self.pool.symbols(expr) {
            let Some(variable) = self.old.variables.meaning(symbol) else { continue };
            match variable {
                Variable::Parameter(i) if self.deltas.contains_key(&(i as usize)) => {
                    moving.push((symbol, variable, None));
                }
                Variable::Parameter(_) => {}
                _ => {
                    let increment = self.increment(variable);
                    moving.extend(increment.map(|increment| (symbol, variable, Some(increment))));
                }
            }
        }
        let symbols: Vec<Symbol> = moving.iter().map(|(symbol, ..)| *symbol).collect();
        let factors = self.pool.derivatives(expr, &symbols);
        for ((_, variable, increment), factor) in moving.into_iter().zip(factors) {
            if let Variable::Parameter(i) = variable {
                change.add_parameter(self.pool, i as usize, factor);
            }
            let Some(increment) = increment.filter(|_| factor != zero) else { continue };
            let part = self.pool.mul(factor, increment);
            change.add_signal(self.pool, part);
            if let Variable::State(id, port) = variable
                && let Some(extra) = self.extras.get(&(id, port as usize)).cloned()
            {
                for (parameter, more) in extra {
                    let factor = self.pool.mul(factor, more);
                    change.add_parameter(self.pool, parameter, factor);
                }
            }
        }
        change
    }

    /// A change as one expression.
    pub(crate) fn total(&mut self, change: &Change) -> Expr {
        let mut terms: Vec<Expr> = change.signals.into_iter().collect();
        for (parameter, factor) in &change.parameters {
            let delta = self.pool.var(self.deltas[parameter]);
            terms.push(self.pool.mul(*factor, delta));
        }
        self.pool.sum(&terms)
    }

    /// Outputs are those of the increments: ∂g/∂v Δv + ∂g/∂p Δp.
    pub(crate) fn outputs(&mut self) {
        for k in 0..self.old.outputs.len() {
            let output = self.old.outputs[k].clone();
            let change = self.change(output.value);
            let value = self.total(&change);
            let name = format!("Delta_{}", plain(&output.name));
            let doc = output.doc.map(|doc| format!("change of: {doc}"));
            self.build.graph.outputs.push(Output { name, value, doc, ..output });
        }
    }

    /// Adds the increments of those signals that something reads.
    pub(crate) fn signals(&mut self) {
        let by_symbol: FxHashMap<Symbol, Variable> =
            self.increments.iter().map(|(variable, symbol)| (*symbol, *variable)).collect();
        let graph = &self.build.graph;
        let mut open: Vec<Expr> = graph.outputs.iter().map(|output| output.value).collect();
        for element in &graph.elements[self.first.0 as usize..] {
            open.extend(element.law.expressions());
        }
        while let Some(expr) = open.pop() {
            for symbol in self.pool.symbols(expr) {
                let Some(variable) = by_symbol.get(&symbol).copied() else { continue };
                if self.waiting.contains_key(&variable) {
                    continue;
                }
                let (value, start) = match variable {
                    Variable::Signal(k) => (self.old.signals[k as usize].value, None),
                    Variable::Integrator(k) => {
                        let integrator = &self.old.integrators[k as usize];
                        (integrator.rate, Some(integrator.initial))
                    }
                    _ => continue,
                };
                let change = self.change(value);
                let value = self.total(&change);
                let start = match start {
                    // Alone the changes are inputs, which an initial value cannot read.
                    Some(start) if self.request.pair => {
                        let change = self.change(start);
                        self.total(&change)
                    }
                    _ => self.pool.zero(),
                };
                open.push(value);
                self.waiting.insert(variable, (value, start));
            }
        }
        for (variable, (value, initial)) in std::mem::take(&mut self.waiting) {
            let symbol = self.increments[&variable];
            let new = &mut self.build.graph;
            let old = &self.old;
            match variable {
                Variable::Signal(k) => {
                    let Signal { name, span, .. } = &old.signals[k as usize];
                    let name = format!("Delta_{}", plain(name));
                    new.variables.insert(Variable::Signal(new.signals.len() as u32), symbol);
                    new.signals.push(Signal { name, symbol, value, span: *span });
                }
                Variable::Integrator(k) => {
                    let Integrator { name, span, .. } = &old.integrators[k as usize];
                    let name = format!("Delta_{}", plain(name));
                    new.variables.insert(Variable::Integrator(new.integrators.len() as u32), symbol);
                    new.integrators.push(Integrator { name, symbol, rate: value, initial, span: *span });
                }
                _ => {}
            }
        }
    }
}
