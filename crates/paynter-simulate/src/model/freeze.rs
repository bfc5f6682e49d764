//! Freezing what switches, so that equations are smooth between events.
//!
//! Every relation a ≷ b on which the model branches (conditions, `abs`,
//! `sign`, `min`, `max`, the cuts of angles) becomes an event function h = a − b and a mode: a
//! symbol that holds the sign of h and changes at events only. A table
//! becomes a straight line whose three numbers change at its corners. A power
//! with the sign of its base, sign(x)·|x|ʳ, is continuous; because roots are
//! infinitely steep at zero, it is regularised within a small width of zero.

use super::signs::aligned;
use paynter_algebra::{Cmp, Expr, Func, Node, Pool, Rational, Symbol};
use rustc_hash::{FxHashMap, FxHashSet};

/// An event function with its mode.
#[derive(Debug, Clone)]
pub(crate) struct Relation {
    /// Holds the sign of the function between events.
    pub mode: Symbol,
    /// The function, over time, states, unknowns, parameters and other modes.
    pub function: Expr,
    /// Whether something may jump with the mode; `abs`, `min` and `max` only bend.
    pub jumps: bool,
    /// Below this size of the function, powers with its sign are regularised.
    pub width: Option<Symbol>,
    /// Whether roots that begin at its zero are among those powers.
    pub one_sided: bool,
}

/// A table as a straight line: value + slope·(t − origin).
#[derive(Debug, Clone, Copy)]
pub(crate) struct Piece {
    pub table: u32,
    pub value: Symbol,
    pub slope: Symbol,
    pub origin: Symbol,
}

/// The regularisation width within which powers with the sign of an event function are smooth.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Regularisation {
    pub relation: usize,
    pub width: Symbol,
    /// Whether nothing else happens where the function is zero.
    pub alone: bool,
}

/// Rewrites expressions; relations are shared by all it has seen.
#[derive(Clone)]
pub(crate) struct Freezer {
    pub relations: Vec<Relation>,
    pub pieces: Vec<Piece>,
    time: Symbol,
    fast: FxHashSet<Symbol>,
    known: FxHashMap<Expr, usize>,
}

impl Freezer {
    /// Makes a freezer for relations that read any of the fast symbols (time, states, unknowns).
    pub fn new(time: Symbol, fast: impl IntoIterator<Item = Symbol>) -> Freezer {
        let mut fast: FxHashSet<Symbol> = fast.into_iter().collect();
        fast.insert(time);
        Freezer { relations: Vec::new(), pieces: Vec::new(), time, fast, known: FxHashMap::default() }
    }

    /// Where powers are regularised.
    pub fn regularisations(&self) -> Vec<Regularisation> {
        let of = |(relation, r): (usize, &Relation)| {
            Some(Regularisation { relation, width: r.width?, alone: !r.jumps && !r.one_sided })
        };
        self.relations.iter().enumerate().filter_map(of).collect()
    }

    /// Rewrites expressions.
    pub fn freeze(&mut self, pool: &mut Pool, roots: &[Expr]) -> Vec<Expr> {
        let mut replaced: FxHashMap<Expr, Expr> = FxHashMap::default();
        let mut moving: FxHashSet<Expr> = FxHashSet::default();
        let roots = aligned(pool, roots);
        let roots = &transversal(pool, &roots)[..];
        let order = pool.reachable(roots);
        let signed = signed_bases(pool, &order, roots);
        for node in order {
            let children = pool.children(node).to_vec();
            let moves = match pool.node(node) {
                Node::Symbol(s) => self.fast.contains(&s),
                _ => children.iter().any(|c| moving.contains(c)),
            };
            // A root of what an input switches on and off is regularised like any other.
            let switched = !moves && !powered(pool, node).is_empty() && !self.is_fixed(pool, node);
            if !moves && !switched {
                continue;
            }
            moving.insert(node);
            // The products that read such a sign regularise it.
            if sign_of(pool, node).is_some_and(|x| signed.contains(&x)) {
                continue;
            }
            let args: Vec<Expr> = children.iter().map(|c| replaced.get(c).copied().unwrap_or(*c)).collect();
            let args = self.powers(pool, node, args, &replaced);
            let new = self.node(pool, node, &args);
            if new != node {
                replaced.insert(node, new);
            }
        }
        roots.iter().map(|e| replaced.get(e).copied().unwrap_or(*e)).collect()
    }

