//! Events: switches, friction that sticks, surfaces along which motion slides,
//! and what happens to sensitivities there, against closed solutions.

#![allow(clippy::unwrap_used, clippy::panic)]

use crate::zoo;

use paynter_simulate::{Failure, Method, Note, Options, Outcome, Wanted};
use zoo::{Problem, Run, gradient, run, times};

const ADAPTIVE: [Method; 3] = [Method::Tsit5, Method::Dop853, Method::Stiff];

/// A closed solution: the outputs at a time, with these parameters.
type Closed<'a> = &'a dyn Fn(f64, &[f64]) -> Vec<f64>;

fn tight(end: f64, times: Vec<f64>, method: Method) -> Options {
    Options { t_end: end, times, rtol: 1e-10, max_steps: 100_000, method, ..Options::default() }
}

fn solved(problem: &mut Problem, wanted: &[Wanted], options: &Options) -> (Run, Outcome) {
    let model = problem.compile(wanted);
    let p = problem.parameters();
    let (run, outcome) = run(&model, &p, options);
    assert_eq!(outcome.failure, None, "{outcome:?}");
    (run, outcome)
}

/// Compares a run, its sensitivities to all parameters and the gradient by the adjoint with a closed solution,
/// whose derivatives are differences.
fn judge(text: &str, end: f64, accuracy: f64, closed: Closed<'_>) {
    let mut problem = Problem::new(text);
    let p = problem.parameters();
    let wanted: Vec<Wanted> = (0..p.len()).map(Wanted::Parameter).collect();
    // Times of events must not lie on the grid, where the exact derivative jumps.
    let grid: Vec<f64> = times(end, 24).iter().map(|t| t * 0.997).collect();
    for method in ADAPTIVE {
        let options = tight(end, grid.clone(), method);
        let (found, outcome) = solved(&mut problem, &wanted, &options);
        assert!(outcome.stats.steps + outcome.stats.rejected < 2000, "{method:?} {:?}", outcome.stats);
        let mut sums = vec![0.0; p.len()];
        for (i, t) in grid.iter().enumerate() {
            let exact = closed(*t, &p);
            for (output, exact) in exact.iter().enumerate() {
                let y = found.y[i][output];
                assert!(
                    (y - exact).abs() <= accuracy * exact.abs().max(1.0),
                    "{method:?} output {output} at {t}: {y}, not {exact}"
                );
                for lane in 0..p.len() {
                    let step = 1e-5 * if p[lane] == 0.0 { 1.0 } else { p[lane].abs() };
                    let at = |shift: f64| {
                        let mut moved = p.clone();
                        moved[lane] += shift * step;
                        closed(*t, &moved)[output]
                    };
                    let derivative = (at(-2.0) - 8.0 * at(-1.0) + 8.0 * at(1.0) - at(2.0)) / (12.0 * step);
                    let s = found.s[i][output * p.len() + lane];
                    let name = &problem.graph.parameters[lane].name;
                    assert!(
                        (s - derivative).abs() <= 1e-6 * derivative.abs().max(1.0),
                        "{method:?} output {output} by {name} at {t}: {s}, not {derivative}"
                    );
                    sums[lane] += y * s;
                }
            }
        }
        let model = problem.compile(&wanted);
        let gradient = gradient(&model, &p, &options, &mut |_, _, y, derivative| {
            derivative.copy_from_slice(y);
            0.5 * y.iter().map(|y| y * y).sum::<f64>()
        });
        assert_eq!(gradient.outcome.failure, None);
        for (lane, sum) in sums.iter().enumerate() {
            assert!(
                (gradient.by[lane] - sum).abs() <= 1e-6 * sum.abs().max(1.0),
                "{method:?} the adjoint by {}: {}, not {sum}",
                problem.graph.parameters[lane].name,
                gradient.by[lane]
            );
        }
    }
}

/// A mass on dry friction that a growing force pulls: it sticks, then slips.
#[test]
fn friction_sticks_then_slips() {
    let text = "model sticks {
        param m = 2; param Fc = 3; param rise = 1.5
        1 motion; I mass = m; R dry { e = Fc*sign(f) }; Se pull = rise*t
        pull -> motion; motion -> mass, dry
        signal x = integral(mass.f, 0)
        output v = mass.f
        output x = x
        output force = dry.e
    }";
    judge(text, 5.0, 1e-8, &|t, p| {
        let [m, limit, rise] = [p[0], p[1], p[2]];
        let slip = (t - limit / rise).max(0.0);
        vec![
            rise / (2.0 * m) * slip.powi(2),
            rise / (6.0 * m) * slip.powi(3),
            if slip > 0.0 { limit } else { rise * t },
        ]
    });
}

/// A sliding mass that dry friction stops, for good.
#[test]
fn friction_stops_a_mass() {
    let text = "model stops {
        param m = 2; param Fc = 3; param v0 = 2.5; param push = 1
        1 motion; I mass = m; R dry { e = Fc*sign(f) }; Se pull = push
        pull -> motion; motion -> mass, dry
        init mass.p = m*v0
        signal x = integral(mass.f, 0)
        output v = mass.f
        output x = x
    }";
    judge(text, 4.0, 1e-8, &|t, p| {
        let [m, limit, v0, push] = [p[0], p[1], p[2], p[3]];
        let brake = (limit - push) / m;
        let t = t.min(v0 / brake);
        vec![v0 - brake * t, v0 * t - 0.5 * brake * t * t]
    });
}

