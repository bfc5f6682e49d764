//! The linearisation at the operating point, and the choice of equations it
//! is made from: where a law has an infinite derivative in the direction in which
//! causality reads it, or loses its significant digits, it is read the other
//! way round.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use paynter_algebra::{Expr, Node, Pool, Symbol};
use paynter_base::number::short;
use paynter_base::{CancellationToken, Diagnostic, Diagnostics, code};
use paynter_equations::{Equations, QueryError, Reading, Readings, Sparse, State, StateSpace, derive_with};
use paynter_graph::{BondGraph, Causality, ElementId, Law, Port, Variable};
use rustc_hash::{FxHashMap, FxHashSet};

use super::{LinearModel, refused};
use crate::operating::{Accuracy, Nonsmooth, OperatingPoint, Probes, inaccurate_laws, nonsmooth_laws};
use crate::parametric::shift::Steady;
use crate::tolerance::{AGREEING_SIDES, BESIDE_A_BORDER, NOISE_ENTRY, ZERO_ENTRY};

/// Linearises a model at an operating point, by the derivation of its equations whose matrices can be
/// believed there. Says which laws have kinks at the point.
pub fn tangent(
    pool: &mut Pool,
    graph: &BondGraph,
    causality: &Causality,
    equations: Arc<Equations>,
    point: OperatingPoint,
    findings: &mut Diagnostics,
    token: &CancellationToken,
) -> Result<LinearModel, QueryError> {
    let values = point.values.clone();
    let mut linear = linearised(pool, graph, equations, point, values, false, token)?;
    let mut doubt = trust(pool, &linear);
    if doubt > Accuracy::Good {
        let probes = linear.probes(pool);
        let doubtful = inaccurate_laws(pool, graph, &linear.equations, &probes);
        let blamed: Vec<ElementId> =
            doubtful.iter().filter(|(_, found)| *found >= doubt).map(|(id, _)| *id).collect();
        for reading in [Reading::Apart, Reading::Turned] {
            if doubt > Accuracy::Good
                && let Some(turned) = read_anew(pool, graph, causality, &linear, &blamed, reading, token)?
            {
                let better = trust(pool, &turned);
                if better < doubt {
                    (linear, doubt) = (turned, better);
                }
            }
        }
        if doubt > Accuracy::Good {
            let diagnostic = doubted(pool, graph, &linear, &probes, &blamed, doubt);
            if doubt > Accuracy::Reduced {
                return Err(refused(diagnostic));
            }
            findings.push(diagnostic);
        }
    }
    for (element, kind) in nonsmooth_laws(pool, graph, &linear.equations, &linear.probes(pool)) {
        let element = graph.element(element);
        let how = match kind {
            Nonsmooth::Jump => "jumps",
            Nonsmooth::Kink => "has a kink",
            // The matrices are good, so that it does not matter.
            Nonsmooth::Infinite => continue,
        };
        let message = format!("the law of `{}` {how} at the operating point", element.name);
        findings.push(Diagnostic::new(code::KINK, message).at(element.span));
    }
    Ok(linear)
}

/// The linear model for derivatives by parameters: where these are infinite for the way in which loops
/// mix up laws with what they are given, with those laws read apart. Nothing where the model serves as it is.
pub fn to_differentiate(
    pool: &mut Pool,
    graph: &BondGraph,
    causality: &Causality,
    linear: &LinearModel,
    token: &CancellationToken,
) -> Result<Option<LinearModel>, QueryError> {
    if linear.point.is_none() || linear.equations.constraints.is_empty() {
        return Ok(None);
    }
    let elements = linear.equations.constraints.iter().flat_map(|constraint| &constraint.elements);
    let law = |id: &&ElementId| matches!(graph.element(**id).law, Law::Equations(_));
    let laws: Vec<ElementId> = elements.filter(law).copied().collect();
    let infinite = infinite_derivatives(pool, linear);
    if infinite > 0
        && let Some(apart) = read_anew(pool, graph, causality, linear, &laws, Reading::Apart, token)?
        && trust(pool, &apart) == Accuracy::Good
        && infinite_derivatives(pool, &apart) < infinite
    {
        return Ok(Some(apart));
    }
    Ok(None)
}

