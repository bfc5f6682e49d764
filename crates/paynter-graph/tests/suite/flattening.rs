//! From text to one flat graph: names, values, units, submodels, arrays, bonds.

#![allow(clippy::unwrap_used, clippy::panic)]

use crate::common;

use common::{Checked, check, check_set, check_world, model};
use paynter_base::MemoryWorld;
use paynter_graph::{Kind, Law, Value, Variable, flat_name};

/// The exact value of an independent parameter.
fn value(found: &Checked, name: &str) -> String {
    let parameter = found.graph().parameters.iter().find(|p| p.name == name);
    let Value::Written(value) = parameter.unwrap_or_else(|| panic!("no parameter {name}")).value else {
        panic!("{name} is not written in the model")
    };
    found.show(value)
}

/// The definition of a derived parameter.
fn derived(found: &Checked, name: &str) -> String {
    let parameter = found.graph().derived.iter().find(|p| p.name == name);
    found.show(parameter.unwrap_or_else(|| panic!("no derived parameter {name}")).value)
}

/// `= value` of an element.
fn law(found: &Checked, element: &str) -> String {
    match &found.element(element).law {
        Law::Value(value) => found.show(*value),
        other => panic!("{other:?}"),
    }
}

/// `name: from -> to` of every bond.
fn bonds(found: &Checked) -> Vec<String> {
    let graph = found.graph();
    let name = |end: paynter_graph::End| &graph.element(end.element).name;
    graph.bonds.iter().map(|b| format!("{}: {} -> {}", b.name, name(b.from), name(b.to))).collect()
}

/// Parameters of a small model, all of them used.
fn params(declarations: &str, names: &[&str]) -> Checked {
    let outputs: Vec<String> = names.iter().map(|name| format!("output o_{name} = {name}")).collect();
    let found = model(&format!("{declarations}\n{}\nSe s = 1; R r = 1; s -> r", outputs.join("; ")));
    assert_eq!(found.codes(), [""; 0], "{:#?}", found.findings());
    found
}

// ---- values and units ----

#[test]
fn units_scale_exactly() {
    let cases = [
        ("5 [mH]", "1/200"),
        ("1 [bar]", "100000"),
        ("60 [rpm]", "2*pi"),
        ("180 [deg]", "pi"),
        ("1 [min]", "60"),
        ("2 [km/h]", "5/9"),
        ("3 [l/min]", "1/20000"),
        ("1 [µF]", "1/1000000"),
        ("1 [uF]", "1/1000000"),
        ("2 [cm^2]", "1/5000"),
        ("4 [kg*m^2]", "4"),
        ("7 [g]", "7/1000"),
        ("1 [mm^3]", "1/1000000000"),
        ("3 [1/min]", "1/20"),
        ("50 [%]", "1/2"),
        ("1e-3 [N*m*s/rad]", "1/1000"),
        ("0.1 [kΩ]", "100"),
        ("1 [dam]", "10"),
        ("2 [Pa]", "2"),
        ("3 [h]", "10800"),
    ];
    for (text, expected) in cases {
        let found = params(&format!("param x = {text}"), &["x"]);
        assert_eq!(value(&found, "x"), expected, "{text}");
    }
}

#[test]
fn an_exact_symbol_wins_over_prefix_and_symbol() {
    // `min` is a minute and not a milli-inch, `Pa` no peta-ampere, `cd` no centi-day, `mol` no milli-ol.
    let found = params(
        "param a = 1 [min]; param b = 1 [Pa]; param c = 1 [cd]; param d = 1 [mol]; param e = 1 [T]",
        &["a", "b", "c", "d", "e"],
    );
    assert_eq!(["a", "b", "c", "d", "e"].map(|name| value(&found, name)), ["60", "1", "1", "1", "1"]);
}

#[test]
fn a_unit_after_quantities_is_checked_and_scales_nothing() {
    let found = params(
        "param a = 30 [deg]; param b = 2*a [deg]; param n = 3; param D = 20 [mm]; param L = n*D [mm]; param sum = D + D [cm]",
        &["b", "L", "sum"],
    );
    assert_eq!(derived(&found, "b"), "2*a");
    assert_eq!(derived(&found, "L"), "D*n");
    assert_eq!(derived(&found, "sum"), "2*D");
    let found = model("param D = 20 [mm]; param A = D*D [m]; Se s = A; R r = 1; s -> r");
    assert_eq!(found.codes()[0], "BG0302");
}

