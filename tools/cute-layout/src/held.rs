//! The holders of a tile's elements as a small table: vectors of a thread are one entry, and what a page does not hold is left out.

use cute_layout::{IntTuple, Layout};

use crate::tv::ThreadValue;

/// Rows of entries, and entries a row, that a table has.
const SHOWN: (i64, i64) = (16, 8);

/// A thread-value layout over a tile as a table for a glance: each row of the tile is a line, and an entry `T3 V0-7` says that thread 3 has these
/// elements as its values 0 to 7. Vectors go along rows, or, where they are longer, along columns; then a line has several rows.
/// Nothing of layouts that are not known, of tiles of more than two modes, and of more elements than are enumerated.
pub fn held(layout: &Layout, tile: &IntTuple) -> Option<String> {
    let tv = ThreadValue::new(layout, tile).ok()?;
    let (rows, columns) = tv.tile;
    let (threads, values) = tv.counts;
    let same = |t| (0..values).all(|v| tv.coordinate(t, v) == tv.coordinate(0, v));
    if threads > 1 && (1..threads).all(same) {
        return Some(format!(
            "all {threads} threads have all of {rows} x {columns}\n"
        ));
    }
    let (across, down) = (vector(&tv, (0, 1)), vector(&tv, (1, 0)));
    let step = match across >= down {
        true => (1, across),
        false => (down, 1),
    };
    let lines = (rows / step.0).min(SHOWN.0);
    let entries = (columns / step.1).min(SHOWN.1);
    let length = step.0.max(step.1);
    let entry = |line: i64, at: i64| match tv.holder(line * step.0, at * step.1) {
        Some((t, v)) if length == 1 => format!("T{t} V{v}"),
        Some((t, v)) => format!("T{t} V{v}-{}", v + length - 1),
        None => "-".to_owned(),
    };
    let head = |at: i64, step: i64| match step {
        1 => at.to_string(),
        _ => format!("{}-{}", at * step, at * step + step - 1),
    };
    let mut table = vec![
        std::iter::once(String::new())
            .chain((0..entries).map(|at| head(at, step.1)))
            .collect::<Vec<_>>(),
    ];
    for line in 0..lines {
        let row = (0..entries).map(|at| entry(line, at));
        table.push(std::iter::once(head(line, step.0)).chain(row).collect());
    }
    let widths: Vec<usize> = (0..=entries as usize)
        .map(|at| table.iter().map(|row| row[at].len()).max().unwrap_or(0))
        .collect();
    let mut text = String::new();
    for row in &table {
        let row = row.iter().zip(&widths);
        let row: Vec<String> = row
            .map(|(entry, width)| format!("{entry:width$}"))
            .collect();
        text += row.join("  ").trim_end();
        text.push('\n');
    }
    let shown = (lines * step.0, entries * step.1);
    if shown != (rows, columns) {
        text += &format!(
            "the first {} x {} of {rows} x {columns}\n",
            shown.0, shown.1
        );
    }
    Some(text)
}

/// The most elements along a direction, at most 16, that are values of one thread in order, wherever such a vector begins at a multiple of its
/// length.
fn vector(tv: &ThreadValue, (down, across): (i64, i64)) -> i64 {
    let (rows, columns) = tv.tile;
    let extent = rows * down + columns * across;
    let fits = |length: i64| {
        extent % length == 0
            && (0..rows).all(|row| {
                (0..columns).all(|column| {
                    let behind = (row * down + column * across) % length;
                    let first = tv.holder(row - behind * down, column - behind * across);
                    tv.holder(row, column) == first.map(|(t, v)| (t, v + behind))
                })
            })
    };
    let mut length = 16;
    while length > 1 && !fits(length) {
        length /= 2;
    }
    length
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(layout: &str, tile: &str) -> String {
        let tile = IntTuple::parse(tile, cute_layout::Kind::Shape).unwrap();
        held(&Layout::parse(layout).unwrap(), &tile).unwrap()
    }

    #[test]
    fn vectors_are_one_entry() {
        // Two threads a row, of four values each.
        let rows = "   0-3      4-7\n0  T0 V0-3  T1 V0-3\n1  T2 V0-3  T3 V0-3\n";
        assert_eq!(of("((2,2),4):((8,1),2)", "(2,8)"), rows);
        // Along columns.
        let columns = "     0        1\n0-3  T0 V0-3  T1 V0-3\n";
        assert_eq!(of("(2,4):(4,1)", "(4,2)"), columns);
        assert_eq!(of("(2,1):(1,0)", "2"), "   0\n0  T0 V0\n1  T1 V0\n");
    }

    #[test]
    fn what_does_not_fit_and_what_nobody_has_is_said() {
        let cut = of("(64,1):(1,0)", "(64,1)");
        assert!(
            cut.ends_with("15  T15 V0\nthe first 16 x 1 of 64 x 1\n"),
            "{cut}"
        );
        assert_eq!(
            of("(32,8):(0,1)", "(2,4)"),
            "all 32 threads have all of 2 x 4\n"
        );
        assert!(of("(2,1):(1,0)", "(4,1)").contains("2  -\n"));
        let tile = IntTuple::parse("(2,2,2)", cute_layout::Kind::Shape).unwrap();
        assert!(held(&Layout::parse("(4,2):(2,1)").unwrap(), &tile).is_none());
    }
}
