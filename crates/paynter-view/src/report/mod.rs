//! The report on a model: one page that needs nothing beside it.
//!
//! A [`Report`] is plain data, a list of sections made of texts, tables,
//! formulas and pictures; [`html`] writes it as an edge spells its questions. The functions that make sections
//! of results stand in files by subject.

mod budget;
mod causality;
mod equations;
mod estimation;
mod frequency;
mod html;
mod interconnection;
mod lines;
mod math;
mod model;
mod point;
mod robustness;
mod sensitivity;
mod simulation;
mod structure;

pub use budget::{Budget, ROBUSTNESS, Size};
pub use causality::causality;
pub use equations::{equations, matrices, transfer, unwritten_transfer};
pub use estimation::estimation;
pub use frequency::{bode, poles};
pub use html::html;
pub use interconnection::interconnection;
pub use model::{drawing, findings, model};
pub use point::operating_point;
pub use robustness::robustness;
pub use sensitivity::sensitivity;
pub use simulation::{NO_ENERGY, Run, energy, simulation, time_sensitivity, unshown_sensitivities};
pub use structure::structure;

use paynter_base::{Question, Remedy};
use paynter_draw::plot::{Figure, PLOT_WIDTH, plot_svg};

/// Longer tables are cut, with a word on where to find the rest.
const MOST_ROWS: usize = 200;

/// A report.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Report {
    /// The model's name.
    pub title: String,
    /// What it is about; empty where nobody said.
    pub about: String,
    /// The model in figures, as label and value.
    pub figures: Vec<(String, String)>,
    /// The sections, in the order of reading.
    pub sections: Vec<Section>,
}

/// A section of a report.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Section {
    /// Its anchor on the page.
    pub id: &'static str,
    /// Its heading.
    pub title: &'static str,
    /// What it says.
    pub blocks: Vec<Block>,
}

/// A part of a section.
#[derive(Debug, Clone, PartialEq)]
pub enum Block {
    /// A heading inside the section.
    Heading(String),
    /// A paragraph.
    Text(Remedy),
    /// Why a question has no answer.
    Missing(String),
    /// A list of points.
    List(Vec<Remedy>),
    /// A table.
    Table(Table),
    /// MathML without its enclosing element, on a line of its own.
    Formula(String),
    /// A picture as SVG in the colours of the page, with the words below it.
    Picture {
        /// The picture.
        svg: String,
        /// Its natural width; a wide one is shrunk to the page, but not so far that it cannot be read.
        width: f64,
        /// The words below it.
        caption: String,
    },
}

/// A table.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Table {
    /// What it shows, for those who cannot see it.
    pub caption: String,
    /// The headings of its columns.
    pub head: Vec<&'static str>,
    /// Its rows.
    pub rows: Vec<Vec<Cell>>,
}

/// A cell of a table.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell {
    /// Words.
    Text(String),
    /// A name of the model, as it is written there.
    Name(String),
    /// A number, set to the right.
    Number(String),
    /// MathML without its enclosing element.
    Math(String),
}

impl Section {
    /// Begins a section.
    pub fn new(id: &'static str, title: &'static str) -> Section {
        Section { id, title, blocks: Vec::new() }
    }

    /// A section whose question has no answer, with the reason as a sentence.
    pub fn missing(id: &'static str, title: &'static str, reason: &str) -> Section {
        let mut section = Section::new(id, title);
        section.blocks.push(Block::Missing(sentence(reason)));
        section
    }

    /// Adds a heading.
    pub fn heading(&mut self, text: &str) {
        self.blocks.push(Block::Heading(text.to_owned()));
    }

    /// Adds a paragraph.
    pub fn text(&mut self, text: impl Into<Remedy>) {
        self.blocks.push(Block::Text(text.into()));
    }

    /// Adds a table, cut where it is long; the question, as [`Question::read`] reads it, has it whole.
    pub fn table(
        &mut self,
        caption: &str,
        head: &[&'static str],
        mut rows: Vec<Vec<Cell>>,
        question: &'static str,
    ) {
        let count = rows.len();
        rows.truncate(MOST_ROWS);
        // A column that says nothing is left out.
        let silent = |row: &Vec<Cell>, column: usize| match row.get(column) {
            Some(Cell::Text(text)) => text.is_empty(),
            Some(_) => false,
            None => true,
        };
        let told: Vec<bool> =
            (0..head.len()).map(|column| rows.iter().any(|row| !silent(row, column))).collect();
        let head = head.iter().zip(&told).filter(|(_, told)| **told).map(|(head, _)| *head).collect();
        for row in &mut rows {
            let mut column = told.iter();
            row.retain(|_| column.next().copied().unwrap_or(true));
        }
        self.blocks.push(Block::Table(Table { caption: caption.to_owned(), head, rows }));
        if count > MOST_ROWS {
            let shown = Remedy::from(format!("The first {MOST_ROWS} of {count} are shown; "));
            self.text(shown.and(Question::read(question)).and(" lists them all."));
        }
    }

    /// Adds a formula.
    pub fn formula(&mut self, math: String) {
        self.blocks.push(Block::Formula(math));
    }

    /// Adds a picture of a natural width.
    pub fn picture(&mut self, svg: String, width: f64, caption: &str) {
        self.blocks.push(Block::Picture { svg, width, caption: caption.to_owned() });
    }

    /// Adds a plot.
    pub fn plot(&mut self, figure: &Figure, caption: &str) {
        self.picture(plot_svg(figure, &model::page_style()), PLOT_WIDTH, caption);
    }
}

/// Words as a sentence: a capital letter and a full stop.
fn sentence(text: &str) -> String {
    let text = text.trim();
    let mut characters = text.chars();
    let first = characters.next().map(|c| c.to_uppercase().to_string()).unwrap_or_default();
    // A name of the model keeps its spelling.
    let body = if text.starts_with('`') { text.to_owned() } else { first + characters.as_str() };
    if body.ends_with(['.', '!', '?']) { body } else { body + "." }
}

/// Words that begin with a capital.
fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
