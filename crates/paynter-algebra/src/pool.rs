//! The arena of hash-consed nodes.
//!
//! A node is sixteen bytes; children of all nodes share one vector. Nodes are found again through an
//! open-addressing table of handles, so that making a node that exists costs one probe.

use crate::node::{Cmp, Expr, Func, Node, Symbol};
use crate::simplify::product::Factor;
use crate::{Rational, number};
use rustc_hash::{FxHashMap, FxHasher};
use std::hash::Hasher;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Tag {
    Number,
    Pi,
    Symbol,
    Sum,
    Product,
    Power,
    Call,
    Truth,
    Compare,
    And,
    Or,
    Not,
    Select,
}

/// What a node is apart from its children: `sub` is a function or comparison, `data` an index.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Head {
    pub tag: Tag,
    pub sub: u8,
    pub data: u32,
}

impl Head {
    pub fn plain(tag: Tag) -> Head {
        Head { tag, sub: 0, data: 0 }
    }
}

#[derive(Clone, Copy, Debug)]
struct Stored {
    head: Head,
    start: u32,
    /// Number of children; a node with more than four billion children does not fit in memory.
    len: u32,
}

/// A place of the table without a node: no node has this handle.
const EMPTY: u64 = u64::MAX;
/// Small integers are looked up in an array instead of the hash map of constants.
const SMALL: i64 = 32;

/// Holds the expressions of one model and makes new ones.
#[derive(Clone, Debug)]
pub struct Pool {
    nodes: Vec<Stored>,
    children: Vec<Expr>,
    /// Hashes with handles, so that most probes end without a look at the node.
    table: Vec<u64>,
    /// Lent to whoever makes a node of other children.
    scratch: Vec<Expr>,
    numbers: Vec<Rational>,
    number_index: FxHashMap<Rational, Expr>,
    small: Vec<Expr>,
    names: Vec<String>,
    name_index: FxHashMap<String, Symbol>,
    /// For each product, its factors without the number (itself if it has none).
    unit_parts: FxHashMap<Expr, Expr>,
    /// For each sum that has been a factor, its content and the rest.
    contents: FxHashMap<Expr, (Expr, Expr)>,
    /// Symbols that stand for inner expressions while a law is solved, by depth.
    locals: Vec<Symbol>,
    /// A buffer for factors, kept between products.
    factors: Vec<Factor>,
    undefined: Expr,
    euler: Expr,
}

impl Default for Pool {
    fn default() -> Pool {
        Pool::new()
    }
}

impl Pool {
    /// Makes an empty pool.
    pub fn new() -> Pool {
        let mut pool = Pool {
            nodes: Vec::new(),
            children: Vec::new(),
            table: vec![EMPTY; 1024],
            scratch: Vec::new(),
            numbers: Vec::new(),
            number_index: FxHashMap::default(),
            small: Vec::new(),
            names: Vec::new(),
            name_index: FxHashMap::default(),
            unit_parts: FxHashMap::default(),
            contents: FxHashMap::default(),
            locals: Vec::new(),
            factors: Vec::new(),
            undefined: Expr(0),
            euler: Expr(0),
        };
        for i in -SMALL..=SMALL {
            let data = pool.numbers.len() as u32;
            pool.numbers.push(number::integer(i));
            let e = pool.intern(Head { tag: Tag::Number, sub: 0, data }, &[]);
            pool.small.push(e);
        }
        let (zero, one, minus_one) = (pool.zero(), pool.one(), pool.small_int(-1));
        pool.undefined = pool.intern(Head::plain(Tag::Power), &[zero, minus_one]);
        let (sub, data) = Func::Exp.encode();
        pool.euler = pool.intern(Head { tag: Tag::Call, sub, data }, &[one]);
        pool
    }

    /// Returns the number of distinct nodes made so far.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Tells whether the pool has no nodes; a pool always holds some constants.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Returns the symbol of this name, the same one for the same name.
    pub fn symbol(&mut self, name: &str) -> Symbol {
        if let Some(symbol) = self.name_index.get(name) {
            return *symbol;
        }
        let symbol = self.fresh(name);
        self.name_index.insert(name.to_owned(), symbol);
        symbol
    }

    /// Makes a new symbol even if the name exists, for variables that are local to a law.
    pub fn fresh(&mut self, name: &str) -> Symbol {
        let symbol = Symbol(self.names.len() as u32);
        self.names.push(name.to_owned());
        symbol
    }

    /// Returns a symbol's name.
    pub fn name(&self, s: Symbol) -> &str {
        self.names.get(s.index()).map_or("?", String::as_str)
    }

