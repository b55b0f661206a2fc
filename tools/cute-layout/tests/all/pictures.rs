//! print, latex, svg, tv, banks.

use super::common::run;
use expect_test::{Expect, expect};

#[track_caller]
fn check(args: &[&str], expected: Expect) {
    let r = run(args);
    assert_eq!((r.status, &r.err[..]), (Some(0), ""), "{args:?}");
    expected.assert_eq(&r.out);
}

/// The rows of a layout's table.
fn rows(layout: &str) -> Vec<Vec<i64>> {
    let out = run(["print", layout]).out;
    let body = out.lines().filter_map(|l| l.split_once('|'));
    body.map(|(_, cells)| {
        cells
            .split('|')
            .filter_map(|c| c.trim().parse().ok())
            .collect()
    })
    .collect()
}

#[test]
fn tables_are_those_of_print_layout() {
    check(
        &["print", "(2,(2,2)):(4,(2,1))"],
        expect![[r#"
            (2,(2,2)):(4,(2,1))
                  0   1   2   3 
                +---+---+---+---+
             0  | 0 | 2 | 1 | 3 |
                +---+---+---+---+
             1  | 4 | 6 | 5 | 7 |
                +---+---+---+---+
        "#]],
    );
    assert_eq!(rows("(2,3):(1,2)"), [[0, 2, 4], [1, 3, 5]]);
    assert_eq!(rows("(2,3):(3,1)"), [[0, 1, 2], [3, 4, 5]]);
    assert_eq!(
        rows("((2,2),2):((4,2),1)"),
        [[0, 1], [4, 5], [2, 3], [6, 7]]
    );
    let l = rows("(8,(2,2)):(2,(1,16))");
    assert_eq!(
        (&l[0][..], &l[7][..]),
        (&[0, 1, 16, 17][..], &[14, 15, 30, 31][..])
    );
    assert_eq!(rows("(4,(2,2)):(4,(1,2))"), rows("(4,4):(4,1)"));
    assert_eq!(rows("(4,(2,2)):(2,(1,8))")[0], [0, 1, 8, 9]);
    assert_eq!(rows("(3,(2,3)):(3,(12,1))")[0], [0, 12, 1, 13, 2, 14]);
    assert_eq!(
        rows("((2,2),(2,4)):((1,4),(2,8))")[3],
        [5, 7, 13, 15, 21, 23, 29, 31]
    );
    assert_eq!(
        rows("(4,(2,4)):(2,(1,8))")[1],
        [2, 3, 10, 11, 18, 19, 26, 27]
    );
    assert_eq!(
        rows("S<1,0,2> o 0 o (2,4):(4,1)"),
        [[0, 1, 2, 3], [5, 4, 7, 6]]
    );
}

#[test]
fn vectors_are_lines() {
    check(
        &["print", "8:2"],
        expect![[r#"
            Layout:  8:2
            Coord :  0  1  2  3  4  5  6  7
            Index :  0  2  4  6  8 10 12 14
        "#]],
    );
    check(
        &["print", "((4,2)):((2,1))"],
        expect![[r#"
            Layout:  ((4,2)):((2,1))
            Coord :  0  1  2  3  4  5  6  7
            Index :  0  2  4  6  1  3  5  7
        "#]],
    );
}

#[test]
fn large_layouts_are_cut_with_a_note() {
    let r = run(["print", "(128,128):(1,128)"]);
    assert_eq!(
        r.err,
        "note: cut: 64 of 128 rows and 32 of 128 columns are shown; --full shows all\n"
    );
    assert_eq!(r.out.lines().count(), 2 + 2 * 64 + 1);
    let r = run(["print", "--full", "(128,128):(1,128)"]);
    assert_eq!((&r.err[..], r.out.lines().count()), ("", 2 + 2 * 128 + 1));
    let r = run(["print", "4611686018427387904:1"]);
    assert_eq!((r.status, r.out.lines().count()), (Some(0), 3));
    assert!(
        r.err.contains("64 of 4611686018427387904 rows"),
        "{}",
        r.err
    );
    let r = run(["svg", "(128,128):(1,128)"]);
    assert!(r.err.contains("cut: 64 of 128 rows and 64 of 128 columns") && r.out.contains("(cut)"));
    assert_eq!(
        run(["svg", "--full", "(128,128):(1,128)"])
            .out
            .matches("<rect")
            .count(),
        128 * 128 + 2
    );
    let r = run(["tv", "(128,2):(2,1)", "(16,16)"]);
    assert!(r.err.contains("cut: 64 of 128 rows"), "{}", r.err);
}

#[test]
fn latex_is_that_of_print_latex() {
    check(
        &["latex", "(2,2):(1,2)"],
        expect![[r#"
            % Layout: (2,2):(1,2)
            \documentclass[convert]{standalone}
            \usepackage{tikz}

            \begin{document}
            \begin{tikzpicture}[x={(0cm,-1cm)},y={(1cm,0cm)},every node/.style={minimum size=1cm, outer sep=0pt}]

            \node[fill=black!00] at (0,0) {0};
            \node[fill=black!20] at (0,1) {2};
            \node[fill=black!40] at (1,0) {1};
            \node[fill=black!60] at (1,1) {3};
            \draw[color=black,thick,shift={(-0.5,-0.5)}] (0,0) grid (2,2);

            \node at (0,-1) {\Large{\texttt{0}}};
            \node at (1,-1) {\Large{\texttt{1}}};
            \node at (-1,0) {\Large{\texttt{0}}};
            \node at (-1,1) {\Large{\texttt{1}}};
            \end{tikzpicture}
            \end{document}
        "#]],
    );
    let tv = run(["tv", "--latex", "(2,2):(2,1)", "(2,2)"]).out;
    let node =
        r"\node[fill={rgb,255:red,175;green,255;blue,175}] at (1,1) {\shortstack{T1 \\ V1}};";
    assert!(tv.contains(node), "{tv}");
}

#[test]
fn pictures_hold_every_cell_and_edge() {
    let svg = run(["svg", "(3,(2,3)):(3,(12,1))"]).out;
    assert!(svg.starts_with("<svg xmlns=") && svg.ends_with("</svg>\n"));
    // 18 cells, the background and the frame.
    assert_eq!(svg.matches("<rect").count(), 20);
    for text in [
        ">17</text>",
        ">(1,2)</text>",
        ">(3,(2,3)):(3,(12,1))</text>",
    ] {
        assert!(svg.contains(text), "{text}");
    }
    assert_eq!(svg.matches("<g").count(), svg.matches("</g>").count());
    let swizzled = run(["svg", "S<1,0,2> o 0 o (2,4):(4,1)"]).out;
    assert!(swizzled.contains("S&lt;1,0,2&gt; o 0 o"));
    let tv = run(["tv", "--svg", "((2,2),(2,3)):((2,12),(1,4))", "(4,6)"]).out;
    // Both directions.
    assert_eq!(tv.matches("<rect").count(), 1 + 24 + 24 + 2);
    assert!(tv.contains(">T3</text>") && tv.contains(">(3,5)</text>"));
}

#[test]
fn thread_values_both_ways() {
    check(
        &["tv", "((2,2),(2,3)):((2,12),(1,4))", "(4,6)"],
        expect![[r#"
            ((2,2),(2,3)):((2,12),(1,4)) over (4,6)

            (thread,value) -> coordinate
                   V0     V1     V2     V3     V4     V5
            T0  (0,0)  (1,0)  (0,1)  (1,1)  (0,2)  (1,2)
            T1  (2,0)  (3,0)  (2,1)  (3,1)  (2,2)  (3,2)
            T2  (0,3)  (1,3)  (0,4)  (1,4)  (0,5)  (1,5)
            T3  (2,3)  (3,3)  (2,4)  (3,4)  (2,5)  (3,5)

            coordinate -> (thread,value)
                  0     1     2     3     4     5
            0  T0V0  T0V2  T0V4  T2V0  T2V2  T2V4
            1  T0V1  T0V3  T0V5  T2V1  T2V3  T2V5
            2  T1V0  T1V2  T1V4  T3V0  T3V2  T3V4
            3  T1V1  T1V3  T1V5  T3V1  T3V3  T3V5
        "#]],
    );
    // The copy of the worked examples: thread 9 owns row 1, columns 4 to 7.
    let r = run([
        "tv",
        "--json",
        "--full",
        "((8,16),4):((64,1),16)",
        "(16,32)",
    ]);
    let object: serde_json::Value = serde_json::from_str(&r.out).expect("JSON");
    assert_eq!(
        object["coordinates"][9],
        serde_json::json!([[1, 4], [1, 5], [1, 6], [1, 7]])
    );
    assert_eq!(object["holders"][1][6], serde_json::json!([9, 2]));
}

/// The quad-pair of SM70's 8x8x4: who holds C, each element once.
#[test]
fn an_atom_of_the_worked_examples() {
    let r = run(["tv", "((2,2,2),(2,2,2)):((1,16,4),(8,2,32))", "(8,8)"]);
    assert_eq!((r.status, &r.err[..]), (Some(0), ""));
    let last: Vec<&str> = r.out.lines().rev().take(8).collect();
    assert_eq!(last[7], "0  T0V0  T0V1  T2V0  T2V1  T0V4  T0V5  T2V4  T2V5");
    assert_eq!(last[0], "7  T5V2  T5V3  T7V2  T7V3  T5V6  T5V7  T7V6  T7V7");
}

#[test]
fn thread_values_that_share_or_miss_elements() {
    let r = run(["tv", "(4,2):(0,1)", "(2,2)"]);
    assert_eq!(
        r.err,
        "note: 2 of 4 elements of the tile are held by no thread\n\
         note: 6 of 8 (thread,value) hold an element that another holds too; the first is shown\n"
    );
    assert!(
        r.out.contains("T0V0  -") || r.out.contains("T0V0     -"),
        "{}",
        r.out
    );
}

#[test]
fn banks_of_elements() {
    check(
        &["banks", "(4,4):(4,1)", "--elem", "f16"],
        expect![[r#"
            (4,4):(4,1), elements of 16 bits
            bank of each element
                   0    1    2    3 
                +----+----+----+----+
             0  |  0 |  0 |  1 |  1 |
                +----+----+----+----+
             1  |  2 |  2 |  3 |  3 |
                +----+----+----+----+
             2  |  4 |  4 |  5 |  5 |
                +----+----+----+----+
             3  |  6 |  6 |  7 |  7 |
                +----+----+----+----+
        "#]],
    );
}

#[test]
fn conflicts_of_an_access() {
    let last = |args: &[&str]| {
        let r = run(args);
        assert_eq!((r.status, &r.err[..]), (Some(0), ""));
        r.out.lines().last().expect("a line").to_string()
    };
    // ldmatrix on rows of 64 bytes, and what cures it.
    let access = [
        "banks",
        "(32,32):(32,1)",
        "--threads",
        "32:1",
        "--vector",
        "8",
    ];
    assert_eq!(
        last(&access),
        "total: 16 wavefronts, ideal 4, conflicts: 4.0 times the ideal"
    );
    let cured = [&access[..], &["--swizzle", "S<2,4,3>"]].concat();
    assert_eq!(last(&cured), "total: 4 wavefronts, ideal 4, no conflicts");
    // The same in elements, as a composed layout.
    let composed = [
        "banks",
        "S<2,3,3> o 0 o (32,32):(32,1)",
        "--threads",
        "32:1",
        "--vector",
        "8",
    ];
    assert_eq!(
        last(&composed),
        "total: 4 wavefronts, ideal 4, no conflicts"
    );
    // Floats of a column of a row-major tile, two warps; padding by a word cures it.
    let column = [
        "banks",
        "(64,32):(32,1)",
        "--elem",
        "f32",
        "--threads",
        "64:1",
    ];
    assert_eq!(
        last(&column),
        "total: 64 wavefronts, ideal 2, conflicts: 32.0 times the ideal"
    );
    let padded = [
        "banks",
        "(64,32):(33,1)",
        "--elem",
        "f32",
        "--threads",
        "64:1",
    ];
    assert_eq!(last(&padded), "total: 2 wavefronts, ideal 2, no conflicts");
    let r = run([&cured[..], &["--json"]].concat());
    let object: serde_json::Value = serde_json::from_str(&r.out).expect("JSON");
    assert_eq!(
        (&object["access"]["wavefronts"], &object["banks"][1][0]),
        (&4.into(), &16.into())
    );
}
