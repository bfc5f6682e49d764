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
    fn text(&self) -> String {
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
        let widths = widths(group);
        for row in group {
            print_row(row, &widths, &mut out);
        }
    }
    while out.ends_with("\n\n") {
        out.pop();
    }
    out
}

/// The width of each column: the longest name, but of values and what follows
/// them only the longest in the rows that go on, so that a long formula does
/// not push the units of others away.
fn widths(group: &[Row]) -> [Option<usize>; COLUMNS.len()] {
    COLUMNS.map(|column| {
        let goes_on = |row: &&Row| {
            column < Column::Value
                || COLUMNS.iter().any(|later| *later > column && row.cell(*later).is_some())
        };
        let used = group.iter().any(|row| row.cell(column).is_some());
        let width = |row: &Row| row.cell(column).map_or(0, |cell| cell.chars().count());
        used.then(|| group.iter().filter(goes_on).map(width).max().unwrap_or(0))
    })
}

fn print_row(row: &Row, widths: &[Option<usize>; COLUMNS.len()], out: &mut String) {
    const INDENT: usize = 4;
    let start = out.len();
    out.extend(std::iter::repeat_n(' ', INDENT * row.level));
    // Spaces owed before the next cell that is there.
    let mut owed = 0;
    for (column, width) in COLUMNS.iter().zip(widths) {
        let Some(mut width) = *width else { continue };
        if row.class == Class::Element && *column == Column::Head {
            width = KIND_WIDTH;
        }
        let cell = row.cell(*column).unwrap_or("");
        if *column != Column::Head {
            owed += gap(row.class, *column);
        }
        if !cell.is_empty() {
            out.extend(std::iter::repeat_n(' ', owed));
            owed = 0;
            // Within a statement, lines after the first are indented once more.
            let continued = format!("\n{}", " ".repeat(INDENT * (row.level + 1)));
            out.push_str(&cell.replace('\n', &continued));
        }
        owed += width.saturating_sub(cell.chars().count());
    }
    let end = out.trim_end_matches(' ').len().max(start);
    out.truncate(end);
    out.push('\n');
}

/// The spaces before a column.
fn gap(class: Class, column: Column) -> usize {
    match (class, column) {
        (Class::Output, Column::Unit) => 2,
        (_, Column::Name | Column::Value | Column::Unit) => 1,
        _ => 2,
    }
}
