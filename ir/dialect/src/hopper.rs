//! The meaning of SM90's ops: barriers in shared memory, tiles that TMA copies, operands of `wgmma` as descriptors.

mod descriptors;
mod im2col;

use crate::{
    algorithm::{self, Extents},
    types::{self, CuteType, MemRef, Space},
};
use cute_layout::{
    Layout, Swizzle,
    atoms::{Elem, MmaAtom, Source},
    tma::{TmaBox, swizzle_of},
};
use melior::ir::{Location, Type};

pub use cute_layout::descriptor::Steps;
pub(crate) use descriptors::descriptors;
pub use descriptors::{made as made_descriptor, of_partition, units};
pub use im2col::{
    Convolution, coordinates_of_tile, im2col_types, numbers_of_instruction, pixel_modes,
};

/// Bytes that TMA stores at once along the contiguous mode of a tensor, wherever the tensor ends among them. PTX does not say so; an H100 does it for all types.
pub const STORED: i64 = 16;

/// Bytes of an mbarrier.
pub const BARRIER_BYTES: i64 = 8;
/// The blocks of a cluster, at most (PTX ISA, "Cluster of Cooperative Thread Arrays"; 16 where the kernel allows more than 8, which a launch lets it).
pub const MOST_BLOCKS: i64 = 16;

/// Groups of products of warpgroups that may be under way behind a wait for others (PTX ISA, wgmma.wait_group).
pub const GROUPS_UNDER_WAY: std::ops::RangeInclusive<i64> = 0..=7;

/// Checks that so many groups may be under way behind a wait.
pub fn check_pending(pending: i64) -> Result<(), String> {
    match GROUPS_UNDER_WAY.contains(&pending) {
        true => Ok(()),
        false => Err(format!(
            "expected {} to {} groups that may be under way, found {pending}",
            GROUPS_UNDER_WAY.start(),
            GROUPS_UNDER_WAY.end()
        )),
    }
}

/// Sums of 32 bits that a thread sends to another block at once: 16 bytes, the most that `st.async` stores (PTX ISA, st.async).
pub const SENT_AT_ONCE: i64 = 4;

/// Tells whether the products of an atom go on while its threads do, with operands that are descriptors.
pub fn is_asynchronous(atom: &MmaAtom) -> bool {
    atom.sources.contains(&Source::SharedDescriptor)
}

/// Tells whether an atom reads an operand, A or B, in shared memory by a descriptor.
pub(crate) fn is_read_in_place(atom: &MmaAtom, operand: usize) -> bool {
    atom.sources.get(operand) == Some(&Source::SharedDescriptor)
}

/// The number of atoms of an operand in shared memory along M or N, and along K, be it a partition or descriptors of one. Errors: what has no descriptors.
pub(crate) fn atoms_of(
    atom: &MmaAtom,
    operand: usize,
    memref: &MemRef<'_>,
) -> Result<[i64; 2], String> {
    let [first, second] = match memref.space {
        Space::Descriptors => units(memref)?,
        _ => steps(atom, operand, memref)?.bytes,
    };
    Ok([first.len() as i64, second.len() as i64])
}

/// The tensor that a shared tensor is in a block of the cluster. Errors: one that is not in shared memory, or of a layout that only the kernel knows.
pub fn mapped<'c>(tensor: &MemRef<'c>) -> Result<MemRef<'c>, String> {
    if tensor.space != Space::Smem {
        return Err(format!(
            "expected a tensor in smem, which each block of a cluster has at the same place, found one in {}",
            tensor.space
        ));
    }
    if !tensor.layout.is_static() {
        return Err(format!(
            "expected a tensor of a known layout, found {}; take its part of the mapped tensor",
            tensor.layout
        ));
    }
    Ok(MemRef {
        space: Space::Dsmem,
        ..tensor.clone()
    })
}

/// The bytes that a thread stores into a tensor in another block's shared memory: 4, 8 or 16, side by side. Errors: a value that is no such number of bytes, and a
/// tensor that does not take it.
pub fn stored_bytes(value: Type<'_>, to: &MemRef<'_>) -> Result<i64, String> {
    let (length, element) = crate::mlir::vector_of(value).unwrap_or((1, value));
    if to.space != Space::Dsmem || to.swizzle.is_some_and(|s| s.b() > 0) || to.inner.is_some() {
        return Err(format!(
            "expected a tensor in dsmem without a swizzle, as cute_nvgpu.arch.map_dsmem gives it, found one in {}",
            to.space
        ));
    }
    let bytes = length * to.element_bytes();
    if element != to.element || ![4, 8, 16].contains(&bytes) {
        return Err(format!(
            "expected a number or a vector of {} of 4, 8 or 16 bytes, found {value}",
            to.element
        ));
    }
    let flat = to.layout.flat_or("st.async").map_err(|e| e.to_string())?;
    if flat.size() != length || !flat.is_identity() {
        return Err(format!(
            "expected {length} elements side by side, as many as the value has, found {}",
            to.layout
        ));
    }
    if to.align % bytes != 0 {
        return Err(format!(
            "expected a tensor at a multiple of {bytes} bytes, found align<{}>",
            to.align
        ));
    }
    Ok(bytes)
}

