//! Values of the region in a thread's registers.

use super::{Fuse, is_coordinates, place_of};
use crate::{fused::Domain, partition::wrong};
use cute_ir::{
    Expected, Failure, algorithm,
    mlir::*,
    ops::{arith, cute},
    tensor,
    types::{self, CuteType, MemRef, memref_of},
};
use cute_layout::{Layout, int};
use melior::ir::{Type, ValueLike, operation::OperationLike};
use std::collections::{HashMap, HashSet};

/// Bytes by which registers are aligned, so that they are moved by any vectors.
const ALIGN: i64 = 16;

/// The values of the region that were computed.
#[derive(Clone, Default)]
pub(super) struct Values<'c> {
    /// Those that are the same for a block.
    pub(super) numbers: Mapping<'c>,
    /// Registers of the others.
    pub(super) registers: HashMap<ValueKey, (Domain, Val<'c>)>,
}

impl<'c> Fuse<'c> {
    /// Registers for a value of a domain.
    pub(super) fn allocate(
        &self,
        b: Builder<'c>,
        element: Type<'c>,
        domain: Domain,
    ) -> Result<Val<'c>, Failure> {
        let layout = self.layout(b, domain)?;
        let registers = MemRef {
            align: ALIGN,
            ..tensor::registers(element, layout)
        };
        let ty = registers.to_type(b.location)?;
        b.value(cute::MEMREF_ALLOCA, &[], ty, &[])
    }

    /// The layout of the registers of a domain.
    pub(super) fn layout(&self, b: Builder<'c>, domain: Domain) -> Result<Layout, Failure> {
        let layout = self.layouts[place_of(domain)].clone();
        layout.expected(b, "registers of that kind")
    }

    /// The number 0 of a type.
    pub(super) fn zero(&self, b: Builder<'c>, ty: Type<'c>) -> Result<Val<'c>, Failure> {
        let zero = b.attribute(&format!("0.0 : {ty}"))?;
        b.value(arith::CONSTANT, &[], ty, &[("value", zero)])
    }

    /// The ops that compute a value from what there is, in order, and the values that they start from.
    pub(super) fn slice(&self, value: Val<'c>, values: &Values<'c>) -> (Vec<Op<'c>>, Vec<Val<'c>>) {
        let body = self.fused.body;
        let (mut needed, mut starts) = (HashSet::new(), Vec::new());
        let (mut left, mut met) = (vec![value], HashSet::new());
        while let Some(value) = left.pop() {
            if !met.insert(key(value)) || values.numbers.contains_key(&key(value)) {
                continue;
            }
            let own = defining_op(value).filter(|op| block_of(*op) == Some(body));
            let is_argument = block_argument(value).is_some_and(|(block, _)| block == body);
            if values.registers.contains_key(&key(value)) || is_argument {
                starts.push(value);
            } else if let Some(op) = own {
                match cute::AllReduce::of(op) {
                    Some(_) => starts.push(value),
                    None => {
                        needed.insert(op_key(op));
                        left.extend(operands_of(op));
                    }
                }
            }
        }
        let ops = ops_of(body).into_iter();
        (
            ops.filter(|op| needed.contains(&op_key(*op))).collect(),
            starts,
        )
    }

    /// Registers of a domain with a value of the region; where a column is not there, with another number.
    pub(super) fn compute(
        &self,
        b: Builder<'c>,
        value: Val<'c>,
        domain: Domain,
        values: &Values<'c>,
        else_: Option<(Val<'c>, Val<'c>)>,
    ) -> Result<Val<'c>, Failure> {
        if else_.is_none()
            && let Some((found, registers)) = values.registers.get(&key(value))
            && *found == domain
        {
            return Ok(*registers);
        }
        let result = self.allocate(b, value.r#type(), domain)?;
        let (ops, starts) = self.slice(value, values);
        let mut tensors = Vec::new();
        for start in &starts {
            let (own, registers) = *values
                .registers
                .get(&key(*start))
                .expected(b, "a value in registers")?;
            tensors.push(self.seen_as(b, registers, own, domain)?);
        }
        if let Some((column, _)) = else_ {
            tensors.push(self.coordinates(b, domain, column)?);
        }
        self.transform(b, &tensors, result, |l, elements| {
            let mut mapping = values.numbers.clone();
            for (start, element) in starts.iter().zip(elements) {
                mapping.insert(key(*start), *element);
            }
            for op in ops {
                l.at_location(op.location()).clone_op(op, &mut mapping);
            }
            let computed = mapping.get(&key(value)).copied().unwrap_or(value);
            let Some((_, other)) = else_ else {
                return Ok(computed);
            };
            let at = *elements.last().expected(l, "a coordinate")?;
            let there = self.is_column(l, at)?;
            l.value(
                arith::SELECT,
                &[there, computed, other],
                computed.r#type(),
                &[],
            )
        })?;
        Ok(result)
    }

    /// Computes each element of registers from those of others at the same place.
    pub(super) fn transform(
        &self,
        b: Builder<'c>,
        inputs: &[Val<'c>],
        output: Val<'c>,
        compute: impl FnOnce(Builder<'c>, &[Val<'c>]) -> Result<Val<'c>, Failure>,
    ) -> Result<(), Failure> {
        let mut arguments = Vec::new();
        for input in inputs {
            let ty = if is_coordinates(*input) {
                let Some(CuteType::CoordTensor { start, layout }) = CuteType::get(input.r#type())
                else {
                    return Err(b.error("expected coordinates"));
                };
                let at = algorithm::coordinate(start, layout).map_err(wrong(b))?;
                types::coord_type(b.context, &at)
            } else {
                memref_of(*input).expected(b, "registers")?.element
            };
            arguments.push((ty, b.location));
        }
        if inputs.is_empty() {
            let number = compute(b, &[])?;
            b.op(cute::FILL, &[output, number], &[], &[])?;
            return Ok(());
        }
        let (region, block) = Detached::with_block(&arguments);
        let tensors: Vec<_> = inputs.iter().copied().chain([output]).collect();
        b.with_regions(cute::TRANSFORM, &tensors, &[], &[], vec![region])?;
        let l = Builder::at_end(b.context, block, b.location);
        let value = compute(l, &arguments_of(block))?;
        l.op(cute::YIELD, &[value], &[], &[])?;
        Ok(())
    }

    /// Registers of a domain as those of another one: a number of a row is the same for all of its columns.
    pub(super) fn seen_as(
        &self,
        b: Builder<'c>,
        registers: Val<'c>,
        from: Domain,
        to: Domain,
    ) -> Result<Val<'c>, Failure> {
        if from == to {
            return Ok(registers);
        }
        let memref = memref_of(registers).expected(b, "registers")?;
        let layout = match from {
            Domain::Rows => super::rows::repeated(&self.layout(b, to)?),
            _ => None,
        };
        let layout = layout.expected(b, "a number of a row")?;
        let start = b.infer(cute::GET_ITER, &[registers], &[])?;
        let value = b.static_value(types::layout_type(b.context, &layout))?;
        let ty = MemRef { layout, ..memref }.to_type(b.location)?;
        b.value(cute::MAKE_VIEW, &[start, value], ty, &[])
    }

    /// Loads the inputs that are the same for a block, and numbers of the thread's rows.
    pub(super) fn load_numbers(
        &self,
        b: Builder<'c>,
        values: &mut Values<'c>,
    ) -> Result<(), Failure> {
        let arguments = arguments_of(self.fused.body);
        let firsts = self.factors();
        for ((argument, tensor), memref) in arguments.iter().zip(&self.inputs).zip(&self.types) {
            if firsts.contains(&key(*argument)) {
                continue;
            }
            match self.fused.domain(*argument) {
                Domain::Number => {
                    let at = cute_layout::tuple([0, 0, 0, 0].map(int));
                    let at = super::coordinate(b, at, &[])?;
                    let number = b.value(cute::MEMREF_LOAD, &[*tensor, at], memref.element, &[])?;
                    values.numbers.insert(key(*argument), number);
                }
                Domain::Rows => {
                    let registers = self.load_rows(b, *tensor, memref.element)?;
                    values
                        .registers
                        .insert(key(*argument), (Domain::Rows, registers));
                }
                Domain::Columns | Domain::Outer => {}
            }
        }
        Ok(())
    }

    /// The arguments of the region that are factors of products.
    pub(super) fn factors(&self) -> HashSet<ValueKey> {
        let products = self.fused.products.iter();
        let narrow = products.flat_map(|product| product.narrow().into_iter().flatten());
        narrow.map(key).collect()
    }
}
