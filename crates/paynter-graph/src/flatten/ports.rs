//! Ports: each bond finds its port at either end, by number, by the arrows of
//! a two-port, or in text order at a junction, and gets its name.

use paynter_base::{Diagnostic, Span, code};
use paynter_language::ast;
use rustc_hash::FxHashSet;

use super::Flattener;
use super::bonds::{Place, Segment};
use super::elements::ports_help;
use crate::domain::{DOMAINS, Domain};
use crate::kind::{Ports, kind_of};
use crate::model::{Bond, BondId, ElementId, End, Port, is_junction};

/// An element's end of a bond, before its port is known.
struct Incidence {
    bond: usize,
    /// Whether the arrow points here.
    into: bool,
    port: Option<usize>,
    span: Span,
}

/// An element with the bonds on it.
struct Bonded<'a> {
    kind: ast::Kind,
    name: String,
    span: Span,
    list: &'a [Incidence],
}

impl Bonded<'_> {
    /// There are as many bonds as ports.
    fn check_count(&self, wanted: usize) -> Result<(), Box<Diagnostic>> {
        let Bonded { kind, name, span, list } = self;
        if list.len() == wanted && wanted > 0 {
            return Ok(());
        }
        if list.is_empty() {
            let message = format!("`{name}` has no bond");
            let help = format!("bond it, as in `junction -> {name}`, or delete it");
            return Err(Box::new(Diagnostic::new(code::UNCONNECTED, message).at(*span).help(help)));
        }
        let message = format!(
            "{} `{name}` has {} bond{} and needs {wanted}",
            kind.word(),
            list.len(),
            if list.len() == 1 { "" } else { "s" }
        );
        let help = match (list.len() > wanted, wanted) {
            (true, 1) => "put a junction between them: 0 for a common effort, 1 for a common flow",
            (true, _) => "remove the bonds that are too many, or put a junction where several meet",
            (false, _) => "bond every port",
        };
        let diagnostic = Diagnostic::new(code::PORT_COUNT, message).at(*span).help(help);
        Err(labelled(diagnostic, list.iter()))
    }

    /// The bond on each port and the port of each bond, as far as they are numbered.
    fn numbered(&self, wanted: usize) -> Result<(Numbers, Numbers), Box<Diagnostic>> {
        let Bonded { name, list, .. } = self;
        let mut taken: Numbers = vec![None; wanted];
        let mut assigned: Numbers = vec![None; list.len()];
        for (k, incidence) in list.iter().enumerate() {
            let Some(port) = incidence.port else { continue };
            if port >= wanted {
                let message = format!("`{name}` has no port {}", port + 1);
                let diagnostic = Diagnostic::new(code::UNKNOWN_PORT, message).at(incidence.span);
                return Err(Box::new(diagnostic.help(ports_help(wanted))));
            }
            if let Some(other) = taken[port] {
                let message = format!("the port {} of `{name}` has two bonds", port + 1);
                let diagnostic = Diagnostic::new(code::PORT_COUNT, message).at(incidence.span);
                return Err(Box::new(diagnostic.label(list[other].span, "the other")));
            }
            taken[port] = Some(k);
            assigned[k] = Some(port);
        }
        Ok((taken, assigned))
    }

    /// Gives ports to bonds without numbers, where only one way is left.
    fn assign_open(
        &self,
        taken: &[Option<usize>],
        assigned: &mut [Option<usize>],
    ) -> Result<(), Box<Diagnostic>> {
        let Bonded { kind, name, span, list } = self;
        let ports = kind_of(*kind).ports();
        let open: Vec<usize> = (0..list.len()).filter(|&k| assigned[k].is_none()).collect();
        match open[..] {
            [] => {}
            [only] => assigned[only] = taken.iter().position(Option::is_none),
            [a, b] if ports == Ports::Fixed(2) && list[a].into != list[b].into => {
                // Port 1 is where a bond comes in and port 2 where one goes out.
                assigned[a] = Some(usize::from(!list[a].into));
                assigned[b] = Some(usize::from(!list[b].into));
            }
            _ => {
                let message = if taken.len() == 2 && ports != Ports::Field {
                    let way = if list[open[0]].into { "come in" } else { "go out" };
                    format!("both bonds of `{name}` {way}, so its ports are ambiguous")
                } else {
                    format!("the bonds of `{name}` do not say which port they are on")
                };
                let more = if taken.len() > 2 { " …" } else { "" };
                let help = format!("write `{name}.1`, `{name}.2`{more} in the bonds");
                let diagnostic = Diagnostic::new(code::AMBIGUOUS_PORTS, message).at(*span).help(help);
                return Err(labelled(diagnostic, open.iter().map(|&k| &list[k])));
            }
        }
        Ok(())
    }
}

