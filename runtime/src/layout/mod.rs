//! Layouts of tensor arguments, in the form that the runtime needs: [`Parsed`] is that of a tensor in memory, static and
//! split into its top-level modes; [`Pattern`] is what an argument's type says, which may leave leaves to the launch.
//!
//! Text is read by `cute_layout`; nothing here parses.

mod pattern;

use std::fmt;

use cute_layout::{IntTuple, Kind, Layout};

pub use pattern::{DynamicLeaf, Pattern};

/// The largest tensor, in elements from the first to the last: far more than a GPU holds, and every
/// byte offset fits `i64`.
const MAX_COSIZE: i64 = 1 << 40;

/// A static layout with non-negative offsets: the index of an element to its place in memory, both
/// in elements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parsed {
    text: String,
    shape: IntTuple,
    stride: IntTuple,
    /// The shapes and strides of the leaves of each top-level mode, fastest first.
    modes: Vec<Vec<(i64, i64)>>,
    /// The shapes of all leaves, and their strides.
    flat: [Vec<i64>; 2],
    size: i64,
    cosize: i64,
}

/// A layout that no tensor argument can have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("layout `{text}`: {reason}")]
pub struct LayoutError {
    /// The text that was to be a layout.
    pub text: String,
    /// The reason why it is not one that a tensor can have.
    pub reason: String,
}

impl Parsed {
    /// Reads CuTe text such as `(4096,4096):(4096,1)`. A tensor may be empty, which a layout of the algebra is not: `(0,16):(16,1)`.
    ///
    /// # Errors
    /// If the text is no layout, is dynamic, has a negative stride, or spans more than 2^40
    /// elements.
    pub fn parse(text: &str) -> Result<Parsed, LayoutError> {
        let fail = |reason: String| LayoutError {
            text: text.to_string(),
            reason,
        };
        let (shape, stride) = match Layout::parse(text) {
            Ok(layout) => (layout.shape().clone(), layout.stride().clone()),
            Err(error) => empty(text).ok_or_else(|| fail(error.to_string()))?,
        };
        Parsed::from_tuples(text, shape, stride).map_err(fail)
    }

    fn from_tuples(text: &str, shape: IntTuple, stride: IntTuple) -> Result<Parsed, String> {
        let leaves = |(shape, stride): (&IntTuple, &IntTuple)| {
            let (shape, stride) = (shape.static_leaves()?, stride.static_leaves()?);
            Some(shape.into_iter().zip(stride).collect::<Vec<_>>())
        };
        let modes: Option<Vec<_>> = match shape.is_tuple() {
            true => shape
                .modes()
                .iter()
                .zip(stride.modes())
                .map(leaves)
                .collect(),
            false => leaves((&shape, &stride)).map(|mode| vec![mode]),
        };
        let modes = modes.ok_or("a tensor argument's shape and strides are known integers")?;
        let (mut size, mut last) = (1i64, 0i64);
        for &(shape, stride) in modes.iter().flatten() {
            if shape < 0 {
                return Err(format!("shape {shape} is negative"));
            }
            if stride < 0 {
                return Err(format!(
                    "stride {stride} is negative, and the tensor's memory begins at its base address"
                ));
            }
            let span = (shape - 1)
                .max(0)
                .checked_mul(stride)
                .and_then(|span| last.checked_add(span));
            size = size
                .checked_mul(shape)
                .filter(|&s| s <= MAX_COSIZE)
                .ok_or("has more than 2^40 elements")?;
            last = span
                .filter(|&s| s < MAX_COSIZE)
                .ok_or("spans more than 2^40 elements")?;
        }
        Ok(Parsed {
            text: text.to_string(),
            shape,
            stride,
            flat: [
                modes.iter().flatten().map(|(shape, _)| *shape).collect(),
                modes.iter().flatten().map(|(_, stride)| *stride).collect(),
            ],
            modes,
            size,
            cosize: if size == 0 { 0 } else { last + 1 },
        })
    }

