//! The layout of model files: four spaces a level, definitions and elements
//! in columns, every comment kept, and line breaks where the author put them.
//!
//! The text becomes rows ([`Row`]), one for each line that starts a statement
//! or stands between statements; neighbouring rows of one kind are aligned.

mod inline;
mod rows;

use paynter_base::{Diagnostics, FileId};

use inline::{Inline, inline};
use rows::{Class, Column, Row, print};

use crate::{SyntaxElement, SyntaxKind, SyntaxNode, parse};

/// Lays out a model file, or returns its mistakes and changes nothing.
///
/// The result has the same meaning and all comments, and laying it out again
/// does not change it.
pub fn format(text: &str) -> Result<String, Diagnostics> {
    let parse = parse(text, FileId::default());
    if parse.diagnostics.has_errors() {
        return Err(parse.diagnostics);
    }
    let mut layout = Layout::default();
    layout.body(&parse.tree(), 0);
    Ok(print(layout.rows))
}

/// Collects rows from the tree.
#[derive(Default)]
struct Layout {
    rows: Vec<Row>,
    /// Whether the last row's line goes on.
    open: bool,
}

impl Layout {
    /// Lays out what stands in a file or between braces.
    fn body(&mut self, node: &SyntaxNode, level: usize) {
        let mut newlines = 0;
        let mut first = true;
        for child in node.children_with_tokens() {
            match child.kind() {
                SyntaxKind::Whitespace | SyntaxKind::Semicolon | SyntaxKind::LBrace => {}
                SyntaxKind::RBrace => {
                    self.rows.push(Row::plain(level.saturating_sub(1), "}".to_owned()));
                    self.open = true;
                    return;
                }
                SyntaxKind::Newline => {
                    newlines += 1;
                    self.open = false;
                }
                _ => {
                    if newlines > 1 && !first {
                        self.rows.push(Row::blank());
                    }
                    newlines = 0;
                    first = false;
                    self.entry(&child, level);
                }
            }
        }
        self.open = false;
    }

    /// Adds a comment or a statement to the current line, or on a new one.
    fn entry(&mut self, child: &SyntaxElement, level: usize) {
        match child {
            SyntaxElement::Token(token) => {
                let text = token.text().trim_end().to_owned();
                match self.rows.last_mut().filter(|_| self.open) {
                    Some(row) => row.comment = Some(text),
                    None => self.rows.push(Row::plain(level, text)),
                }
                self.open = false;
            }
            SyntaxElement::Node(statement) => {
                if let Some(block) = many_lined_block(statement) {
                    self.block_statement(statement, &block, level);
                } else if let Some(row) = self.open_row() {
                    row.join(&inline(statement));
                } else {
                    self.rows.push(statement_row(statement, level));
                }
                self.open = true;
            }
        }
    }

    /// The row that a statement goes on, unless that only opens a block.
    fn open_row(&mut self) -> Option<&mut Row> {
        self.rows.last_mut().filter(|row| self.open && !row.text().ends_with('{'))
    }

    /// Lays out a statement with a block over several lines.
    fn block_statement(&mut self, statement: &SyntaxNode, block: &SyntaxNode, level: usize) {
        let mut head = Inline::new();
        let mut tail = Inline::new();
        let mut after = false;
        for child in statement.children_with_tokens() {
            if child.as_node() == Some(block) {
                after = true;
            } else if after {
                tail.element(statement, &child);
            } else {
                head.element(statement, &child);
            }
        }
        let mut head = head.finish();
        if statement.kind() == SyntaxKind::Element {
            head = rows::pad_kind(&head);
        }
        let head = format!("{head} {{");
        match self.open_row() {
            Some(row) => row.join(&head),
            None => self.rows.push(Row::plain(level, head)),
        }
        self.open = true;
        self.body(block, level + 1);
        let tail = tail.finish();
        if let Some(row) = self.rows.last_mut().filter(|_| !tail.is_empty()) {
            row.append(&format!(" {tail}"));
        }
    }
}

/// The block of a statement, if it goes over several lines.
fn many_lined_block(statement: &SyntaxNode) -> Option<SyntaxNode> {
    let block =
        statement.children().find(|child| matches!(child.kind(), SyntaxKind::Block | SyntaxKind::Laws))?;
    let newline = |element: SyntaxElement| element.kind() == SyntaxKind::Newline;
    block.descendants_with_tokens().any(newline).then_some(block)
}

/// The row of a statement that starts a line, in cells where its kind has columns.
fn statement_row(statement: &SyntaxNode, level: usize) -> Row {
    let Some(class) = class(statement) else {
        return Row::plain(level, inline(statement));
    };
    let mut cells: Vec<(Column, Inline)> = vec![(Column::Head, Inline::new())];
    for child in statement.children_with_tokens() {
        let current = cells.last().map_or(Column::Head, |(column, _)| *column);
        let column = column(class, &child, current);
        if column != current {
            cells.push((column, Inline::new()));
        }
        if let Some((_, cell)) = cells.last_mut() {
            cell.element(statement, &child);
        }
    }
    let cells: Vec<(Column, String)> =
        cells.into_iter().map(|(column, cell)| (column, cell.finish())).collect();
    if cells.iter().any(|(_, cell)| cell.contains('\n')) {
        // Statements over several lines stay out of the columns.
        let text = inline(statement);
        return Row::plain(level, if class == Class::Element { rows::pad_kind(&text) } else { text });
    }
    Row::aligned(level, class, cells)
}

/// The columns that a statement has, if any.
fn class(statement: &SyntaxNode) -> Option<Class> {
    match statement.kind() {
        SyntaxKind::Param => Some(Class::Param),
        SyntaxKind::Quantity => {
            let word = statement.first_token()?;
            Some(match word.text() {
                "input" => Class::Input,
                "output" => Class::Output,
                _ => Class::Signal,
            })
        }
        SyntaxKind::Element => Some(Class::Element),
        SyntaxKind::Bonds => Some(Class::Bonds),
        _ => None,
    }
}

/// The column in which a part of a statement starts, or the current one.
fn column(class: Class, child: &SyntaxElement, current: Column) -> Column {
    match child.kind() {
        SyntaxKind::Arrow | SyntaxKind::Eq | SyntaxKind::Laws => Column::Value,
        // The words of an element are its kind, its name and perhaps `when`.
        SyntaxKind::Ident if class == Class::Element => match current {
            Column::Head if child.prev_sibling_or_token().is_some() => Column::Name,
            Column::Name => Column::Value,
            other => other,
        },
        SyntaxKind::Unit => Column::Unit,
        SyntaxKind::Tolerance => Column::Tolerance,
        SyntaxKind::Bounds => Column::Bounds,
        SyntaxKind::String => Column::Doc,
        _ => current,
    }
}
