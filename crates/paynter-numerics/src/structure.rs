//! What the structure of a model says about it: rank, controllability,
//! observability, causal paths, relative degrees, zero dynamics, the
//! signal-flow graph and the junction structure; for almost all values of the
//! parameters, and in numbers where the model has an operating point.

use std::borrow::Cow;

use num_complex::Complex64;
use paynter_algebra::poly::{Budget, readable};
use paynter_algebra::{Expr, Pool, Rational, Symbol};
use paynter_base::CancellationToken;
use paynter_equations::{
    CausalPaths, Equations, QueryError, RelativeDegree, SignalFlow, StateSpace, Structure, Verdict,
    ZeroDynamics, causal_paths, is_hurwitz, signal_flow, structure, transfer, zero_dynamics,
};
use paynter_graph::{BondGraph, Causality, Variable};
use rustc_hash::FxHashMap;

use crate::LinearModel;
use crate::linalg::{Root, Sparse, eigenvalues, roots};
use crate::linear::rounded_degrees;
use crate::tolerance::ZERO_DYNAMICS_STATES;

/// What transfer functions may cost before zero dynamics are left out.
const BUDGET: Budget = Budget { terms: 20_000, steps: 20_000_000 };

/// Where numbers are put in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JudgedAt {
    /// At the nominal values of the parameters.
    Nominal,
    /// At the operating point of a nonlinear model.
    Operating,
    /// There is none.
    Nowhere,
}

/// What the structure of a model says about it.
#[derive(Debug, Clone)]
pub struct StructureAnalysis {
    /// Where numbers are put in.
    pub at: JudgedAt,
    /// Rank, controllability, observability and relative degrees.
    pub structure: Structure,
    /// The eigenvalues of what no input moves, at nominal values.
    pub uncontrollable: Vec<Complex64>,
    /// The eigenvalues of what no output shows, at nominal values.
    pub unobservable: Vec<Complex64>,
    /// The signal-flow graph.
    pub flow: SignalFlow,
    /// Its causal paths.
    pub paths: CausalPaths,
    /// The zero dynamics of every entry, where they can be written out.
    pub zero_dynamics: Option<Vec<InvariantZeros>>,
}

/// The zero dynamics from one input to one output, with its zeros at nominal values.
#[derive(Debug, Clone)]
pub struct InvariantZeros {
    /// The polynomial.
    pub dynamics: ZeroDynamics,
    /// Its roots, as often as they occur; none where there are no nominal values.
    pub zeros: Vec<Complex64>,
    /// Whether all of them lie in the open left half plane.
    pub minimum_phase: Option<bool>,
}

/// Analyses the structure of a model; where it has no operating point (`has_point` is false) only what holds
/// for almost all values.
pub fn analyse_structure(
    pool: &mut Pool,
    graph: &BondGraph,
    causality: &Causality,
    linear: &LinearModel,
    has_point: bool,
    token: &CancellationToken,
) -> Result<StructureAnalysis, QueryError> {
    let at = match (has_point, &linear.point) {
        (false, _) => JudgedAt::Nowhere,
        (true, Some(_)) => JudgedAt::Operating,
        (true, None) => JudgedAt::Nominal,
    };
    let nominal = nominal(pool, graph, linear);
    let flow = signal_flow_near(pool, graph, causality, linear, token)?;
    let values = has_point.then_some(&nominal);
    // What is zero at every rest is zero by structure.
    let (always, here) = match at {
        JudgedAt::Operating => {
            (Cow::Owned(linear.space_at_rests(pool, graph)), Cow::Owned(linear.space_at_point()))
        }
        _ => (Cow::Borrowed(&linear.space), Cow::Borrowed(&linear.space)),
    };
    let at_nominal = values.map(|values| (&*here, values));
    let mut found = structure(pool, &linear.equations, &always, at_nominal, token)?;
    if at == JudgedAt::Operating {
        let rounded = rounded_degrees(&linear.matrices(pool)?);
        found.degrees.iter_mut().for_each(|d| d.nominal = Some(rounded[d.input][d.output]));
    }
    let paths = causal_paths(&flow, token)?;
    let zero_dynamics = invariant_zeros(pool, &linear.equations, &always, values, &found.degrees, token)?;
    Ok(StructureAnalysis {
        at,
        uncontrollable: verdict_eigenvalues(&found.controllability),
        unobservable: verdict_eigenvalues(&found.observability),
        structure: found,
        flow,
        paths,
        zero_dynamics,
    })
}

/// The signal-flow graph; of a nonlinear model with the choices as they are at its operating point.
pub fn signal_flow_near(
    pool: &mut Pool,
    graph: &BondGraph,
    causality: &Causality,
    linear: &LinearModel,
    token: &CancellationToken,
) -> Result<SignalFlow, QueryError> {
    let mut flow = signal_flow(pool, graph, causality, &linear.equations, token)?;
    if linear.point.is_some() {
        let gains: Vec<Expr> = flow.edges.iter().map(|edge| edge.gain).collect();
        let mut gains = pool.decide_choices(&gains, &|symbol| linear.value(symbol));
        if let Some(time) = graph.variables.symbol(Variable::Time) {
            let start: FxHashMap<Symbol, Expr> = [(time, pool.zero())].into_iter().collect();
            gains = pool.substitute_all(&gains, &start);
        }
        for (edge, gain) in flow.edges.iter_mut().zip(gains) {
            edge.gain = readable(pool, gain, token);
        }
        let zero = pool.zero();
        flow.edges.retain(|edge| edge.gain != zero);
    }
    Ok(flow)
}

