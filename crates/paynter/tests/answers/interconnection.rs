//! The standard interconnection model as the facade tells it: the uncertain bond graph, sent through the ordinary
//! passes, has its matrices; the derivative by a parameter is that of the incremental bond graph; normalised δ and
//! those of the paper agree.

#![allow(clippy::unwrap_used, clippy::panic)]

use paynter::{
    CancellationToken, Interconnection, LftOptions, LoadOptions, MemoryWorld, Model, Plain, Procedure,
    ResponseOptions, RobustOptions, SensitivityOptions, examples,
};

use paynter_algebra::Rational;
use paynter_base::random::Random;
use paynter_numerics::linalg::exact_values;
use paynter_testkit::property::{demand, seeds};
use paynter_testkit::{Options, generate};
use std::collections::{BTreeMap, BTreeSet};

fn model(text: &str) -> Model {
    Model::load(&MemoryWorld::new().with("m.bg", text), "m.bg", &LoadOptions::default())
}

fn example(name: &str) -> Model {
    model(examples::find(name).unwrap().text)
}

fn options(procedure: Procedure, normalized: bool) -> LftOptions {
    LftOptions { procedure, normalized, ..LftOptions::default() }
}

/// Whether two numbers are the same up to rounding.
fn close(a: f64, b: f64, size: f64) -> bool {
    (a - b).abs() <= 1e-9 * size.max(a.abs()).max(b.abs())
}

/// The matrices of the uncertain bond graph by the ordinary passes are those of the interconnection.
fn graph_agrees(model: &Model, options: &LftOptions) -> Result<bool, String> {
    let token = CancellationToken::new();
    let Ok(answer) = model.lft(options, &token) else { return Ok(false) };
    let derived = model.uncertain_graph(options, &token).map_err(|failure| format!("{failure:?}"))?;
    let equations = derived.model.explicit_equations(&token).map_err(|failure| format!("{failure:?}"))?;
    let space = equations.space.as_ref().ok_or("the uncertain graph is not linear")?;
    let graph = equations.graph();
    let value = |e| {
        let value = |name: &str| {
            graph.parameters.iter().find(|p| paynter_graph::flat_name(&p.name) == name).map(|p| p.number)
        };
        equations.expression(e).evaluate(&value).unwrap()
    };
    let dense = |m: &paynter_equations::Sparse| {
        let mut rows = vec![vec![0.0; m.columns]; m.rows];
        m.entries.iter().for_each(|(i, j, e)| rows[*i][*j] = value(*e));
        rows
    };
    let Interconnection { numbers: m, inputs, outputs, .. } = &answer.found;
    let (n, u, y) = (answer.found.states.len(), inputs.len(), outputs.len());
    if space.a.rows != n {
        return Err(format!("{} states instead of {n}", space.a.rows));
    }
    let (a, b, c, d) = (dense(&space.a), dense(&space.b[0]), dense(&space.c), dense(&space.d[0]));
    let part = |m: &[Vec<f64>],
                rows: std::ops::Range<usize>,
                columns: std::ops::Range<usize>|
     -> Vec<Vec<f64>> { m[rows].iter().map(|row| row[columns.clone()].to_vec()).collect() };
    let w = answer.found.channels.len();
    let pairs = [
        ("A", part(&a, 0..n, 0..n), m.a.dense()),
        ("B1", part(&b, 0..n, u..u + w), m.b1.dense()),
        ("B2", part(&b, 0..n, 0..u), m.b2.dense()),
        ("C1", part(&c, y..y + w, 0..n), m.c1.dense()),
        ("D11", part(&d, y..y + w, u..u + w), m.d11.dense()),
        ("D12", part(&d, y..y + w, 0..u), m.d12.dense()),
        ("C2", part(&c, 0..y, 0..n), m.c2.dense()),
        ("D21", part(&d, 0..y, u..u + w), m.d21.dense()),
        ("D22", part(&d, 0..y, 0..u), m.d22.dense()),
    ];
    for (name, graph, lft) in pairs {
        let size = lft.iter().flatten().fold(0.0f64, |most, x| most.max(x.abs()));
        for (i, (left, right)) in graph.iter().zip(&lft).enumerate() {
            if let Some(j) = (0..right.len()).find(|j| !close(left[*j], right[*j], size)) {
                return Err(format!("{name}({i}, {j}): {} by the graph, {}", left[j], right[j]));
            }
        }
    }
    Ok(true)
}

