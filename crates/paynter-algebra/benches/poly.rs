//! Times of polynomial determinants and sensitivities on the models of the
//! comparison with FLINT (`poly_flint.py` beside this file prints the same
//! table): `cargo bench -p paynter-algebra --bench poly`.

#![allow(clippy::unwrap_used, clippy::print_stdout, missing_docs)]

use std::time::Instant;

use paynter_algebra::poly::{Basis, Budget, Matrix, Poly, PolyError, Work};
use paynter_algebra::{Expr, Pool};
use paynter_base::CancellationToken;

fn work() -> Work {
    Work::new(Budget { terms: 5_000_000, steps: u64::MAX }, &CancellationToken::new())
}

/// Returns the seconds of processor time of this thread where the system tells, else of the clock.
fn seconds(begin: &Instant) -> f64 {
    let nanoseconds = std::fs::read_to_string("/proc/thread-self/schedstat")
        .ok()
        .and_then(|text| text.split_whitespace().next().and_then(|n| n.parse::<f64>().ok()));
    nanoseconds.map_or_else(|| begin.elapsed().as_secs_f64(), |n| n / 1e9)
}

/// Runs for about a second and prints the mean time.
fn report(name: &str, mut run: impl FnMut() -> Result<usize, PolyError>) {
    // Words on the command line choose the lines that contain one of them.
    let chosen: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with('-')).collect();
    if !chosen.is_empty() && !chosen.iter().any(|word| name.contains(word.as_str())) {
        return;
    }
    let clock = Instant::now();
    let (begin, mut runs) = (seconds(&clock), 0);
    loop {
        let result = run();
        runs += 1;
        let mean = (seconds(&clock) - begin) / f64::from(runs);
        match result {
            Err(error) => {
                println!("{name:<34} {mean:>10.5} s  {error}");
                return;
            }
            Ok(terms) if clock.elapsed().as_secs_f64() > 1.0 => {
                println!("{name:<34} {mean:>10.5} s  {terms} terms");
                return;
            }
            Ok(_) => {}
        }
    }
}

/// Variables: s, then m, b, k of each place.
struct Symbols {
    next: usize,
}

impl Symbols {
    fn next(&mut self) -> Poly {
        self.next += 1;
        Poly::variable(self.next).unwrap()
    }
}

fn power_of_s(p: &Poly, exponent: u32, work: &Work) -> Poly {
    p.mul(&Poly::monomial(1, &[(0, exponent)]).unwrap(), work).unwrap()
}

/// Adds an element between two nodes (or one node and ground) to a nodal matrix.
fn connect(matrix: &mut Matrix, a: usize, b: Option<usize>, value: &Poly, work: &Work) {
    matrix.add(a, a, value, work).unwrap();
    if let Some(b) = b {
        matrix.add(b, b, value, work).unwrap();
        matrix.add(a, b, &value.neg(), work).unwrap();
        matrix.add(b, a, &value.neg(), work).unwrap();
    }
}

/// Masses in a row, each tied to the one before (the first to the wall) by a spring and a damper.
fn chain(masses: usize) -> Matrix {
    let (work, mut symbols) = (work(), Symbols { next: 0 });
    let mut matrix = Matrix::new(masses, masses);
    for i in 0..masses {
        let (m, b, k) = (symbols.next(), symbols.next(), symbols.next());
        connect(&mut matrix, i, None, &power_of_s(&m, 2, &work), &work);
        let link = power_of_s(&b, 1, &work).add(&k, &work).unwrap();
        connect(&mut matrix, i, i.checked_sub(1), &link, &work);
    }
    matrix
}

/// The chain with equal masses, springs and dampers: three symbols besides s.
fn uniform_chain(masses: usize) -> Matrix {
    let (work, mut symbols) = (work(), Symbols { next: 0 });
    let mut matrix = Matrix::new(masses, masses);
    let (m, b, k) = (symbols.next(), symbols.next(), symbols.next());
    let link = power_of_s(&b, 1, &work).add(&k, &work).unwrap();
    for i in 0..masses {
        connect(&mut matrix, i, None, &power_of_s(&m, 2, &work), &work);
        connect(&mut matrix, i, i.checked_sub(1), &link, &work);
    }
    matrix
}

/// The same chain by its states: momenta (as velocities) and elongations.
fn chain_by_states(masses: usize) -> Matrix {
    let (work, mut symbols) = (work(), Symbols { next: 0 });
    let mut matrix = Matrix::new(2 * masses, 2 * masses);
    for i in 0..masses {
        let (m, b, k) = (symbols.next(), symbols.next(), symbols.next());
        connect(&mut matrix, i, None, &power_of_s(&m, 1, &work), &work);
        connect(&mut matrix, i, i.checked_sub(1), &b, &work);
        let spring = masses + i;
        matrix.set(spring, spring, power_of_s(&Poly::one(), 1, &work));
        matrix.set(i, spring, k.clone());
        matrix.set(spring, i, Poly::constant(-1));
        if i > 0 {
            matrix.set(i - 1, spring, k.neg());
            matrix.set(spring, i - 1, Poly::one());
        }
    }
    matrix
}

/// Sections of a series resistor (as conductance) and a capacitor to ground.
fn ladder(sections: usize) -> Matrix {
    let (work, mut symbols) = (work(), Symbols { next: 0 });
    let mut matrix = Matrix::new(sections, sections);
    for i in 0..sections {
        let (g, c) = (symbols.next(), symbols.next());
        connect(&mut matrix, i, i.checked_sub(1), &g, &work);
        connect(&mut matrix, i, None, &power_of_s(&c, 1, &work), &work);
    }
    matrix
}

