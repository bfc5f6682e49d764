//! Questions about sensitivities in numbers: S(jω), tolerance bands and their
//! verification, and how poles, zeros and static gains move.

use crate::sensitivity::{chosen, without_paths};
use crate::{Frequencies, Linear, Model, NoAnswer, SensitivityOptions};
use paynter_algebra::Symbol;
use paynter_base::number::short;
use paynter_base::{Diagnostic, Ticket, code};
use paynter_graph::{BondGraph, Tolerance, flat_name};
use paynter_numerics::linalg::Complex64;
use paynter_numerics::parametric::bands::{Band, Bands, Curve, bands, effects};
use paynter_numerics::parametric::modes::{
    MOST_STATES, Mode, clusters, gains, oscillation, poles, swinging, zeros,
};
use paynter_numerics::parametric::samples::{Compiled, Samples, Trial, outside, samples};
use paynter_numerics::parametric::shift::Steady;
use paynter_numerics::parametric::{Moved, slopes, steep};
use paynter_numerics::poles::{ZERO_STATES, expanded};
use paynter_numerics::sensitivity::{FrequencySensitivity, frequency};
use paynter_numerics::{Matrices, Slope, grid, rough_slopes};
use paynter_view::json;

/// Points of the band where the user names none.
const POINTS: usize = 200;

/// Speeds this much smaller than their parts are rounding.
const AT_REST: f64 = 1e-9;

/// What is taken for every tolerance where the model gives none.
const ASSUMED: f64 = 0.01;

/// What to compute.
#[derive(Debug, Clone, Default)]
pub struct ResponseOptions {
    /// Which parameters, and how.
    pub which: SensitivityOptions,
    /// The frequencies; from a decade below the poles and zeros to one above where left out.
    pub omega: Option<Frequencies>,
    /// Samples by which the bands are verified; none where zero.
    pub verify: usize,
    /// Where the random numbers start.
    pub seed: u64,
}

impl Model {
    /// Tells the sensitivities of the frequency response, and what tolerances make of it.
    pub fn sensitivity_response(
        &mut self,
        options: &ResponseOptions,
        ticket: &Ticket,
    ) -> Result<json::SensitivityResponse, NoAnswer> {
        let linear = self.linear_to_move(ticket)?;
        let Some(graph) = self.graph.clone() else { return Err(NoAnswer::Wrong(self.diagnostics.clone())) };
        let places = chosen(&graph, &options.which.only).map_err(|found| self.refused(*found))?;
        if let Some(missing) = without_paths(&graph) {
            return Err(self.refused(missing));
        }
        let matrices = linear.matrices(&self.pool)?;
        let moved = self.moved(&linear, &graph, &places, options.which.frozen)?;
        let derivatives = self.matrix_slopes(&linear, &moved)?;
        let omega = match options.omega {
            Some(frequencies) => frequencies.list(),
            None => self.band(&linear, &matrices, ticket)?,
        };
        let found = frequency(&matrices, &derivatives, &omega, ticket)?;
        self.at_poles(&linear, &matrices, &found, &omega);
        let (tolerances, assumed) = tolerances(&graph, &places);
        let mut curves = bands(&found, &tolerances);
        let sampled = match options.verify {
            0 => None,
            _ => Some(self.verified(
                &linear,
                &graph,
                &places,
                &tolerances,
                &omega,
                &curves,
                options,
                ticket,
            )?),
        };
        let equations = &linear.equations;
        let output = |k: usize| equations.outputs[k].name.clone();
        let input = |k: usize| equations.inputs[k].name.clone();
        let parameter = |k: usize| flat_name(&graph.parameters[places[k]].name);
        let mut entries = Vec::new();
        for o in 0..found.outputs {
            for i in 0..found.inputs {
                for k in 0..places.len() {
                    let nominal = graph.parameters[places[k]].number;
                    let value = |at: usize| {
                        let slope = found.slope(o, i, k, at);
                        if options.which.normalized {
                            slope * nominal / found.transfer(o, i, at)
                        } else {
                            slope
                        }
                    };
                    let values: Vec<Complex64> = (0..omega.len()).map(value).collect();
                    entries.push(json::ResponseEntry {
                        output: output(o),
                        input: input(i),
                        parameter: parameter(k),
                        re: values.iter().map(|z| finite(z.re)).collect(),
                        im: values.iter().map(|z| finite(z.im)).collect(),
                    });
                }
            }
        }
        let ranking = effects(&found, &omega, &tolerances).into_iter().map(|effect| json::Ranking {
            output: output(effect.output),
            input: input(effect.input),
            parameter: parameter(effect.parameter),
            tolerance: tolerances[effect.parameter],
            effect: effect.size,
            omega: effect.omega,
            magnitude: effect.magnitude,
            phase: effect.phase,
        });
        let ranking = ranking.collect();
        let mut list = Vec::new();
        for (k, own) in curves.drain(..).enumerate() {
            let seen = sampled.as_ref().map(|samples| &samples.entries[k]);
            let left = seen.map_or_else(Vec::new, |seen| outside(&own, seen));
            if let (Some(first), Some(last)) = (left.first(), left.last()) {
                let message = format!(
                    "samples of {}/{} leave the first-order band between {} and {} rad/s",
                    output(own.output),
                    input(own.input),
                    short(omega[*first]),
                    short(omega[*last])
                );
                self.diagnostics.push(Diagnostic::new(code::BEYOND_FIRST_ORDER, message));
            }
            list.push(json::ToleranceBand {
                output: output(own.output),
                input: input(own.input),
                magnitude: curve(&own.magnitude, seen.map(|seen| &seen.magnitude)),
                phase: curve(&own.phase, seen.map(|seen| &seen.phase)),
                outside: left.into_iter().map(|at| omega[at]).collect(),
            });
        }
        Ok(json::SensitivityResponse {
            ok: true,
            model: graph.name.clone(),
            parameters: (0..places.len()).map(parameter).collect(),
            normalized: options.which.normalized,
            entries,
            ranking,
            assumed_tolerances: assumed,
            bands: list,
            verification: sampled.map(|samples| json::Verification {
                samples: options.verify,
                seed: options.seed,
                failed: samples.failed,
            }),
            operating_point: linear.named_point(&self.pool),
            diagnostics: json::Diagnostic::list(&self.diagnostics, &self.sources),
            omega,
        })
    }

