//! Instances of models: parameters get their values, elements their places,
//! submodels their own instances, depth first in text order.

use paynter_base::{Diagnostic, Remedy, Span, code};
use paynter_language::ast::{self, Body, ExprKind};

use super::expression::{Context, Scope, Typed};
use super::params::Arguments;
use super::program::Slot;
use super::{Flattener, MAX_ELEMENTS};
use crate::kind::{Ports, kind_of};
use crate::limits::SUBMODEL_DEPTH;
use crate::model::{
    Element, ElementId, Input, Integrator, Law, Origin, Signal, Variable, Written, flat_name,
};

/// One use of a model; the first instance is the whole model.
#[derive(Debug)]
pub(super) struct Instance {
    pub model: usize,
    /// `motor`, `c[3]`, `car.wheel[1]`; empty for the whole model.
    pub path: String,
    pub depth: usize,
    /// Values of the model's parameters, over independent ones.
    pub params: Vec<Typed>,
    pub elements: Vec<ElementId>,
    /// For each `use`: the first instance, the first index, and how many; arrays are contiguous
    /// in `ids`.
    pub children: Vec<Children>,
    /// Place of the instance's first input among the graph's.
    pub first_input: u32,
    /// What each signal of the model is here.
    pub signals: Vec<Variable>,
    /// For each port: the bond segments on it from outside and from inside.
    pub ports: Vec<PortJoin>,
    /// Where it is used.
    pub span: Span,
}

/// The instances of one `use`.
#[derive(Debug, Clone, Default)]
pub(super) struct Children {
    pub low: i64,
    pub array: bool,
    pub ids: Vec<usize>,
}

/// Segments of bonds that meet at a submodel's port.
#[derive(Debug, Clone, Default)]
pub(super) struct PortJoin {
    pub outside: Vec<usize>,
    pub inside: Vec<usize>,
    /// Whether a bond from outside was refused for another mistake.
    pub excused: bool,
}

