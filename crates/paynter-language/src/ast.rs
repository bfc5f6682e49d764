//! The plain syntax of a model file: what the lossless tree says, as owned
//! data with places, without trivia. Later stages read only this.
//!
//! Names are NFKC-normalised, texts in quotes are as written, and [`Span`]s
//! refer to the file as it was read. An expression is at most 1024 operators
//! high, so that passes may walk it recursively.
//! What few statements have is boxed, so that models of many elements stay
//! small in memory.

use paynter_base::Span;

/// A name as written (normalised), with its place.
#[derive(Debug, Clone, PartialEq)]
pub struct Name {
    /// The name.
    pub text: String,
    /// Where it stands.
    pub span: Span,
}

/// One file.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct File {
    /// `import "path.bg"`.
    pub imports: Vec<Import>,
    /// `model NAME { … }`, in order.
    pub models: Vec<Model>,
}

/// `import "path.bg"`.
#[derive(Debug, Clone, PartialEq)]
pub struct Import {
    /// The path between the quotes.
    pub path: String,
    /// The whole statement.
    pub span: Span,
}

/// `model NAME(param …) "doc" { … }`.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    /// Its name.
    pub name: Name,
    /// The parameters in parentheses, which `use` may bind.
    pub header: Vec<Param>,
    /// The string after the name.
    pub doc: Option<String>,
    /// The body.
    pub statements: Vec<Statement>,
    /// The whole model.
    pub span: Span,
}

/// One statement of a model's body. Of declarations with a mistake, what could
/// be read is here ([`ExprKind::Error`] stands for their value); other
/// statements that could not be read are left out. The mistakes are in the
/// diagnostics.
#[derive(Debug, Clone, PartialEq)]
pub enum Statement {
    /// `param k = 2 [N/m] ±10% in [1, 3] "doc"`
    Param(Param),
    /// `input u = sin(t) [V] "doc"`
    Input(Quantity),
    /// `output y = load.f [A] "doc"`
    Output(Quantity),
    /// `signal w = integral(rotor.f, 0)`
    Signal(Quantity),
    /// `R winding = Ra`, `C gas[2] { … }`, `Sw d when (d.e > 0) { … }`
    Element(Element),
    /// `a -> b, c`
    Bonds(Bonds),
    /// `init tank.q = V0`
    Init(Init),
    /// `port left [electrical]`
    Port(Port),
    /// `use cell c[1..N](m = m0)`
    Use(Use),
    /// `for i in 1..N-1 { … }`
    For(Box<For>),
    /// `prefer derivative NAME`
    Prefer(Prefer),
    /// `causality BOND effort_into NAME`
    Causality(Causality),
}

/// A parameter. In a submodel's header the value may be missing: it must then be bound.
#[derive(Debug, Clone, PartialEq)]
pub struct Param {
    /// Its name.
    pub name: Name,
    /// Its value.
    pub value: Option<Expr>,
    /// `[unit]`
    pub unit: Option<Unit>,
    /// `±10%` or `±0.2`
    pub tolerance: Option<Box<Tolerance>>,
    /// `in [lo, hi]`
    pub bounds: Option<Box<Bounds>>,
    /// `"doc"`
    pub doc: Option<String>,
    /// The whole statement.
    pub span: Span,
}

/// `±expr` or `±expr%`.
#[derive(Debug, Clone, PartialEq)]
pub struct Tolerance {
    /// The number, 10 for `±10%`.
    pub value: Expr,
    /// Whether a `%` follows.
    pub percent: bool,
    /// The whole.
    pub span: Span,
}

/// `in [lo, hi]`, in the parameter's unit.
#[derive(Debug, Clone, PartialEq)]
pub struct Bounds {
    /// Lower bound.
    pub low: Expr,
    /// Upper bound.
    pub high: Expr,
    /// The whole.
    pub span: Span,
}

/// An input, output or signal.
#[derive(Debug, Clone, PartialEq)]
pub struct Quantity {
    /// Its name.
    pub name: Name,
    /// Its value; only an input may go without.
    pub value: Option<Expr>,
    /// `[unit]`
    pub unit: Option<Unit>,
    /// `"doc"`
    pub doc: Option<String>,
    /// The whole statement.
    pub span: Span,
}

