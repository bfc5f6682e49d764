//! Modes that no Δ moves: what the channels of Δ do not reach, and what they do not read.

use num_complex::Complex64;
use paynter_base::strong_components;

use crate::basis::Block;
use crate::conserved::without_conserved;
use crate::matrix::Matrix;
use crate::poles::{Poles, Side};
use crate::system::Interconnection;
use crate::tolerance::{BESIDE_EIGENVALUE, PARTICIPATION, PROJECTED_ROUNDING, RANK};

/// A pole that stays where it is, whatever Δ is.
#[derive(Debug, Clone, PartialEq)]
pub struct FixedMode {
    /// The pole; zero where it is one but for rounding.
    pub value: Complex64,
    /// On which side of the imaginary axis it lies.
    pub(crate) side: Side,
    /// The states in its eigenvector, by place.
    pub states: Vec<usize>,
}

/// The model in which nothing leads from one loop to another that does not lead back: that moves no pole,
/// whatever Δ is, also where one δ stands in both: det(I − MΔ) is the product of those of the loops. States and
/// channels that act on each other, directly or through others, stay together.
pub fn decoupled(system: &Interconnection) -> Interconnection {
    let n = system.states();
    let mut owner: Vec<usize> = Vec::with_capacity(system.channels());
    for block in &system.blocks {
        let first = n + owner.len();
        let is_full = matches!(block, Block::Full(_));
        owner.extend((0..block.size()).map(|k| if is_full { first } else { first + k }));
    }
    let nodes = n + system.channels();
    let mut next: Vec<Vec<u32>> = vec![Vec::new(); nodes];
    let state = |i: usize| i;
    let channel = |i: usize| owner[i];
    let mut lead = |matrix: &Matrix, to: &dyn Fn(usize) -> usize, from: &dyn Fn(usize) -> usize| {
        for i in 0..matrix.rows() {
            for (j, _) in matrix.row(i).iter().enumerate().filter(|(_, x)| **x != 0.0) {
                next[from(j)].push(to(i) as u32);
            }
        }
    };
    lead(&system.a, &state, &state);
    lead(&system.b, &state, &channel);
    lead(&system.c, &channel, &state);
    lead(&system.d, &channel, &channel);
    let mut component = vec![0; nodes];
    for (k, members) in strong_components(nodes, |node| next[node as usize].as_slice()).iter().enumerate() {
        members.iter().for_each(|node| component[*node as usize] = k);
    }
    let kept = |matrix: &Matrix, to: &dyn Fn(usize) -> usize, from: &dyn Fn(usize) -> usize| {
        Matrix::from_fn(matrix.rows(), matrix.columns(), |i, j| {
            if component[to(i)] == component[from(j)] { matrix[(i, j)] } else { 0.0 }
        })
    };
    Interconnection {
        a: kept(&system.a, &state, &state),
        b: kept(&system.b, &state, &channel),
        c: kept(&system.c, &channel, &state),
        d: kept(&system.d, &channel, &channel),
        blocks: system.blocks.clone(),
        is_projected: system.is_projected,
    }
}

/// The part of a model whose poles Δ moves, and the poles that it does not move.
pub(crate) fn moved_part(system: &Interconnection) -> (Interconnection, Vec<FixedMode>) {
    let loops = decoupled(system);
    let (reduced, mut fixed) = set_aside(&loops.balanced());
    let (reduced, conserved) = without_conserved(reduced.balanced());
    if conserved > 0 {
        let states = participants(&Matrix::identity(loops.states()), &loops.a, Complex64::ZERO);
        let (value, side) = (Complex64::ZERO, Side::On);
        fixed.extend((0..conserved).map(|_| FixedMode { value, side, states: states.clone() }));
    }
    (reduced.balanced(), fixed)
}

