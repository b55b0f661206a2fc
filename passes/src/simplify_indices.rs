//! `cute-simplify-indices`: egg over the index arithmetic of a kernel.
//!
//! All integer arithmetic of one width is one graph. Its leaves are what it is computed from, with
//! what is known of them: thread and block indices by the kernel's known sizes, loop counters by
//! their bounds. Its roots are the values that anything else uses. Each root is computed anew as
//! `cute-simplify` gives it, as far out of loops as its leaves allow; a constant that is added last
//! moves from an address's offset into the address itself, where instructions have room for it.

use cute_ir::block::dimension_of;
use cute_ir::ops::{arith, gpu, llvm, scf};
use cute_ir::{Anchor, Expected, Failure, PassSpec, args::replace_operand, diag, mlir::*};
use cute_simplify::{Facts, Limits, Node, Region, Simplified, simplify};
use melior::ir::{Type, ValueLike, operation::OperationLike};
use std::collections::{BTreeSet, HashMap, HashSet};

/// The pass.
pub const PASS: PassSpec = PassSpec {
    name: "cute-simplify-indices",
    description: "Simplify the index arithmetic of kernels by equality saturation",
    anchor: Anchor::Kernel,
    options: &[],
    run,
};

fn run<'c>(rewriter: &'c Rewriter<'c>, kernel: Op<'c>, _: &[&str]) -> Result<(), Failure> {
    for width in [32, 64] {
        Indices::collect(kernel, width)?.rewrite(rewriter)?;
    }
    Ok(())
}

/// The arithmetic of one width in a kernel.
struct Indices<'c> {
    kernel: Op<'c>,
    width: u32,
    ty: Type<'c>,
    region: Region,
    /// The value of each leaf.
    leaves: Vec<Val<'c>>,
    /// Each root: its value, and what uses it that is not arithmetic, in program order.
    roots: Vec<(Val<'c>, Vec<Op<'c>>)>,
    /// Operations that the graph replaces, in program order.
    old: Vec<Op<'c>>,
}

/// The node of an operation on two earlier nodes, where it is one that the graph has.
fn node_of(op: Op<'_>, left: usize, right: usize) -> Option<Node> {
    Node::of(cute_arith::Op::named(name_of(op))?, left, right)
}

fn is_loop_value(value: Val) -> bool {
    block_argument(value)
        .is_some_and(|(block, _)| owner_of(block).is_some_and(|op| name_of(op) == scf::FOR))
}

impl<'c> Indices<'c> {
    fn collect(kernel: Op<'c>, width: u32) -> Result<Self, Failure> {
        let b = Builder::before(kernel);
        let ty = cute_ir::types::int_type(b.context, width);
        let all = nested_ops(kernel);
        let ours = |op: &Op<'c>| {
            op.result_count() == 1
                && result_of(*op, 0).r#type() == ty
                && (node_of(*op, 0, 0).is_some()
                    || (name_of(*op) == arith::CONSTANT && integer_of(*op, "value").is_some()))
        };
        let old: Vec<_> = all.iter().copied().filter(ours).collect();
        let ids: HashSet<OpKey> = old.iter().map(|op| op_key(*op)).collect();

