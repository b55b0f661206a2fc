//! A layout as rows and columns of values, and how much of it is shown.

use cute_layout::{FlatLayout, Inner, IntTuple, Layout, int};

use crate::failure::Fault;
use crate::value::Value;

/// The part of a large layout that is shown: rows and columns of a table, elements of a vector.
pub const SHOWN: (i64, i64) = (64, 32);
/// The largest table that is printed in full.
const FULL_TABLE: i64 = 1 << 22;
/// The largest picture that is drawn in full.
pub const FULL_PICTURE: i64 = 1 << 16;

/// A function of (row, column).
#[derive(Debug)]
pub struct Grid {
    /// The layout, as text.
    pub title: String,
    /// Tells whether the layout has rank 1: then it is one column.
    pub vector: bool,
    /// The number of rows and columns.
    pub size: (i64, i64),
    /// Shapes of the modes, for the edges.
    pub shapes: (IntTuple, IntTuple),
    /// One more than the largest value of the layout before a swizzle, as CuTe counts.
    pub cosize: i64,
    rows: FlatLayout,
    columns: FlatLayout,
    offset: i64,
    inner: Option<Inner>,
}

impl Grid {
    /// Errors: a rank above 2, dynamic or basis leaves, an offset that is not known.
    pub fn new(value: &Value) -> Result<Grid, Fault> {
        let (outer, offset, inner) = match value {
            Value::Composed(c) => {
                let offset = c.offset().as_static();
                let offset = offset.ok_or_else(|| value.unlike("a known offset"))?;
                (c.outer().clone(), offset, Some(c.inner().clone()))
            }
            v => (v.to_layout()?, 0, None),
        };
        let rank = outer.rank();
        if !(1..=2).contains(&rank) {
            return Err(Fault::Call(format!(
                "expected a layout of rank 1 or 2, found rank {rank}; group the modes of {value}, as in group(layout,1,{rank})"
            )));
        }
        let one = Layout::leaf(1, 0)?;
        let vector = rank == 1;
        // A vector is one mode, however its shape is nested: `((4,2)):((2,1))`.
        let (first, second) = if vector {
            (outer.clone(), one)
        } else {
            (outer.mode(0)?, outer.mode(1)?)
        };
        let shape = first.shape().clone().unwrap_single();
        Ok(Grid {
            title: value_title(value, &outer),
            vector,
            size: (first.size()?, second.size()?),
            shapes: (shape, second.shape().clone()),
            cosize: outer.cosize()?,
            rows: first.flat_or("print")?,
            columns: second.flat_or("print")?,
            offset,
            inner,
        })
    }

    /// The value at a coordinate. Errors: overflow beyond the layout, in the inner function.
    pub fn at(&self, row: i64, column: i64) -> Result<i64, Fault> {
        let overflow = || Fault::Call("expected values that fit 64 bits, found an overflow".into());
        let outer = self.rows.at(row).checked_add(self.columns.at(column));
        let index = outer
            .and_then(|i| i.checked_add(self.offset))
            .ok_or_else(overflow)?;
        match &self.inner {
            None => Ok(index),
            Some(Inner::Swizzle(s)) => Ok(s.apply(index)),
            Some(Inner::Layout(l)) => Ok(l.crd2idx(&int(index))?),
        }
    }

    /// The part that is shown as text.
    pub fn table(&self, full: bool) -> Result<Window, Fault> {
        // A vector is printed as a line.
        let shown = if self.vector { (SHOWN.0, 1) } else { SHOWN };
        Window::new(self.size, full.then_some(FULL_TABLE), shown)
    }

    /// The part that is drawn.
    pub fn picture(&self, full: bool) -> Result<Window, Fault> {
        Window::new(self.size, full.then_some(FULL_PICTURE), (SHOWN.0, SHOWN.0))
    }

    /// The values of a window, row by row.
    pub fn values(&self, w: Window) -> Result<Vec<Vec<i64>>, Fault> {
        (0..w.rows)
            .map(|i| (0..w.columns).map(|j| self.at(i, j)).collect())
            .collect()
    }
}

fn value_title(value: &Value, outer: &Layout) -> String {
    match value {
        Value::Composed(_) => value.to_string(),
        _ => outer.to_string(),
    }
}

/// The numbers of rows and columns that are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// Rows that are shown.
    pub rows: i64,
    /// Columns that are shown.
    pub columns: i64,
    size: (i64, i64),
}

impl Window {
    /// The first rows and columns, or all where that is asked for and at most `full` cells.
    pub fn new(size: (i64, i64), full: Option<i64>, shown: (i64, i64)) -> Result<Window, Fault> {
        let (rows, columns) = match full {
            None => (size.0.min(shown.0), size.1.min(shown.1)),
            Some(limit) if size.0.checked_mul(size.1).is_some_and(|n| n <= limit) => size,
            Some(limit) => {
                return Err(Fault::Call(format!(
                    "expected at most {limit} cells with --full, found {} x {}; leave it out, or take a slice",
                    size.0, size.1
                )));
            }
        };
        Ok(Window {
            rows,
            columns,
            size,
        })
    }

    /// The remark on what is not shown, for the command line.
    pub fn note(&self) -> Option<String> {
        Some(format!("{}; --full shows all", self.cut()?))
    }

    /// The part that is shown, where that is not all.
    pub fn cut(&self) -> Option<String> {
        let (m, n) = self.size;
        let cut = |shown: i64, all: i64, what: &str| {
            (shown < all).then(|| format!("{shown} of {all} {what}"))
        };
        let parts = [cut(self.rows, m, "rows"), cut(self.columns, n, "columns")];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        (!parts.is_empty()).then(|| format!("cut: {} are shown", parts.join(" and ")))
    }
}
