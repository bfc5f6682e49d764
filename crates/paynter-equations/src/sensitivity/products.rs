//! Sensitivities as products, the form an engineer reads:
//!
//! ∂H/∂p = Σ (transfer from a sink at the place to the output) × (transfer from the input to what feeds the sink)
//!
//! over the places where the parameter stands: one for R, C and I, two for TF
//! and GY. This is the incremental bond graph read as two transfer functions.
//! It works on every effort, flow and signal as its own element computes it,
//! so that a place is an element's own law and not a matrix entry.

use std::collections::BTreeMap;

use paynter_algebra::poly::{Basis, Budget, Matrix, Poly, PolyError, Work, readable};
use paynter_algebra::{Expr, Pool, Symbol};
use paynter_base::CancellationToken;
use paynter_graph::{BondGraph, ElementId, Stored, Variable};
use rustc_hash::FxHashMap;

use super::Parameter;
use super::quotient::Quotient;
use crate::tolerance::PRODUCT_UNKNOWNS;
use crate::{Equations, QueryError};

/// The product forms of all sensitivities.
#[derive(Debug, Clone)]
pub struct Products {
    /// Places by parameter.
    pub places: Vec<Vec<Place>>,
}

/// One place where a parameter stands.
#[derive(Debug, Clone)]
pub struct Place {
    /// The element in whose law it stands; none for signals and outputs.
    pub element: Option<ElementId>,
    /// The effort, flow, state or signal that the sink adds to: `winding.e`.
    pub sink: String,
    /// What feeds the sink for a unit change of the parameter, over nominal variables.
    pub quantity: Expr,
    /// Transfer functions from the sink to each output.
    pub from_sink: Vec<Ratio>,
    /// Transfer functions from each input to the quantity.
    pub to_quantity: Vec<Ratio>,
}

/// A rational function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ratio {
    /// Numerator.
    pub num: Expr,
    /// Denominator.
    pub den: Expr,
}

/// Finds the product forms of a linear model; none where its laws are only
/// linear as a whole, or where they would be too long to be written out.
pub fn products(
    pool: &mut Pool,
    graph: &BondGraph,
    equations: &Equations,
    parameters: &[Parameter],
    budget: Budget,
    token: &CancellationToken,
) -> Result<Option<Products>, QueryError> {
    let work = Work::new(budget, token);
    match find(pool, graph, equations, parameters, &work) {
        Ok(found) => Ok(found),
        Err(PolyError::Cancelled) => Err(QueryError::Cancelled),
        Err(_) => Ok(None),
    }
}

/// A definition: what it defines, over which direct inputs.
struct Law {
    element: Option<ElementId>,
    name: String,
    /// What it computes; none for outputs.
    symbol: Option<Symbol>,
    /// Column of the unknown; none for outputs, whose sink is the output itself.
    column: Option<usize>,
    definition: Expr,
}

/// A place before its transfer functions are known: a law and the parameter it stands in.
struct Occurrence {
    law: usize,
    parameter: usize,
    quantity: Expr,
}

/// A linear form over columns: unknowns, then sinks, then inputs, all times `scale`.
type Form = BTreeMap<usize, Poly>;

