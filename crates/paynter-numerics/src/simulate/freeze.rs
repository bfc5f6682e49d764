//! Freezing what switches, so that equations are smooth between events.
//!
//! Every relation a ≷ b on which the model branches (conditions, `abs`,
//! `sign`, `min`, `max`) becomes an event function h = a − b and a mode: a
//! symbol that holds the sign of h and changes at events only. A table
//! becomes a straight line whose three numbers change at its corners.

use paynter_algebra::{Cmp, Expr, Func, Node, Pool, Symbol};
use rustc_hash::{FxHashMap, FxHashSet};

/// An event function with its mode.
#[derive(Debug, Clone)]
pub(crate) struct Relation {
    /// Holds the sign of the function between events.
    pub mode: Symbol,
    /// The function, over time, states, unknowns, parameters and other modes.
    pub function: Expr,
}

/// A table as a straight line: value + slope·(t − origin).
#[derive(Debug, Clone, Copy)]
pub(crate) struct Piece {
    pub table: u32,
    pub value: Symbol,
    pub slope: Symbol,
    pub origin: Symbol,
}

/// Rewrites expressions; relations are shared by all it has seen.
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

    /// Rewrites expressions.
    pub fn freeze(&mut self, pool: &mut Pool, roots: &[Expr]) -> Vec<Expr> {
        let mut replaced: FxHashMap<Expr, Expr> = FxHashMap::default();
        let mut moving: FxHashSet<Expr> = FxHashSet::default();
        for node in pool.reachable(roots) {
            let children = children(pool, node);
            let moves = match pool.node(node) {
                Node::Symbol(s) => self.fast.contains(&s),
                _ => children.iter().any(|c| moving.contains(c)),
            };
            if !moves {
                continue;
            }
            moving.insert(node);
            let args: Vec<Expr> = children.iter().map(|c| replaced.get(c).copied().unwrap_or(*c)).collect();
            let new = self.node(pool, node, &args);
            if new != node {
                replaced.insert(node, new);
            }
        }
        roots.iter().map(|e| replaced.get(e).copied().unwrap_or(*e)).collect()
    }

    /// The mode of an event function, as an expression.
    fn mode(&mut self, pool: &mut Pool, function: Expr) -> Expr {
        if let Some(k) = self.known.get(&function) {
            return pool.var(self.relations[*k].mode);
        }
        let opposite = pool.neg(function);
        if let Some(k) = self.known.get(&opposite) {
            let mode = pool.var(self.relations[*k].mode);
            return pool.neg(mode);
        }
        let mode = pool.fresh("mode");
        self.known.insert(function, self.relations.len());
        self.relations.push(Relation { mode, function });
        pool.var(mode)
    }

    fn node(&mut self, pool: &mut Pool, node: Expr, args: &[Expr]) -> Expr {
        match pool.node(node) {
            Node::Number(_) | Node::Pi | Node::Symbol(_) | Node::Truth(_) => node,
            Node::Sum(_) => pool.sum(args),
            Node::Product(_) => pool.product(args),
            Node::Power(..) => pool.pow(args[0], args[1]),
            Node::And(..) => pool.and(args[0], args[1]),
            Node::Or(..) => pool.or(args[0], args[1]),
            Node::Not(_) => pool.not(args[0]),
            Node::Select(..) => pool.select(args[0], args[1], args[2]),
            Node::Compare(op, ..) => {
                let difference = pool.sub(args[0], args[1]);
                if pool.as_rational(difference).is_some() {
                    return pool.compare(op, args[0], args[1]);
                }
                let mode = self.mode(pool, difference);
                let zero = pool.zero();
                pool.compare(op, mode, zero)
            }
            Node::Call(f, _) => match f {
                Func::Abs => {
                    let mode = self.mode(pool, args[0]);
                    pool.mul(mode, args[0])
                }
                Func::Sign => self.mode(pool, args[0]),
                Func::Min | Func::Max => {
                    let difference = pool.sub(args[0], args[1]);
                    let mode = self.mode(pool, difference);
                    let zero = pool.zero();
                    let op = if f == Func::Min { Cmp::Le } else { Cmp::Ge };
                    let first = pool.compare(op, mode, zero);
                    pool.select(first, args[0], args[1])
                }
                Func::Table(table) if pool.as_symbol(args[0]) == Some(self.time) => self.piece(pool, table),
                _ => pool.call(f, args),
            },
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

fn children(pool: &Pool, node: Expr) -> Vec<Expr> {
    match pool.node(node) {
        Node::Number(_) | Node::Pi | Node::Symbol(_) | Node::Truth(_) => Vec::new(),
        Node::Sum(list) | Node::Product(list) | Node::Call(_, list) => list.to_vec(),
        Node::Power(a, b) | Node::Compare(_, a, b) | Node::And(a, b) | Node::Or(a, b) => vec![a, b],
        Node::Not(a) => vec![a],
        Node::Select(c, a, b) => vec![c, a, b],
    }
}
