//! The acausal equations for small changes about a point: (M₀ + s·M₁)·z = N·u.

use crate::acausal::{Acausal, Meaning, Place, Point};
use crate::tolerance::{EQUILIBRATION_SWEEPS, PIVOT};
use num_complex::Complex64;
use paynter_algebra::elimination::{Arithmetic, Row, eliminate};
use paynter_algebra::{Expr, Pool};
use paynter_base::random::Random;
use rustc_hash::FxHashMap;
use std::convert::Infallible;

/// The equations of small changes about a point.
#[derive(Debug, Clone)]
pub struct Pencil<'a> {
    pub(crate) system: &'a Acausal<'a>,
    pub(crate) point: &'a Point,
    /// By row: the columns of variables with their entries.
    entries: Vec<Vec<(usize, f64)>>,
    /// By row: the inputs with their entries, on the other side.
    inputs: Vec<Vec<(usize, f64)>>,
    /// The rows that read each parameter.
    pub(crate) readers: FxHashMap<usize, Vec<usize>>,
    /// By output: what it reads of the variables, and of the inputs.
    pub(crate) outputs: Vec<[Vec<(usize, f64)>; 2]>,
    /// Whether no entry changes with the point.
    pub(crate) linear: bool,
}

/// The derivatives of an expression by variables and by inputs, and whether none of them changes with the point.
struct Gradient {
    variables: Vec<(usize, f64)>,
    inputs: Vec<(usize, f64)>,
    /// The parameters that it reads.
    parameters: Vec<usize>,
    linear: bool,
}

impl<'a> Pencil<'a> {
    /// Linearises the equations about a point; nothing where a law has no derivative there.
    pub fn new(pool: &mut Pool, system: &'a Acausal<'a>, point: &'a Point) -> Option<Pencil<'a>> {
        let mut pencil = Pencil {
            system,
            point,
            entries: Vec::new(),
            inputs: Vec::new(),
            readers: FxHashMap::default(),
            outputs: Vec::new(),
            linear: true,
        };
        for (place, row) in system.rows.iter().enumerate() {
            let mut entries = row.terms.clone();
            let mut inputs = Vec::new();
            if let Some(value) = row.value {
                let found = pencil.gradient(pool, row.place, value)?;
                pencil.linear &= found.linear;
                entries.extend(found.variables.into_iter().map(|(at, c)| (at, -c)));
                inputs = found.inputs;
                for parameter in found.parameters {
                    pencil.readers.entry(parameter).or_default().push(place);
                }
            }
            pencil.entries.push(entries);
            pencil.inputs.push(inputs);
        }
        for output in system.graph.outputs.iter() {
            let found = pencil.gradient(pool, Place::Nowhere, output.value)?;
            pencil.linear &= found.linear;
            pencil.outputs.push([found.variables, found.inputs]);
        }
        Some(pencil)
    }

    /// The number of variables.
    pub fn width(&self) -> usize {
        self.system.width
    }

    /// Whether no entry changes with the point.
    pub fn is_linear(&self) -> bool {
        self.linear
    }

    fn gradient(&self, pool: &mut Pool, place: Place, value: Expr) -> Option<Gradient> {
        let (system, point) = (self.system, self.point);
        let mut found =
            Gradient { variables: Vec::new(), inputs: Vec::new(), parameters: Vec::new(), linear: true };
        for symbol in pool.symbols(value) {
            let meaning = system.meaning(place, symbol)?;
            if let Meaning::Parameter(k) = meaning {
                found.parameters.push(k);
            }
            let (Meaning::Variable(..) | Meaning::Input(_)) = meaning else { continue };
            let slope = pool.diff(value, symbol);
            let fixed = |s| matches!(system.meaning(place, s), Some(Meaning::Parameter(_)));
            found.linear &= pool.symbols(slope).into_iter().all(fixed);
            if !found.linear && system.switches_at(pool, place, value, point) {
                return None;
            }
            let slope = pool.eval(slope, &|s| system.value_at(place, s, point)).ok()?;
            match meaning {
                Meaning::Variable(at, sign) => found.variables.push((at, sign * slope)),
                Meaning::Input(k) => found.inputs.push((k, slope)),
                _ => {}
            }
        }
        Some(found)
    }

    /// The rows of M₀ + s·M₁, or of its transpose; entries are changed at random by a small part where a seed is
    /// given.
    pub(crate) fn rows(
        &self,
        s: Complex64,
        transposed: bool,
        change: Option<(u64, f64)>,
    ) -> Vec<Row<Complex64>> {
        let width = self.system.width;
        let mut rows: Vec<Row<Complex64>> = vec![Row::new(); width];
        let mut draw = change.map(|(seed, size)| (Random::new(seed), size));
        let mut add = |i: usize, j: usize, value: Complex64| {
            let factor =
                draw.as_mut().map_or(1.0, |(random, size)| 1.0 + *size * (2.0 * random.unit() - 1.0));
            let (i, j) = if transposed { (j, i) } else { (i, j) };
            *rows[i].entry(j).or_default() += factor * value;
        };
        for (i, (row, entries)) in self.system.rows.iter().zip(&self.entries).enumerate() {
            entries.iter().for_each(|(j, c)| add(i, *j, Complex64::from(*c)));
            if let Some(state) = row.rate {
                add(i, state, s);
            }
        }
        rows.iter_mut().for_each(|row| row.retain(|_, value| *value != Complex64::ZERO));
        rows
    }

    /// N·u for a unit of one input.
    pub(crate) fn driven_by(&self, input: usize) -> Vec<Complex64> {
        let of =
            |row: &Vec<(usize, f64)>| row.iter().filter(|(k, _)| *k == input).map(|(_, c)| c).sum::<f64>();
        self.inputs.iter().map(|row| Complex64::from(of(row))).collect()
    }

    /// Where M₁ has its ones: rows with the columns of their states.
    pub(crate) fn rates(&self) -> impl Iterator<Item = (usize, usize)> {
        self.system.rows.iter().enumerate().filter_map(|(i, row)| Some((i, row.rate?)))
    }
}

/// Complex numbers.
struct Complex;

impl Arithmetic for Complex {
    type Scalar = Complex64;

