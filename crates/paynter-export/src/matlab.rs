//! MATLAB and Octave: one function file.

use crate::interconnection::{Closing, ClosingBlock, Loop, MatrixNames};
use crate::lines::{Lines, heading};
use crate::names::{Identifiers, Names};
use crate::page::{Dialect, Page, code, joined};
use crate::plan::{Body, Place, Plan};
use crate::target::{Exported, Target};
use paynter_algebra::{Expr, Pool, Target as Notation};
use paynter_base::number::{exact, shortest};
use paynter_equations::Sparse;

/// MATLAB and Octave.
#[derive(Debug)]
pub(crate) struct Matlab;

impl Target for Matlab {
    fn name(&self) -> &'static str {
        "matlab"
    }

    fn about(&self) -> &'static str {
        "MATLAB and Octave"
    }

    fn program_about(&self) -> Option<&'static str> {
        Some("A function file for MATLAB and Octave")
    }

    fn extension(&self) -> &'static str {
        "m"
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
    reserved: "break case catch classdef continue do else elseif end end_try_catch end_unwind_protect endfor \
        endfunction endif endswitch endwhile for function global if otherwise parfor persistent return \
        spmd switch try until unwind_protect unwind_protect_cleanup while abs acos acosh asin asinh \
        atan atan2 atanh cos cosh exp log log10 max min pi sign sin sinh sqrt tan tanh ifelse zeros \
        ones norm isfinite all any error numel struct interp1 tf NaN Inf nan inf NA ans eps true false \
        arguments endarguments endclassdef endenumeration endevents endmethods endparfor endproperties endspmd \
        enumeration events methods properties import size length eye isempty isnan sum prod mod rem floor ceil \
        round sprintf fprintf disp nargout varargin varargout",
    own: "x u p y z w f g r dx model initial inputs unknowns dependent residuals jacobian matrices start \
        result nargin rank",
    unicode: false,
    longest: 58,
};

static DIALECT: Dialect = Dialect {
    notation: Notation::Matlab,
    identifiers: &IDENTIFIERS,
    comment: "%",
    assign: ("", " = ", ";"),
    assign_complex: ("", " = ", ";"),
    matrix: |name, rows| format!("{name} = [{}];", joined(rows, "", ", ", "", "; ")),
    list: |name, values, _| format!("{name} = [{}];", values.join(", ")),
    complex: |re, im| format!("complex({re}, {im})"),
    nothing: "NaN",
    complex_needs: "",
    ratio: |name, num, den| format!("{name} = tf([{}], [{}]);", num.join(", "), den.join(", ")),
    closing: Loop { before: "", after: closing },
};

/// The uncertain model of the Robust Control Toolbox, and the block structure that `mussv` takes.
fn closing(closing: &Closing, [a, b1, b2, c1, d11, d12, c2, d21, d22]: MatrixNames) -> String {
    let mut out = Lines::default();
    out.add(0, "");
    out.add(0, "% the plant with inputs w, u and outputs z, y");
    out.add(0, &format!("plant = ss({a}, [{b1}, {b2}], [{c1}; {c2}], [{d11}, {d12}; {d21}, {d22}]);"));
    out.add(0, "");
    out.add(0, "% uncertainties");
    let mut diagonal = Vec::new();
    for ClosingBlock { name, size, remark, range } in &closing.blocks {
        let range = match range {
            Some((low, high)) => format!("'Range', [{}, {}]);  % {remark}", shortest(*low), shortest(*high)),
            None => format!("'Range', [-1, 1]);  % {remark}; no tolerance: put the range in"),
        };
        out.add(0, &format!("{name} = ureal('{name}', 0, {range}"));
        diagonal.push(format!("{name}*eye({size})"));
    }
    out.add(0, &format!("Delta = blkdiag({});", diagonal.join(", ")));
    out.add(0, "");
    out.add(0, "% the model with w = Delta z");
    out.add(0, "uncertain = lft(Delta, plant);");
    out.add(0, "");
    out.add(0, "% block structure for mussv: repeated real scalars");
    let sizes: Vec<String> =
        closing.blocks.iter().map(|block| format!("{}, 0", -(block.size as i64))).collect();
    out.add(0, &format!("blocks = [{}];", sizes.join("; ")));
    out.finish()
}

