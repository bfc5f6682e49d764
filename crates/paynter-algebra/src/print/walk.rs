//! The walker: turns nodes into text with an explicit stack, parenthesising by precedence.

use super::decimal::{Decimal, has_digits};
use super::dialect::{Dialect, Joint, Power, Quotient};
use super::order::{Exponent, Factor, Fraction, ordered_terms};
use crate::Rational;
use crate::node::{Expr, Func, Node, Symbol};
use crate::number;
use crate::pool::Pool;
use dashu_int::UBig;
use std::borrow::Cow;
use std::fmt::{self, Write};

/// How tightly a construct binds; a part that binds less than its place demands is parenthesised.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Level {
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

enum Item<'a> {
    Text(Cow<'a, str>),
    Node(Expr, Level),
    Fraction(Fraction, Level),
    Factor(Factor, Level),
}

struct Walker<'a> {
    pool: &'a Pool,
    dialect: &'static Dialect,
    name: Option<&'a dyn Fn(Symbol) -> String>,
    /// Whether numbers are written as people write them.
    decimals: bool,
    /// Parts of the construct at hand, in reading order.
    parts: Vec<Item<'a>>,
}

/// The parts of a typeset call, in reading order.
struct NamedCall<'a> {
    name: &'static str,
    rest: &'static str,
    args: &'a [Expr],
    separator: &'static str,
    end: &'static str,
}

