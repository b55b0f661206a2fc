//! Building and rewriting IR: short handles over melior's, with one lifetime.

use crate::{
    diag::{self, Failure},
    types,
};
use cute_layout::IntTuple;
use melior::{
    Context, ContextRef,
    ir::{
        Attribute, AttributeLike, Block, BlockLike, BlockRef, Identifier, Location, OperationRef,
        Region, RegionLike, Type, Value, ValueLike,
        attribute::{
            DenseI32ArrayAttribute, DenseI64ArrayAttribute, IntegerAttribute, StringAttribute,
            TypeAttribute,
        },
        operation::{OperationBuilder, OperationLike},
        r#type::IntegerType,
    },
};
use mlir_sys::*;
use std::{
    collections::{BTreeMap, HashMap, HashSet},
    sync::{Mutex, PoisonError},
};

/// An operation in a module that outlives the handle. Keep none past its erasure.
pub type Op<'c> = OperationRef<'c, 'c>;
/// A value of such an operation or block.
pub type Val<'c> = Value<'c, 'c>;
/// A block in such a module.
pub type Blk<'c> = BlockRef<'c, 'c>;

/// The context that `op` lives in.
pub fn context_of<'c>(op: Op<'c>) -> &'c Context {
    // The context outlives every operation in it.
    unsafe { context_from_raw(mlirOperationGetContext(op.to_raw())) }
}

/// melior's functions take references to a [`Context`], of which somebody else may own the only
/// one. Handles that own nothing are kept here, one for each context that a process has had.
///
/// # Safety
/// The context must outlive `'c`.
pub(crate) unsafe fn context_from_raw<'c>(raw: MlirContext) -> &'c Context {
    static HANDLES: Mutex<BTreeMap<usize, usize>> = Mutex::new(BTreeMap::new());
    let mut handles = HANDLES.lock().unwrap_or_else(PoisonError::into_inner);
    let handle = *handles.entry(raw.ptr as usize).or_insert_with(|| {
        let handle: &ContextRef = Box::leak(Box::new(unsafe { ContextRef::from_raw(raw) }));
        std::ptr::from_ref(handle) as usize
    });
    // A `ContextRef` is taken for a `Context` where it lies, so it must lie still.
    unsafe { (*(handle as *const ContextRef<'c>)).to_ref() }
}

/// The context that `ty` lives in.
pub fn context_of_type<'c>(ty: Type<'c>) -> &'c Context {
    use melior::ir::TypeLike;
    // The context outlives every type in it.
    unsafe { context_from_raw(mlirTypeGetContext(ty.to_raw())) }
}

/// Where new operations go.
#[derive(Clone, Copy)]
pub struct Builder<'c> {
    pub context: &'c Context,
    pub location: Location<'c>,
    block: Blk<'c>,
    before: Option<Op<'c>>,
}

impl<'c> Builder<'c> {
    /// At the end of `block`.
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
        let block = op.block().expect("an operation in a block");
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
            before: op.next_in_block(),
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
        match self.before {
            Some(before) => self.block.insert_operation_before(before, operation),
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
        let start = self
            .start(name, operands, attributes)
            .enable_result_type_inference();
        // Inference says itself what is wrong.
        let operation = start.build().map_err(|_| Failure)?;
        Ok(result_of(self.place(operation), 0))
    }

