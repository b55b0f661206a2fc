//! Thread-value layouts, both ways.

use std::fmt::Write;

use cute_layout::{IntTuple, Layout};
use serde_json::{Value as Json, json};

use crate::failure::Fault;
use crate::grid::{FULL_PICTURE, Window};

/// The most elements of a tile, and of threads times values.
const MAX_ELEMENTS: i64 = 1 << 22;

/// A thread-value layout over a tile, and its inverse.
#[derive(Debug)]
pub struct ThreadValue {
    /// Both, as text.
    pub title: String,
    /// Threads and values a thread.
    pub counts: (i64, i64),
    /// Rows and columns of the tile.
    pub tile: (i64, i64),
    /// Shapes of the tile's modes, for the edges.
    pub shapes: (IntTuple, IntTuple),
    forward: Vec<i64>,
    back: Vec<Option<(i64, i64)>>,
    shared: usize,
}

impl ThreadValue {
    /// Errors: a layout that is not of rank 2, a tile that is not of rank 1 or 2, an offset outside the tile, more than
    /// 2^22 elements, leaves that are not known integers.
    pub fn new(layout: &Layout, tile: &IntTuple) -> Result<ThreadValue, Fault> {
        if layout.rank() != 2 {
            return Err(Fault::Call(format!(
                "expected a layout of rank 2, (threads, values), found {layout}"
            )));
        }
        let one = IntTuple::from(1);
        let (m, n) = match tile.modes() {
            [m] => (m, &one),
            [m, n] => (m, n),
            _ => {
                return Err(Fault::Call(format!(
                    "expected a tile of rank 1 or 2, found {tile}"
                )));
            }
        };
        let (rows, columns) = (m.size()?, n.size()?);
        let (threads, values) = (layout.mode(0)?, layout.mode(1)?);
        let counts = (threads.size()?, values.size()?);
        let size = |(a, b): (i64, i64)| match a.checked_mul(b) {
            Some(n) if a > 0 && b > 0 && n <= MAX_ELEMENTS => Ok(n),
            _ => Err(Fault::Call(format!(
                "expected from 1 to {MAX_ELEMENTS} elements, found {a} x {b}"
            ))),
        };
        let elements = size((rows, columns))?;
        let mut forward = Vec::with_capacity(size(counts)? as usize);
        let mut back = vec![None; elements as usize];
        let mut shared = 0;
        let (threads, values) = (threads.flat_or("tv")?, values.flat_or("tv")?);
        for t in 0..counts.0 {
            for v in 0..counts.1 {
                let at = threads.at(t).saturating_add(values.at(v));
                let slot = usize::try_from(at).ok().and_then(|i| back.get_mut(i));
                let Some(slot) = slot else {
                    return Err(Fault::Call(format!(
                        "expected offsets below {elements}, the size of the tile {tile}, found {at} at thread {t}, value {v} \
                         of {layout}"
                    )));
                };
                match slot {
                    None => *slot = Some((t, v)),
                    Some(_) => shared += 1,
                }
                forward.push(at);
            }
        }
        Ok(ThreadValue {
            title: format!("{layout} over {tile}"),
            counts,
            tile: (rows, columns),
            shapes: (m.clone(), n.clone()),
            forward,
            back,
            shared,
        })
    }

    /// The coordinate in the tile that a thread holds as a value.
    pub fn coordinate(&self, thread: i64, value: i64) -> (i64, i64) {
        let at = self.forward[(thread * self.counts.1 + value) as usize];
        (at % self.tile.0, at / self.tile.0)
    }

    /// The first thread and value that hold an element.
    pub fn holder(&self, row: i64, column: i64) -> Option<(i64, i64)> {
        self.back[(row + column * self.tile.0) as usize]
    }

    /// Elements that no thread holds.
    pub fn missing(&self) -> usize {
        self.back.iter().filter(|h| h.is_none()).count()
    }

    /// Remarks: elements that nobody, or more than one, holds.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        let missing = self.missing();
        if missing > 0 {
            notes.push(format!(
                "{missing} of {} elements of the tile are held by no thread",
                self.back.len()
            ));
        }
        if self.shared > 0 {
            notes.push(format!(
                "{} of {} (thread,value) hold an element that another holds too; the first is shown",
                self.shared,
                self.forward.len()
            ));
        }
        notes
    }

    /// The parts of (threads, values) and of the tile that are shown, as text or as a picture.
    ///
    /// Errors: more cells than are drawn in full.
    pub fn windows(&self, full: bool, picture: bool) -> Result<(Window, Window), Fault> {
        let (limit, shown) = if picture {
            (FULL_PICTURE, (64, 64))
        } else {
            (MAX_ELEMENTS, (64, 32))
        };
        let limit = full.then_some(limit);
        Ok((
            Window::new(self.counts, limit, shown)?,
            Window::new(self.tile, limit, shown)?,
        ))
    }

    /// Both tables.
    pub fn text(&self, threads: Window, tile: Window) -> String {
        let mut out = format!("{}\n\n(thread,value) -> coordinate\n", self.title);
        let cell = |t: i64, v: i64| {
            let (m, n) = self.coordinate(t, v);
            format!("({m},{n})")
        };
        table(&mut out, threads, ("T", "V"), &cell);
        out.push_str("\ncoordinate -> (thread,value)\n");
        let cell = |m: i64, n: i64| {
            self.holder(m, n)
                .map_or(String::from("-"), |(t, v)| format!("T{t}V{v}"))
        };
        table(&mut out, tile, ("", ""), &cell);
        out
    }

    /// Both directions as arrays.
    pub fn json(&self, threads: Window, tile: Window) -> Json {
        let coordinates: Vec<Vec<[i64; 2]>> = (0..threads.rows)
            .map(|t| {
                let held = (0..threads.columns).map(|v| self.coordinate(t, v).into());
                held.collect()
            })
            .collect();
        let holders: Vec<Vec<Option<[i64; 2]>>> = (0..tile.rows)
            .map(|m| {
                let row = (0..tile.columns).map(|n| self.holder(m, n).map(Into::into));
                row.collect()
            })
            .collect();
        let cut: Vec<String> = [threads, tile].iter().filter_map(Window::note).collect();
        json!({
            "layout": self.title, "coordinates": coordinates, "holders": holders, "notes": self.notes(), "cut": cut,
        })
    }
}

fn table(out: &mut String, w: Window, heads: (&str, &str), cell: &dyn Fn(i64, i64) -> String) {
    let rows: Vec<Vec<String>> = (0..w.rows)
        .map(|i| (0..w.columns).map(|j| cell(i, j)).collect())
        .collect();
    let head = |prefix: &str, i: i64| format!("{prefix}{i}");
    let left = head(heads.0, w.rows - 1).len();
    let cells = rows.iter().flatten().map(String::len).max().unwrap_or(0);
    let width = cells.max(head(heads.1, w.columns - 1).len());
    let _ = write!(out, "{:left$}", "");
    // Writing to a string cannot fail.
    for j in 0..w.columns {
        let _ = write!(out, "  {:>width$}", head(heads.1, j));
    }
    out.push('\n');
    for (i, row) in rows.iter().enumerate() {
        let _ = write!(out, "{:>left$}", head(heads.0, i as i64));
        for c in row {
            let _ = write!(out, "  {c:>width$}");
        }
        out.push('\n');
    }
}
