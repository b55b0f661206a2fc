//! The order of instructions: blocks so that threads that went different ways meet again early.

use super::super::program::{Inst, Op, Origin};
use super::Draft;
use crate::ptx::Class;

/// Instructions in their order, where they are from, and where functions begin.
pub(super) struct Finished {
    pub insts: Vec<Inst>,
    pub origins: Vec<Origin>,
    pub entries: Vec<u32>,
}

/// Puts basic blocks in an order in which every block comes after those that lead to it, loops
/// apart, and resolves labels. The executor runs the threads at the lowest index first, so those
/// that left the common path catch up before the others go on.
pub(super) fn finish(
    drafts: Vec<Draft>,
    labels: &[Option<u32>],
    origins: &[Origin],
    entries: &[u32],
) -> Finished {
    let starts = block_starts(&drafts, labels);
    let block_of = |at: u32| starts.partition_point(|&start| start <= at) - 1;
    let end = |block: usize| {
        starts
            .get(block + 1)
            .map_or(drafts.len(), |&next| next as usize)
    };
    let target = |label: u32| labels[label as usize].unwrap_or(0);
    // The blocks that each leads to; the one that follows it in the text first.
    let successors: Vec<Vec<usize>> = (0..starts.len())
        .map(|block| {
            let last = &drafts[end(block) - 1].inst;
            let mut next = Vec::new();
            if falls_through(last) && block + 1 < starts.len() {
                next.push(block + 1);
            }
            match &last.op {
                Op::Branch(label) => next.push(block_of(target(*label))),
                Op::BranchIndex { targets, .. } => {
                    next.extend(targets.iter().map(|&label| block_of(target(label))));
                }
                _ => {}
            }
            next
        })
        .collect();
    let roots: Vec<usize> = entries
        .iter()
        .map(|&label| block_of(target(label)))
        .collect();
    let order = order(&successors, &roots);
    emit(drafts, origins, &starts, &order, labels, entries)
}

fn falls_through(inst: &Inst) -> bool {
    inst.guard.is_some()
        || !matches!(
            inst.op,
            Op::Branch(_) | Op::BranchIndex { .. } | Op::Exit | Op::Return | Op::Trap
        )
}

fn block_starts(drafts: &[Draft], labels: &[Option<u32>]) -> Vec<u32> {
    let mut starts: Vec<u32> = vec![0];
    starts.extend(labels.iter().flatten());
    for (i, draft) in drafts.iter().enumerate() {
        if matches!(
            draft.inst.op,
            Op::Branch(_) | Op::BranchIndex { .. } | Op::Exit | Op::Return | Op::Trap
        ) {
            starts.push(i as u32 + 1);
        }
    }
    starts.sort_unstable();
    starts.dedup();
    // What stands after the last instruction is no block.
    starts.retain(|&start| (start as usize) < drafts.len());
    starts
}

/// Reverse post-order from the first block, then from those where functions begin. Blocks further down in the text are visited first and
/// so come last: the exit of a loop after its body, as compilers lay code out.
fn order(successors: &[Vec<usize>], roots: &[usize]) -> Vec<usize> {
    let mut done = vec![false; successors.len()];
    let mut all = Vec::new();
    let mut stack: Vec<(usize, Vec<usize>)> = Vec::new();
    let open = |block: usize, done: &mut Vec<bool>| {
        done[block] = true;
        let mut next = successors[block].clone();
        next.sort_unstable();
        (block, next)
    };
    for root in std::iter::once(0).chain(roots.iter().copied()) {
        if root >= successors.len() || done[root] {
            continue;
        }
        let mut post = Vec::new();
        stack.push(open(root, &mut done));
        while let Some((block, next)) = stack.last_mut() {
            match next.pop() {
                Some(successor) if !done[successor] => {
                    let entry = open(successor, &mut done);
                    stack.push(entry);
                }
                Some(_) => {}
                None => {
                    post.push(*block);
                    stack.pop();
                }
            }
        }
        all.extend(post.into_iter().rev());
    }
    all
}

fn emit(
    drafts: Vec<Draft>,
    origins: &[Origin],
    starts: &[u32],
    order: &[usize],
    labels: &[Option<u32>],
    entries: &[u32],
) -> Finished {
    let mut drafts: Vec<Option<Draft>> = drafts.into_iter().map(Some).collect();
    let mut insts = Vec::new();
    let mut at_origin = Vec::new();
    // Where each block, by its first draft, went.
    let mut new_start = vec![u32::MAX; drafts.len() + 1];
    let mut gotos = Vec::new();
    for (i, &block) in order.iter().enumerate() {
        let start = starts[block] as usize;
        let end = starts
            .get(block + 1)
            .map_or(drafts.len(), |&next| next as usize);
        new_start[start] = insts.len() as u32;
        let mut falls = true;
        let mut origin = 0;
        for draft in drafts[start..end].iter_mut().filter_map(Option::take) {
            falls = falls_through(&draft.inst);
            origin = draft.origin;
            insts.push(draft.inst);
            at_origin.push(origin);
        }
        let next = order.get(i + 1).map(|&next| starts[next] as usize);
        if falls && next != Some(end) {
            gotos.push((insts.len(), end));
            insts.push(Inst {
                op: Op::Goto(0),
                guard: None,
            });
            at_origin.push(origin);
        }
    }
    // The end of a body is the end of its thread; so is a label behind the last instruction.
    let finish = insts.len() as u32;
    insts.push(Inst {
        op: Op::Exit,
        guard: None,
    });
    at_origin.push(origins.len().saturating_sub(1) as u32);
    let resolve = |at: usize| match new_start.get(at) {
        Some(&start) if start != u32::MAX => start,
        _ => finish,
    };
    for (at, to) in gotos {
        insts[at].op = Op::Goto(resolve(to));
    }
    let target = |label: u32| resolve(labels[label as usize].unwrap_or(u32::MAX) as usize);
    for inst in &mut insts {
        match &mut inst.op {
            Op::Branch(label) => *label = target(*label),
            Op::BranchIndex { targets, .. } => {
                for label in targets {
                    *label = target(*label);
                }
            }
            _ => {}
        }
    }
    let mut origins: Vec<Origin> = at_origin
        .into_iter()
        .map(|origin| {
            origins.get(origin as usize).cloned().unwrap_or(Origin {
                text: "ret".into(),
                class: Class::Control,
                line: 0,
                source: None,
            })
        })
        .collect();
    if let Some(end) = origins.last_mut() {
        end.class = Class::Control;
    }
    Finished {
        insts,
        origins,
        entries: entries.iter().map(|&label| target(label)).collect(),
    }
}
