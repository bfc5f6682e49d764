//! Controllability, observability and relative degree of linear models: from
//! the structure, for almost all values of the parameters, and exactly at
//! their nominal values.
//!
//! Structural (Sueur and Dauphin-Tanguy): a causal path joins every state with
//! an input, and [A B] has full rank, which is to say that every storage can
//! take derivative causality once sources may be dualised. Dually for outputs.
//! Derivatives of inputs are moved into the state, x − Σ …, which turns their
//! matrices B_k into one, Σ A^k B_k.

use std::collections::BTreeSet;

use paynter_algebra::field::FIELD;
use paynter_algebra::{Expr, Pool, Rational, Residues, Symbol};
use paynter_base::{CancellationToken, Cancelled};
use rustc_hash::FxHashMap;

use crate::modular::{Modular, annihilators, krylov_basis, krylov_dimension, minimal_order, random};
use crate::tolerance::{KRYLOV_STATES, MODULAR_POINTS};
use crate::{Equations, Sparse, StateSpace};

/// What the structure of a model says about it.
#[derive(Debug, Clone)]
pub struct Structure {
    /// The rank of A for almost all parameters.
    pub rank: usize,
    /// Whether inputs move all states.
    pub controllability: Verdict,
    /// Whether outputs show all states.
    pub observability: Verdict,
    /// By output, then input.
    pub degrees: Vec<RelativeDegree>,
}

/// Whether all states are in reach, of inputs or of outputs.
#[derive(Debug, Clone)]
pub struct Verdict {
    /// By structure.
    pub structural: bool,
    /// States that no causal path joins with any input (output).
    pub unreached: Vec<usize>,
    /// The rank of [A B] (of A over C) for almost all parameters.
    pub rank: usize,
    /// States in combinations that no input moves and that do not change by themselves.
    pub stuck: Vec<usize>,
    /// At nominal values; nothing where the model is undefined there or too large.
    pub nominal: Option<Nominal>,
}

/// The same at nominal values.
#[derive(Debug, Clone)]
pub struct Nominal {
    /// The dimension of the controllable space, or of what can be observed.
    pub dimension: usize,
    /// Independent combinations of states that evolve on their own (that no output shows), as
    /// state and factor; empty where they are not simple numbers.
    pub hidden: Vec<Vec<(usize, Rational)>>,
    /// Their dynamics, ξ' = M ξ.
    pub dynamics: Vec<Vec<Rational>>,
}

/// How often an output must be differentiated until an input shows in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RelativeDegree {
    /// Place among the outputs.
    pub output: usize,
    /// Place among the inputs.
    pub input: usize,
    /// For almost all parameters; nothing where the input never shows. Negative where derivatives of it do.
    pub degree: Option<i64>,
    /// By the shortest causal path alone.
    pub path: Option<i64>,
    /// At nominal values, where they can be put in.
    pub nominal: Option<Option<i64>>,
}

/// Analyses the structure of a linear model; `nominal` are its matrices with what gives symbols their values,
/// where they have any.
pub fn structure(
    pool: &mut Pool,
    equations: &Equations,
    space: &StateSpace,
    nominal: Option<(&StateSpace, &FxHashMap<Symbol, Expr>)>,
    token: &CancellationToken,
) -> Result<Structure, Cancelled> {
    let generic = (1..=MODULAR_POINTS).find_map(|seed| Numbers::new(pool, space, &mut Residues::new(seed)));
    let generic = generic.unwrap_or_else(|| Numbers::empty(space));
    let exact = nominal.map(|(space, values)| exact_space(pool, space, values));
    let at_nominal = exact.as_ref().and_then(|exact| Numbers::new(pool, exact, &mut Residues::new(1)));
    let rational = exact.as_ref().and_then(|exact| rational(pool, &exact.a));
    let n = space.a.rows;
    let rank = generic.a.eliminate(token)?.rank();
    let back = generic.a.transpose();
    let dual = at_nominal.as_ref().map(|numbers| numbers.a.transpose());
    let mut controllability = verdict(&generic.a, &generic.effective_inputs(), n, token)?;
    let mut observability = verdict(&back, &generic.c, n, token)?;
    if let (Some(numbers), Some(dual)) = (&at_nominal, &dual) {
        let inputs = numbers.effective_inputs();
        // A minimal realisation is both, which one run tells.
        if minimal_order(&numbers.a, &mixed(&inputs, n), &mixed(&numbers.c, n), token)? == n {
            let all = || Some(Nominal { dimension: n, hidden: Vec::new(), dynamics: Vec::new() });
            (controllability.nominal, observability.nominal) = (all(), all());
        } else {
            controllability.nominal = judge(&numbers.a, &inputs, rational.as_deref(), false, token)?;
            observability.nominal = judge(dual, &numbers.c, rational.as_deref(), true, token)?;
        }
    }
    let mut degrees = Vec::new();
    let first = generic.degrees(token)?;
    let second = at_nominal.as_ref().map(|numbers| numbers.degrees(token)).transpose()?;
    let paths = path_lengths(space);
    for output in 0..equations.outputs.len() {
        for input in 0..equations.inputs.len() {
            degrees.push(RelativeDegree {
                output,
                input,
                degree: first[input][output],
                path: paths[input][output],
                nominal: second.as_ref().map(|list| list[input][output]),
            });
        }
    }
    Ok(Structure { rank, controllability, observability, degrees })
}

