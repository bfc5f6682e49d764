//! The committed schemas are those of the types. `cargo xtask schemas` rewrites them.

use std::path::Path;

#[test]
fn committed_schemas_are_current() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schemas");
    let update = std::env::var_os("UPDATE").is_some();
    let mut expected = Vec::new();
    for (name, schema) in paynter_view::json::schemas() {
        let file = format!("{name}.json");
        let text = format!("{}\n", serde_json::to_string_pretty(&schema).unwrap());
        let path = folder.join(&file);
        if update {
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(&path, &text).unwrap();
        }
        let committed = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(committed == text, "docs/schemas/{file} is out of date; `cargo xtask schemas` rewrites it");
        expected.push(file);
    }
    let mut committed: Vec<String> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    committed.sort();
    expected.sort();
    assert_eq!(committed, expected, "docs/schemas holds files that no command prints");
}
