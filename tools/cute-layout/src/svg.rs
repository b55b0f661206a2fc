//! Pictures as SVG: cells, a grid, coordinates on the edges.

use std::fmt::Write;

use cute_layout::{IntTuple, int};

use crate::failure::Fault;
use crate::grid::{Grid, Window};
use crate::tv::ThreadValue;

/// Height of a cell, and its least width.
pub const CELL: i64 = 34;
/// Room around a picture and between two.
pub const MARGIN: i64 = 16;
/// Height of the caption.
pub const CAPTION: i64 = 30;
/// Width of a character of the caption, in pixels.
pub const CAPTION_CHAR: i64 = 9;
/// Width of a character of the edges, in pixels.
const EDGE_CHAR: i64 = 7;
/// Width of a character in a cell, in pixels.
const CELL_CHAR: i64 = 8;

/// Tints of one blue by index: neighbours in memory go from light to dark, eight at a time.
const TINTS: [&str; 8] = [
    "#ffffff", "#eef4fb", "#dde9f7", "#cbddf2", "#b8d1ed", "#a5c5e8", "#92b8e2", "#7fabdc",
];

/// A cell: its fill and its lines of text.
pub struct Cell {
    /// Its colour.
    pub fill: String,
    /// Its text.
    pub lines: Vec<String>,
}

/// A table of cells with labels on its edges.
pub struct Panel {
    /// The text above the table.
    pub caption: String,
    /// Coordinates of the rows.
    pub rows: Vec<Label>,
    /// Coordinates of the columns.
    pub columns: Vec<Label>,
    /// Row by row.
    pub cells: Vec<Vec<Cell>>,
}

/// The 1-D coordinate, and the natural one where the mode is nested.
pub struct Label {
    index: String,
    natural: String,
}

/// The indices of a layout. A vector is drawn as a row.
pub fn layout(grid: &Grid, window: Window) -> Result<String, Fault> {
    let values = grid.values(window)?;
    let cell = |v: &i64| Cell {
        fill: TINTS[v.rem_euclid(8) as usize].to_string(),
        lines: vec![v.to_string()],
    };
    let mut cells: Vec<Vec<Cell>> = values
        .iter()
        .map(|row| row.iter().map(cell).collect())
        .collect();
    let mut rows = labels(&grid.shapes.0, window.rows, "");
    let mut columns = labels(&grid.shapes.1, window.columns, "");
    if grid.vector {
        cells = vec![cells.into_iter().flatten().collect()];
        columns = rows;
        rows = vec![Label {
            index: String::new(),
            natural: String::new(),
        }];
    }
    let panel = Panel {
        caption: caption(&grid.title, &[window]),
        rows,
        columns,
        cells,
    };
    Ok(draw(None, &[panel]))
}

/// Both directions of a thread-value layout, coloured by thread.
pub fn thread_value(tv: &ThreadValue, threads: Window, tile: Window) -> String {
    let forward = (0..threads.rows).map(|t| {
        let cell = |v| {
            let (m, n) = tv.coordinate(t, v);
            Cell {
                fill: thread_colour(t),
                lines: vec![format!("({m},{n})")],
            }
        };
        (0..threads.columns).map(cell).collect()
    });
    let back = (0..tile.rows).map(|m| {
        let cell = |n| match tv.holder(m, n) {
            Some((t, v)) => Cell {
                fill: thread_colour(t),
                lines: vec![format!("T{t}"), format!("V{v}")],
            },
            None => Cell {
                fill: "#ffffff".to_string(),
                lines: vec![],
            },
        };
        (0..tile.columns).map(cell).collect()
    });
    let panels = [
        Panel {
            caption: caption("coordinate \u{2192} (thread,value)", &[tile]),
            rows: labels(&tv.shapes.0, tile.rows, ""),
            columns: labels(&tv.shapes.1, tile.columns, ""),
            cells: back.collect(),
        },
        Panel {
            caption: caption("(thread,value) \u{2192} coordinate", &[threads]),
            rows: labels(&int(threads.rows), threads.rows, "T"),
            columns: labels(&int(threads.columns), threads.columns, "V"),
            cells: forward.collect(),
        },
    ];
    draw(Some(&tv.title), &panels)
}

