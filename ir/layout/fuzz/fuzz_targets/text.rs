//! Arbitrary text: whatever parses prints and parses back equal; every operation on it returns.
#![no_main]

#[path = "../../tests/common/texts.rs"]
mod texts;

libfuzzer_sys::fuzz_target!(|data: &[u8]| texts::read_all(data));
