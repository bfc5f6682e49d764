//! Derivatives of simple poles and zeros by parameters: the left and right vectors of the singular system at a pole, u
//! and v, give dλ = −u·∂M·v/(u·M₁·v), and a zero moves with dz = −∂H/∂p/(∂H/∂s). Where entries change with the point,
//! ∂M is a difference between the rests beside it: good for a comparison, not for an answer.

use crate::factors::Condensed;
use crate::pencil::{Mixed, Moved, Pencil};
use crate::tolerance::{
    BLURRED_MOVE, DERIVATIVE_FLOOR, DERIVATIVE_ROUNDING, DIFFERENCE_DOUBT, ENTRY_CHANGE, ROOT_DERIVATIVE,
    ROUNDING_CHANGES, UNSEEN_MOVE,
};
use crate::{Check, Contradiction};
use num_complex::Complex64;
use paynter_algebra::Pool;
use paynter_base::random::Random;
use std::rc::Rc;

/// How often the vectors of a pole are sought beside it: each time leaves of the other modes the part that the pole's
/// rounding is of their distance.
const INVERSE_ITERATIONS: usize = 2;

/// What the equations give for a parameter.
#[derive(Debug, Clone, Copy)]
struct Derivative {
    value: Complex64,
    /// The size that it could have.
    size: f64,
    /// By how much the entries' differences may miss their derivatives.
    doubt: f64,
}

/// What a parameter changes in the entries, and by how much that may be missed; none where it is exact.
struct Change {
    moved: Rc<Moved>,
    doubt: Option<Moved>,
    /// The size of the parameter; infinite where that is zero.
    size: f64,
}

/// A derivative by a parameter, and by how much it may be missed; none that entries changed by rounding decide.
type Known = Option<(Complex64, f64)>;

/// The derivatives of a root by parameters, those that are known.
pub type RootDerivatives = Vec<Option<Complex64>>;

/// A pole, or a zero with the places of its output and input in the graph.
#[derive(Debug, Clone, Copy)]
pub struct Root {
    /// Where it lies.
    pub value: Complex64,
    /// Whose zero it is; none for a pole.
    pub entry: Option<(usize, usize)>,
}

