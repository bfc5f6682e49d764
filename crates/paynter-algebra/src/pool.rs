//! The arena of hash-consed nodes.
//!
//! A node is sixteen bytes; children of all nodes share one vector. Nodes are found again through an
//! open-addressing table of handles, so that making a node that exists costs one probe.
//!
//! A pool may be an overlay on a frozen one ([`Pool::over`]): it finds everything below, puts what is new on
//! top, and leaves the pool below as it is. Several overlays of one pool know nothing of each other, so that
//! what one makes changes neither the handles nor the order of terms of another.

use crate::node::{Cmp, Expr, Func, Node, Symbol};
use crate::simplify::product::Factor;
use crate::{Rational, number};
use paynter_base::number::shortest;
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};
use std::hash::Hasher;
use std::sync::Arc;

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
/// Small integers are the first nodes of every pool, in order.
const SMALL_INTEGERS: i64 = 32;
/// The node after the small integers: 1/0, which stands for every undefined value.
const UNDEFINED: Expr = Expr(2 * SMALL_INTEGERS as u32 + 1);
/// The node after that: exp(1).
const EULER: Expr = Expr(2 * SMALL_INTEGERS as u32 + 2);
/// Places in the table of a pool of its own, and of an overlay, which is often left almost empty.
const TABLE_SIZE: usize = 1024;
const OVERLAY_TABLE_SIZE: usize = 64;

/// Holds the expressions of one model and makes new ones.
#[derive(Clone, Debug)]
pub struct Pool {
    /// The frozen pool below; its nodes, numbers and symbols come before the own ones.
    base: Option<Arc<Pool>>,
    /// How many nodes, numbers and symbols the pools below have.
    first: First,
    nodes: Vec<Stored>,
    children: Vec<Expr>,
    /// Hashes with handles, so that most probes end without a look at the node.
    table: Vec<u64>,
    /// Lent to whoever makes a node of other children.
    scratch: Vec<Expr>,
    numbers: Vec<Rational>,
    number_index: FxHashMap<Rational, Expr>,
    names: Vec<String>,
    name_index: FxHashMap<String, Symbol>,
    /// Names of the model that are no symbols.
    kept: FxHashSet<String>,
    /// For each product, its factors without the number (itself if it has none).
    unit_parts: FxHashMap<Expr, Expr>,
    /// For each sum that has been a factor, its content and the rest.
    contents: FxHashMap<Expr, (Expr, Expr)>,
    /// Symbols that stand for inner expressions while a law is solved, by depth.
    locals: Vec<Symbol>,
    /// A buffer for factors, kept between products.
    factors: Vec<Factor>,
    /// Fractions as the model writes them, such as 1/2.
    written_fractions: FxHashSet<Rational>,
    /// Whether a number with decimals has been read.
    has_decimals: bool,
    /// How expressions are written.
    style: Style,
}

/// How a pool writes expressions as text.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Style {
    /// Whether people read it: numbers as decimals where these are short, instead of exact fractions.
    pub for_people: bool,
    /// The variable by whose powers sums are ordered; it comes last in products.
    pub variable: Option<Symbol>,
    /// To how many significant digits numbers are rounded, where they are.
    pub digits: Option<usize>,
}

/// Where the own parts of a pool begin.
#[derive(Clone, Copy, Debug, Default)]
struct First {
    node: u32,
    number: u32,
    symbol: u32,
}

impl Default for Pool {
    fn default() -> Pool {
        Pool::new()
    }
}

impl Pool {
    /// Makes an empty pool.
    pub fn new() -> Pool {
        let mut pool = Pool::layer(None, First::default(), TABLE_SIZE);
        for i in -SMALL_INTEGERS..=SMALL_INTEGERS {
            let data = pool.numbers.len() as u32;
            pool.numbers.push(number::integer(i));
            pool.intern(Head { tag: Tag::Number, sub: 0, data }, &[]);
        }
        let (zero, one, minus_one) = (pool.zero(), pool.one(), pool.small_int(-1));
        pool.intern(Head::plain(Tag::Power), &[zero, minus_one]);
        let (sub, data) = Func::Exp.encode();
        pool.intern(Head { tag: Tag::Call, sub, data }, &[one]);
        pool
    }

