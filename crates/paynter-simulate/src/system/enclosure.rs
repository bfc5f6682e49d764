//! Enclosures of event functions, time signals and implicit unknowns over an interval of time.

use super::System;
use super::workspace::Configuration;
use crate::tolerance::{
    KRAWCZYK_INFLATION, KRAWCZYK_ITERATIONS, KRAWCZYK_ROUNDING, KRAWCZYK_UNKNOWNS, SIDE_HALVINGS,
    SIDE_ROUNDING,
};
use paynter_numerics::program::{Enclosure, Program, Range, Scalar};

/// Registers of a program that is run on enclosures.
#[derive(Debug, Clone, Default)]
pub(super) struct Enclosures {
    epoch: u32,
    registers: Vec<Enclosure>,
    template: Vec<Enclosure>,
}

impl Enclosures {
    pub(super) fn run(
        &mut self,
        program: &Program,
        configuration: &Configuration<'_>,
        fast: &[Enclosure],
        out: &mut Vec<Enclosure>,
    ) {
        let tables = configuration.tables;
        if self.epoch != configuration.epoch {
            self.epoch = configuration.epoch;
            self.template.clear();
            self.template.resize(program.results(), Enclosure::ALL);
            let (registers, template) = (&mut self.registers, &mut self.template);
            program.prepare_enclosures(&configuration.slow, tables, registers, template);
        }
        out.clear();
        out.extend_from_slice(&self.template);
        program.enclose_prepared(fast, tables, &mut self.registers, out);
    }
}

/// Room for Krawczyk's operator: an inverse, and ranges by unknowns.
#[derive(Debug, Default)]
pub(super) struct Krawczyk {
    /// The point to return to.
    present: Vec<f64>,
    centre: Vec<f64>,
    left: Vec<f64>,
    inverse: Vec<f64>,
    values: Vec<Enclosure>,
    moved: Vec<Range>,
    radius: Vec<f64>,
    rest: Vec<Range>,
    image: Vec<Range>,
}

/// A number as an enclosure.
fn point(x: f64) -> Enclosure {
    Enclosure::constant(x)
}

