//! Sensitivities in symbols: the results of the papers, and random bond graphs
//! against the acausal oracle of the test kit, whose derivatives are exact.
//!
//! `cargo xtask random SEED [COUNT]` runs other seeds.

#![allow(clippy::unwrap_used, clippy::panic)]

use paynter_algebra::poly::Budget;
use paynter_algebra::{Expr, Pool, Rational as Exact, Symbol};
use paynter_base::CancellationToken;
use paynter_equations::{
    Equations, Parameter, Products, Sensitivities, SensitivityRequest, StateSpace, derive, products,
    sensitivities, shared_sensitivities,
};
use paynter_graph::{BondGraph, flat_name};
use paynter_testkit::linear::{sensitivity, small_point};
use paynter_testkit::number::{Number, Rational};
use paynter_testkit::property::{demand, seeds};
use paynter_testkit::read::{Causal, causal};
use paynter_testkit::rng::Rng;
use paynter_testkit::structure::Structure;
use paynter_testkit::{Options, generate};
use rustc_hash::FxHashMap;

const REQUEST: SensitivityRequest =
    SensitivityRequest { normalized: false, budget: Budget { terms: 20_000, steps: 4_000_000 } };

struct Linear {
    pool: Pool,
    graph: BondGraph,
    equations: Equations,
    space: StateSpace,
}

/// Brings a text to its matrices; none where it is refused or not linear.
fn linear(text: &str) -> Option<Linear> {
    let Causal { mut pool, mut graph, causality } = causal(text).ok()?;
    let equations = derive(&mut pool, &mut graph, &causality, &CancellationToken::new()).ok()?;
    let space = equations.state_space(&mut pool, &graph)?;
    Some(Linear { pool, graph, equations, space })
}

impl Linear {
    fn example(name: &str) -> Linear {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/");
        linear(&std::fs::read_to_string(format!("{folder}{name}.bg")).unwrap()).unwrap()
    }

    fn parameters(&self) -> Vec<Parameter> {
        let carried = Vec::new;
        self.graph.parameters.iter().map(|p| Parameter { symbol: p.symbol, carried: carried() }).collect()
    }

    fn sensitivities(&mut self, normalized: bool) -> Sensitivities {
        let parameters = self.parameters();
        let request = SensitivityRequest { normalized, ..REQUEST };
        let token = CancellationToken::new();
        sensitivities(&mut self.pool, &self.equations, &self.space, &parameters, request, &token).unwrap()
    }

    fn products(&mut self) -> Option<Products> {
        let parameters = self.parameters();
        let token = CancellationToken::new();
        products(&mut self.pool, &self.graph, &self.equations, &parameters, REQUEST.budget, &token).unwrap()
    }

    /// The exact value of a quotient of expressions; none at a pole.
    fn value(&mut self, num: Expr, den: Expr, map: &FxHashMap<Symbol, Expr>) -> Option<Exact> {
        let list = self.pool.substitute_all(&[num, den], map);
        let quotient = self.pool.div(list[0], list[1]);
        self.pool.as_rational(quotient).cloned()
    }

    /// Compares an entry with a formula at a few rational points of all parameters and s.
    fn compare(
        &mut self,
        all: &Sensitivities,
        (output, input, parameter): (&str, &str, &str),
        formula: impl Fn(&dyn Fn(&str) -> Exact) -> Exact,
    ) {
        let entry = *all
            .entries
            .iter()
            .find(|e| {
                self.equations.outputs[e.output].name == output
                    && self.equations.inputs[e.input].name == input
                    && self.graph.parameters[e.parameter].name == parameter
            })
            .unwrap();
        for point in 1..4i64 {
            let mut names: Vec<(String, Exact)> = Vec::new();
            let mut map = FxHashMap::default();
            let symbols: Vec<Symbol> =
                self.graph.parameters.iter().map(|p| p.symbol).chain([all.s]).collect();
            for (k, symbol) in symbols.into_iter().enumerate() {
                let value = Exact::from_parts((7 * point + 3 * k as i64 + 2).into(), (k as u64 + 2).into());
                names.push((self.pool.name(symbol).to_owned(), value.clone()));
                map.insert(symbol, self.pool.number(value));
            }
            let named = |name: &str| names.iter().find(|(known, _)| known == name).unwrap().1.clone();
            let found = self.value(entry.num, entry.den, &map).unwrap();
            assert_eq!(found, formula(&named), "∂({output}/{input})/∂{parameter}");
        }
    }
}

