//! The algorithms that several threads run together, each its part.

use super::{Lower, WIDEST};
use cute_ir::ops::{arith, cute};
use cute_ir::{
    Expected, Failure, algorithm,
    args::{AxpbyArgs, CooperativeCopyArgs, CooperativeGemmArgs, Scale, ThreadCopy},
    mlir::*,
    types::{self, CuteType},
};
use cute_layout::{IntTuple, Layout, int, tiled::TiledCopy, tuple};
use melior::ir::{Type, ValueLike};

/// The type that an attribute of `op` is.
fn type_of<'c>(op: Op<'c>, name: &str) -> Option<Type<'c>> {
    type_value(attribute_of(op, name)?)
}

impl<'c> Lower<'c> {
    pub(super) fn cooperative_copy(
        &self,
        op: Op<'c>,
        args: CooperativeCopyArgs<'c>,
    ) -> Result<bool, Failure> {
        let threads = integer_of(op, "threads").unwrap_or(1);
        let most = integer_of(op, "max_vec_bits").unwrap_or(WIDEST);
        let thread = self.thread(args.thread)?;
        let (source, destination) = (args.source, args.destination);
        let ends = [self.memref(source)?, self.memref(destination)?];
        let vectors = algorithm::shared_vectors(&ends[0], &ends[1], threads, most);
        let vectors = vectors.map_err(self.wrong())?;
        let rest = vectors.order.mode(1).map_err(self.wrong())?;
        let count = rest.size().map_err(self.wrong())?;
        // Rounds in which every thread has a vector, and what is left for the first threads.
        let (rounds, left) = (count / threads, count % threads);
        let keep = IntTuple::underscore;
        let has = |order: &Layout| ends.iter().all(|end| end.layout.composition(order).is_ok());
        if left == 0
            && let Some(order) = by_rounds(&vectors.order, threads, rounds).filter(has)
        {
            let part = |tensor| {
                let tensor = self.ordered(tensor, &order)?;
                // The place of the only thread is known, and with it what the tensor is aligned to there.
                match threads {
                    1 => self.slice(tensor, &tuple([keep(), int(0), keep()]), &[]),
                    _ => {
                        let all = tuple([keep(), IntTuple::dynamic(), keep()]);
                        self.slice(tensor, &all, &[thread])
                    }
                }
            };
            let (source, destination) = (part(source)?, part(destination)?);
            self.copy_partitions(source, destination, vectors.length, None)?;
            return Ok(true);
        }
        let source = self.ordered(source, &vectors.order)?;
        let destination = self.ordered(destination, &vectors.order)?;
        let at = |l: Lower<'c>, round: i64| -> Result<(), Failure> {
            let b = l.b;
            let index = if round == 0 {
                thread
            } else {
                let start = b.i32(round * threads)?;
                b.value(arith::ADDI, &[thread, start], b.i32_type(), &[])?
            };
            let at = |tensor| match count {
                1 => l.slice(tensor, &tuple([keep(), int(0)]), &[]),
                _ => l.slice(tensor, &tuple([keep(), IntTuple::dynamic()]), &[index]),
            };
            let (source, destination) = (at(source)?, at(destination)?);
            // One vector, as a partition of one atom.
            let one = Layout::from_modes(&[
                Layout::leaf(vectors.length, 1).map_err(l.wrong())?,
                Layout::leaf(1, 0).map_err(l.wrong())?,
            ])
            .map_err(l.wrong())?;
            l.copy_in_order(source, destination, &one, vectors.length)
        };
        self.check_count("vectors", rounds, &self.memref(destination)?.layout)?;
        for round in 0..rounds {
            at(*self, round)?;
        }
        if left > 0 {
            self.if_below(thread, left, |inner| at(inner, rounds))?;
        }
        Ok(true)
    }

    pub(super) fn cooperative_gemm(
        &self,
        op: Op<'c>,
        args: CooperativeGemmArgs<'c>,
    ) -> Result<bool, Failure> {
        let CooperativeGemmArgs { mma, a, b, c, .. } = args;
        let thread = self.thread(args.thread)?;
        let thread = self.b.coord(&IntTuple::dynamic(), &[thread])?;
        let id = |id: i64| [("operand_id", self.b.integer(self.b.i32_type(), id))];
        let part = |tensor, operand| {
            self.b.infer(
                cute::TILED_MMA_PARTITION,
                &[mma, tensor, thread],
                &id(operand),
            )
        };
        let sum = if args.scale.is_some() {
            let sum = self
                .b
                .infer(cute::MMA_MAKE_FRAGMENT, &[mma, part(c, 2)?], &id(2))?;
            self.b.op(cute::CLEAR, &[sum], &[], &[])?;
            sum
        } else {
            c
        };
        let left = self.operand(op, "copy_a", mma, a, part(a, 0)?, thread, 0)?;
        let right = self.operand(op, "copy_b", mma, b, part(b, 1)?, thread, 1)?;
        if !self.product(mma, [sum, left, right, sum], false)? {
            return Err(self.b.error("expected a product"));
        }
        let Some(Scale { alpha, beta }) = args.scale else {
            return Ok(true);
        };
        let target = part(c, 2)?;
        let scaled = |y| AxpbyArgs {
            alpha,
            x: sum,
            beta,
            y,
            predicate: None,
        };
        let acc = self.memref(sum)?.element;
        let memref = self.memref(target)?;
        if memref.element == acc {
            self.axpby(scaled(target))?;
            return Ok(true);
        }
        // In the accumulator's type, rounded to C's once.
        let registers = self.registers(memref.element, memref.layout.shape())?;
        let result = if super::elementwise::is_zero(beta) {
            let result = self.registers(acc, memref.layout.shape())?;
            self.b.op(cute::CLEAR, &[result], &[], &[])?;
            result
        } else {
            self.copy_vectors(target, registers, WIDEST)?;
            self.converted(registers, acc)?
        };
        self.axpby(scaled(result))?;
        let rounded = self.converted(result, memref.element)?;
        self.copy_vectors(rounded, target, WIDEST)?;
        Ok(true)
    }

    /// An operand of the product: its part as it is, or registers that the given atom has loaded.
    #[allow(clippy::too_many_arguments)] // What an operand is, all of it.
    fn operand(
        &self,
        op: Op<'c>,
        name: &str,
        mma: Val<'c>,
        tensor: Val<'c>,
        part: Val<'c>,
        thread: Val<'c>,
        id: i64,
    ) -> Result<Val<'c>, Failure> {
        let Some(ty) = type_of(op, name) else {
            return Ok(part);
        };
        let table = types::copy_row(ty).expected(op, "a copy atom")?;
        let tiled_mma = CuteType::of(mma.r#type()).expected(op, "a tiled MMA")?;
        let tiled_mma = types::tiled_mma(&tiled_mma).map_err(self.wrong())?;
        let tiled = match id {
            0 => TiledCopy::make_tiled_copy_a(table, &tiled_mma),
            _ => TiledCopy::make_tiled_copy_b(table, &tiled_mma),
        }
        .map_err(self.wrong())?;
        let copy =
            types::tiled_copy_type(self.b.location, ty, tiled.layout_tv(), tiled.tiler_mn())?;
        let b = self.b;
        let atom = b.value(cute::MAKE_ATOM, &[], ty, &[])?;
        let copy = b.value(cute::MAKE_TILED_COPY, &[atom], copy, &[])?;
        let attribute = [("operand_id", b.integer(b.i32_type(), id))];
        let fragment = b.infer(cute::MMA_MAKE_FRAGMENT, &[mma, part], &attribute)?;
        let source = b.infer(cute::TILED_COPY_PARTITION_S, &[copy, tensor, thread], &[])?;
        let destination = b.infer(cute::TILED_COPY_RETILE, &[copy, fragment], &[])?;
        let copy = ThreadCopy {
            copy,
            source,
            destination,
            predicate: None,
        };
        if !self.copy(copy)? {
            b.copy(&copy.operands())?;
        }
        Ok(fragment)
    }
}

/// `((V,1),threads,rounds)` of an order `(V,vectors)`, where the threads divide the modes of the vectors.
fn by_rounds(order: &Layout, threads: i64, rounds: i64) -> Option<Layout> {
    let rest = order.mode(1).ok()?;
    let split = Layout::from_modes(&[
        Layout::leaf(threads, 1).ok()?,
        Layout::leaf(rounds, threads).ok()?,
    ])
    .ok()?;
    let split = rest.composition(&split).ok()?;
    let values = Layout::from_modes(&[order.mode(0).ok()?, Layout::leaf(1, 0).ok()?]).ok()?;
    let all = Layout::from_modes(&[values, split.mode(0).ok()?, split.mode(1).ok()?]).ok()?;
    (all.size().ok()? == order.size().ok()?).then_some(all)
}