/// The model without the modes that do not take part between the columns of B and the rows of C, and
/// these modes.
pub fn set_aside(system: &Interconnection) -> (Interconnection, Vec<FixedMode>) {
    let (kept, dropped) = connected(system);
    let unit = |places: &[usize]| {
        Matrix::from_fn(system.states(), places.len(), |i, j| if places[j] == i { 1.0 } else { 0.0 })
    };
    let mut modes = fixed(&system.a, &unit(&dropped), system.is_projected);
    let own = unit(&kept);
    let n = kept.len();
    let (a, b, c) = (project(&system.a, &own), own.adjoint().times(&system.b), system.c.times(&own));
    let told = |basis: &Matrix, a: &Matrix| {
        let part = fixed(a, basis, true).into_iter();
        let states = |value| participants(&own.times(basis), &project(a, basis), value);
        part.map(|mode| FixedMode { states: states(mode.value), ..mode }).collect::<Vec<_>>()
    };
    let (reached, rest) = whole_or(span(&a, &b, n));
    modes.extend(told(&rest, &a.adjoint()));
    let (a, b, c) = (project(&a, &reached), reached.adjoint().times(&b), c.times(&reached));
    let (read, rest) = whole_or(span(&a.adjoint(), &c.adjoint(), reached.columns()));
    // Eigenvectors of the reached part, told in the states of the whole.
    let in_whole = own.times(&reached.times(&rest));
    modes.extend(
        fixed(&a, &rest, true).into_iter().map(|mode| FixedMode {
            states: participants(&in_whole, &project(&a, &rest), mode.value),
            ..mode
        }),
    );
    let is_projected = system.is_projected || read.columns() < own.columns();
    let reduced = Interconnection {
        a: project(&a, &read),
        b: read.adjoint().times(&b),
        c: c.times(&read),
        d: system.d.clone(),
        blocks: system.blocks.clone(),
        is_projected,
    };
    (reduced, modes)
}

/// The states that the columns of B reach and the rows of C read by way of A, and the others.
fn connected(system: &Interconnection) -> (Vec<usize>, Vec<usize>) {
    let n = system.states();
    let touched = |rows: &Matrix, i: usize| rows.row(i).iter().any(|x| *x != 0.0);
    let spread = |a: &Matrix, start: Vec<usize>| {
        let (mut marked, mut open) = (vec![false; n], start);
        while let Some(i) = open.pop() {
            if !std::mem::replace(&mut marked[i], true) {
                open.extend((0..n).filter(|k| !marked[*k] && a[(*k, i)] != 0.0));
            }
        }
        marked
    };
    let reached = spread(&system.a, (0..n).filter(|i| touched(&system.b, *i)).collect());
    let c = system.c.adjoint();
    let read = spread(&system.a.adjoint(), (0..n).filter(|i| touched(&c, *i)).collect());
    (0..n).partition(|i| reached[*i] && read[*i])
}

/// The unit vectors where a span holds all: zeros of matrices stay zeros in these.
fn whole_or((span, rest): (Matrix, Matrix)) -> (Matrix, Matrix) {
    if rest.columns() == 0 { (Matrix::identity(span.rows()), rest) } else { (span, rest) }
}

/// VᵀAV.
fn project(a: &Matrix, v: &Matrix) -> Matrix {
    v.adjoint().times(&a.times(v))
}

/// The modes of A on the span of orthonormal columns; where these are no unit vectors, all entries have the rounding of
/// the largest of A.
fn fixed(a: &Matrix, basis: &Matrix, is_projected: bool) -> Vec<FixedMode> {
    let part = project(a, basis);
    let rounding = if is_projected { PROJECTED_ROUNDING * a.largest() } else { 0.0 };
    let poles = Poles::rounded(&part, rounding, || part.map(f64::abs)).unwrap_or_default();
    let values = poles.sides().zip(poles.at_zero());
    values
        .map(|((value, side), is_zero)| {
            let value = if is_zero { Complex64::ZERO } else { value };
            FixedMode { value, side, states: participants(basis, &part, value) }
        })
        .collect()
}

/// The rows of a basis in which the eigenvector of a part shows, by inverse iteration.
fn participants(basis: &Matrix, part: &Matrix, value: Complex64) -> Vec<usize> {
    let Some(vector) = eigenvector(&part.complex(), value) else { return Vec::new() };
    let whole = basis.complex().times(&vector);
    let largest = whole.largest();
    (0..whole.rows()).filter(|i| whole[(*i, 0)].norm() > PARTICIPATION * largest).collect()
}

