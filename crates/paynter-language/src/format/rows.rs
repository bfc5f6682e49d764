//! Rows of laid-out text, and the alignment of neighbouring rows.

/// What rows must share to be aligned with each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    Param,
    Input,
    Output,
    Signal,
    Element,
    Bonds,
    /// No columns.
    Plain,
}

/// The columns of aligned rows, from left to right.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Column {
    Head,
    Name,
    Value,
    Unit,
    Tolerance,
    Bounds,
    Doc,
    Comment,
}

const COLUMNS: [Column; 8] = [
    Column::Head,
    Column::Name,
    Column::Value,
    Column::Unit,
    Column::Tolerance,
    Column::Bounds,
    Column::Doc,
    Column::Comment,
];

/// The longest kind is three letters wide (`MSe`).
const KIND_WIDTH: usize = 3;

/// One line, or a statement over several.
#[derive(Debug, Clone)]
pub(super) struct Row {
    level: usize,
    class: Class,
    cells: Vec<(Column, String)>,
    pub(super) comment: Option<String>,
}

impl Row {
    /// An empty line.
    pub(super) fn blank() -> Row {
        Row::plain(0, String::new())
    }

    /// A row without columns.
    pub(super) fn plain(level: usize, text: String) -> Row {
        Row { level, class: Class::Plain, cells: vec![(Column::Head, text)], comment: None }
    }

    /// A row with columns.
    pub(super) fn aligned(level: usize, class: Class, cells: Vec<(Column, String)>) -> Row {
        Row { level, class, cells, comment: None }
    }

    /// Adds a statement on the same line, which then has no columns.
    pub(super) fn join(&mut self, statement: &str) {
        let mut text = self.text();
        text.push_str("; ");
        text.push_str(statement);
        self.class = Class::Plain;
        self.cells = vec![(Column::Head, text)];
    }

    /// Adds text to the end.
    pub(super) fn append(&mut self, text: &str) {
        if let Some((_, last)) = self.cells.last_mut() {
            last.push_str(text);
        }
    }

    /// The cells with single spaces between them.
    pub(super) fn text(&self) -> String {
        let cells: Vec<&str> = self.cells.iter().map(|(_, cell)| cell.as_str()).collect();
        cells.join(" ")
    }

    fn cell(&self, column: Column) -> Option<&str> {
        if column == Column::Comment {
            return self.comment.as_deref();
        }
        self.cells.iter().find(|(found, _)| *found == column).map(|(_, cell)| cell.as_str())
    }

    fn aligns_with(&self, other: &Row) -> bool {
        self.class == other.class && self.class != Class::Plain && self.level == other.level
    }
}

/// Pads the kind at the start of an element to the width of its column.
pub(super) fn pad_kind(element: &str) -> String {
    match element.split_once(' ') {
        Some((kind, rest)) => format!("{kind:KIND_WIDTH$} {rest}"),
        None => element.to_owned(),
    }
}

/// Writes the rows, neighbours of one class in columns.
pub(super) fn print(rows: Vec<Row>) -> String {
    let mut out = String::new();
    for group in rows.chunk_by(Row::aligns_with) {
        for line in aligned_lines(group) {
            out.push_str(line.trim_end());
            out.push('\n');
        }
    }
    while out.ends_with("\n\n") {
        out.pop();
    }
    out
}

/// Writes rows side by side: each column starts where the longest of the rows
/// that have it ends before it, so that a long formula without a unit does
/// not push the units of others away. Values start after the longest name.
fn aligned_lines(group: &[Row]) -> Vec<String> {
    const INDENT: usize = 4;
    let mut lines: Vec<String> = group.iter().map(|row| " ".repeat(INDENT * row.level)).collect();
    // The widths of the lines so far, in characters.
    let mut ends: Vec<usize> = vec![0; group.len()];
    for column in COLUMNS {
        let concerned = |row: &Row| column <= Column::Value || row.cell(column).is_some();
        let rows = || group.iter().zip(&ends).filter(|(row, _)| concerned(row));
        if !group.iter().any(|row| row.cell(column).is_some()) {
            continue;
        }
        let start = match column {
            Column::Head => 0,
            _ => rows().map(|(row, end)| end + gap(row.class, column)).max().unwrap_or(0),
        };
        for (row, (line, end)) in group.iter().zip(lines.iter_mut().zip(&mut ends)) {
            let Some(cell) = row.cell(column) else { continue };
            line.extend(std::iter::repeat_n(' ', start.saturating_sub(*end)));
            // Within a statement, lines after the first are indented once more.
            let continued = format!("\n{}", " ".repeat(INDENT * (row.level + 1)));
            line.push_str(&cell.replace('\n', &continued));
            *end = start + cell.chars().count();
        }
        if column == Column::Head && group.iter().any(|row| row.class == Class::Element) {
            for (line, end) in lines.iter_mut().zip(&mut ends) {
                line.extend(std::iter::repeat_n(' ', KIND_WIDTH.saturating_sub(*end)));
                *end = KIND_WIDTH.max(*end);
            }
        }
    }
    lines
}

/// The spaces before a column.
fn gap(class: Class, column: Column) -> usize {
    match (class, column) {
        (Class::Output, Column::Unit) => 2,
        (_, Column::Name | Column::Value | Column::Unit) => 1,
        _ => 2,
    }
}