fn find(
    pool: &mut Pool,
    graph: &BondGraph,
    equations: &Equations,
    parameters: &[Parameter],
    work: &Work,
) -> Result<Option<Products>, PolyError> {
    let s = pool.symbol("s");
    let mut basis = Basis::new(pool, &[s]);
    let mut columns: FxHashMap<Symbol, usize> = FxHashMap::default();
    let laws = laws(pool, graph, equations, &mut columns);
    let unknowns = columns.len();
    if unknowns > PRODUCT_UNKNOWNS {
        return Ok(None);
    }
    let occurrences = occurrences(pool, &laws, parameters);
    let mut sinks: BTreeMap<usize, usize> = BTreeMap::new();
    for occurrence in &occurrences {
        let next = unknowns + sinks.len();
        sinks.entry(occurrence.law).or_insert(next);
    }
    let first_input = unknowns + sinks.len();
    for (i, input) in equations.inputs.iter().enumerate() {
        columns.insert(input.symbols[0], first_input + i);
    }
    let mut reader = Reader { pool, basis: &mut basis, columns: &columns, work };
    let mut system = Elimination { rows: Vec::new(), forms: Vec::new() };
    let mut scales = Vec::new();
    for (k, law) in laws.iter().enumerate() {
        let Some((mut form, scale)) = reader.form(law.definition)? else { return Ok(None) };
        if let Some(sink) = sinks.get(&k) {
            form.insert(*sink, scale.clone());
        }
        match law.column {
            Some(column) => system.rows.push(minus(form, column, &scale, work)?),
            None => {
                system.forms.push(form);
                scales.push(scale);
            }
        }
    }
    for row in dynamics(reader.pool, graph, equations, &columns, work)? {
        system.rows.push(row);
    }
    let outputs = system.forms.len();
    for occurrence in &occurrences {
        let Some((form, scale)) = reader.form(occurrence.quantity)? else { return Ok(None) };
        system.forms.push(form);
        scales.push(scale);
    }
    let core = system.reduce(unknowns, work)?;
    let mut places: Vec<Vec<Place>> = parameters.iter().map(|_| Vec::new()).collect();
    let inputs: Vec<usize> = (0..equations.inputs.len()).map(|i| first_input + i).collect();
    let list: Vec<usize> = sinks.values().copied().collect();
    // One adjoint solution for each output, one forward solution for each input.
    let mut from_sinks: Vec<BTreeMap<usize, Quotient>> = Vec::new();
    for (form, scale) in core.forms[..outputs].iter().zip(&scales) {
        from_sinks.push(core.by_adjoint(form, scale, &list, work)?);
    }
    let targets: Vec<(&Form, &Poly)> = core.forms[outputs..].iter().zip(&scales[outputs..]).collect();
    let mut to_quantities: Vec<Vec<Quotient>> = Vec::new();
    for input in inputs {
        to_quantities.push(core.by_forward(input, &targets, work)?);
    }
    for (k, occurrence) in occurrences.iter().enumerate() {
        let law = &laws[occurrence.law];
        let to_quantity = ratios(pool, to_quantities.iter().map(|list| &list[k]), &basis, work)?;
        let zero = pool.zero();
        if to_quantity.iter().all(|ratio| ratio.num == zero) {
            continue;
        }
        let sink = sinks[&occurrence.law];
        let from_sink = ratios(pool, from_sinks.iter().map(|list| &list[&sink]), &basis, work)?;
        places[occurrence.parameter].push(Place {
            element: law.element,
            sink: law.name.clone(),
            quantity: occurrence.quantity,
            from_sink,
            to_quantity,
        });
    }
    Ok(Some(Products { places }))
}

/// Writes quotients as expressions.
fn ratios<'q>(
    pool: &mut Pool,
    quotients: impl Iterator<Item = &'q Quotient>,
    basis: &Basis,
    work: &Work,
) -> Result<Vec<Ratio>, PolyError> {
    let mut list = Vec::new();
    for quotient in quotients {
        let (num, den) = quotient.expressions(pool, basis, work)?;
        list.push(Ratio { num, den });
    }
    Ok(list)
}

/// All definitions, with a column for each unknown: what elements and signals
/// compute, states, and the rates of dependent states.
fn laws(
    pool: &mut Pool,
    graph: &BondGraph,
    equations: &Equations,
    columns: &mut FxHashMap<Symbol, usize>,
) -> Vec<Law> {
    let mut column = |symbol: Symbol| {
        let next = columns.len();
        *columns.entry(symbol).or_insert(next)
    };
    let mut laws = Vec::new();
    for assignment in &equations.assignments {
        laws.push(Law {
            element: assignment.element,
            name: pool.name(assignment.symbol).to_owned(),
            symbol: Some(assignment.symbol),
            column: Some(column(assignment.symbol)),
            definition: assignment.definition,
        });
    }
    for assignment in &equations.assignments {
        if matches!(assignment.variable, Variable::State(..)) {
            let rate = format!("der({})", pool.name(assignment.symbol));
            column(pool.symbol(&rate));
        }
    }
    for state in &equations.states {
        column(state.symbol);
        if let Variable::Integrator(k) = state.variable {
            let name = format!("der({})", state.name);
            let rate = pool.symbol(&name);
            let definition = graph.integrators[k as usize].rate;
            laws.push(Law {
                element: None,
                name,
                symbol: Some(rate),
                column: Some(column(rate)),
                definition,
            });
        }
    }
    for output in &graph.outputs {
        laws.push(Law {
            element: None,
            name: paynter_graph::flat_name(&output.name),
            symbol: None,
            column: None,
            definition: output.value,
        });
    }
    laws
}

/// Longer texts are not compared: neither is short.
const COMPARED_LENGTH: usize = 10_000;

/// The quantity by the law's own variable where that is shorter: −f/I instead of −p/I².
fn shortest(pool: &mut Pool, law: &Law, quantity: Expr) -> Expr {
    let Some(symbol) = law.symbol else { return quantity };
    let ratio = pool.div(quantity, law.definition);
    let ratio = readable(pool, ratio, &CancellationToken::new());
    let variable = pool.var(symbol);
    let other = pool.mul(ratio, variable);
    let length = |e: Expr| pool.written_length(e, COMPARED_LENGTH).unwrap_or(COMPARED_LENGTH);
    if length(other) < length(quantity) { other } else { quantity }
}

