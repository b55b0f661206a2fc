//! Tensor maps, the atoms that are made of them, and copies by these.

use crate::{
    algorithms::{Arrival, start_load},
    launch::launches_of,
};
use cute_ir::{
    Expected, Failure,
    args::{CopyArgs, ThreadCopy},
    diag, hopper,
    mlir::*,
    ops::{cute, cute_nvgpu, gpu},
    types::{self, CuteType, MemRef},
};
use cute_layout::{Inner, IntTuple, Layout, Leaf};
use melior::ir::{Type, ValueLike, operation::OperationLike};
use std::collections::HashMap;

/// Makes the atoms of tensor maps in the functions that launch.
pub(super) fn make_maps<'c>(rewriter: &Rewriter<'c>, module: Op<'c>) -> Result<(), Failure> {
    for op in nested_ops(module) {
        let (tensor, layout, tile, name) = if let Some(make) =
            cute_nvgpu::AtomMakeNonExecTiledTmaLoad::of(op)
        {
            if integer_of(op, "num_multicast") != Some(1) {
                return Err(Builder::before(op).error(
                        "expected num_multicast = 1, one block for each tile, found more; make the atom by cute_nvgpu.atom.make_tma_load, and load for several \
                         blocks by cute_nvgpu.tma_load with multicast(%mask)",
                    ));
            }
            let name = cute_nvgpu::ATOM_MAKE_TMA_LOAD;
            (make.tensor(), make.layout(), make.tile(), name)
        } else if let Some(make) = cute_nvgpu::AtomMakeNonExecTiledTmaStore::of(op) {
            let name = cute_nvgpu::ATOM_MAKE_TMA_STORE;
            (make.tensor(), make.layout(), make.tile(), name)
        } else {
            continue;
        };
        let b = Builder::before(op);
        let place = place_of_tile(b, [tensor, layout, tile])?;
        let memref = types::memref_of(tensor).expected(b, "a tensor")?;
        let layout = CuteType::get(place.r#type()).expected(b, "a layout")?;
        let stores = name == cute_nvgpu::ATOM_MAKE_TMA_STORE;
        let (atom, coords) =
            hopper::tma_types(b.location, &memref, layout, stores).map_err(|e| b.error(e))?;
        let made = b.op(name, &[tensor, place], &[atom, coords], &[])?;
        for (old, new) in results_of(op).into_iter().zip(results_of(made)) {
            let is_map = matches!(
                CuteType::get(old.r#type()),
                Some(CuteType::TensorMap { .. })
            );
            if !is_map && old.r#type() != new.r#type() {
                return Err(b.error(format!(
                    "expected the coordinates {}, found {}",
                    new.r#type(),
                    old.r#type()
                )));
            }
            check_box(b, old.r#type(), new.r#type())?;
            replace_uses(old, new);
        }
        rewriter.erase(op)?;
    }
    Ok(())
}

/// Checks that an atom has the box that a map says.
fn check_box(b: Builder<'_>, map: Type<'_>, atom: Type<'_>) -> Result<(), Failure> {
    match (CuteType::get(map), CuteType::get(atom)) {
        (
            Some(CuteType::TensorMap { map, value, .. }),
            Some(CuteType::Tma {
                map: of_atom,
                value: moved,
                ..
            }),
        ) if map.dims != of_atom.dims || value != moved => Err(b.error(format!(
            "expected a tensor map of the box of {atom}, which follows from the tensor and the layout, found another one",
        ))),
        _ => Ok(()),
    }
}

/// The layout in shared memory of a tile of a tensor, with a mode for each of the tensor's. Errors: a tile that does not go through the first modes of the tensor, one after the other.
fn place_of_tile<'c>(
    b: Builder<'c>,
    [tensor, layout, tile]: [Val<'c>; 3],
) -> Result<Val<'c>, Failure> {
    let text = |e: cute_layout::LayoutError| b.error(e.to_string());
    let memref = types::memref_of(tensor).expected(b, "a tensor")?;
    let rank = memref.layout.rank();
    let (swizzle, place) = match CuteType::of(layout.r#type()) {
        Some(CuteType::Layout(layout)) => (None, layout),
        Some(CuteType::ComposedLayout(composed)) => match composed.inner() {
            Inner::Swizzle(swizzle) => (
                Some((*swizzle, composed.offset().clone())),
                composed.outer().clone(),
            ),
            Inner::Layout(_) => {
                return Err(b.error("expected a layout in shared memory, or a swizzle of one"));
            }
        },
        _ => return Err(b.error("expected a layout in shared memory")),
    };
    let Some(CuteType::Layout(tile)) = CuteType::of(tile.r#type()) else {
        return Err(b.error("expected the layout from a tile to the modes of the tensor"));
    };
    let mut modes = place.modes();
    let is_mode = |(at, mode): (usize, &Layout)| {
        let step = match mode.stride() {
            IntTuple::Leaf(Leaf::Basis { value, path }) => {
                value.is(1) && matches!(path[..], [mode] if usize::from(mode) == at)
            }
            _ => false,
        };
        let size = |layout: &Layout| layout.size().ok();
        step && size(mode) == modes.get(at).and_then(size)
    };
    let of_tile = tile.modes();
    if of_tile.len() != modes.len() || !of_tile.iter().enumerate().all(is_mode) {
        return Err(b.error(format!(
            "expected a tile that goes through modes of the tensor in order, such as (128,64):(1@0,1@1) for a place of 128 by 64, found {tile} for {place}; make the atom by \
             cute_nvgpu.atom.make_tma_load of a view of the tensor with these modes"
        )));
    }
    while modes.len() < rank {
        modes.push(Layout::leaf(1, 0).map_err(text)?);
    }
    let place = Layout::from_modes(&modes).map_err(text)?;
    b.static_value(types::composed_type(b.context, swizzle.as_ref(), &place))
}

