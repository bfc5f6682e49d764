//! Junctions, links between them, one-ports, fields and sources.

use super::Maker;
use crate::expr::{Expr, Function};
use crate::structure::{End, Kind, Law};

/// How names of thermal junctions begin: nothing of another domain is bonded there.
const THERMAL: &str = "hot";

impl Maker {
    /// Adds a junction.
    pub(crate) fn junction(&mut self, kind: Kind) -> usize {
        let name = self.fresh("j");
        self.draft.element(name, kind, 0, Law::None)
    }

    /// The end at an element: port 0 at a junction.
    pub(crate) fn end(&self, element: usize, port: usize) -> End {
        let port = if self.draft.structure.elements[element].kind.is_junction() { 0 } else { port };
        End { element, port }
    }

    /// Bonds two ends, with the arrow from the first to the second unless reversed by chance.
    pub(crate) fn join(&mut self, from: End, to: End, reversed: f64) -> usize {
        let bond =
            if self.rng.chance(reversed) { self.draft.bond(to, from) } else { self.draft.bond(from, to) };
        if self.rng.chance(0.05) && !self.inside {
            self.draft.structure.bonds[bond].name = Some(self.fresh("bond_"));
        }
        bond
    }

    /// Adds a TF or GY.
    fn two_port(&mut self, kind: Kind) -> usize {
        let name = self.fresh(if kind == Kind::Tf { "tf" } else { "gy" });
        let value = self.value();
        self.draft.element(name, kind, 2, Law::Value(value))
    }

    /// Joins two ends through two-ports of the given kinds.
    pub(crate) fn chain(&mut self, start: End, kinds: &[Kind], goal: End) {
        let mut at = start;
        for &kind in kinds {
            let element = self.two_port(kind);
            let turned = self.rng.chance(0.3);
            let (near, far) = if turned { (2, 1) } else { (1, 2) };
            self.join(at, End { element, port: near }, 0.2);
            at = End { element, port: far };
        }
        let reversed = if kinds.is_empty() { 0.35 } else { 0.2 };
        self.join(at, goal, reversed);
    }

    /// Draws what stands between two junctions.
    fn link_kinds(&mut self) -> Vec<Kind> {
        let kinds: &[Kind] = match self.rng.weighted(&[7.0, 1.2, 1.2, 0.5, 0.4, 0.3]) {
            0 => &[],
            1 => &[Kind::Tf],
            2 => &[Kind::Gy],
            3 => &[Kind::Tf, Kind::Tf],
            4 => &[Kind::Gy, Kind::Gy],
            _ => &[Kind::Tf, Kind::Gy],
        };
        kinds.to_vec()
    }

    /// Adds a field over the given ends.
    fn field(&mut self, kind: Kind, ends: &[End]) {
        let name = self.fresh(match kind {
            Kind::R => "rf",
            Kind::C => "cf",
            _ => "lf",
        });
        let law = self.field_law(kind, ends.len());
        let element = self.draft.element(name, kind, ends.len(), law);
        for (index, end) in ends.iter().enumerate() {
            self.join(*end, End { element, port: index + 1 }, 0.2);
        }
    }

    /// Adds a one-port R, C or I at an end, sometimes behind a TF or GY.
    pub(crate) fn one_port(&mut self, kind: Kind, at: End) {
        let name = self.fresh(match kind {
            Kind::R => "r",
            Kind::C => "c",
            _ => "i",
        });
        let law = self.one_port_law(kind);
        let element = self.draft.element(name, kind, 1, law);
        self.hang(at, element);
    }

    /// Bonds a one-port to an end, sometimes through two-ports.
    fn hang(&mut self, at: End, element: usize) {
        let goal = End { element, port: 1 };
        let through: &[Kind] = match self.rng.weighted(&[20.0, 1.0, 1.0, 0.3]) {
            0 => &[],
            1 => &[Kind::Tf],
            2 => &[Kind::Gy],
            _ => &[Kind::Tf, Kind::Gy],
        };
        if through.is_empty() {
            self.join(at, goal, 0.2);
        } else {
            self.chain(at, through, goal);
        }
    }