/// Checks that a tensor is one of mbarriers, of so many, or with an index; in the block's own shared memory, or in `dsmem`.
pub fn check_barriers(barriers: &MemRef<'_>, space: Space) -> Result<(), String> {
    let is_i64 = barriers.element.to_string() == "i64";
    if barriers.space != space || !is_i64 || barriers.swizzle.is_some() || barriers.inner.is_some()
    {
        return Err(format!(
            "expected mbarriers, a tensor of i64 in {space} without a swizzle such as !cute.memref<i64, {space}, align<8>, \"4:1\">, found one of \
             {} in {}",
            barriers.element, barriers.space
        ));
    }
    if barriers.align % BARRIER_BYTES != 0 {
        return Err(format!(
            "expected mbarriers at multiples of {BARRIER_BYTES} bytes, found align<{}>",
            barriers.align
        ));
    }
    if !barriers.layout.is_static() {
        return Err(format!(
            "expected mbarriers of a known layout, found {}",
            barriers.layout
        ));
    }
    Ok(())
}

/// The layout of a place in shared memory, its swizzle, and the bits of an element, for an atom of TMA of a tensor in global memory.
fn tma_place<'l>(
    tensor: &MemRef<'_>,
    layout: &'l CuteType<'_>,
) -> Result<(&'l Layout, Option<Swizzle>, i64), String> {
    if tensor.space != Space::Gmem || tensor.swizzle.is_some() || tensor.inner.is_some() {
        return Err(format!(
            "expected a tensor in gmem without a swizzle, found one in {}",
            tensor.space
        ));
    }
    let (layout, swizzle) = match layout {
        CuteType::Layout(layout) => (layout, None),
        CuteType::ComposedLayout(composed) => {
            let cute_layout::Inner::Swizzle(swizzle) = composed.inner() else {
                return Err("expected a layout in shared memory, or a swizzle of one".to_owned());
            };
            if composed.offset().as_static() != Some(0) {
                return Err(format!(
                    "expected a swizzled layout that starts at 0, found an offset of {}",
                    composed.offset()
                ));
            }
            (composed.outer(), Some(*swizzle))
        }
        _ => return Err("expected a layout in shared memory".to_owned()),
    };
    let bits = types::element_bits(tensor.element).ok_or("expected elements of a known width")?;
    if !matches!(bits, 8 | 16 | 32 | 64) {
        return Err(format!(
            "expected elements of 8, 16, 32 or 64 bits, which a tensor map has, found {}; move several of them as one element of 8 bits, by cute.recast_iter and cute.recast_layout",
            tensor.element
        ));
    }
    if tensor.align % 16 != 0 {
        return Err(format!(
            "expected a tensor that starts at a multiple of 16 bytes, as TMA asks, found align<{}>; begin a view at such an element, and where only a launch knows that, promise it, as in cute.make_int_tuple(%i) -> !cute.int_tuple<\"?{{div=8}}\">: the launch asks",
            tensor.align
        ));
    }
    Ok((layout, swizzle, bits))
}

/// The box of a TMA atom for a tile of `tensor` that lies in shared memory as `layout` says.
pub fn tma_box(tensor: &MemRef<'_>, layout: &CuteType<'_>) -> Result<TmaBox, String> {
    let (layout, swizzle, bits) = tma_place(tensor, layout)?;
    TmaBox::of(&tensor.layout, layout, swizzle, bits).map_err(|e| e.to_string())
}

/// The dimension of a TMA atom's map along which its box may be that of the last tile, for a tile of `tensor` that lies in shared memory as `layout` says: that of
/// mode `mode`. Errors: a mode that there is not, the contiguous one, and one along which a tile has several boxes.
pub fn rest_of(tensor: &MemRef<'_>, layout: &CuteType<'_>, mode: i64) -> Result<usize, String> {
    let map = tma_box(tensor, layout)?;
    let (place, _, _) = tma_place(tensor, layout)?;
    let tile = usize::try_from(mode)
        .ok()
        .and_then(|mode| place.modes().get(mode)?.size().ok());
    let Some(tile) = tile else {
        return Err(format!(
            "expected a mode of the tensor for the rest, 0 to {}, found {mode}",
            place.rank().saturating_sub(1)
        ));
    };
    let is_of = |dim: &cute_layout::tma::Dim| dim.mode as i64 == mode;
    match map.dims.iter().position(is_of) {
        Some(0) => Err(format!(
            "expected a rest along a mode that is not contiguous, found mode {mode}, which is: leave `rest` out, zeros arrive from outside"
        )),
        Some(dim) if map.dims[dim].extent == tile => Ok(dim),
        found => Err(format!(
            "expected a box that goes through all {tile} elements of a tile along mode {mode}, found one of {}; take smaller tiles, or leave `rest` out",
            found.map_or(1, |dim| map.dims[dim].extent)
        )),
    }
}

