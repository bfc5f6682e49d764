//! Evaluation in a finite field, with functions as kernels that obey their relations.

use super::field::{Element, Field};
use crate::Rational;
use crate::node::{Cmp, Expr, Func, Node};
use crate::number;
use crate::pool::Pool;
use crate::traverse::Memo;
use dashu_base::UnsignedAbs;
use dashu_int::UBig;
use paynter_base::random;

/// Nothing can be said at this point: a divisor vanished or a root does not exist there.
pub(super) struct Undefined;

/// Symbols and kernels are powers of random elements with this exponent, so that their square roots, fourth
/// roots and so on exist.
const EVEN_ROOTS: u64 = 64;

/// What a random element stands for.
#[derive(Clone, Copy)]
enum Kernel {
    Symbol,
    Pi,
    Exponential,
    Circular,
    Logarithm,
    Sign,
    Function(u64),
}

struct Evaluator<'a> {
    pool: &'a Pool,
    field: Field,
    seed: u64,
    /// A primitive 24th root of unity, found when it is first needed.
    unity: Option<Element>,
    values: Memo<Element>,
}

/// Evaluates at the random point given by a seed; `order` lists the nodes, children first.
pub(super) fn evaluate(
    pool: &Pool,
    order: &[Expr],
    e: Expr,
    prime: u64,
    seed: u64,
) -> Result<Element, Undefined> {
    let mut evaluator =
        Evaluator { pool, field: Field::new(prime), seed, unity: None, values: Memo::for_nodes(order) };
    for node in order {
        let value = evaluator.node(*node)?;
        evaluator.values.insert(*node, value);
    }
    evaluator.value(e)
}

/// The values of many expressions at the same random point; none where nothing can be said.
pub(super) fn evaluate_all(pool: &Pool, roots: &[Expr], prime: u64, seed: u64) -> Vec<Option<Element>> {
    let order = pool.reachable(roots);
    let mut evaluator =
        Evaluator { pool, field: Field::new(prime), seed, unity: None, values: Memo::for_nodes(&order) };
    for node in &order {
        if let Ok(value) = evaluator.node(*node) {
            evaluator.values.insert(*node, value);
        }
    }
    roots.iter().map(|root| evaluator.values.get(*root)).collect()
}

