//! `paynter simulate` as people and programs use it: tables, parts of tables, and what stops it.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use crate::common;

use common::{folder, paynter, paynter_with};
use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};

const RC: &str = "model rc { input u = 1 [V]; param R = 2; Se s = u; 1 j; R r = R; C c = 1 / 2\n\
    s -> j; j -> r, c; output v = c.e [mV] }\n";

/// A law whose inverse depends on the sign of its parameter.
const CUBIC: &str = "model cubic { param k = 2; Se s = 1; 1 j; R r { e = k*f^3 }; C c = 1; s -> j; j -> r, c\n\
    output v = c.e }\n";

const DRAIN: &str = "model drain { param k = 1; C tank { e = q; init q = 1 }; R valve { f = k*sqrt(e) }\n\
    Sf out = -0.5; 0 j; j -> tank, valve; out -> j; output level = tank.q }\n";

fn rows(text: &str) -> Vec<Vec<&str>> {
    text.lines().filter(|line| !line.starts_with('#')).map(|line| line.split(',').collect()).collect()
}

#[test]
fn tables_of_sweeps_and_scenarios() {
    let folder = folder("sweeps");
    let run = |arguments: &[&str]| {
        let all = [&["simulate", "-", "--points", "3", "--t-end", "2"], arguments].concat();
        let run = paynter_with(&folder, &all, RC.as_bytes());
        assert_eq!(run.code, Some(0), "{}", run.stderr);
        run.stdout
    };
    let text = run(&["--sweep", "R=1:4:3:log", "--sweep", "u=0,2"]);
    let table = rows(&text);
    assert_eq!(table[0], ["R", "u", "t", "v"]);
    assert_eq!(table.len(), 1 + 3 * 2 * 3);
    assert_eq!((table[1][0], table[7][0], table[13][0]), ("1", "2", "4"));
    assert_eq!((table[4][1], table[4][2], table[4][3]), ("2", "0", "0"));
    let last: f64 = table[6][3].parse().unwrap();
    assert!((last - 2000.0 * (1.0 - (-4.0_f64).exp())).abs() < 0.01, "in the unit of the output: {last}");

    let text =
        run(&["--scenario", "late: u=step(1), R=1", "--scenario", "R=max(1, 3)", "--scenario", "plain:"]);
    assert!(text.contains("\nlate,0,0\n") && text.contains("\n\"R=max(1, 3)\",0,0\n"), "{text}");
    let plain: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("plain,")).collect();
    let alone = run(&[]);
    assert_eq!(plain, alone.lines().skip(1).collect::<Vec<_>>(), "a scenario that changes nothing");

    // A scenario that cannot be is told, and the others go on.
    let all = ["simulate", "-", "--points", "2", "--scenario", "bad: R=0", "--scenario", "good: R=1"];
    let both = paynter_with(&folder, &all, RC.as_bytes());
    assert_eq!(both.code, Some(1));
    assert!(
        both.stdout.contains("\ngood,0,0\n") && both.stdout.contains("# stopped: bad: "),
        "{}",
        both.stdout
    );
    assert!(both.stderr.contains("bad: "), "{}", both.stderr);
    let document = paynter_with(&folder, &[&all[..], &["--json"]].concat(), RC.as_bytes());
    assert!(document.stdout.contains("\"complete\": false"), "{}", document.stdout);

    let text = run(&["--perturb", "R=+10%"]);
    assert_eq!(rows(&text)[0], ["t", "v", "v_incremental", "v_exact", "v_difference"]);
    let text = run(&["--direction", "R=1", "--direction", "both: R=1, init(c.q)=2"]);
    assert_eq!(rows(&text)[0], ["t", "v", "d(v)/d(lambda1)", "d(v)/d(both)"]);
    let text = run(&["--sensitivity", "all,init"]);
    assert_eq!(rows(&text)[0], ["t", "v", "d(v)/d(R)", "d(v)/d(init(c.q))"]);
    let text = run(&["--gradient", "final(v)"]);
    assert!(text.starts_with("rc: final(v) = ") && text.contains("PARAMETER p"), "{text}");
}