/// How many derivatives of entries of the matrices are infinite at the point.
fn infinite_derivatives(pool: &mut Pool, linear: &LinearModel) -> usize {
    let probes = linear.probes(pool);
    let mut derivatives = Vec::new();
    for entry in linear.space.entries() {
        for symbol in pool.symbols(entry) {
            derivatives.push(pool.diff(entry, symbol));
        }
    }
    probes.judge(pool, &derivatives).into_iter().filter(|trust| *trust == Accuracy::Infinite).count()
}

/// Fills in the matrices; where laws are `turned`, such that nothing divides by what is zero at the point.
fn linearised(
    pool: &mut Pool,
    graph: &BondGraph,
    equations: Arc<Equations>,
    point: OperatingPoint,
    values: BTreeMap<Symbol, f64>,
    turned: bool,
    token: &CancellationToken,
) -> Result<LinearModel, QueryError> {
    let near = near(pool, &equations, &values);
    let value = |symbol: Symbol| values.get(&symbol).copied();
    let pivots = turned.then_some(&value as &dyn Fn(Symbol) -> Option<f64>);
    let mut space = near.linearise(pool, graph, pivots, token)?;
    // At rest most inputs have no derivatives, and formulas need not name them.
    let derivatives = near.inputs.iter().flat_map(|input| input.symbols.iter().skip(1).copied());
    let resting = derivatives.filter(|symbol| values.get(symbol) == Some(&0.0));
    let zeros: Vec<Symbol> = graph.variables.symbol(Variable::Time).into_iter().chain(resting).collect();
    vanish(pool, &mut space, &zeros);
    let plain = space.clone();
    space.make_readable(pool, token);
    let mut linear = LinearModel::new(equations, space, Some(point), values);
    linear.vanishing = vanishing(pool, &linear);
    // A denominator cleared of roots may vanish where the quotient has a value.
    let readable = trust(pool, &linear);
    if turned && readable > Accuracy::Good {
        let space = std::mem::replace(&mut linear.space, plain);
        match trust(pool, &linear) < readable {
            true => linear.vanishing = vanishing(pool, &linear),
            false => linear.space = space,
        }
    }
    Ok(linear)
}

/// The entries of the matrices that are zero, but for what rounding of the operating point makes of them.
fn vanishing(pool: &mut Pool, linear: &LinearModel) -> FxHashSet<Expr> {
    let Some(point) = &linear.point else { return FxHashSet::default() };
    let value = |symbol: Symbol| linear.value(symbol);
    let mut found = FxHashSet::default();
    for entry in linear.space.entries() {
        let Ok(number) = pool.eval(entry, &value) else { continue };
        if found.contains(&entry) {
            continue;
        }
        // In exact numbers the digits of the point that floating point rounds away would show.
        if number == 0.0 {
            found.insert(entry);
            continue;
        }
        let mut rounding = 0.0;
        for symbol in pool.symbols(entry) {
            let varies = linear.equations.states.iter().any(|state| state.symbol == symbol)
                || linear.equations.constraints.iter().any(|constraint| constraint.unknown == symbol);
            if let (true, Some(size)) = (varies, point.sizes.get(&symbol)) {
                let derivative = pool.diff(entry, symbol);
                let derivative = pool.eval(derivative, &value).unwrap_or(0.0);
                rounding += (derivative * size).abs() * f64::EPSILON;
            }
        }
        if number.abs() <= ZERO_ENTRY * rounding {
            found.insert(entry);
        }
    }
    found.extend(noise(pool, linear));
    found
}

