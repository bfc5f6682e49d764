//! Results in the form a person would write: lowest terms where that is
//! shorter, the derived form where not.

use paynter_algebra::poly::LowestTerms;
use paynter_algebra::{Expr, Pool, Symbol};
use paynter_base::CancellationToken;

use crate::tolerance::SIMPLIFIED_NODES;
use crate::{Equations, Sparse, StateSpace};

impl Equations {
    /// Rewrites rates, outputs, dependent states and constraints for reading, and the matrices of a
    /// linear model. Linear rates are collected by states and inputs where that is shorter.
    pub fn make_readable(
        &mut self,
        space: Option<&mut StateSpace>,
        pool: &mut Pool,
        token: &CancellationToken,
    ) {
        let mut lowest = LowestTerms::new(token);
        if let Some(space) = space {
            space.rewrite_entries(pool, &mut lowest);
        }
        let mut variables: Vec<Symbol> = self.states.iter().map(|state| state.symbol).collect();
        variables.extend(self.inputs.iter().flat_map(|input| input.symbols.iter().copied()));
        variables.sort_unstable();
        let mut rewrite = |pool: &mut Pool, e: Expr| {
            if pool.reachable(&[e]).len() > SIMPLIFIED_NODES {
                return e;
            }
            let whole = lowest.of(pool, e);
            match collected(pool, e, &variables, &mut lowest) {
                Some(sum) => lowest.nicest(pool, &[whole, sum, e]),
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
fn collected(pool: &mut Pool, e: Expr, variables: &[Symbol], lowest: &mut LowestTerms) -> Option<Expr> {
    let present: Vec<Symbol> =
        pool.symbols(e).into_iter().filter(|symbol| variables.binary_search(symbol).is_ok()).collect();
    let (coefficients, rest) = pool.linear_parts(e, &present)?;
    let mut terms = vec![lowest.of(pool, rest)];
    for (symbol, coefficient) in present.iter().zip(coefficients) {
        let coefficient = lowest.of(pool, coefficient);
        let variable = pool.var(*symbol);
        terms.push(pool.mul(coefficient, variable));
    }
    Some(pool.sum(&terms))
}

impl StateSpace {
    /// Brings every entry to lowest terms where that is shorter.
    pub fn make_readable(&mut self, pool: &mut Pool, token: &CancellationToken) {
        self.rewrite_entries(pool, &mut LowestTerms::new(token));
    }

    fn rewrite_entries(&mut self, pool: &mut Pool, lowest: &mut LowestTerms) {
        let matrices = [&mut self.a, &mut self.c].into_iter().chain(&mut self.b).chain(&mut self.d);
        let entries = matrices.flat_map(|matrix| matrix.entries.iter_mut().map(|(_, _, value)| value));
        for value in entries.chain(&mut self.offset.0).chain(&mut self.offset.1) {
            *value = lowest.of(pool, *value);
        }
    }
}

impl Sparse {
    /// The entry at a place, zero where there is none.
    pub fn get(&self, pool: &Pool, row: usize, column: usize) -> Expr {
        match self.entries.binary_search_by_key(&(row, column), |(i, j, _)| (*i, *j)) {
            Ok(k) => self.entries[k].2,
            Err(_) => pool.zero(),
        }
    }
}
