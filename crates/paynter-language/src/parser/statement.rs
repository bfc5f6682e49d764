//! The statements of a model's body, elements aside.

use paynter_base::{Span, code};

use super::{Parsed, Parser};
use crate::SyntaxKind;
use crate::ast::{
    Argument, Bonds, Bounds, Causality, Expr, ExprKind, For, Init, KINDS, Kind, Param, Path, Port, Prefer,
    Quantity, Statement, Tolerance, Use,
};
use crate::lexer::normalised;
use crate::words::{self, STATEMENTS, Word};

const BOND: &str = "a bond is written `a -> b`, several `a -> b, c` or `a -> b -> c`";

/// How the parts of a parameter follow one another.
const CLAUSES: &str = "the order is: value, [unit], ±tolerance, in [lo, hi], \"text\"";

/// What to do about a unit where numbers are in SI.
pub(super) const IN_SI: &str =
    "give the value in SI units, or by a parameter with a unit: `param a = 2 [mm]`";

impl Parser<'_> {
    /// Reads one statement, to its end whatever comes.
    pub(super) fn statement(&mut self, statements: &mut Vec<Statement>) {
        let state = self.state();
        let muted = self.mistakes.muted;
        let read = self.statement_form();
        let is_whole = read.is_some();
        if is_whole {
            self.expect_end();
        }
        let salvaged = read.or_else(|| self.salvaged.take());
        self.recover(state);
        if let Some(mut statement) = salvaged {
            if let (Statement::Element(element), false) = (&mut statement, is_whole) {
                // What could not be read belongs to it.
                element.span.end = element.span.end.max(self.last_end);
            }
            statements.push(statement);
        }
        self.mistakes.muted = muted;
    }

    fn statement_form(&mut self) -> Parsed<Statement> {
        let text = normalised(self.next_text());
        match self.kind() {
            SyntaxKind::Ident if self.at_bond() => self.bonds(),
            SyntaxKind::Ident | SyntaxKind::Number => match Word::parse(&text) {
                Some(word) => self.known(word),
                None => self.unknown_statement(&text),
            },
            SyntaxKind::RParen | SyntaxKind::RBracket => self.unexpected("a statement", "delete it"),
            SyntaxKind::Comma => {
                self.unexpected("a statement", "end the line before with the comma, or delete it")
            }
            SyntaxKind::Arrow => {
                self.unexpected("a statement", "put the arrow at the end of the line before")
            }
            _ => self.unexpected(
                "a statement",
                "a statement starts with a word (`param`, `R`, `use`, …) or a bond's element",
            ),
        }
    }

    /// Tells whether a name here is the start of a bond rather than a word.
    fn at_bond(&self) -> bool {
        match self.lookahead(1) {
            SyntaxKind::Arrow | SyntaxKind::Dot | SyntaxKind::Comma => true,
            SyntaxKind::LBracket => Word::parse(self.next_text()).is_none(),
            _ => false,
        }
    }

    fn known(&mut self, word: Word) -> Parsed<Statement> {
        match word {
            Word::Element(kind) => self.element(kind),
            Word::Statement(word) => match word {
                "param" => self.param(),
                "input" | "output" | "signal" => self.quantity(word),
                "init" => self.init(),
                "port" => self.port(),
                "use" => self.use_submodel(),
                "for" => self.for_loop(),
                "prefer" => self.prefer(),
                _ => self.causality(),
            },
        }
    }

    /// Reads a statement whose first word is not known as what it was
    /// probably meant to be, in silence: one mistake is enough.
    fn unknown_statement(&mut self, text: &str) -> Parsed<Statement> {
        if self.mistakes.is_full() {
            return None;
        }
        let next = self.lookahead(1);
        match (self.kind(), next) {
            (SyntaxKind::Ident, SyntaxKind::Eq) if self.lookahead(2) == SyntaxKind::Greater => {
                return self.bonds();
            }
            (SyntaxKind::Ident, SyntaxKind::Eq) => {
                let help =
                    format!("write `param {text} = …` for a constant, `signal {text} = …` for a signal");
                let message = format!("`{text} = …` needs a word before the name");
                return self.fail(code::UNEXPECTED, self.here(), message, help);
            }
            (
                SyntaxKind::Ident,
                SyntaxKind::Minus | SyntaxKind::Less | SyntaxKind::Greater | SyntaxKind::LBracket,
            ) => {
                return self.bonds();
            }
            (SyntaxKind::Number, _) => {
                let help = if next == SyntaxKind::Arrow || next == SyntaxKind::Ident {
                    "a name starts with a letter; junctions are written `0 NAME` and `1 NAME`"
                } else {
                    "a statement starts with a word; junctions are written `0 NAME` and `1 NAME`"
                };
                return self.unexpected("a statement", help);
            }
            _ => {}
        }
        let meant = words::meant(text);
        // Two words and nothing else may be a bond without its arrow.
        let bond = (next == SyntaxKind::Ident && self.ends_after(2))
            .then(|| format!("{} -> {}", super::shortened(text), super::shortened(self.text_after_next())));
        if words::TOP.contains(&text) {
            let help = "close the model before it with `}`; models and imports stand side by side in a file";
            let message = format!("`{text}` cannot stand inside a model");
            self.report(code::MISPLACED, self.here(), message, help);
        } else if next != SyntaxKind::Ident && next != SyntaxKind::String && meant.is_none() {
            let message = format!("`{}` alone is no statement", super::shortened(text));
            return self.fail(code::UNEXPECTED, self.here(), message, BOND);
        } else if let Some(word) = meant {
            self.report_unknown(word, bond);
        } else {
            let message = format!("`{}` starts no statement and is no element kind", super::shortened(text));
            let kinds = "kinds are Se Sf R C I TF GY 0 1 De Df Sw RS; other statements start with param, input, \
                         output, signal, init, port, use, for, prefer or causality";
            let help = bond.map_or(kinds.to_owned(), |bond| format!("a bond is written `{bond}`; {kinds}"));
            self.report(code::UNKNOWN_KIND, self.here(), message, help);
        }
        match meant.and_then(Word::parse) {
            Some(Word::Statement("for")) => self.for_loop(),
            Some(word) => {
                self.mistakes.muted = true;
                self.known(word)
            }
            None => {
                // Read as an element, for the sake of its braces, and dropped.
                self.mistakes.muted = true;
                self.element(Kind::R);
                self.salvaged = None;
                None
            }
        }
    }

    fn param(&mut self) -> Parsed<Statement> {
        let start = self.start_offset();
        self.open(SyntaxKind::Param);
        self.bump();
        let mut param = self.param_rest(start)?;
        if param.value.is_none() {
            let help = match self.at(SyntaxKind::Eq) {
                true => CLAUSES.to_owned(),
                false => format!("give a value: `param {} = 1`", param.name.text),
            };
            param.value = Some(super::unread_value(&param.name));
            self.salvaged = Some(Statement::Param(param));
            return self.unexpected("`=`", help);
        }
        Some(Statement::Param(param))
    }

    /// Reads a parameter from its name on, and closes its node.
    pub(super) fn param_rest(&mut self, start: u32) -> Parsed<Param> {
        let name = self.name("the parameter's name", "write `param NAME = value [unit]`")?;
        let mut param = Param {
            name,
            value: None,
            unit: None,
            tolerance: None,
            bounds: None,
            doc: None,
            span: self.since(start),
        };
        if self.param_clauses(&mut param).is_none() {
            param.value.get_or_insert(super::unread_value(&param.name));
            self.salvaged = Some(Statement::Param(param));
            return None;
        }
        self.close();
        param.span = self.since(start);
        Some(param)
    }

    fn param_clauses(&mut self, param: &mut Param) -> Parsed<()> {
        if self.eat_definition() {
            param.value = Some(self.value()?);
        }
        param.unit = self.optional_unit()?;
        param.tolerance = self.tolerance()?;
        param.bounds = self.bounds()?;
        param.doc = self.doc();
        if let Some(what) = self.at_clause() {
            let help = CLAUSES;
            let message = format!("{what} stands too late, or twice");
            return self.fail(code::UNEXPECTED, self.here(), message, help);
        }
        Some(())
    }

    /// The clause of a parameter that comes next, for people.
    fn at_clause(&self) -> Option<&'static str> {
        match self.kind() {
            SyntaxKind::LBracket => Some("this unit"),
            SyntaxKind::PlusMinus => Some("this tolerance"),
            SyntaxKind::Ident if self.next_text() == "in" => Some("this range"),
            SyntaxKind::String => Some("this text"),
            _ => None,
        }
    }

    /// Takes the `=` of a definition; after it a line may break.
    pub(super) fn eat_definition(&mut self) -> bool {
        let is = self.at(SyntaxKind::Eq);
        if is {
            self.bump_joining();
        }
        is
    }

    /// Whether the next word is one that statements begin with, before a name.
    fn begins_statement(&self) -> bool {
        let word = self.next_text();
        let is_known = STATEMENTS.contains(&word) || KINDS.iter().any(|(kind, _)| *kind == word);
        is_known && self.lookahead(1) == SyntaxKind::Ident
    }

    /// Reads the value of a definition, and mends habits of other notations after it.
    pub(super) fn value(&mut self) -> Parsed<Expr> {
        let value = self.expression()?;
        let is_number = matches!(value.kind, ExprKind::Number(_));
        match self.kind() {
            SyntaxKind::Comma
                if is_number && self.lookahead(1) == SyntaxKind::Number && self.brackets == 0 =>
            {
                self.unexpected("the end of the value", "write a decimal point, not a comma: `0.5`")
            }
            SyntaxKind::Ident if self.next_text() != "in" && !self.newline => {
                let word = super::shortened(self.next_text());
                let help = match self.begins_statement() {
                    true => "statements stand on lines of their own, or with `;` between them".to_owned(),
                    false => format!("a unit stands in brackets, `[{word}]`; a product is written with `*`"),
                };
                self.unexpected("the end of the value", help)
            }
            _ => Some(value),
        }
    }

    pub(super) fn doc(&mut self) -> Option<String> {
        self.at(SyntaxKind::String).then(|| self.string())
    }

    fn tolerance(&mut self) -> Parsed<Option<Box<Tolerance>>> {
        if !self.at(SyntaxKind::PlusMinus) {
            return Some(None);
        }
        let start = self.start_offset();
        self.open(SyntaxKind::Tolerance);
        self.bump_joining();
        let value = self.expression()?;
        let percent = self.eat(SyntaxKind::Percent);
        self.close();
        Some(Some(Box::new(Tolerance { value, percent, span: self.since(start) })))
    }

    fn bounds(&mut self) -> Parsed<Option<Box<Bounds>>> {
        if !self.at_word("in") {
            return Some(None);
        }
        let start = self.start_offset();
        let help = "bounds are written `in [lo, hi]`";
        self.open(SyntaxKind::Bounds);
        self.bump();
        if !self.at(SyntaxKind::LBracket) {
            return self.unexpected("`[`", help);
        }
        let opened = self.open_bracket()?;
        let low = self.expression()?;
        if !self.at(SyntaxKind::Comma) {
            return self.unexpected("`,`", help);
        }
        self.bump_joining();
        let high = self.expression()?;
        self.close_bracket(opened, SyntaxKind::RBracket, "`]`")?;
        self.close();
        Some(Some(Box::new(Bounds { low, high, span: self.since(start) })))
    }

    fn quantity(&mut self, word: &'static str) -> Parsed<Statement> {
        let start = self.start_offset();
        let form = format!("write `{word} NAME = value`");
        let statement = match word {
            "input" => Statement::Input,
            "output" => Statement::Output,
            _ => Statement::Signal,
        };
        self.open(SyntaxKind::Quantity);
        self.bump();
        let name = self.name(&format!("the {word}'s name"), &form)?;
        let mut quantity = Quantity { name, value: None, unit: None, doc: None, span: self.since(start) };
        if self.quantity_clauses(&mut quantity, word == "input", form).is_none() {
            quantity.value.get_or_insert(super::unread_value(&quantity.name));
            self.salvaged = Some(statement(quantity));
            return None;
        }
        self.close();
        quantity.span = self.since(start);
        Some(statement(quantity))
    }

    fn quantity_clauses(
        &mut self,
        quantity: &mut Quantity,
        may_lack_value: bool,
        form: String,
    ) -> Parsed<()> {
        if self.eat_definition() {
            quantity.value = Some(self.value()?);
        } else if !may_lack_value {
            return self.unexpected("`=`", form);
        }
        quantity.unit = self.optional_unit()?;
        quantity.doc = self.doc();
        if quantity.value.is_none() && self.at(SyntaxKind::Eq) {
            return self.unexpected("`=`", form);
        }
        if self.at(SyntaxKind::PlusMinus) || self.at_word("in") {
            return self.unexpected("the end of the statement", "only a `param` has a tolerance or bounds");
        }
        Some(())
    }

    fn bonds(&mut self) -> Parsed<Statement> {
        let start = self.start_offset();
        self.open(SyntaxKind::Bonds);
        let mut stages = Vec::with_capacity(2);
        let mut comma = None;
        stages.push(self.places(&mut None)?);
        if !self.at(SyntaxKind::Arrow) {
            if self.at(SyntaxKind::Eq) {
                if self.lookahead(1) == SyntaxKind::Greater {
                    return self.unexpected("`->`", BOND);
                }
                let help =
                    "write `init NAME.q = …` for an initial state, `param` or `signal` for a definition";
                return self.unexpected("`->`", help);
            }
            return self.unexpected("`->`", BOND);
        }
        let mut last = None;
        while self.at(SyntaxKind::Arrow) {
            comma = last;
            self.bump_joining();
            stages.push(self.places(&mut last)?);
        }
        let name = if self.eat_word("as") {
            Some(self.name("the bond's name", "a bond is named by `a -> b as NAME`")?)
        } else {
            None
        };
        if name.is_none() && self.at(SyntaxKind::Ident) && !self.at_new_statement() {
            return self.unexpected("`,` or `->`", BOND);
        }
        self.close();
        Some(Statement::Bonds(Bonds { stages, name, comma, span: self.since(start) }))
    }

    /// Reads `a, b.1, c[2].left`; notes the last comma that ends a line.
    fn places(&mut self, line_end: &mut Option<Span>) -> Parsed<Vec<Path>> {
        let mut places = Vec::with_capacity(1);
        let mut comma = None;
        loop {
            if self.at_new_statement() || !self.at(SyntaxKind::Ident) {
                self.part_lines();
                if let Some(comma) = comma {
                    let message =
                        format!("expected an element after the comma, found {}", self.describe_next());
                    let help = "remove the comma, or name an element after it";
                    return self.fail(code::UNEXPECTED, comma, message, help);
                }
                return self.unexpected("an element", BOND);
            }
            places.push(self.path(true)?);
            if !self.at(SyntaxKind::Comma) {
                return Some(places);
            }
            comma = Some(self.next_span());
            self.bump_joining();
            if self.newline {
                *line_end = comma;
            }
        }
    }

    fn init(&mut self) -> Parsed<Statement> {
        let start = self.start_offset();
        let form = "write `init NAME.q = value` for a C, `init NAME.p = value` for an I";
        self.open(SyntaxKind::Init);
        self.bump();
        if !self.at(SyntaxKind::Ident) {
            return self.unexpected("a state", form);
        }
        let target = self.path(true)?;
        if !self.eat_definition() {
            return self.unexpected("`=`", form);
        }
        let value = self.expression()?;
        self.refuse_unit("an initial state", IN_SI)?;
        self.close();
        Some(Statement::Init(Init { target, value, span: self.since(start) }))
    }

    fn port(&mut self) -> Parsed<Statement> {
        let start = self.start_offset();
        let form = "write `port NAME` or `port NAME [electrical]`";
        self.open(SyntaxKind::Port);
        self.bump();
        let name = self.name("the port's name", form)?;
        let mut domain = None;
        if self.at(SyntaxKind::LBracket) {
            let opened = self.open_bracket()?;
            domain = Some(self.name("a domain", form)?);
            self.close_bracket(opened, SyntaxKind::RBracket, "`]`")?;
        }
        self.close();
        Some(Statement::Port(Port { name, domain, span: self.since(start) }))
    }

    fn use_submodel(&mut self) -> Parsed<Statement> {
        let start = self.start_offset();
        let form = "write `use MODEL NAME(k = 2)` or, for an array, `use MODEL NAME[1..N](k = 2)`";
        self.open(SyntaxKind::Use);
        self.bump();
        let model = self.name("the submodel", form)?;
        let name = self.name("the instance's name", form)?;
        let mut instance = Use { model, name, range: None, arguments: Vec::new(), span: self.since(start) };
        if self.use_clauses(&mut instance, form).is_none() {
            self.salvaged = Some(Statement::Use(instance));
            return None;
        }
        self.close();
        instance.span = self.since(start);
        Some(Statement::Use(instance))
    }

    fn use_clauses(&mut self, instance: &mut Use, form: &str) -> Parsed<()> {
        if self.at(SyntaxKind::LBracket) {
            self.open(SyntaxKind::Index);
            let opened = self.open_bracket()?;
            instance.range = Some(Box::new(self.range()?));
            self.close_bracket(opened, SyntaxKind::RBracket, "`]`")?;
            self.close();
        }
        if self.at(SyntaxKind::LParen) {
            self.open(SyntaxKind::Arguments);
            let opened = self.open_bracket()?;
            while !self.at(SyntaxKind::RParen) {
                instance.arguments.push(self.argument(form)?);
                if !self.at(SyntaxKind::Comma) {
                    break;
                }
                self.bump_joining();
            }
            self.close_bracket(opened, SyntaxKind::RParen, "`,` or `)`")?;
            self.close();
        }
        Some(())
    }

    fn argument(&mut self, form: &str) -> Parsed<Argument> {
        self.open(SyntaxKind::Argument);
        let named = self.at(SyntaxKind::Ident) && self.lookahead(1) == SyntaxKind::Eq;
        if !named && !self.at_new_statement() && !matches!(self.kind(), SyntaxKind::RBrace | SyntaxKind::Eof)
        {
            return self.unexpected("`name = value`", "name the submodel's parameter: `(k = 2)`");
        }
        let name = self.name("a parameter's name", form)?;
        self.expect(SyntaxKind::Eq, "`=`", form)?;
        let value = self.expression()?;
        self.refuse_unit(
            "an argument",
            "a bare number is in the unit that the submodel declares; for another name a parameter: `param a = 2 [mm]`",
        )?;
        self.close();
        Some(Argument { name, value })
    }

    /// Fails at a unit where the language has none.
    pub(super) fn refuse_unit(&mut self, what: &str, help: &'static str) -> Parsed<()> {
        if !self.at(SyntaxKind::LBracket) {
            return Some(());
        }
        let message = format!("{what} has no unit of its own");
        self.fail(code::UNEXPECTED, self.here(), message, help)
    }

    fn for_loop(&mut self) -> Parsed<Statement> {
        let start = self.start_offset();
        let form = "write `for i in 1..N { … }`";
        self.open(SyntaxKind::For);
        self.bump();
        let state = self.state();
        let head = self.for_head(form);
        let mut statements = Vec::new();
        if head.is_none() {
            if self.too_deep {
                return None;
            }
            self.skip_to_brace(state);
        }
        self.block(&mut statements, head.is_some(), "for i in 1..N {");
        let (variable, range) = head?;
        self.close();
        Some(Statement::For(Box::new(For { variable, range, statements, span: self.since(start) })))
    }

    fn for_head(&mut self, form: &str) -> Parsed<(crate::ast::Name, crate::ast::Range)> {
        let variable = self.name("the index", form)?;
        if !self.eat_word("in") {
            return self.unexpected("`in`", form);
        }
        Some((variable, self.range()?))
    }

    fn prefer(&mut self) -> Parsed<Statement> {
        let start = self.start_offset();
        let form = "write `prefer integral NAME` or `prefer derivative NAME`";
        self.open(SyntaxKind::Prefer);
        self.bump();
        let integral = self.at_word("integral");
        if !integral && !self.at_word("derivative") {
            return self.unexpected("`integral` or `derivative`", form);
        }
        self.bump();
        if !self.at(SyntaxKind::Ident) {
            return self.unexpected("a storage", form);
        }
        let target = self.path(true)?;
        self.close();
        Some(Statement::Prefer(Prefer { integral, target, span: self.since(start) }))
    }

    fn causality(&mut self) -> Parsed<Statement> {
        let start = self.start_offset();
        let form = "write `causality BOND effort_into NAME`";
        self.open(SyntaxKind::Causality);
        self.bump();
        if !self.at(SyntaxKind::Ident) {
            return self.unexpected("a bond", form);
        }
        let bond = self.path(true)?;
        if !self.eat_word("effort_into") {
            return self.unexpected("`effort_into`", form);
        }
        if !self.at(SyntaxKind::Ident) {
            return self.unexpected("an element", form);
        }
        let element = self.path(true)?;
        self.close();
        Some(Statement::Causality(Causality { bond, element, span: self.since(start) }))
    }
}
