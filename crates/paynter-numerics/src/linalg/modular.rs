//! Characteristic polynomials modulo primes below 2^62, by reduction to
//! Hessenberg form.

/// Arithmetic modulo an odd prime, in Montgomery form.
#[derive(Debug, Clone, Copy)]
pub(super) struct Field {
    pub prime: u64,
    /// −prime⁻¹ modulo 2^64.
    inverse: u64,
    /// 2^128 modulo the prime.
    square: u64,
}

impl Field {
    pub fn new(prime: u64) -> Field {
        let mut inverse = prime;
        for _ in 0..5 {
            inverse = inverse.wrapping_mul(2u64.wrapping_sub(prime.wrapping_mul(inverse)));
        }
        let once = ((1u128 << 64) % u128::from(prime)) as u64;
        let square = (u128::from(once) * u128::from(once) % u128::from(prime)) as u64;
        Field { prime, inverse: inverse.wrapping_neg(), square }
    }

    #[inline]
    fn reduce(self, t: u128) -> u64 {
        let m = (t as u64).wrapping_mul(self.inverse);
        let r = ((t + u128::from(m) * u128::from(self.prime)) >> 64) as u64;
        if r >= self.prime { r - self.prime } else { r }
    }

    #[inline]
    pub fn mul(self, a: u64, b: u64) -> u64 {
        self.reduce(u128::from(a) * u128::from(b))
    }

    #[inline]
    pub fn add(self, a: u64, b: u64) -> u64 {
        let sum = a + b;
        if sum >= self.prime { sum - self.prime } else { sum }
    }

    #[inline]
    pub fn sub(self, a: u64, b: u64) -> u64 {
        if a >= b { a - b } else { a + self.prime - b }
    }

    /// Brings a residue into Montgomery form.
    pub fn enter(self, residue: u64) -> u64 {
        self.mul(residue, self.square)
    }

    /// Brings a number back to its residue.
    pub fn leave(self, a: u64) -> u64 {
        self.reduce(u128::from(a))
    }

    pub fn invert(self, a: u64) -> u64 {
        let mut result = self.enter(1);
        let (mut base, mut exponent) = (a, self.prime - 2);
        while exponent > 0 {
            if exponent & 1 == 1 {
                result = self.mul(result, base);
            }
            base = self.mul(base, base);
            exponent >>= 1;
        }
        result
    }
}

/// The primes below 2^62, from the largest down.
pub(super) fn primes() -> impl Iterator<Item = u64> {
    (0..1u64 << 40).map(|k| (1 << 62) - 1 - 2 * k).filter(|&n| is_prime(n))
}

/// Miller and Rabin's test with bases that decide it for every number of 64 bits.
fn is_prime(n: u64) -> bool {
    const BASES: [u64; 12] = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37];
    if BASES.iter().any(|&b| n.is_multiple_of(b)) {
        return BASES.contains(&n);
    }
    let times = |a: u64, b: u64| (u128::from(a) * u128::from(b) % u128::from(n)) as u64;
    let twos = (n - 1).trailing_zeros();
    BASES.iter().all(|&base| {
        let (mut x, mut square, mut exponent) = (1, base, (n - 1) >> twos);
        while exponent > 0 {
            if exponent & 1 == 1 {
                x = times(x, square);
            }
            square = times(square, square);
            exponent >>= 1;
        }
        if x == 1 || x == n - 1 {
            return true;
        }
        (1..twos).any(|_| {
            x = times(x, x);
            x == n - 1
        })
    })
}

/// The coefficients of det(sI − M), lowest power first, of a square matrix given row by row in Montgomery form.
pub(super) fn characteristic(field: Field, mut m: Vec<Vec<u64>>) -> Vec<u64> {
    let n = m.len();
    hessenberg(field, &mut m);
    let one = field.enter(1);
    // p_k(s) = (s − m[k−1][k−1]) p_{k−1} − Σ m[k−1−i][k−1] Π subdiagonals p_{k−1−i}
    let mut polynomials: Vec<Vec<u64>> = vec![vec![one]];
    for k in 1..=n {
        let mut next = vec![0; k + 1];
        let diagonal = m[k - 1][k - 1];
        for (power, &c) in polynomials[k - 1].iter().enumerate() {
            next[power + 1] = field.add(next[power + 1], c);
            next[power] = field.sub(next[power], field.mul(diagonal, c));
        }
        let mut product = one;
        for i in 1..k {
            product = field.mul(product, m[k - i][k - i - 1]);
            if product == 0 {
                break;
            }
            let factor = field.mul(product, m[k - i - 1][k - 1]);
            for (power, &c) in polynomials[k - i - 1].iter().enumerate() {
                next[power] = field.sub(next[power], field.mul(factor, c));
            }
        }
        polynomials.push(next);
    }
    polynomials.pop().unwrap_or_default()
}

/// Reduces to Hessenberg form by similarity.
fn hessenberg(field: Field, m: &mut [Vec<u64>]) {
    let n = m.len();
    for k in 1..n.saturating_sub(1) {
        let Some(pivot) = (k..n).find(|&i| m[i][k - 1] != 0) else { continue };
        if pivot != k {
            m.swap(pivot, k);
            for row in m.iter_mut() {
                row.swap(pivot, k);
            }
        }
        let inverse = field.invert(m[k][k - 1]);
        for i in k + 1..n {
            if m[i][k - 1] == 0 {
                continue;
            }
            let factor = field.mul(m[i][k - 1], inverse);
            let (above, below) = m.split_at_mut(i);
            for j in k - 1..n {
                below[0][j] = field.sub(below[0][j], field.mul(factor, above[k][j]));
            }
            for row in m.iter_mut() {
                row[k] = field.add(row[k], field.mul(factor, row[i]));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_characteristic_polynomial_of_a_companion_matrix_is_known() {
        let field = Field::new(primes().next().unwrap_or(3));
        // s³ + 2s² + 3s + 4
        let rows = [[0, 1, 0], [0, 0, 1], [field.prime - 4, field.prime - 3, field.prime - 2]];
        let m = rows.iter().map(|row| row.iter().map(|&x| field.enter(x)).collect()).collect();
        let found: Vec<u64> = characteristic(field, m).into_iter().map(|c| field.leave(c)).collect();
        assert_eq!(found, [4, 3, 2, 1]);
    }

    #[test]
    fn primes_are_prime() {
        assert_eq!(primes().next(), Some((1 << 62) - 57));
        assert!(is_prime(2_147_483_647) && !is_prime(3_215_031_751));
    }
}
