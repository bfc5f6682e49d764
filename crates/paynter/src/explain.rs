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
    let (_, page) = PAGES.iter().find(|(name, _)| *name == code.id())?;
    Some(json::Explanation { code: code.into(), page: (*page).to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_a_page_under_its_title_and_every_page_a_code() {
        for code in code::ALL {
            let explanation = explain(&code.id().to_lowercase());
            let page = explanation.unwrap_or_else(|| panic!("{} has no page", code.id())).page;
            let heading = format!("# {}: {}\n", code.id(), code.title());
            assert!(
                page.starts_with(&heading),
                "the page on {} does not begin with `{}`",
                code.id(),
                heading.trim()
            );
        }
        for (name, _) in PAGES {
            assert!(Code::find(name).is_some(), "{name}.md explains no code");
        }
    }
}
