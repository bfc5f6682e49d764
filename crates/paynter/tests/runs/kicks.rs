//! Poles against the simulator: after a small kick a model at rest answers by its poles alone. The difference of
//! two runs, sampled at equal steps T, fulfils the recurrence whose characteristic roots are exp(λ T).

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use crate::common;

use common::sound;
use num_complex::Complex64;
use paynter::simulate::{SimulateOptions, Vary};
use paynter::{Answer, CancellationToken, Model, NewValue, QueryError, SteadyState, examples};

/// The states are kicked by these parts of their sizes where the model is not linear.
const KICKS: [f64; 4] = [1e-3, 1e-5, 1e-7, 1e-9];
/// Those of single states where all together do not tell: a displacement may be small beside what curves its laws.
const LONE_KICKS: [f64; 5] = [1e6, 1e4, 1e2, 1.0, 1e-2];
/// How far recurrences may be missed: curvature of the laws and errors of the runs, beside the kick.
const MISSED: f64 = 1e-3;

/// The model with its inputs constant, as they are at time zero.
fn at_rest(model: &Model, found: &Answer<SteadyState>) -> Model {
    let inputs = found.equations.inputs.iter().zip(&found.point.inputs);
    model.with(inputs.map(|(input, value)| {
        let unit =
            found.graph().inputs.iter().find(|own| own.name == input.name).and_then(|i| i.unit.clone());
        (input.name.as_str(), NewValue::Number(value[0] / unit.map_or(1.0, |unit| unit.factor)))
    }))
}

/// The states over time from these initial values; nothing where laws have no value on the way.
fn states(model: &Model, names: &[String], start: &[f64], step: f64, count: usize) -> Option<Vec<Vec<f64>>> {
    let varied: Vec<String> = names.iter().map(|name| format!("init({name})")).collect();
    let options = SimulateOptions {
        times: (0..count).map(|k| k as f64 * step).collect(),
        rtol: 1e-11,
        varied: varied.clone(),
        ..SimulateOptions::default()
    };
    let token = CancellationToken::new();
    let simulation = model.simulation(&options, &token).unwrap();
    let vary = varied.into_iter().zip(start);
    let vary: Vec<Vary> = vary.map(|(name, value)| Vary { name, values: vec![*value] }).collect();
    let runs = simulation.grid(&vary).unwrap();
    let (response, outcome) = simulation.respond(&runs[0].parameters, &token);
    outcome.failure.is_none().then_some(response.states)
}

/// The coefficients of Π (q − z), from the highest power on.
fn recurrence(roots: &[Complex64]) -> Vec<Complex64> {
    let mut list = vec![Complex64::ONE];
    for root in roots {
        let mut next = list.clone();
        next.push(Complex64::ZERO);
        list.iter().enumerate().for_each(|(k, c)| next[k + 1] -= root * c);
        list = next;
    }
    list
}

/// By how much a sequence misses a recurrence, beside its terms.
fn missed(sequence: &[f64], coefficients: &[Complex64]) -> f64 {
    let n = coefficients.len() - 1;
    let largest = sequence.iter().fold(0.0f64, |most, x| most.max(x.abs()));
    let worst = sequence.windows(n + 1).map(|window| {
        let terms = coefficients.iter().zip(window.iter().rev());
        terms.map(|(c, x)| c * x).sum::<Complex64>().norm()
    });
    let sizes: f64 = coefficients.iter().map(|c| c.norm()).sum();
    if largest == 0.0 { 0.0 } else { worst.fold(0.0, f64::max) / (largest * sizes) }
}

/// Examples that cannot be judged, and why.
const UNJUDGED: [(&str, &str); 8] = [
    ("ac_resistor", "no poles but at zero"),
    ("cascaded_tanks", "no rest"),
    ("orifice", "no tangent"),
    ("robot_arm", "no rest"),
    ("se_on_c", "no poles but at zero"),
    ("two_coils", "no rest"),
    ("two_coils_printed", "no rest"),
    ("two_tanks", "no rest"),
];

