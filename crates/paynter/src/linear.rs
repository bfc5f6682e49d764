//! Questions about the linear model, and the stages it is made of: the operating point, the model in
//! numbers, the model in symbols.

use crate::Model;
use crate::answer::{Asked, QueryError, after, optional};
use crate::model::{Found, LOWEST_TERMS_STATES, View};
use paynter_algebra::Pool;
use paynter_base::{CancellationToken, Diagnostic, Diagnostics};
use paynter_equations::{Equations, StateSpace};
use paynter_numerics::estimate::{Estimate, estimates};
use paynter_numerics::linear::{tangent, to_differentiate};
use paynter_numerics::parametric::{SteadySensitivity, chosen_parameters, steady_sensitivity};
use paynter_numerics::poles::{Spectrum, expanded};
use paynter_numerics::program::Hold;
use paynter_numerics::response::{FrequencyResponse, ResponseChoice, frequency_response};
use paynter_numerics::verified::{Linearised, check_steady_state};
use paynter_numerics::{
    LinearModel, Matrices, OperatingPoint, Original, Tables, Variant, operating_point, stuck, turned,
    vanishing_divisors,
};
use paynter_verify::Check;
use std::sync::Arc;

/// Models of more states than this are not linearised beside their operating point.
const JACOBIAN_STATES: usize = 200;

/// The steady state of a model, with what the model is near it.
#[derive(Debug, Clone)]
pub struct SteadyState {
    /// The equations that rest there.
    pub equations: Arc<Equations>,
    /// The values of all symbols.
    pub point: OperatingPoint,
    /// The linear model and its matrices in numbers; none where a law has no derivative there.
    pub linear: Option<(Arc<LinearModel>, Matrices)>,
    /// How far it fulfils the graph's own equations.
    pub checks: Vec<Check>,
}

/// How the steady state of a model moves with its parameters.
#[derive(Debug, Clone)]
pub struct SteadyMoves {
    /// The equations that rest there.
    pub equations: Arc<Equations>,
    /// The derivatives.
    pub found: SteadySensitivity,
    /// How far they fulfil the graph's own equations.
    pub checks: Vec<Check>,
}

/// The poles of a model.
#[derive(Debug, Clone)]
pub struct Poles {
    /// The linear model they belong to.
    pub linear: Arc<LinearModel>,
    /// Poles with their multiplicities, zeros of the entries.
    pub spectrum: Arc<Spectrum>,
    /// Estimates read off the graph.
    pub estimates: Vec<Estimate>,
    /// How far they fulfil the graph's own equations.
    pub checks: Vec<Check>,
}

/// The frequency response of a model.
#[derive(Debug, Clone)]
pub struct Bode {
    /// The linear model it belongs to.
    pub linear: Arc<LinearModel>,
    /// Frequencies and values.
    pub response: FrequencyResponse,
    /// How far they fulfil the graph's own equations.
    pub checks: Vec<Check>,
}

impl<T> Clone for Found<T> {
    fn clone(&self) -> Found<T> {
        let Found { view, pool, result, findings } = self;
        Found { view: view.clone(), pool: pool.clone(), result: result.clone(), findings: findings.clone() }
    }
}

impl<T> Found<T> {
    /// A pool for what a question makes of the result.
    pub fn overlay(&self) -> Pool {
        Pool::over(&self.pool)
    }

    /// An answer made of the result, with all findings on the way.
    pub fn answer<U>(&self, pool: Pool, found: Result<U, QueryError>, findings: Diagnostics) -> Asked<U> {
        self.view.answer_after(&self.findings, pool, found, findings)
    }
}

impl Found<LinearModel> {
    /// The linear model with what it was made of, to check answers about it.
    pub fn linearised(&self) -> Linearised<'_> {
        Linearised { graph: &self.view.graph, equations: &self.view.equations, linear: &self.result }
    }
}

impl View {
    /// What variants of the model are made of.
    fn original<'a>(&'a self, tables: &'a Tables) -> Original<'a> {
        let View { pool, graph, causality, equations, .. } = self;
        Original { pool, graph, causality, equations, tables }
    }

    /// The rest of a variant of the model, with what was found about the model itself.
    fn variant(&self, found: Variant) -> Found<OperatingPoint> {
        let Variant { pool, graph, causality, equations, point, notes } = found;
        let mut findings = self.findings.clone();
        findings.extend(notes);
        findings.sort();
        let mut all = findings.clone();
        all.extend(point.notes.clone());
        all.sort();
        let (pool, graph, sources) = (Arc::new(pool), Arc::new(graph), self.sources.clone());
        let (causality, equations) = (Arc::new(causality), Arc::new(equations));
        let view = View { pool: pool.clone(), graph, causality, equations, space: None, sources, findings };
        Found { view: Arc::new(view), pool, result: Arc::new(point), findings: all }
    }
}

