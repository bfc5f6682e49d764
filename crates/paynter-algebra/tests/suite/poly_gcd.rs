//! Greatest common divisors and fractions: by construction, by evaluation,
//! and against results recorded from FLINT.

#![allow(clippy::unwrap_used, clippy::panic)]

use paynter_algebra::poly::{Budget, Fraction, Integer, Poly, PolyError, Work};
use paynter_base::CancellationToken;
use proptest::prelude::*;

const PRIME: u64 = 4_611_686_018_427_387_847;

fn poly(variables: usize, terms: usize, degree: u32, size: i64) -> impl Strategy<Value = Poly> {
    let exponents = prop::collection::vec(prop_oneof![2 => Just(0u32), 2 => 0..=degree], variables);
    prop::collection::vec((exponents, -size..=size), 1..=terms)
        .prop_map(|t| Poly::from_terms(t.into_iter().map(|(e, c)| (e, Integer::from(c)))).unwrap())
        .prop_filter("not 0", |p| !p.is_zero())
}

/// A cofactor or a divisor: small, dense in one variable, in many variables, of high degree, with large coefficients.
fn any_poly() -> impl Strategy<Value = Poly> {
    prop_oneof![
        3 => poly(3, 6, 3, 9),
        1 => poly(1, 12, 12, 99),
        1 => poly(9, 6, 2, 5),
        1 => poly(4, 3, 40, 9),
        1 => poly(2, 4, 3, 1 << 40),
        1 => poly(2, 10, 6, 3),
    ]
}

proptest! {
    #[test]
    fn a_common_factor_is_found_and_nothing_else(a in any_poly(), b in any_poly(), g in any_poly()) {
        let work = Work::default();
        let (x, y) = (a.mul(&g, &work).unwrap(), b.mul(&g, &work).unwrap());
        let found = x.gcd(&y, &work).unwrap();
        prop_assert!(!found.is_negative());
        prop_assert!(found.div_exact(&g, &work).unwrap().is_some(), "{} does not contain {}", found, g);
        let (p, q) = (x.div_exact(&found, &work).unwrap(), y.div_exact(&found, &work).unwrap());
        let (Some(p), Some(q)) = (p, q) else { return Err(TestCaseError::fail("divides neither")) };
        prop_assert!(p.gcd(&q, &work).unwrap().is_one());
        prop_assert_eq!(y.gcd(&x, &work).unwrap(), found);
    }

    #[test]
    fn fractions_obey_the_field_laws(
        a in poly(3, 3, 2, 5), b in poly(3, 3, 2, 5), c in poly(3, 3, 2, 5), d in poly(3, 3, 2, 5),
        at in prop::collection::vec(1..PRIME, 9),
    ) {
        let work = Work::default();
        let x = Fraction::new(a.clone(), b.clone(), &work).unwrap();
        let y = Fraction::new(c.clone(), d.mul(&b, &work).unwrap(), &work).unwrap();
        let sum = x.add(&y, &work).unwrap();
        let value = |f: &Fraction| f.evaluate_modulo(PRIME, &at).unwrap();
        prop_assert_eq!(value(&sum), ((u128::from(value(&x)) + u128::from(value(&y))) % u128::from(PRIME)) as u64);
        let product = x.mul(&y, &work).unwrap();
        prop_assert_eq!(value(&product), (u128::from(value(&x)) * u128::from(value(&y)) % u128::from(PRIME)) as u64);
        for f in [&sum, &product] {
            prop_assert!(f.numerator().gcd(f.denominator(), &work).unwrap().is_one() || f.is_zero());
            prop_assert!(!f.denominator().is_negative());
        }
        // Equal functions are equal data, whatever way they were made.
        prop_assert_eq!(sum.sub(&y, &work).unwrap(), x.clone());
        prop_assert_eq!(product.div(&y, &work).unwrap(), x.clone());
        prop_assert_eq!(Fraction::sum(&[x.clone(), y.clone(), x.neg(), x.clone()], &work).unwrap(), sum);
        // (x·y)' = x'·y + x·y'
        let left = product.derivative(0, &work).unwrap();
        let right = x.derivative(0, &work).unwrap().mul(&y, &work).unwrap()
            .add(&x.mul(&y.derivative(0, &work).unwrap(), &work).unwrap(), &work).unwrap();
        prop_assert_eq!(left, right);
        prop_assert_eq!(x.pow(-2, &work).unwrap().mul(&x.pow(2, &work).unwrap(), &work).unwrap(), Fraction::one());
        // Substitution of x0 by y is evaluation of x at y's value.
        if let (Ok(inner), Some(v)) = (x.substitute(0, &y, &work), y.evaluate_modulo(PRIME, &at)) {
            let mut there = at.clone();
            there[0] = v;
            if let (Some(p), Some(q)) = (inner.evaluate_modulo(PRIME, &at), x.evaluate_modulo(PRIME, &there)) {
                prop_assert_eq!(p, q);
            }
        }
    }
}

