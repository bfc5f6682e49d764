//! The walker: turns nodes into text with an explicit stack, parenthesising by precedence.

use super::dialect::{Dialect, Power, Quotient};
use super::order::{Exponent, Factor, Fraction, ordered_terms};
use crate::Rational;
use crate::node::{Expr, Node, Symbol};
use crate::number;
use crate::pool::Pool;
use std::borrow::Cow;
use std::fmt::{self, Write};

/// How tightly a construct binds; a part that binds less than its place demands is parenthesised.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    Any,
    Or,
    And,
    Not,
    Compare,
    Sum,
    Negative,
    Product,
    Power,
    Atom,
}

enum Item {
    Text(Cow<'static, str>),
    Node(Expr, Level),
    Fraction(Fraction, Level),
    Factor(Factor, Level),
}

struct Walker<'a> {
    pool: &'a Pool,
    dialect: &'static Dialect,
    name: Option<&'a dyn Fn(Symbol) -> String>,
    /// Parts of the construct at hand, in reading order.
    parts: Vec<Item>,
}

/// Writes an expression in a dialect.
pub(crate) fn write(
    pool: &Pool,
    dialect: &'static Dialect,
    name: Option<&dyn Fn(Symbol) -> String>,
    root: Expr,
    out: &mut dyn Write,
) -> fmt::Result {
    let mut walker = Walker { pool, dialect, name, parts: Vec::new() };
    let mut stack = vec![Item::Node(root, Level::Any)];
    while let Some(item) = stack.pop() {
        match item {
            Item::Text(text) => out.write_str(&text)?,
            Item::Node(e, level) => walker.node(e, level),
            Item::Fraction(fraction, level) => walker.fraction(fraction, level),
            Item::Factor(factor, level) => walker.factor(factor, level),
        }
        stack.extend(walker.parts.drain(..).rev());
    }
    Ok(())
}

