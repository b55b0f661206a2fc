//! Boxes and columns of pixels that instructions name: their maps, and what is wrong with where they begin.

use super::pieces::Boxed;
use super::*;
use crate::tensor_map::{PixelBox, TensorMap};

/// The coordinates of a box as an instruction gives them.
pub(super) struct Named {
    pub coordinates: Vec<i32>,
    /// The numbers that are added to pixels, by im2col; none of a tile.
    pub offsets: Option<Vec<u32>>,
    pub stores: bool,
}

impl Context<'_> {
    /// Reads a tensor map, and notes what is wrong with it or with the coordinates.
    pub(super) fn boxed(
        &mut self,
        warp: &Warp,
        lane: usize,
        pc: u32,
        at: u64,
        named: Named,
    ) -> Option<Boxed> {
        let map = match self.tensor_map(at) {
            Ok(map) => map,
            Err(message) => {
                let address = Some((Space::Generic, at));
                self.find(Kind::Undefined, pc, None, warp.index, lane, address, || {
                    message
                });
                return None;
            }
        };
        self.check_map(warp, lane, pc, at);
        if let Some(message) = wrong(&map, &named) {
            self.find(Kind::Undefined, pc, None, warp.index, lane, None, || {
                message
            });
            return None;
        }
        // What is lacking behind a trap says nothing, so that the box is copied.
        if let Some(message) = misplaced(&map, &named) {
            self.find(Kind::Undefined, pc, None, warp.index, lane, None, || {
                message
            });
        }
        Some(Boxed {
            map,
            coordinates: named.coordinates,
            offsets: named.offsets.unwrap_or_default(),
        })
    }
}

/// The error in the place where a box begins. The PTX ISA does not name it; an H200 traps ("an illegal instruction was encountered"), whatever the element, the
/// swizzle and the direction.
fn misplaced(map: &TensorMap, named: &Named) -> Option<String> {
    let step = (GRANULE / map.element.bytes() as u64) as i32;
    let first = *named.coordinates.first()?;
    (first % step != 0).then(|| {
        format!(
            "expected a first coordinate at a multiple of {GRANULE} bytes, which are {step} elements, found {first}; a GPU traps there: begin the box at such a \
             multiple, or copy by cp.async or ld"
        )
    })
}

/// The error in coordinates of a map.
fn wrong(map: &TensorMap, named: &Named) -> Option<String> {
    let (rank, found) = (map.rank(), named.coordinates.len());
    if rank != found {
        return Some(format!(
            "expected as many coordinates as the tensor map has modes, {rank}, found {found}"
        ));
    }
    let negative = || named.coordinates.iter().position(|&c| c < 0);
    if named.stores
        && let Some(mode) = negative()
    {
        let found = named.coordinates[mode];
        return Some(format!(
            "expected a coordinate of 0 or more along mode {mode} of a store, found {found}; only loads may begin before the tensor"
        ));
    }
    match (&map.im2col, &named.offsets) {
        (None, None) => None,
        (Some(_), None) => Some(
            "expected a tensor map of tiles, as an instruction without .im2col takes, found one by im2col; write .im2col, or encode the map by tiles".into(),
        ),
        (None, Some(_)) => Some(
            "expected a tensor map by im2col, as an instruction with .im2col takes, found one of tiles; encode the map by cuTensorMapEncodeIm2col".into(),
        ),
        (Some(pixels), Some(offsets)) => wrong_pixels(map, pixels, named, offsets),
    }
}

/// The error in the first pixel of a column (PTX ISA, "im2col mode: Bounding Box", and cp.async.bulk.tensor for stores).
fn wrong_pixels(
    map: &TensorMap,
    pixels: &PixelBox,
    named: &Named,
    offsets: &[u32],
) -> Option<String> {
    let rank = map.rank();
    for (mode, name) in (0..rank - 2).zip(["W", "H", "D"]) {
        let (first, last) = pixels.range(mode, map.sizes[mode + 1]);
        let found = named.coordinates[mode + 1];
        if !(first..=last).contains(&i64::from(found)) {
            return Some(format!(
                "expected a column that begins at a pixel between the corners of its map, {first} to {last} along {name}, found {found}; take a pixel's \
                 number apart by how many there are from corner to corner"
            ));
        }
        if named.stores && (pixels.lower[mode] < 0 || pixels.upper[mode] > 0) {
            let (lower, upper) = (pixels.lower[mode], pixels.upper[mode]);
            return Some(format!(
                "expected corners within the tensor for a store, a lower one of 0 or more and an upper one of 0 or less, found {lower} and {upper} along {name}"
            ));
        }
    }
    let most = PixelBox::max_offset(rank);
    let found = offsets.iter().find(|&&offset| offset > most)?;
    Some(format!(
        "expected offsets of 0 to {most}, as the instruction has for a tensor of {rank} modes, found {found}"
    ))
}
