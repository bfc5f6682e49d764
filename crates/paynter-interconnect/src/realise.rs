//! The realisation of uncertain coefficients: y = c(p) s becomes y = c(p_n) s + …w, with an auxiliary output z and
//! an auxiliary input w = δ z for every operation with an uncertain parameter.

use std::collections::BTreeMap;

use paynter_algebra::poly::readable;
use paynter_algebra::{Expr, Node, Pool, Symbol};
use paynter_base::CancellationToken;
use paynter_graph::{BondGraph, Class, ElementId, Law, flat_name};
use paynter_transform::Place;

use crate::delta::{Deltas, Whole, nominal};
use crate::fewest::{fewest, scheme};
use crate::form::Form;
use crate::limits::LONGEST_COEFFICIENT;
use crate::model::{Procedure, Uncertainty};
use crate::rows::{Row, Unsuitable};

/// A channel with its auxiliary output.
pub(crate) struct Pair {
    pub quantity: usize,
    pub w: Symbol,
    pub z: Form,
    pub element: Option<ElementId>,
    pub differentiated: bool,
    /// Where w is added to what enters an element: that signal, and the weight of w.
    pub entering: Option<(Form, Expr)>,
}

/// A row whose coefficients are nominal.
#[derive(Clone)]
pub(crate) struct NominalRow {
    /// What it gives; nothing where the form is zero.
    pub unknown: Option<Symbol>,
    pub form: Form,
}

/// What a quantity does with a signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Operation {
    Multiply,
    Divide,
}

/// Realises the coefficients of rows.
pub(crate) struct Realiser<'a> {
    pub pool: &'a mut Pool,
    pub graph: &'a BondGraph,
    pub deltas: Deltas,
    procedure: Procedure,
    pub pairs: Vec<Pair>,
    /// Quotients by sums, each an unknown of its own.
    pub more: Vec<NominalRow>,
    memo: BTreeMap<(usize, Operation, Form), Form>,
    /// The row at hand.
    element: Option<ElementId>,
    place: Option<Place>,
    differentiated: bool,
    /// By uncertain parameter: how many coefficients of the row it is in.
    shared: BTreeMap<Symbol, usize>,
}

