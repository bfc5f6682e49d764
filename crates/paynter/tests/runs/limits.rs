//! Where a simulation ends or has no derivative: runs that cannot go on, modes
//! that cycle, infinite derivatives, states that no body has.
#![allow(clippy::panic, clippy::unwrap_used)]

use crate::common;

use common::simulation::{accurate, assert_near, message, respond};
use common::sound as load;
use paynter::CancellationToken;
use paynter::simulate::{Cost, CostKind, Gradients, Sensitivities, SimulateOptions, Vary, respond_all};

/// A run that cannot go on keeps what it has and says when, where and why.
#[test]
fn runs_that_cannot_go_on() {
    for (text, t_end, reached, words) in [
        (
            "model tank { C tank { e = q; init q = 1 }; R valve { f = sqrt(e) }; Sf drain = -0.5; 0 j\n\
             j -> tank, valve; drain -> j; output level = tank.q }",
            2.0,
            true,
            "sqrt(tank.q)",
        ),
        ("model m { C c { e = 1/q; init q = 0 }; R r = 1; c -> r; output v = c.e }", 1.0, false, "c.q"),
        (
            "model m { input u = 1/t; Se s = u; R r = 1; C c = 1; 1 j; s -> j; j -> r, c; output v = c.e }",
            1.0,
            false,
            "mend the input `u`",
        ),
        (
            "model m { param k = -1; Se s = 1; R r = 1; C c = 1; 1 j; s -> j; j -> r, c; init c.q = sqrt(k) }",
            1.0,
            false,
            "initial value of `c.q`",
        ),
        (
            "model m { I m = 1; R r { e = -f*abs(f) }; 1 j; j -> m, r; init m.p = 1; output v = m.f }",
            2.0,
            true,
            "`m.p`",
        ),
        (
            "model m { C c { q = 0.8*tanh(e) }; R r { e = f*abs(f) }; R r2 { e = f + f^3 }; 1 j\n\
             c -> j; j -> r, r2; init c.q = 12; output v = c.e }",
            1.0,
            false,
            "atanh(5*c.q/4)",
        ),
        (
            "model m { Sf s = pulse(0.2, 0.5); R r = 1; I i = 1; C c1 = 1; C c2 { e = exp(q) - 1 }; C c3 = 1; R r3 { f = e + e^3 }\n\
             0 j1; 1 j2; 0 j4; MTF tf = c1.q; GY gy = 2; s -> j1; j1 -> r, j2; j2 -> i, c1, j4; j4 -> c3, r3\n\
             j4 -> tf -> gy; c2 -> gy.2; output v = i.f }",
            1.0,
            false,
            "`c1.q` = 0",
        ),
    ] {
        let model = load(text);
        let simulation =
            model.simulation(&accurate(t_end), &CancellationToken::new()).unwrap_or_else(|r| panic!("{r:?}"));
        let (response, outcome) = simulation.respond(&simulation.parameters, &CancellationToken::new());
        assert!(outcome.failure.is_some() && response.t.len() < 21, "{text}");
        assert_eq!(!response.t.is_empty(), reached, "{text}: what came before is kept");
        let said = simulation.explain(&simulation.parameters, &outcome);
        let diagnostic = said.iter().next().unwrap();
        assert!(diagnostic.span.is_some(), "{text}");
        let told = format!("{} {}", diagnostic.message, diagnostic.help);
        assert!(told.contains(words), "{text}: {told}");
        let document = paynter::json::Simulation::new(&simulation, &response, &outcome, &said, Vec::new());
        assert!(!document.run.complete && document.run.stopped.unwrap().code.starts_with("BG08"));
    }
    // What contradicts itself for one value does not for another.
    let text = "model m { param k = 1; C a = 1; C b = 2; 0 j; R r = 1; j -> a, b, r\n\
        init a.q = k; init b.q = 2; output v = a.e }";
    let model = load(text);
    let options = SimulateOptions { varied: vec!["k".to_owned()], ..accurate(1.0) };
    let simulation =
        model.simulation(&options, &CancellationToken::new()).unwrap_or_else(|r| panic!("{r:?}"));
    let runs = simulation.grid(&[Vary { name: "k".to_owned(), values: vec![1.0, 3.0] }]).unwrap();
    let mut said = Vec::new();
    respond_all(&runs, &CancellationToken::new(), &mut |run, response, outcome| {
        let words = simulation.explain(&run.parameters, &outcome);
        said.push((response.t.len(), words.iter().map(|d| d.code.id()).collect::<Vec<_>>()));
    });
    assert_eq!(said, [(21, vec![]), (0, vec!["BG0411"])]);
    let model = load("model m { Se s = 1; R r = 1; C c = 1; 1 j; s -> j; j -> r, c; init c.q = 2 }");
    let options = SimulateOptions {
        sensitivities: Sensitivities::Names(vec!["init(c.q)".to_owned()]),
        ..accurate(1.0)
    };
    let (simulation, response) = respond(&model, &options);
    assert_eq!(simulation.outputs[0].name, "c.q", "a model without outputs shows its states");
    assert_near(&response.sensitivities[0][0][20..], &[(-1.0_f64).exp()], 1e-8, "and their sensitivities");
    let model = common::load(
        "model m { C a = 1; C b = 2; 0 j; R r = 1; j -> a, b, r; init a.q = 1; init b.q = 1; output v = a.e }",
    );
    let refused = model.simulation(&accurate(1.0), &CancellationToken::new()).err().map(message).unwrap();
    assert!(refused.contains("contradicts"), "infeasible initial states: {refused}");
    let model = load("model m { Se s = 1; R r = 1; s -> r; output y = 1/t; output z = r.f }");
    let (simulation, response) = respond(&model, &accurate(1.0));
    assert_eq!(response.outputs[1], vec![1.0; 21], "a model without states has outputs over time");
    let (_, outcome) = simulation.respond(&simulation.parameters, &CancellationToken::new());
    let said = simulation.explain(&simulation.parameters, &outcome);
    assert_eq!(said.iter().map(|d| d.code.id()).collect::<Vec<_>>(), ["BG0805"], "{said:?}");
    let text = "model m { param k = 0; Se s = 1; R r = 1; C c = 1; 1 j; s -> j; j -> r, c; output y = c.e + sqrt(k) }";
    let model = load(text);
    let options = SimulateOptions { sensitivities: Sensitivities::All, ..accurate(1.0) };
    let simulation =
        model.simulation(&options, &CancellationToken::new()).unwrap_or_else(|r| panic!("{r:?}"));
    let (_, outcome) = simulation.respond(&simulation.parameters, &CancellationToken::new());
    let said = simulation.explain(&simulation.parameters, &outcome);
    assert!(said.iter().any(|d| d.message.contains("the derivative of `y` by `k`")), "{said:?}");
}

