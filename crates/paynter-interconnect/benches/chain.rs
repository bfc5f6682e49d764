//! The standard interconnection model of a chain of masses, springs and dampers that grows, every value a parameter
//! of its own: `cargo bench -p paynter-interconnect`.
//!
//! Prints the milliseconds of processor time from the equations to the matrices.
#![allow(clippy::print_stdout, clippy::unwrap_used, missing_docs, reason = "a benchmark prints its results")]

use paynter_base::CancellationToken;
use paynter_equations::derive;
use paynter_interconnect::{Procedure, Request, interconnect};
use paynter_testkit::clock::processor_time;
use paynter_testkit::read::{Causal, causal};

/// A chain of `n` masses with 3 n parameters.
fn chain(n: usize) -> String {
    let mut text = String::from("model chain {\n");
    for i in 1..=n {
        text += &format!("param m{i} = 1\nparam k{i} = 100\nparam b{i} = 0.5\n");
    }
    text += "input F = 1\nSe push = F\nSf wall = 0\n";
    for i in 1..=n {
        text += &format!(
            "1 motion{i}\nI mass{i} = m{i}\n0 force{i}\n1 stretch{i}\nC spring{i} = 1/k{i}\nR damper{i} = b{i}\n"
        );
        text += &format!("motion{i} -> mass{i}\nmotion{i} -> force{i}\nforce{i} -> stretch{i}\n");
        text += &format!("stretch{i} -> spring{i}, damper{i}\n");
        let next = if i == n { "wall".to_owned() } else { format!("motion{}", i + 1) };
        text += &format!("force{i} -> {next}\n");
    }
    text + &format!("push -> motion1\noutput x = spring{n}.q\n}}\n")
}

fn main() {
    println!("{:>8} {:>10} {:>10} {:>10} {:>12}", "masses", "parameters", "channels", "states", "ms");
    for n in [50, 100, 200, 400] {
        let Causal { mut pool, mut graph, causality } = causal(&chain(n)).unwrap();
        let token = CancellationToken::new();
        let equations = derive(&mut pool, &mut graph, &causality, &token).unwrap();
        let parameters = (0..graph.parameters.len()).collect();
        let request =
            Request { procedure: Procedure::New, normalized: false, parameters, may_stand_alone: false };
        let start = processor_time();
        let found = interconnect(&mut pool, &graph, &causality, &equations, &request, &token).unwrap();
        let time = (processor_time() - start).as_secs_f64() * 1e3;
        assert!(found.is_minimal());
        let (parameters, channels, states) =
            (graph.parameters.len(), found.channels.len(), found.states.len());
        println!("{n:>8} {parameters:>10} {channels:>10} {states:>10} {time:>12.1}");
    }
}
