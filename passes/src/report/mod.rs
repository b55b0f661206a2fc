//! `cute-report`: what each copy, partition and kernel costs, told from the layouts alone.
//!
//! The IR is not changed. A copy of it is lowered as far as atoms on static views, by those passes of the pipeline that say where
//! data is ([`order`]); there each access has its address for every thread ([`walk`]), and from these come sectors and lines of
//! global memory and passes over the banks of shared memory ([`figures`]), by the rules that the emulator counts by. What is not
//! known is said to be so.

mod bulk;
mod bytes;
mod cure;
mod figures;
mod linear;
mod registers;
mod scalars;
mod summary;
mod table;
mod threads;
mod walk;

use crate::kernel::body_of_kernel;
use crate::launch::kernel_of;
pub use bulk::{Blocks, BoxOf, Copies, CopyKind, Described, Rows, described_part, of_atom};
use cute_ir::ops::{arith, cute, func, gpu};
pub use figures::{Global, Range, Shared};
pub use summary::{AccessReport, Sum};
pub use walk::Kind;

use crate::{allocate_shared, arch, lower_layouts, order, tile, values};
use cute_ir::{
    Anchor, Expected, Failure, PassSpec,
    attributes::DYNAMIC_SMEM,
    diag,
    mlir::*,
    mlir::{Place, place_of},
    options::Options,
    types::memref_of,
    types::{CuteType, Space},
};
use cute_layout::ops::Value;
use cute_target::{Arch, Features, Multiprocessor};
use melior::{
    diagnostic::DiagnosticSeverity,
    ir::{Location, ValueLike, operation::OperationLike},
};
use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
};
pub(crate) use threads::counted;

cute_ir::options! {
    /// Options of `cute-report`.
    pub struct ReportOptions {
        arch: Option<Arch> = None, "",
            "The architecture of kernels whose module has no #nvvm.target, from sm_75 to sm_121a; sm_90 where not given";
        json: Option<PathBuf> = None, "",
            "A file to write the report to, as JSON, instead of remarks and a table";
    }
}

/// The pass.
pub const PASS: PassSpec = PassSpec {
    name: "cute-report",
    description: "Tell what copies, partitions and kernels cost: remarks and a table, or JSON",
    anchor: Anchor::Module,
    options: ReportOptions::SPECS,
    run,
};

/// The architecture that is assumed where neither the option nor the IR names one.
const DEFAULT_ARCH: Arch = Arch {
    major: 9,
    minor: 0,
    features: Features::Baseline,
};

fn run<'c>(_: &'c Rewriter<'c>, module: Op<'c>, options: &[&str]) -> Result<(), Failure> {
    let wrong = |e| diag::of_option(module, format!("cute-report: {e}"));
    let ReportOptions { arch, json } = ReportOptions::of(options).map_err(wrong)?;
    let report = of_module(module, arch);
    let Some(file) = json else {
        for kernel in &report.kernels {
            for (location, line) in kernel.located() {
                diag::remark(location, line);
            }
        }
        eprint!("{}", table::text(&report));
        return Ok(());
    };
    let text = table::json(&report).to_string();
    std::fs::write(&file, text + "\n").map_err(|e| {
        wrong(format!(
            "cannot write {}: {e}; give json= a path in a folder that is there",
            file.display()
        ))
    })
}

/// The costs of a module's kernels.
pub struct Report<'c> {
    /// The kernels, in the order of the module.
    pub kernels: Vec<KernelReport<'c>>,
    /// Products of whole tensors that no kernel computes yet.
    pub untiled: usize,
}

