//! How an operating point moves with the parameters: by the implicit function
//! theorem, F_w dw = −F_p dp for 0 = F(w, p). Where combinations of states are
//! conserved, F_w is singular, and the initial states take the missing
//! equations: ℓᵀ(x − x₀) = 0 for ℓᵀf = 0. That holds where ℓ is the same
//! everywhere. Where it is not, as for the energy of bodies that exchange heat,
//! rests lie side by side and the whole motion tells which is reached: what
//! depends on its start, or on the law of what is conserved, is not known.

use std::collections::BTreeMap;

use paynter_algebra::{Expr, Pool, Symbol};
use paynter_base::CancellationToken;
use paynter_base::random::Random;
use paynter_equations::Equations;
use paynter_graph::{BondGraph, Variable};
use rustc_hash::FxHashMap;

use crate::linalg::elimination::{Elimination, Rows};
use crate::newton::{Limits, System, Verdict, newton};
use crate::tolerance::{
    CONSERVED_PIVOT, CONSERVED_POINTS, CONVERGED_SHIFT, ROUNDED_REST, SHIFT_ITERATIONS, SMALLEST_DAMPING,
    TURNED_SUM,
};
use crate::{CompileError, Program};

/// The limits of the search for a steady state near the nominal one.
const LIMITS: Limits = Limits { iterations: SHIFT_ITERATIONS, smallest_damping: SMALLEST_DAMPING };

/// The equations of a steady state over parameters.
#[derive(Debug)]
pub struct Steady {
    /// States that rest, then implicit unknowns.
    pub sought: Vec<Symbol>,
    /// How many of them are states.
    states: usize,
    /// The nominal point.
    nominal: Vec<f64>,
    /// Inputs and time: symbol and nominal value.
    fixed: Vec<(Symbol, f64)>,
    /// Inputs whose values depend on parameters.
    inputs: Affected,
    residuals: Program,
    jacobian: Partials,
    initial: Program,
    /// By parameter: ∂F/∂p, ∂x₀/∂p, and ∂F_w/∂p for what is conserved.
    by_parameter: Vec<Partial>,
    /// ∂F/∂u of the inputs that depend on parameters.
    by_input: Partials,
}

/// Why a steady state has no derivatives by parameters.
#[derive(Debug, Clone, PartialEq)]
pub enum Unmoved {
    /// The equations leave it undetermined.
    Undetermined,
    /// Which of many rests is reached depends on these parameters, by place among those asked for, through the whole
    /// motion.
    ByMotion(Vec<usize>),
    /// With a change of these parameters nothing rests beside the point: something that is conserved there is so no
    /// more, as with a leak of zero.
    NoRest(Vec<usize>),
}

/// The derivatives of a steady state by each parameter, by symbol, and the parameters by which it has none.
#[derive(Debug, Default)]
struct Moves {
    list: Vec<FxHashMap<Symbol, f64>>,
    by_motion: Vec<usize>,
    no_rest: Vec<usize>,
}

/// What keeps its value: ℓ, and whether it is the same everywhere.
#[derive(Debug, Clone)]
struct Kept {
    by_state: Vec<f64>,
    constant: bool,
}

/// Inputs with values over parameters: places among the fixed symbols, and their values.
#[derive(Debug)]
struct Affected {
    places: Vec<usize>,
    values: Program,
}

/// Derivatives by place.
#[derive(Debug)]
struct Partials {
    places: Vec<(usize, usize)>,
    program: Program,
}

#[derive(Debug)]
struct Partial {
    /// The place of the parameter among all.
    place: Option<usize>,
    residuals: Partials,
    initial: Partials,
    inputs: Partials,
    jacobian: Partials,
}

impl Steady {
    /// Prepares the equations for the parameters asked for; `values` is the nominal point.
    /// Programs take all parameters, then inputs and time, then what is sought.
    pub fn new(
        pool: &mut Pool,
        graph: &BondGraph,
        equations: &Equations,
        parameters: &[Symbol],
        values: &BTreeMap<Symbol, f64>,
    ) -> Result<Steady, CompileError> {
        Steady::of(pool, graph, equations, (parameters, values), false)
    }