    /// The shape and the stride, as they nest.
    pub(crate) fn tuples(&self) -> (&IntTuple, &IntTuple) {
        (&self.shape, &self.stride)
    }

    /// The text that was read.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Number of elements.
    pub fn size(&self) -> i64 {
        self.size
    }

    /// One more than the largest offset: the elements that the tensor's memory holds.
    pub fn cosize(&self) -> i64 {
        self.cosize
    }

    /// Number of top-level modes.
    pub fn rank(&self) -> usize {
        self.modes.len()
    }

    /// Elements of each top-level mode.
    pub fn shape(&self) -> Vec<i64> {
        self.modes
            .iter()
            .map(|mode| mode.iter().map(|&(shape, _)| shape).product())
            .collect()
    }

    /// Shape and stride of every leaf, the fastest first.
    pub fn leaves(&self) -> impl Iterator<Item = (i64, i64)> + '_ {
        self.modes.iter().flatten().copied()
    }

    /// The shapes of all leaves, the fastest first, and their strides.
    pub fn flat(&self) -> (&[i64], &[i64]) {
        let [shape, stride] = &self.flat;
        (shape, stride)
    }

    /// Shape and stride of every leaf of a top-level mode, the fastest first; none of a mode that there is not.
    pub fn mode_leaves(&self, mode: usize) -> &[(i64, i64)] {
        self.modes.get(mode).map_or(&[], Vec::as_slice)
    }

    /// Tells whether a top-level mode has several elements, all at one place.
    pub fn is_repeated(&self, mode: usize) -> bool {
        let leaves = self.mode_leaves(mode);
        let size: i64 = leaves.iter().map(|(shape, _)| shape).product();
        size > 1
            && leaves
                .iter()
                .all(|(shape, stride)| *shape == 1 || *stride == 0)
    }

    /// The offset of the element with that colexicographic index. It must be in `0..size()`.
    pub fn at(&self, index: i64) -> i64 {
        let mut rest = index;
        let mut offset = 0;
        for &(shape, stride) in self.modes.iter().flatten() {
            offset += rest % shape * stride;
            rest /= shape;
        }
        offset
    }

    /// The offset of the element at a coordinate, a number for each top-level mode; none outside.
    pub(crate) fn offset(&self, coordinate: &[i64]) -> Option<i64> {
        if coordinate.len() != self.modes.len() {
            return None;
        }
        let mut offset = 0;
        for (mode, &at) in self.modes.iter().zip(coordinate) {
            let mut rest = at;
            for &(shape, stride) in mode {
                if rest < 0 || shape == 0 {
                    return None;
                }
                offset += rest % shape * stride;
                rest /= shape;
            }
            if rest != 0 {
                return None;
            }
        }
        Some(offset)
    }

    /// The number of elements, of which those that a stride of 0 places on each other count once.
    pub(crate) fn places_count(&self) -> i64 {
        let leaves = self.leaves().filter(|(_, stride)| *stride != 0);
        match self.size {
            0 => 0,
            _ => leaves.map(|(shape, _)| shape).product(),
        }
    }

    /// The offsets that elements lie at. Elements that a stride of 0 places on each other count once.
    pub fn places(&self) -> impl Iterator<Item = i64> {
        let leaves = self.leaves().filter(|(_, stride)| *stride != 0);
        let leaves: Vec<(i64, i64)> = leaves.collect();
        (0..self.places_count()).map(move |index| {
            let mut rest = index;
            let parts = leaves.iter().map(|(shape, stride)| {
                let at = rest % shape * stride;
                rest /= shape;
                at
            });
            parts.sum()
        })
    }

    /// The coordinate of an index, one number for each top-level mode.
    pub fn coordinate(&self, index: i64) -> Vec<i64> {
        let mut rest = index;
        self.shape()
            .into_iter()
            .map(|size| {
                let here = rest % size;
                rest /= size;
                here
            })
            .collect()
    }

    /// The offsets that the indices of one top-level mode contribute. The offset of an element is
    /// the sum over its modes, so these tables replace a division for each element and mode.
    pub fn mode_offsets(&self, mode: usize) -> Vec<i64> {
        let mut offsets = vec![0];
        for &(shape, stride) in &self.modes[mode] {
            let inner = offsets;
            offsets = (0..shape)
                .flat_map(|i| inner.iter().map(move |&o| o + i * stride))
                .collect();
        }
        offsets
    }
}

