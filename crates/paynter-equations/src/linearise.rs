//! Linearisation in symbols: the Jacobians of rates and outputs by states,
//! inputs and their derivatives, at a point that the symbols of states, inputs
//! and implicit unknowns name. Implicit unknowns follow the others by the
//! implicit function theorem, dz = −(∂r/∂z)⁻¹ (∂r/∂x dx + ∂r/∂u du).

use std::collections::{BTreeMap, BTreeSet};

use paynter_algebra::{Expr, Pool, Symbol};
use paynter_base::{CancellationToken, Diagnostic, Diagnostics, code};
use paynter_graph::{BondGraph, ElementId, Law, Ranges};
use rustc_hash::FxHashMap;

use crate::derive::singular;
use crate::{Equations, Pivots, Sparse, StateSpace, System};
use paynter_base::QueryError;

/// Derivatives of one expression by the columns it depends on, and what is left at zero.
struct Row {
    /// By states and inputs.
    free: BTreeMap<usize, Expr>,
    /// By implicit unknowns.
    bound: BTreeMap<usize, Expr>,
    /// The constant term, where the expression is linear.
    rest: Option<Expr>,
}

/// Where the symbols stand: states first, then inputs, order of derivative by order.
struct Columns {
    free: FxHashMap<Symbol, usize>,
    bound: FxHashMap<Symbol, usize>,
    symbols: Vec<Option<Symbol>>,
    states: usize,
    inputs: usize,
    orders: usize,
}

impl Equations {
    /// Linearises rates and outputs at the point that the symbols name.
    ///
    /// Entries are expressions over parameters, states, inputs, implicit
    /// unknowns and perhaps time; those of a linear model are the entries of
    /// its state space. The offsets are what the tangent leaves at zero:
    /// f − A x − Σ B_k u^(k) and g − C x − Σ D_k u^(k). Implicit equations are solved such
    /// that nothing divides by what is zero `near` a point, if one is given.
    pub fn linearise(
        &self,
        pool: &mut Pool,
        graph: &BondGraph,
        near: Option<&dyn Fn(Symbol) -> Option<f64>>,
        token: &CancellationToken,
    ) -> Result<StateSpace, QueryError> {
        let columns = Columns::new(self);
        let follow = self.implicit_derivatives(pool, graph, &columns, near, token)?;
        let outputs: Vec<Expr> = self.outputs.iter().map(|output| output.value).collect();
        let (a, b, first) = block(pool, &columns, &follow, &self.rates, token)?;
        let (c, d, second) = block(pool, &columns, &follow, &outputs, token)?;
        Ok(StateSpace { a, b, c, d, offset: (first, second) })
    }

    /// Says which implicit equations determine their unknowns at no point, as those of
    /// a field whose matrix cannot be inverted. Equations for rates are left out: where
    /// they are singular, differentiating once more may solve them.
    pub fn unsolvable_constraints(&self, pool: &mut Pool, graph: &BondGraph) -> Diagnostics {
        let columns = Columns::new(self);
        let rows: Vec<Row> =
            self.constraints.iter().map(|c| derivatives(pool, &columns, c.residual)).collect();
        let mut diagnostics = Diagnostics::new();
        for group in groups(&rows) {
            // A row without unknowns stands for the one it was kept for.
            let rate = |u: &usize| self.constraints[*u].is_rate;
            if group.rows.iter().chain(&group.unknowns).any(rate) {
                continue;
            }
            let place: BTreeMap<usize, usize> =
                group.unknowns.iter().enumerate().map(|(k, unknown)| (*unknown, k)).collect();
            let bound =
                |r: &usize| rows[*r].bound.iter().map(|(j, derivative)| (place[j], *derivative)).collect();
            let system = System {
                rows: group.rows.iter().map(bound).collect(),
                right: vec![Vec::new(); group.rows.len()],
            };
            if group.rows.len() != group.unknowns.len() || system.solve(pool, Pivots::Any).is_err() {
                let members = group.rows.iter().chain(&group.unknowns);
                let elements = members.flat_map(|&r| self.constraints[r].elements.iter().copied());
                diagnostics.push(unsolvable_law(graph, elements));
            }
        }
        diagnostics
    }

