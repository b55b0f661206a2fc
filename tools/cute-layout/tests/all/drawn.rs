//! Pictures of tiled copies and MMAs: those of the documentation, and how they are built.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::common::run;
use expect_test::{expect, expect_file};

const PAGE: &str = include_str!("../../../../docs/pictures.md");

/// Words of a command line, where single quotes keep a word together.
fn words(line: &str) -> Vec<String> {
    let parts = line.split('\'').enumerate();
    parts
        .flat_map(|(i, part)| match i % 2 {
            1 => vec![part.to_string()],
            _ => part.split_whitespace().map(String::from).collect(),
        })
        .collect()
}

/// The words and the file of each command of the page.
fn commands() -> Vec<(Vec<String>, PathBuf)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let lines = PAGE.lines();
    let commands = lines.filter_map(|line| line.strip_prefix("$ cute-layout "));
    commands
        .map(|line| {
            let (command, file) = line.split_once(" -o ").expect("a command and a file");
            (words(command), root.join(file))
        })
        .collect()
}

#[test]
fn the_pages_pictures_are_what_is_drawn() {
    let commands = commands();
    assert!(commands.len() >= 12);
    for (command, file) in commands {
        let name = file.file_name().and_then(|n| n.to_str()).expect("a name");
        assert!(PAGE.contains(&format!("(pictures/{name})")), "{name}");
        let r = run(&command);
        assert_eq!((r.status, &r.err[..]), (Some(0), ""), "{command:?}");
        expect_file![file].assert_eq(&r.out);
    }
}

/// The cells of a LaTeX picture: place, thread and value. And the corners of its grids.
type Cells = BTreeSet<(i64, i64, i64, i64)>;

fn latex(expr: &str) -> (Cells, Vec<[i64; 4]>) {
    let r = run(["latex", expr]);
    assert_eq!(r.status, Some(0), "{expr}: {}", r.err);
    let text = r.out;
    for (open, close) in [('{', '}'), ('(', ')'), ('[', ']')] {
        let count = |c| text.chars().filter(|x| *x == c).count();
        assert_eq!(count(open), count(close), "{open}{close}");
    }
    assert_eq!(
        text.matches("\\begin{").count(),
        text.matches("\\end{").count()
    );
    let numbers = |l: &str| -> Vec<i64> {
        let words = l.split(|c: char| !c.is_ascii_digit() && c != '-');
        words.filter_map(|w| w.parse().ok()).collect()
    };
    let (mut cells, mut grids) = (Cells::new(), vec![]);
    for line in text.lines() {
        if let Some((_, rest)) = line.split_once("}] at ") {
            let n = numbers(rest);
            let [x, y, t, v] = n[..] else {
                panic!("{line}")
            };
            assert!(
                rest.contains(&format!("{{\\shortstack{{T{t} \\\\ V{v}}}}};")),
                "{line}"
            );
            assert!(cells.insert((x, y, t, v)), "{line}");
        } else if let Some((_, rest)) = line.split_once(")}] ") {
            grids.push(<[i64; 4]>::try_from(numbers(rest)).expect("two corners"));
        }
    }
    (cells, grids)
}

