//! The oracles agree with results known by hand.

#![allow(clippy::unwrap_used)]

use paynter_testkit::causality::{Rules, search};
use paynter_testkit::expr::Expr;
use paynter_testkit::linear::{Pencil, generic, sensitivity, small_point};
use paynter_testkit::nonlinear::{Point, solve};
use paynter_testkit::number::{Modular, Number, Rational};
use paynter_testkit::property::{demand, seeds};
use paynter_testkit::rng::Rng;
use paynter_testkit::structure::{Bond, Element, End, Kind, Law, Param, Structure};
use paynter_testkit::{Options, generate};
use std::collections::BTreeMap;

/// Builds a model from `KIND name value` words and `a -> b` bonds; `.n` names a port.
fn model(
    params: &[(&str, i64, i64)],
    inputs: &[&str],
    elements: &[(Kind, &str, Law)],
    bonds: &str,
) -> Structure {
    let mut structure = Structure::default();
    for (name, above, below) in params {
        structure.params.push(Param { name: (*name).to_owned(), value: Expr::Ratio(*above, *below) });
    }
    structure.inputs = inputs.iter().map(|name| ((*name).to_owned(), String::new())).collect();
    for (kind, name, law) in elements {
        let ports = match (kind, law) {
            (Kind::Zero | Kind::One, _) => 0,
            (Kind::Tf | Kind::Gy | Kind::Rs, _) => 2,
            (_, Law::Matrix(rows)) => rows.len(),
            (_, Law::Laws(laws)) => laws.len(),
            _ => 1,
        };
        structure.elements.push(Element {
            name: (*name).to_owned(),
            kind: *kind,
            ports,
            law: law.clone(),
            initial: BTreeMap::new(),
            may_vanish: false,
        });
    }
    for bond in bonds.split(';') {
        let (from, to) = bond.split_once("->").unwrap();
        let end = |text: &str, incoming: bool| {
            let (name, port) =
                text.trim().split_once('.').map_or((text.trim(), None), |(name, port)| (name, Some(port)));
            let element = structure.elements.iter().position(|element| element.name == name).unwrap();
            let found = &structure.elements[element];
            let implied = if found.kind.is_junction() {
                0
            } else if found.kind.is_two_port() && !incoming {
                2
            } else {
                1
            };
            End { element, port: port.map_or(implied, |port| port.parse().unwrap()) }
        };
        let bond = Bond { name: None, from: end(from, false), to: end(to, true) };
        structure.bonds.push(bond);
    }
    structure
}

fn value(text: &str) -> Law {
    Law::Value(Expr::from(text))
}

fn output(mut structure: Structure, name: &str) -> Structure {
    structure.outputs.push((name.to_owned(), Expr::from(name)));
    structure
}

fn r(above: i64, below: i64) -> Rational {
    Rational::ratio(above, below)
}

/// Σ coefficients·sᵏ.
fn polynomial(coefficients: &[Rational], s: &Rational) -> Rational {
    coefficients.iter().rev().fold(Rational::zero(), |sum, coefficient| sum.mul(s).unwrap().add(coefficient))
}

fn rc() -> Structure {
    let structure = model(
        &[("r", 2, 1), ("c", 3, 1)],
        &["u"],
        &[
            (Kind::Se, "se", value("u")),
            (Kind::One, "j", Law::None),
            (Kind::Zero, "n", Law::None),
            (Kind::R, "res", value("r")),
            (Kind::C, "cap", value("c")),
        ],
        "se -> j; j -> res; j -> n; n -> cap",
    );
    output(structure, "cap.e")
}

#[test]
fn rc_has_its_transfer_function_and_sensitivities() {
    let (structure, s) = (rc(), r(5, 7));
    let point = [r(2, 1), r(3, 1)];
    let crs = r(6, 1).mul(&s).unwrap().add(&Rational::one());
    let pencil = Pencil::assemble(&structure, &point).unwrap();
    assert_eq!(pencil.transfer(&s).unwrap()[0][0], Rational::one().div(&crs).unwrap());
    assert_eq!(pencil.order(), Some(1));
    // ∂G/∂r = −cs/(crs+1)², ∂G/∂c = −rs/(crs+1)²
    for (parameter, factor) in [(0, 3), (1, 2)] {
        let expected = r(-factor, 1).mul(&s).unwrap().div(&crs.mul(&crs).unwrap()).unwrap();
        assert_eq!(sensitivity(&structure, &point, parameter, &s).unwrap()[0][0], expected);
    }
}

