//! Error control of an adjoint sweep. The steps of a run are as long as its state allows; where it has settled they
//! may be far longer than what adjoints do in them, beyond the stability of an explicit method. The embedded method
//! tells the error of a step back as it does on the way forward, and steps in error are repeated in halves.

use super::adjoint::Entry;
use crate::method::joint_square;
use crate::tolerance::ADJOINT_ROUNDING;

/// How large adjoints are, as parts of the cost that a state or a parameter of its size makes.
#[derive(Debug)]
pub(super) struct Sizes {
    rtol: f64,
    /// The largest that each state has been.
    states: Vec<f64>,
    /// By how much each parameter scales its derivative.
    parameters: Vec<f64>,
    /// The largest adjoints so far.
    adjoints: Vec<f64>,
    /// The largest part of the cost so far.
    cost: f64,
}

/// What a step back makes of the adjoints at its end.
#[derive(Debug, Clone)]
pub(super) struct Pulled {
    pub lambda: Vec<f64>,
    pub by: Vec<f64>,
}

impl Sizes {
    pub fn new(tape: &[Entry], n: usize, parameters: Vec<f64>, rtol: f64) -> Sizes {
        let mut states = vec![0.0f64; n];
        for entry in tape {
            if let Entry::Step { from: at, .. } | Entry::Event { at, .. } | Entry::Node { at } = entry {
                states.iter_mut().zip(&at.x).for_each(|(size, x)| *size = size.max(x.abs()));
            }
        }
        Sizes { rtol: rtol.max(ADJOINT_ROUNDING), states, parameters, adjoints: vec![0.0; n], cost: 0.0 }
    }

    /// Records adjoints that have been reached.
    pub fn record(&mut self, lambda: &[f64]) {
        for (i, lambda) in lambda.iter().enumerate().filter(|(_, lambda)| lambda.is_finite()) {
            self.adjoints[i] = self.adjoints[i].max(lambda.abs());
            self.cost = self.cost.max(lambda.abs() * self.states[i]);
        }
    }

    /// The error of a step in units of the tolerance, from its estimates; `reached` are the adjoints at its start,
    /// `by` the derivatives so far.
    pub fn error(&self, estimates: &[Pulled], reached: &[f64], by: &[f64]) -> f64 {
        let mut squares = [0.0; 2];
        for (square, estimate) in squares.iter_mut().zip(estimates) {
            let of_state = |(i, error): (usize, &f64)| match self.states[i] * self.cost > 0.0 {
                true => error.abs() * self.states[i] / self.cost,
                // A state that has always been zero.
                false if *error != 0.0 => error.abs() / self.adjoints[i].max(reached[i].abs()),
                false => 0.0,
            };
            let of_parameter = |(lane, error): (usize, &f64)| {
                let size = by[lane].abs().max(self.cost / self.parameters[lane]);
                if size > 0.0 { error.abs() / size } else { 0.0 }
            };
            let states = estimate.lambda.iter().enumerate().map(of_state);
            let parameters = estimate.by.iter().enumerate().map(of_parameter);
            let error = states.chain(parameters).fold(0.0, f64::max) / self.rtol;
            *square = error * error;
        }
        joint_square(squares, estimates.len(), 1).sqrt()
    }
}
