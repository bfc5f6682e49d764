//! `paynter fmt`: files change whole, and only where they must.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use crate::common;

use common::{folder, paynter, paynter_with};

const UNTIDY: &str = "model m{\nSe a=1 // keep me\nR b=2;a->b}\n";

#[test]
fn files_are_laid_out_in_place_once() {
    let folder = folder("in-place");
    let path = folder.join("m.bg");
    std::fs::write(&path, UNTIDY).unwrap();
    let run = paynter(&folder, &["fmt", "--check", "m.bg"]);
    assert_eq!(run.code, Some(1));
    assert!(run.stdout.contains("m.bg: not laid out"), "{}", run.stdout);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), UNTIDY, "--check changed the file");
    let run = paynter(&folder, &["fmt", "m.bg"]);
    assert_eq!((run.code, run.stdout.as_str(), run.stderr.as_str()), (Some(0), "", ""));
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.contains("// keep me") && text != UNTIDY, "{text}");
    let before = std::fs::metadata(&path).unwrap().modified().unwrap();
    assert_eq!(paynter(&folder, &["fmt", "m.bg"]).code, Some(0));
    assert_eq!(
        std::fs::metadata(&path).unwrap().modified().unwrap(),
        before,
        "a tidy file was written again"
    );
    assert_eq!(paynter(&folder, &["fmt", "--check", "m.bg"]).code, Some(0));
    let run = paynter_with(&folder, &["fmt", "-"], UNTIDY.as_bytes());
    assert_eq!((run.code, run.stdout), (Some(0), text));
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1, "something was left behind");
}

#[test]
fn a_file_with_mistakes_stays_and_the_others_are_done() {
    let folder = folder("mistakes");
    let broken = "model m{\nSe a=(1\n}\n";
    std::fs::write(folder.join("broken.bg"), broken).unwrap();
    std::fs::write(folder.join("untidy.bg"), UNTIDY).unwrap();
    let run = paynter(&folder, &["fmt", "broken.bg", "missing.bg", "untidy.bg"]);
    assert_eq!(run.code, Some(1));
    assert!(run.stderr.contains("broken.bg:2:"), "{}", run.stderr);
    assert!(run.stderr.contains("missing.bg"), "{}", run.stderr);
    assert_eq!(std::fs::read_to_string(folder.join("broken.bg")).unwrap(), broken);
    assert_ne!(std::fs::read_to_string(folder.join("untidy.bg")).unwrap(), UNTIDY);
}

#[cfg(unix)]
#[test]
fn permissions_and_links_stay() {
    use std::os::unix::fs::PermissionsExt;
    let folder = folder("permissions");
    let path = folder.join("m.bg");
    std::fs::write(&path, UNTIDY).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
    std::os::unix::fs::symlink("m.bg", folder.join("link.bg")).unwrap();
    assert_eq!(paynter(&folder, &["fmt", "link.bg"]).code, Some(0));
    assert!(folder.join("link.bg").symlink_metadata().unwrap().is_symlink(), "the link was replaced");
    assert_ne!(std::fs::read_to_string(&path).unwrap(), UNTIDY);
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
}
