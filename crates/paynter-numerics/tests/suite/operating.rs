//! Steady states of random nonlinear models, judged by the acausal equations of the test kit.

#![allow(clippy::unwrap_used, clippy::panic)]

use paynter_algebra::{Pool, Symbol};
use paynter_base::{CancellationToken, code};
use paynter_equations::{Equations, QueryError, derive};
use paynter_graph::{BondGraph, flat_name};
use paynter_numerics::{OperatingPoint, Tables, operating_point};
use paynter_testkit::nonlinear::{self, Point};
use paynter_testkit::property::{demand, seeds};
use paynter_testkit::read::{Causal, causal};
use paynter_testkit::structure::Structure;
use paynter_testkit::{Options, generate};

struct Found {
    pool: Pool,
    graph: BondGraph,
    equations: Equations,
    point: Result<OperatingPoint, QueryError>,
}

/// Brings a text to its operating point; none where `check` would refuse it.
fn found(text: &str) -> Option<Found> {
    let Causal { mut pool, mut graph, causality } = causal(text).ok()?;
    let equations = derive(&mut pool, &mut graph, &causality, &CancellationToken::new()).ok()?;
    let point = operating_point(&mut pool, &graph, &equations, &Tables::default(), &CancellationToken::new());
    Some(Found { pool, graph, equations, point })
}

/// The rates of all states by the acausal equations, at the point.
fn acausal(found: &Found, structure: &Structure, point: &OperatingPoint) -> Option<Vec<(String, f64)>> {
    let Found { graph, equations, .. } = found;
    let params = structure
        .independent()
        .iter()
        .map(|param| {
            let name = &structure.params[*param].name;
            graph.parameters.iter().find(|p| p.name == *name).map_or(1.0, |p| p.number)
        })
        .collect();
    let inputs = point.inputs.iter().map(|orders| orders[0]).collect();
    let input_rates = point.inputs.iter().map(|orders| orders.get(1).copied().unwrap_or(0.0)).collect();
    let names = structure.states();
    let mut states = std::collections::BTreeMap::new();
    for (state, value) in equations.states.iter().zip(&point.states) {
        let shown = names.iter().find(|(name, _)| flat_name(name) == state.name)?;
        states.insert(shown.0.clone(), *value);
    }
    let expected = nonlinear::solve(structure, &Point { params, inputs, input_rates, time: 0.0, states })?;
    let list = names.iter().zip(&expected.rates).map(|((name, _), rate)| (flat_name(name), *rate));
    Some(list.filter(|(name, _)| equations.states.iter().any(|state| state.name == *name)).collect())
}

#[test]
fn random_models_rest_by_the_acausal_equations_too() {
    let (mut rest, mut judged, mut none) = (0, 0, 0);
    for seed in seeds(45) {
        let sample = generate(seed, &Options::nonlinear());
        let Some(found) = found(&sample.text) else { continue };
        let point = match &found.point {
            Ok(point) => point,
            Err(QueryError::Wrong(list)) => {
                none += 1;
                assert!(list.iter().any(|d| d.code == code::NO_OPERATING_POINT || d.code == code::RUNAWAY));
                continue;
            }
            Err(QueryError::Cancelled) => panic!("nobody cancelled"),
        };
        rest += 1;
        let lookup = |symbol: Symbol| point.values.get(&symbol).copied();
        let drifting =
            |name: &str| point.notes.iter().any(|note| note.message.contains(&format!("`{name}`")));
        for (state, rate) in found.equations.states.iter().zip(&found.equations.rates) {
            let value = found.pool.eval(*rate, &lookup).unwrap();
            assert!(
                value.abs() < 1e-7 || drifting(&state.name),
                "seed {seed}: {}' is {value}\n{}",
                state.name,
                sample.text
            );
        }
        let Some(rates) = acausal(&found, &sample.structure, point) else { continue };
        judged += 1;
        for (name, rate) in rates {
            assert!(
                rate.abs() < 1e-6 || drifting(&name),
                "seed {seed}: {name}' is {rate} by the acausal equations\n{}",
                sample.text
            );
        }
    }
    println!("{rest} rest, {judged} judged, {none} without");
    demand("steady states", rest, 26, 45);
    demand("steady states judged", judged, 16, 45);
}
