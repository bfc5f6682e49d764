//! From a question, records and a model to the parts of a problem.

use crate::naming::{Named, named};
use crate::problem::{Experiment, FittedOutput, Weights};
use crate::question::{Asked, EstimateOptions, Weight, refuse};
use crate::records::Recorded;
use crate::shooting::Pieces;
use crate::tolerance::CONSTANT_DATA;
use crate::unknown::Unknown;
use paynter_base::number::{shortest, significant, unit};
use paynter_base::{CancellationToken, Diagnostic, Diagnostics, QueryError, Remedy, code};
use paynter_graph::{BondGraph, flat_name};
use paynter_numerics::Tables;
use paynter_simulate::Options;
use paynter_simulate::data::Measured;
use paynter_simulate::experiment::{Sensitivities, SimulateOptions, Simulation, Subject};

/// What a problem is made of.
pub(crate) struct Parts {
    /// Each input, and whether the data measure it.
    pub inputs: Vec<(String, bool)>,
    pub simulation: Simulation,
    pub unknowns: Vec<Unknown>,
    pub outputs: Vec<FittedOutput>,
    pub experiments: Vec<Experiment>,
    /// What pieces of records are simulated with, where they are.
    pub pieces: Option<Pieces>,
    /// What is to be said of weights that the data do not tell.
    pub notes: Diagnostics,
}

impl EstimateOptions {
    /// Reads records and compiles the model into the parts of a problem.
    pub(crate) fn prepare(
        &self,
        asked: &mut Asked<'_, '_>,
        token: &CancellationToken,
    ) -> Result<Parts, QueryError> {
        self.check()?;
        if self.data.is_empty() {
            return Err(refuse(
                "there are no measured data",
                Remedy::marked("name a CSV file with {option data}"),
            ));
        }
        let mut records = self.read(asked, &self.data, &self.map)?;
        let map = if self.validation_map.is_empty() { &self.map } else { &self.validation_map };
        records.extend(self.read(asked, &self.validation, map)?);
        let parts = self.assemble(asked, &records, token)?;
        let count = parts.experiments.iter().map(Experiment::count).sum::<usize>();
        if count < parts.unknowns.len() {
            return Err(refuse(
                format!("{count} measured values cannot determine {} unknowns", parts.unknowns.len()),
                Remedy::marked("measure more, or estimate less: {option fit} names what is estimated"),
            ));
        }
        asked.findings.extend(parts.notes.clone());
        Ok(parts)
    }

    /// Compiles the model and makes experiments of records: those that are fitted first.
    pub(crate) fn assemble(
        &self,
        asked: &mut Asked<'_, '_>,
        records: &[Recorded],
        token: &CancellationToken,
    ) -> Result<Parts, QueryError> {
        let names = self.names(asked)?;
        let graph = asked.subject.graph;
        let places = self.fitted_outputs(graph, records)?;
        let (inputs, tables) = self.tables(asked, records)?;
        let simulated: Vec<String> = names
            .iter()
            .filter_map(|name| match named(name) {
                Named::Simulated(name) => Some(name),
                _ => None,
            })
            .collect();
        let end = records.iter().map(Recorded::length);
        let options = SimulateOptions {
            t_end: Some(end.fold(0.0, f64::max)),
            points: 2,
            rtol: self.rtol,
            atol: self.atol,
            solver: self.solver.clone(),
            step: self.step,
            sensitivities: Sensitivities::Names(simulated.clone()),
            hold: self.hold,
            varied: simulated.clone(),
            states: self.shots > 1,
            max_steps: self.max_steps,
            ..SimulateOptions::default()
        };
        let named_inputs = graph.inputs.iter().zip(&inputs);
        let told = named_inputs.map(|(input, table)| (flat_name(&input.name), table.is_some())).collect();
        let measured = Measured { inputs, tables: tables[0].clone(), end: None };
        let subject = Subject { measured: &measured, ..asked.subject.clone() };
        let simulation = Simulation::compile(asked.pool, &subject, (&options, &[]), asked.findings, token)?;
        let outputs: Vec<FittedOutput> = places
            .iter()
            .map(|place| FittedOutput { place: *place, column: simulation.outputs[*place].clone() })
            .collect();
        let unknowns = self.unknowns(asked, &names, &simulated, &simulation, &outputs)?;
        let (weights, notes) = self.even_weights(graph.inputs.len(), records, &outputs)?;
        let experiments =
            self.experiments(graph, records, tables, (&outputs, &weights), &simulation.options)?;
        let pieces = match self.shots {
            1 => None,
            _ => Some(self.pieces(asked, &subject, &options, &unknowns, token)?),
        };
        Ok(Parts { inputs: told, simulation, unknowns, outputs, experiments, pieces, notes })
    }