/// The entries of A without significant digits that are nothing beside others in their rows and columns: what
/// speeds that are zero but for rounding make of a modulus that changes.
fn noise(pool: &Pool, linear: &LinearModel) -> Vec<Expr> {
    let a = &linear.space.a;
    let entries: Vec<Expr> = a.entries.iter().map(|(_, _, entry)| *entry).collect();
    let size = |entry: &Expr| pool.eval(*entry, &|symbol| linear.value(symbol)).map_or(f64::NAN, f64::abs);
    let sizes: Vec<f64> = entries.iter().map(size).collect();
    let (mut rows, mut columns) = (vec![0.0f64; a.rows], vec![0.0f64; a.columns]);
    for ((i, j, _), size) in a.entries.iter().zip(&sizes) {
        (rows[*i], columns[*j]) = (rows[*i].max(*size), columns[*j].max(*size));
    }
    let negligible = |k: &usize| {
        let (i, j, _) = a.entries[*k];
        sizes[*k] < NOISE_ENTRY * rows[i].min(columns[j])
    };
    let doubtful: Vec<usize> = (0..entries.len()).filter(negligible).collect();
    let list: Vec<Expr> = doubtful.iter().map(|k| entries[*k]).collect();
    if list.is_empty() {
        return list;
    }
    let judged = linear.probes(pool).judge(pool, &list);
    list.into_iter().zip(judged).filter(|(_, found)| *found == Accuracy::Lost).map(|(e, _)| e).collect()
}

/// The linear model with some laws read in another way, at the same point; nothing where
/// there is no such model.
fn read_anew(
    pool: &mut Pool,
    graph: &BondGraph,
    causality: &Causality,
    linear: &LinearModel,
    laws: &[ElementId],
    reading: Reading,
    token: &CancellationToken,
) -> Result<Option<LinearModel>, QueryError> {
    let Some(point) = &linear.point else { return Ok(None) };
    let readings: Readings = laws.iter().map(|id| (*id, reading)).collect();
    let equations = match derive_with(pool, &mut graph.clone(), causality, &readings, token) {
        Ok(equations) => equations,
        Err(QueryError::Cancelled) => return Err(QueryError::Cancelled),
        Err(QueryError::Wrong(_)) => return Ok(None),
    };
    let probes = linear.probes(pool);
    let mut point = point.clone();
    point.sizes.extend(equations.constraints.iter().map(|c| (c.unknown, probes.size(c.unknown))));
    let mut values = probes.base.clone();
    // What the laws determined so badly is found anew.
    let nominal: Vec<f64> = graph.parameters.iter().map(|parameter| parameter.number).collect();
    let steady = Steady::new(pool, graph, &equations, &[], &values);
    values.extend(steady.ok().and_then(|steady| steady.beside(&nominal)).into_iter().flatten());
    let wanted = point.values.keys().copied().chain(equations.constraints.iter().map(|c| c.unknown));
    let values = wanted.filter_map(|symbol| Some((symbol, *values.get(&symbol)?))).collect();
    match linearised(pool, graph, Arc::new(equations), point, values, true, token) {
        Ok(linear) => Ok(Some(linear)),
        Err(QueryError::Cancelled) => Err(QueryError::Cancelled),
        Err(QueryError::Wrong(_)) => Ok(None),
    }
}

/// How far the matrices can be believed.
fn trust(pool: &mut Pool, linear: &LinearModel) -> Accuracy {
    let probes = linear.probes(pool);
    let noise = noise(pool, linear);
    let entries: Vec<Expr> =
        linear.space.entries().into_iter().filter(|entry| !noise.contains(entry)).collect();
    let judged = probes.judge(pool, &entries);
    // What is zero in symbols where variables are has lost nothing by rounding.
    let zero = pool.zero();
    let zeros = linear.values.iter().filter(|(_, value)| **value == 0.0);
    let zeros: FxHashMap<Symbol, Expr> = zeros.map(|(symbol, _)| (*symbol, zero)).collect();
    let judged = entries.into_iter().zip(judged).filter(|(entry, found)| match found {
        Accuracy::Good => false,
        Accuracy::Infinite => true,
        Accuracy::Reduced | Accuracy::Lost => pool.substitute(*entry, &zeros) != zero,
    });
    judged.map(|(_, found)| found).max().unwrap_or(Accuracy::Good)
}

