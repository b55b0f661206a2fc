//! The expression language: every function, the worked examples, notes, JSON.

use super::common::{eval, fail, run, run_with};
use expect_test::{Expect, expect};

#[track_caller]
fn check_error(expr: &str, expected: Expect) {
    expected.assert_eq(&fail(expr));
}

/// The examples that `cute-layout functions` shows are what the functions give.
#[test]
fn every_function_does_what_its_example_says() {
    let list = run(["functions"]).out;
    let examples: Vec<(&str, &str)> = list.lines().filter_map(|l| l.rsplit_once(" = ")).collect();
    let expressions: String = examples.iter().map(|(e, _)| format!("{e}\n")).collect();
    let results = run_with(&["batch"], expressions.as_bytes()).out;
    assert_eq!(results.lines().count(), examples.len());
    assert!(examples.len() > 60, "{}", examples.len());
    for ((expr, gives), result) in examples.iter().zip(results.lines()) {
        assert_eq!(result, *gives, "{expr}");
    }
}

#[test]
fn worked_examples() {
    for (expr, gives) in [
        (
            "composition((6,2):(8,2), (4,3):(3,1))",
            "((2,2),3):((24,2),8)",
        ),
        ("(6,2):(8,2) o (4,3):(3,1)", "((2,2),3):((24,2),8)"),
        ("size(8:2)", "8"),
        ("cosize(8:2)", "15"),
        ("(size(8:0),cosize(8:0))", "(8,1)"),
        ("crd2idx(16, (3,(2,3)):(3,(12,1)))", "17"),
        ("crd2idx((1,5), (3,(2,3)):(3,(12,1)))", "17"),
        ("crd2idx((1,(1,2)), (3,(2,3)):(3,(12,1)))", "17"),
        ("crd2idx((2,(1,0)), (4,(2,2)):(4,(1,2)))", "9"),
        ("crd2idx((2,(1,0)), (4,(2,2)):(2,(1,8)))", "5"),
        ("idx2crd(16, (3,(2,3)))", "(1,(1,2))"),
        ("idx2crd((1,5), (3,(2,3)))", "(1,(1,2))"),
        ("idx2crd(7, (3,(2,3)))", "(1,(0,1))"),
        ("(depth(6),depth((4,3)),depth(((2,(1,3)),4)))", "(0,1,3)"),
        (
            "(rank((3,(6,2),8)),depth((3,(6,2),8)),rank(((2,2),2)))",
            "(3,2,2)",
        ),
        ("make_layout((2,(2,2)))", "(2,(2,2)):(1,(2,4))"),
        ("make_layout((2,3), LayoutRight)", "(2,3):(3,1)"),
        (
            "make_layout((2,2):(2,12), (2,3):(1,4))",
            "((2,2),(2,3)):((2,12),(1,4))",
        ),
        (
            "crd2idx(((1,3),(2,4)), ((2,4),(3,5)):((3,6),(1,24)))",
            "119",
        ),
        (
            "slice_offset(((1,1),(_,_)), ((2,4),(3,5)):((3,6),(1,24)))",
            "9",
        ),
        // A tiled copy's TV layout, from thread and value layouts: 16x8 threads of 1x4 values.
        (
            "with_shape(right_inverse(raked_product((16,8):(8,1), (1,4))), (128,4))",
            "((8,16),4):((64,1),16)",
        ),
        ("composition((2,2):(1,4), 2:3)", "2:5"),
        ("S<3,4,3>", "S<3,4,3>"),
        ("S<3,4,3> o 0 o (8,4):(1,8)", "S<3,4,3> o 0 o (8,4):(1,8)"),
        ("[2:1;_]", "[2:1;_]"),
        ("<(2,4),(8,1)>", "[(2,4):(1,2);(8,1):(1,0)]"),
        ("((2,4),4:2)", "[[2:1;4:1];4:2]"),
        (
            "zipped_divide((4096,4096):(4096,1), <128,32>)",
            "((128,32),(32,128)):((4096,1),(524288,32))",
        ),
        ("coalesce((2,?):(1,2))", "(2,?):(1,2)"),
        ("( _4 , _2 ) : ( _1 , _4 )", "(4,2):(1,4)"),
        (
            "(2,3):(1@0,?{i64 div=8}@0@1)",
            "(2,3):(1@0,?{i64 div=8}@0@1)",
        ),
        ("-4", "-4"),
    ] {
        assert_eq!(eval(expr), gives, "{expr}");
    }
}

