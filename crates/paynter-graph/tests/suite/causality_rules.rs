//! Each rule of causality on the smallest graph that needs it.

#![allow(clippy::unwrap_used, clippy::panic)]

use crate::common;

use common::{check, model};

// ---- mandatory ----

#[test]
fn an_effort_source_gives_effort_whatever_the_arrow() {
    model("Se s = 1; R r = 2; s -> r").efforts(&[("s", "r")]);
    model("Se s = 1; R r = 2; r -> s").efforts(&[("s", "r")]);
}

#[test]
fn a_flow_source_takes_effort_whatever_the_arrow() {
    model("Sf s = 1; R r = 2; s -> r").efforts(&[("s", "s")]);
    model("Sf s = 1; R r = 2; r -> s").efforts(&[("s", "s")]);
}

#[test]
fn an_effort_detector_takes_effort_and_a_flow_detector_gives_it() {
    model("Se s = 1; 0 j; R r = 2; De v; s -> j; j -> r, v").efforts(&[("v", "v")]);
    model("Sf s = 1; 1 j; R r = 2; Df a; s -> j; j -> r, a").efforts(&[("a", "j")]);
}

#[test]
fn the_thermal_port_of_an_rs_takes_the_temperature() {
    let found = model("Sf s = 1; RS r = 2; 0 t; C body = 5; s -> r -> t as heat; t -> body");
    assert_eq!(found.codes(), ["BG0406"], "a name for two bonds");
    let found = model("Sf s = 1; RS r = 2; 0 t; C body = 5; s -> r; r -> t as heat; t -> body");
    found.efforts(&[("s", "s"), ("heat", "r"), ("body", "t")]);
}

#[test]
fn an_rs_between_flow_sources_has_no_temperature() {
    let found = model("Sf s = 1; RS r = 2; Sf sink = 3; s -> r -> sink");
    let conflict = found.finding("BG0501");
    assert!(conflict.message.contains("`r`") && conflict.message.contains("`sink`"), "{}", conflict.message);
}

#[test]
fn a_switch_that_opens_takes_effort() {
    model("Se s = 1; Sw w when (t > 1) { Ron = 1 }; s -> w").efforts(&[("w", "w")]);
    let found = model("Sf s = 1; Sw w when (t > 1) { Ron = 1 }; s -> w");
    let conflict = found.finding("BG0501");
    assert!(conflict.message.contains("`s`") && conflict.message.contains("`w`"), "{}", conflict.message);
}

#[test]
fn a_switch_that_leaks_has_either_causality() {
    model("Se s = 1; Sw w when (t > 1) { Ron = 1; Goff = 0.1 }; s -> w").efforts(&[("w", "w")]);
    model("Sf s = 1; Sw w when (t > 1) { Ron = 1; Goff = 0.1 }; s -> w").efforts(&[("w", "s")]);
}

#[test]
fn an_inertia_behind_an_open_switch_is_an_error_whose_remedy_is_goff() {
    let body = |switch: &str| {
        format!(
            "Se s = 1; 1 j; TF g = 2; 1 k; I coil = 2; Sw w when (t > 1) {{ {switch} }}; s -> j; j -> w; j -> g -> k; k -> coil"
        )
    };
    let found = model(&body("Ron = 1"));
    let error = found.finding("BG0509");
    assert!(error.message.contains("`w`") && error.message.contains("`coil`"), "{}", error.message);
    assert!(error.help.to_string().contains("Goff"), "{}", error.help);
    let found = model(&body("Ron = 1; Goff = 1e-6"));
    assert_eq!(found.dependent(), [""; 0]);
}

// ---- storages and resistors ----

#[test]
fn storages_take_integral_causality() {
    model("Se s = 1; 1 j; R r = 1; C c = 1; s -> j; j -> r, c").efforts(&[("c", "j"), ("r", "r")]);
    model("Sf s = 1; 0 j; R r = 1; I l = 1; s -> j; j -> r, l").efforts(&[("l", "l"), ("r", "j")]);
    // The arrow does not matter.
    model("Se s = 1; 1 j; R r = 1; C c = 1; s -> j; r -> j; c -> j").efforts(&[("c", "j"), ("r", "r")]);
}

