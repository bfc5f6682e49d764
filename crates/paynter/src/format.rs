//! Model files laid out.

use paynter_base::{Diagnostics, SourceMap};
use paynter_language::{add_text, parse_syntax};

/// A text laid out.
#[derive(Debug)]
pub struct Formatted {
    /// The new text.
    pub text: String,
    /// The text as it was.
    pub sources: SourceMap,
    /// What prevents formatting.
    pub diagnostics: Diagnostics,
}

/// Lays a model file out.
pub fn format(path: &str, content: &[u8]) -> Formatted {
    let mut formatted =
        Formatted { text: String::new(), sources: SourceMap::new(), diagnostics: Diagnostics::new() };
    match add_text(&mut formatted.sources, path, content.to_vec()) {
        Ok(file) => {
            let text = formatted.sources.get(file).map_or("", |source| source.text.as_str());
            let (_, mistakes) = parse_syntax(text, file);
            formatted.text = text.to_owned();
            formatted.diagnostics = mistakes;
        }
        Err(diagnostic) => formatted.diagnostics.push(*diagnostic),
    }
    formatted
}