/// A relay drives a double integrator along a line of its plane.
#[test]
fn a_relay_slides() {
    let text = "model slides {
        param m = 1; param U = 2; param c = 1.5; param x0 = 0.6
        1 motion; I mass = m
        Se drive = if(c*x + mass.f > 0, -U, U)
        drive -> motion; motion -> mass
        signal x = integral(mass.f, x0)
        output x = x
        output v = mass.f
        output force = drive.e
    }";
    judge(text, 3.0, 1e-8, &|t, p| {
        let [m, u, c, x0] = [p[0], p[1], p[2], p[3]];
        let a = u / m;
        // c·(x0 − a t²/2) = a t on arrival.
        let arrival = (-a + (a * a + 2.0 * c * c * a * x0).sqrt()) / (c * a);
        let at = |t: f64| (x0 - 0.5 * a * t * t, -a * t);
        if t < arrival {
            let (x, v) = at(t);
            return vec![x, v, -u];
        }
        let x = at(arrival).0 * (-c * (t - arrival)).exp();
        vec![x, -c * x, m * c * c * x]
    });
}

/// Dry friction without a mass: the flow itself is the unknown whose sign switches the law.
#[test]
fn friction_holds_within_a_loop() {
    let text = "model held {
        param R = 2; param Fc = 3; param C = 0.5; param rise = 1.5
        1 motion; R wet = R; R dry { e = Fc*sign(f) + f }; C spring = C; Se pull = rise*t
        pull -> motion; motion -> wet, dry, spring
        output e = spring.e
        output f = dry.f
    }";
    judge(text, 5.0, 1e-8, &|t, p| {
        let [r, limit, c, rise] = [p[0] + 1.0, p[1], p[2], p[3]];
        let since = (t - limit / rise).max(0.0);
        // r·f + e = rise·since, e' = f/c.
        let tau = r * c;
        let f = rise * c * (1.0 - (-since / tau).exp());
        vec![rise * since - r * f, f]
    });
}

/// Events of one time that each move with a parameter of their own.
/// A flow that grows through dry friction beside a root, which is infinitely steep where friction holds
/// at first; and beside the same law the other way round, which is flat there.
#[test]
fn friction_holds_beside_a_root() {
    for law in ["R r { f = k*sign(e)*sqrt(abs(e)) }", "R r { e = f*abs(f)/k^2 }"] {
        let text = format!(
            "model m {{ param w = 3; param F = 1.2; param k = 0.7
            0 j; Sf s = w*t; R z {{ f = F*sign(e) }}; {law}
            s -> j; j -> z, r
            signal x = integral(r.e, 0)
            output e = r.e; output x = x; output f = z.f }}"
        );
        judge(&text, 1.0, 1e-7, &|t, p| {
            let [w, force, k] = p else { panic!() };
            let left = (w * t - force).max(0.0);
            vec![(left / k).powi(2), left.powi(3) / (3.0 * w * k * k), (w * t).min(*force)]
        });
    }
}

/// Two frictions that hold each other in one algebraic loop, and slip one after the other.
#[test]
fn frictions_hold_each_other() {
    let text = "model m { param w = 2; param F = 1; param G = 0.4; param k = 0.5
        1 j; 0 n; Se s = w*t; R a { e = F*sign(f) }; R b { f = G*sign(e) }; R r = 1; R g = k
        s -> j; j -> a, r, n; n -> b, g
        signal x = integral(a.f, 0)
        output f = a.f; output e = b.e; output x = x }";
    // The flow is s − F through the resistor, up to G; beyond that the second resistor takes part.
    judge(text, 1.0, 1e-7, &|t, p| {
        let [w, first, second, k] = p else { panic!() };
        let through = |left: f64| if left <= *second { left } else { (left + k * second) / (1.0 + k) };
        let left = (w * t - first).max(0.0);
        let flow = through(left);
        let x = if left <= *second {
            left * left / (2.0 * w)
        } else {
            let beyond = left - second;
            (second * second / 2.0 + second * beyond + beyond * beyond / (2.0 * (1.0 + k))) / w
        };
        vec![flow, k * (flow - second).max(0.0), x]
    });
}

/// Storages on one junction from rest: the one whose law is flat there carries the charge at first.
#[test]
fn flat_storages_start_from_rest() {
    let text = "model m { param w = 2; param k = 3
        0 j; Sf s = w; C c1 = 1; C c2 { e = k*q^3 }
        s -> j; j -> c1, c2
        output q = c2.q; output e = c1.e }";
    judge(text, 1.0, 1e-7, &|t, p| {
        let [w, k] = p else { panic!() };
        // k q³ + q = w t.
        let mut q = w * t;
        for _ in 0..60 {
            q -= (k * q.powi(3) + q - w * t) / (3.0 * k * q * q + 1.0);
        }
        vec![q, k * q.powi(3)]
    });
}

#[test]
fn events_of_one_time_move_apart() {
    let text = "model together {
        param t1 = 1; param t2 = 1; param C = 0.5; param a = 2
        Sf source = step(t1) + a*step(t2)
        0 node; C cap = C
        source -> node; node -> cap
        output e = cap.e
    }";
    judge(text, 2.0, 1e-9, &|t, p| vec![((t - p[0]).max(0.0) + p[3] * (t - p[1]).max(0.0)) / p[2]]);
}

/// Two switches of one condition, written differently, change at once.
/// q + 2·e(q) = 2·U has no solution where e(q) bends down.
#[test]
fn a_jump_may_have_no_end() {
    let text = "model series { param U = 3; param k = 0.5
        Se source = U*step(0.7); 1 loop; C a { e = -k*q^2 }; C b = 2; 0 node; R leak = 4
        source -> loop; loop -> node, b; node -> a, leak; output q = a.q }";
    let mut problem = Problem::new(text);
    let model = problem.compile(&[]);
    for (effort, fails) in [(3.0, true), (0.05, false)] {
        let mut p = problem.parameters();
        p[0] = effort;
        let (_, outcome) = run(&model, &p, &tight(0.8, vec![0.8], Method::Auto));
        let failed = matches!(outcome.failure, Some(Failure::NoJump { t: 0.7, state: 0 }));
        assert_eq!((failed, outcome.failure.is_some()), (fails, fails), "{outcome:?}");
    }
}

