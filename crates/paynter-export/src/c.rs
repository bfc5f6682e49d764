//! C99 with `math.h` alone.

mod reserved;
mod simulate;

use crate::interconnection::OPEN;
use crate::lines::{Lines, heading, quoted};
use crate::names::{Identifiers, Names};
use crate::page::{Dialect, Page, code, joined};
use crate::plan::{Body, Place, Plan, Quantity};
use crate::target::{C_SIMULATOR, Exported, Target};
use paynter_algebra::{Expr, Pool, Target as Notation};
use paynter_base::number::exact;
use paynter_equations::Sparse;

/// C99.
#[derive(Debug)]
pub(crate) struct C {
    /// Whether programs simulate, with sensitivities.
    pub simulates: bool,
}

impl Target for C {
    fn name(&self) -> &'static str {
        "c"
    }

    fn about(&self) -> &'static str {
        "C"
    }

    fn program_about(&self) -> Option<&'static str> {
        Some("A C99 file")
    }

    fn extension(&self) -> &'static str {
        "c"
    }

    fn identifiers(&self) -> Option<&'static Identifiers> {
        Some(&IDENTIFIERS)
    }

    fn page(&self, pool: &Pool, page: &Page) -> String {
        code(pool, page, &DIALECT)
    }

    fn program(&self, pool: &mut Pool, model: &Exported<'_>) -> Option<String> {
        let plan = Plan::new(pool, model);
        Some(program(pool, &plan, self.simulates))
    }

    fn simulator(&self) -> Option<&'static dyn Target> {
        (!self.simulates).then_some(C_SIMULATOR)
    }

    fn integrates(&self) -> bool {
        self.simulates
    }
}

static IDENTIFIERS: Identifiers = Identifiers {
    reserved: reserved::RESERVED,
    own: "x u p y z w r dx i j k n interpolate partial nothing",
    unicode: false,
    longest: 60,
};

static DIALECT: Dialect = Dialect {
    notation: Notation::C,
    identifiers: &IDENTIFIERS,
    comment: "//",
    assign: ("const double ", " = ", ";"),
    assign_complex: ("const double complex ", " = ", ";"),
    matrix: |name, rows| {
        let columns = rows.first().map_or(0, Vec::len);
        let inside = joined(rows, "{", ", ", "}", ", ");
        format!("const double {name}[{}][{columns}] = {{{inside}}};", rows.len())
    },
    list: |name, values, complex| {
        if values.is_empty() {
            return format!("// {name}: none");
        }
        let kind = if complex { "double complex" } else { "double" };
        format!("const {kind} {name}[{}] = {{{}}};", values.len(), values.join(", "))
    },
    complex: |re, im| format!("CMPLX({re}, {im})"),
    nothing: "NAN",
    complex_needs: ", with complex.h and tgmath.h",
    ratio: |name, num, den| {
        let list = |what: &str, items: &[String]| {
            format!("const double {name}_{what}[{}] = {{{}}};", items.len(), items.join(", "))
        };
        format!("{}\n{}", list("num", num), list("den", den))
    },
    closing: OPEN,
};

/// The program's own prefix: the model's name in C's letters.
fn prefix(plan: &Plan) -> String {
    Names::of_program(&IDENTIFIERS).unique(&plan.name)
}

/// A file with functions NAME_f, NAME_g and what belongs to them, and an example under `NAME_MAIN`.
fn program(pool: &mut Pool, plan: &Plan, simulate: bool) -> String {
    let prefix = prefix(plan);
    let mut names = Names::of_program(&IDENTIFIERS);
    // The arguments of the function that fills the matrices.
    for (matrix, _) in &plan.matrices {
        names.unique(matrix);
    }
    if plan.offsets.is_some() {
        names.unique("a");
        names.unique("c");
    }
    let names = plan.names(pool, names);
    let mut out = Lines::default();
    let index = |vector: &str, i: usize| format!("{vector}[{i}]");
    out.add(0, "/*");
    for line in heading(plan, index, index) {
        out.add(0, format!(" * {}", line.replace("*/", "* /")).trim_end());
    }
    out.block(&format!(
        r#"
 *
 * In a file of its own, with the prototypes below copied to a header, or included as it is.
 * As an example: cc -std=c99 -D{upper}_MAIN {prefix}.c -lm && ./a.out
 */
#include <math.h>
"#,
        upper = prefix.to_uppercase()
    ));
    let blocks = if simulate { simulate::blocks(pool, plan) } else { Vec::new() };
    let mut writer = Writer { out, pool, plan, names, prefix, blocks };
    writer.constants();
    writer.helpers();
    writer.functions();
    match simulate {
        true => writer.simulator(),
        false => writer.example(),
    }
    writer.out.finish()
}