        // Leaves: what changes least first, so that sums put it first.
        let mut leaves: Vec<Val<'c>> = Vec::new();
        for op in &old {
            for operand in operands_of(*op) {
                let inner = defining_op(operand).is_some_and(|op| ids.contains(&op_key(op)));
                if !inner && !leaves.contains(&operand) {
                    leaves.push(operand);
                }
            }
        }
        leaves.sort_by_key(|leaf| is_loop_value(*leaf));
        let number: HashMap<ValueKey, usize> = leaves
            .iter()
            .enumerate()
            .map(|(i, v)| (key(*v), i))
            .collect();
        let mut region = Region {
            width,
            leaves: leaves
                .iter()
                .map(|leaf| facts(*leaf, kernel, width))
                .collect(),
            nodes: (0..leaves.len()).map(|i| Node::Leaf(i as u32)).collect(),
            roots: Vec::new(),
        };
        let mut nodes: HashMap<ValueKey, usize> = number;
        let mut roots = Vec::new();
        for op in &old {
            let made = match &operands_of(*op)[..] {
                [left, right] => node_of(*op, nodes[&key(*left)], nodes[&key(*right)]),
                _ => None,
            };
            let constant = || truncate(integer_of(*op, "value").unwrap_or(0), width);
            let node = made.unwrap_or_else(|| Node::Const(constant()));
            nodes.insert(key(result_of(*op, 0)), region.nodes.len());
            region.nodes.push(node);
        }
        let order: HashMap<OpKey, usize> = all
            .iter()
            .enumerate()
            .map(|(i, op)| (op_key(*op), i))
            .collect();
        for op in &old {
            let value = result_of(*op, 0);
            let mut users: Vec<_> = users_of(value)
                .into_iter()
                .filter(|user| !ids.contains(&op_key(*user)))
                .collect();
            users.sort_by_key(|user| order[&op_key(*user)]);
            users.dedup_by_key(|user| op_key(*user));
            if !users.is_empty() {
                region.roots.push(nodes[&key(value)]);
                roots.push((value, users));
            }
        }
        Ok(Self {
            kernel,
            width,
            ty,
            region,
            leaves,
            roots,
            old,
        })
    }

    fn rewrite(self, rewriter: &'c Rewriter<'c>) -> Result<(), Failure> {
        if self.roots.is_empty() {
            return Ok(());
        }
        let simple = simplify(&self.region, &Limits::default()).map_err(|e| {
            diag::error(
                self.kernel.location(),
                format!("cute-simplify-indices: {e}"),
            )
        })?;
        let order: HashMap<OpKey, usize> = nested_ops(self.kernel)
            .iter()
            .enumerate()
            .map(|(i, op)| (op_key(*op), i))
            .collect();
        let mut by_use: Vec<usize> = (0..self.roots.len()).collect();
        by_use.sort_by_key(|i| order[&(op_key(self.roots[*i].1[0]))]);

        let mut emit = Emit {
            rewriter,
            indices: &self,
            simple: &simple,
            made: HashMap::new(),
            homes: HashMap::new(),
        };
        let before = leaf_sets(&self.region.nodes);
        let after = leaf_sets(&simple.nodes);
        let mut kept: HashSet<ValueKey> = HashSet::new();
        for root in by_use {
            let (value, users) = &self.roots[root];
            // A root may be given by leaves that it did not have; those need not dominate its users.
            if !after[simple.roots[root]].is_subset(&before[self.region.roots[root]]) {
                kept.insert(key(*value));
                continue;
            }
            emit.root(root, *value, users)?;
        }
        self.erase(rewriter, &kept)
    }

    /// Erases what is not used any more.
    fn erase(&self, rewriter: &'c Rewriter<'c>, kept: &HashSet<ValueKey>) -> Result<(), Failure> {
        for op in self.old.iter().rev() {
            let result = result_of(*op, 0);
            if !kept.contains(&key(result)) && users_of(result).is_empty() {
                rewriter.erase(*op)?;
            }
        }
        Ok(())
    }
}

fn truncate(value: i64, width: u32) -> u64 {
    if width == 64 {
        value as u64
    } else {
        value as u64 & ((1 << width) - 1)
    }
}

/// The leaves that each node is computed from.
fn leaf_sets(nodes: &[Node]) -> Vec<BTreeSet<u32>> {
    let mut sets: Vec<BTreeSet<u32>> = Vec::with_capacity(nodes.len());
    for node in nodes {
        let set = match node {
            Node::Leaf(leaf) => BTreeSet::from([*leaf]),
            _ => node
                .operands()
                .map(|(a, b)| sets[a].union(&sets[b]).copied().collect())
                .unwrap_or_default(),
        };
        sets.push(set);
    }
    sets
}

/// Builds simplified nodes where they are first needed.
struct Emit<'a, 'c> {
    rewriter: &'c Rewriter<'c>,
    indices: &'a Indices<'c>,
    simple: &'a Simplified,
    made: HashMap<usize, Val<'c>>,
    homes: HashMap<usize, Blk<'c>>,
}

impl<'c> Emit<'_, 'c> {
    fn root(&mut self, root: usize, value: Val<'c>, users: &[Op<'c>]) -> Result<(), Failure> {
        let node = self.simple.roots[root];
        let narrow = (1u64 << (self.indices.width - 1)) - 1;
        if let Node::Add(base, constant) = self.simple.nodes[node]
            && let Node::Const(constant) = self.simple.nodes[constant]
            // Offsets are signed where pointers are wider: neither the sum nor the constant may
            // look negative, then adding in two steps is the same.
            && constant <= narrow
            && self.simple.facts[root].hi <= narrow
            && i32::try_from(constant).is_ok()
        {
            // In program order: what is made for one user serves those after it.
            for user in users {
                if let Some(old) = offset_by(*user, value) {
                    let base = self.node(base, *user)?;
                    split_offset(self.rewriter, old, base, constant as i32)?;
                } else {
                    self.replace(node, value, *user)?;
                }
            }
            return Ok(());
        }
        users
            .iter()
            .try_for_each(|user| self.replace(node, value, *user))
    }

    fn replace(&mut self, node: usize, value: Val<'c>, user: Op<'c>) -> Result<(), Failure> {
        let new = self.node(node, user)?;
        replace_operand(user, value, new);
        Ok(())
    }

    /// The value of a node, made before `user` or further out.
    fn node(&mut self, node: usize, user: Op<'c>) -> Result<Val<'c>, Failure> {
        if let Some(value) = self.made.get(&node) {
            return Ok(*value);
        }
        let value = match self.simple.nodes[node] {
            Node::Leaf(leaf) => return Ok(self.indices.leaves[leaf as usize]),
            Node::Const(constant) => {
                let first = ops_of(
                    body_of(self.indices.kernel, 0).expected(self.indices.kernel, "a body")?,
                )[0];
                let b = Builder::before(first);
                b.constant(self.indices.ty, constant as i64)?
            }
            other => {
                let (op, left, right) = other.operation().expected(user, "an op for a node")?;
                let (left, right) = (self.node(left, user)?, self.node(right, user)?);
                let home = self.home(node)?;
                let b = Builder::before(ancestor_in(user, home).unwrap_or(user));
                b.value(op.name(), &[left, right], self.indices.ty, &[])?
            }
        };
        self.made.insert(node, value);
        Ok(value)
    }

    /// The innermost block among those of the node's leaves.
    fn home(&mut self, node: usize) -> Result<Blk<'c>, Failure> {
        if let Some(home) = self.homes.get(&node) {
            return Ok(*home);
        }
        let outermost = body_of(self.indices.kernel, 0).expected(self.indices.kernel, "a body")?;
        let home = match self.simple.nodes[node] {
            Node::Const(_) => outermost,
            Node::Leaf(leaf) => {
                let value = self.indices.leaves[leaf as usize];
                match (defining_op(value), block_argument(value)) {
                    (Some(op), _) => block_of(op).expected(op, "a block around it")?,
                    (_, Some((block, _))) => block,
                    _ => outermost,
                }
            }
            other => {
                let (left, right) = other
                    .operands()
                    .expected(self.indices.kernel, "an op for a node")?;
                let (left, right) = (self.home(left)?, self.home(right)?);
                if depth(left) >= depth(right) {
                    left
                } else {
                    right
                }
            }
        };
        self.homes.insert(node, home);
        Ok(home)
    }
}