/// Switches that turn each other without end are all shown.
#[test]
fn laws_that_switch_without_end_have_places() {
    let text = "model ring { Se a = if(y.f > 0, 1, -1); R x = 1; a -> x\n\
                Se b = if(x.f > 0, -1, 1); R y = 1; b -> y; output f = x.f }";
    let model = load(text);
    let simulation =
        model.simulation(&accurate(1.0), &CancellationToken::new()).unwrap_or_else(|r| panic!("{r:?}"));
    let (_, outcome) = simulation.respond(&simulation.parameters, &CancellationToken::new());
    let said = simulation.explain(&simulation.parameters, &outcome);
    let told = said.iter().find(|d| d.code.id() == "BG0802").unwrap();
    let spans = told.span.iter().chain(told.labels.iter().map(|label| &label.span));
    let places: Vec<usize> = spans.map(|span| span.start as usize).collect();
    assert_eq!(places.len(), 2);
    assert!(places.iter().all(|start| ["a", "b"].contains(&&text[*start..*start + 1])), "{places:?}");
}

/// A flow that is the root of a parameter of zero has no derivative, and that is said.
#[test]
fn infinite_derivatives_are_reported() {
    let text =
        "model m { param k = 0; Sf s = sqrt(k); R r = 1; C c = 1; 0 j; s -> j; j -> r, c; output y = c.e }";
    let model = load(text);
    let options = SimulateOptions { sensitivities: Sensitivities::All, ..accurate(1.0) };
    let simulation =
        model.simulation(&options, &CancellationToken::new()).unwrap_or_else(|r| panic!("{r:?}"));
    let (_, outcome) = simulation.respond(&simulation.parameters, &CancellationToken::new());
    let said = simulation.explain(&simulation.parameters, &outcome);
    assert!(said.iter().any(|d| d.code.id() == "BG0805" && d.help.to_string().contains("root")), "{said:?}");
}

