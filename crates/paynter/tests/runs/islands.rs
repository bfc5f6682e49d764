//! Networks of laws that nothing grounds, fed through coils alone: the currents of the coils sum to zero, which no law
//! within the network says. Drawn at random, with switches, bent and cubic laws, and initial currents of all coils but
//! one; against Runge and Kutta's method on the node equations.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use crate::common;

use common::kinds::{Draw, last, outputs, rk4};
use paynter_testkit::property::each;
use std::fmt::Write;

/// The law of a branch: its flow over its effort.
#[derive(Clone, Copy)]
enum Conductance {
    Linear(f64),
    /// A switch that conducts one way: Ron, Goff.
    Switch(f64, f64),
    /// Two slopes.
    Bent(f64, f64),
    /// (e + e³)/r.
    Cubic(f64),
}

impl Conductance {
    fn drawn(draw: &mut Draw) -> Conductance {
        let (a, b) = (draw.between(0.3, 3.0), draw.between(0.02, 0.3));
        match draw.of(&[0, 1, 1, 2, 3]) {
            0 => Conductance::Linear(a),
            1 => Conductance::Switch(a, b),
            2 => Conductance::Bent(a, b),
            _ => Conductance::Cubic(a),
        }
    }

    fn text(self, name: &str) -> String {
        match self {
            Conductance::Linear(r) => format!("R {name} = {r}"),
            Conductance::Switch(on, off) => {
                format!("Sw {name} when ({name}.e > 0) {{ Ron = {on}; Goff = {off} }}")
            }
            Conductance::Bent(a, b) => format!("R {name} {{ f = if(e > 0, {a}*e, {b}*e) }}"),
            Conductance::Cubic(r) => format!("R {name} {{ f = (e + e^3)/{r} }}"),
        }
    }

    /// The flow and its derivative.
    fn at(self, e: f64) -> (f64, f64) {
        let slope = match self {
            Conductance::Linear(r) => 1.0 / r,
            Conductance::Switch(on, off) => {
                if e > 0.0 {
                    1.0 / on
                } else {
                    off
                }
            }
            Conductance::Bent(a, b) => {
                if e > 0.0 {
                    a
                } else {
                    b
                }
            }
            Conductance::Cubic(r) => return ((e + e.powi(3)) / r, (1.0 + 3.0 * e * e) / r),
        };
        (slope * e, slope)
    }
}

/// A line into a node: inductance, resistance, amplitude, angular frequency, phase, initial current.
struct Line {
    node: usize,
    l: f64,
    r: f64,
    source: [f64; 3],
    initial: f64,
}

struct Island {
    nodes: usize,
    branches: Vec<(usize, usize, Conductance)>,
    lines: Vec<Line>,
    /// The line whose initial current the others determine.
    open: usize,
}

impl Island {
    fn drawn(draw: &mut Draw) -> Island {
        let nodes = draw.of(&[2, 3, 4, 5]);
        // A tree, so that all nodes hang together, and some more.
        let mut branches: Vec<(usize, usize, Conductance)> = (1..nodes)
            .map(|node| (draw.of(&(0..node).collect::<Vec<_>>()), node, Conductance::drawn(draw)))
            .collect();
        for _ in 0..draw.of(&[0, 1, 2, 3]) {
            let list: Vec<usize> = (0..nodes).collect();
            let (a, b) = (draw.of(&list), draw.of(&list));
            if a != b {
                branches.push((a, b, Conductance::drawn(draw)));
            }
        }
        let count = draw.of(&[2, 3]).min(nodes);
        let first = draw.of(&(0..nodes).collect::<Vec<_>>());
        let mut lines: Vec<Line> = (0..count)
            .map(|k| Line {
                node: (first + k) % nodes,
                l: draw.between(0.1, 0.5),
                r: draw.of(&[0.0, 0.3]),
                source: [draw.between(1.0, 8.0), draw.between(1.0, 6.0), draw.between(0.0, 6.0)],
                initial: draw.of(&[0.0, 1.0]) * draw.between(-2.0, 2.0),
            })
            .collect();
        let open = draw.of(&(0..count).collect::<Vec<_>>());
        lines[open].initial = 0.0;
        let total: f64 = lines.iter().map(|line| line.initial).sum();
        lines[open].initial = -total;
        Island { nodes, branches, lines, open }
    }

