//! Kinds of models on which runs once were wrong, drawn at random: pulse trains, bumps
//! and bursts, sources that cancel, blocks and networks of dry friction, networks of diodes, rectifiers with coils, sawtooths of states, weirs, check
//! valves, relays that hold themselves, charge pumps clocked by sawtooths, rectifiers that read their current, engines on windows of their angle, windows of polynomials, laws with poles, changes of units. Each against a solution of its own: piecewise exact, or
//! small fixed steps on a regularised law. `PAYNTER_RANDOM=N` takes N seeds instead of a few.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use crate::common;

use common::kinds::{Draw, last, outputs, outputs_by, rk4};
use common::sound;
use paynter::CancellationToken;
use paynter::simulate::{Sensitivities, SimulateOptions};
use paynter_testkit::property::each;
use std::f64::consts::PI;
use std::fmt::Write;

/// A low-pass behind a pulse train: x' = (u − x)/T is solved exactly between the times at which u switches.
#[test]
fn pulse_trains() {
    each(24, |seed| {
        let mut draw = Draw::new(seed);
        let (time, height) = (draw.between(0.02, 2.0), draw.between(0.5, 5.0));
        let (frequency, duty, phase) =
            (draw.between(1.0, 400.0), draw.between(0.003, 0.9), draw.between(0.0, 6.0));
        // On while the angle is within duty·π of the crest.
        let level = (duty * PI).cos();
        let condition = match draw.of(&[0, 1, 2]) {
            0 => format!("sin(2*pi*{frequency}*t + {phase}) > {level}"),
            1 => format!("0.5 + asin(sin(2*pi*{frequency}*t + {phase}))/pi > {}", 1.0 - duty),
            _ => format!("cos(2*pi*{frequency}*t + {phase} - pi/2) - {level} > 0"),
        };
        let text = format!(
            "model train {{ input u = if({condition}, {height}, 0); Se s = u; 1 j; R r = 1; C c = {time}
                s -> j; j -> r, c; output y = c.e }}"
        );
        let end = draw.between(0.2, 0.6);
        let (found, rtol) = outputs(&text, end, &mut draw);
        let crest = |n: f64| (PI / 2.0 - phase + 2.0 * PI * n) / (2.0 * PI * frequency);
        let half = duty / (2.0 * frequency);
        let (mut t, mut x, mut n) = (0.0, 0.0, -2.0);
        while t < end {
            let (on, off) = (crest(n) - half, crest(n) + half);
            for (until, u) in [(on, 0.0), (off, height)] {
                let until = f64::min(until, end);
                if until > t {
                    x = u + (x - u) * (-(until - t) / time).exp();
                    t = until;
                }
            }
            n += 1.0;
        }
        let y = last(&found[0]);
        assert!(
            (y - x).abs() <= 300.0 * rtol * x.abs().max(1e-3 * height),
            "seed {seed}: {y}, not {x}\n{text}"
        );
    });
}

/// Narrow smooth bumps on an integrator: what is integrated is known.
#[test]
fn smooth_bumps() {
    each(16, |seed| {
        let mut draw = Draw::new(seed);
        let (place, height) = (draw.between(1.0, 8.0), draw.between(0.5, 50.0));
        let width = draw.of(&[1e-2, 1e-3, 1e-4]) * draw.between(1.0, 5.0);
        let (bump, area) = match draw.of(&[0, 1, 2]) {
            0 => (format!("exp(-((t - {place})/{width})^2)"), width * PI.sqrt()),
            1 => (format!("1/cosh((t - {place})/{width})^2"), 2.0 * width),
            _ => (format!("max(0, 1 - ((t - {place})/{width})^2)"), 4.0 / 3.0 * width),
        };
        let slow = draw.between(0.1, 2.0);
        let text = format!(
            "model bump {{ Sf s = {height}*{bump} + sin({slow}*t); C c = 1; s -> c; output q = c.q }}"
        );
        let (found, rtol) = outputs(&text, 10.0, &mut draw);
        let exact = height * area + (1.0 - (10.0 * slow).cos()) / slow;
        let y = last(&found[0]);
        assert!(
            (y - exact).abs() <= 300.0 * rtol * exact.abs().max(1.0),
            "seed {seed}: {y}, not {exact}\n{text}"
        );
    });
}

/// Short bursts of many shapes into a storage that is empty and leaks: what is left of them is an integral.
#[test]
fn bursts() {
    each(32, |seed| {
        let mut draw = Draw::new(seed);
        let (at, width) = (draw.between(1.0, 8.0), 10f64.powf(draw.between(-7.0, -1.5)));
        let shape = draw.of(&[0, 1, 2, 3, 4, 5, 6, 7]);
        let u = format!("((t - {at})/{width})");
        let form = match shape {
            0 => format!("max(0, 1 - abs({u}))"),
            1 => format!("if(t < {at}, 0, {u}*exp(-{u}))"),
            2 => format!("if(t < {at}, 0, exp(-{u}) - exp(-2*{u}))"),
            3 => format!("sin(pi*{u})^2*pulse({at}, {at} + {width})"),
            4 => format!("{u}^2*exp(-{u}^2)"),
            5 => format!("(tanh({u}) - tanh({u} - 20))"),
            6 => format!("(1/(1 + exp(-{u})) - 1/(1 + exp(20 - {u})))"),
            _ => format!("{u}*pulse({at}, {at} + {width})"),
        };
        let law = |u: f64| match shape {
            0 => (1.0 - u.abs()).max(0.0),
            1 => {
                if u < 0.0 {
                    0.0
                } else {
                    u * (-u).exp()
                }
            }
            2 => {
                if u < 0.0 {
                    0.0
                } else {
                    (-u).exp() - (-2.0 * u).exp()
                }
            }
            3 => {
                if (0.0..1.0).contains(&u) {
                    (PI * u).sin().powi(2)
                } else {
                    0.0
                }
            }
            4 => u * u * (-u * u).exp(),
            5 => u.tanh() - (u - 20.0).tanh(),
            6 => 1.0 / (1.0 + (-u).exp()) - 1.0 / (1.0 + (20.0 - u).exp()),
            _ => {
                if (0.0..=1.0).contains(&u) {
                    u
                } else {
                    0.0
                }
            }
        };
        let text = format!(
            "model burst {{ Sf s = {form}/{width}; 0 n; C c = 1; R r = 1; s -> n; n -> c, r; output q = c.q }}"
        );
        let end = 10.0;
        let (found, rtol) = outputs(&text, end, &mut draw);
        // Gauss's rule of three points on parts that end where the law bends or jumps.
        let (parts, mut exact) = (200, 0.0);
        for part in -40 * parts..60 * parts {
            let middle = (f64::from(part) + 0.5) / f64::from(parts);
            for (place, weight) in [(-0.6f64.sqrt(), 5.0), (0.0, 8.0), (0.6f64.sqrt(), 5.0)] {
                let u = middle + 0.5 * place / f64::from(parts);
                exact += weight / 18.0 / f64::from(parts) * law(u) * (at + width * u - end).exp();
            }
        }
        let y = last(&found[0]);
        // What rounding of the time makes of so short a burst is not resolved.
        let rounding = 10.0 * f64::EPSILON * at / width;
        assert!(
            (y - exact).abs() <= 300.0 * rtol * (at - end).exp().max(exact) + rounding,
            "seed {seed}: {y}, not {exact}\n{text}"
        );
    });
}

