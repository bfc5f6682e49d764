//! What texts mean: precedence, brackets, newlines, units, every statement.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]

use paynter_base::FileId;
use paynter_language::ast::{BinaryOp, Body, Expr, ExprKind, File, Law, Path, Statement, UnaryOp, Unit};
use paynter_language::parse;

#[track_caller]
fn good(text: &str) -> File {
    let parse = parse(text, FileId(0));
    assert!(parse.diagnostics.is_empty(), "{text}\n{:#?}", parse.diagnostics);
    assert_eq!(parse.tree().to_string(), text);
    parse.file
}

#[track_caller]
fn statements(body: &str) -> Vec<Statement> {
    good(&format!("model m {{\n{body}\n}}\n")).models.remove(0).statements
}

#[track_caller]
fn statement(body: &str) -> Statement {
    let mut all = statements(body);
    assert_eq!(all.len(), 1, "{all:#?}");
    all.remove(0)
}

/// Writes an expression with all its parentheses.
fn explicit(expr: &Expr) -> String {
    match &expr.kind {
        ExprKind::Number(text) => text.clone(),
        ExprKind::Text(text) => format!("{text:?}"),
        ExprKind::Path(path) => path_text(path),
        ExprKind::Unary(UnaryOp::Neg, x) => format!("(-{})", explicit(x)),
        ExprKind::Unary(UnaryOp::Not, x) => format!("(not {})", explicit(x)),
        ExprKind::Binary(op, x, y) => {
            let sign = match op {
                BinaryOp::Add => "+",
                BinaryOp::Sub => "-",
                BinaryOp::Mul => "*",
                BinaryOp::Div => "/",
                BinaryOp::Pow => "^",
                BinaryOp::Lt => "<",
                BinaryOp::Le => "<=",
                BinaryOp::Gt => ">",
                BinaryOp::Ge => ">=",
                BinaryOp::Eq => "==",
                BinaryOp::Ne => "!=",
                BinaryOp::And => " and ",
                BinaryOp::Or => " or ",
            };
            format!("({}{sign}{})", explicit(x), explicit(y))
        }
        ExprKind::Call(name, args) => {
            format!("{}({})", name.text, args.iter().map(explicit).collect::<Vec<_>>().join(","))
        }
        ExprKind::Error => "?".to_owned(),
    }
}

fn path_text(path: &Path) -> String {
    let segment = |s: &paynter_language::ast::Segment| match &s.index {
        Some(index) => format!("{}[{}]", s.name.text, explicit(index)),
        None => s.name.text.clone(),
    };
    path.segments.iter().map(segment).collect::<Vec<_>>().join(".")
}

fn unit_text(unit: &Unit) -> String {
    let factor = |f: &paynter_language::ast::UnitFactor| match f.root {
        1 => format!("{}^{}", f.symbol.text, f.power),
        root => format!("{}^{}/{root}", f.symbol.text, f.power),
    };
    unit.factors.iter().map(factor).collect::<Vec<_>>().join(" ")
}

