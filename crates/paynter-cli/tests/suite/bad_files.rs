//! Files that are no models: each is refused at once with a code and a remedy.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use crate::common;

use common::{folder, paynter, paynter_with};

/// Checks that `check` of a file fails with this code and these words, in both forms.
fn assert_refused(folder: &std::path::Path, file: &str, input: &[u8], code: &str, words: &str) {
    let run = paynter_with(folder, &["check", "--json", file], input);
    assert_eq!(run.code, Some(1), "{file}: {}", run.stdout);
    let document = run.json();
    assert_eq!(document["ok"], false, "{file}");
    assert!(run.stderr.is_empty(), "{file}: {}", run.stderr);
    let found = document["diagnostics"].as_array().unwrap();
    let hit = |f: &&serde_json::Value| {
        f["code"] == code && format!("{} {}", f["message"], f["help"]).contains(words) && f["line"].is_u64()
    };
    assert_eq!(found.iter().filter(hit).count(), 1, "{file}: no {code} with `{words}` in {document:#}");
    assert!(found.len() <= 3, "{file}: one mistake gives {} findings", found.len());
    let run = paynter_with(folder, &["check", file], input);
    assert_eq!(run.code, Some(1), "{file}");
    assert!(run.stderr.contains(&format!("error[{code}]")), "{file}: {}", run.stderr);
    assert!(run.stderr.contains("help: "), "{file}: {}", run.stderr);
}

#[test]
fn files_that_cannot_be_read() {
    let folder = folder("unreadable");
    std::fs::write(folder.join("motor.bg"), "model m { Se a = 1; R b = 2; a -> b }\n").unwrap();
    std::fs::create_dir(folder.join("models")).unwrap();
    assert_refused(&folder, "motr.bg", b"", "BG0901", "did you mean `motor.bg`?");
    assert_refused(&folder, "motor", b"", "BG0901", "did you mean `motor.bg`?");
    assert_refused(&folder, "dc_motor.bg", b"", "BG0901", "paynter examples dc_motor --write .");
    assert_refused(&folder, "models", b"", "BG0901", "it is a folder");
    assert_refused(&folder, "models/nothing.bg", b"", "BG0901", "there is no file");
    assert_refused(&folder, "nothing/nothing.bg", b"", "BG0901", "there is no file");
}

#[cfg(unix)]
#[test]
fn devices_and_pipes_never_hang() {
    let folder = folder("devices");
    let made = std::process::Command::new("mkfifo").arg(folder.join("pipe.bg")).status();
    assert!(made.unwrap().success());
    assert_refused(&folder, "pipe.bg", b"", "BG0901", "it is a pipe or a device");
    assert_refused(&folder, "/dev/zero", b"", "BG0901", "it is a pipe or a device");
}

#[cfg(unix)]
#[test]
fn links_may_not_lead_an_import_outside() {
    let folder = folder("links");
    let (inside, outside) = (folder.join("inside"), folder.join("outside.bg"));
    std::fs::create_dir(&inside).unwrap();
    std::fs::write(&outside, "model cell { port p; R r = 1; p -> r }\n").unwrap();
    std::os::unix::fs::symlink(&outside, inside.join("link.bg")).unwrap();
    let model = "import \"link.bg\"\nmodel m { Se a = 1; use cell c; a -> c.p }\n";
    std::fs::write(inside.join("m.bg"), model).unwrap();
    let run = paynter(&inside, &["check", "--json", "m.bg"]);
    assert_eq!(run.code, Some(1));
    assert!(run.stdout.contains("BG0210"), "{}", run.stdout);
    // A link that the user names is the user's own choice.
    let run = paynter(&inside, &["check", "link.bg"]);
    assert!(!run.stderr.contains("BG0901"), "{}", run.stderr);
}

#[test]
fn files_that_are_no_models() {
    let folder = folder("no-models");
    for (name, content, code, words) in [
        ("empty.bg", &b""[..], "BG0109", "model NAME"),
        ("blank.bg", b"\n  \n// nothing but words\n", "BG0109", "model NAME"),
        ("binary.bg", b"\x7fELF\x02\x01\x00\x00\xff\xfe\x00model m { }", "BG0107", "UTF-8"),
        ("utf16.bg", b"\xff\xfem\x00o\x00d\x00e\x00l\x00", "BG0107", "UTF-8"),
    ] {
        std::fs::write(folder.join(name), content).unwrap();
        assert_refused(&folder, name, b"", code, words);
        assert_refused(&folder, "-", content, code, words);
    }
}

