//! Graphs made from the model's graph: incremental, linearised, sensitivity.

use std::collections::{BTreeMap, BTreeSet};

use crate::{LoadOptions, Model, NoAnswer, format};
use paynter_algebra::{Expr, Pool, Symbol};
use paynter_base::{Diagnostic, Diagnostics, MemoryWorld, Ticket, code};
use paynter_draw::draw::Diagram;
use paynter_equations::{Equations, Failure};
use paynter_graph::{BondGraph, ElementId, Variable};
use paynter_numerics::parametric::chosen_parameters;
use paynter_numerics::{Probes, Slope, Tables, operating_point, rough_laws};
use paynter_transform::{
    Begins, Form, Request, Sensitivity, Start, TextOptions, incremental, pseudo, to_text,
};
use paynter_view::json;

/// Which graph to make.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DerivedForm {
    /// Changes of efforts and flows that changes of parameters cause.
    #[default]
    Incremental,
    /// Changes that inputs cause.
    Linear,
    /// Sensitivities beside the variables, one weighted sum of all.
    Pseudo,
    /// Sensitivities beside the variables, to each parameter.
    PseudoEach,
}

/// What to make.
#[derive(Debug, Clone, Default)]
pub struct IncrementalOptions {
    /// Which graph.
    pub form: DerivedForm,
    /// The parameters that change; all where empty.
    pub only: Vec<String>,
    /// Each sink as an independent one behind a modulated transformer.
    pub split: bool,
    /// The nominal graph in the same model.
    pub pair: bool,
}

/// A model made from a model.
pub struct DerivedModel {
    /// Its text, laid out.
    pub text: String,
    /// The text, loaded.
    pub model: Model,
    /// Its picture as plain data.
    pub diagram: Option<Diagram>,
    /// What was found out on the way, about the original model.
    pub diagnostics: Diagnostics,
}

impl Model {
    /// Makes a graph from the model's graph and writes it as a model of its own, with nominal values at
    /// the operating point, or at the start where there is none or nothing has a slope.
    pub fn incremental(
        &mut self,
        options: &IncrementalOptions,
        ticket: &Ticket,
    ) -> Result<DerivedModel, NoAnswer> {
        match self.incremental_at(options, true, ticket) {
            Err(NoAnswer::Wrong(first)) => match self.incremental_at(options, false, ticket) {
                Err(NoAnswer::Wrong(_)) => Err(NoAnswer::Wrong(first)),
                other => other,
            },
            other => other,
        }
    }

    fn incremental_at(
        &mut self,
        options: &IncrementalOptions,
        steady: bool,
        ticket: &Ticket,
    ) -> Result<DerivedModel, NoAnswer> {
        if self.diagnostics.has_errors() {
            return Err(NoAnswer::Wrong(self.diagnostics.clone()));
        }
        let (point, kinked) = self.nominal_values(steady, ticket)?;
        let is_pseudo = matches!(options.form, DerivedForm::Pseudo | DerivedForm::PseudoEach);
        let start = if options.pair || is_pseudo { self.start(ticket)? } else { Start::default() };
        let (Some(graph), Some(causality)) = (self.graph.clone(), self.causality.clone()) else {
            return Err(NoAnswer::Wrong(self.diagnostics.clone()));
        };
        let parameters = match options.form {
            DerivedForm::Linear => Vec::new(),
            _ => self.finding(chosen_parameters(&graph, &options.only), Diagnostics::new())?,
        };
        let mut diagnostics = without_effect(&self.pool, &graph, &parameters, !options.only.is_empty());
        let value = |variable: Variable| point.get(&variable).copied();
        diagnostics.extend(kinked);
        let pool = &mut self.pool;
        let mut comments = comments(&graph.name, options);
        let derived = match options.form {
            DerivedForm::Incremental | DerivedForm::Linear => {
                let form = match options.form {
                    DerivedForm::Linear => Form::Linear,
                    _ => Form::Incremental,
                };
                let request = Request { form, parameters, split: options.split, pair: options.pair };
                let derived = incremental(pool, &graph, &causality, &request, &value, &start, ticket)
                    .map_err(|_| NoAnswer::Cancelled)?;
                comments.extend(told(&graph, derived.begins));
                derived.graph
            }
            DerivedForm::Pseudo | DerivedForm::PseudoEach => {
                let sensitivity = match options.form {
                    DerivedForm::Pseudo => Sensitivity::Weighted,
                    _ => Sensitivity::Each,
                };
                pseudo(pool, &graph, &causality, &parameters, sensitivity, &start, ticket)
                    .map_err(|_| NoAnswer::Cancelled)?
            }
        };
        let (text, model) = written(pool, &derived, comments);
        if model.diagnostics.has_errors() {
            return Err(NoAnswer::Wrong(self.refusal_of(&model)));
        }
        let diagram = if is_pseudo {
            self.diagram().map(|mut diagram| {
                diagram.title = derived.name.clone();
                diagram.make_sensitivity();
                diagram
            })
        } else {
            model.diagram()
        };
        Ok(DerivedModel { text, model, diagram, diagnostics })
    }

