//! Python with NumPy.

use crate::interconnection::{Closing, Loop, MatrixNames};
use crate::lines::{Lines, heading, quoted};
use crate::names::{Identifiers, Names};
use crate::page::{Dialect, PLAIN, Page, code, joined};
use crate::plan::{Body, Place, Plan};
use crate::target::{Exported, Target};
use paynter_algebra::{Expr, Pool, Target as Notation};
use paynter_base::number::exact;
use paynter_equations::Sparse;

/// Python with NumPy.
#[derive(Debug)]
pub(crate) struct Python;

impl Target for Python {
    fn name(&self) -> &'static str {
        "python"
    }

    fn about(&self) -> &'static str {
        "Python with NumPy"
    }

    fn program_about(&self) -> Option<&'static str> {
        Some("A Python module")
    }

    fn extension(&self) -> &'static str {
        "py"
    }

    fn identifiers(&self) -> Option<&'static Identifiers> {
        Some(&IDENTIFIERS)
    }

    fn page(&self, pool: &Pool, page: &Page) -> String {
        code(pool, page, &DIALECT)
    }

    fn program(&self, pool: &mut Pool, model: &Exported<'_>) -> Option<String> {
        let plan = Plan::new(pool, model);
        Some(program(pool, &plan))
    }
}

static IDENTIFIERS: Identifiers = Identifiers {
    reserved: "False None True and as assert async await break class continue def del elif else except finally \
        for from global if import in is lambda nonlocal not or pass raise return try while with yield \
        control np",
    own: "x u p y z w f g r initial inputs parameters unknowns dependent residuals jacobian matrices start \
        abs all any bool complex dict enumerate float int isinstance len list map max min print range round sorted \
        str sum tuple zip NAME STATES INPUTS OUTPUTS PARAMETERS UNKNOWNS DEPENDENT result",
    unicode: true,
    longest: 200,
};

static DIALECT: Dialect = Dialect {
    notation: Notation::Python,
    identifiers: &IDENTIFIERS,
    comment: "#",
    assign: PLAIN,
    assign_complex: PLAIN,
    matrix: |name, rows| format!("{name} = np.array([{}])", joined(rows, "[", ", ", "]", ", ")),
    list: |name, values, _| format!("{name} = np.array([{}])", values.join(", ")),
    complex: |re, im| format!("complex({re}, {im})"),
    nothing: "np.nan",
    complex_needs: "",
    ratio: |name, num, den| format!("{name} = ([{}], [{}])", num.join(", "), den.join(", ")),
    closing: Loop { before: "import control\nimport numpy as np\n", after: closing },
};

/// The plant of python-control, and the model at given δ.
fn closing(closing: &Closing, [a, b1, b2, c1, d11, d12, c2, d21, d22]: MatrixNames) -> String {
    let mut out = Lines::default();
    out.add(0, "");
    out.add(0, "# the plant with inputs w, u and outputs z, y");
    let (b, c) = (format!("np.hstack([{b1}, {b2}])"), format!("np.vstack([{c1}, {c2}])"));
    out.add(0, &format!("plant = control.ss({a}, {b}, {c}, np.block([[{d11}, {d12}], [{d21}, {d22}]]))"));
    out.add(0, "");
    out.add(0, "# the blocks of Delta: name and number of channels");
    out.add(0, "blocks = [");
    for block in &closing.blocks {
        out.add(1, &format!("({}, {}),  # {}", quoted(&block.name), block.size, block.remark));
    }
    out.add(0, "]");
    out.add(0, "");
    out.add(0, "");
    out.add(0, "def closed(delta):");
    out.add(1, "\"\"\"The model with w = Delta z, for a mapping from names of blocks to values.\"\"\"");
    out.add(1, "Delta = np.diag([delta.get(name, 0.0) for name, size in blocks for _ in range(size)])");
    out.add(1, &format!("loop = Delta @ np.linalg.inv(np.eye(len({d11})) - {d11} @ Delta)"));
    out.add(1, "return control.ss(");
    out.add(2, &format!("{a} + {b1} @ loop @ {c1}, {b2} + {b1} @ loop @ {d12},"));
    out.add(2, &format!("{c2} + {d21} @ loop @ {c1}, {d22} + {d21} @ loop @ {d12})"));
    out.finish()
}

