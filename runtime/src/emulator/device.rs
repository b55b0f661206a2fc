//! The emulator as a [`Device`].

use serde::{Deserialize, Serialize};

use super::address;
use super::decode;
use super::exec::Launch as Running;
use super::finding::{Finding, Kind};
use super::global::{Buffer, Global};
use super::launch;
use super::memory;
use super::program::Kernel;
use super::report::Report;
use super::steer::Schedule;
use crate::device::{Device, DeviceError, DeviceInfo, DeviceKind, Program, Stopwatch};
use crate::package::{Access, Arg, Compute, Function, Image, Launch, Limits, Package, Param};
use crate::plan::{self, Planned, Value, plan, workspace_bytes};
use crate::ptx;
use crate::tensor::{HostTensor, Matrix};
use crate::tensor_map::TensorMap;
use cute_target::{Arch, Features};
use std::collections::HashSet;

/// The settings of an emulation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Config {
    /// Decides the order of warps and when copies land.
    pub seed: u64,
    /// Instructions that the warps of one block may execute together, before the run is stopped.
    pub max_instructions: u64,
    /// The architecture whose code runs, such as `sm_80`; the newest that the package has PTX for if
    /// none.
    pub arch: Option<String>,
    /// Multiprocessors of the GPU that is emulated, which launches may ask for; those of a GPU of the architecture
    /// ([`Arch::multiprocessors`]) if none. Findings and results depend on it as launches do, and time does not.
    pub sms: Option<u32>,
    /// Ends a launch behind the first block that something is found in, in the order of their numbers, where it is set: sooner, but what is wrong
    /// in others is not told, and results are not whole. Where blocks may wait for each other, all of them run.
    pub stop_at_findings: bool,
    /// The order of warps, and of blocks that may see each other, in place of one that the seed draws; when copies land is the seed's. In
    /// sessions alone: see [`Exploration`](super::Exploration).
    #[serde(default)]
    pub schedule: Option<Schedule>,
    /// Blocks of each launch, the first ones, of whose warps a timeline is kept. In sessions alone: see
    /// [`Session::timelines`](super::Session::timelines).
    #[serde(default)]
    pub timeline: u32,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            seed: 0,
            max_instructions: 100_000_000,
            arch: None,
            sms: None,
            stop_at_findings: false,
            schedule: None,
            timeline: 0,
        }
    }
}

/// A GPU on the CPU.
pub struct Emulator {
    info: DeviceInfo,
    config: Config,
}

/// Threads along each extent of a block, and blocks along each of a grid, at most.
const MAX_BLOCK: [u32; 3] = [1024, 1024, 64];
const MAX_GRID: [u32; 3] = [(1 << 31) - 1, 65535, 65535];

/// Threads of a block, at most.
const MAX_THREADS: u64 = cute_target::THREADS_PER_BLOCK as u64;

/// Blocks of a grid, at most: their numbers share a word with a thread and a time.
const MAX_BLOCKS: u128 = 1 << 25;
/// Blocks of a cluster, the sizes that are not portable included (CUDA programming guide, "Thread Block Clusters").
const MAX_CLUSTER: u64 = 16;
/// Threads of a cluster whose order the emulator follows: with the clocks of what is asynchronous, fewer than 2^13.
const MAX_CLUSTER_THREADS: u64 = 2560;

/// Bytes of a workspace, at most: what is known of each byte takes many times as much.
const MAX_WORKSPACE: u64 = 1 << 30;

/// Cores of this machine.
pub(super) fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

impl Emulator {
    /// An emulator that runs kernels as `config` says.
    pub fn new(config: Config) -> Emulator {
        Emulator {
            info: DeviceInfo {
                kind: DeviceKind::Emulator,
                name: "emulator".into(),
                compute_capability: (9, 0),
                memory: 0,
                l2: 0,
                multiprocessors: cores() as u32,
                max_smem: Arch {
                    major: 9,
                    minor: 0,
                    features: Features::Baseline,
                }
                .max_smem(),
                driver: 0,
            },
            config,
        }
    }
}