    /// Says why a derived graph is no model, in words about the original.
    fn refusal_of(&self, derived: &Model) -> Diagnostics {
        let mut diagnostics = self.diagnostics.clone();
        for found in derived.diagnostics.iter().filter(|found| found.is_error()) {
            let message = format!("the graph of increments cannot be used: {}", found.message);
            diagnostics.push(Diagnostic::new(found.code, message));
        }
        diagnostics
    }

    /// Nominal values of the variables: at the operating point where there is one, else with the
    /// states at their initial values and inputs at time zero. Says which laws have no slope there.
    fn nominal_values(
        &mut self,
        steady: bool,
        ticket: &Ticket,
    ) -> Result<(BTreeMap<Variable, f64>, Diagnostics), NoAnswer> {
        let (equations, _) = self.derive(ticket)?;
        let Some(graph) = &self.graph else { return Err(NoAnswer::Wrong(self.diagnostics.clone())) };
        let point = if steady && equations.states.len() <= STEADY_STATES {
            match operating_point(&mut self.pool, graph, &equations, &Tables::default(), ticket) {
                Ok(point) => Some((point.values, point.sizes)),
                Err(Failure::Wrong(_)) => None,
                Err(Failure::Cancelled) => return Err(NoAnswer::Cancelled),
            }
        } else {
            None
        };
        let (known, sizes) = point.unwrap_or_else(|| (start(&self.pool, graph, &equations), BTreeMap::new()));
        let number = |expr: Expr| self.pool.eval(expr, &|symbol| known.get(&symbol).copied()).ok();
        let mut values: BTreeMap<Variable, f64> = BTreeMap::new();
        for (k, input) in graph.inputs.iter().enumerate() {
            values.extend(known.get(&input.symbol).map(|value| (Variable::Input(k as u32), *value)));
        }
        for state in &equations.states {
            values.extend(known.get(&state.symbol).map(|value| (state.variable, *value)));
        }
        for dependent in &equations.dependent {
            let variable = Variable::State(dependent.element, dependent.port as u32);
            values.extend(number(dependent.value).map(|value| (variable, value)));
        }
        for assignment in &equations.assignments {
            ticket.check().map_err(|_| NoAnswer::Cancelled)?;
            values.extend(number(assignment.value).map(|value| (assignment.variable, value)));
        }
        for constraint in &equations.constraints {
            let variable = graph.variables.meaning(constraint.unknown);
            let value = known.get(&constraint.unknown);
            values.extend(variable.zip(value.copied()));
        }
        let mut diagnostics = Diagnostics::new();
        let probes = Probes::new(&self.pool, &equations, &known, &sizes);
        for (element, slope) in rough_laws(&self.pool, graph, &equations, &probes) {
            let element = graph.element(element);
            let how = match slope {
                Slope::Jump => "jumps",
                Slope::Kink => "has a kink",
                Slope::Infinite => "has an infinite slope",
            };
            let message = format!("the law of `{}` {how} at the nominal point", element.name);
            diagnostics.push(Diagnostic::new(code::KINK, message).at(element.span));
        }
        Ok((values, diagnostics))
    }
}

/// Models of more states are taken at their initial states.
const STEADY_STATES: usize = 300;

/// Values of parameters, inputs at time zero and initial states.
fn start(pool: &Pool, graph: &BondGraph, equations: &Equations) -> BTreeMap<Symbol, f64> {
    let mut known: BTreeMap<Symbol, f64> = BTreeMap::new();
    known.extend(graph.variables.symbol(Variable::Time).map(|time| (time, 0.0)));
    known.extend(graph.parameters.iter().map(|parameter| (parameter.symbol, parameter.number)));
    let inputs = graph.inputs.iter().map(|input| (input.symbol, input.value));
    for (symbol, expr) in inputs.chain(equations.states.iter().map(|state| (state.symbol, state.initial))) {
        if let Ok(value) = pool.eval(expr, &|symbol| known.get(&symbol).copied()) {
            known.insert(symbol, value);
        }
    }
    known
}