#[test]
fn latex_is_as_cutes_picture_of_a_copy() {
    let (cells, grids) =
        latex("make_tiled_copy(copy_atom(UniversalCopy<64>, f16), (16,8):(8,1), (1,4))");
    assert_eq!(grids, [[0, 0, 16, 32], [0, 35, 16, 67]]);
    // Worked out: thread 9 has row 1, columns 4 to 7; as a destination too.
    for v in 0..4 {
        assert!(cells.contains(&(1, 4 + v, 9, v)) && cells.contains(&(1, 39 + v, 9, v)));
    }
    assert_eq!(cells.len(), 2 * 16 * 32);
    let text = run([
        "latex",
        "make_tiled_copy(copy_atom(UniversalCopy<16>, f16), (2,2), (1,1))",
    ])
    .out;
    expect![[r#"
        % Layout source: (4,(1,1)):(1,(0,0)) over (2,2)
        % Layout destination: (4,(1,1)):(1,(0,0)) over (2,2)
        \documentclass[convert]{standalone}
        \usepackage{tikz}

        \begin{document}
        \begin{tikzpicture}[x={(0cm,-1cm)},y={(1cm,0cm)},every node/.style={minimum size=1cm, outer sep=0pt}]

        \node[fill={rgb,255:red,175;green,175;blue,255}] at (0,0) {\shortstack{T0 \\ V0}};
        \node[fill={rgb,255:red,255;green,255;blue,175}] at (0,1) {\shortstack{T2 \\ V0}};
        \node[fill={rgb,255:red,175;green,255;blue,175}] at (1,0) {\shortstack{T1 \\ V0}};
        \node[fill={rgb,255:red,255;green,175;blue,175}] at (1,1) {\shortstack{T3 \\ V0}};
        \draw[color=black,thick,shift={(-0.5,-0.5)}] (0,0) grid (2,2);

        \node at (0,-1) {\Large{\texttt{0}}};
        \node at (1,-1) {\Large{\texttt{1}}};
        \node at (-1,0) {\Large{\texttt{0}}};
        \node at (-1,1) {\Large{\texttt{1}}};

        \node[fill={rgb,255:red,175;green,175;blue,255}] at (0,5) {\shortstack{T0 \\ V0}};
        \node[fill={rgb,255:red,255;green,255;blue,175}] at (0,6) {\shortstack{T2 \\ V0}};
        \node[fill={rgb,255:red,175;green,255;blue,175}] at (1,5) {\shortstack{T1 \\ V0}};
        \node[fill={rgb,255:red,255;green,175;blue,175}] at (1,6) {\shortstack{T3 \\ V0}};
        \draw[color=black,thick,shift={(-0.5,-0.5)}] (0,5) grid (2,7);

        \node at (0,7) {\Large{\texttt{0}}};
        \node at (1,7) {\Large{\texttt{1}}};
        \node at (-1,5) {\Large{\texttt{0}}};
        \node at (-1,6) {\Large{\texttt{1}}};

        \end{tikzpicture}
        \end{document}
    "#]]
    .assert_eq(&text);
}

#[test]
fn latex_is_as_cutes_picture_of_an_mma() {
    let (cells, grids) = latex("SM70_8x8x4_F32F16F16F32_NT");
    // C at the origin, A to the left, B above.
    assert_eq!(grids, [[0, 0, 8, 8], [0, -5, 8, -1], [-5, 0, -1, 8]]);
    assert_eq!(cells.len(), 64 + 2 * 32);
    // PTX: thread t % 4 has column t % 4 of A, rows 0-3 below 16; C's row 2 is thread 0's and 2's.
    for v in 0..4 {
        assert!(cells.contains(&(v, -3, 2, v)) && cells.contains(&(4 + v, -3, 18, v)));
        assert!(cells.contains(&(-3, v, 2, v)) && cells.contains(&(-3, 4 + v, 18, v)));
    }
    assert!(
        cells.contains(&(2, 0, 0, 2))
            && cells.contains(&(2, 2, 2, 2))
            && cells.contains(&(7, 7, 19, 7))
    );
    for (x, y, ..) in cells {
        let inside = |g: &[i64; 4]| (g[0]..g[2]).contains(&x) && (g[1]..g[3]).contains(&y);
        assert_eq!(grids.iter().filter(|g| inside(g)).count(), 1, "({x},{y})");
    }
}

#[test]
fn svg_has_the_cells_of_latex() {
    for expr in [
        "SM70_8x8x4_F32F16F16F32_NT",
        "make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN, (2,1))",
        "make_tiled_copy_A(copy_atom(SM75_U32x4_LDSM_N, f16), SM80_16x8x16_F32F16F16F32_TN)",
        "copy_atom(SM75_U32x1_LDSM_N, f16)",
    ] {
        let (cells, grids) = latex(expr);
        let svg = run(["svg", expr]).out;
        // A frame a grid, and the background.
        assert_eq!(
            svg.matches("<rect").count(),
            cells.len() + grids.len() + 1,
            "{expr}"
        );
        let most = cells.iter().map(|c| c.2).max().expect("cells");
        for t in 0..=most {
            let label = format!(">T{t}</text>");
            assert_eq!(
                svg.matches(&label).count(),
                cells.iter().filter(|c| c.2 == t).count(),
                "{expr} T{t}"
            );
        }
    }
}

#[test]
fn print_gives_what_cute_prints_and_the_tables() {
    let text = run([
        "print",
        "make_tiled_copy(copy_atom(UniversalCopy<32>, f16), (2,2):(2,1), (1,2))",
    ]);
    assert_eq!(text.err, "");
    expect![[r#"
        TiledCopy
          Tiler_MN:       [2:1;4:1]
          TiledLayout_TV: ((2,2),2):((4,1),2)
        Copy_Atom UniversalCopy<32>
          ThrID:        1:0
          ValLayoutSrc: (1,2):(0,1)
          ValLayoutDst: (1,2):(0,1)
          ValLayoutRef: (1,2):(0,1)
          ValueType:    16b

        source: ((2,2),(2,1)):((4,1),(2,4)) over (2,4)

        (thread,value) -> coordinate
               V0     V1
        T0  (0,0)  (0,1)
        T1  (0,2)  (0,3)
        T2  (1,0)  (1,1)
        T3  (1,2)  (1,3)

        coordinate -> (thread,value)
              0     1     2     3
        0  T0V0  T0V1  T1V0  T1V1
        1  T2V0  T2V1  T3V0  T3V1

        destination: ((2,2),(2,1)):((4,1),(2,4)) over (2,4)

        (thread,value) -> coordinate
               V0     V1
        T0  (0,0)  (0,1)
        T1  (0,2)  (0,3)
        T2  (1,0)  (1,1)
        T3  (1,2)  (1,3)

        coordinate -> (thread,value)
              0     1     2     3
        0  T0V0  T0V1  T1V0  T1V1
        1  T2V0  T2V1  T3V0  T3V1
    "#]]
    .assert_eq(&text.out);
    let text = run(["print", "SM80_8x8x4_F64F64F64F64_TN"]);
    assert_eq!(text.err, "");
    expect![[r#"
        TiledMMA
          ThrLayoutVMNK:  (32,1,1,1):(1,0,0,0)
          PermutationMNK: [8:1;8:1;4:1]
        MMA_Atom SM80_8x8x4_F64F64F64F64_TN
          ThrID:      32:1
          Shape_MNK:  (8,8,4)
          LayoutA_TV: ((4,8),1):((8,1),0)
          LayoutB_TV: ((4,8),1):((8,1),0)
          LayoutC_TV: ((4,8),2):((16,1),8)

        A: ((4,8),(1,(1,1))):((8,1),(0,(8,32))) over (8,4)

        (thread,value) -> coordinate
                V0
         T0  (0,0)
         T1  (0,1)
         T2  (0,2)
         T3  (0,3)
         T4  (1,0)
         T5  (1,1)
         T6  (1,2)
         T7  (1,3)
         T8  (2,0)
         T9  (2,1)
        T10  (2,2)
        T11  (2,3)
        T12  (3,0)
        T13  (3,1)
        T14  (3,2)
        T15  (3,3)
        T16  (4,0)
        T17  (4,1)
        T18  (4,2)
        T19  (4,3)
        T20  (5,0)
        T21  (5,1)
        T22  (5,2)
        T23  (5,3)
        T24  (6,0)
        T25  (6,1)
        T26  (6,2)
        T27  (6,3)
        T28  (7,0)
        T29  (7,1)
        T30  (7,2)
        T31  (7,3)

        coordinate -> (thread,value)
               0      1      2      3
        0   T0V0   T1V0   T2V0   T3V0
        1   T4V0   T5V0   T6V0   T7V0
        2   T8V0   T9V0  T10V0  T11V0
        3  T12V0  T13V0  T14V0  T15V0
        4  T16V0  T17V0  T18V0  T19V0
        5  T20V0  T21V0  T22V0  T23V0
        6  T24V0  T25V0  T26V0  T27V0
        7  T28V0  T29V0  T30V0  T31V0

        B: ((4,8),(1,(1,1))):((8,1),(0,(8,32))) over (8,4)

        (thread,value) -> coordinate
                V0
         T0  (0,0)
         T1  (0,1)
         T2  (0,2)
         T3  (0,3)
         T4  (1,0)
         T5  (1,1)
         T6  (1,2)
         T7  (1,3)
         T8  (2,0)
         T9  (2,1)
        T10  (2,2)
        T11  (2,3)
        T12  (3,0)
        T13  (3,1)
        T14  (3,2)
        T15  (3,3)
        T16  (4,0)
        T17  (4,1)
        T18  (4,2)
        T19  (4,3)
        T20  (5,0)
        T21  (5,1)
        T22  (5,2)
        T23  (5,3)
        T24  (6,0)
        T25  (6,1)
        T26  (6,2)
        T27  (6,3)
        T28  (7,0)
        T29  (7,1)
        T30  (7,2)
        T31  (7,3)

        coordinate -> (thread,value)
               0      1      2      3
        0   T0V0   T1V0   T2V0   T3V0
        1   T4V0   T5V0   T6V0   T7V0
        2   T8V0   T9V0  T10V0  T11V0
        3  T12V0  T13V0  T14V0  T15V0
        4  T16V0  T17V0  T18V0  T19V0
        5  T20V0  T21V0  T22V0  T23V0
        6  T24V0  T25V0  T26V0  T27V0
        7  T28V0  T29V0  T30V0  T31V0

        C: ((4,8),(2,(1,1))):((16,1),(8,(8,64))) over (8,8)

        (thread,value) -> coordinate
                V0     V1
         T0  (0,0)  (0,1)
         T1  (0,2)  (0,3)
         T2  (0,4)  (0,5)
         T3  (0,6)  (0,7)
         T4  (1,0)  (1,1)
         T5  (1,2)  (1,3)
         T6  (1,4)  (1,5)
         T7  (1,6)  (1,7)
         T8  (2,0)  (2,1)
         T9  (2,2)  (2,3)
        T10  (2,4)  (2,5)
        T11  (2,6)  (2,7)
        T12  (3,0)  (3,1)
        T13  (3,2)  (3,3)
        T14  (3,4)  (3,5)
        T15  (3,6)  (3,7)
        T16  (4,0)  (4,1)
        T17  (4,2)  (4,3)
        T18  (4,4)  (4,5)
        T19  (4,6)  (4,7)
        T20  (5,0)  (5,1)
        T21  (5,2)  (5,3)
        T22  (5,4)  (5,5)
        T23  (5,6)  (5,7)
        T24  (6,0)  (6,1)
        T25  (6,2)  (6,3)
        T26  (6,4)  (6,5)
        T27  (6,6)  (6,7)
        T28  (7,0)  (7,1)
        T29  (7,2)  (7,3)
        T30  (7,4)  (7,5)
        T31  (7,6)  (7,7)

        coordinate -> (thread,value)
               0      1      2      3      4      5      6      7
        0   T0V0   T0V1   T1V0   T1V1   T2V0   T2V1   T3V0   T3V1
        1   T4V0   T4V1   T5V0   T5V1   T6V0   T6V1   T7V0   T7V1
        2   T8V0   T8V1   T9V0   T9V1  T10V0  T10V1  T11V0  T11V1
        3  T12V0  T12V1  T13V0  T13V1  T14V0  T14V1  T15V0  T15V1
        4  T16V0  T16V1  T17V0  T17V1  T18V0  T18V1  T19V0  T19V1
        5  T20V0  T20V1  T21V0  T21V1  T22V0  T22V1  T23V0  T23V1
        6  T24V0  T24V1  T25V0  T25V1  T26V0  T26V1  T27V0  T27V1
        7  T28V0  T28V1  T29V0  T29V1  T30V0  T30V1  T31V0  T31V1
    "#]]
    .assert_eq(&text.out);
    let json = run(["print", "--json", "SM70_8x8x4_F32F16F16F32_NT"]).out;
    assert!(
        json.starts_with("{\"A\":{\"coordinates\":[[[0,0],[1,0],[2,0],[3,0]],"),
        "{json}"
    );
}

#[test]
fn large_tiles_are_cut_with_a_note() {
    let expr = "make_tiled_copy(copy_atom(UniversalCopy<128>, f16), (32,8):(8,1), (1,16))";
    let r = run(["svg", expr]);
    assert_eq!(
        r.err,
        "note: cut: 64 of 128 columns are shown; --full shows all\n"
    );
    assert!(run(["svg", "--full", expr]).err.is_empty());
    // A tile of three modes has no picture.
    let r = run([
        "svg",
        "make_tiled_copy(copy_atom(UniversalCopy<16>, f16), (2,2,2), (1,1,1))",
    ]);
    assert!(
        r.status == Some(1) && r.err.contains("expected a tile of rank 1 or 2"),
        "{}",
        r.err
    );
}
