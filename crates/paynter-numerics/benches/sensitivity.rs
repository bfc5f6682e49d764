//! S(jω) of every parameter at 200 frequencies, next to SciPy's SuperLU with
//! the adjoint method (`sensitivity_scipy.py` beside this file) on the same
//! matrices in one run: `cargo bench -p paynter-numerics --bench sensitivity`.
//! `cargo xtask python` makes the Python environment; without it only our
//! own times are printed.

#![allow(clippy::unwrap_used, clippy::print_stdout, missing_docs)]

use paynter_algebra::Symbol;
use paynter_base::CancellationToken;
use paynter_equations::derive;
use paynter_numerics::grid::logarithmic;
use paynter_numerics::linalg::{Matrices, Sparse};
use paynter_numerics::sensitivity::{derivatives, frequency};
use paynter_testkit::clock::processor_time;
use paynter_testkit::read::{Causal, causal};
use paynter_testkit::scalable;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::time::Instant;

/// Motors with gears and hydraulic loads on one supply line.
fn mixed(n: usize) -> String {
    let mut text = String::from("model mixed {\n input U = 1\n Se supply = U\n");
    for i in 1..=n {
        let p = |name: &str, value: f64| {
            format!(" param {name}{i} = {}\n", value * (1.0 + 0.01 * (i % 9) as f64))
        };
        for (name, value) in [
            ("Rl", 0.01),
            ("Cl", 1e-3),
            ("La", 5e-3),
            ("Ra", 2.0),
            ("kT", 0.1),
            ("Jm", 1e-4),
            ("Rm", 1e-3),
            ("n", 5.0),
            ("Kc", 1e3),
            ("Jp", 1e-2),
            ("Vg", 1e-5),
            ("Ch", 1e-11),
            ("Rh", 1e9),
        ] {
            text.push_str(&p(name, value));
        }
        writeln!(text, " 1 line{i}; R wire{i} = Rl{i}; 0 node{i}; C cap{i} = Cl{i}").unwrap();
        writeln!(text, " 1 arm{i}; I coil{i} = La{i}; R winding{i} = Ra{i}; GY motor{i} = kT{i}").unwrap();
        writeln!(text, " 1 shaft{i}; I rotor{i} = Jm{i}; R bearing{i} = Rm{i}; TF gear{i} = 1/n{i}").unwrap();
        writeln!(
            text,
            " 0 torsion{i}; C coupling{i} = 1/Kc{i}; 1 pump{i}; I wheel{i} = Jp{i}; TF disp{i} = Vg{i}"
        )
        .unwrap();
        writeln!(text, " 0 oil{i}; C volume{i} = Ch{i}; R orifice{i} = Rh{i}").unwrap();
        let before = if i == 1 { "supply".to_owned() } else { format!("node{}", i - 1) };
        writeln!(text, " {before} -> line{i}; line{i} -> wire{i}; line{i} -> node{i}; node{i} -> cap{i}")
            .unwrap();
        writeln!(text, " node{i} -> arm{i}; arm{i} -> coil{i}, winding{i}; arm{i} -> motor{i} -> shaft{i}")
            .unwrap();
        writeln!(
            text,
            " shaft{i} -> rotor{i}, bearing{i}; shaft{i} -> gear{i} -> torsion{i}; torsion{i} -> coupling{i}"
        )
        .unwrap();
        writeln!(text, " torsion{i} -> pump{i}; pump{i} -> wheel{i}; pump{i} -> disp{i} -> oil{i}; oil{i} -> volume{i}, orifice{i}").unwrap();
    }
    writeln!(text, " output p = volume{n}.e\n}}").unwrap();
    text
}

struct Problem {
    matrices: Matrices,
    derivatives: Vec<Matrices>,
    /// Seconds it took to differentiate the matrices.
    slopes: f64,
}

/// The matrices of a model and their derivatives by every parameter.
fn problem(text: &str) -> Problem {
    let Causal { mut pool, mut graph, causality } = causal(text).unwrap();
    let equations = derive(&mut pool, &mut graph, &causality, &CancellationToken::new()).unwrap();
    let space = equations.state_space(&mut pool, &graph).unwrap();
    let values: BTreeMap<Symbol, f64> = graph.parameters.iter().map(|p| (p.symbol, p.number)).collect();
    let value = |symbol: Symbol| values.get(&symbol).copied();
    let matrices = Matrices::evaluate(&pool, &space, &value).unwrap();
    let parameters: Vec<Symbol> = graph.parameters.iter().map(|p| p.symbol).collect();
    let clock = Instant::now();
    let derivatives = derivatives(&mut pool, &space, &parameters, &value).unwrap();
    let slopes = clock.elapsed().as_secs_f64();
    Problem { matrices, derivatives, slopes }
}

