//! Arithmetic of polynomials against evaluation at points, which is a ring
//! homomorphism and so an independent route.

#![allow(clippy::unwrap_used, clippy::panic)]

use dashu_int::IBig;
use dashu_ratio::RBig;
use paynter_algebra::poly::{Budget, Integer, Poly, PolyError, Ring, Work};
use paynter_base::CancellationToken;
use proptest::prelude::*;

const PRIME: u64 = 4_611_686_018_427_387_847;

fn coefficient() -> impl Strategy<Value = Integer> {
    prop_oneof![
        4 => (-9i64..=9).prop_map(Integer::from),
        1 => any::<i64>().prop_map(Integer::from),
        1 => (any::<i128>(), any::<i64>()).prop_map(|(a, b)| Integer::from(IBig::from(a) * IBig::from(b))),
    ]
}

fn poly(variables: usize, terms: usize, degree: u32) -> impl Strategy<Value = Poly> {
    let exponents = prop::collection::vec(prop_oneof![3 => Just(0u32), 2 => 0..=degree], variables);
    prop::collection::vec((exponents, coefficient()), 0..=terms).prop_map(|t| Poly::from_terms(t).unwrap())
}

const VARIABLES: usize = 600;

/// Exponents that fill their bits, so that a carry would show.
fn full_fields() -> impl Strategy<Value = Poly> {
    let exponent = prop::sample::select(vec![0u32, 1, 3, 7, 8, 15, 16]);
    let term = (prop::collection::vec(exponent, 16), coefficient());
    prop::collection::vec(term, 0..60).prop_map(|t| Poly::from_terms(t).unwrap())
}

/// Polynomials that need one word, many words or wide fields for their exponents.
fn any_poly() -> impl Strategy<Value = Poly> {
    prop_oneof![
        4 => poly(4, 12, 5),
        2 => poly(2, 40, 7),
        1 => poly(30, 12, 9),
        1 => poly(90, 6, 3),
        1 => poly(3, 5, 1_000_000_000),
        1 => poly(VARIABLES, 4, 100),
        2 => full_fields(),
    ]
}

fn point() -> impl Strategy<Value = Vec<u64>> {
    prop::collection::vec(0..PRIME, VARIABLES)
}

fn times(a: u64, b: u64) -> u64 {
    (u128::from(a) * u128::from(b) % u128::from(PRIME)) as u64
}

fn plus(a: u64, b: u64) -> u64 {
    ((u128::from(a) + u128::from(b)) % u128::from(PRIME)) as u64
}

