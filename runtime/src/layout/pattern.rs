//! Layouts whose shape or strides are known only at a launch.
//!
//! An argument of type `(?,?):(?{div=8},1)` takes every tensor of that profile whose known leaves agree and whose others
//! keep what the type says of them.

use std::fmt;

use cute_layout::{IntTuple, Layout, Leaf};

use super::{LayoutError, Parsed};

/// The layout of a tensor argument: static, or with leaves (`?`) that the caller's tensor brings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    text: String,
    shape: IntTuple,
    stride: IntTuple,
}

/// A leaf that is not known before a launch, in the order of CuTe's `get_scalars`: leaves of the shape, then strides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DynamicLeaf {
    /// 32 or 64 bits.
    pub width: u32,
    /// A number that divides it; 0 where it is 0.
    pub div: i64,
    /// Tells whether it is a stride.
    pub stride: bool,
    /// Its place among the leaves of the shape, or of the strides.
    pub place: usize,
}

impl fmt::Display for DynamicLeaf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let part = if self.stride { "stride" } else { "shape" };
        write!(f, "{part}[{}]", self.place)
    }
}

impl Pattern {
    /// Reads CuTe text such as `(?,?):(?{i64 div=8},1)` or `(8,4):(4,1)`.
    ///
    /// # Errors
    /// If the text is no layout; if it is static and no [`Parsed`] layout; if a known stride is negative or a leaf is no
    /// integer.
    pub fn parse(text: &str) -> Result<Pattern, LayoutError> {
        let fail = |reason: String| LayoutError {
            text: text.to_string(),
            reason,
        };
        let layout =
            Layout::parse_of_tensor(text, None).map_err(|error| fail(error.to_string()))?;
        let pattern = Pattern {
            text: text.to_string(),
            shape: layout.shape().clone(),
            stride: layout.stride().clone(),
        };
        for leaf in pattern.leaves() {
            match leaf {
                Leaf::Static(0..) | Leaf::Dynamic(_) => {}
                Leaf::Static(negative) => {
                    return Err(fail(format!(
                        "stride {negative} is negative, and the tensor's memory begins at its base address"
                    )));
                }
                other => {
                    return Err(fail(format!(
                        "the leaves of a tensor argument's layout are integers and `?`, found {}",
                        IntTuple::Leaf(other.clone())
                    )));
                }
            }
        }
        if pattern.is_static() {
            Parsed::parse(text)?;
        }
        Ok(pattern)
    }

    /// The text that was read.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Tells whether nothing is left to a launch.
    pub fn is_static(&self) -> bool {
        self.shape.is_static() && self.stride.is_static()
    }

    /// Number of top-level modes.
    pub fn rank(&self) -> usize {
        self.shape.modes().len()
    }

    /// Elements of each top-level mode, where they are known.
    pub fn mode_sizes(&self) -> Vec<Option<i64>> {
        let size = |mode: &IntTuple| -> Option<i64> {
            let mut leaves = mode.leaves().into_iter().map(known);
            leaves.try_fold(1i64, |size, leaf| size.checked_mul(leaf?))
        };
        self.shape.modes().iter().map(size).collect()
    }

    /// Shape and stride of the leaves of a top-level mode, where they are known; none of a mode that there is not.
    pub(crate) fn mode_leaves(&self, mode: usize) -> Vec<(Option<i64>, Option<i64>)> {
        let leaves = |tuple: &IntTuple| -> Vec<Option<i64>> {
            let mode = tuple.modes().get(mode);
            let leaves = mode.map(IntTuple::leaves).unwrap_or_default();
            leaves.into_iter().map(Leaf::as_static).collect()
        };
        let strides = leaves(&self.stride);
        leaves(&self.shape).into_iter().zip(strides).collect()
    }

    /// The leaves that a launch brings.
    pub fn dynamic_leaves(&self) -> Vec<DynamicLeaf> {
        let of = |tuple: &IntTuple, stride: bool| -> Vec<DynamicLeaf> {
            let leaves = tuple.leaves().into_iter().enumerate();
            leaves
                .filter_map(|(place, leaf)| match leaf {
                    Leaf::Dynamic(found) => Some(DynamicLeaf {
                        width: found.width,
                        div: found.div,
                        stride,
                        place,
                    }),
                    _ => None,
                })
                .collect()
        };
        let mut all = of(&self.shape, false);
        all.extend(of(&self.stride, true));
        all
    }