#[test]
fn operators_bind_as_in_mathematics() {
    for (text, meaning) in [
        ("a + b*c^d", "(a+(b*(c^d)))"),
        ("a - b - c", "((a-b)-c)"),
        ("a / b * c", "((a/b)*c)"),
        ("-x^2", "(-(x^2))"),
        ("2^3^2", "(2^(3^2))"),
        ("2^-3", "(2^(-3))"),
        ("2^-x^2", "(2^(-(x^2)))"),
        ("-a*b", "((-a)*b)"),
        ("a*-b", "(a*(-b))"),
        ("--x", "(-(-x))"),
        ("3 + -0.2", "(3+(-0.2))"),
        ("(a + b)*c", "((a+b)*c)"),
        ("x²", "(x^2)"),
        ("-x² + 1", "((-(x^2))+1)"),
        ("x⁻¹", "(x^(-1))"),
        ("2^x²", "(2^(x^2))"),
        ("a < b and c >= d or not e == f", "(((a<b) and (c>=d)) or (not (e==f)))"),
        ("not a and b", "((not a) and b)"),
        ("a + b < c*d", "((a+b)<(c*d))"),
        ("if(x != 0, sin(x)/x, 1)", "if((x!=0),(sin(x)/x),1)"),
        ("table(\"data.csv\", u)", "table(\"data.csv\",u)"),
        ("1e-3 + 2.5E+4", "(1e-3+2.5E+4)"),
        ("c[3].m.p", "c[3].m.p"),
        ("c[i + 1].m.e", "c[(i+1)].m.e"),
        ("c[d[1].n].m", "c[d[1].n].m"),
        ("C + R", "(C+R)"),
        ("f(\n  a,\n  b\n)", "f(a,b)"),
        ("(a\n + b)", "(a+b)"),
        ("a +\n b", "(a+b)"),
        ("ω_m*µ", "(ω_m*μ)"),
        ("a+b+c+d+e+f+g+h+i-j", "((((a+b)+c)+d)+e)+"),
    ] {
        let Statement::Signal(signal) = statement(&format!("signal y = {text}")) else { panic!("{text}") };
        let found = explicit(&signal.value.unwrap());
        if text.starts_with("a+b+c+d+e") {
            // Long chains are balanced.
            assert_eq!(found, "(((((a+b)+c)+d)+e)+((((f+g)+h)+i)-j))");
        } else {
            assert_eq!(found, meaning, "{text}");
        }
    }
}

/// Evaluates an expression of numbers.
fn value(expr: &Expr) -> f64 {
    match &expr.kind {
        ExprKind::Number(text) => text.parse().unwrap(),
        ExprKind::Binary(op, x, y) => match op {
            BinaryOp::Add => value(x) + value(y),
            BinaryOp::Sub => value(x) - value(y),
            BinaryOp::Mul => value(x) * value(y),
            BinaryOp::Div => value(x) / value(y),
            _ => panic!("{op:?}"),
        },
        _ => panic!("{expr:?}"),
    }
}

#[test]
fn long_chains_keep_their_value() {
    let mut sum = "0".to_owned();
    let mut product = "1".to_owned();
    let (mut total, mut ratio) = (0.0, 1.0_f64);
    for k in 1..500_u32 {
        let minus = k.is_multiple_of(3) || k % 7 == 2;
        sum += &format!(" {} {k}", if minus { "-" } else { "+" });
        total += if minus { -f64::from(k) } else { f64::from(k) };
        // Powers of two, so that every order of the products is exact.
        let factor = if k % 5 == 1 { 4 } else { 2 };
        product += &format!(" {} {factor}", if minus { "/" } else { "*" });
        ratio *= if minus { 1.0 / f64::from(factor) } else { f64::from(factor) };
    }
    for (text, expected) in [(sum, total), (product, ratio)] {
        let Statement::Signal(signal) = statement(&format!("signal y = {text}")) else { panic!() };
        assert_eq!(value(&signal.value.unwrap()), expected);
    }
}

#[test]
fn brackets_are_indices_or_units() {
    let Statement::Output(output) = statement("output x = c[3].m.p [m]") else { panic!() };
    assert_eq!(explicit(&output.value.unwrap()), "c[3].m.p");
    assert_eq!(unit_text(&output.unit.unwrap()), "m^1");
    let Statement::Output(output) = statement("output x = c[3].m[m]") else { panic!() };
    assert_eq!(explicit(&output.value.unwrap()), "c[3].m");
    assert_eq!(unit_text(&output.unit.unwrap()), "m^1");
    let Statement::Param(param) = statement("param k = 2 [N/m] in [1, 3]") else { panic!() };
    assert_eq!(unit_text(&param.unit.unwrap()), "N^1 m^-1");
    assert_eq!(explicit(&param.bounds.unwrap().high), "3");
    let Statement::Param(param) = statement("param k = a[kg]") else { panic!() };
    assert_eq!(unit_text(&param.unit.unwrap()), "kg^1");
    let Statement::Port(port) = statement("port right [electrical]") else { panic!() };
    assert_eq!(port.domain.unwrap().text, "electrical");
}