    /// Prepares the equations of a point whose states and inputs are held: what is implicit follows its laws.
    pub fn held(
        pool: &mut Pool,
        graph: &BondGraph,
        equations: &Equations,
        parameters: &[Symbol],
        values: &BTreeMap<Symbol, f64>,
    ) -> Result<Steady, CompileError> {
        Steady::of(pool, graph, equations, (parameters, values), true)
    }

    fn of(
        pool: &mut Pool,
        graph: &BondGraph,
        equations: &Equations,
        (parameters, values): (&[Symbol], &BTreeMap<Symbol, f64>),
        held: bool,
    ) -> Result<Steady, CompileError> {
        let resting = equations.resting(pool);
        let active: Vec<usize> = (0..equations.states.len()).filter(|&k| resting[k] && !held).collect();
        let mut sought: Vec<Symbol> = active.iter().map(|&k| equations.states[k].symbol).collect();
        let states = sought.len();
        sought.extend(equations.constraints.iter().map(|c| c.unknown));
        let mut system: Vec<Expr> = active.iter().map(|&k| equations.rates[k]).collect();
        system.extend(equations.constraints.iter().map(|c| c.residual));
        let initial: Vec<Expr> = active.iter().map(|&k| equations.states[k].initial).collect();
        let of = |symbol: &Symbol| values.get(symbol).copied().unwrap_or(0.0);
        let mut fixed: Vec<(Symbol, f64)> = Vec::new();
        let mut moving: Vec<(usize, Expr)> = Vec::new();
        let time = graph.variables.symbol(Variable::Time);
        for input in &equations.inputs {
            let mut value = input.value;
            for symbol in &input.symbols {
                let inside = pool.symbols(value);
                let depends = graph.parameters.iter().any(|p| inside.binary_search(&p.symbol).is_ok());
                if depends && !held {
                    moving.push((fixed.len(), value));
                }
                fixed.push((*symbol, of(symbol)));
                value = match time {
                    Some(time) => pool.diff(value, time),
                    None => pool.zero(),
                };
            }
        }
        fixed.extend(time.map(|time| (time, of(&time))));
        if held {
            fixed.extend(equations.states.iter().map(|state| (state.symbol, of(&state.symbol))));
        }
        let mut arguments: Vec<Symbol> = graph.parameters.iter().map(|p| p.symbol).collect();
        arguments.extend(fixed.iter().map(|(symbol, _)| *symbol));
        arguments.extend(&sought);
        let moved: Vec<Symbol> = moving.iter().map(|(place, _)| fixed[*place].0).collect();
        let input_values: Vec<Expr> = moving.iter().map(|(_, value)| *value).collect();
        let (jacobian, entries) = derivatives(pool, &system, &sought, &arguments)?;
        let mut by_parameter = Vec::with_capacity(parameters.len());
        for parameter in parameters {
            let one = [*parameter];
            by_parameter.push(Partial {
                place: graph.parameters.iter().position(|p| p.symbol == *parameter),
                residuals: derivatives(pool, &system, &one, &arguments)?.0,
                initial: derivatives(pool, &initial, &one, &arguments)?.0,
                inputs: derivatives(pool, &input_values, &one, &arguments)?.0,
                jacobian: derivatives(pool, &entries, &one, &arguments)?.0,
            });
        }
        let nominal = sought.iter().map(of).collect();
        Ok(Steady {
            states,
            nominal,
            inputs: Affected {
                places: moving.iter().map(|(place, _)| *place).collect(),
                values: Program::compile(pool, &input_values, &arguments)?,
            },
            residuals: Program::compile(pool, &system, &arguments)?,
            initial: Program::compile(pool, &initial, &arguments)?,
            by_input: derivatives(pool, &system, &moved, &arguments)?.0,
            jacobian,
            by_parameter,
            sought,
            fixed,
        })
    }

