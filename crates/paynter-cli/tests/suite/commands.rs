//! Exit codes, streams and documents of every command.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use crate::common;

use common::schema::assert_fits;
use common::{folder, paynter, paynter_with};
use std::io::Write;
use std::process::{Command, Stdio};

const GOOD: &str = "model m {\n    Se  a = 1\n    R   b = 2\n\n    a -> b\n}\n";

#[test]
fn every_document_fits_its_schema() {
    let folder = folder("documents");
    std::fs::write(folder.join("good.bg"), GOOD).unwrap();
    std::fs::write(folder.join("motor.bg"), include_str!("../../../../examples/ctms_motor.bg")).unwrap();
    let run = paynter(&folder, &["simulate", "motor.bg", "--set", "R=1.3", "--t-end", "2"]);
    std::fs::write(folder.join("motor.csv"), run.stdout).unwrap();
    std::fs::write(folder.join("bad.bg"), "model m { Se a = 1; R b = c; a -> b }\n").unwrap();
    std::fs::write(folder.join("broken.bg"), "model m { Se a = (1 }\n").unwrap();
    for (schema, code, arguments) in [
        ("check", 0, &["check", "good.bg"][..]),
        ("check", 1, &["check", "bad.bg"]),
        ("check", 0, &["check", "good.bg", "--model", "m"]),
        ("check", 1, &["check", "good.bg", "--model", "n"]),
        ("check", 1, &["check", "good.bg", "--set", "k=2"]),
        ("failure", 1, &["check", "missing.bg"]),
        ("causality", 0, &["causality", "good.bg"]),
        ("failure", 1, &["causality", "bad.bg"]),
        ("failure", 1, &["causality", "missing.bg"]),
        ("equations", 0, &["equations", "good.bg"]),
        ("failure", 1, &["equations", "bad.bg"]),
        ("operating-point", 0, &["operating-point", "good.bg"]),
        ("failure", 1, &["operating-point", "bad.bg"]),
        ("equations", 0, &["equations", "good.bg", "--form", "latex"]),
        ("equations", 0, &["equations", "good.bg", "--steps"]),
        ("failure", 2, &["equations", "good.bg", "--form", "prose"]),
        ("export", 0, &["export", "good.bg", "--to", "python"]),
        ("export", 0, &["export", "good.bg", "--to", "c", "-o", "good.c"]),
        ("export", 0, &["export", "good.bg", "--to", "c", "--simulate"]),
        ("failure", 2, &["export", "good.bg", "--to", "python", "--simulate"]),
        ("export", 1, &["export", "good.bg", "--to", "julia", "-o", "missing/good.jl"]),
        ("failure", 1, &["export", "bad.bg", "--to", "latex"]),
        ("failure", 2, &["export", "good.bg", "--to", "cobol"]),
        ("failure", 2, &["export", "good.bg"]),
        ("tf", 0, &["tf", "good.bg", "--form", "matlab"]),
        ("tf", 0, &["tf", "good.bg"]),
        ("failure", 1, &["tf", "bad.bg"]),
        ("poles", 0, &["poles", "motor.bg"]),
        ("poles", 0, &["poles", "good.bg"]),
        ("failure", 1, &["poles", "bad.bg"]),
        ("bode", 0, &["bode", "motor.bg"]),
        ("bode", 0, &["bode", "motor.bg", "--omega", "1:10:3", "--input", "V", "--output", "w"]),
        ("bode", 0, &["bode", "motor.bg", "--plot", "motor.svg", "--theme", "dark"]),
        ("bode", 0, &["bode", "motor.bg", "--plot", "motor.png"]),
        ("bode", 1, &["bode", "motor.bg", "--plot", "missing/motor.png"]),
        ("failure", 2, &["bode", "motor.bg", "--plot", "motor.pdf"]),
        ("failure", 1, &["bode", "motor.bg", "--input", "W"]),
        ("failure", 1, &["bode", "good.bg"]),
        ("failure", 1, &["bode", "bad.bg"]),
        ("failure", 2, &["bode", "motor.bg", "--omega", "1:10"]),
        ("failure", 1, &["sensitivity", "good.bg"]),
        ("failure", 1, &["sensitivity", "bad.bg"]),
        ("simulate", 0, &["simulate", "good.bg"]),
        ("simulate", 0, &["simulate", "motor.bg", "--plot", "time.svg", "--sensitivity", "all"]),
        ("simulate", 1, &["simulate", "motor.bg", "--plot", "missing/time.png"]),
        ("failure", 2, &["simulate", "motor.bg", "--plot", "time.pdf"]),
        ("failure", 1, &["simulate", "bad.bg"]),
        ("failure", 1, &["simulate", "good.bg", "--sensitivity", "k"]),
        ("failure", 2, &["simulate", "good.bg", "--rtol", "0"]),
        ("failure", 2, &["simulate", "good.bg", "--t-end", "-1"]),
        ("failure", 2, &["simulate", "good.bg", "--sweep", "R=1:2"]),
        ("failure", 1, &["simulate", "good.bg", "--data", "missing.csv"]),
        (
            "estimate",
            0,
            &["estimate", "motor.bg", "--data", "motor.csv", "--fit", "R,J", "--plot", "fit.svg"],
        ),
        (
            "estimate",
            0,
            &["estimate", "motor.bg", "--data", "motor.csv", "--fit", "R", "--profile", "R", "--starts", "3"],
        ),
        (
            "estimate",
            0,
            &[
                "estimate",
                "motor.bg",
                "--data",
                "motor.csv",
                "--fit",
                "R,L",
                "--write",
                "fitted.bg",
                "--tolerance",
                "95",
            ],
        ),
        (
            "estimate",
            1,
            &[
                "estimate",
                "motor.bg",
                "--data",
                "motor.csv",
                "--fit",
                "R",
                "--plot",
                "missing/fit.png",
                "--figure",
                "residuals",
            ],
        ),
        (
            "estimate-plan",
            0,
            &["estimate", "motor.bg", "--plan", "--fit", "R,J", "--t-end", "2", "--sample-time", "0.1,0.2"],
        ),
        (
            "ensemble",
            0,
            &[
                "ensemble",
                "motor.bg",
                "--vary",
                "R=normal:1:0.1",
                "--samples",
                "9",
                "--indices",
                "--limit",
                "w=0:",
            ],
        ),
        (
            "ensemble",
            0,
            &["ensemble", "motor.bg", "--vary", "R=uniform:1:2", "--samples", "9", "--shard", "2/3"],
        ),
        ("failure", 1, &["ensemble", "good.bg", "--samples", "9"]),
        ("failure", 1, &["ensemble", "--merge", "missing.json"]),
        ("failure", 2, &["ensemble", "motor.bg", "--vary", "R=uniform:2:1"]),
        ("failure", 2, &["ensemble", "motor.bg", "--shard", "4/3"]),
        ("failure", 2, &["estimate", "motor.bg", "--fit", "R"]),
        ("failure", 2, &["estimate", "motor.bg", "--data", "motor.csv", "--fit", "R", "--bounds", "R=2:1"]),
        ("failure", 2, &["estimate", "motor.bg", "--data", "motor.csv", "--method", "newton"]),
        ("failure", 1, &["estimate", "motor.bg", "--data", "missing.csv", "--fit", "R"]),
        ("failure", 1, &["estimate", "motor.bg", "--data", "motor.csv"]),
        ("failure", 1, &["estimate", "motor.bg", "--data", "motor.csv", "--fit", "R", "--bounds", "R=5:6"]),
        ("simulate-runs", 0, &["simulate", "motor.bg", "--sweep", "R=1:2:3", "--plot", "sweep.svg"]),
        ("simulate-runs", 0, &["simulate", "motor.bg", "--scenario", "a: R=1", "--scenario", "b:"]),
        ("simulate", 0, &["simulate", "motor.bg", "--perturb", "R=+10%,L=-0.1", "--plot", "change.svg"]),
        ("simulate", 0, &["simulate", "motor.bg", "--gradient", "final(w)", "--gradient", "integral(w)"]),
        ("failure", 1, &["simulate", "motor.bg", "--gradient", "final(x)"]),
        ("failure", 1, &["simulate", "motor.bg", "--perturb", "V=+1"]),
        ("failure", 1, &["simulate", "motor.bg", "--scenario", "x=1"]),
        ("tf", 0, &["tf", "good.bg", "--method", "mason"]),
        ("failure", 2, &["tf", "good.bg", "--method", "cramer"]),
        ("structure", 0, &["structure", "good.bg"]),
        ("structure", 0, &["structure", "good.bg", "--junction-matrix"]),
        ("failure", 1, &["structure", "bad.bg"]),
        ("incremental", 0, &["incremental", "good.bg"]),
        ("incremental", 0, &["incremental", "good.bg", "--pair", "--draw", "good.svg"]),
        ("incremental", 0, &["incremental", "good.bg", "--form", "linear"]),
        ("incremental", 0, &["incremental", "good.bg", "--form", "pseudo", "--each"]),
        ("failure", 1, &["incremental", "good.bg", "--only", "k"]),
        ("failure", 1, &["incremental", "bad.bg"]),
        ("failure", 2, &["incremental", "good.bg", "--form", "pseudo", "--split"]),
        ("draw", 0, &["draw", "good.bg"]),
        (
            "draw",
            0,
            &["draw", "good.bg", "-o", "good.svg", "--layout", "places.json", "--path", "a", "b", "--loops"],
        ),
        (
            "draw",
            0,
            &["draw", "good.bg", "-o", "good.png", "--layout", "places.json", "--numbers", "--theme", "dark"],
        ),
        ("draw", 0, &["draw", "good.bg", "--sfg"]),
        ("draw", 1, &["draw", "bad.bg", "-o", "bad.svg"]),
        ("failure", 1, &["draw", "bad.bg", "--sfg"]),
        ("draw", 1, &["draw", "good.bg", "-o", "missing/good.svg"]),
        ("draw", 1, &["draw", "good.bg", "--path", "a", "c"]),
        ("draw", 1, &["draw", "good.bg", "--layout", "good.bg"]),
        ("failure", 2, &["draw", "good.bg", "-o", "good.pdf"]),
        ("failure", 2, &["draw", "good.bg", "--scale", "0"]),
        ("report", 0, &["report", "good.bg"]),
        ("report", 0, &["report", "good.bg", "-o", "good.html"]),
        ("report", 1, &["report", "bad.bg", "-o", "bad.html"]),
        ("report", 1, &["report", "good.bg", "-o", "missing/good.html"]),
        ("failure", 1, &["report", "missing.bg"]),
        ("fmt", 0, &["fmt", "--check", "good.bg"]),
        ("fmt", 1, &["fmt", "--check", "broken.bg"]),
        ("fmt", 1, &["fmt", "missing.bg"]),
        ("examples", 0, &["examples"]),
        ("example", 0, &["examples", "dc_motor"]),
        ("examples-written", 0, &["examples", "dc_motor", "--write", "out"]),
        ("failure", 1, &["examples", "dc_motor", "--write", "out"]),
        ("examples-written", 0, &["examples", "--write", "out", "--force"]),
        ("sensitivity", 0, &["sensitivity", "out/dc_motor.bg", "--matrices"]),
        ("failure", 1, &["sensitivity", "out/dc_motor.bg", "--only", "Rb"]),
        ("failure", 2, &["examples", "dc_moto"]),
        ("explain-list", 0, &["explain"]),
        ("explain", 0, &["explain", "bg0501"]),
        ("failure", 2, &["explain", "BG9999"]),
        ("completions", 0, &["completions", "bash"]),
        ("failure", 2, &["completions", "abacus"]),
        ("failure", 2, &["chekc", "good.bg"]),
        ("failure", 2, &["check", "good.bg", "--set", "k"]),
        ("failure", 2, &["check"]),
    ] {
        let mut arguments = arguments.to_vec();
        arguments.push("--json");
        let run = paynter(&folder, &arguments);
        assert_eq!(run.code, Some(code), "{arguments:?}: {}{}", run.stdout, run.stderr);
        assert_fits(schema, &run.json());
        // Only what the command line's own parser says goes to standard error as well.
        assert!(run.stderr.is_empty() || code == 2, "{arguments:?}: {}", run.stderr);
    }
}

