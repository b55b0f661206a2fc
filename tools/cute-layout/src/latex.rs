//! CuTe's `print_latex`: TikZ that `pdflatex` compiles.

use std::fmt::Write;

use crate::failure::Fault;
use crate::grid::{Grid, Window};
use crate::tiled::Tiled;
use crate::tv::ThreadValue;

/// Greys by index, in the order of CuTe's `TikzColor_BWx8`.
const GREYS: [u8; 8] = [0, 40, 20, 60, 10, 50, 30, 70];
/// Colours by thread, those of CuTe's `TikzColor_TV`.
const THREADS: [(u8, u8, u8); 8] = [
    (175, 175, 255),
    (175, 255, 175),
    (255, 255, 175),
    (255, 175, 175),
    (210, 210, 255),
    (210, 255, 210),
    (255, 255, 210),
    (255, 210, 210),
];

/// The indices of a layout, in greys.
pub fn layout(grid: &Grid, window: Window) -> Result<String, Fault> {
    let mut nodes = String::new();
    for (m, row) in grid.values(window)?.iter().enumerate() {
        for (n, v) in row.iter().enumerate() {
            let grey = GREYS[v.rem_euclid(8) as usize];
            // Writing to a string cannot fail.
            let _ = writeln!(nodes, "\\node[fill=black!{grey:02}] at ({m},{n}) {{{v}}};");
        }
    }
    Ok(document(&format!("Layout: {}", grid.title), &nodes, window))
}

/// Numbers, each coloured by the group that it is of.
pub fn coloured(title: &str, cells: &[Vec<(i64, i64)>], window: Window) -> String {
    let mut nodes = String::new();
    for (m, row) in cells.iter().enumerate() {
        for (n, (number, group)) in row.iter().enumerate() {
            let (r, g, b) = thread(*group);
            // Writing to a string cannot fail.
            let _ = writeln!(
                nodes,
                "\\node[fill={{rgb,255:red,{r};green,{g};blue,{b}}}] at ({m},{n}) {{{number}}};"
            );
        }
    }
    document(title, &nodes, window)
}

/// Thread and value of each element of the tile, coloured by thread.
pub fn thread_value(tv: &ThreadValue, window: Window) -> String {
    let mut nodes = String::new();
    for m in 0..window.rows {
        for n in 0..window.columns {
            if let Some((t, v)) = tv.holder(m, n) {
                let (r, g, b) = thread(t);
                let _ = writeln!(
                    nodes,
                    "\\node[fill={{rgb,255:red,{r};green,{g};blue,{b}}}] at ({m},{n}) {{\\shortstack{{T{t} \\\\ V{v}}}}};"
                );
            }
        }
    }
    document(&format!("Layout TV: {}", tv.title), &nodes, window)
}

/// CuTe's picture of a tiled copy or MMA: the sides of a copy next to one another; A to the left of C, B above it, turned,
/// so that K runs down to C.
pub fn tiled(picture: &Tiled, windows: &[Window]) -> String {
    let mut body = String::new();
    let mut comment = String::new();
    let parts = picture.parts();
    for ((name, tv), w) in parts.iter().zip(windows) {
        // Writing to a string cannot fail.
        let _ = writeln!(comment, "% Layout {name}: {}", tv.title);
        let _ = w.note().map(|n| writeln!(comment, "% {n}"));
    }
    match (picture, windows) {
        (
            Tiled::Copy {
                source,
                destination,
                ..
            },
            [s, d, ..],
        ) => {
            panel(&mut body, source, *s, Place::at(0, 0));
            edges(&mut body, *s, Place::at(0, 0), -1, -1);
            let right = Place::at(0, s.columns + 3);
            panel(&mut body, destination, *d, right);
            edges(&mut body, *d, right, -1, d.columns);
        }
        (Tiled::Mma { a, b, c, .. }, [wa, wb, wc]) => {
            panel(&mut body, c, *wc, Place::at(0, 0));
            let left = Place::at(0, -wa.columns - 1);
            panel(&mut body, a, *wa, left);
            edges(&mut body, *wa, left, -1, -1);
            let above = Place {
                row: -wb.columns - 1,
                column: 0,
                turned: true,
            };
            panel(&mut body, b, *wb, above);
            edges(&mut body, *wb, above, -1, -1);
        }
        _ => {}
    }
    format!(
        "{comment}\\documentclass[convert]{{standalone}}\n\\usepackage{{tikz}}\n\n\\begin{{document}}\n\
         \\begin{{tikzpicture}}[x={{(0cm,-1cm)}},y={{(1cm,0cm)}},every node/.style={{minimum size=1cm, outer sep=0pt}}]\n\n\
         {body}\\end{{tikzpicture}}\n\\end{{document}}\n"
    )
}

