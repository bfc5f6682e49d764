//! Nothing panics and nothing takes long, whatever the text: examples with
//! lines and words deleted, doubled and swapped, and texts made to be hard.
//!
//! `cargo xtask random SEED [COUNT]` spoils them by other seeds.

#![allow(clippy::unwrap_used, clippy::panic)]

use crate::common;

use common::{check, model};
use paynter_testkit::mutate;
use paynter_testkit::property::seeds;
use paynter_testkit::rng::Rng;

/// The examples and the wrong models of the tests.
fn texts() -> Vec<(String, String)> {
    let root = env!("CARGO_MANIFEST_DIR");
    let mut texts = Vec::new();
    for folder in ["../../examples", "../../tests/wrong"] {
        for entry in std::fs::read_dir(format!("{root}/{folder}")).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|end| end == "bg") {
                let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
                texts.push((name, std::fs::read_to_string(path).unwrap()));
            }
        }
    }
    texts.sort();
    texts
}

/// Deletes, doubles or swaps a few pieces of a text.
fn shuffle(text: &str, rng: &mut Rng, separator: char) -> String {
    let mut pieces: Vec<&str> = text.split_inclusive(separator).collect();
    for _ in 0..rng.within(1, 4) {
        if pieces.is_empty() {
            break;
        }
        let (i, j) = (rng.bits() as usize % pieces.len(), rng.bits() as usize % pieces.len());
        match rng.bits() % 3 {
            0 => {
                pieces.remove(i);
            }
            1 => pieces.insert(j, pieces[i]),
            _ => pieces.swap(i, j),
        }
    }
    pieces.concat()
}

#[test]
fn spoilt_examples_get_an_answer() {
    for (name, text) in texts() {
        for seed in seeds(15) {
            let mut rng = Rng::new(seed);
            let bytes: Vec<u8> = (0..9).map(|_| rng.bits() as u8).collect();
            for spoilt in
                [shuffle(&text, &mut rng, '\n'), shuffle(&text, &mut rng, ' '), mutate(&text, &bytes)]
            {
                let found = check(&spoilt);
                // No answer at all would be a silent failure.
                let answered = found.causality.is_some() || found.diagnostics.has_errors();
                assert!(answered, "{name}, seed {seed}:\n{spoilt}");
            }
        }
    }
}

/// Small sound models in which numbers are replaced by hard ones.
#[test]
fn hard_numbers_get_an_answer() {
    let hard = [
        "0",
        "-1",
        "1e308",
        "1e-308",
        "99999999999999999999",
        "1/0",
        "0^0",
        "(-8)^(1/3)",
        "10^10^10",
        "2^(1e9)",
        "1e15",
        "0.1",
        "-0.0",
        "1e400",
    ];
    let templates = [
        "Se s = X; R r = X; s -> r",
        "param a = X ±X% in [X, X]; Se s = a; R r = a; s -> r",
        "C c[X] = X; Se s = 1; s -> c.1",
        "C c { e = X*q^X; init q = X }; R r { e = f^X }; c -> r",
        "MTF g = X; Se s = X; R r = X; s -> g -> r",
        "Sw w when (t > X) { Ron = X; Goff = X }; Se s = 1; s -> w",
        "for i in X..X { Se s = 1 }; Se a = 1; R r = 1; a -> r",
        "input u = step(X) + pulse(X, X); signal y = integral(X, X); Se s = u + y; R r = 1; s -> r; output o = y [mV]",
        "param a = X [mm^2]; param b = a^X; output y = min(a, X) + atan2(X, b) + sqrt(X); Se s = 1; R r = 1; s -> r",
        "C c[2] = [[X, X], [X, X]]; R r = 1; c.1 -> r; De d; c.2 -> d",
    ];
    for template in templates {
        for x in hard {
            let found = model(&template.replace('X', x));
            assert!(found.causality.is_some() || found.diagnostics.has_errors(), "{template} with {x}");
        }
        let found = check(&format!("model a(param n = 1) {{ port p; R r = n; p -> r }}\nmodel m {{ use a x[X..X](n = X); {template} }}").replace('X', "7"));
        assert!(found.causality.is_some() || found.diagnostics.has_errors(), "{template}");
    }
}

#[test]
fn sizes_are_refused_before_they_are_reached() {
    let cell = "model cell { Se s = 1; R r = 1; s -> r }\n";
    let doubling: String =
        (0..200).map(|i| format!("model m{i} {{ use m{} a; use m{} b }}\n", i + 1, i + 1)).collect();
    let texts = [
        format!("{cell}model top {{ use cell c[1..1000000000000] }}"),
        format!("{cell}model b {{ use cell x[1..2048] }}\nmodel c {{ use b x[1..2048] }}\nmodel top {{ use c x[1..2048] }}"),
        format!("{doubling}model m200 {{ Se s = 1; R r = 1; s -> r }}\nmodel top {{ use m0 z }}"),
        "model top { C c = 1; R r = 1; c -> r; for i in 1..1000000 { for j in 1..1000000 { init c.q = i } } }".to_owned(),
        "model top { C c = 1; R r = 1; c -> r; for i in 1..1000000 { for j in 1..1000000 { } } }".to_owned(),
        "model top { C c = 1; R r = 1; c -> r; for i in 1..1e15 { } }".to_owned(),
    ];
    for text in texts {
        let found = check(&text);
        assert!(found.codes().contains(&"BG0218"), "{:#?}", found.findings());
    }
}