    /// Compiles the model with the initial values of all states as parameters, for pieces of records.
    fn pieces(
        &self,
        asked: &mut Asked<'_, '_>,
        subject: &Subject<'_>,
        options: &SimulateOptions,
        unknowns: &[Unknown],
        token: &CancellationToken,
    ) -> Result<Pieces, QueryError> {
        let is_initial = |name: &&String| name.starts_with("init(");
        let mut names: Vec<String> =
            options.varied.iter().filter(|name| !is_initial(name)).cloned().collect();
        let own = names.len();
        names.extend(subject.equations.states.iter().map(|state| format!("init({})", state.name)));
        let options = SimulateOptions {
            sensitivities: Sensitivities::Names(names.clone()),
            varied: names.clone(),
            ..options.clone()
        };
        let simulation =
            Simulation::compile(asked.pool, subject, (&options, &[]), &mut Diagnostics::new(), token)?;
        if simulation.is_charted() {
            return Err(refuse(
                "this model is integrated over other states than its own, so that it cannot start within a record",
                Remedy::marked("leave {option shots} out, and start several times with {option starts}"),
            ));
        }
        let lane = |unknown: &Unknown| {
            let name = unknown.name.split('@').next().unwrap_or_default();
            names[..own].iter().position(|known| known == name)
        };
        Ok(Pieces {
            lanes: unknowns.iter().map(lane).collect(),
            states: (own..names.len()).map(|lane| (simulation.varied[lane].place, lane)).collect(),
            simulation,
        })
    }

    /// The experiments, ready to be compared with runs.
    fn experiments(
        &self,
        graph: &BondGraph,
        records: &[Recorded],
        tables: Vec<Tables>,
        (outputs, weights): (&[FittedOutput], &[f64]),
        options: &Options,
    ) -> Result<Vec<Experiment>, QueryError> {
        let (inputs, columns) = (graph.inputs.len(), graph.inputs.len() + graph.outputs.len());
        let mut experiments = Vec::new();
        let fitted_records = records.len() - self.validation.len();
        for (at, (Recorded { name: file, record }, tables)) in records.iter().zip(tables).enumerate() {
            let list = |output: &FittedOutput| record.columns[inputs + output.place].as_ref();
            let wanted = |sample: usize| {
                outputs.iter().any(|output| list(output).is_some_and(|list| list[sample].is_finite()))
            };
            let kept: Vec<usize> =
                (0..record.times.len()).step_by(self.decimate).filter(|sample| wanted(*sample)).collect();
            let times: Vec<f64> = kept.iter().map(|sample| record.times[*sample]).collect();
            let measured = outputs.iter().map(|output| {
                kept.iter().map(|sample| list(output).map_or(f64::NAN, |list| list[*sample])).collect()
            });
            let own = outputs.iter().zip(weights).map(|(output, even)| {
                let column = self.weights.iter().filter(|(_, weight)| matches!(weight, Weight::Column(_)));
                let place = column.clone().position(|(name, _)| flat_name(name) == output.column.name);
                let Some(samples) = place.and_then(|place| record.columns[columns + place].as_ref()) else {
                    return Ok(Weights::Even(*even));
                };
                // Where nothing was measured, nobody has to write a weight.
                let known = |sample: &usize| list(output).is_some_and(|list| list[*sample].is_finite());
                let weight = |sample: &usize| match known(sample) {
                    true => samples[*sample].sqrt() / output.column.factor,
                    false => 0.0,
                };
                let each: Vec<f64> = kept.iter().map(weight).collect();
                match each.iter().position(|weight| !(*weight >= 0.0 && weight.is_finite())) {
                    None => Ok(Weights::Each(each)),
                    Some(bad) => Err(refuse(
                        format!(
                            "`{file}`: the weight at t = {} is no number from zero on",
                            shortest(times[bad])
                        ),
                        "write a weight for each sample of the output; 0 leaves it out",
                    )),
                }
            });
            let own = own.collect::<Result<Vec<Weights>, QueryError>>()?;
            let validates = at >= fitted_records;
            let count = times.len();
            let fitted = match validates {
                true => 0,
                false => ((1.0 - self.validation_share) * count as f64).round() as usize,
            };
            if !validates && fitted == 0 {
                return Err(refuse(
                    format!("nothing of `{file}` is left to fit"),
                    Remedy::marked("keep less for {option validate}, or decimate less"),
                ));
            }
            let start = record.times[0];
            let over = |times: Vec<f64>| {
                let end = times.last().copied().unwrap_or(start);
                // A run of no length has no step.
                let t_end = if end > start { end } else { record.times[1] };
                Options { t_start: start, t_end, times, points: 0, ..options.clone() }
            };
            experiments.push(Experiment {
                name: file.clone(),
                tables,
                measured: measured.collect(),
                weights: own,
                fitted,
                part: over(times[..fitted].to_vec()),
                whole: over(times),
                validates,
            });
        }
        Ok(experiments)
    }

