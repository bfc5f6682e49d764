//! Causality in words: storages with what forces them, conflicts with the
//! elements that cannot both be right, warnings.

use std::collections::BTreeMap;

use paynter_algebra::{Expr, Pool};
use paynter_base::{Code, Diagnostic, Diagnostics, Severity, Span, code};

use super::assign::{Assignment, Conflict, Reason};
use super::loops::LoopKind;
use super::rules::Rules;
use super::{Causality, Storage, integral_effort_in, storage_ports};
use crate::guard::Sign;
use crate::kind::{Class, LawForm, Power, Stored, kind_of};
use crate::limits::FORCING_PATH;
use crate::model::{BondGraph, BondId, ElementId, Kind, Law, is_junction};

/// Tells the causality of every storage, and for the dependent ones the path that forces them.
pub(super) fn storages(graph: &BondGraph, assignment: &Assignment<'_>, roots: &[Reason]) -> Vec<Storage> {
    storage_ports(graph)
        .map(|(element, port)| {
            let effort_in = assignment.effort_in(element, port).unwrap_or(false);
            let integral = effort_in == integral_effort_in(graph.element(element).kind);
            let forced_by =
                if integral { Vec::new() } else { forcing_path(graph, assignment, roots, element, port) };
            Storage { element, port, integral, forced_by }
        })
        .collect()
}

/// The elements from the decision that forces a storage to the storage itself.
fn forcing_path(
    graph: &BondGraph,
    assignment: &Assignment<'_>,
    roots: &[Reason],
    element: ElementId,
    port: usize,
) -> Vec<ElementId> {
    let bond = graph.element(element).ports[port].bond;
    let mut out = vec![element];
    let mut here = bond;
    while let Some(Reason::Propagated(through, from)) = assignment.decided[here.index()].map(|d| d.reason)
        && out.len() < FORCING_PATH - 1
    {
        if out.last() != Some(&through) {
            out.push(through);
        }
        here = from;
    }
    if let Some(origin) = decided_by(roots[bond.index()])
        && out.last() != Some(&origin)
    {
        out.push(origin);
    }
    out.reverse();
    out
}

pub(super) fn decided_by(reason: Reason) -> Option<ElementId> {
    match reason {
        Reason::Mandatory(id)
        | Reason::ByHand(id)
        | Reason::Safe(id)
        | Reason::Integral(id)
        | Reason::Derivative(id)
        | Reason::Dependent(id)
        | Reason::OneWay(id)
        | Reason::Chosen(id) => Some(id),
        Reason::Arbitrary | Reason::Propagated(..) => None,
    }
}

fn name(graph: &BondGraph, id: ElementId) -> String {
    let element = graph.element(id);
    format!("{} `{}`", element.kind.word(), element.name)
}

impl Reason {
    /// Says why, in a sentence without its full stop.
    pub fn describe(self, graph: &BondGraph) -> String {
        match self {
            Reason::Mandatory(id) => {
                let what = kind_of(graph.element(id).kind).mandate();
                format!("{} {what}", name(graph, id))
            }
            Reason::ByHand(id) => format!("the model says that effort enters {}", name(graph, id)),
            Reason::Safe(id) if graph.element(id).class().is_converter() => {
                format!("the other way through {} would divide by something that can vanish", name(graph, id))
            }
            Reason::Safe(id) => {
                format!("the other way would divide by the value of {}, which can vanish", name(graph, id))
            }
            Reason::Integral(id) => format!("{} takes integral causality", name(graph, id)),
            Reason::Derivative(id) => {
                format!("{} takes derivative causality, as the model prefers", name(graph, id))
            }
            Reason::Dependent(id) => format!("{} depends on the storages decided before it", name(graph, id)),
            Reason::OneWay(id) => {
                format!("the law of {} is used in the direction it can be solved", name(graph, id))
            }
            Reason::Chosen(id) => {
                format!("{} may have either causality; this one is chosen", name(graph, id))
            }
            Reason::Arbitrary => "either causality is possible; this one is chosen".to_owned(),
            Reason::Propagated(through, from) => {
                let bond = &graph.bond(from).name;
                let rule = match graph.element(through).class() {
                    Class::Junction(Power::Effort) => "has one effort, so one bond brings it in",
                    Class::Junction(Power::Flow) => "has one flow, so one bond brings it in",
                    Class::Transformer => "passes effort through",
                    _ => "turns effort into flow",
                };
                format!("{} {rule} (bond {bond})", name(graph, through))
            }
        }
    }
}

