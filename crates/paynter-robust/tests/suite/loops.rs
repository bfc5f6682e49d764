//! Margins and step figures of loops whose answers are known in closed form.

use paynter_robust::Matrix;
use paynter_robust::loops::OpenLoop;
use paynter_robust::step::step_response;

/// k/(s (s + 1) (s + 2)) in controllable form.
fn third_order(k: f64) -> OpenLoop {
    let a = [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.0, -2.0, -3.0]];
    OpenLoop::new(
        Matrix::from_fn(3, 3, |i, j| a[i][j]),
        Matrix::from_fn(3, 1, |i, _| if i == 2 { k } else { 0.0 }),
        Matrix::from_fn(1, 3, |_, j| if j == 0 { 1.0 } else { 0.0 }),
        0.0,
    )
}

#[test]
fn the_margins_of_a_third_order_loop() {
    let margins = third_order(2.0).margins();
    // Phase −180° at √2, where |L| = k/6.
    let gain = margins.gain.unwrap();
    assert!((gain.value - 3.0).abs() < 1e-9 && (gain.omega - 2f64.sqrt()).abs() < 1e-9, "{gain:?}");
    assert!(margins.stable && margins.least_gain.is_none());
    // |L| = 1: ω²(ω² + 1)(ω² + 4) = 4.
    let w = margins.crossovers[0];
    assert!((w * w * (w * w + 1.0) * (w * w + 4.0) - 4.0).abs() < 1e-9 && margins.crossovers.len() == 1);
    let phase = 90.0 - w.atan().to_degrees() - (w / 2.0).atan().to_degrees();
    assert!((margins.phase.unwrap().value - phase).abs() < 1e-8);
    assert!((margins.delay.unwrap().value - phase.to_radians() / w).abs() < 1e-9);
    // The disk margin is smaller than what gain and phase margin alone allow.
    let alpha = margins.disk.unwrap().value;
    assert!((2.0 + alpha) / (2.0 - alpha) < 3.0 && 2.0 * (alpha / 2.0).atan().to_degrees() < phase);
}

/// An unstable loop has no phase and no delay to lose; its factors are those that make it stable.
#[test]
fn a_loop_that_is_not_stable_has_no_margins_but_factors() {
    let margins = third_order(7.0).margins();
    assert!(!margins.stable && margins.phase.is_none() && margins.delay.is_none() && margins.disk.is_none());
    assert!((margins.least_gain.unwrap().value - 6.0 / 7.0).abs() < 1e-9 && margins.gain.is_none());
    let [(low, high)] = margins.stabilising[..] else { panic!("{margins:?}") };
    assert!(low == 0.0 && (high - 6.0 / 7.0).abs() < 1e-9);
    // k (s + 1)²/s³ is stable above k = 1/2 only: s³ + k s² + 2k s + k.
    let a = [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, 0.0]];
    let conditional = |k: f64| {
        let read = [k, 2.0 * k, k];
        OpenLoop::new(
            Matrix::from_fn(3, 3, |i, j| a[i][j]),
            Matrix::from_fn(3, 1, |i, _| if i == 2 { 1.0 } else { 0.0 }),
            Matrix::from_fn(1, 3, |_, j| read[j]),
            0.0,
        )
        .margins()
    };
    let margins = conditional(0.25);
    assert!(!margins.stable && (margins.gain.unwrap().value - 2.0).abs() < 1e-9, "{margins:?}");
    assert!(margins.least_gain.is_none() && margins.stabilising.len() == 1);
    let margins = conditional(1.0);
    assert!(margins.stable && (margins.least_gain.unwrap().value - 0.5).abs() < 1e-9, "{margins:?}");
    // 1/(s² (s + 1)) is stable with no factor: a crossing factor would make nothing stable.
    let rows = [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, -1.0]];
    let never = OpenLoop::new(
        Matrix::from_fn(3, 3, |i, j| rows[i][j]),
        Matrix::from_fn(3, 1, |i, _| if i == 2 { 1.0 } else { 0.0 }),
        Matrix::from_fn(1, 3, |_, j| if j == 0 { 1.0 } else { 0.0 }),
        0.0,
    );
    let margins = never.margins();
    assert!(!margins.stable && margins.stabilising.is_empty() && margins.gain.is_none(), "{margins:?}");
}