/// A title that says where something is not shown.
pub fn caption(title: &str, windows: &[Window]) -> String {
    let cut = windows.iter().any(|w| w.note().is_some());
    format!("{title}{}", if cut { " (cut)" } else { "" })
}

/// Coordinates along a mode of this shape: of each the index, and the natural one where the mode is nested.
pub fn labels(shape: &IntTuple, shown: i64, prefix: &str) -> Vec<Label> {
    let nested = shape.is_tuple() && shape.rank() > 1;
    (0..shown)
        .map(|i| Label {
            index: format!("{prefix}{i}"),
            natural: match shape.idx2crd(&int(i)) {
                Ok(c) if nested => c.to_string(),
                _ => String::new(),
            },
        })
        .collect()
}

/// A light colour for each thread, those of neighbours far apart: hues a golden angle apart, in three lightnesses.
fn thread_colour(t: i64) -> String {
    const GOLDEN: f64 = 137.507_764;
    let hue = (t as f64 * GOLDEN).rem_euclid(360.0);
    let light = [0.82, 0.88, 0.76][t.rem_euclid(3) as usize];
    let reach = 0.62 * (1.0 - light);
    let channel = |shift: f64| {
        let k = (shift + hue / 30.0).rem_euclid(12.0);
        let v = light - reach * (k - 3.0).min(9.0 - k).clamp(-1.0, 1.0);
        (v.clamp(0.0, 1.0) * 255.0).round() as u8
    };
    format!(
        "#{:02x}{:02x}{:02x}",
        channel(0.0),
        channel(8.0),
        channel(4.0)
    )
}

/// Panels next to one another.
pub fn draw(heading: Option<&str>, panels: &[Panel]) -> String {
    let mut body = String::new();
    let (mut x, mut y, mut height, mut least) = (MARGIN, 0, 0, 0);
    if let Some(heading) = heading {
        y = CAPTION;
        least = heading.chars().count() as i64 * CAPTION_CHAR;
        caption_text(&mut body, heading, x, MARGIN);
    }
    for panel in panels {
        let (w, h) = draw_panel(&mut body, panel, (x, y));
        x += w + 2 * MARGIN;
        height = height.max(h);
    }
    frame((x - MARGIN).max(least + 2 * MARGIN), height + MARGIN, &body)
}

/// The document around a picture of this size.
pub fn frame(width: i64, height: i64, body: &str) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
         font-family=\"Helvetica, Arial, sans-serif\" text-anchor=\"middle\">\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>\n{body}</svg>\n"
    )
}

/// A line in bold, whose upper left corner is given.
pub fn caption_text(out: &mut String, text: &str, x: i64, y: i64) {
    // Writing to a string cannot fail.
    let _ = writeln!(
        out,
        "<text x=\"{x}\" y=\"{}\" font-size=\"14\" font-weight=\"bold\" text-anchor=\"start\">{}</text>",
        y + 14,
        escape(text)
    );
}

// Draws at a corner; gives the width and the lower edge.
fn draw_panel(out: &mut String, p: &Panel, (x, y): (i64, i64)) -> (i64, i64) {
    let cell = p.cell_width();
    let left = p.left();
    let nested = longest(&p.columns, |l| &l.natural) > 0;
    let top = y + CAPTION + MARGIN + if nested { 32 } else { 18 };
    let (w, h) = (cell * p.columns.len() as i64, CELL * p.rows.len() as i64);
    let total = (left + w).max(p.caption.chars().count() as i64 * CAPTION_CHAR);
    caption_text(out, &p.caption, x, y + MARGIN);
    p.table(out, (x + left, top), cell);
    (total, top + h)
}

fn longest(labels: &[Label], part: fn(&Label) -> &String) -> i64 {
    labels.iter().map(|l| part(l).len()).max().unwrap_or(0) as i64
}

