//! The answer of `paynter equations`.

use super::Diagnostic;
use paynter_algebra::{Expr, Pool, Symbol};
use paynter_equations as eq;
use paynter_export::{side_text, why_text};
use paynter_graph::{BondGraph, flat_name};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// Matrices of more states than this are listed entry by entry.
pub(super) const DENSE_STATES: usize = 200;

/// Expressions larger than this are written with named sub-expressions.
const WRITTEN_NODES: u64 = 200_000;

/// So are those that would write the same things this many times over, unless they are short.
const REPEATED: u64 = 8;
const SHORT_NODES: u64 = 2_000;

/// The equations of a model: x' = f(x, u), y = g(x, u), 0 = constraints.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Equations {
    /// Whether the model has no error.
    pub ok: bool,
    /// The model's name.
    pub model: String,
    /// Whether the matrices say all.
    pub form: Form,
    /// The independent states.
    pub states: Vec<String>,
    /// The inputs.
    pub inputs: Vec<String>,
    /// The outputs.
    pub outputs: Vec<String>,
    /// The independent parameters with their nominal values, in SI.
    pub parameters: BTreeMap<String, f64>,
    /// The mass matrix, where one remains: then E x' = f, and E x' = A x + B u + … of a linear model.
    #[serde(rename = "E", skip_serializing_if = "Option::is_none")]
    pub e: Option<Matrix>,
    /// x' = A x + B u + Σ Bd_k u^(k)
    #[serde(rename = "A", skip_serializing_if = "Option::is_none")]
    pub a: Option<Matrix>,
    /// Input matrix.
    #[serde(rename = "B", skip_serializing_if = "Option::is_none")]
    pub b: Option<Matrix>,
    /// y = C x + D u + Σ Dd_k u^(k)
    #[serde(rename = "C", skip_serializing_if = "Option::is_none")]
    pub c: Option<Matrix>,
    /// Feed-through matrix.
    #[serde(rename = "D", skip_serializing_if = "Option::is_none")]
    pub d: Option<Matrix>,
    /// Matrices of the inputs' derivatives in x', first derivative first.
    #[serde(rename = "Bd", skip_serializing_if = "Vec::is_empty")]
    pub bd: Vec<Matrix>,
    /// Matrices of the inputs' derivatives in y, first derivative first.
    #[serde(rename = "Dd", skip_serializing_if = "Vec::is_empty")]
    pub dd: Vec<Matrix>,
    /// Terms of x' and y that depend on neither states nor inputs, where there are any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offset: Option<Offset>,
    /// The rates of the states.
    pub f: Vec<String>,
    /// The outputs.
    pub g: Vec<String>,
    /// Unknowns that are given only implicitly.
    pub constraints: Vec<Constraint>,
    /// States of dependent storages, expressed by the others.
    pub dependent: BTreeMap<String, String>,
    /// Initial values of the states.
    pub initial: Vec<String>,
    /// Named sub-expressions that the strings use, in order, where they would be too long otherwise.
    pub definitions: Vec<Definition>,
    /// How the equations come about, where it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steps: Option<Vec<Derivation>>,
    /// The equations in the notation that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub written: Option<String>,
    /// All findings by place.
    pub diagnostics: Vec<Diagnostic>,
}

/// Whether a model is linear.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Form {
    /// The matrices say all.
    Linear,
    /// There are no matrices.
    Nonlinear,
}

/// A matrix of expressions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Matrix {
    /// Row by row.
    Dense(Vec<Vec<String>>),
    /// Row, column (from 0) and expression of each entry that is not zero.
    Sparse(Vec<(usize, usize, String)>),
}

/// Constant terms.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Offset {
    /// Of the rates.
    pub f: Vec<String>,
    /// Of the outputs.
    pub g: Vec<String>,
}

/// An implicit unknown with the equation that determines it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Constraint {
    /// The unknown.
    pub unknown: String,
    /// Zero at the solution.
    pub residual: String,
}