/// The matrices with nominal values put in.
fn exact_space(pool: &mut Pool, space: &StateSpace, nominal: &FxHashMap<Symbol, Expr>) -> StateSpace {
    let mut exact = space.clone();
    let matrices = [&mut exact.a, &mut exact.c].into_iter().chain(&mut exact.b).chain(&mut exact.d);
    for matrix in matrices {
        let old: Vec<Expr> = matrix.entries.iter().map(|(_, _, entry)| *entry).collect();
        let new = pool.substitute_all(&old, nominal);
        for (entry, value) in matrix.entries.iter_mut().zip(new) {
            entry.2 = value;
        }
    }
    exact
}

/// A matrix of rational numbers by rows, if it is one.
fn rational(pool: &Pool, matrix: &Sparse) -> Option<Vec<Vec<(usize, Rational)>>> {
    let mut rows = vec![Vec::new(); matrix.rows];
    for (i, j, entry) in &matrix.entries {
        rows[*i].push((*j, pool.as_rational(*entry)?.clone()));
    }
    Some(rows)
}

/// The matrices at one point, modulo the prime.
struct Numbers {
    a: Modular,
    /// By order of derivative, then input: a column.
    b: Vec<Vec<Vec<u64>>>,
    /// By output: a row.
    c: Vec<Vec<u64>>,
    /// By order of derivative, then input: a column.
    d: Vec<Vec<Vec<u64>>>,
}

impl Numbers {
    fn new(pool: &Pool, space: &StateSpace, point: &mut Residues) -> Option<Numbers> {
        let mut numbers = Numbers::empty(space);
        for (i, j, entry) in &space.a.entries {
            let value = point.value(pool, *entry)?;
            if value != 0 {
                numbers.a.rows[*i].push((*j, value));
            }
        }
        for (i, j, entry) in &space.c.entries {
            numbers.c[*i][*j] = point.value(pool, *entry)?;
        }
        for (target, matrices) in [(&mut numbers.b, &space.b), (&mut numbers.d, &space.d)] {
            for (columns, matrix) in target.iter_mut().zip(matrices) {
                for (i, j, entry) in &matrix.entries {
                    columns[*j][*i] = point.value(pool, *entry)?;
                }
            }
        }
        Some(numbers)
    }

    fn empty(space: &StateSpace) -> Numbers {
        let columns = |list: &[Sparse]| {
            list.iter().map(|matrix| vec![vec![0; matrix.rows]; matrix.columns]).collect::<Vec<_>>()
        };
        Numbers {
            a: Modular::new(space.a.rows, space.a.columns),
            b: columns(&space.b),
            c: vec![vec![0; space.c.columns]; space.c.rows],
            d: columns(&space.d),
        }
    }

    /// Σ A^k B_k by input.
    fn effective_inputs(&self) -> Vec<Vec<u64>> {
        let inputs = self.b.first().map_or(0, Vec::len);
        let mut sums = vec![vec![0; self.a.rows.len()]; inputs];
        for columns in self.b.iter().rev() {
            for (sum, column) in sums.iter_mut().zip(columns) {
                *sum = self.a.times(sum).iter().zip(column).map(|(x, y)| FIELD.add(*x, *y)).collect();
            }
        }
        sums
    }

