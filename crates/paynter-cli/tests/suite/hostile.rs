//! Hostile input: files that are no place for an answer, names and texts that command terminals, numbers beyond
//! any use, and models too large for the memory.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use crate::common;

use common::{folder, paynter};
use std::path::Path;

const GOOD: &str = "model m \"a \u{1b}[31m red \u{202e} doc\" {\n    param R = 2 ±10% \"b\u{9b}c\"\n    input u = 1\n    Se a = u\n    1 j\n    R b = R\n    I i = 1\n    a -> j -> b, i\n    output y = i.f\n}\n";

fn good(name: &str) -> std::path::PathBuf {
    let folder = folder(name);
    std::fs::write(folder.join("m.bg"), GOOD).unwrap();
    folder
}

/// What a run says where it must fail with a code.
fn refused(folder: &Path, arguments: &[&str], code: i32) -> String {
    let run = paynter(folder, arguments);
    assert_eq!(run.code, Some(code), "{arguments:?}\n{}", run.stderr);
    run.stderr
}

#[test]
fn an_input_is_never_an_output() {
    let folder = good("hostile_inputs");
    std::fs::create_dir(folder.join("parts")).unwrap();
    std::fs::write(folder.join("parts/cell.bg"), "model cell { port a; R r = 1; a -> r }\n").unwrap();
    let user = "import \"parts/cell.bg\"\nmodel n { Se s = table(\"d.svg\", v); use cell c; s -> c.a; output y = s.f }\n";
    std::fs::write(folder.join("n.bg"), user).unwrap();
    std::fs::write(folder.join("d.svg"), "t,v\n0,1\n1,2\n").unwrap();
    std::fs::hard_link(folder.join("m.bg"), folder.join("twin.bg")).unwrap();
    for arguments in [
        &["export", "m.bg", "--to", "c", "-o", "m.bg"][..],
        &["export", "m.bg", "--to", "c", "-o", "parts/../m.bg"],
        &["export", "m.bg", "--to", "c", "-o", "twin.bg"],
        &["report", "n.bg", "-o", "parts/cell.bg"],
        &["simulate", "n.bg", "--t-end", "1", "--plot", "d.svg"],
    ] {
        let said = refused(&folder, arguments, 1);
        assert!(
            said.contains("BG0902") && said.contains("the answer is made from it"),
            "{arguments:?}\n{said}"
        );
    }
    assert_eq!(std::fs::read_to_string(folder.join("m.bg")).unwrap(), GOOD);
    assert_eq!(std::fs::read_to_string(folder.join("n.bg")).unwrap(), user);
}

#[cfg(unix)]
#[test]
fn files_keep_what_they_are() {
    use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};
    let folder = good("hostile_files");
    let path = |name: &str| folder.join(name);
    let export = |target: &str| paynter(&folder, &["export", "m.bg", "--to", "c", "-o", target]);
    // Through a link, with the permissions that were there.
    std::fs::write(path("real.c"), "old").unwrap();
    std::fs::set_permissions(path("real.c"), std::fs::Permissions::from_mode(0o640)).unwrap();
    symlink("real.c", path("link.c")).unwrap();
    assert_eq!(export("link.c").code, Some(0));
    assert!(path("link.c").symlink_metadata().unwrap().is_symlink());
    assert_eq!(path("real.c").metadata().unwrap().permissions().mode() & 0o777, 0o640);
    assert!(std::fs::read_to_string(path("real.c")).unwrap().contains("#include"));
    symlink("later.c", path("dangling.c")).unwrap();
    assert_eq!(export("dangling.c").code, Some(0));
    assert!(path("dangling.c").symlink_metadata().unwrap().is_symlink() && path("later.c").is_file());
    symlink("round.c", path("round.c")).unwrap();
    assert_eq!(export("round.c").code, Some(1));
    // Read-only means it, for the superuser as well.
    std::fs::set_permissions(path("real.c"), std::fs::Permissions::from_mode(0o444)).unwrap();
    std::fs::write(path("untidy.bg"), GOOD.replace("    ", " ")).unwrap();
    std::fs::set_permissions(path("untidy.bg"), std::fs::Permissions::from_mode(0o444)).unwrap();
    assert!(refused(&folder, &["export", "m.bg", "--to", "c", "-o", "real.c"], 1).contains("read-only"));
    assert!(refused(&folder, &["fmt", "untidy.bg"], 1).contains("read-only"));
    // A device stays one.
    assert_eq!(export("/dev/null").code, Some(0));
    assert_eq!(paynter(&folder, &["draw", "m.bg", "-o", "/dev/null"]).code, Some(0));
    assert!(Path::new("/dev/null").metadata().unwrap().file_type().is_char_device());
    let printed = export("-");
    assert!(printed.code == Some(0) && printed.stdout.contains("#include") && !path("-").exists());
    let picture = paynter(&folder, &["draw", "m.bg", "-o", "-"]);
    assert!(picture.stdout.starts_with("<svg") || picture.stdout.starts_with("<?xml"));
    // Files of others that look like temporary ones are left alone.
    std::fs::write(path(".out.c.tmp"), "mine").unwrap();
    assert_eq!(export("out.c").code, Some(0));
    let left = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name());
    let left: Vec<String> =
        left.map(|name| name.into_string().unwrap()).filter(|n| n.ends_with(".tmp")).collect();
    assert_eq!(left, [".out.c.tmp"]);
}

