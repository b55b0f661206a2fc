//! Building IR: short handles over melior's, with one lifetime.

use super::{
    Blk, Op, Val, ValueKey, arguments_of, block_of, changes, context_of, ffi, key, name_of,
    nested_ops, nested_ops_of, next_of, operands_of,
    ops::{arith, cute},
    ops_of, result_of, results_of, set_operand,
};
use crate::{
    diag::{self, Failure},
    types,
};
use cute_arith::Predicate;
use cute_layout::IntTuple;
use melior::{
    Context,
    ir::{
        Attribute, Block, BlockLike, BlockRef, Identifier, Location, Region, RegionLike, Type,
        attribute::{
            DenseI32ArrayAttribute, DenseI64ArrayAttribute, IntegerAttribute, StringAttribute,
            TypeAttribute,
        },
        operation::{OperationBuilder, OperationLike},
        r#type::IntegerType,
    },
};
use mlir_sys::mlirOperationClone;
use std::{collections::HashMap, mem};

/// The place where new operations go.
#[derive(Clone, Copy)]
pub struct Builder<'c> {
    /// The context of what is made.
    pub context: &'c Context,
    /// The location of what is made.
    pub location: Location<'c>,
    block: Blk<'c>,
    before: Option<Op<'c>>,
}

impl<'c> Builder<'c> {
    /// Makes a builder at the end of `block`.
    pub fn at_end(context: &'c Context, block: Blk<'c>, location: Location<'c>) -> Self {
        Self {
            context,
            location,
            block,
            before: None,
        }
    }

    /// Before `op`, at its location.
    pub fn before(op: Op<'c>) -> Self {
        let block = block_of(op).expect("an operation in a block");
        Self {
            context: context_of(op),
            location: op.location(),
            block,
            before: Some(op),
        }
    }

    /// After `op`, at its location.
    pub fn after(op: Op<'c>) -> Self {
        Self {
            before: next_of(op),
            ..Self::before(op)
        }
    }

    /// The same place, with another location for what is built.
    pub fn at_location(self, location: Location<'c>) -> Self {
        Self { location, ..self }
    }

    /// The same place, and at the same location a named part of what it is built for: what PTX says
    /// of an instruction is the line that it comes from and the innermost such name.
    pub fn step(self, name: &str) -> Self {
        let location = Location::name(self.context, name, self.location);
        Self { location, ..self }
    }

    /// An error at the builder's location.
    pub fn error(&self, message: impl AsRef<str>) -> Failure {
        diag::error(self.location, message)
    }