    /// Makes an overlay: a pool that has all expressions of a frozen one and keeps what is new to itself.
    pub fn over(base: &Arc<Pool>) -> Pool {
        let first = First {
            node: base.len() as u32,
            number: base.first.number + base.numbers.len() as u32,
            symbol: base.first.symbol + base.names.len() as u32,
        };
        let mut pool = Pool::layer(Some(base.clone()), first, OVERLAY_TABLE_SIZE);
        pool.locals.clone_from(&base.locals);
        pool.has_decimals = base.has_decimals;
        pool.style = base.style;
        pool
    }

    fn layer(base: Option<Arc<Pool>>, first: First, table: usize) -> Pool {
        Pool {
            base,
            first,
            nodes: Vec::new(),
            children: Vec::new(),
            table: vec![EMPTY; table],
            scratch: Vec::new(),
            numbers: Vec::new(),
            number_index: FxHashMap::default(),
            names: Vec::new(),
            name_index: FxHashMap::default(),
            kept: FxHashSet::default(),
            unit_parts: FxHashMap::default(),
            contents: FxHashMap::default(),
            locals: Vec::new(),
            factors: Vec::new(),
            written_fractions: FxHashSet::default(),
            has_decimals: false,
            style: Style::default(),
        }
    }

    /// This pool and those below it, the topmost first.
    fn layers(&self) -> impl Iterator<Item = &Pool> {
        std::iter::successors(Some(self), |pool| pool.base.as_deref())
    }

    /// The pool of this one and those below that has a node.
    fn owner(&self, e: Expr) -> &Pool {
        let mut pool = self;
        while e.0 < pool.first.node
            && let Some(base) = &pool.base
        {
            pool = base;
        }
        pool
    }

    fn stored(&self, e: Expr) -> Stored {
        let owner = self.owner(e);
        owner.nodes[(e.0 - owner.first.node) as usize]
    }

    fn number_at(&self, data: u32) -> &Rational {
        let mut pool = self;
        while data < pool.first.number
            && let Some(base) = &pool.base
        {
            pool = base;
        }
        &pool.numbers[(data - pool.first.number) as usize]
    }

    /// Keeps a number for a node to refer to.
    fn add_number(&mut self, r: Rational) -> u32 {
        self.numbers.push(r);
        self.first.number + self.numbers.len() as u32 - 1
    }

    /// Returns the number of distinct nodes made so far.
    pub fn len(&self) -> usize {
        self.first.node as usize + self.nodes.len()
    }

    /// Tells whether the pool has no nodes; a pool always holds some constants.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the symbol of this name, the same one for the same name.
    pub fn symbol(&mut self, name: &str) -> Symbol {
        if let Some(symbol) = self.layers().find_map(|pool| pool.name_index.get(name)) {
            return *symbol;
        }
        let symbol = self.fresh(name);
        self.name_index.insert(name.to_owned(), symbol);
        symbol
    }

    /// Tells whether a symbol of this name exists, those local to a law aside.
    pub fn knows(&self, name: &str) -> bool {
        self.layers().any(|pool| pool.name_index.contains_key(name) || pool.kept.contains(name))
    }

    /// Keeps a name of the model that is no symbol, such as an output's, from being given to a definition.
    pub fn keep_name(&mut self, name: &str) {
        if !self.knows(name) {
            self.kept.insert(name.to_owned());
        }
    }

    /// Makes a new symbol even if the name exists, for variables that are local to a law.
    pub fn fresh(&mut self, name: &str) -> Symbol {
        let symbol = Symbol(self.first.symbol + self.names.len() as u32);
        self.names.push(name.to_owned());
        symbol
    }

    /// Returns a symbol's name.
    pub fn name(&self, s: Symbol) -> &str {
        let mut pool = self;
        while s.0 < pool.first.symbol
            && let Some(base) = &pool.base
        {
            pool = base;
        }
        pool.names.get((s.0 - pool.first.symbol) as usize).map_or("?", String::as_str)
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
        if i.abs_diff(0) <= SMALL_INTEGERS as u64 {
            self.small_int(i)
        } else {
            self.number(number::integer(i))
        }
    }

