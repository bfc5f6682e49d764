//! Laws that have no single derivative at a point: infinite ones (the square root
//! at zero), kinks and jumps. Found by differences to both sides at several
//! distances, for the laws that hold a function which can be nonsmooth.

use paynter_algebra::{Expr, Func, Node, Pool, Symbol};
use paynter_equations::Equations;
use paynter_graph::{BondGraph, Class, ElementId, Law, Variable};

use super::probes::{Accuracy, Probes};
use crate::program::Program;
use crate::tolerance::{
    DIFFERENCE_DISTANCES, INFINITE_GROWTH, JUMP_GROWTH, KINK_DIFFERENCE, KINK_PERSISTENCE, LAW_ROUNDING,
    QUOTIENT_NOISE, ROUNDED_ZERO,
};

/// Why a law has no derivative.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Nonsmooth {
    /// It is infinite.
    Infinite,
    /// It differs to both sides.
    Kink,
    /// The law jumps.
    Jump,
}

/// Lists the elements whose laws have no derivative at a point.
pub fn nonsmooth_laws(
    pool: &Pool,
    graph: &BondGraph,
    equations: &Equations,
    probes: &Probes,
) -> Vec<(ElementId, Nonsmooth)> {
    let mut found: Vec<(ElementId, Nonsmooth)> = Vec::new();
    for (element, law) in laws(pool, graph, equations).filter(|(_, law)| can_be_nonsmooth(pool, *law)) {
        for (_, derivative) in nonsmooth_variables(pool, graph, law, probes) {
            if !found.contains(&(element, derivative)) {
                found.push((element, derivative));
            }
        }
    }
    found
}

/// Lists the elements whose laws have derivatives at a point that have none themselves, and the variables
/// by which they have none.
pub fn nonsmooth_derivatives(
    pool: &mut Pool,
    graph: &BondGraph,
    equations: &Equations,
    probes: &Probes,
) -> Vec<(ElementId, Symbol, Nonsmooth)> {
    let mut found: Vec<(ElementId, Symbol, Nonsmooth)> = Vec::new();
    for (element, law) in
        laws(pool, graph, equations).filter(|(_, law)| can_be_nonsmooth(pool, *law)).collect::<Vec<_>>()
    {
        for symbol in variables(pool, graph, law) {
            let derivative = pool.diff(law, symbol);
            for (variable, rough) in nonsmooth_variables(pool, graph, derivative, probes) {
                if !found.contains(&(element, variable, rough)) {
                    found.push((element, variable, rough));
                }
            }
        }
    }
    found
}

/// Lists the elements whose laws have derivatives that cannot be believed at a point.
pub fn inaccurate_laws(
    pool: &mut Pool,
    graph: &BondGraph,
    equations: &Equations,
    probes: &Probes,
) -> Vec<(ElementId, Accuracy)> {
    let (mut elements, mut derivatives) = (Vec::new(), Vec::new());
    for (element, law) in laws(pool, graph, equations).collect::<Vec<_>>() {
        for symbol in variables(pool, graph, law) {
            elements.push(element);
            derivatives.push(pool.diff(law, symbol));
        }
    }
    let mut found: Vec<(ElementId, Accuracy)> = Vec::new();
    let judged = elements.into_iter().zip(probes.judge(pool, &derivatives));
    for (element, trust) in judged.filter(|(_, trust)| *trust > Accuracy::Good) {
        match found.iter_mut().find(|(known, _)| *known == element) {
            Some((_, known)) => *known = trust.max(*known),
            None => found.push((element, trust)),
        }
    }
    found
}

/// What a law reads besides parameters.
fn variables(pool: &Pool, graph: &BondGraph, law: Expr) -> Vec<Symbol> {
    let parameter =
        |symbol: &Symbol| matches!(graph.variables.meaning(*symbol), Some(Variable::Parameter(_)));
    pool.symbols(law).into_iter().filter(|symbol| !parameter(symbol)).collect()
}

/// Laws as they are computed, and implicit ones.
fn laws<'a>(
    pool: &'a Pool,
    graph: &'a BondGraph,
    equations: &'a Equations,
) -> impl Iterator<Item = (ElementId, Expr)> + 'a {
    // A junction has no law: what is rough in its sum is that of another element.
    let has_law = |id: &ElementId| !matches!(graph.element(*id).class(), Class::Junction(_));
    let definitions =
        equations.assignments.iter().filter_map(move |a| Some((a.element.filter(has_law)?, a.definition)));
    // An equation of several elements is one of junctions too; the roughest law among them matters.
    let rank = move |id: &&ElementId| match &graph.element(**id).law {
        Law::Equations(list) => {
            let sides = || list.iter().flat_map(|law| [law.left, law.right]);
            match (sides().any(|e| can_be_nonsmooth(pool, e)), sides().any(|e| is_curved(pool, graph, e))) {
                (true, _) => 0,
                (false, true) => 1,
                (false, false) => 2,
            }
        }
        _ if has_law(id) => 3,
        _ => 4,
    };
    let residuals = equations.constraints.iter().filter_map(move |c| {
        let roughest = c.elements.iter().min_by_key(rank).copied().filter(has_law)?;
        Some((roughest, c.residual))
    });
    definitions.chain(residuals)
}