    /// A `cute.copy` of a copy, a source, a destination and perhaps a predicate, verified: what it is made of may come from
    /// somebody's hand. Errors: those of the verifier, at the builder's location.
    pub fn copy(&self, operands: &[Val<'c>]) -> Result<Op<'c>, Failure> {
        let copy = self.op("cute.copy", operands, &[], &[])?;
        crate::verify::verify(copy)?;
        Ok(copy)
    }

    /// An operation with regions.
    pub fn with_regions(
        &self,
        name: &str,
        operands: &[Val<'c>],
        results: &[Type<'c>],
        attributes: &[(&str, Attribute<'c>)],
        regions: Vec<Region<'c>>,
    ) -> Result<Op<'c>, Failure> {
        let start = self.start(name, operands, attributes).add_results(results);
        self.insert(start.add_regions_vec(regions), name)
    }

    //===-- Attributes and types ------------------------------------------===//

    pub fn i32_type(&self) -> Type<'c> {
        IntegerType::new(self.context, 32).into()
    }
    pub fn i64_type(&self) -> Type<'c> {
        IntegerType::new(self.context, 64).into()
    }
    pub fn index_type(&self) -> Type<'c> {
        Type::index(self.context)
    }
    pub fn integer(&self, ty: Type<'c>, value: i64) -> Attribute<'c> {
        IntegerAttribute::new(ty, value).into()
    }
    pub fn i64_attribute(&self, value: i64) -> Attribute<'c> {
        self.integer(self.i64_type(), value)
    }
    pub fn string(&self, value: &str) -> Attribute<'c> {
        StringAttribute::new(self.context, value).into()
    }
    pub fn type_attribute(&self, ty: Type<'c>) -> Attribute<'c> {
        TypeAttribute::new(ty).into()
    }
    pub fn i64_array(&self, values: &[i64]) -> Attribute<'c> {
        DenseI64ArrayAttribute::new(self.context, values).into()
    }
    pub fn i32_array(&self, values: &[i32]) -> Attribute<'c> {
        DenseI32ArrayAttribute::new(self.context, values).into()
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

    /// An `arith.constant`.
    pub fn constant(&self, ty: Type<'c>, value: i64) -> Result<Val<'c>, Failure> {
        self.value(
            "arith.constant",
            &[],
            ty,
            &[("value", self.integer(ty, value))],
        )
    }
    pub fn i32(&self, value: i64) -> Result<Val<'c>, Failure> {
        self.constant(self.i32_type(), value)
    }
    /// `cute.static` of a type.
    pub fn static_value(&self, ty: Type<'c>) -> Result<Val<'c>, Failure> {
        self.value("cute.static", &[], ty, &[])
    }
    /// `cute.make_coord`, from the text of the coordinate and its dynamic leaves.
    pub fn coord(&self, coord: &IntTuple, leaves: &[Val<'c>]) -> Result<Val<'c>, Failure> {
        self.value(
            "cute.make_coord",
            leaves,
            types::coord_type(self.context, coord),
            &[],
        )
    }
}

/// Result `index` of `op`.
pub fn result_of(op: Op<'_>, index: usize) -> Val<'_> {
    unsafe { Value::from_raw(mlirOperationGetResult(op.to_raw(), index as isize)) }
}

/// The operands of `op`.
pub fn operands_of<'c>(op: Op<'c>) -> Vec<Val<'c>> {
    (0..op.operand_count())
        .filter_map(|i| op.operand(i).ok())
        .collect()
}

/// The name of `op`.
pub fn name_of(op: Op<'_>) -> &str {
    unsafe {
        let text = mlirIdentifierStr(mlirOperationGetName(op.to_raw()));
        std::str::from_utf8(crate::ffi::bytes(text)).unwrap_or_default()
    }
}

/// The operation that defines `value`, unless a block does.
pub fn defining_op(value: Val<'_>) -> Option<Op<'_>> {
    unsafe {
        let raw = value.to_raw();
        mlirValueIsAOpResult(raw).then(|| OperationRef::from_raw(mlirOpResultGetOwner(raw)))
    }
}

/// Which argument of which block `value` is.
pub fn block_argument(value: Val<'_>) -> Option<(Blk<'_>, usize)> {
    unsafe {
        let raw = value.to_raw();
        mlirValueIsABlockArgument(raw).then(|| {
            (
                BlockRef::from_raw(mlirBlockArgumentGetOwner(raw)),
                mlirBlockArgumentGetArgNumber(raw) as usize,
            )
        })
    }
}

/// An attribute of `op`.
pub fn attribute_of<'c>(op: Op<'c>, name: &str) -> Option<Attribute<'c>> {
    unsafe {
        Attribute::from_option_raw(mlirOperationGetAttributeByName(
            op.to_raw(),
            crate::ffi::string_ref(name),
        ))
    }
}

/// An attribute of argument `index` of a function.
pub fn argument_attribute<'c>(function: Op<'c>, index: usize, name: &str) -> Option<Attribute<'c>> {
    let all = attribute_of(function, "arg_attrs")?.to_raw();
    unsafe {
        let own = (mlirAttributeIsAArray(all) && mlirArrayAttrGetNumElements(all) > index as isize)
            .then(|| Attribute::from_raw(mlirArrayAttrGetElement(all, index as isize)))?;
        entry_of(own, name)
    }
}

