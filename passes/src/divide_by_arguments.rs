//! `cute-divide-by-arguments`: in loops, quotients by what a launch knows become products with a reciprocal that the launch computes.
//!
//! A coordinate of a mode whose extent only a launch knows is a quotient or a remainder by an argument. A division of two unknown numbers is some
//! twenty instructions, in 64 bits some hundred, and in a loop each turn pays for it again. Of numbers of 32 bits with signs the quotient is
//! `n * r / 2^62`, where `r` is the first number past `2^62 / d`, away from zero. That product is too large, away from zero, by at most
//! `|n| / 2^62`, which is less than `1 / |d|`: rounded towards zero it is the quotient, and what is below zero is rounded down and one more.
//! Of 64 bits are numbers that are extended from 32. Without signs, numbers are to be below 2^31. Divisions outside of loops stay: each is paid
//! for once.

use crate::assert_at_launch::{Known, Launched, read_narrow};
use crate::launch::launches_of;
use crate::reciprocals::{self, BITS};
use crate::simplify_indices::facts;
use cute_arith::Predicate;
use cute_ir::ops::{arith, gpu, scf};
use cute_ir::{Anchor, Expected, Failure, PassSpec, mlir::*};
use melior::ir::{Location, ValueLike, operation::OperationLike};
use rustc_hash::FxHashMap;

/// The pass.
pub const PASS: PassSpec = PassSpec {
    name: "cute-divide-by-arguments",
    description: "Multiply by reciprocals that launches compute in loops",
    anchor: Anchor::Module,
    options: &[],
    run,
};

/// The attribute that says how many operands of a launch are of which group.
const SEGMENTS: &str = "operandSegmentSizes";

/// The attribute for what is known of a kernel's arguments.
const ARGUMENT_ATTRIBUTES: &str = "arg_attrs";

/// The group of a launch's operands that a kernel has as arguments: behind dependencies, nine sizes and the size of shared memory.
const ARGUMENTS: usize = 11;

fn run<'c>(rewriter: &'c Rewriter<'c>, module: Op<'c>, _: &[&str]) -> Result<(), Failure> {
    let kernels = nested_ops(module).into_iter();
    for kernel in kernels.filter(|op| name_of(*op) == gpu::FUNC) {
        let launches = launches_of(module, kernel);
        let Some(body) = body_of(kernel, 0).filter(|_| !launches.is_empty()) else {
            continue;
        };
        let mut known = facts::Known::of(kernel, body);
        let all: Vec<_> = nested_ops(kernel)
            .into_iter()
            .filter(|op| is_in_loop(*op, kernel))
            .filter_map(|op| Division::of(op, body, &mut known))
            .collect();
        let mut divisors: Vec<Divisor> = Vec::new();
        for division in &all {
            if !divisors.contains(&division.divisor) {
                divisors.push(division.divisor.clone());
            }
        }
        let Some(first) = all.first() else {
            continue;
        };
        for launch in launches {
            pass_reciprocals(rewriter, launch, &divisors)?;
        }
        let before = arguments_of(body).len();
        accept(kernel, body, divisors.len(), first.op.location())?;
        let mut quotients = FxHashMap::default();
        for division in all {
            let place = divisors.iter().position(|other| *other == division.divisor);
            let place = place.expected(division.op, "a divisor that is passed")?;
            let reciprocal = argument(body, before + place);
            division.rewrite(rewriter, (place, reciprocal), &mut quotients)?;
        }
    }
    Ok(())
}

/// Tells whether an op is in a loop of its kernel.
fn is_in_loop<'c>(op: Op<'c>, kernel: Op<'c>) -> bool {
    let outward = std::iter::successors(parent_op(op), |op| parent_op(*op));
    let mut within = outward.take_while(|op| *op != kernel);
    within.any(|op| [scf::FOR, scf::WHILE].contains(&name_of(op)))
}

/// The parts that a divisor is computed of at most.
const MOST_PARTS: usize = 12;

/// A number that a launch knows.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Divisor {
    number: Known,
    /// Says that neither it nor what it divides is read as a number below zero.
    is_unsigned: bool,
}

/// A quotient or a remainder of a number of 32 bits.
struct Division<'c> {
    op: Op<'c>,
    /// The operation that extends numbers to the 64 bits that it takes.
    extension: &'static str,
    divisor: Divisor,
}

/// The quotients that have been computed, in 64 bits: by block, number and place of the divisor.
type Quotients<'c> = FxHashMap<(Option<BlockKey>, ValueKey, usize), Val<'c>>;

