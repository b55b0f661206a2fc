//! CuTe's `print_layout`: a table for a matrix, coordinates and indices for a vector.

use std::fmt::Write;

use crate::failure::Fault;
use crate::grid::{Grid, Window};

/// A matrix as CuTe C++ prints it, a vector as CuTe's documentation does.
pub fn print(grid: &Grid, window: Window) -> Result<String, Fault> {
    let values = grid.values(window)?;
    if grid.vector {
        return Ok(vector(grid, &values));
    }
    let title = &grid.title;
    Ok(format!("{title}\n{}", matrix(grid.cosize, &values)))
}

fn vector(grid: &Grid, values: &[Vec<i64>]) -> String {
    let values: Vec<i64> = values.iter().flatten().copied().collect();
    let width = values.iter().map(|v| digits(*v)).max().unwrap_or(1).max(2);
    let mut out = format!("Layout:  {}\nCoord :", grid.title);
    // Writing to a string cannot fail.
    for i in 0..values.len() {
        let _ = write!(out, " {i:width$}");
    }
    out.push_str("\nIndex :");
    for v in values {
        let _ = write!(out, " {v:width$}");
    }
    out.push('\n');
    out
}

/// The table of `print_layout` without its first line: columns as wide as `cosize`, or the widest value.
pub fn matrix(cosize: i64, values: &[Vec<i64>]) -> String {
    let widest = values.iter().flatten().map(|v| digits(*v)).max();
    let width = widest.unwrap_or(1).max(digits(cosize));
    let columns = values.first().map_or(0, Vec::len);
    let rule = format!(
        "    {}+\n",
        format!("+{}", "-".repeat(width + 2)).repeat(columns)
    );
    let mut out = String::from("    ");
    for n in 0..columns {
        let _ = write!(out, "  {n:width$} ");
    }
    out.push('\n');
    for (m, row) in values.iter().enumerate() {
        out.push_str(&rule);
        let _ = write!(out, "{m:2}  ");
        for v in row {
            let _ = write!(out, "| {v:width$} ");
        }
        out.push_str("|\n");
    }
    out.push_str(&rule);
    out
}

/// The characters of an integer in text.
pub fn digits(v: i64) -> usize {
    let mut n = usize::from(v < 0) + 1;
    let mut rest = v / 10;
    while rest != 0 {
        n += 1;
        rest /= 10;
    }
    n
}
