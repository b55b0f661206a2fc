//! The assembler: where it is, what it is asked, and what it says.

use crate::{lineinfo, remarks};
use cute_target::Arch;
use std::{
    borrow::Cow,
    fmt, fs, io,
    path::{Path, PathBuf},
    process::Command,
};

/// The variable and the values by which glibc's allocator gives ptxas memory in huge pages, in few calls, and keeps it to the end: ptxas takes
/// some ten thousand pages for a kernel, and a fifth of its time to ask for them one by one.
const ALLOCATOR: (&str, &str) = (
    "GLIBC_TUNABLES",
    "glibc.malloc.hugetlb=1:glibc.malloc.top_pad=67108864:glibc.malloc.mmap_threshold=1073741824:\
     glibc.malloc.trim_threshold=1073741824",
);

/// The resources that ptxas reports of one kernel, in bytes but for the registers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Usage {
    pub kernel: String,
    pub registers: u32,
    pub stack: u32,
    pub spill_stores: u32,
    pub spill_loads: u32,
    /// It calls functions, as printing and assertions do: their arguments lie on the stack.
    pub calls: bool,
    pub static_shared: u32,
    pub barriers: u32,
}

impl Usage {
    /// Tells whether it keeps values on the stack for which there are no registers.
    pub(crate) fn spills(&self) -> bool {
        let stack = if self.calls { 0 } else { self.stack };
        self.spill_loads + self.spill_stores + stack > 0
    }
}

/// A cubin and what its kernels use.
#[derive(Clone, Debug)]
pub(crate) struct Assembled {
    pub cubin: Vec<u8>,
    pub kernels: Vec<Usage>,
}

/// The reason why PTX was not assembled.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PtxasError {
    #[error(
        "ptxas not found: looked at $CUTE_PTXAS, {}, and PATH; run `pip install cute-opt[ptxas]`, or `cargo xtask setup` in a checkout, or set CUTE_PTXAS",
        looked.iter().map(|p| p.display().to_string()).collect::<Vec<_>>().join(", ")
    )]
    Missing { looked: Vec<PathBuf> },
    #[error("cannot run {}: {error}", path.display())]
    Run { path: PathBuf, error: io::Error },
    #[error("ptxas rejects the PTX for {arch}: {log}")]
    Rejected { arch: String, log: String },
    #[error("ptxas warns, which may cost correctness or speed, for {arch}: {log}")]
    Warned { arch: String, log: String },
    #[error("ptxas does not keep products or registers as they are meant, for {arch}: {log}")]
    Remarked { arch: String, log: String },
    #[error("cannot exchange files with ptxas: {0}")]
    Files(#[from] io::Error),
}

/// Finds ptxas: `CUTE_PTXAS`, then beside this program's build folder, then on the path.
pub(crate) fn find() -> Result<PathBuf, PtxasError> {
    if let Some(path) = std::env::var_os("CUTE_PTXAS").filter(|path| !path.is_empty()) {
        return Ok(PathBuf::from(path));
    }
    let mut looked = Vec::new();
    if let Ok(program) = std::env::current_exe() {
        // target/release/cute-opt, target/debug/deps/test-...
        for folder in program.ancestors().skip(1).take(3) {
            looked.push(folder.join("tools/bin/ptxas"));
        }
    }
    if let Some(found) = looked.iter().find(|path| path.is_file()) {
        return Ok(found.clone());
    }
    on_path(Path::new("ptxas")).ok_or(PtxasError::Missing { looked })
}

/// The file of that ptxas, also where it is named without a folder.
pub(crate) fn file() -> Result<PathBuf, PtxasError> {
    let found = find()?;
    if found.components().count() > 1 || found.has_root() {
        return Ok(found);
    }
    Ok(on_path(&found).unwrap_or(found))
}

fn on_path(name: &Path) -> Option<PathBuf> {
    let paths = std::env::var_os("PATH")?;
    std::env::split_paths(&paths)
        .map(|p| p.join(name))
        .find(|p| p.is_file())
}

