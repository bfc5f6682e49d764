//! Upper bounds of the structured singular value over 200 frequencies: the d.c. motor with its torque constant
//! known (four real parameters, each once), with it uncertain (a real parameter twice), and 30 real parameters.
//! `benches/rivals/mu.py` does the first with SLICOT's AB13MD.
#![allow(clippy::print_stdout, reason = "a benchmark tells its times")]

use std::time::Instant;

use paynter_base::CancellationToken;
use paynter_base::random::Random;
use paynter_robust::axis::sweep;
use paynter_robust::upper::Structure;
use paynter_robust::{Block, Interconnection, Matrix};

/// How close bounds come to the best: half of what AB13MD gives for the motor lies closer than 8·10⁻⁸, the rest up to two
/// percent above it.
const TIGHTNESS: f64 = 1e-7;

/// R, L, k, J, b of the motor with their tolerances.
const MOTOR: [(f64, f64); 5] = [(1.2, 0.15), (4e-3, 0.1), (0.05, 0.05), (2e-4, 0.2), (5e-4, 0.3)];

/// A row over states and auxiliary inputs.
type Row = ([f64; 2], [f64; 6]);

/// The motor in flux and angular momentum; z: current for R, for L, speed for J, for b, then speed and current for k.
fn motor(with_constant: bool) -> Interconnection {
    let [(r, dr), (l, dl), (k, dk), (j, dj), (b, db)] = MOTOR;
    let channels = if with_constant { 6 } else { 4 };
    // i = p/L − dl·w_L, ω = h/J − dj·w_J, as rows over (p, h) and (w_R, w_L, w_J, w_b, w_k1, w_k2).
    let current = ([1.0 / l, 0.0], [0.0, -dl, 0.0, 0.0, 0.0, 0.0]);
    let speed = ([0.0, 1.0 / j], [0.0, 0.0, -dj, 0.0, 0.0, 0.0]);
    let rows = [current, current, speed, speed, speed, current];
    let scale = |x: Row, factor: f64| -> Row { (x.0.map(|v| v * factor), x.1.map(|v| v * factor)) };
    let plus = |x: Row, y: Row| -> Row {
        (std::array::from_fn(|i| x.0[i] + y.0[i]), std::array::from_fn(|i| x.1[i] + y.1[i]))
    };
    let mut p = plus(scale(current, -r), scale(speed, -k));
    p.1[0] -= r * dr;
    p.1[4] -= k * dk;
    let mut h = plus(scale(current, k), scale(speed, -b));
    h.1[3] -= b * db;
    h.1[5] += k * dk;
    let rates = [p, h];
    let mut blocks = vec![Block::Real(1); 4];
    if with_constant {
        blocks.push(Block::Real(2));
    }
    Interconnection {
        a: Matrix::from_fn(2, 2, |i, j| rates[i].0[j]),
        b: Matrix::from_fn(2, channels, |i, j| rates[i].1[j]),
        c: Matrix::from_fn(channels, 2, |i, j| rows[i].0[j]),
        d: Matrix::from_fn(channels, channels, |i, j| rows[i].1[j]),
        blocks,
        is_projected: false,
    }
}

/// A random stable model with many parameters.
fn large(channels: usize) -> Interconnection {
    let mut random = Random::new(5);
    let n = 30;
    Interconnection {
        a: Matrix::from_fn(n, n, |i, j| random.symmetric() - if i == j { 8.0 } else { 0.0 }),
        b: Matrix::from_fn(n, channels, |_, _| random.symmetric()),
        c: Matrix::from_fn(channels, n, |_, _| 0.3 * random.symmetric()),
        d: Matrix::zeros(channels, channels),
        blocks: vec![Block::Real(1); channels],
        is_projected: false,
    }
}

fn main() {
    let cases = [("motor, k known", motor(false)), ("motor", motor(true)), ("30 channels", large(30))];
    let omega: Vec<f64> = (0..200).map(|k| 10f64.powf(-1.0 + 5.0 * f64::from(k) / 199.0)).collect();
    for (name, system) in cases {
        let structure = Structure::new(&system.blocks);
        let mut best = f64::INFINITY;
        let mut peak = 0.0f64;
        for _ in 0..if system.channels() > 10 { 3 } else { 20 } {
            let start = Instant::now();
            let found =
                sweep(&system, &structure, &omega, TIGHTNESS, &CancellationToken::new()).unwrap_or_default();
            best = best.min(start.elapsed().as_secs_f64());
            peak = found.iter().fold(0.0, |most, point| most.max(point.upper));
        }
        println!("{name}: {:.3} ms for 200 frequencies, largest bound {peak:.9}", 1e3 * best);
    }
}
