//! The generator of random bond graphs: from a seed to a model text and its
//! meaning. A drawn model is kept only when its causality is possible and its
//! equations determine every variable, unless conflicts are asked for.

pub(crate) mod draft;
mod laws;
mod outputs;
mod shrink;
mod submodel;
mod switching;
mod topology;

use crate::causality::{all_integral, complete};
use crate::expr::Expr;
use crate::linear::{generic, is_solvable};
use crate::rng::Rng;
use crate::structure::{Element, Kind, Law, Structure};
use crate::text;
use draft::Draft;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;

pub use shrink::{plain, shrink, write};
pub use switching::switching;

/// What to make.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// How many junctions the main model has (submodels bring more).
    pub junctions: RangeInclusive<usize>,
    /// The most bonds, flattened.
    pub bonds: usize,
    /// Only linear laws, rational in the parameters.
    pub linear: bool,
    /// Submodels and arrays.
    pub submodels: bool,
    /// Keep models whose sources contradict each other or whose equations are singular.
    pub conflicts: bool,
}

impl Options {
    /// Linear models of 3 to 12 junctions.
    pub fn linear() -> Options {
        Options { junctions: 3..=12, bonds: 60, linear: true, submodels: true, conflicts: false }
    }

    /// Models of 3 to 12 junctions with nonlinear laws, switches and modulated elements.
    pub fn nonlinear() -> Options {
        Options { linear: false, ..Options::linear() }
    }

    /// Restricts to what an exhaustive search of causality can judge.
    #[must_use]
    pub fn small(self) -> Options {
        Options { junctions: 1..=4, bonds: 13, ..self }
    }

    /// Restricts to models that a person takes in at a glance.
    #[must_use]
    pub fn tiny(self) -> Options {
        Options { junctions: 1..=2, bonds: 8, submodels: false, ..self }
    }

    /// Allows conflicts.
    #[must_use]
    pub fn with_conflicts(self) -> Options {
        Options { conflicts: true, ..self }
    }
}

/// A random model.
#[derive(Debug, Clone, PartialEq)]
pub struct Sample {
    /// The seed it came from.
    pub seed: u64,
    /// The model as text.
    pub text: String,
    /// What the text means.
    pub structure: Structure,
    /// Whether the text uses submodels.
    pub submodels: bool,
    /// Whether the text uses an array of submodels.
    pub array: bool,
    /// Whether the generator kept to linear laws.
    pub linear: bool,
}

/// Makes the model of a seed; the same on every machine.
pub fn generate(seed: u64, options: &Options) -> Sample {
    let mut rng = Rng::new(seed);
    for _ in 0..2000 {
        let mut maker = Maker::new(Rng::new(rng.bits()), options.clone());
        if maker.build().is_none() {
            continue;
        }
        let Maker { mut rng, draft, array, .. } = maker;
        let text = text::file(&draft, &mut rng);
        let submodels = !draft.templates.is_empty();
        return Sample { seed, text, structure: draft.structure, submodels, array, linear: options.linear };
    }
    // Not reached in practice: some drawing always succeeds within the limits above.
    fallback(seed, options)
}

/// An effort source on a resistor.
fn fallback(seed: u64, options: &Options) -> Sample {
    let mut draft = Draft::default();
    let source = draft.element("se1".to_owned(), Kind::Se, 1, Law::Value(Expr::from("u1")));
    let load = draft.element("r1".to_owned(), Kind::R, 1, Law::Value(Expr::from(2)));
    draft.structure.inputs.push(("u1".to_owned(), "1".to_owned()));
    let end = |element| crate::structure::End { element, port: 1 };
    draft.bond(end(source), end(load));
    draft.structure.outputs.push(("y1".to_owned(), Expr::from("r1.f")));
    let text = text::file(&draft, &mut Rng::new(seed));
    Sample { seed, text, structure: draft.structure, submodels: false, array: false, linear: options.linear }
}