#[test]
fn the_uncertain_graph_of_the_motor_has_the_matrices() {
    let motor = example("uncertain_motor");
    for procedure in [Procedure::New, Procedure::Existing] {
        for normalized in [false, true] {
            assert_eq!(graph_agrees(&motor, &options(procedure, normalized)), Ok(true), "{procedure:?}");
        }
    }
    let token = CancellationToken::new();
    let derived = motor.uncertain_graph(&options(Procedure::New, false), &token).unwrap();
    let (nominal, uncertain) = (motor.causality(&token).unwrap(), derived.model.causality(&token).unwrap());
    assert_eq!(
        (nominal.order, nominal.rank),
        (uncertain.order, uncertain.rank),
        "Fig. 9: the order is unchanged"
    );
}

/// A pendulum whose law is not linear, with a dependent flywheel.
const PENDULUM: &str = "model pendulum { param J = 2 ±10%; param J2 = 3 ±10%; param n = 2 ±5%; param g = 9 ±5%; param b = 1 ±20%; input M = 3; Se drive = M; 1 shaft; I rotor = J; R friction = b; C weight { e = g*sin(q) }; TF gear = n; I wheel = J2; drive -> shaft; shaft -> rotor, friction, weight; shaft -> gear -> wheel; output w = rotor.f; output f = wheel.f }";

#[test]
fn a_linearised_model_has_an_uncertain_graph() {
    let pendulum = model(PENDULUM);
    for procedure in [Procedure::New, Procedure::Existing] {
        for normalized in [false, true] {
            assert_eq!(graph_agrees(&pendulum, &options(procedure, normalized)), Ok(true), "{procedure:?}");
        }
    }
}

#[test]
fn a_linearised_model_keeps_the_names_of_its_inputs_and_outputs() {
    let pendulum = model(PENDULUM);
    let token = CancellationToken::new();
    let found = pendulum.lft(&options(Procedure::New, true), &token).unwrap();
    assert_eq!(
        (&found.found.inputs[..], &found.found.outputs[..]),
        (&["M".into()][..], &["w".into(), "f".into()][..])
    );
    let pair = Some(("f".to_owned(), "M".to_owned()));
    let options = RobustOptions { pair, ..RobustOptions::default() };
    assert!(pendulum.robust(&options, &token).is_ok());
}

#[test]
fn block_diagrams_close_the_loops_as_the_paper_draws_them() {
    let resistor = model(
        "model resistor { param R = 2; input i = 1; Sf source = i; R element = R; source -> element; output e = element.e }",
    );
    let token = CancellationToken::new();
    // Fig. 8: (a) with δ behind the nominal element, (b) with the uncertain element beside it.
    for (procedure, wanted) in [(Procedure::Existing, "δ_R"), (Procedure::New, "δ_R R")] {
        let diagram = resistor.uncertain_blocks(&options(procedure, false), &token).unwrap().unwrap();
        let place = |text: &str| diagram.blocks.iter().position(|block| block.text == text).unwrap();
        let (delta, nominal, input) = (place(wanted), place("R"), place("i"));
        let from = diagram.wires.iter().find(|wire| wire.to == delta).unwrap().from;
        assert_eq!(from, if procedure == Procedure::Existing { nominal } else { input });
        assert!(diagram.blocks.iter().all(|block| !block.text.contains("w_") && !block.text.contains("z_")));
    }
}

/// Behind a dependent storage an auxiliary output is read by nothing but its δ: no line is left open.
#[test]
fn every_line_of_a_block_diagram_ends_where_it_is_read() {
    let gear = model(
        "model gear { param n = 2; param J1 = 3; param J2 = 5; param b = 1; input u = 1; Se motor = u; 1 near; 1 far; I first = J1; I second = J2; R drag = b; TF gear = n; motor -> near; near -> first, drag; near -> gear -> far; far -> second; output w = first.f }",
    );
    let token = CancellationToken::new();
    for only in ["J2", "J1", "b"] {
        let options = LftOptions { only: vec![only.to_owned()], ..LftOptions::default() };
        let diagram = gear.uncertain_blocks(&options, &token).unwrap().unwrap();
        for (place, block) in diagram.blocks.iter().enumerate() {
            let is_read = diagram.wires.iter().any(|wire| wire.from == place);
            assert!(is_read || block.text == "w", "{only}: nothing reads {}", block.text);
        }
    }
}

