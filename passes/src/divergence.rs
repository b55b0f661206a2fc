//! The values of a kernel that may differ between the threads of a block, and so the branches and loops that not all
//! threads take together. Barriers of a block may stand only where all of its threads come by (PTX ISA, `barrier`).

use crate::memory::space_of;
use cute_ir::ops::{gpu, nvvm, scf};
use cute_ir::{
    Failure,
    attributes::{TEAMS, TOGETHER},
    diag,
    mlir::*,
    names::{builtin, dialect, dialect_of},
    types::{CuteType, Space},
};
use melior::ir::{Attribute, ValueLike, operation::OperationLike};
use std::collections::HashSet;

/// The values of a kernel that depend on the thread.
pub(crate) struct Divergence {
    varying: HashSet<ValueKey>,
}

impl Divergence {
    /// Analyses a kernel. A value varies where it is made from one that does, where an operation makes it that is not
    /// known to give all threads the same, or where a branch or a loop gives it that varies itself.
    pub(crate) fn of(kernel: Op<'_>) -> Self {
        let mut divergence = Self {
            varying: HashSet::new(),
        };
        let ops = nested_ops(kernel);
        // Only ever more values vary, so this ends; loops are what takes it more than once.
        loop {
            let before = divergence.varying.len();
            for op in &ops {
                divergence.visit(*op);
            }
            if divergence.varying.len() == before {
                return divergence;
            }
        }
    }

    /// Tells whether the threads of a block may have different ones.
    pub(crate) fn varies(&self, value: Val<'_>) -> bool {
        self.varying.contains(&key(value))
    }

    /// The innermost branch or loop around `op` that not all threads of a block need take alike.
    pub(crate) fn around<'c>(&self, op: Op<'c>) -> Option<Op<'c>> {
        let mut op = op;
        while let Some(parent) = parent_op(op) {
            if name_of(parent) == gpu::FUNC || is_together(parent, op) {
                return None;
            }
            if self.splits(parent) {
                return Some(parent);
            }
            op = parent;
        }
        None
    }

    /// Refuses `op`, of which all threads of the block are needed, in a branch that only some of them may take.
    pub(crate) fn check(&self, op: Op<'_>, needs: &str) -> Result<(), Failure> {
        let Some(around) = self.around(op) else {
            return Ok(());
        };
        let message = format!(
            "'{}' op {needs}, but not all threads of the block need come here alike; expected it outside of the \
             '{}' around it, or a condition and bounds that are the same for all threads of the block",
            name_of(op),
            name_of(around)
        );
        let note = "this depends on the thread";
        Err(diag::error_with_notes(
            op.location(),
            message,
            &[(around.location(), note)],
        ))
    }

    /// Tells whether threads of a block may take its regions differently, or not equally often.
    pub(crate) fn splits(&self, op: Op<'_>) -> bool {
        if attribute_of(op, TEAMS).is_some() && Together::of(op).is_some_and(|all| all.teams > 1) {
            // Its bounds are the same for all threads of a team.
            false
        } else if let Some(op) = scf::For::of(op) {
            let bounds = [op.lower_bound(), op.upper_bound(), op.step()];
            bounds.into_iter().any(|bound| self.varies(bound))
        } else if let Some(op) = scf::While::of(op) {
            op.before()
                .and_then(|before| scf::Condition::of(ops_of(before).pop()?))
                .is_none_or(|end| self.varies(end.condition()))
        } else if name_of(op) == scf::EXECUTE_REGION {
            // It runs once; between several blocks of it anything may decide.
            blocks_of(op).len() > 1
        } else {
            operands_of(op).into_iter().any(|value| self.varies(value))
        }
    }

    fn visit(&mut self, op: Op<'_>) {
        let operands = operands_of(op);
        let regions = op.region_count();
        if regions == 0 {
            let varies = !gives_all_the_same(op) || operands.iter().any(|v| self.varies(*v));
            if varies {
                self.mark(results_of(op));
            }
            return;
        }
        let splits = self.splits(op);
        let blocks = blocks_of(op);
        if splits || dialect_of(op) != dialect::SCF {
            self.mark(blocks.into_iter().flat_map(arguments_of));
            self.mark(results_of(op));
            return;
        }
        // What goes in and what terminators hand on meet what they may become, counted from the end: bounds and conditions,
        // which become nothing, stand first.
        let mut sources = vec![operands];
        sources.extend(
            blocks
                .iter()
                .filter_map(|block| ops_of(*block).pop())
                .map(operands_of),
        );
        let mut targets: Vec<Vec<Val<'_>>> =
            blocks.iter().map(|block| arguments_of(*block)).collect();
        targets.push(results_of(op));
        for source in &sources {
            for target in &targets {
                let pairs = source.iter().rev().zip(target.iter().rev());
                let hit: Vec<_> = pairs
                    .filter(|(from, _)| self.varies(**from))
                    .map(|(_, to)| *to)
                    .collect();
                self.mark(hit);
            }
        }
    }

    fn mark<'c>(&mut self, values: impl IntoIterator<Item = Val<'c>>) {
        self.varying.extend(values.into_iter().map(key));
    }
}

