//! `cute.print`: the text of the type with the values of its dynamic leaves, by `gpu.printf` or the C library's `printf`.

use super::{Lowering, value_of};
use cute_ir::ops::{arith, cute, gpu, llvm};
use cute_ir::{Failure, mlir::*, names::builtin, types::int_type};
use cute_layout::ops::Value;
use melior::ir::{Type, ValueLike, operation::OperationLike};

impl<'c> Lowering<'c> {
    pub(super) fn print(&mut self, print: cute::Print<'c>) -> Result<(), Failure> {
        let op = print.op();
        let builder = Builder::before(op);
        let (mut format, mut leaves) = (String::new(), Vec::new());
        let text = print.fmt().and_then(string_value);
        let text = text.map(|text| text.replace('%', "%%"));
        let mut between = text.as_deref().map(|text| text.split("{}"));
        if let Some(text) = between.as_mut().and_then(Iterator::next) {
            format.push_str(text);
        }
        for operand in print.values() {
            self.print_one(builder, operand, &mut format, &mut leaves)?;
            match between.as_mut() {
                Some(text) => format.push_str(text.next().unwrap_or_default()),
                None => format.push('\n'),
            }
        }
        let on_gpu = parent_of(op, gpu::MODULE).is_some() || parent_of(op, gpu::LAUNCH).is_some();
        if on_gpu {
            let format = builder.string(&format);
            builder.op(gpu::PRINTF, &leaves, &[], &[("format", format)])?;
        } else {
            self.printf(op, &format, &leaves)?;
        }
        self.dead.push(op);
        Ok(())
    }

    /// Adds the text of a value to `format`, and what its places stand for to `values`.
    fn print_one(
        &mut self,
        builder: Builder<'c>,
        operand: Val<'c>,
        format: &mut String,
        values: &mut Vec<Val<'c>>,
    ) -> Result<(), Failure> {
        let ty = operand.r#type();
        if let Some(value) = value_of(ty) {
            values.extend(in_text_order(&value, self.leaves_of(operand)?));
            format.push_str(&with_formats(&value.to_string()));
            return Ok(());
        }
        // C's variadic functions take integers of 32 bits or more, and numbers of 64 bits.
        let (ty, cast) = match ty.to_string().as_str() {
            "i32" => ("%d", None),
            "i64" => ("%lld", None),
            "i1" => ("%d", Some((arith::EXTUI, "i32"))),
            "i8" | "i16" => ("%d", Some((arith::EXTSI, "i32"))),
            "f64" => ("%f", None),
            "f16" | "bf16" | "f32" => ("%f", Some((arith::EXTF, "f64"))),
            other => {
                return Err(builder.error(format!(
                    "cannot print a value of type {other}; expected a number or a value of the layout algebra: of a tensor, print \
                     its layout or its elements"
                )));
            }
        };
        let value = match cast {
            Some((cast, to)) => builder.value(cast, &[operand], builder.ty(to)?, &[])?,
            None => operand,
        };
        format.push_str(ty);
        values.push(value);
        Ok(())
    }

    fn printf(&mut self, op: Op<'c>, format: &str, values: &[Val<'c>]) -> Result<(), Failure> {
        let builder = Builder::before(op);
        // Symbols are looked up in the innermost module.
        let module = parent_of(op, builtin::MODULE).unwrap_or(self.module);
        let body = body_of(module, 0)
            .ok_or_else(|| builder.error("expected a module around cute.print"))?;
        let top = match ops_of(body).first() {
            Some(first) => Builder::before(*first).at_location(module.location()),
            None => Builder::at_end(builder.context, body, module.location()),
        };
        let declaration = |name: &str| {
            ops_of(body)
                .into_iter()
                .find(|op| string_of(*op, "sym_name") == Some(name))
        };
        let pointer = builder.ty("!llvm.ptr")?;
        let printf_type = builder.ty("!llvm.func<i32 (ptr, ...)>")?;
        if let Some(other) = declaration("printf") {
            if name_of(other) != llvm::FUNC {
                return Err(builder.error(format!(
                    "cannot print: expected @printf to be the C library's, 'llvm.func @printf(!llvm.ptr, ...) -> i32', \
                     found '{}' of that name; rename it",
                    name_of(other)
                )));
            }
        } else {
            top.with_regions(
                llvm::FUNC,
                &[],
                &[],
                &[
                    ("sym_name", builder.string("printf")),
                    ("function_type", builder.type_attribute(printf_type)),
                ],
                vec![Detached::empty()],
            )?;
        }
        let text = format!("{format}\0");
        let known = (op_key(module), text);
        let name = if let Some(name) = self.formats.get(&known) {
            name.clone()
        } else {
            let name = loop {
                let name = format!("cute_print_format_{}", self.format_names);
                self.format_names += 1;
                if declaration(&name).is_none() {
                    break name;
                }
            };
            let text = &known.1;
            let array: Type<'c> = builder.ty(&format!("!llvm.array<{} x i8>", text.len()))?;
            top.with_regions(
                llvm::MLIR_GLOBAL,
                &[],
                &[],
                &[
                    ("sym_name", builder.string(&name)),
                    ("global_type", builder.type_attribute(array)),
                    ("linkage", builder.attribute("#llvm.linkage<internal>")?),
                    ("constant", builder.unit()),
                    ("value", builder.string(text)),
                    ("addr_space", builder.integer(builder.i32_type(), 0)),
                ],
                vec![Detached::empty()],
            )?;
            self.formats.insert(known, name.clone());
            name
        };
        let symbol = builder.attribute(&format!("@{name}"))?;
        let address = builder.value(
            llvm::MLIR_ADDRESSOF,
            &[],
            pointer,
            &[("global_name", symbol)],
        )?;
        let operands: Vec<Val<'c>> = std::iter::once(address)
            .chain(values.iter().copied())
            .collect();
        let count = operands.len() as i32;
        builder.op(
            llvm::CALL,
            &operands,
            &[int_type(builder.context, 32)],
            &[
                ("callee", builder.attribute("@printf")?),
                ("var_callee_type", builder.type_attribute(printf_type)),
                ("operandSegmentSizes", builder.i32_array(&[count, 0])),
                ("op_bundle_sizes", builder.i32_array(&[])),
            ],
        )?;
        Ok(())
    }
}

/// The leaves as the text has them: a composed layout names its inner layout first, the dialect lists it last.
fn in_text_order<'c>(value: &Value, mut leaves: Vec<Val<'c>>) -> Vec<Val<'c>> {
    if let Value::ComposedLayout(c) = value {
        let outer = Value::Layout(c.outer().clone()).dynamic_leaves().len();
        let offset = Value::IntTuple(c.offset().clone()).dynamic_leaves().len();
        let inner = leaves.len() - outer - offset;
        leaves[..outer + offset].rotate_left(outer);
        leaves.rotate_right(inner);
    }
    leaves
}

/// The canonical text with a format in place of each dynamic leaf: `%d`, or `%lld` where it has 64 bits.
fn with_formats(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    let mut rest = text;
    while let Some(at) = rest.find('?') {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        let mut wide = false;
        if let Some(inner) = rest.strip_prefix('{')
            && let Some((facts, after)) = inner.split_once('}')
        {
            wide = facts.contains("i64");
            rest = after;
        }
        out.push_str(if wide { "%lld" } else { "%d" });
    }
    out.push_str(rest);
    out
}
