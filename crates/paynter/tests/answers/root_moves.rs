//! How poles and zeros move where the state equations lose the digits: nearly singular fields, poles far apart, poles
//! nearly equal. Right answers are from characteristic polynomials in 60 digits.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use crate::common;

use common::{sound, sound_with};
use num_complex::Complex64;
use paynter::{CancellationToken, Model, Plain, ResponseOptions, SensitivityOptions};

/// The derivatives of the pole, or of the zero, nearest to a value, by name.
fn moves(model: &Model, near: Complex64, of_zero: bool) -> Vec<(String, Complex64)> {
    let asked = model.sensitivity(&SensitivityOptions::default(), &CancellationToken::new()).unwrap();
    let roots = &asked.result.found.roots;
    let zeros: Vec<_> = roots.zeros.iter().map(|(_, mode)| mode.clone()).collect();
    let modes = if of_zero { &zeros } else { &roots.poles };
    let away = |value: Complex64| (value - near).norm();
    let mode = modes.iter().min_by(|a, b| away(a.value).total_cmp(&away(b.value))).unwrap();
    assert!(away(mode.value) <= 1e-3 * near.norm(), "{} for {near}", mode.value);
    let names = asked.result.found.parameters.iter().map(|k| asked.graph().parameters[*k].name.clone());
    names.zip(mode.derivatives.iter().copied()).collect()
}

fn assert_moves(
    model: &Model,
    (near, of_zero): (Complex64, bool),
    right: &[(&str, Complex64)],
    may_be_withheld: bool,
) {
    let found = moves(model, near, of_zero);
    for (name, right) in right {
        let (_, value) = found.iter().find(|(other, _)| other == name).unwrap();
        let size = if *right == Complex64::ZERO { 1e-12 } else { 1e-5 * right.norm() };
        assert!(
            !value.is_finite() && may_be_withheld || (value - right).norm() <= size,
            "at {near}, by {name}: {value}, right {right}"
        );
    }
}

fn real(value: f64) -> Complex64 {
    Complex64::from(value)
}

/// det = (L1 s + R1)(L2 s + R2) − M² s², with a leakage of 20 ppm.
#[test]
fn nearly_singular_fields() {
    let model = sound(
        "model m { param L1 = 10; param L2 = 0.1; param M = 0.99999; param R1 = 5; param R2 = 8; input U = 325
         Se mains = U; 1 p; 1 s; R r1 = R1; R load = R2; I core[2] = [[L1, M], [M, L2]]
         mains -> p -> r1; p -> core.1; core.2 -> s -> load; output u2 = load.e }",
    );
    let right = [("M", real(0.006_134_2)), ("L2", real(1.917e-4)), ("L1", real(0.049_074_1))];
    let found = moves(&model, real(-0.496_894), false);
    for (name, right) in right {
        let (_, value) = found.iter().find(|(other, _)| other == name).unwrap();
        assert!((value - right).norm() <= 1e-3 * right.norm(), "by {name}: {value}, right {right}");
    }
    let still = [("M", Complex64::ZERO), ("L2", Complex64::ZERO), ("R1", Complex64::ZERO)];
    let zero = moves(&model, real(0.0), true);
    for (name, right) in still {
        assert_eq!(zero.iter().find(|(other, _)| other == name).unwrap().1, right, "{name}");
    }
}

/// A chain of two resistors and capacitors: a s² + b s + 1 with a = R1 C1 R2 C2 and b = R1 C1 + R1 C2 + R2 C2.
#[test]
fn poles_far_apart() {
    let text = "model m { param R1 = 1e-3; param C1 = 1e-11; param R2 = 5e6; param C2 = 5e4; input U = 4
         Se src = U; 1 a; R r1 = R1; 0 n1; C c1 = C1; 1 b; R r2 = R2; C c2 = C2
         src -> a -> n1 -> b -> c2; a -> r1; n1 -> c1; b -> r2; output v = c2.e }";
    for values in
        [[1e-3f64, 1e-11, 5e6, 5e4], [1.0, 1e-9, 1e3, 1.0], [1.0, 1e-9, 1e3, 1e-3], [1.0, 1e-9, 5e6, 1.0]]
    {
        let [r1, c1, r2, c2] = values;
        let texts = values.map(|value| format!("{value:e}"));
        let set: Vec<(&str, &str)> =
            ["R1", "C1", "R2", "C2"].into_iter().zip(texts.iter().map(String::as_str)).collect();
        let (a, b) = (r1 * c1 * r2 * c2, (r1 * c1 + r1 * c2) + r2 * c2);
        let slow = -2.0 / (b + (b * b - 4.0 * a).sqrt());
        // ds = −(da s² + db s)/(2 a s + b)
        let by = |da: f64, db: f64| real(-(da * slow * slow + db * slow) / (2.0 * a * slow + b));
        let right = [
            ("R1", by(a / r1, c1 + c2)),
            ("C1", by(a / c1, r1)),
            ("R2", by(a / r2, c2)),
            ("C2", by(a / c2, r1 + r2)),
        ];
        let model = sound_with(text, &set);
        // What a change of a parameter by its own size would not show is zero.
        let shown = |(name, value): &(&str, Complex64)| {
            let size = values[["R1", "C1", "R2", "C2"].iter().position(|other| other == name).unwrap()];
            value.norm() * size > 1e-9 * slow.abs()
        };
        let right: Vec<(&str, Complex64)> = right.into_iter().filter(shown).collect();
        assert_moves(&model, (real(slow), false), &right, false);
        let asked = model.sensitivity(&SensitivityOptions::default(), &CancellationToken::new()).unwrap();
        let [gain] = &asked.result.found.roots.gains[..] else { panic!("no static gain") };
        assert!((gain.value - 1.0).abs() < 1e-12, "{gain:?}");
    }
}

