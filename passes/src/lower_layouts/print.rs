//! `cute.print`: the text of the type with the values of its dynamic leaves, by `gpu.printf` or the C library's `printf`.

use super::{Lowering, value_of};
use cute_ir::{Failure, build::*, types::int_type};
use cute_layout::ops::Value;
use melior::ir::{Type, ValueLike, operation::OperationLike};

impl<'c> Lowering<'c> {
    pub(super) fn print(&mut self, op: Op<'c>) -> Result<(), Failure> {
        let operand = operands_of(op)[0];
        let builder = Builder::before(op);
        let Some(value) = value_of(operand.r#type()) else {
            return Err(builder.error(format!("cannot print a value of type {}", operand.r#type())));
        };
        let leaves = in_text_order(&value, self.leaves_of(operand)?);
        let mut format = with_formats(&value.to_string());
        format.push('\n');
        let on_gpu = parent_of(op, "gpu.module").is_some() || parent_of(op, "gpu.launch").is_some();
        if on_gpu {
            let format = builder.string(&format);
            builder.op("gpu.printf", &leaves, &[], &[("format", format)])?;
        } else {
            self.printf(op, &format, &leaves)?;
        }
        self.dead.push(op);
        Ok(())
    }

    fn printf(&mut self, op: Op<'c>, format: &str, values: &[Val<'c>]) -> Result<(), Failure> {
        let builder = Builder::before(op);
        // Symbols are looked up in the innermost module.
        let module = parent_of(op, "builtin.module").unwrap_or(self.module);
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
            if name_of(other) != "llvm.func" {
                return Err(builder.error(format!(
                    "cannot print: expected @printf to be the C library's, 'llvm.func @printf(!llvm.ptr, ...) -> i32', \
                     found '{}' of that name; rename it",
                    name_of(other)
                )));
            }
        } else {
            top.with_regions(
                "llvm.func",
                &[],
                &[],
                &[
                    ("sym_name", builder.string("printf")),
                    ("function_type", builder.type_attribute(printf_type)),
                ],
                vec![melior::ir::Region::new()],
            )?;
        }
        let text = format!("{format}\0");
        let known = (module.to_raw().ptr as usize, text);
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
                "llvm.mlir.global",
                &[],
                &[],
                &[
                    ("sym_name", builder.string(&name)),
                    ("global_type", builder.type_attribute(array)),
                    ("linkage", builder.attribute("#llvm.linkage<internal>")?),
                    ("constant", builder.attribute("unit")?),
                    ("value", builder.string(text)),
                    ("addr_space", builder.integer(builder.i32_type(), 0)),
                ],
                vec![melior::ir::Region::new()],
            )?;
            self.formats.insert(known, name.clone());
            name
        };
        let symbol = builder.attribute(&format!("@{name}"))?;
        let address = builder.value(
            "llvm.mlir.addressof",
            &[],
            pointer,
            &[("global_name", symbol)],
        )?;
        let operands: Vec<Val<'c>> = std::iter::once(address)
            .chain(values.iter().copied())
            .collect();
        let count = operands.len() as i32;
        builder.op(
            "llvm.call",
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