    /// Makes the expression that is this symbol.
    pub fn var(&mut self, s: Symbol) -> Expr {
        self.intern(Head { tag: Tag::Symbol, sub: 0, data: s.0 }, &[])
    }

    /// Returns the constant 0.
    pub fn zero(&self) -> Expr {
        self.small_int(0)
    }

    /// Returns the constant 1.
    pub fn one(&self) -> Expr {
        self.small_int(1)
    }

    /// Makes an integer.
    pub fn int(&mut self, i: i64) -> Expr {
        if i.abs_diff(0) <= SMALL as u64 { self.small_int(i) } else { self.number(number::integer(i)) }
    }

    /// Makes an exact constant.
    pub fn number(&mut self, r: Rational) -> Expr {
        if let Some(i) = number::as_i64(&r)
            && i.abs_diff(0) <= SMALL as u64
        {
            return self.small_int(i);
        }
        if let Some(e) = self.number_index.get(&r) {
            return *e;
        }
        let data = self.numbers.len() as u32;
        self.numbers.push(r.clone());
        let e = self.intern(Head { tag: Tag::Number, sub: 0, data }, &[]);
        self.number_index.insert(r, e);
        e
    }

    /// Reads a decimal literal exactly: `5e-3` is 1/200. Returns `None` if it is none or absurdly large.
    pub fn decimal(&mut self, text: &str) -> Option<Expr> {
        number::decimal(text).map(|r| self.number(r))
    }

    /// Makes the number pi.
    pub fn pi(&mut self) -> Expr {
        self.intern(Head::plain(Tag::Pi), &[])
    }

    /// Makes a constant condition.
    pub fn truth(&mut self, value: bool) -> Expr {
        self.intern(Head { tag: Tag::Truth, sub: u8::from(value), data: 0 }, &[])
    }