impl Model {
    /// Finds the operating point.
    pub(crate) fn steady_state(
        &self,
        token: &CancellationToken,
    ) -> Result<Arc<Found<OperatingPoint>>, QueryError> {
        self.0.own.steady.get(|| {
            let view = self.for_numbers(token)?;
            let (mut pool, tables) = (view.overlay(), self.tables(Hold::default())?);
            let found = operating_point(&mut pool, &view.graph, &view.equations, &tables, token);
            let notes = found.as_ref().map_or_else(|_| Diagnostics::new(), |point| point.notes.clone());
            kept(&view, &view.findings, pool, found, notes)
        })
    }

    /// The operating point in variables in which the model has a tangent there: with dry friction that sticks,
    /// and where causality makes elements divide by what vanishes at the point, with these turned round.
    fn regular_state(&self, token: &CancellationToken) -> Result<Arc<Found<OperatingPoint>>, QueryError> {
        self.0.own.rest.get(|| {
            let own = self.for_numbers(token)?;
            let tables = self.tables(Hold::default())?;
            let steady = || Ok(optional(self.steady_state(token))?.map(|steady| (*steady.result).clone()));
            let steady = match stuck(&own.original(&tables), steady, token)? {
                Some(found) => own.variant(found),
                None => match self.steady_state(token) {
                    Ok(steady) => Found::clone(&steady),
                    Err(QueryError::Cancelled) => return Err(QueryError::Cancelled),
                    // Near what vanishes rounding may hide a rest.
                    Err(failure) => {
                        let divides = &own.causality.divides;
                        let other = match divides.is_empty() {
                            true => None,
                            false => turned(&own.original(&tables), divides, token)?,
                        };
                        return other.map(|found| own.variant(found)).ok_or(failure);
                    }
                },
            };
            let view = &steady.view;
            let vanishing =
                vanishing_divisors(&mut steady.overlay(), &view.graph, &view.causality, &steady.result);
            let other = match vanishing.is_empty() {
                true => None,
                false => turned(&view.original(&tables), &vanishing, token)?,
            };
            Ok(other.map_or_else(|| steady.clone(), |found| view.variant(found)))
        })
    }

    /// The linear model with matrices to be read, at the operating point where the equations are nonlinear.
    pub(crate) fn linear(&self, token: &CancellationToken) -> Result<Arc<Found<LinearModel>>, QueryError> {
        self.0.own.linear.get(|| {
            if self.matrices(token)?.space.is_none() {
                return self.tangent(token);
            }
            let view = self.readable(token)?;
            match &view.space {
                Some(space) => nominal(&view, space, token),
                None => self.tangent(token),
            }
        })
    }

    /// The linear model for numbers: the one to be read, but where the model is large its matrices as they
    /// were derived.
    pub(crate) fn numeric(&self, token: &CancellationToken) -> Result<Arc<Found<LinearModel>>, QueryError> {
        let view = self.matrices(token)?;
        match &view.space {
            Some(space) if view.equations.states.len() > LOWEST_TERMS_STATES => {
                self.0.own.numeric.get(|| nominal(&view, space, token))
            }
            _ => self.linear(token),
        }
    }

    /// The linearisation at the operating point.
    fn tangent(&self, token: &CancellationToken) -> Result<Found<LinearModel>, QueryError> {
        let steady = self.regular_state(token)?;
        let view = &steady.view;
        let mut pool = steady.overlay();
        let mut findings = Diagnostics::new();
        let (graph, causality) = (&view.graph, &view.causality);
        let (equations, point) = (view.equations.clone(), OperatingPoint::clone(&steady.result));
        let found = tangent(&mut pool, graph, causality, equations, point, &mut findings, token);
        kept(view, &steady.findings, pool, found, findings)
    }

    /// A linear model as it serves for derivatives by parameters, with the pool of its expressions.
    pub(crate) fn differentiable(
        &self,
        stage: &Arc<Found<LinearModel>>,
        token: &CancellationToken,
    ) -> Result<(Pool, Arc<LinearModel>), QueryError> {
        let (view, mut pool) = (&stage.view, stage.overlay());
        let other = to_differentiate(&mut pool, &view.graph, &view.causality, &stage.result, token);
        let other = other.map_err(|failure| after(&stage.findings, failure))?;
        Ok((pool, other.map_or_else(|| stage.result.clone(), Arc::new)))
    }