impl<'a> Realiser<'a> {
    pub fn new(
        pool: &'a mut Pool,
        graph: &'a BondGraph,
        deltas: Deltas,
        procedure: Procedure,
    ) -> Realiser<'a> {
        Realiser {
            pool,
            graph,
            deltas,
            procedure,
            pairs: Vec::new(),
            more: Vec::new(),
            memo: BTreeMap::new(),
            element: None,
            place: None,
            differentiated: false,
            shared: BTreeMap::new(),
        }
    }

    /// The row with nominal coefficients and auxiliary inputs.
    pub fn row(&mut self, row: &Row, parts: &[(Symbol, Expr)]) -> NominalRow {
        (self.element, self.place, self.differentiated) = (row.element, row.place, row.order > 0);
        self.shared.clear();
        for (_, coefficient) in parts {
            for symbol in self.pool.symbols(*coefficient) {
                *self.shared.entry(symbol).or_default() += 1;
            }
        }
        let mut form = Form::default();
        let mut uncertain: Vec<(Expr, Form)> = Vec::new();
        for (symbol, coefficient) in parts {
            let alone = Form::variable(self.pool, *symbol);
            if !self.deltas.inside(self.pool, *coefficient) {
                form.add(self.pool, *coefficient, &alone);
                continue;
            }
            // Coefficients that are multiples of one another, as in K (a - b), act on one signal.
            let shared = uncertain.iter().position(|(leader, _)| {
                let ratio = self.pool.div(*coefficient, *leader);
                !self.deltas.inside(self.pool, ratio)
            });
            match shared {
                Some(k) => {
                    let ratio = self.pool.div(*coefficient, uncertain[k].0);
                    let mut signal = std::mem::take(&mut uncertain[k].1);
                    signal.add(self.pool, ratio, &alone);
                    uncertain[k].1 = signal;
                }
                None => uncertain.push((*coefficient, alone)),
            }
        }
        let one = self.pool.one();
        for (coefficient, signal) in uncertain {
            let value = self.coefficient(coefficient, &signal);
            form.add(self.pool, one, &value);
        }
        NominalRow { unknown: row.unknown, form }
    }

    /// A whole coefficient times a signal.
    fn coefficient(&mut self, coefficient: Expr, signal: &Form) -> Form {
        // Shared parts would be realised once for each place they stand in: lowest terms may have none.
        let is_long = |pool: &Pool, e: Expr| pool.written_size(&[e]) > LONGEST_COEFFICIENT;
        let short = match is_long(self.pool, coefficient) {
            true => readable(self.pool, coefficient, &CancellationToken::new()),
            false => coefficient,
        };
        if !is_long(self.pool, short) && self.deltas.is_rational(self.pool, short) {
            let form = fewest(self.pool, &self.deltas, short, &CancellationToken::new());
            return self.times(form, signal);
        }
        for (whole, value) in self.wholes() {
            let product = self.pool.mul(coefficient, value);
            let ratio = self.pool.div(coefficient, value);
            for (rest, operation) in [(ratio, Operation::Multiply), (product, Operation::Divide)] {
                if !self.deltas.inside(self.pool, rest) {
                    let quantity = self.deltas.value(self.pool, self.graph, &whole, value);
                    let scaled = signal.scaled(self.pool, rest);
                    return self.operate(quantity, operation, &scaled);
                }
            }
        }
        // What differs by its sign only has one δ.
        let at = |symbol| nominal(self.graph, symbol);
        let minus = self.pool.int(-1);
        let (value, signal) = match self.pool.eval(coefficient, &at).is_ok_and(|number| number < 0.0) {
            true => (self.pool.neg(coefficient), signal.scaled(self.pool, minus)),
            false => (coefficient, signal.clone()),
        };
        let whole = Whole { name: self.place_name(), element: self.element };
        let quantity = self.deltas.value(self.pool, self.graph, &whole, value);
        self.operate(quantity, Operation::Multiply, &signal)
    }

    /// The values that the coefficients of the row at hand may be, which people know by a name: that of the element,
    /// where nothing but parameters stands in it, and derived parameters.
    fn wholes(&self) -> Vec<(Whole, Expr)> {
        let constant = |value: Expr| {
            let symbols = self.pool.symbols(value);
            symbols.iter().all(|symbol| nominal(self.graph, *symbol).is_some())
        };
        let own = self.element.and_then(|id| match self.graph.element(id).law {
            Law::Value(value) if constant(value) => {
                Some((Whole { name: flat_name(&self.graph.element(id).name), element: Some(id) }, value))
            }
            _ => None,
        });
        let derived = self.graph.derived.iter().map(|derived| {
            let whole = Whole { name: flat_name(&derived.name), element: self.element };
            (whole, derived.value)
        });
        own.into_iter().chain(derived.filter(|(_, value)| self.deltas.inside(self.pool, *value))).collect()
    }

    /// What the row at hand is of: an element, a signal or an output.
    fn place_name(&self) -> String {
        let name = match (self.element, self.place) {
            (Some(id), _) => Some(&self.graph.element(id).name),
            (None, Some(Place::Signal(k))) => self.graph.signals.get(k).map(|signal| &signal.name),
            (None, Some(Place::Output(k))) => self.graph.outputs.get(k).map(|output| &output.name),
            (None, Some(Place::Rate(k))) => self.graph.integrators.get(k).map(|integrator| &integrator.name),
            _ => None,
        };
        name.map_or_else(|| "value".to_owned(), |name| flat_name(name))
    }

    /// A rational coefficient times a signal.
    fn times(&mut self, c: Expr, signal: &Form) -> Form {
        if !self.deltas.inside(self.pool, c) {
            return signal.scaled(self.pool, c);
        }
        match self.pool.node(c) {
            Node::Symbol(symbol) => match self.deltas.place.get(&symbol) {
                Some(quantity) => self.operate(*quantity, Operation::Multiply, signal),
                None => signal.scaled(self.pool, c),
            },
            Node::Product(factors) => {
                let factors = factors.to_vec();
                self.product(&factors, signal)
            }
            Node::Power(base, exponent) => {
                let (base, exponent) = (base, self.pool.as_int(exponent).unwrap_or(1));
                let mut value = signal.clone();
                for _ in 0..exponent.unsigned_abs() {
                    value = if exponent > 0 { self.times(base, &value) } else { self.over(base, &value) };
                }
                value
            }
            Node::Sum(terms) => {
                let terms = terms.to_vec();
                self.sum(c, &terms, signal)
            }
            _ => signal.scaled(self.pool, c),
        }
    }

    /// Factor by factor: first what is certain, or last where auxiliary inputs stand at what enters.
    fn product(&mut self, factors: &[Expr], signal: &Form) -> Form {
        let (mut uncertain, certain): (Vec<Expr>, Vec<Expr>) =
            factors.iter().partition(|factor| self.deltas.inside(self.pool, **factor));
        // What many coefficients share acts last, where its channels are one.
        uncertain.sort_by_key(|factor| {
            let symbols = self.pool.symbols(*factor);
            symbols.iter().filter_map(|symbol| self.shared.get(symbol)).max().copied()
        });
        let certain = self.pool.product(&certain);
        let at_input = self.at_input();
        let mut value = if at_input { signal.clone() } else { signal.scaled(self.pool, certain) };
        for factor in uncertain {
            value = self.times(factor, &value);
        }
        if at_input { value.scaled(self.pool, certain) } else { value }
    }

    /// A sum by Horner's scheme in a parameter that it is a polynomial in, else term by term.
    fn sum(&mut self, c: Expr, terms: &[Expr], signal: &Form) -> Form {
        let one = self.pool.one();
        let scheme = scheme(self.pool, &self.deltas, c);
        let mut value = Form::default();
        let Some((quantity, coefficients)) =
            scheme.and_then(|found| Some((*self.deltas.place.get(&found.symbol)?, found.coefficients)))
        else {
            for term in terms {
                let part = self.times(*term, signal);
                value.add(self.pool, one, &part);
            }
            return value;
        };
        for coefficient in coefficients.iter().rev() {
            if !value.0.is_empty() {
                value = self.operate(quantity, Operation::Multiply, &value);
            }
            let part = self.times(*coefficient, signal);
            value.add(self.pool, one, &part);
        }
        value
    }

    /// A signal divided by a rational expression.
    fn over(&mut self, divisor: Expr, signal: &Form) -> Form {
        if let Some(quantity) = self.pool.as_symbol(divisor).and_then(|s| self.deltas.place.get(&s).copied())
        {
            return self.operate(quantity, Operation::Divide, signal);
        }
        // y = s/c is the unknown of 0 = c y - s.
        let quotient = self.pool.fresh("quotient");
        let alone = Form::variable(self.pool, quotient);
        let mut form = self.times(divisor, &alone);
        let minus = self.pool.int(-1);
        form.add(self.pool, minus, signal);
        self.more.push(NominalRow { unknown: None, form });
        Form::variable(self.pool, quotient)
    }

    /// Whether auxiliary inputs stand at what enters the element at hand.
    fn at_input(&self) -> bool {
        let converter = self
            .element
            .is_some_and(|id| matches!(self.graph.element(id).class(), Class::Transformer | Class::Gyrator));
        self.procedure == Procedure::Existing && converter
    }

    /// An uncertain quantity times a signal, or a signal divided by it: one channel, shared where the same is
    /// done with the same signal.
    fn operate(&mut self, quantity: usize, operation: Operation, signal: &Form) -> Form {
        let key = (quantity, operation, signal.clone());
        if let Some(known) = self.memo.get(&key) {
            return known.clone();
        }
        let (value, uncertainty) = (self.deltas.list[quantity].value, self.deltas.list[quantity].uncertainty);
        let w = self.pool.fresh("w");
        let auxiliary = Form::variable(self.pool, w);
        let factor = match operation {
            Operation::Multiply => value,
            Operation::Divide => {
                let one = self.pool.one();
                self.pool.div(one, value)
            }
        };
        if let Uncertainty::Between { size, bend } = uncertainty {
            let y = self.bent(quantity, operation, signal, &auxiliary, factor, (size, bend));
            self.memo.insert(key, y.clone());
            return y;
        }
        // y = c s + a w with w = δ z.
        let (one, minus) = (self.pool.one(), self.pool.int(-1));
        let (weight, back) = match (operation, uncertainty) {
            // p (1 + δ) s, and (1 + δ)/p s.
            (Operation::Multiply, Uncertainty::Relative | Uncertainty::Absolute)
            | (Operation::Divide, Uncertainty::Reciprocal) => (one, false),
            (Operation::Multiply, Uncertainty::Scaled(r) | Uncertainty::ScaledAbsolute(r)) => {
                (Deltas::exact(self.pool, r), false)
            }
            // y = s/(p (1 + r δ)): y = s/p - r w with w = δ y; and p s/(1 + δ) with the reciprocal δ.
            (Operation::Divide, Uncertainty::Scaled(r) | Uncertainty::ScaledAbsolute(r)) => {
                let r = Deltas::exact(self.pool, r);
                (self.pool.neg(r), true)
            }
            _ => (minus, true),
        };
        let absolute = matches!(uncertainty, Uncertainty::Absolute | Uncertainty::ScaledAbsolute(_));
        let (y, z) = if absolute {
            // The nominal value is zero: y = p s + t w with w = δ s.
            let mut y = signal.scaled(self.pool, factor);
            y.add(self.pool, weight, &auxiliary);
            (y, signal.clone())
        } else if self.at_input() {
            let mut moved = signal.clone();
            moved.add(self.pool, weight, &auxiliary);
            let z = if back { moved.clone() } else { signal.clone() };
            (moved.scaled(self.pool, factor), z)
        } else {
            let nominal = signal.scaled(self.pool, factor);
            let mut y = nominal.clone();
            y.add(self.pool, weight, &auxiliary);
            let z = if back { y.clone() } else { nominal };
            (y, z)
        };
        let (element, differentiated) = (self.element, self.differentiated);
        let entering = (self.at_input() && !absolute).then(|| (signal.clone(), weight));
        self.pairs.push(Pair { quantity, w, z, element, differentiated, entering });
        self.memo.insert(key, y.clone());
        y
    }
}