impl Device for Emulator {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn load<'d>(
        &'d self,
        package: &Package,
        function: &Function,
    ) -> Result<Box<dyn Program + 'd>, DeviceError> {
        let config = self.config.clone();
        Ok(Box::new(Loaded {
            emulated: Emulated::load(package, function, config)?,
            report: None,
            workspace: Vec::new(),
        }))
    }
}

pub(super) fn unsupported(
    place: String,
    expected: impl Into<String>,
    found: impl Into<String>,
    cure: &'static str,
) -> DeviceError {
    DeviceError::Unsupported {
        place,
        expected: expected.into(),
        found: found.into(),
        cure,
    }
}

fn no_ptx(package: &Package) -> DeviceError {
    let has: Vec<&str> = package
        .manifest()
        .images
        .iter()
        .map(|image| image.arch.as_str())
        .collect();
    unsupported(
        "the package".into(),
        "PTX, which is what the emulator executes",
        if has.is_empty() {
            "no code".to_string()
        } else {
            format!("only cubins, for {}", has.join(", "))
        },
        "compile it again with cute-opt, which puts PTX into packages",
    )
}

/// The image to run.
fn choose<'p>(
    package: &'p Package,
    wanted: Option<&str>,
) -> Result<(&'p Image, Arch), DeviceError> {
    let images = package
        .manifest()
        .images
        .iter()
        .filter(|image| image.ptx.is_some());
    // Packages are valid, so every architecture can be read.
    let images = images.filter_map(|image| Some((image, image.arch.parse::<Arch>().ok()?)));
    match wanted {
        None => images.max_by_key(|(_, arch)| (arch.major, arch.minor)),
        Some(wanted) => {
            let found: Vec<_> = images.collect();
            let names: Vec<&str> = found.iter().map(|(image, _)| image.arch.as_str()).collect();
            let names = names.join(", ");
            match found.into_iter().find(|(image, _)| image.arch == wanted) {
                Some(found) => Some(found),
                None if names.is_empty() => None,
                None => {
                    return Err(unsupported(
                        "the package".into(),
                        format!("PTX for {wanted}"),
                        format!("PTX for {names}"),
                        "choose one that it has, or compile for it",
                    ));
                }
            }
        }
    }
    .ok_or_else(|| no_ptx(package))
}

/// Checks what a launch asks for, before anything runs.
pub(super) fn check_launch(
    launch: &Planned,
    kernel: &Kernel,
    arch: Arch,
) -> Result<(), DeviceError> {
    let place = || format!("launch of {}", launch.kernel);
    let threads: u64 = launch.block.iter().map(|&n| u64::from(n)).product();
    let most = kernel.max_threads.unwrap_or(MAX_THREADS).min(MAX_THREADS);
    if threads == 0 || threads > most {
        return Err(unsupported(
            place(),
            format!("1 to {most} threads in a block"),
            threads.to_string(),
            "launch it with the block that it was compiled for",
        ));
    }
    check_extents(launch, kernel)?;
    if launch.grid.contains(&0)
        || launch.grid.iter().map(|&n| u128::from(n)).product::<u128>() > MAX_BLOCKS
    {
        return Err(unsupported(
            place(),
            "a grid of 1 to 2^25 blocks",
            format!("{:?}", launch.grid),
            "emulate a smaller problem",
        ));
    }
    check_cluster(launch, kernel, threads, arch)?;
    // What is asked for counts, whether or not the kernel names it.
    let asked = kernel.shared_bytes(0) + u64::from(launch.dynamic_smem);
    let have = kernel.shared_bytes(launch.dynamic_smem).max(asked);
    if have > u64::from(arch.max_smem()) {
        return Err(unsupported(
            place(),
            format!(
                "at most {} bytes of shared memory in a block of {arch}",
                arch.max_smem()
            ),
            have.to_string(),
            "choose smaller tiles or fewer stages",
        ));
    }
    Ok(())
}

