//! What vanishes by symmetry, at a rest too, is zero: responses, their sensitivities, zeros, gains. What moves by itself
//! in the whole has static gains in its parts. Derivatives of poles at rests are differences of poles.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use crate::common;

use common::{load_with, sound, sound_with};
use paynter::json::Naming;
use paynter::{
    BodeOptions, CancellationToken, Frequencies, Model, Plain, QueryError, ResponseOptions,
    SensitivityOptions, json,
};
use paynter_testkit::property::{demand, seeds};
use paynter_testkit::rng::Rng;
use paynter_testkit::{Options, generate};

/// Two equal chains of masses, pushed alike by P and coupled at their first masses, on one of which F acts.
fn twins(seed: u64) -> String {
    let mut rng = Rng::new(seed);
    let count = rng.within(1, 3);
    let is_linear = seed.is_multiple_of(2);
    let mut text =
        String::from("model twins { input P = 1.7; input F = 0; Se s = P; Se f = F; 0 q; s -> q\n");
    let mut parameter = |name: String, low: usize, high: usize| {
        let value = rng.within(low, high) as f64 / 64.0 * std::f64::consts::SQRT_2;
        format!("param {name} = {value:.6} ±5%\n")
    };
    for k in 0..count {
        text.push_str(&parameter(format!("m{k}"), 10, 200));
        text.push_str(&parameter(format!("k{k}"), 10, 4000));
        text.push_str(&parameter(format!("c{k}"), 1, 200));
    }
    text.push_str(&parameter("kc".into(), 10, 200));
    text.push_str(&parameter("cubic".into(), 10, 200));
    for side in ["a", "b"] {
        for k in 0..count {
            let spring = match is_linear {
                true => format!("C s{side}{k} = 1/k{k}"),
                false => format!("C s{side}{k} {{ e = k{k}*q + cubic*q^3 }}"),
            };
            text.push_str(&format!(
                "1 {side}{k}; I m{side}{k} = m{k}; R r{side}{k} = c{k}; {spring}; {side}{k} -> m{side}{k}, r{side}{k}, s{side}{k}\n"
            ));
            text.push_str(&match k {
                0 => format!("q -> {side}0\n"),
                _ => format!(
                    "0 n{side}{k}; C l{side}{k} = 1/k{k}; {side}{} -> n{side}{k} -> {side}{k}; n{side}{k} -> l{side}{k}\n",
                    k - 1
                ),
            });
        }
    }
    let last = count - 1;
    text.push_str(&format!(
        "0 x; a0 -> x -> b0; C cc = 1/kc; x -> cc; f -> a0\n
         output d = sa{last}.q - sb{last}.q; output v = ma0.f - mb0.f; output c = cc.q; output y = sa{last}.q }}"
    ));
    text
}

/// Whether an output tells the two chains apart.
fn tells(output: &str) -> bool {
    output != "y"
}

#[test]
fn what_vanishes_by_symmetry_is_zero() {
    let token = CancellationToken::new();
    let omega = Some(Frequencies { low: 0.1, high: 10.0, points: 4 });
    for seed in seeds(12) {
        let text = twins(seed);
        let model = sound(&text);
        let asked = model.bode(&BodeOptions { omega, ..BodeOptions::default() }, &token).unwrap();
        for entry in asked.document(&Plain).entries {
            let is_zero = entry.re.iter().chain(&entry.im).all(|value| *value == Some(0.0));
            assert_eq!(is_zero, entry.input == "P" && tells(&entry.output), "seed {seed}: {entry:?}\n{text}");
        }
        let asked = model.poles(&token).unwrap().document(Naming::Flat, &Plain);
        for entry in asked.zeros {
            let is_zero = entry.gain == 0.0 && entry.zeros.is_empty();
            assert_eq!(is_zero, entry.input == "P" && tells(&entry.output), "seed {seed}: {entry:?}\n{text}");
        }
        let options = ResponseOptions { omega, ..ResponseOptions::default() };
        let asked = model.sensitivity_response(&options, &token).unwrap().document(&Plain);
        for entry in asked.entries {
            let is_zero = (0..4).all(|at| (entry.re.at(at), entry.im.at(at)) == (Some(0.0), Some(0.0)));
            let must_be = entry.input == "P" && (tells(&entry.output) || entry.parameter == "kc");
            let may_be = seed % 2 == 0 && entry.parameter == "cubic";
            assert!(
                is_zero == must_be || may_be,
                "seed {seed}: ∂({}/{})/∂{} {:?}\n{text}",
                entry.output,
                entry.input,
                entry.parameter,
                entry.re
            );
        }
        let asked = model.sensitivity(&SensitivityOptions::default(), &token).unwrap();
        let asked = asked.document(Naming::Flat, &Plain);
        let idle = asked.dc_gain.iter().filter(|gain| gain.input == "P" && tells(&gain.output));
        assert!(
            idle.clone().all(|gain| gain.value == 0.0),
            "seed {seed}: {:?}\n{text}",
            idle.collect::<Vec<_>>()
        );
        assert!(
            asked.zeros.iter().all(|zero| zero.input != "P" || !tells(&zero.output)),
            "seed {seed}\n{text}"
        );
    }
}

