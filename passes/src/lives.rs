//! The time for which each shared tensor of a kernel lives, in loops and branches too.

use crate::{
    divergence::Divergence,
    memory::{is_memory, root_of},
    shared::{Buffer, allocated, in_shared},
};
use cute_ir::{Failure, mlir::*, ops::gpu};
use melior::ir::operation::OperationLike;
use std::collections::HashMap;

/// The shared tensors of a kernel. Positions count the kernel's operations, an op before what is within it.
pub(crate) struct Lives<'c> {
    /// The operations that make the tensors, one for each of `buffers`.
    pub(crate) allocations: Vec<Op<'c>>,
    pub(crate) buffers: Vec<Buffer>,
    /// The barriers of the kernel's own body, which all threads pass once.
    barriers: Vec<usize>,
}

impl<'c> Lives<'c> {
    /// Finds them. A tensor lives from its first use to its last one. One that is made outside of a loop lives as long as the
    /// loop, if it is used there; one that is used where only some threads come lives as long as the whole branch or loop
    /// that not all threads take alike, for others may be elsewhere in it. What nothing uses takes no bytes.
    pub(crate) fn of(kernel: Op<'c>) -> Result<Self, Failure> {
        let mut walk = Walk {
            divergence: Divergence::of(kernel),
            position: 0,
            lives: Self {
                allocations: Vec::new(),
                buffers: Vec::new(),
                barriers: Vec::new(),
            },
            index: HashMap::new(),
            made: Vec::new(),
            around: Vec::new(),
            uses: Vec::new(),
        };
        for block in blocks_of(kernel) {
            walk.block(block, &mut Vec::new())?;
        }
        Ok(walk.finish())
    }

    /// Tells whether a barrier that all threads pass stands between two tensors.
    pub(crate) fn is_ordered(&self, earlier: &Buffer, later: &Buffer) -> bool {
        let between = earlier.last + 1..later.first;
        self.barriers.iter().any(|at| between.contains(at))
    }
}

/// The manner in which an op goes through its regions.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Manner {
    /// All threads take the same way, through a region once at most.
    Once,
    /// A region may be gone through again.
    Again,
    /// Threads may take different ways.
    Apart,
}

/// An op with regions: its manner, and the positions that it spans.
struct Around {
    manner: Manner,
    first: usize,
    last: usize,
}

/// A use of a tensor, or of any where it is not known which: its position, and the ops around it, outermost first.
struct Use {
    buffer: Option<usize>,
    position: usize,
    path: Vec<usize>,
}

struct Walk<'c> {
    divergence: Divergence,
    position: usize,
    lives: Lives<'c>,
    /// The buffer that an allocation makes.
    index: HashMap<ValueKey, usize>,
    /// The ops around each allocation.
    made: Vec<Vec<usize>>,
    around: Vec<Around>,
    uses: Vec<Use>,
}

impl<'c> Walk<'c> {
    fn manner(&self, op: Op<'c>) -> Manner {
        if self.divergence.splits(op) {
            return Manner::Apart;
        }
        if may_repeat(op) {
            Manner::Again
        } else {
            Manner::Once
        }
    }

    fn block(&mut self, block: Blk<'c>, path: &mut Vec<usize>) -> Result<(), Failure> {
        for op in ops_of(block) {
            self.op(op, path)?;
            self.position += 1;
            if op.region_count() == 0 {
                continue;
            }
            let around = self.around.len();
            self.around.push(Around {
                manner: self.manner(op),
                first: self.position - 1,
                last: 0,
            });
            path.push(around);
            for inner in blocks_of(op) {
                self.block(inner, path)?;
            }
            path.pop();
            self.around[around].last = self.position - 1;
        }
        Ok(())
    }

    fn op(&mut self, op: Op<'c>, path: &[usize]) -> Result<(), Failure> {
        if name_of(op) == gpu::BARRIER && path.is_empty() {
            self.lives.barriers.push(self.position);
        }
        if let Some((memref, tensor, bytes)) = allocated(op)? {
            self.index.insert(key(tensor), self.lives.buffers.len());
            self.lives.allocations.push(op);
            self.lives.buffers.push(Buffer::unused(bytes, memref.align));
            self.made.push(path.to_vec());
            return Ok(());
        }
        // Views are used where they are accessed.
        let is_view = matches!(results_of(op)[..], [view] if is_memory(view)) && is_pure(op);
        if is_view && op.region_count() == 0 {
            return Ok(());
        }
        for operand in operands_of(op).into_iter().filter(|v| in_shared(*v)) {
            self.uses.push(Use {
                // Through a loop, a branch or a choice any of them may be meant.
                buffer: self.index.get(&key(root_of(operand))).copied(),
                position: self.position,
                path: path.to_vec(),
            });
        }
        Ok(())
    }

    fn finish(self) -> Lives<'c> {
        let mut lives = self.lives;
        for used in &self.uses {
            let those = used
                .buffer
                .map_or(0..lives.buffers.len(), |buffer| buffer..buffer + 1);
            for buffer in those {
                // What is made in a loop is made anew each turn, unless it may be handed on to the next one.
                let inside = |at: usize| {
                    used.buffer.is_some() && self.made[buffer].get(at) == used.path.get(at)
                };
                let lifted = used.path.iter().enumerate().find(|(at, around)| {
                    match self.around[**around].manner {
                        Manner::Once => false,
                        Manner::Again => !inside(*at),
                        Manner::Apart => true,
                    }
                });
                let (first, last) = lifted.map_or((used.position, used.position), |(_, around)| {
                    let around = &self.around[*around];
                    (around.first, around.last)
                });
                lives.buffers[buffer].used(first);
                lives.buffers[buffer].used(last);
            }
        }
        for buffer in lives.buffers.iter_mut().filter(|b| b.first == usize::MAX) {
            *buffer = Buffer {
                bytes: 0,
                first: 0,
                last: 0,
                ..*buffer
            };
        }
        lives
    }
}
