//! Julia: one module without dependencies.

use crate::interconnection::{Closing, Loop, MatrixNames};
use crate::lines::{Lines, heading, quoted};
use crate::names::{Identifiers, Names};
use crate::page::{Dialect, PLAIN, Page, code, joined};
use crate::plan::{Body, Place, Plan};
use crate::target::{Exported, Target};
use paynter_algebra::{Expr, Pool, Target as Notation};
use paynter_base::number::exact;
use paynter_equations::Sparse;

/// Julia.
#[derive(Debug)]
pub(crate) struct Julia;

impl Target for Julia {
    fn name(&self) -> &'static str {
        "julia"
    }

    fn about(&self) -> &'static str {
        "Julia"
    }

    fn program_about(&self) -> Option<&'static str> {
        Some("A Julia module")
    }

    fn extension(&self) -> &'static str {
        "jl"
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
    reserved: "abstract baremodule begin break catch const continue do else elseif end export false finally \
        for function global if import in isa let local macro module mutable primitive quote return \
        struct true try type using where while abs acos acosh asin asinh atan atanh cos cosh exp log \
        log10 max min pi π ℯ sign sin sinh sqrt tan tanh zeros fill maximum all isfinite iszero error \
        length merge hypot sum prod map zip range keys values eachindex collect copy only isnan isinf div mod \
        rem ifelse println print string outer public as Bool Int Dict Vector Matrix Tuple NamedTuple nothing \
        missing undef NaN Inf Float64 im",
    own: "x u p y z w f g r initial inputs parameters unknowns dependent residuals jacobian matrices start \
        magnitude NAME STATES INPUTS OUTPUTS UNKNOWNS DEPENDENT PARAMETERS m_A m_B m_C m_D m_Bd1 m_Dd1 \
        m_a m_c",
    unicode: true,
    longest: 200,
};

static DIALECT: Dialect = Dialect {
    notation: Notation::Julia,
    identifiers: &IDENTIFIERS,
    comment: "#",
    assign: PLAIN,
    assign_complex: PLAIN,
    matrix: |name, rows| {
        let guarded: Vec<Vec<String>> = rows
            .iter()
            .map(|row| {
                row.iter().map(|e| if e.contains(' ') { format!("({e})") } else { e.clone() }).collect()
            })
            .collect();
        format!("{name} = [{}]", joined(&guarded, "", " ", "", "; "))
    },
    list: |name, values, _| format!("{name} = [{}]", values.join(", ")),
    complex: |re, im| format!("complex({re}, {im})"),
    nothing: "NaN",
    complex_needs: "",
    ratio: |name, num, den| format!("{name} = (num = [{}], den = [{}])", num.join(", "), den.join(", ")),
    closing: Loop {
        before: "using ControlSystemsBase, LinearAlgebra, RobustAndOptimalControl\n",
        after: closing,
    },
};

/// The partitioned plant of RobustAndOptimalControl, and the model at given δ.
fn closing(closing: &Closing, [a, b1, b2, c1, d11, d12, c2, d21, d22]: MatrixNames) -> String {
    let mut out = Lines::default();
    out.add(0, "");
    out.add(0, "# the plant with inputs w, u and outputs z, y");
    out.add(0, &format!("plant = ss({a}, {b1}, {b2}, {c1}, {c2}, {d11}, {d12}, {d21}, {d22})"));
    out.add(0, "");
    out.add(0, "# the blocks of Delta: name and number of channels");
    let mut list = Vec::new();
    for block in &closing.blocks {
        out.add(0, &format!("# {} = {}", block.name, block.remark));
        list.push(format!("(:{}, {})", block.name, block.size));
    }
    out.add(0, &format!("blocks = [{}]", list.join(", ")));
    out.add(0, "");
    out.add(0, "# the model with w = Delta z, for a dictionary from names of blocks to values");
    out.add(0, "function closed(delta)");
    out.add(1, "Delta = Diagonal([get(delta, name, 0.0) for (name, size) in blocks for _ in 1:size])");
    out.add(1, &format!("feedback = Delta/(I - {d11}*Delta)"));
    out.add(1, &format!("ss({a} + {b1}*feedback*{c1}, {b2} + {b1}*feedback*{d12},"));
    out.add(2, &format!("{c2} + {d21}*feedback*{c1}, {d22} + {d21}*feedback*{d12})"));
    out.add(0, "end");
    out.finish()
}