#[test]
fn a_resistor_serves_either_causality() {
    model("Se s = 1; R r = 1; s -> r").efforts(&[("r", "r")]);
    model("Sf s = 1; R r = 1; s -> r").efforts(&[("r", "s")]);
}

#[test]
fn a_zero_junction_has_one_bond_that_brings_effort() {
    // One brings it, the others take it.
    model("Se s = 1; 0 j; R a = 1; R b = 1; s -> j; j -> a, b").efforts(&[
        ("s", "j"),
        ("a", "a"),
        ("b", "b"),
    ]);
    // All others take it, so the last must bring it.
    model("Sf s = 1; Sf u = 1; 0 j; R a = 1; s -> j; u -> j; j -> a").efforts(&[
        ("s", "s"),
        ("u", "u"),
        ("a", "j"),
    ]);
}

#[test]
fn a_one_junction_has_one_bond_that_brings_flow() {
    model("Sf s = 1; 1 j; R a = 1; R b = 1; s -> j; j -> a, b").efforts(&[
        ("s", "s"),
        ("a", "j"),
        ("b", "j"),
    ]);
    model("Se s = 1; Se u = 1; 1 j; R a = 1; s -> j; u -> j; j -> a").efforts(&[
        ("s", "j"),
        ("u", "j"),
        ("a", "a"),
    ]);
}

#[test]
fn a_transformer_passes_effort_through() {
    model("Se s = 1; TF g = 2; R r = 1; s -> g as x; g -> r as y").efforts(&[("x", "g"), ("y", "r")]);
    model("Sf s = 1; TF g = 2; R r = 1; s -> g as x; g -> r as y").efforts(&[("x", "s"), ("y", "g")]);
}

#[test]
fn a_gyrator_turns_effort_back() {
    model("Se s = 1; GY g = 2; R r = 1; s -> g as x; g -> r as y").efforts(&[("x", "g"), ("y", "g")]);
    model("Sf s = 1; GY g = 2; R r = 1; s -> g as x; g -> r as y").efforts(&[("x", "s"), ("y", "r")]);
}

#[test]
fn decisions_run_through_chains_of_two_ports() {
    let found = model(
        "Se s = 1; TF a = 2; GY b = 3; TF c = 4; GY d = 5; R r = 1; s -> a as w; a -> b as x; b -> c as y; c -> d as z; d -> r",
    );
    found.efforts(&[("w", "a"), ("x", "b"), ("y", "b"), ("z", "c"), ("r", "r")]);
    // A ring of two-ports that touches nothing may have either causality, and is singular or not by its moduli.
    let ring = model("TF a = 2; TF b = 3; a -> b; b -> a; Se s = 1; R r = 1; s -> r");
    assert_eq!(ring.codes().iter().filter(|code| **code == "BG0501").count(), 0, "{:?}", ring.findings());
}

#[test]
fn elements_bonded_without_a_junction_get_what_the_stronger_asks() {
    model("C c = 1; R r = 1; c -> r").efforts(&[("r", "r")]);
    model("I l = 1; R r = 1; l -> r").efforts(&[("r", "l")]);
    let found = model("C c = 1; I l = 1; c -> l");
    assert_eq!(found.dependent(), [""; 0]);
    let found = model("C c = 1; C d = 1; c -> d");
    assert_eq!(found.dependent().len(), 1);
}

#[test]
fn a_junction_with_one_bond_has_no_choice() {
    // A 0 with one bond lets no flow through, a 1 no effort.
    model("0 j; Se s = 1; s -> j").efforts(&[("s", "j")]);
    model("1 j; Sf s = 1; s -> j").efforts(&[("s", "s")]);
    let found = model("0 j; Sf s = 1; s -> j");
    found.finding("BG0501");
}

// ---- fields ----

#[test]
fn a_field_may_be_integral_in_part() {
    let found = model("Se s = 1; C c[2] = [[2, 1], [1, 3]]; 0 j; R r = 1; s -> c.1; c.2 -> j; j -> r");
    assert_eq!(found.dependent(), ["c.q1"]);
    assert_eq!(found.causality().order, 1);
    assert_eq!(found.causality().index, 2);
}

