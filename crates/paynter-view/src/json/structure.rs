//! The answer of `paynter structure`.

use super::equations::{Definition, Matrix, Writing};
use super::{Diagnostic, Point, pairs};
use crate::units::state_unit;
use paynter_algebra::{Expr, Pool};
use paynter_base::number::significant;
use paynter_equations as eq;
use paynter_graph::{BondGraph, ElementId, flat_name, is_junction};
use paynter_numerics as num;
use paynter_numerics::structure::{InvariantZeros, JudgedAt, StructureAnalysis};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// What the structure of a model says about it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Structure {
    /// Whether the model has no error.
    pub ok: bool,
    /// The model's name.
    pub model: String,
    /// The independent states.
    pub states: Vec<String>,
    /// The inputs.
    pub inputs: Vec<String>,
    /// The outputs.
    pub outputs: Vec<String>,
    /// The number of independent states.
    pub order: usize,
    /// The rank of the state matrix for almost all parameters: the storages that can take derivative causality.
    pub rank: usize,
    /// Whether inputs move all states, by structure.
    pub controllable: bool,
    /// Whether outputs show all states, by structure.
    pub observable: bool,
    /// Controllability in full, with the test at nominal values.
    pub controllability: Reach,
    /// Observability in full, with the test at nominal values.
    pub observability: Reach,
    /// Causal paths with the fewest integrations from inputs to states and from states to outputs.
    pub paths: Vec<CausalPath>,
    /// How many further paths are not listed because they would fill pages.
    pub paths_left_out: usize,
    /// How often each output must be differentiated until an input shows in it.
    pub relative_degree: Vec<RelativeDegree>,
    /// What still moves while an input holds an output at zero; `null` where it would be too long to be
    /// written out.
    pub zero_dynamics: Option<Vec<ZeroDynamics>>,
    /// Combinations of states that keep their values with the inputs at time zero, of models up to 1000 states.
    pub conserved: Vec<ConservedQuantity>,
    /// The signal-flow graph.
    pub signal_flow: SignalFlow,
    /// Named sub-expressions that the strings use, in order, where they would be too long otherwise.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub definitions: Vec<Definition>,
    /// The junction structure matrix, where it is asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub junction_structure: Option<JunctionStructure>,
    /// The operating point of a nonlinear model: what states, inputs and unknowns in the strings stand for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operating_point: Option<Point>,
    /// The answer in the notation that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub written: Option<String>,
    /// All findings by place.
    pub diagnostics: Vec<Diagnostic>,
}

/// A combination of states that keeps its value.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ConservedQuantity {
    /// The combination: `A.q + 2*B.q`.
    pub sum: String,
    /// Its value at the initial state, in SI.
    pub total: f64,
    /// The unit of the sum, where all of its states have one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_unit: Option<String>,
}

/// Whether all states are in reach of the inputs, or of the outputs.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Reach {
    /// By structure: a causal path to every state, and full rank.
    pub structural: bool,
    /// At nominal values; `null` where that is not decided.
    pub nominal: Option<bool>,
    /// States without a causal path from any input (to any output).
    pub unreached: Vec<String>,
    /// The rank of [A B] (of A over C) for almost all parameters.
    pub rank: usize,
    /// States of storages that keep a combination which no input moves (no output shows).
    pub stuck: Vec<String>,
    /// The dimension of the controllable space (of what can be observed) at nominal values.
    pub dimension: Option<usize>,
    /// Combinations of states, by factor, that evolve on their own (changes that no output shows) at nominal
    /// values.
    pub combinations: Vec<BTreeMap<String, String>>,
    /// The eigenvalues of these combinations, as real and imaginary part.
    pub eigenvalues: Vec<[f64; 2]>,
    /// The reasons in words.
    pub reasons: Vec<String>,
}

/// A causal path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CausalPath {
    /// An input or a state.
    pub from: String,
    /// A state or an output.
    pub to: String,
    /// How often a signal is integrated on the way.
    pub integrations: usize,
    /// The elements passed, without junctions.
    pub elements: Vec<String>,
    /// The variables passed.
    pub variables: Vec<String>,
}

