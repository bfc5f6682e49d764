//! Answers for reading and for use elsewhere: equations, transfer
//! functions, operating points, poles, responses and structure in a notation,
//! without a program around them.

use crate::inputs::{
    FrequencyResponse, Mode, PolesAndZeros, RelativeDegree, SteadyState, StructuralNumbers, Values,
};
use crate::page::{Cell, Law, Left, Matrix, Page, Ratio, Section, Table};
use crate::target::Target;
use paynter_algebra::{Expr, Pool, Symbol};
use paynter_equations as eq;
use paynter_graph::BondGraph;

/// Expressions larger than this are written with named sub-expressions, matrices left out.
const WRITTEN_NODES: u64 = 200_000;

/// Matrices of more rows or columns than this are left out.
const MATRIX: usize = 30;

/// Writes the equations of a model; with a mass matrix E their rates are the right sides of E x'.
pub fn equations(
    pool: &mut Pool,
    graph: &BondGraph,
    equations: &eq::Equations,
    mass: Option<&eq::Sparse>,
    space: Option<&eq::StateSpace>,
    notation: &dyn Target,
) -> String {
    let mut roots: Vec<Expr> = equations.rates.clone();
    roots.extend(equations.constraints.iter().map(|c| c.residual));
    roots.extend(equations.dependent.iter().map(|d| d.value));
    roots.extend(equations.outputs.iter().map(|o| o.value));
    let (definitions, roots) = shared(pool, &roots);
    let mut roots = roots.into_iter().map(Cell::Formula);
    let mut section = |title: &'static str, left: Vec<Left>| Section {
        title,
        lines: left.into_iter().zip(roots.by_ref()).collect(),
    };
    let row = |i: usize, mass: &eq::Sparse| {
        let own = mass.entries.iter().filter(|(row, _, _)| *row == i);
        Left::Row(own.map(|(_, j, e)| (*e, equations.states[*j].name.clone())).collect())
    };
    let rate = |(i, state): (usize, &eq::State)| {
        mass.map_or_else(|| Left::Rate(state.name.clone()), |mass| row(i, mass))
    };
    let states = section("States", equations.states.iter().enumerate().map(rate).collect());
    let implicit =
        section("Implicit", equations.constraints.iter().map(|c| Left::Zero(c.name.clone())).collect());
    let dependent =
        section("Dependent states", equations.dependent.iter().map(|d| Left::Name(d.name.clone())).collect());
    let outputs = section("Outputs", equations.outputs.iter().map(|o| Left::Name(o.name.clone())).collect());
    let mut page = Page::new(&graph.name, "equations");
    page.sections = filled(vec![with(definitions), states, implicit, dependent, outputs]);
    if let Some(space) = space {
        page.add_space(pool, equations, space);
    }
    if let (Some(mass), false) = (mass, page.matrices.is_empty()) {
        page.matrices.insert(0, dense(pool, "E".to_owned(), mass));
        page.law.iter_mut().for_each(|law| law.mass = true);
    }
    notation.page(pool, &page)
}

/// Writes the transfer functions of a model.
pub fn transfer(
    pool: &mut Pool,
    name: &str,
    equations: &eq::Equations,
    transfer: &eq::Transfer,
    notation: &dyn Target,
) -> String {
    let mut roots = Vec::with_capacity(2 * transfer.entries.len() + 1);
    for entry in &transfer.entries {
        let (num, den) = pool.shortened(entry.num, entry.den);
        roots.extend([num, den]);
    }
    roots.extend(transfer.denominator.map(|e| pool.shortened(e, e).1));
    if transfer.shared.is_none() {
        roots.iter_mut().for_each(|e| *e = pool.by_powers(*e));
    }
    let (definitions, roots) = shared(pool, &roots);
    let mut page = Page::new(name, "transfer functions");
    let mut lines = Vec::with_capacity(transfer.entries.len());
    for (entry, parts) in transfer.entries.iter().zip(roots.chunks(2)) {
        let coefficients = match definitions.is_empty() {
            true => falling(pool, parts[0], transfer.s).zip(falling(pool, parts[1], transfer.s)),
            false => None,
        };
        let output = equations.outputs[entry.output].name.clone();
        let input = equations.inputs[entry.input].name.clone();
        let ratio = Ratio { num: parts[0], den: parts[1], coefficients };
        lines.push((Left::OfS("H", Some((output, input))), Cell::Ratio(ratio)));
    }
    page.sections.push(with(definitions));
    if let Some(denominator) = transfer.denominator.and_then(|_| roots.last().copied()) {
        let left = Left::OfS("Delta", None);
        page.add_polynomials(
            pool,
            "Characteristic polynomial",
            vec![(left, denominator)],
            transfer.s,
            notation,
        );
    }
    page.sections.push(Section { title: "Transfer functions", lines });
    page.sections = filled(page.sections);
    notation.page(pool, &page)
}