    /// What moves with each parameter: itself, and the operating point of a nonlinear model.
    pub(crate) fn moved(
        &mut self,
        linear: &Linear,
        graph: &BondGraph,
        places: &[usize],
        frozen: bool,
    ) -> Result<Vec<Moved>, NoAnswer> {
        let symbols: Vec<Symbol> = places.iter().map(|k| graph.parameters[*k].symbol).collect();
        let mut moved: Vec<Moved> = symbols.iter().map(|symbol| vec![(*symbol, 1.0)]).collect();
        if linear.point.is_none() {
            return Ok(moved);
        }
        if frozen {
            self.moving_kinks(linear, graph, &moved)?;
            return Ok(moved);
        }
        let nominal: Vec<f64> = graph.parameters.iter().map(|parameter| parameter.number).collect();
        let steady = Steady::new(&mut self.pool, graph, &linear.equations, &symbols, &linear.values);
        let shifts = steady.ok().and_then(|steady| steady.shift(&nominal));
        let Some(shifts) = shifts else {
            let message = "the operating point does not move smoothly with the parameters: its equations leave it undetermined";
            let help = "ask with `--frozen` for the sensitivities at a fixed operating point";
            return Err(self.refused(Diagnostic::new(code::NO_OPERATING_POINT, message).help(help)));
        };
        for (list, shift) in moved.iter_mut().zip(shifts) {
            let mut carried: Moved = shift.into_iter().filter(|(_, slope)| *slope != 0.0).collect();
            carried.sort_by_key(|(symbol, _)| *symbol);
            list.extend(carried);
        }
        self.moving_kinks(linear, graph, &moved)?;
        Ok(moved)
    }