/// The shape and the stride of an empty tensor; none of what is no such text.
fn empty(text: &str) -> Option<(IntTuple, IntTuple)> {
    let (shape, stride) = text.split_once(':')?;
    let shape = IntTuple::parse(shape, Kind::IntTuple).ok()?;
    let stride = IntTuple::parse(stride, Kind::IntTuple).ok()?;
    let has_none = shape.static_leaves()?.contains(&0);
    (has_none && shape.congruent(&stride)).then_some((shape, stride))
}

impl fmt::Display for Parsed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_add_up_to_the_layout() {
        for text in [
            "(4,6):(6,1)",
            "((2,2),3):((1,6),2)",
            "(8):(2)",
            "7:1",
            "(2,3,(2,2)):(1,2,(24,6))",
            "(3,5):(0,1)",
            "(3,(5,2)):(2,(0,1))",
            "(3,5):(0,0)",
        ] {
            let layout = Parsed::parse(text).unwrap();
            let tables: Vec<_> = (0..layout.rank()).map(|m| layout.mode_offsets(m)).collect();
            for index in 0..layout.size() {
                let mut rest = index as usize;
                let mut offset = 0;
                for table in &tables {
                    offset += table[rest % table.len()];
                    rest /= table.len();
                }
                assert_eq!(layout.at(index), offset, "{text} at {index}");
            }
            let reference = Layout::parse(text).unwrap();
            assert!(
                (0..layout.size()).all(|i| layout.at(i) == reference.at(i)),
                "{text}"
            );
            assert_eq!(
                (layout.size(), layout.cosize()),
                (reference.size().unwrap(), reference.cosize().unwrap())
            );
            let mut all: Vec<i64> = (0..layout.size()).map(|i| layout.at(i)).collect();
            let mut places: Vec<i64> = layout.places().collect();
            all.sort_unstable();
            all.dedup();
            places.sort_unstable();
            assert_eq!(places, all, "{text}");
            let largest = (0..layout.size()).map(|i| layout.at(i)).max().unwrap();
            assert_eq!(layout.cosize(), largest + 1, "{text}");
        }
    }

    #[test]
    fn a_tensor_may_be_empty() {
        for text in [
            "(0,16):(16,1)",
            "(40,0):(8,1)",
            "((2,0),3):((1,2),4)",
            "0:1",
        ] {
            let layout = Parsed::parse(text).unwrap();
            assert_eq!((layout.size(), layout.cosize()), (0, 0), "{text}");
            let tables = (0..layout.rank()).map(|mode| layout.mode_offsets(mode).len() as i64);
            assert_eq!(tables.collect::<Vec<_>>(), layout.shape(), "{text}");
        }
    }

    #[test]
    fn what_no_tensor_has_is_refused() {
        for (text, says) in [
            ("(4,?):(1,4)", "known integers"),
            ("(4,4):(1@0,1@1)", "known integers"),
            ("(4,4", "at offset 4"),
            ("", "at offset 0"),
            ("(4,0):(1,4,5)", ""),
            ("(0,-4):(1,4)", "negative"),
            ("(4,4):(1,-4)", "negative"),
            ("(100000,100000,100000):(1,1,1)", "2^40"),
            ("(2,2):(1,1099511627776)", "2^40"),
        ] {
            let error = Parsed::parse(text).unwrap_err();
            assert!(error.to_string().contains(says), "{error}");
        }
    }
}