/// Every law that a parameter stands in.
fn occurrences(pool: &mut Pool, laws: &[Law], parameters: &[Parameter]) -> Vec<Occurrence> {
    let zero = pool.zero();
    let mut occurrences = Vec::new();
    for (k, law) in laws.iter().enumerate() {
        let inside = pool.symbols(law.definition);
        for (parameter, asked) in parameters.iter().enumerate() {
            if inside.binary_search(&asked.symbol).is_err() {
                continue;
            }
            let quantity = pool.diff(law.definition, asked.symbol);
            if quantity != zero && !pool.is_zero(quantity) {
                let quantity = shortest(pool, law, quantity);
                occurrences.push(Occurrence { law: k, parameter, quantity });
            }
        }
    }
    occurrences
}

/// s·x − x' = 0 for each state, dependent or not.
fn dynamics(
    pool: &mut Pool,
    graph: &BondGraph,
    equations: &Equations,
    columns: &FxHashMap<Symbol, usize>,
    work: &Work,
) -> Result<Vec<Form>, PolyError> {
    let s = Poly::variable(0)?;
    let mut rows = Vec::new();
    let mut state = |symbol: Symbol, rate: Option<Symbol>, sign: i64| -> Result<(), PolyError> {
        let mut row = Form::new();
        if let Some(column) = columns.get(&symbol) {
            row.insert(*column, s.clone());
        }
        if let Some(column) = rate.and_then(|rate| columns.get(&rate)) {
            row = minus(row, *column, &Poly::constant(sign), work)?;
        }
        rows.push(row);
        Ok(())
    };
    let dependent: Vec<Symbol> = equations
        .assignments
        .iter()
        .filter(|assignment| matches!(assignment.variable, Variable::State(..)))
        .map(|assignment| assignment.symbol)
        .collect();
    for symbol in &dependent {
        let rate = format!("der({})", pool.name(*symbol));
        state(*symbol, Some(pool.symbol(&rate)), 1)?;
    }
    for entry in equations.states.iter().filter(|entry| !dependent.contains(&entry.symbol)) {
        match entry.variable {
            Variable::State(id, port) => {
                let element = graph.element(id);
                let place = element.ports[port as usize];
                let stored = element.stored().unwrap_or(Stored::Momentum);
                let sign = if stored == Stored::Displacement && !place.into { -1 } else { 1 };
                let variable = stored.rate().of(place.bond);
                state(entry.symbol, graph.variables.symbol(variable), sign)?;
            }
            _ => {
                let rate = pool.symbol(&format!("der({})", entry.name));
                state(entry.symbol, Some(rate), 1)?;
            }
        }
    }
    Ok(rows)
}

/// The form minus a multiple of one column; with all terms on one side a form is an equation.
fn minus(mut form: Form, column: usize, factor: &Poly, work: &Work) -> Result<Form, PolyError> {
    let old = form.remove(&column).unwrap_or_else(Poly::zero);
    let new = old.sub(factor, work)?;
    if !new.is_zero() {
        form.insert(column, new);
    }
    Ok(form)
}

/// Reads expressions as linear forms with polynomial coefficients.
struct Reader<'a> {
    pool: &'a mut Pool,
    basis: &'a mut Basis,
    columns: &'a FxHashMap<Symbol, usize>,
    work: &'a Work,
}

impl Reader<'_> {
    /// The coefficients times a common denominator, and that denominator.
    fn form(&mut self, e: Expr) -> Result<Option<(Form, Poly)>, PolyError> {
        let inside: Vec<Symbol> =
            self.pool.symbols(e).into_iter().filter(|symbol| self.columns.contains_key(symbol)).collect();
        let Some((coefficients, _)) = self.pool.linear_parts(e, &inside) else { return Ok(None) };
        let fractions = self.basis.fractions(self.pool, &coefficients, self.work)?;
        let mut scale = Poly::one();
        for fraction in &fractions {
            scale = scale.lcm(fraction.denominator(), self.work)?;
        }
        let mut form = Form::new();
        for (symbol, fraction) in inside.iter().zip(&fractions) {
            let factor = super::quotient::exact(&scale, fraction.denominator(), self.work)?;
            let value = fraction.numerator().mul(&factor, self.work)?;
            if !value.is_zero() {
                form.insert(self.columns[symbol], value);
            }
        }
        Ok(Some((form, scale)))
    }
}

/// Equations (forms that are zero) and forms of interest.
struct Elimination {
    rows: Vec<Form>,
    forms: Vec<Form>,
}

