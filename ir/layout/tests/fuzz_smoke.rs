//! The checks of the fuzz targets, on fixed seeds: `ir/layout/fuzz` does the same with coverage to guide it.

use crate::common::checks::CHECKS;
use crate::common::source::streams;
use crate::common::texts::read_all;

/// Pieces of text that make values, or nearly do.
const PIECES: [&str; 36] = [
    "(",
    ")",
    "(",
    ")",
    ",",
    ",",
    ":",
    ":",
    "\n",
    "1",
    "2",
    "4",
    "8",
    "64",
    "0",
    "-1",
    "-8",
    "?",
    "?{i64}",
    "?{div=8}",
    "?{i64 div=16}",
    "@0",
    "@1",
    "_",
    "[",
    "]",
    ";",
    "S<3,4,3>",
    " o ",
    "9223372036854775807",
    "-9223372036854775808",
    "4294967296",
    "(4,2):(1,4)",
    "(2,2)",
    "8:1",
    " ",
];

#[test]
fn texts_go_round_or_are_refused() {
    let mut text = Vec::new();
    streams(100, 30_000, |s| {
        text.clear();
        if s.byte() < 128 {
            for _ in 0..s.below(24) {
                text.extend(s.pick(&PIECES).bytes());
            }
        } else {
            // Real ones, with bytes changed.
            let c = &crate::measured::CASES[s.below(20)];
            text.extend(format!("{}\n{}", c.layout, s.pick(&[c.rhs, c.tile, c.fill.0])).bytes());
            for _ in 0..s.below(4) {
                let at = s.below(text.len());
                match s.below(4) {
                    0 => text[at] = s.byte(),
                    1 => text[at] = s.pick(b"0123456789"),
                    2 => drop(text.remove(at)),
                    _ => text.insert(at, s.pick(b"()[],:;?@-_019 o")),
                }
            }
        }
        read_all(&text);
    });
}

#[test]
fn operations_as_the_fuzzer_chooses_them() {
    streams(200, 5_000, |s| {
        let check = s.below(CHECKS.len());
        CHECKS[check].1(s);
    });
}
