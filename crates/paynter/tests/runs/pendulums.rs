//! Pendulums of masses for each axis, with friction in several places, against Lagrange's equations: no momentum
//! tells at every angle how fast they turn.
#![allow(clippy::panic, clippy::unwrap_used)]

use crate::common;

use common::simulation::{accurate, respond};
use common::sound;
use paynter::simulate::SimulateOptions;
use paynter_base::random::Random;
use paynter_testkit::property;

const G: f64 = 9.81;

/// Masses and lengths, and what brakes: both joints, and the first mass along the horizontal.
struct Pendulum {
    m: [f64; 2],
    l: [f64; 2],
    start: [f64; 2],
    joint: Option<f64>,
    between: Option<f64>,
    drag: Option<f64>,
    double: bool,
}

impl Pendulum {
    fn random(seed: u64) -> Pendulum {
        let mut random = Random::new(seed + 1);
        let mut between = |low: f64, high: f64| low + (high - low) * random.unit();
        let pair =
            |between: &mut dyn FnMut(f64, f64) -> f64, low, high| [between(low, high), between(low, high)];
        let [m, l, start] = [(0.3, 2.0), (0.4, 1.5), (0.3, 2.5)].map(|(a, b)| pair(&mut between, a, b));
        let mut friction = || (between(0.0, 1.0) < 0.7).then(|| between(0.01, 0.3));
        let (joint, relative, drag) = (friction(), friction(), friction());
        Pendulum { m, l, start, joint, between: relative, drag, double: seed % 2 == 1 }
    }

    fn text(&self) -> String {
        let Pendulum { m, l, start, joint, between, drag, double } = self;
        let mut text = format!(
            "model pendulum {{ signal a = integral(w1.f, {}); 1 j1; 1 vx1; 1 vy1; I mx1 = {}; I my1 = {}
            Se g1 = -{}; Df w1; MTF tx1 = {}*cos(a); MTF ty1 = {}*sin(a)
            j1 -> w1; j1 -> tx1 -> vx1 -> mx1; j1 -> ty1 -> vy1 -> my1; g1 -> vy1; output a = a; output w = w1.f\n",
            start[0],
            m[0],
            m[0],
            m[0] * G,
            l[0],
            l[0]
        );
        if let Some(b) = joint {
            text.push_str(&format!("R b1 = {b}; j1 -> b1\n"));
        }
        if let Some(c) = drag {
            text.push_str(&format!("R air = {c}; vx1 -> air\n"));
        }
        if *double {
            text.push_str(&format!(
                "signal c = integral(w2.f, {}); 1 j2; 1 vx2; 1 vy2; 0 sx; 0 sy; I mx2 = {}; I my2 = {}; Df w2
                Se g2 = -{}; MTF tx2 = {}*cos(c); MTF ty2 = {}*sin(c); j2 -> w2; j2 -> tx2 -> sx; j2 -> ty2 -> sy
                vx1 -> sx -> vx2 -> mx2; vy1 -> sy -> vy2 -> my2; g2 -> vy2; output c = c; output v = w2.f\n",
                start[1],
                m[1],
                m[1],
                m[1] * G,
                l[1],
                l[1]
            ));
            if let Some(b) = between {
                text.push_str(&format!("0 rel; R b2 = {b}; j1 -> rel -> b2; rel -> j2\n"));
            }
        }
        text + "}"
    }

    /// Rates of both angles and both speeds, by Lagrange's equations.
    fn rates(&self, [a, c, w, v]: [f64; 4]) -> [f64; 4] {
        let ([m1, m2], [l1, l2]) = (self.m, self.l);
        let m2 = if self.double { m2 } else { 0.0 };
        let (joint, between) = (self.joint.unwrap_or(0.0), self.between.unwrap_or(0.0));
        let across = l1 * a.cos();
        let (b1, b2) =
            (joint + self.drag.unwrap_or(0.0) * across * across, if self.double { between } else { 0.0 });
        let turned = a - c;
        let first =
            -m2 * l1 * l2 * turned.sin() * v * v - (m1 + m2) * G * l1 * a.sin() - b1 * w - b2 * (w - v);
        let inertia = (m1 + m2) * l1 * l1;
        if !self.double {
            return [w, v, first / inertia, 0.0];
        }
        let second = m2 * l1 * l2 * turned.sin() * w * w - m2 * G * l2 * c.sin() + b2 * (w - v);
        let (mixed, own) = (m2 * l1 * l2 * turned.cos(), m2 * l2 * l2);
        let determinant = inertia * own - mixed * mixed;
        [w, v, (own * first - mixed * second) / determinant, (inertia * second - mixed * first) / determinant]
    }

    /// The state at a time, by the classical Runge–Kutta method.
    fn at(&self, end: f64) -> [f64; 4] {
        let mut x = [self.start[0], self.start[1], 0.0, 0.0];
        let steps = 20_000;
        let h = end / steps as f64;
        let moved = |x: [f64; 4], k: [f64; 4], h: f64| std::array::from_fn(|i| x[i] + h * k[i]);
        for _ in 0..steps {
            let k1 = self.rates(x);
            let k2 = self.rates(moved(x, k1, h / 2.0));
            let k3 = self.rates(moved(x, k2, h / 2.0));
            let k4 = self.rates(moved(x, k3, h));
            x = std::array::from_fn(|i| x[i] + h / 6.0 * (k1[i] + 2.0 * (k2[i] + k3[i]) + k4[i]));
        }
        x
    }
}

#[test]
fn pendulums_of_axes_pass_every_angle() {
    property::each(16, |seed| {
        let pendulum = Pendulum::random(seed);
        let text = pendulum.text();
        let [a, c, w, v] = pendulum.at(2.0);
        let expected = if pendulum.double { vec![a, w, c, v] } else { vec![a, w] };
        for solver in ["auto", "stiff"] {
            let options = SimulateOptions { solver: solver.into(), ..accurate(2.0) };
            let (_, found) = respond(&sound(&text), &options);
            for (list, expected) in found.outputs.iter().zip(&expected) {
                let last = list.last().unwrap();
                let size = list.iter().fold(1.0f64, |size, x| size.max(x.abs()));
                assert!((last - expected).abs() < 1e-6 * size, "{solver}: {last}, not {expected}\n{text}");
            }
        }
    });
}
