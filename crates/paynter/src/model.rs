//! A loaded model: immutable, cheap to clone, asked from any number of threads.

use crate::answer::{Answer, Asked, QueryError, after};
use crate::derivation::{CausalityStage, Derivation, EquationsStage, FormStage, GraphStage, Text};
use crate::stage::Stage;
use crate::with::Values;
use paynter_algebra::Pool;
use paynter_base::{CancellationToken, Diagnostics, MemoryWorld, SourceMap, World};
use paynter_equations::{Equations, StateSpace};
use paynter_graph::{BondGraph, Causality, CopyOnWrite, Parameter, Samples};
use paynter_numerics::program::Hold;
use paynter_numerics::{LinearModel, OperatingPoint, Tables};
use paynter_simulate::data;
use std::sync::Arc;

/// Models of at most so many states are calculated with equations in lowest terms: as they were derived, terms
/// may cancel, and the derivatives of the loop of two carts lose all their digits by it. For larger models lowest
/// terms would cost more than the numbers.
pub(crate) const LOWEST_TERMS_STATES: usize = 200;

/// What to load and what to override.
#[derive(Debug, Clone, Default)]
pub struct LoadOptions {
    /// The model of the file; the last where left out.
    pub model: Option<String>,
    /// Values that replace those of parameters and inputs, by name.
    pub set: Vec<(String, String)>,
}

/// A model as far as it could be understood. Each stage on the way to an answer is computed when it is first
/// asked for, and kept; clones share all of it. No question changes the answer to another.
#[derive(Clone)]
pub struct Model(pub(crate) Arc<Inner>);

pub(crate) struct Inner {
    pub text: Arc<Text>,
    /// The values that were replaced, as one would write them.
    pub set: Vec<(String, String)>,
    pub origin: Arc<GraphStage>,
    /// Values that differ from those of the origin.
    pub values: Values,
    /// The stages that other values share.
    pub derivation: Arc<Derivation>,
    pub own: Own,
}

/// The stages that belong to the values of one model.
#[derive(Default)]
pub(crate) struct Own {
    derived: Stage<View>,
    matrices: Stage<View>,
    readable: Stage<View>,
    pub steady: Stage<Found<OperatingPoint>>,
    pub rest: Stage<Found<OperatingPoint>>,
    pub numeric: Stage<Found<LinearModel>>,
    pub linear: Stage<Found<LinearModel>>,
}

/// A result of numbers with what was found on the way to it.
pub(crate) struct Found<T> {
    pub view: Arc<View>,
    /// An overlay on the view's pool, with the expressions of the result.
    pub pool: Arc<Pool>,
    pub result: Arc<T>,
    /// All findings so far.
    pub findings: Diagnostics,
}

/// Equations at the values of a model.
pub(crate) struct View {
    pub pool: Arc<Pool>,
    pub graph: Arc<BondGraph>,
    pub causality: Arc<Causality>,
    pub equations: Arc<Equations>,
    pub space: Option<Arc<StateSpace>>,
    pub sources: Arc<SourceMap>,
    pub findings: Diagnostics,
}

impl View {
    /// A pool for what a question makes.
    pub fn overlay(&self) -> Pool {
        Pool::over(&self.pool)
    }

    /// An answer made of this view, with findings of its own.
    pub fn answer<T>(&self, pool: Pool, found: Result<T, QueryError>, findings: Diagnostics) -> Asked<T> {
        self.answer_after(&self.findings, pool, found, findings)
    }

    /// An answer made of this view and of later stages, with all their findings.
    pub fn answer_after<T>(
        &self,
        before: &Diagnostics,
        pool: Pool,
        found: Result<T, QueryError>,
        findings: Diagnostics,
    ) -> Asked<T> {
        let mut all = before.clone();
        all.extend(findings);
        all.sort();
        let result = found.map_err(|failure| after(&all, failure))?;
        let (sources, graph) = (self.sources.clone(), self.graph.clone());
        Ok(Answer { result, findings: all, sources, pool: Arc::new(pool), graph })
    }
}

impl Model {
    /// Loads a model with what it imports and flattens it. Never fails: what is wrong is in the findings.
    pub fn load(world: &dyn World, path: &str, options: &LoadOptions) -> Model {
        let text = Text::read(world, path, options.model.clone());
        let origin = text.flatten(&options.set, &|table, sources| data::read(world, table, sources));
        Model::new(Arc::new(text), options.set.clone(), Arc::new(origin), Values::default(), Arc::default())
    }

    pub(crate) fn new(
        text: Arc<Text>,
        set: Vec<(String, String)>,
        origin: Arc<GraphStage>,
        values: Values,
        derivation: Arc<Derivation>,
    ) -> Model {
        Model(Arc::new(Inner { text, set, origin, values, derivation, own: Own::default() }))
    }

    /// A model of a graph that was made of this one's; the text stands for it where it is flattened again.
    pub(crate) fn made(&self, text: &str, pool: Pool, graph: BondGraph) -> Model {
        let world = MemoryWorld::new().with("derived.bg", text);
        let origin = GraphStage {
            pool: Arc::new(pool),
            graph: Some(Arc::new(graph)),
            sources: self.sources().clone(),
            findings: Diagnostics::new(),
            tables: self.0.origin.tables.clone(),
        };
        let text = Text::read(&world, "derived.bg", None);
        Model::new(Arc::new(text), Vec::new(), Arc::new(origin), Values::default(), Arc::default())
    }

    /// The model's name; empty where it could not be read.
    pub fn name(&self) -> &str {
        self.0.origin.graph.as_ref().map_or("", |graph| graph.name.as_str())
    }

