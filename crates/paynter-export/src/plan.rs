//! What every exported program holds, before it is written in a language:
//! the quantities in their order, the expressions they are computed by, and
//! the pieces of a function's body.

use crate::names::Names;
use crate::target::Exported;
use paynter_algebra::{Expr, Func, Node, Pool, Shared, Symbol, Target};
use paynter_base::printable;
use paynter_equations::{Equations, Sparse, StateSpace};
use paynter_graph::dimension::Unit;
use paynter_graph::{BondGraph, Samples, Variable, flat_name};
use std::collections::BTreeMap;

/// A quantity with what a reader wants to know of it.
pub(crate) struct Quantity {
    /// As the model calls it.
    pub name: String,
    /// Its SI unit, empty where none is known.
    pub unit: String,
    /// What it is, empty where the model does not say.
    pub doc: String,
}

/// Where a symbol's value stands among a function's arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Place {
    Parameter(usize),
    State(usize),
    Input(usize),
    Unknown(usize),
    Time,
}

/// Everything an exported program says.
pub(crate) struct Plan {
    pub name: String,
    pub doc: String,
    pub parameters: Vec<Quantity>,
    pub nominal: Vec<f64>,
    pub states: Vec<Quantity>,
    pub initial: Vec<Expr>,
    pub rates: Vec<Expr>,
    /// Inputs, then their derivatives as far as the equations read them.
    pub inputs: Vec<Quantity>,
    /// Default signals; none where a table would have to be differentiated.
    pub signals: Vec<Option<Expr>>,
    pub outputs: Vec<Quantity>,
    pub values: Vec<Expr>,
    /// Unknowns that are given only implicitly, and the equations that determine them.
    pub unknowns: Vec<Quantity>,
    pub residuals: Vec<Expr>,
    /// Derivatives of the residuals by the unknowns, those that are not zero.
    pub jacobian: Sparse,
    pub dependent: Vec<Quantity>,
    pub dependent_values: Vec<Expr>,
    /// A, B, C, D, then B and D of the inputs' derivatives; empty where the model is nonlinear.
    pub matrices: Vec<(String, Sparse)>,
    /// Constant terms of rates and outputs of a linear model.
    pub offsets: Option<(Vec<Expr>, Vec<Expr>)>,
    pub tables: Vec<Samples>,
    places: BTreeMap<Symbol, Place>,
}

/// The pieces of a function that computes some expressions.
pub(crate) struct Body {
    /// Arguments that are read, with their names.
    pub reads: Vec<(Place, String)>,
    /// Shared sub-expressions, in order.
    pub definitions: Vec<(String, String)>,
    /// The expressions.
    pub results: Vec<String>,
    /// Whether there is a choice in it, both of whose values may be computed.
    pub chooses: bool,
}

impl Body {
    /// Tells whether a function reads an argument of some kind.
    pub fn reads(&self, kind: impl Fn(Place) -> bool) -> bool {
        self.reads.iter().any(|(place, _)| kind(*place))
    }
}

