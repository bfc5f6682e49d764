//! The report on a model: every question asked, each answer a section.

use crate::simulate::{Response, Sensitivities, SimulateOptions, Simulation};
use crate::{BodeOptions, LinearModel, Model, NoAnswer, ResponseOptions};
use paynter_algebra::poly::Budget;
use paynter_algebra::{Expr, Func, Node, Symbol};
use paynter_base::{Cancelled, Diagnostics, Severity, Ticket};
use paynter_equations::transfer;
use paynter_graph::Variable;
use paynter_simulate::experiment::T_END;
use paynter_view::figures;
use paynter_view::json::{self, Naming};
use paynter_view::report::{self, Report, Section};
use std::f64::consts::TAU;

/// Longer transfer functions are not read, so that no time is spent on them.
const READABLE: Budget = Budget { terms: 20_000, steps: 20_000_000 };

/// Transfer functions of a higher order are not even begun.
const READABLE_ORDER: usize = 30;

/// Samples of a response over time: enough for a smooth curve.
const SAMPLES: usize = 501;

/// More periods of a source in one picture cannot be seen.
const PERIODS: f64 = 40.0;

/// One section: its anchor, its heading, and the question it answers.
type Maker = (&'static str, &'static str, fn(&mut Asking<'_>) -> Result<Section, NoAnswer>);

/// A model being asked one question after the other.
struct Asking<'a> {
    model: &'a mut Model,
    ticket: &'a Ticket,
}

impl Asking<'_> {
    /// The linear model, at the operating point where the equations are nonlinear.
    fn linear(&mut self) -> Result<LinearModel, NoAnswer> {
        self.model.linear(self.ticket)
    }

    /// How long a run should be, and how many samples it needs: until the slowest
    /// mode has decayed or has swung a few times, and no more periods of a source than can be seen.
    fn horizon(&mut self) -> Result<(f64, usize), NoAnswer> {
        let default = T_END;
        let fastest = self.source_frequency()?;
        let (modes, nonlinear) = match self.linear() {
            Ok(linear) => match self.model.poles(Naming::Flat, self.ticket) {
                Ok(found) => (found.modes, linear.point.is_some()),
                Err(NoAnswer::Cancelled) => return Err(NoAnswer::Cancelled),
                Err(NoAnswer::Wrong(_)) => (Vec::new(), false),
            },
            Err(NoAnswer::Cancelled) => return Err(NoAnswer::Cancelled),
            Err(NoAnswer::Wrong(_)) => (Vec::new(), false),
        };
        let time = |mode: &json::Mode| match mode.pole {
            // Near its end a nonlinear model may tell nothing of how long the way there is.
            [0.0, 0.0] => nonlinear.then_some(default),
            // What does not decay within many periods is shown for some of them.
            [re, im] if re.abs() < 0.02 * im.abs() => Some(8.0 * TAU / im.abs()),
            [re, _] => Some(6.0 / re.abs()),
        };
        let longest = modes.iter().filter_map(time).filter(|t| t.is_finite()).fold(0.0, f64::max);
        Ok(match (longest > 0.0, fastest) {
            (true, None) => (rounded(longest), SAMPLES),
            (false, None) => (default, SAMPLES),
            (moves, Some(omega)) => {
                let period = TAU / omega;
                let wanted = if moves { longest } else { 5.0 * period };
                let t_end = rounded(wanted.clamp(3.0 * period, PERIODS * period));
                (t_end, SAMPLES.max((50.0 * t_end / period) as usize))
            }
        })
    }

    /// The highest angular frequency of sines and cosines of time in the model, in rad/s.
    fn source_frequency(&mut self) -> Result<Option<f64>, NoAnswer> {
        let (equations, _) = self.model.derive(self.ticket)?;
        let Some(graph) = &self.model.graph else { return Ok(None) };
        let Some(time) = graph.variables.symbol(Variable::Time) else { return Ok(None) };
        let mut roots = equations.rates.clone();
        roots.extend(equations.inputs.iter().map(|input| input.value));
        roots.extend(equations.outputs.iter().map(|output| output.value));
        let pool = &mut self.model.pool;
        let arguments: Vec<Expr> = pool
            .reachable(&roots)
            .into_iter()
            .filter_map(|e| match pool.node(e) {
                Node::Call(Func::Sin | Func::Cos, [argument]) => Some(*argument),
                _ => None,
            })
            .collect();
        let value = |symbol: Symbol| graph.parameters.iter().find(|p| p.symbol == symbol).map(|p| p.number);
        let mut fastest: Option<f64> = None;
        for argument in arguments {
            let rate = pool.diff(argument, time);
            if let Ok(omega) = pool.eval(rate, &value)
                && omega.is_finite()
                && omega != 0.0
            {
                fastest = Some(fastest.map_or(omega.abs(), |known| known.max(omega.abs())));
            }
        }
        Ok(fastest)
    }
}