/// The relative degree from one input to one output.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RelativeDegree {
    /// The output.
    pub output: String,
    /// The input.
    pub input: String,
    /// For almost all parameters; `null` where the input never shows, negative where its derivatives do.
    pub degree: Option<i64>,
    /// The integrations on the shortest causal path; `null` where there is none.
    pub shortest_path: Option<i64>,
    /// At nominal values.
    pub nominal: Option<i64>,
}

/// The zero dynamics from one input to one output.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ZeroDynamics {
    /// The output.
    pub output: String,
    /// The input.
    pub input: String,
    /// The polynomial of the invariant zeros; `0` where the input does not show at all.
    pub polynomial: String,
    /// The invariant zeros at nominal values, as real and imaginary part.
    pub zeros: Vec<[f64; 2]>,
    /// Whether all of them lie in the open left half plane.
    pub minimum_phase: Option<bool>,
}

/// A signal-flow graph.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SignalFlow {
    /// Inputs, states, efforts, flows, signals, outputs.
    pub nodes: Vec<SignalNode>,
    /// Direct dependences.
    pub edges: Vec<SignalEdge>,
}

/// A node of a signal-flow graph.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SignalNode {
    /// Its name.
    pub name: String,
    /// What it is.
    pub kind: SignalKind,
    /// The element that computes it, where one does.
    pub element: Option<String>,
}

/// What a node of a signal-flow graph is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SignalKind {
    /// An input.
    Input,
    /// A state that is integrated.
    State,
    /// The state of a dependent storage.
    Dependent,
    /// A bond's effort.
    Effort,
    /// A bond's flow.
    Flow,
    /// A signal.
    Signal,
    /// An output.
    Output,
}

/// An edge of a signal-flow graph.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SignalEdge {
    /// The name of the source.
    pub from: String,
    /// The name of the target.
    pub to: String,
    /// The gain, over parameters and s.
    pub gain: String,
}

/// The junction structure: what it returns to the ports round it for what they give out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct JunctionStructure {
    /// The ports, in the order of rows and columns.
    pub ports: Vec<JunctionPort>,
    /// The matrix S: row variables = S · column variables.
    #[serde(rename = "S")]
    pub s: Matrix,
    /// Whether σ S is skew-symmetric, σ being `sign`: no power is lost or made.
    pub conserves_power: bool,
}

/// A port round the junction structure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct JunctionPort {
    /// The element.
    pub element: String,
    /// Its field.
    pub field: JunctionField,
    /// The variable that it takes from the structure: its row.
    pub row: String,
    /// The variable that it gives to the structure: its column.
    pub column: String,
    /// 1 where the bond's arrow points into the element, −1 where it points away.
    pub sign: i64,
}

/// The fields round the junction structure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum JunctionField {
    /// Storages in integral causality.
    Integral,
    /// Storages in derivative causality.
    Derivative,
    /// Resistors, switches, sources of entropy.
    Resistive,
    /// Sources.
    Source,
    /// Detectors.
    Detector,
}

impl Structure {
    /// Writes down what the structure of a model says, with the junction structure where it was asked for.
    pub fn new(
        pool: &mut Pool,
        graph: &BondGraph,
        linear: &num::LinearModel,
        found: &StructureAnalysis,
        junctions: Option<&eq::JunctionStructure>,
        conserved: &[num::Conserved],
        diagnostics: Vec<Diagnostic>,
    ) -> Structure {
        let equations = &linear.equations;
        let structure = &found.structure;
        let junction_structure = junctions.map(|found| JunctionStructure::new(pool, graph, found));
        let zero_dynamics = found.zero_dynamics.as_ref();
        let polynomials: Vec<Expr> = zero_dynamics
            .iter()
            .flat_map(|list| list.iter().map(|zeros| zeros.dynamics.polynomial))
            .collect();
        let gains: Vec<Expr> = found.flow.edges.iter().map(|edge| edge.gain).collect();
        let writing = Writing::of_expanded(pool, &polynomials, &gains);
        let zeros = |zeros: &InvariantZeros| ZeroDynamics::new(pool, &writing, equations, zeros);
        let zero_dynamics = zero_dynamics.map(|list| list.iter().map(zeros).collect());
        Structure {
            ok: true,
            model: graph.name.clone(),
            states: equations.states.iter().map(|state| state.name.clone()).collect(),
            inputs: equations.inputs.iter().map(|input| input.name.clone()).collect(),
            outputs: equations.outputs.iter().map(|output| output.name.clone()).collect(),
            order: equations.states.len(),
            rank: structure.rank,
            controllable: structure.controllability.structural,
            observable: structure.observability.structural,
            controllability: Reach::new(
                equations,
                &structure.controllability,
                pairs(&found.uncontrollable),
                Direction::Control,
                found.at,
            ),
            observability: Reach::new(
                equations,
                &structure.observability,
                pairs(&found.unobservable),
                Direction::Observation,
                found.at,
            ),
            paths: CausalPath::list(graph, &found.flow, &found.paths),
            paths_left_out: found.paths.left_out,
            relative_degree: RelativeDegree::list(equations, &structure.degrees),
            zero_dynamics,
            signal_flow: SignalFlow::new(pool, &writing, graph, &found.flow),
            definitions: writing.definitions(pool),
            conserved: conserved.iter().map(|c| ConservedQuantity::new(graph, equations, c)).collect(),
            junction_structure,
            operating_point: Point::of(pool, linear),
            written: None,
            diagnostics,
        }
    }
}