#[test]
fn its_derivative_is_that_of_the_incremental_bond_graph() {
    let motor = example("uncertain_motor");
    let token = CancellationToken::new();
    let omega = 30.0;
    let which = SensitivityOptions::default();
    let frequencies = paynter::Frequencies { low: omega, high: omega, points: 1 };
    let wish = ResponseOptions { which, omega: Some(frequencies), ..ResponseOptions::default() };
    let known = motor.sensitivity_response(&wish, &token).unwrap();
    let answer = motor.lft(&options(Procedure::New, true), &token).unwrap();
    let nominal = transfer(&answer.found, &vec![0.0; answer.found.channels.len()], omega);
    for (place, block) in answer.found.blocks.iter().enumerate() {
        let step = 1e-6;
        let mut delta = vec![0.0; answer.found.channels.len()];
        delta[block.channels.clone()].fill(step);
        let moved = transfer(&answer.found, &delta, omega);
        let (low, high) = block.bounds.unwrap();
        let change = 0.5 * (high - low) * step;
        let slope = [(moved[0] - nominal[0]) / change, (moved[1] - nominal[1]) / change];
        let wanted = known.found.sensitivities.derivative(0, 0, place, 0);
        let error = (slope[0] - wanted.re).hypot(slope[1] - wanted.im);
        assert!(error <= 1e-4 * wanted.norm(), "{}: {slope:?} {wanted}", block.name);
    }
}

/// The response of the motor from input to output at given δ, real and imaginary part.
fn transfer(found: &Interconnection, delta: &[f64], omega: f64) -> [f64; 2] {
    // Unknowns x (complex), z (complex): jω x = A x + B1 Δ z + B2, z = C1 x + D11 Δ z + D12.
    let m = &found.numbers;
    let (n, k) = (found.states.len(), delta.len());
    let size = 2 * (n + k);
    let mut rows = vec![vec![0.0; size + 1]; size];
    let (a, b1, b2) = (m.a.dense(), m.b1.dense(), m.b2.dense());
    let (c1, d11, d12) = (m.c1.dense(), m.d11.dense(), m.d12.dense());
    for part in 0..2 {
        let shift = part * (n + k);
        for i in 0..n {
            for j in 0..n {
                rows[shift + i][shift + j] -= a[i][j];
            }
            let sign = if part == 0 { -1.0 } else { 1.0 };
            rows[shift + i][(n + k) * (1 - part) + i] += sign * omega;
            for j in 0..k {
                rows[shift + i][shift + n + j] -= b1[i][j] * delta[j];
            }
            if part == 0 {
                rows[i][size] = b2[i][0];
            }
        }
        for i in 0..k {
            rows[shift + n + i][shift + n + i] += 1.0;
            for j in 0..n {
                rows[shift + n + i][shift + j] -= c1[i][j];
            }
            for j in 0..k {
                rows[shift + n + i][shift + n + j] -= d11[i][j] * delta[j];
            }
            if part == 0 {
                rows[n + i][size] = d12[i][0];
            }
        }
    }
    for j in 0..size {
        let pivot = (j..size).max_by(|a, b| rows[*a][j].abs().total_cmp(&rows[*b][j].abs())).unwrap();
        rows.swap(j, pivot);
        let own = rows[j].clone();
        for (i, row) in rows.iter_mut().enumerate() {
            let factor = row[j] / own[j];
            if i != j && factor != 0.0 {
                row.iter_mut().zip(&own).for_each(|(x, y)| *x -= factor * y);
            }
        }
    }
    let x: Vec<f64> = (0..size).map(|j| rows[j][size] / rows[j][j]).collect();
    let (c2, d21) = (m.c2.dense(), m.d21.dense());
    let output = |shift: usize| {
        let states: f64 = (0..n).map(|j| c2[0][j] * x[shift + j]).sum();
        let through = if shift == 0 { m.d22.dense()[0][0] } else { 0.0 };
        states + (0..k).map(|j| d21[0][j] * delta[j] * x[shift + n + j]).sum::<f64>() + through
    };
    [output(0), output(n + k)]
}

