//! The uncertainties of a model: which δ each uncertain quantity has, and where in the coefficients it stands.

use std::collections::BTreeMap;

use paynter_algebra::{Expr, Interval, Node, Pool, Symbol};
use paynter_base::number;
use paynter_graph::{BondGraph, ElementId, Parameter, Tolerance, flat_name};

use crate::limits::{LEAST_SIDE, MOST_FACTORS};
use crate::model::{Block, Quantity, Request, Uncertainty};

/// An uncertain quantity, by its place in [`Deltas`].
#[derive(Debug, Clone)]
pub(crate) struct Uncertain {
    pub name: String,
    pub quantity: Quantity,
    pub uncertainty: Uncertainty,
    /// The nominal value: the parameter's symbol, or an expression.
    pub value: Expr,
    pub number: f64,
}

/// What a value that is uncertain as a whole is called, and the element whose it is.
#[derive(Debug, Clone)]
pub(crate) struct Whole {
    pub name: String,
    pub element: Option<ElementId>,
}

/// The uncertain quantities of a model.
pub(crate) struct Deltas {
    pub list: Vec<Uncertain>,
    /// By symbol of an uncertain parameter.
    pub place: BTreeMap<Symbol, usize>,
    normalized: bool,
}

/// Where a parameter stands in coefficients.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Occurrence {
    multiplies: bool,
    divides: bool,
}

impl Deltas {
    /// Chooses δ of every parameter by where it stands in the coefficients of all rows.
    pub fn new(pool: &mut Pool, graph: &BondGraph, request: &Request, coefficients: &[Expr]) -> Deltas {
        let mut occurrences: BTreeMap<Symbol, Occurrence> = BTreeMap::new();
        let reached = pool.reachable(coefficients);
        for node in coefficients.iter().copied().chain(reached.iter().copied()) {
            match pool.node(node) {
                Node::Power(base, exponent) if pool.as_int(exponent).is_some_and(|n| n < 0) => {
                    if let Some(symbol) = pool.as_symbol(base) {
                        occurrences.entry(symbol).or_default().divides = true;
                    }
                }
                _ => {
                    for child in pool.children(node) {
                        if let Some(symbol) = pool.as_symbol(*child) {
                            occurrences.entry(symbol).or_default().multiplies = true;
                        }
                    }
                }
            }
        }
        for coefficient in coefficients {
            if let Some(symbol) = pool.as_symbol(*coefficient) {
                occurrences.entry(symbol).or_default().multiplies = true;
            }
        }
        let (mut list, mut place) = (Vec::new(), BTreeMap::new());
        for &k in &request.parameters {
            let parameter = &graph.parameters[k];
            let Some(occurrence) = occurrences.get(&parameter.symbol) else { continue };
            let uncertainty = match (request.normalized, parameter.number == 0.0) {
                (true, true) => Uncertainty::ScaledAbsolute(absolute_tolerance(parameter)),
                (true, false) => {
                    Uncertainty::Scaled(relative_tolerance(parameter) * parameter.number.signum())
                }
                (false, true) => Uncertainty::Absolute,
                (false, false) if occurrence.multiplies => Uncertainty::Relative,
                (false, false) => Uncertainty::Reciprocal,
            };
            place.insert(parameter.symbol, list.len());
            list.push(Uncertain {
                name: flat_name(&parameter.name),
                quantity: Quantity::Parameter(k),
                uncertainty,
                value: pool.var(parameter.symbol),
                number: parameter.number,
            });
        }
        Deltas { list, place, normalized: request.normalized }
    }

    /// Whether an expression depends on an uncertain parameter.
    pub fn inside(&self, pool: &Pool, e: Expr) -> bool {
        pool.symbols(e).iter().any(|symbol| self.place.contains_key(symbol))
    }

    /// Whether a symbol is that of an uncertain parameter that is zero neither nominally nor within its tolerance.
    pub fn never_vanishes(&self, symbol: Symbol) -> bool {
        self.place.get(&symbol).is_some_and(|place| match self.list[*place].uncertainty {
            Uncertainty::Relative | Uncertainty::Reciprocal => true,
            Uncertainty::Scaled(r) => r.abs() < 1.0,
            _ => false,
        })
    }

    /// Whether an expression is rational in all uncertain parameters, with exponents that can be realised.
    pub fn is_rational(&self, pool: &Pool, e: Expr) -> bool {
        pool.reachable(&[e]).into_iter().filter(|node| self.inside(pool, *node)).all(|node| {
            match pool.node(node) {
                Node::Symbol(_) | Node::Sum(_) | Node::Product(_) => true,
                Node::Power(_, exponent) => {
                    pool.as_int(exponent).is_some_and(|n| n.unsigned_abs() <= MOST_FACTORS as u64)
                }
                _ => false,
            }
        })
    }