struct Writer<'a> {
    out: Lines,
    pool: &'a mut Pool,
    plan: &'a Plan,
    names: Names,
    prefix: String,
    /// Derivatives that a simulator needs.
    blocks: Vec<simulate::Block>,
}

impl Writer<'_> {
    /// Sizes, names and nominal values.
    fn constants(&mut self) {
        let (plan, prefix) = (self.plan, &self.prefix);
        self.out.add(0, "");
        self.out.add(0, "enum {");
        for (what, list) in [
            ("STATES", &plan.states),
            ("INPUTS", &plan.inputs),
            ("OUTPUTS", &plan.outputs),
            ("PARAMETERS", &plan.parameters),
            ("UNKNOWNS", &plan.unknowns),
            ("DEPENDENT", &plan.dependent),
        ] {
            self.out.add(1, &format!("{}_{what} = {},", prefix.to_uppercase(), list.len()));
        }
        self.out.add(0, "};");
        self.out.add(0, "");
        for (what, list) in [
            ("state_names", &plan.states),
            ("input_names", &plan.inputs),
            ("output_names", &plan.outputs),
            ("parameter_names", &plan.parameters),
        ] {
            let mut items: Vec<String> = list.iter().map(|q| quoted(&q.name)).collect();
            // C has no empty arrays.
            items.push("0".to_owned());
            self.out.add(0, &format!("const char *const {prefix}_{what}[] = {{{}}};", items.join(", ")));
        }
        self.out.add(0, "");
        self.out.add(0, "/* Nominal values of the parameters. */");
        self.out.add(0, &format!("const double {prefix}_nominal[] = {{"));
        for (parameter, value) in plan.parameters.iter().zip(&plan.nominal) {
            self.out.add(1, &format!("{}, /* {} */", exact(*value), described(parameter)));
        }
        if plan.parameters.is_empty() {
            self.out.add(1, "0.0");
        }
        self.out.add(0, "};");
    }

    /// The sign, and measured samples.
    fn helpers(&mut self) {
        let all = self.every_expression();
        let calls = |pool: &Pool, wanted: &str| {
            pool.reachable(&all).into_iter().any(
                |node| matches!(pool.node(node), paynter_algebra::Node::Call(f, _) if f.name() == wanted),
            )
        };
        if calls(self.pool, "sign") {
            self.out.space(1);
            self.out.block("static double sign(double x)\n{\n    return (x > 0.0) - (x < 0.0);\n}");
        }
        if self.plan.tables.is_empty() {
            return;
        }
        self.out.space(1);
        self.out.block(INTERPOLATE);
        for (k, table) in self.plan.tables.iter().enumerate() {
            let list = |values: &[f64]| values.iter().map(|v| exact(*v)).collect::<Vec<_>>().join(", ");
            self.out.space(1);
            self.out.block(&format!(
                "/* Column {} of {}, linear between samples. */\nstatic double table{k}(double t)\n{{\n    \
                 static const double times[] = {{{}}};\n    static const double values[] = {{{}}};\n    \
                 return interpolate({}, times, values, t);\n}}",
                table.column.replace("*/", "* /"),
                table.path.replace("*/", "* /"),
                list(&table.times),
                list(&table.values),
                table.times.len()
            ));
        }
    }

    fn every_expression(&self) -> Vec<Expr> {
        let plan = self.plan;
        let mut all: Vec<Expr> = plan.signals.iter().flatten().copied().collect();
        for list in [&plan.initial, &plan.rates, &plan.values, &plan.residuals, &plan.dependent_values] {
            all.extend(list);
        }
        all.extend(plan.jacobian.entries.iter().map(|(_, _, e)| *e));
        all.extend(plan.matrices.iter().flat_map(|(_, m)| m.entries.iter().map(|(_, _, e)| *e)));
        let (a, c) = plan.offsets.clone().unwrap_or_default();
        all.extend(a.into_iter().chain(c));
        all.extend(self.blocks.iter().flat_map(simulate::Block::expressions));
        all
    }

    fn functions(&mut self) {
        let plan = self.plan;
        let prefix = self.prefix.clone();
        let point = "double t, const double x[], const double u[], const double p[]";
        let head = format!("void {prefix}_initial(const double p[], double x[])");
        self.function("The states at time zero.", &head, "x", &plan.initial);
        self.inputs();
        let implicit = plan.has_unknowns();
        if implicit {
            let head = format!("static void {prefix}_residuals({point}, const double z[], double r[])");
            self.function("What the unknowns z make zero.", &head, "r", &plan.residuals);
            self.jacobian(&format!("static void {prefix}_jacobian({point}, const double z[], double s[])"));
            let newton = NEWTON.replace("SIZE", &plan.unknowns.len().to_string()).replace("PREFIX", &prefix);
            self.out.space(1);
            self.out.block(&newton);
        }
        let (kind, z) = if implicit { ("int", ", double z[]") } else { ("void", "") };
        let note = match implicit {
            true => {
                "\n * z is a guess of the unknowns and becomes their value. Returns 0, or 1 where none is found."
            }
            false => "",
        };
        for (what, suffix, result, roots) in [
            ("The rates of the states, x'.", "f", "dx", &plan.rates),
            ("The outputs y.", "g", "y", &plan.values),
            ("The states w of dependent storages, by the others.", "dependent", "w", &plan.dependent_values),
        ] {
            if suffix == "dependent" && roots.is_empty() {
                continue;
            }
            let head = format!("{kind} {prefix}_{suffix}({point}{z}, double {result}[])");
            self.function(&format!("{what}{note}"), &head, result, roots);
        }
        if !plan.matrices.is_empty() {
            self.matrices();
        }
    }

    fn begin(&mut self, what: &str, head: &str, body: &Body) {
        self.out.space(1);
        self.out.add(0, &format!("/* {what} */"));
        self.out.add(0, head);
        self.out.add(0, "{");
        if head.starts_with("int") {
            self.out.add(1, &format!("if ({}_unknowns(t, x, u, p, z)) return 1;", self.prefix));
        }
        for (place, name) in &body.reads {
            let (vector, i) = match place {
                Place::State(i) => ("x", i),
                Place::Input(i) => ("u", i),
                Place::Parameter(i) => ("p", i),
                Place::Unknown(i) => ("z", i),
                Place::Time => continue,
            };
            self.out.add(1, &format!("const double {name} = {vector}[{i}];"));
        }
        for (name, value) in &body.definitions {
            self.out.add(1, &format!("const double {name} = {value};"));
        }
    }

    /// Marks the arguments that a function happens not to need.
    fn unused(&mut self, head: &str, body: &Body, writes: bool) {
        type Test = fn(Place) -> bool;
        let kinds: [(&str, &str, Test); 5] = [
            ("t", "double t,", |place| place == Place::Time),
            ("x", "const double x[]", |place| matches!(place, Place::State(_))),
            ("u", "const double u[]", |place| matches!(place, Place::Input(_))),
            ("p", "const double p[]", |place| matches!(place, Place::Parameter(_))),
            ("z", "const double z[]", |place| matches!(place, Place::Unknown(_))),
        ];
        let solved = head.starts_with("int");
        let mut list: Vec<&str> = kinds
            .iter()
            .filter(|(_, text, kind)| head.contains(text) && !solved && !body.reads(kind))
            .map(|(name, _, _)| *name)
            .collect();
        if !writes {
            list.extend(head.rsplit("double ").next().and_then(|last| last.split('[').next()));
        }
        for name in list {
            self.out.add(1, &format!("(void){name};"));
        }
    }

    fn end(&mut self, head: &str) {
        if head.starts_with("int") {
            self.out.add(1, "return 0;");
        }
        self.out.add(0, "}");
    }

    fn function(&mut self, what: &str, head: &str, result: &str, roots: &[Expr]) {
        let body = self.plan.body(self.pool, &self.names, Notation::C, roots);
        self.begin(what, head, &body);
        for (i, text) in body.results.iter().enumerate() {
            self.out.add(1, &format!("{result}[{i}] = {text};"));
        }
        self.unused(head, &body, !roots.is_empty());
        self.end(head);
    }

    /// The default signals; the derivative of a table has to be given by the caller.
    fn inputs(&mut self) {
        let known: Vec<Expr> = self.plan.signals.iter().flatten().copied().collect();
        let body = self.plan.body(self.pool, &self.names, Notation::C, &known);
        let head = format!("void {}_inputs(double t, const double p[], double u[])", self.prefix);
        self.begin("The inputs as the model gives them.", &head, &body);
        let mut texts = body.results.iter();
        for (i, signal) in self.plan.signals.iter().enumerate() {
            let text = signal.and_then(|_| texts.next()).map_or("NAN", String::as_str);
            self.out.add(1, &format!("u[{i}] = {text};"));
        }
        self.unused(&head, &body, !self.plan.signals.is_empty());
        self.end(&head);
    }

    fn jacobian(&mut self, head: &str) {
        let entries: Vec<Expr> = self.plan.jacobian.entries.iter().map(|(_, _, e)| *e).collect();
        let body = self.plan.body(self.pool, &self.names, Notation::C, &entries);
        self.begin("The derivatives of the residuals by the unknowns, row by row.", head, &body);
        self.out
            .add(1, &format!("for (int i = 0; i < {}; i++) s[i] = 0.0;", self.plan.unknowns.len().pow(2)));
        for ((i, j, _), text) in self.plan.jacobian.entries.iter().zip(&body.results) {
            self.out.add(1, &format!("s[{}] = {text};", i * self.plan.unknowns.len() + j));
        }
        self.unused(head, &body, true);
        self.end(head);
    }

    fn matrices(&mut self) {
        let plan = self.plan;
        let mut entries: Vec<Expr> =
            plan.matrices.iter().flat_map(|(_, m)| m.entries.iter().map(|(_, _, e)| *e)).collect();
        let (a, c) = plan.offsets.clone().unwrap_or_default();
        entries.extend(a.iter().chain(&c));
        let body = plan.body(self.pool, &self.names, Notation::C, &entries);
        let mut list: Vec<(&str, Sparse, bool)> =
            plan.matrices.iter().map(|(name, m)| (name.as_str(), m.clone(), true)).collect();
        if plan.offsets.is_some() {
            for (name, vector) in [("a", &a), ("c", &c)] {
                let entries = vector.iter().enumerate().map(|(i, e)| (i, 0, *e)).collect();
                list.push((name, Sparse { rows: vector.len(), columns: 1, entries }, false));
            }
        }
        let time = if body.reads(|place| place == Place::Time) { "double t, " } else { "" };
        let arguments: Vec<String> = list.iter().map(|(name, _, _)| format!("double {name}[]")).collect();
        let head = format!("void {}_matrices({time}const double p[], {})", self.prefix, arguments.join(", "));
        let what = "x' = A x + B u (+ a), y = C x + D u (+ c), row by row; Bd1, Dd1 belong to the inputs' derivatives.";
        self.begin(what, &head, &body);
        let mut texts = body.results.iter();
        for (name, matrix, clear) in &list {
            let size = matrix.rows * matrix.columns;
            if *clear && size > 0 {
                self.out.add(1, &format!("for (int i = 0; i < {size}; i++) {name}[i] = 0.0;"));
            }
            for ((i, j, _), text) in matrix.entries.iter().zip(texts.by_ref()) {
                self.out.add(1, &format!("{name}[{}] = {text};", i * matrix.columns + j));
            }
            if size == 0 {
                self.out.add(1, &format!("(void){name};"));
            }
        }
        self.unused(&head, &body, true);
        self.end(&head);
    }

    /// A `main` that prints rates and outputs at time zero.
    fn example(&mut self) {
        let upper = self.prefix.to_uppercase();
        let (prefix, implicit) = (&self.prefix, self.plan.has_unknowns());
        let size = |list: &[Quantity]| list.len().max(1);
        let plan = self.plan;
        let (z, declare) = match implicit {
            true => (", z", format!(", z[{}] = {{0.0}}", size(&plan.unknowns))),
            false => ("", String::new()),
        };
        let call = |name: &str, result: &str| match implicit {
            true => format!("if ({prefix}_{name}(0.0, x, u, p{z}, {result})) return 1;"),
            false => format!("{prefix}_{name}(0.0, x, u, p, {result});"),
        };
        self.out.space(1);
        self.out.block(&format!(
            r#"
#ifdef {upper}_MAIN
#include <stdio.h>

int main(void)
{{
    const double *p = {prefix}_nominal;
    double x[{states}], u[{inputs}], dx[{states}], y[{outputs}]{declare};
    {prefix}_initial(p, x);
    {prefix}_inputs(0.0, p, u);
    {f}
    {g}
    for (int i = 0; i < {upper}_STATES; i++) printf("%s' = %.17g\n", {prefix}_state_names[i], dx[i]);
    for (int i = 0; i < {upper}_OUTPUTS; i++) printf("%s = %.17g\n", {prefix}_output_names[i], y[i]);
    return 0;
}}
#endif
"#,
            states = size(&plan.states),
            inputs = size(&plan.inputs),
            outputs = size(&plan.outputs),
            f = call("f", "dx"),
            g = call("g", "y"),
        ));
    }
}