/// A tank whose outlet is a root: V' = u − k √V from v0.
fn tank(u: &str, v0: f64) -> String {
    format!(
        "model m {{ param k = 0.5; param u0 = 1; param v0 = {v0}; input u = {u}; Sf s = u; 0 n
            C t {{ e = q; init q = v0 }}; R o {{ f = k*sqrt(e) }}; s -> n; n -> t, o; output V = t.q }}"
    )
}

/// The derivatives of the volume by k, u0 and v0 at t = 2, and what is said.
fn tank_derivatives(u: &str, options: &SimulateOptions) -> (f64, Vec<f64>, Vec<String>) {
    let model = load(&tank(u, 0.0));
    let options = SimulateOptions { sensitivities: Sensitivities::All, ..options.clone() };
    let simulation =
        model.simulation(&options, &CancellationToken::new()).unwrap_or_else(|r| panic!("{r:?}"));
    let (response, outcome) = simulation.respond(&simulation.parameters, &CancellationToken::new());
    assert!(outcome.failure.is_none(), "{:?}", outcome.failure);
    let said = simulation.explain(&simulation.parameters, &outcome);
    let slopes = response.sensitivities[0].iter().map(|by| *by.last().unwrap()).collect();
    (*response.outputs[0].last().unwrap(), slopes, said.iter().map(|d| d.message.clone()).collect())
}

