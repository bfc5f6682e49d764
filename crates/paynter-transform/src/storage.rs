//! Storages of groups of dependent ones: what a parameter adds to their states
//! must not be differentiated as an input would be, so its rate stands beside
//! them as a sink; and the initial increments of all storages.

use std::collections::{BTreeMap, BTreeSet};

use paynter_algebra::{Expr, Symbol};
use paynter_base::{Cancelled, Ticket};
use paynter_graph::{BondGraph, Causality, Element, ElementId, Kind, Ranges, Variable, is_storage};
use rustc_hash::FxHashMap;

use crate::incremental::Maker;
use crate::laws::{Residuals, nominal, residuals};
use crate::solve::solve;

impl Maker<'_> {
    /// Finds what parameters add to the states of dependent storages, x = x̂ + X Δp with x̂ of the
    /// linear law alone, and the rate of X: the sink (e/I)ΔI of an I, (f/C)ΔC of a C.
    pub(crate) fn dependent_storages(&mut self, ticket: &Ticket) -> Result<(), Cancelled> {
        for id in self.old.element_ids() {
            if !self.member[id.index()] {
                continue;
            }
            ticket.check()?;
            let element = self.old.element(id).clone();
            let law = residuals(self.pool, &self.old, &element);
            // A modulated storage keeps what its law adds, and the equations differentiate it.
            if law.list.iter().any(|residual| self.is_modulated(*residual)) {
                continue;
            }
            if let Some(found) = self.extra_states(id, &element, &law) {
                for (port, extra) in found.into_iter().enumerate() {
                    self.extras.insert((id, port), extra);
                }
            }
        }
        Ok(())
    }

    fn extra_states(
        &mut self,
        id: ElementId,
        element: &Element,
        law: &Residuals,
    ) -> Option<Vec<BTreeMap<usize, (Expr, Expr)>>> {
        let n = element.ports.len();
        let ports: Vec<[Symbol; 4]> = (0..n).map(|port| self.old.locals.port(n, port)).collect();
        // State, what the law relates it to, and its rate.
        let of = |[e, f, q, p]: [Symbol; 4]| if element.kind == Kind::C { (q, e, f) } else { (p, f, e) };
        let (mut x, mut y, mut r) = (Vec::new(), Vec::new(), Vec::new());
        for port in ports {
            let (state, other, rate) = of(port);
            x.push(state);
            y.push(other);
            r.push(self.pool.var(rate));
        }
        let by_x = self.jacobian(&law.list, &x);
        let by_y = self.jacobian(&law.list, &y);
        let parameters = self.parameters_in(&law.list);
        let columns: Vec<Vec<Expr>> = law
            .list
            .iter()
            .map(|residual| {
                parameters
                    .iter()
                    .map(|place| {
                        let slope = self.pool.diff(*residual, self.old.parameters[*place].symbol);
                        self.pool.neg(slope)
                    })
                    .collect()
            })
            .collect();
        let more = solve(self.pool, &by_x, &columns)?;
        // y' from Fx x' + Fy y' = 0.
        let known: Vec<Vec<Expr>> = by_x
            .iter()
            .map(|row| {
                let terms: Vec<Expr> = row.iter().zip(&r).map(|(a, b)| self.pool.mul(*a, *b)).collect();
                let sum = self.pool.sum(&terms);
                vec![self.pool.neg(sum)]
            })
            .collect();
        let rates = solve(self.pool, &by_y, &known)?;
        let map = nominal(self.pool, &mut self.old, id);
        let mut out = Vec::with_capacity(n);
        for row in more {
            let mut extra = BTreeMap::new();
            for (place, value) in parameters.iter().zip(row) {
                let mut terms = Vec::new();
                for j in 0..n {
                    let slope = self.pool.diff(value, x[j]);
                    terms.push(self.pool.mul(slope, r[j]));
                    let slope = self.pool.diff(value, y[j]);
                    terms.push(self.pool.mul(slope, rates[j][0]));
                }
                let rate = self.pool.sum(&terms);
                let both = self.pool.substitute_all(&[value, rate], &map);
                if both[0] != self.pool.zero() {
                    extra.insert(*place, (both[0], both[1]));
                }
            }
            out.push(extra);
        }
        Some(out)
    }

    pub(crate) fn jacobian(&mut self, residuals: &[Expr], symbols: &[Symbol]) -> Vec<Vec<Expr>> {
        residuals
            .iter()
            .map(|residual| symbols.iter().map(|symbol| self.pool.diff(*residual, *symbol)).collect())
            .collect()
    }

    /// The changing parameters that expressions read.
    fn parameters_in(&self, expressions: &[Expr]) -> Vec<usize> {
        let mut found = BTreeSet::new();
        for expr in expressions {
            for symbol in self.pool.symbols(*expr) {
                if let Some(Variable::Parameter(i)) = self.old.variables.meaning(symbol)
                    && self.deltas.contains_key(&(i as usize))
                {
                    found.insert(i as usize);
                }
            }
        }
        found.into_iter().collect()
    }

    /// Whether a law reads anything but parameters and the element's own variables.
    fn is_modulated(&self, expr: Expr) -> bool {
        self.pool
            .symbols(expr)
            .into_iter()
            .any(|symbol| !matches!(self.old.variables.meaning(symbol), None | Some(Variable::Parameter(_))))
    }

    /// Initial increments: what initial states have of parameters, less what a dependent storage's sink
    /// accounts for.
    pub(crate) fn initial(&mut self, id: ElementId, element: &Element) {
        if !is_storage(element.kind) {
            return;
        }
        let zero = self.pool.zero();
        let n = element.ports.len();
        let start: Vec<Expr> = (0..n)
            .map(|port| {
                element.initial.iter().find(|(p, ..)| *p == port).map_or(zero, |(_, value, _)| *value)
            })
            .collect();
        for (port, value) in start.iter().enumerate() {
            let mut change = self.change(*value);
            if let Some(extra) = self.extras.get(&(id, port)).cloned() {
                for (parameter, (more, _)) in extra {
                    let Some(more) = self.at_start(id, element, &start, more) else { continue };
                    let less = self.pool.neg(more);
                    change.add_parameter(self.pool, parameter, less);
                }
            }
            let total = self.total(&change);
            if total != zero || decides_start(&self.old, self.causality, id, port) {
                let span = element.span;
                let new = ElementId(id.0 + self.first.0);
                self.build.graph.elements[new.index()].initial.push((port, total, span));
            }
        }
    }

    /// An expression over a storage's own variables at time zero; none where its law does not tell them.
    fn at_start(&mut self, id: ElementId, element: &Element, start: &[Expr], expr: Expr) -> Option<Expr> {
        let n = element.ports.len();
        let law = residuals(self.pool, &self.old, element);
        let map = nominal(self.pool, &mut self.old, id);
        let storage = |[e, f, q, p]: [Symbol; 4]| if element.kind == Kind::C { (q, e) } else { (p, f) };
        let ports: Vec<(Symbol, Symbol)> = (0..n).map(|k| storage(self.old.locals.port(n, k))).collect();
        let known: FxHashMap<Symbol, Expr> =
            ports.iter().zip(start).map(|((x, _), value)| (*x, *value)).collect();
        let residuals = self.pool.substitute_all(&law.list, &known);
        let mut values: FxHashMap<Symbol, Expr> = FxHashMap::default();
        let unknown: Vec<Symbol> = ports.iter().map(|(_, y)| *y).collect();
        let zero = self.pool.zero();
        let none: FxHashMap<Symbol, Expr> = unknown.iter().map(|symbol| (*symbol, zero)).collect();
        let rest = self.pool.substitute_all(&residuals, &none);
        let by_y = self.jacobian(&residuals, &unknown);
        let linear = by_y
            .iter()
            .flatten()
            .all(|slope| unknown.iter().all(|symbol| !self.pool.depends_on(*slope, *symbol)));
        if rest.iter().all(|entry| *entry == zero) {
            // Nothing is stored, so nothing is put out.
            values = none;
        } else if linear {
            let right: Vec<Vec<Expr>> = rest.iter().map(|entry| vec![self.pool.neg(*entry)]).collect();
            for (symbol, value) in unknown.iter().zip(solve(self.pool, &by_y, &right)?) {
                values.insert(*symbol, value[0]);
            }
        } else if let ([residual], [symbol]) = (&residuals[..], &unknown[..]) {
            let ranges = Ranges::new(&self.old);
            let solution = self.pool.solve_for(*residual, *symbol, &|s| ranges.of(s)).ok()?;
            values.insert(*symbol, solution.value);
        }
        // Back from the variables of bonds to the local ones, whose values are known.
        let mut back: FxHashMap<Symbol, Expr> = FxHashMap::default();
        for ((x, y), value) in ports.iter().zip(start) {
            let outer = self.pool.as_symbol(map[x])?;
            back.insert(outer, *value);
            let Some(found) = values.get(y).copied() else { continue };
            match self.pool.as_symbol(map[y]) {
                Some(outer) => back.insert(outer, found),
                None => {
                    let minus = self.pool.neg(map[y]);
                    let outer = self.pool.as_symbol(minus)?;
                    let found = self.pool.neg(found);
                    back.insert(outer, found)
                }
            };
        }
        let value = self.pool.substitute(expr, &back);
        let parameters = &self.old.parameters;
        let number = |symbol: Symbol| match self.old.variables.meaning(symbol) {
            Some(Variable::Parameter(i)) => Some(parameters[i as usize].number),
            _ => None,
        };
        self.pool.eval(value, &number).is_ok().then_some(value)
    }
}

/// Whether the initial state of a dependent storage determines that of an independent one, which has none
/// of its own: then its increment counts even where it is zero.
pub(crate) fn decides_start(graph: &BondGraph, causality: &Causality, id: ElementId, port: usize) -> bool {
    let given = |id: ElementId, port: usize| graph.element(id).initial.iter().any(|(p, ..)| *p == port);
    let is_dependent = causality.effort_in(graph, id, port) == (graph.element(id).kind == Kind::C);
    let mut independent = causality.storages.iter().filter(|storage| storage.integral);
    // The list of all storages is gone through for few of them, the others are settled by a look.
    given(id, port) && is_dependent && !independent.any(|storage| given(storage.element, storage.port))
}
