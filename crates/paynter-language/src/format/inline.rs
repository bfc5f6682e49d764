//! The spaces within a statement. Products and sums are spaced as the author
//! wrote them, everything else by rule; line breaks stay where they were.

use crate::{SyntaxElement, SyntaxKind, SyntaxNode};

/// Writes a whole statement or expression.
pub(super) fn inline(node: &SyntaxNode) -> String {
    let mut out = Inline::new();
    out.children(node);
    out.finish()
}

/// Text that is being written. Line breaks in it are bare; who prints it indents.
pub(super) struct Inline {
    out: String,
    /// A space is due before the next token.
    due: bool,
}

impl Inline {
    pub(super) fn new() -> Inline {
        Inline { out: String::new(), due: false }
    }

    pub(super) fn finish(self) -> String {
        self.out.trim().to_owned()
    }

    fn children(&mut self, node: &SyntaxNode) {
        if matches!(node.kind(), SyntaxKind::Block | SyntaxKind::Laws) {
            return self.block(node);
        }
        if node.kind() == SyntaxKind::Param && is_bare_header_param(node) {
            self.token("param");
            self.due = true;
        }
        for child in node.children_with_tokens() {
            self.element(node, &child);
        }
    }

    /// Writes one child of a node.
    pub(super) fn element(&mut self, parent: &SyntaxNode, child: &SyntaxElement) {
        match child.kind() {
            SyntaxKind::Whitespace => return,
            SyntaxKind::Newline => return self.newline(),
            SyntaxKind::Comment => {
                let text = child.as_token().map_or("", |token| token.text());
                return self.comment(text);
            }
            _ => {}
        }
        let (before, after) = gaps(parent, child);
        self.due = match before {
            Gap::Space => true,
            Gap::None => false,
            Gap::Same => self.due,
        };
        match child {
            SyntaxElement::Token(token) => self.token(token.text()),
            SyntaxElement::Node(node) => self.children(node),
        }
        self.due = after;
    }

    fn token(&mut self, text: &str) {
        if self.due && !self.out.is_empty() && !self.out.ends_with(['\n', ' ']) {
            self.out.push(' ');
        }
        self.out.push_str(text);
        self.due = false;
    }

    fn newline(&mut self) {
        if !self.out.is_empty() && !self.out.ends_with('\n') {
            self.out.push('\n');
        }
        self.due = false;
    }

    fn comment(&mut self, text: &str) {
        if !self.out.is_empty() && !self.out.ends_with('\n') {
            self.out.push_str("  ");
        }
        self.out.push_str(text.trim_end());
    }

    /// Writes a block that stands on one line.
    fn block(&mut self, node: &SyntaxNode) {
        let statements: Vec<String> = node.children().map(|statement| inline(&statement)).collect();
        if statements.is_empty() {
            self.token("{}");
        } else {
            self.token(&format!("{{ {} }}", statements.join("; ")));
        }
    }
}

/// Tells whether a node is a parameter in a header without the word `param`.
fn is_bare_header_param(node: &SyntaxNode) -> bool {
    let words = node.children_with_tokens().filter(|child| child.kind() == SyntaxKind::Ident).count();
    words == 1 && node.parent().is_some_and(|parent| parent.kind() == SyntaxKind::Header)
}

/// What stands before a token.
enum Gap {
    Space,
    None,
    /// What the token before asked for.
    Same,
}

/// The space before a child of a node, and whether one is due after it.
fn gaps(parent: &SyntaxNode, child: &SyntaxElement) -> (Gap, bool) {
    use SyntaxKind::*;
    let kind = child.kind();
    match kind {
        Comma => return (Gap::None, true),
        Eq | Arrow => return (Gap::Space, true),
        _ => {}
    }
    match parent.kind() {
        Binary => match kind {
            EqEq | NotEq | Less | LessEq | Greater | GreaterEq | Ident => (Gap::Space, true),
            Plus | Minus | Star | Slash if is_spaced(child) => (Gap::Space, true),
            Plus | Minus | Star | Slash | Caret | Superscript => (Gap::None, false),
            _ => (Gap::Same, false),
        },
        Unary => (Gap::Same, kind == Ident),
        // Statements are made of words.
        Param | Quantity | Element | Bonds | Init | Port | Use | For | Prefer | Causality | Import
        | Model | Law | Bounds => match kind {
            Index | Arguments | Header | RBracket => (Gap::None, true),
            LBracket => (Gap::Space, false),
            Unit | Tolerance | Bounds | String | Block | Laws => (Gap::Space, true),
            _ => (Gap::Same, true),
        },
        _ => (Gap::Same, false),
    }
}

/// Tells whether the author wrote space on either side of an operator.
fn is_spaced(operator: &SyntaxElement) -> bool {
    let trivia =
        |neighbour: Option<SyntaxElement>| neighbour.is_some_and(|element| element.kind().is_trivia());
    trivia(operator.prev_sibling_or_token()) || trivia(operator.next_sibling_or_token())
}
