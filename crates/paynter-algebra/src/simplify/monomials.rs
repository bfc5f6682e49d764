//! Sums of distinct monomials, which are what polynomials look like as
//! expressions: in normal form once they are sorted, with nothing to collect.

use crate::node::Expr;
use crate::pool::{Head, Pool, Tag};

/// A monomial without its number, and with it.
pub(crate) type Monomial = (Expr, Expr);

impl Pool {
    /// Makes a number, which comes first, times powers of different symbols, sorted by these.
    pub(crate) fn monomial(&mut self, factors: &[Expr]) -> Monomial {
        let rest = match &factors[1..] {
            [single] => *single,
            powers => self.intern(Head::plain(Tag::Product), powers),
        };
        if factors[0] == self.one() {
            return (rest, rest);
        }
        let whole = self.intern(Head::plain(Tag::Product), factors);
        self.remember_unit_part(whole, rest);
        (rest, whole)
    }

    /// Makes a sum of at least two terms: monomials that differ, and a constant that is not zero. Their
    /// numbers are whole and have no common divisor.
    pub(crate) fn sum_of_monomials(&mut self, constant: Option<Expr>, mut terms: Vec<Monomial>) -> Expr {
        terms.sort_unstable_by_key(|(rest, _)| *rest);
        let list: Vec<Expr> = constant.into_iter().chain(terms.into_iter().map(|(_, whole)| whole)).collect();
        let sum = self.intern(Head::plain(Tag::Sum), &list);
        if !self.leads_negative(sum) {
            self.remember_content(sum, (self.one(), sum));
        }
        sum
    }
}
