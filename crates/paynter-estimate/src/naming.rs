//! What is estimated, by the names in a question: parameters, `init(ELEMENT.q)`, `offset(OUTPUT)`, `gain(OUTPUT)`, each
//! with its start, bounds, scaling and prior.

use crate::problem::FittedOutput;
use crate::question::{Asked, EstimateOptions, Logarithmic, refuse};
use crate::tolerance::TOLERANCE_DEVIATIONS;
use crate::unknown::{Quantity, Scaling, Unknown};
use paynter_algebra::Symbol;
use paynter_base::number::shortest;
use paynter_base::{QueryError, Remedy, closest};
use paynter_graph::{Parameter, Tolerance, flat_name};
use paynter_simulate::experiment::{Column, Simulation, Subject};

/// What a name to be estimated refers to.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Named {
    Simulated(String),
    Offset(String),
    Gain(String),
}

pub(crate) fn named(name: &str) -> Named {
    let inner = |word: &str| name.trim().strip_prefix(word)?.trim().strip_prefix('(')?.strip_suffix(')');
    match (inner("offset"), inner("gain")) {
        (Some(output), _) => Named::Offset(output.trim().to_owned()),
        (_, Some(output)) => Named::Gain(output.trim().to_owned()),
        _ => Named::Simulated(flat_name(name.trim())),
    }
}

impl EstimateOptions {
    /// Whether an unknown differs from experiment to experiment, as initial states always do.
    fn is_local(&self, name: &str) -> bool {
        name.trim().starts_with("init(") || self.local.iter().any(|known| named(known) == named(name))
    }

    /// The names of what is estimated.
    pub(crate) fn names(&self, asked: &Asked<'_, '_>) -> Result<Vec<String>, QueryError> {
        let Subject { graph, equations, .. } = &asked.subject;
        if self.fit.is_empty() {
            let bounded = graph.parameters.iter().filter(|parameter| parameter.bounds.is_some());
            let names: Vec<String> = bounded.map(|parameter| flat_name(&parameter.name)).collect();
            if names.is_empty() {
                let all: Vec<String> = graph.parameters.iter().map(|p| flat_name(&p.name)).collect();
                return Err(refuse(
                    "nothing is said to be estimated, and no parameter has bounds",
                    Remedy::marked(
                        "name parameters with {option fit}, or give them bounds: `param k = 1 in [0.1, 10]`",
                    )
                    .and(format!("; there are {}", all.join(", "))),
                ));
            }
            return Ok(names);
        }
        let mut names: Vec<String> = Vec::new();
        for name in &self.fit {
            let all = match name.trim() {
                "init" => equations.states.iter().map(|state| format!("init({})", state.name)).collect(),
                other => vec![other.to_owned()],
            };
            for name in all {
                if !names.iter().any(|known| named(known) == named(&name)) {
                    names.push(name);
                }
            }
        }
        Ok(names)
    }

    /// The unknowns, in the order in which they were named.
    pub(crate) fn unknowns(
        &self,
        asked: &Asked<'_, '_>,
        names: &[String],
        simulated: &[String],
        simulation: &Simulation,
        outputs: &[FittedOutput],
    ) -> Result<Vec<Unknown>, QueryError> {
        self.check_mentioned(names)?;
        let experiments = self.data.len().max(1);
        let mut unknowns = Vec::new();
        for name in names {
            let (quantity, column, nominal) = quantity(asked, name, simulated, simulation, outputs)?;
            let declared = asked.own.parameters.iter().find(|p| flat_name(&p.name) == column.name);
            let named = NamedUnknown { name, quantity, column, nominal, declared };
            let own = if self.is_local(name) && experiments > 1 {
                (0..experiments).map(Some).collect()
            } else {
                vec![None]
            };
            for experiment in own {
                unknowns.push(self.unknown(&named, experiment)?);
            }
        }
        if self.prior && unknowns.iter().all(|unknown| unknown.prior.is_none()) {
            return Err(refuse(
                "no estimated parameter has a tolerance that could be a prior",
                "give one: `param k = 3 ±10%`",
            ));
        }
        Ok(unknowns)
    }

