//! Names in expressions: parameters, inputs and signals, variables of elements
//! and bonds, paths into submodels, and what a misspelt name could have meant.

use paynter_base::{Diagnostic, code};
use paynter_language::ast::{self, Kind};

use super::Flattener;
use super::expression::{Context, Dim, Scope, Typed};
use super::program::{Part, Value};
use crate::dimension::Dimension;
use crate::domain::DomainInfo;
use crate::kind::{Class, Power, Stored, kind_of, with_article};
use crate::model::{BondId, ElementId, Variable, is_junction};

impl<'a> Flattener<'a, '_> {
    pub(super) fn lower_path(&mut self, scope: Scope<'_, 'a>, path: &'a ast::Path) -> Typed {
        if let [segment] = path.segments.as_slice()
            && segment.index.is_none()
        {
            return self.lower_name(scope, &segment.name);
        }
        match scope.context {
            Context::Structural | Context::Parameters | Context::OverTime => {
                // Parameters of submodels are decided after their parents', so they cannot be read here.
                let what = if scope.context == Context::OverTime { "an input" } else { "a parameter" };
                let message = format!("{what} can only be defined from parameters of its own model");
                let help = "a value that changes belongs in a `signal`; a submodel's parameter is given in its `use`";
                self.report.push(Diagnostic::new(code::MISPLACED, message).at(path.span).help(help));
                Typed::unknown(self.nothing())
            }
            Context::Everything | Context::Law(..) => self.lower_variable(scope.instance, scope.loops, path),
        }
    }

    fn lower_name(&mut self, scope: Scope<'_, 'a>, name: &'a ast::Name) -> Typed {
        let Scope { instance, loops, context } = scope;
        let text = name.text.as_str();
        if let Context::Law(element, ports, numbered) = context
            && let Some(typed) = self.local_variable(element, ports, numbered, text)
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
                    Dim::Number => Typed { dim: Dim::Bare, ..typed },
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
    fn local_variable(
        &mut self,
        element: ElementId,
        ports: usize,
        numbered: bool,
        text: &str,
    ) -> Option<Typed> {
        let (letter, digits) = text.split_at_checked(1)?;
        let port = match (ports, digits) {
            (1, "") => 0,
            (1, _) if !numbered => return None,
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
        let (symbol, dim) = match (letter, self.graph.element(element).stored()) {
            ("e", _) => (e, known(|d| d.effort_dimension)),
            ("f", _) => (f, known(|d| d.flow_dimension)),
            ("q", Some(Stored::Displacement)) => (q, known(DomainInfo::displacement_dimension)),
            ("p", Some(Stored::Momentum)) => (p, known(DomainInfo::momentum_dimension)),
            _ => return None,
        };
        Some(Typed { expr: self.pool.var(symbol), dim })
    }

    fn unknown_value(&mut self, model: usize, context: Context, name: &ast::Name) {
        let locals: &[&str] = match context {
            Context::Law(element, 1, _) => match self.graph.element(element).stored() {
                Some(Stored::Displacement) => &["e", "f", "q"],
                Some(Stored::Momentum) => &["e", "f", "p"],
                None => &["e", "f"],
            },
            _ => &[],
        };
        let names = self.infos[model].value_names().chain(locals.iter().copied());
        let names: Vec<&str> = names.take(self.comparisons + 1).collect();
        let help = if self.infos[model].parts.contains_key(name.text.as_str()) {
            format!("`{0}` is an element: read one of its variables, such as `{0}.e` or `{0}.f`", name.text)
        } else if self.infos[model].outputs.iter().any(|output| output.name.text == name.text) {
            format!(
                "`{0}` is an output, which nothing reads: write `signal` for it and `output … = {0}`",
                name.text
            )
        } else if let Some(help) = self.instance_meant(model, &name.text) {
            help
        } else {
            let declare = || format!("declare it: `param {} = …`", name.text);
            self.meant(&name.text, &names).unwrap_or_else(declare)
        };
        let message = format!("there is no parameter, input or signal `{}`", name.text);
        let diagnostic = Diagnostic::new(code::UNKNOWN_NAME, message).at(name.span).help(help);
        self.report.push_unknown(model, &name.text, diagnostic);
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
                return self.lower_name(Scope::new(owner, Context::Everything), &last.name);
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
    /// and the last segment if it is not an instance itself. Indices are read
    /// in the instance in which the path is written.
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
                    let help =
                        format!("write `{0}.e` or `{0}.f` for a variable of its own", segment.name.text);
                    let diagnostic =
                        Diagnostic::new(code::UNKNOWN_NAME, message).at(segments[k + 1].name.span);
                    self.report.push(diagnostic.help(help));
                } else {
                    self.unknown_part(model, &segment.name);
                }
                return None;
            };
            here = self.child(here, u, (instance, loops), segment)?;
        }
        Some((here, None))
    }

    /// The instance that a segment of a path names, whose index is read where the path is written.
    fn child(
        &mut self,
        instance: usize,
        u: usize,
        (writer, loops): (usize, &[(&'a str, i64)]),
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
                let i = self.structural_integer(writer, loops, index, "an index")?;
                if i < low || i >= low + count {
                    let (message, help) = match count {
                        0 => (
                            format!("`{}[{i}]` does not exist: the array is empty", name.text),
                            "give the array at least one member".to_owned(),
                        ),
                        _ => (
                            format!("`{}[{i}]` does not exist", name.text),
                            format!("the array runs from {low} to {}", low + count - 1),
                        ),
                    };
                    self.report.push(Diagnostic::new(code::BAD_ARRAY, message).at(index.span).help(help));
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
        let message = format!("the submodel `{}` has no value `{}`", info.ast.name.text, name.text);
        let names: Vec<&str> =
            info.value_names().chain(info.part_names()).take(self.comparisons + 1).collect();
        let general =
            "read a parameter or signal of the submodel, or `.e`, `.f`, `.q`, `.p` of one of its elements";
        let help = self.meant(&name.text, &names).unwrap_or_else(|| general.to_owned());
        self.report.push(Diagnostic::new(code::UNKNOWN_NAME, message).at(name.span).help(help));
    }

    pub(super) fn unknown_part(&mut self, model: usize, name: &ast::Name) {
        let info = &self.infos[model];
        let help = if info.values.contains_key(name.text.as_str()) {
            format!("`{}` is a parameter, input or signal, not an element", name.text)
        } else if name.text.strip_prefix('b').is_some_and(|digits| digits.parse::<u32>().is_ok()) {
            format!("to read a bond, name it where it is drawn: `x -> y as {}`", name.text)
        } else if let Some(help) = self.instance_meant(model, &name.text) {
            help
        } else {
            let names: Vec<&str> = info.part_names().take(self.comparisons + 1).collect();
            let declare = || format!("declare it, as in `1 {}`", name.text);
            self.meant(&name.text, &names).unwrap_or_else(declare)
        };
        let message = format!("there is no element `{}`", name.text);
        let diagnostic = Diagnostic::new(code::UNKNOWN_NAME, message).at(name.span).help(help);
        self.report.push_unknown(model, &name.text, diagnostic);
    }

    /// Says how the instance of an array is written whose name in results this is.
    fn instance_meant(&self, model: usize, name: &str) -> Option<String> {
        let (array, index) = name.rsplit_once('_')?;
        index.parse::<u32>().ok()?;
        let is_array = matches!(self.infos[model].parts.get(array), Some(Part::Use(_)));
        is_array.then(|| format!("an instance of the array `{array}` is written `{array}[{index}]`"))
    }

    /// Says which of the declared names was probably meant.
    fn meant(&mut self, name: &str, names: &[&str]) -> Option<String> {
        let affordable = self.comparisons >= names.len();
        let near = self.closest(name, names);
        if affordable && let Some(twin) = look_alike(name, names.iter().copied()) {
            return Some(format!(
                "`{twin}` looks the same but is written with other letters; type the name again"
            ));
        }
        near.map(|near| format!("did you mean `{near}`?"))
    }

    /// A port variable or state of an element, seen from outside: along the bond's arrow.
    fn element_variable(&mut self, id: ElementId, name: &ast::Name) -> Typed {
        let element = self.graph.element(id);
        let (kind, ports) = (element.kind, element.ports.clone());
        let text = name.text.as_str();
        let (letter, digits) = text.split_at_checked(1).unwrap_or(("", ""));
        let n = ports.len();
        let several = element.is_two_port() || n > 1;
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
            match (letter, kind_of(kind).class().stored()) {
                ("e", _) | ("f", _) => {
                    return match bond {
                        Some(bond) => self.bond_variable(bond, letter == "e"),
                        // The missing bond has been reported.
                        None => Typed::unknown(self.nothing()),
                    };
                }
                ("q", Some(stored @ Stored::Displacement)) | ("p", Some(stored @ Stored::Momentum)) => {
                    let symbol = self.graph.symbol(self.pool, Variable::State(id, port as u32));
                    let domain = ports.get(port).and_then(|p| p.domain);
                    let dim = domain.map_or(Dim::Unknown, |d| Dim::Hard(stored.dimension(d.info())));
                    return Typed { expr: self.pool.var(symbol), dim };
                }
                _ => {}
            }
        }
        let element = self.graph.element(id);
        let help = match element.class() {
            Class::Junction(Power::Effort) => format!(
                "a 0-junction has one effort, `{}.e`; for a flow read the element on the bond, or name the bond",
                element.name
            ),
            Class::Junction(Power::Flow) => format!(
                "a 1-junction has one flow, `{}.f`; for an effort read the element on the bond, or name the bond",
                element.name
            ),
            Class::Storage(stored) if several => {
                let letter = stored.letter();
                format!("it has e1 … e{n}, f1 … f{n}, {letter}1 … {letter}{n}")
            }
            _ if several => format!("it has e1 … e{n}, f1 … f{n}"),
            Class::Storage(stored) => {
                format!("{} has `e`, `f` and its state `{}`", with_article(kind), stored.letter())
            }
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