#[test]
fn heat_conduction_takes_the_temperatures() {
    let found =
        model("C a = 2; C b = 3; R h[2] { f1 = 5*(e1-e2)/e1; f2 = -5*(e1-e2)/e2 }; a -> h.1; b -> h.2");
    found.efforts(&[("a", "h"), ("b", "h")]);
    assert_eq!(found.codes(), [""; 0]);
}

// ---- laws that cannot be turned round ----

#[test]
fn a_law_that_cannot_be_inverted_is_used_as_written() {
    for order in ["R a { e = f + f^3*sin(f)^2 }; R b = 1", "R b = 1; R a { e = f + f^3*sin(f)^2 }"] {
        let found = model(&format!("Se s = 1; 1 j; {order}; s -> j; j -> a, b"));
        found.efforts(&[("a", "j"), ("b", "b")]);
        assert!(!found.codes().contains(&"BG0506"), "{:?}", found.findings());
    }
}

#[test]
fn a_law_forced_against_its_direction_warns_and_is_kept() {
    let found = model("Se s = 1; R a { e = f + f^3*sin(f)^2 }; s -> a");
    found.efforts(&[("a", "a")]);
    assert_eq!(found.codes(), ["BG0506"]);
}

#[test]
fn a_law_the_algebra_inverts_leaves_causality_free() {
    model("Se s = 1; R a { e = 3*f^3 }; s -> a").efforts(&[("a", "a")]);
    let found = model("Sf s = 1; R a { f = tanh(e) + 2*tanh(e) }; s -> a");
    found.efforts(&[("a", "s")]);
}

#[test]
fn an_implicit_law_takes_part() {
    let found = model("Se s = 1; R a { e - 2*f^3 = 0 }; s -> a");
    found.efforts(&[("a", "a")]);
    assert_eq!(found.codes(), [""; 0]);
}

#[test]
fn one_way_laws_share_the_causality_that_suits_most() {
    // Both want to give effort, and one of three must give the flow: the plain resistor does.
    let laws = "R a { e = f + f^3*sin(f)^2 }; R b { e = 2*f + f^3*sin(f)^2 }; R c = 1";
    let found = model(&format!("Se s = 1; 1 j; {laws}; s -> j; j -> a, b, c"));
    found.efforts(&[("a", "j"), ("b", "j"), ("c", "c")]);
    assert!(!found.codes().contains(&"BG0506"));
}

// ---- what can vanish ----

#[test]
fn a_resistance_of_zero_gives_effort() {
    for order in ["R a = 0; R b = 1", "R b = 1; R a = 0"] {
        let found = model(&format!("Se s = 1; 1 j; {order}; s -> j; j -> a, b"));
        found.efforts(&[("a", "j"), ("b", "b")]);
        assert!(!found.codes().contains(&"BG0505"), "{:?}", found.findings());
    }
}

#[test]
fn a_storage_of_zero_is_no_storage() {
    // A coil without inductance neither integrates nor divides.
    let found = model("param L = 0; Se s = 1; 1 j; R r = 1; I coil = L; s -> j; j -> r, coil");
    found.efforts(&[("coil", "j"), ("r", "r")]);
    assert_eq!(found.causality().order, 0);
    assert!(!found.codes().contains(&"BG0505"), "{:?}", found.findings());
}

#[test]
fn a_resistance_that_can_vanish_prefers_not_to_be_divided_by() {
    for order in ["R a = sin(t); R b = 1", "R b = 1; R a = sin(t)"] {
        let found = model(&format!("Se s = 1; 1 j; {order}; s -> j; j -> a, b"));
        found.efforts(&[("a", "j"), ("b", "b")]);
        assert!(!found.codes().contains(&"BG0505"), "{:?}", found.findings());
    }
    // A tolerance that reaches zero counts as well.
    let found = model("param r = 1 ±2; Se s = 1; 1 j; R a = r; R b = 1; s -> j; j -> a, b");
    found.efforts(&[("a", "j"), ("b", "b")]);
}

#[test]
fn a_storage_is_integral_beside_a_resistance_that_can_vanish() {
    let found = model("Sf s = 1; 0 j; C c = 1; R a = sin(t); s -> j; j -> c, a");
    assert_eq!(found.dependent(), [""; 0]);
    assert_eq!(found.codes(), ["BG0505"]);
}

