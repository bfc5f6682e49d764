//! Sensitivities of whole models: total derivatives about operating points
//! against differences of the response over re-found points, tolerance bands
//! against samples, modes against differences.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

use crate::common;

use common::{load, load_with};
use paynter::json::Naming;
use paynter::{
    BodeOptions, CancellationToken, Frequencies, Plain, QueryError, ResponseOptions, SensitivityOptions,
    Severity, TERMS, json,
};
use paynter_graph::flat_name;
use paynter_testkit::property::{demand, seeds};
use paynter_testkit::rng::Rng;
use paynter_testkit::{Options, generate};
use std::collections::BTreeMap;

const BAND: Frequencies = Frequencies { low: 0.3, high: 3.0, points: 3 };

fn response(text: &str, frozen: bool) -> Result<json::SensitivityResponse, QueryError> {
    let which = SensitivityOptions { frozen, ..SensitivityOptions::default() };
    let options = ResponseOptions { which, omega: Some(BAND), ..ResponseOptions::default() };
    Ok(load(text).sensitivity_response(&options, &CancellationToken::new())?.document(&Plain))
}

/// The codes of the errors that say why there is no answer.
fn errors(reason: QueryError) -> String {
    let QueryError::Wrong(found) = reason else { panic!("cancelled") };
    let list: Vec<&str> =
        found.iter().filter(|d| d.severity == Severity::Error).map(|d| d.code.id()).collect();
    list.join(" ")
}