    /// By output: the place of the first Markov parameter that some causal path makes, unless the shortest paths
    /// cancel, and whether they do so for any. On these each state is reached once, so that all together take one
    /// pass over A.
    fn first_degrees(&self, input: usize) -> (Vec<Option<i64>>, bool) {
        let next = self.a.transpose();
        let n = self.a.rows.len();
        let (mut length, mut value): (Vec<Option<i64>>, Vec<u64>) = (vec![None; n], vec![0; n]);
        let mut level = 1 - self.b.len() as i64;
        let mut front: Vec<usize> = Vec::new();
        while level <= 1 || !front.is_empty() {
            let mut reached: Vec<usize> = Vec::new();
            let mut reach = |v: usize, add: u64, length: &mut [Option<i64>], value: &mut [u64]| {
                if *length[v].get_or_insert(level) == level {
                    value[v] = FIELD.add(value[v], add);
                    reached.push(v);
                }
            };
            for u in front {
                let from = value[u];
                next.rows[u]
                    .iter()
                    .for_each(|(v, a)| reach(*v, FIELD.mul(*a, from), &mut length, &mut value));
            }
            // A derivative of order k enters k integrations earlier.
            if let Some(columns) = usize::try_from(1 - level).ok().and_then(|k| self.b.get(k)) {
                let entries = columns[input].iter().enumerate().filter(|(_, b)| **b != 0);
                entries.for_each(|(v, b)| reach(v, *b, &mut length, &mut value));
            }
            reached.sort_unstable();
            reached.dedup();
            front = reached;
            level += 1;
        }
        let mut cancelled = false;
        let first = |(output, c): (usize, &Vec<u64>)| {
            let read = || c.iter().enumerate().filter(|(_, c)| **c != 0);
            let direct = (0..self.d.len()).filter(|k| self.d[*k][input][output] != 0).map(|k| -(k as i64));
            let place = read().filter_map(|(v, _)| length[v]).chain(direct).min()?;
            let through = read().filter(|(v, _)| length[*v] == Some(place));
            let through = through.fold(0, |sum, (v, c)| FIELD.add(sum, FIELD.mul(*c, value[v])));
            let order = usize::try_from(-place).ok();
            let direct = order.and_then(|k| self.d.get(k)).map_or(0, |columns| columns[input][output]);
            let found = (FIELD.add(through, direct) != 0).then_some(place);
            cancelled |= found.is_none();
            found
        };
        let degrees = self.c.iter().enumerate().map(first).collect();
        (degrees, cancelled)
    }

    /// By input, then output: the place of the first Markov parameter that is not zero,
    /// H(s) = Σ h_j s^−j.
    fn degrees(&self, token: &CancellationToken) -> Result<Vec<Vec<Option<i64>>>, Cancelled> {
        let n = self.a.rows.len() as i64;
        let highest = (self.b.len().max(self.d.len()) as i64 - 1).max(0);
        let inputs = self.b.first().map_or(0, Vec::len);
        let mut out = vec![vec![None; self.c.len()]; inputs];
        for (input, found) in out.iter_mut().enumerate() {
            let cancelled;
            (*found, cancelled) = self.first_degrees(input);
            if !cancelled {
                continue;
            }
            let mut x = vec![0; n as usize];
            for j in -highest..=n {
                token.check()?;
                // x_j = Σ A^(j+k−1) B_k, h_j = C x_j + D_−j
                if j > -highest {
                    x = self.a.times(&x);
                }
                if let Some(columns) = usize::try_from(1 - j).ok().and_then(|k| self.b.get(k)) {
                    x.iter_mut().zip(&columns[input]).for_each(|(x, b)| *x = FIELD.add(*x, *b));
                }
                let direct = usize::try_from(-j).ok().and_then(|k| self.d.get(k));
                for (output, degree) in found.iter_mut().enumerate().filter(|(_, degree)| degree.is_none()) {
                    let through = self.c[output].iter().zip(&x).filter(|(c, x)| **c != 0 && **x != 0);
                    let through = through.fold(0, |sum, (c, x)| FIELD.add(sum, FIELD.mul(*c, *x)));
                    let direct = direct.map_or(0, |columns| columns[input][output]);
                    if FIELD.add(through, direct) != 0 {
                        *degree = Some(j);
                    }
                }
                if found.iter().all(Option::is_some) || (j > 1 && x.iter().all(|x| *x == 0)) {
                    break;
                }
            }
        }
        Ok(out)
    }
}

