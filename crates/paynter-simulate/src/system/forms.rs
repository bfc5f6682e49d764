//! Event functions that are linear in states and unknowns, in numbers: the unknowns eliminated, their weights of states,
//! and what of them depends on time alone.

use super::System;
use super::enclosure::Enclosures;
use super::workspace::Workspace;
use crate::model::forms::LinearForms;
use crate::tolerance::FORM_ROUNDING;
use paynter_numerics::linalg::PivotedFactors;
use paynter_numerics::program::{Enclosure, Range};

/// The linear forms for the present modes.
#[derive(Debug, Default)]
pub(super) struct Forms {
    epoch: u32,
    coefficients: Workspace,
    values: Vec<f64>,
    rests: Enclosures,
    points: Workspace,
    /// Which rows have finite weights.
    usable: Vec<bool>,
    /// Row by row.
    rows: Vec<Form>,
    enclosed: Vec<Enclosure>,
    centre: Vec<f64>,
}

/// A linear form without unknowns.
#[derive(Debug, Default, Clone)]
pub(crate) struct Form {
    /// The weights of the states that it reads, each with the size of what it is the sum of.
    pub weights: Vec<(usize, f64, f64)>,
    /// By how much of each residual it has less than the event function.
    multipliers: Vec<f64>,
    /// What elimination in floating point has left of unknowns.
    left: f64,
}

impl System<'_> {
    /// Prepares the linear forms for the present modes.
    pub fn prepare_forms(&mut self) {
        let model = self.model;
        let Some(linear) = &model.forms else { return };
        let forms = &mut self.forms;
        let held = !self.following && self.branching.is_empty();
        if !held {
            forms.usable.clear();
            forms.epoch = 0;
            return;
        }
        if forms.epoch == self.configuration.epoch && !forms.usable.is_empty() {
            return;
        }
        forms.epoch = self.configuration.epoch;
        forms.values.resize(linear.coefficients.results(), 0.0);
        forms.coefficients.run(&linear.coefficients, &self.configuration, &[], &mut forms.values);
        forms.rows.clear();
        forms.rows.extend(eliminated(linear, &forms.values, model.states.len(), model.unknowns.len()));
        let finite =
            |form: &Form| form.left.is_finite() && form.weights.iter().all(|(_, w, _)| w.is_finite());
        forms.usable.clear();
        forms.usable.extend(forms.rows.iter().map(finite));
    }

    /// The row of an event function that has a linear form for the present modes.
    pub fn form_row(&self, k: usize) -> Option<usize> {
        let row = (*self.model.forms.as_ref()?.rows.get(k)?)?;
        self.forms.usable.get(row).is_some_and(|usable| *usable).then_some(row)
    }

    /// The number of rows.
    pub fn form_count(&self) -> usize {
        self.model.forms.as_ref().map_or(0, |linear| linear.count)
    }

    /// A linear form.
    pub fn form(&self, row: usize) -> &Form {
        &self.forms.rows[row]
    }

    /// What rounding may make of a linear form where states are as large as these, in a step that has found its
    /// unknowns.
    pub fn form_rounding(&self, row: usize, size: impl Fn(usize) -> f64) -> f64 {
        let form = &self.forms.rows[row];
        let unknowns = self.step_start.iter().chain(&self.step_end);
        let largest = unknowns.fold(0.0f64, |most, z| most.max(z.abs()));
        let terms = form.weights.iter().map(|(i, _, sum)| sum * size(*i)).sum::<f64>();
        FORM_ROUNDING * terms + 2.0 * form.left * largest
    }

    /// Encloses what linear forms have of time alone where it is enclosed so, and calculates it in the middle.
    pub fn enclose_form_rests(&mut self, time: Enclosure, middle: f64) {
        let model = self.model;
        let Some(linear) = &model.forms else { return };
        let forms = &mut self.forms;
        forms.rests.run(&linear.rests, &self.configuration, &[time], &mut forms.enclosed);
        forms.centre.resize(linear.rests.results(), 0.0);
        forms.points.run(&linear.rests, &self.configuration, &[middle], &mut forms.centre);
    }

    /// What a linear form has of time alone, at a time.
    pub fn form_rest_at(&mut self, row: usize, t: f64) -> f64 {
        let model = self.model;
        let Some(linear) = &model.forms else { return f64::NAN };
        let forms = &mut self.forms;
        forms.centre.resize(linear.rests.results(), 0.0);
        forms.points.run(&linear.rests, &self.configuration, &[t], &mut forms.centre);
        let residuals = forms.rows[row].multipliers.iter().zip(&forms.centre[linear.count..]);
        forms.centre[row] - residuals.map(|(multiplier, rest)| multiplier * rest).sum::<f64>()
    }

    /// What a linear form has of time alone, as it was enclosed last, and its range in the middle.
    pub fn form_rest(&self, row: usize) -> (Enclosure, Range) {
        let forms = &self.forms;
        let Some(linear) = &self.model.forms else { return (Enclosure::ALL, Range::ALL) };
        let at = |place: usize| {
            let centre = forms.centre[place];
            (forms.enclosed[place], Range::about(centre, FORM_ROUNDING * centre.abs()))
        };
        let (mut whole, mut centre) = at(row);
        let residuals = forms.rows[row].multipliers.iter().enumerate();
        for (i, multiplier) in residuals.filter(|(_, multiplier)| **multiplier != 0.0) {
            let (own, middle) = at(linear.count + i);
            let factor = Range::point(-multiplier);
            whole.value = whole.value.plus(own.value.times(factor));
            whole.derivative = whole.derivative.plus(own.derivative.times(factor));
            centre = centre.plus(middle.times(factor));
        }
        (whole, centre)
    }
}