#[test]
fn results_are_read_again() {
    for expr in [
        "composition((6,2):(8,2), (4,3):(3,1))",
        "tile_to_shape(S<2,4,3> o 0 o (8,32):(32,1), (128,32,3))",
        "[(2,4):(1,2);_;[2:1;3:1]]",
        "make_identity_layout((2,(3,4)))",
        "(1,(_,?{div=4}))",
    ] {
        let once = eval(expr);
        assert_eq!(eval(&once), once);
    }
}

#[test]
fn notes_go_to_standard_error() {
    let r = run(["eval", "composition((4,3):(3,1), 24:1)"]);
    assert_eq!((r.status, &r.out[..]), (Some(0), "(4,6):(3,1)\n"));
    expect![[r#"
        note: (4,3):(3,1) is extended by its last leaf: it has size 12, and 24:1 reaches index 23
    "#]]
    .assert_eq(&r.err);
    let r = run(["eval", "logical_divide(10:1, 4)"]);
    assert_eq!(r.out, "(4,3):(1,4)\n");
    expect![[r#"
        note: 4:1 does not divide 10:1, so the divide rounds up: size 12 where 10 elements exist; mask the others
    "#]]
    .assert_eq(&r.err);
}

#[test]
fn errors_point_at_what_failed() {
    check_error(
        "coalesce(composition((6,2):(1,100), 4:4))",
        expect![[r#"
            error: at column 10: `composition` expected (6,2):(1,100) o 4:4 to be a layout of the right side's profile, found that at 3 of its leaf 4:4 the function is 200 where such a layout would give 106; choose sizes and strides that divide the left side's modes
              | coalesce(composition((6,2):(1,100), 4:4))
              |          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
        "#]],
    );
    check_error(
        "coalesce((size,N):(1,M))",
        expect![[r#"
            error: at column 11: expected `(` after the function `size`; give a symbol another name
              | coalesce((size,N):(1,M))
              |           ^^^^
        "#]],
    );
    check_error(
        "colaesce(4:1)",
        expect![[r#"
            error: at column 1: expected a function, found `colaesce`; did you mean `coalesce`?; `cute-layout functions` lists them
              | colaesce(4:1)
              | ^^^^^^^^
        "#]],
    );
    check_error(
        "complement(8:2, S<3,4,3>)",
        expect![[r#"
            error: at column 17: expected a shape or a layout, found a swizzle S<3,4,3>
              | complement(8:2, S<3,4,3>)
              |                 ^^^^^^^^
        "#]],
    );
    check_error(
        "rank()",
        expect![[r#"
            error: at column 1: expected rank(x[, mode..]), found 0 arguments
              | rank()
              | ^^^^^^
        "#]],
    );
}

#[test]
fn json_for_tools() {
    let r = run(["eval", "--json", "composition((4,3):(3,1), 24:1)"]);
    assert_eq!(r.status, Some(0));
    expect![[r#"
        {"cosize":15,"kind":"layout","notes":["(4,3):(3,1) is extended by its last leaf: it has size 12, and 24:1 reaches index 23"],"result":"(4,6):(3,1)","shape":[4,6],"size":24,"stride":[3,1]}
    "#]]
    .assert_eq(&r.out);
    let r = run(["eval", "--json", "rank(1,"]);
    assert_eq!(r.status, Some(1));
    assert!(r.err.contains('^'));
    expect![[r#"
        {"error":{"end":7,"message":"expected an integer, a symbol, `?`, `_`, a tuple, a tiler `<..>` or `[..]`, a swizzle `S<..>`, or a function, found the end","start":7}}
    "#]]
    .assert_eq(&r.out);
}

#[test]
fn batch_answers_line_by_line() {
    let input = "size(8:2)\n\ncoalesce((2,(1,6)):(1,(6,2)))\r\nsize(\n(2,3):(1,(2,3))\n4:M";
    let r = run_with(&["batch"], input.as_bytes());
    assert_eq!((r.status, &r.err[..]), (Some(0), ""));
    expect![[r#"
        8

        12:1
        error: at column 6: expected an integer, a symbol, `?`, `_`, a tuple, a tiler `<..>` or `[..]`, a swizzle `S<..>`, or a function, found the end
        error: at column 1: expected a stride congruent to shape (2,3), found (1,(2,3)); give both the same nesting
        4:M
    "#]]
    .assert_eq(&r.out);
    let r = run_with(&["batch", "--json"], b"logical_divide(10:1,4)\n1:\n");
    assert_eq!(r.out.lines().count(), 2);
    assert!(
        r.out.contains("rounds up") && r.out.contains("\"start\":2"),
        "{}",
        r.out
    );
}
