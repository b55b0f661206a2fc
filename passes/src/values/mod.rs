//! `cute-fragments-to-values`: register tensors become SSA values.
//!
//! A fragment is held as one vector for each run of its first mode, which is what one MMA atom
//! takes (`registers.rs`). Copies and products are unrolled to atoms on these vectors (`copies.rs`, `products.rs`); a loop
//! carries the vectors of the fragments that it writes, or is written out (`control.rs`; in part `unroll.rs`). What a copy delivers in another
//! arrangement than the fragment's is taken apart and put together again element by element, as the layouts say. Views of
//! registers must be known: their coordinates are constants once loops are written out.

mod control;
mod copies;
mod elements;
mod products;
mod registers;
mod unroll;

pub(crate) use unroll::UNSIGNED;

use crate::kernel::{body_of_kernel, kernels, second_body};
use crate::memory::space_of;
use cute_ir::ops::{arith, cute, scf};
use cute_ir::{
    Failure, PassSpec,
    args::{GemmArgs, Reinterpretation, ThreadCopy},
    attributes::UNROLL,
    infer,
    mlir::*,
    names::builtin,
    types::{self, CuteType, MemRef, Space},
    view::Index,
};
use cute_layout::{IntTuple, Leaf, int};
use melior::ir::{Type, ValueLike, operation::OperationLike};
use registers::{File, View};
use std::collections::HashMap;

/// The pass.
pub const PASS: PassSpec = PassSpec {
    name: "cute-fragments-to-values",
    description: "Turn register tensors into SSA vectors carried by loops",
    anchor: builtin::MODULE,
    options: &[],
    run,
};

fn run<'c>(rewriter: &'c Rewriter<'c>, module: Op<'c>, _: &[&str]) -> Result<(), Failure> {
    for kernel in kernels(module) {
        unroll::by_factors(rewriter, kernel)?;
        let old = body_of_kernel(kernel)?;
        let mut values = Values::default();
        let new = second_body(kernel, old, &mut values.mapping);
        let b = Builder::at_end(context_of(kernel), new, kernel.location());
        values.block(old, b)?;
        rewriter.erase_blocks(&[old])?;
    }
    Ok(())
}

#[derive(Default)]
struct Values<'c> {
    files: Vec<File<'c>>,
    /// Register tensors, and pointers into them, by value.
    views: HashMap<ValueKey, View<'c>>,
    mapping: Mapping<'c>,
}

/// Tells whether values of this type are in registers.
fn is_registers(ty: Type<'_>) -> bool {
    matches!(
        CuteType::of(ty),
        Some(
            CuteType::MemRef(MemRef {
                space: Space::Rmem,
                ..
            }) | CuteType::Ptr(MemRef {
                space: Space::Rmem,
                ..
            })
        )
    )
}

fn no_value_form(op: Op<'_>, b: Builder<'_>) -> Failure {
    b.error(format!(
        "'{}' uses a register tensor in a way that has no value form; register tensors are written in the kernel's body, in \
         scf.for, scf.while and scf.if",
        name_of(op)
    ))
}

