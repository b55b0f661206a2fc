//! Bad input: an error with a position, in bounded time; never a panic or a stack overflow.

use std::time::{Duration, Instant};

use super::common::{fail, run, run_with};
use proptest::prelude::*;

/// Generous for a debug build on a busy machine; what it guards against takes minutes.
const BOUND: Duration = Duration::from_secs(20);

/// The error of a text on standard input.
fn refused(text: &[u8]) -> String {
    let start = Instant::now();
    let r = run_with(&["eval", "-"], text);
    assert!(start.elapsed() < BOUND, "{:?}", start.elapsed());
    assert_eq!((r.status, &r.out[..]), (Some(1), ""), "{}", r.err);
    assert!(r.err.len() < 2000, "{}", r.err.len());
    r.err
}

fn starts(expr: &str, error: &str) {
    let err = fail(expr);
    let found = err.starts_with(&format!("error: at column {error}"));
    assert!(found && err.contains('^'), "{expr}: {err}");
}

#[test]
fn unbalanced_parentheses() {
    starts(
        "size((2,(3,4))",
        "5: expected `,` or `)`, found the end; this `(` is not closed",
    );
    starts("(2,3))", "6: expected the end of the expression, found `)`");
    starts(
        "[2:1;3:1",
        "1: expected `;` or `]`, found the end; this `[` is not closed",
    );
    starts("(2,3]", "5: expected `,` or `)`, found `]`");
    starts("S<3,4", "6: expected `,`, found the end");
    starts(")", "1: expected an integer");
}

#[test]
fn shapes_and_strides_that_do_not_match() {
    starts(
        "size((2,3):(1,(2,3)))",
        "6: expected a stride congruent to shape (2,3)",
    );
    starts("(2,3):1", "1: expected a stride congruent");
    starts(
        "make_layout((2,3), (1,2,3))",
        "1: expected a stride congruent",
    );
}

#[test]
fn divisions_by_zero() {
    starts(
        "shape_div((8,8), (2,0))",
        "18: expected divisors of at least 1, found a division by zero",
    );
    starts(
        "ceil_div(8, 0)",
        "13: expected divisors of at least 1, found a division by zero",
    );
    starts("logical_divide(8:1, 0)", "21: expected positive integers");
    starts("upcast<0>(8:1)", "8: expected a factor of at least 1");
    starts("recast(8:1, 0, 8)", "13: expected a factor of at least 1");
    starts("idx2crd(3, (0,2))", "1: ");
}

#[test]
fn overflows() {
    starts("99999999999999999999", "1: expected an integer that fits");
    starts("size((4294967296,4294967296))", "1: `");
    starts(
        "coalesce((4294967296,4294967296):(1,1))",
        "10: `layout` expected values that fit",
    );
    starts(
        "crd2idx(9223372036854775807, 4:2)",
        "1: `crd2idx` expected values that fit",
    );
    starts(
        "sum((9223372036854775807,1))",
        "1: `add` expected values that fit",
    );
    starts(
        "logical_product(4294967296:1, 4294967296:1)",
        "1: `layout` expected values",
    );
}

#[test]
fn negative_shapes() {
    starts("(-4,2):(1,4)", "1: expected positive integers");
    starts("-4:1", "1: expected positive integers");
    starts("make_layout(-4)", "1: expected positive integers");
}

#[test]
fn ranks_in_the_thousands() {
    let tuple = |n: usize| format!("({}1)", "1,".repeat(n - 1));
    let r = run_with(&["eval", "-"], format!("rank({})", tuple(4000)).as_bytes());
    assert_eq!((r.status, &r.out[..]), (Some(0), "4000\n"));
    let err = refused(format!("rank({})", tuple(5000)).as_bytes());
    assert!(
        err.starts_with("error: at column 6: expected at most 4096 leaves"),
        "{err}"
    );
    let err = refused(format!("{}:{}", tuple(5000), tuple(5000)).as_bytes());
    assert!(
        err.starts_with("error: at column 1: expected at most 4096 leaves"),
        "{err}"
    );
    let err = refused(format!("select({}{})", tuple(4000), ",0".repeat(5000)).as_bytes());
    assert!(err.contains("expected at most 4096 leaves"), "{err}");
    let err = refused(b"append(8:1, 100000)");
    assert!(
        err.starts_with("error: at column 13: expected a number from 0 to 4096"),
        "{err}"
    );
}

