//! How long a run should be, and how many samples show it, where nobody says so.

use super::T_END;
use crate::tolerance::VISIBLE_PERIODS;
use paynter_algebra::{Expr, Func, Node, Pool, Symbol};
use paynter_equations::Equations;
use paynter_graph::{BondGraph, Variable};
use std::f64::consts::TAU;

/// Samples of a response over time: enough for a smooth curve.
pub const CURVE_SAMPLES: usize = 501;

/// What the length of a run hangs on.
#[derive(Debug, Clone, Default)]
pub struct Horizon {
    /// The poles, real and imaginary parts; none where they are not known.
    pub poles: Vec<[f64; 2]>,
    /// Whether they are those of a linearisation at the operating point.
    pub linearised: bool,
    /// The highest angular frequency of a source, in rad/s.
    pub source: Option<f64>,
}

impl Horizon {
    /// The end of a run in s, and the number of its samples: until the slowest mode has decayed or has swung a few
    /// times, and no more periods of a source than can be seen.
    pub fn end_and_samples(&self) -> (f64, usize) {
        let time = |pole: &[f64; 2]| match *pole {
            // Near its end a nonlinear model may tell nothing of how long the way there is.
            [0.0, 0.0] => self.linearised.then_some(T_END),
            // What does not decay within many periods is shown for some of them.
            [re, im] if re.abs() < 0.02 * im.abs() => Some(8.0 * TAU / im.abs()),
            [re, _] => Some(6.0 / re.abs()),
        };
        let longest = self.poles.iter().filter_map(time).filter(|t| t.is_finite()).fold(0.0, f64::max);
        match (longest > 0.0, self.source) {
            (true, None) => (round_up(longest), CURVE_SAMPLES),
            (false, None) => (T_END, CURVE_SAMPLES),
            (moves, Some(omega)) => {
                let period = TAU / omega;
                let wanted = if moves { longest } else { 5.0 * period };
                let t_end = round_up(wanted.clamp(3.0 * period, VISIBLE_PERIODS * period));
                (t_end, CURVE_SAMPLES.max((50.0 * t_end / period) as usize))
            }
        }
    }
}

/// The highest angular frequency of sines and cosines of time in the equations, in rad/s.
pub fn source_frequency(pool: &mut Pool, graph: &BondGraph, equations: &Equations) -> Option<f64> {
    let time = graph.variables.symbol(Variable::Time)?;
    let mut roots = equations.rates.clone();
    roots.extend(equations.inputs.iter().map(|input| input.value));
    roots.extend(equations.outputs.iter().map(|output| output.value));
    let arguments: Vec<Expr> = pool
        .reachable(&roots)
        .into_iter()
        .filter_map(|e| match pool.node(e) {
            Node::Call(Func::Sin | Func::Cos, [argument]) => Some(*argument),
            _ => None,
        })
        .collect();
    let value = |symbol: Symbol| graph.number(symbol);
    let mut frequencies: Vec<f64> = Vec::new();
    for argument in arguments {
        let rate = pool.diff(argument, time);
        frequencies.extend(pool.eval(rate, &value).ok());
    }
    let moving = frequencies.into_iter().map(f64::abs).filter(|omega| omega.is_finite() && *omega != 0.0);
    moving.reduce(f64::max)
}

/// A round number not below another: 1, 2 or 5 times a power of ten.
fn round_up(least: f64) -> f64 {
    let base = 10_f64.powf(least.log10().floor());
    [1.0, 2.0, 5.0].into_iter().map(|factor| factor * base).find(|t| *t >= least).unwrap_or(10.0 * base)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn end(poles: &[[f64; 2]], source: Option<f64>) -> f64 {
        Horizon { poles: poles.to_vec(), linearised: false, source }.end_and_samples().0
    }

    #[test]
    fn a_run_lasts_until_the_slowest_mode_has_decayed() {
        assert_eq!(end(&[], None), T_END);
        assert_eq!(end(&[[-2.0, 0.0], [-100.0, 0.0]], None), 5.0);
        // An undamped mode swings eight times, six seconds or so.
        assert_eq!(end(&[[0.0, TAU]], None), 10.0);
        // A conserved quantity of a linear model does not move, one of a linearisation may on the way to it.
        assert_eq!(end(&[[0.0, 0.0], [-2.0, 0.0]], None), 5.0);
        let linearised = Horizon { poles: vec![[0.0, 0.0], [-2.0, 0.0]], linearised: true, source: None };
        assert_eq!(linearised.end_and_samples().0, T_END);
    }

    #[test]
    fn periods_of_a_source_are_neither_cut_nor_too_many() {
        assert_eq!(end(&[[-600.0, 0.0]], Some(TAU)), 5.0);
        assert_eq!(end(&[[-1e-3, 0.0]], Some(TAU)), 50.0);
        let (t_end, samples) = Horizon { source: Some(100.0 * TAU), ..Horizon::default() }.end_and_samples();
        assert_eq!((t_end, samples), (0.05, CURVE_SAMPLES));
        let slow = Horizon { poles: vec![[-1.0, 0.0]], linearised: false, source: Some(10.0 * TAU) };
        assert_eq!(slow.end_and_samples(), (5.0, 2500));
    }
}
