//! Compiling as far as PTX, which is what the emulator executes, and executing that.

// Each test uses a part of it, and some of it is read in messages only.
#![allow(dead_code)]

use cute_ir::mlir::{context_of, parse_module};
use cute_lowering::{CompileOptions, from_module};
use cute_runtime::{
    Function, Package,
    device::{Device, DeviceError},
    emulator::{Config, Emulator, Finding, Report},
    tensor::{self, Given, HostTensor},
    verify::{self, Data, Memory},
};
use melior::{
    Context, diagnostic::DiagnosticSeverity, ir::Module, pass::PassManager,
    utility::parse_pass_pipeline,
};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

/// The allocator of everything in a program of tests, MLIR and LLVM with it, as the released compiler has it: the system's takes a tenth of such a test.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// C = A B^T on f16, accumulated in f32.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gemm {
    /// M, N and K.
    pub extents: [i64; 3],
    /// Elements between the end of a row of A, B and C and the start of the next.
    pub gaps: [i64; 3],
}

impl Gemm {
    /// The product as text for the compiler.
    pub fn source(&self) -> String {
        let [m, n, k] = self.extents;
        let tensor = |rows: i64, columns: i64, gap: i64| {
            format!(
                "!cute.memref<f16, gmem, align<16>, \"({rows},{columns}):({},1)\">",
                columns + gap
            )
        };
        let [a, b, c] = self.gaps;
        let (a, b, c) = (tensor(m, k, a), tensor(n, k, b), tensor(m, n, c));
        format!(
            "func.func @gemm(%A: {a}, %B: {b}, %C: {c}) {{\n  \
             cute.contract ins(%A, %B : {a}, {b}) outs(%C : {c}) accumulate f32\n  return\n}}\n"
        )
    }
}

/// The root of the repository.
pub fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The passes of `--cute-compile` with these options, but for the assembler.
pub fn passes(options: &CompileOptions) -> Result<String, String> {
    let text = options.pipeline()?;
    let passes = text
        .strip_prefix("builtin.module(")
        .and_then(|text| text.strip_suffix(')'));
    let passes = passes.ok_or_else(|| format!("expected a pipeline on modules, found {text}"))?;
    // It is the last of them, as no package is written.
    let (passes, _) = passes
        .split_once(",cute-assemble")
        .ok_or("expected cute-assemble")?;
    Ok(passes.to_owned())
}

/// Runs passes; what was said against it otherwise.
pub fn run_passes(module: &mut Module, passes: &str, verified: bool) -> Result<(), String> {
    cute_lowering::initialize();
    let context = context_of(module.as_operation());
    said(context, || {
        let manager = PassManager::new(context);
        manager.enable_verifier(verified);
        parse_pass_pipeline(
            manager.as_operation_pass_manager(),
            &format!("builtin.module({passes})"),
        )
        .map_err(|error| error.to_string())?;
        manager.run(module).map_err(|error| error.to_string())
    })
}

/// Calls `work`; where it fails, with the errors that MLIR said instead of printing them.
pub fn said<T>(context: &Context, work: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    let said = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&said);
    let handler = context.attach_diagnostic_handler(move |diagnostic| {
        if matches!(diagnostic.severity(), DiagnosticSeverity::Error) {
            let mut said = sink.lock().unwrap_or_else(PoisonError::into_inner);
            said.push(diagnostic.to_string());
        }
        true
    });
    let result = work();
    context.detach_diagnostic_handler(handler);
    result.map_err(|error| {
        let said = said.lock().unwrap_or_else(PoisonError::into_inner);
        if said.is_empty() {
            error
        } else {
            said.join("\n")
        }
    })
}

/// The package of a compiled module.
pub fn package_of(module: &Module) -> Result<Package, String> {
    let op = module.as_operation();
    said(context_of(op), || {
        from_module(op).map_err(|_| "no package can be made of the module".to_owned())
    })
}