/// Says which of the parameters asked for by name nothing depends on.
fn without_effect(pool: &Pool, graph: &BondGraph, parameters: &[usize], named: bool) -> Diagnostics {
    let mut read: BTreeSet<Symbol> = BTreeSet::new();
    for expr in paynter_transform::expressions(graph) {
        read.extend(pool.symbols(expr));
    }
    let mut diagnostics = Diagnostics::new();
    for &place in parameters {
        let parameter = &graph.parameters[place];
        if !read.contains(&parameter.symbol) && named {
            let message =
                format!("nothing depends on `{}`, so its sensitivities are all zero", parameter.name);
            diagnostics.push(Diagnostic::new(code::NO_EFFECT, message).at(parameter.span));
        }
    }
    diagnostics
}

/// What stands above the text.
fn comments(name: &str, options: &IncrementalOptions) -> Vec<String> {
    let (what, names) = match (options.form, options.pair) {
        (DerivedForm::Linear, false) => (
            "linearised bond graph",
            "Delta_NAME: the change of an input or output. nom_NAME: a nominal variable.",
        ),
        (DerivedForm::Linear, true) => {
            ("bond graph and the linearised bond graph", "Delta_NAME: the change of NAME.")
        }
        (DerivedForm::Incremental, false) => (
            "incremental bond graph",
            "Delta_NAME: the change of a parameter or output. nom_NAME: a nominal variable. sink_NAME: what a change adds.",
        ),
        (DerivedForm::Incremental, true) => (
            "bond graph and the incremental bond graph",
            "Delta_NAME: the change of NAME. sink_NAME: what a change adds.",
        ),
        (DerivedForm::Pseudo, _) => (
            "sensitivity bond graph",
            "lambda_NAME: the weight of a parameter in the sums lambda_OUTPUT of sensitivities; s_NAME: what carries them.",
        ),
        (DerivedForm::PseudoEach, _) => (
            "sensitivity bond graph",
            "d_OUTPUT_d_NAME: the sensitivity of an output to a parameter; s_NAME_…: what carries it.",
        ),
    };
    vec![format!("The {what} of {name}."), names.to_owned()]
}

/// What is said of the initial changes that come from the start of the model.
fn told(graph: &BondGraph, Begins { mut known, mut unknown }: Begins) -> Vec<String> {
    let list = |ids: &mut Vec<ElementId>| {
        ids.sort_unstable();
        ids.dedup();
        let names = ids.iter().map(|id| graph.element(*id).name.clone());
        names.collect::<Vec<_>>().join(", ")
    };
    let mut lines = Vec::new();
    if !known.is_empty() {
        lines.push(format!(
            "Initial changes are derived from efforts and flows at t = 0, with inputs as they are here: {}.",
            list(&mut known)
        ));
    }
    if !unknown.is_empty() {
        lines.push(format!(
            "Initial changes are not known, because the model has no value at t = 0, and are left zero: {}.",
            list(&mut unknown)
        ));
    }
    lines
}

/// The text of a graph, laid out, and what it means; without units where they would not fit.
fn written(pool: &mut Pool, graph: &BondGraph, comments: Vec<String>) -> (String, Model) {
    let mut options = TextOptions { comments, without_units: false };
    let first = loaded(&to_text(pool, graph, &options));
    if !first.1.diagnostics.has_errors() {
        return first;
    }
    options.without_units = true;
    let second = loaded(&to_text(pool, graph, &options));
    if second.1.diagnostics.has_errors() { first } else { second }
}

fn loaded(text: &str) -> (String, Model) {
    let formatted = format("derived.bg", text.as_bytes());
    let text = if formatted.diagnostics.has_errors() { text.to_owned() } else { formatted.text };
    let world = MemoryWorld::new().with("derived.bg", text.as_bytes());
    let model = Model::load(&world, "derived.bg", &LoadOptions::default());
    (text, model)
}

impl DerivedModel {
    /// The derived model as data.
    pub fn document(&self, original: &Model) -> Option<json::Incremental> {
        let graph = self.model.graph.as_ref()?;
        let mut diagnostics = original.diagnostics.clone();
        diagnostics.extend(self.diagnostics.clone());
        Some(json::Incremental::new(
            &self.model.pool,
            graph,
            self.model.causality.as_ref(),
            &self.text,
            json::Diagnostic::list(&diagnostics, &original.sources, original.spelling),
        ))
    }
}
