//! Which physical domain each bond is in, as far as units and ports tell.
//!
//! Bonds that meet at junctions share a domain. Each unit leaves a set of
//! domains that it fits; transformers and gyrators carry the sets across
//! until nothing changes. An empty set is a mistake, and the two elements
//! that made it so are named.

use paynter_base::{Diagnostic, Span, code};
use rustc_hash::FxHashMap;

use super::Flattener;
use super::order::Sets;
use crate::dimension::Dimension;
use crate::domain::{Domain, DomainInfo, DomainSet};
use crate::kind::{Class, Stored, kind_of};
use crate::model::{BondId, ElementId, Kind, is_junction};

/// Bonds of one domain.
#[derive(Debug, Clone)]
struct Component {
    domains: DomainSet,
    /// What narrowed the set first, in words, and where.
    witness: Option<(String, Span)>,
}

/// A two-port between components, with the dimension of its modulus if known.
struct Link {
    element: ElementId,
    components: [usize; 2],
    modulus: Option<Dimension>,
}

/// The two-ports, and those at each component.
struct Links {
    list: Vec<Link>,
    by_component: Vec<Vec<usize>>,
}

/// Two-ports that are tried as the cause of a mismatch, so that a large model stays quick.
const MAX_SUSPECTS: usize = 64;

impl Flattener<'_, '_> {
    pub(super) fn infer_domains(&mut self) {
        let component_of = self.components();
        let count = component_of.iter().max().map_or(0, |&c| c + 1);
        let mut components = vec![Component { domains: DomainSet::ALL, witness: None }; count];
        for (bond, domain, span, name) in std::mem::take(&mut self.port_domains) {
            let text = format!("the port `{name}` is {}", domain.name());
            self.narrow(&mut components[component_of[bond.index()]], DomainSet::only(domain), &text, span);
        }
        self.narrow_by_units(&mut components, &component_of);
        self.narrow_by_links(&mut components, &component_of);
        self.record_domains(&components, &component_of);
    }

    /// Numbers the groups of bonds that meet at junctions.
    fn components(&self) -> Vec<usize> {
        let n = self.graph.bonds.len();
        let mut sets = Sets::new(n);
        for element in self.graph.elements.iter().filter(|e| is_junction(e.kind)) {
            for pair in element.ports.windows(2) {
                sets.join(pair[0].bond.index(), pair[1].bond.index());
            }
        }
        let mut numbers: FxHashMap<usize, usize> = FxHashMap::default();
        (0..n)
            .map(|bond| {
                let root = sets.find(bond);
                let next = numbers.len();
                *numbers.entry(root).or_insert(next)
            })
            .collect()
    }

    fn narrow(&mut self, component: &mut Component, allowed: DomainSet, text: &str, span: Span) {
        let both = component.domains.and(allowed);
        if both.is_empty() {
            let (other, place) = component.witness.clone().unwrap_or_else(|| (String::new(), span));
            let message = format!("{text}, but {other}");
            let diagnostic = Diagnostic::new(code::DOMAIN_MISMATCH, message).at(span);
            self.report.push(diagnostic.label(place, other));
            return;
        }
        if both != component.domains && component.witness.is_none() {
            component.witness = Some((text.to_owned(), span));
        }
        component.domains = both;
    }

    fn narrow_by_units(&mut self, components: &mut [Component], component_of: &[usize]) {
        for id in self.graph.element_ids() {
            let kind = self.graph.element(id).kind;
            for port in 0..self.graph.element(id).ports.len() {
                let bond = self.graph.element(id).ports[port].bond;
                let component = component_of[bond.index()];
                let (name, span) = (self.graph.element(id).name.clone(), self.graph.element(id).span);
                if kind_of(kind).class() == Class::EntropySource && port == 1 {
                    let text = format!(
                        "port 2 of {} `{name}` is thermal (temperature and entropy flow)",
                        kind.word()
                    );
                    self.narrow(&mut components[component], DomainSet::only(Domain::Thermal), &text, span);
                    continue;
                }
                let Some(&dimension) = self.value_dimensions.get(&(id, port)) else { continue };
                let Some((meaning, of)) = kind_of(kind).value() else { continue };
                let fits = DomainSet::filter(|info| of(info) == dimension);
                if fits.is_empty() {
                    let message = format!(
                        "the value of {} `{name}` is in {dimension}, which is {meaning} in no domain",
                        kind.word()
                    );
                    let diagnostic = Diagnostic::new(code::UNIT_MISMATCH, message).at(span);
                    // The most frequent mistake is a stiffness for a compliance.
                    let inverse = dimension.power(-1, 1);
                    let is_inverse =
                        inverse.is_some_and(|d| !DomainSet::filter(|info| of(info) == d).is_empty());
                    let remedy = match (is_inverse, with_value_in(dimension)) {
                        (true, _) => "write 1/(…) of it".to_owned(),
                        (false, Some(other)) => {
                            format!("the value of a {} is in {dimension}; is that meant?", other.word())
                        }
                        (false, None) => "check its unit".to_owned(),
                    };
                    self.report.push(
                        diagnostic.help(format!("the value of {} is {meaning}: {remedy}", kind.word())),
                    );
                    continue;
                }
                let names: Vec<&str> = fits.iter().map(|info| info.name).collect();
                let text = format!("{} `{name}` in {dimension} is {}", kind.word(), names.join(" or "));
                self.narrow(&mut components[component], fits, &text, span);
            }
        }
    }

