//! `cute-emit-ptx` and `cute-assemble`: kernels in the LLVM dialect become a `gpu.binary`, first of
//! PTX, then of PTX and cubin.

use crate::{
    apart,
    left_out::{self, Candidates, Trouble},
    negated, places, ptxas, remarks,
};
use cute_ir::{
    Anchor, Expected, Failure, PassSpec,
    attributes::{
        DYNAMIC_SMEM, FUSED, GPU_KERNEL, NVVM_KERNEL, PLAN, PTX, SHORT_OF_REGISTERS, STAYS,
        TENSOR_MAPS,
    },
    diag,
    mlir::*,
    ops::{gpu, llvm},
    options::Options,
    plan::Plan,
};
use cute_passes::{arch, plan};
use cute_target::Arch;
use melior::{
    Context,
    ir::{Attribute, Location, ValueLike, operation::OperationLike},
};

/// LLVM's part.
pub(crate) const EMIT_PTX: PassSpec = PassSpec {
    name: "cute-emit-ptx",
    description: "Compile GPU modules in the LLVM dialect to a gpu.binary of PTX",
    anchor: Anchor::Module,
    options: &[],
    run: emit_ptx,
};

/// The assembler's part.
pub(crate) const ASSEMBLE: PassSpec = PassSpec {
    name: "cute-assemble",
    description: "Assemble the PTX of gpu.binary ops, and add the cubin and what kernels use",
    anchor: Anchor::Module,
    options: AssembleOptions::SPECS,
    run: assemble,
};

cute_ir::options! {
    /// Options of `cute-assemble`.
    #[derive(Copy)]
    pub struct AssembleOptions {
        lineinfo: bool = false, "false",
            "Whether cubins say which line of the IR each instruction is from, for profilers and compute-sanitizer: they are several times as large; PTX always says it";
    }
}

pub(crate) fn ops_named<'c>(module: Op<'c>, name: &str) -> Result<Vec<Op<'c>>, Failure> {
    let body = body_of(module, 0).expected(module, "a body")?;
    Ok(ops_of(body)
        .into_iter()
        .filter(|op| name_of(*op) == name)
        .collect())
}

/// The compute capability, its major number, from which on two minima are one instruction.
const VIMNMX3: u32 = 9;

fn emit_ptx<'c>(rewriter: &Rewriter<'c>, module: Op<'c>, _: &[&str]) -> Result<(), Failure> {
    diag::each(ops_named(module, gpu::MODULE)?, |op| {
        crate::to_nvvm::types::check(op)?;
        let b = Builder::before(op);
        let targets = Target::all(op).map_err(|e| b.error(e))?;
        if targets.is_empty() {
            return Err(b.error(
                "expected a gpu.module with a target, such as [#nvvm.target<chip = \"sm_90a\">]",
            ));
        }
        check_lowered(op)?;
        pass_tensor_maps(op, &b)?;
        let properties = b.attribute(&format!("{{{}}}", kernel_notes(op).join(", ")))?;
        let places = places::number(op);
        let mut objects = Vec::new();
        for target in targets {
            let arch = arch::of_target(&target).map_err(|e| b.error(e))?;
            let features = with_ptx(target.features, arch, integer_of(op, PTX).unwrap_or(0));
            let text = places.led_back(&b, || apart::ptx(op, &arch.to_string(), &features))?;
            let text = places.write(&text).map_err(|e| b.error(e))?;
            let text = match arch.major >= VIMNMX3 {
                true => negated::without(&text).unwrap_or(text),
                false => text,
            };
            let object = Object {
                target: target.attribute,
                format: FORMAT_ASSEMBLY,
                bytes: text.as_bytes(),
                properties: Some(properties),
            };
            objects.push(object.attribute(b.context));
        }
        binary(&b, string_of(op, "sym_name").unwrap_or("kernels"), &objects)?;
        rewriter.erase(op)
    })
}

/// The attributes of an argument that is a tensor map: its bytes, which the kernel reads where the launch put them (CUDA driver API,
/// `cuTensorMapEncodeTiled`: 128 bytes at multiples of 64).
const TENSOR_MAP: &str =
    "{llvm.byval = !llvm.array<128 x i8>, llvm.align = 64 : i64, nvvm.grid_constant}";