/// The kinds of elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// Effort source (`Se`, `MSe`).
    Se,
    /// Flow source (`Sf`, `MSf`).
    Sf,
    /// Resistor, one port or many.
    R,
    /// Capacitive store.
    C,
    /// Inertial store.
    I,
    /// Transformer (`TF`, `MTF`).
    Tf,
    /// Gyrator (`GY`, `MGY`).
    Gy,
    /// Junction of common effort (`0`).
    Zero,
    /// Junction of common flow (`1`).
    One,
    /// Effort detector.
    De,
    /// Flow detector.
    Df,
    /// Switch.
    Sw,
    /// Resistor that produces entropy.
    Rs,
}

impl Kind {
    /// Reads a kind as written, `M` variants included.
    pub fn parse(text: &str) -> Option<Kind> {
        KINDS.iter().find(|(word, _)| *word == text).map(|(_, kind)| *kind)
    }

    /// The word for it.
    pub fn word(self) -> &'static str {
        KINDS.iter().find(|(_, kind)| *kind == self).map_or("?", |(word, _)| word)
    }
}

/// Every word that starts an element statement, with its kind; the plain word comes first.
pub const KINDS: &[(&str, Kind)] = &[
    ("Se", Kind::Se),
    ("MSe", Kind::Se),
    ("Sf", Kind::Sf),
    ("MSf", Kind::Sf),
    ("R", Kind::R),
    ("C", Kind::C),
    ("I", Kind::I),
    ("TF", Kind::Tf),
    ("MTF", Kind::Tf),
    ("GY", Kind::Gy),
    ("MGY", Kind::Gy),
    ("0", Kind::Zero),
    ("1", Kind::One),
    ("De", Kind::De),
    ("Df", Kind::Df),
    ("Sw", Kind::Sw),
    ("RS", Kind::Rs),
];

/// `KIND NAME …`
#[derive(Debug, Clone, PartialEq)]
pub struct Element {
    /// Its kind.
    pub kind: Kind,
    /// Where the kind stands.
    pub kind_span: Span,
    /// Its name.
    pub name: Name,
    /// `[n]`: the number of ports.
    pub ports: Option<Box<Expr>>,
    /// `when (condition)` of a switch.
    pub condition: Option<Box<Expr>>,
    /// `= value` or `{ … }`
    pub body: Body,
    /// `"doc"`
    pub doc: Option<String>,
    /// The whole statement.
    pub span: Span,
}

/// What an element is.
#[derive(Debug, Clone, PartialEq)]
pub enum Body {
    /// Nothing given (junctions, detectors).
    None,
    /// `= expr`
    Value(Expr),
    /// `= [[a, b], [c, d]]`
    Matrix(Vec<Vec<Expr>>, Span),
    /// `{ law; …; init q = expr }`
    Laws(Vec<Law>, Span),
}

/// One entry in an element's braces.
#[derive(Debug, Clone, PartialEq)]
pub enum Law {
    /// `left = right`; `Ron = 0.1` of a switch is of this form too.
    Equation {
        /// Left-hand side.
        left: Expr,
        /// Right-hand side.
        right: Expr,
        /// The whole.
        span: Span,
    },
    /// `init q = expr`
    Init {
        /// `q`, `p`, `q1` …
        state: Name,
        /// The value.
        value: Expr,
        /// The whole.
        span: Span,
    },
}

/// `a -> b, c`, `a -> tf -> b`, `a -> b as name`: each stage is a list of
/// places. Every place of a stage is bonded to every place of the next; only
/// one of two neighbouring stages may have more than one.
#[derive(Debug, Clone, PartialEq)]
pub struct Bonds {
    /// At least two.
    pub stages: Vec<Vec<Path>>,
    /// `as name`; only for a single bond.
    pub name: Option<Name>,
    /// The last comma at the end of a line after which another arrow comes:
    /// the next line may be meant as a statement of its own.
    pub comma: Option<Span>,
    /// The whole statement.
    pub span: Span,
}

/// A dotted name with indices: `c[i+1].left`, `tf.1`, `motor.rotor`.
#[derive(Debug, Clone, PartialEq)]
pub struct Path {
    /// At least one.
    pub segments: Vec<Segment>,
    /// The whole.
    pub span: Span,
}

/// One part of a path; `text` is all digits for a port number.
#[derive(Debug, Clone, PartialEq)]
pub struct Segment {
    /// The name or number.
    pub name: Name,
    /// `[index]`
    pub index: Option<Box<Expr>>,
}

