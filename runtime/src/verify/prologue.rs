//! The factors of a product as they are multiplied: their elements as they are stored, or what a prologue makes of them, times a scale where it yields one.
//!
//! A prologue's results are numbers of a type, in which they are multiplied. What a right kernel may have for one is an interval
//! (`region`), whose ends rounded to that type are the first and the last number that it may be: where every operation but the last one
//! is exact, as of a byte times a scale, there is one such number only. The middle of the interval is the reference. What half of its
//! length, the *radius* of an element, does to a sum of products follows by Cauchy and Schwarz from the norms of the rows: with |A| and
//! |B| those of the references, and P and Q those of the radii, sums differ by at most `|A| Q + P |B| + P Q`.

use super::VerifyError;
use super::reference::Rows;
use super::region::{Ball, Evaluator};
use crate::element::Element;
use crate::parallel::parallel_fold;
use crate::tensor::Matrix;

/// A factor of a product.
pub(super) enum Factor<'a> {
    /// Its elements as they are stored.
    Stored(Matrix<'a>),
    /// The numbers that a prologue makes of them.
    Computed(Computed),
}

/// A matrix that a prologue computes.
pub(super) struct Computed {
    element: Element,
    columns: usize,
    /// The references, row by row.
    values: Vec<f64>,
    /// Euclidean norms of the radii of the rows.
    radii: Vec<f64>,
}

/// A factor and its prologue.
pub(super) struct Source<'a, 'b> {
    pub(super) names: Vec<&'b str>,
    /// The factor, and the tensors that are read beside it.
    pub(super) matrices: Vec<Matrix<'a>>,
    pub(super) evaluator: Evaluator<'b>,
    /// The value of the region that is multiplied, and its type.
    pub(super) yielded: usize,
    pub(super) element: Element,
    /// The value of the region that products are scaled by, an f32, where there is one.
    pub(super) scale: Option<usize>,
}

impl Rows for Factor<'_> {
    fn read(&self, row: usize, from: usize, out: &mut [f64]) {
        match self {
            Factor::Stored(matrix) => matrix.read_row(row, from, out),
            Factor::Computed(computed) => {
                let start = row * computed.columns + from;
                out.copy_from_slice(&computed.values[start..start + out.len()]);
            }
        }
    }
}

impl Factor<'_> {
    /// The type in which elements are multiplied.
    pub(super) fn element(&self) -> Element {
        match self {
            Factor::Stored(matrix) => matrix.element(),
            Factor::Computed(computed) => computed.element,
        }
    }

    /// Tells whether its elements are those of a tensor.
    pub(super) fn is_stored(&self) -> bool {
        matches!(self, Factor::Stored(_))
    }

    pub(super) fn columns(&self) -> usize {
        match self {
            Factor::Stored(matrix) => matrix.columns(),
            Factor::Computed(computed) => computed.columns,
        }
    }

    /// The norm of the radii of a row.
    pub(super) fn radius(&self, row: usize) -> f64 {
        match self {
            Factor::Stored(_) => 0.0,
            Factor::Computed(computed) => computed.radii.get(row).copied().unwrap_or(0.0),
        }
    }

    /// Euclidean norms of the rows, of one that a prologue computes.
    pub(super) fn norms(&self) -> Option<Vec<f64>> {
        let Factor::Computed(computed) = self else {
            return None;
        };
        let norm = |row: usize| {
            let start = row * computed.columns;
            let row = &computed.values[start..start + computed.columns];
            row.iter().map(|v| v * v).sum::<f64>().sqrt()
        };
        Some((0..computed.radii.len()).map(norm).collect())
    }
}

/// The interval of the products of numbers of two.
fn product(([low, high], [least, most]): ([f64; 2], [f64; 2])) -> [f64; 2] {
    let all = [low * least, low * most, high * least, high * most];
    let ends = |pick: fn(f64, f64) -> f64| all.into_iter().fold(all[0], pick);
    [ends(f64::min), ends(f64::max)]
}

impl Source<'_, '_> {
    /// Computes all elements.
    ///
    /// # Errors
    /// [`VerifyError::Prologue`] with the first element that may be no number that can be multiplied.
    pub(super) fn compute(&self) -> Result<Computed, VerifyError> {
        let (rows, columns) = (self.matrices[0].rows(), self.matrices[0].columns());
        let mut values = vec![0.0; rows * columns];
        let mut radii = vec![0.0; rows];
        let lines = values.chunks_mut(columns.max(1)).zip(&mut radii);
        let parts = parallel_fold(
            lines.enumerate().collect(),
            || (None, Vec::new()),
            |(unknown, balls), (row, (line, radius)): (usize, (&mut [f64], &mut f64))| {
                let mut squared = 0.0;
                for (column, value) in line.iter_mut().enumerate() {
                    balls.clear();
                    // What is not there is 0 behind the prologue.
                    if !self.matrices[0].is_there(row, column) {
                        continue;
                    }
                    let elements = self.matrices.iter();
                    balls.extend(elements.map(|matrix| Ball::in_matrix(matrix, row, column)));
                    self.evaluator.evaluate(balls);
                    // Packages are valid: there is such a value.
                    let ball = balls.get(self.yielded);
                    let ends = ball.and_then(|ball| ball.ends_in(self.element));
                    let scale = match self.scale {
                        Some(scale) => balls.get(scale).and_then(|ball| ball.ends_in(Element::F32)),
                        None => Some([1.0, 1.0]),
                    };
                    let Some([low, high]) = ends.zip(scale).map(product) else {
                        let found = (row, column);
                        *unknown =
                            Some(unknown.map_or(found, |first: (usize, usize)| first.min(found)));
                        continue;
                    };
                    *value = low + (high - low) / 2.0;
                    squared += ((high - low) / 2.0).powi(2);
                }
                *radius = squared.sqrt();
            },
        );
        let unknown = parts.iter().filter_map(|(unknown, _)| *unknown).min();
        if let Some((row, column)) = unknown {
            return Err(VerifyError::Prologue {
                name: self.names[0].to_string(),
                element: self.element,
                row,
                column,
            });
        }
        Ok(Computed {
            element: self.element,
            columns,
            values,
            radii,
        })
    }
}
