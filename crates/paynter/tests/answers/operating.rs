//! Operating points and linear models of known cases, of every example, and
//! of models that have none.
#![allow(clippy::panic, clippy::unwrap_used)]

use crate::common;

use common::{findings, sound as load};
use paynter::json::OperatingPoint;
use paynter::{
    BodeOptions, CancellationToken, LoadOptions, MemoryWorld, Model, Plain, QueryError, SensitivityOptions,
    TERMS, examples,
};

fn point(text: &str) -> OperatingPoint {
    match load(text).operating_point(&CancellationToken::new()) {
        Ok(point) => point.document(&Plain),
        Err(QueryError::Wrong(list)) => panic!("{list:?}\n{text}"),
        Err(QueryError::Cancelled) => panic!("nobody cancelled"),
    }
}

/// The code and the message of the error that a question ends with.
fn refused<T>(answer: Result<T, QueryError>) -> (String, String) {
    match answer {
        Err(QueryError::Wrong(list)) => {
            let error = list.iter().find(|d| d.is_error()).unwrap();
            (error.code.id().to_owned(), error.message.clone())
        }
        _ => panic!("there is an answer"),
    }
}

fn near(found: f64, wanted: f64) {
    assert!((found - wanted).abs() <= 1e-10 * wanted.abs().max(1e-3), "{found} instead of {wanted}");
}

#[test]
fn the_motor_of_the_tutorials_runs_at_its_known_speed() {
    let example = examples::all().find(|e| e.name == "ctms_motor").unwrap();
    let point = point(example.text);
    near(point.point.outputs["i"].unwrap(), 11.888_111_888_111_888);
    near(point.point.outputs["w"].unwrap(), 11.188_811_188_811_188);
}

#[test]
fn every_example_rests_or_says_what_runs_away() {
    let moving = ["cascaded_tanks", "robot_arm", "two_coils", "two_coils_printed", "two_tanks"];
    for example in examples::all() {
        let model = load(example.text);
        match model.operating_point(&CancellationToken::new()) {
            Ok(found) => {
                assert!(!moving.contains(&example.name), "{} rests", example.name);
                let Some((linear, _)) = &found.linear else { continue };
                let Some(at) = &linear.point else { continue };
                let (equations, document) = (&found.equations, found.document(&Plain));
                for (state, rate) in equations.states.iter().zip(&equations.rates) {
                    let value = found.pool().eval(*rate, &|s| linear.value(s)).unwrap();
                    let size = document.point.states[&state.name].abs().max(1.0);
                    assert!(value.abs() < 1e-8 * size, "{}: {}' = {value}", example.name, state.name);
                }
                assert_eq!(at.states.len(), equations.states.len());
            }
            Err(QueryError::Wrong(list)) => {
                assert!(moving.contains(&example.name), "{}: {list:?}", example.name);
                // Empty tanks drain ever more slowly and rest at no finite time.
                let code = if example.name == "cascaded_tanks" { "BG0601" } else { "BG0603" };
                assert!(list.iter().any(|d| d.code.id() == code), "{}: {list:?}", example.name);
            }
            Err(QueryError::Cancelled) => panic!("nobody cancelled"),
        }
    }
}

#[test]
fn known_steady_states() {
    // Two bodies in contact keep their energy: T = (C1 T1 + C2 T2)/(C1 + C2).
    let example = examples::all().find(|e| e.name == "heat_transfer").unwrap();
    let found = point(example.text);
    near(found.point.outputs["T_hot"].unwrap(), 940.0 / 3.0);
    near(found.point.outputs["T_cold"].unwrap(), 940.0 / 3.0);
    // Closed tanks keep their volume.
    let found = point(
        "model t { 0 a; 0 b; 1 p; C t1 { e = 2*q; init q = 3 }; C t2 = 1; R pipe { e = 4*f*abs(f) }
         a -> t1; a -> p -> b; p -> pipe; b -> t2 }",
    );
    near(found.point.states["t1.q"], 1.0);
    near(found.point.states["t2.q"], 2.0);
    // A diode in series with a resistor: I = Is (exp(v/VT) − 1), u = R I + v.
    let found = point(
        "model d { param Is = 1e-14; param VT = 0.025; Se s = 5; 1 j; R r = 1000; 0 n
         R dio { f = Is*(exp(e/VT) - 1) }; C c = 1e-9; s -> j; j -> r; j -> n; n -> dio, c
         output v = dio.e; output i = dio.f }",
    );
    let (v, i) = (found.point.outputs["v"].unwrap(), found.point.outputs["i"].unwrap());
    near(5.0 - 1000.0 * i, v);
    near(1e-14 * ((v / 0.025).exp() - 1.0), i);
    // Bonds carry what the elements say.
    assert!(found.bonds.iter().any(|bond| bond.effort == Some(5.0)));
}

