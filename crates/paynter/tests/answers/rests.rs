//! Random models at rest whose operating points and linear models are known in closed form: where a zero derivative, a
//! vanishing modulus or dry friction leads the usual search astray.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use crate::common;

use common::sound;
use paynter::json::{Naming, OperatingPoint, Structure};
use paynter::{CancellationToken, Plain};
use paynter_base::random::Random;
use paynter_testkit::property::seeds;

fn rest(text: &str) -> OperatingPoint {
    let found = sound(text).operating_point(&CancellationToken::new());
    found.unwrap_or_else(|reason| panic!("{reason:?}\n{text}")).document(&Plain)
}

fn structure(text: &str) -> Structure {
    let found = sound(text).structure(false, &CancellationToken::new());
    found.unwrap_or_else(|reason| panic!("{reason:?}\n{text}")).document(&Plain)
}

fn poles(text: &str) -> Vec<[f64; 2]> {
    let found = sound(text).poles(&CancellationToken::new());
    found.unwrap_or_else(|reason| panic!("{reason:?}\n{text}")).document(Naming::Flat, &Plain).poles
}

/// Numbers drawn between two, for one seed.
fn draws(seed: u64) -> impl FnMut(f64, f64) -> f64 {
    let mut random = Random::new(seed);
    move |low, high| low + (high - low) * random.unit()
}

/// A mass in Cartesian coordinates on a rod hangs or stands, wherever it begins.
#[test]
fn rods_rest_hanging_or_standing() {
    for seed in seeds(16) {
        let mut draw = draws(seed);
        let (m, l, b, start) = (draw(0.2, 4.0), draw(0.3, 3.0), draw(0.01, 0.5), draw(0.05, 3.1));
        let text = format!(
            "model rod {{ signal a = integral(b1.f, {start}); 1 j; R b1 = {b}; MTF tx = {l}*cos(a); MTF ty = {l}*sin(a)
             1 vx; 1 vy; I mx = {m}; I my = {m}; Se weight = -{m}*9.81; j -> b1; j -> tx -> vx -> mx
             j -> ty -> vy -> my; weight -> vy; output p = a }}"
        );
        let found = rest(&text).point.outputs["p"].unwrap();
        assert!(found.sin().abs() < 1e-7, "seed {seed}: {found} is no rest\n{text}");
    }
}

/// A trolley that dry friction holds stays where it is, and its load swings as one on a fixed hook.
#[test]
fn loads_on_a_trolley_that_sticks_swing_as_on_a_hook() {
    for seed in seeds(8) {
        let mut draw = draws(seed);
        let (big, m, l, friction) = (draw(20.0, 200.0), draw(5.0, 80.0), draw(1.0, 6.0), draw(10.0, 50.0));
        let text = format!(
            "model crane {{ input F = 0; signal a = integral(rope.f1, 0); 1 vt; I trolley = {big}
             R fric {{ e = {friction}*sign(f) }}; Se drive = F; 0 sx; 1 vl; I lx = {m}; 1 w; MTF rope = {l}*cos(a)
             MTF ropey = {l}*sin(a); 1 vy; I ly = {m}; Se weight = -{m}*9.81; drive -> vt -> trolley, fric
             vt -> sx -> vl -> lx; w -> rope -> sx; w -> ropey -> vy -> ly; weight -> vy; output a = a }}"
        );
        let right = (9.81 / l).sqrt();
        let found: Vec<[f64; 2]> = poles(&text).into_iter().filter(|pole| pole[1] > 0.0).collect();
        assert!(
            found.len() == 1
                && (found[0][1] - right).abs() <= 1e-6 * right
                && found[0][0].abs() <= 1e-6 * right,
            "seed {seed}: {found:?}, not {right}\n{text}"
        );
    }
}

