//! The spellings of each target.

use crate::node::{Cmp, Func};

/// How a target writes powers.
#[derive(Clone, Copy)]
pub(crate) enum Power {
    /// Between base and exponent.
    Infix(&'static str),
}

/// How a target writes quotients.
#[derive(Clone, Copy)]
pub(crate) enum Quotient {
    /// Between dividend and divisor.
    Infix(&'static str),
}

/// Names a target notation.
pub struct Dialect {
    pub(crate) add: &'static str,
    pub(crate) subtract: &'static str,
    pub(crate) negative: &'static str,
    pub(crate) multiply: &'static str,
    pub(crate) power: Power,
    pub(crate) quotient: Quotient,
    pub(crate) parentheses: (&'static str, &'static str),
    pub(crate) call: (&'static str, &'static str, &'static str),
    pub(crate) root: (&'static str, &'static str),
    pub(crate) pi: &'static str,
    pub(crate) truth: (&'static str, &'static str),
    pub(crate) and: &'static str,
    pub(crate) or: &'static str,
    pub(crate) not: &'static str,
    pub(crate) compare: fn(Cmp) -> &'static str,
    pub(crate) function: fn(Func) -> &'static str,
    pub(crate) select: (&'static str, &'static str, &'static str, &'static str),
}

pub(crate) static TEXT: Dialect = Dialect {
    add: " + ",
    subtract: " - ",
    negative: "-",
    multiply: "*",
    power: Power::Infix("^"),
    quotient: Quotient::Infix("/"),
    parentheses: ("(", ")"),
    call: ("(", ", ", ")"),
    root: ("sqrt(", ")"),
    pi: "pi",
    truth: ("true", "false"),
    and: " and ",
    or: " or ",
    not: "not ",
    compare: text_compare,
    function: Func::name,
    select: ("if(", ", ", ", ", ")"),
};

fn text_compare(op: Cmp) -> &'static str {
    match op {
        Cmp::Lt => " < ",
        Cmp::Le => " <= ",
        Cmp::Gt => " > ",
        Cmp::Ge => " >= ",
        Cmp::Eq => " == ",
        Cmp::Ne => " != ",
    }
}
