//! What each model declares: its names, the order in which its parameters are
//! evaluated, which of them are structural, and that no submodel contains itself.

use paynter_base::{Diagnostic, Span, closest, code};
use paynter_language::ast::{self, Body, Expr, ExprKind, Law, Path, Statement};
use rustc_hash::FxHashMap;

use super::order::{after_needs, describe_cycle};
use super::{MAX_ELEMENTS, Report};

/// A name that stands for a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Value {
    Param(usize),
    Input(usize),
    Signal(usize),
}

/// A name that stands for a piece of the graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Element(usize),
    Use(usize),
    Port(usize),
    Bond(usize),
}

/// Elements and submodels in text order.
#[derive(Debug, Clone, Copy)]
pub(super) enum Slot {
    Element(usize),
    Use(usize),
}

/// One model's declarations. Values and parts have names of their own, so a
/// resistor `R` may have the value `R`; outputs are apart as well, because an
/// output often bears the name of the signal it shows.
#[derive(Debug)]
pub(super) struct ModelInfo<'a> {
    pub ast: &'a ast::Model,
    pub values: FxHashMap<&'a str, Value>,
    pub parts: FxHashMap<&'a str, Part>,
    /// The header's parameters, then the body's.
    pub params: Vec<&'a ast::Param>,
    pub header: usize,
    pub param_order: Vec<usize>,
    pub structural: Vec<bool>,
    pub param_used: Vec<bool>,
    pub inputs: Vec<&'a ast::Quantity>,
    pub input_used: Vec<bool>,
    pub outputs: Vec<&'a ast::Quantity>,
    pub signals: Vec<&'a ast::Quantity>,
    pub elements: Vec<&'a ast::Element>,
    pub uses: Vec<&'a ast::Use>,
    /// For each use, the model it names.
    pub targets: Vec<Option<usize>>,
    pub ports: Vec<&'a ast::Port>,
    pub bond_names: Vec<&'a ast::Name>,
    pub slots: Vec<Slot>,
    pub twins: Vec<Twin<'a>>,
}

/// A part that is called as a member of an array prints: `c_3` beside `use cell c[1..N]`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Twin<'a> {
    /// Place of the array among the uses.
    pub array: usize,
    pub index: i64,
    pub name: &'a ast::Name,
}

