//! Transfer functions: expanded rational functions in s and the parameters
//! under a budget, or the same as a shared graph of expressions at any size.

use paynter_algebra::poly::{Basis, Budget, Fraction, Matrix, Poly, PolyError, Work};
use paynter_algebra::{Expr, Pool, Symbol};
use paynter_base::CancellationToken;
use std::collections::BTreeMap;

use crate::tolerance::{READABLE_STATES, READABLE_TERMS};
use crate::{Equations, Pivots, QueryError, Sparse, StateSpace, System};

/// The transfer matrix Y = H(s) U.
#[derive(Debug, Clone)]
pub struct Transfer {
    /// The Laplace variable.
    pub s: Symbol,
    /// The characteristic polynomial, primitive, with positive leading coefficient; absent in the shared form.
    pub denominator: Option<Expr>,
    /// One entry for each output and input, outputs first.
    pub entries: Vec<Entry>,
    /// Why the entries are not expanded, if they are not.
    pub shared: Option<String>,
}

/// One transfer function.
#[derive(Debug, Clone)]
pub struct Entry {
    /// Place among the outputs.
    pub output: usize,
    /// Place among the inputs.
    pub input: usize,
    /// Numerator in lowest terms; in the shared form the whole function.
    pub num: Expr,
    /// Denominator in lowest terms; in the shared form 1.
    pub den: Expr,
}

/// Finds the transfer matrix of a linear model.
pub fn transfer(
    pool: &mut Pool,
    equations: &Equations,
    space: &StateSpace,
    budget: Budget,
    token: &CancellationToken,
) -> Result<Transfer, QueryError> {
    let s = pool.symbol("s");
    match expanded(pool, equations, space, s, budget, token) {
        Ok(transfer) => Ok(transfer),
        Err(PolyError::Cancelled) => Err(QueryError::Cancelled),
        Err(error) => {
            let entries = shared(pool, equations, space, s, token)?;
            Ok(Transfer { s, denominator: None, entries, shared: Some(error.to_string()) })
        }
    }
}

/// Finds the characteristic polynomial of a linear model with its variable s, primitive, with positive
/// leading coefficient; nothing where it is longer than the budget allows.
pub fn characteristic(
    pool: &mut Pool,
    equations: &Equations,
    space: &StateSpace,
    budget: Budget,
    token: &CancellationToken,
) -> Result<Option<(Expr, Symbol)>, QueryError> {
    let s = pool.symbol("s");
    let work = Work::new(budget, token);
    let mut basis = Basis::new(pool, &[s]);
    let found = pencil(pool, equations, space, &mut basis, &work)
        .and_then(|pencil| primitive(pencil.matrix.determinant(&work)?, &work));
    match found {
        Ok(polynomial) => Ok(Some((basis.poly_expression(pool, &polynomial), s))),
        Err(PolyError::Cancelled) => Err(QueryError::Cancelled),
        Err(_) => Ok(None),
    }
}

/// Finds the characteristic polynomial with its variable s, where a person can read it.
pub fn readable_characteristic(
    pool: &mut Pool,
    equations: &Equations,
    space: &StateSpace,
    token: &CancellationToken,
) -> Result<Option<(Expr, Symbol)>, QueryError> {
    if equations.states.len() > READABLE_STATES {
        return Ok(None);
    }
    // The order of terms is that of the entries in lowest terms, whatever they were derived as.
    let mut space = space.clone();
    space.make_readable(pool, token);
    characteristic(pool, equations, &space, Budget::of_terms(READABLE_TERMS), token)
}

/// Takes what is free of s out of a polynomial, and makes its leading coefficient positive.
fn primitive(polynomial: Poly, work: &Work) -> Result<Poly, PolyError> {
    let content = polynomial.content_in(0, work)?;
    let polynomial = polynomial.div_exact(&content, work)?.unwrap_or(polynomial);
    Ok(if polynomial.is_negative() { polynomial.neg() } else { polynomial })
}

