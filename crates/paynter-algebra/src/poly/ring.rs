//! Names for the variables of polynomials.

use std::collections::BTreeMap;

/// A list of named variables: a variable's index is its place in the list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ring {
    names: Vec<String>,
    indices: BTreeMap<String, usize>,
}

impl Ring {
    /// Makes a ring with these variables, the most significant first.
    pub fn new<S: AsRef<str>>(names: &[S]) -> Ring {
        let mut ring = Ring::default();
        for name in names {
            ring.variable(name.as_ref());
        }
        ring
    }

    /// Returns the index of a variable, which is added at the end if new.
    pub fn variable(&mut self, name: &str) -> usize {
        if let Some(&index) = self.indices.get(name) {
            return index;
        }
        let index = self.names.len();
        self.names.push(name.to_owned());
        self.indices.insert(name.to_owned(), index);
        index
    }

    /// Returns the index of a variable if the ring has it.
    pub fn index(&self, name: &str) -> Option<usize> {
        self.indices.get(name).copied()
    }

    /// Returns the name of a variable if the ring has it.
    pub fn name(&self, variable: usize) -> Option<&str> {
        self.names.get(variable).map(String::as_str)
    }

    /// Returns the number of variables.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Returns whether there are no variables.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }
}