/// The costs of one kernel.
pub struct KernelReport<'c> {
    /// The name of the kernel.
    pub name: String,
    /// The location of the kernel.
    pub location: Location<'c>,
    /// The architecture that it is reported on for.
    pub arch: Arch,
    /// Tells whether the architecture was assumed.
    pub assumed_arch: bool,
    /// Along x, y and z; nothing where neither the kernel nor a launch says it.
    pub block: Option<[i64; 3]>,
    /// Registers of a thread that fragments are live in at once, estimated; nothing where fragments are no values.
    pub registers: Option<i64>,
    /// Bytes of shared memory of a block; nothing where the tensors could not be placed.
    pub shared: Option<i64>,
    /// Each tensor in shared memory: its op in `ops`' order of places, its bytes and where it begins.
    pub parts: Vec<Part>,
    /// The ops that access memory, in the order of the kernel.
    pub ops: Vec<OpReport<'c>>,
    /// The place of what could not be found out, and the reason.
    pub unknown: Option<(Location<'c>, String)>,
}

/// A tensor in shared memory.
#[derive(Clone, Debug)]
pub struct Part {
    /// The place in the user's text; none where the IR says none.
    pub place: Option<Place>,
    /// The bytes of the tensor.
    pub bytes: i64,
    /// The offset in the block's shared memory, in bytes; none where it has not been placed.
    pub offset: Option<i64>,
}

/// The costs of one op.
pub struct OpReport<'c> {
    /// The location of the op.
    pub location: Location<'c>,
    /// The place in the user's text; none where the IR says none.
    pub place: Option<Place>,
    /// The name of the op.
    pub name: String,
    /// The text that it says of threads, line by line.
    pub lines: Vec<String>,
    /// The accesses that it makes, one for each kind of instruction.
    pub accesses: Vec<AccessReport>,
    /// The copies that it has TMA make.
    pub copies: Option<Copies>,
    /// The operands that a warpgroup reads by descriptors.
    pub described: Vec<Described>,
}

impl<'c> KernelReport<'c> {
    /// All that is said of the kernel, line by line, each with where it is said.
    pub fn located(&self) -> Vec<(Location<'c>, String)> {
        let mut all = vec![(self.location, self.summary())];
        if let Some((location, what)) = &self.unknown {
            all.push((
                *location,
                format!("what memory accesses cost is not known: {what}"),
            ));
        }
        for op in &self.ops {
            all.extend(op.lines.iter().map(|line| (op.location, line.clone())));
            let copies = op.copies.iter().flat_map(Copies::lines);
            let described = op.described.iter().map(Described::line);
            all.extend(copies.chain(described).map(|line| (op.location, line)));
            for access in &op.accesses {
                all.extend(access.lines().into_iter().map(|line| (op.location, line)));
            }
        }
        all
    }

    /// Threads, registers, shared memory and blocks of the kernel.
    pub fn summary(&self) -> String {
        let mut text = format!("kernel {}: ", self.name);
        text += &match self.block {
            Some([x, 1, 1]) => counted(x, "thread"),
            Some([x, y, z]) => format!("{} ({x},{y},{z})", counted(x * y * z, "thread")),
            None => {
                "a block of a size that is not known (write known_block_size; figures are those of a first warp along x)"
                    .to_owned()
            }
        };
        if let Some(registers) = self.registers {
            text += &format!(
                ", an estimated {registers} of {} registers a thread for live fragments",
                arch::REGISTERS_PER_THREAD
            );
        }
        let machine = self.machine();
        let assumed = if self.assumed_arch { ", assumed" } else { "" };
        match self.shared {
            Some(shared) => {
                text += &format!(
                    ", {shared} of {} bytes of shared memory a block ({}{assumed})",
                    machine.block_shared_memory, self.arch,
                );
                if let Some(blocks) = self.blocks() {
                    text += &format!(
                        ", {} a multiprocessor by shared memory and threads",
                        counted(i64::from(blocks), "block")
                    );
                }
            }
            None => {
                let sum: i64 = self.parts.iter().map(|part| part.bytes).sum();
                text += &format!(
                    ", {sum} of {} bytes of shared memory a block ({}{assumed}) if no two tensors share any",
                    machine.block_shared_memory, self.arch,
                );
            }
        }
        text
    }

