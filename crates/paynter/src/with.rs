//! A model at other values of its parameters and inputs.

use crate::Model;
use crate::derivation::Derivation;
use crate::stage::Stage;
use paynter_algebra::{Pool, Rational, Symbol, decimal, to_f64};
use paynter_base::{CancellationToken, Code, Diagnostic, code};
use paynter_equations::Equations;
use paynter_graph::dimension::Unit;
use paynter_graph::{BondGraph, CopyOnWrite, Parameter, Table, Value, flat_name};
use std::sync::Arc;

/// A new value of a parameter or an input.
#[derive(Debug, Clone, PartialEq)]
pub enum NewValue {
    /// A number, in the unit that the model declares.
    Number(f64),
    /// As one would write it: a number or an expression, with a unit where one likes.
    Written(String),
}

impl From<f64> for NewValue {
    fn from(number: f64) -> NewValue {
        NewValue::Number(number)
    }
}

impl From<&str> for NewValue {
    fn from(text: &str) -> NewValue {
        match text.trim().parse::<f64>() {
            // Words such as `inf` are names here.
            Ok(number) if text.trim().ends_with(|c: char| c.is_ascii_digit()) => NewValue::Number(number),
            _ => NewValue::Written(text.to_owned()),
        }
    }
}

impl NewValue {
    /// The value as one would write it.
    fn text(&self) -> String {
        match self {
            NewValue::Number(number) => format!("{number:e}"),
            NewValue::Written(text) => text.clone(),
        }
    }
}

/// Values that differ from those that a graph was made with.
#[derive(Debug, Clone, Default)]
pub(crate) struct Values {
    /// All parameters, where some differ.
    parameters: Option<CopyOnWrite<Vec<Parameter>>>,
    /// The inputs that are constant now, by place, in SI.
    inputs: Vec<(usize, Rational)>,
}

impl Values {
    /// All parameters, where some differ.
    pub fn parameters(&self) -> Option<&CopyOnWrite<Vec<Parameter>>> {
        self.parameters.as_ref()
    }

    /// The inputs that are constant now, by place, in SI.
    pub fn inputs(&self) -> &[(usize, Rational)] {
        &self.inputs
    }

    /// A graph at these values, with a pool that has them.
    pub fn apply(&self, pool: &Arc<Pool>, graph: &BondGraph) -> (Arc<Pool>, BondGraph) {
        let mut graph = graph.clone();
        if let Some(parameters) = &self.parameters {
            graph.parameters = parameters.clone();
        }
        if self.inputs.is_empty() {
            return (pool.clone(), graph);
        }
        let mut pool = Pool::over(pool);
        for (place, value) in &self.inputs {
            let input = &mut graph.inputs[*place];
            (input.value, input.given) = (pool.number(value.clone()), true);
        }
        (Arc::new(pool), graph)
    }

    /// Equations with the inputs of a graph at these values.
    pub fn apply_inputs(&self, graph: &BondGraph, equations: &Arc<Equations>) -> Arc<Equations> {
        if self.inputs.is_empty() {
            return equations.clone();
        }
        let mut equations = Equations::clone(equations);
        for (place, _) in &self.inputs {
            equations.inputs[*place].value = graph.inputs[*place].value;
        }
        Arc::new(equations)
    }
}

/// An exact number in SI, from one in a unit.
fn exact(pool: &Pool, number: f64, unit: Option<&Unit>) -> Option<Rational> {
    let number = decimal(&format!("{number:e}"))?;
    match unit {
        None => Some(number),
        Some(unit) => Some(number * pool.as_rational(unit.scale)?.clone()),
    }
}

