//! A loaded model, and the questions it answers.

use crate::cascade;
use crate::settings::settings;
use paynter_algebra::Pool;
use paynter_base::{Diagnostics, Plain, SourceMap, Spelling, Ticket, World, code};
use paynter_equations::{Equations, Failure, StateSpace, derive};
use paynter_graph::{BondGraph, Causality, FlattenOptions, assign_causality, flatten};
use paynter_language::load;
use paynter_numerics::{LinearModel, OperatingPoint};
use paynter_simulate::data;
use paynter_view::json::{self, Naming};

/// What to load and what to override.
#[derive(Debug, Clone)]
pub struct LoadOptions {
    /// The model of the file; the last where left out.
    pub model: Option<String>,
    /// Values that replace those of parameters and inputs, by name.
    pub set: Vec<(String, String)>,
    /// How the edge spells the options and questions that remedies refer to.
    pub spelling: &'static dyn Spelling,
}

impl Default for LoadOptions {
    fn default() -> LoadOptions {
        LoadOptions { model: None, set: Vec::new(), spelling: &Plain }
    }
}

/// A model as far as it could be understood.
pub struct Model {
    /// Its files, the one asked for first.
    pub sources: SourceMap,
    /// All findings by place.
    pub diagnostics: Diagnostics,
    /// The expressions that the graph refers to.
    pub pool: Pool,
    /// The flattened graph; with errors only what could be understood.
    pub graph: Option<BondGraph>,
    /// The causality of a graph without errors, unless it is impossible.
    pub causality: Option<Causality>,
    /// How the edge spells the options and questions that remedies refer to.
    pub spelling: &'static dyn Spelling,
    /// The samples of its tables, or why they could not be read.
    pub(crate) tables: Vec<data::Column>,
    /// The equations derived while loading, with the copies they belong to.
    pub(crate) settled: Option<Box<Settled>>,
    /// The equations as they were derived, once somebody has asked.
    pub(crate) plain: Option<(Equations, Option<StateSpace>)>,
    /// The equations in the form a person would write, once somebody has asked.
    pub(crate) derived: Option<(Equations, Option<StateSpace>)>,
    /// The linear model to be read, once somebody has asked.
    pub(crate) linear: Option<LinearModel>,
    /// The linear model for numbers, once somebody has asked.
    pub(crate) numeric: Option<LinearModel>,
    /// The operating point, or why there is none, once somebody has asked: the search can be long.
    pub(crate) steady: Option<Result<OperatingPoint, Diagnostics>>,
}

/// Equations with the pool and the graph that they refer to.
pub(crate) struct Settled {
    pub pool: Pool,
    pub graph: BondGraph,
    pub equations: Equations,
}

/// Models of at most this many bonds are brought to their equations when they are loaded.
const SETTLED_BONDS: usize = 100;

/// Settles by the equations what causality alone leaves open: that there are
/// any, how many states they have in the end, and the rank where signals or
/// fields take part. Works on copies, so that answers do not depend on it; the
/// first question about equations takes them over.
fn settle(pool: &Pool, graph: &BondGraph, causality: &mut Causality) -> (Diagnostics, Option<Box<Settled>>) {
    if graph.bonds.len() > SETTLED_BONDS {
        return (Diagnostics::new(), None);
    }
    let (mut pool, mut graph) = (pool.clone(), graph.clone());
    match derive(&mut pool, &mut graph, causality, &Ticket::new()) {
        Ok(equations) => {
            causality.order = equations.states.len();
            causality.rank = equations.generic_rank(&mut pool).unwrap_or(causality.rank);
            let (diagnostics, _) = equations.soundness(&mut pool, &graph);
            (diagnostics, Some(Box::new(Settled { pool, graph, equations })))
        }
        Err(Failure::Wrong(diagnostics)) => (diagnostics, None),
        Err(Failure::Cancelled) => (Diagnostics::new(), None),
    }
}

impl Model {
    /// Loads a model with what it imports, flattens it and assigns causality.
    /// Never fails: what is wrong is in the findings.
    pub fn load(world: &dyn World, path: &str, options: &LoadOptions) -> Model {
        let loaded = load(world, path);
        let (mut sources, mut diagnostics) = (loaded.sources, loaded.diagnostics);
        let mut pool = Pool::new();
        let mut graph = None;
        let spelling = options.spelling;
        if cascade::worth_reading_on(&diagnostics) {
            let set = settings(&options.set, &mut sources, &mut diagnostics);
            let paths = sources.iter().map(|(_, source)| source.path.clone()).collect();
            let options = FlattenOptions { model: options.model.clone(), set, paths };
            let files: Vec<_> = loaded.files.into_iter().map(|(_, file)| file).collect();
            let (flat, found) = flatten(&mut pool, &files, &options);
            let found = cascade::own_mistakes(found, &diagnostics, &sources);
            diagnostics.extend(found);
            graph = flat;
        }
        diagnostics.sort();
        let tables = graph.as_ref().map_or_else(Vec::new, |graph| data::read(world, graph, &mut sources));
        Model::new(sources, diagnostics, pool, graph, tables, spelling)
    }

    /// Makes a model of a graph that is made from this model's; its places lie in the same sources.
    pub(crate) fn of_derived(&self, pool: Pool, graph: BondGraph) -> Model {
        let (sources, tables) = (self.sources.clone(), self.tables.clone());
        Model::new(sources, Diagnostics::new(), pool, Some(graph), tables, self.spelling)
    }

    /// Assigns causality and settles what the equations tell, where nothing is wrong so far.
    fn new(
        sources: SourceMap,
        mut diagnostics: Diagnostics,
        mut pool: Pool,
        graph: Option<BondGraph>,
        tables: Vec<data::Column>,
        spelling: &'static dyn Spelling,
    ) -> Model {
        let mut causality = None;
        let mut settled = None;
        if let Some(graph) = graph.as_ref().filter(|_| !diagnostics.has_errors()) {
            let (assigned, found) = assign_causality(&mut pool, graph);
            diagnostics.extend(found);
            causality = assigned;
            if let Some(causality) = causality.as_mut().filter(|_| !diagnostics.has_errors()) {
                let (found, equations) = settle(&pool, graph, causality);
                if found.iter().any(|d| d.code == code::SINGULAR_STRUCTURE) {
                    // That loops are solved is not to be said beside one that cannot be.
                    diagnostics.retain(|d| d.code != code::ALGEBRAIC_LOOP);
                }
                diagnostics.extend(found);
                settled = equations;
            }
        }
        diagnostics.sort();
        Model {
            sources,
            diagnostics,
            pool,
            graph,
            causality,
            spelling,
            tables,
            settled,
            plain: None,
            derived: None,
            linear: None,
            numeric: None,
            steady: None,
        }
    }

    /// Tells whether it is a well-formed bond graph.
    pub fn check(&self) -> json::Check {
        json::Check {
            ok: !self.diagnostics.has_errors(),
            summary: self.graph.as_ref().map(|graph| json::Summary::new(graph, self.causality.as_ref())),
            diagnostics: json::Diagnostic::list(&self.diagnostics, &self.sources, self.spelling),
        }
    }

    /// Tells the causality of every bond, where it could be assigned.
    pub fn causality(&self, naming: Naming) -> Option<json::Causality> {
        let diagnostics = json::Diagnostic::list(&self.diagnostics, &self.sources, self.spelling);
        Some(json::Causality::new(self.graph.as_ref()?, self.causality.as_ref()?, diagnostics, naming))
    }
}
