//! Random bond graphs: the derived equations against the acausal equations of
//! the test kit, one for each port, so that a wrong causality cannot hide.
//!
//! `cargo xtask random SEED [COUNT]` runs other seeds.

#![allow(clippy::unwrap_used, clippy::panic)]

use paynter_algebra::poly::Budget;
use paynter_algebra::{EvalError, Expr, Pool, Rational as Exact, Symbol};
use paynter_base::CancellationToken;
use paynter_equations::{Equations, QueryError, derive, transfer};
use paynter_graph::BondGraph;
use paynter_testkit::Options;
use paynter_testkit::linear::{Pencil, small_point};
use paynter_testkit::nonlinear::{self, Point};
use paynter_testkit::number::{Number, Rational};
use paynter_testkit::property::{check, demand};
use paynter_testkit::read::{Causal, causal};
use paynter_testkit::rng::Rng;
use paynter_testkit::structure::Structure;
use rustc_hash::FxHashMap;

struct Derived {
    pool: Pool,
    graph: BondGraph,
    equations: Equations,
}

/// Brings a text to its equations; none where `check` would refuse it.
fn derived(text: &str) -> Result<Option<Derived>, String> {
    let Ok(Causal { mut pool, mut graph, causality }) = causal(text) else { return Ok(None) };
    match derive(&mut pool, &mut graph, &causality, &CancellationToken::new()) {
        Ok(equations) => Ok(Some(Derived { pool, graph, equations })),
        Err(QueryError::Cancelled) => Err("cancelled".to_owned()),
        Err(QueryError::Wrong(list)) => {
            Err(format!("check accepts it, but: {:?}", list.iter().map(|d| &d.message).collect::<Vec<_>>()))
        }
    }
}

/// The independent parameters with the values of a point.
fn at_point(pool: &mut Pool, structure: &Structure, point: &[Rational]) -> FxHashMap<Symbol, Expr> {
    structure
        .independent()
        .iter()
        .zip(point)
        .map(|(param, value)| {
            let symbol = pool.symbol(&paynter_graph::flat_name(&structure.params[*param].name));
            (symbol, pool.number(value.0.clone()))
        })
        .collect()
}

/// The transfer matrix at a rational point and frequency, by the derived equations.
fn transfer_at(
    derived: &mut Derived,
    structure: &Structure,
    point: &[Rational],
    s: &Rational,
) -> Result<Vec<Vec<Exact>>, String> {
    let Derived { pool, graph, equations } = derived;
    let map = at_point(pool, structure, point);
    let mut numeric = equations.clone();
    numeric.rates = pool.substitute_all(&numeric.rates, &map);
    for output in &mut numeric.outputs {
        output.value = pool.substitute(output.value, &map);
    }
    let space = numeric.state_space(pool, graph).ok_or("a linear model is said to be nonlinear")?;
    let found = transfer(pool, &numeric, &space, Budget::default(), &CancellationToken::new())
        .map_err(|_| "no transfer function")?;
    let value = pool.number(s.0.clone());
    let at: FxHashMap<Symbol, Expr> = [(found.s, value)].into_iter().collect();
    let mut out = vec![Vec::new(); numeric.outputs.len()];
    for entry in &found.entries {
        let quotient = pool.div(entry.num, entry.den);
        let value = pool.substitute(quotient, &at);
        out[entry.output].push(pool.as_rational(value).cloned().ok_or("not a number")?);
    }
    Ok(out)
}

