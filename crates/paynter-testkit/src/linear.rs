//! The acausal oracle of linear models: the equations of every port and
//! junction as a pencil M₀ + s·M₁, solved exactly. No causality is assigned,
//! so that a wrong one cannot hide.

use crate::elimination::{Row, eliminate, rank};
use crate::number::{Dual, Linear, Modular, Number};
use crate::residual::{Equation, System, Values};
use crate::rng::Rng;
use crate::structure::Structure;

/// A linear model at one point of its parameters.
#[derive(Debug, Clone)]
pub struct Pencil<N> {
    /// Number of unknowns.
    size: usize,
    /// Rows of M₀ and of the inputs: column `size + k` is input k, the last one the constants.
    fixed: Vec<Row<N>>,
    /// Rows s·xₖ of M₁: the row and the column of each state.
    dynamic: Vec<(usize, usize)>,
    /// Outputs as linear forms over unknowns and inputs.
    outputs: Vec<Linear<N>>,
    inputs: usize,
}

/// The numbering of unknowns: efforts, flows, signals, states; then inputs.
fn unknowns<N: Number>(structure: &Structure, states: usize, params: Vec<N>) -> (usize, Values<Linear<N>>) {
    let bonds = structure.bonds.len();
    let signals = structure.signals.iter().filter(|signal| signal.integral.is_none()).count();
    let size = 2 * bonds + signals + states;
    let mut next = 2 * bonds;
    let signal_values = structure.signals.iter().map(|signal| {
        if signal.integral.is_some() {
            Linear::zero()
        } else {
            next += 1;
            Linear::unknown(next - 1)
        }
    });
    let values = Values {
        params: params.into_iter().map(Linear::constant).collect(),
        inputs: (0..structure.inputs.len()).map(|index| Linear::unknown(size + index)).collect(),
        efforts: (0..bonds).map(Linear::unknown).collect(),
        flows: (0..bonds).map(|bond| Linear::unknown(bonds + bond)).collect(),
        signals: signal_values.collect(),
        states: (0..states).map(|state| Linear::unknown(2 * bonds + signals + state)).collect(),
        time: Linear::zero(),
    };
    (size, values)
}

impl<N: Number> Pencil<N> {
    /// Assembles the equations at the given independent parameters (in the
    /// order of [`Structure::independent`]). `None` when the model is not
    /// linear, is incomplete, or divides by zero at this point.
    pub fn assemble(structure: &Structure, independent: &[N]) -> Option<Pencil<N>> {
        Self::build(structure, independent, &mut |_| None)
    }

    /// Assembles with `stand_in` for every equation that is not linear.
    fn build(
        structure: &Structure,
        independent: &[N],
        stand_in: &mut dyn FnMut(Vec<Linear<N>>) -> Option<Linear<N>>,
    ) -> Option<Pencil<N>> {
        if !structure.is_complete() {
            return None;
        }
        let system = System::new(structure);
        let states = system.states().len();
        let (size, values) = unknowns(structure, states, system.params(independent)?);
        let inputs = structure.inputs.len();
        let mut fixed = Vec::new();
        for equation in system.equations(&values)? {
            fixed.push(match equation {
                Equation::Value(form) => form,
                Equation::Mentions(variables) => stand_in(variables)?,
            });
        }
        let mut dynamic = Vec::new();
        for (state, (_, store)) in system.states().iter().enumerate() {
            let rate = match system.rate(&values, store) {
                Equation::Value(form) => form,
                Equation::Mentions(variables) => stand_in(variables)?,
            };
            dynamic.push((fixed.len(), size - states + state));
            fixed.push(rate.neg());
        }
        let fixed = fixed
            .into_iter()
            .map(|form| {
                let mut row: Row<N> = form.terms;
                if !form.constant.is_zero() {
                    row.insert(size + inputs, form.constant);
                }
                row
            })
            .collect();
        let mut outputs = Vec::new();
        for (_, expression) in &structure.outputs {
            outputs.push(match system.evaluate(&values, expression) {
                Some(form) => form,
                None => stand_in(Vec::new())?,
            });
        }
        Some(Pencil { size, fixed, dynamic, outputs, inputs })
    }

    /// The rows at one s.
    fn at(&self, s: &N) -> Vec<Row<N>> {
        let mut rows = self.fixed.clone();
        for &(row, column) in &self.dynamic {
            let sum = rows[row].get(&column).map_or_else(|| s.clone(), |old| old.add(s));
            rows[row].insert(column, sum);
        }
        for row in &mut rows {
            row.retain(|_, value| !value.is_zero());
        }
        rows
    }

    /// Tells whether the equations determine every variable at this s.
    pub fn is_solvable(&self, s: &N) -> bool {
        self.fixed.len() == self.size && eliminate(self.at(s), self.size).is_some()
    }

    /// The number of independent solutions without inputs at this s: the geometric multiplicity
    /// where s is an eigenvalue.
    pub fn nullity(&self, s: &N) -> usize {
        self.size - rank(self.at(s), self.size)
    }

    /// The determinant's value at one s.
    pub fn determinant_at(&self, s: &N) -> N {
        if self.fixed.len() != self.size {
            return N::zero();
        }
        eliminate(self.at(s), self.size).map_or_else(N::zero, |done| done.determinant)
    }

    /// The determinant as a polynomial in s, lowest power first, without
    /// leading zeros; empty when the model is singular.
    pub fn determinant(&self) -> Vec<N> {
        let points: Vec<N> = (0..=self.dynamic.len() as i64).map(|point| N::ratio(point, 1)).collect();
        let values: Vec<N> = points.iter().map(|s| self.determinant_at(s)).collect();
        interpolate(&points, values).unwrap_or_default()
    }