    /// Says which laws have no second slope at an operating point that moves along them; where that
    /// makes the linear model move infinitely fast, there are no sensitivities.
    fn moving_kinks(&mut self, linear: &Linear, graph: &BondGraph, moved: &[Moved]) -> Result<(), NoAnswer> {
        let equations = &linear.equations;
        let probes = linear.probes(&self.pool);
        let rough = rough_slopes(&mut self.pool, graph, equations, &probes);
        let steep = steep(&mut self.pool, &linear.space, moved, &probes);
        if !steep.is_empty() {
            let names: Vec<String> =
                steep.iter().map(|k| format!("`{}`", self.pool.name(moved[*k][0].0))).collect();
            let law =
                rough.iter().find(|(_, _, slope)| *slope != Slope::Kink).map(|(id, _, _)| graph.element(*id));
            let what = law.map_or_else(
                || "the linear model".to_owned(),
                |element| format!("the slope of the law of `{}`", element.name),
            );
            let message = format!(
                "{what} changes infinitely fast with {} at the operating point: there are no sensitivities",
                names.join(", ")
            );
            let help = "choose inputs away from that point, name other parameters by `--only`, or ask with `--frozen` for a point that does not move";
            let diagnostic = Diagnostic::new(code::NO_SLOPE, message).help(help);
            return Err(self.refused(match law {
                Some(element) => diagnostic.at(element.span),
                None => diagnostic,
            }));
        }
        for (element, variable, slope) in rough {
            let assigned = equations.assignments.iter().find(|a| a.symbol == variable).map(|a| a.value);
            let value = assigned.unwrap_or_else(|| self.pool.var(variable));
            let mut movers = Vec::new();
            for list in moved {
                let mut parts = Vec::with_capacity(list.len());
                for (symbol, speed) in list {
                    let partial = self.pool.diff(value, *symbol);
                    parts
                        .extend(self.pool.eval(partial, &|s| linear.value(s)).map(|partial| partial * speed));
                }
                let size: f64 = parts.iter().map(|part| part.abs()).sum();
                if parts.iter().sum::<f64>().abs() > AT_REST * size {
                    movers.push(format!("`{}`", self.pool.name(list[0].0)));
                }
            }
            if movers.is_empty() {
                continue;
            }
            let how = match slope {
                Slope::Jump => "jumps",
                Slope::Kink => "has a kink",
                Slope::Infinite => "is infinitely steep",
            };
            let element = graph.element(element);
            let message = format!(
                "the slope of the law of `{}` {how} at the operating point, which moves with {}: there are sensitivities to one side at most",
                element.name,
                movers.join(", ")
            );
            let help =
                "choose inputs away from that point, or ask with `--frozen` for a point that does not move";
            self.diagnostics.push(Diagnostic::new(code::KINK, message).at(element.span).help(help));
        }
        self.diagnostics.sort();
        Ok(())
    }

    /// The derivatives of the matrices.
    pub(crate) fn matrix_slopes(
        &mut self,
        linear: &Linear,
        moved: &[Moved],
    ) -> Result<Vec<Matrices>, NoAnswer> {
        slopes(&mut self.pool, &linear.space, moved, &|symbol| linear.value(symbol)).map_err(|_| {
            let message = "the matrices have no finite derivatives by the parameters at the nominal values";
            self.refused(Diagnostic::new(code::VANISHING_DIVISOR, message))
        })
    }

    /// Frequencies from a decade below the poles and zeros to one above.
    fn band(&self, linear: &Linear, matrices: &Matrices, ticket: &Ticket) -> Result<Vec<f64>, NoAnswer> {
        let mut roots = Vec::new();
        if matrices.states() <= ZERO_STATES {
            match self.spectrum(linear, matrices, &[], ticket) {
                Ok(spectrum) => roots = expanded(&spectrum.poles),
                Err(NoAnswer::Cancelled) => return Err(NoAnswer::Cancelled),
                Err(NoAnswer::Wrong(_)) => {}
            }
        }
        let (low, high) = grid::span(&roots);
        Ok(grid::logarithmic(low, high, POINTS))
    }

    /// Says at which frequencies there are no values.
    fn at_poles(
        &mut self,
        linear: &Linear,
        matrices: &Matrices,
        found: &FrequencySensitivity,
        omega: &[f64],
    ) {
        if found.outputs == 0 || found.inputs == 0 {
            return;
        }
        for k in (0..omega.len()).filter(|&k| !found.transfer(0, 0, k).is_finite()) {
            let mut message = format!(
                "a pole lies at {} rad/s on the imaginary axis: there is no S there",
                short(omega[k])
            );
            let state = swinging(matrices, omega[k]).map(|state| &linear.equations.states[state]);
            if let Some(state) = state {
                message.push_str(&format!("; `{}` goes on there by itself", state.name));
            }
            let diagnostic = Diagnostic::new(code::AT_A_POLE, message);
            let span =
                state.zip(self.graph.as_ref()).and_then(|(state, graph)| graph.state_span(state.variable));
            self.diagnostics.push(match span {
                Some(span) => diagnostic.at(span),
                None => diagnostic,
            });
        }
    }