/// The structural test: reach along A from the starts, and the rank of A beside them.
fn verdict(
    a: &Modular,
    starts: &[Vec<u64>],
    n: usize,
    token: &CancellationToken,
) -> Result<Verdict, Cancelled> {
    let forward = a.transpose();
    let mut reached = vec![false; n];
    let mut stack: Vec<usize> = Vec::new();
    for start in starts {
        for (i, value) in start.iter().enumerate() {
            if *value != 0 && !std::mem::replace(&mut reached[i], true) {
                stack.push(i);
            }
        }
    }
    while let Some(v) = stack.pop() {
        for &(w, _) in &forward.rows[v] {
            if !std::mem::replace(&mut reached[w], true) {
                stack.push(w);
            }
        }
    }
    // The left kernel of [A B]: v with vᵀA = 0 and vᵀB = 0.
    let mut dual = forward;
    for start in starts {
        dual.rows.push(start.iter().copied().enumerate().filter(|(_, x)| *x != 0).collect());
    }
    let eliminated = dual.eliminate(token)?;
    let mut stuck: BTreeSet<usize> = BTreeSet::new();
    for vector in eliminated.kernel() {
        stuck.extend((0..n).filter(|i| vector[*i] != 0));
    }
    let unreached: Vec<usize> = (0..n).filter(|i| !reached[*i]).collect();
    let rank = eliminated.rank();
    let structural = unreached.is_empty() && rank == n;
    let stuck = stuck.into_iter().filter(|i| reached[*i]).collect();
    Ok(Verdict { structural, unreached, rank, stuck, nominal: None })
}

/// The exact test at one point: the dimension of the Krylov space, and what it leaves out.
fn judge(
    a: &Modular,
    starts: &[Vec<u64>],
    rational: Option<&[Vec<(usize, Rational)>]>,
    transposed: bool,
    token: &CancellationToken,
) -> Result<Option<Nominal>, Cancelled> {
    let n = a.rows.len();
    let dimension = krylov_dimension(a, &mixed(starts, n), token)?;
    if dimension == n {
        return Ok(Some(Nominal { dimension, hidden: Vec::new(), dynamics: Vec::new() }));
    }
    if n > KRYLOV_STATES {
        return Ok(None);
    }
    let basis = krylov_basis(a, starts, token)?;
    let left = annihilators(&basis, n, token)?;
    let named = rational.and_then(|rows| combinations(&left, rows, transposed));
    let (hidden, dynamics) = named.unwrap_or_default();
    Ok(Some(Nominal { dimension: basis.len(), hidden, dynamics }))
}

/// A random combination of vectors.
fn mixed(vectors: &[Vec<u64>], n: usize) -> Vec<u64> {
    let mut sum = vec![0; n];
    for (vector, factor) in vectors.iter().zip(random(vectors.len(), 5)) {
        for (x, b) in sum.iter_mut().zip(vector) {
            *x = FIELD.add(*x, FIELD.mul(factor, *b));
        }
    }
    sum
}

/// Combinations of states with their dynamics.
type Hidden = (Vec<Vec<(usize, Rational)>>, Vec<Vec<Rational>>);

/// The vectors as rational numbers, if these are simple, and their dynamics: w A = M w.
/// Proved in rational arithmetic; transposed, A w = w Mᵀ.
fn combinations(left: &[Vec<u64>], rows: &[Vec<(usize, Rational)>], transposed: bool) -> Option<Hidden> {
    let mut hidden: Vec<Vec<(usize, Rational)>> = Vec::with_capacity(left.len());
    for vector in left {
        let entries = vector.iter().enumerate().filter(|(_, x)| **x != 0);
        hidden.push(entries.map(|(i, x)| Some((i, simple(*x)?))).collect::<Option<_>>()?);
    }
    // Each vector is one where the others are zero.
    let own = |k: usize| {
        let alone = |i: &usize| (0..left.len()).all(|l| (l == k) == (left[l][*i] != 0));
        (0..rows.len()).find(|i| alone(i) && left[k][*i] == FIELD.one())
    };
    let places: Vec<usize> = (0..left.len()).map(own).collect::<Option<_>>()?;
    let mut dynamics = Vec::with_capacity(left.len());
    for vector in &hidden {
        let image = image(vector, rows, transposed);
        let factors: Vec<Rational> = places.iter().map(|place| image[*place].clone()).collect();
        let mut rest = image;
        for (factor, other) in factors.iter().zip(&hidden) {
            for (i, value) in other {
                rest[*i] -= factor * value;
            }
        }
        if rest.iter().any(|x| !x.is_zero()) {
            return None;
        }
        dynamics.push(factors);
    }
    // The first factor of each is positive, as a person would write it.
    for k in 0..hidden.len() {
        if hidden[k].first().is_some_and(|(_, factor)| *factor < Rational::ZERO) {
            hidden[k].iter_mut().for_each(|(_, factor)| *factor = -factor.clone());
            for l in (0..hidden.len()).filter(|l| *l != k) {
                dynamics[k][l] = -dynamics[k][l].clone();
                dynamics[l][k] = -dynamics[l][k].clone();
            }
        }
    }
    Some((hidden, dynamics))
}