impl Elimination {
    /// Eliminates unknowns by equations that have them with a coefficient of
    /// one, so that everything stays a polynomial: junctions, and laws that
    /// say directly what they compute.
    fn reduce(mut self, unknowns: usize, work: &Work) -> Result<Core, PolyError> {
        while let Some((row, column)) = self.pivot(unknowns) {
            work.spend("the product form", 1)?;
            let pivot = self.rows.swap_remove(row);
            for form in self.rows.iter_mut().chain(&mut self.forms) {
                let Some(factor) = form.remove(&column) else { continue };
                let factor = if pivot[&column].is_negative() { factor.neg() } else { factor };
                for (place, value) in pivot.iter().filter(|(place, _)| **place != column) {
                    let product = value.mul(&factor, work)?;
                    *form = minus(std::mem::take(form), *place, &product, work)?;
                }
            }
        }
        let mut left: Vec<usize> =
            self.rows.iter().flat_map(|row| row.keys().copied().filter(|c| *c < unknowns)).collect();
        left.sort_unstable();
        left.dedup();
        if left.len() != self.rows.len() {
            return Err(PolyError::DivisionByZero);
        }
        let mut matrix = Matrix::new(left.len(), left.len());
        for (i, row) in self.rows.iter().enumerate() {
            for (j, column) in left.iter().enumerate() {
                if let Some(value) = row.get(column) {
                    matrix.set(i, j, value.clone());
                }
            }
        }
        let determinant = if left.is_empty() { Poly::one() } else { matrix.determinant(work)? };
        Ok(Core { matrix, determinant, left, rows: self.rows, forms: self.forms })
    }

    /// The entry ±1 with the least fill-in.
    fn pivot(&self, unknowns: usize) -> Option<(usize, usize)> {
        let mut counts = vec![0usize; unknowns];
        for row in &self.rows {
            row.keys().filter(|column| **column < unknowns).for_each(|column| counts[*column] += 1);
        }
        let mut best: Option<(usize, usize, usize)> = None;
        for (i, row) in self.rows.iter().enumerate() {
            for (&column, value) in row.iter().filter(|(column, _)| **column < unknowns) {
                if !value.is_one() && !value.neg().is_one() {
                    continue;
                }
                let fill = (row.len() - 1) * (counts[column] - 1);
                if best.is_none_or(|known| (fill, i, column) < known) {
                    best = Some((fill, i, column));
                }
            }
        }
        best.map(|(_, row, column)| (row, column))
    }
}

/// What is left: M·v + (columns of sinks and inputs) = 0, and forms over v, sinks and inputs.
struct Core {
    matrix: Matrix,
    determinant: Poly,
    left: Vec<usize>,
    rows: Vec<Form>,
    forms: Vec<Form>,
}

impl Core {
    /// Transfer functions from some columns to one form.
    fn by_adjoint(
        &self,
        form: &Form,
        scale: &Poly,
        columns: &[usize],
        work: &Work,
    ) -> Result<BTreeMap<usize, Quotient>, PolyError> {
        let lambda = self.solve(&self.matrix.transpose(), &self.over_left(form), work)?;
        let mut result = BTreeMap::new();
        for column in columns {
            let moved: Vec<Poly> = self.rows.iter().map(|row| entry(row, *column)).collect();
            let value = self.quotient(&lambda, &moved, entry(form, *column), scale, work)?;
            result.insert(*column, value);
        }
        Ok(result)
    }

    /// Transfer functions from one column to some forms.
    fn by_forward(
        &self,
        column: usize,
        forms: &[(&Form, &Poly)],
        work: &Work,
    ) -> Result<Vec<Quotient>, PolyError> {
        let moved: Vec<Poly> = self.rows.iter().map(|row| entry(row, column)).collect();
        let z = self.solve(&self.matrix, &moved, work)?;
        let read = |(form, scale): &(&Form, &Poly)| {
            self.quotient(&z, &self.over_left(form), entry(form, column), scale, work)
        };
        forms.iter().map(read).collect()
    }

    /// (direct·Δ − a·b)/(Δ·scale)
    fn quotient(
        &self,
        a: &[Poly],
        b: &[Poly],
        direct: Poly,
        scale: &Poly,
        work: &Work,
    ) -> Result<Quotient, PolyError> {
        let mut pairs: Vec<(bool, &Poly, &Poly)> = a.iter().zip(b).map(|(a, b)| (true, a, b)).collect();
        pairs.push((false, &direct, &self.determinant));
        let num = Poly::sum_of_products(&pairs, work)?;
        Quotient::new(&[num], &[(self.determinant.clone(), 1), (scale.clone(), 1)], work)
    }

    fn solve(&self, matrix: &Matrix, vector: &[Poly], work: &Work) -> Result<Vec<Poly>, PolyError> {
        if vector.is_empty() {
            return Ok(Vec::new());
        }
        Ok(matrix.adjoint_times(vector, work)?.1)
    }

    fn over_left(&self, form: &Form) -> Vec<Poly> {
        self.left.iter().map(|column| entry(form, *column)).collect()
    }
}

fn entry(form: &Form, column: usize) -> Poly {
    form.get(&column).cloned().unwrap_or_else(Poly::zero)
}