impl<'c> Values<'c> {
    fn map(&self, value: Val<'c>) -> Val<'c> {
        self.mapping.get(&key(value)).copied().unwrap_or(value)
    }

    fn block(&mut self, block: Blk<'c>, b: Builder<'c>) -> Result<(), Failure> {
        for op in ops_of(block) {
            self.op(op, b.at_location(op.location()))?;
        }
        Ok(())
    }

    fn op(&mut self, op: Op<'c>, b: Builder<'c>) -> Result<(), Failure> {
        if self.on_registers(op, b)? {
            return Ok(());
        }
        if crate::kernel::is_of_a_block(op) {
            Err(b.error(format!(
                "'{}' op is done by all threads of the block together; run cute-partition first",
                name_of(op)
            )))
        } else if name_of(op) == cute::COPY {
            self.copy(ThreadCopy::of(op), b)
        } else if name_of(op) == cute::GEMM {
            self.gemm(GemmArgs::of(op), b)
        } else if let Some(op) = scf::For::of(op) {
            self.for_loop(op, b)
        } else if let Some(branch) = scf::If::of(op).filter(|_| self.touches_within(op)) {
            self.branch(branch, b)
        } else if let Some(op) = scf::While::of(op).filter(|_| self.touches_within(op)) {
            self.while_loop(op, b)
        } else if name_of(op) == scf::YIELD {
            Err(b.error("a loop's end outside of a loop"))
        } else if self.view(op, b)? {
            Ok(())
        } else {
            if !self.touches(op) && self.touches_within(op) {
                return self.reads_only(op, b);
            }
            if self.touches(op) {
                return Err(no_value_form(op, b));
            }
            b.clone_op(op, &mut self.mapping);
            Ok(())
        }
    }

    /// An op that makes registers, reads or writes them, or shows them as another type; false where `op` is none.
    fn on_registers(&mut self, op: Op<'c>, b: Builder<'c>) -> Result<bool, Failure> {
        let held = |value: Val<'c>| is_registers(value.r#type());
        if let Some(made) = cute::MmaMakeFragment::of(op) {
            self.allocate(made.result(), b)?;
        } else if let Some(made) = cute::MemrefAlloca::of(op)
            && space_of(made.result()) == Some(Space::Rmem)
        {
            self.allocate(made.result(), b)?;
        } else if let Some(retile) = cute::TiledCopyRetile::of(op) {
            self.reinterpret(retile.fragment(), None, retile.result(), b)?;
        } else if let Some(cast) = Reinterpretation::of(op).filter(|cast| held(cast.from)) {
            self.reinterpret(cast.from, None, cast.to, b)?;
        } else if let Some(add) = cute::AddOffset::of(op).filter(|add| held(add.iter())) {
            self.reinterpret(add.iter(), Some(add.offset()), add.result(), b)?;
        } else if let Some(get) = cute::GetLayout::of(op).filter(|get| held(get.tensor())) {
            let layout = b.static_value(get.result().r#type())?;
            self.mapping.insert(key(get.result()), layout);
        } else if let Some(load) = cute::MemrefLoad::of(op).filter(|op| held(op.tensor())) {
            self.load(load, b)?;
        } else if let Some(store) = cute::MemrefStore::of(op).filter(|op| held(op.tensor())) {
            self.store(store, b)?;
        } else if let Some(load) = cute::MemrefLoadVec::of(op).filter(|op| held(op.tensor())) {
            self.load_vector(load, b)?;
        } else if let Some(store) = cute::MemrefStoreVec::of(op).filter(|op| held(op.tensor())) {
            self.store_vector(store, b)?;
        } else if let Some(clear) = cute::Clear::of(op).filter(|op| held(op.tensor())) {
            self.clear(clear.tensor(), b)?;
        } else if let Some(convert) = cute::Convert::of(op) {
            self.convert(convert, b)?;
        } else {
            return Ok(false);
        }
        Ok(true)
    }

    fn touches(&self, op: Op<'c>) -> bool {
        operands_of(op).iter().any(|v| is_registers(v.r#type()))
            || (0..op.result_count()).any(|i| is_registers(result_of(op, i).r#type()))
    }

    /// Tells whether something within `op` is about registers, or has a value form.
    fn touches_within(&self, op: Op<'c>) -> bool {
        nested_ops(op)
            .into_iter()
            .any(|inner| self.touches(inner) || name_of(inner) == cute::COPY)
    }

    fn registers(&self, value: Val<'c>, b: Builder<'c>) -> Result<View<'c>, Failure> {
        self.views
            .get(&key(value))
            .cloned()
            .ok_or_else(|| b.error("expected a tensor in rmem that this kernel allocates"))
    }

    fn allocate(&mut self, value: Val<'c>, b: Builder<'c>) -> Result<(), Failure> {
        let Some(CuteType::MemRef(memref)) = CuteType::of(value.r#type()) else {
            return Err(b.error("expected a tensor"));
        };
        let file = File::new(&memref, b.location).map_err(|e| b.error(e))?;
        let view = View {
            file: self.files.len(),
            element: types::register_type(memref.element),
            offset: 0,
            layout: memref.layout,
        };
        self.views.insert(key(value), view);
        self.files.push(file);
        Ok(())
    }

    /// The same registers, from an offset on, as the result's type says.
    fn reinterpret(
        &mut self,
        source: Val<'c>,
        offset: Option<Val<'c>>,
        result: Val<'c>,
        b: Builder<'c>,
    ) -> Result<(), Failure> {
        let mut view = self.registers(source, b)?;
        let Some(CuteType::MemRef(memref) | CuteType::Ptr(memref)) = CuteType::of(result.r#type())
        else {
            return Err(b.error("expected a tensor"));
        };
        if let Some(offset) = offset {
            view.offset += self.known_offset(offset).ok_or_else(|| unknown(b))?;
        }
        let element = types::register_type(memref.element);
        let bits = |ty| types::element_bits(ty).unwrap_or(8);
        let start = view.offset * bits(view.element);
        if start % bits(element) != 0 {
            return Err(b.error(format!(
                "expected registers that start at a whole {element}, found an offset of {start} bits"
            )));
        }
        view.offset = start / bits(element);
        view.element = element;
        view.layout = memref.layout;
        self.views.insert(key(result), view);
        Ok(())
    }

    /// A view of registers at a known coordinate; false where `op` makes none.
    fn view(&mut self, op: Op<'c>, b: Builder<'c>) -> Result<bool, Failure> {
        if op.result_count() != 1 || !is_registers(result_of(op, 0).r#type()) {
            return Ok(false);
        }
        let mut source = None;
        let mut types = Vec::new();
        for operand in operands_of(op) {
            let Some(ty) = CuteType::of(operand.r#type()) else {
                return Ok(false);
            };
            types.push(match ty {
                CuteType::MemRef(memref) => {
                    source = Some(operand);
                    CuteType::MemRef(memref)
                }
                CuteType::Coord(coord) => CuteType::Coord(self.known_tuple(operand, &coord)),
                other => other,
            });
        }
        let (Some(source), Some(made)) = (source, infer::traced_view(op, &types)) else {
            return Ok(false);
        };
        let made = made.map_err(|e| b.error(format!("'{}' op {e}", name_of(op))))?;
        let mut view = self.registers(source, b)?;
        for term in &made.terms {
            let (Index::Known(i), Some(flat)) = (term.index, term.layout.flat()) else {
                return Err(unknown(b));
            };
            view.offset += flat.checked_at(i).ok_or_else(|| unknown(b))?;
        }
        view.layout = made.layout;
        self.views.insert(key(result_of(op, 0)), view);
        Ok(true)
    }

    /// A coordinate, with what is known of its leaves.
    fn known_tuple(&self, value: Val<'c>, tuple: &IntTuple) -> IntTuple {
        let leaves = defining_op(self.map(value))
            .filter(|op| matches!(name_of(*op), cute::MAKE_COORD | cute::MAKE_INT_TUPLE))
            .map(operands_of)
            .unwrap_or_default();
        let mut leaves = leaves.into_iter();
        fn put(tuple: &IntTuple, next: &mut dyn FnMut() -> Option<i64>) -> IntTuple {
            match tuple {
                IntTuple::Leaf(Leaf::Dynamic(_)) => next().map_or_else(|| tuple.clone(), int),
                IntTuple::Leaf(_) => tuple.clone(),
                IntTuple::Tuple(parts) => {
                    IntTuple::Tuple(parts.iter().map(|part| put(part, next)).collect())
                }
            }
        }
        put(tuple, &mut || {
            leaves.next().and_then(|leaf| self.known(leaf))
        })
    }

    fn known_offset(&self, value: Val<'c>) -> Option<i64> {
        let Some(CuteType::IntTuple(tuple)) = CuteType::of(value.r#type()) else {
            return None;
        };
        match self.known_tuple(value, &tuple) {
            IntTuple::Leaf(leaf) => leaf.as_static(),
            IntTuple::Tuple(_) => None,
        }
    }

    /// The integer that a value of the new body is, where it follows from constants.
    fn known(&self, value: Val<'c>) -> Option<i64> {
        let op = defining_op(value)?;
        let signed = |value: &Val<'c>| self.known(*value);
        // Where the op knows no sign, only what is the same with one.
        let unsigned = |value: &Val<'c>| signed(value).filter(|value| *value >= 0);
        let number = match (name_of(op), &operands_of(op)[..]) {
            (arith::CONSTANT, []) => integer_of(op, "value"),
            (arith::INDEX_CAST | arith::EXTSI | arith::TRUNCI, [a]) => signed(a),
            (arith::INDEX_CASTUI | arith::EXTUI, [a]) => unsigned(a),
            (name, [a, b]) => cute_arith::Op::named(name)?.exact(signed(a)?, signed(b)?),
            (cute::GET_SCALARS, [tuple]) if op.result_count() == 1 => {
                match CuteType::of(tuple.r#type())? {
                    CuteType::IntTuple(IntTuple::Leaf(leaf)) => leaf.as_static(),
                    _ => None,
                }
            }
            _ => None,
        };
        // What wraps around is another number.
        number.filter(|number| match types::element_bits(value.r#type()) {
            Some(bits @ 2..=63) => (-(1i64 << (bits - 1))..1i64 << (bits - 1)).contains(number),
            _ => true,
        })
    }
}

fn unknown(b: Builder) -> Failure {
    b.error(format!(
        "indexes registers by a value that is not known when the kernel is compiled; use constants, or write \
         {UNROLL} on the loop whose index it comes from"
    ))
}
