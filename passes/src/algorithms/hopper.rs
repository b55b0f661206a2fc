//! Tiles that TMA copies, box by box, and products of warpgroups.

use super::Lower;
use cute_ir::ops::{arith, cute, cute_nvgpu};
use cute_ir::{
    Expected, Failure, hopper,
    mlir::*,
    types::{self, CuteType, MemRef, Space},
};
use cute_layout::{IntTuple, Layout, Leaf, atoms::FragKind, int, tma::TmaBox};
use melior::ir::{Type, ValueLike};

/// The error of a load that nobody waits for.
const NO_BARRIER: &str = "expected an mbarrier on which its bytes count; write `on %bars[%i]`, or give the kernel cute.roles, so that \
                          cute-specialize-warps chooses one";

/// The rows that an atom of the last boxes of a tensor brings, and how many of its tile are missing of all blocks that load it together.
#[derive(Clone, Copy)]
pub(crate) struct Rest<'c> {
    /// Rows that the atom brings, the same in all of the kernel.
    pub(crate) rows: Val<'c>,
    /// Rows of the tensor in shared memory that are missing.
    pub(crate) missing: Val<'c>,
}

/// The place where the bytes of a load by TMA arrive.
#[derive(Clone, Copy)]
pub(crate) struct Arrival<'c> {
    /// The mbarriers, and the index of the one that bytes count on; none where `cute-specialize-warps` chooses it.
    pub(crate) barrier: Option<(Val<'c>, Val<'c>)>,
    /// A bit for each block of the cluster that gets them; none where it is this block.
    pub(crate) mask: Option<Val<'c>>,
    /// The rows that may be missing, where nobody chose a barrier yet; none where all arrive.
    pub(crate) rest: Option<Rest<'c>>,
    /// The policy of L2; none where it is the usual one.
    pub(crate) policy: Option<&'c str>,
}

/// A `cute_nvgpu.tma_load` at some coordinates.
pub(crate) fn start_load<'c>(
    b: Builder<'c>,
    atom: Val<'c>,
    coords: &[Val<'c>],
    to: Val<'c>,
    arrival: Arrival<'c>,
) -> Result<(), Failure> {
    let Arrival {
        barrier,
        mask,
        rest,
        policy,
    } = arrival;
    let rest = rest.map(|rest| [rest.rows, rest.missing]);
    let given = i32::from(rest.is_some());
    let on = i32::from(barrier.is_some());
    let segments = [
        1,
        i32::try_from(coords.len()).unwrap_or(i32::MAX),
        1,
        on,
        on,
        i32::from(mask.is_some()),
        given,
        given,
    ];
    let mut attributes = vec![("operandSegmentSizes", b.i32_array(&segments))];
    attributes.extend(policy.map(|policy| ("policy", b.string(policy))));
    let barrier = barrier.into_iter().flat_map(|(all, index)| [all, index]);
    let operands = [atom].into_iter().chain(coords.iter().copied()).chain([to]);
    let operands = operands.chain(barrier).chain(mask);
    let operands: Vec<_> = operands.chain(rest.into_iter().flatten()).collect();
    b.op(cute_nvgpu::TMA_LOAD, &operands, &[], &attributes)?;
    Ok(())
}

/// Coordinates with offsets added to them.
fn moved<'c>(b: Builder<'c>, first: &[Val<'c>], offsets: &[i64]) -> Result<Vec<Val<'c>>, Failure> {
    let moved = first.iter().zip(offsets);
    let moved = moved.map(|(first, offset)| match offset {
        0 => Ok(*first),
        _ => b.value(arith::ADDI, &[*first, b.i32(*offset)?], b.i32_type(), &[]),
    });
    moved.collect()
}

/// The coordinates that an instruction takes of those of a box. By im2col the number of a place is taken apart by how many there are along W, H and D, which stand
/// behind the first coordinates of the tile.
fn placed<'c>(
    b: Builder<'c>,
    map: &TmaBox,
    coords: Vec<Val<'c>>,
    first: &[Val<'c>],
) -> Result<Vec<Val<'c>>, Failure> {
    let Some(pixels) = &map.im2col else {
        return Ok(coords);
    };
    let (Some((channel, [place, offsets @ ..])), Some(counts)) =
        (coords.split_first(), first.get(map.coordinates_count()..))
    else {
        return Err(b.error("expected the coordinates of a column of pixels"));
    };
    let (mut all, mut rest) = (vec![*channel], *place);
    let with = |name, x, y| b.value(name, &[x, y], b.i32_type(), &[]);
    for ((count, lower), stride) in counts.iter().zip(&pixels.lower).zip(&pixels.strides) {
        let mut at = with(arith::REMUI, rest, *count)?;
        if *stride != 1 {
            at = with(arith::MULI, at, b.i32(*stride)?)?;
        }
        if *lower != 0 {
            at = with(arith::ADDI, at, b.i32(*lower)?)?;
        }
        all.push(at);
        rest = with(arith::DIVUI, rest, *count)?;
    }
    all.push(rest);
    all.extend(offsets);
    Ok(all)
}

