//! Transfer values and their derivatives by parameters: the equations are
//! solved for a unit of each input.

use crate::acausal::{Meaning, Place};
use crate::pencil::{Factors, Pencil};
use crate::tolerance::{ENTRY_CHANGE, EXPLAINED, TRANSFER, TRANSFER_FLOOR};
use crate::{Check, Checked, Contradiction};
use num_complex::Complex64;
use paynter_algebra::{Expr, Pool};
use paynter_base::number::short;

/// A value that an answer gives for one output and input, with a name of what it is.
#[derive(Debug, Clone, Copy)]
pub struct Given {
    /// The output, by place in the graph.
    pub output: usize,
    /// The input, by place in the graph.
    pub input: usize,
    /// The parameter that it is the derivative by, by place in the graph; none for the transfer value itself.
    pub parameter: Option<usize>,
    /// The value.
    pub value: Complex64,
}

/// The derivative of an output driven by an input by a parameter, and how large what it is the difference of is.
type DerivativeEntry = (usize, usize, usize, Complex64, f64);

/// A value, where there is one, and how large what makes it up is.
type Sum = (Option<Complex64>, f64);

/// Which derivatives are among what was compared, by place.
fn with_sensitivities(given: &[Given], compared: &[(f64, usize)]) -> &'static str {
    let asked = given.iter().filter(|given| given.parameter.is_some()).count();
    let known = compared.iter().filter(|(_, at)| given[*at].parameter.is_some()).count();
    match known {
        0 => "",
        _ if known == asked => " with its sensitivities",
        _ => " with some of its sensitivities",
    }
}

