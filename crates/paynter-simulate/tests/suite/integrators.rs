//! Simulation against published values, closed solutions and differences.

#![allow(clippy::unwrap_used, clippy::panic)]

use crate::zoo;

use paynter_simulate::{Method, Options, Wanted};
use zoo::{Problem, gradient, run, solve, times};

const ADAPTIVE: [Method; 3] = [Method::Tsit5, Method::Dop853, Method::Stiff];

fn close(found: f64, expected: f64, tolerance: f64, what: &str) {
    assert!(
        (found - expected).abs() <= tolerance * expected.abs().max(1.0),
        "{what}: {found}, not {expected}"
    );
}

fn tight(end: f64, times: Vec<f64>, method: Method) -> Options {
    Options { t_end: end, times, rtol: 1e-11, method, ..Options::default() }
}

#[test]
fn gawthrops_tanks() {
    let mut tanks = Problem::new(zoo::TANKS);
    let wanted = tanks.wanted(&["V1", "V2", "alpha", "beta"]);
    let model = tanks.compile(&wanted);
    let p = tanks.parameters();
    for method in ADAPTIVE {
        let run = solve(&model, &p, &tight(10.0, vec![0.0, 1.0, 2.0, 5.0, 10.0], method));
        let values = [0.9847450218, 0.7208311024, 0.7603134156, 0.8484306658, 0.9195106025];
        for (y, expected) in run.y.iter().zip(values) {
            close(y[0], expected, 2e-9, "y");
        }
        close(run.s[1][0], 0.2499720095, 2e-9, "dy/dV1(1)");
        close(run.s[0][1], 1.3129933625, 2e-9, "dy/dV2(0)");
        close(run.s[3][2], -0.0636126528, 2e-9, "dy/dalpha(5)");
        close(run.s[4][3], 0.5597311312, 2e-9, "dy/dbeta(10)");
    }
}

#[test]
fn duffings_oscillator() {
    let mut duffing = Problem::new(zoo::DUFFING);
    let model = duffing.compile(&[]);
    let p = duffing.parameters();
    for method in ADAPTIVE {
        let run = solve(&model, &p, &tight(10.0, vec![1.0, 2.0, 5.0, 10.0], method));
        for (y, expected) in run.y.iter().zip([1.4686000872, -0.2174784576, 0.1641053793, -0.7369930394]) {
            close(y[0], expected, 1e-8, "x");
        }
    }
}

/// Values of a reference run with tolerances 1e-12 (SciPy's Radau), and the conservation of matter.
#[test]
fn robertsons_kinetics() {
    let mut problem = Problem::new(zoo::ROBERTSON);
    let wanted = problem.wanted(&["p1", "p2", "p3"]);
    let model = problem.compile(&wanted);
    let p = problem.parameters();
    let options =
        Options { t_end: 4e5, times: vec![0.4, 4.0, 40.0, 4e3, 4e5], rtol: 1e-8, ..Options::default() };
    let (run, outcome) = run(&model, &p, &options);
    assert_eq!(outcome.failure, None);
    assert!(outcome.stats.steps < 1000, "{:?}", outcome.stats);
    let expected = [(0, 0.98517213), (1, 0.90551869), (2, 0.71582706)];
    for (i, y) in expected {
        close(run.y[i][0], y, 2e-6, "y1");
    }
    for y in &run.y {
        close(y.iter().sum::<f64>(), 1.0, 1e-7, "the sum");
    }
    for s in &run.s {
        for parameter in 0..3 {
            let sum: f64 = (0..3).map(|output| s[output * 3 + parameter] * p[parameter]).sum();
            close(sum, 0.0, 1e-6, "the sum's sensitivity");
        }
    }
}

