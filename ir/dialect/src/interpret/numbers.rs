//! The numbers that starts of views are computed in: integers, sums of symbols, SSA values, leaves of the layout algebra.
//!
//! A [`View`] says by its terms how far behind its source it starts. [`View::advance`] adds them up, in their order, in
//! whatever numbers it is given.

use crate::view::{Index, View};
use cute_layout::{IntTuple, Layout, LayoutError, Leaf, int, tuple};

/// The reasons for which a start is not known, or not in these numbers.
#[derive(Debug)]
pub enum Trouble<'a> {
    /// A tensor or a pointer whose start nothing has said.
    NoStart,
    /// A coordinate whose integers nothing has said.
    NoLeaves,
    /// A layout whose extents and strides are not all known.
    Dynamic(&'a Layout),
    /// An offset beyond 64 bits.
    Overflow,
    /// A rule that the op breaks.
    Broken(String),
}

/// Numbers in which starts are computed.
///
/// All offsets are counted in elements and multiplied by `scale`, such as the bytes of an element.
pub trait Numbers {
    /// An integer that a leaf of a coordinate stands for.
    type Index;
    /// The start of a tensor or a pointer.
    type Start;
    /// The reason why a number cannot be had.
    type Error;

    /// Adds elements whose number is known.
    fn add_known(
        &mut self,
        start: Self::Start,
        elements: i64,
        scale: i64,
    ) -> Result<Self::Start, Self::Error>;

    /// Adds as many elements as an integer says, which may be negative.
    fn add_index(
        &mut self,
        start: Self::Start,
        elements: &Self::Index,
        scale: i64,
    ) -> Result<Self::Start, Self::Error>;

    /// Adds the value of a layout at an index, which is within the layout unless it is `signed`.
    fn add_layout(
        &mut self,
        start: Self::Start,
        layout: &Layout,
        index: &Self::Index,
        signed: bool,
        scale: i64,
    ) -> Result<Self::Start, Self::Error>;

    /// Adds the value of a layout at an index that is known.
    fn add_layout_known(
        &mut self,
        start: Self::Start,
        layout: &Layout,
        index: i64,
        scale: i64,
    ) -> Result<Self::Start, Self::Error> {
        if index == 0 {
            return Ok(start);
        }
        let Some(flat) = layout.flat() else {
            return Err(self.error(Trouble::Dynamic(layout)));
        };
        match flat.checked_at(index) {
            Some(elements) => self.add_known(start, elements, scale),
            None => Err(self.error(Trouble::Overflow)),
        }
    }

    /// The error that stands for a trouble.
    fn error(&self, trouble: Trouble<'_>) -> Self::Error;
}

impl View {
    /// The start of the view of a tensor that starts at `start`; `leaves` are the coordinate's dynamic leaves.
    pub fn advance<N: Numbers>(
        &self,
        numbers: &mut N,
        start: N::Start,
        leaves: &[N::Index],
        scale: i64,
    ) -> Result<N::Start, N::Error> {
        self.terms
            .iter()
            .try_fold(start, |start, term| match term.index {
                Index::Known(index) => numbers.add_layout_known(start, &term.layout, index, scale),
                Index::Leaf(number) => match leaves.get(number) {
                    Some(leaf) => numbers.add_layout(start, &term.layout, leaf, term.signed, scale),
                    None => Err(numbers.error(Trouble::NoLeaves)),
                },
            })
    }

    /// The coordinate that a view of coordinates starts at, where the source starts at `start`, and the offset of a tensor in
    /// memory, where that is 0; `leaves` are the coordinate's dynamic leaves. What they carry of how they are computed, the sum
    /// carries too.
    pub fn start(&self, start: &IntTuple, leaves: &[Leaf]) -> Result<IntTuple, String> {
        self.advance(&mut Leaves, start.clone(), leaves, 1)
    }
}

/// The leaves of the layout algebra, of which a start is a tuple: where strides are basis elements, a coordinate.
pub struct Leaves;

fn text(error: LayoutError) -> String {
    error.to_string()
}

fn scaled(elements: IntTuple, scale: i64) -> Result<IntTuple, String> {
    match elements {
        elements if scale == 1 => Ok(elements),
        IntTuple::Leaf(leaf) => {
            let leaf = leaf.mul(&Leaf::Static(scale)).map_err(text)?;
            Ok(IntTuple::Leaf(leaf))
        }
        IntTuple::Tuple(parts) => {
            let parts = parts.iter().map(|part| scaled(part.clone(), scale));
            Ok(tuple(parts.collect::<Result<Vec<_>, _>>()?))
        }
    }
}

impl Numbers for Leaves {
    type Index = Leaf;
    type Start = IntTuple;
    type Error = String;

    fn add_known(
        &mut self,
        start: IntTuple,
        elements: i64,
        scale: i64,
    ) -> Result<IntTuple, String> {
        start.add(&scaled(int(elements), scale)?).map_err(text)
    }

    fn add_index(
        &mut self,
        start: IntTuple,
        elements: &Leaf,
        scale: i64,
    ) -> Result<IntTuple, String> {
        let elements = scaled(IntTuple::Leaf(elements.clone()), scale)?;
        start.add(&elements).map_err(text)
    }

    fn add_layout(
        &mut self,
        start: IntTuple,
        layout: &Layout,
        index: &Leaf,
        _: bool,
        scale: i64,
    ) -> Result<IntTuple, String> {
        let elements = layout.eval(&IntTuple::Leaf(index.clone())).map_err(text)?;
        start.add(&scaled(elements, scale)?).map_err(text)
    }

    /// The layout need not be known, and gives a start of coordinates their form even at 0.
    fn add_layout_known(
        &mut self,
        start: IntTuple,
        layout: &Layout,
        index: i64,
        scale: i64,
    ) -> Result<IntTuple, String> {
        self.add_layout(start, layout, &Leaf::Static(index), false, scale)
    }

    fn error(&self, trouble: Trouble<'_>) -> String {
        match trouble {
            Trouble::NoLeaves => "expected a coordinate with that leaf".to_owned(),
            Trouble::NoStart => "expected a tensor whose start is known".to_owned(),
            Trouble::Dynamic(layout) => format!("expected a static layout, found {layout}"),
            Trouble::Overflow => "the offset overflows 64 bits".to_owned(),
            Trouble::Broken(rule) => rule,
        }
    }
}

/// One mode's part in the value of a layout at an index: `index / divisor mod modulus * stride`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Digit {
    /// The number of elements before the mode repeats its value.
    pub divisor: i64,
    /// The extent of the mode; nothing of the last one, which takes all that is left.
    pub modulus: Option<i64>,
    /// The factor of what is left, in elements.
    pub stride: i64,
}

/// The parts that the value of a static layout at any index is the sum of, those that are always 0 left out. The index is within
/// the layout unless it is `signed`; that one is divided with its sign, towards 0.
pub fn digits(layout: &Layout, signed: bool) -> Result<Vec<Digit>, LayoutError> {
    // Beyond a layout, modes of extent 1 count too.
    let flat = if signed {
        layout.flat_or("evaluate")
    } else {
        layout.coalesce()?.flat_or("evaluate")
    }?;
    let mut all = Vec::new();
    let mut divisor = 1i64;
    let modes = flat.modes();
    for (i, (extent, stride)) in modes.iter().enumerate() {
        let last = i + 1 == modes.len();
        if *stride != 0 && (*extent != 1 || (signed && last)) {
            all.push(Digit {
                divisor,
                modulus: (!last).then_some(*extent),
                stride: *stride,
            });
        }
        divisor = divisor.saturating_mul(*extent);
    }
    Ok(all)
}