/// A loop of a coil, resistors and a controlled source, whose coefficients depend on parameters as random
/// expressions do, by roots and exponentials too, with values of either sign or zero.
fn with_coefficients(random: &mut Random) -> String {
    let signed = |random: &mut Random| (0.5 + random.unit()) * if random.unit() < 0.5 { -1.0 } else { 1.0 };
    let (a, b) = (signed(random), if random.unit() < 0.3 { 0.0 } else { signed(random) });
    let forms = ["a*b", "sin(b)", "-exp(a)*b", "a^3/(1 + b^2)", "c*sqrt(c)", "-a/c", "b*cos(a)", "sqrt(c*d)"];
    let mut form = || forms[(random.unit() * forms.len() as f64) as usize % forms.len()];
    let (gain, value, seen) = (form(), form(), form());
    format!(
        "model m {{
            param a = {a} ±10%
            param b = {b} ±0.1
            param c = {c} ±20%
            param d = {d} ±15%
            param e = {gain}
            input u
            signal x = ({value})*coil.f
            Se source = u
            Se back = e*coil.f + x
            1 j
            R r = 7
            I coil = d
            R side = sqrt(c + 1)
            source -> j
            back -> j
            j -> r, coil, side
            output y = ({seen})*coil.f + u
        }}",
        c = 0.5 + random.unit(),
        d = 1.0 + random.unit()
    )
}

/// At random parameters within the tolerances: the ends of every tolerance are δ = ±1, δ is in between, and closing
/// the loop gives the response of the model at these parameters.
#[test]
fn values_of_either_sign_and_roots_close_exactly() {
    let token = CancellationToken::new();
    let mut random = Random::new(1607);
    for _ in 0..30 {
        let text = with_coefficients(&mut random);
        let nominal = model(&text);
        for (procedure, normalized) in [(Procedure::New, false), (Procedure::Existing, true)] {
            let answer = match nominal.lft(&options(procedure, normalized), &token) {
                Ok(answer) => answer,
                Err(paynter::QueryError::Wrong(list)) => panic!("{text}\n{:?}", list.iter().next().unwrap()),
                Err(failure) => panic!("{failure:?}"),
            };
            let parameters = answer.graph().parameters.clone();
            let offset = [0; 4].map(|_| 2.0 * random.unit() - 1.0);
            let reach = |k: usize| {
                [
                    0.1 * parameters[0].number.abs(),
                    0.1,
                    0.2 * parameters[2].number,
                    0.15 * parameters[3].number,
                ][k]
            };
            let value = |name: &str| {
                let plain = name.strip_prefix("Delta_").unwrap_or(name);
                let k = parameters.iter().position(|p| p.name == plain)?;
                Some(if plain == name { parameters[k].number } else { offset[k] * reach(k) })
            };
            let mut delta = vec![0.0; answer.found.channels.len()];
            for block in &answer.found.blocks {
                let own = answer.expression(block.delta).evaluate(&value).unwrap();
                delta[block.channels.clone()].fill(own);
                let Some((low, high)) = block.bounds else { continue };
                assert!(low < high && own.abs() <= 1.0 + 1e-12, "{} {own} {low} {high}\n{text}", block.name);
                if let Some(k) = parameters.iter().position(|p| p.name == block.name) {
                    let here = block.nominal + 0.5 * (high - low) * own;
                    let wanted = parameters[k].number + offset[k] * reach(k);
                    assert!(close(here, wanted, 1.0), "{} {here} {wanted}\n{text}", block.name);
                }
            }
            let values = parameters
                .iter()
                .enumerate()
                .map(|(k, p)| (p.name.as_str(), p.number + offset[k] * reach(k)));
            let moved = nominal.with(values.collect::<Vec<_>>());
            let there = moved.lft(&options(procedure, false), &token).unwrap();
            let nothing = vec![0.0; there.found.channels.len()];
            let (closed, wanted) =
                (transfer(&answer.found, &delta, 2.0), transfer(&there.found, &nothing, 2.0));
            for (closed, wanted) in closed.iter().zip(&wanted) {
                assert!(close(*closed, *wanted, 1.0), "{procedure:?} {closed} {wanted}\n{text}");
            }
        }
    }
}