/// The sensitivities to more parameters take longer than a reader of a report waits.
const SENSITIVE: usize = 60;

/// A round number not below another: 1, 2 or 5 times a power of ten.
fn rounded(least: f64) -> f64 {
    let base = 10_f64.powf(least.log10().floor());
    [1.0, 2.0, 5.0].into_iter().map(|factor| factor * base).find(|t| *t >= least).unwrap_or(10.0 * base)
}

/// The sections in the order of reading. A new one is a new line here.
const SECTIONS: &[Maker] = &[
    ("drawing", "Bond graph", drawing),
    ("model", "Parameters, inputs and outputs", quantities),
    ("causality", "Causality", causality),
    ("equations", "Equations", equations),
    ("operating-point", "Operating point", operating_point),
    ("matrices", "Matrices", matrices),
    ("transfer", "Transfer functions", transfers),
    ("poles", "Poles and zeros", poles),
    ("structure", "Structure", structure),
    ("bode", "Frequency response", frequency),
    ("sensitivity", "Sensitivities and tolerances", sensitivity),
    ("simulation", "Response over time", simulation),
    ("time-sensitivity", "Sensitivities over time", time_sensitivity),
    ("energy", "Energy", energy),
    ("findings", "Findings", findings),
];

impl Model {
    /// Asks every question and puts the answers on one page. A question that
    /// has no answer says why in its section; only Ctrl-C stops the report.
    pub fn report(&mut self, ticket: &Ticket) -> Result<Report, Cancelled> {
        let mut sections = Vec::new();
        let mut asking = Asking { model: self, ticket };
        for (id, title, maker) in SECTIONS {
            ticket.check()?;
            ticket.begin(title, 0);
            sections.push(match maker(&mut asking) {
                Ok(section) => section,
                Err(NoAnswer::Cancelled) => return Err(Cancelled),
                Err(NoAnswer::Wrong(diagnostics)) => {
                    Section::missing(id, title, &asking.model.reason(&diagnostics))
                }
            });
        }
        let graph = self.graph.as_ref();
        let mut figures = Vec::new();
        if let Some(graph) = graph {
            let summary = json::Summary::new(graph, self.causality.as_ref());
            let mut put = |label: &str, value: usize| figures.push((label.to_owned(), value.to_string()));
            put("elements", summary.elements);
            put("bonds", summary.bonds);
            put("parameters", summary.parameters);
            put("inputs", summary.inputs);
            put("outputs", summary.outputs);
            summary.order.into_iter().for_each(|order| put("order", order));
        }
        Ok(Report {
            title: graph.map_or_else(|| "A model with errors".to_owned(), |graph| graph.name.clone()),
            about: graph.and_then(|graph| graph.doc.clone()).unwrap_or_default(),
            figures,
            sections,
        })
    }

    /// Why a question has no answer, in one sentence.
    fn reason(&self, diagnostics: &Diagnostics) -> String {
        if self.diagnostics.has_errors() {
            return "the model has errors, which the findings list".to_owned();
        }
        let mut errors = diagnostics.iter().filter(|d| d.severity == Severity::Error);
        errors.next_back().map_or_else(|| "there is no answer".to_owned(), |error| error.message.clone())
    }

    /// No answer, because the model has errors.
    fn wrong(&self) -> NoAnswer {
        NoAnswer::Wrong(self.diagnostics.clone())
    }
}

fn drawing(asking: &mut Asking<'_>) -> Result<Section, NoAnswer> {
    let diagram = asking.model.diagram().ok_or_else(|| asking.model.wrong())?;
    Ok(report::drawing(&diagram))
}

fn quantities(asking: &mut Asking<'_>) -> Result<Section, NoAnswer> {
    let graph = asking.model.graph.as_ref().ok_or_else(|| asking.model.wrong())?;
    Ok(report::model(&asking.model.pool, graph))
}