    /// Draws a one-port kind.
    pub(crate) fn passive(&mut self) -> Kind {
        [Kind::R, Kind::C, Kind::I][self.rng.weighted(&[1.0, 1.0, 1.0])]
    }

    /// Lists the junctions that the model itself declares, except thermal ones.
    fn junctions(&self) -> Vec<usize> {
        let usable = |index: &usize| {
            let element = &self.draft.structure.elements[*index];
            let own = !self.draft.hidden_elements.contains(index);
            element.kind.is_junction() && own && !element.name.starts_with(THERMAL)
        };
        (0..self.draft.structure.elements.len()).filter(usable).collect()
    }

    /// Picks a junction, of the given kind where there is one.
    pub(crate) fn some_junction(&mut self, kind: Kind) -> usize {
        let all = self.junctions();
        let fitting: Vec<usize> =
            all.iter().copied().filter(|index| self.draft.structure.elements[*index].kind == kind).collect();
        let list = if fitting.is_empty() { all } else { fitting };
        *self.rng.pick(&list)
    }

    /// Draws everything but sources and detectors.
    pub(crate) fn skeleton(&mut self) {
        let count = self.rng.within(*self.options.junctions.start(), *self.options.junctions.end());
        let small = self.options.bonds < 20;
        let flip = |kind: Kind| if kind == Kind::Zero { Kind::One } else { Kind::Zero };
        let first = *self.rng.pick(&[Kind::Zero, Kind::One]);
        let mut nodes = vec![self.junction(first)];
        while nodes.len() < count {
            let parent = nodes[nodes.len() - 1 - self.rng.below(nodes.len().min(4))];
            let kind = self.draft.structure.elements[parent].kind;
            let same = self.rng.chance(0.25);
            let node = self.junction(if same { kind } else { flip(kind) });
            let (start, goal) = (self.end(parent, 0), self.end(node, 0));
            if self.rng.chance(0.08) {
                let kind = self.passive();
                self.field(kind, &[start, goal]);
            } else {
                let kinds = if small && self.rng.chance(0.5) { Vec::new() } else { self.link_kinds() };
                self.chain(start, &kinds, goal);
            }
            nodes.push(node);
        }
        self.meshes(&nodes, small);
        self.passives(&nodes, small);
        self.dependents();
        if self.rng.chance(if small { 0.15 } else { 0.35 }) {
            let kind = self.passive();
            let ports = if small { 2 } else { self.rng.within(2, 3) };
            let ends: Vec<End> =
                (0..ports).map(|_| End { element: *self.rng.pick(&nodes), port: 0 }).collect();
            self.field(kind, &ends);
        }
        if self.options.submodels && self.rng.chance(if small { 0.15 } else { 0.3 }) {
            self.submodels(small);
        }
        if self.rng.chance(if small { 0.08 } else { 0.15 }) {
            self.satellite();
        }
        if !self.options.linear {
            self.entropy(small);
            self.switches();
        }
        // Every junction joins at least two bonds.
        for node in nodes {
            while self.draft.degree(node) < 2 {
                let kind = self.passive();
                self.one_port(kind, End { element: node, port: 0 });
            }
        }
    }

    /// Closes rings of junctions.
    fn meshes(&mut self, nodes: &[usize], small: bool) {
        if nodes.len() < 2 {
            return;
        }
        let extra = match self.rng.weighted(&[0.45, 0.35, 0.2]) {
            2 if small => 1,
            extra => extra,
        };
        for _ in 0..extra {
            let (a, b) = (*self.rng.pick(nodes), *self.rng.pick(nodes));
            if a == b {
                continue;
            }
            let kinds = if self.rng.chance(0.5) { vec![Kind::Gy] } else { self.link_kinds() };
            self.chain(End { element: a, port: 0 }, &kinds, End { element: b, port: 0 });
        }
    }

    /// Gives junctions their R, C and I.
    fn passives(&mut self, nodes: &[usize], small: bool) {
        for &node in nodes {
            let weights: &[f64] = if small { &[0.3, 0.5, 0.2] } else { &[0.3, 0.4, 0.2, 0.1] };
            let mut count = self.rng.weighted(weights);
            while self.draft.degree(node) + count < 2 {
                count += 1;
            }
            let is_zero = self.draft.structure.elements[node].kind == Kind::Zero;
            let fitting = if is_zero { Kind::C } else { Kind::I };
            for _ in 0..count {
                let kind = [Kind::R, fitting, self.passive()][self.rng.weighted(&[0.5, 0.4, 0.1])];
                self.one_port(kind, End { element: node, port: 0 });
            }
        }
    }

