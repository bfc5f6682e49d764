//! Transfer values and their derivatives by parameters: the equations are
//! solved for a unit of each input.

use crate::pencil::{Mixed, Pencil};
use crate::tolerance::{ENTRY_CHANGE, EXPLAINED, STATIC_FLOOR, TRANSFER, TRANSFER_FLOOR};
use crate::{Check, Checked, Contradiction};
use num_complex::Complex64;
use paynter_algebra::Pool;
use paynter_base::number::short;
use rustc_hash::FxHashMap;

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

/// So many points of the upper half of a circle give a mean on it: the error falls as the radius, beside the distance of
/// the nearest pole, to twice their power.
const CIRCLE_POINTS: usize = 12;

/// Where values are compared.
#[derive(Debug, Clone, Copy)]
enum Place {
    /// At a number s.
    At(Complex64),
    /// At zero, where poles cancel: the mean on a circle of this radius.
    Around(f64),
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
        self.compare(pool, what, Place::At(s), given, &right)
    }

    /// Checks static gains and their derivatives. Beside what they are at a frequency, little is nothing. Where poles at
    /// zero cancel, they are means on a circle of some radius `around` zero.
    pub fn check_static(
        &self,
        pool: &mut Pool,
        what: &str,
        given: &[Given],
        (omega, around): (f64, Option<f64>),
    ) -> Checked {
        let Some(right) = self.static_values(pool, given, (omega, around)) else { return Ok(Vec::new()) };
        let place = around.map_or(Place::At(Complex64::ZERO), Place::Around);
        self.compare(pool, what, place, given, &right)
    }

    /// The static gains and their derivatives that the equations give in the place of those given; nothing where
    /// entries changed by rounding change one of them.
    pub fn solve_static(
        &self,
        pool: &mut Pool,
        given: &[Given],
        (omega, around): (f64, Option<f64>),
    ) -> Option<Vec<f64>> {
        let found = self.static_values(pool, given, (omega, around))?;
        let place = around.map_or(Place::At(Complex64::ZERO), Place::Around);
        let moved = self.values_at(pool, place, given, Some((1, ENTRY_CHANGE)))?;
        let settled = |((value, size), (other, _)): (&Sum, &Sum)| {
            let (value, other) = ((*value)?, (*other)?);
            // Sizes are in the measure of transfer values, which agree to a part of what they are not below.
            let least = TRANSFER * TRANSFER_FLOOR * size;
            let is_known = (value - other).norm() <= least.max(TRANSFER * value.norm());
            is_known.then_some(if value.norm() <= least { 0.0 } else { value.re })
        };
        found.iter().zip(&moved).map(settled).collect()
    }

    /// The static gains and their derivatives, and how large what makes them up is: the response at a frequency among
    /// it, and for a derivative what changes the gain by its own size.
    fn static_values(
        &self,
        pool: &mut Pool,
        given: &[Given],
        (omega, around): (f64, Option<f64>),
    ) -> Option<Vec<Sum>> {
        let place = around.map_or(Place::At(Complex64::ZERO), Place::Around);
        let mut right = self.values_at(pool, place, given, None)?;
        let others = self.values(pool, Complex64::new(0.0, omega), given, None)?;
        for ((_, size), (other, _)) in right.iter_mut().zip(others) {
            *size = other.map_or(*size, |other| size.max(other.norm()));
        }
        let gains: FxHashMap<(usize, usize), f64> = (given.iter().zip(&right))
            .filter(|(given, _)| given.parameter.is_none())
            .filter_map(|(given, (value, size))| {
                Some(((given.output, given.input), value.as_ref()?.norm().max(*size)))
            })
            .collect();
        for (given, (_, size)) in given.iter().zip(&mut right) {
            let value = given.parameter.map_or(0.0, |parameter| self.point.parameters[parameter].abs());
            if let Some(gain) = gains.get(&(given.output, given.input)).filter(|_| value > 0.0) {
                *size = size.max(gain / value);
            }
        }
        right.iter_mut().for_each(|(_, size)| *size *= STATIC_FLOOR / (TRANSFER * TRANSFER_FLOOR));
        Some(right)
    }

    /// Compares what is given with what the equations say.
    fn compare(&self, pool: &mut Pool, what: &str, place: Place, given: &[Given], right: &[Sum]) -> Checked {
        let mut missed: Vec<(f64, usize)> = Vec::new();
        for (at, (given, (value, size))) in given.iter().zip(right).enumerate() {
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
            false => self.values_at(pool, place, given, Some((1, ENTRY_CHANGE))),
        };
        let explained = |at: usize| match (right[at].0, moved.as_ref().and_then(|moved| moved[at].0)) {
            (Some(a), Some(b)) => (a - b).norm() > EXPLAINED * (a - given[at].value).norm(),
            _ => false,
        };
        let omega = match place {
            Place::At(s) => s.im,
            Place::Around(_) => 0.0,
        };
        let what = format!("{what}{} at {} rad/s", with_sensitivities(given, near), short(omega));
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

    /// What the values should be at a place, and how large what makes them up is.
    fn values_at(
        &self,
        pool: &mut Pool,
        place: Place,
        given: &[Given],
        change: Option<(u64, f64)>,
    ) -> Option<Vec<Sum>> {
        let radius = match place {
            Place::At(s) => return self.values(pool, s, given, change),
            Place::Around(radius) => radius,
        };
        // Below the real axis values are conjugate to those above it.
        let mut means: Vec<Sum> = vec![(Some(Complex64::ZERO), 0.0); given.len()];
        for k in 0..CIRCLE_POINTS {
            let angle = std::f64::consts::PI * (k as f64 + 0.5) / CIRCLE_POINTS as f64;
            let found = self.values(pool, Complex64::from_polar(radius, angle), given, change)?;
            for ((mean, size), (value, own)) in means.iter_mut().zip(found) {
                *mean = mean.zip(value).map(|(mean, value)| mean + value.re / CIRCLE_POINTS as f64);
                *size += own / CIRCLE_POINTS as f64;
            }
        }
        Some(means)
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
        let matrix = self.condensed(change);
        let factors = matrix.at(s)?;
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
        // What small changes and a unit of an input make of a sum, and how large its terms are.
        let read = |[variables, through]: &Mixed, z: &[Complex64], unit: Option<usize>| {
            let terms = variables.iter().map(|(at, c)| *c * z[*at]);
            let through = through.iter().filter(|(k, _)| Some(*k) == unit).map(|(_, c)| Complex64::from(*c));
            terms
                .chain(through)
                .fold((Complex64::ZERO, 0.0), |(sum, size), term| (sum + term, size + term.norm()))
        };
        // −∂(M·z − N·u)/∂p at the solution; a value stands with a minus sign in its row.
        let mut moved: Vec<Vec<Complex64>> = Vec::with_capacity(asked.len());
        for (parameter, input) in &asked {
            let mut side = vec![Complex64::ZERO; self.system.width];
            for (place, terms) in &self.moved(pool, *parameter).rows {
                side[*place] = read(terms, &driven[of(*input)], Some(*input)).0;
            }
            moved.push(factors.solve(&side));
        }
        let curved = self.curved(pool, s, given, change);
        Some(
            given
                .iter()
                .map(|given| {
                    let z = &driven[of(given.input)];
                    let output = &self.outputs[given.output];
                    let Some(parameter) = given.parameter else {
                        let (sum, size) = read(output, z, Some(given.input));
                        return (Some(sum), size);
                    };
                    let Ok(place) = asked.binary_search(&(parameter, given.input)) else {
                        let known = |(output, input, by, ..): &&DerivativeEntry| {
                            (*output, *input, *by) == (given.output, given.input, parameter)
                        };
                        let known = curved.iter().find(known);
                        return known.map_or((None, 0.0), |(.., value, size)| (Some(*value), *size));
                    };
                    let (sum, size) = read(output, &moved[place], None);
                    let own = &self.moved(pool, parameter).outputs[given.output];
                    let (own, _) = read(own, z, Some(given.input));
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
}