/// Exact values of parameters, and of all else at the operating point.
fn nominal(pool: &mut Pool, graph: &BondGraph, linear: &LinearModel) -> FxHashMap<Symbol, Expr> {
    let mut values: FxHashMap<Symbol, Expr> = FxHashMap::default();
    for (symbol, value) in &linear.values {
        if let Ok(value) = Rational::try_from(*value) {
            values.insert(*symbol, pool.number(value));
        }
    }
    values.extend(exact_values(pool, graph));
    values
}

/// Exact values of parameters.
pub fn exact_values(pool: &mut Pool, graph: &BondGraph) -> FxHashMap<Symbol, Expr> {
    graph.parameters.iter().map(|parameter| (parameter.symbol, parameter.value.expr(pool))).collect()
}

/// The eigenvalues of what is out of reach at nominal values.
pub fn verdict_eigenvalues(verdict: &Verdict) -> Vec<Complex64> {
    let Some(nominal) = &verdict.nominal else { return Vec::new() };
    let n = nominal.dynamics.len();
    let entries =
        nominal.dynamics.iter().enumerate().flat_map(|(i, row)| {
            row.iter().enumerate().map(move |(j, value)| (i, j, value.to_f64().value()))
        });
    let matrix = Sparse { rows: n, columns: n, entries: entries.collect() };
    if n == 0 { Vec::new() } else { eigenvalues(&matrix).unwrap_or_default() }
}

/// The zero dynamics of every entry with their zeros, where they can be written out. At nominal values there are as
/// many zeros as the order exceeds the relative degree.
fn invariant_zeros(
    pool: &mut Pool,
    equations: &Equations,
    space: &StateSpace,
    nominal: Option<&FxHashMap<Symbol, Expr>>,
    degrees: &[RelativeDegree],
    token: &CancellationToken,
) -> Result<Option<Vec<InvariantZeros>>, QueryError> {
    let order = equations.states.len();
    if order > ZERO_DYNAMICS_STATES {
        return Ok(None);
    }
    let transfer = transfer(pool, equations, space, BUDGET, token)?;
    let Some(list) = zero_dynamics(pool, &transfer, BUDGET, token)? else { return Ok(None) };
    let mut out = Vec::with_capacity(list.len());
    for dynamics in list {
        let of = |d: &&RelativeDegree| (d.output, d.input) == (dynamics.output, dynamics.input);
        let degree = degrees.iter().find(of).and_then(|d| d.nominal);
        let most =
            degree.map(|degree| degree.map_or(0, |degree| (order as i64 - degree + 1).max(0) as usize));
        let coefficients = nominal.and_then(|nominal| exact(pool, &dynamics.coefficients, nominal));
        let coefficients = coefficients.map(|mut list| {
            // What rounding of an operating point leaves of higher powers makes zeros far out.
            list.drain(..list.len().saturating_sub(most.unwrap_or(usize::MAX)));
            list
        });
        let minimum_phase = coefficients.as_ref().filter(|list| !list.is_empty()).map(|c| is_hurwitz(c));
        let zeros = match &coefficients {
            Some(list) => rational_roots(list, token)?,
            None => Vec::new(),
        };
        out.push(InvariantZeros { dynamics, zeros, minimum_phase });
    }
    Ok(Some(out))
}

/// Coefficients by falling power at nominal values, without leading zeros; nothing where one is no
/// rational number.
fn exact(
    pool: &mut Pool,
    coefficients: &[(u32, Expr)],
    nominal: &FxHashMap<Symbol, Expr>,
) -> Option<Vec<Rational>> {
    let degree = coefficients.iter().map(|(power, _)| *power).max()?;
    let mut list = vec![Rational::ZERO; degree as usize + 1];
    for (power, value) in coefficients {
        let value = pool.substitute(*value, nominal);
        list[(degree - power) as usize] = pool.as_rational(value)?.clone();
    }
    let first = list.iter().position(|value| !value.is_zero()).unwrap_or(list.len());
    list.drain(..first);
    Some(list)
}

/// The roots of a polynomial, coefficients by falling power, as often as they occur.
fn rational_roots(
    coefficients: &[Rational],
    token: &CancellationToken,
) -> Result<Vec<Complex64>, QueryError> {
    if coefficients.len() < 2 {
        return Ok(Vec::new());
    }
    let mut scale = Rational::ONE;
    for coefficient in coefficients {
        let scaled = coefficient * &scale;
        scale *= Rational::from(scaled.denominator().clone());
    }
    let integers = coefficients.iter().rev().map(|c| (c * &scale).numerator().clone()).collect();
    let found = roots(&integers, token)?.unwrap_or_default();
    let repeated = |root: &Root| vec![root.value; root.multiplicity];
    Ok(found.iter().flat_map(repeated).collect())
}
