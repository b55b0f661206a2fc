//! A simplified graph as operations: each node once, where all that use it have it, outside of the loops that it does
//! not change in, and ahead of waits for other kernels.

use super::Indices;
use super::leaves::LeafSets;
use cute_arith::{Op as Arith, mask};
use cute_ir::ops::{arith, llvm};
use cute_ir::{Expected, Failure, args::replace_operand, mlir::*, types::int_type};
use cute_simplify::{Facts, Node, Simplified, facts_of, widths};
use melior::ir::{Type, ValueLike, operation::OperationLike};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::RefCell;

/// Computes each root anew, and erases what nothing uses any more.
pub(super) fn rewrite<'c>(
    rewriter: &'c Rewriter<'c>,
    indices: &Indices<'c>,
    simple: &Simplified,
) -> Result<(), Failure> {
    let before = LeafSets::of(&indices.region.nodes, indices.leaves.len());
    let after = LeafSets::of(&simple.nodes, indices.leaves.len());
    // A root may be given by leaves that it did not have; those need not dominate its users.
    let has_its_leaves =
        |root: &usize| after.is_within(simple.roots[*root], &before, indices.region.roots[*root]);
    let roots: Vec<usize> = (0..indices.roots.len()).filter(has_its_leaves).collect();
    let mut emit = Emit::new(indices, simple, after)?;
    let mut seen = [FxHashSet::default(), FxHashSet::default()];
    for &root in &roots {
        emit.count(root, &mut seen);
    }
    for &root in &roots {
        emit.wants(root);
    }
    emit.place();
    for &root in &roots {
        emit.root(root)?;
    }
    let mut replaced = Vec::new();
    for address in std::mem::take(&mut emit.addresses) {
        replaced.push((address.old, emit.address(&address)?));
    }
    // Again, for addresses that are from one that had been replaced already.
    for (old, new) in &replaced {
        replace_uses(result_of(old.op, 0), *new);
    }
    for (old, _) in replaced {
        rewriter.erase(old.op)?;
    }
    for op in indices.old.iter().rev() {
        rewriter.erase_if_unused(*op);
    }
    Ok(())
}

/// A place for a node.
#[derive(Clone, Copy)]
struct Place<'c> {
    /// The operation that it stands before.
    before: Op<'c>,
    /// Tells whether that operation itself uses it, so that it is computed wherever this one is executed.
    is_certain: bool,
}

/// A pointer and an offset in bytes that is added to it.
#[derive(Clone, Copy)]
struct Pointer<'c> {
    base: Base<'c>,
    offset: usize,
    /// The depth of the innermost block among those of what it is computed from.
    home: usize,
}

/// The pointer that an offset is added to.
#[derive(Clone, Copy)]
enum Base<'c> {
    Value(Val<'c>),
    Pointer(usize),
}

/// An operation that adds a number of bytes to a pointer.
#[derive(Clone, Copy)]
struct Offset<'c> {
    op: Op<'c>,
    base: Val<'c>,
}

/// An address of a kernel: the old operation, and what stands in its place.
struct Address<'c> {
    old: Offset<'c>,
    /// Nothing where a constant alone is added.
    pointer: Option<usize>,
    constant: i32,
}

/// The uses of a root: those that are addresses, and others.
struct Uses<'c> {
    addresses: Vec<Offset<'c>>,
    others: Vec<Op<'c>>,
}

impl<'c> Uses<'c> {
    fn of((value, users): &(Val<'c>, Vec<Op<'c>>)) -> Self {
        let mut uses = Self {
            addresses: Vec::new(),
            others: Vec::new(),
        };
        for user in users {
            match offset_by(*user, *value) {
                Some(address) => uses.addresses.push(address),
                None => uses.others.push(*user),
            }
        }
        uses
    }
}