/// A function that returns the model as a structure of data and function handles.
fn program(pool: &mut Pool, plan: &Plan) -> String {
    let title = Names::of_program(&IDENTIFIERS).unique(&plan.name);
    let names = plan.names(pool, Names::of_program(&IDENTIFIERS));
    let fields = fields(pool, plan, &names);
    let mut out = Lines::default();
    out.add(0, &format!("function model = {title}()"));
    let mut lines =
        heading(plan, |vector, i| format!("{vector}({})", i + 1), |_, _| String::new()).into_iter();
    out.add(0, &format!("%{}  {}", title.to_uppercase(), lines.next().unwrap_or_default()));
    for line in lines {
        out.add(0, format!("% {line}").trim_end());
    }
    out.add(0, "%");
    out.add(0, &format!("% Usage: m = {title}(); p = m.parameters; u = m.inputs(0, p);"));
    out.add(0, "%        dx = m.f(0, m.initial(p), u, p); y = m.g(0, m.initial(p), u, p);");
    out.add(1, &format!("model.name = '{}';", plan.name.replace('\'', "''")));
    for (field, list) in [
        ("states", &plan.states),
        ("input_names", &plan.inputs),
        ("outputs", &plan.outputs),
        ("unknown_names", &plan.unknowns),
        ("dependent_names", &plan.dependent),
    ] {
        let items: Vec<String> = list.iter().map(|q| format!("'{}'", q.name.replace('\'', "''"))).collect();
        out.add(1, &format!("model.{field} = {{{}}};", items.join(", ")));
    }
    out.add(1, "model.parameters = struct();");
    for ((field, value), parameter) in fields.iter().zip(&plan.nominal).zip(&plan.parameters) {
        let unit = if parameter.unit.is_empty() { String::new() } else { format!("[{}] ", parameter.unit) };
        let doc = format!("{unit}{}", parameter.doc);
        let remark = if doc.is_empty() { String::new() } else { format!("  % {}", doc.trim_end()) };
        out.add(1, &format!("model.parameters.{field} = {};{remark}", exact(*value)));
    }
    let mut writer = Writer { out, pool, plan, names, fields, chooses: false };
    writer.handles();
    writer.functions();
    writer.out.finish()
}

/// The parameters' names as fields of p.
fn fields(pool: &Pool, plan: &Plan, names: &Names) -> Vec<String> {
    plan.parameter_symbols().iter().map(|symbol| names.of(pool, *symbol)).collect()
}

struct Writer<'a> {
    out: Lines,
    pool: &'a mut Pool,
    plan: &'a Plan,
    names: Names,
    fields: Vec<String>,
    /// Whether a choice has been written.
    chooses: bool,
}