#[test]
fn two_rc_sections_have_their_polynomial() {
    let structure = output(
        model(
            &[("r1", 2, 1), ("c1", 3, 1), ("r2", 5, 1), ("c2", 7, 1)],
            &["u"],
            &[
                (Kind::Se, "se", value("u")),
                (Kind::One, "j1", Law::None),
                (Kind::Zero, "n1", Law::None),
                (Kind::One, "j2", Law::None),
                (Kind::Zero, "n2", Law::None),
                (Kind::R, "res1", value("r1")),
                (Kind::C, "cap1", value("c1")),
                (Kind::R, "res2", value("r2")),
                (Kind::C, "cap2", value("c2")),
            ],
            "se -> j1; res1 -> j1; j1 -> n1; cap1 -> n1; n1 -> j2; j2 -> res2; j2 -> n2; n2 -> cap2",
        ),
        "cap2.e",
    );
    let point = [r(2, 1), r(3, 1), r(5, 1), r(7, 1)];
    let s = r(-3, 11);
    // 1/(c1c2r1r2 s² + (c1r1+c2r1+c2r2) s + 1); reversed arrows change nothing here.
    let below = polynomial(&[r(1, 1), r(6 + 14 + 35, 1), r(3 * 7 * 2 * 5, 1)], &s);
    let transfer = Pencil::assemble(&structure, &point).unwrap().transfer(&s).unwrap();
    assert_eq!(transfer[0][0], Rational::one().div(&below).unwrap());
}

#[test]
fn motor_has_its_transfer_function() {
    let structure = output(
        model(
            &[("L", 1, 2), ("R", 1, 1), ("K", 1, 100), ("J", 1, 100), ("b", 1, 10)],
            &["V", "tau"],
            &[
                (Kind::Se, "supply", value("V")),
                (Kind::Se, "load", value("tau")),
                (Kind::One, "j1", Law::None),
                (Kind::One, "j2", Law::None),
                (Kind::I, "coil", value("L")),
                (Kind::R, "winding", value("R")),
                (Kind::Gy, "motor", value("K")),
                (Kind::I, "rotor", value("J")),
                (Kind::R, "bearing", value("b")),
            ],
            "supply -> j1; j1 -> coil; j1 -> winding; j1 -> motor; motor -> j2; j2 -> rotor; j2 -> bearing; load -> j2",
        ),
        "rotor.f",
    );
    let point = [r(1, 2), r(1, 1), r(1, 100), r(1, 100), r(1, 10)];
    let pencil = Pencil::assemble(&structure, &point).unwrap();
    let s = r(4, 3);
    let expected = r(2, 1).div(&polynomial(&[r(2002, 100), r(12, 1), r(1, 1)], &s)).unwrap();
    assert_eq!(pencil.transfer(&s).unwrap()[0][0], expected);
    assert_eq!(pencil.characteristic().unwrap(), [r(2002, 100), r(12, 1), r(1, 1)]);
    let zero = pencil.transfer(&Rational::zero()).unwrap();
    let w = 12.0 * zero[0][0].to_f64() + zero[0][1].to_f64();
    assert!((w - 11.1888111888).abs() < 1e-9, "{w}");
    // The nonlinear oracle at the steady state of V = 12, τ = 1: nothing moves.
    let states = BTreeMap::from([
        ("coil.p".to_owned(), 0.5 * 11.888111888111888),
        ("rotor.p".to_owned(), 0.01 * 11.188811188811188),
    ]);
    let at = Point {
        params: vec![0.5, 1.0, 0.01, 0.01, 0.1],
        inputs: vec![12.0, 1.0],
        states,
        ..Point::default()
    };
    let solution = solve(&structure, &at).unwrap();
    assert!(solution.rates.iter().all(|rate| rate.abs() < 1e-9), "{solution:?}");
}

#[test]
fn parallel_rlc_oscillates() {
    let structure = model(
        &[],
        &[],
        &[
            (Kind::Zero, "n", Law::None),
            (Kind::R, "res", Law::Value(1.into())),
            (Kind::I, "coil", Law::Value(1.into())),
            (Kind::C, "cap", Law::Value(1.into())),
        ],
        "n -> res; n -> coil; n -> cap",
    );
    // s² + s + 1: eigenvalues −1/2 ± j√3/2.
    let pencil = Pencil::<Rational>::assemble(&structure, &[]).unwrap();
    assert_eq!(pencil.characteristic().unwrap(), [r(1, 1), r(1, 1), r(1, 1)]);
}