/// A module with functions f, g and what belongs to them; p is a named tuple.
fn program(pool: &mut Pool, plan: &Plan) -> String {
    let names = plan.names(pool, Names::of_program(&IDENTIFIERS));
    let fields: Vec<String> = plan.parameter_symbols().iter().map(|symbol| names.of(pool, *symbol)).collect();
    let mut out = Lines::default();
    out.add(0, "\"\"\"");
    for line in heading(plan, |vector, i| format!("{vector}[{}]", i + 1), |_, _| String::new()) {
        out.add(0, &line.replace('\\', "\\\\").replace('"', "'").replace('$', "\\$"));
    }
    out.add(0, "");
    let title = title(&plan.name);
    out.add(0, &format!("Usage: p = {title}.PARAMETERS; dx = {title}.f(0.0, {title}.initial(p), {title}.inputs(0.0, p), p)"));
    out.add(0, "\"\"\"");
    out.add(0, &format!("module {title}"));
    out.add(0, "");
    out.add(0, "using LinearAlgebra: norm");
    out.add(0, "");
    out.add(0, &format!("const NAME = {}", text(&plan.name)));
    for (constant, list) in [
        ("STATES", &plan.states),
        ("INPUTS", &plan.inputs),
        ("OUTPUTS", &plan.outputs),
        ("UNKNOWNS", &plan.unknowns),
        ("DEPENDENT", &plan.dependent),
    ] {
        let items: Vec<String> = list.iter().map(|q| text(&q.name)).collect();
        out.add(0, &format!("const {constant} = String[{}]", items.join(", ")));
    }
    out.add(0, "");
    out.add(0, "# Nominal values; merge(PARAMETERS, (NAME = value,)) changes some.");
    out.add(0, "const PARAMETERS = (;");
    for ((field, value), parameter) in fields.iter().zip(&plan.nominal).zip(&plan.parameters) {
        let unit = if parameter.unit.is_empty() { String::new() } else { format!("[{}] ", parameter.unit) };
        let doc = format!("{unit}{}", parameter.doc);
        let remark = if doc.is_empty() { String::new() } else { format!("  # {}", doc.trim_end()) };
        out.add(1, &format!("{field} = {},{remark}", exact(*value)));
    }
    out.add(0, ")");
    let mut writer = Writer { out, pool, plan, names, fields };
    writer.functions();
    writer.out.add(0, "");
    writer.out.add(0, "end");
    writer.out.finish()
}

/// A module's name: capitals instead of underscores.
fn title(name: &str) -> String {
    let plain = Names::of_program(&IDENTIFIERS).unique(name);
    let mut out = String::new();
    for word in plain.split('_').filter(|word| !word.is_empty()) {
        let mut chars = word.chars();
        out.extend(chars.next().map(|c| c.to_uppercase().to_string()));
        out.push_str(chars.as_str());
    }
    // A module must not be called like one of Julia's own, or like something inside it.
    let taken = ["Base", "Core", "Main"].into_iter().chain(IDENTIFIERS.own.split(' '));
    if out.is_empty() || taken.into_iter().any(|word| word == out) {
        out.push_str("Model");
    }
    out
}

fn text(name: &str) -> String {
    quoted(name).replace('$', "\\$")
}

struct Writer<'a> {
    out: Lines,
    pool: &'a mut Pool,
    plan: &'a Plan,
    names: Names,
    fields: Vec<String>,
}

