//! Guards: what the stages of a model have taken for granted about the values of its parameters, so that
//! another value can tell whether they would have come out the same.

use paynter_algebra::elimination::{Row, eliminate};
use paynter_algebra::field::FIELD;
use paynter_algebra::{Expr, Interval, Pool, Residues, Solution, SolveError, Symbol};
use rustc_hash::FxHashMap;
use std::convert::Infallible;
use std::sync::Arc;

use crate::model::{BondGraph, Tolerance, Variable};
use crate::quantity::Value;

/// The sign of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sign {
    /// Below zero.
    Negative,
    /// Exactly zero.
    Zero,
    /// Above zero.
    Positive,
    /// Not a finite number.
    Undefined,
}

impl Sign {
    /// The sign of a number.
    pub fn of(number: f64) -> Sign {
        match number {
            x if !x.is_finite() => Sign::Undefined,
            x if x < 0.0 => Sign::Negative,
            0.0 => Sign::Zero,
            _ => Sign::Positive,
        }
    }
}

/// Whether an expression can be zero while parameters stay within their tolerances.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Vanishing {
    /// It cannot.
    Never,
    /// It can.
    Possible,
    /// It is zero and nothing else.
    Always,
}

impl Vanishing {
    /// What a range says.
    pub fn of(range: &Interval) -> Vanishing {
        match range.contains_zero() {
            false => Vanishing::Never,
            true if range.lo() == 0.0 && range.hi() == 0.0 => Vanishing::Always,
            true => Vanishing::Possible,
        }
    }
}

/// One thing taken for granted.
#[derive(Debug, Clone, PartialEq)]
pub enum Guard {
    /// An expression over parameters has this sign.
    Sign(Expr, Sign),
    /// An expression over parameters has this value.
    Value(Expr, f64),
    /// An expression can or cannot be zero.
    Vanishing(Expr, Vanishing),
    /// A law, `residual = 0`, is solved for a symbol in this way.
    Solution {
        /// What is zero.
        residual: Expr,
        /// What it is solved for.
        unknown: Symbol,
        /// What came out.
        found: Result<Solution, SolveError>,
    },
    /// An input has the default that it has.
    Signal(Symbol),
    /// The matrix of a field is known to be indefinite, or is not.
    Indefinite(Vec<Vec<Expr>>, bool),
    /// The square matrix with these rows of entries by column can be inverted, or cannot.
    Regular(Vec<Vec<(usize, Expr)>>, bool),
}

impl Guard {
    /// The expressions whose symbols it depends on.
    fn expressions(&self) -> Vec<Expr> {
        match self {
            Guard::Sign(expr, _) | Guard::Value(expr, _) | Guard::Vanishing(expr, _) => vec![*expr],
            Guard::Solution { residual, .. } => vec![*residual],
            Guard::Signal(_) => Vec::new(),
            Guard::Indefinite(rows, _) => rows.iter().flatten().copied().collect(),
            Guard::Regular(rows, _) => rows.iter().flatten().map(|(_, entry)| *entry).collect(),
        }
    }

    /// Tells whether it holds at the values that a graph has; `pool` has the expressions.
    fn holds(&self, pool: &Arc<Pool>, graph: &BondGraph) -> bool {
        let number = |expr: Expr| pool.eval(expr, &|symbol| graph.number(symbol)).unwrap_or(f64::NAN);
        match self {
            Guard::Sign(expr, sign) => Sign::of(number(*expr)) == *sign,
            Guard::Value(expr, value) => number(*expr).to_bits() == value.to_bits(),
            Guard::Vanishing(expr, vanishing) => {
                Vanishing::of(&pool.range(*expr, &|symbol| graph.range(symbol))) == *vanishing
            }
            Guard::Solution { residual, unknown, found } => {
                let mut pool = Pool::over(pool);
                pool.solve_for(*residual, *unknown, &|symbol| graph.range(symbol)) == *found
            }
            // Only asked where the input has changed.
            Guard::Signal(_) => false,
            Guard::Indefinite(rows, indefinite) => {
                let rows: Vec<Vec<f64>> =
                    rows.iter().map(|row| row.iter().map(|entry| number(*entry)).collect()).collect();
                is_indefinite(&rows) == *indefinite
            }
            Guard::Regular(rows, regular) => is_regular(pool, graph, rows) == *regular,
        }
    }
}

/// All that a stage has taken for granted.
#[derive(Debug, Clone, Default)]
pub struct Guards {
    list: Vec<Guard>,
    /// The guards in which a parameter or an input stands, by its symbol.
    by_symbol: FxHashMap<Symbol, Vec<u32>>,
}

impl Guards {
    /// Sorts guards by the parameters that they depend on; those that depend on none are left out.
    pub fn new(pool: &Pool, graph: &BondGraph, all: Vec<Guard>) -> Guards {
        let mut guards = Guards::default();
        for guard in all {
            let symbols = guard.expressions().into_iter().flat_map(|expr| pool.symbols(expr));
            let parameter =
                |symbol: &Symbol| matches!(graph.variables.meaning(*symbol), Some(Variable::Parameter(_)));
            let mut symbols: Vec<Symbol> = symbols.filter(parameter).collect();
            if let Guard::Signal(input) = guard {
                symbols.push(input);
            }
            symbols.sort_unstable();
            symbols.dedup();
            let place = guards.list.len() as u32;
            for symbol in &symbols {
                guards.by_symbol.entry(*symbol).or_default().push(place);
            }
            if !symbols.is_empty() {
                guards.list.push(guard);
            }
        }
        guards
    }

