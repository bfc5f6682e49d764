//! Linear forms: sums of variables with coefficients over parameters.

use std::collections::BTreeMap;

use paynter_algebra::{Expr, Pool, Symbol};
use rustc_hash::FxHashMap;

/// A linear form by variable; coefficients are not zero.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) struct Form(pub BTreeMap<Symbol, Expr>);

impl Form {
    /// A variable alone.
    pub fn variable(pool: &Pool, symbol: Symbol) -> Form {
        Form([(symbol, pool.one())].into_iter().collect())
    }

    /// Adds factor times another form.
    pub fn add(&mut self, pool: &mut Pool, factor: Expr, other: &Form) {
        for (symbol, coefficient) in &other.0 {
            let product = pool.mul(factor, *coefficient);
            let new = match self.0.get(symbol) {
                Some(old) => pool.add(*old, product),
                None => product,
            };
            if new == pool.zero() {
                self.0.remove(symbol);
            } else {
                self.0.insert(*symbol, new);
            }
        }
    }

    /// The form times a factor.
    pub fn scaled(&self, pool: &mut Pool, factor: Expr) -> Form {
        let mut out = Form::default();
        out.add(pool, factor, self);
        out
    }

    /// The form with the values of some variables put in.
    pub fn substituted(&self, pool: &mut Pool, values: &FxHashMap<Symbol, Form>) -> Form {
        let mut out = Form::default();
        for (symbol, coefficient) in &self.0 {
            match values.get(symbol) {
                Some(form) => out.add(pool, *coefficient, form),
                None => {
                    let alone = Form::variable(pool, *symbol);
                    out.add(pool, *coefficient, &alone);
                }
            }
        }
        out
    }
}