/// Two equal carts that hardly know of each other: each pole pair moves with one sum of the masses, or not at all,
/// and the zeros of the first, where only the second swings, are simple.
#[test]
fn poles_nearly_equal() {
    let text = "model m { param m = 2; param m2 = 2; param k = 100; param kc = 1e-5; param c = 1; input F = 1
         Se push = F; 1 a; 1 b; I ma = m; I mb = m2; C sa = 1/k; C sb = 1/k; R ca = c; R cb = c; 0 between; C sc = 1/kc
         push -> a -> ma; a -> sa, ca, between; b -> mb, sb, cb; between -> sc, b; output xa = sa.q }";
    for kc in ["1e-5", "1e-9"] {
        let model = sound_with(text, &[("kc", kc)]);
        let zero = Complex64::new(-0.25, (50.0f64 - 0.0625).sqrt());
        // m2 s² + c s + k + kc = 0
        let below = 4.0 * zero + 1.0;
        let right = [
            ("m", Complex64::ZERO),
            ("m2", -zero * zero / below),
            ("kc", -1.0 / below),
            ("c", -zero / below),
        ];
        assert_moves(&model, (zero, true), &right, kc == "1e-9");
        let asked = model.sensitivity(&SensitivityOptions::default(), &CancellationToken::new()).unwrap();
        let told = asked.findings.iter().any(|finding| finding.message.contains("rounding decides them"));
        let withheld = asked.result.found.roots.poles.iter().any(|mode| !mode.derivatives[0].is_finite());
        assert_eq!(told, withheld, "{kc}: {:?}", asked.result.found.roots.poles);
        assert!(!withheld || kc == "1e-9");
    }
}

/// A balanced bridge: H is exactly zero, and what moves it moves it infinitely beside that.
#[test]
fn changes_beside_zero() {
    let text = "model m { param Ra = 100 ±1%; param Rb = 200 ±1%; param Rc = 300 ±1%; param Rd = 600 ±1%; param Cd = 1e-6; input U = 5
         Se src = U; 0 top; 1 ja; 1 jc; R ra = Ra; R rc = Rc; 0 left; 0 right; R rb = Rb; R rd = Rd; 1 jd; C det = Cd
         src -> top; top -> ja, jc; ja -> ra; ja -> left -> rb; jc -> rc; jc -> right -> rd; left -> jd -> right; jd -> det
         output v = det.e }";
    let asked =
        sound(text).sensitivity_response(&ResponseOptions::default(), &CancellationToken::new()).unwrap();
    let document = asked.document(&Plain);
    let toleranced: Vec<_> = document.ranking.iter().filter(|rank| rank.tolerance > 0.0).collect();
    assert_eq!(toleranced.len(), 4);
    for rank in toleranced {
        assert_eq!((rank.effect, rank.magnitude, rank.phase), (None, None, None), "{rank:?}");
        assert!(rank.change > 0.0, "{rank:?}");
    }
    // At low frequencies v = U·(Rb/(Ra + Rb) − Rd/(Rc + Rd)): 1 % of either resistor of a branch moves it alike.
    let change = document.ranking.iter().find(|rank| rank.parameter == "Ra").unwrap().change;
    assert!((change - 200.0 / 300.0f64.powi(2)).abs() < 1e-3 * change, "{change}");
}

/// A ring in which a large modulus cancels: p0³ p2 s² + 1 = 0, whatever p1 is.
#[test]
fn large_elements_that_cancel_leave_the_derivatives() {
    let text = "model m { param p0 = 2; param p1 = 1e3; param p2 = 3; input u0 = 1; 1 j1; 1 j2; TF tf3 = p0; 1 j4; 1 j5
         GY gy6 = p1; TF tf7 = p1*p1; Se s8 = u0; C c9 = p0; I i10 = p2; j1 -> tf3.1; tf3.2 -> j2; j1 -> j4; gy6.2 -> j1
         gy6.1 -> j5; tf7.1 -> j2; j5 -> tf7.2; j4 -> s8; j4 -> c9; i10 -> j2; output y0 = gy6.e1 }";
    for p1 in ["100", "1e3", "1e6"] {
        let model = sound_with(text, &[("p1", p1)]);
        let pole = Complex64::new(0.0, (1.0f64 / 24.0).sqrt());
        let right = [("p0", -1.5 / 2.0 * pole), ("p1", Complex64::ZERO), ("p2", -0.5 / 3.0 * pole)];
        assert_moves(&model, (pole, false), &right, false);
    }
}