/// Makes copies by the atoms of a kernel's maps what they are here.
pub(super) fn copies<'c>(
    rewriter: &Rewriter<'c>,
    module: Op<'c>,
    kernel: Op<'c>,
) -> Result<(), Failure> {
    let Some(body) = body_of(kernel, 0) else {
        return Ok(());
    };
    let arguments = arguments_of(body);
    let is_map = |value: &Val<'c>| {
        matches!(
            CuteType::get(value.r#type()),
            Some(CuteType::TensorMap { .. })
        )
    };
    if arguments.iter().any(is_map) {
        take_atoms(module, kernel, &arguments)?;
    }
    let mut on = HashMap::new();
    for op in nested_ops(kernel) {
        let b = Builder::before(op);
        if let Some(exec) = cute_nvgpu::AtomMakeExecTma::of(op) {
            replace_uses(exec.atom(), exec.map());
            rewriter.erase(op)?;
        } else if let Some(set) = cute_nvgpu::AtomSetValue::of(op)
            && is_atom(set.atom())
        {
            let field = attribute_of(op, "field").map(|field| field.to_string());
            match field.as_deref() {
                Some("#cute_nvgpu.atom_copy_field_tmaload<tma_bar>") => {
                    on.insert(key(set.result()), (set.atom(), set.value()));
                }
                field => {
                    return Err(b.error(format!(
                        "expected field = #cute_nvgpu.atom_copy_field_tmaload<tma_bar>, the mbarrier of a load, found {}; of a policy of L2, write cute_nvgpu.tma_load \
                         with policy \"evict_first\" or its like",
                        field.unwrap_or("none")
                    )));
                }
            }
        } else if let Some(CopyArgs::Thread(args)) = CopyArgs::of(op)
            && (is_atom(args.copy) || on.contains_key(&key(args.copy)))
        {
            copy(b, args, on.get(&key(args.copy)).copied())?;
            rewriter.erase(op)?;
        } else if let Some(partition) = cute_nvgpu::AtomTmaPartition::of(op) {
            divide(b, partition)?;
            rewriter.erase(op)?;
        }
    }
    // Each was followed to the copies by it.
    for op in nested_ops(kernel).into_iter().rev() {
        if let Some(set) = cute_nvgpu::AtomSetValue::of(op)
            && on.contains_key(&key(set.result()))
        {
            if is_used(set.result()) {
                return Err(Builder::before(op).error(
                    "expected an atom with an mbarrier that only cute.copy takes, found another use of it; set the mbarrier where it is copied",
                ));
            }
            rewriter.erase(op)?;
        }
    }
    Ok(())
}