#[test]
fn sensitivities_of_a_tank_that_begins_empty_are_right_or_missing() {
    for solver in ["auto", "stiff"] {
        let options = SimulateOptions { solver: solver.to_owned(), ..accurate(2.0) };
        // The tank fills at once. With w = √V, t = −2 (w + u/k ln(1 − k w/u))/k; what is autonomous has
        // ∂V/∂v0 = V'(t)/V'(0), and units give ∂V/∂u0 and ∂V/∂k: V = (u/k)² g(k² t/u).
        let (volume, slopes, said) = tank_derivatives("u0", &options);
        let w = volume.sqrt();
        assert!((-4.0 * (w + 2.0 * (1.0 - w / 2.0).ln()) - 2.0).abs() < 1e-8, "{volume}");
        let rate = 1.0 - w / 2.0;
        let wanted = [(2.0 * 2.0 * rate - 2.0 * volume) / 0.5, 2.0 * volume - 2.0 * rate, rate];
        assert_near(&slopes, &wanted, 1e-6, "a tank that fills");
        assert!(said.is_empty(), "{said:?}");
        // It fills from rest: V = w² t² with 2 w² + k w = u0. How it begins is forgotten at once.
        let (volume, slopes, said) = tank_derivatives("u0*t", &options);
        let root = 8.25_f64.sqrt();
        let w = (root - 0.5) / 4.0;
        assert_near(&[volume], &[4.0 * w * w], 1e-8, "a tank that fills from rest");
        let wanted = [8.0 * w * (0.5 / root - 1.0) / 4.0, 8.0 * w / root];
        assert_near(&slopes[..2], &wanted, 1e-6, "a tank that fills from rest");
        assert!(slopes[2].is_nan() && said.len() == 1 && said[0].contains("`v0`"), "{slopes:?}, {said:?}");
        // It stays empty for a while: the same as before, later.
        let (_, slopes, said) = tank_derivatives("if(t > 1, u0, 0)", &options);
        let (_, earlier, _) =
            tank_derivatives("u0", &SimulateOptions { t_end: Some(1.0), ..options.clone() });
        assert_near(&slopes[..2], &earlier[..2], 1e-7, "a tank that is filled later");
        assert!(slopes[2].is_nan() && said.len() == 1, "{slopes:?}, {said:?}");
        // It stays empty: a flow moves it along a slope without a value, the outlet does not move it.
        let (_, slopes, said) = tank_derivatives("u0 - 1", &options);
        assert!(slopes[0] == 0.0 && slopes[1].is_nan() && slopes[2].is_nan(), "{slopes:?}");
        assert!(said.len() == 2 && said[0].contains("`t.q`"), "{said:?}");
    }
    // Steps that no error chooses do not find their way past the singularity.
    let fixed = SimulateOptions { solver: "rk4".to_owned(), step: Some(0.01), ..accurate(2.0) };
    let (_, slopes, _) = tank_derivatives("u0", &fixed);
    assert!(slopes[2].is_nan(), "{slopes:?}");
    assert_near(&slopes[..2], &[-1.27120385735, 1.53316598164], 1e-4, "fixed steps");
}

#[test]
fn gradients_along_infinite_derivatives_are_missing_and_reported() {
    let costs = [Cost { kind: CostKind::Integral, output: "V".to_owned() }];
    let gradient = |u: &str| {
        let model = load(&tank(u, 0.0));
        let answer = model.gradients(&accurate(2.0), &costs, &CancellationToken::new()).unwrap();
        let Gradients { simulation, gradients, outcome } = &answer.result;
        let said = answer.explain(&simulation.parameters, outcome);
        (gradients[0].by.clone(), said.len())
    };
    let (later, said) = gradient("if(t > 1, u0, 0)");
    assert!(later[0] < 0.0 && later[1] > 0.0 && later[2].is_nan() && said == 1, "{later:?}");
    let (empty, said) = gradient("u0 - 1");
    assert!(empty[0] == 0.0 && empty[1].is_nan() && empty[2].is_nan() && said == 2, "{empty:?}");
}

/// Bodies colder than anything can be are told, with the time: entropy flow makes temperatures absolute, while
/// heat flow leaves open where they count from.
#[test]
fn no_body_is_below_absolute_zero() {
    for (unit, start, first) in [("J/K^2", 10.5, Some(6.0)), ("J/K", 10.5, None), ("J/K", -270.0, Some(2.0))]
    {
        let text = format!(
            "model m {{ param Cth = 2 [{unit}]; 0 n; Sf cold = -4; C body = Cth; cold -> n; n -> body
            init body.q = {start}*Cth }}"
        );
        let model = load(&text);
        let options = SimulateOptions { points: 11, ..SimulateOptions::default() };
        let simulation =
            model.simulation(&options, &CancellationToken::new()).unwrap_or_else(|r| panic!("{r:?}"));
        let (_, outcome) = simulation.respond(&simulation.parameters, &CancellationToken::new());
        let said = simulation.explain(&simulation.parameters, &outcome);
        let told: Vec<&str> = said.iter().map(|d| d.message.as_str()).collect();
        let expected = |t: &f64| {
            let value = start - 2.0 * t;
            format!("at t = {t} the temperature of `body` is {value} K, below absolute zero")
        };
        assert_eq!(told, first.iter().map(expected).collect::<Vec<_>>(), "{unit} from {start}");
    }
}