/// L = 2k (s + 5)/(s + 10): above one at all frequencies for k = 3, so that the smallest delay leaves poles in the right
/// half plane; with k = 0.7 it crosses one at a finite frequency, if at all.
#[test]
fn a_gain_above_one_at_infinity_leaves_no_delay() {
    let lead = |k: f64| {
        let row = |x: f64| Matrix::from_fn(1, 1, |_, _| x);
        OpenLoop::new(row(-10.0), row(1.0), row(-10.0 * k), 2.0 * k)
    };
    assert_eq!(lead(3.0).margins().delay.map(|at| at.value), Some(0.0));
    assert_eq!(lead(0.4).margins().delay, None);
}

#[test]
fn injection_gives_the_same_loop() {
    // y = L v closed: with d added to y before its readers, −y/(y + d) is L again.
    let open = third_order(2.0);
    // Closed by hand: x' = A x + B v, y = −C x, v = y + d.
    let a = [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [-2.0, -2.0, -3.0]];
    let found = OpenLoop::from_injection(
        &Matrix::from_fn(3, 3, |i, j| a[i][j]),
        &Matrix::from_fn(3, 1, |i, _| if i == 2 { 2.0 } else { 0.0 }),
        &Matrix::from_fn(1, 3, |_, j| if j == 0 { -1.0 } else { 0.0 }),
        0.0,
    )
    .unwrap();
    for omega in [0.1, 1.0, 7.0] {
        assert!((found.at(omega) - open.at(omega)).norm() < 1e-12 * open.at(omega).norm());
    }
}

#[test]
fn the_step_figures_of_a_second_order_model() {
    for (damping, frequency) in [(0.3, 2.0), (0.7, 50.0), (0.05, 1e-3)] {
        let (z, w): (f64, f64) = (damping, frequency);
        let a = [[0.0, 1.0], [-w * w, -2.0 * z * w]];
        let found = step_response(
            &Matrix::from_fn(2, 2, |i, j| a[i][j]),
            &Matrix::from_fn(2, 1, |i, _| if i == 1 { 3.0 * w * w } else { 0.0 }),
            &Matrix::from_fn(1, 2, |_, j| if j == 0 { 1.0 } else { 0.0 }),
            0.0,
        )
        .unwrap();
        let figures = found.figures;
        assert!((figures.final_value - 3.0).abs() < 1e-9);
        let root = (1.0 - z * z).sqrt();
        let overshoot = 100.0 * (-std::f64::consts::PI * z / root).exp();
        assert!((figures.overshoot.unwrap() - overshoot).abs() < 1e-4, "{figures:?} {overshoot}");
        assert!((figures.peak_time * w * root / std::f64::consts::PI - 1.0).abs() < 1e-5);
        // Against the exact response.
        for k in 1..40 {
            let t = f64::from(k) * 0.2 / w;
            let exact = 3.0 * (1.0 - (-z * w * t).exp() / root * (root * w * t + z.acos()).sin());
            assert!((found.at(t) - exact).abs() < 1e-5, "{t}: {} {exact}", found.at(t));
        }
    }
}

#[test]
fn a_response_that_does_not_settle_has_no_figures() {
    let one = |x: f64| Matrix::from_fn(1, 1, |_, _| x);
    assert!(step_response(&one(0.5), &one(1.0), &one(1.0), 0.0).is_none());
    // An integrator that nobody reads is no obstacle.
    let found = step_response(
        &Matrix::from_fn(2, 2, |i, j| [[-1.0, 0.0], [1.0, 0.0]][i][j]),
        &Matrix::from_fn(2, 1, |i, _| if i == 0 { 1.0 } else { 0.0 }),
        &Matrix::from_fn(1, 2, |_, j| if j == 0 { 1.0 } else { 0.0 }),
        0.0,
    )
    .unwrap();
    assert!((found.figures.rise_time.unwrap() - 9f64.ln()).abs() < 1e-6, "{found:?}");
    assert!((found.figures.settling_time.unwrap() - 50f64.ln()).abs() < 1e-6);
}

