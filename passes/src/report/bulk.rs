//! Copies by TMA and in bulk, and products that read by descriptors: what one instruction moves or reads, and what that costs memory.
//!
//! None of them is of threads. The box of a copy and the arrangement of an operand stand in their types; the atom of a copy is made by whoever launches the kernel, of a
//! tensor whose strides say where rows begin.

use super::{Range, threads::counted};
use crate::launch::launches_of;
use cute_arith::gcd;
use cute_ir::{
    args::{GemmArgs, PartitionArgs},
    attributes::CLUSTER,
    hopper::{self, Steps},
    mlir::*,
    names::builtin,
    ops::{cute_nvgpu, gpu},
    types::{self, CuteType, MemRef, Space, memref_of},
};
use cute_layout::{IntTuple, Leaf, atoms::MmaAtom, tma::TmaBox};
use cute_target::sectors::{LINE_BYTES, SECTOR_BYTES, sectors_and_lines_of_run};
use melior::ir::ValueLike;
use std::collections::BTreeSet;

/// Bytes that tensors of global memory are taken to begin at multiples of: those of a line.
const BASE: i64 = LINE_BYTES as i64;
/// Bytes that a row of a box begins at a multiple of, whatever is known.
const LEAST: i64 = cute_layout::tma::GRANULE;

/// The kind of a copy that no threads make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopyKind {
    /// A load by a tensor map.
    TmaLoad,
    /// A store by a tensor map.
    TmaStore,
    /// A reduction by a tensor map.
    TmaReduction,
    /// A prefetch into L2 by a tensor map.
    TmaPrefetch,
    /// A load of bytes in a row.
    BulkLoad,
    /// A copy of bytes in a row to another block.
    BulkToBlock,
    /// A store of bytes in a row.
    BulkStore,
    /// A prefetch of bytes in a row into L2.
    BulkPrefetch,
}

impl CopyKind {
    /// The name of the kind in reports.
    pub fn name(self) -> &'static str {
        match self {
            CopyKind::TmaLoad => "TMA load",
            CopyKind::TmaStore => "TMA store",
            CopyKind::TmaReduction => "TMA reduction",
            CopyKind::TmaPrefetch => "TMA prefetch",
            CopyKind::BulkLoad => "bulk load",
            CopyKind::BulkToBlock => "bulk copy to another block",
            CopyKind::BulkStore => "bulk store",
            CopyKind::BulkPrefetch => "bulk prefetch",
        }
    }

    /// The name of the instruction in PTX.
    pub fn instruction(self) -> &'static str {
        match self {
            CopyKind::TmaLoad | CopyKind::TmaStore => "cp.async.bulk.tensor",
            CopyKind::TmaReduction => "cp.reduce.async.bulk.tensor",
            CopyKind::TmaPrefetch => "cp.async.bulk.prefetch.tensor",
            CopyKind::BulkLoad | CopyKind::BulkToBlock | CopyKind::BulkStore => "cp.async.bulk",
            CopyKind::BulkPrefetch => "cp.async.bulk.prefetch",
        }
    }

    /// Tells whether shared memory is read or written.
    fn is_shared(self) -> bool {
        !matches!(self, CopyKind::TmaPrefetch | CopyKind::BulkPrefetch)
    }
}

/// The cost of an op that has TMA copy.
#[derive(Clone, Debug)]
pub struct Copies {
    /// The kind of copy.
    pub kind: CopyKind,
    /// The copies that the op is.
    pub copies: usize,
    /// Bytes of one copy.
    pub bytes: i64,
    /// The box of one that has a tensor map.
    pub of_box: Option<BoxOf>,
    /// The rows of a copy in global memory, each a run of bytes; none of a copy between blocks.
    pub rows: Option<Rows>,
    /// Passes over the banks of shared memory of a copy, and the fewest; none where shared memory takes no part.
    pub passes: Option<[u32; 2]>,
    /// The blocks that a copy goes to together; none of a copy to one.
    pub multicast: Option<Blocks>,
}