/// A wheel that turns freely until brakes stop it rests, whatever speed it began with.
#[test]
fn brakes_bring_a_wheel_to_rest() {
    for seed in seeds(8) {
        let mut draw = draws(seed);
        let (inertia, speed) = (draw(0.5, 5.0), draw(-9.0, 9.0));
        let brakes: String = (1..=1 + seed % 2)
            .map(|k| {
                let (limit, spring, mass) = (draw(50.0, 500.0), draw(1e3, 5e4), draw(1.0, 5.0));
                format!(
                    "R fr{k} {{ e = {limit}*sign(f) }}; 0 c{k}; 1 shoe{k}; I s{k} = {mass}; C sp{k} = 1/{spring}
                     R d{k} = 20; rim -> c{k}; c{k} -> fr{k}, shoe{k}; shoe{k} -> s{k}, sp{k}, d{k}\n"
                )
            })
            .collect();
        let text = format!(
            "model wheel {{ 1 wheel; I disc = {inertia}; init disc.p = {inertia}*{speed}; TF r = 0.5; 1 rim
             wheel -> disc; wheel -> r -> rim; {brakes} output w = disc.f }}"
        );
        let found = rest(&text).point.outputs["w"].unwrap();
        assert!(found == 0.0, "seed {seed}: {found}\n{text}");
    }
}

/// What flows and rates that are zero at rest are factors of does not show there: neither in relative degrees nor as
/// zeros far out.
#[test]
fn what_vanishes_at_rest_counts_in_no_degree() {
    for seed in seeds(12) {
        let mut draw = draws(seed);
        let count = 1 + seed as usize % 3;
        let mut chain = String::from("s -> j1");
        for k in 1..=count {
            let (m, r, k1, k3) = (draw(0.5, 3.0), draw(0.1, 2.0), draw(0.5, 3.0), draw(0.1, 2.0));
            chain += &format!(
                "\n1 j{k}; I m{k} = {m}; R r{k} = {r}; j{k} -> m{k}, r{k}; 0 n{k}; j{k} -> n{k}
                 C c{k} {{ e = {k1}*q + {k3}*q^3 }}; n{k} -> c{k}"
            );
            if k < count {
                chain += &format!("; n{k} -> j{}", k + 1);
            }
        }
        let model = |more: &str| {
            format!("model m {{ input u = {}; Se s = u; {chain}\noutput y = c{count}.q{more} }}", 0.8)
        };
        let factor = draw(0.5, 2.0);
        let hidden = [
            format!(" + {factor}*m1.e*m1.f"),
            format!(" + {factor}*m{count}.f^2"),
            format!(" + {factor}*m1.e*m{count}.e + r1.e*m1.f"),
        ];
        let (plain, with) = (structure(&model("")), structure(&model(&hidden[seed as usize % 3])));
        let degree = |found: &Structure| {
            let entry = &found.relative_degree[0];
            (entry.degree, entry.nominal)
        };
        assert_eq!(degree(&plain), degree(&with), "seed {seed}: {}", model(&hidden[seed as usize % 3]));
        let zeros = |found: &Structure| found.zero_dynamics.as_ref().unwrap()[0].zeros.clone();
        let (right, found) = (zeros(&plain), zeros(&with));
        assert_eq!(right.len(), found.len(), "seed {seed}: {found:?}, not {right:?}");
        for (right, found) in right.iter().zip(&found) {
            let apart = (right[0] - found[0]).hypot(right[1] - found[1]);
            assert!(apart <= 1e-6 * right[0].hypot(right[1]), "seed {seed}: {found:?}, not {right:?}");
        }
    }
}

/// A throttle of zero slope in a loop with a turbine of constant power does not make an output follow at once.
#[test]
fn a_throttle_without_flow_has_no_slope() {
    for seed in seeds(8) {
        let mut draw = draws(seed);
        let (inertance, loss, throttle) = (draw(1e5, 3e5), draw(100.0, 500.0), draw(300.0, 2000.0));
        let (area, power) = (draw(40.0, 150.0), draw(1.5e7, 3.5e7));
        let text = format!(
            "model surge {{ input P = {power}; Se reservoir = 1471500; 1 tunnel; I water = {inertance}
             init water.p = {inertance}*20; R loss {{ e = {loss}*f*abs(f) }}; 0 foot; 1 riser
             C tank {{ e = 9810*q/{area}; init q = {area}*148 }}; R throttle {{ e = {throttle}*f*abs(f) }}
             R turbine {{ f = P/e }}; reservoir -> tunnel -> water, loss, foot; foot -> riser -> tank, throttle
             foot -> turbine; output Q = water.f }}"
        );
        let found = structure(&text);
        assert_eq!(found.relative_degree[0].nominal, Some(2), "seed {seed}\n{text}");
        let spectrum = sound(&text).poles(&CancellationToken::new()).unwrap().spectrum.clone();
        assert!(spectrum.entries[0].zeros.is_empty(), "seed {seed}: {:?}\n{text}", spectrum.entries[0]);
    }
}