impl<'a> ModelInfo<'a> {
    pub fn new(model: &'a ast::Model, report: &mut Report) -> ModelInfo<'a> {
        let mut info = ModelInfo {
            ast: model,
            values: FxHashMap::default(),
            parts: FxHashMap::default(),
            params: Vec::new(),
            header: model.header.len(),
            param_order: Vec::new(),
            structural: Vec::new(),
            param_used: Vec::new(),
            inputs: Vec::new(),
            input_used: Vec::new(),
            outputs: Vec::new(),
            signals: Vec::new(),
            elements: Vec::new(),
            uses: Vec::new(),
            targets: Vec::new(),
            ports: Vec::new(),
            bond_names: Vec::new(),
            slots: Vec::new(),
            twins: Vec::new(),
        };
        let mut names = Declared::default();
        for param in &model.header {
            info.add_param(param, &mut names, report);
        }
        let mut output_names: FxHashMap<&str, Span> = FxHashMap::default();
        for statement in &model.statements {
            match statement {
                Statement::Param(param) => info.add_param(param, &mut names, report),
                Statement::Input(quantity) => {
                    let value = Value::Input(info.inputs.len());
                    names.value(&mut info.values, &quantity.name, value, report);
                    info.inputs.push(quantity);
                }
                Statement::Signal(quantity) => {
                    let value = Value::Signal(info.signals.len());
                    names.value(&mut info.values, &quantity.name, value, report);
                    info.signals.push(quantity);
                }
                Statement::Output(quantity) => {
                    let name = &quantity.name;
                    if reserved(name, report) {
                        continue;
                    }
                    if let Some(first) = output_names.insert(&name.text, name.span) {
                        duplicate(name, first, "output", report);
                    }
                    info.outputs.push(quantity);
                }
                Statement::Element(element) => {
                    let i = info.elements.len();
                    names.part(&mut info.parts, &element.name, Part::Element(i), report);
                    info.elements.push(element);
                    info.slots.push(Slot::Element(i));
                }
                Statement::Use(instance) => {
                    let i = info.uses.len();
                    names.part(&mut info.parts, &instance.name, Part::Use(i), report);
                    info.uses.push(instance);
                    info.slots.push(Slot::Use(i));
                }
                Statement::Port(port) => {
                    let part = Part::Port(info.ports.len());
                    names.part(&mut info.parts, &port.name, part, report);
                    info.ports.push(port);
                }
                Statement::Bonds(bonds) => {
                    if let Some(name) = &bonds.name {
                        let part = Part::Bond(info.bond_names.len());
                        names.part(&mut info.parts, name, part, report);
                        info.bond_names.push(name);
                    }
                }
                Statement::For(_) | Statement::Init(_) | Statement::Prefer(_) | Statement::Causality(_) => {}
            }
        }
        info.param_used = vec![false; info.params.len()];
        info.input_used = vec![false; info.inputs.len()];
        info.structural = vec![false; info.params.len()];
        info.find_twins();
        info
    }

    fn add_param(&mut self, param: &'a ast::Param, names: &mut Declared<'a>, report: &mut Report) {
        names.value(&mut self.values, &param.name, Value::Param(self.params.len()), report);
        self.params.push(param);
    }

    /// Finds parts that are called as members of an array print.
    fn find_twins(&mut self) {
        let parts = self.elements.iter().map(|e| &e.name).chain(self.uses.iter().map(|u| &u.name));
        let parts = parts.chain(self.ports.iter().map(|p| &p.name)).chain(self.bond_names.iter().copied());
        let twin = |name: &'a ast::Name| {
            let (base, digits) = name.text.rsplit_once('_')?;
            let index: i64 = digits.parse().ok()?;
            let Some(&Part::Use(array)) = self.parts.get(base) else { return None };
            (index.to_string() == digits && self.uses[array].range.is_some()).then_some(Twin {
                array,
                index,
                name,
            })
        };
        self.twins = parts.filter_map(twin).collect();
    }

    /// Lists the names that could have been meant by a misspelt one.
    pub fn value_names(&self) -> impl Iterator<Item = &'a str> + Clone {
        let params = self.params.iter().map(|p| p.name.text.as_str());
        let inputs = self.inputs.iter().map(|q| q.name.text.as_str());
        params.chain(inputs).chain(self.signals.iter().map(|q| q.name.text.as_str()))
    }

    /// Lists the parts' names.
    pub fn part_names(&self) -> impl Iterator<Item = &'a str> + Clone {
        let elements = self.elements.iter().map(|e| e.name.text.as_str());
        let uses = self.uses.iter().map(|u| u.name.text.as_str());
        let ports = self.ports.iter().map(|p| p.name.text.as_str());
        elements.chain(uses).chain(ports).chain(self.bond_names.iter().map(|n| n.text.as_str()))
    }
}

/// The names of one model seen so far, to find duplicates.
#[derive(Default)]
struct Declared<'a> {
    values: FxHashMap<&'a str, Span>,
    parts: FxHashMap<&'a str, Span>,
}

impl<'a> Declared<'a> {
    fn value(
        &mut self,
        map: &mut FxHashMap<&'a str, Value>,
        name: &'a ast::Name,
        value: Value,
        report: &mut Report,
    ) {
        if reserved(name, report) {
            return;
        }
        if let Some(&first) = self.values.get(name.text.as_str()) {
            duplicate(name, first, "parameter, input or signal", report);
            return;
        }
        self.values.insert(&name.text, name.span);
        map.insert(&name.text, value);
    }

