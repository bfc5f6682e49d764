//! The answers of `paynter explain`.

use super::Severity;
use paynter_base::Spelling;
use schemars::JsonSchema;
use serde::Serialize;

/// All codes, as `paynter explain` without an argument lists them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Codes {
    /// The codes in order.
    pub codes: Vec<Code>,
}

/// One code in short.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Code {
    /// The code, `BG0401`.
    pub code: &'static str,
    /// Its usual severity.
    pub severity: Severity,
    /// What it is about.
    pub title: &'static str,
    /// The general remedy.
    pub remedy: String,
}

impl Code {
    /// Translates a code, its remedy in the spelling of the edge that shows it.
    pub fn new(code: paynter_base::Code, spelling: &dyn Spelling) -> Code {
        Code {
            code: code.id(),
            severity: code.severity().into(),
            title: code.title(),
            remedy: code.remedy().spelled(spelling),
        }
    }
}

/// The page on one code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Explanation {
    /// The code in short.
    #[serde(flatten)]
    pub code: Code,
    /// What it means, an example and the remedy, as Markdown.
    pub page: String,
}