/// An impulse through a law that is not linear has no size.
#[test]
fn an_impulse_may_be_nowhere_defined() {
    let text = "model m { param U = 3; Se source = U*step(0.7); 0 node; C c = 2; R r = 1
        source -> node; node -> c, r; signal w = integral(tanh(c.f)); output w = w }";
    let mut problem = Problem::new(text);
    let model = problem.compile(&[]);
    let p = problem.parameters();
    for (end, failure) in [(0.6, None), (0.8, Some(Failure::NoJump { t: 0.7, state: 0 }))] {
        assert_eq!(run(&model, &p, &tight(end, vec![end], Method::Auto)).1.failure, failure);
    }
}

/// Storages whose functions read each other's rates are states, and what their laws switch on over those
/// rates is no event of its own.
#[test]
fn storages_that_read_rates_may_switch() {
    let text = "model m { param a = 0.3; param r = 0.8
        0 one; 0 other; 1 loop; MGY gy = 3*cos(i.p); I i = 1; C c = 0.5; C d = 0.7; R m = r; Se s = 1
        R z { f = a*sign(e) }
        s -> loop; one -> loop; loop -> i, m; gy.2 -> one; gy.1 -> other; one -> c; other -> d, z
        output e = d.e; output q = c.q }";
    let mut problem = Problem::new(text);
    let of = |method| solved(&mut problem, &[Wanted::Parameter(0)], &tight(1.0, vec![1.0], method)).0;
    let [explicit, stiff] = [Method::Tsit5, Method::Stiff].map(of);
    for (a, b) in explicit.y[0].iter().chain(&explicit.s[0]).zip(stiff.y[0].iter().chain(&stiff.s[0])) {
        assert!((a - b).abs() < 1e-6, "{explicit:?} {stiff:?}");
    }
}

/// A relay begins to slide in a loop, beside a storage that a friction holds at zero: were it not held
/// itself, its jump would push the storage away.
#[test]
fn a_relay_slides_beside_what_is_held() {
    let text = "model m { param U = 3; param u = 1; param w = 4; param r = 1.1; param f0 = 0.5; param C = 0.9
        param a = 2.5
        Se s = U; MSe relay = if(x.f > f0, -u, w); 1 loop; R x = r; C d = C; 0 node; C c = 0.4
        R z { f = a*sign(e) }; s -> loop; relay -> loop; loop -> x, d, node; node -> c, z
        output q = d.q; output e = c.e }";
    judge(text, 5.0, 1e-6, &|t, p| {
        let [up, down, more, r, f0, c, _] = p else { panic!() };
        let decay = |push: f64, q0: f64, t: f64| c * push + (q0 - c * push) * (-t / (r * c)).exp();
        let begins = r * c * ((up - down) / (r * f0)).ln();
        let held = c * (up - down - r * f0);
        if t < begins {
            return vec![decay(up - down, 0.0, t), 0.0];
        }
        let ends = begins + (c * (up + more - r * f0) - held) / f0;
        assert!(ends > 5.0);
        vec![held + f0 * (t - begins), 0.0]
    });
}

/// Two frictions hold beside a switch that carries nothing, and a step breaks both loose: each mode moves
/// the functions of the others.
#[test]
fn frictions_break_loose_together() {
    let text =
        "model m { param m = 5; param a = 0.5; param b = 1.8; param c = 0.7; param w = 0.3; param p = 4
        param t1 = 1; param r0 = 2.25
        0 left; 1 between; 0 right; R r = m; R x = c; R y { e = a*sign(f) }; R z { f = b*sign(e) }
        GY gy = 12; Sw valve when (valve.e > 0) { Ron = r0 }
        Sf pull = -p*step(t1); Se push = w; Sf feed = step(t1)
        left -> between; right -> between; left -> r; x -> right; right -> gy; valve -> gy.2
        pull -> left; feed -> right; push -> between; between -> y; left -> z
        signal q = integral(r.e); output e = r.e; output q = q }";
    judge(text, 2.0, 1e-7, &|t, p| {
        let [m, a, b, c, w, p, t1, r0] = p else { panic!() };
        let k = 1.0 / (1.0 / c + r0 / 144.0);
        let e = if t < *t1 { 0.0 } else { -(w + a + k * (1.0 - b + p)) / (1.0 + k / m) };
        vec![e, e * (t - t1)]
    });
}

/// A sample at a step of an input shows what comes after it, also where the run ends there.
#[test]
fn a_run_may_end_at_a_step() {
    let text = "model m { param a = 2; input u = a*step(0.5) + pulse(1, 1.5)
        1 j; Se s = u; R r = 1; I i = 1; s -> j; j -> r, i; output e = i.e; output u = u }";
    for method in [Method::Tsit5, Method::Dop853, Method::Stiff, Method::Euler, Method::Rk4] {
        let mut problem = Problem::new(text);
        for at in [0.5, 1.0, 1.5] {
            let step = Some(0.01);
            let ends = Options { step, ..tight(at, vec![0.0, at], method) };
            let goes_on = Options { step, ..tight(2.0, vec![0.0, at], method) };
            let [short, long] =
                [ends, goes_on].map(|options| solved(&mut problem, &[Wanted::Parameter(0)], &options).0);
            let pulse = f64::from(u8::from(at == 1.0));
            assert_eq!(short.y[1][1], 2.0 + pulse, "{method:?} at {at}");
            for (a, b) in short.y[1].iter().zip(&long.y[1]).chain(short.s[1].iter().zip(&long.s[1])) {
                assert!((a - b).abs() < 1e-7, "{method:?} at {at}: {short:?} {long:?}");
            }
        }
    }
}

