//! `cute.launch` as `gpu.launch_func`: the blocks that a shape says, and the threads that the kernel says.

use super::functions_of;
use cute_ir::{
    Expected, Failure, attributes, block,
    diag::{self, each},
    mlir::*,
    names::did_you_mean,
    ops::{arith, cute, gpu},
};
use melior::ir::{ValueLike, operation::OperationLike};

/// The modes of a grid.
const MODES: usize = 3;

/// Makes the launches of a module's functions.
pub(super) fn make<'c>(rewriter: &'c Rewriter<'c>, module: Op<'c>) -> Result<(), Failure> {
    let kernels: Vec<(String, Op<'c>)> = nested_ops(module)
        .into_iter()
        .filter(|op| name_of(*op) == gpu::MODULE)
        .flat_map(|home| functions_of(home).map(move |kernel| (home, kernel)))
        .filter(|(_, kernel)| name_of(*kernel) == gpu::FUNC)
        .map(|(home, kernel)| {
            let name = |op| string_of(op, "sym_name").unwrap_or_default();
            (format!("@{}::@{}", name(home), name(kernel)), kernel)
        })
        .collect();
    let launches: Vec<_> = nested_ops(module)
        .into_iter()
        .filter_map(cute::Launch::of)
        .collect();
    if let Some(first) = launches.first() {
        // MLIR's launches ask for it.
        let mark = Builder::before(first.op()).unit();
        set_attribute(module, attributes::CONTAINER_MODULE, mark);
    }
    each(launches, |launch| one(rewriter, launch, &kernels))
}

fn one<'c>(
    rewriter: &'c Rewriter<'c>,
    launch: cute::Launch<'c>,
    kernels: &[(String, Op<'c>)],
) -> Result<(), Failure> {
    let op = launch.op();
    let wrong = |message: String| diag::error(op.location(), format!("'cute.launch' op {message}"));
    let path = launch.kernel().expected(op, "the name of a kernel")?;
    let name = symbol_of(path).unwrap_or_default().join("::@");
    let name = format!("@{name}");
    let Some((_, kernel)) = kernels.iter().find(|(known, _)| *known == name) else {
        let names = || kernels.iter().map(|(known, _)| known.as_str());
        let meant = match (did_you_mean(&name, names()), kernels.len()) {
            (none, 1..=4) if none.is_empty() => {
                format!("; there is {}", names().collect::<Vec<_>>().join(", "))
            }
            (meant, _) => meant,
        };
        let example = match kernels.is_empty() {
            true => ", such as @kernels::@copy",
            false => "",
        };
        return Err(wrong(format!(
            "expected a kernel in a gpu.module{example}, found {name}, of which there is none{meant}"
        )));
    };
    if attribute_of(*kernel, attributes::GPU_KERNEL).is_none() {
        return Err(wrong(format!(
            "expected a kernel, found {name} without the word kernel behind its arguments, which runs on no grid"
        )));
    }
    check_arguments(launch, *kernel, &name)?;
    let Some(threads) = block::block_size_of(*kernel) else {
        return Err(wrong(format!(
            "expected known_block_size on {name}, such as known_block_size = array<i32: 128, 1, 1>, which says how many threads a block has"
        )));
    };
    let host = Builder::before(op);
    let mut operands = Vec::new();
    for extent in host.infer_all(cute::GET_SCALARS, &[launch.grid()], &[])? {
        operands.push(host.value(arith::INDEX_CAST, &[extent], host.index_type(), &[])?);
    }
    for _ in operands.len()..MODES {
        operands.push(host.constant(host.index_type(), 1)?);
    }
    for extent in threads {
        operands.push(host.constant(host.index_type(), extent)?);
    }
    let clusters = attribute_of(op, "clusters").and_then(i64s_of);
    let clustered = i32::from(clusters.is_some());
    for blocks in clusters.into_iter().flatten() {
        operands.push(host.constant(host.index_type(), blocks)?);
    }
    operands.push(host.i32(0)?);
    operands.extend(launch.args());
    let arguments = i32::try_from(launch.args().len()).unwrap_or(0);
    let segments = host.i32_array(&[
        0, 1, 1, 1, 1, 1, 1, clustered, clustered, clustered, 1, arguments, 0,
    ]);
    let attributes = [("kernel", path), ("operandSegmentSizes", segments)];
    host.op(gpu::LAUNCH_FUNC, &operands, &[], &attributes)?;
    rewriter.erase(op)
}

/// Checks the values that a launch gives by the types that the kernel takes.
fn check_arguments<'c>(
    launch: cute::Launch<'c>,
    kernel: Op<'c>,
    name: &str,
) -> Result<(), Failure> {
    let op = launch.op();
    let wrong = |message: String| {
        let here = (kernel.location(), "the kernel is here");
        let message = format!("'cute.launch' op {message}");
        Err(diag::error_with_notes(op.location(), message, &[here]))
    };
    let (takes, _) = signature_of(kernel).expected(kernel, "the type of a function")?;
    let given = launch.args();
    if given.len() != takes.len() {
        return wrong(format!(
            "expected {} arguments, as {name} takes, found {}",
            takes.len(),
            given.len()
        ));
    }
    for (i, (given, takes)) in given.iter().zip(takes).enumerate() {
        let given = given.r#type();
        if given != takes {
            return wrong(format!(
                "expected argument {i} of type {takes}, as {name} takes it, found {given}"
            ));
        }
    }
    Ok(())
}
