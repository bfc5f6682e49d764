//! The linear model behind transfer functions, poles, frequency response,
//! structure and sensitivities: the model itself where it is linear, its
//! linearisation at the operating point where not. And that point itself.

use crate::{Model, NoAnswer};
use paynter_algebra::{EvalError, Expr, Node, Pool, Symbol};
use paynter_base::number::short;
use paynter_base::{Diagnostic, Diagnostics, Ticket, code};
use paynter_equations::{
    Equations, Failure, Reading, Readings, Sparse, State, StateSpace, derive_with, temperatures,
};
use paynter_graph::{BondGraph, ElementId, Law, Port, Variable};
use paynter_numerics::parametric::shift::Steady;
use paynter_numerics::{
    Matrices, OperatingPoint, Probes, Slope, Tables, Trust, doubtful_laws, operating_point, rough_laws,
};
use paynter_view::json;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

/// Models of more states than this are not linearised beside their operating point.
const JACOBIAN_STATES: usize = 200;

/// A linear model, or a nonlinear one near its operating point.
#[derive(Debug, Clone)]
pub struct Linear {
    /// The equations it comes from.
    pub equations: Equations,
    /// The matrices, over parameters; of a nonlinear model also over states,
    /// inputs and implicit unknowns, which stand for their values at the point.
    pub space: StateSpace,
    /// The operating point of a nonlinear model.
    pub point: Option<OperatingPoint>,
    /// The value of every symbol in the matrices.
    pub values: BTreeMap<Symbol, f64>,
    /// By which slopes at the point are judged, once that is asked.
    probes: OnceLock<Arc<Probes>>,
}

impl Linear {
    pub(crate) fn new(
        equations: Equations,
        space: StateSpace,
        point: Option<OperatingPoint>,
        values: BTreeMap<Symbol, f64>,
    ) -> Linear {
        Linear { equations, space, point, values, probes: OnceLock::new() }
    }

    /// The operating point and points around it, by which slopes there are judged.
    pub(crate) fn probes(&self, pool: &Pool) -> Arc<Probes> {
        let probes = || {
            let mut sizes: BTreeMap<Symbol, f64> =
                self.values.iter().map(|(symbol, x)| (*symbol, x.abs())).collect();
            sizes.extend(self.point.iter().flat_map(|point| &point.sizes));
            Arc::new(Probes::new(pool, &self.equations, &self.values, &sizes))
        };
        self.probes.get_or_init(probes).clone()
    }

    /// The value of a symbol: a parameter, or at the operating point.
    pub fn value(&self, symbol: Symbol) -> Option<f64> {
        self.values.get(&symbol).copied()
    }

    /// Evaluates the matrices at nominal parameters and the operating point.
    pub fn matrices(&self, pool: &Pool) -> Result<Matrices, NoAnswer> {
        Matrices::evaluate(pool, &self.space, &|symbol| self.value(symbol))
            .map_err(|error| NoAnswer::Wrong(undefined(pool, error)))
    }

    /// The operating point of a nonlinear model by names.
    pub fn named_point(&self, pool: &Pool) -> Option<json::Point> {
        let point = self.point.as_ref()?;
        Some(json::Point::new(pool, &self.equations, &|symbol| self.value(symbol), &point.outputs))
    }
}

/// Says that an expression has no value.
fn undefined(pool: &Pool, error: EvalError) -> Diagnostics {
    let message = match error {
        EvalError::NotFinite(part) => match pool.node(part) {
            Node::Power(base, _) => {
                format!("`{}` is zero, and the equations divide by it", pool.display(base))
            }
            _ => format!("`{}` has no finite value", pool.display(part)),
        },
        EvalError::Unbound(symbol) => format!("`{}` has no value", pool.name(symbol)),
        EvalError::Table(_) => "a table has no value here".to_owned(),
    };
    let mut diagnostics = Diagnostics::new();
    diagnostics.push(Diagnostic::new(code::VANISHING_DIVISOR, message));
    diagnostics
}