/// A law is inverted for the sign of its parameter, so that a sweep over both needs both inverses.
#[test]
fn sweeps_may_turn_signs() {
    let folder = folder("signs");
    let cubic = |arguments: &[&str]| {
        let all = [&["simulate", "-", "--points", "2", "--t-end", "0.5"], arguments].concat();
        paynter_with(&folder, &all, CUBIC.as_bytes()).stdout
    };
    let text = cubic(&["--sweep", "k=-3:3:4"]);
    for (row, k) in [(2, "-3"), (4, "-1"), (6, "1"), (8, "3")] {
        let alone = cubic(&["--set", &format!("k={k}")]);
        assert_eq!((rows(&text)[row][0], rows(&text)[row][2]), (k, rows(&alone)[2][1]), "{text}");
    }
    let run = paynter_with(&folder, &["simulate", "-", "--perturb", "k=-3"], CUBIC.as_bytes());
    assert!(run.code == Some(1) && run.stderr.contains("turns the sign of `k`"), "{}", run.stderr);
}

#[test]
fn times_are_those_that_were_asked_for() {
    let folder = folder("times");
    let run = paynter_with(&folder, &["simulate", "-", "--times", "0,0.5,1:100:3:log"], RC.as_bytes());
    let first: Vec<&str> = rows(&run.stdout).iter().map(|row| row[0]).collect();
    assert_eq!(first, ["t", "0", "0.5", "1", "10", "100"], "{}", run.stderr);
    let run = paynter_with(&folder, &["simulate", "-", "--times", "1,0.5"], RC.as_bytes());
    assert_eq!(run.code, Some(2), "the command line alone is wrong");
    assert!(run.stderr.contains("BG0804") && run.stderr.contains("rising order"), "{}", run.stderr);
}

/// A jump whose size and the state after it determine each other, without a solution.
#[test]
fn a_jump_without_an_end_is_told() {
    let text = "model series { param k = 0.5
        Se source = 3*step(0.7); 1 loop; C a { e = -k*q^2 }; C b = 2; 0 node; R leak = 4
        source -> loop; loop -> node, b; node -> a, leak; output e = a.e }";
    let run =
        paynter_with(&folder("jump"), &["simulate", "-", "--t-end", "1", "--points", "11"], text.as_bytes());
    assert_eq!((run.code, rows(&run.stdout).len()), (Some(1), 8), "{}", run.stdout);
    for part in ["BG0801", "at t = 0.7 the jump of `a.q` cannot be calculated", "-->", "small resistance"] {
        assert!(run.stderr.contains(part), "{part}: {}", run.stderr);
    }
}

/// Partial results are kept, and marked as such in every form.
#[test]
fn what_came_before_a_failure_is_kept_and_marked() {
    let folder = folder("partial");
    let run = paynter_with(&folder, &["simulate", "-", "--points", "11"], DRAIN.as_bytes());
    assert_eq!(run.code, Some(1));
    assert_eq!(rows(&run.stdout).len(), 2, "{}", run.stdout);
    let last = run.stdout.lines().last().unwrap();
    assert!(last.starts_with("# stopped: at t = 0.901388 the rate of `tank.q`"), "{last}");
    assert!(run.stderr.contains("BG0801") && run.stderr.contains("-->"), "{}", run.stderr);

    let run = paynter_with(&folder, &["simulate", "-", "--points", "11", "--json"], DRAIN.as_bytes());
    let document = run.json();
    assert_eq!((run.code, &document["complete"]), (Some(1), &false.into()));
    assert_eq!(document["stopped"]["code"], "BG0801");
    assert!((document["stopped"]["t"].as_f64().unwrap() - 0.901_387).abs() < 1e-5);

    let arguments = ["simulate", "-", "--t-end", "1", "--points", "3", "--sweep", "k=0.1:2:3"];
    let run = paynter_with(&folder, &arguments, DRAIN.as_bytes());
    assert_eq!(run.code, Some(1));
    let marks = run.stdout.lines().filter(|line| line.starts_with("# stopped: k = "));
    assert_eq!((marks.count(), rows(&run.stdout).len()), (2, 1 + 3 + 2 + 2), "{}", run.stdout);
    // What was printed can be read again as data, up to where it stopped.
    let mut table = run.stdout.lines().filter(|line| !line.starts_with("0.1") && !line.starts_with("2,"));
    let text = table.by_ref().collect::<Vec<_>>().join("\n").replace("level", "u");
    std::fs::write(folder.join("part.csv"), text).unwrap();
    let run = paynter_with(&folder, &["simulate", "-", "--data", "part.csv"], RC.as_bytes());
    assert_eq!(run.code, Some(0), "{}", run.stderr);
}