impl Pencil<'_> {
    /// The derivatives of simple poles and zeros by parameters, given by place in the graph: none that entries changed by
    /// rounding decide. Nothing of a root at which the equations cannot be solved beside it, as of a zero that is a pole
    /// as well, nor where entries change with the point.
    pub fn root_derivatives(
        &self,
        pool: &mut Pool,
        roots: &[Root],
        parameters: &[usize],
    ) -> Option<Vec<Option<RootDerivatives>>> {
        if !self.is_linear() {
            return None;
        }
        let exact = |parameter: &usize| Change {
            moved: self.moved(pool, *parameter),
            doubt: None,
            size: self.size_of(*parameter),
        };
        let changes: Vec<Change> = parameters.iter().map(exact).collect();
        let values =
            |known: Vec<Known>| known.into_iter().map(|known| Some(known?.0)).collect::<RootDerivatives>();
        Some(self.root_moves(roots, &changes).into_iter().map(|known| known.map(values)).collect())
    }

    /// Checks derivatives of simple poles and zeros, given by parameter, where entries change with the point: by
    /// differences between the rests beside it. Says of each root whether its derivatives are known better than rounding
    /// lets them be.
    pub fn check_root_derivatives(
        &self,
        given: &[(Root, Vec<(usize, Complex64)>)],
    ) -> Result<(Vec<Check>, Vec<bool>), Contradiction> {
        let what = "the derivatives of poles and zeros";
        let (parameters, changes): (Vec<usize>, Vec<Change>) = (self.sides.iter())
            .filter_map(|(parameter, step, sides)| {
                Some((*parameter, self.change_beside(*parameter, *step, sides)?))
            })
            .unzip();
        let roots: Vec<Root> = given.iter().map(|(root, _)| *root).collect();
        let (mut most, mut compared, mut settled) = (0.0f64, false, Vec::new());
        for ((root, derivatives), own) in given.iter().zip(self.root_moves(&roots, &changes)) {
            let mut is_settled = true;
            for (parameter, own) in parameters.iter().zip(own.into_iter().flatten()) {
                let entry = derivatives.iter().find(|(other, value)| other == parameter && value.is_finite());
                let Some((_, value)) = entry else { continue };
                let Some((own, doubt)) = own else {
                    is_settled = false;
                    continue;
                };
                let size = own.norm().max(value.norm());
                let apart = ((own - value).norm() - doubt).max(0.0);
                let residual = if apart == 0.0 { 0.0 } else { apart / size };
                if apart * self.size_of(*parameter) <= BLURRED_MOVE * root.value.norm()
                    && residual > ROOT_DERIVATIVE
                {
                    // Beside another root both are known no better.
                    is_settled = false;
                    continue;
                }
                if residual > ROOT_DERIVATIVE || residual.is_nan() {
                    return Err(self.moves_otherwise(what, *root, *parameter, residual));
                }
                (most, compared) = (most.max(residual), true);
            }
            settled.push(is_settled);
        }
        let check = Check { what: what.to_owned(), residual: most };
        Ok((compared.then_some(check).into_iter().collect(), settled))
    }

    fn moves_otherwise(&self, what: &str, root: Root, parameter: usize, residual: f64) -> Contradiction {
        let graph = self.system.graph;
        let name = &graph.parameters[parameter].declaration.name;
        let of = match root.entry {
            None => format!("the pole {:.4}", root.value),
            Some((output, input)) => format!(
                "the zero {:.4} of the output `{}` driven by `{}`",
                root.value, graph.outputs[output].name, graph.inputs[input].name
            ),
        };
        let equation = format!("the derivative of {of} by `{name}`");
        Contradiction { what: what.to_owned(), residual, equation, of_sensitivity: true }
    }

    /// What a parameter changes in the entries: the difference between the sides, which may miss the derivative by the
    /// difference of those to each side, in which are rounding, curvature and kinks. None where a law does not have the
    /// same entries on both sides.
    fn change_beside(&self, parameter: usize, step: f64, [below, above]: &[Pencil<'_>; 2]) -> Option<Change> {
        let both = |[own, below, above]: [&Mixed; 3]| -> Option<[Mixed; 2]> {
            let of = |k: usize| differences(&own[k], [&below[k], &above[k]], step);
            let ([variables, by_variable], [inputs, by_input]) = (of(0)?, of(1)?);
            Some([[variables, inputs], [by_variable, by_input]])
        };
        let (mut moved, mut doubt) = (Moved::default(), Moved::default());
        for place in 0..self.entries.len() {
            let [change, missed] =
                both([&self.value_at(place), &below.value_at(place), &above.value_at(place)])?;
            if missed.iter().any(|entries| !entries.is_empty()) {
                moved.rows.push((place, change));
                doubt.rows.push((place, missed));
            }
        }
        for output in 0..self.outputs.len() {
            let [change, missed] =
                both([&self.outputs[output], &below.outputs[output], &above.outputs[output]])?;
            moved.outputs.push(change);
            doubt.outputs.push(missed);
        }
        Some(Change { moved: Rc::new(moved), doubt: Some(doubt), size: self.size_of(parameter) })
    }

    /// How large a parameter is; infinite where it is zero.
    fn size_of(&self, parameter: usize) -> f64 {
        match self.point.parameters[parameter].abs() {
            0.0 => f64::INFINITY,
            size => size,
        }
    }

    /// What the value of a row makes of small changes; it stands with a minus sign in its row.
    fn value_at(&self, place: usize) -> Mixed {
        let variables = self.entries[place].iter().map(|(at, c)| (*at, -c)).collect();
        [variables, self.inputs[place].clone()]
    }

    /// The derivatives of roots by what parameters change; nothing of a root at which the equations cannot be solved
    /// beside it.
    fn root_moves(&self, roots: &[Root], changes: &[Change]) -> Vec<Option<Vec<Known>>> {
        let (own, changed) = (self.condensed(None), self.condensed(Some((1, ENTRY_CHANGE))));
        let derive = |matrix: &Condensed, root: &Root| match root.entry {
            None => self.pole_derivatives(matrix, root.value, changes),
            Some(entry) => self.zero_derivatives(matrix, root.value, entry, changes),
        };
        let known = |root: &Root, size_of: f64, own: &Derivative, changed: &Derivative| -> Known {
            let Derivative { value, size, doubt } = *own;
            let apart = (value - changed.value).norm();
            if !(value.is_finite() && apart.is_finite()) {
                return None;
            }
            if value.norm() > 0.0 && apart <= ROOT_DERIVATIVE * value.norm() {
                return Some((value, doubt));
            }
            let cancels = value.norm() <= ROUNDING_CHANGES * apart && value.norm() <= DERIVATIVE_FLOOR * size;
            let most = value.norm().max(changed.value.norm());
            let is_rounding = most <= (DERIVATIVE_ROUNDING * size).max(doubt);
            // As much as rounding could make of it moves the root by nothing where the parameter changes by all it is.
            let is_unseen = value.norm() <= ROUNDING_CHANGES * apart
                && (value.norm() + ROUNDING_CHANGES * apart) * size_of <= UNSEEN_MOVE * root.value.norm();
            (cancels || is_rounding || is_unseen).then_some((Complex64::ZERO, doubt))
        };
        let of = |root: &Root| {
            let (found, changed) = (derive(&own, root)?, derive(&changed, root)?);
            let both = found.iter().zip(&changed).zip(changes);
            Some(both.map(|((own, changed), by)| known(root, by.size, own, changed)).collect())
        };
        roots.iter().map(of).collect()
    }

    fn pole_derivatives(
        &self,
        matrix: &Condensed,
        pole: Complex64,
        changes: &[Change],
    ) -> Option<Vec<Derivative>> {
        // Exactly at a pole nothing can be solved; a step of rounding away it can.
        let factors = matrix.at(pole).or_else(|| matrix.at(pole * (1.0 + f64::EPSILON)))?;
        let vector = |seed: u64, solve: &dyn Fn(&[Complex64]) -> Vec<Complex64>, rates: &[(usize, usize)]| {
            let mut random = Random::new(seed);
            let mut vector: Vec<Complex64> =
                (0..self.system.width).map(|_| Complex64::from(0.5 + random.unit())).collect();
            for k in 0..INVERSE_ITERATIONS {
                if k > 0 {
                    let mut side = vec![Complex64::ZERO; vector.len()];
                    rates.iter().for_each(|(to, from)| side[*to] += vector[*from]);
                    vector = side;
                }
                vector = solve(&vector);
                let size = largest(&vector);
                vector.iter_mut().for_each(|x| *x /= size);
            }
            vector
        };
        let rates: Vec<(usize, usize)> = self.rates().collect();
        let transposed: Vec<(usize, usize)> = rates.iter().map(|(i, state)| (*state, *i)).collect();
        let v = vector(11, &|side| factors.solve(side), &rates);
        let u = vector(12, &|side| factors.solve_transposed(side), &transposed);
        let below: Complex64 = rates.iter().map(|(i, state)| u[*i] * v[*state]).sum();
        let by = |moved: &Moved| {
            let terms = moved.rows.iter().flat_map(|(row, mixed)| terms(mixed, &v, None, u[*row]));
            terms.collect()
        };
        Some(changes.iter().map(|change| change.quotient(&by, largest(&v), below)).collect())
    }

    fn zero_derivatives(
        &self,
        matrix: &Condensed,
        zero: Complex64,
        (output, input): (usize, usize),
        changes: &[Change],
    ) -> Option<Vec<Derivative>> {
        let factors = matrix.at(zero)?;
        let z = factors.solve(&self.driven_by(input));
        let mut read = vec![Complex64::ZERO; self.system.width];
        self.outputs[output][0].iter().for_each(|(at, c)| read[*at] += Complex64::from(*c));
        let w = factors.solve_transposed(&read);
        let below: Complex64 = self.rates().map(|(i, state)| w[i] * z[state]).sum();
        let by = |moved: &Moved| {
            let inner = moved.rows.iter().flat_map(|(row, mixed)| terms(mixed, &z, Some(input), w[*row]));
            inner.chain(terms(&moved.outputs[output], &z, Some(input), Complex64::ONE)).collect()
        };
        Some(changes.iter().map(|change| change.quotient(&by, largest(&z), below)).collect())
    }
}