/// Builds simplified nodes.
struct Emit<'a, 'c> {
    indices: &'a Indices<'c>,
    simple: &'a Simplified,
    uses: Vec<Uses<'c>>,
    body: Blk<'c>,
    /// The first operation of the kernel.
    top: Op<'c>,
    widths: Vec<u32>,
    facts: Vec<Facts>,
    /// The depth of the innermost block among those of each node's leaves.
    homes: Vec<usize>,
    /// The places where each node is made: several places where branches of one condition use it, each in its own.
    places: Vec<Vec<Place<'c>>>,
    made: FxHashMap<(usize, OpKey), Val<'c>>,
    addresses: Vec<Address<'c>>,
    /// Pointers, each after the one that it is from.
    pointers: Vec<Pointer<'c>>,
    pointer_places: Vec<Vec<Place<'c>>>,
    made_pointers: FxHashMap<(usize, OpKey), Val<'c>>,
    numbers: FxHashMap<(Option<ValueKey>, usize, usize), usize>,
    /// The number of sums that would share a pointer and a part of an offset.
    shares: FxHashMap<(ValueKey, usize), usize>,
    /// Leaves that are indices, as integers of 32 bits.
    converted: FxHashMap<u32, Val<'c>>,
    /// Loops, so that each is asked once.
    repeats: RefCell<FxHashMap<OpKey, bool>>,
    /// The first wait of each block for what is before the kernel in the stream, by block.
    waits: FxHashMap<BlockKey, Op<'c>>,
    /// The leaves that each node is computed from.
    leaves: LeafSets,
}

impl<'a, 'c> Emit<'a, 'c> {
    fn new(
        indices: &'a Indices<'c>,
        simple: &'a Simplified,
        sets: LeafSets,
    ) -> Result<Self, Failure> {
        let body = body_of(indices.kernel, 0).expected(indices.kernel, "a body")?;
        let top = first_of(body).expected(indices.kernel, "an op in its body")?;
        let leaves = &indices.region.leaves;
        let mut homes: Vec<usize> = Vec::with_capacity(simple.nodes.len());
        for node in &simple.nodes {
            homes.push(match node {
                Node::Leaf(leaf) => home_of(indices.leaves[*leaf as usize], body),
                _ => {
                    let below = node.operands().iter().map(|&i| homes[i]).max();
                    below.unwrap_or(0)
                }
            });
        }
        let mut waits = FxHashMap::default();
        for wait in &indices.waits {
            if let Some(block) = block_of(*wait) {
                waits.entry(block_key(block)).or_insert(*wait);
            }
        }
        Ok(Self {
            waits,
            leaves: sets,
            indices,
            simple,
            uses: indices.roots.iter().map(Uses::of).collect(),
            body,
            top,
            widths: widths(leaves, &simple.nodes),
            facts: facts_of(leaves, &simple.nodes),
            homes,
            places: vec![Vec::new(); simple.nodes.len()],
            made: FxHashMap::default(),
            addresses: Vec::new(),
            pointers: Vec::new(),
            pointer_places: Vec::new(),
            made_pointers: FxHashMap::default(),
            numbers: FxHashMap::default(),
            shares: FxHashMap::default(),
            converted: FxHashMap::default(),
            repeats: RefCell::default(),
        })
    }

    /// Counts what the addresses of a root would share.
    fn count(&mut self, root: usize, [seen, wanted]: &mut [FxHashSet<(ValueKey, usize)>; 2]) {
        let (base, _) = self.split(root);
        for old in self.uses[root].addresses.clone() {
            let mut next = base;
            // The address itself is one that has it.
            if let Some(base) = base
                && wanted.insert((key(old.base), base))
            {
                *self.shares.entry((key(old.base), base)).or_default() += 1;
            }
            while let Some(node) = next {
                next = self.spine(node).map(|(spine, _)| spine);
                if let Some(spine) = next {
                    if !seen.insert((key(old.base), node)) {
                        break;
                    }
                    *self.shares.entry((key(old.base), spine)).or_default() += 1;
                }
            }
        }
    }