/// The pencil with polynomial entries: columns are scaled by the denominators
/// in them (flows instead of momenta: s·L + R, not s + R/L), then rows.
pub(crate) struct Pencil {
    pub matrix: Matrix,
    pub c: Vec<Vec<Poly>>,
    pub b: Vec<Vec<Poly>>,
    pub d: Vec<Vec<Fraction>>,
}

fn expanded(
    pool: &mut Pool,
    equations: &Equations,
    space: &StateSpace,
    s: Symbol,
    budget: Budget,
    token: &CancellationToken,
) -> Result<Transfer, PolyError> {
    let work = Work::new(budget, token);
    let mut basis = Basis::new(pool, &[s]);
    let pencil = pencil(pool, equations, space, &mut basis, &work)?;
    let rows: Vec<&[Poly]> = pencil.c.iter().map(Vec::as_slice).collect();
    let columns: Vec<&[Poly]> = pencil.b.iter().map(Vec::as_slice).collect();
    let (characteristic, dynamic) = pencil.matrix.transfer_matrix(&rows, &columns, &work)?;
    let characteristic = primitive(characteristic, &work)?;
    let unreduced = basis.poly_expression(pool, &characteristic);
    let mut denominator = unreduced;
    // As powers of roots become what they are roots of, further factors are common.
    let mut again = basis.has_relations().then(|| Basis::new(pool, &[s]));
    if let Some(basis) = &mut again
        && let Some(polynomial) = basis.polynomial(pool, denominator, &work)?
    {
        denominator = basis.poly_expression(pool, &primitive(polynomial, &work)?);
    }
    let mut entries = Vec::new();
    for (output, row) in dynamic.iter().enumerate() {
        for (input, dynamic) in row.iter().enumerate() {
            let sum = dynamic.add(&pencil.d[output][input], &work)?;
            let num = basis.poly_expression(pool, sum.numerator());
            let den = match *sum.denominator() == characteristic {
                true => unreduced,
                false => basis.poly_expression(pool, sum.denominator()),
            };
            let (num, den) = match &mut again {
                Some(basis) => {
                    let quotient = pool.div(num, den);
                    let lowest = basis.fraction(pool, quotient, &work)?;
                    let (num, den) = (lowest.numerator(), lowest.denominator());
                    (basis.poly_expression(pool, num), basis.poly_expression(pool, den))
                }
                None => (num, den),
            };
            entries.push(Entry { output, input, num, den });
        }
    }
    let denominator = Some(denominator);
    Ok(Transfer { s, denominator, entries, shared: None })
}

pub(crate) fn pencil(
    pool: &mut Pool,
    equations: &Equations,
    space: &StateSpace,
    basis: &mut Basis,
    work: &Work,
) -> Result<Pencil, PolyError> {
    let n = equations.states.len();
    let (inputs, outputs) = (equations.inputs.len(), equations.outputs.len());
    let s = Poly::variable(0)?;
    let a = fractions(pool, basis, &space.a, work)?;
    let c = fractions(pool, basis, &space.c, work)?;
    let b = by_order(pool, basis, &space.b, n, inputs, &s, work)?;
    let d = by_order(pool, basis, &space.d, outputs, inputs, &s, work)?;
    let mut columns = vec![Poly::one(); n];
    for (_, j, entry) in a.iter().chain(&c) {
        columns[*j] = columns[*j].lcm(entry.denominator(), work)?;
    }
    let mut rows = vec![Poly::one(); n];
    for (i, row) in b.iter().enumerate() {
        for entry in row {
            rows[i] = rows[i].lcm(entry.denominator(), work)?;
        }
    }
    let scaled = |entry: &Fraction, factor: &Poly| -> Result<Poly, PolyError> {
        let quotient = factor.div_exact(entry.denominator(), work)?.unwrap_or_else(Poly::zero);
        entry.numerator().mul(&quotient, work)
    };
    let mut matrix = Matrix::new(n, n);
    for j in 0..n {
        let diagonal = s.mul(&columns[j], work)?.mul(&rows[j], work)?;
        matrix.add(j, j, &diagonal, work)?;
    }
    for (i, j, entry) in &a {
        let value = scaled(entry, &columns[*j])?.mul(&rows[*i], work)?.neg();
        matrix.add(*i, *j, &value, work)?;
    }
    let mut c_rows = vec![vec![Poly::zero(); n]; outputs];
    for (i, j, entry) in &c {
        c_rows[*i][*j] = scaled(entry, &columns[*j])?;
    }
    let mut b_columns = vec![vec![Poly::zero(); n]; inputs];
    for (i, row) in b.iter().enumerate() {
        for (j, entry) in row.iter().enumerate() {
            b_columns[j][i] = scaled(entry, &rows[i])?;
        }
    }
    Ok(Pencil { matrix, c: c_rows, b: b_columns, d })
}