/// A module with functions f, g and what belongs to them.
fn program(pool: &mut Pool, plan: &Plan) -> String {
    let names = plan.names(pool, Names::of_program(&IDENTIFIERS));
    let mut out = Lines::default();
    let index = |vector: &str, i: usize| format!("{vector}[{i}]");
    out.add(0, "\"\"\"");
    for line in heading(plan, index, index) {
        out.add(0, &line.replace('\\', "\\\\").replace("\"\"\"", "'''"));
    }
    out.block("\"\"\"\n\nimport numpy as np");
    out.add(0, "");
    out.add(0, &format!("NAME = {}", quoted(&plan.name)));
    for (constant, list) in [
        ("STATES", &plan.states),
        ("INPUTS", &plan.inputs),
        ("OUTPUTS", &plan.outputs),
        ("UNKNOWNS", &plan.unknowns),
        ("DEPENDENT", &plan.dependent),
    ] {
        let items: Vec<String> = list.iter().map(|q| quoted(&q.name)).collect();
        out.add(0, &format!("{constant} = [{}]", items.join(", ")));
    }
    out.add(0, "PARAMETERS = {");
    for (parameter, value) in plan.parameters.iter().zip(&plan.nominal) {
        out.add(1, &format!("{}: {},{}", quoted(&parameter.name), exact(*value), remark(parameter)));
    }
    out.block(
        r#"
}


def parameters(**changes):
    """The vector p of nominal values, with some of them changed: parameters(NAME=value)."""
    unknown = sorted(set(changes) - set(PARAMETERS))
    if unknown:
        raise KeyError("no parameter of this model: " + ", ".join(unknown))
    return np.array([changes.get(name, value) for name, value in PARAMETERS.items()], dtype=float)
"#,
    );
    let z = if plan.has_unknowns() { ", z=None" } else { "" };
    function(&mut out, pool, plan, &names, "initial(p)", "The states at time zero.", &plan.initial);
    inputs(&mut out, pool, plan, &names);
    if plan.has_unknowns() {
        let what = "What the unknowns z make zero.";
        function(&mut out, pool, plan, &names, "residuals(t, x, u, p, z)", what, &plan.residuals);
        jacobian(&mut out, pool, plan, &names);
        out.space(2);
        out.block(NEWTON);
    }
    let head = format!("f(t, x, u, p{z})");
    function(&mut out, pool, plan, &names, &head, "The rates of the states, x'.", &plan.rates);
    let head = format!("g(t, x, u, p{z})");
    function(&mut out, pool, plan, &names, &head, "The outputs y.", &plan.values);
    if !plan.dependent.is_empty() {
        let head = format!("dependent(t, x, u, p{z})");
        let what = "The states w of dependent storages, by the others.";
        function(&mut out, pool, plan, &names, &head, what, &plan.dependent_values);
    }
    if !plan.matrices.is_empty() {
        matrices(&mut out, pool, plan, &names);
    }
    tables(&mut out, plan);
    out.space(2);
    out.block(
        r#"


if __name__ == "__main__":
    p = parameters()
    x, u = initial(p), inputs(0.0, p)
    for name, value in zip(STATES, f(0.0, x, u, p)):
        print(f"{name}' = {value:.6g}")
    for name, value in zip(OUTPUTS, g(0.0, x, u, p)):
        print(f"{name} = {value:.6g}")
"#,
    );
    out.finish()
}

fn remark(q: &crate::plan::Quantity) -> String {
    let unit = if q.unit.is_empty() { String::new() } else { format!("[{}]", q.unit) };
    let both = format!("{unit} {}", q.doc);
    match both.trim() {
        "" => String::new(),
        text => format!("  # {text}"),
    }
}

/// `def HEAD:` with its description and the lines that compute some expressions.
fn begin(out: &mut Lines, head: &str, what: &str, body: &Body) {
    out.space(2);
    if body.chooses {
        // np.where computes both values; that the other one is undefined is no fault.
        out.add(0, "@np.errstate(divide=\"ignore\", invalid=\"ignore\")");
    }
    out.add(0, &format!("def {head}:"));
    out.add(1, &format!("\"\"\"{what}\"\"\""));
    arguments(out, head, body);
    for (name, value) in &body.definitions {
        out.add(1, &format!("{name} = {value}"));
    }
}

/// The lines that take what is read out of the arguments.
fn arguments(out: &mut Lines, head: &str, body: &Body) {
    type Test = fn(Place) -> bool;
    let solve = head.contains("z=None") && body.reads(|place| matches!(place, Place::Unknown(_)));
    let kinds: [(&str, Test); 4] = [
        ("x", |place| matches!(place, Place::State(_))),
        ("u", |place| matches!(place, Place::Input(_))),
        ("p", |place| matches!(place, Place::Parameter(_))),
        ("z", |place| matches!(place, Place::Unknown(_))),
    ];
    if solve {
        out.add(1, "if z is None:");
        out.add(2, "z = unknowns(t, x, u, p)");
    }
    for (vector, kind) in kinds {
        if body.reads(kind) {
            out.add(1, &format!("{vector} = np.asarray({vector}, dtype=float)"));
        }
    }
    for (place, name) in &body.reads {
        let (vector, i) = match place {
            Place::State(i) => ("x", i),
            Place::Input(i) => ("u", i),
            Place::Parameter(i) => ("p", i),
            Place::Unknown(i) => ("z", i),
            Place::Time => continue,
        };
        out.add(1, &format!("{name} = {vector}[{i}]"));
    }
}

fn function(
    out: &mut Lines,
    pool: &mut Pool,
    plan: &Plan,
    names: &Names,
    head: &str,
    what: &str,
    roots: &[Expr],
) {
    let body = plan.body(pool, names, Notation::Python, roots);
    begin(out, head, what, &body);
    results(out, &body.results);
}

fn results(out: &mut Lines, results: &[String]) {
    out.add(1, "return np.array([");
    for result in results {
        out.add(2, &format!("{result},"));
    }
    out.add(1, "], dtype=float)");
}

