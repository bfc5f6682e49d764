//! Laws that have no single slope at a point: infinite ones (the square root
//! at zero), kinks and jumps. Found by differences to both sides at several
//! distances, for the laws that hold a function which can be rough.

use std::collections::BTreeMap;

use paynter_algebra::{Expr, Func, Node, Pool, Symbol};
use paynter_equations::Equations;
use paynter_graph::ElementId;
use rustc_hash::FxHashSet;

use crate::program::{Program, Tables};

/// Why a law has no slope.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Slope {
    /// It is infinite.
    Infinite,
    /// It differs to both sides.
    Kink,
    /// The law jumps.
    Jump,
}

/// Distances at which differences are taken, beside the size of the variable (or one).
const DISTANCES: [(f64, f64); 3] = [(1e-4, 1e-6), (1e-7, 1e-9), (1e-10, 1e-12)];

/// What is left of a zero after rounding, well below the distances.
const NOTHING: f64 = 1e-13;

/// Lists the elements whose laws have no slope at a point.
pub fn rough_laws(
    pool: &Pool,
    equations: &Equations,
    values: &BTreeMap<Symbol, f64>,
    parameters: &FxHashSet<Symbol>,
    tables: &Tables,
) -> Vec<(ElementId, Slope)> {
    let values = with_assignments(pool, equations, values, tables);
    let mut found: Vec<(ElementId, Slope)> = Vec::new();
    for (element, law) in laws(pool, equations) {
        for (_, slope) in rough_variables(pool, law, &values, parameters, tables) {
            if !found.contains(&(element, slope)) {
                found.push((element, slope));
            }
        }
    }
    found
}

/// Lists the elements whose laws have slopes at a point that have none themselves, and the variables
/// by which they have none.
pub fn rough_slopes(
    pool: &mut Pool,
    equations: &Equations,
    values: &BTreeMap<Symbol, f64>,
    parameters: &FxHashSet<Symbol>,
    tables: &Tables,
) -> Vec<(ElementId, Symbol, Slope)> {
    let values = with_assignments(pool, equations, values, tables);
    let mut found: Vec<(ElementId, Symbol, Slope)> = Vec::new();
    for (element, law) in laws(pool, equations) {
        for symbol in pool.symbols(law).into_iter().filter(|symbol| !parameters.contains(symbol)) {
            let slope = pool.diff(law, symbol);
            for (variable, rough) in rough_variables(pool, slope, &values, parameters, tables) {
                if !found.contains(&(element, variable, rough)) {
                    found.push((element, variable, rough));
                }
            }
        }
    }
    found
}

/// The values of all variables.
fn with_assignments(
    pool: &Pool,
    equations: &Equations,
    values: &BTreeMap<Symbol, f64>,
    tables: &Tables,
) -> BTreeMap<Symbol, f64> {
    let mut values = values.clone();
    for assignment in &equations.assignments {
        if let Some(value) = super::evaluate(pool, assignment.value, &values, tables) {
            values.insert(assignment.symbol, value);
        }
    }
    values
}

/// The laws that can be rough.
fn laws(pool: &Pool, equations: &Equations) -> Vec<(ElementId, Expr)> {
    let definitions = equations.assignments.iter().filter_map(|a| Some((a.element?, a.definition)));
    let residuals = equations.constraints.iter().filter_map(|c| Some((*c.elements.first()?, c.residual)));
    definitions.chain(residuals).filter(|(_, law)| can_be_rough(pool, *law)).collect()
}

/// The variables by which an expression has no slope.
fn rough_variables(
    pool: &Pool,
    e: Expr,
    values: &BTreeMap<Symbol, f64>,
    parameters: &FxHashSet<Symbol>,
    tables: &Tables,
) -> Vec<(Symbol, Slope)> {
    let symbols: Vec<Symbol> = pool.symbols(e);
    let point = symbols.iter().map(|s| values.get(s).copied()).collect::<Option<Vec<f64>>>();
    let (Some(point), Ok(program)) = (point, Program::compile(pool, &[e], &symbols)) else {
        return Vec::new();
    };
    let variables = (0..symbols.len()).filter(|&j| !parameters.contains(&symbols[j]));
    variables.filter_map(|j| Some((symbols[j], judge(&program, &point, j, tables)?))).collect()
}

/// Whether an expression holds a function with kinks or infinite slopes.
fn can_be_rough(pool: &Pool, e: Expr) -> bool {
    pool.reachable(&[e]).into_iter().any(|node| match pool.node(node) {
        Node::Call(f, _) => matches!(f, Func::Abs | Func::Sign | Func::Min | Func::Max | Func::Sqrt),
        Node::Select(..) => true,
        Node::Power(_, exponent) => pool.as_int(exponent).is_none(),
        _ => false,
    })
}

/// Judges the slope by one variable; nothing where it is smooth.
fn judge(program: &Program, point: &[f64], j: usize, tables: &Tables) -> Option<Slope> {
    let at = |x: f64| {
        let mut arguments = point.to_vec();
        arguments[j] = x;
        let mut out = [f64::NAN];
        program.run_with(&arguments, tables, &mut Vec::new(), &mut out);
        out[0].is_finite().then_some(out[0])
    };
    let here = at(point[j])?;
    let size = if point[j].abs() < NOTHING { 1.0 } else { point[j].abs() };
    let mut verdict = None;
    for (far, near) in DISTANCES {
        // One side may lie outside the law's domain.
        let slope = |h: f64| {
            let right = at(point[j] + h).map(|y| (y - here) / h);
            let left = at(point[j] - h).map(|y| (here - y) / h);
            (right, left)
        };
        let (outer, inner) = (slope(far * size), slope(near * size));
        // Differences below the rounding errors of the value tell nothing.
        let noise = 1e-13 * here.abs() / (near * size);
        let one = judge_side(outer, inner, noise);
        if one.1 {
            verdict = Some(one.0);
            one.0?;
        }
    }
    verdict.flatten()
}

/// Compares slopes at two distances; tells also whether they say anything.
fn judge_side(
    (right, left): (Option<f64>, Option<f64>),
    (right_in, left_in): (Option<f64>, Option<f64>),
    noise: f64,
) -> (Option<Slope>, bool) {
    let steeper = |out: Option<f64>, inside: Option<f64>| match (out, inside) {
        (Some(out), Some(inside)) if inside.abs() > 20.0 * noise => inside.abs() / out.abs().max(noise),
        _ => 0.0,
    };
    let growth = steeper(right, right_in).max(steeper(left, left_in));
    let largest = right_in.unwrap_or(0.0).abs().max(left_in.unwrap_or(0.0).abs());
    if largest <= 20.0 * noise {
        return (None, largest == 0.0);
    }
    // The inner distance is a hundredth of the outer one: a jump's slope grows by that.
    if growth > 50.0 {
        return (Some(Slope::Jump), true);
    }
    if growth > 2.0 {
        return (Some(Slope::Infinite), true);
    }
    match (right, left, right_in, left_in) {
        (Some(right), Some(left), Some(right_in), Some(left_in)) => {
            let (outer, inner) = ((right - left).abs(), (right_in - left_in).abs());
            let kink = inner > 1e-3 * largest && inner > 0.3 * outer && inner > 20.0 * noise;
            (kink.then_some(Slope::Kink), true)
        }
        _ => (None, true),
    }
}