    /// Makes an exact constant.
    pub fn number(&mut self, r: Rational) -> Expr {
        if let Some(i) = number::as_i64(&r)
            && i.abs_diff(0) <= SMALL_INTEGERS as u64
        {
            return self.small_int(i);
        }
        if let Some(e) = self.layers().find_map(|pool| pool.number_index.get(&r)) {
            return *e;
        }
        let data = self.add_number(r.clone());
        let e = self.intern(Head { tag: Tag::Number, sub: 0, data }, &[]);
        self.number_index.insert(r, e);
        e
    }

    /// Reads a decimal literal exactly: `5e-3` is 1/200. Returns `None` if it is none or absurdly large.
    pub fn decimal(&mut self, text: &str) -> Option<Expr> {
        let exact = number::decimal(text)?;
        self.has_decimals |= !exact.is_int();
        Some(self.number(exact))
    }

    /// Keeps a fraction in mind that the model writes as such: it is not shown as a decimal.
    pub fn keep_fraction(&mut self, e: Expr) {
        if let Some(r) = self.as_rational(e).filter(|r| !r.is_int()) {
            let magnitude = if number::is_negative(r) { -r.clone() } else { r.clone() };
            self.written_fractions.insert(magnitude);
        }
    }

    /// Tells whether the model writes a positive number as a fraction.
    pub(crate) fn writes_fraction(&self, r: &Rational) -> bool {
        self.layers().any(|pool| pool.written_fractions.contains(r))
    }

    /// Tells whether numbers may stem from decimals, which people have rounded.
    pub(crate) fn has_decimals(&self) -> bool {
        self.has_decimals
    }

    /// Writes expressions for people from now on: numbers as decimals where these are short.
    pub fn write_for_people(&mut self) {
        self.style.for_people = true;
    }

    /// Rounds numbers to so many significant digits in what is written for people from now on.
    pub fn round_to_digits(&mut self, digits: usize) {
        self.style.digits = Some(digits.max(1));
    }

    /// Orders what is written by the powers of a variable from now on, and lets it come last in products.
    pub fn order_by_powers_of(&mut self, variable: Symbol) {
        self.style.variable = Some(variable);
    }

    /// Tells whether expressions are written for people.
    pub fn is_for_people(&self) -> bool {
        self.style.for_people
    }

    /// How expressions are written.
    pub(crate) fn style(&self) -> Style {
        self.style
    }

