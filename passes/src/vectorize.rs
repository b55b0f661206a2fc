//! The widest vectors that a copy of single elements can be made of: CuTe's `max_common_vector`, for sides of any layout.
//!
//! A vector is a run of elements that follow each other in memory on every side that is in memory; registers can be taken in
//! any order. It is aligned where its start is, which the tensor's alignment and the start's offset say.

use cute_ir::{
    tensor::atom_extents,
    types::{MemRef, Space},
};

/// Bytes of the widest load and store.
const WIDEST: i64 = 16;
/// Elements that a thread copies at most.
const MOST_ELEMENTS: i64 = 1 << 16;

/// Some elements that are copied at once, in the order of memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Vector {
    /// The index of the atom that is the first of them.
    pub at: Vec<i64>,
    /// Offsets of the elements in the source.
    pub source: Vec<i64>,
    /// And in the destination.
    pub destination: Vec<i64>,
}

/// The vectors of a copy between partitions `((1,rest),...)` of as many atoms.
pub(crate) fn vectors(from: &MemRef, to: &MemRef) -> Result<Vec<Vector>, String> {
    let extents = atom_extents(&from.layout)?;
    let (source, destination) = (offsets(from)?, offsets(to)?);
    // In the order of memory; of two memories, of that which is written.
    let by = if to.space == Space::Rmem {
        &source
    } else {
        &destination
    };
    let mut order: Vec<usize> = (0..by.len()).collect();
    order.sort_by_key(|i| by[*i]);
    let mut length = WIDEST / from.element_bytes();
    while length > 1 && !fits(length, &order, [(from, &source), (to, &destination)]) {
        length /= 2;
    }
    let vectors = order.chunks(length.max(1) as usize).map(|run| Vector {
        at: position(run[0] as i64, &extents),
        source: run.iter().map(|i| source[*i]).collect(),
        destination: run.iter().map(|i| destination[*i]).collect(),
    });
    let mut vectors: Vec<Vector> = vectors.collect();
    // As the atoms are numbered, so that narrow copies stay in their order.
    vectors.sort_by(|a, b| a.at.iter().rev().cmp(b.at.iter().rev()));
    Ok(vectors)
}

/// The offset of every element.
fn offsets(memref: &MemRef) -> Result<Vec<i64>, String> {
    let flat = memref
        .layout
        .flat()
        .filter(|flat| flat.size() <= MOST_ELEMENTS)
        .ok_or_else(|| {
            format!(
                "expected a partition of static layout and at most {MOST_ELEMENTS} elements to vectorize, found {}",
                memref.layout
            )
        })?;
    Ok((0..flat.size()).map(|i| flat.at(i)).collect())
}

/// Tells whether all runs of `length` elements can be moved at once.
fn fits(length: i64, order: &[usize], sides: [(&MemRef, &Vec<i64>); 2]) -> bool {
    let runs_evenly = order.len() as i64 % length == 0;
    runs_evenly
        && sides.iter().all(|(memref, offsets)| {
            if memref.space == Space::Rmem {
                return true;
            }
            let bytes = memref.element_bytes();
            let size = length * bytes;
            let whole = memref
                .byte_swizzle()
                .is_none_or(|swizzle| size <= 1 << swizzle.m());
            whole
                && memref.align % size == 0
                && order.chunks(length as usize).all(|run| {
                    let start = offsets[run[0]];
                    (start * bytes) % size == 0
                        && run
                            .iter()
                            .enumerate()
                            .all(|(i, at)| offsets[*at] == start + i as i64)
                })
        })
}

/// The coordinate of an index, the first extent the fastest.
fn position(mut index: i64, extents: &[i64]) -> Vec<i64> {
    extents
        .iter()
        .map(|extent| {
            let at = index % extent;
            index /= extent;
            at
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use cute_ir::types::CuteType;
    use melior::ir::r#type::Type;

    /// Returns the length of each vector of a copy between two types, in elements.
    fn widths(from: &str, to: &str) -> Vec<usize> {
        let context = cute_ir::context();
        let memref = |text: &str| {
            let ty = Type::parse(&context, text).expect(text);
            match CuteType::of(ty) {
                Some(CuteType::MemRef(memref)) => memref,
                other => panic!("{text}: {other:?}"),
            }
        };
        let all = vectors(&memref(from), &memref(to)).expect("vectors");
        all.iter().map(|vector| vector.source.len()).collect()
    }

    #[test]
    fn layouts_and_alignment_decide() {
        let regs = "!cute.memref<f32, rmem, \"((1,8)):((0,1))\">";
        for (memory, expected) in [
            ("f32, gmem, align<16>, \"((1,8)):((0,1))\"", vec![4, 4]),
            ("f32, gmem, align<8>, \"((1,8)):((0,1))\"", vec![2, 2, 2, 2]),
            ("f32, gmem, align<16>, \"((1,8)):((0,2))\"", vec![1; 8]),
            // Rows of two, next to each other the other way round.
            (
                "f32, gmem, align<16>, \"((1,(2,4))):((0,(4,1)))\"",
                vec![4, 4],
            ),
            (
                "f32, smem, align<16>, S<2,3,3>, \"((1,8)):((0,1))\"",
                vec![2; 4],
            ),
        ] {
            assert_eq!(
                widths(&format!("!cute.memref<{memory}>"), regs),
                expected,
                "{memory}"
            );
        }
        // Both in memory: what both have.
        let source = "!cute.memref<f16, gmem, align<16>, \"((1,8),4):((0,1),8)\">";
        let destination = "!cute.memref<f16, smem, align<16>, \"((1,8),4):((0,1),12)\">";
        assert_eq!(widths(source, destination), vec![4; 8]);
    }
}