impl Model {
    /// The model at other values of some parameters and inputs. Stages that do not depend on these are shared:
    /// each has recorded what it takes for granted, and the first for which that no longer holds is
    /// derived again with all that follow it.
    pub fn with<'a, V: Into<NewValue>>(&self, values: impl IntoIterator<Item = (&'a str, V)>) -> Model {
        let values: Vec<(&str, NewValue)> =
            values.into_iter().map(|(name, value)| (name, value.into())).collect();
        let mut set = self.0.set.clone();
        for (name, value) in &values {
            set.retain(|(known, _)| flat_name(known) != flat_name(name));
            set.push(((*name).to_owned(), value.text()));
        }
        self.share(&values, &set).unwrap_or_else(|| self.again(set))
    }

    /// The model with shared stages, where its values are plain numbers that change no structure.
    fn share(&self, values: &[(&str, NewValue)], set: &[(String, String)]) -> Option<Model> {
        let equations = self.equations_stage(&CancellationToken::new()).ok()?;
        let causality = self.causality_stage().ok()?;
        let (origin, graph) = (&self.0.origin, self.0.origin.graph.as_ref()?);
        let mut new = self.0.values.clone();
        let mut parameters = new.parameters.take().unwrap_or_else(|| graph.parameters.clone());
        let mut changed: Vec<Symbol> = Vec::new();
        for (name, value) in values {
            let NewValue::Number(number) = value else { return None };
            let same = |known: &str| known == *name || flat_name(known) == *name;
            // A value set before may have brought a unit of its own; the next number is in the declared one.
            if self.0.set.iter().any(|(known, text)| same(known) && text.contains('[')) {
                return None;
            }
            if let Some(place) = parameters.iter().position(|parameter| same(&parameter.name)) {
                let parameter = &mut parameters[place];
                let value = exact(&origin.pool, *number, parameter.unit.as_ref())?;
                parameter.number = to_f64(&value);
                if !parameter.number.is_finite() {
                    return None;
                }
                parameter.value = Value::Given(value);
                changed.push(parameter.symbol);
            } else {
                let place = graph.inputs.iter().position(|input| same(&input.name))?;
                // A parameter that only the default reads would not be used any more.
                if !origin.pool.symbols(graph.inputs[place].value).is_empty() {
                    return None;
                }
                let value = exact(&origin.pool, *number, graph.inputs[place].unit.as_ref())?;
                new.inputs.retain(|(known, _)| *known != place);
                new.inputs.push((place, value));
                new.inputs.sort_unstable_by_key(|(place, _)| *place);
                changed.push(graph.inputs[place].symbol);
            }
        }
        new.parameters = Some(parameters);
        let (pool, at_values) = new.apply(&equations.pool, &equations.graph);
        if !graph.guards.hold(&pool, &at_values, &changed) {
            return None;
        }
        let assigned = causality.causality.as_ref()?;
        let derivation = if !assigned.guards.hold(&pool, &at_values, &changed) {
            Arc::new(Derivation::default())
        } else if !(equations.equations.guards.hold(&pool, &at_values, &changed)
            && equations.guards.hold(&pool, &at_values, &changed))
        {
            Arc::new(Derivation { causality: Stage::of(causality), ..Derivation::default() })
        } else {
            self.0.derivation.clone()
        };
        Some(Model::new(self.0.text.clone(), set.to_vec(), origin.clone(), new, derivation))
    }

    /// The model with its text flattened again.
    fn again(&self, set: Vec<(String, String)>) -> Model {
        let (text, origin) = (&self.0.text, &self.0.origin);
        // Files are not read again: a table that was not asked for before is missing.
        let table = |table: &Table, _: &mut _| {
            let known = origin.tables.iter().find(|(known, _)| {
                (known.path.as_str(), known.column.as_str()) == (table.path.as_str(), table.column.as_str())
            });
            match known {
                Some((_, Ok(samples))) => Ok(samples.clone()),
                Some((_, Err(why))) => Err(Box::new(missing(table, why.code, why.message.clone()))),
                None => {
                    let message = format!("`{}` was not needed when the model was loaded", table.path);
                    Err(Box::new(missing(table, code::FILE_UNREADABLE, message)))
                }
            }
        };
        let graph = text.flatten(&set, &table);
        Model::new(text.clone(), set, Arc::new(graph), Values::default(), Arc::default())
    }
}

/// Says why there are no samples of a table.
fn missing(table: &Table, code: Code, message: String) -> Diagnostic {
    Diagnostic::new(code, message).at(table.span).help("load the model with these values from the beginning")
}
