//! Any bytes: loading never panics, and what the formatter accepts it keeps.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let once = paynter::format("model.bg", data);
    if once.diagnostics.has_errors() {
        return;
    }
    let twice = paynter::format("model.bg", once.text.as_bytes());
    assert!(!twice.diagnostics.has_errors(), "the formatter broke the text");
    assert_eq!(once.text, twice.text, "the formatter is not idempotent");
});
