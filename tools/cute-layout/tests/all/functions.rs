//! Tests of the functions on operands of every kind, and of what notes say of CuTe's conventions.

use super::common::{eval, fail, run, run_with};

#[track_caller]
fn noted(expr: &str, gives: &str, note: &str) {
    let r = run(["eval", expr]);
    assert_eq!((r.status, r.out.trim_end()), (Some(0), gives), "{expr}");
    let expected = match note {
        "" => String::new(),
        note => format!("note: {note}\n"),
    };
    assert_eq!(r.err, expected, "{expr}");
}

#[track_caller]
fn refused(expr: &str, error: &str) {
    let err = fail(expr);
    assert!(
        err.starts_with(&format!("error: at column {error}")),
        "{expr}: {err}"
    );
}

#[test]
fn on_operands_of_every_kind() {
    for (expr, gives) in [
        // Without a cotarget the complement goes on beyond the layout's reach.
        ("complement((2,2):(1,6))", "(3,1):(2,12)"),
        ("complement(4:1)", "1:4"),
        ("complement((4,8):(8,1))", "1:32"),
        ("complement((2,3):(1@0,1@1))", "(1,1):(2@0,3@1)"),
        ("complement(M:1)", "1:M"),
        // The cotarget of a layout is its shape.
        ("complement((2,2):(1,6), (4,6):(1,100))", "(3,2):(2,12)"),
        ("nullspace((M,4):(0,1))", "M:1"),
        ("nullspace(8:1)", "1:0"),
        ("max_common_layout((8,4):(4,1), (8,4):(4,1))", "(4,8):(8,1)"),
        ("increment((1,(2,3)), (2,(3,4)))", "(0,(0,4))"),
        ("increment((?,?), (4,?))", "(?,?)"),
        ("increment((i,j), (M,N)) where i + 1 < M", "(i+1,j)"),
        // Swizzles, alone and in composed layouts.
        ("composition(S<1,5,3>, S<2,3,3>)", "S<3,3,3>"),
        (
            "composition(S<1,5,3>, S<2,3,3> o 16 o 64:1)",
            "S<3,3,3> o 16 o 64:1",
        ),
        ("upcast(S<3,4,3>, 8)", "S<3,1,3>"),
        ("downcast(S<3,4,3>, 8)", "S<3,7,3>"),
        ("recast(S<3,3,3>, 16, 8)", "S<3,4,3>"),
        (
            "upcast(S<3,4,3> o 16 o (64,8):(1,64), 8)",
            "S<3,1,3> o 2 o (8,8):(1,8)",
        ),
        (
            "downcast(S<3,1,3> o 2 o (8,8):(1,8), 8)",
            "S<3,4,3> o 16 o (64,8):(1,64)",
        ),
        ("upcast(S<0,4,3> o 0 o (64,8):(1,64), 8)", "(8,8):(1,8)"),
        (
            "recast((8,4):(1,8) o 0 o (4,4):(1,4), 16, 8)",
            "(16,4):(1,16) o 0 o (8,4):(1,8)",
        ),
        (
            "dice((3,_), S<2,4,3> o 0 o (8,32):(32,1))",
            "S<2,4,3> o 0 o (8):(32)",
        ),
        (
            "slice((i,_), S<2,4,3> o 0 o (8,32):(32,1))",
            "S<2,4,3> o 32*i o (32):(1)",
        ),
        ("slice_offset((_,3), S<3,4,3> o 0 o (8,64):(64,1))", "3"),
        // Layouts of coordinates, and leaves that are known at run time.
        ("cosize((2,3):(1@0,1@1))", "6"),
        ("size((2,3):(1@0,1@1))", "6"),
        ("coshape((2,3):(1@0,2@1))", "(2,5)"),
        ("cosize((?{div=4},4):(1,2))", "?"),
        ("crd2idx((1,2), (2,3):(1@0,1@1))", "(1,2)"),
        ("crd2idx((1,2), (2,3), (1@0,1@1))", "(1,2)"),
        ("crd2idx((?,2), (2,3):(4,8))", "?"),
        ("crd2idx(5, (4,2):(1@0,1@1) o 0 o 8:1)", "(1,1)"),
        ("apply((2,3):(1@0,1@1), 5)", "(1,2)"),
        ("apply(S<3,4,3>, ?)", "?"),
        ("slice_offset((1,_), (2,3):(1@0,1@1))", "(1,0)"),
        ("idx2crd(?, (4,?))", "(?,?)"),
        ("idx2crd(i, (4,N))", "(i%4,floor_div(i,4))"),
        (
            "crd2crd((i,j), (M,N), (N,M))",
            "((M*j+i)%N,floor_div(M*j+i,N))",
        ),
        ("shape_div(?{div=16}, 8)", "?{div=2}"),
        ("shape_div((M,8), 4) where M % 4 == 0", "(M/4,8)"),
        ("shape_div((4,6), 96)", "(1,1)"),
        ("ceil_div((?,7), (4,?))", "(?,?)"),
        ("ceil_div((30,7), [4:1;2:3])", "(8,(3,2))"),
        ("ceil_div((10,7), 4:1)", "18"),
        ("tuple_add((M,1), (2,N))", "(M+2,N+1)"),
        ("tuple_sub((10,8,4), (3,2))", "(7,6,4)"),
        ("equal((4,8):(1,4), (4,8):(1,8))", "false"),
        ("equal((?,8), (4,9))", "false"),
        ("equal(M:1, 4:1) where M == 4", "true"),
        ("equal([2:1;_], [2:1;_])", "true"),
        ("equal(S<3,4,3> o 0 o 64:1, S<3,4,3> o 0 o 64:1)", "true"),
        ("equal(S<3,4,3> o 0 o 64:1, S<3,4,3> o 8 o 64:1)", "false"),
        ("append_to_rank((2,3), 4, 1)", "(2,3,1,1)"),
        (
            "prepend_to_rank(S<3,4,3> o 0 o 64:1, 3)",
            "S<3,4,3> o 0 o (1,1,64):(0,0,1)",
        ),
        ("compact_col_major((1,(3,M)), 5)", "(0,(5,15))"),
        ("compact_row_major((M,(3,4)), N)", "(12*N,(4*N,N))"),
        ("compact_order((2,3,4), LayoutRight)", "(12,4,1)"),
    ] {
        assert_eq!(eval(expr), gives, "{expr}");
    }
}