    /// The derivatives of the point by each parameter: inputs that depend on
    /// it and what is sought, by symbol.
    pub fn shift(&self, parameters: &[f64]) -> Result<Vec<FxHashMap<Symbol, f64>>, Unmoved> {
        match self.moves(parameters).ok_or(Unmoved::Undetermined)? {
            moves if !moves.no_rest.is_empty() => Err(Unmoved::NoRest(moves.no_rest)),
            moves if !moves.by_motion.is_empty() => Err(Unmoved::ByMotion(moves.by_motion)),
            moves => Ok(moves.list),
        }
    }

    /// See [`Steady::shift`]; nothing where the equations leave the point undetermined.
    fn moves(&self, parameters: &[f64]) -> Option<Moves> {
        let arguments = self.arguments(parameters, &self.nominal);
        let jacobian = self.jacobian.run(&arguments)?;
        let initial = run(&self.initial, &arguments)?;
        let conserved = self.conserved(parameters, &jacobian, &initial);
        let by_input = self.by_input.run(&arguments)?;
        let n = self.sought.len();
        let factors = self.stacked(&jacobian, &conserved);
        if factors.rank() < n {
            return None;
        }
        let began_elsewhere = !self.rests_at(&initial);
        // What rounding may make of each equation.
        let mut sizes = vec![0.0f64; n];
        jacobian.iter().for_each(|(i, j, value)| sizes[*i] += (value * self.nominal[*j]).abs());
        let mut found = Moves::default();
        for (place, partial) in self.by_parameter.iter().enumerate() {
            let mut right = vec![0.0; n];
            for (i, _, value) in partial.residuals.run(&arguments)? {
                right[i] -= value;
            }
            let mut inputs = vec![0.0; self.inputs.places.len()];
            for (k, _, value) in partial.inputs.run(&arguments)? {
                inputs[k] = value;
            }
            for (i, k, value) in &by_input {
                right[*i] -= value * inputs[*k];
            }
            let mut start = vec![0.0; self.states];
            for (k, _, value) in partial.initial.run(&arguments)? {
                start[k] = value;
            }
            let number = partial.place.map_or(0.0, |place| parameters[place].abs());
            let change = if number > 0.0 { number } else { 1.0 };
            let unbalanced = |l: &Kept| {
                let terms = || l.by_state.iter().zip(&right).map(|(l, x)| l * x);
                let size = terms().map(f64::abs).sum::<f64>();
                let parts = l.by_state.iter().zip(&sizes).map(|(l, size)| (l * size).abs()).sum::<f64>();
                terms().sum::<f64>().abs() > TURNED_SUM * size + ROUNDED_REST * parts / change
            };
            if conserved.iter().any(unbalanced) {
                found.no_rest.push(place);
            }
            let turned = if conserved.is_empty() { Vec::new() } else { partial.jacobian.run(&arguments)? };
            for l in &conserved {
                let kept: f64 = l.by_state.iter().zip(&start).map(|(l, x)| l * x).sum();
                let turn = self.turned(&jacobian, &turned, &l.by_state);
                let offset: f64 = (0..self.states).map(|k| turn[k] * (initial[k] - self.nominal[k])).sum();
                right.push(kept + offset);
                let matters = start.iter().chain(&turn).any(|x| *x != 0.0);
                if !l.constant && began_elsewhere && matters && found.by_motion.last() != Some(&place) {
                    found.by_motion.push(place);
                }
            }
            let mut moved: FxHashMap<Symbol, f64> =
                self.sought.iter().copied().zip(factors.solve(&right)).collect();
            for (place, derivative) in self.inputs.places.iter().zip(&inputs) {
                moved.insert(self.fixed[*place].0, *derivative);
            }
            found.list.push(moved);
        }
        Some(found)
    }

