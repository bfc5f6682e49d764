//! Where a stage takes something for granted about values, a model at values for which it does not hold is derived
//! again, as the one that is loaded with them.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use crate::common;

use common::example;
use common::values::{
    CIRCUIT, LOOP, QUESTIONS, anew, assert_as_anew, assert_guarded, assert_sweep, difference, number, orifice,
};
use paynter::NewValue;

#[test]
fn values_may_become_zero() {
    for name in ["Ra", "Rb", "L", "C", "n"] {
        assert_as_anew(CIRCUIT, &[], &[(name, number(0.0))]);
        // And from zero to a value.
        assert_as_anew(CIRCUIT, &[(name, "0")], &[(name, number(1.5))]);
    }
    for names in [&["R1"][..], &["R2"], &["g"], &["R1", "g"], &["R1", "R2", "g"]] {
        let values: Vec<(&str, NewValue)> = names.iter().map(|name| (*name, number(0.0))).collect();
        assert_as_anew(LOOP, &[], &values);
    }
    assert_as_anew(example("relay"), &[], &[("Gl", number(0.0))]);
    assert_as_anew(example("relay"), &[("Gl", "0")], &[("Gl", number(1e-4))]);
    let switch = example("half_wave_rectifier").replace("{ Ron = Rd }", "{ Ron = Rd; Goff = G }");
    let switch = switch.replace("    input u", "    param G = 1e-6 [S]\n\n    input u");
    assert_as_anew(&switch, &[], &[("G", number(0.0))]);
    assert_as_anew(&switch, &[("G", "0")], &[("G", number(1e-6))]);
    assert_as_anew(&switch, &[], &[("Rd", number(0.0))]);
}

#[test]
fn values_may_change_their_signs() {
    for name in ["Ra", "Rb", "L", "C", "n"] {
        assert_as_anew(CIRCUIT, &[], &[(name, number(-1.5))]);
        assert_as_anew(CIRCUIT, &[(name, "-1.5")], &[(name, number(-2.5))]);
    }
    assert_as_anew(LOOP, &[], &[("R1", number(-3.0))]);
    for source in ["Se", "Sf"] {
        for law in [
            "e = k*f*abs(f)",
            "f = k*e*abs(e)",
            "e = k*sign(f)*abs(f)^n",
            "f = k*sign(e)*abs(e)^(1/n)",
            "e = k*f^3 + f",
            "e = if(k > 0, k*f, 2*f)",
            "e = sqrt(k^2)*f*abs(f)",
            "e = abs(k)*f",
            "e = k*(exp(f/n) - 1)",
        ] {
            let text = orifice(law, source);
            for values in [
                [("k", number(-2.0))].as_slice(),
                &[("k", number(0.0))],
                &[("n", number(-0.5))],
                &[("n", number(2.0))],
                &[("n", number(1.0))],
                &[("n", number(0.0))],
                &[("n", number(3.0)), ("k", number(-1.0))],
            ] {
                assert_as_anew(&text, &[], values);
            }
            assert_as_anew(&text, &[("k", "-2")], &[("k", number(2.0))]);
        }
    }
}

#[test]
fn divisors_made_of_several_values_may_vanish() {
    let text = "model m { param a = 3; param b = 2; param d = 1; input u = 1
        Se s = u; 1 j; R r { e = f/(a - b) }; C c = d*(a - 2*b + 2); I l = a + b
        s -> j; j -> r, c, l; output y = c.e }";
    for (a, b) in [(2.0, 2.0), (2.0, 3.0), (4.0, 3.0), (3.0, -3.0), (0.0, 0.0), (3.0, 5.0)] {
        assert_as_anew(text, &[], &[("a", number(a)), ("b", number(b))]);
    }
    // A field that is no longer positive definite, or has no inverse.
    let text = "model m { param a = 2; param b = 0.5; param d = 3; input u = 1
        Se s = u; 1 l; 0 n; C c[2] = [[a, b], [b, d]]; R r = 1; R x = 1
        s -> l; l -> c.1, x; n -> c.2, r; output y = c.e2 }";
    for values in [("b", 6f64.sqrt()), ("b", 3.0), ("a", 0.0), ("d", -3.0), ("a", 1.0 / 12.0)] {
        assert_as_anew(text, &[], &[(values.0, number(values.1))]);
    }
    // Initial states that contradict each other for one value, and not for another.
    let text = "model m { param k = 1; C a = 1; C b = 2; 0 j; R r = 1; j -> a, b, r
        init a.q = k; init b.q = 2; output v = a.e }";
    for k in [3.0, 1.0, 1.0 + 1e-9] {
        assert_as_anew(text, &[], &[("k", number(k))]);
        assert_as_anew(text, &[("k", "3")], &[("k", number(k))]);
    }
}

