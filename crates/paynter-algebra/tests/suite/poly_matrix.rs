//! Determinants, linear systems and sensitivities against arithmetic modulo a
//! prime and against each other.

#![allow(clippy::unwrap_used, clippy::panic)]

use paynter_algebra::poly::{Budget, Fraction, Matrix, Poly, PolyError, Work};
use paynter_base::CancellationToken;
use proptest::prelude::*;

const PRIME: u64 = 4_611_686_018_427_387_847;

fn times(a: u64, b: u64) -> u64 {
    (u128::from(a) * u128::from(b) % u128::from(PRIME)) as u64
}

fn minus(a: u64, b: u64) -> u64 {
    if a >= b { a - b } else { a + (PRIME - b) }
}

fn inverse(a: u64) -> u64 {
    let (mut power, mut square, mut exponent) = (1, a, PRIME - 2);
    while exponent > 0 {
        if exponent & 1 == 1 {
            power = times(power, square);
        }
        square = times(square, square);
        exponent >>= 1;
    }
    power
}

/// Plain Gaussian elimination modulo the prime.
fn determinant_modulo(matrix: &Matrix, at: &[u64]) -> u64 {
    let size = matrix.rows();
    let mut rows: Vec<Vec<u64>> = (0..size)
        .map(|i| (0..size).map(|j| matrix.get(i, j).map_or(0, |p| p.evaluate_modulo(PRIME, at))).collect())
        .collect();
    let mut determinant = 1;
    for k in 0..size {
        let Some(pivot) = (k..size).find(|&i| rows[i][k] != 0) else { return 0 };
        if pivot != k {
            rows.swap(k, pivot);
            determinant = minus(0, determinant);
        }
        determinant = times(determinant, rows[k][k]);
        let head = inverse(rows[k][k]);
        for i in k + 1..size {
            let factor = times(rows[i][k], head);
            let pivot_row = rows[k].clone();
            rows[i].iter_mut().zip(pivot_row).for_each(|(x, y)| *x = minus(*x, times(factor, y)));
        }
    }
    determinant
}

fn entry() -> impl Strategy<Value = Poly> {
    let term = (prop::collection::vec(0u32..2, 4), -3i64..=3);
    prop::collection::vec(term, 1..3)
        .prop_map(|t| Poly::from_terms(t.into_iter().map(|(e, c)| (e, c.into()))).unwrap())
}

/// Square matrices from nearly empty to nearly full.
fn matrix(most_rows: usize) -> impl Strategy<Value = Matrix> {
    (1..=most_rows, 1u32..=9).prop_flat_map(|(size, fill)| {
        let cell = prop_oneof![fill => entry(), 10 - fill => Just(Poly::zero())];
        prop::collection::vec(cell, size * size).prop_map(move |cells| {
            let mut matrix = Matrix::new(size, size);
            for (place, value) in cells.into_iter().enumerate() {
                matrix.set(place / size, place % size, value);
            }
            matrix
        })
    })
}

fn product(matrix: &Matrix, vector: &[Poly], work: &Work) -> Vec<Poly> {
    let by_row = matrix.transpose();
    (0..matrix.rows())
        .map(|row| {
            let pairs: Vec<(bool, &Poly, &Poly)> =
                by_row.column(row).iter().map(|(column, m)| (false, m, &vector[*column])).collect();
            Poly::sum_of_products(&pairs, work).unwrap()
        })
        .collect()
}

