//! Sensitivities of whole models: total derivatives about operating points
//! against differences of the response over re-found points, tolerance bands
//! against samples, modes against differences.

#![allow(clippy::unwrap_used, clippy::panic)]

use paynter::{
    BodeOptions, Frequencies, LoadOptions, MemoryWorld, Model, ResponseOptions, SensitivityOptions, Ticket,
    json,
};
use paynter_graph::flat_name;
use paynter_testkit::property::seeds;
use paynter_testkit::{Options, generate};

const BAND: Frequencies = Frequencies { low: 0.3, high: 3.0, points: 3 };

/// Steeper models are left aside.
const STEEPEST: f64 = 1e9;

fn load(text: &str, set: &[(String, String)]) -> Model {
    let world = MemoryWorld::new().with("m.bg", text);
    Model::load(&world, "m.bg", &LoadOptions { set: set.to_vec(), ..LoadOptions::default() })
}

fn response(text: &str, frozen: bool) -> Option<json::SensitivityResponse> {
    let which = SensitivityOptions { frozen, ..SensitivityOptions::default() };
    let options = ResponseOptions { which, omega: Some(BAND), ..ResponseOptions::default() };
    load(text, &[]).sensitivity_response(&options, &Ticket::new()).ok()
}

/// The frequency response with one parameter changed, by output and input.
fn bode(text: &str, name: &str, value: f64) -> Option<Vec<Vec<(f64, f64)>>> {
    let options = BodeOptions { omega: Some(BAND), ..BodeOptions::default() };
    let mut model = load(text, &[(name.to_owned(), format!("{value:e}"))]);
    let bode = model.bode(&options, &Ticket::new()).ok()?;
    let list = |entry: &json::BodeEntry| -> Option<Vec<(f64, f64)>> {
        entry.re.iter().zip(&entry.im).map(|(re, im)| Some(((*re)?, (*im)?))).collect()
    };
    bode.entries.iter().map(list).collect()
}

/// Central differences with one step of extrapolation, and how far that step went.
fn differences(text: &str, name: &str, value: f64) -> Option<Vec<Vec<(f64, f64, f64)>>> {
    let size = if value == 0.0 { 1.0 } else { value.abs() };
    let slope = |h: f64| -> Option<Vec<Vec<(f64, f64)>>> {
        let (up, down) = (bode(text, name, value + h)?, bode(text, name, value - h)?);
        let both = |(a, b): (&(f64, f64), &(f64, f64))| ((a.0 - b.0) / (2.0 * h), (a.1 - b.1) / (2.0 * h));
        Some(up.iter().zip(&down).map(|(u, d)| u.iter().zip(d).map(both).collect()).collect())
    };
    let (wide, narrow) = (slope(2e-3 * size)?, slope(1e-3 * size)?);
    let better = |(w, n): (&(f64, f64), &(f64, f64))| {
        ((4.0 * n.0 - w.0) / 3.0, (4.0 * n.1 - w.1) / 3.0, (n.0 - w.0).hypot(n.1 - w.1))
    };
    Some(wide.iter().zip(&narrow).map(|(w, n)| w.iter().zip(n).map(better).collect()).collect())
}

/// Compares all sensitivities with differences; returns how many were compared.
fn compare(text: &str) -> Result<usize, String> {
    let Some(found) = response(text, false) else { return Ok(0) };
    let mut model = load(text, &[]);
    let linear = model.linear(&Ticket::new()).map_err(|_| "no linear model")?;
    let matrices = linear.matrices(&model.pool).map_err(|_| "no matrices")?;
    // A saturated storage, q = tanh(e), does not tell its effort any more.
    if matrices.a.entries.iter().any(|(_, _, value)| value.abs() > STEEPEST) {
        return Ok(0);
    }
    let graph = model.graph.as_ref().unwrap();
    let mut compared = 0;
    for name in &found.parameters {
        let value = graph.parameters.iter().find(|p| flat_name(&p.name) == *name).unwrap().number;
        let (Some(wanted), Some(nominal)) = (differences(text, name, value), bode(text, name, value)) else {
            continue;
        };
        let own: Vec<&json::ResponseEntry> = found.entries.iter().filter(|e| e.parameter == *name).collect();
        for (entry, (wanted, nominal)) in own.iter().zip(wanted.iter().zip(&nominal)) {
            for (k, (re, im, doubt)) in wanted.iter().enumerate() {
                let (Some(x), Some(y)) = (entry.re[k], entry.im[k]) else { continue };
                let size = value.abs().max(1e-3);
                let scale = re.hypot(*im) + nominal[k].0.hypot(nominal[k].1) / size;
                let error = (x - re).hypot(y - im);
                // Where laws are flat, re-found points are too rough to be differenced.
                if *doubt > 1e-4 * scale || scale < 1e-3 {
                    continue;
                }
                if error > 2e-5 * scale + doubt + 1e-9 {
                    return Err(format!(
                        "∂({}/{})/∂{name} at point {k} is {x} + {y}j and should be {re} + {im}j",
                        entry.output, entry.input
                    ));
                }
                compared += 1;
            }
        }
    }
    Ok(compared)
}

