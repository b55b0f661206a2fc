//! CuTe's `print_latex`: TikZ that `pdflatex` compiles.

use std::fmt::Write;

use crate::failure::Fault;
use crate::grid::{Grid, Window};
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

/// Thread and value of each element of the tile, coloured by thread.
pub fn thread_value(tv: &ThreadValue, window: Window) -> String {
    let mut nodes = String::new();
    for m in 0..window.rows {
        for n in 0..window.columns {
            if let Some((t, v)) = tv.holder(m, n) {
                let (r, g, b) = THREADS[t as usize % THREADS.len()];
                let _ = writeln!(
                    nodes,
                    "\\node[fill={{rgb,255:red,{r};green,{g};blue,{b}}}] at ({m},{n}) {{\\shortstack{{T{t} \\\\ V{v}}}}};"
                );
            }
        }
    }
    document(&format!("Layout TV: {}", tv.title), &nodes, window)
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