/// The budget of terms is the user's, and what passes it says so.
#[test]
fn sensitivities_are_written_out_within_the_budget() {
    let folder = folder("terms");
    std::fs::write(folder.join("motor.bg"), include_str!("../../../../examples/dc_motor.bg")).unwrap();
    for (terms, shared) in [("3", true), ("1000", false)] {
        let run = paynter(&folder, &["sensitivity", "motor.bg", "--terms", terms]);
        assert_eq!(run.code, Some(0), "{}", run.stderr);
        let said = run.stderr.contains("BG0608") && run.stderr.contains("the budget is 3 terms");
        assert_eq!((said, run.stderr.contains("--terms N")), (shared, shared), "{}", run.stderr);
        assert_eq!(run.stdout.contains("shared parts have names"), shared, "{}", run.stdout);
    }
}

#[test]
fn people_get_results_and_findings_on_their_own_streams() {
    let folder = folder("streams");
    std::fs::write(folder.join("good.bg"), GOOD).unwrap();
    let run = paynter(&folder, &["check", "good.bg"]);
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""));
    assert!(run.stdout.starts_with("m: ok"), "{}", run.stdout);
    let run = paynter_with(&folder, &["check", "-"], GOOD.replace("= 2", "= c").as_bytes());
    assert_eq!(run.code, Some(1));
    assert!(run.stderr.contains("--> <stdin>:3:13"), "{}", run.stderr);
    assert!(!run.stderr.contains('\u{1b}'), "colour without a terminal");
    let run = paynter_with(&folder, &["check", "-", "--color", "always"], b"");
    assert!(run.stderr.contains('\u{1b}'), "no colour though it was asked for");
}

