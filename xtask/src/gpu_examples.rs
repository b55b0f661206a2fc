//! The examples of Python, on a GPU: those whose libraries are installed, with the module as it was built. An example ends with a status that
//! says whether it was right.

use crate::process::{quiet, show};
use crate::setup::Setup;
use crate::workspace::{Profile, Workspace};
use anyhow::Result;
use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

/// An example.
struct Example {
    /// The file, and what stands before it for Python.
    words: &'static [&'static str],
    /// The library that it needs.
    library: Library,
    /// The GPUs that it needs.
    gpus: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Library {
    Torch,
    Jax,
    /// TVM-FFI, and PyTorch, whose tensors it is given.
    TvmFfi,
}

impl Library {
    const ALL: [Library; 3] = [Library::Torch, Library::Jax, Library::TvmFfi];

    /// The name of the package of PyPI.
    fn name(self) -> &'static str {
        match self {
            Library::Torch => "torch",
            Library::Jax => "jax",
            Library::TvmFfi => "apache-tvm-ffi",
        }
    }

    /// Python that prints how many GPUs the library uses.
    fn counts(self) -> &'static str {
        match self {
            Library::Torch => "import torch; print(torch.cuda.device_count())",
            Library::TvmFfi => "import torch, tvm_ffi; print(torch.cuda.device_count())",
            Library::Jax => {
                "import jax; print(sum(one.platform == 'gpu' for one in jax.devices()))"
            }
        }
    }

    /// The number of GPUs that the library uses; none where it is not installed.
    fn gpus(self, python: &Path) -> Option<usize> {
        let said = quiet(Command::new(python).args(["-c", self.counts()])).ok()?;
        said.lines().last()?.trim().parse().ok()
    }
}

/// The examples. Those of one GPU take seconds each, of which compiling is most.
const EXAMPLES: [Example; 5] = [
    Example {
        words: &["examples/python/pytorch_linear.py"],
        library: Library::Torch,
        gpus: 1,
    },
    Example {
        words: &["examples/python/torch_compile.py"],
        library: Library::Torch,
        gpus: 1,
    },
    Example {
        words: &["examples/python/tvm_ffi_pytorch.py"],
        library: Library::TvmFfi,
        gpus: 1,
    },
    Example {
        words: &["examples/python/jax_matmul.py"],
        library: Library::Jax,
        gpus: 1,
    },
    Example {
        words: &[
            "-m",
            "torch.distributed.run",
            "--standalone",
            "--nproc-per-node=2",
            "examples/python/tensor_parallel.py",
        ],
        library: Library::Torch,
        gpus: 2,
    },
];

impl Example {
    fn file(&self) -> &'static str {
        self.words.last().copied().unwrap_or_default()
    }

    /// The reason why it is not run where its library uses so many GPUs.
    fn skipped(&self, gpus: Option<usize>) -> Option<String> {
        let name = self.library.name();
        match gpus {
            None => Some(format!(
                "{name} is not installed for the Python on the path; pip install {name}"
            )),
            Some(0) => Some(format!(
                "{name} uses no GPU; install the {name} that is built for CUDA"
            )),
            Some(found) if found < self.gpus => {
                Some(format!("it needs {} GPUs, found {found}", self.gpus))
            }
            Some(_) => None,
        }
    }
}

/// Runs what can be run on this machine, which has a GPU, and says what is skipped. Returns the examples that failed.
pub fn run(workspace: &Workspace, setup: &Setup) -> Result<Vec<&'static str>> {
    let found = Library::ALL.map(|library| (library, library.gpus(&setup.python)));
    let gpus = |library| found.iter().find(|one| one.0 == library)?.1;
    if found.iter().any(|(_, gpus)| gpus.is_some_and(|n| n > 0)) {
        // The library that is exported is made of what lies beside `cute-run`.
        workspace.build(Profile::Release, &["cute-python", "cute-run"])?;
    }
    let mut failed = Vec::new();
    for example in &EXAMPLES {
        let file = example.file();
        if let Some(why) = example.skipped(gpus(example.library)) {
            println!("\nskipped: {file} was not tried, as {why}");
            continue;
        }
        println!("\nrunning {file}");
        let mut command = Command::new(&setup.python);
        command
            .current_dir(&workspace.root)
            .args(example.words)
            .env(
                "PYTHONPATH",
                path(&workspace.root, std::env::var_os("PYTHONPATH")),
            )
            .env("CUTE_TOOLS_DIR", workspace.programs(Profile::Release))
            .env("CUTE_PTXAS", &setup.ptxas);
        if !show(&mut command)? {
            failed.push(file);
        }
    }
    Ok(failed)
}

/// The path of modules: this project's, and those that were there.
fn path(root: &Path, others: Option<OsString>) -> OsString {
    let mut all = root.join("python").into_os_string();
    if let Some(others) = others.filter(|others| !others.is_empty()) {
        all.push(":");
        all.push(others);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn examples_are_files_and_all_of_python_that_use_a_gpu() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let folder = std::fs::read_dir(root.join("examples/python")).unwrap();
        let mut there: Vec<String> = folder
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter(|name| name.ends_with(".py") && name != "tvm_ffi_numpy.py")
            .map(|name| format!("examples/python/{name}"))
            .collect();
        let mut listed = EXAMPLES.map(|example| example.file().to_owned());
        there.sort();
        listed.sort();
        assert_eq!(listed[..], there);
    }

    #[test]
    fn what_is_skipped_is_said() {
        let [linear, .., parallel] = &EXAMPLES;
        let says = |example: &Example, gpus| example.skipped(gpus).unwrap_or_default();
        assert_eq!(
            says(linear, None),
            "torch is not installed for the Python on the path; pip install torch"
        );
        assert_eq!(
            says(linear, Some(0)),
            "torch uses no GPU; install the torch that is built for CUDA"
        );
        assert_eq!(linear.skipped(Some(1)), None);
        assert_eq!(says(parallel, Some(1)), "it needs 2 GPUs, found 1");
        assert_eq!(parallel.skipped(Some(8)), None);
    }

    #[test]
    fn modules_that_were_there_stay() {
        let root = Path::new("/here");
        assert_eq!(path(root, None), "/here/python");
        assert_eq!(path(root, Some("".into())), "/here/python");
        assert_eq!(path(root, Some("/a:/b".into())), "/here/python:/a:/b");
    }
}
