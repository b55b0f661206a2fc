//! `cute-simplify-indices`: egg over the index arithmetic of a kernel.
//!
//! All integer arithmetic of a kernel is one graph: operations of all widths, with and without signs, conversions between
//! them, comparisons and selections. Its leaves are what it is computed from, with what is known of them (`facts.rs`). Its roots
//! are the values that anything else uses. Each root is computed anew as `cute-simplify` gives it (`emit.rs`): once, where all
//! that use it have it, and as far out of loops as its leaves allow; a constant that is added last moves from an address's
//! offset into the address itself, where instructions have room for it. What is used in a branch only is simplified once more under
//! the branch's condition (`guards.rs`).

mod emit;
mod explain;
pub(crate) mod facts;
mod guards;
mod leaves;

use crate::launch::waits_for_kernels_before;
use cute_arith::{Cast, Op as Arith, mask};
use cute_ir::names::builtin;
use cute_ir::ops::gpu;
use cute_ir::{
    Anchor, Failure, PassSpec, diag,
    mlir::*,
    options::{OptionValue, Options},
};
use cute_simplify::{Guard, Leaf, Limits, Node, Region, Way, simplify_by, simplify_guarded};
use facts::{Kind, Known, predicate_of, width_of};
use guards::Guards;
use melior::ir::{ValueLike, operation::OperationLike};
use rustc_hash::{FxHashMap, FxHashSet};

cute_ir::options! {
    /// Options of `cute-simplify-indices`.
    #[derive(Copy)]
    pub struct SimplifyOptions {
        explain: Option<i64> = None, "",
            "A line of the source; remarks say by which rules its index arithmetic became what it is";
        rules: Rules = Rules::Applied(Way::Saturate), "saturate",
            "How index arithmetic is simplified: saturate, or to compare with, eager or greedy for cheaper ways with the same rules, mlir for MLIR's canonicalisation";
    }
}

impl SimplifyOptions {
    /// The way in which index arithmetic is simplified.
    pub fn rules(&self) -> Rules {
        self.rules
    }
}

/// The way in which index arithmetic is simplified, as an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rules {
    /// Applies the rules in this way.
    Applied(Way),
    /// Leaves it to MLIR's canonicalisation, which a pipeline has in the pass's place.
    Mlir,
}

/// The ways by name.
const WAYS: [(&str, Rules); 4] = [
    ("saturate", Rules::Applied(Way::Saturate)),
    ("eager", Rules::Applied(Way::Eager)),
    ("greedy", Rules::Applied(Way::Greedy)),
    ("mlir", Rules::Mlir),
];

impl OptionValue for Rules {
    fn read(text: &str) -> Result<Self, String> {
        let found = WAYS.iter().find(|(name, _)| *name == text);
        let wrong = || format!("expected saturate, eager, greedy or mlir, found '{text}'");
        found.map(|(_, way)| *way).ok_or_else(wrong)
    }

    fn written(&self) -> String {
        let found = WAYS.iter().find(|(_, way)| way == self);
        found.map_or("", |(name, _)| name).to_owned()
    }
}

/// The pass.
pub const PASS: PassSpec = PassSpec {
    name: "cute-simplify-indices",
    description: "Simplify the index arithmetic of kernels by equality saturation",
    anchor: Anchor::Kernel,
    options: SimplifyOptions::SPECS,
    run,
};

/// The bounds of a kernel's graph.
const LIMITS: Limits = Limits {
    nodes: 24_000,
    iterations: 24,
};

fn run<'c>(rewriter: &'c Rewriter<'c>, kernel: Op<'c>, options: &[&str]) -> Result<(), Failure> {
    let SimplifyOptions { explain, rules } =
        SimplifyOptions::of(options).map_err(|wrong| diag::error(kernel.location(), wrong))?;
    let (Some(body), Rules::Applied(way)) = (body_of(kernel, 0), rules) else {
        return Ok(());
    };
    // Where control jumps from block to block, nothing is known of who comes before whom: LLVM has it.
    let all = nested_ops(kernel);
    if has_jumps(kernel) || all.iter().copied().any(has_jumps) {
        return Ok(());
    }
    let indices = Indices::collect(kernel, body, all);
    if indices.roots.is_empty() {
        return Ok(());
    }
    let wrong = |e| diag::error(kernel.location(), format!("cute-simplify-indices: {e}"));
    let mut simple = simplify_by(&indices.region, &LIMITS, way).map_err(wrong)?;
    if way == Way::Saturate {
        simple =
            simplify_guarded(&indices.region, &indices.guards, simple, &LIMITS).map_err(wrong)?;
    }
    if let Some(line) = explain {
        explain::say(&indices, &simple, line)?;
    }
    emit::rewrite(rewriter, &indices, &simple)
}

fn has_jumps(op: Op) -> bool {
    blocks_of(op)
        .into_iter()
        .any(|block| next_block(block).is_some())
}

