//! `cute-lower-warp-specialize`: roles of warps become branches on the number of the warp.
//!
//! That number is made uniform, so that ptxas knows that the warps of a branch stay together, and each role begins with the registers that its threads may have. All that
//! passes between roles is an mbarrier or a named barrier by now: pipelines were lowered before (`cute-lower-handed-pipelines`).

use crate::{
    arch::{WARP, WARPGROUP},
    kernel::{body_of_kernel, thread_index},
    memory::{root_of, touched},
    number_barriers::number_of,
    shared::in_shared,
};
use cute_arith::Predicate;
use cute_ir::ops::{arith, cute, cute_nvgpu, gpu, nvvm, scf};
use cute_ir::{
    Anchor, Expected, Failure, PassSpec,
    attributes::{MIN_BLOCKS, MOST_REGISTERS},
    block::block_size_of,
    diag::{self, each},
    mlir::*,
    types::memref_of,
};
use cute_target::{SETMAXNREG_UNIT, registers_of_warpgroups};
use melior::ir::operation::OperationLike;
use std::collections::{HashMap, HashSet};

/// The pass.
pub(crate) const PASS: PassSpec = PassSpec {
    name: "cute-lower-warp-specialize",
    description: "Lower roles of warps to branches on the number of the warp",
    anchor: Anchor::Kernel,
    options: &[],
    run,
};

fn run<'c>(rewriter: &'c Rewriter<'c>, kernel: Op<'c>, _: &[&str]) -> Result<(), Failure> {
    let ops = nested_ops(kernel);
    let mut all = ops.iter().copied().filter_map(cute::WarpSpecialize::of);
    let Some(op) = all.next() else {
        return Ok(());
    };
    let body = body_of_kernel(kernel)?;
    let specialized = Specialized::of(kernel, body, op)?;
    if let Some(other) = all.next() {
        return Err(diag::error_with_notes(
            other.op().location(),
            format!(
                "'{}' op gives warps roles that they have already; expected one in a kernel",
                cute::WARP_SPECIALIZE
            ),
            &[(op.op().location(), "the first")],
        ));
    }
    each(&specialized.roles, Role::check_barriers)?;
    specialized.check_shared()?;
    specialized.set_registers(kernel);
    specialized.lower(rewriter)
}

/// The role that `op` is in, by its place among those of the block, and its warps.
pub(crate) fn role_of(op: Op<'_>) -> Option<(usize, i64)> {
    let mut inner = op;
    loop {
        let outer = parent_op(inner)?;
        if name_of(outer) == cute::WARP_SPECIALIZE {
            let block = block_of(inner)?;
            let role = (0..outer.region_count()).position(|i| body_of(outer, i) == Some(block))?;
            let warps = attribute_of(outer, "warps").and_then(i64s_of)?;
            return Some((role, *warps.get(role)?));
        }
        inner = outer;
    }
}

/// The part of a kernel that some of its warps have.
struct Role<'c> {
    /// The warps of the block that are before those of the role.
    first: i64,
    warps: i64,
    registers: Option<i64>,
    body: Blk<'c>,
}

/// The roles of a kernel.
struct Specialized<'c> {
    op: Op<'c>,
    roles: Vec<Role<'c>>,
    /// The registers of a thread before its role begins, where roles say how many they have.
    at_entry: Option<i64>,
}

impl<'c> Specialized<'c> {
    fn of(kernel: Op<'c>, body: Blk<'c>, op: cute::WarpSpecialize<'c>) -> Result<Self, Failure> {
        let op = op.op();
        let b = Builder::before(op);
        if block_of(op) != Some(body) {
            return Err(b.error(format!(
                "'{}' op stands within a loop or a branch; expected it in the kernel's own block, where all threads come by",
                cute::WARP_SPECIALIZE
            )));
        }
        let warps = attribute_of(op, "warps").and_then(i64s_of);
        let warps = warps.expected(b, "warps of roles")?;
        let registers = attribute_of(op, "registers").and_then(i64s_of);
        let mut roles = Vec::new();
        for (index, count) in warps.iter().enumerate() {
            roles.push(Role {
                first: warps[..index].iter().sum(),
                warps: *count,
                registers: registers.as_ref().and_then(|all| all.get(index).copied()),
                body: body_of(op, index).expected(b, "a region of each role")?,
            });
        }
        let all: i64 = warps.iter().sum();
        match block_size_of(kernel) {
            Some([threads, 1, 1]) if threads == all * WARP => (),
            found => {
                return Err(diag::error_with_notes(
                    op.location(),
                    format!(
                        "'{}' op has roles of {all} warps, {} threads, in blocks of {}; expected known_block_size = array<i32: {}, 1, 1>, or roles for all of its warps",
                        cute::WARP_SPECIALIZE,
                        all * WARP,
                        found.map_or("unknown size".to_owned(), |[x, y, z]| format!(
                            "{x} x {y} x {z}"
                        )),
                        all * WARP
                    ),
                    &[(kernel.location(), "the kernel")],
                ));
            }
        }
        let mut specialized = Self {
            op,
            roles,
            at_entry: None,
        };
        specialized.at_entry = specialized.registers_at_entry(kernel, all)?;
        Ok(specialized)
    }