#[test]
fn a_crank_never_divides_at_its_dead_centre() {
    let elements = ["1 turning", "I rotor = 1", "MTF throw = 0.1*sin(theta)", "1 sliding", "I piston = 2"];
    let bonds = "turning -> rotor; turning -> throw as x; throw -> sliding as y; sliding -> piston";
    let mut reversed = elements;
    reversed.reverse();
    for order in [elements, reversed] {
        let found = model(&format!("signal theta = integral(rotor.f, 0); {}; {bonds}", order.join("; ")));
        // f2 = m f1 and e1 = m e2: the rotor's flow goes in at port 1, the piston's effort at port 2.
        found.efforts(&[("x", "turning"), ("y", "throw")]);
        assert_eq!(found.dependent(), ["piston.p"]);
        assert!(!found.codes().contains(&"BG0505"), "{:?}", found.findings());
    }
}

#[test]
fn a_gyrator_whose_field_can_vanish_takes_both_flows() {
    let found = model(
        "input field = 0; 1 a; 1 b; I coil = 1; I rotor = 1; Se s = 1; MGY m = field; R load = 1; s -> a; a -> coil; a -> m as x; m -> b as y; b -> rotor, load",
    );
    found.efforts(&[("x", "a"), ("y", "b")]);
    assert_eq!(found.dependent(), [""; 0]);
    assert!(!found.codes().contains(&"BG0505"), "{:?}", found.findings());
    // Without inertias the resistors must give the flows.
    let found = model(
        "input field = 0; 1 a; 1 b; R coil = 1; R load = 1; Se s = 1; MGY m = field; s -> a; a -> coil; a -> m as x; m -> b as y; b -> load",
    );
    found.efforts(&[("x", "a"), ("y", "b"), ("coil", "coil"), ("load", "load")]);
    assert!(!found.codes().contains(&"BG0505"), "{:?}", found.findings());
}

#[test]
fn a_forced_division_warns() {
    let found = model(
        "signal phi = integral(wheel.f, 1); I wheel = 0.2; 1 turning; MTF throw = sin(phi); Sf piston = 0.5; turning -> wheel; turning -> throw -> piston",
    );
    let warning = found.finding("BG0505");
    assert!(
        warning.message.contains("`throw`") && warning.message.contains("sin(phi)"),
        "{}",
        warning.message
    );
}

#[test]
fn a_modulus_whose_reciprocal_can_vanish_is_divided_by() {
    // The crank of a piston, drawn from either side: the piston depends on the wheel.
    let crank = |modulus: &str, through: &str| {
        model(&format!(
            "signal phi = integral(wheel.f, 1); I piston = 2; 1 sliding; MTF throw = {modulus}; 1 turning; I wheel = 0.2; \
             sliding -> piston; {through}; turning -> wheel"
        ))
    };
    for found in [
        crank("0.1*sin(phi)", "turning -> throw -> sliding"),
        crank("1/(0.1*sin(phi))", "sliding -> throw -> turning"),
    ] {
        assert_eq!(found.dependent(), ["piston.p"]);
        assert!(!found.codes().contains(&"BG0505"), "{:?}", found.findings());
    }
    // A gyrator whose reciprocal can vanish takes both efforts.
    let found = model(
        "input weakness = 0; 1 a; 1 b; C x = 1; C y = 1; MGY m = 1/weakness; a -> x; a -> m as p; m -> b as q; b -> y",
    );
    found.efforts(&[("p", "m"), ("q", "m")]);
}

#[test]
fn a_modulus_that_can_vanish_and_be_infinite_warns_either_way() {
    for (through, divisor) in
        [("turning -> throw -> sliding", "cos(phi)"), ("sliding -> throw -> turning", "sin(phi)")]
    {
        let found = model(&format!(
            "signal phi = integral(wheel.f, 1); I wheel = 0.2; 1 turning; MTF throw = sin(phi)/cos(phi); 1 sliding; Se push = 1; \
             turning -> wheel; {through}; push -> sliding"
        ));
        let warning = found.finding("BG0505");
        assert!(warning.message.contains(&format!("divide by {divisor}")), "{}", warning.message);
    }
}

