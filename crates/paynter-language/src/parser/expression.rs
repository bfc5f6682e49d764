//! Expressions, paths and ranges.

use paynter_base::{Span, code};

use super::{MAX_EXPRESSION_HEIGHT, Parsed, Parser};
use crate::SyntaxKind;
use crate::ast::{BinaryOp, Expr, ExprKind, Name, Path, Range, Segment, UnaryOp};
use crate::lexer::normalised;
use crate::limits::BALANCED_OPERANDS;

/// Ranks of operators, from the loosest; operators of one rank stand in one flat node.
const OR: u8 = 1;
const AND: u8 = 2;
const COMPARE: u8 = 3;
const SUM: u8 = 4;
const PRODUCT: u8 = 5;

const OPERAND: &str = "an operand is a number, a name, a function call or an expression in parentheses";

impl Parser<'_> {
    /// Reads an expression.
    pub(super) fn expression(&mut self) -> Parsed<Expr> {
        self.ranked(OR)
    }

    /// Reads an expression whose operators bind at least as tightly as `least`.
    fn ranked(&mut self, least: u8) -> Parsed<Expr> {
        let mark = self.mark();
        let mut left = self.prefix()?;
        while let Some((_, rank)) = self.binary_operator().filter(|(_, rank)| *rank >= least) {
            self.open_at(mark, SyntaxKind::Binary);
            left = self.chain(left, rank)?;
            self.close();
        }
        Some(left)
    }

    /// Reads the rest of `a + b - c`, whose operators are of one rank.
    fn chain(&mut self, first: Expr, rank: u8) -> Parsed<Expr> {
        let place = first.span;
        let mut height = self.height;
        // The operands wait on a stack that all chains share.
        let base = self.operands.len();
        self.operands.push((BinaryOp::Add, first));
        while let Some((operator, _)) = self.binary_operator().filter(|(_, same)| *same == rank) {
            if rank == COMPARE && self.operands.len() > base + 1 {
                let help = "compare two values at a time: `a < b and b < c`";
                return self.fail(code::UNEXPECTED, self.here(), "comparisons cannot be chained", help);
            }
            self.bump_joining();
            let operand = self.ranked(rank + 1)?;
            self.operands.push((operator, operand));
            height = height.max(self.height);
        }
        let length = self.operands.len() - base;
        let folded = if length < BALANCED_OPERANDS {
            folded(self.operands.drain(base..))
        } else {
            balanced(self.operands.split_off(base))
        };
        let added = if length < BALANCED_OPERANDS { length - 1 } else { length.ilog2() as usize + 4 };
        self.set_height(height + added as u32, place)?;
        folded
    }

    /// Notes the height of the expression just read, or fails where it is too high.
    fn set_height(&mut self, height: u32, place: Span) -> Parsed<()> {
        self.height = height;
        if height > MAX_EXPRESSION_HEIGHT { self.fail_too_deep(place) } else { Some(()) }
    }

    /// The operator that comes next, with its rank.
    fn binary_operator(&self) -> Option<(BinaryOp, u8)> {
        Some(match self.kind() {
            SyntaxKind::Plus => (BinaryOp::Add, SUM),
            SyntaxKind::Minus => (BinaryOp::Sub, SUM),
            SyntaxKind::Star => (BinaryOp::Mul, PRODUCT),
            SyntaxKind::Slash => (BinaryOp::Div, PRODUCT),
            SyntaxKind::Less => (BinaryOp::Lt, COMPARE),
            SyntaxKind::LessEq => (BinaryOp::Le, COMPARE),
            SyntaxKind::Greater => (BinaryOp::Gt, COMPARE),
            SyntaxKind::GreaterEq => (BinaryOp::Ge, COMPARE),
            SyntaxKind::EqEq => (BinaryOp::Eq, COMPARE),
            SyntaxKind::NotEq => (BinaryOp::Ne, COMPARE),
            SyntaxKind::Ident => match self.next_text() {
                // Inside brackets a new line may start with a statement, not with an operator.
                "and" => (BinaryOp::And, AND),
                "or" => (BinaryOp::Or, OR),
                _ => return None,
            },
            _ => return None,
        })
    }

    /// Reads `-x`, `not x` or a power. A sign binds less than a power.
    fn prefix(&mut self) -> Parsed<Expr> {
        let start = self.start_offset();
        let operator = match self.kind() {
            SyntaxKind::Minus => UnaryOp::Neg,
            SyntaxKind::Ident if self.next_text() == "not" => UnaryOp::Not,
            SyntaxKind::Plus => return self.superfluous_plus(),
            _ => return self.power(),
        };
        self.open(SyntaxKind::Unary);
        self.enter()?;
        self.bump_joining();
        let operand = match operator {
            UnaryOp::Neg => self.prefix()?,
            // `not a < b` denies the comparison.
            UnaryOp::Not => self.ranked(COMPARE)?,
        };
        self.leave();
        self.close();
        let span = self.since(start);
        self.set_height(self.height + 1, span)?;
        Some(Expr { kind: ExprKind::Unary(operator, Box::new(operand)), span })
    }

    /// Reads `+x` as `x`, with a diagnostic.
    fn superfluous_plus(&mut self) -> Parsed<Expr> {
        self.report(code::UNEXPECTED, self.here(), "a sign `+` is not written", "leave the `+` out");
        self.open(SyntaxKind::Unary);
        self.enter()?;
        self.bump_joining();
        let operand = self.prefix()?;
        self.leave();
        self.close();
        Some(operand)
    }

    /// Reads `x`, `x^y` or `x²`.
    fn power(&mut self) -> Parsed<Expr> {
        let start = self.start_offset();
        let mark = self.mark();
        let mut base = self.operand()?;
        while self.at(SyntaxKind::Superscript) {
            self.open_at(mark, SyntaxKind::Binary);
            let exponent = self.superscript();
            self.close();
            let span = self.since(start);
            self.set_height(self.height + 2, span)?;
            base = binary(BinaryOp::Pow, base, exponent, span);
        }
        if self.at(SyntaxKind::Caret) {
            let height = self.height;
            self.open_at(mark, SyntaxKind::Binary);
            self.enter()?;
            self.bump_joining();
            let exponent = self.prefix()?;
            self.leave();
            self.close();
            let span = self.since(start);
            self.set_height(height.max(self.height) + 1, span)?;
            base = binary(BinaryOp::Pow, base, exponent, span);
        }
        Some(base)
    }

    /// Takes `²` or `⁻¹` as the number it means.
    fn superscript(&mut self) -> Expr {
        let span = self.next_span();
        // Normalised, a raised minus is the sign U+2212.
        let text = normalised(self.next_text());
        self.bump();
        let number = |digits: &str| Expr { kind: ExprKind::Number(digits.to_owned()), span };
        match text.strip_prefix('\u{2212}') {
            Some(digits) => Expr { kind: ExprKind::Unary(UnaryOp::Neg, Box::new(number(digits))), span },
            None => number(&text),
        }
    }

    fn operand(&mut self) -> Parsed<Expr> {
        self.height = 1;
        let bond =
            self.newline && self.raw_kind() == SyntaxKind::Ident && self.lookahead(1) == SyntaxKind::Arrow;
        if bond || self.at_new_statement() {
            // The newline before a statement ends the one that lacks an operand.
            self.joined = false;
            let open = std::mem::take(&mut self.brackets);
            let failed = self.unexpected("a value", OPERAND);
            self.brackets = open;
            return failed;
        }
        match self.kind() {
            SyntaxKind::Number => self.number(),
            SyntaxKind::Dot if self.lookahead(1) == SyntaxKind::Number => self.number(),
            SyntaxKind::Ident if self.lookahead(1) == SyntaxKind::LParen => self.call(),
            SyntaxKind::Ident if self.next_text() == "if" => {
                self.bump();
                self.unexpected("`(`", "a choice is written `if(condition, a, b)`")
            }
            SyntaxKind::Ident => {
                let path = self.path(false)?;
                let span = path.span;
                Some(Expr { kind: ExprKind::Path(path), span })
            }
            SyntaxKind::LParen => self.parenthesised(),
            SyntaxKind::LBracket => self.unexpected(
                "a value",
                "a matrix stands only after the `=` of an element: `R h[2] = [[a, b], [c, d]]`",
            ),
            SyntaxKind::Star => self.unexpected("a value", "a power is written `x^2`"),
            SyntaxKind::Eq => {
                self.unexpected("a value", "write one `=` for a definition and `==` to compare")
            }
            SyntaxKind::PlusMinus => {
                self.unexpected("a value", "`+-` is the sign of a tolerance; write `+ -` for a sum")
            }
            _ => {
                self.part_lines();
                self.unexpected("a value", OPERAND)
            }
        }
    }

    fn parenthesised(&mut self) -> Parsed<Expr> {
        let start = self.start_offset();
        self.open(SyntaxKind::Paren);
        let opened = self.open_bracket()?;
        let mut inner = self.expression()?;
        self.close_bracket(opened, SyntaxKind::RParen, "an operator or `)`")?;
        self.close();
        inner.span = self.since(start);
        Some(inner)
    }

    /// Reads `f(x, y)`.
    fn call(&mut self) -> Parsed<Expr> {
        let start = self.start_offset();
        self.open(SyntaxKind::Call);
        let name = self.bump_name();
        self.open(SyntaxKind::Arguments);
        let opened = self.open_bracket()?;
        let mut arguments = Vec::new();
        let mut height = 0;
        while !self.at(SyntaxKind::RParen) {
            if self.at(SyntaxKind::String) {
                let span = self.next_span();
                let text = self.string();
                arguments.push(Expr { kind: ExprKind::Text(text), span });
            } else {
                arguments.push(self.expression()?);
                height = height.max(self.height);
            }
            if self.at(SyntaxKind::Eq) {
                return self.unexpected("`,` or `)`", "compare with `==`");
            }
            if !self.at(SyntaxKind::Comma) {
                break;
            }
            self.bump_joining();
        }
        self.close_bracket(opened, SyntaxKind::RParen, "`,` or `)`")?;
        self.close();
        self.close();
        let span = self.since(start);
        self.set_height(height + 1, span)?;
        Some(Expr { kind: ExprKind::Call(name, arguments), span })
    }

    /// Reads a number and says what is wrong with it.
    pub(super) fn number(&mut self) -> Parsed<Expr> {
        let start = self.start_offset();
        let mut text = String::new();
        let mut wrong: Option<(&str, String)> = None;
        if self.at(SyntaxKind::Dot) {
            self.bump();
            text.push_str("0.");
            text.push_str(self.next_text());
            self.bump();
            wrong = Some(("has no digit before its point", format!("write `{text}`")));
        } else {
            text.push_str(&normalised(self.next_text()));
            self.bump();
        }
        if self.at(SyntaxKind::Dot) && self.touches() {
            self.bump();
            wrong = Some(match self.kind() {
                SyntaxKind::Number if self.touches() => {
                    self.bump();
                    ("has two points", "write digits, one point and digits".to_owned())
                }
                SyntaxKind::Ident if self.touches() && is_exponent(self.next_text()) => {
                    text.push_str(".0");
                    text.push_str(self.next_text());
                    self.bump();
                    ("has no digit after its point", format!("write `{text}`"))
                }
                _ => {
                    text.push_str(".0");
                    ("has no digit after its point", format!("write `{text}`"))
                }
            });
        } else if self.at(SyntaxKind::Ident) && self.touches() && wrong.is_none() {
            self.letters_after_number(start, &text);
            return Some(Expr { kind: ExprKind::Number(text), span: self.since(start) });
        }
        let span = self.since(start);
        let written = self.text.get(span.start as usize..span.end as usize).unwrap_or("");
        if wrong.is_none() {
            wrong = out_of_range(&text);
        }
        if let Some((what, help)) = wrong {
            let message = format!("the number `{}` {what}", super::shortened(written));
            self.report(code::BAD_NUMBER, span, message, help);
        }
        Some(Expr { kind: ExprKind::Number(text), span })
    }

    /// Reports letters that touch a number, and steps over them.
    fn letters_after_number(&mut self, start: u32, number: &str) {
        let letters = self.next_text();
        self.bump();
        let mut exponent_sign = false;
        if matches!(letters, "e" | "E")
            && self.touches()
            && matches!(self.kind(), SyntaxKind::Plus | SyntaxKind::Minus)
        {
            exponent_sign = true;
            self.bump();
        }
        let span = self.since(start);
        let written = self.text.get(span.start as usize..span.end as usize).unwrap_or("");
        let (code, message, help) = if matches!(letters, "e" | "E") {
            let what = if exponent_sign { "after the sign of its exponent" } else { "in its exponent" };
            let message = format!("the number `{written}` has no digits {what}");
            (code::BAD_NUMBER, message, format!("write `{number}e3`, or `{number}` alone"))
        } else if letters.starts_with('_') {
            let plain = format!("{number}{}", letters.replace('_', ""));
            let message = format!("the number `{written}` has `_` between its digits");
            (code::BAD_NUMBER, message, format!("write `{plain}`"))
        } else if number == "0" && matches!(letters.as_bytes().first(), Some(b'x' | b'b' | b'o')) {
            let message = format!("the number `{written}` is not decimal");
            (code::BAD_NUMBER, message, "write decimal digits".to_owned())
        } else {
            let help = format!(
                "write `{number}*{letters}` for a product and `{number} [{letters}]` for a unit; a name starts with a letter"
            );
            (code::UNEXPECTED, format!("`{}` touches a number", super::shortened(letters)), help)
        };
        self.report(code, span, message, help);
    }

    /// Takes a text in quotation marks, without them.
    pub(super) fn string(&mut self) -> String {
        let text = self.next_text();
        self.bump();
        let is_mark = |c: char| c == '"' || crate::lookalike::is_quote(c);
        let inner = text.strip_prefix(is_mark).unwrap_or(text);
        inner.strip_suffix(is_mark).unwrap_or(inner).to_owned()
    }

    /// Reads `c[3].m.p`. Where a bond is written (`bonds`), every `[` is an
    /// index; in an expression it may be a unit.
    pub(super) fn path(&mut self, bonds: bool) -> Parsed<Path> {
        let start = self.start_offset();
        let mut height = 1;
        let mut segments = Vec::with_capacity(1);
        self.open(SyntaxKind::Path);
        let help = "a path is written `name`, `name.part` or `name[2].part`";
        let mut name = self.name("a name", help)?;
        loop {
            let mut index = None;
            if self.at(SyntaxKind::LBracket) && (bonds || self.at_index()) {
                index = Some(Box::new(self.index()?));
                height = height.max(self.height + 1);
                if self.at(SyntaxKind::LBracket) && self.touches() && (bonds || self.at_index()) {
                    return self.unexpected("`.`", "an instance has one index; arrays have one dimension");
                }
            }
            segments.push(Segment { name, index });
            if !self.at(SyntaxKind::Dot) {
                break;
            }
            self.bump();
            name = match self.kind() {
                SyntaxKind::Number => self.port_number()?,
                _ => self.name("a name or a port number after `.`", help)?,
            };
        }
        self.close();
        let span = self.since(start);
        self.set_height(height, span)?;
        Some(Path { segments, span })
    }

    fn port_number(&mut self) -> Parsed<Name> {
        if !self.next_text().bytes().all(|byte| byte.is_ascii_digit()) {
            return self.unexpected("a port number", "ports are numbered 1, 2, …: `tf.1`");
        }
        let name = self.bump_name();
        if self.at(SyntaxKind::Ident) && self.touches() {
            return self.unexpected("the end of the port number", "a name starts with a letter");
        }
        Some(name)
    }

    /// Reads `[index]`.
    pub(super) fn index(&mut self) -> Parsed<Expr> {
        self.open(SyntaxKind::Index);
        let opened = self.open_bracket()?;
        let index = self.expression()?;
        self.close_bracket(opened, SyntaxKind::RBracket, "`]`")?;
        self.close();
        Some(index)
    }

    /// Tells whether the `[` that comes next is an index: it touches the name
    /// before it, and a `.` (or another index) follows its `]`.
    fn at_index(&self) -> bool {
        if !self.touches() {
            return false;
        }
        let mut depth = 0;
        let mut tokens = self.tokens.get(self.next..).unwrap_or_default().iter();
        for token in tokens.by_ref() {
            match token.kind {
                SyntaxKind::LBracket => depth += 1,
                SyntaxKind::RBracket if depth > 1 => depth -= 1,
                SyntaxKind::RBracket => break,
                SyntaxKind::Semicolon
                | SyntaxKind::LBrace
                | SyntaxKind::RBrace
                | SyntaxKind::Eq
                | SyntaxKind::Arrow
                | SyntaxKind::String
                | SyntaxKind::Eof => return false,
                _ => {}
            }
        }
        let mut rest = tokens.skip_while(|token| token.kind == SyntaxKind::Whitespace);
        matches!(rest.next().map(|token| token.kind), Some(SyntaxKind::Dot | SyntaxKind::LBracket))
    }

    /// Reads `lo..hi`.
    pub(super) fn range(&mut self) -> Parsed<Range> {
        let start = self.start_offset();
        self.open(SyntaxKind::Range);
        let low = self.expression()?;
        if !self.at(SyntaxKind::DotDot) {
            return self.unexpected("`..`", "a range is written `1..N`, both ends included");
        }
        self.bump_joining();
        let high = self.expression()?;
        self.close();
        Some(Range { low, high, span: self.since(start) })
    }
}

