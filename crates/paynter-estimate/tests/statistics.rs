//! Confidence intervals cover the truth as often as they claim, with white and with coloured noise; plans promise
//! what estimations then find; profiles agree with curvature where the model is linear.

#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

mod common;

use common::{Model, normal};
use paynter_base::random::Random;
use paynter_estimate::{EstimateOptions, Loss, PlanOptions};

/// A tank with an inflow: its level rises to a constant.
const TANK: &str =
    "model tank { param R = 2; param C = 0.5; param Q = 3; Sf pump = Q; 0 j; R pipe = R; C tank = C
    pump -> j; j -> pipe, tank; output h = tank.e }";

fn fit(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

fn times(count: usize, end: f64) -> Vec<f64> {
    (0..count).map(|k| end * k as f64 / (count - 1) as f64).collect()
}

/// How often intervals contain the truth, of all estimates: as claimed, and as if residuals were white.
fn coverage(memory: f64, count: usize, samples: usize, level: f64) -> [f64; 2] {
    let mut model = Model::new(TANK);
    let times = times(samples, 6.0);
    let (mut inside, mut white, mut all) = (0, 0, 0);
    for seed in 0..count {
        let mut random = Random::sample(5, seed as u64);
        let mut last = normal(&mut random) * 0.05;
        let fresh = 0.05 * (1.0 - memory * memory).sqrt();
        let data = model.measure(&times, "auto", None, &mut |_, y| {
            last = memory * last + fresh * normal(&mut random);
            y + last
        });
        let options =
            EstimateOptions { data: vec![data], fit: fit(&["R", "C"]), level, ..EstimateOptions::default() };
        let found = model.estimate(&options).unwrap();
        for (estimate, truth) in found.estimates.iter().zip([2.0, 0.5]) {
            let (low, high) = estimate.interval.unwrap();
            let half = found.confidence.quantile * estimate.white_error.unwrap();
            inside += usize::from((low..=high).contains(&truth));
            white += usize::from((estimate.value - truth).abs() <= half);
            all += 1;
        }
    }
    [inside, white].map(|hits| hits as f64 / all as f64)
}

#[test]
fn intervals_cover_the_truth_as_often_as_they_claim() {
    let count = paynter_testkit::property::seeds(100).count();
    // Three standard deviations of the count of hits, estimates of one sample taken for one.
    let slack = |level: f64| 3.0 * (level * (1.0 - level) / count as f64).sqrt();
    for level in [0.95, 0.8] {
        let [found, _] = coverage(0.0, count, 80, level);
        println!("white noise: {found} of {level}");
        assert!((found - level).abs() < slack(level) + 0.01, "{found} instead of {level}");
    }
    let [found, white] = coverage(0.8, count, 300, 0.95);
    println!("coloured noise: {found}, uncorrected {white}, of 0.95");
    assert!(found > 0.95 - slack(0.95) - 0.03 && white < 0.75, "{found} {white}");
    // A short record hides the colour of its noise: tests over many lags do not see it, and the fit follows it.
    let [found, white] = coverage(0.5, count, 60, 0.95);
    println!("coloured noise in a short record: {found}, uncorrected {white}, of 0.95");
    assert!(found > 0.95 - slack(0.95), "{found} {white}");
}

#[test]
fn plans_promise_what_estimations_find() {
    let mut model = Model::new(TANK);
    let sigma = 0.02;
    let planned =
        PlanOptions { noise: vec![("h".into(), sigma)], t_end: Some(6.0), sample_times: vec![0.05, 0.5] };
    let options = EstimateOptions { fit: fit(&["R", "C"]), ..EstimateOptions::default() };
    let plans = model.plan(&options, &planned).unwrap();
    assert_eq!(plans.iter().map(|plan| plan.samples).collect::<Vec<_>>(), [121, 13]);
    let error = |plan: usize, place: usize| plans[plan].predictions[place].standard_error.unwrap();
    for place in 0..2 {
        let ratio = error(1, place) / error(0, place);
        assert!(ratio > 2.0 && ratio < 4.5, "a tenth of the samples: {ratio}");
    }
    let mut random = Random::new(4);
    let data = model.measure(&times(121, 6.0), "auto", None, &mut |_, y| y + sigma * normal(&mut random));
    let found = model.estimate(&EstimateOptions { data: vec![data], ..options }).unwrap();
    for (place, estimate) in found.estimates.iter().enumerate() {
        let ratio = estimate.standard_error.unwrap() / error(0, place);
        assert!((ratio - 1.0).abs() < 0.25, "{}: {ratio}", estimate.name);
    }
    // Pump and pipe act on the level at rest only together.
    let options = EstimateOptions { fit: fit(&["R", "C", "Q"]), ..EstimateOptions::default() };
    let plans = model.plan(&options, &planned).unwrap();
    assert!(plans[0].information.is_none());
    let undetermined = &plans[0].identifiability.undetermined;
    assert_eq!(undetermined[0].determined, ["R*C", "R*Q"], "{undetermined:?}");
}

#[test]
fn a_profile_agrees_with_curvature_where_the_model_is_linear() {
    let mut model = Model::new(TANK);
    let mut random = Random::new(9);
    let data = model.measure(&times(60, 6.0), "auto", None, &mut |_, y| y + 0.1 * normal(&mut random));
    let options = EstimateOptions {
        data: vec![data],
        fit: fit(&["Q", "C"]),
        profiles: fit(&["Q", "C"]),
        ..EstimateOptions::default()
    };
    let found = model.estimate(&options).unwrap();
    let (low, high) = found.estimates[0].interval.unwrap();
    let profile = &found.profiles[0];
    let (from, to) = (profile.interval.0.unwrap(), profile.interval.1.unwrap());
    assert!(
        (from - low).abs() < 0.03 * (high - low) && (to - high).abs() < 0.03 * (high - low),
        "{from} {low} {to} {high}"
    );
    // The capacity is no linear parameter: its interval is longer to the one side.
    let (from, to) = (found.profiles[1].interval.0.unwrap(), found.profiles[1].interval.1.unwrap());
    let value = found.estimates[1].value;
    assert!(from < value && value < to && (to - value) > 1.01 * (value - from), "{from} {value} {to}");
}

/// Where the cost is a parabola, the profile tells the interval of the standard error, whatever the noise of outputs and
/// the loss are.
#[test]
fn profiles_agree_with_curvature_whatever_the_noise() {
    let mut model = Model::new(
        "model tank { param R = 2; param C = 0.5; param Q = 3; Sf pump = Q; 0 j; R pipe = R; C tank = C
            pump -> j; j -> pipe, tank; output h = tank.e; output f = pipe.f }",
    );
    for (loss, memory, outliers) in [
        (Loss::Squares, 0.0, 0.0),
        (Loss::Squares, 0.7, 0.0),
        (Loss::Huber, 0.0, 0.1),
        (Loss::Cauchy, 0.0, 0.1),
    ] {
        let (mut random, mut last) = (Random::new(12), 0.0);
        // The second output has ten times the noise of the first: `measure` hands them on in turns.
        let mut number = 0;
        let data = model.measure(&times(400, 6.0), "auto", None, &mut |_, y| {
            number += 1;
            last = memory * last + 0.02 * normal(&mut random);
            let far = if random.unit() < outliers { 20.0 } else { 1.0 };
            y + far * last * if number % 2 == 0 { 10.0 } else { 1.0 }
        });
        let options = EstimateOptions {
            data: vec![data],
            fit: fit(&["Q"]),
            profiles: fit(&["Q"]),
            loss,
            ..Default::default()
        };
        let found = model.estimate(&options).unwrap();
        let (low, high) = found.estimates[0].interval.unwrap();
        let (from, to) = found.profiles[0].interval;
        let (from, to) = (from.unwrap(), to.unwrap());
        println!("{loss:?}, memory {memory}: {low} to {high}, profile {from} to {to}");
        let slack = if loss == Loss::Squares { 0.03 } else { 0.15 } * (high - low);
        assert!((from - low).abs() < slack && (to - high).abs() < slack, "{loss:?} {from} {low} {to} {high}");
    }
}