#[test]
fn absurd_sizes_are_refused() {
    let folder = folder("absurd");
    for (arguments, words) in [
        (&["--points", "1000000000", "--json"][..], "numbers"),
        (&["--points", "1000000", "--sweep", "R=1:2:10000", "--json"], "numbers"),
        (&["--sweep", "R=1:2:10000", "--sweep", "u=1:2:10000"], "1000000 runs"),
        (&["--scenario", "a: R=1", "--scenario", "a: R=2"], "two scenarios are called `a`"),
        (&["--sweep", "N=1:2:2"], "--scenario"),
    ] {
        let run = paynter_with(&folder, &[&["simulate", "-"], arguments].concat(), RC.as_bytes());
        let said = run.stdout + &run.stderr;
        assert!(
            run.code == Some(1) && said.contains("BG0804") && said.contains(words),
            "{arguments:?}: {said}"
        );
    }
}

#[test]
fn data_are_found_from_where_the_user_is() {
    let folder = folder("data");
    std::fs::create_dir(folder.join("models")).unwrap();
    std::fs::write(folder.join("models/rc.bg"), RC).unwrap();
    std::fs::write(folder.join("d.csv"), "t,u\n0,0\n1,1,\n").unwrap();
    let run = paynter(&folder, &["simulate", "models/rc.bg", "--data", "d.csv", "--json"]);
    assert_eq!(run.code, Some(1));
    let found = &run.json()["diagnostics"][0];
    assert_eq!(
        (&found["code"], &found["file"], &found["line"]),
        (&"BG0910".into(), &"d.csv".into(), &3.into())
    );
    let run = paynter(&folder, &["simulate", "models/rc.bg", "--data", "models"]);
    assert!(run.code == Some(1) && run.stderr.contains("it is a folder"), "{}", run.stderr);
}

/// A long run writes as it goes: the first lines are there while it works, and Ctrl-C keeps them.
#[cfg(unix)]
#[test]
fn an_interrupted_run_keeps_what_it_has() {
    let folder = folder("interrupted");
    std::fs::write(folder.join("rc.bg"), RC).unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_paynter"))
        .current_dir(&folder)
        .args(["simulate", "rc.bg", "--points", "1000000000", "--t-end", "1e6"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut reader = BufReader::new(child.stdout.take().unwrap());
    let mut lines = Vec::new();
    for _ in 0..1000 {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        lines.push(line);
    }
    assert!(lines[0] == "t,v\n" && lines[1] == "0,0\n", "{:?}", &lines[..2]);
    let signal = format!("kill -INT {}", child.id());
    assert!(Command::new("sh").args(["-c", &signal]).status().unwrap().success());
    let mut rest = String::new();
    reader.read_to_string(&mut rest).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    assert_eq!(rest.lines().last(), Some("# stopped: the simulation was stopped"));
    assert_eq!(String::from_utf8_lossy(&output.stderr).trim(), "stopped");
}

/// A reader that has seen enough ends the run; a full disk is said.
#[cfg(target_os = "linux")]
#[test]
fn nobody_reads_on() {
    let folder = folder("unread");
    std::fs::write(folder.join("rc.bg"), RC).unwrap();
    let command = |stdout: Stdio| {
        Command::new(env!("CARGO_BIN_EXE_paynter"))
            .current_dir(&folder)
            .args(["simulate", "rc.bg", "--points", "1000000000", "--t-end", "1e6"])
            .stdout(stdout)
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    };
    let mut child = command(Stdio::piped());
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr.len()), (Some(0), 0));
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output = command(full.into()).wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("BG0902"));
}
