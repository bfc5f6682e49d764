//! The parser's machinery: a cursor over tokens that knows which newlines
//! end statements, the tree it builds on the way, and how it goes on after a
//! mistake. The grammar itself is in the modules below.
//!
//! A function of the grammar returns `None` after it has reported a mistake;
//! the statement it belongs to is then skipped, so that one mistake gives one
//! diagnostic.

mod element;
mod expression;
mod file;
mod statement;
mod unit;

use paynter_base::{Code, Diagnostic, FileId, Remedy, Span, code};
use rowan::{Checkpoint, GreenNodeBuilder, Language};

use crate::SyntaxKind;
use crate::ast::{BinaryOp, Expr, ExprKind, Model, Name, Statement};
use crate::kind::BondGraphLanguage;
use crate::lexer::{Token, normalised};
use crate::limits::{MAX_EXPRESSION_HEIGHT, MAX_NESTING_DEPTH};
use crate::mistakes::Mistakes;
use crate::words;

/// What a function of the grammar returns: nothing after a mistake.
type Parsed<T> = Option<T>;

pub(crate) struct Parser<'t> {
    text: &'t str,
    file: FileId,
    tokens: &'t [Token],
    /// The next token that is no trivia.
    next: usize,
    /// The first token that the tree does not have yet.
    pending: usize,
    /// Whether a newline stands before it.
    newline: bool,
    /// Whether that newline does not count, because an operator, a comma or an arrow stands before it.
    joined: bool,
    /// Open `(` and `[` of the statement, within which newlines do not count.
    brackets: u32,
    depth: u32,
    /// The height of the expression read last.
    height: u32,
    /// The operands of the chains of operators that are being read.
    operands: Vec<(BinaryOp, Expr)>,
    /// Where the token read last ended.
    last_end: u32,
    tree: Option<GreenNodeBuilder<'static>>,
    open_nodes: u32,
    mistakes: Mistakes,
    /// The statement being skipped is too deep: its brackets must be counted.
    too_deep: bool,
    too_deep_reported: bool,
    unclosed_reported: bool,
    /// What could be read of the declaration that failed: its name is known,
    /// so that its uses are no mistakes.
    salvaged: Option<Statement>,
    /// Models that stand inside others by mistake.
    nested: Vec<Model>,
    /// Whether the file has as many `}` as `{`, once that is asked.
    balanced: Option<bool>,
    /// The first block whose closing brace is indented like an outer one's.
    suspect: Option<Span>,
}

