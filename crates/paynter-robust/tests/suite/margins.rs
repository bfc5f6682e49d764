//! Margins and worst cases of models whose answers are known.

use num_complex::Complex64;
use paynter_base::CancellationToken;
use paynter_base::random::Random;
use paynter_robust::axis::frequencies;
use paynter_robust::branch::Limits;
use paynter_robust::stability::{NoMargin, stability};
use paynter_robust::{Block, Interconnection, Matrix};

const LIMITS: Limits = Limits { gap: 1e-3, nodes: 4000 };

/// An interconnection without inputs and outputs, by rows of its matrices.
fn inner(a: &[&[f64]], b: &[&[f64]], c: &[&[f64]], d: &[&[f64]], blocks: &[Block]) -> Interconnection {
    let matrix = |rows: &[&[f64]], columns: usize| Matrix::from_fn(rows.len(), columns, |i, j| rows[i][j]);
    let channels: usize = blocks.iter().map(|block| block.size()).sum();
    Interconnection {
        a: matrix(a, a.len()),
        b: matrix(b, channels),
        c: matrix(c, a.len()),
        d: matrix(d, channels),
        blocks: blocks.to_vec(),
        is_projected: false,
    }
}

/// s³ + (1+q1+q2) s² + (3+q1+q2) s + 1 + r² + 6q1 + 6q2 + 2q1q2 in companion form, r = 0.1, q1 = 1.4 ± 1.1,
/// q2 = 0.85 ± 0.85.
fn disc() -> Interconnection {
    let (q1, q2, r1, r2) = (1.4, 0.85, 1.1, 0.85);
    let c0 = 1.01 + 6.0 * (q1 + q2) + 2.0 * q1 * q2;
    // x3' = −c0 x1 − c1 x2 − c2 x3 with w1 = δ1 z1, w2 = δ2 z2, w3 = δ2 z3 where z3 reads w1 for the product:
    // the change of c0 is 6 r1 δ1 + 6 r2 δ2 + 2 (q1 r2 δ2 + q2 r1 δ1 + r1 r2 δ1 δ2).
    inner(
        &[&[0.0, 1.0, 0.0], &[0.0, 0.0, 1.0], &[-c0, -(3.0 + q1 + q2), -(1.0 + q1 + q2)]],
        &[&[0.0, 0.0], &[0.0, 0.0], &[-1.0, -1.0]],
        &[&[r1 * (6.0 + 2.0 * q2), r1, r1], &[r2 * (6.0 + 2.0 * q1), r2, r2]],
        // δ2 reads what δ1 makes of the part of x1: 2 r1 r2 δ1 δ2 x1.
        &[&[0.0, 0.0], &[0.0, 0.0]],
        &[Block::Real(1), Block::Real(1)],
    )
    .with_product(r1, r2)
}

trait WithProduct {
    fn with_product(self, r1: f64, r2: f64) -> Interconnection;
}

impl WithProduct for Interconnection {
    /// Adds a channel of δ1 that reads x1 and is read by δ2: δ2 · 2 r2 · (δ1 r1 x1).
    fn with_product(self, r1: f64, r2: f64) -> Interconnection {
        let grow = |m: &Matrix, rows: usize, columns: usize| {
            Matrix::from_fn(
                rows,
                columns,
                |i, j| if i < m.rows() && j < m.columns() { m[(i, j)] } else { 0.0 },
            )
        };
        // Order of channels: δ1 (old), δ1 (new), δ2.
        let place = [0, 2, 1];
        let (b, c) = (grow(&self.b, 3, 3), grow(&self.c, 3, 3));
        let b = Matrix::from_fn(3, 3, |i, j| if place[j] == 2 { 0.0 } else { b[(i, place[j])] });
        let mut c = Matrix::from_fn(3, 3, |i, j| c[(place[i], j)]);
        c[(1, 0)] = r1;
        let mut d = Matrix::zeros(3, 3);
        d[(2, 1)] = 2.0 * r2;
        Interconnection {
            a: self.a,
            b,
            c,
            d,
            blocks: vec![Block::Real(2), Block::Real(1)],
            is_projected: false,
        }
    }
}

