//! Models of a kind drawn at random: choices, runs at settings drawn with them, and small fixed steps to compare with.

use super::sound;
use paynter::CancellationToken;
use paynter::simulate::SimulateOptions;
use paynter_base::random::Random;

/// A source of random choices.
pub struct Draw(Random);

impl Draw {
    /// The choices of a seed.
    pub fn new(seed: u64) -> Draw {
        Draw(Random::new(seed))
    }

    /// A number between two, of few digits.
    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        // Few digits, so that texts and references have the same numbers.
        let value = low + (high - low) * self.0.unit();
        format!("{value:.4e}").parse().unwrap()
    }

    /// One of a list.
    pub fn of<T: Copy>(&mut self, list: &[T]) -> T {
        list[(self.0.bits() % list.len() as u64) as usize]
    }
}

/// The outputs at some times, at a setting drawn at random; every run must reach its end.
pub fn outputs(text: &str, end: f64, draw: &mut Draw) -> (Vec<Vec<f64>>, f64) {
    outputs_by(&["auto", "tsit5", "dop853", "stiff"], text, end, draw)
}

/// The same by one of these solvers.
pub fn outputs_by(solvers: &[&str], text: &str, end: f64, draw: &mut Draw) -> (Vec<Vec<f64>>, f64) {
    outputs_within(solvers, &[1e-6, 1e-8, 1e-9], text, end, draw)
}

/// The same by one of these solvers at one of these tolerances.
pub fn outputs_within(
    solvers: &[&str],
    tolerances: &[f64],
    text: &str,
    end: f64,
    draw: &mut Draw,
) -> (Vec<Vec<f64>>, f64) {
    let (solver, rtol) = (draw.of(solvers), draw.of(tolerances));
    let between = draw.of(&[0, 1, 7, 40]);
    let mut times: Vec<f64> =
        (0..=between + 1).map(|i| end * f64::from(i) / f64::from(between + 1)).collect();
    // How far the run goes on afterwards does not matter.
    let further = draw.of(&[1.0, 1.0, 1.0, 20.0]);
    if further > 1.0 {
        times.push(further * end);
    }
    let options = SimulateOptions { times, rtol, solver: solver.to_owned(), ..SimulateOptions::default() };
    let answer =
        sound(text).simulation(&options, &CancellationToken::new()).unwrap_or_else(|r| panic!("{r:?}"));
    let (mut response, outcome) = answer.respond(&answer.parameters, &CancellationToken::new());
    assert_eq!(outcome.failure, None, "{solver} {rtol} {between} {further}\n{text}");
    let checked = answer.check_run(&outcome);
    assert!(checked.is_ok(), "{solver} {rtol} {between} {further}: {checked:?}\n{text}");
    if further > 1.0 {
        response.outputs.iter_mut().for_each(|list| list.truncate(list.len() - 1));
    }
    (response.outputs, rtol)
}

/// The last of some values.
pub fn last(list: &[f64]) -> f64 {
    *list.last().unwrap()
}

/// Integrates by fixed steps of the classical Runge–Kutta method.
pub fn rk4(mut x: Vec<f64>, end: f64, steps: usize, rates: impl Fn(f64, &[f64]) -> Vec<f64>) -> Vec<f64> {
    let h = end / steps as f64;
    let along =
        |x: &[f64], k: &[f64], h: f64| -> Vec<f64> { x.iter().zip(k).map(|(x, k)| x + h * k).collect() };
    for i in 0..steps {
        let t = i as f64 * h;
        let a = rates(t, &x);
        let b = rates(t + 0.5 * h, &along(&x, &a, 0.5 * h));
        let c = rates(t + 0.5 * h, &along(&x, &b, 0.5 * h));
        let d = rates(t + h, &along(&x, &c, h));
        for (k, x) in x.iter_mut().enumerate() {
            *x += h / 6.0 * (a[k] + 2.0 * b[k] + 2.0 * c[k] + d[k]);
        }
    }
    x
}
