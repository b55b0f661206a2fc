//! `cute.print`: the text of the type with the values of its dynamic leaves, by `gpu.printf` or the C library's `printf`.

use super::{Lowering, value_of};
use cute_ir::{Failure, build::*, types::int_type};
use melior::ir::{Type, ValueLike, operation::OperationLike};

impl<'c> Lowering<'c> {
    pub(super) fn print(&mut self, op: Op<'c>) -> Result<(), Failure> {
        let operand = operands_of(op)[0];
        let builder = Builder::before(op);
        let Some(value) = value_of(operand.r#type()) else {
            return Err(builder.error(format!("cannot print a value of type {}", operand.r#type())));
        };
        let leaves = self.leaves_of(operand)?;
        let mut format = with_formats(&value.to_string());
        format.push('\n');
        let on_gpu = parent_of(op, "gpu.module").is_some() || parent_of(op, "gpu.launch").is_some();
        if on_gpu {
            let format = builder.string(&format);
            builder.op("gpu.printf", &leaves, &[], &[("format", format)])?;
        } else {
            self.printf(builder, &format, &leaves)?;
        }
        self.dead.push(op);
        Ok(())
    }

    fn printf(
        &mut self,
        builder: Builder<'c>,
        format: &str,
        values: &[Val<'c>],
    ) -> Result<(), Failure> {
        let body = body_of(self.module, 0)
            .ok_or_else(|| builder.error("expected a module around cute.print"))?;
        let top = match ops_of(body).first() {
            Some(first) => Builder::before(*first).at_location(self.module.location()),
            None => Builder::at_end(builder.context, body, self.module.location()),
        };
        let declared = |name: &str| {
            ops_of(body)
                .into_iter()
                .any(|op| string_of(op, "sym_name") == Some(name))
        };
        let pointer = builder.ty("!llvm.ptr")?;
        let printf_type = builder.ty("!llvm.func<i32 (ptr, ...)>")?;
        if !declared("printf") {
            let (region, _) = (melior::ir::Region::new(), ());
            top.with_regions(
                "llvm.func",
                &[],
                &[],
                &[
                    ("sym_name", builder.string("printf")),
                    ("function_type", builder.type_attribute(printf_type)),
                ],
                vec![region],
            )?;
        }
        let name = loop {
            let name = format!("cute_print_format_{}", self.formats);
            self.formats += 1;
            if !declared(&name) {
                break name;
            }
        };
        let mut text = format.to_owned();
        text.push('\0');
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
                ("value", builder.string(&text)),
                ("addr_space", builder.integer(builder.i32_type(), 0)),
            ],
            vec![melior::ir::Region::new()],
        )?;
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
