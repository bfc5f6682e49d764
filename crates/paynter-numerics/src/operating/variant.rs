//! Operating points of graphs that differ from the model's own where that has
//! no tangent: with elements turned round that would divide by what vanishes
//! at rest, and with dry friction that sticks.

use std::collections::BTreeMap;
use std::sync::Arc;

use paynter_algebra::{Pool, Symbol};
use paynter_base::{CancellationToken, Cancelled, Diagnostic, Diagnostics, code};
use paynter_equations::{Equations, QueryError, derive};
use paynter_graph::{BondGraph, Causality, ElementId, assign_causality};

use super::problem::{Problem, initial};
use super::search::consistent;
use super::stiction::{Holding, Stiction, between, starting_at, stictions};
use super::{OperatingPoint, operating_point, vanishing_divisors};
use crate::program::Tables;

/// The equations of a graph made of the model's own, at rest.
#[derive(Debug)]
pub struct Variant {
    /// The pool of its expressions.
    pub pool: Pool,
    /// The graph.
    pub graph: BondGraph,
    /// Its causality.
    pub causality: Causality,
    /// Its equations, in the form a person would write.
    pub equations: Equations,
    /// Where they rest.
    pub point: OperatingPoint,
    /// How it differs from the model.
    pub notes: Diagnostics,
}

/// What a variant is made of: the model's own graph and equations.
#[derive(Debug, Clone, Copy)]
pub struct Original<'a> {
    /// The pool of its expressions.
    pub pool: &'a Arc<Pool>,
    /// The graph.
    pub graph: &'a BondGraph,
    /// Its causality.
    pub causality: &'a Causality,
    /// Its equations.
    pub equations: &'a Equations,
    /// The samples that its inputs read.
    pub tables: &'a Tables,
}

impl Variant {
    /// Derives the equations of a graph and finds where they rest.
    fn new(
        mut pool: Pool,
        mut graph: BondGraph,
        tables: &Tables,
        token: &CancellationToken,
    ) -> Result<Variant, QueryError> {
        let (causality, findings) = assign_causality(&mut pool, &graph);
        let Some(causality) = causality.filter(|_| !findings.has_errors()) else {
            return Err(QueryError::Wrong(findings));
        };
        let mut equations = derive(&mut pool, &mut graph, &causality, token)?;
        let (findings, _) = equations.soundness(&mut pool, &graph);
        if findings.has_errors() {
            return Err(QueryError::Wrong(findings));
        }
        equations.make_readable(None, &mut pool, token);
        token.check()?;
        let point = operating_point(&mut pool, &graph, &equations, tables, token)?;
        let causality = Causality { order: equations.states.len(), ..causality };
        Ok(Variant { pool, graph, causality, equations, point, notes: Diagnostics::new() })
    }

    /// A variant, if there is one.
    fn find(
        pool: Pool,
        graph: BondGraph,
        tables: &Tables,
        token: &CancellationToken,
    ) -> Result<Option<Variant>, Cancelled> {
        match Variant::new(pool, graph, tables, token) {
            Ok(variant) => Ok(Some(variant)),
            Err(QueryError::Wrong(_)) => Ok(None),
            Err(QueryError::Cancelled) => Err(Cancelled),
        }
    }

    fn holding(&mut self, stiction: &Stiction) -> Option<Holding> {
        stiction.holding(&mut self.pool, &self.graph, &self.equations, &self.point)
    }
}

/// The model with some elements turned round that would divide by what vanishes at rest; nothing where there is no
/// such rest, or others vanish then.
pub fn turned(
    original: &Original<'_>,
    elements: &[ElementId],
    token: &CancellationToken,
) -> Result<Option<Variant>, Cancelled> {
    let graph = original.causality.turned(original.graph, elements);
    let Some(mut found) = Variant::find(Pool::over(original.pool), graph, original.tables, token)? else {
        return Ok(None);
    };
    if !vanishing_divisors(&mut found.pool, &found.graph, &found.causality, &found.point).is_empty() {
        return Ok(None);
    }
    for id in elements {
        let element = original.graph.element(*id);
        let message = format!(
            "`{}` would divide by what is zero at the operating point; the linear model is taken with its causality turned round, in the states that it has then",
            element.name
        );
        found.notes.push(Diagnostic::new(code::TURNED_ROUND, message).at(element.span));
    }
    Ok(Some(found))
}