    /// The uncertain quantity that a value is which is not rational in parameters.
    pub fn value(&mut self, pool: &mut Pool, graph: &BondGraph, whole: &Whole, value: Expr) -> usize {
        let same = |known: &Uncertain| matches!(&known.quantity, Quantity::Value { value: other, .. } if *other == value);
        if let Some(known) = self.list.iter().position(same) {
            return known;
        }
        let base = &whole.name;
        let (mut name, mut number) = (base.clone(), 1);
        while self.list.iter().any(|known| known.name == name) {
            number += 1;
            name = format!("{base}_{number}");
        }
        let number = pool.eval(value, &|symbol| nominal(graph, symbol)).unwrap_or(f64::NAN);
        let uncertainty = match (self.normalized, number == 0.0) {
            (true, _) => self.between(pool, graph, value, number),
            (false, true) => Uncertainty::Absolute,
            (false, false) => Uncertainty::Relative,
        };
        self.list.push(Uncertain {
            name,
            quantity: Quantity::Value { element: whole.element, value },
            uncertainty,
            value,
            number,
        });
        self.list.len() - 1
    }

    /// The range that a value has while parameters are within their tolerances.
    fn between(&self, pool: &Pool, graph: &BondGraph, value: Expr, nominal_value: f64) -> Uncertainty {
        let range = pool.range(value, &|symbol| {
            let parameter = graph.parameters.iter().find(|parameter| parameter.symbol == symbol);
            match parameter {
                Some(parameter) if self.place.contains_key(&symbol) => {
                    let t = absolute_tolerance(parameter);
                    Interval::closed(parameter.number - t, parameter.number + t)
                }
                Some(parameter) => Interval::point(parameter.number),
                None => Interval::ALL,
            }
        });
        let (above, below) = ((range.hi() - nominal_value).abs(), (nominal_value - range.lo()).abs());
        let largest = above.max(below);
        if largest == 0.0 || !largest.is_finite() {
            return Uncertainty::Between { size: largest, bend: 0.0 };
        }
        // p_n + a/(1 + b) is the upper end, p_n − a/(1 − b) the lower one.
        let (above, below) = (above.max(LEAST_SIDE * largest), below.max(LEAST_SIDE * largest));
        let sum = above + below;
        Uncertainty::Between { size: 2.0 * above * below / sum, bend: (below - above) / sum }
    }

    /// A number as an exact expression with the digits it has.
    pub fn exact(pool: &mut Pool, value: f64) -> Expr {
        let one = pool.one();
        pool.decimal(&number::exact(value)).unwrap_or(one)
    }
}

impl Block {
    /// The least and the largest δ while the parameter is within its tolerance; none where it has no tolerance, or
    /// where δ has no bound.
    pub fn range(&self, graph: &BondGraph) -> Option<(f64, f64)> {
        if let Uncertainty::Scaled(_) | Uncertainty::ScaledAbsolute(_) | Uncertainty::Between { .. } =
            self.uncertainty
        {
            return Some((-1.0, 1.0));
        }
        let Quantity::Parameter(place) = self.quantity else { return None };
        let parameter = &graph.parameters[place];
        parameter.tolerance?;
        let r = relative_tolerance(parameter);
        match self.uncertainty {
            Uncertainty::Absolute => Some(absolute_tolerance(parameter)).map(|t| (-t, t)),
            // -x/(1 + x) falls with x.
            Uncertainty::Reciprocal => (r < 1.0).then(|| (-r / (1.0 + r), r / (1.0 - r))),
            _ => Some((-r, r)),
        }
    }
}

/// The nominal value of a parameter.
pub(crate) fn nominal(graph: &BondGraph, symbol: Symbol) -> Option<f64> {
    graph.parameters.iter().find(|parameter| parameter.symbol == symbol).map(|parameter| parameter.number)
}

/// How far a parameter may be off, relatively; zero where it has no tolerance.
fn relative_tolerance(parameter: &Parameter) -> f64 {
    match parameter.tolerance {
        Some(Tolerance::Relative(r)) => r,
        Some(Tolerance::Absolute(t)) => t / parameter.number.abs(),
        None => 0.0,
    }
}

/// How far a parameter may be off in SI; zero where it has no tolerance.
fn absolute_tolerance(parameter: &Parameter) -> f64 {
    match parameter.tolerance {
        Some(Tolerance::Relative(r)) => r * parameter.number.abs(),
        Some(Tolerance::Absolute(t)) => t,
        None => 0.0,
    }
}
