//! Bytes as an operation and its operands: the result is the right function, or an error that is justified.
#![no_main]

#[path = "../../tests/common/brute.rs"]
mod brute;
#[path = "../../tests/common/checks/mod.rs"]
mod checks;
#[path = "../../tests/common/source.rs"]
mod source;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let mut s = source::Source::new(data);
    let check = s.below(checks::CHECKS.len());
    checks::CHECKS[check].1(&mut s);
});
