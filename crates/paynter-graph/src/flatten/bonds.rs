//! Bonds: statements become segments, and segments that meet at submodel ports
//! become one bond.

use std::collections::BTreeMap;

use paynter_base::{Code, Diagnostic, Span, code};
use paynter_language::ast::{self, Body, Statement};

use super::instance::Instance;
use super::program::Part;
use super::{Deferred, Flattener};
use crate::kind::{Ports, kind_of};
use crate::limits::{LISTED_PORTS, LOOP_TURNS};
use crate::model::ElementId;

/// Where a segment ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Place {
    /// At an element, perhaps at a port that is said (from 0).
    Element(ElementId, Option<usize>),
    /// At the port of an instance, from outside or from inside.
    Port { instance: usize, port: usize, outside: bool },
}

/// A bond as one statement draws it.
#[derive(Debug, Clone)]
pub(super) struct Segment {
    pub from: Place,
    pub to: Place,
    pub from_span: Span,
    pub to_span: Span,
    /// Instance and place among its model's named bonds.
    pub name: Option<(usize, usize)>,
    pub span: Span,
}

impl<'a> Flattener<'a, '_> {
    /// Makes all bonds.
    pub(super) fn connect(&mut self) {
        let mut segments = Vec::new();
        for instance in 0..self.instances.len() {
            let model = self.instances[instance].model;
            let statements: &'a [Statement] = &self.infos[model].ast.statements;
            // Named bonds are counted as the model's declarations count them.
            let mut named = 0;
            self.collect(instance, statements, &mut Vec::new(), &mut named, &mut segments);
        }
        self.check_submodel_ports();
        let chains = self.join(&segments);
        self.place_bonds(&segments, &chains);
    }

    fn collect(
        &mut self,
        instance: usize,
        statements: &'a [Statement],
        loops: &mut Vec<(&'a str, i64)>,
        named: &mut usize,
        segments: &mut Vec<Segment>,
    ) {
        for statement in statements {
            match statement {
                Statement::Bonds(bonds) => self.collect_bonds(instance, bonds, loops, named, segments),
                Statement::For(each) => {
                    let Some((low, high)) = self.range(instance, loops, &each.range) else { continue };
                    for i in low..=high {
                        self.iterations += 1;
                        if self.iterations > LOOP_TURNS {
                            let message = format!("the `for` loops have more than {LOOP_TURNS} turns");
                            self.report.push(Diagnostic::new(code::TOO_MANY_ELEMENTS, message).at(each.span));
                            return;
                        }
                        let errors = self.report.errors;
                        loops.push((&each.variable.text, i));
                        self.collect(instance, &each.statements, loops, named, segments);
                        loops.pop();
                        // What is wrong in one turn is usually wrong in all.
                        if self.report.errors > errors {
                            break;
                        }
                    }
                }
                Statement::Init(_) | Statement::Prefer(_) | Statement::Causality(_) => {
                    self.deferred.push(Deferred { instance, loops: loops.as_slice().into(), statement });
                }
                other if !loops.is_empty() => {
                    let span = statement_span(other);
                    let message = "only bonds, `init`, `prefer`, `causality` and `for` may stand in a `for`";
                    let help = "put the elements into a submodel and write `use NAME x[1..N]`";
                    self.report.push(Diagnostic::new(code::MISPLACED, message).at(span).help(help));
                }
                _ => {}
            }
        }
    }

    fn collect_bonds(
        &mut self,
        instance: usize,
        bonds: &'a ast::Bonds,
        loops: &[(&'a str, i64)],
        named: &mut usize,
        segments: &mut Vec<Segment>,
    ) {
        let name = bonds.name.as_ref().and_then(|name| {
            if !loops.is_empty() {
                let message = format!("the bond `{}` would be made several times", name.text);
                self.report.push(
                    Diagnostic::new(code::MISPLACED, message)
                        .at(name.span)
                        .help("name bonds outside of `for`"),
                );
                return None;
            }
            *named += 1;
            Some((instance, *named - 1))
        });
        let mut places: Vec<Vec<Option<Place>>> = Vec::with_capacity(bonds.stages.len());
        for stage in &bonds.stages {
            places.push(stage.iter().map(|path| self.place(instance, loops, path)).collect());
        }
        if let Some(comma) = bonds.comma
            && self.impossible(instance, &places)
        {
            let message = "the comma at the end of the line takes the next line's bonds into the same list";
            let diagnostic = Diagnostic::new(code::BAD_BOND, message).at(comma);
            self.report.push(diagnostic.help("remove the comma: each line is then a statement of its own"));
            for place in places.iter().flatten() {
                self.excuse(*place);
            }
            return;
        }
        let mut made = 0;
        for k in 1..places.len() {
            if places[k - 1].len() > 1 && places[k].len() > 1 {
                let message = "several elements are bonded to several others";
                self.report.push(
                    Diagnostic::new(code::BAD_BOND, message)
                        .at(bonds.span)
                        .help("write one statement for each, or put a junction between"),
                );
                continue;
            }
            for (i, from) in places[k - 1].iter().enumerate() {
                for (j, to) in places[k].iter().enumerate() {
                    made += 1;
                    let (Some(from), Some(to)) = (*from, *to) else {
                        self.excuse((*from).or(*to));
                        continue;
                    };
                    let (from_span, to_span) = (bonds.stages[k - 1][i].span, bonds.stages[k][j].span);
                    self.add_segment(
                        segments,
                        Segment { from, to, from_span, to_span, name, span: from_span.cover(to_span) },
                    );
                }
            }
        }
        if let (Some(name), true) = (&bonds.name, made > 1) {
            let message = format!("the name `{}` is given to {made} bonds", name.text);
            self.report.push(
                Diagnostic::new(code::BAD_BOND, message).at(name.span).help("name one bond a statement"),
            );
        }
    }

    /// Tells whether no model could have the bonds between these groups of
    /// places: several to several, one to itself, or more than a place can hold.
    fn impossible(&self, instance: usize, groups: &[Vec<Option<Place>>]) -> bool {
        let owner = &self.instances[instance];
        let room = |place: Place| match place {
            Place::Element(id, None) => match kind_of(self.graph.element(id).kind).ports() {
                Ports::Any => usize::MAX,
                Ports::Fixed(ports) if ports > 1 => ports,
                Ports::Fixed(_) | Ports::Field => {
                    let ast = owner.elements.binary_search(&id).map(|e| self.infos[owner.model].elements[e]);
                    let field =
                        |ast: &ast::Element| ast.ports.is_some() || matches!(ast.body, Body::Matrix(..));
                    if ast.is_ok_and(field) { usize::MAX } else { 1 }
                }
            },
            Place::Element(_, Some(_)) | Place::Port { .. } => 1,
        };
        let mut held: Vec<Place> = Vec::new();
        for pair in groups.windows(2) {
            if pair[0].len() > 1 && pair[1].len() > 1 {
                return true;
            }
            for (from, to) in pair[0].iter().flat_map(|from| pair[1].iter().map(move |to| (*from, *to))) {
                let same =
                    matches!((from, to), (Some(Place::Element(a, _)), Some(Place::Element(b, _))) if a == b);
                if same {
                    return true;
                }
                held.extend([from, to].into_iter().flatten());
            }
        }
        held.sort_unstable();
        held.chunk_by(|a, b| a == b).any(|bonds| bonds.len() > room(bonds[0]))
    }

    /// Notes that a place has a bond in the text, though a mistake keeps it out of the graph.
    fn excuse(&mut self, place: Option<Place>) {
        match place {
            Some(Place::Element(element, _)) => {
                self.excused.insert(element);
            }
            Some(Place::Port { instance, port, outside: true }) => {
                self.instances[instance].ports[port].excused = true;
            }
            _ => {}
        }
    }

    fn add_segment(&mut self, segments: &mut Vec<Segment>, segment: Segment) {
        if let (Place::Element(a, _), Place::Element(b, _)) = (segment.from, segment.to)
            && a == b
        {
            let message = format!("`{}` is bonded to itself", self.graph.element(a).name);
            self.report.push(Diagnostic::new(code::BAD_BOND, message).at(segment.span));
            return;
        }
        let id = segments.len();
        for place in [segment.from, segment.to] {
            if let Place::Port { instance, port, outside } = place {
                let join = &mut self.instances[instance].ports[port];
                if outside { join.outside.push(id) } else { join.inside.push(id) }
            }
        }
        segments.push(segment);
    }

    /// Finds what a path in a bond statement means.
    fn place(&mut self, instance: usize, loops: &[(&'a str, i64)], path: &'a ast::Path) -> Option<Place> {
        let (segments, port) = match path.segments.split_last() {
            Some((last, rest)) if !rest.is_empty() && last.name.text.bytes().all(|b| b.is_ascii_digit()) => {
                (rest, Some(&last.name))
            }
            _ => (path.segments.as_slice(), None),
        };
        // `motor.shfat` with `motor` a two-port: say which ports there are.
        if let [first, second] = segments
            && let Some(&Part::Element(e)) =
                self.infos[self.instances[instance].model].parts.get(first.name.text.as_str())
        {
            let element = self.instances[instance].elements[e];
            self.unknown_port(element, &second.name);
            return None;
        }
        let (owner, rest) = self.descend(instance, loops, segments)?;
        let model = self.instances[owner].model;
        let Some(segment) = rest else {
            self.refuse_submodel(owner, path.span);
            return None;
        };
        let part = self.infos[model].parts.get(segment.name.text.as_str()).copied();
        if let (Some(Part::Port(_)), Some(number)) = (part, port) {
            let message = format!("the port `{}` has no number `{}`", segment.name.text, number.text);
            let diagnostic = Diagnostic::new(code::UNKNOWN_PORT, message).at(number.span);
            self.report.push(diagnostic.help("write the port's name alone"));
            return None;
        }
        match part {
            Some(Part::Port(p)) if owner == instance => {
                Some(Place::Port { instance, port: p, outside: false })
            }
            Some(Part::Port(p)) if self.instances[owner].depth == self.instances[instance].depth + 1 => {
                Some(Place::Port { instance: owner, port: p, outside: true })
            }
            Some(Part::Element(e)) if owner == instance => {
                let element = self.instances[owner].elements[e];
                let port = match port {
                    None => None,
                    Some(name) => match name.text.parse::<usize>().ok().and_then(|k| k.checked_sub(1)) {
                        Some(k) => Some(k),
                        None => {
                            self.unknown_port(element, name);
                            return None;
                        }
                    },
                };
                Some(Place::Element(element, port))
            }
            Some(Part::Element(_) | Part::Port(_)) => {
                let message = format!(
                    "`{}` is inside a submodel: bonds reach a submodel only through its own ports",
                    segment.name.text
                );
                self.report.push(
                    Diagnostic::new(code::BAD_BOND, message)
                        .at(path.span)
                        .help("declare a `port` in the submodel and bond that"),
                );
                None
            }
            Some(Part::Bond(_)) => {
                let message = format!("`{}` is a bond; a bond joins two elements", segment.name.text);
                self.report.push(Diagnostic::new(code::BAD_BOND, message).at(path.span));
                None
            }
            _ if owner != instance => {
                self.refuse_unknown_port(owner, &segment.name);
                None
            }
            _ => {
                self.unknown_part(model, &segment.name);
                None
            }
        }
    }

    /// A bond ends at a submodel itself.
    fn refuse_submodel(&mut self, owner: usize, span: Span) {
        let Instance { model, path, .. } = &self.instances[owner];
        let ports = self.infos[*model].ports.iter().map(|p| format!("`{path}.{}`", p.name.text));
        let ports: Vec<String> = ports.collect();
        let message = format!("`{path}` is a submodel: bonds reach it through a port");
        let help = if ports.is_empty() {
            "declare a `port` in it".to_owned()
        } else {
            format!("write {}", ports.join(" or "))
        };
        self.report.push(Diagnostic::new(code::UNKNOWN_PORT, message).at(span).help(help));
    }

    /// A bond ends at a port that a submodel does not have.
    fn refuse_unknown_port(&mut self, owner: usize, name: &ast::Name) {
        let model = self.instances[owner].model;
        let names: Vec<&str> = self.infos[model].ports.iter().map(|p| p.name.text.as_str()).collect();
        let help = match self.closest(&name.text, &names) {
            Some(near) => format!("did you mean `{near}`?"),
            None if names.is_empty() => "it has no ports: declare one with `port`".to_owned(),
            None => format!("it has: {}", names.join(", ")),
        };
        let message = format!("the submodel `{}` has no port `{}`", self.instances[owner].path, name.text);
        self.report.push(Diagnostic::new(code::UNKNOWN_PORT, message).at(name.span).help(help));
    }

    fn unknown_port(&mut self, element: ElementId, name: &ast::Name) {
        let element = self.graph.element(element);
        let help = match kind_of(element.kind).ports() {
            Ports::Any => "a junction takes any number of bonds: write its name alone",
            Ports::Fixed(2) => "a two-port has the ports 1 and 2",
            Ports::Field if element.ports.len() <= 1 => "it has one port: write its name alone",
            Ports::Field => "ports are numbered from 1 to the number in its brackets",
            Ports::Fixed(_) => "it has one port: write its name alone",
        };
        let message = format!("`{}` has no port `{}`", element.name, name.text);
        self.report.push(Diagnostic::new(code::UNKNOWN_PORT, message).at(name.span).help(help));
    }

    /// Every port of a submodel must have one bond on either side.
    fn check_submodel_ports(&mut self) {
        // Instances of an array share the place of their `use`, so their ports are gathered there.
        let mut open: BTreeMap<(Span, Code), Vec<String>> = BTreeMap::new();
        for id in 1..self.instances.len() {
            let instance = &self.instances[id];
            let info = &self.infos[instance.model];
            for (port, join) in info.ports.iter().zip(&instance.ports) {
                let found = match join.outside.len() {
                    0 if join.excused => None,
                    0 => Some(code::UNCONNECTED),
                    1 => None,
                    _ => Some(code::PORT_COUNT),
                };
                if let Some(code) = found {
                    let name = format!("`{}.{}`", instance.path, port.name.text);
                    open.entry((instance.span, code)).or_default().push(name);
                }
                if join.inside.len() != 1 {
                    let message = format!(
                        "the port `{}` is bonded {} inside its model",
                        port.name.text,
                        if join.inside.is_empty() {
                            "to nothing".to_owned()
                        } else {
                            format!("{} times", join.inside.len())
                        }
                    );
                    self.report.push(
                        Diagnostic::new(code::PORT_COUNT, message)
                            .at(port.span)
                            .help("bond it once inside; put a junction where several meet"),
                    );
                }
            }
        }
        for ((span, code), names) in open {
            let (ports, have) = if names.len() == 1 { ("port", "has") } else { ("ports", "have") };
            let more = names.len().saturating_sub(LISTED_PORTS);
            let mut list = names[..names.len() - more].join(", ");
            if more > 0 {
                list += &format!(" and {more} more");
            }
            let (what, help) = if code == code::UNCONNECTED {
                (
                    "no bond",
                    "bond each; a source of zero effort leaves a port free, one of zero flow holds it",
                )
            } else {
                ("several bonds", "put a junction outside where several bonds meet, and bond the port to it")
            };
            let message = format!("the {ports} {list} {have} {what}");
            self.report.push(Diagnostic::new(code, message).at(span).help(help));
        }
    }

    /// Follows segments through submodel ports. Each chain runs along the arrows
    /// from one element to another.
    fn join(&mut self, segments: &[Segment]) -> Vec<Vec<usize>> {
        let mut chains = Vec::new();
        for start in 0..segments.len() {
            if !matches!(segments[start].from, Place::Element(..)) {
                continue;
            }
            let mut chain = vec![start];
            let mut here = start;
            let complete = loop {
                let Place::Port { instance, port, outside } = segments[here].to else { break true };
                let join = &self.instances[instance].ports[port];
                let other = if outside { &join.inside } else { &join.outside };
                let [next] = other[..] else { break false };
                if segments[next].from != (Place::Port { instance, port, outside: !outside }) {
                    let name = &self.infos[self.instances[instance].model].ports[port].name;
                    let message = format!(
                        "the arrows on either side of the port `{}.{}` point at each other",
                        self.instances[instance].path, name.text
                    );
                    // Both sides come here; the one outside tells it.
                    if outside {
                        let diagnostic =
                            Diagnostic::new(code::ARROWS_DISAGREE, message).at(segments[here].span);
                        self.report.push(diagnostic.label(segments[next].span, "the other side"));
                    }
                    break false;
                }
                if chain.len() > segments.len() {
                    break false;
                }
                chain.push(next);
                here = next;
            };
            if complete {
                chains.push(chain);
            }
        }
        // Every other bond has been refused for its ports; its elements are not unconnected.
        let mut placed = vec![false; segments.len()];
        for &segment in chains.iter().flatten() {
            placed[segment] = true;
        }
        let lost: Vec<&Segment> =
            segments.iter().zip(placed).filter(|(_, placed)| !placed).map(|(segment, _)| segment).collect();
        for segment in &lost {
            self.excuse(Some(segment.from));
            self.excuse(Some(segment.to));
        }
        self.check_backward(segments);
        if let (Some(segment), false) = (lost.first(), self.report.has_errors()) {
            let message = "this bond runs in a circle through ports and meets no element";
            self.report.push(Diagnostic::new(code::BAD_BOND, message).at(segment.span));
        }
        chains.sort_by_key(|chain| chain.iter().min().copied());
        chains
    }

    /// Finds ports from which both arrows point away, which no chain reaches.
    fn check_backward(&mut self, segments: &[Segment]) {
        for id in 1..self.instances.len() {
            for p in 0..self.instances[id].ports.len() {
                let join = &self.instances[id].ports[p];
                let ([outer], [inner]) = (&join.outside[..], &join.inside[..]) else { continue };
                let here = |place| matches!(place, Place::Port { instance, port, .. } if (instance, port) == (id, p));
                let away = |segment: &Segment| here(segment.from);
                if away(&segments[*outer]) && away(&segments[*inner]) {
                    let name = &self.infos[self.instances[id].model].ports[p].name;
                    let message = format!(
                        "the arrows on either side of the port `{}.{}` point away from each other",
                        self.instances[id].path, name.text
                    );
                    let diagnostic =
                        Diagnostic::new(code::ARROWS_DISAGREE, message).at(segments[*outer].span);
                    self.report.push(diagnostic.label(segments[*inner].span, "the other side"));
                }
            }
        }
    }
}

pub(super) fn statement_span(statement: &Statement) -> Span {
    match statement {
        Statement::Param(s) => s.span,
        Statement::Input(s) | Statement::Output(s) | Statement::Signal(s) => s.span,
        Statement::Element(s) => s.span,
        Statement::Bonds(s) => s.span,
        Statement::Init(s) => s.span,
        Statement::Port(s) => s.span,
        Statement::Use(s) => s.span,
        Statement::For(s) => s.span,
        Statement::Prefer(s) => s.span,
        Statement::Causality(s) => s.span,
    }
}