/// Draws one model.
pub(crate) struct Maker {
    pub(crate) rng: Rng,
    pub(crate) options: Options,
    pub(crate) draft: Draft,
    /// How many names of each prefix are taken.
    counters: BTreeMap<&'static str, usize>,
    pub(crate) array: bool,
    /// Whether every storage shall be independent.
    integral: bool,
    /// Whether this draws the inside of a submodel.
    pub(crate) inside: bool,
}

impl Maker {
    pub(crate) fn new(rng: Rng, options: Options) -> Maker {
        Maker {
            rng,
            options,
            draft: Draft::default(),
            counters: BTreeMap::new(),
            array: false,
            integral: false,
            inside: false,
        }
    }

    /// Makes a fresh name.
    pub(crate) fn fresh(&mut self, prefix: &'static str) -> String {
        let count = self.counters.entry(prefix).or_insert(0);
        *count += 1;
        format!("{prefix}{count}")
    }

    /// Draws everything; `None` when the drawing is of no use.
    fn build(&mut self) -> Option<()> {
        self.skeleton();
        if self.options.conflicts || self.rng.chance(0.5) {
            self.integral = true;
            self.make_integral();
        }
        if self.draft.structure.bonds.len() > self.options.bonds || !self.draft.structure.is_complete() {
            return None;
        }
        if !self.options.conflicts && !self.judge(&self.draft.structure) {
            return None;
        }
        self.drive();
        if self.draft.structure.bonds.len() > self.options.bonds {
            return None;
        }
        self.observe();
        self.initial_states();
        Some(())
    }

    /// Tells whether a model makes sense: its causality is possible and its
    /// equations determine every variable, also when switches are open.
    pub(crate) fn judge(&self, structure: &Structure) -> bool {
        if !self.feasible(structure) {
            return false;
        }
        let is_ideal = |element: &Element| matches!(&element.law, Law::Switch { off: None, .. });
        if !structure.elements.iter().any(is_ideal) {
            return true;
        }
        let mut open = structure.clone();
        for element in &mut open.elements {
            if is_ideal(element) {
                (element.kind, element.law) = (Kind::De, Law::None);
            }
        }
        // An ideal switch that takes away a state when it opens is an error by the language.
        self.feasible(&open)
            && generic(&open, 1).map(|found| found.order) == generic(structure, 1).map(|found| found.order)
    }

    /// Adds something by `add` and keeps it when the model still makes sense.
    pub(crate) fn attempt(&mut self, add: impl FnOnce(&mut Maker)) -> bool {
        let before = (self.draft.clone(), self.counters.clone());
        add(self);
        let structure = &self.draft.structure;
        let good = structure.bonds.len() <= self.options.bonds
            && structure.is_complete()
            && (self.options.conflicts || self.judge(structure));
        if !good {
            (self.draft, self.counters) = before;
        }
        good
    }

    /// Judges causality and solvability.
    fn feasible(&self, structure: &Structure) -> bool {
        let given = if self.integral { all_integral(structure) } else { vec![None; structure.bonds.len()] };
        complete(structure, &given, 20_000).is_some() && is_solvable(structure, 1)
    }

    /// Replaces storages that cannot all be integral by resistors.
    fn make_integral(&mut self) {
        for index in 0..self.draft.structure.elements.len() {
            let structure = &self.draft.structure;
            let mut given = all_integral(structure);
            for (bond, stroke) in structure.bonds.iter().zip(&mut given) {
                // Only the storages up to this one count yet.
                let later = |element: usize| element > index && structure.elements[element].kind.is_storage();
                if later(bond.from.element) || later(bond.to.element) {
                    *stroke = None;
                }
            }
            let Element { kind, ports, ref name, .. } = structure.elements[index];
            // A body keeps its temperature: a resistor of another domain's law has no place there.
            let replaceable = kind.is_storage()
                && !self.draft.hidden_elements.contains(&index)
                && !name.starts_with("body");
            if replaceable && complete(structure, &given, 5_000).is_none() {
                let law = if ports > 1 { self.field_law(Kind::R, ports) } else { self.one_port_law(Kind::R) };
                let element = &mut self.draft.structure.elements[index];
                (element.kind, element.law) = (Kind::R, law);
            }
        }
    }
}