    /// Draws samples of the model itself.
    #[allow(clippy::too_many_arguments, reason = "all that a sample depends on")]
    fn verified(
        &mut self,
        linear: &Linear,
        graph: &BondGraph,
        places: &[usize],
        tolerances: &[f64],
        omega: &[f64],
        curves: &[Bands],
        options: &ResponseOptions,
        ticket: &Ticket,
    ) -> Result<Samples, NoAnswer> {
        let parameters: Vec<Symbol> = graph.parameters.iter().map(|parameter| parameter.symbol).collect();
        let nominal: Vec<f64> = graph.parameters.iter().map(|parameter| parameter.number).collect();
        let mut spread = vec![0.0; nominal.len()];
        for (k, tolerance) in places.iter().zip(tolerances) {
            spread[*k] = *tolerance;
        }
        let moves = linear.point.is_some() && !options.which.frozen;
        let mut symbols = parameters.clone();
        symbols.extend(linear.values.keys().filter(|symbol| !parameters.contains(symbol)));
        let fixed: Vec<f64> = symbols[parameters.len()..].iter().map(|s| linear.values[s]).collect();
        let compiled = Compiled::new(&self.pool, &linear.space, &symbols);
        let steady = moves
            .then(|| Steady::new(&mut self.pool, graph, &linear.equations, &[], &linear.values))
            .transpose();
        let (Ok(compiled), Ok(steady)) = (compiled, steady) else {
            let message = "the model cannot be evaluated at other parameters";
            return Err(self.refused(Diagnostic::new(code::VANISHING_DIVISOR, message)));
        };
        let others = &symbols[parameters.len()..];
        let model = |drawn: &[f64]| -> Option<Matrices> {
            let mut values = drawn.to_vec();
            values.extend_from_slice(&fixed);
            if let Some(steady) = &steady {
                for (symbol, value) in steady.find(drawn)? {
                    if let Some(place) = others.iter().position(|other| *other == symbol) {
                        values[drawn.len() + place] = value;
                    }
                }
            }
            compiled.matrices(&values)
        };
        let trial = Trial {
            count: options.verify,
            seed: options.seed,
            nominal: &nominal,
            tolerances: &spread,
            omega,
        };
        Ok(samples(trial, curves, &model, ticket)?)
    }

    /// Adds what poles, zeros and static gains do to an answer in symbols.
    pub(crate) fn add_modes(
        &mut self,
        linear: &Linear,
        moved: &[Moved],
        answer: &mut json::Sensitivity,
        ticket: &Ticket,
    ) -> Result<(), NoAnswer> {
        let (Ok(matrices), Ok(derivatives)) =
            (linear.matrices(&self.pool), self.matrix_slopes(linear, moved))
        else {
            return Ok(());
        };
        let names = answer.parameters.clone();
        let sizes: Vec<f64> = moved.iter().map(|list| linear.value(list[0].0).unwrap_or(0.0).abs()).collect();
        let equations = &linear.equations;
        if matrices.states() > MOST_STATES {
            return Ok(());
        }
        for gain in gains(&matrices, &derivatives) {
            let slope = |(k, name): (usize, &String)| json::GainSlope {
                parameter: name.clone(),
                value: clean(gain.slopes[k], sizes[k], gain.value),
            };
            answer.dc_gain.push(json::DcSensitivity {
                output: equations.outputs[gain.output].name.clone(),
                input: equations.inputs[gain.input].name.clone(),
                value: gain.value,
                sensitivities: names.iter().enumerate().map(slope).collect(),
            });
        }
        if matrices.states() == 0 {
            return Ok(());
        }
        let wanted: Vec<(usize, usize)> =
            (0..matrices.outputs()).flat_map(|o| (0..matrices.inputs()).map(move |i| (o, i))).collect();
        let spectrum = match self.spectrum(linear, &matrices, &wanted, ticket) {
            Ok(spectrum) => spectrum,
            Err(NoAnswer::Cancelled) => return Err(NoAnswer::Cancelled),
            Err(NoAnswer::Wrong(_)) => return Ok(()),
        };
        let roots: Vec<(Complex64, usize)> =
            spectrum.poles.iter().map(|root| (root.value, root.multiplicity)).collect();
        let all: Vec<Complex64> = roots.iter().map(|(root, _)| *root).collect();
        for mode in poles(&matrices, &derivatives, &roots, ticket)? {
            if mode.multiplicity > 1 && mode.value.im >= 0.0 {
                let message = format!(
                    "the pole {} occurs {} times and has no derivative; that of the mean of the cluster is given",
                    shown(mode.value),
                    mode.multiplicity
                );
                self.diagnostics.push(Diagnostic::new(code::REPEATED_POLE, message));
            }
            answer.poles.push(pole(&cleaned(mode, &sizes), &names));
        }
        for entry in &spectrum.entries {
            let own = clusters(&entry.zeros);
            let place = (entry.output, entry.input);
            for mode in zeros(&matrices, &derivatives, place, &own, &all, ticket)? {
                let mode = cleaned(mode, &sizes);
                let slopes = names.iter().zip(&mode.slopes);
                answer.zeros.push(json::ZeroSensitivity {
                    output: equations.outputs[entry.output].name.clone(),
                    input: equations.inputs[entry.input].name.clone(),
                    re: mode.value.re,
                    im: mode.value.im,
                    multiplicity: mode.multiplicity,
                    sensitivities: slopes
                        .map(|(name, slope)| json::RootSlope {
                            parameter: name.clone(),
                            re: finite(slope.re),
                            im: finite(slope.im),
                        })
                        .collect(),
                });
            }
        }
        Ok(())
    }
}