/// Numbers of bonds or ports; none where they are not known.
type Numbers = Vec<Option<usize>>;

/// A finding with the places of some bonds.
fn labelled<'a>(diagnostic: Diagnostic, bonds: impl Iterator<Item = &'a Incidence>) -> Box<Diagnostic> {
    let label = |diagnostic: Diagnostic, bond: &Incidence| diagnostic.label(bond.span, "a bond");
    Box::new(bonds.take(4).fold(diagnostic, label))
}

impl<'a> Flattener<'a, '_> {
    /// Gives each chain its ports at both elements and makes the bonds.
    pub(super) fn place_bonds(&mut self, segments: &[Segment], chains: &[Vec<usize>]) {
        let mut incidences: Vec<Vec<Incidence>> = Vec::new();
        incidences.resize_with(self.graph.elements.len(), Vec::new);
        let mut ends: Vec<[Option<End>; 2]> = vec![[None; 2]; chains.len()];
        for (bond, chain) in chains.iter().enumerate() {
            let (first, last) = (&segments[chain[0]], &segments[chain[chain.len() - 1]]);
            let (Place::Element(from, from_port), Place::Element(to, to_port)) = (first.from, last.to) else {
                continue;
            };
            incidences[from.index()].push(Incidence {
                bond,
                into: false,
                port: from_port,
                span: first.from_span,
            });
            incidences[to.index()].push(Incidence { bond, into: true, port: to_port, span: last.to_span });
        }
        for instance in 0..self.instances.len() {
            for e in 0..self.instances[instance].elements.len() {
                let id = self.instances[instance].elements[e];
                let ast: &'a ast::Element = self.infos[self.instances[instance].model].elements[e];
                let wanted = self.port_count(instance, ast);
                self.graph.locals.reserve(self.pool, wanted.unwrap_or(0));
                let assigned = self.assign_ports(id, wanted, &incidences[id.index()]);
                for (incidence, port) in incidences[id.index()].iter().zip(assigned) {
                    let port = port.map(|port| End { element: id, port: port as u32 });
                    ends[incidence.bond][usize::from(incidence.into)] = port;
                }
            }
        }
        self.make_bonds(segments, chains, &ends);
    }

    /// Decides the port of every bond on an element; none where that is a mistake.
    fn assign_ports(
        &mut self,
        id: ElementId,
        wanted: Option<usize>,
        list: &[Incidence],
    ) -> Vec<Option<usize>> {
        let element = self.graph.element(id);
        let bonded = Bonded { kind: element.kind, name: element.name.clone(), span: element.span, list };
        let excused = self.excused.contains(&id);
        let Some(wanted) = wanted else {
            self.check_junction(&bonded, excused);
            return (0..list.len()).map(Some).collect();
        };
        if excused && list.len() < wanted {
            return vec![None; list.len()];
        }
        let ports = bonded.check_count(wanted).and_then(|()| {
            let (taken, mut assigned) = bonded.numbered(wanted)?;
            bonded.assign_open(&taken, &mut assigned)?;
            Ok(assigned)
        });
        ports.unwrap_or_else(|mistake| {
            self.report.push(*mistake);
            vec![None; list.len()]
        })
    }

    /// A junction has bonds, and its ports no numbers.
    fn check_junction(&mut self, Bonded { name, span, list, .. }: &Bonded<'_>, excused: bool) {
        if list.is_empty() && !excused {
            let message = format!("the junction `{name}` has no bonds");
            let help = format!("bond it, as in `{name} -> element`, or delete it");
            self.report.push(Diagnostic::new(code::UNCONNECTED, message).at(*span).help(help));
        }
        for incidence in list.iter().filter(|i| i.port.is_some()) {
            let message = format!("the junction `{name}` has no numbered ports");
            self.report.push(
                Diagnostic::new(code::UNKNOWN_PORT, message).at(incidence.span).help("write its name alone"),
            );
        }
    }

    fn make_bonds(&mut self, segments: &[Segment], chains: &[Vec<usize>], ends: &[[Option<End>; 2]]) {
        let given = self.given_names(segments, chains);
        // A number must not be the name of an element, or their variables would have one name.
        let parts = self.infos[self.instances[0].model].part_names();
        let taken: FxHashSet<&str> = given.iter().flatten().map(String::as_str).chain(parts).collect();
        let mut number = 0;
        let mut ports: Vec<(End, Port)> = Vec::with_capacity(2 * chains.len());
        for (i, chain) in chains.iter().enumerate() {
            let [Some(from), Some(to)] = ends[i] else { continue };
            let id = BondId(self.graph.bonds.len() as u32);
            let name = match &given[i] {
                Some(name) => name.clone(),
                None => loop {
                    number += 1;
                    let name = format!("b{number}");
                    if !taken.contains(name.as_str()) {
                        break name;
                    }
                },
            };
            for (instance, named) in chain.iter().filter_map(|&s| segments[s].name) {
                self.bonds_by_name[instance][named] = Some(id);
            }
            self.note_port_domains(segments, chain, id);
            let first = chain.iter().min().copied().unwrap_or(chain[0]);
            self.graph.bonds.push(Bond { name, from, to, span: segments[first].span });
            ports.push((from, Port { bond: id, into: false, domain: None }));
            ports.push((to, Port { bond: id, into: true, domain: None }));
        }
        // Elements list their ports in order; after a mistake only those that have a bond.
        ports.sort_unstable_by_key(|(end, _)| *end);
        for (end, port) in ports {
            let element = &mut self.graph.elements[end.element.index()];
            let place = element.ports.len() as u32;
            element.ports.push(port);
            if place != end.port || is_junction(element.kind) {
                let bond = &mut self.graph.bonds[port.bond.index()];
                let here = if port.into { &mut bond.to } else { &mut bond.from };
                here.port = place;
            }
        }
    }

    /// Remembers the domains declared by the submodel ports that a bond passes.
    fn note_port_domains(&mut self, segments: &[Segment], chain: &[usize], bond: BondId) {
        for &s in chain {
            let Place::Port { instance, port, .. } = segments[s].to else { continue };
            let declaration: &'a ast::Port = self.infos[self.instances[instance].model].ports[port];
            let Some(domain) = &declaration.domain else { continue };
            match Domain::parse(&domain.text) {
                Some(known) => {
                    let name = format!("{}.{}", self.instances[instance].path, declaration.name.text);
                    self.port_domains.push((bond, known, declaration.span, name));
                }
                None => {
                    let names: Vec<&str> = DOMAINS.iter().map(|info| info.name).collect();
                    let help = match self.closest(&domain.text, &names) {
                        Some(near) => format!("did you mean `{near}`?"),
                        None => format!("the domains are: {}", names.join(", ")),
                    };
                    let message = format!("`{}` is not a domain", domain.text);
                    self.report.push(Diagnostic::new(code::UNKNOWN_NAME, message).at(domain.span).help(help));
                }
            }
        }
    }

    /// Names given by the user: the outermost name of a bond wins.
    fn given_names(&self, segments: &[Segment], chains: &[Vec<usize>]) -> Vec<Option<String>> {
        chains
            .iter()
            .map(|chain| {
                let named = chain.iter().filter_map(|&s| segments[s].name);
                let (instance, named) = named.min_by_key(|(instance, _)| self.instances[*instance].depth)?;
                let name = self.infos[self.instances[instance].model].bond_names[named];
                Some(self.full_name(instance, &name.text))
            })
            .collect()
    }
}