    /// Notes where a root is used.
    fn wants(&mut self, root: usize) {
        let node = self.simple.roots[root];
        let Uses { addresses, others } = &self.uses[root];
        let (addresses, others) = (addresses.clone(), others.clone());
        for user in others {
            self.use_at(node, user, true);
        }
        let (base, constant) = self.split(root);
        for old in addresses {
            let pointer = base.map(|base| self.pointer_to(old.base, base));
            self.addresses.push(Address {
                old,
                pointer,
                constant,
            });
            if let Some(pointer) = pointer {
                self.use_pointer_at(pointer, old.op, true);
            }
        }
    }

    /// The part of a sum that is added to a pointer first, and the rest, where that can be done in two steps: what is a sum
    /// itself, or what changes least.
    fn spine(&self, node: usize) -> Option<(usize, usize)> {
        let Node::Op(Arith::Add, a, b) = self.simple.nodes[node] else {
            return None;
        };
        // Offsets are signed where pointers are wider.
        let narrow = mask(self.widths[node]) >> 1;
        let fits = [node, a, b].iter().all(|&i| self.facts[i].hi <= narrow);
        if self.widths[node] < 64 && !fits {
            return None;
        }
        let is_sum = |i: usize| matches!(self.simple.nodes[i], Node::Op(Arith::Add, ..));
        let rank = |i: usize| (!is_sum(i), self.homes[i]);
        Some(if rank(b) < rank(a) { (b, a) } else { (a, b) })
    }

    /// The number of a pointer and an offset, in as many steps as are worth it: where the first one is outside of a loop, or
    /// others have it, too.
    fn pointer_to(&mut self, value: Val<'c>, node: usize) -> usize {
        let steps = self.spine(node).filter(|(spine, _)| {
            self.homes[*spine] < self.homes[node] || self.shares[&(key(value), *spine)] > 1
        });
        let (base, offset) = match steps {
            Some((spine, rest)) => (Base::Pointer(self.pointer_to(value, spine)), rest),
            None => (Base::Value(value), node),
        };
        let (name, home) = match base {
            Base::Value(value) => ((Some(key(value)), 0, offset), home_of(value, self.body)),
            Base::Pointer(base) => ((None, base, offset), self.pointers[base].home),
        };
        if let Some(number) = self.numbers.get(&name) {
            return *number;
        }
        self.pointers.push(Pointer {
            base,
            offset,
            home: home.max(self.homes[offset]),
        });
        self.pointer_places.push(Vec::new());
        self.numbers.insert(name, self.pointers.len() - 1);
        self.pointers.len() - 1
    }

    /// Notes a use of a pointer.
    fn use_pointer_at(&mut self, pointer: usize, user: Op<'c>, is_certain: bool) {
        self.pointer_places[pointer].push(Place {
            before: user,
            is_certain,
        });
    }

    /// Notes a use of a node by an operation, or by what stands before it.
    fn use_at(&mut self, node: usize, user: Op<'c>, is_certain: bool) {
        self.places[node].push(Place {
            before: user,
            is_certain,
        });
    }

    fn is_loop(&self, op: Op<'c>) -> bool {
        let mut repeats = self.repeats.borrow_mut();
        *repeats.entry(op_key(op)).or_insert_with(|| may_repeat(op))
    }

