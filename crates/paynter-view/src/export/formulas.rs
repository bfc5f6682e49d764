//! Formulas for reading (`--form`): the equations and transfer functions of a
//! model in a notation, without a program around them.

use super::names::{Names, Spelling};
use super::{c, julia, latex, mathml, matlab, python};
use paynter_algebra::{Expr, Pool, Symbol, Target};
use paynter_equations as eq;
use paynter_graph::BondGraph;

/// Expressions larger than this are written with named sub-expressions.
const WRITTEN_NODES: u64 = 200_000;

/// Matrices of more rows or columns than this are left out.
const MATRIX: usize = 30;

/// A notation other than plain text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Notation {
    /// LaTeX with amsmath.
    Latex,
    /// MathML inside one `div`.
    MathMl,
    /// Python with NumPy.
    Python,
    /// MATLAB and Octave.
    Matlab,
    /// C.
    C,
    /// Julia.
    Julia,
}

impl Notation {
    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Notation::Latex => "latex",
            Notation::MathMl => "mathml",
            Notation::Python => "python",
            Notation::Matlab => "matlab",
            Notation::C => "c",
            Notation::Julia => "julia",
        }
    }

    /// The printer of its expressions.
    pub fn target(self) -> Target {
        match self {
            Notation::Latex => Target::Latex,
            Notation::MathMl => Target::MathMl,
            Notation::Python => Target::Python,
            Notation::Matlab => Target::Matlab,
            Notation::C => Target::C,
            Notation::Julia => Target::Julia,
        }
    }
}

/// What stands on the left of a formula.
pub(super) enum Left {
    /// The rate of a state, by its name.
    Rate(String),
    /// A quantity, by its name.
    Name(String),
    /// A named sub-expression.
    Defined(Symbol),
    /// Zero, in an equation that determines the quantity of this name.
    Zero(String),
}

/// Formulas under a title.
pub(super) struct Section {
    pub title: &'static str,
    pub lines: Vec<(Left, Expr)>,
}

/// A matrix with its name.
pub(super) struct Matrix {
    pub name: String,
    pub rows: Vec<Vec<Expr>>,
}

