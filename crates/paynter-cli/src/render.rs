//! Diagnostics for people, with the lines they are about.

use crate::spelling::CommandLine;
use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};
use paynter::{Diagnostic, Diagnostics, Severity, Source, SourceMap, Span, printable};

/// Findings shown to a person in full; a broken file may have thousands.
const SHOWN_FINDINGS: usize = 40;

/// Lines between two places that still share one excerpt.
const NEAR: u32 = 12;

/// The widest excerpt of a line that is shown around a place, in bytes.
const EXCERPT: usize = 4_000;

/// Renders all findings, worst first within a place, with a count at the end.
pub fn render(diagnostics: &Diagnostics, sources: &SourceMap) -> String {
    let renderer = Renderer::styled().term_width(terminal_width());
    let mut text = String::new();
    for diagnostic in diagnostics.iter().take(SHOWN_FINDINGS) {
        text.push_str(&renderer.render(&[group(diagnostic, sources)]));
        text.push_str("\n\n");
    }
    if diagnostics.len() > SHOWN_FINDINGS {
        text.push_str(&format!(
            "… and {} more; `--json` lists them all\n\n",
            diagnostics.len() - SHOWN_FINDINGS
        ));
    }
    text
}

/// Counts the findings in words: `2 errors, 1 warning`; empty where there are none.
pub fn count(diagnostics: &Diagnostics) -> String {
    let kinds = [(Severity::Error, "error"), (Severity::Warning, "warning"), (Severity::Note, "note")];
    let counts = kinds.iter().filter_map(|(severity, word)| {
        match diagnostics.iter().filter(|d| d.severity == *severity).count() {
            0 => None,
            1 => Some(format!("1 {word}")),
            n => Some(format!("{n} {word}s")),
        }
    });
    counts.collect::<Vec<_>>().join(", ")
}

fn terminal_width() -> usize {
    std::env::var("COLUMNS").ok().and_then(|c| c.parse().ok()).unwrap_or(120).clamp(40, 400)
}

fn group<'a>(diagnostic: &'a Diagnostic, sources: &'a SourceMap) -> Group<'a> {
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Note => Level::NOTE,
    };
    let title = level.primary_title(printable(&diagnostic.message)).id(diagnostic.code.id());
    let mut group = Group::with_title(title);
    let places = diagnostic.span.map(|span| (span, "", true)).into_iter();
    let labels = diagnostic.labels.iter().map(|label| (label.span, label.text.as_str(), false));
    let mut excerpts: Vec<Excerpt<'a>> = Vec::new();
    for (span, text, primary) in places.chain(labels) {
        let Some(source) = sources.get(span.file) else { continue };
        let place = Place::new(source, span, text, primary);
        match excerpts.iter_mut().find(|excerpt| excerpt.holds(source, &place)) {
            Some(excerpt) => excerpt.places.push(place),
            None => excerpts.push(Excerpt { source, places: vec![place] }),
        }
    }
    for excerpt in excerpts {
        group = excerpt.add_to(group);
    }
    group.element(Level::HELP.message(printable(&diagnostic.help.spelled(&CommandLine))))
}

/// A place with its words.
struct Place<'a> {
    start: usize,
    end: usize,
    line: u32,
    text: &'a str,
    primary: bool,
}

impl<'a> Place<'a> {
    fn new(source: &Source, span: Span, text: &'a str, primary: bool) -> Place<'a> {
        let clamp = |offset: u32| {
            let mut offset = (offset as usize).min(source.text.len());
            while !source.text.is_char_boundary(offset) {
                offset -= 1;
            }
            offset
        };
        let (start, mut end) = (clamp(span.start), clamp(span.end.max(span.start)));
        // A finding about many lines is shown on the first.
        if let Some(line_end) = source.text[start..end].find('\n') {
            end = start + line_end;
        }
        end = end.min(floor(&source.text, start + EXCERPT / 2));
        Place { start, end, line: source.line_column(span.start).line, text, primary }
    }
}

/// Places of one file near each other, shown together.
struct Excerpt<'a> {
    source: &'a Source,
    places: Vec<Place<'a>>,
}

impl<'a> Excerpt<'a> {
    fn holds(&self, source: &Source, place: &Place<'_>) -> bool {
        std::ptr::eq(self.source, source) && self.places.iter().any(|p| p.line.abs_diff(place.line) <= NEAR)
    }

