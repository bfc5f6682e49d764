//! The problems, written by hand as a user of a solver would: rates, their
//! derivatives by states and parameters, initial states and outputs. What is
//! dear is calculated once for a state, however often a solver asks.

use std::cell::Cell;

/// A problem with parameters `p` and states `x`.
pub trait Problem: Copy {
    fn states(&self) -> usize;
    fn parameters(&self) -> usize;
    /// The number of bands beside the diagonal of the Jacobian.
    fn bands(&self) -> usize;
    /// How large each state becomes, for absolute tolerances.
    fn sizes(&self) -> Vec<f64>;
    fn initial(&self, p: &[f64], x: &mut [f64]);
    /// The derivative of the initial states by parameter `i`.
    fn initial_by(&self, i: usize, x: &mut [f64]);
    fn rates(&self, x: &[f64], p: &[f64], out: &mut [f64]);
    /// Calls `set` with row, column and value of every entry of the Jacobian.
    fn jacobian(&self, x: &[f64], p: &[f64], set: &mut impl FnMut(usize, usize, f64));
    /// Adds `factor` times the derivatives of the rates by parameter `i`.
    fn add_by_parameter(&self, i: usize, factor: f64, x: &[f64], p: &[f64], out: &mut [f64]);
    /// The outputs, and their change for a change `v` of the states.
    fn outputs(&self, x: &[f64], y: &mut Vec<f64>);
    fn outputs_by(&self, x: &[f64], v: &[f64], y: &mut Vec<f64>);

    /// The Jacobian times a vector.
    fn times(&self, x: &[f64], p: &[f64], v: &[f64], out: &mut [f64]) {
        out.fill(0.0);
        self.jacobian(x, p, &mut |row, column, value| out[row] += value * v[column]);
    }
}

/// Two conical tanks in cascade with parameters V1, V2, α, β.
#[derive(Clone, Copy)]
pub struct Tanks;

const CONE: f64 = 12.0 / std::f64::consts::PI;

/// What tanks and pipes do at a state: slopes of the pressures, flows, and their derivatives by
/// pressure and by both parameters.
#[derive(Clone, Copy, Default)]
struct Parts {
    state: [f64; 2],
    slopes: [f64; 2],
    flows: [f64; 2],
    by_pressure: [f64; 2],
    by_alpha: [f64; 2],
    by_beta: [f64; 2],
}

thread_local! {
    /// The parts of the last state; parameters never change within a run of this program.
    static PARTS: Cell<Parts> = Cell::new(Parts::default());
}

impl Parts {
    fn at(x: &[f64], p: &[f64]) -> Parts {
        let known = PARTS.get();
        if known.state == [x[0], x[1]] {
            return known;
        }
        let ((e1, s1), (e2, s2)) = (tank(x[0]), tank(x[1]));
        let mut parts = Parts { state: [x[0], x[1]], slopes: [s1, s2], ..Parts::default() };
        for (i, e) in [e1 - e2, e2].into_iter().enumerate() {
            let power = (e.abs() / p[3]).ln();
            let flow = e.signum() * (power / p[2]).exp();
            parts.flows[i] = flow;
            parts.by_pressure[i] = flow / (p[2] * e);
            parts.by_alpha[i] = -flow * power / (p[2] * p[2]);
            parts.by_beta[i] = -flow / (p[2] * p[3]);
        }
        PARTS.set(parts);
        parts
    }
}

/// A tank's pressure at a volume, and its slope.
fn tank(q: f64) -> (f64, f64) {
    let pressure = (CONE * q).cbrt();
    (pressure, pressure / (3.0 * q))
}

impl Problem for Tanks {
    fn states(&self) -> usize {
        2
    }

    fn parameters(&self) -> usize {
        4
    }

    fn bands(&self) -> usize {
        1
    }

    fn sizes(&self) -> Vec<f64> {
        vec![1.0; 2]
    }

    fn initial(&self, p: &[f64], x: &mut [f64]) {
        x.copy_from_slice(&p[..2]);
    }

    fn initial_by(&self, i: usize, x: &mut [f64]) {
        x.fill(0.0);
        if i < 2 {
            x[i] = 1.0;
        }
    }

    fn rates(&self, x: &[f64], p: &[f64], out: &mut [f64]) {
        let [f1, f2] = Parts::at(x, p).flows;
        out[0] = 1.0 - f1;
        out[1] = f1 - f2;
    }

    fn jacobian(&self, x: &[f64], p: &[f64], set: &mut impl FnMut(usize, usize, f64)) {
        let parts = Parts::at(x, p);
        let ([s1, s2], [g1, g2]) = (parts.slopes, parts.by_pressure);
        set(0, 0, -g1 * s1);
        set(0, 1, g1 * s2);
        set(1, 0, g1 * s1);
        set(1, 1, -(g1 + g2) * s2);
    }

    fn add_by_parameter(&self, i: usize, factor: f64, x: &[f64], p: &[f64], out: &mut [f64]) {
        if i < 2 {
            return;
        }
        let parts = Parts::at(x, p);
        let [first, second] = if i == 2 { parts.by_alpha } else { parts.by_beta };
        out[0] -= factor * first;
        out[1] += factor * (first - second);
    }

    fn outputs(&self, x: &[f64], y: &mut Vec<f64>) {
        y.push(tank(x[1]).0);
    }

    fn outputs_by(&self, x: &[f64], v: &[f64], y: &mut Vec<f64>) {
        y.push(tank(x[1]).1 * v[1]);
    }
}