impl Plan {
    /// Gathers what a program says.
    pub fn new(pool: &mut Pool, model: &Exported<'_>) -> Plan {
        let Exported { graph, equations, space, .. } = *model;
        let mut places = BTreeMap::new();
        let time = graph.variables.symbol(Variable::Time);
        if let Some(time) = time {
            places.insert(time, Place::Time);
        }
        places.extend(graph.parameters.iter().enumerate().map(|(i, p)| (p.symbol, Place::Parameter(i))));
        places.extend(equations.states.iter().enumerate().map(|(i, s)| (s.symbol, Place::State(i))));
        places.extend(equations.constraints.iter().enumerate().map(|(i, c)| (c.unknown, Place::Unknown(i))));
        let (inputs, signals) = inputs(pool, graph, equations, time, &mut places);
        let mut jacobian = Sparse {
            rows: equations.constraints.len(),
            columns: equations.constraints.len(),
            entries: Vec::new(),
        };
        for (i, row) in equations.constraints.iter().enumerate() {
            for (j, column) in equations.constraints.iter().enumerate() {
                let derivative = pool.diff(row.residual, column.unknown);
                if derivative != pool.zero() {
                    jacobian.entries.push((i, j, derivative));
                }
            }
        }
        let plain = |name: &str| Quantity { name: name.to_owned(), unit: String::new(), doc: String::new() };
        Plan {
            name: graph.name.clone(),
            doc: one_line(graph.doc.as_deref()),
            parameters: graph
                .parameters
                .iter()
                .map(|p| Quantity {
                    name: flat_name(&p.name),
                    unit: coherent(p.unit.as_ref()),
                    doc: one_line(p.doc.as_deref()),
                })
                .collect(),
            nominal: graph.parameters.iter().map(|p| p.number).collect(),
            states: equations
                .states
                .iter()
                .map(|state| state_quantity(graph, &state.name, state.variable))
                .collect(),
            initial: equations.states.iter().map(|state| state.initial).collect(),
            rates: equations.rates.clone(),
            inputs,
            signals,
            outputs: graph
                .outputs
                .iter()
                .map(|output| Quantity {
                    name: flat_name(&output.name),
                    unit: coherent(output.unit.as_ref()),
                    doc: one_line(output.doc.as_deref()),
                })
                .collect(),
            values: equations.outputs.iter().map(|output| output.value).collect(),
            unknowns: equations.constraints.iter().map(|c| plain(&c.name)).collect(),
            residuals: equations.constraints.iter().map(|c| c.residual).collect(),
            jacobian,
            dependent: equations
                .dependent
                .iter()
                .map(|d| state_quantity(graph, &d.name, Variable::State(d.element, d.port as u32)))
                .collect(),
            dependent_values: equations.dependent.iter().map(|d| d.value).collect(),
            matrices: space.map_or_else(Vec::new, matrices),
            offsets: space.map(|s| s.offset.clone()).filter(|(f, g)| {
                let zero = pool.zero();
                f.iter().chain(g).any(|e| *e != zero)
            }),
            tables: model.tables.clone(),
            places,
        }
    }

    /// Where a symbol's value stands.
    pub fn place(&self, symbol: Symbol) -> Option<Place> {
        self.places.get(&symbol).copied()
    }

    /// The symbols of the parameters, in their order.
    pub fn parameter_symbols(&self) -> Vec<Symbol> {
        let mut list: Vec<(Place, Symbol)> = self.places.iter().map(|(s, place)| (*place, *s)).collect();
        list.retain(|(place, _)| matches!(place, Place::Parameter(_)));
        list.sort_unstable();
        list.into_iter().map(|(_, symbol)| symbol).collect()
    }

    /// Names every quantity for a target: parameters first, so that they keep their own.
    pub fn names(&self, pool: &Pool, mut names: Names) -> Names {
        let mut symbols: Vec<(Place, Symbol)> = self.places.iter().map(|(s, place)| (*place, *s)).collect();
        symbols.sort_unstable();
        for (place, symbol) in symbols {
            if place != Place::Time {
                names.add(pool, symbol);
            }
        }
        names
    }

    /// Writes some expressions for a target, with names for what they share.
    pub fn body(&self, pool: &mut Pool, names: &Names, target: Target, roots: &[Expr]) -> Body {
        let order = pool.reachable(roots);
        let mut reads: Vec<(Place, Symbol)> = order
            .iter()
            .filter_map(|node| pool.as_symbol(*node))
            .filter_map(|symbol| self.places.get(&symbol).map(|place| (*place, symbol)))
            .collect();
        reads.sort_unstable();
        let chooses = order.iter().any(|node| matches!(pool.node(*node), Node::Select(..)));
        // Julia refuses the root of a negative number, so what stands in one branch stays there.
        let shared = match target == Target::Julia && chooses {
            true => Shared { definitions: Vec::new(), roots: roots.to_vec() },
            false => pool.share(roots),
        };
        let mut names = names.clone();
        for (symbol, _) in &shared.definitions {
            names.add(pool, *symbol);
        }
        let time = |symbol: Symbol| self.places.get(&symbol) == Some(&Place::Time);
        let spell = |symbol: Symbol| if time(symbol) { "t".to_owned() } else { names.of(pool, symbol) };
        let text = |e: Expr| pool.print_with(e, target, &spell).to_string();
        Body {
            reads: reads.into_iter().map(|(place, symbol)| (place, spell(symbol))).collect(),
            definitions: shared.definitions.iter().map(|(s, value)| (spell(*s), text(*value))).collect(),
            results: shared.roots.iter().map(|e| text(*e)).collect(),
            chooses,
        }
    }

