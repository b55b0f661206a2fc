//! Barriers in shared memory and TMA. PTX ISA, "mbarrier" and "Asynchronous copy: bulk tensor".

use super::{
    Lowering,
    address::evaluate,
    registers::{assembly, bitcast, pure_assembly, words},
    universal::list,
};
use cute_arith::Predicate;
use cute_ir::{
    Expected, Failure, hopper,
    mlir::*,
    ops::{arith, cute_nvgpu, nvvm, scf},
    types::{CuteType, Space},
};
use cute_target::{Arch, Requirement};
use melior::ir::ValueLike;

/// The PTX version that brought `st.async` (PTX ISA, st.async).
const ST_ASYNC_VERSION: i64 = 81;
/// The PTX version that brought bulk copies into a block's own shared memory by that name (PTX ISA, cp.async.bulk).
const OWN_BLOCK_VERSION: i64 = 86;
/// The architectures on which a load for several blocks is one transfer: ptxas advises against it on others, where it takes much longer.
const MULTICAST: [Requirement; 3] = [
    Requirement::Specific(9, 0),
    Requirement::Family(10, 0),
    Requirement::Family(11, 0),
];

impl<'c> Lowering<'c, '_> {
    /// Lowers an op of SM90; false where `op` is none.
    pub(super) fn hopper_op(&mut self, op: Op<'c>, b: Builder<'c>) -> Result<bool, Failure> {
        if let Some(init) = cute_nvgpu::MbarrierInit::of(op) {
            let bar = self.barrier(init.barriers(), init.index(), b)?;
            b.op(nvvm::MBARRIER_INIT, &[bar, init.count()], &[], &[])?;
        } else if let Some(inval) = cute_nvgpu::MbarrierInval::of(op) {
            let bar = self.barrier(inval.barriers(), inval.index(), b)?;
            b.op(nvvm::MBARRIER_INVAL, &[bar], &[], &[])?;
        } else if let Some(arrive) = cute_nvgpu::MbarrierArrive::of(op) {
            let bar = self.barrier(arrive.barriers(), arrive.index(), b)?;
            b.op(nvvm::MBARRIER_ARRIVE, &[bar], &[b.i64_type()], &[])?;
        } else if let Some(arrive) = cute_nvgpu::MbarrierArriveAt::of(op) {
            let bar = self.barrier(arrive.barriers(), arrive.index(), b)?;
            let of_cluster = b.ty("!llvm.ptr<7>")?;
            let there = b.value(nvvm::MAPA, &[bar, arrive.block()], of_cluster, &[])?;
            b.op(nvvm::MBARRIER_ARRIVE, &[there], &[], &[])?;
        } else if let Some(arrive) = cute_nvgpu::CpAsyncMbarrierArrive::of(op) {
            let bar = self.barrier(arrive.barriers(), arrive.index(), b)?;
            let noinc = attribute_of(op, "noinc").is_some();
            let noinc = [("noinc", b.attribute(if noinc { "true" } else { "false" })?)];
            b.op(nvvm::CP_ASYNC_MBARRIER_ARRIVE, &[bar], &[], &noinc)?;
        } else if let Some(store) = cute_nvgpu::StAsync::of(op) {
            let to = self.place(store.destination(), b)?;
            let value = store.value();
            let bytes = hopper::stored_bytes(value.r#type(), &to.memref);
            let bytes = bytes.map_err(|e| b.error(e))?;
            let to = to.start.pointer(b, None)?;
            let bar = self.barrier(store.barriers(), Some(store.index()), b)?;
            crate::binary::require_ptx(self.kernel, ST_ASYNC_VERSION);
            store_async(b, [to, bar], value, bytes)?;
        } else if let Some(arrive) = cute_nvgpu::MbarrierArriveAndExpectTx::of(op) {
            let bar = self.barrier(arrive.barriers(), arrive.index(), b)?;
            let operands = [bar, arrive.bytes()];
            b.op(
                nvvm::MBARRIER_ARRIVE_EXPECT_TX,
                &operands,
                &[b.i64_type()],
                &[],
            )?;
        } else if let Some(expect) = cute_nvgpu::MbarrierExpectTx::of(op) {
            let bar = self.barrier(expect.barriers(), expect.index(), b)?;
            b.op(nvvm::MBARRIER_EXPECT_TX, &[bar, expect.bytes()], &[], &[])?;
        } else if let Some(wait) = cute_nvgpu::MbarrierWait::of(op) {
            let bar = self.barrier(wait.barriers(), wait.index(), b)?;
            wait_for(b, bar, wait.parity())?;
        } else if let Some(wait) = cute_nvgpu::MbarrierTryWait::of(op) {
            let bar = self.barrier(wait.barriers(), wait.index(), b)?;
            let ended = try_wait(b, bar, wait.parity())?;
            replace_uses(wait.ended(), ended);
        } else if let Some(load) = cute_nvgpu::TmaLoad::of(op) {
            let place = self.place(load.destination(), b)?;
            let to = place.start.pointer(b, None)?;
            let barriers = load.barriers().expected(b, "an mbarrier")?;
            let bar = self.barrier(barriers, load.index(), b)?;
            let target = match load.mask() {
                None => self.own_shared(b)?,
                Some(_) => {
                    self.check_multicast(b)?;
                    "shared::cluster"
                }
            };
            let way = (load.mask(), policy_of(b, op)?);
            let from = self.coordinates(load.atom(), &load.coords(), b)?;
            tma_load(b, target, [to, load.atom(), bar], from, way)?;
        } else if let Some(store) = cute_nvgpu::TmaStore::of(op) {
            let place = self.place(store.source(), b)?;
            let from = place.start.pointer(b, None)?;
            tma_store(
                b,
                [store.atom(), from],
                &store.coords(),
                (string_of(op, "reduce"), policy_of(b, op)?),
            )?;
        } else if let Some(prefetch) = cute_nvgpu::TmaPrefetch::of(op) {
            let policy = policy_of(b, op)?;
            let from = self.coordinates(prefetch.atom(), &prefetch.coords(), b)?;
            let (rank, count) = (from.rank, from.values.len());
            let (hint, by, of_policy) = hinted(policy, 1 + count);
            let text = format!(
                "cp.async.bulk.prefetch.tensor.{rank}d.L2.global{}{hint} {}{}{by};",
                from.mode(),
                box_at(0, 1, rank),
                from.offsets(1)
            );
            let constraints = format!("l,{}{of_policy}~{{memory}}", from.constraints());
            let operands = std::iter::once(prefetch.atom()).chain(from.values);
            let operands: Vec<_> = operands.chain(policy).collect();
            assembly(b, &text, &constraints, &operands, &[])?;
        } else if let Some(prefetch) = cute_nvgpu::BulkPrefetch::of(op) {
            let (from, policy) = (self.place(prefetch.source(), b)?, policy_of(b, op)?);
            let bytes = hopper::bulk_bytes([(&from.memref, Space::Gmem); 2]);
            let bytes = bytes.map_err(|e| b.error(e))?;
            let from = from.start.pointer(b, None)?;
            let (hint, by, of_policy) = hinted(policy, 2);
            let text = format!("cp.async.bulk.prefetch.L2.global{hint} [$0], $1{by};");
            let operands = [from, b.i32(bytes)?].into_iter().chain(policy);
            let operands: Vec<_> = operands.collect();
            let constraints = format!("l,r,{of_policy}~{{memory}}");
            assembly(b, &text, &constraints, &operands, &[])?;
        } else if let Some(prefetch) = cute_nvgpu::PrefetchTmaDesc::of(op) {
            assembly(
                b,
                "prefetch.tensormap [$0];",
                "l,~{memory}",
                &[prefetch.atom()],
                &[],
            )?;
        } else if let Some(load) = cute_nvgpu::BulkLoad::of(op) {
            let (from, to) = (
                self.place(load.source(), b)?,
                self.place(load.destination(), b)?,
            );
            let (source, destination) = hopper::bulk_spaces(&from.memref);
            let bytes = hopper::bulk_bytes([(&from.memref, source), (&to.memref, destination)])
                .map_err(|e| b.error(e))?;
            let source = match source {
                Space::Smem => "shared::cta",
                _ => "global",
            };
            let (from, to) = (from.start.pointer(b, None)?, to.start.pointer(b, None)?);
            let bar = self.barrier(load.barriers(), Some(load.index()), b)?;
            let policy = policy_of(b, op)?;
            let (hint, by, of_policy) = hinted(policy, 4);
            let target = match source {
                "global" => self.own_shared(b)?,
                _ => "shared::cluster",
            };
            let text = format!(
                "cp.async.bulk.{target}.{source}.mbarrier::complete_tx::bytes{hint} [$0], [$1], $2, [$3]{by};"
            );
            let operands = [to, from, b.i32(bytes)?, bar].into_iter().chain(policy);
            let operands: Vec<_> = operands.collect();
            let constraints = format!("l,l,r,l,{of_policy}~{{memory}}");
            assembly(b, &text, &constraints, &operands, &[])?;
        } else if let Some(store) = cute_nvgpu::BulkStore::of(op) {
            let (from, to) = (
                self.place(store.source(), b)?,
                self.place(store.destination(), b)?,
            );
            let bytes =
                hopper::bulk_bytes([(&from.memref, Space::Smem), (&to.memref, Space::Gmem)])
                    .map_err(|e| b.error(e))?;
            let (from, to) = (from.start.pointer(b, None)?, to.start.pointer(b, None)?);
            let policy = policy_of(b, op)?;
            let (hint, by, of_policy) = hinted(policy, 3);
            let text =
                format!("cp.async.bulk.global.shared::cta.bulk_group{hint} [$0], [$1], $2{by};");
            let operands = [to, from, b.i32(bytes)?].into_iter().chain(policy);
            let operands: Vec<_> = operands.collect();
            let constraints = format!("l,l,r,{of_policy}~{{memory}}");
            assembly(b, &text, &constraints, &operands, &[])?;
        } else if let Some(uniform) = cute_nvgpu::ArchMakeWarpUniform::of(op) {
            let attributes = [("kind", b.attribute("#nvvm<shfl_kind idx>")?)];
            let operands = [b.i32(-1)?, uniform.value(), b.i32(0)?, b.i32(31)?];
            let same = b.value(nvvm::SHFL_SYNC, &operands, b.i32_type(), &attributes)?;
            replace_uses(uniform.result(), same);
        } else if let Some(size) = cute_nvgpu::ArchGetDynSmemSize::of(op) {
            let text = "mov.u32 $0, %dynamic_smem_size;";
            let bytes = pure_assembly(b, text, "=r", &[], b.i32_type())?;
            replace_uses(size.bytes(), bytes);
        } else if name_of(op) == cute_nvgpu::WGMMA_COMMIT_GROUP {
            b.op(nvvm::WGMMA_COMMIT_GROUP_SYNC_ALIGNED, &[], &[], &[])?;
        } else {
            return self.wgmma_op(op, b);
        }
        Ok(true)
    }

    /// The coordinates of a load by an atom.
    fn coordinates(
        &self,
        atom: Val<'c>,
        coords: &[Val<'c>],
        b: Builder<'c>,
    ) -> Result<Coordinates<'c>, Failure> {
        let pixels = self.pixel_modes.get(&key(atom));
        let rank = pixels.map_or(coords.len(), |pixels| pixels + 2);
        let mut values = coords.to_vec();
        let half = b.ty("i16")?;
        for offset in values.iter_mut().skip(rank) {
            *offset = b.value(arith::TRUNCI, &[*offset], half, &[])?;
        }
        Ok(Coordinates { rank, values })
    }

    /// The pointer of an mbarrier.
    fn barrier(
        &self,
        barriers: Val<'c>,
        index: Option<Val<'c>>,
        b: Builder<'c>,
    ) -> Result<Val<'c>, Failure> {
        // A pointer of LLVM's is one already.
        let Some(place) = self.views.get(barriers) else {
            return match CuteType::get(barriers.r#type()) {
                None => Ok(barriers),
                Some(_) => Err(super::starts::no_start(b)),
            };
        };
        let mut start = place.start.clone();
        if let Some(index) = index {
            let (layout, width) = (&place.memref.layout, start.width);
            let bytes = evaluate(b, layout, index, false, hopper::BARRIER_BYTES, width)?;
            start.add(b, bytes)?;
        }
        start.pointer(b, None)
    }
}