/// Checks the extents of blocks and of the grid (CUDA C++ Programming Guide, "Technical Specifications per Compute Capability"), and those
/// that the kernel requires.
fn check_extents(launch: &Planned, kernel: &Kernel) -> Result<(), DeviceError> {
    let place = || format!("launch of {}", launch.kernel);
    if let Some(required) = kernel.required_block.filter(|block| *block != launch.block) {
        return Err(unsupported(
            place(),
            format!("a block of {required:?} threads, as the kernel requires (.reqntid)"),
            format!("{:?}", launch.block),
            "launch it with the block that it was compiled for",
        ));
    }
    for (what, extents, most) in [
        ("a block", launch.block, MAX_BLOCK),
        ("a grid", launch.grid, MAX_GRID),
    ] {
        if let Some(d) = (0..3).find(|&d| extents[d] > most[d]) {
            let (name, most) = (["x", "y", "z"][d], most[d]);
            return Err(unsupported(
                place(),
                format!("{what} of at most {most} along {name}, as no GPU takes more"),
                extents[d].to_string(),
                "spread it over other dimensions, or loop in the kernel",
            ));
        }
    }
    Ok(())
}

/// The blocks of a cluster: those that the launch asks for, or those that the kernel was compiled for.
pub(super) fn cluster_of(launch: &Planned, kernel: &Kernel) -> [u32; 3] {
    match kernel.cluster {
        Some(cluster) if launch.cluster == [1; 3] => cluster,
        _ => launch.cluster,
    }
}

/// Checks the clusters of a launch with blocks of so many threads.
fn check_cluster(
    launch: &Planned,
    kernel: &Kernel,
    threads: u64,
    arch: Arch,
) -> Result<(), DeviceError> {
    let cluster = cluster_of(launch, kernel);
    let place = || format!("launch of {}", launch.kernel);
    if cluster != [1; 3] && arch.major < 9 {
        return Err(unsupported(
            place(),
            format!("no clusters, which {arch} does not have"),
            format!("{cluster:?}"),
            "compile it for sm_90 or later, or launch it without clusters",
        ));
    }
    if let Some(compiled) = kernel.cluster.filter(|compiled| *compiled != cluster) {
        return Err(unsupported(
            place(),
            format!("clusters of {compiled:?} blocks, as the kernel says"),
            format!("{cluster:?}"),
            "launch it with the clusters that it was compiled for",
        ));
    }
    let blocks: u64 = cluster.iter().map(|&n| u64::from(n)).product();
    let fits = |d: usize| cluster[d] != 0 && launch.grid[d].is_multiple_of(cluster[d]);
    if !(1..=MAX_CLUSTER).contains(&blocks) || !(0..3).all(fits) {
        return Err(unsupported(
            place(),
            format!(
                "clusters of 1 to {MAX_CLUSTER} blocks that divide the grid {:?}",
                launch.grid
            ),
            format!("{cluster:?}"),
            "choose a grid of whole clusters",
        ));
    }
    if blocks * threads.next_multiple_of(32) > MAX_CLUSTER_THREADS && blocks > 1 {
        return Err(unsupported(
            place(),
            format!(
                "at most {MAX_CLUSTER_THREADS} threads in a cluster, as many as the emulator follows"
            ),
            format!("{blocks} blocks of {threads}"),
            "emulate a kernel with smaller clusters",
        ));
    }
    Ok(())
}

/// Checks that the kernel takes what the launch passes.
fn check_params(function: &Function, launch: &Launch, kernel: &Kernel) -> Result<(), DeviceError> {
    let bytes = |param: &Param| param.bytes(function).unwrap_or(0) as u64;
    let passed: Vec<u64> = launch.params.iter().map(bytes).collect();
    if kernel
        .params
        .iter()
        .map(|(_, _, bytes)| *bytes)
        .eq(passed.iter().copied())
    {
        return Ok(());
    }
    let expected = if passed.iter().all(|bytes| *bytes == 8) {
        format!(
            "{} parameters of 8 bytes, the pointers that the launch passes",
            passed.len()
        )
    } else {
        format!("parameters of {passed:?} bytes, which the launch passes")
    };
    Err(unsupported(
        format!("launch of {}", launch.kernel),
        expected,
        format!(
            "{:?}",
            kernel
                .params
                .iter()
                .map(|(name, _, bytes)| format!("{name}: {bytes} bytes"))
                .collect::<Vec<_>>()
        ),
        "compile the package again",
    ))
}