/// The entry of a dictionary attribute.
pub fn entry_of<'c>(dictionary: Attribute<'c>, name: &str) -> Option<Attribute<'c>> {
    unsafe {
        let raw = dictionary.to_raw();
        if !mlirAttributeIsADictionary(raw) {
            return None;
        }
        let name = crate::ffi::string_ref(name);
        Attribute::from_option_raw(mlirDictionaryAttrGetElementByName(raw, name))
    }
}

/// An integer attribute of `op`.
pub fn integer_of(op: Op<'_>, name: &str) -> Option<i64> {
    let attribute = attribute_of(op, name)?;
    unsafe {
        let raw = attribute.to_raw();
        mlirAttributeIsAInteger(raw).then(|| mlirIntegerAttrGetValueInt(raw))
    }
}

/// A string attribute of `op`.
pub fn string_of<'c>(op: Op<'c>, name: &str) -> Option<&'c str> {
    string_value(attribute_of(op, name)?)
}

/// The text of a string attribute.
pub fn string_value(attribute: Attribute<'_>) -> Option<&str> {
    unsafe {
        let raw = attribute.to_raw();
        if !mlirAttributeIsAString(raw) {
            return None;
        }
        std::str::from_utf8(crate::ffi::bytes(mlirStringAttrGetValue(raw))).ok()
    }
}

/// Sets an attribute of `op`.
pub fn set_attribute<'c>(op: Op<'c>, name: &str, attribute: Attribute<'c>) {
    unsafe {
        mlirOperationSetAttributeByName(
            op.to_raw(),
            crate::ffi::string_ref(name),
            attribute.to_raw(),
        );
    }
}

/// Removes an attribute of `op`, if it has it.
pub fn remove_attribute(op: Op<'_>, name: &str) {
    unsafe {
        mlirOperationRemoveAttributeByName(op.to_raw(), crate::ffi::string_ref(name));
    }
}

/// The operations of `block`, collected so that they may be changed.
pub fn ops_of<'c>(block: Blk<'c>) -> Vec<Op<'c>> {
    let mut ops = Vec::new();
    let mut next =
        unsafe { OperationRef::from_option_raw(mlirBlockGetFirstOperation(block.to_raw())) };
    while let Some(op) = next {
        ops.push(op);
        next = unsafe { OperationRef::from_option_raw(mlirOperationGetNextInBlock(op.to_raw())) };
    }
    ops
}

/// The first block of region `index` of `op`.
pub fn body_of<'c>(op: Op<'c>, index: usize) -> Option<Blk<'c>> {
    unsafe {
        if index as isize >= mlirOperationGetNumRegions(op.to_raw()) {
            return None;
        }
        BlockRef::from_option_raw(mlirRegionGetFirstBlock(mlirOperationGetRegion(
            op.to_raw(),
            index as isize,
        )))
    }
}

/// The blocks of all regions of `op`, in order.
pub fn blocks_of<'c>(op: Op<'c>) -> Vec<Blk<'c>> {
    (0..op.region_count())
        .flat_map(|region| blocks_of_region(op, region))
        .collect()
}

/// The blocks of region `index` of `op`, none where it has no such region.
pub fn blocks_of_region<'c>(op: Op<'c>, index: usize) -> Vec<Blk<'c>> {
    let mut blocks = Vec::new();
    let mut next = body_of(op, index);
    while let Some(block) = next {
        blocks.push(block);
        next = unsafe { BlockRef::from_option_raw(mlirBlockGetNextInRegion(block.to_raw())) };
    }
    blocks
}

/// The arguments of `block`.
pub fn arguments_of<'c>(block: Blk<'c>) -> Vec<Val<'c>> {
    let count = unsafe { mlirBlockGetNumArguments(block.to_raw()) } as usize;
    (0..count).map(|i| argument(block, i)).collect()
}

/// The results of `op`.
pub fn results_of<'c>(op: Op<'c>) -> Vec<Val<'c>> {
    (0..op.result_count()).map(|i| result_of(op, i)).collect()
}