    /// The values of [`Pattern::dynamic_leaves`] in a tensor of layout `found`.
    ///
    /// # Errors
    /// The difference between the tensor's layout and the type's, with the cure.
    pub fn leaves_of(&self, found: &Parsed) -> Result<Vec<i64>, String> {
        let (shape, strides) = found.tuples();
        if !self.shape.congruent(shape) {
            return Err(
                "the modes do not nest in the same way; pass a tensor of that profile".into(),
            );
        }
        let mut values = Vec::new();
        for (stride, mine, theirs) in [(false, &self.shape, shape), (true, &self.stride, strides)] {
            let what = if stride { "stride" } else { "shape" };
            for (place, (mine, theirs)) in mine.leaves().iter().zip(theirs.leaves()).enumerate() {
                // `found` is static.
                let value = theirs.as_static().unwrap_or_default();
                match mine {
                    Leaf::Dynamic(leaf) => {
                        if leaf.width == 32 && i32::try_from(value).is_err() {
                            return Err(format!(
                                "{what}[{place}] is {value}, which 32 bits do not hold; compile for ?{{i64}} there"
                            ));
                        }
                        if leaf.is_zero() && value != 0 {
                            return Err(format!(
                                "{what}[{place}] is {value}, and was compiled for 0"
                            ));
                        }
                        if !leaf.admits(value) {
                            return Err(format!(
                                "{what}[{place}] is {value}, which {} does not divide; {}",
                                leaf.div,
                                if stride {
                                    "pad the tensor"
                                } else {
                                    "choose another size"
                                }
                            ));
                        }
                        values.push(value);
                    }
                    known if known.as_static() != Some(value) => {
                        return Err(format!(
                            "{what}[{place}] is {value}, and was compiled for {}",
                            IntTuple::Leaf((*known).clone())
                        ));
                    }
                    _ => {}
                }
            }
        }
        Ok(values)
    }

    /// The only layout that it takes, if what a launch brings can be nothing but zeros.
    pub(crate) fn only(&self) -> Option<Parsed> {
        let all = |tuple: &IntTuple| -> Option<Vec<i64>> {
            tuple.leaves().into_iter().map(known).collect()
        };
        self.with_leaves(&all(&self.shape)?, &all(&self.stride)?)
            .ok()
    }

    /// The leaves of the shape and those of the stride, where they are known.
    pub(crate) fn known_leaves(&self) -> [Vec<Option<i64>>; 2] {
        [&self.shape, &self.stride].map(|tuple| {
            let leaves = tuple.leaves().into_iter();
            leaves.map(Leaf::as_static).collect()
        })
    }

    /// The layout with these leaves, all of them.
    pub(crate) fn with_leaves(&self, shape: &[i64], stride: &[i64]) -> Result<Parsed, LayoutError> {
        let mut shape = shape.iter();
        let mut stride = stride.iter();
        let text = format!(
            "{}:{}",
            replaced(&self.shape, &mut shape),
            replaced(&self.stride, &mut stride)
        );
        Parsed::parse(&text)
    }

    /// The layout of a tensor with that many elements in each top-level mode. Strides that are not known are chosen so that
    /// the tensor is compact but for what divisibility asks: behind the elements of known stride, and from the last leaf to
    /// the first where the last one has stride 1 (rows), else from the first to the last (CuTe's default).
    ///
    /// # Errors
    /// The size or the mode that does not fit, with the cure.
    pub fn for_shape(&self, sizes: &[i64]) -> Result<Parsed, String> {
        let modes = self.shape.modes();
        if sizes.len() != modes.len() {
            return Err(format!(
                "expected {} sizes, one for each mode, found {}",
                modes.len(),
                sizes.len()
            ));
        }
        let mut shape = Vec::new();
        for (at, (mode, &size)) in modes.iter().zip(sizes).enumerate() {
            shape.extend(split(at, mode, size)?);
        }
        let strides = self.strides_for(&shape)?;
        self.with_leaves(&shape, &strides)
            .map_err(|error| error.reason)
    }

