//! All sensitivities as a shared graph of expressions: one elimination for the
//! transfer functions, then one reverse sweep through each.

use paynter_algebra::{Expr, Pool, Symbol};
use paynter_base::CancellationToken;
use rustc_hash::FxHashMap;

use super::{Parameter, Sensitivity};
use crate::{Equations, QueryError, StateSpace, transfer};

pub(super) fn shared(
    pool: &mut Pool,
    equations: &Equations,
    space: &StateSpace,
    s: Symbol,
    parameters: &[Parameter],
    normalized: bool,
    token: &CancellationToken,
) -> Result<Vec<Sensitivity>, QueryError> {
    let functions = transfer::shared(pool, equations, space, s, token)?;
    let (symbols, place) = variables(parameters);
    let (one, zero) = (pool.one(), pool.zero());
    let mut entries = Vec::with_capacity(functions.len() * parameters.len());
    for function in &functions {
        token.check()?;
        if normalized && function.num == zero {
            continue;
        }
        let derivatives = pool.gradient(function.num, &symbols);
        for (k, parameter) in parameters.iter().enumerate() {
            let mut terms: Vec<Expr> = vec![derivatives[place[&parameter.symbol]]];
            for (symbol, moved) in &parameter.carried {
                terms.push(pool.mul(derivatives[place[symbol]], *moved));
            }
            let mut num = pool.sum(&terms);
            if normalized {
                let value = pool.var(parameter.symbol);
                let relative = pool.div(value, function.num);
                num = pool.mul(num, relative);
            }
            entries.push(Sensitivity {
                output: function.output,
                input: function.input,
                parameter: k,
                num,
                den: one,
            });
        }
    }
    Ok(entries)
}

/// All symbols to differentiate by, each once, with their places.
fn variables(parameters: &[Parameter]) -> (Vec<Symbol>, FxHashMap<Symbol, usize>) {
    let mut symbols = Vec::new();
    let mut place = FxHashMap::default();
    for parameter in parameters {
        let carried = parameter.carried.iter().map(|(symbol, _)| *symbol);
        for symbol in std::iter::once(parameter.symbol).chain(carried) {
            place.entry(symbol).or_insert_with(|| {
                symbols.push(symbol);
                symbols.len() - 1
            });
        }
    }
    (symbols, place)
}
