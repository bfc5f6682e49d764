//! The examples of the papers, to the last entry.

#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use common::{Model, all, model};
use paynter_algebra::{Expr, Pool, Symbol};
use paynter_base::CancellationToken;
use paynter_equations::StateSpace;
use paynter_testkit::rng::Rng;
use paynter_transform::{Request, Sensitivity, TextOptions, pseudo, to_text};
use rustc_hash::FxHashMap;

const MOTOR: &str = include_str!("../../../examples/dc_motor.bg");
const COILS: &str = include_str!("../../../examples/two_coils_printed.bg");
const INDUCTANCES: &str = include_str!("../../../examples/two_coils.bg");
const TANKS: &str = include_str!("../../../examples/conical_tanks.bg");

/// The matrices of an incremental graph.
struct Matrices {
    model: Model,
    space: StateSpace,
    states: Vec<String>,
    inputs: Vec<String>,
}

fn matrices(text: &str, change: impl FnOnce(&mut Request)) -> Matrices {
    let mut original = model(text).unwrap();
    let mut request = all(&original.graph);
    change(&mut request);
    let (_, text) = original.derived(&request);
    let mut model = model(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let equations = model.equations().unwrap();
    let space = equations.state_space(&mut model.pool, &model.graph).unwrap();
    let states = equations.states.iter().map(|state| state.name.clone()).collect();
    let inputs = equations.inputs.iter().map(|input| input.name.clone()).collect();
    Matrices { model, space, states, inputs }
}

/// Random values, by name, for everything that a matrix holds.
fn point(names: &[&str]) -> FxHashMap<String, f64> {
    let mut rng = Rng::new(23);
    names.iter().map(|name| ((*name).to_owned(), 0.3 + rng.within(1, 900) as f64 / 300.0)).collect()
}

fn number(pool: &Pool, expr: Expr, at: &FxHashMap<String, f64>) -> f64 {
    let value = |symbol: Symbol| at.get(pool.name(symbol)).copied();
    pool.eval(expr, &value).unwrap()
}

impl Matrices {
    /// An entry of the matrix of B̃ (`row` a state) or D̃ (`row` an output).
    fn entry(&self, row: usize, input: &str, output: bool, at: &FxHashMap<String, f64>) -> f64 {
        let column = self.inputs.iter().position(|name| name == input).unwrap();
        let matrix = if output { &self.space.d[0] } else { &self.space.b[0] };
        let found = matrix.entries.iter().find(|(i, j, _)| (*i, *j) == (row, column));
        found.map_or(0.0, |(_, _, expr)| number(&self.model.pool, *expr, at))
    }

    fn state(&self, name: &str) -> usize {
        self.states.iter().position(|state| state == name).unwrap()
    }
}

fn close(found: f64, expected: f64, what: &str) {
    assert!((found - expected).abs() < 1e-12 * (1.0 + expected.abs()), "{what}: {found}, not {expected}");
}

/// Equations (16) and (17), with p/L and p/J as nominal flows.
#[test]
fn the_motor_has_the_matrices_of_the_paper() {
    for split in [false, true] {
        let found = matrices(MOTOR, |request| request.split = split);
        let mut at = point(&["Ra", "La", "kT", "Rm", "Jm", "i", "w"]);
        let (i, w) = (at["i"], at["w"]);
        for (name, value) in
            [("winding_f", i), ("coil_f", i), ("motor_f1", i), ("motor_f2", w), ("bearing_f", w)]
        {
            at.insert(format!("nom_{name}"), value);
        }
        at.insert("nom_rotor_f".to_owned(), w);
        let [ra, la, kt, rm, jm] = ["Ra", "La", "kT", "Rm", "Jm"].map(|name| at[name]);
        let (pe, pm) = (la * i, jm * w);
        let electric = [-pe / la, ra / la.powi(2) * pe, -pm / jm, 0.0, kt / jm.powi(2) * pm];
        let mechanic = [0.0, -kt / la.powi(2) * pe, pe / la, -pm / jm, rm / jm.powi(2) * pm];
        let current = [0.0, -pe / la.powi(2), 0.0, 0.0, 0.0];
        for (k, name) in ["Ra", "La", "kT", "Rm", "Jm"].into_iter().enumerate() {
            let input = format!("Delta_{name}");
            close(found.entry(found.state("coil.p"), &input, false, &at), electric[k], name);
            close(found.entry(found.state("rotor.p"), &input, false, &at), mechanic[k], name);
            close(found.entry(0, &input, true, &at), current[k], name);
        }
        assert!(found.space.b.len() == 1 && found.space.d.len() == 1, "no change is differentiated");
    }
}

/// Equation (23): one parameter, one element replaced.
#[test]
fn one_parameter_replaces_one_element() {
    let mut original = model(MOTOR).unwrap();
    let friction = original.graph.parameters.iter().position(|p| p.name == "Rm").unwrap();
    let request = Request { parameters: vec![friction], ..all(&original.graph) };
    let (derived, text) = original.derived(&request);
    let names: Vec<&str> = derived.sinks.iter().map(|id| derived.graph.element(*id).name.as_str()).collect();
    assert_eq!(names, ["sink_bearing_Rm"]);
    // The sink and its junction are all that is new.
    assert_eq!(derived.graph.elements.len(), original.graph.elements.len() + 2);
    let mut alone = model(&text).unwrap();
    let equations = alone.equations().unwrap();
    let space = equations.state_space(&mut alone.pool, &alone.graph).unwrap();
    let budget = paynter_algebra::poly::Budget::default();
    let found =
        paynter_equations::transfer(&mut alone.pool, &equations, &space, budget, &CancellationToken::new())
            .unwrap();
    let entry = found.entries.iter().find(|entry| (entry.output, entry.input) == (0, 0)).unwrap();
    let at = point(&["Ra", "La", "kT", "Rm", "Jm", "s", "nom_bearing_f"]);
    let [ra, la, kt, rm, jm, s, w] = ["Ra", "La", "kT", "Rm", "Jm", "s", "nom_bearing_f"].map(|n| at[n]);
    let delta = s * s + (ra / la + rm / jm) * s + (kt * kt + ra * rm) / (jm * la);
    let value = number(&alone.pool, entry.num, &at) / number(&alone.pool, entry.den, &at);
    close(value, kt / (jm * la * delta) * w, "(23)");
}

/// Equations (39) and (40) with T as the partial derivatives (Fig. 21), coefficients as printed in (34).
#[test]
fn the_coils_have_the_matrices_of_the_paper() {
    for split in [false, true] {
        let found = matrices(COILS, |request| request.split = split);
        let mut at = point(&["L1", "L2", "M12", "R", "nom_coils_p1", "nom_coils_p2"]);
        let [l1, l2, m, r] = ["L1", "L2", "M12", "R"].map(|name| at[name]);
        let (p1, p2) = (at["nom_coils_p1"], at["nom_coils_p2"]);
        let i2 = p1 / m + p2 / l2;
        // The load's bond runs from the common junction, so its flow is minus that of coil 2.
        at.insert("nom_load_f".to_owned(), -i2);
        let second = [0.0, r * p2 / l2.powi(2), r * p1 / m.powi(2), -i2];
        let current = [-p1 / l1.powi(2), 0.0, -p2 / m.powi(2), 0.0];
        let sign = load_sign();
        at.insert("nom_load_f".to_owned(), sign * i2);
        for (k, name) in ["L1", "L2", "M12", "R"].into_iter().enumerate() {
            let input = format!("Delta_{name}");
            close(found.entry(found.state("coils.p1"), &input, false, &at), 0.0, name);
            close(found.entry(found.state("coils.p2"), &input, false, &at), second[k], name);
            close(found.entry(0, &input, true, &at), current[k], name);
        }
    }
}

/// Whether the load's flow along its arrow is that of coil 2, or minus it.
fn load_sign() -> f64 {
    let original = model(COILS).unwrap();
    let graph = &original.graph;
    let load = graph.elements.iter().position(|e| e.name == "load").unwrap();
    let coils = graph.elements.iter().position(|e| e.name == "coils").unwrap();
    // Both leave the 1-junction, whose flow they share.
    if graph.elements[load].ports[0].into == graph.elements[coils].ports[1].into { 1.0 } else { -1.0 }
}

/// The physical model: with true inductances the pair's transfer function is the table's derivative.
#[test]
fn true_inductances_have_the_sensitivities_of_the_physical_model() {
    let mut original = model(INDUCTANCES).unwrap();
    let (_, text) = original.derived(&Request { pair: true, ..all(&original.graph) });
    let mut pair = model(&text).unwrap();
    let equations = pair.equations().unwrap();
    let space = equations.state_space(&mut pair.pool, &pair.graph).unwrap();
    let budget = paynter_algebra::poly::Budget::default();
    let found =
        paynter_equations::transfer(&mut pair.pool, &equations, &space, budget, &CancellationToken::new())
            .unwrap();
    let names: Vec<String> = original.graph.parameters.iter().map(|p| p.name.clone()).collect();
    let row = original.graph.outputs.len();
    let entry = found.entries.iter().find(|entry| entry.output == row && entry.input == 0).unwrap();
    let [l1, l2, m, r, s]: [f64; 5] = [1.3, 0.9, 0.7, 2.1, 0.6];
    let q = (l1 * l2 - m * m) * s + l1 * r;
    for name in names {
        let expected = match name.as_str() {
            "L1" => -(l2 * s + r).powi(2) / (s * q * q),
            "L2" => -m * m * s / (q * q),
            "M" => 2.0 * m * (l2 * s + r) / (q * q),
            "R" => -m * m / (q * q),
            _ => continue,
        };
        let value = |symbol: Symbol| {
            Some(match pair.pool.name(symbol) {
                "L1" => l1,
                "L2" => l2,
                "M" => m,
                "R" => r,
                "s" => s,
                other => f64::from(other == format!("Delta_{name}")),
            })
        };
        let quotient =
            pair.pool.eval(entry.num, &value).unwrap() / pair.pool.eval(entry.den, &value).unwrap();
        assert!(
            (quotient - expected).abs() < 1e-9 * (1.0 + expected.abs()),
            "{name}: {quotient}, {expected}"
        );
    }
}

/// Equation (18), mended, where causality gives a pipe its flow.
#[test]
fn a_pipe_with_a_given_flow_has_the_mended_component() {
    let text = "model pipe { param alpha = 1.5; param beta = 0.8; input u = 1; Sf pump = u; \
                R pipe { e = beta*f^alpha }; pump -> pipe; output y = pipe.e }";
    let mut original = model(text).unwrap();
    let start = original.start();
    let Model { pool, graph, causality } = &mut original;
    let graph =
        pseudo(pool, graph, causality, &[0, 1], Sensitivity::Weighted, &start, &CancellationToken::new())
            .unwrap();
    let pipe = graph.elements.iter().find(|e| e.name == "pipe").unwrap();
    let paynter_graph::Law::Equations(laws) = &pipe.law else { panic!("no laws") };
    let names = ["alpha", "beta", "lambda_alpha", "lambda_beta", "f1", "f2"];
    let at = point(&names);
    let [a, b, l1, l2, f, lf] = names.map(|name| at[name]);
    let expected = a * b * f.powf(a - 1.0) * lf + l1 * b * f.powf(a) * f.ln() + l2 * f.powf(a);
    close(number(pool, laws[1].right, &at), expected, "(18)");
}

/// Gawthrop's s-components: (19) with (20), (23) with its derivative, initial volumes as parameters.
#[test]
fn the_tanks_have_the_components_of_the_paper() {
    let mut original = model(TANKS).unwrap();
    let parameters: Vec<usize> = (0..original.graph.parameters.len()).collect();
    let start = original.start();
    let graph = pseudo(
        &mut original.pool,
        &original.graph,
        &original.causality,
        &parameters,
        Sensitivity::Weighted,
        &start,
        &CancellationToken::new(),
    )
    .unwrap();
    let options = TextOptions { without_units: true, ..TextOptions::default() };
    let text = to_text(&mut original.pool, &graph, &options);
    let mut tanks = model(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    for bond in 0..original.graph.bonds.len() {
        for layer in 0..2 {
            let place = layer * original.graph.bonds.len() + bond;
            let strokes = [&original.causality.strokes[bond], &tanks.causality.strokes[place]];
            assert_eq!(strokes[0].effort_to, strokes[1].effort_to, "the causality is the same");
        }
    }
    let at: FxHashMap<String, f64> = [
        ("rho_g", 1.1),
        ("alpha", 1.5),
        ("beta", 0.8),
        ("V1", 0.5),
        ("V2", 0.25),
        ("lambda_rho_g", 0.4),
        ("lambda_alpha", 0.7),
        ("lambda_beta", -0.3),
        ("lambda_V1", 0.9),
        ("lambda_V2", 0.2),
        ("f1", 0.6),
        ("f2", -0.4),
        ("e1", 0.5),
        ("e2", 0.35),
        ("q1", 0.45),
        ("q2", 0.15),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .into_iter()
    .collect();
    let residual = |tanks: &mut Model, element: &str, law: usize| {
        let found = tanks.graph.elements.iter().find(|e| e.name == element).unwrap();
        let paynter_graph::Law::Equations(laws) = &found.law else { panic!("no laws") };
        let value = tanks.pool.sub(laws[law].left, laws[law].right);
        number(&tanks.pool, value, &at)
    };
    // (19) and (20): the pipes are given their effort.
    let [a, b, e, le, lf] = ["alpha", "beta", "e1", "e2", "f2"].map(|name| at[name]);
    let flow = (e / b).powf(1.0 / a);
    let slope = le / (a * e) - at["lambda_alpha"] * (e / b).ln() / (a * a) - at["lambda_beta"] / (a * b);
    close(residual(&mut tanks, "pipe1", 0), at["f1"] - flow, "(19)");
    close(residual(&mut tanks, "pipe1", 1), lf - flow * slope, "(20)");
    let height = (12.0 / std::f64::consts::PI * at["q1"]).cbrt();
    let tank = le - height * (at["q2"] * at["rho_g"] / (3.0 * at["q1"]) + at["lambda_rho_g"]);
    close(residual(&mut tanks, "tank1", 1), tank, "(25) without its initial state, which is one itself");
    let equations = tanks.equations().unwrap();
    let start = equations.states.iter().find(|state| state.name == "tank2.q2").unwrap().initial;
    close(number(&tanks.pool, start, &at), at["lambda_V2"], "the initial sensitivity");
}