/// How one quantity comes about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Derivation {
    /// The element, the loop or the output it is about.
    pub title: String,
    /// Line by line.
    pub lines: Vec<Step>,
}

/// One line of a derivation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Step {
    /// What stands on the left; none where the line continues the one before.
    pub left: Option<String>,
    /// What stands on the right; none where it would be too long to be read.
    pub right: Option<String>,
    /// Why.
    pub why: String,
}

impl Derivation {
    /// Translates derivations.
    pub fn list(pool: &Pool, derivations: &[eq::Derivation]) -> Vec<Derivation> {
        let step = |line: &eq::Line| Step {
            left: line.left.as_ref().map(|side| side_text(pool, side)),
            right: line.right.map(|e| pool.display(e).to_string()),
            why: why_text(pool, line),
        };
        derivations
            .iter()
            .map(|d| Derivation { title: d.title.clone(), lines: d.lines.iter().map(step).collect() })
            .collect()
    }
}

/// A named sub-expression.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Definition {
    /// The name.
    pub name: String,
    /// What it stands for.
    pub value: String,
}

impl Equations {
    /// Translates equations.
    pub fn new(
        pool: &mut Pool,
        graph: &BondGraph,
        equations: &eq::Equations,
        space: Option<&eq::StateSpace>,
        diagnostics: Vec<Diagnostic>,
    ) -> Equations {
        Equations::written(pool, graph, equations, None, space, diagnostics)
    }

    /// Translates equations whose mass matrix is not inverted: `right` holds f of E x' = f in place of rates.
    pub fn with_mass(
        pool: &mut Pool,
        graph: &BondGraph,
        right: &eq::Equations,
        mass: &eq::Sparse,
        space: Option<&eq::StateSpace>,
        diagnostics: Vec<Diagnostic>,
    ) -> Equations {
        Equations::written(pool, graph, right, Some(mass), space, diagnostics)
    }

    fn written(
        pool: &mut Pool,
        graph: &BondGraph,
        equations: &eq::Equations,
        mass: Option<&eq::Sparse>,
        space: Option<&eq::StateSpace>,
        diagnostics: Vec<Diagnostic>,
    ) -> Equations {
        let mut roots: Vec<Expr> = equations.rates.clone();
        roots.extend(equations.outputs.iter().map(|output| output.value));
        roots.extend(equations.constraints.iter().map(|constraint| constraint.residual));
        let mut others: Vec<Expr> = space.map_or_else(Vec::new, eq::StateSpace::entries);
        others.extend(space.iter().flat_map(|space| space.offset.0.iter().chain(&space.offset.1)));
        others.extend(mass.iter().flat_map(|mass| mass.entries.iter().map(|(_, _, entry)| *entry)));
        others.extend(equations.dependent.iter().map(|dependent| dependent.value));
        let writing = Writing::new(pool, &roots, &others);
        let text = |e: Expr| writing.text(pool, e);
        let constraints = equations.constraints.iter().map(|constraint| Constraint {
            unknown: pool.name(constraint.unknown).to_owned(),
            residual: text(constraint.residual),
        });
        let dense = equations.states.len() <= DENSE_STATES;
        let matrix = |m: &eq::Sparse| writing.matrix(pool, m, dense);
        let zero = pool.zero();
        Equations {
            ok: true,
            model: graph.name.clone(),
            form: if space.is_some() { Form::Linear } else { Form::Nonlinear },
            states: equations.states.iter().map(|state| state.name.clone()).collect(),
            inputs: equations.inputs.iter().map(|input| input.name.clone()).collect(),
            outputs: equations.outputs.iter().map(|output| output.name.clone()).collect(),
            parameters: graph.parameters.iter().map(|p| (flat_name(&p.name), p.number)).collect(),
            e: mass.map(matrix),
            a: space.map(|s| matrix(&s.a)),
            b: space.and_then(|s| s.b.first()).map(matrix),
            c: space.map(|s| matrix(&s.c)),
            d: space.and_then(|s| s.d.first()).map(matrix),
            bd: space.map_or_else(Vec::new, |s| s.b.iter().skip(1).map(matrix).collect()),
            dd: space.map_or_else(Vec::new, |s| s.d.iter().skip(1).map(matrix).collect()),
            offset: space.filter(|s| s.offset.0.iter().chain(&s.offset.1).any(|e| *e != zero)).map(|s| {
                Offset {
                    f: s.offset.0.iter().map(|e| text(*e)).collect(),
                    g: s.offset.1.iter().map(|e| text(*e)).collect(),
                }
            }),
            constraints: constraints.collect(),
            dependent: equations.dependent.iter().map(|d| (d.name.clone(), text(d.value))).collect(),
            initial: equations.states.iter().map(|state| text(state.initial)).collect(),
            f: equations.rates.iter().map(|rate| text(*rate)).collect(),
            g: equations.outputs.iter().map(|output| text(output.value)).collect(),
            definitions: writing.definitions(pool),
            steps: None,
            written: None,
            diagnostics,
        }
    }
}

