//! Simulation of random models: linear ones against the matrix exponential,
//! nonlinear ones with sensitivities against differences, solvers against each other.

#![allow(clippy::unwrap_used, clippy::panic)]

use crate::zoo;

use paynter_algebra::{EvalError, Expr, Symbol};
use paynter_base::CancellationToken;
use paynter_graph::Variable;
use paynter_numerics::Tables;
use paynter_simulate::{Failure, Method, Note, Options, Outcome, Wanted, gradient};
use paynter_testkit::property::{demand, seeds, tolerate};
use paynter_testkit::{generate, switching};
use std::collections::BTreeMap;
use zoo::{Problem, run, times};

/// exp(M) by scaling and squaring of its power series.
fn exponential(m: &[f64], n: usize) -> Vec<f64> {
    let multiply = |a: &[f64], b: &[f64]| {
        let mut c = vec![0.0; n * n];
        for i in 0..n {
            for k in 0..n {
                for j in 0..n {
                    c[i * n + j] += a[i * n + k] * b[k * n + j];
                }
            }
        }
        c
    };
    let size = (0..n).map(|i| m[i * n..(i + 1) * n].iter().map(|v| v.abs()).sum::<f64>()).fold(0.0, f64::max);
    let halvings = (size.max(1e-300).log2().ceil() as i32 + 4).max(0);
    let small: Vec<f64> = m.iter().map(|v| v * 0.5f64.powi(halvings)).collect();
    let mut term: Vec<f64> = (0..n * n).map(|i| f64::from(u8::from(i / n == i % n))).collect();
    let mut sum = term.clone();
    for k in 1..20 {
        term = multiply(&term, &small).into_iter().map(|v| v / f64::from(k)).collect();
        sum.iter_mut().zip(&term).for_each(|(s, t)| *s += t);
    }
    for _ in 0..halvings {
        sum = multiply(&sum, &sum);
    }
    sum
}

/// The exact response of x' = A x + b with its derivative by a parameter, from the exponential of
/// [[M, 0], [M', M]] where M = [[A, b], [0, 0]].
#[test]
fn linear_models_follow_the_matrix_exponential() {
    let mut judged = 0;
    for seed in seeds(60) {
        let sample = generate(seed, &paynter_testkit::Options::linear().small());
        let Some(mut problem) = Problem::try_new(&sample.text) else { continue };
        let equations = problem.equations.clone();
        let n = equations.states.len();
        let constant = |problem: &Problem, e: Expr| {
            problem.pool.symbols(e).iter().all(|s| problem.graph.parameters.iter().any(|p| p.symbol == *s))
        };
        if n == 0 || n > 6 || !equations.constraints.is_empty() || problem.graph.parameters.is_empty() {
            continue;
        }
        if !equations.inputs.iter().all(|input| constant(&problem, input.value)) {
            continue;
        }
        let place = (seed as usize) % problem.graph.parameters.len();
        let parameter = problem.graph.parameters[place].symbol;
        let signals: rustc_hash::FxHashMap<Symbol, Expr> = equations
            .inputs
            .iter()
            .flat_map(|input| {
                let zero = problem.pool.zero();
                input
                    .symbols
                    .iter()
                    .enumerate()
                    .map(move |(k, s)| (*s, if k == 0 { input.value } else { zero }))
            })
            .collect();
        let rates = problem.pool.substitute_all(&equations.rates, &signals);
        let states: Vec<Symbol> = equations.states.iter().map(|s| s.symbol).collect();
        let p = problem.parameters();
        let value = |problem: &Problem, e: Expr, x0: bool| {
            problem.pool.eval(e, &|s| {
                let own = problem.graph.parameters.iter().position(|q| q.symbol == s).map(|i| p[i]);
                own.or_else(|| (x0 && states.contains(&s)).then_some(0.0))
            })
        };
        let size = n + 1;
        let mut big = vec![0.0; 4 * size * size];
        let mut good = true;
        for (row, rate) in rates.iter().enumerate() {
            for column in 0..=n {
                let entry = if column < n { problem.pool.diff(*rate, states[column]) } else { *rate };
                let derivative = problem.pool.diff(entry, parameter);
                match (value(&problem, entry, column == n), value(&problem, derivative, column == n)) {
                    (Ok(entry), Ok(derivative)) => {
                        big[row * 2 * size + column] = entry;
                        big[(size + row) * 2 * size + size + column] = entry;
                        big[(size + row) * 2 * size + column] = derivative;
                    }
                    _ => good = false,
                }
            }
        }
        let mut start = vec![0.0; 2 * size];
        for (i, state) in equations.states.iter().enumerate() {
            let derivative = problem.pool.diff(state.initial, parameter);
            match (value(&problem, state.initial, false), value(&problem, derivative, false)) {
                (Ok(x), Ok(s)) => (start[i], start[size + i]) = (x, s),
                _ => good = false,
            }
        }
        start[n] = 1.0;
        if !good {
            continue;
        }
        let norm = big.iter().fold(0.0f64, |m, v| m.max(v.abs()));
        let end = 3.0 / norm.max(0.3);
        let e = exponential(&big.iter().map(|v| v * end).collect::<Vec<_>>(), 2 * size);
        let exact: Vec<f64> =
            (0..2 * size).map(|i| (0..2 * size).map(|j| e[i * 2 * size + j] * start[j]).sum()).collect();
        // The states themselves are the outputs.
        let outputs: Vec<Expr> = states.iter().map(|s| problem.pool.var(*s)).collect();
        let model = problem.compile_outputs(&[Wanted::Parameter(place)], Some(outputs));
        for method in [Method::Dop853, Method::Tsit5, Method::Stiff, Method::Auto] {
            let options = Options { t_end: end, times: vec![end], rtol: 1e-9, method, ..Options::default() };
            let (found, outcome) = run(&model, &p, &options);
            assert_eq!(outcome.failure, None, "seed {seed}\n{}", sample.text);
            let top = exact[..n].iter().chain(&exact[size..size + n]).fold(1e-3f64, |m, v| m.max(v.abs()));
            for i in 0..n {
                for (what, found, exact) in
                    [("x", found.y[0][i], exact[i]), ("s", found.s[0][i], exact[size + i])]
                {
                    assert!(
                        (found - exact).abs() <= 3e-7 * top,
                        "seed {seed} {method:?} {what}{i}: {found}, not {exact}\n{}",
                        sample.text
                    );
                }
            }
        }
        judged += 1;
    }
    demand("models judged", judged, 15, 60);
}