#[test]
fn the_same_mistake_in_many_turns_is_told_once() {
    let found = model(
        "Se s = 1; R r = 1; s -> r; for i in 1..1900000 { nothing -> r }; for i in 1..1900000 { prefer integral r }",
    );
    assert_eq!(found.codes(), ["BG0201", "BG0507"], "{:#?}", found.findings());
}

#[test]
fn many_misspelt_names_do_not_take_long() {
    let elements: String =
        (0..1500).map(|i| format!("R resistor{i} = valu{i}; junctoin{i} -> resistor{i}\n")).collect();
    let found = model(&elements);
    assert_eq!(found.codes().iter().filter(|code| **code == "BG0201").count(), 3000);
}

#[test]
fn long_sums_and_deep_definitions_do_not_overflow_the_stack() {
    let sum = vec!["a"; 20_000].join(" + ");
    model(&format!("param a = 1; Se s = {sum}; R r = 1; s -> r")).graph();
    let mut chain = "param a0 = 1.5\n".to_owned();
    for i in 0..2000 {
        chain += &format!("param a{} = sin(a{i})\n", i + 1);
    }
    let found = model(&format!("{chain}Se s = a2000; R r = 1; s -> r"));
    found.graph();
    let mut signals = "signal x0 = r.f\n".to_owned();
    for i in 0..5000 {
        signals += &format!("signal x{} = x{i} + 1\n", i + 1);
    }
    model(&format!("{signals}Se s = 1; R r = 1; s -> r; output y = x5000")).graph();
}

#[test]
fn deep_submodels_do_not_overflow_the_stack() {
    let models: String =
        (0..200).map(|i| format!("model m{i} {{ port p; use m{} a; p -> a.p }}\n", i + 1)).collect();
    let found = check(&format!(
        "{models}model m200 {{ port p; R r = 1; p -> r }}\nmodel top {{ Se s = 1; use m0 z; s -> z.p }}"
    ));
    assert_eq!(found.graph().bonds.len(), 1);
}

#[test]
fn fields_of_many_ports_are_read() {
    for n in [5, 60] {
        let laws: String = (1..=n).map(|k| format!("e{k} = q{k}; ")).collect();
        let bonds: String = (1..=n).map(|k| format!("j -> c.{k}; ")).collect();
        let found = model(&format!("0 j; R r = 1; j -> r; C c[{n}] {{ {laws} }}; {bonds}"));
        assert_eq!(found.dependent().len(), n - 1);
        model(&format!("0 j; R r = 1; j -> r; C c[{n}] {{ 1 = 2 }}; {bonds}")).finding("BG0216");
    }
}

#[test]
fn a_long_rigid_chain_does_not_take_long() {
    // Every mass but one depends on the first, through up to 3000 levers.
    let mut text = "1 v0; I m0 = 1; Se s = 1; s -> v0; v0 -> m0\n".to_owned();
    for i in 1..3000 {
        text += &format!("TF g{i} = 2; 1 v{i}; I m{i} = 1; v{} -> g{i} -> v{i}; v{i} -> m{i}\n", i - 1);
    }
    let found = model(&text);
    assert_eq!(found.causality().order, 1);
    assert!(found.causality().storages.iter().all(|storage| storage.forced_by.len() <= 30));
}

#[test]
fn many_cranks_that_cannot_all_be_spared_do_not_take_long() {
    let mut text = "signal x = integral(m0.f, 0); 1 v0; I m0 = 1; v0 -> m0\n".to_owned();
    for i in 1..400 {
        text += &format!(
            "MTF g{i} = sin(x + {i}); 1 v{i}; Sf s{i} = 1; v0 -> g{i} -> v{i}; v{i} -> s{i}; R r{i} = 1; v{i} -> r{i}\n"
        );
    }
    model(&text).finding("BG0501");
    let text = text.replace("Sf s", "I s");
    assert!(!model(&text).diagnostics.has_errors());
}

#[test]
fn numbers_and_units_that_grow_without_end_are_refused() {
    let mut text = "param N0 = 3\n".to_owned();
    for i in 0..60 {
        text += &format!("param N{} = N{i}*N{i} + 1/N{i}\n", i + 1);
    }
    let cell = "model cell { Se s = 1; R r = 1; s -> r }\n";
    check(&format!("{cell}model top {{ {text} use cell c[1..N60] }}")).finding("BG0218");
    for unit in ["mm^1000000", "km^2147483647", "ym^30", "Qm^(30000000/7)"] {
        let found = model(&format!("param a = 1 [{unit}]; output y = a [{unit}]; Se s = 1; R r = 1; s -> r"));
        assert!(found.causality.is_some() || found.diagnostics.has_errors(), "{unit}");
    }
}

#[test]
fn a_bond_that_runs_in_a_circle_is_refused() {
    let found = check(
        "model wire { port a; port b; a -> b }\nmodel top { use wire w; w.b -> w.a; Se s = 1; R r = 1; s -> r }",
    );
    assert_eq!(found.codes(), ["BG0406"]);
}