#[test]
fn the_motor_of_borutzky_and_granda() {
    let mut model = Linear::example("dc_motor");
    let all = model.sensitivities(false);
    assert!(all.shared.is_none());
    // P = (sI − A)⁻¹ B of (14), with Δ of (19); the inputs drive Pe and Pm.
    type At<'a> = &'a dyn Fn(&str) -> Exact;
    let delta = |v: At| {
        (v("s") + v("Ra") / v("La")) * (v("s") + v("Rm") / v("Jm")) + v("kT") * v("kT") / (v("La") * v("Jm"))
    };
    let pe = |v: At, input: &str| match input {
        "E" => (v("s") + v("Rm") / v("Jm")) / delta(v),
        _ => -v("kT") / v("Jm") / delta(v),
    };
    let pm = |v: At, input: &str| match input {
        "E" => v("kT") / v("La") / delta(v),
        _ => (v("s") + v("Ra") / v("La")) / delta(v),
    };
    for input in ["E", "Mload"] {
        let square = |v: At| v("Jm") * v("La") * v("La") * delta(v);
        model
            .compare(&all, ("ia", input, "Ra"), |v| -pe(v, input) * (v("Jm") * v("s") + v("Rm")) / square(v));
        model.compare(&all, ("ia", input, "La"), |v| {
            -pe(v, input) * v("s") * (v("Jm") * v("s") + v("Rm")) / square(v)
        });
        model.compare(&all, ("ia", input, "kT"), |v| {
            -(v("Jm") * v("La") * v("s") * pm(v, input)
                + v("Jm") * v("kT") * pe(v, input)
                + v("La") * v("Rm") * pm(v, input))
                / (v("Jm") * square(v))
        });
        model.compare(&all, ("ia", input, "Rm"), |v| {
            v("kT") * pm(v, input) / (v("Jm") * v("Jm") * v("La") * delta(v))
        });
        model.compare(&all, ("ia", input, "Jm"), |v| {
            v("kT") * v("s") * pm(v, input) / (v("Jm") * v("Jm") * v("La") * delta(v))
        });
    }
    // The denominator is kept as a square.
    let first = all.entries[0];
    let (num, den) = (model.pool.display(first.num).to_string(), model.pool.display(first.den).to_string());
    assert_eq!(num, "-Jm^2*s^2 - 2*Jm*Rm*s - Rm^2");
    assert_eq!(den, "(Jm*La*s^2 + Jm*Ra*s + La*Rm*s + Ra*Rm + kT^2)^2");
}

#[test]
fn the_two_coils_physical_and_as_printed() {
    let mut model = Linear::example("two_coils");
    let all = model.sensitivities(false);
    type At<'a> = &'a dyn Fn(&str) -> Exact;
    let q = |v: At| (v("L1") * v("L2") - v("M") * v("M")) * v("s") + v("L1") * v("R");
    let load = |v: At| v("L2") * v("s") + v("R");
    model.compare(&all, ("i1", "E", "L1"), |v| -load(v) * load(v) / (v("s") * q(v) * q(v)));
    model.compare(&all, ("i1", "E", "L2"), |v| -v("M") * v("M") * v("s") / (q(v) * q(v)));
    model.compare(&all, ("i1", "E", "M"), |v| v("M") * load(v) * Exact::from(2) / (q(v) * q(v)));
    model.compare(&all, ("i1", "E", "R"), |v| -v("M") * v("M") / (q(v) * q(v)));

    let mut model = Linear::example("two_coils_printed");
    let all = model.sensitivities(false);
    // H = 1/(s L1) − R/(M12² s (s + R/L2)).
    let below = |v: At| v("s") + v("R") / v("L2");
    let square = |v: At| v("M12") * v("M12");
    model.compare(&all, ("i1", "E", "L1"), |v| -Exact::from(1) / (v("s") * v("L1") * v("L1")));
    model.compare(&all, ("i1", "E", "L2"), |v| {
        -v("R") * v("R") / (v("L2") * v("L2") * square(v) * v("s") * below(v) * below(v))
    });
    model.compare(&all, ("i1", "E", "M12"), |v| {
        Exact::from(2) * v("R") / (square(v) * v("M12") * v("s") * below(v))
    });
    model.compare(&all, ("i1", "E", "R"), |v| -Exact::from(1) / (square(v) * below(v) * below(v)));
}

