//! The pages on diagnostics, built in.

use crate::embedded::PAGES;
use paynter_base::{Code, code};
use paynter_view::json;

/// Lists every code in order.
pub fn codes() -> json::Codes {
    json::Codes { codes: code::ALL.iter().copied().map(json::Code::from).collect() }
}

/// Finds the page on a code, written in any case.
pub fn explain(id: &str) -> Option<json::Explanation> {
    let code = Code::find(id)?;
    let page = PAGES.iter().find(|(name, _)| *name == code.id()).map(|(_, text)| (*text).to_owned());
    Some(json::Explanation { code: code.into(), page: page.unwrap_or_else(|| short_page(code)) })
}

/// What the registry itself knows, in the form of a page.
fn short_page(code: Code) -> String {
    format!("# {}: {}\n\nRemedy: {}.\n", code.id(), code.title(), code.remedy())
}