/// Differences of high accuracy: five points, at tolerances far below the step.
fn differences(text: &str, names: &[&str], end: f64, accuracy: f64) {
    let mut problem = Problem::new(text);
    let wanted = problem.wanted(names);
    let plain = problem.compile(&[]);
    let model = problem.compile(&wanted);
    let p = problem.parameters();
    let grid = times(end, 23);
    for method in ADAPTIVE {
        let options = tight(end, grid.clone(), method);
        let found = solve(&model, &p, &options);
        for (lane, wanted) in wanted.iter().enumerate() {
            let Wanted::Parameter(place) = wanted else { panic!() };
            let step = 1e-3 * if p[*place] == 0.0 { 1.0 } else { p[*place].abs() };
            let at = |shift: f64| {
                let mut moved = p.clone();
                moved[*place] += shift * step;
                let options = Options { rtol: 1e-12, method: Method::Dop853, ..options.clone() };
                solve(&plain, &moved, &options).y
            };
            let (a, b, c, d) = (at(-2.0), at(-1.0), at(1.0), at(2.0));
            for i in 0..grid.len() {
                for output in 0..a[i].len() {
                    let derivative = (a[i][output] - 8.0 * b[i][output] + 8.0 * c[i][output] - d[i][output])
                        / (12.0 * step);
                    let s = found.s[i][output * names.len() + lane];
                    let what = format!("{method:?} output {output} by {} at {}", names[lane], grid[i]);
                    close(s * p[*place], derivative * p[*place], accuracy, &what);
                }
            }
        }
    }
}

#[test]
fn sensitivities_are_derivatives() {
    differences(zoo::PENDULUM, &["m", "l", "g", "phi0", "b"], 3.0, 1e-7);
    differences(zoo::IMPLICIT, &["a", "R", "C", "U"], 4.0, 1e-8);
    differences(zoo::DUFFING, &["m", "k", "k3", "c"], 3.0, 1e-6);
}

/// A loop begins at rest, where the law of one of its resistors is infinitely steep, and later leaves it.
#[test]
fn loops_may_rest_on_infinitely_steep_laws() {
    for source in ["u", "u*pulse(b, b + 1)"] {
        let text = format!(
            "model m {{ param a = 2; param u = 0.25; param R = 0.7; param b = 0.3
            Sf s = {source}; 0 j; C c = 1; 1 k; R r1 {{ f = a*(exp(e/1.7) - 1) }}; R r2 {{ f = 2*e^3 }}
            R r3 = R; s -> j; j -> c, k; k -> r1, r2, r3; output y = c.e; output f = r2.f }}"
        );
        differences(&text, &["a", "u", "R", "b"], 1.0, 1e-6);
    }
}

#[test]
fn large_implicit_loops_have_sensitivities() {
    let text = zoo::network(12);
    assert!(Problem::new(&text).compile(&[]).unknowns.len() >= 8);
    differences(&text, &["a", "U"], 2.0, 1e-7);
}

#[test]
fn sensitivities_jump_at_events() {
    // Times of events must not lie on the grid, where the exact derivative jumps.
    differences(zoo::CONTACT, &["m", "k", "b", "g", "x0"], 0.93, 2e-6);
    differences(zoo::RECTANGLE, &["R", "C", "t0", "t1", "U"], 2.03, 1e-8);
}

#[test]
fn initial_states_have_sensitivities() {
    let mut problem = Problem::new(zoo::PENDULUM);
    let place = problem.equations.states.iter().position(|s| s.name == "phi").unwrap();
    let mut wanted = problem.wanted(&["phi0"]);
    wanted.push(Wanted::Initial(place));
    let model = problem.compile(&wanted);
    let p = problem.parameters();
    let run = solve(&model, &p, &tight(2.0, times(2.0, 5), Method::Auto));
    for s in &run.s {
        close(s[0], s[1], 1e-12, "the initial angle and its parameter");
    }
}

#[test]
fn fixed_steps_converge_with_their_order() {
    let mut problem = Problem::new(zoo::PENDULUM);
    let wanted = problem.wanted(&["l"]);
    let model = problem.compile(&wanted);
    let p = problem.parameters();
    let exact = solve(&model, &p, &tight(1.0, vec![1.0], Method::Dop853));
    for (method, order) in [(Method::Euler, 1.0), (Method::Rk4, 4.0)] {
        let error = |step: f64| {
            let options = Options { step: Some(step), ..tight(1.0, vec![1.0], method) };
            let run = solve(&model, &p, &options);
            ((run.y[0][0] - exact.y[0][0]).abs(), (run.s[0][0] - exact.s[0][0]).abs())
        };
        let (coarse, fine) = (error(0.01), error(0.005));
        for ratio in [coarse.0 / fine.0, coarse.1 / fine.1] {
            assert!((ratio.log2() - order).abs() < 0.2, "{method:?}: order {}", ratio.log2());
        }
    }
}