/// An oscillator with a damping ratio of 1/100 settles after about ln 50 of its time constants; one that hardly decays
/// would take millions of samples and counts as one that does not settle.
#[test]
fn a_response_that_hardly_decays_has_no_figures() {
    let oscillator = |w: f64, z: f64| {
        let a = [[0.0, 1.0], [-w * w, -2.0 * z * w]];
        step_response(
            &Matrix::from_fn(2, 2, |i, j| a[i][j]),
            &Matrix::from_fn(2, 1, |i, _| if i == 1 { w * w } else { 0.0 }),
            &Matrix::from_fn(1, 2, |_, j| if j == 0 { 1.0 } else { 0.0 }),
            0.0,
        )
    };
    for w in [1e-3, 1.0, 1e6] {
        let settling = oscillator(w, 0.01).unwrap().figures.settling_time.unwrap();
        assert!((settling * 0.01 * w / 50f64.ln() - 1.0).abs() < 0.02, "{settling}");
        assert!(oscillator(w, 1e-5).is_none());
    }
}

/// K/(s (s² + a s + b)) crosses the real axis at √b by Routh, which often is a round number: samples then fall on the
/// crossing itself.
#[test]
fn crossings_at_round_numbers_are_found() {
    for b in [1.0, 2.0, 4.0, 9.0, 16.0, 25.0, 100.0, 3600.0] {
        for a in [0.5, 1.0, 2.0, 3.0, 4.0, 6.0] {
            for k in [0.25, 1.0, 2.0, 4.0, 5.0, 8.0, 14400.0] {
                let rows = [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.0, -b, -a]];
                let whole = OpenLoop::new(
                    Matrix::from_fn(3, 3, |i, j| rows[i][j]),
                    Matrix::from_fn(3, 1, |i, _| if i == 2 { k } else { 0.0 }),
                    Matrix::from_fn(1, 3, |_, j| if j == 0 { 1.0 } else { 0.0 }),
                    0.0,
                );
                let margins = whole.margins();
                let factor: f64 = a * b / k;
                if factor == 1.0 {
                    continue;
                }
                let found = if factor >= 1.0 { margins.gain } else { margins.least_gain }.unwrap();
                assert!((found.value / factor - 1.0).abs() < 1e-9, "a {a} b {b} k {k}: {found:?}");
                assert!((found.omega / b.sqrt() - 1.0).abs() < 1e-9);
                assert_eq!(margins.stable, factor > 1.0);
            }
        }
    }
}

/// The loop of a controller with an integrator and a plant with another, as it is left when it is opened: its gain is
/// that of the quotient of polynomials from far below to far above what it does, and no frequency comes of rounding.
#[test]
fn a_double_integrator_stays_one_when_a_loop_is_opened() {
    // x' = v, v' = (u − r v)/m, z' = −x, u = −K x + Ki z + d: the loop gain is (K s + Ki)/(s² (m s + r)).
    let (m, r, k, ki) = (2.5, 3.7, 2.2, 0.44);
    // With a state that the loop does not read.
    let a =
        [[0.0, 1.0, 0.0, 0.0], [-k / m, -r / m, ki / m, 0.0], [-1.0, 0.0, 0.0, 0.0], [0.3, 0.1, 0.0, -7.0]];
    let whole = Matrix::from_fn(4, 4, |i, j| a[i][j]);
    let b = Matrix::from_fn(4, 1, |i, _| if i == 1 { 1.0 / m } else { 0.0 });
    let c = Matrix::from_fn(1, 4, |_, j| [-k, 0.0, ki, 0.0][j]);
    let opened = OpenLoop::from_injection(&whole, &b, &c, 0.0).unwrap();
    assert_eq!(opened.poles().iter().filter(|pole| pole.norm() == 0.0).count(), 2, "{:?}", opened.poles());
    let grid = opened.frequencies();
    assert!(grid[0] > 1e-4 && grid[grid.len() - 1] < 1e4, "{} {}", grid[0], grid[grid.len() - 1]);
    for omega in (-12..=6).map(|k| 10f64.powi(k)).chain(grid) {
        let s = num_complex::Complex64::new(0.0, omega);
        let exact = (s * k + ki) / (s * s * (s * m + r));
        let error = (opened.at(omega) - exact).norm() / exact.norm();
        assert!(error < 1e-9, "{omega}: {error}");
    }
}
