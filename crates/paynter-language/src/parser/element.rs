//! Elements: their value, their matrix, or the laws in their braces.

use paynter_base::{Span, code};

use super::{Parsed, Parser, statement::IN_SI};
use crate::SyntaxKind;
use crate::ast::{BinaryOp, Body, Element, Expr, ExprKind, Kind, Law, Statement};
use crate::words::Word;

impl Parser<'_> {
    /// Reads `KIND NAME …`.
    pub(super) fn element(&mut self, kind: Kind) -> Parsed<Statement> {
        let start = self.start_offset();
        let word = kind.word();
        self.open(SyntaxKind::Element);
        let kind_span = self.next_span();
        self.bump();
        if self.at(SyntaxKind::LBracket) {
            return self.unexpected(
                "the element's name",
                format!("the number of ports follows the name: `{word} NAME[2]`"),
            );
        }
        let name = self.name("the element's name", &format!("write `{word} NAME`"))?;
        let span = self.since(start);
        let mut element = Element {
            kind,
            kind_span,
            name,
            ports: None,
            condition: None,
            body: Body::None,
            doc: None,
            span,
        };
        if self.element_clauses(&mut element).is_none() {
            if matches!(element.body, Body::None) {
                element.body = Body::Value(super::unread_value(&element.name));
            }
            self.salvaged = Some(Statement::Element(element));
            return None;
        }
        self.close();
        element.span = self.since(start);
        Some(Statement::Element(element))
    }

    /// Reads what follows an element's name.
    fn element_clauses(&mut self, element: &mut Element) -> Parsed<()> {
        let (word, name) = (element.kind.word(), element.name.text.clone());
        if self.at(SyntaxKind::LBracket) {
            element.ports = Some(Box::new(self.index()?));
        }
        if self.eat_word("when") {
            element.condition = Some(Box::new(self.expression()?));
        }
        if self.eat_definition() {
            element.body =
                if self.at(SyntaxKind::LBracket) { self.matrix()? } else { Body::Value(self.value()?) };
            if self.at(SyntaxKind::LBracket) {
                let help = format!("units stand in `param`: `param p = 2 [unit]` and `{word} {name} = p`");
                let message = "an element's value has no unit of its own";
                return self.fail(code::UNEXPECTED, self.here(), message, help);
            }
            if self.at(SyntaxKind::LBrace) {
                let help = format!(
                    "write the value as a law within the braces, or the initial state as `init {name}.q = …`"
                );
                return self.unexpected("the end of the statement", help);
            }
        } else if self.raw_kind() == SyntaxKind::LBrace {
            element.body = self.laws()?;
        } else if self.at(SyntaxKind::Comma) {
            return self
                .unexpected("the end of the statement", "declare each element by a statement of its own");
        } else if !self.at_end() && !self.at(SyntaxKind::String) {
            return self
                .unexpected("`=` or `{`", format!("write `{word} {name} = value`, or a law in braces"));
        }
        element.doc = self.doc();
        Some(())
    }

    /// Reads `[[a, b], [c, d]]`.
    fn matrix(&mut self) -> Parsed<Body> {
        let start = self.start_offset();
        let mut rows = Vec::new();
        self.open(SyntaxKind::Matrix);
        let opened = self.open_bracket()?;
        while self.at(SyntaxKind::LBracket) {
            rows.push(self.row()?);
            if !self.at(SyntaxKind::Comma) {
                break;
            }
            self.bump_joining();
        }
        if rows.is_empty() {
            return self.unexpected("a row of the matrix", "write a matrix by its rows: `[[a, b], [c, d]]`");
        }
        self.close_bracket(opened, SyntaxKind::RBracket, "`,` or `]`")?;
        self.close();
        Some(Body::Matrix(rows, self.since(start)))
    }

    fn row(&mut self) -> Parsed<Vec<Expr>> {
        self.open(SyntaxKind::Matrix);
        let opened = self.open_bracket()?;
        let mut row = Vec::new();
        loop {
            row.push(self.expression()?);
            if !self.at(SyntaxKind::Comma) {
                break;
            }
            self.bump_joining();
        }
        self.close_bracket(opened, SyntaxKind::RBracket, "`,` or `]`")?;
        self.close();
        Some(row)
    }

    /// Reads `{ law; …; init q = value }`.
    fn laws(&mut self) -> Parsed<Body> {
        let opened = self.next_span();
        let start = opened.start;
        if self.newline {
            let help = "put it at the end of the line before";
            self.report(code::UNEXPECTED, opened, "this `{` starts a new line", help);
        }
        self.open(SyntaxKind::Laws);
        self.enter()?;
        self.bump();
        let mut laws = Vec::with_capacity(1);
        loop {
            self.separators();
            match self.raw_kind() {
                SyntaxKind::RBrace => {
                    self.bump();
                    break;
                }
                SyntaxKind::Eof => return self.unclosed_laws(opened),
                _ if self.at_statement_among_laws() => return self.unclosed_laws(opened),
                _ => {}
            }
            let state = self.state();
            if let Some(law) = self.law() {
                laws.push(law);
                self.expect_end();
            }
            self.recover(state);
        }
        self.leave();
        self.close();
        Some(Body::Laws(laws, self.since(start)))
    }

    /// Tells whether a line starts with a statement of the model: then the
    /// braces before it were not closed.
    fn at_statement_among_laws(&self) -> bool {
        let next = self.lookahead(1);
        match self.raw_kind() {
            SyntaxKind::Ident if next == SyntaxKind::Ident => {
                let text = self.next_text();
                text != "init" && (Word::parse(text).is_some() || text == "model")
            }
            SyntaxKind::Ident => next == SyntaxKind::Arrow,
            SyntaxKind::Number => next == SyntaxKind::Ident && matches!(self.next_text(), "0" | "1"),
            _ => false,
        }
    }

    /// Reports laws without `}`; the statement ends before the next one.
    fn unclosed_laws<T>(&mut self, opened: Span) -> Parsed<T> {
        if self.raw_kind() == SyntaxKind::Eof && std::mem::replace(&mut self.unclosed_reported, true) {
            return None;
        }
        // The newline passed as a separator ends the statement after all.
        self.joined = false;
        self.unclosed(opened, SyntaxKind::RBrace)
    }

    fn law(&mut self) -> Parsed<Law> {
        let start = self.start_offset();
        self.open(SyntaxKind::Law);
        if self.at_word("init") && self.lookahead(1) == SyntaxKind::Ident {
            self.bump();
            let state = self.name("a state", "write `init q = value` or `init p = value`")?;
            if self.at(SyntaxKind::Dot) {
                return self.unexpected("`=`", "within its braces an element's state is just `q` or `p`");
            }
            if !self.eat_definition() {
                return self.unexpected("`=`", "write `init q = value` or `init p = value`");
            }
            let value = self.expression()?;
            self.refuse_unit("an initial state", IN_SI)?;
            self.close();
            return Some(Law::Init { state, value, span: self.since(start) });
        }
        let left = self.expression()?;
        if matches!(left.kind, ExprKind::Binary(BinaryOp::Eq, ..)) && !self.at(SyntaxKind::Eq) {
            return self.fail(
                code::UNEXPECTED,
                left.span,
                "a law is written with one `=`",
                "`==` compares; write `=`",
            );
        }
        if !self.eat_definition() {
            self.refuse_unit("a law", IN_SI)?;
            return self.unexpected("`=`", "a law is an equation such as `e = R*f` or `e - k*f^3 = 0`");
        }
        let right = self.expression()?;
        self.refuse_unit("a law", IN_SI)?;
        self.close();
        Some(Law::Equation { left, right, span: self.since(start) })
    }
}