    fn insert(&self, builder: OperationBuilder<'c>, name: &str) -> Result<Op<'c>, Failure> {
        let operation = builder
            .build()
            .map_err(|error| self.error(format!("cannot build '{name}': {error}")))?;
        Ok(self.place(operation))
    }

    fn place(&self, operation: melior::ir::Operation<'c>) -> Op<'c> {
        changes::count();
        match self.before {
            Some(before) => {
                assert!(
                    block_of(before) == Some(self.block),
                    "'{}', before which something is built, is not there any more",
                    name_of(before)
                );
                self.block.insert_operation_before(before, operation)
            }
            None => self.block.append_operation(operation),
        }
    }

    fn start(
        &self,
        name: &str,
        operands: &[Val<'c>],
        attributes: &[(&str, Attribute<'c>)],
    ) -> OperationBuilder<'c> {
        let attributes: Vec<_> = attributes
            .iter()
            .map(|(n, a)| (Identifier::new(self.context, n), *a))
            .collect();
        OperationBuilder::new(name, self.location)
            .add_operands(operands)
            .add_attributes(&attributes)
    }

    /// An operation with given result types.
    pub fn op(
        &self,
        name: &str,
        operands: &[Val<'c>],
        results: &[Type<'c>],
        attributes: &[(&str, Attribute<'c>)],
    ) -> Result<Op<'c>, Failure> {
        self.insert(
            self.start(name, operands, attributes).add_results(results),
            name,
        )
    }

    /// The only result of an operation with a given result type.
    pub fn value(
        &self,
        name: &str,
        operands: &[Val<'c>],
        result: Type<'c>,
        attributes: &[(&str, Attribute<'c>)],
    ) -> Result<Val<'c>, Failure> {
        self.op(name, operands, &[result], attributes)
            .map(|op| result_of(op, 0))
    }

    /// The first result of an operation that infers its result types.
    pub fn infer(
        &self,
        name: &str,
        operands: &[Val<'c>],
        attributes: &[(&str, Attribute<'c>)],
    ) -> Result<Val<'c>, Failure> {
        let results = self.infer_all(name, operands, attributes)?;
        let first = results.into_iter().next();
        first.ok_or_else(|| self.error(format!("'{name}' gives nothing here")))
    }

    /// The results of an operation that infers their types.
    pub fn infer_all(
        &self,
        name: &str,
        operands: &[Val<'c>],
        attributes: &[(&str, Attribute<'c>)],
    ) -> Result<Vec<Val<'c>>, Failure> {
        let start = self
            .start(name, operands, attributes)
            .enable_result_type_inference();
        // Inference says itself what is wrong.
        let operation = start.build().map_err(|_| diag::said())?;
        Ok(results_of(self.place(operation)))
    }

    /// A `cute.copy` of a copy, a source, a destination and perhaps a predicate, verified: what it is made of may come from
    /// somebody's hand. Errors: those of the verifier, at the builder's location.
    pub fn copy(&self, operands: &[Val<'c>]) -> Result<Op<'c>, Failure> {
        let copy = self.op(cute::COPY, operands, &[], &[])?;
        crate::verify::verify(copy)?;
        Ok(copy)
    }

    /// A `cute.atom_load` of the atom at a place; with a predicate and what is loaded where it is false.
    pub fn atom_load(
        &self,
        [copy, source]: [Val<'c>; 2],
        at: &[i64],
        guard: Option<[Val<'c>; 2]>,
        ty: Type<'c>,
    ) -> Result<Val<'c>, Failure> {
        let mut operands = vec![copy, source];
        operands.extend(guard.into_iter().flatten());
        let there = i32::from(guard.is_some());
        let sizes = self.i32_array(&[1, 1, there, there]);
        let attributes = [("at", self.i64_array(at)), ("operandSegmentSizes", sizes)];
        self.value(cute::ATOM_LOAD, &operands, ty, &attributes)
    }

    /// An operation with regions.
    pub fn with_regions(
        &self,
        name: &str,
        operands: &[Val<'c>],
        results: &[Type<'c>],
        attributes: &[(&str, Attribute<'c>)],
        regions: Vec<Detached<'c>>,
    ) -> Result<Op<'c>, Failure> {
        let regions = regions.into_iter().map(Detached::into_region).collect();
        let start = self.start(name, operands, attributes).add_results(results);
        self.insert(start.add_regions_vec(regions), name)
    }

    //===-- Attributes and types ------------------------------------------===//

    /// The type `i32`.
    pub fn i32_type(&self) -> Type<'c> {
        IntegerType::new(self.context, 32).into()
    }
    /// The type `i64`.
    pub fn i64_type(&self) -> Type<'c> {
        IntegerType::new(self.context, 64).into()
    }
    /// The type `index`.
    pub fn index_type(&self) -> Type<'c> {
        Type::index(self.context)
    }
    /// An integer attribute of that type.
    pub fn integer(&self, ty: Type<'c>, value: i64) -> Attribute<'c> {
        IntegerAttribute::new(ty, value).into()
    }
    /// An attribute of the type `i64`.
    pub fn i64_attribute(&self, value: i64) -> Attribute<'c> {
        self.integer(self.i64_type(), value)
    }
    /// A string attribute.
    pub fn string(&self, value: &str) -> Attribute<'c> {
        StringAttribute::new(self.context, value).into()
    }
    /// An attribute that holds a type.
    pub fn type_attribute(&self, ty: Type<'c>) -> Attribute<'c> {
        TypeAttribute::new(ty).into()
    }
    /// An array attribute of integers of 64 bits.
    pub fn i64_array(&self, values: &[i64]) -> Attribute<'c> {
        DenseI64ArrayAttribute::new(self.context, values).into()
    }
    /// An array attribute of integers of 32 bits.
    pub fn i32_array(&self, values: &[i32]) -> Attribute<'c> {
        DenseI32ArrayAttribute::new(self.context, values).into()
    }
    /// An attribute that says something by being there.
    pub fn unit(&self) -> Attribute<'c> {
        Attribute::unit(self.context)
    }
    /// An attribute from its text, which the caller knows to be right.
    pub fn attribute(&self, text: &str) -> Result<Attribute<'c>, Failure> {
        Attribute::parse(self.context, text)
            .ok_or_else(|| self.error(format!("cannot parse the attribute {text}")))
    }
    /// A type from its text, which the caller knows to be right.
    pub fn ty(&self, text: &str) -> Result<Type<'c>, Failure> {
        Type::parse(self.context, text)
            .ok_or_else(|| self.error(format!("cannot parse the type {text}")))
    }
    /// `vector<NxT>`
    pub fn vector(&self, length: i64, element: Type<'c>) -> Type<'c> {
        Type::vector(&[length as u64], element)
    }

    //===-- Common operations ---------------------------------------------===//

    /// `arith.cmpi` of two integers.
    pub fn compare(self, predicate: Predicate, a: Val<'c>, b: Val<'c>) -> Result<Val<'c>, Failure> {
        let number = [("predicate", self.i64_attribute(predicate.number()))];
        let truth = crate::types::int_type(self.context, 1);
        self.value(arith::CMPI, &[a, b], truth, &number)
    }

    /// An `arith.constant`.
    pub fn constant(&self, ty: Type<'c>, value: i64) -> Result<Val<'c>, Failure> {
        self.value(
            arith::CONSTANT,
            &[],
            ty,
            &[("value", self.integer(ty, value))],
        )
    }
    /// An `arith.constant` of the type `i32`.
    pub fn i32(&self, value: i64) -> Result<Val<'c>, Failure> {
        self.constant(self.i32_type(), value)
    }
    /// `cute.static` of a type.
    pub fn static_value(&self, ty: Type<'c>) -> Result<Val<'c>, Failure> {
        self.value(cute::STATIC, &[], ty, &[])
    }
    /// `cute.make_coord`, from the text of the coordinate and its dynamic leaves.
    pub fn coord(&self, coord: &IntTuple, leaves: &[Val<'c>]) -> Result<Val<'c>, Failure> {
        self.value(
            cute::MAKE_COORD,
            leaves,
            types::coord_type(self.context, coord),
            &[],
        )
    }
}

/// A region that is in no operation yet, which [`Builder::with_regions`] puts into one.
///
/// One that never gets there, because building failed, uses nothing any more, and is not freed: handles of what it holds may be
/// left.
#[derive(Default)]
pub struct Detached<'c>(Option<Region<'c>>);

impl<'c> Detached<'c> {
    /// A region without blocks.
    pub fn empty() -> Self {
        Self(Some(Region::new()))
    }

    /// A region with one block, which has arguments of these types.
    pub fn with_block(arguments: &[(Type<'c>, Location<'c>)]) -> (Self, Blk<'c>) {
        let region = Region::new();
        let block = region.append_block(Block::new(arguments));
        // SAFETY: the region is never freed alone; the block stays where it is in memory when it moves into an operation.
        let block = unsafe { BlockRef::from_raw(block.to_raw()) };
        (Self(Some(region)), block)
    }

    fn into_region(mut self) -> Region<'c> {
        self.0.take().unwrap_or_default()
    }
}

impl Drop for Detached<'_> {
    fn drop(&mut self) {
        let Some(region) = self.0.take() else { return };
        let mut next = region.first_block();
        while let Some(block) = next {
            // SAFETY: the block lives as long as the region, which is not freed.
            let block: Blk = unsafe { BlockRef::from_raw(block.to_raw()) };
            for op in nested_ops_of(block) {
                // SAFETY: the op lives as long.
                unsafe { ffi::cuteOpDropReferences(op.to_raw()) };
            }
            next = super::next_block(block);
        }
        mem::forget(region);
    }
}

/// Values in place of values, as by a clone.
pub type Mapping<'c> = HashMap<ValueKey, Val<'c>>;

impl<'c> Builder<'c> {
    /// Appends a block to region `index` of `op`, with arguments of these types. Panics where the op has no such region.
    #[track_caller]
    pub fn append_block(
        op: Op<'c>,
        index: usize,
        arguments: &[(Type<'c>, Location<'c>)],
    ) -> Blk<'c> {
        changes::count();
        let region = op.region(index).expect("a region of the op");
        let block = region.append_block(Block::new(arguments));
        // SAFETY: the block lives as long as the op.
        unsafe { BlockRef::from_raw(block.to_raw()) }
    }

    /// A copy of `op` with its operands replaced; its results join the mapping.
    pub fn clone_op(&self, op: Op<'c>, mapping: &mut Mapping<'c>) -> Op<'c> {
        // SAFETY: the copy is owned by nobody until it is placed.
        let clone =
            self.place(unsafe { melior::ir::Operation::from_raw(mlirOperationClone(op.to_raw())) });
        // What is nested refers to values outside too.
        for inner in std::iter::once(clone).chain(nested_ops(clone)) {
            for (i, operand) in operands_of(inner).into_iter().enumerate() {
                if let Some(new) = mapping.get(&key(operand)) {
                    set_operand(inner, i, *new);
                }
            }
        }
        for (old, new) in results_of(op).into_iter().zip(results_of(clone)) {
            mapping.insert(key(old), new);
        }
        clone
    }

    /// Copies of the ops of a block but the last, each at its own location, with these values in place of the block's arguments;
    /// `mapping` may have others, and gets the results. Returns the values that the last op, which ends the block, is given.
    pub fn clone_body(
        &self,
        block: Blk<'c>,
        arguments: &[Val<'c>],
        mapping: &mut Mapping<'c>,
    ) -> Result<Vec<Val<'c>>, Failure> {
        for (old, new) in arguments_of(block).into_iter().zip(arguments) {
            mapping.insert(key(old), *new);
        }
        let mut ops = ops_of(block);
        let end = ops
            .pop()
            .ok_or_else(|| self.error("expected an op that ends the block"))?;
        for op in ops {
            self.at_location(op.location()).clone_op(op, mapping);
        }
        let given = operands_of(end).into_iter();
        Ok(given
            .map(|value| mapping.get(&key(value)).copied().unwrap_or(value))
            .collect())
    }
}