#[test]
fn source_on_capacitor_has_no_state_but_an_improper_response() {
    let structure = output(
        model(
            &[("c", 3, 1)],
            &["u"],
            &[(Kind::Se, "se", value("u")), (Kind::C, "cap", value("c"))],
            "se -> cap",
        ),
        "cap.f",
    );
    let pencil = Pencil::assemble(&structure, &[r(3, 1)]).unwrap();
    assert_eq!(pencil.order(), Some(0));
    assert_eq!(pencil.transfer(&r(5, 1)).unwrap()[0][0], r(15, 1));
    let strokes = search(&structure, Rules::Ports).unwrap();
    assert_eq!((strokes.count, strokes.integral, strokes.derivative), (1, 0, 1));
    let at = Point { params: vec![3.0], inputs: vec![2.0], input_rates: vec![0.5], ..Point::default() };
    let solution = solve(&structure, &at).unwrap();
    assert!((solution.states[0] - 6.0).abs() < 1e-9 && (solution.rates[0] - 1.5).abs() < 1e-9);
}

#[test]
fn coupled_coils_share_their_flux() {
    // Se → 1(R) → I-field port 1; port 2 → R load: two coils with mutual inductance M,
    // v = (R + sL1) i1 + sM i2, 0 = sM i1 + (Rl + sL2) i2 with both currents into the field.
    let matrix = [["L1", "M"], ["M", "L2"]].map(|row| row.map(Expr::from).to_vec()).to_vec();
    let structure = output(
        model(
            &[("R", 2, 1), ("L1", 5, 1), ("L2", 7, 1), ("M", 3, 1), ("Rl", 11, 1)],
            &["u"],
            &[
                (Kind::Se, "se", value("u")),
                (Kind::One, "j", Law::None),
                (Kind::R, "winding", value("R")),
                (Kind::I, "coils", Law::Matrix(matrix)),
                (Kind::R, "load", value("Rl")),
            ],
            "se -> j; j -> winding; j -> coils.1; coils.2 -> load",
        ),
        "load.f",
    );
    let point = [2, 5, 7, 3, 11].map(|value| r(value, 1));
    let s = r(1, 3);
    let pencil = Pencil::assemble(&structure, &point).unwrap();
    // The load's bond points out of the field: load.f = −i2.
    let (first, second) = (polynomial(&[r(2, 1), r(5, 1)], &s), polynomial(&[r(11, 1), r(7, 1)], &s));
    let mutual = r(3, 1).mul(&s).unwrap();
    let below = first.mul(&second).unwrap().sub(&mutual.mul(&mutual).unwrap());
    assert_eq!(pencil.transfer(&s).unwrap()[0][0], mutual.div(&below).unwrap());
    assert_eq!(pencil.order(), Some(2));
    let strokes = search(&structure, Rules::Ports).unwrap();
    assert_eq!((strokes.integral, strokes.storages), (2, 2));
}

#[test]
fn conflicts_and_singular_models_are_seen() {
    let two_sources = model(
        &[],
        &["u"],
        &[
            (Kind::Se, "a", value("u")),
            (Kind::Se, "b", value("u")),
            (Kind::Zero, "n", Law::None),
            (Kind::R, "res", Law::Value(1.into())),
        ],
        "a -> n; b -> n; n -> res",
    );
    assert_eq!(search(&two_sources, Rules::Ports).unwrap().count, 0);
    assert!(!generic(&two_sources, 1).unwrap().solvable);
    // Two parallel bonds between 0-junctions leave the circulating flow open.
    let parallel = model(
        &[],
        &["u"],
        &[
            (Kind::Sf, "a", value("u")),
            (Kind::Zero, "n", Law::None),
            (Kind::Zero, "m", Law::None),
            (Kind::R, "res", Law::Value(1.into())),
        ],
        "a -> n; n -> m; n -> m; m -> res",
    );
    assert!(!generic(&parallel, 1).unwrap().solvable);
}

#[test]
fn transformer_and_gyrator_signs_follow_the_ports() {
    // e1 = m e2 and f2 = m f1 with f1 into port 1 and f2 out of port 2, whatever the arrows.
    for (kind, bonds, load, source) in [
        (Kind::Tf, "se -> x.1; x.2 -> res", r(4, 1), r(4, 3)),
        (Kind::Tf, "se -> x.1; res -> x.2", r(-4, 1), r(4, 3)),
        (Kind::Tf, "x.1 -> se; x.2 -> res", r(4, 1), r(-4, 3)),
        (Kind::Tf, "se -> x.2; x.1 -> res", r(36, 1), r(108, 1)),
        (Kind::Gy, "se -> x.1; x.2 -> res", r(1, 3), r(1, 108)),
        (Kind::Gy, "se -> x.1; res -> x.2", r(-1, 3), r(1, 108)),
        // Entering at port 2: f1 = e2/r flows into port 1, out of the load, whose effort is then negative.
        (Kind::Gy, "se -> x.2; x.1 -> res", r(-1, 3), r(1, 108)),
    ] {
        let elements = [
            (Kind::Se, "se", value("u")),
            (kind, "x", Law::Value(3.into())),
            (Kind::R, "res", Law::Value(Expr::Ratio(1, 12))),
        ];
        let structure = output(output(model(&[], &["u"], &elements, bonds), "res.f"), "se.f");
        let transfer = Pencil::<Rational>::assemble(&structure, &[]).unwrap().transfer(&r(1, 1)).unwrap();
        assert_eq!((&transfer[0][0], &transfer[1][0]), (&load, &source), "{bonds}");
    }
}

