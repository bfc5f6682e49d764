//! Results in the form a person would write: lowest terms where that is
//! shorter, the derived form where not.

use paynter_algebra::poly::{nicest, readable};
use paynter_algebra::{Expr, Pool, Symbol};
use paynter_base::CancellationToken;

use crate::{Equations, Sparse, StateSpace};

/// Rates and outputs with more nodes than this are left as they were derived.
const NODES: usize = 400;

impl Equations {
    /// Rewrites rates, outputs, dependent states and constraints for reading.
    /// Linear ones are collected by states and inputs where that is shorter.
    pub fn make_readable(&mut self, pool: &mut Pool, token: &CancellationToken) {
        let mut variables: Vec<Symbol> = self.states.iter().map(|state| state.symbol).collect();
        variables.extend(self.inputs.iter().flat_map(|input| input.symbols.iter().copied()));
        variables.sort_unstable();
        let rewrite = |pool: &mut Pool, e: Expr| {
            if pool.reachable(&[e]).len() > NODES {
                return e;
            }
            let whole = readable(pool, e, token);
            match collected(pool, e, &variables, token) {
                Some(sum) => nicest(pool, &[whole, sum, e]),
                None => whole,
            }
        };
        for rate in &mut self.rates {
            *rate = rewrite(pool, *rate);
        }
        for output in &mut self.outputs {
            output.value = rewrite(pool, output.value);
        }
        for dependent in &mut self.dependent {
            dependent.value = rewrite(pool, dependent.value);
        }
    }
}

/// The same linear form with each coefficient in lowest terms.
fn collected(pool: &mut Pool, e: Expr, variables: &[Symbol], token: &CancellationToken) -> Option<Expr> {
    let present: Vec<Symbol> =
        pool.symbols(e).into_iter().filter(|symbol| variables.binary_search(symbol).is_ok()).collect();
    let (coefficients, rest) = pool.linear_parts(e, &present)?;
    let mut terms = vec![readable(pool, rest, token)];
    for (symbol, coefficient) in present.iter().zip(coefficients) {
        let coefficient = readable(pool, coefficient, token);
        let variable = pool.var(*symbol);
        terms.push(pool.mul(coefficient, variable));
    }
    Some(pool.sum(&terms))
}

impl StateSpace {
    /// Brings every entry to lowest terms where that is shorter.
    pub fn make_readable(&mut self, pool: &mut Pool, token: &CancellationToken) {
        let matrices = [&mut self.a, &mut self.c].into_iter().chain(&mut self.b).chain(&mut self.d);
        for matrix in matrices {
            matrix.make_readable(pool, token);
        }
        for list in [&mut self.offset.0, &mut self.offset.1] {
            for entry in list {
                *entry = readable(pool, *entry, token);
            }
        }
    }
}

impl Sparse {
    fn make_readable(&mut self, pool: &mut Pool, token: &CancellationToken) {
        for (_, _, entry) in &mut self.entries {
            *entry = readable(pool, *entry, token);
        }
    }

    /// The entry at a place, zero where there is none.
    pub fn get(&self, pool: &Pool, row: usize, column: usize) -> Expr {
        match self.entries.binary_search_by_key(&(row, column), |(i, j, _)| (*i, *j)) {
            Ok(k) => self.entries[k].2,
            Err(_) => pool.zero(),
        }
    }
}