/// `st.async` of a value of so many bytes, as words of 32 bits.
fn store_async<'c>(
    b: Builder<'c>,
    [to, bar]: [Val<'c>; 2],
    value: Val<'c>,
    bytes: i64,
) -> Result<(), Failure> {
    let values = match vector_of(value.r#type()) {
        Some(_) => words(b, value)?,
        None if bytes == 4 => vec![bitcast(b, value, b.i32_type())?],
        None => words(b, bitcast(b, value, b.ty("vector<2xi32>")?)?)?,
    };
    let vector = match values.len() {
        1 => String::new(),
        count => format!(".v{count}"),
    };
    let list = list(2, values.len());
    let text = format!(
        "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes{vector}.b32 [$0], {list}, [$1];"
    );
    let constraints = format!("l,l,{}~{{memory}}", "r,".repeat(values.len()));
    let operands: Vec<_> = [to, bar].into_iter().chain(values).collect();
    assembly(b, &text, &constraints, &operands, &[])?;
    Ok(())
}

/// One attempt to see a phase of that parity end, which may sleep for a while.
fn try_wait<'c>(b: Builder<'c>, bar: Val<'c>, parity: Val<'c>) -> Result<Val<'c>, Failure> {
    b.value(nvvm::MBARRIER_TRY_WAIT, &[bar, parity], b.ty("i1")?, &[])
}