fn causality(asking: &mut Asking<'_>) -> Result<Section, NoAnswer> {
    let found = asking.model.causality(Naming::Shown).ok_or_else(|| asking.model.wrong())?;
    Ok(report::causality(&found))
}

fn equations(asking: &mut Asking<'_>) -> Result<Section, NoAnswer> {
    let (equations, _) = asking.model.derive(asking.ticket)?;
    Ok(report::equations(&asking.model.pool, &equations))
}

fn operating_point(asking: &mut Asking<'_>) -> Result<Section, NoAnswer> {
    Ok(report::operating_point(&asking.model.operating_point(asking.ticket)?))
}

fn matrices(asking: &mut Asking<'_>) -> Result<Section, NoAnswer> {
    let linear = asking.linear()?;
    Ok(report::matrices(&asking.model.pool, &linear.equations, &linear.space, linear.point.is_some()))
}

fn transfers(asking: &mut Asking<'_>) -> Result<Section, NoAnswer> {
    let linear = asking.linear()?;
    if linear.equations.states.len() > READABLE_ORDER {
        return Ok(report::unwritten_transfer(linear.equations.states.len()));
    }
    let pool = &mut asking.model.pool;
    let found = transfer(pool, &linear.equations, &linear.space, READABLE, asking.ticket)?;
    Ok(report::transfer(pool, &linear.equations, &found))
}

fn poles(asking: &mut Asking<'_>) -> Result<Section, NoAnswer> {
    Ok(report::poles(&asking.model.poles(Naming::Shown, asking.ticket)?))
}

fn structure(asking: &mut Asking<'_>) -> Result<Section, NoAnswer> {
    Ok(report::structure(&asking.model.structure(false, asking.ticket)?))
}

fn frequency(asking: &mut Asking<'_>) -> Result<Section, NoAnswer> {
    Ok(report::bode(&asking.model.bode(&BodeOptions::default(), asking.ticket)?))
}

fn sensitivity(asking: &mut Asking<'_>) -> Result<Section, NoAnswer> {
    Ok(report::sensitivity(&asking.model.sensitivity_response(&ResponseOptions::default(), asking.ticket)?))
}

/// Simulates for as long as the slowest mode takes; says how far the run came where it stopped.
fn simulated(
    asking: &mut Asking<'_>,
    options: SimulateOptions,
) -> Result<(Simulation, Response, report::Run), NoAnswer> {
    let (t_end, points) = asking.horizon()?;
    let options = SimulateOptions { t_end: Some(t_end), points, ..options };
    let simulation = asking.model.simulation(&options, asking.ticket)?;
    let (response, outcome) = simulation.respond(&simulation.parameters, asking.ticket);
    asking.ticket.check()?;
    let said = asking.model.explain_run(&simulation, &simulation.parameters, &outcome);
    let stopped = said.iter().find(|d| d.severity == Severity::Error).map(|d| d.message.clone());
    Ok((simulation, response, report::Run { t_end, stopped }))
}

fn simulation(asking: &mut Asking<'_>) -> Result<Section, NoAnswer> {
    let (simulation, response, run) = simulated(asking, SimulateOptions::default())?;
    Ok(report::simulation(&figures::response(&simulation, &response), &run))
}

fn time_sensitivity(asking: &mut Asking<'_>) -> Result<Section, NoAnswer> {
    let parameters = asking.model.graph.as_ref().map_or(0, |graph| graph.parameters.len());
    if parameters > SENSITIVE {
        return Ok(report::unshown_sensitivities(parameters));
    }
    let options = SimulateOptions { sensitivities: Sensitivities::All, ..SimulateOptions::default() };
    let (simulation, response, run) = simulated(asking, options)?;
    Ok(report::time_sensitivity(&figures::sensitivities(&simulation, &response), &run))
}

fn energy(asking: &mut Asking<'_>) -> Result<Section, NoAnswer> {
    let options = SimulateOptions { energy: true, ..SimulateOptions::default() };
    let (simulation, response, run) = simulated(asking, options)?;
    let energy = simulation.energy(&response);
    let figure = energy.as_ref().map(|energy| figures::energy(&simulation.model, energy));
    Ok(report::energy(energy.as_ref().map(json::Energy::new).as_ref(), figure.as_ref(), &run))
}

fn findings(asking: &mut Asking<'_>) -> Result<Section, NoAnswer> {
    let model = &asking.model;
    Ok(report::findings(&model.diagnostics, &model.sources))
}