/// Whether a side of a law is more than linear in its variables.
fn is_curved(pool: &Pool, graph: &BondGraph, side: Expr) -> bool {
    let locals = [&graph.locals.e, &graph.locals.f, &graph.locals.q, &graph.locals.p];
    let local =
        |e: Expr| pool.symbols(e).iter().any(|symbol| locals.iter().any(|list| list.contains(symbol)));
    pool.reachable(&[side]).into_iter().any(|node| match pool.node(node) {
        Node::Call(..) | Node::Select(..) => local(node),
        Node::Power(base, _) => local(base),
        _ => false,
    })
}

/// The variables by which an expression has no derivative.
fn nonsmooth_variables(pool: &Pool, graph: &BondGraph, e: Expr, probes: &Probes) -> Vec<(Symbol, Nonsmooth)> {
    let symbols: Vec<Symbol> = pool.symbols(e);
    let point = symbols.iter().map(|s| probes.base.get(s).copied()).collect::<Option<Vec<f64>>>();
    let (Some(point), Ok(program)) = (point, Program::compile(pool, &[e], &symbols)) else {
        return Vec::new();
    };
    let own = variables(pool, graph, e);
    let judged = symbols.iter().enumerate().filter(|(_, symbol)| own.contains(symbol));
    judged
        .filter_map(|(j, symbol)| {
            let size = probes.size(*symbol);
            Some((*symbol, judge(&program, &point, (j, size))?))
        })
        .collect()
}

/// Whether an expression holds a function with kinks or infinite derivatives.
fn can_be_nonsmooth(pool: &Pool, e: Expr) -> bool {
    pool.reachable(&[e]).into_iter().any(|node| match pool.node(node) {
        Node::Call(f, _) => {
            matches!(f, Func::Abs | Func::Sign | Func::Min | Func::Max | Func::Sqrt | Func::Asin | Func::Acos)
        }
        Node::Select(..) => true,
        Node::Power(_, exponent) => pool.as_int(exponent).is_none(),
        _ => false,
    })
}

/// Judges the derivative by one variable that is made up of parts of a size; nothing where it is smooth.
fn judge(program: &Program, point: &[f64], (j, size): (usize, f64)) -> Option<Nonsmooth> {
    let at = |x: f64| {
        let mut arguments = point.to_vec();
        arguments[j] = x;
        let mut out = [f64::NAN];
        program.run(&arguments, &mut Vec::new(), &mut out);
        out[0].is_finite().then_some(out[0])
    };
    let here = at(point[j])?;
    let size = match point[j].abs() {
        0.0 => {
            if size == 0.0 {
                1.0
            } else {
                size
            }
        }
        value if value < ROUNDED_ZERO * size => size,
        value => value,
    };
    let mut verdict = None;
    for (far, near) in DIFFERENCE_DISTANCES {
        // One side may lie outside the law's domain.
        let derivative = |h: f64| {
            let right = at(point[j] + h).map(|y| (y - here) / h);
            let left = at(point[j] - h).map(|y| (here - y) / h);
            (right, left)
        };
        let (outer, inner) = (derivative(far * size), derivative(near * size));
        // Differences below the rounding errors of the value, and of the variable it belongs to, tell nothing.
        let steepest = [outer.0, outer.1].into_iter().flatten().fold(0.0f64, |most, d| most.max(d.abs()));
        let noise = LAW_ROUNDING * (here.abs() + steepest * point[j].abs()) / (near * size);
        let one = judge_side(outer, inner, noise);
        if one.1 {
            verdict = Some(one.0);
            one.0?;
        }
    }
    verdict.flatten()
}

/// Compares difference quotients at two distances; tells also whether they say anything.
fn judge_side(
    (right, left): (Option<f64>, Option<f64>),
    (right_in, left_in): (Option<f64>, Option<f64>),
    noise: f64,
) -> (Option<Nonsmooth>, bool) {
    let steeper = |out: Option<f64>, inside: Option<f64>| match (out, inside) {
        (Some(out), Some(inside)) if inside.abs() > QUOTIENT_NOISE * noise => {
            inside.abs() / out.abs().max(noise)
        }
        _ => 0.0,
    };
    let growth = steeper(right, right_in).max(steeper(left, left_in));
    let largest = right_in.unwrap_or(0.0).abs().max(left_in.unwrap_or(0.0).abs());
    if largest <= QUOTIENT_NOISE * noise {
        return (None, largest == 0.0);
    }
    // The inner distance is a hundredth of the outer one: a jump's difference quotient grows by that.
    if growth > JUMP_GROWTH {
        return (Some(Nonsmooth::Jump), true);
    }
    if growth > INFINITE_GROWTH {
        return (Some(Nonsmooth::Infinite), true);
    }
    match (right, left, right_in, left_in) {
        (Some(right), Some(left), Some(right_in), Some(left_in)) => {
            let (outer, inner) = ((right - left).abs(), (right_in - left_in).abs());
            let kink = inner > KINK_DIFFERENCE * largest
                && inner > KINK_PERSISTENCE * outer
                && inner > QUOTIENT_NOISE * noise;
            (kink.then_some(Nonsmooth::Kink), true)
        }
        _ => (None, true),
    }
}
