//! Questions about equations: the equations themselves, their derivation, transfer functions.

use crate::Model;
use crate::answer::{Asked, QueryError, refused};
use paynter_algebra::Pool;
use paynter_algebra::poly::Budget;
use paynter_base::{CancellationToken, Diagnostic, Diagnostics, code};
use paynter_equations::{
    Derivation, Equations, LoopBudget, Mason, MassForm, SignalFlow, Sparse, StateSpace, Transfer,
    derivations, mason, transfer,
};
use paynter_graph::BondGraph;
use paynter_numerics::LinearModel;
use paynter_numerics::poles::Spectrum;
use paynter_numerics::program::Hold;
use paynter_numerics::rates::RateFunction;
use paynter_numerics::structure::signal_flow_near;
use std::sync::Arc;

/// Polynomials of transfer functions are written out up to so many terms, unless one asks for more.
pub const TERMS: usize = 200_000;

/// The state equations of a model.
#[derive(Debug, Clone)]
pub struct StateEquations {
    /// The equations; with a mass matrix E, right-hand sides of E x' = f in place of rates.
    pub equations: Arc<Equations>,
    /// Their matrices, where they are linear.
    pub space: Option<Arc<StateSpace>>,
    /// The mass matrix.
    pub mass: Option<Sparse>,
}

/// The transfer matrix of a model.
#[derive(Debug, Clone)]
pub struct TransferMatrix {
    /// The linear model it belongs to.
    pub linear: Arc<LinearModel>,
    /// Its entries in symbols.
    pub transfer: Transfer,
    /// Poles and zeros of the entries, where they can be had.
    pub factors: Option<Arc<Spectrum>>,
    /// The signal-flow graph, forward paths and loops, where Mason's rule was asked for.
    pub mason: Option<(SignalFlow, Mason)>,
}

/// The transfer matrix of a model in numbers.
#[derive(Debug, Clone)]
pub struct NumericTransfer {
    /// The linear model it belongs to.
    pub linear: Arc<LinearModel>,
    /// Its poles, and its entries in factors.
    pub spectrum: Arc<Spectrum>,
}

impl Model {
    /// Tells the transfer matrix in numbers: at the nominal values, and at the operating point where the model
    /// is nonlinear.
    pub fn transfer_in_numbers(&self, token: &CancellationToken) -> Asked<NumericTransfer> {
        let stage = self.numeric(token)?;
        let (linear, graph) = (&stage.result, &stage.view.graph);
        let pool = stage.overlay();
        let found = linear.matrices(&pool).and_then(|matrices| {
            let spectrum = linear.spectrum(&pool, graph, &matrices, &linear.all_entries(), token)?;
            Ok(NumericTransfer { linear: stage.result.clone(), spectrum })
        });
        stage.answer(pool, found, Diagnostics::new())
    }

    /// Tells the state equations, in the form a person would write.
    pub fn equations(&self, token: &CancellationToken) -> Asked<StateEquations> {
        let view = self.readable(token)?;
        let mut pool = view.overlay();
        let form = view.equations.shorter_mass_form(&mut pool, &view.graph, view.space.is_some());
        let found = match form {
            Some(form) => with_mass(form),
            None => {
                StateEquations { equations: view.equations.clone(), space: view.space.clone(), mass: None }
            }
        };
        view.answer(pool, Ok(found), Diagnostics::new())
    }

    /// The state equations as [`Model::equations`] tells them, but always solved for the rates: without a mass
    /// matrix.
    pub fn explicit_equations(&self, token: &CancellationToken) -> Asked<StateEquations> {
        let view = self.readable(token)?;
        let (equations, space) = (view.equations.clone(), view.space.clone());
        view.answer(view.overlay(), Ok(StateEquations { equations, space, mass: None }), Diagnostics::new())
    }