/// Writes a steady state, and what the model is near it.
pub fn operating_point(
    pool: &mut Pool,
    point: &SteadyState,
    equations: &eq::Equations,
    space: Option<&eq::StateSpace>,
    notation: &dyn Target,
) -> String {
    let mut page = Page::new(&point.model, "operating point");
    let lines = |values: &mut dyn Iterator<Item = (&String, &f64)>| {
        values.map(|(name, value)| (Left::Name(name.clone()), Cell::Real(*value))).collect()
    };
    let section = |title, values: &Values| Section { title, lines: lines(&mut values.iter()) };
    let mut outputs = equations.outputs.iter().filter_map(|o| point.outputs.get_key_value(&o.name));
    page.sections = filled(vec![
        section("Inputs at t = 0", &point.inputs),
        section("Derivatives of inputs", &point.input_derivatives),
        section("States", &point.states),
        section("Implicit unknowns", &point.unknowns),
        section("Dependent states", &point.dependent),
        Section { title: "Outputs", lines: lines(&mut outputs) },
    ]);
    if let Some(space) = space {
        page.add_space(pool, equations, space);
        // The matrices multiply deviations from the point, so that constant terms play no part.
        page.law = None;
        page.matrices.retain(|m| !matches!(m.name.as_str(), "a" | "c"));
    }
    if !page.matrices.is_empty() && !point.matrices.is_empty() {
        for (name, rows) in &point.matrices {
            let rows = rows.iter().map(|row| row.iter().map(|x| Cell::Real(*x)).collect()).collect();
            page.matrices.push(Matrix { name: format!("{name}_0"), rows });
        }
        page.matrices.retain(|m| m.rows.iter().any(|row| !row.is_empty()));
    }
    notation.page(pool, &page)
}

/// Writes poles and zeros, with the characteristic polynomial where there is one.
pub fn poles(
    pool: &mut Pool,
    found: &PolesAndZeros,
    characteristic: Option<(Expr, Symbol)>,
    notation: &dyn Target,
) -> String {
    let mut page = Page::new(&found.model, "poles and zeros");
    if let Some((polynomial, s)) = characteristic {
        let left = Left::OfS("Delta", None);
        page.add_polynomials(pool, "Characteristic polynomial", vec![(left, polynomial)], s, notation);
    }
    let complex = |list: &[[f64; 2]]| list.iter().map(|z| Cell::Complex(*z)).collect::<Vec<_>>();
    let modes = &found.modes;
    let real = |value: fn(&Mode) -> f64| modes.iter().map(|mode| Cell::Real(value(mode))).collect();
    page.tables.push(Table {
        title: "Poles, multiplicity, damping, natural frequency in rad/s".to_owned(),
        columns: vec![
            ("poles".to_owned(), modes.iter().map(|mode| Cell::Complex(mode.pole)).collect()),
            ("times".to_owned(), real(|mode| mode.multiplicity as f64)),
            ("zeta".to_owned(), real(|mode| mode.damping)),
            ("omega_n".to_owned(), real(|mode| mode.natural_frequency)),
        ],
    });
    for entry in &found.entries {
        page.tables.push(Table {
            title: format!("Zeros and poles left of {} / {}", entry.output, entry.input),
            columns: vec![
                (format!("zeros_{}_{}", entry.output, entry.input), complex(&entry.zeros)),
                (format!("poles_{}_{}", entry.output, entry.input), complex(&entry.poles)),
            ],
        });
    }
    notation.page(pool, &page)
}

/// Writes a frequency response.
pub fn bode(pool: &Pool, found: &FrequencyResponse, notation: &dyn Target) -> String {
    let mut page = Page::new(&found.model, "frequency response");
    let mut columns = vec![("omega".to_owned(), found.omega.iter().map(|w| Cell::Real(*w)).collect())];
    for entry in &found.entries {
        let values = entry.values.iter().map(|value| Cell::Complex(*value)).collect();
        columns.push((format!("H_{}_{}", entry.output, entry.input), values));
    }
    page.tables.push(Table { title: "Angular frequency in rad/s, transfer functions".to_owned(), columns });
    notation.page(pool, &page)
}

/// Writes what the structure of a model says: the numbers, the zero dynamics, the junction structure.
pub fn structure(
    pool: &mut Pool,
    found: &StructuralNumbers,
    zeros: &[eq::ZeroDynamics],
    junctions: Option<&eq::JunctionStructure>,
    s: Symbol,
    notation: &dyn Target,
) -> String {
    let mut page = Page::new(&found.model, "structure");
    let count = |name: &str, value: usize| (Left::Name(name.to_owned()), Cell::Real(value as f64));
    let lines = vec![count("order", found.order), count("rank", found.rank)];
    page.sections.push(Section { title: "Order and rank", lines });
    let degree = |r: &RelativeDegree| {
        let degree = r.degree.map_or(f64::NAN, |degree| degree as f64);
        (Left::Name(format!("degree_{}_{}", r.output, r.input)), Cell::Real(degree))
    };
    let lines = found.degrees.iter().map(degree).collect();
    page.sections.push(Section { title: "Relative degree", lines });
    let polynomial = |zero: &eq::ZeroDynamics| {
        let names = (found.outputs[zero.output].clone(), found.inputs[zero.input].clone());
        (Left::OfS("N", Some(names)), zero.polynomial)
    };
    page.add_polynomials(pool, "Zero dynamics", zeros.iter().map(polynomial).collect(), s, notation);
    if let Some(junctions) = junctions.filter(|j| j.ports.len() <= MATRIX) {
        page.vectors = vec![
            ("a", junctions.ports.iter().map(|port| port.takes.clone()).collect()),
            ("b", junctions.ports.iter().map(|port| port.gives.clone()).collect()),
        ];
        page.matrices.push(dense(pool, "S".to_owned(), &junctions.matrix));
    }
    page.sections = filled(page.sections);
    notation.page(pool, &page)
}