/// The pressure drop that a law has with a constant at a flow.
type PressureDrop = fn(f64, f64) -> f64;
/// The derivative of the flow by the pressure drop with a constant, at a pressure drop and a flow.
type Derivative = fn(f64, f64, f64) -> f64;

/// Tanks in a row, from a pump to the outside, each emptied through an orifice whose law is one of several: the law,
/// its pressure drop at the flow Q, and the derivative of flow by pressure drop at that point.
const ORIFICES: [(&str, PressureDrop, Derivative); 4] = [
    ("f = K*sqrt(e)", |k, q| (q / k).powi(2), |k, drop, _| k / (2.0 * drop.sqrt())),
    ("f = K*e^2", |k, q| (q / k).sqrt(), |k, drop, _| 2.0 * k * drop),
    ("e = K*f^2", |k, q| k * q * q, |k, _, q| 1.0 / (2.0 * k * q)),
    ("e = f + K*f^3", |k, q| q + k * q.powi(3), |k, _, q| 1.0 / (1.0 + 3.0 * k * q * q)),
];

/// Closing the loop of a nonlinear model gives the response of its laws linearised at the nominal point, with
/// parameters at other values.
#[test]
fn random_nonlinear_models_close_with_their_point_held() {
    let token = CancellationToken::new();
    let mut random = Random::new(2611);
    for _ in 0..30 {
        let n = 1 + (random.unit() * 4.0) as usize;
        let pump = 0.5 + random.unit();
        let laws: Vec<usize> = (0..n).map(|_| (random.unit() * 4.0) as usize).collect();
        let sizes: Vec<(f64, f64)> = (0..n).map(|_| (0.5 + random.unit(), 0.5 + random.unit())).collect();
        let drops: Vec<f64> = (0..n).map(|i| ORIFICES[laws[i]].1(sizes[i].0, pump)).collect();
        let mut text = format!("model m {{\n input Q = {pump}\n Sf pump = Q\n 0 n0\n pump -> n0\n");
        for i in 0..n {
            let ((k, s), law) = (sizes[i], ORIFICES[laws[i]].0.replace('K', &format!("K{i}")));
            let rest = 1.1 * s * drops[i..].iter().sum::<f64>();
            text.push_str(&format!(" param K{i} = {k} ±10%\n param S{i} = {s} ±10%\n"));
            text.push_str(&format!(
                " C t{i} {{ e = q/S{i}; init q = {rest} }}\n R r{i} {{ {law} }}\n n{i} -> t{i}\n"
            ));
            text.push_str(&match i + 1 < n {
                true => format!(" 1 j{i}\n 0 n{next}\n n{i} -> j{i}\n j{i} -> r{i}, n{next}\n", next = i + 1),
                false => format!(" n{i} -> r{i}\n output y = t{i}.e\n}}"),
            });
        }
        let nominal = model(&text);
        for (procedure, normalized) in [(Procedure::New, false), (Procedure::Existing, true)] {
            let answer = nominal.lft(&options(procedure, normalized), &token).unwrap();
            let moved: Vec<(f64, f64)> = (sizes.iter())
                .map(|(k, s)| (k * (0.95 + 0.1 * random.unit()), s * (0.95 + 0.1 * random.unit())))
                .collect();
            let change = |name: &str| {
                let i = name[1..].parse::<usize>().ok()?;
                if name.starts_with('K') {
                    Some(moved[i].0 - sizes[i].0)
                } else {
                    Some(moved[i].1 - sizes[i].1)
                }
            };
            let parameters = &answer.graph().parameters;
            let value = |name: &str| match name.strip_prefix("Delta_") {
                Some(plain) => change(plain),
                None => parameters.iter().find(|p| p.name == name).map(|p| p.number),
            };
            let mut delta = vec![0.0; answer.found.channels.len()];
            for block in &answer.found.blocks {
                delta[block.channels.clone()].fill(answer.expression(block.delta).evaluate(&value).unwrap());
            }
            let omega = 0.7;
            let closed = transfer(&answer.found, &delta, omega);
            // From the last tank to the first: the pressure drops and flows that one unit in the last tank asks for.
            let admittance = |i: usize| ORIFICES[laws[i]].2(moved[i].0, drops[i], pump);
            let mut pressure = [1.0, 0.0];
            let mut flow = [admittance(n - 1), 0.0];
            for i in (0..n).rev() {
                if i + 1 < n {
                    pressure = [pressure[0] + flow[0] / admittance(i), pressure[1] + flow[1] / admittance(i)];
                }
                let rate = omega * moved[i].1;
                flow = [flow[0] - rate * pressure[1], flow[1] + rate * pressure[0]];
            }
            let size = flow[0].hypot(flow[1]).powi(2);
            for (closed, wanted) in closed.iter().zip([flow[0] / size, -flow[1] / size]) {
                assert!(
                    (closed - wanted).abs() <= 1e-7 / size.sqrt(),
                    "{procedure:?} {closed} {wanted}\n{text}"
                );
            }
        }
    }
}