/// Tells whether a value is an atom of TMA.
fn is_atom(value: Val<'_>) -> bool {
    matches!(
        CuteType::get(value.r#type()),
        Some(CuteType::Tma { .. } | CuteType::TensorMap { .. })
    )
}

/// Gives the arguments of a kernel that are maps the types of the atoms that launches pass.
fn take_atoms<'c>(module: Op<'c>, kernel: Op<'c>, arguments: &[Val<'c>]) -> Result<(), Failure> {
    let launches = launches_of(module, kernel);
    for (at, argument) in arguments.iter().enumerate() {
        let Some(CuteType::TensorMap { .. }) = CuteType::get(argument.r#type()) else {
            continue;
        };
        let mut passed = launches.iter().filter_map(|launch| {
            let operand = *gpu::LaunchFunc::of(*launch)?.kernel_operands().get(at)?;
            Some((*launch, operand.r#type()))
        });
        let Some((launch, ty)) = passed.next() else {
            return Err(diag::error(
                location_of(*argument),
                format!(
                    "expected a gpu.launch_func of the kernel in the module, whose tensor map says how argument {at} is swizzled; or write the argument as \
                     !cute_nvgpu.atom.tma_load, which says it itself"
                ),
            ));
        };
        if let Some((other, different)) = passed.find(|(_, other)| *other != ty) {
            return Err(diag::error_with_notes(
                other.location(),
                format!(
                    "expected the atom {ty} as argument {at}, as another launch passes, found {different}"
                ),
                &[(launch.location(), "the other launch is here")],
            ));
        }
        let Some(CuteType::Tma { .. }) = CuteType::get(ty) else {
            return Err(diag::error(
                launch.location(),
                format!(
                    "expected an atom that cute_nvgpu.atom.make_non_exec_tiled_tma_load or its like gives as argument {at}, found {ty}"
                ),
            ));
        };
        check_box(Builder::before(launch), argument.r#type(), ty)?;
        set_type(*argument, ty);
    }
    let inputs: Vec<_> = arguments.iter().map(|value| value.r#type()).collect();
    let b = Builder::before(kernel);
    let ty = function_type(b.context, &inputs, &[]);
    set_attribute(kernel, "function_type", b.type_attribute(ty));
    Ok(())
}

/// A copy by an atom of TMA, of a load with the mbarrier that it has.
fn copy<'c>(
    b: Builder<'c>,
    args: ThreadCopy<'c>,
    on: Option<(Val<'c>, Val<'c>)>,
) -> Result<(), Failure> {
    let ThreadCopy {
        copy,
        source,
        destination,
        predicate,
    } = args;
    let atom = on.map_or(copy, |(atom, _)| atom);
    let Some(CuteType::Tma { stores, .. }) = CuteType::get(atom.r#type()) else {
        return Err(b.error(
            "expected an atom whose tensor map a launch passes to this kernel, through no loop and no function",
        ));
    };
    if predicate.is_some() {
        return Err(b.error(
            "expected a copy of a whole tile by TMA, found one with predicates; what is outside of the tensor is zeros, or not stored",
        ));
    }
    match (*stores, on) {
        (true, _) => {
            let operands = [atom, source, destination];
            b.op(cute_nvgpu::TMA_STORE, &operands, &[], &[])?;
            Ok(())
        }
        (false, None) => Err(b.error(
            "expected the atom with the mbarrier on which its bytes count, as cute_nvgpu.atom.set_value gives it: {field = #cute_nvgpu.atom_copy_field_tmaload<tma_bar>}",
        )),
        (false, Some((_, barrier))) => {
            let arrival = Arrival {
                barrier: Some((barrier, b.i32(0)?)),
                mask: None,
                rest: None,
                policy: None,
            };
            start_load(b, atom, &[source], destination, arrival)
        }
    }
}

/// The tile of a `tma_partition` in shared memory, and its coordinates, as views.
fn divide<'c>(b: Builder<'c>, partition: cute_nvgpu::AtomTmaPartition<'c>) -> Result<(), Failure> {
    let text = |e: cute_layout::LayoutError| b.error(e.to_string());
    let blocks = match CuteType::of(partition.blocks().r#type()) {
        Some(CuteType::Layout(layout)) => layout.size().map_err(text)?,
        _ => 0,
    };
    if blocks != 1 {
        return Err(b.error(format!(
            "expected one block for a tile, 1:0, found {}; load for several blocks by cute_nvgpu.tma_load with multicast(%mask)",
            partition.blocks().r#type()
        )));
    }
    let smem = types::memref_of(partition.smem()).expected(b, "a tensor")?;
    let whole = first(b, &smem.layout)?;
    let order = whole.right_inverse().map_err(text)?;
    if order.size().map_err(text)? != whole.size().map_err(text)? {
        return Err(b.error(format!(
            "expected a tile without gaps as mode 0 in shared memory, found {whole}; give the tile of one copy a mode of its own, by cute.group_modes"
        )));
    }
    let (
        Some(CuteType::CoordTensor { layout: found, .. }),
        Some(CuteType::CoordTensor { layout, .. }),
    ) = (
        CuteType::of(partition.coords_part().r#type()),
        CuteType::of(partition.coords().r#type()),
    )
    else {
        return Err(b.error("expected coordinates"));
    };
    let part = types::memref_of(partition.smem_part()).expected(b, "a tensor")?;
    // The order of shared memory, which is that of the box.
    let ordered = |layout: &Layout| -> Result<Layout, Failure> {
        let first = first(b, layout)?.composition(&order).map_err(text)?;
        first.coalesce().map_err(text)
    };
    check_ordered(
        b,
        "shared memory",
        (&smem.layout, &part.layout),
        ordered(&smem.layout)?,
    )?;
    check_ordered(b, "the coordinates", (&layout, &found), ordered(&layout)?)?;
    for (from, to) in [
        (partition.smem(), partition.smem_part()),
        (partition.coords(), partition.coords_part()),
    ] {
        let view = seen_as(b, from, to.r#type())?;
        replace_uses(to, view);
    }
    Ok(())
}

/// Mode 0 of a layout.
fn first(b: Builder<'_>, layout: &Layout) -> Result<Layout, Failure> {
    layout.mode(0).map_err(|e| b.error(e.to_string()))
}

/// Checks that mode 0 of a part is that of the tile in order, and the rest what it was.
fn check_ordered(
    b: Builder<'_>,
    what: &str,
    (layout, part): (&Layout, &Layout),
    expected: Layout,
) -> Result<(), Failure> {
    let found = first(b, part)?
        .coalesce()
        .map_err(|e| b.error(e.to_string()))?;
    let rest = |layout: &Layout| -> Vec<String> {
        let rest = layout.modes().into_iter().skip(1);
        rest.map(|mode| mode.without_unit_strides().to_string())
            .collect()
    };
    if found.to_string() != expected.to_string() || rest(layout) != rest(part) {
        return Err(b.error(format!(
            "expected {what} of {layout} with {expected} as mode 0 and the other modes as they are, found {part}"
        )));
    }
    Ok(())
}

/// The memory at a tensor's start, seen as a tensor of a type whose layout has the same dynamic numbers.
fn seen_as<'c>(b: Builder<'c>, from: Val<'c>, ty: Type<'c>) -> Result<Val<'c>, Failure> {
    let layout = match CuteType::of(ty) {
        Some(CuteType::MemRef(MemRef { layout, .. }) | CuteType::CoordTensor { layout, .. }) => {
            layout
        }
        _ => return Err(b.error("expected a tensor")),
    };
    let start = b.infer(cute::GET_ITER, &[from], &[])?;
    let value = match layout.is_static() {
        true => b.static_value(types::layout_type(b.context, &layout))?,
        false => {
            let of = b.infer(cute::GET_LAYOUT, &[from], &[])?;
            let widths: Vec<_> = [layout.shape(), layout.stride()]
                .into_iter()
                .flat_map(|part| part.leaves())
                .filter_map(|leaf| match leaf {
                    Leaf::Dynamic(leaf) => Some(types::int_type(b.context, leaf.width)),
                    _ => None,
                })
                .collect();
            let only = [("only_dynamic", b.unit())];
            let numbers = results_of(b.op(cute::GET_SCALARS, &[of], &widths, &only)?);
            let in_shape = layout.shape().leaves();
            let in_shape = in_shape
                .iter()
                .filter(|leaf| matches!(leaf, Leaf::Dynamic(_)));
            let (of_shape, of_stride) = numbers.split_at(in_shape.count());
            let shape = types::shape_type(b.context, layout.shape());
            let shape = b.value(cute::MAKE_SHAPE, of_shape, shape, &[])?;
            let stride = types::value_type(
                b.context,
                &cute_layout::ops::Value::Stride(layout.stride().clone()),
            );
            let stride = b.value(cute::MAKE_STRIDE, of_stride, stride, &[])?;
            let ty = types::layout_type(b.context, &layout);
            b.value(cute::MAKE_LAYOUT, &[shape, stride], ty, &[])?
        }
    };
    b.value(cute::MAKE_VIEW, &[start, value], ty, &[])
}