    fn narrow_by_links(&mut self, components: &mut [Component], component_of: &[usize]) {
        let mut links = Vec::new();
        let mut by_component: Vec<Vec<usize>> = vec![Vec::new(); components.len()];
        for id in self.graph.element_ids() {
            let element = self.graph.element(id);
            if !element.class().is_converter() || element.ports.len() != 2 {
                continue;
            }
            let ends = [0, 1].map(|port| component_of[element.ports[port].bond.index()]);
            for end in ends {
                by_component[end].push(links.len());
            }
            links.push(Link {
                element: id,
                components: ends,
                modulus: self.value_dimensions.get(&(id, 0)).copied(),
            });
        }
        let links = Links { list: links, by_component };
        let by_units = components.to_vec();
        let conflicts = self.propagate(components, &links, None);
        if conflicts.is_empty() {
            return;
        }
        // What a wrong modulus led to would be held against elements that are right.
        components.clone_from_slice(&by_units);
        let suspects = self.suspects(&by_units, &links);
        // Where one modulus alone can be wrong it is reported, and the others that may be beside it.
        let told = match suspects.iter().find(|k| conflicts.contains(k)).or(suspects.first()) {
            Some(k) => vec![*k],
            None => conflicts,
        };
        for k in told {
            let mut sides = by_units.clone();
            self.propagate(&mut sides, &links, Some(k));
            let [first, second] = links.list[k].components;
            let others: Vec<ElementId> = suspects
                .iter()
                .filter(|other| **other != k)
                .map(|other| links.list[*other].element)
                .collect();
            self.report_link(&links.list[k], [&sides[first], &sides[second]], &others);
        }
    }

    /// The two-ports without whose modulus all domains would fit.
    fn suspects(&self, by_units: &[Component], links: &Links) -> Vec<usize> {
        let with_unit = (0..links.list.len()).filter(|k| links.list[*k].modulus.is_some());
        let fits = |k: &usize| self.propagate(&mut by_units.to_vec(), links, Some(*k)).is_empty();
        with_unit.take(MAX_SUSPECTS).filter(fits).collect()
    }

    /// Carries the domains across two-ports, of which one may be left out. Returns those that fit nothing.
    fn propagate(&self, components: &mut [Component], links: &Links, without: Option<usize>) -> Vec<usize> {
        let mut conflicts = Vec::new();
        let mut work: Vec<usize> = (0..links.list.len()).rev().collect();
        while let Some(k) = work.pop() {
            if without == Some(k) {
                continue;
            }
            let link = &links.list[k];
            let element = self.graph.element(link.element);
            let gyrator = element.class() == Class::Gyrator;
            let fits = |a: &DomainInfo, b: &DomainInfo| link_fits(a, b, link.modulus, gyrator);
            let [first, second] = link.components;
            let (left, right) = (components[first].domains, components[second].domains);
            let new_left = left.and(DomainSet::filter(|a| right.iter().any(|b| fits(a, b))));
            let new_right = right.and(DomainSet::filter(|b| left.iter().any(|a| fits(a, b))));
            if new_left.is_empty() || new_right.is_empty() {
                if !conflicts.contains(&k) {
                    conflicts.push(k);
                }
                continue;
            }
            for (component, new) in [(first, new_left), (second, new_right)] {
                if components[component].domains == new {
                    continue;
                }
                components[component].domains = new;
                let names: Vec<&str> = new.iter().map(|info| info.name).collect();
                // A long list of what is possible witnesses nothing.
                if components[component].witness.is_none() && names.len() <= 3 {
                    let text = format!(
                        "{} `{}` leads to {} here",
                        element.kind.word(),
                        element.name,
                        names.join(" or ")
                    );
                    components[component].witness = Some((text, element.span));
                }
                work.extend(links.by_component[component].iter().filter(|&&other| other != k));
            }
        }
        conflicts
    }