/// All attributes of `op`, by name.
pub fn attributes_of<'c>(op: Op<'c>) -> Vec<(&'c str, Attribute<'c>)> {
    unsafe {
        (0..mlirOperationGetNumAttributes(op.to_raw()))
            .map(|i| {
                let named = mlirOperationGetAttribute(op.to_raw(), i);
                let name = crate::ffi::bytes(mlirIdentifierStr(named.name));
                let name = std::str::from_utf8(name).unwrap_or_default();
                (name, Attribute::from_raw(named.attribute))
            })
            .collect()
    }
}

/// The types of an op's results, of its regions' arguments and in its attributes, and the types that those are made of.
pub fn types_of<'c>(op: Op<'c>) -> Vec<Type<'c>> {
    unsafe extern "C" fn sink(ty: MlirType, user: *mut std::ffi::c_void) {
        let types = unsafe { &mut *user.cast::<Vec<MlirType>>() };
        types.push(ty);
    }
    let mut types: Vec<MlirType> = Vec::new();
    unsafe {
        crate::ffi::cuteWalkTypes(op.to_raw(), sink, std::ptr::from_mut(&mut types).cast());
        types.into_iter().map(|ty| Type::from_raw(ty)).collect()
    }
}

/// All operations within `op`, outermost first, collected so that they may be changed.
pub fn nested_ops<'c>(op: Op<'c>) -> Vec<Op<'c>> {
    blocks_of(op).into_iter().flat_map(nested_ops_of).collect()
}

/// All operations within `block`, outermost first, collected so that they may be changed.
pub fn nested_ops_of<'c>(block: Blk<'c>) -> Vec<Op<'c>> {
    fn visit<'c>(block: Blk<'c>, all: &mut Vec<Op<'c>>) {
        for inner in ops_of(block) {
            all.push(inner);
            for block in blocks_of(inner) {
                visit(block, all);
            }
        }
    }
    let mut all = Vec::new();
    visit(block, &mut all);
    all
}

/// The values that `op` uses: its operands, and what its regions take from around it.
pub fn values_used_by<'c>(op: Op<'c>) -> Vec<Val<'c>> {
    let mut used = operands_of(op);
    if op.region_count() == 0 {
        return used;
    }
    let within = nested_ops(op);
    let arguments = std::iter::once(op).chain(within.iter().copied());
    let own: HashSet<usize> = within
        .iter()
        .flat_map(|op| results_of(*op))
        .chain(arguments.flat_map(blocks_of).flat_map(arguments_of))
        .map(key)
        .collect();
    let mut met: HashSet<usize> = used.iter().copied().map(key).collect();
    for value in within.into_iter().flat_map(operands_of) {
        if !own.contains(&key(value)) && met.insert(key(value)) {
            used.push(value);
        }
    }
    used
}

/// The operation that a block is of.
pub fn owner_of<'c>(block: Blk<'c>) -> Option<Op<'c>> {
    unsafe { OperationRef::from_option_raw(mlirBlockGetParentOperation(block.to_raw())) }
}

/// The operation that `op` is in.
pub fn parent_op<'c>(op: Op<'c>) -> Option<Op<'c>> {
    unsafe { OperationRef::from_option_raw(mlirOperationGetParentOperation(op.to_raw())) }
}

/// The innermost operation around `op` with that name.
pub fn parent_of<'c>(op: Op<'c>, name: &str) -> Option<Op<'c>> {
    let mut op = op;
    loop {
        op = parent_op(op)?;
        if name_of(op) == name {
            return Some(op);
        }
    }
}

/// The operations that use `value`, once for each use.
pub fn users_of<'c>(value: Val<'c>) -> Vec<Op<'c>> {
    let mut users = Vec::new();
    unsafe {
        let mut usage = mlirValueGetFirstUse(value.to_raw());
        while !usage.ptr.is_null() {
            users.push(OperationRef::from_raw(mlirOpOperandGetOwner(usage)));
            usage = mlirOpOperandGetNextUse(usage);
        }
    }
    users
}