impl Pencil<'_> {
    /// Checks transfer values at s, and their derivatives by parameters, with which the point moves where the
    /// equations are not linear, and says which of them were compared. Nothing is said at a pole.
    pub fn check_transfer(&self, pool: &mut Pool, what: &str, s: Complex64, given: &[Given]) -> Checked {
        let Some(right) = self.values(pool, s, given, None) else { return Ok(Vec::new()) };
        let mut missed: Vec<(f64, usize)> = Vec::new();
        for (at, (given, (value, size))) in given.iter().zip(&right).enumerate() {
            let Some(value) = value.filter(|_| given.value.is_finite()) else { continue };
            let scale = value.norm().max(given.value.norm()).max(TRANSFER_FLOOR * size);
            let apart = (value - given.value).norm();
            missed.push((if apart == 0.0 { 0.0 } else { apart / scale }, at));
        }
        missed.sort_by(|a, b| b.0.total_cmp(&a.0));
        let far = missed.partition_point(|(residual, _)| residual.is_nan() || *residual > TRANSFER);
        let (far, near) = missed.split_at(far);
        // Near a pole, or where terms cancel, entries decide that nobody knows so well.
        let moved = match far.is_empty() {
            true => None,
            false => self.values(pool, s, given, Some((1, ENTRY_CHANGE))),
        };
        let explained = |at: usize| match (right[at].0, moved.as_ref().and_then(|moved| moved[at].0)) {
            (Some(a), Some(b)) => (a - b).norm() > EXPLAINED * (a - given[at].value).norm(),
            _ => false,
        };
        let what = format!("{what}{} at {} rad/s", with_sensitivities(given, near), short(s.im));
        let Some((residual, at)) = far.iter().find(|(_, at)| !explained(*at)) else {
            let residual = near.first().map(|(residual, _)| *residual);
            return Ok(residual.map(|residual| Check { what, residual }).into_iter().collect());
        };
        let (residual, place) = (*residual, given[*at]);
        let graph = self.system.graph;
        let by = place.parameter.map_or_else(String::new, |k| {
            format!(" and its derivative by `{}`", graph.parameters[k].declaration.name)
        });
        let equation = format!(
            "the output `{}` driven by `{}`{by}",
            graph.outputs[place.output].name, graph.inputs[place.input].name
        );
        let of_sensitivity = place.parameter.is_some();
        Err(Contradiction { what, residual, equation, of_sensitivity })
    }

    /// What values the equations give in the place of those given, and by how much they change if entries do by
    /// rounding: none where nobody knows them better than that. Nothing at a pole.
    pub fn solve_transfer(
        &self,
        pool: &mut Pool,
        s: Complex64,
        given: &[Given],
    ) -> Option<Vec<Option<(Complex64, f64)>>> {
        let found = self.values(pool, s, given, None)?;
        let moved = self.values(pool, s, given, Some((1, ENTRY_CHANGE)))?;
        let of = |(given, ((value, size), (other, _))): (&Given, (&Sum, &Sum))| {
            // Differences between rests are good for a comparison, not for an answer.
            let (value, other) = ((*value)?, (*other).filter(|_| self.linear || given.parameter.is_none())?);
            let scale = value.norm().max(TRANSFER_FLOOR * size);
            let apart = (value - other).norm();
            let change = if apart == 0.0 { 0.0 } else { apart / scale };
            (change <= TRANSFER).then_some((value, change))
        };
        Some(given.iter().zip(found.iter().zip(&moved)).map(of).collect())
    }

    /// What the values should be, and how large what makes them up is.
    fn values(
        &self,
        pool: &mut Pool,
        s: Complex64,
        given: &[Given],
        change: Option<(u64, f64)>,
    ) -> Option<Vec<Sum>> {
        let mut inputs: Vec<usize> = given.iter().map(|given| given.input).collect();
        inputs.sort_unstable();
        inputs.dedup();
        let factors = Factors::new(self.rows(s, change))?;
        let driven: Vec<Vec<Complex64>> =
            inputs.iter().map(|input| factors.solve(&self.driven_by(*input))).collect();
        let of = |input: usize| inputs.iter().position(|other| *other == input).unwrap_or(0);
        let mut asked: Vec<(usize, usize)> = given
            .iter()
            .filter(|_| self.linear)
            .filter_map(|given| Some((given.parameter?, given.input)))
            .collect();
        asked.sort_unstable();
        asked.dedup();
        let moved: Vec<Vec<Complex64>> = asked
            .iter()
            .map(|(parameter, input)| {
                factors.solve(&self.moved_by(pool, *parameter, *input, &driven[of(*input)]))
            })
            .collect();
        let curved = self.curved(pool, s, given, change);
        let read = |terms: &[(usize, f64)], z: &[Complex64]| {
            terms.iter().fold((Complex64::ZERO, 0.0), |(sum, size), (at, c)| {
                let term = *c * z[*at];
                (sum + term, size + term.norm())
            })
        };
        Some(
            given
                .iter()
                .map(|given| {
                    let z = &driven[of(given.input)];
                    let [variables, through] = &self.outputs[given.output];
                    let Some(parameter) = given.parameter else {
                        let (mut sum, mut size) = read(variables, z);
                        for (_, c) in through.iter().filter(|(k, _)| *k == given.input) {
                            sum += c;
                            size += c.abs();
                        }
                        return (Some(sum), size);
                    };
                    let place = asked.iter().position(|other| *other == (parameter, given.input));
                    let Some(place) = place else {
                        let known = |(output, input, by, ..): &&DerivativeEntry| {
                            (*output, *input, *by) == (given.output, given.input, parameter)
                        };
                        let known = curved.iter().find(known);
                        return known.map_or((None, 0.0), |(.., value, size)| (Some(*value), *size));
                    };
                    let (sum, size) = read(variables, &moved[place]);
                    let output = self.system.graph.outputs[given.output].value;
                    let own = self.derivative(pool, Place::Nowhere, output, parameter, given.input, z);
                    (Some(sum + own), size + own.norm())
                })
                .collect(),
        )
    }

    /// The derivatives by parameters of equations whose entries change with the point: by differences of the points
    /// to which the parameters lead. None where these are not given, or a law has no derivative there.
    fn curved(
        &self,
        pool: &mut Pool,
        s: Complex64,
        given: &[Given],
        change: Option<(u64, f64)>,
    ) -> Vec<DerivativeEntry> {
        let mut found = Vec::new();
        for (parameter, step, sides) in self.sides.iter().filter(|_| !self.linear) {
            let own: Vec<Given> = given
                .iter()
                .filter(|given| given.parameter == Some(*parameter))
                .map(|given| Given { parameter: None, ..*given })
                .collect();
            if own.is_empty() {
                continue;
            }
            let [Some(below), Some(above)] = [0, 1].map(|k| sides[k].values(pool, s, &own, change)) else {
                continue;
            };
            for (given, ((below, _), (above, _))) in own.iter().zip(below.iter().zip(&above)) {
                if let (Some(below), Some(above)) = (below, above) {
                    let derivative = (above - below) / (2.0 * step);
                    let size = (above.norm() + below.norm()) / step;
                    found.push((given.output, given.input, *parameter, derivative, size));
                }
            }
        }
        found
    }

    /// −∂(M·z − N·u)/∂p at a solution.
    fn moved_by(&self, pool: &mut Pool, parameter: usize, input: usize, z: &[Complex64]) -> Vec<Complex64> {
        let mut side = vec![Complex64::ZERO; self.system.width];
        for place in self.readers.get(&parameter).into_iter().flatten() {
            let row = &self.system.rows[*place];
            // The value stands with a minus sign in the row.
            if let Some(value) = row.value {
                side[*place] = self.derivative(pool, row.place, value, parameter, input, z);
            }
        }
        side
    }

    /// The derivative by a parameter of what a linear expression makes of small changes.
    fn derivative(
        &self,
        pool: &mut Pool,
        place: Place,
        value: Expr,
        parameter: usize,
        input: usize,
        z: &[Complex64],
    ) -> Complex64 {
        let symbol = self.system.graph.parameters[parameter].declaration.symbol;
        if !pool.depends_on(value, symbol) {
            return Complex64::ZERO;
        }
        let mut sum = Complex64::ZERO;
        for other in pool.symbols(value) {
            let (amount, sign) = match self.system.meaning(place, other) {
                Some(Meaning::Variable(at, sign)) => (z[at], sign),
                Some(Meaning::Input(k)) if k == input => (Complex64::ONE, 1.0),
                _ => continue,
            };
            let derivative = pool.diff(value, other);
            let derivative = pool.diff(derivative, symbol);
            let at = |s| self.system.value_at(place, s, self.point);
            sum += sign * pool.eval(derivative, &at).unwrap_or(f64::NAN) * amount;
        }
        sum
    }
}
