//! Models whose formulas would fill books: what is written stays short, and is written at once.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use crate::common;

use common::{folder, paynter};

/// Twenty signals, each the square of the one before.
fn squares() -> String {
    let signals: String = (1..=20).map(|i| format!("signal x{i} = (x{0} + 1)^2/2 - x{0}\n", i - 1)).collect();
    format!(
        "model squares {{\ninput u = 0.5\nsignal x0 = u\n{signals}MSe s = x20/1e3\n1 j\nR r = 1\nI l = 1\n\
         s -> j -> r, l\noutput y = l.f\n}}\n"
    )
}

/// Resistors between every two of twelve nodes.
fn mesh() -> String {
    let nodes: String = (0..12).map(|i| format!("0 n{i}\n")).collect();
    let pairs = (0..12).flat_map(|i| (i + 1..12).map(move |j| (i, j)));
    let links: String = pairs
        .map(|(i, j)| {
            format!(
                "param R{i}_{j} = {}\n1 k{i}_{j}\nR r{i}_{j} = R{i}_{j}\nn{i} -> k{i}_{j}\nk{i}_{j} -> n{j}, r{i}_{j}\n",
                i + j
            )
        })
        .collect();
    format!(
        "model mesh {{\ninput u = 1\nSe s = u\n1 js\nR rs = 1\ns -> js -> rs\n{nodes}js -> n0\n{links}C c = 1\n\
         n11 -> c\noutput y = c.e\n}}\n"
    )
}

/// A law of 120 nested functions.
fn nested() -> String {
    let law = (0..120).fold("f".to_owned(), |inner, i| match i % 2 {
        0 => format!("sinh({inner}*0.5)"),
        _ => format!("atan({inner} + f)"),
    });
    format!(
        "model nested {{\ninput u = 1\nSe s = u\n1 j\nR r {{ e = {law} }}\nI l = 1\ns -> j -> r, l\noutput y = l.f\n}}\n"
    )
}

#[test]
fn what_is_printed_stays_short() {
    let folder = folder("sizes");
    for (name, text) in [("squares.bg", squares()), ("mesh.bg", mesh()), ("nested.bg", nested())] {
        std::fs::write(folder.join(name), text).unwrap();
        for command in [
            "equations",
            "tf",
            "operating-point",
            "poles",
            "structure",
            "sensitivity",
            "draw",
            "report",
            "incremental",
        ] {
            let run = paynter(&folder, &[command, name, "--quiet"]);
            assert_eq!(run.code, Some(0), "{command} {name}: {}", run.stderr);
            assert!(run.stdout.len() < 1_000_000, "{command} {name}: {} bytes", run.stdout.len());
            assert!(run.worked.as_secs() < 10, "{command} {name}: {:?}", run.worked);
        }
    }
}

#[test]
fn long_answers_are_given_in_numbers_and_say_how_to_get_symbols() {
    let folder = folder("long_answers");
    let outputs: String = (0..60).map(|i| format!("output y{i} = c{i}.e\n")).collect();
    let mut rungs = String::new();
    for i in 0..60 {
        let before = if i == 0 { "s".to_owned() } else { format!("b{}", i - 1) };
        rungs += &format!(
            "param R{i} = 1\n1 a{i}\nR r{i} = R{i}\n0 b{i}\nC c{i} = 2\n{before} -> a{i} -> r{i}, b{i}\nb{i} -> c{i}\n"
        );
    }
    std::fs::write(folder.join("m.bg"), format!("model m {{\ninput u = 1\nSe s = u\n{rungs}{outputs}}}\n"))
        .unwrap();
    let told = "`--symbolic` prints them";
    let short = paynter(&folder, &["tf", "m.bg"]).stdout;
    assert!(short.contains(told) && !short.contains("R7"), "{short}");
    let long = paynter(&folder, &["tf", "m.bg", "--symbolic"]).stdout;
    assert!(!long.contains(told) && long.contains("R7") && long.lines().count() > 200);
}

