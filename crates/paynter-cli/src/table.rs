//! Plain columns for people: aligned, two spaces apart, no lines.

/// Aligns rows under their headings; the last column runs free.
pub fn columns<const N: usize>(headings: [&str; N], rows: &[[String; N]]) -> String {
    let mut widths = headings.map(width);
    for row in rows {
        for (column, cell) in row.iter().enumerate() {
            widths[column] = widths[column].max(width(cell));
        }
    }
    let mut text = String::new();
    line(&mut text, &headings, &widths);
    for row in rows {
        line(&mut text, row, &widths);
    }
    text
}

fn line<const N: usize>(text: &mut String, cells: &[impl AsRef<str>; N], widths: &[usize; N]) {
    let start = text.len();
    for (cell, wide) in cells.iter().zip(widths) {
        text.push_str("  ");
        text.push_str(cell.as_ref());
        text.extend(std::iter::repeat_n(' ', wide - width(cell.as_ref())));
    }
    let end = text.trim_end().len().max(start);
    text.truncate(end);
    text.push('\n');
}

fn width(cell: &str) -> usize {
    cell.chars().count()
}

#[cfg(test)]
mod tests {
    use super::columns;

    #[test]
    fn columns_align_by_characters() {
        let rows = [["ω_m".to_owned(), "x".to_owned()], ["a".to_owned(), String::new()]];
        assert_eq!(columns(["n", "what"], &rows), "  n    what\n  ω_m  x\n  a\n");
    }
}