impl ConservedQuantity {
    fn new(graph: &BondGraph, equations: &eq::Equations, found: &num::Conserved) -> ConservedQuantity {
        let mut sum = String::new();
        for (place, coefficient) in &found.parts {
            let sign = match (sum.is_empty(), *coefficient < 0.0) {
                (true, true) => "-",
                (true, false) => "",
                (false, true) => " - ",
                (false, false) => " + ",
            };
            let name = &equations.states[*place].name;
            sum.push_str(sign);
            match coefficient.abs() {
                1.0 => sum.push_str(name),
                size => sum.push_str(&format!("{}*{name}", significant(size))),
            }
        }
        let mut units = found.parts.iter().map(|(k, _)| state_unit(graph, equations.states[*k].variable));
        let first = units.next().flatten();
        let total_unit = first.filter(|first| units.all(|unit| unit.as_ref() == Some(first)));
        ConservedQuantity { sum, total: found.total, total_unit }
    }
}

impl ZeroDynamics {
    fn new(
        pool: &Pool,
        writing: &Writing,
        equations: &eq::Equations,
        found: &InvariantZeros,
    ) -> ZeroDynamics {
        ZeroDynamics {
            output: equations.outputs[found.dynamics.output].name.clone(),
            input: equations.inputs[found.dynamics.input].name.clone(),
            polynomial: writing.text(pool, found.dynamics.polynomial),
            zeros: pairs(&found.zeros),
            minimum_phase: found.minimum_phase,
        }
    }
}

impl SignalFlow {
    /// Translates a signal-flow graph.
    fn new(pool: &Pool, writing: &Writing, graph: &BondGraph, flow: &eq::SignalFlow) -> SignalFlow {
        let element = |id: ElementId| flat_name(&graph.element(id).name);
        let nodes = flow.nodes.iter().map(|node| SignalNode {
            name: node.name.clone(),
            kind: match node.kind {
                eq::NodeKind::Input(_) => SignalKind::Input,
                eq::NodeKind::State => SignalKind::State,
                eq::NodeKind::Dependent => SignalKind::Dependent,
                eq::NodeKind::Effort => SignalKind::Effort,
                eq::NodeKind::Flow => SignalKind::Flow,
                eq::NodeKind::Signal => SignalKind::Signal,
                eq::NodeKind::Output(_) => SignalKind::Output,
            },
            element: node.element.map(element),
        });
        let edges = flow.edges.iter().map(|edge| SignalEdge {
            from: flow.nodes[edge.from].name.clone(),
            to: flow.nodes[edge.to].name.clone(),
            gain: writing.text(pool, edge.gain),
        });
        SignalFlow { nodes: nodes.collect(), edges: edges.collect() }
    }
}

/// The elements and signals on a way through the signal-flow graph, without junctions and repetition.
pub(super) fn elements(graph: &BondGraph, flow: &eq::SignalFlow, nodes: &[usize]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for (place, node) in nodes.iter().map(|node| &flow.nodes[*node]).enumerate() {
        let inner = place > 0 && place + 1 < nodes.len();
        let name = match node.element {
            Some(id) if is_junction(graph.element(id).kind) => continue,
            Some(id) => flat_name(&graph.element(id).name),
            None if inner => node.name.clone(),
            None => continue,
        };
        if names.last() != Some(&name) {
            names.push(name);
        }
    }
    names
}