/// Attempts until one succeeds.
fn wait_for<'c>(b: Builder<'c>, bar: Val<'c>, parity: Val<'c>) -> Result<(), Failure> {
    let (before, first) = Detached::with_block(&[]);
    let test = Builder::at_end(b.context, first, b.location);
    let ended = try_wait(test, bar, parity)?;
    let no = test.constant(test.ty("i1")?, 0)?;
    let again = test.compare(Predicate::Eq, ended, no)?;
    test.op(scf::CONDITION, &[again], &[], &[])?;
    let (after, second) = Detached::with_block(&[]);
    Builder::at_end(b.context, second, b.location).op(scf::YIELD, &[], &[], &[])?;
    b.with_regions(scf::WHILE, &[], &[], &[], vec![before, after])?;
    Ok(())
}

/// The coordinates of a load: of a box, or by im2col of a column of pixels, and what is added to these.
struct Coordinates<'c> {
    /// Modes of the tensor.
    rank: usize,
    /// A coordinate for each of them, then offsets of 16 bits.
    values: Vec<Val<'c>>,
}

impl Coordinates<'_> {
    /// The modifier that says how pixels are found.
    fn mode(&self) -> &'static str {
        match self.values.len() > self.rank {
            true => ".im2col",
            false => "",
        }
    }

    /// `, {$i, ...}`: the offsets, where the coordinates are operands from `first` on.
    fn offsets(&self, first: usize) -> String {
        let all = self.rank..self.values.len();
        let all: Vec<_> = all.map(|i| format!("${}", first + i)).collect();
        match all.is_empty() {
            true => String::new(),
            false => format!(", {{{}}}", all.join(", ")),
        }
    }

    fn constraints(&self) -> String {
        let offsets = self.values.len() - self.rank;
        format!("{}{}", "r,".repeat(self.rank), "h,".repeat(offsets))
    }
}