#[test]
fn transfer_functions_equal_the_acausal_ones() {
    let judged = check(250, &Options::linear(), |text, structure| {
        let Some(mut derived) = derived(text)? else { return Ok(false) };
        let mut rng = Rng::new(7);
        for _ in 0..2 {
            let point: Vec<Rational> = small_point(structure, &mut rng);
            let s = Rational::ratio(rng.within(1, 50) as i64, rng.within(1, 7) as i64);
            let Some(pencil) = Pencil::assemble(structure, &point) else { continue };
            let Some(expected) = pencil.transfer(&s) else { continue };
            let found = transfer_at(&mut derived, structure, &point, &s)?;
            for (i, row) in expected.iter().enumerate() {
                for (j, value) in row.iter().enumerate() {
                    if found[i][j] != value.0 {
                        return Err(format!("H[{i}][{j}] is {} and should be {}", found[i][j], value.0));
                    }
                }
            }
        }
        Ok(true)
    });
    demand("models judged", judged, 200, 250);
}

#[test]
fn the_order_is_the_number_of_finite_eigenvalues() {
    let judged = check(150, &Options::linear(), |text, structure| {
        let Some(derived) = derived(text)? else { return Ok(false) };
        let Some(generic) = paynter_testkit::linear::generic(structure, 3) else { return Ok(false) };
        if generic.order != derived.equations.states.len() {
            return Err(format!(
                "{} states and {} finite eigenvalues",
                derived.equations.states.len(),
                generic.order
            ));
        }
        Ok(true)
    });
    demand("models judged", judged, 100, 150);
}

/// Newton's method on the constraints that were kept implicit, from several starts.
fn solve_constraints(pool: &Pool, equations: &Equations, values: &mut FxHashMap<Symbol, f64>) -> bool {
    [0.3, 1.0, -0.5, 3.0].into_iter().any(|start| {
        values.extend(equations.constraints.iter().map(|constraint| (constraint.unknown, start)));
        newton(pool, equations, values, (60, 1e-11))
    })
}

/// Newton's method on the implicit constraints from the values at hand: so many steps at most, to residuals below
/// a tolerance.
fn newton(
    pool: &Pool,
    equations: &Equations,
    values: &mut FxHashMap<Symbol, f64>,
    (steps, tolerance): (usize, f64),
) -> bool {
    let n = equations.constraints.len();
    let evaluate = |values: &FxHashMap<Symbol, f64>| -> Option<Vec<f64>> {
        let lookup = |symbol: Symbol| values.get(&symbol).copied();
        equations.constraints.iter().map(|c| pool.eval(c.residual, &lookup).ok()).collect()
    };
    for _ in 0..steps {
        let Some(r) = evaluate(values) else { return false };
        if r.iter().all(|x| x.abs() < tolerance) {
            return true;
        }
        let mut matrix = vec![vec![0.0; n + 1]; n];
        for (j, constraint) in equations.constraints.iter().enumerate() {
            let old = values[&constraint.unknown];
            let step = 1e-7 * (1.0 + old.abs());
            values.insert(constraint.unknown, old + step);
            let Some(moved) = evaluate(values) else { return false };
            values.insert(constraint.unknown, old);
            for i in 0..n {
                matrix[i][j] = (moved[i] - r[i]) / step;
            }
        }
        for i in 0..n {
            matrix[i][n] = -r[i];
        }
        let Some(step) = gauss(matrix) else { return false };
        for (constraint, delta) in equations.constraints.iter().zip(step) {
            *values.get_mut(&constraint.unknown).unwrap() += delta;
        }
    }
    false
}

/// Solves a small dense system with partial pivoting.
fn gauss(mut m: Vec<Vec<f64>>) -> Option<Vec<f64>> {
    let n = m.len();
    for k in 0..n {
        let pivot = (k..n).max_by(|&a, &b| m[a][k].abs().total_cmp(&m[b][k].abs()))?;
        m.swap(k, pivot);
        if m[k][k].abs() < 1e-13 {
            return None;
        }
        for i in k + 1..n {
            let factor = m[i][k] / m[k][k];
            for j in k..=n {
                m[i][j] -= factor * m[k][j];
            }
        }
    }
    let mut x = vec![0.0; n];
    for k in (0..n).rev() {
        let sum: f64 = (k + 1..n).map(|j| m[k][j] * x[j]).sum();
        x[k] = (m[k][n] - sum) / m[k][k];
    }
    Some(x)
}

