//! Submodels: drawn once, written once, flattened at each use.

use super::{Maker, Options};
use crate::expr::Expr;
use crate::structure::{Bond, End, Kind, Param, Structure};
use crate::text;

/// A submodel.
#[derive(Debug, Clone)]
pub(crate) struct Template {
    name: String,
    /// Parameters in parentheses, bound at each use.
    header: Vec<String>,
    /// What it means; parameters of its own follow those of the header.
    structure: Structure,
    /// Name, inner end, and whether power counts inward.
    ports: Vec<(String, End, bool)>,
}

impl Maker {
    /// Draws a submodel with one or two ports, `left` inward and `right` outward.
    fn template(&mut self, ports: usize) -> Template {
        let mut inner = Maker::new(
            crate::rng::Rng::new(self.rng.bits()),
            Options { bonds: 12, submodels: false, ..self.options.clone() },
        );
        inner.inside = true;
        let header: Vec<String> = (0..inner.rng.within(1, 2)).map(|_| inner.fresh("h")).collect();
        for name in &header {
            inner.draft.param(name.clone(), Expr::from(1));
        }
        let kind = *inner.rng.pick(&[Kind::Zero, Kind::One]);
        let other = if kind == Kind::Zero { Kind::One } else { Kind::Zero };
        let first = inner.junction(kind);
        let mut open = vec![("left".to_owned(), End { element: first, port: 0 }, true)];
        let mut nodes = vec![first];
        if ports == 2 {
            let second = inner.junction(other);
            let through: &[Kind] = [&[][..], &[], &[Kind::Tf], &[Kind::Gy]][inner.rng.below(4)];
            inner.chain(End { element: first, port: 0 }, through, End { element: second, port: 0 });
            open.push(("right".to_owned(), End { element: second, port: 0 }, false));
            nodes.push(second);
        } else if inner.rng.chance(0.3) {
            open[0].2 = false;
        }
        for node in nodes {
            // The storage that fits the junction keeps causality free in a chain.
            let fitting =
                if inner.draft.structure.elements[node].kind == Kind::Zero { Kind::C } else { Kind::I };
            inner.one_port(fitting, End { element: node, port: 0 });
            if inner.rng.chance(0.4) {
                inner.one_port(Kind::R, End { element: node, port: 0 });
            }
        }
        if !self.inside && inner.rng.chance(0.3) {
            // A submodel within the submodel.
            let leaf = inner.template(1);
            inner.use_once(&leaf, End { element: first, port: 0 });
        }
        self.draft.templates.append(&mut inner.draft.templates);
        let name = self.fresh(if self.inside { "leaf" } else { "part" });
        let mut text = String::new();
        let header_text: Vec<String> = header.iter().map(|name| format!("param {name} = 1")).collect();
        text.push_str(&format!("model {name}({}) {{\n", header_text.join(", ")));
        for (port, _, _) in &open {
            text.push_str(&format!("    port {port}\n"));
        }
        let mut shown = inner.draft.clone();
        shown.hidden_params.extend(0..header.len());
        text.push_str(&text::body(&shown, &mut inner.rng));
        for (port, end, inward) in &open {
            let node = &inner.draft.structure.elements[end.element].name;
            text.push_str(&if *inward {
                format!("    {port} -> {node}\n")
            } else {
                format!("    {node} -> {port}\n")
            });
        }
        text.push_str("}\n");
        self.draft.templates.push(text);
        Template { name, header, structure: inner.draft.structure, ports: open }
    }

    /// Flattens one use of a submodel and returns its open ports.
    fn instantiate(
        &mut self,
        template: &Template,
        instance: &str,
        arguments: &[Option<Expr>],
    ) -> Vec<(String, End, bool)> {
        let structure = &mut self.draft.structure;
        let offset = structure.elements.len();
        let own: Vec<&str> = template.structure.params.iter().map(|param| param.name.as_str()).collect();
        // A parameter that is bound to an expression of others is that expression; bound to a number or
        // left at its default it is a parameter of the instance.
        let bound = |name: &str| {
            let slot = template.header.iter().position(|header| header == name)?;
            let argument = arguments[slot].as_ref()?;
            let mut depends = false;
            argument.names(&mut |_| depends = true);
            depends.then(|| argument.clone())
        };
        let rename = |name: &str| {
            bound(name).or_else(|| own.contains(&name).then(|| Expr::name(format!("{instance}.{name}"))))
        };
        for (name, argument) in template.header.iter().zip(arguments) {
            if bound(name).is_none() {
                self.draft.hidden_params.insert(structure.params.len());
                let value = argument.clone().unwrap_or(Expr::from(1));
                structure.params.push(Param { name: format!("{instance}.{name}"), value });
            }
        }
        for param in &template.structure.params[template.header.len()..] {
            self.draft.hidden_params.insert(structure.params.len());
            let value = param.value.replace(&rename);
            structure.params.push(Param { name: format!("{instance}.{}", param.name), value });
        }
        for element in &template.structure.elements {
            self.draft.hidden_elements.insert(structure.elements.len());
            let mut copy = element.clone();
            copy.name = format!("{instance}.{}", element.name);
            copy.law = element.law.replace(&rename);
            structure.elements.push(copy);
        }
        let moved = |end: End| End { element: end.element + offset, port: end.port };
        for bond in &template.structure.bonds {
            self.draft.hidden_bonds.insert(structure.bonds.len());
            structure.bonds.push(Bond { name: None, from: moved(bond.from), to: moved(bond.to) });
        }
        template.ports.iter().map(|(name, end, inward)| (name.clone(), moved(*end), *inward)).collect()
    }