#[test]
fn two_switches_of_one_condition() {
    let text = "model twice {
        param C = 0.5; param limit = 1.2; param a = 1; param b = 0.5
        Sf source = if(cap.e < limit, a, 0.3*a) + if(2*limit > 2*cap.e, b, -0.2*b)
        0 node; C cap = C
        source -> node; node -> cap
        output e = cap.e
    }";
    judge(text, 2.0, 1e-9, &|t, p| {
        let [c, limit, a, b] = [p[0], p[1], p[2], p[3]];
        let arrival = limit * c / (a + b);
        vec![if t < arrival { (a + b) * t / c } else { limit + (0.3 * a - 0.2 * b) * (t - arrival) / c }]
    });
}

/// Functions that are zero at the start go where the motion goes.
#[test]
fn functions_may_start_at_zero() {
    let text = "model start {
        param C = 0.5; param a = 1; param g = 2
        Sf source = a + if(cap.e > 0, g, 0) + step(0)
        0 node; C cap = C
        source -> node; node -> cap
        output e = cap.e
    }";
    let mut problem = Problem::new(text);
    let wanted = problem.wanted(&["a", "g"]);
    let (found, _) = solved(&mut problem, &wanted, &tight(1.0, vec![0.5, 1.0], Method::Auto));
    for (i, t) in [0.5, 1.0].into_iter().enumerate() {
        let expected = [8.0 * t, 2.0 * t, 2.0 * t];
        for (found, expected) in [found.y[i][0], found.s[i][0], found.s[i][1]].into_iter().zip(expected) {
            assert!((found - expected).abs() < 1e-8, "{found}, not {expected}");
        }
    }
}

/// Stick and slip without end: a mass on a belt, held by a spring. The friction falls with speed.
#[test]
fn a_mass_sticks_and_slips_on_a_belt() {
    let text = "model belt {
        param m = 1; param k = 4; param V = 0.5; param Fs = 3; param Fk = 1.5; param vs = 0.3
        1 motion; I mass = m; C spring = 1/k
        0 contact; 1 rub; R dry { e = sign(f)*(Fk + (Fs - Fk)*exp(-abs(f)/vs)) }; Sf belt = V
        belt -> contact; contact -> rub, motion; rub -> dry; motion -> mass, spring
        output v = mass.f
        output x = spring.q
    }";
    let mut problem = Problem::new(text);
    let p = problem.parameters();
    let wanted = problem.wanted(&["m", "k", "V", "Fs", "Fk", "vs"]);
    let grid: Vec<f64> = times(12.0, 121).iter().map(|t| t * 0.9991).collect();
    let (exact, outcome) = solved(&mut problem, &wanted, &tight(12.0, grid.clone(), Method::Dop853));
    // It sticks for most of the time, and slips more than once.
    let stuck = exact.y.iter().filter(|y| (y[0] - 0.5).abs() < 1e-9).count();
    assert!((30..115).contains(&stuck), "{stuck}");
    assert!((4..60).contains(&outcome.stats.events), "{:?}", outcome.stats);
    for method in ADAPTIVE {
        let (found, _) = solved(&mut problem, &wanted, &tight(12.0, grid.clone(), method));
        for i in 0..grid.len() {
            for (a, b) in found.y[i].iter().chain(&found.s[i]).zip(exact.y[i].iter().chain(&exact.s[i])) {
                assert!((a - b).abs() <= 2e-6 * b.abs().max(1.0), "{method:?} at {}: {a}, not {b}", grid[i]);
            }
        }
    }
    // Sensitivities against differences.
    let plain = problem.compile(&[]);
    for lane in 0..p.len() {
        let step = 1e-4 * p[lane];
        let at = |shift: f64| {
            let mut moved = p.clone();
            moved[lane] += shift * step;
            run(&plain, &moved, &tight(12.0, grid.clone(), Method::Dop853)).0
        };
        let (a, b, c, d) = (at(-2.0), at(-1.0), at(1.0), at(2.0));
        let mut judged = 0;
        for i in 0..grid.len() {
            for output in 0..2 {
                let near = (c.y[i][output] - b.y[i][output]) / (2.0 * step);
                let far = (d.y[i][output] - a.y[i][output]) / (4.0 * step);
                // Beside an event differences of two sizes disagree.
                if (near - far).abs() > 1e-3 * near.abs().max(1.0) {
                    continue;
                }
                let derivative = (4.0 * near - far) / 3.0;
                let s = exact.s[i][output * p.len() + lane];
                assert!(
                    (s - derivative).abs() <= 1e-4 * derivative.abs().max(1.0),
                    "{lane} at {}: {s}, not {derivative}",
                    grid[i]
                );
                judged += 1;
            }
        }
        assert!(judged > 200, "{judged}");
    }
}

/// A preloaded spring holds a mass within its preload.
#[test]
fn a_preloaded_spring_slides_at_its_preload() {
    let text = "model preload {
        param m = 1; param k = 4; param F0 = 2; param b = 3
        1 motion; I mass = m; C spring { e = F0*sign(q) + k*q }; R damper = b
        motion -> mass, spring, damper
        init spring.q = 0.5
        output x = spring.q
        output v = mass.f
    }";
    let mut problem = Problem::new(text);
    for method in ADAPTIVE {
        let options =
            Options { max_steps: 100_000, ..Options { rtol: 1e-6, ..tight(10.0, vec![10.0], method) } };
        let (found, outcome) = solved(&mut problem, &[], &options);
        assert!(outcome.stats.steps < 20_000, "{method:?} {:?}", outcome.stats);
        assert!(found.y[0].iter().all(|y| y.abs() < 1e-5), "{method:?} {:?}", found.y);
    }
}

