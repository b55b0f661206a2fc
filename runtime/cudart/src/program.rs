//! The program whose calls these are: its modules, its memory on the emulator, and what was found.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ffi::c_int;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use cute_runtime::device::DeviceError;
use cute_runtime::emulator::{ProcessReport, SETTINGS, Session, Settings, merge};

use crate::Error;
use crate::abi::AttributeValue;
use crate::capture::Capture;
use crate::error::noted;
use crate::events::State;
use crate::execs::Exec;
use crate::graphs::Graph;
use crate::managed::Managed;
use crate::memory::Mapped;
use crate::registered::{Binary, Function, Variable};
use crate::settings::Setting;
use crate::streams::{Key, Made};

/// Findings that are kept before equal ones are counted together.
const FINDINGS: usize = 4096;

/// All that is known of the program.
pub(crate) struct Program {
    pub session: Session,
    pub settings: Settings,
    pub binaries: Vec<Binary>,
    /// Kernels, by the addresses of the functions that stand for them on the host.
    pub functions: HashMap<usize, Function>,
    /// Variables, by the addresses of those that stand for them on the host.
    pub variables: HashMap<usize, Variable>,
    /// Variables that the host and kernels have.
    pub managed: Vec<Managed>,
    /// Memory that the host and kernels have, by its address for kernels.
    pub mapped: BTreeMap<u64, Mapped>,
    /// Streams that the program made, events, graphs and executable graphs, by their handles.
    pub streams: BTreeMap<usize, Made>,
    pub events: HashMap<usize, State>,
    pub graphs: BTreeMap<usize, Graph>,
    pub execs: BTreeMap<usize, Exec>,
    /// The graphs that nodes are in.
    pub homes: HashMap<usize, usize>,
    /// Captures that have not ended, by their numbers, and the last number.
    pub captures: BTreeMap<u64, Capture>,
    pub last_capture: u64,
    last_handle: usize,
    /// The settings that the program has made and may ask for, and its pools of memory.
    pub set: HashMap<Setting, u64>,
    pub attributes: HashMap<(Key, c_int), AttributeValue>,
    pub pools: BTreeSet<usize>,
    /// Allocations so far, for their names.
    pub allocations: u64,
    /// The error that a stopped launch left: all calls return it from then on, as the device is lost.
    pub lost: Option<Error>,
    report: ProcessReport,
    /// Findings at the time of the last written report.
    written: usize,
}

static PROGRAM: OnceLock<Mutex<Program>> = OnceLock::new();

impl Program {
    fn new() -> Program {
        let mut report = ProcessReport::default();
        let text = std::env::var(SETTINGS).unwrap_or_else(|_| "{}".into());
        let settings: Settings = match text.as_str() {
            "{}" => Settings::default(),
            text => serde_json::from_str(text).unwrap_or_else(|error| {
                report.errors.push(format!(
                    "{SETTINGS}: expected the settings that `cute-run --cuda` gives a program, found {text} ({error}); leave it unset"
                ));
                Settings::default()
            }),
        };
        let mut session = Session::empty(settings.config.clone()).unwrap_or_else(|error| {
            report.errors.push(error.to_string());
            // Without an architecture by name there is one.
            let config = cute_runtime::emulator::Config {
                arch: None,
                ..settings.config.clone()
            };
            match Session::empty(config) {
                Ok(session) => session,
                Err(error) => unreachable!("{error}"),
            }
        });
        session.keep_low_addresses();
        // SAFETY: the function takes nothing and stays loaded, as the library is never unloaded.
        unsafe { libc::atexit(at_exit) };
        let mut program = Program {
            session,
            settings,
            binaries: Vec::new(),
            functions: HashMap::new(),
            variables: HashMap::new(),
            managed: Vec::new(),
            mapped: BTreeMap::new(),
            streams: BTreeMap::new(),
            events: HashMap::new(),
            graphs: BTreeMap::new(),
            execs: BTreeMap::new(),
            homes: HashMap::new(),
            captures: BTreeMap::new(),
            set: HashMap::new(),
            attributes: HashMap::new(),
            pools: BTreeSet::new(),
            last_capture: 0,
            // Handles that the interface itself names are smaller.
            last_handle: 0x1000,
            allocations: 0,
            lost: None,
            report,
            written: usize::MAX,
        };
        for error in &program.report.errors {
            eprintln!("cute: {error}");
        }
        program.write_report();
        program
    }

