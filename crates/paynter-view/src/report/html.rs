//! Writes a report as one HTML page that is well-formed XML as well: no
//! scripts, nothing from a network, light or dark as the reader prefers.

use super::{Block, Cell, Report, Section, Table};
use paynter_base::Spelling;
use paynter_draw::draw::{Theme, escape, page_font, page_variables};
use paynter_draw::plot::plot_rules;
use std::fmt::Write;

const STYLE: &str = include_str!("style.css");

/// Writes a report as an HTML page, with the questions it refers to as an edge spells them.
pub fn html(report: &Report, spelling: &dyn Spelling) -> String {
    let title = escape(&report.title);
    let mut out =
        String::from("<!DOCTYPE html>\n<html lang=\"en\" xmlns=\"http://www.w3.org/1999/xhtml\">\n<head>\n");
    let _ = write!(
        out,
        "<meta charset=\"utf-8\"/>\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n\
         <meta name=\"color-scheme\" content=\"light dark\"/>\n\
         <title>{title}</title>\n<style>\n{}</style>\n</head>\n<body>\n",
        style()
    );
    let _ = writeln!(out, "<header>\n<h1>{title}</h1>");
    if !report.about.is_empty() {
        let _ = writeln!(out, "<p class=\"about\">{}</p>", escape(&report.about));
    }
    if !report.figures.is_empty() {
        out.push_str("<dl class=\"figures\">\n");
        for (label, value) in &report.figures {
            let _ = writeln!(out, "<div><dt>{}</dt><dd>{}</dd></div>", escape(label), escape(value));
        }
        out.push_str("</dl>\n");
    }
    out.push_str("</header>\n<nav aria-label=\"Contents\">\n<ol>\n");
    for section in &report.sections {
        let _ = writeln!(out, "<li><a href=\"#{}\">{}</a></li>", section.id, escape(section.title));
    }
    out.push_str("</ol>\n</nav>\n<main>\n");
    for section in &report.sections {
        write_section(&mut out, section, spelling);
    }
    out.push_str(
        "</main>\n<footer>Made by Paynter, a workbench for bond graphs.</footer>\n</body>\n</html>\n",
    );
    out
}

/// The page's style: the colours of pictures are variables, so that one picture serves both themes.
fn style() -> String {
    let colours = |theme: Theme, rule: &str| format!("{}--rule:{rule};", page_variables(theme));
    let (light, dark) = (colours(Theme::Light, "#d5dae1"), colours(Theme::Dark, "#39404b"));
    format!(
        "{}\n:root{{{light}color-scheme:light}}\n\
         @media screen and (prefers-color-scheme:dark){{:root{{{dark}color-scheme:dark}}}}\n{STYLE}{}\n",
        page_font(),
        plot_rules(Theme::Page)
    )
}

fn write_section(out: &mut String, section: &Section, spelling: &dyn Spelling) {
    let (id, title) = (section.id, escape(section.title));
    let _ = writeln!(
        out,
        "<section id=\"{id}\" aria-labelledby=\"{id}-title\">\n<h2 id=\"{id}-title\">{title}</h2>"
    );
    for block in &section.blocks {
        write_block(out, block, spelling);
    }
    out.push_str("</section>\n");
}

fn write_block(out: &mut String, block: &Block, spelling: &dyn Spelling) {
    let _ = match block {
        Block::Heading(text) => writeln!(out, "<h3>{}</h3>", words(text)),
        Block::Text(text) => writeln!(out, "<p>{}</p>", words(&text.spelled(spelling))),
        Block::Missing(text) => writeln!(out, "<p class=\"missing\">{}</p>", words(text)),
        Block::List(points) => {
            let points: String = points
                .iter()
                .map(|point| format!("<li>{}</li>\n", words(&point.spelled(spelling))))
                .collect();
            writeln!(out, "<ul>\n{points}</ul>")
        }
        Block::Table(table) => {
            write_table(out, table);
            Ok(())
        }
        Block::Formula(math) => writeln!(
            out,
            "<div class=\"wide\" tabindex=\"0\" role=\"group\" aria-label=\"formula\">{}</div>",
            enclosed(math, true)
        ),
        Block::Picture { svg, width, caption } => writeln!(
            out,
            "<figure>\n<div class=\"wide\" tabindex=\"0\" role=\"group\" aria-label=\"picture\" \
             style=\"--width:{}px\">\n{svg}</div>\n<figcaption>{}</figcaption>\n</figure>",
            width.round(),
            words(caption)
        ),
    };
}

/// Longer names may be broken between lines.
const LONG_NAME: usize = 48;

/// MathML with its enclosing element.
fn enclosed(math: &str, display: bool) -> String {
    let display = if display { " displaystyle=\"true\"" } else { "" };
    // Where no mathematical font is installed, an accent falls on its letter; a sign above it does not.
    let math = math.replace("<mover accent=\"true\">", "<mover>");
    // A brace over several lines needs such a font as well: the page draws it. Cases inside cases keep their size.
    let cases = "<mtable class=\"cases\" displaystyle=\"true\" scriptlevel=\"0\">";
    let math = math.replace("<mo>{</mo><mtable>", cases);
    format!("<math xmlns=\"http://www.w3.org/1998/Math/MathML\"{display}>{math}</math>")
}

fn write_table(out: &mut String, table: &Table) {
    let numeric =
        |column: usize| table.rows.iter().any(|row| matches!(row.get(column), Some(Cell::Number(_))));
    let _ = writeln!(
        out,
        "<div class=\"wide\" tabindex=\"0\" role=\"group\" aria-label=\"{}\">\n<table>",
        escape(&table.caption)
    );
    if !table.caption.is_empty() {
        let _ = writeln!(out, "<caption>{}</caption>", words(&table.caption));
    }
    out.push_str("<thead><tr>");
    for (column, head) in table.head.iter().enumerate() {
        let class = if numeric(column) { " class=\"number\"" } else { "" };
        let _ = write!(out, "<th scope=\"col\"{class}>{}</th>", escape(head));
    }
    out.push_str("</tr></thead>\n<tbody>\n");
    for row in &table.rows {
        out.push_str("<tr>");
        for cell in row {
            let _ = match cell {
                Cell::Text(text) => write!(out, "<td>{}</td>", words(text)),
                Cell::Name(name) => {
                    // A name is not torn apart; a formula must be, or the page is cut.
                    let class = if name.chars().count() > LONG_NAME { "long" } else { "name" };
                    write!(out, "<td class=\"{class}\"><code>{}</code></td>", escape(name))
                }
                Cell::Number(number) => write!(out, "<td class=\"number\">{}</td>", escape(number)),
                Cell::Math(math) => write!(out, "<td>{}</td>", enclosed(math, false)),
            };
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody>\n</table>\n</div>\n");
}

/// Words with names between back-quotes set as code.
fn words(text: &str) -> String {
    let mut out = String::new();
    let parts: Vec<&str> = text.split('`').collect();
    // An odd back-quote has no partner and stays as it is.
    let paired = parts.len() - (parts.len() + 1) % 2;
    for (index, part) in parts.iter().enumerate() {
        if index >= paired {
            out.push('`');
        }
        if index % 2 == 1 && index < paired {
            let _ = write!(out, "<code>{}</code>", escape(part));
        } else {
            out.push_str(&escape(part));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_words_become_code() {
        assert_eq!(words("`a<b` is & `c`"), "<code>a&lt;b</code> is &amp; <code>c</code>");
        assert_eq!(words("a ` b"), "a ` b");
        assert_eq!(words("`a` ` b"), "<code>a</code> ` b");
        assert_eq!(words(""), "");
    }
}
