//! Runs the shell sessions of the handbook, so that what it shows is what a
//! person sees. `UPDATE=1` writes the true output into the pages.
//!
//! A block ` ```console ` is a session whose output is compared. On the page
//! of a diagnostic the first block ` ```sh ` shows it and the second does not.
#![cfg(unix)]
#![allow(clippy::panic, clippy::unwrap_used)]

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Runs a command line as a person would, and returns all it prints.
fn shell(line: &str, folder: &Path) -> String {
    let binary = Path::new(env!("CARGO_BIN_EXE_paynter")).parent().unwrap();
    let path = format!("{}:{}", binary.display(), std::env::var("PATH").unwrap_or_default());
    let record = folder.join(".output");
    let output = File::create(&record).unwrap();
    let mut command = Command::new("sh");
    command.args(["-c", line]).current_dir(folder).env("PATH", path).env("COLUMNS", "100");
    command.stdout(output.try_clone().unwrap()).stderr(output);
    command.status().unwrap();
    let text = std::fs::read_to_string(&record).unwrap();
    std::fs::remove_file(record).unwrap();
    // Trailing blanks would be lost on the page.
    text.trim_end().lines().flat_map(|line| [line.trim_end(), "\n"]).collect()
}

/// A fresh folder for one page.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("handbook").join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// The Markdown files of a folder of the handbook, with their texts.
fn pages(below: &str) -> Vec<(PathBuf, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/src").join(below);
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "md"));
    paths.sort();
    paths.into_iter().map(|path| (path.clone(), std::fs::read_to_string(path).unwrap())).collect()
}

#[test]
fn sessions_show_what_a_person_sees() {
    let mut sessions = 0;
    for (path, text) in pages("") {
        let folder = folder(&path.file_stem().unwrap().to_string_lossy());
        let mut now = String::new();
        let mut inside = false;
        for line in text.lines() {
            let fence = line.starts_with("```");
            if let Some(command) = line.strip_prefix("$ ").filter(|_| inside) {
                sessions += 1;
                now.push_str(&format!("{line}\n{}", shell(command, &folder)));
            } else if !inside || fence {
                now.push_str(&format!("{line}\n"));
            }
            inside = if fence { line == "```console" } else { inside };
        }
        if now == text {
            continue;
        }
        if std::env::var_os("UPDATE").is_some() {
            std::fs::write(&path, now).unwrap();
            continue;
        }
        let first = now.lines().zip(text.lines()).find(|(a, b)| a != b);
        let hint = "`UPDATE=1 cargo test -p paynter-cli` writes the true output";
        panic!("{} does not show what happens ({hint}); first difference: {first:#?}", path.display());
    }
    assert!(sessions > 0, "the handbook has no sessions");
}

#[test]
fn shell_examples_show_their_diagnostic_and_its_remedy() {
    for (path, text) in pages("diagnostics") {
        let code = path.file_stem().unwrap().to_string_lossy().into_owned();
        for (number, block) in text.split("\n```sh\n").skip(1).enumerate() {
            let folder = folder(&format!("{code}-{number}"));
            let commands = block.lines().take_while(|line| *line != "```");
            let output: String = commands
                .filter_map(|line| line.strip_prefix("$ "))
                .map(|line| shell(line, &folder))
                .collect();
            assert_eq!(output.contains(&code), number == 0, "block {number} of {code} prints:\n{output}");
        }
    }
}