#[test]
fn the_initial_state_of_a_dependent_storage_counts() {
    // c2 stands beside c1 with twice its capacitance: q2(0) = 4 means q1(0) = 2. Their
    // charge of 6 is shared with c3, which begins empty and has the capacitance 1.
    let found = point(
        "model m { C c1 = 1; C c2 = 2; 0 k; 1 j; 0 n; C c3 = 1; R r { e = f*abs(f) + f }
         k -> c1; k -> c2; k -> j -> n; j -> r; n -> c3; init c2.q = 4 }",
    );
    near(found.point.states["c1.q"], 1.5);
    near(found.point.states["c3.q"], 1.5);
    near(found.dependent["c2.q"], 3.0);
}

#[test]
fn what_has_no_steady_state_is_named() {
    for (text, code, word) in [
        ("model m { Se s = 5; I mass = 2; s -> mass }", "BG0603", "`mass`"),
        ("model m { Sf s = 5; C cap = 2; s -> cap }", "BG0603", "`cap`"),
        (
            "model m { Sf s = 0.1; 0 a; 0 b; 1 p; C t1 = 1; C t2 = 1; R pipe { e = f*abs(f) }
             s -> a; a -> t1; a -> p -> b; p -> pipe; b -> t2 }",
            "BG0603",
            "t1.q + t2.q",
        ),
        (
            "model m { Sf s = 2; 0 n; C c = 1; R r { f = tanh(e) }; s -> n; n -> c, r }",
            "BG0603",
            "`c.q` grows",
        ),
    ] {
        let (found, message) = refused(load(text).operating_point(&CancellationToken::new()));
        assert!(found == code && message.contains(word), "{found}: {message}\n{text}");
    }
}

#[test]
fn an_angle_that_nothing_reads_may_grow() {
    let model = load(
        "model m { input M = 2; Se s = M; 1 j; I rotor = 1; R air { e = f*abs(f) }; s -> j; j -> rotor, air
         signal angle = integral(rotor.f, 0.5); output phi = angle }",
    );
    let answer = model.operating_point(&CancellationToken::new()).unwrap();
    let found = answer.document(&Plain);
    near(found.point.states["rotor.p"], 2f64.sqrt());
    assert_eq!(found.point.states["angle"], 0.5);
    assert!(answer.findings.iter().any(|d| d.code.id() == "BG0604"));
    // And the transfer function has its integrator.
    let tf = model.transfer(TERMS, &CancellationToken::new()).unwrap().document(&Plain);
    assert_eq!(tf.entries[0].num, "1");
    assert_eq!(tf.entries[0].den, "s*(2*rotor.p + s)");
    near(tf.operating_point.unwrap().states["rotor.p"], 2f64.sqrt());
}

#[test]
fn several_steady_states_are_said_and_the_nearest_is_taken() {
    let text = |init: &str| {
        format!(
            "model m {{ 1 v; I m = 1; C s {{ e = q^3 - q{init} }}; R d = 1; v -> m, s, d; output x = s.q }}"
        )
    };
    let model = load(&text(""));
    let answer = model.operating_point(&CancellationToken::new()).unwrap();
    assert_eq!(answer.document(&Plain).point.states["s.q"], 0.0);
    let warning = answer.findings.iter().find(|d| d.code.id() == "BG0602").unwrap();
    assert!(warning.message.contains("s.q = 1)") && warning.message.contains("s.q = -1)"), "{warning:?}");
    let model = load(&text("; init q = -0.8"));
    let answer = model.operating_point(&CancellationToken::new()).unwrap();
    near(answer.document(&Plain).point.states["s.q"], -1.0);
    assert!(answer.findings.is_empty(), "{:?}", answer.findings);
    assert!(findings(&model).is_empty());
}

