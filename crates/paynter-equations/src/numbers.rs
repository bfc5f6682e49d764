//! Equations and matrices with their parameters in numbers.

use crate::model::{Equations, Sparse, StateSpace};
use paynter_algebra::{Expr, Pool, Symbol};
use paynter_graph::BondGraph;
use rustc_hash::FxHashMap;

impl Equations {
    /// The same equations with numbers in place of the parameters, and with the matrices that belong to them.
    pub fn in_numbers(
        &self,
        pool: &mut Pool,
        graph: &BondGraph,
        space: Option<&StateSpace>,
        mass: Option<&Sparse>,
    ) -> (Equations, Option<StateSpace>, Option<Sparse>) {
        let (mut equations, mut space, mut mass) = (self.clone(), space.cloned(), mass.cloned());
        let mut places: Vec<&mut Expr> = equations.rates.iter_mut().collect();
        places.extend(equations.constraints.iter_mut().map(|constraint| &mut constraint.residual));
        places.extend(equations.outputs.iter_mut().map(|output| &mut output.value));
        places.extend(equations.dependent.iter_mut().map(|dependent| &mut dependent.value));
        places.extend(equations.states.iter_mut().map(|state| &mut state.initial));
        if let Some(space) = &mut space {
            let matrices = [&mut space.a, &mut space.c].into_iter().chain(&mut space.b).chain(&mut space.d);
            places.extend(matrices.flat_map(|matrix| matrix.entries.iter_mut().map(|(_, _, entry)| entry)));
            places.extend(space.offset.0.iter_mut().chain(&mut space.offset.1));
        }
        places.extend(mass.iter_mut().flat_map(|mass| mass.entries.iter_mut().map(|(_, _, entry)| entry)));
        let roots: Vec<Expr> = places.iter().map(|place| **place).collect();
        let values: FxHashMap<Symbol, f64> = graph.parameters.iter().map(|p| (p.symbol, p.number)).collect();
        let numbers = pool.in_numbers(&roots, &|symbol| values.get(&symbol).copied());
        places.into_iter().zip(numbers).for_each(|(place, number)| *place = number);
        (equations, space, mass)
    }
}