/// A square grid of masses, a spring between neighbours, one corner tied to the wall.
fn grid(side: usize) -> Matrix {
    let (work, mut symbols) = (work(), Symbols { next: 0 });
    let mut matrix = Matrix::new(side * side, side * side);
    for i in 0..side * side {
        let m = symbols.next();
        connect(&mut matrix, i, None, &power_of_s(&m, 2, &work), &work);
        if i % side > 0 {
            connect(&mut matrix, i, Some(i - 1), &symbols.next(), &work);
        }
        if i >= side {
            connect(&mut matrix, i, Some(i - side), &symbols.next(), &work);
        }
    }
    connect(&mut matrix, 0, None, &symbols.next(), &work);
    matrix
}

/// The grid with numbers for all masses and springs: what is left is s.
fn numeric_grid(side: usize) -> Matrix {
    let mut matrix = grid(side);
    let work = work();
    for column in 0..side * side {
        for (row, value) in matrix.column(column).to_vec() {
            let mut value = value;
            for variable in value.variables().into_iter().filter(|&v| v > 0) {
                let number = Poly::constant((variable * 7 % 11) as i64 + 1);
                value = value.substitute(variable, &number, &work).unwrap();
            }
            matrix.set(row, column, value);
        }
    }
    matrix
}

/// The entries of a chain's state matrix as expressions, carried over to fractions in one basis.
fn entries_as_fractions(masses: usize) -> Result<usize, PolyError> {
    let mut pool = Pool::new();
    let mut symbol = |name: &str, i: usize| {
        let symbol = pool.symbol(&format!("{name}{i}"));
        pool.var(symbol)
    };
    let parameters: Vec<[Expr; 3]> =
        (0..masses).map(|i| ["m", "b", "k"].map(|name| symbol(name, i))).collect();
    let mut entries = Vec::new();
    for i in 0..masses {
        let [m, b, k] = parameters[i];
        let next = parameters.get(i + 1).map_or(b, |p| p[1]);
        let both = pool.add(b, next);
        let one = pool.one();
        entries.extend([
            pool.div(both, m),
            pool.div(next, m),
            pool.div(b, m),
            pool.neg(k),
            k,
            pool.div(one, m),
        ]);
    }
    let s = pool.symbol("s");
    let mut basis = Basis::new(&mut pool, &[s]);
    Ok(basis.fractions(&mut pool, &entries, &Work::default())?.len())
}

fn unit(size: usize, place: usize) -> Vec<Poly> {
    (0..size).map(|i| Poly::constant(i64::from(i == place))).collect()
}

fn sensitivities(matrix: &Matrix, parameters: usize) -> Result<usize, PolyError> {
    let size = matrix.rows();
    let parameters: Vec<usize> = (1..=parameters).collect();
    let work = work();
    let all = matrix.sensitivities(&unit(size, size - 1), &unit(size, 0), &parameters, &work)?;
    all.derivatives.iter().map(|derivative| Ok(derivative.expand(&work)?.len())).sum()
}

fn main() {
    for n in [5, 6, 7, 8, 9] {
        let matrix = chain(n);
        report(&format!("chain {n}: denominator"), || Ok(matrix.determinant(&work())?.len()));
    }
    for n in [5, 6, 7, 8] {
        let matrix = chain(n);
        report(&format!("chain {n}: all sensitivities"), || sensitivities(&matrix, 3 * n));
    }
    for n in [10, 12, 14] {
        let matrix = ladder(n);
        report(&format!("RC ladder {n}: denominator"), || Ok(matrix.determinant(&work())?.len()));
    }
    for n in [6, 8, 10] {
        let matrix = ladder(n);
        report(&format!("RC ladder {n}: all sensitivities"), || sensitivities(&matrix, 2 * n));
    }
    for k in [2, 3, 4] {
        let matrix = grid(k);
        report(&format!("grid {k}x{k}: denominator"), || Ok(matrix.determinant(&work())?.len()));
    }
    for k in [3, 4, 5, 6] {
        let matrix = numeric_grid(k);
        report(&format!("grid {k}x{k} of numbers: denominator"), || Ok(matrix.determinant(&work())?.len()));
    }
    for n in [100, 1000] {
        let matrix = chain(n);
        let (first, last) = (unit(n, 0), unit(n, n - 1));
        report(&format!("chain {n}: usual budget"), || {
            Ok(matrix.transfer(&last, &first, &Work::default())?.denominator().len())
        });
    }
    for n in [20, 50, 100, 1000] {
        let matrix = uniform_chain(n);
        let (first, last) = (unit(n, 0), unit(n, n - 1));
        report(&format!("uniform chain {n}: usual budget"), || {
            Ok(matrix.transfer(&last, &first, &Work::default())?.denominator().len())
        });
    }
    for n in [100, 1000] {
        report(&format!("chain {n}: entries as fractions"), || entries_as_fractions(n));
    }
    for n in [4, 5, 6, 7] {
        let (matrix, states) = (chain(n), chain_by_states(n));
        for (kind, matrix) in [("nodes", matrix), ("states", states)] {
            let (size, last) = (matrix.rows(), n - 1);
            report(&format!("chain {n}: transfer by {kind}"), || {
                Ok(matrix.transfer(&unit(size, last), &unit(size, 0), &work())?.denominator().len())
            });
        }
    }
}