/// All that is written of a model's equations.
pub(super) struct Formulas {
    pub title: String,
    pub sections: Vec<Section>,
    /// The vectors x, u, y by their names, beside the matrices.
    pub vectors: Vec<(&'static str, Vec<String>)>,
    pub matrices: Vec<Matrix>,
    /// What x' and y are by the matrices.
    pub law: Option<Law>,
}

/// Which terms the matrix form has.
pub(super) struct Law {
    /// The highest derivative of the inputs.
    pub derivatives: usize,
    pub offset: bool,
}

/// One transfer function.
pub(super) struct Entry {
    pub output: String,
    pub input: String,
    pub num: Expr,
    pub den: Expr,
    /// Coefficients of numerator and denominator by falling powers of s, where they are polynomials.
    pub coefficients: Option<(Vec<Expr>, Vec<Expr>)>,
}

/// Writes the equations of a model.
pub fn equations(
    pool: &mut Pool,
    graph: &BondGraph,
    equations: &eq::Equations,
    space: Option<&eq::StateSpace>,
    notation: Notation,
) -> String {
    let formulas = gather(pool, graph, equations, space);
    match notation {
        Notation::Latex => latex::formulas(pool, &formulas),
        Notation::MathMl => mathml::formulas(pool, &formulas),
        _ => code(pool, &formulas, &dialect(notation)),
    }
}

/// Writes the transfer functions of a model.
pub fn transfer(
    pool: &mut Pool,
    name: &str,
    equations: &eq::Equations,
    transfer: &eq::Transfer,
    notation: Notation,
) -> String {
    let mut roots: Vec<Expr> = transfer.entries.iter().flat_map(|entry| [entry.num, entry.den]).collect();
    roots.extend(transfer.denominator);
    let (definitions, roots) = shared(pool, &roots);
    let mut entries = Vec::with_capacity(transfer.entries.len());
    for (entry, parts) in transfer.entries.iter().zip(roots.chunks(2)) {
        let coefficients = match definitions.is_empty() {
            true => falling(pool, parts[0], transfer.s).zip(falling(pool, parts[1], transfer.s)),
            false => None,
        };
        entries.push(Entry {
            output: equations.outputs[entry.output].name.clone(),
            input: equations.inputs[entry.input].name.clone(),
            num: parts[0],
            den: parts[1],
            coefficients,
        });
    }
    let denominator = transfer.denominator.and_then(|_| roots.last().copied());
    let title = format!("{name}: transfer functions");
    match notation {
        Notation::Latex => latex::transfer(pool, &title, &definitions, denominator, &entries),
        Notation::MathMl => mathml::transfer(pool, &title, &definitions, denominator, &entries),
        _ => transfer_code(pool, &title, &definitions, &entries, &dialect(notation)),
    }
}

fn falling(pool: &mut Pool, e: Expr, s: Symbol) -> Option<Vec<Expr>> {
    let mut list = pool.collect(e, s)?;
    list.reverse();
    Some(list)
}

/// Names what expressions share where they would be too long otherwise.
fn shared(pool: &mut Pool, roots: &[Expr]) -> (Vec<(Symbol, Expr)>, Vec<Expr>) {
    let size = roots.iter().map(|e| pool.written_size(*e)).fold(0, u64::saturating_add);
    if size <= WRITTEN_NODES {
        return (Vec::new(), roots.to_vec());
    }
    let shared = pool.share(roots);
    (shared.definitions, shared.roots)
}

fn gather(
    pool: &mut Pool,
    graph: &BondGraph,
    equations: &eq::Equations,
    space: Option<&eq::StateSpace>,
) -> Formulas {
    let mut roots: Vec<Expr> = equations.rates.clone();
    roots.extend(equations.constraints.iter().map(|c| c.residual));
    roots.extend(equations.dependent.iter().map(|d| d.value));
    roots.extend(equations.outputs.iter().map(|o| o.value));
    let (definitions, roots) = shared(pool, &roots);
    let mut roots = roots.into_iter();
    let mut section = |title: &'static str, left: Vec<Left>| {
        let lines = left.into_iter().zip(roots.by_ref()).collect();
        Section { title, lines }
    };
    let states = section("States", equations.states.iter().map(|s| Left::Rate(s.name.clone())).collect());
    let implicit =
        section("Implicit", equations.constraints.iter().map(|c| Left::Zero(c.name.clone())).collect());
    let dependent =
        section("Dependent states", equations.dependent.iter().map(|d| Left::Name(d.name.clone())).collect());
    let outputs = section("Outputs", equations.outputs.iter().map(|o| Left::Name(o.name.clone())).collect());
    let with = Section {
        title: "With",
        lines: definitions.into_iter().map(|(symbol, value)| (Left::Defined(symbol), value)).collect(),
    };
    let small = equations.states.len().max(equations.inputs.len()).max(equations.outputs.len()) <= MATRIX;
    let space = space.filter(|_| small && !equations.states.is_empty());
    let zero = pool.zero();
    let offset = space.is_some_and(|s| s.offset.0.iter().chain(&s.offset.1).any(|e| *e != zero));
    Formulas {
        title: format!("{}: equations", graph.name),
        sections: [with, states, implicit, dependent, outputs]
            .into_iter()
            .filter(|s| !s.lines.is_empty())
            .collect(),
        vectors: match space {
            Some(_) => vec![
                ("x", equations.states.iter().map(|s| s.name.clone()).collect()),
                ("u", equations.inputs.iter().map(|i| i.name.clone()).collect()),
                ("y", equations.outputs.iter().map(|o| o.name.clone()).collect()),
            ],
            None => Vec::new(),
        },
        matrices: space.map_or_else(Vec::new, |space| matrices(pool, space, offset)),
        law: space.map(|space| Law { derivatives: space.b.len().saturating_sub(1), offset }),
    }
}