    fn part(
        &mut self,
        map: &mut FxHashMap<&'a str, Part>,
        name: &'a ast::Name,
        part: Part,
        report: &mut Report,
    ) {
        if let Some(&first) = self.parts.get(name.text.as_str()) {
            duplicate(name, first, "element, submodel, port or bond", report);
            return;
        }
        self.parts.insert(&name.text, name.span);
        map.insert(&name.text, part);
    }
}

fn reserved(name: &ast::Name, report: &mut Report) -> bool {
    let meaning = match name.text.as_str() {
        "s" => "the Laplace variable",
        "t" => "time",
        "pi" => "the number 3.14159…",
        _ => return false,
    };
    report.push(
        Diagnostic::new(code::RESERVED_NAME, format!("`{}` means {meaning}", name.text))
            .at(name.span)
            .help(format!("choose another name, such as `{}_0`", name.text)),
    );
    true
}

fn duplicate(name: &ast::Name, first: Span, what: &str, report: &mut Report) {
    report.push(
        Diagnostic::new(code::DUPLICATE_NAME, format!("`{}` is declared twice", name.text))
            .at(name.span)
            .label(first, format!("first declared here as {what}"))
            .help("rename one of the two"),
    );
}

/// Resolves the models that `use` names, refuses recursion, orders the
/// parameters and finds the structural ones. Returns the models, each after
/// those it uses; nothing when the program cannot be instantiated.
pub(super) fn link(infos: &mut [ModelInfo<'_>], top: usize, report: &mut Report) -> Option<Vec<usize>> {
    let mut by_name: FxHashMap<String, usize> = FxHashMap::default();
    for (i, info) in infos.iter().enumerate() {
        let name = &info.ast.name;
        if let Some(&first) = by_name.get(&name.text) {
            duplicate(name, infos[first].ast.name.span, "model", report);
        } else {
            by_name.insert(name.text.clone(), i);
        }
    }
    for info in infos.iter_mut() {
        for instance in &info.uses {
            let target = by_name.get(&instance.model.text).copied();
            if target.is_none() {
                let help = match closest(&instance.model.text, by_name_sorted(&by_name)) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => "write the submodel in this file, or import the file that has it".to_owned(),
                };
                let message = format!("there is no model `{}`", instance.model.text);
                report.push(Diagnostic::new(code::UNKNOWN_NAME, message).at(instance.model.span).help(help));
            }
            info.targets.push(target);
        }
        order_params(info, report);
    }
    let order = order_models(infos, report)?;
    find_structural(infos);
    // A mistake in an array's size is found without making the array.
    let parts = count_parts(infos, &order)[top];
    if parts > MAX_ELEMENTS {
        let name = &infos[top].ast.name;
        let message = format!("the model `{}` has more than {MAX_ELEMENTS} elements", name.text);
        report.push(Diagnostic::new(code::TOO_MANY_ELEMENTS, message).at(name.span));
    }
    (parts <= MAX_ELEMENTS).then_some(order)
}

fn by_name_sorted(map: &FxHashMap<String, usize>) -> Vec<&str> {
    let mut names: Vec<&str> = map.keys().map(String::as_str).collect();
    names.sort_unstable();
    names
}

