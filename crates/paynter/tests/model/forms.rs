//! Formulas in every notation: MathML is well-formed, LaTeX closes what it
//! opens, names stay apart, and derivations end in the equations.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use crate::common;

use common::{findings, load};
use paynter::export::{self, Target};
use paynter::json::Naming;
use paynter::{BodeOptions, CancellationToken, Frequencies, Model, Plain, TERMS, examples};
use paynter_algebra::Pool;
use std::process::Command;

/// The equations, their derivation and the transfer functions in a notation.
fn written(model: &Model, notation: &dyn Target) -> Vec<String> {
    let token = CancellationToken::new();
    let mut all = vec![
        model.equations(&token).unwrap().written(notation),
        model.equations_with_mass(&token).unwrap().written(notation),
        model.steps(&token).unwrap().written(Some(notation)),
    ];
    all.extend(model.transfer(TERMS, &token).ok().map(|found| found.written(notation)));
    all
}

/// Operating point, poles, structure and frequency response in a notation, by the names of their pages.
fn pages(model: &Model, notation: &dyn Target) -> [(&'static str, String); 4] {
    let token = CancellationToken::new();
    let point = model.operating_point(&token).unwrap();
    let poles = model.poles(&token).unwrap();
    let structure = model.structure(true, &token).unwrap();
    let omega = Some(Frequencies { low: 0.1, high: 100.0, points: 4 });
    let bode = model.bode(&BodeOptions { omega, ..BodeOptions::default() }, &token).unwrap();
    [
        ("point", point.written(&point.document(&Plain), notation)),
        ("poles", poles.written(&poles.document(Naming::Flat, &Plain), notation)),
        ("structure", structure.written(&structure.document(&Plain), notation)),
        ("bode", bode.written(&bode.document(&Plain), notation)),
    ]
}

/// Statements that give the parameters their values, in Python or C.
fn parameters(model: &Model, open: &str, close: &str) -> String {
    let graph = model.graph().unwrap();
    let line = |p: &paynter_graph::Parameter| {
        format!("{open}{} = {:?}{close}\n", paynter_graph::flat_name(&p.name).replace('.', "_"), p.number)
    };
    graph.parameters.iter().map(line).collect()
}

/// Examples whose names need no other spelling in any language, and a model in the shared form.
fn plain_examples() -> Vec<(&'static str, String)> {
    let names = ["dc_motor", "rc2", "duffing", "vacuum_cleaner", "se_on_c"];
    let mut list: Vec<(&str, String)> =
        names.iter().map(|name| (*name, examples::find(name).unwrap().text.to_owned())).collect();
    list.push(("chain", paynter_testkit::scalable::chain(12)));
    list
}

/// What the pages say must agree: transfer functions with the response, the characteristic polynomial
/// with the poles, the Jacobians in symbols with those in numbers.
const AGREE: &str = r#"
import sys
import numpy as np
def page(name, names):
    exec(open(f"{sys.argv[1]}/{name}.py").read(), names)
    return names
checked = 0
response = page("bode", {"np": np})
for place, w in enumerate(response["omega"]):
    here = {"np": np, "s": 1j*w, "abs": np.abs, "sqrt": np.sqrt}
    for name in ["parameters", "point", "tf"]:
        page(name, here)
    for key in [k for k in response if k.startswith("H_")]:
        value = here[key]
        if isinstance(value, tuple):
            value = np.polyval(value[0], 1j*w)/np.polyval(value[1], 1j*w)
        assert abs(value - response[key][place]) <= 1e-8*abs(response[key]).max(), (key, w, value)
        checked += 1
    for key in "ABCD":
        if key + "_0" in here:
            assert np.allclose(here[key], here[key + "_0"], rtol=1e-12, atol=0), key
            checked += 1
page("poles", here)
page("structure", here)
if "Delta" in here:
    poles = np.repeat(here["poles"], here["times"].astype(int))
    roots = np.roots(here["Delta"])
    assert len(roots) == len(poles) == here["order"]
    for pole in poles:
        assert abs(roots - pole).min() <= 1e-4*max(abs(pole), 1e-6*abs(roots).max()), (pole, roots)
        checked += 1
print(checked)
"#;

#[test]
fn pages_in_python_agree_with_each_other() {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("forms");
    let python = paynter_testkit::python::python(env!("CARGO_TARGET_TMPDIR")).unwrap();
    for (name, text) in plain_examples() {
        let model = load(&text);
        let own = folder.join(name);
        std::fs::create_dir_all(&own).unwrap();
        let write = |file: &str, text: &str| std::fs::write(own.join(file), text).unwrap();
        write("parameters.py", &parameters(&model, "", ""));
        write("tf.py", &model.transfer(2_000, &CancellationToken::new()).unwrap().written(export::PYTHON));
        for (page, text) in pages(&model, export::PYTHON) {
            write(&format!("{page}.py"), &text);
        }
        write("agree.py", AGREE);
        let output = Command::new(&python).arg(own.join("agree.py")).arg(&own).output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout).trim().parse::<usize>();
        assert!(said.is_ok_and(|n| n > 3), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
fn pages_in_c_compile() {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("forms-c");
    std::fs::create_dir_all(&folder).unwrap();
    for (name, text) in plain_examples() {
        let model = load(&text);
        let transfer = model.transfer(2_000, &CancellationToken::new()).unwrap().written(export::C);
        let [point, rest @ ..] = pages(&model, export::C);
        let parameters = parameters(&model, "const double ", ";");
        for (page, text) in rest.into_iter().chain([("tf", transfer)]) {
            let program = format!(
                "#include <complex.h>\n#include <tgmath.h>\n\
                 void page(double complex s) {{\n(void)s;\n{parameters}{}{{\n{text}}} }}\n",
                // The point gives the values of states and inputs that the other pages read.
                point.1
            );
            let file = folder.join(format!("{name}_{page}.c"));
            std::fs::write(&file, program).unwrap();
            let output = Command::new("cc").args(["-std=c11", "-fsyntax-only"]).arg(&file).output().unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        }
    }
}

#[test]
fn mathml_is_well_formed() {
    for example in examples::all() {
        let model = load(example.text);
        let mut texts = written(&model, export::MATHML);
        if plain_examples().iter().any(|(name, _)| *name == example.name) {
            texts.extend(pages(&model, export::MATHML).map(|(_, text)| text));
        }
        for text in texts {
            let tree =
                roxmltree::Document::parse(&text).unwrap_or_else(|e| panic!("{}: {e}\n{text}", example.name));
            let math = tree
                .descendants()
                .filter(|node| node.has_tag_name(("http://www.w3.org/1998/Math/MathML", "math")));
            assert!(math.count() > 0, "{}", example.name);
            for row in tree.descendants().filter(|node| node.tag_name().name() == "msub") {
                assert_eq!(row.children().filter(roxmltree::Node::is_element).count(), 2, "{}", example.name);
            }
        }
    }
}

/// Checks that braces, environments and \left, \right come in pairs.
fn assert_balanced(name: &str, text: &str) {
    let mut braces = 0i64;
    let mut escaped = false;
    for c in text.chars() {
        match c {
            '{' if !escaped => braces += 1,
            '}' if !escaped => braces -= 1,
            _ => {}
        }
        assert!(braces >= 0, "{name}: {text}");
        escaped = c == '\\' && !escaped;
    }
    assert_eq!(braces, 0, "{name}: {text}");
    assert_eq!(text.matches("\\left").count(), text.matches("\\right").count(), "{name}: {text}");
    let mut open: Vec<&str> = Vec::new();
    for part in text.split('\\').skip(1) {
        if let Some(rest) = part.strip_prefix("begin{") {
            open.push(rest.split('}').next().unwrap());
        } else if let Some(rest) = part.strip_prefix("end{") {
            assert_eq!(open.pop(), rest.split('}').next(), "{name}: {text}");
        }
    }
    assert!(open.is_empty(), "{name}: {text}");
}

#[test]
fn latex_closes_what_it_opens() {
    for example in examples::all() {
        let model = load(example.text);
        let mut texts = written(&model, export::LATEX);
        if plain_examples().iter().any(|(name, _)| *name == example.name) {
            texts.extend(pages(&model, export::LATEX).map(|(_, text)| text));
        }
        for text in texts {
            assert_balanced(example.name, &text);
        }
        assert_balanced(example.name, &model.export(export::LATEX, &CancellationToken::new()).unwrap());
    }
}

/// Names that languages reserve, that differ only in what languages cannot spell, and Greek ones.
const NAMES: &str = "model names {
    param lambda = 1
    param λ      = 2
    param C      = 3
    param int    = 4
    param end    = 5
    param a_q    = 6
    param np     = 7
    param x      = 8
    param table0 = 9
    input class  = 1
    Se s2 = class*x*np*table0
    1  j
    R  r = lambda*int*end
    C  a = C*λ*a_q
    s2 -> j
    j -> r, a
    output f = a.q
    output function = r.f
}";

#[test]
fn names_stay_apart_in_every_language() {
    let token = CancellationToken::new();
    let model = load(NAMES);
    assert!(!findings(&model).has_errors(), "{:?}", findings(&model));
    let python = model.export(export::PYTHON, &token).unwrap().result;
    for line in [
        "lambda_ = p[0]",
        "λ = p[1]",
        "C = p[2]",
        "a_q = p[5]",
        "np_ = p[6]",
        "x_ = p[7]",
        "a_q_ = x[0]",
        "class_ = u[0]",
    ] {
        assert!(python.contains(&format!("    {line}\n")), "{line}\n{python}");
    }
    let c = model.export(export::C, &token).unwrap().result;
    for line in ["lambda = p[0]", "lambda_ = p[1]", "int_ = p[3]", "C_ = p[2]", "table0_ = p[8]"] {
        assert!(c.contains(&format!("const double {line};\n")), "{line}\n{c}");
    }
    let matlab = model.export(export::MATLAB, &token).unwrap().result;
    assert!(matlab.contains("end_ = p.end_;") && matlab.contains("lambda_ = p.lambda_;"), "{matlab}");
    let julia = model.export(export::JULIA, &token).unwrap().result;
    assert!(julia.contains("λ = p.λ\n") && julia.contains("end_ = p.end_\n"), "{julia}");
    let latex = model.equations(&token).unwrap().written(export::LATEX);
    assert!(latex.contains("\\dot{q}_{a} &= "), "{latex}");
}

#[test]
fn derivations_end_in_the_equations() {
    for example in examples::all() {
        let model = load(example.text);
        let token = CancellationToken::new();
        let equations = model.equations(&token).unwrap().document(&Plain);
        let steps = model.steps(&token).unwrap().document();
        for (state, rate) in equations.states.iter().zip(&equations.f) {
            let own =
                steps.iter().find(|d| d.lines.iter().any(|line| line.left == Some(format!("{state}'"))));
            let last =
                own.and_then(|d| d.lines.last()).unwrap_or_else(|| panic!("{}: {state}", example.name));
            assert!(last.right.as_ref().is_none_or(|right| right == rate), "{}: {last:?}", example.name);
        }
        assert!(steps.len() >= equations.states.len() + equations.outputs.len(), "{}", example.name);
    }
}

#[test]
fn a_mass_matrix_times_the_rates_is_the_right_side() {
    for name in ["two_tanks", "robot_arm", "two_coils"] {
        let example = examples::find(name).unwrap();
        let model = load(example.text);
        let answer = model.explicit_equations(&CancellationToken::new()).unwrap();
        let (equations, mut pool) = (&answer.equations, Pool::over(answer.pool()));
        let Some(mass) = equations.mass(&mut pool, answer.graph()) else {
            assert!(name == "two_coils", "{name} has no mass matrix");
            continue;
        };
        for (i, right) in mass.right.iter().enumerate() {
            let mut terms = vec![pool.neg(*right)];
            for (_, j, entry) in mass.matrix.entries.iter().filter(|(row, _, _)| *row == i) {
                terms.push(pool.mul(*entry, equations.rates[*j]));
            }
            let difference = pool.sum(&terms);
            assert!(pool.is_zero(difference), "{name}, row {i}: {}", pool.display(difference));
        }
    }
}

#[test]
fn a_mass_matrix_is_written_in_every_notation() {
    let model = load(examples::find("two_tanks").unwrap().text);
    for (notation, lines) in [
        (export::PYTHON, ["right = inflow  # (A2/A1 + 1)*tank1.q'", "E = np.array([[A2/A1 + 1]])"]),
        (export::MATLAB, ["right = inflow;  % (A2/A1 + 1)*tank1.q'", "E = [A2/A1 + 1];"]),
        (export::C, ["const double right = inflow;  // (", "const double E[1][1] = {{A2/A1 + 1.0}};"]),
        (export::JULIA, ["right = inflow  # (A2/A1 + 1)*tank1.q'", "E = [(A2/A1 + 1)]"]),
        (export::LATEX, ["\\right) \\dot{q}_{\\mathrm{tank1}} &= ", "E \\, \\dot{x} &= A \\, x + B \\, u"]),
        (export::MATHML, ["<mo>)</mo></mrow><mo>\u{2062}</mo>", "<mi>E</mi><mo>=</mo>"]),
    ] {
        let text = model.equations_with_mass(&CancellationToken::new()).unwrap().written(notation);
        for line in lines {
            assert!(text.contains(line), "{line}\n{text}");
        }
    }
}