    fn divisor(&mut self, pivot: &Complex64) -> Complex64 {
        pivot.inv()
    }

    fn quotient(&mut self, entry: &Complex64, divisor: &Complex64) -> Complex64 {
        entry * divisor
    }

    fn difference(
        &mut self,
        old: Option<&Complex64>,
        factor: &Complex64,
        value: &Complex64,
    ) -> Option<Complex64> {
        let new = old.copied().unwrap_or_default() - factor * value;
        (new != Complex64::ZERO).then_some(new)
    }
}

/// Solves a square sparse system for several right-hand sides; nothing where it is singular.
pub(crate) fn solve(mut rows: Vec<Row<Complex64>>, sides: &[Vec<Complex64>]) -> Option<Vec<Vec<Complex64>>> {
    let n = rows.len();
    // Rows and columns of one size, so that pivots can be compared.
    let mut scales = vec![1.0; n];
    let mut row_scales = vec![1.0; n];
    for _ in 0..EQUILIBRATION_SWEEPS {
        let mut largest = vec![0.0f64; n];
        for (row, scale) in rows.iter_mut().zip(&mut row_scales) {
            let most = row.values().fold(0.0f64, |most, x| most.max(x.l1_norm()));
            if most > 0.0 {
                let factor = most.sqrt().recip();
                *scale *= factor;
                row.values_mut().for_each(|x| *x *= factor);
            }
            row.iter().for_each(|(j, x)| largest[*j] = largest[*j].max(x.l1_norm()));
        }
        for (scale, most) in scales.iter_mut().zip(&mut largest) {
            *most = if *most > 0.0 { most.sqrt().recip() } else { 1.0 };
            *scale *= *most;
        }
        for row in &mut rows {
            row.iter_mut().for_each(|(j, x)| *x *= largest[*j]);
        }
    }
    for (i, row) in rows.iter_mut().enumerate() {
        for (k, side) in sides.iter().enumerate().filter(|(_, side)| side[i] != Complex64::ZERO) {
            row.insert(n + k, side[i] * row_scales[i]);
        }
    }
    let choose = |_: &mut Complex, state: &paynter_algebra::elimination::Elimination<Complex64>| {
        let size = |row: &Row<Complex64>| row.range(..n).fold(0.0f64, |most, (_, x)| most.max(x.l1_norm()));
        // Rows that only a right-hand side is left of have no pivot.
        let open = state.open().iter().find(|(_, i)| state.row(*i).range(..n).next().is_some());
        let pivot = open.and_then(|(_, i)| {
            let row = state.row(*i);
            let least = PIVOT * size(row);
            let entries = row.range(..n).filter(|(_, x)| x.l1_norm() >= least);
            entries.map(|(j, _)| *j).min_by_key(|j| state.count(*j)).map(|j| (*i, j))
        });
        Ok::<_, Infallible>(pivot)
    };
    let Ok(echelon) = eliminate(&mut Complex, rows, n + sides.len(), choose);
    if echelon.pivots.len() < n {
        return None;
    }
    let solution = (0..sides.len()).map(|k| {
        let mut x = vec![Complex64::ZERO; n];
        for (i, j) in echelon.pivots.iter().rev() {
            let row = &echelon.rows[*i];
            let mut value = row.get(&(n + k)).copied().unwrap_or_default();
            for (column, entry) in row.range(..n).filter(|(column, _)| *column != j) {
                value -= entry * x[*column];
            }
            x[*j] = value / row[j];
        }
        x.iter_mut().zip(&scales).for_each(|(x, scale)| *x *= scale);
        x
    });
    Some(solution.collect())
}