impl Writer<'_> {
    fn handles(&mut self) {
        let mut list = vec!["initial", "inputs", "f", "g"];
        if self.plan.has_unknowns() {
            list.extend(["unknowns", "residuals"]);
        }
        if !self.plan.dependent.is_empty() {
            list.push("dependent");
        }
        if !self.plan.matrices.is_empty() {
            list.push("matrices");
        }
        for name in list {
            self.out.add(1, &format!("model.{name} = @{name};"));
        }
        self.out.add(0, "end");
    }

    fn functions(&mut self) {
        let plan = self.plan;
        self.function("x = initial(p)", "The states at time zero.", "x", &plan.initial);
        self.inputs();
        let z = if plan.has_unknowns() { ", z" } else { "" };
        if plan.has_unknowns() {
            let what = "What the unknowns z make zero.";
            self.function("r = residuals(t, x, u, p, z)", what, "r", &plan.residuals);
            self.jacobian();
            self.out.space(1);
            self.out.block(&NEWTON.replace("SIZE", &plan.unknowns.len().to_string()));
        }
        self.function(&format!("dx = f(t, x, u, p{z})"), "The rates of the states, x'.", "dx", &plan.rates);
        self.function(&format!("y = g(t, x, u, p{z})"), "The outputs y.", "y", &plan.values);
        if !plan.dependent.is_empty() {
            let what = "The states w of dependent storages, by the others.";
            self.function(&format!("w = dependent(t, x, u, p{z})"), what, "w", &plan.dependent_values);
        }
        if !plan.matrices.is_empty() {
            self.matrices();
        }
        self.tables();
        if self.chooses {
            self.out.space(1);
            self.out.block(IFELSE);
        }
    }

    fn begin(&mut self, head: &str, what: &str, body: &Body) {
        self.chooses |= body.chooses;
        self.out.space(1);
        self.out.add(0, &format!("function {head}"));
        self.out.add(0, &format!("% {what}"));
        if head.contains("p, z)") && !head.contains("= residuals") && !head.contains("= jacobian") {
            self.out.add(1, "if nargin < 5");
            self.out.add(2, "z = unknowns(t, x, u, p);");
            self.out.add(1, "end");
        }
        for (place, name) in &body.reads {
            let value = match place {
                Place::State(i) => format!("x({})", i + 1),
                Place::Input(i) => format!("u({})", i + 1),
                Place::Parameter(i) => format!("p.{}", self.fields[*i]),
                Place::Unknown(i) => format!("z({})", i + 1),
                Place::Time => continue,
            };
            self.out.add(1, &format!("{name} = {value};"));
        }
        for (name, value) in &body.definitions {
            self.out.add(1, &format!("{name} = {value};"));
        }
    }

    fn function(&mut self, head: &str, what: &str, result: &str, roots: &[Expr]) {
        let body = self.plan.body(self.pool, &self.names, Notation::Matlab, roots);
        self.begin(head, what, &body);
        self.vector(result, &body.results);
        self.out.add(0, "end");
    }

    fn vector(&mut self, result: &str, texts: &[String]) {
        self.out.add(1, &format!("{result} = zeros({}, 1);", texts.len()));
        for (i, text) in texts.iter().enumerate() {
            self.out.add(1, &format!("{result}({}) = {text};", i + 1));
        }
    }

    /// The default signals; the derivative of a table has to be given by the caller.
    fn inputs(&mut self) {
        let known: Vec<Expr> = self.plan.signals.iter().flatten().copied().collect();
        let body = self.plan.body(self.pool, &self.names, Notation::Matlab, &known);
        self.begin("u = inputs(t, p)", "The inputs as the model gives them.", &body);
        let mut given = body.results.into_iter();
        let signals = self.plan.signals.iter();
        let texts: Vec<String> =
            signals.map(|s| s.and_then(|_| given.next()).unwrap_or_else(|| "NaN".to_owned())).collect();
        self.vector("u", &texts);
        self.out.add(0, "end");
    }

    fn jacobian(&mut self) {
        let entries: Vec<Expr> = self.plan.jacobian.entries.iter().map(|(_, _, e)| *e).collect();
        let body = self.plan.body(self.pool, &self.names, Notation::Matlab, &entries);
        self.begin("s = jacobian(t, x, u, p, z)", "The derivatives of the residuals by the unknowns.", &body);
        self.filled("s", &self.plan.jacobian, &mut body.results.into_iter());
        self.out.add(0, "end");
    }

    fn filled(&mut self, name: &str, matrix: &Sparse, texts: &mut impl Iterator<Item = String>) {
        self.out.add(1, &format!("{name} = zeros({}, {});", matrix.rows, matrix.columns));
        for ((i, j, _), text) in matrix.entries.iter().zip(texts) {
            self.out.add(1, &format!("{name}({}, {}) = {text};", i + 1, j + 1));
        }
    }

    fn matrices(&mut self) {
        let plan = self.plan;
        let mut entries: Vec<Expr> =
            plan.matrices.iter().flat_map(|(_, m)| m.entries.iter().map(|(_, _, e)| *e)).collect();
        let constants = plan.offsets.clone().unwrap_or_default();
        entries.extend(constants.0.iter().chain(&constants.1));
        let body = plan.body(self.pool, &self.names, Notation::Matlab, &entries);
        let what = "x' = A x + B u (+ a), y = C x + D u (+ c); Bd1, Dd1 belong to the inputs' derivatives.";
        let timed = body.reads(|place| place == Place::Time);
        self.begin(if timed { "result = matrices(p, t)" } else { "result = matrices(p)" }, what, &body);
        let mut texts = body.results.into_iter();
        for (name, matrix) in &plan.matrices {
            self.filled(&format!("result.{name}"), matrix, &mut texts);
        }
        if plan.offsets.is_some() {
            for (name, list) in [("a", &constants.0), ("c", &constants.1)] {
                let items: Vec<String> = texts.by_ref().take(list.len()).collect();
                self.vector(&format!("result.{name}"), &items);
            }
        }
        self.out.add(0, "end");
    }

    fn tables(&mut self) {
        for (k, table) in self.plan.tables.iter().enumerate() {
            let list = |values: &[f64]| values.iter().map(|v| exact(*v)).collect::<Vec<_>>().join(", ");
            self.out.space(1);
            self.out.add(0, &format!("function v = table{k}(t)"));
            self.out.add(0, &format!("% Column {} of {}, linear between samples.", table.column, table.path));
            self.out.add(1, &format!("times = [{}];", list(&table.times)));
            self.out.add(1, &format!("values = [{}];", list(&table.values)));
            self.out.add(1, "v = interp1(times, values, min(max(t, times(1)), times(end)));");
            self.out.add(0, "end");
        }
    }
}

const IFELSE: &str = r#"
function v = ifelse(condition, a, b)
% One of two values.
    if condition
        v = a;
    else
        v = b;
    end
end
"#;

const NEWTON: &str = r#"

function z = unknowns(t, x, u, p, start)
% The unknowns z, by Newton's method from start (or from a few places where none is given).
    guesses = [0, 1, -1, 0.1, -0.1, 10, -10, 1e-3, -1e-3];
    for guess = 0:numel(guesses)
        if guess == 0
            if nargin < 5
                continue
            end
            z = start(:);
        else
            z = guesses(guess)*ones(SIZE, 1);
        end
        r = residuals(t, x, u, p, z);
        for turn = 1:200
            if ~all(isfinite(r))
                break
            end
            if ~any(r)
                return
            end
            s = jacobian(t, x, u, p, z);
            if rank(s) < SIZE
                break
            end
            step = -(s\r);
            len = 1;
            while len > 1e-9
                trial = residuals(t, x, u, p, z + len*step);
                if norm(trial) < norm(r)
                    break
                end
                len = len/2;
            end
            if len <= 1e-9
                % Nothing is left but rounding, or there is no way down from here.
                if max(abs(step)) <= 1e-8*max(abs(z))
                    return
                end
                break
            end
            done = len == 1 && max(abs(step)) <= 1e-15*max(abs(z));
            z = z + len*step;
            r = trial;
            if done
                return
            end
        end
    end
    error('the implicit equations have no solution near the guesses');
end
"#;