/// A source that jumps straight into two capacitors shares its charge between them at once.
#[test]
fn states_jump_with_their_source() {
    for source in ["Se source = U*step(t0)", "input u = U*step(t0); Se source = u"] {
        let text = format!(
            "model series {{
            param c1 = 1; param c2 = 2; param U = 3; param t0 = 0.7; param R = 4
            {source}
            1 loop; C a = c1; C b = c2; 0 node; R leak = R
            source -> loop; loop -> node, b; node -> a, leak
            output e = a.e
            output q = b.q
        }}"
        );
        judge(&text, 2.0, 1e-8, &|t, p| {
            let [c1, c2, u, t0, r] = [p[0], p[1], p[2], p[3], p[4]];
            let since = t - t0;
            // (c1 + c2)·e' = −e/r after the jump by c2/(c1 + c2)·u.
            let e = if since > 0.0 { c2 / (c1 + c2) * u * (-since / (r * (c1 + c2))).exp() } else { 0.0 };
            vec![e, if since > 0.0 { c2 * (u - e) } else { 0.0 }]
        });
        let mut problem = Problem::new(&text.replace("output q = b.q", "output f = b.f"));
        let (_, outcome) = solved(&mut problem, &[], &tight(2.0, vec![2.0], Method::Auto));
        assert!(
            matches!(outcome.notes[..], [Note::Jump { t: 0.7 }, Note::Impulse { output: 1, .. }]),
            "{:?}",
            outcome.notes
        );
    }
}

/// A state that approaches `goal` with a time constant.
fn approach(from: f64, goal: f64, tau: f64, t: f64) -> f64 {
    goal + (from - goal) * (-t / tau).exp()
}

/// A button, a relay and a lamp: four events, two of them of the state.
#[test]
fn a_relay_switches_a_lamp() {
    judge(zoo::RELAY, 0.1, 1e-7, &|t, p| {
        let [u, ri, rc, lc, ion, rl, rk, gl] = [p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7]];
        let phase = |button: bool, contact: bool| {
            let g = if contact { 1.0 / (rl + rk) } else { 0.0 };
            let share = 1.0 / (1.0 + ri * g);
            let resistance = ri * share + rc + if button { rk } else { 1.0 / gl };
            (u * share / resistance, lc / resistance)
        };
        let lamp = |i: f64| {
            let g = 1.0 / (rl + rk);
            (u - ri * i) / (1.0 + ri * g) * g
        };
        let (goal, tau) = phase(false, false);
        if t < 0.01 {
            return vec![approach(0.0, goal, tau, t), 0.0];
        }
        let start = approach(0.0, goal, tau, 0.01);
        let (goal, tau) = phase(true, false);
        let closing = 0.01 + tau * ((goal - start) / (goal - ion)).ln();
        if t < closing {
            return vec![approach(start, goal, tau, t - 0.01), 0.0];
        }
        let (goal, tau) = phase(true, true);
        if t < 0.06 {
            let i = approach(ion, goal, tau, t - closing);
            return vec![i, lamp(i)];
        }
        let top = approach(ion, goal, tau, 0.06 - closing);
        let (goal, tau) = phase(false, true);
        let opening = 0.06 + tau * ((top - goal) / (ion - goal)).ln();
        if t < opening {
            let i = approach(top, goal, tau, t - 0.06);
            return vec![i, lamp(i)];
        }
        let (goal, tau) = phase(false, false);
        vec![approach(ion, goal, tau, t - opening), 0.0]
    });
}

/// A mass falls on a spring and damper and leaves them again.
#[test]
fn a_mass_bounces() {
    judge(zoo::CONTACT, 0.6, 1e-7, &|t, p| {
        let [m, k, b, g, x0] = [p[0], p[1], p[2], p[3], p[4]];
        let landing = (2.0 * x0 / g).sqrt();
        if t < landing {
            return vec![x0 - 0.5 * g * t * t, -g * t];
        }
        let (rest, v0) = (-m * g / k, -g * landing);
        let a = b / (2.0 * m);
        let w = (k / m - a * a).sqrt();
        let (c, d) = (-rest, (v0 - a * rest) / w);
        let x = |t: f64| rest + (-a * t).exp() * (c * (w * t).cos() + d * (w * t).sin());
        let v = |t: f64| (-a * t).exp() * ((d * w - a * c) * (w * t).cos() - (c * w + a * d) * (w * t).sin());
        // It leaves after about half a period.
        let mut leaving = std::f64::consts::PI / w;
        for _ in 0..50 {
            leaving -= x(leaving) / v(leaving);
        }
        let t = t - landing;
        if t < leaving {
            return vec![x(t), v(t)];
        }
        let (speed, t) = (v(leaving), t - leaving);
        vec![speed * t - 0.5 * g * t * t, speed - g * t]
    });
}