#[test]
fn rates_of_nonlinear_models_equal_the_acausal_ones() {
    let judged = check(200, &Options::nonlinear(), |text, structure| {
        let Some(derived) = derived(text)? else { return Ok(false) };
        let Derived { pool, graph, equations } = &derived;
        let mut rng = Rng::new(11);
        let params: Vec<f64> = structure
            .independent()
            .iter()
            .map(|param| {
                let name = &structure.params[*param].name;
                graph.parameters.iter().find(|p| p.name == *name).map_or(1.0, |p| p.number)
            })
            .collect();
        let mut values: FxHashMap<Symbol, f64> =
            graph.parameters.iter().map(|p| (p.symbol, p.number)).collect();
        let inputs: Vec<f64> = structure.inputs.iter().map(|_| 0.3 + rng.unit()).collect();
        let input_rates: Vec<f64> = structure.inputs.iter().map(|_| 0.2 + rng.unit()).collect();
        for (k, input) in equations.inputs.iter().enumerate() {
            values.insert(input.symbols[0], inputs[k]);
            if let Some(rate) = input.symbols.get(1) {
                values.insert(*rate, input_rates[k]);
            }
        }
        let time = 0.4;
        if let Some(symbol) = graph.variables.symbol(paynter_graph::Variable::Time) {
            values.insert(symbol, time);
        }
        let mut states = std::collections::BTreeMap::new();
        for state in &equations.states {
            let value = 0.1 + rng.unit();
            values.insert(state.symbol, value);
            let shown =
                structure.states().into_iter().find(|(name, _)| paynter_graph::flat_name(name) == state.name);
            states.insert(shown.ok_or("a state without a name")?.0, value);
        }
        let point = Point { params, inputs, input_rates, time, states };
        let Some(expected) = nonlinear::solve(structure, &point) else { return Ok(false) };
        if !solve_constraints(pool, equations, &mut values) {
            return Ok(false);
        }
        let lookup = |symbol: Symbol| values.get(&symbol).copied();
        for (state, rate) in equations.states.iter().zip(&equations.rates) {
            let names = structure.states();
            let place = names.iter().position(|(name, _)| paynter_graph::flat_name(name) == state.name);
            let wanted = expected.rates[place.ok_or("no such state")?];
            let found = match pool.eval(*rate, &lookup) {
                Ok(found) => found,
                Err(EvalError::Unbound(symbol)) => return Err(format!("{} is left over", pool.name(symbol))),
                Err(_) => return Ok(false),
            };
            if (found - wanted).abs() > 1e-6 * (1.0 + wanted.abs()) {
                return Err(format!("{}' is {found} and should be {wanted}", state.name));
            }
        }
        for (output, wanted) in equations.outputs.iter().zip(&expected.outputs) {
            let Ok(found) = pool.eval(output.value, &lookup) else { return Ok(false) };
            if (found - wanted).abs() > 1e-6 * (1.0 + wanted.abs()) {
                return Err(format!("{} is {found} and should be {wanted}", output.name));
            }
        }
        Ok(true)
    });
    demand("models judged", judged, 100, 200);
}

/// Numbers for parameters, inputs and states of a model, each of the order of one.
fn random_values(derived: &Derived, rng: &mut Rng) -> FxHashMap<Symbol, f64> {
    let Derived { graph, equations, .. } = derived;
    let mut values: FxHashMap<Symbol, f64> = graph.parameters.iter().map(|p| (p.symbol, p.number)).collect();
    for input in &equations.inputs {
        values.extend(input.symbols.iter().map(|symbol| (*symbol, 0.3 + rng.unit())));
    }
    values.extend(graph.variables.symbol(paynter_graph::Variable::Time).map(|time| (time, 0.4)));
    values.extend(equations.states.iter().map(|state| (state.symbol, 0.1 + rng.unit())));
    values
}

