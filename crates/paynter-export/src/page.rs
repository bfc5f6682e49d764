//! A page of formulas and numbers, and how programming languages write it.

use crate::interconnection::{Closing, ClosingBlock, Loop, MatrixNames};
use crate::names::{Identifiers, Names};
use paynter_algebra::{Expr, Pool, Symbol, Target as Notation};
use paynter_base::number::exact;
use std::collections::BTreeMap;

/// All that is written about a model in answer to one question.
#[derive(Default)]
pub struct Page {
    pub title: String,
    pub sections: Vec<Section>,
    /// The vectors x, u, y by their names, beside the matrices.
    pub vectors: Vec<(&'static str, Vec<String>)>,
    /// Which equations the matrices make.
    pub law: Option<Law>,
    pub matrices: Vec<Matrix>,
    pub tables: Vec<Table>,
    /// The uncertainties that the matrices are in feedback with.
    pub closing: Option<Closing>,
}

/// Formulas or values under a title.
pub struct Section {
    pub title: &'static str,
    pub lines: Vec<(Left, Cell)>,
}

/// What stands on the left of a formula.
pub enum Left {
    /// The rate of a state, by its name.
    Rate(String),
    /// A row of E x': coefficients with the names of the states.
    Row(Vec<(Expr, String)>),
    /// A quantity, by its name.
    Name(String),
    /// A function of s, by its letter and the output and input it belongs to.
    OfS(&'static str, Option<(String, String)>),
    /// A named sub-expression.
    Defined(Symbol),
    /// Zero, in an equation that determines the quantity of this name.
    Zero(String),
}

/// A formula or a number.
pub enum Cell {
    Formula(Expr),
    Ratio(Ratio),
    /// A number, or nothing where it is not finite.
    Real(f64),
    Complex([f64; 2]),
}

/// A quotient of polynomials in s.
pub struct Ratio {
    pub num: Expr,
    pub den: Expr,
    /// Coefficients of numerator and denominator by falling powers of s, where they can be told.
    pub coefficients: Option<(Vec<Expr>, Vec<Expr>)>,
}

/// A matrix with its name.
pub struct Matrix {
    pub name: String,
    pub rows: Vec<Vec<Cell>>,
}

/// Columns of equal length with their names.
pub struct Table {
    pub title: String,
    pub columns: Vec<(String, Vec<Cell>)>,
}

/// Which terms x' and y have by the matrices.
pub struct Law {
    /// Whether a matrix E stands before x'.
    pub mass: bool,
    /// The highest derivative of the inputs.
    pub derivatives: usize,
    pub offset: bool,
}

/// How a programming language writes statements.
pub(crate) struct Dialect {
    pub notation: Notation,
    pub identifiers: &'static Identifiers,
    pub comment: &'static str,
    /// Before the name, between name and value, after the value.
    pub assign: (&'static str, &'static str, &'static str),
    /// The same for what depends on s.
    pub assign_complex: (&'static str, &'static str, &'static str),
    pub matrix: fn(&str, &[Vec<String>]) -> String,
    /// Name, values, and whether these are complex.
    pub list: fn(&str, &[String], bool) -> String,
    pub complex: fn(&str, &str) -> String,
    pub nothing: &'static str,
    /// What complex numbers need, as a remark.
    pub complex_needs: &'static str,
    /// Name, coefficients of numerator and denominator.
    pub ratio: fn(&str, &[String], &[String]) -> String,
    /// How a loop with uncertainties is closed.
    pub closing: Loop,
}

pub(crate) const PLAIN: (&str, &str, &str) = ("", " = ", "");

pub(crate) fn joined(rows: &[Vec<String>], open: &str, between: &str, close: &str, next: &str) -> String {
    let row = |row: &Vec<String>| format!("{open}{}{close}", row.join(between));
    rows.iter().map(row).collect::<Vec<_>>().join(next)
}

/// Time and s keep their letters, which no parameter may have.
fn spell(pool: &Pool, names: &Names, symbol: Symbol) -> String {
    match pool.name(symbol) {
        name @ ("t" | "s") => name.to_owned(),
        _ => names.of(pool, symbol),
    }
}

impl Dialect {
    fn formula(&self, pool: &Pool, names: &Names, e: Expr) -> String {
        pool.print_with(e, self.notation, &|s| spell(pool, names, s)).to_string()
    }

    fn cell(&self, pool: &Pool, names: &Names, cell: &Cell) -> String {
        let real = |value: f64| if value.is_finite() { exact(value) } else { self.nothing.to_owned() };
        match cell {
            Cell::Formula(e) => self.formula(pool, names, *e),
            Cell::Ratio(Ratio { num, den, .. }) => {
                format!("({})/({})", self.formula(pool, names, *num), self.formula(pool, names, *den))
            }
            Cell::Real(value) => real(*value),
            Cell::Complex([re, im]) => (self.complex)(&real(*re), &real(*im)),
        }
    }
}

/// The expressions that a page holds.
fn roots(page: &Page) -> Vec<Expr> {
    let lines = page.sections.iter().flat_map(|section| section.lines.iter().map(|(_, cell)| cell));
    let matrices = page.matrices.iter().flat_map(|matrix| matrix.rows.iter().flatten());
    let tables = page.tables.iter().flat_map(|table| table.columns.iter().flat_map(|(_, cells)| cells));
    let formulas = |cell: &Cell| match cell {
        Cell::Formula(e) => vec![*e],
        Cell::Ratio(Ratio { num, den, .. }) => vec![*num, *den],
        Cell::Real(_) | Cell::Complex(_) => Vec::new(),
    };
    lines.chain(matrices).chain(tables).flat_map(formulas).collect()
}

/// Writes a page as statements of a programming language.
pub(crate) fn code(pool: &Pool, page: &Page, dialect: &Dialect) -> String {
    let mut symbols: Vec<Symbol> =
        pool.reachable(&roots(page)).into_iter().filter_map(|e| pool.as_symbol(e)).collect();
    symbols.sort_unstable();
    let mut names = Names::new(dialect.identifiers);
    for symbol in &symbols {
        names.add(pool, *symbol);
    }
    let read = symbols.iter().map(|symbol| (pool.name(*symbol), *symbol)).collect();
    let mut writer = Writer { pool, page, dialect, names, read, out: String::new() };
    writer.heading();
    writer.sections();
    let matrices = writer.matrices();
    if let Some(closing) = &page.closing {
        writer.closing(closing, matrices);
    }
    writer.tables();
    writer.out
}

/// A page that is being written.
struct Writer<'a> {
    pool: &'a Pool,
    page: &'a Page,
    dialect: &'a Dialect,
    names: Names,
    /// The symbols that formulas on the page read, by their names.
    read: BTreeMap<&'a str, Symbol>,
    out: String,
}

impl Writer<'_> {
    /// Whether there are functions of s that are written with coefficients, or without.
    fn has_ratios(&self, with_coefficients: bool) -> bool {
        let mut lines = self.page.sections.iter().flat_map(|section| &section.lines);
        lines.any(|(_, cell)| {
            matches!(cell, Cell::Ratio(ratio) if ratio.coefficients.is_some() == with_coefficients)
        })
    }

