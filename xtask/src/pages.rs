//! Checks the handbook: the table of contents lists every page once, and
//! every link between pages and to headings leads somewhere.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Lists what is wrong in the handbook below `source`, one sentence each.
pub fn violations(source: &Path) -> Result<Vec<String>, String> {
    let mut pages = BTreeMap::new();
    collect(source, source, &mut pages)?;
    Ok(check(&pages, |path| source.join(path).exists()))
}

/// Reads all Markdown files below a folder, by their path from `root`.
fn collect(root: &Path, folder: &Path, pages: &mut BTreeMap<String, String>) -> Result<(), String> {
    let entries = std::fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    for entry in entries {
        let path = entry.map_err(|error| error.to_string())?.path();
        if path.is_dir() {
            collect(root, &path, pages)?;
        } else if path.extension().is_some_and(|extension| extension == "md") {
            let text = std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
            let name = path.strip_prefix(root).unwrap_or(&path).to_string_lossy().replace('\\', "/");
            pages.insert(name, text);
        }
    }
    Ok(())
}

fn check(pages: &BTreeMap<String, String>, exists: impl Fn(&str) -> bool) -> Vec<String> {
    let Some(summary) = pages.get("SUMMARY.md") else {
        return vec!["the handbook has no SUMMARY.md".to_owned()];
    };
    let mut found = Vec::new();
    let mut listed = BTreeSet::new();
    for link in links(summary) {
        if !listed.insert(link.clone()) {
            found.push(format!("SUMMARY.md lists {link} twice"));
        }
    }
    for page in pages.keys().filter(|page| *page != "SUMMARY.md" && !listed.contains(*page)) {
        found.push(format!("SUMMARY.md does not list {page}"));
    }
    for (page, text) in pages {
        for link in links(text).iter().filter(|link| !link.contains("://") && !link.starts_with("mailto:")) {
            let (path, heading) = link.split_once('#').unwrap_or((link, ""));
            let target = if path.is_empty() { page.clone() } else { resolve(page, path) };
            match pages.get(&target) {
                Some(text) if heading.is_empty() || headings(text).contains(heading) => {}
                Some(_) => found.push(format!("{page}: {target} has no heading #{heading}")),
                None if exists(&target) => {}
                None => found.push(format!("{page}: the link to {link} leads nowhere")),
            }
        }
    }
    found
}

/// A relative link from a page, as a path from the handbook's root.
fn resolve(page: &str, link: &str) -> String {
    let mut path: PathBuf = Path::new(page).parent().map(Path::to_owned).unwrap_or_default();
    for part in link.split('/') {
        match part {
            "" | "." => {}
            ".." if path.file_name().is_some_and(|name| name != "..") => {
                path.pop();
            }
            part => path.push(part),
        }
    }
    path.to_string_lossy().replace('\\', "/")
}

/// The lines of a page outside fenced code.
fn prose(text: &str) -> impl Iterator<Item = &str> {
    let mut fenced = false;
    text.lines().filter(move |line| {
        let fence = line.trim_start().starts_with("```");
        fenced ^= fence;
        !fenced && !fence
    })
}

/// The targets of all inline links `[text](target)`.
fn links(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for line in prose(text) {
        // Code spans may show `[a](b)` as text.
        let shown: String = line.split('`').step_by(2).collect::<Vec<_>>().join("`");
        for rest in shown.split("](").skip(1) {
            if let Some(target) = rest.split([')', ' ']).next().filter(|target| !target.is_empty()) {
                found.push(target.to_owned());
            }
        }
    }
    found
}

/// The anchors that mdBook makes of a page's headings.
fn headings(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for line in prose(text).filter(|line| line.starts_with('#')) {
        let words = line.trim_start_matches('#').trim().to_lowercase();
        let anchor: String = words
            .chars()
            .filter_map(|c| match c {
                ' ' => Some('-'),
                c if c.is_alphanumeric() || c == '-' || c == '_' => Some(c),
                _ => None,
            })
            .collect();
        found.insert(anchor);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(pages: &[(&str, &str)]) -> Vec<String> {
        let pages = pages.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
        check(&pages, |path| path == "picture.svg")
    }

    #[test]
    fn a_sound_handbook_passes() {
        let summary = "- [A](a.md)\n  - [B](sub/b.md)\n";
        let a = "# The A page\nsee [B](sub/b.md#what-it-is), ![p](picture.svg), `[x](y)`\n```\n[x](y)\n```\n";
        let b =
            "## What it is?\nback to [A](../a.md) and [here](#what-it-is), [out](https://example.org/x)\n";
        assert_eq!(found(&[("SUMMARY.md", summary), ("a.md", a), ("sub/b.md", b)]), Vec::<String>::new());
    }

    #[test]
    fn each_fault_is_named() {
        let faults = found(&[
            ("SUMMARY.md", "[A](a.md) [A](a.md)"),
            ("a.md", "[x](missing.md) [y](b.md#nope)"),
            ("b.md", "# B"),
        ]);
        assert_eq!(
            faults,
            [
                "SUMMARY.md lists a.md twice",
                "SUMMARY.md does not list b.md",
                "a.md: the link to missing.md leads nowhere",
                "a.md: b.md has no heading #nope",
            ]
        );
    }
}
