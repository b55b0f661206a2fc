//! Boxes of the tensor memory accelerator: what one tiled TMA copy moves, and where.
//!
//! A tensor map describes a tensor of up to five dimensions, of which the first is contiguous, and a box of it. A copy moves the box at a
//! coordinate to shared memory, where its elements lie one behind the other, the first dimension the fastest, but for a swizzle. So a
//! layout in shared memory says which box there is to be: its right inverse lists the tile's elements in the order of memory, and the
//! leading run of that which strides through the global tensor mode by mode is the box. What of the tile is not in the run takes more
//! boxes. Sources: PTX ISA, "Tensors" and `cp.async.bulk.tensor`; `cuTensorMapEncodeTiled`; CuTe's `copy_traits_sm90_tma.hpp`.
//! Copies by im2col, whose box is a column of pixels, are in `im2col.rs`, and tensors of more modes than a map has dimensions in `folded.rs`.

mod folded;
mod im2col;

use crate::error::{LayoutError, Result};
use crate::layout::Layout;
use crate::leaf::Leaf;
use crate::swizzle::Swizzle;
use crate::tuple::{IntTuple, int, tuple};
use cute_target::banks;

pub use folded::Folded;
use folded::others;
pub use im2col::{Filter, PixelBox};

/// Dimensions of a tensor map, at most.
pub const MOST_DIMS: usize = 5;
/// Elements of a box along one dimension, at most.
pub const MOST_BOX: i64 = 256;
/// Bytes that addresses, strides and the first dimension of a box are multiples of.
pub const GRANULE: i64 = 16;

const OP: &str = "TMA";

/// One dimension of a tensor map.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dim {
    /// The leaf of the global tensor's shape that it is, by its number: the mode, where modes have one leaf each.
    pub mode: usize,
    /// Elements of the box along it.
    pub extent: i64,
}

/// A tensor map's dimensions with its box, and the swizzle of what it writes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TmaBox {
    /// The dimensions, the contiguous one first.
    pub dims: Vec<Dim>,
    /// Bytes that the swizzle spans: 32, 64, 128, or 0 of none.
    pub swizzle: i64,
    /// The pixels that a column goes through, by im2col; none of a tiled copy. The dimensions are then channels and pixels of a matrix (pixels, channels).
    pub im2col: Option<PixelBox>,
}

fn refuse<T>(
    expected: impl Into<String>,
    found: impl Into<String>,
    cure: impl Into<String>,
) -> Result<T> {
    Err(LayoutError::Divisibility {
        op: OP,
        expected: expected.into(),
        found: found.into(),
        cure: cure.into(),
    })
}

/// Bytes that a swizzle of byte addresses spans. Errors: one that TMA has not.
pub fn swizzle_bytes(swizzle: Option<Swizzle>) -> Result<i64> {
    match swizzle {
        None => Ok(0),
        Some(s) if s.b() == 0 => Ok(0),
        Some(s) if s.m() == 4 && s.s() == 3 && s.b() <= 3 => Ok(GRANULE << s.b()),
        Some(other) => refuse(
            "a swizzle of 128, 64 or 32 bytes, S<3,4,3>, S<2,4,3> or S<1,4,3>, or none",
            other.to_string(),
            "allocate the tensor in shared memory with one of those",
        ),
    }
}

/// The swizzle of byte addresses that spans so many bytes; nothing for 0, and for what is no such number.
pub fn swizzle_of(bytes: i64) -> Option<Swizzle> {
    match bytes {
        32 => Swizzle::new(1, 4, 3).ok(),
        64 => Swizzle::new(2, 4, 3).ok(),
        128 => Swizzle::new(3, 4, 3).ok(),
        _ => None,
    }
}

impl TmaBox {
    /// The box of a tile of `gmem` that lies in shared memory as `smem`: mode i of `smem` goes through a tile of mode i of `gmem`.
    ///
    /// Elements have `bits` bits. Errors: what TMA cannot do, with what forbids it.
    pub fn of(gmem: &Layout, smem: &Layout, swizzle: Option<Swizzle>, bits: i64) -> Result<TmaBox> {
        Self::within(gmem, smem, swizzle, bits, MOST_BOX)
    }