    /// Writes an exact constant as the shortest decimal number that reads back as a double, where that is exact.
    pub fn decimal_text(&self, e: Expr) -> Option<String> {
        let exact = self.as_rational(e)?;
        let text = shortest(self.eval(e, &|_| None).ok()?);
        (number::decimal(&text).as_ref() == Some(exact)).then_some(text)
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
        let owner = self.owner(e);
        let stored = owner.nodes[(e.0 - owner.first.node) as usize];
        let args = &owner.children[stored.start as usize..stored.start as usize + stored.len as usize];
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
            _ => Node::Number(self.number_at(stored.head.data)),
        }
    }

    /// Returns the exact constant that the expression is.
    pub fn as_rational(&self, e: Expr) -> Option<&Rational> {
        let head = self.head(e);
        (head.tag == Tag::Number).then(|| self.number_at(head.data))
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
        self.stored(e).head
    }

    /// Lists the operands of a node.
    pub fn children(&self, e: Expr) -> &[Expr] {
        let owner = self.owner(e);
        let stored = owner.nodes[(e.0 - owner.first.node) as usize];
        &owner.children[stored.start as usize..stored.start as usize + stored.len as usize]
    }

    /// Returns the constant that stands for every undefined value (1/0).
    pub(crate) fn undefined(&self) -> Expr {
        UNDEFINED
    }

    /// Returns the number e as the node exp(1), the base of every exponential.
    pub(crate) fn euler(&self) -> Expr {
        EULER
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
        if let Some(rest) = self.layers().find_map(|pool| pool.unit_parts.get(&e)) {
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
        self.layers().find_map(|pool| pool.contents.get(&sum)).copied()
    }

    pub(crate) fn remember_content(&mut self, sum: Expr, parts: (Expr, Expr)) {
        self.contents.insert(sum, parts);
    }

    fn small_int(&self, i: i64) -> Expr {
        // The constructor makes them first, in this order.
        Expr((i + SMALL_INTEGERS) as u32)
    }

    /// Finds or makes a node; the caller has simplified it.
    pub(crate) fn intern(&mut self, head: Head, args: &[Expr]) -> Expr {
        let hash = hash_of(head, args);
        let slot = match self.find(hash, head, args) {
            Ok(found) => return found,
            Err(slot) => slot,
        };
        let below = self.base.as_deref().into_iter().flat_map(Pool::layers);
        if let Some(found) = below.filter_map(|pool| pool.find(hash, head, args).ok()).next() {
            return found;
        }
        let place = self.nodes.len() as u32;
        self.table[slot] = u64::from(hash) << 32 | u64::from(place);
        self.nodes.push(Stored { head, start: self.children.len() as u32, len: args.len() as u32 });
        self.children.extend_from_slice(args);
        if self.nodes.len() * 2 > self.table.len() {
            self.grow();
        }
        Expr(self.first.node + place)
    }

    /// Finds an own node, or the place in the table where it would be.
    fn find(&self, hash: u32, head: Head, args: &[Expr]) -> Result<Expr, usize> {
        let mask = self.table.len() - 1;
        let mut slot = hash as usize & mask;
        loop {
            let entry = self.table[slot];
            if entry == EMPTY {
                return Err(slot);
            }
            if (entry >> 32) as u32 == hash {
                let stored = &self.nodes[entry as u32 as usize];
                let children = stored.start as usize..stored.start as usize + stored.len as usize;
                if stored.head == head && self.children[children] == *args {
                    return Ok(Expr(self.first.node + entry as u32));
                }
            }
            slot = (slot + 1) & mask;
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlays_share_what_is_below_and_know_nothing_of_each_other() {
        let mut pool = Pool::new();
        let [a, b] = ["a", "b"].map(|name| pool.symbol(name));
        let [x, y] = [a, b].map(|symbol| pool.var(symbol));
        let sum = pool.sum(&[x, y]);
        let base = Arc::new(pool);
        let (mut first, mut second) = (Pool::over(&base), Pool::over(&base));
        assert_eq!(first.sum(&[y, x]), sum, "what exists below is found");
        assert_eq!(first.symbol("a"), a);
        let seven = first.number(number::decimal("7e3").unwrap());
        let own = first.product(&[seven, x, sum]);
        // The same handle means another thing in the other overlay, and each thing has its own text.
        let c = second.symbol("c");
        let z = second.var(c);
        let other = second.product(&[x, z]);
        assert_eq!(first.display(own).to_string(), "7000*a*(a + b)");
        assert_eq!(second.display(other).to_string(), "a*c");
        assert_eq!(base.display(sum).to_string(), "a + b");
        // Three layers deep, everything below is found again.
        let middle = Arc::new(first);
        let mut top = Pool::over(&middle);
        let seven = top.int(7000);
        assert_eq!(top.product(&[sum, seven, x]), own);
        assert_eq!(top.len(), middle.len());
        assert_eq!(top.zero(), base.zero());
    }

    #[test]
    fn an_overlay_makes_what_a_pool_of_its_own_makes() {
        let work = |pool: &mut Pool| {
            let names: Vec<Expr> = (0..200)
                .map(|i| {
                    let symbol = pool.symbol(&format!("x{i}"));
                    pool.var(symbol)
                })
                .collect();
            let squares: Vec<Expr> = names.iter().map(|x| pool.product(&[*x, *x, names[7]])).collect();
            let sum = pool.sum(&squares);
            let derivative = pool.symbol("x7");
            let derivative = pool.diff(sum, derivative);
            (sum, derivative)
        };
        let mut plain = Pool::new();
        let direct = work(&mut plain);
        let mut over = Pool::over(&Arc::new(Pool::new()));
        assert_eq!(work(&mut over), direct);
        assert_eq!(over.display(direct.1).to_string(), plain.display(direct.1).to_string());
        assert_eq!(over.len(), plain.len());
    }
}
