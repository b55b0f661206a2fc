//! Symbolic integers in expressions, facts about them, and what is said where a fact is missing.

use super::common::{eval, fail, run, run_with};
use expect_test::{Expect, expect};

#[track_caller]
fn check_error(args: &[&str], expected: Expect) {
    let r = run(args);
    assert_eq!((r.status, &r.out[..]), (Some(1), ""), "{args:?}");
    expected.assert_eq(&r.err);
}

#[test]
fn expressions() {
    for (expr, gives) in [
        ("coalesce((M,N):(1,M))", "M*N:1"),
        ("M*N:1", "M*N:1"),
        ("size((M,(N,4)))", "4*M*N"),
        ("cosize((M,N):(N,1))", "M*N"),
        ("make_layout((M,N), LayoutRight)", "(M,N):(N,1)"),
        // By what is known of the strides, and not by their places.
        ("make_layout_like((M,N):(N,1))", "(M,N):(N,1)"),
        ("make_layout_like((M,N,K):(N*K,1,N))", "(M,N,K):(K*N,1,N)"),
        (
            "make_layout_like((M,8,M/4):(1,M*(M/4),M)) where M % 16 == 0",
            "(M,8,M/4):(1,M^2/4,M)",
        ),
        ("make_layout_like((M,N):(A,B)) where A < B", "(M,N):(1,M)"),
        ("make_fragment_like((4,2,8):(1,2*N,N))", "(4,2,8):(1,32,4)"),
        ("right_inverse((M,K):(K,1))", "(K,M):(M,1)"),
        ("crd2idx((i,j), (M,N):(1,M))", "M*j+i"),
        ("slice_offset((_,j), (M,N):(1,M))", "M*j"),
        (
            "ceil_div((M,N), (128,64))",
            "(ceil_div(M,128),ceil_div(N,64))",
        ),
        (
            "logical_divide(M:1, 128) where M % 128 == 0",
            "(128,M/128):(1,128)",
        ),
        ("sum((M,(N,1)))", "M+N+1"),
        ("compatible(M*N, (M,N))", "true"),
        ("divides_evenly(M:1, 4) where 4 | M", "true"),
        ("elem_less(i, M) where 0 <= i, i < M", "true"),
        ("min(M,128) where M % 128 == 0", "128"),
        ("print:1 where print == 4", "4:1"),
        ("S:1", "S:1"),
        // Arithmetic, on known integers too.
        ("1+2*3-4/2", "5"),
        ("-2^2", "-4"),
        ("(2-5)*2", "-6"),
        ("-7%4", "-3"),
        ("1 - -1", "2"),
        ("--M", "M"),
        ("2*1@0", "2@0"),
        ("?{div=8}/4", "?{div=2}"),
        ("(M+1)*(M-1)", "M^2-1"),
        ("M/32*32-M where M % 32 == 0", "0"),
        ("S<1,5,3> o S<2,3,3>", "S<3,3,3>"),
    ] {
        assert_eq!(eval(expr), gives, "{expr}");
    }
}

#[test]
fn orders_that_no_fact_decides() {
    for (of, fact) in [
        ("make_layout_like((M,N):(A,B))", "`B < A` or `A <= B`"),
        ("make_fragment_like((4,2,8):(1,N,K))", "`K < N` or `N <= K`"),
    ] {
        let found = run(["eval", of]);
        assert_eq!((found.status, &found.out[..]), (Some(1), ""), "{of}");
        let needs = format!("with symbols this needs a fact: {fact}");
        assert!(found.err.contains(&needs), "{}", found.err);
    }
}

/// Checks that what is printed is read back to the same.
#[test]
fn results_are_expressions() {
    for expr in [
        "logical_divide((M,K):(K,1), (128,32))",
        "tile_to_shape((8,32):(32,1), (M,K))",
        "(M%32,min(M,N),max(M,N),abs(M-N),sign(M-N),floor_div(M,7),mod(M-N,5),M^3-2)",
        "flat_divide((M,N,L), (128,64))",
        "S<3,4,3> o 0 o (M,8):(8,1)",
    ] {
        // A divide that rounds up says so in a note.
        let r = run(["eval", expr]);
        assert_eq!(r.status, Some(0), "{expr}: {}", r.err);
        let once = r.out.trim_end();
        assert_eq!(eval(once), once, "{expr}");
    }
}