#[test]
fn findings_name_files_as_the_user_would() {
    let folder = folder("shown");
    std::fs::create_dir_all(folder.join("models/parts")).unwrap();
    std::fs::write(
        folder.join("models/m.bg"),
        "import \"parts/p.bg\"\nmodel m { Se a = 1; R b = 1; a -> b }\n",
    )
    .unwrap();
    std::fs::write(folder.join("models/parts/p.bg"), "model p { port q; R r = ; q -> r }\n").unwrap();
    let run = paynter(&folder, &["check", "--json", "models/m.bg"]);
    let text = run.stdout.replace('\\', "/");
    assert!(text.contains("\"models/parts/p.bg\""), "{text}");
}

#[test]
fn a_reader_may_stop_reading() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_paynter"))
        .args(["completions", "zsh"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert_eq!(output.status.code(), Some(0));
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_said() {
    let output = Command::new(env!("CARGO_BIN_EXE_paynter"))
        .args(["explain"])
        .stdout(std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap())
        .stderr(Stdio::piped())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("BG0902"));
}

/// Runs a command on standard input, interrupts it and tells how it ended. Where `closed`,
/// it has all of its input and computes; otherwise it still waits for more.
#[cfg(unix)]
fn interrupted(arguments: &[&str], model: &str, closed: bool) -> std::process::Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_paynter"))
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // More than a pipe holds: once it is written, the command has begun to read.
    let mut input = child.stdin.take().unwrap();
    input.write_all(&vec![b' '; 1 << 20]).unwrap();
    input.write_all(model.as_bytes()).unwrap();
    if closed {
        drop(input);
        std::thread::sleep(std::time::Duration::from_millis(400));
    }
    let signal = format!("kill -INT {}", child.id());
    assert!(Command::new("sh").args(["-c", &signal]).status().unwrap().success());
    child.wait_with_output().unwrap()
}

