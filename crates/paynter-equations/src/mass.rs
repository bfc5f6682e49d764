//! The mass matrix: with the states of dependent storages known as functions
//! of the others, the rates obey E x' = r before anybody inverts E.

use paynter_algebra::poly::LowestTerms;
use paynter_algebra::{Expr, Pool, Symbol};
use paynter_base::CancellationToken;
use paynter_graph::{BondGraph, Variable};
use rustc_hash::FxHashMap;

use crate::tolerance::{LONG_RATES, MUCH_SHORTER};
use crate::{Equations, Sparse, StateSpace};

/// What was known before the rates of dependent storages were eliminated.
#[derive(Debug, Clone)]
pub struct Reduction {
    /// The rates of the states over the rates of dependent ones.
    pub rates: Vec<Expr>,
    /// The outputs over the rates of dependent states.
    pub outputs: Vec<Expr>,
    /// For each dependent state the symbol of its rate and its value over states, inputs and time.
    pub dependent: Vec<(Symbol, Expr)>,
}

/// E x' = r.
#[derive(Debug, Clone)]
pub struct Mass {
    /// The coefficient matrix of the rates.
    pub matrix: Sparse,
    /// The right-hand sides, over states, inputs and their derivatives.
    pub right: Vec<Expr>,
}

/// Equations E x' = f whose mass matrix is not inverted.
#[derive(Debug, Clone)]
pub struct MassForm {
    /// The equations, f in place of the rates.
    pub right: Equations,
    /// E.
    pub matrix: Sparse,
    /// The matrices of f and the outputs, where the model is linear.
    pub space: Option<StateSpace>,
}

impl Mass {
    /// Whether explicit rates are so long that the mass matrix is better left as it is.
    fn is_worthwhile(&self, pool: &Pool, equations: &Equations) -> bool {
        let explicit = pool.written_size(&equations.rates);
        let entries: Vec<Expr> = self.matrix.entries.iter().map(|(_, _, e)| *e).collect();
        let own = pool.written_size(&entries).saturating_add(pool.written_size(&self.right));
        explicit > LONG_RATES && own.saturating_mul(MUCH_SHORTER) < explicit
    }

    fn form(self, pool: &mut Pool, graph: &BondGraph, equations: &Equations, linear: bool) -> MassForm {
        let right = Equations { rates: self.right, ..equations.clone() };
        let space = if linear { right.state_space(pool, graph) } else { None };
        MassForm { right, matrix: self.matrix, space }
    }
}

impl Equations {
    /// The form with a mass matrix in the way a person would write it, where dependent storages make one;
    /// with matrices where the model is `linear`.
    pub fn mass_form(
        &self,
        pool: &mut Pool,
        graph: &BondGraph,
        linear: bool,
        token: &CancellationToken,
    ) -> Option<MassForm> {
        let mut mass = self.mass(pool, graph)?;
        let mut lowest = LowestTerms::new(token);
        for (_, _, entry) in &mut mass.matrix.entries {
            *entry = lowest.of(pool, *entry);
        }
        for right in &mut mass.right {
            *right = lowest.of(pool, *right);
        }
        Some(mass.form(pool, graph, self, linear))
    }

    /// The form with a mass matrix where it is much shorter than long explicit rates.
    pub fn shorter_mass_form(&self, pool: &mut Pool, graph: &BondGraph, linear: bool) -> Option<MassForm> {
        let mass = self.mass(pool, graph).filter(|mass| mass.is_worthwhile(pool, self))?;
        Some(mass.form(pool, graph, self, linear))
    }

    /// The form with a mass matrix, where dependent storages make one: with x' = f + F w and
    /// w = dΨ/dt the matrix is I − F Ψₓ. None where there is nothing to invert, or where the
    /// dependent storages read rates or implicit unknowns.
    pub fn mass(&self, pool: &mut Pool, graph: &BondGraph) -> Option<Mass> {
        let reduction = self.reduction.as_ref()?;
        if !self.constraints.is_empty() || reduction.rates.len() != self.states.len() {
            return None;
        }
        let place: FxHashMap<Symbol, usize> =
            self.states.iter().enumerate().map(|(i, s)| (s.symbol, i)).collect();
        // Rates of inputs by their symbols: u → u', u' → u''.
        let mut next: FxHashMap<Symbol, Expr> = FxHashMap::default();
        for input in &self.inputs {
            for pair in input.symbols.windows(2) {
                let rate = pool.var(pair[1]);
                next.insert(pair[0], rate);
            }
        }
        if let Some(time) = graph.variables.symbol(Variable::Time) {
            let one = pool.one();
            next.insert(time, one);
        }
        let symbols: Vec<Symbol> = reduction.dependent.iter().map(|(symbol, _)| *symbol).collect();
        // The derivatives of each dependent state by the states, and what its rate is apart from them.
        let mut derivatives: Vec<Vec<(usize, Expr)>> = Vec::new();
        let mut rest: Vec<Expr> = Vec::new();
        for (_, value) in &reduction.dependent {
            let (mut row, mut terms) = (Vec::new(), Vec::new());
            for symbol in pool.symbols(*value) {
                if symbols.contains(&symbol) {
                    return None;
                }
                let derivative = pool.diff(*value, symbol);
                if let Some(j) = place.get(&symbol) {
                    row.push((*j, derivative));
                } else if let Some(rate) = next.get(&symbol) {
                    terms.push(pool.mul(derivative, *rate));
                }
            }
            derivatives.push(row);
            rest.push(pool.sum(&terms));
        }
        let mut entries: Vec<(usize, usize, Expr)> = Vec::new();
        let mut right = Vec::with_capacity(reduction.rates.len());
        let mut trivial = true;
        for (i, rate) in reduction.rates.iter().enumerate() {
            let inside: Vec<usize> =
                (0..symbols.len()).filter(|k| pool.depends_on(*rate, symbols[*k])).collect();
            let present: Vec<Symbol> = inside.iter().map(|k| symbols[*k]).collect();
            let (coefficients, plain) = pool.linear_parts(*rate, &present)?;
            let mut row: std::collections::BTreeMap<usize, Vec<Expr>> =
                [(i, vec![pool.one()])].into_iter().collect();
            let mut terms = vec![plain];
            for (k, coefficient) in inside.iter().zip(coefficients) {
                for (j, derivative) in &derivatives[*k] {
                    let product = pool.mul(coefficient, *derivative);
                    row.entry(*j).or_default().push(pool.neg(product));
                    trivial = false;
                }
                terms.push(pool.mul(coefficient, rest[*k]));
            }
            for (j, parts) in row {
                let entry = pool.sum(&parts);
                if entry != pool.zero() && !pool.is_zero(entry) {
                    entries.push((i, j, entry));
                }
            }
            right.push(pool.sum(&terms));
        }
        let n = self.states.len();
        (!trivial).then_some(Mass { matrix: Sparse { rows: n, columns: n, entries }, right })
    }
}