/// The frequency response with one parameter changed, by output and input.
fn bode(text: &str, name: &str, value: f64) -> Option<Vec<Vec<(f64, f64)>>> {
    let options = BodeOptions { omega: Some(BAND), ..BodeOptions::default() };
    let model = load_with(text, &[(name, &format!("{value:e}"))]);
    let bode = model.bode(&options, &CancellationToken::new()).ok()?.document(&Plain);
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

/// What became of a model.
#[derive(Debug, PartialEq)]
enum Verdict {
    /// So many numbers were compared.
    Compared(usize),
    /// Why there were none.
    Skipped(String),
}

/// Compares all sensitivities with differences.
fn compare(text: &str) -> Result<Verdict, String> {
    let found = match response(text, false) {
        Ok(found) => found,
        Err(reason) => return Ok(Verdict::Skipped(errors(reason))),
    };
    if let Some(warned) = found.diagnostics.iter().find(|d| d.code == "BG0609") {
        return Ok(Verdict::Skipped(warned.code.to_owned()));
    }
    let model = load(text);
    let graph = model.graph().unwrap();
    let mut compared = 0;
    for name in &found.parameters {
        let value = graph.parameters.iter().find(|p| flat_name(&p.name) == *name).unwrap().number;
        let (Some(wanted), Some(nominal)) = (differences(text, name, value), bode(text, name, value)) else {
            continue;
        };
        let own: Vec<&json::ResponseEntry> = found.entries.iter().filter(|e| e.parameter == *name).collect();
        for (entry, (wanted, nominal)) in own.iter().zip(wanted.iter().zip(&nominal)) {
            for (k, (re, im, doubt)) in wanted.iter().enumerate() {
                let (Some(x), Some(y)) = (entry.re.at(k), entry.im.at(k)) else { continue };
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
    Ok(match compared {
        0 => Verdict::Skipped("nothing but numbers too small or too rough to be differenced".to_owned()),
        _ => Verdict::Compared(compared),
    })
}

fn compared(text: &str) -> usize {
    match compare(text).unwrap() {
        Verdict::Compared(count) => count,
        Verdict::Skipped(reason) => panic!("{reason}: {text}"),
    }
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
    assert!(compared(TANK) > 10);
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
        assert!(compared(&text) > 10, "{text}");
    }
}

#[test]
fn random_nonlinear_models_agree_with_differences() {
    let (mut models, mut numbers) = (0, 0);
    let mut skipped: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    let mut wrong = Vec::new();
    for seed in seeds(24) {
        let sample = generate(seed, &Options::nonlinear().small());
        match compare(&sample.text) {
            Ok(Verdict::Compared(count)) => {
                models += 1;
                numbers += count;
            }
            Ok(Verdict::Skipped(reason)) => skipped.entry(reason).or_default().push(seed),
            Err(message) => wrong.push(format!("seed {seed}: {message}\n{}", sample.text)),
        }
    }
    for (reason, list) in &skipped {
        println!("{} skipped, {reason}: {list:?}", list.len());
    }
    println!("{models} models and {numbers} numbers were compared");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    demand("models compared", models, 9, 24);
    demand("numbers compared", numbers, 135, 24);
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
    let ask = |text: &str| {
        load(text).sensitivity_response(&options, &CancellationToken::new()).unwrap().document(&Plain)
    };
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
    let (re, im) = (entry.re.at(0).unwrap(), entry.im.at(0).unwrap());
    let radius = (phase.cos() * re + phase.sin() * im).abs() * 0.0005;
    assert!((band.magnitude.worst_upper[0].unwrap() - nominal - radius).abs() < 1e-12);
}

#[test]
fn samples_of_a_nonlinear_model_rest_at_points_of_their_own() {
    let with = |tolerance: &str| TANK.replace("param k = 0.5", &format!("param k = 0.5 ±{tolerance}"));
    let options = ResponseOptions { omega: Some(BAND), verify: 300, seed: 1, ..ResponseOptions::default() };
    let ask = |text: &str| {
        load(text).sensitivity_response(&options, &CancellationToken::new()).unwrap().document(&Plain)
    };
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
    let fixed = load(&text).sensitivity_response(&fixed, &CancellationToken::new()).unwrap().document(&Plain);
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
        let found = load(&text(u))
            .sensitivity_response(&options, &CancellationToken::new())
            .unwrap()
            .document(&Plain);
        found.diagnostics.iter().any(|d| d.code == "BG0606" && d.line == Some(2))
    };
    // At rest the point moves with the offset b and stays with r; elsewhere the slope is smooth.
    assert!(said("0", "b"));
    assert!(!said("0", "r"));
    assert!(!said("1", "b"));
}

/// A resistor of some law in series with a pipe of resistance r, into a tank with an outlet of resistance 3;
/// `drive` is the effort of the source.
fn series(law: &str, pipe: &str, drive: &str) -> String {
    format!(
        "model m {{ param k = 2; param r = 1; param c = 0.1; input u = 0.3; Se s = {drive}; 1 j
            R a {{ {law} }}
            {pipe}; C t = c; R o = 3; 0 n; s -> j; j -> a, n; n -> t, o; output y = t.e; output f = a.f }}"
    )
}