    /// How each implicit unknown follows states and inputs, group by group:
    /// unknowns that share no equation are solved apart.
    fn implicit_derivatives(
        &self,
        pool: &mut Pool,
        graph: &BondGraph,
        columns: &Columns,
        near: Option<&dyn Fn(Symbol) -> Option<f64>>,
        token: &CancellationToken,
    ) -> Result<Vec<BTreeMap<usize, Expr>>, QueryError> {
        let mut rows = Vec::with_capacity(self.constraints.len());
        for constraint in &self.constraints {
            token.check()?;
            rows.push(derivatives(pool, columns, constraint.residual));
        }
        let mut follow = vec![BTreeMap::new(); self.constraints.len()];
        let ranges = Ranges::new(graph);
        let pivots = near.map_or(Pivots::Lasting(&ranges), Pivots::Near);
        for group in groups(&rows) {
            token.check()?;
            let unsolvable = || {
                let elements = group.rows.iter().flat_map(|&r| self.constraints[r].elements.iter().copied());
                singular(graph, elements, "the implicit equations")
            };
            if group.rows.len() != group.unknowns.len() {
                return Err(unsolvable());
            }
            let place: BTreeMap<usize, usize> =
                group.unknowns.iter().enumerate().map(|(k, unknown)| (*unknown, k)).collect();
            let mut sides: Vec<usize> =
                group.rows.iter().flat_map(|&r| rows[r].free.keys().copied()).collect();
            sides.sort_unstable();
            sides.dedup();
            let zero = pool.zero();
            let mut system = System { rows: Vec::new(), right: Vec::new() };
            for &r in &group.rows {
                system
                    .rows
                    .push(rows[r].bound.iter().map(|(j, derivative)| (place[j], *derivative)).collect());
                let right = sides.iter().map(|side| match rows[r].free.get(side) {
                    Some(derivative) => pool.neg(*derivative),
                    None => zero,
                });
                system.right.push(right.collect());
            }
            let solved = system.solve(pool, pivots).map_err(|_| unsolvable())?;
            for (unknown, values) in group.unknowns.iter().zip(solved) {
                follow[*unknown] =
                    sides.iter().copied().zip(values).filter(|(_, value)| *value != zero).collect();
            }
        }
        Ok(follow)
    }
}

/// Says that laws cannot be solved for what causality wants of them.
fn unsolvable_law(graph: &BondGraph, elements: impl IntoIterator<Item = ElementId>) -> Diagnostic {
    let list: BTreeSet<ElementId> = elements.into_iter().collect();
    let names: Vec<String> = list.iter().map(|id| format!("`{}`", graph.element(*id).name)).collect();
    let field = list.iter().all(|id| matches!(graph.element(*id).law, Law::Matrix(_)));
    let (message, help) = match field {
        true => (
            format!("the matrix of the field {} cannot be inverted, as causality asks", names.join(", ")),
            "make the matrix invertible: no row a combination of others; or change what is connected, so that no port turns its law round",
        ),
        false => (
            format!("the law of {} cannot be solved", names.join(", ")),
            "its equations leave a variable undetermined or determine one twice: write one independent equation for each port",
        ),
    };
    let mut diagnostic = Diagnostic::new(code::SINGULAR_STRUCTURE, message).help(help);
    if let Some(id) = list.first() {
        diagnostic = diagnostic.at(graph.element(*id).span);
    }
    diagnostic
}

impl Columns {
    fn new(equations: &Equations) -> Columns {
        let states = equations.states.len();
        let inputs = equations.inputs.len();
        let orders = equations.inputs.iter().map(|input| input.symbols.len()).max().unwrap_or(1).max(1);
        let mut columns = Columns {
            free: FxHashMap::default(),
            bound: FxHashMap::default(),
            symbols: vec![None; states + inputs * orders],
            states,
            inputs,
            orders,
        };
        for (j, state) in equations.states.iter().enumerate() {
            columns.insert(state.symbol, j);
        }
        for (j, input) in equations.inputs.iter().enumerate() {
            for (k, symbol) in input.symbols.iter().enumerate() {
                columns.insert(*symbol, states + k * inputs + j);
            }
        }
        for (c, constraint) in equations.constraints.iter().enumerate() {
            columns.bound.insert(constraint.unknown, c);
        }
        columns
    }

    fn insert(&mut self, symbol: Symbol, place: usize) {
        self.free.insert(symbol, place);
        self.symbols[place] = Some(symbol);
    }
}