    /// The registers of a thread before its role begins. Errors: roles ask for more than a block has.
    fn registers_at_entry(&self, kernel: Op<'c>, warps: i64) -> Result<Option<i64>, Failure> {
        let groups = |role: &Role<'c>| role.warps * WARP / WARPGROUP;
        let budgets = self
            .roles
            .iter()
            .map(|role| Some((groups(role), role.registers?)));
        let Some(budgets) = budgets.collect::<Option<Vec<_>>>() else {
            return Ok(None);
        };
        let warpgroups = warps * WARP / WARPGROUP;
        let blocks = integer_of(kernel, MIN_BLOCKS).unwrap_or(1).max(1);
        let of_multiprocessor =
            registers_of_warpgroups(u32::try_from(warpgroups * blocks).unwrap_or(u32::MAX));
        let has = i64::from(of_multiprocessor) / blocks;
        let all: i64 = budgets
            .iter()
            .map(|(groups, registers)| groups * registers)
            .sum();
        if all > has {
            let sum: Vec<_> = budgets
                .iter()
                .map(|(groups, registers)| format!("{groups} x {registers}"))
                .collect();
            return Err(diag::error(
                self.op.location(),
                format!(
                    "'{}' op asks for {} = {all} registers for one thread of each warpgroup; a block of {warpgroups} has {has}{}, take fewer",
                    cute::WARP_SPECIALIZE,
                    sum.join(" + "),
                    if blocks > 1 {
                        format!(", where {blocks} are to run at once")
                    } else {
                        String::new()
                    }
                ),
            ));
        }
        if let Some(given) = integer_of(kernel, MOST_REGISTERS) {
            let at_once = given / i64::from(SETMAXNREG_UNIT) * i64::from(SETMAXNREG_UNIT);
            if all > at_once * warpgroups {
                return Err(diag::error_with_notes(
                    self.op.location(),
                    format!(
                        "'{}' op asks for {all} registers for one thread of each warpgroup, and the block begins with {warpgroups} x {at_once} by {MOST_REGISTERS}, so \
                         that roles wait for ever; expected at least {MOST_REGISTERS} = {}, or none",
                        cute::WARP_SPECIALIZE,
                        share(all, warpgroups)
                    ),
                    &[(kernel.location(), "the kernel")],
                ));
            }
            return Ok(Some(at_once));
        }
        // With both, ptxas takes the fewer.
        Ok(Some(if blocks > 1 {
            has / warpgroups
        } else {
            share(all, warpgroups)
        }))
    }

    /// Tells ptxas how many registers threads have at entry, which roles share; else it takes as few as it needs where sums are small, and ignores what roles ask for (C7508).
    fn set_registers(&self, kernel: Op<'c>) {
        let says = |name: &&str| attribute_of(kernel, name).is_some();
        if let Some(registers) = self.at_entry
            && ![MIN_BLOCKS, MOST_REGISTERS].iter().any(says)
        {
            let b = Builder::before(kernel);
            set_attribute(kernel, MOST_REGISTERS, b.integer(b.i32_type(), registers));
        }
    }

    /// Refuses tensors in shared memory that one role writes and another one touches, where nothing that both use orders them.
    fn check_shared(&self) -> Result<(), Failure> {
        let uses: Vec<_> = self.roles.iter().map(Role::uses).collect();
        for (index, later) in uses.iter().enumerate() {
            for earlier in &uses[..index] {
                if earlier.ordered && later.ordered
                    || earlier.barriers.iter().any(|b| later.barriers.contains(b))
                {
                    continue;
                }
                for (tensor, (second, second_writes)) in &later.tensors {
                    let Some((first, first_writes)) = earlier.tensors.get(tensor) else {
                        continue;
                    };
                    if !(*first_writes || *second_writes) {
                        continue;
                    }
                    return Err(diag::error_with_notes(
                        second.location(),
                        format!(
                            "'{}' op touches a tensor in shared memory that another role {}, and nothing orders the two; expected a cute_nvgpu.pipeline that both \
                             use, an mbarrier, or a named barrier",
                            name_of(*second),
                            if *first_writes { "writes" } else { "reads" }
                        ),
                        &[(first.location(), "the other role does so here")],
                    ));
                }
            }
        }
        Ok(())
    }

    fn lower(&self, rewriter: &'c Rewriter<'c>) -> Result<(), Failure> {
        let b = Builder::before(self.op).step("roles");
        let thread = thread_index(b)?;
        let i32_type = b.i32_type();
        let warp = b.value(arith::DIVUI, &[thread, b.i32(WARP)?], i32_type, &[])?;
        let warp = b.value(cute_nvgpu::ARCH_MAKE_WARP_UNIFORM, &[warp], i32_type, &[])?;
        self.write(b, &self.roles, thread, warp)?;
        rewriter.erase_all(vec![self.op])
    }