    /// Bonds a submodel's port to an end outside.
    fn plug(&mut self, outside: End, instance: &str, port: &(String, End, bool)) {
        let (name, inside, inward) = port;
        let bond =
            if *inward { self.draft.bond(outside, *inside) } else { self.draft.bond(*inside, outside) };
        self.draft.spelled.insert((bond, *inward), format!("{instance}.{name}"));
    }

    /// Draws arguments for the header, some left at their default, with their text.
    fn arguments(&mut self, template: &Template) -> (Vec<Option<Expr>>, String) {
        let draw = |_: &String| if self.rng.chance(0.15) { None } else { Some(self.value()) };
        let values: Vec<Option<Expr>> = template.header.iter().map(draw).collect();
        let pair = |(name, value): (&String, &Option<Expr>)| Some(format!("{name} = {}", value.as_ref()?));
        let pairs: Vec<String> = template.header.iter().zip(&values).filter_map(pair).collect();
        (values, if pairs.is_empty() { String::new() } else { format!("({})", pairs.join(", ")) })
    }

    /// Uses a submodel with one port at an end.
    fn use_once(&mut self, template: &Template, at: End) {
        let instance = self.fresh("s");
        let (values, text) = self.arguments(template);
        self.draft.statements.push(format!("use {} {instance}{text}", template.name));
        let ports = self.instantiate(template, &instance, &values);
        self.plug(at, &instance, &ports[0]);
    }

    /// Adds submodels: a part used once or twice, or a chain of an array.
    pub(crate) fn submodels(&mut self, small: bool) {
        let outer: Vec<usize> = (0..self.draft.structure.elements.len())
            .filter(|index| self.draft.structure.elements[*index].kind.is_junction())
            .collect();
        let at = End { element: *self.rng.pick(&outer), port: 0 };
        if self.rng.chance(0.5) {
            let template = self.template(1);
            for _ in 0..self.rng.within(1, if small { 1 } else { 2 }) {
                let at = End { element: *self.rng.pick(&outer), port: 0 };
                self.use_once(&template, at);
            }
            return;
        }
        let template = self.template(2);
        let (values, text) = self.arguments(&template);
        let array = self.fresh("cell");
        let length = self.rng.within(1, if small { 2 } else { 3 });
        self.array = true;
        let symbolic = self.rng.chance(0.5);
        if symbolic {
            self.draft.statements.push(format!("param N = {length}"));
        }
        let last = if symbolic { "N".to_owned() } else { length.to_string() };
        self.draft.statements.push(format!("use {} {array}[1..{last}]{text}", template.name));
        let mut open: Vec<Vec<(String, End, bool)>> = Vec::new();
        for index in 1..=length {
            open.push(self.instantiate(&template, &format!("{array}[{index}]"), &values));
        }
        for index in 1..length {
            let bond = self.draft.bond(open[index - 1][1].1, open[index][0].1);
            self.draft.hidden_bonds.insert(bond);
        }
        if length > 1 || self.rng.chance(0.5) {
            self.draft
                .statements
                .push(format!("for i in 1..{last}-1 {{ {array}[i].right -> {array}[i+1].left }}"));
        }
        self.plug(at, &format!("{array}[1]"), &open[0][0]);
        // The far end closes on another junction or on a one-port of its own.
        let far = format!("{array}[{length}]");
        let kind = self.passive();
        let law = self.one_port_law(kind);
        let name = self.fresh("end");
        let element = self.draft.element(name, kind, 1, law);
        self.plug(End { element, port: 1 }, &far, &open[length - 1][1]);
    }
}
