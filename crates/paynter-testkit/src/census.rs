//! What a set of samples contains, read off the structures themselves, so
//! that a test can demand that no class is rare.

use crate::causality::{all_integral, propagate};
use crate::expr::Expr;
use crate::generate::Sample;
use crate::linear::generic;
use crate::structure::{Element, Kind, Law, Meaning, Structure};
use std::collections::BTreeMap;
use std::fmt;

/// A count of classes.
#[derive(Debug, Clone, Default)]
pub struct Census {
    samples: usize,
    nonlinear: usize,
    counts: Vec<usize>,
}

/// Whether a class can occur in every sample or only in nonlinear ones.
#[derive(Clone, Copy, PartialEq)]
enum Scope {
    Any,
    Nonlinear,
}

type Class = (&'static str, Scope, fn(&Facts<'_>) -> bool);

/// Every class with its test.
const CLASSES: &[Class] = &[
    ("Se", Scope::Any, |facts| facts.has(Kind::Se)),
    ("Sf", Scope::Any, |facts| facts.has(Kind::Sf)),
    ("R", Scope::Any, |facts| facts.has(Kind::R)),
    ("C", Scope::Any, |facts| facts.has(Kind::C)),
    ("I", Scope::Any, |facts| facts.has(Kind::I)),
    ("TF", Scope::Any, |facts| facts.has(Kind::Tf)),
    ("GY", Scope::Any, |facts| facts.has(Kind::Gy)),
    ("0", Scope::Any, |facts| facts.has(Kind::Zero)),
    ("1", Scope::Any, |facts| facts.has(Kind::One)),
    ("De", Scope::Any, |facts| facts.has(Kind::De)),
    ("Df", Scope::Any, |facts| facts.has(Kind::Df)),
    ("Sw", Scope::Nonlinear, |facts| facts.has(Kind::Sw)),
    ("RS", Scope::Nonlinear, |facts| facts.has(Kind::Rs)),
    ("R-field", Scope::Any, |facts| facts.field(Kind::R)),
    ("C-field", Scope::Any, |facts| facts.field(Kind::C)),
    ("I-field", Scope::Any, |facts| facts.field(Kind::I)),
    ("field by matrix", Scope::Any, |facts| facts.any(|element| matches!(element.law, Law::Matrix(_)))),
    ("field by laws", Scope::Any, |facts| {
        facts.any(|element| element.ports > 1 && matches!(element.law, Law::Laws(_)))
    }),
    ("one-port by law", Scope::Any, |facts| {
        facts.any(|element| element.ports == 1 && matches!(element.law, Law::Laws(_)))
    }),
    ("0-0 bond", Scope::Any, |facts| facts.joined(|a, b| a == Kind::Zero && b == Kind::Zero)),
    ("1-1 bond", Scope::Any, |facts| facts.joined(|a, b| a == Kind::One && b == Kind::One)),
    ("TF-TF or GY-GY chain", Scope::Any, |facts| {
        facts.joined(|a, b| a == b && matches!(a, Kind::Tf | Kind::Gy))
    }),
    ("one-port on one-port", Scope::Any, |facts| facts.joined(|a, b| is_terminal(a) && is_terminal(b))),
    ("one-port on TF or GY", Scope::Any, |facts| {
        facts.joined(|a, b| is_terminal(a) && matches!(b, Kind::Tf | Kind::Gy))
    }),
    ("ring of junctions", Scope::Any, |facts| !facts.rings.is_empty()),
    ("ring with odd gyrators", Scope::Any, |facts| facts.rings.iter().any(|gyrators| gyrators % 2 == 1)),
    ("ring with even gyrators", Scope::Any, |facts| {
        facts.rings.iter().any(|gyrators| *gyrators > 0 && gyrators % 2 == 0)
    }),
    ("dependent storages", Scope::Any, |facts| facts.dependent),
    ("algebraic loop", Scope::Any, |facts| facts.algebraic_loop),
    ("source with arrow in", Scope::Any, |facts| {
        facts.arrow(|kind| matches!(kind, Kind::Se | Kind::Sf), true)
    }),
    ("load with arrow out", Scope::Any, |facts| {
        facts.arrow(|kind| matches!(kind, Kind::R | Kind::C | Kind::I | Kind::De | Kind::Df), false)
    }),
    ("two-port against its arrows", Scope::Any, |facts| facts.turned),
    ("shared parameter", Scope::Any, |facts| facts.uses.values().any(|count| *count > 1)),
    ("derived parameter", Scope::Any, |facts| {
        facts.structure.independent().len() < facts.structure.params.len()
    }),
    ("expression as value", Scope::Any, |facts| {
        facts.any(|element| matches!(&element.law, Law::Value(Expr::Binary(..))))
    }),
    ("controlled source", Scope::Any, |facts| facts.modulated(|kind| matches!(kind, Kind::Se | Kind::Sf))),
    ("signal", Scope::Any, |facts| !facts.structure.signals.is_empty()),
    ("integrator", Scope::Any, |facts| {
        facts.structure.signals.iter().any(|signal| signal.integral.is_some())
    }),
    ("named bond", Scope::Any, |facts| facts.structure.bonds.iter().any(|bond| bond.name.is_some())),
    ("initial state", Scope::Any, |facts| facts.any(|element| !element.initial.is_empty())),
    ("submodel", Scope::Any, |facts| facts.sample.submodels),
    ("submodel in a submodel", Scope::Any, |facts| {
        facts.any(|element| element.name.matches('.').count() > 1)
    }),
    ("array", Scope::Any, |facts| facts.sample.array),
    ("output of a state", Scope::Any, |facts| facts.output(|meaning| matches!(meaning, Meaning::State(_)))),
    ("output of an effort", Scope::Any, |facts| {
        facts.output(|meaning| matches!(meaning, Meaning::Effort(_)))
    }),
    ("output of a flow", Scope::Any, |facts| facts.output(|meaning| matches!(meaning, Meaning::Flow(_)))),
    ("output with a parameter", Scope::Any, |facts| {
        facts.output(|meaning| matches!(meaning, Meaning::Param(_)))
    }),
    ("output with an input", Scope::Any, |facts| {
        facts.output(|meaning| matches!(meaning, Meaning::Input(_)))
    }),
    ("modulated TF or GY", Scope::Nonlinear, |facts| {
        facts.modulated(|kind| matches!(kind, Kind::Tf | Kind::Gy))
    }),
    ("modulus that may vanish", Scope::Nonlinear, |facts| facts.any(|element| element.may_vanish)),
    ("nonlinear law", Scope::Nonlinear, |facts| facts.any(is_nonlinear)),
    ("implicit law", Scope::Any, |facts| {
        facts.any(|element| match &element.law {
            Law::Laws(laws) => laws.iter().any(|(left, _)| !matches!(left, Expr::Name(_))),
            _ => false,
        })
    }),
    ("several inputs", Scope::Any, |facts| facts.structure.inputs.len() > 1),
];

