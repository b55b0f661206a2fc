//! The places of a tensor's elements, of an index that is split in two: which line, and where in it.

use crate::layout::Parsed;

/// Numbers of each index: shapes and strides, the fastest first, with adjacent ones joined where that changes nothing.
#[derive(Clone, Debug, Default)]
struct Leaves(Vec<(usize, i64)>);

impl Leaves {
    fn new(leaves: impl IntoIterator<Item = (i64, i64)>) -> Leaves {
        let mut joined: Vec<(usize, i64)> = Vec::new();
        for (shape, stride) in leaves {
            let shape = usize::try_from(shape).unwrap_or(0);
            match joined.last_mut() {
                _ if shape == 1 => {}
                Some((last, step)) if *step * *last as i64 == stride => *last *= shape,
                _ => joined.push((shape, stride)),
            }
        }
        Leaves(joined)
    }

    fn at(&self, index: usize) -> i64 {
        match self.0.as_slice() {
            [] => 0,
            [(_, stride)] => index as i64 * stride,
            [first @ .., (_, stride)] => {
                let (mut rest, mut sum) = (index, 0);
                for (shape, stride) in first {
                    sum += (rest % shape) as i64 * stride;
                    rest /= shape;
                }
                sum + rest as i64 * stride
            }
        }
    }

    fn is_zero(&self) -> bool {
        self.0.iter().all(|(_, stride)| *stride == 0)
    }
}

/// The modes of tensors of one shape, split in those that lines are counted by and those that are along a line; indices of both are
/// colexicographic.
#[derive(Clone, Debug)]
pub(super) struct Split {
    shape: Vec<i64>,
    across: Vec<usize>,
    along: Vec<usize>,
}

impl Split {
    /// The modes of that shape, of which `along` are along a line.
    pub(super) fn new(shape: Vec<i64>, along: &[usize]) -> Split {
        let (along, across) = (0..shape.len()).partition(|mode| along.contains(mode));
        Split {
            shape,
            across,
            along,
        }
    }

    fn count(&self, modes: &[usize]) -> usize {
        let sizes = modes.iter().map(|mode| self.shape[*mode]);
        sizes
            .map(|size| usize::try_from(size).unwrap_or(0))
            .product()
    }

    /// The number of lines.
    pub(super) fn lines(&self) -> usize {
        self.count(&self.across)
    }

    /// The place of a mode among those that are along a line.
    pub(super) fn place_along(&self, mode: usize) -> Option<usize> {
        self.along.iter().position(|own| *own == mode)
    }

    /// The elements of a line.
    pub(super) fn length(&self) -> usize {
        self.count(&self.along)
    }

    fn places(&self, leaves: impl Fn(usize) -> Vec<(i64, i64)>) -> Places {
        let of = |modes: &[usize]| Leaves::new(modes.iter().flat_map(|mode| leaves(*mode)));
        Places {
            across: of(&self.across),
            along: of(&self.along),
        }
    }

    /// The offsets of the elements of a tensor of that shape.
    pub(super) fn offsets(&self, layout: &Parsed) -> Places {
        self.places(|mode| layout.mode_leaves(mode).to_vec())
    }

    /// Numbers that are 0 of the first of the elements that lie at one place, by a stride of 0.
    pub(super) fn repeats(&self, layout: &Parsed) -> Places {
        let repeats = |(shape, stride): &(i64, i64)| (*shape, i64::from(*stride == 0));
        self.places(|mode| layout.mode_leaves(mode).iter().map(repeats).collect())
    }

    /// The rows of the elements, where the last mode is columns and all before it together are rows.
    pub(super) fn rows(&self) -> Places {
        let last = self.shape.len().saturating_sub(1);
        let weight = |mode: usize| match mode < last {
            true => self.shape[..mode].iter().product(),
            false => 0,
        };
        self.places(|mode| vec![(self.shape[mode], weight(mode))])
    }

    /// The columns of the elements, where the last mode is columns.
    pub(super) fn columns(&self) -> Places {
        let last = self.shape.len().saturating_sub(1);
        self.places(|mode| vec![(self.shape[mode], i64::from(mode == last))])
    }

    /// The line, and the index in it, of a coordinate.
    pub(super) fn split(&self, coordinate: &[usize]) -> [usize; 2] {
        let of = |modes: &[usize]| {
            let mut weight = 1;
            let mut index = 0;
            for mode in modes {
                index += coordinate[*mode] * weight;
                weight *= usize::try_from(self.shape[*mode]).unwrap_or(0);
            }
            index
        };
        [of(&self.across), of(&self.along)]
    }