/// Names the two elements of a conflict.
pub(super) fn conflict(
    graph: &BondGraph,
    assignment: &Assignment<'_>,
    rules: &Rules,
    conflict: &Conflict,
) -> Diagnostic {
    let (first, second) = conflict.bonds;
    let mut makers = Vec::new();
    for bond in [Some(first), second].into_iter().flatten() {
        makers.extend(decided_by(assignment.root(bond)));
    }
    // A bond that was decided before and now refuses another demand: the other side is where it was asked.
    if second.is_none() && !makers.contains(&conflict.at) {
        makers.push(conflict.at);
    }
    makers.dedup();
    if makers.len() == 1 && second.is_none() {
        makers.extend(other_source(graph, rules, conflict, makers[0]));
    }
    makers.sort_unstable();
    makers.dedup();
    let meeting = meeting_point(graph, assignment, conflict);
    let junction = graph.element(meeting);
    let names: Vec<String> = makers.iter().map(|id| name(graph, *id)).collect();
    let place = match junction.class() {
        Class::Junction(Power::Effort) => {
            format!(" at the 0-junction `{}`, which has one effort", junction.name)
        }
        Class::Junction(Power::Flow) => format!(" at the 1-junction `{}`, which has one flow", junction.name),
        Class::Transformer | Class::Gyrator => format!(" across {}", name(graph, meeting)),
        _ => String::new(),
    };
    let twice = is_junction(junction.kind) && !undetermined(graph, assignment, meeting, first);
    let message = match names.as_slice() {
        [only] if twice => {
            let what = if junction.kind == Kind::Zero { "effort" } else { "flow" };
            let word = junction.kind.word();
            format!("{only} determines the {what} of the {word}-junction `{}` twice", junction.name)
        }
        [only] => format!("{only} leaves nothing to determine the rest{place}"),
        [a, b] if undetermined(graph, assignment, meeting, first) => {
            let what = if junction.kind == Kind::Zero { "effort" } else { "flow" };
            format!(
                "{a} and {b} leave nothing to determine the {what} of the {}-junction `{}`",
                junction.kind.word(),
                junction.name
            )
        }
        [a, b] => format!("{a} and {b} cannot both be right{place}"),
        several => format!("{} cannot all be right{place}", several.join(", ")),
    };
    let span = makers.last().map_or(junction.span, |id| graph.element(*id).span);
    let mut diagnostic = Diagnostic::new(code::CAUSAL_CONFLICT, message).at(span);
    for id in &makers {
        if graph.element(*id).span != span {
            diagnostic = diagnostic.label(graph.element(*id).span, "cannot agree with it");
        }
    }
    if makers.iter().all(|id| *id != meeting) {
        diagnostic = diagnostic.label(junction.span, "they meet here");
    }
    if makers.len() == 1 && twice {
        return diagnostic.help("put an R, C or I into one of the two ways, or remove one of them");
    }
    match advice(graph, &makers) {
        Some(help) => diagnostic.help(help),
        None => diagnostic,
    }
}

/// What to do about a conflict of these elements: what the kind advises that needs the fewest of its own.
fn advice(graph: &BondGraph, makers: &[ElementId]) -> Option<&'static str> {
    let kinds = || makers.iter().map(|id| graph.element(*id).kind);
    let given = kinds().filter_map(|kind| {
        let (from, help) = kind_of(kind).advice()?;
        (kinds().filter(|other| *other == kind).count() >= from).then_some((from, kind, help))
    });
    given.min_by_key(|(from, kind, _)| (*from, *kind)).map(|(_, _, help)| help)
}

/// The junction or two-port where two demands meet: where the conflict was
/// noticed, or where the bond it was noticed on got its causality.
fn meeting_point(graph: &BondGraph, assignment: &Assignment<'_>, conflict: &Conflict) -> ElementId {
    let structural = |id: ElementId| graph.element(id).class().is_structure();
    match assignment.decided[conflict.bonds.0.index()].map(|d| d.reason) {
        Some(Reason::Propagated(through, _)) if !structural(conflict.at) => through,
        _ => conflict.at,
    }
}

/// Whether a bond was to determine a junction because no other could.
fn undetermined(graph: &BondGraph, assignment: &Assignment<'_>, junction: ElementId, bond: BondId) -> bool {
    let element = graph.element(junction);
    is_junction(element.kind)
        && match assignment.determining(junction)[..] {
            [] => true,
            [only] => only == bond,
            _ => false,
        }
}

