//! Exported programs run and say what Paynter's own numbers say: every
//! example and a set of random models, in Python and in C.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use crate::common;

use common::{folder, run};
use paynter::export;
use paynter::{CancellationToken, LoadOptions, MemoryWorld, Model, examples};
use paynter_algebra::{Expr, Node, Pool, Symbol};
use paynter_graph::Variable;
use paynter_testkit::rng::Rng;
use paynter_testkit::{Options, generate};
use std::collections::BTreeMap;
use std::process::Command;

/// A model at some points, with what its program must say there.
struct Case {
    name: String,
    model: Model,
    points: Vec<Point>,
}

struct Point {
    t: f64,
    x: Vec<f64>,
    u: Vec<f64>,
    p: Vec<f64>,
}

fn load(name: &str, text: &str) -> Option<Case> {
    let model = common::load(text);
    let answer = model.explicit_equations(&CancellationToken::new()).ok()?;
    let (equations, graph) = (&answer.equations, answer.graph());
    let p: Vec<f64> = graph.parameters.iter().map(|parameter| parameter.number).collect();
    let mut values: BTreeMap<Symbol, f64> =
        graph.parameters.iter().map(|parameter| (parameter.symbol, parameter.number)).collect();
    let time = graph.variables.symbol(Variable::Time);
    let mut rng = Rng::new(5);
    let mut points = Vec::new();
    for t in [0.0, 0.37] {
        if let Some(time) = time {
            values.insert(time, t);
        }
        let eval = |e: Expr| answer.pool().eval(e, &|s| values.get(&s).copied()).unwrap_or(1.0);
        let mut near =
            |value: f64| value + t * (0.1 + rng.unit()) * if value == 0.0 { 0.3 } else { 0.1 * value };
        let x = equations.states.iter().map(|state| near(eval(state.initial))).collect();
        // The inputs' own values, then some values for the derivatives that are read.
        let mut u: Vec<f64> = equations.inputs.iter().map(|input| near(eval(input.value))).collect();
        let deepest = equations.inputs.iter().map(|input| input.symbols.len()).max().unwrap_or(0);
        for order in 1..deepest {
            u.extend(equations.inputs.iter().filter(|i| i.symbols.len() > order).map(|_| near(0.0) + 0.1));
        }
        points.push(Point { t, x, u, p: p.clone() });
    }
    Some(Case { name: name.to_owned(), model, points })
}

/// All examples, and random models.
fn cases() -> Vec<Case> {
    let mut cases: Vec<Case> = examples::all().filter_map(|e| load(e.name, e.text)).collect();
    assert!(cases.len() > 25);
    for (kind, options) in [("linear", Options::linear()), ("nonlinear", Options::nonlinear())] {
        for seed in 0..12 {
            let sample = generate(seed, &options);
            cases.extend(load(&format!("{kind}_{seed}"), &sample.text));
        }
    }
    assert!(cases.len() > 40);
    cases
}

/// What a program printed: `CASE POINT WHAT VALUE…` a line.
type Said = BTreeMap<(usize, usize, String), Vec<f64>>;

fn read(text: &str) -> Said {
    text.lines()
        .map(|line| {
            let mut words = line.split_whitespace();
            let mut next = || words.next().unwrap().to_owned();
            let (case, point, what) = (next().parse().unwrap(), next().parse().unwrap(), next());
            let values = words.map(|word| word.parse().unwrap_or(f64::NAN)).collect();
            ((case, point, what), values)
        })
        .collect()
}

/// A size of the numbers that an expression adds up, below which differences are rounding.
fn size(pool: &Pool, e: Expr, eval: &dyn Fn(Expr) -> Option<f64>) -> f64 {
    let mut largest: f64 = 0.0;
    for node in pool.reachable(&[e]) {
        if let Node::Sum(terms) = pool.node(node) {
            // What a sum loses by cancellation is magnified by what it is multiplied with.
            let whole = eval(node).map_or(0.0, f64::abs);
            let parts: f64 = terms.iter().map(|term| eval(*term).map_or(0.0, f64::abs)).sum();
            largest = largest.max(parts / whole.max(1e-300));
        }
    }
    eval(e).map_or(0.0, f64::abs) * largest.clamp(1.0, 1e9)
}