    /// A stride for each leaf.
    fn strides_for(&self, shape: &[i64]) -> Result<Vec<i64>, String> {
        let leaves = self.stride.leaves();
        let known: Vec<Option<i64>> = leaves.iter().map(|leaf| known(leaf)).collect();
        let large = || "the tensor spans more than 2^40 elements; choose a smaller one".to_string();
        let mut span = 1i64;
        for (&size, stride) in shape.iter().zip(&known) {
            let length = (size - 1).max(0).checked_mul(stride.unwrap_or(0));
            span = length.and_then(|l| span.checked_add(l)).ok_or_else(large)?;
        }
        let mut order: Vec<usize> = (0..shape.len()).collect();
        if known.last() == Some(&Some(1)) {
            order.reverse();
        }
        let mut strides: Vec<i64> = known.iter().map(|stride| stride.unwrap_or(0)).collect();
        for place in order {
            if let (None, Leaf::Dynamic(leaf)) = (known[place], leaves[place]) {
                let div = leaf.div.max(1);
                strides[place] = next_multiple(span, div).ok_or_else(large)?;
                span = (shape[place] - 1)
                    .max(0)
                    .checked_mul(strides[place])
                    .and_then(|length| span.checked_add(length))
                    .ok_or_else(large)?;
            }
        }
        Ok(strides)
    }