fn matrices(pool: &Pool, space: &eq::StateSpace, offset: bool) -> Vec<Matrix> {
    let dense = |name: String, m: &eq::Sparse| Matrix {
        name,
        rows: (0..m.rows).map(|i| (0..m.columns).map(|j| m.get(pool, i, j)).collect()).collect(),
    };
    let mut list = vec![dense("A".to_owned(), &space.a)];
    list.extend(space.b.first().map(|b| dense("B".to_owned(), b)));
    list.push(dense("C".to_owned(), &space.c));
    list.extend(space.d.first().map(|d| dense("D".to_owned(), d)));
    for (k, (b, d)) in space.b.iter().zip(&space.d).enumerate().skip(1) {
        list.extend([dense(format!("B_{k}"), b), dense(format!("D_{k}"), d)]);
    }
    if offset {
        for (name, vector) in [("a", &space.offset.0), ("c", &space.offset.1)] {
            list.push(Matrix { name: name.to_owned(), rows: vector.iter().map(|e| vec![*e]).collect() });
        }
    }
    list.retain(|m| m.rows.iter().any(|row| !row.is_empty()));
    list
}

/// How a programming language writes statements.
struct Dialect {
    target: Target,
    spelling: &'static Spelling,
    comment: &'static str,
    /// Before the name, between name and value, after the value.
    assign: (&'static str, &'static str, &'static str),
    matrix: fn(&str, &[Vec<String>]) -> String,
    /// Name, coefficients of numerator and denominator.
    ratio: fn(&str, &[String], &[String]) -> String,
    /// Name, numerator and denominator over s.
    function: fn(&str, &str, &str) -> String,
}

fn dialect(notation: Notation) -> Dialect {
    match notation {
        Notation::Matlab => Dialect {
            target: Target::Matlab,
            spelling: &matlab::SPELLING,
            comment: "%",
            assign: ("", " = ", ";"),
            matrix: |name, rows| format!("{name} = [{}];", joined(rows, "", ", ", "", "; ")),
            ratio: |name, num, den| format!("{name} = tf([{}], [{}]);", num.join(", "), den.join(", ")),
            function: |name, num, den| format!("{name} = @(s) ({num})/({den});"),
        },
        Notation::C => Dialect {
            target: Target::C,
            spelling: &c::SPELLING,
            comment: "//",
            assign: ("const double ", " = ", ";"),
            matrix: |name, rows| {
                let columns = rows.first().map_or(0, Vec::len);
                let inside = joined(rows, "{", ", ", "}", ", ");
                format!("const double {name}[{}][{columns}] = {{{inside}}};", rows.len())
            },
            ratio: |name, num, den| {
                let list = |what: &str, items: &[String]| {
                    format!("const double {name}_{what}[{}] = {{{}}};", items.len(), items.join(", "))
                };
                format!("{}\n{}", list("num", num), list("den", den))
            },
            function: |name, num, den| {
                format!("double complex {name}(double complex s) {{ return ({num})/({den}); }}")
            },
        },
        Notation::Julia => Dialect {
            target: Target::Julia,
            spelling: &julia::SPELLING,
            comment: "#",
            assign: ("", " = ", ""),
            matrix: |name, rows| {
                let guarded: Vec<Vec<String>> = rows
                    .iter()
                    .map(|row| {
                        row.iter()
                            .map(|e| if e.contains(' ') { format!("({e})") } else { e.clone() })
                            .collect()
                    })
                    .collect();
                format!("{name} = [{}]", joined(&guarded, "", " ", "", "; "))
            },
            ratio: |name, num, den| {
                format!("{name} = (num = [{}], den = [{}])", num.join(", "), den.join(", "))
            },
            function: |name, num, den| format!("{name}(s) = ({num})/({den})"),
        },
        _ => Dialect {
            target: Target::Python,
            spelling: &python::SPELLING,
            comment: "#",
            assign: ("", " = ", ""),
            matrix: |name, rows| format!("{name} = np.array([{}])", joined(rows, "[", ", ", "]", ", ")),
            ratio: |name, num, den| format!("{name} = ([{}], [{}])", num.join(", "), den.join(", ")),
            function: |name, num, den| format!("{name} = lambda s: ({num})/({den})"),
        },
    }
}

fn joined(rows: &[Vec<String>], open: &str, between: &str, close: &str, next: &str) -> String {
    let row = |row: &Vec<String>| format!("{open}{}{close}", row.join(between));
    rows.iter().map(row).collect::<Vec<_>>().join(next)
}

/// Names for all symbols that some expressions read.
fn names(pool: &Pool, spelling: &'static Spelling, taken: &[&str], roots: &[Expr]) -> Names {
    let mut names = Names::new(spelling);
    for name in taken {
        names.unique(name);
    }
    let mut symbols: Vec<Symbol> =
        pool.reachable(roots).into_iter().filter_map(|e| pool.as_symbol(e)).collect();
    symbols.sort_unstable();
    for symbol in symbols {
        names.add(pool, symbol);
    }
    names
}

/// Time and s keep their letters, which no parameter may have.
fn spell(pool: &Pool, names: &Names, symbol: Symbol) -> String {
    match pool.name(symbol) {
        name @ ("t" | "s") => name.to_owned(),
        _ => names.of(pool, symbol),
    }
}

fn code(pool: &Pool, formulas: &Formulas, dialect: &Dialect) -> String {
    let mut roots: Vec<Expr> = Vec::new();
    roots.extend(formulas.sections.iter().flat_map(|s| s.lines.iter().map(|(_, e)| *e)));
    roots.extend(formulas.matrices.iter().flat_map(|m| m.rows.iter().flatten().copied()));
    let taken: Vec<&str> = formulas.matrices.iter().map(|m| m.name.as_str()).collect();
    let mut names = names(pool, dialect.spelling, &taken, &roots);
    let mut out = format!("{} {}\n", dialect.comment, formulas.title);
    for section in &formulas.sections {
        out += &format!("\n{} {}\n", dialect.comment, section.title.to_lowercase());
        for (left, value) in &section.lines {
            let (name, remark) = match left {
                Left::Rate(name) => (names.unique(&format!("der({name})")), format!("{name}'")),
                Left::Name(name) => (names.unique(name), name.clone()),
                Left::Defined(symbol) => (names.of(pool, *symbol), String::new()),
                Left::Zero(name) => (names.unique(&format!("zero({name})")), format!("zero by {name}")),
            };
            let text = pool.print_with(*value, dialect.target, &|s| spell(pool, &names, s)).to_string();
            let (open, is, close) = dialect.assign;
            let remark = match remark.is_empty() || remark == name {
                true => String::new(),
                false => format!("  {} {remark}", dialect.comment),
            };
            out += &format!("{open}{name}{is}{text}{close}{remark}\n");
        }
    }
    if !formulas.matrices.is_empty() {
        out += &format!("\n{} matrices\n", dialect.comment);
    }
    for matrix in &formulas.matrices {
        let text = |e: &Expr| pool.print_with(*e, dialect.target, &|s| spell(pool, &names, s)).to_string();
        let rows: Vec<Vec<String>> = matrix.rows.iter().map(|row| row.iter().map(text).collect()).collect();
        out += &((dialect.matrix)(&matrix.name, &rows) + "\n");
    }
    out
}

fn transfer_code(
    pool: &Pool,
    title: &str,
    definitions: &[(Symbol, Expr)],
    entries: &[Entry],
    dialect: &Dialect,
) -> String {
    let mut roots: Vec<Expr> = definitions.iter().map(|(_, e)| *e).collect();
    roots.extend(entries.iter().flat_map(|entry| [entry.num, entry.den]));
    let mut names = names(pool, dialect.spelling, &[], &roots);
    let mut out = format!("{} {title}\n", dialect.comment);
    if entries.iter().any(|entry| entry.coefficients.is_some()) {
        out += &format!(
            "{} coefficients of numerator and denominator, highest power of s first\n",
            dialect.comment
        );
    }
    for entry in entries {
        let name = names.unique(&format!("H_{}_{}", entry.output, entry.input));
        let text = |e: &Expr| pool.print_with(*e, dialect.target, &|s| spell(pool, &names, s)).to_string();
        out += &format!("\n{} {} / {}\n", dialect.comment, entry.output, entry.input);
        out += &match &entry.coefficients {
            Some((num, den)) => {
                let list = |items: &[Expr]| items.iter().map(text).collect::<Vec<_>>();
                (dialect.ratio)(&name, &list(num), &list(den))
            }
            None => {
                let (open, is, close) = dialect.assign;
                let mut lines = String::new();
                // What the numerator and the denominator share reads s, so it is put in.
                for (symbol, value) in definitions {
                    lines += &format!("{open}{}{is}{}{close}\n", spell(pool, &names, *symbol), text(value));
                }
                format!("{lines}{}", (dialect.function)(&name, &text(&entry.num), &text(&entry.den)))
            }
        };
        out.push('\n');
    }
    out
}
