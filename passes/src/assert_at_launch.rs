//! `cute-assert-at-launch`: what a kernel asserts of its arguments alone, a launch asserts.
//!
//! A layout that only a launch knows is right under conditions: that an extent by which something is divided is at least 1, that a stride times a constant
//! fits its width. They are the same for all threads, and a thread that evaluates one has a branch before its first load, and behind it a call with
//! five arguments. Where a kernel is launched in the same module, the host function asserts them before it launches, once, for the blocks that there
//! are: of no blocks nothing is asked, and of a branch only where it is taken. What follows for an argument stands on it as `cute.least`, and for LLVM as its range.
//! The host computes in 64 bits; where a kernel's 32 bits would have wrapped, an assertion stays, unless that is what it asks.

use crate::launch::launches_of;
use cute_arith::{Op as Arith, Predicate};
use cute_ir::attributes::LEAST;
use cute_ir::block::dimension_of;
use cute_ir::ops::{arith, cf, gpu, scf};
use cute_ir::{Anchor, Failure, PassSpec, mlir::*, types::int_type};
use melior::ir::ValueLike;

/// The pass.
pub const PASS: PassSpec = PassSpec {
    name: "cute-assert-at-launch",
    description: "Assert before a launch what a kernel asserts of its arguments alone",
    anchor: Anchor::Module,
    options: &[],
    run,
};

/// The attribute of LLVM for the range of an argument.
const RANGE: &str = "llvm.range";

/// Nested deeper, a condition stays in the kernel. Bounds the stack.
pub(crate) const MOST_NESTING: usize = 12;

/// The parts of a condition with all that it depends on, at most: past it, it stays in the kernel, and a launch evaluates little.
const MOST_PARTS: usize = 48;

fn run<'c>(rewriter: &'c Rewriter<'c>, module: Op<'c>, _: &[&str]) -> Result<(), Failure> {
    let kernels = nested_ops(module).into_iter();
    for kernel in kernels.filter(|op| name_of(*op) == gpu::FUNC) {
        let launches: Option<Vec<_>> = launches_of(module, kernel)
            .into_iter()
            .map(gpu::LaunchFunc::of)
            .collect();
        if let (Some(body), Some(launches)) = (body_of(kernel, 0), launches)
            && !launches.is_empty()
        {
            Found::in_kernel(kernel, body).move_to(rewriter, kernel, &launches)?;
        }
    }
    Ok(())
}

/// An integer that a launch knows, as a kernel computes it of its arguments and before it wraps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Known {
    Argument(usize),
    /// The number of blocks along an axis.
    Blocks(usize),
    Constant(i64),
    Truth(bool),
    Op(Arith, Box<[Known; 2]>),
    Compare(Predicate, Box<[Known; 2]>),
    Select(Box<[Known; 3]>),
    /// Tells whether a number fits 32 bits with a sign.
    Fits(Box<Known>),
    /// A number as 32 bits with a sign have it.
    Wrapped(Box<Known>),
}

/// The numbers that a launch gives to a kernel, as values on the host, or in the kernel itself, where the number of blocks is no value.
pub(crate) struct Launched<'c> {
    arguments: Vec<Val<'c>>,
    blocks: Option<[Val<'c>; 3]>,
}

impl<'c> Launched<'c> {
    /// The numbers of a launch.
    pub(crate) fn of(launch: gpu::LaunchFunc<'c>) -> Self {
        Self {
            arguments: launch.kernel_operands().into_iter().collect(),
            blocks: Some([
                launch.grid_size_x(),
                launch.grid_size_y(),
                launch.grid_size_z(),
            ]),
        }
    }
}

/// Conditions, each with whether it holds: those of the branches around an operation, from the outside in.
type Guards = Vec<(Known, bool)>;

/// An assertion that a launch can make.
struct Asserted<'c> {
    op: cf::Assert<'c>,
    condition: Known,
    guards: Guards,
}

/// The assertions of a kernel that a launch can make.
#[derive(Default)]
struct Found<'c> {
    asserted: Vec<Asserted<'c>>,
    /// Those that need not be made: what they ask holds, or is asked before.
    needless: Vec<Op<'c>>,
}