#[test]
fn the_filter_and_its_sensitivity_bond_graph() {
    let mut model = Linear::example("rc");
    let all = model.sensitivities(false);
    let text = |model: &Linear, k: usize| {
        let entry = all.entries[k];
        format!("{} / {}", model.pool.display(entry.num), model.pool.display(entry.den))
    };
    assert_eq!(text(&model, 0), "-c*s / (c*r*s + 1)^2");
    assert_eq!(text(&model, 1), "-r*s / (c*r*s + 1)^2");
    let relative = model.sensitivities(true);
    let entry = relative.entries[0];
    assert_eq!(model.pool.display(entry.num).to_string(), "-c*r*s");
    assert_eq!(model.pool.display(entry.den).to_string(), "c*r*s + 1");
}

/// The independent parameters and s with the values of a point.
fn at_point(
    model: &mut Linear,
    structure: &Structure,
    point: &[Rational],
    s: &Rational,
) -> FxHashMap<Symbol, Expr> {
    let mut map: FxHashMap<Symbol, Expr> = structure
        .independent()
        .iter()
        .zip(point)
        .map(|(param, value)| {
            let symbol = model.pool.symbol(&flat_name(&structure.params[*param].name));
            (symbol, model.pool.number(value.0.clone()))
        })
        .collect();
    let symbol = model.pool.symbol("s");
    map.insert(symbol, model.pool.number(s.0.clone()));
    map
}

/// The exact derivatives by the oracle for each of the model's parameters; none at a pole.
fn expected(
    model: &Linear,
    structure: &Structure,
    point: &[Rational],
    s: &Rational,
) -> Option<Vec<Vec<Vec<Rational>>>> {
    let independent = structure.independent();
    let mut list = Vec::new();
    for parameter in &model.graph.parameters {
        let place = independent.iter().position(|k| structure.params[*k].name == parameter.name)?;
        list.push(sensitivity(structure, point, place, s)?);
    }
    Some(list)
}

#[test]
fn random_models_agree_with_the_acausal_oracle_and_with_their_products() {
    let (mut judged, mut expanded, mut by_products) = (0, 0, 0);
    for seed in seeds(250) {
        let options = if seed % 8 == 0 { Options::linear() } else { Options::linear().small() };
        let sample = generate(seed, &options);
        let Some(mut model) = linear(&sample.text) else { continue };
        let mut rng = Rng::new(seed ^ 21);
        let point: Vec<Rational> = small_point(&sample.structure, &mut rng);
        let s = Rational::ratio(rng.within(1, 50) as i64, rng.within(1, 7) as i64);
        let Some(wanted) = expected(&model, &sample.structure, &point, &s) else { continue };
        let map = at_point(&mut model, &sample.structure, &point, &s);
        let all = model.sensitivities(false);
        let products = if all.shared.is_none() { model.products() } else { None };
        judged += 1;
        expanded += usize::from(all.shared.is_none());
        by_products += usize::from(products.is_some());
        for entry in &all.entries {
            let found = model.value(entry.num, entry.den, &map);
            let right = &wanted[entry.parameter][entry.output][entry.input].0;
            let place = (entry.output, entry.input, model.graph.parameters[entry.parameter].name.clone());
            assert_eq!(found.as_ref(), Some(right), "seed {seed}: {place:?}\n{}", sample.text);
            let Some(products) = &products else { continue };
            let mut sum = Exact::ZERO;
            for part in &products.places[entry.parameter] {
                let (left, right) = (part.from_sink[entry.output], part.to_quantity[entry.input]);
                let left = model.value(left.num, left.den, &map).unwrap();
                sum += left * model.value(right.num, right.den, &map).unwrap();
            }
            assert_eq!(&sum, right, "seed {seed}: products of {place:?}\n{}", sample.text);
        }
    }
    demand("models judged", judged, 200, 250);
    demand("models expanded", expanded, 150, 250);
    demand("models with products", by_products, 150, 250);
}