#[test]
fn a_unit_after_numbers_and_unitless_parameters_is_theirs() {
    let found = params(
        "param n = 3; param L = 2*n [mH]; param x = 1 [m]; param y = 2 [m]; param k = 5*x/y [mH]; param s0 = 5*sin(x/y) [mH]",
        &["L", "k", "s0"],
    );
    assert_eq!(derived(&found, "L"), "n/500");
    assert_eq!(derived(&found, "k"), "x/(200*y)");
    assert_eq!(derived(&found, "s0"), "sin(x/y)/200");
}

#[test]
fn tolerances_and_bounds_are_in_the_unit_of_their_parameter() {
    let found = params(
        "param a = 10 [mm] ±10% in [5, 20]; param b = 10 [mm] ±2; param c = 4 +-0.5",
        &["a", "b", "c"],
    );
    let parameters = &found.graph().parameters;
    assert_eq!(parameters[0].tolerance, Some(paynter_graph::Tolerance::Relative(0.1)));
    assert_eq!(parameters[0].bounds, Some((0.005, 0.02)));
    assert_eq!(parameters[1].tolerance, Some(paynter_graph::Tolerance::Absolute(0.002)));
    assert_eq!(parameters[2].tolerance, Some(paynter_graph::Tolerance::Absolute(0.5)));
}

#[test]
fn derived_parameters_are_expanded_into_independent_ones() {
    let found = params(
        "param k = G*d^4/(8*D^3*n); param G = 8e10; param d = 2e-3; param D = d*10; param n = 10",
        &["k"],
    );
    assert_eq!(found.graph().parameters.iter().map(|p| p.name.as_str()).collect::<Vec<_>>(), ["G", "d", "n"]);
    assert_eq!(derived(&found, "D"), "10*d");
    assert_eq!(derived(&found, "k"), "G*d/(8000*n)");
}

#[test]
fn outputs_keep_their_unit_and_stay_in_si() {
    let found = model("Se s = 5 ; R r = 1; s -> r; output w = r.f [rpm]; output v = 2*r.e");
    let outputs = &found.graph().outputs;
    assert_eq!(found.show(outputs[0].value), "r.f");
    assert_eq!(outputs[0].unit.as_ref().unwrap().text, "rpm");
    assert!((outputs[0].unit.as_ref().unwrap().factor - std::f64::consts::PI / 30.0).abs() < 1e-15);
    assert_eq!(found.show(outputs[1].value), "2*r.e");
}

#[test]
fn inputs_have_a_signal_or_zero() {
    let found = model(
        "input a; input b = 2*sin(t) [kV]; input c = step(1) + pulse(2, 3); Se x = a; Se y = b; Se z = c; 1 j; R r = 1; x -> j; y -> j; z -> j; j -> r",
    );
    let shown: Vec<String> = found.graph().inputs.iter().map(|input| found.show(input.value)).collect();
    assert_eq!(shown, ["0", "2000*sin(t)", "if(t >= 1, 1, 0) + if(t >= 2 and t < 3, 1, 0)"]);
}

// ---- settings ----

#[test]
fn settings_replace_values_in_the_declared_unit_or_their_own() {
    let text = "model m { param L = 5 [mH]; param D = 2*L; input E = 12 [V]; Se s = E; 1 j; I l = L; R r = D; s -> j; j -> l, r }";
    assert_eq!(value(&check_set(text, &[("L", "7")]), "L"), "7/1000");
    assert_eq!(value(&check_set(text, &[("L", "7 [H]")]), "L"), "7");
    // A derived parameter becomes independent.
    assert_eq!(value(&check_set(text, &[("D", "3")]), "D"), "3");
    let found = check_set(text, &[("E", "5*t")]);
    assert_eq!(found.show(found.graph().inputs[0].value), "5*t");
}