/// Sources that cancel but for rounding leave at rest what is at rest.
#[test]
fn sources_that_cancel() {
    each(12, |seed| {
        let mut draw = Draw::new(seed);
        let (height, w) = (10f64.powf(draw.between(-9.0, 9.0)), draw.between(0.5, 400.0));
        let phases = draw.of(&[3, 5, 6]);
        let mut text = String::from(
            "model star { 0 star; 1 neutral; I coil = 0.001; star -> neutral -> coil; output i = coil.f\n",
        );
        for k in 0..phases {
            let angle = 2.0 * PI * f64::from(k) / f64::from(phases);
            writeln!(
                text,
                "Se u{k} = {height:e}*sin({w}*t + {angle}); 1 b{k}; R r{k} = 10; u{k} -> b{k} -> star; b{k} -> r{k}"
            )
            .unwrap();
        }
        text.push('}');
        let (found, _) = outputs(&text, 0.1, &mut draw);
        let y = last(&found[0]);
        assert!(y.abs() <= 1e-12 * height, "seed {seed}: {y}\n{text}");
    });
}

/// One block under dry friction, pulled to and fro: between sticking and slipping its motion is known.
#[test]
fn one_block() {
    each(16, |seed| {
        let mut draw = Draw::new(seed);
        let (m, limit) = (draw.between(0.5, 3.0), draw.between(0.5, 2.0));
        let (pull, w) = (limit * draw.between(0.8, 3.0), draw.between(0.7, 6.0));
        let text = format!(
            "model block {{ 1 v; I mass = {m}; R dry {{ e = {limit}*sign(f) }}; Se pull = {pull}*sin({w}*t)
                pull -> v; v -> mass, dry; output y = mass.f; output F = dry.e }}"
        );
        let end = draw.between(4.0, 9.0);
        let (found, rtol) = outputs(&text, end, &mut draw);
        // Steps of the exact motion, with the events between found by bisection.
        let (step, mut t, mut v, mut sign) = (1e-3, 0.0f64, 0.0f64, 0.0f64);
        let force = |t: f64| pull * (w * t).sin();
        while t < end {
            let h = f64::min(step, end - t);
            if sign == 0.0 {
                let mut to = t + h;
                if force(to).abs() > limit {
                    let (mut low, mut high) = (t, to);
                    for _ in 0..60 {
                        let middle = 0.5 * (low + high);
                        if force(middle).abs() > limit { high = middle } else { low = middle }
                    }
                    (to, sign) = (high, force(high).signum());
                }
                t = to;
                continue;
            }
            let at =
                |s: f64| v + pull / (m * w) * ((w * t).cos() - (w * s).cos()) - sign * limit / m * (s - t);
            let to = t + h;
            if at(to) * sign < 0.0 {
                let (mut low, mut high) = (t, to);
                for _ in 0..60 {
                    let middle = 0.5 * (low + high);
                    if at(middle) * sign < 0.0 { high = middle } else { low = middle }
                }
                (t, v) = (high, 0.0);
                sign = if force(t).abs() > limit { force(t).signum() } else { 0.0 };
            } else {
                (v, t) = (at(to), to);
            }
        }
        let y = last(&found[0]);
        let scale = pull / (m * w);
        assert!((y - v).abs() <= 1000.0 * rtol * scale, "seed {seed}: {y}, not {v}\n{text}");
        for force in &found[1] {
            assert!(force.abs() <= limit * (1.0 + 1e-6), "seed {seed}: {force} above {limit}\n{text}");
        }
    });
}

