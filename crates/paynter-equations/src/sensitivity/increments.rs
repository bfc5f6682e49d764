//! The columns of the incremental model, (16) and (17) of Borutzky & Granda:
//! Δx' = A Δx + B̃ Δp, Δy = C Δx + D̃ Δp with B̃ = ∂f/∂p, D̃ = ∂g/∂p over the
//! nominal states and inputs.

use paynter_algebra::poly::LowestTerms;
use paynter_algebra::{Expr, Pool};
use paynter_base::CancellationToken;

use super::Parameter;
use crate::{Equations, Sparse};

/// B̃ and D̃: one column for each parameter.
#[derive(Debug, Clone)]
pub struct Increments {
    /// Of the rates, over nominal states and inputs.
    pub rates: Sparse,
    /// Of the outputs.
    pub outputs: Sparse,
}

/// Differentiates rates and outputs by the parameters.
pub fn increments(
    pool: &mut Pool,
    equations: &Equations,
    parameters: &[Parameter],
    token: &CancellationToken,
) -> Increments {
    let outputs: Vec<Expr> = equations.outputs.iter().map(|output| output.value).collect();
    let mut lowest = LowestTerms::new(token);
    Increments {
        rates: columns(pool, &equations.rates, parameters, &mut lowest),
        outputs: columns(pool, &outputs, parameters, &mut lowest),
    }
}

fn columns(pool: &mut Pool, rows: &[Expr], parameters: &[Parameter], lowest: &mut LowestTerms) -> Sparse {
    let zero = pool.zero();
    let mut entries = Vec::new();
    for (i, row) in rows.iter().enumerate() {
        let inside = pool.symbols(*row);
        for (j, parameter) in parameters.iter().enumerate() {
            if inside.binary_search(&parameter.symbol).is_err() {
                continue;
            }
            let derivative = pool.diff(*row, parameter.symbol);
            let derivative = lowest.of(pool, derivative);
            if derivative != zero && !pool.is_zero(derivative) {
                entries.push((i, j, derivative));
            }
        }
    }
    Sparse { rows: rows.len(), columns: parameters.len(), entries }
}