/// An electrostatic actuator below pull-in rests at three places; the motion from the relaxed plates leads to the
/// nearest of them, whichever Newton's method meets first: k x (g − x)² = ε A V²/2.
#[test]
fn the_rest_that_the_motion_leads_to_is_among_those_found() {
    let (g, permittivity) = (2e-6, 8.85e-18);
    for voltage in [0.1, 0.2, 0.4] {
        let found = point(&format!(
            "model plate {{ param g = {g:e}; param eA = {permittivity:e}; input V = {voltage}; Se src = V; 1 el
             R r = 1e3; 1 mech; I mass = 1e-9; C spring = 1; R damp = 1e-6
             C plates[2] {{ e1 = q1*(g - q2)/eA; e2 = -q1^2/(2*eA) }}
             src -> el -> r; el -> plates.1; mech -> plates.2; mech -> mass, spring, damp; output x = spring.q }}"
        ));
        let x = found.point.outputs["x"].unwrap();
        let load = permittivity * voltage * voltage / 2.0;
        assert!((x * (g - x).powi(2) - load).abs() < 1e-9 * load, "{voltage} V: {x}");
        assert!(x < g / 3.0, "{voltage} V: {x} is unstable, and not the nearest");
    }
}

/// A crank compresses gas: the volume follows the angle from where both begin, which no linear combination of
/// states tells. The motion decides, or there is no answer.
#[test]
fn what_moves_together_rests_together() {
    let text = |torque: f64| {
        format!(
            "model crank {{ param r = 0.05; param l = 0.15; param A = 0.005; param V0 = 6e-4; param p0 = 1e5
             input M = {torque}; signal phi = integral(om.f, 0.3)
             MTF rod = -r*sin(phi) - r^2*sin(phi)*cos(phi)/sqrt(l^2 - r^2*sin(phi)^2); Df om; Se drive = M
             1 shaft; 1 piston; I wheel = 0.1; I mass = 0.5; R bearing = 0.3; TF area = A
             C gas {{ e = p0*((V0/(V0 - q))^1.4 - 1) }}; drive -> shaft -> om, wheel, bearing
             shaft -> rod -> piston -> mass; piston -> area -> gas; output angle = phi; output V = gas.q }}"
        )
    };
    let x = |phi: f64| 0.05 * phi.cos() + (0.0225 - 0.0025 * phi.sin().powi(2)).sqrt();
    let found = point(&text(2.0));
    let [phi, volume] = ["angle", "V"].map(|name| found.point.outputs[name].unwrap());
    assert!((phi - 0.639_729_834).abs() < 1e-6, "{phi}");
    assert!((volume - 0.005 * (x(phi) - x(0.3))).abs() < 1e-6 * volume.abs(), "{volume} at {phi}");
    // Twenty newton metres turn it for ever.
    let (code, _) = refused(load(&text(20.0)).operating_point(&CancellationToken::new()));
    assert!(code == "BG0601" || code == "BG0603", "{code}");
}

#[test]
fn laws_without_a_slope_are_named() {
    let tank = "model tank { input u = 0; Sf pump = u; 0 level; C water = 1; R outlet { e = 2*f*abs(f) }
         pump -> level; level -> water, outlet; output p = water.e }";
    let (code, message) = refused(load(tank).transfer(TERMS, &CancellationToken::new()));
    assert!(code == "BG0605" && message.contains("`outlet`"), "{code}: {message}");
    assert_eq!(point(tank).point.states["water.q"], 0.0);
    // With a flow through it the slope is finite: p = 2 u², dp/du = 4 u/(4 u s + 1) for C = 1.
    let model = load(&tank.replace("u = 0", "u = 0.1"));
    let answer = model.operating_point(&CancellationToken::new()).unwrap();
    let (_, numbers) = answer.linear.as_ref().unwrap();
    near(numbers.a.entries[0].2, -2.5);
    near(numbers.b[0].entries[0].2, 1.0);
}