impl<'a> Flattener<'a, '_> {
    /// Instantiates the whole model.
    pub(super) fn instantiate_all(&mut self, top: usize, arguments: Arguments) {
        self.graph.locals.reserve(self.pool, 2);
        let time = self.time;
        self.graph.variables.insert(Variable::Time, time);
        let span = self.infos[top].ast.name.span;
        self.instantiate(top, String::new(), 0, arguments, span);
        let info = &self.infos[top];
        if let Some(port) = info.ports.first() {
            let message = format!(
                "`{}` is a submodel: its port `{}` is open, so it cannot stand alone",
                info.ast.name.text, port.name.text
            );
            let diagnostic = Diagnostic::new(code::UNCONNECTED, message).at(port.span);
            self.report.push(diagnostic.help(Remedy::marked(
                "write a model that uses it (`use NAME x`), or choose another with {option model=NAME}",
            )));
        }
    }

    fn instantiate(
        &mut self,
        model: usize,
        path: String,
        depth: usize,
        arguments: Arguments,
        span: Span,
    ) -> usize {
        let id = self.instances.len();
        let ports = vec![PortJoin::default(); self.infos[model].ports.len()];
        let first_input = self.graph.inputs.len() as u32;
        self.instances.push(Instance {
            model,
            path,
            depth,
            params: Vec::new(),
            elements: Vec::new(),
            children: Vec::new(),
            first_input,
            signals: Vec::new(),
            ports,
            span,
        });
        self.bonds_by_name.push(vec![None; self.infos[model].bond_names.len()]);
        self.evaluate_params(id, &arguments);
        self.declare_inputs(id);
        self.declare_signals(id);
        for i in 0..self.infos[model].slots.len() {
            match self.infos[model].slots[i] {
                Slot::Element(e) => self.declare_element(id, e),
                Slot::Use(u) => self.instantiate_use(id, u),
            }
            if self.too_large(span) {
                break;
            }
        }
        id
    }

    /// Notices when elements, submodels or their values pass the limit.
    fn too_large(&mut self, span: Span) -> bool {
        let graph = &self.graph;
        let values = graph.parameters.len() + graph.derived.len() + graph.signals.len();
        let size = graph.elements.len().max(self.instances.len()).max(values);
        if size > self.limit && !self.too_large {
            self.too_large = true;
            let message = format!("the model has more than {} elements", self.limit);
            self.report.push(Diagnostic::new(code::TOO_MANY_ELEMENTS, message).at(span));
        }
        self.too_large
    }

    /// The full name of something declared in an instance.
    pub(super) fn full_name(&self, instance: usize, name: &str) -> String {
        let path = &self.instances[instance].path;
        if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
    }

    fn declare_inputs(&mut self, id: usize) {
        let model = self.instances[id].model;
        for i in 0..self.infos[model].inputs.len() {
            let quantity = self.infos[model].inputs[i];
            let name = self.full_name(id, &quantity.name.text);
            let symbol = self.pool.symbol(&flat_name(&name));
            let setting = self.take_setting(&name);
            let unit = self.read_unit(setting.and_then(|s| s.unit.as_ref()).or(quantity.unit.as_ref()));
            let written = setting.map(|s| &s.value).or(quantity.value.as_ref());
            let value = match written {
                Some(value) => {
                    let typed = self.lower(Scope::new(id, Context::OverTime), value);
                    let typed = self.require_number(typed, value.span);
                    self.apply_unit(&unit, typed, value.span, &quantity.name.text).expr
                }
                None => self.pool.zero(),
            };
            let place = self.graph.inputs.len() as u32;
            self.graph.variables.insert(Variable::Input(place), symbol);
            let doc = quantity.doc.clone();
            let given = written.is_some();
            self.graph.inputs.push(Input { name, symbol, value, given, unit, doc, span: quantity.span });
        }
    }

    /// Gives every signal its symbol, so that expressions anywhere can read it.
    fn declare_signals(&mut self, id: usize) {
        let model = self.instances[id].model;
        let zero = self.pool.zero();
        for i in 0..self.infos[model].signals.len() {
            let quantity = self.infos[model].signals[i];
            let name = self.full_name(id, &quantity.name.text);
            let symbol = self.pool.symbol(&flat_name(&name));
            let span = quantity.span;
            let is_integral = matches!(
                quantity.value.as_ref().map(|v| &v.kind),
                Some(ExprKind::Call(function, _)) if function.text == "integral"
            );
            let variable = if is_integral {
                let place = self.graph.integrators.len() as u32;
                self.graph.integrators.push(Integrator { name, symbol, rate: zero, initial: zero, span });
                Variable::Integrator(place)
            } else {
                let place = self.graph.signals.len() as u32;
                self.graph.signals.push(Signal { name, symbol, value: zero, span });
                Variable::Signal(place)
            };
            self.graph.variables.insert(variable, symbol);
            self.instances[id].signals.push(variable);
        }
    }

    fn declare_element(&mut self, id: usize, e: usize) {
        let model = self.instances[id].model;
        let ast: &'a ast::Element = self.infos[model].elements[e];
        let name = self.full_name(id, &ast.name.text);
        if let Some(ports) = &ast.ports
            && kind_of(ast.kind).ports() != Ports::Field
        {
            let message =
                format!("`{}` cannot have a number of ports: only R, C and I become fields", ast.kind.word());
            self.report.push(
                Diagnostic::new(code::MISPLACED, message)
                    .at(ports.span)
                    .help("delete the brackets; for an array write a submodel and `use NAME x[1..n]`"),
            );
        }
        let id_ = ElementId(self.graph.elements.len() as u32);
        self.instances[id].elements.push(id_);
        self.graph.elements.push(Element {
            name,
            kind: ast.kind,
            ports: Vec::new(),
            law: Law::Structure,
            initial: Vec::new(),
            span: ast.name.span,
            written: Written { statement: ast.span, value: value_span(&ast.body) },
            origin: Origin::Declared,
        });
    }

    /// The number of ports an element should have; none for junctions.
    pub(super) fn port_count(&mut self, instance: usize, ast: &'a ast::Element) -> Option<usize> {
        match kind_of(ast.kind).ports() {
            Ports::Any => return None,
            Ports::Fixed(ports) => return Some(ports),
            Ports::Field => {}
        }
        match (&ast.ports, &ast.body) {
            (Some(ports), _) => {
                let n = self.structural_integer(instance, &[], ports, "the number of ports")?;
                if !(1..=1000).contains(&n) {
                    let message = format!("`{}` has {n} ports", ast.name.text);
                    self.report.push(
                        Diagnostic::new(code::BAD_ARRAY, message)
                            .at(ports.span)
                            .help("a field has between 1 and 1000 ports"),
                    );
                    return Some(1);
                }
                Some(n as usize)
            }
            (None, Body::Matrix(rows, _)) => Some(rows.len().max(1)),
            _ => Some(1),
        }
    }

    fn instantiate_use(&mut self, id: usize, u: usize) {
        let model = self.instances[id].model;
        let instance: &'a ast::Use = self.infos[model].uses[u];
        let Some(target) = self.infos[model].targets[u] else {
            self.instances[id].children.push(Children::default());
            return;
        };
        let depth = self.instances[id].depth + 1;
        if depth > SUBMODEL_DEPTH {
            let message = format!("submodels are nested more than {SUBMODEL_DEPTH} deep");
            let diagnostic = Diagnostic::new(code::TOO_DEEP, message).at(instance.span);
            self.report.push(diagnostic.help("join some of the levels into one submodel"));
            self.instances[id].children.push(Children::default());
            return;
        }
        let arguments = self.arguments(id, instance, target);
        let path = self.full_name(id, &instance.name.text);
        let mut children = Children { low: 0, array: instance.range.is_some(), ids: Vec::new() };
        match &instance.range {
            None => children.ids.push(self.instantiate(target, path, depth, arguments, instance.span)),
            Some(range) => {
                if let Some((low, high)) = self.range(id, &[], range)
                    && self.indices_are_names(id, u, low, high)
                {
                    children.low = low;
                    for index in low..=high {
                        let path = format!("{path}[{index}]");
                        children.ids.push(self.instantiate(
                            target,
                            path,
                            depth,
                            arguments.clone(),
                            instance.span,
                        ));
                        if self.too_large(instance.span) {
                            break;
                        }
                    }
                }
            }
        }
        self.instances[id].children.push(children);
    }

    /// Whether an array's instances can be named by their indices: `c[3]` prints as `c_3` in
    /// expressions, which must be a name, and nobody else's.
    fn indices_are_names(&mut self, id: usize, u: usize, low: i64, high: i64) -> bool {
        let info = &self.infos[self.instances[id].model];
        let array = &info.uses[u].name;
        let span = info.uses[u].range.as_ref().map_or(array.span, |range| range.span);
        if low < 0 && low <= high {
            let message = format!("the indices of `{}` begin at {low}", array.text);
            let diagnostic = Diagnostic::new(code::BAD_ARRAY, message).at(span);
            self.report.push(diagnostic.help("let them begin at 0 or 1"));
            return false;
        }
        let twins: Vec<_> =
            info.twins.iter().filter(|twin| twin.array == u && (low..=high).contains(&twin.index)).collect();
        for twin in twins {
            let message = format!("`{}` is also how `{}[{}]` prints", twin.name.text, array.text, twin.index);
            self.report.push(
                Diagnostic::new(code::DUPLICATE_NAME, message)
                    .at(twin.name.span)
                    .label(array.span, "the array")
                    .help("rename one of the two"),
            );
        }
        true
    }

    /// Evaluates the ends of a range; `1..0` is empty, anything shorter is a mistake.
    pub(super) fn range(
        &mut self,
        id: usize,
        loops: &[(&'a str, i64)],
        range: &'a ast::Range,
    ) -> Option<(i64, i64)> {
        let low = self.structural_integer(id, loops, &range.low, "the start of a range")?;
        let high = self.structural_integer(id, loops, &range.high, "the end of a range")?;
        if high < low - 1 {
            let message = format!("the range {low}..{high} has a negative length");
            let help = format!("an empty range is written {low}..{}", low - 1);
            self.report.push(Diagnostic::new(code::BAD_ARRAY, message).at(range.span).help(help));
            return None;
        }
        if high - low >= MAX_ELEMENTS as i64 {
            let message = format!("the range {low}..{high} is longer than {MAX_ELEMENTS}");
            self.report.push(Diagnostic::new(code::TOO_MANY_ELEMENTS, message).at(range.span));
            return None;
        }
        Some((low, high))
    }
}

/// Where the value of an element stands, as far as it could be read.
fn value_span(body: &Body) -> Option<Span> {
    match body {
        Body::Value(value) => (!matches!(value.kind, ExprKind::Error)).then_some(value.span),
        Body::Matrix(_, span) => Some(*span),
        Body::None | Body::Laws(..) => None,
    }
}