#[test]
fn nesting_ten_thousand_deep() {
    for (open, close) in [
        ("(", ")"),
        ("[", "]"),
        ("<", ">"),
        ("coalesce(", ")"),
        ("rank<", ">(1)"),
    ] {
        for end in [close.repeat(10_000), String::new()] {
            let err = refused(format!("{}4{end}", open.repeat(10_000)).as_bytes());
            assert!(
                err.contains("expected at most 128 levels of nesting"),
                "{err}"
            );
            assert!(err.contains("at column"), "{err}");
        }
    }
    // Within the limit of expressions, beyond that of values.
    let err = refused(format!("depth({}4{})", "(".repeat(100), ")".repeat(100)).as_bytes());
    assert!(
        err.starts_with("error: at column 7: expected at most 64 levels"),
        "{err}"
    );
}

#[test]
fn a_megabyte() {
    for text in [
        "1,".repeat(500_000),
        "(1,".repeat(350_000),
        "1@".repeat(500_000),
    ] {
        refused(text.as_bytes());
    }
    refused("8:1 o ".repeat(170_000).as_bytes());
    refused("9".repeat(1 << 20).as_bytes());
    refused("a".repeat(1 << 20).as_bytes());
    refused(format!("({})", "1,".repeat(500_000)).as_bytes());
    refused(" ".repeat(1 << 20).as_bytes());
    let err = refused(" ".repeat(5 << 20).as_bytes());
    assert!(
        err.contains("expected an expression of at most 4194304 bytes"),
        "{err}"
    );
    // Many hard calls within the limit of terms.
    let hard = "[composition((7,2):(1,100),9000:3)".to_string()
        + &";composition((7,2):(1,7),9000:3)".repeat(400)
        + "]";
    refused(hard.as_bytes());
}

#[test]
fn lines_that_are_too_long_are_one_error() {
    let mut input = "1".repeat(5 << 20).into_bytes();
    input.extend_from_slice(b"\nsize(8:2)\n");
    let r = run_with(&["batch"], &input);
    let lines: Vec<&str> = r.out.lines().collect();
    assert_eq!((r.status, lines.len(), lines[1]), (Some(0), 2, "8"));
    assert!(lines[0].contains("at most 4194304 bytes"), "{}", lines[0]);
}

#[test]
fn invalid_utf8() {
    let err = refused(b"size(\xff)");
    assert!(
        err.starts_with("error: at column 6: expected UTF-8, found the byte 0xff"),
        "{err}"
    );
    let r = run_with(&["batch"], b"size(8:2)\n\xc3\x28\nrank(1)\n");
    assert_eq!(r.status, Some(0));
    let lines: Vec<&str> = r.out.lines().collect();
    assert_eq!(
        lines,
        [
            "8",
            "error: at column 1: expected UTF-8, found the byte 0xc3",
            "1"
        ]
    );
    #[cfg(unix)]
    {
        use std::os::unix::ffi::OsStrExt;
        let bad = std::ffi::OsStr::from_bytes(b"(4,\xf0\x9f)");
        let r = run([std::ffi::OsStr::new("print"), bad]);
        assert_eq!(r.status, Some(1));
        assert!(
            r.err.starts_with("error: at column 4: expected UTF-8"),
            "{}",
            r.err
        );
    }
}

#[test]
fn the_caret_stands_under_long_and_wide_text() {
    let err = fail(&format!("({}o)", "1,".repeat(200)));
    let lines: Vec<&str> = err.lines().collect();
    assert!(lines[0].starts_with("error: at column 402: "));
    let at = lines[2].find('^').expect("a caret");
    assert_eq!(&lines[1][at..=at], "o");
    let err = fail("(\u{e9}");
    assert!(err.ends_with("  | (\u{e9}\n  |  ^\n"), "{err}");
    let err = fail("(4,\n 5,\to)");
    assert!(err.starts_with("error: at line 2, column 5: "), "{err}");
    assert!(err.ends_with("  |  5, o)\n  |     ^\n"), "{err}");
}