/// A function whose kernels are decoded.
pub(crate) struct Emulated {
    config: Config,
    function: Function,
    /// One for each launch.
    kernels: Vec<Kernel>,
    /// Registers of a thread for each launch, 0 if not known.
    registers: Vec<u32>,
    arch: Arch,
    code: String,
}

/// A function of the emulator's as a program, and what its last run told.
struct Loaded {
    emulated: Emulated,
    report: Option<Report>,
    workspace: Vec<u8>,
}

impl Program for Loaded {
    fn code(&self) -> &str {
        self.emulated.code_name()
    }

    fn note(&self) -> Option<&str> {
        None
    }

    fn run(&mut self, tensors: &mut [HostTensor]) -> Result<(), DeviceError> {
        self.workspace.clear();
        let workspace = &mut self.workspace;
        let (result, report) = self.emulated.execute_into(tensors, workspace);
        if report.is_some() {
            self.report = report;
        }
        result
    }

    fn stopwatch<'p>(
        &'p mut self,
        _: &[HostTensor],
    ) -> Result<Box<dyn Stopwatch + 'p>, DeviceError> {
        Err(DeviceError::NoClock("the emulator".into()))
    }

    fn report(&self) -> Option<&Report> {
        self.report.as_ref()
    }

    fn workspace(&self) -> &[u8] {
        &self.workspace
    }

    fn multiprocessors(&self) -> u32 {
        self.emulated.multiprocessors()
    }
}

impl Emulated {
    /// Decodes the kernels of the image that `config` asks for.
    ///
    /// # Errors
    /// [`DeviceError`] if there is none, if it cannot be read, or if a launch asks for more than its architecture has.
    pub(crate) fn load(
        package: &Package,
        function: &Function,
        config: Config,
    ) -> Result<Emulated, DeviceError> {
        let (image, arch) = choose(package, config.arch.as_deref())?;
        let Some(blob) = &image.ptx else {
            return Err(no_ptx(package));
        };
        let text = std::str::from_utf8(package.blob(blob)).map_err(|error| {
            unsupported(
                format!("the PTX for {arch}"),
                "UTF-8",
                error.to_string(),
                "compile the package again",
            )
        })?;
        let module = ptx::parse(text).map_err(|error| DeviceError::Ptx {
            arch: arch.to_string(),
            message: error.to_string(),
        })?;
        let mut kernels = Vec::new();
        let mut registers = Vec::new();
        for (index, launch) in function.launches.iter().enumerate() {
            let kernel =
                decode::kernel(&module, 0, &launch.kernel).map_err(|error| DeviceError::Ptx {
                    arch: arch.to_string(),
                    message: error.to_string(),
                })?;
            check_params(function, launch, &kernel)?;
            if let Some(launch) = Planned::fixed(function, index) {
                check_launch(&launch, &kernel, arch)?;
            }
            let info = image.kernels.iter().find(|info| info.name == launch.kernel);
            registers.push(info.map_or(0, |info| info.registers));
            kernels.push(kernel);
        }
        Ok(Emulated {
            code: format!("{arch} PTX"),
            config,
            function: function.clone(),
            kernels,
            arch,
            registers,
        })
    }

    /// The code that runs, such as `sm_90a PTX`.
    pub(crate) fn code_name(&self) -> &str {
        &self.code
    }

    /// Multiprocessors of the GPU that is emulated.
    pub(crate) fn multiprocessors(&self) -> u32 {
        self.config.sms.unwrap_or(self.arch.multiprocessors())
    }

    /// Runs the launches in order. What was found is an error, and in the report, which there is if anything ran.
    pub(crate) fn execute_once(
        &self,
        tensors: &mut [HostTensor],
    ) -> (Result<(), DeviceError>, Option<Report>) {
        self.execute_into(tensors, &mut Vec::new())
    }

    /// Does as [`Emulated::execute_once`], and leaves what is in the workspace then, of a function with views.
    fn execute_into(
        &self,
        tensors: &mut [HostTensor],
        workspace: &mut Vec<u8>,
    ) -> (Result<(), DeviceError>, Option<Report>) {
        match self.run_all(tensors, workspace) {
            Err(error) => (Err(error), None),
            Ok(report) if report.findings.is_empty() => (Ok(()), Some(report)),
            Ok(report) => {
                let error = DeviceError::Findings(report.findings.clone());
                (Err(error), Some(report))
            }
        }
    }