/// When every bond of a junction is pushed the same way, the last two sources around it are meant.
fn other_source(
    graph: &BondGraph,
    rules: &Rules,
    conflict: &Conflict,
    known: ElementId,
) -> Option<ElementId> {
    let element = graph.element(conflict.at);
    element
        .ports
        .iter()
        .map(|port| {
            let bond = graph.bond(port.bond);
            if port.into { bond.from.element } else { bond.to.element }
        })
        .find(|id| *id != known && rules.ports[id.index()].iter().any(|rule| rule.mandatory.is_some()))
}

/// Names the elements that no causality satisfies together.
pub(super) fn impossible(graph: &BondGraph, elements: &[ElementId]) -> Diagnostic {
    let names: Vec<String> = elements.iter().take(8).map(|id| name(graph, *id)).collect();
    let more = if elements.len() > 8 { ", …" } else { "" };
    let message = format!("no causality satisfies {}{more} together", names.join(", "));
    let mut diagnostic = Diagnostic::new(code::CAUSAL_CONFLICT, message);
    if let Some(id) = elements.first() {
        diagnostic = diagnostic.at(graph.element(*id).span);
    }
    for id in elements.iter().skip(1).take(4) {
        diagnostic = diagnostic.label(graph.element(*id).span, "and this");
    }
    diagnostic.help(
        "something here is determined twice or not at all: add an R, C or I between them, or remove a source",
    )
}

/// Says why a stroke by hand cannot be.
pub(super) fn bad_override(
    graph: &BondGraph,
    assignment: &Assignment<'_>,
    bond: BondId,
    span: Span,
    conflict: &Conflict,
) -> Diagnostic {
    let reason = assignment.root(conflict.bonds.0);
    let because = match reason {
        Reason::ByHand(_) if conflict.bonds.0 == bond => "it contradicts what follows from it".to_owned(),
        reason => reason.describe(graph),
    };
    let message = format!("bond `{}` cannot have this causality: {because}", graph.bond(bond).name);
    let mut diagnostic = Diagnostic::new(code::BAD_OVERRIDE, message).at(span);
    if let Some(id) = decided_by(reason) {
        diagnostic = diagnostic.label(graph.element(id).span, "decides otherwise");
    }
    diagnostic
}

/// Notes and warnings on a causality that was found.
pub(super) fn diagnose(
    pool: &Pool,
    graph: &BondGraph,
    rules: &Rules,
    roots: &[Reason],
    causality: &Causality,
    (divisors, singular): (&[Option<Expr>], &[Vec<ElementId>]),
    diagnostics: &mut Diagnostics,
) {
    for storage in causality.storages.iter().filter(|s| !s.integral) {
        diagnostics.push(dependent_storage(graph, roots, storage));
    }
    // A loop that leaves something undetermined is reported as that.
    let sound = |elements: &[ElementId]| {
        !singular.iter().any(|group| elements.iter().all(|element| group.contains(element)))
    };
    for found in causality.loops.iter().filter(|found| sound(&found.elements)) {
        let names: Vec<&str> = found.elements.iter().map(|id| graph.element(*id).name.as_str()).collect();
        let span = found.elements.first().map(|id| graph.element(*id).span);
        let (code, what) = match found.kind {
            LoopKind::Junction => (code::JUNCTION_LOOP, "closed path inside the junction structure"),
            LoopKind::Algebraic => (code::ALGEBRAIC_LOOP, "algebraic loop"),
            LoopKind::Differential => (code::ALGEBRAIC_LOOP, "loop through a differentiation"),
        };
        let mut diagnostic = Diagnostic::new(code, format!("{what}: {}", names.join(" → ")));
        diagnostic.span = span;
        diagnostics.push(diagnostic);
    }
    divisions(pool, graph, causality, divisors, diagnostics);
    for &(id, port, written) in &rules.one_way {
        if causality.effort_in(graph, id, port) != written {
            let way = if written { "effort" } else { "flow" };
            let message = format!(
                "the law of {} can only be solved for given {way}, but causality gives it the other: it is kept implicit",
                name(graph, id)
            );
            diagnostics.push(Diagnostic::new(code::ONE_WAY_LAW, message).at(graph.element(id).span));
        }
    }
}

/// Names the elements of a loop that determines itself.
pub(super) fn singular(graph: &BondGraph, elements: &[ElementId]) -> Diagnostic {
    let names: Vec<String> =
        elements.iter().take(8).map(|id| format!("`{}`", graph.element(*id).name)).collect();
    let message = format!("the loop through {} leaves an effort or a flow undetermined", names.join(", "));
    let mut diagnostic = Diagnostic::new(code::SINGULAR_STRUCTURE, message);
    if let Some(id) = elements.first() {
        diagnostic = diagnostic.at(graph.element(*id).span);
    }
    diagnostic.help(
        "break the loop: remove one of its bonds, or add an R or a C where something can circulate or float",
    )
}

