//! Expressions as rational functions.
//!
//! A [`Basis`] names the variables of polynomials by expressions: the symbols
//! one asks for, every other symbol that turns up, and kernels. A kernel is a
//! sub-expression that no rational operation makes (`sin(x)`, `x^a`,
//! `sqrt(a + b)`, a case distinction). Kernels obey their algebraic relations:
//! the q-th power of `x^(1/q)` is x, the squares of sine and cosine make 1,
//! the square of `abs(x)` is that of x, and exponentials of sums are products.

use rustc_hash::{FxHashMap, FxHashSet};

use super::gcd::exact;
use super::relation::Relation;
use super::{Fraction, Matrix, Poly, PolyError, Work};
use crate::limits::{KERNEL_DEPTH, LARGEST_ROOT_ORDER};
use crate::node::{Expr, Func, Node, Symbol};
use crate::number;
use crate::{Pool, Rational};

/// The variables of polynomials, each with the expression it stands for.
#[derive(Debug, Clone, Default)]
pub struct Basis {
    pub(super) variables: Vec<Expr>,
    index: FxHashMap<Expr, usize>,
    pub(super) relations: Vec<Relation>,
    /// Base and unit exponent of each power kernel: its variable and the root taken.
    powers: FxHashMap<(Expr, Expr), (usize, u64)>,
}

impl Basis {
    /// Makes a basis of these symbols, the most significant first.
    pub fn new(pool: &mut Pool, symbols: &[Symbol]) -> Basis {
        let mut basis = Basis::default();
        for &symbol in symbols {
            basis.symbol(pool, symbol);
        }
        basis
    }

    /// Returns the variable of a symbol, which is added if new.
    pub fn symbol(&mut self, pool: &mut Pool, symbol: Symbol) -> usize {
        let expression = pool.var(symbol);
        self.variable(expression, expression)
    }

    /// Returns the number of variables.
    pub fn len(&self) -> usize {
        self.variables.len()
    }

    /// Returns whether there are no variables.
    pub fn is_empty(&self) -> bool {
        self.variables.is_empty()
    }

    /// Returns the expression that a variable stands for.
    pub fn meaning(&self, variable: usize) -> Option<Expr> {
        self.variables.get(variable).copied()
    }

    fn variable(&mut self, key: Expr, meaning: Expr) -> usize {
        let next = self.variables.len();
        let found = *self.index.entry(key).or_insert(next);
        if found == next {
            self.variables.push(meaning);
        }
        found
    }

    /// Returns an expression as a rational function in lowest terms.
    pub fn fraction(&mut self, pool: &mut Pool, e: Expr, work: &Work) -> Result<Fraction, PolyError> {
        let mut list = self.fractions(pool, &[e], work)?;
        Ok(list.pop().unwrap_or_else(Fraction::zero))
    }

    /// Returns many expressions as rational functions, sharing what they share.
    pub fn fractions(
        &mut self,
        pool: &mut Pool,
        expressions: &[Expr],
        work: &Work,
    ) -> Result<Vec<Fraction>, PolyError> {
        let mut results = self.convert(pool, expressions, 0, work)?;
        for fraction in &mut results {
            *fraction = self.simplest(fraction, work)?;
        }
        Ok(results)
    }

    /// Returns an expression as a polynomial, or nothing if it has a
    /// denominator other than 1.
    pub fn polynomial(&mut self, pool: &mut Pool, e: Expr, work: &Work) -> Result<Option<Poly>, PolyError> {
        let fraction = self.fraction(pool, e, work)?;
        Ok(fraction.denominator().is_one().then(|| fraction.numerator().clone()))
    }

    /// Returns a matrix of expressions, listed as row, column and value, as a
    /// matrix of polynomials: each row is multiplied by the common denominator
    /// of its entries, and these factors come along.
    pub fn matrix(
        &mut self,
        pool: &mut Pool,
        (rows, columns): (usize, usize),
        entries: &[(usize, usize, Expr)],
        work: &Work,
    ) -> Result<(Matrix, Vec<Poly>), PolyError> {
        let expressions: Vec<Expr> = entries.iter().map(|e| e.2).collect();
        let values = self.fractions(pool, &expressions, work)?;
        let mut factors = vec![Poly::one(); rows];
        for (&(row, ..), value) in entries.iter().zip(&values) {
            if let Some(factor) = factors.get_mut(row) {
                *factor = factor.lcm(value.denominator(), work)?;
            }
        }
        let mut matrix = Matrix::new(rows, columns);
        for (&(row, column, _), value) in entries.iter().zip(&values) {
            if let Some(factor) = factors.get(row) {
                let multiple = exact(factor, value.denominator(), work)?;
                matrix.add(row, column, &value.numerator().mul(&multiple, work)?, work)?;
            }
        }
        Ok((matrix, factors))
    }