    fn machine(&self) -> Multiprocessor {
        self.arch.multiprocessor()
    }

    /// Blocks that a multiprocessor has room for by shared memory, warps and their number; registers are ptxas' to say.
    pub fn blocks(&self) -> Option<u32> {
        let threads = self.block?.iter().product::<i64>();
        let shared = u64::try_from(self.shared?).ok()?;
        let found = self
            .machine()
            .occupancy(u32::try_from(threads).ok()?, 0, shared);
        Some(found.blocks)
    }
}

/// Reports the costs of a module's kernels. `arch` is theirs where the IR does not say it.
pub fn of_module<'c>(module: Op<'c>, arch: Option<Arch>) -> Report<'c> {
    // The passes are run by name.
    cute_ir::register(&crate::passes(), &[], &[]);
    let all = nested_ops(module);
    let kernels = kernels(module);
    let untiled = all
        .iter()
        .filter(|op| name_of(**op) == cute::CONTRACT)
        .count();
    let kernels = (0..kernels.len())
        .map(|i| of_kernel(module, &all, kernels[i], i, arch))
        .collect();
    Report { kernels, untiled }
}

/// Threads of a block, where the kernel or all that launch it say so.
fn block_of(module: &[Op<'_>], kernel: Op<'_>) -> Option<[i64; 3]> {
    if attribute_of(kernel, "known_block_size").is_some() {
        return cute_ir::block::block_size_of(kernel).filter(is_a_block);
    }
    let name = |op| string_of(op, "sym_name").unwrap_or_default();
    let home = parent_of(kernel, gpu::MODULE).map(name).unwrap_or_default();
    let path = [home, name(kernel)];
    let mut found = None;
    for op in module.iter().filter(|op| kernel_of(**op) == Some(path)) {
        let launch = gpu::LaunchFunc::of(*op)?;
        let constant = |value| {
            let constant = arith::Constant::of(defining_op(value)?)?;
            integer_value(constant.value()?)
        };
        let size = [
            constant(launch.block_size_x())?,
            constant(launch.block_size_y())?,
            constant(launch.block_size_z())?,
        ];
        if found.is_some_and(|other| other != size) {
            return None;
        }
        found = Some(size);
    }
    found.filter(is_a_block)
}

fn is_a_block(size: &[i64; 3]) -> bool {
    size.iter()
        .all(|n| (1..=arch::THREADS_PER_BLOCK).contains(n))
        && size.iter().product::<i64>() <= arch::THREADS_PER_BLOCK
}

/// The file of the locations that lead from the lowered copy to the ops that are reported on.
const TAG: &str = "cute-report";

fn tag(location: Location) -> Option<usize> {
    let place = place_of(location)?;
    (place.file == TAG).then(|| place.line as usize - 1)
}

fn of_kernel<'c>(
    module: Op<'c>,
    all: &[Op<'c>],
    kernel: Op<'c>,
    index: usize,
    wanted: Option<Arch>,
) -> KernelReport<'c> {
    let own = arch::of_kernel(kernel).ok();
    let arch = own.or(wanted).unwrap_or(DEFAULT_ARCH);
    let block = block_of(all, kernel);
    let mut report = KernelReport {
        name: string_of(kernel, "sym_name").unwrap_or_default().to_owned(),
        location: kernel.location(),
        arch,
        assumed_arch: own.is_none() && wanted.is_none(),
        block,
        registers: None,
        shared: None,
        parts: Vec::new(),
        ops: Vec::new(),
        unknown: None,
    };
    let context = context_of(module);
    let mut copy = OwnedCopy::of(module);
    copy.with(|_, module| {
        for (i, op) in nested_ops(module).into_iter().enumerate() {
            // Steps of the original stay, for what is derived of it.
            set_location(op, Location::new(context_of(module), TAG, i + 1, 1));
        }
    });
    let said = Arc::new(Mutex::new(None::<(Option<usize>, String)>));
    let sink = Arc::clone(&said);
    let handler = context.attach_diagnostic_handler(move |diagnostic| {
        if matches!(diagnostic.severity(), DiagnosticSeverity::Error) {
            let mut said = sink.lock().unwrap_or_else(PoisonError::into_inner);
            said.get_or_insert_with(|| (tag(diagnostic.location()), diagnostic.to_string()));
        }
        true
    });
    let lowered = diag::catch_panics(kernel.location(), PASS.name, || {
        copy.with(|rewriter, module| alone(rewriter, module, index, arch))?;
        let mut divisors = Vec::new();
        for pass in order::places() {
            if pass == lower_layouts::PASS.name {
                divisors = copy.with(|_, module| Ok(divisors_of(body_of_copy(module)?)))?;
            }
            copy.run_pipeline(pass).map_err(|wrong| {
                let said = wrong.unwrap_or_else(|| format!("{pass} fails"));
                diag::error(kernel.location(), said)
            })?;
            copy.with(|_, module| look(pass, module, &mut report))?;
        }
        copy.with(|_, module| follow(module, &report, divisors))
    });
    context.detach_diagnostic_handler(handler);
    let walked = match lowered {
        Ok(walked) => Some(walked),
        Err(_) => {
            let said = said.lock().unwrap_or_else(PoisonError::into_inner).take();
            let (at, text) = said.unwrap_or((None, "the kernel cannot be lowered".to_owned()));
            let at = at
                .and_then(|at| all.get(at))
                .map_or(kernel.location(), |op| op.location());
            report.unknown = Some((at, text));
            None
        }
    };
    let accesses = walked
        .map(|walked| summary::of(&walked, all))
        .unwrap_or_default();
    finish(&mut report, all, kernel, accesses);
    report
}