/// Refuses submodels inside themselves; otherwise orders the models so that each comes after
/// those it uses.
fn order_models(infos: &[ModelInfo<'_>], report: &mut Report) -> Option<Vec<usize>> {
    let needs: Vec<Vec<usize>> =
        infos.iter().map(|info| info.targets.iter().flatten().copied().collect()).collect();
    let mut sound = true;
    let order = after_needs(&needs, |cycle| {
        sound = false;
        let path = describe_cycle(cycle, |m| infos[m].ast.name.text.as_str());
        let message = format!("submodel contains itself: {path}");
        let last = &infos[cycle[cycle.len() - 1]];
        let back = last.targets.iter().position(|target| *target == cycle.first().copied());
        let span = back.map_or(last.ast.name.span, |u| last.uses[u].span);
        report.push(Diagnostic::new(code::RECURSIVE_SUBMODEL, message).at(span));
    });
    sound.then_some(order)
}

/// Counts the elements and submodels that each model has at least: a range counts where its ends
/// are plain numbers.
fn count_parts(infos: &[ModelInfo<'_>], order: &[usize]) -> Vec<usize> {
    let mut parts = vec![0usize; infos.len()];
    for &m in order {
        let info = &infos[m];
        let uses = info.uses.iter().zip(&info.targets).map(|(instance, target)| {
            let one = target.map_or(0, |target| parts[target]).saturating_add(1);
            one.saturating_mul(instance.range.as_deref().map_or(1, least_length))
        });
        parts[m] = uses.fold(info.elements.len(), usize::saturating_add);
    }
    parts
}

fn least_length(range: &ast::Range) -> usize {
    let end = |expr: &Expr| match &expr.kind {
        ExprKind::Number(text) => text.parse::<usize>().ok(),
        _ => None,
    };
    match (end(&range.low), end(&range.high)) {
        (Some(low), Some(high)) => high.saturating_add(1).saturating_sub(low),
        _ => 0,
    }
}

/// Orders parameters so that each comes after those it is defined from.
fn order_params(info: &mut ModelInfo<'_>, report: &mut Report) {
    let needs: Vec<Vec<usize>> = info
        .params
        .iter()
        .map(|param| {
            let mut list = Vec::new();
            let parts = [
                param.value.as_ref(),
                param.tolerance.as_ref().map(|t| &t.value),
                param.bounds.as_ref().map(|b| &b.low),
                param.bounds.as_ref().map(|b| &b.high),
            ];
            for expr in parts.into_iter().flatten() {
                for_names(expr, &mut |name| {
                    if let Some(&Value::Param(i)) = info.values.get(name) {
                        list.push(i);
                    }
                });
            }
            list
        })
        .collect();
    info.param_order = after_needs(&needs, |cycle| {
        let path = describe_cycle(cycle, |p| info.params[p].name.text.as_str());
        let message = format!("parameters defined by one another: {path}");
        let span = info.params[cycle[0]].name.span;
        let help = "break the cycle: give one of them a value of its own";
        report.push(Diagnostic::new(code::CYCLIC_DEFINITION, message).at(span).help(help));
    });
}

/// Calls `visit` with every plain name (not a dotted path) in an expression.
pub(super) fn for_names<'e>(expr: &'e Expr, visit: &mut dyn FnMut(&'e str)) {
    match &expr.kind {
        ExprKind::Path(path) => {
            for segment in &path.segments {
                if let Some(index) = &segment.index {
                    for_names(index, visit);
                }
            }
            if let [segment] = path.segments.as_slice() {
                visit(&segment.name.text);
            }
        }
        ExprKind::Unary(_, a) => for_names(a, visit),
        ExprKind::Binary(_, a, b) => {
            for_names(a, visit);
            for_names(b, visit);
        }
        ExprKind::Call(_, args) => args.iter().for_each(|arg| for_names(arg, visit)),
        ExprKind::Number(_) | ExprKind::Text(_) | ExprKind::Error => {}
    }
}

/// Parameters that decide array sizes, loop ends or port counts are
/// structural, and so is what they are defined from, across submodels.
fn find_structural(infos: &mut [ModelInfo<'_>]) {
    let mut work: Vec<(usize, usize)> = Vec::new();
    for (m, info) in infos.iter().enumerate() {
        let mut seeds: Vec<&Expr> = Vec::new();
        seeds.extend(info.elements.iter().filter_map(|e| e.ports.as_deref()));
        for range in info.uses.iter().filter_map(|u| u.range.as_ref()) {
            seeds.extend([&range.low, &range.high]);
        }
        for_structure(&info.ast.statements, &mut seeds);
        for expr in seeds {
            for_names(expr, &mut |name| {
                if let Some(&Value::Param(i)) = info.values.get(name) {
                    work.push((m, i));
                }
            });
        }
    }
    // Callers of each model, to pass the mark from a header parameter to its arguments.
    let mut callers: Vec<Vec<(usize, usize)>> = vec![Vec::new(); infos.len()];
    for (m, info) in infos.iter().enumerate() {
        for (u, target) in info.targets.iter().enumerate() {
            if let Some(target) = target {
                callers[*target].push((m, u));
            }
        }
    }
    while let Some((m, i)) = work.pop() {
        if std::mem::replace(&mut infos[m].structural[i], true) {
            continue;
        }
        let info = &infos[m];
        if let Some(value) = &info.params[i].value {
            push_params(info, m, value, &mut work);
        }
        if i < info.header {
            let name = &info.params[i].name.text;
            for &(caller, u) in &callers[m] {
                let arguments = &infos[caller].uses[u].arguments;
                for argument in arguments.iter().filter(|a| a.name.text == *name) {
                    push_params(&infos[caller], caller, &argument.value, &mut work);
                }
            }
        }
    }
}

fn push_params(info: &ModelInfo<'_>, model: usize, expr: &Expr, work: &mut Vec<(usize, usize)>) {
    for_names(expr, &mut |name| {
        if let Some(&Value::Param(i)) = info.values.get(name) {
            work.push((model, i));
        }
    });
}

/// Finds the ends of loops and the indices of arrays, whose parameters must be whole numbers.
fn for_structure<'a>(statements: &'a [Statement], seeds: &mut Vec<&'a Expr>) {
    for statement in statements {
        match statement {
            Statement::For(each) => {
                seeds.extend([&each.range.low, &each.range.high]);
                for_structure(&each.statements, seeds);
            }
            Statement::Bonds(bonds) => bonds.stages.iter().flatten().for_each(|path| indices(path, seeds)),
            Statement::Init(init) => indices(&init.target, seeds),
            Statement::Prefer(prefer) => indices(&prefer.target, seeds),
            Statement::Causality(causality) => {
                indices(&causality.bond, seeds);
                indices(&causality.element, seeds);
            }
            Statement::Output(quantity) | Statement::Signal(quantity) => {
                quantity.value.iter().for_each(|value| indices_within(value, seeds));
            }
            Statement::Element(element) => {
                element.condition.iter().for_each(|condition| indices_within(condition, seeds));
                match &element.body {
                    Body::None => {}
                    Body::Value(value) => indices_within(value, seeds),
                    Body::Matrix(rows, _) => {
                        rows.iter().flatten().for_each(|entry| indices_within(entry, seeds))
                    }
                    Body::Laws(laws, _) => {
                        for law in laws {
                            if let Law::Equation { left, right, .. } = law {
                                indices_within(left, seeds);
                                indices_within(right, seeds);
                            }
                        }
                    }
                }
            }
            Statement::Param(_) | Statement::Input(_) | Statement::Port(_) | Statement::Use(_) => {}
        }
    }
}

fn indices<'a>(path: &'a Path, seeds: &mut Vec<&'a Expr>) {
    seeds.extend(path.segments.iter().filter_map(|segment| segment.index.as_deref()));
}

fn indices_within<'a>(expr: &'a Expr, seeds: &mut Vec<&'a Expr>) {
    match &expr.kind {
        ExprKind::Path(path) => indices(path, seeds),
        ExprKind::Unary(_, a) => indices_within(a, seeds),
        ExprKind::Binary(_, a, b) => {
            indices_within(a, seeds);
            indices_within(b, seeds);
        }
        ExprKind::Call(_, args) => args.iter().for_each(|arg| indices_within(arg, seeds)),
        ExprKind::Number(_) | ExprKind::Text(_) | ExprKind::Error => {}
    }
}