proptest! {
    #[test]
    fn determinants_agree_with_elimination_modulo_a_prime(m in matrix(7), at in prop::collection::vec(1..PRIME, 4)) {
        let work = Work::default();
        let determinant = m.determinant(&work).unwrap();
        prop_assert_eq!(determinant.evaluate_modulo(PRIME, &at), determinant_modulo(&m, &at));
        prop_assert_eq!(m.transpose().determinant(&work).unwrap(), determinant);
    }

    #[test]
    fn the_matrix_times_its_adjoint_is_the_determinant(m in matrix(7), v in prop::collection::vec(prop_oneof![Just(Poly::zero()), entry()], 7)) {
        let work = Work::default();
        let v = &v[..m.rows()];
        let (determinant, x) = m.adjoint_times(v, &work).unwrap();
        let expected: Vec<Poly> = v.iter().map(|v| v.mul(&determinant, &work).unwrap()).collect();
        prop_assert_eq!(product(&m, &x, &work), expected);
    }

    #[test]
    fn transfer_functions_agree_with_solutions_and_derivatives(
        m in matrix(4),
        b in prop::collection::vec(prop_oneof![3 => Just(Poly::zero()), 1 => entry()], 7),
        c in prop::collection::vec(prop_oneof![3 => Just(Poly::zero()), 1 => entry()], 7),
    ) {
        let work = Work::default();
        let (b, c) = (&b[..m.rows()], &c[..m.rows()]);
        let right: Vec<Fraction> = b.iter().map(|p| p.clone().into()).collect();
        if m.determinant(&work).unwrap().is_zero() {
            prop_assert_eq!(m.solve(&right, &work), Err(PolyError::DivisionByZero));
            return Ok(());
        }
        let x = m.solve(&right, &work).unwrap();
        let parts: Vec<Fraction> = c.iter().zip(&x).map(|(c, x)| x.mul(&c.clone().into(), &work).unwrap()).collect();
        let expected = Fraction::sum(&parts, &work).unwrap();
        prop_assert_eq!(m.transfer(c, b, &work).unwrap(), expected.clone());
        let (determinant, table) = m.transfer_matrix(&[c, b], &[b, c], &work).unwrap();
        prop_assert_eq!(determinant, m.determinant(&work).unwrap());
        prop_assert_eq!(&table[0][0], &expected);
        prop_assert_eq!(&table[1][1], &m.transfer(b, c, &work).unwrap());
        let parameters = [0, 1, 2, 3];
        let s = m.sensitivities(c, b, &parameters, &work).unwrap();
        prop_assert_eq!(Fraction::new(s.numerator, s.determinant.clone(), &work).unwrap(), expected.clone());
        let square = s.determinant.mul(&s.determinant, &work).unwrap();
        for (parameter, numerator) in parameters.into_iter().zip(s.derivatives) {
            let numerator = numerator.expand(&work).unwrap();
            let derivative = Fraction::new(numerator, square.clone(), &work).unwrap();
            prop_assert_eq!(derivative, expected.derivative(parameter, &work).unwrap());
        }
    }
}

/// The pencil of a chain of masses between walls-free ends: mass i has
/// m_i s², spring and damper i connect masses i−1 and i, the first to a wall.
fn chain(masses: usize, work: &Work) -> Matrix {
    let mut matrix = Matrix::new(masses, masses);
    let var = |group: usize, i: usize| 1 + 3 * i + group;
    for i in 0..masses {
        let inertia = Poly::monomial(1, &[(0, 2), (var(0, i), 1)]).unwrap();
        matrix.add(i, i, &inertia, work).unwrap();
        let damper = Poly::monomial(1, &[(0, 1), (var(1, i), 1)]).unwrap();
        let link = damper.add(&Poly::variable(var(2, i)).unwrap(), work).unwrap();
        matrix.add(i, i, &link, work).unwrap();
        if i > 0 {
            matrix.add(i - 1, i - 1, &link, work).unwrap();
            matrix.set(i - 1, i, link.neg());
            matrix.set(i, i - 1, link.neg());
        }
    }
    matrix
}

#[test]
fn a_chain_has_the_known_number_of_terms() {
    let work = Work::default();
    for masses in 1..=6u32 {
        let matrix = chain(masses as usize, &work);
        let determinant = matrix.determinant(&work).unwrap();
        assert_eq!(determinant.len() as u64, (2 * 4u64.pow(masses) + 1) / 3);
        assert_eq!(determinant.degree(0), 2 * masses);
    }
}

#[test]
fn sensitivities_of_a_chain_have_the_known_number_of_terms() {
    let work = Work::default();
    let matrix = chain(5, &work);
    let unit = |k: usize| (0..5).map(|i| Poly::constant(i64::from(i == k))).collect::<Vec<Poly>>();
    let parameters: Vec<usize> = (1..=15).collect();
    let s = matrix.sensitivities(&unit(4), &unit(0), &parameters, &work).unwrap();
    let terms: usize = s.derivatives.iter().map(|d| d.expand(&work).unwrap().len()).sum();
    assert_eq!(terms, 20_355);
}