/// Compares what a program said with the values of the expressions; returns how many agreed.
fn judge(cases: &[Case], said: &Said, language: &str) -> usize {
    let mut agreed = 0;
    for (c, case) in cases.iter().enumerate() {
        let answer = case.model.explicit_equations(&CancellationToken::new()).unwrap();
        let (equations, graph, pool) = (&answer.equations, answer.graph(), answer.pool());
        for (k, point) in case.points.iter().enumerate() {
            let get = |what: &str| said.get(&(c, k, what.to_owned())).cloned().unwrap_or_default();
            let mut values: BTreeMap<Symbol, f64> =
                graph.parameters.iter().zip(&point.p).map(|(p, v)| (p.symbol, *v)).collect();
            if let Some(time) = graph.variables.symbol(Variable::Time) {
                values.insert(time, point.t);
            }
            values.extend(equations.states.iter().zip(&point.x).map(|(s, v)| (s.symbol, *v)));
            let mut place = 0;
            for order in 0..4 {
                for input in equations.inputs.iter().filter(|input| input.symbols.len() > order) {
                    values.insert(input.symbols[order], point.u[place]);
                    place += 1;
                }
            }
            let z = get("z");
            assert!(z.len() == equations.constraints.len() || z.is_empty());
            values.extend(equations.constraints.iter().zip(&z).map(|(c, v)| (c.unknown, *v)));
            let eval = |e: Expr| pool.eval(e, &|s| values.get(&s).copied()).ok();
            for constraint in equations.constraints.iter().filter(|_| !z.is_empty()) {
                let slope = equations.constraints.iter().zip(&z).map(|(other, value)| {
                    let mut pool = Pool::over(pool);
                    let slope = pool.diff(constraint.residual, other.unknown);
                    pool.eval(slope, &|s| values.get(&s).copied()).map_or(0.0, |d| (d * value).abs())
                });
                let scale: f64 = slope.sum();
                let left = eval(constraint.residual).unwrap_or(0.0);
                assert!(left.abs() <= 1e-9 * scale.max(1e-12), "{} {language}: {left}", case.name);
            }
            let mut wanted: Vec<(&str, Vec<Expr>)> = vec![
                ("initial", equations.states.iter().map(|s| s.initial).collect()),
                ("inputs", equations.inputs.iter().map(|i| i.value).collect()),
            ];
            if z.len() == equations.constraints.len() {
                wanted.push(("f", equations.rates.clone()));
                wanted.push(("g", equations.outputs.iter().map(|o| o.value).collect()));
                wanted.push(("w", equations.dependent.iter().map(|d| d.value).collect()));
            }
            if let Some(space) = &answer.space {
                let dense = |m: &paynter_equations::Sparse| {
                    (0..m.rows * m.columns).map(|i| m.get(pool, i / m.columns, i % m.columns)).collect()
                };
                wanted.push(("A", dense(&space.a)));
                wanted.push(("C", dense(&space.c)));
            }
            for (what, expressions) in wanted {
                let found = get(what);
                for (i, e) in expressions.iter().enumerate() {
                    let Some(expected) = eval(*e) else { continue };
                    let value = found.get(i).copied().unwrap_or(f64::NAN);
                    let close = (value - expected).abs() <= 1e-12 * size(pool, *e, &eval).max(1e-290);
                    assert!(
                        close,
                        "{} in {language}: {what}[{i}] is {value:e}, not {expected:e}: {}",
                        case.name,
                        pool.display(*e)
                    );
                    agreed += 1;
                }
            }
        }
    }
    agreed
}

