//! The tensors that each thread holds: tiled copies, tiled products, partitions, fragments.

use cute_ir::ops::cute;
use cute_ir::{
    algorithm,
    args::{GemmArgs, PartitionArgs},
    mlir::*,
    types::memref_of,
    types::{self, CuteType, MemRef, Space, tiled_copy, tiled_mma},
};
use cute_layout::Operand;
use melior::ir::{ValueLike, operation::OperationLike};

/// Bits of a register.
const REGISTER_BITS: i64 = 32;

/// `1 thread`, `2 threads`
pub(crate) fn counted(count: i64, what: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {what}{plural}")
}

/// The 32-bit registers that hold a tensor in `rmem`.
pub(super) fn registers(memref: &MemRef) -> Option<i64> {
    let elements = memref.layout.cosize().ok()?;
    let bits = types::element_bits(memref.element)?;
    // Predicates have registers of their own.
    if bits == 1 {
        return Some(0);
    }
    Some(elements.checked_mul(bits)?.checked_add(REGISTER_BITS - 1)? / REGISTER_BITS)
}

/// Returns what an op says of threads, line by line; nothing where it says nothing.
pub(super) fn lines(op: Op<'_>) -> Option<Vec<String>> {
    let result = (op.result_count() > 0).then(|| result_of(op, 0));
    match name_of(op) {
        cute::MAKE_TILED_COPY | cute::MMA_MAKE_TILED_COPY => {
            let tiled = tiled_copy(&CuteType::of(result?.r#type())?).ok()?;
            let tile = tiled.tile_shape().ok()?;
            Some(vec![format!(
                "{}, {} each, of a tile {tile}",
                counted(tiled.num_threads(), "thread"),
                counted(tiled.num_values(), "value"),
            )])
        }
        cute::MAKE_TILED_MMA => {
            let tiled = tiled_mma(&CuteType::of(result?.r#type())?).ok()?;
            let [m, n, k] = tiled.tile_shape();
            let values = |operand| {
                let layout = tiled.layout_tv(operand).ok()?;
                layout.mode(1).ok()?.size().ok()
            };
            let mut line = format!(
                "{}, of a tile {m}x{n}x{k}",
                counted(tiled.num_threads(), "thread")
            );
            if let (Some(a), Some(b), Some(c)) =
                (values(Operand::A), values(Operand::B), values(Operand::C))
            {
                line += &format!(", with {a} values of A, {b} of B and {c} of C each");
            }
            Some(vec![line])
        }
        cute::TILED_COPY_PARTITION_S | cute::TILED_COPY_PARTITION_D => {
            let partition = PartitionArgs::of(op)?;
            let tiled = tiled_copy(&CuteType::of(partition.tiled.r#type())?).ok()?;
            part(tiled.num_threads(), partition.tensor, partition.part)
        }
        cute::TILED_MMA_PARTITION => {
            let partition = PartitionArgs::of(op)?;
            let tiled = tiled_mma(&CuteType::of(partition.tiled.r#type())?).ok()?;
            part(tiled.num_threads(), partition.tensor, partition.part)
        }
        cute::LOCAL_PARTITION => {
            let partition = cute::LocalPartition::of(op)?;
            let threads = match CuteType::of(partition.threads().r#type())? {
                CuteType::Layout(layout) => layout.size().ok()?,
                _ => return None,
            };
            part(threads, partition.tensor(), partition.result())
        }
        cute::GEMM => product(op),
        cute::MMA_MAKE_FRAGMENT | cute::MAKE_FRAGMENT_LIKE => fragment(&memref_of(result?)?),
        cute::MEMREF_ALLOCA => {
            let memref = memref_of(result?)?;
            match memref.space {
                Space::Rmem => fragment(&memref),
                Space::Smem => Some(vec![format!(
                    "{} of shared memory",
                    counted(memref.bytes().ok()?, "byte")
                )]),
                Space::Gmem | Space::Dsmem | Space::Generic | Space::Tmem | Space::Descriptors => {
                    None
                }
            }
        }
        _ => None,
    }
}

/// The instructions of a product of one thread's tensors, and the registers of a thread that they take.
fn product(op: Op<'_>) -> Option<Vec<String>> {
    let Some(GemmArgs::Mma { mma, a, b, c, .. }) = GemmArgs::of(op) else {
        return None;
    };
    let atom = types::mma_row(mma.r#type())?;
    let tensors = [memref_of(a)?, memref_of(b)?, memref_of(c)?];
    let values = algorithm::product_of(mma.r#type())?.ok()?.values;
    let [of_a, of_b, of_c] = &tensors;
    let layouts = [&of_a.layout, &of_b.layout, &of_c.layout];
    let extents = algorithm::product_extents(layouts, values).ok()?;
    let count = extents.m.checked_mul(extents.n)?.checked_mul(extents.k)?;
    let [m, n, k] = atom.shape_mnk;
    let mut line = format!(
        "{} of {m}x{n}x{k} by {}",
        counted(count, "product"),
        counted(atom.thr_id.size().ok()?, "thread")
    );
    let held = ["A", "B", "C"].iter().zip(&tensors);
    let held: Vec<String> = held
        .filter(|(_, tensor)| tensor.space == Space::Rmem)
        .filter_map(|(name, tensor)| {
            Some(format!(
                "{name} in {}",
                counted(registers(tensor)?, "register")
            ))
        })
        .collect();
    if !held.is_empty() {
        line += &format!(", {} a thread", held.join(", "));
    }
    Some(vec![line])
}

fn part(threads: i64, whole: Val<'_>, part: Val<'_>) -> Option<Vec<String>> {
    let shape = |value: Val<'_>| {
        CuteType::of(value.r#type())?
            .tensor_layout()
            .map(|layout| layout.shape().clone())
    };
    let (whole, shape) = (shape(whole)?, shape(part)?);
    let values = CuteType::of(part.r#type())?
        .tensor_layout()?
        .size()
        .map_or_else(|_| "values".to_owned(), |size| counted(size, "value"));
    Some(vec![format!(
        "{}, {values} each as {shape}, of {whole}",
        counted(threads, "thread")
    )])
}

fn fragment(memref: &MemRef) -> Option<Vec<String>> {
    let values = memref.layout.cosize().ok()?;
    Some(vec![format!(
        "{} of {} in {} a thread",
        counted(values, "value"),
        memref.element,
        counted(registers(memref)?, "register")
    )])
}
