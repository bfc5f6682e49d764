//! The spellings of each target.

use super::name::{latex_name, mathml_name};
use super::walk::Level;
use crate::node::{Cmp, Func};
use std::borrow::Cow;

/// How a target writes powers.
#[derive(Clone, Copy)]
pub(super) enum Power {
    /// Between base and exponent.
    Infix(&'static str),
    /// As a call of base and exponent; squares and cubes of symbols are products.
    Call(&'static str, &'static str, &'static str),
    /// Raised: before the base, between, after the exponent.
    Raised(&'static str, &'static str, &'static str),
}

/// How a target writes quotients.
#[derive(Clone, Copy)]
pub(super) enum Quotient {
    /// Between dividend and divisor.
    Infix(&'static str),
    /// Stacked: before the dividend, between, after the divisor.
    Stacked(&'static str, &'static str, &'static str),
}

/// How a target joins conditions.
#[derive(Clone, Copy)]
pub(super) enum Joint {
    Infix(&'static str),
    Call(&'static str, &'static str, &'static str),
}

/// How a target writes a function: before, between and after its arguments.
pub(super) type Call = (&'static str, &'static str, &'static str);

/// The spellings of one target.
pub(super) struct Dialect {
    pub name: fn(&str) -> Cow<'_, str>,
    /// Before and after a whole number.
    pub number: (&'static str, &'static str),
    /// Whether people read it as plain text.
    pub is_text: bool,
    /// Before and after the exponent of a power of ten that multiplies digits; `e` where there is none.
    pub power_of_ten: Option<(&'static str, &'static str)>,
    pub add: &'static str,
    pub subtract: &'static str,
    pub negative: &'static str,
    pub multiply: &'static str,
    /// Multiplication before a digit, where a space would not do.
    pub multiply_digit: &'static str,
    pub power: Power,
    pub quotient: Quotient,
    pub parentheses: (&'static str, &'static str),
    pub root: (&'static str, &'static str),
    /// Before the degree of a root, before its radicand, and after.
    pub degree_root: Option<(&'static str, &'static str, &'static str)>,
    pub pi: &'static str,
    pub truth: (&'static str, &'static str),
    pub and: Joint,
    pub or: Joint,
    pub not: (&'static str, &'static str),
    pub compare: [&'static str; 6],
    pub function: fn(Func) -> Call,
    /// What follows the name of a function; typeset powers of functions are raised before it.
    pub name_end: &'static str,
    pub select: Select,
}

/// How a target writes the choice between two values.
#[derive(Clone, Copy)]
pub(super) struct Select {
    pub open: &'static str,
    pub first: &'static str,
    pub second: &'static str,
    pub close: &'static str,
    /// Whether the value comes before its condition.
    pub value_first: bool,
    pub level: Level,
}

impl Dialect {
    pub fn comparison(&self, op: Cmp) -> &'static str {
        self.compare[op as usize]
    }

    /// Tells whether powers are raised, as in typeset formulas.
    pub fn is_typeset(&self) -> bool {
        matches!(self.power, Power::Raised(..))
    }
}

const fn function_select(open: &'static str) -> Select {
    Select { open, first: ", ", second: ", ", close: ")", value_first: false, level: Level::Atom }
}

const TERNARY: Select =
    Select { open: "(", first: " ? ", second: " : ", close: ")", value_first: false, level: Level::Atom };

pub(super) static TEXT: Dialect = Dialect {
    name: |name| Cow::Borrowed(name),
    number: ("", ""),
    is_text: true,
    power_of_ten: None,
    add: " + ",
    subtract: " - ",
    negative: "-",
    multiply: "*",
    multiply_digit: "*",
    power: Power::Infix("^"),
    quotient: Quotient::Infix("/"),
    parentheses: ("(", ")"),
    root: ("sqrt(", ")"),
    degree_root: None,
    pi: "pi",
    truth: ("true", "false"),
    and: Joint::Infix(" and "),
    or: Joint::Infix(" or "),
    not: ("not ", ""),
    compare: [" < ", " <= ", " > ", " >= ", " == ", " != "],
    function: text_function,
    name_end: "(",
    select: function_select("if("),
};

pub(super) static PYTHON: Dialect = Dialect {
    is_text: false,
    power: Power::Infix("**"),
    root: ("np.sqrt(", ")"),
    pi: "np.pi",
    truth: ("True", "False"),
    and: Joint::Call("np.logical_and(", ", ", ")"),
    or: Joint::Call("np.logical_or(", ", ", ")"),
    not: ("np.logical_not(", ")"),
    function: python_function,
    select: function_select("np.where("),
    ..TEXT
};

pub(super) static MATLAB: Dialect = Dialect {
    is_text: false,
    and: Joint::Infix(" && "),
    or: Joint::Infix(" || "),
    not: ("~(", ")"),
    compare: [" < ", " <= ", " > ", " >= ", " == ", " ~= "],
    function: matlab_function,
    select: function_select("ifelse("),
    ..TEXT
};

pub(super) static C: Dialect = Dialect {
    is_text: false,
    number: ("", ".0"),
    power: Power::Call("pow(", ", ", ")"),
    pi: "3.14159265358979323846",
    truth: ("1", "0"),
    and: Joint::Infix(" && "),
    or: Joint::Infix(" || "),
    not: ("!(", ")"),
    function: c_function,
    select: TERNARY,
    ..TEXT
};

pub(super) static JULIA: Dialect = Dialect {
    is_text: false,
    and: Joint::Infix(" && "),
    or: Joint::Infix(" || "),
    not: ("!(", ")"),
    function: julia_function,
    select: TERNARY,
    ..TEXT
};

pub(super) static LATEX: Dialect = Dialect {
    is_text: false,
    power_of_ten: Some((" \\cdot 10^{", "}")),
    name: |name| latex_name(name).into(),
    multiply: " \\, ",
    multiply_digit: " \\cdot ",
    power: Power::Raised("", "^{", "}"),
    quotient: Quotient::Stacked("\\frac{", "}{", "}"),
    parentheses: ("\\left(", "\\right)"),
    root: ("\\sqrt{", "}"),
    degree_root: Some(("\\sqrt[", "]{", "}")),
    pi: "\\pi",
    truth: ("\\top", "\\bot"),
    and: Joint::Infix(" \\wedge "),
    or: Joint::Infix(" \\vee "),
    not: ("\\neg ", ""),
    compare: [" < ", " \\le ", " > ", " \\ge ", " = ", " \\ne "],
    function: latex_function,
    name_end: "\\left(",
    select: Select {
        open: "\\begin{cases} ",
        first: " & \\text{if } ",
        second: " \\\\ ",
        close: " & \\text{otherwise} \\end{cases}",
        value_first: true,
        level: Level::Sum,
    },
    ..TEXT
};

pub(super) static MATHML: Dialect = Dialect {
    name: |name| mathml_name(name).into(),
    number: ("<mn>", "</mn>"),
    is_text: false,
    power_of_ten: Some(("<mo>\u{22C5}</mo><msup><mn>10</mn><mn>", "</mn></msup>")),
    add: "<mo>+</mo>",
    subtract: "<mo>\u{2212}</mo>",
    negative: "<mo form=\"prefix\">\u{2212}</mo>",
    // The sign is invisible: without a thin gap, two factors read as one name.
    multiply: "<mo rspace=\"0.17em\">\u{2062}</mo>",
    multiply_digit: "<mo>\u{22C5}</mo>",
    power: Power::Raised("<msup><mrow>", "</mrow><mrow>", "</mrow></msup>"),
    quotient: Quotient::Stacked("<mfrac><mrow>", "</mrow><mrow>", "</mrow></mfrac>"),
    parentheses: ("<mrow><mo>(</mo>", "<mo>)</mo></mrow>"),
    root: ("<msqrt>", "</msqrt>"),
    degree_root: None,
    pi: "<mi>\u{3C0}</mi>",
    truth: ("<mi>true</mi>", "<mi>false</mi>"),
    and: Joint::Infix("<mo>\u{2227}</mo>"),
    or: Joint::Infix("<mo>\u{2228}</mo>"),
    not: ("<mo>\u{AC}</mo>", ""),
    compare: [
        "<mo>&lt;</mo>",
        "<mo>\u{2264}</mo>",
        "<mo>&gt;</mo>",
        "<mo>\u{2265}</mo>",
        "<mo>=</mo>",
        "<mo>\u{2260}</mo>",
    ],
    function: mathml_function,
    name_end: "<mo>\u{2061}</mo>",
    select: Select {
        open: "<mrow><mo>{</mo><mtable><mtr><mtd style=\"text-align:left\">",
        // A plain space at the end of a text is dropped.
        first: "</mtd><mtd style=\"text-align:left\"><mtext>if\u{A0}</mtext>",
        second: "</mtd></mtr><mtr><mtd style=\"text-align:left\">",
        close: "</mtd><mtd style=\"text-align:left\"><mtext>otherwise</mtext></mtd></mtr></mtable></mrow>",
        value_first: true,
        level: Level::Sum,
    },
};

fn text_function(f: Func) -> Call {
    let open = match f {
        Func::Sin => "sin(",
        Func::Cos => "cos(",
        Func::Tan => "tan(",
        Func::Asin => "asin(",
        Func::Acos => "acos(",
        Func::Atan => "atan(",
        Func::Atan2 => "atan2(",
        Func::Sinh => "sinh(",
        Func::Cosh => "cosh(",
        Func::Tanh => "tanh(",
        Func::Asinh => "asinh(",
        Func::Acosh => "acosh(",
        Func::Atanh => "atanh(",
        Func::Exp => "exp(",
        Func::Ln => "ln(",
        Func::Log10 => "log10(",
        Func::Sqrt => "sqrt(",
        Func::Abs => "abs(",
        Func::Sign => "sign(",
        Func::Min => "min(",
        Func::Max => "max(",
        Func::Table(_) => "(",
    };
    (open, ", ", ")")
}

fn python_function(f: Func) -> Call {
    let open = match f {
        Func::Sin => "np.sin(",
        Func::Cos => "np.cos(",
        Func::Tan => "np.tan(",
        Func::Asin => "np.arcsin(",
        Func::Acos => "np.arccos(",
        Func::Atan => "np.arctan(",
        Func::Atan2 => "np.arctan2(",
        Func::Sinh => "np.sinh(",
        Func::Cosh => "np.cosh(",
        Func::Tanh => "np.tanh(",
        Func::Asinh => "np.arcsinh(",
        Func::Acosh => "np.arccosh(",
        Func::Atanh => "np.arctanh(",
        Func::Exp => "np.exp(",
        Func::Ln => "np.log(",
        Func::Log10 => "np.log10(",
        Func::Sqrt => "np.sqrt(",
        Func::Abs => "np.abs(",
        Func::Sign => "np.sign(",
        Func::Min => "np.minimum(",
        Func::Max => "np.maximum(",
        Func::Table(_) => "(",
    };
    (open, ", ", ")")
}

fn matlab_function(f: Func) -> Call {
    match f {
        Func::Ln => ("log(", ", ", ")"),
        other => text_function(other),
    }
}

fn c_function(f: Func) -> Call {
    let open = match f {
        Func::Ln => "log(",
        Func::Abs => "fabs(",
        Func::Min => "fmin(",
        Func::Max => "fmax(",
        other => return text_function(other),
    };
    (open, ", ", ")")
}

fn julia_function(f: Func) -> Call {
    let open = match f {
        Func::Ln => "log(",
        Func::Atan2 => "atan(",
        other => return text_function(other),
    };
    (open, ", ", ")")
}

fn latex_function(f: Func) -> Call {
    let open = match f {
        Func::Sin => "\\sin\\left(",
        Func::Cos => "\\cos\\left(",
        Func::Tan => "\\tan\\left(",
        Func::Asin => "\\arcsin\\left(",
        Func::Acos => "\\arccos\\left(",
        Func::Atan => "\\arctan\\left(",
        Func::Atan2 => "\\operatorname{atan2}\\left(",
        Func::Sinh => "\\sinh\\left(",
        Func::Cosh => "\\cosh\\left(",
        Func::Tanh => "\\tanh\\left(",
        Func::Asinh => "\\operatorname{arsinh}\\left(",
        Func::Acosh => "\\operatorname{arcosh}\\left(",
        Func::Atanh => "\\operatorname{artanh}\\left(",
        Func::Exp => return ("\\mathrm{e}^{", ", ", "}"),
        Func::Ln => "\\ln\\left(",
        Func::Log10 => "\\log_{10}\\left(",
        Func::Sqrt => return ("\\sqrt{", ", ", "}"),
        Func::Abs => return ("\\left|", ", ", "\\right|"),
        Func::Sign => "\\operatorname{sgn}\\left(",
        Func::Min => "\\min\\left(",
        Func::Max => "\\max\\left(",
        Func::Table(_) => "\\left(",
    };
    (open, ", ", "\\right)")
}

fn mathml_function(f: Func) -> Call {
    let open = match f {
        Func::Sin => "<mi>sin</mi><mo>\u{2061}</mo><mrow><mo>(</mo>",
        Func::Cos => "<mi>cos</mi><mo>\u{2061}</mo><mrow><mo>(</mo>",
        Func::Tan => "<mi>tan</mi><mo>\u{2061}</mo><mrow><mo>(</mo>",
        Func::Asin => "<mi>arcsin</mi><mo>\u{2061}</mo><mrow><mo>(</mo>",
        Func::Acos => "<mi>arccos</mi><mo>\u{2061}</mo><mrow><mo>(</mo>",
        Func::Atan => "<mi>arctan</mi><mo>\u{2061}</mo><mrow><mo>(</mo>",
        Func::Atan2 => "<mi>atan2</mi><mo>\u{2061}</mo><mrow><mo>(</mo>",
        Func::Sinh => "<mi>sinh</mi><mo>\u{2061}</mo><mrow><mo>(</mo>",
        Func::Cosh => "<mi>cosh</mi><mo>\u{2061}</mo><mrow><mo>(</mo>",
        Func::Tanh => "<mi>tanh</mi><mo>\u{2061}</mo><mrow><mo>(</mo>",
        Func::Asinh => "<mi>arsinh</mi><mo>\u{2061}</mo><mrow><mo>(</mo>",
        Func::Acosh => "<mi>arcosh</mi><mo>\u{2061}</mo><mrow><mo>(</mo>",
        Func::Atanh => "<mi>artanh</mi><mo>\u{2061}</mo><mrow><mo>(</mo>",
        Func::Exp => return ("<msup><mi mathvariant=\"normal\">e</mi><mrow>", "", "</mrow></msup>"),
        Func::Ln => "<mi>ln</mi><mo>\u{2061}</mo><mrow><mo>(</mo>",
        Func::Log10 => "<msub><mi>log</mi><mn>10</mn></msub><mo>\u{2061}</mo><mrow><mo>(</mo>",
        Func::Sqrt => return ("<msqrt>", "", "</msqrt>"),
        Func::Abs => return ("<mrow><mo>|</mo>", "", "<mo>|</mo></mrow>"),
        Func::Sign => "<mi>sgn</mi><mo>\u{2061}</mo><mrow><mo>(</mo>",
        Func::Min => "<mi>min</mi><mo>\u{2061}</mo><mrow><mo>(</mo>",
        Func::Max => "<mi>max</mi><mo>\u{2061}</mo><mrow><mo>(</mo>",
        Func::Table(_) => "<mrow><mo>(</mo>",
    };
    (open, "<mo>,</mo>", "<mo>)</mo></mrow>")
}