    /// The same with at most so many elements along each dimension but the first.
    fn within(
        gmem: &Layout,
        smem: &Layout,
        swizzle: Option<Swizzle>,
        bits: i64,
        most_box: i64,
    ) -> Result<TmaBox> {
        let swizzle = swizzle_bytes(swizzle)?;
        let modes = modes(gmem)?;
        if smem.rank() != modes.len() {
            return refuse(
                format!(
                    "a layout in shared memory with a mode for each of the {} of {gmem}",
                    modes.len()
                ),
                smem.to_string(),
                "give modes that the tile does not go through an extent of 1",
            );
        }
        let strides: Vec<GlobalMode> = modes.iter().flatten().copied().collect();
        let runs = by_leaf(gmem, &modes, runs(smem)?)?;
        let mut dims: Vec<Dim> = Vec::new();
        let bytes = (bits / 8).max(1);
        for run in &runs {
            // A box goes through each mode once, from its first element on.
            if dims.iter().any(|dim| dim.mode == run.mode) || run.scale != 1 {
                break;
            }
            let first = dims.is_empty();
            if first && strides[run.mode].1 != Some(1) {
                return refuse(
                    format!(
                        "shared memory to be contiguous along the mode that global memory is contiguous along, in {gmem}"
                    ),
                    format!("{smem}, which is contiguous along mode {}", run.mode),
                    "lay the tile out along the mode of stride 1; TMA does not transpose (its innermost stride is one element)",
                );
            }
            let most = if first && swizzle > 0 {
                MOST_BOX.min(swizzle / bytes)
            } else if first {
                MOST_BOX
            } else {
                most_box
            };
            let extent = (1..=most.min(run.extent))
                .rev()
                .find(|n| run.extent % n == 0)
                .unwrap_or(1);
            dims.push(Dim {
                mode: run.mode,
                extent,
            });
            if extent < run.extent {
                break;
            }
        }
        if dims.is_empty() {
            // A tile of one element: along the contiguous mode.
            let mode = strides.iter().position(|(_, stride, _)| *stride == Some(1));
            let Some(mode) = mode else {
                return refuse(
                    "a tensor with a mode of stride 1",
                    gmem.to_string(),
                    "copy it by cp.async: TMA's innermost stride is one element",
                );
            };
            dims.push(Dim { mode, extent: 1 });
        }
        let row = dims[0].extent * bytes;
        if row % GRANULE != 0 {
            return refuse(
                format!("a box whose contiguous mode has a multiple of {GRANULE} bytes"),
                format!("{} elements of {bits} bits in {smem}", dims[0].extent),
                "make the tile wider along the contiguous mode, or copy it by cp.async",
            );
        }
        dims.extend(
            others(gmem, &strides, &runs, &dims)?
                .into_iter()
                .map(|mode| Dim { mode, extent: 1 }),
        );
        for dim in &dims[1..] {
            check_stride(gmem, strides[dim.mode].1, strides[dim.mode].2, bytes)?;
        }
        Ok(TmaBox {
            dims,
            swizzle,
            im2col: None,
        })
    }

    /// Coordinates that a copy moves in: a number for each dimension of the map; by im2col the channel, the pixel, and the offsets of the filter.
    pub fn coordinates_count(&self) -> usize {
        self.im2col.as_ref().map_or(self.dims.len(), |pixels| {
            self.dims.len() + pixels.lower.len()
        })
    }

    /// Elements of the box.
    pub fn size(&self) -> i64 {
        self.dims.iter().map(|dim| dim.extent).product()
    }

    /// Bytes of a row of the box, along the contiguous dimension, of elements of so many bits.
    pub fn row_bytes(&self, bits: i64) -> i64 {
        self.dims.first().map_or(0, |dim| dim.extent * bits / 8)
    }