#[test]
fn a_law_that_is_steep_where_it_rests_is_read_the_other_way_round() {
    // At rest the law has no resistance: what is left is the pipe alone. Rounding leaves 0.3 − 3·0.1 ≠ 0.
    let pipe = "R p = r; j -> p";
    let plain = response(&series("e = 1e-12*f", pipe, "u - 0.3"), true).unwrap();
    for drive in ["u - 0.3", "u - 3*0.1", "u - 0.1 - 0.2"] {
        let written = ["e = k*f*abs(f)", "f = k*sign(e)*sqrt(abs(e))", "e = k*f^3", "e = k*f^5 + f^3"];
        for law in written.into_iter().chain(["e = k*abs(f)^2.5*sign(f)", "f = k*sign(e)*abs(e)^0.3"]) {
            let text = series(law, pipe, drive);
            let total = response(&text, false).unwrap_or_else(|reason| panic!("{text}: {}", errors(reason)));
            for found in [total, response(&text, true).unwrap()] {
                for entry in &found.entries {
                    let same = |e: &&json::ResponseEntry| {
                        (&e.output, &e.parameter) == (&entry.output, &entry.parameter)
                    };
                    let wanted = plain.entries.iter().find(same);
                    for at in 0..found.omega.len() {
                        let is = (entry.re.at(at).unwrap(), entry.im.at(at).unwrap());
                        let should =
                            wanted.map_or((0.0, 0.0), |e| (e.re.at(at).unwrap(), e.im.at(at).unwrap()));
                        let off = (is.0 - should.0).hypot(is.1 - should.1);
                        assert!(
                            off < 1e-6,
                            "∂{}/∂{} of {text}: {is:?}, not {should:?}",
                            entry.output,
                            entry.parameter
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn where_there_is_no_tangent_law_and_point_are_named() {
    let drives = ["u - 0.3", "u - 3*0.1", "1e6*(u - 0.1 - 0.2)"];
    // Written the other way round a root has a tangent: no resistance, so that the tank follows the source.
    for drive in &drives[..2] {
        let found = response(&series("f = k*sign(e)*sqrt(abs(e))", "", drive), true);
        let found = found.unwrap_or_else(|error| panic!("{drive}: {error:?}"));
        assert!(found.bands[0].magnitude.nominal.iter().all(|h| (h.unwrap() - 1.0).abs() < 1e-9), "{drive}");
    }
    for law in ["e = k*abs(f)^1.5*sign(f)", "e = k*f^3"] {
        for drive in drives {
            let text = series(law, "", drive);
            let QueryError::Wrong(found) = response(&text, true).err().unwrap() else { panic!("cancelled") };
            let said = found.iter().find(|d| d.code.id() == "BG0605");
            let said = said.unwrap_or_else(|| panic!("{law}, {drive}: {found:?}"));
            assert!(
                said.message.starts_with("the law of `a`, ") && said.message.contains("(e = "),
                "{}",
                said.message
            );
        }
    }
    // The tangent exists, and turns infinitely fast with what moves the point, which c does not.
    let text = series("e = k*abs(f)^1.5*sign(f)", "R p = r; param b = 0; j -> p", "u + b");
    let text = text.replace("u = 0.3", "u = 0");
    let ask = |only: &str| {
        let which = SensitivityOptions { only: vec![only.to_owned()], ..SensitivityOptions::default() };
        let options = ResponseOptions { which, omega: Some(BAND), ..ResponseOptions::default() };
        load(&text).sensitivity_response(&options, &CancellationToken::new())
    };
    assert_eq!(errors(ask("b").err().unwrap()), "BG0605");
    assert!(ask("c").is_ok() && ask("r").is_ok());
    let symbols = SensitivityOptions { only: vec!["b".to_owned()], ..SensitivityOptions::default() };
    let found = load(&text).sensitivity(&symbols, &CancellationToken::new());
    assert_eq!(errors(found.err().unwrap()), "BG0605");
}

#[test]
fn a_saturated_storage_keeps_its_digits_or_says_that_it_does_not() {
    // m/cosh(e)² dy/dt = (u − y)/r: the law tells the effort, where the charge does not any more.
    let pole = |u: f64| {
        let text = format!(
            "model m {{ param m = 2; param r = 1; input u = {u}; Se s = u; 1 j; R p = r
                C a {{ q = m*tanh(e) }}; s -> j; j -> p, a; output y = a.e }}"
        );
        let model = load(&text);
        let answer = model.transfer(TERMS, &CancellationToken::new()).map_err(errors)?;
        let said = answer.findings.iter().any(|d| d.code.id() == "BG0609");
        let found = answer.linear.matrices(answer.pool()).unwrap().a.entries[0].2;
        Ok::<_, String>((found / (-(u.cosh().powi(2)) / 2.0) - 1.0, said))
    };
    for u in [1.0, 5.0, 8.0, 9.0, 10.0, 11.0, 12.0, 14.0] {
        let (off, said) = pole(u).unwrap();
        assert!(off.abs() < if said { 0.1 } else { 1e-6 }, "{u}: {off}");
        assert!(!said || u > 10.0, "{u} is said to have lost its digits");
    }
    for u in [18.0, 30.0] {
        assert_eq!(pole(u).unwrap_err(), "BG0605");
    }
}

#[test]
fn a_pole_on_the_way_is_said_with_its_place() {
    let text = "model m { param k = 4; param m = 1; input u = 1; Se s = u; 1 j
        I a = m
        C c = 1/k; s -> j; j -> a, c; output x = c.q }";
    let omega = Some(Frequencies { low: 1.0, high: 4.0, points: 3 });
    let options = ResponseOptions { omega, ..ResponseOptions::default() };
    let found =
        load(text).sensitivity_response(&options, &CancellationToken::new()).unwrap().document(&Plain);
    assert_eq!(found.entries[0].re.at(1), None);
    let said: Vec<_> = found.diagnostics.iter().filter(|d| d.code == "BG0713").collect();
    assert!(said.len() == 1 && said[0].message.contains("at 2 rad/s") && said[0].line == Some(2));
}

#[test]
fn a_parameter_that_is_zero_moves_modes_all_the_same() {
    // q' = u + b − q², at rest q = √(u + b): λ = −2√(u + b), H(0) = 1/(2√(u + b)).
    let text = "model m { param b = 0; input u = 4; Sf s = u + b; 0 n; C c { e = q }; R r { f = e^2 }
        s -> n; n -> c, r; output y = c.q; init c.q = 1 }";
    let found = load(text)
        .sensitivity(&SensitivityOptions::default(), &CancellationToken::new())
        .unwrap()
        .document(Naming::Flat, &Plain);
    assert!((found.poles[0].sensitivities[0].re.unwrap() + 0.5).abs() < 1e-12, "{:?}", found.poles);
    assert!(
        (found.dc_gain[0].sensitivities[0].value.unwrap() + 1.0 / 32.0).abs() < 1e-13,
        "{:?}",
        found.dc_gain
    );
}

/// A source behind a resistor charges a storage directly and others through levers: Σ of the moduli times their
/// charges less the charge of the first is conserved, by combinations that change with the moduli. At rest
/// u = q/c + Σ mᵢ eᵢ with eᵢ = mᵢ q/cᵢ, so that eᵢ/u = mᵢ/(cᵢ S) with S = 1/c + Σ mᵢ²/cᵢ.
#[test]
fn static_gains_move_within_amounts_that_change_with_parameters() {
    for seed in seeds(6) {
        let mut rng = Rng::new(seed);
        let count = rng.within(1, 3);
        let mut draw = || rng.within(1, 40) as f64 / 8.0;
        let (r, c) = (draw(), draw());
        let levers: Vec<[f64; 2]> = (0..count).map(|_| [draw(), draw()]).collect();
        let mut text = format!(
            "model levers {{ param c = {c}; input u = 1; Se push = u; 1 path; R r = {r}; C a = c; push -> path; path -> r, a\n"
        );
        for (k, [m, c]) in levers.iter().enumerate() {
            text.push_str(&format!(
                "param m{k} = {m}; param c{k} = {c}; TF l{k} = m{k}; C b{k} = c{k}; path -> l{k} -> b{k}; output y{k} = b{k}.e\n"
            ));
        }
        text.push('}');
        let found = load(&text).sensitivity(&SensitivityOptions::default(), &CancellationToken::new());
        let found = found.unwrap().document(Naming::Flat, &Plain);
        let sum = 1.0 / c + levers.iter().map(|[m, c]| m * m / c).sum::<f64>();
        assert_eq!(found.dc_gain.len(), count, "{text}");
        for (i, gain) in found.dc_gain.iter().enumerate() {
            let [m, own] = levers[i];
            let near = |found: f64, right: f64, what: &str| {
                assert!(
                    (found - right).abs() < 1e-10 * (1.0 + right.abs()),
                    "{what}: {found} for {right}\n{text}"
                );
            };
            near(gain.value, m / (own * sum), "the gain");
            for slope in &gain.sensitivities {
                // d/dx of mᵢ/(cᵢ S).
                let by = |direct: f64, of_sum: f64| direct - m / (own * sum * sum) * of_sum;
                let right = match (slope.parameter.as_str(), slope.parameter[1..].parse::<usize>()) {
                    ("c", _) => by(0.0, -1.0 / (c * c)),
                    (name, Ok(k)) => {
                        let ([mk, ck], here) = (levers[k], f64::from(u8::from(k == i)));
                        match name.starts_with('m') {
                            true => by(here / (own * sum), 2.0 * mk / ck),
                            false => by(-here * m / (own * own * sum), -mk * mk / (ck * ck)),
                        }
                    }
                    _ => continue,
                };
                near(slope.value.unwrap(), right, &slope.parameter);
            }
        }
    }
}

/// A loudspeaker in a closed box: speeds at rest are zero but for rounding, and the compliances of suspension and box
/// move together. H(0) of the cone is (Bl/Re)/(1/C + S²/V).
#[test]
fn speeds_at_rest_feed_nothing_into_what_is_conserved() {
    let text = "model speaker { param Re = 6.4; param Bl = 7; param M = 0.015; param C = 8e-4; param S = 0.013
        param V = 8.45e-8; input U = 1; Se amp = U; 1 el; R coil = Re; I ind = 5e-4; GY motor = Bl; 1 me; I cone = M
        C susp = C; R loss = 1.1; TF dia = S; 1 ac; C box = V; R leak = 2e4; amp -> el; el -> coil, ind, motor
        motor -> me; me -> cone, susp, loss, dia; dia -> ac; ac -> box, leak; output x = susp.q }";
    let found = load(text).sensitivity(&SensitivityOptions::default(), &CancellationToken::new());
    let gain = &found.unwrap().document(Naming::Flat, &Plain).dc_gain[0];
    let (force, [c, s, v]) = (7.0 / 6.4, [8e-4, 0.013, 8.45e-8]);
    let stiffness: f64 = 1.0 / c + s * s / v;
    let near = |found: f64, right: f64| assert!((found / right - 1.0).abs() < 1e-9, "{found} for {right}");
    near(gain.value, force / stiffness);
    let by =
        |name: &str| gain.sensitivities.iter().find(|slope| slope.parameter == name).unwrap().value.unwrap();
    near(by("S"), -force / (stiffness * stiffness) * 2.0 * s / v);
    near(by("V"), force / (stiffness * stiffness) * s * s / (v * v));
    near(by("Bl"), gain.value / 7.0);
    assert_eq!(by("M"), 0.0);
}

#[test]
fn modes_move_as_their_polynomial_says() {
    // m s² + b s + k: ∂|λ|/∂k = 1/(2√(k m)), ζ = b/(2√(k m)), H(0) = 1/k.
    let text = "model m { param m = 2; param b = 0.4; param k = 8; input u = 1; Se a = u; 1 j
        I mass = m; C s = 1/k; R d = b; a -> j; j -> mass, s, d; output x = s.q }";
    let found = load(text)
        .sensitivity(&SensitivityOptions::default(), &CancellationToken::new())
        .unwrap()
        .document(Naming::Flat, &Plain);
    let pole = &found.poles[0];
    let by = |name: &str| pole.sensitivities.iter().find(|s| s.parameter == name).unwrap();
    assert!((by("k").natural_frequency.unwrap() - 0.125).abs() < 1e-12);
    assert!((by("b").damping.unwrap() - 0.125).abs() < 1e-12);
    assert!(by("b").natural_frequency.unwrap().abs() < 1e-12);
    let gain = &found.dc_gain[0];
    assert_eq!(gain.sensitivities[2].parameter, "k");
    assert!((gain.sensitivities[2].value.unwrap() + 1.0 / 64.0).abs() < 1e-14);
    assert_eq!(gain.sensitivities[0].value, Some(0.0));
}