/// The model with its dry friction that sticks at rest; nothing where none does. The initial state is such a rest
/// where friction can hold it there, and near the others; `steady` is the rest that the laws as they are written
/// have, with no force where nothing moves.
pub fn stuck(
    original: &Original<'_>,
    steady: impl FnOnce() -> Result<Option<OperatingPoint>, Cancelled>,
    token: &CancellationToken,
) -> Result<Option<Variant>, QueryError> {
    let (graph, equations) = (original.graph, original.equations);
    let candidates = stictions(original.pool, graph);
    if candidates.is_empty() {
        return Ok(None);
    }
    let mut pool = Pool::over(original.pool);
    let Some(start) = values_at_start(&mut pool, original, token)? else { return Ok(None) };
    let sizes = start.iter().map(|(symbol, x)| (*symbol, x.abs())).collect();
    let resting = |stiction: &&Stiction| stiction.rests(&mut pool, graph, equations, (&start, &sizes));
    let mut held: Vec<Stiction> = candidates.iter().filter(resting).copied().collect();
    let mut found = None;
    while !held.is_empty() {
        let mut variant = sticking(original, &held, None, token)?;
        let slips = |stiction: &Stiction, variant: &mut Variant| {
            !variant.holding(stiction).is_some_and(|holding| holding.is_possible())
        };
        let released: Vec<Stiction> = match &mut variant {
            Some(variant) => held.iter().filter(|stiction| slips(stiction, variant)).copied().collect(),
            // Two that hold the same motion, or one that would have to move.
            None => held.last().copied().into_iter().collect(),
        };
        if released.is_empty() {
            found = variant;
            break;
        }
        held.retain(|stiction| !released.contains(stiction));
    }
    // What slips from the initial state comes to rest elsewhere.
    let rest = match &found {
        Some(variant) => Some(variant.point.clone()),
        None => steady()?,
    };
    let Some(rest) = rest else { return Ok(None) };
    let mut here =
        found.as_mut().map_or((&mut pool, graph, equations), |v| (&mut v.pool, &v.graph, &v.equations));
    let stops = |stiction: &&Stiction| {
        let (pool, graph, equations) = &mut here;
        !held.contains(stiction)
            && stiction.rests(pool, graph, equations, (&rest.values, &rest.sizes))
            && stiction.holding(pool, graph, equations, &rest).is_some_and(|holding| holding.is_possible())
    };
    let more: Vec<Stiction> = candidates.iter().filter(stops).copied().collect();
    if !more.is_empty() {
        let began = (found.as_ref().map_or(equations, |variant| &variant.equations).clone(), rest);
        let all: Vec<Stiction> = held.iter().chain(&more).copied().collect();
        if let Some(variant) = sticking(original, &all, Some(&began), token)? {
            (found, held) = (Some(variant), all);
        }
    }
    let Some(mut found) = found else { return Ok(None) };
    for stiction in &held {
        let Some(holding) = found.holding(stiction) else { continue };
        let rests = match &held[..] {
            [_] => side_by_side(original, stiction, &holding, &found, token)?,
            _ => None,
        };
        found.notes.push(stiction.diagnostic(graph, &holding, rests.as_deref()));
    }
    Ok(Some(found))
}

/// The model with some resistors that stick, from its own initial states or from others.
fn sticking(
    original: &Original<'_>,
    held: &[Stiction],
    start: Option<&(Equations, OperatingPoint)>,
    token: &CancellationToken,
) -> Result<Option<Variant>, Cancelled> {
    let mut pool = Pool::over(original.pool);
    let mut graph = match start {
        Some((equations, point)) => starting_at(&mut pool, original.graph, equations, point),
        None => original.graph.clone(),
    };
    for stiction in held {
        graph = stiction.sticking(&mut pool, &graph);
    }
    Variant::find(pool, graph, original.tables, token)
}

/// The states between which rests lie side by side: where the friction that holds them is at its limits.
fn side_by_side(
    original: &Original<'_>,
    stiction: &Stiction,
    holding: &Holding,
    found: &Variant,
    token: &CancellationToken,
) -> Result<Option<Vec<(String, f64, f64)>>, Cancelled> {
    let mut ends = Vec::new();
    for limit in holding.limits {
        let mut pool = Pool::over(original.pool);
        let graph = starting_at(&mut pool, original.graph, &found.equations, &found.point);
        let graph = stiction.at_limit(&mut pool, &graph, limit);
        ends.extend(Variant::find(pool, graph, original.tables, token)?);
    }
    Ok(match &ends[..] {
        [low, high] => Some(between(&low.equations, &low.point, &high.point)),
        _ => None,
    })
}

/// The values of all symbols at the initial state, as far as these can be found.
fn values_at_start(
    pool: &mut Pool,
    original: &Original<'_>,
    token: &CancellationToken,
) -> Result<Option<BTreeMap<Symbol, f64>>, QueryError> {
    let (graph, equations) = (original.graph, original.equations);
    let problem = Problem::new(pool, graph, equations, original.tables)?;
    let states = initial(pool, graph, equations, &problem.known)?;
    let start = consistent(&problem, &states, token)?;
    Ok(Some(problem.all_values(&start)))
}