/// A threshold at the top of an oscillation: crossed for a moment if it is just below, touched if it is there.
#[test]
fn a_threshold_is_grazed() {
    let text = "model graze { param h = 1; param a = 1
        signal x = integral(a*cos(t), 0); signal above = integral(if(x > h, 1, 0), 0)
        Se s = above; R r = 1; s -> r; output y = above }";
    let mut problem = Problem::new(text);
    let model = problem.compile(&[Wanted::Parameter(0), Wanted::Parameter(1)]);
    for method in ADAPTIVE {
        let options = tight(5.0, vec![5.0], method);
        for depth in [1e-3, 1e-5, 1e-7] {
            let (found, outcome) = run(&model, &[1.0 - depth, 1.0], &options);
            let half = (1.0 - depth).acos();
            let derivative = -2.0 / half.sin();
            assert_eq!(
                (outcome.failure, outcome.stats.events),
                (None, 2),
                "{method:?} {depth} {outcome:?} {:?}",
                found.y
            );
            assert!((found.y[0][0] - 2.0 * half).abs() < 1e-8 / half, "{method:?} {depth}: {:?}", found.y);
            for (lane, exact) in [derivative, -derivative * (1.0 - depth)].into_iter().enumerate() {
                let s = found.s[0][lane];
                assert!((s - exact).abs() < 1e-2 * exact.abs(), "{method:?} {depth}: {s}, not {exact}");
            }
            assert!(outcome.notes.is_empty(), "{method:?} {depth}: {:?}", outcome.notes);
        }
        let (_, outcome) = run(&model, &[1.0, 1.0], &options);
        let grazes =
            |note: &Note| matches!(note, Note::Grazing { t, event: 0 } if (t.sin() - 1.0).abs() < 1e-3);
        assert!(outcome.notes.iter().any(grazes), "{method:?}: {outcome:?}");
        let (_, outcome) = run(&model, &[1.01, 1.0], &options);
        assert!(outcome.notes.is_empty() && outcome.stats.events == 0, "{method:?}: {outcome:?}");
    }
}

/// Wherever in a step a threshold is crossed, it is found, also where a rough sample shows it too early: one that
/// stands still, and one that moves.
#[test]
fn thresholds_are_met_anywhere_in_a_step() {
    let text = "model met { param h = 1; param w = 1
        signal x = integral(w*v, 0); signal v = integral(-w*x, 1)
        signal above = integral(if(x > LEVEL, 1, 0), 0)
        Se s = above; R r = 1; s -> r; output y = above }";
    for level in ["h", "h*exp(-1e-9*t)"] {
        let mut problem = Problem::new(&text.replace("LEVEL", level));
        for model in [problem.compile(&[]), problem.compile(&[Wanted::Parameter(0)])] {
            for method in ADAPTIVE {
                let options = Options { rtol: 1e-3, ..tight(3.2, vec![3.2], method) };
                for i in 0..244 {
                    let h = (f64::from(i) + 0.63) / 250.0;
                    let (found, outcome) = run(&model, &[h, 1.0], &options);
                    assert_eq!((outcome.failure, outcome.stats.events), (None, 2), "{method:?} {level} {h}");
                    let error = (found.y[0][0] - 2.0 * h.acos()).abs() * h.acos().sin();
                    assert!(error < 2e-3, "{method:?} {level} {h}: {error}");
                }
            }
        }
    }
}

/// A threshold that rounding hardly tells from where the motion is: no step ends closer to it than the states
/// are known, and the run goes on.
#[test]
fn a_threshold_may_be_as_fine_as_rounding() {
    let text = "model fine { param h = 0.37; param w = 3
        signal x = integral(w*v, 1); signal v = integral(-w*(x - 1), 1e-12)
        signal above = integral(if(x > 1 + 1e-12*h, 1, 0), 0)
        Se s = above; R r = 1; s -> r; output y = above }";
    let mut problem = Problem::new(text);
    for method in ADAPTIVE {
        let options = Options { rtol: 1e-6, ..tight(2.0, vec![2.0], method) };
        let (found, outcome) = solved(&mut problem, &[Wanted::Parameter(0)], &options);
        let stats = outcome.stats;
        assert!(stats.events == 2 && stats.steps + stats.rejected < 5000, "{method:?} {stats:?}");
        assert!((found.y[0][0] - 2.0 * 0.37f64.acos() / 3.0).abs() < 5e-3, "{method:?} {:?}", found.y);
    }
}

/// A law that is met by three flows: the one that goes on is taken, and where it ends the run does.
#[test]
fn a_branch_is_followed_to_its_end() {
    let text = "model fold { Se s = t - 2; 1 j; R r { e = f^3 - 3*f }; R r2 = 0.1; C c = 100
        s -> j; j -> r, r2, c; output i = r.f }";
    let mut problem = Problem::new(text);
    let model = problem.compile(&[]);
    for method in [Method::Auto, Method::Tsit5, Method::Stiff, Method::Rk4] {
        let options = Options { step: Some(1e-2), ..tight(5.0, times(5.0, 51), method) };
        let (found, outcome) = run(&model, &problem.parameters(), &options);
        assert!(matches!(outcome.failure, Some(Failure::NoSolution { .. })), "{method:?}: {outcome:?}");
        assert!((outcome.t - 3.84).abs() < 0.02, "{method:?}: {}", outcome.t);
        assert!(found.y.windows(2).all(|pair| (0.0..0.2).contains(&(pair[1][0] - pair[0][0]))), "{method:?}");
        assert!(found.y.last().unwrap()[0] < -1.0, "{method:?}: {found:?}");
    }
}

/// The optimal control of a double integrator switches ever faster towards its end: Zeno behaviour is reported,
/// and the run ends.
#[test]
fn zeno_behaviour_is_reported() {
    let text = "model fuller { signal x = integral(v, 1); signal v = integral(-sign(x + 0.4446*v*abs(v)), 0)
        Se s = x; R r = 1; s -> r; output y = x }";
    let mut problem = Problem::new(text);
    let model = problem.compile(&[]);
    for method in ADAPTIVE {
        let (_, outcome) = run(&model, &[], &Options { method, ..tight(20.0, vec![20.0], method) });
        let reported = outcome.notes.iter().any(|note| matches!(note, Note::Zeno { .. }));
        assert!(
            reported || matches!(outcome.failure, Some(Failure::Chattering { .. })),
            "{method:?} {outcome:?}"
        );
        assert!(outcome.t > 1.0 && outcome.states[0].abs() < 1e-6, "{method:?} {outcome:?}");
    }
}