    /// Makes a handle that nothing else has, which is even.
    pub fn new_handle(&mut self) -> usize {
        self.last_handle += 16;
        self.last_handle
    }

    /// Tells of a call that returns an error, once for each text.
    pub fn refuse(&mut self, call: &str, text: &str, error: Error) -> Error {
        let text = format!("{call}: {text}");
        if !self.report.errors.contains(&text) {
            eprintln!("cute: {text}");
            self.report.errors.push(text);
            self.write_report();
        }
        error
    }

    /// Tells of an error of the emulator, which a call returns.
    pub fn failed(&mut self, call: &str, failure: &DeviceError, error: Error) -> Error {
        self.refuse(call, &failure.to_string(), error)
    }

    /// Takes over what a launch found, and prints what it printed.
    pub fn launched(&mut self) {
        let launch = self.session.take_report();
        self.report.launches += 1;
        self.report.arch = self.session.arch().to_string();
        print_to_stdout(&launch.printed);
        if launch.findings.is_empty() {
            return;
        }
        let readable = |mut finding: cute_runtime::emulator::Finding| {
            finding.kernel = demangled(&finding.kernel);
            finding
        };
        self.report
            .findings
            .extend(launch.findings.into_iter().map(readable));
        if self.report.findings.len() > FINDINGS {
            self.report.findings = merge([std::mem::take(&mut self.report.findings)]);
        }
        if self.written == 0 {
            // A program that does not come to its end leaves something.
            self.write_report();
        }
    }

    fn write_report(&mut self) {
        self.report.findings = merge([std::mem::take(&mut self.report.findings)]);
        self.written = self.report.findings.len();
        if let Some(folder) = &self.settings.reports
            && let Err(error) = self.report.write(folder, std::process::id())
        {
            eprintln!(
                "cute: the report cannot be written to {}: {error}",
                folder.display()
            );
        }
    }
}

/// The name of a C++ function as it stands in its program.
pub(crate) fn demangled(name: &str) -> String {
    let symbol = cpp_demangle::Symbol::new(name).ok();
    symbol
        .and_then(|symbol| symbol.demangle().ok())
        .unwrap_or_else(|| name.into())
}

/// Prints by the program's own stream, so that its order with what the host prints is kept.
fn print_to_stdout(text: &str) {
    unsafe extern "C" {
        static stdout: *mut libc::FILE;
    }
    if !text.is_empty() {
        // SAFETY: the text has as many bytes, and the stream is that of the C library.
        unsafe { libc::fwrite(text.as_ptr().cast(), 1, text.len(), stdout) };
    }
}

extern "C" fn at_exit() {
    let end = || {
        let mut program = lock();
        program.write_report();
        if program.settings.reports.is_some() {
            return;
        }
        for finding in &program.report.findings {
            eprintln!("{finding}");
        }
        eprintln!(
            "cute: {} launches on the emulator of {}: {} findings",
            program.report.launches,
            program.session.arch(),
            program.report.findings.len()
        );
    };
    // A panic here has been told of.
    let _ = catch_unwind(end);
}

fn lock() -> MutexGuard<'static, Program> {
    let program = PROGRAM.get_or_init(|| Mutex::new(Program::new()));
    program.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Does something with the program, as the call of that name.
pub(crate) fn call(name: &str, action: impl FnOnce(&mut Program) -> Result<(), Error>) -> c_int {
    let run = AssertUnwindSafe(|| {
        let mut program = lock();
        match program.lost {
            Some(error) => Err(error),
            None => action(&mut program),
        }
    });
    let outcome = catch_unwind(run).unwrap_or_else(|_| {
        let text =
            "an error of the emulator itself, which the text before this tells; please report it";
        Err(lock().refuse(name, text, Error::Unknown))
    });
    noted(outcome)
}

/// Does something with the program that cannot fail, such as registering what it has.
pub(crate) fn register<R: Default>(action: impl FnOnce(&mut Program) -> R) -> R {
    catch_unwind(AssertUnwindSafe(|| action(&mut lock()))).unwrap_or_default()
}
