//! Derivatives of the matrices of a linear model by its parameters.

use paynter_algebra::poly::readable;
use paynter_algebra::{EvalError, Expr, Pool, Symbol};
use paynter_base::CancellationToken;
use paynter_equations::{Sparse as Symbolic, StateSpace};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

use crate::linalg::{Matrices, Sparse};
use crate::operating::{Accuracy, Probes};

/// The symbols that move with a parameter, with their derivatives by it: the
/// parameter itself with 1, and what it carries along at an operating point.
pub type Moved = Vec<(Symbol, f64)>;

/// Evaluates ∂A/∂p, ∂B/∂p, ∂C/∂p, ∂D/∂p for each parameter. An entry whose derivative has no finite value
/// is brought to lowest terms, where it may have one.
pub fn matrix_derivatives(
    pool: &mut Pool,
    space: &StateSpace,
    parameters: &[Moved],
    value: &dyn Fn(Symbol) -> Option<f64>,
    token: &CancellationToken,
) -> Result<Vec<Matrices>, EvalError> {
    let mut readers: FxHashMap<Symbol, Vec<(usize, f64)>> = FxHashMap::default();
    for (k, moved) in parameters.iter().enumerate() {
        for (symbol, derivative) in moved {
            readers.entry(*symbol).or_default().push((k, *derivative));
        }
    }
    let empty = |matrix: &Symbolic| Sparse::new(matrix.rows, matrix.columns);
    let blank = Matrices {
        a: empty(&space.a),
        b: space.b.iter().map(empty).collect(),
        c: empty(&space.c),
        d: space.d.iter().map(empty).collect(),
    };
    let mut all = vec![blank; parameters.len()];
    let mut known: FxHashMap<Expr, Vec<(usize, f64)>> = FxHashMap::default();
    let mut fill = |pool: &mut Pool,
                    matrix: &Symbolic,
                    target: &dyn Fn(&mut Matrices) -> &mut Sparse<f64>|
     -> Result<(), EvalError> {
        for (i, j, entry) in &matrix.entries {
            if !known.contains_key(entry) {
                let derived = entry_derivatives(pool, *entry, &readers, value)
                    .or_else(|_| derivatives_along(pool, *entry, parameters, value));
                let derivatives = match derived {
                    Ok(derivatives) => derivatives,
                    Err(_) => {
                        let lowest = readable(pool, *entry, token);
                        entry_derivatives(pool, lowest, &readers, value)
                            .or_else(|_| derivatives_along(pool, lowest, parameters, value))?
                    }
                };
                known.insert(*entry, derivatives);
            }
            for (k, derivative) in &known[entry] {
                target(&mut all[*k]).entries.push((*i, *j, *derivative));
            }
        }
        Ok(())
    };
    fill(pool, &space.a, &|m| &mut m.a)?;
    fill(pool, &space.c, &|m| &mut m.c)?;
    for (order, matrix) in space.b.iter().enumerate() {
        fill(pool, matrix, &|m| &mut m.b[order])?;
    }
    for (order, matrix) in space.d.iter().enumerate() {
        fill(pool, matrix, &|m| &mut m.d[order])?;
    }
    Ok(all)
}

/// The derivatives of one entry by all parameters, for each along what moves with it.
fn derivatives_along(
    pool: &mut Pool,
    entry: Expr,
    parameters: &[Moved],
    value: &dyn Fn(Symbol) -> Option<f64>,
) -> Result<Vec<(usize, f64)>, EvalError> {
    let mut derivatives = Vec::new();
    for (k, moved) in parameters.iter().enumerate() {
        let mut sum = 0.0;
        for (derivative, speed) in along(pool, entry, moved, value) {
            sum += pool.eval(derivative, value)? * speed;
        }
        if sum != 0.0 {
            derivatives.push((k, sum));
        }
    }
    Ok(derivatives)
}

/// The derivatives of an entry by the symbols that move, with their speeds. What stays at zero is
/// put in first: at q = 0, sqrt(abs(q/c)) has a derivative by c as long as q stays.
fn along(
    pool: &mut Pool,
    entry: Expr,
    moved: &Moved,
    value: &dyn Fn(Symbol) -> Option<f64>,
) -> Vec<(Expr, f64)> {
    let zero = pool.zero();
    let inside = pool.symbols(entry);
    let moving: Moved =
        moved.iter().copied().filter(|(symbol, speed)| *speed != 0.0 && inside.contains(symbol)).collect();
    let stays =
        |symbol: &Symbol| moving.iter().all(|(other, _)| other != symbol) && value(*symbol) == Some(0.0);
    let resting: FxHashMap<Symbol, Expr> =
        inside.iter().filter(|symbol| stays(symbol)).map(|symbol| (*symbol, zero)).collect();
    let entry = pool.substitute(entry, &resting);
    moving.into_iter().map(|(symbol, speed)| (pool.diff(entry, symbol), speed)).collect()
}

/// The parameters, by place, by which entries have infinite derivatives at a point.
pub fn infinite_derivatives(
    pool: &mut Pool,
    space: &StateSpace,
    parameters: &[Moved],
    probes: &Probes,
) -> Vec<usize> {
    let entries: BTreeSet<Expr> = space.entries().into_iter().collect();
    let (mut owners, mut derivatives) = (Vec::new(), Vec::new());
    for entry in entries {
        for symbol in pool.symbols(entry) {
            owners.push(entry);
            derivatives.push(pool.diff(entry, symbol));
        }
    }
    let found = owners.into_iter().zip(probes.judge(pool, &derivatives));
    // Most entries are smooth.
    let infinite: BTreeSet<Expr> =
        found.filter(|(_, trust)| *trust == Accuracy::Infinite).map(|(e, _)| e).collect();
    let (mut movers, mut derivatives, mut sums) = (Vec::new(), Vec::new(), Vec::new());
    for entry in infinite {
        for (k, moved) in parameters.iter().enumerate() {
            let mut sum = Vec::new();
            for (derivative, speed) in along(pool, entry, moved, &|symbol| probes.base.get(&symbol).copied())
            {
                sum.push((derivatives.len(), speed));
                derivatives.push(derivative);
            }
            movers.push(k);
            sums.push(sum);
        }
    }
    let judged = probes.judge_sums(pool, &derivatives, &sums);
    let mut infinite: Vec<usize> = movers
        .into_iter()
        .zip(judged)
        .filter(|(_, trust)| *trust == Accuracy::Infinite)
        .map(|(k, _)| k)
        .collect();
    infinite.sort_unstable();
    infinite.dedup();
    infinite
}

/// The derivatives of one entry by the parameters it depends on.
fn entry_derivatives(
    pool: &mut Pool,
    entry: Expr,
    readers: &FxHashMap<Symbol, Vec<(usize, f64)>>,
    value: &dyn Fn(Symbol) -> Option<f64>,
) -> Result<Vec<(usize, f64)>, EvalError> {
    let mut sums: Vec<(usize, f64)> = Vec::new();
    for symbol in pool.symbols(entry) {
        let Some(list) = readers.get(&symbol) else { continue };
        let derivative = pool.diff(entry, symbol);
        let derivative = pool.eval(derivative, value)?;
        for (k, moved) in list.iter().filter(|(_, moved)| *moved != 0.0) {
            match sums.iter_mut().find(|(other, _)| other == k) {
                Some((_, sum)) => *sum += derivative * moved,
                None => sums.push((*k, derivative * moved)),
            }
        }
    }
    sums.retain(|(_, derivative)| *derivative != 0.0);
    Ok(sums)
}