    /// The relation of an event function, and by how much the function is a multiple of the relation's.
    pub(super) fn relation(&mut self, pool: &mut Pool, function: Expr, jumps: bool) -> (usize, Expr) {
        let leading = leading(pool, function);
        let terms = match pool.node(function) {
            Node::Sum(list) => list.to_vec(),
            _ => vec![function],
        };
        let terms: Vec<Expr> = terms.into_iter().map(|term| pool.div(term, leading)).collect();
        let function = pool.sum(&terms);
        let k = *self.known.entry(function).or_insert_with(|| {
            let mode = pool.fresh("mode");
            self.relations.push(Relation { mode, function, jumps, width: None, one_sided: false });
            self.relations.len() - 1
        });
        self.relations[k].jumps |= jumps;
        (k, leading)
    }

    /// The mode of an event function, as an expression. Multiples of one function share their mode, also
    /// those by parameters, so that laws that switch together slide together.
    pub(super) fn mode(&mut self, pool: &mut Pool, function: Expr, jumps: bool) -> Expr {
        let factors = match pool.node(function) {
            Node::Product(list) => list.to_vec(),
            _ => vec![function],
        };
        let (fixed, moving): (Vec<Expr>, Vec<Expr>) =
            factors.into_iter().partition(|factor| self.is_fixed(pool, *factor));
        let function = pool.product(&moving);
        let (k, leading) = self.relation(pool, function, jumps);
        let mode = pool.var(self.relations[k].mode);
        let fixed = pool.product(&fixed);
        let factor = pool.mul(fixed, leading);
        let sign = pool.call(Func::Sign, &[factor]);
        pool.mul(sign, mode)
    }

    /// Whether an expression reads states or unknowns.
    pub(super) fn reads_states(&self, pool: &Pool, e: Expr) -> bool {
        pool.symbols(e).iter().any(|s| *s != self.time && self.fast.contains(s))
    }

    /// Whether an expression reads parameters only.
    pub(super) fn is_fixed(&self, pool: &Pool, e: Expr) -> bool {
        let changes = |s: &Symbol| {
            self.fast.contains(s)
                || self.relations.iter().any(|r| r.mode == *s)
                || self.pieces.iter().any(|p| [p.value, p.slope, p.origin].contains(s))
        };
        !pool.symbols(e).iter().any(changes)
    }

    /// The size √(x² + w²) in place of |x|, and x/√(x² + w²) in place of the sign.
    fn regularised(&mut self, pool: &mut Pool, f: Func, x: Expr) -> Expr {
        let (k, leading) = self.relation(pool, x, false);
        let relation = &mut self.relations[k];
        let width = *relation.width.get_or_insert_with(|| pool.fresh("width"));
        let (h, width, two) = (relation.function, pool.var(width), pool.int(2));
        let squares = [h, width].map(|side| pool.pow(side, two));
        let square = pool.sum(&squares);
        let size = pool.call(Func::Sqrt, &[square]);
        let (value, factor) = match f {
            Func::Abs => (size, leading),
            _ => (pool.div(h, size), if is_negative(pool, leading) { pool.int(-1) } else { pool.one() }),
        };
        let value = pool.mul(factor, value);
        if f == Func::Abs && is_negative(pool, leading) { pool.neg(value) } else { value }
    }

    /// The factors of a product, signed powers among them regularised.
    fn powers(
        &mut self,
        pool: &mut Pool,
        node: Expr,
        mut args: Vec<Expr>,
        replaced: &FxHashMap<Expr, Expr>,
    ) -> Vec<Expr> {
        let new = |e: &Expr| replaced.get(e).copied().unwrap_or(*e);
        let mut bases = powered(pool, node);
        bases.extend(broken(pool, node));
        for x in bases {
            let (size, sign) = [Func::Abs, Func::Sign].map(|f| self.regularised(pool, f, new(&x))).into();
            for (factor, arg) in pool.children(node).to_vec().into_iter().zip(&mut args) {
                if sign_of(pool, factor) == Some(x) {
                    *arg = sign;
                } else if vanishes(pool, factor, x) {
                    let within =
                        |pool: &Pool, e: &Expr| if size_of(pool, *e) == Some(x) { size } else { new(e) };
                    *arg = match pool.node(factor) {
                        Node::Power(base, exponent) => {
                            let parts = match pool.node(base) {
                                Node::Product(list) => list.to_vec(),
                                _ => vec![base],
                            };
                            let parts: Vec<Expr> = parts.iter().map(|part| within(pool, part)).collect();
                            let base = pool.product(&parts);
                            pool.pow(base, new(&exponent))
                        }
                        _ => size,
                    };
                }
            }
        }
        args
    }

