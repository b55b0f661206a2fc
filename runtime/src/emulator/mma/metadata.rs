//! Metadata of a matrix A that is stored by half: which lanes give them, and where they put what is stored.
//!
//! A is cut into chunks along K: of 2 elements of `tf32`, of which one is stored, of 4 of 16 or 8 bits, of which two are, and of 8 of 4 bits,
//! of which two pairs are. Four bits of metadata a chunk are two places of its quarters, the first in the low bits.
//! Source: PTX ISA, "Sparse matrix storage".

use cute_layout::atoms::Elem;

use crate::emulator::Row;

/// Rows of A that a warp has.
pub(super) const ROWS: usize = 16;
/// The most elements of a row that are stored, which are of 4 bits.
pub(super) const MOST: usize = 64;
/// Lanes that hold the metadata of two rows, or may.
pub(super) const QUAD: usize = 4;

/// The metadata of 16 rows of A.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Metadata {
    /// Elements of a chunk that are stored: half of them.
    stored: usize,
    /// Chunks of a row.
    chunks: usize,
    /// Tells whether the halves of a word are of two rows; else all of it is of one.
    halves: bool,
    /// Tells whether places of a chunk are in their order (`.sp::ordered_metadata`).
    ordered: bool,
    /// The number of some of four lanes that give metadata.
    selector: usize,
}

/// Metadata that say nothing, or what PTX leaves undefined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Misplaced {
    pub row: usize,
    /// The chunk of the row.
    pub chunk: usize,
    /// Its metadata.
    pub places: u32,
    /// The lane that gives them.
    pub lane: usize,
}

impl Metadata {
    /// The metadata of rows of `k` elements, those that are not stored among them.
    pub(super) fn of(element: Elem, k: usize, ordered: bool) -> Metadata {
        let stored = match element {
            Elem::TF32 => 1,
            Elem::I4 | Elem::U4 => 4,
            _ => 2,
        };
        Metadata {
            stored,
            chunks: k / (2 * stored),
            halves: matches!(element, Elem::TF32 | Elem::F16 | Elem::BF16),
            ordered,
            selector: 0,
        }
    }

    /// Says which lanes give them.
    pub(super) fn select(&mut self, selector: usize) {
        self.selector = selector;
    }

    /// Lanes of each four that give them.
    fn givers(&self) -> usize {
        self.chunks / QUAD
    }

    /// The number of selectors for which something is defined.
    pub(super) fn selectors(&self) -> usize {
        QUAD / self.givers()
    }

    /// Tells whether the selector means something.
    pub(super) fn is_selected(&self) -> bool {
        self.selector < self.selectors()
    }

    /// The lanes that give them.
    pub(super) fn giving(&self) -> u32 {
        let first = self.selector % self.selectors() * self.givers();
        let of_four = ((1 << self.givers()) - 1) << first;
        of_four * 0x1111_1111
    }

    /// The lane that gives those of a chunk, and the lowest bit of them there.
    fn place(&self, row: usize, chunk: usize) -> (usize, usize) {
        let (group, upper) = (row % 8, row / 8);
        let first = group * QUAD + self.giving().trailing_zeros() as usize;
        match self.halves {
            true => (first + chunk / 4, 16 * upper + chunk % 4 * 4),
            false => (first + upper + chunk / 8 * 2, chunk % 8 * 4),
        }
    }

    /// The column of A that each element is of that a row stores.
    pub(super) fn columns(&self, row: usize, metadata: &Row) -> [usize; MOST] {
        let stored = self.stored;
        let mut columns = [0; MOST];
        let of_chunks = columns.chunks_exact_mut(stored).take(self.chunks);
        for (chunk, columns) in of_chunks.enumerate() {
            let (lane, bit) = self.place(row, chunk);
            let places = metadata[lane] as usize >> bit & 15;
            for (element, column) in columns.iter_mut().enumerate() {
                let quarter = match 2 * element < stored {
                    true => places & 3,
                    false => places >> 2,
                };
                // A quarter is half an element, an element, or two of them.
                let in_chunk = quarter * stored / 2 + element % (stored / 2).max(1);
                *column = chunk * 2 * stored + in_chunk;
            }
        }
        columns
    }

    /// The first chunk whose metadata are undefined: in their order and of `tf32` by what the PTX ISA lists, else those that
    /// put two elements to one place, of which neither is zero. `is_zero` says it of the stored elements of a row.
    pub(super) fn misplaced(
        &self,
        metadata: &Row,
        is_zero: impl Fn(usize, usize) -> bool,
    ) -> Option<Misplaced> {
        let stored = self.stored;
        let chunks = (0..ROWS).flat_map(|row| (0..self.chunks).map(move |chunk| (row, chunk)));
        for (row, chunk) in chunks {
            let (lane, bit) = self.place(row, chunk);
            let places = (metadata[lane] >> bit & 15) as u32;
            let (low, high) = (places & 3, places >> 2);
            let all_zero = |half: usize| {
                let first = chunk * stored + half * (stored / 2);
                (first..first + stored / 2).all(|at| is_zero(row, at))
            };
            let is_defined = match (stored, self.ordered) {
                (1, _) => matches!(places, 0b0100 | 0b1110),
                (_, true) => low < high,
                (_, false) => low != high || all_zero(0) || all_zero(1),
            };
            if !is_defined {
                return Some(Misplaced {
                    row,
                    chunk,
                    places,
                    lane,
                });
            }
        }
        None
    }
}

impl Misplaced {
    /// The finding about it.
    pub(crate) fn text(&self) -> String {
        let Misplaced {
            row,
            chunk,
            places,
            lane,
        } = self;
        format!(
            "expected metadata that put what A stores of a chunk to places of their own, in their order, found {places:#06b} for chunk {chunk} of row {row}, \
             from lane {lane}; what the product is then, nothing says"
        )
    }
}