    /// Tells how the steady state moves with some parameters, all where none is named.
    pub fn steady_sensitivity(&self, only: &[String], token: &CancellationToken) -> Asked<SteadyMoves> {
        let steady = self.regular_state(token)?;
        let (view, mut pool) = (&steady.view, steady.overlay());
        let found = chosen_parameters(&view.graph, only).and_then(|parameters| {
            steady_sensitivity(&mut pool, &view.graph, &view.equations, &steady.result, &parameters)
        });
        let equations = view.equations.clone();
        let found = found.and_then(|found| {
            let checks = found.check(&mut steady.overlay(), &view.graph, &equations, &steady.result)?;
            Ok(SteadyMoves { equations, found, checks })
        });
        view.answer_after(&steady.findings, pool, found, Diagnostics::new())
    }

    /// Tells the steady state with the inputs at time zero.
    pub fn operating_point(&self, token: &CancellationToken) -> Asked<SteadyState> {
        let steady = self.regular_state(token)?;
        let view = &steady.view;
        let linear = match view.equations.states.len() > JACOBIAN_STATES {
            true => None,
            false => optional(self.linear(token))?,
        };
        // What linearising finds is said as well.
        let mut findings = Diagnostics::new();
        let known = |finding: &Diagnostic| steady.findings.iter().any(|known| known == finding);
        let more = linear.iter().flat_map(|linear| linear.findings.iter());
        more.filter(|finding| !known(finding)).for_each(|finding| findings.push(finding.clone()));
        let pool = linear.as_ref().map_or_else(|| steady.overlay(), |linear| linear.overlay());
        let linear = linear
            .as_ref()
            .and_then(|stage| Some((stage.result.clone(), stage.result.matrices(&stage.pool).ok()?)));
        let (equations, point) = (view.equations.clone(), OperatingPoint::clone(&steady.result));
        let checks = check_steady_state(&mut steady.overlay(), &view.graph, &view.equations, &steady.result);
        let found = checks.map(|checks| SteadyState { equations, point, linear, checks });
        view.answer_after(&steady.findings, pool, found, findings)
    }

    /// Tells the eigenvalues with their damping, the zeros, and estimates read off the graph.
    pub fn poles(&self, token: &CancellationToken) -> Asked<Poles> {
        let stage = self.numeric(token)?;
        let (linear, graph) = (&stage.result, &stage.view.graph);
        let mut pool = stage.overlay();
        let found = linear.matrices(&pool).and_then(|matrices| {
            let spectrum = linear.spectrum(&pool, graph, &matrices, &linear.all_entries(), token)?;
            let poles = expanded(&spectrum.poles);
            let estimates = estimates(&mut pool, graph, linear, &matrices, &poles, token);
            let checks = stage.linearised().check_poles(&mut stage.overlay(), &poles)?;
            Ok(Poles { linear: stage.result.clone(), spectrum, estimates, checks })
        });
        stage.answer(pool, found, Diagnostics::new())
    }

    /// Tells the frequency response, on a grid that shows its peaks where no other is asked for.
    pub fn bode(&self, choice: &ResponseChoice, token: &CancellationToken) -> Asked<Bode> {
        let stage = self.numeric(token)?;
        let pool = stage.overlay();
        let found = frequency_response(&pool, &stage.view.graph, &stage.result, choice, token);
        let mut findings = Diagnostics::new();
        let found = found.and_then(|mut response| {
            let checks =
                stage.linearised().check_response(&mut stage.overlay(), &mut response, &mut findings)?;
            Ok(Bode { linear: stage.result.clone(), response, checks })
        });
        stage.answer(pool, found, findings)
    }
}

/// A model that is linear, with its parameters at their nominal values.
fn nominal(
    view: &Arc<View>,
    space: &StateSpace,
    token: &CancellationToken,
) -> Result<Found<LinearModel>, QueryError> {
    let mut pool = view.overlay();
    let (equations, space) = (view.equations.clone(), space.clone());
    let linear = LinearModel::nominal(&mut pool, &view.graph, equations, space, token);
    token.check()?;
    kept(view, &view.findings, pool, Ok(linear), Diagnostics::new())
}

/// A result to be kept with all findings on the way to it.
fn kept<T>(
    view: &Arc<View>,
    before: &Diagnostics,
    pool: Pool,
    found: Result<T, QueryError>,
    findings: Diagnostics,
) -> Result<Found<T>, QueryError> {
    let mut all = before.clone();
    all.extend(findings);
    all.sort();
    let result = found.map_err(|failure| match after(&all, failure) {
        QueryError::Wrong(mut diagnostics) => {
            diagnostics.sort();
            QueryError::Wrong(diagnostics)
        }
        cancelled => cancelled,
    })?;
    Ok(Found { view: view.clone(), pool: Arc::new(pool), result: Arc::new(result), findings: all })
}