/// The box of a tensor map.
#[derive(Clone, Debug)]
pub struct BoxOf {
    /// The elements along each dimension, the contiguous one first.
    pub extents: Vec<i64>,
    /// The type of an element.
    pub element: String,
    /// Bytes that the swizzle of shared memory spans; 0 of none.
    pub swizzle: i64,
    /// Tells whether it is a column of pixels.
    pub is_im2col: bool,
}

/// Rows of global memory that a copy goes through.
#[derive(Clone, Copy, Debug)]
pub struct Rows {
    /// The number of rows.
    pub count: i64,
    /// Bytes of a row.
    pub bytes: i64,
    /// Sectors of 32 bytes that a row touches.
    pub sectors: Range,
    /// Sectors that its bytes fill.
    pub ideal_sectors: u32,
    /// Lines of 128 bytes that a row touches.
    pub lines: Range,
    /// Lines that its bytes fill.
    pub ideal_lines: u32,
}

/// The blocks of a cluster that a copy goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blocks {
    /// So many.
    Known(u32),
    /// Those whose bits are set in a mask that the kernel computes, of so many.
    Of(i64),
    /// Those whose bits are set in a mask that the kernel computes.
    Masked,
}

impl Rows {
    /// Rows of so many bytes that begin at multiples of `align` bytes.
    fn of(count: i64, bytes: i64, align: i64) -> Self {
        let size = u64::try_from(bytes).unwrap_or(0);
        let step = align.clamp(1, BASE);
        let starts = (0..BASE / step).map(|i| (i * step) as u64);
        let touched: Vec<(u64, u64)> = starts
            .map(|start| sectors_and_lines_of_run(start, size))
            .collect();
        let range = |of: fn(&(u64, u64)) -> u64| Range {
            least: touched.iter().map(of).min().unwrap_or(0) as u32,
            most: touched.iter().map(of).max().unwrap_or(0) as u32,
        };
        Self {
            count,
            bytes,
            sectors: range(|found| found.0),
            ideal_sectors: size.div_ceil(SECTOR_BYTES) as u32,
            lines: range(|found| found.1),
            ideal_lines: size.div_ceil(LINE_BYTES) as u32,
        }
    }

    fn text(&self) -> String {
        let found = |range: Range, what: &str| match range.is_known() {
            true => counted(i64::from(range.least), what),
            false => format!(
                "{} at best and {} at worst",
                counted(i64::from(range.least), what),
                range.most
            ),
        };
        let bytes = counted(self.bytes, "byte");
        let whole = match self.count {
            1 => format!("a row of {bytes} in global memory touches"),
            count => format!("each of {count} rows of {bytes} in global memory touches"),
        };
        let mut text = format!(
            "{whole} {}, ideal {}, and {}, ideal {}",
            found(self.sectors, "sector"),
            self.ideal_sectors,
            found(self.lines, "line"),
            self.ideal_lines
        );
        let (sector, line) = (SECTOR_BYTES as i64, LINE_BYTES as i64);
        if self.bytes % sector != 0 {
            text += &format!(
                ": a row fills {} of {} bytes of its sectors; take a box of whole {sector} bytes along the contiguous mode",
                self.bytes,
                i64::from(self.ideal_sectors) * sector
            );
        } else if self.bytes % line != 0 {
            text += &format!(
                ": a row fills {} of {} bytes of its {}",
                self.bytes,
                i64::from(self.ideal_lines) * line,
                if self.ideal_lines == 1 {
                    "line"
                } else {
                    "lines"
                }
            );
        }
        text
    }
}