/// What can vanish within its tolerance either way is another mistake where it is zero now.
#[test]
fn divisors_that_can_vanish_may_be_zero_at_the_new_value() {
    let text = "model m { param n = 0.1 ±0.2; input u = 1; Se s = u; TF t = n; R r = 2
        s -> t; t -> r; output y = r.f }";
    for value in [0.0, 0.05, -0.1] {
        assert_as_anew(text, &[], &[("n", number(value))]);
        assert_as_anew(text, &[("n", "0")], &[("n", number(value))]);
    }
    assert_sweep(QUESTIONS, text, "n", &[0.1, 0.0, 0.1, -0.1]);
}

/// What stages take for granted about values, one decision each: a model in which it alone hangs on the new value.
/// Tolerances make what can vanish while its sign and all other values stay as they are.
#[test]
fn every_decision_on_values_is_guarded() {
    assert_guarded(QUESTIONS, &[
        (
            "a derived parameter is finite",
            "model m { param k = 2; param a = sqrt(k); Se s = 1; 1 j; R r = 1; C c = 1; s -> j; j -> r, c
                output y = c.e }",
            &[("k", -1.0)],
        ),
        (
            "percents are of something",
            "model m { param k = 2 ±10%; Se s = 1; 1 j; R r = 1; C c = 1; s -> j; j -> r, c; output y = k*c.e }",
            &[("k", 0.0)],
        ),
        (
            "the size of a tolerance",
            "model m { param w = 0.1; param n = 1 ±w; Se s = 1; TF t = n; R r = 2; s -> t; t -> r; output y = r.f }",
            &[("w", 2.0)],
        ),
        (
            "a value lies within its bounds",
            "model m { param top = 10; param k = 3 in [1, top]; Se s = 1; R r = k; s -> r; output y = r.f }",
            &[("top", 2.0)],
        ),
        (
            "a value is finite",
            "model m { param k = 2; Se s = sqrt(k); 1 j; R r = 1; C c = 1; s -> j; j -> r, c; output y = c.e }",
            &[("k", -1.0)],
        ),
        (
            "a closed switch has a resistance",
            "model m { param Ron = 1; Se s = 1; 1 j; Sw w when (t > 1) { Ron = Ron; Goff = 0.1 }; C c = 1
                s -> j; j -> w, c; output y = c.e }",
            &[("Ron", -1.0)],
        ),
        (
            "an open switch drives no flow",
            "model m { param G = 0.1; Se s = 1; 1 j; Sw w when (t > 1) { Ron = 1; Goff = G }; C c = 1
                s -> j; j -> w, c; output y = c.e }",
            &[("G", -0.1)],
        ),
        (
            "a switch can be turned round",
            "model m { param G = 1 ±0.5; Sf s = 1; 1 j; Sw w when (t > 1) { Ron = 1; Goff = G }; R r = 1
                s -> j; j -> w, r; output y = w.e }",
            &[("G", 0.3)],
        ),
        (
            "a storage is positive",
            "model m { param C = 1; Se s = 1; 1 j; R r = 1; C c = C; s -> j; j -> r, c; output y = c.e }",
            &[("C", -1.0)],
        ),
        (
            "a field is positive definite",
            "model m { param b = 0.5; Se s = 1; 1 l; 0 n; C c[2] = [[2, b], [b, 3]]; R r = 1; R x = 1
                s -> l; l -> c.1, x; n -> c.2, r; output y = c.e2 }",
            &[("b", 3.0)],
        ),
        (
            "a law stores positive energy",
            "model m { param a = 1; Se s = 1; 1 j; R r = 1; C c { e = a*q + q^3 }; s -> j; j -> r, c; output y = c.e }",
            &[("a", -1.0)],
        ),
        (
            "a modulus cannot vanish",
            "model m { param n = 1 ±0.5; Se s = 1; TF t = n; R r = 2; s -> t; t -> r; output y = r.f }",
            &[("n", 0.3)],
        ),
        (
            "the reciprocal of a modulus cannot vanish",
            "model m { param a = 1 ±0.5; Sf s = 1; TF t = 1/a; R r = 2; s -> t; t -> r; output y = r.e }",
            &[("a", 0.3)],
        ),
        (
            "a resistance cannot vanish",
            "model m { param R = 1 ±0.5; Se s = 1; R r = R; s -> r; output y = r.f }",
            &[("R", 0.3)],
        ),
        (
            "a law can be turned round",
            "model m { param k = 1 ±0.5; Se s = 1; R r { e = k*f*abs(f) }; s -> r; output y = r.f }",
            &[("k", 0.3)],
        ),
        (
            "a divisor that can vanish is not zero",
            "model m { param n = 0.1 ±0.2; Se s = 1; TF t = n; R r = 2; s -> t; t -> r; output y = r.f }",
            &[("n", 0.0)],
        ),
        (
            "the law of a field can be solved",
            "model m { param k = 2 ±1; Se s = 1; Se z = 2; 1 a; 1 c; C y = 1; R x = 1
                R f[2] { 2*e1 = k*f1*abs(f1); e2 = 3*f2 }
                s -> a; z -> c; a -> f.1, y; c -> f.2, x; output v = y.e }",
            &[("k", 0.5)],
        ),
        (
            "the pivot of a linear loop cannot vanish",
            "model m { param R = 3 ±1; Se s = 1; 1 a; R r = R; R x = 2; C c = 1; s -> a; a -> r, x, c; output y = c.e }",
            &[("R", -1.5)],
        ),
        (
            "a nonlinear loop has one solution",
            "model m { param R = 3; param k = 2; Sf s = 1; 0 b; C c = 1; 1 a; R r { e = k*f*abs(f) }; R x = R
                s -> b; b -> c, a; a -> r, x; output y = c.e; output f = r.f }",
            &[("R", -3.0)],
        ),
        (
            "the pivot of what is linear in a nonlinear loop cannot vanish",
            "model m { param R = 3 ±1; Se s = 1; 1 a; R r = R; R x = 2; 0 b; R n { f = e^3 + 2*e }; 1 c; R o = 5
                0 d; R p = 1; R q { f = e^5 + e }
                s -> a; a -> r, x, b; b -> n, c; c -> o, d; d -> p, q; output y = n.e; output f = x.f }",
            &[("R", -1.5)],
        ),
        (
            "a divisor of the equations is not zero",
            "model m { param a = 3; Se s = 1; 1 j; R r = 1; C c = 1; s -> j; j -> r, c; output y = c.e/(a - 2) }",
            &[("a", 2.0)],
        ),
        (
            "initial states agree",
            "model m { param k = 1; C a = 1; C b = 2; 0 j; R r = 1; j -> a, b, r; init a.q = k; init b.q = 2
                output v = a.e }",
            &[("k", 3.0)],
        ),
        (
            "an input that an initial state hangs on",
            "model m { input u = 1; Se s = u; 1 a; C c = 1; 0 b; C d = 2; R r = 1; s -> a; a -> c, b; b -> d, r
                init d.q = 5; output v = c.e }",
            &[("u", 3.0)],
        ),
        (
            "the coefficient of an initial state cannot vanish",
            "model m { param b = 0.5; Se s = 1; R x = 1; 1 i; 0 j; C c = 1; C f[2] = [[2, b], [b, 3]]; R r = 1
                s -> i; i -> x, j; j -> c, f.1, f.2, r; init f.q1 = 2; output v = c.e }",
            &[("b", -2.0)],
        ),
        (
            "the law of an initial state can be solved",
            "model m { param k = 2 ±1; Se s = 1; R x = 1; 1 i; 0 j; C c = 1; C f[2] { 2*q1 = atan(k*e1); q2 = e2 }
                R r = 1; 0 n; R y = 1; 1 o
                s -> i; i -> x, j; j -> c, f.1, r, o; o -> y, n; n -> f.2; init f.q1 = 0.3; output v = c.e }",
            &[("k", 0.5)],
        ),
    ]);
}