    fn run_all(
        &self,
        tensors: &mut [HostTensor],
        left: &mut Vec<u8>,
    ) -> Result<Report, DeviceError> {
        let sms = self.multiprocessors();
        let launches = plan(&self.function, tensors, sms)?;
        for launch in &launches {
            check_launch(launch, &self.kernels[launch.launch], self.arch)?;
        }
        let workspace = workspace_bytes(&self.function, tensors, sms)?;
        if workspace > MAX_WORKSPACE {
            return Err(unsupported(
                format!("the workspace of {}", self.function.name),
                format!("at most {MAX_WORKSPACE} bytes"),
                workspace.to_string(),
                "emulate a smaller problem",
            ));
        }
        let cores = cores();
        let (mut report, mut global) = self.execute(&launches, tensors, workspace, cores);
        // Which of two blocks comes second, and is told, is chance where several run at a time. Blocks that run in their order tell
        // the same in every run.
        if report
            .findings
            .iter()
            .any(|finding| finding.kind.is_between_blocks())
            && cores > 1
        {
            let again = self.execute(&launches, tensors, workspace, 1);
            if !again.0.findings.is_empty() {
                (report, global) = again;
            }
        }
        if let (Some(buffer), false) = (
            global.tensors.get(self.function.args.len()),
            self.function.views.is_empty(),
        ) {
            *left = buffer.contents();
        }
        for ((arg, buffer), tensor) in self.function.args.iter().zip(&global.tensors).zip(tensors) {
            if arg.access().writes() {
                tensor.bytes_mut().copy_from_slice(&buffer.contents());
            }
        }
        Ok(report)
    }

    /// Runs the launches on so many cores; returns what was found, and memory as they left it.
    fn execute(
        &self,
        launches: &[Planned],
        tensors: &[HostTensor],
        workspace: u64,
        cores: usize,
    ) -> (Report, Global) {
        let args = &self.function.args;
        let named = args.iter().zip(tensors.iter()).enumerate();
        let placed = named.map(|(index, (arg, tensor))| memory::tensor(index, arg, tensor));
        let mut global = Global::new(placed.collect());
        let mut workspace_at = 0;
        if self.function.workspace.is_some() {
            // The window behind those of the arguments.
            workspace_at = address::tensor(args.len(), Limits::ALIGN);
            global
                .tensors
                .push(memory::workspace(workspace_at, workspace));
        }
        let mut report = Report::default();
        for launch in launches {
            // One was loaded for each launch of the function.
            let kernel = &self.kernels[launch.launch];
            let registers = self.registers[launch.launch];
            memory::declare(&mut global, kernel);
            global.start_launch(kernel.global_granule, cores == 1);
            let mut params = vec![0; kernel.param_bytes as usize];
            for ((_, offset, _), value) in kernel.params.iter().zip(&launch.params) {
                let bytes = match value {
                    Value::Pointer(arg) => global.tensors[*arg].base.to_le_bytes().to_vec(),
                    Value::Byte(arg, offset) => {
                        (global.tensors[*arg].base + offset).to_le_bytes().to_vec()
                    }
                    Value::Bytes(bytes) => bytes.clone(),
                    Value::Workspace(offset) => (workspace_at + offset).to_le_bytes().to_vec(),
                    Value::TensorMap(start, map) => {
                        let base = |arg: usize| global.tensors[arg].base;
                        let map = TensorMap {
                            address: start.argument.map_or(workspace_at, base) + start.offset,
                            ..map.clone()
                        };
                        // It was checked when it was planned, and tensors begin at whole granules.
                        map.to_emulated()
                            .map_or_else(|_| Vec::new(), |bytes| bytes.to_vec())
                    }
                };
                params[*offset as usize..][..bytes.len()].copy_from_slice(&bytes);
            }
            let outcome = launch::run(&Running {
                kernel,
                global: &global,
                params: &params,
                grid: launch.grid,
                block: launch.block,
                cluster: cluster_of(launch, kernel),
                dynamic_smem: launch.dynamic_smem,
                arch: self.arch,
                registers,
                seed: self.config.seed,
                limit: self.config.max_instructions,
                stop_at_findings: self.config.stop_at_findings,
                cores,
                steering: None,
                watched: 0,
            });
            report.launches.push(outcome.report);
            report.findings.extend(outcome.findings);
            report.printed.push_str(&outcome.printed);
            if outcome.halted {
                report.halted = true;
                break;
            }
        }
        for (index, ((arg, buffer), tensor)) in
            args.iter().zip(&global.tensors).zip(tensors).enumerate()
        {
            if arg.access() == Access::Write && !report.halted {
                let parts = written_at(&self.function, index, tensors, self.multiprocessors());
                report.findings.extend(self.never_written(
                    launches,
                    arg,
                    buffer,
                    tensor,
                    parts.as_ref(),
                ));
            }
        }
        (report, global)
    }