#[test]
fn nothing_commands_the_terminal() {
    let folder = good("hostile_terminal");
    let command =
        |c: char| (c.is_control() && c != '\n' && c != '\t') || ('\u{202a}'..='\u{202e}').contains(&c);
    for arguments in [
        &["check", "m.bg"][..],
        &["equations", "m.bg"],
        &["report", "m.bg"],
        &["draw", "m.bg"],
        &["export", "m.bg", "--to", "c"],
        &["export", "m.bg", "--to", "python"],
        &["export", "m.bg", "--to", "latex"],
        &["incremental", "m.bg"],
        &["check", "m.bg", "--json"],
        &["report", "m.bg", "--json"],
        &["check", "missing\u{1b}[2J.bg", "--color", "never"],
    ] {
        let run = paynter(&folder, arguments);
        for text in [&run.stdout, &run.stderr] {
            assert!(!text.contains(command), "{arguments:?}\n{text:?}");
        }
    }
    std::fs::write(
        folder.join("hidden.bg"),
        "model m { param R\u{fe0f} = 1; Se a = 1; R b = R\u{fe0f}; a -> b }\n",
    )
    .unwrap();
    assert!(
        refused(&folder, &["check", "hidden.bg"], 1).contains("invisible character U+FE0F in the name `R`")
    );
}

#[test]
fn numbers_beyond_use_are_told_as_such() {
    let folder = good("hostile_numbers");
    for (arguments, code, message) in [
        (&["--t-end", "1e-320"][..], 2, "the end 1e-320 is too near the start"),
        (&["--times", "1,0"], 2, "the time 0 comes after 1"),
        (&["--times", "1,20", "--t-end", "2"], 2, "the time 20 is not between 0 and the end 2"),
        (
            &["--step", "1e-300", "--solver", "rk4"],
            2,
            "a step of 1e-300 makes more than a thousand million steps",
        ),
        (&["--rtol", "1e30"], 2, "1e30 is no tolerance"),
        (&["--t-end", "1e300"], 1, "in a run to"),
        (&["--set", "R=1/0"], 1, "division by zero"),
    ] {
        let arguments: Vec<&str> = ["simulate", "m.bg"].iter().chain(arguments).copied().collect();
        let said = refused(&folder, &arguments, code);
        assert!(said.contains(message), "{arguments:?}\n{said}");
        assert!(!said.contains("says nothing") && !said.contains("model set"), "{arguments:?}\n{said}");
    }
    std::fs::write(folder.join("twice.csv"), "t,u,time\n0,1,0\n1,2,1\n").unwrap();
    std::fs::write(folder.join("mac.csv"), "t,u\r0,1\r1,2\r").unwrap();
    for (file, message) in [("twice.csv", "two columns are called"), ("mac.csv", "a carriage return alone")] {
        assert!(refused(&folder, &["simulate", "m.bg", "--data", file], 1).contains(message), "{file}");
    }
    std::fs::write(folder.join("if.bg"), "model m { param if = 1; Se a = 1; R b = 1; a -> b }\n").unwrap();
    assert!(refused(&folder, &["check", "if.bg"], 1).contains("`if` begins a choice"));
    let deep = format!(
        "model m {{ param a = {}1{}; Se s = a; R r = 1; s -> r }}\n",
        "(".repeat(300),
        ")".repeat(300)
    );
    std::fs::write(folder.join("deep.bg"), deep).unwrap();
    assert!(refused(&folder, &["check", "deep.bg"], 1).contains("more than 256 levels"));
    std::fs::write(folder.join("table.bg"), "model m { Se a = table(\"t.csv\", v); R b = 1; a -> b }\n")
        .unwrap();
    std::fs::write(folder.join("t.csv"), "t,u\n0,1\n1,2\n").unwrap();
    assert!(refused(&folder, &["check", "table.bg"], 1).contains("there is no column `v`"));
}

