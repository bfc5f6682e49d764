//! The outer structure: imports, models and their blocks.

use paynter_base::{Span, code};

use super::{Parsed, Parser};
use crate::SyntaxKind;
use crate::ast::{File, Import, Model, Name, Param, Statement};
use crate::words;

impl Parser<'_> {
    /// Reads a whole file.
    pub(crate) fn file(&mut self) -> File {
        let mut file = File::default();
        // Statements outside a model are reported once, up to the next model.
        let mut outside = false;
        self.open(SyntaxKind::Root);
        loop {
            self.separators();
            let state = self.state();
            match self.kind() {
                SyntaxKind::Eof => break,
                SyntaxKind::RBrace => {
                    if !outside {
                        self.report(code::UNEXPECTED, self.here(), "this `}` closes nothing", "delete it");
                    }
                    self.open(SyntaxKind::Error);
                    self.bump();
                }
                SyntaxKind::Ident if self.next_text() == "import" => {
                    outside = false;
                    if let Some(import) = self.import() {
                        file.imports.push(import);
                        self.expect_end();
                    }
                }
                SyntaxKind::Ident if self.at_model() => {
                    outside = false;
                    let model = self.model();
                    file.models.append(&mut self.nested);
                    file.models.push(model);
                    self.expect_end();
                }
                _ => {
                    if !outside && self.raw_kind() != SyntaxKind::Unknown {
                        self.report_outside(!file.models.is_empty());
                    }
                    outside = true;
                    // What cannot even start a statement is one mistake, not two.
                    self.mistakes.muted = !matches!(self.raw_kind(), SyntaxKind::Ident | SyntaxKind::Number);
                    self.statement(&mut Vec::new());
                    self.mistakes.muted = false;
                }
            }
            self.recover(state);
        }
        self.flush();
        self.close();
        file
    }

    /// Tells whether a model starts here, perhaps with a misspelt word.
    fn at_model(&self) -> bool {
        let text = self.next_text();
        if text == "model" {
            return true;
        }
        let named = self.lookahead(1) == SyntaxKind::Ident
            && matches!(self.lookahead(2), SyntaxKind::LBrace | SyntaxKind::LParen | SyntaxKind::String);
        named && words::Word::parse(text).is_none() && words::meant(text) == Some("model")
    }

    fn report_outside(&mut self, after_model: bool) {
        let help = if after_model {
            "check the `}` before it: it closes the model too early; or delete this line"
        } else {
            "write `model NAME {` before the first statement and `}` after the last"
        };
        let message = format!("{} stands outside a model", self.describe_next());
        self.report(code::MISPLACED, self.here(), message, help);
    }

    /// Steps over empty lines and `;`.
    pub(super) fn separators(&mut self) {
        loop {
            match self.kind() {
                SyntaxKind::Newline => self.joined = true,
                SyntaxKind::Semicolon => self.bump(),
                _ => return,
            }
        }
    }

    /// Reports what stands after a complete statement on the same line.
    pub(super) fn expect_end(&mut self) {
        if self.at_end() || self.raw_kind() == SyntaxKind::Unknown {
            return;
        }
        let help = match self.kind() {
            SyntaxKind::RParen | SyntaxKind::RBracket => "delete it, or open the bracket before",
            SyntaxKind::Comma => {
                "only bonds have lists: `a -> b, c`; laws and statements are separated by `;`"
            }
            SyntaxKind::LBrace => "braces stand after `model`, `for` and elements",
            _ => "write one statement a line, or separate statements by `;`",
        };
        let message = format!("expected the end of the statement, found {}", self.describe_next());
        self.report(code::UNEXPECTED, self.here(), message, help);
    }

    fn import(&mut self) -> Parsed<Import> {
        let start = self.start_offset();
        self.open(SyntaxKind::Import);
        self.bump();
        if !self.at(SyntaxKind::String) {
            return self.unexpected("a file name", "write `import \"file.bg\"`");
        }
        let path = self.string();
        self.close();
        Some(Import { path, span: self.since(start) })
    }

    /// Reads a model; what it has of a name, even where its head is broken.
    fn model(&mut self) -> Model {
        let start = self.start_offset();
        self.open(SyntaxKind::Model);
        if self.next_text() != "model" {
            self.report_unknown("model", None);
        }
        self.bump();
        let mut model = Model {
            name: Name { text: String::new(), span: self.here() },
            header: Vec::new(),
            doc: None,
            statements: Vec::new(),
            span: self.here(),
        };
        let state = self.state();
        let good = self.model_head(&mut model).is_some();
        if !good {
            self.skip_to_brace(state);
        }
        self.block(&mut model.statements, good, "model NAME {");
        self.close();
        model.span = self.since(start);
        model
    }

    fn model_head(&mut self, model: &mut Model) -> Parsed<()> {
        model.name = self.name("the model's name", "write `model NAME { … }`")?;
        if self.at(SyntaxKind::LParen) {
            self.open(SyntaxKind::Header);
            let opened = self.open_bracket()?;
            while !self.at(SyntaxKind::RParen) {
                let Some(param) = self.header_param() else {
                    if let Some(Statement::Param(param)) = self.salvaged.take() {
                        model.header.push(param);
                    }
                    return None;
                };
                model.header.push(param);
                if self.at_word("param") {
                    let place = Span::new(self.file, self.last_end, self.last_end);
                    let message = "expected `,` or `)`, found `param`";
                    self.report(code::UNEXPECTED, place, message, "separate the parameters by commas");
                } else if self.at(SyntaxKind::Comma) {
                    self.bump_joining();
                } else {
                    break;
                }
            }
            self.close_bracket(opened, SyntaxKind::RParen, "`,` or `)`")?;
            self.close();
        }
        if self.at(SyntaxKind::String) {
            model.doc = Some(self.string());
        }
        Some(())
    }

    fn header_param(&mut self) -> Parsed<Param> {
        let start = self.start_offset();
        self.open(SyntaxKind::Param);
        if self.at_word("param") && self.lookahead(1) != SyntaxKind::Comma {
            self.bump();
        }
        self.param_rest(start)
    }

    /// After a broken head, goes to its `{`.
    pub(super) fn skip_to_brace(&mut self, state: super::State) {
        let mut open = self.brackets;
        while self.open_nodes > state.open_nodes {
            self.close();
        }
        self.brackets = 0;
        self.depth = state.depth;
        self.joined = false;
        self.too_deep = false;
        self.open(SyntaxKind::Error);
        loop {
            match self.raw_kind() {
                SyntaxKind::LBrace | SyntaxKind::RBrace | SyntaxKind::Eof => break,
                _ if self.newline && (open == 0 || self.at_new_statement()) => break,
                SyntaxKind::LParen | SyntaxKind::LBracket => open += 1,
                SyntaxKind::RParen | SyntaxKind::RBracket => open = open.saturating_sub(1),
                _ => {}
            }
            self.bump();
        }
        self.close();
    }

    /// Reads `{ statements }`. Where the `{` is missing, the statements are
    /// read all the same; that is reported if the head was good.
    pub(super) fn block(&mut self, statements: &mut Vec<Statement>, report: bool, form: &str) {
        let state = self.state();
        self.open(SyntaxKind::Block);
        let mut opened = self.next_span();
        if self.raw_kind() == SyntaxKind::LBrace {
            if self.newline && report {
                let help = format!("put it at the end of the line before: `{form}`");
                self.report(code::UNEXPECTED, opened, "this `{` starts a new line", help);
            }
            if self.enter().is_none() {
                // Counted as too deep: what follows is skipped with all its braces.
                self.recover(state);
                return;
            }
            self.bump();
        } else {
            opened = Span::new(self.file, self.last_end, self.last_end);
            if report {
                let _: Parsed<()> = self.unexpected("`{`", format!("write `{form} … }}`"));
            }
            if !self.newline {
                self.recover(state);
                return;
            }
            if self.enter().is_none() {
                self.recover(state);
                return;
            }
        }
        loop {
            self.separators();
            match self.raw_kind() {
                SyntaxKind::RBrace => {
                    self.note_indentation(opened);
                    self.bump();
                    break;
                }
                SyntaxKind::Eof => {
                    self.report_unclosed_block(opened);
                    break;
                }
                _ if self.at_next_model() && self.braces_balance() => self.nested_model(),
                _ if self.at_next_model() && self.newline => {
                    self.joined = false;
                    self.report_unclosed_block(opened);
                    break;
                }
                _ => self.statement(statements),
            }
        }
        self.leave();
        self.close();
    }

    /// Tells whether a new model starts here, within the block of another.
    fn at_next_model(&self) -> bool {
        self.raw_kind() == SyntaxKind::Ident
            && self.next_text() == "model"
            && self.lookahead(1) == SyntaxKind::Ident
            && matches!(self.lookahead(2), SyntaxKind::LBrace | SyntaxKind::LParen | SyntaxKind::String)
    }

    /// Tells whether the file has as many `}` as `{`.
    fn braces_balance(&mut self) -> bool {
        let tokens = self.tokens;
        let count = |kind| tokens.iter().filter(|token| token.kind == kind).count();
        *self.balanced.get_or_insert_with(|| count(SyntaxKind::LBrace) == count(SyntaxKind::RBrace))
    }

    /// Reads a model inside another as if it stood beside it.
    fn nested_model(&mut self) {
        let help = "move it before or after the model around it; models stand side by side in a file";
        self.report(code::MISPLACED, self.next_span(), "a model cannot stand inside another", help);
        let model = self.model();
        self.nested.push(model);
    }

    /// Remembers a block whose `}` stands further left than the line of its
    /// `{`: if a brace is missing, it is probably this one's.
    fn note_indentation(&mut self, opened: Span) {
        if !self.newline || self.suspect.is_some() {
            return;
        }
        let indentation = |offset: u32| {
            let before = self.text.get(..offset as usize).unwrap_or("");
            let line = before.rsplit('\n').next().unwrap_or("");
            line.len() - line.trim_start().len()
        };
        if indentation(self.start_offset()) < indentation(opened.start) {
            self.suspect = Some(opened);
        }
    }

    /// Reports a block without an end, once for all blocks that end together.
    fn report_unclosed_block(&mut self, opened: Span) {
        let suspect = self.suspect.take();
        if self.too_deep_reported && self.raw_kind() == SyntaxKind::Eof {
            return;
        }
        if self.raw_kind() == SyntaxKind::Eof && std::mem::replace(&mut self.unclosed_reported, true) {
            return;
        }
        if opened.start == opened.end {
            return;
        }
        let place = suspect.unwrap_or(opened);
        self.report(code::UNCLOSED, place, "this `{` has no `}`", "close it with `}`");
    }

    /// Reports a word that starts no statement, with what was meant: another
    /// word, or perhaps a bond.
    pub(super) fn report_unknown(&mut self, meant: &str, bond: Option<String>) {
        let word = super::shortened(self.next_text());
        let help = match bond {
            Some(bond) => format!("write `{meant}`, or `{bond}` for a bond"),
            None => format!("write `{meant}`"),
        };
        let message = format!("`{word}` starts no statement and is no element kind");
        self.report(code::UNKNOWN_KIND, self.here(), message, help);
    }
}