impl Evaluator<'_> {
    fn value(&self, e: Expr) -> Result<Element, Undefined> {
        self.values.get(e).ok_or(Undefined)
    }

    fn node(&mut self, e: Expr) -> Result<Element, Undefined> {
        let field = self.field;
        let pool = self.pool;
        match pool.node(e) {
            Node::Number(r) => self.number(r),
            Node::Pi => Ok(self.random(Kernel::Pi, Element::ZERO)),
            Node::Symbol(s) => {
                let root = self.random(Kernel::Symbol, field.integer(u64::from(s.0)));
                Ok(field.pow(root, EVEN_ROOTS))
            }
            Node::Sum(terms) => {
                terms.iter().try_fold(Element::ZERO, |sum, t| Ok(field.add(sum, self.value(*t)?)))
            }
            Node::Product(factors) => factors
                .iter()
                .try_fold(self.field.one(), |product, f| Ok(field.mul(product, self.value(*f)?))),
            Node::Power(base, exponent) => self.power(base, exponent),
            Node::Call(f, args) => self.call(f, args),
            Node::Truth(holds) => Ok(self.truth(holds)),
            Node::Compare(op, a, b) => {
                let difference = field.sub(self.value(a)?, self.value(b)?);
                let zero = difference.is_zero();
                let above = !zero && self.sign(difference) == self.field.one();
                let holds = match op {
                    Cmp::Lt => !above && !zero,
                    Cmp::Le => !above,
                    Cmp::Gt => above,
                    Cmp::Ge => above || zero,
                    Cmp::Eq => zero,
                    Cmp::Ne => !zero,
                };
                Ok(self.truth(holds))
            }
            Node::And(a, b) => Ok(self.truth(!self.value(a)?.is_zero() && !self.value(b)?.is_zero())),
            Node::Or(a, b) => Ok(self.truth(!self.value(a)?.is_zero() || !self.value(b)?.is_zero())),
            Node::Not(a) => Ok(self.truth(self.value(a)?.is_zero())),
            Node::Select(c, a, b) => self.value(if self.value(c)?.is_zero() { b } else { a }),
        }
    }

    fn truth(&self, holds: bool) -> Element {
        if holds { self.field.one() } else { Element::ZERO }
    }

    fn number(&self, r: &Rational) -> Result<Element, Undefined> {
        let re = self.field.base().rational(r).ok_or(Undefined)?;
        Ok(Element { re, im: 0 })
    }

    /// Gives the same random residue for the same kernel and argument.
    fn random(&self, kernel: Kernel, argument: Element) -> Element {
        let tag = match kernel {
            Kernel::Symbol => 1,
            Kernel::Pi => 2,
            Kernel::Exponential => 3,
            Kernel::Circular => 4,
            Kernel::Logarithm => 5,
            Kernel::Sign => 6,
            Kernel::Function(f) => 16 + f,
        };
        let mut state = self.seed;
        for word in [tag, argument.re, argument.im] {
            state = random::bits(state ^ word, 0);
        }
        // Zero would be a special point.
        Element { re: 1 + state % (self.field.base().prime() - 1), im: 0 }
    }

    fn power(&mut self, base: Expr, exponent: Expr) -> Result<Element, Undefined> {
        if let Some(r) = self.pool.as_rational(exponent) {
            return self.rational_power(base, r);
        }
        let log = self.logarithm(self.value(base)?);
        let (constant, terms) = self.linear_terms(exponent)?;
        let mut result = self.rational_power(base, &constant)?;
        for (coefficient, term) in terms {
            let key = self.field.mul(log, term);
            let root = self.random(Kernel::Exponential, key);
            let factor = self.root_power(root, &coefficient)?;
            result = self.field.mul(result, factor);
        }
        Ok(result)
    }

    fn logarithm(&self, value: Element) -> Element {
        if value == self.field.one() { Element::ZERO } else { self.random(Kernel::Logarithm, value) }
    }

    /// Splits an exponent or angle into its constant and its terms with their numbers.
    fn linear_terms(&self, e: Expr) -> Result<(Rational, Vec<(Rational, Element)>), Undefined> {
        let terms = match self.pool.node(e) {
            Node::Sum(terms) => terms,
            _ => &[e],
        };
        let mut constant = Rational::ZERO;
        let mut out = Vec::new();
        for term in terms {
            if let Some(r) = self.pool.as_rational(*term) {
                constant = r.clone();
                continue;
            }
            let coefficient = match self.pool.node(*term) {
                Node::Product(factors) => self.pool.as_rational(factors[0]).cloned(),
                _ => None,
            };
            let coefficient = coefficient.unwrap_or(Rational::ONE);
            let inverse = self.field.inverse(self.number(&coefficient)?).ok_or(Undefined)?;
            out.push((coefficient, self.field.mul(self.value(*term)?, inverse)));
        }
        Ok((constant, out))
    }

    fn rational_power(&mut self, base: Expr, r: &Rational) -> Result<Element, Undefined> {
        let n = i64::try_from(r.numerator()).map_err(|_| Undefined)?;
        if r.is_int() {
            return self.field.pow_signed(self.value(base)?, n).ok_or(Undefined);
        }
        match self.pool.node(base) {
            Node::Symbol(s) => {
                let root = self.random(Kernel::Symbol, self.field.integer(u64::from(s.0)));
                self.root_power(root, r)
            }
            Node::Number(b) => {
                let b = b.clone();
                self.number_root(&b, r)
            }
            _ => {
                let value = self.value(base)?;
                self.element_root(value, r)
            }
        }
    }

    /// Raises t^64 to a rational power.
    fn root_power(&self, t: Element, r: &Rational) -> Result<Element, Undefined> {
        let n = i64::try_from(r.numerator()).map_err(|_| Undefined)?;
        let d = u64::try_from(r.denominator()).map_err(|_| Undefined)?;
        let even = 1u64 << d.trailing_zeros().min(63);
        if even > EVEN_ROOTS {
            return Err(Undefined);
        }
        let root = self.field.odd_root(t, d / even).ok_or(Undefined)?;
        let exponent = n.checked_mul((EVEN_ROOTS / even) as i64).ok_or(Undefined)?;
        self.field.pow_signed(root, exponent).ok_or(Undefined)
    }

    /// Raises any element to a rational power, if the roots exist.
    fn element_root(&self, value: Element, r: &Rational) -> Result<Element, Undefined> {
        let n = i64::try_from(r.numerator()).map_err(|_| Undefined)?;
        let d = u64::try_from(r.denominator()).map_err(|_| Undefined)?;
        let mut root = self.field.odd_root(value, d >> d.trailing_zeros()).ok_or(Undefined)?;
        for _ in 0..d.trailing_zeros() {
            root = self.field.sqrt(root).ok_or(Undefined)?;
        }
        self.field.pow_signed(root, n).ok_or(Undefined)
    }

    /// Raises a positive number to a rational power through its prime factors, so that roots multiply.
    fn number_root(&mut self, b: &Rational, r: &Rational) -> Result<Element, Undefined> {
        if b.is_zero() {
            return if number::is_negative(r) { Err(Undefined) } else { Ok(Element::ZERO) };
        }
        if number::is_negative(b) {
            let value = self.number(b)?;
            return self.element_root(value, r);
        }
        let mut result = self.field.one();
        let parts =
            [(b.numerator().clone().unsigned_abs(), r.clone()), (b.denominator().clone(), -r.clone())];
        for (mut rest, exponent) in parts {
            for prime in 2u64..1000 {
                let prime = UBig::from(prime);
                let mut times = 0;
                while (&rest % &prime) == UBig::ZERO {
                    rest /= &prime;
                    times += 1;
                }
                if times > 0 {
                    let power = &exponent * number::integer(times);
                    let factor = self.prime_root(&prime, &power)?;
                    result = self.field.mul(result, factor);
                }
            }
            if rest != UBig::ONE {
                let factor = self.prime_root(&rest, &exponent)?;
                result = self.field.mul(result, factor);
            }
        }
        Ok(result)
    }

    fn prime_root(&mut self, prime: &UBig, r: &Rational) -> Result<Element, Undefined> {
        let n = i64::try_from(r.numerator()).map_err(|_| Undefined)?;
        let value = self.number(&Rational::from(prime.clone()))?;
        if r.is_int() {
            return self.field.pow_signed(value, n).ok_or(Undefined);
        }
        // The roots of two and three are tied to the angles pi/4 and pi/6.
        let angle = match u64::try_from(prime) {
            Ok(2) => Some(3),
            Ok(3) => Some(2),
            _ => None,
        };
        if let (Some(angle), Ok(2)) = (angle, u64::try_from(r.denominator())) {
            let z = self.field.pow(self.unity()?, angle);
            let inverse = self.field.inverse(z).ok_or(Undefined)?;
            return self.field.pow_signed(self.field.add(z, inverse), n).ok_or(Undefined);
        }
        self.element_root(value, r)
    }

    fn unity(&mut self) -> Result<Element, Undefined> {
        if self.unity.is_none() {
            self.unity = self.field.twenty_fourth_root();
        }
        self.unity.ok_or(Undefined)
    }

    fn exponential(&mut self, argument: Expr) -> Result<Element, Undefined> {
        let (constant, mut terms) = self.linear_terms(argument)?;
        terms.push((constant, self.field.one()));
        let mut result = self.field.one();
        for (coefficient, term) in terms {
            let root = self.random(Kernel::Exponential, term);
            result = self.field.mul(result, self.root_power(root, &coefficient)?);
        }
        Ok(result)
    }

    /// Gives exp(i u) for an angle u; multiples of pi/12 are roots of unity.
    fn rotation(&mut self, angle: Expr) -> Result<Element, Undefined> {
        let pi = self.random(Kernel::Pi, Element::ZERO);
        let (constant, mut terms) = self.linear_terms(angle)?;
        terms.push((constant, self.field.one()));
        let mut result = self.field.one();
        for (coefficient, term) in terms {
            let twelfths = &coefficient * number::integer(12);
            let factor = match number::as_i64(&twelfths) {
                Some(n) if term == pi => self.field.pow_signed(self.unity()?, n).ok_or(Undefined)?,
                _ => {
                    let root = self.random(Kernel::Circular, term);
                    self.root_power(root, &coefficient)?
                }
            };
            result = self.field.mul(result, factor);
        }
        Ok(result)
    }

    /// Gives the sign of a value at this point: a random but odd choice.
    fn sign(&self, value: Element) -> Element {
        if value.is_zero() {
            return value;
        }
        let opposite = self.field.neg(value);
        let key = value.min(opposite);
        let positive = (self.random(Kernel::Sign, key).re & 1 == 0) == (key == value);
        if positive { self.field.one() } else { self.field.neg(self.field.one()) }
    }

    fn call(&mut self, f: Func, args: &[Expr]) -> Result<Element, Undefined> {
        let field = self.field;
        let x = self.value(args[0])?;
        let half = field.inverse(field.integer(2)).ok_or(Undefined)?;
        match f {
            Func::Exp => self.exponential(args[0]),
            Func::Sinh | Func::Cosh | Func::Tanh => {
                let w = self.exponential(args[0])?;
                let inverse = field.inverse(w).ok_or(Undefined)?;
                let (sum, difference) = (field.add(w, inverse), field.sub(w, inverse));
                match f {
                    Func::Sinh => Ok(field.mul(difference, half)),
                    Func::Cosh => Ok(field.mul(sum, half)),
                    _ => Ok(field.mul(difference, field.inverse(sum).ok_or(Undefined)?)),
                }
            }
            Func::Sin | Func::Cos | Func::Tan => {
                let z = self.rotation(args[0])?;
                let inverse = field.inverse(z).ok_or(Undefined)?;
                let (sum, difference) = (field.add(z, inverse), field.sub(z, inverse));
                // The imaginary unit that belongs to the root of unity: a quarter turn.
                let i = field.pow(self.unity()?, 6);
                let minus_i = field.neg(i);
                match f {
                    Func::Sin => Ok(field.mul(field.mul(difference, half), minus_i)),
                    Func::Cos => Ok(field.mul(sum, half)),
                    _ => {
                        let quotient = field.mul(difference, field.inverse(sum).ok_or(Undefined)?);
                        Ok(field.mul(quotient, minus_i))
                    }
                }
            }
            Func::Ln => Ok(self.logarithm(x)),
            Func::Log10 => {
                let scale = self.logarithm(field.integer(10));
                Ok(field.mul(self.logarithm(x), field.inverse(scale).ok_or(Undefined)?))
            }
            Func::Sqrt => self.element_root(x, &number::ratio(1, 2)),
            Func::Abs => Ok(field.mul(x, self.sign(x))),
            Func::Sign => Ok(self.sign(x)),
            Func::Min | Func::Max => {
                let y = self.value(args[1])?;
                let first = self.sign(field.sub(x, y)) == self.field.one();
                Ok(if first == (f == Func::Max) { x } else { y })
            }
            Func::Asin
            | Func::Acos
            | Func::Atan
            | Func::Atan2
            | Func::Asinh
            | Func::Acosh
            | Func::Atanh
            | Func::Table(_) => {
                let (tag, table) = f.encode();
                let mut key = x;
                for arg in &args[1..] {
                    // Binds both arguments into one key.
                    let first = self.random(Kernel::Function(u64::from(tag)), key);
                    key = field.add(field.mul(first, key), self.value(*arg)?);
                }
                Ok(self.random(Kernel::Function(u64::from(tag) + (u64::from(table) << 8)), key))
            }
        }
    }
}
