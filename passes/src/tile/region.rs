//! The regions of a product, which say what is multiplied and what is stored, and of maps: what they use from around them, and their
//! bodies elsewhere.

use super::{function::place_of, kernel::Located};
use cute_arith::ReduceOp;
use cute_ir::ops::{arith, cute, func};
use cute_ir::{
    Expected, Failure, algorithm, diag, mlir::*, plan::OPERANDS, reduced, region, types::memref_of,
};
use cute_layout::Operand;
use melior::ir::{
    Attribute, Location, Type, ValueLike, operation::OperationLike, r#type::FunctionType,
};

/// A region: the epilogue of a product, the prologue of a factor, or a map's.
#[derive(Clone)]
pub(super) struct Region<'c> {
    /// Its body.
    block: Blk<'c>,
    /// Numbers of the function around it that it uses.
    captured: Vec<Val<'c>>,
    /// The places of these among the kernel's arguments.
    places: Vec<usize>,
    /// Constants from around it that it uses.
    constants: Vec<Op<'c>>,
    /// The part of it that computes one of the values that it yields; none of a whole region.
    part: Option<Computing<'c>>,
}

/// The part of a region that computes one of the values that it yields.
#[derive(Clone)]
struct Computing<'c> {
    value: Val<'c>,
    ops: Vec<Op<'c>>,
    /// The places of the arguments that it is computed of.
    arguments: Vec<usize>,
}

/// Tiles that a region is computed on: those that are read, those that are written, and where their elements are.
pub(super) struct On<'a, 'c> {
    pub(super) operand: Operand,
    pub(super) inputs: &'a [Val<'c>],
    pub(super) outputs: &'a [Val<'c>],
    /// The kinds of the outputs that are reduced; none of outputs that are not.
    pub(super) reduce: &'a [Option<ReduceOp>],
    pub(super) located: &'a Located<'c>,
}

impl<'c> Region<'c> {
    /// The region with that body in a function; what it captures becomes arguments of the kernel behind those that there are. Errors: what a kernel cannot be passed.
    pub(super) fn of(
        function: Op<'c>,
        named: (&'static str, Blk<'c>),
        arguments: &mut Vec<Val<'c>>,
    ) -> Result<Self, Failure> {
        Self::of_numbers(function, named, arguments, false)
    }

