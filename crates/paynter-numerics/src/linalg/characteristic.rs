//! The characteristic polynomial of a model in exact numbers and the
//! numerators of its transfer functions: computed modulo primes, put together
//! by the Chinese remainder theorem.
//!
//! The numerators follow from the denominator Σ χ_i s^i and the moments
//! h_j = c A^j b, because c (sI − A)⁻¹ b = Σ h_j s^(−j−1): the coefficient of
//! s^k in c adj(sI − A) b is Σ χ_i h_(i−k−1).

use dashu_base::RemEuclid;
use dashu_int::{IBig, UBig};
use paynter_algebra::Rational;
use paynter_algebra::field::{PrimeField, PrimeFields};
use paynter_base::{CancellationToken, Cancelled};

use super::Matrices;
use super::modular;

/// A polynomial with integer coefficients, lowest power first, the last one not zero; zero is empty.
pub type Integers = Vec<IBig>;

/// Transfer functions over one denominator: H = numerator/(scale·denominator).
#[derive(Debug, Clone, PartialEq)]
pub struct Polynomials {
    /// A multiple of det(sI − A).
    pub denominator: Integers,
    /// Output, input, scale and numerator, outputs first.
    pub numerators: Vec<(usize, usize, IBig, Integers)>,
}

/// A matrix entry as row, column and integer.
type Entry = (usize, usize, IBig);

/// The model with denominators cleared: row i of A and B was multiplied by `rows[i]`.
struct Cleared {
    n: usize,
    rows: Vec<UBig>,
    a: Vec<Entry>,
    /// By input: the columns of the B_k as power of s, row and integer.
    b: Vec<Vec<Entry>>,
    /// By output: the row of C as (column, integer).
    c: Vec<Vec<(usize, IBig)>>,
    wanted: Vec<Numerator>,
}

/// A numerator that is asked for.
struct Numerator {
    output: usize,
    input: usize,
    /// What the numerator was multiplied by, and the same relative to the factor of the output's row of C.
    scale: IBig,
    relative: IBig,
    /// The D_k times the scale, by power of s.
    direct: Vec<(usize, IBig)>,
}

/// Finds the characteristic polynomial, and the numerators of these outputs and inputs.
pub fn characteristic(
    matrices: &Matrices<Rational>,
    wanted: &[(usize, usize)],
    token: &CancellationToken,
) -> Result<Polynomials, Cancelled> {
    let cleared = Cleared::new(matrices, wanted);
    let mut rebuilt: Vec<Vec<IBig>> = Vec::new();
    let mut modulus = IBig::ONE;
    let mut stable = 0;
    // Two primes more than needed leave a doubt of 2^-120.
    for field in PrimeFields::new() {
        token.check()?;
        let prime = field.prime();
        let Some(images) = cleared.images(field) else { continue };
        let inverse = field.inv(field.enter(residue(&modulus, prime)));
        let mut changed = false;
        for (place, image) in images.into_iter().enumerate() {
            if rebuilt.len() <= place {
                rebuilt.push(Vec::new());
            }
            let known = &mut rebuilt[place];
            known.resize(known.len().max(image.len()), IBig::ZERO);
            for (value, image) in known.iter_mut().zip(image) {
                let old = field.enter(residue(value, prime));
                let digit = field.leave(field.mul(field.sub(image, old), inverse));
                if digit != 0 {
                    changed = true;
                    let digit = IBig::from(digit);
                    let digit = if &digit + &digit > IBig::from(prime) { digit - prime } else { digit };
                    *value += &modulus * digit;
                }
            }
        }
        modulus *= IBig::from(prime);
        stable = if changed { 0 } else { stable + 1 };
        if stable == 2 {
            break;
        }
    }
    let mut rebuilt = rebuilt.into_iter().map(trimmed);
    let denominator = rebuilt.next().unwrap_or_default();
    let numerators = cleared
        .wanted
        .iter()
        .zip(rebuilt)
        .map(|(wanted, numerator)| (wanted.output, wanted.input, wanted.scale.clone(), numerator))
        .collect();
    Ok(Polynomials { denominator, numerators })
}

/// Drops leading zeros.
pub(super) fn trimmed(mut polynomial: Integers) -> Integers {
    while polynomial.last().is_some_and(IBig::is_zero) {
        polynomial.pop();
    }
    polynomial
}

fn residue(value: &IBig, prime: u64) -> u64 {
    u64::try_from(value.rem_euclid(&IBig::from(prime))).unwrap_or(0)
}

fn lcm(a: &UBig, b: &UBig) -> UBig {
    use dashu_base::Gcd;
    a / (&a.clone()).gcd(b) * b
}

/// value · factor, which clears its denominator.
fn integer(value: &Rational, factor: &UBig) -> IBig {
    value.numerator() * IBig::from(factor / value.denominator())
}

