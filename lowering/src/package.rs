//! `cute-emit-package`: a compiled module as a kernel package.

use cute_ir::{
    Failure, OptionSpec, PassSpec,
    build::*,
    diag,
    types::{CuteType, MemRef},
};
use cute_runtime::package::{
    Access, Arg, Compute, Function, ImageSource, KernelInfo, Launch, Package,
};
use melior::ir::{Attribute, AttributeLike, attribute::TypeAttribute, operation::OperationLike};
use mlir_sys::*;
use std::collections::BTreeMap;

/// The pass.
pub const PASS: PassSpec = PassSpec {
    name: "cute-emit-package",
    description: "Write the compiled module as a kernel package",
    anchor: "builtin.module",
    options: &[OptionSpec {
        name: "file",
        description: "Where the package goes",
        default: "",
    }],
    run,
};

/// Who writes packages.
pub const PRODUCER: &str = concat!("cute-opt ", env!("CARGO_PKG_VERSION"));

fn run<'c>(module: Op<'c>, options: &[&str]) -> Result<(), Failure> {
    let fail = |message: String| diag::error(module.location(), message);
    if options[0].is_empty() {
        return Err(fail(
            "cute-emit-package: expected file=, the path of the package".to_owned(),
        ));
    }
    let package = from_module(module)?;
    package
        .write_file(options[0])
        .map_err(|e| fail(e.to_string()))
}

/// The package of a module whose kernels are in `gpu.binary` ops. Emits diagnostics.
pub fn from_module<'c>(module: Op<'c>) -> Result<Package, Failure> {
    let fail = |message: String| diag::error(module.location(), message);
    let body = body_of(module, 0).ok_or(Failure)?;
    let mut builder = Package::builder(PRODUCER);
    let mut functions = Vec::new();
    let mut images: BTreeMap<String, ImageSource> = BTreeMap::new();
    for op in ops_of(body) {
        match name_of(op) {
            "func.func" => {
                if let Some(function) = function(op)? {
                    functions.push(function);
                }
            }
            "gpu.binary" => add_images(op, &mut images)?,
            "gpu.module" => {
                return Err(fail(
                    "expected compiled kernels; run cute-emit-ptx and cute-assemble first"
                        .to_owned(),
                ));
            }
            _ => {}
        }
    }
    if functions.is_empty() || images.is_empty() {
        return Err(fail(
            "expected a function that launches kernels, and a gpu.binary of them; is there a \
             cute.gemm in a func.func?"
                .to_owned(),
        ));
    }
    for image in images.values_mut() {
        for kernel in &mut image.kernels {
            let launch = functions
                .iter()
                .flat_map(|f| &f.launches)
                .find(|l| l.kernel == kernel.name);
            if let Some(launch) = launch {
                kernel.threads = launch.block.iter().product();
                kernel.max_threads = kernel.threads;
                kernel.params = vec![".u64".to_owned(); launch.args.len()];
            }
        }
    }
    for function in functions {
        builder = builder.function(function);
    }
    for image in images.into_values() {
        builder = builder.image(image);
    }
    builder
        .build()
        .map_err(|e| fail(format!("the package is not valid: {e}")))
}

/// A host function as a launch plan; nothing where it launches nothing.
fn function<'c>(op: Op<'c>) -> Result<Option<Function>, Failure> {
    // One that is only declared launches nothing.
    let Some(body) = body_of(op, 0) else {
        return Ok(None);
    };
    let launches: Vec<_> = ops_of(body)
        .into_iter()
        .filter(|op| name_of(*op) == "gpu.launch_func")
        .collect();
    if launches.is_empty() {
        return Ok(None);
    }
    let launches = launches
        .into_iter()
        .map(launch)
        .collect::<Result<Vec<_>, _>>()?;
    let computes = computes(op)?;
    let count = unsafe { mlirBlockGetNumArguments(body.to_raw()) } as usize;
    let mut args = Vec::new();
    for i in 0..count {
        let ty = melior::ir::ValueLike::r#type(&argument(body, i));
        let Some(CuteType::MemRef(memref)) = CuteType::of(ty) else {
            return Err(diag::error(
                op.location(),
                format!("expected tensors as arguments, found {ty}"),
            ));
        };
        args.push(tensor(i, &memref, &computes));
    }
    let name = string_of(op, "sym_name").unwrap_or("function").to_owned();
    Ok(Some(Function {
        name,
        args,
        launches,
        computes,
    }))
}