    fn leaves(&self) -> impl Iterator<Item = &Leaf> {
        self.shape.leaves().into_iter().chain(self.stride.leaves())
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// The value of a leaf, where it is known: what 0 divides is 0.
fn known(leaf: &Leaf) -> Option<i64> {
    match leaf {
        Leaf::Dynamic(leaf) if leaf.is_zero() => Some(0),
        leaf => leaf.as_static(),
    }
}

/// The next multiple of `div`, at least 1, of a positive number.
fn next_multiple(value: i64, div: i64) -> Option<i64> {
    let up = value.checked_add(div - 1)?;
    Some(up - up % div)
}

/// The leaves of a mode of `size` elements, of which at most one is not known.
fn split(at: usize, mode: &IntTuple, size: i64) -> Result<Vec<i64>, String> {
    let leaves = mode.leaves();
    let mut rest = size;
    if leaves.iter().any(|leaf| known(leaf) == Some(0)) {
        let known: Option<Vec<i64>> = leaves.iter().map(|leaf| known(leaf)).collect();
        return match (known, size) {
            (Some(known), 0) => Ok(known),
            (None, 0) => Err(format!(
                "mode {at} is {mode}, whose leaves do not follow from its size; give the layout"
            )),
            _ => Err(format!(
                "mode {at} has {size} elements, and was compiled for none"
            )),
        };
    }
    for known in leaves.iter().filter_map(|leaf| leaf.as_static()) {
        if rest < 1 || rest % known != 0 {
            return Err(format!(
                "mode {at} has {size} elements, which {mode} does not divide into"
            ));
        }
        rest /= known;
    }
    let unknown = leaves.iter().filter(|leaf| !leaf.is_static()).count();
    match unknown {
        0 if rest != 1 => Err(format!(
            "mode {at} has {size} elements, and was compiled for {mode}"
        )),
        0 | 1 => Ok(leaves
            .iter()
            .map(|leaf| leaf.as_static().unwrap_or(rest))
            .collect()),
        _ => Err(format!(
            "mode {at} is {mode}, whose leaves do not follow from its size; give the layout"
        )),
    }
}

/// The text of a tuple with other leaves.
fn replaced<'a>(tuple: &IntTuple, values: &mut impl Iterator<Item = &'a i64>) -> String {
    match tuple {
        IntTuple::Leaf(_) => values.next().copied().unwrap_or_default().to_string(),
        IntTuple::Tuple(modes) => {
            let modes: Vec<String> = modes.iter().map(|mode| replaced(mode, values)).collect();
            format!("({})", modes.join(","))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pattern(text: &str) -> Pattern {
        Pattern::parse(text).unwrap()
    }

    #[test]
    fn leaves_are_numbered_as_get_scalars_does() {
        let mixed = pattern("(?,(4,?{i64})):(?{div=8},(1,?{i64 div=16}))");
        let leaves: Vec<_> = mixed
            .dynamic_leaves()
            .iter()
            .map(|leaf| (leaf.to_string(), leaf.width, leaf.div))
            .collect();
        let expected = [
            ("shape[0]", 32, 1),
            ("shape[2]", 64, 1),
            ("stride[0]", 32, 8),
            ("stride[2]", 64, 16),
        ];
        assert_eq!(
            leaves,
            expected.map(|(name, width, div)| (name.to_string(), width, div))
        );
        assert_eq!((mixed.rank(), mixed.is_static()), (2, false));
        assert_eq!(pattern("((2,3),?):((1,2),6)").mode_sizes(), [Some(6), None]);
        let found = Parsed::parse("(5,(4,3)):(24,(1,48))").unwrap();
        assert_eq!(mixed.leaves_of(&found), Ok(vec![5, 3, 24, 48]));
        assert_eq!(
            pattern("(8,4):(4,1)").leaves_of(&Parsed::parse("(8,4):(4,1)").unwrap()),
            Ok(vec![])
        );
    }

    #[test]
    fn what_does_not_suit_is_said() {
        for (text, found, says) in [
            ("(?,?):(?,1)", "24:1", "do not nest"),
            ("(?,?):(?,1)", "((2,3),4):((1,2),6)", "do not nest"),
            (
                "(?,?):(?,1)",
                "(4,6):(1,4)",
                "stride[1] is 4, and was compiled for 1",
            ),
            (
                "(?,8):(?,1)",
                "(4,6):(6,1)",
                "shape[1] is 6, and was compiled for 8",
            ),
            (
                "(?,?):(?{div=8},1)",
                "(4,60):(60,1)",
                "stride[0] is 60, which 8 does not divide; pad",
            ),
            (
                "(?{div=32},?):(?,1)",
                "(48,8):(8,1)",
                "shape[0] is 48, which 32 does not divide; choose",
            ),
            (
                "(?,?):(?,1)",
                "(2,8):(2147483648,1)",
                "stride[0] is 2147483648, which 32 bits do not hold",
            ),
        ] {
            let error = pattern(text)
                .leaves_of(&Parsed::parse(found).unwrap())
                .unwrap_err();
            assert!(error.contains(says), "{text}, {found}: {error}");
        }
        let wide = Parsed::parse("(2,8):(2147483648,1)").unwrap();
        assert_eq!(
            pattern("(?,?):(?{i64},1)").leaves_of(&wide),
            Ok(vec![2, 8, 1 << 31])
        );
    }

    #[test]
    fn shapes_become_layouts() {
        for (text, sizes, layout) in [
            ("(?,?):(?,1)", &[4, 6][..], "(4,6):(6,1)"),
            ("(?,?):(?{div=8},1)", &[4, 6], "(4,6):(8,1)"),
            ("(?,?):(1,?)", &[4, 6], "(4,6):(1,4)"),
            ("(?,?):(1,?{div=16})", &[4, 6], "(4,6):(1,16)"),
            ("(?,?):(?,?)", &[4, 6], "(4,6):(1,4)"),
            ("(?,?,?):(?,?,1)", &[2, 3, 5], "(2,3,5):(15,5,1)"),
            ("(?,?,?):(1,?,?)", &[2, 3, 5], "(2,3,5):(1,2,6)"),
            ("((?,4),?):((?,1),?)", &[8, 3], "((2,4),3):((4,1),8)"),
            ("(?,6):(8,1)", &[3, 6], "(3,6):(8,1)"),
            ("?:1", &[7], "7:1"),
            ("(?):(1)", &[7], "(7):(1)"),
            ("(4,6):(6,1)", &[4, 6], "(4,6):(6,1)"),
        ] {
            let found = pattern(text).for_shape(sizes).unwrap();
            assert_eq!(found.text(), layout, "{text}");
            assert!(pattern(text).leaves_of(&found).is_ok(), "{text}");
        }
        for (text, sizes, says) in [
            (
                "(?,?):(?,1)",
                &[4][..],
                "expected 2 sizes, one for each mode, found 1",
            ),
            (
                "(?,6):(8,1)",
                &[3, 5],
                "mode 1 has 5 elements, which 6 does not divide into",
            ),
            (
                "(?,6):(8,1)",
                &[3, 12],
                "mode 1 has 12 elements, and was compiled for 6",
            ),
            (
                "((?,4),?):((?,1),?)",
                &[6, 3],
                "mode 0 has 6 elements, which (?,4) does not divide into",
            ),
            ("((?,?),?):((?,1),?)", &[6, 3], "give the layout"),
            ("(?,?):(?,1)", &[1 << 30, 1 << 30], "2^40"),
            ("(?,?):(?,1)", &[i64::MAX, i64::MAX], "2^40"),
            ("(?,?):(?{i64 div=9223372036854775807},1)", &[2, 2], "2^40"),
        ] {
            let error = pattern(text).for_shape(sizes).unwrap_err();
            assert!(error.contains(says), "{text}: {error}");
        }
    }

    #[test]
    fn what_no_argument_has_is_refused() {
        for (text, says) in [
            ("(?,4", "at offset"),
            ("(?,4):(1,-4)", "negative"),
            ("(4,?):(1@0,1@1)", "integers and `?`"),
            ("(4,4):(1,1099511627776)", "2^40"),
            ("(?,4):(1)", ""),
        ] {
            let error = Pattern::parse(text).unwrap_err().to_string();
            assert!(error.contains(says), "{text}: {error}");
        }
    }
}