/// Masses in a row without anything that holds them: the whole runs away, and the springs are stretched by the share of
/// the force that moves what is behind them.
#[test]
fn free_masses_have_static_gains_between_them() {
    for seed in seeds(8) {
        let mut rng = Rng::new(seed);
        let count = rng.within(2, 5);
        let mut draw = || rng.within(5, 80) as f64 / 8.0;
        let masses: Vec<f64> = (0..count).map(|_| draw()).collect();
        let springs: Vec<f64> = (1..count).map(|_| draw()).collect();
        let mut text = String::from("model train { input F = 1; Se s = F; s -> v0\n");
        for (k, m) in masses.iter().enumerate() {
            text.push_str(&format!("param m{k} = {m}; 1 v{k}; I i{k} = m{k}; v{k} -> i{k}\n"));
        }
        for (k, stiffness) in springs.iter().enumerate() {
            let next = k + 1;
            text.push_str(&format!(
                "param k{next} = {stiffness}; 0 n{next}; 1 w{next}; C c{next} = 1/k{next}; R d{next} = 0.3
                 v{k} -> n{next} -> v{next}; n{next} -> w{next}; w{next} -> c{next}, d{next}; output x{next} = c{next}.q\n"
            ));
        }
        text.push('}');
        let asked =
            sound(&text).sensitivity(&SensitivityOptions::default(), &CancellationToken::new()).unwrap();
        assert!(
            asked.found.roots.checks.iter().any(|check| check.what.starts_with("the static gain")),
            "{text}"
        );
        let asked = asked.document(Naming::Flat, &Plain);
        assert_eq!(asked.dc_gain.len(), springs.len(), "{text}");
        let total: f64 = masses.iter().sum();
        for (gain, (k, stiffness)) in asked.dc_gain.iter().zip(springs.iter().enumerate()) {
            let behind: f64 = masses[k + 1..].iter().sum();
            let right = behind / total / stiffness;
            assert!((gain.value - right).abs() < 1e-9 * right, "{gain:?} for {right}\n{text}");
            for by in &gain.sensitivities {
                let place: usize = by.parameter[1..].parse().unwrap();
                let right = match by.parameter.as_bytes()[0] {
                    b'm' if place > k => (total - behind) / (total * total * stiffness),
                    b'm' => -behind / (total * total * stiffness),
                    _ if place == k + 1 => -right / stiffness,
                    _ => 0.0,
                };
                let found = by.value.unwrap();
                assert!(
                    (found - right).abs() < 1e-8 * (gain.value + right.abs()),
                    "{by:?} for {right}\n{text}"
                );
            }
        }
    }
}

/// The poles with one parameter changed.
fn poles(text: &str, name: &str, value: f64) -> Option<Vec<[f64; 2]>> {
    let model = load_with(text, &[(name, &format!("{value:e}"))]);
    Some(model.poles(&CancellationToken::new()).ok()?.document(Naming::Flat, &Plain).poles)
}

