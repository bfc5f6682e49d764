//! Answers, put into the graph's own equations before they are given.

use crate::answer::{Answer, QueryError, refused};
use crate::model::{Found, View};
use crate::simulate::{Outcome, Simulated};
use paynter_algebra::{Pool, Symbol};
use paynter_base::Diagnostic;
use paynter_base::number::moment;
use paynter_base::random::Random;
use paynter_graph::Variable;
use paynter_numerics::program::Program;
use paynter_numerics::{LinearModel, OperatingPoint, Tables};
use paynter_verify::{Acausal, Check, Contradiction, Pencil, Point};

/// Models with more variables than this are not checked: it would cost more than their answers.
const CHECKED_VARIABLES: usize = 100_000;

/// The part by which everything is changed to see what it makes up.
const CHANGE: f64 = 1e-6;

/// What a check says: an answer that contradicts the graph is refused.
pub(crate) fn agreed<T>(found: Result<T, Contradiction>) -> Result<T, QueryError> {
    found.map_err(|contradiction| refused(contradiction.diagnostic()))
}

impl View {
    /// The values of all variables where symbols have these values; nothing where one has none.
    fn point(&self, pool: &mut Pool, steady: &OperatingPoint) -> Option<Point> {
        let values = &steady.values;
        let variables = self.equations.variable_values(pool, &self.graph, &self.graph.all_variables())?;
        let (symbols, numbers): (Vec<Symbol>, Vec<f64>) = values.iter().unzip();
        let program = Program::compile(pool, &variables, &symbols).ok()?;
        let mut found = vec![0.0; variables.len()];
        let mut work = Vec::new();
        program.run_with(&numbers, &Tables::default(), &mut work, &mut found);
        // What each variable is made of shows when all that it is made from changes a little.
        let mut random = Random::new(1);
        let size =
            |symbol: &Symbol, x: f64| steady.sizes.get(symbol).map_or(x.abs(), |size| size.max(x.abs()));
        let moved: Vec<f64> =
            values.iter().map(|(symbol, x)| x + CHANGE * size(symbol, *x) * (random.unit() - 0.5)).collect();
        let mut scales = vec![0.0; variables.len()];
        program.run_with(&moved, &Tables::default(), &mut work, &mut scales);
        scales.iter_mut().zip(&found).for_each(|(moved, found)| *moved = (*moved - found).abs() / CHANGE);
        let inputs = self.graph.inputs.iter().map(|input| values.get(&input.symbol).copied().unwrap_or(0.0));
        let finite = found.iter().all(|value| value.is_finite());
        finite.then(|| Point {
            time: 0.0,
            parameters: self.graph.parameters.iter().map(|parameter| parameter.number).collect(),
            inputs: inputs.collect(),
            variables: found,
            scales,
        })
    }

    /// Checks that a steady state is one.
    pub(crate) fn check_rest(
        &self,
        mut pool: Pool,
        steady: &OperatingPoint,
    ) -> Result<Vec<Check>, QueryError> {
        let system = Acausal::new(&mut pool, &self.graph);
        let variables = self.graph.all_variables();
        if variables.len() > CHECKED_VARIABLES {
            return Ok(Vec::new());
        }
        let Some(point) = self.point(&mut pool, steady) else { return Ok(Vec::new()) };
        let active = self.equations.resting(&mut pool);
        let drifting: Vec<Variable> = self
            .equations
            .states
            .iter()
            .zip(&active)
            .filter(|(_, active)| !**active)
            .map(|(state, _)| state.variable)
            .collect();
        // What only follows from states that drift drifts as well.
        let dependent = self.equations.dependent.iter();
        let dependent = dependent.map(|d| Variable::State(d.element, d.port as u32));
        let loose: Vec<Variable> = dependent.chain(drifting).collect();
        let places = variables.iter().enumerate().filter(|(_, variable)| loose.contains(variable));
        let places: Vec<usize> = places.map(|(place, _)| place).collect();
        let what = "the operating point";
        agreed(system.check_point(&mut pool, what, &point, &steady.outputs, Some(&places)))
    }
}

impl Found<LinearModel> {
    /// Checks an answer about the linear model in the equations of small changes.
    pub(crate) fn check<T: Default>(
        &self,
        ask: impl FnOnce(&mut Pool, &Pencil<'_>) -> Result<T, Contradiction>,
    ) -> Result<T, QueryError> {
        let (view, mut pool) = (&self.view, self.overlay());
        let system = Acausal::new(&mut pool, &view.graph);
        let width = view.graph.all_variables().len();
        if width > CHECKED_VARIABLES {
            return Ok(T::default());
        }
        let point = match &self.result.point {
            Some(point) => view.point(&mut pool, point),
            None => Some(Point {
                time: 0.0,
                parameters: view.graph.parameters.iter().map(|parameter| parameter.number).collect(),
                inputs: vec![0.0; view.graph.inputs.len()],
                variables: vec![0.0; width],
                scales: vec![0.0; width],
            }),
        };
        let Some(point) = point else { return Ok(T::default()) };
        let Some(pencil) = Pencil::new(&mut pool, &system, &point) else { return Ok(T::default()) };
        // A law that is not linear needs the point that it is linearised about.
        if self.result.point.is_none() && !pencil.is_linear() {
            return Ok(T::default());
        }
        agreed(ask(&mut pool, &pencil))
    }
}

impl<T: Simulated> Answer<T> {
    /// Checks some samples of a run.
    pub fn check_run(&self, outcome: &Outcome) -> Result<Vec<Check>, Box<Diagnostic>> {
        let Some(last) = outcome.witnesses.last() else { return Ok(Vec::new()) };
        let mut pool = self.overlay();
        let graph = self.result.simulation().graph();
        let system = Acausal::new(&mut pool, graph);
        let mut scales = vec![0.0f64; last.variables.len()];
        for witness in &outcome.witnesses {
            let values = witness.variables.iter().zip(&witness.scales);
            scales
                .iter_mut()
                .zip(values)
                .for_each(|(most, (z, scale))| *most = most.max(z.abs()).max(*scale));
        }
        let (mut residual, mut count) = (0.0f64, 0);
        for witness in &outcome.witnesses {
            let point = Point {
                time: witness.t,
                parameters: witness.parameters.clone(),
                inputs: witness.inputs.clone(),
                variables: witness.variables.clone(),
                scales: scales.clone(),
            };
            let what = format!("the run at t = {}", moment(witness.t));
            let found = system.check_point(&mut pool, &what, &point, &witness.outputs, None);
            let checks = found.map_err(|contradiction| Box::new(contradiction.diagnostic()))?;
            count += checks.len();
            residual = checks.iter().fold(residual, |most, check| most.max(check.residual));
        }
        let what = match count {
            0 => return Ok(Vec::new()),
            1 => "one sample of the run".to_owned(),
            _ => format!("{count} samples of the run"),
        };
        Ok(vec![Check { what, residual }])
    }
}
