//! The guards of a kernel: the conditions of the branches and loops around each place, as nodes of its graph.

use super::{Numbers, facts::width_of};
use cute_arith::{Op as Arith, Predicate};
use cute_ir::mlir::*;
use cute_ir::ops::scf;
use cute_simplify::{Guard, Node, Region};
use melior::ir::operation::OperationLike;
use rustc_hash::{FxHashMap, FxHashSet};

/// Conditions by node, each with whether it holds; those of outer branches first.
type Conditions = Vec<(usize, bool)>;

/// The guards that have been met.
pub(super) struct Guards<'a, 'c> {
    kernel: Op<'c>,
    /// The nodes of the kernel's values.
    nodes: &'a Numbers,
    /// Pairs of nodes that are compared, or of which a difference or the smaller one is taken: of these the order is of use.
    pairs: FxHashSet<[usize; 2]>,
    of_blocks: FxHashMap<BlockKey, Conditions>,
    numbers: FxHashMap<Conditions, usize>,
    /// Operations that are not executed where their guard does not hold.
    asked_late: FxHashSet<OpKey>,
    pub(super) all: Vec<Guard>,
}

impl<'a, 'c> Guards<'a, 'c> {
    pub(super) fn new(kernel: Op<'c>, nodes: &'a Numbers, region: &Region) -> Self {
        let pairs =
            region.nodes.iter().filter_map(|node| match *node {
                Node::Compare(_, a, b)
                | Node::Op(
                    Arith::Sub | Arith::MinU | Arith::MaxU | Arith::MinS | Arith::MaxS,
                    a,
                    b,
                ) => Some([a.min(b), a.max(b)]),
                _ => None,
            });
        Self {
            kernel,
            nodes,
            pairs: pairs.collect(),
            of_blocks: FxHashMap::default(),
            numbers: FxHashMap::default(),
            asked_late: FxHashSet::default(),
            all: Vec::new(),
        }
    }

    /// The number of the guard of an operation; nothing where it is under none. Comparisons of counters become nodes of the region.
    pub(super) fn around(&mut self, op: Op<'c>, region: &mut Region) -> Option<usize> {
        let conditions = self.conditions(op, region);
        if conditions.is_empty() || self.is_asked_early(op, MOST_NESTING) {
            return None;
        }
        let next = self.all.len();
        let number = *self.numbers.entry(conditions.clone()).or_insert(next);
        if number == next {
            self.all.push(Guard {
                conditions,
                roots: Vec::new(),
            });
        }
        Some(number)
    }

    fn conditions(&mut self, op: Op<'c>, region: &mut Region) -> Conditions {
        let (Some(block), Some(parent)) = (block_of(op), parent_op(op)) else {
            return Conditions::new();
        };
        if parent == self.kernel {
            return Conditions::new();
        }
        if let Some(known) = self.of_blocks.get(&block_key(block)) {
            return known.clone();
        }
        let mut conditions = self.conditions(parent, region);
        let own = match (scf::If::of(parent), scf::For::of(parent)) {
            (Some(branch), _) => {
                let holds = body_of(parent, 0) == Some(block);
                let node = self.nodes.node(branch.condition());
                node.map(|node| (node, holds))
            }
            (_, Some(turns)) => self.turn(turns, block, region).map(|node| (node, true)),
            _ => None,
        };
        conditions.extend(own);
        self.of_blocks.insert(block_key(block), conditions.clone());
        conditions
    }

    /// Tells whether an operation may be executed where its guard does not hold, with operands that it cannot have there. LLVM executes what only
    /// computes ahead of branches, and an instruction such as `mapa` is undefined for some operands though nobody uses what it gives.
    fn is_asked_early(&mut self, op: Op<'c>, nesting: usize) -> bool {
        if self.asked_late.contains(&op_key(op)) {
            return false;
        }
        let is_asked = if name_of(op).starts_with("nvvm.") {
            op.result_count() > 0
        } else {
            let mut users = results_of(op).into_iter().flat_map(users_of);
            is_pure(op)
                && (nesting == 0 || users.any(|user| self.is_asked_early(user, nesting - 1)))
        };
        if !is_asked {
            self.asked_late.insert(op_key(op));
        }
        is_asked
    }

    /// The comparison of a loop's counter with its bound, which holds in each turn, where that is of use.
    fn turn(&self, turns: scf::For<'c>, block: Blk<'c>, region: &mut Region) -> Option<usize> {
        let (counter, bound) = (argument(block, 0), turns.upper_bound());
        let (a, b) = (self.nodes.node(counter)?, self.nodes.node(bound)?);
        if !self.pairs.contains(&[a.min(b), a.max(b)]) || width_of(counter) != width_of(bound) {
            return None;
        }
        let predicate = match turns.unsigned_cmp() {
            Some(_) => Predicate::Ult,
            None => Predicate::Slt,
        };
        region.nodes.push(Node::Compare(predicate, a, b));
        Some(region.nodes.len() - 1)
    }
}

/// The number of operations in a row that are looked through.
const MOST_NESTING: usize = 16;