    fn report_link(&mut self, link: &Link, [first, second]: [&Component; 2], others: &[ElementId]) {
        let element = self.graph.element(link.element);
        let unit = link.modulus.map_or(String::new(), |m| format!(" with a modulus in {m}"));
        let message =
            format!("{} `{}`{unit} does not fit the domains at its ports", element.kind.word(), element.name);
        let place = element.written.value.filter(|_| link.modulus.is_some()).unwrap_or(element.span);
        let mut diagnostic = Diagnostic::new(code::DOMAIN_MISMATCH, message).at(place);
        for (text, span) in [&first.witness, &second.witness].into_iter().flatten() {
            diagnostic = diagnostic.label(*span, text.clone());
        }
        for other in others.iter().map(|id| self.graph.element(*id)) {
            let place = other.written.value.unwrap_or(other.span);
            diagnostic =
                diagnostic.label(place, format!("or this modulus of `{}` is the wrong one", other.name));
        }
        let is_gyrator = element.class() == Class::Gyrator;
        let meaning = if is_gyrator {
            "the modulus of a GY is effort 1 over flow 2, and effort 2 over flow 1"
        } else {
            "the modulus of a TF is effort 1 over effort 2, and flow 2 over flow 1"
        };
        // The most frequent mistake with a ratio is to have it upside down.
        let inverse = link.modulus.and_then(|modulus| modulus.power(-1, 1));
        let is_upside_down = inverse.is_some()
            && first
                .domains
                .iter()
                .any(|a| second.domains.iter().any(|b| link_fits(a, b, inverse, is_gyrator)));
        let pairs = |gyrator: bool| {
            let fits = |a: &DomainInfo| second.domains.iter().any(|b| link_fits(a, b, link.modulus, gyrator));
            link.modulus.is_some() && first.domains.iter().any(fits)
        };
        let help = match (is_upside_down, pairs(!is_gyrator)) {
            (true, _) => format!("{meaning}: write 1/(…) of it"),
            (false, true) => {
                let other = if is_gyrator { Class::Transformer } else { Class::Gyrator };
                format!("{meaning}; this is the modulus of a {}", other.kind().word())
            }
            (false, false) => meaning.to_owned(),
        };
        self.report.push(diagnostic.help(help));
    }

    fn record_domains(&mut self, components: &[Component], component_of: &[usize]) {
        for id in self.graph.element_ids() {
            for port in 0..self.graph.element(id).ports.len() {
                let bond: BondId = self.graph.element(id).ports[port].bond;
                let domains = components[component_of[bond.index()]].domains;
                self.graph.elements[id.index()].ports[port].domain = domains.decided();
                let element = self.graph.element(id);
                if element.stored() == Some(Stored::Momentum)
                    && domains.iter().all(|info| info.momentum.is_none())
                {
                    let message = format!(
                        "{} `{}` is in a domain without momentum ({})",
                        element.kind.word(),
                        element.name,
                        domains.iter().map(|d| d.name).collect::<Vec<_>>().join(" or ")
                    );
                    self.report.push(Diagnostic::new(code::NO_MOMENTUM, message).at(element.span));
                }
            }
        }
    }
}

/// The kind of element whose value has a dimension, in some domain.
fn with_value_in(dimension: Dimension) -> Option<Kind> {
    let classes = [Class::Resistor, Class::Storage(Stored::Displacement), Class::Storage(Stored::Momentum)];
    classes.into_iter().map(Class::kind).find(|kind| {
        let of = kind_of(*kind).value();
        of.is_some_and(|(_, of)| !DomainSet::filter(|info| of(info) == dimension).is_empty())
    })
}

/// Whether a two-port may stand between two domains: its modulus fits and power is conserved.
fn link_fits(a: &DomainInfo, b: &DomainInfo, modulus: Option<Dimension>, gyrator: bool) -> bool {
    let ratios = if gyrator {
        [a.effort_dimension.over(b.flow_dimension), b.effort_dimension.over(a.flow_dimension)]
    } else {
        [a.effort_dimension.over(b.effort_dimension), b.flow_dimension.over(a.flow_dimension)]
    };
    ratios[0] == ratios[1] && modulus.is_none_or(|m| m == ratios[0])
}
