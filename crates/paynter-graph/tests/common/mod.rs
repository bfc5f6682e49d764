//! A text brought as far as it goes, and short questions about the result.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]
#![allow(dead_code, reason = "each test file asks its own questions")]

use paynter_algebra::{Expr, Pool};
use paynter_base::{Diagnostic, Diagnostics, MemoryWorld, SourceMap};
use paynter_graph::{
    BondGraph, BondId, Causality, Element, FlattenOptions, Setting, assign_causality, flatten,
};
use paynter_language::ast;

/// What came of a text.
pub struct Checked {
    pub pool: Pool,
    pub sources: SourceMap,
    pub graph: Option<BondGraph>,
    pub causality: Option<Causality>,
    pub diagnostics: Diagnostics,
}

/// Reads, flattens and assigns causality to a whole file.
pub fn check(text: &str) -> Checked {
    check_world(MemoryWorld::new().with("model.bg", text), "model.bg", &[])
}

/// The same for the statements of one model.
pub fn model(statements: &str) -> Checked {
    check(&format!("model m {{\n{statements}\n}}"))
}

/// The same with `--set NAME=VALUE`.
pub fn check_set(text: &str, set: &[(&str, &str)]) -> Checked {
    check_world(MemoryWorld::new().with("model.bg", text), "model.bg", set)
}

/// The same with several files.
pub fn check_world(world: MemoryWorld, path: &str, set: &[(&str, &str)]) -> Checked {
    let loaded = paynter_language::load(&world, path);
    let mut diagnostics = loaded.diagnostics;
    let paths = loaded.files.iter().filter_map(|(id, _)| loaded.sources.get(*id));
    let paths = paths.map(|source| source.path.clone()).collect();
    let files: Vec<ast::File> = loaded.files.into_iter().map(|(_, file)| file).collect();
    let options =
        FlattenOptions { set: set.iter().map(|s| setting(s.0, s.1)).collect(), paths, ..Default::default() };
    let mut pool = Pool::new();
    let (graph, found) = flatten(&mut pool, &files, &options);
    diagnostics.extend(found);
    let mut causality = None;
    if let Some(graph) = graph.as_ref().filter(|_| !diagnostics.has_errors()) {
        let (assigned, found) = assign_causality(&mut pool, graph);
        diagnostics.extend(found);
        causality = assigned;
    }
    Checked { pool, sources: loaded.sources, graph, causality, diagnostics }
}

/// Reads a setting as the value of a parameter.
fn setting(name: &str, value: &str) -> Setting {
    let text = format!("model s {{ param x = {value} }}");
    let (file, mistakes) = paynter_language::parse_syntax(&text, paynter_base::FileId(0));
    assert!(mistakes.is_empty(), "{value}");
    let Some(ast::Statement::Param(param)) = file.models[0].statements.first() else { panic!("{value}") };
    Setting { name: name.to_owned(), value: param.value.clone().unwrap(), unit: param.unit.clone() }
}

impl Checked {
    /// All findings as `CODE message`.
    pub fn findings(&self) -> Vec<String> {
        self.diagnostics.iter().map(|found| format!("{} {}", found.code.id(), found.message)).collect()
    }

    /// The codes of all findings, in order.
    pub fn codes(&self) -> Vec<&'static str> {
        self.diagnostics.iter().map(|found| found.code.id()).collect()
    }

    /// The first finding with a code.
    pub fn finding(&self, code: &str) -> &Diagnostic {
        let found = self.diagnostics.iter().find(|found| found.code.id() == code);
        found.unwrap_or_else(|| panic!("no {code} among {:#?}", self.findings()))
    }

    /// The graph of a model without errors.
    pub fn graph(&self) -> &BondGraph {
        assert!(!self.diagnostics.has_errors(), "{:#?}", self.findings());
        self.graph.as_ref().unwrap()
    }

    /// The causality of a model without errors.
    pub fn causality(&self) -> &Causality {
        assert!(!self.diagnostics.has_errors(), "{:#?}", self.findings());
        self.causality.as_ref().unwrap()
    }

    pub fn element(&self, name: &str) -> &Element {
        let found = self.graph().elements.iter().find(|element| element.name == name);
        found.unwrap_or_else(|| panic!("no element {name}"))
    }

    /// The bond with a name, or the bond of a one-port.
    pub fn bond(&self, name: &str) -> BondId {
        if let Some(i) = self.graph().bonds.iter().position(|bond| bond.name == name) {
            return BondId(i as u32);
        }
        let ports = &self.element(name).ports;
        assert_eq!(ports.len(), 1, "{name} has several bonds");
        ports[0].bond
    }

    /// The element that effort enters on a bond.
    pub fn effort_into(&self, bond: &str) -> &str {
        let id = self.causality().effort_into(self.graph(), self.bond(bond));
        &self.graph().element(id).name
    }

    /// Asserts for bonds, or the bonds of one-ports, which element effort enters.
    #[track_caller]
    pub fn efforts(&self, expected: &[(&str, &str)]) -> &Checked {
        for (bond, into) in expected {
            assert_eq!(self.effort_into(bond), *into, "effort on the bond {bond}\n{}", self.strokes());
        }
        self
    }

    /// Every stroke with its reason, one a line, in the order of decision.
    pub fn strokes(&self) -> String {
        let (graph, causality) = (self.graph(), self.causality());
        let line = |bond: BondId| {
            let decision = causality.strokes[bond.index()];
            let b = graph.bond(bond);
            let name = |end: paynter_graph::End| &graph.element(end.element).name;
            let into = &graph.element(causality.effort_into(graph, bond)).name;
            let (from, to, why) = (name(b.from), name(b.to), decision.reason.describe(graph));
            format!("{} {}: {from} -> {to}, effort into {into}: {why}\n", decision.step, b.name)
        };
        causality.in_order().into_iter().map(line).collect()
    }

    /// The states of storages in derivative causality.
    pub fn dependent(&self) -> Vec<String> {
        let storages = self.causality().storages.iter().filter(|storage| !storage.integral);
        storages.map(|storage| self.graph().state_name(storage.element, storage.port)).collect()
    }

    /// The elements of every loop.
    pub fn loops(&self) -> Vec<Vec<&str>> {
        let name = |id: &paynter_graph::ElementId| self.graph().element(*id).name.as_str();
        self.causality().loops.iter().map(|found| found.elements.iter().map(name).collect()).collect()
    }

    /// An expression as text.
    pub fn show(&self, expr: Expr) -> String {
        self.pool.display(expr).to_string()
    }
}