/// Makes every user of `old` use `new`.
pub fn replace_uses<'c>(old: Val<'c>, new: Val<'c>) {
    unsafe { mlirValueReplaceAllUsesOfWith(old.to_raw(), new.to_raw()) }
}

/// Erases `op`, whose results are not used any more.
pub fn erase(op: Op<'_>) {
    unsafe {
        mlirOperationRemoveFromParent(op.to_raw());
        mlirOperationDestroy(op.to_raw());
    }
}

/// The first of these values that an operation uses which is not among `inside`, nor within them, and that operation.
pub fn used_outside<'c>(
    values: impl IntoIterator<Item = Val<'c>>,
    inside: &[Op<'c>],
) -> Option<(Val<'c>, Op<'c>)> {
    let inside: HashSet<usize> = inside
        .iter()
        .flat_map(|op| nested_ops(*op).into_iter().chain([*op]))
        .map(|op| op.to_raw().ptr as usize)
        .collect();
    let outside = |user: &Op<'c>| !inside.contains(&(user.to_raw().ptr as usize));
    values.into_iter().find_map(|value| {
        let user = users_of(value).into_iter().find(outside)?;
        Some((value, user))
    })
}

/// Erases operations that others have taken the place of, users first. Errors, at the user, with nothing erased: a result that is
/// used by an operation which stays.
pub fn erase_all(ops: Vec<Op<'_>>) -> Result<(), Failure> {
    if let Some((value, user)) = used_outside(ops.iter().flat_map(|op| results_of(*op)), &ops) {
        return Err(diag::error(
            user.location(),
            format!(
                "'{}' op takes a value of type {}, which has no form of its own on the level below; expected it to be used where \
                 it is made: let branches, loops and calls hand on integers, and make coordinates and tensors of them there",
                name_of(user),
                value.r#type()
            ),
        ));
    }
    ops.into_iter().rev().for_each(erase);
    Ok(())
}

/// Changes the type of a value in place.
pub fn set_type<'c>(value: Val<'c>, ty: Type<'c>) {
    use melior::ir::TypeLike;
    unsafe { mlirValueSetType(value.to_raw(), ty.to_raw()) }
}

/// A new block with arguments of these types, in a region of its own.
pub fn region_with_block<'c>(arguments: &[(Type<'c>, Location<'c>)]) -> (Region<'c>, Blk<'c>) {
    let region = Region::new();
    let block = region.append_block(Block::new(arguments));
    // The region moves into an operation, the block stays where it is in memory.
    let block = unsafe { BlockRef::from_raw(block.to_raw()) };
    (region, block)
}

/// Argument `index` of `block`.
pub fn argument<'c>(block: Blk<'c>, index: usize) -> Val<'c> {
    unsafe { Value::from_raw(mlirBlockGetArgument(block.to_raw(), index as isize)) }
}

/// Values in place of values, as by a clone.
pub type Mapping<'c> = HashMap<usize, Val<'c>>;

/// The key of a value in a [`Mapping`].
pub fn key(value: Val<'_>) -> usize {
    value.to_raw().ptr as usize
}

impl<'c> Builder<'c> {
    /// A copy of `op` with its operands replaced; its results join the mapping.
    pub fn clone_op(&self, op: Op<'c>, mapping: &mut Mapping<'c>) -> Op<'c> {
        unsafe {
            let clone = melior::ir::Operation::from_raw(mlirOperationClone(op.to_raw()));
            let clone = match self.before {
                Some(before) => self.block.insert_operation_before(before, clone),
                None => self.block.append_operation(clone),
            };
            for (i, operand) in operands_of(op).into_iter().enumerate() {
                if let Some(new) = mapping.get(&key(operand)) {
                    mlirOperationSetOperand(clone.to_raw(), i as isize, new.to_raw());
                }
            }
            // What is nested refers to values outside too.
            for inner in nested_ops(clone) {
                for (i, operand) in operands_of(inner).into_iter().enumerate() {
                    if let Some(new) = mapping.get(&key(operand)) {
                        mlirOperationSetOperand(inner.to_raw(), i as isize, new.to_raw());
                    }
                }
            }
            for i in 0..op.result_count() {
                mapping.insert(key(result_of(op, i)), result_of(clone, i));
            }
            clone
        }
    }
}
