//! A loop opened: the loop gain of a closed model, from how a disturbance comes back.

use std::sync::Arc;

use paynter_algebra::{Expr, Pool};
use paynter_base::{CancellationToken, Diagnostic, code};
use paynter_equations::{Equations, Output, QueryError, Sparse, StateSpace};
use rustc_hash::FxHashMap;

use super::{LinearModel, refused};

/// A loop by its transfer functions, in symbols.
#[derive(Debug, Clone)]
pub struct Opened {
    /// L from where the loop is opened back to there, closed by negative feedback.
    pub open: LinearModel,
    /// S = 1/(1 + L) and T = L/(1 + L).
    pub closed: LinearModel,
}

impl LinearModel {
    /// The loop that is closed between an output y and the input d that is added to what reads it:
    /// v = y + d, L = −y/v, S = v/d, T = −y/d.
    pub fn opened(
        &self,
        pool: &mut Pool,
        input: usize,
        output: usize,
        token: &CancellationToken,
    ) -> Result<Opened, QueryError> {
        let zero = pool.zero();
        let acts = |(_, j, e): &&(usize, usize, Expr)| *j == input && *e != zero;
        let on_states = self.space.b.iter().skip(1).flat_map(|b| &b.entries).find(acts);
        let back = |entry: &&(usize, usize, Expr)| entry.0 == output && acts(entry);
        let on_output = self.space.d.iter().skip(1).flat_map(|d| &d.entries).find(back);
        if on_states.or(on_output).is_some() {
            let message = "what is injected acts by its derivative: the loop gain here is not proper";
            return Err(refused(Diagnostic::new(code::IMPROPER_LOOP, message)));
        }
        let n = self.space.a.rows;
        // The derivatives of a nonlinear model are taken where nothing is injected.
        let symbols = self.equations.inputs[input].symbols.iter();
        let nothing = FxHashMap::from_iter(symbols.map(|symbol| (*symbol, zero)));
        let mut own = self.space.a.clone();
        for (_, _, entry) in &mut own.entries {
            *entry = pool.substitute(*entry, &nothing);
        }
        own.entries.retain(|(_, _, entry)| *entry != zero);
        let mut entry = |matrix: &Sparse, i: usize, j: usize| {
            let value = matrix.get(pool, i, j);
            pool.substitute(value, &nothing)
        };
        let b: Vec<Expr> = (0..n).map(|i| entry(&self.space.b[0], i, input)).collect();
        let c: Vec<Expr> = (0..n).map(|j| entry(&self.space.c, output, j)).collect();
        let d = entry(&self.space.d[0], output, input);
        let one = pool.one();
        let direct = pool.add(one, d);
        // y = Cx + D(v − y), x' = Ax + B(v − y).
        let scaled: Vec<Expr> = b.iter().map(|b| pool.div(*b, direct)).collect();
        let mut a = own.clone();
        a.entries.retain(|_| false);
        for i in 0..n {
            for j in 0..n {
                let (own, product) = (own.get(pool, i, j), pool.mul(scaled[i], c[j]));
                a.entries.push((i, j, pool.sub(own, product)));
            }
        }
        a.entries.retain(|(_, _, entry)| *entry != pool.zero());
        let returned: Vec<Expr> = c
            .iter()
            .map(|c| {
                let quotient = pool.div(*c, direct);
                pool.neg(quotient)
            })
            .collect();
        let quotient = pool.div(d, direct);
        let feed = pool.neg(quotient);
        let open = self.single(pool, a, &scaled, &[returned], &[feed], &["L"], token);
        let (minus, less): (Vec<Expr>, Expr) = (c.iter().map(|c| pool.neg(*c)).collect(), pool.neg(d));
        let rows = [c, minus];
        let closed = self.single(pool, own, &b, &rows, &[direct, less], &["S", "T"], token);
        Ok(Opened { open, closed })
    }

    /// A model of one input and some outputs with these matrices.
    #[expect(clippy::too_many_arguments, reason = "four matrices, with what they are named and read by")]
    fn single(
        &self,
        pool: &mut Pool,
        a: Sparse,
        b: &[Expr],
        c: &[Vec<Expr>],
        d: &[Expr],
        names: &[&str],
        token: &CancellationToken,
    ) -> LinearModel {
        let zero = pool.zero();
        let sparse = |rows: usize, columns: usize, entry: &dyn Fn(usize, usize) -> Expr| {
            let places = (0..rows).flat_map(|i| (0..columns).map(move |j| (i, j)));
            let entries = places.map(|(i, j)| (i, j, entry(i, j))).filter(|(_, _, e)| *e != zero).collect();
            Sparse { rows, columns, entries }
        };
        let n = a.rows;
        let mut space = StateSpace {
            a,
            b: vec![sparse(n, 1, &|i, _| b[i])],
            c: sparse(c.len(), n, &|i, j| c[i][j]),
            d: vec![sparse(c.len(), 1, &|i, _| d[i])],
            offset: (vec![zero; n], vec![zero; c.len()]),
        };
        space.make_readable(pool, token);
        let mut equations = Equations::clone(&self.equations);
        equations.outputs =
            names.iter().map(|name| Output { name: (*name).to_owned(), value: zero }).collect();
        equations.inputs.truncate(1);
        equations.inputs.iter_mut().for_each(|input| input.name = "d".to_owned());
        LinearModel::new(Arc::new(equations), space, self.point.clone(), self.values.clone())
    }
}
