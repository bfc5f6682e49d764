//! The linear model behind transfer functions, poles, frequency response,
//! structure and sensitivities: the model itself where it is linear, its
//! linearisation at the operating point where not ([`tangent()`]).

mod factors;
mod opened;
mod root_moves;
mod tangent;
mod zeros;

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use paynter_algebra::poly::readable;
use paynter_algebra::{EvalError, Expr, Node, Pool, Symbol};
use paynter_base::{CancellationToken, Diagnostic, Diagnostics, code};
use paynter_equations::{Equations, QueryError, Sparse, StateSpace};
use paynter_graph::BondGraph;
use rustc_hash::FxHashSet;

use self::factors::Spectra;
use crate::linalg::Matrices;
use crate::operating::{OperatingPoint, Probes};

pub use opened::Opened;
pub(crate) use tangent::above_borders;
pub use tangent::{near, tangent, to_differentiate};
pub use zeros::rounded_degrees;

/// A linear model, or a nonlinear one near its operating point.
#[derive(Debug, Clone)]
pub struct LinearModel {
    /// The equations it comes from.
    pub equations: Arc<Equations>,
    /// The matrices, over parameters; of a nonlinear model also over states,
    /// inputs and implicit unknowns, which stand for their values at the point.
    pub space: StateSpace,
    /// The operating point of a nonlinear model.
    pub point: Option<OperatingPoint>,
    /// The value of every symbol in the matrices.
    pub values: BTreeMap<Symbol, f64>,
    /// By which derivatives at the point are judged, once that is asked.
    probes: OnceLock<Arc<Probes>>,
    /// Poles and factors already found.
    spectra: Spectra,
    /// The entries of the matrices that are zero at the operating point, but for its rounding.
    vanishing: FxHashSet<Expr>,
}

impl LinearModel {
    fn new(
        equations: Arc<Equations>,
        space: StateSpace,
        point: Option<OperatingPoint>,
        values: BTreeMap<Symbol, f64>,
    ) -> LinearModel {
        LinearModel {
            equations,
            space,
            point,
            values,
            probes: OnceLock::new(),
            spectra: Spectra::default(),
            vanishing: FxHashSet::default(),
        }
    }

    /// A model that is linear, with its parameters at their nominal values. An entry of the matrices that
    /// has no finite value there as it was derived is brought to lowest terms, where it may have one.
    pub fn nominal(
        pool: &mut Pool,
        graph: &BondGraph,
        equations: Arc<Equations>,
        mut space: StateSpace,
        token: &CancellationToken,
    ) -> LinearModel {
        let values: BTreeMap<Symbol, f64> =
            graph.parameters.iter().map(|parameter| (parameter.symbol, parameter.number)).collect();
        let value = |symbol: Symbol| values.get(&symbol).copied();
        let mut defined = |matrix: &mut Sparse| {
            for (_, _, entry) in &mut matrix.entries {
                if pool.eval(*entry, &value).is_err() {
                    *entry = readable(pool, *entry, token);
                }
            }
        };
        defined(&mut space.a);
        space.b.iter_mut().for_each(&mut defined);
        defined(&mut space.c);
        space.d.iter_mut().for_each(&mut defined);
        LinearModel::new(equations, space, None, values)
    }

    /// The partial derivatives of a model without an operating point, over its variables: they tell its
    /// structure, but have no values.
    pub fn without_point(
        pool: &mut Pool,
        graph: &BondGraph,
        equations: Arc<Equations>,
        token: &CancellationToken,
    ) -> Result<LinearModel, QueryError> {
        let mut space = equations.linearise(pool, graph, None, token)?;
        space.make_readable(pool, token);
        Ok(LinearModel::new(equations, space, None, BTreeMap::new()))
    }

    /// The operating point and points around it, by which derivatives there are judged.
    pub fn probes(&self, pool: &Pool) -> Arc<Probes> {
        let probes = || {
            let mut sizes: BTreeMap<Symbol, f64> =
                self.values.iter().map(|(symbol, x)| (*symbol, x.abs())).collect();
            sizes.extend(self.point.iter().flat_map(|point| &point.sizes));
            Arc::new(Probes::new(pool, &self.equations, &self.values, &sizes))
        };
        self.probes.get_or_init(probes).clone()
    }

    /// The value of a symbol: a parameter, or at the operating point.
    pub fn value(&self, symbol: Symbol) -> Option<f64> {
        self.values.get(&symbol).copied()
    }

    /// Evaluates the matrices at nominal parameters and the operating point.
    pub fn matrices(&self, pool: &Pool) -> Result<Matrices, QueryError> {
        let value = |symbol| self.value(symbol);
        let mut matrices = Matrices::evaluate(pool, &self.space, &value)
            .map_err(|error| QueryError::Wrong(undefined(pool, &value, error)))?;
        matrices.retain(&self.space, |entry| !self.vanishing.contains(&entry));
        Ok(matrices)
    }
}

/// Says that an expression has no value.
fn undefined(pool: &Pool, value: &dyn Fn(Symbol) -> Option<f64>, error: EvalError) -> Diagnostics {
    let message = match error {
        EvalError::NotFinite(part) => match pool.node(part) {
            Node::Power(base, _) if pool.eval(base, value) == Ok(0.0) => {
                format!("`{}` is zero, and the equations divide by it", pool.brief(base))
            }
            _ => format!("`{}` has no finite value", pool.brief(part)),
        },
        EvalError::Unbound(symbol) => format!("`{}` has no value", pool.name(symbol)),
        EvalError::Table(_) => "a table has no value here".to_owned(),
    };
    let mut diagnostics = Diagnostics::new();
    diagnostics.push(Diagnostic::new(code::VANISHING_DIVISOR, message));
    diagnostics
}

/// No answer, for one reason.
pub(crate) fn refused(diagnostic: Diagnostic) -> QueryError {
    let mut diagnostics = Diagnostics::new();
    diagnostics.push(diagnostic);
    QueryError::Wrong(diagnostics)
}
