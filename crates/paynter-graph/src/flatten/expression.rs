//! Expressions: names resolved, functions known, dimensions checked, turned
//! into algebra.

use paynter_algebra::{Cmp, Expr, Func, Rational};
use paynter_base::{Diagnostic, Span, closest, code};
use paynter_language::ast::{self, BinaryOp, ExprKind, Kind, UnaryOp};

use super::Flattener;
use super::program::{Part, Value};
use crate::dimension::Dimension;
use crate::domain::DomainInfo;
use crate::model::{BondId, ElementId, Integrator, Table, Variable, flat_name, is_junction};

/// What an expression may read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Context {
    /// Structural parameters and loop indices: array sizes.
    Structural,
    /// Parameters: their own definitions, initial values.
    Parameters,
    /// Parameters, time and tables: inputs.
    OverTime,
    /// Everything: sources, moduli, signals, outputs.
    Everything,
    /// Everything, and e, f, q, p of the element itself.
    Law(ElementId, usize),
}

/// What is known of a dimension. Literal numbers may silently carry a unit
/// (`exp(e/0.025)`), so a product with one is known only softly: it is never
/// a reason to complain.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Dim {
    /// A plain number or something made of numbers.
    Number,
    /// Nothing is known (a parameter without a unit takes part).
    Unknown,
    /// Presumably this.
    Soft(Dimension),
    /// This, from declared units alone.
    Hard(Dimension),
}

impl Dim {
    /// Tells whether a unit that follows the value scales it.
    pub fn is_number(self) -> bool {
        matches!(self, Dim::Number | Dim::Unknown | Dim::Hard(Dimension::NONE) | Dim::Soft(Dimension::NONE))
    }

    fn times(self, other: Dim, combine: impl Fn(Dimension, Dimension) -> Dimension) -> Dim {
        match (self, other) {
            (Dim::Unknown, _) | (_, Dim::Unknown) => Dim::Unknown,
            (Dim::Number, Dim::Number) => Dim::Number,
            (Dim::Number, Dim::Soft(d) | Dim::Hard(d)) => Dim::Soft(combine(Dimension::NONE, d)),
            (Dim::Soft(d) | Dim::Hard(d), Dim::Number) => Dim::Soft(combine(d, Dimension::NONE)),
            (Dim::Hard(a), Dim::Hard(b)) => Dim::Hard(combine(a, b)),
            (Dim::Soft(a) | Dim::Hard(a), Dim::Soft(b) | Dim::Hard(b)) => Dim::Soft(combine(a, b)),
        }
    }
}

/// An expression with what is known of its dimension.
#[derive(Debug, Clone, Copy)]
pub(super) struct Typed {
    pub expr: Expr,
    pub dim: Dim,
}

impl Typed {
    pub fn number(expr: Expr) -> Typed {
        Typed { expr, dim: Dim::Number }
    }

    fn unknown(expr: Expr) -> Typed {
        Typed { expr, dim: Dim::Unknown }
    }
}

/// Functions of the language: name, algebra, least and most arguments.
const FUNCTIONS: &[(&str, Func, usize, usize)] = &[
    ("sin", Func::Sin, 1, 1),
    ("cos", Func::Cos, 1, 1),
    ("tan", Func::Tan, 1, 1),
    ("asin", Func::Asin, 1, 1),
    ("acos", Func::Acos, 1, 1),
    ("atan", Func::Atan, 1, 1),
    ("atan2", Func::Atan2, 2, 2),
    ("sinh", Func::Sinh, 1, 1),
    ("cosh", Func::Cosh, 1, 1),
    ("tanh", Func::Tanh, 1, 1),
    ("asinh", Func::Asinh, 1, 1),
    ("acosh", Func::Acosh, 1, 1),
    ("atanh", Func::Atanh, 1, 1),
    ("exp", Func::Exp, 1, 1),
    ("ln", Func::Ln, 1, 1),
    ("log10", Func::Log10, 1, 1),
    ("sqrt", Func::Sqrt, 1, 1),
    ("abs", Func::Abs, 1, 1),
    ("sign", Func::Sign, 1, 1),
    ("min", Func::Min, 2, usize::MAX),
    ("max", Func::Max, 2, usize::MAX),
];

/// Functions with a meaning of their own here.
const SPECIAL: &[&str] = &["if", "step", "pulse", "table", "integral"];