impl<'c> Found<'c> {
    fn in_kernel(kernel: Op<'c>, body: Blk<'c>) -> Self {
        let mut found = Self::default();
        for op in nested_ops(kernel) {
            let Some(assertion) = cf::Assert::of(op) else {
                continue;
            };
            let Some(condition) = read(assertion.arg(), body, MOST_NESTING) else {
                continue;
            };
            let (guards, is_all) = around(kernel, body, op);
            let is_asked = |other: &Asserted<'c>| {
                other.condition == condition && guards.starts_with(&other.guards)
            };
            if condition.always_holds() || found.asserted.iter().any(is_asked) {
                found.needless.push(op);
            } else if is_all && parts(&condition, &guards) <= MOST_PARTS {
                found.asserted.push(Asserted {
                    op: assertion,
                    condition,
                    guards,
                });
            }
        }
        found
    }

    fn move_to(
        self,
        rewriter: &'c Rewriter<'c>,
        kernel: Op<'c>,
        launches: &[gpu::LaunchFunc<'c>],
    ) -> Result<(), Failure> {
        for launch in launches {
            for asserted in &self.asserted {
                asserted.before(*launch)?;
            }
        }
        let mut fitting = Vec::new();
        for asserted in self.asserted {
            if asserted.guards.is_empty() {
                note(kernel, &asserted.condition)?;
                if let Known::Fits(number) = asserted.condition {
                    fitting.push(*number);
                }
            }
            rewriter.erase(asserted.op.op())?;
        }
        widen(kernel, &fitting)?;
        let mut needless = self.needless.into_iter();
        needless.try_for_each(|op| rewriter.erase(op))
    }
}

/// The parts of a condition and of those around it.
fn parts(condition: &Known, guards: &Guards) -> usize {
    let guards = guards.iter().map(|(guard, _)| guard.parts());
    condition.parts() + guards.sum::<usize>()
}

impl Asserted<'_> {
    /// Asserts it before a launch, for its blocks.
    fn before(&self, launch: gpu::LaunchFunc<'_>) -> Result<(), Failure> {
        let b = Builder::before(launch.op());
        let launched = Launched::of(launch);
        let truth = int_type(b.context, 1);
        let mut holds = self.condition.write(b, &launched)?;
        for (guard, taken) in self.guards.iter().rev() {
            let guard = guard.write(b, &launched)?;
            let yes = b.constant(truth, 1)?;
            let arms = if *taken {
                [guard, holds, yes]
            } else {
                [guard, yes, holds]
            };
            holds = b.value(arith::SELECT, &arms, truth, &[])?;
        }
        for blocks in launched.blocks.into_iter().flatten() {
            if constant_of(blocks).is_some_and(|blocks| blocks > 0) {
                continue;
            }
            let none = b.constant(blocks.r#type(), 0)?;
            let none = b.compare(Predicate::Eq, blocks, none)?;
            holds = b.value(arith::ORI, &[none, holds], truth, &[])?;
        }
        let message = string_of(self.op.op(), "msg").unwrap_or_default();
        b.op(cf::ASSERT, &[holds], &[], &[("msg", b.string(message))])?;
        Ok(())
    }
}

/// The branches around an operation of a kernel, as far as a launch knows them, and whether nothing else is around it.
fn around<'c>(kernel: Op<'c>, body: Blk<'c>, op: Op<'c>) -> (Guards, bool) {
    let mut outside_in = Vec::new();
    let mut at = op;
    while let Some(parent) = parent_op(at).filter(|parent| *parent != kernel) {
        outside_in.push((parent, block_of(at)));
        at = parent;
    }
    let mut guards = Guards::new();
    for (parent, block) in outside_in.into_iter().rev() {
        let branch = scf::If::of(parent);
        let guard = branch.and_then(|branch| read(branch.condition(), body, MOST_NESTING));
        let Some(guard) = guard else {
            return (guards, false);
        };
        let taken = body_of(parent, 0) == block;
        if !(taken && guard.always_holds()) {
            guards.push((guard, taken));
        }
    }
    (guards, block_of(at) == Some(body))
}