/// The linear forms of event functions a·z + b·x less multiples λ of the residuals C·z + e·x, with λ·C = a.
fn eliminated(linear: &LinearForms, values: &[f64], n: usize, m: usize) -> Vec<Form> {
    let of_residuals = || {
        let entries = linear.places.iter().zip(values);
        entries.filter(|((row, _), _)| *row >= linear.count).map(|((row, j), v)| (row - linear.count, *j, *v))
    };
    let matrix: Vec<(usize, usize, f64)> = of_residuals().filter(|(_, j, _)| *j >= n).collect();
    let transposed: Vec<(usize, usize)> = matrix.iter().map(|(i, j, _)| (j - n, *i)).collect();
    let mut factors: Option<PivotedFactors> = None;
    let mut rows = vec![Form::default(); linear.count];
    let (mut weights, mut sizes) = (vec![0.0; n], vec![0.0; n]);
    let (mut by_unknowns, mut sum) = (vec![0.0; m], vec![0.0; m]);
    let mut entries = linear.places.iter().zip(values).peekable();
    for (row, form) in rows.iter_mut().enumerate() {
        linear.states[row].iter().for_each(|i| (weights[*i], sizes[*i]) = (0.0, 0.0));
        by_unknowns.fill(0.0);
        while let Some(((_, j), value)) = entries.next_if(|((own, _), _)| *own == row) {
            match j.checked_sub(n) {
                Some(j) => by_unknowns[j] = *value,
                None => (weights[*j], sizes[*j]) = (*value, value.abs()),
            }
        }
        if linear.reads_unknowns[row] {
            let factors = factors.get_or_insert_with(|| {
                let mut factors = PivotedFactors::new(m, &transposed);
                factors.factorise(matrix.iter().map(|(_, _, value)| *value));
                factors
            });
            form.multipliers.clone_from(&by_unknowns);
            factors.solve(&mut form.multipliers);
            sum.iter_mut().zip(&by_unknowns).for_each(|(sum, a)| *sum = a.abs());
            for (i, j, value) in of_residuals() {
                let part = form.multipliers[i] * value;
                match j.checked_sub(n) {
                    Some(j) => (by_unknowns[j], sum[j]) = (by_unknowns[j] - part, sum[j] + part.abs()),
                    None => (weights[j], sizes[j]) = (weights[j] - part, sizes[j] + part.abs()),
                }
            }
            let left = by_unknowns.iter().zip(&sum).map(|(left, sum)| left.abs() + FORM_ROUNDING * sum);
            form.left = left.sum();
        }
        form.weights = linear.states[row].iter().map(|i| (*i, weights[*i], sizes[*i])).collect();
    }
    rows
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::model::forms::linear_forms;
    use paynter_algebra::Pool;

    #[test]
    fn the_current_of_a_blocked_diode_has_no_part_of_the_currents_that_it_is_the_difference_of() {
        let mut pool = Pool::new();
        let [time, i, q, z, v, s, g] = ["t", "i", "q", "z", "v", "s", "g"].map(|name| pool.symbol(name));
        let [at, ei, eq, ez, ev, es, eg] = [time, i, q, z, v, s, g].map(|symbol| pool.var(symbol));
        // A coil's current that a switch (s) feeds from v·t, but for what a diode (g) leaks: z = s (v t + (i − z)/g).
        let leak = pool.sub(ei, ez);
        let effort = pool.div(leak, eg);
        let source = pool.mul(ev, at);
        let sum = pool.add(source, effort);
        let fed = pool.mul(es, sum);
        let residual = pool.sub(ez, fed);
        // A limit whose branch a mode chooses (s) is linear; what is not linear has no form.
        let (zero, two) = (pool.zero(), pool.int(2));
        let free = pool.compare(paynter_algebra::Cmp::Ge, es, zero);
        let limited = pool.select(free, ei, two);
        let product = pool.mul(ei, eq);
        let bent = pool.sub(product, ez);
        let linear = linear_forms(
            &mut pool,
            (&[leak, bent, ei, limited], &[true, true, false, true]),
            &[residual],
            (&[i, q], &[z]),
            (&[v, s, g], time),
        );
        let linear = linear.unwrap().unwrap();
        assert_eq!((linear.count, linear.rows.as_slice()), (2, &[Some(0), None, None, Some(1)][..]));
        let slow = [24.0, 50.0, 1e-6];
        let mut values = vec![0.0; linear.coefficients.results()];
        linear.coefficients.run(&slow, &mut Vec::new(), &mut values);
        let forms = eliminated(&linear, &values, 2, 1);
        assert_eq!(forms[1].weights, [(0, 1.0, 1.0)]);
        let form = &forms[0];
        let (by_current, rest) = (1e-6 / (50.0 + 1e-6), -50.0 * 1e-6 / (50.0 + 1e-6));
        let (place, weight, terms) = form.weights[0];
        assert_eq!((place, form.weights.len()), (0, 1));
        assert!((weight / by_current - 1.0).abs() < 1e-7, "{weight}");
        assert!(terms > 1.9 && form.left < 1e-12, "{terms} {}", form.left);
        // The rest of the residual is −s v t.
        assert!((form.multipliers[0] * 50.0 / rest - 1.0).abs() < 1e-7, "{:?}", form.multipliers);
    }
}
