//! Arithmetic in the field of p^2 elements, a + b*i with i^2 = -1, over the prime field of p = 3 mod 4.

use crate::field::PrimeField;

/// Safe primes near 2^62: p - 1 is twice a prime, so every residue has exactly one root of each odd degree.
pub(super) const PRIMES: [u64; 4] = [
    4_611_686_018_427_377_339,
    4_611_686_018_427_376_319,
    4_611_686_018_427_375_743,
    4_611_686_018_427_370_139,
];

/// An element a + b*i.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct Element {
    pub re: u64,
    pub im: u64,
}

impl Element {
    pub const ZERO: Element = Element { re: 0, im: 0 };

    pub fn is_zero(self) -> bool {
        self == Element::ZERO
    }
}

/// The field over one prime.
#[derive(Clone, Copy)]
pub(super) struct Field {
    base: PrimeField,
}

impl Field {
    pub fn new(prime: u64) -> Field {
        Field { base: PrimeField::new(prime) }
    }

    /// The prime field that this one extends.
    pub fn base(self) -> PrimeField {
        self.base
    }

    pub fn one(self) -> Element {
        Element { re: self.base.one(), im: 0 }
    }

    pub fn integer(self, n: u64) -> Element {
        Element { re: self.base.enter(n), im: 0 }
    }

    pub fn add(self, a: Element, b: Element) -> Element {
        Element { re: self.base.add(a.re, b.re), im: self.base.add(a.im, b.im) }
    }

    pub fn neg(self, a: Element) -> Element {
        Element { re: self.base.neg(a.re), im: self.base.neg(a.im) }
    }

    pub fn sub(self, a: Element, b: Element) -> Element {
        self.add(a, self.neg(b))
    }

    pub fn mul(self, a: Element, b: Element) -> Element {
        if a.im == 0 && b.im == 0 {
            return Element { re: self.base.mul(a.re, b.re), im: 0 };
        }
        let re = self.base.add(self.base.mul(a.re, b.re), self.base.neg(self.base.mul(a.im, b.im)));
        let im = self.base.add(self.base.mul(a.re, b.im), self.base.mul(a.im, b.re));
        Element { re, im }
    }

    /// Inverts; `None` for zero.
    pub fn inverse(self, a: Element) -> Option<Element> {
        if a.is_zero() {
            return None;
        }
        let norm = self.base.add(self.base.mul(a.re, a.re), self.base.mul(a.im, a.im));
        let scale = self.base.inv(norm);
        Some(Element { re: self.base.mul(a.re, scale), im: self.base.neg(self.base.mul(a.im, scale)) })
    }

    pub fn pow(self, mut base: Element, mut exponent: u64) -> Element {
        let mut result = self.one();
        while exponent > 0 {
            if exponent & 1 == 1 {
                result = self.mul(result, base);
            }
            base = self.mul(base, base);
            exponent >>= 1;
        }
        result
    }

    /// Raises to an integer power; `None` for a negative power of zero.
    pub fn pow_signed(self, base: Element, exponent: i64) -> Option<Element> {
        let power = self.pow(base, exponent.unsigned_abs());
        if exponent < 0 { self.inverse(power) } else { Some(power) }
    }

    fn sqrt_mod(self, a: u64) -> Option<u64> {
        let root = self.base.pow(a, self.base.prime().div_ceil(4));
        (self.base.mul(root, root) == a).then_some(root)
    }

    /// Takes a square root; every residue has one, other elements in half of all cases.
    pub fn sqrt(self, a: Element) -> Option<Element> {
        if a.im == 0 {
            return match self.sqrt_mod(a.re) {
                Some(root) => Some(Element { re: root, im: 0 }),
                None => self.sqrt_mod(self.base.neg(a.re)).map(|root| Element { re: 0, im: root }),
            };
        }
        let norm = self.base.add(self.base.mul(a.re, a.re), self.base.mul(a.im, a.im));
        let length = self.sqrt_mod(norm)?;
        let half = self.base.inv(self.base.enter(2));
        for length in [length, self.base.neg(length)] {
            let square = self.base.mul(self.base.add(a.re, length), half);
            if let Some(re) = self.sqrt_mod(square)
                && re != 0
            {
                let im = self.base.mul(a.im, self.base.inv(self.base.add(re, re)));
                return Some(Element { re, im });
            }
        }
        None
    }

    /// Takes the root of an odd degree of a residue; other elements are refused.
    pub fn odd_root(self, a: Element, degree: u64) -> Option<Element> {
        if degree == 1 {
            return Some(a);
        }
        if a.im != 0 {
            return None;
        }
        let exponent = inverse_modulo(degree % (self.base.prime() - 1), self.base.prime() - 1)?;
        Some(Element { re: self.base.pow(a.re, exponent), im: 0 })
    }

    /// Finds a primitive 24th root of unity; 24 divides p^2 - 1 for every prime above 3.
    pub fn twenty_fourth_root(self) -> Option<Element> {
        let order = u128::from(self.base.prime()) * u128::from(self.base.prime()) - 1;
        let exponent = order / 24;
        for trial in 1..200u64 {
            let mut root = self.one();
            let mut base = Element { re: trial, im: 1 };
            let mut rest = exponent;
            while rest > 0 {
                if rest & 1 == 1 {
                    root = self.mul(root, base);
                }
                base = self.mul(base, base);
                rest >>= 1;
            }
            if self.pow(root, 12) != self.one() && self.pow(root, 8) != self.one() {
                return Some(root);
            }
        }
        None
    }
}

pub(super) fn inverse_modulo(a: u64, modulus: u64) -> Option<u64> {
    let (mut r0, mut r1) = (i128::from(modulus), i128::from(a));
    let (mut t0, mut t1) = (0i128, 1i128);
    while r1 != 0 {
        let quotient = r0 / r1;
        (r0, r1) = (r1, r0 - quotient * r1);
        (t0, t1) = (t1, t0 - quotient * t1);
    }
    if r0 != 1 {
        return None;
    }
    u64::try_from(t0.rem_euclid(i128::from(modulus))).ok()
}