#[test]
fn units_are_products_of_powers() {
    for (text, meaning) in [
        ("ohm", "ohm^1"),
        ("N*m*s/rad", "N^1 m^1 s^1 rad^-1"),
        ("kg*m^2", "kg^1 m^2"),
        ("kg*m²", "kg^1 m^2"),
        ("1/s", "s^-1"),
        ("1", ""),
        ("J/(kg*K)", "J^1 kg^-1 K^-1"),
        ("(m/s)^2", "m^2 s^-2"),
        ("m^(1/2)", "m^1/2"),
        ("m^0.5", "m^1/2"),
        ("m^(-3/2)", "m^-3/2"),
        ("s^-1", "s^-1"),
        ("s⁻¹", "s^-1"),
        ("V/(rad/s)", "V^1 rad^-1 s^1"),
        ("Ω", "Ω^1"),
        ("%", "%^1"),
        ("a/b/c*d", "a^1 b^-1 c^-1 d^1"),
    ] {
        let Statement::Param(param) = statement(&format!("param x = 1 [{text}]")) else { panic!() };
        assert_eq!(unit_text(&param.unit.unwrap()), meaning, "{text}");
    }
}

#[test]
fn tolerances() {
    for (text, meaning, percent) in [
        ("param x = 3 ±10%", "10", true),
        ("param x = 3 +-0.2", "0.2", false),
        ("param x = 3 [V] ±0.2 \"doc\"", "0.2", false),
        ("param x = 3 ±-5 %", "(-5)", true),
        ("param x = 3+-0.2 in [1, 4]", "0.2", false),
    ] {
        let Statement::Param(param) = statement(text) else { panic!() };
        let tolerance = param.tolerance.unwrap();
        assert_eq!((explicit(&tolerance.value).as_str(), tolerance.percent), (meaning, percent), "{text}");
    }
}

#[test]
fn elements_have_values_matrices_or_laws() {
    let Statement::Element(element) = statement("R h[2] { f1 = k*(e1-e2)/e1; f2 = -k*(e1-e2)/e2 }") else {
        panic!()
    };
    assert_eq!(explicit(element.ports.as_ref().unwrap()), "2");
    let Body::Laws(laws, _) = element.body else { panic!() };
    assert_eq!(laws.len(), 2);
    let Statement::Element(element) = statement("C gas[2] = [[a, b],\n  [c, d]] \"gas\"") else { panic!() };
    let Body::Matrix(rows, _) = element.body else { panic!() };
    assert_eq!(rows.iter().map(Vec::len).collect::<Vec<_>>(), [2, 2]);
    assert_eq!(element.doc.as_deref(), Some("gas"));
    let Statement::Element(element) = statement("C c {\n e = q/C0\n\n init q = Q0 // full\n}") else {
        panic!()
    };
    let Body::Laws(laws, _) = element.body else { panic!() };
    assert!(matches!(&laws[1], Law::Init { state, .. } if state.text == "q"));
    let Statement::Element(element) = statement("Sw d when (d.e > 0) { Ron = 1; Goff = 0 }") else {
        panic!()
    };
    assert_eq!(explicit(element.condition.as_ref().unwrap()), "(d.e>0)");
    let Statement::Element(element) = statement("Sw d when (d.e > 0)") else { panic!() };
    assert!(matches!(element.body, Body::None));
}

#[test]
fn kinds_are_words_only_at_the_start() {
    let all = statements(
        "param C = 1; param init = 2; R R = C; C I = R; 1 Se; 0 param; R -> I; param -> Se; Se.f -> C",
    );
    assert_eq!(all.iter().filter(|s| matches!(s, Statement::Bonds(_))).count(), 3);
    assert_eq!(all.iter().filter(|s| matches!(s, Statement::Element(_))).count(), 4);
}