/// The derivatives of an expression: coefficients where it is linear, derivatives where not.
fn derivatives(pool: &mut Pool, columns: &Columns, expr: Expr) -> Row {
    let inside: Vec<Symbol> = pool
        .symbols(expr)
        .into_iter()
        .filter(|symbol| columns.free.contains_key(symbol) || columns.bound.contains_key(symbol))
        .collect();
    let (coefficients, rest) = match pool.linear_parts(expr, &inside) {
        Some((coefficients, rest)) => (coefficients, Some(rest)),
        None => (inside.iter().map(|symbol| pool.diff(expr, *symbol)).collect(), None),
    };
    let mut row = Row { free: BTreeMap::new(), bound: BTreeMap::new(), rest };
    for (symbol, derivative) in inside.iter().zip(coefficients) {
        if derivative == pool.zero() || pool.is_zero(derivative) {
            continue;
        }
        if let Some(&j) = columns.free.get(symbol) {
            row.free.insert(j, derivative);
        } else if let Some(&c) = columns.bound.get(symbol) {
            row.bound.insert(c, derivative);
        }
    }
    row
}

/// Equations and the unknowns they determine together.
struct Group {
    rows: Vec<usize>,
    unknowns: Vec<usize>,
}

/// Splits the implicit equations where they share no unknown.
fn groups(rows: &[Row]) -> Vec<Group> {
    let n = rows.len();
    // Rows are 0 … n−1, unknowns n … 2n−1.
    let mut parent: Vec<usize> = (0..2 * n).collect();
    let find = |parent: &mut Vec<usize>, mut v: usize| {
        while parent[v] != v {
            parent[v] = parent[parent[v]];
            v = parent[v];
        }
        v
    };
    for (i, row) in rows.iter().enumerate() {
        for &j in row.bound.keys() {
            let (a, b) = (find(&mut parent, i), find(&mut parent, n + j));
            parent[a.max(b)] = a.min(b);
        }
    }
    let mut groups: BTreeMap<usize, Group> = BTreeMap::new();
    for v in 0..2 * n {
        let root = find(&mut parent, v);
        let group = groups.entry(root).or_insert_with(|| Group { rows: Vec::new(), unknowns: Vec::new() });
        if v < n { group.rows.push(v) } else { group.unknowns.push(v - n) }
    }
    groups.into_values().collect()
}

/// Matrices by states, by inputs and their derivatives, and the constant terms.
type Block = (Sparse, Vec<Sparse>, Vec<Expr>);

fn block(
    pool: &mut Pool,
    columns: &Columns,
    follow: &[BTreeMap<usize, Expr>],
    expressions: &[Expr],
    token: &CancellationToken,
) -> Result<Block, QueryError> {
    let rows = expressions.len();
    let mut by_state = Sparse { rows, columns: columns.states, entries: Vec::new() };
    let mut by_input = vec![Sparse { rows, columns: columns.inputs, entries: Vec::new() }; columns.orders];
    let mut constants = Vec::with_capacity(rows);
    for (i, expr) in expressions.iter().enumerate() {
        token.check()?;
        let row = derivatives(pool, columns, *expr);
        let mut terms: BTreeMap<usize, Vec<Expr>> =
            row.free.iter().map(|(j, derivative)| (*j, vec![*derivative])).collect();
        for (c, derivative) in &row.bound {
            for (j, followed) in &follow[*c] {
                let product = pool.mul(*derivative, *followed);
                terms.entry(*j).or_default().push(product);
            }
        }
        let constant = row.rest.filter(|_| row.bound.is_empty());
        let mut tangent = Vec::new();
        for (j, list) in terms {
            let derivative = pool.sum(&list);
            if derivative == pool.zero() || (list.len() > 1 && pool.is_zero(derivative)) {
                continue;
            }
            if let Some(symbol) = columns.symbols[j].filter(|_| constant.is_none()) {
                let variable = pool.var(symbol);
                let term = pool.mul(derivative, variable);
                tangent.push(pool.neg(term));
            }
            match j.checked_sub(columns.states) {
                None => by_state.entries.push((i, j, derivative)),
                Some(k) => by_input[k / columns.inputs].entries.push((i, k % columns.inputs, derivative)),
            }
        }
        constants.push(match constant {
            Some(constant) => constant,
            None => {
                tangent.push(*expr);
                pool.sum(&tangent)
            }
        });
    }
    Ok((by_state, by_input, constants))
}
