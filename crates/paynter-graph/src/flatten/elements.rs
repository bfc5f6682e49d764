//! Values and laws of elements.

use paynter_algebra::{Expr, Node, Symbol};
use paynter_base::{Diagnostic, Span, code};
use paynter_language::ast::{self, Body, ExprKind, Kind};

use super::Flattener;
use super::expression::{Context, Dim, Scope, Typed};
use crate::dimension::Dimension;
use crate::domain::DomainInfo;
use crate::kind::{LawForm, Stored, kind_of, with_article};
use crate::model::{ElementId, Equation, Law};
use crate::variable::Variable;

impl<'a> Flattener<'a, '_> {
    /// Calls `each` with every element of every instance.
    fn for_elements(&mut self, each: impl Fn(&mut Self, usize, ElementId, &'a ast::Element)) {
        for instance in 0..self.instances.len() {
            let model = self.instances[instance].model;
            for e in 0..self.instances[instance].elements.len() {
                let id = self.instances[instance].elements[e];
                let element = self.infos[model].elements[e];
                each(self, instance, id, element);
            }
        }
    }

    /// Lowers `= value` and `= [[…]]`, and remembers the dimensions that units fix.
    pub(super) fn lower_values(&mut self) {
        self.for_elements(|this, instance, id, ast| this.lower_value(instance, id, ast));
    }

    fn lower_value(&mut self, instance: usize, id: ElementId, ast: &'a ast::Element) {
        let name = &ast.name.text;
        let form = kind_of(ast.kind).law();
        match &ast.body {
            Body::None if matches!(form, LawForm::Structure | LawForm::Switch) => {}
            Body::None => {
                let (what, help) = kind_of(ast.kind).missing(name);
                let message = format!("{} `{name}` has no {what}", ast.kind.word());
                self.report.push(Diagnostic::new(code::MISSING_VALUE, message).at(ast.span).help(help));
            }
            Body::Value(value) if form == LawForm::Structure => {
                let message = format!("{} `{name}` takes no value", ast.kind.word());
                self.report
                    .push(Diagnostic::new(code::WRONG_LAW, message).at(value.span).help("delete the value"));
            }
            Body::Value(_) if form == LawForm::Switch => {
                let message = format!("the switch `{name}` is given by a value");
                let help = format!("write `Sw {name} when (condition) {{ Ron = … }}`");
                self.report.push(Diagnostic::new(code::WRONG_LAW, message).at(ast.span).help(help));
            }
            Body::Value(value) => {
                let typed = self.lower_number(Scope::new(instance, Context::Everything), value);
                self.require_finite(typed.expr, name, value.span);
                let field = form == LawForm::Field;
                if field && ast.ports.is_some() && self.port_count(instance, ast).is_some_and(|n| n > 1) {
                    let message = format!("the field `{name}` has one value for several ports");
                    let help = "write a matrix, `= [[a, b], [c, d]]`, or one law for each port in braces";
                    self.report.push(Diagnostic::new(code::WRONG_LAW, message).at(value.span).help(help));
                    return;
                }
                if let Dim::Hard(dimension) = typed.dim {
                    self.value_dimensions.insert((id, 0), dimension);
                }
                self.graph.elements[id.index()].law = Law::Value(typed.expr);
            }
            Body::Matrix(rows, span) => self.lower_matrix(instance, id, ast, rows, *span),
            Body::Laws(..) => {}
        }
        if ast.condition.is_some() && form != LawForm::Switch {
            let message = format!("`when` belongs to switches, not to {} `{name}`", ast.kind.word());
            self.report.push(
                Diagnostic::new(code::MISPLACED, message)
                    .at(ast.span)
                    .help("write `Sw`, or use `if(…)` in the value"),
            );
        }
    }

    /// Refuses a value that the parameters alone make infinite or undefined.
    fn require_finite(&mut self, value: Expr, name: &str, span: Span) {
        // A parameter alone has been checked where it is declared.
        if self.pool.as_symbol(value).is_some() {
            return;
        }
        let constant = self.pool.symbols(value).iter().all(|symbol| self.numbers.contains_key(symbol));
        if constant && !self.guarded_sign(value).is_finite() {
            let message = format!("the value of `{name}` is not a finite number");
            let help = "check for a division by zero, an overflow, or a root or logarithm outside its range";
            self.report.push(Diagnostic::new(code::BAD_VALUE, message).at(span).help(help));
        }
    }

    fn lower_matrix(
        &mut self,
        instance: usize,
        id: ElementId,
        ast: &'a ast::Element,
        rows: &'a [Vec<ast::Expr>],
        span: Span,
    ) {
        let name = &ast.name.text;
        if kind_of(ast.kind).law() != LawForm::Field {
            let message = format!("{} `{name}` cannot be given by a matrix", ast.kind.word());
            self.report.push(
                Diagnostic::new(code::WRONG_LAW, message).at(span).help("only R, C and I become fields"),
            );
            return;
        }
        let n = self.port_count(instance, ast).unwrap_or(rows.len());
        if rows.len() != n || rows.iter().any(|row| row.len() != n) {
            let found = match rows.iter().position(|row| row.len() != n) {
                Some(i) if rows.len() == n => format!("row {} has {}", i + 1, rows[i].len()),
                _ => format!("it has {} row{}", rows.len(), plural(rows.len())),
            };
            let message = format!("the matrix of `{name}` must have {n} rows of {n}, but {found}");
            self.report.push(
                Diagnostic::new(code::WRONG_LAW, message)
                    .at(span)
                    .help("give one row and one column for each port"),
            );
            return;
        }
        let mut matrix = Vec::with_capacity(n);
        for (i, row) in rows.iter().enumerate() {
            let mut lowered = Vec::with_capacity(n);
            for (j, entry) in row.iter().enumerate() {
                let typed = self.lower_number(Scope::new(instance, Context::Everything), entry);
                if let (Dim::Hard(dimension), true) = (typed.dim, i == j) {
                    self.value_dimensions.insert((id, i), dimension);
                }
                lowered.push(typed.expr);
            }
            matrix.push(lowered);
        }
        self.graph.elements[id.index()].law = Law::Matrix(matrix);
    }

    /// Lowers the laws in braces, switches, and initial states; domains are known by now.
    pub(super) fn lower_laws(&mut self) {
        self.for_elements(|this, instance, id, ast| {
            if kind_of(ast.kind).law() == LawForm::Switch {
                this.lower_switch(instance, id, ast);
            } else if let Body::Laws(laws, span) = &ast.body {
                this.lower_equations(instance, id, ast, laws, *span);
            }
        });
    }

    fn lower_equations(
        &mut self,
        instance: usize,
        id: ElementId,
        ast: &'a ast::Element,
        laws: &'a [ast::Law],
        span: Span,
    ) {
        let name = &ast.name.text;
        if kind_of(ast.kind).law() != LawForm::Field {
            let message = format!("{} `{name}` takes a value, not laws in braces", ast.kind.word());
            let help = format!("write `{} {name} = value`", ast.kind.word());
            self.report.push(Diagnostic::new(code::WRONG_LAW, message).at(span).help(help));
            return;
        }
        let n = self.port_count(instance, ast).unwrap_or(1);
        let mut equations = Vec::new();
        for law in laws {
            match law {
                ast::Law::Equation { left, right, span } => {
                    let context = Context::Law(id, n, ast.ports.is_some());
                    let a = self.lower_number(Scope::new(instance, context), left);
                    let b = self.lower_number(Scope::new(instance, context), right);
                    if let (Dim::Hard(x), Dim::Hard(y)) = (a.dim, b.dim)
                        && x != y
                    {
                        let message = format!("the law of `{name}` equates {x} with {y}");
                        self.report.push(Diagnostic::new(code::UNIT_MISMATCH, message).at(*span));
                    }
                    let solved_for = self.written_direction(a.expr, b.expr, n);
                    equations.push(Equation { left: a.expr, right: b.expr, solved_for, span: *span });
                }
                ast::Law::Init { state, value, span } => {
                    let value = self.lower_number(Scope::new(instance, Context::Parameters), value).expr;
                    self.add_initial(id, Some(n), state, value, *span);
                }
            }
        }
        self.check_equations(id, ast, n, &equations, span);
        self.graph.elements[id.index()].law = Law::Equations(equations);
    }

    /// The local variable that stands alone on one side and not on the other.
    fn written_direction(&self, left: Expr, right: Expr, ports: usize) -> Option<Symbol> {
        let alone = |one: Expr, other: Expr| {
            let symbol = self.pool.as_symbol(one)?;
            let local = (0..ports).any(|k| self.graph.locals.port(ports, k).contains(&symbol));
            (local && !self.pool.depends_on(other, symbol)).then_some(symbol)
        };
        alone(left, right).or_else(|| alone(right, left))
    }

    fn check_equations(
        &mut self,
        id: ElementId,
        ast: &ast::Element,
        n: usize,
        equations: &[Equation],
        span: Span,
    ) {
        let name = &ast.name.text;
        if equations.len() != n {
            let message = format!(
                "`{name}` has {} law{} for {n} port{}",
                equations.len(),
                plural(equations.len()),
                plural(n)
            );
            self.report
                .push(Diagnostic::new(code::WRONG_LAW, message).at(span).help("give one law for each port"));
        }
        let kind = self.graph.element(id).kind;
        let mut seen = vec![[false; 4]; n];
        for equation in equations {
            let mut any = false;
            for (k, seen) in seen.iter_mut().enumerate() {
                for (slot, symbol) in self.graph.locals.port(n, k).into_iter().enumerate() {
                    if self.pool.depends_on(equation.left, symbol)
                        || self.pool.depends_on(equation.right, symbol)
                    {
                        seen[slot] = true;
                        any = true;
                    }
                }
            }
            if !any {
                let message = format!("this law of `{name}` does not contain its own variables");
                let help = relates(kind);
                self.report.push(Diagnostic::new(code::WRONG_LAW, message).at(equation.span).help(help));
            }
        }
        // e f q p: what each kind relates, and what it must leave out.
        let relates = relates(kind);
        let (needs, refuses, help) = match kind_of(kind).class().stored() {
            Some(Stored::Displacement) => {
                let help = format!("{relates}; its flow is the rate of q by itself");
                ([true, false, true, false], 1, help)
            }
            Some(Stored::Momentum) => {
                let help = format!("{relates}; its effort is the rate of p by itself");
                ([false, true, false, true], 0, help)
            }
            None => ([true, true, false, false], usize::MAX, relates),
        };
        for (k, seen) in seen.iter().enumerate() {
            let port = if n == 1 { String::new() } else { format!(" at port {}", k + 1) };
            if seen.get(refuses) == Some(&true) {
                let letter = if refuses == 1 { "f" } else { "e" };
                let message = format!("the law of `{name}` contains `{letter}`{port}");
                self.report.push(Diagnostic::new(code::WRONG_LAW, message).at(span).help(help.clone()));
            } else if equations.len() == n && (0..4).any(|slot| needs[slot] && !seen[slot]) {
                let letters = ["e", "f", "q", "p"];
                let lacking: Vec<&str> =
                    (0..4).filter(|&s| needs[s] && !seen[s]).map(|s| letters[s]).collect();
                let message = format!("no law of `{name}` contains `{}`{port}", lacking.join("`, `"));
                self.report.push(Diagnostic::new(code::WRONG_LAW, message).at(span).help(help.clone()));
            }
        }
    }

    fn lower_switch(&mut self, instance: usize, id: ElementId, ast: &'a ast::Element) {
        let name = &ast.name.text;
        let Some(condition) = &ast.condition else {
            if matches!(ast.body, Body::Value(_)) {
                return;
            }
            let message = format!("the switch `{name}` does not say when it is closed");
            let help = format!("write `Sw {name} when (condition) {{ Ron = … }}`");
            self.report.push(Diagnostic::new(code::MISSING_VALUE, message).at(ast.span).help(help));
            return;
        };
        let condition = self.lower_condition(instance, Context::Everything, condition);
        let (mut on, mut off) = (None, None);
        let laws: &'a [ast::Law] = if let Body::Laws(laws, _) = &ast.body { laws } else { &[] };
        for law in laws {
            let (target, value, span) = match law {
                ast::Law::Equation { left, right, span } => (left, right, *span),
                ast::Law::Init { span, .. } => {
                    let message = format!("the switch `{name}` has no state");
                    self.report.push(Diagnostic::new(code::BAD_INITIAL, message).at(*span));
                    continue;
                }
            };
            let slot = match &target.kind {
                ExprKind::Path(path) if path.segments.len() == 1 => match path.segments[0].name.text.as_str()
                {
                    "Ron" => Some(&mut on),
                    "Goff" => Some(&mut off),
                    _ => None,
                },
                _ => None,
            };
            let Some(slot) = slot else {
                let message = format!("the switch `{name}` has only `Ron` and `Goff`");
                self.report.push(
                    Diagnostic::new(code::WRONG_LAW, message)
                        .at(span)
                        .help("write `{ Ron = 0.01; Goff = 1e-9 }`"),
                );
                continue;
            };
            *slot = Some(value);
        }
        let Some(on) = on else {
            let message = format!("the switch `{name}` has no resistance when closed");
            let help = format!("write `Sw {name} when (…) {{ Ron = 0.01 }}`");
            self.report.push(Diagnostic::new(code::MISSING_VALUE, message).at(ast.span).help(help));
            return;
        };
        let on_typed = self.lower_number(Scope::new(instance, Context::Everything), on);
        self.check_resistance(id, "Ron", on_typed, on.span, |d| d.effort_dimension.over(d.flow_dimension));
        let off_expr = match off {
            Some(off) => {
                let typed = self.lower_number(Scope::new(instance, Context::Everything), off);
                self.check_resistance(id, "Goff", typed, off.span, |d| {
                    d.flow_dimension.over(d.effort_dimension)
                });
                typed.expr
            }
            None => self.pool.zero(),
        };
        let number = self.guarded_sign(on_typed.expr);
        if number <= 0.0 {
            let message = format!("`Ron` of the switch `{name}` is {number}; it must be positive");
            self.report.push(
                Diagnostic::new(code::BAD_VALUE, message)
                    .at(on.span)
                    .help("give a small positive resistance"),
            );
        }
        let number = self.guarded_sign(off_expr);
        if let (true, Some(off)) = (number < 0.0, off) {
            let message = format!("`Goff` of the switch `{name}` is {number}; it must not be negative");
            self.report.push(
                Diagnostic::new(code::BAD_VALUE, message)
                    .at(off.span)
                    .help("give zero or a small positive conductance"),
            );
        }
        // What stops all flow has no flow to tell by when it is to close.
        let condition = if number > 0.0 { condition } else { self.by_effort(id, condition) };
        self.graph.elements[id.index()].law = Law::Switch { condition, on: on_typed.expr, off: off_expr };
    }

    /// The condition of a switch, the sign of whose flow is read from its effort: the conductance is never negative,
    /// so that a diode is the same by either.
    fn by_effort(&mut self, id: ElementId, condition: Expr) -> Expr {
        let [port] = self.graph.element(id).ports[..] else { return condition };
        let Some(flow) = self.graph.variables.symbol(Variable::Flow(port.bond)) else { return condition };
        let effort = self.graph.symbol(self.pool, Variable::Effort(port.bond));
        let [along, effort] = [self.pool.int(if port.into { 1 } else { -1 }), self.pool.var(effort)];
        let forward = self.pool.mul(along, effort);
        self.pool.rewrite(condition, |pool, node, _| {
            let Node::Compare(op, a, b) = pool.node(node) else { return None };
            let difference = pool.sub(a, b);
            let own = pool.var(flow);
            let multiple = pool.div(difference, own);
            pool.as_rational(multiple)?;
            let (difference, zero) = (pool.mul(multiple, forward), pool.zero());
            Some(pool.compare(op, difference, zero))
        })
    }

    /// Reports a switch's value that is not in the unit that its domain asks for.
    fn check_resistance(
        &mut self,
        id: ElementId,
        what: &str,
        typed: Typed,
        span: Span,
        wanted: impl Fn(&DomainInfo) -> Dimension,
    ) {
        let element = self.graph.element(id);
        let Some(domain) = element.ports.first().and_then(|port| port.domain) else { return };
        let wanted = wanted(domain.info());
        if let Dim::Hard(found) = typed.dim
            && found != wanted
        {
            let message = format!("`{what}` of the switch `{}` is in {found}", element.name);
            let help = format!("in the {} domain it is in {wanted}", domain.name());
            self.report.push(Diagnostic::new(code::UNIT_MISMATCH, message).at(span).help(help));
        }
    }
}

/// What the laws of a kind relate.
fn relates(kind: Kind) -> String {
    let variables = match kind_of(kind).class().stored() {
        Some(Stored::Displacement) => "e and q",
        Some(Stored::Momentum) => "f and p",
        None => "e and f",
    };
    format!("{} relates {variables}", with_article(kind))
}

/// Says which ports an element has.
pub(super) fn ports_help(ports: usize) -> String {
    match ports {
        1 => "it has one port: write its name alone".to_owned(),
        n => format!("it has the ports 1 to {n}"),
    }
}

fn plural(n: usize) -> &'static str {
    if n == 1 { "" } else { "s" }
}
