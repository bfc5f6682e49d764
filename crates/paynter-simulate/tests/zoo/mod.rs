//! Reference problems with known solutions, for tests and benches.

#![allow(dead_code, clippy::unwrap_used, clippy::panic, missing_docs)]

use paynter_algebra::{Expr, Pool};
use paynter_base::CancellationToken;
use paynter_equations::{Equations, derive};
use paynter_graph::BondGraph;
use paynter_numerics::Tables;
use paynter_simulate::{Compiled, Cost, Gradient, Options, Outcome, Source, Wanted, simulate};
use paynter_testkit::read::{Causal, causal};

pub const TANKS: &str = include_str!("../../../../examples/conical_tanks.bg");
pub const ROBERTSON: &str = include_str!("../../../../examples/robertson.bg");
pub const DUFFING: &str = include_str!("../../../../examples/duffing.bg");
pub const RELAY: &str = include_str!("../../../../examples/relay.bg");
pub const RECTIFIER: &str = include_str!("../../../../examples/half_wave_rectifier.bg");
pub const GAS: &str = include_str!("../../../../examples/gas_container.bg");
pub const ROBOT: &str = include_str!("../../../../examples/robot_arm.bg");
pub const TWO_TANKS: &str = include_str!("../../../../examples/two_tanks.bg");

/// A mass that falls on a spring and damper, which push but never pull.
pub const CONTACT: &str = "model contact {
    param m = 2; param k = 500; param b = 3; param g = 9.81; param x0 = 0.4
    1 motion
    I mass = m
    Se weight = -m*g
    Se floor = if(height < 0, -k*height - b*mass.f, 0)
    signal height = integral(mass.f, x0)
    weight -> motion
    floor -> motion
    motion -> mass
    output y = height
    output v = mass.f
}";

/// A pendulum of point mass, as a rotation under the torque of its weight.
pub const PENDULUM: &str = "model pendulum {
    param m = 1; param l = 0.8; param g = 9.81; param phi0 = 1; param b = 0.05
    signal phi = integral(body.f, phi0)
    1 turn
    I body = m*l^2
    R air = b
    Se weight = -m*g*l*sin(phi)
    weight -> turn
    turn -> body, air
    output angle = phi
}";

/// A relay that switches a heater, with hysteresis made of a second state.
pub const RECTANGLE: &str = "model rectangle {
    param R = 2; param C = 0.5; param t0 = 0.3; param t1 = 1.1; param U = 5
    Se source = U*pulse(t0, t1)
    1 loop
    R res = R
    C cap = C
    source -> loop
    loop -> res, cap
    output y = cap.e
}";

/// A loop that only a nonlinear equation closes.
pub const IMPLICIT: &str = "model implicit {
    param a = 1.5; param R = 2; param C = 0.7; param U = 3
    Se source = U
    1 loop
    R series = R
    R diode { e = a*f + f^3 + tanh(f) }
    C cap = C
    source -> loop
    loop -> series, diode, cap
    output y = cap.e
    output i = diode.f
}";

/// A network of resistors whose laws nobody inverts: one large implicit loop before a capacitor.
pub fn network(n: usize) -> String {
    let mut text =
        String::from("model network {\nparam a = 1.5; param b = 0.4; param U = 3; param C = 0.7\n");
    text.push_str("Se source = U\n");
    for i in 1..=n {
        text.push_str(&format!(
            "1 s{i}; 0 n{i}; R series{i} {{ e = a*f + b*f^3 + tanh(f) }}; R shunt{i} {{ e = {i}*f + f^5 + tanh(f) }}\n"
        ));
        text.push_str(&format!("s{i} -> series{i}, n{i}; n{i} -> shunt{i}\n"));
        let before = if i > 1 { format!("n{}", i - 1) } else { "source".to_owned() };
        text.push_str(&format!("{before} -> s{i}\n"));
    }
    text.push_str(&format!("C cap = C; n{n} -> cap\noutput y = cap.e\noutput i = series1.f\n}}"));
    text
}

/// The chain with a mass, spring and damper of its own for every cell.
pub fn chain(n: usize) -> String {
    let mut text = String::from("model chain {\n");
    for i in 1..=n {
        let f = i as f64;
        text.push_str(&format!(
            "param m{i} = {:.4}; param k{i} = {:.4}; param b{i} = {:.4}\n",
            1.0 + 0.1 * (1.3 * f).sin(),
            10.0 + (0.7 * f).cos(),
            0.3 + 0.05 * (2.1 * f).sin()
        ));
        text.push_str(&format!(
            "1 v{i}; I mass{i} = m{i}; 0 f{i}; 1 s{i}; C spring{i} = 1/k{i}; R damper{i} = b{i}\n"
        ));
        text.push_str(&format!("v{i} -> mass{i}, f{i}; f{i} -> s{i}; s{i} -> spring{i}, damper{i}\n"));
        if i > 1 {
            text.push_str(&format!("f{} -> v{i}\n", i - 1));
        }
    }
    text.push_str(&format!("Se push = 1; push -> v1; Sf wall = 0; f{n} -> wall\noutput x = spring{n}.q\n}}"));
    text
}

/// A problem whose solution `references.csv` knows, as `references.py` has calculated it from equations
/// written down by hand.
pub struct Referenced {
    pub name: &'static str,
    pub text: &'static str,
    pub parameters: &'static [&'static str],
    pub stiff: bool,
}

