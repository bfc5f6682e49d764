//! Statements about elements that are there: signals, outputs, initial
//! states, causality by hand.

use paynter_algebra::Expr;
use paynter_base::{Diagnostic, Span, closest, code};
use paynter_language::ast::{self, ExprKind, Statement};

use super::elements::ports_help;
use super::expression::{Context, Scope};
use super::program::Part;
use super::{Deferred, Flattener};
use crate::kind::{Stored, with_article};
use crate::limits::LOOP_MISTAKES;
use crate::model::{BondId, ElementId, Output, Override, Variable, is_storage};

impl<'a> Flattener<'a, '_> {
    /// Records the initial state `q`, `p`, `q1` … of a storage.
    pub(super) fn add_initial(
        &mut self,
        id: ElementId,
        ports: Option<usize>,
        state: &ast::Name,
        value: Expr,
        span: Span,
    ) {
        let element = self.graph.element(id);
        let n = ports.unwrap_or(element.ports.len()).max(1);
        let letter = element.stored().map_or('q', Stored::letter);
        let port = match state.text.strip_prefix(letter) {
            Some("") if n == 1 => Some(0),
            Some(digits) => digits.parse::<usize>().ok().and_then(|k| k.checked_sub(1)).filter(|k| *k < n),
            None => None,
        };
        let Some(port) = port.filter(|_| is_storage(element.kind)) else {
            let message = format!("`{}` has no state `{}`", element.name, state.text);
            let help = match (element.stored(), n) {
                (Some(_), 1) => format!("the state of {} is `{letter}`", with_article(element.kind)),
                (Some(_), n) => format!("its states are {letter}1 … {letter}{n}"),
                (None, _) => {
                    "only C and I have states; an integrator's initial value stands in `integral(x, x0)`"
                        .to_owned()
                }
            };
            self.report.push(Diagnostic::new(code::BAD_INITIAL, message).at(span).help(help));
            return;
        };
        if let Some((_, _, first)) = element.initial.iter().find(|(p, _, _)| *p == port) {
            let message = format!("the initial state of `{}` is given twice", element.name);
            let diagnostic =
                Diagnostic::new(code::DUPLICATE_NAME, message).at(span).label(*first, "first here");
            self.report.push(diagnostic.help("delete one of the two"));
            return;
        }
        self.graph.elements[id.index()].initial.push((port, value, span));
    }

    /// Lowers signals and outputs.
    pub(super) fn lower_quantities(&mut self) {
        for instance in 0..self.instances.len() {
            let model = self.instances[instance].model;
            for i in 0..self.infos[model].signals.len() {
                self.lower_signal(instance, i);
            }
            for i in 0..self.infos[model].outputs.len() {
                self.lower_output(instance, self.infos[model].outputs[i]);
            }
        }
    }

    fn lower_signal(&mut self, instance: usize, i: usize) {
        let model = self.instances[instance].model;
        let quantity = self.infos[model].signals[i];
        let variable = self.instances[instance].signals[i];
        let Some(value) = &quantity.value else { return };
        if let Some(unit) = &quantity.unit {
            self.read_unit(Some(unit));
        }
        self.integral_owner = Some((self.full_name(instance, &quantity.name.text), 0));
        match (variable, &value.kind) {
            (Variable::Integrator(k), ExprKind::Call(function, arguments)) => {
                let (rate, initial) = self.lower_integral(instance, function, arguments, value.span);
                let integrator = &mut self.graph.integrators[k as usize];
                (integrator.rate, integrator.initial) = (rate, initial);
            }
            (Variable::Signal(k), _) => {
                let typed = self.lower_number(Scope::new(instance, Context::Everything), value);
                self.graph.signals[k as usize].value = typed.expr;
            }
            _ => {}
        }
        self.integral_owner = None;
    }

    /// Lowers the arguments of `integral(x, x0)`.
    pub(super) fn lower_integral(
        &mut self,
        instance: usize,
        function: &'a ast::Name,
        arguments: &'a [ast::Expr],
        span: Span,
    ) -> (Expr, Expr) {
        let (rate, initial) = match arguments {
            [rate] => (rate, None),
            [rate, initial] => (rate, Some(initial)),
            _ => {
                let zero = self.wrong_count(function, 2, span).expr;
                return (zero, zero);
            }
        };
        let rate = self.lower_number(Scope::new(instance, Context::Everything), rate).expr;
        let initial = match initial {
            Some(initial) => self.lower_number(Scope::new(instance, Context::Parameters), initial).expr,
            None => self.pool.zero(),
        };
        (rate, initial)
    }

    fn lower_output(&mut self, instance: usize, quantity: &'a ast::Quantity) {
        let name = self.full_name(instance, &quantity.name.text);
        let Some(value) = &quantity.value else {
            let message = format!("the output `{name}` has no expression");
            let help = format!("write `output {} = ELEMENT.e`, or `.f`, `.q`, `.p`", quantity.name.text);
            self.report.push(Diagnostic::new(code::MISSING_VALUE, message).at(quantity.span).help(help));
            return;
        };
        let unit = self.read_unit(quantity.unit.as_ref());
        let typed = self.lower_number(Scope::new(instance, Context::Everything), value);
        self.check_declared(&unit, typed, value.span, &quantity.name.text);
        let doc = quantity.doc.clone();
        self.graph.outputs.push(Output { name, value: typed.expr, unit, doc, span: quantity.span });
    }

    fn lower_init(&mut self, instance: usize, loops: &[(&'a str, i64)], init: &'a ast::Init) {
        let value =
            self.lower_number(Scope { instance, loops, context: Context::Parameters }, &init.value).expr;
        let Some((state, parents)) = init.target.segments.split_last() else { return };
        if parents.is_empty() {
            let message = format!("`{}` is not a state", state.name.text);
            let help = "write `init NAME.q = …` for a C, `init NAME.p = …` for an I; \
                        an integrator's initial value stands in `integral(x, x0)`";
            self.report.push(Diagnostic::new(code::BAD_INITIAL, message).at(init.span).help(help));
            return;
        }
        if let Some(element) = self.find_element(instance, loops, parents) {
            self.add_initial(element, None, &state.name, value, init.span);
        }
    }

    /// The element a path names.
    fn find_element(
        &mut self,
        instance: usize,
        loops: &[(&'a str, i64)],
        segments: &'a [ast::Segment],
    ) -> Option<ElementId> {
        let (owner, rest) = self.descend(instance, loops, segments)?;
        let model = self.instances[owner].model;
        let name = match rest {
            Some(segment) => &segment.name,
            None => &segments.last()?.name,
        };
        match self.infos[model].parts.get(name.text.as_str()) {
            Some(&Part::Element(e)) if rest.is_some() => Some(self.instances[owner].elements[e]),
            _ => {
                self.unknown_part(model, name);
                None
            }
        }
    }

    /// Lowers `init`, `prefer` and `causality` statements.
    pub(super) fn lower_deferred(&mut self) {
        let errors = self.report.errors;
        for Deferred { instance, loops, statement } in std::mem::take(&mut self.deferred) {
            // A loop may repeat the same mistake a million times.
            if self.report.errors > errors + LOOP_MISTAKES {
                break;
            }
            match statement {
                Statement::Init(init) => self.lower_init(instance, &loops, init),
                Statement::Prefer(prefer) => self.lower_prefer(instance, &loops, prefer),
                Statement::Causality(causality) => self.lower_stroke(instance, &loops, causality),
                _ => {}
            }
        }
    }

    fn lower_prefer(&mut self, instance: usize, loops: &[(&'a str, i64)], prefer: &'a ast::Prefer) {
        let (segments, port) = match prefer.target.segments.split_last() {
            Some((last, rest)) if !rest.is_empty() && last.name.text.bytes().all(|b| b.is_ascii_digit()) => {
                (rest, last.name.text.parse::<usize>().ok().and_then(|k| k.checked_sub(1)))
            }
            _ => (prefer.target.segments.as_slice(), None),
        };
        let Some(element) = self.find_element(instance, loops, segments) else { return };
        let found = self.graph.element(element);
        if !is_storage(found.kind) {
            let message = format!(
                "{} `{}` stores nothing: only C and I are in integral or derivative causality",
                found.kind.word(),
                found.name
            );
            let help = "for other elements write `causality BOND effort_into NAME`";
            self.report.push(Diagnostic::new(code::BAD_OVERRIDE, message).at(prefer.span).help(help));
            return;
        }
        // After a mistake an element may lack ports; that has been told.
        let ports = found.ports.len();
        if let Some(port) = port.filter(|port| *port >= ports) {
            if !self.report.has_errors() {
                let message = format!("`{}` has no port {}", found.name, port + 1);
                let diagnostic = Diagnostic::new(code::UNKNOWN_PORT, message).at(prefer.span);
                self.report.push(diagnostic.help(ports_help(ports)));
            }
            return;
        }
        self.graph.overrides.push(Override::Prefer {
            element,
            port,
            integral: prefer.integral,
            span: prefer.span,
        });
    }

    fn lower_stroke(&mut self, instance: usize, loops: &[(&'a str, i64)], causality: &'a ast::Causality) {
        let Some(bond) = self.find_bond(instance, loops, &causality.bond) else { return };
        let Some(element) = self.find_element(instance, loops, &causality.element.segments) else { return };
        let ends = [self.graph.bond(bond).from.element, self.graph.bond(bond).to.element];
        if !ends.contains(&element) {
            let message = format!(
                "the bond `{}` does not touch `{}`",
                self.graph.bond(bond).name,
                self.graph.element(element).name
            );
            let names = ends.map(|end| self.graph.element(end).name.clone());
            let help = format!("it joins `{}` and `{}`", names[0], names[1]);
            self.report.push(Diagnostic::new(code::BAD_OVERRIDE, message).at(causality.span).help(help));
            return;
        }
        self.graph.overrides.push(Override::Stroke { bond, effort_into: element, span: causality.span });
    }

    /// The bond a path names: by its own name, by its number (`b3`), or as the only bond of an element.
    fn find_bond(
        &mut self,
        instance: usize,
        loops: &[(&'a str, i64)],
        path: &'a ast::Path,
    ) -> Option<BondId> {
        let (owner, rest) = self.descend(instance, loops, &path.segments)?;
        let model = self.instances[owner].model;
        let name = &rest.or(path.segments.last())?.name;
        match self.infos[model].parts.get(name.text.as_str()).copied() {
            Some(Part::Bond(b)) => return self.bonds_by_name[owner][b],
            Some(Part::Element(e)) if rest.is_some() => {
                let element = self.instances[owner].elements[e];
                if let [port] = self.graph.element(element).ports[..] {
                    return Some(port.bond);
                }
            }
            _ => {}
        }
        let full = self.full_name(owner, &name.text);
        if let Some(i) = self.graph.bonds.iter().position(|bond| bond.name == full) {
            return Some(BondId(i as u32));
        }
        let names = self.graph.bonds.iter().take(self.comparisons).map(|bond| bond.name.as_str());
        let help = match closest(&full, names) {
            Some(near) => format!("did you mean `{near}`? Name a bond with `a -> b as NAME`"),
            None => "name the bond where it is drawn: `a -> b as NAME`".to_owned(),
        };
        self.comparisons = self.comparisons.saturating_sub(self.graph.bonds.len());
        let message = format!("there is no bond `{}`", name.text);
        self.report.push(Diagnostic::new(code::UNKNOWN_NAME, message).at(path.span).help(help));
        None
    }
}
