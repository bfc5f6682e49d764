//! Random linear models brought to their matrices at a point of their parameters.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use paynter_algebra::{Expr, Pool, Rational as Exact, Symbol};
use paynter_base::CancellationToken;
use paynter_equations::{Equations, StateSpace, derive};
use paynter_testkit::linear::{Pencil, small_point};
use paynter_testkit::number::Rational;
use paynter_testkit::property::seeds;
use paynter_testkit::read::{Causal, causal};
use paynter_testkit::rng::Rng;
use paynter_testkit::structure::Structure;
use paynter_testkit::{Options, generate};
use std::collections::BTreeMap;

/// A linear model with its matrices in symbols.
pub struct Derived {
    pub pool: Pool,
    pub equations: Equations,
    pub space: StateSpace,
}

/// Brings a text to its matrices; nothing where it is refused or nonlinear.
pub fn derived(text: &str) -> Option<Derived> {
    let Causal { mut pool, mut graph, causality } = causal(text).ok()?;
    let equations = derive(&mut pool, &mut graph, &causality, &CancellationToken::new()).ok()?;
    let space = equations.state_space(&mut pool, &graph)?;
    Some(Derived { pool, equations, space })
}

/// The values of the independent parameters at a point, by symbol.
pub fn values(derived: &mut Derived, structure: &Structure, point: &[Rational]) -> BTreeMap<Symbol, Exact> {
    structure
        .independent()
        .iter()
        .zip(point)
        .map(|(param, value)| {
            let name = paynter_graph::flat_name(&structure.params[*param].name);
            (derived.pool.symbol(&name), value.0.clone())
        })
        .collect()
}

/// A random model at a random point, with the acausal oracle there.
pub struct Case {
    pub seed: u64,
    pub text: String,
    pub derived: Derived,
    pub values: BTreeMap<Symbol, Exact>,
    pub pencil: Pencil<Rational>,
}

/// Random linear models that the oracle can judge.
pub fn cases(count: u64) -> impl Iterator<Item = Case> {
    seeds(count).filter_map(|seed| {
        let sample = generate(seed, &Options::linear());
        let mut derived = derived(&sample.text)?;
        let point: Vec<Rational> = small_point(&sample.structure, &mut Rng::new(seed));
        let pencil = Pencil::assemble(&sample.structure, &point)?;
        pencil.order()?;
        let values = values(&mut derived, &sample.structure, &point);
        Some(Case { seed, text: sample.text, derived, values, pencil })
    })
}

/// An expression's derivative in floating point at the case's point.
pub fn slope(case: &mut Case, e: Expr, by: Symbol) -> f64 {
    let slope = case.derived.pool.diff(e, by);
    let values = &case.values;
    case.derived.pool.eval(slope, &|symbol| values.get(&symbol).map(|v| v.to_f64().value())).unwrap()
}