fn is_terminal(kind: Kind) -> bool {
    !kind.is_junction() && !kind.is_two_port()
}

fn is_nonlinear(element: &Element) -> bool {
    let mut found = false;
    if let Law::Laws(laws) = &element.law {
        for (left, right) in laws {
            for side in [left, right] {
                let text = side.to_string();
                found |= text.contains("^3") || text.contains('(') && text.contains(['h', 'x', 's']);
            }
        }
    }
    found
}

/// What is known of one sample.
struct Facts<'a> {
    sample: &'a Sample,
    structure: &'a Structure,
    names: BTreeMap<String, Meaning>,
    /// The number of gyrators in each ring of a basis of rings.
    rings: Vec<usize>,
    dependent: bool,
    algebraic_loop: bool,
    turned: bool,
    /// In how many elements each parameter stands.
    uses: BTreeMap<usize, usize>,
}

impl<'a> Facts<'a> {
    fn of(sample: &'a Sample) -> Facts<'a> {
        let structure = &sample.structure;
        let names = structure.names();
        let mut uses = BTreeMap::new();
        for element in &structure.elements {
            let mut own = Vec::new();
            element.law.expressions(&mut |value| {
                value.names(&mut |name| {
                    if let Some(Meaning::Param(index)) = names.get(name) {
                        own.push(*index);
                    }
                });
            });
            own.sort_unstable();
            own.dedup();
            for index in own {
                *uses.entry(index).or_insert(0) += 1;
            }
        }
        let turned = structure.elements.iter().zip(structure.incidence()).any(|(element, list)| {
            element.kind.is_two_port() && list.iter().any(|&(port, _, inward)| inward != (port == 1))
        });
        let generic = generic(structure, 3);
        let independent = generic.is_some_and(|generic| generic.solvable && generic.order == generic.states);
        Facts {
            sample,
            structure,
            names,
            rings: rings(structure),
            dependent: generic.is_some_and(|generic| generic.solvable && generic.order < generic.states),
            algebraic_loop: independent && undetermined(structure),
            turned,
            uses,
        }
    }

    fn any(&self, test: impl Fn(&Element) -> bool) -> bool {
        self.structure.elements.iter().any(test)
    }

    fn has(&self, kind: Kind) -> bool {
        self.any(|element| element.kind == kind)
    }

    fn field(&self, kind: Kind) -> bool {
        self.any(|element| element.kind == kind && element.ports > 1)
    }

    fn joined(&self, test: impl Fn(Kind, Kind) -> bool) -> bool {
        let kind = |index: usize| self.structure.elements[index].kind;
        self.structure.bonds.iter().any(|bond| {
            let (a, b) = (kind(bond.from.element), kind(bond.to.element));
            test(a, b) || test(b, a)
        })
    }

    fn arrow(&self, test: impl Fn(Kind) -> bool, inward: bool) -> bool {
        self.structure.bonds.iter().any(|bond| {
            let end = if inward { bond.to } else { bond.from };
            test(self.structure.elements[end.element].kind)
        })
    }

    fn modulated(&self, test: impl Fn(Kind) -> bool) -> bool {
        self.any(|element| {
            let mut found = false;
            if let Law::Value(value) = &element.law {
                value.names(&mut |name| {
                    found |= !matches!(self.names.get(name), Some(Meaning::Param(_) | Meaning::Input(_)));
                });
            }
            found && test(element.kind)
        })
    }

    fn output(&self, test: impl Fn(&Meaning) -> bool) -> bool {
        self.structure.outputs.iter().any(|(_, value)| {
            let mut found = false;
            value.names(&mut |name| found |= self.names.get(name).is_some_and(&test));
            found
        })
    }
}

/// Counts the gyrators in each fundamental ring of a spanning forest.
fn rings(structure: &Structure) -> Vec<usize> {
    let count = structure.elements.len();
    let mut near: Vec<Vec<(usize, usize)>> = vec![Vec::new(); count];
    for (index, bond) in structure.bonds.iter().enumerate() {
        near[bond.from.element].push((bond.to.element, index));
        near[bond.to.element].push((bond.from.element, index));
    }
    let mut parent: Vec<Option<(usize, usize)>> = vec![None; count];
    let mut depth: Vec<Option<usize>> = vec![None; count];
    let mut rings = Vec::new();
    for root in 0..count {
        if depth[root].is_some() {
            continue;
        }
        depth[root] = Some(0);
        let mut queue = std::collections::VecDeque::from([root]);
        while let Some(at) = queue.pop_front() {
            for &(next, bond) in &near[at] {
                if depth[next].is_none() {
                    depth[next] = depth[at].map(|depth| depth + 1);
                    parent[next] = Some((at, bond));
                    queue.push_back(next);
                }
            }
        }
    }
    let in_tree: Vec<usize> = parent.iter().flatten().map(|(_, bond)| *bond).collect();
    for (index, bond) in structure.bonds.iter().enumerate() {
        if in_tree.contains(&index) {
            continue;
        }
        let (mut a, mut b) = (bond.from.element, bond.to.element);
        let mut gyrators = 0;
        let mut pass = |element: usize| gyrators += usize::from(structure.elements[element].kind == Kind::Gy);
        while a != b {
            let deeper = if depth[a] >= depth[b] { &mut a } else { &mut b };
            pass(*deeper);
            let Some((above, _)) = parent[*deeper] else { break };
            *deeper = above;
        }
        pass(a);
        rings.push(gyrators);
    }
    rings
}

/// Tells whether strokes stay open when all storages are integral.
fn undetermined(structure: &Structure) -> bool {
    propagate(structure, &all_integral(structure)).is_some_and(|strokes| strokes.contains(&None))
}

impl Census {
    /// Starts with nothing.
    pub fn new() -> Census {
        Census { samples: 0, nonlinear: 0, counts: vec![0; CLASSES.len()] }
    }