/// What is continuous at zero holds nothing, however it is written: the linear model has the slope that the law has
/// there, above zero where it has a kink.
#[test]
fn laws_that_meet_at_zero_do_not_stick() {
    for seed in seeds(6) {
        let mut draw = draws(seed);
        let (a, b, width) = (draw(0.5, 4.0), draw(0.5, 4.0), draw(0.05, 0.5));
        let laws = [
            (format!("if(f > 0, {a}*f, {b}*f)"), a),
            (format!("if(f < 0, {b}, {a})*f"), a),
            (format!("f*({a} + {b} + ({a} - {b})*sign(f))/2"), a),
            (format!("({a} + {b})/2*f + ({a} - {b})/2*abs(f)"), a),
            (format!("if(abs(f) < {width}, {a}*f, {a}*{width}*sign(f))"), a),
            (format!("if(f > 0, f^2, -f^2) + {a}*f"), a),
            (format!("{a}*sign(f)*min(abs(f), {width})"), a),
            (format!("{a}*f + Fc*sign(f)"), a),
            (format!("if(spring.q > 1, {a}, {b})*f"), a),
        ];
        for (law, slope) in laws {
            let (mass, k) = (draw(0.2, 3.0), draw(0.5, 9.0));
            let text = format!(
                "model damper {{ param Fc = 0; input u = {k}; Se push = u; 1 v; I m = {mass}; C spring = 1/{k}
                 R r {{ e = {law} }}; push -> v -> m, spring, r; output y = spring.q }}"
            );
            let found = poles(&text);
            // m s² + slope s + k = 0: the sum and the product of its roots.
            let sum: f64 = found.iter().map(|pole| pole[0]).sum();
            let product = match found[..] {
                [[re, im], [_, other]] if im != 0.0 => re * re - im * other,
                [[first, _], [second, _]] => first * second,
                _ => panic!("seed {seed}: {found:?}\n{text}"),
            };
            assert!(
                (sum + slope / mass).abs() <= 1e-9 * sum.abs()
                    && (product - k / mass).abs() <= 1e-9 * product,
                "seed {seed}: {found:?}\n{text}"
            );
        }
    }
}

/// Forces that are differences of equal terms at rest, in products with others that vanish there: what is zero has lost
/// no digits, and the poles are those of the stiffness.
#[test]
fn differences_that_vanish_at_rest_are_zero() {
    let laws = [
        ("exp(q) - 1", 1.0),
        ("(1 + q)^3 - 1", 3.0),
        ("ln(1 + q)", 1.0),
        ("sqrt(1 + q) - 1", 0.5),
        ("2*(1/(1 - q))^1.4 - 2", 2.8),
        ("100*q*(1 - 1/sqrt(1 + q^2))", 0.0),
    ];
    for (law, k) in laws {
        let text = format!(
            "model product {{ input u = 0; Se push = u; 1 v; I m = 2; R r = 1; C k {{ e = {law} }}; push -> v -> m, r, k
             output y = k.q; output power = k.e*m.f }}"
        );
        let found = poles(&text);
        let sum: f64 = found.iter().map(|pole| pole[0]).sum();
        let square = found.iter().map(|pole| pole[0].hypot(pole[1])).product::<f64>();
        assert!(
            found.len() == 2 && (sum + 0.5).abs() <= 1e-9 && (square - k / 2.0).abs() <= 1e-9,
            "{found:?}\n{text}"
        );
    }
}