/// The types of the atom that moves tiles of `tensor` that lie in shared memory as `layout` says, and of the tensor of its coordinates.
pub fn tma_types<'c>(
    location: Location<'c>,
    tensor: &MemRef<'c>,
    layout: &CuteType<'c>,
    stores: bool,
) -> Result<(Type<'c>, Type<'c>), String> {
    let map = tma_box(tensor, layout)?;
    if stores {
        check_lines(tensor, &map)?;
    }
    let atom = types::tma_type(location, tensor.element, &map, stores)
        .map_err(|_| "has no atom".to_owned())?;
    let start = cute_layout::tuple(map.dims.iter().map(|_| cute_layout::int(0)));
    let coordinates = map.coordinates(&tensor.layout).map_err(|e| e.to_string())?;
    let coordinates = types::coord_tensor_type(location, &start, &coordinates)
        .map_err(|_| "has no coordinates".to_owned())?;
    Ok((atom, coordinates))
}

/// Checks that the lines of a tensor that TMA stores are of whole [`STORED`] bytes, as far as it is known.
fn check_lines(tensor: &MemRef<'_>, map: &TmaBox) -> Result<(), String> {
    let mode = map.dims.first().map(|dim| dim.mode);
    let leaves = tensor.layout.shape().leaves();
    let extent = mode.and_then(|mode| leaves.get(mode)?.as_static());
    let bytes = tensor.element_bytes();
    match extent {
        Some(extent) if extent * bytes % STORED != 0 => Err(format!(
            "expected lines of whole {STORED} bytes, all of which TMA stores, found {extent} elements of {bytes}: it would write over what is behind them; \
             store them by threads, or make lines longer"
        )),
        _ => Ok(()),
    }
}