impl<'c> Lowering<'c, '_> {
    /// The state space of a bulk copy's destination in the block's own shared memory. A block that is in no cluster is one of its own, and PTX had no other name at
    /// first; from sm_120 on ptxas makes a table in local memory of a cluster's.
    fn own_shared(&self, b: Builder<'c>) -> Result<&'static str, Failure> {
        if !self.has(Requirement::Since(12, 0), b)? {
            return Ok("shared::cluster");
        }
        crate::binary::require_ptx(self.kernel, OWN_BLOCK_VERSION);
        Ok("shared::cta")
    }

    /// Refuses a load for several blocks where it is slower than one by each.
    fn check_multicast(&self, b: Builder<'c>) -> Result<(), Failure> {
        let is_fast = |arch: &Arch| MULTICAST.into_iter().any(|fast| arch.has(fast));
        match self.archs(b)?.into_iter().find(|arch| !is_fast(arch)) {
            None => Ok(()),
            Some(arch) => Err(b.error(format!(
                "multicast, which takes much longer on {arch} than a load by each block; leave `multicast` out there and let every block load its own, or compile it for \
                 sm_90a, for sm_100a, sm_103a or sm_110a, or for one of these with f in place of a"
            ))),
        }
    }
}

/// `[$map, {$first, ...}]`: a box of a tensor map, whose coordinates are operands from `first` on.
fn box_at(map: usize, first: usize, rank: usize) -> String {
    let coords: Vec<_> = (first..first + rank).map(|i| format!("${i}")).collect();
    format!("[${map}, {{{}}}]", coords.join(", "))
}