/// A diode in reverse whose law gives the voltage: the logarithm's argument is nothing but rounding there.
#[test]
fn a_diode_in_reverse_rests() {
    let found = rest(
        "model diode { input u = -5; Se s = u; 1 j; R rs = 10; 0 n; C c = 1e-9; s -> j -> rs, n; n -> c, r
         R r { e = 0.02569*ln(f/1e-12 + 1) }; output y = c.e; output i = r.f }",
    );
    let [y, i] = ["y", "i"].map(|name| found.point.outputs[name].unwrap());
    assert!((y + 5.0).abs() <= 1e-9 && (i + 1e-12).abs() <= 1e-15, "{y}, {i}");
}

/// Two dry frictions on one motion hold it together up to the sum of what they can.
#[test]
fn two_frictions_hold_together() {
    for seed in seeds(8) {
        let mut draw = draws(seed);
        let (first, second, k) = (draw(5.0, 20.0), draw(5.0, 20.0), draw(50.0, 500.0));
        let part = draw(0.1, 1.9);
        let force = part * (first + second);
        let text = format!(
            "model two {{ input F = {force}; Se push = F; 1 v; I m = 2; R a {{ e = {first}*sign(f) }}
             R b {{ e = {second}*sign(f) }}; C spring = 1/{k}; push -> v -> m, a, b, spring
             output x = spring.q; output total = a.e + b.e }}"
        );
        let point = rest(&text).point;
        let (x, total) = (point.outputs["x"].unwrap(), point.outputs["total"].unwrap());
        let right = if part <= 1.0 { (0.0, force) } else { ((force - first - second) / k, first + second) };
        assert!(
            (x - right.0).abs() <= 1e-9 && (part > 1.0 || (total - right.1).abs() <= 1e-9 * force),
            "seed {seed}: {x}, {total}, not {right:?}\n{text}"
        );
    }
}

/// Motions that are counted twice, by springs and by signals, with a displacement between them that only the start
/// tells: rests lie side by side, and that with this difference is taken.
#[test]
fn what_is_counted_twice_keeps_its_difference() {
    for seed in seeds(12) {
        let mut draw = draws(seed);
        let (m, r, k, cubic, force) =
            (draw(0.5, 3.0), draw(0.2, 2.0), draw(2.0, 9.0), draw(1.0, 4.0), draw(1.0, 5.0));
        let start = draw(-0.5, 0.5);
        // A difference of decimals is often one of the last digits only.
        let apart = if seed % 2 == 0 { 0.0 } else { draw(-0.3, 0.3) };
        let (q, x) = (format!("{}", start + apart), format!("{start}"));
        let text = format!(
            "model twice {{ param k = {k}; input F = {force}; Se push = F; 1 v; I mass = {m}
             signal a = integral(mass.f, {x}); signal b = integral(mass.f, {x} + 0.1)
             C spring {{ e = k*q; init q = {q} }}; R stop {{ e = {r}*f + {cubic}*(a + b - {x})^3 }}
             push -> v -> mass, spring, stop; output y = spring.q; output z = a }}"
        );
        let apart = start + apart - start;
        let pull = |q: f64| k * q + cubic * (2.0 * (q - apart) - start + 0.1).powi(3) - force;
        let (mut low, mut high) = (-10.0, 10.0);
        for _ in 0..200 {
            let middle = 0.5 * (low + high);
            if pull(middle) < 0.0 { low = middle } else { high = middle }
        }
        let q = 0.5 * (low + high);
        let found = rest(&text).point.outputs["y"].unwrap();
        assert!((found - q).abs() <= 1e-9 * q.abs().max(0.1), "seed {seed}: {found}, not {q}\n{text}");
    }
}