/// The variables on a way through the signal-flow graph.
pub(super) fn variables(flow: &eq::SignalFlow, nodes: &[usize]) -> Vec<String> {
    nodes.iter().map(|node| flow.nodes[*node].name.clone()).collect()
}

impl From<&Structure> for paynter_export::StructuralNumbers {
    fn from(found: &Structure) -> paynter_export::StructuralNumbers {
        let degree = |degree: &RelativeDegree| paynter_export::RelativeDegree {
            output: degree.output.clone(),
            input: degree.input.clone(),
            degree: degree.degree,
        };
        paynter_export::StructuralNumbers {
            model: found.model.clone(),
            inputs: found.inputs.clone(),
            outputs: found.outputs.clone(),
            order: found.order,
            rank: found.rank,
            degrees: found.relative_degree.iter().map(degree).collect(),
        }
    }
}

impl CausalPath {
    /// Translates causal paths.
    pub fn list(graph: &BondGraph, flow: &eq::SignalFlow, paths: &eq::CausalPaths) -> Vec<CausalPath> {
        let translate = |nodes: &Vec<usize>| {
            let integrates = |node: &&usize| flow.nodes[**node].kind == eq::NodeKind::State;
            Some(CausalPath {
                from: flow.nodes[*nodes.first()?].name.clone(),
                to: flow.nodes[*nodes.last()?].name.clone(),
                integrations: nodes.iter().skip(1).filter(integrates).count(),
                elements: elements(graph, flow, nodes),
                variables: variables(flow, nodes),
            })
        };
        paths.listed.iter().filter_map(translate).collect()
    }
}

impl RelativeDegree {
    /// Translates relative degrees.
    pub fn list(equations: &eq::Equations, degrees: &[eq::RelativeDegree]) -> Vec<RelativeDegree> {
        let translate = |entry: &eq::RelativeDegree| RelativeDegree {
            output: equations.outputs[entry.output].name.clone(),
            input: equations.inputs[entry.input].name.clone(),
            degree: entry.degree,
            shortest_path: entry.path,
            nominal: entry.nominal.unwrap_or(entry.degree),
        };
        degrees.iter().map(translate).collect()
    }
}

impl JunctionStructure {
    /// Translates a junction structure.
    pub fn new(pool: &mut Pool, graph: &BondGraph, found: &eq::JunctionStructure) -> JunctionStructure {
        let conserves_power = found.conserves_power(pool);
        let ports = found.ports.iter().map(|port| JunctionPort {
            element: flat_name(&graph.element(port.element).name),
            field: match port.field {
                eq::Field::Integral => JunctionField::Integral,
                eq::Field::Derivative => JunctionField::Derivative,
                eq::Field::Resistive => JunctionField::Resistive,
                eq::Field::Source => JunctionField::Source,
                eq::Field::Detector => JunctionField::Detector,
            },
            row: port.takes.clone(),
            column: port.gives.clone(),
            sign: if port.into { 1 } else { -1 },
        });
        JunctionStructure {
            ports: ports.collect(),
            s: Writing::default().matrix(pool, &found.matrix, found.ports.len() <= 200),
            conserves_power,
        }
    }
}

/// Which way a [`Reach`] looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// From inputs to states.
    Control,
    /// From states to outputs.
    Observation,
}