/// The slice of a composed layout and its offset add up to the composed layout.
#[test]
fn slices_of_composed_layouts_are_the_function() {
    let ask = |lines: &[String]| -> Vec<String> {
        let input = lines.join("\n") + "\n";
        let out = run_with(&["batch"], input.as_bytes()).out;
        out.lines().map(String::from).collect()
    };
    let number = |text: &String| -> i64 { text.parse().expect(text) };
    let whole = "S<3,4,3> o 32 o (8,64):(64,1)";
    for row in 0..8 {
        let sliced = ask(&[
            format!("slice(({row},_), {whole})"),
            format!("slice_offset(({row},_), {whole})"),
        ]);
        let [modes, offset] = &sliced[..] else {
            panic!("{sliced:?}");
        };
        let at = |layout: &str, coord: &dyn Fn(i64) -> String| {
            let lines: Vec<String> = (0..64)
                .map(|column| format!("crd2idx({}, {layout})", coord(column)))
                .collect();
            ask(&lines).iter().map(number).collect::<Vec<_>>()
        };
        let parts = at(modes, &|column| column.to_string());
        let sums: Vec<i64> = parts.iter().map(|v| v + number(offset)).collect();
        assert_eq!(sums, at(whole, &|column| format!("({row},{column})")));
    }
}

#[test]
fn notes_on_conventions() {
    noted(
        "ceil_div((2,2), 3)",
        "(1,1)",
        "(1,1) blocks of 3 hold 3 of the 4 elements of (2,2): CuTe rounds up leaf by leaf; divide the product, or by mode",
    );
    noted(
        "ceil_div(((5,6),7), (6,2))",
        "((1,3),4)",
        "(1,3) blocks of 6 hold 18 of the 30 elements of (5,6): CuTe rounds up leaf by leaf; divide the product, or by mode",
    );
    noted(
        "ceil_div((M,8), 6)",
        "(ceil_div(M,6),ceil_div(8,ceil_div(6,M)))",
        "where sizes do not divide, (ceil_div(M,6),ceil_div(8,ceil_div(6,M))) blocks of 6 need not hold (M,8): CuTe rounds up leaf by leaf; divide the product, or by mode",
    );
    noted("ceil_div((4,6), 8)", "(1,3)", "");
    noted("ceil_div((10,7), (4,2))", "(3,4)", "");
    noted("ceil_div((M), 6)", "(ceil_div(M,6))", "");
    noted("ceil_div((M,N), 6) where M % 6 == 0", "(M/6,N)", "");
    noted(
        "tuple_sub((10,8), (3,2,5))",
        "(7,6,5)",
        "modes that (3,2,5) has and (10,8) has not are taken as they are, as in CuTe IR, not with a minus sign",
    );
    noted(
        "shape_div((?,8), 4)",
        "(?,?)",
        "the answer holds where, at each leaf, one of the run-time sizes divides the other",
    );
    noted(
        "cosize(S<3,4,3> o 0 o 64:1)",
        "64",
        "the cosize is that of 64:1, as in CuTe: swizzle and offset are not counted",
    );
    noted(
        "domain_distribute((15,14), 12)",
        "(3,2):(1,15)",
        "(3,2):(1,15) takes 6 elements, not 12: the leaves lack factors of it",
    );
    noted(
        "slice((3,_), S<2,4,3> o 0 o (8,32):(32,1))",
        "(32):(1)",
        "the slice begins at offset 96",
    );
    noted(
        "slice((1,_), (2,3):(1@0,1@1))",
        "(3):(1@1)",
        "the slice begins at offset (1,0)",
    );
}