/// Robertson's kinetics with its three rates.
#[derive(Clone, Copy)]
pub struct Robertson;

impl Problem for Robertson {
    fn states(&self) -> usize {
        3
    }

    fn parameters(&self) -> usize {
        3
    }

    fn bands(&self) -> usize {
        2
    }

    fn sizes(&self) -> Vec<f64> {
        vec![1.0, 3.6e-5, 1.0]
    }

    fn initial(&self, _: &[f64], x: &mut [f64]) {
        x.copy_from_slice(&[1.0, 0.0, 0.0]);
    }

    fn initial_by(&self, _: usize, x: &mut [f64]) {
        x.fill(0.0);
    }

    fn rates(&self, x: &[f64], p: &[f64], out: &mut [f64]) {
        out[0] = -p[0] * x[0] + p[1] * x[1] * x[2];
        out[2] = p[2] * x[1] * x[1];
        out[1] = -out[0] - out[2];
    }

    fn jacobian(&self, x: &[f64], p: &[f64], set: &mut impl FnMut(usize, usize, f64)) {
        let rows = [[-p[0], p[1] * x[2], p[1] * x[1]], [0.0, 2.0 * p[2] * x[1], 0.0]];
        for column in 0..3 {
            set(0, column, rows[0][column]);
            set(1, column, -rows[0][column] - rows[1][column]);
        }
        set(2, 1, rows[1][1]);
    }

    fn add_by_parameter(&self, i: usize, factor: f64, x: &[f64], _: &[f64], out: &mut [f64]) {
        let (from, to, rate) = [(0, 1, x[0]), (1, 0, x[1] * x[2]), (1, 2, x[1] * x[1])][i];
        out[from] -= factor * rate;
        out[to] += factor * rate;
    }

    fn outputs(&self, x: &[f64], y: &mut Vec<f64>) {
        y.extend_from_slice(x);
    }

    fn outputs_by(&self, _: &[f64], v: &[f64], y: &mut Vec<f64>) {
        y.extend_from_slice(v);
    }
}

/// A chain of masses, springs and dampers: momenta and elongations in turn, parameters m, k, b.
#[derive(Clone, Copy)]
pub struct Chain(pub usize);

impl Chain {
    fn speed(&self, i: usize, x: &[f64], p: &[f64]) -> f64 {
        if i < self.0 { x[2 * i] / p[i] } else { 0.0 }
    }
}

impl Problem for Chain {
    fn states(&self) -> usize {
        2 * self.0
    }

    fn parameters(&self) -> usize {
        3 * self.0
    }

    fn bands(&self) -> usize {
        2
    }

    fn sizes(&self) -> Vec<f64> {
        vec![0.2; 2 * self.0]
    }

    fn initial(&self, _: &[f64], x: &mut [f64]) {
        x.fill(0.0);
    }

    fn initial_by(&self, _: usize, x: &mut [f64]) {
        x.fill(0.0);
    }

    fn rates(&self, x: &[f64], p: &[f64], out: &mut [f64]) {
        self.times(x, p, x, out);
        out[0] += 1.0;
    }

    fn times(&self, _: &[f64], p: &[f64], x: &[f64], out: &mut [f64]) {
        let n = self.0;
        let mut push = 0.0;
        let mut speed = self.speed(0, x, p);
        for i in 0..n {
            let next = self.speed(i + 1, x, p);
            let force = p[n + i] * x[2 * i + 1] + p[2 * n + i] * (speed - next);
            out[2 * i] = push - force;
            out[2 * i + 1] = speed - next;
            (push, speed) = (force, next);
        }
    }

    fn jacobian(&self, _: &[f64], p: &[f64], set: &mut impl FnMut(usize, usize, f64)) {
        let n = self.0;
        for i in 0..n {
            let (m, k, b) = (p[i], p[n + i], p[2 * n + i]);
            let before = if i > 0 { p[2 * n + i - 1] } else { 0.0 };
            if i > 0 {
                set(2 * i, 2 * i - 2, before / p[i - 1]);
                set(2 * i, 2 * i - 1, p[n + i - 1]);
            }
            set(2 * i, 2 * i, -(before + b) / m);
            set(2 * i, 2 * i + 1, -k);
            set(2 * i + 1, 2 * i, 1.0 / m);
            if i + 1 < n {
                set(2 * i, 2 * i + 2, b / p[i + 1]);
                set(2 * i + 1, 2 * i + 2, -1.0 / p[i + 1]);
            }
        }
    }

    fn add_by_parameter(&self, i: usize, factor: f64, x: &[f64], p: &[f64], out: &mut [f64]) {
        let n = self.0;
        let at = i % n;
        let mut force = |at: usize, change: f64| {
            out[2 * at] -= change;
            if at + 1 < n {
                out[2 * at + 2] += change;
            }
        };
        match i / n {
            0 => {
                let change = -factor * x[2 * at] / (p[at] * p[at]);
                force(at, p[2 * n + at] * change);
                if at > 0 {
                    force(at - 1, -p[2 * n + at - 1] * change);
                    out[2 * at - 1] -= change;
                }
                out[2 * at + 1] += change;
            }
            1 => force(at, factor * x[2 * at + 1]),
            _ => force(at, factor * (self.speed(at, x, p) - self.speed(at + 1, x, p))),
        }
    }

    fn outputs(&self, x: &[f64], y: &mut Vec<f64>) {
        y.push(x[1]);
    }

    fn outputs_by(&self, _: &[f64], v: &[f64], y: &mut Vec<f64>) {
        y.push(v[1]);
    }
}