#[test]
fn a_modulus_within_its_tolerance_of_zero_can_vanish() {
    let crank = |tolerance: &str| {
        format!(
            "param m = 1 {tolerance}; 1 a; 1 b; I i = 1; I k = 1; TF g = m; b -> k; g -> b; a -> g; a -> i"
        )
    };
    assert_eq!(model(&crank("±10%")).dependent(), ["k.p"]);
    assert_eq!(model(&crank("±150%")).dependent(), ["k.p"]);
    let swapped = |tolerance: &str| crank(tolerance).replace("I i = 1; I k = 1", "I k = 1; I i = 1");
    // In text order the other mass would be independent, but then its flow would be divided by m.
    assert_eq!(model(&swapped("±10%")).dependent(), ["i.p"]);
    assert_eq!(model(&swapped("±150%")).dependent(), ["k.p"]);
}

// ---- more than text order ----

#[test]
fn assignment_goes_back_where_text_order_gets_stuck() {
    // Effort can go round the ring of a 0, a gyrator and a 1 only one way, which no propagation
    // from a storage alone shows.
    for (storage, dependent) in [("C", 0), ("I", 0)] {
        let found = model(&format!(
            "0 j; 1 k; GY g = 2; {storage} x = 1; R r = 1; j -> g -> k; k -> j; k -> x; k -> r"
        ));
        assert_eq!(found.dependent().len(), dependent, "{storage}\n{}", found.strokes());
    }
}

#[test]
fn as_many_storages_are_integral_as_can_be() {
    // Two masses on one velocity and a third behind a lever: one velocity, one independent mass.
    let found = model(
        "Se s = 1; 1 a; 1 b; TF g = 2; I x = 1; I y = 1; I z = 1; s -> a; a -> x, y; a -> g -> b; b -> z",
    );
    assert_eq!(found.dependent().len(), 2);
    assert_eq!(found.causality().order, 1);
}

// ---- by hand ----

#[test]
fn a_preference_for_derivative_causality_is_heard() {
    let base = "Se s = 1; 1 j; R r = 1; C c = 1; s -> j; j -> r, c";
    model(base).efforts(&[("c", "j"), ("r", "r")]);
    let found = model(&format!("{base}; prefer derivative c"));
    found.efforts(&[("c", "c"), ("r", "j")]);
    assert_eq!(found.causality().order, 0);
}

#[test]
fn a_preference_for_integral_causality_chooses_among_dependent_storages() {
    let base = "Sf s = 1; 0 j; C a = 1; C b = 1; s -> j; j -> a, b";
    assert_eq!(model(base).dependent(), ["b.q"]);
    assert_eq!(model(&format!("{base}; prefer integral b")).dependent(), ["a.q"]);
}

#[test]
fn a_stroke_by_hand_is_heard() {
    let base = "Se s = 1; 1 j; R a = 1; R b = 1; s -> j; j -> a as x; j -> b";
    model(base).efforts(&[("a", "j"), ("b", "b")]);
    model(&format!("{base}; causality x effort_into a")).efforts(&[("a", "a"), ("b", "j")]);
    // A numbered bond, and the bond of a one-port by its name.
    model(&format!("{base}; causality b1 effort_into j")).efforts(&[("s", "j")]);
    model(&format!("{base}; causality b effort_into j")).efforts(&[("a", "a"), ("b", "j")]);
}

#[test]
fn a_stroke_by_hand_that_cannot_be_names_what_decides_otherwise() {
    let found = model("Se s = 1; R r = 1; s -> r as x; causality x effort_into s");
    let error = found.finding("BG0507");
    assert!(error.message.contains("`x`") && error.message.contains("`s`"), "{}", error.message);
    let found =
        model("Se s = 1; 0 j; R a = 1; R b = 1; s -> j; j -> a as x; j -> b; causality x effort_into j");
    assert!(found.finding("BG0507").message.contains("`s`"));
}

#[test]
fn two_strokes_by_hand_may_contradict() {
    let found = model(
        "1 j; R a = 1; R b = 1; Se s = 1; s -> j; j -> a as x; j -> b as y; causality x effort_into a; causality y effort_into b",
    );
    found.finding("BG0507");
}

// ---- conflicts ----