    /// The byte in shared memory, from the start of the box, of the element that is so many in the order of the box, the first dimension the fastest: where the swizzle takes it.
    pub fn place(&self, element: i64, bits: i64) -> i64 {
        let byte = element * bits / 8;
        swizzle_of(self.swizzle).map_or(byte, |swizzle| swizzle.apply(byte))
    }

    /// The passes over the banks of shared memory that the box takes by pieces of [`GRANULE`] bytes in its order, and the fewest.
    pub fn wavefronts(&self, bits: i64) -> (u32, u32) {
        let pieces = (self.size() * bits / 8) / GRANULE;
        let pieces: Vec<i64> = (0..pieces)
            .map(|piece| self.place(piece * GRANULE * 8 / bits, bits))
            .collect();
        let bytes = GRANULE as u32;
        let row = banks::lanes_a_phase(bytes);
        let found = pieces.chunks(row).map(|row| banks::wavefronts(row, bytes));
        (found.sum(), pieces.len().div_ceil(row) as u32)
    }

    /// The box as a layout, from the order of shared memory to modes of the global tensor: `(64,128):(1@1,1@0)`.
    pub fn basis(&self) -> Result<Layout> {
        let shape = tuple(self.dims.iter().map(|dim| int(dim.extent)));
        let stride = tuple(self.dims.iter().map(|dim| unit(dim.mode)));
        Layout::new(shape, stride)
    }

    /// The box that [`TmaBox::basis`] writes. Errors: a layout that is none.
    pub fn from_basis(basis: &Layout, swizzle: i64, im2col: Option<PixelBox>) -> Result<TmaBox> {
        let wrong = || {
            refuse(
                match im2col {
                    Some(_) => format!(
                        "a column such as (64,128):(1@1,1@0), of at most {MOST_BOX} channels, which are mode 1, by {} pixels, which are mode 0",
                        im2col::MOST_PIXELS
                    ),
                    None => format!(
                        "a box such as (64,128):(1@1,1@0), of 1 to {MOST_DIMS} modes of at most {MOST_BOX} elements, each a mode of the tensor"
                    ),
                },
                basis.to_string(),
                "let cute_nvgpu.atom.make_tma_load say it",
            )
        };
        let mut dims = Vec::new();
        for mode in basis.modes() {
            let (Some(extent), IntTuple::Leaf(Leaf::Basis { value, path })) =
                (mode.shape().as_static(), mode.stride())
            else {
                return wrong();
            };
            let is_unit = value.as_ref().is(1);
            let [mode] = path[..] else {
                return wrong();
            };
            let mode = usize::from(mode);
            let most = match im2col {
                Some(_) if mode == 0 => im2col::MOST_PIXELS,
                _ => MOST_BOX,
            };
            if !is_unit
                || !(1..=most).contains(&extent)
                || dims.iter().any(|dim: &Dim| dim.mode == mode)
            {
                return wrong();
            }
            dims.push(Dim { mode, extent });
        }
        if dims.is_empty() || dims.len() > MOST_DIMS || !matches!(swizzle, 0 | 32 | 64 | 128) {
            return wrong();
        }
        let modes: Vec<_> = dims.iter().map(|dim| dim.mode).collect();
        if im2col.is_some() && modes != [1, 0] {
            return wrong();
        }
        Ok(TmaBox {
            dims,
            swizzle,
            im2col,
        })
    }

    /// The tensor's coordinates as a layout of its shape: leaf i steps by 1 through the dimension that it is, by its part of the last one where that stands for
    /// several leaves, or by nothing.
    pub fn coordinates(&self, gmem: &Layout) -> Result<Layout> {
        let folded = self.folded(gmem)?;
        let last = self.dims.len().saturating_sub(1);
        let mut leaves = 0..;
        let stride = each_leaf(gmem.shape(), &mut || {
            let leaf = leaves.next();
            let of_last = folded.iter().flat_map(|folded| &folded.leaves);
            if let Some((_, steps)) = of_last.into_iter().find(|(mode, _)| Some(*mode) == leaf) {
                return along(*steps, last);
            }
            let dim = self.dims.iter().position(|dim| Some(dim.mode) == leaf);
            dim.map_or(int(0), unit)
        });
        Layout::new(gmem.shape().clone(), stride)
    }