/// Makes values of the pointers that stand for tensor maps: MLIR takes the attributes on functions of LLVM's only.
fn pass_tensor_maps<'c>(module: Op<'c>, b: &Builder<'c>) -> Result<(), Failure> {
    for op in nested_ops(module) {
        let maps = attribute_of(op, TENSOR_MAPS).and_then(i64s_of);
        let Some(maps) = maps.filter(|_| name_of(op) == llvm::FUNC) else {
            continue;
        };
        let body = body_of(op, 0).expected(op, "a body")?;
        let count = arguments_of(body).len();
        let known = attribute_of(op, "arg_attrs").and_then(array_of);
        let known: Vec<String> = known.map_or_else(
            || vec!["{}".to_owned(); count],
            |all| all.iter().map(|one| one.to_string()).collect(),
        );
        let each = known.into_iter().enumerate().map(|(i, text)| {
            let is_map = maps.contains(&(i as i64));
            if is_map { TENSOR_MAP.to_owned() } else { text }
        });
        let each: Vec<_> = each.collect();
        set_attribute(
            op,
            "arg_attrs",
            b.attribute(&format!("[{}]", each.join(", ")))?,
        );
    }
    Ok(())
}

/// Checks that everything of a `gpu.module` is in a dialect that LLVM IR can be made of.
fn check_lowered(module: Op<'_>) -> Result<(), Failure> {
    for op in nested_ops(module) {
        let name = name_of(op);
        if name.starts_with("llvm.") || name.starts_with("nvvm.") {
            continue;
        }
        let types = |values: &mut dyn Iterator<Item = Val<'_>>| -> String {
            let all: Vec<String> = values.map(|v| v.r#type().to_string()).collect();
            format!("({})", all.join(", "))
        };
        let from = types(&mut operands_of(op).into_iter());
        let to = types(&mut results_of(op).into_iter());
        return Err(diag::error(
            op.location(),
            format!(
                "'{name}' : {from} -> {to} has no instruction: no pass before has made one of it; compute it by other operations, \
                 or on other types"
            ),
        ));
    }
    Ok(())
}

/// Notes that a kernel has an instruction of this PTX version.
pub(crate) fn require_ptx(kernel: Op<'_>, version: i64) {
    if let Some(module) = parent_of(kernel, gpu::MODULE)
        && integer_of(module, PTX).unwrap_or(0) < version
    {
        let attribute = Builder::before(module).i64_attribute(version);
        set_attribute(module, PTX, attribute);
    }
}

/// LLVM's features with a PTX version of at least `version`. One that does not know the architecture, as MLIR's default does
/// not, gives way to that which kernels for it have.
fn with_ptx(features: &str, arch: Arch, version: i64) -> String {
    let given = |feature: &str| feature.strip_prefix("+ptx")?.parse::<i64>().ok();
    let most = features.split(',').filter_map(given).max();
    let known = arch.brought_by_ptx().unwrap_or_default().into();
    let own = arch.ptx_version().unwrap_or_default().into();
    let ptx = most.filter(|given| *given >= known).unwrap_or(own);
    let others = features
        .split(',')
        .filter(|f| !f.is_empty() && given(f).is_none());
    let ptx = format!("+ptx{}", ptx.max(version));
    let all: Vec<&str> = std::iter::once(ptx.as_str()).chain(others).collect();
    all.join(",")
}

/// The notes that later passes want of each kernel, as entries of a dictionary.
fn kernel_notes(module: Op) -> Vec<String> {
    let mut notes = Vec::new();
    for op in nested_ops(module)
        .into_iter()
        .filter(|op| name_of(*op) == llvm::FUNC)
    {
        if attribute_of(op, GPU_KERNEL).is_none() && attribute_of(op, NVVM_KERNEL).is_none() {
            continue;
        }
        let name = string_of(op, "sym_name").unwrap_or_default();
        let shared = integer_of(op, DYNAMIC_SMEM).unwrap_or(0);
        let plans = [PLAN, FUSED].into_iter().filter_map(|name| {
            let plan = attribute_of(op, name)?;
            Some(format!(", {name} = {plan}"))
        });
        let stays = match attribute_of(op, STAYS) {
            Some(_) => format!(", {STAYS}"),
            None => String::new(),
        };
        let place = place_of(op.location()).map(|place| {
            format!(
                ", {PLACE} = [{:?}, {}, {}]",
                place.file, place.line, place.column
            )
        });
        notes.push(format!(
            "{name} = {{dynamic_smem = {shared} : i32{}{stays}{}}}",
            plans.collect::<String>(),
            place.unwrap_or_default()
        ));
    }
    notes
}