#[test]
fn conflicts_name_both_elements() {
    let conflicts = [
        ("two efforts on a 0", "Se a = 1; Se b = 2; 0 j; R r = 1; a -> j; b -> j; j -> r", ["a", "b"]),
        ("two flows on a 1", "Sf a = 1; Sf b = 2; 1 j; R r = 1; a -> j; b -> j; j -> r", ["a", "b"]),
        ("efforts through a transformer", "Se a = 1; Se b = 2; TF g = 2; a -> g -> b", ["a", "b"]),
        ("flows through a transformer", "Sf a = 1; Sf b = 2; TF g = 2; a -> g -> b", ["a", "b"]),
        ("effort against flow through a gyrator", "Se a = 1; Sf b = 2; GY g = 2; a -> g -> b", ["a", "b"]),
        (
            "effort and flow on an empty 1",
            "Se a = 1; Sf b = 2; Se c = 1; 0 j; a -> j; c -> j; j -> b",
            ["a", "c"],
        ),
        ("efforts side by side", "Se a = 1; Se b = 2; a -> b", ["a", "b"]),
        ("flows side by side", "Sf a = 1; Sf b = 2; a -> b", ["a", "b"]),
        ("efforts round an empty 1", "Se a = 1; Se b = 2; 1 j; a -> j; b -> j", ["a", "b"]),
        ("flows round an empty 0", "Sf a = 1; Sf b = 2; 0 j; a -> j; b -> j", ["a", "b"]),
        (
            "efforts far apart",
            "Se a = 1; Se b = 2; 0 j; 1 k; 0 l; R r = 1; Sf x = 1; a -> j; j -> r; j -> k; k -> l; k -> x; b -> l; Se y = 1; 0 n; R q = 1; y -> n; n -> q; TF g = 2; j -> g -> n",
            ["a", "y"],
        ),
        ("a detector of flow across an effort", "Se a = 1; 0 j; Df d; a -> j; j -> d", ["a", "d"]),
        (
            "two open switches in series",
            "Se a = 1; 1 j; Sw u when (t > 1) { Ron = 1 }; Sw v when (t > 2) { Ron = 1 }; a -> j; j -> u, v",
            ["u", "v"],
        ),
    ];
    for (what, statements, names) in conflicts {
        let found = model(statements);
        let conflict = found.finding("BG0501");
        for name in names {
            assert!(conflict.message.contains(&format!("`{name}`")), "{what}: {}", conflict.message);
        }
    }
}

#[test]
fn a_source_of_each_kind_may_share_an_empty_junction() {
    let found = model("Se a = 1; Sf b = 2; 1 j; a -> j; b -> j");
    found.efforts(&[("a", "j"), ("b", "b")]);
}

// ---- dependent storages, loops, index ----

#[test]
fn an_effort_source_on_a_capacitor_makes_index_two() {
    let found = model("Se s = 1; C c = 1; s -> c");
    assert_eq!((found.causality().index, found.causality().order), (2, 0));
    let note = found.finding("BG0502");
    assert!(note.message.contains("path s → c"), "{}", note.message);
}

#[test]
fn two_tanks_share_one_pressure() {
    let found =
        model("Sf pump = 1; 0 bottom; C tank1 = 1; C tank2 = 2; pump -> bottom; bottom -> tank1, tank2");
    assert_eq!((found.causality().index, found.causality().order), (2, 1));
    let storage = &found.causality().storages[1];
    let path: Vec<&str> =
        storage.forced_by.iter().map(|id| found.graph().element(*id).name.as_str()).collect();
    assert_eq!(path, ["tank1", "bottom", "tank2"]);
}

#[test]
fn a_chain_of_derivatives_makes_index_three() {
    // The first capacitor's flow is C u', which as an effort on the second makes D (C u')'.
    let found = model("input u = sin(t); Se a = u; C c = 1; a -> c; Se b = c.f; C d = 1; b -> d");
    assert_eq!((found.causality().index, found.causality().order), (3, 0));
    // A gyrator in between turns flow into effort: the I sees the derivative of what the C sees.
    let found = model(
        "input u = sin(t); Sf a = u; 1 j; I m = 1; a -> j; j -> m; GY g = 2; 0 k; C c = 1; j -> g -> k; k -> c",
    );
    assert_eq!((found.causality().index, found.causality().order), (2, 0));
    assert_eq!(found.dependent(), ["m.p", "c.q"]);
}

