//! How names with indices are written.

use paynter_graph::flat_name;

/// Who reads the names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Naming {
    /// Programs: `c_3.m`, as in expressions and JSON.
    Flat,
    /// People: `c[3].m`, as in the model.
    Shown,
}

impl Naming {
    /// Writes a flattened name.
    pub fn name(self, name: &str) -> String {
        match self {
            Naming::Flat => flat_name(name),
            Naming::Shown => name.to_owned(),
        }
    }
}