    /// Refuses starts, bounds and the like of what is not estimated, or not in that experiment.
    fn check_mentioned(&self, names: &[String]) -> Result<(), QueryError> {
        let logarithmic: &[String] = match &self.logarithmic {
            Logarithmic::Names(list) => list,
            Logarithmic::None | Logarithmic::All => &[],
        };
        let bounded = self.bounds.iter().map(|(name, ..)| name);
        let started = self.start.iter().map(|(name, _)| name);
        // The profile of what is local to an experiment is asked for with its number.
        let profiled = self.profiles.iter().filter(|name| *name != "all");
        let mentioned = started.chain(bounded).chain(&self.local).chain(logarithmic).chain(profiled);
        let experiments = self.data.len().max(1);
        for name in mentioned {
            let (name, number) =
                name.split_once('@').map_or((name.as_str(), None), |(name, number)| (name, Some(number)));
            if let Some(number) = number.filter(|number| {
                !number.parse::<usize>().is_ok_and(|number| (1..=experiments).contains(&number))
            }) {
                return Err(refuse(
                    format!("there is no experiment {number} for `{name}`"),
                    format!("experiments are numbered from 1 to {experiments}, in the order of the data"),
                ));
            }
            if number.is_some() && !self.is_local(name) {
                return Err(refuse(
                    format!("`{name}` is the same in all experiments"),
                    Remedy::marked("leave the number out, or name it in {option local}"),
                ));
            }
            if !names.iter().any(|known| named(known) == named(name)) {
                let near = closest(name, names.iter().map(String::as_str));
                let help = match near {
                    Some(near) => Remedy::from(format!("did you mean `{near}`?")),
                    None => Remedy::marked("add it to {option fit}"),
                };
                return Err(refuse(format!("`{name}` is not estimated"), help));
            }
        }
        Ok(())
    }

    /// What is estimated under a name, in one experiment or in all.
    fn unknown(&self, named: &NamedUnknown<'_>, experiment: Option<usize>) -> Result<Unknown, QueryError> {
        let NamedUnknown { column, declared, .. } = named;
        let (start, (lower, upper)) = self.start_and_bounds(named, experiment)?;
        let scaling = self.scaling(named, experiment, start, (lower, upper))?;
        let prior = declared.filter(|_| self.prior).and_then(|parameter| {
            let half = match parameter.tolerance? {
                Tolerance::Relative(share) => share * parameter.number.abs(),
                Tolerance::Absolute(half) => half,
            };
            (half > 0.0).then_some((parameter.number, half / TOLERANCE_DEVIATIONS))
        });
        Ok(Unknown {
            name: experiment
                .map_or_else(|| column.name.clone(), |number| format!("{}@{}", column.name, number + 1)),
            unit: column.unit.clone(),
            factor: column.factor,
            quantity: named.quantity,
            experiment,
            start,
            lower,
            upper,
            scaling,
            prior,
            fixed: false,
            beside_zero: false,
            signed: declared.is_some(),
        })
    }

    /// Where the search of an unknown starts, and its bounds.
    fn start_and_bounds(
        &self,
        NamedUnknown { name, column, nominal, declared, .. }: &NamedUnknown<'_>,
        experiment: Option<usize>,
    ) -> Result<(f64, (f64, f64)), QueryError> {
        let given = about(&self.start, |(known, _)| known, name, experiment);
        let given = given.map(|(_, amount)| amount.in_si(column.unit.as_deref(), column.factor));
        let given = given.transpose().map_err(|wrong| {
            refuse(format!("the start of `{name}`: {wrong}"), "write a unit of the same quantity, or none")
        })?;
        let bounds = about(&self.bounds, |(known, ..)| known, name, experiment);
        let bounds = bounds.map(|(_, low, high)| (low * column.factor, high * column.factor));
        let (lower, upper) = bounds
            .or(declared.and_then(|parameter| parameter.bounds))
            .unwrap_or((f64::NEG_INFINITY, f64::INFINITY));
        let start = given.unwrap_or(*nominal);
        if (lower..=upper).contains(&start) {
            return Ok((start, (lower, upper)));
        }
        let [start, lower, upper] = [start, lower, upper].map(|value| shortest(value / column.factor));
        Err(refuse(
            format!("`{}` starts at {start}, outside its bounds {lower} and {upper}", column.name),
            Remedy::marked("move it with {option start}, or widen its {option bounds}"),
        ))
    }

