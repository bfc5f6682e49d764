//! Confidence intervals cover the truth as often as they claim, with white and with coloured noise; plans promise
//! what estimations then find; profiles agree with curvature where the model is linear.

#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

use crate::common;

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
            let half = found.confidence.quantiles[0] * estimate.white_error.unwrap();
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
    assert!(found > 0.95 - slack(0.95) && white < 0.85, "{found} {white}");
    let [found, white] = coverage(0.8, count, 80, 0.95);
    println!("slower noise in a short record: {found}, uncorrected {white}, of 0.95");
    assert!(found > 0.95 - slack(0.95), "{found} {white}");
    // White noise in a short record hardly ever looks coloured, and never as if it told more than white noise does.
    for samples in [8, 12, 20] {
        let [found, white] = coverage(0.0, count, samples, 0.95);
        println!("{samples} samples of white noise: {found}, as white {white}, of 0.95");
        assert!((found - 0.95).abs() < slack(0.95) && (white - 0.95).abs() < slack(0.95), "{found} {white}");
    }
}

/// A filter from its voltage at many instants and its current at few: the current alone tells the resistance.
const FILTER: &str = "model rc { param R = 2; param C = 0.5; input u = 1; Se s = u; 1 l; R r = R; C c = C
    s -> l; l -> r, c; output y = c.e; output i = r.f }";

/// Noise of an output is known by the residuals that the fit has left of it: rare samples have wide intervals.
#[test]
fn rare_samples_have_the_intervals_that_they_deserve() {
    let count = paynter_testkit::property::seeds(100).count();
    let mut model = Model::new(FILTER);
    let fast = times(201, 20.0);
    for kept in [vec![5, 40], vec![5, 15, 40], vec![5, 10, 15, 25, 40]] {
        let mut hits = 0;
        for seed in 0..count {
            let mut random = Random::sample(7, seed as u64);
            let mut number = 0;
            let data = model.measure(&fast, "auto", None, &mut |k, y| {
                number += 1;
                let noise = 0.01 * normal(&mut random);
                // The outputs come in turns.
                if number % 2 == 0 && !kept.contains(&k) { f64::NAN } else { y + noise }
            });
            let options =
                EstimateOptions { data: vec![data], fit: fit(&["R", "C"]), ..EstimateOptions::default() };
            let found = model.estimate(&options).unwrap();
            let (low, high) = found.estimates[0].interval.unwrap();
            hits += usize::from((low..=high).contains(&2.0));
        }
        let share = hits as f64 / count as f64;
        println!("{} samples of the current: {share} of 0.95", kept.len());
        assert!((share - 0.95).abs() < 3.0 * (0.05 * 0.95 / count as f64).sqrt() + 0.01, "{kept:?} {share}");
    }
    // One sample of each leaves nothing to know noise by.
    let data = model.measure(&times(3, 2.0), "auto", None, &mut |k, y| if k == 1 { y } else { f64::NAN });
    let options = EstimateOptions { data: vec![data], fit: fit(&["R", "C"]), ..EstimateOptions::default() };
    let found = model.estimate(&options).unwrap();
    assert!(found.estimates.iter().all(|estimate| estimate.standard_error.is_none()));
    assert!(model.findings.iter().any(|d| d.code.id() == "BG0857"), "{:?}", model.findings);
}

/// Of how many series that are white residuals are called coloured, by output, and how often intervals hold the truth.
fn white_series(sigmas: [f64; 2], count: u64, samples: usize) -> ([f64; 2], f64) {
    let mut model = Model::new(FILTER);
    let (mut coloured, mut hits) = ([0.0; 2], 0.0);
    for seed in 0..count {
        let mut random = Random::sample(11, seed);
        let mut number = 0;
        let data = model.measure(&times(samples, 4.0), "auto", None, &mut |_, y| {
            number += 1;
            y + sigmas[(number + 1) % 2] * normal(&mut random)
        });
        let options =
            EstimateOptions { data: vec![data], fit: fit(&["R", "C"]), ..EstimateOptions::default() };
        let found = model.estimate(&options).unwrap();
        for series in found.confidence.whiteness.iter().filter(|series| !series.is_white()) {
            coloured[series.output] += 1.0 / count as f64;
        }
        for (estimate, truth) in found.estimates.iter().zip([2.0, 0.5]) {
            let (low, high) = estimate.interval.unwrap();
            hits += f64::from((low..=high).contains(&truth)) / (2 * count) as f64;
        }
    }
    (coloured, hits)
}

