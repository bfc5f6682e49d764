//! The prime field: arithmetic modulo primes below 2⁶², in which the zero
//! test, greatest common divisors, ranks and characteristic polynomials are
//! decided.

use crate::Rational;
use crate::elimination::Arithmetic;
use crate::number;
use dashu_base::UnsignedAbs;
use dashu_int::UBig;
use paynter_base::random;

/// A prime field. Its elements are words below the prime in Montgomery's form: x stands for x·2⁻⁶⁴.
#[derive(Debug, Clone, Copy)]
pub struct PrimeField {
    prime: u64,
    /// −1/prime modulo 2⁶⁴.
    inverse: u64,
    /// 2¹²⁸ modulo the prime.
    square: u64,
    one: u64,
}

/// The field of the largest prime below 2⁶², for values at single points.
pub const FIELD: PrimeField = PrimeField::new(4_611_686_018_427_387_847);

impl PrimeField {
    /// The field of an odd prime below 2⁶².
    pub const fn new(prime: u64) -> PrimeField {
        let mut inverse = 1u64;
        let mut round = 0;
        while round < 6 {
            inverse = inverse.wrapping_mul(2u64.wrapping_sub(prime.wrapping_mul(inverse)));
            round += 1;
        }
        let radix = (1u128 << 64) % prime as u128;
        let square = (radix * radix % prime as u128) as u64;
        PrimeField { prime, inverse: inverse.wrapping_neg(), square, one: radix as u64 }
    }

    /// The prime.
    #[inline]
    pub const fn prime(&self) -> u64 {
        self.prime
    }

    /// The element 1.
    #[inline]
    pub const fn one(&self) -> u64 {
        self.one
    }

    /// Brings an integer into the field.
    #[inline]
    pub const fn enter(&self, integer: u64) -> u64 {
        self.mul(integer % self.prime, self.square)
    }

    /// The residue below the prime that an element stands for.
    #[inline]
    pub const fn leave(&self, element: u64) -> u64 {
        self.reduce(element as u128)
    }

    #[inline]
    const fn reduce(&self, value: u128) -> u64 {
        let factor = (value as u64).wrapping_mul(self.inverse);
        let reduced = ((value + factor as u128 * self.prime as u128) >> 64) as u64;
        if reduced >= self.prime { reduced - self.prime } else { reduced }
    }

    /// The product of two elements.
    #[inline]
    pub const fn mul(&self, a: u64, b: u64) -> u64 {
        self.reduce(a as u128 * b as u128)
    }

    /// The sum of products of two elements each. Four products are reduced at once: they fit.
    #[inline]
    pub fn dot(&self, pairs: impl Iterator<Item = (u64, u64)>) -> u64 {
        let (mut sum, mut wide) = (0, 0_u128);
        for (count, (a, b)) in pairs.enumerate() {
            if count % 4 == 0 {
                sum = self.add(sum, self.reduce(wide));
                wide = 0;
            }
            wide += u128::from(a) * u128::from(b);
        }
        self.add(sum, self.reduce(wide))
    }

    /// The sum of two elements.
    #[inline]
    pub const fn add(&self, a: u64, b: u64) -> u64 {
        let sum = a + b;
        if sum >= self.prime { sum - self.prime } else { sum }
    }

    /// The difference of two elements.
    #[inline]
    pub const fn sub(&self, a: u64, b: u64) -> u64 {
        if a >= b { a - b } else { a + self.prime - b }
    }

    /// The negative of an element.
    #[inline]
    pub const fn neg(&self, a: u64) -> u64 {
        self.sub(0, a)
    }

    /// A power of an element.
    pub const fn pow(&self, base: u64, mut exponent: u64) -> u64 {
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

    /// The inverse; that of 0 is 0.
    pub const fn inv(&self, element: u64) -> u64 {
        self.pow(element, self.prime - 2)
    }

    /// The element that a rational number is, unless the prime divides its denominator.
    pub fn rational(&self, r: &Rational) -> Option<u64> {
        let residue = |n: &UBig| u64::try_from(n % UBig::from(self.prime)).ok();
        let above = self.enter(residue(&r.numerator().clone().unsigned_abs())?);
        let below = self.enter(residue(r.denominator())?);
        let value = self.mul(above, self.inv(below));
        (below != 0).then(|| if number::is_negative(r) { self.neg(value) } else { value })
    }

    /// The random element at an index of the stream of a seed.
    pub const fn random(&self, seed: u64, index: u64) -> u64 {
        random::bits(seed, index) % self.prime
    }
}

impl Arithmetic for PrimeField {
    type Scalar = u64;

