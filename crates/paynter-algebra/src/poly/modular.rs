//! Polynomials in one variable over a prime field, and random elements of it.

use crate::field::PrimeField;
use paynter_base::random::Random;

impl PrimeField {
    /// Returns the powers of an element from 0 to `degree`.
    pub(super) fn powers(&self, base: u64, degree: u32) -> Vec<u64> {
        let mut powers = vec![self.one(); degree as usize + 1];
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
                return vec![self.one()];
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
        let mut master = vec![self.one()];
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
        // The master polynomial divided by one factor has the value of its derivative at that root.
        let derivative: Vec<u64> =
            (1..master.len()).map(|i| self.mul(self.enter(i as u64), master[i])).collect();
        let value =
            |root: &u64| derivative.iter().rev().fold(0, |value, c| self.add(self.mul(value, *root), *c));
        let inverses = self.inverses(&roots.iter().map(value).collect::<Vec<_>>());
        let mut quotient = vec![0; roots.len()];
        for (index, (&root, &inverse)) in roots.iter().zip(&inverses).enumerate() {
            // Synthetic division of the master polynomial.
            let mut carry = 0;
            for i in (0..roots.len()).rev() {
                carry = self.add(master[i + 1], self.mul(carry, root));
                quotient[i] = self.mul(carry, inverse);
            }
            each(index, &quotient);
        }
    }

    /// The inverses of some elements, by that of their product; that of 0 is 0.
    pub(super) fn inverses(&self, elements: &[u64]) -> Vec<u64> {
        let mut before = Vec::with_capacity(elements.len());
        let mut product = self.one();
        for &element in elements {
            before.push(product);
            if element != 0 {
                product = self.mul(product, element);
            }
        }
        let mut inverse = self.inv(product);
        for (place, &element) in before.iter_mut().zip(elements).rev() {
            if element == 0 {
                *place = 0;
            } else {
                *place = self.mul(*place, inverse);
                inverse = self.mul(inverse, element);
            }
        }
        before
    }
}

fn trim(a: &mut Vec<u64>) {
    while a.last() == Some(&0) {
        a.pop();
    }
}

/// An element of the field that is neither 0 nor 1.
pub(super) fn element(random: &mut Random, field: &PrimeField) -> u64 {
    loop {
        let residue = random.bits() % field.prime();
        if residue > 1 {
            return field.enter(residue);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::field::FIELD;

    #[test]
    fn inverses_are_found_together() {
        let elements: Vec<u64> = [3, 0, 1, 77, 0, 12_345_678_901].map(|x| FIELD.enter(x)).to_vec();
        let alone: Vec<u64> = elements.iter().map(|x| FIELD.inv(*x)).collect();
        assert_eq!(FIELD.inverses(&elements), alone);
        assert!(FIELD.inverses(&[]).is_empty());
    }

    #[test]
    fn a_common_factor_of_univariate_polynomials_is_found() {
        let element = |list: &[u64]| list.iter().map(|&x| FIELD.enter(x)).collect::<Vec<_>>();
        let (a, b) = (FIELD.with_roots(&element(&[1, 2, 3, 3])), FIELD.with_roots(&element(&[3, 3, 3, 9])));
        assert_eq!(FIELD.univariate_gcd(a, b), FIELD.with_roots(&element(&[3, 3])));
    }
}