#[test]
fn a_value_changes_with_its_uncertain_parameters_only() {
    let text =
        "model m { param k = 3 ±10%; param p0 = 2 ±10%; param g = 5; param L = 1; input u = 1; Se s = u; 1 j;
        R r { e = k*exp(p0*g*f/50)*f }; I l = L; s -> j; j -> r, l; output i = l.f }";
    let answer = model(text).lft(&LftOptions::default(), &CancellationToken::new()).unwrap();
    let names: BTreeSet<&str> = (answer.found.blocks.iter().flat_map(|block| &block.changes))
        .map(|(_, place)| answer.graph().parameters[*place].name.as_str())
        .collect();
    assert_eq!(names, BTreeSet::from(["k", "p0"]));
}

#[test]
fn the_document_has_the_block_structure() {
    let document =
        example("two_coils").lft(&LftOptions::default(), &CancellationToken::new()).unwrap().document(&Plain);
    let blocks: Vec<(&str, &[usize])> =
        document.delta.iter().map(|block| (block.parameter.as_str(), block.block.as_slice())).collect();
    assert_eq!(blocks, [("L1", &[0][..]), ("L2", &[1]), ("M", &[2, 3]), ("R", &[4])]);
    assert!(document.minimal && document.conditions.proper);
    assert_eq!(document.w.len(), document.z.len());
}

#[test]
fn what_cannot_be_is_refused_with_the_reason() {
    let token = CancellationToken::new();
    let codes = |text: &str, options: &LftOptions| match model(text).lft(options, &token) {
        Err(paynter::QueryError::Wrong(list)) => {
            list.iter().filter(|d| d.is_error()).map(|d| d.code.id()).collect::<Vec<_>>()
        }
        _ => Vec::new(),
    };
    let rl = |r: &str, l: &str| {
        format!(
            "model m {{\n param R = 2 {r}\n param L = 1 {l}\n input u = 1\n Se a = u\n 1 j\n R r = R\n I l = L\n a -> j\n j -> r, l\n output i = l.f\n}}"
        )
    };
    let normalized = options(Procedure::New, true);
    assert_eq!(codes(&rl("", ""), &normalized), ["BG0721"]);
    assert_eq!(codes(&rl("±10%", "±120%"), &normalized), ["BG0722"]);
    let only = LftOptions { only: vec!["Q".to_owned()], ..LftOptions::default() };
    assert_eq!(codes(&rl("", ""), &only), ["BG0711"]);
    // An improper interconnection: the output follows the derivative of the input.
    let improper = "model m { param J = 2; input u = 1; Sf s = u; I a = J; s -> a; output y = a.e }";
    assert_eq!(codes(improper, &LftOptions::default()), ["BG0720"]);
    // A value without a bound within the tolerances, and one that is singular only because it is uncertain as a whole.
    let tangent = rl("±10%", "±10%").replace("R r = R", "R r = tan(R)");
    assert_eq!(codes(&tangent.replace("±10%", "±30%"), &normalized), ["BG0721"]);
    let Err(paynter::QueryError::Wrong(list)) = example("flux_transformer").lft(&normalized, &token) else {
        panic!("the coupling is not rational");
    };
    let message = list.iter().map(|d| d.message.clone()).collect::<Vec<_>>().join(" ");
    assert!(message.contains("`M` counts as independent of"), "{message}");
    // Nothing that is uncertain is in the equations.
    let certain = "model m { input u = 1; Se s = u; I a = 2; s -> a; output y = a.f }";
    assert_eq!(codes(certain, &LftOptions::default()).len(), 1);
    // The message names the values at which I - D11 Δ is singular.
    let Err(paynter::QueryError::Wrong(list)) = model(&rl("±10%", "±120%")).lft(&normalized, &token) else {
        panic!("an ill-posed model is refused");
    };
    let message = list.iter().map(|d| d.message.clone()).collect::<Vec<_>>().join(" ");
    assert!(message.contains("`L` = 0") && message.contains("`l`"), "{message}");
    assert!(message.contains("regular up to 0.833333 times the tolerances"), "{message}");
}

