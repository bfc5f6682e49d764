//! Random bond graphs, judged by oracles that share no code with this crate:
//! flattening keeps every element, bond and value; every port constraint holds
//! in the causality found; an exhaustive search agrees on what is possible and
//! on how many storages can be integral; the formatter keeps the meaning.
//!
//! `cargo xtask random SEED [COUNT]` runs other seeds.

#![allow(clippy::unwrap_used, clippy::panic)]

use paynter_algebra::Pool;
use paynter_base::{Diagnostics, FileId, code};
use paynter_graph::{BondGraph, Causality, FlattenOptions, assign_causality, flatten};
use paynter_testkit::causality::{Rules, integral_ports, search, violated};
use paynter_testkit::linear::generic;
use paynter_testkit::property::{check, demand, seeds, tolerate};
use paynter_testkit::rng::Rng;
use paynter_testkit::structure::{Store, Structure};
use paynter_testkit::{Options, generate, mutate};

use crate::meaning;
use meaning::Matched;

/// A text brought as far as it goes.
struct Judged {
    pool: Pool,
    graph: Option<BondGraph>,
    causality: Option<Causality>,
    diagnostics: Diagnostics,
}

fn judge(text: &str) -> Judged {
    let (file, mut diagnostics) = paynter_language::parse_syntax(text, FileId(0));
    let mut pool = Pool::new();
    let (graph, found) = flatten(&mut pool, &[file], &FlattenOptions::default());
    diagnostics.extend(found);
    let mut causality = None;
    if let Some(graph) = graph.as_ref().filter(|_| !diagnostics.has_errors()) {
        let (assigned, found) = assign_causality(&mut pool, graph);
        diagnostics.extend(found);
        causality = assigned;
    }
    Judged { pool, graph, causality, diagnostics }
}

impl Judged {
    fn errors(&self) -> Vec<String> {
        let errors = self.diagnostics.iter().filter(|found| found.is_error());
        errors.map(|found| format!("{} {}", found.code.id(), found.message)).collect()
    }

    /// Tells whether the model is refused for a ring of junctions. In a ring whose gain is exactly
    /// one (two junctions bonded twice) the causality with the most states may be singular although
    /// the equations, with fewer states or others, are not.
    fn is_degenerate(&self) -> bool {
        let mut errors = self.diagnostics.iter().filter(|found| found.is_error()).peekable();
        errors.peek().is_some() && errors.all(|found| found.code == code::SINGULAR_STRUCTURE)
    }

    /// The strokes in the order of the structure's bonds.
    fn strokes(&self, structure: &Structure) -> Result<Vec<bool>, String> {
        let graph = self.graph.as_ref().ok_or("no graph")?;
        let causality = self.causality.as_ref().ok_or("no causality")?;
        let matched = Matched::new(structure, graph)?;
        Ok(matched.bonds.iter().map(|bond| causality.strokes[*bond].effort_to).collect())
    }
}

/// Models without contradictions, of every size and kind.
fn all_options() -> [Options; 4] {
    [Options::linear(), Options::nonlinear(), Options::linear().small(), Options::nonlinear().small()]
}

#[test]
fn flattening_keeps_every_element_bond_and_value() {
    for options in all_options() {
        check(100, &options, |text, structure| {
            let judged = judge(text);
            let graph = judged.graph.as_ref().ok_or("no graph")?;
            meaning::compare(structure, graph, &judged.pool)
        });
    }
}

#[test]
fn sound_models_are_accepted_and_every_port_constraint_holds() {
    for options in all_options() {
        check(100, &options, |text, structure| {
            // A shrunken structure need not be sound.
            let sound = generic(structure, 7).is_some_and(|found| found.solvable);
            let judged = judge(text);
            if !sound || judged.is_degenerate() {
                return Ok(());
            }
            if !judged.errors().is_empty() {
                return Err(judged.errors().join("; "));
            }
            let strokes = judged.strokes(structure)?;
            match violated(structure, &strokes, Rules::Ports) {
                Some(element) => Err(format!("the rule of `{element}` is broken")),
                None => Ok(()),
            }
        });
    }
}

#[test]
fn hardly_any_sound_model_is_refused_for_a_ring() {
    let mut count = 0;
    for options in all_options() {
        let refused = seeds(100).filter(|seed| judge(&generate(*seed, &options).text).is_degenerate());
        count += refused.count();
    }
    tolerate("models are refused", count, 1, 100);
}