const PYTHON_DRIVER: &str = r#"
import importlib.util, sys
def say(case, point, what, values):
    print(case, point, what, *(repr(float(v)) for v in values))
for case, (path, points) in enumerate(CASES):
    spec = importlib.util.spec_from_file_location(f"m{case}", path)
    m = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(m)
    for k, (t, x, u, p) in enumerate(points):
        say(case, k, "initial", m.initial(p))
        say(case, k, "inputs", m.inputs(t, p))
        if hasattr(m, "matrices"):
            M = m.matrices(p, t) if m.matrices.__code__.co_argcount > 1 else m.matrices(p)
            say(case, k, "A", M["A"].ravel())
            say(case, k, "C", M["C"].ravel())
        if m.UNKNOWNS:
            try:
                say(case, k, "z", m.unknowns(t, x, u, p))
            except ArithmeticError:
                continue
        say(case, k, "f", m.f(t, x, u, p))
        say(case, k, "g", m.g(t, x, u, p))
        if m.DEPENDENT:
            say(case, k, "w", m.dependent(t, x, u, p))
"#;

#[test]
fn python_programs_agree() {
    let python =
        paynter_testkit::python::python(env!("CARGO_TARGET_TMPDIR")).unwrap_or_else(|e| panic!("{e}"));
    let folder = folder("export-python");
    let cases = cases();
    let mut list = String::from("CASES = [\n");
    for case in &cases {
        let path = folder.join(format!("{}.py", case.name));
        std::fs::write(&path, case.model.export(export::PYTHON, &CancellationToken::new()).unwrap().result)
            .unwrap();
        let points: Vec<String> =
            case.points.iter().map(|p| format!("({:?}, {:?}, {:?}, {:?})", p.t, p.x, p.u, p.p)).collect();
        list += &format!("    ({path:?}, [{}]),\n", points.join(", "));
    }
    let driver = folder.join("driver.py");
    std::fs::write(&driver, format!("{list}]\n{PYTHON_DRIVER}")).unwrap();
    let said = read(&run(Command::new(python).arg("-W").arg("ignore").arg(&driver)));
    let agreed = judge(&cases, &said, "Python");
    assert!(agreed > 1000, "only {agreed} values were compared");
}

