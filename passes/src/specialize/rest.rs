//! Loads by TMA that may leave rows out: how many bytes are missing of a turn, and zeros where rows may be missing.
//!
//! An atom of the last boxes of a tensor writes the first rows of what it fills. What is behind them is read by products all the same, whose sums for those rows nobody stores; it is cleared once, so
//! that nothing is read that was never written.

use super::rings::Ring;
use crate::mbarriers::{alone, fence_proxy};
use cute_arith::Predicate;
use cute_ir::ops::{arith, cute, cute_nvgpu, gpu, scf};
use cute_ir::{
    Expected, Failure, diag,
    mlir::*,
    types::{self, memref_of},
};
use cute_layout::{IntTuple, Tile, int, tuple};
use melior::ir::{ValueLike, operation::OperationLike};

/// Bytes that a thread clears at once.
const AT_ONCE: i64 = 16;

/// A load that may leave rows out.
struct Short<'c> {
    load: cute_nvgpu::TmaLoad<'c>,
    /// The number of the tensor among those of the ring.
    index: usize,
    /// Rows that its atom brings, and those of the tensor that are missing.
    rows: Val<'c>,
    missing: Val<'c>,
}

/// Rows of a load and of the tensor in shared memory that it is a part of, and elements and bytes of a row.
struct Extents {
    own: i64,
    all: i64,
    elements: i64,
    bytes: i64,
}

impl<'c> Ring<'c> {
    /// The loads of the ring that may leave rows out.
    fn short(&self) -> impl Iterator<Item = Short<'c>> + '_ {
        let loads = self.loads.iter().enumerate();
        loads.filter_map(|(index, load)| {
            let load = cute_nvgpu::TmaLoad::of(*load)?;
            let (rows, missing) = load.rest().zip(load.missing())?;
            Some(Short {
                load,
                index: self.fills[index],
                rows,
                missing,
            })
        })
    }

    fn extents(&self, short: &Short<'c>) -> Result<Extents, Failure> {
        let op = short.load.op();
        let rows_and_size = |value| {
            let layout = memref_of(value).expected(op, "a tensor")?.layout;
            let rows = layout.modes().first().map(|rows| rows.size());
            let size = layout
                .size()
                .map_err(|e| diag::error(op.location(), e.to_string()))?;
            Ok::<_, Failure>((rows.and_then(Result::ok).unwrap_or(1).max(1), size))
        };
        let (own, size) = rows_and_size(short.load.destination())?;
        let (all, of_all) = rows_and_size(self.tensors[short.index])?;
        let elements = size / own;
        let memref = memref_of(self.tensors[short.index]).expected(op, "a tensor")?;
        let bytes = elements * memref.element_bytes();
        if all % own != 0 || elements * all != of_all || bytes % AT_ONCE != 0 {
            return Err(diag::error(
                op.location(),
                format!(
                    "may leave rows out of {own} rows of {bytes} bytes, in a tensor of {all} rows; expected a slice of whole rows of it, of a multiple of {AT_ONCE} bytes each"
                ),
            ));
        }
        Ok(Extents {
            own,
            all,
            elements,
            bytes,
        })
    }