    fn node(&mut self, pool: &mut Pool, node: Expr, args: &[Expr]) -> Expr {
        match pool.node(node) {
            Node::Compare(op, ..) => {
                let difference = pool.sub(args[0], args[1]);
                if pool.as_rational(difference).is_some() {
                    return pool.compare(op, args[0], args[1]);
                }
                let mode = self.mode(pool, difference, true);
                let zero = pool.zero();
                pool.compare(op, mode, zero)
            }
            Node::Call(Func::Abs, _) => {
                let mode = self.mode(pool, args[0], false);
                pool.mul(mode, args[0])
            }
            Node::Call(Func::Sign, _) => self.mode(pool, args[0], true),
            Node::Call(f @ (Func::Min | Func::Max), _) => {
                let difference = pool.sub(args[0], args[1]);
                let mode = self.mode(pool, difference, false);
                let zero = pool.zero();
                let op = if f == Func::Min { Cmp::Le } else { Cmp::Ge };
                let first = pool.compare(op, mode, zero);
                let select = pool.select(first, args[0], args[1]);
                self.regularise_branches(pool, select)
            }
            Node::Call(Func::Atan2, _) => self.cut_angle(pool, args[0], args[1]),
            Node::Call(Func::Atan, _) => {
                self.cut_at_pole(pool, args[0]).unwrap_or_else(|| rebuilt(pool, node, args))
            }
            Node::Call(f @ (Func::Acos | Func::Asin), _) => {
                self.triangle(pool, f, args[0]).unwrap_or_else(|| rebuilt(pool, node, args))
            }
            Node::Call(Func::Table(table), _) if pool.as_symbol(args[0]) == Some(self.time) => {
                self.piece(pool, table)
            }
            Node::Power(..) | Node::Call(Func::Sqrt, _) => {
                let select = branched(pool, node, args);
                match select {
                    Some(select) => self.regularise_branches(pool, select),
                    None => rebuilt(pool, node, args),
                }
            }
            Node::Select(..) => {
                let select = rebuilt(pool, node, args);
                self.regularise_branches(pool, select)
            }
            _ => rebuilt(pool, node, args),
        }
    }

    fn piece(&mut self, pool: &mut Pool, table: u32) -> Expr {
        let known = self.pieces.iter().find(|piece| piece.table == table).copied();
        let piece = known.unwrap_or_else(|| {
            let [value, slope, origin] = ["value", "slope", "origin"].map(|name| pool.fresh(name));
            Piece { table, value, slope, origin }
        });
        if known.is_none() {
            self.pieces.push(piece);
        }
        let [value, slope, origin, t] =
            [piece.value, piece.slope, piece.origin, self.time].map(|s| pool.var(s));
        let since = pool.sub(t, origin);
        let rise = pool.mul(slope, since);
        pool.add(value, rise)
    }
}

/// A root of what is zero on one branch, as a branch of the root: where it is zero it is flat, although the root
/// is infinitely steep there.
fn branched(pool: &mut Pool, node: Expr, args: &[Expr]) -> Option<Expr> {
    if let Some(exponent) = args.get(1)
        && pool.as_rational(*exponent).is_none_or(|r| r.is_int() || *r < Rational::ZERO)
    {
        return None;
    }
    let factors = match pool.node(args[0]) {
        Node::Product(list) => list.to_vec(),
        _ => vec![args[0]],
    };
    let zero = pool.zero();
    let (at, condition, above, below) = factors.iter().enumerate().find_map(|(at, factor)| {
        let Node::Select(condition, above, below) = pool.node(*factor) else { return None };
        (above == zero || below == zero).then_some((at, condition, above, below))
    })?;
    let [above, below] = [above, below].map(|branch| {
        let mut parts = factors.clone();
        parts[at] = branch;
        let base = pool.product(&parts);
        if base == zero {
            return zero;
        }
        let mut args = args.to_vec();
        args[0] = base;
        rebuilt(pool, node, &args)
    });
    Some(pool.select(condition, above, below))
}

