//! The elements of a matrix that each lane holds in each of its registers.

use std::sync::Arc;

use cute_layout::Layout;
use cute_layout::atoms::Elem;

use crate::emulator::{LANES, Row};

/// An operand of `mma.sync`, of all products that a warp makes at once.
#[derive(Clone, Debug)]
pub(super) struct Table {
    /// Bits of an element.
    bits: usize,
    /// The place of each value of each lane.
    places: Arc<[[u16; LANES]]>,
}

/// Lanes between the first of one quad pair and the first of the next.
const QUAD: usize = 4;

impl Table {
    /// The table of a layout that maps (thread, value) to the column-major index in a matrix; the places are those by rows, or
    /// by rows of the transposed matrix. None for a layout that is not static, or leaves the matrix.
    pub(super) fn of(
        threads: &Layout,
        tv: &Layout,
        [rows, columns]: [usize; 2],
        transposed: bool,
        element: Elem,
    ) -> Option<Table> {
        let (lanes, place) = (threads.flat()?, tv.flat()?);
        let count = usize::try_from(lanes.size())
            .ok()
            .filter(|count| *count > 0)?;
        let values = usize::try_from(place.size()).ok()? / count;
        let mut places = vec![[0; LANES]; values];
        for (value, places) in places.iter_mut().enumerate() {
            for index in 0..LANES {
                let (tile, thread) = (index / count, index % count);
                let lane = usize::try_from(lanes.at(thread as i64)).ok()? + tile * QUAD;
                let element = usize::try_from(place.at((thread + value * count) as i64)).ok()?;
                let (row, column) = (element % rows, element / rows);
                if column >= columns {
                    return None;
                }
                let at = if transposed {
                    element
                } else {
                    row * columns + column
                };
                let at = tile * rows * columns + at;
                *places.get_mut(lane)? = u16::try_from(at).ok()?;
            }
        }
        Some(Table {
            bits: usize::try_from(element.bits()).ok()?,
            places: places.into(),
        })
    }

    /// The table of values whose places are given, for each of them by lane.
    pub(super) fn with_places(bits: usize, places: Vec<[u16; LANES]>) -> Table {
        Table {
            bits,
            places: places.into(),
        }
    }

    /// Bits of an element.
    pub(super) fn bits(&self) -> usize {
        self.bits
    }

    /// The place of each value of each lane.
    pub(super) fn places(&self) -> &[[u16; LANES]] {
        &self.places
    }

    /// The number of registers of a lane, of 64 bits if that is an element's width, else of 32.
    pub(super) fn registers(&self) -> usize {
        (self.places.len() * self.bits).div_ceil(self.bits.max(32))
    }

    /// The register that a value stands in, and where there.
    fn part(&self, value: usize) -> (usize, usize) {
        let width = self.bits.max(32);
        (value * self.bits / width, value * self.bits % width)
    }

    /// Puts what the registers hold into its places. `f` gets a register's bits, with the element's lowest first.
    #[inline(always)]
    pub(super) fn read<T: Copy + Default>(&self, rows: &[Row], to: &mut [T], f: impl Fn(u64) -> T) {
        for (value, places) in self.places.iter().enumerate() {
            let (register, shift) = self.part(value);
            let Some(row) = rows.get(register) else {
                continue;
            };
            let mut values = [T::default(); LANES];
            for lane in 0..LANES {
                values[lane] = f(row[lane] >> shift);
            }
            for (value, place) in values.into_iter().zip(places) {
                if let Some(to) = to.get_mut(usize::from(*place)) {
                    *to = value;
                }
            }
        }
    }

    /// The other way; `f` gives an element's bits.
    #[inline(always)]
    pub(super) fn write<T: Copy>(&self, from: &[T], rows: &mut [Row], f: impl Fn(T) -> u64) {
        for (value, places) in self.places.iter().enumerate() {
            let (register, shift) = self.part(value);
            let Some(row) = rows.get_mut(register) else {
                continue;
            };
            for (lane, place) in places.iter().enumerate() {
                if let Some(from) = from.get(usize::from(*place)) {
                    let below = row[lane] & ((1 << shift) - 1);
                    row[lane] = below | f(*from) << shift;
                }
            }
        }
    }
}