/// Outputs that read a law at a sample in the very instant of its jump: they are what the law is from there on, and
/// the run is not withheld.
#[test]
fn samples_at_jumps() {
    each(24, |seed| {
        let mut draw = Draw::new(seed);
        let (limit, push) = (draw.between(0.5, 4.0), draw.between(5.0, 20.0) * draw.of(&[1.0, -1.0]));
        let at = draw.of(&[0.0, 0.5, 1.5]);
        let later = |t: f64| if t < at { -limit } else { limit };
        let slides = |_: f64| limit * push.signum();
        let (model, wanted): (String, Box<dyn Fn(f64) -> f64>) = match draw.of(&[0, 1, 2, 3, 4, 5]) {
            0 => (
                format!(
                    "1 v; I mass = 1; R fric {{ e = {limit}*sign(f) }}; Se s = {push}; s -> v -> mass, fric
                    output y = fric.e"
                ),
                Box::new(slides),
            ),
            1 => (
                format!(
                    "1 v; I mass = 2; R fric {{ e = {limit}*sign(f) }}; C k = 1e-3; init k.q = {}; v -> mass, k, fric
                    output y = {push} - 2*mass.e",
                    -1e-3 * push
                ),
                // As long as the spring has hardly moved; that is at the start only.
                Box::new(move |_| push - 2.0 * (push - limit * push.signum())),
            ),
            2 => (
                format!("Se s = {limit}*sign(t - {at}); R r = 1; C c = 1; 1 j; s -> j -> r, c; output y = s.e"),
                Box::new(later),
            ),
            3 => (format!("Se s = {limit}*abs(t - {at}); C c = 1; s -> c; output y = c.f"), Box::new(later)),
            4 => (
                format!("Se s = {limit}*sign(sin(t - {at})); R r = 1; C c = 1; 1 j; s -> j -> r, c; output y = s.e"),
                Box::new(later),
            ),
            _ => (
                format!(
                    "Se s = if(sin(t - {at}) > 0, {limit}, -{limit}); R r = 1; C c = 1; 1 j; s -> j -> r, c
                    output y = s.e"
                ),
                Box::new(later),
            ),
        };
        let (text, at_start) = (format!("model jump {{ {model} }}"), model.contains("C k"));
        let times = if at_start { vec![0.0, 1e-9] } else { vec![0.0, 0.5, 1.5, 2.0] };
        let solver = draw.of(&["auto", "tsit5", "stiff"]).to_owned();
        let options = SimulateOptions { times: times.clone(), solver, ..SimulateOptions::default() };
        let answer = sound(&text).simulation(&options, &CancellationToken::new()).unwrap();
        let (response, outcome) = answer.respond(&answer.parameters, &CancellationToken::new());
        assert_eq!(outcome.failure, None, "{text}");
        assert!(answer.check_run(&outcome).is_ok(), "seed {seed}: {:?}\n{text}", answer.check_run(&outcome));
        for (t, y) in times.iter().zip(&response.outputs[0]) {
            let right = wanted(*t);
            assert!((y - right).abs() <= 1e-6 * right.abs(), "seed {seed}: {y}, not {right} at {t}\n{text}");
        }
    });
}

/// Blocks with friction on the ground and between each other, against the same with steep slopes for jumps.
#[test]
fn networks_of_friction() {
    each(10, |seed| {
        let mut draw = Draw::new(seed);
        let n = draw.of(&[2, 3]);
        let mut list =
            |low: f64, high: f64| -> Vec<f64> { (0..n).map(|_| draw.between(low, high)).collect() };
        let (mass, ground, damp) = (list(0.8, 2.0), list(0.3, 1.0), list(0.05, 0.4));
        let (joint, spring, pull, w) = (list(0.2, 0.9), list(2.0, 9.0), list(0.3, 3.0), list(0.8, 3.0));
        let mut text = "model fric {\n".to_owned();
        for i in 0..n {
            let _ = write!(
                text,
                "1 v{i}; I m{i} = {}; R d{i} = {}; R g{i} {{ e = {}*sign(f) }}; Se F{i} = {}*sin({}*t)
                v{i} -> m{i}, d{i}, g{i}; F{i} -> v{i}; output y{i} = m{i}.f\n",
                mass[i], damp[i], ground[i], pull[i], w[i]
            );
        }
        for i in 0..n - 1 {
            let _ = write!(
                text,
                "0 c{i}; 1 r{i}; R j{i} {{ e = {}*sign(f) }}; C k{i} = 1/{}
                v{i} -> c{i}; c{i} -> v{}; c{i} -> r{i}; r{i} -> j{i}, k{i}\n",
                joint[i],
                spring[i],
                i + 1
            );
        }
        text += "}";
        let end = 3.0;
        let (found, _) = outputs(&text, end, &mut draw);
        let steep = |v: f64| (v / 1e-4).tanh();
        let reference = rk4(vec![0.0; 2 * n - 1], end, 300_000, |t, x| {
            let (v, q) = x.split_at(n);
            let force = |i: usize| joint[i] * steep(v[i] - v[i + 1]) + spring[i] * q[i];
            let mut rates: Vec<f64> = (0..n)
                .map(|i| {
                    let left = if i > 0 { force(i - 1) } else { 0.0 };
                    let right = if i + 1 < n { force(i) } else { 0.0 };
                    let own = damp[i] * v[i] + ground[i] * steep(v[i]);
                    (pull[i] * (w[i] * t).sin() - own + left - right) / mass[i]
                })
                .collect();
            rates.extend((0..n - 1).map(|i| v[i] - v[i + 1]));
            rates
        });
        for i in 0..n {
            let (y, right) = (last(&found[i]), reference[i]);
            assert!((y - right).abs() <= 2e-3, "seed {seed}: y{i} = {y}, not {right}\n{text}");
        }
    });
}