/// Tells whether an op is in the branch of a role, whose threads have a barrier of their own.
fn is_together(branch: Op<'_>, op: Op<'_>) -> bool {
    attribute_of(branch, TOGETHER).is_some() && block_of(op) == body_of(branch, 0)
}

/// Threads of a block that take a branch together and have barriers of their own, in one team or several, each of its own: those from thread 0 on along x.
#[derive(Clone, Copy)]
pub(crate) struct Together {
    /// The number of the first team's barrier; those of others follow.
    pub(crate) number: i64,
    /// Threads of a team.
    pub(crate) threads: i64,
    /// Teams.
    pub(crate) teams: i64,
}

impl Together {
    /// The threads that take a branch together, if it says so.
    fn of_branch(branch: Op<'_>) -> Option<Self> {
        let [number, threads, teams] = attribute_of(branch, TOGETHER)
            .and_then(i64s_of)?
            .try_into()
            .ok()?;
        Some(Self {
            number,
            threads,
            teams,
        })
    }

    /// The threads that come by an op together; none where all of the block do.
    pub(crate) fn of(op: Op<'_>) -> Option<Self> {
        let mut op = op;
        while let Some(parent) = parent_op(op) {
            if is_together(parent, op) {
                return Self::of_branch(parent);
            }
            op = parent;
        }
        None
    }

    /// The attribute of the branch.
    pub(crate) fn attribute(self, b: Builder<'_>) -> Attribute<'_> {
        b.i64_array(&[self.number, self.threads, self.teams])
    }
}

/// Tells whether all threads of a block get the same from an operation without regions, if its operands are the same.
fn gives_all_the_same(op: Op<'_>) -> bool {
    match dialect_of(op) {
        dialect::ARITH | dialect::INDEX | dialect::MATH | dialect::VECTOR => true,
        dialect::CUTE => reads_the_same(op),
        // Of what MLIR has to ask a thread for, these are numbers of its block; that they are, nothing but their names says.
        _ => matches!(
            name_of(op),
            gpu::BLOCK_ID
                | gpu::BLOCK_DIM
                | gpu::GRID_DIM
                | gpu::CLUSTER_ID
                | gpu::CLUSTER_DIM
                | nvvm::READ_PTX_SREG_CTAID_X
                | nvvm::READ_PTX_SREG_CTAID_Y
                | nvvm::READ_PTX_SREG_CTAID_Z
                | nvvm::READ_PTX_SREG_NCTAID_X
                | nvvm::READ_PTX_SREG_NCTAID_Y
                | nvvm::READ_PTX_SREG_NCTAID_Z
                | nvvm::READ_PTX_SREG_NTID_X
                | nvvm::READ_PTX_SREG_NTID_Y
                | nvvm::READ_PTX_SREG_NTID_Z
                | builtin::UNREALIZED_CONVERSION_CAST
        ),
    }
}

/// Tells whether what an op reads, if anything, is the same for all threads: memory that they share, and not by an atom, which may have
/// another part of it for each. Threads that nothing orders may read only what nobody writes.
fn reads_the_same(op: Op<'_>) -> bool {
    let Some(effects) = effects_of(op) else {
        return false;
    };
    let mut reads = effects
        .iter()
        .filter(|effect| effect.kind == EffectKind::Read)
        .peekable();
    if reads.peek().is_none() {
        return true;
    }
    let is_tiled = |value: &Val<'_>| {
        matches!(
            CuteType::of(value.r#type()),
            Some(CuteType::TiledCopy { .. } | CuteType::TiledMma { .. })
        )
    };
    // A pipeline is the block's.
    let is_shared = |value| match space_of(value) {
        Some(space) => matches!(space, Space::Gmem | Space::Smem),
        None => true,
    };
    !operands_of(op).iter().any(is_tiled) && reads.all(|effect| effect.value.is_some_and(is_shared))
}