#[test]
fn the_disc_of_parameters() {
    let system = disc();
    // The interconnection is the polynomial: its poles at some parameters.
    let at = system.around(&[0.3, -0.4], &[]).unwrap();
    let (q1, q2) = (1.4 + 0.33, 0.85 - 0.34);
    let s = at.a.eigenvalues().unwrap()[0];
    let value = s.powi(3)
        + (1.0 + q1 + q2) * s.powi(2)
        + (3.0 + q1 + q2) * s
        + 1.01
        + 6.0 * q1
        + 6.0 * q2
        + 2.0 * q1 * q2;
    assert!(value.norm() < 1e-10, "{value}");
    let token = CancellationToken::new();
    let found =
        stability(&system, &frequencies(&system), (f64::INFINITY, &[]), Some(LIMITS), &token).unwrap();
    let margin = 3.0 / 11.0;
    let upper = found.upper.unwrap();
    assert!((upper - margin).abs() < 1e-5, "{upper}");
    assert!(found.lower <= margin && found.lower >= margin * (1.0 - 1.1e-3), "{}", found.lower);
    let worst = found.worst.unwrap();
    assert!((worst.omega - 2.2583).abs() < 1e-3, "{}", worst.omega);
    let q = [1.4 + 1.1 * worst.delta[0], 0.85 + 0.85 * worst.delta[1]];
    assert!((q[0] - 1.1).abs() < 1e-4 && (q[1] - 1.0).abs() < 0.02, "{q:?}");
}

/// Two carts with a spring and a controller of third order, parameters ±20 %.
fn carts() -> Interconnection {
    // States: x1, v1, x2, v2, then the controller's. m1 v1' = u + k(x2 − x1), m2 v2' = k(x1 − x2), y = x2,
    // u = −C(y). 1/m = 1/(1 + 0.2δ): v' = F − 0.2 w, w = δ v', z = v'.
    let n = 7;
    let mut a = Matrix::zeros(n, n);
    // (s+1)/(0.001s+1) = 1000 − 999·1000/(s + 1000): x' = −1000 x + u, y = 1000 u − 999000 x.
    let stages: Vec<usize> = vec![4, 5, 6];
    // What the controller gives, as a row over the states: u = −100·c3, with y1 = x2.
    let mut signal = vec![0.0; n];
    signal[2] = 1.0;
    for stage in stages {
        for j in 0..n {
            a[(stage, j)] = signal[j];
        }
        a[(stage, stage)] += -1000.0;
        let mut next: Vec<f64> = signal.iter().map(|x| 1000.0 * x).collect();
        next[stage] -= 999_000.0;
        signal = next;
    }
    let force: Vec<f64> = signal.iter().map(|x| -100.0 * x).collect();
    a[(0, 1)] = 1.0;
    a[(2, 3)] = 1.0;
    let mut first = force.clone();
    first[0] -= 1.0;
    first[2] += 1.0;
    let mut second = vec![0.0; n];
    second[0] += 1.0;
    second[2] -= 1.0;
    for j in 0..n {
        a[(1, j)] += first[j];
        a[(3, j)] += second[j];
    }
    // w = (w_m1, w_m2, w_k): k changes by 0.2 δ (x2 − x1).
    let mut b = Matrix::zeros(n, 3);
    b[(1, 0)] = -0.2;
    b[(1, 2)] = 0.2;
    b[(3, 1)] = -0.2;
    b[(3, 2)] = -0.2;
    let c = Matrix::from_fn(3, n, |i, j| match i {
        0 => first[j],
        1 => second[j],
        _ => [-1.0, 0.0, 1.0].get(j).copied().unwrap_or(0.0),
    });
    let d = Matrix::from_fn(3, 3, |i, j| match (i, j) {
        (0, 0) | (1, 1) => -0.2,
        (0, 2) => 0.2,
        (1, 2) => -0.2,
        _ => 0.0,
    });
    Interconnection { a, b, c, d, blocks: vec![Block::Real(1); 3], is_projected: false }
}

#[test]
fn two_carts() {
    let system = carts();
    let token = CancellationToken::new();
    let found = stability(&system, &frequencies(&system), (5.0, &[]), Some(LIMITS), &token).unwrap();
    let upper = found.upper.unwrap();
    assert!((upper - 2.886359).abs() < 2e-6, "{upper}");
    assert!(found.lower <= upper && found.lower >= upper * (1.0 - 1e-2), "{}", found.lower);
    assert!((found.worst.unwrap().omega - 575.034).abs() < 1e-2);
}

#[test]
fn an_unstable_model_has_no_margin() {
    let system = inner(&[&[1.0]], &[&[0.1]], &[&[1.0]], &[&[0.0]], &[Block::Real(1)]);
    let found = stability(&system, &frequencies(&system), (10.0, &[]), None, &CancellationToken::new());
    assert_eq!(found, Err(NoMargin::Unstable(Complex64::ONE)));
}

