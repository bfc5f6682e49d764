//! From text to equations and back, for the tests of derived graphs.

#![allow(dead_code, clippy::unwrap_used, clippy::panic)]

use paynter_algebra::poly::Budget;
use paynter_algebra::{Expr, Pool, Rational as Exact, Symbol};
use paynter_base::CancellationToken;
use paynter_equations::{Equations, QueryError, derive, transfer};
use paynter_graph::{BondGraph, Causality, Output, Variable};
use paynter_testkit::read::{Causal, causal};
use paynter_transform::{Derived, Form, Request, Start, TextOptions, incremental, to_text};
use rustc_hash::FxHashMap;

/// A model with its causality.
pub struct Model {
    pub pool: Pool,
    pub graph: BondGraph,
    pub causality: Causality,
}

/// Reads a text; the messages of its errors otherwise.
pub fn model(text: &str) -> Result<Model, String> {
    let Causal { pool, graph, causality } = causal(text)?;
    Ok(Model { pool, graph, causality })
}

impl Model {
    /// Builds a derived graph and writes it.
    pub fn derived(&mut self, request: &Request) -> (Derived, String) {
        let start = if request.pair { self.start() } else { Start::default() };
        let derived = incremental(
            &mut self.pool,
            &self.graph,
            &self.causality,
            request,
            &|_| Some(0.7),
            &start,
            &CancellationToken::new(),
        )
        .unwrap();
        let mut text = to_text(&mut self.pool, &derived.graph, &TextOptions::default());
        if model(&text).is_err() {
            // Nominal variables have no units, where laws may ask for them.
            let options = TextOptions { without_units: true, ..TextOptions::default() };
            text = to_text(&mut self.pool, &derived.graph, &options);
        }
        (derived, text)
    }

    /// Derives the equations.
    pub fn equations(&mut self) -> Result<Equations, String> {
        match derive(&mut self.pool, &mut self.graph, &self.causality, &CancellationToken::new()) {
            Ok(equations) => Ok(equations),
            Err(QueryError::Cancelled) => Err("cancelled".to_owned()),
            Err(QueryError::Wrong(list)) => {
                Err(list.iter().map(|d| d.message.clone()).collect::<Vec<_>>().join("; "))
            }
        }
    }

    /// Where the independent states begin; nothing here asks for more.
    pub fn start(&mut self) -> Start {
        let states = self.equations().map(|equations| equations.states).unwrap_or_default();
        let states = states.into_iter().map(|state| (state.variable, state.initial)).collect();
        Start { states, ..Start::default() }
    }

    /// Makes every variable that is not a parameter an output.
    pub fn observe_all(&mut self) -> Vec<String> {
        let mut variables: Vec<Variable> = Vec::new();
        for bond in self.graph.bond_ids() {
            variables.extend([Variable::Effort(bond), Variable::Flow(bond)]);
        }
        for id in self.graph.element_ids() {
            if paynter_graph::is_storage(self.graph.element(id).kind) {
                let ports = self.graph.element(id).ports.len() as u32;
                variables.extend((0..ports).map(|port| Variable::State(id, port)));
            }
        }
        variables.extend((0..self.graph.signals.len() as u32).map(Variable::Signal));
        variables.extend((0..self.graph.integrators.len() as u32).map(Variable::Integrator));
        variables.extend((0..self.graph.inputs.len() as u32).map(Variable::Input));
        let mut names = Vec::new();
        for variable in variables {
            let symbol = self.graph.symbol(&mut self.pool, variable);
            let value = self.pool.var(symbol);
            let name = self.pool.name(symbol).replace(['.', '['], "_").replace(']', "");
            let span = self.graph.elements[0].span;
            self.graph.outputs.push(Output { name: name.clone(), value, unit: None, doc: None, span });
            names.push(name);
        }
        names
    }
}

/// A request for all parameters.
pub fn all(graph: &BondGraph) -> Request {
    Request {
        form: Form::Incremental,
        parameters: (0..graph.parameters.len()).collect(),
        split: false,
        pair: false,
    }
}

/// The transfer matrix with numbers for the symbols of parameters.
pub fn transfer_at(
    pool: &mut Pool,
    graph: &BondGraph,
    equations: &Equations,
    map: &FxHashMap<Symbol, Expr>,
    s: &Exact,
) -> Result<Vec<Vec<Exact>>, String> {
    let mut numeric = equations.clone();
    numeric.rates = pool.substitute_all(&numeric.rates, map);
    for output in &mut numeric.outputs {
        output.value = pool.substitute(output.value, map);
    }
    let space = numeric.state_space(pool, graph).ok_or("a linear model is said to be nonlinear")?;
    let found = transfer(pool, &numeric, &space, Budget::default(), &CancellationToken::new())
        .map_err(|_| "no transfer function")?;
    let value = pool.number(s.clone());
    let at: FxHashMap<Symbol, Expr> = [(found.s, value)].into_iter().collect();
    let mut out = vec![Vec::new(); numeric.outputs.len()];
    for entry in &found.entries {
        let quotient = pool.div(entry.num, entry.den);
        let value = pool.substitute(quotient, &at);
        out[entry.output].push(pool.as_rational(value).cloned().ok_or("not a number")?);
    }
    Ok(out)
}