/// Entries of a matrix as rational functions.
fn fractions(
    pool: &mut Pool,
    basis: &mut Basis,
    matrix: &Sparse,
    work: &Work,
) -> Result<Vec<(usize, usize, Fraction)>, PolyError> {
    let values: Vec<Expr> = matrix.entries.iter().map(|(_, _, entry)| *entry).collect();
    let list = basis.fractions(pool, &values, work)?;
    Ok(matrix.entries.iter().zip(list).map(|((i, j, _), entry)| (*i, *j, entry)).collect())
}

/// Σ M_k s^k over the derivatives of inputs, as a dense matrix.
fn by_order(
    pool: &mut Pool,
    basis: &mut Basis,
    matrices: &[Sparse],
    rows: usize,
    columns: usize,
    s: &Poly,
    work: &Work,
) -> Result<Vec<Vec<Fraction>>, PolyError> {
    let mut out = vec![vec![Fraction::zero(); columns]; rows];
    let mut power = Fraction::one();
    let s = Fraction::new(s.clone(), Poly::one(), work)?;
    for matrix in matrices {
        for (i, j, entry) in fractions(pool, basis, matrix, work)? {
            let term = entry.mul(&power, work)?;
            out[i][j] = out[i][j].add(&term, work)?;
        }
        power = power.mul(&s, work)?;
    }
    Ok(out)
}

/// The transfer functions by sparse elimination on shared expressions.
pub(crate) fn shared(
    pool: &mut Pool,
    equations: &Equations,
    space: &StateSpace,
    s: Symbol,
    token: &CancellationToken,
) -> Result<Vec<Entry>, QueryError> {
    token.check()?;
    let n = equations.states.len();
    let inputs = equations.inputs.len();
    let s = pool.var(s);
    let zero = pool.zero();
    let mut rows: Vec<BTreeMap<usize, Expr>> = vec![BTreeMap::new(); n];
    for (i, row) in rows.iter_mut().enumerate() {
        row.insert(i, s);
    }
    for (i, j, entry) in &space.a.entries {
        let old = rows[*i].get(j).copied().unwrap_or(zero);
        let new = pool.sub(old, *entry);
        rows[*i].insert(*j, new);
    }
    let mut right = vec![vec![zero; inputs]; n];
    let mut direct = vec![vec![zero; inputs]; equations.outputs.len()];
    for (target, matrices) in [(&mut right, &space.b), (&mut direct, &space.d)] {
        for (k, matrix) in matrices.iter().enumerate() {
            let order = pool.int(k as i64);
            let power = pool.pow(s, order);
            for (i, j, entry) in &matrix.entries {
                let term = pool.mul(*entry, power);
                target[*i][*j] = pool.add(target[*i][*j], term);
            }
        }
    }
    let states = System { rows, right }.solve(pool, Pivots::Any).map_err(|_| QueryError::Cancelled)?;
    token.check()?;
    let one = pool.one();
    let mut entries = Vec::new();
    for output in 0..equations.outputs.len() {
        for input in 0..inputs {
            let mut terms = vec![direct[output][input]];
            for (_, j, entry) in space.c.entries.iter().filter(|(i, _, _)| *i == output) {
                terms.push(pool.mul(*entry, states[*j][input]));
            }
            let num = pool.sum(&terms);
            entries.push(Entry { output, input, num, den: one });
        }
    }
    Ok(entries)
}