#[test]
fn resistors_in_series_form_an_algebraic_loop() {
    let found = model("Se s = 1; 1 j; R a = 1; R b = 2; s -> j; j -> a, b");
    assert_eq!(found.loops(), [["a", "j", "b", "j"]]);
    assert_eq!(found.causality().index, 1);
    assert_eq!(found.codes(), ["BG0503"]);
}

#[test]
fn a_loop_through_a_signal_is_algebraic() {
    let found = model("signal v = 2*r.e + 1; Sf s = v; R r = 1; s -> r");
    assert_eq!(found.causality().index, 1, "{:?}", found.findings());
}

#[test]
fn gears_in_parallel_form_a_junction_loop() {
    let gears = |second: &str| {
        format!(
            "Se push = 1; 1 shaft; TF a = 2; TF b = {second}; 0 force; I mass = 1; push -> shaft; shaft -> a -> force; shaft -> b -> force; force -> mass"
        )
    };
    let found = model(&gears("3"));
    assert_eq!(found.codes(), ["BG0504"]);
    // With opposite ratios the gain round the loop is one: nothing determines the shaft's flow.
    let found = model(&gears("-2"));
    let error = found.finding("BG0508");
    for name in ["shaft", "a", "b", "force"] {
        assert!(error.message.contains(&format!("`{name}`")), "{}", error.message);
    }
}

#[test]
fn a_loop_of_plain_junctions_is_singular() {
    let found = model("Se s = 1; 1 j; 0 k; 0 l; 1 m; R r = 1; s -> j; j -> k, l; k -> m; l -> m; m -> r");
    found.finding("BG0508");
}

#[test]
fn rank_counts_storages_that_can_be_derivative() {
    // A free mass has a pole at zero: its state is not reached by the state matrix.
    let found = model("Se s = 1; I m = 1; s -> m");
    assert_eq!((found.causality().order, found.causality().rank), (1, 0));
    let found = model("Se s = 1; 1 j; I m = 1; R r = 1; s -> j; j -> m, r");
    assert_eq!((found.causality().order, found.causality().rank), (1, 1));
}

#[test]
fn integrators_count_as_states() {
    let found = model("signal x = integral(m.f, 0); Se s = 1; I m = 1; s -> m; output y = x");
    assert_eq!(found.causality().order, 2);
}

#[test]
fn causality_reaches_through_submodels() {
    let found = check(
        "model rc(param k = 1) { port a; port b; 1 j; R r = k; 0 n; C c = 1; a -> j; j -> r; j -> n; n -> c; n -> b }
         model top { Se s = 1; use rc x[1..3]; R end = 1; s -> x[1].a; for i in 1..2 { x[i].b -> x[i+1].a }; x[3].b -> end }",
    );
    assert_eq!(found.causality().order, 3);
    found.efforts(&[("s", "x[1].j"), ("x[2].c", "x[2].n"), ("end", "end")]);
}

#[test]
fn a_delta_of_storages_gives_way_instead_of_determining_itself() {
    // Three lines feed a delta: the currents sum to zero, and so do the voltages of capacitors.
    let delta = |edge: &str| {
        let mut text = "0 a; 0 b; 0 c\n".to_owned();
        for node in ["a", "b", "c"] {
            text += &format!(
                "Se e{node} = 1; 1 l{node}; I x{node} = 1; R r{node} = 1; e{node} -> l{node}; l{node} -> x{node}, r{node}, {node}\n"
            );
        }
        for (from, to) in [("a", "b"), ("b", "c"), ("c", "a")] {
            text += &format!(
                "1 {from}{to}; {edge} z{from}{to} = 1; {from} -> {from}{to}; {from}{to} -> {to}, z{from}{to}\n"
            );
        }
        model(&text)
    };
    let found = delta("C");
    assert_eq!(found.causality().order, 4, "{}", found.strokes());
    assert_eq!(found.causality().index, 2);
    let found = delta("R");
    assert_eq!(found.causality().order, 2, "{}", found.strokes());
}