/// Lines and accesses of every op of a kernel, in their order.
fn finish<'c>(
    report: &mut KernelReport<'c>,
    all: &[Op<'c>],
    kernel: Op<'c>,
    mut accesses: BTreeMap<usize, Vec<AccessReport>>,
) {
    let places: Vec<Option<i64>> = std::mem::take(&mut report.parts)
        .into_iter()
        .map(|part| part.offset)
        .collect();
    let mut placed = places.into_iter();
    for (i, op) in all.iter().enumerate() {
        if parent_of(*op, gpu::FUNC).map(op_key) != Some(op_key(kernel)) {
            continue;
        }
        let mut lines = threads::lines(*op).unwrap_or_default();
        if let Some(memref) = shared_tensor(*op) {
            let offset = placed.next().flatten();
            let bytes = memref.bytes().unwrap_or(0);
            if let (Some(offset), Some(line)) = (offset, lines.first_mut()) {
                *line += &format!(", from byte {offset} of the block's");
            }
            report.parts.push(Part {
                place: place_of(op.location()),
                bytes,
                offset,
            });
        }
        let accesses = accesses.remove(&i).unwrap_or_default();
        let (copies, described) = (bulk::copies(*op), bulk::described(*op));
        let says = !lines.is_empty() || !accesses.is_empty();
        if says || copies.is_some() || !described.is_empty() {
            report.ops.push(OpReport {
                location: op.location(),
                place: place_of(op.location()),
                name: name_of(*op).to_owned(),
                lines,
                accesses,
                copies,
                described,
            });
        }
    }
}

fn shared_tensor<'c>(op: Op<'c>) -> Option<cute_ir::types::MemRef<'c>> {
    memref_of(cute::MemrefAlloca::of(op)?.result()).filter(|memref| memref.space == Space::Smem)
}

/// The accesses of a kernel, and the ops of the module that they are of.
struct Walked {
    symbols: linear::Symbols,
    accesses: Vec<walk::Access>,
    /// The number of the op that a lowered one is of, by [`walk::key_of`].
    of: BTreeMap<OpKey, usize>,
}

