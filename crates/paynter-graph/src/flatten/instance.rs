//! Instances of models: parameters get their values, elements their places,
//! submodels their own instances, depth first in text order.

use paynter_algebra::Expr;
use paynter_base::{Diagnostic, Span, code};
use paynter_language::ast::{self, Body, ExprKind, Kind};

use super::expression::{Context, Dim, Typed};
use super::program::{Slot, for_names};
use super::{Flattener, MAX_ELEMENTS};
use crate::dimension::{Unit, read_unit};
use crate::model::{
    Derived, Element, ElementId, Input, Integrator, Law, Parameter, Signal, Tolerance, Variable, flat_name,
};

/// Submodels nested deeper than this are refused.
const MAX_DEPTH: usize = 256;

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

/// Arguments of a `use`, evaluated where it stands.
type Arguments = Vec<(usize, Typed, Span)>;

impl<'a> Flattener<'a, '_> {
    /// Instantiates the whole model.
    pub(super) fn instantiate_all(&mut self, top: usize) {
        self.graph.locals.reserve(self.pool, 2);
        let time = self.time;
        self.graph.variables.insert(Variable::Time, time);
        let span = self.infos[top].ast.name.span;
        self.instantiate(top, String::new(), 0, Vec::new(), span);
        let info = &self.infos[top];
        if let Some(port) = info.ports.first() {
            let message = format!(
                "`{}` is a submodel: its port `{}` is open, so it cannot stand alone",
                info.ast.name.text, port.name.text
            );
            let diagnostic = Diagnostic::new(code::UNCONNECTED, message).at(port.span);
            self.report
                .push(diagnostic.help(
                    "write a model that uses it (`use NAME x`), or choose another with `--model NAME`",
                ));
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
        if size > MAX_ELEMENTS && !self.too_large {
            self.too_large = true;
            let message = format!("the model has more than {MAX_ELEMENTS} elements");
            self.report.push(Diagnostic::new(code::TOO_MANY_ELEMENTS, message).at(span));
        }
        self.too_large
    }

    /// The full name of something declared in an instance.
    pub(super) fn full_name(&self, instance: usize, name: &str) -> String {
        let path = &self.instances[instance].path;
        if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
    }

    fn evaluate_params(&mut self, id: usize, arguments: &Arguments) {
        let model = self.instances[id].model;
        let count = self.infos[model].params.len();
        let zero = self.nothing();
        self.instances[id].params = vec![Typed::number(zero); count];
        // Evaluation follows the definitions, but the graph lists parameters in text order.
        let mut declared: Vec<Option<Declared>> = Vec::new();
        declared.resize_with(count, || None);
        for k in 0..count {
            let i = self.infos[model].param_order[k];
            let argument = arguments.iter().find(|(index, _, _)| *index == i);
            let (value, entry) = self.evaluate_param(id, i, argument);
            self.instances[id].params[i] = value;
            declared[i] = entry;
        }
        for entry in declared.into_iter().flatten() {
            match entry {
                Declared::Independent(parameter) => {
                    let place = self.graph.parameters.len() as u32;
                    self.graph.variables.insert(Variable::Parameter(place), parameter.symbol);
                    self.graph.parameters.push(parameter);
                }
                Declared::Derived(derived) => self.graph.derived.push(derived),
            }
        }
    }

    /// Finds the value of one parameter and what it is to the graph: an
    /// independent parameter when its value is a number, a derived one when it
    /// is defined from others, nothing when it is structural.
    fn evaluate_param(
        &mut self,
        id: usize,
        i: usize,
        argument: Option<&(usize, Typed, Span)>,
    ) -> (Typed, Option<Declared>) {
        let model = self.instances[id].model;
        let param: &'a ast::Param = self.infos[model].params[i];
        let name = self.full_name(id, &param.name.text);
        let structural = self.infos[model].structural[i];
        let setting = self.take_setting(&name).filter(|setting| self.is_plain(setting));
        let unit = self.read_unit(setting.and_then(|s| s.unit.as_ref()).or(param.unit.as_ref()));
        let context = if structural { Context::Structural } else { Context::Parameters };
        let written = setting.map(|s| &s.value).or(param.value.as_ref());
        let typed = match (setting, argument, written) {
            // The unit has been seen to where the argument was read.
            (None, Some((_, typed, _)), _) => *typed,
            (_, _, Some(value)) => {
                let typed = self.lower(id, &[], context, value);
                self.apply_unit(&unit, typed, value.span, &param.name.text)
            }
            (_, _, None) => {
                let message = match i < self.infos[model].header {
                    true => {
                        format!("`{}` needs a value for its parameter `{}`", self.label(id), param.name.text)
                    }
                    false => format!("parameter `{}` has no value", param.name.text),
                };
                let place = if id == 0 { param.span } else { self.instances[id].span };
                let diagnostic = Diagnostic::new(code::BAD_ARGUMENT, message).at(place);
                self.report.push(diagnostic.help(format!(
                    "write `{} = …` in the parentheses of the `use`, or a default at the declaration",
                    param.name.text
                )));
                Typed::number(self.nothing())
            }
        };
        let value = typed.expr;
        if self.pool.is_boolean(value) {
            let message = format!("parameter `{name}` is a condition, not a number");
            let diagnostic = Diagnostic::new(code::MISPLACED, message).at(param.span);
            self.report.push(diagnostic.help("write `if(condition, 1, 0)`"));
            return (Typed::number(self.nothing()), None);
        }
        let known = Typed { expr: value, dim: unit.as_ref().map_or(typed.dim, |u| Dim::Hard(u.dimension)) };
        if structural {
            return (self.small_fraction(known, param), None);
        }
        let number = self.numeric(value);
        if !number.is_finite() {
            let message = format!("parameter `{name}` has no finite value");
            let diagnostic = Diagnostic::new(code::BAD_VALUE, message).at(param.span);
            self.report.push(
                diagnostic.help("check for a division by zero, an overflow, or a root of a negative number"),
            );
        }
        if self.pool.symbols(value).is_empty() {
            let tolerance = self.tolerance(id, param, &unit, number);
            let bounds = self.bounds(id, param, &unit, number, &name);
            let symbol = self.pool.symbol(&flat_name(&name));
            let expr = self.pool.var(symbol);
            self.numbers.insert(symbol, number);
            let doc = param.doc.clone();
            let span = param.span;
            let parameter = Parameter { name, symbol, value, number, unit, tolerance, bounds, doc, span };
            return (Typed { expr, dim: known.dim }, Some(Declared::Independent(parameter)));
        }
        // A tolerance in a header belongs to the default; an argument brings its own parameters'.
        if let (Some(tolerance), None) = (&param.tolerance, argument) {
            let message =
                format!("`{name}` is defined from other parameters and cannot have a tolerance of its own");
            self.report.push(Diagnostic::new(code::DERIVED_TOLERANCE, message).at(tolerance.span));
        }
        let derived = Derived { name, value, unit, span: param.span };
        (known, Some(Declared::Derived(derived)))
    }

    /// Refuses structural parameters that grow without end: they are computed exactly.
    fn small_fraction(&mut self, typed: Typed, param: &ast::Param) -> Typed {
        let small = self.pool.as_rational(typed.expr).is_none_or(|value| {
            i64::try_from(value.numerator().clone()).is_ok()
                && i64::try_from(value.denominator().clone()).is_ok()
        });
        if small {
            return typed;
        }
        let message = format!("`{}` is too large for an array", param.name.text);
        self.report.push(Diagnostic::new(code::TOO_MANY_ELEMENTS, message).at(param.span));
        Typed { expr: self.nothing(), ..typed }
    }

    /// A number for an expression over independent parameters declared so far.
    pub(super) fn numeric(&self, expr: Expr) -> f64 {
        if let Some(number) = self.pool.as_symbol(expr).and_then(|symbol| self.numbers.get(&symbol)) {
            return *number;
        }
        self.pool.eval(expr, &|symbol| self.numbers.get(&symbol).copied()).unwrap_or(f64::NAN)
    }

    fn take_setting(&mut self, name: &str) -> Option<&'a super::Setting> {
        if self.settings.is_empty() {
            return None;
        }
        let name = flat_name(name);
        let setting = self.settings.get(&name).copied()?;
        self.settings_used.insert(name);
        Some(setting)
    }

    /// Whether a parameter's new value is a number. Other parameters may not have theirs yet.
    fn is_plain(&mut self, setting: &'a super::Setting) -> bool {
        let mut name = None;
        for_names(&setting.value, &mut |found| {
            if found != "pi" {
                name = Some(found);
            }
        });
        if let Some(found) = name {
            let message = format!("the new value of `{}` reads `{found}`", setting.name);
            self.report.push(
                Diagnostic::new(code::BAD_SET, message)
                    .help(format!("give a number, as in `--set {}=2.5`", setting.name)),
            );
        }
        name.is_none()
    }

    fn label(&self, instance: usize) -> String {
        let path = &self.instances[instance].path;
        if path.is_empty() { self.graph.name.clone() } else { path.clone() }
    }

    /// Understands a unit, or says what is wrong with it.
    pub(super) fn read_unit(&mut self, unit: Option<&'a ast::Unit>) -> Option<Unit> {
        let unit = unit?;
        // Members of an array share their units; a place alone would not tell a setting's from a file's.
        let key = std::ptr::from_ref(unit);
        if let Some(known) = self.units.get(&key) {
            return known.clone();
        }
        let known = match read_unit(self.pool, unit) {
            Ok(unit) => Some(unit),
            Err(bad) => {
                self.report
                    .push(Diagnostic::new(code::UNKNOWN_UNIT, bad.message).at(bad.span).help(bad.help));
                None
            }
        };
        self.units.insert(key, known.clone());
        known
    }

    /// A value made of plain numbers is in the unit that follows it; one made
    /// of quantities is in SI already, and the unit is a claim to be checked.
    pub(super) fn apply_unit(&mut self, unit: &Option<Unit>, typed: Typed, span: Span, name: &str) -> Typed {
        let Some(unit) = unit else { return typed };
        if typed.dim.takes(unit.dimension) {
            let expr = self.pool.mul(typed.expr, unit.scale);
            return Typed { expr, dim: Dim::Hard(unit.dimension) };
        }
        self.check_declared(&Some(unit.clone()), typed, span, name);
        typed
    }

    /// Complains when a quantity does not have the dimension its unit claims.
    pub(super) fn check_declared(&mut self, unit: &Option<Unit>, typed: Typed, span: Span, name: &str) {
        if let (Some(unit), Dim::Hard(found)) = (unit, typed.dim)
            && found != unit.dimension
        {
            let message = format!("`{name}` is declared in {}, but its value is in {found}", unit.text);
            let diagnostic = Diagnostic::new(code::UNIT_MISMATCH, message).at(span);
            self.report.push(diagnostic.help(format!("mend the expression, or declare it in {found}")));
        }
    }

    fn tolerance(
        &mut self,
        id: usize,
        param: &'a ast::Param,
        unit: &Option<Unit>,
        number: f64,
    ) -> Option<Tolerance> {
        let tolerance = param.tolerance.as_ref()?;
        let typed = self.lower(id, &[], Context::Parameters, &tolerance.value);
        let size = self.numeric(typed.expr);
        if !(size.is_finite() && size >= 0.0) {
            let message =
                format!("the tolerance of `{}` is {size}; it must not be negative", param.name.text);
            let diagnostic = Diagnostic::new(code::BAD_TOLERANCE, message).at(tolerance.span);
            self.report.push(diagnostic.help("write how far the value may be off, as in `±10%` or `±0.2`"));
            return None;
        }
        if tolerance.percent {
            if number == 0.0 {
                let message =
                    format!("`{}` is zero, so a tolerance in percent says nothing", param.name.text);
                let diagnostic = Diagnostic::new(code::BAD_TOLERANCE, message).at(tolerance.span);
                self.report.push(diagnostic.help("give an absolute tolerance, such as `±0.2`"));
                return None;
            }
            return Some(Tolerance::Relative(size / 100.0));
        }
        let factor = unit.as_ref().map_or(1.0, |u| u.factor);
        Some(Tolerance::Absolute(size * if typed.dim.is_bare() { factor } else { 1.0 }))
    }

    fn bounds(
        &mut self,
        id: usize,
        param: &'a ast::Param,
        unit: &Option<Unit>,
        number: f64,
        name: &str,
    ) -> Option<(f64, f64)> {
        let bounds = param.bounds.as_ref()?;
        let factor = unit.as_ref().map_or(1.0, |u| u.factor);
        let [low, high] = [&bounds.low, &bounds.high].map(|expr| {
            let typed = self.lower(id, &[], Context::Parameters, expr);
            self.numeric(typed.expr) * if typed.dim.is_bare() { factor } else { 1.0 }
        });
        if low.is_nan() || high.is_nan() || low > high {
            let message = format!("the bounds of `{name}` are empty");
            self.report.push(
                Diagnostic::new(code::BAD_TOLERANCE, message)
                    .at(bounds.span)
                    .help("write `in [lo, hi]` with lo < hi"),
            );
            return None;
        }
        if number.is_finite()
            && (number < low || number > high)
            && !self.settings_used.contains(&flat_name(name))
        {
            let message = format!("the value of `{name}` lies outside its own bounds");
            let diagnostic = Diagnostic::new(code::BAD_TOLERANCE, message).at(bounds.span);
            self.report.push(diagnostic.help("change the value, or widen the bounds"));
        }
        Some((low, high))
    }

    fn declare_inputs(&mut self, id: usize) {
        let model = self.instances[id].model;
        for i in 0..self.infos[model].inputs.len() {
            let quantity = self.infos[model].inputs[i];
            let name = self.full_name(id, &quantity.name.text);
            let symbol = self.pool.symbol(&flat_name(&name));
            let setting = self.take_setting(&name);
            let unit = self.read_unit(setting.and_then(|s| s.unit.as_ref()).or(quantity.unit.as_ref()));
            let value = match setting.map(|s| &s.value).or(quantity.value.as_ref()) {
                Some(value) => {
                    let typed = self.lower(id, &[], Context::OverTime, value);
                    let typed = self.require_number(typed, value.span);
                    self.apply_unit(&unit, typed, value.span, &quantity.name.text).expr
                }
                None => self.pool.zero(),
            };
            let place = self.graph.inputs.len() as u32;
            self.graph.variables.insert(Variable::Input(place), symbol);
            let doc = quantity.doc.clone();
            self.graph.inputs.push(Input { name, symbol, value, unit, doc, span: quantity.span });
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
        if let Some(ports) = &ast.ports {
            let fields = matches!(ast.kind, Kind::R | Kind::C | Kind::I);
            if !fields {
                let message = format!(
                    "`{}` cannot have a number of ports: only R, C and I become fields",
                    ast.kind.word()
                );
                self.report.push(
                    Diagnostic::new(code::MISPLACED, message)
                        .at(ports.span)
                        .help("delete the brackets; for an array write a submodel and `use NAME x[1..n]`"),
                );
            }
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
        });
    }

    /// The number of ports an element should have; none for junctions.
    pub(super) fn port_count(&mut self, instance: usize, ast: &'a ast::Element) -> Option<usize> {
        match ast.kind {
            Kind::Zero | Kind::One => return None,
            Kind::Tf | Kind::Gy | Kind::Rs => return Some(2),
            Kind::R | Kind::C | Kind::I => {}
            _ => return Some(1),
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
        if depth > MAX_DEPTH {
            let message = format!("submodels are nested more than {MAX_DEPTH} deep");
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

    fn arguments(&mut self, id: usize, instance: &'a ast::Use, target: usize) -> Arguments {
        let mut arguments: Arguments = Vec::new();
        for argument in &instance.arguments {
            let header = self.infos[target].header;
            let names: Vec<&str> =
                self.infos[target].params[..header].iter().map(|p| p.name.text.as_str()).collect();
            let Some(i) = names.iter().position(|name| *name == argument.name.text) else {
                let mut help = match self.closest(&argument.name.text, &names) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None if header == 0 => "it has no parameters in its header".to_owned(),
                    None => format!("it has: {}", names.join(", ")),
                };
                if self.infos[target].params.iter().any(|p| p.name.text == argument.name.text) {
                    help = format!(
                        "move `{}` into the parentheses after the submodel's name",
                        argument.name.text
                    );
                }
                let message = format!("`{}` has no parameter `{}`", instance.model.text, argument.name.text);
                self.report
                    .push(Diagnostic::new(code::BAD_ARGUMENT, message).at(argument.name.span).help(help));
                continue;
            };
            if let Some((_, _, first)) = arguments.iter().find(|(j, _, _)| *j == i) {
                let message = format!("`{}` is given twice", argument.name.text);
                self.report.push(
                    Diagnostic::new(code::DUPLICATE_NAME, message)
                        .at(argument.name.span)
                        .label(*first, "first here")
                        .help("delete one of the two"),
                );
                continue;
            }
            let structural = self.infos[target].structural[i];
            let context = if structural { Context::Structural } else { Context::Parameters };
            let typed = self.lower(id, &[], context, &argument.value);
            // A plain number is in the unit the submodel declares.
            let unit = self.infos[target].params[i].unit.as_ref();
            let unit = self.read_unit(unit);
            let typed = self.apply_unit(&unit, typed, argument.value.span, &argument.name.text);
            arguments.push((i, typed, argument.value.span));
        }
        arguments
    }
}

/// What a parameter is to the graph.
enum Declared {
    Independent(Parameter),
    Derived(Derived),
}