const TANK: &str = "model tank {
    param a = 2; param k = 0.5; param u0 = 0.8
    input u = u0
    Sf pump = u; 0 n; C tank { e = q^2/a }; R outlet { e = k*f*abs(f) + f }
    pump -> n; n -> tank, outlet
    output h = tank.e; output out = outlet.f
}";

#[test]
fn the_operating_point_moves_with_the_parameters() {
    assert!(compare(TANK).unwrap() > 10);
    let (total, frozen) = (response(TANK, false).unwrap(), response(TANK, true).unwrap());
    assert_ne!(total.entries[0].re, frozen.entries[0].re);
}

#[test]
fn what_is_conserved_is_held_at_its_initial_value() {
    // Two closed tanks and an inlet at rest: the sum of the volumes, weighted by the transformer, stays.
    for ratio in ["1", "m"] {
        let text = format!(
            "model m {{
                param m = 1.5; param a = 1; param b = 2; param v = 3; param r = 1
                input u = 0
                C left {{ e = q^2/a; init q = v }}
                C right {{ e = q*abs(q)/b + q; init q = 1 }}
                Se s = u; 1 j; R pipe = r; TF t = {ratio}; 0 x; 0 y
                left -> x; x -> j; s -> j; j -> pipe, t; t -> y; y -> right
                output e = right.e; output f = pipe.f
            }}"
        );
        assert!(compare(&text).unwrap() > 10, "{text}");
    }
}

#[test]
fn random_nonlinear_models_agree_with_differences() {
    let (mut models, mut numbers) = (0, 0);
    let mut wrong = Vec::new();
    for seed in seeds(24) {
        let sample = generate(seed, &Options::nonlinear().small());
        match compare(&sample.text) {
            Ok(compared) => {
                models += usize::from(compared > 0);
                numbers += compared;
            }
            Err(message) => wrong.push(format!("seed {seed}: {message}\n{}", sample.text)),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(models > 3 && numbers > 50, "only {models} models and {numbers} numbers were compared");
}

#[test]
fn samples_show_where_first_order_fails() {
    let oscillator = |tolerance: &str| {
        format!(
            "model m {{ param k = 1 ±{tolerance}; input u = 1; Se a = u; 1 j; I m = 1; C s = 1/k; R d = 0.02
                a -> j; j -> m, s, d; output x = s.q }}"
        )
    };
    let options = ResponseOptions {
        omega: Some(Frequencies { low: 0.5, high: 2.0, points: 80 }),
        verify: 200,
        seed: 3,
        ..ResponseOptions::default()
    };
    let ask = |text: &str| load(text, &[]).sensitivity_response(&options, &Ticket::new()).unwrap();
    let wide = ask(&oscillator("10%"));
    assert!(wide.bands[0].outside.iter().any(|omega| (0.9..1.1).contains(omega)));
    assert_eq!(wide.diagnostics[0].code, "BG0715");
    assert_eq!(wide, ask(&oscillator("10%")));
    let narrow = ask(&oscillator("0.05%"));
    assert!(narrow.bands[0].outside.is_empty(), "{:?}", narrow.bands[0].outside);
    // The bands come from the same S: the worst case of one parameter is |Re(H* S)|/|H| δ.
    let (band, entry) = (&narrow.bands[0], &narrow.entries[0]);
    let nominal = band.magnitude.nominal[0].unwrap();
    let phase = band.phase.nominal[0].unwrap().to_radians();
    let (re, im) = (entry.re[0].unwrap(), entry.im[0].unwrap());
    let radius = (phase.cos() * re + phase.sin() * im).abs() * 0.0005;
    assert!((band.magnitude.worst_upper[0].unwrap() - nominal - radius).abs() < 1e-12);
}

#[test]
fn samples_of_a_nonlinear_model_rest_at_points_of_their_own() {
    let with = |tolerance: &str| TANK.replace("param k = 0.5", &format!("param k = 0.5 ±{tolerance}"));
    let options = ResponseOptions { omega: Some(BAND), verify: 300, seed: 1, ..ResponseOptions::default() };
    let ask = |text: &str| load(text, &[]).sensitivity_response(&options, &Ticket::new()).unwrap();
    let text = with("80%");
    let found = ask(&text);
    assert_eq!(found.verification.as_ref().unwrap().failed, 0);
    // |H| grows or falls with k throughout, so that samples stay between the ends and come near them.
    let ends = [bode(&text, "k", 0.1).unwrap(), bode(&text, "k", 0.9).unwrap()];
    for (entry, band) in found.bands.iter().enumerate() {
        for at in 0..found.omega.len() {
            let [a, b] = [0, 1].map(|end| ends[end][entry][at].0.hypot(ends[end][entry][at].1));
            let (low, high) = (a.min(b), a.max(b));
            let lower = band.magnitude.sampled_lower.as_ref().unwrap()[at].unwrap();
            let upper = band.magnitude.sampled_upper.as_ref().unwrap()[at].unwrap();
            assert!(lower >= low - 1e-9 && upper <= high + 1e-9, "{lower} to {upper}, not {low} to {high}");
            assert!(upper - lower > 0.95 * (high - low), "{lower} to {upper}, not {low} to {high}");
        }
    }
    // First order fails for the flow, and holds where the tolerance is small.
    assert!(!found.bands[1].outside.is_empty());
    assert!(ask(&with("1%")).bands.iter().all(|band| band.outside.is_empty()));
    let frozen = SensitivityOptions { frozen: true, ..SensitivityOptions::default() };
    let fixed = ResponseOptions { which: frozen, ..options.clone() };
    let fixed = load(&text, &[]).sensitivity_response(&fixed, &Ticket::new()).unwrap();
    assert_ne!(fixed.bands[0].magnitude.sampled_upper, found.bands[0].magnitude.sampled_upper);
}