/// The matrices as lines of row, column, value, for the other side.
fn dump(folder: &std::path::Path, problem: &Problem) {
    std::fs::create_dir_all(folder).unwrap();
    let write = |name: &str, matrix: &Sparse| {
        let mut text = format!("{} {} 0\n", matrix.rows, matrix.columns);
        for (i, j, v) in &matrix.entries {
            writeln!(text, "{i} {j} {v:e}").unwrap();
        }
        std::fs::write(folder.join(name), text).unwrap();
    };
    write("A", &problem.matrices.a);
    write("B", &problem.matrices.b[0]);
    write("C", &problem.matrices.c);
    let mut text = String::new();
    for (p, m) in problem.derivatives.iter().enumerate() {
        for (letter, entries) in [("A", &m.a.entries), ("B", &m.b[0].entries), ("C", &m.c.entries)] {
            for (i, j, v) in entries {
                writeln!(text, "{letter} {p} {i} {j} {v:e}").unwrap();
            }
        }
    }
    std::fs::write(folder.join("derivatives"), text).unwrap();
}

fn main() {
    let chosen: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with('-')).collect();
    let models: [(&str, String, (f64, f64)); 5] = [
        ("chain-100", scalable::chain(100), (0.1, 100.0)),
        ("chain-1000", scalable::chain(1000), (0.1, 100.0)),
        ("grid-12", scalable::grid(12), (0.1, 100.0)),
        ("grid-24", scalable::grid(24), (0.1, 100.0)),
        ("mixed-100", mixed(100), (1.0, 1e5)),
    ];
    let target = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"));
    let python = paynter_testkit::python::python(env!("CARGO_TARGET_TMPDIR"));
    println!(
        "seconds of processor time for 200 frequencies; SciPy's SuperLU with the adjoint method beside it"
    );
    println!(
        "{:<11} {:>6} {:>6} {:>8} {:>10} {:>11} {:>8} {:>6} {:>10}",
        "model", "states", "params", "dA/dp", "S, 1 core", "all, clock", "SciPy", "ratio", "difference"
    );
    for (name, text, (low, high)) in models {
        if !chosen.is_empty() && !chosen.iter().any(|word| name.contains(word.as_str())) {
            continue;
        }
        let problem = problem(&text);
        let omega = logarithmic(low, high, 200);
        let run =
            || frequency(&problem.matrices, &problem.derivatives, &omega, &CancellationToken::new()).unwrap();
        let single = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        let one = single.install(|| mean(|| processor_time().as_secs_f64(), &run));
        let clock = Instant::now();
        let all = mean(|| clock.elapsed().as_secs_f64(), &run);
        let folder = target.join("sensitivity").join(name);
        dump(&folder, &problem);
        let own = run().derivative(0, 0, problem.derivatives.len() / 2, omega.len() / 3);
        let rival = python.as_ref().ok().map(|python| {
            let script = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/sensitivity_scipy.py");
            let range = [low.to_string(), high.to_string(), omega.len().to_string()];
            let output =
                std::process::Command::new(python).arg(script).arg(&folder).args(range).output().unwrap();
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            let numbers: Vec<f64> = text.split_whitespace().map(|word| word.parse().unwrap()).collect();
            let difference = (own.re - numbers[1]).hypot(own.im - numbers[2]) / own.norm();
            format!("{:>8.4} {:>6.1} {difference:>10.1e}", numbers[0], numbers[0] / one)
        });
        println!(
            "{name:<11} {:>6} {:>6} {:>8.4} {one:>10.4} {all:>11.4} {}",
            problem.matrices.states(),
            problem.derivatives.len(),
            problem.slopes,
            rival.unwrap_or_else(|| "  (`cargo xtask python` makes the environment)".to_owned())
        );
    }
}

/// The mean over about half a second, after a first run that is not counted.
fn mean<T>(seconds: impl Fn() -> f64, run: &impl Fn() -> T) -> f64 {
    run();
    let begin = seconds();
    let mut runs = 0.0;
    while seconds() - begin < 0.5 && runs < 1000.0 {
        run();
        runs += 1.0;
    }
    (seconds() - begin) / runs
}
