//! Diodes behind coils, drawn at random: bridges, centre taps, voltage doublers and three phases, with coupled
//! coils, branches whose diodes hardly leak, and ladders that multiply voltages, with more or less leakage, written on efforts or flows. Each against small implicit steps of its node
//! equations, whose diodes are a linear complementarity problem. `PAYNTER_RANDOM=N` takes N seeds instead of a few.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use crate::common;

use common::kinds::{Draw, last, outputs, outputs_by, outputs_within, rk4};
use paynter_testkit::property::each;
use std::f64::consts::PI;
use std::fmt::Write;

/// A node; the first is the ground.
type Node = usize;

/// What lies between two nodes.
enum Branch {
    Capacitor(f64),
    Resistor(f64),
    /// Ron, Goff, and the condition of `D`.
    Diode(f64, f64, &'static str),
    /// A winding of the field of coils, by its place, with its resistance, and amplitude and phase of a source.
    Winding(usize, f64, f64, f64),
}

/// Branches between nodes, and the inductances of their windings.
struct Circuit {
    branches: Vec<(Node, Node, Branch)>,
    inductances: Vec<Vec<f64>>,
    nodes: usize,
}

const FREQUENCY: f64 = 50.0;

/// Conditions under which a diode conducts, which are all the same.
const BY_EFFORT: &str = "D.e > 0";
const BY_FLOW: &str = "D.f > 0";
const BY_BOTH: &str = "D.f > 0 or D.e > 0";

impl Circuit {
    /// The model, with the voltage over the branch before the last for its output.
    fn text(&self) -> String {
        let mut text = "model circuit {\n".to_owned();
        (1..self.nodes).for_each(|node| write!(text, "0 n{node}; ").unwrap());
        let n = self.inductances.len();
        if n == 1 {
            let _ = writeln!(text, "I w = {}", self.inductances[0][0]);
        } else {
            let _ = writeln!(text, "I w[{n}] = {:?}", self.inductances);
        }
        for (k, (from, to, branch)) in self.branches.iter().enumerate() {
            let part = match branch {
                Branch::Capacitor(c) => format!("C b{k} = {c}; j{k} -> b{k}"),
                Branch::Resistor(r) => format!("R b{k} = {r}; j{k} -> b{k}"),
                Branch::Diode(on, off, condition) => {
                    let condition = condition.replace('D', &format!("b{k}"));
                    let leak = if *off > 0.0 { format!("; Goff = {off}") } else { String::new() };
                    format!("Sw b{k} when ({condition}) {{ Ron = {on}{leak} }}; j{k} -> b{k}")
                }
                Branch::Winding(place, r, high, phase) => {
                    let port = if n == 1 { String::new() } else { format!(".{}", place + 1) };
                    let source =
                        format!("Se s{k} = {high}*sin(2*pi*{FREQUENCY}*t + {phase}); s{k} -> j{k}; ");
                    let source = if *high > 0.0 { source } else { String::new() };
                    format!("{source}R b{k} = {r}; j{k} -> b{k}, w{port}")
                }
            };
            let _ = write!(text, "1 j{k}; {part}");
            if *from > 0 {
                let _ = write!(text, "; n{from} -> j{k}");
            }
            if *to > 0 {
                let _ = write!(text, "; j{k} -> n{to}");
            }
            text += "\n";
        }
        let _ = write!(text, "output v = b{}.e\n}}", self.branches.len() - 2);
        text
    }

