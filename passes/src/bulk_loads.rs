//! Bulk copies to shared memory, and the bytes that those on mbarriers written by hand are to bring.

use crate::memory::root_of;
use cute_ir::ops::cute_nvgpu;
use cute_ir::{Expected, Failure, diag, mlir::*, types::memref_of};
use melior::ir::operation::OperationLike;
use std::collections::HashMap;

/// A bulk copy on a place of a pipeline.
#[derive(Clone, Copy)]
pub(crate) struct Load<'c> {
    pub(crate) op: Op<'c>,
    /// The mbarriers, or the pipeline, that it is on; none where a pass chooses them.
    pub(crate) on: Option<Val<'c>>,
    /// The index of the place.
    pub(crate) place: Option<Val<'c>>,
    pub(crate) destination: Val<'c>,
    /// The blocks that it reaches, a bit each.
    pub(crate) mask: Option<Val<'c>>,
}

impl<'c> Load<'c> {
    pub(crate) fn of(op: Op<'c>) -> Option<Self> {
        if let Some(load) = cute_nvgpu::TmaLoad::of(op) {
            return Some(Self {
                op,
                on: load.barriers(),
                place: load.index(),
                destination: load.destination(),
                mask: load.mask(),
            });
        }
        let load = cute_nvgpu::BulkLoad::of(op)?;
        Some(Self {
            op,
            on: Some(load.barriers()),
            place: Some(load.index()),
            destination: load.destination(),
            mask: None,
        })
    }

    /// The bytes that it brings to a block.
    pub(crate) fn bytes_of_one(&self) -> Result<i64, Failure> {
        let b = Builder::before(self.op);
        let memref = memref_of(self.destination).expected(b, "a tensor")?;
        memref.bytes().map_err(|e| b.error(e))
    }

    /// The bytes that it brings to this block, and those that blocks which do the same send here.
    pub(crate) fn bytes(&self, blocks: i64) -> Result<i64, Failure> {
        let b = Builder::before(self.op);
        let bytes = self.bytes_of_one()?;
        let Some(mask) = self.mask else {
            return Ok(bytes);
        };
        // A bit for each of 16 blocks, so that the last is no sign.
        let Some(mask) = constant_of(mask).map(|mask| mask & 0xffff) else {
            return Err(b.error(
                "loads into blocks of the cluster that only the kernel knows, so that a place's bytes are not known; expected a constant mask",
            ));
        };
        if mask >> blocks != 0 || mask == 0 {
            return Err(b.error(format!(
                "loads into the blocks of mask {mask:#b} through a pipeline whose places {blocks} block{} fill; expected bits of blocks of the \
                 pipeline, `blocks` of cute_nvgpu.pipeline.create",
                if blocks == 1 { "" } else { "s" }
            )));
        }
        Ok(bytes * i64::from(mask.count_ones()))
    }
}

/// An mbarrier, by its tensor and its index, and the block of operations that an op on it stands in.
type Place<'c> = (Val<'c>, Option<Val<'c>>, Option<Blk<'c>>);

/// Checks the bytes that a kernel expects of an mbarrier by those of the loads on it: where both stand in one block of operations, and no other load is on mbarriers of that tensor.
///
/// # Errors
/// They differ: the one would wait for ever, and the other would see a place before it is full.
pub(crate) fn check_bytes<'c>(ops: &[Op<'c>]) -> Result<(), Failure> {
    let loads: Vec<_> = ops.iter().filter_map(|op| Load::of(*op)).collect();
    let place =
        |load: &Load<'c>| -> Option<Place<'c>> { Some((load.on?, load.place, block_of(load.op))) };
    let expects: Vec<(Place<'c>, _)> = (ops.iter().copied())
        .filter_map(cute_nvgpu::MbarrierArriveAndExpectTx::of)
        .map(|expect| {
            (
                (expect.barriers(), expect.index(), block_of(expect.op())),
                expect,
            )
        })
        .collect();
    if loads.is_empty() || expects.is_empty() {
        return Ok(());
    }
    // Of each tensor of mbarriers: whether all that is on it is known here.
    let mut known: HashMap<ValueKey, bool> = HashMap::new();
    for load in &loads {
        let Some(on) = load.on else { continue };
        let is_beside = expects.iter().any(|(of, _)| Some(*of) == place(load));
        *known.entry(key(root_of(on))).or_insert(true) &= is_beside && load.mask.is_none();
    }
    for op in ops {
        if let Some(expect) = cute_nvgpu::MbarrierExpectTx::of(*op) {
            known.insert(key(root_of(expect.barriers())), false);
        }
        if let Some(store) = cute_nvgpu::StAsync::of(*op) {
            known.insert(key(root_of(store.barriers())), false);
        }
    }
    diag::each(&expects, |(of, expect)| {
        if known.get(&key(root_of(expect.barriers()))) != Some(&true) {
            return Ok(());
        }
        let same: Vec<_> = expects.iter().filter(|(other, _)| other == of).collect();
        let said = same.iter().map(|(_, expect)| constant_of(expect.bytes()));
        let (Some(said), true) = (
            said.sum::<Option<i64>>(),
            // Of several the first is told of.
            same.first()
                .is_some_and(|(_, first)| first.op() == expect.op()),
        ) else {
            return Ok(());
        };
        let own: Vec<_> = loads
            .iter()
            .filter(|load| place(load) == Some(*of))
            .collect();
        let bytes: Vec<_> = own
            .iter()
            .map(|load| load.bytes_of_one())
            .collect::<Result<_, _>>()?;
        let all: i64 = bytes.iter().sum();
        if own.is_empty() || all == said {
            return Ok(());
        }
        let notes: Vec<_> = own
            .iter()
            .zip(&bytes)
            .map(|(load, bytes)| (load.op.location(), format!("{bytes} bytes")))
            .collect();
        let notes: Vec<_> = notes
            .iter()
            .map(|(at, text)| (*at, text.as_str()))
            .collect();
        Err(diag::error_with_notes(
            expect.op().location(),
            format!(
                "'{}' op expects {said} bytes of loads that bring {all}, so that {}; expected {all}, or a cute_nvgpu.pipeline, which counts them",
                name_of(expect.op()),
                if all < said {
                    "whoever waits for them waits for ever"
                } else {
                    "a place is full before all of it is there"
                }
            ),
            &notes,
        ))
    })
}
