//! Parameters: their values from the file, the `use` or a setting, in their
//! units, with tolerances and bounds.

use paynter_algebra::Expr;
use paynter_base::{Diagnostic, Remedy, Severity, Span, code};
use paynter_language::ast;

use super::expression::{Context, Dim, Scope, Typed};
use super::program::for_names;
use super::{Flattener, Setting};
use crate::dimension::{BadUnit, Unit, questioned, read_unit};
use crate::guard::{Guard, Sign};
use crate::model::{Derived, Parameter, ParameterDeclaration, Tolerance, Value, Variable, flat_name};

/// Arguments of a `use`, evaluated where it stands.
pub(super) type Arguments = Vec<(usize, Typed, Span)>;

/// What a parameter is to the graph.
enum Declared {
    Independent(Parameter),
    Derived(Derived),
}

impl<'a> Flattener<'a, '_> {
    pub(super) fn evaluate_params(&mut self, id: usize, arguments: &Arguments) {
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
        let errors = self.report.errors;
        let typed = match (setting, argument, written) {
            // The unit has been seen to where the argument was read.
            (None, Some((_, typed, _)), _) => *typed,
            (_, _, Some(value)) => {
                let typed = self.lower(Scope::new(id, context), value);
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
        let number = self.guarded_sign(value);
        if !number.is_finite() {
            let message = format!("parameter `{name}` has no finite value");
            let diagnostic = Diagnostic::new(code::BAD_VALUE, message).at(param.span);
            self.report.push(
                diagnostic.help("check for a division by zero, an overflow, or a root of a negative number"),
            );
        }
        // Of a value that is wrong nothing more is said.
        let is_sound = self.report.errors == errors;
        if self.pool.symbols(value).is_empty() {
            let tolerance = if is_sound { self.tolerance(id, param, &unit, number, &name) } else { None };
            let bounds = if is_sound { self.bounds(id, param, &unit, number, &name) } else { None };
            let symbol = self.pool.symbol(&flat_name(&name));
            let expr = self.pool.var(symbol);
            self.numbers.insert(symbol, number);
            let doc = param.doc.clone();
            let span = param.span;
            let given = argument.filter(|_| setting.is_none()).map(|(_, _, span)| *span);
            let declaration =
                ParameterDeclaration { name, symbol, unit, tolerance, bounds, doc, span, given };
            if is_sound && param.tolerance.as_ref().is_some_and(|tolerance| tolerance.percent) {
                // Percents of zero are a mistake.
                self.guarded_sign(expr);
            }
            let parameter =
                Parameter { declaration: declaration.into(), value: Value::Written(value), number };
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

    /// A number of which only the sign decides anything; where it is negative, messages show it.
    pub(super) fn guarded_sign(&mut self, expr: Expr) -> f64 {
        let number = self.numeric(expr);
        self.guards.push(match Sign::of(number) {
            Sign::Negative => Guard::Value(expr, number),
            sign => Guard::Sign(expr, sign),
        });
        number
    }

    /// A number that becomes part of the graph.
    fn guarded_value(&mut self, expr: Expr) -> f64 {
        let number = self.numeric(expr);
        self.guards.push(Guard::Value(expr, number));
        number
    }

    pub(super) fn take_setting(&mut self, name: &str) -> Option<&'a Setting> {
        if self.settings.is_empty() {
            return None;
        }
        let name = flat_name(name);
        let setting = self.settings.get(&name).copied()?;
        self.settings_used.insert(name);
        Some(setting)
    }

    /// Whether a parameter's new value is a number. Other parameters may not have theirs yet.
    fn is_plain(&mut self, setting: &'a Setting) -> bool {
        let mut name = None;
        for_names(&setting.value, &mut |found| {
            if found != "pi" {
                name = Some(found);
            }
        });
        if let Some(found) = name {
            let message = format!("the new value of `{}` reads `{found}`", setting.name);
            self.report.push(
                Diagnostic::new(code::BAD_SET, message).help(
                    Remedy::from("give a number, as in ").option("set", format!("{}=2.5", setting.name)),
                ),
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
            Ok(known) => {
                if let Some(BadUnit { span, message, help }) = questioned(unit) {
                    self.report.push(Diagnostic::new(code::LOOK_ALIKE_UNIT, message).at(span).help(help));
                }
                Some(known)
            }
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

    /// Reports a quantity that does not have the dimension its unit claims.
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
        name: &str,
    ) -> Option<Tolerance> {
        let tolerance = param.tolerance.as_ref()?;
        let typed = self.lower(Scope::new(id, Context::Parameters), &tolerance.value);
        let size = self.guarded_value(typed.expr);
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
                let mut diagnostic = Diagnostic::new(code::BAD_TOLERANCE, message).at(tolerance.span);
                // The file is right where only a new value is zero.
                let asked = self.settings_used.contains(&flat_name(name));
                if asked {
                    diagnostic.severity = Severity::Warning;
                }
                self.report.push(diagnostic.help("give an absolute tolerance, such as `±0.2`"));
                return asked.then_some(Tolerance::Absolute(0.0));
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
            let typed = self.lower(Scope::new(id, Context::Parameters), expr);
            self.guarded_value(typed.expr) * if typed.dim.is_bare() { factor } else { 1.0 }
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

    pub(super) fn arguments(&mut self, id: usize, instance: &'a ast::Use, target: usize) -> Arguments {
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
            let typed = self.lower(Scope::new(id, context), &argument.value);
            // A plain number is in the unit the submodel declares.
            let unit = self.infos[target].params[i].unit.as_ref();
            let unit = self.read_unit(unit);
            let typed = self.apply_unit(&unit, typed, argument.value.span, &argument.name.text);
            arguments.push((i, typed, argument.value.span));
        }
        arguments
    }
}