    /// The boxes of a tile: the coordinates at which each begins, counted from those of the tile, in the order in which they lie in shared
    /// memory.
    ///
    /// `tile` gives coordinates in dimensions of the map, `smem` the place in shared memory before the swizzle, both of the same elements.
    /// Errors: a tile that is not whole boxes one behind the other.
    pub fn boxes(&self, tile: &Layout, smem: &Layout) -> Result<Vec<Vec<i64>>> {
        let size = tile.size()?;
        let flat = smem.flat_or(OP)?;
        let whole = self.size();
        let wrong = |found: String| {
            refuse(
                format!(
                    "a tile that lies in shared memory as boxes of {} elements one behind the other, {}",
                    whole,
                    self.dims
                        .iter()
                        .map(|dim| dim.extent.to_string())
                        .collect::<Vec<_>>()
                        .join(" x ")
                ),
                found,
                "make the atom of the layout of one place in shared memory, and slice tensors at its tile",
            )
        };
        if flat.size() != size || size % whole != 0 {
            return wrong(format!(
                "{size} elements to copy, {} in {smem}",
                flat.size()
            ));
        }
        let tile_modes = coordinates_of(tile)?;
        let mut starts: Vec<Option<[i64; MOST_DIMS]>> = vec![None; (size / whole) as usize];
        let mut seen = vec![false; size as usize];
        for index in 0..size {
            let place = flat.at(index);
            if !(0..size).contains(&place) || std::mem::replace(&mut seen[place as usize], true) {
                return wrong(format!("{smem}, in which element {index} is at {place}"));
            }
            // The element's coordinates in its box.
            let mut rest = place % whole;
            let mut start = at(&tile_modes, index, self.coordinates_count())?;
            for (dim, start) in self.dims.iter().zip(&mut start) {
                *start -= rest % dim.extent;
                rest /= dim.extent;
            }
            let slot = &mut starts[(place / whole) as usize];
            match slot {
                None => *slot = Some(start),
                Some(known) if *known == start => {}
                Some(_) => {
                    return wrong(format!("{tile} in {smem}, which part at element {index}"));
                }
            }
        }
        let starts = starts.into_iter().flatten();
        Ok(starts
            .map(|start| start[..self.coordinates_count()].to_vec())
            .collect())
    }
}

impl TmaBox {
    /// The boxes that a tile is, whatever its order: the coordinates at which each begins, counted from those of the tile. Errors: a tile that is not whole boxes.
    pub fn boxes_of(&self, tile: &Layout) -> Result<Vec<Vec<i64>>> {
        let modes = coordinates_of(tile)?;
        let mut counts = std::collections::BTreeMap::new();
        let mut seen = std::collections::BTreeSet::new();
        for index in 0..tile.size()? {
            let element = at(&modes, index, self.coordinates_count())?;
            let mut start = element;
            for (dim, start) in self.dims.iter().zip(&mut start) {
                *start -= start.rem_euclid(dim.extent);
            }
            if seen.insert(element) {
                *counts.entry(start).or_insert(0) += 1;
            }
        }
        let whole = self.size();
        if counts.values().any(|count| *count != whole) {
            let extents: Vec<_> = self.dims.iter().map(|dim| dim.extent.to_string()).collect();
            return refuse(
                format!("a tile of whole boxes of {}", extents.join(" x ")),
                tile.to_string(),
                "take a tile of multiples of the box that the atom has",
            );
        }
        let starts = counts.into_keys();
        Ok(starts
            .map(|start| start[..self.coordinates_count()].to_vec())
            .collect())
    }
}

