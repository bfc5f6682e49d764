//! Reads a rational function of the Laplace variable s in numbers, over parameters of a model.

use crate::model::{BondGraph, flat_name};
use crate::settings::read;
use paynter_base::{Diagnostic, SourceMap, closest, code};
use paynter_language::ast::{BinaryOp, Expr, ExprKind, UnaryOp};

/// The highest power of an expression: a weight has a few states.
const HIGHEST_POWER: u32 = 20;

/// A quotient of polynomials in s by their coefficients, of the zeroth power first.
#[derive(Debug, Clone, PartialEq)]
pub struct RationalFunction {
    /// The numerator.
    pub numerator: Vec<f64>,
    /// The denominator.
    pub denominator: Vec<f64>,
}

/// Reads a rational function such as `(0.1*s + k)/(s + 1)`; parameters have the values that they have in the graph.
pub fn rational_function(text: &str, graph: &BondGraph) -> Result<RationalFunction, Box<Diagnostic>> {
    let wrong = |what: String| Box::new(Diagnostic::new(code::BAD_RADIUS, format!("`{text}`: {what}")));
    let param = read(text, &mut SourceMap::new()).filter(|param| param.unit.is_none());
    let value =
        param.and_then(|param| param.value).ok_or_else(|| wrong("this is no expression".to_owned()))?;
    function(&value, graph).map_err(wrong)
}

fn function(expr: &Expr, graph: &BondGraph) -> Result<RationalFunction, String> {
    let refused = || Err("only sums, products, quotients and powers make a transfer function".to_owned());
    match &expr.kind {
        ExprKind::Number(text) => {
            text.parse().map(RationalFunction::constant).map_err(|_| format!("`{text}` is no number"))
        }
        ExprKind::Path(path) => {
            let names: Vec<&str> = path.segments.iter().map(|segment| segment.name.text.as_str()).collect();
            match names.join(".") {
                name if name == "s" => {
                    Ok(RationalFunction { numerator: vec![0.0, 1.0], denominator: vec![1.0] })
                }
                name => parameter(&name, graph).map(RationalFunction::constant),
            }
        }
        ExprKind::Unary(UnaryOp::Neg, inner) => {
            Ok(function(inner, graph)?.times(&RationalFunction::constant(-1.0)))
        }
        ExprKind::Binary(BinaryOp::Pow, base, exponent) => {
            let (base, exponent) = (function(base, graph)?, function(exponent, graph)?);
            let exponent =
                exponent.as_number().filter(|n| n.fract() == 0.0 && n.abs() <= f64::from(HIGHEST_POWER));
            let Some(exponent) = exponent else {
                return Err(format!("powers are whole numbers up to {HIGHEST_POWER}"));
            };
            let base = if exponent < 0.0 { base.inverse() } else { base };
            let one = RationalFunction::constant(1.0);
            Ok((0..exponent.abs() as u32).fold(one, |power, _| power.times(&base)))
        }
        ExprKind::Binary(operator, left, right) => {
            let (left, right) = (function(left, graph)?, function(right, graph)?);
            match operator {
                BinaryOp::Add => Ok(left.plus(&right)),
                BinaryOp::Sub => Ok(left.plus(&right.times(&RationalFunction::constant(-1.0)))),
                BinaryOp::Mul => Ok(left.times(&right)),
                BinaryOp::Div => Ok(left.times(&right.inverse())),
                _ => refused(),
            }
        }
        _ => refused(),
    }
}

/// The value of a parameter.
fn parameter(name: &str, graph: &BondGraph) -> Result<f64, String> {
    let known: Vec<String> = graph.parameters.iter().map(|parameter| flat_name(&parameter.name)).collect();
    match known.iter().position(|known| *known == flat_name(name)) {
        Some(place) => Ok(graph.parameters[place].number),
        None => Err(match closest(name, known.iter().map(String::as_str)) {
            Some(near) => format!("the model has no parameter `{name}`; did you mean `{near}`?"),
            None => format!("the model has no parameter `{name}`, and the Laplace variable is `s`"),
        }),
    }
}

impl RationalFunction {
    fn constant(value: f64) -> RationalFunction {
        RationalFunction { numerator: vec![value], denominator: vec![1.0] }
    }

    fn as_number(&self) -> Option<f64> {
        match (self.numerator.as_slice(), self.denominator.as_slice()) {
            ([numerator], [denominator]) => Some(numerator / denominator),
            _ => None,
        }
    }

    fn inverse(&self) -> RationalFunction {
        RationalFunction { numerator: self.denominator.clone(), denominator: self.numerator.clone() }
    }

    fn times(&self, other: &RationalFunction) -> RationalFunction {
        RationalFunction {
            numerator: product(&self.numerator, &other.numerator),
            denominator: product(&self.denominator, &other.denominator),
        }
    }

    fn plus(&self, other: &RationalFunction) -> RationalFunction {
        if self.denominator == other.denominator {
            return RationalFunction {
                numerator: sum(&self.numerator, &other.numerator),
                denominator: self.denominator.clone(),
            };
        }
        let left = product(&self.numerator, &other.denominator);
        let right = product(&other.numerator, &self.denominator);
        RationalFunction {
            numerator: sum(&left, &right),
            denominator: product(&self.denominator, &other.denominator),
        }
    }
}

fn product(left: &[f64], right: &[f64]) -> Vec<f64> {
    let mut made = vec![0.0; left.len() + right.len() - 1];
    for (i, x) in left.iter().enumerate() {
        for (j, y) in right.iter().enumerate() {
            made[i + j] += x * y;
        }
    }
    made
}

fn sum(left: &[f64], right: &[f64]) -> Vec<f64> {
    let entry = |list: &[f64], k: usize| list.get(k).copied().unwrap_or(0.0);
    (0..left.len().max(right.len())).map(|k| entry(left, k) + entry(right, k)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotients_of_polynomials() {
        let read = |text: &str| rational_function(text, &BondGraph::default());
        let found = read("(0.1*s + 0.01)/(0.05*s + 1)").unwrap();
        assert_eq!((found.numerator, found.denominator), (vec![0.01, 0.1], vec![1.0, 0.05]));
        let found = read("1 - 2/(s+1)^2").unwrap();
        assert_eq!((found.numerator, found.denominator), (vec![-1.0, 2.0, 1.0], vec![1.0, 2.0, 1.0]));
        assert_eq!(read("0.2").unwrap().as_number(), Some(0.2));
        for bad in ["", "sin(s)", "2*k", "s^0.5", "s^s", "2 [V]", "s < 1", "s^1000"] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }
}