    /// Counts a sample.
    pub fn add(&mut self, sample: &Sample) {
        let facts = Facts::of(sample);
        self.samples += 1;
        self.nonlinear += usize::from(!sample.linear);
        self.counts.resize(CLASSES.len(), 0);
        for (count, (_, scope, test)) in self.counts.iter_mut().zip(CLASSES) {
            let eligible = *scope == Scope::Any || !sample.linear;
            *count += usize::from(eligible && test(&facts));
        }
    }

    /// Lists each class with the number of samples that have it and of those that could.
    pub fn classes(&self) -> Vec<(&'static str, usize, usize)> {
        let total = |scope: Scope| if scope == Scope::Any { self.samples } else { self.nonlinear };
        CLASSES
            .iter()
            .zip(&self.counts)
            .map(|((name, scope, _), count)| (*name, *count, total(*scope)))
            .collect()
    }

    /// Fails when a class that could occur is in less than this share of the samples.
    pub fn require(&self, share: f64) -> Result<(), String> {
        let rare: Vec<String> = self
            .classes()
            .into_iter()
            .filter(|(_, count, total)| (*count as f64) < share * *total as f64)
            .map(|(name, count, total)| format!("{name}: {count} of {total}"))
            .collect();
        if rare.is_empty() { Ok(()) } else { Err(format!("rare classes: {}", rare.join("; "))) }
    }
}

impl fmt::Display for Census {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:<28} {:>8} {:>8}", format!("{} samples", self.samples), "count", "share")?;
        for (name, count, total) in self.classes() {
            let share = if total == 0 { 0.0 } else { 100.0 * count as f64 / total as f64 };
            writeln!(f, "{name:<28} {count:>8} {share:>7.1}%")?;
        }
        Ok(())
    }
}