impl Reach {
    /// Translates a verdict; the eigenvalues of what is hidden come along.
    pub fn new(
        equations: &eq::Equations,
        verdict: &eq::Verdict,
        eigenvalues: Vec<[f64; 2]>,
        direction: Direction,
        at: JudgedAt,
    ) -> Reach {
        let name = |state: &usize| equations.states[*state].name.clone();
        let n = equations.states.len();
        let hidden = verdict.nominal.iter().flat_map(|nominal| &nominal.hidden);
        let combinations = hidden
            .map(|entries| entries.iter().map(|(state, factor)| (name(state), factor.to_string())).collect());
        let ends = match direction {
            Direction::Control => equations.inputs.len(),
            Direction::Observation => equations.outputs.len(),
        };
        let mut reach = Reach {
            structural: verdict.structural,
            // What fails by structure fails for all values.
            nominal: match (verdict.structural, &verdict.nominal) {
                (false, _) if at != JudgedAt::Nowhere => Some(false),
                (_, nominal) => nominal.as_ref().map(|nominal| nominal.dimension == n),
            },
            unreached: verdict.unreached.iter().map(name).collect(),
            rank: verdict.rank,
            stuck: verdict.stuck.iter().map(name).collect(),
            dimension: verdict.nominal.as_ref().map(|nominal| nominal.dimension),
            combinations: combinations.collect(),
            eigenvalues: if ends == 0 { Vec::new() } else { eigenvalues },
            reasons: Vec::new(),
        };
        reach.reasons = reach.explain(equations, direction, at);
        reach
    }

    fn explain(&self, equations: &eq::Equations, direction: Direction, at: JudgedAt) -> Vec<String> {
        let control = direction == Direction::Control;
        let (end, ends) = if control { ("input", "inputs") } else { ("output", "outputs") };
        let n = equations.states.len();
        let none = if control { equations.inputs.is_empty() } else { equations.outputs.is_empty() };
        let mut reasons = Vec::new();
        if none && n > 0 {
            return vec![format!("the model has no {end}")];
        }
        if !self.unreached.is_empty() {
            let way = if control { "from any input to" } else { "to any output from" };
            reasons.push(format!("no causal path leads {way} {}", some(&self.unreached)));
        }
        if !self.stuck.is_empty() {
            let what = if control {
                format!(
                    "[A B] has rank {} of {n}: no input moves a combination of {}",
                    self.rank,
                    some(&self.stuck)
                )
            } else {
                format!(
                    "[A; C] has rank {} of {n}: a constant offset of {} never shows",
                    self.rank,
                    some(&self.stuck)
                )
            };
            reasons.push(what);
        }
        let place = if at == JudgedAt::Operating { "operating point" } else { "nominal values" };
        if self.structural && self.nominal == Some(false) {
            let dimension = self.dimension.unwrap_or(0);
            let verb = if control { "move" } else { "show" };
            reasons.push(format!(
                "at the {place} the {ends} {verb} only {dimension} of {n} dimensions, though the structure allows all"
            ));
        }
        if self.nominal == Some(false) {
            let rest =
                !self.eigenvalues.is_empty() && self.eigenvalues.iter().all(|value| *value == [0.0; 2]);
            for entries in self.combinations.iter().take(4) {
                let sum = combination(entries);
                reasons.push(if control && rest && self.combinations.len() == 1 {
                    format!("{sum} keeps its value")
                } else if control {
                    format!("{sum} evolves on its own")
                } else {
                    let parts: Vec<String> =
                        entries.iter().map(|(state, factor)| format!("{state} by {factor}")).collect();
                    format!("a change of {} does not show", parts.join(" and "))
                });
            }
        }
        if self.nominal.is_none() && n > 0 {
            reasons.push(match at {
                JudgedAt::Nowhere => "no operating point, so that only the structure is judged".to_owned(),
                _ => format!("not decided at the {place}"),
            });
        }
        reasons
    }
}

/// A list of names that stays readable.
fn some(names: &[String]) -> String {
    const SHOWN_NAMES: usize = 8;
    let mut text = names[..names.len().min(SHOWN_NAMES)].join(", ");
    if names.len() > SHOWN_NAMES {
        text.push_str(&format!(" and {} more", names.len() - SHOWN_NAMES));
    }
    text
}

/// `tank1.q - 2*tank2.q`
fn combination(entries: &BTreeMap<String, String>) -> String {
    let mut text = String::new();
    for (state, factor) in entries {
        let (sign, size) = match factor.strip_prefix('-') {
            Some(size) => ("-", size),
            None => ("+", factor.as_str()),
        };
        match (text.is_empty(), sign) {
            (true, "-") => text.push('-'),
            (true, _) => {}
            (false, _) => text.push_str(&format!(" {sign} ")),
        }
        if size != "1" {
            text.push_str(&format!("{size}*"));
        }
        text.push_str(state);
    }
    text
}