fn described(q: &Quantity) -> String {
    let unit = if q.unit.is_empty() { String::new() } else { format!(" [{}]", q.unit) };
    let doc = if q.doc.is_empty() { String::new() } else { format!(" {}", q.doc) };
    format!("{}{unit}{doc}", q.name).replace("*/", "* /")
}

const INTERPOLATE: &str = r#"

static double interpolate(int n, const double times[], const double values[], double t)
{
    if (t <= times[0]) return values[0];
    for (int i = 1; i < n; i++) {
        if (t <= times[i])
            return values[i - 1] + (values[i] - values[i - 1]) * (t - times[i - 1]) / (times[i] - times[i - 1]);
    }
    return values[n - 1];
}
"#;

const NEWTON: &str = r#"

/* Solves s d = -r by elimination with pivots; returns 1 where s is singular. */
static int PREFIX_step(double s[], const double r[], double d[])
{
    enum { n = SIZE };
    for (int i = 0; i < n; i++) d[i] = -r[i];
    for (int k = 0; k < n; k++) {
        int best = k;
        for (int i = k + 1; i < n; i++) if (fabs(s[i * n + k]) > fabs(s[best * n + k])) best = i;
        if (!(fabs(s[best * n + k]) > 0.0)) return 1;
        for (int j = 0; j < n; j++) {
            const double old = s[k * n + j];
            s[k * n + j] = s[best * n + j];
            s[best * n + j] = old;
        }
        const double top = d[k];
        d[k] = d[best];
        d[best] = top;
        for (int i = k + 1; i < n; i++) {
            const double factor = s[i * n + k] / s[k * n + k];
            for (int j = k; j < n; j++) s[i * n + j] -= factor * s[k * n + j];
            d[i] -= factor * d[k];
        }
    }
    for (int k = n - 1; k >= 0; k--) {
        for (int j = k + 1; j < n; j++) d[k] -= s[k * n + j] * d[j];
        d[k] /= s[k * n + k];
    }
    return 0;
}