    /// Finds the steady state that is reached at other parameters, near the nominal one: the values of inputs, time
    /// and what is sought, by symbol. Nothing where only the motion tells which it is.
    pub fn find(&self, parameters: &[f64]) -> Option<Vec<(Symbol, f64)>> {
        let arguments = self.arguments(parameters, &self.nominal);
        let initial = run(&self.initial, &arguments)?;
        let conserved = self.conserved(parameters, &self.jacobian.run(&arguments)?, &initial);
        if conserved.iter().any(|l| !l.constant) && !self.rests_at(&initial) {
            return None;
        }
        self.beside(parameters)
    }

    /// Finds a steady state near the nominal one at other parameters; where rests lie side by side, and only the
    /// motion tells which is reached, the nearest.
    pub fn beside(&self, parameters: &[f64]) -> Option<Vec<(Symbol, f64)>> {
        let sizes = self.nominal.iter().map(|x| x.abs()).collect();
        let mut search = Search { steady: self, parameters, conserved: Vec::new(), factors: None, sizes };
        let w = newton(&mut search, &self.nominal, LIMITS, &CancellationToken::new()).ok()??;
        let fixed = self.arguments(parameters, &w);
        let symbols = self.fixed.iter().map(|(symbol, _)| *symbol).chain(self.sought.iter().copied());
        Some(symbols.zip(fixed[parameters.len()..].iter().copied()).collect())
    }

    /// Whether the nominal point is where the motion begins.
    fn rests_at(&self, initial: &[f64]) -> bool {
        initial.iter().zip(&self.nominal).all(|(a, b)| (a - b).abs() <= TURNED_SUM * (a.abs() + b.abs()))
    }

    /// Parameters, inputs and time, what is sought.
    fn arguments(&self, parameters: &[f64], w: &[f64]) -> Vec<f64> {
        let mut arguments = parameters.to_vec();
        arguments.extend(self.fixed.iter().map(|(_, value)| *value));
        arguments.extend_from_slice(w);
        if !self.inputs.places.is_empty() {
            let mut values = vec![0.0; self.inputs.places.len()];
            self.inputs.values.run(&arguments, &mut Vec::new(), &mut values);
            for (place, value) in self.inputs.places.iter().zip(values) {
                arguments[parameters.len() + place] = value;
            }
        }
        arguments
    }

    /// Combinations of rates that are zero whatever the state is: the left
    /// null vectors of F_w over rates alone. Told apart is whether they are null
    /// vectors at other points as well.
    fn conserved(&self, parameters: &[f64], jacobian: &[(usize, usize, f64)], initial: &[f64]) -> Vec<Kept> {
        let null = self.transposed(jacobian).null_space(CONSERVED_PIVOT);
        let null: Vec<Vec<f64>> =
            null.into_iter().filter(|l| l[self.states..].iter().all(|x| *x == 0.0)).collect();
        if null.is_empty() {
            return Vec::new();
        }
        // By column of F_w elsewhere: what is left of each of them.
        let mut left: Rows = Vec::new();
        for jacobian in self.elsewhere(parameters, initial) {
            let mut rows: Rows = vec![Vec::new(); self.sought.len()];
            for (k, l) in null.iter().enumerate() {
                let sums = self.sums(&jacobian, l).into_iter().enumerate().filter(|(_, x)| *x != 0.0);
                sums.for_each(|(j, x)| rows[j].push((k, x)));
            }
            left.extend(rows.into_iter().filter(|row| !row.is_empty()));
        }
        let factors = Elimination::new(&left, null.len(), TURNED_SUM);
        let together = |y: Vec<f64>| -> Vec<f64> {
            let entry = |i: usize| null.iter().zip(&y).map(|(l, y)| l[i] * y).sum();
            (0..self.sought.len()).map(entry).collect()
        };
        let constant = factors.null_space(0.0).into_iter().map(together);
        let free = factors.free();
        let others = null.iter().enumerate().filter(|(k, _)| !free.contains(k)).map(|(_, l)| l.clone());
        let kept = |constant: bool| move |by_state: Vec<f64>| Kept { by_state, constant };
        constant.map(kept(true)).chain(others.map(kept(false))).collect()
    }