impl Page {
    fn new(model: &str, what: &str) -> Page {
        Page { title: format!("{model}: {what}"), ..Page::default() }
    }

    /// Adds the matrices of a linear model that is not too large.
    fn add_space(&mut self, pool: &Pool, equations: &eq::Equations, space: &eq::StateSpace) {
        let size = equations.states.len().max(equations.inputs.len()).max(equations.outputs.len());
        let nodes = pool.written_size(&space.entries());
        if size > MATRIX || nodes > WRITTEN_NODES || equations.states.is_empty() {
            return;
        }
        let zero = pool.zero();
        let offset = space.offset.0.iter().chain(&space.offset.1).any(|e| *e != zero);
        self.vectors = vec![
            ("x", equations.states.iter().map(|s| s.name.clone()).collect()),
            ("u", equations.inputs.iter().map(|i| i.name.clone()).collect()),
            ("y", equations.outputs.iter().map(|o| o.name.clone()).collect()),
        ];
        self.matrices = matrices(pool, space, offset);
        self.law = Some(Law { mass: false, derivatives: space.b.len().saturating_sub(1), offset });
    }

    /// Adds polynomials in s: as formulas where they are typeset, by their coefficients for programs.
    fn add_polynomials(
        &mut self,
        pool: &mut Pool,
        title: &'static str,
        list: Vec<(Left, Expr)>,
        s: Symbol,
        notation: &dyn Target,
    ) {
        if list.is_empty() {
            return;
        }
        if notation.is_typeset() {
            let lines = list.into_iter().map(|(left, e)| (left, Cell::Formula(pool.by_powers(e)))).collect();
            self.sections.push(Section { title, lines });
            return;
        }
        let mut columns = Vec::with_capacity(list.len());
        for (left, polynomial) in list {
            let Some(coefficients) = falling(pool, polynomial, s) else { continue };
            let name = match left {
                Left::OfS(letter, Some((output, input))) => format!("{letter}_{output}_{input}"),
                Left::OfS(letter, None) => letter.to_owned(),
                _ => continue,
            };
            columns.push((name, coefficients.into_iter().map(Cell::Formula).collect()));
        }
        let title = format!("{title}: coefficients, highest power of s first");
        self.tables.push(Table { title, columns });
    }
}

fn falling(pool: &mut Pool, e: Expr, s: Symbol) -> Option<Vec<Expr>> {
    let mut list = pool.collect(e, s)?;
    list.reverse();
    Some(list)
}

/// Names what expressions share where they would be too long otherwise.
fn shared(pool: &mut Pool, roots: &[Expr]) -> (Vec<(Symbol, Expr)>, Vec<Expr>) {
    let size = pool.written_size(roots);
    if size <= WRITTEN_NODES {
        return (Vec::new(), roots.to_vec());
    }
    let shared = pool.share(roots);
    (shared.definitions, shared.roots)
}

fn with(definitions: Vec<(Symbol, Expr)>) -> Section {
    let line = |(symbol, value)| (Left::Defined(symbol), Cell::Formula(value));
    Section { title: "With", lines: definitions.into_iter().map(line).collect() }
}

fn filled(sections: Vec<Section>) -> Vec<Section> {
    sections.into_iter().filter(|section| !section.lines.is_empty()).collect()
}

fn dense(pool: &Pool, name: String, m: &eq::Sparse) -> Matrix {
    let row = |i: usize| (0..m.columns).map(|j| Cell::Formula(m.get(pool, i, j))).collect();
    Matrix { name, rows: (0..m.rows).map(row).collect() }
}

fn matrices(pool: &Pool, space: &eq::StateSpace, offset: bool) -> Vec<Matrix> {
    let mut list = vec![dense(pool, "A".to_owned(), &space.a)];
    list.extend(space.b.first().map(|b| dense(pool, "B".to_owned(), b)));
    list.push(dense(pool, "C".to_owned(), &space.c));
    list.extend(space.d.first().map(|d| dense(pool, "D".to_owned(), d)));
    for (k, (b, d)) in space.b.iter().zip(&space.d).enumerate().skip(1) {
        list.extend([dense(pool, format!("B_{k}"), b), dense(pool, format!("D_{k}"), d)]);
    }
    if offset {
        for (name, vector) in [("a", &space.offset.0), ("c", &space.offset.1)] {
            let rows = vector.iter().map(|e| vec![Cell::Formula(*e)]).collect();
            list.push(Matrix { name: name.to_owned(), rows });
        }
    }
    list.retain(|m| m.rows.iter().any(|row| !row.is_empty()));
    list
}