impl Change {
    /// The sum of the terms that this makes over a divisor, with the size it could have if all variables were as large as
    /// the largest: what vanishes by symmetry leaves the rounding of that.
    fn quotient(
        &self,
        terms: &dyn Fn(&Moved) -> Vec<(Complex64, Complex64)>,
        largest: f64,
        below: Complex64,
    ) -> Derivative {
        let (sum, size) =
            terms(&self.moved).into_iter().fold((Complex64::ZERO, 0.0), |(sum, size), (factor, value)| {
                (sum + factor * value, size + factor.norm() * largest)
            });
        let missed = self.doubt.as_ref().map_or(0.0, |doubt| {
            terms(doubt).into_iter().map(|(factor, value)| factor.norm() * value.norm()).sum()
        });
        let below_size = below.norm();
        Derivative { value: sum / below, size: size / below_size, doubt: missed / below_size }
    }
}

/// Central differences of coefficients between two sides, and by how much these may miss derivatives; none where the
/// sides have others.
fn differences(
    own: &[(usize, f64)],
    [below, above]: [&[(usize, f64)]; 2],
    step: f64,
) -> Option<[Vec<(usize, f64)>; 2]> {
    if own.len() != below.len() || own.len() != above.len() {
        return None;
    }
    let mut found = [Vec::new(), Vec::new()];
    for ((at, own), ((left, below), (right, above))) in own.iter().zip(below.iter().zip(above)) {
        if (left, right) != (at, at) {
            return None;
        }
        if below == own && above == own {
            continue;
        }
        found[0].push((*at, (above - below) / (2.0 * step)));
        found[1].push((*at, DIFFERENCE_DOUBT * (above - 2.0 * own + below).abs() / step));
    }
    Some(found)
}

/// The size of the largest variable.
fn largest(z: &[Complex64]) -> f64 {
    z.iter().fold(0.0f64, |most, z| most.max(z.norm()))
}

/// The terms of what small changes and a unit of an input make of a sum, times a factor: the factor of each, and what
/// it stands before.
fn terms<'a>(
    [variables, through]: &'a Mixed,
    z: &'a [Complex64],
    unit: Option<usize>,
    factor: Complex64,
) -> impl Iterator<Item = (Complex64, Complex64)> + 'a {
    let own = variables.iter().map(move |(at, c)| (factor * *c, z[*at]));
    let through = through.iter().filter(move |(k, _)| Some(*k) == unit);
    own.chain(through.map(move |(_, c)| (factor * *c, Complex64::ONE)))
}
