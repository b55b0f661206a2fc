//! The epilogue of a product: the region that says what is stored in place of a sum, and what it uses from around it.

use cute_ir::ops::{arith, cute, func};
use cute_ir::{Expected, Failure, diag, mlir::*, types::memref_of};
use melior::ir::{ValueLike, operation::OperationLike, r#type::FunctionType};

/// The epilogue of a product.
#[derive(Clone)]
pub(super) struct Epilogue<'c> {
    /// The body of its region.
    block: Blk<'c>,
    /// Numbers of the function around it that it uses.
    captured: Vec<Val<'c>>,
    /// The place of the first of them among the kernel's arguments.
    first: usize,
    /// Constants from around it that it uses.
    constants: Vec<Op<'c>>,
}

impl<'c> Epilogue<'c> {
    /// The epilogue with that body in a function; what it captures becomes arguments of the kernel behind those that there are. Errors: what a kernel cannot be passed.
    pub(super) fn of(
        function: Op<'c>,
        block: Blk<'c>,
        arguments: &mut Vec<Val<'c>>,
    ) -> Result<Self, Failure> {
        let entry = body_of(function, 0).expected(function, "a body")?;
        let (mut captured, mut constants) = (Vec::new(), Vec::<Op<'c>>::new());
        let owner = owner_of(block).expected(function, "an op around the region")?;
        let operands: Vec<_> = operands_of(owner);
        for value in values_used_by(owner) {
            let used = nested_ops(owner)
                .into_iter()
                .find(|op| operands_of(*op).contains(&value));
            let Some(user) = used else {
                continue;
            };
            if let Some(constant) = defining_op(value).filter(|op| name_of(*op) == arith::CONSTANT)
            {
                constants.push(constant);
                continue;
            }
            let number = is_float(value.r#type()) || int_width(value.r#type()).is_some();
            let own = block_argument(value).is_some_and(|(block, _)| block == entry);
            if !number || !own || operands.contains(&value) {
                return Err(diag::error(
                    user.location(),
                    format!(
                        "an epilogue uses {}, found in '{}'; expected elements that are its own arguments, numbers that are \
                         arguments of the function, and constants",
                        match number {
                            true => "a number that the function computes".to_owned(),
                            false => format!("a value of type {}", value.r#type()),
                        },
                        name_of(user)
                    ),
                ));
            }
            captured.push(value);
        }
        let first = arguments.len();
        arguments.extend(&captured);
        Ok(Self {
            block,
            captured,
            first,
            constants,
        })
    }

    /// The numbers of the function that it uses.
    pub(super) fn captured(&self) -> &[Val<'c>] {
        &self.captured
    }

    /// Computes what is stored of a sum and of elements of the inputs, behind what is in `b`'s block; `value` gives arguments of the
    /// kernel.
    pub(super) fn compute(
        &self,
        b: Builder<'c>,
        elements: &[Val<'c>],
        value: impl Fn(usize) -> Val<'c>,
    ) -> Result<Vec<Val<'c>>, Failure> {
        let mut mapping = Mapping::new();
        for (at, captured) in self.captured.iter().enumerate() {
            mapping.insert(key(*captured), value(self.first + at));
        }
        self.copy_body(b, elements, &mut mapping)
    }

    /// Clones the ops of the region, of which `mapping` has the captured numbers, for `arguments`, of which the first are the
    /// region's. Returns what the region yields.
    fn copy_body(
        &self,
        b: Builder<'c>,
        arguments: &[Val<'c>],
        mapping: &mut Mapping<'c>,
    ) -> Result<Vec<Val<'c>>, Failure> {
        for constant in &self.constants {
            b.at_location(constant.location())
                .clone_op(*constant, mapping);
        }
        b.clone_body(self.block, arguments, mapping)
    }

    /// Leaves the region behind as the function `@name`, of the sum, the elements of the inputs and the captured numbers: what
    /// the host computes of them to verify.
    pub(super) fn function(
        &self,
        module: Op<'c>,
        before: Op<'c>,
        name: &str,
    ) -> Result<(), Failure> {
        let taken = body_of(module, 0).map(ops_of).unwrap_or_default();
        if taken
            .iter()
            .any(|op| string_of(*op, "sym_name") == Some(name))
        {
            return Err(diag::error(
                before.location(),
                format!(
                    "expected no other symbol @{name}, the name of the epilogue as a function; rename one of them"
                ),
            ));
        }
        let b = Builder::before(before);
        let arguments = arguments_of(self.block).into_iter();
        let arguments: Vec<_> = arguments.chain(self.captured.iter().copied()).collect();
        let typed: Vec<_> = arguments
            .iter()
            .map(|value| (value.r#type(), location_of(*value)))
            .collect();
        let end = ops_of(self.block).pop().expected(before, "a yield")?;
        let inputs: Vec<_> = typed.iter().map(|(ty, _)| *ty).collect();
        let results: Vec<_> = operands_of(end)
            .iter()
            .map(|value| value.r#type())
            .collect();
        let (region, body) = Detached::with_block(&typed);
        let ty = FunctionType::new(b.context, &inputs, &results);
        let attributes = [
            ("sym_name", b.string(name)),
            ("sym_visibility", b.string("private")),
            ("function_type", b.type_attribute(ty.into())),
        ];
        b.with_regions(func::FUNC, &[], &[], &attributes, vec![region])?;
        let mut mapping = Mapping::new();
        let own = arguments_of(body)
            .into_iter()
            .skip(typed.len() - self.captured.len());
        for (captured, argument) in self.captured.iter().zip(own) {
            mapping.insert(key(*captured), argument);
        }
        let l = Builder::at_end(b.context, body, b.location);
        let yielded = self.copy_body(l, &arguments_of(body), &mut mapping)?;
        l.op(func::RETURN, &yielded, &[], &[])?;
        Ok(())
    }
}

/// Computes tiles of the outputs from those of the inputs; `elements` computes an element of each output from those of the inputs.
pub(super) fn transform<'c>(
    b: Builder<'c>,
    [inputs, outputs]: [&[Val<'c>]; 2],
    within: Option<(Val<'c>, Val<'c>)>,
    elements: impl FnOnce(Builder<'c>, &[Val<'c>]) -> Result<Vec<Val<'c>>, Failure>,
) -> Result<(), Failure> {
    let there = i32::from(within.is_some());
    let within = within.into_iter().flat_map(|(coords, end)| [coords, end]);
    let tiles = inputs.iter().chain(outputs).copied();
    let operands: Vec<_> = tiles.chain(within).collect();
    let mut types = Vec::new();
    for input in inputs {
        types.push((
            memref_of(*input).expected(b, "a tensor")?.element,
            b.location,
        ));
    }
    let (region, body) = Detached::with_block(&types);
    let count = |values: &[Val<'c>]| i32::try_from(values.len()).unwrap_or(0);
    let segments = b.i32_array(&[count(inputs), count(outputs), there, there]);
    b.with_regions(
        cute::BLOCK_TRANSFORM,
        &operands,
        &[],
        &[("operandSegmentSizes", segments)],
        vec![region],
    )?;
    let l = Builder::at_end(b.context, body, b.location);
    let yielded = elements(l, &arguments_of(body))?;
    l.op(cute::YIELD, &yielded, &[], &[])?;
    Ok(())
}
