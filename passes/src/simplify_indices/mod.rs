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
mod order;

use crate::launch::waits_for_kernels_before;
use cute_arith::{Cast, Op as Arith, mask};
use cute_ir::names::builtin;
use cute_ir::ops::{arith, gpu};
use cute_ir::{
    Anchor, Failure, PassSpec, diag,
    mlir::*,
    options::{OptionValue, Options},
};
use cute_simplify::{Guard, Leaf, Limits, Node, Region, Way, simplify_by, simplify_guarded};
use facts::{Kind, Known, predicate_of, width_of};
use guards::Guards;
use melior::ir::{ValueLike, operation::OperationLike};
use order::Order;
use rustc_hash::{FxBuildHasher, FxHashMap};

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
    order: Order,
    /// The operations that wait for what is before the kernel in the stream, in program order.
    waits: Vec<Op<'c>>,
}

/// The meaning of an operation in the graph.
#[derive(Clone, Copy)]
enum Meaning {
    Constant(u64),
    /// A node of its operands, which stand at 0, 1 and 2.
    Node(Node),
    /// An index as an integer of a width.
    Index(u32),
    /// The value itself that the operation takes out of a vector.
    Same,
}

/// The meaning of an operation of a kind, and the width of its result; nothing where it has none in the graph. The values that it is computed
/// from are left in `operands`.
fn meaning<'c>(
    op: Op<'c>,
    kind: Kind,
    known: &mut Known<'c>,
    operands: &mut Vec<Val<'c>>,
) -> Option<(Meaning, u32)> {
    operands.clear();
    if matches!(kind, Kind::Put | Kind::Depend | Kind::Other)
        || op.result_count() != 1
        || known.sources.contains(&op_key(op))
    {
        return None;
    }
    let fits = |width: &u32| (1..=64).contains(width);
    let width = int_width(result_of(op, 0).r#type()).filter(fits)?;
    if kind == Kind::Constant {
        let value = known.constant(op)?;
        return Some((Meaning::Constant(value as u64 & mask(width)), width));
    }
    if kind == Kind::Take {
        operands.push(known.taken_out(op)?);
        return Some((Meaning::Same, width));
    }
    operands.extend(each_operand(op));
    if let (Kind::IndexCast { .. }, [index]) = (kind, &operands[..]) {
        // An index of 64 bits and one of 32 are the same where it is not negative.
        let fits = is_index(index.r#type()) && known.value(*index).hi <= mask(31);
        return fits.then_some((Meaning::Index(width), width));
    }
    if operands
        .iter()
        .any(|operand| !int_width(operand.r#type()).is_some_and(|width| fits(&width)))
    {
        return None;
    }
    let node = match kind {
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
    };
    Some((Meaning::Node(node), width))
}

/// The term that a value is in the graph, by number.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Number {
    /// A leaf, in the order in which leaves were met.
    Leaf(u32),
    /// The result of an operation of the graph, in program order; of constants that are alike, that of the first one.
    Ours(u32),
}

/// The nodes of the values of a kernel.
struct Numbers {
    of_values: FxHashMap<ValueKey, Number>,
    /// The numbers of constants, by value and width: there are many, and few that differ.
    of_constants: FxHashMap<(u64, u32), Number>,
    of_leaves: Vec<usize>,
    of_ours: Vec<usize>,
}

impl Numbers {
    /// The node of a number that has one by now.
    fn of(&self, number: Number) -> usize {
        match number {
            Number::Leaf(leaf) => self.of_leaves[leaf as usize],
            Number::Ours(ours) => self.of_ours[ours as usize],
        }
    }

    /// The node of a value, where it is in the graph.
    fn node(&self, value: Val) -> Option<usize> {
        let number = self.of_values.get(&key(value)).copied();
        let number = number.or_else(|| self.of_constants.get(&constant_value(value)?).copied());
        Some(self.of(number?))
    }
}

/// The number that a constant of the graph gives, and its width: read anew, for few are asked for once the graph stands.
fn constant_value(value: Val) -> Option<(u64, u32)> {
    let op = defining_op(value).filter(|op| name_of(*op) == arith::CONSTANT)?;
    let width = int_width(value.r#type())?;
    Some((integer_of(op, "value")? as u64 & mask(width), width))
}

/// An operation of the graph.
struct Ours<'c> {
    op: Op<'c>,
    meaning: Meaning,
    width: u32,
    /// The end of its operands among those of all.
    end: usize,
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
        let kinds: Vec<Kind> = all.iter().map(|op| known.kind(*op)).collect();
        let order = Order::of(&all);
        // Most operations are constants, and of these few differ.
        let is_counted = |kind: &&Kind| !matches!(kind, Kind::Constant | Kind::Other | Kind::Put);
        let count = kinds.iter().filter(is_counted).count();
        let mut ours: Vec<Ours<'c>> = Vec::with_capacity(count + count / 8);
        let mut operands: Vec<Number> = Vec::with_capacity(all.len());
        // Operations of the graph, and those that are made for it alone; at the end, what is not of the kernel.
        let mut is_ours = vec![false; all.len() + 1];
        let mut numbers = Numbers {
            of_values: FxHashMap::with_capacity_and_hasher(count, FxBuildHasher),
            of_constants: FxHashMap::default(),
            of_leaves: Vec::new(),
            of_ours: Vec::new(),
        };
        let mut met: Vec<Val<'c>> = Vec::new();
        let mut own = Vec::new();
        for (at, (op, kind)) in all.iter().zip(&kinds).enumerate() {
            let Some((meaning, width)) = meaning(*op, *kind, &mut known, &mut own) else {
                continue;
            };
            for operand in &own {
                // What is of the graph stands before it.
                let number = numbers.of_values.get(&key(*operand)).copied();
                let number = number.or_else(|| {
                    let constant = known.constant_value(*operand)?;
                    numbers.of_constants.get(&constant).copied()
                });
                operands.push(number.unwrap_or_else(|| {
                    let leaf = Number::Leaf(met.len() as u32);
                    met.push(*operand);
                    numbers.of_values.insert(key(*operand), leaf);
                    leaf
                }));
            }
            let next = Number::Ours(ours.len() as u32);
            let number = match meaning {
                Meaning::Constant(value) => {
                    let known = numbers.of_constants.entry((value, width));
                    *known.or_insert(next)
                }
                _ => {
                    numbers.of_values.insert(key(result_of(*op, 0)), next);
                    next
                }
            };
            is_ours[at] = true;
            if number != next {
                continue;
            }
            ours.push(Ours {
                op: *op,
                meaning,
                width,
                end: operands.len(),
            });
        }

        // Leaves: what changes least first, so that sums put it first.
        let mut repeats = FxHashMap::default();
        let level = |leaf: &Val<'c>| level_of(*leaf, &mut repeats);
        let levels: Vec<u32> = met.iter().map(level).collect();
        let mut sorted: Vec<usize> = (0..met.len()).collect();
        sorted.sort_by_key(|leaf| levels[*leaf]);
        let mut region = Region {
            leaves: Vec::new(),
            nodes: Vec::new(),
            roots: Vec::new(),
        };
        numbers.of_leaves.resize(met.len(), 0);
        let mut leaves = Vec::with_capacity(met.len());
        for (number, &leaf) in sorted.iter().enumerate() {
            let value = met[leaf];
            let width = width_of(value).unwrap_or(64);
            let facts = known.value(value);
            region
                .leaves
                .push(Leaf::new(width, facts).within(levels[leaf]));
            numbers.of_leaves[leaf] = number;
            region.nodes.push(Node::Leaf(number as u32));
            leaves.push(value);
        }
        region.nodes.reserve_exact(ours.len());
        let mut start = 0;
        for Ours {
            meaning,
            width,
            end,
            ..
        } in &ours
        {
            let own = &operands[start..*end];
            start = *end;
            let node = match *meaning {
                Meaning::Constant(value) => Node::Const(value, *width),
                Meaning::Node(node) => node.with(|at| numbers.of(own[at])),
                Meaning::Index(32) | Meaning::Same => {
                    numbers.of_ours.push(numbers.of(own[0]));
                    continue;
                }
                Meaning::Index(width) => {
                    let cast = match width > 32 {
                        true => Cast::ZeroExtend,
                        false => Cast::Truncate,
                    };
                    Node::Cast(cast, numbers.of(own[0]), width)
                }
            };
            numbers.of_ours.push(region.nodes.len());
            region.nodes.push(node);
        }
        let with_kinds = || all.iter().copied().zip(&kinds).zip(0..all.len());
        let waits = with_kinds().filter_map(|((op, kind), _)| {
            (*kind == Kind::Depend && waits_for_kernels_before(op)).then_some(op)
        });
        let waits = waits.collect();
        let place = |op: Op<'c>| order.place(op).unwrap_or(all.len());
        // Vectors that are taken apart in the graph alone are made for nothing.
        for ((op, kind), at) in with_kinds().rev() {
            if *kind == Kind::Put {
                is_ours[at] = each_user(result_of(op, 0)).all(|user| is_ours[place(user)]);
            }
        }
        let mut roots = Vec::new();
        let mut guards = Guards::new(kernel, &numbers, &region);
        let mut users: Vec<(usize, Op<'c>)> = Vec::new();
        for (number, Ours { op, meaning, .. }) in ours.iter().enumerate() {
            // Constants are where they are wanted already.
            if matches!(meaning, Meaning::Constant(_)) {
                continue;
            }
            let value = result_of(*op, 0);
            users.clear();
            users.extend(each_user(value).map(|user| (place(user), user)));
            users.retain(|(at, _)| !is_ours[*at]);
            users.sort_unstable_by_key(|(at, _)| *at);
            users.dedup_by_key(|(at, _)| *at);
            let mut guarded: Vec<(Option<usize>, Vec<Op<'c>>)> = Vec::new();
            for &(_, user) in &users {
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
                region.roots.push(numbers.of_ours[number]);
                roots.push((value, users));
            }
        }
        let guards = guards.all;
        let old = all.into_iter().zip(is_ours);
        Self {
            kernel,
            region,
            leaves,
            roots,
            guards,
            old: old.filter_map(|(op, is)| is.then_some(op)).collect(),
            order,
            waits,
        }
    }
}