/// The eigenvector at an eigenvalue, by inverse iteration; its largest entry is about one.
pub(crate) fn eigenvector(a: &Matrix<Complex64>, value: Complex64) -> Option<Matrix<Complex64>> {
    let n = a.rows();
    let size = a.largest().max(value.norm());
    let beside =
        value + Complex64::new(BESIDE_EIGENVALUE, BESIDE_EIGENVALUE) * if size > 0.0 { size } else { 1.0 };
    let shifted = Matrix::from_fn(n, n, |i, j| if i == j { a[(i, j)] - beside } else { a[(i, j)] });
    // Entries without a pattern, so that no eigenvector is orthogonal to the start.
    let mut vector = Matrix::from_fn(n, 1, |i, _| Complex64::new(1.0 + (i as f64 * 0.73).sin() * 0.5, 0.1));
    for _ in 0..3 {
        vector = shifted.solve(&vector)?;
        let size = vector.largest();
        vector = vector.map(|x| x / size);
    }
    Some(vector)
}

/// Orthonormal columns that span what A makes of the columns of B, and those of the rest.
fn span(a: &Matrix, b: &Matrix, n: usize) -> (Matrix, Matrix) {
    let mut found: Vec<Vec<f64>> = Vec::new();
    let column = |matrix: &Matrix, j: usize| (0..n).map(|i| matrix[(i, j)]).collect::<Vec<f64>>();
    let mut waiting: Vec<Vec<f64>> = (0..b.columns()).map(|j| column(b, j)).collect();
    while let Some(next) = waiting.pop() {
        if let Some(unit) = outside(&found, &next) {
            let image = Matrix::from_fn(n, 1, |i, _| unit[i]);
            waiting.push(column(&a.times(&image), 0));
            found.push(unit);
        }
    }
    let rest = complement(&found, n);
    let matrix = |list: &[Vec<f64>]| Matrix::from_fn(n, list.len(), |i, j| list[j][i]);
    (matrix(&found), matrix(&rest))
}

/// Orthonormal vectors that span those given.
pub(crate) fn orthonormal(vectors: impl Iterator<Item = Vec<f64>>) -> Vec<Vec<f64>> {
    let mut found: Vec<Vec<f64>> = Vec::new();
    for vector in vectors {
        if let Some(unit) = outside(&found, &vector) {
            found.push(unit);
        }
    }
    found
}

/// Orthonormal vectors that span all that is orthogonal to orthonormal ones.
pub(crate) fn complement(span: &[Vec<f64>], n: usize) -> Vec<Vec<f64>> {
    let mut found = span.to_vec();
    while found.len() < n {
        let unit = |k: usize| (0..n).map(|i| if i == k { 1.0 } else { 0.0 }).collect::<Vec<f64>>();
        // The unit vector that lies furthest outside.
        let share = |k: usize| found.iter().map(|v| v[k] * v[k]).sum::<f64>();
        let best = (0..n).min_by(|i, j| share(*i).total_cmp(&share(*j))).map(unit);
        match best.and_then(|unit| outside(&found, &unit)) {
            Some(unit) => found.push(unit),
            None => break,
        }
    }
    found.split_off(span.len())
}

/// The direction of a vector outside the span of orthonormal ones; nothing where it lies inside.
fn outside(span: &[Vec<f64>], vector: &[f64]) -> Option<Vec<f64>> {
    let norm = |v: &[f64]| v.iter().map(|x| x * x).sum::<f64>().sqrt();
    let size = norm(vector);
    let mut rest = vector.to_vec();
    for _ in 0..2 {
        for unit in span {
            let dot: f64 = unit.iter().zip(&rest).map(|(u, x)| u * x).sum();
            rest.iter_mut().zip(unit).for_each(|(x, u)| *x -= dot * u);
        }
    }
    let left = norm(&rest);
    (left > RANK * size && left > 0.0).then(|| rest.iter().map(|x| x / left).collect())
}
