//! Formulas in every notation: MathML is well-formed, LaTeX closes what it
//! opens, names stay apart, and derivations end in the equations.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use paynter::export::{Language, Notation};
use paynter::{LoadOptions, MemoryWorld, Model, Ticket, examples};

fn load(text: &str) -> Model {
    let world = MemoryWorld::new().with("model.bg", text.as_bytes().to_vec());
    Model::load(&world, "model.bg", &LoadOptions::default())
}

/// Everything that can be written of a model in a notation.
fn written(model: &mut Model, notation: Notation) -> Vec<String> {
    let ticket = Ticket::new();
    let mut all =
        vec![model.formulas(notation, &ticket).unwrap(), model.steps(Some(notation), &ticket).unwrap().1];
    all.extend(model.transfer_formulas(notation, &ticket).ok());
    all
}

#[test]
fn mathml_is_well_formed() {
    for example in examples::all() {
        for text in written(&mut load(example.text), Notation::MathMl) {
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
        let mut model = load(example.text);
        for text in written(&mut model, Notation::Latex) {
            assert_balanced(example.name, &text);
        }
        assert_balanced(example.name, &model.export(Language::Latex, &Ticket::new()).unwrap());
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
    let ticket = Ticket::new();
    let mut model = load(NAMES);
    assert!(!model.diagnostics.has_errors(), "{:?}", model.diagnostics);
    let python = model.export(Language::Python, &ticket).unwrap();
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
    let c = model.export(Language::C, &ticket).unwrap();
    for line in ["lambda = p[0]", "lambda_ = p[1]", "int_ = p[3]", "C_ = p[2]", "table0_ = p[8]"] {
        assert!(c.contains(&format!("const double {line};\n")), "{line}\n{c}");
    }
    let matlab = model.export(Language::Matlab, &ticket).unwrap();
    assert!(matlab.contains("end_ = p.end_;") && matlab.contains("lambda_ = p.lambda_;"), "{matlab}");
    let julia = model.export(Language::Julia, &ticket).unwrap();
    assert!(julia.contains("λ = p.λ\n") && julia.contains("end_ = p.end_\n"), "{julia}");
    let latex = model.formulas(Notation::Latex, &ticket).unwrap();
    assert!(latex.contains("\\dot{q}_{a} &= "), "{latex}");
}

#[test]
fn derivations_end_in_the_equations() {
    for example in examples::all() {
        let mut model = load(example.text);
        let ticket = Ticket::new();
        let equations = model.equations(&ticket).unwrap();
        let (steps, _) = model.steps(None, &ticket).unwrap();
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
        let mut model = load(example.text);
        let (equations, _) = model.derive(&Ticket::new()).unwrap();
        let graph = model.graph.as_ref().unwrap();
        let Some(mass) = equations.mass(&mut model.pool, graph) else {
            assert!(name == "two_coils", "{name} has no mass matrix");
            continue;
        };
        for (i, right) in mass.right.iter().enumerate() {
            let mut terms = vec![model.pool.neg(*right)];
            for (_, j, entry) in mass.matrix.entries.iter().filter(|(row, _, _)| *row == i) {
                terms.push(model.pool.mul(*entry, equations.rates[*j]));
            }
            let difference = model.pool.sum(&terms);
            assert!(model.pool.is_zero(difference), "{name}, row {i}: {}", model.pool.display(difference));
        }
    }
}