impl<'c> Division<'c> {
    fn of(op: Op<'c>, body: Blk<'c>, known: &mut facts::Known<'c>) -> Option<Self> {
        let has_signs = match name_of(op) {
            arith::DIVSI | arith::REMSI => true,
            arith::DIVUI | arith::REMUI => false,
            _ => return None,
        };
        let [number, by] = operands_of(op)[..] else {
            return None;
        };
        let extension = if has_signs {
            arith::EXTSI
        } else {
            arith::EXTUI
        };
        let [number, by] = [narrow(number, extension)?, narrow(by, extension)?];
        let divisor = read_narrow(by, body)?;
        if matches!(divisor, Known::Constant(_)) || divisor.parts() > MOST_PARTS {
            return None;
        }
        let mut is_positive = |value| known.value(value).hi <= i32::MAX as u64;
        let is_unsigned = is_positive(number) && (!has_signs || is_positive(by));
        (has_signs || is_unsigned).then_some(Self {
            op,
            extension,
            divisor: Divisor {
                number: divisor,
                is_unsigned,
            },
        })
    }

    fn rewrite(
        &self,
        rewriter: &'c Rewriter<'c>,
        (place, reciprocal): (usize, Val<'c>),
        quotients: &mut Quotients<'c>,
    ) -> Result<(), Failure> {
        let b = Builder::before(self.op).at_location(self.op.location());
        // What it divides may have been the result of another division.
        let number = narrow(operands_of(self.op)[0], self.extension);
        let number = number.expected(self.op, "a number of 32 bits")?;
        let at = (block_of(self.op).map(block_key), key(number), place);
        let quotient = match quotients.get(&at) {
            Some(quotient) => *quotient,
            None => {
                let is_unsigned = self.divisor.is_unsigned;
                let quotient = quotient(b, (number, is_unsigned), reciprocal)?;
                quotients.insert(at, quotient);
                quotient
            }
        };
        let result = result_of(self.op, 0);
        let ty = result.r#type();
        let mut value = match int_width(ty) {
            Some(64) => quotient,
            _ => b.value(arith::TRUNCI, &[quotient], ty, &[])?,
        };
        if [arith::REMSI, arith::REMUI].contains(&name_of(self.op)) {
            let operands = operands_of(self.op);
            let before = b.value(arith::MULI, &[value, operands[1]], ty, &[])?;
            value = b.value(arith::SUBI, &[operands[0], before], ty, &[])?;
        }
        replace_uses(result, value);
        rewriter.erase(self.op)
    }
}

/// The number of 32 bits that a number is, or is extended from.
fn narrow<'c>(value: Val<'c>, extension: &str) -> Option<Val<'c>> {
    match int_width(value.r#type()) {
        Some(32) => Some(value),
        Some(64) => {
            let extended = defining_op(value).filter(|op| name_of(*op) == extension)?;
            let from = operands_of(extended)[0];
            (int_width(from.r#type()) == Some(32)).then_some(from)
        }
        _ => None,
    }
}

/// The quotient of a number of 32 bits, in 64 bits.
fn quotient<'c>(
    b: Builder<'c>,
    (number, is_unsigned): (Val<'c>, bool),
    reciprocal: Val<'c>,
) -> Result<Val<'c>, Failure> {
    let wide = b.i64_type();
    let rounded = reciprocals::lowered_product(b, number, reciprocal, true)?;
    if is_unsigned {
        return Ok(rounded);
    }
    let sign = b.constant(wide, 63)?;
    let is_below = b.value(arith::SHRUI, &[rounded, sign], wide, &[])?;
    b.value(arith::ADDI, &[rounded, is_below], wide, &[])
}