#[test]
fn nonlinear_sensitivities_are_differences() {
    let mut judged = 0;
    for seed in seeds(120) {
        let sample = generate(seed, &paynter_testkit::Options::nonlinear().small());
        let Some(mut problem) = Problem::try_new(&sample.text) else { continue };
        let count = problem.graph.parameters.len();
        if problem.equations.states.is_empty() || problem.equations.outputs.is_empty() || count == 0 {
            continue;
        }
        let wanted: Vec<Wanted> = (0..count.min(3)).map(Wanted::Parameter).collect();
        let model = problem.compile(&wanted);
        let plain = problem.compile(&[]);
        let p = problem.parameters();
        let options = Options {
            t_end: 0.2,
            times: times(0.2, 3),
            rtol: 1e-10,
            max_steps: 20_000,
            ..Options::default()
        };
        let (found, outcome) = run(&model, &p, &options);
        if outcome.failure.is_some() || !outcome.notes.is_empty() {
            continue;
        }
        let stiff = Options { method: Method::Stiff, ..options.clone() };
        let (other, outcome) = run(&model, &p, &stiff);
        if outcome.failure.is_some() {
            continue;
        }
        for lane in 0..wanted.len() {
            let step = 1e-4 * p[lane].abs().max(1e-3);
            let at = |shift: f64| {
                let mut moved = p.clone();
                moved[lane] += shift * step;
                let (run, outcome) = run(&plain, &moved, &Options { rtol: 1e-11, ..options.clone() });
                outcome.failure.is_none().then_some(run.y)
            };
            let (Some(a), Some(b), Some(c), Some(d)) = (at(-2.0), at(-1.0), at(1.0), at(2.0)) else {
                continue;
            };
            for i in 1..3 {
                for output in 0..a[i].len() {
                    let near = (c[i][output] - b[i][output]) / (2.0 * step);
                    let far = (d[i][output] - a[i][output]) / (4.0 * step);
                    let derivative = (4.0 * near - far) / 3.0;
                    let s = found.s[i][output * wanted.len() + lane];
                    // Where differences of two sizes disagree, an event or noise is near.
                    if !derivative.is_finite()
                        || !s.is_finite()
                        || (near - far).abs() > 1e-4 * near.abs().max(1e-6)
                    {
                        continue;
                    }
                    let noise = 1e-9 * c[i][output].abs().max(1e-6) / step;
                    let allowed = 1e-5 * derivative.abs() + 10.0 * noise;
                    let name = &problem.graph.parameters[lane].name;
                    assert!(
                        (s - derivative).abs() <= allowed,
                        "seed {seed}: output {output} by {name} at {}: {s}, not {derivative}\n{}",
                        options.times[i],
                        sample.text
                    );
                    let t = other.s[i][output * wanted.len() + lane];
                    assert!(
                        (t - s).abs() <= 1e-5 * s.abs() + 10.0 * noise,
                        "seed {seed}: output {output} by {name}, stiff {t}, explicit {s}\n{}",
                        sample.text
                    );
                    judged += 1;
                }
            }
        }
    }
    demand("values judged", judged, 1000, 120);
}