/// The parameters' values.
fn nominal(graph: &BondGraph) -> BTreeMap<Symbol, f64> {
    graph.parameters.iter().map(|parameter| (parameter.symbol, parameter.number)).collect()
}

impl Model {
    /// Derives the linear model, at the operating point where the equations are nonlinear.
    pub fn linear(&mut self, ticket: &Ticket) -> Result<Linear, NoAnswer> {
        if let Some(linear) = &self.linear {
            return Ok(linear.clone());
        }
        let (equations, space) = self.derive(ticket)?;
        let linear = match space {
            Some(space) => {
                let Some(graph) = &self.graph else { return Err(NoAnswer::Wrong(self.diagnostics.clone())) };
                Linear::new(equations, space, None, nominal(graph))
            }
            None => self.tangent(equations, ticket)?,
        };
        self.linear = Some(linear.clone());
        Ok(linear)
    }

    /// The linear model for derivatives by parameters: where these are infinite for the way in which
    /// loops mix up laws with what they are given, with those laws read apart.
    pub(crate) fn linear_to_move(&mut self, ticket: &Ticket) -> Result<Linear, NoAnswer> {
        let linear = self.linear(ticket)?;
        if linear.point.is_none() || linear.equations.constraints.is_empty() {
            return Ok(linear);
        }
        let Some(graph) = &self.graph else { return Ok(linear) };
        let elements = linear.equations.constraints.iter().flat_map(|constraint| &constraint.elements);
        let law = |id: &&ElementId| matches!(graph.element(**id).law, Law::Equations(_));
        let laws: Vec<ElementId> = elements.filter(law).copied().collect();
        let steep = self.steep_slopes(&linear);
        if steep > 0
            && let Some(apart) = self.read_anew(&linear, &laws, Reading::Apart, ticket)?
            && self.trust(&apart) == Trust::Good
            && self.steep_slopes(&apart) < steep
        {
            return Ok(apart);
        }
        Ok(linear)
    }

    /// How many derivatives of entries of the matrices are infinite at the point.
    fn steep_slopes(&mut self, linear: &Linear) -> usize {
        let probes = linear.probes(&self.pool);
        let mut slopes = Vec::new();
        for entry in linear.space.entries() {
            for symbol in self.pool.symbols(entry) {
                slopes.push(self.pool.diff(entry, symbol));
            }
        }
        probes.judge(&self.pool, &slopes).into_iter().filter(|trust| *trust == Trust::Steep).count()
    }

    /// The linearisation at the operating point. Where a law is infinitely steep there in the
    /// direction in which causality reads it, or loses its digits, it is read the other way round.
    fn tangent(&mut self, equations: Equations, ticket: &Ticket) -> Result<Linear, NoAnswer> {
        let point = self.steady_state(&equations, ticket)?;
        let values = point.values.clone();
        let mut linear = self.linearised(equations, point, values, false, ticket)?;
        let mut trust = self.trust(&linear);
        if trust > Trust::Good {
            let Some(graph) = &self.graph else { return Err(NoAnswer::Wrong(self.diagnostics.clone())) };
            let probes = linear.probes(&self.pool);
            let doubtful = doubtful_laws(&mut self.pool, graph, &linear.equations, &probes);
            let blamed: Vec<ElementId> =
                doubtful.iter().filter(|(_, found)| *found >= trust).map(|(id, _)| *id).collect();
            for reading in [Reading::Apart, Reading::Turned] {
                if trust > Trust::Good
                    && let Some(turned) = self.read_anew(&linear, &blamed, reading, ticket)?
                {
                    let better = self.trust(&turned);
                    if better < trust {
                        (linear, trust) = (turned, better);
                    }
                }
            }
            if trust > Trust::Good {
                let diagnostic = self.doubted(&linear, &probes, &blamed, trust);
                if trust > Trust::Rounded {
                    return Err(self.refused(diagnostic));
                }
                self.diagnostics.push(diagnostic);
            }
        }
        for (element, slope) in self.rough(&linear.equations, &linear.probes(&self.pool)) {
            let Some(graph) = &self.graph else { break };
            let element = graph.element(element);
            let how = match slope {
                Slope::Jump => "jumps",
                Slope::Kink => "has a kink",
                // The matrices are good, so that it does not matter.
                Slope::Infinite => continue,
            };
            let message = format!("the law of `{}` {how} at the operating point", element.name);
            self.diagnostics.push(Diagnostic::new(code::KINK, message).at(element.span));
        }
        self.diagnostics.sort();
        Ok(linear)
    }

