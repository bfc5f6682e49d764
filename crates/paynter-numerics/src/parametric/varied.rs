//! A linear model at parameters within their tolerances: compiled once, evaluated often.

use paynter_algebra::{Pool, Symbol};
use paynter_graph::{BondGraph, Parameter, Tolerance};

use super::samples::Compiled;
use crate::linalg::Matrices;
use crate::{CompileError, LinearModel};

/// How far a parameter may be off; zero where its model does not say.
pub(super) fn deviation(parameter: &Parameter) -> f64 {
    match parameter.tolerance {
        Some(Tolerance::Relative(part)) => (part * parameter.number).abs(),
        Some(Tolerance::Absolute(deviation)) => deviation.abs(),
        None => 0.0,
    }
}

/// The parameters with tolerances, by place, and how far each may be off.
pub fn declared_tolerances(graph: &BondGraph) -> Vec<(usize, f64)> {
    let all = graph.parameters.iter().enumerate().map(|(place, parameter)| (place, deviation(parameter)));
    all.filter(|(_, deviation)| *deviation > 0.0).collect()
}

/// The matrices of a linear model over the box of some parameters, in which each δ runs from −1 to 1.
#[derive(Debug)]
pub struct Varied {
    compiled: Compiled,
    nominal: Vec<f64>,
    /// The places of the parameters among the symbols, and their deviations.
    moves: Vec<(usize, f64)>,
}

impl Varied {
    /// Compiles a model that is linear whatever its parameters are.
    pub fn new(
        pool: &Pool,
        graph: &BondGraph,
        linear: &LinearModel,
        box_of: &[(usize, f64)],
    ) -> Result<Varied, CompileError> {
        let symbols: Vec<Symbol> = linear.values.keys().copied().collect();
        let nominal = linear.values.values().copied().collect();
        let place = |symbol: Symbol| symbols.iter().position(|known| *known == symbol);
        let moves = box_of
            .iter()
            .map(|(parameter, deviation)| {
                (place(graph.parameters[*parameter].symbol).unwrap_or(usize::MAX), *deviation)
            })
            .collect();
        Ok(Varied { compiled: Compiled::new(pool, &linear.space, &symbols)?, nominal, moves })
    }

    /// The matrices at δ; nothing where an entry is not finite.
    pub fn at(&self, delta: &[f64]) -> Option<Matrices> {
        let mut values = self.nominal.clone();
        for ((place, deviation), delta) in self.moves.iter().zip(delta) {
            if let Some(value) = values.get_mut(*place) {
                *value += deviation * delta;
            }
        }
        self.compiled.matrices(&values)
    }
}
