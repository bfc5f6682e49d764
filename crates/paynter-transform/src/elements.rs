//! The incremental model of each element: the linear law of its total
//! differential, and as sinks what changes of parameters and signals add to it.

use std::collections::{BTreeMap, BTreeSet};

use paynter_algebra::poly::readable;
use paynter_algebra::{Expr, Pool, Symbol};
use paynter_base::{CancellationToken, Span};
use paynter_graph::{Class, Element, ElementId, Equation, Law, Origin, Power, Value, is_storage};
use rustc_hash::FxHashMap;

use crate::build::New;
use crate::incremental::Maker;
use crate::laws::{Change, Residuals, locals, nominal, residuals, turned, wanted};
use crate::names::plain;
use crate::solve::solve;

/// What a sink adds at a port: to the effort, or to the flow into the element.
pub(crate) struct Sink {
    pub port: usize,
    pub flow: bool,
    pub change: Change,
}

impl Maker<'_> {
    /// Gives an element its incremental law and the sinks beside it.
    pub(crate) fn element(&mut self, id: ElementId) {
        let element = self.old.element(id).clone();
        let (law, sinks) = match element.class() {
            Class::Junction(_) | Class::Detector(_) => (Law::Structure, Vec::new()),
            Class::Source(_) => self.source(&element),
            _ => self.field(id, &element),
        };
        let new = ElementId(id.0 + self.first.0);
        let place = &mut self.build.graph.elements[new.index()];
        place.law = law;
        if element.class() == Class::EntropySource {
            place.kind = Class::Resistor.kind();
        }
        if self.request.pair {
            self.initial(id, &element);
        }
        self.place_sinks(new, &plain(&element.name), sinks);
    }

    /// A source keeps what its signals do; parameters in its value become sinks.
    fn source(&mut self, element: &Element) -> (Law, Vec<Sink>) {
        let Law::Value(value) = element.law else { return (Law::Structure, Vec::new()) };
        let Change { mut parameters, signals } = self.change(value);
        let flow = element.class() == Class::Source(Power::Flow);
        if flow && !element.ports[0].into {
            // The flow into a source is minus the one along the bond that leaves it.
            for factor in parameters.values_mut() {
                *factor = self.pool.neg(*factor);
            }
        }
        let law = Law::Value(signals.unwrap_or(self.pool.zero()));
        let change = Change { parameters, signals: None };
        (law, vec![Sink { port: 0, flow, change }])
    }

    /// R, C, I, TF, GY, RS and switches: the linear law of the total differential and what is added to it.
    fn field(&mut self, id: ElementId, element: &Element) -> (Law, Vec<Sink>) {
        let mut law = residuals(self.pool, &self.old, element);
        if element.class() == Class::Resistor
            && matches!(element.law, Law::Equations(_))
            && element.ports.len() == 1
        {
            law = turned(self.pool, &self.old, self.causality, id, law);
        }
        let map = nominal(self.pool, &mut self.old, id);
        let changes: Vec<Change> = law.list.iter().map(|residual| self.change(*residual)).collect();
        let none = changes.iter().all(|change| change.parameters.is_empty() && change.signals.is_none());
        let storage = is_storage(element.kind);
        if none {
            return (self.linear_law(id, element, &law, &map, None), Vec::new());
        }
        if storage && (0..element.ports.len()).any(|port| self.members.contains(&(id, port))) {
            return match self.sinks.remove(&id) {
                Some(sinks) => (self.linear_law(id, element, &law, &map, None), sinks),
                None => (self.linear_law(id, element, &law, &map, Some(&changes)), Vec::new()),
            };
        }
        let places = self.sink_variables(id, element, &law);
        match self.sink_changes(&law, &changes, &places, &map) {
            Some(sinks) => (self.linear_law(id, element, &law, &map, None), sinks),
            None => (self.linear_law(id, element, &law, &map, Some(&changes)), Vec::new()),
        }
    }

    /// The local variable at each port that takes its sink: what the law is solved for where each port
    /// has one, else what causality computes; of a storage its effort (C) or flow (I).
    fn sink_variables(&mut self, id: ElementId, element: &Element, law: &Residuals) -> Vec<Symbol> {
        let n = element.ports.len();
        let port = |k: usize| self.old.locals.port(n, k);
        if element.stored().is_some() {
            return (0..n).map(|k| element.class().pair(port(k)).1).collect();
        }
        let solved = |k: usize| {
            let [e, f, ..] = port(k);
            law.solved.iter().flatten().copied().find(|symbol| *symbol == e || *symbol == f)
        };
        let explicit: Option<Vec<Symbol>> = (0..n).map(solved).collect();
        explicit.unwrap_or_else(|| (0..n).map(|k| wanted(&self.old, self.causality, id, k)).collect())
    }

    /// Solves Fx σ + ΔF = 0 for what must be added to the chosen variables; none where Fx is singular.
    fn sink_changes(
        &mut self,
        law: &Residuals,
        changes: &[Change],
        places: &[Symbol],
        map: &FxHashMap<Symbol, Expr>,
    ) -> Option<Vec<Sink>> {
        let mut parameters: BTreeSet<usize> = BTreeSet::new();
        for change in changes {
            parameters.extend(change.parameters.keys());
        }
        let zero = self.pool.zero();
        let right: Vec<Vec<Expr>> = changes
            .iter()
            .map(|change| {
                let of = |parameter: &usize| change.parameters.get(parameter).copied().unwrap_or(zero);
                let mut row: Vec<Expr> = parameters.iter().map(of).collect();
                row.push(change.signals.unwrap_or(zero));
                row.into_iter().map(|entry| self.pool.neg(entry)).collect()
            })
            .collect();
        let left = self.jacobian(&law.list, places);
        let left: Vec<Vec<Expr>> = left.iter().map(|row| self.pool.substitute_all(row, map)).collect();
        let right: Vec<Vec<Expr>> = right.iter().map(|row| self.pool.substitute_all(row, map)).collect();
        let solution = solve(self.pool, &left, &right)?;
        let n = places.len();
        let flows: Vec<Symbol> = (0..n).map(|port| self.old.locals.port(n, port)[1]).collect();
        let mut sinks = Vec::new();
        for (port, row) in solution.into_iter().enumerate() {
            let mut change = Change::default();
            for (parameter, factor) in parameters.iter().zip(&row) {
                // Elimination leaves fractions within fractions where there are several ports.
                let factor =
                    if n > 1 { readable(self.pool, *factor, &CancellationToken::new()) } else { *factor };
                change.add_parameter(self.pool, *parameter, factor);
            }
            if let Some(signal) = row.last() {
                change.add_signal(self.pool, *signal);
            }
            sinks.push(Sink { port, flow: places[port] == flows[port], change });
        }
        Some(sinks)
    }

    /// The law of increments; with `added` it keeps what would else be sinks.
    fn linear_law(
        &mut self,
        id: ElementId,
        element: &Element,
        law: &Residuals,
        map: &FxHashMap<Symbol, Expr>,
        added: Option<&[Change]>,
    ) -> Law {
        let plain_law = !matches!(element.law, Law::Equations(_)) && element.class() != Class::EntropySource;
        if plain_law && added.is_none() {
            return element.law.clone();
        }
        let symbols = locals(&self.old, element);
        let mut equations = Vec::with_capacity(law.list.len());
        for (i, residual) in law.list.iter().enumerate() {
            let derivatives = self.pool.derivatives(*residual, &symbols);
            let derivatives = self.pool.substitute_all(&derivatives, map);
            let mut terms = Vec::new();
            for (symbol, derivative) in symbols.iter().zip(&derivatives) {
                if Some(*symbol) != law.solved[i] {
                    let variable = self.pool.var(*symbol);
                    terms.push(self.pool.mul(*derivative, variable));
                }
            }
            if let Some(change) = added.map(|changes| changes[i].clone()) {
                let more = self.total(&change);
                terms.push(self.pool.substitute(more, map));
            }
            let rest = self.pool.sum(&terms);
            let span = self.law_span(element, i);
            equations.push(match law.solved[i] {
                Some(symbol) => {
                    // The coefficient of what the law is solved for is 1 or −1.
                    let place = symbols.iter().position(|other| *other == symbol).unwrap_or(0);
                    let value = self.pool.div(rest, derivatives[place]);
                    let right = self.pool.neg(value);
                    Equation { left: self.pool.var(symbol), right, solved_for: Some(symbol), span }
                }
                None => Equation { left: rest, right: self.pool.zero(), solved_for: None, span },
            });
        }
        if added.is_none()
            && let Some(value) = self.as_value(element, &equations)
        {
            return Law::Value(value);
        }
        self.mention_all(id, element, &symbols, &mut equations);
        Law::Equations(equations)
    }

    fn law_span(&self, element: &Element, i: usize) -> Span {
        match &element.law {
            Law::Equations(equations) => equations[i].span,
            _ => element.span,
        }
    }

    /// A one-port's law as `= value`, where it is written in that direction.
    fn as_value(&mut self, element: &Element, equations: &[Equation]) -> Option<Expr> {
        let ([equation], 1) = (equations, element.ports.len()) else { return None };
        let (x, y) = element.class().pair(self.old.locals.port(1, 0));
        (equation.solved_for == Some(x)).then(|| self.pool.diff(equation.right, y))
    }

    /// Lets flat laws mention the variables that a law must mention, with a factor that is zero.
    fn mention_all(
        &mut self,
        id: ElementId,
        element: &Element,
        symbols: &[Symbol],
        equations: &mut [Equation],
    ) {
        for (place, symbol) in symbols.iter().enumerate() {
            let mentioned = equations.iter().any(|law| {
                self.pool.depends_on(law.left, *symbol) || self.pool.depends_on(law.right, *symbol)
            });
            if mentioned || self.old.element(id).kind != element.kind {
                continue;
            }
            let flat = self.flat_symbol(element.span);
            let (flat, variable) = (self.pool.var(flat), self.pool.var(*symbol));
            let term = self.pool.mul(flat, variable);
            if let Some(law) = equations.get_mut(place / 2) {
                law.right = self.pool.add(law.right, term);
            }
        }
    }

    fn flat_symbol(&mut self, span: Span) -> Symbol {
        if let Some(symbol) = self.flat {
            return symbol;
        }
        let symbol = self.pool.fresh("flat");
        let zero = self.pool.zero();
        self.build.graph.push_parameter("flat".to_owned(), symbol, Value::Written(zero), 0.0, span);
        if let Some(made) = self.build.graph.parameters.last_mut() {
            made.declaration.doc = Some("derivative of a law that is flat".to_owned());
        }
        self.flat = Some(symbol);
        symbol
    }

    /// Puts sinks beside an element's ports.
    fn place_sinks(&mut self, id: ElementId, name: &str, sinks: Vec<Sink>) {
        let many = self.build.graph.element(id).ports.len() > 1;
        let of = self.build.graph.element(id).original().to_owned();
        let mut split: BTreeMap<usize, Vec<(usize, bool, Expr)>> = BTreeMap::new();
        for Sink { port, flow, change } in sinks {
            let number = if many { format!("_{}", port + 1) } else { String::new() };
            // Against the arrow an effort sink counts the other way; a flow into the element does not.
            let turned = !flow && !self.build.points_into(id, port);
            let signed = |pool: &mut Pool, value: Expr| if turned { pool.neg(value) } else { value };
            for (parameter, factor) in &change.parameters {
                let factor = signed(self.pool, *factor);
                if self.request.split {
                    split.entry(*parameter).or_default().push((port, flow, factor));
                    continue;
                }
                let delta = self.pool.var(self.deltas[parameter]);
                let value = self.pool.mul(factor, delta);
                let parameter = &self.old.parameters[*parameter].name;
                let sink = format!("sink_{name}_{}{number}", plain(parameter));
                let origin = Origin::Sink { of: of.clone(), parameter: Some(parameter.clone()) };
                let junction = self.build.junction(id, name, port, flow);
                self.build.sink(junction, sink, flow, value, origin);
            }
            if let Some(value) = change.signals {
                let value = signed(self.pool, value);
                let junction = self.build.junction(id, name, port, flow);
                let origin = Origin::Sink { of: of.clone(), parameter: None };
                self.build.sink(junction, format!("sink_{name}{number}"), flow, value, origin);
            }
        }
        for (parameter, parts) in split {
            self.place_split(id, name, parameter, &parts);
        }
    }

    /// One independent sink Δp for all that a parameter adds to an element, behind modulated
    /// transformers (Figs 3 and 8). Nothing divides by a modulus: effort sinks take their effort from
    /// Δp, flow sinks their flow; where an element has both, Δp is a flow and gyrators make the efforts.
    fn place_split(&mut self, id: ElementId, name: &str, parameter: usize, parts: &[(usize, bool, Expr)]) {
        let what = format!("{name}_{}", plain(&self.old.parameters[parameter].name));
        let many = self.build.graph.element(id).ports.len() > 1;
        let of = self.build.graph.element(id).original().to_owned();
        let changing = self.old.parameters[parameter].name.clone();
        let at = self.build.place(id);
        let as_flow = parts.iter().any(|(_, flow, _)| *flow);
        let kind = Class::Source(if as_flow { Power::Flow } else { Power::Effort }).kind();
        let delta = self.pool.var(self.deltas[&parameter]);
        let origin = Origin::Sink { of: of.clone(), parameter: Some(changing.clone()) };
        let sink = self.build.element(New {
            name: format!("sink_{what}"),
            kind,
            law: Law::Value(delta),
            ports: 1,
            at,
            origin,
        });
        self.build.sinks.push(sink);
        let target = if parts.len() == 1 {
            sink
        } else {
            let kind = Class::Junction(if as_flow { Power::Flow } else { Power::Effort }).kind();
            let origin = Origin::Junction { of: of.clone() };
            let name = format!("j_{what}");
            self.build.element(New { name, kind, law: Law::Structure, ports: 0, at, origin })
        };
        for (port, flow, factor) in parts {
            let number = if many { format!("_{}", port + 1) } else { String::new() };
            let junction = self.build.junction(id, name, *port, *flow);
            let (class, word) =
                if as_flow && !flow { (Class::Gyrator, "mgy") } else { (Class::Transformer, "mtf") };
            let origin = Origin::Modulator { of: of.clone(), parameter: changing.clone() };
            let two_port = self.build.element(New {
                name: format!("{word}_{what}{number}"),
                kind: class.kind(),
                law: Law::Value(*factor),
                ports: 2,
                at,
                origin,
            });
            // f2 = m f1 gives the flow at port 2, e1 = m e2 the effort at port 1.
            let (near, far) = if *flow { (1, 0) } else { (0, 1) };
            self.build.bond((junction, 0), (two_port, near), at.0);
            self.build.bond((two_port, far), (target, 0), at.0);
        }
        if target != sink {
            self.build.bond((target, 0), (sink, 0), at.0);
        }
    }
}
