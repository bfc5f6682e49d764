//! Model files laid out.

use paynter_base::{Diagnostics, SourceMap};
use paynter_language::add_text;

/// A text laid out.
#[derive(Debug)]
pub struct Formatted {
    /// The new text; empty where there are mistakes.
    pub text: String,
    /// The text as it was.
    pub sources: SourceMap,
    /// What prevents formatting.
    pub diagnostics: Diagnostics,
}

/// Lays a model file out. A file with mistakes is left as it is.
pub fn format(path: &str, content: &[u8]) -> Formatted {
    let mut sources = SourceMap::new();
    let laid_out = match add_text(&mut sources, path, content.to_vec()) {
        Ok(file) => paynter_language::format(sources.get(file).map_or("", |source| source.text.as_str())),
        Err(diagnostic) => {
            let mut diagnostics = Diagnostics::new();
            diagnostics.push(*diagnostic);
            Err(diagnostics)
        }
    };
    match laid_out {
        Ok(text) => Formatted { text, sources, diagnostics: Diagnostics::new() },
        Err(diagnostics) => Formatted { text: String::new(), sources, diagnostics },
    }
}
