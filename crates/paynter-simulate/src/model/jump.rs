//! Jumps of states where a source jumps straight into storages.
//!
//! Dependent storages make x' = f + F·dΨ/dt, with their states Ψ over x, time
//! and what switches. Where Ψ jumps its rate is an impulse, and the states
//! take part in the jump: x⁺ − x⁻ = F·(Ψ⁺ − Ψ⁻).

use crate::model::freeze::Freezer;
use crate::model::linearised::Linearised;
use crate::sensitivity::Sensitivities;
use crate::system::{EvaluationError, System, Values};
use crate::tolerance::{JUMP_DIFFERENCE, JUMP_ITERATIONS, JUMP_STEP};
use paynter_algebra::{Expr, Pool, Symbol};
use paynter_equations::Equations;
use paynter_numerics::linalg::PivotedFactors;
use paynter_numerics::newton::{Iteration, Limits, Progress, iterate};
use rustc_hash::FxHashMap;

/// What jumps, and what that carries along.
#[derive(Debug, Clone, Default)]
pub(crate) struct Plan {
    /// The number of dependent states that may jump: Ψ.
    pub count: usize,
    /// Ψ, then the entries of F.
    pub functions: Vec<Expr>,
    /// Row and column of each entry of F.
    pub places: Vec<(usize, usize)>,
    /// Rows and columns where a rate is not linear in that of a dependent state: no jump follows from an
    /// impulse there.
    pub bent: Vec<(usize, usize)>,
    /// Outputs in which an impulse of a dependent state's rate shows.
    pub impulses: Vec<(usize, usize)>,
}

/// Finds the dependent states of a model that may jump.
pub(crate) fn plan(
    pool: &mut Pool,
    equations: &Equations,
    signals: &FxHashMap<Symbol, Expr>,
    freezer: &mut Freezer,
) -> Plan {
    let Some(reduction) = &equations.reduction else { return Plan::default() };
    let rates: Vec<Symbol> = reduction.dependent.iter().map(|(rate, _)| *rate).collect();
    let reads_rates = |pool: &Pool, e: Expr| rates.iter().any(|rate| pool.depends_on(e, *rate));
    // What reads rates has become a state, and its relations are none of the model's.
    let (places, values): (Vec<Symbol>, Vec<Expr>) =
        reduction.dependent.iter().filter(|(_, value)| !reads_rates(pool, *value)).copied().unzip();
    let values = pool.substitute_all(&values, signals);
    let values = freezer.freeze(pool, &values);
    let switches = |pool: &Pool, e: Expr| {
        let read = pool.symbols(e);
        // Measured signals may jump from one line of their tables to the next.
        freezer.relations.iter().any(|r| r.jumps && read.binary_search(&r.mode).is_ok())
            || freezer.pieces.iter().any(|piece| read.binary_search(&piece.value).is_ok())
    };
    let jumping: Vec<(Symbol, Expr)> =
        places.into_iter().zip(values).filter(|(_, value)| switches(pool, *value)).collect();
    let mut plan = Plan {
        count: jumping.len(),
        functions: jumping.iter().map(|(_, value)| *value).collect(),
        ..Plan::default()
    };
    let zero = pool.zero();
    let mut factors = Vec::new();
    for (column, (symbol, _)) in jumping.iter().enumerate() {
        for (row, rate) in reduction.rates.iter().enumerate() {
            let factor = pool.diff(*rate, *symbol);
            if reads_rates(pool, factor) {
                plan.bent.push((row, column));
            } else if factor != zero {
                plan.places.push((row, column));
                factors.push(factor);
            }
        }
        let reads = |e: &Expr| pool.depends_on(*e, *symbol);
        let shown = reduction.outputs.iter().enumerate().filter(|(_, e)| reads(e));
        plan.impulses.extend(shown.map(|(output, _)| (output, column)));
    }
    let factors = pool.substitute_all(&factors, signals);
    plan.functions.extend(freezer.freeze(pool, &factors));
    plan
}

/// The functions of a plan, at work.
#[derive(Debug)]
pub(crate) struct Jumps {
    pub count: usize,
    pub places: Vec<(usize, usize)>,
    pub bent: Vec<(usize, usize)>,
    pub impulses: Vec<(usize, usize)>,
    /// Ψ and F with their derivatives; the last lane is time.
    pub full: Linearised,
}

/// A jump of the state.
pub(crate) struct Jump {
    /// The state after it.
    pub x: Vec<f64>,
    /// By how much each dependent state jumps.
    by: Vec<f64>,
    before: Values,
    after: Values,
}

/// Jumps are linear in the states, or nearly so: corrections are whole.
const JUMP_LIMITS: Limits = Limits { iterations: JUMP_ITERATIONS, smallest_damping: 1.0 };

/// The iteration for the state after a jump.
struct JumpIteration<'a, 'm> {
    system: &'a mut System<'m>,
    jumps: &'m Jumps,
    /// The time and the state before.
    at: (f64, &'a [f64]),
    factors: Vec<f64>,
    jump: Jump,
    change: Vec<f64>,
    small: bool,
}

impl Iteration for JumpIteration<'_, '_> {
    type Error = EvaluationError;

    fn correct(&mut self, _: usize) -> Result<Progress, EvaluationError> {
        let (jump, jumps, x) = (&mut self.jump, self.jumps, self.at.1);
        for j in 0..jumps.count {
            jump.by[j] = jump.after.data[j] - jump.before.data[j];
        }
        self.change = x.iter().zip(&jump.x).map(|(before, after)| before - after).collect();
        for ((row, column), factor) in jumps.places.iter().zip(&self.factors) {
            self.change[*row] += factor * jump.by[*column];
        }
        jumps.matrix(&self.factors, &jump.after, x.len()).solve(&mut self.change);
        let size = jump.x.iter().fold(f64::MIN_POSITIVE, |size, v| size.max(v.abs()));
        self.small = self.change.iter().all(|v| v.abs() <= JUMP_STEP * size);
        Ok(Progress::Continue)
    }