    /// The same, of which `computed` tells that it may capture numbers that the function computes: nobody verifies it by itself.
    pub(super) fn of_numbers(
        function: Op<'c>,
        (what, block): (&'static str, Blk<'c>),
        arguments: &mut Vec<Val<'c>>,
        computed: bool,
    ) -> Result<Self, Failure> {
        let entry = body_of(function, 0).expected(function, "a body")?;
        let mut region = Self {
            block,
            captured: Vec::new(),
            places: Vec::new(),
            constants: Vec::new(),
            part: None,
        };
        let within = nested_ops_of(block);
        let own: Vec<_> = within.iter().flat_map(|op| results_of(*op)).collect();
        let own = [arguments_of(block), own].concat();
        for (user, value) in within
            .iter()
            .flat_map(|op| operands_of(*op).into_iter().map(|value| (*op, value)))
        {
            let known = own.contains(&value) || region.captured.contains(&value);
            let constant = defining_op(value).filter(|op| name_of(*op) == arith::CONSTANT);
            match constant {
                _ if known => continue,
                Some(constant) if region.constants.contains(&constant) => continue,
                Some(constant) => {
                    region.constants.push(constant);
                    continue;
                }
                None => {}
            }
            let number = is_float(value.r#type()) || int_width(value.r#type()).is_some();
            let of_function = block_argument(value).is_some_and(|(block, _)| block == entry);
            if !number || !of_function && !computed {
                return Err(diag::error(
                    user.location(),
                    format!(
                        "{what} uses {}, found in '{}'; expected elements that are its own arguments, numbers that are \
                         arguments of the function, and constants",
                        match number {
                            true => "a number that the function computes".to_owned(),
                            false => format!("a value of type {}", value.r#type()),
                        },
                        name_of(user)
                    ),
                ));
            }
            region.captured.push(value);
            // Another region may use it as well.
            region.places.push(place_of(arguments, value));
        }
        Ok(region)
    }

    /// Instructions of a thread for each element.
    pub(super) fn work(&self) -> i64 {
        crate::plan::work(self.block)
    }

    /// The numbers of the function that it uses.
    pub(super) fn captured(&self) -> &[Val<'c>] {
        &self.captured
    }

    /// The types of what it yields.
    pub(super) fn yields(&self) -> Vec<Type<'c>> {
        let yielded = self.yielded();
        yielded.iter().map(|value| value.r#type()).collect()
    }

    fn yielded(&self) -> Vec<Val<'c>> {
        match &self.part {
            Some(part) => vec![part.value],
            None => region::yielded(self.block),
        }
    }

    /// The part of the region that computes the value which it yields at a place; none of a value that is not computed, but is the first argument.
    pub(super) fn computing(&self, place: usize) -> Option<Self> {
        let value = *self.yielded().get(place)?;
        if arguments_of(self.block).first() == Some(&value) {
            return None;
        }
        let used = region::arguments_used(self.block, value);
        let part = Computing {
            value,
            ops: region::computing(self.block, value),
            // What is multiplied in place of an element is given it, whatever comes of it.
            arguments: (0..used.len())
                .filter(|at| used[*at] || (*at, place) == (0, 0))
                .collect(),
        };
        Some(Self {
            part: Some(part),
            ..self.clone()
        })
    }

    /// The places of the arguments that the region has, or a part of it is computed of.
    pub(super) fn computed_of(&self) -> Vec<usize> {
        match &self.part {
            Some(part) => part.arguments.clone(),
            None => (0..arguments_of(self.block).len()).collect(),
        }
    }

    /// Computes tiles of the outputs from those of the inputs; `value` gives arguments of the kernel.
    pub(super) fn transform(
        &self,
        b: Builder<'c>,
        on: On<'_, 'c>,
        value: impl Fn(usize) -> Val<'c>,
    ) -> Result<(), Failure> {
        transform(b, on, |l, elements| self.compute(l, elements, value))
    }

    /// The types and locations of the region's own arguments.
    pub(super) fn arguments(&self) -> Vec<(Type<'c>, Location<'c>)> {
        let arguments = arguments_of(self.block).into_iter();
        arguments
            .map(|value| (value.r#type(), location_of(value)))
            .collect()
    }

    /// Computes what the region yields for some elements, behind what is in `b`'s block; `value` gives arguments of the kernel.
    pub(super) fn compute(
        &self,
        b: Builder<'c>,
        elements: &[Val<'c>],
        value: impl Fn(usize) -> Val<'c>,
    ) -> Result<Vec<Val<'c>>, Failure> {
        let mut mapping = Mapping::new();
        for (captured, place) in self.captured.iter().zip(&self.places) {
            mapping.insert(key(*captured), value(*place));
        }
        self.copy_body(b, elements, &mut mapping)
    }

    /// Clones the ops of the region, of which `mapping` has the captured numbers, for `arguments`, of which the first are those
    /// that it is computed of. Returns what the region yields.
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
        let Some(part) = &self.part else {
            return b.clone_body(self.block, arguments, mapping);
        };
        let own = arguments_of(self.block);
        for (place, given) in part.arguments.iter().zip(arguments) {
            mapping.insert(key(own[*place]), *given);
        }
        for op in &part.ops {
            b.at_location(op.location()).clone_op(*op, mapping);
        }
        let value = mapping.get(&key(part.value)).copied();
        Ok(vec![value.unwrap_or(part.value)])
    }

    /// Leaves the region behind as the function `@name`, of its arguments and the captured numbers: what
    /// the host computes of them to verify.
    pub(super) fn function(&self, before: Op<'c>, name: &str) -> Result<(), Failure> {
        let b = Builder::before(before);
        let arguments = arguments_of(self.block).into_iter();
        let arguments: Vec<_> = arguments.chain(self.captured.iter().copied()).collect();
        let typed: Vec<_> = arguments
            .iter()
            .map(|value| (value.r#type(), location_of(*value)))
            .collect();
        let inputs: Vec<_> = typed.iter().map(|(ty, _)| *ty).collect();
        let (region, body) = Detached::with_block(&typed);
        let ty = FunctionType::new(b.context, &inputs, &self.yields());
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

/// Computes tiles from others; `elements` computes an element of each output from those of the inputs.
pub(super) fn transform<'c>(
    b: Builder<'c>,
    on: On<'_, 'c>,
    elements: impl FnOnce(Builder<'c>, &[Val<'c>]) -> Result<Vec<Val<'c>>, Failure>,
) -> Result<(), Failure> {
    let (behind, counts) = on.located.operands();
    let operands = [on.inputs, on.outputs, &behind].concat();
    let mut types = Vec::new();
    for input in on.inputs {
        let element = memref_of(*input).expected(b, "a tensor")?.element;
        types.push((algorithm::argument_type(element), location_of(*input)));
    }
    let (region, body) = Detached::with_block(&types);
    let count = |values: &[Val<'c>]| i32::try_from(values.len()).unwrap_or(0);
    let tiles = [count(on.inputs), count(on.outputs)];
    let segments = b.i32_array(&[&tiles[..], &counts].concat());
    let mut attributes = vec![
        ("operand_id", id_of(b, on.operand)),
        ("operandSegmentSizes", segments),
    ];
    attributes.extend(reduced::attribute(b, on.reduce).map(|kinds| ("reduce", kinds)));
    if !on.located.whole.is_empty() {
        attributes.push(("whole", b.i64_array(&on.located.whole)));
    }
    b.with_regions(
        cute::BLOCK_TRANSFORM,
        &operands,
        &[],
        &attributes,
        vec![region],
    )?;
    let l = Builder::at_end(b.context, body, b.location);
    let yielded = elements(l, &arguments_of(body))?;
    l.op(cute::YIELD, &yielded, &[], &[])?;
    Ok(())
}

/// The attribute by which an op of a block says of which operand its tiles are.
pub(super) fn id_of<'c>(b: Builder<'c>, operand: Operand) -> Attribute<'c> {
    let id = OPERANDS.iter().position(|other| *other == operand);
    b.integer(b.i32_type(), id.unwrap_or(0) as i64)
}

/// The names of an operand's prologue in messages, of the function that it becomes, and of what stands beside it in `cute.computes`.
pub(super) struct Names {
    pub(super) what: &'static str,
    pub(super) entry: &'static str,
    pub(super) inputs: &'static str,
    pub(super) scalars: &'static str,
}

/// The names of the prologues of A and of B.
pub(super) const PROLOGUES: [Names; 2] = [
    Names {
        what: "a prologue of A",
        entry: "prologue_a",
        inputs: "ins_a",
        scalars: "scalars_a",
    },
    Names {
        what: "a prologue of B",
        entry: "prologue_b",
        inputs: "ins_b",
        scalars: "scalars_b",
    },
];