/// The note of where a kernel stands in the text: its file, line and column.
const PLACE: &str = "place";

/// The place that the notes of a kernel say.
fn place_noted<'c>(context: &'c Context, note: Attribute<'c>) -> Option<Location<'c>> {
    let [file, line, column] = array_of(entry_of(note, PLACE)?)?[..] else {
        return None;
    };
    let number = |attribute| usize::try_from(integer_value(attribute)?).ok();
    let (file, line, column) = (string_value(file)?, number(line)?, number(column)?);
    Some(Location::new(context, file, line, column))
}

/// The notes of kernels without their places, which nobody asks for behind the assembler.
fn without_places<'c>(context: &'c Context, notes: Option<Attribute<'c>>) -> Option<Attribute<'c>> {
    let kernels = entries_of(notes?)?.into_iter().map(|(kernel, note)| {
        let mut entries = entries_of(note).unwrap_or_default();
        entries.retain(|(name, _)| *name != PLACE);
        (kernel, dictionary(context, &entries))
    });
    Some(dictionary(context, &kernels.collect::<Vec<_>>()))
}

fn binary<'c>(b: &Builder<'c>, name: &str, objects: &[Attribute<'c>]) -> Result<(), Failure> {
    let attributes = [
        ("sym_name", b.string(name)),
        ("offloadingHandler", b.attribute("#gpu.select_object")?),
        ("objects", array_attribute(b.context, objects)),
    ];
    b.op(gpu::BINARY, &[], &[], &attributes)?;
    Ok(())
}

/// The objects of a `gpu.binary`, each as the attribute and as what it says.
pub(crate) fn objects_of<'c>(
    binary: Op<'c>,
) -> Result<Vec<(Attribute<'c>, Object<'c, 'c>)>, Failure> {
    attribute_of(binary, "objects")
        .and_then(array_of)
        .expected(binary, "an array of objects")?
        .into_iter()
        .map(|attribute| {
            let object = Object::of(attribute).expected(binary, "an object of code")?;
            Ok((attribute, object))
        })
        .collect()
}

/// PTX without the terminator that MLIR may keep.
pub(crate) fn ptx_of(object: &Object) -> String {
    String::from_utf8_lossy(object.bytes)
        .trim_end_matches('\0')
        .to_owned()
}

fn assemble<'c>(rewriter: &Rewriter<'c>, module: Op<'c>, options: &[&str]) -> Result<(), Failure> {
    let wrong = |e| diag::of_option(module, format!("cute-assemble: {e}"));
    let AssembleOptions { lineinfo } = AssembleOptions::of(options).map_err(wrong)?;
    diag::each(ops_named(module, gpu::BINARY)?, |op| {
        let b = Builder::before(op);
        let name = string_of(op, "sym_name").unwrap_or("kernels");
        let mut candidates = Candidates::of(module, name);
        // Again without what was left out, until all can be had.
        let objects = loop {
            match objects(&b, op, lineinfo, &candidates)? {
                (objects, troubles) if troubles.is_empty() => break objects,
                (_, troubles) => {
                    note_short(&b, module, &candidates, &troubles)?;
                    diag::each(troubles, |trouble| candidates.leave_out(&b, &trouble))?
                }
            }
        };
        binary(&b, name, &objects)?;
        candidates.write(rewriter)?;
        rewriter.erase(op)
    })
}

