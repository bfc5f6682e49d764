//! Angles that jump: sawtooth signals of `atan` and `atan2` that switch a filter, with all derivatives, against the
//! sum over its pulses.

#![allow(clippy::unwrap_used, clippy::panic)]

use crate::zoo;

use paynter_base::random::Random;
use paynter_simulate::{Method, Note, Options, Wanted};
use paynter_testkit::property;
use zoo::{Problem, gradient, run};

/// Sawtooth signals from 0 to 1 of the phase `a`, in turns.
const SAWTOOTHS: [&str; 6] = [
    "0.5 + atan(tan(pi*(a - 0.5)))/pi",
    "0.5 + atan(-1/tan(pi*a))/pi",
    "0.5 - atan(cos(pi*a)/sin(pi*a))/pi",
    "0.5 + atan2(-sin(2*pi*a), -cos(2*pi*a))/(2*pi)",
    "0.5 + atan2(-3*k*sin(2*pi*a), -3*k*cos(2*pi*a))/(2*pi)",
    "0.5 + atan((tan(pi*a/2 - 1) + tan(pi*(a/2 - 0.5) + 1))/(1 - tan(pi*a/2 - 1)*tan(pi*(a/2 - 0.5) + 1)))/pi",
];

/// The filter driven while the sawtooth is below, or above, the duty; phase by time or by a state.
fn text(sawtooth: &str, values: [f64; 5], (above, by_state): (bool, bool)) -> String {
    let [k, tau, period, shift, duty] = values;
    let phase = if by_state { "signal a = integral(1/T, s0)" } else { "signal a = t/T + s0" };
    let on = if above { "saw > 1 - D" } else { "saw < D" };
    format!(
        "model filter {{ param k = {k}; param tau = {tau}; param T = {period}; param s0 = {shift}; param D = {duty}
        {phase}\nsignal saw = {sawtooth}\nsignal y = integral((if({on}, k, 0) - y)/tau)
        Se one = 1; R load = 1; one -> load; output y = y }}"
    )
}

/// The filter's state at a time: each pulse from a to b leaves k·(e^((b − t)/τ) − e^((a − t)/τ)).
fn exact(t: f64, [k, tau, period, shift, duty]: [f64; 5], above: bool) -> f64 {
    let offset = if above { 1.0 - duty } else { 0.0 };
    let pulses = (-2..(t / period) as i64 + 3).map(|n| (n as f64 + offset - shift) * period);
    let part = |start: f64| {
        let (a, b) = (start.clamp(0.0, t), (start + duty * period).clamp(0.0, t));
        k * (((b - t) / tau).exp() - ((a - t) / tau).exp())
    };
    pulses.map(part).sum()
}

#[test]
fn sawtooths_switch_at_times_of_their_own() {
    property::each(30, |seed| {
        let mut random = Random::new(seed + 1);
        let mut between = |low: f64, high: f64| low + (high - low) * random.unit();
        let values =
            [between(0.5, 2.0), between(0.2, 2.0), between(0.4, 1.5), between(0.05, 0.95), between(0.1, 0.9)];
        let kinds = (seed % 2 == 0, between(0.0, 1.0) < 0.5);
        let text = text(SAWTOOTHS[seed as usize % SAWTOOTHS.len()], values, kinds);
        let mut problem = Problem::new(&text);
        let wanted: Vec<Wanted> = (0..5).map(Wanted::Parameter).collect();
        let model = problem.compile(&wanted);
        let end = between(2.5, 4.0);
        let y = exact(end, values, kinds.0);
        let by: Vec<f64> = (0..5)
            .map(|lane| {
                let step = 1e-5 * values[lane];
                let at = |shift: f64| {
                    let mut moved = values;
                    moved[lane] += shift * step;
                    exact(end, moved, kinds.0)
                };
                (at(-2.0) - 8.0 * at(-1.0) + 8.0 * at(1.0) - at(2.0)) / (12.0 * step)
            })
            .collect();
        let judge = |found: f64, expected: f64, what: &str| {
            assert!(
                (found - expected).abs() <= 1e-6 * expected.abs().max(1.0),
                "{what}: {found}, not {expected}\n{text}"
            );
        };
        for method in [Method::Auto, Method::Tsit5, Method::Dop853, Method::Stiff] {
            let options = Options { t_end: end, times: vec![end], rtol: 1e-10, method, ..Options::default() };
            let (found, outcome) = run(&model, &problem.parameters(), &options);
            assert_eq!(outcome.failure, None, "{text}");
            assert!(!outcome.notes.iter().any(|note| matches!(note, Note::Grazing { .. })), "{text}");
            judge(found.y[0][0], y, "y");
            let back = gradient(&model, &problem.parameters(), &options, &mut |_, _, y, derivative| {
                derivative[0] = 1.0;
                y[0]
            });
            for lane in 0..5 {
                judge(found.s[0][lane], by[lane], &format!("{method:?}, lane {lane}"));
                judge(back.by[lane], by[lane], &format!("{method:?}, lane {lane} of the adjoint"));
            }
        }
    });
}