/// The conditions and signs at which some expressions jump, as far as they read other symbols than `fixed`.
pub fn switches(pool: &Pool, roots: &[Expr], fixed: &[Symbol]) -> Vec<Expr> {
    let order = pool.reachable(roots);
    let signed = signed_bases(pool, &order, roots);
    let moves = |e: Expr| pool.symbols(e).iter().any(|symbol| !fixed.contains(symbol));
    let jumps = |node: &Expr| match pool.node(*node) {
        Node::Compare(..) => moves(*node),
        Node::Call(Func::Sign, list) => !signed.contains(&list[0]) && moves(*node),
        _ => false,
    };
    order.iter().copied().filter(jumps).collect()
}

/// The x whose sign is read only in products sign(x)·|x|ʳ with r > 0.
fn signed_bases(pool: &Pool, order: &[Expr], roots: &[Expr]) -> FxHashSet<Expr> {
    let mut bases: FxHashSet<Expr> = order.iter().filter_map(|node| sign_of(pool, *node)).collect();
    for root in roots {
        sign_of(pool, *root).map(|x| bases.remove(&x));
    }
    for node in order {
        let powered = powered(pool, *node);
        for x in pool.children(*node).iter().filter_map(|operand| sign_of(pool, *operand)) {
            if !powered.contains(&x) {
                bases.remove(&x);
            }
        }
    }
    bases
}

/// The x of all sign(x)·|x|ʳ in a product.
fn powered(pool: &Pool, node: Expr) -> Vec<Expr> {
    let Node::Product(factors) = pool.node(node) else { return Vec::new() };
    let signs = factors.iter().filter_map(|factor| sign_of(pool, *factor));
    signs.filter(|x| factors.iter().any(|factor| vanishes(pool, *factor, *x))).collect()
}

/// The x of all x·|x|ʳ with a broken exponent in a product; the first factor may be a multiple of x.
fn broken(pool: &mut Pool, node: Expr) -> Vec<Expr> {
    let Node::Product(factors) = pool.node(node) else { return Vec::new() };
    let factors = factors.to_vec();
    let mut found = Vec::new();
    for factor in &factors {
        let Node::Power(_, exponent) = pool.node(*factor) else { continue };
        let Some(x) = size_within(pool, *factor) else { continue };
        let whole = pool.as_rational(exponent).is_some_and(|number| number.is_int());
        if !whole && vanishes(pool, *factor, x) {
            let line = normalised(pool, x);
            if factors.iter().any(|factor| normalised(pool, *factor) == line) {
                found.push(x);
            }
        }
    }
    found
}

fn sign_of(pool: &Pool, e: Expr) -> Option<Expr> {
    match pool.node(e) {
        Node::Call(Func::Sign, list) => Some(list[0]),
        _ => None,
    }
}

fn size_of(pool: &Pool, e: Expr) -> Option<Expr> {
    match pool.node(e) {
        Node::Call(Func::Abs, list) => Some(list[0]),
        _ => None,
    }
}

/// Whether a factor is a positive power of |x|, perhaps with other factors beside |x|.
fn vanishes(pool: &Pool, factor: Expr, x: Expr) -> bool {
    match pool.node(factor) {
        Node::Power(base, exponent) => {
            let positive = pool.as_rational(exponent).is_none_or(|number| *number > Rational::ZERO);
            positive
                && match pool.node(base) {
                    Node::Product(list) => list.iter().any(|part| size_of(pool, *part) == Some(x)),
                    _ => size_of(pool, base) == Some(x),
                }
        }
        _ => size_of(pool, factor) == Some(x),
    }
}

/// The same expressions, but what they ask the sign of crosses zero transversally.
fn transversal(pool: &mut Pool, roots: &[Expr]) -> Vec<Expr> {
    let mut replaced: FxHashMap<Expr, Expr> = FxHashMap::default();
    for node in pool.reachable(roots) {
        let args: Vec<Expr> =
            pool.children(node).iter().map(|c| replaced.get(c).copied().unwrap_or(*c)).collect();
        let new = match pool.node(node) {
            Node::Call(Func::Sign, _) => {
                let line = straight(pool, args[0]);
                pool.call(Func::Sign, &[line])
            }
            Node::Compare(op, ..) => {
                let difference = pool.sub(args[0], args[1]);
                match straight(pool, difference) {
                    line if line == difference => pool.compare(op, args[0], args[1]),
                    line => {
                        let zero = pool.zero();
                        pool.compare(op, line, zero)
                    }
                }
            }
            _ => rebuilt(pool, node, &args),
        };
        if new != node {
            replaced.insert(node, new);
        }
    }
    roots.iter().map(|e| replaced.get(e).copied().unwrap_or(*e)).collect()
}