    /// Puts storages where they depend on each other.
    fn dependents(&mut self) {
        if !self.rng.chance(0.25) {
            return;
        }
        let (kind, junction) = *self.rng.pick(&[(Kind::C, Kind::Zero), (Kind::I, Kind::One)]);
        let at = self.some_junction(junction);
        for _ in 0..2 {
            self.one_port(kind, End { element: at, port: 0 });
        }
    }

    /// Adds a part of its own: one-ports bonded to each other, directly or through two-ports.
    fn satellite(&mut self) {
        let kind = *self.rng.pick(&[Kind::R, Kind::C, Kind::I]);
        let others: &[Kind] =
            if kind == Kind::R { &[Kind::C, Kind::I] } else { &[Kind::R, Kind::C, Kind::I] };
        let second = *self.rng.pick(others);
        let law = self.one_port_law(kind);
        let name = self.fresh("x");
        let element = self.draft.element(name, kind, 1, law);
        let law = self.one_port_law(second);
        let name = self.fresh("x");
        let other = self.draft.element(name, second, 1, law);
        let kinds: &[Kind] = [&[][..], &[], &[Kind::Tf], &[Kind::Gy]][self.rng.below(4)];
        self.chain(End { element, port: 1 }, kinds, End { element: other, port: 1 });
    }

    /// Adds a resistor that heats a body.
    fn entropy(&mut self, small: bool) {
        if !self.rng.chance(if small { 0.2 } else { 0.25 }) {
            return;
        }
        let value = self.value();
        let name = self.fresh("rs");
        let element = self.draft.element(name, Kind::Rs, 2, Law::Value(value));
        let kind = *self.rng.pick(&[Kind::Zero, Kind::One]);
        let at = self.some_junction(kind);
        self.join(End { element: at, port: 0 }, End { element, port: 1 }, 0.2);
        let (warm, capacity) = (self.number() + 290, self.value());
        let body_law = Law::Laws(vec![(
            Expr::from("e"),
            warm.clone() * Expr::call(Function::Exp, Expr::from("q") / (capacity + 50)),
        )]);
        let hot = End { element, port: 2 };
        let plain = self.rng.chance(0.6);
        let name = self.fresh("body");
        let body = self.draft.element(name, Kind::C, 1, body_law);
        let body_end = End { element: body, port: 1 };
        if plain {
            self.join(hot, body_end, 0.2);
            return;
        }
        let name = self.fresh(THERMAL);
        let junction = self.draft.element(name, Kind::Zero, 0, Law::None);
        let at = End { element: junction, port: 0 };
        self.join(hot, at, 0.2);
        self.join(at, body_end, 0.2);
        // Heat conduction to the surroundings.
        let (k, name) = (self.value(), self.fresh("wall"));
        let [e1, e2] = ["e1", "e2"].map(Expr::from);
        let gap = k * (e1.clone() - e2.clone());
        let laws = vec![(Expr::from("f1"), gap.clone() / e1), (Expr::from("f2"), -gap / e2)];
        let wall = self.draft.element(name, Kind::R, 2, Law::Laws(laws));
        self.join(at, End { element: wall, port: 1 }, 0.2);
        let name = self.fresh("outside");
        let outside = self.draft.element(name, Kind::Se, 1, Law::Value(warm));
        self.join(End { element: outside, port: 1 }, End { element: wall, port: 2 }, 0.2);
    }

    /// Adds switches.
    fn switches(&mut self) {
        if !self.rng.chance(0.25) {
            return;
        }
        let at = self.some_junction(Kind::Zero);
        let on = self.value();
        let off = if self.rng.chance(0.5) { Some(self.value() / 100) } else { None };
        let name = self.fresh("sw");
        let (left, right) = match self.rng.below(3) {
            0 => (Expr::name(format!("{name}.e")), Expr::from(0)),
            1 => (Expr::from("t"), self.number()),
            _ => (Expr::call(Function::Sin, Expr::from("t")), Expr::Ratio(1, 2)),
        };
        let element = self.draft.element(name, Kind::Sw, 1, Law::Switch { left, right, on, off });
        self.hang(End { element: at, port: 0 }, element);
    }