    /// The first of both places, in the innermost block that has both; nothing where only one of them is executed.
    fn common(&self, a: Place<'c>, b: Place<'c>) -> Option<Place<'c>> {
        let (mut x, mut y) = (a.before, b.before);
        let (mut x_is, mut y_is) = (a.is_certain, b.is_certain);
        let up = |op: &mut Op<'c>, is: &mut bool| {
            if let Some(parent) = parent_op(*op) {
                *op = parent;
                *is = false;
            }
        };
        let (x_depth, y_depth) = (op_depth(x), op_depth(y));
        for _ in y_depth..x_depth {
            up(&mut x, &mut x_is);
        }
        for _ in x_depth..y_depth {
            up(&mut y, &mut y_is);
        }
        while block_of(x) != block_of(y) {
            let around = parent_op(x);
            if around == parent_op(y) && around.is_some_and(|op| !self.is_loop(op)) {
                return None;
            }
            up(&mut x, &mut x_is);
            up(&mut y, &mut y_is);
        }
        let at = |op: Op<'c>| self.indices.order.place(op);
        let (before, is_certain) = match at(x).cmp(&at(y)) {
            std::cmp::Ordering::Less => (x, x_is),
            std::cmp::Ordering::Greater => (y, y_is),
            std::cmp::Ordering::Equal => (x, x_is || y_is),
        };
        Some(Place { before, is_certain })
    }

    /// Returns as few places as serve all of these.
    fn merged(&self, places: Vec<Place<'c>>) -> Vec<Place<'c>> {
        let mut found: Vec<Place<'c>> = Vec::new();
        for mut place in places {
            // What is merged may serve others, which it did not before.
            while let Some((at, both)) = found
                .iter()
                .enumerate()
                .find_map(|(at, other)| Some((at, self.common(*other, place)?)))
            {
                found.swap_remove(at);
                place = both;
            }
            found.push(place);
        }
        found
    }

    /// The places of something that is computed in a block of this depth: outside of the loops in which it does not change.
    fn settled(&self, home: usize, places: &[Place<'c>]) -> Vec<Place<'c>> {
        let merged = self.merged(places.to_vec());
        let hoisted = merged.into_iter().map(|place| self.hoisted(home, place));
        self.merged(hoisted.collect())
    }

    /// Gives each node that is used its places, users before what they use.
    fn place(&mut self) {
        for number in (0..self.pointers.len()).rev() {
            let Pointer { base, offset, home } = self.pointers[number];
            let places = self.settled(home, &self.pointer_places[number]);
            for place in &places {
                self.use_at(offset, place.before, place.is_certain);
                if let Base::Pointer(base) = base {
                    self.use_pointer_at(base, place.before, place.is_certain);
                }
            }
            self.pointer_places[number] = places;
        }
        for node in (0..self.simple.nodes.len()).rev() {
            let operands = self.simple.nodes[node].operands();
            if operands.is_empty() || self.places[node].is_empty() {
                continue;
            }
            let mut places = self.settled(self.homes[node], &self.places[node]);
            for place in &mut places {
                *place = self.ahead_of_wait(node, *place);
            }
            for place in &places {
                for &operand in operands.iter() {
                    self.use_at(operand, place.before, place.is_certain);
                }
            }
            self.places[node] = places;
        }
    }

    /// The same place, outside of the loops in which what is computed in a block of this depth does not change.
    fn hoisted(&self, home: usize, place: Place<'c>) -> Place<'c> {
        let (mut best, mut at) = (place, place.before);
        for _ in home + 1..op_depth(at) {
            let Some(parent) = parent_op(at).filter(|parent| *parent != self.indices.kernel) else {
                break;
            };
            at = parent;
            if self.is_loop(at) {
                best = Place {
                    before: at,
                    is_certain: false,
                };
            }
        }
        best
    }

    /// The same place, or one before a wait for what is before the kernel in the stream: what can be computed meanwhile is.
    fn ahead_of_wait(&self, node: usize, place: Place<'c>) -> Place<'c> {
        let block = block_of(place.before);
        let wait = block.and_then(|block| self.waits.get(&block_key(block)));
        let Some(wait) = wait.copied() else {
            return place;
        };
        let at = |op: Op<'c>| self.indices.order.place(op);
        let is_there = |leaf: u32| {
            let op = defining_op(self.indices.leaves[leaf as usize]);
            op.is_none_or(|op| block_of(op) != block || at(op) < at(wait))
        };
        if at(wait) < at(place.before) && self.leaves.leaves(node).all(is_there) {
            return Place {
                before: wait,
                is_certain: false,
            };
        }
        place
    }

    /// The one of these places that an operation comes behind.
    fn place_for(&self, places: &[Place<'c>], user: Op<'c>) -> Place<'c> {
        let own = Place {
            before: user,
            is_certain: true,
        };
        let around = |place: &&Place<'c>| {
            let depth = op_depth(place.before);
            let mut at = user;
            for _ in depth..op_depth(at) {
                match parent_op(at) {
                    Some(parent) => at = parent,
                    None => return false,
                }
            }
            block_of(at) == block_of(place.before)
        };
        places.iter().find(around).copied().unwrap_or(own)
    }

    /// The base, if there is one, and the constant of a root whose constant may be added in a second step.
    fn split(&self, root: usize) -> (Option<usize>, i32) {
        let node = self.simple.roots[root];
        let (base, constant) = match self.simple.nodes[node] {
            Node::Op(Arith::Add, base, constant) => (Some(base), constant),
            Node::Const(..) => (None, node),
            _ => return (Some(node), 0),
        };
        let Node::Const(constant, width) = self.simple.nodes[constant] else {
            return (Some(node), 0);
        };
        // Offsets are signed where pointers are wider: neither the sum nor the constant may look negative, then adding in
        // two steps is the same. Those of 64 bits wrap as pointers do.
        let narrow = mask(width) >> 1;
        let fits = constant <= narrow && self.simple.facts[root].hi <= narrow;
        match i32::try_from(constant as i64) {
            Ok(constant) if fits || width == 64 => (base, constant),
            _ => (Some(node), 0),
        }
    }

    /// Computes a root anew where it is no address.
    fn root(&mut self, root: usize) -> Result<(), Failure> {
        let node = self.simple.roots[root];
        for user in self.uses[root].others.clone() {
            let new = self.node(node, user)?;
            replace_operand(user, self.indices.roots[root].0, new);
        }
        Ok(())
    }

    /// Computes an address anew.
    fn address(&mut self, address: &Address<'c>) -> Result<Val<'c>, Failure> {
        let old = address.old;
        let mut new = match address.pointer {
            Some(pointer) => self.pointer(pointer, old.op)?,
            // As it is by now: it may be from one that has been replaced.
            None => operand(old.op, 0),
        };
        if address.constant != 0 {
            let b = Builder::before(old.op);
            let element = ("elem_type", b.type_attribute(int_type(b.context, 8)));
            let fixed = ("rawConstantIndices", b.i32_array(&[address.constant]));
            let ty = result_of(old.op, 0).r#type();
            new = b.value(llvm::GETELEMENTPTR, &[new], ty, &[element, fixed])?;
        }
        replace_uses(result_of(old.op, 0), new);
        Ok(new)
    }

    /// The value of a pointer, made at its place.
    fn pointer(&mut self, number: usize, user: Op<'c>) -> Result<Val<'c>, Failure> {
        let place = self.place_for(&self.pointer_places[number], user);
        let name = (number, op_key(place.before));
        if let Some(value) = self.made_pointers.get(&name) {
            return Ok(*value);
        }
        let Pointer { base, offset, .. } = self.pointers[number];
        let base = match base {
            Base::Value(value) => value,
            Base::Pointer(base) => self.pointer(base, place.before)?,
        };
        let offset = self.node(offset, place.before)?;
        let b = Builder::before(place.before).at_location(user.location());
        let element = ("elem_type", b.type_attribute(int_type(b.context, 8)));
        let dynamic = [element, ("rawConstantIndices", b.i32_array(&[i32::MIN]))];
        let new = b.value(
            llvm::GETELEMENTPTR,
            &[base, offset],
            base.r#type(),
            &dynamic,
        )?;
        self.made_pointers.insert(name, new);
        Ok(new)
    }

    fn ty(&self, node: usize) -> Type<'c> {
        int_type(
            Builder::before(self.indices.kernel).context,
            self.widths[node],
        )
    }

    /// The value of a node, made at its place.
    fn node(&mut self, node: usize, user: Op<'c>) -> Result<Val<'c>, Failure> {
        let ty = self.ty(node);
        let place = match self.simple.nodes[node] {
            Node::Leaf(leaf) => return self.leaf(leaf),
            // All of them stand at the top.
            Node::Const(..) => Place {
                before: self.top,
                is_certain: true,
            },
            _ => self.place_for(&self.places[node], user),
        };
        let name = (node, op_key(place.before));
        if let Some(value) = self.made.get(&name) {
            return Ok(*value);
        }
        let operands = self.simple.nodes[node].operands();
        let mut values = Vec::new();
        for &operand in operands.iter() {
            values.push(self.node(operand, place.before)?);
        }
        let b = Builder::before(place.before).at_location(user.location());
        let value = match self.simple.nodes[node] {
            Node::Leaf(leaf) => self.leaf(leaf)?,
            Node::Const(constant, width) => {
                let unused = 64 - width;
                let signed = ((constant << unused) as i64) >> unused;
                b.constant(ty, signed)?
            }
            Node::Op(op, _, divisor) => {
                let divides = matches!(op, Arith::DivU | Arith::RemU | Arith::CeilDivU);
                // It may come before the condition that kept it from dividing by zero.
                if divides && !place.is_certain && self.facts[divisor].lo == 0 {
                    let one = b.constant(ty, 1)?;
                    values[1] = b.value(arith::MAXUI, &[values[1], one], ty, &[])?;
                }
                b.value(op.name(), &values, ty, &[])?
            }
            Node::Compare(predicate, ..) => b.compare(predicate, values[0], values[1])?,
            Node::Cast(cast, ..) => b.value(cast.name(), &values, ty, &[])?,
            Node::Select(..) => b.value(arith::SELECT, &values, ty, &[])?,
        };
        self.made.insert(name, value);
        Ok(value)
    }

    /// The value of a leaf; of an index, an integer that is made of it where it is computed.
    fn leaf(&mut self, leaf: u32) -> Result<Val<'c>, Failure> {
        let value = self.indices.leaves[leaf as usize];
        if !is_index(value.r#type()) {
            return Ok(value);
        }
        if let Some(value) = self.converted.get(&leaf) {
            return Ok(*value);
        }
        let b = match (defining_op(value), block_argument(value)) {
            (Some(op), _) => Builder::after(op),
            (_, Some((block, _))) => {
                Builder::before(first_of(block).expected(self.indices.kernel, "an op in a block")?)
            }
            _ => Builder::before(self.indices.kernel),
        };
        let new = b.value(arith::INDEX_CAST, &[value], b.i32_type(), &[])?;
        self.converted.insert(leaf, new);
        Ok(new)
    }
}

/// The depth of the block in which a value is computed.
fn home_of<'c>(value: Val<'c>, body: Blk<'c>) -> usize {
    let block = match (defining_op(value), block_argument(value)) {
        (Some(op), _) => block_of(op),
        (_, Some((block, _))) => Some(block),
        _ => None,
    };
    depth(block.unwrap_or(body))
}

/// The number of blocks around a block.
fn depth(block: Blk) -> usize {
    owner_of(block).map_or(0, op_depth)
}

/// The number of blocks around an operation.
fn op_depth(op: Op) -> usize {
    let mut depth = 0;
    let mut next = Some(op);
    while let Some(op) = next {
        next = parent_op(op);
        depth += usize::from(next.is_some());
    }
    depth
}

/// `op`, where it adds the byte offset `value` to a pointer.
fn offset_by<'c>(op: Op<'c>, value: Val<'c>) -> Option<Offset<'c>> {
    let gep = llvm::Getelementptr::of(op)?;
    // The pointer and one index.
    if op.operand_count() != 2 || operand(op, 1) != value {
        return None;
    }
    let element = gep.elem_type().and_then(type_value);
    let bytes = element.is_some_and(|ty| int_width(ty) == Some(8));
    let only = attribute_of(op, "rawConstantIndices").and_then(i32s_of);
    let only = only.is_some_and(|indices| indices == [i32::MIN]);
    let base = operand(op, 0);
    (bytes && only).then_some(Offset { op, base })
}