    /// The coordinate of an element of the matrix of a tensor's places ([`crate::tensor::Matrix::places`]): the first of those that
    /// lie there.
    pub(super) fn coordinate(&self, layout: &Parsed, row: usize, column: usize) -> Vec<usize> {
        let last = self.shape.len().saturating_sub(1);
        let mut rest = row;
        let of = |mode: usize| {
            let size = match layout.is_repeated(mode) {
                true => 1,
                false => usize::try_from(self.shape[mode]).unwrap_or(0).max(1),
            };
            let here = rest % size;
            rest /= size;
            if mode == last { column } else { here }
        };
        (0..self.shape.len()).map(of).collect()
    }
}

/// A number for each line and index in it: an offset, a row, a column.
#[derive(Clone, Debug)]
pub(super) struct Places {
    across: Leaves,
    along: Leaves,
}

impl Places {
    /// The part of an offset that a line contributes.
    pub(super) fn of_line(&self, line: usize) -> i64 {
        self.across.at(line)
    }

    /// The part that an index in a line contributes.
    pub(super) fn along(&self, index: usize) -> i64 {
        self.along.at(index)
    }

    /// Tells whether it is the same all along a line.
    pub(super) fn is_one_along(&self) -> bool {
        self.along.is_zero()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_parts_add_up_to_the_layout() {
        for (text, along) in [
            ("(4,6):(6,1)", &[1][..]),
            ("(4,6):(6,1)", &[0]),
            ("(4,6):(6,1)", &[0, 1]),
            ("(4,6):(1,0)", &[1]),
            ("((2,2),3,5):((1,6),2,12)", &[0, 2]),
            ("((2,2),3,5):((1,6),2,12)", &[1]),
            ("(2,1,(2,2)):(1,7,(0,6))", &[2]),
            ("7:1", &[0]),
            ("7:1", &[]),
        ] {
            let layout = Parsed::parse(text).unwrap();
            let split = Split::new(layout.shape(), along);
            let (offsets, rows, columns) = (split.offsets(&layout), split.rows(), split.columns());
            let repeats = split.repeats(&layout);
            let mut seen = vec![false; layout.size() as usize];
            for index in 0..layout.size() {
                let coordinate = layout.coordinate(index);
                let coordinate: Vec<usize> = coordinate.iter().map(|c| *c as usize).collect();
                let [line, at] = split.split(&coordinate);
                assert!(line < split.lines() && at < split.length());
                let place = line * split.length() + at;
                assert!(!std::mem::replace(&mut seen[place], true), "{text}");
                let of = |places: &Places| places.of_line(line) + places.along(at);
                assert_eq!(
                    of(&offsets),
                    layout.at(index),
                    "{text} {along:?} at {index}"
                );
                let last = *layout.shape().last().unwrap();
                let column = index / (layout.size() / last);
                assert_eq!(of(&columns), column, "{text} {along:?} at {index}");
                let row = index % (layout.size() / last);
                assert_eq!(of(&rows), row, "{text} {along:?} at {index}");
                let first = (0..index).all(|before| layout.at(before) != layout.at(index));
                assert_eq!(of(&repeats) == 0, first, "{text} {along:?} at {index}");
            }
        }
    }

    #[test]
    fn places_of_a_matrix_have_coordinates() {
        use crate::element::Element;
        use crate::tensor::{HostTensor, Matrix};
        for text in [
            "(4,6):(0,1)",
            "(4,6):(1,0)",
            "(2,3,4):(1,0,2)",
            "(2,3,4):(0,1,3)",
            "5:0",
        ] {
            let layout = Parsed::parse(text).unwrap();
            let mut tensor = HostTensor::poisoned(Element::F32, layout.clone()).unwrap();
            tensor.fill_with(|index| index as f64);
            let split = Split::new(layout.shape(), &[0]);
            let offsets = split.offsets(&layout);
            let matrix = Matrix::places(&tensor);
            let count = layout.places().count();
            assert_eq!(matrix.rows() * matrix.columns(), count, "{text}");
            for row in 0..matrix.rows() {
                for column in 0..matrix.columns() {
                    let coordinate = split.coordinate(&layout, row, column);
                    let [line, at] = split.split(&coordinate);
                    let offset = offsets.of_line(line) + offsets.along(at);
                    assert_eq!(tensor.load(offset), matrix.get(row, column), "{text}");
                }
            }
        }
    }
}
