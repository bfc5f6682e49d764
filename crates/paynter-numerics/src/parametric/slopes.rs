//! Derivatives of the matrices of a linear model by its parameters.

use paynter_algebra::{EvalError, Expr, Pool, Symbol};
use paynter_equations::{Sparse as Symbolic, StateSpace};
use rustc_hash::FxHashMap;

use crate::linalg::{Matrices, Sparse};

/// The symbols that move with a parameter, with their derivatives by it: the
/// parameter itself with 1, and what it carries along at an operating point.
pub type Moved = Vec<(Symbol, f64)>;

/// Evaluates ∂A/∂p, ∂B/∂p, ∂C/∂p, ∂D/∂p for each parameter.
pub fn slopes(
    pool: &mut Pool,
    space: &StateSpace,
    parameters: &[Moved],
    value: &dyn Fn(Symbol) -> Option<f64>,
) -> Result<Vec<Matrices>, EvalError> {
    let mut readers: FxHashMap<Symbol, Vec<(usize, f64)>> = FxHashMap::default();
    for (k, moved) in parameters.iter().enumerate() {
        for (symbol, slope) in moved {
            readers.entry(*symbol).or_default().push((k, *slope));
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
                let slopes = entry_slopes(pool, *entry, &readers, value)?;
                known.insert(*entry, slopes);
            }
            for (k, slope) in &known[entry] {
                target(&mut all[*k]).entries.push((*i, *j, *slope));
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

/// The derivatives of one entry by the parameters it depends on.
fn entry_slopes(
    pool: &mut Pool,
    entry: Expr,
    readers: &FxHashMap<Symbol, Vec<(usize, f64)>>,
    value: &dyn Fn(Symbol) -> Option<f64>,
) -> Result<Vec<(usize, f64)>, EvalError> {
    let mut sums: Vec<(usize, f64)> = Vec::new();
    for symbol in pool.symbols(entry) {
        let Some(list) = readers.get(&symbol) else { continue };
        let slope = pool.diff(entry, symbol);
        let slope = pool.eval(slope, value)?;
        for (k, moved) in list.iter().filter(|(_, moved)| *moved != 0.0) {
            match sums.iter_mut().find(|(other, _)| other == k) {
                Some((_, sum)) => *sum += slope * moved,
                None => sums.push((*k, slope * moved)),
            }
        }
    }
    sums.retain(|(_, slope)| *slope != 0.0);
    Ok(sums)
}