    /// Writes the first of some roles where the warp is of it, and the others elsewhere.
    fn write(
        &self,
        b: Builder<'c>,
        roles: &[Role<'c>],
        thread: Val<'c>,
        warp: Val<'c>,
    ) -> Result<(), Failure> {
        let [role, rest @ ..] = roles else {
            return Ok(());
        };
        if rest.is_empty() {
            return self.write_role(b, role, thread, warp);
        }
        let is_of = b.compare(Predicate::Ult, warp, b.i32(role.first + role.warps)?)?;
        let (this, then) = Detached::with_block(&[]);
        let (others, otherwise) = Detached::with_block(&[]);
        b.with_regions(scf::IF, &[is_of], &[], &[], vec![this, others])?;
        let within = Builder::at_end(b.context, then, b.location);
        self.write_role(within, role, thread, warp)?;
        within.op(scf::YIELD, &[], &[], &[])?;
        let within = Builder::at_end(b.context, otherwise, b.location);
        self.write(within, rest, thread, warp)?;
        within.op(scf::YIELD, &[], &[], &[])?;
        Ok(())
    }

    fn write_role(
        &self,
        b: Builder<'c>,
        role: &Role<'c>,
        thread: Val<'c>,
        warp: Val<'c>,
    ) -> Result<(), Failure> {
        if let (Some(registers), Some(at_entry)) = (role.registers, self.at_entry)
            && registers != at_entry
        {
            let action = if registers < at_entry {
                "decrease"
            } else {
                "increase"
            };
            budget_of(b, action, registers)?;
        }
        let mut own = [thread, warp];
        if role.first > 0 {
            let firsts = [role.first * WARP, role.first];
            for (value, first) in own.iter_mut().zip(firsts) {
                *value = b.value(arith::SUBI, &[*value, b.i32(first)?], b.i32_type(), &[])?;
            }
        }
        let mut mapping = Mapping::new();
        for (old, new) in arguments_of(role.body).into_iter().zip(own) {
            mapping.insert(key(old), new);
        }
        for op in ops_of(role.body) {
            b.at_location(op.location()).clone_op(op, &mut mapping);
        }
        Ok(())
    }
}

/// The registers of a thread at entry of which so many warpgroups make what roles ask for, for one thread of each warpgroup together: fewer, and roles would wait for ever.
pub(crate) fn share(all: i64, warpgroups: i64) -> i64 {
    let unit = i64::from(SETMAXNREG_UNIT);
    let units = unit * warpgroups;
    (all + units - 1) / units * unit
}

/// Lets the threads of this warpgroup have so many registers each.
pub(crate) fn budget_of(b: Builder<'_>, action: &str, registers: i64) -> Result<(), Failure> {
    let attributes = [
        ("action", b.attribute(&format!("#nvvm<action {action}>"))?),
        ("regCount", b.integer(b.i32_type(), registers)),
    ];
    b.op(nvvm::SETMAXREGISTER, &[], &[], &attributes)?;
    Ok(())
}

/// Use of shared memory by a role.
#[derive(Default)]
struct Uses<'c> {
    /// The tensors that it touches: where, and whether it writes them.
    tensors: HashMap<ValueKey, (Op<'c>, bool)>,
    /// The tensors of mbarriers.
    barriers: HashSet<ValueKey>,
    /// Tells whether it comes to named barriers, or to those of a cluster.
    ordered: bool,
}

impl<'c> Role<'c> {
    /// Refuses barriers of the whole block, to which the other roles do not come.
    fn check_barriers(&self) -> Result<(), Failure> {
        each(nested_ops_of(self.body), |op| {
            let is_of_all = match name_of(op) {
                gpu::BARRIER => true,
                nvvm::BARRIER => number_of(op).is_none_or(|id| constant_of(id) == Some(0)),
                _ => false,
            };
            if !is_of_all {
                return Ok(());
            }
            Err(diag::error(
                op.location(),
                format!(
                    "'{}' op waits for all threads of the block within a role of {} of its warps, so that it waits for ever; expected a barrier of the role, \
                     nvvm.barrier id = %b number_of_threads = %n of cute_nvgpu.named_barriers",
                    name_of(op),
                    self.warps
                ),
            ))
        })
    }

    fn uses(&self) -> Uses<'c> {
        let mut uses = Uses::default();
        for op in nested_ops_of(self.body) {
            if op.region_count() > 0 {
                continue;
            }
            uses.ordered |= matches!(
                name_of(op),
                nvvm::BARRIER | nvvm::BARRIER_ARRIVE | nvvm::CLUSTER_ARRIVE | nvvm::CLUSTER_WAIT
            );
            for (kind, writes) in [(EffectKind::Read, false), (EffectKind::Write, true)] {
                for value in touched(op, kind).into_iter().filter(|v| in_shared(*v)) {
                    let root = key(root_of(value));
                    if is_barriers(value) {
                        uses.barriers.insert(root);
                        continue;
                    }
                    let entry = uses.tensors.entry(root).or_insert((op, writes));
                    entry.1 |= writes;
                }
            }
        }
        uses
    }
}

/// Tells whether a tensor is of mbarriers: no other one is of words of 64 bits that operations on mbarriers take.
fn is_barriers(value: Val<'_>) -> bool {
    memref_of(value).is_some_and(|memref| memref.element.to_string() == "i64")
}
