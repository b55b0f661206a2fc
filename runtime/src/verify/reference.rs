//! Exact sums of products, in f64: `out(i,j) = sum over k of A(rows[i],k) * B(columns[j],k)`.

use crate::tensor::Matrix;

/// Rows and columns of a block that one call computes at most; a multiple of the kernel's.
pub(super) const BLOCK: usize = 128;
/// Length of the sums between reloads: two packed panels of 128 x 256 f64 stay in the second-level
/// cache.
const DEPTH: usize = 256;
/// Rows and columns in registers: with AVX2, eight accumulators of four.
const ROWS: usize = 4;
const COLUMNS: usize = 8;

/// Rows that can be multiplied: of a tensor, or of numbers computed before.
pub(super) trait Rows: Sync {
    fn read(&self, row: usize, from: usize, out: &mut [f64]);
}

impl Rows for Matrix<'_> {
    fn read(&self, row: usize, from: usize, out: &mut [f64]) {
        self.read_row(row, from, out);
    }
}

/// Rows one after another.
pub(super) struct Dense<'a> {
    pub(super) values: &'a [f64],
    pub(super) length: usize,
}

impl Rows for Dense<'_> {
    fn read(&self, row: usize, from: usize, out: &mut [f64]) {
        let start = row * self.length + from;
        out.copy_from_slice(&self.values[start..start + out.len()]);
    }
}

/// Memory that blocks reuse.
#[derive(Default)]
pub(super) struct Workspace {
    a: Vec<f64>,
    b: Vec<f64>,
    line: Vec<f64>,
    sums: Vec<f64>,
    out: Vec<f64>,
}

impl Workspace {
    /// The block of the product for at most [`BLOCK`] rows and columns: `rows.len() *
    /// columns.len()` sums, row by row.
    pub(super) fn multiply(
        &mut self,
        a: &impl Rows,
        rows: &[usize],
        b: &impl Rows,
        columns: &[usize],
        k: usize,
    ) -> &[f64] {
        let padded_rows = rows.len().next_multiple_of(ROWS);
        let padded_columns = columns.len().next_multiple_of(COLUMNS);
        self.sums.clear();
        self.sums.resize(padded_rows * padded_columns, 0.0);
        for from in (0..k).step_by(DEPTH) {
            let depth = DEPTH.min(k - from);
            pack::<ROWS>(a, rows, from, depth, &mut self.line, &mut self.a);
            pack::<COLUMNS>(b, columns, from, depth, &mut self.line, &mut self.b);
            multiply_panels(&self.a, &self.b, depth, &mut self.sums);
        }
        // The sums lie tile by tile.
        let tiles = padded_columns / COLUMNS;
        self.out.clear();
        for i in 0..rows.len() {
            for j in 0..columns.len() {
                let tile = (i / ROWS) * tiles + j / COLUMNS;
                self.out
                    .push(self.sums[tile * ROWS * COLUMNS + i % ROWS * COLUMNS + j % COLUMNS]);
            }
        }
        &self.out
    }
}

/// Packs rows in groups of `WIDTH`, element by element across a group; the last group is filled up
/// with zeros.
fn pack<const WIDTH: usize>(
    source: &impl Rows,
    rows: &[usize],
    from: usize,
    depth: usize,
    line: &mut Vec<f64>,
    packed: &mut Vec<f64>,
) {
    packed.clear();
    packed.resize(rows.len().next_multiple_of(WIDTH) * depth, 0.0);
    line.resize(depth, 0.0);
    for (i, &row) in rows.iter().enumerate() {
        source.read(row, from, line);
        let group = &mut packed[i / WIDTH * WIDTH * depth..];
        for (slot, &value) in group[i % WIDTH..]
            .iter_mut()
            .step_by(WIDTH)
            .zip(line.iter())
        {
            *slot = value;
        }
    }
}

fn multiply_panels(a: &[f64], b: &[f64], depth: usize, sums: &mut [f64]) {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
        // SAFETY: the CPU has the features that the function is compiled for.
        return unsafe { multiply_panels_avx2(a, b, depth, sums) };
    }
    multiply_panels_with(a, b, depth, sums, |x, y, sum| x * y + sum);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn multiply_panels_avx2(a: &[f64], b: &[f64], depth: usize, sums: &mut [f64]) {
    multiply_panels_with(a, b, depth, sums, f64::mul_add);
}

/// Adds the products of packed panels to the sums. `add` is a parameter because `mul_add` is a slow
/// call where the CPU has no such instruction.
#[inline(always)]
fn multiply_panels_with(
    a: &[f64],
    b: &[f64],
    depth: usize,
    sums: &mut [f64],
    add: impl Fn(f64, f64, f64) -> f64 + Copy,
) {
    let mut tiles = sums.chunks_exact_mut(ROWS * COLUMNS);
    for a in a.chunks_exact(ROWS * depth) {
        for (b, tile) in b.chunks_exact(COLUMNS * depth).zip(&mut tiles) {
            let mut sum = [[0.0; COLUMNS]; ROWS];
            for (a, b) in a.chunks_exact(ROWS).zip(b.chunks_exact(COLUMNS)) {
                for i in 0..ROWS {
                    for j in 0..COLUMNS {
                        sum[i][j] = add(a[i], b[j], sum[i][j]);
                    }
                }
            }
            for (total, part) in tile.iter_mut().zip(sum.as_flattened()) {
                *total += part;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_agree_with_the_definition() {
        let k = 2 * DEPTH + 5;
        let (m, n) = (11, 19);
        let value = |seed: usize| ((seed * 7919 + 13) % 1001) as f64 - 500.0;
        let a: Vec<f64> = (0..m * k).map(value).collect();
        let b: Vec<f64> = (0..n * k).map(|i| value(i + 3)).collect();
        let rows = [0, 3, 10, 7, 7];
        let columns: Vec<usize> = (0..n).rev().collect();
        let mut workspace = Workspace::default();
        for _ in 0..2 {
            let (a, b) = (
                Dense {
                    values: &a,
                    length: k,
                },
                Dense {
                    values: &b,
                    length: k,
                },
            );
            let out = workspace.multiply(&a, &rows, &b, &columns, k);
            assert_eq!(out.len(), rows.len() * columns.len());
            for (i, &row) in rows.iter().enumerate() {
                for (j, &column) in columns.iter().enumerate() {
                    // Integers: every order of the sum is exact.
                    let exact: f64 = (0..k)
                        .map(|l| a.values[row * k + l] * b.values[column * k + l])
                        .sum();
                    assert_eq!(out[i * columns.len() + j], exact, "{row}, {column}");
                }
            }
        }
    }
}