#[test]
fn a_guard_may_fail_in_the_middle_of_a_sweep_and_hold_again() {
    assert_sweep(QUESTIONS, CIRCUIT, "Ra", &[2.0, 1.0, 0.0, -1.0, 0.0, 1.0, 2.0]);
    assert_sweep(QUESTIONS, CIRCUIT, "n", &[1.0, 0.0, -1.0, 2.0]);
    assert_sweep(QUESTIONS, CIRCUIT, "C", &[1.0, 0.0, 0.25]);
    assert_sweep(QUESTIONS, LOOP, "R1", &[1.0, 0.0, 2.0, -3.0, 2.0]);
    assert_sweep(QUESTIONS, &orifice("e = k*f*abs(f)", "Se"), "k", &[1.0, -1.0, 0.0, 1.0, 2.0]);
    assert_sweep(QUESTIONS, &orifice("e = k*sign(f)*abs(f)^n", "Se"), "n", &[1.0, 2.0, 0.0, 0.5, -1.0, 1.5]);
    assert_sweep(QUESTIONS, example("relay"), "Gl", &[1e-4, 0.0, 1e-3]);
}

/// Equations of large models are used as they are derived, with the pivots that were chosen for the values.
#[test]
fn pivots_of_large_models_are_chosen_for_the_new_values() {
    let text = "model cell { port a; port b; 1 i; R r = 1; 0 n; C c = 1; a -> i; i -> r, n; n -> c, b }
        model m { param a = 2 ±1; Se s = 1; Se z = 2; 1 l; 1 o; R x = 1; R f[2] = [[a, 1], [1, 3]]
        use cell cells[1..201]; R last = 1; s -> l; l -> f.1, cells[1].a; z -> o; o -> f.2, x
        for i in 1..200 { cells[i].b -> cells[i+1].a }; cells[201].b -> last; output y = last.f; output v = f.f1 }";
    let model = common::sound(text);
    for value in [0.5, 0.1, 5.0] {
        let (found, expected) = (model.with([("a", value)]), anew(text, &[], &[("a", number(value))]));
        for (question, ask) in [QUESTIONS[0], QUESTIONS[3]] {
            assert_eq!(difference(&ask(&found), &ask(&expected), question, 0.0), None, "a = {value}");
        }
    }
}