/// Writes an expression in a dialect.
pub(super) fn write(
    pool: &Pool,
    dialect: &'static Dialect,
    name: Option<&dyn Fn(Symbol) -> String>,
    root: Expr,
    out: &mut dyn Write,
) -> fmt::Result {
    let decimals = dialect.is_typeset() || pool.style().for_people && dialect.is_text;
    let mut walker = Walker { pool, dialect, name, decimals, parts: Vec::new() };
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

impl<'a> Walker<'a> {
    fn text(&mut self, text: &'static str) {
        if !text.is_empty() {
            self.parts.push(Item::Text(Cow::Borrowed(text)));
        }
    }

    fn owned(&mut self, text: String) {
        self.parts.push(Item::Text(Cow::Owned(text)));
    }

    fn integer(&mut self, n: &UBig) {
        let (open, close) = self.dialect.number;
        self.text(open);
        self.owned(n.to_string());
        self.text(close);
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
                let fraction = self.shown(Fraction::of(pool, e));
                self.fraction(fraction, place);
            }
            Node::Pi => self.text(dialect.pi),
            Node::Symbol(s) => {
                let name = match self.name {
                    Some(name) => Cow::Owned(name(s)),
                    None => (dialect.name)(pool.name(s)),
                };
                self.parts.push(Item::Text(name));
            }
            Node::Sum(terms) => self.grouped(Level::Sum, place, |w| w.sum(terms, false, None)),
            Node::Call(f, args) => self.call(f, args),
            Node::Truth(value) => self.text(if value { dialect.truth.0 } else { dialect.truth.1 }),
            Node::Compare(op, a, b) => self.grouped(Level::Compare, place, |w| {
                w.parts.push(Item::Node(a, Level::Sum));
                w.text(dialect.comparison(op));
                w.parts.push(Item::Node(b, Level::Sum));
            }),
            Node::And(a, b) => self.joined(dialect.and, Level::And, Level::Not, place, a, b),
            Node::Or(a, b) => self.joined(dialect.or, Level::Or, Level::And, place, a, b),
            Node::Not(a) => self.grouped(Level::Not, place, |w| {
                let (open, close) = dialect.not;
                w.text(open);
                let inside = if close.is_empty() { Level::Atom } else { Level::Any };
                w.parts.push(Item::Node(a, inside));
                w.text(close);
            }),
            Node::Select(c, a, b) => {
                let select = dialect.select;
                // Conditions of a ternary bind less than anything else, so its parts need no parentheses.
                self.grouped(select.level, place, |w| {
                    let (first, second) = if select.value_first { (a, c) } else { (c, a) };
                    w.text(select.open);
                    w.parts.push(Item::Node(first, Level::Any));
                    w.text(select.first);
                    w.parts.push(Item::Node(second, Level::Any));
                    w.text(select.second);
                    w.parts.push(Item::Node(b, Level::Any));
                    w.text(select.close);
                });
            }
        }
    }

    fn call(&mut self, f: Func, args: &[Expr]) {
        let (open, separator, close) = (self.dialect.function)(f);
        if let Func::Table(table) = f {
            self.owned(self.table_name(table));
        }
        self.text(open);
        self.arguments(args, separator);
        self.text(close);
    }

    fn arguments(&mut self, args: &[Expr], separator: &'static str) {
        for (i, arg) in args.iter().enumerate() {
            if i > 0 {
                self.text(separator);
            }
            self.parts.push(Item::Node(*arg, Level::Any));
        }
    }

    fn table_name(&self, table: u32) -> String {
        (self.dialect.name)(&format!("table{table}")).into_owned()
    }

    fn joined(&mut self, joint: Joint, own: Level, right: Level, place: Level, a: Expr, b: Expr) {
        match joint {
            Joint::Infix(operator) => self.grouped(own, place, |w| {
                w.parts.push(Item::Node(a, own));
                w.text(operator);
                w.parts.push(Item::Node(b, right));
            }),
            Joint::Call(open, separator, close) => {
                self.text(open);
                self.arguments(&[a, b], separator);
                self.text(close);
            }
        }
    }

    /// Writes a sum, with all its signs turned and all its terms multiplied where that is asked for.
    fn sum(&mut self, terms: &[Expr], turned: bool, scale: Option<&Rational>) {
        for (i, term) in ordered_terms(self.pool, terms, turned).into_iter().enumerate() {
            let fraction = Fraction::of(self.pool, term);
            let mut fraction = self.shown(match scale {
                Some(scale) => fraction.times(scale),
                None => fraction,
            });
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

    /// A quotient with its number as the reader expects it.
    fn shown(&self, fraction: Fraction) -> Fraction {
        if self.decimals { fraction.distributed(self.pool).with_decimal(self.pool) } else { fraction }
    }

    fn decimal(&mut self, decimal: Decimal, place: Level) {
        let Some((before, after)) = self.dialect.power_of_ten.filter(|_| decimal.exponent != 0) else {
            let (open, close) = self.dialect.number;
            self.text(open);
            self.owned(decimal.digits);
            if decimal.exponent != 0 {
                self.owned(format!("e{}", decimal.exponent));
            }
            self.text(close);
            return;
        };
        self.grouped(Level::Product, place, |w| {
            let (open, close) = w.dialect.number;
            w.text(open);
            w.owned(decimal.digits);
            w.text(close);
            w.text(before);
            w.owned(decimal.exponent.to_string());
            w.text(after);
        });
    }

    fn fraction(&mut self, fraction: Fraction, place: Level) {
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
            if below.is_empty() {
                w.factors(above);
                return;
            }
            match w.dialect.quotient {
                Quotient::Infix(slash) => {
                    w.factors(above);
                    w.text(slash);
                    if below.len() > 1 {
                        let (open, close) = w.dialect.parentheses;
                        w.text(open);
                        w.factors(below);
                        w.text(close);
                    } else if let Some(factor) = below.pop() {
                        // A power or a single factor may follow the slash, a product may not.
                        w.parts.push(Item::Factor(factor, Level::Power));
                    }
                }
                Quotient::Stacked(open, middle, close) => {
                    w.text(open);
                    w.stacked(above);
                    w.text(middle);
                    w.stacked(below);
                    w.text(close);
                }
            }
        });
    }

    /// Writes one side of a stacked fraction, where a single sum needs no parentheses.
    fn stacked(&mut self, mut factors: Vec<Factor>) {
        if factors.len() > 1 {
            self.factors(factors);
        } else if let Some(factor) = factors.pop() {
            self.parts.push(Item::Factor(factor, Level::Any));
        } else {
            self.factors(factors);
        }
    }

    fn factors(&mut self, factors: Vec<Factor>) {
        if factors.is_empty() {
            self.integer(&UBig::ONE);
        }
        for (i, factor) in factors.into_iter().enumerate() {
            if i > 0 {
                let digit = match &factor {
                    Factor::Number(_) | Factor::Decimal(_) => true,
                    Factor::Power(base, _) => self.pool.is_number(*base),
                    Factor::Opposite(_) | Factor::Scaled(..) => false,
                };
                self.text(if digit { self.dialect.multiply_digit } else { self.dialect.multiply });
            }
            // A number with a power of ten is a product itself.
            let place = if matches!(factor, Factor::Decimal(_)) { Level::Product } else { Level::Power };
            self.parts.push(Item::Factor(factor, place));
        }
    }

    fn factor(&mut self, factor: Factor, place: Level) {
        match factor {
            Factor::Number(n) => self.integer(&n),
            Factor::Decimal(decimal) => self.decimal(decimal, place),
            Factor::Opposite(sum) => {
                let pool = self.pool;
                self.grouped(Level::Sum, place, |w| w.sum(pool.children(sum), true, None));
            }
            Factor::Scaled(sum, scale, turned) => {
                let pool = self.pool;
                self.grouped(Level::Sum, place, |w| w.sum(pool.children(sum), turned, Some(&scale)));
            }
            Factor::Power(base, Exponent::One) => self.parts.push(Item::Node(base, place)),
            Factor::Power(base, Exponent::Number(r)) => self.numeric_power(base, r, place),
            Factor::Power(base, exponent) => self.power(base, exponent, place),
        }
    }

    fn numeric_power(&mut self, base: Expr, r: Rational, place: Level) {
        let degree = u32::try_from(r.denominator()).ok().filter(|_| *r.numerator() == 1.into());
        if degree == Some(2) {
            let (open, close) = self.dialect.root;
            self.text(open);
            self.parts.push(Item::Node(base, Level::Any));
            self.text(close);
        } else if let (Some(degree @ 3..=9), Some((open, middle, close))) = (degree, self.dialect.degree_root)
        {
            self.text(open);
            self.owned(degree.to_string());
            self.text(middle);
            self.parts.push(Item::Node(base, Level::Any));
            self.text(close);
        } else {
            self.power(base, Exponent::Number(r), place);
        }
    }

    fn power(&mut self, base: Expr, exponent: Exponent, place: Level) {
        let pool = self.pool;
        match self.dialect.power {
            Power::Infix(operator) => self.grouped(Level::Power, place, |w| {
                w.parts.push(Item::Node(base, Level::Atom));
                w.text(operator);
                w.exponent(exponent, Level::Atom);
            }),
            Power::Call(open, separator, close) => {
                let times = match &exponent {
                    Exponent::Number(r) => number::as_i64(r).filter(|n| (2..=3).contains(n)),
                    _ => None,
                };
                if let (Some(times), Some(_)) = (times, pool.as_symbol(base)) {
                    self.grouped(Level::Product, place, |w| {
                        for i in 0..times {
                            if i > 0 {
                                w.text(w.dialect.multiply);
                            }
                            w.parts.push(Item::Node(base, Level::Atom));
                        }
                    });
                    return;
                }
                self.text(open);
                self.parts.push(Item::Node(base, Level::Any));
                self.text(separator);
                self.exponent(exponent, Level::Any);
                self.text(close);
            }
            Power::Raised(open, middle, close) => self.grouped(Level::Power, place, |w| {
                w.text(open);
                match (w.named_call(base), &exponent) {
                    // sin^2(x), for a power after the argument would seem to raise that.
                    (Some(call), Exponent::Number(r)) if r.is_int() => {
                        w.text(call.name);
                        w.text(middle);
                        w.exponent(exponent, Level::Any);
                        w.text(close);
                        w.text(call.rest);
                        w.arguments(call.args, call.separator);
                        w.text(call.end);
                        return;
                    }
                    (Some(_), _) => {
                        let (left, right) = w.dialect.parentheses;
                        w.text(left);
                        w.parts.push(Item::Node(base, Level::Any));
                        w.text(right);
                    }
                    (None, _) => w.parts.push(Item::Node(base, Level::Atom)),
                }
                w.text(middle);
                w.exponent(exponent, Level::Any);
                w.text(close);
            }),
        }
    }

    /// Splits a typeset call at the end of its name.
    fn named_call(&self, e: Expr) -> Option<NamedCall<'a>> {
        let Node::Call(f, args) = self.pool.node(e) else {
            return None;
        };
        let (open, separator, end) = (self.dialect.function)(f);
        let at = open.find(self.dialect.name_end).filter(|at| *at > 0)?;
        let (name, rest) = open.split_at(at);
        Some(NamedCall { name, rest, args, separator, end })
    }

    fn exponent(&mut self, exponent: Exponent, place: Level) {
        match exponent {
            Exponent::One => self.integer(&UBig::ONE),
            Exponent::Symbolic(e) => self.parts.push(Item::Node(e, place)),
            Exponent::Number(r) if self.is_raised_quotient(&r) => {
                // A raised fraction is written on one line.
                let slash = if self.dialect.number.0.is_empty() { "/" } else { "<mo>/</mo>" };
                if number::is_negative(&r) {
                    self.text(self.dialect.negative);
                }
                let fraction = Fraction::of_number(&r);
                self.factors(fraction.above);
                self.text(slash);
                self.factors(fraction.below);
            }
            Exponent::Number(r) => {
                let fraction = self.shown_exponent(&r);
                self.parts.push(Item::Fraction(fraction, place));
            }
        }
    }

    /// Tells whether an exponent is typeset as a quotient.
    fn is_raised_quotient(&self, r: &Rational) -> bool {
        self.dialect.is_typeset() && !self.shown_exponent(r).below.is_empty()
    }

    /// An exponent as the reader expects it: a short one is not rounded, for a cube root is no power of 0.333333.
    fn shown_exponent(&self, r: &Rational) -> Fraction {
        let exact = Fraction::of_number(r);
        let is_short = *r.denominator() < UBig::from(1000u16);
        let is_rounded = self.pool.style().digits.is_some_and(|digits| !has_digits(r, digits));
        if is_short && is_rounded { exact } else { self.shown(exact) }
    }
}