#[test]
fn poles_at_zero_that_nothing_moves_are_set_aside() {
    // v' = −(1 + 0.5δ) v, x' = v: the position moves nothing. Stable up to δ = −2.
    let system =
        inner(&[&[-1.0, 0.0], &[1.0, 0.0]], &[&[-0.5], &[0.0]], &[&[1.0, 0.0]], &[&[0.0]], &[Block::Real(1)]);
    let found =
        stability(&system, &frequencies(&system), (10.0, &[]), Some(LIMITS), &CancellationToken::new())
            .unwrap();
    assert_eq!(found.fixed.len(), 1);
    assert_eq!((found.fixed[0].value, found.fixed[0].states.as_slice()), (Complex64::ZERO, &[1][..]));
    assert!(
        (found.upper.unwrap() - 2.0).abs() < 1e-6 && found.lower > 1.97 && found.lower <= 2.0,
        "{found:?}"
    );
    // An oscillator without damping that a parameter can push over.
    let system =
        inner(&[&[0.0, 1.0], &[-1.0, 0.0]], &[&[0.0], &[1.0]], &[&[0.0, 1.0]], &[&[0.0]], &[Block::Real(1)]);
    let found =
        stability(&system, &frequencies(&system), (10.0, &[]), Some(LIMITS), &CancellationToken::new())
            .unwrap();
    assert_eq!((found.lower, found.upper), (0.0, Some(0.0)));
}

/// Two flows fill an amount each, and a third through levers m₁ and m₂: m₁ x₁ + m₂ x₂ − x₃ is conserved whatever the
/// levers are, and what x₃ does to the flows may make the rest unstable.
fn levers(random: &mut Random) -> (Interconnection, [[f64; 2]; 3]) {
    let mut pair = || [0.5 + random.symmetric().abs(), 0.5 + random.symmetric().abs()];
    let (a, m, g) = (pair(), pair(), pair());
    let g = [g[0], -g[1]];
    // f = −a x − g x₃, where m and g are uncertain by half of themselves.
    let flow = |i: usize| -> Vec<f64> {
        (0..3)
            .map(|j| {
                if j == i {
                    -a[i]
                } else if j == 2 {
                    -g[i]
                } else {
                    0.0
                }
            })
            .collect()
    };
    let third: Vec<f64> = (0..3).map(|j| m[0] * flow(0)[j] + m[1] * flow(1)[j]).collect();
    let states = Matrix::from_rows(3, &[flow(0), flow(1), third]);
    // w of the levers fills the third; w of g acts on the flows, and through the levers on the third.
    let b = Matrix::from_rows(
        4,
        &[
            vec![0.0, 0.0, -0.5 * g[0], 0.0],
            vec![0.0, 0.0, 0.0, -0.5 * g[1]],
            vec![0.5 * m[0], 0.5 * m[1], -0.5 * m[0] * g[0], -0.5 * m[1] * g[1]],
        ],
    );
    let c = Matrix::from_rows(3, &[flow(0), flow(1), vec![0.0, 0.0, 1.0], vec![0.0, 0.0, 1.0]]);
    let d = Matrix::from_rows(
        4,
        &[vec![0.0, 0.0, -0.5 * g[0], 0.0], vec![0.0, 0.0, 0.0, -0.5 * g[1]], vec![0.0; 4], vec![0.0; 4]],
    );
    (Interconnection { a: states, b, c, d, blocks: vec![Block::Real(1); 4], is_projected: false }, [a, m, g])
}

/// Amounts whose conserved combination depends on parameters are set aside, and the margin is that of the rest.
#[test]
fn conserved_amounts_that_depend_on_parameters_are_set_aside() {
    let mut unstable = 0;
    for seed in 0..5 {
        let mut random = Random::new(seed);
        let (system, [a, m, g]) = levers(&mut random);
        // x₃ = m x leaves −(diag a + g mᵀ), of the second order: stable by its trace and determinant.
        let stable = |delta: &[f64]| {
            let part = |list: [f64; 2], from: usize| [0, 1].map(|i| list[i] * (1.0 + 0.5 * delta[from + i]));
            let (m, g) = (part(m, 0), part(g, 2));
            let trace = a[0] + a[1] + g[0] * m[0] + g[1] * m[1];
            let determinant = (a[0] + g[0] * m[0]) * (a[1] + g[1] * m[1]) - g[0] * m[1] * g[1] * m[0];
            trace > 0.0 && determinant > 0.0
        };
        let result = stability(&system, &frequencies(&system), (2.0, &[]), None, &CancellationToken::new());
        if !stable(&[0.0; 4]) {
            assert!(matches!(result, Err(NoMargin::Unstable(_))), "seed {seed}: {result:?}");
            continue;
        }
        let found = result.unwrap();
        assert_eq!(found.fixed.len(), 1, "seed {seed}");
        assert!(found.lower > 0.0, "seed {seed}");
        for _ in 0..2000 {
            let delta: Vec<f64> = (0..4).map(|_| found.lower * random.symmetric()).collect();
            assert!(stable(&delta), "seed {seed}: {} is proved, and {delta:?} is not stable", found.lower);
        }
        if let Some(worst) = &found.worst {
            unstable += 1;
            assert!(
                !stable(&worst.delta.iter().map(|x| x * (1.0 + 1e-6)).collect::<Vec<_>>()),
                "seed {seed}"
            );
        }
    }
    assert!(unstable >= 2, "{unstable}");
}