/// Methods that choose their steps have an order too: the error falls with the mean step as it says,
/// at the end and between steps, where the interpolation of a method may be of an order less.
#[test]
fn adapted_steps_converge_with_their_order() {
    let mut problem = Problem::new(zoo::PENDULUM);
    let wanted = problem.wanted(&["l"]);
    let model = problem.compile(&wanted);
    let p = problem.parameters();
    let grid = times(6.0, 241);
    let exact = solve(&model, &p, &Options { rtol: 1e-13, ..tight(6.0, grid.clone(), Method::Dop853) });
    for (method, order, tolerances) in [
        (Method::Tsit5, 4.0, [1e-5, 1e-8]),
        (Method::Dop853, 7.0, [1e-5, 1e-9]),
        (Method::Stiff, 4.0, [1e-5, 1e-8]),
    ] {
        let measured = tolerances.map(|rtol| {
            let (found, outcome) = run(&model, &p, &Options { rtol, ..tight(6.0, grid.clone(), method) });
            let error = |f: &dyn Fn(&zoo::Run, usize) -> f64| {
                (0..grid.len()).map(|i| (f(&found, i) - f(&exact, i)).abs()).fold(0.0, f64::max)
            };
            let errors = [error(&|run, i| run.y[i][0]), error(&|run, i| run.s[i][0])];
            (outcome.stats.steps as f64, errors)
        });
        let [(coarse, first), (fine, second)] = measured;
        for i in 0..2 {
            let found = (first[i] / second[i]).ln() / (fine / coarse).ln();
            assert!(found > order - 0.5, "{method:?}: order {found}, errors {first:?} {second:?}");
        }
    }
}

#[test]
fn errors_follow_tolerances() {
    let mut problem = Problem::new(zoo::PENDULUM);
    let wanted = problem.wanted(&["l", "g"]);
    let model = problem.compile(&wanted);
    let p = problem.parameters();
    let grid = times(3.0, 31);
    let exact = solve(&model, &p, &Options { rtol: 1e-13, ..tight(3.0, grid.clone(), Method::Dop853) });
    for method in ADAPTIVE {
        for rtol in [1e-4, 1e-6, 1e-8] {
            let options = Options { rtol, ..tight(3.0, grid.clone(), method) };
            let run = solve(&model, &p, &options);
            for i in 0..grid.len() {
                close(run.y[i][0], exact.y[i][0], 60.0 * rtol, &format!("{method:?} at {rtol}"));
                close(run.s[i][0], exact.s[i][0], 600.0 * rtol, &format!("{method:?} sensitivity at {rtol}"));
            }
        }
    }
}

/// A fast storage follows a slow one. Steps of explicit methods grow to the limit of their stability, where
/// interpolation may make much of what is little at the ends of a step.
#[test]
fn results_within_steps_are_as_good_as_at_their_ends() {
    let text = "model m { param g = 100; param b0 = 12
        0 k; C slow = 5; R leak = 1; k -> slow, leak; init slow.q = 5*b0
        MSe s = slow.e; 1 j; R r = 1/g; C fast = 1; s -> j; j -> r, fast; output y = fast.e }";
    let mut problem = Problem::new(text);
    let wanted = problem.wanted(&["g", "b0"]);
    let (model, plain) = (problem.compile(&wanted), problem.compile(&[]));
    let p = problem.parameters();
    let grid = times(1.0, 301);
    let (g, b0, rate) = (100.0, 12.0, 0.2);
    for method in [Method::Tsit5, Method::Dop853, Method::Stiff, Method::Auto] {
        for rtol in [1e-5, 1e-7, 1e-9, 1e-11] {
            let options = Options { rtol, ..tight(1.0, grid.clone(), method) };
            let (alone, found) = (solve(&plain, &p, &options), solve(&model, &p, &options));
            for (i, t) in grid.iter().enumerate() {
                let (slow, fast) = ((-rate * t).exp(), (-g * t).exp());
                let y = b0 * g / (g - rate) * (slow - fast);
                let by_g = b0 * (g * t * fast - rate / (g - rate) * (slow - fast)) / (g - rate);
                let allowed = 20.0 * rtol;
                let what = format!("{method:?} at {rtol}, {t}");
                close(alone.y[i][0], y, allowed, &what);
                close(found.y[i][0], y, allowed, &what);
                close(found.s[i][0] * g, by_g * g, 12.0 * allowed, &what);
                close(found.s[i][1] * b0, y, allowed, &what);
            }
        }
    }
}