impl Walker<'_> {
    fn text(&mut self, text: &'static str) {
        if !text.is_empty() {
            self.parts.push(Item::Text(Cow::Borrowed(text)));
        }
    }

    /// Runs `inside`, in parentheses if the construct binds less than its place demands.
    fn grouped(&mut self, own: Level, place: Level, inside: impl FnOnce(&mut Self)) {
        let (open, close) = self.dialect.parentheses;
        if own < place {
            self.text(open);
            inside(self);
            self.text(close);
        } else {
            inside(self);
        }
    }

    fn node(&mut self, e: Expr, place: Level) {
        let pool = self.pool;
        let dialect = self.dialect;
        match pool.node(e) {
            Node::Number(_) | Node::Product(_) | Node::Power(..) => {
                self.fraction(Fraction::of(pool, e), place);
            }
            Node::Pi => self.text(dialect.pi),
            Node::Symbol(s) => {
                let name = match self.name {
                    Some(name) => name(s),
                    None => pool.name(s).to_owned(),
                };
                self.parts.push(Item::Text(Cow::Owned(name)));
            }
            Node::Sum(terms) => self.grouped(Level::Sum, place, |w| w.sum(terms, false)),
            Node::Call(f, args) => {
                let (open, separator, close) = dialect.call;
                self.text((dialect.function)(f));
                self.text(open);
                for (i, arg) in args.iter().enumerate() {
                    if i > 0 {
                        self.text(separator);
                    }
                    self.parts.push(Item::Node(*arg, Level::Any));
                }
                self.text(close);
            }
            Node::Truth(value) => self.text(if value { dialect.truth.0 } else { dialect.truth.1 }),
            Node::Compare(op, a, b) => self.binary(Level::Compare, place, a, (dialect.compare)(op), b),
            Node::And(a, b) => self.binary(Level::And, place, a, dialect.and, b),
            Node::Or(a, b) => self.binary(Level::Or, place, a, dialect.or, b),
            Node::Not(a) => self.grouped(Level::Not, place, |w| {
                w.text(dialect.not);
                w.parts.push(Item::Node(a, Level::Atom));
            }),
            Node::Select(c, a, b) => {
                let (open, then, otherwise, close) = dialect.select;
                self.text(open);
                self.parts.push(Item::Node(c, Level::Any));
                self.text(then);
                self.parts.push(Item::Node(a, Level::Any));
                self.text(otherwise);
                self.parts.push(Item::Node(b, Level::Any));
                self.text(close);
            }
        }
    }

    fn binary(&mut self, own: Level, place: Level, a: Expr, operator: &'static str, b: Expr) {
        self.grouped(own, place, |w| {
            // Comparisons do not chain; and, or associate to the left.
            let left = if own == Level::Compare { Level::Sum } else { own };
            let right = match own {
                Level::Or => Level::And,
                Level::And => Level::Not,
                _ => Level::Sum,
            };
            w.parts.push(Item::Node(a, left));
            w.text(operator);
            w.parts.push(Item::Node(b, right));
        });
    }

    fn sum(&mut self, terms: &[Expr], turned: bool) {
        for (i, term) in ordered_terms(self.pool, terms, turned).into_iter().enumerate() {
            let mut fraction = Fraction::of(self.pool, term);
            let negative = fraction.negative != turned;
            match (i, negative) {
                (0, true) => self.text(self.dialect.negative),
                (0, false) => {}
                (_, true) => self.text(self.dialect.subtract),
                (_, false) => self.text(self.dialect.add),
            }
            fraction.negative = false;
            self.parts.push(Item::Fraction(fraction, Level::Product));
        }
    }

    fn fraction(&mut self, fraction: Fraction, place: Level) {
        let Quotient::Infix(slash) = self.dialect.quotient;
        let Fraction { negative, mut above, mut below } = fraction;
        if !negative && below.is_empty() && above.len() == 1 {
            if let Some(factor) = above.pop() {
                self.factor(factor, place);
            }
            return;
        }
        let bare_integer = below.is_empty() && matches!(above.as_slice(), [] | [Factor::Number(_)]);
        let own = match (negative, bare_integer) {
            (true, _) => Level::Negative,
            (false, true) => Level::Atom,
            _ => Level::Product,
        };
        self.grouped(own, place, |w| {
            if negative {
                w.text(w.dialect.negative);
            }
            w.factors(above);
            if let [_] = below.as_slice() {
                w.text(slash);
                if let Some(factor) = below.pop() {
                    w.parts.push(Item::Factor(factor, Level::Power));
                }
            } else if !below.is_empty() {
                let (open, close) = w.dialect.parentheses;
                w.text(slash);
                w.text(open);
                w.factors(below);
                w.text(close);
            }
        });
    }

    fn factors(&mut self, factors: Vec<Factor>) {
        if factors.is_empty() {
            self.text("1");
        }
        for (i, factor) in factors.into_iter().enumerate() {
            if i > 0 {
                self.text(self.dialect.multiply);
            }
            self.parts.push(Item::Factor(factor, Level::Power));
        }
    }

    fn factor(&mut self, factor: Factor, place: Level) {
        match factor {
            Factor::Number(n) => self.parts.push(Item::Text(Cow::Owned(n.to_string()))),
            Factor::Opposite(sum) => {
                let pool = self.pool;
                self.grouped(Level::Sum, place, |w| w.sum(pool.children(sum), true));
            }
            Factor::Power(base, Exponent::One) => self.parts.push(Item::Node(base, place)),
            Factor::Power(base, Exponent::Number(r)) if r == number::ratio(1, 2) => {
                let (open, close) = self.dialect.root;
                self.text(open);
                self.parts.push(Item::Node(base, Level::Any));
                self.text(close);
            }
            Factor::Power(base, exponent) => {
                let Power::Infix(operator) = self.dialect.power;
                self.grouped(Level::Power, place, |w| {
                    w.parts.push(Item::Node(base, Level::Atom));
                    w.text(operator);
                    w.exponent(exponent);
                });
            }
        }
    }

    fn exponent(&mut self, exponent: Exponent) {
        let item = match exponent {
            Exponent::One => Item::Fraction(Fraction::of_number(&Rational::ONE), Level::Atom),
            Exponent::Number(r) => Item::Fraction(Fraction::of_number(&r), Level::Atom),
            Exponent::Symbolic(e) => Item::Node(e, Level::Atom),
        };
        self.parts.push(item);
    }
}
