//! Reading, flattening, validating and assigning causality, end to end, on
//! models of 1,000 to 100,000 elements of three shapes:
//! `cargo bench -p paynter --bench check`.
//!
//! Each measurement is a process of its own, so that memory is its own peak.
//! Instructions are counted where valgrind is installed.

#![allow(missing_docs, clippy::print_stdout, clippy::unwrap_used, reason = "a benchmark prints its results")]

use paynter::{CancellationToken, LoadOptions, MemoryWorld, Model, Plain, examples};
use std::fmt::Write;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

/// A shape: its name, and the text and settings for a number of elements.
type Shape = (&'static str, fn(usize) -> (String, Vec<(String, String)>));

const SHAPES: &[Shape] = &[
    ("array", |elements| {
        let text = examples::find("chain").unwrap().text.to_owned();
        (text, vec![("N".to_owned(), (elements / 6).to_string())])
    }),
    ("chain", |elements| (chain(elements / 6), Vec::new())),
    ("mesh", |elements| (mesh(((elements / 8) as f64).sqrt() as usize), Vec::new())),
];

/// A chain of masses, springs and dampers, written out with a parameter for each.
fn chain(cells: usize) -> String {
    let mut text = String::from("model chain {\n    Se push = 1\n    push -> motion0\n");
    for i in 0..cells {
        let _ = write!(
            text,
            "    param m{i} = 1.5 [kg] ±10%\n    param k{i} = 2e3 [N/m]\n    param b{i} = 0.5 [N*s/m]\n    \
             1 motion{i}; 0 force{i}; 1 stretch{i}\n    I mass{i} = m{i}\n    C spring{i} = 1/k{i}\n    \
             R damper{i} = b{i}\n    motion{i} -> mass{i}, force{i}\n    force{i} -> stretch{i}\n    \
             stretch{i} -> spring{i}, damper{i}\n"
        );
        if i > 0 {
            let _ = writeln!(text, "    force{} -> motion{i}", i - 1);
        }
    }
    let _ = write!(text, "    Sf wall = 0\n    force{} -> wall\n}}\n", cells - 1);
    text
}

/// A square grid of masses with springs and dampers between neighbours, written out.
fn mesh(side: usize) -> String {
    let mut text = String::from("model mesh {\n    param m = 1; param k = 2; param b = 3\n");
    let link = |text: &mut String, name: String, a: (usize, usize), b: (usize, usize)| {
        let _ = write!(
            text,
            "    0 f{name}; 1 s{name}; C c{name} = 1/k; R r{name} = b\n    \
             v{}_{} -> f{name} -> v{}_{}\n    f{name} -> s{name} -> c{name}, r{name}\n",
            a.0, a.1, b.0, b.1
        );
    };
    for i in 0..side {
        for j in 0..side {
            let _ = writeln!(text, "    1 v{i}_{j}; I m{i}_{j} = m; v{i}_{j} -> m{i}_{j}");
            if i > 0 {
                link(&mut text, format!("d{i}_{j}"), (i - 1, j), (i, j));
            }
            if j > 0 {
                link(&mut text, format!("a{i}_{j}"), (i, j - 1), (i, j));
            }
        }
    }
    text.push_str("    Se push = 1; push -> v0_0\n}\n");
    text
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    match arguments.iter().position(|argument| argument == "one") {
        Some(at) => one(&arguments[at + 1], arguments[at + 2].parse().unwrap()),
        None => all(),
    }
}

/// Loads one model and prints: elements, seconds, peak memory in bytes.
fn one(shape: &str, size: usize) {
    let (_, make) = SHAPES.iter().find(|(name, _)| *name == shape).unwrap();
    let (text, set) = make(size);
    let world = MemoryWorld::new().with("model.bg", text);
    let before = peak_memory();
    let start = Instant::now();
    let model = Model::load(&world, "model.bg", &LoadOptions { set, ..LoadOptions::default() });
    let seconds = start.elapsed().as_secs_f64();
    let check = model.check(&CancellationToken::new()).unwrap().document(&Plain);
    assert!(check.ok, "{:#?}", check.diagnostics);
    println!("{} {seconds} {}", check.summary.unwrap().elements, peak_memory().saturating_sub(before));
}

/// The largest memory this process has had, where the system tells.
fn peak_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or("0");
    line.split_whitespace().next().and_then(|kilobytes| kilobytes.parse::<u64>().ok()).unwrap_or(0) * 1024
}

/// Measures every shape at every size: the best time of five, and the instructions.
fn all() {
    println!("shape    elements        ms   ns/element   instructions/element   bytes/element");
    let program = std::env::current_exe().unwrap();
    for (shape, _) in SHAPES {
        for size in [1_000, 10_000, 100_000] {
            let mut best: Option<(f64, f64, f64)> = None;
            for _ in 0..5 {
                let output = Command::new(&program).args(["one", shape, &size.to_string()]).output().unwrap();
                let text = String::from_utf8(output.stdout).unwrap();
                let numbers: Vec<f64> = text.split_whitespace().map(|word| word.parse().unwrap()).collect();
                let [elements, seconds, bytes] = numbers[..] else { continue };
                if best.is_none_or(|(_, least, _)| seconds < least) {
                    best = Some((elements, seconds, bytes));
                }
            }
            let (elements, seconds, bytes) = best.unwrap();
            let count = instructions(&program, shape, size)
                .map_or_else(|| "–".to_owned(), |count| format!("{:.0}", count / elements));
            println!(
                "{shape:<8} {elements:>8} {:>9.2} {:>12.0} {count:>22} {:>15.0}",
                seconds * 1e3,
                seconds * 1e9 / elements,
                bytes / elements
            );
        }
    }
}

/// Counts the instructions of a run beyond those of the smallest one, by valgrind.
fn instructions(program: &Path, shape: &str, size: usize) -> Option<f64> {
    let count = |size: usize| {
        let mut valgrind = Command::new("valgrind");
        valgrind.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]).arg(program);
        let output = valgrind.args(["one", shape, &size.to_string()]).output().ok()?;
        let text = String::from_utf8(output.stderr).ok()?;
        text.lines().find_map(|line| line.split("Collected :").nth(1)?.trim().parse::<f64>().ok())
    };
    Some(count(size)? - count(16)?)
}