impl System<'_> {
    /// Encloses the event functions where time, states and unknowns are enclosed so.
    pub fn enclose_relations(&mut self, fast: &[Enclosure], out: &mut Vec<Enclosure>) {
        let model = self.model;
        self.enclosed_relations.run(&model.relations, &self.configuration, fast, out);
    }

    /// An event function of time alone over an interval of time.
    pub fn enclose_time_function(&mut self, place: usize, time: Range) -> Enclosure {
        let model = self.model;
        let workspaces = &mut self.time_functions;
        workspaces.resize_with(model.time_functions.len(), Default::default);
        let fast = [Enclosure { value: time, derivative: Range::point(1.0) }];
        let mut out = Vec::new();
        let program = &model.time_functions[place].program;
        workspaces[place].0.run(program, &self.configuration, &fast, &mut out);
        out[0]
    }

    /// An event function of time alone at a time.
    pub fn time_function(&mut self, place: usize, t: f64) -> f64 {
        let model = self.model;
        let workspaces = &mut self.time_functions;
        workspaces.resize_with(model.time_functions.len(), Default::default);
        let mut out = [0.0];
        workspaces[place].1.run(&model.time_functions[place].program, &self.configuration, &[t], &mut out);
        out[0]
    }

    /// Whether an event function of time alone that events change is exactly zero at a time.
    pub fn is_at_threshold(&mut self, t: f64) -> bool {
        (0..self.model.time_functions.len())
            .any(|place| !self.model.time_functions[place].fixed && self.time_function(place, t) == 0.0)
    }

    /// The side on which an event function of time alone is that is zero at a time: zero where it stays there up to
    /// the next corner of a table, else the side to which it leaves. None where that is not to be seen.
    pub fn side_after(&mut self, place: usize, t: f64) -> Option<f64> {
        let mut until = self.next_corner(t).unwrap_or(t + self.span);
        if stays_zero(&self.enclose_time_function(place, Range::new(t, until))) {
            return Some(0.0);
        }
        for _ in 0..SIDE_HALVINGS {
            let derivative = self.enclose_time_function(place, Range::new(t, until)).derivative;
            let end = self.time_function(place, until);
            let rounding = SIDE_ROUNDING * derivative.magnitude();
            if (derivative.lo >= -rounding && end > 0.0) || (derivative.hi <= rounding && end < 0.0) {
                return Some(end.signum());
            }
            until = t + 0.5 * (until - t);
        }
        None
    }

    /// How far rounding may move the rates at the present point: the widths of their enclosures there.
    pub fn rounding_of_rates(&mut self) -> Vec<f64> {
        let model = self.model;
        let fast: Vec<Enclosure> = self.fast.iter().map(|value| point(*value)).collect();
        let mut found = Vec::new();
        self.enclosed_rates.run(&model.rates, &self.configuration, &fast, &mut found);
        found.iter().map(|rate| rounding_width(rate.value)).collect()
    }

    /// How far rounding may move the event functions at the present point: the widths of their enclosures there, where
    /// the unknowns are as far apart as what is left of their residuals, and rounding of these, lets them be.
    pub fn rounding_of_relations(&mut self) -> Vec<f64> {
        let model = self.model;
        let m = model.unknowns.len();
        let start = self.fast.len() - m;
        let mut fast: Vec<Enclosure> = self.fast.iter().map(|value| point(*value)).collect();
        let mut found = Vec::new();
        if m > 0 {
            self.residual();
            self.enclosed_residuals.run(&model.residuals, &self.configuration, &fast, &mut found);
            self.unknowns.factorise(self.newton[m..].iter().copied());
            let mut radius = vec![0.0; m];
            for (row, residual) in found[..m].iter().enumerate() {
                let mut moved = vec![0.0; m];
                moved[row] = residual.value.magnitude();
                self.unknowns.solve(&mut moved);
                radius.iter_mut().zip(&moved).for_each(|(radius, moved)| *radius += moved.abs());
            }
            for (z, radius) in fast[start..].iter_mut().zip(radius) {
                z.value = Range::about(z.value.middle(), if radius.is_finite() { radius } else { 0.0 });
            }
        }
        self.enclosed_relations.run(&model.relations, &self.configuration, &fast, &mut found);
        found.iter().map(|function| rounding_width(function.value)).collect()
    }

    /// The signals of time alone that rates read, over an interval of time.
    pub fn enclose_signals(&mut self, time: Range, out: &mut Vec<Enclosure>) {
        let model = self.model;
        let fast = [Enclosure { value: time, derivative: Range::point(1.0) }];
        self.signals.0.run(&model.time_signals, &self.configuration, &fast, out);
    }

    /// The signals of time alone that rates read, at a time.
    pub fn signals(&mut self, t: f64, out: &mut Vec<f64>) {
        let model = self.model;
        out.resize(model.time_signals.results(), 0.0);
        self.signals.1.run(&model.time_signals, &self.configuration, &[t], out);
    }

    /// Encloses the implicit unknowns over a part of a step by Krawczyk's operator, from their values in its
    /// middle; `fast` holds the enclosures of time and states, by a parameter that runs `half` to both sides
    /// of the middle, and gets those of the unknowns. Tells whether there is one solution in them, and it was found.
    pub fn enclose_unknowns(&mut self, fast: &mut [Enclosure], middle: (f64, &[f64]), half: f64) -> bool {
        if self.model.unknowns.is_empty() {
            return true;
        }
        let mut room = std::mem::take(&mut self.krawczyk);
        // Steps go on from the unknowns that they found themselves.
        room.present.clone_from(&self.fast);
        let found = self.model.unknowns.len() <= KRAWCZYK_UNKNOWNS
            && self.set_point(middle.0, middle.1).is_ok()
            && self.apply_krawczyk(&mut room, fast, half);
        self.fast.copy_from_slice(&room.present);
        self.krawczyk = room;
        found
    }

    /// Encloses the unknowns about those of the present point.
    fn apply_krawczyk(&mut self, room: &mut Krawczyk, fast: &mut [Enclosure], half: f64) -> bool {
        let m = self.model.unknowns.len();
        self.residual();
        let start = self.fast.len() - m;
        let Krawczyk { centre, left, inverse, values, moved, radius, rest, image, .. } = room;
        centre.clear();
        centre.extend_from_slice(&self.fast[start..]);
        left.clear();
        left.extend_from_slice(&self.newton[..m]);
        self.unknowns.factorise(self.newton[m..].iter().copied());
        // Column by column.
        inverse.clear();
        inverse.resize(m * m, 0.0);
        for (j, column) in inverse.chunks_exact_mut(m).enumerate() {
            column[j] = 1.0;
            self.unknowns.solve(column);
        }
        let inverse = |i: usize, j: usize| Range::point(inverse[j * m + i]);
        let across = Range::about(0.0, half);
        // By how much the residuals of the unknowns in the middle are missed at the ends.
        let model = self.model;
        centre.iter().enumerate().for_each(|(i, z)| fast[start + i] = point(*z));
        self.enclosed_residuals.run(&model.residuals, &self.configuration, fast, values);
        moved.clear();
        for i in 0..m {
            let missed = |j: usize| values[j].derivative.times(across).plus(Range::point(left[j]));
            moved.push((0..m).fold(Range::ZERO, |sum, j| sum.plus(inverse(i, j).times(missed(j)))));
        }
        radius.clear();
        for (moved, centre) in moved.iter().zip(centre.iter()) {
            let tiny = KRAWCZYK_ROUNDING * centre.abs() + f64::MIN_POSITIVE;
            radius.push(KRAWCZYK_INFLATION * moved.magnitude() + tiny);
        }
        // The derivatives of linear residuals are the same wherever the unknowns are.
        let mut known = self.is_linear();
        for _ in 0..KRAWCZYK_ITERATIONS {
            if !radius.iter().all(|r| r.is_finite()) {
                return false;
            }
            for i in 0..m {
                let value = Range::about(centre[i], radius[i]);
                fast[start + i] = Enclosure { value, derivative: Range::ZERO };
            }
            if !std::mem::take(&mut known) {
                self.enclosed_residuals.run(&model.residuals, &self.configuration, fast, values);
            }
            // 1 − Y·r_z
            rest.clear();
            rest.resize(m * m, Range::ZERO);
            for (i, row) in rest.chunks_exact_mut(m).enumerate() {
                row[i] = Range::point(1.0);
                for ((at, column), derivative) in model.residual_places.iter().zip(&values[m..]) {
                    row[*column] = row[*column].minus(inverse(i, *at).times(derivative.value));
                }
            }
            image.clear();
            for (row, moved) in rest.chunks_exact(m).zip(moved.iter()) {
                let spread = row.iter().zip(radius.iter()).map(|(e, r)| e.times(Range::about(0.0, *r)));
                image.push(spread.fold(moved.negative(), Range::plus));
            }
            if image.iter().zip(radius.iter()).all(|(image, radius)| image.magnitude() < *radius) {
                let sizes = rest.chunks_exact(m).map(|row| row.iter().map(|e| e.magnitude()).sum::<f64>());
                let contraction = sizes.fold(0.0, f64::max);
                if contraction >= 1.0 {
                    return false;
                }
                let driven = |i: usize| {
                    let terms = (0..m).map(|j| inverse(i, j).times(values[j].derivative.negative()));
                    terms.fold(Range::ZERO, Range::plus)
                };
                let largest = (0..m).fold(0.0f64, |most, i| most.max(driven(i).magnitude()));
                let more = Range::about(0.0, contraction / (1.0 - contraction) * largest);
                for i in 0..m {
                    let value = image[i].plus(Range::point(centre[i]));
                    fast[start + i] = Enclosure { value, derivative: driven(i).plus(more) };
                }
                return true;
            }
            for (radius, image) in radius.iter_mut().zip(image.iter()) {
                *radius = radius.max(KRAWCZYK_INFLATION * image.magnitude());
            }
        }
        false
    }
}

/// What rounding makes of a value, where anything is known of it.
fn rounding_width(value: Range) -> f64 {
    if value.is_bounded() { value.width() } else { 0.0 }
}

/// Whether a function that is zero somewhere in an interval is zero throughout.
pub(crate) fn stays_zero(found: &Enclosure) -> bool {
    found.value == Range::ZERO || found.derivative == Range::ZERO
}