impl<'t> Parser<'t> {
    /// Starts at the beginning of a text; builds the tree if asked to.
    pub(crate) fn new(
        text: &'t str,
        file: FileId,
        tokens: &'t [Token],
        mistakes: Mistakes,
        tree: bool,
    ) -> Parser<'t> {
        let mut parser = Parser {
            text,
            file,
            tokens,
            next: 0,
            pending: 0,
            newline: false,
            joined: false,
            brackets: 0,
            depth: 0,
            height: 0,
            operands: Vec::new(),
            last_end: 0,
            tree: tree.then(GreenNodeBuilder::new),
            open_nodes: 0,
            mistakes,
            too_deep: false,
            too_deep_reported: false,
            unclosed_reported: false,
            salvaged: None,
            nested: Vec::new(),
            balanced: None,
            suspect: None,
        };
        parser.skip_trivia();
        parser
    }

    /// Hands out the tree and the mistakes.
    pub(crate) fn finish(self) -> (Option<rowan::GreenNode>, Mistakes) {
        (self.tree.map(GreenNodeBuilder::finish), self.mistakes)
    }

    // ----- The cursor -----

    /// Steps over trivia.
    fn skip_trivia(&mut self) {
        self.newline = false;
        self.joined = false;
        while let Some(token) = self.tokens.get(self.next).filter(|token| token.kind.is_trivia()) {
            self.newline |= token.kind == SyntaxKind::Newline;
            self.next += 1;
        }
    }

    /// The kind of the next token: `Newline` where one ends the statement.
    fn kind(&self) -> SyntaxKind {
        if self.newline && !self.joined && self.brackets == 0 {
            return SyntaxKind::Newline;
        }
        self.raw_kind()
    }

    /// The kind of the next token, newlines aside.
    fn raw_kind(&self) -> SyntaxKind {
        self.tokens.get(self.next).map_or(SyntaxKind::Eof, |token| token.kind)
    }

    fn at(&self, kind: SyntaxKind) -> bool {
        self.kind() == kind
    }

    /// The kind of the token after the next one (`distance` 1) or farther,
    /// trivia aside, `Newline` where one ends the statement before it.
    fn lookahead(&self, distance: usize) -> SyntaxKind {
        self.kind_ahead(distance, self.brackets == 0)
    }

    /// The kind of the token after the next one on the same line.
    fn lookahead_on_line(&self) -> SyntaxKind {
        self.kind_ahead(1, true)
    }

    fn kind_ahead(&self, distance: usize, newlines: bool) -> SyntaxKind {
        let mut left = distance;
        for token in self.tokens.get(self.next + 1..).unwrap_or_default() {
            match token.kind {
                SyntaxKind::Newline if newlines => return SyntaxKind::Newline,
                kind if kind.is_trivia() => {}
                kind if left == 1 => return kind,
                _ => left -= 1,
            }
        }
        SyntaxKind::Eof
    }

    /// Tells whether the next token touches the one before it.
    fn touches(&self) -> bool {
        self.next > 0 && self.tokens.get(self.next - 1).is_some_and(|token| !token.kind.is_trivia())
    }

    fn token_text(&self, index: usize) -> &'t str {
        let start = self.tokens.get(index).map_or(self.text.len(), |token| token.start as usize);
        let end = self.tokens.get(index + 1).map_or(self.text.len(), |token| token.start as usize);
        self.text.get(start..end).unwrap_or("")
    }

    /// The text of the next token.
    fn next_text(&self) -> &'t str {
        self.token_text(self.next)
    }

    /// The text of the token after the next one, trivia aside.
    fn text_after_next(&self) -> &'t str {
        let rest = self.tokens.get(self.next + 1..).unwrap_or_default();
        let trivia = rest.iter().take_while(|token| token.kind.is_trivia()).count();
        self.token_text(self.next + 1 + trivia)
    }

    /// Tells whether the next token is this word.
    fn at_word(&self, word: &str) -> bool {
        self.at(SyntaxKind::Ident) && self.next_text() == word
    }

    /// Where the next token starts.
    fn start_offset(&self) -> u32 {
        self.tokens.get(self.next).map_or(self.text.len() as u32, |token| token.start)
    }

    /// The place of the next token, or the place after the last one where the statement ends.
    fn here(&self) -> Span {
        match self.kind() {
            SyntaxKind::Newline | SyntaxKind::Eof => Span::new(self.file, self.last_end, self.last_end),
            _ => self.next_span(),
        }
    }

    /// The place of the next token.
    fn next_span(&self) -> Span {
        let start = self.start_offset();
        Span::new(self.file, start, start + self.next_text().len() as u32)
    }

    /// The place from an offset to the end of what was read last.
    fn since(&self, start: u32) -> Span {
        Span::new(self.file, start, self.last_end.max(start))
    }

    /// Takes the next token.
    fn bump(&mut self) {
        if self.raw_kind() == SyntaxKind::Eof {
            return;
        }
        self.last_end = self.next_span().end;
        self.next += 1;
        self.flush();
        self.skip_trivia();
    }

    /// Takes the next token if it is of this kind.
    fn eat(&mut self, kind: SyntaxKind) -> bool {
        let is = self.at(kind);
        if is {
            self.bump();
        }
        is
    }

    /// Takes the next token if it is this word.
    fn eat_word(&mut self, word: &str) -> bool {
        let is = self.at_word(word);
        if is {
            self.bump();
        }
        is
    }

    /// Takes an operator, a comma or an arrow, after which a newline does not end the statement.
    fn bump_joining(&mut self) {
        self.bump();
        self.joined = true;
    }

    /// Lets the newline before the next token end the statement after all:
    /// what stands there does not continue it.
    fn part_lines(&mut self) {
        self.joined = false;
    }

    // ----- The tree -----

    /// Hands the tree everything before the next token.
    fn flush(&mut self) {
        if self.tree.is_none() {
            return;
        }
        while self.pending < self.next {
            let text = self.token_text(self.pending);
            if let (Some(tree), Some(token)) = (&mut self.tree, self.tokens.get(self.pending)) {
                tree.token(BondGraphLanguage::kind_to_raw(token.kind), text);
            }
            self.pending += 1;
        }
    }

    /// Opens a node.
    fn open(&mut self, kind: SyntaxKind) {
        if self.open_nodes > 0 {
            self.flush();
        }
        self.open_nodes += 1;
        if let Some(tree) = &mut self.tree {
            tree.start_node(BondGraphLanguage::kind_to_raw(kind));
        }
    }

    /// Remembers a place in the tree at which a node may be opened later.
    fn mark(&mut self) -> Option<Checkpoint> {
        self.flush();
        self.tree.as_ref().map(GreenNodeBuilder::checkpoint)
    }

    /// Opens a node at a marked place.
    fn open_at(&mut self, mark: Option<Checkpoint>, kind: SyntaxKind) {
        self.open_nodes += 1;
        if let (Some(tree), Some(mark)) = (&mut self.tree, mark) {
            tree.start_node_at(mark, BondGraphLanguage::kind_to_raw(kind));
        }
    }

    /// Closes the innermost node.
    fn close(&mut self) {
        self.open_nodes = self.open_nodes.saturating_sub(1);
        if let Some(tree) = &mut self.tree {
            tree.finish_node();
        }
    }

    // ----- Mistakes -----

    /// Reports a mistake after which reading goes on.
    fn report(&mut self, code: Code, place: Span, message: impl Into<String>, help: impl Into<Remedy>) {
        self.mistakes.push(Diagnostic::new(code, message).at(place).help(help));
    }

    /// Reports a mistake that ends the statement; silent where the lexer has spoken already.
    fn fail<T>(
        &mut self,
        code: Code,
        place: Span,
        message: impl Into<String>,
        help: impl Into<Remedy>,
    ) -> Parsed<T> {
        if self.kind() != SyntaxKind::Unknown {
            self.report(code, place, message, help);
        }
        None
    }

    /// Fails at the next token, which is not what the grammar wants.
    fn unexpected<T>(&mut self, wanted: &str, help: impl Into<Remedy>) -> Parsed<T> {
        let found = self.describe_next();
        let message = match found == wanted {
            true => format!("{found} stands too late"),
            false => format!("expected {wanted}, found {found}"),
        };
        self.fail(code::UNEXPECTED, self.here(), message, help)
    }

    /// The next token for people.
    fn describe_next(&self) -> String {
        match self.kind() {
            SyntaxKind::Newline => "the end of the line".to_owned(),
            SyntaxKind::Eof => "the end of the file".to_owned(),
            SyntaxKind::String => "a text in quotation marks".to_owned(),
            _ => format!("`{}`", shortened(self.next_text())),
        }
    }

    /// Takes a token that must be there.
    fn expect(&mut self, kind: SyntaxKind, wanted: &str, help: &str) -> Parsed<()> {
        if self.eat(kind) { Some(()) } else { self.unexpected(wanted, help) }
    }

    /// Takes a name that is being declared or referred to.
    fn name(&mut self, wanted: &str, help: &str) -> Parsed<Name> {
        if !self.at(SyntaxKind::Ident) {
            if self.at(SyntaxKind::Number) {
                let help = "a name starts with a letter or `_`";
                return self.unexpected(wanted, help);
            }
            return self.unexpected(wanted, help);
        }
        let text = self.next_text();
        if text == "if" {
            return self
                .unexpected(wanted, "`if` begins a choice, `if(condition, a, b)`; choose another name");
        }
        if words::OPERATORS.contains(&text) {
            return self.unexpected(wanted, format!("`{text}` is an operator; choose another name"));
        }
        Some(self.bump_name())
    }

    /// Takes the next token as a name.
    fn bump_name(&mut self) -> Name {
        let name = Name { text: normalised(self.next_text()), span: self.next_span() };
        self.bump();
        name
    }

    /// Takes an opening bracket, within which newlines do not count.
    fn open_bracket(&mut self) -> Parsed<Span> {
        let span = self.next_span();
        self.enter()?;
        self.bump();
        self.brackets += 1;
        Some(span)
    }

    /// Takes the closing bracket that belongs to `opened`.
    fn close_bracket(&mut self, opened: Span, closer: SyntaxKind, wanted: &str) -> Parsed<()> {
        let after = match self.raw_kind() {
            kind if kind == closer => {
                // The bracket counts as closed only after it, so that a newline before it does not.
                self.bump();
                self.brackets -= 1;
                self.leave();
                return Some(());
            }
            SyntaxKind::Eof | SyntaxKind::Semicolon | SyntaxKind::LBrace | SyntaxKind::RBrace => true,
            _ => self.newline,
        };
        if !after {
            return self.unexpected(
                wanted,
                format!(
                    "the {} before is still open; close it, or mend what stands here",
                    bracket_word(closer)
                ),
            );
        }
        self.unclosed(opened, closer)
    }

    /// Fails because of a bracket without an end.
    fn unclosed<T>(&mut self, opened: Span, closer: SyntaxKind) -> Parsed<T> {
        let (open, close) = bracket_signs(closer);
        let message = format!("this `{open}` has no `{close}`");
        self.fail(code::UNCLOSED, opened, message, format!("close it with `{close}`"))
    }

    /// Goes one level deeper, or fails where that is too deep.
    fn enter(&mut self) -> Parsed<()> {
        if self.depth >= MAX_NESTING_DEPTH {
            return self.fail_too_deep(self.here());
        }
        self.depth += 1;
        Some(())
    }

    fn leave(&mut self) {
        self.depth -= 1;
    }

    /// Says once a file that something is too deep; the statement is then
    /// skipped with all brackets in it.
    fn fail_too_deep<T>(&mut self, place: Span) -> Parsed<T> {
        self.too_deep = true;
        if !self.too_deep_reported {
            self.too_deep_reported = true;
            self.report(
                code::TOO_DEEP,
                place,
                format!("this is nested more than {MAX_NESTING_DEPTH} levels deep"),
                code::TOO_DEEP.remedy(),
            );
        }
        None
    }

    /// Tells whether the statement ends here.
    fn at_end(&self) -> bool {
        matches!(
            self.kind(),
            SyntaxKind::Newline | SyntaxKind::Semicolon | SyntaxKind::RBrace | SyntaxKind::Eof
        )
    }

    /// Tells whether the statement ends `distance` tokens after the next one.
    fn ends_after(&self, distance: usize) -> bool {
        matches!(
            self.lookahead(distance),
            SyntaxKind::Newline | SyntaxKind::Semicolon | SyntaxKind::RBrace | SyntaxKind::Eof
        )
    }

    /// Tells whether a new line starts here with what can only be a new
    /// statement, although the one before seems unfinished.
    fn at_new_statement(&self) -> bool {
        if !self.newline {
            return false;
        }
        let next = self.lookahead_on_line();
        if next == SyntaxKind::Ident && words::INFIX.contains(&self.text_after_next()) {
            return false;
        }
        match self.raw_kind() {
            SyntaxKind::Ident if next == SyntaxKind::Ident => {
                let text = self.next_text();
                words::Word::parse(text).is_some() || words::TOP.contains(&text)
            }
            SyntaxKind::Number => next == SyntaxKind::Ident && matches!(self.next_text(), "0" | "1"),
            _ => false,
        }
    }

    /// What must be put back when a statement fails in the middle.
    fn state(&self) -> State {
        State { next: self.next, open_nodes: self.open_nodes, brackets: self.brackets, depth: self.depth }
    }

    /// Leaves a statement, well or badly ended: closes its nodes, and puts
    /// what remains of it into an error node.
    fn recover(&mut self, state: State) {
        while self.open_nodes > state.open_nodes {
            self.close();
        }
        let mut open = if self.too_deep { self.brackets } else { 0 };
        let count = std::mem::take(&mut self.too_deep);
        self.brackets = state.brackets;
        self.depth = state.depth;
        self.operands.clear();
        // A newline before the statement does not end it.
        self.joined = self.next == state.next;
        if self.at_end() && open == 0 {
            return;
        }
        self.open(SyntaxKind::Error);
        loop {
            match self.raw_kind() {
                SyntaxKind::Eof => break,
                SyntaxKind::LBrace => open += 1,
                SyntaxKind::LParen | SyntaxKind::LBracket if count => open += 1,
                SyntaxKind::RParen | SyntaxKind::RBracket if count => open = open.saturating_sub(1),
                SyntaxKind::RBrace if open == 0 => break,
                SyntaxKind::RBrace => open -= 1,
                _ => {}
            }
            self.bump();
            if open == 0 && self.at_end() {
                break;
            }
        }
        self.close();
    }
}

/// Stands for the value of a declaration that could not be read.
fn unread_value(name: &Name) -> Expr {
    Expr { kind: ExprKind::Error, span: name.span }
}

/// A point to which the parser goes back after a mistake.
#[derive(Debug, Clone, Copy)]
struct State {
    next: usize,
    open_nodes: u32,
    brackets: u32,
    depth: u32,
}

/// A piece of text, cut where it is long.
fn shortened(text: &str) -> String {
    const LONGEST: usize = 30;
    if text.chars().count() <= LONGEST {
        return text.to_owned();
    }
    text.chars().take(LONGEST).chain(['…']).collect()
}

fn bracket_signs(closer: SyntaxKind) -> (char, char) {
    match closer {
        SyntaxKind::RBracket => ('[', ']'),
        SyntaxKind::RBrace => ('{', '}'),
        _ => ('(', ')'),
    }
}

fn bracket_word(closer: SyntaxKind) -> &'static str {
    match closer {
        SyntaxKind::RBracket => "`[`",
        SyntaxKind::RBrace => "`{`",
        _ => "`(`",
    }
}