impl<'a> Flattener<'a, '_> {
    /// Lowers an expression that must be a number.
    pub(super) fn lower_number(
        &mut self,
        instance: usize,
        loops: &[(&'a str, i64)],
        context: Context,
        expr: &'a ast::Expr,
    ) -> Typed {
        let typed = self.lower(instance, loops, context, expr);
        self.require_number(typed, expr.span)
    }

    /// Refuses a condition where a number is wanted.
    pub(super) fn require_number(&mut self, typed: Typed, span: Span) -> Typed {
        if self.pool.is_boolean(typed.expr) {
            let diagnostic =
                Diagnostic::new(code::MISPLACED, "a condition stands where a number is wanted").at(span);
            self.report.push(diagnostic.help("write `if(condition, 1, 0)`"));
            return Typed::unknown(self.nothing());
        }
        typed
    }

    /// Lowers a condition.
    pub(super) fn lower_condition(&mut self, instance: usize, context: Context, expr: &'a ast::Expr) -> Expr {
        let typed = self.lower(instance, &[], context, expr);
        self.require_condition(typed.expr, expr)
    }

    fn require_condition(&mut self, lowered: Expr, expr: &ast::Expr) -> Expr {
        if !self.pool.is_boolean(lowered) && !matches!(expr.kind, ExprKind::Error) {
            let diagnostic =
                Diagnostic::new(code::MISPLACED, "a number stands where a condition is wanted").at(expr.span);
            self.report.push(diagnostic.help("compare it with something, as in `x > 0`"));
            return self.pool.truth(true);
        }
        lowered
    }

    /// A whole number that does not depend on anything but structural parameters and loop indices.
    pub(super) fn structural_integer(
        &mut self,
        instance: usize,
        loops: &[(&'a str, i64)],
        expr: &'a ast::Expr,
        what: &str,
    ) -> Option<i64> {
        let before = self.report.diagnostics.len();
        let typed = self.lower(instance, loops, Context::Structural, expr);
        if self.report.diagnostics.len() > before {
            return None;
        }
        let value = self.pool.as_rational(typed.expr).cloned();
        let integer = value.filter(|v| v.is_int()).and_then(|v| i64::try_from(v.numerator().clone()).ok());
        // Keeps sums and differences of bounds far from overflow.
        let integer = integer.filter(|n| n.abs() < 1 << 40);
        if integer.is_none() {
            let shown = self.pool.display(typed.expr).to_string();
            let message = format!("{what} must be a whole number, but it is {shown}");
            self.report.push(Diagnostic::new(code::BAD_ARRAY, message).at(expr.span));
        }
        integer
    }

    /// Lowers any expression. Nesting is limited by the parser.
    pub(super) fn lower(
        &mut self,
        instance: usize,
        loops: &[(&'a str, i64)],
        context: Context,
        expr: &'a ast::Expr,
    ) -> Typed {
        match &expr.kind {
            ExprKind::Number(text) => match self.pool.decimal(text) {
                Some(number) => Typed::number(number),
                None => Typed::number(self.nothing()),
            },
            ExprKind::Text(_) => {
                let diagnostic = Diagnostic::new(code::MISPLACED, "a string stands where a number is wanted");
                self.report.push(
                    diagnostic.at(expr.span).help("strings are only for `table(\"file.csv\", column)`"),
                );
                Typed::unknown(self.nothing())
            }
            ExprKind::Path(path) => self.lower_path(instance, loops, context, path),
            ExprKind::Unary(op, operand) => {
                let typed = self.lower(instance, loops, context, operand);
                match op {
                    UnaryOp::Neg => {
                        let typed = self.require_number(typed, operand.span);
                        Typed { expr: self.pool.neg(typed.expr), dim: typed.dim }
                    }
                    UnaryOp::Not => {
                        let condition = self.require_condition(typed.expr, operand);
                        Typed::number(self.pool.not(condition))
                    }
                }
            }
            ExprKind::Binary(op, left, right) => {
                self.lower_binary(instance, loops, context, *op, left, right, expr.span)
            }
            ExprKind::Call(function, arguments) => {
                self.lower_call(instance, loops, context, function, arguments, expr.span)
            }
            ExprKind::Error => Typed::unknown(self.nothing()),
        }
    }

    #[allow(clippy::too_many_arguments, reason = "the parts of one binary expression")]
    fn lower_binary(
        &mut self,
        instance: usize,
        loops: &[(&'a str, i64)],
        context: Context,
        op: BinaryOp,
        left: &'a ast::Expr,
        right: &'a ast::Expr,
        span: Span,
    ) -> Typed {
        let a = self.lower(instance, loops, context, left);
        let b = self.lower(instance, loops, context, right);
        if matches!(op, BinaryOp::And | BinaryOp::Or) {
            let x = self.require_condition(a.expr, left);
            let y = self.require_condition(b.expr, right);
            let expr = if op == BinaryOp::And { self.pool.and(x, y) } else { self.pool.or(x, y) };
            return Typed::number(expr);
        }
        let a = self.require_number(a, left.span);
        let b = self.require_number(b, right.span);
        let compare = |this: &mut Self, cmp| {
            this.same_dimension(a, b, span, "compared");
            Typed::number(this.pool.compare(cmp, a.expr, b.expr))
        };
        match op {
            BinaryOp::Add => {
                let dim = self.same_dimension(a, b, span, "added");
                Typed { expr: self.pool.add(a.expr, b.expr), dim }
            }
            BinaryOp::Sub => {
                let dim = self.same_dimension(a, b, span, "subtracted");
                Typed { expr: self.pool.sub(a.expr, b.expr), dim }
            }
            BinaryOp::Mul => {
                Typed { expr: self.pool.mul(a.expr, b.expr), dim: a.dim.times(b.dim, Dimension::times) }
            }
            BinaryOp::Div => {
                let zero = self.pool.zero();
                if b.expr == zero {
                    let diagnostic = Diagnostic::new(code::BAD_VALUE, "division by zero").at(right.span);
                    self.report.push(diagnostic.help("give the divisor a value other than zero"));
                    return Typed::unknown(zero);
                }
                Typed { expr: self.pool.div(a.expr, b.expr), dim: a.dim.times(b.dim, Dimension::over) }
            }
            BinaryOp::Pow => {
                if let Dim::Hard(d) = b.dim
                    && d != Dimension::NONE
                {
                    let message = format!("an exponent must be a pure number, but this is in {d}");
                    self.report.push(Diagnostic::new(code::UNIT_MISMATCH, message).at(right.span));
                }
                let dim = self.power_dimension(a.dim, b.expr);
                Typed { expr: self.pool.pow(a.expr, b.expr), dim }
            }
            BinaryOp::Lt => compare(self, Cmp::Lt),
            BinaryOp::Le => compare(self, Cmp::Le),
            BinaryOp::Gt => compare(self, Cmp::Gt),
            BinaryOp::Ge => compare(self, Cmp::Ge),
            BinaryOp::Eq => compare(self, Cmp::Eq),
            BinaryOp::Ne => compare(self, Cmp::Ne),
            BinaryOp::And | BinaryOp::Or => a,
        }
    }

    fn power_dimension(&self, base: Dim, exponent: Expr) -> Dim {
        let exact = self.pool.as_rational(exponent).and_then(|r: &Rational| {
            let n = i64::try_from(r.numerator().clone()).ok()?;
            let d = i64::try_from(r.denominator().clone()).ok()?;
            Some((n, d))
        });
        let power = |d: Dimension| {
            if d == Dimension::NONE {
                return Some(d);
            }
            exact.and_then(|(n, den)| d.power(n, den))
        };
        match base {
            Dim::Number => Dim::Number,
            Dim::Unknown => Dim::Unknown,
            Dim::Soft(d) => power(d).map_or(Dim::Unknown, Dim::Soft),
            Dim::Hard(d) => power(d).map_or(Dim::Unknown, Dim::Hard),
        }
    }

    /// The common dimension of two operands; complains where both are sure and differ.
    fn same_dimension(&mut self, a: Typed, b: Typed, span: Span, verb: &str) -> Dim {
        match (a.dim, b.dim) {
            (Dim::Hard(x), Dim::Hard(y)) if x != y => {
                let message = format!("{x} and {y} cannot be {verb}");
                self.report.push(Diagnostic::new(code::UNIT_MISMATCH, message).at(span));
                Dim::Unknown
            }
            (Dim::Hard(d), _) | (_, Dim::Hard(d)) => Dim::Hard(d),
            (Dim::Soft(d), _) | (_, Dim::Soft(d)) => Dim::Soft(d),
            (Dim::Unknown, _) | (_, Dim::Unknown) => Dim::Unknown,
            (Dim::Number, Dim::Number) => Dim::Number,
        }
    }

    fn lower_call(
        &mut self,
        instance: usize,
        loops: &[(&'a str, i64)],
        context: Context,
        function: &'a ast::Name,
        arguments: &'a [ast::Expr],
        span: Span,
    ) -> Typed {
        if let Some(&(_, func, least, most)) = FUNCTIONS.iter().find(|f| f.0 == function.text) {
            if arguments.len() < least || arguments.len() > most {
                return self.wrong_count(function, least, span);
            }
            let typed: Vec<Typed> =
                arguments.iter().map(|arg| self.lower_number(instance, loops, context, arg)).collect();
            let exprs: Vec<Expr> = typed.iter().map(|t| t.expr).collect();
            let dim = self.function_dimension(func, &typed, arguments, function);
            return Typed { expr: self.pool.call(func, &exprs), dim };
        }
        match function.text.as_str() {
            "if" => {
                let [condition, yes, no] = arguments else { return self.wrong_count(function, 3, span) };
                let test = self.lower(instance, loops, context, condition);
                let test = self.require_condition(test.expr, condition);
                let a = self.lower_number(instance, loops, context, yes);
                let b = self.lower_number(instance, loops, context, no);
                let dim = self.same_dimension(a, b, span, "alternatives");
                Typed { expr: self.pool.select(test, a.expr, b.expr), dim }
            }
            "step" => {
                let [start] = arguments else { return self.wrong_count(function, 1, span) };
                if !self.time_allowed(context, span) {
                    return Typed::unknown(self.nothing());
                }
                let on = self.after(instance, loops, context, start);
                let (one, zero) = (self.pool.one(), self.pool.zero());
                Typed::number(self.pool.select(on, one, zero))
            }
            "pulse" => {
                let [start, stop] = arguments else { return self.wrong_count(function, 2, span) };
                if !self.time_allowed(context, span) {
                    return Typed::unknown(self.nothing());
                }
                let on = self.after(instance, loops, context, start);
                let off = self.after(instance, loops, context, stop);
                let not_off = self.pool.not(off);
                let inside = self.pool.and(on, not_off);
                let (one, zero) = (self.pool.one(), self.pool.zero());
                Typed::number(self.pool.select(inside, one, zero))
            }
            "table" => self.lower_table(context, function, arguments, span),
            "integral" if self.integral_owner.is_some() => {
                self.nested_integral(instance, function, arguments, span)
            }
            "integral" => {
                let diagnostic =
                    Diagnostic::new(code::MISPLACED, "`integral` stands outside a signal").at(span);
                self.report.push(diagnostic.help("write `signal x = integral(…, x0)` and use `x` here"));
                Typed::unknown(self.nothing())
            }
            _ => {
                let names = FUNCTIONS.iter().map(|f| f.0).chain(SPECIAL.iter().copied());
                let help = match function.text.as_str() {
                    "log" => "write `ln` for the natural logarithm, `log10` for the common one".to_owned(),
                    "arctan" => "write `atan`".to_owned(),
                    "der" | "diff" => {
                        "there is no derivative: take the flow of a C or the effort of an I".to_owned()
                    }
                    other => match closest(other, names.clone()) {
                        Some(near) => format!("did you mean `{near}`?"),
                        None => format!("the functions are: {}", names.collect::<Vec<_>>().join(", ")),
                    },
                };
                let message = format!("there is no function `{}`", function.text);
                self.report.push(Diagnostic::new(code::UNKNOWN_NAME, message).at(function.span).help(help));
                Typed::unknown(self.nothing())
            }
        }
    }

    /// An integral inside a signal's expression becomes a state of its own.
    fn nested_integral(
        &mut self,
        instance: usize,
        function: &'a ast::Name,
        arguments: &'a [ast::Expr],
        span: Span,
    ) -> Typed {
        let name = match &mut self.integral_owner {
            Some((signal, count)) => {
                *count += 1;
                if *count == 1 { format!("{signal}.integral") } else { format!("{signal}.integral{count}") }
            }
            None => return Typed::unknown(self.nothing()),
        };
        let (rate, initial) = self.lower_integral(instance, function, arguments, span);
        let symbol = self.pool.symbol(&flat_name(&name));
        let place = self.graph.integrators.len() as u32;
        self.graph.variables.insert(Variable::Integrator(place), symbol);
        self.graph.integrators.push(Integrator { name, symbol, rate, initial, span });
        Typed::unknown(self.pool.var(symbol))
    }

    /// The condition t ≥ start.
    fn after(
        &mut self,
        instance: usize,
        loops: &[(&'a str, i64)],
        context: Context,
        start: &'a ast::Expr,
    ) -> Expr {
        let start = self.lower_number(instance, loops, context, start);
        let time = self.pool.var(self.time);
        self.pool.compare(Cmp::Ge, time, start.expr)
    }

    fn time_allowed(&mut self, context: Context, span: Span) -> bool {
        let allowed = !matches!(context, Context::Structural | Context::Parameters);
        if !allowed {
            let diagnostic = Diagnostic::new(code::MISPLACED, "a parameter cannot depend on time").at(span);
            self.report.push(diagnostic.help("make it an `input` or a `signal`"));
        }
        allowed
    }

    pub(super) fn wrong_count(&mut self, function: &ast::Name, wanted: usize, span: Span) -> Typed {
        let form = match function.text.as_str() {
            "if" => "if(condition, a, b)".to_owned(),
            "integral" => "integral(x, x0)".to_owned(),
            "table" => "table(\"file.csv\", column)".to_owned(),
            "pulse" => "pulse(t0, t1)".to_owned(),
            "min" | "max" => format!("{}(a, b, …)", function.text),
            name if wanted == 2 => format!("{name}(y, x)"),
            name => format!("{name}(x)"),
        };
        let message = format!("`{}` has the wrong number of arguments", function.text);
        self.report
            .push(Diagnostic::new(code::BAD_ARGUMENT, message).at(span).help(format!("write `{form}`")));
        Typed::unknown(self.nothing())
    }

    fn function_dimension(
        &mut self,
        func: Func,
        typed: &[Typed],
        arguments: &[ast::Expr],
        name: &ast::Name,
    ) -> Dim {
        match func {
            Func::Abs => typed[0].dim,
            Func::Sqrt => {
                let two = self.pool.int(2);
                let one = self.pool.one();
                let half = self.pool.div(one, two);
                self.power_dimension(typed[0].dim, half)
            }
            Func::Min | Func::Max => {
                let mut all = typed[0];
                for (other, argument) in typed.iter().zip(arguments).skip(1) {
                    all.dim = self.same_dimension(all, *other, argument.span, "compared");
                }
                all.dim
            }
            Func::Atan2 => {
                self.same_dimension(typed[0], typed[1], name.span, "compared");
                Dim::Number
            }
            Func::Sign => Dim::Number,
            _ => {
                if let Dim::Hard(d) = typed[0].dim
                    && d != Dimension::NONE
                {
                    let message = format!("`{}` needs a pure number, but this is in {d}", name.text);
                    let diagnostic = Diagnostic::new(code::UNIT_MISMATCH, message).at(arguments[0].span);
                    self.report.push(diagnostic.help("divide by a reference quantity of the same unit"));
                }
                Dim::Number
            }
        }
    }

    fn lower_table(
        &mut self,
        context: Context,
        function: &ast::Name,
        arguments: &'a [ast::Expr],
        span: Span,
    ) -> Typed {
        let [file, column] = arguments else { return self.wrong_count(function, 2, span) };
        if !self.time_allowed(context, span) {
            return Typed::unknown(self.nothing());
        }
        let column = match &column.kind {
            ExprKind::Text(name) => Some(name.clone()),
            ExprKind::Number(number) => Some(number.clone()),
            ExprKind::Path(path) if path.segments.len() == 1 => Some(path.segments[0].name.text.clone()),
            _ => None,
        };
        let (ExprKind::Text(path), Some(column)) = (&file.kind, column) else {
            return self.wrong_count(function, 2, span);
        };
        let path = match paynter_base::resolve_path("model.bg", path) {
            Ok(path) => path,
            Err(_) => {
                let message = format!("the table `{path}` is outside the model's folder tree");
                self.report.push(Diagnostic::new(code::IMPORT_OUTSIDE, message).at(file.span));
                return Typed::unknown(self.nothing());
            }
        };
        let next = self.graph.tables.len() as u32;
        let id = *self.tables.entry((path.clone(), column.clone())).or_insert(next);
        if id == next {
            self.graph.tables.push(Table { path, column, span });
        }
        let time = self.pool.var(self.time);
        Typed::number(self.pool.call(Func::Table(id), &[time]))
    }

    fn lower_path(
        &mut self,
        instance: usize,
        loops: &[(&'a str, i64)],
        context: Context,
        path: &'a ast::Path,
    ) -> Typed {
        if let [segment] = path.segments.as_slice()
            && segment.index.is_none()
        {
            return self.lower_name(instance, loops, context, &segment.name);
        }
        match context {
            Context::Structural | Context::Parameters | Context::OverTime => {
                // Parameters of submodels are decided after their parents', so they cannot be read here.
                let what = if context == Context::OverTime { "an input" } else { "a parameter" };
                let message = format!("{what} can only be defined from parameters of its own model");
                self.report.push(Diagnostic::new(code::MISPLACED, message).at(path.span));
                Typed::unknown(self.nothing())
            }
            Context::Everything | Context::Law(..) => self.lower_variable(instance, loops, path),
        }
    }

    fn lower_name(
        &mut self,
        instance: usize,
        loops: &[(&'a str, i64)],
        context: Context,
        name: &'a ast::Name,
    ) -> Typed {
        let text = name.text.as_str();
        if let Context::Law(element, ports) = context
            && let Some(typed) = self.local_variable(element, ports, text)
        {
            return typed;
        }
        if let Some((_, value)) = loops.iter().rev().find(|(variable, _)| *variable == text) {
            return Typed::number(self.pool.int(*value));
        }
        match text {
            "pi" => return Typed::number(self.pool.pi()),
            "t" => {
                if !self.time_allowed(context, name.span) {
                    return Typed::unknown(self.nothing());
                }
                return Typed::number(self.pool.var(self.time));
            }
            "s" => {
                let diagnostic = Diagnostic::new(
                    code::RESERVED_NAME,
                    "`s` is the Laplace variable and cannot be read in a model",
                );
                self.report.push(diagnostic.at(name.span).help("use `t` for time"));
                return Typed::unknown(self.nothing());
            }
            _ => {}
        }
        let model = self.instances[instance].model;
        let Some(&value) = self.infos[model].values.get(text) else {
            self.unknown_value(model, context, name);
            return Typed::unknown(self.nothing());
        };
        match value {
            Value::Param(i) => {
                self.infos[model].param_used[i] = true;
                let typed = self.instances[instance].params[i];
                match typed.dim {
                    Dim::Number => Typed::unknown(typed.expr),
                    _ => typed,
                }
            }
            Value::Input(_) | Value::Signal(_)
                if matches!(context, Context::Structural | Context::Parameters | Context::OverTime) =>
            {
                let what = if matches!(value, Value::Input(_)) { "an input" } else { "a signal" };
                let message = format!("`{text}` is {what}, which has no fixed value");
                self.report.push(
                    Diagnostic::new(code::MISPLACED, message)
                        .at(name.span)
                        .help("only parameters can stand here"),
                );
                Typed::unknown(self.nothing())
            }
            Value::Input(i) => {
                self.infos[model].input_used[i] = true;
                let input = &self.graph.inputs[self.instances[instance].first_input as usize + i];
                let dim = input.unit.as_ref().map_or(Dim::Unknown, |unit| Dim::Hard(unit.dimension));
                let symbol = input.symbol;
                Typed { expr: self.pool.var(symbol), dim }
            }
            Value::Signal(i) => {
                let symbol = match self.instances[instance].signals[i] {
                    Variable::Signal(k) => self.graph.signals[k as usize].symbol,
                    Variable::Integrator(k) => self.graph.integrators[k as usize].symbol,
                    _ => self.time,
                };
                Typed::unknown(self.pool.var(symbol))
            }
        }
    }

    /// e, f, q, p (or e1, f2 …) of the element whose law is read.
    fn local_variable(&mut self, element: ElementId, ports: usize, text: &str) -> Option<Typed> {
        let (letter, digits) = text.split_at_checked(1)?;
        let port = match (ports, digits) {
            (1, "") => 0,
            (1, _) => return None,
            (_, digits) => {
                let k: usize = digits.parse().ok()?;
                if digits.starts_with('0') || digits.starts_with('+') || k == 0 || k > ports {
                    return None;
                }
                k - 1
            }
        };
        self.graph.locals.reserve(self.pool, ports);
        let [e, f, q, p] = self.graph.locals.port(ports, port);
        let domain = self.graph.element(element).ports.get(port).and_then(|port| port.domain);
        let known =
            |of: fn(&DomainInfo) -> Dimension| domain.map_or(Dim::Unknown, |d| Dim::Hard(of(d.info())));
        let (symbol, dim) = match (letter, self.graph.element(element).kind) {
            ("e", _) => (e, known(|d| d.effort_dimension)),
            ("f", _) => (f, known(|d| d.flow_dimension)),
            ("q", Kind::C) => (q, known(DomainInfo::displacement_dimension)),
            ("p", Kind::I) => (p, known(DomainInfo::momentum_dimension)),
            _ => return None,
        };
        Some(Typed { expr: self.pool.var(symbol), dim })
    }

    fn unknown_value(&mut self, model: usize, context: Context, name: &ast::Name) {
        let info = &self.infos[model];
        let locals: &[&str] = match context {
            Context::Law(element, 1) => match self.graph.element(element).kind {
                Kind::C => &["e", "f", "q"],
                Kind::I => &["e", "f", "p"],
                _ => &["e", "f"],
            },
            _ => &[],
        };
        let names = info.value_names().chain(locals.iter().copied());
        let help = if info.parts.contains_key(name.text.as_str()) {
            format!("`{0}` is an element: read one of its variables, such as `{0}.e` or `{0}.f`", name.text)
        } else if let Some(twin) = look_alike(&name.text, names.clone()) {
            format!("`{twin}` looks the same but is written with other letters; type the name again")
        } else if let Some(near) = closest(&name.text, names) {
            format!("did you mean `{near}`?")
        } else {
            format!("declare it: `param {} = …`", name.text)
        };
        let message = format!("there is no parameter, input or signal `{}`", name.text);
        self.report.push(Diagnostic::new(code::UNKNOWN_NAME, message).at(name.span).help(help));
    }

    /// `coil.f`, `motor.e1`, `bond.e`, `tank.q`, `c[3].m.p`, `sub.signal`, `sub.param`
    fn lower_variable(&mut self, instance: usize, loops: &[(&'a str, i64)], path: &'a ast::Path) -> Typed {
        let Some((last, parents)) = path.segments.split_last() else { return Typed::unknown(self.nothing()) };
        let Some((owner, rest)) = self.descend(instance, loops, parents) else {
            return Typed::unknown(self.nothing());
        };
        let model = self.instances[owner].model;
        let Some(segment) = rest else {
            // A value of a submodel.
            if self.infos[model].values.contains_key(last.name.text.as_str()) && last.index.is_none() {
                return self.lower_name(owner, &[], Context::Everything, &last.name);
            }
            self.unknown_member(owner, last);
            return Typed::unknown(self.nothing());
        };
        match self.infos[model].parts.get(segment.name.text.as_str()) {
            Some(&Part::Element(e)) => {
                let element = self.instances[owner].elements[e];
                self.element_variable(element, &last.name)
            }
            Some(&Part::Bond(b)) => match (self.bonds_by_name[owner][b], last.name.text.as_str()) {
                (Some(bond), "e") => self.bond_variable(bond, true),
                (Some(bond), "f") => self.bond_variable(bond, false),
                (None, "e" | "f") => Typed::unknown(self.nothing()),
                _ => {
                    let message = format!("a bond has no variable `{}`", last.name.text);
                    self.report.push(
                        Diagnostic::new(code::UNKNOWN_NAME, message)
                            .at(last.name.span)
                            .help("a bond has `e` and `f`"),
                    );
                    Typed::unknown(self.nothing())
                }
            },
            _ => {
                self.unknown_part(model, &segment.name);
                Typed::unknown(self.nothing())
            }
        }
    }

    /// Follows submodel instances along a path. Returns the instance reached
    /// and the last segment if it is not an instance itself.
    pub(super) fn descend(
        &mut self,
        instance: usize,
        loops: &[(&'a str, i64)],
        segments: &'a [ast::Segment],
    ) -> Option<(usize, Option<&'a ast::Segment>)> {
        let mut here = instance;
        for (k, segment) in segments.iter().enumerate() {
            let model = self.instances[here].model;
            let Some(&Part::Use(u)) = self.infos[model].parts.get(segment.name.text.as_str()) else {
                if k + 1 == segments.len() {
                    if let Some(index) = &segment.index {
                        let message = format!("`{}` is not an array", segment.name.text);
                        self.report.push(
                            Diagnostic::new(code::BAD_ARRAY, message).at(index.span).help("delete the index"),
                        );
                        return None;
                    }
                    return Some((here, Some(segment)));
                }
                if self.infos[model].parts.contains_key(segment.name.text.as_str()) {
                    let message = format!("`{}` is not a submodel", segment.name.text);
                    self.report
                        .push(Diagnostic::new(code::UNKNOWN_NAME, message).at(segments[k + 1].name.span));
                } else {
                    self.unknown_part(model, &segment.name);
                }
                return None;
            };
            here = self.child(here, u, loops, segment)?;
        }
        Some((here, None))
    }

    fn child(
        &mut self,
        instance: usize,
        u: usize,
        loops: &[(&'a str, i64)],
        segment: &'a ast::Segment,
    ) -> Option<usize> {
        let (array, low, count) = {
            let children = &self.instances[instance].children[u];
            (children.array, children.low, children.ids.len() as i64)
        };
        let name = &segment.name;
        let place = match (&segment.index, array) {
            (None, false) => 0,
            (Some(index), true) => {
                let i = self.structural_integer(instance, loops, index, "an index")?;
                if i < low || i >= low + count {
                    let message = format!(
                        "`{}[{i}]` does not exist: the array runs from {low} to {}",
                        name.text,
                        low + count - 1
                    );
                    self.report.push(Diagnostic::new(code::BAD_ARRAY, message).at(index.span));
                    return None;
                }
                (i - low) as usize
            }
            (None, true) => {
                let message = format!("`{}` is an array", name.text);
                self.report.push(
                    Diagnostic::new(code::BAD_ARRAY, message)
                        .at(name.span)
                        .help(format!("say which: `{}[{low}]`", name.text)),
                );
                return None;
            }
            (Some(index), false) => {
                let message = format!("`{}` is not an array", name.text);
                self.report
                    .push(Diagnostic::new(code::BAD_ARRAY, message).at(index.span).help("delete the index"));
                return None;
            }
        };
        self.instances[instance].children[u].ids.get(place).copied()
    }

    fn unknown_member(&mut self, instance: usize, segment: &ast::Segment) {
        let info = &self.infos[self.instances[instance].model];
        let name = &segment.name;
        let names = info.value_names().chain(info.part_names());
        let help = match closest(&name.text, names) {
            Some(near) => format!("did you mean `{near}`?"),
            None => {
                "read a parameter or signal of the submodel, or `.e`, `.f`, `.q`, `.p` of one of its elements"
                    .to_owned()
            }
        };
        let message = format!("the submodel `{}` has no value `{}`", info.ast.name.text, name.text);
        self.report.push(Diagnostic::new(code::UNKNOWN_NAME, message).at(name.span).help(help));
    }

    pub(super) fn unknown_part(&mut self, model: usize, name: &ast::Name) {
        let info = &self.infos[model];
        let help = if info.values.contains_key(name.text.as_str()) {
            format!("`{}` is a parameter, input or signal, not an element", name.text)
        } else if let Some(twin) = look_alike(&name.text, info.part_names()) {
            format!("`{twin}` looks the same but is written with other letters; type the name again")
        } else if let Some(near) = closest(&name.text, info.part_names()) {
            format!("did you mean `{near}`?")
        } else {
            "declare the element first, as in `1 shaft`".to_owned()
        };
        let message = format!("there is no element `{}`", name.text);
        self.report.push(Diagnostic::new(code::UNKNOWN_NAME, message).at(name.span).help(help));
    }

    /// A port variable or state of an element, seen from outside: along the bond's arrow.
    fn element_variable(&mut self, id: ElementId, name: &ast::Name) -> Typed {
        let element = self.graph.element(id);
        let (kind, ports) = (element.kind, element.ports.clone());
        let text = name.text.as_str();
        let (letter, digits) = text.split_at_checked(1).unwrap_or(("", ""));
        let n = ports.len();
        let several = matches!(kind, Kind::Tf | Kind::Gy | Kind::Rs) || n > 1;
        let port = match (is_junction(kind), letter, digits) {
            (true, "e", "") if kind == Kind::Zero => Some(0),
            (true, "f", "") if kind == Kind::One => Some(0),
            (true, ..) => None,
            (false, _, "") if !several => Some(0),
            (false, _, digits) => {
                digits.parse::<usize>().ok().and_then(|k| k.checked_sub(1)).filter(|k| *k < n.max(1))
            }
        };
        if let Some(port) = port {
            let bond = ports.get(port).map(|p| p.bond);
            match (letter, kind) {
                ("e", _) | ("f", _) => {
                    return match bond {
                        Some(bond) => self.bond_variable(bond, letter == "e"),
                        // The missing bond has been reported.
                        None => Typed::unknown(self.nothing()),
                    };
                }
                ("q", Kind::C) | ("p", Kind::I) => {
                    let symbol = self.graph.symbol(self.pool, Variable::State(id, port as u32));
                    let domain = ports.get(port).and_then(|p| p.domain);
                    let dim = domain.map_or(Dim::Unknown, |d| {
                        let info = d.info();
                        Dim::Hard(if kind == Kind::C {
                            info.displacement_dimension()
                        } else {
                            info.momentum_dimension()
                        })
                    });
                    return Typed { expr: self.pool.var(symbol), dim };
                }
                _ => {}
            }
        }
        let element = self.graph.element(id);
        let help = match kind {
            Kind::Zero => format!(
                "a 0-junction has one effort, `{}.e`; for a flow read the element on the bond, or name the bond",
                element.name
            ),
            Kind::One => format!(
                "a 1-junction has one flow, `{}.f`; for an effort read the element on the bond, or name the bond",
                element.name
            ),
            Kind::C | Kind::I if several => {
                let letter = if kind == Kind::C { "q" } else { "p" };
                format!("it has e1 … e{n}, f1 … f{n}, {letter}1 … {letter}{n}")
            }
            _ if several => format!("it has e1 … e{n}, f1 … f{n}"),
            Kind::C => "a C has `e`, `f` and its state `q`".to_owned(),
            Kind::I => "an I has `e`, `f` and its state `p`".to_owned(),
            _ => "it has `e` and `f`".to_owned(),
        };
        let message = format!("`{}` has no variable `{text}`", element.name);
        self.report.push(Diagnostic::new(code::UNKNOWN_NAME, message).at(name.span).help(help));
        Typed::unknown(self.nothing())
    }

    fn bond_variable(&mut self, bond: BondId, effort: bool) -> Typed {
        let variable = if effort { Variable::Effort(bond) } else { Variable::Flow(bond) };
        let symbol = self.graph.symbol(self.pool, variable);
        let end = self.graph.bond(bond).to;
        let domain = self.graph.element(end.element).ports.get(end.port as usize).and_then(|p| p.domain);
        let dim = domain.map_or(Dim::Unknown, |d| {
            let info = d.info();
            Dim::Hard(if effort { info.effort_dimension } else { info.flow_dimension })
        });
        Typed { expr: self.pool.var(symbol), dim }
    }
}

/// Finds a declared name that a reader could not tell from this one: Greek and
/// Cyrillic letters that look Latin.
fn look_alike<'n>(name: &str, candidates: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let folded = fold(name);
    candidates.into_iter().find(|candidate| *candidate != name && fold(candidate) == folded)
}

fn fold(name: &str) -> String {
    const PAIRS: &[(&str, char)] = &[
        ("аα", 'a'),
        ("АΑ", 'A'),
        ("ВΒ", 'B'),
        ("с", 'c'),
        ("С", 'C'),
        ("е", 'e'),
        ("ЕΕ", 'E'),
        ("Η", 'H'),
        ("Н", 'H'),
        ("іι", 'i'),
        ("ІΙ", 'I'),
        ("ј", 'j'),
        ("Ј", 'J'),
        ("КΚ", 'K'),
        ("МΜ", 'M'),
        ("Ν", 'N'),
        ("оοσ", 'o'),
        ("ОΟ", 'O'),
        ("рρ", 'p'),
        ("РΡ", 'P'),
        ("ѕ", 's'),
        ("Ѕ", 'S'),
        ("ТΤ", 'T'),
        ("υ", 'u'),
        ("ν", 'v'),
        ("хχ", 'x'),
        ("ХΧ", 'X'),
        ("уγ", 'y'),
        ("УΥ", 'Y'),
        ("Ζ", 'Z'),
    ];
    name.chars()
        .map(|c| PAIRS.iter().find(|(twins, _)| twins.contains(c)).map_or(c, |(_, latin)| *latin))
        .collect()
}