#[test]
fn a_kink_in_a_slope_is_said_where_the_point_moves_along_it() {
    let text = |u: &str| {
        format!(
            "model m {{ param k = 2; param r = 1; param b = 0; input u = {u}; Se s = u + b; 1 j
                R a {{ e = r*f + k*f*abs(f) }}; C c = 1; R o = r; 0 n
                s -> j; j -> a, n; n -> c, o; output y = o.f }}"
        )
    };
    let said = |u: &str, only: &str| {
        let which = SensitivityOptions { only: vec![only.to_owned()], ..SensitivityOptions::default() };
        let options = ResponseOptions { which, omega: Some(BAND), ..ResponseOptions::default() };
        let found = load(&text(u), &[]).sensitivity_response(&options, &Ticket::new()).unwrap();
        found.diagnostics.iter().any(|d| d.code == "BG0606" && d.line == Some(2))
    };
    // At rest the point moves with the offset b and stays with r; elsewhere the slope is smooth.
    assert!(said("0", "b"));
    assert!(!said("0", "r"));
    assert!(!said("1", "b"));
}

#[test]
fn a_pole_on_the_way_is_said_with_its_place() {
    let text = "model m { param k = 4; param m = 1; input u = 1; Se s = u; 1 j
        I a = m
        C c = 1/k; s -> j; j -> a, c; output x = c.q }";
    let omega = Some(Frequencies { low: 1.0, high: 4.0, points: 3 });
    let options = ResponseOptions { omega, ..ResponseOptions::default() };
    let found = load(text, &[]).sensitivity_response(&options, &Ticket::new()).unwrap();
    assert_eq!(found.entries[0].re[1], None);
    let said: Vec<_> = found.diagnostics.iter().filter(|d| d.code == "BG0713").collect();
    assert!(said.len() == 1 && said[0].message.contains("at 2 rad/s") && said[0].line == Some(2));
}

#[test]
fn a_parameter_that_is_zero_moves_modes_all_the_same() {
    // q' = u + b − q², at rest q = √(u + b): λ = −2√(u + b), H(0) = 1/(2√(u + b)).
    let text = "model m { param b = 0; input u = 4; Sf s = u + b; 0 n; C c { e = q }; R r { f = e^2 }
        s -> n; n -> c, r; output y = c.q; init c.q = 1 }";
    let found = load(text, &[])
        .sensitivity(&SensitivityOptions::default(), json::Naming::Flat, &Ticket::new())
        .unwrap();
    assert!((found.poles[0].sensitivities[0].re.unwrap() + 0.5).abs() < 1e-12, "{:?}", found.poles);
    assert!((found.dc_gain[0].sensitivities[0].value + 1.0 / 32.0).abs() < 1e-13, "{:?}", found.dc_gain);
}

#[test]
fn modes_move_as_their_polynomial_says() {
    // m s² + b s + k: ∂|λ|/∂k = 1/(2√(k m)), ζ = b/(2√(k m)), H(0) = 1/k.
    let text = "model m { param m = 2; param b = 0.4; param k = 8; input u = 1; Se a = u; 1 j
        I mass = m; C s = 1/k; R d = b; a -> j; j -> mass, s, d; output x = s.q }";
    let found = load(text, &[])
        .sensitivity(&SensitivityOptions::default(), json::Naming::Flat, &Ticket::new())
        .unwrap();
    let pole = &found.poles[0];
    let by = |name: &str| pole.sensitivities.iter().find(|s| s.parameter == name).unwrap();
    assert!((by("k").natural_frequency.unwrap() - 0.125).abs() < 1e-12);
    assert!((by("b").damping.unwrap() - 0.125).abs() < 1e-12);
    assert!(by("b").natural_frequency.unwrap().abs() < 1e-12);
    let gain = &found.dc_gain[0];
    assert_eq!(gain.sensitivities[2].parameter, "k");
    assert!((gain.sensitivities[2].value + 1.0 / 64.0).abs() < 1e-14);
    assert_eq!(gain.sensitivities[0].value, 0.0);
}