#[test]
fn memory_is_estimated_before_it_is_taken() {
    let folder = folder("hostile_memory");
    let model = "model cell { port a; 0 j; C c = 1; R r = 1; a -> j -> c, r }\nmodel m { 1 x; Sf s = 0; s -> x\n\
                 use cell c[1..25000]\nfor i in 1..25000 { x -> c[i].a }\noutput y = c[1].c.q }\n";
    std::fs::write(folder.join("m.bg"), model).unwrap();
    let said = refused(&folder, &["simulate", "m.bg", "--sensitivity", "init", "--t-end", "1"], 1);
    assert!(said.contains("would take 25.0 GB of memory") && said.contains("--gradient"), "{said}");
}

/// Where the system allows no second thread, the first one does the work.
#[cfg(unix)]
#[test]
fn a_limit_of_threads_is_no_failure() {
    let folder = good("hostile_threads");
    let binary = Path::new(env!("CARGO_BIN_EXE_paynter"));
    for arguments in [
        "simulate m.bg --t-end 1 --points 3 --sweep R=1:2:3",
        "sensitivity m.bg --omega 0.1:10:3 --verify 20",
        "bode m.bg",
    ] {
        let limited = format!("ulimit -u 1; exec '{}' {arguments} >/dev/null", binary.display());
        // The superuser has no such limit.
        let as_nobody =
            format!("exec setpriv --reuid 65534 --regid 65534 --clear-groups sh -c \"{limited}\"");
        let usable = format!(
            "setpriv --reuid 65534 --regid 65534 --clear-groups sh -c \"test -x '{}'\"",
            binary.display()
        );
        let run = |line: &str| {
            std::process::Command::new("sh").args(["-c", line]).current_dir(&folder).output().unwrap()
        };
        let found = run(if run(&usable).status.success() { &as_nobody } else { &limited });
        assert!(found.status.success(), "{arguments}\n{}", String::from_utf8_lossy(&found.stderr));
    }
}

#[test]
fn quiet_leaves_notes_out() {
    let folder = folder("hostile_quiet");
    let model = "model m { param k = 1; Se a = 1; 1 j; 0 k0; R b = 1; R c = 1; R d = 1; a -> j -> b, k0; k0 -> c, d }\n";
    std::fs::write(folder.join("m.bg"), model).unwrap();
    let plain = paynter(&folder, &["check", "m.bg"]);
    let quiet = paynter(&folder, &["check", "m.bg", "--quiet"]);
    assert!(plain.stderr.contains("note[") && plain.stdout.contains("note"), "{}", plain.stderr);
    assert!(!quiet.stderr.contains("note[") && !quiet.stdout.contains("note"), "{}", quiet.stderr);
    assert!(quiet.stderr.contains("warning[BG0214]"), "{}", quiet.stderr);
}