#[test]
fn switches_happen_in_time() {
    let mut problem = Problem::new(zoo::RELAY);
    let model = problem.compile(&[]);
    let p = problem.parameters();
    let (run, outcome) =
        run(&model, &p, &Options { t_end: 0.1, times: vec![0.005, 0.02, 0.05, 0.09], ..Options::default() });
    assert_eq!(outcome.failure, None);
    assert!(outcome.stats.events >= 4, "{:?}", outcome.stats);
    let lamp: Vec<f64> = run.y.iter().map(|y| y[1]).collect();
    assert!(lamp[0].abs() < 1e-6 && lamp[1] > 1.5 && lamp[2] > 1.5 && lamp[3].abs() < 1e-6, "{lamp:?}");

    let mut problem = Problem::new(zoo::RECTIFIER);
    let model = problem.compile(&[]);
    let p = problem.parameters();
    let run = solve(&model, &p, &Options { t_end: 0.2, times: times(0.2, 2001), ..Options::default() });
    // Current flows one way only, and the output settles near the amplitude.
    assert!(run.y.iter().all(|y| y[1] >= -1e-9));
    let last: Vec<f64> = run.y[1600..].iter().map(|y| y[0]).collect();
    assert!(last.iter().all(|u| *u > 10.0 && *u < 17.0), "{last:?}");
}

/// A discharging capacitor has a closed solution, also through the rectangle of its source.
#[test]
fn a_pulse_is_met_exactly() {
    let mut problem = Problem::new(zoo::RECTANGLE);
    let model = problem.compile(&[]);
    let p = problem.parameters();
    let grid = times(2.0, 41);
    for method in ADAPTIVE {
        let run = solve(&model, &p, &tight(2.0, grid.clone(), method));
        for (t, y) in grid.iter().zip(&run.y) {
            let charged = |t: f64| if t > 0.0 { 5.0 * (1.0 - (-t).exp()) } else { 0.0 };
            close(y[0], charged(t - 0.3) - charged(t - 1.1), 1e-10, &format!("{method:?} at {t}"));
        }
    }
}

#[test]
fn all_examples_run() {
    for text in [zoo::GAS, zoo::ROBOT, zoo::TWO_TANKS] {
        let mut problem = Problem::new(text);
        let wanted: Vec<Wanted> = (0..problem.graph.parameters.len()).map(Wanted::Parameter).collect();
        let model = problem.compile(&wanted);
        let p = problem.parameters();
        solve(&model, &p, &Options { t_end: 1.0, times: times(1.0, 11), ..Options::default() });
    }
}

/// The root in a valve's law has no value beyond the event that closes or turns the valve.
#[test]
fn laws_may_end_at_their_events() {
    let mut problem = Problem::new(zoo::VALVES);
    let model = problem.compile(&[]);
    let p = problem.parameters();
    let grid = times(6.0, 61);
    let exact = solve(&model, &p, &Options { rtol: 1e-10, ..tight(6.0, grid.clone(), Method::Dop853) });
    for method in ADAPTIVE {
        for rtol in [1e-5, 1e-8] {
            let (run, outcome) = run(&model, &p, &Options { rtol, ..tight(6.0, grid.clone(), method) });
            assert_eq!(outcome.failure, None, "{method:?} {outcome:?}");
            assert!(outcome.stats.events > 2, "{:?}", outcome.stats);
            for i in 0..run.t.len() {
                for k in 0..2 {
                    close(
                        run.y[i][k],
                        exact.y[i][k],
                        100.0 * rtol,
                        &format!("{method:?} output {k} at {}", run.t[i]),
                    );
                }
            }
        }
    }
}

/// The gradient by the adjoint is that by forward sensitivities: Σ (y − 1)·∂y/∂p over samples.
#[test]
fn adjoint_gradients_are_sums_of_sensitivities() {
    for (text, names, end) in [
        (zoo::TANKS, &["V1", "V2", "alpha", "beta"][..], 5.0),
        (zoo::IMPLICIT, &["a", "R", "C", "U"], 2.0),
        (zoo::CONTACT, &["m", "k", "b", "g", "x0"], 0.93),
        (zoo::RECTANGLE, &["R", "C", "t0", "t1", "U"], 2.03),
    ] {
        let mut problem = Problem::new(text);
        let wanted = problem.wanted(names);
        let model = problem.compile(&wanted);
        let p = problem.parameters();
        for method in ADAPTIVE {
            let options = tight(end, times(end, 29), method);
            let run = solve(&model, &p, &options);
            let gradient = gradient(&model, &p, &options, &mut |_, _, y, derivative| {
                derivative[0] = y[0] - 1.0;
                0.5 * (y[0] - 1.0) * (y[0] - 1.0)
            });
            assert_eq!(gradient.outcome.failure, None);
            for lane in 0..names.len() {
                let sum: f64 = run.y.iter().zip(&run.s).map(|(y, s)| (y[0] - 1.0) * s[lane]).sum();
                close(
                    gradient.by[lane] * p_of(&p, wanted[lane]),
                    sum * p_of(&p, wanted[lane]),
                    1e-6,
                    &format!("{method:?} {}", names[lane]),
                );
            }
        }
    }
}