#[test]
fn sizes_do_not_matter() {
    for exponent in [-12, -6, 0, 6, 12] {
        let c = 10f64.powi(exponent);
        let text = format!(
            "model m {{ Sf s = 3e{exponent}; 0 n; C c = {c:e}; R r {{ f = {c:e}*e*abs(e) }}; s -> n; n -> c, r }}"
        );
        let found = point(&text);
        near(found.point.states["c.q"] / c, 3f64.sqrt());
    }
}

#[test]
fn an_input_from_a_table_has_its_value_at_time_zero() {
    let text = "model m { param a = 3; input u = table(\"d.csv\", u); Se s = u; 1 j; I i = 1; \
        R r { e = a*f + f^3 }; s -> j; j -> i, r; output y = i.f }";
    let token = CancellationToken::new();
    // Before the first sample the first one holds; between samples lies a straight line.
    for (data, input) in [("t,u\n0,4\n1,9\n", 4.0), ("t,u\n-1,2\n1,6\n", 4.0), ("t,u\n2,4\n3,9\n", 4.0)] {
        let world = MemoryWorld::new().with("m.bg", text).with("d.csv", data);
        let model = Model::load(&world, "m.bg", &LoadOptions::default());
        let found = model.operating_point(&token).unwrap().document(&Plain);
        near(found.point.inputs["u"], input);
        near(found.point.outputs["y"].unwrap(), 1.0);
        assert!(model.poles(&token).is_ok());
        assert!(model.transfer(TERMS, &token).is_ok());
        assert!(model.bode(&BodeOptions::default(), &token).is_ok());
        assert!(model.sensitivity(&SensitivityOptions::default(), &token).is_ok());
    }
}

/// The derivatives of a steady state are those of differences, at the totals that the initial state fixes.
#[test]
fn derivatives_of_a_steady_state_are_its_differences() {
    let text = "model m { param k = 0.7; param a0 = 0.3; param R1 = 2; param C1 = 2\n\
        C a { e = exp(q) - 1; init q = a0 }; C b = C1; 0 na; 0 nb; 1 j; R r { f = k*(e + e^3) }\n\
        na -> a; nb -> b; na -> j -> nb, r; init b.q = 0.5; output y = a.e*R1 }";
    let (model, token) = (load(text), CancellationToken::new());
    let found = model.steady_sensitivity(&[], &token).unwrap().document(paynter::json::Naming::Flat);
    assert_eq!(found.len(), 12);
    for derivative in found {
        let value = |change: f64| {
            let nominal = model.graph().unwrap();
            let nominal = nominal.parameters.iter().find(|p| p.name == derivative.parameter).unwrap().number;
            let other = model.with([(derivative.parameter.as_str(), nominal + change)]);
            let point = other.operating_point(&token).unwrap().document(&Plain).point;
            let output = point.outputs.get(&derivative.quantity).copied().flatten();
            output.or_else(|| point.states.get(&derivative.quantity).copied()).unwrap()
        };
        let step = 1e-5;
        let wanted = (value(step) - value(-step)) / (2.0 * step);
        let found = derivative.value.unwrap();
        assert!((found - wanted).abs() < 1e-7, "{derivative:?} instead of {wanted}");
    }
}

/// A ladder of resistors and capacitors rests at what its resistors divide, however long it is.
#[test]
fn long_ladders_rest() {
    for count in [3, 5, 8, 20, 60] {
        let mut text =
            String::from("model ladder { input u = 1; Se src = u; 1 j0; src -> j0; R load = 1e4\n");
        for k in 0..count {
            let next = k + 1;
            text.push_str(&format!(
                "R r{k} = 2e3; C c{k} = 47e-9; 0 n{k}; 1 j{next}; j{k} -> r{k}; j{k} -> n{k}; n{k} -> c{k}; n{k} -> j{next}\n"
            ));
        }
        text.push_str(&format!("j{count} -> load; output y = load.e }}"));
        let found = point(&text).point.outputs["y"].unwrap();
        near(found, 1e4 / (1e4 + 2e3 * f64::from(count)));
    }
}
