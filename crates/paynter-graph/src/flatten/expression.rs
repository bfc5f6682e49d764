//! Expressions: names resolved, functions known, dimensions checked, turned
//! into algebra.

use paynter_algebra::{Cmp, Expr, Func, Rational};
use paynter_base::{Diagnostic, Span, WorldError, code, resolve_path};
use paynter_language::ast::{self, BinaryOp, ExprKind, UnaryOp};

use super::Flattener;
use crate::dimension::Dimension;
use crate::limits::LARGEST_INDEX;
use crate::model::{ElementId, Integrator, Table, Variable, flat_name};

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
    /// Everything, and e, f, q, p of the element itself, which has so many ports;
    /// e1 and f1 of a field with one port too.
    Law(ElementId, usize, bool),
}

/// Where an expression stands: in which instance, in which turns of loops, and what it may read there.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scope<'l, 'a> {
    pub instance: usize,
    pub loops: &'l [(&'a str, i64)],
    pub context: Context,
}

impl Scope<'_, '_> {
    /// Makes a scope outside of loops.
    pub fn new(instance: usize, context: Context) -> Self {
        Scope { instance, loops: &[], context }
    }
}

/// What is known of a dimension. Literal numbers may silently carry a unit
/// (`exp(e/0.025)`), so a product with one is known only softly: it is never
/// a reason for a diagnostic.
///
/// Where any unit takes part the value is in SI already; where none does, a
/// unit that follows the value is the value's own.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Dim {
    /// A plain number or something made of numbers.
    Number,
    /// Parameters without a unit take part, and none with one.
    Bare,
    /// Nothing is known, but something with a unit may take part.
    Unknown,
    /// Presumably this.
    Soft(Dimension),
    /// This, from declared units alone.
    Hard(Dimension),
}

impl Dim {
    /// Tells whether no unit takes part.
    pub fn is_bare(self) -> bool {
        matches!(self, Dim::Number | Dim::Bare)
    }

    /// Tells whether a unit that follows the value is the value's own. A ratio
    /// of quantities takes one like a number, but an angle is in radians already.
    pub fn takes(self, unit: Dimension) -> bool {
        let ratio = matches!(self, Dim::Hard(Dimension::NONE) | Dim::Soft(Dimension::NONE));
        self.is_bare() || (ratio && unit != Dimension::NONE)
    }