/// Two bodies that exchange heat: their energy tells where they come to rest, which is no sum of their entropies. How
/// the rest moves with what the start is made of is given only where the start is the rest; by what does not move it,
/// it is zero.
#[test]
fn what_only_the_motion_knows_is_not_given() {
    let token = CancellationToken::new();
    for seed in seeds(6) {
        let mut draw = draws(seed);
        let (first, second, conductance) = (draw(1.0, 9.0), draw(1.0, 9.0), draw(0.1, 2.0));
        let (hot, cold) = (draw(350.0, 500.0), draw(250.0, 300.0));
        let text = |cold: &str| {
            format!(
                "model bodies {{ param c1 = {first}; param c2 = {second}; param T1 = {hot}; param T2 = {cold}
                 param G = {conductance}; C a {{ e = 300*exp(q/c1); init q = c1*ln(T1/300) }}; 0 na; 0 nb
                 C b {{ e = 300*exp(q/c2); init q = c2*ln(T2/300) }}; na -> a; nb -> b; na -> h.1; nb -> h.2
                 R h[2] {{ f1 = G*(e1 - e2)/e1; f2 = -G*(e1 - e2)/e2 }}; output T = a.e }}"
            )
        };
        let derivative = |text: &str, name: &str| {
            let found = sound(text).steady_sensitivity(&[name.to_owned()], &token);
            found.ok().map(|found| found.found.outputs[0][0])
        };
        let apart = text(&cold.to_string());
        let right = (first * hot + second * cold) / (first + second);
        let found = rest(&apart).point.outputs["T"].unwrap();
        assert!((found - right).abs() <= 1e-6 * right, "seed {seed}: {found}, not {right}");
        for name in ["c1", "c2", "T1", "T2"] {
            let given = derivative(&apart, name);
            assert!(given.is_none(), "seed {seed}: {name}: {given:?}\n{apart}");
        }
        let given = derivative(&apart, "G").unwrap();
        assert!(given.abs() <= 1e-6 * right, "seed {seed}: {given}\n{apart}");
        let together = text("T1");
        let given = derivative(&together, "T1").unwrap();
        assert!((given - 1.0).abs() <= 1e-6, "seed {seed}: {given}\n{together}");
    }
}

/// A tank that does not leak keeps what it holds, and with any leak it holds nothing: there is no derivative by a
/// leak of zero.
#[test]
fn a_leak_of_zero_has_no_derivative() {
    let text = "model tanks { param k = 0.7; param leak = 0; param q0 = 2; C a = 2; C b = 3; init a.q = q0; init b.q = 1
         0 na; 0 nb; 1 j; R r = 1/k; R out { f = leak*e }; na -> a; nb -> b; na -> j -> nb; j -> r; nb -> out
         output y = a.e }";
    let token = CancellationToken::new();
    let derivative = |name: &str| {
        let found = sound(text).steady_sensitivity(&[name.to_owned()], &token);
        found.ok().map(|found| found.found.outputs[0][0])
    };
    assert_eq!(derivative("leak"), None);
    assert_eq!(derivative("k"), Some(0.0));
    assert!((derivative("q0").unwrap() - 0.2).abs() <= 1e-12);
}

/// A plate on a spring, drawn by a voltage over a gap: k x (d − x)² = ε A V²/2 has two rests below the voltage at which it
/// snaps, and the nearer one is stable.
#[test]
fn a_plate_rests_before_it_snaps() {
    for seed in seeds(8) {
        let mut draw = draws(seed);
        let (k, d, area) = (draw(0.5, 5.0), draw(1e-6, 4e-6), draw(5e-8, 5e-7));
        let eps = 8.854e-12;
        let snap = (8.0 * k * d.powi(3) / (27.0 * eps * area)).sqrt();
        for share in [0.5, 0.9, 0.97, 0.995] {
            let v = share * snap;
            let text = format!(
                "model plate {{ param d = {d:e}; param ea = {:e}; input V = {v:e}; Se src = V; 1 el; R r = 1e4
                 C act[2] {{ e1 = q1*(d - q2)/ea; e2 = -q1^2/(2*ea) }}; 1 mech; I mass = 1e-9; C spring = 1/{k}
                 R damp = 1e-6; src -> el; el -> r; el -> act.1; mech -> act.2; mech -> mass, spring, damp
                 output x = spring.q }}",
                eps * area
            );
            let (mut low, mut high) = (0.0, d / 3.0);
            for _ in 0..200 {
                let x = 0.5 * (low + high);
                let pulled = eps * area * v * v / 2.0 > k * x * (d - x) * (d - x);
                if pulled { low = x } else { high = x }
            }
            let found = rest(&text).point.outputs["x"].unwrap();
            assert!(
                (found - low).abs() < 1e-7 * low,
                "seed {seed}, {share} of the voltage: {found}, not {low}\n{text}"
            );
        }
    }
}