#[test]
fn the_shared_form_and_relative_sensitivities_agree_with_the_expanded_form() {
    let mut judged = 0;
    for seed in seeds(60) {
        let sample = generate(seed, &Options::linear().small());
        let Some(mut model) = linear(&sample.text) else { continue };
        let mut rng = Rng::new(seed ^ 5);
        let point: Vec<Rational> = small_point(&sample.structure, &mut rng);
        let s = Rational::ratio(rng.within(1, 50) as i64, 7);
        let map = at_point(&mut model, &sample.structure, &point, &s);
        let parameters = model.parameters();
        for normalized in [false, true] {
            let all = model.sensitivities(normalized);
            let Linear { pool, equations, space, .. } = &mut model;
            let token = CancellationToken::new();
            let shared =
                shared_sensitivities(pool, equations, space, &parameters, normalized, &token).unwrap();
            for entry in &all.entries {
                let same = |e: &&paynter_equations::Sensitivity| {
                    (e.output, e.input, e.parameter) == (entry.output, entry.input, entry.parameter)
                };
                let other = *shared.entries.iter().find(same).unwrap();
                let left = model.value(entry.num, entry.den, &map);
                let right = model.value(other.num, other.den, &map);
                if left.is_some() && right.is_some() {
                    judged += 1;
                    assert_eq!(left, right, "seed {seed}\n{}", sample.text);
                }
            }
        }
    }
    demand("entries judged", judged, 200, 60);
}

/// A root in a modulus: what it cancels is cancelled, and the denominator stays a square.
#[test]
fn roots_leave_the_denominator_a_square() {
    let text = "model m { param n = 4; param Ri = 1; param Rl = 2; param L = 1; param k = 3; input u = 1
        Se s = u; 1 a; R i = Ri; I l = L; TF t = 1 + sqrt(n); R r = Rl; C c = 1/k; 1 b
        s -> a; a -> i, l, t; t -> b; b -> r, c; output y = l.f; output z = r.f }";
    let mut model = linear(text).unwrap();
    let all = model.sensitivities(false);
    let (n, ri, rl, l, k, s) = (4.0_f64, 1.0, 2.0, 1.0, 3.0, 0.7_f64);
    let function = |n: f64| {
        let m = 1.0 + n.sqrt();
        let y = s / (l * s * s + (ri + m * m * rl) * s + m * m * k);
        [y, m * y]
    };
    let parameters = &model.graph.parameters;
    let number = |symbol: Symbol| match parameters.iter().find(|p| p.symbol == symbol) {
        Some(parameter) => Some(parameter.number),
        None => (symbol == all.s).then_some(s),
    };
    let mut compared = 0;
    for entry in all.entries.iter().filter(|entry| parameters[entry.parameter].name == "n") {
        let value = |e: Expr| model.pool.eval(e, &number).unwrap();
        let found = value(entry.num) / value(entry.den);
        let h = 1e-5;
        let derivative = (function(n + h)[entry.output] - function(n - h)[entry.output]) / (2.0 * h);
        assert!((found - derivative).abs() < 1e-8, "{found}, not {derivative}");
        let den = model.pool.display(entry.den).to_string();
        assert!(den.contains(")^2") && den.len() < 100, "{den}");
        compared += 1;
    }
    assert_eq!(compared, 2);
}