/// The objects of a `gpu.binary` and their cubins, or the kernels that cannot be had. Errors: those that are of all of them.
fn objects<'c>(
    b: &Builder<'c>,
    op: Op<'c>,
    lineinfo: bool,
    candidates: &Candidates<'c>,
) -> Result<(Vec<Attribute<'c>>, Vec<Trouble<'c>>), Failure> {
    let (mut objects, mut troubles) = (Vec::new(), Vec::new());
    let out = candidates.kernels_out();
    for (attribute, object) in objects_of(op)? {
        if object.format != FORMAT_ASSEMBLY {
            objects.push(attribute);
            continue;
        }
        let arch = Target::of(object.target)
            .and_then(|target| arch::of_target(&target))
            .map_err(|e| b.error(e))?;
        let mut ptx = ptx_of(&object);
        let mut properties = object.properties;
        if !out.is_empty() {
            ptx = left_out::without(&ptx, &out);
            let notes = object.properties.and_then(entries_of).unwrap_or_default();
            let left = notes.iter().filter(|(kernel, _)| !out.contains(kernel));
            let left: Vec<String> = left
                .map(|(kernel, note)| format!("{kernel} = {note}"))
                .collect();
            properties = Some(b.attribute(&format!("{{{}}}", left.join(", ")))?);
        }
        let text = Object {
            bytes: if out.is_empty() {
                object.bytes
            } else {
                ptx.as_bytes()
            },
            properties: without_places(b.context, properties),
            ..object
        };
        let assembled = match ptxas::assemble(&ptx, arch, lineinfo) {
            Ok(assembled) => assembled,
            Err(error @ ptxas::PtxasError::Missing { .. }) => {
                let warning = format!(
                    "{error}; the kernels stay PTX for {arch}, which a driver assembles when they are loaded, and nobody has seen whether they spill registers"
                );
                diag::warning(b.location, warning, &[]);
                objects.push(text.attribute(b.context));
                continue;
            }
            Err(error) => {
                let alone = |ptx: &str| ptxas::assemble(ptx, arch, lineinfo).map(drop);
                let found = left_out::refused(&ptx, candidates.kernels(), alone);
                let found = if found.is_empty() {
                    one_after_another(b.context, &error, object.properties, arch)
                } else {
                    found
                };
                if found.is_empty() {
                    return Err(refused(&error, &ptx, b, object.properties));
                }
                troubles.extend(found);
                continue;
            }
        };
        let mut properties = Vec::new();
        for usage in &assembled.kernels {
            let note = object
                .properties
                .and_then(|notes| entry_of(notes, &usage.kernel));
            troubles.extend(spills(b.context, note, usage, arch));
            let shared = note.and_then(|n| entry_of(n, "dynamic_smem"));
            properties.push(format!(
                "{} = {{registers = {} : i32, static_smem = {} : i32, stack = {} : i32, \
                 spill_stores = {} : i32, spill_loads = {} : i32, dynamic_smem = {}}}",
                usage.kernel,
                usage.registers,
                usage.static_shared,
                usage.stack,
                usage.spill_stores,
                usage.spill_loads,
                shared.map_or("0 : i32".to_owned(), |s| s.to_string())
            ));
        }
        let properties = b.attribute(&format!("{{{}}}", properties.join(", ")))?;
        let cubin = Object {
            target: object.target,
            format: FORMAT_BINARY,
            bytes: &assembled.cubin,
            properties: Some(properties),
        };
        objects.push(cubin.attribute(b.context));
        objects.push(text.attribute(b.context));
    }
    Ok((objects, troubles))
}

/// Says what ptxas says: where in the program the line stands that it names; at the kernel that it names, with what it may be about, where it names no line.
fn refused<'c>(
    error: &ptxas::PtxasError,
    ptx: &str,
    b: &Builder<'c>,
    notes: Option<Attribute<'c>>,
) -> Failure {
    let ptxas::PtxasError::Remarked { log, .. } = error else {
        return b.error(error.to_string());
    };
    let location = |place: cute_runtime::ptx::Place| {
        let (line, column) = (place.line as usize, place.column as usize);
        Location::new(b.context, &place.file, line, column)
    };
    if let Some(place) = remarks::place(log, ptx) {
        let at = location(place);
        return diag::error_with_notes(at, error.to_string(), &[(b.location, "the kernels")]);
    }
    let kernel = remarks::kernel_of(log).and_then(|kernel| entry_of(notes?, kernel));
    let at = kernel.and_then(|note| place_noted(b.context, note));
    let causes = remarks::causes(log, ptx).into_iter();
    let causes: Vec<_> = causes
        .map(|(place, what)| (location(place), what))
        .collect();
    diag::error_with_notes(at.unwrap_or(b.location), error.to_string(), &causes)
}