impl Cleared {
    fn new(matrices: &Matrices<Rational>, wanted: &[(usize, usize)]) -> Cleared {
        let n = matrices.states();
        let mut rows = vec![UBig::ONE; n];
        let b_entries = || matrices.b.iter().flat_map(|matrix| &matrix.entries);
        let with_b = b_entries().filter(|_| !wanted.is_empty());
        for (i, _, value) in matrices.a.entries.iter().chain(with_b) {
            rows[*i] = lcm(&rows[*i], value.denominator());
        }
        let a = matrices.a.entries.iter().map(|(i, j, v)| (*i, *j, integer(v, &rows[*i]))).collect();
        let mut b = vec![Vec::new(); matrices.inputs()];
        for (power, matrix) in matrices.b.iter().enumerate().filter(|_| !wanted.is_empty()) {
            for (i, j, value) in matrix.entries.iter().filter(|(_, _, value)| !value.is_zero()) {
                b[*j].push((power, *i, integer(value, &rows[*i])));
            }
        }
        let mut scales = vec![UBig::ONE; matrices.outputs()];
        for (i, _, value) in &matrices.c.entries {
            scales[*i] = lcm(&scales[*i], value.denominator());
        }
        let mut c = vec![Vec::new(); matrices.outputs()];
        for (i, j, value) in matrices.c.entries.iter().filter(|(_, _, value)| !value.is_zero()) {
            c[*i].push((*j, integer(value, &scales[*i])));
        }
        let wanted = wanted
            .iter()
            .map(|&(output, input)| {
                let direct: Vec<(usize, &Rational)> = matrices
                    .d
                    .iter()
                    .enumerate()
                    .flat_map(|(power, matrix)| {
                        let mine = matrix.entries.iter().filter(|(i, j, _)| (*i, *j) == (output, input));
                        mine.map(move |(_, _, value)| (power, value))
                    })
                    .collect();
                let scale = direct
                    .iter()
                    .fold(scales[output].clone(), |scale, (_, value)| lcm(&scale, value.denominator()));
                let direct = direct.iter().map(|(power, value)| (*power, integer(value, &scale))).collect();
                let relative = IBig::from(&scale / &scales[output]);
                Numerator { output, input, scale: IBig::from(scale), relative, direct }
            })
            .collect();
        Cleared { n, rows, a, b, c, wanted }
    }

    /// The polynomials in a prime field; nothing where the prime divides a denominator.
    fn images(&self, field: PrimeField) -> Option<Vec<Vec<u64>>> {
        let enter = |value: &IBig| field.enter(residue(value, field.prime()));
        let mut product = field.one();
        let mut inverses = Vec::with_capacity(self.n);
        for row in &self.rows {
            let factor = enter(&IBig::from(row.clone()));
            if factor == 0 {
                return None;
            }
            product = field.mul(product, factor);
            inverses.push(field.inv(factor));
        }
        let entries: Vec<(usize, usize, u64)> =
            self.a.iter().map(|(i, j, value)| (*i, *j, field.mul(enter(value), inverses[*i]))).collect();
        let mut a = vec![vec![0; self.n]; self.n];
        for (i, j, value) in &entries {
            a[*i][*j] = *value;
        }
        let denominator: Vec<u64> =
            modular::characteristic(field, a).into_iter().map(|c| field.mul(c, product)).collect();
        let rows: Vec<Vec<(usize, u64)>> =
            self.c.iter().map(|row| row.iter().map(|(j, weight)| (*j, enter(weight))).collect()).collect();
        let mut sums: Vec<Vec<u64>> = vec![Vec::new(); self.wanted.len()];
        let add = |sum: &mut Vec<u64>, shift: usize, terms: &[u64], factor: u64| {
            sum.resize(sum.len().max(terms.len() + shift), 0);
            for (power, &term) in terms.iter().enumerate() {
                sum[power + shift] = field.add(sum[power + shift], field.mul(term, factor));
            }
        };
        for (input, column) in self.b.iter().enumerate() {
            let readers: Vec<usize> =
                (0..self.wanted.len()).filter(|&place| self.wanted[place].input == input).collect();
            let top = column.iter().map(|(power, ..)| *power).max();
            for power in 0..top.map_or(0, |top| top + 1) {
                let mut state = vec![0; self.n];
                for (_, i, gain) in column.iter().filter(|(k, ..)| *k == power) {
                    state[*i] = field.mul(enter(gain), inverses[*i]);
                }
                if readers.is_empty() || state.iter().all(|x| *x == 0) {
                    continue;
                }
                let mut moments = vec![Vec::with_capacity(self.n); readers.len()];
                for _ in 0..self.n {
                    for (moments, &place) in moments.iter_mut().zip(&readers) {
                        let row = &rows[self.wanted[place].output];
                        moments
                            .push(row.iter().fold(0, |sum, (j, w)| field.add(sum, field.mul(*w, state[*j]))));
                    }
                    let mut next = vec![0; self.n];
                    for (i, j, value) in &entries {
                        next[*i] = field.add(next[*i], field.mul(*value, state[*j]));
                    }
                    state = next;
                }
                for (moments, &place) in moments.iter().zip(&readers) {
                    let terms: Vec<u64> = (0..self.n)
                        .map(|k| {
                            let pairs = denominator[k + 1..].iter().zip(moments);
                            pairs.fold(0, |sum, (c, h)| field.add(sum, field.mul(*c, *h)))
                        })
                        .collect();
                    add(&mut sums[place], power, &terms, enter(&self.wanted[place].relative));
                }
            }
        }
        for (sum, wanted) in sums.iter_mut().zip(&self.wanted) {
            for (power, value) in &wanted.direct {
                add(sum, *power, &denominator, enter(value));
            }
        }
        let mut images = vec![denominator];
        images.extend(sums);
        Some(images)
    }
}