/// Nodes with capacitors joined by resistors and diodes, written on their efforts or flows.
#[test]
fn networks_of_diodes() {
    each(12, |seed| {
        let mut draw = Draw::new(seed);
        let n = draw.of(&[2, 3, 4]);
        let (on, off) = (0.05, 1e-3);
        let (height, w, source) = (draw.between(1.0, 5.0), draw.between(1.0, 4.0), draw.between(0.3, 1.0));
        let store: Vec<f64> = (0..n).map(|_| draw.between(0.4, 2.0)).collect();
        let load: Vec<f64> = (0..n).map(|_| draw.between(0.3, 2.0)).collect();
        let mut text = format!("model diodes {{ Se src = {height}*sin({w}*t); 1 js; R rs = {source}\n");
        for i in 0..n {
            let _ = writeln!(
                text,
                "0 n{i}; C c{i} = {}; R r{i} = {}; n{i} -> c{i}, r{i}; output y{i} = c{i}.e",
                store[i], load[i]
            );
        }
        text += "src -> js; js -> rs, n0\n";
        // A diode, forwards or backwards, from each node to the next, and one across.
        let mut joints: Vec<(usize, usize)> =
            (1..n).map(|i| if draw.of(&[true, false]) { (i - 1, i) } else { (i, i - 1) }).collect();
        if n > 2 {
            joints.push(draw.of(&[(0, 2), (2, 0)]));
        }
        for (k, (from, to)) in joints.iter().enumerate() {
            let by = draw.of(&["e", "f"]);
            let _ = writeln!(
                text,
                "1 j{k}; Sw d{k} when (d{k}.{by} > 0) {{ Ron = {on}; Goff = {off} }}
                n{from} -> j{k}; j{k} -> d{k}, n{to}"
            );
        }
        text += "}";
        let end = 5.0;
        let (found, _) = outputs(&text, end, &mut draw);
        let reference = rk4(vec![0.0; n], end, 200_000, |t, v| {
            let mut flows: Vec<f64> = (0..n).map(|i| -v[i] / load[i]).collect();
            flows[0] += (height * (w * t).sin() - v[0]) / source;
            for (from, to) in &joints {
                let e = v[*from] - v[*to];
                let f = if e > 0.0 { e / on } else { e * off };
                flows[*from] -= f;
                flows[*to] += f;
            }
            flows.iter().zip(&store).map(|(f, c)| f / c).collect()
        });
        for i in 0..n {
            let (y, right) = (last(&found[i]), reference[i]);
            assert!((y - right).abs() <= 1e-4 * height, "seed {seed}: y{i} = {y}, not {right}\n{text}");
        }
    });
}

/// A nonlinear oscillator behind a resistor, with every amount times a power of ten, with and without
/// sensitivities.
#[test]
fn changes_of_units() {
    each(10, |seed| {
        let mut draw = Draw::new(seed);
        let (m, k, cubic) = (draw.between(0.5, 2.0), draw.between(1.0, 9.0), draw.between(0.5, 4.0));
        let (r, push, start) = (draw.between(0.1, 1.0), draw.between(0.5, 2.0), draw.between(-1.0, 1.0));
        let run = |scale: f64, sensitive: bool| -> Vec<f64> {
            let text = format!(
                "model swing {{ param k = {k}; param sc = {scale:e}; Se F = sc*{push}; 1 v; I mass = {m}; R r = {r}
                    C spring {{ e = k*q + {cubic}*q*(q/sc)^2; init q = sc*{start} }}; signal way = integral(spring.e/sc)
                    F -> v; v -> mass, r, spring; output q = spring.q/sc; output p = mass.p/sc; output w = way }}"
            );
            let sensitivities = match sensitive {
                true => Sensitivities::Names(vec!["k".to_owned()]),
                false => Sensitivities::None,
            };
            let options =
                SimulateOptions { times: vec![0.0, 1.3, 4.0], sensitivities, ..SimulateOptions::default() };
            let answer = sound(&text).simulation(&options, &CancellationToken::new()).unwrap();
            let (response, outcome) = answer.respond(&answer.parameters, &CancellationToken::new());
            assert_eq!(outcome.failure, None, "{text}");
            response.outputs.concat()
        };
        let right = run(1.0, false);
        for scale in [1e-18, 1e-9, 1e6, 1e15] {
            for sensitive in [false, true] {
                for (a, b) in run(scale, sensitive).iter().zip(&right) {
                    let largest = right.iter().fold(0.0f64, |most, y| most.max(y.abs()));
                    assert!(
                        (a - b).abs() <= 1e-6 * largest,
                        "seed {seed}, {scale}, {sensitive}: {a}, not {b}"
                    );
                }
            }
        }
    });
}

/// A sawtooth of a state, by the jumps of inverse functions, against a level: the time below it is known.
#[test]
fn sawtooths_of_states() {
    each(12, |seed| {
        let mut draw = Draw::new(seed);
        let (rate, level, end) = (draw.between(0.3, 40.0), draw.between(0.05, 0.95), draw.between(1.0, 6.0));
        let phase = draw.between(0.0, 1.0);
        let saw = draw
            .of(&["atan(tan(pi*(ph - 0.5)))/pi", "atan2(sin(2*pi*(ph - 0.5)), cos(2*pi*(ph - 0.5)))/(2*pi)"]);
        let text = format!(
            "model saw {{ signal ph = integral({rate}, {phase}); Sf in = if(0.5 + {saw} < {level}, 1, 0)
                C c = 1; in -> c; output q = c.q }}"
        );
        let (found, _) = outputs(&text, end, &mut draw);
        // From phase zero on, so many whole periods and a part of one.
        let below = |ph: f64| ph.floor() * level + (ph - ph.floor()).min(level);
        let right = (below(phase + rate * end) - below(phase)) / rate;
        let q = last(&found[0]);
        assert!((q - right).abs() <= 1e-5 * end, "seed {seed}: {q}, not {right}\n{text}");
    });
}