#[test]
fn facts_are_for_every_command() {
    let r = run(["eval", "--where", "M % 128 == 0", "M/32"]);
    assert_eq!((r.status, &r.out[..]), (Some(0), "M/32\n"));
    let r = run(["print", "(M,2)", "--where", "M == 2"]);
    assert_eq!(r.status, Some(0), "{}", r.err);
    assert!(r.out.contains("| 0 | 2 |"), "{}", r.out);
    let r = run_with(
        &["batch", "--where", "M % 64 == 0"],
        b"M/32\nM/128\nM/128 where M % 128 == 0\nM/128\n",
    );
    let lines: Vec<&str> = r.out.lines().collect();
    assert_eq!((lines[0], lines[2]), ("M/32", "M/128"));
    // The facts of a line are its own.
    assert_eq!(lines[1], lines[3]);
    assert!(lines[1].starts_with("error: at column 1: expected 128 to divide M"));
}

#[test]
fn missing_facts_are_named() {
    check_error(
        &["eval", "1 + M/32"],
        expect![[r#"
        error: at column 5: expected 32 to divide M; it needs `M % 32 == 0`; say --where 'M % 32 == 0'
          | 1 + M/32
          |     ^^^^
    "#]],
    );
    check_error(
        &["eval", "composition((M,K):(K,1), (8,2):(1,8))"],
        expect![[r#"
            error: at column 1: `composition` expected (M,K):(K,1) o (8,2):(1,8) to be a layout, found that 8 steps of 1 in the mode M:K neither stay inside it, nor step over it whole, nor fill it; choose sizes and strides that divide the left side's modes; with symbols this needs a fact: `8 % min(M,8) == 0`; say --where 'M % 16 == 0'
              | composition((M,K):(K,1), (8,2):(1,8))
              | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
        "#]],
    );
    check_error(
        &["eval", "(8,M-N):(1,8)"],
        expect![[r#"
        error: at column 1: expected positive integers (or `?`) in a shape, found (8,M-N); make every extent at least 1; with symbols this needs a fact: `1 <= M-N`; say --where '1 <= M-N'
          | (8,M-N):(1,8)
          | ^^^^^^^^^^^^^
    "#]],
    );
    check_error(
        &["eval", "upcast((M,N):(1,M), 8)"],
        expect![[r#"
            error: at column 1: `upcast` expected a multiple of 8 elements at stride 1, found (M,N):(1,M); pad the layout, or keep the narrower element; with symbols this needs a fact: `M % 8 == 0`; say --where 'M % 8 == 0'
              | upcast((M,N):(1,M), 8)
              | ^^^^^^^^^^^^^^^^^^^^^^
        "#]],
    );
    // What is proposed is enough.
    for expr in [
        "1 + M/32",
        "composition((M,K):(K,1), (8,2):(1,8))",
        "complement((8,M):(1,K), 64)",
        "upcast((M,N):(1,M), 8)",
        "(8,M-N):(1,8)",
        "divides_evenly(M:1, 4)",
        "floor_div(M,N-1)",
    ] {
        let text = fail(expr);
        let facts = text
            .split("say --where '")
            .nth(1)
            .and_then(|t| t.split('\'').next());
        let facts = facts.unwrap_or_else(|| panic!("{expr}: {text}"));
        let r = run(["eval", expr, "--where", facts]);
        let again = r.err.contains("needs");
        assert!(
            r.status == Some(0) || (again && !r.err.contains(facts)),
            "{expr} where {facts}: {}",
            r.err
        );
    }
}

#[test]
fn wrong_facts_have_a_caret() {
    check_error(
        &["eval", "M", "--where", "K >= 1, M % 128 == 1"],
        expect![[r#"
            error: at column 9: expected a fact such as `M % 128 == 0`, `M % (8*K) == 0`, `128 | M`, `K >= 32`, `1 <= N <= 4096`, `N == 64` or `M <= N`, found `M % 128 == 1`
              | K >= 1, M % 128 == 1
              |         ^^^^^^^^^^^^
        "#]],
    );
    check_error(
        &["eval", "M/2 where K >= 1, M <= 0"],
        expect![[r#"
        error: at column 19: expected facts that some integer satisfies, found M >= 1, M <= 0; change the bounds or the divisor
          | M/2 where K >= 1, M <= 0
          |                   ^^^^^^
    "#]],
    );
    check_error(
        &["eval", "M where M <= N, N <= M"],
        expect![[r#"
        error: at column 8: expected facts that do not depend on each other in a circle, found one about M, N; leave one of them out
          | M where M <= N, N <= M
          |        ^^^^^^^^^^^^^^^
    "#]],
    );
    check_error(
        &["eval", "size"],
        expect![[r#"
        error: at column 1: expected `(` after the function `size`; give a symbol another name
          | size
          | ^^^^
    "#]],
    );
    check_error(
        &["eval", "(M,o)"],
        expect![[r#"
        error: at column 4: expected an expression, found the word `o`; give a symbol another name
          | (M,o)
          |    ^
    "#]],
    );
    check_error(
        &["eval", "M^65"],
        expect![[r#"
        error: at column 3: expected an exponent from 0 to 64, found 65
          | M^65
          |   ^^
    "#]],
    );
    check_error(
        &["eval", "(1,2)*3"],
        expect![[r#"
        error: at column 1: expected an integer beside an operator, found a tuple (1,2)
          | (1,2)*3
          | ^^^^^
    "#]],
    );
    check_error(
        &["eval", "7/2"],
        expect![[r#"
        error: at column 1: expected 2 to divide 7; round with floor_div or ceil_div
          | 7/2
          | ^^^
    "#]],
    );
    check_error(
        &["eval", "1/0"],
        expect![[r#"
        error: at column 1: expected a divisor other than 0, found 1/0
          | 1/0
          | ^^^
    "#]],
    );
}

#[test]
fn divides_say_where_they_round_up() {
    let r = run(["eval", "logical_divide(M:1, 4:2)"]);
    assert_eq!(r.out, "(4,(2,ceil_div(M,8))):(2,(1,8))\n");
    assert!(r.err.contains("exact with `M % 8 == 0`"), "{}", r.err);
    let r = run(["eval", "logical_divide(M:1, 4:2)", "--where", "8 | M"]);
    assert_eq!(r.out, "(4,(2,M/8)):(2,(1,8))\n");
    assert_eq!(r.err, "");
}

#[test]
fn json_has_the_polynomial_as_text() {
    let r = run([
        "eval",
        "--json",
        "logical_divide((M,K):(K,1), (128,32)) where M % 128 == 0",
    ]);
    expect![[r#"
        {"cosize":"K*M+mod(-K,32)","kind":"layout","notes":["the divide rounds up where [128:1;32:1] does not divide (M,K):(K,1); exact with `K % 32 == 0`"],"result":"((128,M/128),(32,ceil_div(K,32))):((K,128*K),(1,32))","shape":[[128,"M/128"],[32,"ceil_div(K,32)"]],"size":"32*M*ceil_div(K,32)","stride":[["K","128*K"],[1,32]]}
    "#]].assert_eq(&r.out);
    let r = run(["eval", "--json", "M/32"]);
    expect![[r#"
        {"error":{"end":4,"message":"expected 32 to divide M; it needs `M % 32 == 0`; say --where 'M % 32 == 0'","needs":"M % 32 == 0","start":0}}
    "#]].assert_eq(&r.out);
}

#[test]
fn long_and_deep_texts_end() {
    for text in [
        "M+".repeat(20_000) + "M",
        "M*".repeat(20_000) + "M",
        "-".repeat(100_000) + "M",
        "(".repeat(300) + "M" + &")".repeat(300),
        (0..2000).map(|i| format!("x{i}+")).collect::<String>() + "1",
        (0..8).fold("M".to_string(), |t, i| format!("min({t}*N,K*{t}+{i})")),
        (0..8).fold("M".to_string(), |t, i| {
            format!("floor_div({t}*N+{i},K+{i}*N)")
        }),
        (0..12).fold("M".to_string(), |t, i| format!("(({t}) % (N+{i})*K)")),
        "M where ".to_string() + &"M >= 1, ".repeat(20_000),
        "M where ".to_string()
            + &(0..3000)
                .map(|i| format!("x{i} <= x{}, ", i + 1))
                .collect::<String>(),
    ] {
        let mut line = text.into_bytes();
        line.push(b'\n');
        let r = run_with(&["batch"], &line);
        assert_eq!((r.status, r.out.lines().count()), (Some(0), 1));
    }
}