#[cfg(unix)]
#[test]
fn interruption_ends_with_130() {
    let long = include_str!("../../../../examples/chain.bg");
    for (arguments, model, closed) in [
        (&["check", "-"][..], "", false),
        (&["check", "-", "--json"], "", false),
        (&["equations", "-", "--set", "N=60000"], long, true),
        (&["tf", "-", "--json", "--set", "N=60000"], long, true),
    ] {
        let output = interrupted(arguments, model, closed);
        assert_eq!(output.status.code(), Some(130), "{arguments:?}");
        assert!(output.stdout.is_empty(), "{arguments:?}: half an answer");
        assert_eq!(String::from_utf8_lossy(&output.stderr).trim(), "stopped", "{arguments:?}");
    }
}

#[test]
fn examples_are_written_once() {
    let folder = folder("written");
    let run = paynter(&folder, &["examples", "dc_motor", "--write", "new/place"]);
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""));
    let path = folder.join("new/place/dc_motor.bg");
    let printed = paynter(&folder, &["examples", "dc_motor"]).stdout;
    assert_eq!(std::fs::read_to_string(&path).unwrap(), printed);
    std::fs::write(&path, "mine").unwrap();
    let run = paynter(&folder, &["examples", "--write", "new/place"]);
    assert_eq!(run.code, Some(1));
    assert!(run.stderr.contains("BG0902") && run.stderr.contains("--force"), "{}", run.stderr);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "mine");
    assert_eq!(
        std::fs::read_dir(folder.join("new/place")).unwrap().count(),
        1,
        "half of the examples were written"
    );
    let run = paynter(&folder, &["examples", "dc_motor", "--write", "new/place", "--force"]);
    assert_eq!(run.code, Some(0));
    assert_eq!(std::fs::read_to_string(&path).unwrap(), printed);
}

#[test]
fn every_example_is_sound() {
    let folder = folder("sound");
    assert_eq!(paynter(&folder, &["examples", "--write", "."]).code, Some(0));
    let list = paynter(&folder, &["examples", "--json"]).json();
    for entry in list["examples"].as_array().unwrap() {
        let file = format!("{}.bg", entry["name"].as_str().unwrap());
        let run = paynter(&folder, &["check", &file]);
        assert_eq!(run.code, Some(0), "{file}: {}", run.stderr);
        let run = paynter(&folder, &["causality", "--json", &file]);
        assert_fits("causality", &run.json());
        assert_fits("equations", &paynter(&folder, &["equations", "--json", &file]).json());
        for bond in run.json()["bonds"].as_array().unwrap() {
            let into = &bond["effort_into"];
            assert!(*into == bond["from"] || *into == bond["to"], "{file}: {bond}");
        }
    }
}