/// A source that adds k b times the voltage of a resistor in series with it: that has no value where k b = 1.
#[test]
fn an_ill_posed_box_is_told_its_margin() {
    let text = "model m { param k = 0.8 ±50%; param b = 0.9 ±40%; param T = 1 ±10%; input u = 0
        Se a = u; Se fb = k*b*r.e; 1 j; R r = 1; C c = T; a -> j; fb -> j; j -> r, c; output y = c.e }";
    let found = model(text).robust(&RobustOptions::default(), &CancellationToken::new());
    let found = found.unwrap().document(&Plain);
    // 0.72 (1 + s/2)(1 + 0.4 s) = 1.
    let (mut low, mut high) = (0.0f64, 1.0f64);
    for _ in 0..60 {
        let s = 0.5 * (low + high);
        if 0.72 * (1.0 + 0.5 * s) * (1.0 + 0.4 * s) < 1.0 { low = s } else { high = s }
    }
    let regular = found.regular.unwrap();
    assert!((regular.upper.unwrap() / low - 1.0).abs() < 1e-6, "{regular:?} {low}");
    assert!(
        (regular.lower / low - 1.0).abs() < 1e-3 && regular.lower <= low * (1.0 + 1e-9),
        "{regular:?} {low}"
    );
    // Beyond it the capacitor charges by itself: no margin is larger.
    assert!(found.margin.lower <= low * (1.0 + 1e-6) && found.margin.lower > 0.9 * low, "{:?}", found.margin);
    assert!((found.margin.upper.unwrap() / low - 1.0).abs() < 1e-5, "{:?}", found.margin);
    let said = found.diagnostics.iter().find(|d| d.code == "BG0722").unwrap();
    assert!(said.message.contains("`k` = ") && said.message.contains("`b` = "), "{}", said.message);
}

/// Values in which parameters stand in a way that is not rational count as independent of them; what makes the model
/// unstable are the parameters themselves, and the model loaded anew with their values has the pole on the axis.
#[test]
fn the_parameters_themselves_make_a_model_unstable() {
    let text = |values: [f64; 4]| {
        let [g, d, b, kp] = values;
        format!(
            "model servo {{ param G = {g:?} ±10%; param d = {d:?} ±5%; param b = {b:?} ±20%; param Kp = {kp:?} ±10%
            param k = G*d^4*(1 + sqrt(d)); input r = 0; signal e = r - load.f; signal xi = integral(20*e, 0)
            Se m = Kp*e + xi; 1 v1; I motor = 0.02; R f1 = b; 0 j; C spring = 1/k; 1 v2; I load = 0.03; R f2 = b
            m -> v1; v1 -> motor, f1; v1 -> j; j -> spring; j -> v2; v2 -> load, f2; output w = load.f }}"
        )
    };
    let nominal = [1.6e8, 0.01, 0.6, 1.0];
    let token = CancellationToken::new();
    let found = model(&text(nominal)).robust(&RobustOptions::default(), &token).unwrap();
    let document = found.document(&Plain);
    let worst = document.worst.as_ref().unwrap();
    assert!(document.attained && !document.wholes.is_empty(), "{:?}", document.wholes);
    let upper = document.margin.upper.unwrap();
    let values = ["G", "d", "b", "Kp"].map(|name| worst.parameters[name]);
    for ((value, nominal), tolerance) in values.iter().zip(nominal).zip([0.1, 0.05, 0.2, 0.1]) {
        assert!((value / nominal - 1.0).abs() <= upper * tolerance * (1.0 + 1e-9), "{value} {nominal}");
    }
    let poles = model(&text(values)).poles(&token).unwrap();
    let rightmost = poles
        .document(paynter::json::Naming::Flat, &Plain)
        .poles
        .iter()
        .map(|[re, _]| *re)
        .fold(f64::NEG_INFINITY, f64::max);
    assert!(rightmost.abs() < 1e-5, "{rightmost}");
    let inside = std::array::from_fn(|k| nominal[k] + 0.99 * (values[k] - nominal[k]));
    let poles = model(&text(inside)).poles(&token).unwrap();
    assert!(poles.document(paynter::json::Naming::Flat, &Plain).poles.iter().all(|[re, _]| *re < 0.0));
}

