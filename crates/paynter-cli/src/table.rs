//! Plain columns for people: aligned, two spaces apart, no lines.

/// Aligns rows under their headings; the last column runs free.
pub fn columns<const N: usize>(headings: [&str; N], rows: &[[String; N]]) -> String {
    let rows: Vec<&[String]> = rows.iter().map(<[String; N]>::as_slice).collect();
    aligned(&headings, &rows)
}

/// Aligns rows of any number of cells under their headings; the last column runs free.
pub fn aligned(headings: &[&str], rows: &[&[String]]) -> String {
    let mut widths: Vec<usize> = headings.iter().map(|heading| width(heading)).collect();
    for row in rows {
        for (wide, cell) in widths.iter_mut().zip(*row) {
            *wide = (*wide).max(width(cell));
        }
    }
    let mut text = String::new();
    line(&mut text, headings, &widths);
    for row in rows {
        line(&mut text, row, &widths);
    }
    text
}

fn line(text: &mut String, cells: &[impl AsRef<str>], widths: &[usize]) {
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