    /// Fills in the matrices; where laws are `turned`, such that nothing divides by what is zero at the point.
    fn linearised(
        &mut self,
        equations: Equations,
        point: OperatingPoint,
        values: BTreeMap<Symbol, f64>,
        turned: bool,
        ticket: &Ticket,
    ) -> Result<Linear, NoAnswer> {
        let Some(graph) = &self.graph else { return Err(NoAnswer::Wrong(self.diagnostics.clone())) };
        let near = decided(&mut self.pool, &equations, &values);
        let value = |symbol: Symbol| values.get(&symbol).copied();
        let pivots = turned.then_some(&value as &dyn Fn(Symbol) -> Option<f64>);
        let mut space = near.linearise(&mut self.pool, graph, pivots, ticket)?;
        // At rest most inputs have no derivatives, and formulas need not name them.
        let derivatives = near.inputs.iter().flat_map(|input| input.symbols.iter().skip(1).copied());
        let resting = derivatives.filter(|symbol| values.get(symbol) == Some(&0.0));
        let zeros: Vec<Symbol> = graph.variables.symbol(Variable::Time).into_iter().chain(resting).collect();
        vanish(&mut self.pool, &mut space, &zeros);
        let plain = space.clone();
        space.make_readable(&mut self.pool, ticket);
        let mut linear = Linear::new(equations, space, Some(point), values);
        // A denominator cleared of roots may vanish where the quotient has a value.
        let readable = self.trust(&linear);
        if turned && readable > Trust::Good {
            let space = std::mem::replace(&mut linear.space, plain);
            if self.trust(&linear) >= readable {
                linear.space = space;
            }
        }
        Ok(linear)
    }

    /// The linear model with some laws read in another way, at the same point; nothing where
    /// there is no such model.
    fn read_anew(
        &mut self,
        linear: &Linear,
        laws: &[ElementId],
        reading: Reading,
        ticket: &Ticket,
    ) -> Result<Option<Linear>, NoAnswer> {
        let (Some(graph), Some(causality), Some(point)) = (&mut self.graph, &self.causality, &linear.point)
        else {
            return Ok(None);
        };
        let readings: Readings = laws.iter().map(|id| (*id, reading)).collect();
        let equations = match derive_with(&mut self.pool, graph, causality, &readings, ticket) {
            Ok(equations) => equations,
            Err(Failure::Cancelled) => return Err(NoAnswer::Cancelled),
            Err(Failure::Wrong(_)) => return Ok(None),
        };
        let probes = linear.probes(&self.pool);
        let mut point = point.clone();
        point.sizes.extend(equations.constraints.iter().map(|c| (c.unknown, probes.size(c.unknown))));
        let mut values = probes.base.clone();
        // What the laws determined so badly is found anew.
        let nominal: Vec<f64> = graph.parameters.iter().map(|parameter| parameter.number).collect();
        let steady = Steady::new(&mut self.pool, graph, &equations, &[], &values);
        values.extend(steady.ok().and_then(|steady| steady.find(&nominal)).into_iter().flatten());
        let wanted = point.values.keys().copied().chain(equations.constraints.iter().map(|c| c.unknown));
        let values = wanted.filter_map(|symbol| Some((symbol, *values.get(&symbol)?))).collect();
        match self.linearised(equations, point, values, true, ticket) {
            Ok(linear) => Ok(Some(linear)),
            Err(NoAnswer::Cancelled) => Err(NoAnswer::Cancelled),
            Err(NoAnswer::Wrong(_)) => Ok(None),
        }
    }

