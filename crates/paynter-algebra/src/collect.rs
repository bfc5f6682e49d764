//! Collection: linear parts in several symbols, polynomial coefficients and quotients in one.

use crate::limits::MAX_COLLECTED_DEGREE;
use crate::node::{Expr, Node, Symbol};
use crate::pool::Pool;
use crate::print::has_long_numbers;
use crate::traverse::Memo;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// A quotient of polynomials in one symbol, coefficients by rising power.
pub(crate) type Quotient = (Vec<Expr>, Vec<Expr>);

impl Pool {
    /// Writes an expression as a linear form in some symbols: their coefficients and the rest.
    ///
    /// Returns `None` if it is not linear as it stands; nothing is expanded but sums. The cost is linear in
    /// the number of nodes, however much they share.
    pub fn linear_parts(&mut self, e: Expr, symbols: &[Symbol]) -> Option<(Vec<Expr>, Expr)> {
        let place: FxHashMap<Symbol, usize> = symbols.iter().enumerate().map(|(i, s)| (*s, i)).collect();
        let dependent = self.dependents(e, &|s| place.contains_key(&s));
        let mut coefficients: Vec<Vec<Expr>> = vec![Vec::new(); symbols.len()];
        let mut rest = Vec::new();
        // Parents have larger handles than their children, so each node is taken once, with the sum of the
        // multipliers that reach it.
        let mut pending: BTreeMap<Expr, Vec<Expr>> = BTreeMap::from([(e, vec![self.one()])]);
        while let Some((node, multipliers)) = pending.pop_last() {
            let multiplier = self.sum(&multipliers);
            let terms = match self.node(node) {
                Node::Sum(terms) => terms.to_vec(),
                _ => vec![node],
            };
            for term in terms {
                if dependent.get(term).is_none() {
                    rest.push(self.mul(multiplier, term));
                    continue;
                }
                let (multiplier, inner) = match self.node(term) {
                    Node::Product(factors) => {
                        let mut others = vec![multiplier];
                        let mut inner = None;
                        for factor in factors {
                            if dependent.get(*factor).is_none() {
                                others.push(*factor);
                            } else if inner.replace(*factor).is_some() {
                                return None;
                            }
                        }
                        (self.product(&others), inner?)
                    }
                    _ => (multiplier, term),
                };
                match self.node(inner) {
                    Node::Symbol(s) => coefficients[*place.get(&s)?].push(multiplier),
                    Node::Sum(_) => pending.entry(inner).or_default().push(multiplier),
                    _ => return None,
                }
            }
        }
        let coefficients = coefficients.iter().map(|terms| self.sum(terms)).collect();
        Some((coefficients, self.sum(&rest)))
    }

    /// Writes every sum that is linear in a symbol as coefficient times symbol plus rest.
    pub(crate) fn with_linear_sums_collected(&mut self, e: Expr, s: Symbol) -> Expr {
        let x = self.var(s);
        self.rewrite(e, |pool, node, args| {
            if !matches!(pool.node(node), Node::Sum(_)) {
                return None;
            }
            let sum = pool.rebuild(node, args);
            let (coefficients, rest) = pool.linear_parts(sum, &[s])?;
            let rest = if pool.is_zero(rest) { pool.zero() } else { rest };
            let term = pool.mul(coefficients[0], x);
            Some(pool.add(term, rest))
        })
    }

    /// Returns the coefficients of a polynomial in a symbol, by rising power, or `None` if it is none.
    pub fn collect(&mut self, e: Expr, s: Symbol) -> Option<Vec<Expr>> {
        let (above, below) = self.quotient_in(e, s)?;
        match below.as_slice() {
            [divisor] if *divisor == self.one() => Some(above),
            [divisor] => {
                let divisor = *divisor;
                Some(above.into_iter().map(|c| self.div(c, divisor)).collect())
            }
            _ => None,
        }
    }

    /// Collects the polynomials in an expression by the powers of the variable that what is written is ordered
    /// by; products and powers stay. Without such a variable nothing changes.
    pub fn by_powers(&mut self, e: Expr) -> Expr {
        let Some(s) = self.style().variable else { return e };
        match self.node(e) {
            Node::Sum(_) => {
                let Some(coefficients) = self.collect(e, s) else { return e };
                let x = self.var(s);
                let mut terms = Vec::with_capacity(coefficients.len());
                for (power, coefficient) in coefficients.into_iter().enumerate() {
                    let exponent = self.int(power as i64);
                    let power = self.pow(x, exponent);
                    terms.push(self.mul(coefficient, power));
                }
                self.sum(&terms)
            }
            Node::Product(factors) => {
                let factors = factors.to_vec();
                let factors: Vec<Expr> =
                    factors.into_iter().map(|factor| self.factor_by_powers(factor)).collect();
                self.product(&factors)
            }
            _ => self.factor_by_powers(e),
        }
    }

    /// Divides numerator and denominator by the number before the highest power of s in the denominator, where
    /// clearing decimals has made its numbers long.
    pub fn shortened(&mut self, num: Expr, den: Expr) -> (Expr, Expr) {
        let Some(s) = self.style().variable.filter(|_| has_long_numbers(self, den)) else {
            return (num, den);
        };
        let Some(leading) = self.collect(den, s).and_then(|list| list.last().copied()) else {
            return (num, den);
        };
        let (coefficient, _) = match self.as_rational(leading) {
            Some(_) => (leading, leading),
            None => self.split_coefficient(leading),
        };
        let one = self.one();
        let factor = self.div(one, coefficient);
        (self.mul(factor, num), self.mul(factor, den))
    }

