//! Checks that every crate the project is built from has a licence on the
//! allow list of `deny.toml`, and comes from the public registry. The same
//! list serves `cargo deny`; this check needs nothing installed.

use crate::metadata::Metadata;

/// Lists what is wrong, one sentence each.
pub fn violations(metadata: &Metadata, deny_toml: &str) -> Vec<String> {
    let allowed = allow_list(deny_toml);
    if allowed.is_empty() {
        return vec!["deny.toml has no list `allow = [ … ]`".to_owned()];
    }
    let mut found = Vec::new();
    for package in &metadata.packages {
        let id = format!("{} {}", package.name, package.version);
        match permitted(&package.licence, &allowed) {
            Some(true) => {}
            Some(false) => {
                found.push(format!("{id}: licence `{}` is not on the list in deny.toml", package.licence));
            }
            None => found.push(format!("{id}: licence `{}` is no licence expression", package.licence)),
        }
        let registry = |source: &str| source.starts_with("registry+") || source.starts_with("sparse+");
        if let Some(source) = package.source.as_deref().filter(|source| !registry(source)) {
            found.push(format!("{id}: comes from `{source}`, not from a registry"));
        }
    }
    found
}

/// The strings of the list `allow` in the section `[licenses]`.
fn allow_list(deny_toml: &str) -> Vec<String> {
    let section = deny_toml.split("[licenses]").nth(1).unwrap_or("");
    let list = section.split("allow = [").nth(1).and_then(|rest| rest.split(']').next()).unwrap_or("");
    list.split('"').skip(1).step_by(2).map(str::to_owned).collect()
}

/// Tells whether an SPDX expression can be met with allowed licences only;
/// nothing where it is malformed. The old `MIT/Apache-2.0` means `OR`.
fn permitted(expression: &str, allowed: &[String]) -> Option<bool> {
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    let tokens: Vec<&str> = spaced.split_whitespace().collect();
    let mut parser = Parser { tokens: &tokens, at: 0, allowed };
    let value = parser.any()?;
    (parser.at == tokens.len()).then_some(value)
}

struct Parser<'a> {
    tokens: &'a [&'a str],
    at: usize,
    allowed: &'a [String],
}

impl Parser<'_> {
    fn accept(&mut self, word: &str) -> bool {
        let hit = self.tokens.get(self.at) == Some(&word);
        self.at += usize::from(hit);
        hit
    }

    fn any(&mut self) -> Option<bool> {
        let mut value = self.all()?;
        while self.accept("OR") {
            value |= self.all()?;
        }
        Some(value)
    }

    fn all(&mut self) -> Option<bool> {
        let mut value = self.one()?;
        while self.accept("AND") {
            value &= self.one()?;
        }
        Some(value)
    }

    fn one(&mut self) -> Option<bool> {
        if self.accept("(") {
            let value = self.any()?;
            return self.accept(")").then_some(value);
        }
        let mut licence = (*self.tokens.get(self.at)?).to_owned();
        self.at += 1;
        if self.accept("WITH") {
            licence = format!("{licence} WITH {}", self.tokens.get(self.at)?);
            self.at += 1;
        }
        Some(self.allowed.contains(&licence))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_are_met_by_allowed_licences_only() {
        let allowed: Vec<String> = ["MIT", "Apache-2.0", "Unicode-3.0"].map(str::to_owned).into();
        for (expression, expected) in [
            ("MIT", Some(true)),
            ("GPL-3.0-only", Some(false)),
            ("MIT OR GPL-2.0-only", Some(true)),
            ("MIT/Apache-2.0", Some(true)),
            ("(MIT OR Apache-2.0) AND Unicode-3.0", Some(true)),
            ("(MIT OR Apache-2.0) AND LGPL-3.0-only", Some(false)),
            ("Apache-2.0 WITH LLVM-exception OR LGPL-3.0-only", Some(false)),
            ("", None),
            ("MIT OR", None),
            ("(MIT", None),
        ] {
            assert_eq!(permitted(expression, &allowed), expected, "{expression}");
        }
    }

    #[test]
    fn the_allow_list_is_read_from_its_section() {
        let text = "[bans]\nallow = [\"x\"]\n[licenses]\nallow = [\n  \"MIT\",\n  \"Zlib\",\n]\n";
        assert_eq!(allow_list(text), ["MIT", "Zlib"]);
    }
}