/// A tuple of a shape's form, with what `next` gives in place of each leaf.
fn each_leaf(shape: &IntTuple, next: &mut impl FnMut() -> IntTuple) -> IntTuple {
    match shape {
        IntTuple::Tuple(modes) => tuple(modes.iter().map(|mode| each_leaf(mode, next))),
        _ => next(),
    }
}

/// `1@mode`
fn unit(mode: usize) -> IntTuple {
    along(1, mode)
}

/// `steps@mode`
fn along(steps: i64, mode: usize) -> IntTuple {
    IntTuple::Leaf(Leaf::Basis {
        value: Box::new(Leaf::Static(steps)),
        path: std::iter::once(mode as u16).collect(),
    })
}

/// Extent and stride of a mode where they are known, and what divides the stride where it is not.
type GlobalMode = (Option<i64>, Option<i64>, i64);

/// The leaves of each mode of a global tensor.
fn modes(gmem: &Layout) -> Result<Vec<Vec<GlobalMode>>> {
    let mut found = Vec::new();
    for mode in gmem.modes() {
        let (extents, strides) = (mode.shape().leaves(), mode.stride().leaves());
        let leaf = |(extent, stride): (&Leaf, &Leaf)| {
            let divisor = match stride {
                Leaf::Dynamic(stride) => stride.div,
                _ => 1,
            };
            (extent.as_static(), stride.as_static(), divisor)
        };
        if extents.is_empty() {
            return refuse(
                "a tensor whose modes have an extent each",
                gmem.to_string(),
                "leave out modes of no extents",
            );
        }
        found.push(extents.into_iter().zip(strides).map(leaf).collect());
    }
    Ok(found)
}

/// Runs through modes as runs through leaves: of a mode (4,8) a run of 8 neighbours is one of all four of the first leaf, and of two of the second.
fn by_leaf(gmem: &Layout, modes: &[Vec<GlobalMode>], runs: Vec<Run>) -> Result<Vec<Run>> {
    let first = |mode: usize| modes[..mode].iter().map(Vec::len).sum::<usize>();
    let mut found: Vec<Run> = Vec::new();
    for run in runs {
        let leaves = &modes[run.mode];
        let (mut extent, mut scale) = (run.extent, run.scale);
        for (leaf, (size, ..)) in leaves.iter().enumerate() {
            let mode = first(run.mode) + leaf;
            let is_last = leaf + 1 == leaves.len();
            if extent == 1 {
                break;
            }
            let Some(size) = size.filter(|_| !is_last) else {
                match is_last {
                    true => found.push(Run {
                        mode,
                        extent,
                        scale,
                    }),
                    false => {
                        return refuse(
                            "modes of several extents of which all but the last are known",
                            gmem.to_string(),
                            "flatten the tensor, so that each dimension of the map is a mode",
                        );
                    }
                }
                break;
            };
            if scale % size == 0 {
                scale /= size;
                continue;
            }
            let here = extent.min(size / scale);
            if size % scale != 0 || extent % here != 0 || (here < extent && here * scale != size) {
                return refuse(
                    format!("a tile that takes whole parts of each extent of {gmem}"),
                    format!("{} of {size} elements along mode {}", run.extent, run.mode),
                    "take a tile of as many elements as the first extent has, or of a part of them that divides it",
                );
            }
            found.push(Run {
                mode,
                extent: here,
                scale,
            });
            (extent, scale) = (extent / here, 1);
        }
    }
    Ok(found)
}

/// Strides of other than the first dimension are whole granules.
fn check_stride(gmem: &Layout, stride: Option<i64>, divisor: i64, bytes: i64) -> Result<()> {
    let known = stride.unwrap_or(divisor);
    if known
        .checked_mul(bytes)
        .is_some_and(|bytes| bytes > 0 && bytes % GRANULE == 0)
    {
        return Ok(());
    }
    refuse(
        format!("strides that are positive multiples of {GRANULE} bytes"),
        gmem.to_string(),
        format!(
            "write ?{{div={}}} where that is so, which a launch checks; otherwise copy it by cp.async",
            GRANULE / bytes
        ),
    )
}