    /// F_w at points around the nominal one and the start, where it is defined.
    fn elsewhere(&self, parameters: &[f64], initial: &[f64]) -> Vec<Vec<(usize, usize, f64)>> {
        let mut random = Random::new(23);
        let mut found = Vec::new();
        for _ in 0..4 * CONSERVED_POINTS {
            let point = self.nominal.iter().enumerate().map(|(k, x)| {
                let start = initial.get(k).copied().unwrap_or(*x);
                let size = if *x == 0.0 && start == 0.0 { 1.0 } else { x.abs() };
                let part = random.unit();
                x + part * (start - x) + size * (random.unit() - 0.5)
            });
            let point: Vec<f64> = point.collect();
            found.extend(self.jacobian.run(&self.arguments(parameters, &point)));
            if found.len() == CONSERVED_POINTS {
                break;
            }
        }
        found
    }

    /// ℓᵀM by column, zero where that is rounding.
    fn sums(&self, entries: &[(usize, usize, f64)], l: &[f64]) -> Vec<f64> {
        let (mut sums, mut sizes) = (vec![0.0; self.sought.len()], vec![0.0f64; self.sought.len()]);
        for (i, j, value) in entries {
            sums[*j] += l[*i] * value;
            sizes[*j] += (l[*i] * value).abs();
        }
        let zero = |(sum, size): (f64, f64)| if sum.abs() <= TURNED_SUM * size { 0.0 } else { sum };
        sums.into_iter().zip(sizes).map(zero).collect()
    }

    /// F_wᵀ, factored.
    fn transposed(&self, jacobian: &[(usize, usize, f64)]) -> Elimination {
        let n = self.sought.len();
        let mut rows: Rows = vec![Vec::new(); n];
        for (i, j, value) in jacobian {
            rows[*j].push((*i, *value));
        }
        Elimination::new(&rows, n, CONSERVED_PIVOT)
    }

    /// F_w with the conserved combinations below it, factored.
    fn stacked(&self, jacobian: &[(usize, usize, f64)], conserved: &[Kept]) -> Elimination {
        let n = self.sought.len();
        let mut rows: Rows = vec![Vec::new(); n];
        for (i, j, value) in jacobian {
            rows[*i].push((*j, *value));
        }
        rows.extend(
            conserved.iter().map(|l| l.by_state[..self.states].iter().copied().enumerate().collect()),
        );
        Elimination::new(&rows, n, CONSERVED_PIVOT)
    }

    /// How a conserved combination turns with a parameter: F_wᵀ ℓ_p = −(∂F_w/∂p)ᵀ ℓ.
    fn turned(
        &self,
        jacobian: &[(usize, usize, f64)],
        partial: &[(usize, usize, f64)],
        l: &[f64],
    ) -> Vec<f64> {
        let entries = partial.iter().map(|(entry, _, value)| {
            let (i, j) = self.jacobian.places[*entry];
            (i, j, -value)
        });
        let right = self.sums(&entries.collect::<Vec<_>>(), l);
        if right.iter().all(|x| *x == 0.0) {
            return right;
        }
        self.transposed(jacobian).solve(&right)
    }
}

/// The steady state at other parameters on its way: F(w) = 0, and the differences x₀ − x, of which the
/// conserved combinations vanish, or x̄ − x with the nominal point x̄ for those that are not the same everywhere.
struct Search<'a> {
    steady: &'a Steady,
    parameters: &'a [f64],
    conserved: Vec<Kept>,
    factors: Option<Elimination>,
    /// The largest values met on the way.
    sizes: Vec<f64>,
}

