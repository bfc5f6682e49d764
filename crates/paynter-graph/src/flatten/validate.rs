//! Checks of the whole graph that no single statement shows.

use paynter_algebra::{Expr, Symbol};
use paynter_base::{Diagnostic, Remedy, Span, code};
use paynter_language::ast::Kind;

use super::Flattener;
use super::order::{Sets, after_needs, describe_cycle};
use super::program::Value;
use crate::guard::{Guard, is_indefinite};
use crate::kind::{Stored, kind_of};
use crate::model::{ElementId, Equation, Law, Variable, is_storage};

impl Flattener<'_, '_> {
    pub(super) fn validate(&mut self) {
        self.warn_unused();
        self.refuse_signal_cycles();
        if self.report.has_errors() {
            return;
        }
        if self.graph.elements.is_empty() {
            let span = self.infos[self.instances[0].model].ast.name.span;
            let message = format!("the model `{}` has no elements", self.graph.name);
            let help = Remedy::marked("add elements and bonds, or start from {ask examples}");
            self.report.push(Diagnostic::new(code::EMPTY, message).at(span).help(help));
        }
        for id in self.graph.element_ids() {
            if is_storage(self.graph.element(id).kind) {
                self.check_storage(id);
            }
        }
        self.warn_disconnected();
    }

    fn warn_unused(&mut self) {
        let mut used_models = vec![false; self.infos.len()];
        for instance in &self.instances {
            used_models[instance.model] = true;
        }
        for (info, _) in self.infos.iter().zip(used_models).filter(|(_, used)| *used) {
            // A name that was refused as reserved or taken has been told already.
            for (i, param) in info.params.iter().enumerate() {
                if info.param_used[i] || info.values.get(param.name.text.as_str()) != Some(&Value::Param(i)) {
                    continue;
                }
                let message = format!("the parameter `{}` is never used", param.name.text);
                self.report.push(Diagnostic::new(code::UNUSED_PARAMETER, message).at(param.name.span));
            }
            for (i, input) in info.inputs.iter().enumerate() {
                if info.input_used[i] || info.values.get(input.name.text.as_str()) != Some(&Value::Input(i)) {
                    continue;
                }
                let message = format!("the input `{}` is never used", input.name.text);
                self.report.push(Diagnostic::new(code::UNUSED_PARAMETER, message).at(input.name.span));
            }
        }
    }

    /// Algebraic signals may read one another, but not in a circle.
    fn refuse_signal_cycles(&mut self) {
        let reads: Vec<Vec<usize>> = self
            .graph
            .signals
            .iter()
            .map(|signal| {
                let symbols = self.pool.symbols(signal.value);
                symbols
                    .into_iter()
                    .filter_map(|symbol| match self.graph.variables.meaning(symbol) {
                        Some(Variable::Signal(i)) => Some(i as usize),
                        _ => None,
                    })
                    .collect()
            })
            .collect();
        after_needs(&reads, |cycle| {
            let path = describe_cycle(cycle, |s| self.graph.signals[s].name.as_str());
            let message = format!("signals defined by one another: {path}");
            let span = self.graph.signals[cycle[0]].span;
            self.report.push(Diagnostic::new(code::CYCLIC_DEFINITION, message).at(span));
        });
    }

    fn check_storage(&mut self, id: ElementId) {
        let element = self.graph.element(id);
        let (kind, name, span) = (element.kind, element.name.clone(), element.span);
        let law = element.law.clone();
        let expressions: Vec<Expr> = match &law {
            Law::Value(value) => vec![*value],
            Law::Matrix(rows) => rows.iter().flatten().copied().collect(),
            Law::Equations(equations) => equations.iter().flat_map(|e| [e.left, e.right]).collect(),
            _ => return,
        };
        if expressions.iter().any(|&e| self.is_modulated(e)) {
            let message = format!(
                "{} `{name}` is modulated by a signal, so energy enters or leaves it unseen",
                kind.word()
            );
            self.report.push(Diagnostic::new(code::MODULATED_STORAGE, message).at(span));
        }
        match &law {
            Law::Value(value) => {
                let number = self.guarded_sign(*value);
                if number < 0.0 {
                    let message =
                        format!("{} `{name}` is negative ({number}): it stores negative energy", kind.word());
                    self.report.push(
                        Diagnostic::new(code::INDEFINITE_FIELD, message)
                            .at(span)
                            .help("check its sign: a physical store is positive"),
                    );
                }
            }
            Law::Matrix(rows) => self.check_matrix(kind, &name, span, rows),
            Law::Equations(equations) => self.check_laws(id, equations),
            _ => {}
        }
    }

    /// Stored energy is a state function if the Jacobian of outputs by states (or of states by
    /// outputs) is symmetric, and positive if it is definite.
    fn check_laws(&mut self, id: ElementId, equations: &[Equation]) {
        let element = self.graph.element(id);
        let (kind, name, span, n) = (element.kind, element.name.clone(), element.span, element.ports.len());
        let locals: Vec<[Symbol; 4]> = (0..n).map(|k| self.graph.locals.port(n, k)).collect();
        // e f q p: what the law relates.
        let (output, state) = match element.stored() {
            Some(Stored::Displacement) => (0, 2),
            _ => (1, 3),
        };
        for (of, by) in [(output, state), (state, output)] {
            let solved = |symbols: &[Symbol; 4]| {
                let law = equations.iter().find(|law| law.solved_for == Some(symbols[of]))?;
                let alone = self.pool.as_symbol(law.left) == Some(symbols[of]);
                Some(if alone { law.right } else { law.left })
            };
            let Some(explicit) = locals.iter().map(solved).collect::<Option<Vec<Expr>>>() else { continue };
            let rows: Vec<Vec<Expr>> = explicit
                .iter()
                .map(|law| locals.iter().map(|symbols| self.pool.diff(*law, symbols[by])).collect())
                .collect();
            self.check_matrix(kind, &name, span, &rows);
        }
    }