fn tensor(index: usize, memref: &MemRef, computes: &[Compute]) -> Arg {
    let (mut reads, mut writes) = (false, false);
    let mut roles = Vec::new();
    for compute in computes {
        let Compute::Gemm { a, b, c, .. } = compute;
        for (role, at) in [("A", a), ("B", b), ("C", c)] {
            if *at == index {
                roles.push(role);
                if role == "C" {
                    writes = true
                } else {
                    reads = true
                }
            }
        }
    }
    let access = match (reads, writes) {
        (true, false) => Access::Read,
        (false, true) => Access::Write,
        _ => Access::ReadWrite,
    };
    let name = match roles[..] {
        [role] if computes.len() == 1 => role.to_owned(),
        _ => format!("arg{index}"),
    };
    Arg::Tensor {
        name,
        element: host_element(&memref.element.to_string()).to_owned(),
        layout: memref.layout.to_string(),
        align: memref.align as u32,
        access,
    }
}

/// What the host calls an element type: it has one word for unsigned integers, and tf32 is f32 in memory.
fn host_element(name: &str) -> &str {
    match name {
        "ui8" => "u8",
        "si8" => "i8",
        "si32" => "i32",
        "si64" => "i64",
        "tf32" => "f32",
        name => name,
    }
}

fn computes<'c>(op: Op<'c>) -> Result<Vec<Compute>, Failure> {
    let Some(all) = attribute_of(op, "cute.computes") else {
        return Ok(Vec::new());
    };
    let wrong = || {
        diag::error(
            op.location(),
            "expected cute.computes = [{gemm = array<i64: A, B, C>, accumulate = f32}], arguments by index",
        )
    };
    let mut computes = Vec::new();
    unsafe {
        let raw = all.to_raw();
        if !mlirAttributeIsAArray(raw) {
            return Err(wrong());
        }
        for i in 0..mlirArrayAttrGetNumElements(raw) {
            let entry = Attribute::from_raw(mlirArrayAttrGetElement(raw, i));
            let gemm = entry_of(entry, "gemm").ok_or_else(wrong)?.to_raw();
            let accumulate = entry_of(entry, "accumulate").ok_or_else(wrong)?;
            let accumulate = TypeAttribute::try_from(accumulate)
                .map_err(|_| wrong())?
                .value();
            if !mlirAttributeIsADenseI64Array(gemm) || mlirDenseArrayGetNumElements(gemm) != 3 {
                return Err(wrong());
            }
            let at = |i| usize::try_from(mlirDenseI64ArrayGetElement(gemm, i)).map_err(|_| wrong());
            computes.push(Compute::Gemm {
                a: at(0)?,
                b: at(1)?,
                c: at(2)?,
                accumulate: accumulate.to_string(),
                tolerance: None,
            });
        }
    }
    Ok(computes)
}

fn launch<'c>(op: Op<'c>) -> Result<Launch, Failure> {
    let fail = |message: &str| diag::error(op.location(), message);
    let kernel = attribute_of(op, "kernel")
        .map(|a| a.to_string())
        .unwrap_or_default();
    let kernel = kernel
        .rsplit("::@")
        .next()
        .unwrap_or_default()
        .trim_matches('"')
        .to_owned();
    let (mut sizes, mut args) = (Vec::new(), Vec::new());
    for operand in operands_of(op) {
        if let Some(value) = constant_of(operand) {
            sizes.push(
                u32::try_from(value).map_err(|_| fail("a launch size does not fit 32 bits"))?,
            );
            continue;
        }
        // A tensor, or the pointer that it was lowered to.
        let source = match defining_op(operand) {
            Some(cast) if name_of(cast) == "builtin.unrealized_conversion_cast" => {
                operands_of(cast)[0]
            }
            _ => operand,
        };
        let Some((_, index)) = block_argument(source) else {
            return Err(fail(
                "expected launch sizes that are constants, and the function's own arguments",
            ));
        };
        args.push(index);
    }
    let [gx, gy, gz, bx, by, bz, dynamic_smem] = sizes[..] else {
        return Err(fail(
            "expected a constant grid, block and dynamic_shared_memory_size",
        ));
    };
    Ok(Launch {
        kernel,
        grid: [gx, gy, gz],
        block: [bx, by, bz],
        cluster: [1, 1, 1],
        dynamic_smem,
        args,
    })
}