proptest! {
    #[test]
    fn evaluation_commutes_with_sums_and_products(a in any_poly(), b in any_poly(), c in any_poly(), at in point()) {
        let work = Work::default();
        let (x, y, z) =
            (a.evaluate_modulo(PRIME, &at), b.evaluate_modulo(PRIME, &at), c.evaluate_modulo(PRIME, &at));
        prop_assert_eq!(a.add(&b, &work).unwrap().evaluate_modulo(PRIME, &at), plus(x, y));
        prop_assert_eq!(a.sub(&b, &work).unwrap().evaluate_modulo(PRIME, &at), plus(x, PRIME - y));
        let product = a.mul(&b, &work).unwrap();
        prop_assert_eq!(product.evaluate_modulo(PRIME, &at), times(x, y));
        let sum = Poly::sum_of_products(&[(false, &a, &b), (true, &b, &c), (false, &c, &c)], &work).unwrap();
        let expected = plus(plus(times(x, y), PRIME - times(y, z)), times(z, z));
        prop_assert_eq!(sum.evaluate_modulo(PRIME, &at), expected);
        // The result is canonical: any other way to the same polynomial gives the same.
        let other = product.sub(&b.mul(&c, &work).unwrap(), &work).unwrap().add(&c.mul(&c, &work).unwrap(), &work);
        prop_assert_eq!(sum, other.unwrap());
    }

    #[test]
    fn many_rows_agree_with_the_distributive_law(a in poly(5, 60, 3), b in poly(5, 60, 3), c in poly(2, 60, 9), d in poly(2, 60, 9)) {
        let work = Work::default();
        for (a, b) in [(&a, &b), (&c, &d), (&a, &c)] {
            let mut sum = Poly::zero();
            for (exponents, coefficient) in a.terms() {
                let term = Poly::from_terms([(exponents, coefficient.clone())]).unwrap();
                sum = sum.add(&term.mul(b, &work).unwrap(), &work).unwrap();
            }
            prop_assert_eq!(a.mul(b, &work).unwrap(), sum);
        }
    }

    #[test]
    fn division_undoes_multiplication_and_detects_remainders(a in any_poly(), b in any_poly(), c in poly(4, 3, 3)) {
        let work = Work::default();
        prop_assume!(!b.is_zero());
        let product = a.mul(&b, &work).unwrap();
        prop_assert_eq!(product.div_exact(&b, &work).unwrap(), Some(a));
        let other = product.add(&c, &work).unwrap();
        if let Some(quotient) = other.div_exact(&b, &work).unwrap() {
            prop_assert_eq!(quotient.mul(&b, &work).unwrap(), other);
        }
    }

    #[test]
    fn derivative_obeys_the_product_rule(a in any_poly(), b in any_poly(), v in 0usize..3) {
        let work = Work::default();
        let left = a.mul(&b, &work).unwrap().derivative(v);
        let right = Poly::sum_of_products(&[(false, &a.derivative(v), &b), (false, &a, &b.derivative(v))], &work);
        prop_assert_eq!(left, right.unwrap());
    }

    #[test]
    fn coefficients_put_together_give_the_polynomial(a in any_poly(), v in 0usize..4) {
        let work = Work::default();
        let parts = a.coefficients(v);
        prop_assert!(parts.iter().all(|(_, c)| c.degree(v) == 0 && !c.is_zero()));
        prop_assert!(parts.windows(2).all(|w| w[0].0 > w[1].0));
        prop_assert_eq!(Poly::from_coefficients(v, &parts, &work).unwrap(), a);
    }

    #[test]
    fn substitution_is_evaluation_of_one_variable(a in poly(4, 12, 5), b in poly(4, 4, 3), at in point(), v in 0usize..4) {
        let work = Work::default();
        let mut there = at.clone();
        there[v] = b.evaluate_modulo(PRIME, &at);
        let substituted = a.substitute(v, &b, &work).unwrap();
        prop_assert_eq!(substituted.evaluate_modulo(PRIME, &at), a.evaluate_modulo(PRIME, &there));
    }

    #[test]
    fn content_and_primitive_part_multiply(a in any_poly(), k in coefficient()) {
        prop_assume!(!a.is_zero() && !k.is_zero());
        let scaled = a.scale(&k);
        prop_assert_eq!(scaled.content(), &a.content() * &k.abs());
        prop_assert!(!scaled.primitive_part().is_negative());
        prop_assert_eq!(scaled.primitive_part(), a.primitive_part());
    }

    #[test]
    fn integers_agree_with_big_integers(a in coefficient(), b in coefficient()) {
        let (x, y) = (a.to_ibig(), b.to_ibig());
        prop_assert_eq!((&a + &b).to_ibig(), &x + &y);
        prop_assert_eq!((&a - &b).to_ibig(), &x - &y);
        prop_assert_eq!((&a * &b).to_ibig(), &x * &y);
        prop_assert_eq!((-&a).to_ibig(), -&x);
        prop_assert_eq!(a.cmp(&b), x.cmp(&y));
        let g = a.gcd(&b);
        if !g.is_zero() {
            prop_assert!(a.div_exact(&g).is_some() && b.div_exact(&g).is_some());
        }
        if !b.is_zero() {
            prop_assert_eq!((&a * &b).div_exact(&b), Some(a));
        }
    }

    #[test]
    fn rational_and_floating_values_agree(a in poly(3, 8, 4), p in -20i64..20, q in 1i64..9) {
        let exact = RBig::from_parts(IBig::from(p), (q as u64).into());
        let value = a.evaluate_rational(&[exact.clone(), exact.clone(), exact]);
        let float = a.evaluate_f64(&[p as f64 / q as f64; 3]);
        let expected = value.to_f64().value();
        let scale: f64 = a.terms().map(|(e, c)| c.to_f64().abs() * (p as f64 / q as f64).abs().powi(e.iter().sum::<u32>() as i32)).sum();
        prop_assert!((float - expected).abs() <= 1e-9 * scale);
    }
}

#[test]
fn text_names_the_variables() {
    let ring = Ring::new(&["s", "m", "k"]);
    let p = Poly::from_terms([
        (vec![2, 1], Integer::from(1)),
        (vec![0, 0, 1], Integer::from(-3)),
        (vec![], Integer::from(7)),
    ])
    .unwrap();
    assert_eq!(p.display(&ring).to_string(), "s^2*m - 3*k + 7");
    assert_eq!(Poly::zero().to_string(), "0");
}

#[test]
fn exponents_that_overflow_are_an_error() {
    let work = Work::default();
    let high = Poly::monomial(1i64, &[(1, u32::MAX)]).unwrap();
    assert_eq!(high.mul(&high, &work), Err(PolyError::ExponentTooLarge));
    assert_eq!(high.pow(2, &work), Err(PolyError::ExponentTooLarge));
    let sum = high.add(&Poly::one(), &work).unwrap();
    assert_eq!(sum.pow(2, &work), Err(PolyError::ExponentTooLarge));
}

#[test]
fn powers_have_binomial_coefficients() {
    let work = Work::default();
    let x = Poly::variable(0).unwrap().add(&Poly::one(), &work).unwrap();
    let power = x.pow(70, &work).unwrap();
    // 70 over 35 does not fit into 64 bits.
    let middle = power.terms().nth(35).unwrap().1.clone();
    assert_eq!(middle.to_string(), "112186277816662845432");
    assert_eq!(power.evaluate_rational(&[RBig::ONE]), RBig::from(IBig::from(2).pow(70)));
}

#[test]
fn budgets_end_products_and_powers() {
    let work = Work::new(Budget { terms: 1000, ..Budget::default() }, &CancellationToken::new());
    let mut sum = Poly::one();
    for v in 0..20 {
        sum = sum.add(&Poly::variable(v).unwrap(), &work).unwrap();
    }
    assert!(matches!(sum.pow(6, &work), Err(PolyError::BudgetExceeded { .. })));
    let work = Work::new(Budget { steps: 100_000, ..Budget::default() }, &CancellationToken::new());
    assert!(matches!(sum.pow(30, &work), Err(PolyError::BudgetExceeded { .. })));
    let token = CancellationToken::new();
    token.cancel();
    let work = Work::new(Budget { terms: usize::MAX, steps: u64::MAX }, &token);
    assert_eq!(sum.pow(30, &work), Err(PolyError::Cancelled));
}