/// Tells whether a word looks like the exponent of a number: `e3`.
fn is_exponent(word: &str) -> bool {
    word.strip_prefix(['e', 'E']).is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Says what is wrong with a number that a double cannot hold.
fn out_of_range(text: &str) -> Option<(&'static str, String)> {
    // Up to this many characters without an exponent a number is surely held.
    if text.len() < 18 && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') {
        return None;
    }
    let value: f64 = text.parse().ok()?;
    let digits = text.split(['e', 'E']).next().unwrap_or("");
    if value.is_infinite() {
        Some(("is too large", "numbers reach up to 1.7e308; choose a larger unit".to_owned()))
    } else if value == 0.0 && digits.bytes().any(|byte| matches!(byte, b'1'..=b'9')) {
        Some(("is too small", "numbers reach down to 5e-324; choose a smaller unit, or write 0".to_owned()))
    } else {
        None
    }
}

fn binary(operator: BinaryOp, left: Expr, right: Expr, span: Span) -> Expr {
    Expr { kind: ExprKind::Binary(operator, Box::new(left), Box::new(right)), span }
}

/// Folds operands of one rank from the left; the first operator stands for nothing.
fn folded(mut operands: impl Iterator<Item = (BinaryOp, Expr)>) -> Option<Expr> {
    let (_, mut left) = operands.next()?;
    for (operator, right) in operands {
        let span = left.span.cover(right.span);
        left = binary(operator, left, right, span);
    }
    Some(left)
}

/// Folds a long chain in halves: sums and products are associative, and
/// within a half that is subtracted or divided by, the operators turn.
fn balanced(mut chain: Vec<(BinaryOp, Expr)>) -> Option<Expr> {
    if chain.len() < BALANCED_OPERANDS {
        return folded(chain.into_iter());
    }
    let mut right = chain.split_off(chain.len() / 2);
    let operator = right.first().map(|(operator, _)| *operator)?;
    for (inner, _) in &mut right {
        *inner = turned(operator, *inner);
    }
    let (left, right) = (balanced(chain)?, balanced(right)?);
    let span = left.span.cover(right.span);
    Some(binary(operator, left, right, span))
}

/// The operator inside a part that stands after `outer`.
fn turned(outer: BinaryOp, inner: BinaryOp) -> BinaryOp {
    match (outer, inner) {
        (BinaryOp::Sub, BinaryOp::Add) => BinaryOp::Sub,
        (BinaryOp::Sub, BinaryOp::Sub) => BinaryOp::Add,
        (BinaryOp::Div, BinaryOp::Mul) => BinaryOp::Div,
        (BinaryOp::Div, BinaryOp::Div) => BinaryOp::Mul,
        (_, inner) => inner,
    }
}
