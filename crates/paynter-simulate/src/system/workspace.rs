//! Room that programs need between evaluations, and the values they give.

use crate::model::linearised::Linearised;
use paynter_numerics::linalg::PivotedFactors;
use paynter_numerics::program::{Program, Tables};

/// Values of functions with their derivatives, kept between evaluations.
#[derive(Debug, Clone, Default)]
pub(crate) struct Values {
    pub(super) epoch: u32,
    pub data: Vec<f64>,
    /// Infinite derivatives, which stand as zeros among the data.
    pub singular: Option<Box<Singularities>>,
}

/// Where derivatives of rates are singular: infinite, as of a root at zero.
#[derive(Debug, Clone, Default)]
pub(crate) struct Singularities {
    /// States by which they are, here and ahead.
    pub states: Vec<usize>,
    /// States by which derivatives are infinite only here: they stand as those from a little ahead.
    pub passed: Vec<usize>,
    /// Whether the solution rests there for an instant: then it leaves too slowly for the derivatives to be integrated.
    pub resting: bool,
    /// By parameters: lanes.
    pub lanes: Vec<usize>,
}

/// Registers of a program, and its results as far as they change at events only.
#[derive(Debug, Clone, Default)]
pub(super) struct Workspace {
    epoch: u32,
    registers: Vec<f64>,
    template: Vec<f64>,
    pub(super) loops: Vec<PivotedFactors>,
}

/// Parameters, modes and tables as programs take them into account, and how often these have changed.
pub(super) struct Configuration<'a> {
    pub(super) epoch: u32,
    pub(super) slow: Vec<f64>,
    pub(super) tables: &'a Tables,
}

impl Workspace {
    /// Prepares a program for the present setting.
    #[cold]
    fn prepare(&mut self, program: &Program, length: usize, configuration: &Configuration<'_>) {
        self.epoch = configuration.epoch;
        self.template.clear();
        self.template.resize(length, 0.0);
        program.prepare(&configuration.slow, configuration.tables, &mut self.registers, &mut self.template);
    }

    /// Calculates functions.
    pub(super) fn run(
        &mut self,
        program: &Program,
        configuration: &Configuration<'_>,
        fast: &[f64],
        out: &mut [f64],
    ) {
        if self.epoch != configuration.epoch {
            self.prepare(program, program.results(), configuration);
        }
        out.copy_from_slice(&self.template);
        program.run_prepared(fast, configuration.tables, &mut self.registers, out);
    }

    /// Prepares functions with their derivatives, and room for their values, for the present setting.
    #[cold]
    fn prepare_full(
        &mut self,
        functions: &Linearised,
        configuration: &Configuration<'_>,
        values: &mut Values,
    ) {
        if self.epoch != configuration.epoch {
            self.prepare(&functions.program, functions.length, configuration);
        }
        if self.loops.len() != functions.loops_count() {
            self.loops = functions.loops();
        }
        values.epoch = configuration.epoch;
        values.data.clear();
        values.data.extend_from_slice(&self.template);
    }

    /// Calculates functions with their derivatives.
    #[inline(always)]
    pub(super) fn run_full(
        &mut self,
        functions: &Linearised,
        configuration: &Configuration<'_>,
        fast: &[f64],
        values: &mut Values,
    ) {
        if values.epoch != configuration.epoch || self.epoch != configuration.epoch {
            self.prepare_full(functions, configuration, values);
        }
        functions.run(fast, configuration.tables, &mut self.registers, &mut self.loops, &mut values.data);
    }
}
