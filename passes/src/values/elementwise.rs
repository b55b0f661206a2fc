//! Algorithms on each element of fragments: fill, axpby, transform, reduce.

use super::{
    Values,
    registers::{View, extract_element},
};
use cute_ir::{
    Failure,
    build::*,
    types::{self, CuteType},
};
use cute_layout::int;
use melior::ir::{Type, ValueLike, operation::OperationLike};

impl<'c> Values<'c> {
    pub(super) fn fill(&mut self, op: Op<'c>, b: Builder<'c>) -> Result<(), Failure> {
        let operands = operands_of(op);
        let view = self.registers(operands[0], b)?;
        let value = self.map(operands[1]);
        let places = view.places(b)?;
        self.put(&view, &places, &vec![value; places.len()], b)
    }

    /// y = alpha x + beta y.
    pub(super) fn axpby(&mut self, op: Op<'c>, b: Builder<'c>) -> Result<(), Failure> {
        let operands = operands_of(op);
        let [alpha, x, beta, y] = operands[..] else {
            return Err(b.error("expected alpha, x, beta and y; run cute-lower-algorithms first"));
        };
        let (vx, vy) = (self.registers(x, b)?, self.registers(y, b)?);
        let (alpha, beta) = (self.map(alpha), self.map(beta));
        let (from, to) = (vx.places(b)?, vy.places(b)?);
        let float = types::is_float(vy.element);
        let keeps = !is_zero(beta);
        let mut values = Vec::new();
        for (from, to) in from.iter().zip(&to) {
            let x = self.get(&vx, *from, b)?;
            let ty = vy.element;
            let mul = if float { "arith.mulf" } else { "arith.muli" };
            if !keeps {
                values.push(b.value(mul, &[alpha, x], ty, &[])?);
                continue;
            }
            let y = self.get(&vy, *to, b)?;
            let scaled = b.value(mul, &[beta, y], ty, &[])?;
            values.push(if float {
                b.value("llvm.intr.fma", &[alpha, x, scaled], ty, &[])?
            } else {
                let product = b.value(mul, &[alpha, x], ty, &[])?;
                b.value("arith.addi", &[product, scaled], ty, &[])?
            });
        }
        self.put(&vy, &to, &values, b)
    }

    pub(super) fn transform(&mut self, op: Op<'c>, b: Builder<'c>) -> Result<(), Failure> {
        let operands = operands_of(op);
        let Some((target, mut sources)) = operands.split_last() else {
            return Err(b.error("expected tensors"));
        };
        if sources.is_empty() {
            sources = std::slice::from_ref(target);
        }
        let body = body_of(op, 0).ok_or(Failure)?;
        let view = self.registers(*target, b)?;
        let places = view.places(b)?;
        let mut values = Vec::new();
        for i in 0..places.len() {
            for (k, source) in sources.iter().enumerate() {
                let ty = argument(body, k).r#type();
                let element = self.element_of(*source, i, ty, b)?;
                self.mapping.insert(key(argument(body, k)), element);
            }
            values.push(self.region(body, b)?);
        }
        self.put(&view, &places, &values, b)
    }

    pub(super) fn reduce(&mut self, op: Op<'c>, b: Builder<'c>) -> Result<(), Failure> {
        let operands = operands_of(op);
        let view = self.registers(operands[0], b)?;
        let mut value = self.map(operands[1]);
        let body = body_of(op, 0);
        let kind = string_of(op, "kind");
        for place in view.places(b)? {
            let element = self.get(&view, place, b)?;
            value = match (kind, body) {
                (Some(kind), _) => {
                    let float = types::is_float(view.element);
                    let name = match (kind, float) {
                        ("add", true) => "arith.addf",
                        ("add", false) => "arith.addi",
                        ("mul", true) => "arith.mulf",
                        ("mul", false) => "arith.muli",
                        ("min", true) => "arith.minnumf",
                        ("min", false) => "arith.minsi",
                        ("max", true) => "arith.maxnumf",
                        ("max", false) => "arith.maxsi",
                        _ => {
                            return Err(b.error(format!(
                                "expected kind = \"add\", \"mul\", \"min\" or \"max\", found \"{kind}\""
                            )));
                        }
                    };
                    b.value(name, &[value, element], view.element, &[])?
                }
                (None, Some(body)) => {
                    self.mapping.insert(key(argument(body, 0)), value);
                    self.mapping.insert(key(argument(body, 1)), element);
                    self.region(body, b)?
                }
                (None, None) => return Err(b.error("expected a kind or a region")),
            };
        }
        self.mapping.insert(key(result_of(op, 0)), value);
        Ok(())
    }