/// Says once what is the same for many members of an array.
pub(super) fn gather(diagnostics: Diagnostics) -> Diagnostics {
    let mut places: BTreeMap<(Code, Option<Span>), usize> = BTreeMap::new();
    for found in diagnostics.iter() {
        *places.entry((found.code, found.span)).or_default() += 1;
    }
    let mut out = Diagnostics::new();
    for mut found in diagnostics {
        // Only the first of a place finds its entry.
        let Some(count) = places.remove(&(found.code, found.span)) else { continue };
        if count > 1 {
            found.message += &format!("; {} more of the kind here", count - 1);
        }
        out.push(found);
    }
    out
}

fn dependent_storage(graph: &BondGraph, roots: &[Reason], storage: &Storage) -> Diagnostic {
    let element = graph.element(storage.element);
    let port = if element.ports.len() > 1 { format!(" (port {})", storage.port + 1) } else { String::new() };
    let reason = roots[element.ports[storage.port].bond.index()];
    if let Reason::Mandatory(by) = reason
        && kind_of(graph.element(by).kind).law() == LawForm::Switch
        && element.stored() == Some(Stored::Momentum)
    {
        let message = format!(
            "the switch `{}` in series with I `{}` has no conductance when open, so it would stop the flow at once",
            graph.element(by).name,
            element.name
        );
        return Diagnostic::new(code::SWITCH_SERIES_INERTIA, message)
            .at(graph.element(by).span)
            .label(element.span, "this flow cannot jump");
    }
    let mut path: Vec<&str> = storage.forced_by.iter().map(|id| graph.element(*id).name.as_str()).collect();
    if path.len() == FORCING_PATH {
        path.insert(1, "…");
    }
    let message = format!(
        "{}{port} is in derivative causality: {} (path {})",
        name(graph, storage.element),
        reason.describe(graph),
        path.join(" → ")
    );
    Diagnostic::new(code::DERIVATIVE_CAUSALITY, message).at(element.span)
}

/// What an element divides by, where one value says it: a two-port into which effort comes at port 1 by what
/// stands above the fraction bar of its modulus, else by what stands below.
pub(super) fn divisor(
    pool: &mut Pool,
    graph: &BondGraph,
    causality: &Causality,
    id: ElementId,
) -> Option<Expr> {
    let element = graph.element(id);
    let Law::Value(value) = element.law else { return None };
    let (above, below) = pool.numerator_and_denominator(value);
    if !element.class().is_converter() {
        return Some(above);
    }
    Some(if causality.effort_in(graph, id, 0) { above } else { below })
}

/// The sign of a value at the nominal parameters.
pub(super) fn sign_now(pool: &Pool, graph: &BondGraph, value: Expr) -> Sign {
    Sign::of(pool.eval(value, &|symbol| graph.number(symbol)).unwrap_or(f64::NAN))
}

/// Finds the elements that causality makes divide by something that can vanish.
pub(super) fn dividing(graph: &BondGraph, rules: &Rules, causality: &Causality) -> Vec<ElementId> {
    let divides = |id: &ElementId| {
        let ports = rules.ports[id.index()].iter().enumerate();
        ports
            .into_iter()
            .any(|(port, rule)| rule.safe.is_some_and(|safe| causality.effort_in(graph, *id, port) != safe))
    };
    graph.element_ids().filter(divides).collect()
}

/// Warns of divisions by something that can vanish where no causality avoids them.
fn divisions(
    pool: &Pool,
    graph: &BondGraph,
    causality: &Causality,
    divisors: &[Option<Expr>],
    diagnostics: &mut Diagnostics,
) {
    for (id, &divisor) in causality.divides.iter().zip(divisors) {
        let element = graph.element(*id);
        let value = divisor.map_or_else(|| "its value".to_owned(), |value| pool.brief(value));
        let zero = divisor.is_some_and(|value| sign_now(pool, graph, value) == Sign::Zero);
        let when = if zero { "is zero" } else { "can vanish" };
        let message = format!("causality forces {} to divide by {value}, which {when}", name(graph, *id));
        let mut diagnostic = Diagnostic::new(code::VANISHING_MODULUS, message).at(element.span);
        if zero {
            diagnostic.severity = Severity::Error;
            diagnostic = diagnostic.help("give it a value other than zero, or remove it");
        } else if !element.class().is_converter() {
            diagnostic = diagnostic.help("make sure that it stays away from zero");
        }
        diagnostics.push(diagnostic);
    }
}