#[test]
fn tiled_operations_say_what_they_take() {
    let c = "make_tiled_copy(copy_atom(UniversalCopy<64>, f16), (16,8):(8,1), (1,4))";
    let m = "make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN, (2,2))";
    for (expr, error) in [
        (
            "SM80_nothing",
            "expected an operation, found `SM80_nothing`; the copies are UniversalCopy<8>",
        ),
        (
            "UniversalCopy<7>",
            "expected an operation, found `UniversalCopy<7>`",
        ),
        ("UniversalCopy<", "expected an integer"),
        (
            "copy_atom(8, f16)",
            "expected a copy operation, such as UniversalCopy<128>, found an integer 8",
        ),
        (
            "copy_atom(UniversalCopy<8>, f16)",
            "expected elements that UniversalCopy<8> moves whole",
        ),
        (
            "copy_atom(UniversalCopy<8>, (4,4))",
            "expected a known integer",
        ),
        (
            "copy_atom(UniversalCopy<8>, 0)",
            "expected elements that UniversalCopy<8> moves whole, found elements of 0 bits",
        ),
        ("make_tiled_mma(8:1)", "expected an MMA atom, such as"),
        ("make_tiled_copy(8, 8:1)", "expected a copy atom, as"),
        (
            "layoutA_TV(copy_atom(UniversalCopy<64>, f16))",
            "expected a tiled MMA, as make_tiled_mma(..), found a copy atom",
        ),
        ("partition_S(8, 8:1)", "expected a tiled copy, as"),
        ("tile_size<2>(CC)", "expected a mode below 2, found 2"),
        (
            "partition_S(CC, (32,64), 128)",
            "expected a thread index from 0 to 127, found 128",
        ),
        (
            "partition_S(CC, (32,64), (1,2))",
            "expected an integer, found a tuple",
        ),
        (
            "partition_S(CC, 64)",
            "expected a tensor of rank at least 2",
        ),
        (
            "partition_A(MM, (32,64), -1)",
            "expected a thread index from 0 to 127",
        ),
        (
            "partition_fragment_C(MM, (?,64))",
            "expected static integers",
        ),
        (
            "make_tiled_copy_A(copy_atom(UniversalCopy<128>, 8), MM)",
            "values a thread in multiples of the 16",
        ),
        (
            "make_tiled_copy_impl(copy_atom(UniversalCopy<16>, 16), (4,2), (4,4))",
            "leaves out 8",
        ),
        (
            "make_tiled_copy_impl(copy_atom(UniversalCopy<16>, 16), (4,_), (4,4))",
            "expected a layout or a shape",
        ),
        (
            "make_tiled_copy_impl(copy_atom(UniversalCopy<16>, 16), ((1024,1024,1024),1):((1,1,1),0), 4096)",
            "at most 4194304 elements in a tile",
        ),
        ("local_tile((64,32), (16,8), (4,0))", "below 4 of the mode"),
        (
            "local_tile((64,32), (16,8), (0,0), (1,1,1))",
            "projection of the 2 modes",
        ),
        (
            "local_partition((64,32), (8,4), 1@0)",
            "expected an integer",
        ),
        (
            "local_partition((64,32), (8,4), -1)",
            "an index that is not negative",
        ),
    ] {
        let expr = expr.replace("CC", c).replace("MM", m);
        let err = fail(&expr);
        assert!(err.contains(error) && err.contains('^'), "{expr}: {err}");
    }
}

