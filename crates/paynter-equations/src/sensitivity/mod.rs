//! Sensitivities in the frequency domain, in symbols: S(s) = ∂H/∂p for every
//! output, input and parameter, (12) of Borutzky & Granda.
//!
//! Expanded: one forward solution for each input, one adjoint solution for
//! each output, one product for each place a parameter stands
//! ([`expanded`]). Past the budget the same as a shared graph of expressions,
//! by one reverse sweep through the transfer function ([`shared`]).

mod expanded;
mod increments;
mod products;
mod quotient;
mod shared;
mod shift;

use paynter_algebra::poly::{Budget, PolyError};
use paynter_algebra::{Expr, Pool, Symbol};
use paynter_base::CancellationToken;

use crate::{Equations, QueryError, StateSpace};

pub use increments::{Increments, increments};
pub use products::{Place, Products, Ratio, products};
pub use shift::operating_shift;

/// A parameter whose sensitivities are asked for.
#[derive(Debug, Clone)]
pub struct Parameter {
    /// Its symbol.
    pub symbol: Symbol,
    /// Symbols of the matrices that move with it (states and inputs of an
    /// operating point), with their derivatives by it.
    pub carried: Vec<(Symbol, Expr)>,
}

/// How sensitivities are wanted.
#[derive(Debug, Clone, Copy)]
pub struct SensitivityRequest {
    /// Relative ones, (p/H)·∂H/∂p.
    pub normalized: bool,
    /// What writing them out may cost.
    pub budget: Budget,
}

/// The sensitivities of a transfer matrix.
#[derive(Debug, Clone)]
pub struct Sensitivities {
    /// The Laplace variable.
    pub s: Symbol,
    /// By output, then input, then parameter. Relative ones of a transfer function that is zero are left out.
    pub entries: Vec<Sensitivity>,
    /// Why the entries are not expanded, if they are not.
    pub shared: Option<String>,
}

/// One sensitivity.
#[derive(Debug, Clone, Copy)]
pub struct Sensitivity {
    /// Place among the outputs.
    pub output: usize,
    /// Place among the inputs.
    pub input: usize,
    /// Place among the parameters asked for.
    pub parameter: usize,
    /// Numerator in lowest terms; in the shared form the whole function.
    pub num: Expr,
    /// Denominator, a product of powers; in the shared form 1.
    pub den: Expr,
}

/// Finds the sensitivities of the transfer matrix of a state space.
pub fn sensitivities(
    pool: &mut Pool,
    equations: &Equations,
    space: &StateSpace,
    parameters: &[Parameter],
    request: SensitivityRequest,
    token: &CancellationToken,
) -> Result<Sensitivities, QueryError> {
    let s = pool.symbol("s");
    match expanded::expanded(pool, equations, space, s, parameters, request, token) {
        Ok(entries) => Ok(Sensitivities { s, entries, shared: None }),
        Err(PolyError::Cancelled) => Err(QueryError::Cancelled),
        Err(error) => {
            let entries = shared::shared(pool, equations, space, s, parameters, request.normalized, token)?;
            Ok(Sensitivities { s, entries, shared: Some(error.to_string()) })
        }
    }
}

/// The sensitivities as a shared graph of expressions, at any size.
pub fn shared_sensitivities(
    pool: &mut Pool,
    equations: &Equations,
    space: &StateSpace,
    parameters: &[Parameter],
    normalized: bool,
    token: &CancellationToken,
) -> Result<Sensitivities, QueryError> {
    let s = pool.symbol("s");
    let entries = shared::shared(pool, equations, space, s, parameters, normalized, token)?;
    Ok(Sensitivities { s, entries, shared: Some("a shared form was asked for".to_owned()) })
}