/// Says which law makes the linear model doubtful, and at what point.
fn doubted(
    pool: &Pool,
    graph: &BondGraph,
    linear: &LinearModel,
    probes: &Probes,
    blamed: &[ElementId],
    doubt: Accuracy,
) -> Diagnostic {
    let (code, what) = match doubt {
        Accuracy::Infinite => (code::NO_DERIVATIVE, "has an infinite derivative"),
        Accuracy::Lost => (code::NO_DERIVATIVE, "has a derivative without significant digits"),
        _ => (code::LOSS_OF_SIGNIFICANCE, "has a derivative that loses significant digits"),
    };
    if let Some(id) = blamed.first() {
        let element = graph.element(*id);
        let law = match &element.law {
            Law::Equations(list) => list
                .iter()
                .map(|eq| format!(", {} = {},", pool.display(eq.left), pool.display(eq.right)))
                .collect(),
            _ => String::new(),
        };
        let value = |variable: Variable| probes.base.get(&graph.variables.symbol(variable)?).copied();
        let port = |port: &Port| {
            let flow = value(Variable::Flow(port.bond)).map(|f| if port.into { f } else { -f });
            let list = [("e", value(Variable::Effort(port.bond))), ("f", flow)];
            list.into_iter()
                .filter_map(|(name, x)| Some(format!("{name} = {}", short(x?))))
                .collect::<Vec<_>>()
        };
        let at: Vec<String> = element.ports.iter().flat_map(port).collect();
        let message =
            format!("the law of `{}`{law} {what} at the operating point ({})", element.name, at.join(", "));
        return Diagnostic::new(code, message).at(element.span);
    }
    let doubtful = |matrix: &Sparse| {
        let entries: Vec<Expr> = matrix.entries.iter().map(|(_, _, e)| *e).collect();
        let found = probes.judge(pool, &entries);
        matrix.entries.iter().zip(found).find(|(_, found)| *found >= doubt).map(|((i, _, _), _)| *i)
    };
    let space = &linear.space;
    let state = std::iter::once(&space.a).chain(&space.b).find_map(doubtful);
    let output = std::iter::once(&space.c).chain(&space.d).find_map(doubtful);
    let (name, span) = match (state, output) {
        (Some(i), _) => {
            let State { name, variable, .. } = &linear.equations.states[i];
            (name.as_str(), graph.state_span(*variable))
        }
        (None, Some(i)) => {
            let span = graph.outputs.get(i).map(|output| output.span);
            (linear.equations.outputs[i].name.as_str(), span)
        }
        (None, None) => ("the model", None),
    };
    let diagnostic = Diagnostic::new(code, format!("the equation of `{name}` {what} at the operating point"));
    match span {
        Some(span) => diagnostic.at(span),
        None => diagnostic,
    }
}

/// The equations as they are near a point, where each choice is what it is there.
pub fn near(pool: &mut Pool, equations: &Equations, values: &BTreeMap<Symbol, f64>) -> Equations {
    let mut near = equations.clone();
    let mut roots: Vec<&mut Expr> = near.rates.iter_mut().collect();
    roots.extend(near.outputs.iter_mut().map(|output| &mut output.value));
    roots.extend(near.constraints.iter_mut().map(|constraint| &mut constraint.residual));
    let old: Vec<Expr> = roots.iter().map(|e| **e).collect();
    let new = pool.decide_choices(&old, &|symbol| values.get(&symbol).copied());
    let new = beside_borders(pool, equations, new, values);
    for (root, new) in roots.into_iter().zip(new) {
        *root = new;
    }
    near
}