/// A main that prints what a program says at some points.
fn c_driver(case: &Case, index: usize, program: &str) -> String {
    let start = program.find("double ").and_then(|_| program.find("_nominal[]")).unwrap();
    let prefix = program[..start].rsplit(' ').next().unwrap();
    let upper = prefix.to_uppercase();
    let implicit = program.contains(&format!("{prefix}_unknowns("));
    let list = |values: &[f64]| {
        let mut items: Vec<String> = values.iter().map(|v| format!("{v:?}")).collect();
        items.push("0.0".to_owned());
        items.join(", ")
    };
    let mut out = format!("#include \"{}.c\"\n#include <stdio.h>\n", case.name);
    out += "static void say(int point, const char *what, const double *v, int n) {\n";
    out += &format!("    printf(\"{index} %d %s\", point, what);\n");
    out += "    for (int i = 0; i < n; i++) printf(\" %.17g\", v[i]);\n    printf(\"\\n\");\n}\nint main(void) {\n";
    for (k, point) in case.points.iter().enumerate() {
        let (nx, nu, ny) = (point.x.len(), point.u.len(), format!("{upper}_OUTPUTS"));
        let z = if implicit { ", z" } else { "" };
        out += &format!(
            "    {{\n    const double t = {:?}, x[] = {{{}}}, u[] = {{{}}}, p[] = {{{}}};\n    double v[{} + {ny}];\n",
            point.t,
            list(&point.x),
            list(&point.u),
            list(&point.p),
            nx * nx + nu + 400,
        );
        out += &format!("    {prefix}_initial(p, v); say({k}, \"initial\", v, {nx});\n");
        out += &format!("    {prefix}_inputs(t, p, v); say({k}, \"inputs\", v, {nu});\n");
        if implicit {
            out += &format!("    double z[{upper}_UNKNOWNS] = {{0.0}};\n");
            out += &format!(
                "    if (!{prefix}_unknowns(t, x, u, p, z)) {{ say({k}, \"z\", z, {upper}_UNKNOWNS);\n"
            );
        }
        out += &format!("    {prefix}_f(t, x, u, p{z}, v); say({k}, \"f\", v, {nx});\n");
        out += &format!("    {prefix}_g(t, x, u, p{z}, v); say({k}, \"g\", v, {ny});\n");
        if program.contains(&format!("{prefix}_dependent(")) {
            out += &format!(
                "    {prefix}_dependent(t, x, u, p{z}, v); say({k}, \"w\", v, {upper}_DEPENDENT);\n"
            );
        }
        if implicit {
            out += "    }\n";
        }
        if let Some(at) = program.find(&format!("void {prefix}_matrices(")) {
            let head = &program[at..at + program[at..].find(')').unwrap()];
            let names: Vec<&str> = head
                .split("double ")
                .skip(1)
                .map(|w| w.split(['[', ',']).next().unwrap())
                .filter(|n| !["t", "p"].contains(n))
                .collect();
            for name in &names {
                out += &format!("    static double m{name}[{}];\n", (nx + nu + 40) * (nx + nu + 40));
            }
            let t = if head.contains("double t,") { "t, " } else { "" };
            let arguments: Vec<String> = names.iter().map(|name| format!("m{name}")).collect();
            out += &format!("    {prefix}_matrices({t}p, {});\n", arguments.join(", "));
            out += &format!("    say({k}, \"A\", mA, {nx} * {nx}); say({k}, \"C\", mC, {ny} * {nx});\n");
        }
        out += "    }\n";
    }
    out + "    return 0;\n}\n"
}

#[test]
fn c_programs_agree() {
    let folder = folder("export-c");
    let cases = cases();
    let mut printed = String::new();
    for (index, case) in cases.iter().enumerate() {
        let program = case.model.export(export::C, &CancellationToken::new()).unwrap().result;
        std::fs::write(folder.join(format!("{}.c", case.name)), &program).unwrap();
        let driver = folder.join(format!("{}_main.c", case.name));
        std::fs::write(&driver, c_driver(case, index, &program)).unwrap();
        let binary = folder.join(format!("{}_main", case.name));
        let flags = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-ffp-contract=off"];
        run(Command::new("cc").args(flags).arg(&driver).arg("-o").arg(&binary).arg("-lm"));
        printed += &run(&mut Command::new(&binary));
    }
    let agreed = judge(&cases, &read(&printed), "C");
    assert!(agreed > 1000, "only {agreed} values were compared");
}

/// Measured samples travel with the program.
#[test]
fn tables_are_in_the_program() {
    let python =
        paynter_testkit::python::python(env!("CARGO_TARGET_TMPDIR")).unwrap_or_else(|e| panic!("{e}"));
    let text = "model m { input u = table(\"d.csv\", v); Se s = u; R r = 2; s -> r; output y = r.f }";
    let world = MemoryWorld::new()
        .with("model.bg", text.as_bytes().to_vec())
        .with("d.csv", b"t,w,v\n0,9,1\n1,9,3\n3,9,-1\n".to_vec());
    let model = Model::load(&world, "model.bg", &LoadOptions::default());
    let folder = folder("export-tables");
    std::fs::write(
        folder.join("m.py"),
        model.export(export::PYTHON, &CancellationToken::new()).unwrap().result,
    )
    .unwrap();
    let ask = "import m; print(*(float(m.inputs(t, [])[0]) for t in (-1, 0.5, 2, 9)))";
    let said = run(Command::new(python).current_dir(&folder).args(["-c", ask]));
    assert_eq!(said.trim(), "1.0 2.0 1.0 -1.0");
    std::fs::write(folder.join("m.c"), model.export(export::C, &CancellationToken::new()).unwrap().result)
        .unwrap();
    let main = "#include \"m.c\"\n#include <stdio.h>\nint main(void) { const double t[] = {-1, 0.5, 2, 9}; double u[1]; \
                for (int i = 0; i < 4; i++) { m_inputs(t[i], 0, u); printf(\"%g \", u[0]); } return 0; }\n";
    std::fs::write(folder.join("main.c"), main).unwrap();
    run(Command::new("cc")
        .current_dir(&folder)
        .args(["-std=c99", "-Wall", "-Werror", "main.c", "-o", "main", "-lm"]));
    assert_eq!(run(&mut Command::new(folder.join("main"))).trim(), "1 2 1 -1");
    let alone = MemoryWorld::new().with("model.bg", text.as_bytes().to_vec());
    let model = Model::load(&alone, "model.bg", &LoadOptions::default());
    assert!(model.export(export::C, &CancellationToken::new()).is_err(), "a table that is not there");
}

