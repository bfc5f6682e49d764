//! Reads the values that replace those of parameters and inputs.

use crate::Setting;
use paynter_base::{Diagnostic, Diagnostics, Remedy, Source, SourceMap, code};
use paynter_language::ast::{Model, Param, Statement};
use paynter_language::parse_syntax;

/// The path of the text of a setting among the sources.
const SETTING: &str = "<set>";

/// Reads `NAME=VALUE` pairs; the later of two for one name counts. The value
/// is an expression and may carry a unit, as after a `param`.
pub fn settings(
    pairs: &[(String, String)],
    sources: &mut SourceMap,
    diagnostics: &mut Diagnostics,
) -> Vec<Setting> {
    let mut found: Vec<Setting> = Vec::new();
    for (name, value) in pairs {
        let Some(param) = read(value, sources) else {
            let message = format!("`{name}={value}`: `{value}` is no value");
            diagnostics.push(Diagnostic::new(code::BAD_SET, message).help(Remedy::marked(
                "write a number or an expression, with a unit where you like: {option set=Ra=2.5 [ohm]}",
            )));
            continue;
        };
        found.retain(|setting| setting.name != *name);
        found.extend(param.value.map(|value| Setting { name: name.clone(), value, unit: param.unit }));
    }
    found
}

/// Reads a value in the place where the language has values: after a `param`.
pub(crate) fn read(value: &str, sources: &mut SourceMap) -> Option<Param> {
    // On a line of its own, which is what people are shown of it.
    let text = format!("model set {{\nparam value = {value}\n}}");
    let file = sources.add(Source::new(SETTING, text.clone()));
    let (syntax, mistakes) = parse_syntax(&text, file);
    let [Model { statements, .. }] = syntax.models.as_slice() else { return None };
    let [Statement::Param(param)] = statements.as_slice() else { return None };
    let plain = param.tolerance.is_none() && param.bounds.is_none() && param.doc.is_none();
    (plain && mistakes.is_empty() && param.value.is_some()).then(|| param.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_expressions_with_units() {
        let read = |value: &str| {
            let mut diagnostics = Diagnostics::new();
            let pairs = [("k".to_owned(), value.to_owned())];
            (settings(&pairs, &mut SourceMap::new(), &mut diagnostics).len(), diagnostics.len())
        };
        for good in ["2", "-2.5e3", "2*a + 1", "2 [ohm]", "sin(t)"] {
            assert_eq!(read(good), (1, 0), "{good}");
        }
        for bad in ["2*", "", "2 }", "2; R x = 1", "2 ±10%", "2 } model n { param q = 1", "2 \"doc\""] {
            assert_eq!(read(bad), (0, 1), "{bad}");
        }
    }

    #[test]
    fn the_last_setting_counts() {
        let pairs = [("k".to_owned(), "1".to_owned()), ("k".to_owned(), "2".to_owned())];
        let found = settings(&pairs, &mut SourceMap::new(), &mut Diagnostics::new());
        assert_eq!(found.len(), 1);
    }
}