#[test]
fn every_example_answers_a_kick_by_its_poles() {
    let unjudged: Vec<(&str, String)> = examples::all()
        .filter_map(|example| judge(example.name, example.text).err().map(|why| (example.name, why)))
        .collect();
    let told: Vec<(&str, &str)> = unjudged.iter().map(|(name, why)| (*name, why.as_str())).collect();
    assert_eq!(told, UNJUDGED);
}

/// Compares the response of a model to a kick with its poles; says why where that tells nothing.
fn judge(name: &str, text: &str) -> Result<(), String> {
    let token = CancellationToken::new();
    let model = sound(text);
    let found = match model.operating_point(&token) {
        Ok(found) => found,
        Err(QueryError::Wrong(_)) => return Err("no rest".to_owned()),
        Err(QueryError::Cancelled) => panic!("nobody cancelled"),
    };
    let names: Vec<String> = found.equations.states.iter().map(|state| state.name.clone()).collect();
    let own: Vec<String> = sound(text).equations(&token).unwrap().document(&paynter::Plain).states;
    if names != own {
        return Err("other states at rest".to_owned());
    }
    let poles = model.poles(&token).map_err(|_| "no tangent".to_owned())?;
    let poles = poles.document(paynter::json::Naming::Flat, &paynter::Plain).poles;
    let poles: Vec<Complex64> = poles.iter().map(|[re, im]| Complex64::new(*re, *im)).collect();
    let fastest = poles.iter().fold(0.0f64, |most, pole| most.max(pole.norm()));
    if fastest == 0.0 {
        return Err("no poles but at zero".to_owned());
    }
    let (model, rest) = (at_rest(&model, &found), &found.point.states);
    let size = |i: usize| if rest[i] == 0.0 { 1.0 } else { rest[i].abs() };
    let linear = found.linear.as_ref().is_some_and(|(linear, _)| linear.point.is_none());
    let together = |kick: &f64| -> Vec<f64> {
        let of = |i: usize| kick * size(i) * (1.0 - 0.3 * i as f64 / rest.len() as f64);
        (0..rest.len()).map(of).collect()
    };
    let alone = |i: usize| {
        let kick =
            move |kick: &f64| (0..rest.len()).map(|k| if k == i { kick * size(i) } else { 0.0 }).collect();
        LONE_KICKS.iter().map(kick).collect::<Vec<Vec<f64>>>()
    };
    let all: Vec<Vec<f64>> = if linear { &[1.0][..] } else { &KICKS[..] }.iter().map(together).collect();
    let mut told = false;
    for (kicks, part) in [0.3, 1.0, 3.0]
        .map(|part| (all.clone(), part))
        .into_iter()
        .chain((0..rest.len()).flat_map(|i| [0.3, 3.0].map(|part| (alone(i), part))))
    {
        if told && kicks != all {
            break;
        }
        let step = part / fastest;
        let count = 2 * names.len() + 3;
        let still = states(&model, &names, rest, step, count).unwrap();
        let roots = |factor: f64| -> Vec<Complex64> {
            recurrence(&poles.iter().map(|pole| (pole * step * factor).exp()).collect::<Vec<_>>())
        };
        let (own, others) = (roots(1.0), roots(1.1));
        // The smaller the kick, the less the laws curve, until rounding is all that is left.
        let tried = kicks.iter().filter_map(|kick| {
            let kicked: Vec<f64> = rest.iter().zip(kick).map(|(rest, kick)| rest + kick).collect();
            let moved = states(&model, &names, &kicked, step, count)?;
            let worst = |recurrence: &[Complex64]| {
                let all = still.iter().zip(&moved).map(|(still, moved)| {
                    let difference: Vec<f64> = moved.iter().zip(still).map(|(a, b)| a - b).collect();
                    missed(&difference, recurrence)
                });
                all.fold(0.0, f64::max)
            };
            Some((worst(&own), worst(&others)))
        });
        let Some(best) = tried.min_by(|a, b| a.0.total_cmp(&b.0)) else { continue };
        // What rounding makes of both tells nothing, and others must be missed where the own are met.
        let tells = best.1 > 10.0 * best.0;
        assert!(best.0 <= MISSED || best.1 < 3.0 * best.0, "{name}: {best:?} at steps of {step}, {poles:?}");
        told |= tells;
    }
    if told { Ok(()) } else { Err("rounding only".to_owned()) }
}
