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
    /// Derives the equations of a graph and finds where they rest; where elements divide by what vanishes at the
    /// start, with these turned round.
    fn new(
        pool: Pool,
        graph: BondGraph,
        tables: &Tables,
        token: &CancellationToken,
    ) -> Result<Variant, QueryError> {
        let mut divides = None;
        let base = Arc::new(pool);
        let found = Variant::at_rest(Pool::over(&base), graph.clone(), &mut divides, tables, token);
        let (Err(QueryError::Wrong(_)), Some((causality, elements))) = (&found, divides) else {
            return found;
        };
        let turned = causality.turned(&graph, &elements);
        match Variant::at_rest(Pool::over(&base), turned, &mut None, tables, token) {
            Ok(mut variant) => {
                elements.iter().for_each(|id| variant.notes.push(turned_round(&graph, *id)));
                Ok(variant)
            }
            Err(QueryError::Wrong(_)) => found,
            Err(QueryError::Cancelled) => Err(QueryError::Cancelled),
        }
    }

    /// Derives the equations of a graph and finds where they rest. Tells also which elements divide by what can
    /// vanish, where there are any.
    fn at_rest(
        mut pool: Pool,
        mut graph: BondGraph,
        divides: &mut Option<(Causality, Vec<ElementId>)>,
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
        *divides = (!causality.divides.is_empty()).then(|| (causality.clone(), causality.divides.clone()));
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

    /// The mode in which friction would rather be at this rest than in the one it was in; none where its law as it
    /// is written has to tell.
    fn next(&mut self, stiction: &Stiction, mode: Mode) -> Option<Mode> {
        match mode {
            Mode::Held => {
                let holding = self.holding(stiction)?;
                let [low, high] = holding.limits;
                Some(match holding.is_possible() {
                    true => Mode::Held,
                    false => Mode::Slips(if holding.value > (low + high) / 2.0 { 1.0 } else { -1.0 }),
                })
            }
            Mode::Slips(side) => {
                let (pool, graph, equations) = (&mut self.pool, &self.graph, &self.equations);
                let at = (&self.point.values, &self.point.sizes);
                let speed = stiction.slip(pool, graph, equations, at.0)?;
                let consistent = speed * side >= 0.0 || stiction.rests(pool, graph, equations, at);
                consistent.then_some(mode)
            }
            Mode::Shares(_) => {
                let at = (&self.point.values, &self.point.sizes);
                stiction.rests(&mut self.pool, &self.graph, &self.equations, at).then_some(mode)
            }
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
    elements.iter().for_each(|id| found.notes.push(turned_round(original.graph, *id)));
    Ok(Some(found))
}

/// Says that an element is turned round.
fn turned_round(graph: &BondGraph, id: ElementId) -> Diagnostic {
    let element = graph.element(id);
    let message = format!(
        "`{}` would divide by what is zero at the operating point; the linear model is taken with its causality turned round, in the states that it has then",
        element.name
    );
    Diagnostic::new(code::TURNED_ROUND, message).at(element.span)
}

/// What dry friction does at a rest.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Mode {
    /// It sticks.
    Held,
    /// It slips to this side, or is about to.
    Slips(f64),
    /// It gives this where another holds the same motion: what each of them gives is not determined.
    Shares(f64),
}

/// The model with its dry friction that sticks at rest, or slips from where it began; nothing where none does. The
/// initial state is such a rest where friction can hold it there; where it cannot, what it holds begins to slip to
/// the side on which it gives way. `steady` is the rest that the laws as they are written have, with no force where
/// nothing moves.
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
    let start = values_at_start(&mut pool, original, token)?;
    let sizes = start.iter().map(|(symbol, x)| (*symbol, x.abs())).collect();
    let resting = |stiction: &&Stiction| stiction.rests(&mut pool, graph, equations, (&start, &sizes));
    let mut modes: Vec<(Stiction, Mode)> =
        candidates.iter().filter(resting).map(|stiction| (*stiction, Mode::Held)).collect();
    let mut found = settled(original, &mut modes, token)?;
    let is_held = |modes: &[(Stiction, Mode)], stiction: &Stiction| modes.contains(&(*stiction, Mode::Held));
    let mut rest = match &found {
        Some(variant) => Some(variant.point.clone()),
        None => steady()?,
    };
    if rest.is_none() {
        // What moves from the beginning may be stopped by friction alone.
        modes = candidates.iter().map(|stiction| (*stiction, Mode::Held)).collect();
        found = settled(original, &mut modes, token)?;
        rest = found.as_ref().map(|variant| variant.point.clone());
    }
    let Some(rest) = rest else { return Ok(None) };
    // What has slipped, or moved from the beginning, may have come to rest.
    let mut here =
        found.as_mut().map_or((&mut pool, graph, equations), |v| (&mut v.pool, &v.graph, &v.equations));
    let stops = |stiction: &&Stiction| {
        let (pool, graph, equations) = &mut here;
        !is_held(&modes, stiction)
            && stiction.rests(pool, graph, equations, (&rest.values, &rest.sizes))
            && stiction.holding(pool, graph, equations, &rest).is_some_and(|holding| holding.is_possible())
    };
    let more: Vec<Stiction> = candidates.iter().filter(stops).copied().collect();
    if !more.is_empty() {
        let began = (found.as_ref().map_or(equations, |variant| &variant.equations).clone(), rest);
        let mut all: Vec<(Stiction, Mode)> =
            modes.iter().filter(|(stiction, _)| !more.contains(stiction)).copied().collect();
        all.extend(more.iter().map(|stiction| (*stiction, Mode::Held)));
        if let Some(variant) = in_modes(original, &all, Some(&began), token)? {
            (found, modes) = (Some(variant), all);
        }
    }
    let Some(mut found) = found else { return Ok(None) };
    let sticks = |stiction: &&Stiction| {
        modes.iter().any(|(own, mode)| own == *stiction && matches!(mode, Mode::Held | Mode::Shares(_)))
    };
    let held: Vec<Stiction> = candidates.iter().filter(sticks).copied().collect();
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

/// The model with its dry friction in the modes in which it would rather be than in others, which are left in
/// `modes`; nothing where there are none.
fn settled(
    original: &Original<'_>,
    modes: &mut Vec<(Stiction, Mode)>,
    token: &CancellationToken,
) -> Result<Option<Variant>, Cancelled> {
    // Each lets go once, shares once, and is left to its law as it is written at last.
    for _ in 0..=4 * modes.len() {
        if modes.is_empty() {
            break;
        }
        let Some(mut variant) = in_modes(original, modes, None, token)? else {
            // Two that hold the same motion, or one that would have to move.
            let several = modes.iter().filter(|(_, mode)| *mode == Mode::Held).count() > 1;
            match modes.iter_mut().rev().find(|(_, mode)| *mode == Mode::Held) {
                Some((_, mode)) if several => *mode = Mode::Shares(0.0),
                _ => drop(modes.pop()),
            }
            continue;
        };
        if let Some(eased) = eased(original, &mut variant, modes, token)? {
            *modes = eased;
            continue;
        }
        let next: Vec<(Stiction, Mode)> = modes
            .iter()
            .filter_map(|(stiction, mode)| Some((*stiction, variant.next(stiction, *mode)?)))
            .collect();
        if next == *modes {
            return Ok(Some(variant));
        }
        *modes = next;
    }
    Ok(None)
}

/// The modes in which friction that cannot hold what it has to alone is helped by one that rests with it: both give
/// the same part of what they can, or the other all of it.
fn eased(
    original: &Original<'_>,
    variant: &mut Variant,
    modes: &[(Stiction, Mode)],
    token: &CancellationToken,
) -> Result<Option<Vec<(Stiction, Mode)>>, Cancelled> {
    for (holder, _) in modes.iter().filter(|(_, mode)| *mode == Mode::Held) {
        let Some(alone) = variant.holding(holder).filter(|holding| !holding.is_possible()) else { continue };
        for (k, (other, mode)) in modes.iter().enumerate() {
            let (Mode::Shares(now), Some(share)) = (*mode, variant.holding(other)) else { continue };
            for limit in share.limits.into_iter().filter(|limit| *limit != now) {
                let mut with = modes.to_vec();
                with[k].1 = Mode::Shares(limit);
                let Some(mut helped) = in_modes(original, &with, None, token)? else { continue };
                let Some(holding) = helped.holding(holder) else { continue };
                let change = holding.value - alone.value;
                let bound = alone.limits[usize::from(alone.value > alone.limits[1])];
                // At which part of both limits they balance together.
                let part =
                    (alone.value - change * now / (limit - now)) / (bound - change * limit / (limit - now));
                if change * (alone.value - bound) < 0.0 {
                    with[k].1 = Mode::Shares(limit * if (0.0..=1.0).contains(&part) { part } else { 1.0 });
                    return Ok(Some(with));
                }
            }
        }
    }
    Ok(None)
}

/// The model with its dry friction in some modes, from its own initial states or from others.
fn in_modes(
    original: &Original<'_>,
    modes: &[(Stiction, Mode)],
    start: Option<&(Equations, OperatingPoint)>,
    token: &CancellationToken,
) -> Result<Option<Variant>, Cancelled> {
    let mut pool = Pool::over(original.pool);
    let mut graph = match start {
        Some((equations, point)) => starting_at(&mut pool, original.graph, equations, point),
        None => original.graph.clone(),
    };
    for (stiction, mode) in modes {
        graph = match mode {
            Mode::Held => stiction.sticking(&mut pool, &graph),
            Mode::Slips(side) => stiction.slipping(&mut pool, &graph, *side),
            Mode::Shares(value) => stiction.at_limit(&mut pool, &graph, *value),
        };
    }
    Variant::find(pool, graph, original.tables, token)
}

/// A state with its least and its largest value.
type StateRange = (String, f64, f64);

/// The states between which rests lie side by side: where the friction that holds them is at its limits.
fn side_by_side(
    original: &Original<'_>,
    stiction: &Stiction,
    holding: &Holding,
    found: &Variant,
    token: &CancellationToken,
) -> Result<Option<Vec<StateRange>>, Cancelled> {
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
) -> Result<BTreeMap<Symbol, f64>, QueryError> {
    let (graph, equations) = (original.graph, original.equations);
    let problem = Problem::new(pool, graph, equations, original.tables)?;
    let states = initial(pool, graph, equations, &problem.known)?;
    let start = consistent(&problem, &states, token)?;
    Ok(problem.all_values(&start))
}