impl System for Search<'_> {
    fn residual(&mut self, w: &[f64]) -> Option<Vec<f64>> {
        let arguments = self.steady.arguments(self.parameters, w);
        let mut residual = run(&self.steady.residuals, &arguments)?;
        let initial = run(&self.steady.initial, &arguments)?;
        residual.extend(initial.iter().zip(w).map(|(initial, w)| initial - w));
        residual
            .extend(self.steady.nominal.iter().zip(w).take(initial.len()).map(|(nominal, w)| nominal - w));
        Some(residual)
    }

    fn correction(&mut self, w: &[f64], residual: &[f64]) -> Option<Vec<f64>> {
        let arguments = self.steady.arguments(self.parameters, w);
        let jacobian = self.steady.jacobian.run(&arguments)?;
        let initial = run(&self.steady.initial, &arguments)?;
        self.conserved = self.steady.conserved(self.parameters, &jacobian, &initial);
        let factors = self.steady.stacked(&jacobian, &self.conserved);
        if factors.rank() < w.len() {
            return None;
        }
        self.factors = Some(factors);
        let step = self.simplified_correction(residual);
        for (size, (w, step)) in self.sizes.iter_mut().zip(w.iter().zip(&step)) {
            *size = size.max(w.abs()).max(step.abs());
        }
        Some(step)
    }

    fn simplified_correction(&mut self, residual: &[f64]) -> Vec<f64> {
        let (equations, offsets) = residual.split_at(self.steady.sought.len());
        let (from_start, from_nominal) = offsets.split_at(self.steady.states);
        let mut right: Vec<f64> = equations.iter().map(|r| -r).collect();
        right.extend(self.conserved.iter().map(|l| {
            let offsets = if l.constant { from_start } else { from_nominal };
            l.by_state.iter().zip(offsets).map(|(l, x)| l * x).sum::<f64>()
        }));
        self.factors.as_ref().map_or_else(Vec::new, |factors| factors.solve(&right))
    }

    fn length(&self, correction: &[f64]) -> f64 {
        let part = |(d, size): (&f64, &f64)| if *d == 0.0 { 0.0 } else { (d / size).abs() };
        correction.iter().zip(&self.sizes).map(part).fold(0.0, f64::max)
    }

    fn judge(&mut self, w: &[f64], _: &[f64], correction: &[f64]) -> Verdict {
        let mut places = w.iter().zip(correction).zip(&self.steady.nominal);
        let small = |((w, step), nominal): ((&f64, &f64), &f64)| {
            *step == 0.0 || step.abs() <= CONVERGED_SHIFT * ((w + step).abs() + nominal.abs())
        };
        if places.all(small) { Verdict::SolvedAfterCorrection } else { Verdict::Continue }
    }
}

impl Partials {
    fn run(&self, arguments: &[f64]) -> Option<Vec<(usize, usize, f64)>> {
        let values = run(&self.program, arguments)?;
        Some(self.places.iter().zip(values).map(|((i, j), value)| (*i, *j, value)).collect())
    }
}

/// Differentiates expressions by symbols, where they occur: compiled, and as expressions.
fn derivatives(
    pool: &mut Pool,
    list: &[Expr],
    symbols: &[Symbol],
    arguments: &[Symbol],
) -> Result<(Partials, Vec<Expr>), CompileError> {
    let column: FxHashMap<Symbol, usize> = symbols.iter().enumerate().map(|(j, s)| (*s, j)).collect();
    let zero = pool.zero();
    let (mut places, mut entries) = (Vec::new(), Vec::new());
    for (i, e) in list.iter().enumerate() {
        for symbol in pool.symbols(*e) {
            let Some(&j) = column.get(&symbol) else { continue };
            let derivative = pool.diff(*e, symbol);
            if derivative != zero {
                places.push((i, j));
                entries.push(derivative);
            }
        }
    }
    Ok((Partials { places, program: Program::compile(pool, &entries, arguments)? }, entries))
}

fn run(program: &Program, arguments: &[f64]) -> Option<Vec<f64>> {
    let mut out = vec![0.0; program.results()];
    program.run(arguments, &mut Vec::new(), &mut out);
    out.iter().all(|x| x.is_finite()).then_some(out)
}