/// Compares derivatives of simple poles with differences; how many were compared.
fn compared(model: &Model, text: &str) -> Result<usize, String> {
    let asked = match model.sensitivity(&SensitivityOptions::default(), &CancellationToken::new()) {
        Ok(asked) => asked,
        Err(QueryError::Wrong(found)) if found.iter().any(|d| d.code.id() == "BG0990") => {
            return Err(format!("{found:?}"));
        }
        Err(_) => return Ok(0),
    };
    if asked.findings.iter().any(|finding| finding.code.id() == "BG0609") {
        return Ok(0);
    }
    let (graph, document) = (asked.graph(), asked.document(Naming::Flat, &Plain));
    let mut count = 0;
    for (place, name) in document.parameters.iter().enumerate() {
        let Some(parameter) = graph.parameters.iter().find(|p| paynter_graph::flat_name(&p.name) == *name)
        else {
            continue;
        };
        let step = 1e-4 * if parameter.number == 0.0 { 1.0 } else { parameter.number.abs() };
        let at = |k: f64| poles(text, name, parameter.number + k * step);
        let (Some(below), Some(above), Some(wide)) = (at(-1.0), at(1.0), at(2.0)) else { continue };
        for pole in document.poles.iter().filter(|pole| pole.multiplicity == 1 && pole.im >= 0.0) {
            let others = document.poles.iter().map(|other| (other.re - pole.re).hypot(other.im - pole.im));
            let nearest = others.filter(|distance| *distance > 0.0).fold(f64::INFINITY, f64::min);
            let moved = |list: &[[f64; 2]]| {
                let apart = |p: &[f64; 2]| (p[0] - pole.re).hypot(p[1] - pole.im);
                let mut near = list.iter().filter(|p| apart(p) < 0.05 * nearest);
                near.next().copied().filter(|_| near.next().is_none())
            };
            let (Some(low), Some(high), Some(far)) = (moved(&below), moved(&above), moved(&wide)) else {
                continue;
            };
            let json::PoleDerivative { re: Some(re), im: Some(im), .. } = &pole.sensitivities[place] else {
                continue;
            };
            let size = pole.re.hypot(pole.im);
            for (k, own) in [re, im].into_iter().enumerate() {
                let found = (high[k] - low[k]) / (2.0 * step);
                let doubt = ((far[k] - high[k]) / step - found).abs() * 0.1 + 1e-11 * size / step;
                if (own - found).abs() > 1e-4 * found.abs() + doubt {
                    return Err(format!("∂λ/∂{name} of {pole:?} is {own} and should be {found} ± {doubt}"));
                }
                count += 1;
            }
        }
    }
    Ok(count)
}

#[test]
fn derivatives_of_poles_at_rests_are_differences() {
    let mut all = 0;
    for seed in seeds(16) {
        let text = match seed % 4 {
            0 => twins(seed + 1),
            _ => generate(seed, &Options::nonlinear().small()).text,
        };
        let found = compared(&common::load(&text), &text);
        all += found.unwrap_or_else(|wrong| panic!("seed {seed}: {wrong}\n{text}"));
    }
    demand("derivatives compared", all, 100, 16);
}

/// Where the equations of a loop are singular at the values that parameters have, nothing is answered for others.
#[test]
fn a_loop_that_is_singular_at_its_values_is_refused() {
    let beside = "model a { param n = 1; input u0 = 1; 0 j1; 0 j2; TF gear = n; Sf s = u0; R load = 64
        j1 -> j2; j1 -> gear -> j2; s -> j1; j2 -> load; output y = load.e }";
    let mirror = "model b { param k = 0.1; param h = 0.2; param g = 0.7; input u = 1; input i = 1; Se supply = u; 0 rail
        R load = 2; Sf add = (k + h + g)*supply.f; Sf other = i
        supply -> rail -> load; rail -> add; rail -> other; output v = load.e }";
    for (text, name) in [(beside, "n"), (mirror, "k")] {
        let refused = common::load(text).poles(&CancellationToken::new()).err();
        let Some(QueryError::Wrong(found)) = refused else { panic!("answered: {text}") };
        assert!(found.iter().any(|d| d.code.id() == "BG0508" && d.message.contains(name)), "{found:?}");
        assert!(sound_with(text, &[(name, "0.5")]).poles(&CancellationToken::new()).is_ok(), "{text}");
    }
}
