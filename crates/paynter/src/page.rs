//! The report on a model: every question asked, each answer a section.

use crate::simulate::SimulateOptions;
use crate::{BodeOptions, Linear, Model, NoAnswer};
use paynter_algebra::poly::Budget;
use paynter_base::{Cancelled, Diagnostics, Severity, Ticket};
use paynter_equations::transfer;
use paynter_view::json::{self, Naming};
use paynter_view::report::{self, Report, Section};

/// Longer transfer functions are not read, so that no time is spent on them.
const READABLE: Budget = Budget { terms: 20_000, steps: 20_000_000 };

/// Transfer functions of a higher order are not even begun.
const READABLE_ORDER: usize = 30;

/// One section: its anchor, its heading, and the question it answers.
type Maker = (&'static str, &'static str, fn(&mut Asking<'_>) -> Result<Section, NoAnswer>);

/// A model being asked one question after the other.
struct Asking<'a> {
    model: &'a mut Model,
    ticket: &'a Ticket,
    /// Why there is no linear model, once that is known: the search is long, and not begun again.
    refused: Option<Diagnostics>,
}

impl Asking<'_> {
    /// The linear model, at the operating point where the equations are nonlinear.
    fn linear(&mut self) -> Result<Linear, NoAnswer> {
        if let Some(refused) = &self.refused {
            return Err(NoAnswer::Wrong(refused.clone()));
        }
        let found = self.model.linear(self.ticket);
        if let Err(NoAnswer::Wrong(diagnostics)) = &found {
            self.refused = Some(diagnostics.clone());
        }
        found
    }

    /// How long it takes until the slowest mode has decayed, or has swung a few times.
    fn horizon(&mut self) -> Result<f64, NoAnswer> {
        let modes = match self.linear().and_then(|_| self.model.poles(Naming::Flat, self.ticket)) {
            Ok(found) => found.modes,
            Err(NoAnswer::Cancelled) => return Err(NoAnswer::Cancelled),
            Err(NoAnswer::Wrong(_)) => Vec::new(),
        };
        let time = |mode: &json::Mode| match mode.pole {
            [0.0, 0.0] => None,
            // What does not decay within many periods is shown for some of them.
            [re, im] if re.abs() < 0.02 * im.abs() => Some(8.0 * std::f64::consts::TAU / im.abs()),
            [re, _] => Some(6.0 / re.abs()),
        };
        let longest = modes.iter().filter_map(time).filter(|t| t.is_finite()).fold(0.0, f64::max);
        Ok(if longest > 0.0 { rounded(longest) } else { SimulateOptions::default().t_end })
    }
}

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
    ("bode", "Frequency response", frequency),
    ("simulation", "Response over time", simulation),
    ("findings", "Findings", findings),
];

impl Model {
    /// Asks every question and puts the answers on one page. A question that
    /// has no answer says why in its section; only Ctrl-C stops the report.
    pub fn report(&mut self, ticket: &Ticket) -> Result<Report, Cancelled> {
        let mut sections = Vec::new();
        let mut asking = Asking { model: self, ticket, refused: None };
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
    let nonlinear = asking.model.derive(asking.ticket)?.1.is_none();
    let found = asking.model.operating_point(asking.ticket);
    if let Err(NoAnswer::Wrong(diagnostics)) = &found
        && nonlinear
    {
        asking.refused = Some(diagnostics.clone());
    }
    Ok(report::operating_point(&found?))
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
    asking.linear()?;
    Ok(report::poles(&asking.model.poles(Naming::Shown, asking.ticket)?))
}

fn frequency(asking: &mut Asking<'_>) -> Result<Section, NoAnswer> {
    asking.linear()?;
    Ok(report::bode(&asking.model.bode(&BodeOptions::default(), asking.ticket)?))
}

/// Samples of a response over time: enough for a smooth curve.
const SAMPLES: usize = 501;

/// Simulates for as long as the slowest mode takes.
fn simulation(asking: &mut Asking<'_>) -> Result<Section, NoAnswer> {
    let t_end = asking.horizon()?;
    let options = SimulateOptions { t_end, points: SAMPLES, ..SimulateOptions::default() };
    let simulation = asking.model.simulation(&options, asking.ticket)?;
    let (response, outcome) = simulation.respond(&simulation.parameters, asking.ticket);
    asking.ticket.check()?;
    let said = asking.model.explain_run(&simulation, &outcome);
    let stopped = said.iter().find(|d| d.severity == Severity::Error).map(|d| d.message.as_str());
    Ok(report::simulation(&simulation.figure(&response), t_end, outcome.t, stopped))
}

fn findings(asking: &mut Asking<'_>) -> Result<Section, NoAnswer> {
    let model = &asking.model;
    Ok(report::findings(&json::Diagnostic::list(&model.diagnostics, &model.sources)))
}