    /// Adds sources and detectors, controlled sources and modulation.
    pub(crate) fn drive(&mut self) {
        let input = self.fresh("u");
        let default =
            self.rng.pick(&["1", "12", "sin(t)", "step(1)", "pulse(1, 2)", "0.5*t", ""]).to_string();
        self.draft.structure.inputs.push((input, default));
        let mut sources = self.rng.within(1, 3);
        if self.options.bonds < 20 {
            sources = sources.min(2);
        }
        let mut made = 0;
        for _ in 0..12 {
            if made == sources {
                break;
            }
            made += usize::from(self.attempt(Maker::source));
        }
        if self.options.conflicts && self.rng.chance(0.6) {
            self.attempt(Maker::source);
        }
        for (kind, at) in [(Kind::De, Kind::Zero), (Kind::Df, Kind::One)] {
            if self.rng.chance(if self.options.bonds < 20 { 0.15 } else { 0.25 }) {
                self.attempt(|maker| {
                    let name = maker.fresh(if kind == Kind::De { "de" } else { "df" });
                    let element = maker.draft.element(name, kind, 1, Law::None);
                    let junction = maker.some_junction(at);
                    maker.join(End { element: junction, port: 0 }, End { element, port: 1 }, 0.2);
                });
            }
        }
        self.signals();
        if !self.options.linear {
            self.modulate();
        }
    }

    /// Adds one source with an input, a constant or an expression of both.
    fn source(&mut self) {
        let kind = *self.rng.pick(&[Kind::Se, Kind::Sf]);
        if self.rng.chance(0.4) {
            let input = self.fresh("u");
            let default = self.number().to_string();
            self.draft.structure.inputs.push((input, default));
        }
        let inputs: Vec<String> = self.draft.structure.inputs.iter().map(|(name, _)| name.clone()).collect();
        let u = Expr::name(self.rng.pick(&inputs).clone());
        let value = match self.rng.weighted(&[5.0, 1.0, 1.0, 1.0]) {
            0 => u,
            1 => self.value() * u,
            2 => u - Expr::name(inputs[0].clone()) * self.number(),
            _ => self.value(),
        };
        let name = self.fresh(if kind == Kind::Se { "se" } else { "sf" });
        let element = self.draft.element(name, kind, 1, Law::Value(value));
        let goal = End { element, port: 1 };
        if self.rng.chance(0.06) {
            // A source straight on a one-port, apart from the rest.
            let passive = self.passive();
            let law = self.one_port_law(passive);
            let name = self.fresh("x");
            let load = self.draft.element(name, passive, 1, law);
            self.join(goal, End { element: load, port: 1 }, 0.2);
            return;
        }
        let fitting = if kind == Kind::Se { Kind::One } else { Kind::Zero };
        let wanted = if self.rng.chance(0.75) { fitting } else { *self.rng.pick(&[Kind::Zero, Kind::One]) };
        let at = self.some_junction(wanted);
        let at = End { element: at, port: 0 };
        if self.rng.chance(0.1) {
            let through = *self.rng.pick(&[Kind::Tf, Kind::Gy]);
            self.chain(goal, &[through], at);
        } else {
            self.join(goal, at, 0.2);
        }
    }

    /// Replaces some moduli by modulated ones.
    fn modulate(&mut self) {
        let two_ports: Vec<usize> = (0..self.draft.structure.elements.len())
            .filter(|index| {
                matches!(self.draft.structure.elements[*index].kind, Kind::Tf | Kind::Gy)
                    && !self.draft.hidden_elements.contains(index)
            })
            .collect();
        for index in two_ports {
            let (modulus, may_vanish) = self.modulus();
            if may_vanish || self.rng.chance(0.5) {
                let element = &mut self.draft.structure.elements[index];
                element.law = Law::Value(modulus);
                element.may_vanish = may_vanish;
            }
        }
    }
}