    /// How far the matrices can be believed.
    fn trust(&self, linear: &Linear) -> Trust {
        let probes = linear.probes(&self.pool);
        probes.judge(&self.pool, &linear.space.entries()).into_iter().max().unwrap_or(Trust::Good)
    }

    /// Says which law makes the linear model doubtful, and at what point.
    fn doubted(&self, linear: &Linear, probes: &Probes, blamed: &[ElementId], trust: Trust) -> Diagnostic {
        let graph = self.graph.as_ref();
        let (code, what) = match trust {
            Trust::Steep => (code::NO_SLOPE, "has an infinite slope"),
            Trust::Lost => (code::NO_SLOPE, "has a slope of which rounding errors leave nothing"),
            _ => (code::LOST_DIGITS, "has a slope that rounding errors change"),
        };
        if let Some((id, graph)) = blamed.first().copied().zip(graph) {
            let element = graph.element(id);
            let law = match &element.law {
                Law::Equations(list) => list
                    .iter()
                    .map(|eq| format!(", {} = {},", self.pool.display(eq.left), self.pool.display(eq.right)))
                    .collect(),
                _ => String::new(),
            };
            let value = |variable: Variable| probes.base.get(&graph.variables.symbol(variable)?).copied();
            let port = |port: &Port| {
                let flow = value(Variable::Flow(port.bond)).map(|f| if port.into { f } else { -f });
                let list = [("e", value(Variable::Effort(port.bond))), ("f", flow)];
                list.into_iter()
                    .filter_map(|(name, x)| Some(format!("{name} = {}", short(x?))))
                    .collect::<Vec<_>>()
            };
            let at: Vec<String> = element.ports.iter().flat_map(port).collect();
            let message = format!(
                "the law of `{}`{law} {what} at the operating point ({})",
                element.name,
                at.join(", ")
            );
            return Diagnostic::new(code, message).at(element.span);
        }
        let doubtful = |matrix: &Sparse| {
            let entries: Vec<Expr> = matrix.entries.iter().map(|(_, _, e)| *e).collect();
            let found = probes.judge(&self.pool, &entries);
            matrix.entries.iter().zip(found).find(|(_, found)| *found >= trust).map(|((i, _, _), _)| *i)
        };
        let space = &linear.space;
        let state = std::iter::once(&space.a).chain(&space.b).find_map(doubtful);
        let output = std::iter::once(&space.c).chain(&space.d).find_map(doubtful);
        let (name, span) = match (state, output) {
            (Some(i), _) => {
                let State { name, variable, .. } = &linear.equations.states[i];
                (name.as_str(), graph.and_then(|graph| graph.state_span(*variable)))
            }
            (None, Some(i)) => {
                let span = graph.and_then(|graph| graph.outputs.get(i)).map(|output| output.span);
                (linear.equations.outputs[i].name.as_str(), span)
            }
            (None, None) => ("the model", None),
        };
        let diagnostic =
            Diagnostic::new(code, format!("the equation of `{name}` {what} at the operating point"));
        match span {
            Some(span) => diagnostic.at(span),
            None => diagnostic,
        }
    }

    /// Finds the operating point; what there is to say about it joins the findings.
    fn steady_state(&mut self, equations: &Equations, ticket: &Ticket) -> Result<OperatingPoint, NoAnswer> {
        if let Some(known) = &self.steady {
            return known.clone().map_err(NoAnswer::Wrong);
        }
        let Some(graph) = &self.graph else { return Err(NoAnswer::Wrong(self.diagnostics.clone())) };
        let tables = Tables::default();
        let found = match operating_point(&mut self.pool, graph, equations, &tables, ticket) {
            Ok(point) => {
                self.diagnostics.extend(point.notes.clone());
                for temperature in temperatures(graph, equations) {
                    let value =
                        self.pool.eval(temperature.value, &|symbol| point.values.get(&symbol).copied());
                    if let Some(value) = value.ok().filter(|value| temperature.forbids(*value)) {
                        self.diagnostics.push(temperature.too_cold(graph, "at the operating point", value));
                    }
                }
                self.diagnostics.sort();
                Ok(point)
            }
            Err(Failure::Wrong(found)) => {
                let mut diagnostics = self.diagnostics.clone();
                diagnostics.extend(found);
                diagnostics.sort();
                Err(diagnostics)
            }
            Err(Failure::Cancelled) => return Err(NoAnswer::Cancelled),
        };
        self.steady = Some(found.clone());
        found.map_err(NoAnswer::Wrong)
    }