#[test]
fn other_commands_refuse_what_they_cannot_show() {
    for args in [
        &["print", "(2,3,4):(1,2,6)"][..],
        &["print", "(?,4):(1,?)"],
        &["print", "S<3,4,3>"],
        &["print", "()"],
        &["print", "--full", "(65536,65536):(1,65536)"],
        &["svg", "--full", "(1024,1024):(1,1024)"],
        &["latex", "make_identity_layout((2,3))"],
        &["print", "f16"],
        &["svg", "UniversalCopy<16>"],
        &[
            "latex",
            "make_tiled_copy(copy_atom(UniversalCopy<8>, 8), (4096,1024), (64,64))",
        ],
        &[
            "svg",
            "--full",
            "make_tiled_copy(copy_atom(UniversalCopy<8>, 8), (64,16), (64,2))",
        ],
        &[
            "svg",
            "make_tiled_copy(copy_atom(UniversalCopy<8>, 8), (2,2,2))",
        ],
        &["tv", "8:1", "8"],
        &["tv", "(4,8):(8,1)", "(4,4)"],
        &["tv", "(4,4):(-1,1)", "(4,4)"],
        &["tv", "(65536,65536):(0,0)", "(4,4)"],
        &["tv", "(4,4):(4,1)", "(4,4,4)"],
        &["banks", "(32,32)", "--threads", "33:32"],
        &["banks", "(32,32)", "--threads", "32:1", "--vector", "3"],
        &["banks", "(32,33)", "--threads", "32:33", "--vector", "8"],
        &["banks", "(32,32)", "--threads", "100000:0"],
        &["banks", "(32,32)", "--swizzle", "8:1"],
        &[
            "banks",
            "(32,32)",
            "--swizzle",
            "S<3,2,3>",
            "--threads",
            "32:32",
            "--vector",
            "8",
        ],
    ] {
        let r = run(args);
        assert_eq!((r.status, &r.out[..]), (Some(1), ""), "{args:?}: {}", r.err);
        assert!(
            r.err.starts_with("error: at column 1: "),
            "{args:?}: {}",
            r.err
        );
    }
}

/// Pieces that are near to expressions, so that garbage gets beyond the first character.
fn piece() -> impl Strategy<Value = String> {
    let names = run(["functions"]).out;
    let mut words: Vec<String> = names
        .lines()
        .filter(|l| !l.starts_with(' '))
        .filter_map(|l| l.split_once('(').map(|(name, _)| format!("{name}(")))
        .collect();
    let rest = "( ) ( ) [ ] < > , , , ; : : : _ ? @ o S<3,4,3> S<1,0,-2> 0 1 2 3 4 6 8 -1 -8 12 64 65537 \
                9223372036854775807 -9223372036854775808 8:1 (4,2):(1,4) (2,(3,4)) ((2,2),3):((0,5),-1) \
                (3,5):(1@0,1@1) ?{div=8} LayoutRight é \u{0} f16 UniversalCopy<64> UniversalCopy< SM80_x SM75_U32x4_LDSM_N \
                SM80_16x8x16_F32F16F16F32_TN copy_atom(UniversalCopy<16>,f16) copy_atom(SM75_U32x1_LDSM_N,8) \
                make_tiled_copy(copy_atom(UniversalCopy<16>,f16),(4,2),(1,2)) \
                make_tiled_mma(SM70_8x8x4_F32F16F16F32_NT,(2,2)) (64,32):(32,1) (?,32):(32,?) make_identity_layout((24,40))";
    words.extend(rest.split(' ').map(String::from));
    proptest::sample::select(words)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn garbage_never_panics(lines in prop::collection::vec(
        prop_oneof![
            prop::collection::vec(piece(), 1..24).prop_map(|p| p.concat()),
            // Well-formed calls with odd arguments.
            (piece(), prop::collection::vec(piece(), 1..4)).prop_map(|(f, args)| format!("{f}{})", args.join(","))),
            "\\PC{1,40}",
        ],
        200,
    )) {
        let r = run_with(&["batch"], (lines.join("\n") + "\n").as_bytes());
        prop_assert_eq!(r.status, Some(0), "{}", r.err);
        prop_assert_eq!(r.out.lines().count(), lines.len());
        prop_assert_eq!(&r.err[..], "");
    }

    #[test]
    fn bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..4000)) {
        let r = run_with(&["batch"], &bytes);
        prop_assert_eq!(r.status, Some(0), "{}", r.err);
    }
}
