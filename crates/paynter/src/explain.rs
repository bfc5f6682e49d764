//! The pages on diagnostics, built in.

use crate::embedded::PAGES;
use paynter_base::{Code, Spelling, code};
use paynter_view::json;

/// Lists every code in order, remedies in the spelling of the edge that shows them.
pub fn codes(spelling: &dyn Spelling) -> json::Codes {
    json::Codes { codes: code::ALL.iter().map(|code| json::Code::new(*code, spelling)).collect() }
}

/// Finds the page on a code, written in any case.
pub fn explain(id: &str, spelling: &dyn Spelling) -> Option<json::Explanation> {
    let code = Code::find(id)?;
    let (_, page) = PAGES.iter().find(|(name, _)| *name == code.id())?;
    Some(json::Explanation { code: json::Code::new(code, spelling), page: (*page).to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use paynter_base::Plain;

    #[test]
    fn every_code_has_a_page_under_its_title_and_every_page_a_code() {
        for code in code::ALL {
            let explanation = explain(&code.id().to_lowercase(), &Plain);
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