/// The coordinates, counted from those of the tile, and the elements from the start of shared memory, of each box of a tile.
///
/// Errors: a tile that is not whole boxes; another swizzle than the atom writes; a start that the swizzle does not begin at.
pub fn tma_boxes(
    (value, map): (Type<'_>, &TmaBox),
    tile: &Layout,
    smem: &MemRef<'_>,
) -> Result<Vec<(Vec<i64>, i64)>, String> {
    check_tma_memory((value, map), smem)?;
    let boxes = map.boxes(tile, &smem.layout).map_err(|e| e.to_string())?;
    let size = map.size();
    Ok(boxes.into_iter().zip((0..).map(|i| i * size)).collect())
}

/// Checks that a tensor in shared memory is one that the atom fills or empties, but for its layout.
pub fn check_tma_memory(
    (value, map): (Type<'_>, &TmaBox),
    smem: &MemRef<'_>,
) -> Result<(), String> {
    if smem.element != value {
        return Err(format!(
            "expected elements of {value}, as the atom moves, found {}",
            smem.element
        ));
    }
    if smem.space != Space::Smem {
        return Err(format!(
            "expected a tile in smem, found one in {}",
            smem.space
        ));
    }
    let expected = swizzle_of(map.swizzle);
    let found = smem.swizzle.filter(|swizzle| swizzle.b() > 0);
    if smem.inner.is_some() || found != expected {
        let name = |swizzle: Option<cute_layout::Swizzle>| {
            swizzle.map_or("none".to_owned(), |s| s.to_string())
        };
        return Err(format!(
            "expected a tile with the swizzle of the atom, {}, found {}; make the atom of the layout that the tile has",
            name(expected),
            name(found)
        ));
    }
    // The pattern begins with the tile, so that a box fills what the layout says (PTX ISA, "Swizzling modes").
    let align = expected.map_or(128, |swizzle| swizzle.period().max(128));
    if smem.align % align != 0 {
        return Err(format!(
            "expected a tile that starts at a multiple of {align} bytes, found align<{}>; allocate it with align<{align}>",
            smem.align
        ));
    }
    Ok(())
}

/// Checks that TMA reduces elements of a type so (PTX ISA, cp.reduce.async.bulk.tensor). Errors: what it does not, with what it does.
pub fn check_reduction(name: &str, element: Type<'_>) -> Result<(), String> {
    let elem = types::elem(element)?;
    let has: &[&str] = match elem {
        Elem::F32 => &["add"],
        Elem::F16 | Elem::BF16 => &["add", "min", "max"],
        Elem::I32 => &["add", "min", "max", "and", "or", "xor"],
        _ => &[],
    };
    match has {
        [] => Err(format!(
            "expected elements that TMA reduces, f16, bf16, f32 or i32, found {elem}; store them, or reduce by atomic operations of threads"
        )),
        _ if has.contains(&name) => Ok(()),
        _ => Err(format!(
            "expected a reduction that TMA has for {elem}, {}, found \"{name}\"",
            has.join(", ")
        )),
    }
}

/// The memory of source and destination of a bulk copy that an mbarrier tells of: from global to shared memory, or from shared memory to that of a block of the cluster.
pub fn bulk_spaces(from: &MemRef<'_>) -> (Space, Space) {
    match from.space {
        Space::Smem => (Space::Smem, Space::Dsmem),
        _ => (Space::Gmem, Space::Smem),
    }
}

/// Bytes that a bulk copy moves between two tensors of these spaces. Errors: tensors that are not one run of bytes each, in one order.
pub fn bulk_bytes(sides: [(&MemRef<'_>, Space); 2]) -> Result<i64, String> {
    let mut sizes = Vec::new();
    for (memref, space) in sides {
        if memref.space != space
            || memref.swizzle.is_some_and(|s| s.b() > 0)
            || memref.inner.is_some()
        {
            return Err(format!(
                "expected a tensor in {space} without a swizzle, found one in {}; a tensor map swizzles: cute_nvgpu.tma_load",
                memref.space
            ));
        }
        let flat = memref
            .layout
            .flat_or("bulk copy")
            .map_err(|e| e.to_string())?;
        if !flat.is_identity() {
            return Err(format!(
                "expected contiguous elements in the order of memory, found {}; copy a row at a time, or by a tensor map",
                memref.layout
            ));
        }
        if memref.align % 16 != 0 {
            return Err(format!(
                "expected tensors at multiples of 16 bytes, found align<{}> in {}",
                memref.align, memref.space
            ));
        }
        let bytes = flat.size().saturating_mul(memref.element_bytes());
        sizes.push((bytes, memref.element));
    }
    match sizes[..] {
        [one, other] if one != other => Err(format!(
            "expected as many elements of one type on both sides, found {} bytes of {} and {} of {}",
            one.0, one.1, other.0, other.1
        )),
        [(bytes, _), _] if bytes % 16 != 0 || bytes >= 1 << 20 => Err(format!(
            "expected a multiple of 16 bytes below 2^20, as an mbarrier counts, found {bytes}"
        )),
        [(bytes, _), _] => Ok(bytes),
        _ => Err("expected two tensors".to_owned()),
    }
}

/// The descriptors of an operand's partition in shared memory. Errors: what has none, with what would.
pub fn steps(atom: &MmaAtom, operand: usize, memref: &MemRef<'_>) -> Result<Steps, String> {
    let name = ["A", "B"][operand.min(1)];
    if memref.space != Space::Smem {
        return Err(format!("expected {name} in smem, found {}", memref.space));
    }
    if memref.inner.is_some() || !memref.layout.is_static() {
        return Err(format!(
            "expected {name} of a known layout with the swizzle on its pointer, found {}",
            memref.layout
        ));
    }
    let steps = Steps::of(atom, operand, &memref.layout, memref.swizzle)
        .map_err(|e| format!("{name}: {e}"))?;
    // Where the pattern begins, bits of the address that are exchanged are those of the rows: the field "base offset" is 0.
    let period = memref
        .swizzle
        .map_or(16, |swizzle| swizzle.period().max(16));
    if memref.align % period != 0 {
        return Err(format!(
            "expected {name} to start at a multiple of {period} bytes, where its swizzle begins, found align<{}>; take whole tiles of \
             K, whose steps cute.gemm takes itself, and allocate the tensor with align<{period}>",
            memref.align
        ));
    }
    Ok(steps)
}

/// The sizes of the first modes of A, B and C of a product: the values of an atom, or one descriptor of them.
pub(crate) fn values_of(mut values: [i64; 3], operands: [&MemRef<'_>; 2]) -> [i64; 3] {
    for (value, operand) in values.iter_mut().zip(operands) {
        if operand.space == Space::Descriptors {
            *value = 1;
        }
    }
    values
}

/// Checks a product of a warpgroup, whose operands in shared memory are descriptors, and returns its extents.
pub fn check_product(ty: Type<'_>, [a, b, c]: [&MemRef<'_>; 3]) -> Result<Extents, String> {
    let product = algorithm::product_of(ty).ok_or("expected an MMA atom or a tiled MMA")??;
    let values = values_of(product.values, [a, b]);
    let extents = algorithm::product_extents([&a.layout, &b.layout, &c.layout], values)?;
    if is_read_in_place(&product.atom, 0) {
        atoms_of(&product.atom, 0, a)?;
    }
    atoms_of(&product.atom, 1, b)?;
    Ok(extents)
}