impl Writer<'_> {
    fn functions(&mut self) {
        let plan = self.plan;
        self.function("initial(p)", "The states at time zero.", &plan.initial);
        self.inputs();
        let z = if plan.has_unknowns() { ", z = unknowns(t, x, u, p)" } else { "" };
        if plan.has_unknowns() {
            self.function("residuals(t, x, u, p, z)", "What the unknowns z make zero.", &plan.residuals);
            let entries: Vec<Expr> = plan.jacobian.entries.iter().map(|(_, _, e)| *e).collect();
            let body = plan.body(self.pool, &self.names, Notation::Julia, &entries);
            self.begin("jacobian(t, x, u, p, z)", "The derivatives of the residuals by the unknowns.", &body);
            self.filled("s", &plan.jacobian, &mut body.results.into_iter());
            self.out.add(1, "return s");
            self.out.add(0, "end");
            self.out.space(1);
            self.out.block(NEWTON);
        }
        self.function(&format!("f(t, x, u, p{z})"), "The rates of the states, x'.", &plan.rates);
        self.function(&format!("g(t, x, u, p{z})"), "The outputs y.", &plan.values);
        if !plan.dependent.is_empty() {
            let what = "The states w of dependent storages, by the others.";
            self.function(&format!("dependent(t, x, u, p{z})"), what, &plan.dependent_values);
        }
        if !plan.matrices.is_empty() {
            self.matrices();
        }
        for (k, table) in plan.tables.iter().enumerate() {
            let list = |values: &[f64]| values.iter().map(|v| exact(*v)).collect::<Vec<_>>().join(", ");
            let (times, values) = (list(&table.times), list(&table.values));
            let column = text(&format!("Column {} of {}, linear between samples.", table.column, table.path));
            self.out.space(1);
            self.out.block(&format!(
                "{column}\n{}",
                TABLE.replace("NUMBER", &k.to_string()).replace("TIMES", &times).replace("VALUES", &values)
            ));
        }
    }

    fn begin(&mut self, head: &str, what: &str, body: &Body) {
        self.out.add(0, "");
        self.out.add(0, &format!("\"{what}\""));
        self.out.add(0, &format!("function {head}"));
        for (place, name) in &body.reads {
            let value = match place {
                Place::State(i) => format!("x[{}]", i + 1),
                Place::Input(i) => format!("u[{}]", i + 1),
                Place::Parameter(i) => format!("p.{}", self.fields[*i]),
                Place::Unknown(i) => format!("z[{}]", i + 1),
                Place::Time => continue,
            };
            self.out.add(1, &format!("{name} = {value}"));
        }
        for (name, value) in &body.definitions {
            self.out.add(1, &format!("{name} = {value}"));
        }
    }

    fn function(&mut self, head: &str, what: &str, roots: &[Expr]) {
        let body = self.plan.body(self.pool, &self.names, Notation::Julia, roots);
        self.begin(head, what, &body);
        self.results(&body.results);
    }

    fn results(&mut self, results: &[String]) {
        self.out.add(1, "return Float64[");
        for result in results {
            self.out.add(2, &format!("{result},"));
        }
        self.out.add(1, "]");
        self.out.add(0, "end");
    }

    /// The default signals; the derivative of a table has to be given by the caller.
    fn inputs(&mut self) {
        let known: Vec<Expr> = self.plan.signals.iter().flatten().copied().collect();
        let body = self.plan.body(self.pool, &self.names, Notation::Julia, &known);
        self.begin("inputs(t, p)", "The inputs as the model gives them.", &body);
        let mut given = body.results.into_iter();
        let signals = self.plan.signals.iter();
        let texts: Vec<String> =
            signals.map(|s| s.and_then(|_| given.next()).unwrap_or_else(|| "NaN".to_owned())).collect();
        self.results(&texts);
    }

    fn filled(&mut self, name: &str, matrix: &Sparse, texts: &mut impl Iterator<Item = String>) {
        self.out.add(1, &format!("{name} = zeros({}, {})", matrix.rows, matrix.columns));
        for ((i, j, _), text) in matrix.entries.iter().zip(texts) {
            self.out.add(1, &format!("{name}[{}, {}] = {text}", i + 1, j + 1));
        }
    }

    fn matrices(&mut self) {
        let plan = self.plan;
        let mut entries: Vec<Expr> =
            plan.matrices.iter().flat_map(|(_, m)| m.entries.iter().map(|(_, _, e)| *e)).collect();
        let constants = plan.offsets.clone().unwrap_or_default();
        entries.extend(constants.0.iter().chain(&constants.1));
        let body = plan.body(self.pool, &self.names, Notation::Julia, &entries);
        let what = "x' = A x + B u (+ a), y = C x + D u (+ c); Bd1, Dd1 belong to the inputs' derivatives.";
        let timed = body.reads(|place| place == Place::Time);
        self.begin(if timed { "matrices(p, t = 0.0)" } else { "matrices(p)" }, what, &body);
        let mut texts = body.results.into_iter();
        let mut parts: Vec<String> = plan.matrices.iter().map(|(name, _)| name.clone()).collect();
        for (name, matrix) in &plan.matrices {
            self.filled(&format!("m_{name}"), matrix, &mut texts);
        }
        if plan.offsets.is_some() {
            for (name, list) in [("a", &constants.0), ("c", &constants.1)] {
                let items: Vec<String> = texts.by_ref().take(list.len()).collect();
                self.out.add(1, &format!("m_{name} = Float64[{}]", items.join(", ")));
                parts.push(name.to_owned());
            }
        }
        let parts: Vec<String> = parts.iter().map(|name| format!("{name} = m_{name}")).collect();
        self.out.add(1, &format!("return (; {})", parts.join(", ")));
        self.out.add(0, "end");
    }
}

const TABLE: &str = r#"function tableNUMBER(t)
    times, values = [TIMES], [VALUES]
    t <= times[1] && return values[1]
    t >= times[end] && return values[end]
    i = searchsortedlast(times, t)
    return values[i] + (values[i + 1] - values[i])*(t - times[i])/(times[i + 1] - times[i])
end"#;

const NEWTON: &str = r#"

"The unknowns z, by Newton's method from start (or from a few places where none is given)."
function unknowns(t, x, u, p, start = nothing)
    n = length(UNKNOWNS)
    guesses = [fill(c, n) for c in (0.0, 1.0, -1.0, 0.1, -0.1, 10.0, -10.0, 1e-3, -1e-3)]
    start === nothing || pushfirst!(guesses, collect(Float64, start))
    # A guess outside a function's domain counts as no way.
    attempt(z) = try
        residuals(t, x, u, p, z)
    catch fault
        fault isa DomainError || rethrow()
        fill(NaN, n)
    end
    for z in guesses
        r = attempt(z)
        for turn in 1:200
            all(isfinite, r) || break
            all(iszero, r) && return z
            step = try
                -(jacobian(t, x, u, p, z) \ r)
            catch
                break
            end
            len, trial = 1.0, r
            while len > 1e-9
                trial = attempt(z + len*step)
                norm(trial) < norm(r) && break
                len /= 2
            end
            if len <= 1e-9
                # Nothing is left but rounding, or there is no way down from here.
                maximum(abs, step) <= 1e-8*maximum(abs, z) && return z
                break
            end
            done = len == 1.0 && maximum(abs, step) <= 1e-15*maximum(abs, z)
            z, r = z + len*step, trial
            done && return z
        end
    end
    error("the implicit equations of $NAME have no solution near the guesses")
end
"#;
