//! Facts about the integers of a kernel: from sizes that it is launched with, limits of the hardware, bounds of loops,
//! attributes of arguments, and what it asserts first.

use cute_arith::{Cast, Facts, Op as Arith, Predicate, mask};
use cute_ir::attributes::{DIVISOR, LEAST};
use cute_ir::block::dimension_of;
use cute_ir::mlir::*;
use cute_ir::ops::{arith, cf, gpu, llvm, nvvm, scf};
use melior::ir::{AttributeLike, ValueLike, operation::OperationLike};
use rustc_hash::{FxHashMap, FxHashSet};

/// Nested deeper, nothing is asked any more. Bounds the stack.
const MOST_NESTING: usize = 64;

/// The rounds after which what a loop carries is taken to be anything: the places of a ring, and then some.
const MOST_ROUNDS: usize = 24;

/// The values that are looked at in all: past it, nothing more is said.
const MOST_STEPS: usize = 400_000;

/// The facts about the values of a kernel.
pub(crate) struct Known<'c> {
    kernel: Op<'c>,
    /// Facts that have been asked for, and those that the kernel asserts.
    facts: FxHashMap<ValueKey, Facts>,
    /// Values that have been asked about, in order, so that what depends on an assumption can be forgotten.
    asked: Vec<ValueKey>,
    steps: usize,
    /// The elements that vectors were made by putting in, last: each is looked at for every other element that is taken out.
    puts: FxHashMap<ValueKey, Option<Put<'c>>>,
    /// The comparisons that facts are from: they stay as they are.
    pub(super) sources: FxHashSet<OpKey>,
    /// The kinds of operations by name, so that each name is read once.
    kinds: FxHashMap<NameKey, Kind>,
    /// The name that was asked for last.
    last: Option<(NameKey, Kind)>,
    /// The integers of attributes, by attribute.
    constants: FxHashMap<usize, Option<i64>>,
}

/// The kind of an operation, as far as integers are concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Constant,
    Op(Arith),
    Cast(Cast),
    Compare,
    Select,
    /// An index as an integer or the other way round, with a sign or without.
    IndexCast {
        is_signed: bool,
    },
    /// An element taken out of a vector.
    Take,
    /// An element put into a vector.
    Put,
    /// Something about kernels that come before or after in the stream.
    Depend,
    Other,
}

impl Kind {
    fn named(name: &str) -> Kind {
        match (Arith::named(name), Cast::named(name), name) {
            (Some(op), ..) => Kind::Op(op),
            (_, Some(cast), _) => Kind::Cast(cast),
            (.., arith::CONSTANT) => Kind::Constant,
            (.., arith::CMPI) => Kind::Compare,
            (.., arith::SELECT) => Kind::Select,
            (.., arith::INDEX_CAST) => Kind::IndexCast { is_signed: true },
            (.., arith::INDEX_CASTUI) => Kind::IndexCast { is_signed: false },
            (.., llvm::EXTRACTELEMENT) => Kind::Take,
            (.., llvm::INSERTELEMENT) => Kind::Put,
            (.., nvvm::GRIDDEPCONTROL) => Kind::Depend,
            _ => Kind::Other,
        }
    }
}

/// An element that was put into a vector, at a known place.
#[derive(Clone, Copy)]
struct Put<'c> {
    place: i64,
    value: Val<'c>,
    vector: Val<'c>,
}