/// A relay that holds the speed of a motor on dry friction, through the coil's current: it shows Zeno behaviour and
/// settles on its surface, although how the speed changes depends on the side of the friction.
#[test]
fn a_relay_with_zeno_behaviour_slides_beside_friction() {
    let text = "model motor { param k = 0.08; param Mc = 0.03; param d = 1e-4; param w0 = 100
        Se supply = 12*sign(w0 - rotor.f); 1 armature; R winding = 1.2; I coil = 3e-3; GY motor = k
        1 shaft; I rotor = 2e-4; R bearing { e = Mc*sign(f) + d*f }
        supply -> armature; armature -> winding, coil, motor; motor -> shaft; shaft -> rotor, bearing
        output i = coil.f; output w = rotor.f }";
    let mut problem = Problem::new(text);
    let wanted = problem.wanted(&["Mc", "w0"]);
    let options = Options { rtol: 1e-8, ..tight(0.3, vec![0.3], Method::Auto) };
    let (found, outcome) = solved(&mut problem, &wanted, &options);
    assert!(matches!(outcome.notes[..], [Note::Zeno { .. }]), "{:?}", outcome.notes);
    let expected =
        [(found.y[0][0], 0.5), (found.y[0][1], 100.0), (found.s[0][0], 12.5), (found.s[0][3], 1.0)];
    assert!(expected.iter().all(|(found, exact)| (found - exact).abs() < 1e-6 * exact), "{expected:?}");
}

/// Two tanks joined by an orifice: the levels meet after a finite time, and stay together. Nothing is left
/// then of how fast they met, and the derivative of the orifice, infinite there, does not stop the sensitivities;
/// nor where the tanks are alike, so that even volumes do not change at all.
#[test]
fn levels_meet() {
    ["2", "1"].into_iter().for_each(levels_meet_in);
}

fn levels_meet_in(area: &str) {
    let text = "model tanks {
        param A1 = 1; param A2 = AREA; param k = 0.8; param q1 = 1; param q2 = 0.5
        0 a; 0 b; 1 pipe
        C first { e = q/A1; init q = q1 }
        C second { e = q/A2; init q = q2 }
        R orifice { f = k*sign(e)*sqrt(abs(e)) }
        a -> first, pipe
        pipe -> orifice, b
        b -> second
        output h1 = first.e
        output h2 = second.e
    }";
    let closed = |t: f64, p: &[f64]| {
        let [a1, a2, k, q1, q2] = [p[0], p[1], p[2], p[3], p[4]];
        let apart = (q1 / a1 - q2 / a2).sqrt() - 0.5 * k * (1.0 / a1 + 1.0 / a2) * t;
        let apart = apart.max(0.0).powi(2);
        let second = (q1 + q2 - a1 * apart) / (a1 + a2);
        vec![second + apart, second]
    };
    let mut problem = Problem::new(&text.replace("AREA", area));
    let p = problem.parameters();
    let wanted: Vec<Wanted> = (0..p.len()).map(Wanted::Parameter).collect();
    let grid: Vec<f64> = times(8.0, 24);
    for (rtol, accuracy) in [(1e-6, 1e-5), (1e-8, 1e-7), (1e-10, 1e-8), (1e-12, 1e-9)] {
        let options = Options { rtol, ..tight(8.0, grid.clone(), Method::Auto) };
        for wanted in [&[][..], &wanted[..]] {
            let (found, outcome) = solved(&mut problem, wanted, &options);
            assert!(outcome.stats.steps < 1000 && outcome.notes.is_empty(), "{outcome:?}");
            for (i, t) in grid.iter().enumerate() {
                for (output, exact) in closed(*t, &p).iter().enumerate() {
                    assert!((found.y[i][output] - exact).abs() < accuracy, "{rtol} output {output} at {t}");
                    for lane in 0..wanted.len() {
                        let at = |shift: f64| {
                            let mut moved = p.clone();
                            moved[lane] += shift;
                            closed(*t, &moved)[output]
                        };
                        let derivative = (at(1e-6) - at(-1e-6)) / 2e-6;
                        let s = found.s[i][output * p.len() + lane];
                        assert!(
                            (s - derivative).abs() < accuracy.max(1e-7),
                            "{rtol} lane {lane} at {t}: {s}, {derivative}"
                        );
                    }
                }
            }
        }
    }
}

/// The largest differences of outputs and of their sensitivities to all parameters between steps of a fixed
/// size and a precise run, and the number of events that the fixed steps found.
fn fixed_differences(text: &str, end: f64, method: Method, step: f64) -> ([f64; 2], u64) {
    let mut problem = Problem::new(text);
    let wanted: Vec<Wanted> = (0..problem.parameters().len()).map(Wanted::Parameter).collect();
    let grid: Vec<f64> = times(end, 24).iter().map(|t| t * 0.997).collect();
    let (exact, precise) = solved(&mut problem, &wanted, &tight(end, grid.clone(), Method::Dop853));
    let options = Options { step: Some(step), ..tight(end, grid, method) };
    let (found, outcome) = solved(&mut problem, &wanted, &options);
    let counts = |outcome: &Outcome| (outcome.stats.events, outcome.stats.slides);
    assert_eq!(counts(&outcome), counts(&precise), "{method:?} {step}");
    let most = |a: &[Vec<f64>], b: &[Vec<f64>]| {
        a.iter().flatten().zip(b.iter().flatten()).fold(0.0_f64, |most, (a, b)| most.max((a - b).abs()))
    };
    ([most(&found.y, &exact.y), most(&found.s, &exact.s)], outcome.stats.events)
}