/// Reads a value of a kernel as a launch knows it, where the value is that number, whatever its width.
pub(crate) fn read<'c>(value: Val<'c>, body: Blk<'c>, nesting: usize) -> Option<Known> {
    let nesting = nesting.checked_sub(1)?;
    if let Some((block, index)) = block_argument(value) {
        let is_number = matches!(int_width(value.r#type()), Some(32 | 64));
        return (block == body && is_number).then_some(Known::Argument(index));
    }
    let op = defining_op(value)?;
    if name_of(op) == arith::CONSTANT {
        let constant = integer_of(op, "value")?;
        return Some(match int_width(value.r#type()) {
            Some(1) => Known::Truth(constant & 1 == 1),
            _ => Known::Constant(constant),
        });
    }
    if name_of(op) == gpu::GRID_DIM {
        return dimension_of(op).map(Known::Blocks);
    }
    let operands = operands_of(op);
    let from = operands
        .first()
        .and_then(|operand| int_width(operand.r#type()));
    let to = int_width(value.r#type());
    if let (arith::CMPI, &[a, b]) = (name_of(op), &operands[..]) {
        let predicate = Predicate::numbered(integer_of(op, "predicate")?)?;
        if predicate == Predicate::Eq
            && let Some(fits) =
                read_fits(a, b, body, nesting).or_else(|| read_fits(b, a, body, nesting))
        {
            return Some(fits);
        }
        return compared(
            predicate,
            [read(a, body, nesting)?, read(b, body, nesting)?],
        );
    }
    let known = operands.iter().map(|operand| read(*operand, body, nesting));
    let known: Vec<Known> = known.collect::<Option<_>>()?;
    match (name_of(op), <[Known; 2]>::try_from(known)) {
        (arith::EXTSI, Err(known)) if from != Some(1) => known.into_iter().next(),
        // An index of a kernel has 32 bits.
        (arith::INDEX_CAST, Err(known))
            if from.or(to) == Some(32) || from.is_none() && to == Some(64) =>
        {
            known.into_iter().next()
        }
        (arith::SELECT, Err(known)) => Some(chosen(known.try_into().ok()?)),
        (name, Ok(known)) => {
            let op = Arith::named(name)?;
            let is_exact = match op {
                Arith::MinS | Arith::MaxS => true,
                Arith::And | Arith::Or => from == Some(1),
                // By what is positive nothing overflows.
                Arith::DivS | Arith::RemS | Arith::FloorDivS | Arith::CeilDivS => {
                    matches!(known[1], Known::Constant(1..))
                }
                // Without signs the same, of what has none.
                Arith::DivU | Arith::RemU | Arith::CeilDivU => {
                    matches!(known[1], Known::Constant(1..)) && known[0].is_not_negative()
                }
                Arith::MinU | Arith::MaxU => known.iter().all(Known::is_not_negative),
                Arith::Add | Arith::Sub | Arith::Mul => from == Some(64),
                _ => false,
            };
            is_exact.then(|| Known::Op(op, Box::new(known)))
        }
        _ => None,
    }
}

/// Reads whether `narrow`, which is extended from 32 bits, is `wide`, which is the same in 64: whether that fits 32 bits.
fn read_fits<'c>(narrow: Val<'c>, wide: Val<'c>, body: Blk<'c>, nesting: usize) -> Option<Known> {
    let extended = defining_op(narrow).filter(|op| name_of(*op) == arith::EXTSI)?;
    let &[sum] = &operands_of(extended)[..] else {
        return None;
    };
    let wrapped = read_wrapped(sum, body, nesting)?;
    let wide = read(wide, body, nesting)?;
    (int_width(sum.r#type()) == Some(32) && wrapped == wide).then(|| Known::Fits(Box::new(wide)))
}

/// Reads a number of 32 bits as a launch knows it, whether or not what it is computed from fits 32 bits.
pub(crate) fn read_narrow<'c>(value: Val<'c>, body: Blk<'c>) -> Option<Known> {
    read(value, body, MOST_NESTING).or_else(|| {
        let wrapped = read_wrapped(value, body, MOST_NESTING)?;
        Some(Known::Wrapped(Box::new(wrapped)))
    })
}

/// Reads a value of a kernel as a launch knows it but for multiples of 2 to its width: sums and products are those of what their operands are.
fn read_wrapped<'c>(value: Val<'c>, body: Blk<'c>, nesting: usize) -> Option<Known> {
    let nesting = nesting.checked_sub(1)?;
    let op = defining_op(value).and_then(|op| Some((op, Arith::named(name_of(op))?)));
    match op {
        Some((op, sum @ (Arith::Add | Arith::Sub | Arith::Mul))) => {
            let of = operands_of(op).into_iter();
            let of: Option<Vec<_>> = of
                .map(|operand| read_wrapped(operand, body, nesting))
                .collect();
            Some(Known::Op(sum, Box::new(of?.try_into().ok()?)))
        }
        _ => read(value, body, nesting),
    }
}

/// A comparison of numbers that are known; nothing where it reads no signs and the numbers may have them.
fn compared(predicate: Predicate, of: [Known; 2]) -> Option<Known> {
    let predicate = match predicate {
        Predicate::Ult => Predicate::Slt,
        Predicate::Ule => Predicate::Sle,
        Predicate::Ugt => Predicate::Sgt,
        Predicate::Uge => Predicate::Sge,
        _ => return Some(Known::Compare(predicate, Box::new(of))),
    };
    let is_positive = of.iter().all(Known::is_not_negative);
    is_positive.then(|| Known::Compare(predicate, Box::new(of)))
}

/// A selection, which may be that of the larger one.
fn chosen([condition, yes, no]: [Known; 3]) -> Known {
    match condition {
        Known::Compare(Predicate::Slt, of) if *of == [no.clone(), yes.clone()] => {
            Known::Op(Arith::MaxS, Box::new([yes, no]))
        }
        condition => Known::Select(Box::new([condition, yes, no])),
    }
}

impl Known {
    /// The number of parts that it is written with.
    pub(crate) fn parts(&self) -> usize {
        let all = |of: &[Known]| of.iter().map(Known::parts).sum::<usize>();
        1 + match self {
            Known::Argument(_) | Known::Blocks(_) | Known::Constant(_) | Known::Truth(_) => 0,
            Known::Wrapped(number) => 1 + number.parts(),
            Known::Op(_, of) | Known::Compare(_, of) => all(&of[..]),
            Known::Select(of) => all(&of[..]),
            Known::Fits(number) => 2 * number.parts() + 4,
        }
    }

    /// A number that it is not below, if there is one.
    fn least(&self) -> Option<i64> {
        match self {
            Known::Constant(value) => Some(*value),
            Known::Op(Arith::MaxS, of) => of.iter().filter_map(Known::least).max(),
            // Read of what is not below zero only.
            Known::Op(
                Arith::DivU | Arith::RemU | Arith::CeilDivU | Arith::MinU | Arith::MaxU,
                _,
            ) => Some(0),
            Known::Blocks(_) | Known::Compare(..) | Known::Fits(_) => Some(0),
            _ => None,
        }
    }

    fn is_not_negative(&self) -> bool {
        self.least().is_some_and(|least| least >= 0)
    }

    /// Tells whether it is a condition that holds for all arguments.
    fn always_holds(&self) -> bool {
        let Known::Compare(predicate, of) = self else {
            return *self == Known::Truth(true);
        };
        let [a, b] = &**of;
        let is_above = |a: &Known, b: &Known, by: i64| match (a, b.least()) {
            (Known::Constant(a), Some(least)) => a.checked_add(by).is_some_and(|a| a <= least),
            _ => false,
        };
        match predicate {
            Predicate::Sle => is_above(a, b, 0),
            Predicate::Slt => is_above(a, b, 1),
            Predicate::Sge => is_above(b, a, 0),
            Predicate::Sgt => is_above(b, a, 1),
            _ => false,
        }
    }

    /// Its value before a launch: a number of 64 bits, or a truth value.
    pub(crate) fn write<'c>(
        &self,
        b: Builder<'c>,
        launched: &Launched<'c>,
    ) -> Result<Val<'c>, Failure> {
        let (wide, truth) = (b.i64_type(), int_type(b.context, 1));
        let all = |of: &[Known]| -> Result<Vec<Val<'c>>, Failure> {
            of.iter().map(|known| known.write(b, launched)).collect()
        };
        let given = |value: Val<'c>| match int_width(value.r#type()) {
            Some(64) => Ok(value),
            Some(_) => b.value(arith::EXTSI, &[value], wide, &[]),
            None => b.value(arith::INDEX_CAST, &[value], wide, &[]),
        };
        match self {
            Known::Argument(index) => given(launched.arguments[*index]),
            Known::Blocks(axis) => {
                let blocks = launched.blocks.map(|blocks| blocks[*axis]);
                given(blocks.ok_or_else(|| b.error("expected a launch, whose blocks are known"))?)
            }
            Known::Wrapped(number) => {
                let number = number.write(b, launched)?;
                let narrow = b.value(arith::TRUNCI, &[number], b.i32_type(), &[])?;
                b.value(arith::EXTSI, &[narrow], wide, &[])
            }
            Known::Constant(value) => b.constant(wide, *value),
            Known::Truth(holds) => b.constant(truth, i64::from(*holds)),
            Known::Op(op, of) => {
                let of = all(&of[..])?;
                b.value(op.name(), &of, of[0].r#type(), &[])
            }
            Known::Compare(predicate, of) => {
                let of = all(&of[..])?;
                b.compare(*predicate, of[0], of[1])
            }
            Known::Select(of) => {
                let of = all(&of[..])?;
                b.value(arith::SELECT, &of, of[1].r#type(), &[])
            }
            Known::Fits(number) => {
                let number = number.write(b, launched)?;
                let [least, most] =
                    [i32::MIN, i32::MAX].map(|bound| b.constant(wide, bound.into()));
                let least = b.compare(Predicate::Sle, least?, number)?;
                let most = b.compare(Predicate::Sle, number, most?)?;
                b.value(arith::ANDI, &[least, most], truth, &[])
            }
        }
    }
}

/// Extends arguments in place of their products with constants, where these are known to fit: a product of 64 bits is one instruction then, and constants by
/// which it is multiplied again are one with it.
fn widen(kernel: Op<'_>, fitting: &[Known]) -> Result<(), Failure> {
    let is_multiple = |number: &&Known| {
        matches!(number, Known::Op(Arith::Mul, of)
            if matches!(&**of, [Known::Argument(_), Known::Constant(_)] | [Known::Constant(_), Known::Argument(_)]))
    };
    let fitting: Vec<&Known> = fitting.iter().filter(is_multiple).collect();
    let Some(body) = body_of(kernel, 0).filter(|_| !fitting.is_empty()) else {
        return Ok(());
    };
    let launched = Launched {
        arguments: arguments_of(body),
        blocks: None,
    };
    for op in nested_ops(kernel) {
        if name_of(op) != arith::EXTSI || int_width(result_of(op, 0).r#type()) != Some(64) {
            continue;
        }
        let number = read_wrapped(operands_of(op)[0], body, MOST_NESTING);
        let Some(number) = number.filter(|number| fitting.contains(&number)) else {
            continue;
        };
        let wide = number.write(Builder::before(op), &launched)?;
        replace_uses(result_of(op, 0), wide);
    }
    Ok(())
}

/// Notes the least value of a kernel's argument, where a condition says one.
fn note(kernel: Op<'_>, condition: &Known) -> Result<(), Failure> {
    let Known::Compare(predicate, of) = condition else {
        return Ok(());
    };
    let (argument, least) = match (predicate, &**of) {
        (Predicate::Sle, [Known::Constant(least), Known::Argument(argument)])
        | (Predicate::Sge, [Known::Argument(argument), Known::Constant(least)]) => {
            (*argument, Some(*least))
        }
        (Predicate::Slt, [Known::Constant(below), Known::Argument(argument)])
        | (Predicate::Sgt, [Known::Argument(argument), Known::Constant(below)]) => {
            (*argument, below.checked_add(1))
        }
        _ => return Ok(()),
    };
    let b = Builder::before(kernel);
    let (Some(least), Some(body)) = (least.filter(|least| *least > 0), body_of(kernel, 0)) else {
        return Ok(());
    };
    let arguments = arguments_of(body);
    let argument_type = arguments[argument].r#type();
    let before = argument_attribute(kernel, argument, LEAST).and_then(integer_value);
    if before.is_some_and(|before| before >= least) {
        return Ok(());
    }
    let given = attribute_of(kernel, "arg_attrs").and_then(array_of);
    let mut all = given.unwrap_or_else(|| vec![empty_dictionary(b.context); arguments.len()]);
    let mut entries = entries_of(all[argument]).unwrap_or_default();
    let width = int_width(argument_type).unwrap_or(64);
    let range = format!(
        "#llvm.constant_range<i{width}, {least}, {}>",
        i64::MIN >> (64 - width)
    );
    entries.retain(|(name, _)| ![LEAST, RANGE].contains(name));
    entries.push((LEAST, b.i64_attribute(least)));
    entries.push((RANGE, b.attribute(&range)?));
    all[argument] = dictionary(b.context, &entries);
    set_attribute(kernel, "arg_attrs", array_attribute(b.context, &all));
    Ok(())
}