    fn convert(
        &mut self,
        pool: &mut Pool,
        expressions: &[Expr],
        depth: u32,
        work: &Work,
    ) -> Result<Vec<Fraction>, PolyError> {
        let order = pool.reachable(expressions);
        let needed = needed(pool, &order, expressions);
        let roots = root_degrees(pool, &order, &needed);
        let mut known: FxHashMap<Expr, Fraction> = FxHashMap::default();
        for e in order.into_iter().filter(|e| needed.contains(e)) {
            work.spend("a rational function", 1)?;
            let value = self.node(pool, e, &known, &roots, depth, work)?;
            known.insert(e, value);
        }
        let zero = Fraction::zero();
        Ok(expressions.iter().map(|e| known.get(e).unwrap_or(&zero).clone()).collect())
    }

    fn node(
        &mut self,
        pool: &mut Pool,
        e: Expr,
        known: &FxHashMap<Expr, Fraction>,
        roots: &FxHashMap<(Expr, Expr), u64>,
        depth: u32,
        work: &Work,
    ) -> Result<Fraction, PolyError> {
        let get = |e: Expr| known.get(&e).cloned().unwrap_or_else(Fraction::zero);
        match pool.node(e) {
            Node::Number(value) => Ok(Fraction::constant(value)),
            Node::Sum(terms) => {
                let terms: Vec<Fraction> = terms.iter().map(|t| get(*t)).collect();
                Fraction::sum(&terms, work)
            }
            Node::Product(factors) => {
                let factors: Vec<Fraction> = factors.iter().map(|f| get(*f)).collect();
                let mut product = Fraction::one();
                for factor in &factors {
                    product = self.reduced(&product.mul(factor, work)?, work)?;
                }
                Ok(product)
            }
            Node::Power(base, exponent) if pool.as_rational(exponent).is_some_and(|r| r.is_int()) => {
                let n = pool.as_int(exponent).and_then(|n| i32::try_from(n).ok());
                let n = n.ok_or(PolyError::ExponentTooLarge)?;
                let base = get(base);
                if n < 0 && self.simplest(&base, work)?.is_zero() {
                    return Err(PolyError::DivisionByZero);
                }
                self.reduced(&base.pow(n, work)?, work)
            }
            Node::Power(base, exponent) => self.power(pool, (base, get(base)), exponent, roots, work),
            Node::Call(Func::Exp, args) => {
                let argument = args[0];
                let euler = pool.euler();
                self.power(pool, (euler, Fraction::zero()), argument, roots, work)
            }
            Node::Call(function, args) => {
                let args = args.to_vec();
                let values: Vec<Fraction> = args.iter().map(|a| get(*a)).collect();
                self.call(pool, e, function, &values, depth, work)
            }
            _ => {
                let variable = self.variable(e, e);
                Ok(Poly::variable(variable)?.into())
            }
        }
    }

    /// A function of canonical arguments. The kernel keeps the first way in
    /// which its arguments were written.
    fn call(
        &mut self,
        pool: &mut Pool,
        e: Expr,
        function: Func,
        values: &[Fraction],
        depth: u32,
        work: &Work,
    ) -> Result<Fraction, PolyError> {
        let mut canonical = Vec::with_capacity(values.len());
        for value in values {
            let value = self.simplest(value, work)?;
            canonical.push(self.expression(pool, &value));
        }
        let key = pool.call(function, &canonical);
        let same = matches!(pool.node(key), Node::Call(f, args) if f == function && args == canonical);
        if !same && depth < KERNEL_DEPTH {
            // The function of the simpler argument is something simpler itself.
            let value = self.convert(pool, &[key], depth + 1, work)?.pop();
            return Ok(value.unwrap_or_else(Fraction::zero));
        }
        let variable = self.variable(key, e);
        self.relate(pool, variable, function, &canonical, values, work)?;
        Ok(Poly::variable(variable)?.into())
    }

    /// Enters the relations of a function kernel.
    fn relate(
        &mut self,
        pool: &mut Pool,
        variable: usize,
        function: Func,
        args: &[Expr],
        values: &[Fraction],
        work: &Work,
    ) -> Result<(), PolyError> {
        if self.relations.iter().any(|r| r.involves(variable)) {
            return Ok(());
        }
        let partner = match function {
            Func::Sin => Func::Cos,
            Func::Cos => Func::Sin,
            Func::Sinh => Func::Cosh,
            Func::Cosh => Func::Sinh,
            Func::Abs => {
                let value = values[0].pow(2, work)?;
                self.relations.push(Relation::Power { variable, power: 2, value, clear: false });
                return Ok(());
            }
            _ => return Ok(()),
        };
        let partner = pool.call(partner, args);
        if let Some(&other) = self.index.get(&partner) {
            let hyperbolic = matches!(function, Func::Sinh | Func::Cosh);
            let (sine, cosine) = match function {
                Func::Sin | Func::Sinh => (variable, other),
                _ => (other, variable),
            };
            self.relations.push(Relation::Pythagoras { sine, cosine, hyperbolic });
        }
        Ok(())
    }

