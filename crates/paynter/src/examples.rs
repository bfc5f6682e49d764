//! The built-in example models.

use crate::embedded::{DATA, EXAMPLES};
use paynter_view::json;

/// One built-in example.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Example {
    /// The name to ask for it by.
    pub name: &'static str,
    /// The model file.
    pub text: &'static str,
    /// Measured data that belong to it, as CSV.
    pub data: Option<&'static str>,
}

impl Example {
    /// What it shows: the doc string of its main model, the last of the file.
    pub fn title(&self) -> String {
        let heading = self.text.lines().rfind(|line| line.starts_with("model ")).unwrap_or("");
        heading.split('"').nth(1).unwrap_or("").to_owned()
    }

    /// Where it comes from: the comment that opens the file, as one line.
    pub fn origin(&self) -> String {
        let lines = self.text.lines().map_while(|line| line.strip_prefix("//"));
        lines.map(str::trim).collect::<Vec<_>>().join(" ")
    }

    /// The example in short.
    pub fn entry(&self) -> json::ExampleEntry {
        json::ExampleEntry { name: self.name.to_owned(), title: self.title(), origin: self.origin() }
    }
}

/// Goes through all examples in order of their names.
pub fn all() -> impl Iterator<Item = Example> {
    let data = |name: &str| DATA.iter().find(|(known, _)| *known == name).map(|(_, data)| *data);
    EXAMPLES.iter().map(move |(name, text)| Example { name, text, data: data(name) })
}

/// Finds an example by its name.
pub fn find(name: &str) -> Option<Example> {
    all().find(|example| example.name == name)
}

/// Lists all examples.
pub fn list() -> json::Examples {
    json::Examples { examples: all().map(|example| example.entry()).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_example_says_what_it_shows_and_where_it_comes_from() {
        assert!(find("dc_motor").is_some());
        for example in all() {
            assert!(!example.title().is_empty(), "{} has no title", example.name);
            assert!(!example.origin().is_empty(), "{} has no origin", example.name);
        }
    }
}