/// Every number of blocks that the note does not speak of covers the tuple.
#[test]
fn what_ceil_div_leaves_without_a_note_covers() {
    let (mut cases, mut short) = (Vec::new(), 0);
    for a in 1..=6i64 {
        for b in 1..=6i64 {
            for by in 1..=8i64 {
                cases.push((a, b, by));
            }
        }
    }
    let lines: String = cases
        .iter()
        .map(|(a, b, by)| format!("ceil_div(({a},{b}), {by})\n"))
        .collect();
    let out = run_with(&["batch", "--json"], lines.as_bytes()).out;
    assert_eq!(out.lines().count(), cases.len());
    for (line, (a, b, by)) in out.lines().zip(cases) {
        let r: serde_json::Value = serde_json::from_str(line).expect("JSON");
        let blocks: i64 = r["value"]
            .as_array()
            .expect("a tuple")
            .iter()
            .map(|v| v.as_i64().expect("an integer"))
            .product();
        let noted = !r["notes"].as_array().expect("notes").is_empty();
        assert_eq!(noted, blocks * by < a * b, "({a},{b}) by {by}: {line}");
        short += usize::from(noted);
    }
    assert!(short > 20, "{short}");
}

#[test]
fn what_is_refused() {
    refused(
        "apply(S<3,4,3>, i)",
        "1: `swizzle` expected static integers, found i; give the symbols values (as in `M == 64`)",
    );
    refused(
        "domain_distribute((M,14), 12)",
        "1: `domain_distribute` expected static integers, found (M,14); give the symbols values",
    );
    refused(
        "domain_distribute((?,14), 12)",
        "1: `domain_distribute` expected static integers, found (?,14); make the `?` leaves static or",
    );
    refused(
        "increment(3, (2,2))",
        "1: expected a coordinate of shape (2,2)",
    );
    refused(
        "composition(S<3,4,3>, S<3,3,3>)",
        "1: `composition` expected S<3,4,3> o S<3,3,3> to be a swizzle",
    );
    refused(
        "composition(S<3,4,3>, 8:1 o 0 o 8:1)",
        "23: expected a layout, or one under a swizzle, beside a swizzle",
    );
    refused("upcast(S<2,2,3>, 8)", "1: `upcast` expected at most 4");
    refused(
        "upcast(S<3,4,3> o 3 o (64,8):(1,64), 8)",
        "1: `recast` expected an offset that is a multiple of 8",
    );
    refused(
        "cosize(8:1 o 0 o 8:1)",
        "8: expected a layout, or one under",
    );
    refused(
        "ceil_div((4,8), <_,4:1>)",
        "17: expected a tiler without `_`",
    );
    refused(
        "shape_div(10, 4)",
        "1: `shape_div` expected sizes one of which",
    );
    refused(
        "shape_div((M,8), 4)",
        "1: `shape_div` expected sizes one of which divides the other, found M by 4; choose sizes that divide one another; \
         with symbols this needs a fact: `M % 4 == 0` or `4 % M == 0`",
    );
    refused("shape_div(_, 4)", "11: expected integers, found _");
    refused("ceil_div(8, (1@0))", "13: expected integers, found (1@0)");
    refused("tuple_sub((10,8), 3)", "1: `tuple_sub` expected tuples");
    refused(
        "equal((?,8), (4,8))",
        "1: expected known or symbolic integers",
    );
    refused(
        "equal(S<3,4,3>, 3)",
        "17: expected a swizzle beside S<3,4,3>",
    );
    refused("append_to_rank((2,3), 4)", "16: expected a third argument");
    refused("append_to_rank((2,3), 1, 1)", "23: expected a rank from 2");
    refused("compact_col_major((2,3), _)", "26: expected an integer");
    refused(
        "crd2crd((1,2), (2,6), (3,5))",
        "23: expected a shape of as many elements as (2,6)",
    );
}