/// The trouble with kernels whose products have too few registers to run beside each other, where all of them were made by plans. Empty where
/// that is not what ptxas remarks.
fn one_after_another<'c>(
    context: &'c Context,
    error: &ptxas::PtxasError,
    notes: Option<Attribute<'c>>,
    arch: Arch,
) -> Vec<Trouble<'c>> {
    let ptxas::PtxasError::Remarked { log, .. } = error else {
        return Vec::new();
    };
    let troubles = remarks::short_of_registers(log).into_iter().map(|kernel| {
        let note = notes.and_then(|notes| entry_of(notes, kernel));
        let plan = note.and_then(|note| entry_of(note, PLAN))?;
        let mut why = format!(
            "products of the kernel {kernel} run one after another for want of registers, says ptxas"
        );
        why += &match lighter(plan, arch) {
            Some(fits) => format!("; try {fits}"),
            None => "; choose a smaller tile of C".to_owned(),
        };
        Some(Trouble {
            kernel: kernel.to_owned(),
            why,
            lacks_registers: true,
            stays: false,
            plan: Some(plan),
            at: note.and_then(|note| place_noted(context, note)),
        })
    });
    troubles.collect::<Option<Vec<_>>>().unwrap_or_default()
}

/// The options of a plan that gives a thread less to hold.
fn lighter(plan: Attribute<'_>, arch: Arch) -> Option<String> {
    let lighter = plan::lighter(&Plan::of(plan)?, arch)?;
    Some(plan::options_of(&lighter))
}

/// Leaves on the module which kernels lack registers that are of no candidates, with their plans: whoever chose these may choose others.
fn note_short<'c>(
    b: &Builder<'c>,
    module: Op<'c>,
    candidates: &Candidates<'c>,
    troubles: &[Trouble<'c>],
) -> Result<(), Failure> {
    let of_candidates: Vec<&str> = candidates.kernels().collect();
    let is_chosen = |trouble: &&Trouble<'c>| {
        trouble.lacks_registers && !of_candidates.contains(&trouble.kernel.as_str())
    };
    let kernels = troubles.iter().filter(is_chosen).map(|trouble| {
        let plan = trouble.plan;
        let plan = match trouble.stays {
            true => format!(", {STAYS}"),
            false => plan.map_or(String::new(), |plan| format!(", plan = {plan}")),
        };
        b.attribute(&format!("{{kernel = {:?}{plan}}}", trouble.kernel))
    });
    let kernels = kernels.collect::<Result<Vec<_>, _>>()?;
    if !kernels.is_empty() {
        set_attribute(
            module,
            SHORT_OF_REGISTERS,
            array_attribute(b.context, &kernels),
        );
    }
    Ok(())
}

/// The trouble with a kernel that spills: it is not what was asked for. Its plan names a lighter one.
fn spills<'c>(
    context: &'c Context,
    note: Option<Attribute<'c>>,
    usage: &ptxas::Usage,
    arch: Arch,
) -> Option<Trouble<'c>> {
    if !usage.spills() {
        return None;
    }
    let mut why = format!(
        "the kernel {} spills registers: {} bytes stored, {} loaded, {} bytes of stack with {} registers",
        usage.kernel, usage.spill_stores, usage.spill_loads, usage.stack, usage.registers
    );
    let noted = |name| note.and_then(|note| entry_of(note, name));
    let (plan, fused) = (noted(PLAN), noted(FUSED));
    // Fewer accumulators a thread: more warps, or a smaller tile.
    if let Some(fits) = plan.and_then(|plan| lighter(plan, arch)) {
        why += &format!("; try {fits}");
    } else if fused.is_some() {
        why += "; write it as several maps, with fewer products or fewer tensors beside them";
    } else if plan.is_none() {
        why += "; give a thread less to hold: more threads, smaller tiles, or fragments that are loaded a part at a time";
    }
    Some(Trouble {
        kernel: usage.kernel.clone(),
        why,
        lacks_registers: true,
        stays: noted(STAYS).is_some(),
        plan: plan.or(fused),
        at: note.and_then(|note| place_noted(context, note)),
    })
}