    fn factor_by_powers(&mut self, factor: Expr) -> Expr {
        match self.node(factor) {
            Node::Sum(_) => self.by_powers(factor),
            Node::Power(base, exponent) if matches!(self.node(base), Node::Sum(_)) => {
                let base = self.by_powers(base);
                self.pow(base, exponent)
            }
            _ => factor,
        }
    }

    /// Marks the nodes under an expression that mention one of the chosen symbols.
    pub(crate) fn dependents(&self, e: Expr, chosen: &dyn Fn(Symbol) -> bool) -> Memo<()> {
        let order = self.reachable(&[e]);
        let mut dependent = Memo::for_nodes(&order);
        for node in order {
            let depends = match self.node(node) {
                Node::Symbol(s) => chosen(s),
                _ => self.children(node).iter().any(|child| dependent.get(*child).is_some()),
            };
            if depends {
                dependent.insert(node, ());
            }
        }
        dependent
    }

    /// Writes an expression as a quotient of polynomials in a symbol, if it is one of moderate degree.
    pub(crate) fn quotient_in(&mut self, e: Expr, s: Symbol) -> Option<Quotient> {
        let dependent = self.dependents(e, &|other| other == s);
        let mut quotients: FxHashMap<Expr, Quotient> = FxHashMap::default();
        let one = self.one();
        let constant = |e: Expr| (vec![e], vec![one]);
        if dependent.get(e).is_none() {
            return Some(constant(e));
        }
        for node in self.reachable(&[e]) {
            if dependent.get(node).is_none() {
                continue;
            }
            let of = |child: &Expr| quotients.get(child).cloned().unwrap_or_else(|| constant(*child));
            let quotient = match self.node(node) {
                Node::Symbol(_) => (vec![self.zero(), one], vec![one]),
                Node::Sum(terms) => {
                    let parts: Vec<Quotient> = terms.iter().map(of).collect();
                    self.add_quotients(parts)?
                }
                Node::Product(factors) => {
                    let parts: Vec<Quotient> = factors.iter().map(of).collect();
                    let mut product = constant(one);
                    for (above, below) in parts {
                        product.0 = self.multiply_polynomials(&product.0, &above)?;
                        product.1 = self.multiply_polynomials(&product.1, &below)?;
                    }
                    product
                }
                Node::Power(base, exponent) => {
                    let n = self.as_int(exponent)?;
                    let (above, below) = of(&base);
                    let up = self.raise_polynomial(&above, n.unsigned_abs())?;
                    let down = self.raise_polynomial(&below, n.unsigned_abs())?;
                    if n < 0 { (down, up) } else { (up, down) }
                }
                _ => return None,
            };
            quotients.insert(node, quotient);
        }
        quotients.remove(&e)
    }

    fn add_quotients(&mut self, parts: Vec<Quotient>) -> Option<Quotient> {
        // Parts with the same divisor are added as they are; only different divisors are multiplied.
        let mut groups: Vec<(Vec<Expr>, Vec<Vec<Expr>>)> = Vec::new();
        for (above, below) in parts {
            let length = above.len();
            let at = match groups.iter().position(|(divisor, _)| *divisor == below) {
                Some(at) => at,
                None => {
                    groups.push((below, Vec::new()));
                    groups.len() - 1
                }
            };
            let columns = &mut groups[at].1;
            if columns.len() < length {
                columns.resize(length, Vec::new());
            }
            for (column, term) in columns.iter_mut().zip(above) {
                column.push(term);
            }
        }
        let mut total: Option<Quotient> = None;
        for (below, columns) in groups {
            let above: Vec<Expr> = columns.iter().map(|terms| self.sum(terms)).collect();
            total = Some(match total {
                None => (above, below),
                Some((a, b)) => {
                    let left = self.multiply_polynomials(&a, &below)?;
                    let right = self.multiply_polynomials(&above, &b)?;
                    let degree = left.len().max(right.len());
                    let zero = self.zero();
                    let sum = (0..degree)
                        .map(|i| {
                            let (x, y) = (left.get(i), right.get(i));
                            self.add(x.copied().unwrap_or(zero), y.copied().unwrap_or(zero))
                        })
                        .collect();
                    (sum, self.multiply_polynomials(&b, &below)?)
                }
            });
        }
        total.map(|(above, below)| (self.trimmed(above), below))
    }

    fn multiply_polynomials(&mut self, a: &[Expr], b: &[Expr]) -> Option<Vec<Expr>> {
        if a.len() + b.len() > MAX_COLLECTED_DEGREE + 2 {
            return None;
        }
        let mut columns = vec![Vec::new(); (a.len() + b.len()).saturating_sub(1)];
        for (i, x) in a.iter().enumerate() {
            for (j, y) in b.iter().enumerate() {
                columns[i + j].push(self.mul(*x, *y));
            }
        }
        let product = columns.iter().map(|terms| self.sum(terms)).collect();
        Some(self.trimmed(product))
    }

    fn raise_polynomial(&mut self, a: &[Expr], n: u64) -> Option<Vec<Expr>> {
        let mut power = vec![self.one()];
        if let [single] = a {
            let exponent = self.int(i64::try_from(n).ok()?);
            return Some(vec![self.pow(*single, exponent)]);
        }
        if n > MAX_COLLECTED_DEGREE as u64 {
            return None;
        }
        for _ in 0..n {
            power = self.multiply_polynomials(&power, a)?;
        }
        Some(power)
    }

    fn trimmed(&self, mut polynomial: Vec<Expr>) -> Vec<Expr> {
        while polynomial.len() > 1 && polynomial.last() == Some(&self.zero()) {
            polynomial.pop();
        }
        polynomial
    }
}
