//! The model language: text to a lossless tree, to plain syntax, and back to
//! well laid-out text. Parsing never fails: it returns a tree and diagnostics.

pub mod ast;
mod format;
mod kind;
mod lexer;
mod limits;
mod load;
mod lookalike;
mod mistakes;
mod parser;
mod words;

pub use format::format;
pub use kind::{BondGraphLanguage, SyntaxElement, SyntaxKind, SyntaxNode, SyntaxToken};
pub use load::{Loaded, add_text, load};

pub use crate::limits::MAX_FILE_SIZE;
use paynter_base::{Diagnostic, Diagnostics, FileId, Span, code};

use mistakes::Mistakes;
use parser::Parser;

/// What a text says: the lossless tree, the plain syntax and the mistakes.
#[derive(Debug, Clone)]
pub struct Parse {
    tree: rowan::GreenNode,
    /// The plain syntax; statements with mistakes may be left out.
    pub file: ast::File,
    /// The mistakes, in the order of the text.
    pub diagnostics: Diagnostics,
}

impl Parse {
    /// The root of the lossless tree: its text is the text that was parsed.
    pub fn tree(&self) -> SyntaxNode {
        SyntaxNode::new_root(self.tree.clone())
    }
}

/// Parses a text into a lossless tree and plain syntax.
pub fn parse(text: &str, file: FileId) -> Parse {
    let (syntax, tree, diagnostics) = run(text, file, true);
    let empty = || rowan::GreenNode::new(rowan::SyntaxKind(SyntaxKind::Root as u16), []);
    Parse { tree: tree.unwrap_or_else(empty), file: syntax, diagnostics }
}

/// Parses a text into plain syntax alone, which is faster and takes less memory.
pub fn parse_syntax(text: &str, file: FileId) -> (ast::File, Diagnostics) {
    let (syntax, _, diagnostics) = run(text, file, false);
    (syntax, diagnostics)
}

fn run(text: &str, file: FileId, tree: bool) -> (ast::File, Option<rowan::GreenNode>, Diagnostics) {
    let mut mistakes = Mistakes::default();
    if text.len() as u64 > MAX_FILE_SIZE {
        let message = format!("the text has {} bytes; {MAX_FILE_SIZE} are the limit", text.len());
        mistakes.push(Diagnostic::new(code::TOO_LARGE, message).at(Span::new(file, 0, 0)));
        return (ast::File::default(), None, mistakes.finish());
    }
    let tokens = lexer::lex(text, file, &mut mistakes);
    let mut parser = Parser::new(text, file, &tokens, mistakes, tree);
    let syntax = parser.file();
    let (tree, mistakes) = parser.finish();
    (syntax, tree, mistakes.finish())
}