/// A tile that an atom of TMA moves box by box.
struct BoxedTile<'c> {
    coords: Val<'c>,
    /// The coordinate at which it starts.
    start: &'c IntTuple,
    layout: &'c Layout,
    /// The type of its elements.
    value: Type<'c>,
    map: &'c TmaBox,
}

/// The coordinates of a box, and its part of shared memory.
type TileBox<'c> = (Vec<Val<'c>>, Val<'c>);

impl<'c> Lower<'c> {
    /// A load of a tile as one for each of its boxes, at the coordinates of its first element; false where it is one.
    pub(super) fn tma_load(&self, load: cute_nvgpu::TmaLoad<'c>) -> Result<bool, Failure> {
        let Some(boxes) = self.boxes(load.atom(), &load.coords(), load.destination())? else {
            return Ok(false);
        };
        let barrier = load.barriers().zip(load.index());
        let (barriers, index) = barrier.ok_or_else(|| self.b.error(NO_BARRIER))?;
        for (coords, part) in boxes {
            let arrival = Arrival {
                barrier: Some((barriers, index)),
                mask: load.mask(),
                rest: None,
                policy: string_of(load.op(), "policy"),
            };
            start_load(self.b, load.atom(), &coords, part, arrival)?;
        }
        Ok(true)
    }

    /// A store of a tile as one for each of its boxes; false where it is one.
    pub(super) fn tma_store(&self, store: cute_nvgpu::TmaStore<'c>) -> Result<bool, Failure> {
        let Some(boxes) = self.boxes(store.atom(), &store.coords(), store.source())? else {
            return Ok(false);
        };
        for (coords, part) in boxes {
            let operands = [vec![store.atom(), part], coords];
            let attributes = attributes_of(store.op());
            self.b
                .op(cute_nvgpu::TMA_STORE, &operands.concat(), &[], &attributes)?;
        }
        Ok(true)
    }

    /// A prefetch of a tile as one for each of its boxes; false where it is one.
    pub(super) fn tma_prefetch(
        &self,
        prefetch: cute_nvgpu::TmaPrefetch<'c>,
    ) -> Result<bool, Failure> {
        let (b, atom) = (self.b, prefetch.atom());
        let Some(tile) = self.tile(atom, &prefetch.coords())? else {
            return Ok(false);
        };
        let boxes = tile.map.boxes_of(tile.layout).map_err(self.wrong())?;
        self.check_count("boxes", boxes.len() as i64, tile.layout)?;
        let first = self.coordinates(tile.coords, tile.start)?;
        let attributes = attributes_of(prefetch.op());
        for offsets in boxes {
            let coords = placed(b, tile.map, moved(b, &first, &offsets)?, &first)?;
            let operands = [vec![atom], coords].concat();
            b.op(cute_nvgpu::TMA_PREFETCH, &operands, &[], &attributes)?;
        }
        Ok(true)
    }

