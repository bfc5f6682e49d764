//! Upper bounds against published values and against exact ones.

use num_complex::Complex64;
use paynter_base::CancellationToken;
use paynter_robust::upper::{Goal, Structure, proves, upper};
use paynter_robust::{Block, Matrix};

/// The matrix of SLICOT's documentation of AB13MD.
fn slicot() -> (Matrix<Complex64>, Vec<Block>) {
    let rows = [
        [(-1, 6), (2, -3), (3, 8), (3, 8), (-5, -9), (-6, 2)],
        [(4, 2), (-2, 5), (-6, -7), (-4, 11), (8, -7), (12, -1)],
        [(5, -4), (-4, -8), (1, -3), (-6, 14), (2, -5), (4, 16)],
    ];
    let entry = |i: usize, j: usize| {
        let (re, im): (i32, i32) = rows[i % 3][j];
        Complex64::new(f64::from(re), f64::from(im))
    };
    let blocks = vec![Block::Real(1), Block::Real(1), Block::Full(2), Block::Full(1), Block::Full(1)];
    (Matrix::from_fn(6, 6, entry), blocks)
}

#[test]
fn the_example_of_ab13md() {
    let (m, blocks) = slicot();
    let structure = Structure::new(&blocks);
    let found = upper(&m, &structure, None, Goal::Best(1e-9), &CancellationToken::new()).unwrap();
    assert!((found.beta - 41.7475340844).abs() < 1e-6, "{}", found.beta);
    assert!(proves(&m, &structure, &found.scaling, found.beta * (1.0 + 1e-9)));
    assert!(!proves(&m, &structure, &found.scaling, found.beta * 0.999));
    let again = upper(&m, &structure, Some(&found), Goal::Best(1e-9), &CancellationToken::new()).unwrap();
    assert!((again.beta - 41.7475340844).abs() < 1e-6, "{}", again.beta);
}

/// Random numbers from a seed.
struct Random(paynter_base::random::Random);

impl Random {
    fn matrix(&mut self, n: usize) -> Matrix<Complex64> {
        Matrix::from_fn(n, n, |_, _| Complex64::new(self.0.symmetric(), self.0.symmetric()))
    }
}

/// The largest 1/|δ| at which det(I − M δ) = 0 for one real parameter repeated: over the real eigenvalues.
#[test]
fn one_repeated_real_parameter_is_its_largest_real_eigenvalue() {
    // A real matrix has real eigenvalues: at ω = 0 the bound must hold them.
    for seed in 0..20 {
        let mut random = paynter_base::random::Random::new(seed);
        let n = 2 + seed as usize % 3;
        let real = Matrix::from_fn(n, n, |_, _| random.symmetric());
        let exact = real
            .eigenvalues()
            .unwrap()
            .iter()
            .filter(|z| z.im == 0.0)
            .fold(0.0f64, |most, z| most.max(z.re.abs()));
        let structure = Structure::new(&[Block::Real(n)]);
        let found =
            upper(&real.complex(), &structure, None, Goal::Best(1e-6), &CancellationToken::new()).unwrap();
        assert!(found.beta >= exact * (1.0 - 1e-9), "seed {seed}: {} below {exact}", found.beta);
        // One repeated block: the scalings lose nothing.
        if exact > 0.01 {
            assert!(found.beta <= exact * 1.001, "seed {seed}: {} above {exact}", found.beta);
        }
    }
}

/// Exact values for two real parameters by brute force: det(I − M diag(δ)) = 0 is one complex equation in
/// two real unknowns, solved by elimination.
#[test]
fn two_real_parameters_by_brute_force() {
    let mut exact_ones = 0;
    for seed in 0..200 {
        let m = Random(paynter_base::random::Random::new(seed)).matrix(2);
        // 1 − a δ1 − b δ2 + c δ1 δ2 = 0 with complex a, b, c.
        let (a, b) = (m[(0, 0)], m[(1, 1)]);
        let c = a * b - m[(0, 1)] * m[(1, 0)];
        // δ2 = (1 − a δ1)/(b − c δ1) must be real: Im((1 − a x) conj(b − c x)) = 0, a quadratic in x.
        let p2 = (a * c.conj()).im;
        let p1 = (-a * b.conj() - c.conj()).im;
        let p0 = b.conj().im;
        let root = (p1 * p1 - 4.0 * p2 * p0).sqrt();
        let mut exact = 0.0f64;
        for x in [(-p1 + root) / (2.0 * p2), (-p1 - root) / (2.0 * p2)] {
            let y = (1.0 - a * x) / (b - c * x);
            if x.is_finite() && y.re.is_finite() {
                assert!(y.im.abs() < 1e-6 * y.norm(), "{y}");
                exact = exact.max(1.0 / x.abs().max(y.re.abs()));
            }
        }
        let structure = Structure::new(&[Block::Real(1), Block::Real(1)]);
        let found = upper(&m, &structure, None, Goal::Best(1e-6), &CancellationToken::new()).unwrap();
        assert!(found.beta >= exact * (1.0 - 1e-9), "seed {seed}: {} below {exact}", found.beta);
        assert!(proves(&m, &structure, &found.scaling, found.beta * (1.0 + 1e-9)));
        exact_ones += usize::from(found.beta <= exact * 1.001);
    }
    // The bound is often exact for two blocks.
    assert!(exact_ones > 25, "{exact_ones}");
}

/// Norms and spectral radii are the extreme structures.
#[test]
fn full_and_repeated_blocks_are_norm_and_spectral_radius() {
    for seed in 0..20 {
        let m = Random(paynter_base::random::Random::new(1000 + seed)).matrix(4);
        let norm = m.norm().unwrap().0;
        let radius = m.eigenvalues().unwrap().iter().fold(0.0f64, |most, z| most.max(z.norm()));
        let bound = |blocks: &[Block]| {
            upper(&m, &Structure::new(blocks), None, Goal::Best(1e-7), &CancellationToken::new())
                .unwrap()
                .beta
        };
        assert!((bound(&[Block::Full(4)]) / norm - 1.0).abs() < 1e-4);
        let repeated = bound(&[Block::Repeated(4)]);
        assert!(repeated >= radius * (1.0 - 1e-9) && repeated < radius * 1.001, "{repeated} {radius}");
        // Finer structure, smaller bound; real less than complex.
        let mixed = bound(&[Block::Real(2), Block::Full(1), Block::Real(1)]);
        let complex = bound(&[Block::Repeated(2), Block::Full(1), Block::Full(1)]);
        assert!(mixed <= complex * (1.0 + 1e-5) && complex <= norm * (1.0 + 1e-5));
    }
}