    /// By what measure the search moves an unknown.
    fn scaling(
        &self,
        NamedUnknown { name, column, .. }: &NamedUnknown<'_>,
        experiment: Option<usize>,
        start: f64,
        (lower, upper): (f64, f64),
    ) -> Result<Scaling, QueryError> {
        let chosen = match &self.logarithmic {
            Logarithmic::All => start > 0.0 && !(lower < 0.0 && lower.is_finite()),
            Logarithmic::None => false,
            Logarithmic::Names(list) => about(list, |known| known, name, experiment).is_some(),
        };
        if chosen && (start.is_nan() || start <= 0.0) {
            let start = shortest(start / column.factor);
            return Err(refuse(
                format!("`{}` starts at {start}, which has no logarithm", column.name),
                Remedy::marked("start above zero, or leave it out of {option log}"),
            ));
        }
        let width = upper - lower;
        Ok(match (chosen, start == 0.0) {
            (true, _) => Scaling::Logarithmic,
            (false, false) => Scaling::Linear(start.abs()),
            (false, true) => Scaling::Linear(if width.is_finite() { 0.5 * width } else { column.factor }),
        })
    }
}

/// What a name to be estimated means in a compiled model.
struct NamedUnknown<'a> {
    name: &'a str,
    quantity: Quantity,
    column: Column,
    /// The model's own value in SI.
    nominal: f64,
    /// The parameter of that name.
    declared: Option<&'a Parameter>,
}

/// The quantity that a name refers to, its column and its own value.
fn quantity(
    asked: &Asked<'_, '_>,
    name: &str,
    simulated: &[String],
    simulation: &Simulation,
    outputs: &[FittedOutput],
) -> Result<(Quantity, Column, f64), QueryError> {
    let output = |name: &str| {
        outputs.iter().position(|output| output.column.name == flat_name(name)).ok_or_else(|| {
            refuse(
                format!("`{name}` is no measured output, so that its sensor has neither offset nor gain"),
                "name an output that the data have a column for",
            )
        })
    };
    Ok(match named(name) {
        Named::Offset(of) => {
            let place = output(&of)?;
            let of = &outputs[place].column;
            let column = Column { name: format!("offset({})", of.name), ..of.clone() };
            (Quantity::Offset(place), column, 0.0)
        }
        Named::Gain(of) => {
            let place = output(&of)?;
            let name = format!("gain({})", outputs[place].column.name);
            (Quantity::Gain(place), Column { name, unit: None, factor: 1.0 }, 1.0)
        }
        Named::Simulated(name) => {
            let lane = simulated.iter().position(|known| *known == name).unwrap_or_default();
            let varied = &simulation.varied[lane];
            let column = simulation.wanted_columns[lane].clone();
            let nominal = nominal(asked, &name, simulation.parameters[varied.place]);
            (Quantity::Simulated { lane, place: varied.place }, column, nominal)
        }
    })
}

/// The entry of a list that is about an unknown: what is said of one experiment counts before what is said of all.
fn about<'a, T>(
    list: &'a [T],
    key: impl Fn(&T) -> &String,
    name: &str,
    experiment: Option<usize>,
) -> Option<&'a T> {
    let own = experiment.map(|number| (number + 1).to_string());
    let numbered = |entry: &&T| {
        let known = key(entry).split_once('@');
        known.is_some_and(|(plain, number)| named(plain) == named(name) && own.as_deref() == Some(number))
    };
    let plain = |entry: &&T| named(key(entry)) == named(name);
    list.iter().find(numbered).or_else(|| list.iter().find(plain))
}

/// The model's own value of a parameter or initial state; the compiled model has forgotten it, or has it at another
/// value.
fn nominal(asked: &Asked<'_, '_>, name: &str, compiled: f64) -> f64 {
    let parameters = &asked.own.parameters;
    let number = |symbol: Symbol| parameters.iter().find(|p| p.symbol == symbol).map(|p| p.number);
    let states = &asked.subject.equations.states;
    match states.iter().find(|state| format!("init({})", state.name) == name) {
        Some(state) => asked.pool.eval(state.initial, &number).unwrap_or(0.0),
        None => parameters.iter().find(|p| flat_name(&p.name) == name).map_or(compiled, |p| p.number),
    }
}
