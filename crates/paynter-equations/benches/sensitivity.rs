//! All sensitivities of models that grow: as a shared graph of expressions at
//! any size, and written out where that is short enough:
//! `cargo bench -p paynter-equations --bench sensitivity [-- FILTER]`.
//!
//! Prints the milliseconds of processor time for all parameters from the
//! matrices on, the best of several runs, and beside expanded chains those of
//! FLINT: for the products alone and
//! in lowest terms, as ours are, which are expressions besides.
//! `cargo xtask python` makes the Python environment; without it only our own
//! times are printed.
#![allow(clippy::print_stdout, clippy::unwrap_used, missing_docs, reason = "a benchmark prints its results")]

mod rival;

use paynter_algebra::poly::Budget;
use paynter_base::CancellationToken;
use paynter_equations::{Parameter, SensitivityRequest, derive, sensitivities, shared_sensitivities};
use paynter_testkit::clock::processor_time;
use paynter_testkit::read::{Causal, causal};
use paynter_testkit::scalable;
use rival::flint;

/// A motor with a geared load on a shaft that gives way: electrical, rotational and translational.
const DRIVE: &str = "model drive {
    param Ra = 2; param La = 5e-3; param kT = 0.1; param Jm = 1e-4; param Rm = 1e-3
    param k = 50; param n = 20; param m = 3; param b = 4; param c = 900
    input E = 12; input F = 0
    Se supply = E; 1 armature; R winding = Ra; I coil = La; GY motor = kT
    1 shaft; R bearing = Rm; I rotor = Jm; 0 joint; C torsion = 1/k; TF rack = n
    1 table; I mass = m; R guide = b; C buffer = 1/c; Se cut = F
    supply -> armature; armature -> winding, coil, motor; motor -> shaft
    shaft -> bearing, rotor, joint; joint -> torsion, rack; rack -> table
    table -> mass, guide, buffer; cut -> table
    output x = buffer.q; output i = coil.f
}";

struct Found {
    seconds: f64,
    states: usize,
    parameters: usize,
    nodes: usize,
    expanded: bool,
}

fn measure(text: &str, shared: bool) -> Found {
    let token = CancellationToken::new();
    let Causal { mut pool, mut graph, causality } = causal(text).unwrap();
    let equations = derive(&mut pool, &mut graph, &causality, &token).unwrap();
    let space = equations.state_space(&mut pool, &graph).unwrap();
    let parameters: Vec<Parameter> =
        graph.parameters.iter().map(|p| Parameter { symbol: p.symbol, carried: Vec::new() }).collect();
    let start = processor_time();
    let all = if shared {
        shared_sensitivities(&mut pool, &equations, &space, &parameters, false, &token).unwrap()
    } else {
        let request =
            SensitivityRequest { normalized: false, budget: Budget { terms: 200_000, steps: 100_000_000 } };
        sensitivities(&mut pool, &equations, &space, &parameters, request, &token).unwrap()
    };
    let seconds = (processor_time() - start).as_secs_f64();
    let roots: Vec<_> = all.entries.iter().flat_map(|entry| [entry.num, entry.den]).collect();
    Found {
        seconds,
        states: equations.states.len(),
        parameters: parameters.len(),
        nodes: pool.reachable(&roots).len(),
        expanded: all.shared.is_none(),
    }
}

/// What FLINT takes for a chain, beside our own time.
fn rival(masses: usize, own: f64) -> Option<String> {
    let (products, lowest) = flint("sensitivities", "chain", masses)?;
    Some(format!(
        "  FLINT {:.2} ms, in lowest terms {:.2} ms: {:.1} times",
        products * 1e3,
        lowest * 1e3,
        own / lowest
    ))
}

/// A family of models: its name, the text of a size, whether it is expanded, and the sizes.
type Case<'a> = (&'a str, &'a dyn Fn(usize) -> String, bool, &'a [usize]);

fn main() {
    let filter = std::env::args().skip(1).find(|argument| !argument.starts_with('-')).unwrap_or_default();
    let drive = |_: usize| DRIVE.to_owned();
    let cases: [Case<'_>; 6] = [
        ("chain, shared", &scalable::chain, true, &[10, 100, 1000]),
        ("grid, shared", &scalable::grid, true, &[3, 10, 20]),
        ("chain, expanded", &scalable::chain, false, &[2, 4, 5, 6, 7, 1000]),
        ("ladder, expanded", &scalable::ladder, false, &[6, 8, 10]),
        ("grid, expanded", &scalable::grid, false, &[2, 3]),
        ("drive, expanded", &drive, false, &[1]),
    ];
    for (name, make, shared, sizes) in cases {
        if !name.contains(&filter) {
            continue;
        }
        for &size in sizes {
            let text = make(size);
            let mut best = measure(&text, shared);
            for _ in 0..if best.seconds < 0.5 { 4 } else { 0 } {
                let next = measure(&text, shared);
                if next.seconds < best.seconds {
                    best = next;
                }
            }
            let beside =
                if name == "chain, expanded" && best.expanded { rival(size, best.seconds) } else { None };
            println!(
                "{name:<18}{size:>6}{:>8} states{:>8} parameters{:>12.2} ms{:>10} nodes  {}{}",
                best.states,
                best.parameters,
                best.seconds * 1e3,
                best.nodes,
                if best.expanded { "expanded" } else { "shared" },
                beside.unwrap_or_default()
            );
        }
    }
}