    /// The voltage over the branch before the last in the end, by steps of the backward Euler method.
    fn voltage(&self, end: f64, steps: usize) -> f64 {
        let (nodes, coils) = (self.nodes - 1, self.inductances.len());
        let size = nodes + coils;
        let h = end / steps as f64;
        let mut x = vec![0.0; size];
        let mut on = vec![false; self.branches.len()];
        let at = |x: &[f64], node: Node| if node == 0 { 0.0 } else { x[node - 1] };
        for step in 1..=steps {
            let t = h * step as f64;
            let before = x.clone();
            // Murty's least-index method: the first diode that is wrong is turned.
            for _ in 0..1000 {
                let mut m = vec![vec![0.0; size + 1]; size];
                for (k, (from, to, branch)) in self.branches.iter().enumerate() {
                    let conductance = match branch {
                        Branch::Capacitor(c) => c / h,
                        Branch::Resistor(r) => 1.0 / r,
                        Branch::Diode(r, g, _) => {
                            if on[k] {
                                1.0 / r
                            } else {
                                *g
                            }
                        }
                        Branch::Winding(..) => 0.0,
                    };
                    let held = match branch {
                        Branch::Capacitor(c) => c / h * (at(&before, *from) - at(&before, *to)),
                        _ => 0.0,
                    };
                    for (node, other, sign) in [(*from, *to, 1.0), (*to, *from, -1.0)] {
                        if node == 0 {
                            continue;
                        }
                        m[node - 1][node - 1] += conductance;
                        if other > 0 {
                            m[node - 1][other - 1] -= conductance;
                        }
                        m[node - 1][size] += sign * held;
                        if let Branch::Winding(place, ..) = branch {
                            m[node - 1][nodes + place] += sign;
                        }
                    }
                    if let Branch::Winding(place, r, high, phase) = branch {
                        let row = &mut m[nodes + place];
                        for (node, sign) in [(*from, 1.0), (*to, -1.0)] {
                            if node > 0 {
                                row[node - 1] += sign;
                            }
                        }
                        row[nodes + place] -= r;
                        row[size] -= high * (2.0 * PI * FREQUENCY * t + phase).sin();
                        for (other, l) in self.inductances[*place].iter().enumerate() {
                            row[nodes + other] -= l / h;
                            row[size] -= l / h * before[nodes + other];
                        }
                    }
                }
                x = solve(m);
                let wrong = self.branches.iter().enumerate().position(|(k, (from, to, branch))| {
                    matches!(branch, Branch::Diode(..)) && (at(&x, *from) > at(&x, *to)) != on[k]
                });
                let Some(k) = wrong else { break };
                on[k] = !on[k];
            }
        }
        let (from, to, _) = &self.branches[self.branches.len() - 2];
        at(&x, *from) - at(&x, *to)
    }
}

/// Solves linear equations by elimination with row pivots.
fn solve(mut m: Vec<Vec<f64>>) -> Vec<f64> {
    let n = m.len();
    for k in 0..n {
        let best = (k..n).max_by(|a, b| m[*a][k].abs().total_cmp(&m[*b][k].abs())).unwrap();
        m.swap(k, best);
        let (upper, lower) = m.split_at_mut(k + 1);
        let pivot = &upper[k];
        for row in lower.iter_mut().filter(|row| row[k] != 0.0) {
            let factor = row[k] / pivot[k];
            row[k..].iter_mut().zip(&pivot[k..]).for_each(|(x, p)| *x -= factor * p);
        }
    }
    let mut x = vec![0.0; n];
    for k in (0..n).rev() {
        let known: f64 = (k + 1..n).map(|j| m[k][j] * x[j]).sum();
        x[k] = (m[k][n] - known) / m[k][k];
    }
    x
}

/// A circuit of some kind.
fn circuit(draw: &mut Draw) -> Circuit {
    let (on, off) = (draw.between(0.02, 0.2), draw.of(&[1e-2, 1e-3, 1e-4, 1e-5]));
    let condition = draw.of(&[BY_EFFORT, BY_FLOW]);
    let diode = || Branch::Diode(on, off, condition);
    let high = draw.between(5.0, 40.0);
    let (capacity, load) = (draw.between(1e-4, 2e-3), draw.between(20.0, 900.0));
    let l = draw.between(0.01, 0.2);
    let k = draw.between(0.5, 0.99);
    let (rp, rs) = (draw.between(0.3, 2.0), draw.between(0.1, 1.0));
    let out = [(1, Branch::Capacitor(capacity)), (1, Branch::Resistor(load))];
    let mut branches: Vec<(Node, Node, Branch)> = Vec::new();
    let (inductances, nodes) = match draw.of(&[0, 1, 2, 3]) {
        // A transformer and a full bridge: node 1 is the rail, 2 and 3 are the ends of the winding.
        0 => {
            branches.push((0, 0, Branch::Winding(0, rp, high, 0.0)));
            branches.push((3, 2, Branch::Winding(1, rs, 0.0, 0.0)));
            branches.extend([(2, 1), (3, 1), (0, 2), (0, 3)].map(|(from, to)| (from, to, diode())));
            (vec![vec![l, k * l], vec![k * l, l]], 4)
        }
        // A centre tap.
        1 => {
            branches.push((0, 0, Branch::Winding(0, rp, high, 0.0)));
            branches.push((0, 2, Branch::Winding(1, rs, 0.0, 0.0)));
            branches.push((3, 0, Branch::Winding(2, rs, 0.0, 0.0)));
            branches.extend([(2, 1), (3, 1)].map(|(from, to)| (from, to, diode())));
            let m = k * l;
            (vec![vec![l, m, m], vec![m, l, m], vec![m, m, l]], 4)
        }
        // Three phases with coupled lines.
        2 => {
            for (place, phase) in [0.0, -2.0944, 2.0944].into_iter().enumerate() {
                branches.push((0, place + 2, Branch::Winding(place, rs, high, phase)));
                branches.push((place + 2, 1, diode()));
                branches.push((5, place + 2, diode()));
            }
            // The negative rail floats.
            branches.push((1, 5, Branch::Resistor(load)));
            let (l, m) = (0.03 * l, -0.4 * k * 0.03 * l);
            (vec![vec![l, m, m], vec![m, l, m], vec![m, m, l]], 6)
        }
        // Greinacher's doubler behind coupled coils.
        _ => {
            branches.push((0, 0, Branch::Winding(0, rp, high, 0.7)));
            branches.push((0, 3, Branch::Winding(1, rs, 0.0, 0.0)));
            branches.push((3, 2, Branch::Capacitor(0.3 * capacity)));
            branches.extend([(0, 2), (2, 1)].map(|(from, to)| (from, to, diode())));
            (vec![vec![l, k * l], vec![k * l, l]], 4)
        }
    };
    let rail = if nodes == 6 && inductances.len() == 3 { 5 } else { 0 };
    branches.extend(out.map(|(from, branch)| (from, rail, branch)));
    Circuit { branches, inductances, nodes }
}

#[test]
fn diodes_behind_coils() {
    each(6, |seed| {
        let mut draw = Draw::new(seed);
        let circuit = circuit(&mut draw);
        let end = draw.between(0.02, 0.06);
        let text = circuit.text();
        let (found, _) = outputs_by(&["auto", "tsit5", "dop853", "stiff"], &text, end, &mut draw);
        let right = circuit.voltage(end, 20_000);
        let better = circuit.voltage(end, 40_000);
        let (y, right) = (last(&found[0]), 2.0 * better - right);
        assert!((y - right).abs() <= 2e-3 * right.abs().max(1.0), "seed {seed}: {y}, not {right}\n{text}");
    });
}

/// A source behind a coil that feeds branches of a diode, with a coil of its own or without, into a storage and a load.
fn branches(draw: &mut Draw, condition: &'static str) -> Circuit {
    let count = draw.of(&[1, 1, 2, 3]);
    let leak = draw.of(&[1e-6, 1e-9, 1e-9, 1e-11]);
    let high = draw.between(5.0, 40.0);
    let mut coils = vec![draw.between(3e-4, 2e-2)];
    let mut list: Vec<(Node, Node, Branch)> =
        vec![(0, 1, Branch::Winding(0, draw.between(0.1, 1.0), high, 0.0))];
    let mut nodes = 2;
    for _ in 0..count {
        let on = draw.between(0.02, 0.2);
        let mut at = 1;
        if draw.of(&[true, false]) {
            coils.push(draw.between(3e-4, 2e-2));
            list.push((at, nodes, Branch::Winding(coils.len() - 1, 0.01, 0.0, 0.0)));
            at = nodes;
            nodes += 1;
        }
        list.push((at, nodes, Branch::Diode(on, leak, condition)));
        list.push((nodes, 0, Branch::Capacitor(draw.between(2e-4, 2e-3))));
        list.push((nodes, 0, Branch::Resistor(draw.between(10.0, 900.0))));
        nodes += 1;
    }
    let n = coils.len();
    let inductances = (0..n).map(|i| (0..n).map(|j| if i == j { coils[i] } else { 0.0 }).collect()).collect();
    Circuit { branches: list, inductances, nodes }
}

/// Diodes that hardly leak behind coils: their effort while they block is a current far below any tolerance of
/// currents over that leakage, at coarse and at fine tolerances. Written on flows they read that current itself.
#[test]
fn diodes_that_hardly_leak_behind_coils() {
    each(8, branches_that_hardly_leak);
    // Currents that are alike leave nothing but rounding of what leaks.
    branches_that_hardly_leak(12);
}

fn branches_that_hardly_leak(seed: u64) {
    let mut draw = Draw::new(seed);
    let condition = [BY_EFFORT, BY_FLOW, BY_BOTH, BY_FLOW][seed as usize % 4];
    let circuit = branches(&mut draw, condition);
    let end = draw.between(0.02, 0.09);
    let text = circuit.text();
    let tolerances = [1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9];
    let (found, rtol) = outputs_within(&["auto", "stiff"], &tolerances, &text, end, &mut draw);
    let right = circuit.voltage(end, 20_000);
    let better = circuit.voltage(end, 40_000);
    let (y, right) = (last(&found[0]), 2.0 * better - right);
    let allowed = f64::max(2e-3, 30.0 * rtol) * right.abs().max(1.0);
    assert!((y - right).abs() <= allowed, "seed {seed}: {y}, not {right} at {rtol}\n{text}");
}

/// Ladders of diodes and capacitors after Cockcroft and Walton, with ideal diodes or ones that leak, behind a source
/// with or without resistance, against small explicit steps in which the current of the source is found by bisection.
#[test]
fn voltage_multipliers() {
    each(8, |seed| {
        let mut draw = Draw::new(seed);
        let stages = draw.of(&[1, 2, 2, 3]);
        let (on, off) = (draw.between(1.0, 5.0), draw.of(&[0.0, 0.0, 1e-9, 1e-6, 1e-4]));
        let by = draw.of(&["e", "f"]);
        let resistance = draw.of(&[0.0, 1.0]) * draw.between(1.0, 30.0);
        let (high, load) = (draw.between(10.0, 200.0), draw.between(2e4, 1e6));
        let store: Vec<f64> = (0..2 * stages).map(|_| draw.between(5e-6, 3e-5)).collect();
        let mut text =
            format!("model cw {{ Se s = {high}*sin(2*pi*{FREQUENCY}*t); 1 js; 0 a0; s -> js -> a0\n");
        if resistance > 0.0 {
            let _ = writeln!(text, "R rs = {resistance}; js -> rs");
        }
        let leak = if off > 0.0 { format!("; Goff = {off}") } else { String::new() };
        let diode =
            |k: usize| format!("1 j{k}; Sw d{k} when (d{k}.{by} > 0) {{ Ron = {on}{leak} }}; j{k} -> d{k}");
        for i in 1..=stages {
            let (even, odd) = (2 * i, 2 * i - 1);
            let _ = writeln!(
                text,
                "0 a{i}; 0 b{i}; 1 p{i}; C u{i} = {}; a{} -> p{i} -> u{i}",
                store[2 * i - 2],
                i - 1
            );
            let _ =
                writeln!(text, "p{i} -> a{i}; 1 q{i}; C v{i} = {}; b{i} -> q{i} -> v{i}", store[2 * i - 1]);
            let _ = writeln!(
                text,
                "{}; j{odd} -> a{i}; {}; a{i} -> j{even}; j{even} -> b{i}",
                diode(odd),
                diode(even)
            );
            if i > 1 {
                let _ = writeln!(text, "b{} -> j{odd}; q{i} -> b{}", i - 1, i - 1);
            }
        }
        let _ = write!(text, "R load = {load}; b{stages} -> load; output v = load.e\n}}");
        let end = draw.between(0.02, 0.07);
        let (found, _) = outputs_by(&["auto", "tsit5", "dop853", "stiff"], &text, end, &mut draw);
        let conductance = |e: f64| if e > 0.0 { e / on } else { e * off };
        // The flows of the diodes, with the effort before the first capacitor; charges are voltages times capacities.
        let flows = |a0: f64, x: &[f64]| -> Vec<f64> {
            let (mut a, mut b, mut list) = (a0, 0.0, Vec::new());
            for i in 0..stages {
                a -= x[2 * i];
                list.push(conductance(b - a));
                b += x[2 * i + 1];
                list.push(conductance(a - b));
            }
            list
        };
        let from_source = |list: &[f64]| {
            list.iter().enumerate().map(|(k, f)| if k % 2 == 1 { *f } else { -f }).sum::<f64>()
        };
        let steps = (end / 5e-7) as usize;
        let reference = rk4(vec![0.0; 2 * stages], end, steps, |t, x| {
            let source = high * (2.0 * PI * FREQUENCY * t).sin();
            let mut a0 = source;
            if resistance > 0.0 {
                let (mut low, mut highest) = (source - 1e4, source + 1e4);
                for _ in 0..60 {
                    a0 = 0.5 * (low + highest);
                    if (source - a0) / resistance > from_source(&flows(a0, x)) {
                        low = a0
                    } else {
                        highest = a0
                    }
                }
            }
            let list = flows(a0, x);
            let out: f64 = (0..stages).map(|i| x[2 * i + 1]).sum::<f64>() / load;
            (0..2 * stages)
                .map(|k| {
                    let flow: f64 = if k % 2 == 0 {
                        from_source(&list[k..])
                    } else {
                        // Into the column of outputs from here on, less what goes back.
                        list[k..]
                            .iter()
                            .enumerate()
                            .map(|(j, f)| if j % 2 == 0 { *f } else { -f })
                            .sum::<f64>()
                            - out
                    };
                    flow / store[k]
                })
                .collect()
        });
        let right: f64 = (0..stages).map(|i| reference[2 * i + 1]).sum();
        let v = last(&found[0]);
        assert!((v - right).abs() <= 1e-3 * high, "seed {seed}: {v}, not {right}\n{text}");
    });
}

/// A branch of diodes beside a bent law, from which no current comes back: all its voltages are zero, but for rounding.
#[test]
fn a_mesh_that_carries_nothing_changes_nothing() {
    each(2, |seed| {
        let mut draw = Draw::new(seed);
        let (r, l) = (draw.between(0.5, 3.0), draw.between(0.2, 1.0));
        let source = [draw.between(1.0, 8.0), draw.between(1.0, 6.0), draw.between(0.0, 6.0)];
        let initial = draw.of(&[0.0, 0.5]);
        let bent = draw.of(&["f = (e + e^3)/2", "f = if(e > 0, e, 0.1*e)"]);
        let [high, omega, phase] = source;
        let model = |idle: &str| {
            format!(
                "model g {{ 0 n0; 0 n2; 1 j1; n2 -> j1 -> n0; R e1 {{ {bent} }}; j1 -> e1; R gnd = {r}; n0 -> gnd
                 Se u = {high}*sin({omega}*t + {phase}); 1 l; I coil = {l}; u -> l -> coil; l -> n2
                 init coil.p = {l}*{initial}; output i = coil.f
                 {idle} }}"
            )
        };
        let mesh = "0 n3; 1 j2; n3 -> j2 -> n2; R e2 = 2; j2 -> e2
                    1 j3; n2 -> j3 -> n3; Sw e3 when (e3.e > 0) { Ron = 1.5; Goff = 0.1 }; j3 -> e3
                    1 j4; n3 -> j4 -> n2; Sw e4 when (e4.e > 0) { Ron = 1; Goff = 0.01 }; j4 -> e4";
        let [alone, beside] = ["", mesh].map(|idle| {
            let text = model(idle);
            let (found, rtol) = outputs(&text, 5.0, &mut Draw::new(seed));
            (found, rtol, text)
        });
        let size = alone.0[0].iter().fold(0.0f64, |most, i| most.max(i.abs()));
        for (alone, beside_it) in alone.0[0].iter().zip(&beside.0[0]) {
            let apart = (alone - beside_it).abs();
            assert!(apart <= 1e3 * beside.1 * size, "seed {seed}: {beside_it}, not {alone}\n{}", beside.2);
        }
    });
}
