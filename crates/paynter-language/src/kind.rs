//! The kinds of tokens and nodes of the syntax tree, with the patterns by
//! which tokens are recognised.

use logos::Logos;

macro_rules! kinds {
    ($($(#[$attribute:meta])* $name:ident,)*) => {
        /// What a token or a node of the syntax tree is.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Logos)]
        #[repr(u8)]
        pub enum SyntaxKind {
            $($(#[$attribute])* $name,)*
        }

        const ALL: &[SyntaxKind] = &[$(SyntaxKind::$name),*];
    };
}

kinds! {
    // Trivia.
    /// Spaces and tabs.
    #[regex(r"[ \t\x0B\x0C]+")]
    Whitespace,
    /// The end of a line; it may end a statement.
    #[token("\n")]
    #[token("\r\n")]
    #[token("\r")]
    Newline,
    /// `// …`
    #[regex(r"//[^\r\n]*", allow_greedy = true)]
    Comment,

    // Words and literals. A middle dot is a letter to Unicode, but a product to people.
    /// A name or a word of the language.
    #[regex(r"[\p{XID_Start}_][\p{XID_Continue}₀-₉--[·\u{0387}\u{30FB}\u{FF65}]]*")]
    Ident,
    /// `12`, `0.5`, `1e-3`
    #[regex(r"[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?")]
    Number,
    /// `"…"`, on one line.
    #[regex(r#""[^"\r\n]*""#)]
    String,
    /// `²`, `³`, `⁻¹`: a power.
    #[regex("⁻?[⁰¹²³⁴⁵⁶⁷⁸⁹]+")]
    Superscript,

    // Punctuation.
    /// `+`
    #[token("+")]
    Plus,
    /// `-`
    #[token("-")]
    Minus,
    /// `*`
    #[token("*")]
    Star,
    /// `/`
    #[token("/")]
    Slash,
    /// `^`
    #[token("^")]
    Caret,
    /// `=`
    #[token("=")]
    Eq,
    /// `==`
    #[token("==")]
    EqEq,
    /// `!=`
    #[token("!=")]
    NotEq,
    /// `<`
    #[token("<")]
    Less,
    /// `<=`
    #[token("<=")]
    LessEq,
    /// `>`
    #[token(">")]
    Greater,
    /// `>=`
    #[token(">=")]
    GreaterEq,
    /// `->`
    #[token("->")]
    Arrow,
    /// `,`
    #[token(",")]
    Comma,
    /// `;`
    #[token(";")]
    Semicolon,
    /// `.`
    #[token(".")]
    Dot,
    /// `..`
    #[token("..")]
    DotDot,
    /// `(`
    #[token("(")]
    LParen,
    /// `)`
    #[token(")")]
    RParen,
    /// `[`
    #[token("[")]
    LBracket,
    /// `]`
    #[token("]")]
    RBracket,
    /// `{`
    #[token("{")]
    LBrace,
    /// `}`
    #[token("}")]
    RBrace,
    /// `±` or `+-`
    #[token("±")]
    #[token("+-")]
    PlusMinus,
    /// `%`
    #[token("%")]
    Percent,
    /// A character or a piece of text the language does not know; already reported.
    #[regex(r"(?s).", priority = 0)]
    Unknown,
    /// The end of the file.
    Eof,

    // Nodes.
    /// The whole file.
    Root,
    /// `import "path"`
    Import,
    /// `model NAME { … }`
    Model,
    /// `(param a = 1, param b)`
    Header,
    /// `{ … }` of a model or a `for`.
    Block,
    /// `param NAME = value …`
    Param,
    /// `input`, `output` or `signal NAME = value …`
    Quantity,
    /// `KIND NAME …`
    Element,
    /// `{ … }` of an element.
    Laws,
    /// `left = right`, `init q = value`
    Law,
    /// `a -> b, c`
    Bonds,
    /// `init NAME.q = value`
    Init,
    /// `port NAME [domain]`
    Port,
    /// `use MODEL NAME(…)`
    Use,
    /// `for i in 1..N { … }`
    For,
    /// `prefer integral NAME`
    Prefer,
    /// `causality BOND effort_into NAME`
    Causality,
    /// `[kg*m^2]`
    Unit,
    /// `±10%`
    Tolerance,
    /// `in [lo, hi]`
    Bounds,
    /// `[[a, b], [c, d]]`, and each row of it.
    Matrix,
    /// `c[3].m.p`
    Path,
    /// `[3]` of a path or a declaration.
    Index,
    /// `lo..hi`
    Range,
    /// `sin(x)`
    Call,
    /// `(x, y)` of a call, `(k = 2)` of a `use`.
    Arguments,
    /// `k = 2` of a `use`.
    Argument,
    /// `(x)`
    Paren,
    /// `-x`, `not x`
    Unary,
    /// `a + b - c`: operands and operators of one rank, flat.
    Binary,
    /// Text that could not be read; already reported.
    Error,
}

impl SyntaxKind {
    /// Tells whether it carries no meaning except that newlines end statements.
    pub fn is_trivia(self) -> bool {
        self <= SyntaxKind::Comment
    }
}

/// The language as the tree library wants it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BondGraphLanguage {}

impl rowan::Language for BondGraphLanguage {
    type Kind = SyntaxKind;

    fn kind_from_raw(raw: rowan::SyntaxKind) -> SyntaxKind {
        ALL.get(raw.0 as usize).copied().unwrap_or(SyntaxKind::Error)
    }

    fn kind_to_raw(kind: SyntaxKind) -> rowan::SyntaxKind {
        rowan::SyntaxKind(kind as u16)
    }
}

/// A node of the lossless tree.
pub type SyntaxNode = rowan::SyntaxNode<BondGraphLanguage>;
/// A token of the lossless tree.
pub type SyntaxToken = rowan::SyntaxToken<BondGraphLanguage>;
/// A node or a token of the lossless tree.
pub type SyntaxElement = rowan::SyntaxElement<BondGraphLanguage>;