    /// Tells whether all guards still hold after some parameters and inputs have changed; `graph` has the new values.
    pub fn hold(&self, pool: &Arc<Pool>, graph: &BondGraph, changed: &[Symbol]) -> bool {
        let places = changed.iter().filter_map(|symbol| self.by_symbol.get(symbol)).flatten();
        let mut places: Vec<u32> = places.copied().collect();
        places.sort_unstable();
        places.dedup();
        places.into_iter().all(|place| self.list[place as usize].holds(pool, graph))
    }
}

impl BondGraph {
    /// The value of a parameter's symbol.
    pub fn number(&self, symbol: Symbol) -> Option<f64> {
        match self.variables.meaning(symbol)? {
            Variable::Parameter(place) => self.parameters.get(place as usize).map(|p| p.number),
            _ => None,
        }
    }

    /// The range of a symbol: a parameter's within its tolerance, time from zero on, anything for others.
    pub fn range(&self, symbol: Symbol) -> Interval {
        match self.variables.meaning(symbol) {
            Some(Variable::Parameter(place)) => {
                self.parameters.get(place as usize).map_or(Interval::ALL, |parameter| parameter.range())
            }
            Some(Variable::Time) => Interval::closed(0.0, f64::INFINITY),
            _ => Interval::ALL,
        }
    }
}

impl crate::model::Parameter {
    /// The values within its tolerance.
    pub fn range(&self) -> Interval {
        let half = match self.tolerance {
            Some(Tolerance::Relative(r)) => (self.number * r).abs(),
            Some(Tolerance::Absolute(a)) => a,
            None => 0.0,
        };
        Interval::closed(self.number - half, self.number + half)
    }
}

/// Tells whether a square matrix, given by rows of entries by column, can be inverted at the exact values of the
/// parameters, whatever else its entries read: modulo a prime, where a divisor of them does not vanish.
pub fn is_regular(pool: &Pool, graph: &BondGraph, rows: &[Vec<(usize, Expr)>]) -> bool {
    let mut point = Residues::new(1);
    for parameter in graph.parameters.iter() {
        let value = match &parameter.value {
            Value::Written(value) => pool.as_rational(*value).cloned(),
            Value::Given(value) => Some(value.clone()),
        };
        value.iter().for_each(|value| point.set_rational(parameter.symbol, value));
    }
    let mut matrix: Vec<Row<u64>> = Vec::with_capacity(rows.len());
    for row in rows {
        let mut values = Row::new();
        for (column, entry) in row {
            match point.value(pool, *entry) {
                Some(0) => {}
                Some(value) => {
                    values.insert(*column, value);
                }
                None => return true,
            }
        }
        matrix.push(values);
    }
    let mut field = FIELD;
    let Ok(echelon) = eliminate(&mut field, matrix, rows.len(), |_, state| {
        Ok::<_, Infallible>(state.least_fill_in(|_, _| true))
    });
    echelon.pivots.len() == rows.len()
}

/// Tells whether a symmetric matrix of finite entries has a negative eigenvalue, by Cholesky's algorithm. Perfectly
/// coupled ports store nothing together, but nothing negative either.
pub(crate) fn is_indefinite(matrix: &[Vec<f64>]) -> bool {
    if !matrix.iter().flatten().all(|entry| entry.is_finite()) {
        return false;
    }
    let n = matrix.len();
    let mut l = vec![vec![0.0; n]; n];
    let rounding = |i: usize, j: usize| {
        crate::limits::PIVOT_ROUNDING * n as f64 * f64::EPSILON * (matrix[i][i] * matrix[j][j]).abs().sqrt()
    };
    for i in 0..n {
        for j in 0..=i {
            let sum: f64 = (0..j).map(|k| l[i][k] * l[j][k]).sum();
            let rest = matrix[i][j] - sum;
            if i == j {
                if rest < -rounding(i, i) {
                    return true;
                }
                l[i][i] = if rest <= rounding(i, i) { 0.0 } else { rest.sqrt() };
            } else if l[j][j] > 0.0 {
                l[i][j] = rest / l[j][j];
            } else if rest.abs() > rounding(i, j).sqrt() * (matrix[i][i] * matrix[j][j]).abs().powf(0.25) {
                // Beside a zero on the diagonal everything is zero, or the matrix is indefinite.
                return true;
            }
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::is_indefinite;

    #[test]
    fn perfectly_coupled_fields_store_nothing_negative() {
        // M = k √(L1 L2): perfect at k = 1, in any units.
        for (l1, l2) in [(4.0, 9.0), (0.1, 0.3), (1e-9, 7e-3)] {
            let coupled = |k: f64| {
                let m = k * f64::sqrt(l1 * l2);
                is_indefinite(&[vec![l1, m], vec![m, l2]])
            };
            assert!(!coupled(1.0) && !coupled(-1.0) && !coupled(0.999) && coupled(1.001), "{l1} {l2}");
        }
        // Three windings on one core, and one of them with a sign turned.
        let turns = [2.0, 3.0, 0.7];
        let mut core: Vec<Vec<f64>> = turns.iter().map(|a| turns.iter().map(|b| a * b).collect()).collect();
        assert!(!is_indefinite(&core));
        (core[0][2], core[2][0]) = (-core[0][2], -core[2][0]);
        assert!(is_indefinite(&core));
        assert!(is_indefinite(&[vec![0.0, 1.0], vec![1.0, 0.0]]) && is_indefinite(&[vec![-1.0]]));
        assert!(!is_indefinite(&[vec![0.0]]));
    }
}