fn p_of(p: &[f64], wanted: Wanted) -> f64 {
    match wanted {
        Wanted::Parameter(i) => p[i],
        Wanted::Initial(_) => 1.0,
    }
}

/// A storage that so large a flow fills until its leak saturates, and what has leaked.
fn saturating(u: f64) -> Problem {
    Problem::new(&format!(
        "model m {{ param u = {u}; param a = 5; param C = 0.1
        0 j; Sf s = u; C c = C; R r {{ e = a*tanh(a*f) }}; s -> j; j -> c, r
        signal w = integral(r.f); output w = w }}"
    ))
}

/// A storage fills until its leak saturates: Newton's method meets the edge of the leak's law on the way back.
#[test]
fn the_adjoint_keeps_to_where_laws_have_values() {
    let mut problem = saturating(2.6);
    let model = problem.compile(&[Wanted::Parameter(0), Wanted::Parameter(1)]);
    let p = problem.parameters();
    let options = Options { t_end: 1.0, times: vec![1.0], rtol: 1e-8, ..Options::default() };
    let found = gradient(&model, &p, &options, &mut |_, _, y, derivative| {
        derivative.fill(1.0);
        y.iter().sum()
    });
    assert_eq!(found.outcome.failure, None);
    // What went in but for the saturated content, C·a.
    for (found, exact) in found.by.iter().zip([1.0, -0.1]) {
        assert!((found - exact).abs() < 1e-5, "{found}, not {exact}");
    }
}

/// A storage fills to the edge of its leak's law, where explicit steps fall over the edge however small they are.
#[test]
fn implicit_steps_go_on_where_explicit_ones_come_no_further() {
    let mut problem = saturating(3.0);
    let model = problem.compile(&[]);
    for rtol in [1e-8, 1e-10] {
        let options = Options { rtol, ..tight(1.0, vec![1.0], Method::Auto) };
        // What went in but for the saturated content, C·a.
        close(solve(&model, &problem.parameters(), &options).y[0][0], 2.5, 10.0 * rtol, "the leak");
    }
}

/// A pulse makes an unknown jump, so that its value after the jump is no start for finding that of before.
#[test]
fn the_adjoint_knows_unknowns_on_both_sides_of_a_jump() {
    let text = "model m { param a = 0.97; param b = 0.0541; param C1 = 12; param R2 = 0.8
        input u = a*pulse(b, b + 0.25)
        Se z = u; 0 j; R r1 = C1; R r2 = R2; 1 k; C c = 0.1; TF tf = 5.8; R r3 { e = 0.15*f*abs(f) }
        j -> r1, r2, k; z -> k; k -> c, tf; tf -> r3; output y = r2.f; output q = c.q }";
    let mut problem = Problem::new(text);
    let wanted = problem.wanted(&["a", "b", "R2"]);
    let model = problem.compile(&wanted);
    let p = problem.parameters();
    let options = tight(1.0, times(1.0, 7), Method::Auto);
    let forward = solve(&model, &p, &options);
    let found = gradient(&model, &p, &options, &mut |_, _, y, derivative| {
        derivative.fill(1.0);
        y.iter().sum()
    });
    assert_eq!(found.outcome.failure, None);
    for (lane, by) in found.by.iter().enumerate() {
        let sum: f64 = forward.s.iter().map(|s| s[lane] + s[wanted.len() + lane]).sum();
        close(*by, sum, 1e-7, "the gradient");
    }
}

