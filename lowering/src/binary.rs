//! `cute-emit-binary`: kernels in the LLVM dialect become a `gpu.binary` of PTX and cubin.

use crate::{llvm, ptxas};
use cute_ir::{Failure, PassSpec, build::*, diag};
use cute_passes::config::{Config, Request};
use melior::ir::{Attribute, AttributeLike, operation::OperationLike};
use mlir_sys::*;

/// The pass.
pub const PASS: PassSpec = PassSpec {
    name: "cute-emit-binary",
    description: "Compile GPU modules to PTX and cubin, as gpu.binary",
    anchor: "builtin.module",
    options: &[],
    run,
};

// MLIR's gpu::CompilationTarget.
pub(crate) const FORMAT_ASSEMBLY: u32 = 2;
pub(crate) const FORMAT_BINARY: u32 = 3;

fn run<'c>(module: Op<'c>, _: &[&str]) -> Result<(), Failure> {
    let body = body_of(module, 0).ok_or(Failure)?;
    for op in ops_of(body).into_iter().filter(|op| name_of(*op) == "gpu.module") {
        emit(op)?;
    }
    Ok(())
}

fn emit<'c>(module: Op<'c>) -> Result<(), Failure> {
    let b = Builder::before(module);
    let targets = attribute_of(module, "targets").map(|a| unsafe {
        let raw = a.to_raw();
        (0..mlirArrayAttrGetNumElements(raw))
            .map(|i| Attribute::from_raw(mlirArrayAttrGetElement(raw, i)))
            .collect::<Vec<_>>()
    });
    let targets = targets.filter(|t| !t.is_empty()).ok_or_else(|| {
        b.error("expected a gpu.module with a target, such as [#nvvm.target<chip = \"sm_90a\">]")
    })?;
    let mut objects = Vec::new();
    for target in targets {
        let (chip, features) = chip_of(target).map_err(|e| b.error(e))?;
        let arch = cute_passes::arch::Arch::find(&chip).map_err(|e| b.error(e))?;
        let features = if features.is_empty() { arch.ptx } else { &features };
        let ptx = llvm::ptx(module, arch.name, features).map_err(|e| b.error(e))?;
        let assembled = ptxas::assemble(&ptx, arch.name).map_err(|e| b.error(e.to_string()))?;
        let mut properties = Vec::new();
        for usage in &assembled.kernels {
            check_spills(module, usage)?;
            properties.push(format!(
                "{} = {{registers = {} : i32, static_smem = {} : i32, stack = {} : i32, \
                 spill_stores = {} : i32, spill_loads = {} : i32, dynamic_smem = {} : i32}}",
                usage.kernel,
                usage.registers,
                usage.static_shared,
                usage.stack,
                usage.spill_stores,
                usage.spill_loads,
                dynamic_shared(module, &usage.kernel)
            ));
        }
        let properties = b.attribute(&format!("{{{}}}", properties.join(", ")))?;
        objects.push(object(&b, target, FORMAT_BINARY, &assembled.cubin, properties));
        objects.push(object(&b, target, FORMAT_ASSEMBLY, ptx.as_bytes(), properties));
    }
    let raw: Vec<_> = objects.iter().map(|o| o.to_raw()).collect();
    let objects = unsafe {
        Attribute::from_raw(mlirArrayAttrGet(b.context.to_raw(), raw.len() as isize, raw.as_ptr()))
    };
    let name = string_of(module, "sym_name").unwrap_or("kernels").to_owned();
    let attributes = [
        ("sym_name", b.string(&name)),
        ("offloadingHandler", b.attribute("#gpu.select_object")?),
        ("objects", objects),
    ];
    b.op("gpu.binary", &[], &[], &attributes)?;
    erase(module);
    Ok(())
}

fn object<'c>(
    b: &Builder<'c>,
    target: Attribute<'c>,
    format: u32,
    bytes: &[u8],
    properties: Attribute<'c>,
) -> Attribute<'c> {
    let text = MlirStringRef { data: bytes.as_ptr().cast(), length: bytes.len() };
    unsafe {
        Attribute::from_raw(mlirGPUObjectAttrGet(
            b.context.to_raw(),
            target.to_raw(),
            format,
            text,
            properties.to_raw(),
        ))
    }
}

/// Chip and features of an `#nvvm.target`, from its text: the C interface has no accessors.
fn chip_of(target: Attribute) -> Result<(String, String), String> {
    let text = target.to_string();
    if !text.starts_with("#nvvm.target") {
        return Err(format!("expected the target #nvvm.target, found {text}"));
    }
    let field = |name: &str| {
        let (_, rest) = text.split_once(&format!("{name} = \""))?;
        rest.split('"').next().map(str::to_owned)
    };
    let chip = field("chip").ok_or_else(|| format!("expected a target with a chip, found {text}"))?;
    Ok((chip, field("features").unwrap_or_default()))
}

fn function<'c>(module: Op<'c>, kernel: &str) -> Option<Op<'c>> {
    nested_ops(module).into_iter().find(|op| string_of(*op, "sym_name") == Some(kernel))
}

fn dynamic_shared(module: Op, kernel: &str) -> i64 {
    function(module, kernel)
        .and_then(|op| integer_of(op, cute_passes::allocate_shared::SIZE))
        .unwrap_or(0)
}

fn check_spills<'c>(module: Op<'c>, usage: &ptxas::Usage) -> Result<(), Failure> {
    if usage.spill_loads + usage.spill_stores + usage.stack == 0 {
        return Ok(());
    }
    let op = function(module, &usage.kernel).unwrap_or(module);
    let mut message = format!(
        "the kernel spills registers: {} bytes stored, {} loaded, {} bytes of stack with {} registers",
        usage.spill_stores, usage.spill_loads, usage.stack, usage.registers
    );
    if let Ok((config, arch)) = Config::load(op) {
        // Fewer accumulators a thread: more warps, or a smaller tile.
        let smaller = Request::default().lighter(config, arch);
        if let Some(fits) = smaller {
            message += &format!("; try {}", fits.to_options());
        }
    }
    Err(diag::error(op.location(), message))
}