/// Assembles PTX. Warnings are errors: each stands for a kernel that is not what was meant. The line
/// table goes into the cubin only if it is asked for.
pub(crate) fn assemble(ptx: &str, arch: Arch, lineinfo: bool) -> Result<Assembled, PtxasError> {
    let path = find()?;
    let folder = scratch()?;
    let (input, output) = (
        folder.path().join("kernel.ptx"),
        folder.path().join("kernel.cubin"),
    );
    let text = if lineinfo {
        Cow::Borrowed(ptx)
    } else {
        lineinfo::without(ptx)
    };
    fs::write(&input, &*text)?;
    // Several kernels side by side. How many at a time is not asked of the machine: cubins say what they were made with.
    let side_by_side = (text.matches(".entry ").count() > 1).then_some("--split-compile=4");
    let mut command = Command::new(&path);
    if std::env::var_os(ALLOCATOR.0).is_none() {
        command.env(ALLOCATOR.0, ALLOCATOR.1);
    }
    let result = command
        .args(side_by_side)
        .args([
            "-O3",
            "-v",
            "--warn-on-local-memory-usage",
            "--warn-on-spills",
        ])
        .arg(format!("-arch={arch}"))
        .arg(&input)
        .arg("-o")
        .arg(&output)
        .output()
        .map_err(|error| PtxasError::Run { path, error })?;
    let log = String::from_utf8_lossy(&result.stderr).into_owned()
        + &String::from_utf8_lossy(&result.stdout);
    let log = log.replace(&input.display().to_string(), "kernel.ptx");
    if !result.status.success() {
        return Err(PtxasError::Rejected {
            arch: arch.to_string(),
            log: log.trim().to_owned(),
        });
    }
    if let Some(log) = remarks::of(&log) {
        return Err(PtxasError::Remarked {
            arch: arch.to_string(),
            log,
        });
    }
    let mut kernels = usage(&log);
    for name in callers(ptx) {
        for kernel in kernels.iter_mut().filter(|k| k.kernel == name) {
            kernel.calls = true;
        }
    }
    // Spills have a diagnostic of their own, with a cure.
    let spills = kernels
        .iter()
        .any(|kernel| kernel.spill_stores + kernel.spill_loads > 0);
    let warnings: Vec<_> = log
        .lines()
        .filter(|line| line.contains("warning"))
        .filter(|line| {
            !kernels.iter().any(|kernel| {
                kernel.calls
                    && line.contains(&format!(
                        "Local memory used for function '{}'",
                        kernel.kernel
                    ))
            })
        })
        .collect();
    if !warnings.is_empty() && !spills {
        return Err(PtxasError::Warned {
            arch: arch.to_string(),
            log: warnings.join("; "),
        });
    }
    Ok(Assembled {
        cubin: fs::read(&output)?,
        kernels,
    })
}

/// A folder for the two files, in memory where there is such a file system.
fn scratch() -> io::Result<tempfile::TempDir> {
    let memory = Path::new("/dev/shm");
    let builder = |folder: &Path| tempfile::Builder::new().prefix("cute-").tempdir_in(folder);
    if memory.is_dir()
        && let Ok(folder) = builder(memory)
    {
        return Ok(folder);
    }
    builder(&std::env::temp_dir())
}

/// The kernels that call functions.
fn callers(ptx: &str) -> Vec<&str> {
    let mut kernel = None;
    let mut found = Vec::new();
    for line in ptx.lines() {
        if let Some((_, rest)) = line.split_once(".entry ") {
            kernel = rest.split('(').next().map(str::trim);
        } else if line.trim_start().starts_with("call") {
            found.extend(kernel.take());
        }
    }
    found
}

/// Reads ptxas' report (`-v`).
fn usage(log: &str) -> Vec<Usage> {
    let mut kernels: Vec<Usage> = Vec::new();
    let number = |line: &str, before: &str| -> u32 {
        let Some(end) = line.find(before) else {
            return 0;
        };
        let digits = line[..end]
            .trim_end()
            .rsplit(|c: char| !c.is_ascii_digit())
            .next();
        digits.and_then(|d| d.parse().ok()).unwrap_or(0)
    };
    for line in log.lines() {
        if let Some((_, rest)) = line.split_once("Compiling entry function '") {
            let kernel = rest.split('\'').next().unwrap_or_default().to_owned();
            kernels.push(Usage {
                kernel,
                ..Usage::default()
            });
        } else if let Some(last) = kernels.last_mut() {
            if line.contains("bytes stack frame") {
                last.stack = number(line, " bytes stack frame");
                last.spill_stores = number(line, " bytes spill stores");
                last.spill_loads = number(line, " bytes spill loads");
            } else if line.contains("Used ") && line.contains(" registers") {
                last.registers = number(line, " registers");
                last.barriers = number(line, " barriers");
                last.static_shared = number(line, " bytes smem");
            }
        }
    }
    kernels
}

impl fmt::Display for Usage {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(
            f,
            "{}: {} registers, {} bytes of stack, {} bytes of spill stores, {} of spill loads",
            self.kernel, self.registers, self.stack, self.spill_stores, self.spill_loads
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_report_is_read() {
        let log = "ptxas info    : 0 bytes gmem\n\
                   ptxas info    : Compiling entry function 'gemm_kernel' for 'sm_90a'\n\
                   ptxas info    : Function properties for gemm_kernel\n    \
                   16 bytes stack frame, 24 bytes spill stores, 28 bytes spill loads\n\
                   ptxas info    : Used 188 registers, used 1 barriers, 16 bytes smem\n";
        let expected = Usage {
            kernel: "gemm_kernel".to_owned(),
            registers: 188,
            stack: 16,
            spill_stores: 24,
            spill_loads: 28,
            static_shared: 16,
            barriers: 1,
            calls: false,
        };
        assert_eq!(usage(log), [expected]);
    }

    #[test]
    fn kernels_that_call_are_found() {
        let ptx = ".visible .entry plain(\n{\n\tret;\n}\n.visible .entry prints(\n\t.param .u32 a\n)\n{\n\
                   \tcall.uni (retval0), vprintf, (p, q);\n\tcall.uni (r), vprintf, (p, q);\n}\n\
                   .visible .entry other()\n{\n}\n";
        assert_eq!(callers(ptx), ["prints"]);
    }
}