    /// The tile that coordinates are; nothing where they are numbers already.
    fn tile(&self, atom: Val<'c>, coords: &[Val<'c>]) -> Result<Option<BoxedTile<'c>>, Failure> {
        let [coords] = *coords else {
            return Ok(None);
        };
        let Some(CuteType::CoordTensor { start, layout }) = CuteType::get(coords.r#type()) else {
            return Ok(None);
        };
        let Some(CuteType::Tma { value, map, .. }) = CuteType::get(atom.r#type()) else {
            return Err(self.b.error("expected an atom of TMA"));
        };
        Ok(Some(BoxedTile {
            coords,
            start,
            layout,
            value: *value,
            map,
        }))
    }

    /// The boxes of a tile: the coordinates of each, and its part of shared memory; nothing where the coordinates are numbers already.
    fn boxes(
        &self,
        atom: Val<'c>,
        coords: &[Val<'c>],
        smem: Val<'c>,
    ) -> Result<Option<Vec<TileBox<'c>>>, Failure> {
        let b = self.b;
        let Some(tile) = self.tile(atom, coords)? else {
            return Ok(None);
        };
        let memref = self.memref(smem)?;
        let boxes = hopper::tma_boxes((tile.value, tile.map), tile.layout, &memref);
        let boxes = boxes.map_err(|e| b.error(e))?;
        self.check_count("boxes", boxes.len() as i64, &memref.layout)?;
        let first = self.coordinates(tile.coords, tile.start)?;
        let alone = boxes.len() == 1;
        let mut all = Vec::new();
        for (offsets, elements) in boxes {
            let coords = placed(b, tile.map, moved(b, &first, &offsets)?, &first)?;
            let part = if alone {
                smem
            } else {
                self.part(smem, &memref, elements, tile.map.size())?
            };
            all.push((coords, part));
        }
        Ok(Some(all))
    }

    /// The coordinates that a tile starts at, as numbers.
    fn coordinates(&self, tile: Val<'c>, start: &IntTuple) -> Result<Vec<Val<'c>>, Failure> {
        let b = self.b;
        let leaves = start.leaves();
        let dynamic: Vec<_> = leaves
            .iter()
            .filter_map(|leaf| match leaf {
                Leaf::Dynamic(leaf) => Some(types::int_type(b.context, leaf.width)),
                _ => None,
            })
            .collect();
        let mut found = Vec::new();
        if !dynamic.is_empty() {
            let iter = b.infer(cute::GET_ITER, &[tile], &[])?;
            let tuple = b.infer(cute::DEREF_ARITH_TUPLE_ITER, &[iter], &[])?;
            let only = [("only_dynamic", b.unit())];
            let scalars = b.op(cute::GET_SCALARS, &[tuple], &dynamic, &only)?;
            found = results_of(scalars);
        }
        let mut found = found.into_iter();
        leaves
            .iter()
            .map(|leaf| match leaf.as_static() {
                Some(known) => b.i32(known),
                None => {
                    let value = found.next().expected(b, "a number for each leaf")?;
                    match value.r#type() == b.i32_type() {
                        true => Ok(value),
                        false => b.value(arith::TRUNCI, &[value], b.i32_type(), &[]),
                    }
                }
            })
            .collect()
    }

    /// So many elements of a tensor in shared memory from a place on, in the order of memory.
    fn part(
        &self,
        smem: Val<'c>,
        memref: &MemRef<'c>,
        elements: i64,
        size: i64,
    ) -> Result<Val<'c>, Failure> {
        let b = self.b;
        let pointer = b.infer(cute::GET_ITER, &[smem], &[])?;
        let offset = b.static_value(types::int_tuple_type(b.context, &int(elements)))?;
        let pointer = b.infer(cute::ADD_OFFSET, &[pointer, offset], &[])?;
        let layout = Layout::leaf(size, 1).map_err(self.wrong())?;
        let align = match CuteType::of(pointer.r#type()) {
            Some(CuteType::Ptr(pointer)) => pointer.align,
            _ => memref.align,
        };
        let part = MemRef {
            align,
            layout: layout.clone(),
            ..memref.clone()
        };
        let layout = b.static_value(types::layout_type(b.context, &layout))?;
        let ty = part.to_type(b.location)?;
        b.value(cute::MAKE_VIEW, &[pointer, layout], ty, &[])
    }

    /// A product by the atom of a warpgroup: false where it is `(mma, D, A, B, D)` already, which goes on as one.
    pub(super) fn warpgroup_product(
        &self,
        mma: Val<'c>,
        [d, a, right, c]: [Val<'c>; 4],
        as_is: bool,
    ) -> Result<bool, Failure> {
        let b = self.b;
        let atom = types::mma_row(mma.r#type()).expected(b, "an MMA atom")?;
        let from = self.memref(a)?.space;
        if atom.frag_kind() == FragKind::Rs && from != Space::Rmem {
            return Err(b.error(format!(
                "expected A in rmem, where {} takes it from, found {from}; copy it into a fragment that cute.mma.make_fragment A makes",
                atom.name
            )));
        }
        if key(d) != key(c) {
            return Err(b.error(format!(
                "expected D and C to be one fragment, as {} adds to its accumulators in place; give C as D, and clear it first",
                atom.name
            )));
        }
        let memrefs = [self.memref(a)?, self.memref(right)?, self.memref(c)?];
        hopper::check_product(mma.r#type(), [&memrefs[0], &memrefs[1], &memrefs[2]])
            .map_err(|e| b.error(e))?;
        if as_is {
            return Ok(false);
        }
        b.op(cute::GEMM, &[mma, d, a, right, c], &[], &[])?;
        Ok(true)
    }
}