/// Compiles a text to a package of PTX.
pub fn compile(context: &Context, text: &str, options: &CompileOptions) -> Result<Package, String> {
    let mut module = said(context, || {
        parse_module(context, "source", text).ok_or_else(|| "the text cannot be read".to_owned())
    })?;
    run_passes(&mut module, &passes(options)?, true)?;
    package_of(&module)
}

/// The outcome of running a function.
#[derive(Debug)]
pub enum Outcome {
    /// No finding, and the result that the function promises.
    Right {
        report: Box<Report>,
    },
    Findings(Vec<Finding>),
    /// No finding, and another result.
    Wrong(String),
    /// It could not be run.
    Refused(String),
}

impl Outcome {
    pub fn is_right(&self) -> bool {
        matches!(self, Outcome::Right { .. })
    }
}

/// Instructions of a block after which a run is stopped. A right one takes a hundredth.
const MOST_INSTRUCTIONS: u64 = 1_000_000;

/// Runs a function on data of this seed, in the order that the seed decides, and verifies the result.
pub fn run(package: &Package, function: &Function, seed: u64) -> Outcome {
    run_given(package, function, &[], seed)
}

/// Runs a function as [`run`] does, with what the package leaves open.
pub fn run_given(package: &Package, function: &Function, given: &[Given], seed: u64) -> Outcome {
    match generated(function, given, seed) {
        Ok(before) => run_on(package, function, &before, config(seed)),
        Err(error) => Outcome::Refused(error),
    }
}

/// The settings of a run with this seed.
pub fn config(seed: u64) -> Config {
    Config {
        seed,
        max_instructions: MOST_INSTRUCTIONS,
        ..Config::default()
    }
}

/// The arguments of a run with this seed, with what the package leaves open.
pub fn generated(
    function: &Function,
    given: &[Given],
    seed: u64,
) -> Result<Vec<HostTensor>, String> {
    tensor::generate_given(function, given, seed).map_err(|error| error.to_string())
}

/// Runs a function as [`run_given`] does, on arguments that [`generated`] made for the seed of the settings.
pub fn run_on(
    package: &Package,
    function: &Function,
    before: &[HostTensor],
    config: Config,
) -> Outcome {
    let seed = config.seed;
    let emulator = Emulator::new(config);
    let mut program = match emulator.load(package, function) {
        Ok(program) => program,
        Err(error) => return Outcome::Refused(error.to_string()),
    };
    let mut tensors = before.to_vec();
    match program.run(&mut tensors) {
        Ok(()) => {}
        Err(DeviceError::Findings(findings)) => return Outcome::Findings(findings),
        Err(error) => return Outcome::Refused(error.to_string()),
    }
    let report = Box::new(program.report().cloned().unwrap_or_default());
    if function.computes.is_empty() {
        return Outcome::Right { report };
    }
    let config = verify::Config {
        seed,
        data: Data::IndependentMeanZero,
        ..verify::Config::default()
    };
    let memory = Memory {
        before: Some(before),
        after: &tensors,
        workspace: Some(program.workspace()),
        sm_count: Some(program.multiprocessors()),
    };
    match verify::verify_memory(function, &memory, &config) {
        Err(error) => Outcome::Refused(error.to_string()),
        Ok(reports) => match reports.iter().find(|report| !report.passed()) {
            Some(report) => Outcome::Wrong(format!("{report:?}")),
            None if reports.is_empty() => Outcome::Refused("nothing was verified".to_owned()),
            None => Outcome::Right { report },
        },
    }
}

/// Works on items on all cores; results in the order of the items.
pub fn parallel<T: Send + Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = std::sync::atomic::AtomicUsize::new(0);
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let run = || {
        let mut done = Vec::new();
        loop {
            let at = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            match items.get(at) {
                Some(item) => done.push((at, work(item))),
                None => return done,
            }
        }
    };
    let mut all: Vec<(usize, R)> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..cores).map(|_| scope.spawn(run)).collect();
        let joined = workers.into_iter().map(|worker| worker.join());
        joined
            .flat_map(|done| done.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    });
    all.sort_by_key(|(at, _)| *at);
    all.into_iter().map(|(_, result)| result).collect()
}
