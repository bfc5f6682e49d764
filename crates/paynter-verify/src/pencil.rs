//! The acausal equations for small changes about a point: (M₀ + s·M₁)·z = N·u.

use crate::acausal::{Acausal, Meaning, Place, Point};
use crate::tolerance::{AGREEING_SIDES, EQUILIBRATION_SWEEPS, KINK_WIDTH, PIVOT};
use num_complex::Complex64;
use paynter_algebra::elimination::{Arithmetic, Echelon, Elimination, Row, eliminate};
use paynter_algebra::{Expr, Pool, Symbol};
use paynter_base::random::Random;
use rustc_hash::FxHashMap;
use std::convert::Infallible;

/// The equations of small changes about a point.
#[derive(Debug, Clone)]
pub struct Pencil<'a> {
    pub(crate) system: &'a Acausal<'a>,
    pub(crate) point: &'a Point,
    /// By row: the columns of variables with their entries.
    pub(crate) entries: Vec<Vec<(usize, f64)>>,
    /// By row: the inputs with their entries, on the other side.
    pub(crate) inputs: Vec<Vec<(usize, f64)>>,
    /// The rows that read each parameter.
    pub(crate) readers: FxHashMap<usize, Vec<usize>>,
    /// By output: what it reads of the variables, and of the inputs.
    pub(crate) outputs: Vec<[Vec<(usize, f64)>; 2]>,
    /// Whether no entry changes with the point.
    pub(crate) linear: bool,
    /// Parameters, by how much they are less and more, and the equations of small changes about the points to which
    /// that leads.
    pub(crate) sides: Vec<(usize, f64, [Pencil<'a>; 2])>,
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
            sides: Vec::new(),
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
            let derivative = pool.diff(value, symbol);
            let fixed = |s| matches!(system.meaning(place, s), Some(Meaning::Parameter(_)));
            found.linear &= pool.symbols(derivative).into_iter().all(fixed);
            let at = |s| system.value_at(place, s, point);
            let derivative = match !found.linear && system.switches_at(pool, place, value, point, KINK_WIDTH)
            {
                true => self.derivative_beside(pool, (place, value), symbol)?,
                false => pool.eval(derivative, &at).ok()?,
            };
            match meaning {
                Meaning::Variable(at, sign) => found.variables.push((at, sign * derivative)),
                Meaning::Input(k) => found.inputs.push((k, derivative)),
                _ => {}
            }
        }
        Some(found)
    }

    /// The derivative of an expression whose choices stand on their borders; nothing where its sides differ.
    fn derivative_beside(
        &self,
        pool: &mut Pool,
        (place, value): (Place, Expr),
        symbol: Symbol,
    ) -> Option<f64> {
        let (system, point) = (self.system, self.point);
        let at = |s| system.value_at(place, s, point);
        let [above, below] = [1.0, -1.0].map(|side| {
            let beside = |s| match system.meaning(place, s) {
                Some(Meaning::Variable(variable, _)) => {
                    let size = point.variables[variable].abs().max(point.scales[variable]);
                    at(s).map(|x| x + side * (KINK_WIDTH * size + f64::MIN_POSITIVE.sqrt()))
                }
                _ => at(s),
            };
            let branch = pool.decide_choices(&[value], &beside)[0];
            let derivative = pool.diff(branch, symbol);
            pool.eval(derivative, &at).ok()
        });
        let (above, below) = (above?, below?);
        ((above - below).abs() <= AGREEING_SIDES * above.abs().max(below.abs())).then_some(above)
    }

    /// The rows of M₀ + s·M₁; entries are changed at random by a small part where a seed is given.
    pub(crate) fn rows(&self, s: Complex64, change: Option<(u64, f64)>) -> Vec<Row<Complex64>> {
        let width = self.system.width;
        let mut rows: Vec<Row<Complex64>> = vec![Row::new(); width];
        let mut draw = change.map(|(seed, size)| (Random::new(seed), size));
        let mut add = |i: usize, j: usize, value: Complex64| {
            let factor =
                draw.as_mut().map_or(1.0, |(random, size)| 1.0 + *size * (2.0 * random.unit() - 1.0));
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

/// Complex numbers, with what right-hand sides have to follow.
#[derive(Default)]
struct Complex {
    /// Multiples of rows that were subtracted: from which, of which, the factor.
    subtracted: Vec<(usize, usize, Complex64)>,
}

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

    fn subtracted(&mut self, from: usize, pivot: usize, factor: &Complex64) {
        self.subtracted.push((from, pivot, *factor));
    }
}

/// The factors of a square sparse matrix.
pub(crate) struct Factors {
    echelon: Echelon<Complex64>,
    subtracted: Vec<(usize, usize, Complex64)>,
    row_scales: Vec<f64>,
    scales: Vec<f64>,
}

impl Factors {
    /// Factorises a matrix; nothing where it is singular.
    pub fn new(mut rows: Vec<Row<Complex64>>) -> Option<Factors> {
        let n = rows.len();
        let (row_scales, scales) = equilibrate(&mut rows);
        let choose = |_: &mut Complex, state: &Elimination<Complex64>| {
            let pivot = state.open().first().and_then(|(_, i)| {
                let row = state.row(*i);
                let least = PIVOT * row.values().fold(0.0f64, |most, x| most.max(x.l1_norm()));
                let entries = row.iter().filter(|(_, x)| x.l1_norm() >= least);
                entries.map(|(j, _)| *j).min_by_key(|j| state.count(*j)).map(|j| (*i, j))
            });
            Ok::<_, Infallible>(pivot)
        };
        let mut arithmetic = Complex::default();
        let Ok(echelon) = eliminate(&mut arithmetic, rows, n, choose);
        let subtracted = arithmetic.subtracted;
        (echelon.pivots.len() == n).then_some(Factors { echelon, subtracted, row_scales, scales })
    }

    /// Solves for a right-hand side.
    pub fn solve(&self, side: &[Complex64]) -> Vec<Complex64> {
        let mut side: Vec<Complex64> =
            side.iter().zip(&self.row_scales).map(|(b, scale)| b * scale).collect();
        for (from, pivot, factor) in &self.subtracted {
            if side[*pivot] != Complex64::ZERO {
                let change = factor * side[*pivot];
                side[*from] -= change;
            }
        }
        let mut x = vec![Complex64::ZERO; side.len()];
        for (i, j) in self.echelon.pivots.iter().rev() {
            let row = &self.echelon.rows[*i];
            let mut value = side[*i];
            for (column, entry) in row.iter().filter(|(column, _)| *column != j) {
                value -= entry * x[*column];
            }
            x[*j] = value / row[j];
        }
        x.iter_mut().zip(&self.scales).for_each(|(x, scale)| *x *= scale);
        x
    }

    /// Solves the transposed system for a right-hand side.
    pub fn solve_transposed(&self, side: &[Complex64]) -> Vec<Complex64> {
        let mut side: Vec<Complex64> = side.iter().zip(&self.scales).map(|(b, scale)| b * scale).collect();
        let mut x = vec![Complex64::ZERO; side.len()];
        for (i, j) in &self.echelon.pivots {
            let row = &self.echelon.rows[*i];
            let value = side[*j] / row[j];
            row.iter().for_each(|(column, entry)| side[*column] -= entry * value);
            x[*i] = value;
        }
        for (from, pivot, factor) in self.subtracted.iter().rev() {
            let change = factor * x[*from];
            x[*pivot] -= change;
        }
        x.iter_mut().zip(&self.row_scales).for_each(|(x, scale)| *x *= scale);
        x
    }
}

/// Brings rows and columns to one size, so that pivots can be compared; returns their scales.
fn equilibrate(rows: &mut [Row<Complex64>]) -> (Vec<f64>, Vec<f64>) {
    let n = rows.len();
    let (mut row_scales, mut scales) = (vec![1.0; n], vec![1.0; n]);
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
        for row in rows.iter_mut() {
            row.iter_mut().for_each(|(j, x)| *x *= largest[*j]);
        }
    }
    (row_scales, scales)
}