/// The place of a table's corner; turned, its rows run to the right.
#[derive(Clone, Copy)]
struct Place {
    row: i64,
    column: i64,
    turned: bool,
}

impl Place {
    fn at(row: i64, column: i64) -> Place {
        let turned = false;
        Place {
            row,
            column,
            turned,
        }
    }

    fn cell(self, m: i64, n: i64) -> (i64, i64) {
        let (m, n) = if self.turned { (n, m) } else { (m, n) };
        (self.row + m, self.column + n)
    }
}

fn panel(out: &mut String, tv: &ThreadValue, w: Window, at: Place) {
    for m in 0..w.rows {
        for n in 0..w.columns {
            if let Some((t, v)) = tv.holder(m, n) {
                let ((r, g, b), (x, y)) = (thread(t), at.cell(m, n));
                let _ = writeln!(
                    out,
                    "\\node[fill={{rgb,255:red,{r};green,{g};blue,{b}}}] at ({x},{y}) {{\\shortstack{{T{t} \\\\ V{v}}}}};"
                );
            }
        }
    }
    let (end, begin) = (at.cell(w.rows, w.columns), at.cell(0, 0));
    let _ = writeln!(
        out,
        "\\draw[color=black,thick,shift={{(-0.5,-0.5)}}] ({},{}) grid ({},{});\n",
        begin.0, begin.1, end.0, end.1
    );
}

/// The coordinates: those of the second mode in row `above`, those of the first in column `beside`, counted from the corner.
fn edges(out: &mut String, w: Window, at: Place, above: i64, beside: i64) {
    let mut label = |(x, y): (i64, i64), i: i64| {
        let _ = writeln!(out, "\\node at ({x},{y}) {{\\Large{{\\texttt{{{i}}}}}}};");
    };
    (0..w.rows).for_each(|m| label(at.cell(m, beside), m));
    (0..w.columns).for_each(|n| label(at.cell(above, n), n));
    out.push('\n');
}

/// The colour of a thread.
pub fn thread(t: i64) -> (u8, u8, u8) {
    THREADS[t.rem_euclid(8) as usize]
}

fn document(comment: &str, nodes: &str, window: Window) -> String {
    let (rows, columns) = (window.rows, window.columns);
    let mut labels = String::new();
    for m in 0..rows {
        let _ = writeln!(labels, "\\node at ({m},-1) {{\\Large{{\\texttt{{{m}}}}}}};");
    }
    for n in 0..columns {
        let _ = writeln!(labels, "\\node at (-1,{n}) {{\\Large{{\\texttt{{{n}}}}}}};");
    }
    let cut = window.note().map_or(String::new(), |n| format!("% {n}\n"));
    format!(
        "% {comment}\n{cut}\\documentclass[convert]{{standalone}}\n\\usepackage{{tikz}}\n\n\\begin{{document}}\n\
         \\begin{{tikzpicture}}[x={{(0cm,-1cm)}},y={{(1cm,0cm)}},every node/.style={{minimum size=1cm, outer sep=0pt}}]\n\n\
         {nodes}\\draw[color=black,thick,shift={{(-0.5,-0.5)}}] (0,0) grid ({rows},{columns});\n\n\
         {labels}\\end{{tikzpicture}}\n\\end{{document}}\n"
    )
}