pub const REFERENCED: [Referenced; 5] = [
    Referenced { name: "pendulum", text: PENDULUM, parameters: &["m", "l", "g", "phi0", "b"], stiff: false },
    Referenced { name: "duffing", text: DUFFING, parameters: &["m", "k", "k3", "c"], stiff: false },
    Referenced { name: "robertson", text: ROBERTSON, parameters: &["p1", "p2", "p3"], stiff: true },
    Referenced { name: "gas", text: GAS, parameters: &["p0", "V0", "T0", "gamma", "cv", "h"], stiff: false },
    Referenced { name: "arm", text: ROBOT, parameters: &["J0", "m", "r0", "theta0"], stiff: false },
];

/// An output at a time, with its derivatives by the parameters.
pub struct Row {
    /// The number of its time.
    pub at: usize,
    pub output: usize,
    pub y: f64,
    pub by: Vec<f64>,
}

impl Row {
    /// The largest error of the output and of p·∂y/∂p, relative to the output.
    pub fn error(&self, found: &Run, wanted: &[Wanted], p: &[f64]) -> f64 {
        let scale = self.y.abs().max(1e-3);
        let of_y = (found.y[self.at][self.output] - self.y).abs() / scale;
        let lanes = &found.s[self.at][self.output * wanted.len()..];
        let of_s = |((wanted, s), by): ((&Wanted, &f64), &f64)| match wanted {
            Wanted::Parameter(i) => (s - by).abs() * p[*i].abs() / scale,
            Wanted::Initial(_) => (s - by).abs() / scale,
        };
        wanted.iter().zip(lanes).zip(&self.by).map(of_s).fold(of_y, f64::max)
    }
}

/// The times and rows of a problem in `references.csv`.
pub fn references(name: &str) -> (Vec<f64>, Vec<Row>) {
    let (mut times, mut rows) = (Vec::new(), Vec::new());
    for line in include_str!("references.csv").lines() {
        let (own, rest) = line.split_once(',').unwrap();
        if own != name {
            continue;
        }
        let numbers: Vec<f64> = rest.split(',').map(|word| word.parse().unwrap()).collect();
        if times.last() != Some(&numbers[0]) {
            times.push(numbers[0]);
        }
        let (at, output) = (times.len() - 1, numbers[1] as usize);
        rows.push(Row { at, output, y: numbers[2], by: numbers[3..].to_vec() });
    }
    (times, rows)
}

pub struct Problem {
    pub pool: Pool,
    pub graph: BondGraph,
    pub equations: Equations,
}

/// Results of a run, sample by sample.
#[derive(Debug, Clone, Default)]
pub struct Run {
    pub t: Vec<f64>,
    pub y: Vec<Vec<f64>>,
    /// At each time, output by output.
    pub s: Vec<Vec<f64>>,
}

impl Problem {
    pub fn new(text: &str) -> Problem {
        Problem::try_new(text).unwrap()
    }

    pub fn try_new(text: &str) -> Option<Problem> {
        let Causal { mut pool, mut graph, causality } = causal(text).ok()?;
        let equations = derive(&mut pool, &mut graph, &causality, &CancellationToken::new()).ok()?;
        Some(Problem { pool, graph, equations })
    }

    pub fn parameters(&self) -> Vec<f64> {
        self.graph.parameters.iter().map(|p| p.number).collect()
    }

    /// All parameters, but for structural ones that the equations do not read.
    pub fn wanted(&self, names: &[&str]) -> Vec<Wanted> {
        let place = |name: &str| self.graph.parameters.iter().position(|p| p.name == name).unwrap();
        names.iter().map(|name| Wanted::Parameter(place(name))).collect()
    }

    pub fn compile(&mut self, wanted: &[Wanted]) -> Compiled {
        self.compile_outputs(wanted, None)
    }

    pub fn compile_outputs(&mut self, wanted: &[Wanted], outputs: Option<Vec<Expr>>) -> Compiled {
        let source =
            Source { graph: &self.graph, equations: &self.equations, inputs: Vec::new(), outputs, wanted };
        Compiled::new(&mut self.pool, &source).unwrap()
    }
}

pub fn times(end: f64, count: usize) -> Vec<f64> {
    (0..count).map(|i| end * i as f64 / (count - 1) as f64).collect()
}

pub fn run(model: &Compiled, parameters: &[f64], options: &Options) -> (Run, Outcome) {
    let mut run = Run::default();
    let outcome = simulate(
        model,
        parameters,
        None,
        &Tables::default(),
        options,
        &CancellationToken::new(),
        &mut |sample| {
            run.t.push(sample.t);
            run.y.push(sample.outputs.to_vec());
            run.s.push(sample.sensitivities.to_vec());
        },
    );
    (run, outcome)
}

/// The gradient of a cost by the adjoint method.
pub fn gradient(model: &Compiled, parameters: &[f64], options: &Options, cost: &mut Cost<'_>) -> Gradient {
    paynter_simulate::gradient(
        model,
        parameters,
        &Tables::default(),
        options,
        &CancellationToken::new(),
        cost,
    )
}

/// Runs that must reach the end.
pub fn solve(model: &Compiled, parameters: &[f64], options: &Options) -> Run {
    let (run, outcome) = run(model, parameters, options);
    assert_eq!(outcome.failure, None, "{outcome:?}");
    assert_eq!(run.t.len(), options.times.len());
    run
}

/// Tanks whose valves have no value beyond the events that close or turn them.
pub const VALVES: &str = "model valves {
    param A = 1; param k = 1.2; param q0 = 1; param w = 3
    0 a; 0 b; 1 pipe
    C first = A; C second = 2*A
    Sf pump = 0.5*sin(w*t) - 0.2
    R turn { f = k*sign(e)*sqrt(abs(e)) }
    R check { f = if(e > 0, 0.4*sqrt(e), 0) }
    pump -> a
    a -> first, pipe
    pipe -> turn, b
    b -> second, check
    init first.q = q0
    init second.q = 0.3
    output u = first.e
    output v = second.e
}";