    /// Bytes that are missing of a place this turn, where loads may leave rows out; nothing where none does. `mapping` has what is computed in front of the first load.
    pub(super) fn missing_bytes(
        &self,
        b: Builder<'c>,
        mapping: &Mapping<'c>,
    ) -> Result<Option<Val<'c>>, Failure> {
        let mut all = None;
        let word = b.i32_type();
        for short in self.short() {
            let bytes = b.i32(self.extents(&short)?.bytes)?;
            let missing = match (mapping.get(&key(short.missing)), defining_op(short.missing)) {
                (Some(missing), _) => *missing,
                (None, None) => short.missing,
                (None, Some(_)) => {
                    return Err(diag::error(
                        short.load.op().location(),
                        "computes how many rows are missing behind the first load of its ring; expected it in front of that, which says how many bytes there are to be",
                    ));
                }
            };
            let missing = b.value(arith::MULI, &[missing, bytes], word, &[])?;
            all = Some(match all {
                Some(before) => b.value(arith::ADDI, &[before, missing], word, &[])?,
                None => missing,
            });
        }
        Ok(all)
    }

    /// Clears what loads may leave out of any place, by so many threads of which this is one, where their number of rows is less than that of a load; each orders what it cleared before what TMA and
    /// products do behind the next barrier. `mapping` has what is made already. Tells whether there is such a load.
    pub(super) fn clear_missing(
        &self,
        b: Builder<'c>,
        (thread, threads): (Val<'c>, i64),
        mapping: &Mapping<'c>,
    ) -> Result<bool, Failure> {
        let word = b.i32_type();
        let mut clears_any = false;
        for short in self.short() {
            clears_any = true;
            let extents = self.extents(&short)?;
            let mut mapping = mapping.clone();
            let rows = computed_before(b, short.rows, &mut mapping)?;
            let b = b.at_location(short.load.op().location());
            let most = b.i32(extents.own)?;
            let is_short = b.compare(Predicate::Slt, rows, most)?;
            // Neighbours clear what lies side by side.
            let at_once = extents.elements * AT_ONCE / extents.bytes;
            let across = extents.elements / at_once;
            let number = |name: &str, x, y| b.value(name, &[x, y], word, &[]);
            let column = number(arith::REMUI, thread, b.i32(across)?)?;
            let first = number(arith::DIVUI, thread, b.i32(across)?)?;
            let first = number(arith::ADDI, rows, first)?;
            let step = threads / across;
            if step == 0 {
                return Err(b.error(format!(
                    "may leave out rows of {} bytes, more than {threads} threads clear at once; expected shorter rows",
                    extents.bytes
                )));
            }
            let mut clears = is_short;
            if threads % across != 0 {
                let has_part = b.compare(Predicate::Ult, thread, b.i32(step * across)?)?;
                clears = b.value(arith::ANDI, &[clears, has_part], clears.r#type(), &[])?;
            }
            let step = b.i32(step)?;
            alone(b, clears, |b| {
                let (region, block) = Detached::with_block(&[(word, b.location)]);
                b.with_regions(scf::FOR, &[first, most, step], &[], &[], vec![region])?;
                let turn = Builder::at_end(b.context, block, b.location);
                let row = argument(block, 0);
                for place in 0..self.depth {
                    let place = turn.i32(place)?;
                    let tensor = self.places(turn, place)?;
                    let tensor = *tensor.get(short.index).expected(turn, "a tensor")?;
                    for part in 0..extents.all / extents.own {
                        let offset = turn.i32(part * extents.own)?;
                        let row = turn.value(arith::ADDI, &[row, offset], word, &[])?;
                        clear(turn, tensor, [row, column], at_once)?;
                    }
                }
                turn.op(scf::YIELD, &[], &[], &[])?;
                fence_proxy(b)
            })?;
        }
        Ok(clears_any)
    }
}

/// Clears some elements of a row from a multiple of so many on.
fn clear<'c>(
    b: Builder<'c>,
    tensor: Val<'c>,
    at: [Val<'c>; 2],
    elements: i64,
) -> Result<(), Failure> {
    let tile =
        Tile::from_shape(&tuple([1, elements].map(int))).map_err(|e| b.error(e.to_string()))?;
    let tile = b.static_value(types::tile_type(b.context, &tile))?;
    let coord = b.coord(&tuple([IntTuple::dynamic(), IntTuple::dynamic()]), &at)?;
    let part = b.infer(cute::LOCAL_TILE, &[tensor, tile, coord], &[])?;
    b.op(cute::CLEAR, &[part], &[], &[])?;
    Ok(())
}

/// A value computed anew at `b`, of what is known there. Errors: one that is computed of something else.
fn computed_before<'c>(
    b: Builder<'c>,
    value: Val<'c>,
    mapping: &mut Mapping<'c>,
) -> Result<Val<'c>, Failure> {
    if let Some(made) = mapping.get(&key(value)) {
        return Ok(*made);
    }
    let refuse = |location| {
        Err(diag::error(
            location,
            "decides how many rows of a tensor a load by TMA brings; expected a number that is the same in all of the kernel, computed of its arguments and of constants",
        ))
    };
    let Some(op) = defining_op(value) else {
        let of = block_argument(value).and_then(|(block, _)| owner_of(block));
        return match of {
            Some(op) if gpu::Func::of(op).is_none() => refuse(op.location()),
            _ => Ok(value),
        };
    };
    if !is_pure(op) || op.region_count() > 0 {
        return refuse(op.location());
    }
    for operand in operands_of(op) {
        computed_before(b, operand, mapping)?;
    }
    b.clone_op(op, mapping);
    Ok(mapping[&key(value)])
}