/// The value of an `arith.constant`.
fn constant_of(value: Val) -> Option<i64> {
    let op = defining_op(value).filter(|op| name_of(*op) == "arith.constant")?;
    integer_of(op, "value")
}

fn add_images<'c>(op: Op<'c>, images: &mut BTreeMap<String, ImageSource>) -> Result<(), Failure> {
    let objects = attribute_of(op, "objects").ok_or(Failure)?.to_raw();
    unsafe {
        for i in 0..mlirArrayAttrGetNumElements(objects) {
            let object = mlirArrayAttrGetElement(objects, i);
            let target = Attribute::from_raw(mlirGPUObjectAttrGetTarget(object)).to_string();
            let arch = target
                .split_once("chip = \"")
                .and_then(|(_, rest)| rest.split('"').next())
                .ok_or_else(|| diag::error(op.location(), "expected an object with a chip"))?
                .to_owned();
            let image = images.entry(arch.clone()).or_insert_with(|| ImageSource {
                arch,
                ..ImageSource::default()
            });
            match mlirGPUObjectAttrGetFormat(object) {
                crate::binary::FORMAT_BINARY => {
                    if image.cubin.is_some() {
                        return Err(diag::error(
                            op.location(),
                            "expected one gpu.binary for each architecture; put the kernels into \
                             one gpu.module",
                        ));
                    }
                    image.cubin =
                        Some(crate::binary::bytes_of(Attribute::from_raw(object)).to_vec());
                    // What the assembler noted replaces what was known of the PTX.
                    for kernel in kernels_of(object) {
                        image.kernels.retain(|known| known.name != kernel.name);
                        image.kernels.push(kernel);
                    }
                }
                crate::binary::FORMAT_ASSEMBLY => {
                    image.ptx = Some(crate::binary::ptx_of(Attribute::from_raw(object)));
                    for kernel in kernels_of(object) {
                        if image.kernels.iter().all(|known| known.name != kernel.name) {
                            image.kernels.push(kernel);
                        }
                    }
                }
                _ => {}
            }
        }
    }
    Ok(())
}

/// What cute-emit-ptx and cute-assemble noted of each kernel of an object.
fn kernels_of(object: MlirAttribute) -> Vec<KernelInfo> {
    let mut kernels = Vec::new();
    unsafe {
        if !mlirGPUObjectAttrHasProperties(object) {
            return kernels;
        }
        let raw = mlirGPUObjectAttrGetProperties(object);
        for i in 0..mlirDictionaryAttrGetNumElements(raw) {
            let entry = mlirDictionaryAttrGetElement(raw, i);
            let name = mlirIdentifierStr(entry.name);
            let name = std::slice::from_raw_parts(name.data.cast::<u8>(), name.length);
            let values = Attribute::from_raw(entry.attribute);
            let number = |field: &str| {
                entry_of(values, field)
                    .map(|a| a.to_raw())
                    .filter(|raw| mlirAttributeIsAInteger(*raw))
                    .map_or(0, |raw| mlirIntegerAttrGetValueInt(raw) as u32)
            };
            kernels.push(KernelInfo {
                name: String::from_utf8_lossy(name).into_owned(),
                registers: number("registers"),
                static_smem: number("static_smem"),
                dynamic_smem: number("dynamic_smem"),
                spill_store_bytes: number("spill_stores"),
                spill_load_bytes: number("spill_loads"),
                stack_bytes: number("stack"),
                ..KernelInfo::default()
            });
        }
    }
    kernels
}