    fn times(self, other: Dim, combine: impl Fn(Dimension, Dimension) -> Dimension) -> Dim {
        match (self, other) {
            (Dim::Number, Dim::Number) => Dim::Number,
            (Dim::Number | Dim::Bare, Dim::Number | Dim::Bare) => Dim::Bare,
            (Dim::Unknown | Dim::Bare, _) | (_, Dim::Unknown | Dim::Bare) => Dim::Unknown,
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

    pub fn unknown(expr: Expr) -> Typed {
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
    pub(super) fn lower_number(&mut self, scope: Scope<'_, 'a>, expr: &'a ast::Expr) -> Typed {
        let typed = self.lower(scope, expr);
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
        let typed = self.lower(Scope::new(instance, context), expr);
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
        let before = self.report.errors;
        let typed = self.lower(Scope { instance, loops, context: Context::Structural }, expr);
        if self.report.errors > before {
            return None;
        }
        let value = self.pool.as_rational(typed.expr).cloned();
        let integer = value.filter(|v| v.is_int()).and_then(|v| i64::try_from(v.numerator().clone()).ok());
        let Some(integer) = integer else {
            let mut shown = self.pool.brief(typed.expr);
            if shown.len() > 40 {
                shown = "something else".to_owned();
            }
            let message = format!("{what} must be a whole number, but it is {shown}");
            self.report.push(Diagnostic::new(code::BAD_ARRAY, message).at(expr.span));
            return None;
        };
        // Keeps sums and differences of bounds far from overflow.
        if integer.abs() > LARGEST_INDEX {
            let message = format!("{what} is {integer}, which is too large");
            self.report.push(Diagnostic::new(code::TOO_MANY_ELEMENTS, message).at(expr.span));
            return None;
        }
        Some(integer)
    }

    /// Lowers any expression. Nesting is limited by the parser.
    pub(super) fn lower(&mut self, scope: Scope<'_, 'a>, expr: &'a ast::Expr) -> Typed {
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
            ExprKind::Path(path) => self.lower_path(scope, path),
            ExprKind::Unary(op, operand) => {
                let typed = self.lower(scope, operand);
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
            ExprKind::Binary(op, left, right) => self.lower_binary(scope, *op, left, right, expr.span),
            ExprKind::Call(function, arguments) => self.lower_call(scope, function, arguments, expr.span),
            ExprKind::Error => Typed::unknown(self.nothing()),
        }
    }

    fn lower_binary(
        &mut self,
        scope: Scope<'_, 'a>,
        op: BinaryOp,
        left: &'a ast::Expr,
        right: &'a ast::Expr,
        span: Span,
    ) -> Typed {
        let a = self.lower(scope, left);
        let b = self.lower(scope, right);
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
                // In `1/k` the 1 is a pure number; other literals may carry a unit unseen.
                let pure = a.expr == self.pool.one() && matches!(b.dim, Dim::Hard(_));
                let above = if pure { Dim::Hard(Dimension::NONE) } else { a.dim };
                let quotient = self.pool.div(a.expr, b.expr);
                if self.pool.as_int(a.expr).is_some() && self.pool.as_int(b.expr).is_some() {
                    self.pool.keep_fraction(quotient);
                }
                Typed { expr: quotient, dim: above.times(b.dim, Dimension::over) }
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
            Dim::Bare => Dim::Bare,
            Dim::Unknown => Dim::Unknown,
            Dim::Soft(d) => power(d).map_or(Dim::Unknown, Dim::Soft),
            Dim::Hard(d) => power(d).map_or(Dim::Unknown, Dim::Hard),
        }
    }

    /// The common dimension of two operands; reports where both are sure and differ.
    fn same_dimension(&mut self, a: Typed, b: Typed, span: Span, verb: &str) -> Dim {
        match (a.dim, b.dim) {
            (Dim::Hard(x), Dim::Hard(y)) if x != y => {
                let message = format!("{x} and {y} cannot be {verb}");
                let help = format!(
                    "give both one unit, or multiply by what is missing: the first is in {} times the unit of the second",
                    x.over(y)
                );
                self.report.push(Diagnostic::new(code::UNIT_MISMATCH, message).at(span).help(help));
                Dim::Unknown
            }
            (Dim::Hard(d), _) | (_, Dim::Hard(d)) => Dim::Hard(d),
            (Dim::Soft(d), _) | (_, Dim::Soft(d)) => Dim::Soft(d),
            (Dim::Unknown, _) | (_, Dim::Unknown) => Dim::Unknown,
            (Dim::Bare, _) | (_, Dim::Bare) => Dim::Bare,
            (Dim::Number, Dim::Number) => Dim::Number,
        }
    }

    fn lower_call(
        &mut self,
        scope: Scope<'_, 'a>,
        function: &'a ast::Name,
        arguments: &'a [ast::Expr],
        span: Span,
    ) -> Typed {
        if let Some(&(_, func, least, most)) = FUNCTIONS.iter().find(|f| f.0 == function.text) {
            if arguments.len() < least || arguments.len() > most {
                return self.wrong_count(function, least, span);
            }
            let typed: Vec<Typed> = arguments.iter().map(|arg| self.lower_number(scope, arg)).collect();
            let exprs: Vec<Expr> = typed.iter().map(|t| t.expr).collect();
            let dim = self.function_dimension(func, &typed, arguments, function);
            return Typed { expr: self.pool.call(func, &exprs), dim };
        }
        match function.text.as_str() {
            "if" => {
                let [condition, yes, no] = arguments else { return self.wrong_count(function, 3, span) };
                let test = self.lower(scope, condition);
                let test = self.require_condition(test.expr, condition);
                let a = self.lower_number(scope, yes);
                let b = self.lower_number(scope, no);
                let dim = self.same_dimension(a, b, span, "alternatives");
                Typed { expr: self.pool.select(test, a.expr, b.expr), dim }
            }
            "step" => {
                let [start] = arguments else { return self.wrong_count(function, 1, span) };
                if !self.time_allowed(scope.context, span) {
                    return Typed::unknown(self.nothing());
                }
                let on = self.after(scope, function, start);
                let (one, zero) = (self.pool.one(), self.pool.zero());
                Typed::number(self.pool.select(on, one, zero))
            }
            "pulse" => {
                let [start, stop] = arguments else { return self.wrong_count(function, 2, span) };
                if !self.time_allowed(scope.context, span) {
                    return Typed::unknown(self.nothing());
                }
                let on = self.after(scope, function, start);
                let off = self.after(scope, function, stop);
                let not_off = self.pool.not(off);
                let inside = self.pool.and(on, not_off);
                let (one, zero) = (self.pool.one(), self.pool.zero());
                Typed::number(self.pool.select(inside, one, zero))
            }
            "table" => self.lower_table(scope.context, function, arguments, span),
            "integral" if self.integral_owner.is_some() => {
                self.nested_integral(scope.instance, function, arguments, span)
            }
            "integral" => {
                let diagnostic =
                    Diagnostic::new(code::MISPLACED, "`integral` stands outside a signal").at(span);
                self.report.push(diagnostic.help("write `signal x = integral(…, x0)` and use `x` here"));
                Typed::unknown(self.nothing())
            }
            _ => {
                let names: Vec<&str> = FUNCTIONS.iter().map(|f| f.0).chain(SPECIAL.iter().copied()).collect();
                let help = match function.text.as_str() {
                    "log" => "write `ln` for the natural logarithm, `log10` for the common one".to_owned(),
                    "arctan" => "write `atan`".to_owned(),
                    "der" | "diff" => {
                        "there is no derivative: take the flow of a C or the effort of an I".to_owned()
                    }
                    other => match self.closest(other, &names) {
                        Some(near) => format!("did you mean `{near}`?"),
                        None => format!("the functions are: {}", names.join(", ")),
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
            // A submodel may be called as the signal is, and have values of its own.
            Some((signal, count)) => loop {
                *count += 1;
                let name = if *count == 1 {
                    format!("{signal}.integral")
                } else {
                    format!("{signal}.integral{count}")
                };
                if !self.pool.knows(&flat_name(&name)) {
                    break name;
                }
            },
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
    fn after(&mut self, scope: Scope<'_, 'a>, function: &ast::Name, start: &'a ast::Expr) -> Expr {
        let from = self.lower_number(scope, start).expr;
        let time = self.pool.var(self.time);
        let since = self.pool.sub(time, from);
        if self.pool.depends_on(from, self.time) && !self.pool.depends_on(since, self.time) {
            let message = format!("`{}` takes a time, and this one moves along with `t`", function.text);
            let diagnostic = Diagnostic::new(code::MOVING_TIME, message).at(start.span);
            self.report.push(diagnostic.help("write the time of the change alone, as in `step(1)`"));
        }
        self.pool.compare(Cmp::Ge, time, from)
    }

    pub(super) fn time_allowed(&mut self, context: Context, span: Span) -> bool {
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
            "step" => "step(t0)".to_owned(),
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
            let message = "a table is given by a file name in quotation marks and the heading of a column";
            let diagnostic = Diagnostic::new(code::BAD_ARGUMENT, message).at(span);
            self.report.push(diagnostic.help("write `table(\"file.csv\", column)`"));
            return Typed::unknown(self.nothing());
        };
        let from = self.paths.get(file.span.file.0 as usize).map_or("", String::as_str);
        let path =
            match resolve_path(from, path) {
                Ok(path) => path,
                Err(WorldError::NotFound) => {
                    let diagnostic =
                        Diagnostic::new(code::BAD_ARGUMENT, "the table has no file name").at(file.span);
                    self.report.push(diagnostic.help("write `table(\"file.csv\", column)`"));
                    return Typed::unknown(self.nothing());
                }
                Err(_) => {
                    let message = format!("the table `{path}` is outside the model's folder tree");
                    let diagnostic = Diagnostic::new(code::IMPORT_OUTSIDE, message).at(file.span);
                    self.report.push(diagnostic.help(
                        "move the file below the model's folder, and write its path from here with `/`",
                    ));
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
}
