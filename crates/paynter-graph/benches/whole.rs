//! Reading, flattening, validating and assigning causality, from 1,000 to
//! 100,000 elements, as flat text and as an array of submodels:
//! `cargo bench -p paynter-graph --bench whole`.
//!
//! Prints microseconds per element for each stage (the best of several runs),
//! the peak memory per element, and with `-- --instructions` the instructions
//! per element as valgrind counts them.
#![allow(clippy::print_stdout, clippy::unwrap_used, missing_docs)]

use std::fmt::Write as _;
use std::process::Command;
use std::time::{Duration, Instant};

use paynter_algebra::Pool;
use paynter_base::MemoryWorld;
use paynter_graph::{FlattenOptions, assign_causality, flatten};

const SIZES: [usize; 3] = [1_000, 10_000, 100_000];

/// A chain of masses, springs and dampers, five elements a cell.
fn flat(elements: usize) -> String {
    let mut text =
        "model big {\n    param m = 1 [kg]\n    param k = 100 [N/m]\n    param d = 0.1 [N*s/m]\n".to_owned();
    text += "    Se push = 1\n    1 v0\n    push -> v0\n";
    for i in 1..=elements / 5 {
        let before = i - 1;
        writeln!(
            text,
            "    1 v{i}\n    I mass{i} = m\n    0 f{i}\n    C spring{i} = 1/k\n    R damper{i} = d"
        )
        .unwrap();
        writeln!(
            text,
            "    v{before} -> f{i} -> v{i}\n    f{i} -> spring{i}\n    v{i} -> mass{i}, damper{i}"
        )
        .unwrap();
    }
    text + "}\n"
}

/// The same chain as an array of submodels.
fn array(elements: usize) -> String {
    format!(
        "model cell(param m = 1 [kg], param k = 100 [N/m], param d = 0.1 [N*s/m]) {{
            port left; port right
            1 v; I mass = m; 0 f; C spring = 1/k; R damper = d
            left -> f; f -> spring; f -> v; v -> mass, damper; v -> right
        }}
        model big {{
            param N = {}
            param m0 = 2 [kg]
            use cell c[1..N](m = m0)
            Se push = 1; 1 v0; R wall = 1
            push -> v0 -> c[1].left
            for i in 1..N-1 {{ c[i].right -> c[i+1].left }}
            c[N].right -> wall
        }}",
        elements / 5
    )
}

/// The times of reading, of flattening with validation, and of causality.
fn run(text: &str, elements: usize) -> [Duration; 3] {
    let world = MemoryWorld::new().with("big.bg", text);
    let start = Instant::now();
    let loaded = paynter_language::load(&world, "big.bg");
    let read = start.elapsed();
    let files: Vec<_> = loaded.files.into_iter().map(|(_, file)| file).collect();
    let start = Instant::now();
    let mut pool = Pool::new();
    let (graph, diagnostics) = flatten(&mut pool, &files, &FlattenOptions::default());
    let flattened = start.elapsed();
    assert!(!diagnostics.has_errors());
    let graph = graph.unwrap();
    assert!(graph.elements.len() >= elements);
    let start = Instant::now();
    let (causality, diagnostics) = assign_causality(&mut pool, &graph);
    let assigned = start.elapsed();
    assert!(!diagnostics.has_errors() && causality.is_some());
    [read, flattened, assigned]
}

fn model(shape: &str, elements: usize) -> String {
    if shape == "flat" { flat(elements) } else { array(elements) }
}

/// The most memory this process has held, in bytes, where the system tells.
fn peak_memory() -> Option<usize> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse::<usize>().ok().map(|kilobytes| 1024 * kilobytes)
}

/// Runs one model in a process of its own, so that its memory and instructions are its own.
fn alone(command: &mut Command, shape: &str, elements: usize) -> String {
    let output = command.env("PAYNTER_ONE", format!("{shape} {elements}")).output().unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

fn instructions(shape: &str, elements: usize) -> Option<f64> {
    let mut command = Command::new("valgrind");
    command.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]).arg(std::env::current_exe().ok()?);
    let text = alone(&mut command, shape, elements);
    let count = text.lines().find(|line| line.contains("refs:"))?.rsplit(' ').next()?.replace(',', "");
    count.parse().ok()
}

fn main() {
    if let Ok(one) = std::env::var("PAYNTER_ONE") {
        let (shape, elements) = one.split_once(' ').unwrap();
        let elements = elements.parse().unwrap();
        run(&model(shape, elements), elements);
        println!("{}", peak_memory().unwrap_or(0));
        return;
    }
    let count = std::env::args().any(|argument| argument == "--instructions");
    println!(
        "{:6} {:>8} {:>9} {:>9} {:>9} {:>9}",
        "shape", "elements", "read", "flatten", "causality", "memory"
    );
    for shape in ["flat", "array"] {
        for elements in SIZES {
            let text = model(shape, elements);
            let runs: Vec<[Duration; 3]> = (0..5).map(|_| run(&text, elements)).collect();
            let best = |stage: usize| runs.iter().map(|run| run[stage]).min().unwrap_or_default();
            let [read, flattened, assigned] =
                [0, 1, 2].map(|stage| best(stage).as_secs_f64() * 1e6 / elements as f64);
            let memory = alone(&mut Command::new(std::env::current_exe().unwrap()), shape, elements);
            let memory = memory.trim().parse::<usize>().unwrap_or(0) / elements;
            println!(
                "{shape:6} {elements:8} {read:6.2} µs {flattened:6.2} µs {assigned:6.2} µs {memory:7} B"
            );
            if count {
                match instructions(shape, elements) {
                    Some(number) => {
                        println!("{:16}{:9.0} instructions per element", "", number / elements as f64)
                    }
                    None => println!("{:16}no instruction count: valgrind is missing", ""),
                }
            }
        }
    }
}