/// Sizes at which work that grows with the square or more would not end within the patience of a test.
#[test]
fn large_models_are_answered() {
    let folder = folder("large_models");
    let fan: String =
        (0..3_000).map(|i| format!("param p{i} = {}\nR r{i} = p{i}\nj -> r{i}\n", i % 7 + 1)).collect();
    let fan =
        format!("model m {{\ninput u = 1\nSe s = u\n1 j\ns -> j\n{fan}I l = 1\nj -> l\noutput y = l.f\n}}\n");
    std::fs::write(folder.join("fan.bg"), fan).unwrap();
    let star = "model cell { port a; 0 j; C c = 1; R r = 1; a -> j -> c, r }\nmodel m { 1 x; input u = 0; Sf s = u; s -> x\n\
                use cell c[1..5000]\nfor i in 1..5000 { x -> c[i].a }\noutput y = c[1].c.q }\n";
    std::fs::write(folder.join("star.bg"), star).unwrap();
    let mut ladder = String::from("model ladder {\ninput u = 1\nSe s = u\n");
    for i in 0..400 {
        let before = if i == 0 { "s".to_owned() } else { format!("b{}", i - 1) };
        ladder += &format!(
            "param r{i} = 2\nparam l{i} = 0.1\nparam c{i} = 0.01\n1 a{i}\nR x{i} = r{i}\nI y{i} = l{i}\n0 b{i}\n\
             C z{i} = c{i}\n{before} -> a{i} -> x{i}, y{i}, b{i}\nb{i} -> z{i}\n"
        );
    }
    std::fs::write(folder.join("ladder.bg"), ladder + "output y = z399.e\n}\n").unwrap();
    for (arguments, told) in [
        (&["sensitivity", "ladder.bg", "--quiet"][..], "LARGEST"),
        (&["sensitivity", "ladder.bg", "--quiet", "--json"], "definitions"),
        (&["draw", "fan.bg"], "<svg"),
        (&["export", "fan.bg", "--to", "c", "--simulate"], "partial->fp[2999]"),
        (&["incremental", "fan.bg", "--quiet"], "sink_r2999_p2999"),
        (&["simulate", "fan.bg", "--sensitivity", "all", "--t-end", "1", "--points", "2", "--json"], "p2999"),
        (&["structure", "star.bg", "--quiet"], "ontrollab"),
    ] {
        let run = paynter(&folder, arguments);
        assert_eq!(run.code, Some(0), "{arguments:?}: {}", run.stderr);
        assert!(run.stdout.contains(told), "{arguments:?}: {}", &run.stdout[..run.stdout.len().min(300)]);
        assert!(run.stdout.len() < 10_000_000, "{arguments:?}: {} bytes", run.stdout.len());
    }
}

/// The graph of increments with numbers behaves as the one with parameters.
#[test]
fn increments_in_numbers_are_the_same_model() {
    let folder = folder("increments_in_numbers");
    assert_eq!(paynter(&folder, &["examples", "dc_motor", "--write", "."]).code, Some(0));
    for form in [&[][..], &["--form", "linear"], &["--pair"], &["--form", "pseudo"]] {
        let made = |more: &[&str]| {
            let arguments: Vec<&str> =
                ["incremental", "dc_motor.bg"].iter().chain(form).chain(more).copied().collect();
            let run = paynter(&folder, &arguments);
            assert_eq!(run.code, Some(0), "{arguments:?}: {}", run.stderr);
            run.stdout
        };
        let (symbols, numbers) = (made(&[]), made(&["--numeric"]));
        assert!(symbols.contains("= Ra") || symbols.contains("Ra*"), "{symbols}");
        assert!(!numbers.contains("param Ra") && !numbers.contains("*Ra"), "{numbers}");
        std::fs::write(folder.join("s.bg"), &symbols).unwrap();
        std::fs::write(folder.join("n.bg"), &numbers).unwrap();
        let poles = |file: &str| {
            let modes = paynter(&folder, &["poles", file, "--json"]).json()["modes"].clone();
            let list = modes.as_array().unwrap().clone();
            list.iter().map(|mode| mode["pole"][0].as_f64().unwrap()).collect::<Vec<f64>>()
        };
        let (wanted, found) = (poles("s.bg"), poles("n.bg"));
        assert!(!wanted.is_empty() && wanted.len() == found.len());
        for (wanted, found) in wanted.iter().zip(found) {
            assert!((wanted - found).abs() <= 1e-9 * wanted.abs(), "{form:?}: {wanted} {found}");
        }
    }
}

#[test]
fn numbers_are_those_of_the_symbols() {
    let folder = folder("numbers");
    let text = "model m { param Ra = 2; param La = 5e-3; param k = 0.1; param b = 1e-3; param J = 1e-4\n\
        input E = 12; Se s = E; 1 a; 1 sh; R ra = Ra; I la = La; GY g = k; R rb = b; I j = J\n\
        s -> a -> ra, la, g; g -> sh -> rb, j; output w = j.f }\n";
    std::fs::write(folder.join("m.bg"), text).unwrap();
    let printed = paynter(&folder, &["tf", "m.bg", "--numeric"]).stdout;
    assert!(printed.contains("s^2 + 410*s + 24000") && printed.contains("200000"), "{printed}");
    let document = paynter(&folder, &["tf", "m.bg", "--numeric", "--json"]).json();
    let den = document["entries"][0]["den_coefficients"].as_array().unwrap().clone();
    for (found, wanted) in den.iter().zip([1.0, 410.0, 24000.0]) {
        assert!((found.as_f64().unwrap() - wanted).abs() <= 1e-9 * wanted, "{den:?}");
    }
    let equations = paynter(&folder, &["equations", "m.bg", "--numeric"]).stdout;
    assert!(equations.contains("la.p' = E - 1000*j.p - 400*la.p"), "{equations}");
    // Documents stay exact.
    let exact = paynter(&folder, &["tf", "m.bg", "--json"]).json();
    assert_eq!(exact["denominator"], "J*La*s^2 + J*Ra*s + La*b*s + Ra*b + k^2");
}