#[test]
fn bonds_are_chains_of_lists() {
    for (text, meaning) in [
        ("a -> b", "a > b"),
        ("a -> b, c", "a > b,c"),
        ("a, b -> c", "a,b > c"),
        ("a -> tf -> b", "a > tf > b"),
        ("a -> tf.1\ntf.2 -> b", "a > tf.1"),
        ("c[i].right -> c[i+1].left", "c[i].right > c[(i+1)].left"),
        ("c[1] -> d", "c[1] > d"),
        ("a ->\n  b,\n  c // comment\n", "a > b,c"),
        ("c[3].1 -> d", "c[3].1 > d"),
    ] {
        let Statement::Bonds(bonds) = statements(text).remove(0) else { panic!("{text}") };
        let stages: Vec<String> = bonds
            .stages
            .iter()
            .map(|stage| stage.iter().map(path_text).collect::<Vec<_>>().join(","))
            .collect();
        assert_eq!(stages.join(" > "), meaning);
    }
    let Statement::Bonds(bonds) = statement("a -> b as main") else { panic!() };
    assert_eq!(bonds.name.unwrap().text, "main");
}

#[test]
fn submodels_and_arrays() {
    let file = good(
        "model cell(param m = 1 [kg] ±5%, k, param d = 0.1) \"a cell\" { port left; port right [translation] }\n",
    );
    assert_eq!(file.models[0].header.len(), 3);
    assert!(file.models[0].header[1].value.is_none());
    assert_eq!(file.models[0].doc.as_deref(), Some("a cell"));
    let Statement::Use(instance) = statement("use cell c[1..N](m = m0, k = 2*k0)") else { panic!() };
    assert_eq!(explicit(&instance.range.unwrap().high), "N");
    assert_eq!(instance.arguments.len(), 2);
    let Statement::For(each) = statement("for i in 1..N-1 { c[i].right -> c[i+1].left }") else { panic!() };
    assert_eq!(explicit(&each.range.high), "(N-1)");
    assert_eq!(each.statements.len(), 1);
    let Statement::Use(instance) = statement("use cell c") else { panic!() };
    assert!(instance.range.is_none() && instance.arguments.is_empty());
}

#[test]
fn causality_by_hand() {
    let all = statements(
        "prefer derivative tank\nprefer integral c[2].m\ncausality b1 effort_into c[1].r\ninit c[2].m.q = 3",
    );
    assert_eq!(all.len(), 4);
}

#[test]
fn windows_and_old_line_ends() {
    for end in ["\r\n", "\r", "\n"] {
        let text = ["model m {", "R a = 1 // comment", "R b = 2", "}", ""].join(end);
        assert_eq!(good(&text).models[0].statements.len(), 2);
    }
    assert_eq!(good("\u{FEFF}model m { }").models.len(), 1);
}

#[test]
fn spans_lie_on_the_original_text() {
    let text = "model m { param µ = 2; R r = µ }";
    let file = good(text);
    let Statement::Param(param) = &file.models[0].statements[0] else { panic!() };
    assert_eq!(param.name.text, "μ");
    assert_eq!(&text[param.name.span.start as usize..param.name.span.end as usize], "µ");
    assert_eq!(&text[param.span.start as usize..param.span.end as usize], "param µ = 2");
}

#[test]
fn declarations_with_mistakes_keep_their_names() {
    let text = "model m(param k = ) {\nparam a = \noutput y = 2 *\nR r = (1\nC c { e = }\nuse cell x(3)\n}\n";
    let file = parse(text, FileId(0)).file;
    assert_eq!(file.models[0].header[0].name.text, "k");
    let names: Vec<&str> = file.models[0]
        .statements
        .iter()
        .map(|statement| match statement {
            Statement::Param(param) => param.name.text.as_str(),
            Statement::Output(output) => output.name.text.as_str(),
            Statement::Element(element) => element.name.text.as_str(),
            Statement::Use(instance) => instance.name.text.as_str(),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(names, ["a", "y", "r", "c", "x"]);
}
