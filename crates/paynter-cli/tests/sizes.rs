//! Models whose formulas would fill books: what is written stays short, and is written at once.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod common;

use common::{folder, paynter};
use std::time::Instant;

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
            let started = Instant::now();
            let run = paynter(&folder, &[command, name, "--quiet"]);
            assert_eq!(run.code, Some(0), "{command} {name}: {}", run.stderr);
            assert!(run.stdout.len() < 1_000_000, "{command} {name}: {} bytes", run.stdout.len());
            assert!(started.elapsed().as_secs() < 10, "{command} {name}: {:?}", started.elapsed());
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