    /// Its files, the one asked for first.
    pub fn sources(&self) -> &Arc<SourceMap> {
        &self.0.origin.sources
    }

    /// The flattened graph at the model's values; with errors only what could be understood.
    pub fn graph(&self) -> Option<BondGraph> {
        let origin = &self.0.origin;
        let graph = origin.graph.as_ref()?;
        Some(self.0.values.apply(&origin.pool, graph).1)
    }

    /// All that is wrong with the model, and what else is worth knowing about it: what [`Model::check`] finds.
    pub fn findings(&self, token: &CancellationToken) -> Result<Diagnostics, QueryError> {
        match self.equations_stage(token) {
            Ok(stage) => Ok(stage.findings.clone()),
            Err(QueryError::Wrong(findings)) => Ok(findings),
            Err(QueryError::Cancelled) => Err(QueryError::Cancelled),
        }
    }

    /// The parameters at the model's values, where it could be read.
    pub(crate) fn parameters(&self) -> Option<&CopyOnWrite<Vec<Parameter>>> {
        let origin = self.0.origin.graph.as_ref().map(|graph| &graph.parameters);
        self.0.values.parameters().or(origin)
    }

    /// The graph with the pool of its expressions.
    pub(crate) fn graph_stage(&self) -> Option<(Arc<Pool>, BondGraph)> {
        let origin = &self.0.origin;
        origin.graph.as_ref().map(|graph| self.0.values.apply(&origin.pool, graph))
    }

    pub(crate) fn causality_stage(&self) -> Result<Arc<CausalityStage>, QueryError> {
        let origin = &self.0.origin;
        let Some((pool, graph)) = self.graph_stage() else {
            return Err(QueryError::Wrong(origin.findings.clone()));
        };
        self.0.derivation.causality.get(|| Ok(CausalityStage::assign(&pool, &graph, &origin.findings)))
    }

    pub(crate) fn equations_stage(
        &self,
        token: &CancellationToken,
    ) -> Result<Arc<EquationsStage>, QueryError> {
        self.0.derivation.equations.get(|| {
            let causality = self.causality_stage()?;
            let Some((_, graph)) = self.graph_stage() else {
                return Err(QueryError::Wrong(self.0.origin.findings.clone()));
            };
            EquationsStage::derive(&causality, &graph, token)
        })
    }

    fn matrices_stage(&self, token: &CancellationToken) -> Result<Arc<FormStage>, QueryError> {
        let stage = self.equations_stage(token)?;
        self.0.derivation.matrices.get(|| Ok(stage.matrices()))
    }

    /// The equations as they are derived, with their matrices if they are linear.
    pub(crate) fn matrices(&self, token: &CancellationToken) -> Result<Arc<View>, QueryError> {
        self.0.own.matrices.get(|| {
            let (stage, form) = (self.equations_stage(token)?, self.matrices_stage(token)?);
            Ok(self.view(&stage, &form.pool, &form.equations, form.space.clone()))
        })
    }

    /// The equations in lowest terms, as a person would write them and as fewest digits are lost, with the
    /// matrices if they are linear.
    pub(crate) fn readable(&self, token: &CancellationToken) -> Result<Arc<View>, QueryError> {
        self.0.own.readable.get(|| {
            let (stage, plain) = (self.equations_stage(token)?, self.matrices_stage(token)?);
            let form = self.0.derivation.readable.get(|| stage.readable(&plain, token))?;
            Ok(self.view(&stage, &form.pool, &form.equations, form.space.clone()))
        })
    }

    /// The equations for numbers: in lowest terms, in which fewer digits are lost, but as they were derived where
    /// the model is large. Nothing that is made for readers alone.
    pub(crate) fn for_numbers(&self, token: &CancellationToken) -> Result<Arc<View>, QueryError> {
        let stage = self.equations_stage(token)?;
        if stage.equations.states.len() <= LOWEST_TERMS_STATES {
            return self.readable(token);
        }
        self.0.own.derived.get(|| Ok(self.view(&stage, &stage.pool, &stage.equations, None)))
    }

    /// The names of the stages that have been computed so far, for those who measure or test what a question costs.
    pub fn computed(&self) -> Vec<&'static str> {
        let (shared, own) = (&self.0.derivation, &self.0.own);
        let stages = [
            ("causality", shared.causality.is_known()),
            ("equations", shared.equations.is_known()),
            ("matrices", shared.matrices.is_known()),
            ("lowest terms", shared.readable.is_known()),
            ("operating point", own.steady.is_known()),
            ("linear model", own.linear.is_known()),
            ("linear model for numbers", own.numeric.is_known()),
        ];
        stages.into_iter().filter(|(_, known)| *known).map(|(name, _)| name).collect()
    }

    pub(crate) fn view(
        &self,
        stage: &EquationsStage,
        pool: &Arc<Pool>,
        equations: &Arc<Equations>,
        space: Option<Arc<StateSpace>>,
    ) -> View {
        let (pool, graph) = self.0.values.apply(pool, &stage.graph);
        let equations = self.0.values.apply_inputs(&graph, equations);
        let (causality, sources) = (stage.causality.clone(), self.sources().clone());
        View {
            pool,
            graph: Arc::new(graph),
            causality,
            equations,
            space,
            sources,
            findings: stage.findings.clone(),
        }
    }

    /// The samples of every table, by its number, or why one is missing.
    pub fn samples(&self) -> Result<Vec<Samples>, QueryError> {
        self.0.origin.samples()
    }

    /// The tables for calculations.
    pub fn tables(&self, hold: Hold) -> Result<Tables, QueryError> {
        Ok(data::tables(self.samples()?, hold))
    }
}
