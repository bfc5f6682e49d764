//! The report on a model: every question asked, each answer a section.

use crate::{BodeOptions, Model, NoAnswer};
use paynter_algebra::poly::Budget;
use paynter_base::{Cancelled, Diagnostics, Severity, Ticket};
use paynter_equations::transfer;
use paynter_view::json::{self, Naming};
use paynter_view::report::{self, Report, Section};

/// Longer transfer functions are not read, so that no time is spent on them.
const READABLE: Budget = Budget { terms: 20_000, steps: 20_000_000 };

/// One section: its anchor, its heading, and the question it answers.
type Maker = (&'static str, &'static str, fn(&mut Model, &Ticket) -> Result<Section, NoAnswer>);

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
    ("findings", "Findings", findings),
];

impl Model {
    /// Asks every question and puts the answers on one page. A question that
    /// has no answer says why in its section; only Ctrl-C stops the report.
    pub fn report(&mut self, ticket: &Ticket) -> Result<Report, Cancelled> {
        let mut sections = Vec::new();
        for (id, title, maker) in SECTIONS {
            ticket.check()?;
            ticket.begin(title, 0);
            sections.push(match maker(self, ticket) {
                Ok(section) => section,
                Err(NoAnswer::Cancelled) => return Err(Cancelled),
                Err(NoAnswer::Wrong(diagnostics)) => Section::missing(id, title, &self.reason(&diagnostics)),
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

fn drawing(model: &mut Model, _: &Ticket) -> Result<Section, NoAnswer> {
    model.diagram().map(|diagram| report::drawing(&diagram)).ok_or_else(|| model.wrong())
}

fn quantities(model: &mut Model, _: &Ticket) -> Result<Section, NoAnswer> {
    let graph = model.graph.as_ref().ok_or_else(|| model.wrong())?;
    Ok(report::model(&model.pool, graph))
}

fn causality(model: &mut Model, _: &Ticket) -> Result<Section, NoAnswer> {
    let found = model.causality(Naming::Shown).ok_or_else(|| model.wrong())?;
    Ok(report::causality(&found))
}

fn equations(model: &mut Model, ticket: &Ticket) -> Result<Section, NoAnswer> {
    let (equations, _) = model.derive(ticket)?;
    Ok(report::equations(&model.pool, &equations))
}

fn operating_point(model: &mut Model, ticket: &Ticket) -> Result<Section, NoAnswer> {
    Ok(report::operating_point(&model.operating_point(ticket)?))
}

fn matrices(model: &mut Model, ticket: &Ticket) -> Result<Section, NoAnswer> {
    let linear = model.linear(ticket)?;
    Ok(report::matrices(&model.pool, &linear.equations, &linear.space, linear.point.is_some()))
}

fn transfers(model: &mut Model, ticket: &Ticket) -> Result<Section, NoAnswer> {
    let linear = model.linear(ticket)?;
    let found = transfer(&mut model.pool, &linear.equations, &linear.space, READABLE, ticket)?;
    Ok(report::transfer(&model.pool, &linear.equations, &found))
}

fn poles(model: &mut Model, ticket: &Ticket) -> Result<Section, NoAnswer> {
    Ok(report::poles(&model.poles(Naming::Shown, ticket)?))
}

fn frequency(model: &mut Model, ticket: &Ticket) -> Result<Section, NoAnswer> {
    Ok(report::bode(&model.bode(&BodeOptions::default(), ticket)?))
}

fn findings(model: &mut Model, _: &Ticket) -> Result<Section, NoAnswer> {
    Ok(report::findings(&json::Diagnostic::list(&model.diagnostics, &model.sources)))
}