/// Expressions in which choices stand on their borders at a point, as they are beside it: on both sides, where their
/// derivatives agree there, and above the border of a kink. What jumps there stays as it is.
fn beside_borders(
    pool: &mut Pool,
    equations: &Equations,
    roots: Vec<Expr>,
    values: &BTreeMap<Symbol, f64>,
) -> Vec<Expr> {
    let moving = moving(equations);
    let beside = |side: f64| {
        let values = &values;
        let moving = &moving;
        move |symbol: Symbol| {
            let x = *values.get(&symbol)?;
            Some(if moving.contains(&symbol) { x + side * apart(x) } else { x })
        }
    };
    let [above, below] = [1.0, -1.0].map(|side| pool.decide_choices(&roots, &beside(side)));
    let value = |symbol: Symbol| values.get(&symbol).copied();
    let mut new = roots.clone();
    for (i, root) in roots.iter().enumerate().filter(|(i, root)| above[*i] != **root && below[*i] != **root) {
        let symbols = pool.symbols(*root).into_iter().filter(|symbol| moving.contains(symbol));
        let derivatives: Vec<[f64; 2]> = symbols
            .map(|symbol| {
                [above[i], below[i]].map(|side| {
                    let derivative = pool.diff(side, symbol);
                    pool.eval(derivative, &value).unwrap_or(f64::NAN)
                })
            })
            .collect();
        let agree = |[a, b]: &[f64; 2]| (a - b).abs() <= AGREEING_SIDES * a.abs().max(b.abs());
        // Where a side has an infinite derivative there is no kink, and both sides together may have a finite one.
        let finite = derivatives.iter().flatten().all(|x| x.is_finite());
        let [(a, size), (b, _)] = [above[i], below[i]].map(|side| sum_and_size(pool, side, &value));
        let is_kink = finite && (a - b).abs() <= AGREEING_SIDES * size;
        if above[i] == below[i] || derivatives.iter().all(agree) || is_kink {
            new[i] = above[i];
        }
    }
    new
}

/// What moves: states, unknowns and inputs.
fn moving(equations: &Equations) -> BTreeSet<Symbol> {
    let states = equations.states.iter().map(|state| state.symbol);
    let unknowns = equations.constraints.iter().map(|constraint| constraint.unknown);
    let inputs = equations.inputs.iter().flat_map(|input| input.symbols.iter().copied());
    states.chain(unknowns).chain(inputs).collect()
}

/// How far beside a border what moves is looked at.
fn apart(x: f64) -> f64 {
    BESIDE_A_BORDER * x.abs() + f64::MIN_POSITIVE.sqrt()
}

/// Numbers of symbols where what moves is above the borders of kinks, whose side the tangent is on.
pub(crate) fn above_borders(equations: &Equations, symbols: &[Symbol], numbers: &[f64]) -> Vec<f64> {
    let moving = moving(equations);
    let both = symbols.iter().zip(numbers);
    both.map(|(symbol, x)| if moving.contains(symbol) { x + apart(*x) } else { *x }).collect()
}

/// The value of an expression, and the sizes of its terms added up.
fn sum_and_size(pool: &Pool, e: Expr, value: &dyn Fn(Symbol) -> Option<f64>) -> (f64, f64) {
    let terms = match pool.node(e) {
        Node::Sum(list) => list.to_vec(),
        _ => vec![e],
    };
    let values = terms.into_iter().map(|term| pool.eval(term, value).unwrap_or(f64::NAN));
    values.fold((0.0, 0.0), |(sum, size), x| (sum + x, size + x.abs()))
}

/// Puts zero for some symbols into matrices.
fn vanish(pool: &mut Pool, space: &mut StateSpace, symbols: &[Symbol]) {
    let zero = pool.zero();
    let map: FxHashMap<Symbol, Expr> = symbols.iter().map(|symbol| (*symbol, zero)).collect();
    for matrix in [&mut space.a, &mut space.c].into_iter().chain(&mut space.b).chain(&mut space.d) {
        for (_, _, entry) in &mut matrix.entries {
            *entry = pool.substitute(*entry, &map);
        }
        matrix.entries.retain(|(_, _, entry)| *entry != zero);
    }
    for entry in space.offset.0.iter_mut().chain(&mut space.offset.1) {
        *entry = pool.substitute(*entry, &map);
    }
}
