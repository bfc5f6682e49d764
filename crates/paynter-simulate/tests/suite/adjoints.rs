//! Gradients by the adjoint method against forward sensitivities, where steps forward are far longer than what
//! adjoints do in them: fast modes that have settled between switching events.

#![allow(clippy::unwrap_used, clippy::panic)]

use crate::zoo;

use paynter_base::random::Random;
use paynter_simulate::{Method, Options, Wanted};
use paynter_testkit::property;
use zoo::{Problem, gradient, run};

/// Lags in a row, each of its own speed, behind a relay that switches with a period; parameters with their values.
fn switched(random: &mut Random) -> (String, usize) {
    let mut between = |low: f64, high: f64| low + (high - low) * random.unit();
    let count = 2 + (between(0.0, 3.0) as usize);
    let mut text =
        format!("model lags {{ param T = {}; param k = {}\n", between(0.5, 2.0), between(0.5, 2.0));
    text.push_str("signal x0 = k*sign(sin(2*pi*t/T))\n");
    for i in 1..=count {
        // From a thousandth of the period to several periods.
        let tau = 10f64.powf(between(-3.0, 1.0));
        let bent = if between(0.0, 1.0) < 0.3 { format!(" - 0.1*x{i}^3") } else { String::new() };
        text.push_str(&format!("param tau{i} = {tau}\n"));
        text.push_str(&format!(
            "signal x{i} = integral((x{} - x{i}{bent})/tau{i}, {})\n",
            i - 1,
            between(0.0, 1.0)
        ));
    }
    text.push_str(&format!("Se one = 1; R load = 1; one -> load; output y = x{count} }}"));
    (text, count + 2)
}

#[test]
fn adjoints_agree_with_forward_sensitivities_at_every_tolerance() {
    property::each(12, |seed| {
        let mut random = Random::new(seed + 1);
        let (text, lanes) = switched(&mut random);
        let mut problem = Problem::new(&text);
        let (p, wanted) = (problem.parameters(), (0..lanes).map(Wanted::Parameter).collect::<Vec<_>>());
        let model = problem.compile(&wanted);
        let end = 5.0 + 3.0 * random.unit();
        let options =
            |rtol, method| Options { t_end: end, times: vec![end], rtol, method, ..Options::default() };
        let (forward, outcome) = run(&model, &p, &options(1e-11, Method::Auto));
        assert_eq!(outcome.failure, None, "{text}");
        let size = (0..lanes).fold(0.0f64, |size, lane| size.max((forward.s[0][lane] * p[lane]).abs()));
        for method in [Method::Auto, Method::Tsit5, Method::Dop853, Method::Stiff] {
            for rtol in [1e-6, 1e-8, 1e-10, 1e-12] {
                let found = gradient(&model, &p, &options(rtol, method), &mut |_, _, y, derivative| {
                    derivative[0] = 1.0;
                    y[0]
                });
                assert_eq!(found.outcome.failure, None, "{method:?} {rtol}\n{text}");
                for lane in 0..lanes {
                    let error = (found.by[lane] - forward.s[0][lane]).abs() * p[lane].abs() / size;
                    assert!(
                        error <= (100.0 * rtol).max(1e-8),
                        "{method:?} at {rtol}, lane {lane}: {} beside {}, {error:e}\n{text}",
                        found.by[lane],
                        forward.s[0][lane]
                    );
                }
            }
        }
    });
}