/// A chain of masses with springs and dampers, all of them uncertain: 3 parameters a mass, each once.
fn chain(masses: usize) -> Interconnection {
    let n = 2 * masses;
    let (k, d) = (10.0, 0.4);
    // z: spring deflections, damper rates, accelerations; w: what their tolerances of 10 % add.
    let deflection = |i: usize, state: usize| match state {
        s if s == 2 * i => 1.0,
        s if i > 0 && s == 2 * (i - 1) => -1.0,
        _ => 0.0,
    };
    let rate = |i: usize, state: usize| if state == 0 { 0.0 } else { deflection(i, state - 1) };
    let force = |i: usize, state: usize| k * deflection(i, state) + d * rate(i, state);
    let acceleration =
        |i: usize, state: usize| -force(i, state) + if i + 1 < masses { force(i + 1, state) } else { 0.0 };
    let channels = 3 * masses;
    Interconnection {
        a: Matrix::from_fn(n, n, |i, j| match i % 2 {
            0 => f64::from(u8::from(j == i + 1)),
            _ => acceleration(i / 2, j),
        }),
        b: Matrix::from_fn(n, channels, |i, c| {
            let (kind, at, mass) = (c / masses, c % masses, i / 2);
            match (i % 2, kind) {
                (0, _) => 0.0,
                (_, 2) => {
                    if at == mass {
                        -1.0
                    } else {
                        0.0
                    }
                }
                _ => {
                    if at == mass {
                        -1.0
                    } else if at == mass + 1 {
                        1.0
                    } else {
                        0.0
                    }
                }
            }
        }),
        c: Matrix::from_fn(channels, n, |c, j| {
            let (kind, at) = (c / masses, c % masses);
            0.1 * match kind {
                0 => k * deflection(at, j),
                1 => d * rate(at, j),
                _ => acceleration(at, j),
            }
        }),
        d: Matrix::from_fn(channels, channels, |c, w| {
            let (kind, at) = (c / masses, c % masses);
            if kind < 2 {
                return 0.0;
            }
            let (source, from) = (w / masses, w % masses);
            0.1 * match source {
                2 => {
                    if from == at {
                        -1.0
                    } else {
                        0.0
                    }
                }
                _ => {
                    if from == at {
                        -1.0
                    } else if from == at + 1 {
                        1.0
                    } else {
                        0.0
                    }
                }
            }
        }),
        blocks: vec![Block::Real(1); channels],
        is_projected: false,
    }
}

/// Work ends with its budget, with bounds that are true whatever it was, and more of it proves more.
#[test]
fn bounds_end_with_their_budget() {
    let system = chain(4);
    let mut random = Random::new(3);
    let mut proved = Vec::new();
    for work in [10_000_000, 200_000_000, 3_000_000_000] {
        let token = CancellationToken::new().with_budget(work);
        let found =
            stability(&system, &frequencies(&system), (f64::INFINITY, &[]), Some(LIMITS), &token).unwrap();
        let upper = found.upper.unwrap_or(f64::INFINITY);
        assert!(found.lower <= upper, "{work}: {} {upper}", found.lower);
        for _ in 0..100 {
            let size = 0.999 * found.lower.min(1e3);
            let delta: Vec<f64> = (0..system.parameters())
                .map(|_| if random.symmetric() > 0.0 { size } else { -size })
                .collect();
            assert!(system.around(&delta, &[]).unwrap().a.abscissa().unwrap() < 1e-9, "{work}: {delta:?}");
        }
        proved.push(found.lower);
    }
    assert!(proved[2] > 0.0 && proved[2] >= proved[0], "{proved:?}");
}