/// w A, or A w transposed.
fn image(vector: &[(usize, Rational)], rows: &[Vec<(usize, Rational)>], transposed: bool) -> Vec<Rational> {
    let mut out = vec![Rational::ZERO; rows.len()];
    if transposed {
        let dense: FxHashMap<usize, &Rational> = vector.iter().map(|(i, x)| (*i, x)).collect();
        for (i, row) in rows.iter().enumerate() {
            for (j, value) in row {
                if let Some(x) = dense.get(j) {
                    out[i] += value * *x;
                }
            }
        }
    } else {
        for (i, x) in vector {
            for (j, value) in &rows[*i] {
                out[*j] += x * value;
            }
        }
    }
    out
}

/// The rational number with small numerator and denominator that is this element of the field.
fn simple(element: u64) -> Option<Rational> {
    const BOUND: i128 = 1 << 30;
    let (mut r0, mut r1) = (i128::from(FIELD.prime()), i128::from(FIELD.leave(element)));
    let (mut t0, mut t1) = (0i128, 1i128);
    while r1 > BOUND {
        let quotient = r0 / r1;
        (r0, r1) = (r1, r0 - quotient * r1);
        (t0, t1) = (t1, t0 - quotient * t1);
    }
    if t1 == 0 || t1.abs() > BOUND {
        return None;
    }
    let (numerator, denominator) = if t1 < 0 { (-r1, -t1) } else { (r1, t1) };
    Some(Rational::from(i64::try_from(numerator).ok()?) / Rational::from(i64::try_from(denominator).ok()?))
}

/// By input, then output: the number of integrations on the shortest causal path.
fn path_lengths(space: &StateSpace) -> Vec<Vec<Option<i64>>> {
    let n = space.a.rows;
    let inputs = space.b.first().map_or(0, |matrix| matrix.columns);
    let mut next = vec![Vec::new(); n];
    for (i, j, _) in &space.a.entries {
        next[*j].push(*i);
    }
    let mut out = vec![vec![None; space.c.rows]; inputs];
    for (input, found) in out.iter_mut().enumerate() {
        let mut length: Vec<Option<i64>> = vec![None; n];
        let highest = space.b.len() as i64;
        let mut level = 1 - highest;
        let mut front: Vec<usize> = Vec::new();
        while level <= 1 || !front.is_empty() {
            // A derivative of order k enters k integrations earlier.
            if let Some(matrix) = usize::try_from(1 - level).ok().and_then(|k| space.b.get(k)) {
                front.extend(matrix.entries.iter().filter(|(_, j, _)| *j == input).map(|(i, _, _)| *i));
            }
            let mut later = Vec::new();
            for v in front {
                if length[v].is_none() {
                    length[v] = Some(level);
                    later.extend(next[v].iter().copied());
                }
            }
            front = later;
            level += 1;
        }
        for (output, best) in found.iter_mut().enumerate() {
            let through = space.c.entries.iter().filter(|(i, _, _)| *i == output);
            let through = through.filter_map(|(_, j, _)| length[*j]);
            let direct = space
                .d
                .iter()
                .enumerate()
                .filter(|(_, matrix)| matrix.entries.iter().any(|(i, j, _)| (*i, *j) == (output, input)));
            *best = through.chain(direct.map(|(k, _)| -(k as i64))).min();
        }
    }
    out
}