/// Elements of one mode of the global tensor, or of one leaf, that follow each other in shared memory.
struct Run {
    mode: usize,
    extent: i64,
    /// Elements of the mode from one to the next.
    scale: i64,
}

/// The elements of a layout in shared memory in the order of memory.
fn runs(smem: &Layout) -> Result<Vec<Run>> {
    let compact = |found: String| {
        refuse(
            "a layout in shared memory without gaps, known when compiled",
            found,
            "give TMA the layout of one place, without padding: what it writes is contiguous",
        )
    };
    if !smem.is_static() {
        return compact(smem.to_string());
    }
    let mut ends = Vec::new();
    let mut size = 1i64;
    for mode in smem.modes() {
        size = mode
            .size()
            .ok()
            .and_then(|n| n.checked_mul(size))
            .ok_or(LayoutError::Overflow { op: OP })?;
        ends.push(size);
    }
    let inverse = smem.right_inverse()?;
    if inverse.size()? != size || smem.cosize()? != size {
        return compact(smem.to_string());
    }
    let flat = inverse.flat_or(OP)?;
    let mut runs: Vec<Run> = Vec::new();
    for (extent, stride) in flat.modes() {
        let (mut extent, mut stride) = (*extent, *stride);
        while extent > 1 {
            let Some(mode) = ends.iter().position(|end| stride < *end) else {
                return compact(smem.to_string());
            };
            let before = if mode == 0 { 1 } else { ends[mode - 1] };
            // Where a run goes on in the next mode it is taken apart.
            let here = if stride * extent <= ends[mode] {
                extent
            } else {
                ends[mode] / stride
            };
            if stride % before != 0 || here < 1 || extent % here != 0 || stride * here > ends[mode]
            {
                return compact(smem.to_string());
            }
            let scale = stride / before;
            match runs.last_mut() {
                Some(last) if last.mode == mode && last.scale * last.extent == scale => {
                    last.extent *= here
                }
                _ => runs.push(Run {
                    mode,
                    extent: here,
                    scale,
                }),
            }
            extent /= here;
            stride = ends[mode];
        }
    }
    Ok(runs)
}

/// A flat mode of a tensor of coordinates: its extent, the coordinate that it steps in, and by how much.
type Coordinate = (i64, Option<usize>, i64);

/// The flat modes of a tensor of coordinates.
fn coordinates_of(tile: &Layout) -> Result<Vec<Coordinate>> {
    let wrong = || {
        refuse(
            "a tile of a tensor of coordinates of known extents, such as (128,64):(1@1,1@0)",
            tile.to_string(),
            "take it by cute.local_tile and cute.slice of the tensor that cute_nvgpu.atom.make_tma_load gives",
        )
    };
    let mut found = Vec::new();
    for (extent, stride) in tile.shape().leaves().iter().zip(tile.stride().leaves()) {
        let Some(extent) = extent.as_static() else {
            return wrong();
        };
        match stride {
            _ if extent == 1 => found.push((1, None, 0)),
            Leaf::Static(0) => found.push((extent, None, 0)),
            Leaf::Basis { value, path } => match (value.as_static(), &path[..]) {
                (Some(step), [dim]) => found.push((extent, Some(usize::from(*dim)), step)),
                _ => return wrong(),
            },
            _ => return wrong(),
        }
    }
    Ok(found)
}

/// The coordinates of an element.
fn at(modes: &[Coordinate], index: i64, dims: usize) -> Result<[i64; MOST_DIMS]> {
    let mut coordinates = [0; MOST_DIMS];
    let mut rest = index;
    for (extent, dim, step) in modes {
        if let Some(dim) = dim {
            let Some(slot) = coordinates[..dims].get_mut(*dim) else {
                return refuse(
                    format!("coordinates of the {dims} dimensions of the map"),
                    format!("one of dimension {dim}"),
                    "use the tensor that was made together with the atom",
                );
            };
            *slot += rest % extent * step;
        }
        rest /= extent;
    }
    Ok(coordinates)
}