#[test]
fn large_sparse_matrices_of_numbers_and_s_agree_with_elimination_modulo_a_prime() {
    let work = Work::default();
    // A band, a ring, and an arrow in the wrong direction for elimination in order.
    let patterns: [fn(usize, usize, usize) -> bool; 3] = [
        |i, j, _| i.abs_diff(j) <= 2,
        |i, j, n| i.abs_diff(j) <= 1 || i.abs_diff(j) == n - 1,
        |i, j, _| i == j || i == 0 || j == 0,
    ];
    for (kind, pattern) in patterns.into_iter().enumerate() {
        let size = 70;
        let mut matrix = Matrix::new(size, size);
        for (i, j) in
            (0..size).flat_map(|i| (0..size).map(move |j| (i, j))).filter(|(i, j)| pattern(*i, *j, size))
        {
            let number = Poly::constant((i * 7 + j * 13) as i64 % 11 - 4);
            let power = Poly::monomial(i64::from(i == j), &[(0, 1)]).unwrap();
            matrix.set(i, j, number.add(&power, &work).unwrap());
        }
        let mut vector = vec![Poly::zero(); size];
        vector[3] = Poly::one();
        vector[68] = Poly::variable(1).unwrap();
        let (determinant, x) = matrix.adjoint_times(&vector, &work).unwrap();
        assert_eq!(determinant.degree(0), size as u32, "pattern {kind}");
        assert_eq!(
            determinant.evaluate_modulo(PRIME, &[12_345, 6]),
            determinant_modulo(&matrix, &[12_345, 6])
        );
        let expected: Vec<Poly> = vector.iter().map(|v| v.mul(&determinant, &work).unwrap()).collect();
        assert_eq!(product(&matrix, &x, &work), expected, "pattern {kind}");
    }
}

#[test]
fn unknowns_beside_the_way_do_not_enter_a_transfer_function() {
    // x0 feeds x1, and x2 only listens: its determinant is no part of the result.
    let work = Work::default();
    let mut matrix = Matrix::new(3, 3);
    for i in 0..3 {
        matrix.set(i, i, Poly::variable(i).unwrap());
    }
    matrix.set(1, 0, Poly::constant(-1));
    matrix.set(2, 0, Poly::constant(-1));
    let unit = |k: usize| (0..3).map(|i| Poly::constant(i64::from(i == k))).collect::<Vec<Poly>>();
    let s = matrix.sensitivities(&unit(1), &unit(0), &[2], &work).unwrap();
    assert_eq!(s.determinant, Poly::monomial(1, &[(0, 1), (1, 1)]).unwrap());
    assert!(s.derivatives[0].is_zero());
    assert!(matrix.transfer(&unit(0), &unit(1), &work).unwrap().is_zero());
}

#[test]
fn singular_matrices_are_said_to_be_so() {
    let work = Work::default();
    let x = Poly::variable(0).unwrap();
    let mut matrix = Matrix::new(2, 2);
    for i in 0..4 {
        matrix.set(i / 2, i % 2, x.clone());
    }
    assert!(matrix.determinant(&work).unwrap().is_zero());
    let one = vec![Fraction::one(), Fraction::zero()];
    assert_eq!(matrix.solve(&one, &work), Err(PolyError::DivisionByZero));
    assert_eq!(Matrix::new(2, 2).solve(&one, &work), Err(PolyError::DivisionByZero));
    assert!(Matrix::new(2, 3).determinant(&work).unwrap().is_zero());
    assert!(Matrix::new(0, 0).determinant(&work).unwrap().is_one());
}

#[test]
fn budgets_end_large_determinants() {
    let generous = Work::default();
    let matrix = chain(100, &generous);
    let small = Work::new(Budget { terms: 5000, ..Budget::default() }, &CancellationToken::new());
    let error = matrix.determinant(&small).unwrap_err();
    assert!(matches!(error, PolyError::BudgetExceeded { what: "a determinant", terms: 5001.. }), "{error}");
    // A full matrix of distinct symbols has 2^n minors: elimination takes over and the budget ends it.
    let mut full = Matrix::new(16, 16);
    for i in 0..256 {
        full.set(i / 16, i % 16, Poly::variable(i).unwrap());
    }
    assert!(matches!(full.determinant(&small), Err(PolyError::BudgetExceeded { .. })));
    let token = CancellationToken::new();
    token.cancel();
    let stopped = Work::new(Budget { terms: usize::MAX, steps: u64::MAX }, &token);
    assert_eq!(matrix.determinant(&stopped), Err(PolyError::Cancelled));
}
