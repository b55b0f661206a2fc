//! Text that is no PTX: an error in bounded time, never a panic.

use std::time::{Duration, Instant};

use super::SAMPLE;
use cute_runtime::ptx::*;

fn inside(text: &str) -> String {
    format!(".version 8.0\n.target sm_80\n.entry k()\n{{\n{text}\n}}\n")
}

#[track_caller]
fn fails(text: &str, says: &str) {
    let error = parse(text).unwrap_err().to_string();
    assert_eq!(error, format!("PTX {says}"), "{text}");
}

#[test]
fn errors_say_where_and_what() {
    const CUT: &str = "the text was cut off or changed: compile the kernel again";
    fails(
        "",
        "line 1, column 1: expected `.version`, with which PTX begins, found the end of the text; is this PTX? compile the kernel again",
    );
    fails(
        &inside("add.s32 %r1, %r2"),
        &format!("line 6, column 1: expected `;` or `,` after an operand, found `}}`; {CUT}"),
    );
    fails(
        &inside("  add.s32 %r1, ;"),
        &format!(
            "line 5, column 16: expected an operand: a register, a number, a symbol, `[address]`, `{{vector}}`, `(list)` or `_`, found `;`; {CUT}"
        ),
    );
    fails(
        &inside("/* ü */ .magic 1;"),
        "line 5, column 9: expected a directive of a body: .reg, .local, .shared, .param, .global, .const, .loc or .pragma, \
         found `.magic`; this reader does not know it: compile for an older PTX version, or teach it the directive",
    );
    for (text, says) in [
        (".version 8.0 .target sm_80 .magic", "found `.magic`"),
        (
            ".version 8.0 .target sm_80 .entry k() .magic {}",
            "found `.magic`",
        ),
        (".version 8 .target sm_80", "a version such as 8.0"),
        (".version 8.0 .target sm_80 .address_size 16", "32 or 64"),
        (
            ".version 8.0 .target sm_80 .global .align 3 .b8 x;",
            "a power of two",
        ),
        (".version 8.0 .target sm_80 .global .b9 x;", "found `.b9`"),
    ] {
        let error = parse(text).unwrap_err().to_string();
        assert!(error.contains(says), "{text}: {error}");
    }
    for number in [
        "08",
        "0x",
        "0f123",
        "18446744073709551616",
        "1e999",
        "12z",
        "1.2.3",
    ] {
        let text = inside(&format!("x {number};"));
        assert!(parse(&text).is_err(), "{number}");
    }
    for stray in ["é", "\0", "#", "\"open", "/* open", "%", "x %;", "x `;"] {
        assert!(parse(&inside(stray)).is_err(), "{stray}");
    }
}

#[test]
fn a_text_cut_anywhere_is_refused_or_shorter() {
    let whole = parse(SAMPLE).unwrap();
    for end in 0..SAMPLE.len() {
        // Only at the end of an item of module scope is the rest a module, too.
        if let Ok(module) = parse(&SAMPLE[..end]) {
            assert!(module.items.len() <= whole.items.len());
            assert!(module.items.len() < whole.items.len() || SAMPLE[end..].trim().is_empty());
        }
    }
}

#[test]
fn one_changed_byte_never_panics() {
    let mut bytes = SAMPLE.as_bytes().to_vec();
    for at in 0..bytes.len() {
        let old = bytes[at];
        for new in b"{}([].,;:%@-\"/0 " {
            bytes[at] = *new;
            if let Ok(module) = parse(std::str::from_utf8(&bytes).unwrap()) {
                let printed = module.to_string();
                assert_eq!(parse(&printed).as_ref(), Ok(&module), "{printed}");
            }
        }
        bytes[at] = old;
    }
}

#[test]
fn nesting_is_bounded() {
    let deep = |open: &str, close: &str, depth: usize| {
        inside(&format!("{}{}", open.repeat(depth), close.repeat(depth)))
    };
    assert!(parse(&deep("{", "}", MAX_DEPTH as usize - 1)).is_ok());
    for text in [
        deep("{", "}", MAX_DEPTH as usize),
        deep("{", "}", 1_000_000),
        inside(&format!("x {}", "{".repeat(1_000_000))),
        inside(&format!("x {}", "(".repeat(1_000_000))),
        inside(&format!("x {}", "[a, ".repeat(1_000_000))),
        format!(
            ".version 8.0 .target sm_80 .global .b8 x = {}",
            "{".repeat(1_000_000)
        ),
    ] {
        let error = parse(&text).unwrap_err();
        assert_eq!(error.expected, "at most 64 levels of nesting");
    }
}

#[test]
fn long_lines_take_bounded_time_and_short_errors() {
    let begin = Instant::now();
    for (text, good) in [
        (inside(&"x ".repeat(1 << 20)), false),
        (inside(&"x".repeat(1 << 20)), false),
        (inside(&"%".repeat(1 << 20)), false),
        (inside(&"@".repeat(1 << 20)), false),
        (inside(&format!("x{};", ".y".repeat(1 << 20))), true),
        (inside(&format!("x {};", "9".repeat(1 << 20))), false),
        (inside(&format!("x {}1;", "1, ".repeat(1 << 20))), true),
        (inside(&"/* */".repeat(1 << 18)), true),
        (inside(&format!("\"{}", "a".repeat(1 << 20))), false),
        (" ".repeat(MAX_BYTES + 1), false),
    ] {
        match parse(&text) {
            Ok(_) => assert!(good),
            Err(error) => {
                assert!(!good, "{error}");
                assert!(error.to_string().len() < 400, "{error}");
            }
        }
    }
    assert!(begin.elapsed() < Duration::from_secs(60));
}