    fn never_written(
        &self,
        launches: &[Planned],
        arg: &Arg,
        buffer: &Buffer,
        tensor: &HostTensor,
        parts: Option<&HashSet<i64>>,
    ) -> Option<Finding> {
        let size = tensor.element().size() as u64;
        let layout = tensor.layout();
        if buffer.all_initialized(0, layout.cosize() as u64 * size) {
            return None;
        }
        let missing = |index: &i64| {
            let offset = layout.at(*index);
            let at = offset as u64 * size;
            parts.is_none_or(|parts| parts.contains(&offset))
                && !(0..size).all(|byte| buffer.initialized(at + byte, 1))
        };
        let mut all = (0..layout.size()).filter(missing);
        let first = all.next()?;
        let count = 1 + all.count() as u64;
        // If nothing was launched, something should have been.
        let names: Vec<&str> = match launches {
            [] => self
                .function
                .launches
                .iter()
                .map(|l| l.kernel.as_str())
                .collect(),
            launches => launches.iter().map(|l| l.kernel.as_str()).collect(),
        };
        Some(Finding {
            kind: Kind::NeverWritten,
            kernel: names.join(", "),
            site: None,
            other: None,
            thread: None,
            address: Some(format!(
                "{} at element {}",
                arg.name(),
                memory::coordinate(layout, first)
            )),
            message: format!(
                "expected every element of {} to be written, found {count} of {} that are not; check the grid and the tiles against its shape",
                arg.name(),
                layout.size()
            ),
            gap: None,
            count,
            follow: 0,
            shown_by: None,
        })
    }
}

/// The offsets of the elements of an argument that products write at coordinates of it, or in groups of rows; none where something writes all of it.
fn written_at(
    function: &Function,
    arg: usize,
    tensors: &[HostTensor],
    sms: u32,
) -> Option<HashSet<i64>> {
    let mut all = None;
    let known = plan::known(function, tensors, Some(sms)).ok()?;
    for compute in &function.computes {
        let condition = compute.condition().map(|holds| holds.evaluate(&known));
        if condition == Some(Ok(0)) {
            continue;
        }
        if compute.outputs().iter().all(|output| output.arg != arg) {
            continue;
        }
        let Compute::Gemm(gemm) = compute.unconditional() else {
            return None;
        };
        let all = all.get_or_insert_with(HashSet::new);
        let tensor = tensors.get(arg)?;
        if let Some(ends) = gemm.groups {
            // Ends ascend, and rows behind the last one are nobody's.
            let ends = tensors.get(ends)?;
            let last = ends.get(ends.layout().size() - 1).unwrap_or(0.0);
            let matrix = Matrix::of_batch(tensor, 0)?;
            all.extend(matrix.rows_between([0, last as usize]).offsets());
            continue;
        }
        let at = gemm.at_c.as_deref().filter(|_| gemm.c == arg)?;
        let known = at.known(&known, tensor.layout().rank().max(1)).ok()?;
        let products = known.modes.get(2).map_or(1, Vec::len);
        for product in 0..products {
            all.extend(Matrix::at_coordinates(tensor, &known, product)?.offsets());
        }
    }
    all
}