impl Copies {
    /// The lines that a copy moves.
    pub fn lines(&self) -> Vec<String> {
        let name = self.kind.name();
        let mut moved = match &self.of_box {
            None => format!("{name}: {}", counted(self.bytes, "byte")),
            Some(of) => {
                let extents: Vec<String> = of.extents.iter().map(i64::to_string).collect();
                let shape = match of.is_im2col {
                    true => format!(
                        "{} channels by {} pixels",
                        extents[0],
                        extents[1..].join("x")
                    ),
                    false => extents.join("x"),
                };
                let what = if of.is_im2col { "column" } else { "box" };
                let plural = match (self.copies, of.is_im2col) {
                    (1, _) => "",
                    (_, true) => "s",
                    (_, false) => "es",
                };
                let each = if self.copies == 1 { "" } else { " each" };
                format!(
                    "{name}: {} {what}{plural} of {shape} elements of {}, the contiguous mode first, {}{each}",
                    self.copies,
                    of.element,
                    counted(self.bytes, "byte")
                )
            }
        };
        if self.copies > 1 {
            moved += &format!(", {} in all", self.bytes * self.copies as i64);
        }
        if let Some(of) = self.of_box.as_ref().filter(|_| self.passes.is_some()) {
            moved += &match of.swizzle {
                0 => ", not swizzled".to_owned(),
                bytes => format!(", swizzled by {bytes} bytes"),
            };
        }
        let mut lines = vec![moved];
        if let Some(rows) = &self.rows {
            lines.push(format!("{name}: {}", rows.text()));
        }
        if let Some([found, ideal]) = self.passes {
            lines.push(format!(
                "{name}: {} over the banks of shared memory, ideal {ideal}",
                match found {
                    1 => "1 pass".to_owned(),
                    _ => format!("{found} passes"),
                }
            ));
        }
        match self.multicast {
            Some(Blocks::Known(1)) => lines.push(format!("{name}: multicast to one block")),
            Some(Blocks::Known(blocks)) => lines.push(format!(
                "{name}: multicast: global memory is read once for {blocks} blocks of the cluster"
            )),
            Some(Blocks::Of(blocks)) => lines.push(format!(
                "{name}: multicast: global memory is read once for the blocks of the mask, at most {blocks}"
            )),
            Some(Blocks::Masked) => lines.push(format!(
                "{name}: multicast: global memory is read once for the blocks of the mask"
            )),
            None => {}
        }
        lines
    }
}

/// The operand of a product that descriptors tell of.
#[derive(Clone, Debug)]
pub struct Described {
    /// `A` or `B`.
    pub name: &'static str,
    /// The arrangement, and where its atoms begin.
    pub steps: Steps,
    /// Bytes of one product.
    pub bytes: i64,
    /// Passes over the banks that reading it takes for one product, the most of all its atoms, and the fewest.
    pub passes: [u32; 2],
}

impl Described {
    /// The operand of a product by an atom. Nothing of one that has no descriptor.
    fn of(atom: &MmaAtom, operand: usize, tensor: &MemRef<'_>) -> Option<Self> {
        let steps = hopper::steps(atom, operand, tensor).ok()?;
        let [m, n, k] = atom.shape_mnk;
        let (mn, elem) = [(m, atom.a), (n, atom.b)][operand];
        let bytes = elem.bits() / 8;
        // Where the pattern of the swizzle begins anew the banks are the same.
        let period = tensor.swizzle.map_or(BASE, |s| s.period().max(BASE));
        let [first, along_k] = &steps.bytes;
        let starts: BTreeSet<i64> = first
            .iter()
            .flat_map(|first| along_k.iter().map(move |k| (first + k) % period))
            .collect();
        let passes = starts
            .into_iter()
            .map(|start| steps.descriptor.wavefronts(start, [mn, k], bytes))
            .max()?;
        Some(Self {
            name: ["A", "B"][operand],
            bytes: mn * k * bytes,
            passes: [passes.0, passes.1],
            steps,
        })
    }