    /// Tells whether some unknowns are given only implicitly.
    pub fn has_unknowns(&self) -> bool {
        !self.unknowns.is_empty()
    }
}

/// The SI unit of a quantity given in some unit.
fn coherent(unit: Option<&Unit>) -> String {
    unit.map_or_else(String::new, |unit| match unit.factor == 1.0 {
        true => unit.text.clone(),
        false => unit.dimension.to_string(),
    })
}

/// A description that fits on a line of a comment.
fn one_line(doc: Option<&str>) -> String {
    doc.map_or_else(String::new, |doc| printable(&doc.split_whitespace().collect::<Vec<_>>().join(" ")))
}

/// A state with the unit and the meaning of its domain.
fn state_quantity(graph: &BondGraph, name: &str, variable: Variable) -> Quantity {
    let about = match variable {
        Variable::State(element, port) => {
            let element = graph.element(element);
            let domain = element.ports[port as usize].domain;
            domain.and_then(|domain| element.stored()?.quantity(domain.info()))
        }
        _ => None,
    };
    let (doc, unit) = about.unwrap_or(("", ""));
    Quantity { name: name.to_owned(), unit: unit.to_owned(), doc: doc.to_owned() }
}

/// Inputs and the derivatives that the equations read, with their default signals.
fn inputs(
    pool: &mut Pool,
    graph: &BondGraph,
    equations: &Equations,
    time: Option<Symbol>,
    places: &mut BTreeMap<Symbol, Place>,
) -> (Vec<Quantity>, Vec<Option<Expr>>) {
    let mut list = Vec::new();
    let mut signals = Vec::new();
    let deepest = equations.inputs.iter().map(|input| input.symbols.len()).max().unwrap_or(0);
    for order in 0..deepest {
        for (input, declared) in equations.inputs.iter().zip(&graph.inputs) {
            let Some(symbol) = input.symbols.get(order) else { continue };
            places.insert(*symbol, Place::Input(list.len()));
            let unit = coherent(declared.unit.as_ref());
            list.push(Quantity {
                name: pool.name(*symbol).to_owned(),
                unit: match (order, unit.is_empty()) {
                    (0, _) | (_, true) => unit,
                    (1, false) => format!("{unit}/s"),
                    (_, false) => format!("{unit}/s^{order}"),
                },
                doc: one_line(declared.doc.as_deref()),
            });
            let mut value = input.value;
            for _ in 0..order {
                value = time.map_or(pool.zero(), |time| pool.diff(value, time));
            }
            signals.push((order == 0 || !reads_table(pool, input.value)).then_some(value));
        }
    }
    (list, signals)
}

fn reads_table(pool: &Pool, e: Expr) -> bool {
    pool.reachable(&[e]).into_iter().any(|node| matches!(pool.node(node), Node::Call(Func::Table(_), _)))
}

fn matrices(space: &StateSpace) -> Vec<(String, Sparse)> {
    let mut list = vec![("A".to_owned(), space.a.clone())];
    list.extend(space.b.first().map(|b| ("B".to_owned(), b.clone())));
    list.push(("C".to_owned(), space.c.clone()));
    list.extend(space.d.first().map(|d| ("D".to_owned(), d.clone())));
    for (k, (b, d)) in space.b.iter().zip(&space.d).enumerate().skip(1) {
        list.push((format!("Bd{k}"), b.clone()));
        list.push((format!("Dd{k}"), d.clone()));
    }
    list
}