/// The width of an integer, and of an index, which is one of 32 bits in a kernel.
pub(super) fn width_of(value: Val) -> Option<u32> {
    if is_index(value.r#type()) {
        return Some(32);
    }
    int_width(value.r#type()).filter(|width| (1..=64).contains(width))
}

impl<'c> Known<'c> {
    pub(crate) fn of(kernel: Op<'c>, body: Blk<'c>) -> Self {
        let mut known = Self {
            kernel,
            facts: FxHashMap::default(),
            asked: Vec::new(),
            steps: 0,
            puts: FxHashMap::default(),
            sources: FxHashSet::default(),
            kinds: FxHashMap::default(),
            last: None,
            constants: FxHashMap::default(),
        };
        // Only what comes before all that can be seen from outside: whoever has not got past it has done nothing.
        for op in std::iter::successors(first_of(body), |op| next_of(*op)) {
            let condition = match name_of(op) {
                cf::ASSERT => operands_of(op).first().copied(),
                _ if is_pure(op) => None,
                _ => break,
            };
            if let Some(condition) = condition {
                known.assume(condition);
            }
        }
        known
    }

    /// The kind of an operation.
    pub(super) fn kind(&mut self, op: Op<'c>) -> Kind {
        let name = name_key(op);
        // Constants, and much else, stand one behind the other.
        if let Some((last, kind)) = self.last
            && last == name
        {
            return kind;
        }
        let kind = self.kinds.entry(name);
        let kind = *kind.or_insert_with(|| Kind::named(name_of(op)));
        self.last = Some((name, kind));
        kind
    }

    /// The integer that a constant gives: attributes are few, and each is read once.
    pub(super) fn constant(&mut self, op: Op<'c>) -> Option<i64> {
        let value = attribute_of(op, "value")?;
        let known = self.constants.entry(value.to_raw().ptr as usize);
        *known.or_insert_with(|| integer_value(value))
    }

    /// The number that a value is, and its width; nothing of one that is no constant.
    pub(super) fn constant_value(&mut self, value: Val<'c>) -> Option<(u64, u32)> {
        let op = defining_op(value)?;
        if self.kind(op) != Kind::Constant {
            return None;
        }
        let width = int_width(value.r#type())?;
        Some((self.constant(op)? as u64 & mask(width), width))
    }

    /// The place in a vector that a value names: the number of a constant.
    fn place(&mut self, value: Val<'c>) -> Option<i64> {
        self.constant(defining_op(value)?)
    }

    /// The insertion that made a vector; none of one that was made otherwise.
    fn put(&mut self, vector: Val<'c>) -> Option<Put<'c>> {
        let op = defining_op(vector)?;
        // The vector, the element, and its place.
        if self.kind(op) != Kind::Put || op.operand_count() != 3 {
            return None;
        }
        Some(Put {
            place: self.place(operand(op, 2))?,
            value: operand(op, 1),
            vector: operand(op, 0),
        })
    }

    /// The value that an operation takes out of a vector, where it was put into it at that place: predicates of copies are elements of
    /// fragments.
    pub(super) fn taken_out(&mut self, op: Op<'c>) -> Option<Val<'c>> {
        if op.operand_count() != 2 {
            return None;
        }
        let (mut vector, place) = (operand(op, 0), self.place(operand(op, 1))?);
        loop {
            let put = match self.puts.get(&key(vector)) {
                Some(put) => *put,
                None => {
                    let put = self.put(vector);
                    self.puts.insert(key(vector), put);
                    put
                }
            }?;
            if put.place == place {
                return Some(put.value);
            }
            vector = put.vector;
        }
    }

    /// Notes what follows from a condition that holds.
    fn assume(&mut self, condition: Val<'c>) {
        let Some(op) = defining_op(condition) else {
            return;
        };
        let (Some(predicate), [a, b]) = (predicate_of(op), &operands_of(op)[..]) else {
            return;
        };
        for (predicate, value, bound) in [(predicate, *a, *b), (predicate.swapped(), *b, *a)] {
            let (Some(width), Some(bound)) = (width_of(value), constant_of(bound)) else {
                continue;
            };
            // Of what is computed, the facts are those of what it is computed from.
            if defining_op(value).is_some() {
                continue;
            }
            let bound = Facts::constant(bound as u64 & mask(width));
            let before = self.of_value(value, 0);
            if let Some(facts) = predicate.facts(before, bound, width) {
                self.facts.insert(key(value), facts);
                self.sources.insert(op_key(op));
            }
        }
    }

    /// Returns what is known of an integer or an index, at its width.
    pub(crate) fn value(&mut self, value: Val<'c>) -> Facts {
        self.of_value(value, 0)
    }

    fn of_value(&mut self, value: Val<'c>, nesting: usize) -> Facts {
        let width = width_of(value).unwrap_or(64);
        if let Some(facts) = self.facts.get(&key(value)) {
            return *facts;
        }
        self.steps += 1;
        if nesting > MOST_NESTING || self.steps > MOST_STEPS {
            return Facts::any(width);
        }
        let found = match (defining_op(value), block_argument(value)) {
            (Some(op), _) => self.result(op, width, nesting + 1),
            (_, Some((block, index))) => self.of_argument(block, index, width, nesting + 1),
            _ => None,
        };
        let facts = found.and_then(|facts| facts.tight(width));
        let facts = facts.unwrap_or(Facts::any(width));
        self.note(value, facts);
        facts
    }

    fn note(&mut self, value: Val<'c>, facts: Facts) {
        self.facts.insert(key(value), facts);
        self.asked.push(key(value));
    }

    fn result(&mut self, op: Op<'c>, width: u32, nesting: usize) -> Option<Facts> {
        let kind = self.kind(op);
        match kind {
            Kind::Other => return self.hardware(op),
            Kind::Put | Kind::Depend => return None,
            Kind::Constant => {
                let value = self.constant(op)?;
                return Some(Facts::constant(value as u64 & mask(width)));
            }
            Kind::Take => {
                let value = self.taken_out(op)?;
                return Some(self.of_value(value, nesting));
            }
            _ => {}
        }
        let operands = operands_of(op);
        if operands.iter().any(|operand| width_of(*operand).is_none()) {
            return None;
        }
        let known: Vec<Facts> = operands
            .iter()
            .map(|operand| self.of_value(*operand, nesting))
            .collect();
        let from = operands.first().and_then(|operand| width_of(*operand))?;
        Some(match known[..] {
            [a, b] => match kind {
                Kind::Op(op) => op.facts(a, b, width),
                _ => {
                    let decided = predicate_of(op)?.decided(a, b, from)?;
                    Facts::constant(u64::from(decided))
                }
            },
            [a] => match kind {
                Kind::Cast(cast) => cast.facts(a, from, width),
                Kind::IndexCast { is_signed } => match from.cmp(&width) {
                    std::cmp::Ordering::Less if is_signed => Cast::SignExtend.facts(a, from, width),
                    std::cmp::Ordering::Less => Cast::ZeroExtend.facts(a, from, width),
                    std::cmp::Ordering::Equal => a,
                    std::cmp::Ordering::Greater => Cast::Truncate.facts(a, from, width),
                },
                _ => return None,
            },
            [condition, yes, no] if kind == Kind::Select => match condition.as_constant() {
                Some(0) => no,
                Some(_) => yes,
                None => {
                    let no = self.where_it_is(operands[0], false, operands[2], no, nesting);
                    let yes = self.where_it_is(operands[0], true, operands[1], yes, nesting);
                    match (yes, no) {
                        (Some(yes), Some(no)) => yes.or(no),
                        (known, None) | (None, known) => known?,
                    }
                }
            },
            _ => return None,
        })
    }

    /// The facts about a value where a condition holds, or does not; nothing where that cannot be.
    fn where_it_is(
        &mut self,
        condition: Val<'c>,
        holds: bool,
        value: Val<'c>,
        facts: Facts,
        nesting: usize,
    ) -> Option<Facts> {
        let compared = defining_op(condition).and_then(|op| Some((predicate_of(op)?, op)));
        let Some((predicate, op)) = compared else {
            return Some(facts);
        };
        let predicate = if holds {
            predicate
        } else {
            predicate.negated()
        };
        let (Some(width), [a, b]) = (width_of(value), &operands_of(op)[..]) else {
            return Some(facts);
        };
        if *a == value {
            let bound = self.of_value(*b, nesting);
            predicate.facts(facts, bound, width)
        } else if *b == value {
            let bound = self.of_value(*a, nesting);
            predicate.swapped().facts(facts, bound, width)
        } else {
            Some(facts)
        }
    }

    /// Notes the facts about all that a loop carries: from what it starts with, by what each turn makes of it, until that is
    /// nothing new.
    fn carried(&mut self, op: scf::For<'c>, nesting: usize) -> Option<()> {
        let body = body_of(op.op(), 0)?;
        let last = terminator_of(body)?;
        let arguments = arguments_of(body);
        let values = arguments
            .iter()
            .skip(1)
            .zip(operands_of(op.op()).into_iter().skip(3));
        let mut all: Vec<(Val<'c>, Val<'c>, Facts, u32)> = Vec::new();
        for ((argument, start), next) in values.zip(operands_of(last)) {
            if let Some(width) = width_of(*argument) {
                let start = self.of_value(start, nesting);
                all.push((*argument, next, start, width));
            }
        }
        for round in 0.. {
            let mark = self.asked.len();
            for (argument, _, facts, _) in &all {
                self.note(*argument, *facts);
            }
            let mut grew = Vec::new();
            for (at, (_, next, facts, width)) in all.iter().enumerate() {
                let next = self.of_value(*next, nesting);
                let both = facts.or(next).tight(*width).unwrap_or(Facts::any(*width));
                if both != *facts {
                    grew.push((at, both));
                }
            }
            if grew.is_empty() {
                return Some(());
            }
            for forgotten in self.asked.drain(mark..) {
                self.facts.remove(&forgotten);
            }
            for (at, both) in grew {
                let (_, _, facts, width) = &mut all[at];
                *facts = if round < MOST_ROUNDS {
                    both
                } else {
                    Facts::any(*width)
                };
            }
        }
        None
    }

    /// The indices and sizes that special registers hold.
    fn hardware(&self, op: Op<'c>) -> Option<Facts> {
        let limits = |most: [u64; 3]| dimension_of(op).and_then(|d| most.get(d)).copied();
        let size = |attribute: &str| {
            let sizes = i32s_of(attribute_of(self.kernel, attribute)?)?;
            let size = *sizes.get(dimension_of(op)?)?;
            u64::try_from(size).ok().filter(|size| *size > 0)
        };
        let threads = [1024, 1024, 64];
        let blocks = [i32::MAX as u64, 65535, 65535];
        Some(match name_of(op) {
            gpu::THREAD_ID => Facts::range(0, size("known_block_size").or(limits(threads))? - 1),
            gpu::BLOCK_ID => Facts::range(0, size("known_grid_size").or(limits(blocks))? - 1),
            gpu::BLOCK_DIM => match size("known_block_size") {
                Some(size) => Facts::constant(size),
                None => Facts::range(1, limits(threads)?),
            },
            gpu::GRID_DIM => match size("known_grid_size") {
                Some(size) => Facts::constant(size),
                None => Facts::range(1, limits(blocks)?),
            },
            gpu::LANE_ID => Facts::range(0, 31),
            _ => return None,
        })
    }

    fn of_argument(
        &mut self,
        block: Blk<'c>,
        index: usize,
        width: u32,
        nesting: usize,
    ) -> Option<Facts> {
        let owner = owner_of(block)?;
        if owner == self.kernel {
            let number = |name| argument_attribute(owner, index, name).and_then(integer_value);
            let least = number(LEAST).and_then(|least| u64::try_from(least).ok());
            let range = least.map(|least| Facts::range(least, mask(width) >> 1));
            let divisor = number(DIVISOR).and_then(|divisor| u64::try_from(divisor).ok());
            let multiple = divisor.filter(|d| *d > 0).map(Facts::multiple_of);
            return Some(
                range
                    .unwrap_or(Facts::any(width))
                    .and(multiple.unwrap_or(Facts::any(width))),
            );
        }
        let op = scf::For::of(owner)?;
        if index > 0 {
            // While its bounds are asked for, it carries anything.
            let value = argument(block, index);
            self.note(value, Facts::any(width));
            self.carried(op, nesting)?;
            return self.facts.get(&key(value)).copied();
        }
        let low = self.of_value(op.lower_bound(), nesting);
        let high = self.of_value(op.upper_bound(), nesting);
        let step = self.of_value(op.step(), nesting);
        let half = mask(width) >> 1;
        let is_unsigned = attribute_of(owner, "unsignedCmp").is_some();
        let top = if is_unsigned { mask(width) } else { half };
        // The bound is above the counter as often as the body runs, and the next one must not be beyond the width.
        let most = if high.hi <= top { high.hi } else { top };
        let fits = step.hi == 1 || most.checked_add(step.hi).is_some_and(|next| next <= top);
        if low.hi > top || step.lo == 0 || step.hi > top || !fits || most <= low.lo {
            return None;
        }
        let last = match (low.as_constant(), high.as_constant(), step.as_constant()) {
            (Some(low), Some(high), Some(step)) => low + (high - 1 - low) / step * step,
            _ => most - 1,
        };
        let unit = |facts: Facts| 1_u64 << facts.zero_bits.trailing_ones().min(63);
        Some(Facts::range(low.lo, last).and(Facts::multiple_of(unit(low).min(unit(step)))))
    }
}

/// The predicate of a comparison of integers.
pub(super) fn predicate_of(op: Op) -> Option<Predicate> {
    if name_of(op) != arith::CMPI {
        return None;
    }
    Predicate::numbered(integer_of(op, "predicate")?)
}