#[test]
fn files_over_the_limit_are_refused_unread() {
    let folder = folder("large");
    let file = std::fs::File::create(folder.join("large.bg")).unwrap();
    // A sparse file: a terabyte that takes no room and that nobody may read.
    file.set_len(1 << 40).unwrap();
    assert_refused(&folder, "large.bg", b"", "BG0106", "16 MB");
    let input = vec![b' '; 17 << 20];
    let run = paynter_with(&folder, &["check", "--json", "-"], &input);
    assert_eq!(run.code, Some(1));
    assert!(run.stdout.contains("BG0106"), "{}", run.stdout);
}

#[test]
fn deep_nesting_is_refused() {
    let folder = folder("deep");
    let deep = 20_000;
    let cases = [
        ("parentheses", format!("model m {{\n param k = {}1{}\n}}\n", "(".repeat(deep), ")".repeat(deep))),
        ("open", format!("model m {{\n param k = {}", "(".repeat(deep))),
        ("minus", format!("model m {{\n param k = {}1\n}}\n", "-".repeat(deep))),
        ("not", format!("model m {{\n param k = {}1\n}}\n", "not ".repeat(deep))),
        ("power", format!("model m {{\n param k = {}1\n}}\n", "2^".repeat(deep))),
        ("calls", format!("model m {{\n param k = {}1{}\n}}\n", "sin(".repeat(deep), ")".repeat(deep))),
        ("loops", format!("model m {{\n {}{}\n}}\n", "for i in 1..2 { ".repeat(deep), "}".repeat(deep))),
        ("brackets", format!("model m {{\n R r[2] = {}1{}\n}}\n", "[".repeat(deep), "]".repeat(deep))),
        ("indices", format!("model m {{\n a{}1{} -> b\n}}\n", "[a".repeat(deep), "].x".repeat(deep))),
        ("models", format!("{}{}\n", "model m { ".repeat(deep), "}".repeat(deep))),
    ];
    for (name, text) in cases {
        let file = format!("{name}.bg");
        std::fs::write(folder.join(&file), text).unwrap();
        for command in ["check", "causality", "equations", "draw", "fmt"] {
            let run = paynter(&folder, &[command, "--json", &file]);
            assert_eq!(run.code, Some(1), "{command} {name}");
            assert!(run.json()["diagnostics"].as_array().is_some_and(|d| !d.is_empty()), "{command} {name}");
        }
        let run = paynter(&folder, &["check", &file]);
        assert_eq!(run.code, Some(1), "{name}");
        assert!(run.stderr.len() < 100_000, "{name}: {} bytes of findings", run.stderr.len());
    }
    // A long sum is no nesting.
    let sum = vec!["1"; deep].join(" + ");
    let text = format!("model m {{\n param k = {sum}\n Se a = k\n R b = 2\n a -> b\n}}\n");
    let run = paynter_with(&folder, &["check", "-"], text.as_bytes());
    assert_eq!(run.code, Some(0), "{}", run.stderr);
}

#[test]
fn random_bytes_never_break_it() {
    const SIGNS: &[u8] = b"{}[]()=;,.->%\"\n0az\xce";
    let folder = folder("noise");
    let model =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/dc_motor.bg")).unwrap();
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state as usize
    };
    for _ in 0..60 {
        let mut bytes = model.clone().into_bytes();
        for _ in 0..1 + random() % 8 {
            let at = random() % bytes.len();
            match random() % 3 {
                0 => bytes[at] = SIGNS[random() % SIGNS.len()],
                1 => drop(bytes.drain(at..(at + random() % 40).min(bytes.len()))),
                _ => bytes.truncate(at.max(1)),
            }
        }
        for command in ["check", "causality", "equations", "tf", "draw", "fmt"] {
            let run = paynter_with(&folder, &[command, "--json", "-"], &bytes);
            assert!(matches!(run.code, Some(0 | 1)), "{command}: {:?} on {bytes:?}", run.code);
            run.json();
        }
    }
}