    fn heading(&mut self) {
        let Dialect { comment, complex_needs, closing, .. } = self.dialect;
        self.out += &format!("{comment} {}\n", self.page.title);
        if self.page.closing.is_some() {
            self.out += closing.before;
        }
        if self.has_ratios(true) {
            self.out +=
                &format!("{comment} coefficients of numerator and denominator, highest power of s first\n");
        }
        if self.has_ratios(false) {
            self.out += &format!("{comment} for a given s{complex_needs}\n");
        }
    }

    fn sections(&mut self) {
        let Writer { pool, page, dialect, .. } = *self;
        let comment = dialect.comment;
        let assign = if self.has_ratios(false) { dialect.assign_complex } else { dialect.assign };
        for section in &page.sections {
            self.out += &format!("\n{comment} {}\n", section.title.to_lowercase());
            for (left, value) in &section.lines {
                let (name, remark) = self.left(left, value);
                let remark = match remark.is_empty() || remark == name {
                    true => String::new(),
                    false => format!("  {comment} {remark}"),
                };
                if let Cell::Ratio(Ratio { coefficients: Some((num, den)), .. }) = value {
                    let list = |items: &[Expr]| {
                        items.iter().map(|e| dialect.formula(pool, &self.names, *e)).collect()
                    };
                    let (num, den): (Vec<String>, Vec<String>) = (list(num), list(den));
                    self.out += &format!("{}{remark}\n", (dialect.ratio)(&name, &num, &den));
                    continue;
                }
                let (open, is, close) = assign;
                let value = dialect.cell(pool, &self.names, value);
                self.out += &format!("{open}{name}{is}{value}{close}{remark}\n");
            }
        }
    }