    /// Adds the lines of this excerpt only, since the renderer reads all it is given.
    fn add_to(self, group: Group<'a>) -> Group<'a> {
        let text = &self.source.text;
        let path = printable(&self.source.path);
        if text.is_empty() {
            return group.element(Origin::path(path));
        }
        let low = self.places.iter().map(|p| p.start).min().unwrap_or(0);
        let high = self.places.iter().map(|p| p.end).max().unwrap_or(low);
        let first = self.places.iter().map(|p| p.line).min().unwrap_or(1);
        let line_start = text[..low].rfind('\n').map_or(0, |at| at + 1);
        let line_end = text[high..].find('\n').map_or(text.len(), |at| high + at);
        if line_end - line_start > 2 * EXCERPT + (high - low) {
            let column = self.source.line_column(low as u32).column as usize;
            return group.element(Origin::path(path).line(first as usize).char_column(column));
        }
        let mut snippet = Snippet::source(&text[line_start..line_end]).line_start(first as usize).path(path);
        for place in self.places {
            let kind = if place.primary { AnnotationKind::Primary } else { AnnotationKind::Context };
            let annotation = kind.span(place.start - line_start..place.end - line_start);
            let label = (!place.text.is_empty()).then(|| printable(place.text));
            snippet = snippet.annotation(annotation.label(label));
        }
        group.element(snippet)
    }
}

/// The largest character boundary not above an offset.
fn floor(text: &str, offset: usize) -> usize {
    let mut offset = offset.min(text.len());
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    offset
}

#[cfg(test)]
mod tests {
    use super::*;
    use paynter::code;

    /// Renders one finding about a text, without colour.
    fn shown(text: &str, diagnostic: impl FnOnce(&dyn Fn(&str) -> Span) -> Diagnostic) -> String {
        let mut sources = SourceMap::new();
        let file = sources.add(Source::new("m.bg", text));
        let find = |word: &str| {
            let start = text.find(word).unwrap();
            Span::new(file, start as u32, (start + word.len()) as u32)
        };
        let mut diagnostics = Diagnostics::new();
        diagnostics.push(diagnostic(&find));
        let styled = render(&diagnostics, &sources);
        anstream::adapter::strip_str(&styled).to_string()
    }

    fn finding() -> Diagnostic {
        Diagnostic::new(code::UNKNOWN_NAME, "unknown name").help("mend it")
    }

    #[test]
    fn places_are_underlined_at_their_lines() {
        let text = shown("first\n  R β = kk\nlast\n", |find| finding().at(find("kk")));
        assert!(text.contains("error[BG0201]: unknown name"), "{text}");
        assert!(text.contains("--> m.bg:2:9"), "{text}");
        assert!(text.contains("2 |   R β = kk"), "{text}");
        assert!(text.contains("help: mend it"), "{text}");
        assert!(!text.contains("first") && !text.contains("last"), "{text}");
    }

    #[test]
    fn far_places_get_excerpts_of_their_own() {
        let source = format!("one\n{}two\n", "between\n".repeat(500));
        let text = shown(&source, |find| finding().at(find("two")).label(find("one"), "declared here"));
        assert!(text.contains("m.bg:502:1") && text.contains("declared here"), "{text}");
        assert!(!text.contains("between"), "{text}");
    }

    #[test]
    fn odd_places_are_harmless() {
        for source in ["", "x", "x\n", "\r\nx\r\n", "\t\tβ\u{301}", "\u{0}\u{1b}[31m"] {
            for (start, end) in [(0, 0), (0, 9), (1, 0), (2, 2), (7, 7), (900, 901)] {
                let text = shown(source, |_| finding().at(Span::new(paynter::FileId(0), start, end)));
                assert!(text.contains("m.bg"), "{source:?} {start}..{end}: {text}");
                assert!(!text.contains('\u{1b}'), "{source:?} reaches the terminal");
            }
        }
        let text = shown("x", |_| finding().at(Span::new(paynter::FileId(9), 0, 1)));
        assert!(text.contains("unknown name"), "{text}");
    }

    #[test]
    fn an_endless_line_is_not_shown() {
        let source = "(".repeat(100_000);
        let text = shown(&source, |_| finding().at(Span::new(paynter::FileId(0), 50_000, 50_001)));
        assert!(text.contains("--> m.bg:1:50001") && text.len() < 1_000, "{} bytes", text.len());
    }
}
