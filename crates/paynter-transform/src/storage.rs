//! Storages of groups of dependent ones: what a parameter adds to their states
//! must not be differentiated as an input would be, so its rate stands beside
//! them as a sink; and the initial increments of all storages.

use std::collections::{BTreeMap, BTreeSet};

use paynter_algebra::poly::readable;
use paynter_algebra::{Expr, Symbol};
use paynter_base::{CancellationToken, Cancelled};
use paynter_graph::{Element, ElementId, Stored, Variable, is_storage};
use rustc_hash::FxHashMap;

use crate::elements::Sink;
use crate::incremental::Maker;
use crate::laws::{Change, Residuals, nominal, residuals};
use crate::solve::solve;

impl Maker<'_> {
    /// Finds what parameters add to storages of groups. At a member it is added to the state, x = x̂ + X Δp
    /// with x̂ of the linear law alone, and the sink is the rate of X: (e/I)ΔI of an I, (f/C)ΔC of a C. At
    /// a field's other ports it is added to effort (C) or flow (I), as where nothing is dependent.
    pub(crate) fn dependent_storages(&mut self, token: &CancellationToken) -> Result<(), Cancelled> {
        let ids: BTreeSet<ElementId> = self.members.iter().map(|(id, _)| *id).collect();
        for id in ids {
            token.check()?;
            let element = self.old.element(id).clone();
            let law = residuals(self.pool, &self.old, &element);
            // A modulated storage keeps what its law adds, and the equations differentiate it.
            if law.list.iter().any(|residual| self.is_modulated(*residual)) {
                continue;
            }
            if let Some(sinks) = self.member_sinks(id, &element, &law) {
                self.sinks.insert(id, sinks);
            }
        }
        Ok(())
    }

    /// The sinks at all ports, none where the law cannot be solved; remembers what is added to states.
    fn member_sinks(&mut self, id: ElementId, element: &Element, law: &Residuals) -> Option<Vec<Sink>> {
        let n = element.ports.len();
        let ports: Vec<[Symbol; 4]> = (0..n).map(|port| self.old.locals.port(n, port)).collect();
        let is_displacement = element.stored() == Some(Stored::Displacement);
        // State, what the law relates it to, and its rate.
        let of = |[e, f, q, p]: [Symbol; 4]| if is_displacement { (q, e, f) } else { (p, f, e) };
        let (mut x, mut y, mut r) = (Vec::new(), Vec::new(), Vec::new());
        for port in ports {
            let (state, other, rate) = of(port);
            x.push(state);
            y.push(other);
            r.push(self.pool.var(rate));
        }
        let is_member: Vec<bool> = (0..n).map(|port| self.members.contains(&(id, port))).collect();
        let places: Vec<Symbol> = (0..n).map(|k| if is_member[k] { x[k] } else { y[k] }).collect();
        let by_places = self.jacobian(&law.list, &places);
        let parameters = self.parameters_in(&law.list);
        let symbols: Vec<Symbol> =
            parameters.iter().map(|place| self.old.parameters[*place].symbol).collect();
        let columns: Vec<Vec<Expr>> = self
            .jacobian(&law.list, &symbols)
            .into_iter()
            .map(|row| row.into_iter().map(|derivative| self.pool.neg(derivative)).collect())
            .collect();
        let added = solve(self.pool, &by_places, &columns)?;
        // y' from Fx x' + Fy y' = 0.
        let known: Vec<Vec<Expr>> = self
            .jacobian(&law.list, &x)
            .iter()
            .map(|row| {
                let terms: Vec<Expr> = row.iter().zip(&r).map(|(a, b)| self.pool.mul(*a, *b)).collect();
                let sum = self.pool.sum(&terms);
                vec![self.pool.neg(sum)]
            })
            .collect();
        let by_y = self.jacobian(&law.list, &y);
        let rates = solve(self.pool, &by_y, &known)?;
        let map = nominal(self.pool, &mut self.old, id);
        let mut sinks = Vec::with_capacity(n);
        for (port, row) in added.into_iter().enumerate() {
            let mut change = Change::default();
            let mut extra = BTreeMap::new();
            for (place, value) in parameters.iter().zip(row) {
                let value_of_bonds = self.of_bonds(value, &map);
                if !is_member[port] {
                    change.add_parameter(self.pool, *place, value_of_bonds);
                    continue;
                }
                let mut terms = Vec::new();
                for j in 0..n {
                    let derivative = self.pool.diff(value, x[j]);
                    terms.push(self.pool.mul(derivative, r[j]));
                    let derivative = self.pool.diff(value, y[j]);
                    terms.push(self.pool.mul(derivative, rates[j][0]));
                }
                let rate = self.pool.sum(&terms);
                let rate = self.of_bonds(rate, &map);
                change.add_parameter(self.pool, *place, rate);
                if value_of_bonds != self.pool.zero() {
                    extra.insert(*place, value_of_bonds);
                }
            }
            if is_member[port] {
                self.extras.insert((id, port), extra);
            }
            let flow = is_member[port] == is_displacement;
            sinks.push(Sink { port, flow, change });
        }
        Some(sinks)
    }

    /// An expression over local variables, as it is written with those of bonds.
    fn of_bonds(&mut self, expr: Expr, map: &FxHashMap<Symbol, Expr>) -> Expr {
        let expr = self.pool.substitute(expr, map);
        // Elimination leaves fractions within fractions.
        readable(self.pool, expr, &CancellationToken::new())
    }

    pub(crate) fn jacobian(&mut self, residuals: &[Expr], symbols: &[Symbol]) -> Vec<Vec<Expr>> {
        residuals.iter().map(|residual| self.pool.derivatives(*residual, symbols)).collect()
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

    /// Initial increments of independent states: what their initial values have of parameters, less what
    /// is added to a member's state beside the incremental storage.
    pub(crate) fn initial(&mut self, id: ElementId, element: &Element) {
        if !is_storage(element.kind) {
            return;
        }
        let zero = self.pool.zero();
        for port in 0..element.ports.len() {
            let state = Variable::State(id, port as u32);
            let Some(value) = self.start.states.get(&state).copied() else { continue };
            let mut change = self.change(value);
            for (parameter, more) in self.extras.get(&(id, port)).cloned().unwrap_or_default() {
                match self.at_start(more) {
                    Some(more) if more == zero => {}
                    Some(more) => {
                        let less = self.pool.neg(more);
                        change.add_parameter(self.pool, parameter, less);
                        self.begins.known.push(id);
                    }
                    None => self.begins.unknown.push(id),
                }
            }
            let total = self.total(&change);
            if total != zero {
                let new = ElementId(id.0 + self.first.0);
                self.build.graph.elements[new.index()].initial.push((port, total, element.span));
            }
        }
    }

    /// An expression over the nominal graph's variables at time zero; none where it has no value there.
    fn at_start(&mut self, expr: Expr) -> Option<Expr> {
        let mut map: FxHashMap<Symbol, Expr> = FxHashMap::default();
        for symbol in self.pool.symbols(expr) {
            let variable = self.old.variables.meaning(symbol)?;
            if !matches!(variable, Variable::Parameter(_)) {
                let start = self.start;
                let value = start.states.get(&variable).or_else(|| start.others.get(&variable))?;
                map.insert(symbol, *value);
            }
        }
        let value = self.of_bonds(expr, &map);
        let parameters = &self.old.parameters;
        let number = |symbol: Symbol| match self.old.variables.meaning(symbol) {
            Some(Variable::Parameter(i)) => Some(parameters[i as usize].number),
            _ => None,
        };
        self.pool.eval(value, &number).is_ok().then_some(value)
    }
}
