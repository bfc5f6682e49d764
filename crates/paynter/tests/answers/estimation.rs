//! Estimation asked of whole models: of parameters that are zero, or have another sign than where the search starts.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use crate::common;

use common::load;
use paynter::estimate::{Amount, EstimateOptions, Method};
use paynter::simulate::Data;
use paynter::{Answer, CancellationToken, QueryError};

/// i = (1 − exp(−0.7 t))/0.7 every tenth of a second.
fn rise() -> Data {
    let rows = (0..51).map(|k| {
        let t = 0.1 * f64::from(k);
        format!("{t:?},{:?}\n", (1.0 - (-0.7 * t).exp()) / 0.7)
    });
    Data { path: "rise.csv".into(), content: format!("t,i\n{}", rows.collect::<String>()).into_bytes() }
}

fn choke(resistance: &str) -> String {
    format!(
        "model choke {{ param R = {resistance}; param L = 1 in [0.1, 10]
            Se s = 1; 1 j; R r = R; I l = L; s -> j; j -> r, l; output i = l.f }}"
    )
}

fn ask(text: &str, options: EstimateOptions) -> Result<Answer<paynter::estimate::Estimation>, QueryError> {
    load(text).estimate(&EstimateOptions { data: vec![rise()], ..options }, &CancellationToken::new())
}

/// A resistance that is zero in the model, or where the search starts, is found like any other.
#[test]
fn parameters_that_are_zero_are_estimated() {
    let start = |value: f64| vec![("R".to_owned(), Amount::from(value))];
    let fit = || vec!["R".to_owned(), "L".to_owned()];
    for (resistance, start) in [
        ("0 in [0, 100]", Vec::new()),
        ("0", Vec::new()),
        ("0 in [-5, 5]", Vec::new()),
        ("0", start(0.1)),
        ("2 in [0, 100]", start(0.0)),
        ("-1", start(0.2)),
        ("-1 in [-5, 0.9]", start(0.0)),
    ] {
        for method in [Method::GaussNewton, Method::LevenbergMarquardt] {
            let options = EstimateOptions { fit: fit(), start: start.clone(), method, ..Default::default() };
            let found = ask(&choke(resistance), options).unwrap_or_else(|e| panic!("{resistance}: {e:?}"));
            let values: Vec<f64> = found.estimates.iter().map(|estimate| estimate.value).collect();
            assert!(
                (values[0] - 0.7).abs() < 1e-5 && (values[1] - 1.0).abs() < 1e-5,
                "{resistance}, {start:?}, {method:?}: {values:?}"
            );
            let begun =
                start.first().map_or(resistance.split(' ').next().unwrap().parse().unwrap(), |s| s.1.number);
            // Where the equations do not hold at zero, it begins beside it.
            let apart = (found.estimates[0].start - begun).abs();
            assert!(if begun == 0.0 { apart <= 2e-3 } else { apart == 0.0 }, "{resistance} {apart}");
        }
    }
}

/// Where a law is divided by its parameter, zero has no equations: the search begins beside it, or names it.
#[test]
fn a_start_without_equations_is_left_or_named() {
    let text = "model m { param G = 1 in [0, 5]; C c = 1; R r { e = f/G }; 0 j; j -> c, r; init c.q = 1; output i = c.e }";
    let start = vec![("G".to_owned(), 0.0.into())];
    match ask(text, EstimateOptions { start, ..Default::default() }) {
        Err(QueryError::Wrong(found)) => {
            let said: Vec<&str> = found.iter().map(|finding| finding.message.as_str()).collect();
            assert!(said.iter().any(|message| message.contains('G')), "{said:?}");
        }
        // Nothing flows where it is zero, which is the bound that the search comes to.
        Ok(found) => assert!(found.estimates[0].value >= 0.0),
        Err(QueryError::Cancelled) => panic!("nobody cancels"),
    }
}