/// Has a launch pass reciprocals behind the other arguments.
fn pass_reciprocals<'c>(
    rewriter: &'c Rewriter<'c>,
    launch: Op<'c>,
    divisors: &[Divisor],
) -> Result<(), Failure> {
    let typed = gpu::LaunchFunc::of(launch).expected(launch, "a launch of a kernel")?;
    let passed = Launched::of(typed);
    let b = Builder::before(launch).at_location(launch.location());
    let reciprocals = divisors
        .iter()
        .map(|divisor| reciprocal(b, divisor, &passed))
        .collect::<Result<Vec<_>, _>>()?;
    let mut attributes = attributes_of(launch);
    let segments = attributes
        .iter_mut()
        .find(|(name, _)| *name == SEGMENTS)
        .expected(launch, "groups of operands")?;
    let mut counts = i32s_of(segments.1).expected(launch, "groups of operands")?;
    let (groups, added) = (counts.len(), i32::try_from(divisors.len()).unwrap_or(0));
    let of_arguments = counts.get_mut(ARGUMENTS);
    *of_arguments.expected(launch, "a group of arguments")? += added;
    segments.1 = b.i32_array(&counts);
    let behind: i32 = counts[(ARGUMENTS + 1).min(groups)..].iter().sum();
    let mut operands = operands_of(launch);
    let end = operands.len() - usize::try_from(behind).unwrap_or(0);
    operands.splice(end..end, reciprocals);
    let types: Vec<_> = results_of(launch)
        .iter()
        .map(|value| value.r#type())
        .collect();
    let new = rewriter.recreate(launch, &operands, &types, &attributes)?;
    for (old, new) in results_of(launch).into_iter().zip(results_of(new)) {
        replace_uses(old, new);
    }
    rewriter.erase(launch)
}

/// The reciprocal of a divisor: past `2^62 / d`, away from zero. Of zero it is any number, since a kernel that divides by it has no result.
fn reciprocal<'c>(
    b: Builder<'c>,
    divisor: &Divisor,
    passed: &Launched<'c>,
) -> Result<Val<'c>, Failure> {
    let wide = b.i64_type();
    let choose = |x, y, z| b.value(arith::SELECT, &[x, y, z], wide, &[]);
    let number = divisor.number.write(b, passed)?;
    let [zero, one, less, all] = [0, 1, -1, 1 << BITS].map(|number| b.constant(wide, number));
    let (zero, one) = (zero?, one?);
    let is_zero = b.compare(Predicate::Eq, number, zero)?;
    let number = choose(is_zero, one, number)?;
    let is_below = b.compare(Predicate::Slt, number, zero)?;
    let quotient = b.value(arith::DIVSI, &[all?, number], wide, &[])?;
    let further = choose(is_below, less?, one)?;
    let reciprocal = b.value(arith::ADDI, &[quotient, further], wide, &[])?;
    match divisor.is_unsigned {
        // What has the sign's bit is more than any number that it divides.
        true => choose(is_below, zero, reciprocal),
        false => Ok(reciprocal),
    }
}

/// Gives a kernel so many arguments more, of 64 bits.
fn accept<'c>(
    kernel: Op<'c>,
    body: Blk<'c>,
    count: usize,
    location: Location<'c>,
) -> Result<(), Failure> {
    let b = Builder::before(kernel);
    let (mut inputs, results) = signature_of(kernel).expected(kernel, "a type of a function")?;
    let known = attribute_of(kernel, ARGUMENT_ATTRIBUTES).and_then(array_of);
    for _ in 0..count {
        insert_argument(body, inputs.len(), b.i64_type(), location);
        inputs.push(b.i64_type());
    }
    if let Some(mut known) = known {
        known.resize(inputs.len(), empty_dictionary(b.context));
        set_attribute(
            kernel,
            ARGUMENT_ATTRIBUTES,
            array_attribute(b.context, &known),
        );
    }
    let ty = function_type(b.context, &inputs, &results);
    set_attribute(kernel, "function_type", b.type_attribute(ty));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::BITS;

    /// The quotient as a kernel computes it with a launch's reciprocal.
    fn quotient(n: i32, d: i32) -> i64 {
        let reciprocal = (1_i64 << BITS) / i64::from(d) + i64::from(d.signum());
        let shifted = i64::from(n) << (64 - BITS);
        let rounded = ((i128::from(shifted) * i128::from(reciprocal)) >> 64) as i64;
        rounded + i64::from(rounded < 0)
    }

    #[test]
    fn quotients_are_exact() {
        let mut numbers: Vec<i64> = (-70..70).collect();
        for bit in 6..32 {
            let power = 1_i64 << bit;
            let near = [power - 1, power, power + 1, power / 3, power * 2 / 3 + 5];
            numbers.extend(near.iter().flat_map(|number| [*number, -number]));
        }
        let number = |wide: i64| i32::try_from(wide).ok();
        for d in numbers
            .iter()
            .filter_map(|d| number(*d))
            .filter(|d| *d != 0)
        {
            let multiples = numbers.iter().flat_map(|q| {
                let multiple = q * i64::from(d);
                [multiple - 1, multiple, multiple + 1]
            });
            let all = numbers.iter().copied().chain(multiples);
            for n in all.filter_map(number) {
                let exact = i64::from(n) / i64::from(d);
                assert_eq!(quotient(n, d), exact, "{n} / {d}");
            }
        }
    }
}