/// The policy of L2 that a copy has, as a number that its instruction takes.
fn policy_of<'c>(b: Builder<'c>, op: Op<'c>) -> Result<Option<Val<'c>>, Failure> {
    let Some(policy) = string_of(op, "policy") else {
        return Ok(None);
    };
    let text = format!("createpolicy.fractional.L2::{policy}.b64 $0, 1.0;");
    pure_assembly(b, &text, "=l", &[], b.i64_type()).map(Some)
}

/// The parts of an instruction's text and constraints that a policy of L2 adds as the operand of that index: the modifier, the operand, and its constraint.
fn hinted(policy: Option<Val<'_>>, index: usize) -> (&'static str, String, &'static str) {
    match policy {
        Some(_) => (".L2::cache_hint", format!(", ${index}"), "l,"),
        None => ("", String::new(), ""),
    }
}

fn tma_load<'c>(
    b: Builder<'c>,
    target: &str,
    [to, map, bar]: [Val<'c>; 3],
    from: Coordinates<'c>,
    (mask, policy): (Option<Val<'c>>, Option<Val<'c>>),
) -> Result<(), Failure> {
    let (rank, count) = (from.rank, from.values.len());
    let (hint, by, of_policy) = hinted(policy, 3 + count + usize::from(mask.is_some()));
    let (multicast, last, of_mask) = match mask {
        Some(_) => (".multicast::cluster", format!(", ${}", 3 + count), "h,"),
        None => ("", String::new(), ""),
    };
    let text = format!(
        "cp.async.bulk.tensor.{rank}d.{target}.global{}.mbarrier::complete_tx::bytes{multicast}{hint} [$0], {}, [$2]{}{last}{by};",
        from.mode(),
        box_at(1, 3, rank),
        from.offsets(3)
    );
    let constraints = format!(
        "l,l,l,{}{of_mask}{of_policy}~{{memory}}",
        from.constraints()
    );
    let operands = [to, map, bar].into_iter().chain(from.values);
    let operands: Vec<_> = operands.chain(mask).chain(policy).collect();
    assembly(b, &text, &constraints, &operands, &[])?;
    Ok(())
}

fn tma_store<'c>(
    b: Builder<'c>,
    [map, from]: [Val<'c>; 2],
    coords: &[Val<'c>],
    (reduce, policy): (Option<&str>, Option<Val<'c>>),
) -> Result<(), Failure> {
    let rank = coords.len();
    let (hint, by, of_policy) = hinted(policy, 2 + rank);
    let to = box_at(0, 2, rank);
    let way = format!("async.bulk.tensor.{rank}d.global.shared::cta");
    let text = match reduce {
        None => format!("cp.{way}.bulk_group{hint} {to}, [$1]{by};"),
        Some(name) => format!("cp.reduce.{way}.{name}.tile.bulk_group{hint} {to}, [$1]{by};"),
    };
    let constraints = format!("l,l,{}{of_policy}~{{memory}}", "r,".repeat(rank));
    let operands = [map, from].into_iter().chain(coords.iter().copied());
    let operands: Vec<_> = operands.chain(policy).collect();
    assembly(b, &text, &constraints, &operands, &[])?;
    Ok(())
}
