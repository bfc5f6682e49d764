//! Arithmetic modulo primes just below 2⁶², and polynomials in one variable
//! over them.

/// A prime field; its elements are words in Montgomery's form.
#[derive(Debug, Clone, Copy)]
pub(super) struct Field {
    prime: u64,
    /// −1/prime modulo 2⁶⁴.
    inverse: u64,
    /// 2¹²⁸ modulo the prime.
    square: u64,
    one: u64,
}

impl Field {
    fn new(prime: u64) -> Field {
        let mut inverse = 1u64;
        for _ in 0..6 {
            inverse = inverse.wrapping_mul(2u64.wrapping_sub(prime.wrapping_mul(inverse)));
        }
        let radix = (1u128 << 64) % u128::from(prime);
        let square = (radix * radix % u128::from(prime)) as u64;
        Field { prime, inverse: inverse.wrapping_neg(), square, one: radix as u64 }
    }

    pub(super) fn prime(&self) -> u64 {
        self.prime
    }

    pub(super) fn one(&self) -> u64 {
        self.one
    }

    /// Brings a residue into the field.
    #[inline]
    pub(super) fn enter(&self, residue: u64) -> u64 {
        self.mul(residue % self.prime, self.square)
    }

    /// Returns the residue below the prime.
    #[inline]
    pub(super) fn leave(&self, element: u64) -> u64 {
        self.reduce(u128::from(element))
    }

    #[inline]
    fn reduce(&self, value: u128) -> u64 {
        let factor = (value as u64).wrapping_mul(self.inverse);
        let reduced = ((value + u128::from(factor) * u128::from(self.prime)) >> 64) as u64;
        if reduced >= self.prime { reduced - self.prime } else { reduced }
    }

    #[inline]
    pub(super) fn mul(&self, a: u64, b: u64) -> u64 {
        self.reduce(u128::from(a) * u128::from(b))
    }

    #[inline]
    pub(super) fn add(&self, a: u64, b: u64) -> u64 {
        let sum = a + b;
        if sum >= self.prime { sum - self.prime } else { sum }
    }

    #[inline]
    pub(super) fn sub(&self, a: u64, b: u64) -> u64 {
        if a >= b { a - b } else { a + self.prime - b }
    }

    pub(super) fn pow(&self, base: u64, mut exponent: u64) -> u64 {
        let (mut power, mut square) = (self.one, base);
        while exponent > 0 {
            if exponent & 1 == 1 {
                power = self.mul(power, square);
            }
            square = self.mul(square, square);
            exponent >>= 1;
        }
        power
    }

    /// Returns the inverse; that of 0 is 0.
    pub(super) fn inv(&self, element: u64) -> u64 {
        self.pow(element, self.prime - 2)
    }

    /// Returns the powers of an element from 0 to `degree`.
    pub(super) fn powers(&self, base: u64, degree: u32) -> Vec<u64> {
        let mut powers = vec![self.one; degree as usize + 1];
        for i in 1..powers.len() {
            powers[i] = self.mul(powers[i - 1], base);
        }
        powers
    }

    /// Returns the monic greatest common divisor of two polynomials in one
    /// variable, coefficients ascending; empty where both are 0.
    pub(super) fn univariate_gcd(&self, mut a: Vec<u64>, mut b: Vec<u64>) -> Vec<u64> {
        trim(&mut a);
        trim(&mut b);
        if a.len() < b.len() {
            std::mem::swap(&mut a, &mut b);
        }
        while let Some(&lead) = b.last() {
            if b.len() == 1 {
                return vec![self.one];
            }
            let inverse = self.inv(lead);
            while a.len() >= b.len() {
                let shift = a.len() - b.len();
                let factor = self.mul(a[a.len() - 1], inverse);
                for (x, &y) in a[shift..].iter_mut().zip(&b) {
                    *x = self.sub(*x, self.mul(factor, y));
                }
                a.pop();
                trim(&mut a);
            }
            std::mem::swap(&mut a, &mut b);
        }
        if let Some(&lead) = a.last() {
            let inverse = self.inv(lead);
            a.iter_mut().for_each(|x| *x = self.mul(*x, inverse));
        }
        a
    }