/// An expression of the same sign without powers of one factor, which may be flat or infinitely steep at zero.
fn straight(pool: &mut Pool, e: Expr) -> Expr {
    let Node::Product(factors) = pool.node(e) else { return odd_base(pool, e) };
    let factors: Vec<Expr> = factors.iter().map(|factor| odd_base(pool, *factor)).collect();
    let lines: Vec<Expr> = factors.iter().map(|factor| normalised(pool, *factor)).collect();
    let mut kept = Vec::new();
    for factor in factors {
        let Some(x) = size_within(pool, factor) else {
            kept.push(factor);
            continue;
        };
        let line = normalised(pool, x);
        // What is not negative leaves the sign of another factor that vanishes with it.
        if !vanishes(pool, factor, x) || !lines.contains(&line) {
            kept.push(factor);
        }
    }
    pool.product(&kept)
}

/// The base of an odd power, and the argument of a sign.
fn odd_base(pool: &Pool, factor: Expr) -> Expr {
    match pool.node(factor) {
        Node::Power(base, exponent) if pool.as_int(exponent).is_some_and(|n| n > 0 && n % 2 == 1) => base,
        _ => sign_of(pool, factor).unwrap_or(factor),
    }
}

/// The x of |x| or of a power of it, perhaps with other factors beside |x|.
fn size_within(pool: &Pool, factor: Expr) -> Option<Expr> {
    let base = match pool.node(factor) {
        Node::Power(base, _) => base,
        _ => factor,
    };
    match pool.node(base) {
        Node::Product(list) => list.iter().find_map(|part| size_of(pool, *part)),
        _ => size_of(pool, base),
    }
}

fn is_negative(pool: &Pool, number: Expr) -> bool {
    pool.as_rational(number).is_some_and(|c| *c < Rational::ZERO)
}

/// The number before the first term of a function that is not a number itself, or one.
pub(super) fn leading(pool: &Pool, function: Expr) -> Expr {
    let number = |e: &Expr| pool.as_rational(*e).is_some();
    let first = match pool.node(function) {
        Node::Sum(list) => list.iter().copied().find(|term| !number(term)).unwrap_or(function),
        _ => function,
    };
    let factor = match pool.node(first) {
        Node::Product(list) => list.iter().copied().find(number),
        _ => None,
    };
    factor.unwrap_or_else(|| pool.one())
}

/// The same for all multiples of an expression by numbers.
pub(crate) fn normalised(pool: &mut Pool, e: Expr) -> Expr {
    let terms = match pool.node(e) {
        Node::Sum(list) => list.to_vec(),
        _ => vec![e],
    };
    let mut parts: Vec<(Expr, Expr)> = Vec::new();
    for term in terms {
        let factors = match pool.node(term) {
            Node::Product(list) => list.to_vec(),
            _ => vec![term],
        };
        let (numbers, rest): (Vec<Expr>, Vec<Expr>) =
            factors.into_iter().partition(|factor| pool.as_rational(*factor).is_some());
        parts.push((pool.product(&rest), pool.product(&numbers)));
    }
    parts.sort_unstable();
    let first = parts.first().map_or(pool.one(), |(_, number)| *number);
    let terms: Vec<Expr> = parts
        .into_iter()
        .map(|(rest, number)| {
            let share = pool.div(number, first);
            pool.mul(share, rest)
        })
        .collect();
    pool.sum(&terms)
}

/// A node with other operands.
pub(crate) fn rebuilt(pool: &mut Pool, node: Expr, args: &[Expr]) -> Expr {
    match pool.node(node) {
        Node::Number(_) | Node::Pi | Node::Symbol(_) | Node::Truth(_) => node,
        Node::Sum(_) => pool.sum(args),
        Node::Product(_) => pool.product(args),
        Node::Power(..) => pool.pow(args[0], args[1]),
        Node::Compare(op, ..) => pool.compare(op, args[0], args[1]),
        Node::And(..) => pool.and(args[0], args[1]),
        Node::Or(..) => pool.or(args[0], args[1]),
        Node::Not(_) => pool.not(args[0]),
        Node::Select(..) => pool.select(args[0], args[1], args[2]),
        Node::Call(f, _) => pool.call(f, args),
    }
}