/// The cost of an adjoint does not grow with the parameters, so that it serves where they are many.
#[test]
fn adjoint_gradients_of_a_chain() {
    let n = 25;
    let mut problem = Problem::new(&zoo::chain(n));
    let names: Vec<String> =
        ["m", "k", "b"].iter().flat_map(|p| (1..=n).map(move |i| format!("{p}{i}"))).collect();
    let wanted = problem.wanted(&names.iter().map(String::as_str).collect::<Vec<&str>>());
    let model = problem.compile(&wanted);
    let p = problem.parameters();
    let options = tight(12.0, times(12.0, 17), Method::Auto);
    let run = solve(&model, &p, &options);
    let found = gradient(&model, &p, &options, &mut |_, _, y, derivative| {
        derivative[0] = y[0];
        0.5 * y[0] * y[0]
    });
    let sums: Vec<f64> = (0..wanted.len())
        .map(|lane| {
            run.y.iter().zip(&run.s).map(|(y, s)| y[0] * s[lane]).sum::<f64>() * p_of(&p, wanted[lane])
        })
        .collect();
    let size = sums.iter().fold(0.0f64, |size, v| size.max(v.abs()));
    assert!(size > 1e-3, "the wave has not arrived: {size}");
    for (lane, sum) in sums.iter().enumerate() {
        close(found.by[lane] * p_of(&p, wanted[lane]) / size, sum / size, 1e-6, &names[lane]);
    }
}

/// One compiled model serves several threads at once.
#[test]
fn threads_share_a_compiled_model() {
    fn shared<T: Send + Sync>(_: &T) {}
    let mut problem = Problem::new(zoo::TANKS);
    let wanted = problem.wanted(&["alpha", "beta"]);
    let model = problem.compile(&wanted);
    shared(&model);
    let p = problem.parameters();
    let options = tight(10.0, times(10.0, 21), Method::Auto);
    let alone = solve(&model, &p, &options);
    // Long enough for machine code to take over while all of them run.
    let work = || (0..200).all(|_| solve(&model, &p, &options).s == alone.s);
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..3).map(|_| scope.spawn(work)).collect();
        assert!(threads.into_iter().all(|thread| thread.join().unwrap()));
    });
}

/// Before the front of a wave numbers are tiny, and must not disturb the choice of steps.
#[test]
fn a_wave_enters_a_long_chain() {
    let mut problem = Problem::new(&zoo::chain(60));
    let wanted = problem.wanted(&["m1", "k1", "b1", "m30", "k60", "b60"]);
    let model = problem.compile(&wanted);
    let p = problem.parameters();
    for method in ADAPTIVE {
        let options = Options { t_end: 1.0, times: vec![1.0], method, ..Options::default() };
        let (_, outcome) = run(&model, &p, &options);
        assert_eq!(outcome.failure, None, "{method:?}");
        assert!(outcome.stats.rejected < 20, "{method:?} {:?}", outcome.stats);
    }
}

/// The zoo against solutions of equations written down by hand, with derivatives by their variational
/// equations.
#[test]
fn the_zoo_keeps_to_its_references() {
    for known in zoo::REFERENCED {
        let (times, rows) = zoo::references(known.name);
        assert_eq!(times.len(), 4, "{}", known.name);
        let mut problem = Problem::new(known.text);
        let wanted = problem.wanted(known.parameters);
        let model = problem.compile(&wanted);
        let p = problem.parameters();
        // Each kind of problem by the method that is made for it.
        let (method, rtol, accuracy) =
            if known.stiff { (Method::Stiff, 1e-9, 1e-7) } else { (Method::Dop853, 1e-11, 1e-8) };
        let run = solve(&model, &p, &Options { rtol, ..tight(times[3], times.clone(), method) });
        for row in &rows {
            let error = row.error(&run, &wanted, &p);
            let what = (known.name, row.output, times[row.at]);
            assert!(error < accuracy, "{what:?} by {method:?}: {error}");
        }
    }
}

/// Two tanks without resistance between them have one level, and share the inflow by their areas.
#[test]
fn joined_tanks_share_their_inflow() {
    let mut problem = Problem::new(zoo::TWO_TANKS);
    let wanted = problem.wanted(&["A1", "A2"]);
    let model = problem.compile(&wanted);
    let p = problem.parameters();
    for method in ADAPTIVE {
        let run = solve(&model, &p, &tight(30.0, vec![10.0, 30.0], method));
        for (t, (y, s)) in [10.0, 30.0].into_iter().zip(run.y.iter().zip(&run.s)) {
            let (inflow, a1, a2) = (0.01, 2.0, 0.5);
            let (area, level) = (a1 + a2, inflow * t / (a1 + a2));
            let exact = [level, inflow * a2 / area];
            let by = [-level / area, -level / area, -exact[1] / area, inflow * a1 / (area * area)];
            for (found, exact) in y.iter().chain(s).zip(exact.iter().chain(&by)) {
                close(*found, *exact, 1e-10, &format!("{method:?} at {t}"));
            }
        }
    }
}