/// The default signals; the derivative of a table has to be given by the caller.
fn inputs(out: &mut Lines, pool: &mut Pool, plan: &Plan, names: &Names) {
    let known: Vec<Expr> = plan.signals.iter().flatten().copied().collect();
    let body = plan.body(pool, names, Notation::Python, &known);
    begin(out, "inputs(t, p)", "The inputs as the model gives them.", &body);
    let mut given = body.results.into_iter();
    let list: Vec<String> = plan
        .signals
        .iter()
        .map(|signal| match signal {
            Some(_) => given.next().unwrap_or_default(),
            None => "np.nan".to_owned(),
        })
        .collect();
    results(out, &list);
}

fn jacobian(out: &mut Lines, pool: &mut Pool, plan: &Plan, names: &Names) {
    let entries: Vec<Expr> = plan.jacobian.entries.iter().map(|(_, _, e)| *e).collect();
    let body = plan.body(pool, names, Notation::Python, &entries);
    begin(out, "jacobian(t, x, u, p, z)", "The derivatives of the residuals by the unknowns.", &body);
    filled(out, "s", &plan.jacobian, &mut body.results.into_iter());
    out.add(1, "return s");
}

fn filled(out: &mut Lines, name: &str, matrix: &Sparse, texts: &mut impl Iterator<Item = String>) {
    out.add(1, &format!("{name} = np.zeros(({}, {}))", matrix.rows, matrix.columns));
    for ((i, j, _), text) in matrix.entries.iter().zip(texts) {
        out.add(1, &format!("{name}[{i}, {j}] = {text}"));
    }
}

fn matrices(out: &mut Lines, pool: &mut Pool, plan: &Plan, names: &Names) {
    let mut entries: Vec<Expr> =
        plan.matrices.iter().flat_map(|(_, m)| m.entries.iter().map(|(_, _, e)| *e)).collect();
    let constants = plan.offsets.clone().unwrap_or_default();
    entries.extend(constants.0.iter().chain(&constants.1));
    let body = plan.body(pool, names, Notation::Python, &entries);
    let timed = body.reads(|place| place == Place::Time);
    let head = if timed { "matrices(p, t=0.0)" } else { "matrices(p)" };
    let what = "x' = A x + B u (+ a), y = C x + D u (+ c); Bd1, Dd1 belong to the inputs' derivatives.";
    begin(out, head, what, &body);
    let mut texts = body.results.into_iter();
    out.add(1, "result = {}");
    for (name, matrix) in &plan.matrices {
        let place = format!("result[\"{name}\"]");
        filled(out, &place, matrix, &mut texts);
    }
    if plan.offsets.is_some() {
        for (name, list) in [("a", &constants.0), ("c", &constants.1)] {
            let items: Vec<String> = texts.by_ref().take(list.len()).collect();
            out.add(1, &format!("result[\"{name}\"] = np.array([{}], dtype=float)", items.join(", ")));
        }
    }
    out.add(1, "return result");
}

fn tables(out: &mut Lines, plan: &Plan) {
    for (k, table) in plan.tables.iter().enumerate() {
        let list = |values: &[f64]| values.iter().map(|v| exact(*v)).collect::<Vec<_>>().join(", ");
        out.space(2);
        out.add(0, &format!("def table{k}(t):"));
        out.add(
            1,
            &format!("\"\"\"Column {} of {}, linear between samples.\"\"\"", table.column, table.path),
        );
        out.add(1, &format!("return np.interp(t, [{}], [{}])", list(&table.times), list(&table.values)));
    }
}

const NEWTON: &str = r#"


def unknowns(t, x, u, p, start=None):
    """The unknowns z, by Newton's method from start (or from a few places where none is given)."""
    n = len(UNKNOWNS)
    guesses = [np.full(n, c) for c in (0.0, 1.0, -1.0, 0.1, -0.1, 10.0, -10.0, 1e-3, -1e-3)]
    if start is not None:
        guesses.insert(0, np.array(start, dtype=float))
    with np.errstate(all="ignore"):
        for z in guesses:
            r = residuals(t, x, u, p, z)
            for _ in range(200):
                if not np.all(np.isfinite(r)):
                    break
                try:
                    step = np.linalg.solve(jacobian(t, x, u, p, z), -r)
                except np.linalg.LinAlgError:
                    if np.any(r):
                        break
                    return z
                size, scale, length = np.max(np.abs(step)), np.max(np.abs(z)), 1.0
                while length > 1e-9:
                    trial = residuals(t, x, u, p, z + length * step)
                    if np.linalg.norm(trial) < np.linalg.norm(r):
                        break
                    length /= 2
                else:
                    # Nothing is left but rounding, or there is no way down from here.
                    if size <= 1e-8 * scale or not np.any(r):
                        return z
                    break
                z, r = z + length * step, trial
                if not np.any(r) or (length == 1.0 and size <= 1e-15 * scale):
                    return z
    raise ArithmeticError(f"the implicit equations of {NAME} have no solution near the guesses")
"#;