    /// The operands that a product reads, and how.
    pub fn line(&self) -> String {
        let [first, along_k] = self.steps.bytes.each_ref().map(Vec::len);
        let mode = if self.name == "A" { "M" } else { "N" };
        let [found, ideal] = self.passes;
        format!(
            "{} by descriptors: {}; {first} along {mode} and {along_k} along K, {} bytes each, read in {found} passes over the banks, ideal {ideal}",
            self.name, self.steps.descriptor, self.bytes
        )
    }
}

/// The operands that a product has in shared memory for a warpgroup to read.
pub(super) fn described(op: Op<'_>) -> Vec<Described> {
    let (mma, operands) = match GemmArgs::of(op) {
        Some(GemmArgs::Mma { mma, a, b, .. } | GemmArgs::MmaInPlace { mma, a, b, .. }) => {
            (mma, [a, b])
        }
        _ => match cute_nvgpu::AtomWgmma::of(op) {
            Some(product) => (product.mma(), [product.a(), product.b()]),
            None => return Vec::new(),
        },
    };
    let found = operands.into_iter().enumerate();
    found
        .filter_map(|(operand, value)| of_operand(mma, operand, value))
        .collect()
}

/// The operand that the partition of a tensor in shared memory is to a warpgroup, which reads it there. Nothing of another op.
pub fn described_part(op: Op<'_>) -> Option<Described> {
    let partition = PartitionArgs::of(op)?;
    let operand = usize::try_from(integer_of(op, "operand_id")?).ok()?;
    of_operand(partition.tiled, operand, partition.part)
}