/// Outputs that share parameters leave residuals that are no less white for it, whichever of them is noisy.
#[test]
fn white_residuals_of_several_outputs_count_as_white() {
    let count = paynter_testkit::property::seeds(200).end;
    // Of a hundred white series one fails the test of Ljung and Box, and some seem to remember.
    let most = 0.05 + 3.0 * (0.05 * 0.95 / count as f64).sqrt();
    let slack = 0.01 + 3.0 * (0.05 * 0.95 / count as f64).sqrt();
    for sigmas in [[0.01, 0.01], [0.01, 0.1], [0.1, 0.01]] {
        for samples in [12, 40] {
            let (coloured, hits) = white_series(sigmas, count, samples);
            println!("{sigmas:?}, {samples} samples: {coloured:?} coloured, {hits} of 0.95");
            assert!(coloured.iter().all(|share| *share < most), "{sigmas:?} {samples}: {coloured:?}");
            assert!((hits - 0.95).abs() < slack, "{sigmas:?} {samples}: {hits}");
        }
    }
}

/// Data of one value, or of values that differ by rounding, count beside their size.
#[test]
fn data_without_variance_do_not_decide() {
    let mut model = Model::new(FILTER);
    let mut random = Random::new(3);
    let fast = times(201, 20.0);
    let mut number = 0;
    let single = model.measure(&fast, "auto", None, &mut |k, y| {
        number += 1;
        if number % 2 == 1 {
            y + 0.01 * normal(&mut random)
        } else if k == 5 {
            y
        } else {
            f64::NAN
        }
    });
    // A sensor that sticks, with the last digits swinging.
    let mut number = 0;
    let constant = model.measure(&fast, "auto", None, &mut |k, y| {
        number += 1;
        if number % 2 == 1 { y } else { 0.3 * (1.0 + 1e-16 * (k % 3) as f64) }
    });
    for (data, near) in [(single, true), (constant, false)] {
        let options = EstimateOptions {
            data: vec![data],
            fit: fit(&["R", "C"]),
            start: vec![("R".to_owned(), 1.0.into())],
            ..EstimateOptions::default()
        };
        let found = model.estimate(&options).unwrap();
        let values: Vec<f64> = found.estimates.iter().map(|estimate| estimate.value).collect();
        println!("{values:?}");
        if near {
            assert!((values[0] - 2.0).abs() < 0.1 && (values[1] - 0.5).abs() < 0.05, "{values:?}");
        }
        let fit = &found.fits[0];
        assert!(found.stop.is_converged() && fit.share > 0.3, "{values:?} {fit:?}");
        assert!(model.findings.iter().any(|d| d.code.id() == "BG0858"), "{:?}", model.findings);
    }
}