static double PREFIX_norm(const double r[])
{
    double sum = 0.0;
    for (int i = 0; i < SIZE; i++) sum += r[i] * r[i];
    return sqrt(sum);
}

static double PREFIX_largest(const double d[])
{
    double most = 0.0;
    for (int i = 0; i < SIZE; i++) most = fmax(most, fabs(d[i]));
    return most;
}

/* The unknowns z by Newton's method: z is a guess, and becomes the solution.
 * Where the guess does not serve, others are tried. Returns 0, or 1 where no solution is found. */
int PREFIX_unknowns(double t, const double x[], const double u[], const double p[], double z[])
{
    enum { n = SIZE };
    static const double guesses[] = {0.0, 1.0, -1.0, 0.1, -0.1, 10.0, -10.0, 1e-3, -1e-3};
    for (int guess = -1; guess < 9; guess++) {
        double r[n], s[n * n], d[n], trial[n], moved[n];
        if (guess >= 0) for (int i = 0; i < n; i++) z[i] = guesses[guess];
        PREFIX_residuals(t, x, u, p, z, r);
        for (int turn = 0; turn < 200 && isfinite(PREFIX_norm(r)); turn++) {
            if (PREFIX_norm(r) == 0.0) return 0;
            PREFIX_jacobian(t, x, u, p, z, s);
            if (PREFIX_step(s, r, d)) break;
            const double size = PREFIX_largest(d), scale = PREFIX_largest(z);
            double length = 1.0;
            for (; length > 1e-9; length /= 2.0) {
                for (int i = 0; i < n; i++) moved[i] = z[i] + length * d[i];
                PREFIX_residuals(t, x, u, p, moved, trial);
                if (PREFIX_norm(trial) < PREFIX_norm(r)) break;
            }
            if (!(length > 1e-9)) {
                /* Nothing is left but rounding, or there is no way down from here. */
                if (size <= 1e-8 * scale) return 0;
                break;
            }
            for (int i = 0; i < n; i++) {
                z[i] = moved[i];
                r[i] = trial[i];
            }
            if (length == 1.0 && size <= 1e-15 * scale) return 0;
        }
    }
    return 1;
}
"#;
