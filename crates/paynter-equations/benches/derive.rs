//! Equations and transfer functions of models that grow: a chain of masses, a
//! ladder of resistors and capacitors, a grid of masses:
//! `cargo bench -p paynter-equations --bench derive [-- FILTER]`.
//!
//! Prints the milliseconds of each stage, the best of several runs, and the
//! nodes of the shared transfer function.
#![allow(clippy::print_stdout, clippy::unwrap_used, missing_docs, reason = "a benchmark prints its results")]

use std::time::{Duration, Instant};

use paynter_algebra::Pool;
use paynter_algebra::poly::Budget;
use paynter_base::{MemoryWorld, Ticket};
use paynter_equations::{derive, transfer};
use paynter_graph::{FlattenOptions, assign_causality, flatten};
use paynter_testkit::scalable;

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
    let ticket = Ticket::new();
    let start = Instant::now();
    let world = MemoryWorld::new().with("model.bg", text);
    let loaded = paynter_language::load(&world, "model.bg");
    let files: Vec<_> = loaded.files.into_iter().map(|(_, file)| file).collect();
    let mut pool = Pool::new();
    let (graph, diagnostics) = flatten(&mut pool, &files, &FlattenOptions::default());
    assert!(!diagnostics.has_errors());
    let mut graph_data = graph.unwrap();
    let causality = assign_causality(&mut pool, &graph_data).0.unwrap();
    let graph = start.elapsed();
    let start = Instant::now();
    let equations_data = derive(&mut pool, &mut graph_data, &causality, &ticket).unwrap();
    let space = equations_data.state_space(&mut pool, &graph_data).unwrap();
    let equations = start.elapsed();
    let start = Instant::now();
    let found = transfer(&mut pool, &equations_data, &space, budget, &ticket).unwrap();
    let transfer = start.elapsed();
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
    let budget = Budget::default();
    let cases: [Case; 5] = [
        ("chain, shared", scalable::chain, shared, &[10, 40, 100, 250, 500, 1000]),
        ("chain, expanded", scalable::chain, budget, &[2, 4, 6, 7, 40, 1000]),
        ("ladder, expanded", scalable::ladder, budget, &[6, 10, 14]),
        ("grid, shared", scalable::grid, shared, &[3, 5, 10, 15, 20]),
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
            let first = measure(&text, budget);
            let runs = if first.transfer < Duration::from_millis(300) { 5 } else { 1 };
            let mut best = first;
            for _ in 1..runs {
                let next = measure(&text, budget);
                best = Times {
                    graph: best.graph.min(next.graph),
                    equations: best.equations.min(next.equations),
                    transfer: best.transfer.min(next.transfer),
                    ..next
                };
            }
            let ms = |time: Duration| format!("{:.2} ms", time.as_secs_f64() * 1e3);
            println!(
                "{name:<18}{size:>6}{:>8}{:>12}{:>12}{:>12}{:>10} {}",
                best.states,
                ms(best.graph),
                ms(best.equations),
                ms(best.transfer),
                best.nodes,
                if best.expanded { "expanded" } else { "shared" }
            );
        }
    }
}
