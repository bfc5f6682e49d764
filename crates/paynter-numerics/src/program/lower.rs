//! From expressions to a straight line of operations, each calculated once.
//!
//! Equal operations get one value, whatever expressions they stand in. A
//! value that depends on slow arguments alone (the parameters of a run) is
//! kept apart from the rest, so that it is calculated once a run; products
//! and sums are therefore grouped by speed.

use super::CompileError;
use super::instruction::Op;
use super::scalar::calculate;
use paynter_algebra::{Cmp, Expr, Func, Node, Pool, Rational, Symbol};
use rustc_hash::{FxHashMap, FxHashSet};

/// Integer powers up to this size are multiplied out.
const MULTIPLIED: u64 = 64;

/// How a value is made.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Value {
    /// An argument, by its number.
    Argument(u32),
    /// A constant.
    Constant(f64),
    /// An operation on earlier values.
    Operation(Op, [u32; 3]),
}

/// A straight line of values, operands before results.
#[derive(Debug, Default)]
pub(crate) struct Line {
    pub values: Vec<Value>,
    /// Whether a value depends on slow arguments alone.
    pub slow: Vec<bool>,
    /// The value of each root.
    pub roots: Vec<u32>,
}

struct Lowering<'a> {
    pool: &'a Pool,
    line: Line,
    slow_arguments: usize,
    arguments: FxHashMap<Symbol, u32>,
    operations: FxHashMap<(Op, [u32; 3]), u32>,
    constants: FxHashMap<u64, u32>,
    /// The value of each expression.
    known: FxHashMap<Expr, u32>,
    /// How many expressions use an expression.
    uses: FxHashMap<Expr, u32>,
    /// Of products with a number, the number and the rest.
    scaled: FxHashMap<u32, (f64, u32)>,
    /// Of reciprocals, what stands below.
    below: FxHashMap<u32, u32>,
    /// Powers by base and exponent.
    powers: FxHashMap<(u32, u32), u32>,
    /// What logarithms are taken of.
    logs: FxHashSet<Expr>,
}

/// Lowers expressions over the arguments, of which the first `slow` ones change seldom.
pub(crate) fn lower(
    pool: &Pool,
    roots: &[Expr],
    arguments: &[Symbol],
    slow: usize,
) -> Result<Line, CompileError> {
    let mut lowering = Lowering {
        pool,
        line: Line::default(),
        slow_arguments: slow,
        arguments: arguments.iter().enumerate().map(|(i, s)| (*s, i as u32)).collect(),
        operations: FxHashMap::default(),
        constants: FxHashMap::default(),
        known: FxHashMap::default(),
        uses: FxHashMap::default(),
        scaled: FxHashMap::default(),
        below: FxHashMap::default(),
        powers: FxHashMap::default(),
        logs: FxHashSet::default(),
    };
    lowering.count(roots);
    // Depth first, so that what is calculated is soon used and registers are few.
    let mut stack: Vec<(Expr, bool)> = Vec::new();
    for root in roots {
        stack.push((*root, false));
        while let Some((e, children_done)) = stack.pop() {
            if lowering.known.contains_key(&e) {
                continue;
            }
            if children_done {
                let value = lowering.node(e)?;
                lowering.known.insert(e, value);
            } else {
                stack.push((e, true));
                let start = stack.len();
                lowering.each_child(e, |child| stack.push((child, false)));
                stack[start..].reverse();
            }
        }
        let value = lowering.of(*root);
        lowering.line.roots.push(value);
    }
    Ok(lowering.line)
}