    /// A power with an exponent that is no integer: the product of kernels, one
    /// for each term of the exponent.
    fn power(
        &mut self,
        pool: &mut Pool,
        (base, value): (Expr, Fraction),
        exponent: Expr,
        roots: &FxHashMap<(Expr, Expr), u64>,
        work: &Work,
    ) -> Result<Fraction, PolyError> {
        let exponential = base == pool.euler();
        let key = if exponential {
            base
        } else {
            let value = self.simplest(&value, work)?;
            if value.is_zero() {
                return Err(PolyError::DivisionByZero);
            }
            self.expression(pool, &value)
        };
        let mut product = Fraction::one();
        for (coefficient, unit) in exponent_terms(pool, exponent) {
            let fits = u64::try_from(coefficient.denominator()).ok().filter(|q| *q <= LARGEST_ROOT_ORDER);
            let (unit, coefficient) = match fits {
                Some(_) => (unit, coefficient),
                // A root of absurd degree is a kernel of its own.
                None => {
                    let number = pool.number(coefficient);
                    (pool.mul(number, unit), Rational::ONE)
                }
            };
            let degree = fits.unwrap_or(1);
            let wanted = roots.get(&(base, unit)).copied().unwrap_or(degree);
            let one = pool.one();
            if unit == one && !exponential && wanted == 1 {
                // x^(a − 1) is x^a/x: no root of x is taken, so that x is no kernel.
                let count = number::as_i64(&coefficient).and_then(|n| i32::try_from(n).ok());
                let count = count.ok_or(PolyError::ExponentTooLarge)?;
                product = self.reduced(&product.mul(&value.pow(count, work)?, work)?, work)?;
                continue;
            }
            let (variable, root) = match self.powers.get(&(key, unit)) {
                Some(&(variable, root)) if root.is_multiple_of(degree) => (variable, root),
                _ => {
                    let step = pool.number(number::ratio(1, wanted));
                    let step = pool.mul(step, unit);
                    let (kernel, canonical) = (pool.pow(base, step), pool.pow(key, step));
                    let variable = self.variable(canonical, kernel);
                    if unit == one && !exponential && wanted > 1 {
                        let (power, value) = (wanted as u32, value.clone());
                        self.relations.push(Relation::Power { variable, power, value, clear: true });
                    }
                    self.powers.insert((key, unit), (variable, wanted));
                    (variable, wanted)
                }
            };
            let count = coefficient * Rational::from(root);
            let count = number::as_i64(&count).and_then(|n| i32::try_from(n).ok());
            let count = count.ok_or(PolyError::ExponentTooLarge)?;
            let kernel: Fraction = Poly::variable(variable)?.into();
            product = self.reduced(&product.mul(&kernel.pow(count, work)?, work)?, work)?;
        }
        Ok(product)
    }
}

/// Returns the nodes whose values as rational functions are needed.
fn needed(pool: &Pool, order: &[Expr], roots: &[Expr]) -> FxHashSet<Expr> {
    let mut needed: FxHashSet<Expr> = roots.iter().copied().collect();
    for &e in order.iter().rev() {
        if !needed.contains(&e) {
            continue;
        }
        match pool.node(e) {
            Node::Sum(list) | Node::Product(list) => needed.extend(list),
            Node::Power(base, _) => {
                needed.insert(base);
            }
            // The argument of an exponential is taken apart, not converted.
            Node::Call(Func::Exp, _) => {}
            Node::Call(_, args) => needed.extend(args),
            _ => {}
        }
    }
    needed
}

/// Returns the common degree of the roots that are taken of each base.
fn root_degrees(pool: &mut Pool, order: &[Expr], needed: &FxHashSet<Expr>) -> FxHashMap<(Expr, Expr), u64> {
    let mut degrees: FxHashMap<(Expr, Expr), u64> = FxHashMap::default();
    for e in order.iter().filter(|e| needed.contains(*e)) {
        let (base, exponent) = pool.as_base_exponent(*e);
        if pool.as_int(exponent).is_some() && base != pool.euler() {
            continue;
        }
        for (coefficient, unit) in exponent_terms(pool, exponent) {
            let Some(degree) =
                u64::try_from(coefficient.denominator()).ok().filter(|q| *q <= LARGEST_ROOT_ORDER)
            else {
                continue;
            };
            let known = degrees.entry((base, unit)).or_insert(1);
            let common = lcm(*known, degree);
            *known = if common <= LARGEST_ROOT_ORDER { common } else { degree };
        }
    }
    degrees
}

fn lcm(a: u64, b: u64) -> u64 {
    let (mut x, mut y) = (a, b);
    while y != 0 {
        (x, y) = (y, x % y);
    }
    a / x.max(1) * b
}

/// Splits an exponent into numbers times unit expressions.
fn exponent_terms(pool: &mut Pool, exponent: Expr) -> Vec<(Rational, Expr)> {
    let terms = match pool.node(exponent) {
        Node::Sum(terms) => terms.to_vec(),
        _ => vec![exponent],
    };
    let mut parts = Vec::with_capacity(terms.len());
    for term in terms {
        if let Some(number) = pool.as_rational(term) {
            parts.push((number.clone(), pool.one()));
            continue;
        }
        let (coefficient, unit) = pool.split_coefficient(term);
        let coefficient = pool.as_rational(coefficient).cloned().unwrap_or(Rational::ONE);
        parts.push((coefficient, unit));
    }
    parts
}