    fn text(&self) -> String {
        let mut text = "model island {\n".to_owned();
        (0..self.nodes).for_each(|node| write!(text, "0 n{node}; ").unwrap());
        for (k, (from, to, law)) in self.branches.iter().enumerate() {
            let law = law.text(&format!("b{k}"));
            let _ = write!(text, "\n1 j{k}; {law}; j{k} -> b{k}; n{from} -> j{k} -> n{to}");
        }
        for (k, Line { node, l, r, source: [high, omega, phase], initial }) in self.lines.iter().enumerate() {
            let _ = write!(
                text,
                "\nSe u{k} = {high}*sin({omega}*t + {phase}); 1 l{k}; I c{k} = {l}; u{k} -> l{k} -> c{k}; l{k} -> n{node}"
            );
            if *r > 0.0 {
                let _ = write!(text, "; R r{k} = {r}; l{k} -> r{k}");
            }
            if k != self.open {
                let _ = write!(text, "; init c{k}.p = {l}*{initial}");
            }
            let _ = write!(text, "; output i{k} = c{k}.f");
        }
        text + "\n}"
    }

    /// The rates of the currents.
    fn rates(&self, t: f64, currents: &[f64]) -> Vec<f64> {
        let potentials = self.potentials(currents);
        let drive = |(line, i): (&Line, &f64)| {
            let [high, omega, phase] = line.source;
            high * (omega * t + phase).sin() - line.r * i - potentials[line.node]
        };
        let drives: Vec<f64> = self.lines.iter().zip(currents).map(drive).collect();
        // The potential of the first node keeps the sum of the currents at zero.
        let weight: f64 = self.lines.iter().map(|line| 1.0 / line.l).sum();
        let common = drives.iter().zip(&self.lines).map(|(d, line)| d / line.l).sum::<f64>() / weight;
        drives.iter().zip(&self.lines).map(|(d, line)| (d - common) / line.l).collect()
    }

    /// Potentials of the nodes over the first, by Newton's method with halved steps.
    fn potentials(&self, currents: &[f64]) -> Vec<f64> {
        let n = self.nodes;
        let balance = |v: &[f64]| {
            let mut rest = vec![0.0; n];
            self.lines.iter().zip(currents).for_each(|(line, i)| rest[line.node] += i);
            let mut slopes = vec![vec![0.0; n]; n];
            for &(a, b, law) in &self.branches {
                let (flow, slope) = law.at(v[a] - v[b]);
                rest[a] -= flow;
                rest[b] += flow;
                for (row, column, sign) in [(a, a, 1.0), (b, b, 1.0), (a, b, -1.0), (b, a, -1.0)] {
                    slopes[row][column] += sign * slope;
                }
            }
            (rest, slopes)
        };
        let size = |rest: &[f64]| rest[1..].iter().map(|r| r * r).sum::<f64>();
        let mut v = vec![0.0; n];
        for _ in 0..100 {
            let (rest, slopes) = balance(&v);
            if size(&rest) < 1e-24 {
                break;
            }
            let step = solved(slopes, rest.clone());
            let mut share = 1.0;
            loop {
                let next: Vec<f64> = v.iter().zip(&step).map(|(v, s)| v + share * s).collect();
                if size(&balance(&next).0) < size(&rest) || share < 1e-6 {
                    v = next;
                    break;
                }
                share *= 0.5;
            }
        }
        v
    }
}

/// Solves the rows after the first, whose unknown is zero, by elimination; the matrix is positive definite.
fn solved(mut m: Vec<Vec<f64>>, mut right: Vec<f64>) -> Vec<f64> {
    let n = right.len();
    for i in 1..n {
        for j in i + 1..n {
            let factor = m[j][i] / m[i][i];
            for k in i..n {
                m[j][k] -= factor * m[i][k];
            }
            right[j] -= factor * right[i];
        }
    }
    for i in (1..n).rev() {
        let known: f64 = (i + 1..n).map(|k| m[i][k] * right[k]).sum();
        right[i] = (right[i] - known) / m[i][i];
    }
    right[0] = 0.0;
    right
}

#[test]
fn currents_into_an_island_sum_to_zero() {
    each(16, |seed| {
        let draw = &mut Draw::new(seed);
        let island = Island::drawn(draw);
        let (text, end) = (island.text(), 1.5);
        let (found, _) = outputs(&text, end, draw);
        let start: Vec<f64> = island.lines.iter().map(|line| line.initial).collect();
        for (k, initial) in start.iter().enumerate() {
            let begun = found[k][0];
            assert!(
                (begun - initial).abs() <= 1e-9,
                "seed {seed}: i{k} begins at {begun}, not {initial}\n{text}"
            );
        }
        let right = rk4(start, end, 3000, |t, x| island.rates(t, x));
        let size = right.iter().fold(1.0f64, |size, i| size.max(i.abs()));
        for (k, right) in right.iter().enumerate() {
            let i = last(&found[k]);
            assert!((i - right).abs() <= 2e-4 * size, "seed {seed}: i{k} = {i}, not {right}\n{text}");
        }
    });
}
