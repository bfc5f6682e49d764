//! Sums of distinct monomials, which are what polynomials look like as
//! expressions: in normal form once they are sorted, with nothing to collect.

use crate::node::Expr;
use crate::number;
use crate::pool::{Head, Pool, Tag};

impl Pool {
    /// Makes the product of powers of different symbols, which come in the order of their bases.
    pub(crate) fn ordered_product(&mut self, factors: &[Expr]) -> Expr {
        match factors {
            [] => self.one(),
            [single] => *single,
            _ => self.intern(Head::plain(Tag::Product), factors),
        }
    }

    /// Makes the sum of numbers, not zero, times products of powers of symbols, no two of them alike. A
    /// primitive one has whole numbers without common divisor; it is given the sign of a factor, and
    /// the answer tells whether that changed it.
    pub(crate) fn sum_of_unlike(&mut self, mut terms: Vec<(Expr, Expr)>, primitive: bool) -> (bool, Expr) {
        let one = self.one();
        // The constant comes first, because 1 is older than all symbols.
        terms.sort_unstable_by_key(|(_, rest)| *rest);
        let leading = terms.iter().find(|(_, rest)| *rest != one);
        let negative = primitive
            && terms.len() > 1
            && leading.is_some_and(|(c, _)| self.as_rational(*c).is_some_and(number::is_negative));
        let sign = self.int(if negative { -1 } else { 1 });
        let mut list = Vec::with_capacity(terms.len());
        for (coefficient, rest) in terms {
            let coefficient = if negative { self.multiply_numbers(sign, coefficient) } else { coefficient };
            list.push(self.scaled(coefficient, rest));
        }
        let sum = match list.as_slice() {
            [] => self.zero(),
            [single] => *single,
            _ => self.intern(Head::plain(Tag::Sum), &list),
        };
        if primitive && list.len() > 1 {
            self.remember_content(sum, (one, sum));
        }
        (negative, sum)
    }
}
