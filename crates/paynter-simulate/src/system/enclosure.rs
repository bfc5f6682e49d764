//! Enclosures of event functions, time signals and implicit unknowns over an interval of time.

use super::System;
use super::workspace::Configuration;
use crate::tolerance::{KRAWCZYK_INFLATION, KRAWCZYK_ITERATIONS, KRAWCZYK_ROUNDING, KRAWCZYK_UNKNOWNS};
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
        // Steps go on from the unknowns that they found themselves.
        let present = self.fast.clone();
        let found = self.model.unknowns.len() <= KRAWCZYK_UNKNOWNS
            && self.set_point(middle.0, middle.1).is_ok()
            && self.apply_krawczyk(fast, half);
        self.fast = present;
        found
    }

    /// Encloses the unknowns about those of the present point.
    fn apply_krawczyk(&mut self, fast: &mut [Enclosure], half: f64) -> bool {
        let m = self.model.unknowns.len();
        self.residual();
        let start = self.fast.len() - m;
        let centre = self.fast[start..].to_vec();
        let left: Vec<f64> = self.newton[..m].to_vec();
        self.unknowns.factorise(self.newton[m..].iter().copied());
        let columns: Vec<Vec<f64>> = (0..m)
            .map(|j| {
                let mut column = vec![0.0; m];
                column[j] = 1.0;
                self.unknowns.solve(&mut column);
                column
            })
            .collect();
        let inverse = |i: usize, j: usize| Range::point(columns[j][i]);
        let across = Range::about(0.0, half);
        // By how much the residuals of the unknowns in the middle are missed at the ends.
        let model = self.model;
        let mut values = Vec::new();
        centre.iter().enumerate().for_each(|(i, z)| fast[start + i] = point(*z));
        self.enclosed_residuals.run(&model.residuals, &self.configuration, fast, &mut values);
        let missed: Vec<Range> =
            (0..m).map(|i| values[i].derivative.times(across).plus(Range::point(left[i]))).collect();
        let apply = |list: &[Range], i: usize| {
            let terms = list.iter().enumerate().map(|(j, value)| inverse(i, j).times(*value));
            terms.fold(Range::ZERO, Range::plus)
        };
        let moved: Vec<Range> = (0..m).map(|i| apply(&missed, i)).collect();
        let tiny = |i: usize| KRAWCZYK_ROUNDING * centre[i].abs() + f64::MIN_POSITIVE;
        let mut radius: Vec<f64> =
            (0..m).map(|i| KRAWCZYK_INFLATION * moved[i].magnitude() + tiny(i)).collect();
        // The derivatives of linear residuals are the same wherever the unknowns are.
        let mut known = self.is_linear();
        let mut rest = vec![Range::ZERO; m * m];
        for _ in 0..KRAWCZYK_ITERATIONS {
            if !radius.iter().all(|r| r.is_finite()) {
                return false;
            }
            for i in 0..m {
                let value = Range::about(centre[i], radius[i]);
                fast[start + i] = Enclosure { value, derivative: Range::ZERO };
            }
            if !std::mem::take(&mut known) {
                self.enclosed_residuals.run(&model.residuals, &self.configuration, fast, &mut values);
            }
            // 1 − Y·r_z
            rest.fill(Range::ZERO);
            for (i, row) in rest.chunks_exact_mut(m).enumerate() {
                row[i] = Range::point(1.0);
                for ((at, column), derivative) in model.residual_places.iter().zip(&values[m..]) {
                    row[*column] = row[*column].minus(inverse(i, *at).times(derivative.value));
                }
            }
            let image: Vec<Range> = (0..m)
                .map(|i| {
                    let spread =
                        rest[i * m..][..m].iter().zip(&radius).map(|(e, r)| e.times(Range::about(0.0, *r)));
                    spread.fold(moved[i].negative(), Range::plus)
                })
                .collect();
            if image.iter().zip(&radius).all(|(image, radius)| image.magnitude() < *radius) {
                let contraction = rest
                    .chunks_exact(m)
                    .map(|row| row.iter().map(|e| e.magnitude()).sum::<f64>())
                    .fold(0.0, f64::max);
                if contraction >= 1.0 {
                    return false;
                }
                let driven: Vec<Range> = (0..m).map(|i| values[i].derivative.negative()).collect();
                let derivatives: Vec<Range> = (0..m).map(|i| apply(&driven, i)).collect();
                let largest =
                    derivatives.iter().fold(0.0f64, |most, derivative| most.max(derivative.magnitude()));
                let more = Range::about(0.0, contraction / (1.0 - contraction) * largest);
                for i in 0..m {
                    let value = image[i].plus(Range::point(centre[i]));
                    fast[start + i] = Enclosure { value, derivative: derivatives[i].plus(more) };
                }
                return true;
            }
            for (radius, image) in radius.iter_mut().zip(&image) {
                *radius = radius.max(KRAWCZYK_INFLATION * image.magnitude());
            }
        }
        false
    }
}