/// `init NAME.q = expr`, `init SIGNAL = expr`
#[derive(Debug, Clone, PartialEq)]
pub struct Init {
    /// The state.
    pub target: Path,
    /// Its value.
    pub value: Expr,
    /// The whole statement.
    pub span: Span,
}

/// `port left [electrical]`
#[derive(Debug, Clone, PartialEq)]
pub struct Port {
    /// Its name.
    pub name: Name,
    /// The domain in brackets.
    pub domain: Option<Name>,
    /// The whole statement.
    pub span: Span,
}

/// `use cell c[1..N](m = m0)`
#[derive(Debug, Clone, PartialEq)]
pub struct Use {
    /// The submodel.
    pub model: Name,
    /// The instance.
    pub name: Name,
    /// `[lo..hi]`
    pub range: Option<Box<Range>>,
    /// `name = expr`
    pub arguments: Vec<Argument>,
    /// The whole statement.
    pub span: Span,
}

/// One bound parameter of a `use`.
#[derive(Debug, Clone, PartialEq)]
pub struct Argument {
    /// The submodel's parameter.
    pub name: Name,
    /// Its value here.
    pub value: Expr,
}

/// `lo..hi`, both ends included.
#[derive(Debug, Clone, PartialEq)]
pub struct Range {
    /// First.
    pub low: Expr,
    /// Last.
    pub high: Expr,
    /// The whole.
    pub span: Span,
}

/// `for i in lo..hi { … }`
#[derive(Debug, Clone, PartialEq)]
pub struct For {
    /// The index.
    pub variable: Name,
    /// Its values.
    pub range: Range,
    /// The body.
    pub statements: Vec<Statement>,
    /// The whole statement.
    pub span: Span,
}

/// `prefer derivative NAME`, `prefer integral NAME`
#[derive(Debug, Clone, PartialEq)]
pub struct Prefer {
    /// Integral or derivative.
    pub integral: bool,
    /// The storage, or a port of one.
    pub target: Path,
    /// The whole statement.
    pub span: Span,
}

/// `causality BOND effort_into NAME`
#[derive(Debug, Clone, PartialEq)]
pub struct Causality {
    /// The bond.
    pub bond: Path,
    /// The element that effort enters.
    pub element: Path,
    /// The whole statement.
    pub span: Span,
}

/// A unit as written: a product of powers.
#[derive(Debug, Clone, PartialEq)]
pub struct Unit {
    /// `kg*m^2/s` is `kg^1, m^2, s^-1`. A lone `1` has no factors.
    pub factors: Vec<UnitFactor>,
    /// The whole, brackets included.
    pub span: Span,
}

/// One factor of a unit.
#[derive(Debug, Clone, PartialEq)]
pub struct UnitFactor {
    /// Prefix and symbol: `mH`, `Ω`.
    pub symbol: Name,
    /// Numerator of the exponent.
    pub power: i32,
    /// Denominator of the exponent (`m^(1/2)`), positive.
    pub root: i32,
}

/// An expression.
#[derive(Debug, Clone, PartialEq)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// Where it stands.
    pub span: Span,
}

/// The forms of expressions.
#[derive(Debug, Clone, PartialEq)]
pub enum ExprKind {
    /// A decimal number as written, without the unit; finite as a double.
    Number(String),
    /// A string, only as an argument (`table("file.csv", column)`).
    Text(String),
    /// `Ra`, `coil.f`, `c[3].m.p`
    Path(Path),
    /// `-x`, `not x`
    Unary(UnaryOp, Box<Expr>),
    /// `x + y`, `x < y`, `x and y`
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// `sin(x)`, `if(c, a, b)`, `integral(x, x0)`
    Call(Name, Vec<Expr>),
    /// Something that could not be read; already reported.
    Error,
}

/// Operators with one operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnaryOp {
    /// `-`
    Neg,
    /// `not`
    Not,
}

/// Operators with two operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BinaryOp {
    /// `+`
    Add,
    /// `-`
    Sub,
    /// `*`
    Mul,
    /// `/`
    Div,
    /// `^`
    Pow,
    /// `<`
    Lt,
    /// `<=`
    Le,
    /// `>`
    Gt,
    /// `>=`
    Ge,
    /// `==`
    Eq,
    /// `!=`
    Ne,
    /// `and`
    And,
    /// `or`
    Or,
}