impl Panel {
    /// The width that its cells need.
    pub fn cell_width(&self) -> i64 {
        let text = self.cells.iter().flatten().flat_map(|c| &c.lines);
        let inside = text.map(|l| l.len()).max().unwrap_or(1) as i64 * CELL_CHAR + 8;
        let above =
            longest(&self.columns, |l| &l.natural).max(longest(&self.columns, |l| &l.index));
        inside.max(above * EDGE_CHAR + 4).max(CELL)
    }

    /// The room that the coordinates of its rows need.
    pub fn left(&self) -> i64 {
        let natural = longest(&self.rows, |l| &l.natural) * EDGE_CHAR;
        longest(&self.rows, |l| &l.index) * CELL_CHAR + natural + 14
    }

    /// Draws coordinates and cells, where the corner of the first cell is given.
    pub fn table(&self, out: &mut String, (x0, y0): (i64, i64), cell: i64) {
        let natural = longest(&self.rows, |l| &l.natural) * EDGE_CHAR;
        let nested = longest(&self.columns, |l| &l.natural) > 0;
        let columns = self.cells.first().map_or(0, Vec::len) as i64;
        let (w, h) = (cell * columns, CELL * self.cells.len() as i64);
        let _ = writeln!(out, "<g fill=\"#333333\" font-size=\"13\">");
        for (j, label) in self.columns.iter().enumerate() {
            let cx = x0 + cell * j as i64 + cell / 2;
            let y = if nested { y0 - 20 } else { y0 - 6 };
            let _ = writeln!(out, "<text x=\"{cx}\" y=\"{y}\">{}</text>", label.index);
            if nested {
                let _ = writeln!(
                    out,
                    "<text x=\"{cx}\" y=\"{}\" {SMALL}>{}</text>",
                    y0 - 6,
                    label.natural
                );
            }
        }
        for (i, label) in self.rows.iter().enumerate() {
            let y = y0 + CELL * i as i64 + CELL / 2 + 5;
            let right = x0 - 8 - natural;
            let _ = writeln!(
                out,
                "<text x=\"{right}\" y=\"{y}\" text-anchor=\"end\">{}</text>",
                label.index
            );
            if natural > 0 {
                let _ = writeln!(
                    out,
                    "<text x=\"{}\" y=\"{y}\" text-anchor=\"end\" {SMALL}>{}</text>",
                    x0 - 6,
                    label.natural
                );
            }
        }
        let _ = writeln!(out, "</g>\n<g stroke=\"#555555\" stroke-width=\"0.8\">");
        for (i, row) in self.cells.iter().enumerate() {
            for (j, c) in row.iter().enumerate() {
                let (cx, cy) = (x0 + cell * j as i64, y0 + CELL * i as i64);
                let _ = writeln!(
                    out,
                    "<rect x=\"{cx}\" y=\"{cy}\" width=\"{cell}\" height=\"{CELL}\" fill=\"{}\"/>",
                    c.fill
                );
            }
        }
        let _ = writeln!(out, "</g>\n<g font-size=\"13\" fill=\"#111111\">");
        for (i, row) in self.cells.iter().enumerate() {
            for (j, c) in row.iter().enumerate() {
                let cx = x0 + cell * j as i64 + cell / 2;
                let middle = y0 + CELL * i as i64 + CELL / 2;
                let first = middle + 4 - 7 * (c.lines.len() as i64 - 1);
                for (k, line) in c.lines.iter().enumerate() {
                    let _ = writeln!(
                        out,
                        "<text x=\"{cx}\" y=\"{}\">{line}</text>",
                        first + 14 * k as i64
                    );
                }
            }
        }
        let _ = writeln!(
            out,
            "</g>\n<rect x=\"{x0}\" y=\"{y0}\" width=\"{w}\" height=\"{h}\" fill=\"none\" stroke=\"#222222\" stroke-width=\"1.6\"/>"
        );
    }
}

/// The style of natural coordinates.
const SMALL: &str = "font-size=\"11\" fill=\"#777777\"";

fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}