    /// The determinant scaled so that its leading coefficient is one: the
    /// characteristic polynomial of the finite eigenvalues.
    pub fn characteristic(&self) -> Option<Vec<N>> {
        let polynomial = self.determinant();
        let leading = polynomial.last()?.clone();
        polynomial.iter().map(|coefficient| coefficient.div(&leading)).collect()
    }

    /// The dynamic order: how many finite eigenvalues there are. `None` when singular.
    pub fn order(&self) -> Option<usize> {
        self.determinant().len().checked_sub(1)
    }

    /// The transfer matrix at one s: `[output][input]`. `None` when singular there.
    pub fn transfer(&self, s: &N) -> Option<Vec<Vec<N>>> {
        if self.fixed.len() != self.size {
            return None;
        }
        let done = eliminate(self.at(s), self.size)?;
        let entry = |output: &Linear<N>, input: usize| {
            let mut sum = output.terms.get(&(self.size + input)).cloned().unwrap_or_else(N::zero);
            for (column, coefficient) in &output.terms {
                if let Some(value) = done.solution.get(*column).and_then(|row| row.get(&(self.size + input)))
                {
                    sum = sum.sub(&coefficient.mul(value)?);
                }
            }
            Some(sum)
        };
        self.outputs
            .iter()
            .map(|output| (0..self.inputs).map(|input| entry(output, input)).collect())
            .collect()
    }
}

/// Newton's interpolation, then expanded; drops leading zeros.
fn interpolate<N: Number>(points: &[N], mut values: Vec<N>) -> Option<Vec<N>> {
    let count = points.len();
    for level in 1..count {
        for index in (level..count).rev() {
            let rise = values[index].sub(&values[index - 1]);
            values[index] = rise.div(&points[index].sub(&points[index - level]))?;
        }
    }
    let mut polynomial: Vec<N> = Vec::new();
    for index in (0..count).rev() {
        // Horner: polynomial · (s − points[index]) + values[index].
        let mut next = vec![N::zero(); polynomial.len() + 1];
        for (power, coefficient) in polynomial.iter().enumerate() {
            next[power + 1] = next[power + 1].add(coefficient);
            next[power] = next[power].sub(&coefficient.mul(&points[index])?);
        }
        next[0] = next[0].add(&values[index]);
        polynomial = next;
    }
    while polynomial.last().is_some_and(N::is_zero) {
        polynomial.pop();
    }
    Some(polynomial)
}

/// Draws a random point of the independent parameters modulo the prime.
pub fn random_point(structure: &Structure, rng: &mut Rng) -> Vec<Modular> {
    structure.independent().iter().map(|_| Modular::new((rng.bits() >> 4) as i64 | 1)).collect()
}

/// Draws a random point of positive small rationals, the same in every number system.
pub fn small_point<N: Number>(structure: &Structure, rng: &mut Rng) -> Vec<N> {
    structure
        .independent()
        .iter()
        .map(|_| N::ratio(rng.within(1, 40) as i64, rng.within(1, 9) as i64))
        .collect()
}

/// The derivative of the transfer matrix for one independent parameter (its
/// place in [`Structure::independent`]): `[output][input]`, exact.
pub fn sensitivity<N: Number>(
    structure: &Structure,
    point: &[N],
    parameter: usize,
    s: &N,
) -> Option<Vec<Vec<N>>> {
    let duals: Vec<Dual<N>> = point
        .iter()
        .enumerate()
        .map(|(index, value)| Dual {
            value: value.clone(),
            derivative: if index == parameter { N::one() } else { N::zero() },
        })
        .collect();
    let transfer = Pencil::assemble(structure, &duals)?.transfer(&Dual::constant(s.clone()))?;
    Some(transfer.into_iter().map(|row| row.into_iter().map(|entry| entry.derivative).collect()).collect())
}

/// What holds for almost all values of the parameters and laws.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Generic {
    /// Whether the equations determine every variable.
    pub solvable: bool,
    /// The number of finite eigenvalues.
    pub order: usize,
    /// The number of states, dependent ones counted.
    pub states: usize,
    /// The rank of the state matrix of a minimal set of states.
    pub rank: usize,
}

/// Judges a structure at a random point modulo the prime. In a nonlinear
/// model every law that is not linear is replaced by a random linear relation
/// of the variables it mentions.
pub fn generic(structure: &Structure, seed: u64) -> Option<Generic> {
    let pencil = generic_pencil(structure, &mut Rng::new(seed))?;
    let order = pencil.order();
    let rank = order.map_or(0, |order| order - pencil.nullity(&Modular::zero()));
    let states = pencil.dynamic.len();
    Some(Generic { solvable: order.is_some(), order: order.unwrap_or(0), states, rank })
}

/// Tells whether almost all values of the parameters and laws determine every variable.
pub fn is_solvable(structure: &Structure, seed: u64) -> bool {
    let mut rng = Rng::new(seed);
    let pencil = generic_pencil(structure, &mut rng);
    pencil.is_some_and(|pencil| pencil.is_solvable(&Modular::new((rng.bits() >> 4) as i64)))
}

fn generic_pencil(structure: &Structure, rng: &mut Rng) -> Option<Pencil<Modular>> {
    let point = random_point(structure, rng);
    Pencil::build(structure, &point, &mut |variables| {
        let mut sum: Linear<Modular> = Linear::zero();
        for variable in variables {
            let factor = Linear::constant(Modular::new((rng.bits() >> 4) as i64 | 1));
            sum = sum.add(&variable.mul(&factor)?);
        }
        sum.constant = Modular::zero();
        Some(sum)
    })
}