#[test]
fn rationals_and_residues_agree_on_random_models() {
    for seed in seeds(40) {
        let sample = generate(seed, &Options::linear().small());
        let exact: Vec<Rational> = small_point(&sample.structure, &mut Rng::new(seed));
        let modular: Vec<Modular> = small_point(&sample.structure, &mut Rng::new(seed));
        let (Some(first), Some(second)) =
            (Pencil::assemble(&sample.structure, &exact), Pencil::assemble(&sample.structure, &modular))
        else {
            panic!("{}", sample.text);
        };
        assert_eq!(first.order(), second.order(), "{}", sample.text);
        let (Some(exact), Some(modular)) = (first.transfer(&r(7, 3)), second.transfer(&Modular::ratio(7, 3)))
        else {
            continue;
        };
        let residues: Vec<Vec<Modular>> =
            exact.iter().map(|row| row.iter().map(|entry| Modular::of(entry).unwrap()).collect()).collect();
        assert_eq!(residues, modular, "{}", sample.text);
    }
}

#[test]
fn dual_sensitivities_are_difference_quotients() {
    // (H(p + h) − H(p))/h tends to ∂H/∂p: exact rationals make the error provably of order h.
    for seed in seeds(15) {
        let structure = generate(seed, &Options::linear().small()).structure;
        let point: Vec<Rational> = small_point(&structure, &mut Rng::new(seed + 1));
        let (s, h) = (r(11, 7), r(1, 1_000_000_000));
        let Some(base) = Pencil::assemble(&structure, &point).and_then(|pencil| pencil.transfer(&s)) else {
            continue;
        };
        for parameter in 0..point.len() {
            let mut moved = point.clone();
            moved[parameter] = moved[parameter].add(&h);
            let after = Pencil::assemble(&structure, &moved).unwrap().transfer(&s).unwrap();
            let slope = sensitivity(&structure, &point, parameter, &s).unwrap();
            for (row, (before, after)) in base.iter().zip(&after).enumerate() {
                for column in 0..before.len() {
                    let quotient = after[column].sub(&before[column]).div(&h).unwrap().to_f64();
                    let exact = slope[row][column].to_f64();
                    assert!((quotient - exact).abs() < 1e-4 * (1.0 + exact.abs()), "{quotient} {exact}");
                }
            }
        }
    }
}

#[test]
fn newton_agrees_with_the_linear_oracle() {
    // At s = 0 and zero rates nothing is compared; here rates of linear models are linear in the states.
    let structure = rc();
    let at = |q: f64, u: f64| {
        let states = BTreeMap::from([("cap.q".to_owned(), q)]);
        let point = Point { params: vec![2.0, 3.0], inputs: vec![u], states, ..Point::default() };
        solve(&structure, &point).unwrap().rates[0]
    };
    // q' = u/r − q/(rc)
    assert!((at(6.0, 0.0) + 1.0).abs() < 1e-12);
    assert!((at(0.0, 1.0) - 0.5).abs() < 1e-12);
}

#[test]
fn newton_solves_most_random_nonlinear_models() {
    let (mut solved, mut tried) = (0, 0);
    for seed in seeds(60) {
        let sample = generate(seed, &Options::nonlinear().small());
        let found = generic(&sample.structure, seed).unwrap();
        if found.order != found.states {
            continue;
        }
        let names = sample.structure.states();
        let states =
            names.iter().enumerate().map(|(index, (name, _))| (name.clone(), 0.3 + 0.1 * index as f64));
        let system = paynter_testkit::residual::System::new(&sample.structure);
        let point = Point {
            params: system.nominal().unwrap(),
            inputs: vec![0.7; sample.structure.inputs.len()],
            time: 0.4,
            states: states.collect(),
            ..Point::default()
        };
        tried += 1;
        solved += usize::from(solve(&sample.structure, &point).is_some());
    }
    demand("models tried", tried, 21, 60);
    demand("models solved", solved, 13, 60);
}