/// Whether two values agree; what is not a number does not.
fn near(a: f64, b: f64, allowed: f64) -> bool {
    (a - b).abs() <= allowed
}

/// Whether a run could not go on whatever the method: at the time and state tried last a law has no
/// value, and that law does not wait for an unknown.
fn lawless(problem: &Problem, outcome: &Outcome) -> bool {
    let (t, x) = outcome.tried.clone().unwrap_or((outcome.t, outcome.states.clone()));
    let mut values: BTreeMap<Symbol, f64> =
        problem.graph.parameters.iter().map(|p| (p.symbol, p.number)).collect();
    values.extend(problem.equations.states.iter().map(|s| s.symbol).zip(x));
    values.extend(problem.graph.variables.symbol(Variable::Time).map(|time| (time, t)));
    for input in &problem.equations.inputs {
        let value = problem.pool.eval(input.value, &|s| values.get(&s).copied());
        values.extend(input.symbols.first().copied().zip(value.ok()));
    }
    problem.equations.assignments.iter().any(|assignment| {
        let value = problem.pool.eval(assignment.value, &|s| values.get(&s).copied());
        matches!(value, Err(EvalError::NotFinite(_)))
    })
}

/// Forward sensitivities across events against differences, explicit against implicit, and the adjoint
/// against both.
#[test]
fn sensitivities_across_random_events_are_differences() {
    let (mut models, mut judged, mut events, mut slid) = (0, 0, 0, 0);
    let (mut odd, mut wrong) = (Vec::new(), Vec::new());
    let (mut impossible, mut given_up) = (Vec::new(), Vec::new());
    for seed in seeds(48) {
        let sample = generate(seed, &paynter_testkit::Options::nonlinear().small());
        let text = switching(&sample).text;
        let Some(mut problem) = Problem::try_new(&text) else { continue };
        let parameters = &problem.graph.parameters;
        let own = (0..parameters.len()).filter(|i| !parameters[*i].name.starts_with('z')).take(2);
        let added = (0..parameters.len()).filter(|i| parameters[*i].name.starts_with('z'));
        let places: Vec<usize> = own.chain(added).collect();
        if problem.equations.states.is_empty() || problem.equations.outputs.is_empty() {
            continue;
        }
        let wanted: Vec<Wanted> = places.iter().copied().map(Wanted::Parameter).collect();
        let model = problem.compile(&wanted);
        let plain = problem.compile(&[]);
        let p = problem.parameters();
        let grid = vec![0.0, 0.1371, 0.3127, 0.5533, 0.7717, 1.0];
        let options =
            Options { t_end: 1.0, times: grid.clone(), rtol: 1e-9, max_steps: 20_000, ..Options::default() };
        let (found, outcome) = run(&model, &p, &options);
        if let Some(failure) = outcome.failure {
            let list = if lawless(&problem, &outcome) { &mut impossible } else { &mut given_up };
            list.push(format!("{seed}: {failure:?}"));
            continue;
        }
        if let Some(note) = outcome.notes.first() {
            odd.push(format!("{seed}: {note:?}"));
            continue;
        }
        models += 1;
        events += outcome.stats.events;
        slid += outcome.stats.slides;
        let (other, outcome) = run(&model, &p, &Options { method: Method::Stiff, ..options.clone() });
        let stiff = outcome.failure.is_none();
        if !stiff {
            odd.push(format!("{seed} stiff: {:?}", outcome.failure));
        }
        // The adjoint of the sum of all outputs, over steps that sensitivities have no part in choosing.
        let finer = Options { rtol: 1e-11, ..options.clone() };
        let gradient = gradient(
            &model,
            &p,
            &Tables::default(),
            &finer,
            &CancellationToken::new(),
            &mut |_, _, y, derivative| {
                derivative.fill(1.0);
                y.iter().sum()
            },
        );
        match gradient.outcome.failure {
            None => {}
            // At such a tolerance rounding may be all there is to step over.
            Some(Failure::TooManySteps { .. }) => {
                odd.push(format!("{seed} gradient: {:?}", gradient.outcome.failure));
                continue;
            }
            // And finer steps may come to where a law has no value.
            failure if lawless(&problem, &gradient.outcome) => {
                odd.push(format!("{seed} gradient: {failure:?}"));
                continue;
            }
            failure => wrong.push(format!("seed {seed}: no gradient: {failure:?}")),
        }
        for (lane, place) in places.iter().enumerate() {
            let name = &problem.graph.parameters[*place].name;
            let step = 1e-4 * p[*place].abs().max(1e-3);
            let at = |shift: f64| {
                let mut moved = p.clone();
                moved[*place] += shift * step;
                let (run, outcome) = run(&plain, &moved, &Options { rtol: 1e-11, ..options.clone() });
                outcome.failure.is_none().then_some(run.y)
            };
            let (mut sum, mut size) = (0.0, 0.0);
            for s in &found.s {
                for output in 0..found.y[0].len() {
                    sum += s[output * wanted.len() + lane];
                    size += s[output * wanted.len() + lane].abs();
                }
            }
            // What is infinite somewhere has no sum, and along an infinite derivative the adjoint is told to be missing.
            let told =
                |note: &Note| matches!(note, Note::InfiniteDerivative { lane: lost, .. } if *lost == lane);
            let missing = gradient.by[lane].is_nan() && gradient.outcome.notes.iter().any(told);
            if sum.is_finite() && !missing && !near(gradient.by[lane], sum, 1e-4 * size + 1e-7) {
                wrong.push(format!("seed {seed}: the adjoint by {name}: {}, not {sum}", gradient.by[lane]));
            }
            let (Some(a), Some(b), Some(c), Some(d)) = (at(-2.0), at(-1.0), at(1.0), at(2.0)) else {
                odd.push(format!("{seed}: no differences by {name}"));
                continue;
            };
            for i in 1..grid.len() {
                for output in 0..a[i].len() {
                    let small = (c[i][output] - b[i][output]) / (2.0 * step);
                    let large = (d[i][output] - a[i][output]) / (4.0 * step);
                    let derivative = (4.0 * small - large) / 3.0;
                    let s = found.s[i][output * wanted.len() + lane];
                    let noise = 1e-8 * c[i][output].abs().max(1e-3) / step;
                    // Where differences of two sizes disagree, an event or noise is near.
                    if !derivative.is_finite() || !near(small, large, 1e-3 * small.abs() + noise) {
                        continue;
                    }
                    // And they are no better than they agree.
                    let allowed = 1e-4 * derivative.abs() + 10.0 * noise + 2.0 * (small - large).abs();
                    if !near(s, derivative, allowed) {
                        wrong.push(format!(
                            "seed {seed}: output {output} by {name} at {}: {s}, not {derivative}",
                            grid[i]
                        ));
                    }
                    let t = if stiff { other.s[i][output * wanted.len() + lane] } else { s };
                    if !near(t, s, 1e-4 * s.abs() + 10.0 * noise) {
                        wrong.push(format!(
                            "seed {seed}: output {output} by {name} at {}, stiff {t}, explicit {s}",
                            grid[i]
                        ));
                    }
                    judged += 1;
                }
            }
        }
    }
    let told = format!(
        "{models} models, {judged} values, {events} events, {slid} times sliding; impossible: {impossible:#?}; \
         given up: {given_up:#?}; not judged for other reasons: {odd:#?}"
    );
    println!("{told}");
    assert!(wrong.is_empty(), "{wrong:#?}");
    // Of the models that have a solution nearly all are judged.
    tolerate("models given up", given_up.len(), 2, 48);
    demand("models", models, 36, 48);
    demand("values judged", judged, 2000, 48);
    demand("events", events as usize, 50, 48);
    demand("times sliding", slid as usize, 7, 48);
}
