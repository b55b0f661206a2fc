//! Tiled copies and MMAs as SVG, in CuTe's arrangement and its eight colours of threads.

use cute_layout::int;

use crate::grid::Window;
use crate::latex;
use crate::svg::{
    CAPTION, CAPTION_CHAR, CELL, Cell, MARGIN, Panel, caption, caption_text, draw, frame, labels,
};
use crate::tiled::Tiled;
use crate::tv::ThreadValue;

/// The sides of a copy next to one another; A to the left of C and B, turned, above it.
pub fn tiled(title: &str, picture: &Tiled, windows: &[Window]) -> String {
    match (picture, windows) {
        (
            Tiled::Copy {
                source,
                destination,
                ..
            },
            [s, d, ..],
        ) => {
            let panels = [
                panel("source", source, *s, false),
                panel("destination", destination, *d, false),
            ];
            draw(Some(title), &panels)
        }
        (Tiled::Mma { a, b, c, .. }, [wa, wb, wc]) => {
            let name = |n: &str, axes: &str, tv: &ThreadValue| {
                format!("{n} ({axes}) = ({},{})", tv.tile.0, tv.tile.1)
            };
            mma(
                title,
                &panel(&name("A", "M,K", a), a, *wa, false),
                &panel(&name("B", "N,K", b), b, *wb, true),
                &Panel {
                    // A and B have its coordinates.
                    rows: vec![],
                    columns: vec![],
                    ..panel(&name("C", "M,N", c), c, *wc, false)
                },
            )
        }
        _ => frame(0, 0, ""),
    }
}

fn panel(name: &str, tv: &ThreadValue, w: Window, turned: bool) -> Panel {
    let cell = |m: i64, n: i64| match tv.holder(m, n) {
        Some((t, v)) => {
            let (r, g, b) = latex::thread(t);
            Cell {
                fill: format!("#{r:02x}{g:02x}{b:02x}"),
                lines: vec![format!("T{t}"), format!("V{v}")],
            }
        }
        None => Cell {
            fill: "#ffffff".to_string(),
            lines: vec![],
        },
    };
    let (rows, columns) = if turned {
        (w.columns, w.rows)
    } else {
        (w.rows, w.columns)
    };
    let row = |i: i64| -> Vec<Cell> {
        let along = 0..columns;
        along
            .map(|j| if turned { cell(j, i) } else { cell(i, j) })
            .collect()
    };
    Panel {
        caption: caption(name, &[w]),
        rows: labels(&int(rows), rows, ""),
        columns: labels(&int(columns), columns, ""),
        cells: (0..rows).map(row).collect(),
    }
}

// Rows of A are those of C, columns of B are those of C.
fn mma(title: &str, a: &Panel, b: &Panel, c: &Panel) -> String {
    let mut body = String::new();
    caption_text(&mut body, title, MARGIN, MARGIN);
    let cell = a.cell_width().max(b.cell_width()).max(c.cell_width());
    let size = |p: &Panel| {
        let columns = p.cells.first().map_or(0, Vec::len) as i64;
        (cell * columns, CELL * p.cells.len() as i64)
    };
    let ((wa, _), (_, hb), (wc, hc)) = (size(a), size(b), size(c));
    let text = |t: &str| t.chars().count() as i64 * CAPTION_CHAR;
    // Between the tables stand the coordinates and the caption of A, and those of B's rows.
    let (across, down) = (b.left() + MARGIN, CAPTION + MARGIN);
    let left = MARGIN + a.left();
    let (xc, yb) = (
        (left + wa).max(MARGIN + text(&a.caption)) + across,
        2 * CAPTION + 2 * MARGIN,
    );
    let yc = yb + hb + down;
    let xa = xc - across - wa;
    a.table(&mut body, (xa, yc), cell);
    b.table(&mut body, (xc, yb), cell);
    c.table(&mut body, (xc, yc), cell);
    caption_text(&mut body, &a.caption, MARGIN, yc - CAPTION - 10);
    caption_text(&mut body, &b.caption, xc, yb - CAPTION - 10);
    caption_text(&mut body, &c.caption, xc, yc + hc + 6);
    let width = (xc + wc.max(text(&b.caption)).max(text(&c.caption))).max(MARGIN + text(title));
    frame(width + MARGIN, yc + hc + CAPTION + MARGIN, &body)
}
