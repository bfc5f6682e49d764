//! A derived graph as a model of its own: a pool that holds its expressions
//! alone, and the names and symbols that its text would give it.

use paynter_algebra::{Expr, Pool, Symbol};
use paynter_graph::dimension::Unit;
use paynter_graph::{BondGraph, Element, Law, Locals, Value, Variable};

use crate::names::Names;
use crate::spelling::Spelling;

/// Makes a derived graph independent of the graph that it is made from. Its elements keep their origins and
/// their places in the original's text.
pub fn standalone(pool: &Pool, graph: &BondGraph) -> (Pool, BondGraph) {
    let mut own = Pool::new();
    let mut new = BondGraph { derived: Default::default(), guards: Default::default(), ..graph.clone() };
    rename(&mut new, &Spelling::new(pool, graph));
    new.variables = Default::default();
    let time = own.symbol("t");
    new.variables.insert(Variable::Time, time);
    new.locals = Default::default();
    let ports = graph.elements.iter().map(|element| element.ports.len()).max().unwrap_or(0);
    new.locals.reserve(&mut own, ports.max(graph.locals.e.len().saturating_sub(1)));
    Transfer { from: pool, old: graph, pool: &mut own, new: &mut new }.run();
    (own, new)
}

/// Gives everything the name that its text gives it.
fn rename(graph: &mut BondGraph, spelling: &Spelling) {
    for (element, name) in graph.elements.iter_mut().zip(&spelling.elements) {
        element.name.clone_from(name);
    }
    for (index, name) in &spelling.bonds {
        graph.bonds[*index].name.clone_from(name);
    }
    let values = (graph.parameters.iter_mut().map(|p| (p.symbol, &mut p.declaration.name)))
        .chain(graph.inputs.iter_mut().map(|i| (i.symbol, &mut i.name)))
        .chain(graph.signals.iter_mut().map(|s| (s.symbol, &mut s.name)))
        .chain(graph.integrators.iter_mut().map(|i| (i.symbol, &mut i.name)));
    for (symbol, name) in values {
        if let Some(reading) = spelling.readings.get(&symbol) {
            name.clone_from(reading);
        }
    }
    let mut names = Names::values();
    for output in &mut graph.outputs {
        output.name = names.take(&output.name);
    }
}

/// Takes a graph's expressions over into another pool, in the order in which flattening makes them.
struct Transfer<'a> {
    from: &'a Pool,
    old: &'a BondGraph,
    pool: &'a mut Pool,
    new: &'a mut BondGraph,
}

impl Transfer<'_> {
    fn run(&mut self) {
        for k in 0..self.new.parameters.len() {
            let old = &self.old.parameters[k];
            let unit = self.unit(old.unit.as_ref());
            let symbol = self.variable(Variable::Parameter(k as u32));
            if let Value::Written(value) = old.value {
                self.new.parameters[k].value = Value::Written(self.expr(value));
            }
            let declaration = &mut self.new.parameters[k].declaration;
            (declaration.unit, declaration.symbol) = (unit, symbol);
        }
        for k in 0..self.new.inputs.len() {
            self.new.inputs[k].symbol = self.variable(Variable::Input(k as u32));
            self.new.inputs[k].unit = self.unit(self.old.inputs[k].unit.as_ref());
            self.new.inputs[k].value = self.expr(self.old.inputs[k].value);
        }
        for k in 0..self.new.signals.len() {
            self.new.signals[k].symbol = self.variable(Variable::Signal(k as u32));
        }
        for k in 0..self.new.integrators.len() {
            self.new.integrators[k].symbol = self.variable(Variable::Integrator(k as u32));
        }
        for is_value in [true, false] {
            for k in 0..self.new.elements.len() {
                let old = &self.old.elements[k];
                if matches!(old.law, Law::Value(_) | Law::Matrix(_)) == is_value {
                    self.law(k, old);
                }
            }
        }
        for k in 0..self.new.signals.len() {
            self.new.signals[k].value = self.expr(self.old.signals[k].value);
        }
        for k in 0..self.new.integrators.len() {
            self.new.integrators[k].rate = self.expr(self.old.integrators[k].rate);
            self.new.integrators[k].initial = self.expr(self.old.integrators[k].initial);
        }
        for k in 0..self.new.outputs.len() {
            self.new.outputs[k].value = self.expr(self.old.outputs[k].value);
            self.new.outputs[k].unit = self.unit(self.old.outputs[k].unit.as_ref());
        }
        for k in 0..self.new.elements.len() {
            for place in 0..self.old.elements[k].initial.len() {
                self.new.elements[k].initial[place].1 = self.expr(self.old.elements[k].initial[place].1);
            }
        }
    }

    fn law(&mut self, k: usize, old: &Element) {
        let mut law = old.law.clone();
        law.rewrite(&mut |expr| self.expr(expr));
        if let Law::Equations(equations) = &mut law {
            for equation in equations {
                equation.solved_for = equation.solved_for.map(|symbol| self.symbol(symbol));
            }
        }
        self.new.elements[k].law = law;
    }

    fn unit(&mut self, unit: Option<&Unit>) -> Option<Unit> {
        let mut unit = unit?.clone();
        unit.scale = self.expr(unit.scale);
        Some(unit)
    }

    fn variable(&mut self, variable: Variable) -> Symbol {
        self.new.symbol(self.pool, variable)
    }

    fn symbol(&mut self, symbol: Symbol) -> Symbol {
        translate(self.from, self.old, self.new, self.pool, symbol)
    }

    fn expr(&mut self, expr: Expr) -> Expr {
        let Transfer { from, old, new, pool } = self;
        pool.import(from, expr, &mut |pool, symbol| translate(from, old, new, pool, symbol))
    }
}

/// The symbol in the new pool of what a symbol of the old one stands for.
fn translate(from: &Pool, old: &BondGraph, new: &mut BondGraph, pool: &mut Pool, symbol: Symbol) -> Symbol {
    if let Some(variable) = old.variables.meaning(symbol) {
        return new.symbol(pool, variable);
    }
    local(&old.locals, &new.locals, symbol).unwrap_or_else(|| pool.symbol(from.name(symbol)))
}

/// The same port's variable among other local symbols.
fn local(old: &Locals, new: &Locals, symbol: Symbol) -> Option<Symbol> {
    let lists = [(&old.e, &new.e), (&old.f, &new.f), (&old.q, &new.q), (&old.p, &new.p)];
    lists.into_iter().find_map(|(old, new)| {
        // The symbols of a letter are made in the order of ports.
        let place = old.binary_search(&symbol).ok()?;
        new.get(place).copied()
    })
}