/// Triangular waves of a state into a storage that leaks: between their corners they are straight.
#[test]
fn triangular_waves_of_states() {
    each(12, |seed| {
        let mut draw = Draw::new(seed);
        let (rate, phase, end) = (draw.between(0.5, 20.0), draw.between(-2.0, 2.0), draw.between(1.0, 4.0));
        let shape = draw.of(&[0, 1, 2, 3]);
        let wave = ["asin(sin(ph))", "acos(cos(ph))", "asin(cos(ph))", "acos(sin(ph))"][shape];
        let text = format!(
            "model wave {{ signal ph = integral({rate}, {phase}); Se s = {wave}; R r = 1; C c = 1; 1 j; s -> j -> r, c
                output q = c.q }}"
        );
        let (found, rtol) = outputs(&text, end, &mut draw);
        let law = |ph: f64| match shape {
            0 => ph.sin().asin(),
            1 => ph.cos().acos(),
            2 => ph.cos().asin(),
            _ => ph.sin().acos(),
        };
        // Corners lie at multiples of a quarter turn; between them q' = a + b·s − q is solved exactly.
        let (mut t, mut q) = (0.0f64, 0.0f64);
        while t < end {
            let next = ((phase + rate * t) / (0.5 * PI) + 1e-9).floor() + 1.0;
            let to = f64::min((next * 0.5 * PI - phase) / rate, end);
            let h = to - t;
            let (first, last) = (law(phase + rate * (t + 1e-9 * h)), law(phase + rate * (to - 1e-9 * h)));
            let slope = (last - first) / h;
            q = last - slope + (q - first + slope) * (-h).exp();
            t = to;
        }
        let y = last(&found[0]);
        assert!((y - q).abs() <= (300.0 * rtol).max(1e-7), "seed {seed}: {y}, not {q}\n{text}");
    });
}

/// Half-wave rectifiers with a coil and a diode that hardly leaks: between conduction and blocking, small fixed steps.
#[test]
fn rectifiers_with_coils() {
    each(8, half_wave);
    // Its second crest is hardly above the storage.
    half_wave(2021);
}

fn half_wave(seed: u64) {
    let mut draw = Draw::new(seed);
    let (coil, load, leak) = (draw.between(2e-4, 2e-3), draw.between(80.0, 900.0), draw.of(&[1e-8, 1e-9]));
    let (high, capacity) = (draw.between(10.0, 30.0), draw.between(3e-4, 2e-3));
    let text = format!(
        "model rectifier {{ Se mains = {high}*sin(2*pi*50*t); 1 src; I lk = {coil}; R cu = 0.2
            Sw d1 when (d1.e > 0) {{ Ron = 0.05; Goff = {leak} }}; 0 rail; C cap = {capacity}; R load = {load}
            mains -> src -> lk, cu, d1, rail; rail -> cap, load; output v = cap.e }}"
    );
    let end = draw.between(0.03, 0.09);
    // What leaks so little is stiff.
    let (found, _) = outputs_by(&["auto", "stiff"], &text, end, &mut draw);
    let (mut i, mut v, mut t, h) = (0.0f64, 0.0f64, 0.0f64, 5e-7);
    let source = |t: f64| high * (2.0 * PI * 50.0 * t).sin();
    let rates = |t: f64, i: f64, v: f64| ((source(t) - v - 0.25 * i) / coil, (i - v / load) / capacity);
    while t < end {
        let h = f64::min(h, end - t);
        if i > 0.0 || source(t) > v {
            let (a, b) = rates(t, i, v);
            let (c, d) = rates(t + 0.5 * h, i + 0.5 * h * a, v + 0.5 * h * b);
            (i, v) = (f64::max(i + h * c, 0.0), v + h * d);
        } else {
            v *= (-h / (load * capacity)).exp();
        }
        t += h;
    }
    let y = last(&found[0]);
    assert!((y - v).abs() <= 1e-4 * high, "seed {seed}: {y}, not {v}\n{text}");
}

/// Weirs into empty tanks: x rises through zero, and its power fills the tank.
#[test]
fn weirs_into_empty_tanks() {
    each(12, |seed| {
        let mut draw = Draw::new(seed);
        let (delay, power) = (draw.between(0.2, 2.0), draw.of(&[0.5, 1.2, 1.5, 1.8, 2.0, 2.5, 3.0]));
        let text = format!(
            "model weir {{ signal x = integral(1, -{delay}); Sf in = max(0, x)^{power}; C tank = 1; in -> tank
                output h = tank.e }}"
        );
        let end = delay + draw.between(0.3, 2.0);
        let (found, rtol) = outputs(&text, end, &mut draw);
        let right = (end - delay).powf(power + 1.0) / (power + 1.0);
        let h = last(&found[0]);
        assert!((h - right).abs() <= 1000.0 * rtol * right, "seed {seed}: {h}, not {right}\n{text}");
    });
}

/// A reciprocating pump between check valves whose flow goes with a root of the pressure difference, spelled in
/// several ways: infinitely steep where they open. Sensitivities against differences of accurate runs.
#[test]
fn check_valves() {
    each(8, |seed| {
        let mut draw = Draw::new(seed);
        let [stroke, speed] = [draw.between(0.2, 1.0), draw.between(2.0, 9.0)];
        let [chamber, kv, ko] = [draw.between(0.02, 0.2), draw.between(0.5, 2.0), draw.between(0.1, 0.6)];
        let accumulator = draw.between(0.3, 2.0);
        let power = draw.of(&["0.5", "0.6", "0.75"]);
        let laws = [
            "if(e > 0, KV*e^POWER, 0)".to_owned(),
            "KV*if(e > 0, abs(e)^POWER, 0)".to_owned(),
            "KV*max(0, e)^POWER".to_owned(),
            "if(e <= 0, 0, (KV^2*e)^POWER)".to_owned(),
        ];
        let at = draw.of(&[0, 1, 2, 3]);
        let laws = [&laws[at], &laws[(at + 1) % 4]].map(|law| law.replace("POWER", power));
        let text = |shift: [f64; 2]| {
            format!(
                "model pump {{ param KV = {}; param CA = {}; Sf piston = {stroke}*cos({speed}*t); 0 ch
                    C chamber = {chamber}; Se tank = 1; 1 inl; R suction {{ f = {} }}; 1 outl
                    R delivery {{ f = {} }}; 0 line; C acc {{ e = q/CA; init q = CA }}
                    R load {{ f = {ko}*sign(e)*sqrt(abs(e)) }}
                    piston -> ch -> chamber; tank -> inl -> suction; inl -> ch -> outl -> delivery
                    outl -> line -> acc, load; init chamber.q = {chamber}
                    output p = acc.e; output c = chamber.e }}",
                kv + shift[0],
                accumulator + shift[1],
                laws[0],
                laws[1]
            )
        };
        let end = draw.between(1.0, 5.0);
        let run = |text: &str, rtol: f64, sensitive: bool, solver: &str| {
            let sensitivities = match sensitive {
                true => Sensitivities::Names(vec!["KV".to_owned(), "CA".to_owned()]),
                false => Sensitivities::None,
            };
            let solver = solver.to_owned();
            let times = vec![0.0, 0.3 * end, end];
            let options =
                SimulateOptions { times, sensitivities, rtol, solver, ..SimulateOptions::default() };
            let answer = sound(text).simulation(&options, &CancellationToken::new()).unwrap();
            let (response, outcome) = answer.respond(&answer.parameters, &CancellationToken::new());
            assert_eq!(outcome.failure, None, "seed {seed}: {text}");
            response
        };
        let found = run(&text([0.0, 0.0]), 1e-7, true, draw.of(&["auto", "stiff", "tsit5"]));
        for parameter in 0..2 {
            let mut shift = [0.0; 2];
            shift[parameter] = 1e-4;
            let above = run(&text(shift), 1e-11, false, "dop853").outputs;
            let below = run(&text(shift.map(|x| -x)), 1e-11, false, "dop853").outputs;
            for output in 0..2 {
                for i in 1..3 {
                    let right = (above[output][i] - below[output][i]) / 2e-4;
                    let s = found.sensitivities[output][parameter][i];
                    assert!(
                        (s - right).abs() <= 2e-4 * (1.0 + right.abs()),
                        "seed {seed}: {s}, not {right}\n{}",
                        text([0.0, 0.0])
                    );
                }
            }
        }
    });
}

