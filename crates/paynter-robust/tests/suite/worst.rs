//! The worst margins that are found in a box of tolerances: against its vertices and dense samples.

use paynter_base::CancellationToken;
use paynter_base::random::Random;
use paynter_robust::loops::Margins;
use paynter_robust::tolerances::{MarginKind, open, worst_margins};
use paynter_robust::{Interconnection, Matrix};

/// A loop of parallel modes: each a residue over a first order, or over an oscillator.
struct Modes {
    /// Residue, rate, and the damping ratio of an oscillator.
    list: Vec<(f64, f64, Option<f64>)>,
    /// Which number of which mode is uncertain, and by how much.
    tolerances: Vec<(usize, usize, f64)>,
}

impl Modes {
    fn draw(random: &mut Random) -> Modes {
        let count = 2 + (random.unit() * 3.0) as usize;
        let list: Vec<_> = (0..count)
            .map(|_| {
                let damping = (random.unit() < 0.6).then(|| 0.03 + 0.5 * random.unit());
                (3.0 * random.symmetric(), 10f64.powf(random.symmetric()), damping)
            })
            .collect();
        let uncertain = 2 + (random.unit() * 5.0) as usize;
        let tolerances = (0..uncertain)
            .map(|k| (k % count, (k / count) % if list[k % count].2.is_some() { 3 } else { 2 }))
            .map(|(mode, number)| (mode, number, 0.05 + 0.3 * random.unit()))
            .collect();
        Modes { list, tolerances }
    }

    /// The closed loop at parameters, injected at its only input and read at its only output.
    fn at(&self, delta: &[f64]) -> Interconnection {
        let mut list = self.list.clone();
        for ((mode, number, size), delta) in self.tolerances.iter().zip(delta) {
            let factor = 1.0 + size * delta;
            let (residue, rate, damping) = &mut list[*mode];
            match number {
                0 => *residue *= factor,
                1 => *rate *= factor,
                _ => *damping = damping.map(|damping| damping * factor),
            }
        }
        let (mut a, mut b, mut c) = (Vec::new(), Vec::new(), Vec::new());
        for (residue, rate, damping) in &list {
            match damping {
                None => (a.push(vec![-rate]), b.push(*rate), c.push(*residue)),
                Some(damping) => {
                    a.push(vec![0.0, *rate]);
                    b.push(0.0);
                    (a.push(vec![-rate, -2.0 * damping * rate]), b.push(*rate), c.extend([*residue, 0.0]))
                }
            };
        }
        let n = b.len();
        let mut open = Matrix::zeros(n, n);
        let mut first = 0;
        for (i, row) in a.iter().enumerate() {
            if row.len() == 1 || row[0] == 0.0 {
                first = i;
            }
            row.iter().enumerate().for_each(|(j, x)| open[(i, first + j)] = *x);
        }
        Interconnection {
            a: Matrix::from_fn(n, n, |i, j| open[(i, j)] - b[i] * c[j]),
            b: Matrix::from_fn(n, 1, |i, _| b[i]),
            c: Matrix::from_fn(1, n, |_, j| -c[j]),
            d: Matrix::zeros(1, 1),
            blocks: Vec::new(),
            is_projected: false,
        }
    }
}

/// How little of a margin a loop has: what grows may be counted down to one, what shrinks up to it.
fn left(kind: MarginKind, margins: &Margins) -> f64 {
    let value = match (kind, kind.at(margins)) {
        (_, None) => f64::INFINITY,
        (MarginKind::LeastGain, Some(at)) => 1.0 / at.value,
        (_, Some(at)) => at.value.abs(),
    };
    if margins.stable { value } else { 0.0 }
}

#[test]
fn no_sample_of_the_box_has_smaller_margins() {
    let number = |name: &str, usual| std::env::var(name).ok().and_then(|x| x.parse().ok()).unwrap_or(usual);
    let (loops, samples) = (number("PAYNTER_RANDOM_LOOPS", 10), number("PAYNTER_RANDOM_SAMPLES", 400));
    let mut random = Random::new(number("PAYNTER_RANDOM_FROM", 1) as u64);
    let mut looked = 0;
    let mut wrong = Vec::new();
    while looked < loops {
        let modes = Modes::draw(&mut random);
        let count = modes.tolerances.len();
        let family = |delta: &[f64]| Some(modes.at(delta));
        let margins = |delta: &[f64]| open(&modes.at(delta), 0, 0).unwrap().margins();
        let nominal = margins(&vec![0.0; count]);
        if !nominal.stable || nominal.phase.is_none() {
            continue;
        }
        looked += 1;
        let worst = worst_margins(&family, (0, 0), count, &CancellationToken::new()).unwrap();
        let mut least = MarginKind::ALL.map(|kind| (left(kind, &nominal), vec![0.0; count]));
        for k in 0..(1usize << count) + samples {
            let delta: Vec<f64> = (0..count)
                .map(|i| match k.checked_sub(1 << count) {
                    None => {
                        if k >> i & 1 == 0 {
                            -1.0
                        } else {
                            1.0
                        }
                    }
                    // Near the boundary of the box, where the worst usually is.
                    Some(_) => (1.7 * random.symmetric()).clamp(-1.0, 1.0),
                })
                .collect();
            let there = margins(&delta);
            for (kind, least) in MarginKind::ALL.iter().zip(&mut least) {
                if left(*kind, &there) < least.0 {
                    *least = (left(*kind, &there), delta.clone());
                }
            }
        }
        for (kind, (least, delta)) in MarginKind::ALL.iter().zip(&least) {
            let found = worst.iter().find(|worst| worst.kind == *kind);
            let found = found.map_or(f64::INFINITY, |worst| left(*kind, &worst.margins));
            if found > least * (1.0 + 1e-3) {
                wrong.push(format!("loop {looked} {kind:?}: {found}, but {least} at {delta:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