impl Realiser<'_> {
    /// The same for p = p_n + a δ/(1 + b δ): y = p_n s + a w with z = s − b w, or y = (s − a w)/p_n with z = y − b w.
    fn bent(
        &mut self,
        quantity: usize,
        operation: Operation,
        signal: &Form,
        auxiliary: &Form,
        factor: Expr,
        (size, bend): (f64, f64),
    ) -> Form {
        let (a, b) = (Deltas::exact(self.pool, size), Deltas::exact(self.pool, -bend));
        let (y, mut z) = match operation {
            Operation::Multiply => {
                let mut y = signal.scaled(self.pool, factor);
                y.add(self.pool, a, auxiliary);
                (y, signal.clone())
            }
            Operation::Divide => {
                let mut left = signal.clone();
                let minus = self.pool.neg(a);
                left.add(self.pool, minus, auxiliary);
                let y = left.scaled(self.pool, factor);
                (y.clone(), y)
            }
        };
        if bend != 0.0 {
            z.add(self.pool, b, auxiliary);
        }
        let (element, differentiated) = (self.element, self.differentiated);
        let w = auxiliary.0.keys().copied().next();
        self.pairs.extend(w.map(|w| Pair { quantity, w, z, element, differentiated, entering: None }));
        y
    }
}

/// The coefficients of a row by variable.
pub(crate) fn parts(
    pool: &mut Pool,
    graph: &BondGraph,
    row: &Row,
) -> Result<Vec<(Symbol, Expr)>, Unsuitable> {
    let time = graph.variables.symbol(paynter_graph::Variable::Time);
    let constant = |symbol: &Symbol| {
        Some(*symbol) == time
            || matches!(graph.variables.meaning(*symbol), Some(paynter_graph::Variable::Parameter(_)))
    };
    let symbols: Vec<Symbol> =
        pool.symbols(row.value).into_iter().filter(|symbol| !constant(symbol)).collect();
    let (coefficients, _) = pool.linear_parts(row.value, &symbols).ok_or(Unsuitable::Nonlinear)?;
    let zero = pool.zero();
    let list: Vec<(Symbol, Expr)> =
        symbols.into_iter().zip(coefficients).filter(|(_, c)| *c != zero).collect();
    match time {
        Some(time) if list.iter().any(|(_, c)| pool.depends_on(*c, time)) => Err(Unsuitable::Nonlinear),
        _ => Ok(list),
    }
}