#[test]
fn settings_reach_into_submodels_and_structure() {
    let text = "model cell(param m = 1) { port a; I i = m; a -> i }
        model top { param N = 2; use cell c[1..N]; Se s = 1; 0 j; s -> j; for i in 1..N { j -> c[i].a } }";
    let found = check_set(text, &[("c[2].m", "5")]);
    assert_eq!((value(&found, "c[1].m"), value(&found, "c[2].m")), ("1".to_owned(), "5".to_owned()));
    assert_eq!(value(&check_set(text, &[("c_2.m", "6")]), "c[2].m"), "6");
    let found = check_set(text, &[("N", "7")]);
    assert_eq!(found.graph().elements.len(), 2 + 7);
}

#[test]
fn every_bad_setting_is_told() {
    let text = "model m { param Ra = 1; Se s = 1; R r = Ra; s -> r }";
    let found = check_set(text, &[("Rb", "1"), ("nothing", "2"), ("Ra", "x")]);
    assert_eq!(found.codes(), ["BG0906"; 3]);
    assert!(found.diagnostics.iter().any(|d| d.help.to_string().contains("did you mean `Ra`")));
}

// ---- submodels and arrays ----

const LINE: &str = "model section(param L = 1, param C = 2 [mF]) {
        port left; port right
        1 j; I l = L; 0 n; C c = C
        left -> j; j -> l; j -> n; n -> c; n -> right
    }
    model pair { port left; port right; use section x; use section y(L = 3); left -> x.left; x.right -> y.left; y.right -> right }
    model line { param L0 = 4; Se s = 1; R end = 1; use pair p(); use section z[1..2](L = L0, C = 5); s -> p.left; p.right -> z[1].left; z[1].right -> z[2].left; z[2].right -> end }";

#[test]
fn names_tell_where_an_element_is() {
    let found = check(LINE);
    let names: Vec<&str> = found.graph().elements.iter().map(|e| e.name.as_str()).collect();
    assert_eq!(names[..6], ["s", "end", "p.x.j", "p.x.l", "p.x.n", "p.x.c"]);
    assert_eq!(names[10..], ["z[1].j", "z[1].l", "z[1].n", "z[1].c", "z[2].j", "z[2].l", "z[2].n", "z[2].c"]);
    assert_eq!(flat_name("z[1].l"), "z_1.l");
    let z = found.graph().elements.iter().position(|e| e.name == "z[2].l").unwrap() as u32;
    assert_eq!(found.graph().state_name(paynter_graph::ElementId(z), 0), "z_2.l.p");
}

#[test]
fn header_parameters_are_independent_by_numbers_and_derived_by_expressions() {
    let found = check(LINE);
    // Bound to a number or left at the default: a parameter of its own.
    assert_eq!(value(&found, "p.x.L"), "1");
    assert_eq!(value(&found, "p.y.L"), "3");
    assert_eq!(value(&found, "p.x.C"), "1/500");
    // A plain number takes the unit that the header declares.
    assert_eq!(value(&found, "z[1].C"), "1/200");
    // Bound to an expression: that expression.
    assert_eq!(derived(&found, "z[1].L"), "L0");
    assert_eq!(law(&found, "z[2].l"), "L0");
}

#[test]
fn ports_join_bonds_through_two_levels() {
    let found = check(LINE);
    let all = bonds(&found);
    assert_eq!(all.len(), 1 + 4 * 3 + 3 + 1);
    for expected in ["s -> p.x.j", "p.x.n -> p.y.j", "p.y.n -> z[1].j", "z[1].n -> z[2].j", "z[2].n -> end"] {
        assert!(all.iter().any(|bond| bond.ends_with(expected)), "{expected} in {all:#?}");
    }
    assert_eq!(all[0], "b1: s -> p.x.j");
}

#[test]
fn a_port_passes_straight_through() {
    let found = check(
        "model wire { port a; port b; a -> b }\nmodel top { use wire w; use wire v; Se s = 1; R r = 1; s -> w.a; w.b -> v.a; v.b -> r }",
    );
    assert_eq!(bonds(&found), ["b1: s -> r"]);
}