    /// What a region yields, its arguments mapped.
    fn region(&mut self, body: Blk<'c>, b: Builder<'c>) -> Result<Val<'c>, Failure> {
        let mut ops = ops_of(body);
        let end = ops.pop().ok_or(Failure)?;
        for op in ops {
            self.op(op, b.at_location(op.location()))?;
        }
        let value = operands_of(end).first().copied().ok_or(Failure)?;
        Ok(self.map(value))
    }

    /// Element `i` of a register tensor, or of a coordinate tensor as a coordinate of type `ty`.
    fn element_of(
        &mut self,
        tensor: Val<'c>,
        i: usize,
        ty: Type<'c>,
        b: Builder<'c>,
    ) -> Result<Val<'c>, Failure> {
        let Some(CuteType::CoordTensor { start, layout }) = CuteType::of(tensor.r#type()) else {
            let view = self.registers(tensor, b)?;
            let place = view.places(b)?.get(i).copied().ok_or(Failure)?;
            return self.get(&view, place, b);
        };
        let at = int(i as i64);
        let element = cute_ir::view::slice(&layout, &at)
            .and_then(|view| view.start(&start, &[]))
            .map_err(|e| b.error(e))?;
        let at = b.static_value(types::coord_type(b.context, &at))?;
        let found = types::coord_type(b.context, &element);
        let value = b.value("cute.memref.load", &[self.map(tensor), at], found, &[])?;
        if found == ty {
            return Ok(value);
        }
        let count = element.leaves().len();
        let scalars = b.op(
            "cute.get_scalars",
            &[value],
            &vec![b.i32_type(); count],
            &[],
        )?;
        let scalars: Vec<_> = (0..count).map(|i| result_of(scalars, i)).collect();
        b.value("cute.make_coord", &scalars, ty, &[])
    }

    /// One element as a scalar.
    fn get(&self, view: &View<'c>, place: i64, b: Builder<'c>) -> Result<Val<'c>, Failure> {
        let vector = self.read(view, &[place], b)?;
        extract_element(b, vector, 0, view.element)
    }

    /// Sets elements to scalars.
    fn put(
        &mut self,
        view: &View<'c>,
        places: &[i64],
        values: &[Val<'c>],
        b: Builder<'c>,
    ) -> Result<(), Failure> {
        let ty = b.vector(places.len() as i64, view.element);
        let vector = b.value("vector.from_elements", values, ty, &[])?;
        self.write(view, places, vector, b)
    }
}

/// Whether it is the constant 0, of an integer or a floating-point type.
fn is_zero(value: Val<'_>) -> bool {
    let Some(op) = defining_op(value).filter(|op| name_of(*op) == "arith.constant") else {
        return false;
    };
    attribute_of(op, "value").is_some_and(|value| unsafe {
        use melior::ir::AttributeLike;
        let raw = value.to_raw();
        if mlir_sys::mlirAttributeIsAFloat(raw) {
            mlir_sys::mlirFloatAttrGetValueDouble(raw) == 0.0
        } else {
            mlir_sys::mlirAttributeIsAInteger(raw) && mlir_sys::mlirIntegerAttrGetValueInt(raw) == 0
        }
    })
}