    /// Borrows a node for matching.
    pub fn node(&self, e: Expr) -> Node<'_> {
        let stored = self.nodes[e.index()];
        let args = self.children(e);
        match (stored.head.tag, args) {
            (Tag::Pi, _) => Node::Pi,
            (Tag::Symbol, _) => Node::Symbol(Symbol(stored.head.data)),
            (Tag::Sum, terms) => Node::Sum(terms),
            (Tag::Product, factors) => Node::Product(factors),
            (Tag::Power, [base, exponent]) => Node::Power(*base, *exponent),
            (Tag::Call, args) => Node::Call(Func::decode(stored.head.sub, stored.head.data), args),
            (Tag::Truth, _) => Node::Truth(stored.head.sub != 0),
            (Tag::Compare, [a, b]) => Node::Compare(Cmp::ALL[usize::from(stored.head.sub)], *a, *b),
            (Tag::And, [a, b]) => Node::And(*a, *b),
            (Tag::Or, [a, b]) => Node::Or(*a, *b),
            (Tag::Not, [a]) => Node::Not(*a),
            (Tag::Select, [c, a, b]) => Node::Select(*c, *a, *b),
            _ => Node::Number(&self.numbers[stored.head.data as usize]),
        }
    }

    /// Returns the exact constant that the expression is.
    pub fn as_rational(&self, e: Expr) -> Option<&Rational> {
        let head = self.head(e);
        (head.tag == Tag::Number).then(|| &self.numbers[head.data as usize])
    }

    /// Returns the symbol that the expression is.
    pub fn as_symbol(&self, e: Expr) -> Option<Symbol> {
        let head = self.head(e);
        (head.tag == Tag::Symbol).then_some(Symbol(head.data))
    }

    /// Returns the machine integer that the expression is.
    pub fn as_int(&self, e: Expr) -> Option<i64> {
        self.as_rational(e).and_then(number::as_i64)
    }

    /// Tells whether the expression is a condition (a truth value) rather than a number.
    pub fn is_boolean(&self, e: Expr) -> bool {
        matches!(self.head(e).tag, Tag::Truth | Tag::Compare | Tag::And | Tag::Or | Tag::Not)
    }

    pub(crate) fn head(&self, e: Expr) -> Head {
        self.nodes[e.index()].head
    }

    pub(crate) fn children(&self, e: Expr) -> &[Expr] {
        let stored = self.nodes[e.index()];
        &self.children[stored.start as usize..stored.start as usize + stored.len as usize]
    }

    /// Returns the constant that stands for every undefined value (1/0).
    pub(crate) fn undefined(&self) -> Expr {
        self.undefined
    }

    /// Returns the number e as the node exp(1), the base of every exponential.
    pub(crate) fn euler(&self) -> Expr {
        self.euler
    }

    pub(crate) fn is_number(&self, e: Expr) -> bool {
        self.head(e).tag == Tag::Number
    }

    /// Splits a term into its number and the rest.
    pub(crate) fn split_coefficient(&mut self, e: Expr) -> (Expr, Expr) {
        if self.head(e).tag != Tag::Product {
            return (self.one(), e);
        }
        let coefficient = self.children(e)[0];
        if !self.is_number(coefficient) {
            return (self.one(), e);
        }
        if let Some(rest) = self.unit_parts.get(&e) {
            return (coefficient, *rest);
        }
        let rest = match &self.children(e)[1..] {
            [single] => *single,
            _ => {
                let factors: Vec<Expr> = self.children(e)[1..].to_vec();
                self.intern(Head::plain(Tag::Product), &factors)
            }
        };
        self.unit_parts.insert(e, rest);
        (coefficient, rest)
    }

    /// Returns the symbol that stands for an inner expression at a depth; it never leaves the solver.
    pub(crate) fn local(&mut self, depth: usize) -> Symbol {
        while self.locals.len() <= depth {
            let symbol = self.fresh("?");
            self.locals.push(symbol);
        }
        self.locals[depth]
    }

    /// Makes a product of a number and the factors of another product.
    pub(crate) fn with_coefficient(&mut self, coefficient: Expr, product: Expr) -> Expr {
        let mut args = std::mem::take(&mut self.scratch);
        args.push(coefficient);
        args.extend_from_slice(self.children(product));
        let made = self.intern(Head::plain(Tag::Product), &args);
        args.clear();
        self.scratch = args;
        made
    }

    /// Lends the buffer for factors; a product made meanwhile gets a new one.
    pub(crate) fn take_factors(&mut self) -> Vec<Factor> {
        std::mem::take(&mut self.factors)
    }

    pub(crate) fn give_factors(&mut self, factors: Vec<Factor>) {
        self.factors = factors;
    }

    pub(crate) fn known_content(&self, sum: Expr) -> Option<(Expr, Expr)> {
        self.contents.get(&sum).copied()
    }

    pub(crate) fn remember_content(&mut self, sum: Expr, parts: (Expr, Expr)) {
        self.contents.insert(sum, parts);
    }

    fn small_int(&self, i: i64) -> Expr {
        // The constructor fills the table in this order.
        self.small.get((i + SMALL) as usize).copied().unwrap_or(self.undefined)
    }

    /// Finds or makes a node; the caller has simplified it.
    pub(crate) fn intern(&mut self, head: Head, args: &[Expr]) -> Expr {
        let hash = hash_of(head, args);
        let mask = self.table.len() - 1;
        let mut slot = hash as usize & mask;
        loop {
            let entry = self.table[slot];
            if entry == EMPTY {
                break;
            }
            if (entry >> 32) as u32 == hash {
                let id = entry as u32;
                if self.nodes[id as usize].head == head && self.children(Expr(id)) == args {
                    return Expr(id);
                }
            }
            slot = (slot + 1) & mask;
        }
        let id = self.nodes.len() as u32;
        self.table[slot] = u64::from(hash) << 32 | u64::from(id);
        self.nodes.push(Stored { head, start: self.children.len() as u32, len: args.len() as u32 });
        self.children.extend_from_slice(args);
        if self.nodes.len() * 2 > self.table.len() {
            self.grow();
        }
        Expr(id)
    }

    fn grow(&mut self) {
        let size = self.table.len() * 4;
        let mask = size - 1;
        let mut table = vec![EMPTY; size];
        for entry in self.table.iter().filter(|entry| **entry != EMPTY) {
            let mut slot = (entry >> 32) as usize & mask;
            while table[slot] != EMPTY {
                slot = (slot + 1) & mask;
            }
            table[slot] = *entry;
        }
        self.table = table;
    }
}

fn hash_of(head: Head, args: &[Expr]) -> u32 {
    let mut hasher = FxHasher::default();
    hasher.write_u64(u64::from(head.tag as u8) | u64::from(head.sub) << 8 | u64::from(head.data) << 16);
    for pair in args.chunks(2) {
        let low = u64::from(pair[0].0);
        let high = pair.get(1).map_or(u64::from(u32::MAX), |e| u64::from(e.0));
        hasher.write_u64(low | high << 32);
    }
    let wide = hasher.finish();
    (wide ^ (wide >> 32)) as u32
}