/// Leaves kernel `index` of a copy, with what its passes need, and erases the others: what is not asked about must not fail either.
fn alone<'c>(
    rewriter: &'c Rewriter<'c>,
    module: Op<'c>,
    index: usize,
    arch: Arch,
) -> Result<(), Failure> {
    for (i, kernel) in kernels(module).into_iter().enumerate() {
        if i != index {
            rewriter.erase(kernel)?;
        }
    }
    for op in ops_of(body_of(module, 0).expected(module, "a body")?) {
        if name_of(op) == func::FUNC {
            rewriter.erase(op)?;
        } else if name_of(op) == gpu::MODULE && attribute_of(op, "targets").is_none() {
            let targets = Builder::before(op).attribute(&tile::targets_of(&arch.into()))?;
            set_attribute(op, "targets", targets);
        }
    }
    Ok(())
}

/// The body of the kernel that a copy is left with.
fn body_of_copy<'c>(module: Op<'c>) -> Result<Blk<'c>, Failure> {
    let kernels = kernels(module);
    let kernel = kernels.first().expected(module, "the kernel in the copy")?;
    body_of_kernel(*kernel)
}

/// Notes what a pass has settled.
fn look(pass: &str, module: Op<'_>, report: &mut KernelReport<'_>) -> Result<(), Failure> {
    let body = body_of_copy(module)?;
    if pass == values::PASS.name {
        report.registers = Some(registers::live(body));
    } else if pass == allocate_shared::PASS.name {
        let kernel = owner_of(body).expected(module, "a kernel around its body")?;
        report.shared = integer_of(kernel, DYNAMIC_SMEM);
        for op in nested_ops(kernel) {
            if shared_tensor(op).is_some() {
                report.parts.push(Part {
                    place: None,
                    bytes: 0,
                    offset: integer_of(op, "offset"),
                });
            }
        }
    }
    Ok(())
}

/// Follows the addresses of the kernel in a copy whose layouts are integers.
fn follow(
    module: Op<'_>,
    report: &KernelReport<'_>,
    divisors: Vec<i64>,
) -> Result<Walked, Failure> {
    let body = body_of_copy(module)?;
    let divisors = if divisors.len() == walk::arguments(body) {
        divisors
    } else {
        Vec::new()
    };
    let walk = walk::Walk::of(
        report.arch,
        report.block.unwrap_or([32, 1, 1]),
        body,
        &divisors,
    );
    let of = nested_ops(module)
        .into_iter()
        .filter_map(|op| Some((walk::key_of(op), tag(op.location())?)))
        .collect();
    Ok(Walked {
        symbols: walk.scalars.symbols,
        accesses: walk.accesses,
        of,
    })
}

/// The divisors of the integers that a kernel is given once dynamic layouts are their leaves.
fn divisors_of(body: Blk<'_>) -> Vec<i64> {
    let mut all = Vec::new();
    for i in 0..walk::arguments(body) {
        let ty = argument(body, i).r#type();
        let leaves = |value: &Value| -> Vec<i64> {
            value.dynamic_leaves().iter().map(|leaf| leaf.div).collect()
        };
        match CuteType::of(ty) {
            Some(CuteType::MemRef(memref)) => {
                all.push(1);
                all.extend(leaves(&Value::Layout(memref.layout)));
            }
            Some(CuteType::CoordTensor { start, layout }) => {
                all.extend(leaves(&Value::IntTuple(start)));
                all.extend(leaves(&Value::Layout(layout)));
            }
            Some(CuteType::ArithTupleIter(start)) => all.extend(leaves(&Value::IntTuple(start))),
            Some(ty) if ty.value().is_some() => {
                all.extend(ty.value().iter().flat_map(leaves));
            }
            _ => all.push(1),
        }
    }
    all
}