impl Lowering<'_> {
    fn count(&mut self, roots: &[Expr]) {
        for e in self.pool.reachable(roots) {
            let mut uses = std::mem::take(&mut self.uses);
            self.each_child(e, |child| *uses.entry(child).or_default() += 1);
            self.uses = uses;
            if let Node::Call(Func::Ln, [x]) = self.pool.node(e) {
                self.logs.insert(*x);
            }
        }
    }

    fn each_child(&self, e: Expr, mut visit: impl FnMut(Expr)) {
        match self.pool.node(e) {
            Node::Number(_) | Node::Pi | Node::Symbol(_) | Node::Truth(_) => {}
            Node::Sum(list) | Node::Product(list) | Node::Call(_, list) => {
                list.iter().for_each(|c| visit(*c))
            }
            Node::Power(a, b) | Node::Compare(_, a, b) | Node::And(a, b) | Node::Or(a, b) => {
                visit(a);
                visit(b);
            }
            Node::Not(a) => visit(a),
            Node::Select(c, a, b) => {
                visit(c);
                visit(a);
                visit(b);
            }
        }
    }

    fn of(&self, e: Expr) -> u32 {
        self.known.get(&e).copied().unwrap_or(0)
    }

    fn push(&mut self, value: Value, slow: bool) -> u32 {
        let id = self.line.values.len() as u32;
        self.line.values.push(value);
        self.line.slow.push(slow);
        id
    }

    fn constant(&mut self, value: f64) -> u32 {
        if let Some(id) = self.constants.get(&value.to_bits()) {
            return *id;
        }
        let id = self.push(Value::Constant(value), true);
        self.constants.insert(value.to_bits(), id);
        id
    }

    fn value_of_constant(&self, id: u32) -> Option<f64> {
        match self.line.values[id as usize] {
            Value::Constant(value) => Some(value),
            _ => None,
        }
    }

    fn is_slow(&self, id: u32) -> bool {
        self.line.slow[id as usize]
    }

    /// Finds or makes an operation; one on constants is calculated at once.
    fn op(&mut self, op: Op, a: u32, b: u32, c: u32) -> u32 {
        let (a, b) = if op.commutes() && b < a { (b, a) } else { (a, b) };
        let arity = op.arity();
        let operands = [a, if arity > 1 || op == Op::Table { b } else { 0 }, if arity > 2 { c } else { 0 }];
        if let Some(id) = self.operations.get(&(op, operands)) {
            return *id;
        }
        let constants: Vec<Option<f64>> =
            operands.iter().take(arity).map(|id| self.value_of_constant(*id)).collect();
        if op != Op::Table && constants.iter().all(Option::is_some) {
            let at = |i: usize| constants.get(i).copied().flatten().unwrap_or(0.0);
            return self.constant(calculate(op, at(0), at(1), at(2)));
        }
        let slow = operands.iter().take(arity).all(|id| self.is_slow(*id));
        let id = self.push(Value::Operation(op, operands), slow);
        self.operations.insert((op, operands), id);
        id
    }

    fn add(&mut self, a: u32, b: u32) -> u32 {
        self.op(Op::Add, a, b, 0)
    }

    fn mul(&mut self, a: u32, b: u32) -> u32 {
        match (self.value_of_constant(a), self.value_of_constant(b)) {
            (Some(1.0), _) => b,
            (_, Some(1.0)) => a,
            (Some(-1.0), _) => self.op(Op::Neg, b, 0, 0),
            (_, Some(-1.0)) => self.op(Op::Neg, a, 0, 0),
            _ => self.op(Op::Mul, a, b, 0),
        }
    }

    fn reciprocal(&mut self, a: u32) -> u32 {
        let one = self.constant(1.0);
        let id = self.op(Op::Div, one, a, 0);
        self.below.insert(id, a);
        id
    }

    fn node(&mut self, e: Expr) -> Result<u32, CompileError> {
        let pool = self.pool;
        Ok(match pool.node(e) {
            Node::Number(r) => self.constant(r.to_f64().value()),
            Node::Pi => self.constant(std::f64::consts::PI),
            Node::Truth(value) => self.constant(if value { 1.0 } else { 0.0 }),
            Node::Symbol(s) => {
                let Some(number) = self.arguments.get(&s).copied() else {
                    return Err(CompileError::Unbound(pool.name(s).to_owned()));
                };
                self.push(Value::Argument(number), (number as usize) < self.slow_arguments)
            }
            Node::Sum(terms) => self.sum(terms),
            Node::Product(factors) => self.product(factors),
            Node::Power(base, exponent) => self.power(base, exponent),
            Node::Call(f, args) => self.call(f, args),
            Node::Compare(op, a, b) => {
                let (a, b) = (self.of(a), self.of(b));
                match op {
                    Cmp::Lt => self.op(Op::Lt, a, b, 0),
                    Cmp::Le => self.op(Op::Le, a, b, 0),
                    Cmp::Gt => self.op(Op::Lt, b, a, 0),
                    Cmp::Ge => self.op(Op::Le, b, a, 0),
                    Cmp::Eq => self.op(Op::Eq, a, b, 0),
                    Cmp::Ne => self.op(Op::Ne, a, b, 0),
                }
            }
            // Conditions are 0 or 1, so that arithmetic serves for logic.
            Node::And(a, b) => self.op(Op::Mul, self.of(a), self.of(b), 0),
            Node::Or(a, b) => self.op(Op::Max, self.of(a), self.of(b), 0),
            Node::Not(a) => {
                let one = self.constant(1.0);
                self.op(Op::Sub, one, self.of(a), 0)
            }
            Node::Select(c, a, b) => self.op(Op::Select, self.of(c), self.of(a), self.of(b)),
        })
    }

    fn sum(&mut self, terms: &[Expr]) -> u32 {
        let mut groups: [Vec<u32>; 2] = [Vec::new(), Vec::new()];
        for term in terms {
            let value = self.of(*term);
            groups[usize::from(!self.is_slow(value))].push(value);
        }
        let [slow, fast] = groups;
        let mut total = None;
        for group in [slow, fast] {
            // A positive term first saves a negation.
            let first = group.iter().position(|v| !self.scaled.get(v).is_some_and(|(k, _)| *k == -1.0));
            let start = first.unwrap_or(0);
            let order = std::iter::once(start).chain((0..group.len()).filter(|i| *i != start));
            for i in order.take(group.len()) {
                let term = group[i];
                total = Some(match (total, self.scaled.get(&term).copied()) {
                    (None, _) => term,
                    (Some(sum), Some((-1.0, rest))) => self.op(Op::Sub, sum, rest, 0),
                    (Some(sum), _) => self.add(sum, term),
                });
            }
        }
        total.unwrap_or(0)
    }

    fn product(&mut self, factors: &[Expr]) -> u32 {
        let pool = self.pool;
        let (number, factors) = match factors.split_first() {
            Some((first, rest)) if pool.as_rational(*first).is_some() => {
                (self.value_of_constant(self.of(*first)).unwrap_or(f64::NAN), rest)
            }
            _ => (1.0, factors),
        };
        let mut above: [Vec<u32>; 2] = [Vec::new(), Vec::new()];
        let mut below: [Vec<u32>; 2] = [Vec::new(), Vec::new()];
        let mut skip = Vec::new();
        // x^a·ln(x) has a limit at x = 0 that its factors do not have.
        for (i, factor) in factors.iter().enumerate() {
            let Node::Call(Func::Ln, [x]) = pool.node(*factor) else { continue };
            let partner = factors.iter().position(|p| matches!(pool.node(*p), Node::Power(b, _) if b == *x));
            if let Some(j) = partner.filter(|j| !skip.contains(j)) {
                let (power, log) = (self.of(factors[j]), self.of(*factor));
                let value = self.op(Op::MulZero, power, log, 0);
                above[usize::from(!self.is_slow(value))].push(value);
                skip.extend([i, j]);
            }
        }
        for (i, factor) in factors.iter().enumerate() {
            if skip.contains(&i) {
                continue;
            }
            let value = self.of(*factor);
            let speed = usize::from(!self.is_slow(value));
            // A reciprocal that others use as well is multiplied with; an own one becomes a division.
            match self.below.get(&value) {
                Some(under) if self.uses.get(factor).copied().unwrap_or(0) < 2 => below[speed].push(*under),
                _ => above[speed].push(value),
            }
        }
        let mut parts = Vec::new();
        for speed in 0..2 {
            let top = above[speed].clone().into_iter().reduce(|a, b| self.mul(a, b));
            let bottom = below[speed].clone().into_iter().reduce(|a, b| self.mul(a, b));
            match (top, bottom) {
                (None, None) => {}
                (Some(top), None) => parts.push(top),
                (None, Some(bottom)) if speed == 1 && !parts.is_empty() => {
                    let top = parts.pop().unwrap_or(bottom);
                    parts.push(self.op(Op::Div, top, bottom, 0));
                }
                (None, Some(bottom)) => parts.push(self.reciprocal(bottom)),
                (Some(top), Some(bottom)) => parts.push(self.op(Op::Div, top, bottom, 0)),
            }
        }
        // The number joins the slow part, so that it costs nothing in the fast one.
        if number != 1.0 && number != -1.0 && parts.len() == 2 {
            let k = self.constant(number);
            parts[0] = self.mul(k, parts[0]);
            return self.mul(parts[0], parts[1]);
        }
        let rest = parts.into_iter().reduce(|a, b| self.mul(a, b));
        let k = self.constant(number);
        let Some(rest) = rest else { return k };
        let value = self.mul(k, rest);
        if number != 1.0 {
            self.scaled.insert(value, (number, rest));
        }
        value
    }

    /// A whole power of a value by repeated squaring.
    fn whole_power(&mut self, base: u32, n: u64) -> u32 {
        let mut square = base;
        let mut result = None;
        let mut left = n;
        while left > 0 {
            if left & 1 == 1 {
                result = Some(match result {
                    None => square,
                    Some(r) => self.mul(r, square),
                });
            }
            left >>= 1;
            if left > 0 {
                square = self.mul(square, square);
            }
        }
        match result {
            Some(value) => value,
            None => self.constant(1.0),
        }
    }

    /// A power by its logarithm where that is known, or from one that is larger by one.
    fn general_power(&mut self, base: u32, exponent: u32, log: bool) -> u32 {
        if let Some(value) = self.powers.get(&(base, exponent)) {
            return *value;
        }
        // Derivatives of powers have exponents that are smaller by one.
        let larger = match self.line.values[exponent as usize] {
            Value::Operation(Op::Add, [a, b, _]) if self.value_of_constant(a) == Some(-1.0) => Some(b),
            Value::Operation(Op::Add, [a, b, _]) if self.value_of_constant(b) == Some(-1.0) => Some(a),
            _ => None,
        };
        let known = larger.and_then(|larger| self.powers.get(&(base, larger)).copied());
        let value = match known {
            Some(power) => self.op(Op::PowLess, power, base, exponent),
            None if log => {
                let log = self.op(Op::Ln, base, 0, 0);
                self.op(Op::PowLog, base, exponent, log)
            }
            None => self.op(Op::Pow, base, exponent, 0),
        };
        self.powers.insert((base, exponent), value);
        value
    }

    fn power(&mut self, base: Expr, exponent: Expr) -> u32 {
        let pool = self.pool;
        let (b, e) = (self.of(base), self.of(exponent));
        let log = self.logs.contains(&base);
        if let Node::Call(Func::Exp, [one]) = pool.node(base)
            && *one == pool.one()
        {
            return self.op(Op::Exp, e, 0, 0);
        }
        let Some((n, d)) = pool.as_rational(exponent).and_then(small_ratio) else {
            return self.general_power(b, e, log);
        };
        let (whole, part) = (n.unsigned_abs() / d, n.unsigned_abs() % d);
        let root = match (d, part) {
            (_, 0) => None,
            (2, _) => Some(self.op(Op::Sqrt, b, 0, 0)),
            (3, _) => {
                let root = self.op(Op::Cbrt, b, 0, 0);
                Some(self.whole_power(root, part))
            }
            _ => return self.general_power(b, e, log),
        };
        if whole > MULTIPLIED {
            return self.general_power(b, e, log);
        }
        let value = match (root, whole) {
            (Some(root), 0) => root,
            (Some(root), _) => {
                let whole = self.whole_power(b, whole);
                self.mul(whole, root)
            }
            (None, _) => self.whole_power(b, whole),
        };
        if n < 0 { self.reciprocal(value) } else { value }
    }

    fn call(&mut self, f: Func, args: &[Expr]) -> u32 {
        let a = args.first().map_or(0, |x| self.of(*x));
        let b = args.get(1).map_or(0, |x| self.of(*x));
        let op = match f {
            Func::Sin => Op::Sin,
            Func::Cos => Op::Cos,
            Func::Tan => Op::Tan,
            Func::Asin => Op::Asin,
            Func::Acos => Op::Acos,
            Func::Atan => Op::Atan,
            Func::Atan2 => Op::Atan2,
            Func::Sinh => Op::Sinh,
            Func::Cosh => Op::Cosh,
            Func::Tanh => Op::Tanh,
            Func::Asinh => Op::Asinh,
            Func::Acosh => Op::Acosh,
            Func::Atanh => Op::Atanh,
            Func::Exp => Op::Exp,
            Func::Ln => Op::Ln,
            Func::Log10 => Op::Log10,
            Func::Sqrt => Op::Sqrt,
            Func::Abs => Op::Abs,
            Func::Sign => Op::Sign,
            Func::Min => Op::Min,
            Func::Max => Op::Max,
            Func::Table(number) => return self.op(Op::Table, a, number, 0),
        };
        self.op(op, a, b, 0)
    }
}

/// A fraction with a small numerator and denominator.
fn small_ratio(r: &Rational) -> Option<(i64, u64)> {
    let n = i64::try_from(r.numerator()).ok().filter(|n| n.unsigned_abs() < 1 << 20)?;
    let d = u64::try_from(r.denominator()).ok().filter(|d| *d < 1 << 20)?;
    Some((n, d))
}