/// Steps of a fixed size end at events too: dry friction sticks and slips, and sensitivities jump.
#[test]
fn fixed_steps_stick_and_slip() {
    let text = "model shaken {
        param m = 2; param Fc = 3; param F = 5; param w = 2
        1 motion; I mass = m; R dry { e = Fc*sign(f) }; Se pull = F*sin(w*t)
        pull -> motion; motion -> mass, dry
        signal x = integral(mass.f, 0)
        output v = mass.f
        output x = x
        output force = dry.e
    }";
    let ([values, derivatives], events) = fixed_differences(text, 7.0, Method::Rk4, 0.01);
    assert!(events >= 8, "{events}");
    assert!(values < 1e-8 && derivatives < 1e-6, "{values} {derivatives}");
    let coarse = fixed_differences(text, 7.0, Method::Euler, 0.01).0;
    let fine = fixed_differences(text, 7.0, Method::Euler, 0.0025).0;
    for (coarse, fine) in coarse.iter().zip(fine) {
        assert!((2.5..6.0).contains(&(coarse / fine)), "{coarse} {fine}");
    }
}

/// Neither time nor states switch on the grid of the steps, and the order of the method is kept.
#[test]
fn fixed_steps_keep_their_order_over_events() {
    let text = "model relay {
        param on = 0.317; param level = 0.6; param r1 = 1; param r2 = 0.4; param c1 = 0.5
        Se s = step(on); 1 j1; R r = r1; 0 j0; C c = c1; R load { f = if(e > level, (e - level)/r2, 0) + 0.2*e^3 }
        s -> j1; j1 -> r; j1 -> j0; j0 -> c, load
        output v = c.e
    }";
    for (method, order, step) in [(Method::Euler, 1, 0.01), (Method::Rk4, 4, 0.05)] {
        let (coarse, events) = fixed_differences(text, 2.0, method, step);
        let (fine, _) = fixed_differences(text, 2.0, method, 0.25 * step);
        assert_eq!(events, 2, "{method:?}");
        for (coarse, fine) in coarse.iter().zip(fine) {
            let found = (coarse / fine).log2() / 2.0;
            assert!((found - f64::from(order)).abs() < 0.35, "{method:?}: order {found}, {coarse} {fine}");
        }
    }
}

/// Where a law bends and does not jump, Euler's method takes the steps of its recursion as it stands, and so do its
/// sensitivities: no event is located, also not where a root is infinitely steep.
#[test]
fn kinks_leave_the_recursion_of_eulers_method_alone() {
    let text = "model kinks {
        param a = 0.7; param k = 1.3
        signal x = integral(v, 1)
        signal v = integral(-k*x - a*sign(v)*abs(v)^0.6 - min(abs(v), 0.3) - max(x, 0.2*x), 0)
        Se s = x; R r = 1; s -> r; output y = abs(x) }";
    let mut problem = Problem::new(text);
    let wanted = problem.wanted(&["a", "k"]);
    // No sample but the first lies on the grid.
    let (step, samples) = (0.01, [0.0, 1.003, 2.507, 3.999]);
    let options = Options { step: Some(step), ..tight(4.0, samples.to_vec(), Method::Euler) };
    let (run, outcome) = solved(&mut problem, &wanted, &options);
    let (a, k) = (0.7, 1.3);
    let (mut at, mut by) = ([1.0_f64, 0.0_f64], [[0.0; 2]; 2]);
    let mut sample = 0;
    for n in 0..400 {
        let [x, v] = at;
        let bent = if v.abs() < 0.3 { v.signum() } else { 0.0 };
        let down = if x > 0.0 { 1.0 } else { 0.2 };
        let rates = [v, -k * x - a * v.signum() * v.abs().powf(0.6) - v.abs().min(0.3) - x.max(0.2 * x)];
        // At the start the root has no derivative by v; v does not depend on a parameter there.
        let steep = if v == 0.0 { 0.0 } else { 0.6 * a * v.abs().powf(-0.4) };
        let own = [-v.signum() * v.abs().powf(0.6), -x];
        let rate_by = [0, 1].map(|p| [by[p][1], -(k + down) * by[p][0] - (steep + bent) * by[p][1] + own[p]]);
        let t = n as f64 * step;
        while sample < samples.len() && samples[sample] < t + step {
            let along = samples[sample] - t;
            let position = x + along * rates[0];
            assert!(
                (run.y[sample][0] - position.abs()).abs() < 1e-12,
                "{} at {}",
                run.y[sample][0],
                samples[sample]
            );
            for p in [0, 1] {
                let wanted = position.signum() * (by[p][0] + along * rate_by[p][0]);
                assert!((run.s[sample][p] - wanted).abs() < 1e-9, "{} {wanted}", run.s[sample][p]);
            }
            sample += 1;
        }
        for i in [0, 1] {
            at[i] += step * rates[i];
            (0..2).for_each(|p| by[p][i] += step * rate_by[p][i]);
        }
    }
    assert_eq!((sample, outcome.stats.events, outcome.stats.steps), (4, 0, 400));
}

/// Event functions are named in the words of the model, also where they read others and roots that are regularised.
#[test]
fn event_functions_are_named_in_the_words_of_the_model() {
    let text = "model words { param k = 2; signal x = integral(sign(min(k*t, 1) - x - sign(x - 3)*sqrt(abs(x - 3))), 0)
        Se s = x; R r = 1; s -> r; output y = r.f }";
    let mut problem = Problem::new(text);
    let model = problem.compile(&[]);
    let told = model.events.join("; ");
    assert!(["mode", "width"].iter().all(|word| !told.contains(word)), "{told}");
    assert!(model.events.iter().any(|event| event.contains("k*t") && event.contains("if(")), "{told}");
}
