//! The stages from text to equations, each with its findings.

use crate::simulate::Programs;
use crate::stage::Stage;
use paynter_algebra::Pool;
use paynter_base::{CancellationToken, Diagnostics, SourceMap, World, code};
use paynter_equations::{Equations, QueryError, StateSpace, derive};
use paynter_graph::{
    BondGraph, Causality, FlattenOptions, Guards, Samples, Table, assign_causality, cascade, flatten,
    settings,
};
use paynter_language::{ast, load};
use paynter_simulate::data;
use std::sync::{Arc, OnceLock};

/// What was read: the syntax of all files, kept for other values of structural parameters.
pub(crate) struct Text {
    files: Vec<ast::File>,
    paths: Vec<String>,
    sources: SourceMap,
    findings: Diagnostics,
    model: Option<String>,
}

/// The flattened graph; with errors only what could be understood.
pub(crate) struct GraphStage {
    pub pool: Arc<Pool>,
    pub graph: Option<Arc<BondGraph>>,
    pub sources: Arc<SourceMap>,
    pub findings: Diagnostics,
    /// The tables of the graph with their samples, or why they could not be read.
    pub tables: Vec<(Table, data::Column)>,
}

/// The causality of a graph without errors, unless it is impossible.
pub(crate) struct CausalityStage {
    pub pool: Arc<Pool>,
    pub causality: Option<Arc<Causality>>,
    pub findings: Diagnostics,
}

/// The equations as they are derived.
pub(crate) struct EquationsStage {
    pub pool: Arc<Pool>,
    /// The graph with the symbols of all variables.
    pub graph: BondGraph,
    pub causality: Arc<Causality>,
    pub equations: Arc<Equations>,
    pub findings: Diagnostics,
    /// What being usable at these values hangs on.
    pub guards: Guards,
}

/// Equations in another form, with their matrices if they are linear.
pub(crate) struct FormStage {
    pub pool: Arc<Pool>,
    pub equations: Arc<Equations>,
    pub space: Option<Arc<StateSpace>>,
}

/// The stages that values of parameters and inputs do not change while all guards hold.
#[derive(Default)]
pub(crate) struct Derivation {
    pub causality: Stage<CausalityStage>,
    pub equations: Stage<EquationsStage>,
    /// With matrices.
    pub matrices: Stage<FormStage>,
    /// In the form a person would write.
    pub readable: Stage<FormStage>,
    pub rank: OnceLock<usize>,
    /// Compiled for simulation.
    pub programs: Programs,
}

impl Text {
    /// Reads a file and what it imports.
    pub fn read(world: &dyn World, path: &str, model: Option<String>) -> Text {
        let loaded = load(world, path);
        let paths = loaded.sources.iter().map(|(_, source)| source.path.clone()).collect();
        let files = loaded.files.into_iter().map(|(_, file)| file).collect();
        let mut sources = loaded.sources;
        sources.rename(|path| world.shown(path));
        Text { files, paths, sources, findings: loaded.diagnostics, model }
    }

    /// Flattens it with some values replaced. Tables are read by `table`.
    pub fn flatten(
        &self,
        set: &[(String, String)],
        table: &dyn Fn(&Table, &mut SourceMap) -> data::Column,
    ) -> GraphStage {
        let (mut sources, mut findings) = (self.sources.clone(), self.findings.clone());
        let mut pool = Pool::new();
        let mut graph = None;
        if cascade::worth_reading_on(&findings) {
            let set = settings(set, &mut sources, &mut findings);
            let options = FlattenOptions { model: self.model.clone(), set, paths: self.paths.clone() };
            let (flat, found) = flatten(&mut pool, &self.files, &options);
            let found = cascade::own_mistakes(found, &findings, &sources);
            findings.extend(found);
            graph = flat;
        }
        findings.sort();
        let list = graph.iter().flat_map(|graph| graph.tables.iter());
        let tables = list.map(|entry| (entry.clone(), table(entry, &mut sources))).collect();
        let (pool, graph) = (Arc::new(pool), graph.map(Arc::new));
        GraphStage { pool, graph, sources: Arc::new(sources), findings, tables }
    }
}

impl GraphStage {
    /// The samples of every table, by its number, or why one is missing.
    pub fn samples(&self) -> Result<Vec<Samples>, QueryError> {
        let samples = self.tables.iter().map(|(_, column)| column.clone());
        samples.collect::<Result<_, _>>().map_err(|found| crate::answer::refused(*found))
    }
}

impl CausalityStage {
    /// Assigns causality to a graph; `findings` are those about the graph.
    pub fn assign(pool: &Arc<Pool>, graph: &BondGraph, findings: &Diagnostics) -> CausalityStage {
        let mut findings = findings.clone();
        if findings.has_errors() {
            return CausalityStage { pool: pool.clone(), causality: None, findings };
        }
        let mut pool = Pool::over(pool);
        let (causality, found) = assign_causality(&mut pool, graph);
        findings.extend(found);
        findings.sort();
        CausalityStage { pool: Arc::new(pool), causality: causality.map(Arc::new), findings }
    }
}

impl EquationsStage {
    /// Derives the equations of a causal graph, and settles by them what causality alone leaves open.
    pub fn derive(
        stage: &CausalityStage,
        graph: &BondGraph,
        token: &CancellationToken,
    ) -> Result<EquationsStage, QueryError> {
        let mut findings = stage.findings.clone();
        let Some(causality) = stage.causality.as_ref().filter(|_| !findings.has_errors()) else {
            return Err(QueryError::Wrong(findings));
        };
        let (mut pool, mut graph) = (Pool::over(&stage.pool), graph.clone());
        let derived = derive(&mut pool, &mut graph, causality, token);
        let (found, guards) = match &derived {
            Ok(equations) => equations.soundness(&mut pool, &graph),
            Err(QueryError::Wrong(found)) => (found.clone(), Guards::default()),
            Err(QueryError::Cancelled) => return Err(QueryError::Cancelled),
        };
        if found.iter().any(|d| d.code == code::SINGULAR_STRUCTURE) {
            // That loops are solved is not to be said beside one that cannot be.
            findings.retain(|d| d.code != code::ALGEBRAIC_LOOP);
        }
        findings.extend(found);
        findings.sort();
        let equations = match derived {
            Ok(equations) if !findings.has_errors() => equations,
            _ => return Err(QueryError::Wrong(findings)),
        };
        let causality = Causality { order: equations.states.len(), ..Causality::clone(causality) };
        Ok(EquationsStage {
            pool: Arc::new(pool),
            graph,
            causality: Arc::new(causality),
            equations: Arc::new(equations),
            findings,
            guards,
        })
    }

    /// The equations with their matrices, if they are linear.
    pub fn matrices(&self) -> FormStage {
        let mut pool = Pool::over(&self.pool);
        let space = self.equations.state_space(&mut pool, &self.graph);
        FormStage { pool: Arc::new(pool), equations: self.equations.clone(), space: space.map(Arc::new) }
    }

    /// The equations in the form a person would write.
    pub fn readable(&self, plain: &FormStage, token: &CancellationToken) -> Result<FormStage, QueryError> {
        let mut pool = Pool::over(&plain.pool);
        let mut space = plain.space.as_deref().cloned();
        let mut equations = Equations::clone(&self.equations);
        equations.make_readable(space.as_mut(), &mut pool, token);
        // What was cut short is not kept.
        token.check()?;
        Ok(FormStage { pool: Arc::new(pool), equations: Arc::new(equations), space: space.map(Arc::new) })
    }
}
