//! Equations and transfer functions of models that grow: a chain of masses, a
//! ladder of resistors and capacitors, a grid of masses:
//! `cargo bench -p paynter-equations --bench derive [-- FILTER]`.
//!
//! Prints the milliseconds of processor time of each stage, the mean of several
//! runs, and the nodes of the transfer function. Where FLINT can do the same, its
//! memoised minors stand beside it, measured in the same run (`cargo xtask python`
//! makes the environment).
#![allow(clippy::print_stdout, clippy::unwrap_used, missing_docs, reason = "a benchmark prints its results")]

mod rival;

use std::time::Duration;

use paynter_algebra::Pool;
use paynter_algebra::poly::Budget;
use paynter_base::{CancellationToken, MemoryWorld};
use paynter_equations::{derive, transfer};
use paynter_graph::{FlattenOptions, assign_causality, flatten};
use paynter_testkit::clock::processor_time;
use paynter_testkit::scalable;
use rival::flint;

/// How long a model is measured.
const ENOUGH: Duration = Duration::from_millis(500);

/// What was measured of one model.
struct Times {
    states: usize,
    /// Reading, flattening and causality.
    graph: Duration,
    /// State equations with their matrices.
    equations: Duration,
    /// The transfer function within a budget.
    transfer: Duration,
    nodes: usize,
    expanded: bool,
}

fn measure(text: &str, budget: Budget) -> Times {
    let token = CancellationToken::new();
    let start = processor_time();
    let world = MemoryWorld::new().with("model.bg", text);
    let loaded = paynter_language::load(&world, "model.bg");
    let files: Vec<_> = loaded.files.into_iter().map(|(_, file)| file).collect();
    let mut pool = Pool::new();
    let (graph, diagnostics) = flatten(&mut pool, &files, &FlattenOptions::default());
    assert!(!diagnostics.has_errors());
    let mut graph_data = graph.unwrap();
    let causality = assign_causality(&mut pool, &graph_data).0.unwrap();
    let graph = processor_time() - start;
    let start = processor_time();
    let equations_data = derive(&mut pool, &mut graph_data, &causality, &token).unwrap();
    let space = equations_data.state_space(&mut pool, &graph_data).unwrap();
    let equations = processor_time() - start;
    let start = processor_time();
    let found = transfer(&mut pool, &equations_data, &space, budget, &token).unwrap();
    let transfer = processor_time() - start;
    let roots: Vec<_> = found.entries.iter().flat_map(|entry| [entry.num, entry.den]).collect();
    Times {
        states: equations_data.states.len(),
        graph,
        equations,
        transfer,
        nodes: pool.reachable(&roots).len(),
        expanded: found.shared.is_none(),
    }
}

/// A family of models: its name, the text of a size, the budget, and the sizes.
type Case = (&'static str, fn(usize) -> String, Budget, &'static [usize]);

fn main() {
    let filter = std::env::args().skip(1).find(|argument| !argument.starts_with('-')).unwrap_or_default();
    let shared = Budget { terms: 0, steps: 0 };
    let budget = Budget::of_terms(200_000);
    let large = Budget::of_terms(1_000_000);
    let cases: [Case; 5] = [
        ("chain, shared", scalable::chain, shared, &[10, 40, 100, 250, 500, 1000]),
        ("chain, expanded", scalable::chain, budget, &[2, 4, 6, 7, 40, 1000]),
        ("ladder, expanded", scalable::ladder, large, &[6, 10, 14]),
        ("grid, shared", scalable::grid, shared, &[3, 5, 10, 15, 20, 30]),
        ("grid, expanded", scalable::grid, budget, &[2, 3, 10]),
    ];
    println!(
        "{:<18}{:>6}{:>8}{:>12}{:>12}{:>12}{:>10}",
        "model", "size", "states", "graph", "equations", "transfer", "nodes"
    );
    for (name, make, budget, sizes) in cases {
        if !name.contains(&filter) {
            continue;
        }
        for &size in sizes {
            let text = make(size);
            // The system counts processor time in ticks, so that short runs are repeated.
            let mut sum = measure(&text, budget);
            let mut runs = 1;
            while sum.graph + sum.equations + sum.transfer < ENOUGH && runs < 2_000 {
                let next = measure(&text, budget);
                sum.graph += next.graph;
                sum.equations += next.equations;
                sum.transfer += next.transfer;
                runs += 1;
            }
            let mean = Times {
                graph: sum.graph / runs,
                equations: sum.equations / runs,
                transfer: sum.transfer / runs,
                ..sum
            };
            let ms = |time: Duration| format!("{:.2} ms", time.as_secs_f64() * 1e3);
            let rival = match (mean.expanded, name) {
                (true, "chain, expanded") => flint("transfer", "chain", size),
                (true, "ladder, expanded") => flint("transfer", "ladder", size),
                _ => None,
            };
            let rival = rival.map_or(String::new(), |(bare, lowest)| {
                let ours = mean.transfer.as_secs_f64();
                format!(
                    ", FLINT {:.2} ms, ratio {:.2}; in lowest terms {:.2} ms, ratio {:.2}",
                    bare * 1e3,
                    ours / bare,
                    lowest * 1e3,
                    ours / lowest
                )
            });
            println!(
                "{name:<18}{size:>6}{:>8}{:>12}{:>12}{:>12}{:>10} {}{rival}",
                mean.states,
                ms(mean.graph),
                ms(mean.equations),
                ms(mean.transfer),
                mean.nodes,
                if mean.expanded { "expanded" } else { "shared" }
            );
        }
    }
}