/// A thermostat whose relay holds itself by its own current: hysteresis, piecewise exponential.
#[test]
fn relays_that_hold_themselves() {
    each(10, |seed| {
        let mut draw = Draw::new(seed);
        let (low, high) = (draw.between(15.0, 19.0), draw.between(19.5, 25.0));
        let (resistance, capacity) = (draw.between(0.1, 0.4), draw.between(100.0, 2000.0));
        let power = draw.between(1.5, 4.0) * high / resistance;
        let held = draw.of(&["relay.f > 0.5", "relay.f >= 0.3", "relay.e < 0.7"]);
        let text = format!(
            "model thermostat {{ Se supply = 1; 1 path; R coil = 0.999; MSf heat = relay.f*{power}; 0 room
                Sw relay when (air.e < {low} or ({held} and air.e < {high})) {{ Ron = 0.001 }}
                C air = {capacity}; init air.q = {capacity}*10; R loss = {resistance}
                supply -> path -> relay, coil; heat -> room -> air, loss; output T = air.e }}"
        );
        let (tau, goal) = (resistance * capacity, power * resistance);
        let end = tau * draw.between(1.0, 6.0);
        let (found, rtol) = outputs(&text, end, &mut draw);
        let (mut t, mut start, mut on) = (0.0, 10.0, true);
        let right = loop {
            let to = if on { goal } else { 0.0 };
            let limit = if on { high } else { low };
            let lasts = tau * ((to - start) / (to - limit)).ln();
            if t + lasts >= end {
                break to + (start - to) * (-(end - t) / tau).exp();
            }
            (t, start, on) = (t + lasts, limit, !on);
        };
        let temperature = last(&found[0]);
        assert!(
            (temperature - right).abs() <= 3000.0 * rtol * right,
            "seed {seed}: {temperature}, not {right}\n{text}"
        );
    });
}

/// A free piston against a gas cushion, whose law has no value behind its end, hits a mass that rests exactly.
#[test]
fn impacts_on_masses_at_rest() {
    each(6, |seed| {
        let mut draw = Draw::new(seed);
        let (push, gas) = (draw.between(200.0, 400.0), draw.between(20.0, 60.0));
        let (piston, tool) = (draw.between(0.3, 1.0), draw.between(1.0, 5.0));
        let (stiff, damp) = (draw.between(5e5, 3e6), draw.between(20.0, 200.0));
        let (soil, loss) = (draw.between(1e4, 5e4), draw.between(200.0, 600.0));
        let exponent = draw.of(&[1.4, 1.0, 1.3]);
        let text = format!(
            "model hammer {{ signal xp = integral(piston.f, 0.02); signal xt = integral(tool.f, 0.09)
                Se gas = {push} - {gas}*(0.1/(0.11 - xp))^{exponent}; 1 vp; I piston = {piston}; 0 gap
                R contact {{ e = if(xp > xt, {stiff}*(xp - xt) + {damp}*f, 0) }}; 1 vt; I tool = {tool}
                C soil = 1/{soil}; R loss = {loss}
                gas -> vp -> piston, gap; gap -> contact, vt; vt -> tool, soil, loss; output v = piston.f }}"
        );
        let end = draw.between(0.02, 0.03);
        let (found, _) = outputs(&text, end, &mut draw);
        let start = vec![0.0, 0.0, 0.0, 0.02, 0.09];
        let reference = rk4(start, end, 300_000, |_, x| {
            let (v, w) = (x[0] / piston, x[1] / tool);
            let contact = if x[3] > x[4] { stiff * (x[3] - x[4]) + damp * (v - w) } else { 0.0 };
            let pressure = gas * (0.1 / (0.11 - x[3])).powf(exponent);
            vec![push - pressure - contact, contact - soil * x[2] - loss * w, w, v, w]
        });
        let (v, right) = (last(&found[0]), reference[0] / piston);
        assert!((v - right).abs() <= 1e-3, "seed {seed}: {v}, not {right}\n{text}");
    });
}