const OCTAVE_DRIVER: &str = r#"
1;
function say(case_number, point, what, values)
    printf('%d %d %s', case_number, point, what);
    printf(' %.17g', values);
    printf('\n');
end
function tell(case_number, folder, name, points)
    addpath(folder);
    m = feval(name);
    names = fieldnames(m.parameters);
    for k = 1:numel(points)
        [t, x, u, values] = points{k}{:};
        p = m.parameters;
        for i = 1:numel(names)
            p.(names{i}) = values(i);
        end
        say(case_number, k - 1, 'initial', m.initial(p));
        say(case_number, k - 1, 'inputs', m.inputs(t, p));
        if numel(m.unknown_names) > 0
            try
                say(case_number, k - 1, 'z', m.unknowns(t, x, u, p));
            catch
                continue
            end
        end
        say(case_number, k - 1, 'f', m.f(t, x, u, p));
        say(case_number, k - 1, 'g', m.g(t, x, u, p));
        if numel(m.dependent_names) > 0
            say(case_number, k - 1, 'w', m.dependent(t, x, u, p));
        end
        if isfield(m, 'matrices')
            if nargin(m.matrices) > 1
                M = m.matrices(p, t);
            else
                M = m.matrices(p);
            end
            say(case_number, k - 1, 'A', M.A.'(:));
            say(case_number, k - 1, 'C', M.C.'(:));
        end
    end
    rmpath(folder);
    clear(name);
end
"#;

#[test]
#[ignore = "needs Octave; `cargo xtask octave` runs it"]
fn octave_programs_agree() {
    let folder = folder("export-octave");
    let cases = cases();
    let mut driver = OCTAVE_DRIVER.to_owned();
    for (index, case) in cases.iter().enumerate() {
        let program = case.model.export(export::MATLAB, &CancellationToken::new()).unwrap().result;
        let name =
            program.lines().next().unwrap().trim_start_matches("function model = ").trim_end_matches("()");
        // Functions are found by the names of their files, which several models may share.
        let own = folder.join(index.to_string());
        std::fs::create_dir_all(&own).unwrap();
        std::fs::write(own.join(format!("{name}.m")), &program).unwrap();
        let points: Vec<String> = case
            .points
            .iter()
            .map(|p| format!("{{{:?}, {:?}.', {:?}.', {:?}.'}}", p.t, p.x, p.u, p.p))
            .collect();
        driver += &format!("tell({index}, '{}', '{name}', {{{}}});\n", own.display(), points.join(", "));
    }
    let script = folder.join("driver.m");
    std::fs::write(&script, driver).unwrap();
    let said = read(&run(Command::new("octave").args(["--no-gui", "--quiet", "--norc"]).arg(&script)));
    let agreed = judge(&cases, &said, "Octave");
    assert!(agreed > 1000, "only {agreed} values were compared");
}