    /// Returns the polynomial with these roots, coefficients ascending.
    pub(super) fn with_roots(&self, roots: &[u64]) -> Vec<u64> {
        let mut master = vec![self.one];
        for &root in roots {
            master.push(0);
            for i in (0..master.len()).rev() {
                let below = if i > 0 { master[i - 1] } else { 0 };
                master[i] = self.sub(below, self.mul(root, master[i]));
            }
        }
        master
    }

    /// For each of distinct roots: the coefficients, ascending, of the
    /// polynomial that is 1 there and 0 at the others.
    pub(super) fn lagrange(&self, roots: &[u64], mut each: impl FnMut(usize, &[u64])) {
        let master = self.with_roots(roots);
        let mut quotient = vec![0; roots.len()];
        for (index, &root) in roots.iter().enumerate() {
            // Synthetic division of the master polynomial, and its value.
            let (mut carry, mut value) = (0, 0);
            for i in (0..roots.len()).rev() {
                carry = self.add(master[i + 1], self.mul(carry, root));
                quotient[i] = carry;
                value = self.add(self.mul(value, root), carry);
            }
            let inverse = self.inv(value);
            quotient.iter_mut().for_each(|q| *q = self.mul(*q, inverse));
            each(index, &quotient);
        }
    }
}

fn trim(a: &mut Vec<u64>) {
    while a.last() == Some(&0) {
        a.pop();
    }
}

/// The primes below 2⁶², descending: the same on every machine.
pub(super) struct Primes {
    next: u64,
}

impl Primes {
    pub(super) fn new() -> Primes {
        Primes { next: (1 << 62) - 1 }
    }
}

impl Iterator for Primes {
    type Item = Field;

    fn next(&mut self) -> Option<Field> {
        while self.next > 1 << 61 {
            let candidate = self.next;
            self.next -= 2;
            if is_prime(candidate) {
                return Some(Field::new(candidate));
            }
        }
        None
    }
}

/// Decides primality of an odd number below 2⁶⁴ (Miller and Rabin; these bases suffice).
fn is_prime(n: u64) -> bool {
    const BASES: [u64; 12] = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37];
    if BASES.iter().any(|&b| n.is_multiple_of(b)) {
        return BASES.contains(&n);
    }
    let field = Field::new(n);
    let (one, minus_one) = (field.one(), field.sub(0, field.one()));
    let shift = (n - 1).trailing_zeros();
    BASES.iter().all(|&base| {
        let mut power = field.pow(field.enter(base), (n - 1) >> shift);
        if power == one || power == minus_one {
            return true;
        }
        (1..shift).any(|_| {
            power = field.mul(power, power);
            power == minus_one
        })
    })
}

/// Numbers that look random but are the same in every run (SplitMix64).
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Random {
        Random(seed)
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Returns an element of the field that is neither 0 nor 1.
    pub(super) fn element(&mut self, field: &Field) -> u64 {
        loop {
            let residue = self.next() % field.prime();
            if residue > 1 {
                return field.enter(residue);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_primes_below_two_to_62() {
        // Computed with another program.
        let primes: Vec<u64> = Primes::new().take(3).map(|f| f.prime()).collect();
        assert_eq!(primes, [4611686018427387847, 4611686018427387817, 4611686018427387787]);
    }

    #[test]
    fn montgomery_products_are_products() {
        let field = Primes::new().next().unwrap();
        let mut random = Random::new(1);
        for _ in 0..1000 {
            let (a, b) = (random.next() % field.prime(), random.next() % field.prime());
            let product = field.leave(field.mul(field.enter(a), field.enter(b)));
            assert_eq!(u128::from(product), u128::from(a) * u128::from(b) % u128::from(field.prime()));
            let x = field.enter(a);
            assert_eq!(field.mul(x, field.inv(x)), field.one());
        }
    }

    #[test]
    fn a_common_factor_of_univariate_polynomials_is_found() {
        let field = Primes::new().next().unwrap();
        let element = |list: &[u64]| list.iter().map(|&x| field.enter(x)).collect::<Vec<_>>();
        let (a, b) = (field.with_roots(&element(&[1, 2, 3, 3])), field.with_roots(&element(&[3, 3, 3, 9])));
        assert_eq!(field.univariate_gcd(a, b), field.with_roots(&element(&[3, 3])));
    }
}