#[test]
fn equations_hold_nothing_but_what_they_list() {
    let judged = check(150, &Options::nonlinear(), |text, _| {
        let Some(derived) = derived(text)? else { return Ok(false) };
        let Derived { pool, graph, equations } = &derived;
        let mut listed: Vec<Symbol> = graph.parameters.iter().map(|p| p.symbol).collect();
        listed.extend(equations.states.iter().map(|state| state.symbol));
        listed.extend(equations.constraints.iter().map(|constraint| constraint.unknown));
        listed.extend(equations.inputs.iter().flat_map(|input| input.symbols.iter().copied()));
        listed.extend(graph.variables.symbol(paynter_graph::Variable::Time));
        let outputs = equations.outputs.iter().map(|output| output.value);
        let residuals = equations.constraints.iter().map(|constraint| constraint.residual);
        let values = equations.assignments.iter().map(|assignment| assignment.value);
        for e in equations.rates.iter().copied().chain(outputs).chain(residuals).chain(values) {
            if let Some(symbol) = pool.symbols(e).into_iter().find(|symbol| !listed.contains(symbol)) {
                return Err(format!("`{}` is left in {}", pool.name(symbol), pool.display(e)));
            }
        }
        // Every implicit equation determines something, and every unknown is determined.
        let unknowns: Vec<Symbol> = equations.constraints.iter().map(|c| c.unknown).collect();
        let read: Vec<Vec<Symbol>> = equations.constraints.iter().map(|c| pool.symbols(c.residual)).collect();
        for (constraint, own) in equations.constraints.iter().zip(&read) {
            let determines = own.iter().any(|symbol| unknowns.contains(symbol));
            if !determines || !read.iter().any(|symbols| symbols.contains(&constraint.unknown)) {
                return Err(format!("`{}` is not determined", constraint.name));
            }
        }
        Ok(true)
    });
    demand("models judged", judged, 100, 150);
}

/// Storages on one junction behind a transformer or gyrator that can vanish: one of them is a state, and
/// the others follow it, whether their laws are multiples of each other or not.
#[test]
fn storages_on_one_junction_are_one_state() {
    let modulus = "Sf w = u; C x = 1; w -> x; init x.q = 1";
    for (rest, states) in [
        (
            "Sf s = u; 0 n; R r1 { e = f*abs(f) }; R r3 { e = k*f^3 }; MTF t = x.q; 1 j
             I i1 = k; I i2 = 3; R r = 1; s -> n; n -> r1, r3, t; t -> j; j -> i1, i2, r",
            vec!["x.q", "i1.p"],
        ),
        (
            "Se s = u; 1 a; R r0 = 1; MGY g = x.q; C c1 = k; 0 n; C c2 { q = k*tanh(e) }; C c3 = 0.5
             R r = 2; s -> a; a -> r0, n; n -> c2, c3, r; n -> g; g -> c1",
            vec!["x.q", "c1.q", "c2.q"],
        ),
        (
            "Se s = u; 1 a; R r0 { e = f + f^3 }; MTF t = x.q; 0 n; 0 m; C c2 = k; C c1 { e = k*q^3 }
             R r { f = e + e^3 }; s -> a; a -> r0, t; t -> n; n -> m; n -> c1; m -> c2, r",
            // A law that is flat at zero is not turned round.
            vec!["x.q", "c1.q"],
        ),
    ] {
        let text = format!("model m {{\n input u = 1; param k = 2\n {modulus}\n {rest}\n}}\n");
        let derived = derived(&text).unwrap().unwrap();
        let found: Vec<&str> = derived.equations.states.iter().map(|state| state.name.as_str()).collect();
        assert_eq!(found, states, "{text}");
    }
}