/// Changes this much smaller than the value itself are rounding.
const ROUNDING: f64 = 1e-11;

/// Takes a derivative for zero where a change of the parameter by its own size would not be seen.
fn clean(slope: f64, size: f64, value: f64) -> f64 {
    if size > 0.0 && (slope * size).abs() <= ROUNDING * value.abs() { 0.0 } else { slope }
}

fn cleaned(mut mode: Mode, sizes: &[f64]) -> Mode {
    let value = mode.value.norm();
    for (slope, size) in mode.slopes.iter_mut().zip(sizes) {
        *slope = Complex64::new(clean(slope.re, *size, value), clean(slope.im, *size, value));
    }
    mode
}

fn pole(mode: &Mode, names: &[String]) -> json::PoleSensitivity {
    let nothing = Complex64::new(0.0, 0.0);
    let own = oscillation(mode.value, nothing).map(|(own, _)| own);
    let slope = |(name, slope): (&String, &Complex64)| {
        let changes =
            oscillation(mode.value, *slope).filter(|_| mode.multiplicity == 1).map(|(_, slope)| slope);
        json::PoleSlope {
            parameter: name.clone(),
            re: finite(slope.re),
            im: finite(slope.im),
            natural_frequency: changes.and_then(|[omega, _]| finite(omega)),
            damping: changes.and_then(|[_, damping]| finite(damping)),
        }
    };
    json::PoleSensitivity {
        re: mode.value.re,
        im: mode.value.im,
        multiplicity: mode.multiplicity,
        natural_frequency: own.map(|[omega, _]| omega),
        damping: own.map(|[_, damping]| damping),
        sensitivities: names.iter().zip(&mode.slopes).map(slope).collect(),
    }
}

/// The deviations of the parameters asked for, and whether they had to be assumed.
fn tolerances(graph: &BondGraph, places: &[usize]) -> (Vec<f64>, bool) {
    let given = |k: &usize| {
        let parameter = &graph.parameters[*k];
        match parameter.tolerance {
            Some(Tolerance::Relative(part)) => (part * parameter.number).abs(),
            Some(Tolerance::Absolute(deviation)) => deviation.abs(),
            None => 0.0,
        }
    };
    let list: Vec<f64> = places.iter().map(given).collect();
    if list.iter().any(|deviation| *deviation != 0.0) {
        return (list, false);
    }
    (places.iter().map(|k| (ASSUMED * graph.parameters[*k].number).abs()).collect(), true)
}

fn curve(own: &Curve, seen: Option<&Band>) -> json::BandCurve {
    let list = |values: &[f64]| -> Vec<Option<f64>> { values.iter().map(|x| finite(*x)).collect() };
    json::BandCurve {
        nominal: list(&own.nominal),
        worst_lower: list(&own.worst.lower),
        worst_upper: list(&own.worst.upper),
        rss_lower: list(&own.rss.lower),
        rss_upper: list(&own.rss.upper),
        sampled_lower: seen.map(|band| list(&band.lower)),
        sampled_upper: seen.map(|band| list(&band.upper)),
    }
}

fn finite(value: f64) -> Option<f64> {
    value.is_finite().then_some(value)
}

fn shown(value: Complex64) -> String {
    if value.im == 0.0 {
        return short(value.re);
    }
    format!("{} ± {}j", short(value.re), short(value.im.abs()))
}