    /// The name of what a line defines, and a remark that says what it is in the model.
    fn left(&mut self, left: &Left, value: &Cell) -> (String, String) {
        let Writer { pool, dialect, .. } = *self;
        match left {
            Left::Rate(name) => (self.names.unique(&format!("der({name})")), format!("{name}'")),
            Left::Row(terms) => {
                let term = |(factor, name): &(Expr, String)| match *factor == pool.one() {
                    true => format!("{name}'"),
                    false => format!("({})*{name}'", dialect.formula(pool, &self.names, *factor)),
                };
                let row = terms.iter().map(term).collect::<Vec<_>>().join(" + ");
                (self.names.unique("right"), row)
            }
            // A number is the value of the symbol that formulas on the page read.
            Left::Name(name) => match (value, self.read.get(name.as_str())) {
                (Cell::Real(_), Some(symbol)) => (self.names.of(pool, *symbol), name.clone()),
                _ => (self.names.unique(name), name.clone()),
            },
            Left::OfS(letter, Some((output, input))) => {
                (self.names.unique(&format!("{letter}_{output}_{input}")), format!("{output} / {input}"))
            }
            Left::OfS(letter, None) => (self.names.unique(letter), String::new()),
            Left::Defined(symbol) => (self.names.of(pool, *symbol), String::new()),
            Left::Zero(name) => (self.names.unique(&format!("zero({name})")), format!("zero by {name}")),
        }
    }

    /// Writes the matrices and returns their names.
    fn matrices(&mut self) -> Vec<String> {
        let Writer { pool, page, dialect, .. } = *self;
        let comment = dialect.comment;
        if !page.matrices.is_empty() {
            self.out += &format!("\n{comment} matrices\n");
            for (name, list) in page.vectors.iter().filter(|(_, list)| !list.is_empty()) {
                self.out += &format!("{comment} {name}: {}\n", list.join(", "));
            }
        }
        let mut spelled = Vec::with_capacity(page.matrices.len());
        for matrix in &page.matrices {
            let row =
                |row: &Vec<Cell>| row.iter().map(|cell| dialect.cell(pool, &self.names, cell)).collect();
            let rows: Vec<Vec<String>> = matrix.rows.iter().map(row).collect();
            let name = self.names.unique(&matrix.name);
            self.out += &((dialect.matrix)(&name, &rows) + "\n");
            spelled.push(name);
        }
        spelled
    }

    /// Closes the loop of the matrices with their uncertainties.
    fn closing(&mut self, closing: &Closing, matrices: Vec<String>) {
        let blocks = closing.blocks.iter().map(|block| ClosingBlock {
            name: self.names.unique(&block.name),
            size: block.size,
            remark: block.remark.clone(),
            range: block.range,
        });
        let closing = Closing { blocks: blocks.collect() };
        let spelled: Vec<&str> = matrices.iter().map(String::as_str).collect();
        if let Ok(matrices) = MatrixNames::try_from(spelled) {
            self.out += &(self.dialect.closing.after)(&closing, matrices);
        }
    }

    fn tables(&mut self) {
        let Writer { pool, page, dialect, .. } = *self;
        for table in &page.tables {
            self.out += &format!("\n{} {}\n", dialect.comment, table.title);
            for (name, column) in &table.columns {
                let name = self.names.unique(name);
                let complex = column.iter().any(|cell| matches!(cell, Cell::Complex(_)));
                let values: Vec<String> =
                    column.iter().map(|cell| dialect.cell(pool, &self.names, cell)).collect();
                self.out += &((dialect.list)(&name, &values, complex) + "\n");
            }
        }
    }
}