/// The operand that a partition of shared memory is to an MMA of a warpgroup, by its number.
fn of_operand(mma: Val<'_>, operand: usize, part: Val<'_>) -> Option<Described> {
    let atom = types::mma_row(mma.r#type()).filter(|atom| hopper::is_asynchronous(atom))?;
    let tensor = memref_of(part).filter(|tensor| tensor.space == Space::Smem && operand < 2)?;
    Described::of(&atom, operand, &tensor)
}

/// The copies of an op by TMA or in bulk; nothing of another op.
pub(super) fn copies(op: Op<'_>) -> Option<Copies> {
    if let Some(load) = cute_nvgpu::TmaLoad::of(op) {
        let smem = memref_of(load.destination())?;
        let mut copies = by_map(
            CopyKind::TmaLoad,
            op,
            load.atom(),
            &load.coords(),
            Some(&smem),
        )?;
        copies.multicast = load.mask().map(|mask| blocks(op, mask));
        return Some(copies);
    }
    if let Some(store) = cute_nvgpu::TmaStore::of(op) {
        let smem = memref_of(store.source())?;
        let kind = match string_of(op, "reduce") {
            Some(_) => CopyKind::TmaReduction,
            None => CopyKind::TmaStore,
        };
        return by_map(kind, op, store.atom(), &store.coords(), Some(&smem));
    }
    if let Some(prefetch) = cute_nvgpu::TmaPrefetch::of(op) {
        return by_map(
            CopyKind::TmaPrefetch,
            op,
            prefetch.atom(),
            &prefetch.coords(),
            None,
        );
    }
    if let Some(load) = cute_nvgpu::BulkLoad::of(op) {
        let (from, to) = (memref_of(load.source())?, memref_of(load.destination())?);
        let (source, destination) = hopper::bulk_spaces(&from);
        let bytes = hopper::bulk_bytes([(&from, source), (&to, destination)]).ok()?;
        let kind = match destination {
            Space::Dsmem => CopyKind::BulkToBlock,
            _ => CopyKind::BulkLoad,
        };
        let global = (source == Space::Gmem).then_some(&from);
        return Some(in_bulk(kind, bytes, global));
    }
    if let Some(store) = cute_nvgpu::BulkStore::of(op) {
        let (from, to) = (memref_of(store.source())?, memref_of(store.destination())?);
        let bytes = hopper::bulk_bytes([(&from, Space::Smem), (&to, Space::Gmem)]).ok()?;
        return Some(in_bulk(CopyKind::BulkStore, bytes, Some(&to)));
    }
    let from = memref_of(cute_nvgpu::BulkPrefetch::of(op)?.source())?;
    let bytes = hopper::bulk_bytes([(&from, Space::Gmem); 2]).ok()?;
    Some(in_bulk(CopyKind::BulkPrefetch, bytes, Some(&from)))
}

/// The copies that an atom of TMA makes, told of where it is made: on a host, which launches.
pub fn of_atom(op: Op<'_>) -> Option<Copies> {
    let kind = match name_of(op) {
        cute_nvgpu::ATOM_MAKE_TMA_LOAD | cute_nvgpu::ATOM_MAKE_IM2COL_TMA_LOAD => CopyKind::TmaLoad,
        cute_nvgpu::ATOM_MAKE_TMA_STORE => CopyKind::TmaStore,
        _ => return None,
    };
    let tensor = memref_of(*operands_of(op).first()?)?;
    let Some(CuteType::Tma { map, .. }) = CuteType::get(result_of(op, 0).r#type()) else {
        return None;
    };
    let bits = types::element_bits(tensor.element)?;
    // A tile may begin at any box.
    let align = gcd(strides_of(&tensor, map), map.row_bytes(bits));
    let element = tensor.element.to_string();
    Some(boxes(kind, (element, bits), map, (1, align)))
}

/// Copies of a tile, or of one box, by a tensor map.
fn by_map<'c>(
    kind: CopyKind,
    op: Op<'c>,
    atom: Val<'c>,
    coords: &[Val<'c>],
    smem: Option<&MemRef<'c>>,
) -> Option<Copies> {
    let Some(CuteType::Tma { value, map, .. }) = CuteType::get(atom.r#type()) else {
        return None;
    };
    let bits = types::element_bits(*value)?;
    let (mut count, mut first) = (1, 1);
    if let [tile] = *coords
        && let Some(CuteType::CoordTensor { start, layout }) = CuteType::of(tile.r#type())
    {
        let all = match smem {
            Some(smem) => {
                let boxes = hopper::tma_boxes((*value, map), &layout, smem).ok()?;
                boxes.into_iter().map(|(at, _)| at).collect()
            }
            None => map.boxes_of(&layout).ok()?,
        };
        count = all.len();
        let offsets = all.iter().filter_map(|at| at.first());
        first = offsets.fold(divisor(&start), |divisor, offset| gcd(divisor, *offset));
    } else if let Some(at) = coords.first().and_then(|at| constant_of(*at)) {
        first = at;
    }
    let along = first.checked_mul(bits).map_or(0, |bits| bits / 8);
    let align = tensors_of(op, atom)
        .and_then(|tensors| {
            let each = tensors.iter().map(|tensor| strides_of(tensor, map));
            each.reduce(gcd)
        })
        .map_or(LEAST, |align| gcd(align, along).max(LEAST));
    Some(boxes(kind, (value.to_string(), bits), map, (count, align)))
}

/// So many copies of the box of a map, whose rows begin at multiples of `align` bytes.
fn boxes(
    kind: CopyKind,
    (element, bits): (String, i64),
    map: &TmaBox,
    (copies, align): (usize, i64),
) -> Copies {
    let row = map.row_bytes(bits);
    let bytes = map.size() * bits / 8;
    let (found, ideal) = map.wavefronts(bits);
    Copies {
        kind,
        copies,
        bytes,
        of_box: Some(BoxOf {
            extents: map.dims.iter().map(|dim| dim.extent).collect(),
            element,
            swizzle: map.swizzle,
            is_im2col: map.im2col.is_some(),
        }),
        rows: Some(Rows::of(bytes / row.max(1), row, align)),
        passes: kind.is_shared().then_some([found, ideal]),
        multicast: None,
    }
}

/// A copy of bytes in a row, of or to a tensor in global memory where it has one.
fn in_bulk(kind: CopyKind, bytes: i64, global: Option<&MemRef<'_>>) -> Copies {
    let passes = u64::try_from(bytes).unwrap_or(0).div_ceil(LINE_BYTES) as u32;
    Copies {
        kind,
        copies: 1,
        bytes,
        of_box: None,
        rows: global.map(|tensor| Rows::of(1, bytes, gcd(tensor.align, BASE))),
        // Bytes in a row, a row of banks at a time.
        passes: kind.is_shared().then_some([passes; 2]),
        multicast: None,
    }
}

/// The number that divides the first coordinate of a tile, that along the contiguous dimension.
fn divisor(start: &IntTuple) -> i64 {
    match start.leaves().first() {
        Some(Leaf::Static(at)) => *at,
        Some(Leaf::Dynamic(at)) => at.div,
        _ => 1,
    }
}

/// Bytes that divide the distances between rows of a tensor, and those of a line.
fn strides_of(tensor: &MemRef<'_>, map: &TmaBox) -> i64 {
    // By im2col the map's dimensions are those of a matrix, and the tensor's channels lie side by side.
    let contiguous = match &map.im2col {
        Some(_) => 0,
        None => map.dims.first().map_or(0, |dim| dim.mode),
    };
    let (shape, strides) = (tensor.layout.shape(), tensor.layout.stride());
    let leaves = shape.leaves().into_iter().zip(strides.leaves()).enumerate();
    let bytes = tensor.element_bytes();
    let apart = leaves.filter(|(mode, (extent, _))| *mode != contiguous && !extent.is(1));
    let all = apart.fold(BASE, |all, (_, (_, stride))| {
        let stride = match stride {
            Leaf::Static(stride) => *stride,
            Leaf::Dynamic(stride) => stride.div,
            _ => 1,
        };
        gcd(all, stride.saturating_mul(bytes))
    });
    // What the types do not say of them the map asks.
    all.max(LEAST)
}

/// The tensors of which the atoms are made that launches pass for one of a kernel; nothing where that is not known.
fn tensors_of<'c>(op: Op<'c>, atom: Val<'c>) -> Option<Vec<MemRef<'c>>> {
    let kernel = parent_of(op, gpu::FUNC)?;
    let arguments = body_of(kernel, 0).map(arguments_of)?;
    let index = arguments.iter().position(|argument| *argument == atom)?;
    // The launches stand beside the kernel's module.
    let module = parent_of(parent_of(kernel, gpu::MODULE)?, builtin::MODULE)?;
    let launches = launches_of(module, kernel);
    let passed = launches.into_iter().map(|launch| {
        let passed = *gpu::LaunchFunc::of(launch)?.kernel_operands().get(index)?;
        memref_of(*operands_of(defining_op(passed)?).first()?)
    });
    passed
        .collect::<Option<Vec<_>>>()
        .filter(|all| !all.is_empty())
}

/// The blocks that a mask of a load means.
fn blocks(op: Op<'_>, mask: Val<'_>) -> Blocks {
    if let Some(mask) = constant_of(mask) {
        // A bit for each block, of 16.
        return Blocks::Known((mask & 0xffff).count_ones());
    }
    let kernel = parent_of(op, gpu::FUNC);
    match kernel.and_then(|kernel| integer_of(kernel, CLUSTER)) {
        Some(blocks) => Blocks::Of(blocks),
        None => Blocks::Masked,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_touch_what_their_start_lets_them() {
        let known = Rows::of(4, 128, 128);
        assert_eq!((known.sectors.least, known.sectors.most), (4, 4));
        assert_eq!((known.lines.least, known.lines.most), (1, 1));
        let open = Rows::of(4, 128, 16);
        assert_eq!((open.sectors.least, open.sectors.most), (4, 5));
        assert_eq!((open.lines.least, open.lines.most), (1, 2));
        let half = Rows::of(4, 16, 32);
        assert_eq!((half.sectors.most, half.ideal_sectors), (1, 1));
        assert!(half.text().contains("fills 16 of 32 bytes of its sectors"));
    }
}
