//! A loaded model, and the questions it answers.

use paynter_base::{Diagnostics, SourceMap, World};
use paynter_language::{Loaded, load};
use paynter_view::json;

/// What to load and what to override.
#[derive(Debug, Clone, Default)]
pub struct LoadOptions {
    /// The model of the file; the last where left out.
    pub model: Option<String>,
    /// Values that replace those of parameters and inputs.
    pub set: Vec<(String, String)>,
}

/// A model as far as it could be understood.
#[derive(Debug, Default)]
pub struct Model {
    /// Its files, the one asked for first.
    pub sources: SourceMap,
    /// All findings by place.
    pub diagnostics: Diagnostics,
}

impl Model {
    /// Loads a model with what it imports. Never fails: what is wrong is in the findings.
    pub fn load(world: &dyn World, path: &str, _options: &LoadOptions) -> Model {
        let Loaded { sources, diagnostics, .. } = load(world, path);
        Model { sources, diagnostics }
    }

    /// Tells whether it is a well-formed bond graph.
    pub fn check(&self) -> json::Check {
        json::Check {
            ok: !self.diagnostics.has_errors(),
            summary: None,
            diagnostics: json::Diagnostic::list(&self.diagnostics, &self.sources),
        }
    }

    /// Tells the causality of every bond, where there is a graph.
    pub fn causality(&self) -> Option<json::Causality> {
        None
    }
}

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
pub fn format(_path: &str, content: &[u8]) -> Formatted {
    Formatted {
        text: String::from_utf8_lossy(content).into_owned(),
        sources: SourceMap::new(),
        diagnostics: Diagnostics::new(),
    }
}