/// Compares with the exhaustive search.
fn agrees_with_search(text: &str, structure: &Structure) -> Result<(), String> {
    let judged = judge(text);
    let all = search(structure, Rules::Ports).ok_or("too large")?;
    let refused = judged.diagnostics.iter().any(|found| {
        [code::CAUSAL_CONFLICT, code::SWITCH_SERIES_INERTIA, code::SINGULAR_STRUCTURE].contains(&found.code)
    });
    if all.count == 0 {
        return if refused {
            Ok(())
        } else {
            Err(format!("no causality exists, yet: {:?}", judged.errors()))
        };
    }
    if judged.causality.is_none() {
        return Err(format!("causality exists, yet: {:?}", judged.errors()));
    }
    let strokes = judged.strokes(structure)?;
    if let Some(element) = violated(structure, &strokes, Rules::Ports) {
        return Err(format!("the rule of `{element}` is broken"));
    }
    for (index, (possible, stroke)) in all.possible.iter().zip(&strokes).enumerate() {
        if !possible[usize::from(*stroke)] {
            return Err(format!("the stroke of bond {index} is impossible"));
        }
    }
    // Where no division can be avoided altogether, the fewest dependent storages are not promised.
    let careful = search(structure, Rules::NoDivision).ok_or("too large")?;
    let integral = integral_ports(structure, &strokes);
    if careful.count > 0 {
        if let Some(element) = violated(structure, &strokes, Rules::NoDivision) {
            return Err(format!("`{element}` divides by a modulus that may vanish, without need"));
        }
        // A storage may have given way so that no loop determines itself.
        let yielded = judged.causality.as_ref().is_some_and(|found| !found.yielded.is_empty());
        if integral != careful.integral && !(yielded && integral < careful.integral) {
            return Err(format!("{integral} storage ports are integral, {} could be", careful.integral));
        }
    }
    let Some(causality) = &judged.causality else { return Err("no causality".to_owned()) };
    let integrators =
        structure.states().iter().filter(|(_, store)| matches!(store, Store::Signal(_))).count();
    if causality.order != integral + integrators {
        return Err(format!("order {} with {integral} integral storage ports", causality.order));
    }
    let rank = (integral + all.derivative).saturating_sub(all.storages);
    if causality.rank != rank {
        return Err(format!("rank {}, by search {rank}", causality.rank));
    }
    Ok(())
}

#[test]
fn an_exhaustive_search_agrees() {
    for options in [Options::linear().small(), Options::nonlinear().small(), Options::linear().tiny()] {
        check(150, &options, agrees_with_search);
    }
}

#[test]
fn an_exhaustive_search_agrees_on_contradictory_models() {
    for options in [
        Options::linear().small().with_conflicts(),
        Options::nonlinear().small().with_conflicts(),
        Options::linear().tiny().with_conflicts(),
    ] {
        check(150, &options, agrees_with_search);
    }
}

#[test]
fn the_formatter_keeps_the_meaning() {
    for options in all_options() {
        check(60, &options, |text, structure| {
            let once = paynter_language::format(text).map_err(|found| format!("not formatted: {found:?}"))?;
            let twice =
                paynter_language::format(&once).map_err(|found| format!("not formatted twice: {found:?}"))?;
            if once != twice {
                return Err(format!("formatting again changes the text:\n{once}"));
            }
            let judged = judge(&once);
            meaning::compare(structure, judged.graph.as_ref().ok_or("no graph")?, &judged.pool)
        });
    }
}

#[test]
fn spoilt_models_are_answered_with_diagnostics() {
    for seed in seeds(400) {
        let options = if seed % 2 == 0 { Options::linear().small() } else { Options::nonlinear().small() };
        let sample = generate(seed, &options);
        let mut rng = Rng::new(seed);
        let bytes: Vec<u8> = (0..3 * rng.within(1, 6)).map(|_| rng.bits() as u8).collect();
        let judged = judge(&mutate(&sample.text, &bytes));
        // No answer at all would be a silent failure.
        assert!(judged.causality.is_some() || judged.diagnostics.has_errors(), "seed {seed}");
    }
}

/// `check` accepts only what has equations: a model whose equations leave a
/// variable open for almost all parameters is refused.
#[test]
fn singular_models_are_refused() {
    let mut refused = 0;
    for options in [Options::linear().small().with_conflicts(), Options::linear().tiny().with_conflicts()] {
        check(300, &options, |text, structure| {
            let Some(found) = generic(structure, 7) else { return Ok(()) };
            let judged = judge(text);
            // Sources that contradict each other may be solvable through what controls them.
            let causal = search(structure, Rules::Ports).is_some_and(|strokes| strokes.count > 0);
            match (found.solvable, judged.errors().is_empty()) {
                (false, true) => Err("singular, yet accepted".to_owned()),
                (true, false) if causal && !judged.is_degenerate() => {
                    Err(format!("solvable, yet: {:?}", judged.errors()))
                }
                _ => Ok(()),
            }
        });
        refused += seeds(300)
            .filter(|seed| {
                !generic(&generate(*seed, &options).structure, 7).is_some_and(|found| found.solvable)
            })
            .count();
    }
    demand("singular models", refused, 30, 300);
}