/// Stability does not ask for inputs: a divider on a voltage source is as stable as one that is left alone.
#[test]
fn stability_asks_for_no_inputs() {
    let text = "model probe { param R1 = 9 ±5%; param C1 = 12 ±10%; param R2 = 1 ±5%; param C2 = 100 ±10%
        input u = 1; Se tip = u; 1 loop; 0 top; C c1 = C1; R r1 = R1; 0 scope; C c2 = C2; R r2 = R2
        tip -> loop; loop -> top, scope; top -> c1, r1; scope -> c2, r2; output y = c2.e }";
    let token = CancellationToken::new();
    let found = model(text).robust(&RobustOptions::default(), &token).unwrap();
    let stability = &found.found.stability;
    // Stable until both capacities reach zero.
    assert!(stability.upper.is_none_or(|upper| upper > 9.99) && stability.lower > 9.0, "{stability:?}");
    assert!(model(text).lft(&LftOptions { normalized: true, ..LftOptions::default() }, &token).is_err());
}

/// Numbers of an interconnection are its strings, evaluated in exact numbers and rounded once: many decades apart, the
/// terms of a sum cancel.
#[test]
fn numbers_keep_their_digits_where_parameters_lie_decades_apart() {
    let token = CancellationToken::new();
    let mut judged = 0;
    for seed in seeds(40) {
        let sample = generate(seed, &Options::linear().small());
        let plain = model(&sample.text);
        let Some(graph) = plain.graph() else { continue };
        let mut random = Random::new(seed);
        let values: Vec<(&str, f64)> = (graph.parameters.iter())
            .map(|p| (p.name.as_str(), p.number.signum() * 10f64.powf(9.0 * random.symmetric())))
            .filter(|(_, value)| *value != 0.0)
            .collect();
        for procedure in [Procedure::New, Procedure::Existing] {
            let Ok(answer) = plain.with(values.clone()).lft(&options(procedure, false), &token) else {
                continue;
            };
            let pool = answer.pool();
            let parameters: BTreeMap<_, _> = (answer.graph().parameters.iter())
                .map(|p| (p.symbol, Rational::try_from(p.number).unwrap()))
                .collect();
            for ((name, symbols), (_, numbers)) in
                answer.found.symbols.named().iter().zip(answer.found.numbers.named())
            {
                let entries: Vec<_> = symbols.entries.iter().map(|(_, _, entry)| *entry).collect();
                let exact = exact_values(pool, &entries, &|symbol| parameters.get(&symbol).cloned()).unwrap();
                for (exact, (i, j, number)) in exact.iter().zip(&numbers.entries) {
                    let exact = exact.to_f64().value();
                    judged += 1;
                    assert!(
                        (number - exact).abs() <= 1e-13 * exact.abs(),
                        "seed {seed}, {procedure:?}: {name}({i}, {j}) is {number:e} for {exact:e}\n{}\n{values:?}",
                        sample.text
                    );
                }
            }
        }
    }
    demand("entries", judged, 300, 40);
}