    fn advance(&mut self, _: f64) -> Result<bool, EvaluationError> {
        self.jump.x.iter_mut().zip(&self.change).for_each(|(x, change)| *x += change);
        self.system.jumps(self.at.0, &self.jump.x, &mut self.jump.after)?;
        Ok(true)
    }

    fn judge_move(&mut self, _: f64) -> Result<Progress, EvaluationError> {
        Ok(if self.small { Progress::Converged } else { Progress::Continue })
    }
}

impl Jump {
    /// The jump from a state, with the values of before the event; none where nothing jumps.
    pub fn find(
        system: &mut System<'_>,
        t: f64,
        x: &[f64],
        before: Values,
    ) -> Result<Option<Jump>, EvaluationError> {
        let Some(jumps) = &system.model.jumps else { return Ok(None) };
        let n = x.len();
        let mut after = Values::default();
        system.jumps(t, x, &mut after)?;
        let differs = |j: usize| {
            let (a, b) = (before.data[j], after.data[j]);
            (a - b).abs() > JUMP_DIFFERENCE * a.abs().max(b.abs())
        };
        if !(0..jumps.count).any(differs) {
            return Ok(None);
        }
        if let Some((row, _)) = jumps.bent.iter().find(|(_, column)| differs(*column)) {
            return Err(EvaluationError::JumpNotConverged(*row));
        }
        let jump = Jump { x: x.to_vec(), by: vec![0.0; jumps.count], before, after };
        // F is that of before the jump; Ψ may depend on the state itself.
        let factors = jump.after.data[jumps.count..jumps.full.rows].to_vec();
        let change = Vec::new();
        let mut search = JumpIteration { system, jumps, at: (t, x), factors, jump, change, small: false };
        let converged = iterate(&mut search, JUMP_LIMITS)?;
        let JumpIteration { mut jump, factors, change, .. } = search;
        if converged {
            jump.after.data[jumps.count..jumps.full.rows].copy_from_slice(&factors);
            return Ok(Some(jump));
        }
        let moved = |i: &usize| change[*i].abs();
        let most = (0..n).max_by(|a, b| moved(a).total_cmp(&moved(b)));
        Err(EvaluationError::JumpNotConverged(most.unwrap_or(0)))
    }

    /// Carries sensitivities through the jump, `shift` being how its time moves with each parameter.
    pub fn carry(&self, jumps: &Jumps, sensitivities: &mut Sensitivities, shift: &[f64], rates: [&[f64]; 2]) {
        let n = self.x.len();
        let full = &jumps.full;
        let factors = &self.after.data[jumps.count..full.rows];
        let mut matrix = jumps.matrix(factors, &self.after, n);
        let time = sensitivities.s.count;
        for (lane, shift) in shift.iter().enumerate() {
            // At the time of the event, which moves itself.
            let s: Vec<f64> = (0..n).map(|i| sensitivities.s.get(i, lane) + rates[0][i] * shift).collect();
            let derivative = |values: &Values, row: usize, with_states: bool| {
                let by_states = full.by_states(&values.data);
                let by_parameters = full.by_parameters(&values.data);
                let own = full.forcing.iter().zip(by_parameters).filter(|((r, _), _)| *r == row);
                let direct: f64 = own
                    .map(|((_, l), value)| match *l {
                        l if l == lane => *value,
                        l if l == time => value * shift,
                        _ => 0.0,
                    })
                    .sum();
                let through: f64 =
                    full.pattern.row(row).map(|e| by_states[e] * s[full.pattern.at[e] as usize]).sum();
                if with_states { direct + through } else { direct }
            };
            let mut right = s.clone();
            for (number, (row, column)) in jumps.places.iter().enumerate() {
                let change =
                    derivative(&self.after, *column, false) - derivative(&self.before, *column, true);
                right[*row] += factors[number] * change;
                right[*row] += derivative(&self.after, jumps.count + number, true) * self.by[*column];
            }
            matrix.solve(&mut right);
            for (i, value) in right.iter().enumerate() {
                sensitivities.s.set(i, lane, value - rates[1][i] * shift);
            }
        }
    }

    /// The outputs in which the jump shows as an impulse.
    pub fn impulses<'j>(&'j self, jumps: &'j Jumps) -> impl Iterator<Item = usize> + 'j {
        jumps.impulses.iter().filter(|(_, column)| self.by[*column] != 0.0).map(|(output, _)| *output)
    }
}

impl Jumps {
    /// 1 − F Ψₓ, factorised.
    fn matrix(&self, factors: &[f64], values: &Values, n: usize) -> PivotedFactors {
        let by_states = self.full.by_states(&values.data);
        let mut matrix = vec![0.0; n * n];
        for i in 0..n {
            matrix[i * n + i] = 1.0;
        }
        for ((row, column), factor) in self.places.iter().zip(factors) {
            for e in self.full.pattern.row(*column) {
                matrix[row * n + self.full.pattern.at[e] as usize] -= factor * by_states[e];
            }
        }
        let places: Vec<(usize, usize)> = (0..n * n).map(|place| (place / n, place % n)).collect();
        let mut factorised = PivotedFactors::new(n, &places);
        factorised.factorise(matrix.into_iter());
        factorised
    }
}
