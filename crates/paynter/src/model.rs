//! A loaded model, and the questions it answers.

use crate::cascade;
use crate::settings::settings;
use paynter_algebra::Pool;
use paynter_base::{Diagnostics, SourceMap, Ticket, World};
use paynter_equations::{Failure, derive};
use paynter_graph::{BondGraph, Causality, FlattenOptions, assign_causality, flatten};
use paynter_language::load;
use paynter_view::json::{self, Naming};

/// What to load and what to override.
#[derive(Debug, Clone, Default)]
pub struct LoadOptions {
    /// The model of the file; the last where left out.
    pub model: Option<String>,
    /// Values that replace those of parameters and inputs, by name.
    pub set: Vec<(String, String)>,
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
}

/// Models of at most this many bonds are brought to their equations when they are loaded.
const SETTLED_BONDS: usize = 100;

/// Settles by the equations what causality alone leaves open: that there are
/// any, how many states they have in the end, and the rank where signals or
/// fields take part. Works on copies, so that answers do not depend on it.
fn settle(pool: &Pool, graph: &BondGraph, causality: &mut Causality) -> Diagnostics {
    if graph.bonds.len() > SETTLED_BONDS {
        return Diagnostics::new();
    }
    let (mut pool, mut graph) = (pool.clone(), graph.clone());
    match derive(&mut pool, &mut graph, causality, &Ticket::new()) {
        Ok(equations) => {
            causality.order = equations.states.len();
            causality.rank = equations.generic_rank(&mut pool).unwrap_or(causality.rank);
            Diagnostics::new()
        }
        Err(Failure::Wrong(diagnostics)) => diagnostics,
        Err(Failure::Cancelled) => Diagnostics::new(),
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
        let mut causality = None;
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
        if let Some(graph) = graph.as_ref().filter(|_| !diagnostics.has_errors()) {
            let (assigned, found) = assign_causality(&mut pool, graph);
            diagnostics.extend(found);
            causality = assigned;
            if let Some(causality) = causality.as_mut().filter(|_| !diagnostics.has_errors()) {
                diagnostics.extend(settle(&pool, graph, causality));
            }
        }
        diagnostics.sort();
        Model { sources, diagnostics, pool, graph, causality }
    }

    /// Tells whether it is a well-formed bond graph.
    pub fn check(&self) -> json::Check {
        json::Check {
            ok: !self.diagnostics.has_errors(),
            summary: self.graph.as_ref().map(|graph| json::Summary::new(graph, self.causality.as_ref())),
            diagnostics: json::Diagnostic::list(&self.diagnostics, &self.sources),
        }
    }

    /// Tells the causality of every bond, where it could be assigned.
    pub fn causality(&self, naming: Naming) -> Option<json::Causality> {
        let diagnostics = json::Diagnostic::list(&self.diagnostics, &self.sources);
        Some(json::Causality::new(self.graph.as_ref()?, self.causality.as_ref()?, diagnostics, naming))
    }
}
