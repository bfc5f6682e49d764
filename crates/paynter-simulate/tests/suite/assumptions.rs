//! What a compiled simulation takes for granted about values of parameters: at others its program does not serve. One
//! decision each, in a model in which nothing else of the program hangs on the value.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use paynter_algebra::Pool;
use paynter_base::{CancellationToken, Diagnostics};
use paynter_equations::derive;
use paynter_graph::{BondGraph, CopyOnWrite, Parameter};
use paynter_numerics::Tables;
use paynter_simulate::data::Measured;
use paynter_simulate::experiment::{SimulateOptions, Simulation, Subject};
use paynter_testkit::read::{Causal, causal};
use std::sync::Arc;

/// A model compiled at its nominal values.
struct Program {
    pool: Arc<Pool>,
    parameters: CopyOnWrite<Vec<Parameter>>,
    simulation: Simulation,
}

impl Program {
    fn new(text: &str) -> Program {
        let Causal { mut pool, mut graph, causality } = causal(text).unwrap();
        let token = CancellationToken::new();
        let equations = derive(&mut pool, &mut graph, &causality, &token).unwrap();
        let measured = Measured::none(Tables::default());
        let graph: BondGraph = graph;
        let subject =
            Subject { graph: &graph, causality: &causality, equations: &equations, measured: &measured };
        let asked = (&SimulateOptions::default(), &[][..]);
        let compiled = Simulation::compile(&mut pool, &subject, asked, &mut Diagnostics::new(), &token);
        Program { pool: Arc::new(pool), parameters: graph.parameters.clone(), simulation: compiled.unwrap() }
    }

    /// Whether it serves at another value of a parameter.
    fn serves(&self, name: &str, value: f64) -> bool {
        let mut parameters = self.parameters.clone();
        let changed = parameters.iter_mut().find(|parameter| parameter.name == name);
        changed.unwrap_or_else(|| panic!("there is no parameter {name}")).number = value;
        self.simulation.at(&self.pool, &parameters).is_some()
    }
}

/// A pendulum as a mass for each axis, which is simulated in other states than the model's own, with more beside it.
fn pendulum(beside: &str, push: &str) -> String {
    format!(
        "model pendulum {{ param m = 1; param l = 0.8; param g = 9.81; param A = 4
        input u = {push}; signal phi = integral(gauge.f, 3); 1 turn; 1 x; 1 y; I mx = m; I my = m
        Se weight = -m*g; Se push = u; Df gauge; MTF vx = l*cos(phi); MTF vy = l*sin(phi) + u
        turn -> vx -> x; turn -> vy -> y; turn -> gauge; push -> turn; x -> mx; y -> my; weight -> y
        init my.p = 0.05
        {beside}
        output angle = phi }}"
    )
}

#[test]
fn a_program_serves_as_far_as_its_guards_hold() {
    let lever = "param n = 1 ±0.5; Se s = 1; TF t = n; R load = 2; s -> t; t -> load";
    let bridge = "param R = 3 ±1; Se s = 1; 1 a; R r = R; R o = 2; C c = 1; s -> a; a -> r, o, c";
    let branches = "model m { param G = 2; Se s = sin(t); 1 j; R r = 1; R d { f = if(r.f > 0, G*e, 0.5*e) }
        s -> j; j -> r, d; output y = d.e }";
    for (decision, text, (name, near, far)) in [
        ("an input has a value at the start", pendulum("", "if(t > 0, 0, 1/A)"), ("A", 5.0, 0.0)),
        ("a modulus cannot vanish", pendulum(lever, "0"), ("n", 2.0, 0.3)),
        ("the pivot of a loop cannot vanish", pendulum(bridge, "0"), ("R", 4.0, -1.5)),
        ("branches are joined by a factor of this sign", branches.to_owned(), ("G", 3.0, -2.0)),
    ] {
        let program = Program::new(&text);
        assert!(program.serves(name, near), "{decision}, {name} = {near}\n{text}");
        assert!(!program.serves(name, far), "{decision}, {name} = {far}\n{text}");
    }
}
