//! Matrices of products whose elements a tensor has at coordinates, or whose rows it has by index.

use serde::{Deserialize, Serialize};

use super::expr::{Environment, Expr};

/// The elements that one mode of a matrix may have, at most.
const MOST: i64 = 1 << 31;

/// The coordinates at which a tensor has the elements of a matrix: sums of steps, one for each leaf of the matrix's modes.
///
/// There is no element where some coordinate is below 0 or not below the tensor's extent: the matrix is 0 there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct At {
    /// The coordinate of the first element, an integer for each mode of the tensor.
    pub start: Vec<Expr>,
    /// The leaves of each mode of the matrix, the first the fastest.
    pub modes: Vec<Vec<Step>>,
}

/// A leaf of a matrix's mode: so many elements, and from one to the next a step along a mode of the tensor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// The elements.
    pub extent: Expr,
    /// The step; 0 where all are at one coordinate.
    pub by: Expr,
    /// The mode of the tensor.
    pub along: usize,
}

/// Coordinates, for some arguments.
pub(crate) struct Known {
    pub(crate) start: Vec<i64>,
    /// For each mode of the matrix and each of its elements the steps along each mode of the tensor.
    pub(crate) modes: Vec<Vec<Vec<i64>>>,
}

impl At {
    /// The coordinates as a start and a layout, `?` where only arguments say.
    pub(crate) fn describe(&self) -> String {
        let number = |expr: &Expr| expr.constant().map_or("?".to_owned(), |n| n.to_string());
        let nest = |all: Vec<String>| match &all[..] {
            [one] => one.clone(),
            all => format!("({})", all.join(",")),
        };
        let modes = |of: &dyn Fn(&Step) -> String| {
            let modes = self.modes.iter();
            let modes = modes.map(|mode| nest(mode.iter().map(of).collect()));
            modes.collect::<Vec<_>>().join(",")
        };
        let step = |step: &Step| match step.by.constant() {
            Some(0) => "0".to_owned(),
            _ => format!("{}@{}", number(&step.by), step.along),
        };
        let start: Vec<String> = self.start.iter().map(number).collect();
        format!(
            "({}) + ({}):({})",
            start.join(","),
            modes(&|step| number(&step.extent)),
            modes(&step)
        )
    }

    /// All of its expressions.
    pub(crate) fn expressions(&self) -> impl Iterator<Item = &Expr> {
        let steps = self.modes.iter().flatten();
        let steps = steps.flat_map(|step| [&step.extent, &step.by]);
        self.start.iter().chain(steps)
    }

    /// The sizes of the matrix's modes, where they are known.
    pub(crate) fn sizes(&self, environment: &Environment) -> Vec<Option<i64>> {
        let size = |mode: &Vec<Step>| {
            let extents = mode
                .iter()
                .map(|step| step.extent.evaluate(environment).ok());
            extents
                .into_iter()
                .try_fold(1i64, |size, extent| size.checked_mul(extent?))
        };
        self.modes.iter().map(size).collect()
    }

    /// The coordinates of all elements, for a tensor of that rank.
    ///
    /// # Errors
    /// A text that is no number, or too many of them.
    pub(crate) fn known(&self, environment: &Environment, rank: usize) -> Result<Known, String> {
        let numbers = |all: &[Expr]| -> Result<Vec<i64>, String> {
            all.iter().map(|expr| expr.evaluate(environment)).collect()
        };
        let mode = |mode: &Vec<Step>| {
            let mut all = vec![vec![0i64; rank]];
            for step in mode {
                let [extent, by] = [&step.extent, &step.by].map(|expr| expr.evaluate(environment));
                let (extent, by) = (extent?, by?);
                let count = i64::try_from(all.len())
                    .ok()
                    .and_then(|n| n.checked_mul(extent));
                if extent < 0 || count.is_none_or(|count| count > MOST) || step.along >= rank {
                    return Err(format!(
                        "expected modes of at most {MOST} elements of a tensor of {rank} modes, found {extent} along mode {}",
                        step.along
                    ));
                }
                let before = all;
                all = Vec::with_capacity(usize::try_from(count.unwrap_or(0)).unwrap_or(0));
                for i in 0..extent {
                    let by = by.checked_mul(i).ok_or("a coordinate overflows 64 bits")?;
                    for place in &before {
                        let mut place = place.clone();
                        let moved = place[step.along].checked_add(by);
                        place[step.along] = moved.ok_or("a coordinate overflows 64 bits")?;
                        all.push(place);
                    }
                }
            }
            Ok(all)
        };
        Ok(Known {
            start: numbers(&self.start)?,
            modes: self.modes.iter().map(mode).collect::<Result<_, String>>()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::package::{Compute, Gemm};

    fn step(extent: i64, by: i64, along: usize) -> Step {
        Step {
            extent: Expr::Constant(extent),
            by: Expr::Constant(by),
            along,
        }
    }

    /// Taps of 3 with padding of 1, over lines of 5 pixels of 2 channels.
    fn taps() -> At {
        At {
            start: vec![Expr::Constant(0), Expr::Constant(-1)],
            modes: vec![vec![step(5, 1, 1)], vec![step(2, 1, 0), step(3, 1, 1)]],
        }
    }

    #[test]
    fn sizes_are_those_of_the_matrix() {
        let known = taps().known(&Environment::default(), 2).unwrap();
        assert_eq!(known.start, [0, -1]);
        assert_eq!(known.modes[0][3], [0, 3]);
        assert_eq!(known.modes[1][5], [1, 2]);
        let mut many = taps();
        many.modes[1].push(step(i64::MAX / 4, 1, 0));
        assert!(many.known(&Environment::default(), 2).is_err());
        let compute = Compute::Gemm(Gemm {
            at_a: Some(Box::new(taps())),
            ..Gemm::new(0, 1, 2, "f32")
        });
        let sizes = [
            vec![Some(2), Some(5)],
            vec![Some(4), Some(6)],
            vec![Some(5), Some(4)],
        ];
        let shapes = compute.shapes(&sizes, &Environment::default());
        assert_eq!(shapes[0], [Some(5), Some(6)]);
        let known: Vec<Vec<i64>> = shapes
            .into_iter()
            .map(|s| s.into_iter().flatten().collect())
            .collect();
        assert_eq!(compute.flops(&known), Some(2.0 * 5.0 * 4.0 * 6.0));
    }
}
