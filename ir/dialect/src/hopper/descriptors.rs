//! Descriptors as views: what of a tensor in shared memory a descriptor says, and which offsets a view of several has.

use super::is_read_in_place;
use crate::{
    mlir::{Op, attribute_of},
    ops::cute_nvgpu,
    types::{self, CuteType, MemRef, Space},
};
use cute_layout::{
    Layout,
    atoms::{Major, MmaAtom},
    descriptor::{Descriptor, GRANULE, MOST_ATOMS, Operand, modes_of},
};
use melior::{Context, ir::ValueLike};

/// Bits of what a descriptor counts in.
const UNIT_BITS: i64 = 8 * GRANULE;

/// The descriptors of a partition in shared memory, where a product reads that operand of it there; nothing of others. Errors: a partition that has none, with what would.
pub(crate) fn descriptors<'c>(
    context: &'c Context,
    mma: &CuteType<'c>,
    partition: &MemRef<'c>,
    operand: i64,
) -> Result<Option<MemRef<'c>>, String> {
    let atom = match mma {
        CuteType::TiledMma { atom, .. } => types::mma_row(*atom),
        CuteType::MmaAtom { atom, .. } => Some(atom.clone()),
        _ => None,
    };
    let (Some(atom), Ok(operand)) = (atom, usize::try_from(operand)) else {
        return Ok(None);
    };
    if partition.space != Space::Smem || !is_read_in_place(&atom, operand) {
        return Ok(None);
    }
    let (_, layout) = of_partition(&atom, operand, partition)?;
    let descriptor = types::smem_desc_type(context);
    Ok(Some(MemRef::descriptors(descriptor, layout)))
}

/// The descriptor of the first atom of a partition in shared memory, and the layout of all of them in units of 16 bytes. Errors: a partition that has none, with what would.
pub fn of_partition(
    atom: &MmaAtom,
    operand: usize,
    partition: &MemRef<'_>,
) -> Result<(Descriptor, Layout), String> {
    let name = ["A", "B"][operand.min(1)];
    let text = |e: cute_layout::LayoutError| e.to_string();
    check_known(partition, name)?;
    let modes = partition.layout.modes();
    let values = modes.first().ok_or("expected modes (V,M,K)")?;
    let found = Descriptor::of_atom(atom, operand, values, partition.swizzle)
        .map_err(|e| format!("{name}: {e}"))?;
    check_start(partition)?;
    let bytes = partition.element_bytes();
    let mut all = vec![Layout::leaf(1, 0).map_err(text)?];
    for mode in &modes[1..] {
        found.starts(mode, &partition.layout, bytes, partition.swizzle)?;
        all.push(mode.recast(8 * bytes, UNIT_BITS).map_err(text)?);
    }
    Ok((found, Layout::from_modes(&all).map_err(text)?))
}

fn check_known(tensor: &MemRef<'_>, name: &str) -> Result<(), String> {
    if tensor.inner.is_some() || !tensor.layout.is_static() {
        return Err(format!(
            "expected {name} of a known layout with the swizzle on its pointer, found {}",
            tensor.layout
        ));
    }
    Ok(())
}

/// Checks that a tensor starts where the pattern of its swizzle does: the field "base offset" is 0.
fn check_start(tensor: &MemRef<'_>) -> Result<(), String> {
    let period = tensor.swizzle.map_or(GRANULE, |s| s.period().max(GRANULE));
    if tensor.align % period != 0 {
        return Err(format!(
            "expected a start at a multiple of {period} bytes, where its swizzle begins, found align<{}>; make the descriptor of the whole tensor, which is aligned so, \
             and step from there by cute.add_offset or cute.slice",
            tensor.align
        ));
    }
    Ok(())
}

/// The descriptor that an op makes of a pointer, a layout and a major mode. Errors: a layout that is none of the canonical ones, with one that is.
pub fn made(op: cute_nvgpu::MakeGmmaSmemDesc<'_>) -> Result<Descriptor, String> {
    let Some(CuteType::Ptr(pointer)) = CuteType::of(op.iter().r#type()) else {
        return Err("expected a pointer into shared memory".to_owned());
    };
    if pointer.space != Space::Smem {
        return Err(format!(
            "expected a pointer into smem, where wgmma reads its operands, found one into {}",
            pointer.space
        ));
    }
    let layout = text_of(op.op(), "layout", "#cute.layout<\"", "\">")?;
    let layout: Layout = layout
        .parse()
        .map_err(|e| format!("expected a layout: {e}"))?;
    let major = match &*text_of(op.op(), "major", "#cute_nvgpu.major<", ">")? {
        "k" => Major::K,
        "mn" => Major::Mn,
        other => return Err(format!("expected major = <k> or <mn>, found <{other}>")),
    };
    let tensor = MemRef { layout, ..pointer };
    check_known(&tensor, "an operand")?;
    let modes = tensor.layout.modes();
    let values = modes.first().ok_or("expected modes (V,M,K)")?;
    let of_values = values.modes();
    let sizes: Vec<i64> = of_values
        .iter()
        .filter_map(|mode| mode.size().ok())
        .collect();
    let bits = 8 * tensor.element_bytes();
    let [mn, k] = sizes[..] else {
        return Err(format!(
            "expected the operand of an atom as the first mode, such as ((64,16),2,4):((64,1),4096,16), found {}; partition the tensor by the tiled MMA",
            tensor.layout
        ));
    };
    let found = Descriptor::of(Operand {
        layout: values,
        mn,
        k,
        bits,
        major,
        swizzle: tensor.swizzle,
    });
    let found = found.map_err(|e| e.to_string())?;
    check_start(&tensor)?;
    for mode in &modes[1..] {
        found.starts(mode, &tensor.layout, tensor.element_bytes(), tensor.swizzle)?;
    }
    Ok(found)
}

/// The text between the brackets of an attribute of an op.
fn text_of(op: Op<'_>, name: &str, begin: &str, end: &str) -> Result<String, String> {
    let found = attribute_of(op, name).map(|attribute| attribute.to_string());
    let text = found.as_deref().and_then(|text| {
        let text = text.strip_prefix(begin)?;
        text.strip_suffix(end)
    });
    match text {
        Some(text) => Ok(text.to_owned()),
        None => Err(format!("expected {name} = {begin}...{end}")),
    }
}

/// Units of 16 bytes from the start of a view of descriptors to each atom along M or N, and along K. Errors: a view that is none of (1,M,K).
pub fn units(view: &MemRef<'_>) -> Result<[Vec<i64>; 2], String> {
    if !view.layout.is_static() {
        return Err(format!(
            "expected descriptors of a known layout, found {}",
            view.layout
        ));
    }
    let [_, first, second] = modes_of(&view.layout)?;
    let offsets = |mode: &Layout| -> Result<Vec<i64>, String> {
        let flat = mode.flat_or("wgmma").map_err(|e| e.to_string())?;
        if flat.size() > MOST_ATOMS {
            return Err(format!(
                "expected at most {MOST_ATOMS} descriptors along a mode, found {mode}"
            ));
        }
        Ok((0..flat.size()).map(|i| flat.at(i)).collect())
    };
    Ok([offsets(&first)?, offsets(&second)?])
}