fn parse(line: &str) -> Poly {
    let terms = line.split_whitespace().map(|term| {
        let (coefficient, exponents) = term.split_once(':').unwrap();
        let exponents = exponents.split(',').map(|e| e.parse().unwrap()).collect();
        (exponents, Integer::from(coefficient.parse::<dashu_int::IBig>().unwrap()))
    });
    Poly::from_terms(terms).unwrap()
}

#[test]
fn divisors_agree_with_flint() {
    let lines: Vec<&str> = include_str!("../data/gcd_cases.txt").lines().collect();
    for case in lines.chunks_exact(4) {
        let [name, a, b, expected] = case else { unreachable!() };
        let (a, b, expected) = (parse(a), parse(b), parse(expected));
        let work = Work::default();
        let found = a.gcd(&b, &work).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(found, expected, "{name}");
    }
}

#[test]
fn zero_and_constants_have_their_divisors() {
    let work = Work::default();
    let (zero, six, four) = (Poly::zero(), Poly::constant(6), Poly::constant(-4));
    assert_eq!(six.gcd(&four, &work).unwrap(), Poly::constant(2));
    assert_eq!(zero.gcd(&four, &work).unwrap(), Poly::constant(4));
    assert_eq!(zero.gcd(&zero, &work).unwrap(), zero);
    assert_eq!(Fraction::new(six, zero.clone(), &work), Err(PolyError::DivisionByZero));
    assert_eq!(Fraction::zero().inverse(), Err(PolyError::DivisionByZero));
    assert!(Fraction::new(zero, four, &work).unwrap().is_zero());
}

#[test]
fn budgets_end_the_search_for_a_divisor() {
    let power =
        |e: u32| Poly::from_terms([(vec![e], 1.into()), (vec![1], 3.into()), (vec![], 1.into())]).unwrap();
    let work = Work::default();
    assert!(matches!(
        power(4_000_000_007).gcd(&power(4_000_000_009), &work),
        Err(PolyError::BudgetExceeded { .. })
    ));
    let lines: Vec<&str> = include_str!("../data/gcd_cases.txt").lines().collect();
    for case in lines.chunks_exact(4) {
        let (a, b) = (parse(case[1]), parse(case[2]));
        for steps in [1, 1000, 50_000] {
            let work = Work::new(Budget { steps, ..Budget::default() }, &CancellationToken::new());
            match a.gcd(&b, &work) {
                Ok(found) => assert_eq!(found, parse(case[3]), "{}", case[0]),
                Err(error) => assert!(matches!(error, PolyError::BudgetExceeded { .. })),
            }
        }
        let token = CancellationToken::new();
        token.cancel();
        let work = Work::new(Budget::default(), &token);
        if let Ok(found) = a.gcd(&b, &work) {
            assert_eq!(found, parse(case[3]), "{}", case[0]);
        }
    }
}