    /// The square root of the weight of each output: that which was asked for, else one, or of several outputs one
    /// over the variance of what was measured, so that each counts alike; and what is to be said of outputs whose data
    /// do not vary, which count beside their size.
    fn even_weights(
        &self,
        inputs: usize,
        records: &[Recorded],
        outputs: &[FittedOutput],
    ) -> Result<(Vec<f64>, Diagnostics), QueryError> {
        for (name, weight) in &self.weights {
            if !outputs.iter().any(|output| output.column.name == flat_name(name)) {
                return Err(refuse(
                    format!("`{name}` has a weight, but is no measured output"),
                    "name an output that the data have a column for",
                ));
            }
            if let Weight::Even(value) = weight
                && !(*value >= 0.0 && value.is_finite())
            {
                return Err(refuse(
                    format!("the weight {} of `{name}` is no number from zero on", shortest(*value)),
                    "a weight multiplies the square of a residual",
                ));
            }
        }
        let mut notes = Diagnostics::new();
        let mut weight = |output: &FittedOutput| {
            let column = &output.column;
            match self.weights.iter().find(|(name, _)| flat_name(name) == column.name) {
                Some((_, Weight::Even(value))) => return value.sqrt() / column.factor,
                Some((_, Weight::Column(_))) => return 1.0,
                None if outputs.len() == 1 => return 1.0,
                None => {}
            }
            let values: Vec<f64> = records[..records.len() - self.validation.len()]
                .iter()
                .filter_map(|recorded| recorded.record.columns[inputs + output.place].as_ref())
                .flatten()
                .copied()
                .filter(|value| value.is_finite())
                .collect();
            let count = values.len().max(1) as f64;
            let mean = values.iter().sum::<f64>() / count;
            let deviation = (values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / count).sqrt();
            let largest = values.iter().fold(0.0_f64, |most, value| most.max(value.abs()));
            if deviation > CONSTANT_DATA * largest {
                return 1.0 / deviation;
            }
            let size = if largest > 0.0 { largest } else { column.factor };
            let told = match values.len() {
                1 => "have one value only".to_owned(),
                _ => "do not vary".to_owned(),
            };
            let message = format!(
                "the data of `{}` {told}, so that its residuals are measured by {}{}",
                column.name,
                significant(size / column.factor),
                column.unit.as_deref().map(|text| format!(" {}", unit(text))).unwrap_or_default()
            );
            notes.push(Diagnostic::new(code::UNKNOWN_SCALE, message));
            1.0 / size
        };
        let weights = outputs.iter().map(&mut weight).collect();
        Ok((weights, notes))
    }
}