/// Resistors beside a capacitor, whose laws are implicit and have a pole or no value where their flow is zero.
#[test]
fn laws_with_poles() {
    each(12, |seed| {
        let mut draw = Draw::new(seed);
        let (k, capacity, start) = (draw.between(0.5, 3.0), draw.between(0.5, 2.0), draw.between(0.6, 2.0));
        let power = draw.of(&[2.0, 2.5, 3.0]);
        // Laws, and the flow for an effort.
        type Flow = Box<dyn Fn(f64) -> f64>;
        let (law, flow): (String, Flow) = match draw.of(&[0, 1, 2, 3, 4]) {
            0 => (
                format!("e - {k}*abs(f)^(-{power})*f = 0"),
                Box::new(move |e| (k / e).powf(1.0 / (power - 1.0))),
            ),
            1 => (format!("e - {k}/f + 0.1*f^3 = 0"), Box::new(move |e| pole_and_cube(k, e))),
            2 => (format!("e - ln(f/{k}) = 0"), Box::new(move |e| k * e.exp())),
            3 => (format!("e - {k}*ln(f) - f = 0"), Box::new(move |e| logarithm_and_line(k, e))),
            _ => (format!("e*f^2 - {k}/f = 0"), Box::new(move |e| (k / e).cbrt())),
        };
        let source = flow(start) * draw.between(1.1, 2.0);
        let text = format!(
            "model poles {{ Sf s = {source}; 0 n; C c = {capacity}; R r {{ {law} }}; s -> n; n -> c, r
                init c.q = {capacity}*{start}; output e = c.e; output f = r.f }}"
        );
        let end = draw.between(0.3, 1.5);
        let (found, rtol) = outputs(&text, end, &mut draw);
        let reference = rk4(vec![capacity * start], end, 5000, |_, q| vec![source - flow(q[0] / capacity)]);
        let right = reference[0] / capacity;
        let (e, f) = (last(&found[0]), last(&found[1]));
        assert!((e - right).abs() <= 300.0 * rtol * right.abs(), "seed {seed}: {e}, not {right}\n{text}");
        assert!((f - flow(e)).abs() <= 1e-9 * f.abs(), "seed {seed}: {f}, not {}\n{text}", flow(e));
    });
}

/// A charge pump of two diodes in a loop, clocked by a sawtooth of time that jumps itself.
#[test]
fn clocked_charge_pumps() {
    each(8, |seed| {
        let mut draw = Draw::new(seed);
        let (f, duty) = (draw.between(4.0, 30.0), draw.between(0.2, 0.8));
        let (r, on) = (draw.between(5.0, 30.0), draw.between(2.0, 8.0));
        let (c, out) = (draw.between(0.5e-4, 3e-4), draw.between(3e-4, 9e-4));
        let saw = draw.of(&[
            "0.5 + atan(tan(pi*(F*t - 0.5)))/pi",
            "0.5 + atan2(sin(2*pi*(F*t - 0.5)), cos(2*pi*(F*t - 0.5)))/(2*pi)",
        ]);
        let (saw, leak) = (saw.replace('F', &f.to_string()), draw.of(&["", "; Goff = 1e-7"]));
        let by = draw.of(&["e", "e", "f"]);
        let leak = if by == "f" { "; Goff = 1e-7" } else { leak };
        let text = format!(
            "model pump {{ signal saw = {saw}; Se ck = if(saw < {duty}, 3.3, 0); Se vin = 3.3
                1 a; 1 b; 0 n1; 1 k1; 0 out; Sw d1 when (d1.{by} > 0) {{ Ron = {on}{leak} }}
                Sw d2 when (d2.{by} > 0) {{ Ron = {on}{leak} }}; vin -> a; a -> d1, n1; n1 -> b; b -> d2, out
                ck -> k1 -> n1; C c1 = {c}; R r1 = {r}; k1 -> c1, r1; C co = {out}; R load = 1e4; out -> co, load
                output v = co.e }}"
        );
        let end = draw.between(0.3, 1.0);
        let (found, _) = outputs(&text, end, &mut draw);
        let diode = |e: f64| {
            if e > 0.0 {
                e / on
            } else if leak.is_empty() {
                0.0
            } else {
                1e-7 * e
            }
        };
        let reference = rk4(vec![0.0; 2], end, 100_000, |t, x| {
            let clock = if (f * t).fract() < duty { 3.3 } else { 0.0 };
            let (mut low, mut high) = (-20.0, 20.0);
            for _ in 0..60 {
                let n: f64 = 0.5 * (low + high);
                let left = diode(3.3 - n) + (clock - x[0] - n) / r - diode(n - x[1]);
                if left > 0.0 { low = n } else { high = n }
            }
            vec![(clock - x[0] - low) / r / c, (diode(low - x[1]) - x[1] / 1e4) / out]
        });
        let v = last(&found[0]);
        assert!((v - reference[1]).abs() <= 2e-3, "seed {seed}: {v}, not {}\n{text}", reference[1]);
    });
}

/// Rectifiers whose diode reads its current, a state that is next to zero while it blocks.
#[test]
fn rectifiers_that_read_their_current() {
    each(8, |seed| {
        let mut draw = Draw::new(seed);
        let (coil, load, leak) =
            (draw.between(5e-3, 5e-2), draw.between(5.0, 40.0), draw.of(&[1e-4, 1e-6, 1e-8]));
        let (high, w) = (draw.between(3.0, 20.0), draw.between(20.0, 60.0));
        let (capacity, series) = (draw.between(0.02, 0.1), draw.between(0.2, 1.0));
        let text = format!(
            "model rectifier {{ Se s = {high}*sin({w}*t); 0 n; 1 j; s -> j -> n; R rs = {series}; j -> rs; 1 k
                Sw d when (d.f > 0) {{ Ron = 0.01; Goff = {leak} }}; 0 o; n -> k; k -> d, o; C c = {capacity}
                R r = {load}; o -> c, r; output v = c.e; I l = {coil}; k -> l }}"
        );
        let end = draw.between(0.4, 2.5);
        let (found, _) = outputs_by(&["auto", "stiff"], &text, end, &mut draw);
        let (mut i, mut v, mut t, h) = (0.0f64, 0.0f64, 0.0f64, 5e-6);
        let drive = |t: f64| high * (w * t).sin();
        let rates =
            |t: f64, i: f64, v: f64| ((drive(t) - v - (series + 0.01) * i) / coil, (i - v / load) / capacity);
        while t < end {
            let h = f64::min(h, end - t);
            if i > 0.0 || drive(t) > v {
                let (a, b) = rates(t, i, v);
                let (c, d) = rates(t + 0.5 * h, i + 0.5 * h * a, v + 0.5 * h * b);
                (i, v) = (f64::max(i + h * c, 0.0), v + h * d);
            } else {
                // The coil is short beside what leaks.
                v += h * (leak * (drive(t) - v) - v / load) / capacity;
            }
            t += h;
        }
        let y = last(&found[0]);
        assert!((y - v).abs() <= 1e-4 * high, "seed {seed}: {y}, not {v}\n{text}");
    });
}