/// Losses are measured by the noise of each output: standard errors are the scatter of estimates.
#[test]
fn robust_losses_know_the_noise_of_each_output() {
    let count = paynter_testkit::property::seeds(60).count();
    let mut model = Model::new(FILTER);
    for loss in [Loss::Huber, Loss::Cauchy] {
        let (mut hits, mut sum, mut squares, mut errors) = (0, 0.0, 0.0, 0.0);
        for seed in 0..count {
            let mut random = Random::sample(9, seed as u64);
            let mut number = 0;
            let data = model.measure(&times(200, 6.0), "auto", None, &mut |_, y| {
                number += 1;
                // One output has much noise, the other little and now and then a wrong sample.
                let (scale, far) = if number % 2 == 1 { (0.2, 0.0) } else { (0.005, 0.06) };
                let outlier = if random.unit() < far { 0.5 * normal(&mut random) } else { 0.0 };
                y + scale * normal(&mut random) + outlier
            });
            let options = EstimateOptions {
                data: vec![data],
                fit: fit(&["R", "C", "offset(y)"]),
                loss,
                ..EstimateOptions::default()
            };
            let found = model.estimate(&options).unwrap();
            let offset = &found.estimates[2];
            let (low, high) = offset.interval.unwrap();
            hits += usize::from((low..=high).contains(&0.0));
            sum += offset.value;
            squares += offset.value.powi(2);
            errors += offset.standard_error.unwrap();
        }
        let n = count as f64;
        let scatter = (squares / n - (sum / n).powi(2)).sqrt();
        let ratio = scatter / (errors / n);
        println!("{loss:?}: {} of 0.95, scatter {ratio} of the standard error", hits as f64 / n);
        assert!((ratio - 1.0).abs() < 3.0 / (2.0 * n).sqrt() + 0.05, "{loss:?} {ratio}");
        assert!(hits as f64 / n > 0.95 - 3.0 * (0.05 * 0.95 / n).sqrt(), "{loss:?} {hits}");
    }
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

/// No unit decides what is determined: capacities from femtofarads to megajoules per kelvin, with an initial state that
/// begins at zero, have the same relative errors, in estimations and plans.
#[test]
fn scales_decide_nothing() {
    let text = |c: f64, init: f64| {
        format!(
            "model rc {{ param R = {:e}; param C = {c:e}; input u = 1; Se s = u; 1 l; R r = R; C c = C
                s -> l; l -> r, c; init c.q = {:e}; output y = c.e; output i = r.f*{:e} }}",
            1.0 / c,
            init * c,
            1.0 / c
        )
    };
    let mut expected: Option<Vec<f64>> = None;
    for c in [1.0, 1e-15, 1e-9, 1e-3, 1e6, 1e12] {
        let mut random = Random::new(8);
        let data = Model::new(&text(c, 0.1))
            .measure(&times(101, 5.0), "auto", None, &mut |_, y| y + 0.01 * normal(&mut random));
        let names = fit(&["R", "C", "init(c.q)"]);
        let options = EstimateOptions { data: vec![data], fit: names.clone(), ..EstimateOptions::default() };
        for method in [paynter_estimate::Method::LevenbergMarquardt, paynter_estimate::Method::GaussNewton] {
            let found =
                Model::new(&text(c, 0.0)).estimate(&EstimateOptions { method, ..options.clone() }).unwrap();
            assert_eq!((found.before.rank, found.after.rank), (3, 3), "{c} {method:?}");
            let shares: Vec<f64> =
                found.estimates.iter().map(|e| e.standard_error.unwrap() / e.value.abs()).collect();
            let wanted = expected.get_or_insert_with(|| shares.clone());
            for (share, wanted) in shares.iter().zip(wanted.iter()) {
                assert!((share / wanted - 1.0).abs() < 1e-2, "{c} {method:?}: {shares:?}");
            }
        }
        let planned = PlanOptions { t_end: Some(5.0), ..PlanOptions::default() };
        let plans = Model::new(&text(c, 0.0))
            .plan(&EstimateOptions { fit: names, ..EstimateOptions::default() }, &planned)
            .unwrap();
        assert_eq!(plans[0].identifiability.rank, 3, "{c}");
        assert!(plans[0].predictions.iter().all(|found| found.standard_error.is_some()), "{c}");
    }
    // An offset that comes out at nothing has an effect all the same.
    let mut model = Model::new(&text(1.0, 0.0));
    let data = model.measure(&times(101, 5.0), "auto", None, &mut |_, y| y);
    let options = EstimateOptions {
        data: vec![data],
        fit: fit(&["R", "offset(y)"]),
        start: vec![("offset(y)".to_owned(), 0.1.into())],
        ..EstimateOptions::default()
    };
    let found = model.estimate(&options).unwrap();
    assert!(found.after.rank == 2 && found.estimates[1].value.abs() < 1e-6, "{:?}", found.after);
}