    /// Elements whose laws have no slope at a point.
    pub(crate) fn rough(&self, equations: &Equations, probes: &Probes) -> Vec<(ElementId, Slope)> {
        let Some(graph) = &self.graph else { return Vec::new() };
        rough_laws(&self.pool, graph, equations, probes)
    }

    /// Tells the steady state with the inputs at time zero.
    pub fn operating_point(&mut self, ticket: &Ticket) -> Result<json::OperatingPoint, NoAnswer> {
        let (equations, _) = self.derive(ticket)?;
        let point = self.steady_state(&equations, ticket)?;
        let jacobians = self.jacobians(&equations, ticket)?;
        let diagnostics = json::Diagnostic::list(&self.diagnostics, &self.sources);
        let Some(graph) = &self.graph else { return Err(NoAnswer::Wrong(self.diagnostics.clone())) };
        let value = |symbol: Symbol| point.values.get(&symbol).copied();
        let mut answer =
            json::OperatingPoint::new(&self.pool, graph, &equations, &value, &point.outputs, diagnostics);
        answer.linear = jacobians;
        Ok(answer)
    }

    /// The matrices at the operating point, in symbols and in numbers; none where a law has no slope there.
    fn jacobians(
        &mut self,
        equations: &Equations,
        ticket: &Ticket,
    ) -> Result<Option<json::LinearModel>, NoAnswer> {
        if equations.states.len() > JACOBIAN_STATES {
            return Ok(None);
        }
        let linear = match self.linear(ticket) {
            Ok(linear) => linear,
            Err(NoAnswer::Cancelled) => return Err(NoAnswer::Cancelled),
            Err(NoAnswer::Wrong(_)) => return Ok(None),
        };
        let Ok(matrices) = linear.matrices(&self.pool) else { return Ok(None) };
        let numeric = json::NumericModel {
            a: matrices.a.dense(),
            b: matrices.b.first().map_or_else(Vec::new, |b| b.dense()),
            c: matrices.c.dense(),
            d: matrices.d.first().map_or_else(Vec::new, |d| d.dense()),
        };
        Ok(Some(json::LinearModel::new(&self.pool, &linear.space, linear.point.is_some(), numeric)))
    }
}

/// The equations as they are near a point, where each choice is what it is there.
pub(crate) fn decided(pool: &mut Pool, equations: &Equations, values: &BTreeMap<Symbol, f64>) -> Equations {
    let mut near = equations.clone();
    let mut roots: Vec<&mut Expr> = near.rates.iter_mut().collect();
    roots.extend(near.outputs.iter_mut().map(|output| &mut output.value));
    roots.extend(near.constraints.iter_mut().map(|constraint| &mut constraint.residual));
    let old: Vec<Expr> = roots.iter().map(|e| **e).collect();
    let new = pool.decide_choices(&old, &|symbol| values.get(&symbol).copied());
    for (root, new) in roots.into_iter().zip(new) {
        *root = new;
    }
    near
}

/// Puts zero for some symbols into matrices.
fn vanish(pool: &mut Pool, space: &mut StateSpace, symbols: &[Symbol]) {
    let zero = pool.zero();
    let map: FxHashMap<Symbol, Expr> = symbols.iter().map(|symbol| (*symbol, zero)).collect();
    for matrix in [&mut space.a, &mut space.c].into_iter().chain(&mut space.b).chain(&mut space.d) {
        for (_, _, entry) in &mut matrix.entries {
            *entry = pool.substitute(*entry, &map);
        }
        matrix.entries.retain(|(_, _, entry)| *entry != zero);
    }
    for entry in space.offset.0.iter_mut().chain(&mut space.offset.1) {
        *entry = pool.substitute(*entry, &map);
    }
}