/// An engine that fires in a window of its own angle, against small steps that the window's edges divide.
#[test]
fn windows_on_states() {
    each(10, |seed| {
        let mut draw = Draw::new(seed);
        let (inertia, drag) = (draw.between(0.5, 3.0), draw.between(0.01, 0.2));
        let (place, half) = (draw.between(-3.0, 3.0), draw.of(&[0.3, 0.05, 0.01]));
        let (push, start) = (draw.between(1.0, 6.0) / half, draw.between(5.0, 20.0));
        let text = format!(
            "model engine {{ 1 v; I J = {inertia}; R b = {drag}; signal ph = integral(J.f)
                MSe T = if(cos(ph - {place}) > {}, {push}, 0); T -> v; v -> J, b; init J.p = {}
                output w = J.f; output p = ph }}",
            half.cos(),
            inertia * start
        );
        let end = draw.between(5.0, 30.0);
        let (found, rtol) = outputs(&text, end, &mut draw);
        // Between edges w' = (T − b·w)/J is solved exactly; edges are found by bisection.
        let (decay, full) = (drag / inertia, 2.0 * PI);
        let (mut w, mut ph, mut t) = (start, 0.0f64, 0.0f64);
        let along = |w: f64, goal: f64, s: f64| {
            let left = (-decay * s).exp();
            (goal + (w - goal) * left, goal * s + (w - goal) * (1.0 - left) / decay)
        };
        while t < end {
            let angle = (ph - place + half + 1e-12).rem_euclid(full);
            let inside = angle < 2.0 * half;
            let way = if inside { 2.0 * half - angle } else { full - angle } + 1e-12;
            let goal = if inside { push / drag } else { 0.0 };
            let (mut s, mut low) = (end - t, 0.0);
            if along(w, goal, s).1 > way {
                for _ in 0..100 {
                    let middle = 0.5 * (low + s);
                    if along(w, goal, middle).1 > way { s = middle } else { low = middle }
                }
            }
            let (speed, gone) = along(w, goal, s);
            (w, ph, t) = (speed, ph + gone, t + s);
        }
        let (found_w, found_ph) = (last(&found[0]), last(&found[1]));
        assert!((found_w - w).abs() <= 1e4 * rtol * w, "seed {seed}: {found_w}, not {w}\n{text}");
        assert!((found_ph - ph).abs() <= 1e4 * rtol * ph, "seed {seed}: {found_ph}, not {ph}\n{text}");
    });
}

/// Windows on a state as polynomials that are below zero for less than a step: their area is pushed into a mass.
#[test]
fn windows_of_polynomials() {
    each(16, |seed| {
        let mut draw = Draw::new(seed);
        let (place, half) = (draw.between(1.0, 8.0), draw.of(&[0.1, 1e-2, 1e-3, 1e-4]));
        let condition = match draw.of(&[0, 1, 2, 3]) {
            0 => format!("(x - {place})^2 < {half}^2"),
            1 => format!("x^2 - {}*x + {} < 0", 2.0 * place, place * place - half * half),
            2 => format!("(x - {})*(x - {}) < 0", place - half, place + half),
            _ => format!("{half}^2 - abs(x - {place})^2 > 0"),
        };
        let drag = draw.between(0.05, 0.3);
        let text = format!(
            "model window {{ 1 v; I mass = 1; init mass.p = 1; R drag = {drag}; signal x = integral(t + 1)
                MSe push = if({condition}, 1/{half}, 0); push -> v; v -> mass, drag; output y = mass.f }}"
        );
        // x = t + t²/2.
        let when = |x: f64| (1.0 + 2.0 * x).sqrt() - 1.0;
        let (found, rtol) = outputs(&text, 5.0, &mut draw);
        let (on, off) = (when(place - half), when(place + half));
        let pushed = ((drag * (off - 5.0)).exp() - (drag * (on - 5.0)).exp()) / (drag * half);
        let (y, right) = (last(&found[0]), (-5.0 * drag).exp() + pushed);
        // The edges are known to the tolerance, beside the width.
        let allowed = 300.0 * rtol * (1.0 + place / half);
        assert!((y - right).abs() <= allowed.min(0.1), "seed {seed}: {y}, not {right}\n{text}");
    });
}

/// The flow f > 0 with e = k/f − 0.1 f³.
fn pole_and_cube(k: f64, e: f64) -> f64 {
    bisect(|f| k / f - 0.1 * f * f * f < e)
}

/// The flow f > 0 with e = k ln f + f.
fn logarithm_and_line(k: f64, e: f64) -> f64 {
    bisect(|f| k * f.ln() + f > e)
}

/// Where a condition on a positive number begins to hold.
fn bisect(holds: impl Fn(f64) -> bool) -> f64 {
    let (mut low, mut high) = (1e-12f64, 1e12f64);
    for _ in 0..200 {
        let middle = (low * high).sqrt();
        if holds(middle) { high = middle } else { low = middle }
    }
    high
}