fn depth(block: Blk) -> usize {
    let mut depth = 0;
    let mut next = owner_of(block);
    while let Some(op) = next {
        depth += 1;
        next = block_of(op).and_then(owner_of);
    }
    depth
}

/// The operation of `block` that `op` is, or is within.
fn ancestor_in<'c>(op: Op<'c>, block: Blk<'c>) -> Option<Op<'c>> {
    let mut op = op;
    loop {
        let here = op.block()?;
        if here == block {
            return Some(op);
        }
        op = owner_of(here)?;
    }
}

/// `op`, where it adds the byte offset `value` to a pointer.
fn offset_by<'c>(op: Op<'c>, value: Val<'c>) -> Option<llvm::Getelementptr<'c>> {
    let op = llvm::Getelementptr::of(op)?;
    let bytes = op.elem_type().is_some_and(|ty| ty.to_string() == "i8");
    (bytes && op.dynamic_indices() == [value]).then_some(op)
}

/// `pointer + (base + constant)` as `(pointer + base) + constant`.
fn split_offset<'c>(
    rewriter: &'c Rewriter<'c>,
    old: llvm::Getelementptr<'c>,
    base: Val<'c>,
    constant: i32,
) -> Result<(), Failure> {
    let b = Builder::before(old.op());
    let ty = old.res().r#type();
    let element = ("elem_type", b.type_attribute(b.ty("i8")?));
    let dynamic = [element, ("rawConstantIndices", b.i32_array(&[i32::MIN]))];
    let pointer = b.value(llvm::GETELEMENTPTR, &[old.base(), base], ty, &dynamic)?;
    let fixed = [element, ("rawConstantIndices", b.i32_array(&[constant]))];
    let pointer = b.value(llvm::GETELEMENTPTR, &[pointer], ty, &fixed)?;
    replace_uses(old.res(), pointer);
    rewriter.erase(old.op())
}

/// Returns what is known of a leaf.
fn facts(value: Val, kernel: Op, width: u32) -> Facts {
    leaf_range(value, kernel).map_or(Facts::any(width), |(low, high, step)| {
        let power = step & step.wrapping_neg();
        let range = Facts::range(low, high);
        if power > 1 {
            range.and(Facts::multiple_of(power))
        } else {
            range
        }
    })
}

/// Least and greatest value, and a divisor.
fn leaf_range(value: Val, kernel: Op) -> Option<(u64, u64, u64)> {
    if let Some((block, index)) = block_argument(value) {
        let op = scf::For::of(owner_of(block)?).filter(|_| index == 0)?;
        let known = |value| integer_of(defining_op(value)?, "value");
        let (low, high) = (known(op.lower_bound())?, known(op.upper_bound())?);
        let step = known(op.step())?;
        if low < 0 || step < 1 || high <= low {
            return None;
        }
        let last = low + (high - 1 - low) / step * step;
        let divisor = if low % step == 0 { step as u64 } else { 1 };
        return Some((low as u64, last as u64, divisor));
    }
    let cast = defining_op(value)?;
    let source = match name_of(cast) {
        arith::INDEX_CAST | arith::INDEX_CASTUI | arith::EXTUI => {
            let [source] = operands_of(cast)[..] else {
                return None;
            };
            defining_op(source)?
        }
        _ => cast,
    };
    let sizes = match name_of(source) {
        gpu::THREAD_ID => attribute_of(kernel, "known_block_size"),
        gpu::BLOCK_ID => attribute_of(kernel, "known_grid_size"),
        _ => None,
    }?;
    let size = *i32s_of(sizes)?.get(dimension_of(source)?)?;
    (size > 0).then(|| (0, size as u64 - 1, 1))
}