#[test]
fn linear_models_are_their_own_linearisation() {
    let judged = check(100, &Options::linear(), |text, _| {
        let Some(mut derived) = derived(text)? else { return Ok(false) };
        let Derived { pool, graph, equations } = &mut derived;
        let Some(space) = equations.state_space(pool, graph) else { return Ok(false) };
        let tangent = equations
            .linearise(pool, graph, None, &CancellationToken::new())
            .map_err(|_| "no linearisation")?;
        for (x, y) in [(&space.a, &tangent.a), (&space.c, &tangent.c)]
            .into_iter()
            .chain(space.b.iter().zip(&tangent.b))
            .chain(space.d.iter().zip(&tangent.d))
        {
            if x != y {
                return Err(format!("{x:?} is linearised to {y:?}"));
            }
        }
        if space.offset != tangent.offset {
            return Err("the constant terms differ".to_owned());
        }
        Ok(true)
    });
    demand("models judged", judged, 80, 100);
}

#[test]
fn linearisations_are_differences_of_the_implicit_system() {
    let judged = check(150, &Options::nonlinear(), |text, _| {
        let Some(mut derived) = derived(text)? else { return Ok(false) };
        let mut values = random_values(&derived, &mut Rng::new(5));
        let Derived { pool, graph, equations } = &mut derived;
        if !solve_constraints(pool, equations, &mut values) {
            return Ok(false);
        }
        let Ok(tangent) = equations.linearise(pool, graph, None, &CancellationToken::new()) else {
            return Err("no linearisation".to_owned());
        };
        let mut columns: Vec<(Symbol, usize, Option<usize>)> =
            equations.states.iter().enumerate().map(|(j, state)| (state.symbol, j, None)).collect();
        for (j, input) in equations.inputs.iter().enumerate() {
            columns.extend(input.symbols.iter().enumerate().map(|(k, symbol)| (*symbol, j, Some(k))));
        }
        let evaluate = |pool: &Pool, values: &FxHashMap<Symbol, f64>| -> Option<Vec<f64>> {
            let lookup = |symbol: Symbol| values.get(&symbol).copied();
            let outputs = equations.outputs.iter().map(|output| output.value);
            equations.rates.iter().copied().chain(outputs).map(|e| pool.eval(e, &lookup).ok()).collect()
        };
        let n = equations.states.len();
        for (symbol, j, order) in columns {
            let h = 1e-5;
            let moved = |sign: f64| {
                let mut there = values.clone();
                *there.get_mut(&symbol)? += sign * h;
                polish(pool, equations, &mut there).then(|| evaluate(pool, &there)).flatten()
            };
            let (Some(up), Some(down)) = (moved(1.0), moved(-1.0)) else { return Ok(false) };
            for i in 0..up.len() {
                let (above, below) = match order {
                    None => (&tangent.a, &tangent.c),
                    Some(k) => (&tangent.b[k], &tangent.d[k]),
                };
                let entry = if i < n { above.get(pool, i, j) } else { below.get(pool, i - n, j) };
                let Ok(derivative) = pool.eval(entry, &|symbol| values.get(&symbol).copied()) else {
                    return Ok(false);
                };
                let wanted = (up[i] - down[i]) / (2.0 * h);
                let size = up[i].abs().max(1.0);
                if (derivative - wanted).abs() > 1e-4 * wanted.abs().max(size) {
                    return Err(format!("row {i}, column {j} ({order:?}): {derivative} instead of {wanted}"));
                }
            }
        }
        Ok(true)
    });
    demand("models judged", judged, 80, 150);
}

/// Follows the implicit unknowns from where they are: to the last digits, or as near as rounding lets them come.
fn polish(pool: &Pool, equations: &Equations, values: &mut FxHashMap<Symbol, f64>) -> bool {
    let found = newton(pool, equations, values, (20, 1e-13));
    let lookup = |symbol: Symbol| values.get(&symbol).copied();
    found
        || equations.constraints.iter().all(|c| pool.eval(c.residual, &lookup).is_ok_and(|x| x.abs() < 1e-10))
}
