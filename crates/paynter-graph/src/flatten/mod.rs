//! From syntax to one flat bond graph: submodels are instantiated, names
//! resolved, ports joined, units and domains checked.
//!
//! Mistakes are collected; what could be understood is returned even so, and
//! the caller looks at the diagnostics before going on.

mod bonds;
mod domains;
mod elements;
mod expression;
mod instance;
mod names;
mod order;
mod params;
mod ports;
mod program;
mod statements;
mod unused;
mod validate;

pub use crate::limits::MAX_ELEMENTS;
use crate::limits::NAME_COMPARISONS;
use paynter_algebra::{Expr, Pool, Symbol};
use paynter_base::{Code, Diagnostic, Diagnostics, Remedy, Span, closest, code};
use paynter_language::ast;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::dimension::{Dimension, Unit};
use crate::domain::Domain;
use crate::guard::{Guard, Guards};
use crate::model::{BondGraph, BondId, ElementId, flat_name};
use instance::Instance;
use params::Arguments;
use program::ModelInfo;

/// What to flatten, and what to change on the way.
#[derive(Debug, Clone, Default)]
pub struct FlattenOptions {
    /// The model to take; the last of the root file where absent.
    pub model: Option<String>,
    /// Values that replace those of parameters and inputs.
    pub set: Vec<Setting>,
    /// The path of each file by its id, to which paths of tables are relative;
    /// a file without one is in the root of the folder tree.
    pub paths: Vec<String>,
}

/// `--set NAME=VALUE`: the value stands for the one in the file, in the unit declared there
/// unless it brings its own.
#[derive(Debug, Clone)]
pub struct Setting {
    /// The flattened name, `motor.Ra` or `c[3].m`.
    pub name: String,
    /// The new value.
    pub value: ast::Expr,
    /// A unit of its own.
    pub unit: Option<ast::Unit>,
}

/// Flattens a program. `files` are all loaded files, the root first.
pub fn flatten(
    pool: &mut Pool,
    files: &[ast::File],
    options: &FlattenOptions,
) -> (Option<BondGraph>, Diagnostics) {
    let mut report = Report::default();
    let models: Vec<&ast::Model> = files.iter().flat_map(|file| &file.models).collect();
    let Some(top) = choose(files, &models, options, &mut report) else {
        return (None, report.diagnostics);
    };
    let mut infos: Vec<ModelInfo<'_>> =
        models.iter().map(|model| ModelInfo::new(model, &mut report)).collect();
    let order = program::link(&mut infos, top, &mut report);
    let Some(order) = order else {
        report.diagnostics.sort();
        return (None, report.diagnostics);
    };
    let mut flattener = Flattener::new(pool, infos, report, top, MAX_ELEMENTS);
    flattener.settings = options.set.iter().map(|s| (flat_name(&s.name), s)).collect();
    flattener.paths = &options.paths;
    flattener.run(top, Vec::new());
    flattener.check_settings(options);
    let Flattener { mut graph, instances, infos, mut report, guards, .. } = flattener;
    graph.guards = Guards::new(pool, &graph, guards).into();
    unused::check(infos, &order, &instances, &mut report);
    report.diagnostics.sort();
    (Some(graph), report.diagnostics)
}

/// Chooses the model to flatten.
fn choose(
    files: &[ast::File],
    models: &[&ast::Model],
    options: &FlattenOptions,
    report: &mut Report,
) -> Option<usize> {
    match &options.model {
        None => {
            // Imported files only lend their models; the last of the root is meant.
            let root = files.first().map_or(0, |file| file.models.len());
            root.checked_sub(1)
        }
        Some(name) => {
            let found = models.iter().position(|model| model.name.text == *name);
            if found.is_none() {
                let names: Vec<&str> = models.iter().map(|m| m.name.text.as_str()).collect();
                let mut help = format!("the file has: {}", names.join(", "));
                if let Some(near) = closest(name, names.iter().copied()) {
                    help = format!("did you mean `{near}`? {help}");
                }
                report.push(
                    Diagnostic::new(code::UNKNOWN_MODEL, format!("there is no model `{name}`")).help(help),
                );
            }
            found
        }
    }
}

fn empty_graph(model: &ast::Model) -> BondGraph {
    BondGraph { name: model.name.text.clone(), doc: model.doc.clone(), ..BondGraph::default() }
}

/// Collects diagnostics; a mistake in a submodel that is used a thousand times is said once.
#[derive(Debug, Default)]
struct Report {
    diagnostics: Diagnostics,
    said: FxHashSet<(Code, Option<Span>)>,
    /// Names that were said to be unknown in a model.
    unknown: FxHashSet<(usize, String)>,
    /// Errors so far, those said before included.
    errors: usize,
}

impl Report {
    fn push(&mut self, diagnostic: Diagnostic) {
        self.errors += usize::from(diagnostic.is_error());
        if self.said.insert((diagnostic.code, diagnostic.span)) || diagnostic.span.is_none() {
            self.diagnostics.push(diagnostic);
        }
    }

    /// Says that a model does not know a name: at its first use, and not again at each other.
    fn push_unknown(&mut self, model: usize, name: &str, diagnostic: Diagnostic) {
        if self.unknown.insert((model, name.to_owned())) {
            self.push(diagnostic);
        } else {
            self.errors += 1;
        }
    }