/// How the expressions of a document are written: with names for what they share where they would be too long.
#[derive(Debug, Default)]
pub(super) struct Writing {
    /// The expressions that are written by names.
    named: BTreeMap<Expr, Expr>,
    /// The names, in order.
    definitions: Vec<(Symbol, Expr)>,
}

impl Writing {
    /// Gives names to what the lines of a document share where they are long or say the same things often, and
    /// to what its other expressions share with them, such as the entries of matrices, where those are long.
    pub fn new(pool: &mut Pool, lines: &[Expr], others: &[Expr]) -> Writing {
        let distinct = pool.reachable(lines).len() as u64;
        let long_lines = pool.written_size(lines) > WRITTEN_NODES.min(SHORT_NODES.max(REPEATED * distinct));
        // Programs read what people do not.
        let most = if pool.is_for_people() { SHORT_NODES } else { WRITTEN_NODES };
        let long_others = pool.written_size(others) > most;
        let mut roots = Vec::new();
        if long_lines || long_others {
            roots.extend_from_slice(lines);
        }
        if long_others {
            roots.extend_from_slice(others);
        }
        let shared = pool.share(&roots);
        Writing { named: roots.into_iter().zip(shared.roots).collect(), definitions: shared.definitions }
    }

    /// The same for what is expanded: for people it is collected by powers of s.
    pub fn of_expanded(pool: &mut Pool, lines: &[Expr], others: &[Expr]) -> Writing {
        let roots: Vec<Expr> = lines.iter().chain(others).copied().collect();
        let collected: Vec<Expr> = roots.iter().map(|e| pool.by_powers(*e)).collect();
        let (first, rest) = collected.split_at(lines.len());
        let mut writing = Writing::new(pool, first, rest);
        for (root, collected) in roots.iter().zip(&collected) {
            let written = writing.named.get(collected).copied().unwrap_or(*collected);
            writing.named.insert(*root, written);
        }
        writing
    }

    /// Writes an expression.
    pub fn text(&self, pool: &Pool, e: Expr) -> String {
        pool.display(self.named.get(&e).copied().unwrap_or(e)).to_string()
    }

    /// Writes a matrix row by row, or entry by entry.
    pub fn matrix(&self, pool: &Pool, matrix: &eq::Sparse, dense: bool) -> Matrix {
        let text = |e: Expr| self.text(pool, e);
        if !dense {
            return Matrix::Sparse(matrix.entries.iter().map(|(i, j, e)| (*i, *j, text(*e))).collect());
        }
        let row = |i: usize| (0..matrix.columns).map(|j| text(matrix.get(pool, i, j))).collect();
        Matrix::Dense((0..matrix.rows).map(row).collect())
    }

    /// Writes what the names stand for.
    pub fn definitions(&self, pool: &Pool) -> Vec<Definition> {
        let definition = |(name, value): &(Symbol, Expr)| Definition {
            name: pool.name(*name).to_owned(),
            value: pool.display(*value).to_string(),
        };
        self.definitions.iter().map(definition).collect()
    }
}