/// The arithmetic of a kernel.
struct Indices<'c> {
    kernel: Op<'c>,
    region: Region,
    /// The value of each leaf: an integer, or an index.
    leaves: Vec<Val<'c>>,
    /// Each root: its value, and what uses it that is not arithmetic, under one guard or under none, in program order.
    roots: Vec<(Val<'c>, Vec<Op<'c>>)>,
    /// The guards, with the roots that are used under each.
    guards: Vec<Guard>,
    /// Operations that the graph replaces, in program order.
    old: Vec<Op<'c>>,
    /// The place of each operation in the program.
    order: FxHashMap<OpKey, usize>,
    /// The operations that wait for what is before the kernel in the stream, in program order.
    waits: Vec<Op<'c>>,
}

/// The meaning of an operation in the graph.
#[derive(Clone, Copy)]
enum Meaning<'c> {
    Constant(u64),
    /// A node of its operands, which stand at 0, 1 and 2.
    Node(Node),
    /// An index as an integer of a width.
    Index(u32),
    /// The value itself that the operation takes out of a vector.
    Same(Val<'c>),
}

impl<'c> Meaning<'c> {
    /// The values that an operation of this meaning is computed from.
    fn operands(self, op: Op<'c>) -> Vec<Val<'c>> {
        match self {
            Meaning::Constant(_) => Vec::new(),
            Meaning::Same(value) => vec![value],
            Meaning::Node(_) | Meaning::Index(_) => operands_of(op),
        }
    }
}

fn meaning<'c>(op: Op<'c>, known: &mut Known<'c>) -> Option<Meaning<'c>> {
    let kind = known.kind(op);
    if matches!(kind, Kind::Put | Kind::Depend | Kind::Other)
        || op.result_count() != 1
        || known.sources.contains(&op_key(op))
    {
        return None;
    }
    let result = result_of(op, 0);
    let width = int_width(result.r#type()).filter(|width| (1..=64).contains(width))?;
    if kind == Kind::Constant {
        let value = integer_of(op, "value")?;
        return Some(Meaning::Constant(value as u64 & mask(width)));
    }
    if kind == Kind::Take {
        return known.taken_out(op).map(Meaning::Same);
    }
    let operands = operands_of(op);
    if let (Kind::IndexCast { .. }, [index]) = (kind, &operands[..]) {
        // An index of 64 bits and one of 32 are the same where it is not negative.
        let fits = is_index(index.r#type()) && known.value(*index).hi <= mask(31);
        return fits.then_some(Meaning::Index(width));
    }
    if operands
        .iter()
        .any(|operand| int_width(operand.r#type()).is_none_or(|width| !(1..=64).contains(&width)))
    {
        return None;
    }
    Some(Meaning::Node(match kind {
        Kind::Op(op) => {
            // What may divide by zero or overflow with a sign stays where it is.
            let divides = matches!(
                op,
                Arith::DivS | Arith::RemS | Arith::FloorDivS | Arith::CeilDivS
            );
            if divides {
                let divisor = known.value(operands[1]);
                if divisor.lo == 0 || divisor.hi > mask(width) >> 1 {
                    return None;
                }
            }
            Node::Op(op, 0, 1)
        }
        Kind::Cast(cast) => Node::Cast(cast, 0, width),
        Kind::Compare => Node::Compare(predicate_of(op)?, 0, 1),
        Kind::Select => Node::Select(0, 1, 2),
        _ => return None,
    }))
}

/// The number of loops around a value.
fn level_of(value: Val, repeats: &mut FxHashMap<OpKey, bool>) -> u32 {
    let mut around = match (defining_op(value), block_argument(value)) {
        (Some(op), _) => parent_op(op),
        (_, Some((block, _))) => owner_of(block),
        _ => None,
    };
    let mut level = 0;
    while let Some(op) = around {
        let repeats = repeats.entry(op_key(op));
        let is_loop = *repeats.or_insert_with(|| is_loop(op));
        level += u32::from(is_loop);
        around = parent_op(op);
    }
    level
}

/// Tells whether what is within an operation may be executed again, in one thread.
fn is_loop(op: Op) -> bool {
    !matches!(name_of(op), gpu::FUNC | gpu::MODULE | builtin::MODULE) && may_repeat(op)
}

impl<'c> Indices<'c> {
    fn collect(kernel: Op<'c>, body: Blk<'c>, all: Vec<Op<'c>>) -> Self {
        let mut known = Known::of(kernel, body);
        let mut ours: Vec<(Op<'c>, Meaning<'c>)> = Vec::new();
        for op in &all {
            if let Some(meaning) = meaning(*op, &mut known) {
                ours.push((*op, meaning));
            }
        }
        let ids: FxHashSet<OpKey> = ours.iter().map(|(op, _)| op_key(*op)).collect();

        // Leaves: what changes least first, so that sums put it first.
        let mut leaves: Vec<Val<'c>> = Vec::new();
        let mut seen: FxHashSet<ValueKey> = FxHashSet::default();
        for (op, meaning) in &ours {
            for operand in meaning.operands(*op) {
                let inner = defining_op(operand).is_some_and(|op| ids.contains(&op_key(op)));
                if !inner && seen.insert(key(operand)) {
                    leaves.push(operand);
                }
            }
        }
        let mut repeats = FxHashMap::default();
        let levels = leaves
            .iter()
            .map(|leaf| (key(*leaf), level_of(*leaf, &mut repeats)));
        let levels: FxHashMap<ValueKey, u32> = levels.collect();
        leaves.sort_by_key(|leaf| levels[&key(*leaf)]);
        let mut nodes: FxHashMap<ValueKey, usize> = FxHashMap::default();
        let mut region = Region {
            leaves: Vec::new(),
            nodes: Vec::new(),
            roots: Vec::new(),
        };
        for (number, value) in leaves.iter().enumerate() {
            let width = width_of(*value).unwrap_or(64);
            let leaf = Leaf::new(width, known.value(*value));
            region.leaves.push(leaf.within(levels[&key(*value)]));
            nodes.insert(key(*value), number);
            region.nodes.push(Node::Leaf(number as u32));
        }
        // Most constants are written many times.
        let mut constants: FxHashMap<(u64, u32), usize> = FxHashMap::default();
        for (op, meaning) in &ours {
            let result = result_of(*op, 0);
            let operands: Vec<usize> = meaning
                .operands(*op)
                .iter()
                .map(|operand| nodes[&key(*operand)])
                .collect();
            let node = match *meaning {
                Meaning::Constant(value) => {
                    let width = width_of(result).unwrap_or(64);
                    let node = constants.entry((value, width)).or_insert_with(|| {
                        region.nodes.push(Node::Const(value, width));
                        region.nodes.len() - 1
                    });
                    nodes.insert(key(result), *node);
                    continue;
                }
                Meaning::Node(node) => node.with(|at| operands[at]),
                Meaning::Index(32) | Meaning::Same(_) => {
                    nodes.insert(key(result), operands[0]);
                    continue;
                }
                Meaning::Index(width) if width > 32 => {
                    Node::Cast(Cast::ZeroExtend, operands[0], width)
                }
                Meaning::Index(width) => Node::Cast(Cast::Truncate, operands[0], width),
            };
            nodes.insert(key(result), region.nodes.len());
            region.nodes.push(node);
        }
        let order = all.iter().zip(0..).map(|(op, at)| (op_key(*op), at));
        let order: FxHashMap<OpKey, usize> = order.collect();
        let is_wait =
            |op: &Op<'c>| known.kind(*op) == Kind::Depend && waits_for_kernels_before(*op);
        let waits = all.iter().copied().filter(is_wait).collect();
        // Vectors that are taken apart in the graph alone are made for nothing.
        let mut unused: FxHashSet<OpKey> = FxHashSet::default();
        for op in all.iter().rev() {
            if known.kind(*op) != Kind::Put {
                continue;
            }
            let mut users = users_of(result_of(*op, 0)).into_iter();
            let is_ours =
                |user: Op<'c>| [&ids, &unused].iter().any(|of| of.contains(&op_key(user)));
            if users.all(is_ours) {
                unused.insert(op_key(*op));
            }
        }
        let mut roots = Vec::new();
        let mut guards = Guards::new(kernel, &nodes, &region);
        for (op, meaning) in &ours {
            // Constants are where they are wanted already.
            if matches!(meaning, Meaning::Constant(_)) {
                continue;
            }
            let value = result_of(*op, 0);
            let mut users: Vec<_> = users_of(value)
                .into_iter()
                .filter(|user| !ids.contains(&op_key(*user)) && !unused.contains(&op_key(*user)))
                .collect();
            users.sort_by_key(|user| order[&op_key(*user)]);
            users.dedup_by_key(|user| op_key(*user));
            let mut guarded: Vec<(Option<usize>, Vec<Op<'c>>)> = Vec::new();
            for user in users {
                let guard = guards.around(user, &mut region);
                match guarded.iter_mut().find(|(other, _)| *other == guard) {
                    Some((_, users)) => users.push(user),
                    None => guarded.push((guard, vec![user])),
                }
            }
            for (guard, users) in guarded {
                if let Some(guard) = guard {
                    guards.all[guard].roots.push(region.roots.len());
                }
                region.roots.push(nodes[&key(value)]);
                roots.push((value, users));
            }
        }
        let guards = guards.all;
        Self {
            kernel,
            region,
            leaves,
            roots,
            guards,
            old: all
                .into_iter()
                .filter(|op| ids.contains(&op_key(*op)) || unused.contains(&op_key(*op)))
                .collect(),
            order,
            waits,
        }
    }
}