    /// Tells the state equations with the mass matrix that dependent storages make, as E x' = f; the
    /// ordinary ones where there is none.
    pub fn equations_with_mass(&self, token: &CancellationToken) -> Asked<StateEquations> {
        let view = self.readable(token)?;
        let mut pool = view.overlay();
        match view.equations.mass_form(&mut pool, &view.graph, view.space.is_some(), token) {
            Some(form) => view.answer(pool, Ok(with_mass(form)), Diagnostics::new()),
            None => self.equations(token),
        }
    }

    /// Compiles the rates of the states as a function of time, states, inputs and parameters, with its Jacobians.
    pub fn rates(&self, token: &CancellationToken) -> Asked<RateFunction> {
        let view = self.for_numbers(token)?;
        let (mut pool, tables) = (view.overlay(), self.tables(Hold::default())?);
        let found = RateFunction::new(&mut pool, &view.graph, &view.equations, tables);
        let found = found.map_err(|error| refused(Diagnostic::new(code::BAD_SIMULATION, error.to_string())));
        view.answer(pool, found, Diagnostics::new())
    }

    /// Derives the equations step by step.
    pub fn steps(&self, token: &CancellationToken) -> Asked<Vec<Derivation>> {
        let view = self.readable(token)?;
        let mut pool = view.overlay();
        let found = derivations(&mut pool, &view.graph, &view.equations);
        view.answer(pool, Ok(found), Diagnostics::new())
    }

    /// Tells the transfer matrix, at the operating point where the model is nonlinear; polynomials are
    /// written out up to so many terms.
    pub fn transfer(&self, terms: usize, token: &CancellationToken) -> Asked<TransferMatrix> {
        let stage = self.linear(token)?;
        let mut pool = stage.overlay();
        let found = written_out(&mut pool, &stage.view.graph, stage.result.clone(), terms, token);
        let mut findings = Diagnostics::new();
        if let Ok(TransferMatrix { transfer: Transfer { shared: Some(reason), .. }, .. }) = &found {
            let message = format!(
                "the transfer functions are not written out, because {reason}; the budget is {terms} terms"
            );
            findings.push(Diagnostic::new(code::TOO_LONG, message));
        }
        stage.answer(pool, found, findings)
    }

    /// Tells the transfer matrix by Mason's rule, with forward paths and loops.
    pub fn transfer_by_mason(&self, terms: usize, token: &CancellationToken) -> Asked<TransferMatrix> {
        let stage = self.linear(token)?;
        let (linear, view) = (&stage.result, &stage.view);
        let mut pool = stage.overlay();
        let flow = signal_flow_near(&mut pool, &view.graph, &view.causality, linear, token);
        let found = flow.and_then(|flow| {
            let found = mason(&mut pool, &flow, LoopBudget::default(), Budget::of_terms(terms), token)?;
            let wanted: Vec<_> = found.transfer.entries.iter().map(|e| (e.output, e.input)).collect();
            let factors = linear.factors(&pool, &view.graph, &wanted, token)?;
            let transfer = found.transfer.clone();
            Ok(TransferMatrix { linear: stage.result.clone(), transfer, factors, mason: Some((flow, found)) })
        });
        stage.answer(pool, found, Diagnostics::new())
    }
}

/// The transfer matrix of a linear model, with polynomials up to so many terms.
pub(crate) fn written_out(
    pool: &mut Pool,
    graph: &BondGraph,
    linear: Arc<LinearModel>,
    terms: usize,
    token: &CancellationToken,
) -> Result<TransferMatrix, QueryError> {
    let transfer = transfer(pool, &linear.equations, &linear.space, Budget::of_terms(terms), token)?;
    let wanted: Vec<_> = transfer.entries.iter().map(|e| (e.output, e.input)).collect();
    let factors = linear.factors(pool, graph, &wanted, token)?;
    Ok(TransferMatrix { linear, transfer, factors, mason: None })
}

fn with_mass(form: MassForm) -> StateEquations {
    let MassForm { right, matrix, space } = form;
    StateEquations { equations: Arc::new(right), space: space.map(Arc::new), mass: Some(matrix) }
}