#[test]
fn an_empty_range_makes_a_chain_of_one() {
    let chain = |n: u32| {
        check(&format!("model cell {{ port a; port b; 1 j; I i = 1; a -> j; j -> i; j -> b }}
            model top {{ param N = {n}; use cell c[1..N]; Se s = 1; R r = 1; s -> c[1].a; for i in 1..N-1 {{ c[i].b -> c[i+1].a }}; c[N].b -> r }}"))
    };
    assert_eq!(chain(1).graph().elements.len(), 4);
    assert_eq!(chain(4).graph().elements.len(), 10);
    let none = check(
        "model cell { Se s = 1; R r = 1; s -> r }\nmodel top { use cell c[1..0]; Se s = 1; R r = 1; s -> r }",
    );
    assert_eq!(none.graph().elements.len(), 2);
    assert!(chain(0).codes().contains(&"BG0206"), "there is no first cell");
}

#[test]
fn loops_nest_and_compute_indices() {
    let found = check("model node { port a; 0 j; C c = 1; a -> j; j -> c }
        model top { use node n[0..8]; 0 bus; Se s = 1; s -> bus; for i in 0..2 { for j in 0..2 { bus -> n[3*i+j].a; init n[3*i+j].c.q = 10*i + j } } }");
    assert_eq!(found.graph().bonds.len(), 1 + 9 + 9);
    let last = found.element("n[7].c");
    assert_eq!(found.show(last.initial[0].1), "21");
}

#[test]
fn structural_parameters_are_whole_numbers_without_sensitivities() {
    let found = check("model f(param n = 2) { port a; C c[n] { e1 = q1 - q2; e2 = q2 - q1 }; 0 j; a -> c.1; c.2 -> j; R r = 1; j -> r }
        model top { param k = 1; param N = k + 1; use f x(n = N); Se s = 1; s -> x.a }");
    assert_eq!(found.graph().parameters.len(), 0, "N, k and x.n only shape the graph");
    assert_eq!(found.element("x.c").ports.len(), 2);
}

#[test]
fn an_element_may_be_called_as_a_member_that_does_not_exist() {
    let text = |name: &str| {
        format!(
            "model cell {{ port a; I i = 1; a -> i }}\nmodel top {{ use cell c[1..2]; 0 {name}; Se s = 1; s -> {name}; {name} -> c[1].a, c[2].a }}"
        )
    };
    check(&text("c_0")).graph();
    assert_eq!(check(&text("c_2")).codes(), ["BG0202"]);
}

#[test]
fn elements_and_values_have_names_of_their_own() {
    let found = model(
        "param R = 2; param C = 3; Se s = 1; 1 j; R R = R; C C = C; s -> j; j -> R, C; output y = R.f + C.q + R",
    );
    assert_eq!(law(&found, "R"), "R");
    assert_eq!(found.show(found.graph().outputs[0].value), "C.q + R + R.f");
}

#[test]
fn values_of_submodels_can_be_read() {
    let found = check(
        "model sub { port a; param k = 2; signal v = 3*r.e; R r = k; a -> r; output w = r.f }
        model top { use sub x; Se s = 1; s -> x.a; output a = x.v; output b = x.k; output c = x.r.f }",
    );
    let outputs: Vec<(&str, String)> =
        found.graph().outputs.iter().map(|o| (o.name.as_str(), found.show(o.value))).collect();
    assert!(outputs.contains(&("a", "x.v".to_owned())), "{outputs:?}");
    assert!(outputs.contains(&("b", "x.k".to_owned())), "{outputs:?}");
    assert!(outputs.contains(&("x.w", "x.r.f".to_owned())), "{outputs:?}");
}

// ---- bonds and ports ----

#[test]
fn bonds_are_numbered_in_text_order_unless_named() {
    let found = model("Se s = 1; 1 j; R a = 1; R b = 1; R c = 1; s -> j as feed; j -> a, b; j -> c");
    assert_eq!(bonds(&found), ["feed: s -> j", "b1: j -> a", "b2: j -> b", "b3: j -> c"]);
    // A number never takes the name of an element, or `b1.e` would mean two things.
    let found = model("Se s = 1; 1 j; 0 b1; R b = 1; s -> j; j -> b1; b1 -> b");
    assert_eq!(bonds(&found), ["b2: s -> j", "b3: j -> b1", "b4: b1 -> b"]);
}

#[test]
fn bonds_inside_submodels_bear_their_path() {
    let found = check(
        "model sub { port a; 1 j; R r = 1; a -> j as in; j -> r as out }\nmodel top { use sub x; Se s = 1; s -> x.a; output y = x.out.e }",
    );
    assert_eq!(bonds(&found), ["x.in: s -> x.j", "x.out: x.j -> x.r"]);
    assert_eq!(found.show(found.graph().outputs[0].value), "x.r.e");
}

#[test]
fn arrows_place_the_ports_of_two_ports() {
    let ports = |statements: &str| {
        let found = model(&format!("Se s = 1; R r = 1; TF g = 2; {statements}"));
        let g = found.element("g");
        let graph = found.graph();
        let here = graph.elements.iter().position(|e| e.name == "g").unwrap() as u32;
        let other = |k: usize| {
            let bond = graph.bond(g.ports[k].bond);
            let end = if bond.from.element.0 == here { bond.to } else { bond.from };
            graph.element(end.element).name.clone()
        };
        (other(0), other(1), g.ports[0].into, g.ports[1].into)
    };
    let expect = |a: &str, b: &str, x, y| (a.to_owned(), b.to_owned(), x, y);
    assert_eq!(ports("s -> g -> r"), expect("s", "r", true, false));
    assert_eq!(ports("r -> g; g -> s"), expect("r", "s", true, false));
    assert_eq!(ports("s -> g.2; g.1 -> r"), expect("r", "s", false, true));
    // With one port named the other follows, whatever the arrows.
    assert_eq!(ports("s -> g.1; r -> g"), expect("s", "r", true, true));
    assert_eq!(ports("g -> s; g.1 -> r"), expect("r", "s", false, false));
}

#[test]
fn ambiguous_two_ports_are_refused() {
    assert_eq!(model("Se s = 1; R r = 1; TF g = 2; s -> g; r -> g").codes(), ["BG0404"]);
    assert_eq!(model("Se s = 1; R r = 1; GY g = 2; g -> s, r").codes(), ["BG0404"]);
}

#[test]
fn variables_count_along_the_arrow() {
    let found = model(
        "Se s = 1; 0 j; R a = 1; R b = 1; s -> j; j -> a; b -> j as back; output u = a.f; output v = b.f; output w = back.f; output x = j.e",
    );
    let graph = found.graph();
    let meaning = |k: usize| graph.variables.meaning(found.pool.as_symbol(graph.outputs[k].value).unwrap());
    assert_eq!(meaning(1), meaning(2));
    assert_eq!(meaning(0), Some(Variable::Flow(found.bond("a"))));
    assert!(matches!(meaning(3), Some(Variable::Effort(_))));
    assert!(!found.element("b").ports[0].into);
}

// ---- signals, tables, initial states ----

#[test]
fn an_integral_is_a_state_with_the_signals_own_name() {
    let found = model(
        "param x0 = 2; signal x = integral(r.f, x0); signal y = 3*x + integral(x, 1) + integral(y2); signal y2 = 1; Se s = 1; R r = 1; s -> r; output o = y",
    );
    let graph = found.graph();
    let names: Vec<&str> = graph.integrators.iter().map(|i| i.name.as_str()).collect();
    assert_eq!(names, ["x", "y.integral", "y.integral2"]);
    assert_eq!(found.show(graph.integrators[0].rate), "r.f");
    assert_eq!(found.show(graph.integrators[0].initial), "x0");
    assert_eq!(found.show(graph.integrators[1].rate), "x");
    assert_eq!(found.show(graph.integrators[2].initial), "0");
    assert_eq!(found.show(graph.signals[0].value), "3*x + y.integral + y.integral2");
}

#[test]
fn initial_states_stand_in_braces_or_apart() {
    let found = model(
        "param q0 = 2; C a { e = q; init q = q0 }; C b = 1; I c[2] { f1 = p1; f2 = p2; init p2 = 5 }; init b.q = 2*q0; init c.p1 = 4; 0 j; R r = 1; j -> a, b, r, c.1, c.2",
    );
    let initial = |name: &str| {
        found
            .element(name)
            .initial
            .iter()
            .map(|(port, value, _)| (*port, found.show(*value)))
            .collect::<Vec<_>>()
    };
    assert_eq!(initial("a"), [(0, "q0".to_owned())]);
    assert_eq!(initial("b"), [(0, "2*q0".to_owned())]);
    assert_eq!(initial("c"), [(1, "5".to_owned()), (0, "4".to_owned())]);
}

#[test]
fn tables_are_found_from_the_file_that_names_them() {
    let world = MemoryWorld::new()
        .with("main.bg", "import \"parts/pump.bg\"\nmodel top { input u = table(\"data.csv\", u); Se s = u; use pump p; R r = 1; 1 j; s -> j; j -> p.a; j -> r }")
        .with("parts/pump.bg", "model pump { port a; input w = table(\"pump.csv\", \"speed\"); Sf q = w; a -> q }");
    let found = check_world(world, "main.bg", &[]);
    let tables: Vec<(&str, &str)> =
        found.graph().tables.iter().map(|t| (t.path.as_str(), t.column.as_str())).collect();
    assert_eq!(tables, [("data.csv", "u"), ("parts/pump.csv", "speed")]);
}

#[test]
fn tables_outside_the_folder_tree_are_refused() {
    for path in ["/etc/passwd", "../data.csv", "a/../../data.csv", "c:\\\\data.csv"] {
        let found = model(&format!("input u = table(\"{path}\", x); Se s = u; R r = 1; s -> r"));
        assert_eq!(found.codes(), ["BG0210"], "{path}");
    }
}

#[test]
fn laws_know_which_variable_they_are_solved_for() {
    let found =
        model("Se s = 1; 1 j; C c { e = 3*q }; R r { f = e/2 }; I l { p^3 = f }; s -> j; j -> c, r, l");
    let solved = |name: &str| match &found.element(name).law {
        Law::Equations(list) => list[0].solved_for,
        other => panic!("{other:?}"),
    };
    let locals = &found.graph().locals;
    assert_eq!(solved("c"), Some(locals.e[0]));
    assert_eq!(solved("r"), Some(locals.f[0]));
    assert_eq!(solved("l"), Some(locals.f[0]));
    assert_eq!(found.element("l").kind, Kind::I);
}

#[test]
fn locals_shadow_outer_names_only_in_braces() {
    let found = model(
        "param q = 2; param f1 = 3; Se s = 1; 1 j; C c { e = q }; R r = q*f1; R d { e = f1*f }; s -> j; j -> c, r, d",
    );
    assert_eq!(law(&found, "r"), "f1*q");
    match &found.element("c").law {
        Law::Equations(list) => assert_ne!(
            found.pool.as_symbol(list[0].right),
            found.graph().variables.symbol(Variable::Parameter(0))
        ),
        other => panic!("{other:?}"),
    }
}

#[test]
fn domains_follow_from_units_and_cross_transducers() {
    use paynter_graph::domain::Domain;
    let found = model(
        "param E = 1 [V]; param k = 2 [N*m/A]; Se s = E; 1 a; R r = 1; GY m = k; 1 b; I rotor = 1; s -> a; a -> r; a -> m -> b; b -> rotor",
    );
    assert_eq!(found.element("r").ports[0].domain, Some(Domain::Electrical));
    assert_eq!(found.element("rotor").ports[0].domain, Some(Domain::Rotation));
    let found = check(
        "model tube { port a [acoustic]; R r = 1; a -> r }\nmodel top { use tube x; Se s = 1; s -> x.a }",
    );
    assert_eq!(found.element("s").ports[0].domain, Some(Domain::Acoustic));
}

#[test]
fn a_field_of_one_port_may_number_its_variables() {
    let found =
        model("param n = 1; C c[n] { e1 = 2*q1; init q1 = 3 }; R r = 1; c.1 -> r; output y = c.q1 + c.e1");
    assert_eq!(
        found.show(found.graph().outputs[0].value),
        "c.q + r.e",
        "the bond is named after the element its arrow points to"
    );
    assert_eq!(found.show(found.element("c").initial[0].1), "3");
}

#[test]
fn stored_energy_is_checked_however_the_law_is_written() {
    let field = |laws: &str| model(&format!("C c[2] {{ {laws} }}; R a = 1; R b = 1; c.1 -> a; c.2 -> b"));
    for sound in
        ["e1 = 2*q1 + q2; e2 = q1 + 2*q2", "q1 = 2*e1 + e2; q2 = e1 + 2*e2", "e1 = q1*q2^2; e2 = q1^2*q2"]
    {
        assert!(!field(sound).codes().iter().any(|code| code.starts_with("BG04")), "{sound}");
    }
    for one_sided in ["e1 = 2*q1 + q2; e2 = 2*q2", "q1 = 2*e1 + e2; q2 = 2*e2", "e1 = q1*q2; e2 = q1*q2"] {
        assert!(field(one_sided).codes().contains(&"BG0408"), "{one_sided}");
    }
    assert!(field("e1 = q1 + 2*q2; e2 = 2*q1 + q2").codes().contains(&"BG0409"));
    assert!(model("C c { e = -3*q }; R r = 1; c -> r").codes().contains(&"BG0409"));
}

#[test]
fn a_parameter_may_be_an_index() {
    let found = check(
        "model cell { port a; I i = 1; a -> i }\nmodel top { param mid = 2; use cell c[1..3]; 0 j; Se s = 1; s -> j; for k in 1..3 { j -> c[k].a }; init c[mid].i.p = 5; output y = c[mid].i.f + c[mid+1].i.f }",
    );
    assert_eq!(found.show(found.graph().outputs[0].value), "c_2.i.f + c_3.i.f");
    assert_eq!(found.element("c[2].i").initial.len(), 1);
}

#[test]
fn the_one_of_a_reciprocal_is_a_pure_number() {
    let found = params("param n = 4; param L = 1/n [mH]; param k = 100 [N/m]", &["L", "k"]);
    assert_eq!(derived(&found, "L"), "1/(1000*n)", "nothing here has a unit, so the unit is the value's own");
    let spring = |unit: &str| {
        model(&format!(
            "param k = 100 [{unit}]; param F = 1 [N]; Se s = F; 1 j; R r = 1; C c = 1/k; s -> j; j -> r, c"
        ))
    };
    assert_eq!(spring("N/m").codes(), [""; 0]);
    assert_eq!(spring("V/C").codes(), ["BG0303"]);
}

/// A library lends what it has: values and bonds that only a use would give are not missed.
#[test]
fn unused_submodels_are_judged_by_their_text_alone() {
    const LIBRARY: &str = "model cell(param m, param k [N/m]) { port left; port right; 1 j; 0 n; I mass = m; C spring = 1/k
            left -> j -> n -> right; j -> mass; n -> spring; output v = mass.f [m/s] }
        model chain(param N, param m0 = 2 [kg]) { port in; Sf stop = 0; use cell c[1..N](m = m0, k = 3)
            in -> c[1].left; for i in 1..N-1 { c[i].right -> c[i+1].left }; stop -> c[N].right; init c[2].mass.p = 1 }
        model field(param a) { port p [electrical]; param b = sqrt(a - 3); C q[2] = [[a, b], [b, a]]; 0 n
            p -> n -> q.1; Se s = 1; s -> q.2 }
        model other { input u; Se s = u; R r = 2; s -> r; output y = table(\"x.csv\", z) }
        model main { Se a = 1; R b = 2; a -> b }";
    let found = check(LIBRARY);
    assert!(!found.diagnostics.has_errors(), "{:?}", found.diagnostics);
    for (right, wrong) in
        [("1/k", "1/kk"), ("k = 3)", "k = sin(3, 1))"), ("n -> q.1", "n -> q.x"), ("R r = 2", "R r")]
    {
        let found = check(&LIBRARY.replace(right, wrong));
        assert_eq!(
            found.diagnostics.iter().filter(|d| d.is_error()).count(),
            1,
            "{wrong}: {:?}",
            found.diagnostics
        );
    }
}