    fn divisor(&mut self, pivot: &u64) -> u64 {
        self.inv(*pivot)
    }

    fn quotient(&mut self, entry: &u64, divisor: &u64) -> u64 {
        self.mul(*entry, *divisor)
    }

    fn difference(&mut self, old: Option<&u64>, factor: &u64, value: &u64) -> Option<u64> {
        let new = self.sub(old.copied().unwrap_or(0), self.mul(*factor, *value));
        (new != 0).then_some(new)
    }
}

/// The fields of the largest primes below 2⁶², which almost every greatest common divisor asks for.
const FIRST_FIELDS: [PrimeField; 8] = {
    const BELOW: [u64; 8] = [57, 87, 117, 143, 153, 167, 171, 195];
    let mut fields = [FIELD; 8];
    let mut place = 0;
    while place < fields.len() {
        fields[place] = PrimeField::new((1 << 62) - BELOW[place]);
        place += 1;
    }
    fields
};

/// The fields of the primes below 2⁶², descending: the same on every machine.
#[derive(Debug, Clone)]
pub struct PrimeFields {
    /// How many of the first fields were given.
    given: usize,
    /// The next candidate after those.
    next: u64,
}

impl PrimeFields {
    /// Starts with the largest.
    pub fn new() -> PrimeFields {
        PrimeFields { given: 0, next: FIRST_FIELDS[FIRST_FIELDS.len() - 1].prime() - 2 }
    }
}

impl Default for PrimeFields {
    fn default() -> PrimeFields {
        PrimeFields::new()
    }
}

impl Iterator for PrimeFields {
    type Item = PrimeField;

    fn next(&mut self) -> Option<PrimeField> {
        if let Some(field) = FIRST_FIELDS.get(self.given) {
            self.given += 1;
            return Some(*field);
        }
        while self.next > 1 << 61 {
            let candidate = self.next;
            self.next -= 2;
            if is_prime(candidate) {
                return Some(PrimeField::new(candidate));
            }
        }
        None
    }
}

/// Decides primality of an odd number below 2⁶² (Miller and Rabin; these bases suffice).
fn is_prime(n: u64) -> bool {
    const BASES: [u64; 12] = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37];
    if BASES.iter().any(|&b| n.is_multiple_of(b)) {
        return BASES.contains(&n);
    }
    let field = PrimeField::new(n);
    let (one, minus_one) = (field.one(), field.neg(field.one()));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_primes_below_two_to_62() {
        let primes: Vec<u64> = PrimeFields::new().take(12).map(|f| f.prime()).collect();
        let largest = (1 << 62) - 1;
        let found: Vec<u64> = (0..).map(|k| largest - 2 * k).filter(|n| is_prime(*n)).take(12).collect();
        assert_eq!(primes, found);
        // Computed with another program.
        assert_eq!(primes[..3], [4611686018427387847, 4611686018427387817, 4611686018427387787]);
        assert_eq!(FIELD.prime(), primes[0]);
        assert!(is_prime(2_147_483_647) && !is_prime(3_215_031_751));
    }

    #[test]
    fn montgomery_products_are_products() {
        for index in 0..1000 {
            let [a, b] = [1, 2].map(|seed| random::bits(seed, index) % FIELD.prime());
            let product = FIELD.leave(FIELD.mul(FIELD.enter(a), FIELD.enter(b)));
            assert_eq!(u128::from(product), u128::from(a) * u128::from(b) % u128::from(FIELD.prime()));
            let x = FIELD.enter(a);
            assert_eq!(FIELD.mul(x, FIELD.inv(x)), FIELD.one());
        }
    }

    #[test]
    fn rational_numbers_are_quotients() {
        let third = FIELD.rational(&number::ratio(-2, 6)).unwrap();
        assert_eq!(FIELD.mul(third, FIELD.enter(3)), FIELD.neg(FIELD.one()));
        let undefined = Rational::ONE / Rational::from(FIELD.prime());
        assert_eq!(FIELD.rational(&undefined), None);
    }
}
