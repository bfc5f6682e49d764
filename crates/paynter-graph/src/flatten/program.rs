//! What each model declares: its names, the order in which its parameters are
//! evaluated, which of them are structural, and that no submodel contains itself.

use paynter_base::{Diagnostic, Span, closest, code};
use paynter_language::ast::{self, Expr, ExprKind, Statement};
use rustc_hash::FxHashMap;

use super::Report;

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
        info.check_array_names(&names, report);
        info
    }

    fn add_param(&mut self, param: &'a ast::Param, names: &mut Declared<'a>, report: &mut Report) {
        names.value(&mut self.values, &param.name, Value::Param(self.params.len()), report);
        self.params.push(param);
    }

    /// `c[3]` prints as `c_3` in expressions, which must stay unambiguous.
    fn check_array_names(&self, names: &Declared<'_>, report: &mut Report) {
        for &(name, span) in &names.part_list {
            let Some((base, digits)) = name.rsplit_once('_') else { continue };
            if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
                continue;
            }
            if let Some(Part::Use(i)) = self.parts.get(base)
                && self.uses[*i].range.is_some()
            {
                let diagnostic = Diagnostic::new(
                    code::DUPLICATE_NAME,
                    format!("`{name}` is also how `{base}[{digits}]` prints"),
                );
                report.push(
                    diagnostic
                        .at(span)
                        .label(self.uses[*i].name.span, "the array")
                        .help("rename one of the two"),
                );
            }
        }
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
    part_list: Vec<(&'a str, Span)>,
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
        self.part_list.push((&name.text, name.span));
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
/// parameters and finds the structural ones. Returns false when the program
/// cannot be instantiated.
pub(super) fn link(infos: &mut [ModelInfo<'_>], report: &mut Report) -> bool {
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
    if refuse_recursion(infos, report) {
        return false;
    }
    find_structural(infos);
    true
}

fn by_name_sorted(map: &FxHashMap<String, usize>) -> Vec<&str> {
    let mut names: Vec<&str> = map.keys().map(String::as_str).collect();
    names.sort_unstable();
    names
}

/// Depth-first search over `use`; a back edge is a submodel inside itself.
fn refuse_recursion(infos: &[ModelInfo<'_>], report: &mut Report) -> bool {
    let mut found = false;
    let mut state = vec![0u8; infos.len()];
    for start in 0..infos.len() {
        if state[start] != 0 {
            continue;
        }
        state[start] = 1;
        let mut stack = vec![(start, 0)];
        while let Some((model, next)) = stack.last_mut() {
            let (model, i) = (*model, *next);
            if i >= infos[model].targets.len() {
                state[model] = 2;
                stack.pop();
                continue;
            }
            *next += 1;
            let Some(target) = infos[model].targets[i] else { continue };
            match state[target] {
                0 => {
                    state[target] = 1;
                    stack.push((target, 0));
                }
                1 => {
                    found = true;
                    let from = stack.iter().position(|&(m, _)| m == target).unwrap_or(0);
                    let mut cycle: Vec<&str> =
                        stack[from..].iter().map(|&(m, _)| infos[m].ast.name.text.as_str()).collect();
                    cycle.push(&infos[target].ast.name.text);
                    let message = format!("submodel contains itself: {}", cycle.join(" → "));
                    report.push(
                        Diagnostic::new(code::RECURSIVE_SUBMODEL, message).at(infos[model].uses[i].span),
                    );
                }
                _ => {}
            }
        }
    }
    found
}

/// Orders parameters so that each comes after those it is defined from.
fn order_params(info: &mut ModelInfo<'_>, report: &mut Report) {
    let depends: Vec<Vec<usize>> = info
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
    let mut state = vec![0u8; depends.len()];
    let mut order = Vec::with_capacity(depends.len());
    for start in 0..depends.len() {
        if state[start] != 0 {
            continue;
        }
        state[start] = 1;
        let mut stack = vec![(start, 0)];
        while let Some((param, next)) = stack.last_mut() {
            let (param, i) = (*param, *next);
            if i >= depends[param].len() {
                state[param] = 2;
                order.push(param);
                stack.pop();
                continue;
            }
            *next += 1;
            let target = depends[param][i];
            match state[target] {
                0 => {
                    state[target] = 1;
                    stack.push((target, 0));
                }
                1 => {
                    let from = stack.iter().position(|&(p, _)| p == target).unwrap_or(0);
                    let mut cycle: Vec<&str> =
                        stack[from..].iter().map(|&(p, _)| info.params[p].name.text.as_str()).collect();
                    cycle.push(&info.params[target].name.text);
                    let message = format!("parameters defined by one another: {}", cycle.join(" → "));
                    report.push(
                        Diagnostic::new(code::CYCLIC_DEFINITION, message).at(info.params[target].name.span),
                    );
                }
                _ => {}
            }
        }
    }
    info.param_order = order;
}

/// Calls `visit` with every plain name (not a dotted path) in an expression.
fn for_names<'e>(expr: &'e Expr, visit: &mut dyn FnMut(&'e str)) {
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
        for_ranges(&info.ast.statements, &mut seeds);
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

fn for_ranges<'a>(statements: &'a [Statement], seeds: &mut Vec<&'a Expr>) {
    for statement in statements {
        if let Statement::For(each) = statement {
            seeds.extend([&each.range.low, &each.range.high]);
            for_ranges(&each.statements, seeds);
        }
    }
}