    fn check_matrix(&mut self, kind: Kind, name: &str, span: Span, rows: &[Vec<Expr>]) {
        for i in 0..rows.len() {
            for j in 0..i {
                if rows[i][j] != rows[j][i] && !self.pool.equal(rows[i][j], rows[j][i]) {
                    self.warn_reciprocity(kind, name, span, i, j);
                    return;
                }
            }
        }
        let numbers: Vec<Vec<f64>> =
            rows.iter().map(|row| row.iter().map(|&e| self.numeric(e)).collect()).collect();
        let indefinite = is_indefinite(&numbers);
        self.guards.push(Guard::Indefinite(rows.to_vec(), indefinite));
        if indefinite {
            let message = match rows.len() {
                1 => format!("{} `{name}` stores negative energy", kind.word()),
                _ => format!(
                    "the field `{name}` can store negative energy: its matrix is not positive definite"
                ),
            };
            self.report.push(Diagnostic::new(code::INDEFINITE_FIELD, message).at(span));
        }
    }

    fn warn_reciprocity(&mut self, kind: Kind, name: &str, span: Span, i: usize, j: usize) {
        let (e, q) = match kind_of(kind).class().stored() {
            Some(Stored::Displacement) => ("e", "q"),
            _ => ("f", "p"),
        };
        let (j, i) = (j + 1, i + 1);
        let (a, b) = (format!("∂{e}{j}/∂{q}{i}"), format!("∂{e}{i}/∂{q}{j}"));
        let message = format!(
            "the field `{name}` is not reciprocal ({a} differs from {b}), so its energy is no function of its state"
        );
        let help =
            format!("make {a} and {b} equal (a symmetric matrix): both are second derivatives of one energy");
        self.report.push(Diagnostic::new(code::NOT_RECIPROCAL, message).at(span).help(help));
    }

    /// Whether an expression reads anything but parameters and the element's own variables.
    fn is_modulated(&self, expr: Expr) -> bool {
        let modulates =
            |symbol| !matches!(self.graph.variables.meaning(symbol), None | Some(Variable::Parameter(_)));
        match self.pool.as_symbol(expr) {
            Some(symbol) => modulates(symbol),
            None => self.pool.symbols(expr).into_iter().any(modulates),
        }
    }

    /// Warns of separate parts; parts that read each other's variables or the same signals belong together.
    fn warn_disconnected(&mut self) {
        let elements = self.graph.elements.len();
        let signals = self.graph.signals.len();
        let integrators = self.graph.integrators.len();
        let mut sets = Sets::new(elements + signals + integrators + self.graph.inputs.len());
        for bond in &self.graph.bonds {
            sets.join(bond.from.element.index(), bond.to.element.index());
        }
        if (0..elements).filter(|&i| sets.find(i) == i).count() < 2 {
            return;
        }
        let mut reads: Vec<(usize, Expr)> = Vec::new();
        for (i, element) in self.graph.elements.iter().enumerate() {
            reads.extend(element.law.expressions().into_iter().map(|expr| (i, expr)));
        }
        reads.extend(self.graph.signals.iter().enumerate().map(|(k, s)| (elements + k, s.value)));
        reads
            .extend(self.graph.integrators.iter().enumerate().map(|(k, s)| (elements + signals + k, s.rate)));
        for (reader, expr) in reads {
            for symbol in self.pool.symbols(expr) {
                let read = match self.graph.variables.meaning(symbol) {
                    Some(Variable::Effort(bond) | Variable::Flow(bond)) => {
                        self.graph.bond(bond).to.element.index()
                    }
                    Some(Variable::State(element, _)) => element.index(),
                    Some(Variable::Signal(k)) => elements + k as usize,
                    Some(Variable::Integrator(k)) => elements + signals + k as usize,
                    Some(Variable::Input(k)) => elements + signals + integrators + k as usize,
                    _ => continue,
                };
                sets.join(reader, read);
            }
        }
        let mut roots: Vec<usize> = Vec::new();
        for i in 0..elements {
            let root = sets.find(i);
            if !roots.contains(&root) {
                roots.push(root);
                if roots.len() > 5 {
                    break;
                }
            }
        }
        if roots.len() > 1 {
            let names: Vec<String> = roots
                .iter()
                .take(5)
                .filter_map(|&r| self.graph.elements.get(r))
                .map(|e| format!("`{}`", e.name))
                .collect();
            let span = self.graph.elements[roots[1].min(elements - 1)].span;
            let more = if roots.len() > 5 { ", …" } else { "" };
            let message = format!(
                "the model falls into parts that are not connected: those of {}{more}",
                names.join(", ")
            );
            self.report.push(Diagnostic::new(code::DISCONNECTED, message).at(span));
        }
    }
}
