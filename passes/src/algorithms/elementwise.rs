//! Elementwise ops and reductions of one thread.

use super::{Lower, WIDEST};
use cute_ir::ops::{arith, cute, vector};
use cute_ir::{
    Expected, Failure, algorithm,
    args::AxpbyArgs,
    mlir::*,
    types::{self, CuteType, MemRef, Space},
    view,
};
use cute_layout::{IntTuple, Leaf, int};
use melior::ir::{Type, ValueLike};

/// The names of an op on floating-point numbers and on integers.
fn named(ty: Type, names: [&'static str; 2]) -> &'static str {
    names[usize::from(!types::is_float(ty))]
}

/// Tells whether a value is the constant 0.
pub(super) fn is_zero(value: Val<'_>) -> bool {
    let Some(constant) = defining_op(value)
        .and_then(arith::Constant::of)
        .and_then(|op| op.value())
    else {
        return false;
    };
    float_value(constant) == Some(0.0) || integer_value(constant) == Some(0)
}

impl<'c> Lower<'c> {
    /// A vector of one value.
    fn splat(&self, value: Val<'c>, length: i64) -> Result<Val<'c>, Failure> {
        let all = vec![value; length as usize];
        let ty = self.b.vector(length, value.r#type());
        self.b.value(vector::FROM_ELEMENTS, &all, ty, &[])
    }

    fn size(&self, memref: &MemRef) -> Result<i64, Failure> {
        let size = memref.layout.size().map_err(self.wrong())?;
        self.check_count("elements", size, &memref.layout)?;
        Ok(size)
    }

    /// `clear`; false where it is of registers.
    pub(super) fn clear(&self, tensor: Val<'c>) -> Result<bool, Failure> {
        if self.memref(tensor)?.space == Space::Rmem {
            return Ok(false);
        }
        self.store_everywhere(tensor, |registers| {
            self.b.op(cute::CLEAR, &[registers], &[], &[]).map(|_| ())
        })?;
        Ok(true)
    }

    pub(super) fn fill(&self, tensor: Val<'c>, value: Val<'c>) -> Result<bool, Failure> {
        let memref = self.memref(tensor)?;
        if memref.space == Space::Rmem {
            self.fill_registers(tensor, value)?;
        } else {
            self.store_everywhere(tensor, |registers| self.fill_registers(registers, value))?;
        }
        Ok(true)
    }

    fn fill_registers(&self, tensor: Val<'c>, value: Val<'c>) -> Result<(), Failure> {
        let size = self.size(&self.memref(tensor)?)?;
        let vector = self.splat(value, size)?;
        self.b
            .op(cute::MEMREF_STORE_VEC, &[vector, tensor], &[], &[])?;
        Ok(())
    }

    /// `tensor` in registers, loaded where the predicate holds, with 0 elsewhere.
    fn loaded_if(&self, tensor: Val<'c>, pred: Option<Val<'c>>) -> Result<Val<'c>, Failure> {
        let memref = self.memref(tensor)?;
        let Some(pred) = pred.filter(|_| memref.space != Space::Rmem) else {
            return self.loaded(tensor);
        };
        let registers = self.registers(memref.element, memref.layout.shape())?;
        self.b.op(cute::CLEAR, &[registers], &[], &[])?;
        self.copy_elements(tensor, registers, Some(pred))?;
        Ok(registers)
    }

    /// y = alpha x + beta y on vectors of all elements.
    pub(super) fn axpby(&self, args: AxpbyArgs<'c>) -> Result<bool, Failure> {
        let AxpbyArgs {
            alpha,
            x,
            beta,
            y,
            predicate: pred,
        } = args;
        let memref = self.memref(y)?;
        let element = memref.element;
        if types::register_type(element) != element {
            return Err(self.b.error(format!(
                "cannot calculate with {element}; convert to f16, bf16 or f32 by cute.convert first"
            )));
        }
        let size = self.size(&memref)?;
        let ty = self.b.vector(size, element);
        let contract = self.b.attribute("#arith.fastmath<contract>")?;
        let flags = [("fastmath", contract)];
        let flags = if types::is_float(element) {
            &flags[..]
        } else {
            &[]
        };
        let times = |scalar: Val<'c>, tensor: Val<'c>| -> Result<Val<'c>, Failure> {
            let vector = self.b.infer(cute::MEMREF_LOAD_VEC, &[tensor], &[])?;
            let scalar = self.splat(scalar, size)?;
            let name = named(element, [arith::MULF, arith::MULI]);
            self.b.value(name, &[scalar, vector], ty, flags)
        };
        let mut result = times(alpha, self.loaded_if(x, pred)?)?;
        if !is_zero(beta) {
            let old = times(beta, self.loaded_if(y, pred)?)?;
            let name = named(element, [arith::ADDF, arith::ADDI]);
            result = self.b.value(name, &[result, old], ty, flags)?;
        }
        let target = if memref.space == Space::Rmem && pred.is_none() {
            y
        } else {
            self.registers(element, memref.layout.shape())?
        };
        self.b
            .op(cute::MEMREF_STORE_VEC, &[result, target], &[], &[])?;
        match pred {
            Some(_) => {
                self.copy_elements(target, y, pred)?;
            }
            None if key(target) != key(y) => self.copy_vectors(target, y, WIDEST)?,
            None => {}
        }
        Ok(true)
    }

    /// The element at an index, of a tensor in registers or of one of coordinates.
    pub(super) fn element(&self, tensor: Val<'c>, index: i64) -> Result<Val<'c>, Failure> {
        let at = int(index);
        let place = self.coord(&at, &[])?;
        let Some(CuteType::CoordTensor { start, layout }) = CuteType::of(tensor.r#type()) else {
            let element = self.memref(tensor)?.element;
            return self
                .b
                .value(cute::MEMREF_LOAD, &[tensor, place], element, &[]);
        };
        let value = view::slice(&layout, &at)
            .and_then(|view| view.start(&start, &[]))
            .map_err(self.wrong())?;
        let ty = types::coord_type(self.b.context, &value);
        let value = self.b.value(cute::MEMREF_LOAD, &[tensor, place], ty, &[])?;
        self.freed(
            value,
            &algorithm::coordinate(&start, &layout).map_err(self.wrong())?,
        )
    }

    /// The type of the integer that a leaf is.
    fn type_of(&self, leaf: &Leaf) -> Type<'c> {
        match leaf {
            Leaf::Dynamic(d) => types::int_type(self.b.context, d.width),
            Leaf::Static(v) if i32::try_from(*v).is_err() => self.b.i64_type(),
            _ => self.b.i32_type(),
        }
    }

    /// The integers of a coordinate or a shape, whose type says `tuple`.
    pub(super) fn scalars(
        &self,
        value: Val<'c>,
        tuple: &IntTuple,
    ) -> Result<Vec<Val<'c>>, Failure> {
        let leaves = tuple.leaves().into_iter();
        let types: Vec<_> = leaves.map(|leaf| self.type_of(leaf)).collect();
        let scalars = self.b.op(cute::GET_SCALARS, &[value], &types, &[])?;
        Ok(results_of(scalars))
    }

    /// The bits of a number of 8 bits as what they are; a number of that type as it is.
    fn as_type(&self, value: Val<'c>, ty: Type<'c>) -> Result<Val<'c>, Failure> {
        let bits = |ty| types::element_bits(ty);
        match value.r#type() != ty && bits(value.r#type()) == Some(8) && bits(ty) == Some(8) {
            true => self.b.value(arith::BITCAST, &[value], ty, &[]),
            false => Ok(value),
        }
    }

    /// A coordinate with all of its integers dynamic, as `form` has them.
    fn freed(&self, value: Val<'c>, form: &IntTuple) -> Result<Val<'c>, Failure> {
        let Some(CuteType::Coord(found)) = CuteType::of(value.r#type()) else {
            return Err(self.b.error("expected a coordinate"));
        };
        if found == *form {
            return Ok(value);
        }
        let scalars = self.scalars(value, &found)?;
        let mut leaves = Vec::new();
        for (scalar, leaf) in scalars.into_iter().zip(form.leaves()) {
            let expected = self.type_of(leaf);
            leaves.push(if scalar.r#type() == expected {
                scalar
            } else if expected == self.b.i64_type() {
                self.b.value(arith::EXTSI, &[scalar], expected, &[])?
            } else {
                return Err(self.b.error(format!(
                    "expected coordinates that fit {form}, found {found}; this is a defect of the compiler"
                )));
            });
        }
        self.b.coord(form, &leaves)
    }

    /// The value that the region of `op`, which is `body`, yields of these arguments.
    pub(super) fn computed(
        &self,
        op: Op<'c>,
        body: Option<Blk<'c>>,
        arguments: &[Val<'c>],
    ) -> Result<Val<'c>, Failure> {
        let block = body.expected(op, "a body")?;
        let yielded = self.b.clone_body(block, arguments, &mut Mapping::new())?;
        match yielded[..] {
            [yielded] => Ok(yielded),
            _ => Err(self.b.error("expected a region that yields one value")),
        }
    }

    pub(super) fn transform(&self, op: cute::Transform<'c>) -> Result<bool, Failure> {
        let tensors = op.tensors();
        let Some((output, inputs)) = tensors.split_last() else {
            return Err(self.b.error("expected a tensor"));
        };
        let memref = self.memref(*output)?;
        let size = self.size(&memref)?;
        let in_registers = memref.space == Space::Rmem;
        let inputs = if inputs.is_empty() { &tensors } else { inputs };
        let mut loaded = Vec::new();
        for input in inputs {
            loaded.push(match CuteType::of(input.r#type()) {
                Some(CuteType::CoordTensor { .. }) => *input,
                _ => self.loaded(*input)?,
            });
        }
        let target = if in_registers {
            *output
        } else {
            self.registers(memref.element, memref.layout.shape())?
        };
        for i in 0..size {
            let mut arguments = Vec::new();
            for (at, tensor) in loaded.iter().enumerate() {
                let element = self.element(*tensor, i)?;
                let argument = op
                    .body()
                    .and_then(|body| arguments_of(body).get(at).copied());
                arguments.push(match argument {
                    Some(argument) => self.as_type(element, argument.r#type())?,
                    None => element,
                });
            }
            let value = self.computed(op.op(), op.body(), &arguments)?;
            let held = self.memref(target)?.element;
            let value = self.as_type(value, held)?;
            let place = self.coord(&int(i), &[])?;
            self.b
                .op(cute::MEMREF_STORE, &[target, place, value], &[], &[])?;
        }
        if !in_registers {
            self.copy_vectors(target, *output, WIDEST)?;
        }
        Ok(true)
    }

    pub(super) fn reduce(&self, op: cute::Reduce<'c>) -> Result<bool, Failure> {
        let (tensor, init) = (op.tensor(), op.init());
        let size = self.size(&self.memref(tensor)?)?;
        let tensor = self.loaded(tensor)?;
        let ty = init.r#type();
        let names = match op.kind().and_then(string_value) {
            None => None,
            Some("add") => Some([arith::ADDF, arith::ADDI]),
            Some("mul") => Some([arith::MULF, arith::MULI]),
            Some("min") => Some([arith::MINIMUMF, arith::MINSI]),
            Some("max") => Some([arith::MAXIMUMF, arith::MAXSI]),
            Some(kind) => return Err(self.b.error(format!("no reduction of the kind {kind}"))),
        };
        let mut value = init;
        for i in 0..size {
            let element = self.element(tensor, i)?;
            value = match names {
                Some(names) => self.b.value(named(ty, names), &[value, element], ty, &[])?,
                None => self.computed(op.op(), op.body(), &[value, element])?,
            };
        }
        replace_uses(op.result(), value);
        Ok(true)
    }

    /// Rounds registers to another floating-point type; themselves where they have it.
    pub(super) fn converted(&self, tensor: Val<'c>, element: Type<'c>) -> Result<Val<'c>, Failure> {
        let memref = self.memref(tensor)?;
        if memref.element == element {
            return Ok(tensor);
        }
        let to = cute_ir::tensor::registers(element, memref.layout);
        let ty = to.to_type(self.b.location)?;
        self.b.value(cute::CONVERT, &[tensor], ty, &[])
    }
}