    fn has_errors(&self) -> bool {
        self.diagnostics.has_errors()
    }
}

/// A statement about elements and bonds, to be read once there are any.
struct Deferred<'a> {
    instance: usize,
    loops: Box<[(&'a str, i64)]>,
    statement: &'a ast::Statement,
}

/// Everything in flight while a program is flattened.
struct Flattener<'a, 'p> {
    pool: &'p mut Pool,
    report: Report,
    infos: Vec<ModelInfo<'a>>,
    instances: Vec<Instance>,
    graph: BondGraph,
    settings: FxHashMap<String, &'a Setting>,
    settings_used: FxHashSet<String>,
    /// Paths of the files, by their id.
    paths: &'a [String],
    time: Symbol,
    tables: FxHashMap<(String, String), u32>,
    /// Per instance and named bond of its model: the bond it became.
    bonds_by_name: Vec<Vec<Option<BondId>>>,
    /// Dimensions of one-port values and moduli, by element, where a unit fixes them.
    value_dimensions: FxHashMap<(ElementId, usize), Dimension>,
    /// Domains that submodel ports declare for their bonds.
    port_domains: Vec<(BondId, Domain, Span, String)>,
    /// Units that have been read.
    units: FxHashMap<*const ast::Unit, Option<Unit>>,
    /// Nominal values of independent parameters.
    numbers: FxHashMap<Symbol, f64>,
    /// What is taken for granted about them.
    guards: Vec<Guard>,
    /// The signal whose expression is being read, and how many integrals it has inside.
    integral_owner: Option<(String, usize)>,
    /// How many elements there may be.
    limit: usize,
    /// Whether that limit has been passed.
    too_large: bool,
    /// Turns of all `for` loops so far.
    iterations: usize,
    /// `init`, `prefer` and `causality` statements with the loops around them, for when the bonds are there.
    deferred: Vec<Deferred<'a>>,
    /// Elements whose bonds were refused for another mistake.
    excused: FxHashSet<ElementId>,
    /// Names that may still be compared in search of what a misspelt one could mean.
    comparisons: usize,
}

impl<'a, 'p> Flattener<'a, 'p> {
    fn new(
        pool: &'p mut Pool,
        infos: Vec<ModelInfo<'a>>,
        report: Report,
        top: usize,
        limit: usize,
    ) -> Flattener<'a, 'p> {
        let time = pool.symbol("t");
        Flattener {
            pool,
            report,
            graph: empty_graph(infos[top].ast),
            infos,
            instances: Vec::new(),
            settings: FxHashMap::default(),
            settings_used: FxHashSet::default(),
            paths: &[],
            time,
            tables: FxHashMap::default(),
            bonds_by_name: Vec::new(),
            value_dimensions: FxHashMap::default(),
            port_domains: Vec::new(),
            units: FxHashMap::default(),
            numbers: FxHashMap::default(),
            guards: Vec::new(),
            integral_owner: None,
            limit,
            too_large: false,
            iterations: 0,
            deferred: Vec::new(),
            excused: FxHashSet::default(),
            comparisons: NAME_COMPARISONS,
        }
    }

    fn run(&mut self, top: usize, arguments: Arguments) {
        let info = &self.infos[top];
        let outputs = info.outputs.iter().map(|output| output.name.text.as_str());
        for name in info.value_names().chain(info.part_names()).chain(outputs) {
            self.pool.keep_name(name);
        }
        self.instantiate_all(top, arguments);
        if self.too_large {
            return;
        }
        self.connect();
        self.lower_values();
        if !self.report.has_errors() {
            self.infer_domains();
        }
        self.lower_laws();
        self.lower_quantities();
        self.lower_deferred();
        self.validate();
    }

    /// The candidate that a misspelt name was probably meant to be.
    fn closest<'n>(&mut self, name: &str, candidates: &[&'n str]) -> Option<&'n str> {
        let left = self.comparisons.checked_sub(candidates.len());
        self.comparisons = left.unwrap_or(0);
        left.and_then(|_| closest(name, candidates.iter().copied()))
    }

    /// A value to go on with after a mistake: a one, which may be divided by, so that no second mistake is made of it.
    fn nothing(&mut self) -> Expr {
        self.pool.one()
    }

    /// Settings that named nothing are mistakes.
    fn check_settings(&mut self, options: &FlattenOptions) {
        for setting in &options.set {
            if self.settings_used.contains(&flat_name(&setting.name)) {
                continue;
            }
            let parameters = self.graph.parameters.iter().map(|p| p.name.as_str());
            let names = parameters
                .chain(self.graph.derived.iter().map(|d| d.name.as_str()))
                .chain(self.graph.inputs.iter().map(|i| i.name.as_str()));
            let help = match closest(&setting.name, names) {
                _ if setting.name.starts_with("init(") => Remedy::marked(
                    "{option sweep} sets an initial state of a run; a statement `init` holds for all",
                ),
                Some(near) => format!("did you mean `{near}`?").into(),
                None => {
                    Remedy::marked("name a parameter or an input of the model, as in {option set=Ra=2.5}")
                }
            };
            let message = format!("the model has no parameter or input `{}`", setting.name);
            self.report.push(Diagnostic::new(code::BAD_SET, message).help(help));
        }
    }
}
